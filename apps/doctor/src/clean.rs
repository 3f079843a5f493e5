//! Text from outside, so that no terminal takes it for commands.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;

/// Bytes that are no UTF-8 become `\xNN`; the second value says that there are none.
pub(crate) fn text_of(value: &OsStr) -> (String, bool) {
    let (mut text, mut is_text) = (String::new(), true);
    for chunk in value.as_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            is_text = false;
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    (text, is_text)
}

/// What a terminal may act on, or shows nothing of.
fn is_hidden(c: char) -> bool {
    let is_format = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    c.is_control() || is_format || matches!(c, '\u{61c}' | '\u{feff}')
}

/// One line that can be shown.
pub(crate) fn line(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            '\n' => clean.push_str("; "),
            c if is_hidden(c) => clean.extend(c.escape_unicode()),
            c => clean.push(c),
        }
    }
    clean
}

/// JSON that says the same with escapes for what a terminal may act on. All of it stands in strings, except newlines.
pub(crate) fn json(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\n' && is_hidden(c) {
            let _ = write!(clean, "\\u{:04x}", u32::from(c));
        } else {
            clean.push(c);
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_for_the_terminal_do_not_get_through() {
        assert_eq!(line("a\x1b[31mb\u{9b}0m\u{202e}\u{7f}\nc\r"), "a\\u{1b}[31mb\\u{9b}0m\\u{202e}\\u{7f}; c");
        assert_eq!(line("Grüße 世界"), "Grüße 世界");
        let value = serde_json::json!({ "k": "\x1b\u{9b}\u{202e}\u{7f}ü" });
        let text = json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(!text.chars().any(|c| c != '\n' && is_hidden(c)), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn bytes_that_are_no_text_are_shown() {
        assert_eq!(text_of(OsStr::from_bytes(b"/a\xff\xfe/b")), ("/a\\xff\\xfe/b".to_owned(), false));
        assert_eq!(text_of(OsStr::new("/ü")), ("/ü".to_owned(), true));
    }
}
