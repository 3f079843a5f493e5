//! Operators that are told of lists: joined, split and taken by an index, and numbers for each.

use racl::Result;
use racl::op::aclnn;
use racl::op::{DataType::F32, Window};
use racl::plan::{Builder, Inferred, Input};

use super::workloads::Names;

const TOKENS: usize = 64;
const WIDTH: usize = 64;
/// Operators of a round.
const ROUND: usize = 16;

/// Rounds of operators of many kinds, of which most read or write a list of tensors, or are told a list of numbers.
pub(crate) fn mixed(g: &Builder, operators: usize, _: &Names) -> Result<()> {
    let mut x = g.input("x", [TOKENS, WIDTH], F32, Input::Copied)?;
    let weight = g.input("weight", [WIDTH], F32, Input::Frozen)?;
    let kernel = g.input("kernel", [1, 1, 3, 3], F32, Input::Frozen)?;
    let places = g.constant(&[0_i64; TOKENS], [TOKENS])?;
    let around = Window { stride: [1, 1], padding: [1, 1], dilation: [1, 1] };
    for _ in 0..operators.div_ceil(ROUND) {
        let [a, b] = g.split(x, &[WIDTH as i64 / 2; 2], 1)?[..] else { unreachable!("two parts") };
        let joined = g.cat(&[b, a], 1)?;
        let stacked = g.stack(&[x, joined], 0)?;
        let summed = g.reduce_sum(stacked, &[0], false)?;
        let (normal, _) = g.rms_norm(summed, weight, 1e-6)?;
        let padded = g.pad(normal, &[1, 1, 1, 1], 0.0_f32)?;
        let part = g.slice(padded, 0, 1, TOKENS as i64 + 1, 1)?;
        let part = g.slice(part, 1, 1, WIDTH as i64 + 1, 1)?;
        let turned = g.permute(part, &[1, 0])?;
        let rolled = g.roll(turned, &[1, 2], &[0, 1])?;
        let image = g.conv2d(g.reshape(rolled, [1, 1, WIDTH, TOKENS])?, kernel, None, around, 1)?;
        let rows = g.index_select(g.reshape(image, [TOKENS, WIDTH])?, 0, places)?;
        let (mut one, mut two) = (Inferred::new(), Inferred::new());
        aclnn::foreach_mul_list(g, &[&rows, &x], &[&normal, &summed], &mut [&mut one, &mut two])?;
        let (largest, _) = g.topk(one.value()?, WIDTH as i64, 1, true)?;
        let gate = g.greater_than(two.value()?, 0.0_f32)?;
        x = g.select(gate, largest, x)?;
    }
    g.output("y", x)
}
