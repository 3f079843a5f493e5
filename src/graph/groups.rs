//! Work of a graph that can be replaced after the capture: task groups.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;

use acl_sys::aclrtTaskGrp;

use super::captured::Graph;
use crate::allocation::{Allocation, How, Launches as _};
use crate::call::{call, non_null};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{say, theirs};
use crate::stream::{All, CaptureState, Gathered, Named, Operators, Stream, StreamInner};

/// Kernels and operators of a captured graph that can be replaced by others of the same kinds, with other arguments:
/// [`Stream::task_group`] records them, [`Graph::update`] replaces them. It belongs to its graph, and means nothing
/// once that is gone.
///
/// C calls: `aclmdlRICaptureTaskGrpBegin`, `aclmdlRICaptureTaskGrpEnd`, `aclmdlRICaptureTaskUpdateBegin`,
/// `aclmdlRICaptureTaskUpdateEnd`.
///
/// # Examples
///
/// ```
/// use racl::{CaptureMode, op};
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let mut x = device.upload_tensor(&[1.0_f32, 2.0], [2])?;
/// let capture = stream.begin_capture(CaptureMode::ThreadLocal)?;
/// let group = stream.task_group(|s| op::muls_inplace(s, &mut x, 2.0))?;
/// let mut graph = capture.finish()?;
/// graph.launch(&stream)?;
/// graph.update(&group, |s| op::muls_inplace(s, &mut x, 10.0))?; // waits for the launch
/// graph.launch(&stream)?;
/// assert_eq!(x.to_vec()?, [20.0, 40.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclrtTaskGrp")]
pub struct TaskGroup {
    raw: aclrtTaskGrp,
    /// The capture that gave the graph.
    capture: u64,
    operators: Operators,
}

// SAFETY: the handle is only passed on, in calls for its graph, of which there is one at a time.
unsafe impl Send for TaskGroup {}
// SAFETY: as above; it is not changed.
unsafe impl Sync for TaskGroup {}

impl TaskGroup {
    pub(super) fn as_raw(&self) -> aclrtTaskGrp {
        self.raw
    }

    pub(super) fn capture(&self) -> u64 {
        self.capture
    }
}

impl fmt::Debug for TaskGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskGroup").field("raw", &self.raw).finish_non_exhaustive()
    }
}

/// What the latest update of each group uses, and those that failed since, by its handle.
#[derive(Default)]
pub(super) struct Updated(HashMap<usize, Uses>);

#[derive(Default)]
struct Uses {
    memory: Vec<(Arc<Allocation>, How)>,
    others: Vec<Box<dyn Any + Send>>,
    /// The latest update failed when the library had been given work.
    in_part: bool,
    /// Some change was not seen to be over.
    unseen: bool,
}

impl Updated {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn memory(&self) -> impl Iterator<Item = &(Arc<Allocation>, How)> {
        self.0.values().flat_map(|uses| &uses.memory)
    }
}

impl Stream {
    /// Records what `work` gives to this stream, which captures, as a group that [`Graph::update`] can replace later.
    /// Kernels and operators may be in it, and no other work; one group at a time. A card puts some empty tasks before
    /// each group: few larger ones are better than many small ones.
    ///
    /// # Errors
    ///
    /// The error of `work`; [`ErrorKind::NotCapturing`] for a stream that captures nothing;
    /// [`ErrorKind::NotSupported`] in the body of a condition, and for other work than kernels and operators (an
    /// operator may consist of such); [`ErrorKind::CaptureInvalidated`] inside another group;
    /// [`ErrorKind::MissingSymbol`] on a library without. The capture gives no graph then, nor after a panic of `work`.
    /// [`ErrorKind::CaptureInvalidated`] also where the capture ended in `work`, or on another thread meanwhile.
    #[doc(alias = "aclmdlRICaptureTaskGrpBegin")]
    #[doc(alias = "aclmdlRICaptureTaskGrpEnd")]
    #[track_caller]
    pub fn task_group(&self, work: impl FnOnce(&Self) -> Result<()>) -> Result<TaskGroup> {
        let named = ("task group", Location::caller());
        self.0.check_thread()?;
        let capture = self.0.lock().capture.clone();
        let Some(capture) = capture else {
            let text = format!("a task group of {}, which captures nothing", self.name());
            return Err(Error::new(ErrorKind::NotCapturing, text));
        };
        capture.check_recorded("a task group").map_err(|error| capture.lacks(named, error))?;
        if !capture.is_root() {
            let error = Error::new(ErrorKind::NotSupported, "a task group in the body of a condition");
            return Err(capture.lacks(named, error));
        }
        match record_in(&capture, self, named, || theirs(|| work(self))) {
            Ok((raw, operators)) => Ok(TaskGroup { raw, capture: capture.id(), operators }),
            Err(error) => Err(capture.lacks(named, error)),
        }
    }
}

/// Records what `work` gives to a capturing stream as a group.
#[track_caller]
pub(crate) fn record(stream: &Stream, work: impl FnOnce() -> Result<()>) -> Result<aclrtTaskGrp> {
    let named = ("task group", Location::caller());
    let capture = stream.0.lock().capture.clone();
    let capture = capture.ok_or_else(|| Error::new(ErrorKind::NotCapturing, "a task group outside a capture"))?;
    record_in(&capture, stream, named, work).map(|(group, _)| group)
}

fn record_in(
    capture: &Arc<CaptureState>,
    stream: &Stream,
    named: Named,
    work: impl FnOnce() -> Result<()>,
) -> Result<(aclrtTaskGrp, Operators)> {
    let (context, raw) = (&**stream.0.context(), stream.as_raw());
    capture.open_group(&stream.0, named, || {
        // SAFETY: takes a live handle; the stream records.
        unsafe { call!(context, aclmdlRICaptureTaskGrpBegin(raw)) }
    })?;
    let mut open = OpenGroup { stream: &stream.0, capture, named, open: true };
    let worked = work();
    let ended = open.end();
    worked.and(ended)
}

/// Ends the group that is open on a stream.
pub(super) fn end_group(stream: &StreamInner) -> Result<aclrtTaskGrp> {
    let (context, raw) = (&**stream.context(), stream.raw());
    let mut handle = std::ptr::null_mut();
    // SAFETY: a live handle, and a place for one handle.
    let mut end = || unsafe { call!(context, aclmdlRICaptureTaskGrpEnd(raw, &raw mut handle)) };
    let ended = end();
    // A group that a capture leaves open refuses groups in each later capture of the stream.
    if ended.is_err() && end().is_err() {
        stream.spoil();
    }
    ended.and_then(|()| non_null(handle, "aclmdlRICaptureTaskGrpEnd"))
}

/// A group that is ended also when the code in it panics.
struct OpenGroup<'a> {
    stream: &'a StreamInner,
    capture: &'a CaptureState,
    named: Named,
    open: bool,
}

impl OpenGroup<'_> {
    fn end(&mut self) -> Result<(aclrtTaskGrp, Operators)> {
        self.open = false;
        let (ended, operators) = self.capture.end_group(self.stream, || end_group(self.stream)).ok_or_else(|| {
            let text = "the capture ended inside the task group, with which it gives no graph";
            Error::new(ErrorKind::CaptureInvalidated, text)
        })?;
        Ok((ended?, operators))
    }
}

impl Drop for OpenGroup<'_> {
    fn drop(&mut self) {
        if !self.open {
            return;
        }
        if let Err(error) = self.end() {
            say!(Debug, "a task group whose work panicked: {error}");
        }
        // The code that catches the panic may go on with the capture.
        let error = Error::new(ErrorKind::CaptureInvalidated, "its work panicked");
        self.capture.lacks(self.named, error);
    }
}

/// An update that is ended also when the code in it panics.
pub(crate) struct OpenUpdate<'a> {
    stream: &'a Stream,
    open: bool,
}

impl<'a> OpenUpdate<'a> {
    /// Begins to replace the work of a group of a graph that the caller holds.
    pub(crate) fn begin(stream: &'a Stream, group: aclrtTaskGrp) -> Result<Self> {
        let (context, raw) = (&**stream.0.context(), stream.as_raw());
        // SAFETY: live handles; the group belongs to a graph that the caller holds.
        unsafe { call!(context, aclmdlRICaptureTaskUpdateBegin(raw, group)) }?;
        Ok(Self { stream, open: true })
    }

    pub(crate) fn end(&mut self) -> Result<()> {
        self.open = false;
        let (context, raw) = (&**self.stream.0.context(), self.stream.as_raw());
        // SAFETY: takes a live handle.
        let end = || unsafe { call!(context, aclmdlRICaptureTaskUpdateEnd(raw)) };
        // What another thread gives the stream is gathered as long as the library takes it for a replacement.
        let mut state = self.stream.0.lock();
        let first = end();
        // A stream whose update is open takes no signals.
        let second = first.is_err().then(end);
        state.end_gathering();
        drop(state);
        match second {
            Some(Ok(())) => say!(Debug, "an update was ended in a second try"),
            Some(Err(_)) => self.stream.0.spoil(),
            None => {}
        }
        first
    }
}

impl Drop for OpenUpdate<'_> {
    fn drop(&mut self) {
        if self.open
            && let Err(error) = self.end()
        {
            self.stream.0.context().record_drop_error("ending an update that panicked", error);
        }
    }
}

impl Graph {
    /// Replaces the kernels and operators of a group by what `work` gives to the stream it is handed, from the next
    /// launch on: as many, in their order, each of the kind of the one it replaces. Nothing of it runs now. Waits for
    /// the last launch, and until the graph is changed.
    ///
    /// The graph keeps the memory and the code of what it has now, and no longer those of the update before; what it
    /// was captured with it keeps as long as it lives. The stream is one of the context's own: what it is given after
    /// `work` has returned is refused.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a group of another graph, and for an operator in the place of another one; the
    /// error of the last launch; that of `work`; [`ErrorKind::Internal`] (507000) when the kernels do not fit those of
    /// the group in number or kind, [`ErrorKind::NotSupported`] (507009) for other work;
    /// [`ErrorKind::MissingSymbol`] on a library without. An
    /// update also fails when `work` lets an error of what it gives to the stream pass. When it fails, or `work` panics,
    /// after some work was given, what of the group was replaced is unknown: the graph keeps what it may use, and
    /// [`launch`](Self::launch) is refused until an update of the group succeeds.
    #[doc(alias = "aclmdlRICaptureTaskUpdateBegin")]
    #[doc(alias = "aclmdlRICaptureTaskUpdateEnd")]
    pub fn update(&mut self, group: &TaskGroup, work: impl FnOnce(&Stream) -> Result<()>) -> Result<()> {
        if group.capture != self.capture_id() {
            return Err(Error::invalid("a task group of another graph"));
        }
        self.in_flight.wait()?;
        let stream = Stream::lease(self.context().inner())?;
        let gathered = Gathered::replacing(&group.operators);
        let updated = catch_unwind(AssertUnwindSafe(|| replace(&stream, group.raw, &gathered, work)));
        // The change itself is work of the stream, also where a part of it was refused.
        let changed = stream.0.synchronize(None);
        let all = gathered.take();
        // Why it lacks something comes before what the library says of that.
        let done = match (&updated, &all.lacks) {
            (Ok(Ok(_)), Some((kind, text))) => Err(Error::new(*kind, text.clone()).context("updating a graph")),
            _ => Ok(()),
        };
        let whole = matches!(&updated, Ok(Ok(Ok(())))) && done.is_ok() && changed.is_ok();
        self.take_over(group, all, whole, changed.is_ok());
        match updated {
            Ok(updated) => updated.and_then(|ended| done.and(ended)).and(changed),
            Err(panic) => {
                if let Err(error) = changed {
                    self.context().inner().record_drop_error("an update that panicked", error);
                }
                resume_unwind(panic)
            }
        }
    }

    /// What the graph uses from now on; after an update that failed it may use what it used before as well.
    fn take_over(&mut self, group: &TaskGroup, all: All, whole: bool, changed: bool) {
        for (memory, how) in &all.memory {
            memory.used_by_graph(&self.in_flight, *how);
        }
        // The next launch looks at all memory anew.
        self.in_flight.set_disturbed();
        let uses = self.updated.0.entry(group.raw.addr()).or_default();
        let replaced = whole && all.given;
        // A change that nobody saw the end of may come after a later one.
        uses.unseen |= !changed;
        let former = if replaced && !uses.unseen { std::mem::take(uses) } else { Uses::default() };
        uses.memory.extend(all.memory);
        uses.others.extend(all.others);
        // A group of nothing is whole by an update of nothing.
        if all.given || (whole && group.operators.is_empty()) {
            uses.in_part = !whole;
        }
        drop(former);
    }

    /// That no update and no change has failed whose work is in the graph in part.
    pub(super) fn check_whole(&self) -> Result<()> {
        if self.updated.0.values().any(|uses| uses.in_part) {
            let text = "an update of a task group failed, and some of the group may be replaced: update it again";
            return Err(Error::new(ErrorKind::GraphRunning, text));
        }
        if self.changed.values().any(|uses| uses.in_part) {
            let text = "a change of tasks failed, and some of them may be changed: change the same ones again";
            return Err(Error::new(ErrorKind::GraphRunning, text));
        }
        Ok(())
    }
}

/// The error of `work`, or what the library says of the update as a whole.
fn replace(
    stream: &Stream,
    group: aclrtTaskGrp,
    gathered: &Arc<Gathered>,
    work: impl FnOnce(&Stream) -> Result<()>,
) -> Result<Result<()>> {
    // Gathers first and longest, also when `work` panics.
    let _gathers = stream.0.gather(gathered);
    let mut open = OpenUpdate::begin(stream, group)?;
    let worked = theirs(|| work(stream));
    let ended = open.end();
    worked.map(|()| ended)
}
