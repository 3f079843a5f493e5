//! What the library tells of kernels that fail.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Arc;

use acl_sys::{Table, aclrtBinHandle, aclrtExceptionInfo, aclrtFuncHandle};

use crate::call::{call, value};
use crate::context::{ContextInner, Failures, KernelFailure};
use crate::error::{ErrorKind, Result};
use crate::lock::{Lock, as_if_alone};

/// A loaded binary, for the library's calls.
#[derive(Clone)]
struct Loaded {
    failures: Arc<Failures>,
    /// The names of its functions, by their handles.
    names: Arc<Lock<BTreeMap<usize, String>>>,
    table: Arc<Table>,
}

/// By handle: a late call finds nothing, and no address of what is gone.
static ALL: Lock<BTreeMap<usize, Loaded>> = Lock::new(BTreeMap::new());

/// Makes the library tell of kernels of a binary that fail, where it can.
pub(super) fn watch(context: &ContextInner, binary: aclrtBinHandle) -> Result<()> {
    let loaded =
        Loaded { failures: Arc::clone(&context.failures), names: Arc::default(), table: context.shared_table() };
    ALL.lock().insert(binary.addr(), loaded);
    // SAFETY: a live handle, and a function that lives as long as the program and reads through no argument but the
    // information, of which the library says that it is good during the call.
    let set = unsafe { call!(context, aclrtBinarySetExceptionCallback(binary, Some(on_failure), binary)) };
    match set {
        Err(error) if error.kind() == ErrorKind::MissingSymbol => Ok(()),
        set => set,
    }
}

/// The name of a function of a binary.
pub(super) fn name(binary: aclrtBinHandle, function: aclrtFuncHandle, name: &str) {
    let loaded = ALL.lock().get(&binary.addr()).cloned();
    if let Some(loaded) = loaded {
        loaded.names.lock().insert(function.addr(), name.to_owned());
    }
}

/// The binary is unloaded.
pub(super) fn forget(binary: aclrtBinHandle) {
    let loaded = ALL.lock().remove(&binary.addr());
    drop(loaded);
}

unsafe extern "C" fn on_failure(info: *mut aclrtExceptionInfo, binary: *mut c_void) {
    // The thread may be one of this crate's own, in the middle of a call.
    as_if_alone(|| {
        let loaded = ALL.lock().get(&binary.addr()).cloned();
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
