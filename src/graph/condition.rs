//! Conditions: the numbers by which a graph chooses what it runs.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};

use acl_sys::{aclmdlRI, aclmdlRICaptureStatus, aclmdlRICondHandle, aclmdlRICondHandleFlag};
use bytemuck::Pod;

use crate::call::{call, non_null};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{Allocation, SharedBuffer};
use crate::stream::{CaptureState, Stream, StreamInner};

/// A number in device memory by which a graph chooses what it runs: of [`Stream::if_else`], [`Stream::repeat_while`] or
/// [`Stream::switch`], each of which takes a condition of its own.
///
/// It belongs to the graph and is read on the device when the graph gets there. Work of the same capture writes it,
/// before and inside the bodies, through [`Condition::cell`]: a copy, a fill or an operator. At each launch it is set
/// first to the number that [`Stream::condition`] was given; without one it keeps what the launch before left, and is 0
/// at the first. Nothing outside the capture reaches it, nor anything after the capture: numbers come and go by copies
/// that the graph makes. Any thread may use it; dropping it changes nothing.
///
/// Needs a library with conditional graphs, which came after CANN 9.0.
///
/// C calls: `aclmdlRICondHandleCreate`, `aclmdlRICondHandleGetCondPtr`.
///
/// # Examples
///
/// ```
/// use racl::CaptureMode;
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let mut wanted = device.upload(&[1_u64])?;
/// let mut out = device.alloc_zeroed::<u8>(4)?;
/// let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| {
///     let condition = s.condition(None)?;
///     s.copy(&wanted, &mut condition.cell()?)?; // at each launch
///     s.if_else(&condition, |s| s.fill_bytes(&mut out, 7), |_| Ok(()))
/// })?;
/// graph.launch(&stream)?;
/// assert_eq!(out.to_vec()?, [7; 4]);
///
/// wanted.write(&[0])?;
/// out.write(&[0; 4])?;
/// graph.launch(&stream)?;
/// assert_eq!(out.to_vec()?, [0; 4]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclmdlRICondHandle")]
#[doc(alias = "cudaGraphConditionalHandle")]
pub struct Condition {
    handle: aclmdlRICondHandle,
    cell: SharedBuffer<u64>,
    /// The capture that it chooses in: a body has conditions of its own.
    capture: u64,
    used: AtomicBool,
}

// SAFETY: the handle is only passed on, under the lock of a stream of its capture.
unsafe impl Send for Condition {}
// SAFETY: as above.
unsafe impl Sync for Condition {}

impl Stream {
    /// A condition for work that this stream, which captures, is given next. With `at_launch` it is that number when a
    /// launch of the graph begins, also where it stands in a body that runs many times; else see [`Condition`]. Nothing
    /// is recorded.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotCapturing`] for a stream that captures nothing; [`ErrorKind::MissingSymbol`] on a library without
    /// conditional graphs, with the release that has them; [`ErrorKind::OutOfMemory`] when the device has no room;
    /// [`ErrorKind::CaptureInvalidated`] when the capture is ending. The capture gives no graph after any of them but
    /// the first.
    #[doc(alias = "aclmdlRICondHandleCreate")]
    #[track_caller]
    pub fn condition(&self, at_launch: Option<u32>) -> Result<Condition> {
        let place = ("condition", Location::caller());
        let inner = &self.0;
        inner.check_thread()?;
        let state = inner.lock();
        let Some(capture) = state.capture.clone() else {
            drop(state);
            return Err(not_capturing("a condition", self));
        };
        capture.check_open()?;
        let free = capture.check_recorded("a condition").and_then(|()| capture.check_takes(inner, &[]));
        free.and_then(|()| Condition::make(inner, &capture, at_launch)).map_err(|error| capture.lacks(place, error))
    }
}

pub(super) fn not_capturing(what: &str, stream: &Stream) -> Error {
    Error::new(ErrorKind::NotCapturing, format!("{what} on {}, which captures nothing", stream.name()))
}

/// The graph that the stream, whose lock the caller has, records.
fn recorded(stream: &StreamInner) -> Result<aclmdlRI> {
    let mut status = aclmdlRICaptureStatus::ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    let mut raw = std::ptr::null_mut();
    // SAFETY: two places for one value each; the handle is the stream's own.
    unsafe { call!(&**stream.context(), aclmdlRICaptureGetInfo(stream.raw(), &raw mut status, &raw mut raw)) }?;
    Ok(raw)
}

impl Condition {
    fn make(stream: &StreamInner, capture: &CaptureState, at_launch: Option<u32>) -> Result<Self> {
        let (context, graph) = (&**stream.context(), recorded(stream)?);
        let flag = match at_launch {
            Some(_) => aclmdlRICondHandleFlag::ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT,
            None => aclmdlRICondHandleFlag(0),
        };
        let (mut handle, mut cell) = (std::ptr::null_mut(), std::ptr::null_mut());
        let number = at_launch.unwrap_or(0);
        // SAFETY: `handle` is a place for one; the graph is being recorded, which the stream's lock keeps it.
        unsafe { call!(context, aclmdlRICondHandleCreate(graph, number, flag, &raw mut handle)) }?;
        let handle = non_null(handle, "aclmdlRICondHandleCreate")?;
        // SAFETY: `cell` is a place for one address, and the handle was made above.
        unsafe { call!(context, aclmdlRICondHandleGetCondPtr(handle, &raw mut cell)) }?;
        let cell = non_null(cell, "aclmdlRICondHandleGetCondPtr")?;
        let root = capture.root().id();
        let memory = Allocation::of_capture(stream.context(), cell.cast(), size_of::<u64>(), root);
        let cell = SharedBuffer::within(&memory, 0, 1);
        Ok(Self { handle, cell, capture: capture.id(), used: AtomicBool::new(false) })
    }

    /// The memory of the number, 8 bytes, as elements of 8 bytes or fewer: for copies, fills and operators, as
    /// [`Tensor::over`](crate::Tensor::over) it, that the capture records. Of an `i32` or a truth value that is written
    /// to the first element the other bytes must be zero, which those of a condition with a number at each launch are.
    ///
    /// Whatever else uses it gives [`ErrorKind::InvalidArgument`]: the host, eager work, other captures and plans.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a type whose size does not divide 8 bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::{CaptureMode, Tensor, op};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut left = device.upload_tensor(&[5_i64], [1])?;
    /// let mut rounds = device.zeros::<i64>([1])?;
    /// let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| {
    ///     let condition = s.condition(Some(1))?;
    ///     let mut number = Tensor::over(condition.cell::<i64>()?, [1])?;
    ///     s.repeat_while(&condition, |s| {
    ///         op::adds_inplace(s, &mut rounds, 1_i64)?;
    ///         op::adds_inplace(s, &mut left, -1_i64)?;
    ///         op::copy(s, &left, &mut number)
    ///     })
    /// })?;
    /// graph.launch(&stream)?;
    /// assert_eq!(rounds.to_vec()?, [5]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRICondHandleGetCondPtr")]
    pub fn cell<T: Pod>(&self) -> Result<SharedBuffer<T>> {
        let (bytes, size) = (self.cell.size_bytes(), size_of::<T>());
        if size == 0 || !bytes.is_multiple_of(size) {
            return Err(Error::invalid(format!("a condition of {bytes} bytes as elements of {size}")));
        }
        Ok(SharedBuffer::within(self.cell.allocation(), 0, bytes / size))
    }

    /// The handle, for the one task of `capture` that chooses by it.
    pub(super) fn take(&self, capture: &CaptureState) -> Result<aclmdlRICondHandle> {
        if capture.id() != self.capture {
            let root = Some(capture.root().id());
            let whose = if self.cell.allocation().capture() == root {
                "another body, which can be written here, but not chosen by: make one with the stream that chooses"
            } else {
                "another capture"
            };
            return Err(Error::invalid(format!("a condition of {whose}")));
        }
        if self.used.swap(true, Ordering::AcqRel) {
            return Err(Error::invalid("a condition that was used before: each choice has one of its own"));
        }
        Ok(self.handle)
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condition").field("handle", &self.handle).field("used", &self.used).finish_non_exhaustive()
    }
}
