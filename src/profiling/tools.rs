//! Marks and ranges for tools: mstx, a library beside AscendCL (`libms_tools_ext.so`), where it is there.

use std::ffi::CStr;
use std::ptr;

use acl_sys::{aclrtStream, mstxDomainHandle_t, mstxRangeId};

use crate::acl::Acl;
use crate::call::{Caller, value};
use crate::error::{ErrorKind, Result};
use crate::lock::Lock;

/// What marks and ranges of this crate belong to: tools choose by it, and it tells them from the marks of profiles, which
/// some tools show beside them.
const DOMAIN: &CStr = c"racl";

/// The domain of each library by the address of its table; none for those without mstx.
static DOMAINS: Lock<Vec<(usize, Option<Domain>)>> = Lock::new(Vec::new());

/// A domain that stays as long as the process.
#[derive(Clone, Copy)]
pub(super) struct Domain(mstxDomainHandle_t);

// SAFETY: an address that the library alone looks behind; a domain is of the process, and no call with it of a thread.
unsafe impl Send for Domain {}
// SAFETY: the same; shared, it is only passed on.
unsafe impl Sync for Domain {}

/// That of the library of `caller`. None where there is no mstx, or it gives none: where no tool listens, maybe.
pub(super) fn domain(caller: &impl Caller) -> Option<Domain> {
    let table = ptr::from_ref(caller.table()).addr();
    let known = DOMAINS.lock().iter().find(|(of, _)| *of == table).map(|(_, domain)| *domain);
    if let Some(known) = known {
        return known;
    }
    // SAFETY: a text that ends with a zero, and lasts.
    let domain = match unsafe { value!(caller, mstxDomainCreateA(DOMAIN.as_ptr())) } {
        Ok(raw) if !raw.is_null() => Some(Domain(raw)),
        Err(error) if error.kind() == ErrorKind::MissingSymbol => None,
        // A tool may come later.
        _ => return None,
    };
    DOMAINS.lock().push((table, domain));
    domain
}

/// The mock, whose tables are given by address, was reset: its domains are gone.
#[cfg(feature = "mock")]
pub(crate) fn forget(tables: &[usize]) {
    DOMAINS.lock().retain(|(table, _)| !tables.contains(table));
}

impl Domain {
    /// On the host, and with a stream where that gets there, too.
    ///
    /// # Safety
    ///
    /// The stream is null or live.
    pub(super) unsafe fn mark(self, caller: &impl Caller, text: &CStr, stream: aclrtStream) -> Result<()> {
        // SAFETY: a domain that stays, and a text that ends with a zero and is copied; the stream by the contract.
        unsafe { value!(caller, mstxDomainMarkA(self.0, text.as_ptr(), stream)) }
    }

    /// None where no tool takes it.
    ///
    /// # Safety
    ///
    /// As [`Domain::mark`].
    pub(super) unsafe fn start(
        self,
        caller: &impl Caller,
        text: &CStr,
        stream: aclrtStream,
    ) -> Result<Option<mstxRangeId>> {
        // SAFETY: as in `mark`.
        let id = unsafe { value!(caller, mstxDomainRangeStartA(self.0, text.as_ptr(), stream)) }?;
        Ok((id != 0).then_some(id))
    }

    pub(super) fn end(self, caller: &impl Caller, id: mstxRangeId) -> Result<()> {
        // SAFETY: takes any number; that of a range of this domain, which ends once.
        unsafe { value!(caller, mstxDomainRangeEnd(self.0, id)) }
    }
}

/// A range of the host.
pub(super) struct HostPart {
    acl: Acl,
    domain: Domain,
    id: mstxRangeId,
}

impl HostPart {
    pub(super) fn start(acl: &Acl, text: &CStr) -> Result<Option<Self>> {
        let Some(domain) = domain(acl) else { return Ok(None) };
        // SAFETY: no stream.
        let id = unsafe { domain.start(acl, text, ptr::null_mut()) }?;
        Ok(id.map(|id| Self { acl: acl.clone(), domain, id }))
    }

    pub(super) fn end(self) -> Result<()> {
        self.domain.end(&self.acl, self.id)
    }
}
