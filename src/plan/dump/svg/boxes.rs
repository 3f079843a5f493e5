//! The operators.

use crate::plan::dump::picture::{Area, shorten, width};
use crate::plan::dump::text::Text;
use crate::plan::dump::{by_stream, dtype_name, is_sync, list};
use crate::plan::recipe::{Access, Node, NodeKind, Recipe};

use super::{Drawing, LANE, MOST};

const HEIGHT: f64 = 34.0;

impl Drawing<'_> {
    /// How many operators share a box.
    pub(super) fn share(&self) -> usize {
        self.recipe.nodes.len().div_ceil(MOST).max(1)
    }

    pub(super) fn boxes(&mut self) {
        let share = self.share();
        for (tag, mut nodes) in by_stream(self.recipe).into_iter().enumerate() {
            nodes.retain(|node| !is_sync(self.recipe.nodes[*node].kind));
            for group in nodes.chunks(share) {
                self.group(tag, group);
            }
        }
    }

    fn group(&mut self, tag: usize, group: &[usize]) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let (start, end) = (self.schedule.spans[*first].0, self.schedule.spans[*last].1);
        let (gap, y) = (self.gap(), Self::lane(tag) + (LANE - HEIGHT) / 2.0);
        let area = Area {
            x: self.x(start) + gap / 2.0,
            y,
            width: ((end - start) * self.scale - gap).max(0.1),
            height: HEIGHT,
        };
        let line = Text::new(self.recipe, self.names).line(*first);
        let tip = if first == last { line } else { format!("{} operators, the first: {line}", group.len()) };
        let class = class(self.recipe, &self.recipe.nodes[*first]);
        match class {
            "g" => self.picture.hexagon(class, area, &tip),
            "host" => self.rounded(class, area, &tip),
            _ => self.picture.rect(class, area, &tip),
        }
        if first == last {
            self.labels(*first, area);
        }
    }

    fn labels(&mut self, index: usize, area: Area) {
        let (name, room) = (&self.names.nodes[index], area.width - 6.0);
        let name = name.strip_prefix("aclnn").unwrap_or(name);
        let detail = self.detail(index, room);
        let middle = area.x + area.width / 2.0;
        let short = name.split('.').next().unwrap_or(name);
        let candidates = [name, short, detail.as_str()];
        let Some(fits) = candidates.iter().position(|label| width(label, 11.0) <= room) else { return };
        let detailed = fits < 2 && !detail.is_empty() && width(&detail, 9.0) <= room;
        let base = area.y + area.height / 2.0 + if detailed { -1.0 } else { 4.0 };
        self.picture.text("l", middle, base, candidates[fits]);
        if detailed {
            self.picture.text("d", middle, base + 12.0, &detail);
        }
    }

    /// What tells one operator from others of its kind.
    fn detail(&self, index: usize, room: f64) -> String {
        // Names are understood without their ends, shapes are not.
        let cut = |name: &str| shorten(name, (room / width("m", 9.0)).max(0.0) as usize);
        let node = &self.recipe.nodes[index];
        match node.kind {
            NodeKind::Foreign(function) | NodeKind::Host(function) if self.recipe.operator(node).is_none() => {
                let name = self.recipe.functions[function as usize].name();
                name.map_or_else(String::new, |name| cut(&name.escape_debug().to_string()))
            }
            NodeKind::ExternalWait(gate) | NodeKind::ExternalRecord(gate) => {
                cut(&self.names.externals[gate as usize])
            }
            _ => told_apart_by(self.recipe.accesses_of(node)).map_or_else(String::new, |access| {
                let layout = self.recipe.layout_of(access.value);
                let dims = list(layout.dims.iter().map(|dim| dim.show(&[])));
                format!("{}{dims}", dtype_name(layout.dtype))
            }),
        }
    }
}

/// The access that tells most: the last that is written, where something is.
fn told_apart_by(accesses: &[Access]) -> Option<&Access> {
    accesses.iter().rfind(|access| access.mode.writes()).or(accesses.last())
}

fn class(recipe: &Recipe, node: &Node) -> &'static str {
    if let Some(name) = recipe.operator(node) {
        return match name {
            "aclnnInplaceCopy" | "aclnnInplaceFillScalar" => "c",
            _ if is_product(name) => "m",
            _ => "o",
        };
    }
    match node.kind {
        NodeKind::Copy | NodeKind::FillBytes(_) | NodeKind::Upload(_) | NodeKind::Download(_) => "c",
        NodeKind::Foreign(_) => "f",
        NodeKind::Host(_) => "host",
        NodeKind::Prefetch(_) => "p",
        NodeKind::ExternalWait(_) | NodeKind::ExternalRecord(_) => "g",
        NodeKind::Begin(_) | NodeKind::Case | NodeKind::End => "g",
        // Records and waits are no boxes, and of calls and choices there is the work that they are.
        NodeKind::Record(_) | NodeKind::Wait(_) | NodeKind::Call(_) | NodeKind::Choose(_) => "o",
    }
}

/// Whether an operator multiplies matrices.
fn is_product(name: &str) -> bool {
    name.ends_with("mm") || name.ends_with("Mm") || name.contains("Matmul") || name.contains("MatMul")
}
