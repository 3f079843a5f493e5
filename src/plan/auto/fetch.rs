//! Which weights are prefetched, and from where on.

use std::collections::HashMap;

use crate::plan::recipe::{Input, Mode, NodeKind, Recipe, StorageKind};
use crate::plan::spread::is_outside;

use super::cost::{Cost, bytes};
use super::operators;
use super::report::Reason;
use super::schedule::{Clock, Schedule};
use super::target::Target;

/// Bytes below which a prefetch is not worth the work that it is.
pub(super) const LEAST_BYTES: u64 = 64 << 10;

/// Work on the stream of the reader in front of it that a prefetch may run beside.
const MOST_BESIDE: usize = 64;

/// A prefetch.
#[derive(Debug, Clone)]
pub(super) struct Fetch {
    /// The work that reads it.
    pub(super) reader: u32,
    /// The work behind which it starts; none for the start of the plan.
    pub(super) after: Option<u32>,
    pub(super) value: u32,
    pub(super) bytes: u64,
    /// Bytes of the weight.
    pub(super) whole: u64,
    /// Bytes that idle bandwidth could move in that time.
    pub(super) idle: u64,
    /// Bytes that are in L2 for others when the reader starts.
    pub(super) held: u64,
    /// Nanoseconds that the reader takes without and with it.
    pub(super) times: (u64, u64),
}

/// A weight that is not prefetched.
#[derive(Debug, Clone)]
pub(super) struct Left {
    pub(super) reader: u32,
    pub(super) value: u32,
    /// Bytes of the weight.
    pub(super) whole: u64,
    pub(super) reason: Reason,
}

/// What is prefetched, why the rest is not, and when everything is done.
pub(super) struct Fetches {
    pub(super) all: Vec<Fetch>,
    pub(super) left: Vec<Left>,
    pub(super) total: u64,
}

/// Goes through the schedule of a recipe without symbols. `budget` is how many bytes of L2 may be in use, `bound` are
/// inputs that are given anew for each run whatever their class.
pub(super) fn fetches(
    (recipe, costs): (&Recipe, &[Cost]),
    schedule: &Schedule,
    fences: &[u32],
    (target, budget): (&Target, u64),
    bound: &[u32],
) -> Fetches {
    let mut walk = Walk {
        recipe,
        costs,
        schedule,
        clock: Clock::new(target),
        budget,
        most: cap(recipe, target),
        chains: vec![Vec::new(); schedule.streams.iter().map(|stream| usize::from(*stream) + 1).max().unwrap_or(1)],
        held: vec![0; recipe.nodes.len()],
        touched: vec![0; recipe.nodes.len() + 1],
        used: HashMap::new(),
        written: written(recipe),
        bound,
        fences,
        free: 0,
        found: Fetches { all: Vec::new(), left: Vec::new(), total: 0 },
    };
    (0..recipe.nodes.len() as u32).for_each(|node| walk.node(node));
    walk.found.total = walk.clock.total();
    walk.found
}

/// Most bytes of one prefetch, as the options of the plan say.
fn cap(recipe: &Recipe, target: &Target) -> u64 {
    match recipe.prefetch_cap {
        0 => u64::MAX,
        share => target.l2_bytes / 1000 * u64::from(share),
    }
}

fn written(recipe: &Recipe) -> Vec<bool> {
    let is_run = |kind: StorageKind| kind != StorageKind::Once;
    recipe
        .written()
        .into_iter()
        .zip(&recipe.storages)
        .map(|(written, storage)| written && is_run(storage.kind))
        .collect()
}

/// Bytes of a storage, from the first to the end.
type Range = (u32, u64, u64);

struct Walk<'a> {
    recipe: &'a Recipe,
    costs: &'a [Cost],
    schedule: &'a Schedule,
    clock: Clock,
    budget: u64,
    most: u64,
    /// The work of each stream so far.
    chains: Vec<Vec<u32>>,
    /// Bytes that wait in L2 for their readers, at each node in the order of issue.
    held: Vec<u64>,
    /// Bytes that all work before each node touches.
    touched: Vec<u64>,
    /// The last work that read some bytes.
    used: HashMap<Range, u32>,
    written: Vec<bool>,
    /// Inputs that are given anew for each run.
    bound: &'a [u32],
    /// Nodes that come after all before them, prefetches too.
    fences: &'a [u32],
    /// When the prefetches so far are done.
    free: u64,
    found: Fetches,
}

impl Walk<'_> {
    fn node(&mut self, node: u32) {
        let (at, cost) = (node as usize, self.costs[node as usize]);
        let stream = self.schedule.streams[at];
        let fetched = self.weights(node);
        self.clock.put(stream, &self.schedule.needs[at], &cost, fetched);
        self.touched[at + 1] = self.touched[at].saturating_add(cost.bytes);
        if !self.recipe.nodes[at].kind.is_sync() {
            self.chains[usize::from(stream)].push(node);
        }
    }

    /// Prefetches what the node reads, where that is worth while; how many bytes.
    fn weights(&mut self, node: u32) -> u64 {
        let (recipe, work) = (self.recipe, &self.recipe.nodes[node as usize]);
        if recipe.is_once(work) {
            return 0;
        }
        let (in_part, mut fetched) = (operators::in_part(recipe, work), 0);
        for (place, access) in recipe.accesses_of(work).iter().enumerate().filter(|(_, one)| one.mode == Mode::Read) {
            let Some(weight) = self.weight(node, access.value, in_part.contains(&place)) else { continue };
            match weight.and_then(|range| self.fetch(node, access.value, range, fetched)) {
                Ok(bytes) => fetched += bytes,
                Err(reason) => {
                    let whole = bytes(recipe.layout_of(access.value));
                    self.found.left.push(Left { reader: node, value: access.value, whole, reason });
                }
            }
        }
        fetched
    }

    /// The bytes of a weight that the node reads and that are worth a look, or why they are not. None for what is no
    /// weight.
    fn weight(&mut self, node: u32, value: u32, is_in_part: bool) -> Option<Result<Range, Reason>> {
        let (recipe, storage) = (self.recipe, self.recipe.storage_of(value));
        match recipe.storages[storage as usize].kind {
            StorageKind::Constant(_) | StorageKind::Once => {}
            StorageKind::Input(input) => match recipe.inputs[input as usize].class {
                Input::Frozen | Input::Static if self.bound.contains(&input) => return Some(Err(Reason::Bound)),
                Input::Frozen | Input::Static => {}
                Input::Tracked(_) | Input::Updatable => return Some(Err(Reason::Bound)),
                Input::Copied | Input::Host => return None,
            },
            StorageKind::Temporary | StorageKind::Output(_) => return None,
        }
        let cost = self.costs[node as usize];
        let layout = recipe.layout_of(value);
        let start = recipe.values[value as usize].offset.as_fixed().unwrap_or(0);
        let (whole, span) = (layout.bytes(), layout.span());
        let range = (storage, start, start.saturating_add(bytes(layout)));
        let is_operator = operators::operator(recipe, &recipe.nodes[node as usize]).is_some();
        // What is read in part is not in the cache as a whole.
        let is_whole = is_operator && !is_in_part;
        let before = if is_whole { self.used.insert(range, node) } else { None };
        Some(match () {
            () if self.written[storage as usize] => Err(Reason::Written),
            () if !is_operator => Err(Reason::NoOperator),
            () if is_in_part => Err(Reason::InPart),
            () if whole != span => Err(Reason::Gaps),
            () if bytes(layout) < LEAST_BYTES => Err(Reason::Small),
            () if before.is_some_and(|before| self.is_kept(before, node)) => Err(Reason::InCache),
            () if cost.compute >= cost.moving(0, &self.clock.rates) => Err(Reason::ComputeBound),
            () => Ok(range),
        })
    }

    /// Whether what was read is in L2 still, since little was touched after it.
    fn is_kept(&self, before: u32, node: u32) -> bool {
        self.touched[node as usize] - self.touched[before as usize] <= self.budget
    }

    fn fetch(&mut self, reader: u32, value: u32, range: Range, fetched: u64) -> Result<u64, Reason> {
        let cost = self.costs[reader as usize];
        let whole = range.2 - range.1;
        let window = self.window(reader, whole)?;
        let wanted = window.bytes;
        let time = |fetched| cost.with(fetched, &self.clock.rates).0;
        let times = (time(fetched), time(fetched + wanted));
        if times.0 - times.1 < self.clock.rates.event {
            return Err(Reason::HardlySooner);
        }
        let held = self.held[reader as usize];
        let rate = self.clock.rates.memory;
        self.free = self.clock.profile.fill(window.from, window.to, wanted, rate);
        let first = window.after.map_or(0, |after| after + 1);
        self.held[first as usize..=reader as usize].iter_mut().for_each(|held| *held += wanted);
        let Window { after, bytes, idle, .. } = window;
        self.found.all.push(Fetch { reader, after, value, bytes, whole, idle, held, times });
        Ok(bytes)
    }

    fn is_fence(&self, node: usize) -> bool {
        is_outside(self.recipe, self.recipe.nodes[node].kind) || self.fences.binary_search(&(node as u32)).is_ok()
    }

    /// The latest time from which on most of `whole` bytes can be fetched before the reader starts.
    fn window(&self, reader: u32, whole: u64) -> Result<Window, Reason> {
        let (at, rates) = (reader as usize, &self.clock.rates);
        let stream = self.schedule.streams[at];
        let chain = &self.chains[usize::from(stream)];
        let to = self.clock.start(stream, &self.schedule.needs[at], &self.costs[at]);
        let last = self.found.all.last().map(|fetch| fetch.after);
        let most = whole.min(self.most);
        let (mut room, mut seen) = (self.budget.saturating_sub(self.held[at]), at);
        let mut best = Window { after: None, from: to, to, bytes: 0, idle: 0 };
        if chain.is_empty() {
            return Err(Reason::FirstWork);
        }
        let mut is_behind_all = false;
        let starts = chain.iter().rev().skip(1).map(|after| Some(*after));
        for after in starts.chain([None]).take(MOST_BESIDE) {
            // What is issued behind `after` has to have room in L2, too.
            let first = after.map_or(0, |after| after as usize + 1);
            if (first..seen).any(|node| self.is_fence(node)) {
                is_behind_all = best.bytes == 0;
                break;
            }
            for node in first..seen {
                room = room.min(self.budget.saturating_sub(self.held[node].saturating_add(self.costs[node].bytes)));
            }
            seen = first;
            // Prefetches start in their order.
            let is_early = last.is_some_and(|last| after < last);
            if is_early || room <= best.bytes {
                break;
            }
            let end = after.map_or(0, |after| self.clock.ends[after as usize]);
            let from = end.saturating_add(rates.event).max(self.free);
            let idle = self.clock.profile.idle(from, to, rates.memory);
            let bytes = most.min(room).min(idle);
            if bytes > best.bytes {
                best = Window { after, from, to, bytes, idle };
            }
            if bytes == most || from == self.free {
                break;
            }
        }
        let enough = LEAST_BYTES.min(whole);
        match best.bytes >= enough {
            true => Ok(best),
            false if is_behind_all => Err(Reason::BehindAll),
            false if room < enough => Err(Reason::NoRoom),
            false => Err(Reason::NoIdle),
        }
    }
}

/// When a prefetch may run, and what it could fetch then.
struct Window {
    after: Option<u32>,
    from: u64,
    to: u64,
    bytes: u64,
    idle: u64,
}

/// Whether a recipe has prefetches that somebody wrote.
pub(super) fn has_some(recipe: &Recipe) -> bool {
    recipe.nodes.iter().any(|node| matches!(node.kind, NodeKind::Prefetch(_)))
}
