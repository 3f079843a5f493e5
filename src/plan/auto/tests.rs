//! What is chosen for plans whose numbers can be worked out by hand.

use std::time::Duration;

use crate::error::{ErrorKind, Result};
use crate::op::DataType::{F16, F32, I64};
use crate::plan::recipe::{Cores, NodeKind};
use crate::plan::{Builder, Foreign, HostFunction, Input, Options, PassMode, Passes, Plan, Value};

use super::{Auto, Overlapped, Rates, Reason, Target};

mod bodies;
mod properties;

/// 24 matrix and 48 vector cores. An operator takes 2 us at least, an event 1 us; memory moves 1 MB a microsecond,
/// of which one operator has nine tenths.
fn target() -> Target {
    Target::new(192 << 20, 24, 48).unwrap()
}

fn auto() -> Auto {
    Auto::new(target())
}

fn build(work: impl FnOnce(&Builder) -> Result<()>) -> Plan {
    Plan::build(work).unwrap()
}

fn overlap(plan: &Plan, auto: &Auto) -> Overlapped {
    plan.overlap(auto).unwrap()
}

fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// Two chains of so many operators on so many numbers, and their sum.
fn chains(operators: usize, numbers: usize) -> Plan {
    build(|g| {
        let x = g.input("x", [numbers], F32, Input::Copied)?;
        let chain = |by: f32| (0..operators).try_fold(x, |y, _| g.muls(y, by));
        let (a, b) = (chain(2.0)?, chain(3.0)?);
        g.output("y", g.add(a, b)?)
    })
}

/// The nodes by name and stream.
fn nodes(plan: &Plan) -> Vec<String> {
    let recipe = &plan.0.recipe;
    recipe.nodes.iter().map(|node| format!("{}@{}", recipe.label(node).replace(' ', "_"), node.tag)).collect()
}

fn count(overlapped: &Overlapped, reason: Reason) -> usize {
    overlapped.report.left.iter().find(|(known, _)| *known == reason).map_or(0, |(_, count)| *count)
}

#[test]
fn independent_branches_run_at_once() {
    let plan = chains(5, 1024);
    let Overlapped { plan: new, report } = overlap(&plan, &auto());
    // Eleven operators of 2 us; then five of each chain at once, the other one begun and joined by an event each.
    assert_eq!((report.before, report.after), (micros(22), micros(1 + 10 + 1 + 2)));
    assert_eq!((new.streams(), report.moved.len(), new.events()), (2, 5, 2));
    let moved = &report.moved[0];
    assert_eq!((moved.cores, moved.time), (Cores { cube: 0, vector: 1 }, micros(2)));
    assert_eq!(moved.sooner, micros(12 - 3));
    assert!(moved.work.place.starts_with("src/plan/auto/tests.rs:") && moved.beside.is_some(), "{moved}");
    assert_eq!(new.0.recipe.tags[1].name, "auto 1");
}

#[test]
fn a_chain_stays_as_it_is() {
    let plan = build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        g.output("y", (0..6).try_fold(x, |y, _| g.muls(y, 2.0))?)
    });
    let overlapped = overlap(&plan, &auto());
    assert_eq!(overlapped.plan.0.recipe, plan.0.recipe);
    assert_eq!(overlapped.report.left, [(Reason::Needs, 6)]);
    assert_eq!((overlapped.report.before, overlapped.report.after), (micros(12), micros(12)));
}

#[test]
fn a_diamond_of_single_operators_is_not_worth_two_events() {
    let plan = build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let top = g.muls(x, 2.0)?;
        g.output("y", g.add(g.tanh(top)?, g.abs(top)?)?)
    });
    // 2 + 2 + 2 + 2 us on one stream; 2 + 1 + 2 + 1 + 2 on two.
    let overlapped = overlap(&plan, &auto());
    assert_eq!(overlapped.plan.streams(), 1);
    assert_eq!((overlapped.report.after, count(&overlapped, Reason::Event)), (micros(8), 1));
    let rates = Rates { event: 100, ..Rates::default() };
    let fast = overlap(&plan, &Auto::new(target().rates(rates).unwrap()));
    assert_eq!(fast.report.after, Duration::from_nanos(6200));
    assert_eq!(nodes(&fast.plan)[..4], ["aclnnMuls@0", "record_of_event_#0@0", "aclnnTanh@0", "wait_for_event_#0@1"]);
}

#[test]
fn work_that_takes_all_cores_stays_apart() {
    // 2 MB read and 2 MB written: more than 32 KiB for each of 48 cores.
    let overlapped = overlap(&chains(3, 1 << 19), &auto());
    assert_eq!((overlapped.plan.streams(), overlapped.report.moved.len()), (1, 0));
    assert_eq!(count(&overlapped, Reason::Cores), 1, "{}", overlapped.report);
    // An eighth of that has 16 cores, and memory for both.
    assert_eq!(overlap(&chains(3, 1 << 16), &auto()).plan.streams(), 2);
}

#[test]
fn matrix_and_vector_cores_work_at_once() {
    let plan = build(|g| {
        let x = g.input("x", [512, 512], F32, Input::Copied)?;
        let product = g.mm(x, x)?;
        let other = (0..3).try_fold(x, |y, _| g.tanh(y))?;
        g.output("y", g.add(product, other)?)
    });
    let rates = Rates { product: 100_000, ..Rates::default() }; // it computes for long
    let overlapped = overlap(&plan, &Auto::new(target().rates(rates).unwrap()));
    let moved: Vec<&str> = overlapped.report.moved.iter().map(|moved| &*moved.work.operator).collect();
    assert_eq!(moved, ["aclnnTanh", "aclnnTanh", "aclnnTanh"]);
    let (beside, cores) = overlapped.report.moved[0].beside.as_ref().unwrap();
    assert_eq!((&*beside.operator, *cores), ("aclnnMm", Cores { cube: 4 * 2 * 2, vector: 0 }));
}

#[test]
fn two_products_that_wait_for_memory_stay_apart() {
    let plan = build(|g| {
        let x = g.input("x", [1, 2560], F16, Input::Copied)?;
        let product = |name: &str| g.mm(x, g.input(name, [2560, 256], F16, Input::Copied)?);
        let (a, b) = (product("a")?, product("b")?);
        g.output("y", g.add(a, b)?)
    });
    // Ten cores of 24 each, but each has all the bandwidth that an operator may have.
    let rates = Rates { memory: 100_000, ..Rates::default() };
    let overlapped = overlap(&plan, &Auto::new(target().rates(rates).unwrap()));
    assert_eq!((overlapped.plan.streams(), count(&overlapped, Reason::Bandwidth)), (1, 1), "{}", overlapped.report);
}

#[test]
fn streams_are_limited() {
    let plan = build(|g| {
        let x = g.input("x", [64], F32, Input::Copied)?;
        let chain = |by: usize| (0..6).try_fold(x, |y, _| g.muls(y, by as f32));
        let all = (0..5).map(chain).collect::<Result<Vec<Value>>>()?;
        let sum = all[1..].iter().try_fold(all[0], |sum, one| g.add(sum, *one))?;
        g.output("y", sum)
    });
    for most in 1..7 {
        let overlapped = overlap(&plan, &auto().max_streams(most));
        assert_eq!(overlapped.plan.streams(), most.min(5), "{most}");
    }
    let off = overlap(&plan, &auto().streams(false));
    assert_eq!((off.plan.streams(), off.report.left.len()), (1, 0));
    assert!(count(&overlap(&plan, &auto().max_streams(2)), Reason::Streams) > 0);
}

#[test]
fn operators_that_wait_for_cores_stay_in_order() {
    let needing = Foreign::new("ring", 1, |_| Ok(())).needs(Cores { cube: 20, vector: 0 }).simulated(|_, _| {});
    let plan = build(|g| {
        let all = (0..4).map(|_| g.empty([8], F32)).collect::<Result<Vec<_>>>()?;
        all.iter().try_for_each(|one| g.foreign(&needing, &[], &[*one]))?;
        let more = (0..4).map(|_| g.full([8], F32, 1.0)).collect::<Result<Vec<_>>>()?;
        more.into_iter().try_for_each(|one| g.tanh(one).map(drop))
    });
    let overlapped = overlap(&plan, &auto());
    let (new, order) = (&overlapped.plan.0.recipe, &overlapped.plan.0.order);
    assert!(overlapped.plan.streams() > 1);
    assert_eq!(crate::plan::check::core_demand(new, order, Cores { cube: 24, vector: 48 }), []);
}

fn behind() -> Foreign {
    Foreign::new("behind", 1, |_| Ok(())).simulated(|_, _| {})
}

/// Two branches of small operators with something between, in which order was asked for.
fn fenced(g: &Builder) -> Result<()> {
    let x = g.input("x", [8], F32, Input::Copied)?;
    let (a, b) = ((0..4).try_fold(x, |y, _| g.muls(y, 2.0))?, (0..4).try_fold(x, |y, _| g.muls(y, 3.0))?);
    let y = g.empty([8], F32)?;
    g.wait_all(&[a])?;
    let dead = g.tanh(x)?; // what comes right behind the wait, for nobody
    g.foreign(&behind(), &[x], &[y])?;
    let (c, d) = ((0..4).try_fold(y, |y, _| g.muls(y, 2.0))?, (0..4).try_fold(y, |y, _| g.muls(y, 3.0))?);
    let _ = dead;
    g.output("y", g.add(g.add(a, b)?, g.add(c, d)?)?)
}

fn assert_behind(plan: &Plan) {
    let (recipe, order) = (&plan.0.recipe, &plan.0.order);
    let behind = recipe.nodes.iter().position(|node| recipe.label(node).contains("behind")).unwrap() as u32;
    let works = (0..behind).filter(|node| !recipe.nodes[*node as usize].kind.is_sync());
    let (mut before, mut others) = (0, 0);
    works.for_each(|node| *if order.before(node, behind) { &mut before } else { &mut others } += 1);
    assert!(before >= 8 && others == 0 && plan.streams() > 1, "{:?}", nodes(plan));
}

#[test]
fn order_that_was_asked_for_holds_through_passes_and_calls() {
    let plan = build(fenced);
    let (all, one) = (auto(), |plan: &Plan| overlap(plan, &auto()).plan);
    assert_behind(&one(&plan));
    assert_behind(&one(&plan.optimise(&Passes::new().dead_values(PassMode::On)).unwrap().plan));
    let caller = build(|g| {
        let x = g.input("x", [8], F32, Input::Copied)?;
        let [y] = g.call(&plan, &[x])?;
        g.output("y", g.tanh(y)?)
    });
    assert_behind(&overlap(&caller, &all).plan);
}

#[cfg(feature = "cache")]
#[test]
fn order_that_was_asked_for_is_stored() {
    let registry = crate::plan::Registry::new().foreign(&behind());
    let code = crate::plan::Code::Registered(&registry);
    let (again, _) = Plan::from_bytes(&build(fenced).to_bytes(), code).unwrap();
    assert_behind(&overlap(&again, &auto()).plan);
}

#[test]
fn host_functions_come_after_all_before_them() {
    let plan = build(|g| {
        let x = g.input("x", [8], F32, Input::Copied)?;
        let (a, b) = ((0..4).try_fold(x, |y, _| g.muls(y, 2.0))?, (0..4).try_fold(x, |y, _| g.muls(y, 3.0))?);
        g.host_function(&HostFunction::new("behind", 1, |_| {}))?;
        g.output("y", g.add(a, b)?)
    });
    let overlapped = overlap(&plan, &auto());
    assert_behind(&overlapped.plan);
    assert_eq!(count(&overlapped, Reason::Ordered), 1);
}

/// Three vector operators on `[tokens, width]`, a product with a weight, and again.
fn layers(g: &Builder, tokens: usize, weights: &[(&str, Input, usize)]) -> Result<Value> {
    let width = 2048;
    let mut x = g.input("x", [tokens, width], F16, Input::Copied)?;
    for (name, class, _) in weights {
        let w = g.input(name, [width, width], F16, *class)?;
        x = g.mm((0..3).try_fold(x, |x, _| g.tanh(x))?, w)?;
    }
    Ok(x)
}

fn two_layers(tokens: usize) -> Plan {
    build(|g| {
        let y = layers(g, tokens, &[("a", Input::Frozen, 0), ("b", Input::Static, 0)])?;
        g.output("y", y)
    })
}

#[test]
fn weights_come_while_other_work_runs() {
    let plan = two_layers(1);
    let Overlapped { plan: new, report } = overlap(&plan, &auto());
    let bytes = 8 << 20;
    let [a, b] = &report.prefetched[..] else { panic!("{report}") };
    assert_eq!((a.weight.as_deref(), b.weight.as_deref(), a.whole, b.whole), (Some("a"), Some("b"), bytes, bytes));
    assert_eq!((new.streams(), new.operators(), &*new.0.recipe.tags[1].name), (2, plan.operators() + 2, "prefetch"));
    // Three operators of 2 us before the first product, two events less: at most 5 us of nine tenths of 1 MB each.
    assert_eq!(a.behind, None);
    assert!((4 << 20..=4_500_000).contains(&a.bytes) && a.bytes <= a.idle, "{a}");
    // 8 MiB and 8 KiB through nine tenths of the bandwidth.
    assert_eq!(a.times.0, Duration::from_nanos(((8_u64 << 20) + (8 << 10)).div_ceil(900)));
    assert!(
        b.behind.as_ref().is_some_and(|behind| behind.operator == "aclnnMm" || behind.operator == "aclnnTanh"),
        "{b}"
    );
    assert!(report.after < report.before, "{report}");
    assert!(report.to_string().contains("prefetched  \"a\" for aclnnMm (#"), "{report}");
}

#[test]
fn many_tokens_leave_nothing_to_fetch() {
    let rates = Rates { product: 1_000_000, ..Rates::default() };
    let auto = Auto::new(target().rates(rates).unwrap()).streams(false);
    let plan = build(|g| {
        let tokens = g.symbol("tokens", 1..=512)?;
        let x = g.input("x", [tokens, 2048.into()], F16, Input::Copied)?;
        let w = g.input("w", [2048, 2048], F16, Input::Frozen)?;
        g.output("y", g.mm((0..3).try_fold(x, |x, _| g.tanh(x))?, w)?)
    });
    let many = overlap(&plan, &auto);
    assert_eq!((many.report.prefetched.len(), count(&many, Reason::ComputeBound)), (0, 1), "{}", many.report);
    let few = overlap(&plan, &auto.at("tokens", 1));
    assert_eq!(few.report.prefetched.len(), 1);
    assert!(few.plan.is_dynamic());
}

#[test]
fn what_is_no_reason_to_fetch_is_told() {
    let reasons = |work: &dyn Fn(&Builder) -> Result<()>| {
        let overlapped = overlap(&build(work), &auto().streams(false));
        (overlapped.report.prefetched.len(), overlapped.report.left)
    };
    let weight = |g: &Builder, class| g.input("w", [2048, 2048], F16, class);
    let activation = |g: &Builder| {
        let x = g.input("x", [1, 2048], F16, Input::Copied)?;
        (0..3).try_fold(x, |x, _| g.tanh(x))
    };
    let class = |class| {
        move |g: &Builder| -> Result<()> {
            let y = g.mm(activation(g)?, weight(g, class)?)?;
            g.output("y", y)
        }
    };
    assert_eq!(reasons(&class(Input::Updatable)), (0, vec![(Reason::Bound, 1)]));
    assert_eq!(reasons(&class(Input::Copied)), (0, vec![]));
    let first = |g: &Builder| -> Result<()> {
        let x = g.input("x", [1, 2048], F16, Input::Copied)?;
        g.output("y", g.mm(x, weight(g, Input::Frozen)?)?)
    };
    assert_eq!(reasons(&first), (0, vec![(Reason::FirstWork, 1)]));
    let written = |g: &Builder| -> Result<()> {
        let (x, w) = (activation(g)?, weight(g, Input::Static)?);
        let y = g.mm(x, w)?;
        g.fill_bytes(w, 0)?;
        g.output("y", y)
    };
    assert_eq!(reasons(&written), (0, vec![(Reason::Written, 1)]));
    let gaps = |g: &Builder| -> Result<()> {
        let w = g.narrow(weight(g, Input::Frozen)?, 1, 0..512)?;
        g.output("y", g.mm(activation(g)?, w)?)
    };
    assert_eq!(reasons(&gaps), (0, vec![(Reason::Gaps, 1)]));
    let again = |g: &Builder| -> Result<()> {
        let w = weight(g, Input::Frozen)?;
        let y = g.mm(activation(g)?, w)?;
        g.output("y", g.mm((0..3).try_fold(y, |y, _| g.tanh(y))?, w)?)
    };
    assert_eq!(reasons(&again), (1, vec![(Reason::InCache, 1)]));
    let rows = |g: &Builder| -> Result<()> {
        let x = activation(g)?;
        let rows = g.input("rows", [1], I64, Input::Copied)?;
        g.output("y", g.add(g.embedding(weight(g, Input::Frozen)?, rows)?, x)?)
    };
    assert_eq!(reasons(&rows), (0, vec![(Reason::InPart, 1)]));
    let copied = |g: &Builder| -> Result<()> {
        let (x, y) = (activation(g)?, g.empty([2048, 2048], F16)?);
        g.copy(weight(g, Input::Frozen)?, y)?;
        g.output("x", x)?;
        g.output("y", y)
    };
    assert_eq!(reasons(&copied), (0, vec![(Reason::NoOperator, 1)]));
    let behind = |g: &Builder| -> Result<()> {
        let x = activation(g)?;
        g.host_function(&HostFunction::new("all", 1, |_| {}))?;
        g.output("y", g.mm(x, weight(g, Input::Frozen)?)?)
    };
    assert_eq!(reasons(&behind), (0, vec![(Reason::BehindAll, 1)]));
    let small = |g: &Builder| -> Result<()> {
        let w = g.input("w", [2048, 8], F16, Input::Frozen)?;
        g.output("y", g.mm(activation(g)?, w)?)
    };
    assert_eq!(reasons(&small), (0, vec![(Reason::Small, 1)]));
}

/// What is no product is prefetched for as well, and of each weight that is not the report says why.
#[test]
fn weights_of_any_operator_that_reads_them_whole_are_prefetched() {
    let plan = build(|g| {
        let x = g.input("x", [1, 2048], F16, Input::Copied)?;
        let input = |name: &str, rows: usize| g.input(name, [rows, 2048], F16, Input::Frozen);
        let x = (0..3).try_fold(x, |x, _| g.tanh(x))?;
        let moved = g.add(x, g.amax(input("levels", 1024)?, &[0], true)?)?;
        let row = g.embedding(input("table", 4096)?, g.input("rows", [1], I64, Input::Copied)?)?;
        g.output("y", g.mul(g.add(moved, row)?, input("gain", 1)?)?)
    });
    let Overlapped { plan: new, report } = overlap(&plan, &auto().streams(false));
    let [levels] = &report.prefetched[..] else { panic!("{report}") };
    // 4 MiB take 4.7 us; behind the start there are 5 us of nine tenths of 1 MB each for them.
    assert_eq!((levels.weight.as_deref(), &*levels.reader.operator), (Some("levels"), "aclnnAmax"));
    assert_eq!((levels.bytes, levels.whole), (4 << 20, 4 << 20));
    let left = |index: usize| (report.unfetched[index].weight.as_deref(), report.unfetched[index].reason);
    assert_eq!(report.unfetched.len(), 2);
    assert_eq!((left(0), left(1)), ((Some("table"), Reason::InPart), (Some("gain"), Reason::Small)));
    let reader = &new.0.recipe.nodes[report.unfetched[0].reader.position as usize];
    assert_eq!((new.0.recipe.label(reader), report.unfetched[0].whole), ("aclnnEmbedding".to_owned(), 16 << 20));
    assert!(report.unfetched[1].to_string().starts_with("not fetched \"gain\" for aclnnMul (#"), "{report}");
}

/// Where nothing is gained, what could be prefetched is listed with the rest, in the order of the readers.
#[test]
fn weights_that_gain_nothing_are_listed_in_their_order() {
    let slow = Rates { event: 1_000_000, ..Rates::default() };
    let found = overlap(&two_layers(1), &Auto::new(target().rates(slow).unwrap()));
    let left: Vec<_> = found.report.unfetched.iter().map(|one| one.weight.as_deref()).collect();
    assert_eq!((found.report.prefetched.len(), left), (0, vec![Some("a"), Some("b")]), "{}", found.report);
    assert!(found.report.unfetched[0].reader.position < found.report.unfetched[1].reader.position);
}

#[test]
fn a_small_cache_takes_the_first_bytes_or_none() {
    let with = |l2: u64| {
        let target = Target::new(l2, 24, 48).unwrap();
        overlap(&two_layers(1), &Auto::new(target).streams(false))
    };
    let some = with(4 << 20);
    assert_eq!(some.report.l2_budget, 2 << 20);
    assert!(!some.report.prefetched.is_empty());
    assert!(some.report.prefetched.iter().all(|one| one.bytes < one.whole && one.bytes <= 2 << 20));
    let none = with(64 << 10);
    assert_eq!((none.report.prefetched.len(), count(&none, Reason::NoRoom)), (0, 2), "{}", none.report);
}

#[test]
fn plans_with_streams_or_prefetches_of_their_own_stay_as_they_are() {
    let side = build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let side = g.scope("mine", |g| g.muls(x, 2.0))?;
        g.join("mine")?;
        g.output("y", g.add(g.tanh(x)?, side)?)
    });
    let fetched = Plan::build_with(Options::new().collapse_streams(), |g| {
        let w = g.input("w", [4], F32, Input::Frozen)?;
        g.prefetch(w, crate::Prefetch::all(), crate::plan::After::Start)?;
        g.output("y", g.tanh(w)?)
    });
    for (plan, reason) in [(side, Reason::OwnStreams), (fetched.unwrap(), Reason::OwnPrefetches)] {
        let overlapped = overlap(&plan, &auto());
        assert_eq!(overlapped.plan.0.recipe, plan.0.recipe);
        assert_eq!(overlapped.report.left, [(reason, 1)]);
    }
    let once = overlap(&chains(5, 64), &auto()).plan;
    assert_eq!(overlap(&once, &auto()).report.left, [(Reason::OwnStreams, 1)]);
}

#[test]
fn lints_name_work_where_it_is_now() {
    let plan = build(|g| {
        let x = g.input("x", [64], F32, Input::Copied)?;
        let chain = |by: f32| (0..5).try_fold(x, |y, _| g.muls(y, by));
        let (a, b) = (chain(2.0)?, chain(3.0)?);
        g.host_function(&HostFunction::unnamed(|_| {}))?;
        g.output("y", g.add(a, b)?)
    });
    let new = overlap(&plan, &auto()).plan;
    let [lint] = new.lints() else { panic!("{:?}", new.lints()) };
    let [at] = lint.positions[..] else { panic!("{lint}") };
    assert!(matches!(new.0.recipe.nodes[at as usize].kind, NodeKind::Host(_)));
    assert!(lint.message.contains(&format!("#{at},")) || !lint.message.contains('#'), "{lint}");
}

/// Numbers that no device has keep the model going, and the result right.
#[test]
fn absurd_devices_are_taken() {
    let plan = build(|g| {
        let n = g.symbol("n", 1..=i32::MAX as usize)?;
        let x = g.input("x", [n, 1024.into()], F32, Input::Copied)?;
        let w = g.input("w", [1024, 1024], F32, Input::Frozen)?;
        let (mut a, mut b) = (x, g.abs(x)?);
        for _ in 0..12 {
            (a, b) = (g.matmul(a, w)?, g.matmul(b, w)?);
        }
        let out = g.empty([8], F32)?;
        (0..2).try_for_each(|_| g.foreign(&behind(), &[a], &[out]))?;
        g.output("y", g.add(a, b)?)
    });
    let second = Rates { start: 1_000_000_000, event: 1_000_000_000, ..Rates::default() };
    let slow = Rates { memory: 1, core: 1, host: 1, product: 1, ..second };
    let fast = Rates { memory: u64::MAX, core: u64::MAX, host: u64::MAX, product: u64::MAX, ..second };
    for (l2, cores) in [(1, 1), (u64::MAX, u32::MAX), (1 << 20, 1 << 31)] {
        for rates in [slow, fast, Rates { memory: u64::MAX, ..slow }, Rates { product: 1, ..fast }] {
            let target = Target::new(l2, cores, cores).unwrap().rates(rates).unwrap();
            for n in [1, 1 << 20] {
                let found = overlap(&plan, &Auto::new(target).at("n", n)).report;
                assert!(found.after <= found.before, "{found}");
            }
        }
    }
}

#[test]
fn bad_input_is_told() {
    let text = |error: crate::Error| {
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        error.to_string()
    };
    assert!(text(Target::new(0, 24, 48).unwrap_err()).contains("L2 cache of 0 bytes"));
    assert!(text(Target::new(1, 0, 48).unwrap_err()).contains("0 matrix cores"));
    assert!(text(Target::new(1, 24, 0).unwrap_err()).contains("0 vector cores"));
    let rates = Rates { event: 0, ..Rates::default() };
    assert!(text(target().rates(rates).unwrap_err()).contains("\"event\" is 0"));
    let rates = Rates { start: u64::MAX / 4, ..Rates::default() };
    assert!(text(target().rates(rates).unwrap_err()).contains("more than a second"));
    let empty = build(|_| Ok(()));
    let refused = |auto: &Auto| text(empty.overlap(auto).unwrap_err());
    assert!(refused(&auto().max_streams(0)).contains("at most 0 streams"));
    assert!(refused(&auto().max_streams(1025)).contains("1 to 1024"));
    for share in [0.0, -1.0, 1.1, f64::NAN] {
        assert!(refused(&auto().l2_share(share)).contains(&format!("a share of {share} of")));
    }
    empty.overlap(&auto().max_streams(0).l2_share(2.0).max_streams(1024).l2_share(1.0)).unwrap();
    let plan = build(|g| {
        let n = g.symbol("n", 2..=8)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        g.output("y", g.tanh(x)?)
    });
    assert!(text(plan.overlap(&auto().at("m", 1)).unwrap_err()).contains("no symbol \"m\"; it has [\"n\"]"));
    assert!(text(plan.overlap(&auto().at("n", 9)).unwrap_err()).contains("bounds are 2 to 8"));
    assert!(plan.overlap(&auto().at("n", 9).at("n", 8)).is_ok());
    // A shape that only some of the sizes have.
    let cut = build(|g| {
        let n = g.symbol("n", 2..=8)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        g.output("y", g.pad(x, &[-5, 0], 0.0_f32)?)
    });
    assert!(text(cut.overlap(&auto().at("n", 2)).unwrap_err()).contains("Auto::at gives other values"));
    assert!(cut.overlap(&auto().at("n", 8)).is_ok());
}

/// Two branches of four operators, as a plan that others call.
fn branches() -> Plan {
    build(|g| {
        let x = g.input("x", [8], F32, Input::Copied)?;
        let branch = |factor| (0..4).try_fold(x, |y, _| g.muls(y, factor));
        g.output("y", g.add(branch(0.5)?, branch(2.0)?)?)
    })
}

fn caller(called: &Plan, own: bool) -> Plan {
    build(|g| {
        let x = g.input("x", [8], F32, Input::Copied)?;
        let x = if own { g.scope("own", |g| g.abs(x))? } else { x };
        if own {
            g.join("own")?;
        }
        let [y] = g.call(called, &[x])?;
        let [y] = g.call_times(3, called, [y], &[])?;
        g.output("y", g.call(called, &[y]).map(|[y]: [Value; 1]| y)?)
    })
}

/// How many calls it has, and of how many plans.
fn calls(plan: &Plan) -> (usize, usize) {
    let recipe = &plan.0.recorded.recipe;
    let calls = recipe.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Call(_)));
    (calls.count(), recipe.called.len())
}

#[test]
fn a_plan_that_is_called_overlaps_once_where_calls_are_kept() {
    let (body, keeping) = (branches(), auto().keep_calls(true));
    let alone = overlap(&body, &auto()).report;
    let plan = caller(&body, false);
    let kept = overlap(&plan, &keeping);
    assert_eq!((calls(&kept.plan), calls(&overlap(&plan, &auto()).plan).0), ((3, 1), 0));
    assert_eq!((kept.report.moved.len(), alone.moved.len()), (4, 4));
    assert_eq!(kept.report.before - kept.report.after, 5 * (alone.before - alone.after));
    assert_eq!(kept.plan.operators(), plan.operators());
    // One around it is like the one that it calls.
    let outer = build(|g| {
        let x = g.input("x", [8], F32, Input::Copied)?;
        g.output("y", g.call(&plan, &[x]).map(|[y]: [Value; 1]| y)?)
    });
    let nested = overlap(&outer, &keeping).report;
    assert_eq!(nested.before - nested.after, kept.report.before - kept.report.after);
    // Streams of its own stay alone.
    let own = overlap(&caller(&body, true), &keeping);
    assert_eq!((count(&own, Reason::OwnStreams), own.report.moved.len(), calls(&own.plan)), (1, 0, (3, 1)));
}

#[test]
fn a_plan_that_is_chosen_too_stays_as_it_is_where_calls_are_kept() {
    let body = branches();
    let plan = build(|g| {
        let x = g.input("x", [8], F32, Input::Copied)?;
        let [y] = g.if_else(g.input("c", [1], I64, Input::Copied)?, &body, &body, &[x])?;
        g.output("y", g.call(&body, &[y]).map(|[y]: [Value; 1]| y)?)
    });
    let kept = overlap(&plan, &auto().keep_calls(true));
    assert_eq!((kept.report.moved.len(), kept.report.before), (0, kept.report.after));
    assert_eq!(kept.plan.to_text(), plan.to_text());
}
