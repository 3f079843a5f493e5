//! What the checks find, found again in the plainest way.

use crate::plan::memory::MemoryPlan;
use crate::plan::recipe::{NodeKind, Recipe, StorageKind};

/// Which nodes are done before which, by the transitive closure of stream order and events.
pub(super) struct Reach {
    /// For each node, the nodes that follow, as bits.
    after: Vec<Vec<u64>>,
}

impl Reach {
    pub(super) fn of(recipe: &Recipe) -> Self {
        let n = recipe.nodes.len();
        let mut after = vec![vec![0_u64; n.div_ceil(64)]; n];
        for (i, earlier) in recipe.nodes.iter().enumerate() {
            for (j, later) in recipe.nodes.iter().enumerate() {
                let stream = i < j && earlier.tag == later.tag;
                let event = matches!((earlier.kind, later.kind), (NodeKind::Record(a), NodeKind::Wait(b)) if a == b);
                if stream || event {
                    after[i][j / 64] |= 1 << (j % 64);
                }
            }
        }
        for k in 0..n {
            let row = after[k].clone();
            for one in after.iter_mut().filter(|one| one[k / 64] >> (k % 64) & 1 == 1) {
                one.iter_mut().zip(&row).for_each(|(to, from)| *to |= from);
            }
        }
        Self { after }
    }

    pub(super) fn before(&self, a: u32, b: u32) -> bool {
        self.after[a as usize][b as usize / 64] >> (b % 64) & 1 == 1
    }
}

/// An access: node, storage, its bytes as bits, and whether it reads and writes.
pub(super) struct Touched {
    pub(super) node: u32,
    pub(super) storage: u32,
    pub(super) bytes: u128,
    pub(super) writes: bool,
}

pub(super) fn touched(recipe: &Recipe) -> Vec<Touched> {
    let mut all = Vec::new();
    for (index, node) in recipe.nodes.iter().enumerate() {
        if matches!(node.kind, NodeKind::Prefetch(_)) {
            continue;
        }
        for access in recipe.accesses_of(node) {
            let storage = recipe.values[access.value as usize].storage;
            let bytes = bytes_of(recipe, access.value);
            all.push(Touched { node: index as u32, storage, bytes, writes: access.mode.writes() });
        }
    }
    all
}

/// The bytes of a value, as bits: element by element.
pub(crate) fn bytes_of(recipe: &Recipe, value: u32) -> u128 {
    let info = &recipe.values[value as usize];
    let layout = &recipe.layouts[info.layout as usize];
    let dims: Vec<usize> = layout.dims.iter().map(|dim| dim.as_fixed().unwrap()).collect();
    let mut bits = 0;
    for element in 0..dims.iter().product() {
        let (mut rest, mut at) = (element, 0);
        for (dim, stride) in dims.iter().zip(&layout.strides).rev() {
            at += rest % dim * stride.as_fixed().unwrap() as usize;
            rest /= dim;
        }
        let first = info.offset.as_fixed().unwrap() as usize + at * layout.dtype.size();
        (first..first + layout.dtype.size()).for_each(|byte| bits |= 1_u128 << byte);
    }
    bits
}

/// For each storage, every pair of nodes that touch a byte in no order, one of them to write; sorted.
pub(super) fn unordered(touched: &[Touched], reach: &Reach) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    for (i, b) in touched.iter().enumerate() {
        for a in &touched[..i] {
            let conflict = a.storage == b.storage && a.bytes & b.bytes != 0 && (a.writes || b.writes);
            if conflict && a.node != b.node && !reach.before(a.node, b.node) && !reach.before(b.node, a.node) {
                pairs.push((a.storage, [a.node, b.node]));
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let mut pairs: Vec<_> = pairs.into_iter().map(|(_, pair)| pair).collect();
    pairs.sort_unstable();
    pairs
}

/// Two temporaries that share bytes though their uses are not one after the other.
pub(super) fn sharing(recipe: &Recipe, plan: &MemoryPlan, touched: &[Touched], reach: &Reach) -> Option<(u32, u32)> {
    let mut uses = vec![Vec::new(); recipe.storages.len()];
    touched.iter().for_each(|one| uses[one.storage as usize].push(one.node));
    let used: Vec<bool> = uses.iter().map(|uses| !uses.is_empty()).collect();
    recipe.reserved.iter().for_each(|(storage, node)| uses[*storage as usize].push(*node));
    let temporaries: Vec<u32> = (0..recipe.storages.len() as u32)
        .filter(|storage| {
            recipe.storages[*storage as usize].kind == StorageKind::Temporary && used[*storage as usize]
        })
        .collect();
    let place = |storage: u32| {
        let start = plan.offsets[storage as usize];
        (start, start + recipe.storages[storage as usize].bytes.as_fixed().unwrap())
    };
    let all_before = |a: u32, b: u32| {
        uses[a as usize].iter().all(|first| uses[b as usize].iter().all(|second| reach.before(*first, *second)))
    };
    for (i, b) in temporaries.iter().enumerate() {
        assert!(place(*b).1 <= plan.peak, "storage {b} ends outside the arena");
        for a in &temporaries[..i] {
            let ((start_a, end_a), (start_b, end_b)) = (place(*a), place(*b));
            if start_a < end_b && start_b < end_a && !all_before(*a, *b) && !all_before(*b, *a) {
                return Some((*a, *b));
            }
        }
    }
    None
}
