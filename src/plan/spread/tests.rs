//! Where work goes, and what it waits for.

use crate::error::Result;
use crate::op::DataType::{F32, U8};
use crate::op::aclnn;
use crate::plan::recipe::{Cores, NodeKind, Recipe};
use crate::plan::{Builder, Foreign, Frozen, HostFunction, Input, Options, Plan, Simulated, Value};

fn spread(streams: usize, work: impl FnOnce(&Builder) -> Result<()>) -> Plan {
    Plan::build_with(Options::new().auto_streams(streams), work).unwrap()
}

/// Every node as its name, or `r` and `w` with the number of the event, and its stream.
fn nodes(plan: &Plan) -> String {
    let recipe = &plan.0.recipe;
    let show = |node: &crate::plan::recipe::Node| match node.kind {
        NodeKind::Record(event) => format!("r{event}@{}", node.tag),
        NodeKind::Wait(event) => format!("w{event}@{}", node.tag),
        NodeKind::Foreign(function) | NodeKind::Host(function) => {
            format!("{}@{}", recipe.functions[function as usize].name().unwrap_or("?"), node.tag)
        }
        _ => format!("{}@{}", recipe.label(node).replace(' ', "_"), node.tag),
    };
    recipe.nodes.iter().map(show).collect::<Vec<_>>().join(" ")
}

/// An operator that does nothing.
fn f(name: &str) -> Foreign {
    Foreign::new(name, 1, |_| Ok(())).simulated(|_, _| {})
}

#[test]
fn a_chain_stays_on_one_stream() {
    let plan = spread(4, |g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let y = (0..10).try_fold(x, |y, _| g.muls(y, 2.0))?;
        g.output("y", y)
    });
    assert_eq!((plan.streams(), plan.events(), plan.operators()), (1, 0, 10));
}

#[test]
fn a_diamond_takes_two_streams_and_one_event_each_way() {
    let plan = spread(4, |g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let top = g.muls(x, 2.0)?;
        let (left, right) = (g.adds(top, 1.0)?, g.tanh(top)?);
        let sum = g.add(left, right)?;
        g.output("sum", sum)
    });
    // The sum goes on where the later of its operands was made.
    assert_eq!(nodes(&plan), "aclnnMuls@0 r0@0 aclnnAdds@0 r1@0 w0@1 aclnnTanh@1 w1@1 aclnnAdd@1 r2@1 w2@0");
    assert_eq!(plan.0.recipe.tags[1].name, "auto 1");
}

#[test]
fn a_producer_is_recorded_once_and_waited_for_where_that_is_news() {
    let plan = spread(2, |g| {
        let x = g.input("x", [4], U8, Input::Copied)?;
        let values: Vec<_> = (0..6).map(|_| g.empty([4], U8)).collect::<Result<_>>()?;
        g.foreign(&f("p"), &[x], &[values[0]])?;
        g.foreign(&f("a"), &[values[0]], &[values[1]])?;
        g.foreign(&f("b"), &[values[0]], &[values[2]])?;
        g.foreign(&f("c"), &[values[0], values[2]], &[values[3]])?;
        g.foreign(&f("d"), &[values[0], values[1]], &[values[4]])?;
        g.foreign(&f("e"), &[values[0]], &[values[5]])
    });
    // `c` is behind `b` and `d` behind `a`; both know of `p`, and so does `e` anywhere.
    assert_eq!(nodes(&plan), "p@0 r0@0 a@0 w0@1 b@1 c@1 d@0 e@1 r1@1 w1@0");
}

#[test]
fn work_that_needs_nothing_starts_with_the_plan() {
    let plan = spread(2, |g| {
        let (a, b) = (g.empty([4], U8)?, g.empty([4], U8)?);
        g.foreign(&f("a"), &[], &[a])?;
        g.foreign(&f("b"), &[], &[b])
    });
    assert_eq!(nodes(&plan), "r1@0 a@0 w1@1 b@1 r0@1 w0@0");
}

#[test]
fn later_writes_wait_for_reads_and_writes_of_the_same_bytes_only() {
    let plan = spread(3, |g| {
        let x = g.input("x", [8], U8, Input::Static)?;
        let (low, high) = (g.bytes(x, 0..4)?, g.bytes(x, 4..8)?);
        let y = g.empty([4], U8)?;
        g.foreign(&f("read low"), &[low], &[y])?;
        g.foreign(&f("write high"), &[], &[high])?;
        g.foreign(&f("write low"), &[], &[low])?;
        g.foreign(&f("write all"), &[], &[x])
    });
    assert_eq!(nodes(&plan), "r1@0 read low@0 w1@1 write high@1 r0@1 write low@0 w0@0 write all@0");
}

#[test]
fn host_functions_and_gates_come_after_all_earlier_and_before_all_later_work() {
    let plan = spread(2, |g| {
        let (a, b) = (g.empty([4], U8)?, g.empty([4], U8)?);
        let gate = g.external("gate")?;
        g.foreign(&f("a"), &[], &[a])?;
        g.foreign(&f("b"), &[], &[b])?;
        g.host_function(&HostFunction::new("host", 1, |_| {}))?;
        g.foreign(&f("c"), &[], &[a])?;
        g.foreign(&f("d"), &[], &[b])?;
        g.record_external(gate)
    });
    let order = &plan.0.order;
    let named = |name: &str| {
        let recipe = &plan.0.recipe;
        let mut all = 0..recipe.nodes.len() as u32;
        all.find(|node| recipe.label(&recipe.nodes[*node as usize]).contains(&format!("{name:?}"))).unwrap()
    };
    for (before, after) in [("a", "host"), ("b", "host"), ("host", "c"), ("host", "d"), ("c", "gate"), ("d", "gate")]
    {
        assert!(order.before(named(before), named(after)), "{before} {after}: {}", nodes(&plan));
    }
    assert!(!order.ordered(named("c"), named("d")));
    assert_eq!((order.tag(named("host")), order.tag(named("gate"))), (0, 0));
}

#[test]
fn operators_that_work_with_other_devices_come_one_after_the_other() {
    let step = |g: &Builder, state: &mut Value| aclnn::distribute_barrier(g, state, "ranks", 2);
    let body = Plan::build(|g| step(g, &mut g.input("x", [4], F32, Input::Static)?)).unwrap();
    let plan = spread(2, |g| {
        let (mut x, mut y) = (g.input("x", [4], F32, Input::Static)?, g.input("y", [4], F32, Input::Static)?);
        step(g, &mut x)?;
        step(g, &mut y)?;
        g.call::<0>(&body, &[y])?;
        g.call::<0>(&body, &[x])?;
        let (a, b) = (g.empty([4], U8)?, g.empty([4], U8)?);
        g.foreign(&f("a"), &[], &[a])?;
        g.foreign(&f("b"), &[], &[b])
    });
    let recipe = &plan.0.recipe;
    assert_eq!(plan.streams(), 2);
    let all: Vec<u32> = (0..recipe.nodes.len() as u32).filter(|node| is_together(recipe, *node)).collect();
    assert_eq!(all.len(), 4, "{}", nodes(&plan));
    assert!(all.windows(2).all(|pair| plan.0.order.before(pair[0], pair[1])), "{}", nodes(&plan));
}

fn is_together(recipe: &Recipe, node: u32) -> bool {
    super::works_with_others(recipe, recipe.nodes[node as usize].kind)
}

#[test]
fn operators_that_wait_for_cores_never_wait_for_each_other() {
    let device = crate::Acl::mock().unwrap().device(0).unwrap();
    let vector = device.vector_cores().unwrap() as u32;
    let needs = |name: &str| f(name).needs(Cores { cube: 0, vector: vector / 2 + 1 });
    let work = |g: &Builder| {
        let (a, b, c) = (g.empty([4], U8)?, g.empty([4], U8)?, g.empty([4], U8)?);
        g.foreign(&needs("a"), &[], &[a])?;
        g.foreign(&needs("b"), &[], &[b])?;
        g.foreign(&f("c"), &[], &[c])?;
        g.foreign(&f("d"), &[c], &[a])
    };
    spread(2, work).capture(&device, Frozen::new()).unwrap();
}

#[test]
fn order_that_was_asked_for_stays() {
    let plan = spread(4, |g| {
        let x = g.input("x", [4], U8, Input::Copied)?;
        let values: Vec<_> = (0..4).map(|_| g.empty([4], U8)).collect::<Result<_>>()?;
        g.foreign(&f("a"), &[x], &[values[0]])?;
        g.foreign(&f("b"), &[x], &[values[1]])?;
        let later = g.wait_value(x, values[0])?;
        g.foreign(&f("c"), &[later], &[values[2]])?;
        g.wait_all(&[values[1]])?;
        g.foreign(&f("d"), &[x], &[values[3]])
    });
    let position = |name: &str| {
        let recipe = &plan.0.recipe;
        let at = recipe.nodes.iter().position(|node| recipe.label(node) == format!("foreign operator {name:?}"));
        at.unwrap() as u32
    };
    let order = &plan.0.order;
    assert!(order.before(position("a"), position("c")) && !order.ordered(position("b"), position("c")));
    assert!(order.before(position("b"), position("d")));
}

#[test]
fn plans_with_streams_of_their_own_stay_as_they_are() {
    let work = |g: &Builder| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let side = g.scope("mine", |g| g.muls(x, 2.0))?;
        let (main, other) = (g.adds(x, 1.0)?, g.tanh(x)?);
        g.join("mine")?;
        let sum = g.add(main, side)?;
        let sum = g.add(sum, other)?;
        g.output("sum", sum)
    };
    let (plain, asked) = (Plan::build(work).unwrap(), spread(8, work));
    assert_eq!(plain.0.recipe, asked.0.recipe);
    let collapsed = Options::new().auto_streams(8).collapse_streams();
    assert_eq!(Plan::build_with(collapsed, work).unwrap().streams(), 1);
}

#[test]
fn numbers_and_lints_are_those_of_one_stream() {
    let work = |g: &Builder| {
        let x = g.input("x", [1, 4], F32, Input::Host)?;
        let heads: Vec<_> = (0..4)
            .map(|head| {
                let w = g.constant(&[head as f32 * 0.5; 16], [4, 4])?;
                let h = g.matmul(x, w)?;
                g.tanh(h)
            })
            .collect::<Result<_>>()?;
        let sum = heads[1..].iter().try_fold(heads[0], |sum, head| g.add(sum, *head))?;
        g.host_function(&HostFunction::unnamed(|_| {}))?;
        g.output_to_host("sum", sum)
    };
    let (single, plan) = (Plan::build(work).unwrap(), spread(3, work));
    assert_eq!(plan.streams(), 3);
    let inputs = Simulated::new().tensor("x", &[0.1_f32, 0.2, -0.3, 0.4], [1, 4]);
    let expected = single.simulate(0, &inputs).unwrap();
    for seed in 0..20 {
        let run = plan.simulate(seed, &inputs).unwrap();
        assert_eq!(run.host_bytes("sum").unwrap(), expected.host_bytes("sum").unwrap());
    }
    let [lint] = plan.lints() else { panic!("{:?}", plan.lints()) };
    let [position] = lint.positions[..] else { panic!("{lint}") };
    assert!(matches!(plan.0.recipe.nodes[position as usize].kind, NodeKind::Host(_)));
}

#[test]
fn a_long_plan_takes_about_linear_time() {
    // Every layer reads one value and writes its own; all join in the end. Comparing all pairs would take minutes.
    let plan = spread(4, |g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let table = g.empty([20_000], U8)?;
        let top = g.muls(x, 2.0)?;
        for i in 0..20_000 {
            let piece = g.bytes(table, i..i + 1)?;
            g.foreign(&f("write"), &[top], &[piece])?;
        }
        g.output("table", table)
    });
    assert_eq!(plan.streams(), 4);
}

#[test]
fn recorded_memory_stays_reserved_to_the_end() {
    let plan = spread(2, |g| {
        let (a, b) = (g.empty([4], U8)?, g.empty([4], U8)?);
        g.foreign(&f("a"), &[], &[a])?;
        g.record_stream(a, "origin")?;
        g.foreign(&f("b"), &[], &[b])
    });
    let last = plan.0.recipe.nodes.len() as u32 - 1;
    assert_eq!((plan.streams(), &plan.0.recipe.reserved[..]), (2, &[(0, last)][..]));
}
