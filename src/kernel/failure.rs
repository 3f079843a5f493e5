//! What the library tells of kernels that fail.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use acl_sys::{Table, aclrtBinHandle, aclrtExceptionInfo, aclrtFuncHandle};

use crate::call::call;
use crate::context::ContextInner;
use crate::error::{ErrorKind, Result};
use crate::failures::{Failures, TaskFailure, is_heard};
use crate::lock::{Lock, as_if_alone};

/// A loaded binary, for the library's calls.
#[derive(Clone)]
struct Loaded {
    /// Its handle: other libraries in the process may have the same.
    raw: usize,
    table: Arc<Table>,
    failures: Arc<Failures>,
    /// The names of its functions, by their handles.
    names: Arc<Lock<BTreeMap<usize, String>>>,
}

/// By a number that the library gives back: a late call finds nothing, and no address of what is gone.
static ALL: Lock<BTreeMap<usize, Loaded>> = Lock::new(BTreeMap::new());

/// Makes the library tell of kernels of a binary that fail, where it can.
pub(super) fn watch(context: &ContextInner, binary: aclrtBinHandle) -> Result<()> {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let loaded = Loaded {
        raw: binary.addr(),
        table: context.shared_table(),
        failures: Arc::clone(&context.failures),
        names: Arc::default(),
    };
    ALL.lock().insert(number, loaded);
    let number: *mut c_void = std::ptr::without_provenance_mut(number);
    // SAFETY: a live handle, a function that lives as long as the program and reads through no argument but the
    // information, of which the library says that it is good during the call, and a number.
    let set = unsafe { call!(context, aclrtBinarySetExceptionCallback(binary, Some(on_failure), number)) };
    match set {
        Err(error) if error.kind() == ErrorKind::MissingSymbol => Ok(()),
        set => set,
    }
}

/// The number of a binary, which is the latest with its handle.
pub(super) fn number_of(context: &ContextInner, binary: aclrtBinHandle) -> Option<usize> {
    let table = context.shared_table();
    let is = |loaded: &Loaded| loaded.raw == binary.addr() && Arc::ptr_eq(&loaded.table, &table);
    ALL.lock().iter().rev().find(|(_, loaded)| is(loaded)).map(|(number, _)| *number)
}

/// The name of a function of a binary.
pub(super) fn name(context: &ContextInner, binary: aclrtBinHandle, function: aclrtFuncHandle, name: &str) {
    let loaded = number_of(context, binary).and_then(|number| ALL.lock().get(&number).cloned());
    if let Some(loaded) = loaded {
        loaded.names.lock().insert(function.addr(), name.to_owned());
    }
}

/// The binary is unloaded.
pub(super) fn forget(number: Option<usize>) {
    let loaded = number.and_then(|number| ALL.lock().remove(&number));
    drop(loaded);
}

unsafe extern "C" fn on_failure(info: *mut aclrtExceptionInfo, number: *mut c_void) {
    // The thread may be one of this crate's own, in the middle of a call.
    as_if_alone(|| {
        let loaded = ALL.lock().get(&number.addr()).cloned();
        // A library that tells of all tasks tells of this one as well.
        if let Some(Loaded { table, failures, names, .. }) = loaded.filter(|loaded| !is_heard(&loaded.table)) {
            let name = |function: aclrtFuncHandle| names.lock().get(&function.addr()).cloned();
            // SAFETY: what the library gave to this function, during its call.
            if let Ok(failure) = unsafe { TaskFailure::read(&table, info, name) } {
                failures.note(failure);
            }
        }
    });
}
