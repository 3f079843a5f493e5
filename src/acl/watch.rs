//! Functions of the program that hear what becomes of streams and devices, whoever makes them.

use std::collections::BTreeMap;
use std::ffi::{CString, c_void};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use acl_sys::{
    aclrtDeviceState, aclrtDeviceStateCallback, aclrtDeviceTaskAbortCallback, aclrtDeviceTaskAbortStage, aclrtStream,
    aclrtStreamState, aclrtStreamStateCallback,
};

use super::Acl;
use crate::call::{call, check_not_locked, refuse_abort};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{Lock, as_if_alone, caught, say};
use crate::retire;

/// What becomes of a stream ([`Acl::watch_streams`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StreamState {
    /// It was made.
    Created,
    /// It is about to be destroyed.
    Destroying,
    /// A number that this crate has no name for.
    Other(u32),
}

/// What becomes of a device ([`Acl::watch_devices`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceState {
    /// It is about to be opened.
    Opening,
    /// It was opened.
    Opened,
    /// It is about to be reset.
    Resetting,
    /// It was reset.
    Reset,
    /// A number that this crate has no name for.
    Other(u32),
}

/// When a function of [`Acl::watch_aborts`] is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AbortStage {
    /// The device's work is about to be dropped.
    Before,
    /// It was dropped.
    After,
    /// A number that this crate has no name for.
    Other(u32),
}

type AbortFunction = dyn Fn(i32, AbortStage, Duration) -> bool + Send + Sync;

#[derive(Clone)]
enum Function {
    Stream(Arc<dyn Fn(usize, StreamState) + Send + Sync>),
    Device(Arc<dyn Fn(i32, DeviceState) + Send + Sync>),
    Abort(Arc<AbortFunction>),
}

impl Function {
    fn kind(&self) -> Kind {
        match self {
            Self::Stream(_) => Kind::Stream,
            Self::Device(_) => Kind::Device,
            Self::Abort(_) => Kind::Abort,
        }
    }
}

/// What is heard of.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Stream,
    Device,
    Abort,
}

/// By the number that the library gives back: one that is called late finds nothing, and no address of what is gone.
static ALL: Lock<BTreeMap<usize, Function>> = Lock::new(BTreeMap::new());

fn find(number: *mut c_void) -> Option<Function> {
    ALL.lock().get(&number.addr()).cloned()
}

/// The program's function, with no lock held; the library's stack must not be unwound. None when it panicked, and when
/// what it owns did, which goes here where the watch has ended meanwhile.
fn run<F: ?Sized, T>(function: Arc<F>, call: impl FnOnce(&F) -> T) -> Option<T> {
    let ran = as_if_alone(|| {
        let ran = caught(|| call(&function));
        caught(|| drop(function)).and(ran)
    });
    if ran.is_none() {
        say!(Error, "a function that watches streams or devices panicked");
    }
    ran
}

unsafe extern "C" fn on_stream(stream: aclrtStream, state: aclrtStreamState, number: *mut c_void) {
    let state = match state {
        aclrtStreamState::ACL_RT_STREAM_STATE_CREATE_POST => StreamState::Created,
        aclrtStreamState::ACL_RT_STREAM_STATE_DESTROY_PRE => StreamState::Destroying,
        other => StreamState::Other(other.0),
    };
    if let Some(Function::Stream(function)) = find(number) {
        run(function, |function| function(stream.addr(), state));
    }
}

unsafe extern "C" fn on_device(device: i32, state: aclrtDeviceState, number: *mut c_void) {
    let state = match state {
        aclrtDeviceState::ACL_RT_DEVICE_STATE_SET_PRE => DeviceState::Opening,
        aclrtDeviceState::ACL_RT_DEVICE_STATE_SET_POST => DeviceState::Opened,
        aclrtDeviceState::ACL_RT_DEVICE_STATE_RESET_PRE => DeviceState::Resetting,
        aclrtDeviceState::ACL_RT_DEVICE_STATE_RESET_POST => DeviceState::Reset,
        other => DeviceState::Other(other.0),
    };
    if let Some(Function::Device(function)) = find(number) {
        run(function, |function| function(device, state));
    }
}

unsafe extern "C" fn on_abort(
    device: i32,
    stage: aclrtDeviceTaskAbortStage,
    milliseconds: u32,
    number: *mut c_void,
) -> i32 {
    let stage = match stage {
        aclrtDeviceTaskAbortStage::ACL_RT_DEVICE_TASK_ABORT_PRE => AbortStage::Before,
        aclrtDeviceTaskAbortStage::ACL_RT_DEVICE_TASK_ABORT_POST => AbortStage::After,
        other => AbortStage::Other(other.0),
    };
    let limit = Duration::from_millis(milliseconds.into());
    match find(number) {
        Some(Function::Abort(function)) => {
            let refused = run(function, |function| function(device, stage, limit)) != Some(true);
            if refused && stage == AbortStage::Before {
                refuse_abort();
            }
            i32::from(refused)
        }
        _ => 0,
    }
}

/// A function that hears of streams, devices or their aborts, until this goes; see [`Acl::watch_streams`].
#[must_use = "the function hears nothing once it is dropped"]
pub struct Watch {
    acl: Acl,
    /// None once it has ended.
    registration: Option<Registration>,
}

impl Acl {
    /// Calls `function` with the handle of each stream that any code of the process makes or destroys, default streams
    /// and those of this crate included, until the value goes. It runs on the thread that does so, in the middle of the
    /// library's call, so it must not call the library. A panic in it is caught and said in the log.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Other`] (207012) when the library has no room for one more; [`ErrorKind::MissingSymbol`] on a
    /// library that does not tell.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// use racl::StreamState;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let made = Arc::new(AtomicUsize::new(0));
    /// let count = Arc::clone(&made);
    /// let watch = acl.watch_streams(move |_, state| {
    ///     count.fetch_add(usize::from(state == StreamState::Created), Ordering::Relaxed);
    /// })?;
    /// acl.device(0)?.stream()?;
    /// assert!(made.load(Ordering::Relaxed) > 0);
    /// watch.end()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtRegStreamStateCallback")]
    pub fn watch_streams(&self, function: impl Fn(usize, StreamState) + Send + Sync + 'static) -> Result<Watch> {
        self.watch(Function::Stream(Arc::new(function)))
    }

    /// Calls `function` with the number of each device that any code of the process opens or resets, until the value
    /// goes. Otherwise as [`watch_streams`](Self::watch_streams).
    ///
    /// # Errors
    ///
    /// As [`watch_streams`](Self::watch_streams).
    #[doc(alias = "aclrtRegDeviceStateCallback")]
    pub fn watch_devices(&self, function: impl Fn(i32, DeviceState) + Send + Sync + 'static) -> Result<Watch> {
        self.watch(Function::Device(Arc::new(function)))
    }

    /// Calls `function` with the number of a device before and after all its work is dropped, by
    /// [`Context::abort_device`](crate::Context::abort_device) or by other code of the process, with the time limit of
    /// that, until the value goes. It runs on the thread that aborts, in the middle of the library's call, so it must
    /// not call the library. False, and a panic, which is caught and said in the log, let the abort fail: before it,
    /// nothing is dropped.
    ///
    /// # Errors
    ///
    /// As [`watch_streams`](Self::watch_streams).
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use std::time::Duration;
    ///
    /// use racl::AbortStage;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let watch = device.acl().watch_aborts(|device, stage, _| {
    ///     assert!(device == 0 && [AbortStage::Before, AbortStage::After].contains(&stage));
    ///     true // go on
    /// })?;
    /// device.context().abort_device(Duration::from_secs(10))?;
    /// watch.end()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSetDeviceTaskAbortCallback")]
    pub fn watch_aborts(
        &self,
        function: impl Fn(i32, AbortStage, Duration) -> bool + Send + Sync + 'static,
    ) -> Result<Watch> {
        self.watch(Function::Abort(Arc::new(function)))
    }

    fn watch(&self, function: Function) -> Result<Watch> {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = CString::new(format!("racl {number}"))
            .map_err(|error| Error::new(ErrorKind::Internal, "a name with a zero byte").with_source(error))?;
        let registration = Registration { number, name, kind: function.kind() };
        ALL.lock().insert(number, function);
        if let Err(error) = registration.set(self, true) {
            forget(number);
            return Err(error);
        }
        Ok(Watch { acl: self.clone(), registration: Some(registration) })
    }
}

/// What the function owns is dropped with no lock held.
fn forget(number: usize) {
    let function = ALL.lock().remove(&number);
    drop(function);
}

struct Registration {
    number: usize,
    name: CString,
    kind: Kind,
}

impl Registration {
    fn set(&self, acl: &Acl, on: bool) -> Result<()> {
        let name = self.name.as_ptr();
        let number: *mut c_void = std::ptr::without_provenance_mut(self.number);
        match self.kind {
            Kind::Stream => {
                let function: aclrtStreamStateCallback = if on { Some(on_stream) } else { None };
                // SAFETY: a NUL-terminated string that lives as long as the registration, a function that lives as long
                // as the program, and a number that nobody reads through.
                unsafe { call!(acl, aclrtRegStreamStateCallback(name, function, number)) }
            }
            Kind::Device => {
                let function: aclrtDeviceStateCallback = if on { Some(on_device) } else { None };
                // SAFETY: as above.
                unsafe { call!(acl, aclrtRegDeviceStateCallback(name, function, number)) }
            }
            Kind::Abort => {
                let function: aclrtDeviceTaskAbortCallback = if on { Some(on_abort) } else { None };
                // SAFETY: as above.
                unsafe { call!(acl, aclrtSetDeviceTaskAbortCallback(name, function, number)) }
            }
        }
    }
}

impl Watch {
    /// Ends the watch now. A call of the function that is under way on another thread may outlast it.
    ///
    /// # Errors
    ///
    /// What the library says; the function hears nothing more all the same. [`ErrorKind::NotSupported`] while this
    /// thread has the [process locked](Acl::lock_process): the library is told once that is unlocked.
    pub fn end(mut self) -> Result<()> {
        check_not_locked()?;
        self.undo()
    }

    fn undo(&mut self) -> Result<()> {
        let Some(registration) = self.registration.take() else { return Ok(()) };
        forget(registration.number);
        registration.set(&self.acl, false).inspect_err(|_| {
            // The library still has its name.
            std::mem::forget(registration);
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(registration) = self.registration.take_if(|_| retire::must_leave()) {
            forget(registration.number);
            return retire::on_thread(Self { acl: self.acl.clone(), registration: Some(registration) }, drop);
        }
        if let Err(error) = self.undo() {
            say!(Error, "ending a watch of streams or devices: {error:#}");
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}
