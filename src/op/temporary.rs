//! Tensors for the work of one stream.

use super::{Element, IntoShape, Tensor};
use crate::error::Result;
use crate::stream::Stream;

impl Stream {
    /// A dense tensor that work of this stream is to use, its content undefined. As
    /// [`Context::empty`](crate::Context::empty), with memory as of [`Stream::alloc`]: in a loop it is the same each
    /// time, without a wait.
    ///
    /// # Errors
    ///
    /// As [`Stream::alloc`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut sum = device.zeros::<f32>([2])?;
    /// for step in 0..100 {
    ///     let mut term = stream.empty::<f32>([2])?;
    ///     op::fill(&stream, &mut term, step as f32)?;
    ///     op::add_inplace(&stream, &mut sum, &term)?;
    /// }
    /// assert_eq!(sum.to_vec()?, [4950.0; 2]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMalloc")]
    #[track_caller]
    pub fn empty<T: Element>(&self, shape: impl IntoShape) -> Result<Tensor<T>> {
        let shape = shape.into_shape()?;
        Tensor::over(self.alloc(shape.elements())?, shape)
    }

    /// As [`Stream::empty`], of zeros, which the stream writes: does not wait for them. In a capture the graph does so
    /// at each launch.
    ///
    /// # Errors
    ///
    /// As [`Stream::alloc`] and [`Stream::fill_bytes`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let one = device.upload_tensor(&[1.0_f32; 4], [4])?;
    /// let mut sum = stream.zeros::<f32>([4])?;
    /// op::add_inplace(&stream, &mut sum, &one)?;
    /// assert_eq!(sum.to_vec()?, [1.0; 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemsetAsync")]
    #[track_caller]
    pub fn zeros<T: Element>(&self, shape: impl IntoShape) -> Result<Tensor<T>> {
        let shape = shape.into_shape()?;
        let mut buffer = self.alloc::<T>(shape.elements())?;
        self.fill_bytes(&mut buffer, 0)?;
        Tensor::over(buffer, shape)
    }
}
