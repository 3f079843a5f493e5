//! The captured graphs of an executable, by what they were captured for.

use std::sync::Arc;

use crate::event::Event;
use crate::plan::recipe::Cores;
use crate::retire;

use super::behind::Behind;
use super::host::Ring;
use super::issue::HostSides;
use super::piece::Pieces;
use super::segments::Graphs;
use super::sized::Sized;
use super::update::Groups;

/// What a captured graph depends on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Key {
    pub(super) symbols: Vec<usize>,
    /// Addresses of the tracked inputs, in their order.
    pub(super) tracked: Vec<usize>,
    pub(super) cores: Option<Cores>,
    pub(super) user: u64,
}

pub(super) struct Captured {
    // Dropped in this order: the graphs before what their work uses.
    pub(super) graphs: Graphs,
    pub(super) key: Key,
    pub(super) hosts: HostSides,
    /// Host memory by input, which is not part of the graph.
    pub(super) uploads: Vec<Ring>,
    /// Host outputs, when each run brings them behind the graph.
    pub(super) behind: Option<Behind>,
    pub(super) groups: Groups,
    /// The end of its latest run; none when it waits at no gate to the outside.
    pub(super) end: Option<Arc<Event>>,
    pub(super) pieces: Pieces,
    pub(super) sized: Arc<Sized>,
    /// The values of the symbols that its operators know, or will once they are updated.
    pub(super) told: Vec<u64>,
    /// When it was used last.
    pub(super) used: u64,
}

impl Captured {
    /// Drops it, on another thread when its run does not end soon and a gate may be the reason.
    fn let_go(self) {
        if retire::is_patient() || self.graphs.ends_soon() || !retire::may_hold(None) {
            drop(self);
        } else {
            retire::on_thread(self, drop);
        }
    }
}

/// How often what happened; see [`Executable::counters`](super::Executable::counters).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Runs of a captured graph.
    pub replays: u64,
    /// Runs operator by operator.
    pub eager: u64,
    /// Graphs captured because none was there for the symbols or the user's key.
    pub captured_new: u64,
    /// Graphs captured because a tracked input had moved.
    pub captured_moved: u64,
    /// Graphs captured because of another core limit.
    pub captured_cores: u64,
    /// Graphs captured because of [`RunOptions::force_recapture`](super::RunOptions::force_recapture).
    pub captured_forced: u64,
    /// Graphs dropped for another one at the limit.
    pub evicted: u64,
    /// Runs that were eager because the limit was reached.
    pub eager_at_limit: u64,
    /// Operators replaced inside graphs, whole or by address.
    pub updates: u64,
    /// Of [`updates`](Self::updates), those by address: without the operator's first phase. See
    /// [`RunOptions::address_updates`](super::RunOptions::address_updates).
    pub updates_by_address: u64,
    /// Conditions that the host waited for, to choose a plan or one more round of a loop: in eager runs, on a library
    /// whose graphs cannot choose, and for sizes at which it refuses what may be chosen. See
    /// [`Builder::if_else`](crate::plan::Builder::if_else).
    pub decided_by_host: u64,
}

#[derive(Default)]
pub(super) struct Store {
    all: Vec<Captured>,
    clock: u64,
    pub(super) counters: Counters,
}

impl Store {
    pub(super) fn find(&self, matches: impl Fn(&Key) -> bool) -> Option<usize> {
        self.all.iter().position(|known| matches(&known.key))
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Marks a graph as used now.
    pub(super) fn get(&mut self, index: usize) -> &mut Captured {
        self.clock += 1;
        let captured = &mut self.all[index];
        captured.used = self.clock;
        captured
    }

    pub(super) fn all(&self) -> &[Captured] {
        &self.all
    }

    pub(super) fn peek(&self, index: usize) -> Option<&Captured> {
        self.all.get(index)
    }

    pub(super) fn peek_mut(&mut self, index: usize) -> Option<&mut Captured> {
        self.all.get_mut(index)
    }

    /// Adds a graph; at the limit the one that was used longest ago goes, once its last run is over.
    pub(super) fn add(&mut self, captured: Captured, limit: usize) -> usize {
        while self.next_to_go(limit).is_some() {
            self.evict();
        }
        self.all.push(captured);
        self.all.len() - 1
    }

    /// Lets the graph go that was used longest ago.
    pub(super) fn evict(&mut self) {
        if let Some(oldest) = self.next_to_go(0) {
            self.all.remove(oldest).let_go();
            self.counters.evicted += 1;
        }
    }

    /// The graph that goes when one more comes, if one does.
    pub(super) fn next_to_go(&self, limit: usize) -> Option<usize> {
        let full = self.all.len() >= limit;
        (0..self.all.len()).filter(|_| full).min_by_key(|index| self.all[*index].used)
    }

    /// Puts a graph in place of another with the same key.
    pub(super) fn replace(&mut self, index: usize, captured: Captured) {
        std::mem::replace(&mut self.all[index], captured).let_go();
    }

    /// Why a graph for `key` has to be captured.
    pub(super) fn count_miss(&mut self, key: &Key) {
        let like = |cores: bool| {
            self.all.iter().any(|known| {
                known.key.symbols == key.symbols
                    && known.key.user == key.user
                    && if cores { known.key.tracked == key.tracked } else { known.key.cores == key.cores }
            })
        };
        if like(false) {
            self.counters.captured_moved += 1;
        } else if like(true) {
            self.counters.captured_cores += 1;
        } else {
            self.counters.captured_new += 1;
        }
    }

    pub(super) fn clear(&mut self) {
        self.all.drain(..).for_each(Captured::let_go);
    }
}
