//! What a toolkit's version file says.

/// The version in the text of a `version.cfg` or `version.info`, if it names one.
pub(crate) fn in_text(text: &str) -> Option<&str> {
    let after = |key: &str| text.lines().find_map(|line| line.trim().strip_prefix(key));
    let running = after("toolkit_running_version=[").and_then(|rest| rest.split([':', ']']).next());
    let version = running.or_else(|| after("Version="))?.trim();
    (!version.is_empty()).then_some(version)
}
