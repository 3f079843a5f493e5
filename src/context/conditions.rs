//! Whether the library has graphs that choose, which the mock can do without as older releases do.

use acl_sys::Table;

use super::ContextInner;
use crate::call::Caller as _;

impl ContextInner {
    /// Whether captured graphs can have bodies that the device chooses: releases up to CANN 9.0 have none.
    pub(crate) fn has_conditions(&self) -> bool {
        has_conditions(self.table())
    }
}

fn has_conditions(table: &Table) -> bool {
    #[cfg(feature = "mock")]
    if table.is_mock() && older::is_on() {
        return false;
    }
    table.aclmdlRICondHandleCreate().is_ok()
        && table.aclmdlRICondHandleGetCondPtr().is_ok()
        && table.aclmdlRIAddCondTask().is_ok()
        && table.aclmdlRICaptureToModelRIBegin().is_ok()
}

/// The mock as a release without them.
#[cfg(feature = "mock")]
pub(crate) mod older {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    const VARIABLE: &str = "RACL_MOCK_OLDER_GRAPHS";

    fn switch() -> &'static AtomicBool {
        static ON: OnceLock<AtomicBool> = OnceLock::new();
        ON.get_or_init(|| AtomicBool::new(std::env::var_os(VARIABLE).is_some_and(|value| value == "1")))
    }

    pub(super) fn is_on() -> bool {
        switch().load(Ordering::Relaxed)
    }

    /// For what is asked from now on; gives what it was.
    pub(crate) fn set(on: bool) -> bool {
        switch().swap(on, Ordering::Relaxed)
    }
}
