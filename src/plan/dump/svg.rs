//! The picture: streams as lanes, and the memory below them.

use crate::error::Result;
use crate::plan::Plan;
use crate::plan::recipe::Recipe;
use crate::sort;

use super::Names;
use super::arena::temporaries;
use super::picture::{Area, Picture, escape, shorten, width};
use super::schedule::{Schedule, Width, live};

mod arrows;
mod boxes;
mod chart;

/// Widest part of a picture that shows time.
const WIDEST: f64 = 14_000.0;
/// Widest step, where all operators are as wide and where their widths differ.
const STEPS: [f64; 2] = [96.0, 64.0];
/// Most boxes, and most arrows; more operators share boxes.
const MOST: usize = 12_000;
const TOP: f64 = 118.0;
const LANE: f64 = 64.0;
const CHART: f64 = 130.0;
const RIGHT: f64 = 24.0;

const STYLE: &str = "\
text{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:11px;fill:#1f2328}\
.h{font-size:15px;font-weight:bold}.s{fill:#59636e}.t{font-size:9px;fill:#59636e}.n{font-size:12px;font-weight:bold}\
.l{text-anchor:middle;pointer-events:none}.d{text-anchor:middle;font-size:9px;fill:#59636e;pointer-events:none}\
.r{text-anchor:end}.e{font-size:10px;fill:#0550ae}\
.lane{fill:#f6f8fa}.both{fill:#ffdf5d;fill-opacity:0.45}.grid{stroke:#d1d9e0;stroke-width:1}\
.m{fill:#80ccff;stroke:#0550ae}.o{fill:#aceebb;stroke:#1a7f37}.c{fill:#d1d9e0;stroke:#59636e}\
.f{fill:#fae17d;stroke:#7d4e00}.p{fill:#fbefff;stroke:#8250df;stroke-dasharray:5 3;stroke-width:1.5}\
.host{fill:#ffcecb;stroke:#a40e26}.g{fill:#ffd8b5;stroke:#953800}\
.ev{fill:none;stroke:#0969da;stroke-width:1.8}.un{stroke-width:1;stroke-opacity:0.6}.dot{fill:#0969da}\
.area{fill:#c2dffb;stroke:#0969da}.peak{stroke:#953800;stroke-dasharray:5 4}.arena{stroke:#cf222e;stroke-width:1.5}";

const LEGEND: [(&str, &str); 7] = [
    ("m", "matrix product"),
    ("o", "other operator"),
    ("c", "copy or fill"),
    ("f", "foreign"),
    ("p", "prefetch"),
    ("host", "host function"),
    ("g", "gate"),
];

impl Plan {
    /// The plan as a picture that needs nothing but a viewer of SVG: for a dynamic plan with these values of its
    /// symbols.
    ///
    /// Each stream is a lane, the origin on top. Boxes are operators, placed by logical time: one starts when the one
    /// before it on its stream is done and the records that it waits for are there. Their width is a model, which the
    /// picture names, and no measurement; see [`Width`]. Where several streams have work at once the background is
    /// yellow. Arrows lead from the record of an event to each wait for it; dashed boxes are prefetches, rounded ones
    /// host functions, hexagons gates to the outside, what they wait for left out of the model. Below the lanes are
    /// the bytes of the temporaries that are live at each time, padding included, with their peak and the size of the
    /// arena.
    ///
    /// Tooltips hold the line of each operator in [`Plan::to_text`], with numbers for symbols; a label that does not
    /// fit its box is left out. The picture is at most about 14,000 units wide. It has at most 12,000 boxes and as
    /// many arrows: in longer plans neighbours share a box, which the picture says.
    ///
    /// # Errors
    ///
    /// As [`Plan::memory`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Width};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [64, 64], F32, Input::Copied)?;
    ///     let side = g.scope("side", |g| g.gelu(x, Default::default()))?;
    ///     let main = g.matmul(x, x)?; // meanwhile
    ///     g.join("side")?;
    ///     let y = g.add(main, side)?;
    ///     g.output("y", y)
    /// })?;
    /// let svg = plan.to_svg(&[], Width::Bytes)?;
    /// assert!(svg.contains("<svg") && svg.contains("Matmul.0"));
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn to_svg(&self, symbols: &[usize], widths: Width) -> Result<String> {
        let (recipe, memory) = self.specialise(symbols)?;
        let (names, schedule) = (Names::of(&recipe, &self.0.bodies), Schedule::of(&recipe, widths));
        let temporaries = temporaries(&recipe, &self.0.uses, &memory);
        let live = live(&temporaries, &schedule.spans);
        let mut drawing = Drawing::new(&recipe, &names, &schedule, widths);
        drawing.head(widths, self.operators());
        drawing.lanes();
        drawing.boxes();
        drawing.arrows();
        drawing.chart(&live, memory.peak);
        Ok(drawing.picture.finish())
    }
}

struct Drawing<'a> {
    recipe: &'a Recipe,
    names: &'a Names,
    schedule: &'a Schedule,
    picture: Picture,
    /// Units of the picture in a step, and where the first one starts.
    scale: f64,
    left: f64,
}

impl<'a> Drawing<'a> {
    fn new(recipe: &'a Recipe, names: &'a Names, schedule: &'a Schedule, widths: Width) -> Self {
        let longest = names.streams.iter().map(|name| width(&shorten(name, 24), 12.0)).fold(120.0, f64::max);
        let widest = if widths == Width::Equal { STEPS[0] } else { STEPS[1] };
        let scale = (WIDEST / schedule.end.max(1.0)).min(widest);
        let left = longest + 28.0;
        let total = (left + schedule.end * scale + RIGHT).max(900.0);
        let height = TOP + recipe.tags.len() as f64 * LANE + CHART + 70.0;
        // Edges as thick as the boxes themselves would hide them.
        let edge = (scale * 0.08).clamp(0.05, 1.0);
        let style = format!("{STYLE}.m,.o,.c,.f,.host,.g{{stroke-width:{edge:.2}}}.un{{stroke-width:{edge:.2}}}");
        let picture = Picture::new(total, height, "a plan", &style);
        Self { recipe, names, schedule, picture, scale, left }
    }

    fn x(&self, step: f64) -> f64 {
        self.left + step * self.scale
    }

    fn end(&self) -> f64 {
        self.x(self.schedule.end.max(1.0))
    }

    /// Room between boxes, where records and waits are.
    fn gap(&self) -> f64 {
        (self.scale * 0.15).min(14.0)
    }

    fn lane(tag: usize) -> f64 {
        TOP + tag as f64 * LANE
    }

    fn head(&mut self, widths: Width, operators: usize) {
        let (streams, events) = (self.recipe.tags.len(), self.recipe.events.len());
        let counts = format!("{operators} operators on {streams} streams, {events} events");
        self.picture.text("h", 16.0, 26.0, &counts);
        let model = match widths {
            Width::Equal => "each operator takes one step",
            Width::Bytes => "steps by bytes touched, 12 for the operator that touches most, at least 1",
        };
        let Schedule { end, work, .. } = self.schedule;
        let at_once = if *end > 0.0 { work / end } else { 0.0 };
        let at_once = format!("{work:.0} steps of work in {end:.0}: {at_once:.2} at a time");
        let model = format!("Logical time, a model and no measurement: {model}. {at_once}.");
        self.picture.text("s", 16.0, 44.0, &model);
        self.legend();
        let shared = self.share();
        if shared > 1 {
            self.picture.text("s", 16.0, 84.0, &format!("Up to {shared} operators of a stream share a box."));
        }
    }

    fn legend(&mut self) {
        let mut x = 16.0;
        for (class, label) in LEGEND {
            let area = Area { x, y: 56.0, width: 22.0, height: 12.0 };
            match class {
                "g" => self.picture.hexagon(class, area, ""),
                "host" => self.rounded(class, area, ""),
                _ => self.picture.rect(class, area, ""),
            }
            self.picture.text("s", x + 27.0, 66.0, label);
            x += 27.0 + width(label, 11.0) + 16.0;
        }
        self.picture.rect("both", Area { x, y: 56.0, width: 22.0, height: 12.0 }, "");
        self.picture.text("s", x + 27.0, 66.0, "several at once");
    }

    fn rounded(&mut self, class: &str, Area { x, y, width, height }: Area, tip: &str) {
        let radius = (width / 2.0).min(height / 2.0);
        self.picture.put(format_args!(
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             rx=\"{radius:.1}\""
        ));
        self.picture.close("rect", tip);
    }

    fn lanes(&mut self) {
        let width = self.end() - self.left;
        let top = Area { x: self.left, y: 0.0, width, height: LANE - 8.0 };
        for (tag, name) in self.names.streams.iter().enumerate() {
            let y = Self::lane(tag);
            self.picture.rect("lane", Area { y: y + 4.0, ..top }, "");
            let short = shorten(name, 24);
            let tip = if short == *name { "" } else { name };
            self.picture.put(format_args!("<g class=\"stream\">"));
            self.picture.text("n", 16.0, y + LANE / 2.0, &short);
            let priority = format!("priority {}", self.recipe.tags[tag].priority);
            self.picture.text("t", 16.0, y + LANE / 2.0 + 14.0, &priority);
            self.picture.put(format_args!("<title>{}</title></g>\n", escape(tip)));
        }
        self.overlap();
        self.axis();
    }

    /// Where more than one stream has work.
    fn overlap(&mut self) {
        let mut changes: Vec<(f64, i32)> = Vec::new();
        for (start, end) in self.schedule.spans.iter().filter(|(start, end)| start < end) {
            changes.extend([(*start, 1), (*end, -1)]);
        }
        sort::by(&mut changes, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut busy, mut since, mut areas) = (0, 0.0, Vec::<(f64, f64)>::new());
        for (time, change) in changes {
            match (busy, busy + change) {
                (1, 2) => since = time,
                (2, 1) => match areas.last_mut() {
                    Some(last) if (since - last.1) * self.scale < 1.0 => last.1 = time,
                    _ => areas.push((since, time)),
                },
                _ => {}
            }
            busy += change;
        }
        let height = self.recipe.tags.len() as f64 * LANE;
        for (start, end) in areas {
            let (x, width) = (self.x(start), (end - start) * self.scale);
            self.picture.rect("both", Area { x, y: TOP, width, height }, "");
        }
    }

    fn axis(&mut self) {
        let most = self.schedule.end.max(1.0);
        let wanted = 60.0 / self.scale;
        let steps = [1.0, 2.0, 5.0].into_iter().cycle().zip((0..).flat_map(|power| [10_f64.powi(power); 3]));
        let step = steps.map(|(digit, power)| digit * power).find(|step| *step >= wanted).unwrap_or(most);
        let bottom = self.picture.height - 40.0;
        for tick in 0..=(most / step) as usize {
            let (at, x) = (tick as f64 * step, self.x(tick as f64 * step));
            self.picture.put(format_args!(
                "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>\n"
            ));
            self.picture.text("t l", x, TOP - 5.0, &format!("{at:.0}"));
        }
        self.picture.text("t r", self.left - 8.0, TOP - 5.0, "step");
    }
}
