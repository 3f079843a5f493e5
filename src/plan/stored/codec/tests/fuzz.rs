//! Mutated plans, behind the checksum too: whatever is read without an error is as good as a built plan.

use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::plan::builder::tests::bodies;
use crate::plan::check::finding::Finding;
use crate::plan::recipe::function::{self, Body};
use crate::plan::recipe::{FunctionInfo, FunctionKind, Recipe};
use crate::plan::stored::codec::{DecodeError, Decoded, decode, encode};
use crate::plan::stored::{Code, most_steps, registry};
use crate::plan::symbols::effort::counted;
use crate::plan::{NotLoaded, Options, Plan};

use super::{choices, content, generate, mutate, sealed};

/// Longer inputs are not tried.
const MOST_BYTES: usize = 1 << 14;

#[derive(Debug, Default)]
struct Seen {
    tried: u64,
    refused: u64,
    /// Read, and refused by the checks that built plans go through.
    unordered: u64,
    plans: u64,
    /// Of all checks of one.
    most_steps: u64,
    slowest: Duration,
}

/// Tells which input it was when something panics.
struct Current(u64);

impl Drop for Current {
    #[allow(clippy::print_stderr, reason = "the only way out of a panic")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the input of seed {}", self.0);
        }
    }
}

struct Corpus {
    plans: Vec<(Recipe, Vec<Finding>)>,
    contents: Vec<Vec<u8>>,
}

impl Corpus {
    fn new() -> Self {
        Self::of((0..64).map(|seed| generate::plan(seed, 1 + seed as usize % 6)))
    }

    /// Of plans that call others.
    fn called() -> Self {
        Self::of((0..64).map(|seed| bodies::plan(seed, Options::new(), true).unwrap().plan))
    }

    fn of(plans: impl Iterator<Item = Plan>) -> Self {
        let plans: Vec<_> = plans.map(|plan| (plan.recipe().clone(), plan.lints().to_vec())).collect();
        let contents = plans.iter().map(|(recipe, lints)| content(&encode(recipe, lints)).to_vec()).collect();
        Self { plans, contents }
    }

    /// The input of a seed.
    fn input(&self, seed: u64) -> Vec<u8> {
        let mut random = Rng::with_seed(seed);
        let chosen = random.usize(..self.plans.len());
        match random.u8(..16) {
            0 => {
                let mut stored = sealed(&self.contents[chosen]);
                mutate::bytes(&mut random, &mut stored, &[]);
                stored
            }
            1..8 => {
                let mut content = self.contents[chosen].clone();
                let other = random.usize(..self.contents.len());
                mutate::bytes(&mut random, &mut content, &self.contents[other]);
                sealed(&content)
            }
            _ => {
                let (mut recipe, lints) = self.plans[chosen].clone();
                mutate::recipe(&mut random, &mut recipe);
                encode(&recipe, &lints)
            }
        }
    }
}

pub(super) fn bodies(decoded: &Decoded) -> Vec<Body> {
    let body = |info: &FunctionInfo| match info.kind() {
        FunctionKind::Foreign => function::Code::Foreign(generate::foreign().body).into(),
        FunctionKind::Host => function::Code::Host(generate::host().body).into(),
        // One that is changed is refused, whatever stands for it.
        FunctionKind::Operator => {
            registry::operator(info).unwrap_or_else(|_| function::Code::Host(generate::host().body).into())
        }
    };
    decoded.recipe.functions.iter().map(body).collect()
}

/// Uses what was read as an executable does before it touches a device.
fn work(plan: &Plan) {
    let recipe = &plan.0.recipe;
    for index in 0..recipe.nodes.len() as u32 {
        assert!(!recipe.describe(index).is_empty());
    }
    let bounds = recipe.bounds();
    let least: Vec<usize> = bounds.iter().map(|(least, _)| *least as usize).collect();
    let greatest: Vec<usize> = bounds.iter().map(|(_, greatest)| *greatest as usize).collect();
    for symbols in [least, greatest] {
        let Ok((fixed, memory)) = plan.specialise(&symbols) else { continue };
        for (index, value) in fixed.values.iter().enumerate() {
            let span = fixed.layout_of(index as u32).span().and_then(|span| span.as_fixed()).unwrap();
            let storage = fixed.storages[value.storage as usize].bytes.as_fixed().unwrap();
            let offset = value.offset.as_fixed().unwrap();
            assert!(span == 0 || offset + span <= storage, "value {index}");
        }
        let arena = fixed.storages.iter().zip(&memory.offsets).filter(|(_, offset)| **offset != u64::MAX);
        arena.for_each(|(storage, offset)| assert!(offset + storage.bytes.as_fixed().unwrap() <= memory.peak));
    }
}

fn one(input: &[u8], seen: &mut Seen) {
    let decoded = match decode(input) {
        Ok(decoded) => decoded,
        Err(error) => {
            assert!(error != DecodeError::Short(0) || input.is_empty());
            seen.refused += 1;
            return;
        }
    };
    let calls = !decoded.called.is_empty();
    if !calls {
        let again = encode(&decoded.recipe, &decoded.lints);
        assert_eq!(decode(&again).map(|again| encode(&again.recipe, &again.lints)).as_ref(), Ok(&again));
    }
    // The way of a start.
    let (loaded, steps) = counted(|| Plan::from_bytes(input, Code::None));
    let more = match loaded {
        Ok((plan, _)) => {
            seen.plans += 1;
            let again = plan.to_bytes();
            assert_eq!(Plan::from_bytes(&again, Code::None).map(|(plan, _)| plan.to_bytes()).as_ref(), Ok(&again));
            counted(|| work(&plan)).1
        }
        Err(NotLoaded::Broken(_)) => {
            seen.unordered += 1;
            0
        }
        // A function that became an operator, which there is none of, or lost its name.
        Err(NotLoaded::Unbound(why)) if why.contains("does not have") || why.contains("without a name") => {
            seen.unordered += 1;
            0
        }
        Err(NotLoaded::Unbound(why)) => panic!("nothing is bound here: {why}"),
    };
    // What follows has no limit of its own, and keeps to that of loading all the same.
    // But for calls: a few bytes are a lot of work when it is written out.
    let counted = if calls { steps } else { steps + more };
    assert!(counted <= most_steps(input), "{steps} steps, then {more}, for {} bytes", input.len());
    seen.most_steps = seen.most_steps.max(steps + more);
}

/// Tries `count` inputs, from that of a seed on.
fn run(corpus: &Corpus, count: u64, seed: u64) -> Seen {
    let mut seen = Seen::default();
    let mut seeds = (0..).map(|number| seed.wrapping_add(number));
    while seen.tried < count {
        let Some(current) = seeds.next().map(Current) else { break };
        let input = corpus.input(current.0);
        if input.len() > MOST_BYTES {
            continue;
        }
        seen.tried += 1;
        let start = Instant::now();
        one(&input, &mut seen);
        seen.slowest = seen.slowest.max(start.elapsed());
    }
    seen
}

#[test]
fn mutated_plans_are_refused_or_as_good_as_built_ones() {
    let seen = run(&Corpus::new(), 30_000, 0);
    // All three happen, or the mutations are no good.
    assert!(seen.refused > 10_000 && seen.unordered > 100 && seen.plans > 1000, "{seen:?}");
}

#[test]
fn mutated_plans_that_call_others_are_refused_or_as_good_as_built_ones() {
    let seen = run(&Corpus::called(), 3_000, 1 << 32);
    assert!(seen.refused > 500 && seen.unordered > 10 && seen.plans > 50, "{seen:?}");
}

#[test]
fn mutated_plans_that_choose_are_refused_or_as_good_as_built_ones() {
    let seen = run(&Corpus::of(std::iter::once(choices::chosen())), 3_000, 1 << 33);
    assert!(seen.refused > 500 && seen.unordered > 10 && seen.plans > 20, "{seen:?}");
}

/// Run as the module's documentation says.
#[test]
#[ignore = "takes as long as it is told to"]
#[allow(clippy::print_stdout, clippy::print_stderr, reason = "asked for")]
fn fuzz_stored_plans() {
    let set = |name: &str| {
        let value = std::env::var(name).ok()?;
        Some(value.parse::<u64>().unwrap_or_else(|error| panic!("{name}={value}: {error}")))
    };
    let has_checks = cfg!(debug_assertions);
    assert!(has_checks, "--profile fuzz has the checks of a debug build, which --release leaves out");
    let count = set("RACL_FUZZ_COUNT").unwrap_or(1_000_000);
    let seed = set("RACL_FUZZ_SEED").unwrap_or_else(|| fastrand::u64(..));
    eprintln!("{count} inputs from seed {seed}");
    let start = Instant::now();
    let mut seen = run(&Corpus::new(), count - count / 8, seed);
    let called = run(&Corpus::called(), count / 8, seed.wrapping_add(count - count / 8));
    (seen.tried, seen.refused) = (seen.tried + called.tried, seen.refused + called.refused);
    (seen.unordered, seen.plans) = (seen.unordered + called.unordered, seen.plans + called.plans);
    let took = start.elapsed();
    let rate = seen.tried as f64 / took.as_secs_f64();
    eprintln!("{took:.1?}, {rate:.0} a second: {seen:?}");
    // What was asked for is what a list of figures compares with.
    println!("fuzz of stored plans\t{}\tinputs\t{count}\tmet", seen.tried);
}
