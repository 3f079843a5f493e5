//! Pinned buffers inside a graph: how the host reaches them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bytemuck::Pod;

use super::captured::Graph;
use crate::error::{Error, Result};
use crate::memory::{Lent, PinnedBuffer};

/// A pinned buffer of a graph, lent to the host by [`Graph::host`]. It reads and writes like a slice; the graph
/// cannot be launched meanwhile.
pub struct HostView<'a, T: Pod> {
    buffer: &'a mut PinnedBuffer<T>,
    graph: PhantomData<&'a mut Graph>,
}

impl Graph {
    /// The pinned buffer that moved into this graph when a copy with it was recorded: waits for the last launch, then
    /// lends it. What is written there is what the next launch copies; after a download it holds what the last launch
    /// copied.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a buffer of another graph or of none;
    /// those of [`Graph::wait`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::CaptureMode;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let mut buffer = device.alloc::<u32>(2)?;
    /// let capture = stream.begin_capture(CaptureMode::ThreadLocal)?;
    /// let input = capture.stream().upload(device.pinned(2)?, &mut buffer)?;
    /// let mut graph = capture.finish()?;
    ///
    /// graph.host(&input)?.copy_from_slice(&[3, 4]);
    /// graph.launch(&stream)?;
    /// assert_eq!(buffer.to_vec()?, [3, 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn host<T: Pod + Send>(&mut self, buffer: &Lent<T>) -> Result<HostView<'_, T>> {
        let index = buffer.slot().filter(|_| self.has(buffer)).map(|slot| slot.index);
        let index = index.ok_or_else(|| Error::invalid("the buffer does not belong to this graph"))?;
        self.wait()?;
        let held = self.keep.host_buffers.get_mut(index).and_then(|held| held.downcast_mut::<PinnedBuffer<T>>());
        let buffer = held.ok_or_else(|| Error::invalid("the graph does not hold the buffer"))?;
        Ok(HostView { buffer, graph: PhantomData })
    }

    /// Whether the buffer moved into this graph.
    pub(crate) fn has<T: Pod>(&self, buffer: &Lent<T>) -> bool {
        buffer.slot().is_some_and(|slot| slot.capture == self.capture_id())
    }
}

impl<T: Pod> Deref for HostView<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.buffer
    }
}

impl<T: Pod> DerefMut for HostView<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.buffer
    }
}

impl<T: Pod> fmt::Debug for HostView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HostView").field(&self.buffer).finish()
    }
}
