//! What shares bytes must be ordered, and what can share bytes does.

use crate::error::Result;
use crate::op::DataType::F32;
use crate::plan::{Builder, Foreign, Fork, Input, Plan, Scope, Value};

use super::*;

/// Foreign operators of all sizes on five streams; each waits for what it reads through versions of `x`.
fn record(g: &Builder, rng: &mut fastrand::Rng, operators: usize) -> Result<()> {
    let any = Foreign::new("test.any", 1, |_| Ok(()));
    let x = g.input("x", [4], F32, Input::Static)?;
    let mut values: Vec<Value> = Vec::new();
    for _ in 0..operators {
        let mut reads = Vec::new();
        let mut ready = x;
        for _ in 0..rng.usize(0..4).min(values.len()) {
            // Recent ones more often, so that there is something to share.
            let far = if rng.bool() { 4 } else { 40 };
            let back = rng.usize(1..=values.len().min(far));
            let value = values[values.len() - back];
            ready = g.wait_value(ready, value)?;
            reads.push(value);
        }
        reads.push(if rng.bool() { ready } else { g.reshape(ready, [2, 2])? });
        let tag = ["origin", "1", "2", "3", "4"][rng.usize(0..5)];
        let fork = if rng.bool() { Fork::Here } else { Fork::AtStart };
        let y = g.empty([rng.usize(1..200)], F32)?;
        g.scope_with(tag, Scope::new().fork(fork), |g| g.foreign(&any, &reads, &[y]))?;
        values.push(y);
        if rng.u8(..) < 20 {
            // There may be nothing to join.
            let _ = g.join(["1", "2", "3", "4"][rng.usize(0..4)]);
        }
    }
    let last = values[values.len() - 1];
    let ready = g.wait_value(x, last)?;
    let y = g.empty([4], F32)?;
    g.foreign(&any, &[ready, last], &[y])?;
    g.output("y", y)
}

fn plans(each: impl Fn(&Plan, &Temporaries<'_>)) {
    for seed in 0..60 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let operators = rng.usize(1..300);
        // That a plan is accepted says that the waits order what they should.
        let plan = Plan::build(|g| record(g, &mut rng, operators)).unwrap();
        let inner = &plan.0;
        each(&plan, &temporaries(&inner.recipe, &inner.order, &inner.uses).unwrap());
    }
}

/// Whether all uses of one are over before any of the other, use by use.
fn apart(plan: &Plan, a: u32, b: u32) -> bool {
    let (a, b) = (plan.0.uses.storage(a), plan.0.uses.storage(b));
    let before = |a: &[crate::plan::recipe::uses::Use], b: &[crate::plan::recipe::uses::Use]| {
        a.iter().all(|a| b.iter().all(|b| plan.0.order.before(a.node, b.node)))
    };
    before(a, b) || before(b, a)
}

fn check(plan: &Plan, temporaries: &Temporaries<'_>, places: &Places) {
    for (i, a) in temporaries.all.iter().enumerate() {
        let from = places.offsets[i];
        assert!(from.is_multiple_of(ALIGNMENT) && from + a.bytes <= places.peak);
        for (j, b) in temporaries.all.iter().enumerate().take(i) {
            let to = places.offsets[j];
            let share = from < to + b.bytes && to < from + a.bytes;
            assert!(!share || apart(plan, a.storage, b.storage), "{i} and {j} share bytes");
        }
    }
}

#[test]
fn what_shares_bytes_is_ordered_however_it_was_placed() {
    plans(|plan, temporaries| {
        let ends = by_end(temporaries);
        let bound = largest_live_set(temporaries, &ends);
        for places in [Gaps::place(temporaries, &ends), by_size::place(temporaries).unwrap()] {
            check(plan, temporaries, &places);
            assert!(places.peak >= bound);
        }
    });
}

#[test]
fn conflicts_are_those_of_all_pairs() {
    plans(|plan, temporaries| {
        let conflicts = conflicts::Conflicts::of(temporaries).unwrap();
        for (i, a) in temporaries.all.iter().enumerate() {
            let mut found: Vec<u32> = conflicts.with(i as u32).collect();
            found.sort_unstable();
            let all = temporaries.all.iter().enumerate();
            let expected = all.filter(|(j, b)| *j != i && !apart(plan, a.storage, b.storage)).map(|(j, _)| j as u32);
            assert_eq!(found, expected.collect::<Vec<_>>(), "of {i}");
        }
    });
}

/// Layers of a product on the origin stream with a chain of one to four operators beside it.
fn layers(count: usize) -> MemoryReport {
    let plan = Plan::build(|g| {
        let input = g.input("x", [64, 64], F32, Input::Static)?;
        let w = g.input("w", [64, 64], F32, Input::Frozen)?;
        let mut x = g.adds(input, 1.0)?;
        for layer in 0..count {
            let beside = g.scope("side", |g| {
                let first = g.muls(x, 2.0)?;
                (0..layer % 4).try_fold(first, |last, _| g.tanh(last))
            })?;
            let product = g.matmul(x, w)?;
            let moved = g.adds(product, 1.0)?;
            let root = g.sqrt(moved)?;
            g.join("side")?;
            x = g.add(root, beside)?;
        }
        g.output("y", x)
    })
    .unwrap();
    plan.memory(&[]).unwrap()
}

#[test]
fn the_arena_does_not_grow_with_the_length_of_the_plan() {
    // Of 16 KiB each: x, what is computed beside it, and two for a chain where one is read and the next written, on
    // each of the two streams: five at most.
    let each = 64 * 64 * 4 + 64;
    for count in [8, 100, 2000] {
        let report = layers(count);
        assert!(report.peak <= 5 * each, "{count} layers: {report}");
    }
}

#[test]
fn a_report_is_one_line_with_shares() {
    let report = MemoryReport { peak: 1536, sum: 3072, lower_bound: 1024 };
    let expected = "1536 bytes: 50.0 % of 3072 without sharing, 150.0 % of the least possible 1024";
    assert_eq!(report.to_string(), expected);
    let empty = MemoryReport { peak: 0, sum: 0, lower_bound: 0 };
    assert_eq!(empty.to_string(), "0 bytes: 100.0 % of 0 without sharing, 100.0 % of the least possible 0");
}
