//! What the library tells of kernels that fail.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use acl_sys::{Table, aclrtBinHandle, aclrtExceptionInfo, aclrtFuncHandle};

use crate::call::{call, value};
use crate::context::{ContextInner, Failures, KernelFailure};
use crate::error::{ErrorKind, Result};
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
        if let Some(loaded) = loaded
            && let Ok(failure) = loaded.read(info)
        {
            loaded.failures.note(failure);
        }
    });
}

impl Loaded {
    /// What the library says during its call.
    fn read(&self, info: *const aclrtExceptionInfo) -> Result<KernelFailure> {
        let table = &*self.table;
        let mut function = std::ptr::null_mut();
        // SAFETY: the information that the library gave, during its call, and a place for one handle.
        unsafe { call!(table, aclrtGetFuncHandleFromExceptionInfo(info, &raw mut function)) }?;
        let kernel = self.names.lock().get(&function.addr()).cloned();
        Ok(KernelFailure {
            kernel: kernel.unwrap_or_else(|| "without a name".to_owned()),
            // SAFETY: as above; so are those below.
            code: unsafe { value!(table, aclrtGetErrorCodeFromExceptionInfo(info)) }?.cast_signed(),
            // SAFETY: as above.
            task: unsafe { value!(table, aclrtGetTaskIdFromExceptionInfo(info)) }?,
            // SAFETY: as above.
            stream: unsafe { value!(table, aclrtGetStreamIdFromExceptionInfo(info)) }?,
            // SAFETY: as above.
            thread: unsafe { value!(table, aclrtGetThreadIdFromExceptionInfo(info)) }?,
            // SAFETY: as above.
            device: unsafe { value!(table, aclrtGetDeviceIdFromExceptionInfo(info)) }?,
        })
    }
}
