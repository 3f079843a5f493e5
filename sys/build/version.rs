//! What a toolkit's version file says, and what the headers are that the committed bindings come from.

/// As `Release` shows the newest one.
#[allow(dead_code)] // the library compares it in a test
pub(crate) const COMMITTED_HEADERS: &str = "the development head after CANN 9.1";

/// The version in the text of a `version.cfg` or `version.info`, if it names one.
pub(crate) fn in_text(text: &str) -> Option<&str> {
    let after = |key: &str| text.lines().find_map(|line| line.trim().strip_prefix(key));
    let running = after("toolkit_running_version=[").and_then(|rest| rest.split([':', ']']).next());
    let version = running.or_else(|| after("Version="))?.trim();
    (!version.is_empty()).then_some(version)
}
