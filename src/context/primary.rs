//! The primary contexts of this process: one for each library and device, shared by all who ask.
//!
//! When the last user goes, the reference of the device is kept for the next one: a reset takes long, loses the caches
//! of the runtime, and comes at a moment that nobody chose. [`Context::close`] and [`Acl::close`] reset a device.

use std::sync::{Arc, Weak};
use std::time::Duration;

use acl_sys::aclrtContext;

use super::{Context, ContextInner, Lender, Owner, explain_device, operators};
use crate::acl::{Acl, kept};
use crate::call::{call, forget_binding};
use crate::error::{Error, Result, ResultExt as _};
use crate::lock::Lock;

/// How long streams are waited for that somebody has for a moment.
const MOMENT: Duration = Duration::from_millis(500);

static ALL: Lock<Vec<Primary>> = Lock::new(Vec::new());

struct Primary {
    /// Address of the table, which lives as long as the process.
    table: usize,
    device: i32,
    shared: Weak<ContextInner>,
}

fn find<'a>(all: &'a mut Vec<Primary>, acl: &Acl, device: i32) -> &'a mut Primary {
    let table = std::ptr::from_ref(acl.table()).addr();
    let place = all.iter().position(|known| known.table == table && known.device == device);
    let place = place.unwrap_or_else(|| {
        all.push(Primary { table, device, shared: Weak::new() });
        all.len() - 1
    });
    &mut all[place]
}

impl Context {
    /// The primary context of a device: that of others, else one with the reference that was kept, or a new one.
    pub(crate) fn primary(acl: &Acl, device: i32) -> Result<Self> {
        let shared = find(&mut ALL.lock(), acl, device).shared.upgrade();
        if let Some(shared) = shared {
            return Ok(Self(shared));
        }
        forget_binding();
        let raw = match kept::take(acl.table(), device) {
            Some(raw) if make_current(acl, raw) => raw,
            _ => open(acl, device)?,
        };
        let own = Self::own(acl, raw, device, Owner::Primary, None, Lender::default());
        let mut all = ALL.lock();
        let known = find(&mut all, acl, device);
        // That of a thread that was faster: the reference of this one goes with `own`, after the lock.
        let shared = known.shared.upgrade();
        if shared.is_none() {
            known.shared = Arc::downgrade(own.inner());
        }
        drop(all);
        Ok(shared.map_or(own, Self))
    }

    /// Whether this crate has a reference of the device.
    pub(crate) fn has_primary(acl: &Acl, device: i32) -> bool {
        let used = find(&mut ALL.lock(), acl, device).shared.strong_count() > 0;
        used || kept::has(acl.table(), device)
    }

    /// Takes the context from those who would ask for it, when nobody else uses it. Who has it with a stream for a moment
    /// is waited for.
    pub(super) fn withdraw(&self) -> Result<()> {
        if self.0.passes.has_own() {
            let text =
                "this thread is inside a wait for work of the context, or asks a stream of it; close it afterwards";
            return Err(Error::invalid(text));
        }
        let most = |passing| if passing > 0 { usize::MAX } else { 0 };
        match self.0.passes.wait_alone(MOMENT, most, || self.try_withdraw()) {
            0 => Ok(()),
            others => Err(Error::invalid(format!("{others} clones or objects still belong to the context"))),
        }
    }

    /// Gives how many others use it; with none it is withdrawn.
    fn try_withdraw(&self) -> usize {
        let mut all = ALL.lock();
        let others = operators::users_beside(&self.0);
        if others > 0 {
            return others;
        }
        let of_this = |known: &&mut Primary| std::ptr::eq(known.shared.as_ptr(), Arc::as_ptr(&self.0));
        all.iter_mut().filter(of_this).for_each(|known| known.shared = Weak::new());
        0
    }

    /// After an end that failed.
    pub(super) fn offer_again(&self) {
        if self.0.owner != Owner::Primary {
            return;
        }
        let mut all = ALL.lock();
        let known = find(&mut all, &self.0.acl, self.0.device);
        if known.shared.strong_count() == 0 {
            known.shared = Arc::downgrade(&self.0);
        }
    }
}

/// Whether the context is still there.
fn make_current(acl: &Acl, raw: aclrtContext) -> bool {
    // SAFETY: a stale handle, after a reset beside this crate, gives a code.
    unsafe { call!(acl, aclrtSetCurrentContext(raw)) }.is_ok()
}

/// Takes a reference of the device.
fn open(acl: &Acl, device: i32) -> Result<aclrtContext> {
    // SAFETY: takes a number; a wrong one gives a code.
    unsafe { call!(acl, aclrtSetDevice(device)) }
        .map_err(|error| explain_device(acl, error))
        .context_with(|| format!("opening device {device}"))?;
    let mut raw = std::ptr::null_mut();
    // SAFETY: `raw` is a place for one handle.
    let asked = unsafe { call!(acl, aclrtGetCurrentContext(&raw mut raw)) };
    if let Err(error) = asked {
        give_back(acl, device)?;
        return Err(error);
    }
    Ok(raw)
}

/// Gives a reference of the device back; the last one resets it.
pub(super) fn give_back(acl: &Acl, device: i32) -> Result<()> {
    // SAFETY: takes a number; one reference too many gives a code.
    unsafe { call!(acl, aclrtResetDevice(device)) }
}

/// Resets a device, however many references there are.
pub(super) fn reset_by_force(acl: &Acl, device: i32) -> Result<()> {
    // SAFETY: takes a number; a device that is not open gives a code. That nobody uses it is the promise of the caller
    // of `close_by_force`.
    unsafe { call!(acl, aclrtResetDeviceForce(device)) }
}

/// The contexts of the mock, whose tables are given by address, are gone.
#[cfg(feature = "mock")]
pub(crate) fn forget(tables: &[usize]) {
    ALL.lock().retain(|known| !tables.contains(&known.table));
}
