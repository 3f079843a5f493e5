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
    /// The latest one in front of a wait for what [others bring](super::elsewhere), while that may be to come.
    in_front: Option<Mark>,
}

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
        let latest = self.latest.take();
        if waits && self.in_front.is_none() {
            self.in_front = latest;
            return None;
        }
        if !waits {
            self.in_front = None;
        }
        latest.map(|mark| mark.event)
    }
}
