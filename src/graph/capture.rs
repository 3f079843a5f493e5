//! Recording: the guard and the closure form.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use acl_sys::aclmdlRICaptureMode;

use super::captured::Graph;
use super::ending;
use super::pool::GraphPool;
use crate::call::{call, check_not_locked};
use crate::closure;
use crate::context::{Context, Events, Idle, exchange_mode};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{say, theirs};
use crate::stream::{CaptureState, Stream};

/// Which calls beside a capture are refused while it is active ([`ErrorKind::CaptureForbidden`]): those that block, which
/// are copies and fills that wait for the host, and [`Context::synchronize`].
///
/// The restriction holds for what belongs to the context of the capture. A call that is refused so lets the capture give
/// no graph, whatever becomes of the error: [`Capture::finish`] names its place. The library alone, which would let the
/// capture go on, is not asked; what only it refuses, since other code changed the mode of the thread (107030), or an
/// event is asked that was recorded in a capture that is open (107028), leaves the capture as it is. So does
/// `Context::synchronize` while a thread that may block captures: the library refuses it in every mode (107027).
///
/// Work on capturing streams itself, waiting for them above all, is refused in every mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[doc(alias = "aclmdlRICaptureMode")]
pub enum CaptureMode {
    /// Refused on all threads.
    Global,
    /// Refused on the thread that captures.
    #[default]
    ThreadLocal,
    /// Refused nowhere.
    Relaxed,
}

impl CaptureMode {
    fn raw(self) -> aclmdlRICaptureMode {
        match self {
            Self::Global => aclmdlRICaptureMode::ACL_MODEL_RI_CAPTURE_MODE_GLOBAL,
            Self::ThreadLocal => aclmdlRICaptureMode::ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL,
            Self::Relaxed => aclmdlRICaptureMode::ACL_MODEL_RI_CAPTURE_MODE_RELAXED,
        }
    }
}

impl Context {
    /// Runs `work` on this thread, on which other calls than else are refused beside captures of its contexts
    /// meanwhile: with [`CaptureMode::Relaxed`] none are, with [`CaptureMode::ThreadLocal`] those of a thread that
    /// captures itself, and not in [`CaptureMode::Relaxed`]; with [`CaptureMode::Global`], as every thread has it at
    /// first, those that each capture says. For code that reads a number or fills a table once, in the middle of a
    /// capture. Scopes nest.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] on a library without, up to CANN 8.3, and then `work` is not run. What is wrong
    /// when the former mode is set again is kept for [`take_drop_errors`](Self::take_drop_errors).
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::CaptureMode;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let (context, stream) = (device.context(), device.stream()?);
    /// let flag = context.flag(7)?;
    /// let mut buffer = device.alloc::<u8>(4)?;
    /// stream.capture(CaptureMode::ThreadLocal, |s| {
    ///     // Without the scope the copy, which blocks, is refused, and the capture gives no graph.
    ///     let value = context.with_capture_mode(CaptureMode::Relaxed, || flag.value())??;
    ///     s.fill_bytes(&mut buffer, value as u8)
    /// })?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRICaptureThreadExchangeMode")]
    #[doc(alias = "cudaThreadExchangeStreamCaptureMode")]
    pub fn with_capture_mode<T>(&self, mode: CaptureMode, work: impl FnOnce() -> T) -> Result<T> {
        let _former = Exchanged { context: self, former: exchange_mode(self.inner(), mode.raw())? };
        Ok(theirs(work))
    }
}

/// As long as a thread has another mode.
struct Exchanged<'a> {
    context: &'a Context,
    former: aclmdlRICaptureMode,
}

impl Drop for Exchanged<'_> {
    fn drop(&mut self) {
        if let Err(error) = exchange_mode(self.context.inner(), self.former) {
            self.context.inner().record_drop_error("setting back which calls are refused beside captures", error);
        }
    }
}

/// An active capture: what its streams are given is recorded and not executed. Work goes to the origin stream
/// ([`Capture::stream`], or any clone of it) and to streams that wait for it ([`Stream::side`]).
///
/// [`Capture::finish`] gives the [`Graph`]; dropping the guard ends the capture without one. It stays on its thread,
/// because the runtime ends a capture only there; [`Capture::detach`] has the way around it.
///
/// Buffers, scratch memory, pinned buffers and host functions that the recorded work uses are kept, by the capture
/// and then by its graph; memory that the capture makes is in a [pool](GraphPool). A call that fails while recording
/// makes the graph incomplete, so `finish` reports it then.
///
/// C calls: `aclmdlRICaptureBegin`, `aclmdlRICaptureEnd`, `aclmdlRICaptureGetInfo`.
///
/// # Examples
///
/// ```
/// use racl::CaptureMode;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let mut buffer = device.upload(&[7_u8; 4])?;
///
/// let capture = stream.begin_capture(CaptureMode::ThreadLocal)?;
/// let side = stream.side("1")?;
/// stream.fork(&side)?;
/// side.fill_bytes(&mut buffer, 0)?;
/// stream.join(&side)?;
/// let mut graph = capture.finish()?;
///
/// assert_eq!(buffer.to_vec()?, [7; 4]);
/// graph.launch(&stream)?;
/// assert_eq!(buffer.to_vec()?, [0; 4]);
/// # Ok::<(), racl::Error>(())
/// ```
pub struct Capture {
    stream: Stream,
    state: Arc<CaptureState>,
    ended: bool,
    /// Not `Send`: see above.
    thread: PhantomData<*const ()>,
}

impl Stream {
    /// Begins recording what this stream is given, instead of executing it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::CaptureForbidden`] when the stream captures already, or is of a graph that is built by hand;
    /// [`ErrorKind::InvalidArgument`] or [`ErrorKind::NotSupported`] for the default stream, which cannot capture;
    /// [`ErrorKind::NotSupported`] on a chip without the feature.
    #[doc(alias = "aclmdlRICaptureBegin")]
    pub fn begin_capture(&self, mode: CaptureMode) -> Result<Capture> {
        self.begin_capture_in(mode, &GraphPool::of(self.0.context()))
    }

    /// As [`Stream::begin_capture`], with the memory that other graphs of `pool` use.
    ///
    /// # Errors
    ///
    /// As [`Stream::begin_capture`]; [`ErrorKind::InvalidArgument`] for a pool of another context.
    #[doc(alias = "aclmdlRICaptureBegin")]
    pub fn begin_capture_in(&self, mode: CaptureMode, pool: &GraphPool) -> Result<Capture> {
        let inner = &self.0;
        pool.check(inner.context())?;
        inner.check_thread()?;
        inner.check_runs()?;
        Events::with_room(|| Idle::with_room(inner.context(), || self.begin_capture_now(mode, pool)))
    }

    fn begin_capture_now(&self, mode: CaptureMode, pool: &GraphPool) -> Result<Capture> {
        let inner = &self.0;
        let mut state = inner.lock();
        state.check_not_over("capture")?;
        inner.mark_busy(&mut state)?;
        // SAFETY: the handle is this stream's own; null and busy streams give a code.
        let begun = unsafe { call!(&**inner.context(), aclmdlRICaptureBegin(inner.raw(), mode.raw())) };
        begun.map_err(|error| self.explain_begin(error, state.capture.is_some()))?;
        let capture = CaptureState::new(inner, pool.inner(), mode.raw());
        state.capture = Some(Arc::clone(&capture));
        drop(state);
        Ok(Capture { stream: self.clone(), state: capture, ended: false, thread: PhantomData })
    }

    /// Records what `work` gives to this stream, which it is handed, and to the side streams that it forks, into a
    /// graph.
    ///
    /// An error or a panic of `work` ends the capture; nothing of it was executed.
    ///
    /// # Errors
    ///
    /// The error of `work`; those of [`Stream::begin_capture`] and [`Capture::finish`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::CaptureMode;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let mut buffer = device.alloc::<u8>(16)?;
    /// let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 1))?;
    /// graph.launch(&stream)?;
    /// assert_eq!(buffer.to_vec()?, [1; 16]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn capture(&self, mode: CaptureMode, work: impl FnOnce(&Self) -> Result<()>) -> Result<Graph> {
        let capture = self.begin_capture(mode)?;
        theirs(|| work(self))?;
        capture.finish()
    }

    /// As [`Stream::capture`], with the memory that other graphs of `pool` use: see there.
    ///
    /// # Errors
    ///
    /// As [`Stream::capture`] and [`Stream::begin_capture_in`].
    pub fn capture_in(
        &self,
        mode: CaptureMode,
        pool: &GraphPool,
        work: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<Graph> {
        let capture = self.begin_capture_in(mode, pool)?;
        theirs(|| work(self))?;
        capture.finish()
    }

    /// A stream for work beside this one, which captures, with a name that errors use. The same name gives the same
    /// stream throughout a capture. It takes part once it waits for an event of the capture ([`Stream::fork`]), must
    /// lead back to the origin ([`Stream::join`]), and goes back to the context's idle streams when the capture has
    /// ended and the last clone is dropped.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a stream that captures nothing: work beside it goes to any other stream;
    /// [`ErrorKind::NoStreams`] when the device has none left; [`ErrorKind::CaptureInvalidated`] when the capture is
    /// ending.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::CaptureMode;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let mut buffer = device.alloc::<u8>(16)?;
    /// let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| {
    ///     let side = s.side("1")?;
    ///     s.fork(&side)?;
    ///     side.fill_bytes(&mut buffer, 1)?;
    ///     s.join(&side)
    /// })?;
    /// graph.launch(&stream)?;
    /// assert_eq!(buffer.to_vec()?, [1; 16]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn side(&self, name: &str) -> Result<Self> {
        self.0.check_thread()?;
        let capture = self.0.lock().capture.clone();
        let Some(capture) = capture else {
            return Err(Error::invalid(format!("a side of {}, which captures nothing", self.name())));
        };
        capture.check_recorded("a side stream")?;
        if let Some(known) = capture.side(name)? {
            return Ok(known);
        }
        let stream = Self::lease(self.0.context())?;
        stream.set_name(name);
        // That it joins takes one more of the device.
        match self.context().streams_left() {
            Ok(0) => drop(Idle::make_room(self.0.context())),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::MissingSymbol | ErrorKind::NotSupported) => {}
            Err(error) => return Err(error),
        }
        capture.add_side(name, stream)
    }

    fn explain_begin(&self, error: Error, capturing: bool) -> Error {
        let advice = if capturing {
            "the stream records another graph; end that capture first"
        } else if self.is_default() {
            "the default stream cannot record a graph; make one with Context::stream"
        } else {
            return error;
        };
        error.with_detail(advice)
    }
}

impl Capture {
    /// The origin: the stream that the capture began on.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    pub(super) fn is_relaxed(&self) -> bool {
        self.state.mode() == CaptureMode::Relaxed.raw()
    }

    /// Ends the capture.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::CaptureUnjoined`] naming the stream that does not lead back to the origin;
    /// [`ErrorKind::CaptureInvalidated`] naming the call that could not be recorded, or that [the mode](CaptureMode)
    /// refused beside the capture, or the buffer that the program keeps
    /// in memory which earlier graphs of the same [pool](GraphPool) write. Nothing was executed then, and the streams
    /// are free again. [`ErrorKind::NotSupported`] while this thread has the
    /// [process locked](crate::Acl::lock_process), with which the capture ends.
    #[doc(alias = "aclmdlRICaptureEnd")]
    pub fn finish(mut self) -> Result<Graph> {
        // Then it is given up, once the process is unlocked.
        check_not_locked()?;
        self.state.check_outputs();
        let graph = self.end()?;
        match self.state.failure() {
            None => Ok(graph),
            Some(failure) => Err(Error::new(ErrorKind::CaptureInvalidated, failure)),
        }
    }

    fn end(&mut self) -> Result<Graph> {
        self.ended = true;
        let origin = &self.stream.0;
        let graph = ending::end(origin, &self.state).map(|raw| {
            let graph = Graph::own(raw, origin.context(), &self.state);
            self.state.release_streams();
            graph
        });
        // No longer in a capture, unless it could not be ended.
        drop(self.state.take_sides());
        graph
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        if closure::is_process_locked() {
            // No other thread may end it.
            self.ended = true;
            let (stream, state) = (self.stream.clone(), Arc::clone(&self.state));
            let heir = Self { stream, state, ended: false, thread: PhantomData };
            return closure::once_unlocked(|| drop(heir));
        }
        // The graph, if the runtime gives one, is destroyed here. That a capture was incomplete is no news to
        // somebody who gives it up; that the runtime failed is.
        let Err(error) = self.end() else { return };
        match error.kind() {
            // The last where a detached one is dropped on another thread.
            ErrorKind::CaptureUnjoined
            | ErrorKind::CaptureInvalidated
            | ErrorKind::CaptureDependency
            | ErrorKind::CaptureWrongThread => {
                say!(Debug, "a capture was given up: {error}");
            }
            _ => self.stream.0.context().record_drop_error("ending a capture that was given up", error),
        }
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").field("stream", &self.stream).field("id", &self.state.id()).finish_non_exhaustive()
    }
}
