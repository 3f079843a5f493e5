//! A process that is saved and restored with what it has on devices.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use acl_sys::{ACL_ERROR_SNAPSHOT_CALLBACK_FAILED, Table, aclrtSnapShotCallBack, aclrtSnapShotStage};

use crate::acl::Acl;
use crate::call::{call, check_not_locked, refuse_calls};
use crate::closure;
use crate::error::{Error, Refused, Result};
use crate::lock::{Lock, as_if_alone, caught, say};
use crate::retire;

/// The process, locked: calls of the library on other threads wait, and what its own threads do stands still.
/// [`back_up`](Self::back_up) saves what it has on devices. Dropping it unlocks the process.
///
/// It stays on its thread, whose other calls of this crate would wait for themselves and are refused
/// ([`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported)): streams and memory that are dropped meanwhile are
/// left to other threads, which wait, and its captures and limits of cores end with the lock. The unlock waits for
/// those threads, as long as drops do ([`set_drop_limit`](crate::set_drop_limit)). For tools that save a process, such
/// as CRIU, with the A2 and A3 families (guide: snapshots).
///
/// C calls: `aclrtSnapShotProcessLock`, `aclrtSnapShotProcessUnlock`, `aclrtSnapShotProcessBackup`,
/// `aclrtSnapShotProcessRestore`.
///
/// # Examples
///
/// ```standalone_crate
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let buffer = device.upload(&[1_u8, 2])?;
/// let saved = acl.lock_process()?.back_up()?;
/// // here the process is written to a disk, ends, and goes on from there
/// saved.restore()?.unlock()?;
/// assert_eq!(buffer.to_vec()?, [1, 2]);
/// # Ok::<(), racl::Error>(())
/// ```
#[must_use = "the process is unlocked when this is dropped"]
pub struct ProcessLock(Held);

/// The process, locked, with what it has on devices saved: what [`ProcessLock::back_up`] gives. Dropping it unlocks the
/// process, which goes on as it was.
#[must_use = "the process is unlocked when this is dropped"]
pub struct ProcessBackup(Held);

/// The lock of the process, by this thread.
struct Held {
    acl: Acl,
    locked: bool,
    /// Other threads wait for the one that has it.
    _stays: PhantomData<*const ()>,
}

impl Acl {
    /// Locks the process: waits until other threads are outside of the library, functions of
    /// [`watch_snapshots`](Self::watch_snapshots) first.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) on other chips, in a host function, and where this
    /// thread has it locked already; [`ErrorKind::Internal`](crate::ErrorKind::Internal) when another has, or a
    /// function refuses; [`ErrorKind::Timeout`](crate::ErrorKind::Timeout) when threads of the library do not stand
    /// still; [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without snapshots.
    #[doc(alias = "aclrtSnapShotProcessLock")]
    pub fn lock_process(&self) -> Result<ProcessLock> {
        check_not_locked()?;
        if closure::is_running() {
            return Err(closure::refusal("a host function locks the process, which waits for it"));
        }
        // SAFETY: takes a number, and null for what is reserved.
        unsafe { call!(self.table(), aclrtSnapShotProcessLock(process(), std::ptr::null_mut())) }?;
        set_still(true);
        Ok(ProcessLock(Held { acl: self.clone(), locked: true, _stays: PhantomData }))
    }
}

/// The number of this process: the library takes no other.
fn process() -> i32 {
    std::process::id().cast_signed()
}

/// Whether calls of this thread are refused.
fn set_still(on: bool) {
    refuse_calls(on);
    closure::set_locked_process(on);
}

impl Held {
    fn table(&self) -> &Table {
        self.acl.table()
    }

    fn unlock(&mut self) -> Result<()> {
        if !self.locked {
            return Err(Error::invalid("the process is unlocked already"));
        }
        // SAFETY: takes a number, and null for what is reserved.
        let done = unsafe { call!(self.table(), aclrtSnapShotProcessUnlock(process(), std::ptr::null_mut())) };
        // The functions hear of it when it has happened.
        let refused = |error: &Error| error.code() == Some(ACL_ERROR_SNAPSHOT_CALLBACK_FAILED);
        if done.as_ref().is_ok() || done.as_ref().is_err_and(refused) {
            self.locked = false;
            set_still(false);
            // What was left to threads, which could not end it before.
            retire::collect();
        }
        done
    }
}

impl ProcessLock {
    /// Saves what the process has on devices into its own memory, once their work is done. Afterwards a tool may write
    /// the process to a disk.
    ///
    /// # Errors
    ///
    /// The lock and why: [`ErrorKind::Internal`](crate::ErrorKind::Internal) when it cannot be saved, or a function of
    /// [`Acl::watch_snapshots`] refuses; the process stays locked.
    #[doc(alias = "aclrtSnapShotProcessBackup")]
    pub fn back_up(self) -> Result<ProcessBackup, Refused<Self>> {
        // SAFETY: takes a number, and null for the defaults.
        let done = unsafe { call!(self.0.table(), aclrtSnapShotProcessBackup(process(), std::ptr::null_mut())) };
        match done {
            Ok(()) => Ok(ProcessBackup(self.0)),
            Err(error) => Err(Refused::new(self, error)),
        }
    }

    /// Unlocks the process now.
    ///
    /// # Errors
    ///
    /// The lock and what the library says, [`ErrorKind::Internal`](crate::ErrorKind::Internal). When a function of
    /// [`Acl::watch_snapshots`] refuses, the process runs on all the same ([`is_locked`](Self::is_locked)).
    #[doc(alias = "aclrtSnapShotProcessUnlock")]
    pub fn unlock(mut self) -> Result<(), Refused<Self>> {
        self.0.unlock().map_err(|error| Refused::new(self, error))
    }

    /// Whether the process is locked: false after an unlock that a function refused.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.0.locked
    }
}

impl ProcessBackup {
    /// Brings back onto the devices what was saved, in the process that goes on from the disk. Handles and addresses
    /// stay as they were.
    ///
    /// # Errors
    ///
    /// The backup and why: [`ErrorKind::Internal`](crate::ErrorKind::Internal) when it cannot be restored, or a
    /// function of [`Acl::watch_snapshots`] refuses.
    #[doc(alias = "aclrtSnapShotProcessRestore")]
    pub fn restore(self) -> Result<ProcessLock, Refused<Self>> {
        // SAFETY: takes a number, and null for the defaults.
        let done = unsafe { call!(self.0.table(), aclrtSnapShotProcessRestore(process(), std::ptr::null_mut())) };
        match done {
            Ok(()) => Ok(ProcessLock(self.0)),
            Err(error) => Err(Refused::new(self, error)),
        }
    }

    /// Unlocks the process, which goes on as it was.
    ///
    /// # Errors
    ///
    /// As [`ProcessLock::unlock`].
    #[doc(alias = "aclrtSnapShotProcessUnlock")]
    pub fn unlock(mut self) -> Result<(), Refused<Self>> {
        self.0.unlock().map_err(|error| Refused::new(self, error))
    }

    /// Whether the process is locked: false after an unlock that a function refused.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.0.locked
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.locked {
            return;
        }
        if let Err(error) = self.unlock() {
            // Calls of this thread would wait for ever, and stay refused.
            say!(Error, "unlocking the process: {error:#}");
        }
    }
}

impl fmt::Debug for ProcessLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessLock").field("locked", &self.0.locked).finish_non_exhaustive()
    }
}

impl fmt::Debug for ProcessBackup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessBackup").field("locked", &self.0.locked).finish_non_exhaustive()
    }
}

/// When a function of [`Acl::watch_snapshots`] is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SnapshotStage {
    /// The process is about to be locked: the library can be called.
    BeforeLock,
    /// It is locked, and about to be saved.
    BeforeBackup,
    /// It is locked, and saved.
    AfterBackup,
    /// It is locked, and about to be restored.
    BeforeRestore,
    /// It is locked, and restored.
    AfterRestore,
    /// It is unlocked: the library can be called.
    AfterUnlock,
}

type StageFunction = Arc<dyn Fn(i32, SnapshotStage) -> bool + Send + Sync>;

struct Entry {
    /// Address of the table, which lives as long as the process.
    table: usize,
    function: StageFunction,
}

/// In the order in which they came.
static ALL: Lock<BTreeMap<usize, Entry>> = Lock::new(BTreeMap::new());

/// Tables of libraries that call the functions here, which they do as long as they are loaded.
static TOLD: Lock<Vec<usize>> = Lock::new(Vec::new());

/// The mock, whose tables are given by address, was reset.
#[cfg(feature = "mock")]
pub(crate) fn forget(tables: &[usize]) {
    TOLD.lock().retain(|table| !tables.contains(table));
    if check_not_locked().is_err() {
        set_still(false);
    }
}

/// The library's functions for each stage.
const STAGES: [(aclrtSnapShotStage, aclrtSnapShotCallBack); 6] = [
    (aclrtSnapShotStage::ACL_RT_SNAPSHOT_LOCK_PRE, Some(on_stage::<0>)),
    (aclrtSnapShotStage::ACL_RT_SNAPSHOT_BACKUP_PRE, Some(on_stage::<1>)),
    (aclrtSnapShotStage::ACL_RT_SNAPSHOT_BACKUP_POST, Some(on_stage::<2>)),
    (aclrtSnapShotStage::ACL_RT_SNAPSHOT_RESTORE_PRE, Some(on_stage::<3>)),
    (aclrtSnapShotStage::ACL_RT_SNAPSHOT_RESTORE_POST, Some(on_stage::<4>)),
    (aclrtSnapShotStage::ACL_RT_SNAPSHOT_UNLOCK_POST, Some(on_stage::<5>)),
];

unsafe extern "C" fn on_stage<const STAGE: usize>(device: i32, table: *mut c_void) -> u32 {
    use SnapshotStage::{AfterBackup, AfterRestore, AfterUnlock, BeforeBackup, BeforeLock, BeforeRestore};
    let stage = [BeforeLock, BeforeBackup, AfterBackup, BeforeRestore, AfterRestore, AfterUnlock][STAGE];
    let of_this = |entry: &&Entry| entry.table == table.addr();
    let all: Vec<_> = ALL.lock().values().filter(of_this).map(|entry| Arc::clone(&entry.function)).collect();
    // The library runs again by then, and this thread may call it.
    let was_still = stage == AfterUnlock && check_not_locked().is_err();
    if was_still {
        set_still(false);
    }
    let mut go_on = true;
    for function in all {
        // Those behind one that refused are not asked. What one owns goes here where its watch has ended meanwhile.
        let ran = as_if_alone(|| {
            let ran = if go_on { caught(|| function(device, stage)) } else { Some(false) };
            caught(|| drop(function)).and(ran)
        });
        go_on = ran.unwrap_or_else(|| {
            say!(Error, "a function that watches snapshots panicked");
            false
        });
    }
    if was_still {
        set_still(true);
    }
    u32::from(!go_on)
}

/// A function that hears of snapshots of the process, until this goes; see [`Acl::watch_snapshots`].
#[must_use = "the function hears nothing once it is dropped"]
pub struct SnapshotWatch(usize);

impl Acl {
    /// Calls `function` with the number of each device that is open, at each [`SnapshotStage`] of the process, until
    /// the value goes. It runs on the thread that saves the process, and calls the library only where the stage says
    /// so. False, and a panic, which is caught and said in the log, refuse the step.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](crate::ErrorKind::Internal) when the library has no room for one more;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without snapshots.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::SnapshotStage;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let stream = acl.device(0)?.stream()?;
    /// let _watch = acl.watch_snapshots(move |_, stage| {
    ///     stage != SnapshotStage::BeforeLock || stream.synchronize().is_ok() // else it is not locked
    /// })?;
    /// acl.lock_process()?.unlock()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSnapShotCallbackRegister")]
    #[doc(alias = "aclrtSnapShotCallbackUnregister")]
    pub fn watch_snapshots(
        &self,
        function: impl Fn(i32, SnapshotStage) -> bool + Send + Sync + 'static,
    ) -> Result<SnapshotWatch> {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let table = std::ptr::from_ref(self.table()).addr();
        {
            let mut told = TOLD.lock();
            if !told.contains(&table) {
                self.tell_of_stages(table)?;
                told.push(table);
            }
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        ALL.lock().insert(number, Entry { table, function: Arc::new(function) });
        Ok(SnapshotWatch(number))
    }

    /// Makes the library tell of every stage, or of none.
    fn tell_of_stages(&self, table: usize) -> Result<()> {
        for (index, (stage, function)) in STAGES.into_iter().enumerate() {
            let table = std::ptr::without_provenance_mut(table);
            // SAFETY: a function that lives as long as the program, and a number that nobody reads through.
            let told = unsafe { call!(self, aclrtSnapShotCallbackRegister(stage, function, table)) };
            let Err(error) = told else { continue };
            for (stage, function) in STAGES.into_iter().take(index) {
                // SAFETY: as above.
                let undone = unsafe { call!(self, aclrtSnapShotCallbackUnregister(stage, function)) };
                let _ = undone.inspect_err(|error| say!(Error, "no longer hearing of snapshots: {error:#}"));
            }
            return Err(error);
        }
        Ok(())
    }
}

impl Drop for SnapshotWatch {
    fn drop(&mut self) {
        // What the function owns is dropped with no lock held.
        let entry = ALL.lock().remove(&self.0);
        drop(entry);
    }
}

impl fmt::Debug for SnapshotWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SnapshotWatch").finish_non_exhaustive()
    }
}
