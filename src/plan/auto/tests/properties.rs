//! What holds for the result of any plan, found again without the model.

use std::collections::HashMap;
use std::time::Duration;

use crate::error::Result;
use crate::op::DataType::F32;
use crate::plan::auto::change::wishes;
use crate::plan::auto::cost::{bytes, costs};
use crate::plan::auto::schedule::schedule;
use crate::plan::auto::{Auto, Overlapped, Rates, Target};
use crate::plan::builder::tests::generate::Dice;
use crate::plan::recipe::{Mode, NodeKind, ORIGIN, PrefetchInfo, Recipe};
use crate::plan::{Input, Plan, Value};

/// Elements of a side of what the plans work on.
const SIZES: [usize; 3] = [64, 256, 1024];

/// Random work on values of three sizes, with weights of all classes; large and small, narrow and deep.
fn plan(seed: u64) -> Plan {
    let mut dice = Dice(seed);
    Plan::build(|g| {
        let mut known: Vec<Vec<Value>> = Vec::new();
        let mut weights = HashMap::new();
        for (index, size) in SIZES.iter().enumerate() {
            known.push(vec![g.input(&format!("x{index}"), [16, *size], F32, Input::Copied)?]);
            for other in SIZES {
                let class = [Input::Frozen, Input::Static][dice.index(2)];
                weights.insert((*size, other), g.input(&format!("w{size}x{other}"), [*size, other], F32, class)?);
            }
        }
        let deep = dice.chance(500);
        for _ in 0..5 + dice.below(60) {
            let from = dice.index(SIZES.len());
            let pick = |dice: &mut Dice, all: &[Value]| match deep {
                true => all[all.len() - 1 - dice.index(2.min(all.len()))],
                false => all[dice.index(all.len())],
            };
            let (a, b) = (pick(&mut dice, &known[from]), pick(&mut dice, &known[from]));
            let (made, to) = match dice.below(8) {
                0 => (g.tanh(a)?, from),
                1 | 2 => (g.add(a, b)?, from),
                3 => (g.softmax(a, -1)?, from),
                4 if dice.chance(200) => {
                    g.wait_all(&[b])?;
                    (g.muls(a, 2.0)?, from)
                }
                _ => {
                    let to = dice.index(SIZES.len());
                    (g.mm(a, weights[&(SIZES[from], SIZES[to])])?, to)
                }
            };
            known[to].push(made);
        }
        let ends: Result<Vec<()>> =
            known.iter().enumerate().map(|(index, all)| g.output(&format!("y{index}"), all[all.len() - 1])).collect();
        ends.map(drop)
    })
    .unwrap()
}

fn auto(seed: u64) -> Auto {
    let mut dice = Dice(seed ^ 0x0ff5e7);
    let rates = Rates {
        memory: [20_000, 1_000_000][dice.index(2)],
        event: [100, 1_000, 5_000][dice.index(3)],
        ..Rates::default()
    };
    let l2 = [64 << 10, 2 << 20, 8 << 20, 192 << 20][dice.index(4)];
    let target = Target::new(l2, 1 + dice.below(24), 1 + dice.below(48)).unwrap().rates(rates).unwrap();
    Auto::new(target).max_streams(1 + dice.index(6)).streams(dice.chance(800)).prefetch(dice.chance(800))
}

/// At every piece of work, in the order of issue: what waits in L2 for its reader, and all that the work touches unless
/// it is such a reader.
fn assert_within_l2(overlapped: &Overlapped, seed: u64) {
    let recipe = &overlapped.plan.0.recipe;
    let mut waiting: HashMap<u32, u64> = HashMap::new();
    for node in &recipe.nodes {
        let accesses = recipe.accesses_of(node);
        if let NodeKind::Prefetch(prefetch) = node.kind {
            let PrefetchInfo { offset, max_bytes } = recipe.prefetches[prefetch as usize];
            let size = bytes(recipe.layout_of(accesses[0].value));
            assert!(offset == 0 && max_bytes <= size, "seed {seed}");
            let before = waiting.insert(accesses[0].value, max_bytes);
            assert_eq!(before, None, "seed {seed}: fetched a second time before it was read");
        } else if !accesses.is_empty() {
            let touched: u64 = accesses.iter().map(|access| bytes(recipe.layout_of(access.value))).sum();
            let reads = accesses.iter().any(|access| waiting.contains_key(&access.value));
            let held: u64 = waiting.values().sum();
            let used = held + if reads { 0 } else { touched };
            assert!(held == 0 || used <= overlapped.report.l2_budget, "seed {seed}: {used}\n{}", overlapped.report);
            waiting.retain(|value, _| !accesses.iter().any(|access| access.value == *value));
        }
    }
    assert!(waiting.is_empty(), "seed {seed}: fetched for nobody");
}

/// That no wait is for what its stream knows by then, every event is waited for, and the origin ends with all done.
fn assert_events_are_needed(plan: &Plan, seed: u64) {
    let (recipe, order) = (&plan.0.recipe, &plan.0.order);
    let mut last: Vec<Option<u32>> = vec![None; recipe.tags.len()];
    let (mut records, mut waited) = (vec![None; recipe.events.len()], vec![false; recipe.events.len()]);
    for (index, node) in (0..).zip(&recipe.nodes) {
        match node.kind {
            NodeKind::Record(event) => records[event as usize] = Some(index),
            NodeKind::Wait(event) => {
                let record: u32 = records[event as usize].expect("recorded before");
                waited[event as usize] = true;
                let known = last[usize::from(node.tag)].is_some_and(|before| order.before(record, before));
                assert!(!known && order.tag(record) != node.tag, "seed {seed}: a wait for what is known");
            }
            _ => {}
        }
        last[usize::from(node.tag)] = Some(index);
    }
    assert!(waited.iter().all(|waited| *waited), "seed {seed}: a record for nobody");
    let end = last[usize::from(ORIGIN)].unwrap();
    let works = (0..).zip(&recipe.nodes).filter(|(_, node)| !node.kind.is_sync());
    for (index, _) in works {
        assert!(index == end || order.before(index, end), "seed {seed}: not joined");
    }
}

/// When all is done where only streams and events take time, and nothing is ever short of cores or memory.
fn least_time(overlapped: &Overlapped, target: &Target) -> u64 {
    let (recipe, rates) = (&overlapped.plan.0.recipe, &target.rates);
    let mut times: Vec<u64> = costs(recipe, target).iter().map(|cost| cost.with(0, rates).0).collect();
    for one in &overlapped.report.prefetched {
        times[one.reader.position as usize] = one.times.1.as_nanos() as u64;
    }
    let (mut free, mut recorded) = (vec![0; recipe.tags.len()], vec![0; recipe.events.len()]);
    let mut records = vec![ORIGIN; recipe.events.len()];
    for (node, time) in recipe.nodes.iter().zip(times) {
        let at = &mut free[usize::from(node.tag)];
        match node.kind {
            NodeKind::Record(event) => (recorded[event as usize], records[event as usize]) = (*at, node.tag),
            // No work waits for prefetches.
            NodeKind::Wait(event) => {
                let from = &recipe.tags[usize::from(records[event as usize])].name;
                if from != "prefetch" {
                    *at = (*at).max(recorded[event as usize] + rates.event);
                }
            }
            _ => *at += time,
        }
    }
    free[usize::from(ORIGIN)]
}

/// Work in the order in which it was, prefetches left out.
fn works(recipe: &Recipe) -> Vec<(String, Vec<(u32, Mode)>)> {
    let works =
        recipe.nodes.iter().filter(|node| !node.kind.is_sync() && !matches!(node.kind, NodeKind::Prefetch(_)));
    let accesses = |node| recipe.accesses_of(node).iter().map(|access| (access.value, access.mode)).collect();
    works.map(|node| (recipe.label(node), accesses(node))).collect()
}

#[test]
fn any_plan_keeps_its_work_its_l2_and_its_events_and_never_takes_longer() {
    let (mut spread, mut fetched, mut both, mut partly) = (0, 0, 0, 0);
    for seed in 0..600 {
        let (plan, auto) = (plan(seed), auto(seed));
        let overlapped = plan.overlap(&auto).unwrap_or_else(|error| panic!("seed {seed}: {error:#}"));
        let (new, report) = (&overlapped.plan, &overlapped.report);
        assert_eq!(works(&plan.0.recipe), works(&new.0.recipe), "seed {seed}");
        assert!(report.after <= report.before, "seed {seed}: {report}");
        let changed = new.0.recipe != plan.0.recipe;
        assert_eq!(changed, report.after < report.before, "seed {seed}: {report}");
        assert_within_l2(&overlapped, seed);
        let alone = costs(&plan.0.recipe, &auto.target).iter().map(|cost| cost.with(0, &auto.target.rates).0).sum();
        assert_eq!(report.before, Duration::from_nanos(alone), "seed {seed}");
        let least = Duration::from_nanos(least_time(&overlapped, &auto.target));
        assert!(least <= report.after, "seed {seed}: {least:?}\n{report}");
        assert_events_are_needed(new, seed);
        assert_eq!(report.prefetched.len(), new.operators() - plan.operators(), "seed {seed}");
        let again = plan.overlap(&auto).unwrap();
        assert!(again.plan.0.recipe == new.0.recipe && again.report == *report, "seed {seed}: not the same again");
        let (moves, fetches) = (!report.moved.is_empty(), !report.prefetched.is_empty());
        spread += usize::from(moves);
        fetched += usize::from(fetches);
        both += usize::from(moves && fetches);
        partly += report.prefetched.iter().filter(|one| one.bytes < one.whole).count();
    }
    assert!(spread > 100 && fetched > 60 && both > 30 && partly > 30, "{spread} {fetched} {both} {partly}");
}

#[test]
fn no_moment_of_a_schedule_takes_more_than_the_device_has() {
    for seed in 0..200 {
        let (plan, Auto { target, .. }) = (plan(seed), auto(seed));
        let (recipe, rates) = (&plan.0.recipe, &target.rates);
        let costs = costs(recipe, &target);
        let found = schedule(recipe, &wishes(recipe), &costs, &target, 5);
        for at in 0..costs.len() {
            let (start, stream) = (found.starts[at], found.streams[at]);
            let running = |other: &usize| found.starts[*other] <= start && start < found.ends[*other];
            let mut used = [0; 3];
            for other in (0..costs.len()).filter(running) {
                let (_, more) = costs[other].with(0, rates);
                (0..3).for_each(|one| used[one] += more[one]);
                assert!(other == at || found.streams[other] != stream, "seed {seed}: two at once on a stream");
            }
            let has = [target.cores.cube, target.cores.vector, 1000];
            assert!((0..3).all(|one| used[one] <= has[one]), "seed {seed}: {used:?} of {has:?}");
            for need in found.needs[at].iter().map(|need| *need as usize) {
                let event = if found.streams[need] == stream { 0 } else { rates.event };
                assert!(found.ends[need] + event <= start, "seed {seed}: {at} starts before {need} is done");
            }
        }
        assert!(found.ends.iter().all(|end| *end <= found.total), "seed {seed}");
    }
}

#[test]
fn a_long_plan_takes_about_linear_time() {
    // Work that needs nothing of each other and could go anywhere: comparing all pairs would take minutes.
    let plan = Plan::build(|g| {
        let x = g.input("x", [16], F32, Input::Copied)?;
        let w = g.input("w", [128, 256], F32, Input::Frozen)?;
        let y = g.input("y", [16, 128], F32, Input::Copied)?;
        for _ in 0..10_000 {
            g.tanh(x)?;
            g.mm(y, w)?;
        }
        Ok(())
    })
    .unwrap();
    let auto = Auto::new(Target::new(192 << 20, 24, 48).unwrap()).max_streams(8);
    assert_eq!(plan.overlap(&auto).unwrap().plan.streams(), 8);
}
