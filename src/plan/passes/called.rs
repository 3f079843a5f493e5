//! An operator as the library knows it: its name in C and what it is told, whichever way the plan has it.

use std::borrow::Cow;

use crate::op::{self, DataType, MAX_RANK, Scalar, Told};
use crate::plan::checked::Form;
use crate::plan::recipe::element::element_of;
use crate::plan::recipe::function::Body;
use crate::plan::recipe::operator::{Number, Operator, Reduction};
use crate::plan::recipe::{Access, Node, NodeKind, Recipe};

/// A call of an operator; parameters are counted as in C.
pub(super) struct Called<'a> {
    pub(super) name: &'static str,
    told: Cow<'a, [Told]>,
    /// Parameters that are told other numbers later.
    later: Vec<usize>,
    /// Its tensors, in order.
    tensors: Cow<'a, [Access]>,
}

impl<'a> Called<'a> {
    /// What a node calls; none of what is no operator of the library.
    pub(super) fn of(plan: &'a Form, node: &Node) -> Option<Self> {
        let accesses = plan.recipe.accesses_of(node);
        match node.kind {
            NodeKind::Op(operator) => own(&plan.recipe, &operator, accesses),
            NodeKind::Foreign(function) => {
                let Body::Operator(recorded) = &plan.bodies[function as usize] else { return None };
                let later = plan.recipe.functions[function as usize].later.iter();
                let later = later.map(|one| recorded.index(&one.parameter)).collect::<Option<_>>()?;
                let (told, tensors) = (Cow::Borrowed(recorded.told()), Cow::Borrowed(accesses));
                Some(Self { name: recorded.name(), told, later, tensors })
            }
            _ => None,
        }
    }

    /// All that it is told; [`Self::int`] and its like know what counts of it.
    #[cfg(test)]
    pub(super) fn told(&self) -> &[Told] {
        &self.told
    }

    /// Whether it is one of these.
    pub(super) fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.name)
    }

    /// The tensors of a parameter: of a list all of them.
    pub(super) fn tensors(&self, parameter: usize) -> &[Access] {
        let count = |told: &Told| told.tensors().map_or(0, |(count, _)| count as usize);
        let start: usize = self.told.iter().take(parameter).map(count).sum();
        let own = self.told.get(parameter).map_or(0, count);
        self.tensors.get(start..start + own).unwrap_or_default()
    }

    /// The tensor of a parameter; none where it is left out.
    pub(super) fn tensor(&self, parameter: usize) -> Option<Access> {
        match (self.told.get(parameter)?, self.tensors(parameter)) {
            (Told::Tensor(_), [one]) => Some(*one),
            _ => None,
        }
    }

    fn known(&self, parameter: usize) -> Option<&Told> {
        if self.later.contains(&parameter) { None } else { self.told.get(parameter) }
    }

    /// An integer, a type, or a truth value; none where it is told later.
    pub(super) fn int(&self, parameter: usize) -> Option<i64> {
        match self.known(parameter)? {
            Told::Number(bits) => Some(bits.cast_signed()),
            _ => None,
        }
    }

    /// A number that is no integer; none where it is told later.
    pub(super) fn real(&self, parameter: usize) -> Option<f64> {
        match self.known(parameter)? {
            Told::Number(bits) => Some(f64::from_bits(*bits)),
            _ => None,
        }
    }

    /// A list of integers; none where it is told later.
    pub(super) fn ints(&self, parameter: usize) -> Option<&[i64]> {
        match self.known(parameter)? {
            Told::Ints(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// The number of a scalar.
    pub(super) fn scalar(&self, parameter: usize) -> Option<f64> {
        match self.known(parameter)? {
            Told::Scalar(scalar) => scalar.number().map(|(_, number, _)| number),
            _ => None,
        }
    }
}

/// The C call of an operator of the plan's own.
fn own<'a>(recipe: &Recipe, operator: &Operator, accesses: &'a [Access]) -> Option<Called<'a>> {
    let (read, write) = (Told::Tensor(op::Access::Read), Told::Tensor(op::Access::Write));
    let dtype = |access: &Access| recipe.layout_of(access.value).dtype;
    let first = dtype(accesses.first()?);
    let scalar =
        |number: Number| element_of(number, first).ok().map(|element| Told::Scalar(Scalar::of(first, element)));
    let number = |number: i64| Told::Number(number.cast_unsigned());
    let kind = |dtype: DataType| number(i64::from(dtype.raw().0));
    let one = || scalar(Number::Int(1));
    let a = |rest: Vec<Told>| [vec![read.clone()], rest].concat();
    let ab = |rest: Vec<Told>| [vec![read.clone(), read.clone()], rest].concat();
    let out = || write.clone();
    let in_place = || Told::Tensor(op::Access::ReadWrite);
    let reduction = |over: Reduction| {
        let dims = (0..MAX_RANK as i64).filter(|dim| over.dims & (1 << dim) != 0).collect();
        Some(a(vec![Told::Ints(dims), Told::Number(over.keep.into()), kind(dtype(accesses.last()?)), out()]))
    };
    let mut later = Vec::new();
    let (name, told) = match *operator {
        Operator::Add => ("aclnnAdd", ab(vec![one()?, out()])),
        Operator::AddScaled { alpha } => ("aclnnAdd", ab(vec![scalar(alpha)?, out()])),
        Operator::Sub => ("aclnnSub", ab(vec![one()?, out()])),
        Operator::Mul => ("aclnnMul", ab(vec![out()])),
        Operator::Div => ("aclnnDiv", ab(vec![out()])),
        Operator::Maximum => ("aclnnMaximum", ab(vec![out()])),
        Operator::Adds { value } => ("aclnnAdds", a(vec![scalar(value)?, one()?, out()])),
        Operator::Muls { value } => ("aclnnMuls", a(vec![scalar(value)?, out()])),
        Operator::Divs { value } => ("aclnnDivs", a(vec![scalar(value)?, out()])),
        Operator::ClampMin { least } => ("aclnnClampMin", a(vec![scalar(least)?, out()])),
        Operator::Abs => ("aclnnAbs", a(vec![out()])),
        Operator::Sqrt => ("aclnnSqrt", a(vec![out()])),
        Operator::Rsqrt => ("aclnnRsqrt", a(vec![out()])),
        Operator::Tanh => ("aclnnTanh", a(vec![out()])),
        Operator::Gelu { form } => ("aclnnGeluV2", a(vec![number(form.raw()), out()])),
        Operator::Softmax { dim } => ("aclnnSoftmax", a(vec![number(dim.into()), out()])),
        Operator::LayerNorm { eps } => {
            let sizes = recipe.layout_of(accesses.get(1)?.value).dims.iter();
            let sizes: Option<Box<[i64]>> = sizes.map(|dim| Some(dim.as_fixed()? as i64)).collect();
            later.extend(sizes.is_none().then_some(1));
            let sizes = Told::Ints(sizes.unwrap_or_default());
            let (eps, none) = (Told::Number(eps.to_bits()), || Told::NoTensor);
            ("aclnnLayerNorm", a(vec![sizes, read.clone(), read.clone(), eps, out(), none(), none()]))
        }
        Operator::ReduceSum { over } => ("aclnnReduceSum", reduction(over)?),
        Operator::Mean { over } => ("aclnnMean", reduction(over)?),
        Operator::Cast { to } => ("aclnnCast", a(vec![kind(to), out()])),
        Operator::Copy => ("aclnnInplaceCopy", vec![in_place(), read.clone()]),
        Operator::Fill { value } => ("aclnnInplaceFillScalar", vec![in_place(), scalar(value)?]),
        Operator::Permute { order } => {
            let order = order.dims[..usize::from(order.rank)].iter().map(|dim| i64::from(*dim)).collect();
            ("aclnnPermute", a(vec![Told::Ints(order), out()]))
        }
        Operator::Embedding => ("aclnnEmbedding", ab(vec![out()])),
        Operator::Matmul { math } => ("aclnnMatmul", ab(vec![out(), number(math.raw().into())])),
        Operator::Mm => ("aclnnMm", ab(vec![out(), number(0)])),
        Operator::BatchMatmul => ("aclnnBatchMatMul", ab(vec![out(), number(0)])),
        Operator::Addmm => ("aclnnAddmm", [vec![read.clone()], ab(vec![one()?, one()?, out(), number(0)])].concat()),
    };
    let tensors = match operator {
        Operator::Copy => Cow::Owned(accesses.iter().rev().copied().collect()),
        _ => Cow::Borrowed(accesses),
    };
    Some(Called { name, told: Cow::Owned(told), later, tensors })
}
