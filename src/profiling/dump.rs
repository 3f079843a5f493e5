//! Dumps: what operators read and wrote, into files or to the program.

use std::ffi::CStr;
use std::fmt;
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use acl_sys::acldumpChunk;

use crate::acl::{Acl, ConfigFile, DumpOptions};
use crate::call::{call, check_not_locked, value};
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::lock::{Lock, as_if_alone, say};
use crate::retire;

type Receive = dyn Fn(DumpChunk<'_>) + Send + Sync;

static STATE: Lock<State> = Lock::new(State { runs: false, receiver: None });

struct State {
    /// This process has a dump of this crate.
    runs: bool,
    receiver: Option<Arc<Receiver>>,
}

/// What a dump goes to.
struct Receiver {
    function: Box<Receive>,
    panicked: AtomicBool,
}

/// Runs what may panic, as functions of the program do, and so may the payload of that. Whether it did.
fn panics(work: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(|| as_if_alone(work))).map_err(std::mem::forget).is_err()
}

/// A part of what would be a file of a dump.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
#[doc(alias = "acldumpChunk")]
pub struct DumpChunk<'a> {
    /// What the file would be called.
    pub file: &'a str,
    /// Where in it the bytes belong; none for the end of what came before.
    pub offset: Option<u64>,
    /// The bytes.
    pub bytes: &'a [u8],
    /// Whether they are the last ones.
    pub is_last: bool,
}

/// A dump that goes on, from [`Acl::dump`] or [`Acl::dump_to`]. It ends with [`Dump::stop`], or when it is dropped.
///
/// Work that is queued runs later: synchronise before the end. Runs are slow meanwhile. Any thread may end it.
///
/// C calls: `aclmdlInitDump`, `aclmdlSetDump`, `aclmdlFinalizeDump`, `acldumpRegCallback`, `acldumpUnregCallback`.
pub struct Dump {
    ended: bool,
    receives: bool,
    acl: Acl,
}

impl Acl {
    /// Begins to dump into files; their names and format are the library's, on the mock those of NumPy.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyInitialized`] while the process has another dump, of this crate or of other code;
    /// [`ErrorKind::File`] for a folder that is not there; [`ErrorKind::InvalidArgument`] for one whose name is no
    /// Unicode, and for iterations or statistics of which there are none; [`ErrorKind::MissingSymbol`] on a library
    /// without dumps.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::profiling::DumpOptions;
    /// use racl::{Acl, op};
    ///
    /// let acl = Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let mut x = device.upload_tensor(&[1.0_f32, 2.0], [2])?;
    /// let folder = std::env::temp_dir().join(format!("racl-dump-{}", std::process::id()));
    /// std::fs::create_dir(&folder).unwrap();
    /// let dump = acl.dump(&DumpOptions::new(&folder))?;
    /// op::muls_inplace(&stream, &mut x, 2.0)?;
    /// stream.synchronize()?;
    /// dump.stop()?;
    /// assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlInitDump")]
    #[doc(alias = "aclmdlSetDump")]
    pub fn dump(&self, options: &DumpOptions) -> Result<Dump> {
        self.begin_dump(options, None)
    }

    /// As [`Acl::dump`], to a function of the program instead of files: it gets them in parts, in order, on a thread of
    /// the library that may be in the midst of work. It must not use this crate. A panic in it ends that file, and
    /// [`Dump::stop`] tells of it. The folder is that of files for which nobody asks.
    ///
    /// # Errors
    ///
    /// As [`Acl::dump`].
    #[doc(alias = "acldumpRegCallback")]
    pub fn dump_to(
        &self,
        options: &DumpOptions,
        receive: impl Fn(DumpChunk<'_>) + Send + Sync + 'static,
    ) -> Result<Dump> {
        self.begin_dump(options, Some(Box::new(receive)))
    }

    fn begin_dump(&self, options: &DumpOptions, receive: Option<Box<Receive>>) -> Result<Dump> {
        options.check()?;
        let config = ConfigFile::write(&format!("{{\"dump\":{}}}", options.section()))?;
        let path = config.path()?;
        let receives = receive.is_some();
        {
            let mut state = STATE.lock();
            if state.runs {
                let text = "the process has a dump already, and the library makes one at a time";
                return Err(Error::new(ErrorKind::AlreadyInitialized, text));
            }
            let receiver = receive.map(|function| Arc::new(Receiver { function, panicked: AtomicBool::new(false) }));
            *state = State { runs: true, receiver };
        }
        // SAFETY: takes nothing.
        if let Err(error) = unsafe { call!(self, aclmdlInitDump()) } {
            forget();
            return Err(error);
        }
        let mut dump = Dump { ended: false, receives: false, acl: self.clone() };
        // SAFETY: a path that ends with a zero; the file is there until the call returns.
        let mut begun = unsafe { call!(self, aclmdlSetDump(path.as_ptr())) };
        if begun.is_ok() && receives {
            // SAFETY: a function that lasts as long as the program.
            begun = unsafe { call!(self, acldumpRegCallback(Some(received), 0)) };
            dump.receives = begun.is_ok();
        }
        match begun {
            Ok(()) => Ok(dump),
            Err(error) => {
                // The first error is the one that counts.
                let _ = dump.end_somehow();
                Err(error)
            }
        }
    }
}

/// What the library calls with each part.
///
/// # Safety
///
/// `chunk` is null or a part with `bufLen` bytes behind it.
unsafe extern "C" fn received(chunk: *const acldumpChunk, _bytes: i32) -> i32 {
    if chunk.is_null() {
        return 1;
    }
    let receiver = STATE.lock().receiver.clone();
    let Some(receiver) = receiver else { return 1 };
    // SAFETY: this function's own condition.
    let head = unsafe { &*chunk };
    let start = chunk.cast::<u8>().wrapping_add(offset_of!(acldumpChunk, dataBuf));
    // SAFETY: as many bytes are behind the head, and stay until this function returns.
    let bytes = unsafe { std::slice::from_raw_parts(start, head.bufLen as usize) };
    let name: Vec<u8> = head.fileName.iter().map(|byte| byte.cast_unsigned()).collect();
    let file = CStr::from_bytes_until_nul(&name).unwrap_or_default().to_string_lossy();
    // -1 stands for the end of the file, in the runtime's guide.
    let part = DumpChunk { file: &file, offset: head.offset.try_into().ok(), bytes, is_last: head.isLastChunk != 0 };
    let panicked = panics(|| (receiver.function)(part));
    if panicked {
        receiver.panicked.store(true, Ordering::Relaxed);
    }
    // The dump may have ended meanwhile, which leaves the function to this thread.
    i32::from(panics(|| drop(receiver)) || panicked)
}

/// Lets the next dump begin. Whether the function of this one panicked.
fn forget() -> bool {
    let former = std::mem::replace(&mut *STATE.lock(), State { runs: false, receiver: None });
    let Some(receiver) = former.receiver else { return false };
    let panicked = receiver.panicked.load(Ordering::Relaxed);
    panics(|| drop(receiver)) || panicked
}

impl Dump {
    /// Ends the dump.
    ///
    /// # Errors
    ///
    /// The dump and why: [`ErrorKind::CallbackPanicked`] when a function of the program did, where the dump is ended all
    /// the same; what the library says. Another stop goes on where this one failed, and the drop of the dump tries once
    /// more, after the unlock where this thread has the [process locked](Acl::lock_process),
    /// [`ErrorKind::NotSupported`].
    #[doc(alias = "aclmdlFinalizeDump")]
    pub fn stop(mut self) -> Result<(), Refused<Self>> {
        let ended = check_not_locked().and_then(|()| self.stop_receiving()).and_then(|()| self.finalize());
        ended.map_err(|error| Refused::new(self, error))
    }

    fn stop_receiving(&mut self) -> Result<()> {
        if self.receives {
            // SAFETY: takes nothing, and gives nothing.
            unsafe { value!(&self.acl, acldumpUnregCallback()) }?;
            self.receives = false;
        }
        Ok(())
    }

    fn finalize(&mut self) -> Result<()> {
        if self.ended {
            return Ok(());
        }
        // SAFETY: takes nothing; this value began the dump.
        unsafe { call!(&self.acl, aclmdlFinalizeDump()) }?;
        self.ended = true;
        if forget() {
            let text = "the function that a dump goes to panicked; what it was given then is lost";
            return Err(Error::new(ErrorKind::CallbackPanicked, text));
        }
        Ok(())
    }

    /// Both steps of the end, whatever becomes of the other; the first error. The next dump may be tried then.
    fn end_somehow(&mut self) -> Result<()> {
        if self.ended {
            return Ok(());
        }
        let done = self.stop_receiving().and(self.finalize());
        if !std::mem::replace(&mut self.ended, true) {
            forget();
        }
        done
    }
}

impl Drop for Dump {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        if retire::must_leave() {
            self.ended = true;
            let heir = Self { ended: false, receives: self.receives, acl: self.acl.clone() };
            return retire::on_thread(heir, drop);
        }
        if let Err(error) = self.end_somehow() {
            say!(Error, "ending a dump: {error:#}");
        }
    }
}

impl fmt::Debug for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dump").field("receives", &self.receives).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_belongs_somewhere_or_to_the_end_of_its_file() {
        static OFFSETS: Lock<Vec<Option<u64>>> = Lock::new(Vec::new());
        let function: Box<Receive> = Box::new(|part: DumpChunk<'_>| OFFSETS.lock().push(part.offset));
        let receiver = Some(Arc::new(Receiver { function, panicked: AtomicBool::new(false) }));
        *STATE.lock() = State { runs: true, receiver };
        for offset in [0, -1, 7] {
            let data = Default::default();
            let part =
                acldumpChunk { fileName: [0; 4096], bufLen: 0, isLastChunk: 0, offset, flag: 0, dataBuf: data };
            // SAFETY: a part with nothing behind it.
            assert_eq!(unsafe { received(&raw const part, 0) }, 0);
        }
        assert!(!forget());
        assert_eq!(*OFFSETS.lock(), [Some(0), None, Some(7)]);
    }
}
