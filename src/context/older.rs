//! What the mock does without, as older releases do.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Without `aclrtLaunchHostFunc`, for contexts that are opened from now on.
pub(crate) static HOST_FUNCTIONS: Switch = Switch::new("RACL_MOCK_OLDER_HOST_FUNCTIONS");

/// Without conditional graphs, for what is asked from now on.
pub(crate) static GRAPHS: Switch = Switch::new("RACL_MOCK_OLDER_GRAPHS");

/// Without `aclrtLaunchKernelWithHostArgs`, for what is launched from now on.
pub(crate) static LAUNCHES: Switch = Switch::new("RACL_MOCK_OLDER_LAUNCHES");

/// Off at first, unless a variable of the environment is 1.
pub(crate) struct Switch {
    variable: &'static str,
    on: OnceLock<AtomicBool>,
}

impl Switch {
    const fn new(variable: &'static str) -> Self {
        Self { variable, on: OnceLock::new() }
    }

    fn on(&self) -> &AtomicBool {
        self.on.get_or_init(|| AtomicBool::new(std::env::var_os(self.variable).is_some_and(|value| value == "1")))
    }

    pub(crate) fn is_on(&self) -> bool {
        self.on().load(Ordering::Relaxed)
    }

    /// Gives what it was.
    pub(crate) fn set(&self, on: bool) -> bool {
        self.on().swap(on, Ordering::Relaxed)
    }
}
