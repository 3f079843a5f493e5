//! What does not fit is refused with the line of the user's code, whichever operator it is.

use std::panic::Location;

use racl::op::DataType::{F32, I64};
use racl::op::{self, aclnn};
use racl::plan::{Builder, Dim, Frozen, Inferred, Input, Mode, Plan, RunOptions, Scope, Simulated, Value};
use racl::{Error, ErrorKind, Result};

use crate::Alone;
use crate::common::{assert_says, mock};

fn x(g: &Builder) -> Result<Value> {
    g.input("x", [4], F32, Input::Copied)
}

/// That this is what an error says, which names the line.
#[track_caller]
fn at(error: &Error, kind: ErrorKind, line: u32, says: &[&str]) {
    let line = format!("tests/plans/bad_input.rs:{line}");
    assert_says(error, kind, &[says, &[&line]].concat());
}

/// That a line of `work` is refused, so many lines behind the one where this call begins.
#[track_caller]
fn refused(behind: u32, says: &[&str], work: impl FnOnce(&Builder, Value) -> Result<()>) {
    let line = Location::caller().line() + behind;
    at(&Plan::build(|g| work(g, x(g)?)).unwrap_err(), ErrorKind::InvalidPlan, line, says);
}

#[test]
fn a_value_of_another_plan() {
    let mut other = None;
    Plan::build(|g| {
        other = Some(x(g)?);
        Ok(())
    })
    .unwrap();
    let other = other.unwrap();
    let says = &["a value of another plan"];
    refused(0, says, |g, x| g.add(x, other).map(drop));
    refused(0, says, |g, x| g.cat(&[x, other], 0).map(drop));
    refused(0, says, |g, _| g.sort(other, 0, false).map(drop));
    refused(0, says, |g, _| g.group_norm(other, 1, None, None, 1e-5).map(drop));
    refused(0, says, |g, _| g.nonzero(other).map(drop));
    refused(0, says, |g, _| g.reshape(other, [2, 2]).map(drop));
    refused(0, says, |g, _| g.output("y", other));
    refused(0, says, |g, x| aclnn::abs(g, &x, &mut { other }));
    refused(0, says, |g, x| aclnn::inplace_mul(g, &mut { other }, &x));
}

#[test]
fn a_text_that_c_cannot_read() {
    let says = &["equation is a text with a zero byte"];
    refused(0, says, |g, x| aclnn::einsum(g, &[&x], "i\0->i", &mut Inferred::new()));
}

#[test]
fn a_wrong_direction() {
    refused(2, &["abs into a constant"], |g, x| {
        let constant = g.constant(&[0.0_f32; 4], [4])?;
        aclnn::abs(g, &x, &mut { constant })
    });
    refused(1, &["an operand that is read, and that nothing has made yet"], |g, x| {
        aclnn::mul(g, &x, &Inferred::new(), &mut Inferred::new())
    });
    refused(0, &["memory that nothing has written"], |g, _| g.output("y", g.abs(g.empty([4], F32)?)?));
    // Of these the mock computes other numbers in place, or none.
    let says = &["an operand which it cannot compute in place"];
    refused(0, says, |g, x| aclnn::flip(g, &x, &[0], &mut { x }));
    refused(0, says, |g, x| aclnn::roll(g, &x, &[1], &[0], &mut { x }));
    refused(0, says, |g, x| aclnn::topk(g, &x, 4, 0, true, true, &mut { x }, &mut Inferred::new()));
    refused(0, says, |g, x| aclnn::constant_pad_nd(g, &x, &[1, -1], 0.0_f32, &mut { x }));
    refused(2, says, |g, x| {
        let (own, places) = (g.abs(x)?, g.constant(&[0_i64; 4], [4])?);
        aclnn::index_add(g, &own, 0, &places, &x, 1.0_f32, &mut { x })
    });
    refused(2, says, |g, x| {
        let y = g.abs(x)?;
        aclnn::foreach_neg(g, &[&x, &y], &mut [&mut { y }, &mut { x }])
    });
    // What is taken from places, or counted.
    let places = |g: &Builder| g.constant(&[2_i64, 0, 1, 3], [4]).unwrap();
    refused(0, says, |g, x| aclnn::index_select(g, &x, 0, &places(g), &mut { x }));
    refused(0, says, |g, x| aclnn::gather(g, &x, 0, &places(g), &mut { x }));
    refused(0, says, |g, x| aclnn::take(g, &x, &places(g), &mut { x }));
    refused(0, says, |g, x| aclnn::index(g, &x, &[&places(g)], &mut { x }));
    refused(0, says, |g, x| aclnn::repeat_interleave(g, &x, &places(g), 4, &mut { x }));
    // Whether a card computes these in place nobody has looked at.
    let says = &["in whose place it writes: no rule knows aclnnLgamma"];
    refused(0, says, |g, x| aclnn::lgamma(g, &x, &mut { x }));
    refused(0, &["no rule knows aclnnLogAddExp"], |g, x| aclnn::log_add_exp(g, &x, &x, &mut { x }));
    refused(0, &["no rule knows aclnnForeachNorm"], |g, x| aclnn::foreach_norm(g, &[&x], 2.0_f32, &mut [&mut { x }]));
    // These are taken.
    Plan::build(|g| {
        aclnn::lgamma(g, &x(g)?, &mut g.empty([4], F32)?)?;
        aclnn::inplace_erfinv(g, &mut g.full([4], F32, 0.5)?)?;
        Ok(())
    })
    .unwrap();
    Plan::build(|g| {
        let (x, y) = (x(g)?, g.full([4], F32, 1.0)?);
        aclnn::foreach_neg(g, &[&x, &y], &mut [&mut { x }, &mut { y }])?;
        aclnn::cumsum(g, &x, 0, F32, &mut { x })?;
        let places = g.constant(&[0_i64; 4], [4])?;
        aclnn::index_add(g, &x, 0, &places, &y, 1.0_f32, &mut { x })
    })
    .unwrap();
}

#[test]
fn a_scope_that_is_left_open() {
    refused(0, &["the scope of \"side\" is still open"], |g, _| g.open_scope("side", Scope::new()));
}

#[test]
fn a_value_of_nothing_whose_places_have_no_numbers() {
    let _alone = Alone::new();
    let says = &["too large"];
    refused(0, says, |g, x| g.reshape(g.narrow(x, 0, 0..0)?, [1 << 40, 0, 1 << 40]).map(drop));
    refused(0, says, |g, _| g.empty([1 << 40, 0, 1 << 40], F32).map(drop));
    // Of symbols that is known when they have values.
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 0..=1 << 20)?;
        let x = g.input("x", [0], F32, Input::Copied)?;
        let wide = g.input("wide", [n, 0.into(), 2.into()], F32, Input::Copied)?;
        g.output("y", g.reshape(wide, [Dim::from(0), n, n, n, n])?)?;
        g.output("x", x)
    })
    .unwrap();
    let given = Simulated::new().symbol("n", 1 << 20).bytes("x", []).bytes("wide", []);
    let error = plan.simulate(0, &given).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["has no size for"]);
}

#[test]
fn one_place_for_two_results() {
    use racl::op::Argument::{self, Bool, Int};
    refused(3, &["one place for two results"], |g, x| {
        let y = Inferred::new();
        let place = || Argument::Tensor(&y);
        op::call(g, "aclnnSort", &[Argument::Tensor(&x), Bool(true), Int(0), Bool(true), place(), place()])
    });
}

#[test]
fn a_result_that_is_too_small() {
    refused(0, &["aclnnCat: F32 [8] into F32 [7]"], |g, x| aclnn::cat(g, &[&x, &x], 0, &mut g.empty([7], F32)?));
    refused(1, &["aclnnTopk: I64 [3] into I64 [2]"], |g, x| {
        aclnn::topk(g, &x, 3, 0, true, true, &mut g.empty([3], F32)?, &mut g.empty([2], I64)?)
    });
    refused(1, &["aclnnSplitWithSize: F32 [2] into F32 [1]"], |g, x| {
        aclnn::split_with_size(g, &x, &[2, 2], 0, &mut [&mut g.empty([2], F32)?, &mut g.empty([1], F32)?])
    });
}

#[test]
fn a_size_without_bounds_in_a_rule() {
    refused(1, &["symbol \"n\" with the bounds 0..=", "18446744073709551615"], |g, _| {
        g.symbol("n", 0..=usize::MAX).map(drop)
    });
    // Numbers of each run bound no size.
    refused(2, &["aclnnTopk: its results have to be declared", "each run gives anew"], |g, x| {
        let told = g.telling("k", g.number("k", 1..=4)?);
        aclnn::topk(&told, &x, 1, 0, true, true, &mut Inferred::new(), &mut Inferred::new())
    });
    refused(2, &["aclnnArange: its results have to be declared", "a number that is known later"], |g, _| {
        let told = g.telling("end", g.symbol("n", 1..=4)?);
        aclnn::arange(&told, 0.0_f32, 0.0_f32, 1.0_f32, &mut Inferred::new())
    });
}

/// What a plan of `work` says when it is run in each way, and when it is simulated.
fn said(alone: &Alone, work: impl Fn(&Builder, Value) -> Result<Value>) -> Vec<Error> {
    let plan = Plan::build(|g| g.output("y", work(g, x(g)?)?)).unwrap();
    let numbers = [1.0_f32, 2.0, 3.0, 4.0];
    let tensor = alone.device.upload_tensor(&numbers, [4]).unwrap();
    let mut all = Vec::new();
    for mode in [Mode::Captured, Mode::Eager] {
        let run = || {
            let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new())?;
            exe.run(&alone.stream(), &mut crate::give(&exe, "x", &tensor))
        };
        all.push(run().unwrap_err());
    }
    all.push(plan.simulate(1, &Simulated::new().tensor("x", &numbers, [4])).unwrap_err());
    all
}

#[test]
fn an_operator_that_the_library_lacks() {
    let alone = Alone::new();
    refused(1, &["aclnnMaskedScale: its results have to be declared", "no rule"], |g, x| {
        aclnn::masked_scale(g, &x, &x, 1.0, &mut Inferred::new())
    });
    let line = line!() + 3;
    for error in said(&alone, |g, x| {
        let y = g.empty([4], F32)?;
        aclnn::masked_scale(g, &x, &x, 1.0, &mut { y })?;
        Ok(y)
    }) {
        at(&error, ErrorKind::NotSupported, line, &["aclnnMaskedScale (#", "not supported by mock-acl"]);
    }
}

#[test]
fn what_the_device_finds_names_the_operator_in_a_simulation() {
    let _alone = Alone::new();
    let line = line!() + 1;
    let plan = Plan::build(|g| g.output("y", g.index_select(x(g)?, 0, g.constant(&[7_i64], [1])?)?)).unwrap();
    let error = plan.simulate(1, &Simulated::new().tensor("x", &[0.0_f32; 4], [4])).unwrap_err();
    at(&error, ErrorKind::DeviceFault, line, &["aclnnIndexSelect (#"]);
    mock::reset().unwrap();
}

#[test]
fn operators_without_elements_are_left_out_of_simulations_as_of_runs() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let side = g.symbol("side", 2..=4)?;
        let x = g.input("x", [1.into(), 1.into(), side, side], F32, Input::Copied)?;
        let kernel = g.constant(&[1.0_f32; 9], [1, 1, 3, 3])?;
        g.output("y", g.conv2d(x, kernel, None, racl::op::Window::default(), 1)?)
    })
    .unwrap();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    for (side, expected) in [(2, vec![]), (3, vec![9.0_f32])] {
        let numbers = vec![1.0_f32; side * side];
        let given = Simulated::new().tensor("x", &numbers, [1, 1, side, side]);
        assert_eq!(plan.simulate(1, &given).unwrap().to_vec::<f32>("y").unwrap(), expected, "{side}");
        let tensor = alone.device.upload_tensor(&numbers, [1, 1, side, side]).unwrap();
        exe.run(&alone.stream(), &mut crate::give(&exe, "x", &tensor)).unwrap();
        assert_eq!(crate::result(&exe, "y"), expected, "{side}");
    }
}

#[test]
fn an_operator_that_is_called_by_its_name() {
    let name = |g: &Builder, name: &str, arguments: &[op::Argument<'_>]| op::call(g, name, arguments);
    let line = Location::caller().line();
    let wrong = |at_line: u32, says: &str, work: &dyn Fn(&Builder, Value) -> Result<()>| {
        let error = Plan::build(|g| work(g, x(g)?)).unwrap_err();
        at(&error, ErrorKind::InvalidPlan, at_line, &[says]);
    };
    let own = line - 1;
    wrong(own, "no operator \"aclnnNone\"", &|g, _| name(g, "aclnnNone", &[]));
    wrong(own, "aclnnAbs takes 2 arguments", &|g, x| name(g, "aclnnAbs", &[op::Argument::Tensor(&x)]));
    wrong(own, "is the integer 3", &|g, x| name(g, "aclnnAbs", &[op::Argument::Tensor(&x), op::Argument::Int(3)]));
}
