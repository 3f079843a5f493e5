//! Tensors from and to other frameworks in the process.

use std::ffi::c_void;

use crate::arguments::{Out, null, whether};
use crate::cancel::Uncancelled;
use crate::failure::{Failure, Result, guard};
use crate::handles::get;
use crate::objects::{racl_context, racl_tensor};
use crate::results::make;

/// A tensor that another framework gave by DLPack, in memory of the context's device, which it keeps: `managed` is a
/// DLManagedTensorVersioned where `versioned` is 1, and a DLManagedTensor where it is 0. It is taken over: one that is
/// refused is ended by its deleter, whatever the reason; only with NULL, one that is not aligned, another `versioned`, bad
/// handles, bad places and where no handle is left (RACL_NO_HANDLES) it stays the caller's. An exception that leaves the deleter ends the process. Work of
/// the other framework that writes the memory is the caller's to order. RACL_INVALID_ARGUMENT for memory of the host or
/// of another device, memory that may only be read, and types that no aclDataType is; RACL_NOT_SUPPORTED for another
/// major version of DLPack than 1, and where libracl was built without the feature dlpack, see racl_has().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_tensor_from_dlpack(
    context: *const racl_context,
    managed: *mut c_void,
    versioned: i32,
    tensor: *mut *mut racl_tensor,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    let work = || {
        let (context, versioned) = (get(context)?, whether(versioned, "a tensor of DLPack has its version")?);
        if managed.is_null() {
            return Err(null("a tensor of DLPack"));
        }
        // As the pointers in it are.
        if !managed.cast::<*mut c_void>().is_aligned() {
            return Err(Failure::invalid(format!("a tensor of DLPack at {managed:p}, which is not aligned")));
        }
        // SAFETY: by the header.
        unsafe { shared::from(&context, managed, versioned) }
    };
    // SAFETY: by the header.
    unsafe { make(tensor, work) }
}

/// The tensor for another framework, which shares and keeps its memory and ends it with its deleter: `managed` gets a
/// DLManagedTensorVersioned where `versioned` is 1, and a DLManagedTensor where it is 0. The handle stays. Waits until no work that
/// was queued before uses the memory. RACL_INVALID_ARGUMENT for formats that are not ND and types that DLPack has no
/// name for; RACL_NOT_SUPPORTED where libracl was built without the feature dlpack.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_tensor_to_dlpack(
    tensor: *const racl_tensor,
    versioned: i32,
    managed: *mut *mut c_void,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| {
        // SAFETY: by the header.
        let out = unsafe { Out::new(managed, std::ptr::null_mut(), "a tensor of DLPack") }?;
        let versioned = whether(versioned, "a tensor of DLPack has its version")?;
        out.set(shared::to(&*get(tensor)?, versioned)?);
        Ok(())
    })
}

#[cfg(feature = "dlpack")]
mod shared {
    use racl::Context;
    use racl::dlpack::Managed;
    use racl::op::AnyTensor;

    use super::{Failure, Result, c_void};

    /// # Safety
    ///
    /// `managed` is such a structure, which becomes ours.
    pub(super) unsafe fn from(context: &Context, managed: *mut c_void, versioned: bool) -> Result<AnyTensor> {
        let managed = if versioned {
            // SAFETY: the caller's promise.
            unsafe { Managed::from_raw(managed.cast()) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { Managed::from_raw_unversioned(managed.cast()) }
        };
        managed?.into_tensor(context).map_err(Failure::from)
    }

    pub(super) fn to(tensor: &AnyTensor, versioned: bool) -> Result<*mut c_void> {
        let managed = tensor.to_dlpack()?;
        Ok(if versioned { managed.into_raw().cast() } else { managed.into_raw_unversioned().cast() })
    }
}

#[cfg(not(feature = "dlpack"))]
mod shared {
    use racl::Context;
    use racl::op::AnyTensor;

    use super::{Failure, Result, c_void};
    use crate::status::RACL_NOT_SUPPORTED;

    fn missing<T>() -> Result<T> {
        Err(Failure::own(RACL_NOT_SUPPORTED, "libracl was built without the feature dlpack"))
    }

    type Deleter = Option<unsafe extern "C" fn(*mut c_void)>;

    /// The head of a DLManagedTensorVersioned, which is the same in every version.
    #[repr(C)]
    struct Versioned {
        version: [u32; 2],
        owner: *mut c_void,
        deleter: Deleter,
    }

    /// A DLManagedTensor.
    #[repr(C)]
    struct Unversioned {
        /// Of the memory, the device, the type and the shape.
        tensor: [u64; 6],
        owner: *mut c_void,
        deleter: Deleter,
    }

    const _: () = assert!(std::mem::offset_of!(Versioned, deleter) == 16);
    const _: () = assert!(std::mem::offset_of!(Unversioned, deleter) == 56);

    /// Ends the tensor, as where it is refused for another reason.
    ///
    /// # Safety
    ///
    /// `managed` is such a structure, which nobody uses any more.
    pub(super) unsafe fn from(_: &Context, managed: *mut c_void, versioned: bool) -> Result<AnyTensor> {
        let deleter = if versioned {
            // SAFETY: the caller's promise.
            unsafe { (*managed.cast::<Versioned>()).deleter }
        } else {
            // SAFETY: the caller's promise.
            unsafe { (*managed.cast::<Unversioned>()).deleter }
        };
        if let Some(deleter) = deleter {
            // SAFETY: it is called once, with its own structure.
            unsafe { deleter(managed) };
        }
        missing()
    }

    pub(super) fn to(_: &AnyTensor, _: bool) -> Result<*mut c_void> {
        missing()
    }
}
