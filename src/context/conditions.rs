//! Whether the library has graphs that choose, which the mock can do without as older releases do.

use acl_sys::Table;

use super::ContextInner;
#[cfg(feature = "mock")]
use super::older;
use crate::call::Caller as _;

impl ContextInner {
    /// Whether captured graphs can have bodies that the device chooses: releases up to CANN 9.0 have none.
    pub(crate) fn has_conditions(&self) -> bool {
        has_conditions(self.table())
    }
}

fn has_conditions(table: &Table) -> bool {
    #[cfg(feature = "mock")]
    if table.is_mock() && older::GRAPHS.is_on() {
        return false;
    }
    table.aclmdlRICondHandleCreate().is_ok()
        && table.aclmdlRICondHandleGetCondPtr().is_ok()
        && table.aclmdlRIAddCondTask().is_ok()
        && table.aclmdlRICaptureToModelRIBegin().is_ok()
}
