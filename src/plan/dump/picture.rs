//! Pieces of an SVG picture.

use std::fmt::{self, Write as _};

/// Width of a character of the font, at size 11.
const CHARACTER: f64 = 6.7;
/// Most characters of a tooltip.
const LONGEST_TIP: usize = 400;

/// A picture in the making.
pub(super) struct Picture {
    pub(super) out: String,
    pub(super) height: f64,
}

impl Picture {
    pub(super) fn new(width: f64, height: f64, title: &str, style: &str) -> Self {
        let mut picture = Self { out: String::new(), height };
        picture.put(format_args!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" \
             width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
             <title>{}</title>\n<style>{style}</style>\n\
             <rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#ffffff\"/>\n",
            escape(title)
        ));
        picture
    }

    pub(super) fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }

    pub(super) fn put(&mut self, pieces: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(pieces);
    }

    pub(super) fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        self.put(format_args!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>\n", escape(text)));
    }

    pub(super) fn rect(&mut self, class: &str, area: Area, tip: &str) {
        let Area { x, y, width, height } = area;
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\""
        ));
        self.close("rect", tip);
    }

    /// A box with pointed ends.
    pub(super) fn hexagon(&mut self, class: &str, area: Area, tip: &str) {
        let Area { x, y, width, height } = area;
        let (point, middle, right, bottom) = ((width / 2.0).min(8.0), y + height / 2.0, x + width, y + height);
        let (left_top, right_top) = (x + point, right - point);
        self.put(format_args!(
            "<polygon class=\"{class}\" points=\"{x:.1},{middle:.1} {left_top:.1},{y:.1} {right_top:.1},{y:.1} \
             {right:.1},{middle:.1} {right_top:.1},{bottom:.1} {left_top:.1},{bottom:.1}\""
        ));
        self.close("polygon", tip);
    }

    pub(super) fn close(&mut self, element: &str, tip: &str) {
        if tip.is_empty() {
            self.out.push_str("/>\n");
        } else {
            self.put(format_args!("><title>{}</title></{element}>\n", escape(&shorten(tip, LONGEST_TIP))));
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Text for XML. Characters that XML does not have become the signs for them.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\0'..='\x1f' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
            '\x7f' => out.push('\u{2421}'),
            '\u{80}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Estimated width at a font size.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let narrow = |c| matches!(c, '\0'..'\u{1100}' | '\u{2000}'..='\u{206f}');
    let characters = text.chars().map(|c| if narrow(c) { 1.0 } else { 2.0 });
    characters.sum::<f64>() * CHARACTER * size / 11.0
}

/// At most so many characters, with a sign where some are left out.
pub(super) fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Bytes in the unit that people read.
pub(super) fn show_bytes(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = units.iter().find(|(_, shift)| bytes >= 1 << shift);
    unit.map_or_else(
        || format!("{bytes} B"),
        |(name, shift)| format!("{:.2} {name}", bytes as f64 / f64::from(1 << shift)),
    )
}
