//! How an initialisation begins and ends, with libraries that count and those that do not.

use acl_sys::Table;

use super::options::{ConfigFile, too_late};
use crate::call::call;
use crate::error::Result;

/// What undoes an initialisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// One reference of the counted initialisation.
    Reference,
    /// The plain call: nobody else initialised.
    Finalize,
    /// Nothing: somebody else initialised and the library does not count.
    Nothing,
}

/// Releases differ: some count initialisations, older ones know only the first. The counted pair is used where it is.
pub(super) fn initialize(table: &Table, config: Option<&str>) -> Result<Ending> {
    // The library takes an empty configuration for another one than none at all.
    let file = config.filter(|json| *json != "{}").map(ConfigFile::write).transpose()?;
    let path = file.as_ref().map(ConfigFile::path).transpose()?;
    let path = path.as_ref().map_or(std::ptr::null(), |path| path.as_ptr());
    // SAFETY: null asks for the defaults; else a NUL-terminated string that outlives the call.
    let begun = unsafe { call!(table, aclInit(path)) };
    let counted = table.aclFinalizeReference().is_ok();
    let ending = match begun {
        Ok(()) if !counted => return Ok(Ending::Finalize),
        Err(error) if error.code() != Some(acl_sys::ACL_ERROR_REPEAT_INITIALIZE) => return Err(error),
        Err(_) if config.is_some() => {
            // Others had it first, and keep it as it is.
            finalize(table, if counted { Ending::Reference } else { Ending::Nothing })?;
            return Err(too_late("other code"));
        }
        Err(_) if !counted => Ending::Nothing,
        _ => Ending::Reference,
    };
    Ok(ending)
}

pub(super) fn finalize(table: &Table, ending: Ending) -> Result<()> {
    let ended = match ending {
        Ending::Nothing => return Ok(()),
        // SAFETY: a null pointer asks for no count.
        Ending::Reference => unsafe { call!(table, aclFinalizeReference(std::ptr::null_mut())) },
        // SAFETY: takes nothing; every object of this crate is gone, since each holds an `Acl`.
        Ending::Finalize => unsafe { call!(table, aclFinalize()) },
    };
    match ended {
        // Somebody else ended the library first; there is nothing left to end.
        Err(error) if error.code() == Some(acl_sys::ACL_ERROR_REPEAT_FINALIZE) => Ok(()),
        other => other,
    }
}
