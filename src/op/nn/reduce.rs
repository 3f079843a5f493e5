//! Reductions over dimensions.

use std::panic::Location;

use crate::error::Result;
use crate::op::argument::{input, output};
use crate::op::element::Float;
use crate::op::{Target, Tensor, View, operator};
use crate::stream::Stream;

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident, $view:ident, $label:literal, $plan:ident, $launch:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name<T: Float>(
            stream: &Stream,
            a: &Tensor<T>,
            dims: &[i64],
            keep_dims: bool,
            out: &mut Tensor<T>,
        ) -> Result<()> {
            $view(stream, [&a.view(), &out.view()], dims, keep_dims, Location::caller())
        }

        pub(crate) fn $view(
            target: impl Target,
            [a, out]: [&View<'_>; 2],
            dims: &[i64],
            keep_dims: bool,
            at: &'static Location<'static>,
        ) -> Result<()> {
            let kind = out.dtype.raw();
            operator!(
                target,
                at,
                $label,
                $plan(input(a), dims, keep_dims, kind, output(out)),
                $launch
        )
        }
    )*};
}

reductions! {
    /// Sum over dimensions.
    ///
    /// `dims` are the dimensions that go away, negative ones counted from the end, none for all of them; with
    /// `keep_dims` they stay with size 1. `out` has the shape that is left and shares no memory with `a`. Types: f32,
    /// f16 and bf16.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) for a dimension that `a` does not have or
    /// that is named twice, or when `out` has another shape; those of [every operator](crate::op#errors).
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
    /// let mut rows = device.zeros([2])?;
    /// op::reduce_sum(&stream, &a, &[-1], false, &mut rows)?;
    /// assert_eq!(rows.to_vec()?, [6.0, 15.0]);
    ///
    /// let mut all = device.zeros([])?;
    /// op::reduce_sum(&stream, &a, &[], false, &mut all)?;
    /// assert_eq!(all.to_vec()?, [21.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnReduceSum")]
    reduce_sum, reduce_sum_at, "reduce_sum", aclnnReduceSumGetWorkspaceSize, aclnnReduceSum;
    /// Mean over dimensions.
    ///
    /// Shapes, types and memory as for [`reduce_sum`].
    ///
    /// # Errors
    ///
    /// As [`reduce_sum`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 5.0], [2, 2])?;
    /// let mut columns = device.zeros([1, 2])?;
    /// op::mean(&stream, &a, &[0], true, &mut columns)?;
    /// assert_eq!(columns.to_vec()?, [2.0, 3.5]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnMean")]
    mean, mean_at, "mean", aclnnMeanGetWorkspaceSize, aclnnMean;
}
