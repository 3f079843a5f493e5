//! Gates: words of device memory that one side waits for and the other writes.
//!
//! A wait takes the signal: it waits for 1 and writes 0 (guide: stream management, aclrtValueWait and aclrtValueWrite).
//! Releases up to CANN 8.3 have no waits for values. With those each gate is an event of the kind that graphs and work
//! beside them share: a signal records it, a wait waits for it and resets it (guide: captured graphs, task update,
//! ACL_EVENT_EXTERNAL). Such an event cannot be asked, so its word is written all the same, one byte pattern for each
//! state, for whoever looks from the host.

use std::panic::Location;
use std::sync::Arc;
use std::time::Instant;

use acl_sys::{aclrtEvent, aclrtMemcpyKind, aclrtStream};

use crate::call::{Caller as _, call};
use crate::context::{ContextInner, RawEvent};
use crate::error::Result;
use crate::lock::say;
use crate::memory::Touch;
use crate::retire;
use crate::stream::{Stream, Task};

use super::piece::Piece;

/// Bytes for one gate, of which the runtime uses the first eight.
const STRIDE: usize = 32;

/// What became of the value of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    Not,
    Done,
    /// It is queued, in order with all later ones, and counts.
    Late,
}

/// What each byte of the word of an open gate is where gates are events.
const OPEN: u8 = 1;

#[derive(Clone)]
pub(crate) struct Gates {
    words: Piece,
    /// Where the library has no waits for values.
    events: Option<Arc<[RawEvent]>>,
}

impl Gates {
    /// So many gates, all closed.
    pub(crate) fn new(context: &Arc<ContextInner>, count: usize) -> Result<Self> {
        let words = Piece::new(context, (count.max(1) * STRIDE) as u64)?;
        words.buffer().write(&vec![0; words.bytes])?;
        let events = (!has_values(context)).then(|| (0..count).map(|_| external(context)).collect::<Result<_>>());
        Ok(Self { words, events: events.transpose()? })
    }

    /// The event of a gate, where gates are events.
    fn event(&self, gate: usize) -> Option<aclrtEvent> {
        self.events.as_ref().map(|events| events[gate].raw())
    }

    /// Closes every gate when `stream` gets there.
    pub(crate) fn close(&self, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        for gate in 0..self.events.as_ref().map_or(0, |events| events.len()) {
            self.reset(gate, stream, location)?;
        }
        self.words.fill(stream, 0, location)
    }

    /// Makes the event of a gate as if it had never been recorded.
    fn reset(&self, gate: usize, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        let Some(event) = self.event(gate) else { return Ok(()) };
        let task = Task { label: "gate", location, uses: &[], scratch: None };
        stream.0.submit(&task, |raw| {
            // SAFETY: the event lives as long as the gates, which outlive the work and the graphs that use them.
            unsafe { call!(&**stream.0.context(), aclrtResetEvent(event, raw)) }
        })?;
        Ok(())
    }

    /// A graph has the events that it records as long as it lives.
    fn keep_events(&self, stream: &Stream) -> Result<()> {
        let Some(events) = &self.events else { return Ok(()) };
        stream.0.check_thread()?;
        if let Some(capture) = &stream.0.lock().capture {
            capture.keep_other(Box::new(Arc::clone(events)));
        }
        Ok(())
    }

    /// Makes `stream` wait for a signal and take it.
    pub(crate) fn wait(&self, gate: usize, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        let address = self.words.address().wrapping_byte_add(gate * STRIDE);
        let task = Task { label: "gate", location, uses: &[Touch::kept(&self.words.allocation)], scratch: None };
        self.keep_events(stream)?;
        let context = &**stream.0.context();
        stream.0.submit(&task, |raw| match self.event(gate) {
            // SAFETY: as in `reset`.
            Some(event) => unsafe { call!(context, aclrtStreamWaitEvent(raw, event)) },
            None => {
                let flag = acl_sys::ACL_VALUE_WAIT_EQ;
                // SAFETY: the address is that of eight aligned bytes of device memory, registered with the stream.
                unsafe { call!(context, aclrtValueWait(address, 1, flag, raw)) }
            }
        })?;
        self.reset(gate, stream, location)?;
        self.write(gate, 0, stream, location)
    }

    /// The C calls that write the word of a gate, and give its signal for a value other than 0.
    fn store(&self, context: &ContextInner, gate: usize, value: u64, raw: aclrtStream) -> Result<()> {
        let address = self.words.address().wrapping_byte_add(gate * STRIDE);
        let Some(event) = self.event(gate) else {
            // SAFETY: the address is that of eight aligned bytes of device memory, registered with the stream.
            return unsafe { call!(context, aclrtValueWrite(address, value, 0, raw)) };
        };
        let (size, byte) = (size_of::<u64>(), if value == 0 { 0 } else { OPEN });
        // SAFETY: the same eight bytes.
        unsafe { call!(context, aclrtMemsetAsync(address, size, i32::from(byte), size, raw)) }?;
        if value == 0 {
            return Ok(());
        }
        // SAFETY: as in `reset`.
        unsafe { call!(context, aclrtRecordEvent(event, raw)) }
    }

    /// Gives a signal when `stream` gets there. A failure is told, but tried again first: what waits for it would
    /// wait for ever.
    pub(crate) fn signal(&self, gate: usize, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        self.write(gate, 1, stream, location)
    }

    fn write(&self, gate: usize, value: u64, stream: &Stream, at: &'static Location<'static>) -> Result<()> {
        self.keep_events(stream)?;
        let task = Task { label: "gate", location: at, uses: &[Touch::kept(&self.words.allocation)], scratch: None };
        let write = || stream.0.submit(&task, |raw| self.store(stream.0.context(), gate, value, raw));
        let first = write();
        if first.is_err()
            && !stream.is_capturing()
            && let Err(again) = write()
        {
            say!(Debug, "a gate keeps its value, also after a second try: {again}");
        }
        first.map(drop)
    }

    /// As [`Gates::signal`], but tried once.
    pub(crate) fn open(&self, gate: usize, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        let task = Task { label: "gate", location, uses: &[Touch::kept(&self.words.allocation)], scratch: None };
        stream.0.submit(&task, |raw| self.store(stream.0.context(), gate, 1, raw)).map(drop)
    }

    /// Gives a signal unless there is one, and tells whether it did. Done on return, unless that hangs: `control` is a
    /// stream that nothing holds up.
    pub(crate) fn open_if_shut(&self, gate: usize, control: &Stream) -> Written {
        if self.value(gate, control) == Some(1) { Written::Not } else { self.set(gate, 1, control) }
    }

    /// Takes a signal if there is one, and tells whether it did. Done on return, as [`Gates::open_if_shut`].
    pub(crate) fn shut_if_open(&self, gate: usize, control: &Stream) -> Written {
        if self.value(gate, control) == Some(1) { self.set(gate, 0, control) } else { Written::Not }
    }

    /// As [`Gates::open_if_shut`], from the host alone: where no stream can be relied on.
    pub(crate) fn open_from_host(&self, gate: usize, control: &Stream) -> Result<()> {
        // The word may say that a gate is open whose event was not recorded: a failure can be between the two.
        let open = self.events.is_none() && self.value(gate, control) == Some(1);
        if open { Ok(()) } else { self.copy_signal(gate, control) }
    }

    /// Writes the signal from the host, without a stream.
    pub(crate) fn copy_signal(&self, gate: usize, stream: &Stream) -> Result<()> {
        if self.events.is_some() {
            // On the default stream, which nothing holds up.
            return self.store(stream.0.context(), gate, 1, std::ptr::null_mut());
        }
        let address = self.words.address().wrapping_byte_add(gate * STRIDE);
        let (value, size, kind) = (1_u64, size_of::<u64>(), aclrtMemcpyKind::ACL_MEMCPY_HOST_TO_DEVICE);
        let from = (&raw const value).cast();
        // SAFETY: both sides have eight bytes; the work that waits for them reads whole words.
        unsafe { call!(&**stream.0.context(), aclrtMemcpy(address, size, from, size, kind)) }
    }

    fn set(&self, gate: usize, value: u64, control: &Stream) -> Written {
        // In drops too, which wait no longer than this.
        let wait = || {
            let left = retire::deadline().saturating_duration_since(Instant::now()).as_millis();
            control.0.synchronize(if retire::is_patient() { None } else { Some(left.clamp(1, 1 << 30) as i32) })
        };
        match self.write(gate, value, control, Location::caller()).and_then(|()| wait()) {
            Ok(()) => Written::Done,
            Err(error) if error.is_not_done() => {
                say!(Warn, "a gate has its value late: {error:#}");
                Written::Late
            }
            Err(error) => {
                say!(Warn, "a gate keeps its value: {error:#}");
                Written::Not
            }
        }
    }

    /// The value now; none when a capture of another thread keeps it from being read.
    pub(super) fn value(&self, gate: usize, control: &Stream) -> Option<u64> {
        let from = self.words.address().wrapping_byte_add(gate * STRIDE);
        let (mut value, size, kind) = (0_u64, size_of::<u64>(), aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_HOST);
        let to = (&raw mut value).cast();
        // SAFETY: both sides have eight bytes; the device changes whole words.
        let read = unsafe { call!(&**control.0.context(), aclrtMemcpy(to, size, from, size, kind)) };
        let read = read.map_err(|error| say!(Debug, "a gate that cannot be read: {error:#}"));
        read.ok().map(|()| if self.events.is_some() { u64::from(value != 0) } else { value })
    }
}

/// Whether streams can wait for values.
fn has_values(context: &ContextInner) -> bool {
    context.table().aclrtValueWait().is_ok() && context.table().aclrtValueWrite().is_ok()
}

/// An event that graphs and work beside them share.
fn external(context: &Arc<ContextInner>) -> Result<RawEvent> {
    let mut raw = std::ptr::null_mut();
    // SAFETY: `raw` is a place for one handle.
    unsafe { call!(&**context, aclrtCreateEventWithFlag(&raw mut raw, acl_sys::ACL_EVENT_EXTERNAL)) }?;
    Ok(RawEvent::own(raw, context))
}
