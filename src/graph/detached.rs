//! Captures on their way from one thread to another.

use std::fmt;

use super::capture::Capture;
use crate::error::{Error, ErrorKind, Refused};
use crate::lock::ThreadNumber;

/// A capture that may go to another thread, given by [`Capture::detach`]. Work is given to its streams as before, by
/// any thread; [`attach`](Self::attach) gives the [`Capture`] back, to be finished.
///
/// Only a [relaxed](super::CaptureMode::Relaxed) capture ends with a graph on another thread than that which began it:
/// the library refuses others there. Dropping it ends the capture without a graph, on any thread, in every mode, and
/// its streams are free again. Of one that is not relaxed the library keeps what it recorded then, as long as the
/// process.
///
/// # Examples
///
/// ```
/// use racl::CaptureMode;
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let mut buffer = device.alloc::<u8>(4)?;
/// let capture = stream.begin_capture(CaptureMode::Relaxed)?.detach();
/// stream.fill_bytes(&mut buffer, 1)?;
/// let finished = std::thread::spawn(move || capture.attach()?.finish());
/// finished.join().expect("it does not panic")?.launch(&stream)?;
/// assert_eq!(buffer.to_vec()?, [1; 4]);
///
/// // Another one is given up there.
/// let capture = stream.begin_capture(CaptureMode::ThreadLocal)?.detach();
/// std::thread::spawn(move || drop(capture)).join().expect("it does not panic");
/// stream.close()?;
/// # Ok::<(), racl::Error>(())
/// ```
#[must_use = "the capture ends when this is dropped"]
pub struct DetachedCapture {
    capture: Capture,
    thread: ThreadNumber,
}

// SAFETY: a capture stays on its thread because the runtime gives its graph only there, in all modes but the relaxed one.
// On others this gives no capture but a relaxed one, and is dropped: the end of the capture is refused and frees its
// streams (observed: capture_end_thread). What it consists of may cross threads by itself.
unsafe impl Send for DetachedCapture {}

impl Capture {
    /// The capture as a value that may go to another thread. See [`DetachedCapture`].
    pub fn detach(self) -> DetachedCapture {
        DetachedCapture { capture: self, thread: ThreadNumber::here() }
    }
}

impl DetachedCapture {
    /// Whether the capture can be finished on this thread.
    #[must_use]
    pub fn ends_here(&self) -> bool {
        self.capture.is_relaxed() || self.thread == ThreadNumber::here()
    }

    /// The capture, on a thread where it can be finished.
    ///
    /// # Errors
    ///
    /// This value and [`ErrorKind::CaptureWrongThread`] on another thread than that which began it, unless it is
    /// [relaxed](super::CaptureMode::Relaxed).
    pub fn attach(self) -> Result<Capture, Refused<Self>> {
        if self.ends_here() {
            return Ok(self.capture);
        }
        let text = "a capture that is not relaxed gives a graph on the thread that began it alone";
        Err(Refused::new(self, Error::new(ErrorKind::CaptureWrongThread, text)))
    }
}

impl fmt::Debug for DetachedCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DetachedCapture").field("capture", &self.capture).finish_non_exhaustive()
    }
}
