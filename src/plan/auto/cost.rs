//! What each piece of work takes, by its footprint: the roofline of the module's documentation.

use crate::plan::recipe::layout::Layout;
use crate::plan::recipe::{Access, FunctionKind, Mode, Node, NodeKind, Recipe};

use super::operators::{self, Demand};
use super::products;
use super::profile::{MOST_BANDWIDTH, Use, duration};
use super::target::{Rates, Target};

/// Bytes for which a vector core is worth while.
const BYTES_OF_CORE: u64 = 32 << 10;

/// Nanoseconds that a piece of work takes at most, so that all of a plan have a sum.
const LONGEST: u64 = 1 << 40;

/// What a piece of work takes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cost {
    pub(super) cube: u32,
    pub(super) vector: u32,
    /// Bytes that it reads and writes.
    pub(super) bytes: u64,
    /// Nanoseconds that it takes at least: to start, or to cross to the host and back.
    least: u64,
    /// Nanoseconds of its products.
    pub(super) compute: u64,
}

impl Cost {
    /// Nanoseconds that its bytes take from memory, where the first `fetched` are in L2 already.
    pub(super) fn moving(&self, fetched: u64, rates: &Rates) -> u64 {
        let memory = duration(self.bytes.saturating_sub(fetched), MOST_BANDWIDTH, rates.memory);
        let time = match u64::from(self.cube.max(self.vector)) {
            0 => memory,
            cores => memory.max(duration(self.bytes, 1000, rates.core.saturating_mul(cores))),
        };
        time.min(LONGEST)
    }

    /// How long it takes, and what of the device it has meanwhile.
    pub(super) fn with(&self, fetched: u64, rates: &Rates) -> (u64, Use) {
        let time = self.least.max(self.compute).max(self.moving(fetched, rates)).min(LONGEST);
        let memory = duration(self.bytes.saturating_sub(fetched), 1000, rates.memory);
        let share = if time == 0 { 0 } else { (u128::from(memory) * 1000 / u128::from(time)) as u32 };
        (time, [self.cube, self.vector, share.min(MOST_BANDWIDTH)])
    }
}

/// The costs of all nodes of a recipe without symbols.
pub(super) fn costs(recipe: &Recipe, target: &Target) -> Vec<Cost> {
    recipe.nodes.iter().map(|node| Costed { recipe, target, node }.cost()).collect()
}

/// Bytes of a value that work touches; what a broadcast repeats counts once.
pub(super) fn bytes(layout: &Layout) -> u64 {
    let fixed = |extent: Option<crate::plan::recipe::layout::Extent>| extent.and_then(|extent| extent.as_fixed());
    fixed(layout.bytes()).unwrap_or(0).min(fixed(layout.span()).unwrap_or(u64::MAX))
}

struct Costed<'a> {
    recipe: &'a Recipe,
    target: &'a Target,
    node: &'a Node,
}

impl Costed<'_> {
    fn cost(&self) -> Cost {
        if self.recipe.is_once(self.node) {
            return Cost::default();
        }
        let bytes = self.sizes().into_iter().fold(0, u64::saturating_add);
        let some = Cost { bytes, least: self.target.rates.start, ..Cost::default() };
        let limited = |cost: Cost| self.limited(cost);
        match self.node.kind {
            NodeKind::Foreign(function) => {
                let info = &self.recipe.functions[function as usize];
                match (info.kind(), info.name()) {
                    (FunctionKind::Operator, Some(name)) => limited(self.operator(name, some)),
                    _ => limited(self.foreign(some, function)),
                }
            }
            NodeKind::Upload(_) | NodeKind::Download(_) => {
                let least = some.least.saturating_add(duration(bytes, 1000, self.target.rates.host));
                Cost { bytes: 0, least, ..some }
            }
            NodeKind::Copy | NodeKind::FillBytes(_) => some,
            NodeKind::Host(_) => Cost { bytes: 0, ..some },
            // What its arms take is not known: all that the device has.
            NodeKind::Choose(_) => Cost { cube: self.target.cores.cube, vector: self.target.cores.vector, ..some },
            _ => Cost::default(),
        }
    }

    /// What runs as somebody else wrote it: as many cores as it says, or else all.
    fn foreign(&self, some: Cost, function: u32) -> Cost {
        let (needs, all) = (self.recipe.functions[function as usize].needs(), self.target.cores);
        match (needs.cube, needs.vector) {
            (0, 0) => Cost { cube: all.cube, vector: all.vector, ..some },
            (cube, vector) => Cost { cube, vector, ..some },
        }
    }

    fn operator(&self, name: &str, some: Cost) -> Cost {
        let all = self.target.cores;
        let vector = u32::try_from(some.bytes.div_ceil(BYTES_OF_CORE)).unwrap_or(u32::MAX).clamp(1, all.vector);
        match operators::demand(name) {
            Demand::Vector => Cost { vector, ..some },
            Demand::Both => Cost { cube: all.cube, vector: all.vector, ..some },
            demand @ (Demand::Product { .. } | Demand::Convolution) => {
                let work = products::product(self.recipe, self.accesses(), demand);
                let cube = work.parts.clamp(1, u64::from(all.cube)) as u32;
                let per_core = work.multiplications.div_ceil(u128::from(cube)) * 2 * u128::from(work.element_bytes);
                let rate = 2 * u128::from(self.target.rates.product);
                let compute = u64::try_from((per_core * 1000).div_ceil(rate)).unwrap_or(u64::MAX / 4);
                Cost { cube, compute, ..some }
            }
        }
    }

    /// Within the core limit of its scope, and what the device has.
    fn limited(&self, cost: Cost) -> Cost {
        let limit = self.node.cores.checked_sub(1).map(|index| self.recipe.cores[usize::from(index)]);
        let limit = limit.unwrap_or_default();
        let all = self.target.cores;
        let within = |cores: u32, limit: u32, all: u32| match limit {
            0 => cores.min(all),
            limit => cores.min(limit).min(all),
        };
        let cube = within(cost.cube, limit.cube, all.cube);
        // Fewer cores take longer for the same products.
        let compute = u128::from(cost.compute) * u128::from(cost.cube.max(1)) / u128::from(cube.max(1));
        let compute = u64::try_from(compute).unwrap_or(u64::MAX / 4);
        Cost { cube, vector: within(cost.vector, limit.vector, all.vector), compute, ..cost }
    }

    fn accesses(&self) -> &[Access] {
        self.recipe.accesses_of(self.node)
    }

    /// Bytes of each access. Of what is used in part they are at most as many as in the largest of the others.
    fn sizes(&self) -> Vec<u64> {
        let in_part = operators::in_part(self.recipe, self.node);
        let size = |access: &Access| match access.mode {
            Mode::Touch => 0,
            _ => bytes(self.recipe.layout_of(access.value)),
        };
        let mut sizes: Vec<u64> = self.accesses().iter().map(size).collect();
        let others = (0..sizes.len()).filter(|at| !in_part.contains(at)).map(|at| sizes[at]).max();
        for at in in_part {
            sizes[at] = sizes[at].min(others.unwrap_or(u64::MAX));
        }
        sizes
    }
}
