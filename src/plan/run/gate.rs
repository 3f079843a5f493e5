//! Gates: words of device memory that one side waits for and the other writes.
//!
//! A wait takes the signal: it waits for 1 and writes 0 (guide: stream management, aclrtValueWait and
//! aclrtValueWrite).

use std::panic::Location;
use std::sync::Arc;

use acl_sys::aclrtMemcpyKind;

use crate::call::call;
use crate::context::ContextInner;
use crate::error::Result;
use crate::lock::say;
use crate::memory::Touch;
use crate::stream::{Stream, Task};

use super::piece::Piece;

/// Bytes for one gate, of which the runtime uses the first eight.
const STRIDE: usize = 32;

#[derive(Debug, Clone)]
pub(crate) struct Gates(Piece);

impl Gates {
    /// So many gates, all closed.
    pub(crate) fn new(context: &Arc<ContextInner>, count: usize) -> Result<Self> {
        let piece = Piece::new(context, (count.max(1) * STRIDE) as u64)?;
        piece.buffer().write(&vec![0; piece.bytes])?;
        Ok(Self(piece))
    }

    /// Closes every gate when `stream` gets there.
    pub(crate) fn close(&self, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        self.0.fill(stream, 0, location)
    }

    /// Makes `stream` wait for a signal and take it.
    pub(crate) fn wait(&self, gate: usize, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        let address = self.0.address().wrapping_byte_add(gate * STRIDE);
        let task = Task { label: "gate", location, uses: &[Touch::kept(&self.0.allocation)], scratch: None };
        stream.0.submit(&task, |raw| {
            let flag = acl_sys::ACL_VALUE_WAIT_EQ;
            // SAFETY: the address is that of eight aligned bytes of device memory, registered with the stream.
            unsafe { call!(&**stream.0.context(), aclrtValueWait(address, 1, flag, raw)) }
        })?;
        self.write(gate, 0, stream, location)
    }

    /// Gives a signal when `stream` gets there. A failure is told, but tried again first: what waits for it would
    /// wait for ever.
    pub(crate) fn signal(&self, gate: usize, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        self.write(gate, 1, stream, location)
    }

    fn write(&self, gate: usize, value: u64, stream: &Stream, at: &'static Location<'static>) -> Result<()> {
        let address = self.0.address().wrapping_byte_add(gate * STRIDE);
        let task = Task { label: "gate", location: at, uses: &[Touch::kept(&self.0.allocation)], scratch: None };
        let write = || {
            stream.0.submit(&task, |raw| {
                // SAFETY: as in `wait`.
                unsafe { call!(&**stream.0.context(), aclrtValueWrite(address, value, 0, raw)) }
            })
        };
        let first = write();
        if first.is_err()
            && !stream.is_capturing()
            && let Err(again) = write()
        {
            say!(Debug, "a gate keeps its value, also after a second try: {again}");
        }
        first.map(drop)
    }

    /// As [`Gates::signal`], and from the host when that fails twice: once the work of `stream` is done, which must
    /// not depend on other signals.
    pub(crate) fn open(&self, gate: usize, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        let address = self.0.address().wrapping_byte_add(gate * STRIDE);
        let task = Task { label: "gate", location, uses: &[Touch::kept(&self.0.allocation)], scratch: None };
        let write = || {
            stream.0.submit(&task, |raw| {
                // SAFETY: as in `wait`.
                unsafe { call!(&**stream.0.context(), aclrtValueWrite(address, 1, 0, raw)) }
            })
        };
        let first = write();
        if first.is_err() && write().is_err() {
            let waited = stream.synchronize();
            tell_shut(waited.and(self.copy_signal(gate, stream)));
        }
        first.map(drop)
    }

    /// Gives a signal unless there is one, and tells whether it did. Done on return: `control` is a stream that
    /// nothing holds up.
    pub(crate) fn open_if_shut(&self, gate: usize, control: &Stream) -> bool {
        self.value(gate, control) != Some(1) && self.set(gate, 1, control)
    }

    /// Takes a signal if there is one, and tells whether it did. Done on return, as [`Gates::open_if_shut`].
    pub(crate) fn shut_if_open(&self, gate: usize, control: &Stream) -> bool {
        self.value(gate, control) == Some(1) && self.set(gate, 0, control)
    }

    /// As [`Gates::open_if_shut`], from the host alone: where no stream can be relied on.
    pub(crate) fn open_from_host(&self, gate: usize, control: &Stream) {
        if self.value(gate, control) != Some(1) {
            tell_shut(self.copy_signal(gate, control));
        }
    }

    /// Writes the signal from the host, without a stream.
    fn copy_signal(&self, gate: usize, stream: &Stream) -> Result<()> {
        let address = self.0.address().wrapping_byte_add(gate * STRIDE);
        let (value, size, kind) = (1_u64, size_of::<u64>(), aclrtMemcpyKind::ACL_MEMCPY_HOST_TO_DEVICE);
        let from = (&raw const value).cast();
        // SAFETY: both sides have eight bytes; the work that waits for them reads whole words.
        unsafe { call!(&**stream.0.context(), aclrtMemcpy(address, size, from, size, kind)) }
    }

    fn set(&self, gate: usize, value: u64, control: &Stream) -> bool {
        let done = self.write(gate, value, control, Location::caller()).and_then(|()| control.synchronize());
        done.map_err(|error| say!(Warn, "a gate keeps its value: {error:#}")).is_ok()
    }

    /// The value now; none when a capture of another thread keeps it from being read.
    fn value(&self, gate: usize, control: &Stream) -> Option<u64> {
        let from = self.0.address().wrapping_byte_add(gate * STRIDE);
        let (mut value, size, kind) = (0_u64, size_of::<u64>(), aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_HOST);
        let to = (&raw mut value).cast();
        // SAFETY: both sides have eight bytes; the device changes whole words.
        let read = unsafe { call!(&**control.0.context(), aclrtMemcpy(to, size, from, size, kind)) };
        read.map_err(|error| say!(Debug, "a gate that cannot be read: {error:#}")).ok().map(|()| value)
    }
}

fn tell_shut(opened: Result<()>) {
    if let Err(error) = opened {
        say!(Warn, "a gate of a graph that waits for it could not be opened: {error}");
    }
}
