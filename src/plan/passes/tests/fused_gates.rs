//! Gates between halves that are one operator.

use crate::op::aclnn;
use crate::plan::OnMove;

use super::*;

fn gates() -> Passes {
    OFF.fused_gates(PassMode::Verified)
}

fn given(g: &Builder) -> Result<Value> {
    let n = g.symbol("n", 1..=3)?;
    g.input("x", [n, Dim::from(6)], F32, Input::Tracked(OnMove::Recapture))
}

/// The halves of the last dimension.
fn halves(g: &Builder, x: Value) -> Result<(Value, Value)> {
    Ok((g.narrow(x, 1, 0..3)?, g.narrow(x, 1, 3..6)?))
}

fn work(gate: impl FnOnce(&Builder, Value) -> Result<Value>) -> impl FnOnce(&Builder) -> Result<()> {
    move |g| {
        let x = given(g)?;
        g.output("y", gate(g, x)?)
    }
}

#[track_caller]
fn becomes_one(of: usize, work: impl FnOnce(&Builder) -> Result<()>) {
    let better = optimised(gates(), work);
    assert_eq!((better.before, better.plan.operators()), (of, 1), "{better}");
    assert!(better.plan.to_text().contains("aclnnSwiGlu"));
}

#[test]
fn views_and_parts_of_one_tensor_are_halves() {
    becomes_one(
        2,
        work(|g, x| {
            let (gate, up) = halves(g, x)?;
            g.mul(g.silu(gate)?, up)
        }),
    );
    becomes_one(
        3,
        work(|g, x| {
            let (gate, up) = halves(g, x)?;
            g.mul(up, g.mul(g.sigmoid(gate)?, gate)?)
        }),
    );
    becomes_one(
        3,
        work(|g, x| {
            let parts = g.split(x, &[3, 3], -1)?;
            g.mul(g.silu(parts[0])?, parts[1])
        }),
    );
    becomes_one(2, |g| {
        let x = g.input("x", [4, 5], F16, Input::Copied)?;
        g.output("y", g.mul(g.silu(g.narrow(x, 0, 0..2)?)?, g.narrow(x, 0, 2..4)?)?)
    });
}

#[test]
fn halves_and_results_with_gaps_stay() {
    unchanged(gates(), |g| {
        let x = g.input("x", [4, 5], F16, Input::Copied)?;
        g.output("y", g.mul(g.silu(g.narrow(x, 1, 1..3)?)?, g.narrow(x, 1, 3..5)?)?)
    });
    unchanged(gates(), |g| {
        let (x, wide) = (g.input("x", [4, 6], F32, Input::Copied)?, g.empty([4, 5], F32)?);
        let (gate, mut y) = (g.silu(g.narrow(x, 1, 0..3)?)?, g.narrow(wide, 1, 0..3)?);
        aclnn::mul(g, &gate, &g.narrow(x, 1, 3..6)?, &mut y)?;
        g.output("y", g.abs(y)?)
    });
}

#[test]
fn other_halves_stay() {
    // The other way round, with a gap, of other sizes, of another tensor, of the same half.
    let other = |a: std::ops::Range<usize>, b: std::ops::Range<usize>| {
        work(move |g, x| g.mul(g.silu(g.narrow(x, 1, a)?)?, g.narrow(x, 1, b)?))
    };
    unchanged(gates(), other(3..6, 0..3));
    unchanged(gates(), other(0..2, 4..6));
    unchanged(gates(), other(0..3, 5..6));
    unchanged(gates(), other(0..3, 2..5));
    unchanged(gates(), other(0..3, 0..3));
    unchanged(gates(), |g| {
        let (x, other) = (given(g)?, g.input("other", [3], F32, Input::Copied)?);
        g.output("y", g.mul(g.silu(g.narrow(x, 1, 0..3)?)?, other)?)
    });
    unchanged(
        gates(),
        work(|g, x| {
            let parts = g.split(x, &[2, 2, 2], -1)?;
            g.mul(g.silu(parts[0])?, parts[1])
        }),
    );
    unchanged(
        gates(),
        work(|g, x| {
            let parts = g.split(x, &[3, 3], -1)?;
            g.mul(g.silu(parts[1])?, parts[0])
        }),
    );
}

#[test]
fn other_gates_and_types_stay() {
    unchanged(
        gates(),
        work(|g, x| {
            let (gate, up) = halves(g, x)?;
            g.mul(g.sigmoid(gate)?, up)
        }),
    );
    unchanged(
        gates(),
        work(|g, x| {
            let (gate, up) = halves(g, x)?;
            g.mul(g.mul(g.sigmoid(up)?, gate)?, up)
        }),
    );
    unchanged(
        gates(),
        work(|g, x| {
            let (gate, up) = halves(g, x)?;
            let into = g.empty([g.dims(x)?[0], Dim::from(3)], F16)?;
            crate::op::aclnn::mul(g, &g.silu(gate)?, &up, &mut { into })?;
            Ok(into)
        }),
    );
}

#[test]
fn what_others_use_or_change_stays() {
    let read = |which: usize| {
        work(move |g, x| {
            let (gate, up) = halves(g, x)?;
            let active = g.silu(gate)?;
            if which == 1 {
                aclnn::tanh(g, &gate, &mut { gate })?;
            }
            if which == 2 {
                aclnn::abs(g, &active, &mut { active })?;
            }
            let y = g.mul(active, up)?;
            if which == 0 { g.add(y, active) } else { Ok(y) }
        })
    };
    (0..3).for_each(|which| unchanged(gates(), read(which)));
    // In place, into the other half, and on two streams.
    unchanged(gates(), |g| {
        let x = given(g)?;
        let (gate, up) = halves(g, x)?;
        aclnn::mul(g, &g.silu(gate)?, &up, &mut { up })
    });
    unchanged(gates(), |g| {
        let x = given(g)?;
        let (gate, up) = halves(g, x)?;
        aclnn::mul(g, &g.silu(gate)?, &up, &mut { gate })
    });
    unchanged(
        gates(),
        work(|g, x| {
            let (gate, up) = halves(g, x)?;
            let active = g.scope("side", |g| g.silu(gate))?;
            g.join("side")?;
            g.mul(active, up)
        }),
    );
    unchanged(
        gates(),
        work(|g, x| {
            let (gate, up) = halves(g, x)?;
            let active = g.silu(gate)?;
            g.prefetch(active, Prefetch::all(), crate::plan::After::Value(active))?;
            g.mul(active, up)
        }),
    );
    // A part of what was split that others read too.
    unchanged(
        gates(),
        work(|g, x| {
            let parts = g.split(x, &[3, 3], -1)?;
            g.add(g.mul(g.silu(parts[0])?, parts[1])?, parts[1])
        }),
    );
}
