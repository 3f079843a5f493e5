//! Devices that nobody uses and that stay open for the next who asks: one reference each, with the primary context.

use acl_sys::{Table, aclrtContext};

use super::ends_on_drop;
use crate::call::{call, forget_binding};
use crate::error::{Result, ResultExt as _};
use crate::lock::Lock;

static ALL: Lock<Vec<Kept>> = Lock::new(Vec::new());

struct Kept {
    /// Address of the table, which lives as long as the process.
    table: usize,
    device: i32,
    context: aclrtContext,
}

// SAFETY: the handle is only passed on; any thread may make a context current (guide: contexts).
unsafe impl Send for Kept {}

fn key(table: &Table) -> usize {
    std::ptr::from_ref(table).addr()
}

/// Keeps the reference of a device whose last user is gone. False when there is one already, or when the process does
/// not want that.
pub(crate) fn keep(table: &Table, device: i32, context: aclrtContext) -> bool {
    if ends_on_drop() {
        return false;
    }
    let mut all = ALL.lock();
    let room = !all.iter().any(|kept| kept.table == key(table) && kept.device == device);
    if room {
        all.push(Kept { table: key(table), device, context });
    }
    room
}

/// The primary context of a device whose reference was kept; the reference is the caller's then.
pub(crate) fn take(table: &Table, device: i32) -> Option<aclrtContext> {
    let mut all = ALL.lock();
    let place = all.iter().position(|kept| kept.table == key(table) && kept.device == device)?;
    Some(all.swap_remove(place).context)
}

/// Whether the reference of a device is kept.
pub(crate) fn has(table: &Table, device: i32) -> bool {
    ALL.lock().iter().any(|kept| kept.table == key(table) && kept.device == device)
}

/// Resets the devices of a library that nobody uses.
pub(super) fn reset(table: &Table) -> Result<()> {
    loop {
        let device = {
            let mut all = ALL.lock();
            let Some(place) = all.iter().position(|kept| kept.table == key(table)) else { return Ok(()) };
            all.swap_remove(place).device
        };
        forget_binding();
        // SAFETY: takes a number; one reference too many gives a code.
        match unsafe { call!(table, aclrtResetDevice(device)) } {
            // Others reset it by force.
            Err(error) if error.code() == Some(acl_sys::ACL_ERROR_RT_CONTEXT_RELEASE_ERROR) => {}
            done => done.context_with(|| format!("resetting device {device}"))?,
        }
    }
}

/// The libraries do not know any of their devices any more.
#[cfg(feature = "mock")]
pub(super) fn forget(tables: &[usize]) {
    ALL.lock().retain(|kept| !tables.contains(&kept.table));
}
