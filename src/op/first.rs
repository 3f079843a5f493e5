//! Calls of first phases: one piece of code for each type of function, shared by all operators of this type.

use std::ffi::c_void;

use acl_sys::{MissingSymbol, Table, aclOpExecutor};

use super::argument::{Parameter, Slot};

/// Calls the first phase at an address with one slot an argument, and places for its two results.
///
/// # Safety
///
/// 1. The address is that of a function of the type that this is the call of.
/// 2. The slots hold live objects of the kinds that the function takes, in its order.
/// 3. Both places may be written.
pub(crate) type FirstPhase = unsafe fn(*mut c_void, &[Slot], *mut u64, *mut *mut aclOpExecutor) -> i32;

/// The call for the type of a function. Which one it is of does not matter: the table's method is not called.
pub(crate) const fn call_of<F: Phase>(_function: fn(&Table) -> Result<F, MissingSymbol>) -> FirstPhase {
    F::call
}

/// The type of a first phase.
pub(crate) trait Phase {
    /// # Safety
    ///
    /// As [`FirstPhase`] says.
    unsafe fn call(address: *mut c_void, slots: &[Slot], bytes: *mut u64, executor: *mut *mut aclOpExecutor) -> i32;
}

/// What the library answers to a wrong argument, for another number of slots than the function has parameters.
const WRONG_COUNT: i32 = acl_sys::ACL_ERROR_INVALID_PARAM;

/// For functions with as many parameters as there are names, and with fewer.
macro_rules! phases {
    () => {};
    ($first:ident $($more:ident)*) => {
        impl<$first: Parameter, $($more: Parameter),*> Phase
            for unsafe extern "C" fn($first, $($more,)* *mut u64, *mut *mut aclOpExecutor) -> i32
        {
            #[allow(non_snake_case)]
            unsafe fn call(
                address: *mut c_void,
                slots: &[Slot],
                bytes: *mut u64,
                executor: *mut *mut aclOpExecutor,
            ) -> i32 {
                // SAFETY: a function of this type, as the caller promises.
                let function = unsafe { std::mem::transmute::<*mut c_void, Self>(address) };
                let [$first, $($more),*] = slots else { return WRONG_COUNT };
                // SAFETY: as the caller promises.
                unsafe { function(Parameter::take(*$first), $(Parameter::take(*$more),)* bytes, executor) }
            }
        }
        phases!($($more)*);
    };
}

phases!(
    A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13 A14 A15 A16 A17 A18 A19 A20 A21 A22 A23 A24 A25 A26 A27 A28 A29 A30 A31 A32
    A33 A34 A35 A36 A37 A38 A39 A40 A41 A42 A43 A44 A45 A46 A47 A48 A49 A50 A51 A52 A53 A54 A55 A56
);
