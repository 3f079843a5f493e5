//! A writer of JSON.

use std::fmt::Write as _;

/// Text that grows. Objects and arrays are closed by the closures that fill them; each piece of an outer array has a
/// line of its own.
#[derive(Default)]
pub(super) struct Json {
    out: String,
    /// Whether something stands before the next piece, at each level.
    filled: Vec<bool>,
}

impl Json {
    pub(super) fn object(fill: impl FnOnce(&mut Self)) -> String {
        let mut json = Self::default();
        json.braces('{', '}', fill);
        json.out.push('\n');
        json.out
    }

    fn braces(&mut self, open: char, close: char, fill: impl FnOnce(&mut Self)) {
        self.out.push(open);
        self.filled.push(false);
        fill(self);
        if self.filled.pop() == Some(true) && self.filled.len() < 2 {
            self.out.push('\n');
        }
        self.out.push(close);
    }

    fn separate(&mut self) {
        let depth = self.filled.len();
        if let Some(filled) = self.filled.last_mut() {
            self.out.push_str(match (depth < 3, *filled) {
                (true, true) => ",\n",
                (true, false) => "\n",
                (false, true) => ", ",
                (false, false) => "",
            });
            *filled = true;
        }
    }

    fn key(&mut self, key: &str) {
        self.separate();
        self.quote(key);
        self.out.push_str(": ");
    }

    pub(super) fn array<T>(&mut self, key: &str, items: impl IntoIterator<Item = T>, each: impl Fn(&mut Self, T)) {
        self.key(key);
        self.braces('[', ']', |json| {
            for item in items {
                json.separate();
                each(json, item);
            }
        });
    }

    /// An array of objects.
    pub(super) fn objects<T>(&mut self, key: &str, items: impl IntoIterator<Item = T>, each: impl Fn(&mut Self, T)) {
        self.array(key, items, |json, item| json.braces('{', '}', |json| each(json, item)));
    }

    pub(super) fn nested(&mut self, key: &str, fill: impl FnOnce(&mut Self)) {
        self.key(key);
        self.braces('{', '}', fill);
    }

    pub(super) fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        self.quote(text);
    }

    pub(super) fn count(&mut self, key: &str, value: impl Into<u64>) {
        self.key(key);
        let _ = write!(self.out, "{}", value.into());
    }

    pub(super) fn int(&mut self, key: &str, value: i64) {
        self.key(key);
        let _ = write!(self.out, "{value}");
    }

    /// JSON has no word for infinities and NaN; they are text.
    pub(super) fn float(&mut self, key: &str, value: f64) {
        self.key(key);
        let _ = if value.is_finite() { write!(self.out, "{value:?}") } else { write!(self.out, "\"{value:?}\"") };
    }

    pub(super) fn flag(&mut self, key: &str, value: bool) {
        self.key(key);
        let _ = write!(self.out, "{value}");
    }

    pub(super) fn null(&mut self, key: &str) {
        self.key(key);
        self.out.push_str("null");
    }

    pub(super) fn bare(&mut self, value: u64) {
        let _ = write!(self.out, "{value}");
    }

    pub(super) fn bare_int(&mut self, value: i64) {
        let _ = write!(self.out, "{value}");
    }

    pub(super) fn quote(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                // DEL and the line separators are legal, and trip editors and scripts.
                c if c < ' ' || matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}') => {
                    let _ = write!(self.out, "\\u{:04x}", u32::from(c));
                }
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}
