//! Operators of a plan by their names in C.

use crate::op::DataType::I32;
use crate::op::{CubeMath, GeluForm, aclnn};
use crate::plan::passes::facts::Facts;
use crate::plan::passes::made::Lacking;
use crate::plan::recipe::Mode;

use super::*;

/// Every operator of fixed types.
fn all(g: &Builder) -> Result<()> {
    let x = g.input("x", [4, 4], F32, Input::Copied)?;
    let (row, cube) = (g.constant(&[1.0_f32; 4], [4])?, g.input("cube", [2, 4, 4], F32, Input::Copied)?);
    let indices = g.input("indices", [3], I32, Input::Copied)?;
    for made in [g.add(x, x), g.add_scaled(x, x, 0.5), g.sub(x, x), g.mul(x, x), g.div(x, x), g.maximum(x, x)] {
        made?;
    }
    for made in [g.adds(x, 2.0), g.muls(x, 2.0), g.divs(x, 2.0), g.clamp_min(x, 2.0), g.abs(x), g.sqrt(x), g.rsqrt(x)]
    {
        made?;
    }
    for made in [g.tanh(x), g.gelu(x, GeluForm::Tanh), g.softmax(x, -1), g.layer_norm(x, row, row, 1e-5)] {
        made?;
    }
    for made in [g.reduce_sum(x, &[0], true), g.mean(x, &[1], false), g.cast(x, F16), g.full([2], F32, 0.5)] {
        made?;
    }
    for made in [g.permute(x, &[1, 0]), g.embedding(x, indices), g.matmul_with(x, x, CubeMath::UseHf32), g.mm(x, x)] {
        made?;
    }
    g.batch_matmul(cube, cube)?;
    g.addmm(row, x, x)?;
    aclnn::inplace_copy(g, &mut { g.empty([4, 4], F32)? }, &row)
}

#[cfg(feature = "cache")]
#[test]
fn every_operator_is_told_what_its_first_phase_takes() {
    let plan = Plan::build(all).unwrap();
    let facts = Facts::of(&plan.0, (false, Lacking::none()));
    assert_eq!(facts.recipe.nodes.len(), 28);
    for (index, node) in facts.recipe.nodes.iter().enumerate() {
        let call = facts.called(index as u32).unwrap();
        let recorded = crate::op::Recorded::from_told(call.name, call.told()).unwrap();
        let tensors: Vec<_> = (0..call.told().len()).flat_map(|index| call.tensors(index).to_vec()).collect();
        let writes: Vec<bool> = recorded.accesses().map(|access| access.writes()).collect();
        assert_eq!(tensors.iter().map(|one| one.mode.writes()).collect::<Vec<_>>(), writes, "{}", call.name);
        let own = facts.recipe.accesses_of(node);
        assert_eq!(tensors, own, "{}", call.name);
        assert_eq!(own.iter().filter(|one| one.mode == Mode::Write).count(), 1, "{}", call.name);
    }
}

#[test]
fn both_ways_to_record_an_operator_are_told_the_same() {
    let plan = Plan::build(|g| {
        let (x, mut y) = (g.input("x", [4, 4], F32, Input::Copied)?, g.empty([4, 4], F32)?);
        g.add_scaled(x, x, 0.5)?;
        aclnn::add(g, &x, &x, 0.5_f32, &mut y)?;
        g.permute(x, &[1, 0])?;
        aclnn::permute(g, &x, &[1, 0], &mut y)?;
        g.matmul_with(x, x, CubeMath::UseF16)?;
        aclnn::matmul(g, &x, &x, &mut y, 2)?;
        g.mean(x, &[1], true)?;
        aclnn::mean(g, &x, &[1], true, F32, &mut g.empty([4, 1], F32)?)?;
        g.softmax(x, 1)?;
        aclnn::softmax(g, &x, 1, &mut y)?;
        aclnn::inplace_copy(g, &mut { y }, &x)?;
        aclnn::inplace_copy(g, &mut y, &x)
    })
    .unwrap();
    let facts = Facts::of(&plan.0, (false, Lacking::none()));
    for first in (0..12).step_by(2) {
        let [a, b] = [first, first + 1].map(|node| facts.called(node).unwrap());
        assert_eq!((a.name, a.told()), (b.name, b.told()));
        let [a, b] = [first, first + 1].map(|node| facts.recipe.nodes[node as usize].kind);
        assert_eq!(a, b, "one function");
    }
}

#[test]
fn numbers_that_are_told_later_are_not_known() {
    let plan = Plan::build(|g| {
        let n = g.number("n", 0..=1)?;
        let (x, mut y) = (g.input("x", [4, 4], F32, Input::Copied)?, g.empty([4, 4], F32)?);
        aclnn::softmax(&g.telling("dim", n), &x, 0, &mut y)?;
        aclnn::softmax(g, &x, 0, &mut y)
    })
    .unwrap();
    let facts = Facts::of(&plan.0, (false, Lacking::none()));
    assert_eq!([0, 1].map(|node| facts.called(node).unwrap().int(1)), [None, Some(0)]);
}
