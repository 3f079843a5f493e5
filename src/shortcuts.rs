//! What a program asks of a device all the time, and its primary context does.

use std::time::Duration;

use bytemuck::Pod;

use crate::context::Context;
use crate::device::Device;
use crate::error::{Refused, Result};
use crate::event::{Event, TimingEvent};
use crate::memory::{DeviceBuffer, PinnedBuffer};
use crate::op::tensor::Tensor;
use crate::op::{Element, IntoShape};
use crate::stream::{Stream, StreamOptions};

/// `fn name<T: Bound>(parameters) -> what;` of [`Context`], for the primary one.
macro_rules! of_the_primary_context {
    ($($name:ident$(<$t:ident: $bound:ident>)?($($p:ident: $kind:ty),*) -> $what:ty;)*) => {
        impl Device {$(
            #[doc = concat!("[`Context::", stringify!($name), "`] of the primary context.")]
            ///
            /// # Errors
            ///
            #[doc = concat!("As [`Context::", stringify!($name), "`].")]
            #[track_caller]
            pub fn $name$(<$t: $bound>)?(&self, $($p: $kind),*) -> Result<$what> {
                Context::$name(self.context(), $($p),*)
            }
        )*}
    };
}

of_the_primary_context! {
    stream() -> Stream;
    stream_with(options: StreamOptions) -> Stream;
    default_stream() -> Stream;
    event() -> Event;
    timing_event() -> TimingEvent;
    synchronize() -> ();
    alloc<T: Pod>(len: usize) -> DeviceBuffer<T>;
    alloc_zeroed<T: Pod>(len: usize) -> DeviceBuffer<T>;
    upload<T: Pod>(data: &[T]) -> DeviceBuffer<T>;
    pinned<T: Pod>(len: usize) -> PinnedBuffer<T>;
    pinned_from<T: Pod>(data: &[T]) -> PinnedBuffer<T>;
    empty<T: Element>(shape: impl IntoShape) -> Tensor<T>;
    zeros<T: Element>(shape: impl IntoShape) -> Tensor<T>;
    upload_tensor<T: Element>(data: &[T], shape: impl IntoShape) -> Tensor<T>;
    memory_info() -> (usize, usize);
    abort_device(limit: Duration) -> ();
}

impl Device {
    /// As [`Context::pin`](crate::Context::pin), of the primary context.
    ///
    /// # Errors
    ///
    /// As there.
    #[inline]
    pub fn pin<T: Pod>(&self, vector: Vec<T>) -> Result<PinnedBuffer<T>, Refused<Vec<T>>> {
        self.context().pin(vector)
    }
}
