//! Memory for the work of one stream.

use bytemuck::Pod;

use super::{Allocation, DeviceBuffer};
use crate::error::Result;
use crate::memory::device_buffer::byte_len;
use crate::stream::Stream;

impl Stream {
    /// Device memory for `len` elements that work of this stream is to use, its content undefined. As
    /// [`Context::alloc`](crate::Context::alloc), but memory that was given up may be had before work of this stream
    /// that still uses it is done: later work of the stream runs behind that anyway, and the host waits for it. When
    /// memory is short, it may be what another stream of the context gave up: later work of this stream waits on the
    /// device for the work that still uses it, which therefore must not wait for this stream in a host function. Not
    /// so inside of [`untracked`](crate::untracked), nor for work behind
    /// [a gate of a plan](crate::plan::External); then the host waits, as long as [a drop does](crate::set_drop_limit).
    ///
    /// Work of another stream on this memory, or of a graph that another stream launches, is ordered behind what this
    /// stream was given before, as for all memory that two streams use
    /// ([order between streams](crate::Stream#order-between-streams)). While the stream captures, memory comes from the
    /// [pool](crate::GraphPool) of the capture, and its graph keeps it; what was given up, and what only work of this
    /// stream in the capture used, not the host, is for later work of this stream there.
    ///
    /// # Errors
    ///
    /// As [`Context::alloc`](crate::Context::alloc).
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// for step in 0..100 {
    ///     let mut scratch = stream.alloc::<u8>(4096)?; // the same memory each time, without a wait
    ///     stream.fill_bytes(&mut scratch, step)?;
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMalloc")]
    #[track_caller]
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        self.0.check_thread()?;
        let bytes = byte_len::<T>(len)?;
        let capture = self.0.lock().capture.clone();
        let Some(capture) = capture else {
            return Ok(DeviceBuffer::over(self.0.allocate_for_all(self.0.context(), bytes)?, len));
        };
        if let Some(again) = capture.again(&self.0, bytes) {
            return Ok(DeviceBuffer::over(again, len));
        }
        // A graph runs when it is launched, in no order with the work of this stream so far.
        let made = Allocation::new(self.0.context(), bytes)?;
        capture.made(&self.0, &made);
        Ok(DeviceBuffer::over(made, len))
    }
}
