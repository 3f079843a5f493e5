//! The operators on host memory, with the numbers that they have on the mock, bit for bit.
//!
//! Operands and result may share a storage: the result is computed before any of it is written.

mod math;
mod moves;
mod normalise;
mod pointwise;
mod product;
mod reduce;
#[cfg(test)]
mod tests;
mod view;
mod walk;

use crate::op::DataType;
use crate::plan::recipe::operator::{Operand, Operator, broadcast};
use crate::plan::symbols::dim::Dim;

#[cfg(test)]
pub(crate) use view::HostViewMut;
pub(crate) use view::{HostLayout, HostView};

/// Computes `out`, which lies in another storage than the operands.
#[cfg(test)]
pub(crate) fn run(operator: &Operator, operands: &[HostView<'_>], out: &mut HostViewMut<'_>) -> Result<(), String> {
    let elements = compute(operator, operands, &out.layout)?;
    out.layout.write(&elements, out.bytes)
}

/// The dense elements of the result, for [`HostLayout::write`]. The operands may lie in the storage of the result.
pub(crate) fn compute(operator: &Operator, operands: &[HostView<'_>], out: &HostLayout) -> Result<Vec<u8>, String> {
    check(operator, operands, out)?;
    Ok(match *operator {
        Operator::Softmax { dim } => normalise::softmax(&operands[0], usize::from(dim), out),
        Operator::LayerNorm { eps } => normalise::layer_norm(operands, eps, out),
        Operator::ReduceSum { over } => reduce::compute(&operands[0], over, false, out),
        Operator::Mean { over } => reduce::compute(&operands[0], over, true, out),
        Operator::Cast { .. } | Operator::Copy => moves::convert(&operands[0], out),
        Operator::Fill { value } => moves::fill(value, out)?,
        Operator::Permute { order } => moves::permute(&operands[0], order, out),
        Operator::Embedding => moves::embedding(&operands[0], &operands[1])?,
        Operator::Matmul { .. } | Operator::Mm | Operator::BatchMatmul => {
            product::matmul(&operands[0], &operands[1], out)
        }
        Operator::Addmm => product::addmm(operands, out),
        _ => pointwise::compute(operator, operands, out)?,
    })
}

/// What the kernels rely on: views inside their storages, and a result of the type and shape that the operands give.
fn check(operator: &Operator, operands: &[HostView<'_>], out: &HostLayout) -> Result<(), String> {
    for view in operands {
        view.layout.check(view.bytes.len())?;
    }
    let fixed = |layout: &HostLayout| -> Vec<Dim> { layout.dims.iter().map(|size| Dim::from(*size)).collect() };
    let dims: Vec<Vec<Dim>> = operands.iter().map(|view| fixed(&view.layout)).collect();
    let want = fixed(out);
    let (dtype, dims): (DataType, Vec<Dim>) = match operator {
        Operator::Fill { .. } if operands.is_empty() => return Ok(()),
        Operator::Copy if operands.len() == 1 => (out.dtype, broadcast(&dims[0], &want)?),
        _ => {
            let typed = operands.iter().zip(&dims);
            let typed: Vec<_> = typed.map(|(view, dims)| Operand { dtype: view.layout.dtype, dims }).collect();
            operator.infer(&typed)?
        }
    };
    if (dtype, &dims) == (out.dtype, &want) {
        return Ok(());
    }
    Err(format!("a result of type {:?} and shape {}; the operands give {dtype:?} and {dims:?}", out.dtype, out.dims))
}
