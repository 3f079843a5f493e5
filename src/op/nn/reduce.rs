//! Reductions over dimensions.

use crate::error::Result;
use crate::op::{Floats, Of, On, aclnn};

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name<T: Floats>(
            on: &impl On<T>,
            a: &impl Of<T>,
            dims: &[i64],
            keep_dims: bool,
            out: &mut impl Of<T>,
        ) -> Result<()> {
            aclnn::$name(on, a, dims, keep_dims, T::dtype(on, a)?, out)
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
    reduce_sum;
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
    mean;
}
