//! Gates: words of device memory that one side waits for and the other writes.
//!
//! A wait takes the signal: it waits for 1 and writes 0 (guide: stream management, aclrtValueWait and aclrtValueWrite).

use std::panic::Location;
use std::sync::Arc;

use crate::call::call;
use crate::context::ContextInner;
use crate::error::Result;
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

    /// Makes `stream` wait for a signal and take it.
    pub(crate) fn wait(&self, gate: usize, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        let address = self.0.address().wrapping_byte_add(gate * STRIDE);
        let task = Task { label: "gate", location, uses: &[&self.0.allocation], scratch: None };
        stream.0.submit(&task, |raw| {
            let flag = acl_sys::ACL_VALUE_WAIT_EQ;
            // SAFETY: the address is that of eight aligned bytes of device memory, registered with the stream.
            unsafe { call!(&**stream.0.context(), aclrtValueWait(address, 1, flag, raw)) }
        })?;
        self.write(gate, 0, stream, location)
    }

    /// Gives a signal when `stream` gets there. A failure is told, but tried again first: what waits would wait for ever.
    pub(crate) fn signal(&self, gate: usize, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        self.write(gate, 1, stream, location)
    }

    fn write(&self, gate: usize, value: u64, stream: &Stream, at: &'static Location<'static>) -> Result<()> {
        let address = self.0.address().wrapping_byte_add(gate * STRIDE);
        let task = Task { label: "gate", location: at, uses: &[&self.0.allocation], scratch: None };
        let write = || {
            stream.0.submit(&task, |raw| {
                // SAFETY: as in `wait`.
                unsafe { call!(&**stream.0.context(), aclrtValueWrite(address, value, 0, raw)) }
            })
        };
        match write() {
            Ok(_) => Ok(()),
            Err(error) if stream.is_capturing() => Err(error),
            Err(error) => {
                let again = write().or_else(|again| {
                    if value == 0 {
                        // Taking a signal has its place in the order of the stream.
                        return Err(again);
                    }
                    let beside = Stream::lease(stream.0.context())?;
                    beside.0.submit(&task, |raw| {
                        // SAFETY: as in `wait`.
                        unsafe { call!(&**beside.0.context(), aclrtValueWrite(address, value, 0, raw)) }
                    })
                });
                if let Err(again) = again {
                    log::warn!("a gate keeps its value, also after a second try: {again}");
                }
                Err(error)
            }
        }
    }
}
