//! What the functions of [`op`](crate::op) with fixed types work on: tensors where a stream takes them, values where
//! the builder of a plan does.

use std::fmt::Debug;
use std::panic::Location;

use super::element::{DataType, Element, Float, Index, Numeric};
use super::operand::{self, Destination, Operand, Place, Probe, Record, Sizes, Submit, Token};
use super::scalar::Scalar;
use super::tensor::Tensor;
use crate::error::{Error, Result};
use crate::stream::Stream;

// Public in a private module: traits of this crate alone.
#[allow(unreachable_pub)]
mod sealed {
    use super::{DataType, Operand, Result, Scalar, Submit};

    pub trait Kind: Sized {
        type Given;

        /// The number as the library takes it beside `like`.
        #[track_caller]
        fn scalar(number: Self::Given, on: &dyn Submit, like: &dyn Operand) -> Result<Scalar>;

        /// The type of the elements of `like`.
        #[track_caller]
        fn dtype(on: &dyn Submit, like: &dyn Operand) -> Result<DataType>;
    }

    pub trait Counted: Kind {
        #[track_caller]
        fn one(on: &dyn Submit, like: &dyn Operand) -> Result<Scalar>;
    }
}
pub(crate) use sealed::{Counted, Kind};

/// What the elements of operands are: an [`Element`] of tensors, or [`Planned`](crate::plan::Planned) of the values of
/// a plan, whose types are known when it is recorded.
///
/// A function with such a parameter takes tensors with a stream, and values with the builder of a plan; the compiler
/// tells the two apart by the operands.
pub trait Elements: Kind<Given = Self::Number> + Debug + 'static {
    /// An operand: a [`Tensor`], or a [`Value`](crate::plan::Value).
    type Operand: Of<Self> + Debug;
    /// A result: a [`Tensor`], or one that the plan makes ([`Inferred`](crate::plan::Inferred)).
    type Out: Of<Self> + Debug;
    /// A number beside operands: an element, or a [`Number`](crate::plan::Number) that becomes one.
    type Number: Copy + Debug;
    /// What other operands of the same call are, where they have this type.
    type As<U: Element>: Elements;
}

/// [`Elements`] that arithmetic takes: f32, f16, bf16, i32 and i64, and what a plan decides.
pub trait Numerics: Elements + Counted {}

/// [`Elements`] that neural-network operators take: f32, f16 and bf16, and what a plan decides.
pub trait Floats: Numerics {}

/// [`Elements`] that are indices: i32 and i64, and what a plan decides.
pub trait Indices: Numerics {}

impl<T: Element> Kind for T {
    type Given = T;

    #[inline]
    fn scalar(number: T, _: &dyn Submit, _: &dyn Operand) -> Result<Scalar> {
        Ok(Scalar::from(number))
    }

    #[inline]
    fn dtype(_: &dyn Submit, _: &dyn Operand) -> Result<DataType> {
        Ok(T::TYPE)
    }
}

impl<T: Numeric> Counted for T {
    #[inline]
    fn one(_: &dyn Submit, _: &dyn Operand) -> Result<Scalar> {
        Ok(Scalar::from(T::ONE))
    }
}

impl<T: Element> Elements for T {
    type Operand = Tensor<T>;
    type Out = Tensor<T>;
    type Number = T;
    type As<U: Element> = U;
}

impl<T: Numeric> Numerics for T {}
impl<T: Float> Floats for T {}
impl<T: Index> Indices for T {}

/// An operand of a function with fixed types: a [`Tensor`] of `T`, or with [`Planned`](crate::plan::Planned) a
/// [`Value`](crate::plan::Value) or an [`Inferred`](crate::plan::Inferred).
pub trait Of<T: Elements>: Operand {}

impl<T: Element> Of<T> for Tensor<T> {}

/// What takes operators on such operands: a [`Stream`] or a [`Probe`] tensors, the [`Builder`](crate::plan::Builder) of
/// a plan its values.
pub trait On<T: Elements>: Submit {}

impl<T: Element> On<T> for Stream {}
impl<T: Element> On<T> for Probe {}

/// What records operators, and what stands for an operand of theirs.
#[track_caller]
pub(crate) fn recorder<'a>(on: &'a dyn Submit, operand: &dyn Operand) -> Result<(&'a dyn Record, Token)> {
    match (on.place(), operand.token()) {
        (Place::Recorder(recorder), Some(token)) => Ok((recorder, token)),
        (Place::Recorder(recorder), None) => {
            let text =
                "a result to be inferred whose type and sizes the operator is told: Builder::empty declares one";
            Err(recorder.refuse(text.into(), Location::caller()))
        }
        _ => Err(Error::invalid("values of a plan with something else than its builder")),
    }
}

/// Where an operator goes that is told sizes as numbers, which in a plan may depend on symbols.
pub(super) struct Told<'a> {
    on: &'a dyn Submit,
    telling: Option<Box<dyn Record + 'a>>,
}

impl Destination for Told<'_> {
    fn place(&self) -> Place<'_> {
        self.telling.as_deref().map_or_else(|| self.on.place(), Place::Recorder)
    }
}

/// Sizes of an operand for parameters of an operator, what the call says of them, and where it goes.
#[track_caller]
pub(super) fn told<'a, const N: usize>(
    on: &'a dyn Submit,
    operand: &dyn Operand,
    parameters: [(&str, Sizes); N],
) -> Result<(Told<'a>, [i64; N])> {
    let mut numbers = [0; N];
    let mut telling = None;
    match on.place() {
        Place::Recorder(_) => {
            let (recorder, token) = recorder(on, operand)?;
            let (other, lists) = recorder.tells(token, &parameters, Location::caller())?;
            let firsts = lists.iter().map(|list| list.first().copied().unwrap_or(0));
            numbers.iter_mut().zip(firsts).for_each(|(number, first)| *number = first);
            telling = other;
        }
        _ => {
            let dims = &operand::memory(operand)?.dims;
            let product = |sizes: &[usize]| match sizes.contains(&0) {
                true => 0,
                false => sizes.iter().fold(1, |all: i64, size| all.saturating_mul(*size as i64)),
            };
            for (number, (_, sizes)) in numbers.iter_mut().zip(parameters) {
                *number = match sizes {
                    Sizes::All => dims.first().map_or(0, |size| *size as i64),
                    Sizes::Of(dim) => dims.get(dim).map_or(0, |size| *size as i64),
                    Sizes::From(dim) => product(dims.get(dim..).unwrap_or_default()),
                    Sizes::Times(times) => times.saturating_mul(product(dims)),
                };
            }
        }
    }
    Ok((Told { on, telling }, numbers))
}

/// The same of all sizes, for a parameter that takes a list.
#[track_caller]
pub(super) fn told_all<'a>(
    on: &'a dyn Submit,
    operand: &dyn Operand,
    parameter: &str,
) -> Result<(Told<'a>, Vec<i64>)> {
    match on.place() {
        Place::Recorder(_) => {
            let (recorder, token) = recorder(on, operand)?;
            let (telling, lists) = recorder.tells(token, &[(parameter, Sizes::All)], Location::caller())?;
            Ok((Told { on, telling }, lists.into_iter().flatten().collect()))
        }
        _ => {
            let sizes = operand::memory(operand)?.dims.iter().map(|size| *size as i64).collect();
            Ok((Told { on, telling: None }, sizes))
        }
    }
}

/// One size of an operand; 0 where it has no such dimension. The others may depend on symbols.
#[track_caller]
pub(super) fn size(on: &dyn Submit, operand: &dyn Operand, dim: usize) -> Result<i64> {
    match on.place() {
        Place::Recorder(_) => {
            let (recorder, token) = recorder(on, operand)?;
            recorder.size(token, dim, Location::caller())
        }
        _ => Ok(operand::memory(operand)?.dims.get(dim).map_or(0, |size| *size as i64)),
    }
}
