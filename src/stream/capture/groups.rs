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
    tasks: Operators,
}

/// What is in a group, one after the other: the name of each operator, none of anything else.
pub(crate) type Operators = Vec<Option<&'static str>>;

impl Group {
    /// A task went into the capture on `stream`.
    pub(super) fn record(&mut self, stream: &Arc<StreamInner>, operator: Option<&'static str>) {
        if Arc::ptr_eq(&self.stream, stream) {
            self.tasks.push(operator);
        }
    }
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
        self.lock().group = Some(Group { stream: Arc::clone(stream), place, tasks: Operators::new() });
        Ok(())
    }

    /// Ends the group on `stream` by `end`, and gives what is in it, unless the capture has ended with it: none then.
    pub(crate) fn end_group<T>(&self, stream: &StreamInner, end: impl FnOnce() -> T) -> Option<(T, Operators)> {
        let _state = stream.lock();
        let Group { tasks, .. } = self.lock().group.take()?;
        Some((end(), tasks))
    }

    /// The stream of a group that is open while the capture, which is drained, ends: it is not to be had then.
    pub(crate) fn cut_group(&self) -> Option<Arc<StreamInner>> {
        let mut inner = self.lock();
        let Group { stream, place: (label, location), .. } = inner.group.take()?;
        let text = format!("the capture ended inside the {label} at {}:{}", location.file(), location.line());
        inner.failure.get_or_insert(text);
        Some(stream)
    }
}
