//! What each pass changes, and what it leaves alone. Numbers before and after are compared by simulation.

use crate::error::Result;
use crate::op::{
    DataType::{Bf16, F16, F32},
    aclnn,
};
use crate::plan::passes::verify::Bound;
use crate::plan::symbols::dim::Dim;
use crate::plan::{Builder, Foreign, HostFunction, Input, Optimised, PassMode, Passes, Plan, Value};
use crate::{ErrorKind, Prefetch};

mod called;
mod common_values;
mod dead_values;
mod direct_results;
mod folded_constants;
mod fused_attention;
mod fused_elements;
mod fused_gates;
mod fused_layer_norms;
mod fused_norms;
mod fused_products;
mod fused_rotations;
mod needless_copies;
mod needless_moves;
mod needless_transposes;
mod operators_by_c_name;
mod relaid_weights;
mod verified;

const OFF: Passes = Passes::new();

fn dead() -> Passes {
    OFF.dead_values(PassMode::Verified)
}

fn common() -> Passes {
    OFF.common_values(PassMode::Verified)
}

fn fold() -> Passes {
    OFF.folded_constants(PassMode::Verified)
}

fn copies() -> Passes {
    OFF.needless_copies(PassMode::Verified)
}

#[track_caller]
fn optimised(passes: Passes, work: impl FnOnce(&Builder) -> Result<()>) -> Optimised {
    Plan::build(work).unwrap().optimise(&passes).unwrap()
}

/// The names of the operators that are gone, sorted.
#[track_caller]
fn gone(passes: Passes, work: impl FnOnce(&Builder) -> Result<()>) -> Vec<String> {
    let better = optimised(passes, work);
    assert_eq!(better.before, better.plan.operators() + better.changes.len());
    let mut names: Vec<String> = better.changes.iter().map(|change| change.work.operator.clone()).collect();
    names.sort();
    names
}

#[track_caller]
fn unchanged(passes: Passes, work: impl FnOnce(&Builder) -> Result<()>) {
    assert_eq!(gone(passes, work), Vec::<String>::new());
}

fn x(g: &Builder) -> Result<Value> {
    g.input("x", [4], F32, Input::Copied)
}

/// A foreign operator that writes the double of what it reads.
fn double() -> Foreign {
    Foreign::new("double", 1, |_| Ok(())).simulated(|reads, writes| {
        for (to, from) in writes[0].chunks_mut(4).zip(reads[0].chunks(4)) {
            to.copy_from_slice(&(2.0 * f32::from_ne_bytes(from.try_into().unwrap())).to_ne_bytes());
        }
    })
}

#[test]
fn passes_that_are_off_change_nothing() {
    let better = optimised(OFF, |g| {
        let x = x(g)?;
        g.abs(x)?;
        g.output("y", g.abs(x)?)
    });
    assert!(better.changes.is_empty() && better.plan.changes().is_empty());
    assert_eq!((better.before, better.plan.operators()), (2, 2));
}

#[test]
fn the_text_says_what_is_gone_and_with_lines_where_it_was() {
    let better = optimised(common(), |g| {
        let x = x(g)?;
        let (a, b) = (g.abs(x)?, g.scope_with("side", crate::plan::Scope::new(), |g| g.abs(x))?);
        g.join("side")?;
        let c = g.abs(x)?;
        g.output("y", g.add(g.add(a, b)?, c)?)
    });
    let line = "common_values: \"aclnnAbs\" of stream \"origin\" is gone, its result is that of \"aclnnAbs\" of stream \"origin\"";
    let text = better.plan.to_text();
    assert!(text.lines().any(|one| one == line), "{text}");
    let text = better.plan.to_text_with_lines();
    let found = text.lines().find(|one| one.starts_with(line)).unwrap();
    assert_eq!(found.matches("tests.rs:").count(), 2, "{found}");
    assert_eq!(better.changes, better.plan.changes());
    assert!(better.to_string().starts_with("3 operators, before 5\ncommon_values: aclnnAbs (#"), "{better}");
}

#[test]
fn a_plan_that_cannot_be_simulated_cannot_be_verified() {
    let plan = Plan::build(|g| {
        let (x, y) = (x(g)?, g.empty([4], F32)?);
        g.foreign(&Foreign::new("blind", 1, |_| Ok(())), &[x], &[y])?;
        g.abs(x)?;
        g.output("y", y)
    })
    .unwrap();
    let error = plan.optimise(&dead()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotSupported);
    assert!(error.to_string().contains("dead_values: cannot be verified"), "{error}");
    assert_eq!(plan.optimise(&OFF.dead_values(PassMode::On)).unwrap().plan.operators(), 1);
}

#[test]
fn the_first_number_that_differs_is_told() {
    let plan = |times: f32| {
        Plan::build(|g| {
            let n = g.symbol("n", 2..=6)?;
            let x = g.input("x", [n], F32, Input::Copied)?;
            g.output("same", g.abs(x)?)?;
            g.output("y", g.muls(x, times)?)
        })
        .unwrap()
    };
    let error = super::verify::verify("made_up", Bound::Equal, &plan(1.0), &plan(2.0)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidPlan);
    assert!(
        error.to_string().contains("made_up: output \"y\" differs at element 0 (inputs of seed 0, n = 2)"),
        "{error}"
    );
    super::verify::verify("made_up", Bound::Equal, &plan(1.0), &plan(1.0)).unwrap();
}

/// What comes behind the rows that came is nobody's; the rows and their number are compared.
#[test]
fn of_what_the_device_found_as_much_is_compared_as_came() {
    use crate::op::DataType::I64;
    let plan = |rest: i64, shift: i64, name: &'static str| {
        Plan::build(|g| {
            let n = g.symbol("n", 2..=6)?;
            let x = g.input("x", [n, 2.into()], F32, Input::Copied)?;
            let found = g.nonzero(g.greater_than(x, 0.0_f32)?)?;
            let (places, came) = (found.values(), g.found_mask(found)?);
            let behind = g.muls(g.cast(g.logical_not(came)?, I64)?, rest)?;
            aclnn::inplace_add(g, &mut { places }, &behind, 1_i64)?;
            aclnn::inplace_adds(g, &mut { places }, shift, 1_i64)?;
            if name.is_empty() {
                return g.output_found("y", found);
            }
            g.output("y", places)?;
            g.output_to_host(name, found.count())
        })
        .unwrap()
    };
    let verify = |a: &Plan, b: &Plan| super::verify::verify("made_up", Bound::Equal, a, b);
    verify(&plan(0, 0, ""), &plan(7, 0, "")).unwrap();
    let error = verify(&plan(0, 0, ""), &plan(0, 1, "")).unwrap_err();
    assert!(error.to_string().contains("made_up: output \"y\" differs at element 0"), "{error}");
    // An output without a number is compared whole, whatever the others are called.
    for name in ["count", "y.count"] {
        verify(&plan(0, 0, name), &plan(7, 0, name)).unwrap_err();
    }
}

#[test]
fn numbers_that_are_close_are_told_from_those_that_are_not() {
    let plan = |dtype, times: f32, shift: f32| {
        Plan::build(|g| {
            let x = g.input("x", [8], F32, Input::Copied)?;
            // One number is infinite, and one is none.
            let edges = g.constant(&[0.0, f32::INFINITY, f32::NAN, 0.0, 0.0, 0.0, 0.0, shift], [8])?;
            g.output("y", g.cast(g.add(g.muls(x, times)?, edges)?, dtype)?)
        })
        .unwrap()
    };
    let differ = |dtype, times: f32, shift: f32| {
        let (before, after) = (plan(dtype, 1.0, 0.0), plan(dtype, times, shift));
        let error = super::verify::verify("made_up", Bound::Close, &before, &after).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidPlan, "{error}");
        error.to_string()
    };
    let same = |dtype, times: f32| {
        super::verify::verify("made_up", Bound::Close, &plan(dtype, 1.0, 0.0), &plan(dtype, times, 0.0)).unwrap();
    };
    same(F32, 1.00005);
    same(F16, 1.005);
    same(Bf16, 1.02);
    // What was rounded to f16 on the way is no finer as f32.
    let through = |times: f32| {
        Plan::build(|g| {
            let x = g.input("x", [8], F32, Input::Copied)?;
            g.output("y", g.cast(g.cast(g.muls(x, times)?, F16)?, F32)?)
        })
        .unwrap()
    };
    super::verify::verify("made_up", Bound::Close, &through(1.0), &through(1.005)).unwrap();
    super::verify::verify("made_up", Bound::Close, &through(1.0), &through(1.1)).unwrap_err();
    assert!(differ(F32, 1.001, 0.0).contains("made_up: output \"y\" differs at element"));
    differ(F16, 1.1, 0.0);
    differ(Bf16, 1.2, 0.0);
    assert!(differ(F32, 1.0, f32::INFINITY).contains("at element 7"));
    assert!(differ(F32, 1.0, f32::NAN).contains("at element 7"));
    assert!(differ(F32, -1.0, 0.0).contains("at element"));
    // Integers and truth values are the same or not.
    let whole = |times: f32| {
        Plan::build(|g| {
            let x = g.input("x", [8], F32, Input::Copied)?;
            g.output("y", g.cast(g.muls(x, times)?, crate::op::DataType::I32)?)
        })
        .unwrap()
    };
    super::verify::verify("made_up", Bound::Close, &whole(1000.0), &whole(1001.0)).unwrap_err();
}

#[test]
fn lints_follow_their_work() {
    let better = optimised(dead(), |g| {
        let x = g.input("x", [4], F32, Input::Frozen)?;
        g.abs(x)?;
        aclnn::tanh(g, &x, &mut { x })?;
        g.output("y", g.sqrt(x)?)
    });
    let [lint] = better.plan.lints() else { panic!("{:?}", better.plan.lints()) };
    assert_eq!(lint.positions, [0]);
    assert!(lint.message.starts_with("aclnnTanh (#0, "), "{}", lint.message);
}

#[cfg(feature = "cache")]
#[test]
fn the_new_plan_can_be_stored() {
    use crate::plan::{Code, Registry};

    let better = optimised(Passes::all(PassMode::Verified), |g| {
        let n = g.symbol("n", 1..=8)?;
        let x = g.input("x", [n, Dim::from(2)], F32, Input::Copied)?;
        let (late, half) = (g.constant(&[4.0_f32, 9.0], [2])?, g.constant(&[0.5_f32], [1])?);
        let early = g.sqrt(half)?;
        let side = g.scope("side", |g| g.mul(g.abs(x)?, early))?;
        let unread = g.constant(&[1.0_f32], [1])?;
        g.add(x, unread)?;
        g.join("side")?;
        g.output("y", g.add(g.add(side, g.abs(x)?)?, late)?)
    });
    assert_eq!((better.before, better.plan.operators()), (7, 4));
    let registry = Registry::new();
    let (stored, _) = Plan::from_bytes(&better.plan.to_bytes(), Code::Registered(&registry)).unwrap();
    assert_eq!(better.plan.difference(&stored), None);
    assert_eq!(stored.changes(), []);
    let constants: Vec<usize> = stored.0.recipe.constants.iter().map(Vec::len).collect();
    assert_eq!(constants, [8, 4], "in the order of their values, without the one that nobody reads");
    let dump = stored.to_text();
    assert_eq!(dump.lines().filter(|line| line.starts_with("constant ")).count(), 2, "{dump}");
}
