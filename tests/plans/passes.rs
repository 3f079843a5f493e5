//! Random plans give the same numbers before and after their passes, simulated, eagerly and captured.
//!
//! `RACL_PLAN_SEED=17 cargo test --test plans NAME` runs a test with one seed alone.

use std::collections::BTreeMap;
use std::sync::Mutex;

use racl::Prefetch;
use racl::Result;
use racl::op::DataType::{self, F32};
use racl::op::aclnn;
use racl::plan::{After, Builder, Input, Optimised, PassMode, Passes, Plan, Simulated, Value};

use super::equal::{Case, Given};
use super::generate::{self, Dice, Recorded, Style};
use super::mixer::mixer;
use super::seeds::{alone, for_seeds};
use crate::Alone;

/// How many operators each pass left out of all plans.
#[derive(Default)]
pub(crate) struct Gone(Mutex<(usize, BTreeMap<&'static str, usize>)>);

impl Gone {
    pub(crate) fn add(&self, better: &Optimised) {
        let (plans, gone) = &mut *self.0.lock().unwrap();
        *plans += 1;
        better.changes.iter().for_each(|change| *gone.entry(change.pass).or_default() += 1);
    }

    #[track_caller]
    pub(crate) fn assert_at_least(&self, plans: usize, least: &[(&str, usize)]) {
        let (seen, gone) = &*self.0.lock().unwrap();
        if alone().is_none() {
            assert!(*seen >= plans, "{seen} plans");
            for (pass, least) in least {
                assert!(gone.get(pass).is_some_and(|count| count >= least), "{pass}: {gone:?} in {seen} plans");
            }
        }
    }
}

/// Runs the plan after its passes in every way there is, and compares it with the plan before them.
fn check(
    mock: &Alone,
    plan: &Plan,
    passes: &Passes,
    case: (&[Vec<Given>], &[(String, DataType)]),
    seed: u64,
) -> Optimised {
    check_close(mock, plan, passes, case, (0.0, seed))
}

/// The same, where numbers may differ by so much of the largest one in their output.
pub(crate) fn check_close(
    mock: &Alone,
    plan: &Plan,
    passes: &Passes,
    case: (&[Vec<Given>], &[(String, DataType)]),
    (share, seed): (f32, u64),
) -> Optimised {
    let (turns, outputs) = case;
    let better = plan.optimise(passes).unwrap();
    assert_eq!(plan.operators(), better.plan.operators() + better.changes.len());
    let inputs = turns[0].iter().fold(Simulated::new(), |all, one| all.bytes(&one.name, one.bytes.clone()));
    let (before, after) =
        (plan.simulate(seed, &inputs).unwrap(), better.plan.simulate(seed.wrapping_mul(31), &inputs).unwrap());
    for (name, _) in outputs {
        let (a, b) = (before.bytes(name).unwrap(), after.bytes(name).unwrap());
        assert!(a == b || (share > 0.0 && is_close(a, b, share)), "{name}\n{better}");
    }
    for one in &turns[0] {
        let (a, b) = (before.input_bytes(&one.name).unwrap(), after.input_bytes(&one.name).unwrap());
        assert!(a == b || (share > 0.0 && is_close(a, b, share)), "{}\n{better}", one.name);
    }
    Case { plan: &better.plan, turns, outputs }.check(&mock.device, seed);
    better
}

fn is_close(a: &[u8], b: &[u8], share: f32) -> bool {
    let numbers = |bytes: &[u8]| -> Vec<f32> {
        bytes.chunks_exact(4).map(|one| f32::from_ne_bytes(one.try_into().unwrap())).collect()
    };
    let (a, b) = (numbers(a), numbers(b));
    let largest = a.iter().filter(|one| one.is_finite()).fold(0.0_f32, |most, one| most.max(one.abs()));
    let close = |(a, b): (&f32, &f32)| (a - b).abs() <= share * largest || a == b || (a.is_nan() && b.is_nan());
    a.len() == b.len() && a.iter().zip(&b).all(close)
}

#[test]
fn plans_of_foreign_operators_are_the_same_after_all_passes() {
    let (mock, gone) = (Alone::new(), Gone::default());
    let passes = Passes::all(PassMode::On).foreign_only_computes();
    for_seeds(700_000..701_000, |seed| {
        let style = Style {
            operators: [8, 30, 60][(seed % 3) as usize],
            tags: 4,
            careless: 0,
            prefetches: true,
            outputs: [0, 100, 300][(seed / 3 % 3) as usize],
        };
        let mut recorded = Recorded::default();
        // One kind of operator, so that the same is done twice.
        let plan = Plan::build(|g| {
            recorded = generate::record(g, seed, &style, &|_, reads, writes| mixer(0, reads, writes))?;
            Ok(())
        });
        let Ok(plan) = plan else { return };
        let turn = |turn: u64| {
            let one = |(index, made): (usize, &generate::Made)| Given {
                name: made.name.clone(),
                class: made.class,
                dtype: made.dtype,
                dims: made.dims.clone(),
                bytes: generate::input_bytes(seed ^ turn << 40, index, made.bytes()),
            };
            recorded.inputs.iter().enumerate().map(one).collect::<Vec<_>>()
        };
        gone.add(&check(&mock, &plan, &passes, (&[turn(0), turn(1)], &recorded.outputs), seed));
    });
    gone.assert_at_least(900, &[("dead_values", 4000), ("common_values", 10)]);
}

const NAMES: [&str; 3] = ["origin", "a", "b"];

/// Writes operators on rows of four numbers, on three streams.
struct Writer<'a> {
    g: &'a Builder,
    dice: Dice,
    /// Values, and whether they are memory of the plan that can be written.
    known: Vec<(Value, bool)>,
    /// What was done, and with which values.
    done: Vec<(u32, Value, Value)>,
    /// Streams with work that the origin has not waited for.
    open: [bool; 3],
}

impl Writer<'_> {
    fn pick(&mut self) -> Value {
        let len = self.known.len();
        let index = self.dice.index(len).max(self.dice.index(len));
        self.known[index].0
    }

    /// Makes all work known to the origin, and with it to what is forked there.
    fn join(&mut self) -> Result<()> {
        for (name, open) in NAMES.iter().zip(&mut self.open).filter(|(_, open)| **open) {
            self.g.join(name)?;
            *open = false;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<()> {
        let stream = self.dice.index(3);
        if self.dice.chance(700) {
            self.join()?;
        }
        if stream == 0 {
            return self.work();
        }
        let g = self.g;
        g.scope(NAMES[stream], |_| self.work())?;
        self.open[stream] = true;
        Ok(())
    }

    fn work(&mut self) -> Result<()> {
        let g = self.g;
        let (what, a, b) = match self.done.len() {
            done if done > 0 && self.dice.chance(300) => self.done[self.dice.index(done)],
            _ => (self.dice.below(16), self.pick(), self.pick()),
        };
        self.done.push((what, a, b));
        let made = match what {
            0 => g.abs(a)?,
            1 => g.tanh(a)?,
            2 | 3 => g.add(a, b)?,
            4 => g.mul(a, b)?,
            5 => g.muls(a, [0.0, -0.0][self.dice.index(2)])?,
            6..8 => {
                let copy = g.empty([4], F32)?;
                if self.dice.chance(500) {
                    g.copy(a, copy)?;
                } else {
                    aclnn::inplace_copy(g, &mut { copy }, &a)?;
                }
                copy
            }
            8 => {
                let parts = g.empty([4], F32)?;
                let half = |value, at: usize| g.narrow(value, 0, 2 * at..2 * at + 2);
                aclnn::abs(g, &half(a, 0)?, &mut { half(parts, 1)? })?;
                aclnn::tanh(g, &half(b, 1)?, &mut { half(parts, 0)? })?;
                parts
            }
            9 => {
                let sums = g.empty([4], F32)?;
                aclnn::cumsum(g, &a, 0, F32, &mut { sums })?;
                sums
            }
            10 if self.dice.chance(500) => self.in_parts(a, b)?,
            10 => return self.in_place(),
            11..13 => {
                let mut product = self.product(a, b)?;
                if self.dice.chance(200) {
                    self.in_place()?;
                }
                if self.dice.chance(300) {
                    product = g.muls(product, [0.5, -3.0][self.dice.index(2)])?;
                }
                let (row, times) = (g.narrow(b, 0, 1..3)?, [1.0, 1.0, -1.0, 2.0][self.dice.index(4)]);
                let sum = if self.dice.chance(500) {
                    g.add_scaled(row, product, times)?
                } else {
                    g.add_scaled(product, row, times)?
                };
                g.reshape(sum, [4])?
            }
            _ => {
                let turned = g.reshape(a, [2, 2])?;
                let turned = g.transpose(turned, 0, 1)?;
                let sum = g.add(turned, turned)?;
                g.reshape(sum, [4])?
            }
        };
        self.known.push((made, true));
        Ok(())
    }

    /// Of two matrices, of batches of one each, or of rows in two dimensions and a matrix.
    fn product(&mut self, a: Value, b: Value) -> Result<Value> {
        let g = self.g;
        let (a, b) = (g.reshape(a, [2, 2])?, g.reshape(b, [2, 2])?);
        match self.dice.index(4) {
            0 => g.batch_matmul(g.reshape(a, [1, 2, 2])?, g.reshape(b, [1, 2, 2])?),
            1 => g.matmul(g.reshape(a, [2, 1, 2])?, b),
            _ => g.mm(a, b),
        }
    }

    /// Halves that are computed by themselves, and joined or copied.
    fn in_parts(&mut self, a: Value, b: Value) -> Result<Value> {
        let g = self.g;
        let (first, second) = (g.tanh(g.narrow(a, 0, 1..3)?)?, g.abs(g.narrow(b, 0, 0..2)?)?);
        if self.dice.chance(300) {
            self.in_place()?;
        }
        if self.dice.chance(500) {
            return g.cat(&[first, second], 0);
        }
        // Into memory that others may read or write before, or that the halves are made of.
        let writable: Vec<Value> = self.known.iter().filter(|(_, own)| *own).map(|(value, _)| *value).collect();
        let to = writable[self.dice.index(writable.len())];
        for (half, at) in [(first, 0), (second, 2)] {
            aclnn::inplace_copy(g, &mut { g.narrow(to, 0, at..at + 2)? }, &half)?;
        }
        g.abs(to)
    }

    fn in_place(&mut self) -> Result<()> {
        let writable: Vec<Value> = self.known.iter().filter(|(_, own)| *own).map(|(value, _)| *value).collect();
        let one = writable[self.dice.index(writable.len())];
        aclnn::tanh(self.g, &one, &mut { one })
    }
}

/// The plan of a seed, if the checks accept it.
fn plan(seed: u64) -> Result<Plan> {
    Plan::build(|g| {
        let mut dice = Dice(seed);
        let (state, x) = (g.input("state", [4], F32, Input::Static)?, g.input("x", [4], F32, Input::Copied)?);
        let moved = g.input("moved", [4], F32, Input::Tracked(racl::plan::OnMove::Recapture))?;
        let weight = g.input("weight", [4], F32, Input::Frozen)?;
        let mut known = vec![(state, true), (x, false), (moved, false)];
        for number in [0.5_f32, -1.5, 3.0] {
            known.push((g.constant(&[number, 1.0, -number, 0.0], [4])?, false));
        }
        known.push((weight, false));
        let operators = 3 + dice.below(20);
        let mut writer = Writer { g, dice, known, done: Vec::new(), open: [false; 3] };
        for _ in 0..operators {
            writer.step()?;
        }
        writer.join()?;
        for index in 0..2 {
            g.output(&format!("y{index}"), writer.pick())?;
        }
        Ok(())
    })
}

#[test]
fn plans_of_operators_are_the_same_after_all_passes() {
    let (mock, gone) = (Alone::new(), Gone::default());
    for_seeds(710_000..710_800, |seed| {
        let Ok(plan) = plan(seed) else { return };
        let mode = if seed % 4 == 0 { PassMode::Verified } else { PassMode::On };
        let input = |name: &str, class, shift: u64| {
            let mut dice = Dice(seed ^ shift << 32);
            let bytes = (0..4).flat_map(|_| (dice.below(4001) as f32 / 500.0 - 4.0).to_ne_bytes()).collect();
            Given { name: name.to_owned(), class, dtype: F32, dims: vec![4], bytes }
        };
        let turn = |turn: u64| {
            let moved = Input::Tracked(racl::plan::OnMove::Recapture);
            vec![
                input("state", Input::Static, 8 * turn + 1),
                input("x", Input::Copied, 8 * turn + 2),
                input("moved", moved, 8 * turn + 3),
                input("weight", Input::Frozen, 4),
            ]
        };
        let outputs = [("y0".to_owned(), F32), ("y1".to_owned(), F32)];
        let passes = Passes::all(mode).relaid_weights(if seed % 3 == 0 { PassMode::Off } else { mode });
        gone.add(&check(&mock, &plan, &passes, (&[turn(0), turn(1)], &outputs), seed));
    });
    let least = [
        ("relaid_weights", 70),
        ("direct_results", 30),
        ("dead_values", 1000),
        ("common_values", 100),
        ("folded_constants", 500),
        ("needless_copies", 100),
        ("fused_products", 100),
    ];
    gone.assert_at_least(300, &least);
}

#[test]
fn inputs_of_every_class_stay_what_they_are() {
    let mock = Alone::new();
    let classes = [
        ("frozen", Input::Frozen),
        ("static", Input::Static),
        ("copied", Input::Copied),
        ("tracked", Input::Tracked(racl::plan::OnMove::Recapture)),
        ("updatable", Input::Updatable),
        ("host", Input::Host),
    ];
    let plan = Plan::build(|g| {
        let inputs = classes.map(|(name, class)| g.input(name, [4], F32, class));
        let mut sums = Vec::new();
        for (index, input) in inputs.into_iter().enumerate() {
            let input = input?;
            if index < 2 {
                g.prefetch(input, Prefetch::all(), After::Start)?;
            }
            let (a, b) = (g.abs(input)?, g.scope("side", |g| g.abs(input))?);
            g.join("side")?;
            g.tanh(g.abs(input)?)?;
            let copy = g.empty([4], F32)?;
            aclnn::inplace_copy(g, &mut { copy }, &b)?;
            sums.push(g.add(a, copy)?);
            if index == 1 || index == 4 {
                aclnn::muls(g, &input, 0.5_f32, &mut { input })?;
                sums.push(g.abs(input)?); // others than before
            }
        }
        sums.iter().enumerate().try_for_each(|(index, sum)| g.output(&format!("y{index}"), *sum))
    })
    .unwrap();
    let turn = |turn: u64| {
        let given = classes.iter().enumerate().map(|(index, (name, class))| {
            let mut dice = Dice(8 * turn + index as u64);
            let bytes = (0..4).flat_map(|_| (dice.below(4001) as f32 / 500.0 - 4.0).to_ne_bytes()).collect();
            Given { name: (*name).to_owned(), class: *class, dtype: F32, dims: vec![4], bytes }
        });
        given.collect::<Vec<_>>()
    };
    let outputs: Vec<_> = (0..8).map(|index| (format!("y{index}"), F32)).collect();
    let turns = [turn(0), turn(1), turn(2)];
    let better = check(&mock, &plan, &Passes::all(PassMode::Verified), (&turns, &outputs), 1);
    // The two other abs, the copy and the tanh of each input.
    assert_eq!(better.changes.len(), 4 * classes.len(), "{better}");
}
