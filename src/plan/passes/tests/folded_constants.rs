//! Work on constants alone.

use super::*;
use crate::op::aclnn;

#[test]
fn work_on_constants_becomes_a_constant() {
    let better = optimised(fold(), |g| {
        let x = x(g)?;
        let (a, b) = (g.constant(&[1.0_f32, 4.0, 9.0, 16.0], [4])?, g.constant(&[2.0_f32], [1])?);
        let scaled = g.mul(g.sqrt(a)?, b)?;
        g.output("y", g.add(x, scaled)?)
    });
    assert_eq!((better.before, better.plan.operators()), (3, 1));
    let bytes: Vec<u8> = [2.0_f32, 4.0, 6.0, 8.0].iter().flat_map(|one| one.to_ne_bytes()).collect();
    assert_eq!(better.plan.0.recipe.constants, [bytes]);
}

#[test]
fn results_that_somebody_writes_sees_or_that_are_large_stay() {
    let constant = |g: &Builder| g.constant(&[1.0_f32, 4.0], [2]);
    unchanged(fold(), |g| {
        let state = g.sqrt(constant(g)?)?;
        aclnn::tanh(g, &state, &mut { state })?;
        g.output("y", g.abs(state)?)
    });
    unchanged(fold(), |g| g.output("y", g.sqrt(constant(g)?)?));
    unchanged(fold().most_folded(7), |g| {
        let root = g.sqrt(constant(g)?)?;
        g.output("y", g.abs(root)?)
    });
    let all = gone(fold().most_folded(8), |g| {
        let root = g.sqrt(constant(g)?)?;
        g.output("y", g.abs(root)?)
    });
    assert_eq!(all, ["aclnnSqrt"]);
}

#[test]
fn work_without_operands_or_of_varying_size_stays() {
    unchanged(fold(), |g| {
        let n = g.symbol("n", 1..=5)?;
        let (one, x) = (g.constant(&[1.0_f32], [1])?, g.input("x", [n], F32, Input::Copied)?);
        let filled = g.empty([4], F32)?;
        g.fill_bytes(filled, 0)?;
        let wide = g.empty([n], F32)?;
        aclnn::inplace_copy(g, &mut { wide }, &one)?;
        g.output("y", g.add(wide, x)?)?;
        g.output("z", g.abs(filled)?)
    });
}

#[cfg(feature = "mock")]
#[test]
fn random_numbers_are_the_device_s_own() {
    unchanged(fold(), |g| {
        let (even, mut drawn) = (g.constant(&[0.5_f32; 64], [64])?, g.empty([64], F32)?);
        aclnn::bernoulli(g, &even, 0.5_f32, 1, 0, &mut drawn)?;
        g.output("y", g.abs(drawn)?)
    });
    unchanged(fold(), |g| {
        let (means, mut drawn) = (g.constant(&[0.5_f32; 64], [64])?, g.empty([64], F32)?);
        aclnn::normal_tensor_float(g, &means, 1.0, 1, 0, &mut drawn)?;
        g.output("y", g.abs(drawn)?)
    });
}

#[test]
fn foreign_operators_are_never_folded() {
    unchanged(fold().foreign_only_computes(), |g| {
        let (a, b) = (g.constant(&[1.0_f32], [1])?, g.empty([1], F32)?);
        g.foreign(&double(), &[a], &[b])?;
        g.output("y", g.abs(b)?)
    });
}
