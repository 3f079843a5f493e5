//! Which task failed: what the library tells of it.

use std::sync::Arc;

use acl_sys::Table;

use super::Acl;
use crate::error::{Error, ErrorKind, Result};
use crate::failures;
use crate::logs;

/// After an initialisation: hears of tasks that fail where that takes nothing from other code.
pub(super) fn begin(table: Option<&Arc<Table>>) -> Result<()> {
    logs::begin();
    table.map_or(Ok(()), |table| failures::hear(table, false).map(drop))
}

impl Acl {
    /// Makes errors name the task that failed ([`Error::task_failure`]) on libraries that tell a single function of the
    /// process, up to CANN 9.1: this crate's function takes the place. One that other code had there, as HCCL has on
    /// some releases, hears nothing more, and what it was cannot be asked; one that other code sets later takes the
    /// place from this crate. Newer libraries tell any number of functions, so that this changes nothing there.
    ///
    /// It counts for the whole process, from then on; any thread may call it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`] when the process has more than 32 libraries; otherwise what the library says.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// acl.hear_failures()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSetExceptionInfoCallback")]
    #[doc(alias = "aclrtExceptionInfoCallbackRegister")]
    pub fn hear_failures(&self) -> Result<()> {
        if failures::hear(&self.0.table, true)? {
            return Ok(());
        }
        Err(Error::new(ErrorKind::NotSupported, "failures are heard of 32 libraries of a process at most"))
    }
}
