//! Gates of updates that a failure on the device keeps shut.

use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorKind, Result};
use crate::retire::keepers::{self, Keeper};
use crate::stream::Stream;

use super::gate::Gates;

/// Opens the gates of one graph once the stream that should have done it has failed: the graph, and whoever waits for
/// it, would wait for ever. What the run computes then is not what the plan says, so the executable is of no use.
pub(super) struct Rescue {
    gates: Gates,
    count: usize,
    /// Where updates go.
    stream: Stream,
    failed: OnceLock<String>,
}

impl Rescue {
    pub(super) fn new(gates: &Gates, count: usize, stream: &Stream) -> Arc<Self> {
        let (gates, stream) = (gates.clone(), stream.clone());
        let rescue = Arc::new(Self { gates, count, stream, failed: OnceLock::new() });
        keepers::add(&rescue);
        rescue
    }

    /// The updates failed on the device.
    pub(super) fn note(&self, error: &Error) {
        if !matches!(error.kind(), ErrorKind::CaptureForbidden | ErrorKind::CallbackPanicked) {
            let _ = self.failed.set(format!("{error:#}"));
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        let Some(text) = self.failed.get() else { return Ok(()) };
        let text = format!("an update of a graph failed on the device, so the executable is of no use: {text}");
        Err(Error::new(ErrorKind::Aborted, text))
    }
}

impl Keeper for Rescue {
    fn look(&self) {
        if self.failed.get().is_none() {
            let Some(failure) = self.stream.0.find_failure() else { return };
            let _ = self.failed.set(failure);
        }
        (0..self.count).for_each(|gate| self.gates.open_from_host(gate, &self.stream));
    }
}
