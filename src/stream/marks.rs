//! Events that stand for what a stream was given up to some submission.

use std::sync::Arc;

use crate::context::RawEvent;
use crate::progress::Clock;

/// What a stream was given up to some submission, as an event that others can wait for.
#[derive(Clone)]
pub(super) struct Mark {
    pub(super) event: Arc<RawEvent>,
    pub(super) number: u64,
    /// What the stream was behind then.
    pub(super) clock: Clock,
}

/// Those that a stream keeps.
#[derive(Default)]
pub(super) struct Marks {
    latest: Option<Mark>,
    /// Earlier ones, of which some are in front of waits for what [others bring](super::elsewhere) that may be to come.
    in_front: Vec<Mark>,
}

/// How many earlier ones are kept: of more waits one behind another, the host waits for some that it need not wait for.
const KEPT: usize = 16;

impl Marks {
    /// The earliest that is behind the submission `number`.
    pub(super) fn behind(&self, number: u64) -> Option<&Mark> {
        self.in_front.iter().chain(&self.latest).find(|mark| mark.number >= number)
    }

    pub(super) fn set(&mut self, mark: Mark) {
        self.latest = Some(mark);
    }

    /// Before another one is made, of a stream that waits for what others bring or not: the event of one that nobody
    /// needs any more.
    pub(super) fn make_room(&mut self, waits: bool) -> Option<Arc<RawEvent>> {
        if !waits {
            self.in_front.clear();
        }
        let latest = self.latest.take()?;
        if waits && self.in_front.len() < KEPT {
            self.in_front.push(latest);
            return None;
        }
        Some(latest.event)
    }
}
