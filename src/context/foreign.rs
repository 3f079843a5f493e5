//! Contexts from and to other code.

use acl_sys::aclrtContext;

use super::{Context, Ends, Owner};
use crate::acl::Acl;
use crate::call::{call, forget_binding};
use crate::error::{Refused, Result};

impl Context {
    /// A context that other code has and ends, on the device that it is of.
    pub(crate) fn adopt(acl: &Acl, raw: aclrtContext) -> Result<Self> {
        forget_binding();
        // SAFETY: a live context by the promise of the caller of `from_raw`; a stale one gives a code.
        unsafe { call!(acl, aclrtSetCurrentContext(raw)) }?;
        let mut device = 0;
        // SAFETY: a place for one number.
        unsafe { call!(acl, aclrtGetDevice(&raw mut device)) }?;
        Ok(Self::own(acl, raw, device, Owner::Others, None))
    }

    /// The handle of a context that nothing belongs to any more, and that is not ended then.
    pub(crate) fn give_away(self) -> Result<aclrtContext, Refused<Self>> {
        let raw = self.0.raw;
        self.end(Ends::GivenAway).map(|()| raw)
    }
}
