//! Plans whose work overlaps give the bytes of the plans that they were made of, simulated, eagerly and captured.
//!
//! `RACL_PLAN_SEED=17 cargo test --test plans NAME` runs a test with one seed alone.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::mock::{self, RaceCheck};
use racl::op::{DataType::F32, aclnn};
use racl::plan::auto::{Auto, Overlapped, Rates, Report, Target};
use racl::plan::{Builder, Frozen, HostFunction, Input, Options, Plan, Simulated, Value};
use racl::{Result, Tensor};

use super::bodies;
use super::equal::{Case, Given};
use super::generate::Dice;
use super::seeds::{alone, for_seeds};
use crate::{Alone, give, result};

/// Rows and columns of the weights: 64 KiB each.
const WIDTH: usize = 128;

/// A device with a memory so slow that small weights are worth a prefetch.
fn auto() -> Auto {
    let mut rates = Rates::default();
    rates.memory = 20_000;
    Auto::new(Target::new(1 << 20, 24, 48).unwrap().rates(rates).unwrap())
}

/// Work on rows, with weights of each kind, in any order on one stream.
struct Writer<'a> {
    g: &'a Builder,
    dice: Dice,
    known: Vec<Value>,
    /// Memory of the plan that may be written.
    own: Vec<Value>,
    weights: Vec<Value>,
}

impl Writer<'_> {
    fn pick(&mut self) -> Value {
        self.known[self.dice.index(self.known.len())]
    }

    fn step(&mut self) -> Result<()> {
        let (g, a, b) = (self.g, self.pick(), self.pick());
        let made = match self.dice.below(13) {
            0 => g.add(a, b)?,
            1 => g.tanh(a)?,
            2 => g.muls(a, 0.5)?,
            3 => g.softmax(a, -1)?,
            4 => {
                let one = self.own[self.dice.index(self.own.len())];
                return aclnn::tanh(g, &one, &mut { one }).map(drop);
            }
            5 if self.dice.chance(200) => return g.host_function(&HostFunction::new("seen", 1, |_| {})),
            6 if self.dice.chance(300) => {
                g.wait_all(&[a])?;
                g.abs(b)?
            }
            7 if self.dice.chance(300) => g.tanh(g.wait_value(a, b)?)?,
            8 => {
                let copy = g.empty([1, WIDTH], F32)?;
                g.copy(a, copy)?;
                copy
            }
            9 => {
                let weight = self.weights[self.dice.index(self.weights.len())];
                g.amax(weight, &[0], true)?
            }
            _ => {
                let weight = self.weights[self.dice.index(self.weights.len())];
                let weight = if self.dice.chance(200) { g.transpose(weight, 0, 1)? } else { weight };
                g.muls(g.mm(a, weight)?, 0.1)?
            }
        };
        self.known.push(made);
        self.own.push(made);
        Ok(())
    }
}

fn plan(seed: u64) -> Plan {
    Plan::build(|g| {
        let mut dice = Dice(seed);
        let x = g.input("x", [1, WIDTH], F32, Input::Copied)?;
        let host = g.input("host", [1, WIDTH], F32, Input::Host)?;
        let state = g.input("state", [1, WIDTH], F32, Input::Static)?;
        let numbers: Vec<f32> = (0..WIDTH * WIDTH).map(|_| dice.below(2001) as f32 / 1000.0 - 1.0).collect();
        let weights = vec![
            g.input("frozen", [WIDTH, WIDTH], F32, Input::Frozen)?,
            g.input("static", [WIDTH, WIDTH], F32, Input::Static)?,
            g.constant(&numbers, [WIDTH, WIDTH])?,
        ];
        let steps = 4 + dice.below(30);
        let mut writer = Writer { g, dice, known: vec![x, host, state], own: vec![state], weights };
        (0..steps).try_for_each(|_| writer.step())?;
        g.output("y", writer.pick())?;
        g.output_to_host("z", writer.pick())
    })
    .unwrap()
}

fn given(seed: u64, turn: u64) -> Vec<Given> {
    let mut dice = Dice(seed ^ (turn + 1) << 40);
    let mut input = |name: &str, class, rows: usize| {
        let bytes = (0..rows * WIDTH).flat_map(|_| (dice.below(4001) as f32 / 1000.0 - 2.0).to_ne_bytes()).collect();
        Given { name: name.to_owned(), class, dtype: F32, dims: vec![rows, WIDTH], bytes }
    };
    vec![
        input("x", Input::Copied, 1),
        input("host", Input::Host, 1),
        input("state", Input::Static, 1),
        input("frozen", Input::Frozen, WIDTH),
        input("static", Input::Static, WIDTH),
    ]
}

/// What a simulated run leaves behind.
fn left(plan: &Plan, run: u64, given: &[Given]) -> [Vec<u8>; 4] {
    let inputs = given.iter().fold(Simulated::new(), |all, one| all.bytes(&one.name, one.bytes.clone()));
    let run = plan.simulate(run, &inputs).unwrap();
    let (y, z, host) = (run.bytes("y").unwrap(), run.bytes("z").unwrap(), run.host_bytes("z").unwrap());
    [y, z, host, run.input_bytes("state").unwrap()].map(<[u8]>::to_vec)
}

/// That a plan and what was made of it leave the same, simulated and on each way that runs.
fn check_same(mock: &Alone, (plan, new): (&Plan, &Plan), seed: u64, report: &Report) {
    let outputs = ["y", "z"].map(|name| (name.to_owned(), F32));
    let turns = [given(seed, 0), given(seed, 1)];
    for (turn, run) in turns.iter().zip(0..) {
        let expected = left(plan, run, turn);
        (0..3).for_each(|run| assert_eq!(left(new, seed ^ run, turn), expected, "{report}"));
    }
    Case { plan: new, turns: &turns, outputs: &outputs }.check(&mock.device, seed);
}

#[test]
fn random_plans_leave_the_same_bytes_when_their_work_overlaps() {
    let mock = Alone::new();
    let before = mock::check_races(RaceCheck::Report);
    let counts = [(); 4].map(|()| AtomicUsize::new(0));
    let count = |index: usize, one: bool| counts[index].fetch_add(usize::from(one), Ordering::Relaxed);
    for_seeds(900_000..900_240, |seed| {
        let plan = plan(seed);
        let Overlapped { plan: new, report, .. } = plan.overlap(&auto().streams(seed % 3 > 0)).unwrap();
        count(0, !report.moved.is_empty());
        count(1, !report.prefetched.is_empty());
        count(3, report.prefetched.iter().any(|one| one.reader.operator == "aclnnAmax"));
        count(2, !report.moved.is_empty() && !report.prefetched.is_empty());
        check_same(&mock, (&plan, &new), seed, &report);
    });
    let races = mock::races();
    mock::check_races(before);
    assert!(races.is_empty(), "{}", races[0]);
    let counts = counts.map(AtomicUsize::into_inner);
    assert!(
        alone().is_some() || (counts[0] > 100 && counts[1] > 60 && counts[2] > 10 && counts[3] > 10),
        "{counts:?}"
    );
}

#[test]
fn plans_that_are_called_give_the_same_bytes_when_their_work_overlaps() {
    // The simulation takes calls of the mock that others let fail.
    let _alone = Alone::new();
    let moved = AtomicUsize::new(0);
    for_seeds(0..100, |seed| {
        let made = bodies::plan(seed, Options::new().collapse_streams(), true).unwrap();
        let Overlapped { plan: new, report, .. } = made.plan.overlap(&auto()).unwrap();
        moved.fetch_add(usize::from(!report.moved.is_empty()), Ordering::Relaxed);
        let numbers: Vec<f32> = (0..12).map(|number| number as f32 / 4.0 - 1.0).collect();
        let inputs = Simulated::new().tensor("x", &numbers, [3, 4]);
        let run = |plan: &Plan, turn| {
            let run = plan.simulate(turn, &inputs).unwrap();
            made.outputs.iter().map(|name| run.bytes(name).unwrap().to_vec()).collect::<Vec<_>>()
        };
        let expected = run(&made.plan, 0);
        (1..4).for_each(|turn| assert_eq!(run(&new, turn), expected, "{report}"));
        let Overlapped { plan: new, report, .. } = made.plan.overlap(&auto().keep_calls(true)).unwrap();
        (1..4).for_each(|turn| assert_eq!(run(&new, turn), expected, "calls kept: {report}"));
    });
    let moved = moved.into_inner();
    assert!(alone().is_some() || moved >= 10, "{moved}");
}

/// A plan that calls others once, several times in a row, and inside others, by any seed.
fn caller(seed: u64) -> Plan {
    let mut dice = Dice(seed);
    let body = |dice: &mut Dice, inner: Option<&Plan>| {
        let (steps, ends, at) = (4 + dice.below(12), dice.chance(500), dice.below(4));
        Plan::build(|g| {
            let x = g.input("x", [1, WIDTH], F32, Input::Copied)?;
            let w = g.input("w", [WIDTH, WIDTH], F32, Input::Frozen)?;
            let mut writer =
                Writer { g, dice: Dice(dice.next()), known: vec![x], own: vec![g.abs(x)?], weights: vec![w] };
            for step in 0..steps {
                writer.step()?;
                if let (Some(inner), true) = (inner, step == at) {
                    let [made] = g.call(inner, &[writer.pick(), w])?;
                    writer.known.push(made);
                }
            }
            let y = writer.pick();
            g.output("y", if ends { g.tanh(y)? } else { y })
        })
    };
    let inner = body(&mut dice, None).unwrap();
    let outer = body(&mut dice, Some(&inner)).unwrap();
    Plan::build(|g| {
        let x = g.input("x", [1, WIDTH], F32, Input::Copied)?;
        let host = g.input("host", [1, WIDTH], F32, Input::Host)?;
        let state = g.input("state", [1, WIDTH], F32, Input::Static)?;
        let frozen = g.input("frozen", [WIDTH, WIDTH], F32, Input::Frozen)?;
        let second = g.input("static", [WIDTH, WIDTH], F32, Input::Static)?;
        let [y] = g.call(&outer, &[g.add(x, host)?, frozen])?;
        let [z] = g.call_times(2, &inner, [y], &[second])?;
        let [y] = g.call(&outer, &[g.add(z, state)?, second])?;
        g.output("y", y)?;
        g.output_to_host("z", z)
    })
    .unwrap()
}

#[test]
fn bodies_that_overlap_where_they_are_called_leave_the_same_bytes() {
    let mock = Alone::new();
    let before = mock::check_races(RaceCheck::Report);
    let counts = [(); 2].map(|()| AtomicUsize::new(0));
    for_seeds(970_000..970_060, |seed| {
        let plan = caller(seed);
        let Overlapped { plan: new, report, .. } = plan.overlap(&auto().keep_calls(true)).unwrap();
        assert!(report.after <= report.before, "{report}");
        counts[0].fetch_add(usize::from(!report.moved.is_empty()), Ordering::Relaxed);
        counts[1].fetch_add(usize::from(!report.prefetched.is_empty()), Ordering::Relaxed);
        check_same(&mock, (&plan, &new), seed, &report);
    });
    let races = mock::races();
    mock::check_races(before);
    assert!(races.is_empty(), "{}", races[0]);
    let counts = counts.map(AtomicUsize::into_inner);
    assert!(alone().is_some() || (counts[0] > 10 && counts[1] > 0), "{counts:?}");
}

/// A decoder layer for one token: a norm, three projections, a gate beside them, and a product for the end.
fn decoder(g: &Builder) -> Result<()> {
    let x = g.input("x", [1, WIDTH], F32, Input::Copied)?;
    let weight = |name: &str| g.input(name, [WIDTH, WIDTH], F32, Input::Frozen);
    let mut x = x;
    for layer in 0..3 {
        let name = |what: &str| format!("{what}{layer}");
        let (norm, _) = g.rms_norm(x, g.full([WIDTH], F32, 1.0)?, 1e-6)?;
        let gate = g.softmax(g.muls(g.tanh(norm)?, 3.0)?, -1)?;
        let mixed = g.softmax(g.mul(g.mm(norm, weight(&name("q"))?)?, g.mm(norm, weight(&name("k"))?)?)?, -1)?;
        let mixed = g.mul(g.mul(mixed, gate)?, g.mm(norm, weight(&name("v"))?)?)?;
        x = g.add(x, g.mm(g.silu(mixed)?, weight(&name("o"))?)?)?;
    }
    g.output("y", x)
}

#[test]
fn a_decoder_computes_the_same_captured_with_its_weights_prefetched() {
    let mock = Alone::new();
    let plan = Plan::build(decoder).unwrap();
    let Overlapped { plan: new, report, .. } = plan.overlap(&auto()).unwrap();
    assert!(report.prefetched.len() >= 3 && !report.moved.is_empty(), "{report}");
    let mut dice = Dice(5);
    let mut tensor = |rows: usize| -> Tensor<f32> {
        let numbers: Vec<f32> = (0..rows * WIDTH).map(|_| dice.below(2001) as f32 / 1000.0 - 1.0).collect();
        mock.device.upload_tensor(&numbers, [rows, WIDTH]).unwrap()
    };
    let names: Vec<String> =
        (0..3).flat_map(|layer| ["q", "k", "v", "o"].map(|what| format!("{what}{layer}"))).collect();
    let weights: Vec<Tensor<f32>> = names.iter().map(|_| tensor(WIDTH)).collect();
    let x = tensor(1);
    let stream = mock.stream();
    let run = |plan: &Plan| {
        let frozen = names.iter().zip(&weights).fold(Frozen::new(), |all, (name, one)| all.with(name, one));
        let mut exe = plan.capture(&mock.device, frozen).unwrap();
        let mut bind = give(&exe, "x", &x);
        exe.run(&stream, &mut bind).unwrap();
        result(&exe, "y").into_iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    let before = mock::calls("aclrtCmoAsync");
    let expected = run(&plan);
    assert_eq!(mock::calls("aclrtCmoAsync"), before);
    assert_eq!(run(&new), expected);
    assert_eq!(mock::calls("aclrtCmoAsync") - before, report.prefetched.len() as u64);
}

#[test]
fn a_target_says_what_the_device_says() {
    let mock = Alone::new();
    mock::set_l2_cache_bytes(Some(32 << 20)).unwrap();
    let target = Target::of(&mock.device);
    mock::set_l2_cache_bytes(None).unwrap();
    let target = target.unwrap();
    assert_eq!((target.l2_bytes(), target.cores().cube, target.cores().vector), (32 << 20, 24, 48));
}
