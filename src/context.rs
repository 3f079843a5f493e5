//! Contexts: the thread-bound scope of streams, events, memory and graphs on a device.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use acl_sys::Table;

use crate::acl::{Acl, kept};
use crate::call::{self, Caller, Scope, bind_anew, call, forget_binding};
use crate::closure::{self, Spent};
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::failures::Failures;
use crate::lock::{Lock, say};
use crate::progress::Passes;
use crate::retire::{self, Waited};

mod allocator;
mod beside;
mod captures;
mod conditions;
mod events;
mod foreign;
mod idle;
mod lines;
mod memory;
#[cfg(feature = "mock")]
pub(crate) mod older;
mod operators;
mod options;
mod place;
pub(crate) mod primary;
mod processes;
mod ranges;
mod reclaim;
pub(crate) mod reports;
mod room;

pub use allocator::{Allocator, ForeignAllocator};
pub(crate) use allocator::{GiveBack, Piece};
use captures::Captures;
pub(crate) use captures::{Listed, exchange_mode};
use conditions::Launches;
pub(crate) use events::{Events, RawEvent};
pub(crate) use foreign::Lender;
pub(crate) use idle::Idle;
pub(crate) use operators::Holder;
use operators::Operators;
pub(crate) use operators::{age, forget_operators};
pub use options::SystemOption;
pub(crate) use options::waits_may_end;
pub use place::{Place, PlaceKind};
pub(crate) use processes::process_numbers;
use reclaim::Reclaim;
pub(crate) use reclaim::{Behind, Found, give_up};
use reports::Reports;
pub(crate) use room::{find as find_room, find_own};

/// A context of a device. Streams, events, buffers and graphs belong to the one that made them and keep it alive.
///
/// A [`Device`](crate::Device) stands for its primary context, which all users of the device share; most programs
/// need no other. Each call of this crate makes the right context current on its thread by itself; code that changes
/// the thread's context beside this crate calls [`Context::bind`] afterwards.
///
/// Clones are cheap. Any thread may use it.
///
/// C calls: `aclrtSetDevice`, `aclrtResetDevice`, `aclrtCreateContext`, `aclrtDestroyContext`,
/// `aclrtSetCurrentContext`.
#[derive(Clone)]
pub struct Context(Arc<ContextInner>);

pub(crate) struct ContextInner {
    raw: acl_sys::aclrtContext,
    /// Never reused, unlike addresses: the thread's binding is remembered by it.
    id: u64,
    device: i32,
    owner: Owner,
    pub(crate) reclaim: Arc<Reclaim>,
    pub(crate) spent: Spent,
    /// Who runs them.
    pub(crate) reports: Reports,
    /// Executors for later calls.
    pub(crate) operators: Operators,
    /// Idle streams that captures lease.
    pub(crate) idle_streams: Arc<Idle>,
    /// Idle events that order streams.
    pub(crate) events: Events,
    /// Asked at the first launch of a kernel.
    launches: OnceLock<Launches>,
    /// Beside which calls that block are refused.
    captures: Arc<Captures>,
    /// Tasks of the device that failed.
    pub(crate) failures: Arc<Failures>,
    /// Streams wait by themselves for others that use the same memory.
    tracking: AtomicBool,
    drop_errors: Lock<Vec<Error>>,
    /// Who has one of its streams for a moment, and with it the context.
    pub(crate) passes: Arc<Passes>,
    /// The context is given back or destroyed.
    ended: AtomicBool,
    /// A created context ends before the primary one, whose end resets the device.
    _parent: Option<Arc<Self>>,
    /// What other code keeps the context by: goes when nothing of it is used any more.
    lender: Lender,
    /// Last: the library outlives the context.
    acl: Acl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The device's primary context: one reference of `aclrtSetDevice`.
    Primary,
    /// Made by `aclrtCreateContext`.
    Created,
    /// Other code has it, and ends it.
    Others,
}

/// What becomes of the device of a primary context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// It stays open for the next who asks.
    Kept,
    /// Its reference is given back.
    Released,
    /// It is reset, whoever has it.
    Forced,
    /// Other code ends the context from here on.
    GivenAway,
}

// SAFETY: the runtime's guide on contexts lets any thread that makes a context current use it and what belongs to it;
// every call of this crate does so first. The raw handle is only passed on, never dereferenced.
unsafe impl Send for ContextInner {}
// SAFETY: as above; submissions are locked per stream by the runtime, and the fields here have their own locks, but for
// the lender, which only the last who has the context looks at.
unsafe impl Sync for ContextInner {}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl ContextInner {
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn device(&self) -> i32 {
        self.device
    }

    /// Whether memory of `other` can be used here: the same device through the same library.
    pub(crate) fn shares_memory_with(&self, other: &Self) -> bool {
        self.device == other.device && std::ptr::eq(self.table(), other.table())
    }

    /// That a handle of `other` means something here: handles of another library are bare pointers to this one.
    #[inline(always)]
    pub(crate) fn check_library(&self, other: &Self, what: &str) -> Result<()> {
        if std::ptr::eq(self, other) { Ok(()) } else { self.check_table(other, what) }
    }

    #[inline(never)]
    fn check_table(&self, other: &Self, what: &str) -> Result<()> {
        if std::ptr::eq(self.table(), other.table()) {
            return Ok(());
        }
        let (library, given) = (self.acl.library(), other.acl.library());
        Err(Error::invalid(format!("{what} of {given} used with {library}")))
    }

    /// That memory of `other` means something here; `what` begins the error.
    pub(crate) fn check_memory(&self, other: &Self, what: impl FnOnce() -> String) -> Result<()> {
        if self.shares_memory_with(other) {
            return Ok(());
        }
        let what = what();
        self.check_library(other, &what)?;
        Err(Error::invalid(format!("{what} of device {} used on device {}", other.device, self.device)))
    }

    /// The call table, for what may outlive the context.
    pub(crate) fn shared_table(&self) -> Arc<Table> {
        self.acl.shared_table()
    }

    /// Before an operator is planned: says in the log, once, when the operators are not those of the runtime.
    #[inline]
    pub(crate) fn before_operator(&self) {
        let _ = self.acl.mixed_toolkits();
    }

    fn memory_info(&self) -> Result<(usize, usize)> {
        let (mut free, mut total) = (0, 0);
        let kind = acl_sys::aclrtMemAttr::ACL_HBM_MEM;
        // SAFETY: two places for one number each.
        unsafe { call!(self, aclrtGetMemInfo(kind, &raw mut free, &raw mut total)) }?;
        Ok((free, total))
    }

    pub(crate) fn is_tracking(&self) -> bool {
        self.tracking.load(Ordering::Relaxed)
    }

    pub(crate) fn record_drop_error(&self, what: &str, error: Error) {
        if call::is_forked() {
            static TOLD: AtomicBool = AtomicBool::new(false);
            if !TOLD.swap(true, Ordering::Relaxed) {
                say!(
                    Warn,
                    "what this process drops is the one's that it was forked from, and is left alone: {error:#}"
                );
            }
            return;
        }
        say!(Error, "{what}: {error:#}");
        let mut errors = self.drop_errors.lock();
        if errors.len() < 64 {
            errors.push(error.context(what.to_owned()));
        }
    }
}

impl Caller for ContextInner {
    #[inline]
    fn table(&self) -> &Table {
        self.acl.table()
    }

    #[inline]
    fn bind(&self) -> Result<()> {
        call::bind(self)
    }
}

impl Scope for ContextInner {
    #[inline]
    fn id(&self) -> u64 {
        self.id
    }

    fn raw(&self) -> acl_sys::aclrtContext {
        self.raw
    }
}

impl Context {
    /// A further context on the device of this one, with default stream, limits and memory of its own. Its memory comes
    /// from where that of this one does ([`Context::set_allocator`]).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoStreams`] when the device has none left for the context's default stream.
    #[doc(alias = "aclrtCreateContext")]
    pub fn create_context(&self) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        Idle::with_room(&self.0, || {
            forget_binding();
            // SAFETY: `raw` is a place for one handle; the device is open, since this context is.
            unsafe { call!(&self.0.acl, aclrtCreateContext(&raw mut raw, self.0.device)) }
        })?;
        let parent = Some(Arc::clone(&self.0));
        let context = Self::own(&self.0.acl, raw, self.0.device, Owner::Created, parent, Lender::default());
        context.set_allocator(self.0.reclaim.allocator());
        Ok(context)
    }

    fn own(
        acl: &Acl,
        raw: acl_sys::aclrtContext,
        device: i32,
        owner: Owner,
        parent: Option<Arc<ContextInner>>,
        lender: Lender,
    ) -> Self {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Self(Arc::new(ContextInner {
            raw,
            id,
            device,
            owner,
            reclaim: Reclaim::of(device, acl.table()),
            spent: Spent::default(),
            reports: Reports::of(acl.table()),
            operators: Operators::default(),
            idle_streams: Idle::of(raw, id, device, acl.table()),
            events: Events::default(),
            launches: OnceLock::new(),
            captures: Arc::default(),
            failures: Failures::of(acl.table(), device),
            tracking: AtomicBool::new(true),
            drop_errors: Lock::default(),
            passes: Arc::default(),
            ended: AtomicBool::new(false),
            _parent: parent,
            lender,
            acl: acl.clone(),
        }))
    }

    pub(crate) fn inner(&self) -> &Arc<ContextInner> {
        &self.0
    }

    pub(crate) fn from_inner(inner: &Arc<ContextInner>) -> Self {
        Self(Arc::clone(inner))
    }

    /// The initialisation that this context belongs to.
    #[must_use]
    pub fn acl(&self) -> &Acl {
        &self.0.acl
    }

    /// Number of the device.
    #[must_use]
    pub fn device_id(&self) -> i32 {
        self.0.device
    }

    /// Makes this context current on the calling thread, whatever other code has made current.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when the context was destroyed beside this
    /// crate.
    #[doc(alias = "aclrtSetCurrentContext")]
    pub fn bind(&self) -> Result<()> {
        bind_anew(&*self.0)
    }

    /// Free and total device memory in bytes, as the library sees it: segments that a context keeps are not free. See
    /// [`Context::memory_stats`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`] for a device without memory of its own.
    #[doc(alias = "aclrtGetMemInfo")]
    pub fn memory_info(&self) -> Result<(usize, usize)> {
        self.0.memory_info()
    }

    /// How many more streams this process can make on the device, those inside captured graphs included.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] on a library without the query, [`ErrorKind::NotSupported`] on a chip without it.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let before = device.context().streams_left()?;
    /// let stream = device.stream()?;
    /// assert!(device.context().streams_left()? < before);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetStreamAvailableNum")]
    pub fn streams_left(&self) -> Result<u32> {
        let mut left = 0;
        // SAFETY: `left` is a place for one number.
        unsafe { call!(&**self.inner(), aclrtGetStreamAvailableNum(&raw mut left)) }?;
        Ok(left)
    }

    /// How many more events this process can have on the device. One that is recorded and not done may count too.
    ///
    /// # Errors
    ///
    /// As [`Context::streams_left`].
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// assert!(device.context().events_left()? > 0);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetEventAvailNum")]
    pub fn events_left(&self) -> Result<u32> {
        let mut left = 0;
        // SAFETY: `left` is a place for one number.
        unsafe { call!(&**self.inner(), aclrtGetEventAvailNum(&raw mut left)) }?;
        Ok(left)
    }

    /// Whether eager work of this context's streams, and launches of graphs on them, wait by themselves for work of
    /// other streams that uses the same memory: they do, unless this turns it off for work submitted from then on, by
    /// any thread. See [the order between streams](crate::Stream#order-between-streams);
    /// [`untracked`](crate::untracked) turns it off for a scope. `racl::mock::check_races` shows on the mock what a
    /// program without it lacks.
    ///
    /// # Examples
    ///
    /// ```
    /// let context = racl::Acl::mock()?.device(0)?.context().create_context()?;
    /// let (main, side) = (context.stream()?, context.stream()?);
    /// let mut buffer = context.alloc::<u8>(4)?;
    /// context.set_tracking(false);
    /// main.fill_bytes(&mut buffer, 1)?;
    /// main.fork(&side)?; // without it the fills could run in any order
    /// side.fill_bytes(&mut buffer, 2)?;
    /// assert_eq!(buffer.to_vec()?, [2; 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn set_tracking(&self, on: bool) {
        self.0.tracking.store(on, Ordering::Relaxed);
    }

    /// Ends the context now: gives the reference of the device back, which resets it when nobody else has one, or
    /// destroys a created context. Blocks until the device is reset. A primary context that is dropped instead keeps
    /// the device open for the next [`Acl::device`].
    ///
    /// # Errors
    ///
    /// The context and why: [`ErrorKind::InvalidArgument`] while clones, or objects that belong to it, are alive, and
    /// while work of other contexts' streams uses memory of it that was dropped: the error names the streams;
    /// [`ErrorKind::Timeout`] when a host function of it, run by a thread of this crate, does not end, and when
    /// another thread that destroys its idle streams or gives memory back does not within the
    /// [limit of drops](crate::set_drop_limit);
    /// otherwise the kind of what the runtime says, such as [`ErrorKind::WrongContext`] when the device was reset
    /// beside this crate. Errors that destructors met are in [`Context::take_drop_errors`].
    #[doc(alias = "aclrtResetDevice")]
    #[doc(alias = "aclrtDestroyContext")]
    pub fn close(self) -> Result<(), Refused<Self>> {
        self.end(Ends::Released)
    }

    /// See [`Device::close_by_force`](crate::Device::close_by_force).
    ///
    /// # Safety
    ///
    /// As there.
    pub(crate) unsafe fn close_by_force(self) -> Result<(), Refused<Self>> {
        self.end(Ends::Forced)
    }

    fn end(self, how: Ends) -> Result<(), Refused<Self>> {
        retire::collect_for_room();
        if let Err(error) = self.withdraw() {
            return Err(Refused::new(self, error));
        }
        // A reset by force ends the work as well.
        let unused = if how == Ends::Forced { Ok(()) } else { self.0.reclaim.check_unused(&self.0) };
        unused.and_then(|()| self.0.end(how)).map_err(|error| {
            self.offer_again();
            Refused::new(self, error)
        })
    }

    /// Takes the errors that destructors met since the last call. They are in the log too. Waits for destructors that
    /// went on elsewhere while a gate of a plan held work up, unless one still does.
    pub fn take_drop_errors(&self) -> Vec<Error> {
        retire::collect();
        std::mem::take(&mut *self.0.drop_errors.lock())
    }

    /// The raw handle. Valid as long as this value; the runtime must not be told to destroy it.
    #[must_use]
    pub fn as_raw(&self) -> acl_sys::aclrtContext {
        self.0.raw
    }
}

fn explain_device(acl: &Acl, error: Error) -> Error {
    match acl.device_count() {
        Ok(count) if error.kind() == ErrorKind::InvalidDevice => {
            error.with_detail(format!("there are {count} devices, numbered from 0"))
        }
        _ => error,
    }
}

impl AsRef<Self> for Context {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("device", &self.0.device)
            .field("owner", &self.0.owner)
            .finish_non_exhaustive()
    }
}

impl ContextInner {
    /// Ends the context, once.
    fn end(&self, how: Ends) -> Result<()> {
        if self.ended.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        if let Err(error) = self.reports.end(self) {
            self.ended.store(false, Ordering::Release);
            return Err(error);
        }
        // Before the numbers that they were planned with.
        self.operators.destroy_all(self);
        self.events.destroy_all(self);
        let emptied = self.idle_streams.destroy_all(self).and_then(|()| self.reclaim.release_all(self));
        let result = match self.owner {
            _ if emptied.is_err() => emptied,
            Owner::Others => Ok(()),
            _ if how == Ends::GivenAway => Ok(()),
            Owner::Primary if how == Ends::Kept && kept::keep(self.acl.table(), self.device, self.raw) => Ok(()),
            Owner::Primary if how == Ends::Forced => primary::reset_by_force(&self.acl, self.device),
            Owner::Primary => primary::give_back(&self.acl, self.device),
            // SAFETY: the handle is this value's own and nothing that belongs to the context is left.
            Owner::Created => unsafe { call!(&self.acl, aclrtDestroyContext(self.raw)) },
        };
        forget_binding();
        if result.is_err() {
            self.ended.store(false, Ordering::Release);
        }
        result
    }
}

impl ContextInner {
    /// The context, for somebody who ends it later.
    fn take(&mut self) -> Self {
        Self {
            raw: self.raw,
            id: self.id,
            device: self.device,
            owner: self.owner,
            reclaim: std::mem::take(&mut self.reclaim),
            spent: std::mem::take(&mut self.spent),
            reports: std::mem::take(&mut self.reports),
            operators: std::mem::take(&mut self.operators),
            idle_streams: Arc::clone(&self.idle_streams),
            events: std::mem::take(&mut self.events),
            launches: std::mem::take(&mut self.launches),
            captures: Arc::clone(&self.captures),
            failures: Arc::clone(&self.failures),
            tracking: AtomicBool::new(*self.tracking.get_mut()),
            drop_errors: std::mem::take(&mut self.drop_errors),
            passes: Arc::clone(&self.passes),
            ended: AtomicBool::new(self.ended.swap(true, Ordering::AcqRel)),
            _parent: self._parent.take(),
            lender: std::mem::take(&mut self.lender),
            acl: self.acl.clone(),
        }
    }
}

impl ContextInner {
    fn end_or_tell(&mut self) {
        let Err(error) = self.end(Ends::Kept) else { return };
        say!(Error, "closing a context of device {}: {error:#}", self.device);
        if self.others_are_in() {
            retire::on_thread(self.take(), |context| {
                while context.others_are_in() {
                    retire::pause();
                }
            });
        }
        // Unless that thread has it now.
        self.lender.leak();
    }

    /// Whether other threads are in the middle of giving something of it back.
    fn others_are_in(&self) -> bool {
        self.idle_streams.is_leaving() || self.reclaim.is_leaving()
    }

    /// Leaves the context, whose last handle goes, to a thread that waits for the work which uses its memory.
    fn leave(&mut self, waited: Waited) {
        if let Some(error) = waited.told(|| self.reclaim.describe_users()) {
            say!(Error, "closing a context of device {}: {error:#}", self.device);
        }
        retire::leave(waited, self.take(), |context| {
            // Asked again and again, so that the streams stay with their owners.
            while !context.reclaim.is_unused(&context) {
                retire::pause();
            }
        });
    }
}

impl Drop for ContextInner {
    fn drop(&mut self) {
        // Its end waits for the device, which waits for the host function.
        if (closure::is_running() || self.reports.is_own_thread()) && !*self.ended.get_mut() {
            return retire::on_thread(self.take(), drop);
        }
        retire::together(|| {
            if !*self.ended.get_mut() {
                match self.reclaim.outlast(self) {
                    Waited::Done => {}
                    other => return self.leave(other),
                }
            }
            self.end_or_tell();
        });
    }
}
