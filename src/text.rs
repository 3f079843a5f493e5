//! Text that came from a file or names one, for people.

use std::fmt::Write as _;
#[cfg(feature = "cache")]
use std::path::Path;

/// The text with control characters, and those that turn the direction of writing, as escapes: what a file says must
/// not reach a terminal as a command.
#[doc(hidden)]
#[must_use]
#[cfg_attr(not(feature = "cache"), allow(unreachable_pub, reason = "public with the feature only"))]
pub fn printable(text: &str) -> String {
    let is_command = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_command(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown
}

/// The text as a string of JSON, quotes included.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            control if control < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out + "\""
}

/// A path in one line, as [`printable`] gives it.
#[cfg(feature = "cache")]
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_become_visible_and_letters_stay() {
        assert_eq!(printable("a\u{1b}[2J\r\nb\u{9b}c\u{202e}d"), "a\\u{1b}[2J\\r\\nb\\u{9b}c\\u{202e}d");
        assert_eq!(printable("grün \"x\" \\ 模"), "grün \"x\" \\ 模");
    }
}
