//! Whether the library has graphs that choose, and launches with arguments of the host, which the mock can do without
//! as older releases do.

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

    /// Whether kernels are launched with a block of arguments, in one call; else with a list, as the first releases that
    /// launch kernels do.
    pub(crate) fn has_host_arguments(&self) -> bool {
        self.launches().host_arguments
    }

    /// Whether launches have limits finer than a second. No function tells; the headers that declare conditional graphs
    /// declare them, and the older ones do not.
    pub(crate) fn has_fine_limits(&self) -> bool {
        self.launches().fine_limits
    }

    fn launches(&self) -> Launches {
        #[cfg(feature = "mock")]
        if self.table().is_mock() && older::LAUNCHES.is_on() {
            return Launches { host_arguments: false, fine_limits: false };
        }
        *self.launches.get_or_init(|| Launches::of(self.table()))
    }
}

/// What the launches of a library can do.
#[derive(Clone, Copy)]
pub(super) struct Launches {
    host_arguments: bool,
    fine_limits: bool,
}

impl Launches {
    fn of(table: &Table) -> Self {
        // A library with neither says what it lacks when it is asked for the newer function.
        let host_arguments =
            table.aclrtLaunchKernelWithHostArgs().is_ok() || table.aclrtLaunchKernelWithConfig().is_err();
        Self { host_arguments, fine_limits: table.aclmdlRIAddCondTask().is_ok() }
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
