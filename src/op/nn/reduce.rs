//! Reductions over dimensions.

use std::panic::Location;

use crate::error::Result;
use crate::op::element::Float;
use crate::op::scalar::IntArray;
use crate::op::{Tensor, operator};
use crate::stream::Stream;

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident, $label:literal, $plan:ident, $launch:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// `dims` are the dimensions that go away, negative ones counted from the end, none for all of them; with
        /// `keep_dims` they stay with size 1.
        ///
        /// # Errors
        ///
        /// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) for a dimension that `a` does not have,
        /// or a shape of `out` that does not fit.
        #[track_caller]
        pub fn $name<T: Float>(
            stream: &Stream,
            a: &Tensor<T>,
            dims: &[i64],
            keep_dims: bool,
            out: &mut Tensor<T>,
        ) -> Result<()> {
            let at = Location::caller();
            let (da, dout) = (a.describe()?, out.describe()?);
            let dims = IntArray::new(stream.0.context(), dims)?;
            let kind = T::TYPE.raw();
            operator!(
                stream, at, $label, $plan(da.raw(), dims.raw(), keep_dims, kind, dout.raw()), $launch, [a, out]
            )
        }
    )*};
}

reductions! {
    /// Sum over dimensions.
    #[doc(alias = "aclnnReduceSum")]
    reduce_sum, "reduce_sum", aclnnReduceSumGetWorkspaceSize, aclnnReduceSum;
    /// Mean over dimensions.
    #[doc(alias = "aclnnMean")]
    mean, "mean", aclnnMeanGetWorkspaceSize, aclnnMean;
}
