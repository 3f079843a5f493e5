//! Functions that the library calls for each task that fails.

use std::sync::Arc;

use acl_sys::{Table, aclrtExceptionInfo, aclrtExceptionInfoCallback};

use super::{Failures, TaskFailure, name_of};
use crate::call::call;
use crate::error::{ErrorKind, Result};
use crate::lock::{Lock, as_if_alone};

macro_rules! functions {
    ($($place:literal)*) => { [$(Some(on_failure::<$place>)),*] };
}

/// The library gives the function nothing of the program's, so each library has a function of its own.
static FUNCTIONS: [aclrtExceptionInfoCallback; 32] = functions!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
);

/// A library, at the place of its function.
struct Known {
    table: Arc<Table>,
    heard: bool,
}

/// Libraries that were asked; they live as long as the process.
static ALL: Lock<Vec<Known>> = Lock::new(Vec::new());

/// Makes the library tell of all tasks that fail. `take_slot` is for those that tell one function of the process: it
/// takes the place of what other code had there. Whether the library tells.
pub(crate) fn hear(table: &Arc<Table>, take_slot: bool) -> Result<bool> {
    if !take_slot && table.aclrtExceptionInfoCallbackRegister().is_err() {
        return Ok(false);
    }
    let Some(place) = place_of(table) else { return Ok(false) };
    let function = FUNCTIONS[place];
    // SAFETY: a function that lives as long as the program; one that the library knows counts once.
    let told = unsafe { call!(&**table, aclrtExceptionInfoCallbackRegister(function)) };
    let told = match told {
        Err(error) if error.kind() == ErrorKind::MissingSymbol => {
            // SAFETY: as above.
            unsafe { call!(&**table, aclrtSetExceptionInfoCallback(function)) }
        }
        told => told,
    };
    if let Some(known) = ALL.lock().get_mut(place) {
        known.heard = told.is_ok();
    }
    told.map(|()| true)
}

/// None when there are more libraries than functions.
fn place_of(table: &Arc<Table>) -> Option<usize> {
    let mut all = ALL.lock();
    let place = all.iter().position(|known| Arc::ptr_eq(&known.table, table));
    if place.is_none() && all.len() < FUNCTIONS.len() {
        all.push(Known { table: Arc::clone(table), heard: false });
        return Some(all.len() - 1);
    }
    place
}

/// Whether the library tells of all tasks that fail.
pub(crate) fn is_heard(table: &Table) -> bool {
    ALL.lock().iter().any(|known| std::ptr::eq(Arc::as_ptr(&known.table), table) && known.heard)
}

unsafe extern "C" fn on_failure<const PLACE: usize>(info: *mut aclrtExceptionInfo) {
    // SAFETY: what the library gave to this function, during its call.
    unsafe { failed(PLACE, info) };
}

/// Once, for all of those functions.
///
/// # Safety
///
/// The library at this place gave `info` to its function, whose call this is.
#[inline(never)]
unsafe fn failed(place: usize, info: *mut aclrtExceptionInfo) {
    // The thread may be one of this crate's own, in the middle of a call.
    as_if_alone(|| {
        let table = ALL.lock().get(place).map(|known| Arc::clone(&known.table));
        let Some(table) = table else { return };
        // SAFETY: as the caller promises.
        let failure = unsafe { TaskFailure::read(&table, info, |function| name_of(&table, function)) };
        if let Ok(failure) = failure
            && let Some(failures) = Failures::about(&table, &failure)
        {
            failures.note(failure);
        }
    });
}
