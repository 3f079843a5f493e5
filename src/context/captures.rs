//! The captures of a context beside which calls that block are refused.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use acl_sys::aclmdlRICaptureMode;

use super::ContextInner;
use crate::call::call;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{Lock, ThreadNumber};

const GLOBAL: aclmdlRICaptureMode = aclmdlRICaptureMode::ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
const RELAXED: aclmdlRICaptureMode = aclmdlRICaptureMode::ACL_MODEL_RI_CAPTURE_MODE_RELAXED;

/// Sets the mode of this thread with the library, and gives the former one.
pub(crate) fn exchange_mode(context: &ContextInner, own: aclmdlRICaptureMode) -> Result<aclmdlRICaptureMode> {
    let mut mode = own;
    // SAFETY: a place for one mode, which has one.
    unsafe { call!(context, aclmdlRICaptureThreadExchangeMode(&raw mut mode)) }?;
    Ok(mode)
}

/// The mode of this thread, whoever set it. That of every thread at first where the library has no such call.
fn own_mode(context: &ContextInner) -> Result<aclmdlRICaptureMode> {
    let mode = match exchange_mode(context, GLOBAL) {
        Err(error) if error.kind() == ErrorKind::MissingSymbol => return Ok(GLOBAL),
        mode => mode?,
    };
    if mode != GLOBAL {
        exchange_mode(context, mode)?;
    }
    Ok(mode)
}

/// Those of a context that are open and not relaxed.
#[derive(Default)]
pub(crate) struct Captures {
    count: AtomicUsize,
    open: Lock<Vec<(u64, Arc<Strict>)>>,
}

/// One of them.
struct Strict {
    /// The name of its stream.
    stream: Box<dyn Fn() -> String + Send + Sync>,
    is_global: bool,
    /// Which began it.
    thread: ThreadNumber,
    /// The first call that was refused for it.
    broken: Lock<Option<String>>,
}

impl Strict {
    /// Whether it forbids this thread, which has set that mode, to block.
    fn forbids(&self, own: aclmdlRICaptureMode) -> bool {
        let is_here = self.thread == ThreadNumber::here();
        own != RELAXED && (is_here || (self.is_global && own == GLOBAL))
    }

    fn mode(&self) -> &'static str {
        if self.is_global { "Global" } else { "ThreadLocal" }
    }
}

/// A capture that stands in the list of its context, until this goes or [is over](Self::end).
pub(crate) struct Listed {
    captures: Arc<Captures>,
    id: u64,
    capture: Arc<Strict>,
}

impl Listed {
    /// Of a capture that this thread has begun on `stream`; none of a relaxed one.
    pub(crate) fn begin(
        context: &ContextInner,
        mode: aclmdlRICaptureMode,
        stream: impl Fn() -> String + Send + Sync + 'static,
    ) -> Option<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        if mode == RELAXED {
            return None;
        }
        let (is_global, thread) = (mode == GLOBAL, ThreadNumber::here());
        let capture = Arc::new(Strict { stream: Box::new(stream), is_global, thread, broken: Lock::default() });
        let (captures, id) = (Arc::clone(&context.captures), NEXT.fetch_add(1, Ordering::Relaxed));
        captures.open.lock().push((id, Arc::clone(&capture)));
        captures.count.fetch_add(1, Ordering::Release);
        Some(Self { captures, id, capture })
    }

    /// The library refuses nothing for it any more.
    pub(crate) fn end(&self) {
        let mut open = self.captures.open.lock();
        if let Some(place) = open.iter().position(|(id, _)| *id == self.id) {
            open.swap_remove(place);
            self.captures.count.fetch_sub(1, Ordering::Release);
        }
    }

    /// The call that was refused for it first.
    pub(crate) fn broken(&self) -> Option<String> {
        self.capture.broken.lock().clone()
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.end();
    }
}

impl ContextInner {
    /// That no open capture forbids a call that blocks, as the library would say, which lets the capture go on. What the
    /// program made of it is not known, so that those which forbid it give no graph.
    #[inline]
    pub(crate) fn check_may_block(&self, what: &'static str, at: &'static Location<'static>) -> Result<()> {
        if self.captures.count.load(Ordering::Acquire) == 0 { Ok(()) } else { self.check_captures(what, at) }
    }

    /// The same of a call for so many elements or bytes: for none of them the library makes it beside any capture.
    #[inline]
    pub(crate) fn check_may_touch(
        &self,
        count: usize,
        what: &'static str,
        at: &'static Location<'static>,
    ) -> Result<()> {
        if count == 0 { Ok(()) } else { self.check_may_block(what, at) }
    }

    /// Whether a call that blocks would be refused beside a capture. None is the worse for the question.
    pub(crate) fn forbids_waits(&self) -> bool {
        self.captures.count.load(Ordering::Acquire) != 0
            && own_mode(self).map_or(true, |own| self.captures.open.lock().iter().any(|(_, open)| open.forbids(own)))
    }

    #[cold]
    fn check_captures(&self, what: &'static str, at: &'static Location<'static>) -> Result<()> {
        let own = own_mode(self)?;
        let forbids = |(_, capture): &(u64, Arc<Strict>)| capture.forbids(own).then(|| Arc::clone(capture));
        let forbidding: Vec<_> = self.captures.open.lock().iter().filter_map(forbids).collect();
        let Some(first) = forbidding.first() else { return Ok(()) };
        let call = format!("{what} at {}:{}", at.file(), at.line());
        for capture in &forbidding {
            let text = format!("{call} blocks, and was refused beside the capture of {}", (capture.stream)());
            capture.broken.lock().get_or_insert(text);
        }
        let text = format!(
            "{call} blocks, beside the capture of {} in CaptureMode::{}, which gives no graph now: make the call before \
             or behind the capture, or in Context::with_capture_mode",
            (first.stream)(),
            first.mode()
        );
        Err(Error::new(ErrorKind::CaptureForbidden, text))
    }
}
