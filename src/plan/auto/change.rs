//! From choices to a checked plan and its report.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::plan::builder::Built;
use crate::plan::checked::change::Work;
use crate::plan::recipe::{Access, Cores, Mode, Node, NodeKind, Ordered, PrefetchInfo, Recipe, StorageKind};
use crate::plan::spread::{Choose, Placed, Wishes, is_on_one_stream, spread, works_with_others};
use crate::sort;

use super::cost::{Cost, costs};
use super::fetch::{self, Fetch, Fetches, Left};
use super::report::{Moved, Prefetched, Reason, Report, Unfetched};
use super::schedule::{Schedule, schedule};
use super::{Auto, Overlapped, bodies};

/// The stream of prefetches.
const PREFETCH_TAG: &str = "prefetch";

/// Work of other streams that is looked at in front of and behind work that was moved.
const MOST_NEAR: usize = 32;

pub(super) fn overlap(plan: &Plan, auto: &Auto) -> Result<Overlapped> {
    auto.check()?;
    let recipe = &plan.0.inlined().recipe;
    let symbols = auto.symbols(recipe)?;
    let fixed = recipe.specialised(&symbols).map_err(|text| no_size(plan, &symbols, text))?;
    let costs = costs(&fixed, &auto.target);
    let wishes = wishes(recipe);
    let one = schedule(recipe, &wishes, &costs, &auto.target, 1);
    let own = match () {
        () if fetch::has_some(recipe) => Some(Reason::OwnPrefetches),
        () if !is_on_one_stream(recipe) => Some(Reason::OwnStreams),
        () => None,
    };
    if auto.keeps_calls && bodies::has_some(&plan.0.recorded.recipe) {
        let report = as_it_was(plan, auto, (&symbols, one.total))?;
        return bodies::overlap(plan, auto, &symbols, report);
    }
    if let Some(own) = own {
        let report = Report { left: vec![(own, 1)], ..as_it_was(plan, auto, (&symbols, one.total))? };
        return Ok(Overlapped { plan: plan.clone(), report });
    }
    let chosen = Chosen::of(auto, (recipe, &fixed), &costs, &wishes, one);
    chosen.apply(plan, auto, &wishes, &symbols)
}

fn no_size(plan: &Plan, symbols: &[u64], text: String) -> Error {
    let names = plan.0.recipe.symbol_names();
    let values: Vec<_> = names.iter().zip(symbols).map(|(name, value)| format!("{name:?} is {value}")).collect();
    Error::invalid(format!("{text}, where {}; Auto::at gives other values", values.join(", ")))
}

/// What accesses do not show: work that was asked to come after some other comes after all.
pub(super) fn wishes(recipe: &Recipe) -> Wishes {
    let is_fence = |node: &Node| node.ordered != Ordered::Nothing || works_with_others(recipe, node.kind);
    let nodes = (0..).zip(&recipe.nodes);
    Wishes { after: Vec::new(), fences: nodes.filter(|(_, node)| is_fence(node)).map(|(index, _)| index).collect() }
}

/// Arena of a plan for values of its symbols.
pub(super) fn arena(plan: &Plan, symbols: &[u64]) -> Result<u64> {
    let values: Vec<usize> = symbols.iter().map(|value| *value as usize).collect();
    match plan.memory(&values) {
        Ok(memory) => Ok(memory.peak),
        Err(error) => Err(no_size(plan, symbols, error.detail().to_owned())),
    }
}

/// The report of a plan that stays as it is.
fn as_it_was(plan: &Plan, auto: &Auto, (symbols, total): (&[u64], u64)) -> Result<Report> {
    let arena = arena(plan, symbols)?;
    let time = Duration::from_nanos(total);
    let (moved, prefetched, unfetched, left) = Default::default();
    let l2_budget = auto.budget();
    Ok(Report { moved, prefetched, unfetched, left, before: time, after: time, arena: (arena, arena), l2_budget })
}

/// What is done where, by the nodes of the plan as it was.
struct Chosen<'a> {
    costs: &'a [Cost],
    /// On one stream.
    one: Schedule,
    /// On several; none where one is as good.
    several: Option<Schedule>,
    fetches: Vec<Fetch>,
    unfetched: Vec<Left>,
    left: BTreeMap<Reason, usize>,
    total: u64,
}

impl<'a> Chosen<'a> {
    fn of(
        auto: &Auto,
        (recipe, fixed): (&Recipe, &Recipe),
        costs: &'a [Cost],
        wishes: &Wishes,
        one: Schedule,
    ) -> Self {
        let (total, several) = (one.total, None);
        let (fetches, unfetched, left) = Default::default();
        let mut chosen = Self { costs, total, one, several, fetches, unfetched, left };
        if auto.streams && auto.max_streams > 1 {
            let several = schedule(recipe, wishes, costs, &auto.target, auto.max_streams);
            let is_spread = several.streams.iter().any(|stream| *stream > 0);
            chosen.spread(several, is_spread);
        }
        if auto.prefetch {
            let (recipe, cache) = ((fixed, costs), (&auto.target, auto.budget()));
            let found = fetch::fetches(recipe, chosen.schedule(), &wishes.fences, cache, &auto.bound);
            chosen.fetch(found);
        }
        chosen
    }

    fn spread(&mut self, several: Schedule, is_spread: bool) {
        if is_spread && several.total >= self.total {
            let moved = several.streams.iter().filter(|stream| **stream > 0).count();
            self.left.insert(Reason::NoGain, moved);
        }
        for reason in several.reasons.iter().flatten() {
            *self.left.entry(*reason).or_default() += 1;
        }
        if is_spread && several.total < self.total {
            self.total = several.total;
            self.several = Some(several);
        }
    }

    fn fetch(&mut self, found: Fetches) {
        self.unfetched = found.left;
        if found.total < self.total {
            self.total = found.total;
            self.fetches = found.all;
        } else {
            let reason = Reason::HardlySooner;
            let useless = |Fetch { reader, value, whole, .. }| Left { reader, value, whole, reason };
            self.unfetched.extend(found.all.into_iter().map(useless));
            sort::by_key(&mut self.unfetched, |left| left.reader);
        }
        for left in &self.unfetched {
            *self.left.entry(left.reason).or_default() += 1;
        }
    }

    fn schedule(&self) -> &Schedule {
        self.several.as_ref().unwrap_or(&self.one)
    }

    fn apply(self, plan: &Plan, auto: &Auto, wishes: &Wishes, symbols: &[u64]) -> Result<Overlapped> {
        let old = plan.0.inlined();
        let before = arena(plan, symbols)?;
        let (new, positions) = if self.several.is_none() && self.fetches.is_empty() {
            (plan.clone(), (0..old.recipe.nodes.len() as u32).collect())
        } else {
            let (recipe, positions) = self.recipe(&old.recipe, wishes);
            let written = plan.0.inlined_positions();
            let now = |node: u32| positions.get(written(node)? as usize).copied();
            let recorded = &plan.0.recorded.recipe;
            let lints = plan.0.lints.iter().filter_map(|lint| lint.moved((recorded, &recipe), now)).collect();
            let built = Built { plan: plan.0.id, recipe, bodies: old.bodies.clone(), lints };
            (Plan::of_changed(built, plan.0.changes.clone())?, positions)
        };
        let mut left: Vec<_> = self.left.iter().map(|(reason, count)| (*reason, *count)).collect();
        sort::by_key(&mut left, |(reason, count)| (std::cmp::Reverse(*count), *reason));
        let report = Report {
            moved: self.moved(&new.0.inlined().recipe, &positions),
            prefetched: self.prefetched(&new.0.inlined().recipe, &positions),
            unfetched: self.unfetched(&new.0.inlined().recipe, &positions),
            left,
            before: Duration::from_nanos(self.one.total),
            after: Duration::from_nanos(self.total),
            arena: (before, arena(&new, symbols)?),
            l2_budget: auto.budget(),
        };
        Ok(Overlapped { plan: new, report })
    }

    /// The recipe on its streams, with where each node is now.
    fn recipe(&self, old: &Recipe, wishes: &Wishes) -> (Recipe, Vec<u32>) {
        let (recipe, inserted, origins) = self.with_prefetches(old);
        let now = |node: u32| inserted[node as usize];
        let mut new_wishes =
            Wishes { after: Vec::new(), fences: wishes.fences.iter().map(|node| now(*node)).collect() };
        let mut given = Given::default();
        for (index, origin) in origins.iter().enumerate() {
            given.add(match origin {
                Origin::Node(node) => Some(self.schedule().streams[*node as usize]),
                Origin::Fetch(fetch) => {
                    let after = self.fetches[*fetch].after;
                    new_wishes.after.extend(after.map(|after| (index as u32, now(after))));
                    None
                }
            });
        }
        let names = given.names.clone();
        let most = names.len();
        let spread = spread(&recipe, &new_wishes, most, &mut given);
        let (recipe, positions) = spread.place(|stream| match names[usize::from(stream)] {
            None => PREFETCH_TAG.to_owned(),
            Some(number) => format!("auto {number}"),
        });
        let positions = inserted.iter().map(|node| positions[*node as usize]).collect();
        (recipe, positions)
    }

    /// The recipe with prefetches behind the work that they come after, all on one stream; where each node is, and
    /// what each is now.
    fn with_prefetches(&self, old: &Recipe) -> (Recipe, Vec<u32>, Vec<Origin>) {
        let mut new = old.clone();
        let (mut inserted, mut origins) = (Vec::with_capacity(old.nodes.len()), Vec::new());
        new.nodes.clear();
        let mut next = 0;
        let mut fetch_after = |after: Option<u32>, new: &mut Recipe, origins: &mut Vec<Origin>| {
            while let Some(fetch) = self.fetches.get(next).filter(|fetch| fetch.after == after) {
                let first = new.accesses.len() as u32;
                new.accesses.push(Access { value: fetch.value, mode: Mode::Touch });
                let kind = NodeKind::Prefetch(new.prefetches.len() as u32);
                new.prefetches.push(PrefetchInfo { offset: 0, max_bytes: fetch.bytes });
                let place = old.nodes[fetch.reader as usize].place;
                new.nodes.push(Node { first, count: 1, ..Node::bare(kind, 0, place) });
                origins.push(Origin::Fetch(next));
                next += 1;
            }
        };
        fetch_after(None, &mut new, &mut origins);
        for (index, node) in (0..).zip(&old.nodes) {
            inserted.push(new.nodes.len() as u32);
            origins.push(Origin::Node(index));
            new.nodes.push(*node);
            fetch_after(Some(index), &mut new, &mut origins);
        }
        (new, inserted, origins)
    }

    fn moved(&self, new: &Recipe, positions: &[u32]) -> Vec<Moved> {
        let Some(several) = &self.several else { return Vec::new() };
        let moved = (0..several.streams.len()).filter(|node| several.streams[*node] > 0);
        let one = |node: usize| {
            let beside = self.beside(several, node);
            let work = |node: usize| Work::of(new, positions[node]);
            Moved {
                work: work(node),
                cores: self.cores(node),
                time: Duration::from_nanos(several.ends[node] - several.starts[node]),
                beside: beside.map(|other| (work(other), self.cores(other))),
                sooner: Duration::from_nanos(self.one.ends[node].saturating_sub(several.ends[node])),
            }
        };
        moved.map(one).collect()
    }

    fn cores(&self, node: usize) -> Cores {
        Cores { cube: self.costs[node].cube, vector: self.costs[node].vector }
    }

    /// The work of another stream that runs beside a node for longest, among what is issued near it.
    fn beside(&self, schedule: &Schedule, node: usize) -> Option<usize> {
        let Schedule { streams, starts, ends, .. } = schedule;
        let shared = |other: &usize| ends[node].min(ends[*other]).saturating_sub(starts[node].max(starts[*other]));
        let near = node.saturating_sub(MOST_NEAR)..(node + MOST_NEAR).min(streams.len());
        let others = near.filter(|other| streams[*other] != streams[node] && shared(other) > 0);
        others.max_by_key(|other| (shared(other), std::cmp::Reverse(*other)))
    }

    fn prefetched(&self, new: &Recipe, positions: &[u32]) -> Vec<Prefetched> {
        let work = |node: u32| Work::of(new, positions[node as usize]);
        let one = |fetch: &Fetch| Prefetched {
            reader: work(fetch.reader),
            weight: name(new, fetch.value),
            bytes: fetch.bytes,
            whole: fetch.whole,
            behind: fetch.after.map(work),
            idle: fetch.idle,
            held: fetch.held,
            times: (Duration::from_nanos(fetch.times.0), Duration::from_nanos(fetch.times.1)),
        };
        self.fetches.iter().map(one).collect()
    }

    fn unfetched(&self, new: &Recipe, positions: &[u32]) -> Vec<Unfetched> {
        let one = |left: &Left| Unfetched {
            reader: Work::of(new, positions[left.reader as usize]),
            weight: name(new, left.value),
            whole: left.whole,
            reason: left.reason,
        };
        self.unfetched.iter().map(one).collect()
    }
}

/// The name of the input that a weight is.
fn name(recipe: &Recipe, weight: u32) -> Option<String> {
    match recipe.storages[recipe.storage_of(weight) as usize].kind {
        StorageKind::Input(input) => Some(recipe.inputs[input as usize].name.clone()),
        _ => None,
    }
}

/// What a node was.
enum Origin {
    Node(u32),
    Fetch(usize),
}

/// Streams that are known, by the order in which they are first used: the number of each in the schedule, or none for
/// that of prefetches.
struct Given {
    streams: Vec<u16>,
    names: Vec<Option<u16>>,
}

impl Default for Given {
    fn default() -> Self {
        Self { streams: Vec::new(), names: vec![Some(0)] }
    }
}

impl Given {
    fn add(&mut self, name: Option<u16>) {
        let known = self.names.iter().position(|known| *known == name);
        let stream = known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        self.streams.push(stream as u16);
    }
}

impl Choose for Given {
    fn stream(&mut self, node: u32, _: &[u32], _: &Placed) -> u16 {
        self.streams[node as usize]
    }

    fn put(&mut self, _: u32, _: u16, _: &[u32]) {}
}
