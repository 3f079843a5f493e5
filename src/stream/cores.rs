//! How many cores of the device the work has that a thread submits.
//!
//! A limit counts for kernels that are planned while it holds (guide: device management, resource limits), so operators
//! that are kept for later calls are told apart by it.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use acl_sys::aclrtDevResLimitType;

use crate::call::{call, check_not_locked};
use crate::closure;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::stream::Stream;

pub(crate) const CUBE: aclrtDevResLimitType = aclrtDevResLimitType::ACL_RT_DEV_RES_CUBE_CORE;
pub(crate) const VECTOR: aclrtDevResLimitType = aclrtDevResLimitType::ACL_RT_DEV_RES_VECTOR_CORE;

/// Numbers of cores; 0 where nothing was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub struct Cores {
    /// Matrix cores.
    pub cube: u32,
    /// Vector cores.
    pub vector: u32,
}

impl Cores {
    /// Asks for each number.
    pub(crate) fn ask(ask: impl Fn(aclrtDevResLimitType, &mut u32) -> Result<()>) -> Result<Self> {
        let mut cores = Self::default();
        ask(CUBE, &mut cores.cube)?;
        ask(VECTOR, &mut cores.vector)?;
        Ok(cores)
    }

    /// Sets what is not 0.
    pub(crate) fn set(self, set: impl Fn(aclrtDevResLimitType, u32) -> Result<()>) -> Result<()> {
        let all = [(CUBE, self.cube), (VECTOR, self.vector)];
        all.into_iter().filter(|(_, value)| *value != 0).try_for_each(|(kind, value)| set(kind, value))
    }

    pub(crate) fn check_some(self) -> Result<()> {
        if self == Self::default() { Err(Error::invalid("a limit to no number of cores at all")) } else { Ok(()) }
    }
}

/// A limit that holds on a thread.
struct Hold {
    id: u64,
    cores: Cores,
    /// Nothing is destroyed when the thread ends: the library's own data of it may be gone already.
    stream: ManuallyDrop<Stream>,
}

thread_local! {
    /// The limits of the thread; the last one counts.
    static HOLDS: RefCell<Vec<Hold>> = const { RefCell::new(Vec::new()) };
    static LAST_ID: Cell<u64> = const { Cell::new(0) };
    /// Cores of the last limit, one number in each half; zero where none holds.
    static COUNTS: Cell<u64> = const { Cell::new(0) };
}

/// What tells apart the limits under which this thread plans kernels.
#[inline]
pub(crate) fn planned_cores() -> u64 {
    COUNTS.get()
}

fn plan_for(cores: Cores) {
    COUNTS.set(u64::from(cores.cube) << 32 | u64::from(cores.vector));
}

/// What the thread that made it submits to any stream of the context has at most so many cores, until this goes; see
/// [`Stream::limit_cores`].
#[derive(Debug)]
#[must_use = "the limit ends when it is dropped"]
pub struct CoreLimit {
    id: u64,
    stream: Stream,
    ended: bool,
    /// The library keeps it for the thread.
    _of_thread: PhantomData<*mut ()>,
}

impl Stream {
    /// Limits the operators and kernels that this thread submits from now on to so many cores of the device, so that
    /// work on other streams has the rest; 0 leaves a number as it is. Returns at once. In a capture it counts for what
    /// is captured meanwhile, at every replay. Where a plan has limits of its own, those count while it is issued.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for more cores than the device has, for none
    /// at all, and while another limit holds on this thread;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without such limits.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::Cores;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let limit = stream.limit_cores(Cores { cube: 8, vector: 0 })?;
    /// assert_eq!(device.context().thread_cores()?, Cores { cube: 8, vector: 48 }); // of the mock
    /// limit.end()?;
    /// assert_eq!(device.context().thread_cores()?.cube, 24);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSetStreamResLimit")]
    #[doc(alias = "aclrtUseStreamResInCurrentThread")]
    pub fn limit_cores(&self, cores: Cores) -> Result<CoreLimit> {
        cores.check_some()?;
        if HOLDS.with_borrow(|holds| !holds.is_empty()) {
            return Err(Error::invalid("another limit of cores holds on this thread"));
        }
        CoreLimit::begin(self, cores)
    }

    /// How many cores work of this stream has where [`limit_cores`](Self::limit_cores) of it holds: its limit, else that
    /// of the device.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without such limits;
    /// [`ErrorKind::InvalidHandle`](crate::ErrorKind::InvalidHandle) for a stream destroyed beside this crate.
    #[doc(alias = "aclrtGetStreamResLimit")]
    pub fn core_limit(&self) -> Result<Cores> {
        let (context, raw) = (&**self.0.context(), self.as_raw());
        // SAFETY: a live handle of this context, and a place for one number.
        Cores::ask(|kind, value| unsafe { call!(context, aclrtGetStreamResLimit(raw, kind, value)) })
    }

    /// What is set for the stream counts for what this thread submits.
    fn use_cores(&self, cores: Cores) -> Result<()> {
        let (context, raw) = (&**self.0.context(), self.as_raw());
        // SAFETY: takes a live handle of this context and numbers.
        cores.set(|kind, value| unsafe { call!(context, aclrtSetStreamResLimit(raw, kind, value)) })?;
        // SAFETY: takes a live handle of this context.
        unsafe { call!(context, aclrtUseStreamResInCurrentThread(raw)) }
    }
}

impl Context {
    /// How many cores the operators have that this thread plans now.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without limits of cores.
    #[doc(alias = "aclrtGetResInCurrentThread")]
    pub fn thread_cores(&self) -> Result<Cores> {
        // SAFETY: a place for one number.
        Cores::ask(|kind, value| unsafe { call!(&**self.inner(), aclrtGetResInCurrentThread(kind, value)) })
    }
}

/// How many cores of its device work of this process has.
pub(crate) fn device_cores(context: &Context) -> Result<Cores> {
    let (inner, device) = (&**context.inner(), context.device_id());
    // SAFETY: a place for one number.
    Cores::ask(|kind, value| unsafe { call!(inner, aclrtGetDeviceResLimit(device, kind, value)) })
}

impl CoreLimit {
    /// Ends the limit now.
    ///
    /// # Errors
    ///
    /// What the library says; it is not tried again. [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) while
    /// this thread has the [process locked](crate::Acl::lock_process), with which it ends then.
    #[doc(alias = "aclrtUnuseStreamResInCurrentThread")]
    #[doc(alias = "aclrtResetStreamResLimit")]
    pub fn end(mut self) -> Result<()> {
        check_not_locked()?;
        self.undo()
    }

    /// A limit that counts in place of any other of this thread until it ends.
    pub(crate) fn begin(stream: &Stream, cores: Cores) -> Result<Self> {
        let id = LAST_ID.get() + 1;
        LAST_ID.set(id);
        // From here on its end undoes what was set.
        let mut limit = Self { id, stream: stream.clone(), ended: false, _of_thread: PhantomData };
        HOLDS.with_borrow_mut(|holds| holds.push(Hold { id, cores, stream: ManuallyDrop::new(stream.clone()) }));
        if let Err(error) = stream.use_cores(cores) {
            return Err(match limit.undo() {
                Ok(()) => error,
                // A library without limits has nothing to undo.
                Err(second) if second.kind() == ErrorKind::MissingSymbol => error,
                Err(second) => error.with_detail(format!("and it could not be undone: {second}")),
            });
        }
        plan_for(cores);
        Ok(limit)
    }

    fn undo(&mut self) -> Result<()> {
        self.ended = true;
        let (counted, counts) = self.leave();
        if !counted {
            return if counts.is_some_and(|(stream, _)| stream == self.stream) { Ok(()) } else { self.reset() };
        }
        let (context, raw) = (&**self.stream.0.context(), self.stream.as_raw());
        plan_for(counts.as_ref().map_or_else(Cores::default, |(_, cores)| *cores));
        // SAFETY: takes a live handle of this context.
        let unused = unsafe { call!(context, aclrtUnuseStreamResInCurrentThread(raw)) };
        let reset = self.reset();
        let back = counts.map_or(Ok(()), |(stream, cores)| stream.use_cores(cores));
        unused.and(reset).and(back)
    }

    fn reset(&self) -> Result<()> {
        let (context, raw) = (&**self.stream.0.context(), self.stream.as_raw());
        // SAFETY: takes a live handle of this context.
        unsafe { call!(context, aclrtResetStreamResLimit(raw)) }
    }

    /// Takes the limit off the thread's list; whether it counted, and what counts now.
    fn leave(&self) -> (bool, Option<(Stream, Cores)>) {
        let leave = |holds: &RefCell<Vec<Hold>>| {
            let mut holds = holds.borrow_mut();
            let counted = holds.last().is_some_and(|last| last.id == self.id);
            let place = holds.iter().position(|hold| hold.id == self.id);
            let left = place.map(|place| holds.remove(place));
            (left, counted, holds.last().map(|last| (Stream::clone(&last.stream), last.cores)))
        };
        // At the end of the thread its list may be gone; then nothing counts any more.
        let (left, counted, counts) = HOLDS.try_with(leave).unwrap_or((None, true, None));
        drop(left.map(|hold| ManuallyDrop::into_inner(hold.stream)));
        (counted, counts)
    }
}

impl Drop for CoreLimit {
    fn drop(&mut self) {
        if !self.ended && closure::is_process_locked() {
            // No other thread can end it.
            self.ended = true;
            let heir = Self { stream: self.stream.clone(), ended: false, ..*self };
            return closure::once_unlocked(|| drop(heir));
        }
        if !self.ended
            && let Err(error) = self.undo()
        {
            self.stream.0.context().record_drop_error("ending the core limit of a stream", error);
        }
    }
}
