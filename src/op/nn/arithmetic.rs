//! Arithmetic of two operands, which are broadcast to the shape of the result.

use std::panic::Location;

use acl_sys::aclScalar;

use crate::error::Result;
use crate::op::element::Numeric;
use crate::op::scalar::Scalar;
use crate::op::{Tensor, operator};
use crate::stream::Stream;

/// `out = a + b`.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when the shapes cannot be broadcast to that of
/// `out`.
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[1.0_f32, 2.0], [2])?;
/// let mut out = device.zeros([2])?;
/// op::add(&stream, &a, &a, &mut out)?;
/// assert_eq!(out.to_vec()?, [2.0, 4.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnAdd")]
#[track_caller]
pub fn add<T: Numeric>(stream: &Stream, a: &Tensor<T>, b: &Tensor<T>, out: &mut Tensor<T>) -> Result<()> {
    add_at(stream, a, b, one::<T>(stream)?, out, Location::caller())
}

/// `out = a + alpha · b`.
///
/// # Errors
///
/// As [`add`].
#[doc(alias = "aclnnAdd")]
#[track_caller]
pub fn add_scaled<T: Numeric>(
    stream: &Stream,
    a: &Tensor<T>,
    b: &Tensor<T>,
    alpha: T,
    out: &mut Tensor<T>,
) -> Result<()> {
    let alpha = Scalar::new(stream.0.context(), alpha)?;
    add_at(stream, a, b, alpha.raw(), out, Location::caller())
}

/// The factor one.
fn one<T: Numeric>(stream: &Stream) -> Result<*const aclScalar> {
    let context = stream.0.context();
    context.ones.get::<T>(context)
}

fn add_at<T: Numeric>(
    stream: &Stream,
    a: &Tensor<T>,
    b: &Tensor<T>,
    alpha: *const aclScalar,
    out: &Tensor<T>,
    at: &'static Location<'static>,
) -> Result<()> {
    let (da, db, dout) = (a.describe()?, b.describe()?, out.describe()?);
    operator!(
        stream,
        at,
        "add",
        aclnnAddGetWorkspaceSize(da.raw(), db.raw(), alpha, dout.raw()),
        aclnnAdd,
        [a, b, out]
    )
}

/// `a += b`.
///
/// # Errors
///
/// As [`add`].
#[doc(alias = "aclnnInplaceAdd")]
#[track_caller]
pub fn add_inplace<T: Numeric>(stream: &Stream, a: &mut Tensor<T>, b: &Tensor<T>) -> Result<()> {
    let at = Location::caller();
    let (da, db) = (a.describe()?, b.describe()?);
    let alpha = one::<T>(stream)?;
    operator!(
        stream,
        at,
        "add_inplace",
        aclnnInplaceAddGetWorkspaceSize(da.raw(), db.raw(), alpha),
        aclnnInplaceAdd,
        [a, b]
    )
}

/// `out = a + value`.
///
/// # Errors
///
/// As [`add`].
#[doc(alias = "aclnnAdds")]
#[track_caller]
pub fn adds<T: Numeric>(stream: &Stream, a: &Tensor<T>, value: T, out: &mut Tensor<T>) -> Result<()> {
    let at = Location::caller();
    let (da, dout) = (a.describe()?, out.describe()?);
    let context = stream.0.context();
    let (value, alpha) = (Scalar::new(context, value)?, one::<T>(stream)?);
    operator!(
        stream,
        at,
        "adds",
        aclnnAddsGetWorkspaceSize(da.raw(), value.raw(), alpha, dout.raw()),
        aclnnAdds,
        [a, out]
    )
}

/// `out = a − b`.
///
/// # Errors
///
/// As [`add`].
#[doc(alias = "aclnnSub")]
#[track_caller]
pub fn sub<T: Numeric>(stream: &Stream, a: &Tensor<T>, b: &Tensor<T>, out: &mut Tensor<T>) -> Result<()> {
    let at = Location::caller();
    let (da, db, dout) = (a.describe()?, b.describe()?, out.describe()?);
    let alpha = one::<T>(stream)?;
    operator!(
        stream,
        at,
        "sub",
        aclnnSubGetWorkspaceSize(da.raw(), db.raw(), alpha, dout.raw()),
        aclnnSub,
        [a, b, out]
    )
}

/// Operators of two tensors.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident, $label:literal, $plan:ident, $launch:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        ///
        /// As [`add`].
        #[track_caller]
        pub fn $name<T: Numeric>(stream: &Stream, a: &Tensor<T>, b: &Tensor<T>, out: &mut Tensor<T>) -> Result<()> {
            let at = Location::caller();
            let (da, db, dout) = (a.describe()?, b.describe()?, out.describe()?);
            operator!(stream, at, $label, $plan(da.raw(), db.raw(), dout.raw()), $launch, [a, b, out])
        }
    )*};
}

binary! {
    /// `out = a · b`, element by element.
    #[doc(alias = "aclnnMul")]
    mul, "mul", aclnnMulGetWorkspaceSize, aclnnMul;
    /// `out = a / b`, element by element.
    #[doc(alias = "aclnnDiv")]
    div, "div", aclnnDivGetWorkspaceSize, aclnnDiv;
    /// The larger of `a` and `b`, element by element.
    #[doc(alias = "aclnnMaximum")]
    maximum, "maximum", aclnnMaximumGetWorkspaceSize, aclnnMaximum;
}

/// `a *= b`, element by element.
///
/// # Errors
///
/// As [`add`].
#[doc(alias = "aclnnInplaceMul")]
#[track_caller]
pub fn mul_inplace<T: Numeric>(stream: &Stream, a: &mut Tensor<T>, b: &Tensor<T>) -> Result<()> {
    let at = Location::caller();
    let (da, db) = (a.describe()?, b.describe()?);
    operator!(stream, at, "mul_inplace", aclnnInplaceMulGetWorkspaceSize(da.raw(), db.raw()), aclnnInplaceMul, [a, b])
}

/// `out = a · value`.
///
/// # Errors
///
/// As [`add`].
#[doc(alias = "aclnnMuls")]
#[track_caller]
pub fn muls<T: Numeric>(stream: &Stream, a: &Tensor<T>, value: T, out: &mut Tensor<T>) -> Result<()> {
    let at = Location::caller();
    let (da, dout) = (a.describe()?, out.describe()?);
    let value = Scalar::new(stream.0.context(), value)?;
    operator!(stream, at, "muls", aclnnMulsGetWorkspaceSize(da.raw(), value.raw(), dout.raw()), aclnnMuls, [a, out])
}

/// `out = a / value`.
///
/// # Errors
///
/// As [`add`].
#[doc(alias = "aclnnDivs")]
#[track_caller]
pub fn divs<T: Numeric>(stream: &Stream, a: &Tensor<T>, value: T, out: &mut Tensor<T>) -> Result<()> {
    let at = Location::caller();
    let (da, dout) = (a.describe()?, out.describe()?);
    let value = Scalar::new(stream.0.context(), value)?;
    operator!(stream, at, "divs", aclnnDivsGetWorkspaceSize(da.raw(), value.raw(), dout.raw()), aclnnDivs, [a, out])
}
