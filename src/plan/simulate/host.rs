//! Operators on host memory, with the numbers that they have on the mock, bit for bit.
//!
//! Those that most plans are made of, on operands of one type, as the functions of their names in
//! [`racl::op`](crate::op) take them; others are the mock's. Operands and result may share a storage: the result is
//! computed before any of it is written.

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

use crate::op::{Access, CubeMath, DataType, Recorded, Scalar, Tellings, Told};
use crate::plan::recipe::operator::Operand;
use crate::plan::rules::{self, Args};
use crate::plan::symbols::dim::Dim;

#[cfg(test)]
pub(crate) use view::HostViewMut;
pub(crate) use view::{HostLayout, HostView};

/// The dense elements of a result, or why the device would stop; none of what is not computed here.
pub(crate) type Computed = Option<Result<Vec<u8>, String>>;

/// Computes `out`, which lies in another storage than the operands.
#[cfg(test)]
pub(crate) fn run(recorded: &Recorded, operands: &[HostView<'_>], out: &mut HostViewMut<'_>) -> Result<(), String> {
    let elements = compute(recorded, operands, &out.layout).ok_or("not computed on the host")??;
    out.layout.write(&elements, out.bytes)
}

/// Computes the one result of an operator, for [`HostLayout::write`]. The operands are what it reads, in order, and may
/// lie in the storage of the result.
pub(crate) fn compute(recorded: &Recorded, operands: &[HostView<'_>], out: &HostLayout) -> Computed {
    let call = Call { name: recorded.name().strip_prefix("aclnn")?, told: recorded.told(), operands, out };
    if !call.takes() || !call.fits(recorded) {
        return None;
    }
    if let Some(wrong) = operands.iter().find_map(|view| view.layout.check(view.bytes.len()).err()) {
        return Some(Err(wrong));
    }
    Some(Ok(match call.name {
        "Softmax" => normalise::softmax(&operands[0], at(call.int(1)?, out.dims.len())?, out),
        "LayerNorm" => normalise::layer_norm(operands, call.told.get(4)?.real()?, out),
        "ReduceSum" => reduce::compute(&operands[0], call.dims(1)?, false, out),
        "Mean" => reduce::compute(&operands[0], call.dims(1)?, true, out),
        "Cast" | "InplaceCopy" => moves::convert(&operands[0], out),
        "InplaceFillScalar" => moves::fill(call.scalar(1)?, out)?,
        "Permute" => moves::permute(&operands[0], call.told.get(1)?.ints()?, out)?,
        "Embedding" => match moves::embedding(&operands[0], &operands[1]) {
            Ok(elements) => elements,
            Err(text) => return Some(Err(text)),
        },
        "Matmul" | "Mm" | "BatchMatMul" => product::matmul(&operands[0], &operands[1], out),
        "Addmm" | "Baddbmm" => product::added(operands, (call.factor(3)?, call.factor(4)?), out),
        _ => pointwise::compute(&call)?,
    }))
}

/// An operator with its numbers, and what it computes with. Parameters are counted as in C.
pub(super) struct Call<'a> {
    /// In C, without `aclnn`.
    name: &'a str,
    told: Tellings<'a>,
    operands: &'a [HostView<'a>],
    out: &'a HostLayout,
}

impl Call<'_> {
    fn int(&self, parameter: usize) -> Option<i64> {
        self.told.get(parameter)?.int()
    }

    fn scalar(&self, parameter: usize) -> Option<Scalar> {
        self.told.get(parameter)?.scalar()
    }

    /// Bits of dimensions that are reduced: none for all of them.
    fn dims(&self, parameter: usize) -> Option<u8> {
        let rank = self.operands.first()?.layout.dims.len();
        self.told.get(parameter)?.ints()?.iter().try_fold(0, |bits, dim| Some(bits | 1 << at(*dim, rank)?))
    }

    /// Whether a number is one of the type that is computed in.
    fn has_number(&self, parameter: usize) -> bool {
        self.scalar(parameter).is_some_and(|scalar| scalar.element_of(self.out.dtype).is_some())
    }

    fn is_one(&self, parameter: usize) -> bool {
        let number = self.scalar(parameter).and_then(Scalar::number);
        number.is_some_and(|(_, number, _)| number == 1.0)
    }

    /// What a product or a sum is multiplied with.
    fn factor(&self, parameter: usize) -> Option<f32> {
        self.scalar(parameter)?.number().map(|(_, number, _)| number as f32)
    }

    fn is_told(&self, parameter: usize, dtype: DataType) -> bool {
        self.int(parameter) == Some(i64::from(dtype.raw().0))
    }

    /// Whether the kernels compute it with these types and numbers.
    fn takes(&self) -> bool {
        let (types, dtype) = (self.operands.iter().map(|view| view.layout.dtype), self.out.dtype);
        let alike = types.clone().all(|one| one == dtype);
        let (numeric, float) = (alike && dtype.is_numeric(), alike && dtype.is_float());
        let plain = |math| self.int(math) == Some(i64::from(CubeMath::KeepType.raw()));
        match self.name {
            "Mul" | "Maximum" | "Abs" => numeric,
            "Add" => numeric && self.has_number(2),
            "Sub" => numeric && self.is_one(2),
            "Adds" => numeric && self.has_number(1) && self.is_one(2),
            "Muls" | "ClampMin" => numeric && self.has_number(1),
            "Divs" => float && self.has_number(1),
            "Div" | "Sqrt" | "Rsqrt" | "Tanh" | "Softmax" | "Matmul" | "GeluV2" => float,
            "LayerNorm" => float && self.operands.len() == 3,
            "ReduceSum" | "Mean" => float && self.is_told(3, dtype),
            "Mm" | "BatchMatMul" => float && plain(3),
            "Addmm" | "Baddbmm" => float && plain(6),
            "Cast" => self.is_told(1, dtype) && !dtype.is_complex() && types.clone().all(|one| !one.is_complex()),
            "InplaceCopy" => alike || (!dtype.is_complex() && types.clone().all(|one| !one.is_complex())),
            "InplaceFillScalar" => self.has_number(1),
            "Permute" => alike,
            "Embedding" => types.clone().next() == Some(dtype),
            _ => false,
        }
    }

    /// What the kernels rely on: the result has the shape that the operands give.
    fn fits(&self, recorded: &Recorded) -> bool {
        let fixed = |layout: &HostLayout| -> Vec<Dim> { layout.dims.iter().map(|size| Dim::from(*size)).collect() };
        let (want, dims) =
            (fixed(self.out), self.operands.iter().map(|view| fixed(&view.layout)).collect::<Vec<_>>());
        let own = Operand { dtype: self.out.dtype, dims: &want };
        let mut read = self.operands.iter().zip(&dims);
        let mut all = Vec::with_capacity(dims.len() + 1);
        for told in self.told.iter() {
            match told {
                Told::Tensor(Access::Write) => all.push(Some(own)),
                Told::Tensor(Access::Read) => {
                    let Some((view, dims)) = read.next() else { return false };
                    all.push(Some(Operand { dtype: view.layout.dtype, dims }));
                }
                Told::Tensor(Access::ReadWrite) | Told::Tensors(..) => return false,
                _ => {}
            }
        }
        let args = Args { told: self.told, takes: recorded.kinds(), operands: &all, numbers: &[], bounds: &[] };
        let results = rules::rule(recorded.name()).and_then(|rule| args.given(rule(&args).ok()?));
        matches!(results.as_deref(), Some([of]) if of.dims == want) && read.next().is_none()
    }
}

/// A dimension, counted from the end where it is negative; a tensor without dimensions has none to count.
fn at(dim: i64, rank: usize) -> Option<usize> {
    usize::try_from(if dim < 0 { dim + rank as i64 } else { dim }).ok().filter(|dim| *dim < rank)
}
