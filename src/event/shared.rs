//! Events that other code records, waits for and destroys.

use acl_sys::aclrtEvent;

use super::{Event, EventKind};
use crate::context::{Context, RawEvent};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::Lock;

impl Event {
    /// A handle that is not null, which stays with other code.
    pub(crate) fn share(raw: aclrtEvent, context: &Context) -> Self {
        Self {
            raw: RawEvent::own(raw, context.inner()),
            kind: EventKind::Shared,
            last: Lock::default(),
            held: super::Held::default(),
        }
    }

    pub(super) fn is_shared(&self) -> bool {
        self.kind == EventKind::Shared
    }

    /// That a capture may take it: the graph would hang on what other code does with it meanwhile.
    pub(super) fn check_own(&self) -> Result<()> {
        if !self.is_shared() {
            return Ok(());
        }
        let text = "an event that other code records too orders nothing in a capture; make one for it";
        Err(Error::new(ErrorKind::CaptureForbidden, text))
    }

    /// That its latest record is known here.
    pub(super) fn check_known(&self) -> Result<()> {
        if !self.is_shared() {
            return Ok(());
        }
        let text = "a future of an event that other code records too: which record it would be for is not known; \
                    synchronise with it, or await a stream that waits for it";
        Err(Error::new(ErrorKind::NotSupported, text))
    }

    /// That its latest record is in no capture of other code, which the stream would join by a wait.
    pub(super) fn check_outside(&self) -> Result<()> {
        self.query().map(drop).map_err(|error| match error.kind() {
            ErrorKind::CaptureForbidden => {
                let text = "an event recorded in a capture of other code, for whose graph nothing is kept";
                Error::new(ErrorKind::CaptureForbidden, text).with_source(error)
            }
            _ => error,
        })
    }
}
