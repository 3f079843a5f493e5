//! When work runs in the model, and on which stream it is done first.

use crate::plan::recipe::{NodeKind, ORIGIN, Recipe};
use crate::plan::spread::{Choose, Placed, Wishes, spread, waits_for_cores};

use super::cost::Cost;
use super::profile::{MEMORY, Profile};
use super::report::Reason;
use super::target::{Rates, Target};

/// When each node starts and ends, in nanoseconds, as far as nodes have been placed.
pub(super) struct Clock {
    pub(super) rates: Rates,
    pub(super) profile: Profile,
    pub(super) starts: Vec<u64>,
    pub(super) ends: Vec<u64>,
    streams: Vec<u16>,
    /// When each stream with work has done it.
    free: Vec<u64>,
}

impl Clock {
    pub(super) fn new(target: &Target) -> Self {
        let profile = Profile::new([target.cores.cube, target.cores.vector, 1000]);
        let (starts, ends, streams, free) = Default::default();
        Self { rates: target.rates, profile, starts, ends, streams, free }
    }

    /// When a stream may go on with work that needs this.
    pub(super) fn ready(&self, stream: u16, needs: &[u32]) -> u64 {
        let known = |need: &u32| match self.streams[*need as usize] == stream {
            true => self.ends[*need as usize],
            false => self.ends[*need as usize].saturating_add(self.rates.event),
        };
        let free = match self.free.get(usize::from(stream)) {
            Some(free) => *free,
            None if stream == ORIGIN => 0,
            None => self.rates.event,
        };
        needs.iter().map(known).fold(free, u64::max)
    }

    /// When work would start on a stream.
    pub(super) fn start(&self, stream: u16, needs: &[u32], cost: &Cost) -> u64 {
        let (time, wanted) = cost.with(0, &self.rates);
        self.profile.earliest(self.ready(stream, needs), time, wanted)
    }

    /// Puts the next node on a stream; the first bytes of what it reads are in L2.
    pub(super) fn put(&mut self, stream: u16, needs: &[u32], cost: &Cost, fetched: u64) {
        let (time, wanted) = cost.with(fetched, &self.rates);
        let start = self.profile.earliest(self.ready(stream, needs), time, wanted);
        self.profile.take(start, time, wanted);
        let at = usize::from(stream);
        if self.free.len() <= at {
            self.free.resize(at + 1, self.rates.event);
        }
        self.free[at] = start.saturating_add(time);
        self.starts.push(start);
        self.ends.push(start.saturating_add(time));
        self.streams.push(stream);
    }

    /// When everything is done and joined.
    pub(super) fn total(&self) -> u64 {
        let joined = |(stream, free): (usize, &u64)| match stream {
            0 => *free,
            _ => free.saturating_add(self.rates.event),
        };
        self.free.iter().enumerate().map(joined).max().unwrap_or(0)
    }
}

/// Where and when each node of a recipe runs.
pub(super) struct Schedule {
    pub(super) streams: Vec<u16>,
    pub(super) needs: Vec<Vec<u32>>,
    pub(super) starts: Vec<u64>,
    pub(super) ends: Vec<u64>,
    pub(super) total: u64,
    /// Why work is not beside other work.
    pub(super) reasons: Vec<Option<Reason>>,
}

/// Work goes where it starts first.
struct First<'a> {
    recipe: &'a Recipe,
    costs: &'a [Cost],
    clock: Clock,
    most: usize,
    needs: Vec<Vec<u32>>,
    reasons: Vec<Option<Reason>>,
}

/// The schedule on at most `most` streams. Costs are those of the recipe with numbers for symbols.
pub(super) fn schedule(recipe: &Recipe, wishes: &Wishes, costs: &[Cost], target: &Target, most: usize) -> Schedule {
    let clock = Clock::new(target);
    let mut first = First { recipe, costs, clock, most, needs: Vec::new(), reasons: vec![None; costs.len()] };
    let streams = spread(recipe, wishes, most, &mut first).streams().to_vec();
    let total = first.clock.total();
    let Clock { starts, ends, .. } = first.clock;
    Schedule { streams, needs: first.needs, starts, ends, total, reasons: first.reasons }
}

impl Choose for First<'_> {
    /// Another stream than the origin costs an event in the end. Of streams that are as good, one whose last work it
    /// needs.
    fn stream(&mut self, node: u32, needs: &[u32], spread: &Placed) -> u16 {
        let cost = &self.costs[node as usize];
        if waits_for_cores(self.recipe, self.recipe.nodes[node as usize].kind) {
            self.reasons[node as usize] = Some(Reason::Cores);
            return ORIGIN;
        }
        let streams = spread.used().saturating_add(1).min(self.most) as u16;
        let ends: Vec<u16> =
            needs.iter().filter(|need| spread.is_last(**need)).map(|need| spread.stream(*need)).collect();
        let rank = |stream: &u16| {
            let back = if *stream == ORIGIN { 0 } else { self.clock.rates.event };
            (self.clock.start(*stream, needs, cost).saturating_add(back), !ends.contains(stream), *stream)
        };
        let stream = (0..streams).min_by_key(rank).unwrap_or(ORIGIN);
        if stream == ORIGIN && !self.recipe.nodes[node as usize].kind.is_sync() {
            self.reasons[node as usize] = Some(self.reason(needs, cost, spread.used()));
        }
        stream
    }

    fn put(&mut self, node: u32, stream: u16, needs: &[u32]) {
        let kind = self.recipe.nodes[node as usize].kind;
        if !kind.is_sync() && self.reasons[node as usize].is_none() && stream == ORIGIN {
            self.reasons[node as usize] = Some(Reason::Ordered);
        }
        if matches!(kind, NodeKind::Record(_)) {
            self.reasons[node as usize] = None;
        }
        self.clock.put(stream, needs, &self.costs[node as usize], 0);
        self.needs.push(needs.to_vec());
    }
}

impl First<'_> {
    /// Why work stays on the origin.
    fn reason(&self, needs: &[u32], cost: &Cost, used: usize) -> Reason {
        let clock = &self.clock;
        let there = needs.iter().map(|need| clock.ends[*need as usize]).max().unwrap_or(0);
        let start = clock.start(ORIGIN, needs, cost);
        if start <= there {
            return Reason::Needs;
        }
        let (time, wanted) = cost.with(0, &clock.rates);
        let apart = there.saturating_add(clock.rates.event);
        if clock.profile.earliest(apart, time, wanted) < start && used >= self.most {
            return Reason::Streams;
        }
        match clock.profile.lacking(apart, time, wanted) {
            Some(MEMORY) => Reason::Bandwidth,
            Some(_) => Reason::Cores,
            None => Reason::Event,
        }
    }
}
