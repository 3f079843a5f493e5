//! Numbers that operators share: described once, kept with the context, only read.

use std::sync::atomic::{AtomicPtr, Ordering};

use acl_sys::aclScalar;

use super::ContextInner;
use crate::call::call;

/// A place for each type of element; null until somebody needs the number.
#[derive(Debug, Default)]
pub(crate) struct Scalars([AtomicPtr<aclScalar>; Self::COUNT]);

impl Scalars {
    pub(crate) const COUNT: usize = 16;

    pub(crate) fn place(&self, index: usize) -> &AtomicPtr<aclScalar> {
        &self.0[index]
    }

    /// At the end of the context.
    pub(super) fn destroy_all(&self, context: &ContextInner) {
        for place in &self.0 {
            let raw = place.swap(std::ptr::null_mut(), Ordering::AcqRel);
            if raw.is_null() {
                continue;
            }
            // SAFETY: the number is the context's own and destroyed once.
            if let Err(error) = unsafe { call!(context, aclDestroyScalar(raw)) } {
                context.record_drop_error("destroying an operator's description", error);
            }
        }
    }
}
