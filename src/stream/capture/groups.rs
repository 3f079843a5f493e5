//! The task group that a capture records, one at a time.

use std::sync::Arc;

use super::CaptureState;
use crate::error::Result;
use crate::stream::StreamInner;
use crate::stream::submit::Named;

/// A group that is open in the library.
pub(super) struct Group {
    stream: Arc<StreamInner>,
    place: Named,
}

impl CaptureState {
    /// Opens a group on `stream` by `begin`. Who ends the capture waits for that, and ends the group first.
    pub(crate) fn open_group(
        &self,
        stream: &Arc<StreamInner>,
        place: Named,
        begin: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let _state = stream.lock();
        self.check_open()?;
        begin()?;
        self.lock().group = Some(Group { stream: Arc::clone(stream), place });
        Ok(())
    }

    /// Ends the group on `stream` by `end`, unless the capture has ended with it: none then.
    pub(crate) fn end_group<T>(&self, stream: &StreamInner, end: impl FnOnce() -> T) -> Option<T> {
        let _state = stream.lock();
        let group = self.lock().group.take()?;
        let ended = end();
        drop(group);
        Some(ended)
    }

    /// The stream of a group that is open while the capture, which is drained, ends: it is not to be had then.
    pub(crate) fn cut_group(&self) -> Option<Arc<StreamInner>> {
        let mut inner = self.lock();
        let Group { stream, place: (label, location) } = inner.group.take()?;
        let text = format!("the capture ended inside the {label} at {}:{}", location.file(), location.line());
        inner.failure.get_or_insert(text);
        Some(stream)
    }
}
