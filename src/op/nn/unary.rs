//! Functions of one tensor, element by element.

use std::panic::Location;

use crate::error::Result;
use crate::op::element::Numeric;
use crate::op::scalar::Scalar;
use crate::op::{Float, Tensor, operator};
use crate::stream::Stream;

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident, $bound:ident, $label:literal, $plan:ident, $launch:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        ///
        /// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when `out` has another shape.
        #[track_caller]
        pub fn $name<T: $bound>(stream: &Stream, a: &Tensor<T>, out: &mut Tensor<T>) -> Result<()> {
            let at = Location::caller();
            let (da, dout) = (a.describe()?, out.describe()?);
            operator!(stream, at, $label, $plan(da.raw(), dout.raw()), $launch, [a, out])
        }
    )*};
}

unary! {
    /// `out = |a|`.
    #[doc(alias = "aclnnAbs")]
    abs, Numeric, "abs", aclnnAbsGetWorkspaceSize, aclnnAbs;
    /// `out = √a`.
    #[doc(alias = "aclnnSqrt")]
    sqrt, Float, "sqrt", aclnnSqrtGetWorkspaceSize, aclnnSqrt;
    /// `out = 1 / √a`.
    #[doc(alias = "aclnnRsqrt")]
    rsqrt, Float, "rsqrt", aclnnRsqrtGetWorkspaceSize, aclnnRsqrt;
    /// `out = tanh a`.
    #[doc(alias = "aclnnTanh")]
    tanh, Float, "tanh", aclnnTanhGetWorkspaceSize, aclnnTanh;
}

/// `out = max(a, least)`.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when `out` has another shape.
#[doc(alias = "aclnnClampMin")]
#[track_caller]
pub fn clamp_min<T: Numeric>(stream: &Stream, a: &Tensor<T>, least: T, out: &mut Tensor<T>) -> Result<()> {
    let at = Location::caller();
    let (da, dout) = (a.describe()?, out.describe()?);
    let least = Scalar::new(stream.0.context(), least)?;
    operator!(
        stream,
        at,
        "clamp_min",
        aclnnClampMinGetWorkspaceSize(da.raw(), least.raw(), dout.raw()),
        aclnnClampMin,
        [a, out]
    )
}
