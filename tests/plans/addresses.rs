//! Operators inside a captured graph that are replaced by the addresses of their tensors.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Barrier, Mutex};

use crate::common::mock;
use racl::Tensor;
use racl::op::{CubeMath, DataType, DataType::F32, DataType::I64, GeluForm, aclnn};
use racl::plan::{Bindings, Builder, Cores, Executable, Frozen, Input, Mode, Plan, RunOptions, Value};
use racl::sys::Table;
use racl::{Result, Stream, SystemOption};

use crate::{Alone, calls_of, give, result};

/// Codes that the library has for an operator that it does not repeat, and for an address that it does not take.
const NO_EXECUTOR: i32 = 561_101;
const BAD_PARAMETER: i32 = 161_002;

type Record = fn(&Builder, &[Value]) -> Result<Value>;

/// The operators with the shapes of their operands, which are numbers but for the indices.
const OPERATORS: [(&str, &[&[usize]], Record); 25] = [
    ("aclnnAdd", &[&[2, 3], &[3]], |g, v| g.add(v[0], v[1])),
    ("aclnnAdd", &[&[2, 3], &[3]], |g, v| g.add_scaled(v[0], v[1], -3.0)),
    ("aclnnSub", &[&[2, 3], &[2, 1]], |g, v| g.sub(v[0], v[1])),
    ("aclnnMul", &[&[2, 3], &[2, 3]], |g, v| g.mul(v[0], v[1])),
    ("aclnnDiv", &[&[2, 3], &[2, 3]], |g, v| g.div(v[0], v[1])),
    ("aclnnMaximum", &[&[2, 3], &[2, 3]], |g, v| g.maximum(v[0], v[1])),
    ("aclnnAdds", &[&[4]], |g, v| g.adds(v[0], 0.5)),
    ("aclnnMuls", &[&[4]], |g, v| g.muls(v[0], 1.5)),
    ("aclnnDivs", &[&[4]], |g, v| g.divs(v[0], 3.0)),
    ("aclnnClampMin", &[&[4]], |g, v| g.clamp_min(v[0], 2.0)),
    ("aclnnAbs", &[&[4]], |g, v| g.abs(v[0])),
    ("aclnnSqrt", &[&[4]], |g, v| g.sqrt(v[0])),
    ("aclnnRsqrt", &[&[4]], |g, v| g.rsqrt(v[0])),
    ("aclnnTanh", &[&[4]], |g, v| g.tanh(v[0])),
    ("aclnnGeluV2", &[&[4]], |g, v| g.gelu(v[0], GeluForm::Tanh)),
    ("softmax of a view with gaps, which needs scratch memory", &[&[2, 3]], |g, v| {
        let turned = g.transpose(v[0], 0, 1)?;
        g.softmax(turned, 0)
    }),
    ("aclnnLayerNorm", &[&[2, 3], &[3], &[3]], |g, v| g.layer_norm(v[0], v[1], v[2], 1e-5)),
    ("aclnnReduceSum", &[&[2, 3]], |g, v| g.reduce_sum(v[0], &[0], false)),
    ("aclnnMean", &[&[2, 3]], |g, v| g.mean(v[0], &[-1], true)),
    ("aclnnPermute", &[&[2, 3]], |g, v| g.permute(v[0], &[1, 0])),
    ("aclnnEmbedding", &[&[4, 3], &[5]], |g, v| {
        let indices = g.cast(v[1], I64)?;
        g.embedding(v[0], indices)
    }),
    ("aclnnMatmul", &[&[2, 3], &[3, 2]], |g, v| g.matmul_with(v[0], v[1], CubeMath::UseHf32)),
    ("aclnnMm", &[&[2, 3], &[3, 2]], |g, v| g.mm(v[0], v[1])),
    ("aclnnBatchMatMul", &[&[2, 2, 3], &[2, 3, 2]], |g, v| g.batch_matmul(v[0], v[1])),
    ("aclnnAddmm", &[&[2], &[2, 3], &[3, 2]], |g, v| g.addmm(v[0], v[1], v[2])),
];

fn names(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|index| format!("input {index}"))
}

fn plan(shapes: &[&[usize]], record: Record) -> Plan {
    Plan::build(|g| {
        let inputs = names(shapes.len()).zip(shapes);
        let values: Result<Vec<_>> =
            inputs.map(|(name, dims)| g.input(&name, *dims, F32, Input::Updatable)).collect();
        let y = record(g, &values?)?;
        g.output("y", y)
    })
    .unwrap()
}

/// Memory for a turn; numbers from 0 to 3, also for indices.
fn memory(alone: &Alone, shapes: &[&[usize]], turn: usize) -> Vec<Tensor<f32>> {
    let one = |(which, dims): (usize, &&[usize])| {
        let count = dims.iter().product();
        let data: Vec<f32> = (0..count).map(|i| ((turn * 7 + which * 5 + i * 3) % 13) as f32 / 4.0).collect();
        alone.device.upload_tensor(&data, *dims).unwrap()
    };
    shapes.iter().enumerate().map(one).collect()
}

/// What `y` is in each turn, as bits, and how many updates there were: all, by address.
fn turns(alone: &Alone, plan: &Plan, options: &RunOptions, memory: &[Vec<Tensor<f32>>]) -> (Vec<Vec<u32>>, [u64; 2]) {
    let stream = alone.stream();
    let mut exe = plan.executable(&alone.device, options, Frozen::new()).unwrap();
    let mut bind = exe.bindings();
    let mut results = Vec::new();
    for turn in memory {
        for (name, tensor) in names(turn.len()).zip(turn) {
            bind.set(exe.input(&name).unwrap(), tensor);
        }
        exe.run(&stream, &mut bind).unwrap();
        results.push(result(&exe, "y").into_iter().map(f32::to_bits).collect());
    }
    let counters = exe.counters();
    (results, [counters.updates, counters.updates_by_address])
}

#[test]
fn every_operator_gives_the_same_bits_by_address_whole_and_eagerly() {
    let alone = Alone::new();
    for (name, shapes, record) in OPERATORS {
        let plan = plan(shapes, record);
        let memory: Vec<_> = (0..6).map(|turn| memory(&alone, shapes, turn)).collect();
        let run = |options: RunOptions| turns(&alone, &plan, &options, &memory);
        let (eager, _) = run(RunOptions::new().mode(Mode::Eager));
        assert!(eager.windows(2).all(|two| two[0] != two[1]), "{name}: {eager:?}");
        // The look-up has the operator that makes its indices beside it.
        let each = if name == "aclnnEmbedding" { 2 } else { 1 };
        assert_eq!(run(RunOptions::new()), (eager.clone(), [5 * each, 4 * each]), "{name}");
        assert_eq!(run(RunOptions::new().address_updates(false)), (eager, [5 * each, 0]), "{name}");
    }
}

/// The first phase, once for each limit of cores in a row, and for each change of settings.
#[test]
fn an_operator_that_was_planned_under_other_settings_is_planned_anew() {
    let alone = Alone::new();
    let stream = alone.stream();
    let shapes: &[&[usize]] = &[&[4]];
    let mut exe = plan(shapes, |g, v| g.muls(v[0], 2.0)).capture(&alone.device, Frozen::new()).unwrap();
    let (x, mut bind) = (exe.input("input 0").unwrap(), exe.bindings());
    let mut turn = 0;
    let mut planned = || {
        turn += 1;
        let memory = alone.device.upload_tensor(&[turn as f32; 4], [4]).unwrap();
        let before = exe.counters();
        let (phases, ()) = calls_of("aclnnMulsGetWorkspaceSize", || exe.run(&stream, bind.set(x, &memory)).unwrap());
        assert_eq!(result(&exe, "y"), [2.0 * turn as f32; 4]);
        let after = exe.counters();
        (phases, after.updates_by_address - before.updates_by_address)
    };
    planned();
    assert_eq!([planned(), planned()], [(1, 0), (0, 1)]);
    let limit = stream.limit_cores(Cores { cube: 2, vector: 2 }).unwrap();
    assert_eq!([planned(), planned()], [(1, 0), (0, 1)], "under a limit of the thread");
    std::thread::scope(|scope| scope.spawn(|| assert_eq!(planned(), (1, 0), "a thread without")).join().unwrap());
    assert_eq!([planned(), planned()], [(1, 0), (0, 1)]);
    limit.end().unwrap();
    assert_eq!([planned(), planned()], [(1, 0), (0, 1)], "after it");
    let limit = alone.device.limit_cores(Cores { cube: 3, vector: 3 }).unwrap();
    assert_eq!([planned(), planned()], [(1, 0), (0, 1)], "under one of the process");
    limit.end().unwrap();
    assert_eq!([planned(), planned()], [(1, 0), (0, 1)], "after that");
    alone.device.context().set_option(SystemOption::Deterministic, true).unwrap();
    assert_eq!([planned(), planned()], [(1, 0), (0, 1)], "under another option");
}

/// An operator of `a` into memory, and what is there then.
type Into = (&'static str, fn(&Builder, Value, Value) -> Result<()>, fn(f32) -> f32);

#[test]
fn results_in_memory_that_moves_and_operands_that_are_one_input_are_replaced() {
    let alone = Alone::new();
    let stream = alone.stream();
    let operators: [Into; 4] = [
        ("copy", |g, a, out| aclnn::inplace_copy(g, &mut { out }, &a), |a| a),
        ("fill", |g, _, out| g.fill(out, 7.0_f32), |_| 7.0),
        ("aclnnMul", |g, a, out| aclnn::mul(g, &a, &a, &mut { out }), |a| a * a),
        ("aclnnSub", |g, a, out| aclnn::sub(g, &out, &a, 1, &mut { out }), |a| -a),
    ];
    for (name, record, expected) in operators {
        let plan = Plan::build(|g| {
            let a = g.input("a", [4], F32, Input::Updatable)?;
            let out = g.input("out", [4], F32, Input::Updatable)?;
            record(g, a, out)?;
            let none = g.full([1], F32, 0)?;
            g.output("none", none)
        })
        .unwrap();
        let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
        let (a, out) = (exe.input("a").unwrap(), exe.input("out").unwrap());
        let mut bind = exe.bindings();
        let memory: Vec<_> = (0..5)
            .map(|turn| {
                let a = alone.device.upload_tensor(&[turn as f32; 4], [4]).unwrap();
                (a, alone.device.zeros::<f32>([4]).unwrap())
            })
            .collect();
        for (turn, (x, y)) in memory.iter().enumerate() {
            exe.run(&stream, bind.set(a, x).set(out, y)).unwrap();
            assert_eq!(y.to_vec().unwrap(), [expected(turn as f32); 4], "{name}, turn {turn}");
        }
        let counters = exe.counters();
        assert_eq!((counters.updates, counters.updates_by_address), (4, 3), "{name}");
    }
}

/// y = 2 x + 1, with x updatable, and two memories for x.
struct Case {
    exe: Executable,
    binds: [Bindings; 2],
    stream: Stream,
}

impl Case {
    fn new(alone: &Alone) -> Self {
        Self::in_mode(alone, Mode::Captured)
    }

    fn in_mode(alone: &Alone, mode: Mode) -> Self {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Updatable)?;
            let h = g.muls(x, 2.0)?;
            let y = g.adds(h, 1.0)?;
            g.output("y", y)
        });
        let options = RunOptions::new().mode(mode);
        let exe = plan.unwrap().executable(&alone.device, &options, Frozen::new()).unwrap();
        let x = [1.0_f32, 10.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
        let binds = [give(&exe, "x", &x[0]), give(&exe, "x", &x[1])];
        Self { exe, binds, stream: alone.stream() }
    }

    fn run(&mut self, turn: usize) -> Result<()> {
        self.exe.run(&self.stream, &mut self.binds[turn % 2])
    }

    #[track_caller]
    fn check(&mut self, turn: usize, what: &str) {
        self.run(turn).unwrap();
        assert_eq!(result(&self.exe, "y"), [[3.0, 21.0][turn % 2]; 4], "{what}, turn {turn}");
    }

    fn by_address(&self) -> u64 {
        self.exe.counters().updates_by_address
    }
}

#[test]
fn an_update_by_address_makes_no_first_phase_and_describes_nothing() {
    let alone = Alone::new();
    let mut case = Case::new(&alone);
    (0..2).for_each(|turn| case.check(turn, "before"));
    assert_eq!(case.by_address(), 0, "the first update plans the operator");
    for turn in 2..6 {
        let plans = || {
            let made = |name: &&str| name.ends_with("GetWorkspaceSize") || name.starts_with("aclCreate");
            Table::names().map(|(name, _)| name).filter(made).map(mock::calls).sum::<u64>()
        };
        let before = plans();
        let (addresses, (launches, ())) =
            calls_of("aclSetTensorAddr", || calls_of("aclnnMuls", || case.run(turn).unwrap()));
        assert_eq!((plans() - before, addresses, launches), (0, 1, 1));
    }
    assert_eq!(case.by_address(), 4);
}

#[test]
fn what_an_operator_keeps_goes_with_its_graph() {
    let alone = Alone::new();
    let objects = || {
        let live = mock::live_handles();
        [live.executors, live.tensors, live.scalars]
    };
    let mut case = Case::new(&alone);
    case.check(0, "before");
    let before = objects();
    (1..10).for_each(|turn| case.check(turn, "kept"));
    let [executors, tensors, scalars] = before;
    assert_eq!(objects(), [executors + 1, tensors + 2, scalars + 1]);
    case.exe.clear_graphs();
    assert_eq!(objects(), before);
}

#[test]
fn an_operator_that_refuses_is_updated_whole_from_then_on() {
    for (function, code) in [("aclSetAclOpExecutorRepeatable", NO_EXECUTOR), ("aclSetTensorAddr", BAD_PARAMETER)] {
        let alone = Alone::new();
        // Only what updates keep is to be refused.
        alone.device.context().set_operator_cache(0);
        let plan = plan(&[&[4], &[4]], |g, v| {
            let a = g.muls(v[0], 2.0)?;
            let b = g.adds(v[1], 1.0)?;
            g.add(a, b)
        });
        let memory: Vec<_> = (0..8).map(|turn| self::memory(&alone, &[&[4], &[4]], turn)).collect();
        let expected = turns(&alone, &plan, &RunOptions::new().mode(Mode::Eager), &memory).0;
        let before = mock::calls("aclSetAclOpExecutorRepeatable");
        mock::fail(function, 1, code).unwrap();
        let done = turns(&alone, &plan, &RunOptions::new(), &memory);
        // One of the two operators refused; seven updates each, of which the first plans.
        assert_eq!(done, (expected, [14, 6]), "{function}");
        assert_eq!(mock::calls("aclSetAclOpExecutorRepeatable") - before, 2, "{function}: asked again");
        assert!(alone.device.context().take_drop_errors().is_empty());
    }
}

#[test]
fn a_foreign_operator_stays_whole() {
    let alone = Alone::new();
    let stream = alone.stream();
    let kernel = crate::kernels::copy();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Updatable)?;
        let y = g.empty([4], F32)?;
        g.foreign(&kernel, &[x], &[y])?;
        g.output("y", y)
    });
    let mut exe = plan.unwrap().capture(&alone.device, Frozen::new()).unwrap();
    for value in [1.0_f32, 2.0, 3.0, 4.0] {
        let x = alone.device.upload_tensor(&[value; 4], [4]).unwrap();
        exe.run(&stream, &mut give(&exe, "x", &x)).unwrap();
        assert_eq!(result(&exe, "y"), [value; 4]);
    }
    assert_eq!((exe.counters().updates, exe.counters().updates_by_address), (3, 0));
}

#[test]
fn an_executable_that_moves_to_another_thread_and_back_is_not_planned_again() {
    let alone = Alone::new();
    let mut case = Case::new(&alone);
    (0..4).for_each(|turn| case.check(turn, "here"));
    assert_eq!(case.by_address(), 2);
    let before = first_phases();
    for visit in 1..4 {
        let turns = 4 * visit..4 * visit + 4;
        if visit % 2 == 1 {
            std::thread::scope(|scope| {
                scope.spawn(|| turns.for_each(|turn| case.check(turn, "there")));
            });
        } else {
            turns.for_each(|turn| case.check(turn, "back"));
        }
    }
    assert_eq!((case.by_address(), first_phases() - before), (2 + 12, 0));
}

/// Runs it on four threads of a runtime in turn, twice on each; how many first phases each visit took.
fn visits(case: Case) -> Vec<u64> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    let (case, met) = (Arc::new(Mutex::new((case, Vec::new()))), Arc::new(Barrier::new(4)));
    let tasks: Vec<_> = (0..4)
        .map(|worker| {
            let (case, met) = (Arc::clone(&case), Arc::clone(&met));
            runtime.spawn(async move {
                for round in 0..8 {
                    // Nobody is in two tasks, since all wait here.
                    met.wait();
                    if round % 4 == worker {
                        let (case, plans) = &mut *case.lock().unwrap();
                        let before = first_phases();
                        let turns = 3 * round..3 * round + 3;
                        // The others would wait for a task that panics.
                        let checked = catch_unwind(AssertUnwindSafe(|| {
                            turns.for_each(|turn| case.check(turn, "on some thread"));
                        }));
                        plans.push(checked.map(|()| first_phases() - before));
                    }
                }
            })
        })
        .collect();
    tasks.into_iter().for_each(|task| runtime.block_on(task).unwrap());
    let plans = std::mem::take(&mut case.lock().unwrap().1);
    plans.into_iter().map(|plans| plans.unwrap_or_else(|payload| resume_unwind(payload))).collect()
}

#[test]
fn an_executable_that_moves_between_threads_of_a_runtime_is_planned_once() {
    crate::common::needs_mock("it counts calls");
    let alone = Alone::new();
    let captured = visits(Case::new(&alone));
    assert!(captured[0] > 0 && captured[1..].iter().all(|plans| *plans == 0), "{captured:?}");
    // Operator by operator it is planned once on each thread, as all eager work is.
    let eager = visits(Case::in_mode(&alone, Mode::Eager));
    assert!(eager[..4].iter().all(|plans| *plans > 0) && eager[4..].iter().all(|plans| *plans == 0), "{eager:?}");
}

fn first_phases() -> u64 {
    let names = Table::names().map(|(name, _)| name);
    names.filter(|name| name.ends_with("GetWorkspaceSize")).map(mock::calls).sum()
}

#[test]
fn memory_that_the_caller_drops_lives_until_the_run_is_over() {
    let alone = Alone::new();
    let mut case = Case::new(&alone);
    (0..3).for_each(|turn| case.check(turn, "before"));
    mock::hold(&case.stream).unwrap();
    let x = alone.device.upload_tensor(&[5.0_f32; 4], [4]).unwrap();
    case.exe.run(&case.stream, &mut give(&case.exe, "x", &x)).unwrap();
    assert_eq!(case.by_address(), 2);
    drop(x);
    // Memory that came back would be given to these.
    let others: Vec<_> = (0..8).map(|_| alone.device.upload_tensor(&[99.0_f32; 4], [4]).unwrap()).collect();
    mock::release(&case.stream).unwrap();
    assert_eq!(result(&case.exe, "y"), [11.0; 4]);
    drop(others);
}

#[test]
fn every_c_call_of_an_update_by_address_may_fail() {
    let alone = Alone::new();
    let ready = || {
        let mut case = Case::new(&alone);
        (0..3).for_each(|turn| case.check(turn, "before"));
        case
    };
    let count = || Table::names().map(|(name, _)| (name, mock::calls(name))).collect::<Vec<_>>();
    let mut case = ready();
    let before = count();
    case.run(3).unwrap();
    let made = count().into_iter().zip(before).map(|((name, after), (_, before))| (name, after - before));
    let made: Vec<_> = made.filter(|(_, calls)| *calls > 0).collect();
    assert!(made.contains(&("aclSetTensorAddr", 1)) && made.contains(&("aclnnMuls", 1)), "{made:?}");
    for (name, nth) in made.into_iter().flat_map(|(name, calls)| (1..=calls).map(move |nth| (name, nth))) {
        let mut case = ready();
        mock::fail(name, nth, 507_000).unwrap();
        let failed = catch_unwind(AssertUnwindSafe(|| case.run(3))).expect("no panic");
        mock::clear_failures();
        let what = format!("call {nth} of {name}");
        match failed {
            Ok(()) => assert_eq!(name, "aclSetTensorAddr", "{what}: nobody was told"),
            Err(error) => assert_eq!(error.call(), Some(name), "{what}: {error}"),
        }
        // No gate is closed.
        case.stream.synchronize().unwrap();
        let before = case.by_address();
        (3..7).for_each(|turn| case.check(turn, &what));
        // What may be the fault of addresses is not tried again.
        let whole = ["aclSetTensorAddr", "aclnnMuls", "aclmdlRICaptureTaskUpdateEnd"].contains(&name);
        assert_eq!(case.by_address() == before, whole, "{what}");
    }
}

#[test]
fn indices_of_another_type_are_replaced_too() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = Plan::build(|g| {
        let table = g.input("table", [3, 2], F32, Input::Updatable)?;
        let indices = g.input("indices", [2], DataType::I64, Input::Updatable)?;
        let y = g.embedding(table, indices)?;
        g.output("y", y)
    });
    let mut exe = plan.unwrap().capture(&alone.device, Frozen::new()).unwrap();
    let (table, indices) = (exe.input("table").unwrap(), exe.input("indices").unwrap());
    let mut bind = exe.bindings();
    let rows = alone.device.upload_tensor(&[0.0_f32, 0.0, 1.0, 1.0, 2.0, 2.0], [3, 2]).unwrap();
    let which = [[0_i64, 1], [2, 0], [1, 1], [2, 1]];
    let lists = which.map(|list| alone.device.upload_tensor(&list, [2]).unwrap());
    for (list, [a, b]) in lists.iter().zip(which.map(|list| list.map(|row| row as f32))) {
        exe.run(&stream, bind.set(table, &rows).set(indices, list)).unwrap();
        assert_eq!(result(&exe, "y"), [a, a, b, b]);
    }
    // One of two tensors moved.
    assert_eq!((exe.counters().updates, exe.counters().updates_by_address), (3, 2));
}
