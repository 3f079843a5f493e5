//! Rotary embeddings that are one operator.

use crate::op::DataType::F64;
use crate::op::aclnn;
use crate::plan::{Inferred, OnMove};

use super::*;

fn rotations() -> Passes {
    OFF.fused_rotations(PassMode::Verified)
}

/// An input of two heads, and the angles of its rows.
fn given(g: &Builder, heads: usize) -> Result<[Value; 3]> {
    let n = g.symbol("n", 1..=3)?;
    let angles = |name| g.input(name, [1.into(), heads.into(), n, Dim::from(4)], F32, Input::Copied);
    let x = g.input("x", [Dim::from(1), 2.into(), n, 4.into()], F32, Input::Tracked(OnMove::Recapture))?;
    Ok([x, angles("cos")?, angles("sin")?])
}

fn halves(g: &Builder, x: Value) -> Result<[Value; 2]> {
    Ok([g.narrow(x, 3, 0..2)?, g.narrow(x, 3, 2..4)?])
}

fn turned(g: &Builder, x: Value) -> Result<Value> {
    let [a, b] = halves(g, x)?;
    g.cat(&[g.neg(b)?, a], -1)
}

fn work(turn: impl FnOnce(&Builder, [Value; 3]) -> Result<Value>) -> impl FnOnce(&Builder) -> Result<()> {
    move |g| {
        let all = given(g, 1)?;
        g.output("y", turn(g, all)?)
    }
}

#[track_caller]
fn becomes_one(of: usize, work: impl FnOnce(&Builder) -> Result<()>) {
    let better = optimised(rotations(), work);
    assert_eq!((better.before, better.plan.operators()), (of, 1), "{better}");
    assert!(better.plan.to_text().contains("aclnnRotaryPositionEmbedding"));
}

#[test]
fn halves_that_are_turned_are_one_operator() {
    becomes_one(5, work(|g, [x, cos, sin]| g.add(g.mul(x, cos)?, g.mul(turned(g, x)?, sin)?)));
    becomes_one(5, work(|g, [x, cos, sin]| g.add(g.mul(sin, turned(g, x)?)?, g.mul(cos, x)?)));
    becomes_one(
        6,
        work(|g, [x, cos, sin]| {
            let parts = g.split(x, &[2, 2], 3)?;
            let turned = g.cat(&[g.neg(parts[1])?, parts[0]], 3)?;
            g.add(g.mul(x, cos)?, g.mul(turned, sin)?)
        }),
    );
    becomes_one(5, |g| {
        let [x, cos, sin] = given(g, 2)?;
        g.output("y", g.add(g.mul(x, cos)?, g.mul(turned(g, x)?, sin)?)?)
    });
}

#[test]
fn other_turns_stay() {
    let other = |turn: fn(&Builder, [Value; 2]) -> Result<Value>| {
        work(move |g, [x, cos, sin]| g.add(g.mul(x, cos)?, g.mul(turn(g, halves(g, x)?)?, sin)?))
    };
    unchanged(rotations(), other(|g, [a, b]| g.cat(&[b, g.neg(a)?], -1)));
    unchanged(rotations(), other(|g, [a, b]| g.cat(&[g.neg(a)?, b], -1)));
    unchanged(rotations(), other(|g, [a, b]| g.cat(&[g.abs(b)?, a], -1)));
    unchanged(rotations(), other(|g, [_, b]| g.cat(&[g.neg(b)?, b], -1)));
    unchanged(rotations(), work(|g, [x, cos, sin]| g.sub(g.mul(x, cos)?, g.mul(turned(g, x)?, sin)?)));
    unchanged(rotations(), work(|g, [x, cos, sin]| g.add_scaled(g.mul(x, cos)?, g.mul(turned(g, x)?, sin)?, 2.0)));
    unchanged(rotations(), work(|g, [x, cos, sin]| g.add(g.mul(g.abs(x)?, cos)?, g.mul(turned(g, x)?, sin)?)));
}

#[test]
fn other_shapes_and_types_stay() {
    // Three dimensions; angles that are alike for all rows; of other shapes; of another type.
    unchanged(rotations(), |g| {
        let x = g.input("x", [2, 3, 4], F32, Input::Copied)?;
        let angle = g.input("angle", [2, 3, 4], F32, Input::Copied)?;
        let turned = g.cat(&[g.neg(g.narrow(x, 2, 2..4)?)?, g.narrow(x, 2, 0..2)?], -1)?;
        g.output("y", g.add(g.mul(x, angle)?, g.mul(turned, angle)?)?)
    });
    unchanged(rotations(), |g| {
        let x = g.input("x", [1, 2, 3, 4], F32, Input::Copied)?;
        let (cos, sin) = (g.input("cos", [3, 4], F32, Input::Copied)?, g.input("sin", [3, 4], F32, Input::Copied)?);
        g.output("y", g.add(g.mul(x, cos)?, g.mul(turned(g, x)?, sin)?)?)
    });
    unchanged(rotations(), |g| {
        let x = g.input("x", [1, 2, 3, 4], F32, Input::Copied)?;
        let cos = g.input("cos", [1, 1, 3, 4], F32, Input::Copied)?;
        let sin = g.input("sin", [1, 2, 3, 4], F32, Input::Copied)?;
        g.output("y", g.add(g.mul(x, cos)?, g.mul(turned(g, x)?, sin)?)?)
    });
    unchanged(rotations(), |g| {
        let x = g.input("x", [1, 1, 3, 4], F32, Input::Copied)?;
        let cos = g.input("cos", [1, 2, 3, 4], F32, Input::Copied)?; // wider than x
        let sin = g.input("sin", [1, 2, 3, 4], F32, Input::Copied)?;
        g.output("y", g.add(g.mul(x, cos)?, g.mul(turned(g, x)?, sin)?)?)
    });
    unchanged(rotations(), |g| {
        let [x, cos, sin] = ["x", "cos", "sin"].map(|name| g.input(name, [1, 2, 3, 4], F64, Input::Copied));
        let (x, cos, sin) = (x?, cos?, sin?);
        let (mut a, mut b, mut y) = (Inferred::new(), Inferred::new(), Inferred::new());
        aclnn::mul(g, &x, &cos, &mut a)?;
        aclnn::mul(g, &turned(g, x)?, &sin, &mut b)?;
        aclnn::add(g, &a, &b, 1.0_f32, &mut y)?;
        g.output("y", y.value()?)
    });
}

#[test]
fn angles_are_of_the_shapes_that_cards_take() {
    let turn = |x: [usize; 4], angles: [usize; 4]| {
        move |g: &Builder| {
            let [cos, sin] = ["cos", "sin"].map(|name| g.input(name, angles, F32, Input::Copied));
            let x = g.input("x", x, F32, Input::Copied)?;
            let parts = g.split(x, &[2, 2], 3)?;
            let turned = g.cat(&[g.neg(parts[1])?, parts[0]], 3)?;
            g.output("y", g.add(g.mul(x, cos?)?, g.mul(turned, sin?)?)?)
        }
    };
    for taken in [[1, 1, 5, 4], [2, 1, 5, 4], [2, 3, 5, 4], [1, 3, 1, 4], [2, 3, 1, 4], [2, 1, 1, 4]] {
        becomes_one(6, turn([2, 3, 5, 4], taken));
    }
    for other in [[1, 1, 5, 1], [1, 3, 5, 4], [1, 1, 1, 4], [1, 1, 1, 1]] {
        unchanged(rotations(), turn([2, 3, 5, 4], other));
    }
    becomes_one(6, turn([1, 3, 5, 4], [1, 3, 5, 4]));
    becomes_one(6, turn([1, 3, 1, 4], [1, 1, 1, 4]));
}

#[test]
fn what_others_use_or_change_stays() {
    unchanged(
        rotations(),
        work(|g, [x, cos, sin]| {
            let turned = turned(g, x)?;
            let y = g.add(g.mul(x, cos)?, g.mul(turned, sin)?)?;
            g.add(y, turned)
        }),
    );
    unchanged(
        rotations(),
        work(|g, [x, cos, sin]| {
            let turned = turned(g, x)?;
            aclnn::tanh(g, &x, &mut { x })?;
            g.add(g.mul(x, cos)?, g.mul(turned, sin)?)
        }),
    );
    unchanged(rotations(), |g| {
        let [x, cos, sin] = given(g, 1)?;
        let (a, b) = (g.mul(x, cos)?, g.mul(turned(g, x)?, sin)?);
        aclnn::add(g, &a, &b, 1, &mut { x })
    });
    unchanged(
        rotations(),
        work(|g, [x, cos, sin]| {
            let side = g.scope("side", |g| g.mul(turned(g, x)?, sin))?;
            let own = g.mul(x, cos)?;
            g.join("side")?;
            g.add(own, side)
        }),
    );
}

#[test]
fn what_cards_have_no_room_for_stays() {
    let of = |x: [usize; 3], angles: [usize; 3]| {
        move |g: &Builder| {
            let wide = |name, [a, b, c]: [usize; 3]| g.input(name, [a, b, c, 4], F32, Input::Copied);
            let (x, cos, sin) = (wide("x", x)?, wide("cos", angles)?, wide("sin", angles)?);
            g.output("y", g.add(g.mul(x, cos)?, g.mul(turned(g, x)?, sin)?)?)
        }
    };
    // Eight heads to a row, where the rows come last.
    becomes_one(5, of([1, 8, 1], [1, 1, 1]));
    unchanged(rotations(), of([1, 32, 1], [1, 1, 1]));
    becomes_one(5, of([2, 8, 2], [2, 1, 2]));
    unchanged(rotations(), of([3, 8, 2], [1, 1, 2]));
    // Elsewhere any number of them, but for a thousand.
    becomes_one(5, of([1, 3, 32], [1, 3, 1]));
    becomes_one(5, of([1, 2, 999], [1, 2, 1]));
    unchanged(rotations(), of([1, 2, 1000], [1, 2, 1]));
    unchanged(rotations(), of([1000, 2, 1], [1, 2, 1]));
    becomes_one(5, of([1000, 3, 2], [1000, 1, 1]));
    // A result with gaps.
    unchanged(rotations(), |g| {
        let wide = |name, heads: usize| g.input(name, [1, heads, 3, 4], F32, Input::Copied);
        let (x, cos, sin) = (wide("x", 2)?, wide("cos", 1)?, wide("sin", 1)?);
        let mut y = g.narrow(g.empty([1, 2, 3, 5], F32)?, 3, 0..4)?;
        aclnn::add(g, &g.mul(x, cos)?, &g.mul(turned(g, x)?, sin)?, 1.0_f32, &mut y)?;
        g.output("y", g.abs(y)?)
    });
}
