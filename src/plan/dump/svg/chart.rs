//! The memory.

use std::fmt::Write as _;

use crate::plan::dump::picture::{Area, show_bytes};

use super::{CHART, Drawing, LANE, TOP};

/// Most corners of the curve; more are joined to the highest of their neighbours.
const MOST_CORNERS: usize = 4_000;

impl Drawing<'_> {
    pub(super) fn chart(&mut self, live: &[(f64, u64)], arena: u64) {
        let top = TOP + self.recipe.tags.len() as f64 * LANE + 26.0;
        let bottom = top + CHART;
        self.picture.text("n", self.left, top - 10.0, "Live bytes of temporaries, padding included");
        let peak = live.iter().copied().fold((0.0, 0), |most, step| if step.1 > most.1 { step } else { most });
        let most = arena.max(peak.1);
        if most == 0 {
            self.picture.text("s", self.left + 8.0, top + 20.0, "no temporaries");
            return;
        }
        let width = self.end() - self.left;
        self.picture.rect("lane", Area { x: self.left, y: top, width, height: CHART }, "");
        let y = |bytes: u64| bottom - bytes as f64 / most as f64 * CHART;
        self.curve(&joined(live), bottom, y);
        self.level("arena", y(arena));
        self.level("peak", y(peak.1));
        self.picture.text("r", self.left - 8.0, y(arena) + 4.0, &format!("arena {}", show_bytes(arena)));
        // Not on top of the line above, where the two are close.
        let place = (y(peak.1) + 4.0).max(y(arena) + 18.0);
        self.picture.text("r", self.left - 8.0, place, &format!("peak {}", show_bytes(peak.1)));
        if place < bottom - 10.0 {
            self.picture.text("r s", self.left - 8.0, bottom + 4.0, "0 B");
        }
        let (x, y) = (self.x(peak.0), y(peak.1));
        let tip = format!("the peak: {} bytes live from step {:.1} on, {arena} bytes of arena", peak.1, peak.0);
        self.picture.put(format_args!(
            "<circle class=\"g\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{tip}</title></circle>\n"
        ));
    }

    fn curve(&mut self, live: &[(f64, u64)], bottom: f64, y: impl Fn(u64) -> f64) {
        let mut path = format!("M{:.1},{bottom:.1}", self.x(0.0));
        for (time, bytes) in live {
            // Writing to a string cannot fail.
            let _ = write!(path, "H{:.1}V{:.1}", self.x(*time), y(*bytes));
        }
        self.picture.put(format_args!("<path class=\"area\" d=\"{path}V{bottom:.1}z\"/>\n"));
    }

    fn level(&mut self, class: &str, y: f64) {
        let (left, right) = (self.left, self.end());
        self.picture.put(format_args!(
            "<line class=\"{class}\" x1=\"{left:.1}\" y1=\"{y:.1}\" x2=\"{right:.1}\" y2=\"{y:.1}\"/>\n"
        ));
    }
}

/// The curve with at most so many corners.
fn joined(live: &[(f64, u64)]) -> Vec<(f64, u64)> {
    let size = live.len().div_ceil(MOST_CORNERS).max(1);
    let highest = |group: &[(f64, u64)]| (group[0].0, group.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0));
    live.chunks(size).map(highest).chain(live.last().copied()).collect()
}
