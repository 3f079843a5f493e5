//! Contexts from and to other code.

use acl_sys::aclrtContext;

use super::{Context, Ends, Owner};
use crate::acl::Acl;
use crate::call::{call, forget_binding};
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::lock::{caught, say};

/// What other code keeps something by, for the last who has that: nobody looks at it before.
#[derive(Default)]
pub(crate) struct Lender(Option<Box<dyn Send>>);

impl Lender {
    pub(crate) fn of(owner: impl Send + 'static) -> Self {
        Self(Some(Box::new(owner)))
    }

    fn is_any(&self) -> bool {
        self.0.is_some()
    }

    /// For what the library may use still.
    pub(super) fn leak(&mut self) {
        std::mem::forget(self.0.take());
    }
}

impl Drop for Lender {
    fn drop(&mut self) {
        let Some(owner) = self.0.take() else { return };
        // It is code of others.
        if caught(|| drop(owner)).is_none() {
            say!(
                Error,
                "the owner of a context, or of pinned memory, that other code made panicked when it was dropped"
            );
        }
    }
}

impl Context {
    /// A context that other code has and ends, on the device that it is of.
    pub(crate) fn adopt(acl: &Acl, raw: aclrtContext, lender: Lender) -> Result<Self> {
        forget_binding();
        // SAFETY: a live context by the promise of the caller of `from_raw`; a stale one gives a code.
        unsafe { call!(acl, aclrtSetCurrentContext(raw)) }?;
        let mut device = 0;
        // SAFETY: a place for one number.
        unsafe { call!(acl, aclrtGetDevice(&raw mut device)) }?;
        Ok(Self::own(acl, raw, device, Owner::Others, None, lender))
    }

    /// The handle of a context that nothing belongs to any more, and that is not ended then.
    pub(crate) fn give_away(self) -> Result<aclrtContext, Refused<Self>> {
        if self.0.lender.is_any() {
            let text = "a context that stays with other code, whose owner would go; Context::close drops it";
            return Err(Refused::new(self, Error::new(ErrorKind::NotSupported, text)));
        }
        let raw = self.0.raw;
        self.end(Ends::GivenAway).map(|()| raw)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn an_owner_is_dropped_once_unless_it_is_to_stay() {
        let owner = Arc::new(());
        drop(Lender::of(Arc::clone(&owner)));
        assert_eq!(Arc::strong_count(&owner), 1);
        let mut lender = Lender::of(Arc::clone(&owner));
        assert!(lender.is_any());
        lender.leak();
        drop(lender);
        assert_eq!(Arc::strong_count(&owner), 2);
    }
}
