//! The events.

use crate::plan::dump::is_sync;
use crate::plan::dump::picture::{escape, width};
use crate::plan::recipe::NodeKind;

use super::{Drawing, LANE, MOST};

impl Drawing<'_> {
    pub(super) fn arrows(&mut self) {
        let size = (self.scale * 0.6).clamp(2.0, 8.0);
        self.picture.put(format_args!(
            "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"{size}\" \
             markerHeight=\"{size}\" orient=\"auto\" markerUnits=\"userSpaceOnUse\">\
             <path d=\"M0,0L8,4L0,8z\" fill=\"#0969da\"/></marker></defs>\n"
        ));
        let places = self.places();
        let mut drawn = 0;
        for (index, node) in self.recipe.nodes.iter().enumerate() {
            let NodeKind::Wait(event) = node.kind else { continue };
            let Some(record) = self.names.records[event as usize] else { continue };
            drawn += 1;
            if drawn <= MOST {
                self.arrow(event, record as usize, index, &places);
            }
        }
        self.records(&places);
        if drawn > MOST {
            let text = format!("{} of {drawn} arrows are left out.", drawn - MOST);
            self.picture.text("s", 16.0, 98.0, &text);
        }
    }

    /// Horizontal place of each record and wait: those at the same time on a stream share the room between the boxes.
    fn places(&self) -> Vec<f64> {
        let mut places = vec![0.0; self.recipe.nodes.len()];
        let mut runs: Vec<Vec<usize>> = vec![Vec::new(); self.recipe.tags.len()];
        let time = |index: usize| self.schedule.spans[index].1;
        for (index, node) in self.recipe.nodes.iter().enumerate() {
            let run = &mut runs[usize::from(node.tag)];
            if run.last().is_some_and(|last| !is_sync(node.kind) || time(*last) < time(index)) {
                self.spread(run, &mut places);
                run.clear();
            }
            if is_sync(node.kind) {
                run.push(index);
            }
        }
        runs.iter().for_each(|run| self.spread(run, &mut places));
        places
    }

    fn spread(&self, run: &[usize], places: &mut [f64]) {
        let room = self.gap() + 6.0_f64.min(self.scale * 0.1);
        for (i, index) in run.iter().enumerate() {
            let share = (i as f64 + 1.0) / (run.len() as f64 + 1.0) - 0.5;
            places[*index] = self.x(self.schedule.spans[*index].1) + room * share;
        }
    }

    fn arrow(&mut self, event: u32, record: usize, wait: usize, places: &[f64]) {
        let (from, to) = (self.recipe.nodes[record].tag, self.recipe.nodes[wait].tag);
        let down = if to > from { 1.0 } else { -1.0 };
        let middle = |tag: u16| Self::lane(usize::from(tag)) + LANE / 2.0;
        let (x1, y1) = (places[record], middle(from));
        let (x2, y2) = (places[wait], middle(to) - down * 6.0);
        let class = if self.recipe.events[event as usize].name.is_some() { "ev" } else { "ev un" };
        let turn = middle(from) + down * LANE / 2.0;
        self.picture.put(format_args!("<path class=\"{class}\" marker-end=\"url(#a)\" d=\"M{x1:.1},{y1:.1}"));
        if (x1 - x2).abs() < 0.05 {
            self.picture.put(format_args!("V{y2:.1}\""));
        } else {
            // Down into the room between the lanes, along it, and on to the lane that waits.
            let round = 6.0_f64.min((x2 - x1).abs() / 2.0);
            let (near, far, side) = (turn - down * round, turn + down * round, round * (x2 - x1).signum());
            self.picture.put(format_args!(
                "V{near:.1}Q{x1:.1},{turn:.1} {:.1},{turn:.1}H{:.1}Q{x2:.1},{turn:.1} {x2:.1},{far:.1}V{y2:.1}\"",
                x1 + side,
                x2 - side
            ));
        }
        let streams = &self.names.streams;
        let tip = format!(
            "{}: {} to {}",
            self.names.events[event as usize],
            streams[usize::from(from)],
            streams[usize::from(to)]
        );
        self.picture.close("path", &tip);
    }

    /// A dot for each record, with the tag of its event where there is room.
    fn records(&mut self, places: &[f64]) {
        let mut taken = vec![0.0_f64; self.recipe.tags.len()];
        let records: Vec<_> = self.names.records.iter().enumerate().collect();
        let share = self.share();
        for (event, record) in records.into_iter().step_by(share) {
            let Some(record) = *record else { continue };
            let (x, tag) = (places[record as usize], usize::from(self.recipe.nodes[record as usize].tag));
            let y = Self::lane(tag) + LANE / 2.0;
            let (name, radius) = (&self.names.events[event], (self.scale * 0.1).clamp(0.5, 3.2));
            self.picture.put(format_args!(
                "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"><title>record {}</title>\
                 </circle>\n",
                escape(name)
            ));
            let tagged = self.recipe.events[event].name.is_some();
            let end = x + 8.0 + width(name, 10.0);
            if tagged && x > taken[tag] && width(name, 10.0) < self.scale * 1.5 && end < self.end() {
                self.picture.text("e", x + 6.0, Self::lane(tag) + 12.0, name);
                taken[tag] = end;
            }
        }
    }
}
