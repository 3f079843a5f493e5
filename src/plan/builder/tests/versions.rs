//! Versions of values: what waits for what, through views and writes too.

use crate::error::Result;
use crate::op::{DataType::F32, aclnn};
use crate::plan::recipe::{NodeKind, ORIGIN};
use crate::plan::{Builder, FindingKind, Input, Plan, Value};

/// An input, and what two streams make of it.
fn two_sides(g: &Builder) -> Result<[Value; 3]> {
    let x = g.input("x", [4], F32, Input::Static)?;
    Ok([x, g.scope("1", |g| g.muls(x, 2.0))?, g.scope("2", |g| g.muls(x, 3.0))?])
}

/// Waits of the origin before its `adds`.
fn waits(plan: &Plan) -> usize {
    let recipe = &plan.0.recipe;
    let origin = recipe.nodes.iter().filter(|node| node.tag == ORIGIN);
    let before = origin.take_while(|node| recipe.label(node) != "aclnnAdds");
    before.filter(|node| matches!(node.kind, NodeKind::Wait(_))).count()
}

#[test]
fn versions_are_no_values_of_the_recipe() {
    let plan = Plan::build(|g| {
        let [x, one, two] = two_sides(g)?;
        let mut later = x;
        for value in [one, two, one, two] {
            later = g.wait_value(later, value)?;
        }
        assert_ne!(later, x);
        let y = g.adds(later, 1.0)?;
        g.output("y", y)
    })
    .unwrap();
    assert_eq!((plan.0.recipe.values.len(), waits(&plan)), (4, 2));
}

fn half(g: &Builder, value: Value) -> Result<Value> {
    g.narrow(value, 0, 0..2)
}

/// Waits before work that is given what `choose` makes of the input and the two sides.
fn waits_of(choose: fn(&Builder, [Value; 3]) -> Result<Value>) -> usize {
    let plan = Plan::build(|g| {
        let values = two_sides(g)?;
        let given = choose(g, values)?;
        let y = g.adds(given, 1.0)?;
        g.output("y", y)
    });
    waits(&plan.unwrap())
}

#[test]
fn views_wait_for_what_their_version_waits_for() {
    assert_eq!(waits_of(|g, [x, ..]| half(g, x)), 0);
    let earlier = |g: &Builder, [x, one, two]: [Value; 3]| {
        let earlier = g.wait_value(x, one)?;
        let view = half(g, earlier)?;
        g.wait_value(earlier, two)?;
        Ok(view)
    };
    assert_eq!(waits_of(earlier), 1);
    let later = |g: &Builder, [x, one, two]: [Value; 3]| {
        let earlier = g.wait_value(x, one)?;
        let later = g.wait_value(earlier, two)?;
        half(g, later)
    };
    assert_eq!(waits_of(later), 2);
    // A dependency brings what its own version waits for.
    let chained = |g: &Builder, [x, one, two]: [Value; 3]| {
        let both = g.wait_value(one, two)?;
        let both = half(g, both)?;
        g.wait_value(x, both)
    };
    assert_eq!(waits_of(chained), 2);
}

#[test]
fn views_that_are_made_between_two_versions_use_the_earlier_one() {
    let lints = |between: bool| {
        let plan = Plan::build(|g| {
            let [x, one, _] = two_sides(g)?;
            let before = half(g, x)?;
            let later = g.wait_value(x, one)?;
            let after = half(g, x)?;
            g.abs(if between { after } else { before })?;
            let y = g.adds(later, 1.0)?;
            g.output("y", y)
        });
        plan.unwrap().lints().iter().filter(|lint| lint.kind == FindingKind::BothVersions).count()
    };
    assert_eq!((lints(false), lints(true)), (0, 1));
}

#[test]
fn a_write_to_a_version_is_one_to_the_value() {
    let write = |waits: bool| {
        Plan::build(|g| {
            let [x, one, two] = two_sides(g)?;
            let later = g.wait_value(x, one)?;
            let later = g.wait_value(later, two)?;
            g.scope("3", |g| aclnn::adds(g, &later, 1.0_f32, 1, &mut { later }))?;
            if waits {
                g.wait_all(&[x])?;
            }
            let y = g.adds(x, 1.0)?;
            g.output("y", y)
        })
    };
    assert!(write(true).is_ok(), "{:?}", write(true));
    let findings = write(false).unwrap_err().findings().to_vec();
    assert!(findings.iter().all(|found| found.kind == FindingKind::UnorderedAccess), "{findings:?}");
}
