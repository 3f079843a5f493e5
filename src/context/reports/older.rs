//! The mock as a release without `aclrtLaunchHostFunc`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

const VARIABLE: &str = "RACL_MOCK_OLDER_HOST_FUNCTIONS";

fn switch() -> &'static AtomicBool {
    static ON: OnceLock<AtomicBool> = OnceLock::new();
    ON.get_or_init(|| AtomicBool::new(std::env::var_os(VARIABLE).is_some_and(|value| value == "1")))
}

pub(super) fn is_on() -> bool {
    switch().load(Ordering::Relaxed)
}

/// For contexts that are opened from now on; gives what it was.
pub(crate) fn set(on: bool) -> bool {
    switch().swap(on, Ordering::Relaxed)
}
