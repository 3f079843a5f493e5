//! Mutated plans, behind the checksum too: whatever is read without an error is as good as a built plan.

use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::plan::recipe::function::Body;
use crate::plan::recipe::{FunctionInfo, FunctionKind};
use crate::plan::stored::codec::{DecodeError, Decoded, decode, encode};
use crate::plan::stored::{Code, most_steps, registry};
use crate::plan::symbols::effort::counted;
use crate::plan::{NotLoaded, Plan};

use super::{content, generate, mutate, sealed};

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
    plans: Vec<Decoded>,
    contents: Vec<Vec<u8>>,
}

impl Corpus {
    fn new() -> Self {
        let plans: Vec<_> = (0..64).map(|seed| generate::plan(seed, 1 + seed as usize % 6)).collect();
        let stored: Vec<_> = plans.iter().map(|plan| encode(&plan.0.recipe, plan.lints())).collect();
        Self {
            plans: stored.iter().map(|stored| decode(stored).unwrap()).collect(),
            contents: stored.iter().map(|stored| content(stored).to_vec()).collect(),
        }
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
                let Decoded { mut recipe, lints } = self.plans[chosen].clone();
                mutate::recipe(&mut random, &mut recipe);
                encode(&recipe, &lints)
            }
        }
    }
}

pub(super) fn bodies(decoded: &Decoded) -> Vec<Body> {
    let body = |info: &FunctionInfo| match info.kind {
        FunctionKind::Foreign => Body::Foreign(generate::foreign().body),
        FunctionKind::Host => Body::Host(generate::host().body),
        // One that is changed is refused, whatever stands for it.
        FunctionKind::Operator => registry::operator(info).unwrap_or_else(|_| Body::Host(generate::host().body)),
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
    let again = encode(&decoded.recipe, &decoded.lints);
    assert_eq!(decode(&again).map(|again| encode(&again.recipe, &again.lints)).as_ref(), Ok(&again));
    // The way of a start.
    let (loaded, steps) = counted(|| Plan::from_bytes(input, Code::None));
    let more = match loaded {
        Ok((plan, _)) => {
            seen.plans += 1;
            counted(|| work(&plan)).1
        }
        Err(NotLoaded::Broken(_)) => {
            seen.unordered += 1;
            0
        }
        // A function that became an operator, which there is none of.
        Err(NotLoaded::Unbound(why)) if why.contains("does not have") => {
            seen.unordered += 1;
            0
        }
        Err(NotLoaded::Unbound(why)) => panic!("nothing is bound here: {why}"),
    };
    // What follows has no limit of its own, and keeps to that of loading all the same.
    assert!(steps + more <= most_steps(input), "{steps} steps, then {more}, for {} bytes", input.len());
    seen.most_steps = seen.most_steps.max(steps + more);
}

/// Tries `count` inputs, from that of a seed on.
fn run(count: u64, seed: u64) -> Seen {
    let corpus = Corpus::new();
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
    let seen = run(30_000, 0);
    // All three happen, or the mutations are no good.
    assert!(seen.refused > 10_000 && seen.unordered > 100 && seen.plans > 1000, "{seen:?}");
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
    let seen = run(count, seed);
    let took = start.elapsed();
    let rate = seen.tried as f64 / took.as_secs_f64();
    eprintln!("{took:.1?}, {rate:.0} a second: {seen:?}");
    // What was asked for is what a list of figures compares with.
    println!("fuzz of stored plans\t{}\tinputs\t{count}\tmet", seen.tried);
}
