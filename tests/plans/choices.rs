//! Choices and loops of plans: the same numbers on every way, whatever is chosen.

use std::sync::{Mutex, PoisonError};

use crate::common::mock;
use racl::op::DataType::{self, Bool, F32, I8, I16, I32, I64, U8, U16, U32, U64};
use racl::op::aclnn;
use racl::plan::{Builder, Executable, Frozen, Input, Mode, Plan, RunOptions, Simulated, Value};
use racl::{Context, Result, Stream};

use crate::Alone;

mod as_data;
mod behind_passes;
mod impossible;
mod inside;
mod limits;
mod programs;
mod random;
mod refused;
mod segments;

/// A plan of one output `y` of one input `x` of four numbers and more inputs.
pub(crate) fn body(more: &[&str], work: impl FnOnce(&Builder, Value, &[Value]) -> Result<Value>) -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let more = more.iter().map(|name| g.input(name, [4], F32, Input::Copied)).collect::<Result<Vec<_>>>()?;
        g.output("y", work(g, x, &more)?)
    })
    .unwrap()
}

/// x · by.
pub(crate) fn times(by: f64) -> Plan {
    body(&[], |g, x, _| g.muls(x, by))
}

/// The inputs of a run.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) condition: Vec<u8>,
    pub(crate) x: [f32; 4],
}

/// How an executable runs: eagerly, as one graph that chooses, or as several of which the host launches some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Eager,
    Graph,
    Segments,
}

pub(crate) const WAYS: [Way; 3] = [Way::Eager, Way::Graph, Way::Segments];

/// An executable that runs so.
pub(crate) fn made(way: Way, plan: &Plan, context: impl AsRef<Context>, options: &RunOptions) -> Result<Executable> {
    // The switch is one for the process.
    static MAKING: Mutex<()> = Mutex::new(());
    let _turn = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = mock::older_graphs(way == Way::Segments);
    let mode = if way == Way::Eager { Mode::Eager } else { Mode::Captured };
    let made = plan.executable(context, &options.clone().mode(mode), Frozen::new());
    mock::older_graphs(before);
    made
}

/// Whether the library has conditional graphs.
fn device_chooses() -> bool {
    crate::common::acl().table().has("aclmdlRIAddCondTask")
}

/// Runs a plan with the inputs `c`, of one element, and `x` on every way, all runs on one executable each; gives `y`.
pub(crate) fn all_ways(alone: &Alone, plan: &Plan, runs: &[Run]) -> Vec<[f32; 4]> {
    let simulated = |run: &Run, seed| {
        let given = Simulated::new().bytes("c", run.condition.clone()).tensor("x", &run.x, [4]);
        let left = plan.simulate(seed, &given).unwrap();
        <[f32; 4]>::try_from(left.to_vec::<f32>("y").unwrap()).unwrap()
    };
    let expected: Vec<_> = runs.iter().map(|run| simulated(run, 1)).collect();
    for seed in 2..5 {
        assert_eq!(runs.iter().map(|run| simulated(run, seed)).collect::<Vec<_>>(), expected, "seed {seed}");
    }
    let stream = alone.stream();
    for way in WAYS {
        let mut exe = made(way, plan, &alone.device, &RunOptions::new()).unwrap();
        for (run, expected) in runs.iter().zip(&expected) {
            assert_eq!(once(alone, &mut exe, &stream, run), expected, "{way:?} {run:?}");
        }
        assert!(exe.graphs() <= 1, "one graph for all conditions");
        assert!(way != Way::Graph || !device_chooses() || exe.counters().decided_by_host == 0);
    }
    expected
}

pub(crate) fn once(alone: &Alone, exe: &mut Executable, stream: &Stream, run: &Run) -> Vec<f32> {
    let condition = typed(alone, exe, &run.condition);
    let x = alone.device.upload_tensor(&run.x, [4]).unwrap();
    let mut bind = exe.bindings();
    condition(&mut bind);
    bind.set(exe.input("x").unwrap(), &x);
    exe.run(stream, &mut bind).unwrap();
    crate::result(exe, "y")
}

type Bind = Box<dyn FnOnce(&mut racl::plan::Bindings)>;

/// Binds the condition, of the type that the plan has for it.
fn typed(alone: &Alone, exe: &Executable, bytes: &[u8]) -> Bind {
    let id = exe.input("c").unwrap();
    let text = exe.plan().to_text();
    macro_rules! as_type {
        ($($name:literal: $type:ty),*) => {
            $(if text.contains(concat!("input in:c ", $name, "[")) {
                let number: $type = bytemuck::pod_read_unaligned(bytes);
                let tensor = alone.device.upload_tensor(&[number], [1]).unwrap();
                return Box::new(move |bind| {
                    bind.set(id, &tensor);
                });
            })*
        };
    }
    as_type!("i8": i8, "i16": i16, "i32": i32, "i64": i64, "u8": u8, "bool": u8, "u16": u16, "u32": u32, "u64": u64);
    panic!("no condition of a known type: {text}");
}

pub(crate) fn condition(g: &Builder, dtype: DataType) -> Result<Value> {
    g.input("c", [1], dtype, Input::Copied)
}

pub(crate) fn x(g: &Builder) -> Result<Value> {
    g.input("x", [4], F32, Input::Copied)
}

/// Runs with these conditions.
pub(crate) fn with(conditions: &[i32]) -> Vec<Run> {
    let one = |condition: &i32| Run { condition: condition.to_le_bytes().to_vec(), x: [1.0, 2.0, 3.0, -4.0] };
    conditions.iter().map(one).collect()
}

#[test]
fn a_choice_does_the_work_of_one_plan_by_a_condition_of_any_integer_type() {
    let alone = Alone::new();
    let (two, ten) = (times(2.0), times(10.0));
    let types = [(Bool, 1), (U8, 1), (I8, 1), (U16, 2), (I16, 2), (U32, 4), (I32, 4), (U64, 8), (I64, 8)];
    for (dtype, size) in types {
        let plan = Plan::build(|g| {
            let [y] = g.if_else(condition(g, dtype)?, &two, &ten, &[x(g)?])?;
            g.output("y", g.adds(y, 1.0)?)
        });
        // The last byte counts too, but of a truth value.
        let high = if dtype == Bool { 1 } else { 0x80_u8 };
        let mut conditions = vec![vec![0; size]; 3];
        conditions[1][0] = 1;
        conditions[2][size - 1] = high;
        let runs: Vec<Run> =
            conditions.into_iter().map(|condition| Run { condition, x: [1.0, 2.0, 3.0, -4.0] }).collect();
        let left = all_ways(&alone, &plan.unwrap(), &runs);
        let scaled = |by: f32| [by + 1.0, 2.0 * by + 1.0, 3.0 * by + 1.0, -4.0 * by + 1.0];
        assert_eq!(left, [scaled(10.0), scaled(2.0), scaled(2.0)], "{dtype:?}");
    }
}

#[test]
fn nothing_is_done_and_the_operands_stay_without_another_plan() {
    let alone = Alone::new();
    // Writes its first operand in place, too.
    let then = body(&["w"], |g, x, w| {
        let y = g.mul(x, w[0])?;
        g.fill_bytes(x, 0)?;
        Ok(y)
    });
    let plan = Plan::build(|g| {
        let (given, w) = (x(g)?, g.full([4], F32, 3.0)?);
        let own = g.adds(given, 0.0)?;
        let [y] = g.if_then(condition(g, I32)?, &then, &[own, w])?;
        g.output("y", g.add(y, own)?)
    });
    let left = all_ways(&alone, &plan.unwrap(), &with(&[0, 1, -1, 0]));
    let (stays, scaled) = ([2.0, 4.0, 6.0, -8.0], [3.0, 6.0, 9.0, -12.0]);
    assert_eq!(left, [stays, scaled, scaled, stays]);
}

#[test]
fn a_switch_takes_the_case_of_a_number_and_the_last_plan_for_all_others() {
    let alone = Alone::new();
    let (a, b, c, other) = (times(1.0), times(2.0), times(3.0), times(-1.0));
    let plan = Plan::build(|g| {
        let [y] = g.switch(condition(g, I32)?, &[&a, &b, &c], &other, &[x(g)?])?;
        g.output("y", y)
    });
    let left = all_ways(&alone, &plan.unwrap(), &with(&[0, 1, 2, 3, 1000, -1, i32::MIN, 1, 256, 65536]));
    let factors: Vec<f32> = left.iter().map(|y| y[0]).collect();
    assert_eq!(factors, [1.0, 2.0, 3.0, -1.0, -1.0, -1.0, -1.0, 2.0, -1.0, -1.0]);
}

/// One round: x + x · by, one less to go.
pub(crate) fn round() -> Plan {
    Plan::build(|g| {
        let [left, x] = [g.input("left", [1], I32, Input::Copied)?, g.input("x", [4], F32, Input::Copied)?];
        let by = g.input("by", [4], F32, Input::Copied)?;
        let left = g.adds(left, -1)?;
        g.output("more", left)?;
        g.output("left", left)?;
        let grown = g.mul(x, by)?;
        g.output("x", g.add(x, grown)?)
    })
    .unwrap()
}

#[test]
fn a_loop_does_as_many_rounds_as_its_condition_wants() {
    let alone = Alone::new();
    let body = round();
    let plan = Plan::build(|g| {
        let rounds = condition(g, I32)?;
        let [_, y] = g.repeat_while(rounds, &body, [rounds, x(g)?], &[g.full([4], F32, 1.0)?])?;
        g.output("y", y)
    });
    let left = all_ways(&alone, &plan.unwrap(), &with(&[0, 1, 5, 60, 0, 2]));
    let factors: Vec<f32> = left.iter().map(|y| y[0]).collect();
    assert_eq!(factors, [1.0, 2.0, 32.0, 2.0_f32.powi(60), 1.0, 4.0]);
    assert_eq!(left[2], [32.0, 64.0, 96.0, -128.0]);
}

#[test]
fn what_a_round_writes_into_further_operands_the_next_one_finds() {
    let alone = Alone::new();
    let body = Plan::build(|g| {
        let left = g.input("left", [1], I32, Input::Copied)?;
        let sum = g.input("sum", [4], F32, Input::Copied)?;
        let x = g.input("x", [4], F32, Input::Copied)?;
        let next = g.add(sum, x)?;
        g.copy(next, sum)?;
        let left = g.adds(left, -1)?;
        g.output("more", left)?;
        g.output("left", left)
    });
    let body = body.unwrap();
    let plan = Plan::build(|g| {
        let (rounds, x) = (condition(g, I32)?, x(g)?);
        let sum = g.full([4], F32, 0.0)?;
        g.repeat_while(rounds, &body, [rounds], &[sum, x])?;
        g.output("y", sum)
    });
    let left = all_ways(&alone, &plan.unwrap(), &with(&[0, 1, 7]));
    assert_eq!(left, [[0.0; 4], [1.0, 2.0, 3.0, -4.0], [7.0, 14.0, 21.0, -28.0]]);
}

#[test]
fn a_loop_compares_on_the_device() {
    let alone = Alone::new();
    let body = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let limit = g.input("limit", [1], F32, Input::Copied)?;
        let x = g.muls(x, 3.0)?;
        let first = g.narrow(x, 0, 0..1)?;
        let mut more = g.empty([1], Bool)?;
        aclnn::lt_tensor(g, &first, &limit, &mut more)?;
        g.output("more", more)?;
        g.output("x", x)
    });
    let body = body.unwrap();
    let plan = Plan::build(|g| {
        let [y] = g.repeat_while(condition(g, Bool)?, &body, [x(g)?], &[g.full([1], F32, 100.0)?])?;
        g.output("y", y)
    });
    let runs = [0, 1].map(|condition| Run { condition: vec![condition], x: [1.0, 2.0, 0.0, -1.0] });
    let left = all_ways(&alone, &plan.unwrap(), &runs);
    assert_eq!(left, [[1.0, 2.0, 0.0, -1.0], [243.0, 486.0, 0.0, -243.0]]);
}
