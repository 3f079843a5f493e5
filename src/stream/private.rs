//! Memory for the work of captures: their graphs keep it, and later captures of the same pool have it again.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Instant;

use crate::allocation::{Allocation, How};
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{Lock, Signal};
use crate::retire;

/// A pool of memory that captures make. What no graph keeps and no capture has goes back to the context.
pub(crate) struct Private {
    context: Arc<ContextInner>,
    all: Lock<All>,
    /// A thread is launching a graph that keeps memory of the pool.
    launching: Lock<bool>,
    launched: Signal,
}

#[derive(Default)]
struct All {
    /// By [`key`].
    entries: HashMap<usize, Entry>,
    /// Size and key of what no capture has.
    idle: BTreeSet<(usize, usize)>,
}

struct Entry {
    allocation: Arc<Allocation>,
    /// How many graphs keep it.
    graphs: usize,
    /// A capture has it.
    lent: bool,
}

/// The right to launch a graph of a pool. Between the look at what the launch has to follow and the note that it was
/// made, another thread would put a launch on the same memory in no order with it.
pub(crate) struct Turn(Arc<Private>);

/// What of the memory of a graph is of a pool.
#[derive(Default)]
pub(crate) struct Lease(Option<(Arc<Private>, Vec<usize>)>);

fn key(allocation: &Arc<Allocation>) -> usize {
    Arc::as_ptr(allocation).addr()
}

impl Private {
    pub(crate) fn new(context: &Arc<ContextInner>) -> Arc<Self> {
        Arc::new(Self {
            context: Arc::clone(context),
            all: Lock::default(),
            launching: Lock::default(),
            launched: Signal::default(),
        })
    }

    pub(crate) fn context(&self) -> &Arc<ContextInner> {
        &self.context
    }

    pub(crate) fn bytes(&self) -> usize {
        self.all.lock().entries.values().map(Entry::bytes).sum()
    }

    /// Takes memory in that a capture has made for itself.
    pub(super) fn add(&self, allocation: &Arc<Allocation>) {
        self.context.reclaim.count_graphs(allocation.bytes(), 0);
        let entry = Entry { allocation: Arc::clone(allocation), graphs: 0, lent: true };
        self.all.lock().entries.insert(key(allocation), entry);
    }

    /// Not a lock, since the library may wait for room in a queue: behind a host function that wants a turn as well.
    fn turn(self: &Arc<Self>) -> Result<Turn> {
        let mut launching = self.launching.lock();
        let mut until = None;
        while *launching {
            let left = until.get_or_insert_with(retire::deadline).saturating_duration_since(Instant::now());
            if left.is_zero() {
                let limit = retire::drop_limit();
                let text = format!("another thread has not launched its graph of the same pool for {limit:?}");
                return Err(Error::new(ErrorKind::Timeout, text));
            }
            launching = self.launched.wait_timeout(launching, left);
        }
        *launching = true;
        Ok(Turn(Arc::clone(self)))
    }

    /// Memory for a capture, of at least `least` bytes and fewer than `most`, that graphs of this pool keep and nobody
    /// else has.
    pub(super) fn lend(&self, least: usize, most: usize) -> Option<Arc<Allocation>> {
        let All { entries, idle } = &mut *self.all.lock();
        let is_free = |(_, key): &&(usize, usize)| entries.get(key).is_some_and(|entry| entry.is_given_up(0));
        let found = *idle.range((least, 0)..(most.max(least), 0)).find(is_free)?;
        idle.remove(&found);
        let entry = entries.get_mut(&found.1)?;
        entry.lent = true;
        Some(Arc::clone(&entry.allocation))
    }

    /// Whether nobody has the memory but this pool, its graphs, and who asks, `kept` times.
    pub(super) fn is_given_up(&self, allocation: &Arc<Allocation>, kept: usize) -> bool {
        self.all.lock().entries.get(&key(allocation)).is_some_and(|entry| entry.is_given_up(kept))
    }

    /// Whether graphs of earlier captures write the memory, and somebody has it beside them, this pool, and who asks,
    /// `kept` times.
    pub(super) fn is_written_by_others(&self, allocation: &Arc<Allocation>, kept: usize) -> bool {
        let all = self.all.lock();
        let others = |entry: &Entry| Arc::strong_count(allocation) > 1 + entry.graphs + kept;
        all.entries.get(&key(allocation)).is_some_and(|entry| entry.graphs > 0 && others(entry))
    }

    /// A capture has ended that had `own`; of that its graph keeps what `keeps` says.
    pub(super) fn take_back(self: &Arc<Self>, own: &[Arc<Allocation>], keeps: impl Fn(usize) -> bool) -> Lease {
        if own.is_empty() {
            return Lease::default();
        }
        let all: Vec<_> = own.iter().map(key).collect();
        let kept: Vec<_> = all.iter().copied().filter(|key| keeps(*key)).collect();
        self.settle(&all, |key, entry| {
            entry.lent = false;
            entry.graphs += usize::from(keeps(key));
        });
        Lease(Some((Arc::clone(self), kept)))
    }

    /// Changes entries, and lets those go that nobody needs any more.
    fn settle(&self, keys: &[usize], mut change: impl FnMut(usize, &mut Entry)) {
        let (mut gone, mut bytes) = (Vec::new(), 0);
        {
            let All { entries, idle } = &mut *self.all.lock();
            for &key in keys {
                let Some(entry) = entries.get_mut(&key) else { continue };
                change(key, entry);
                let place = (entry.bytes(), key);
                if entry.lent {
                    continue;
                }
                idle.insert(place);
                if entry.graphs == 0 {
                    idle.remove(&place);
                    bytes += place.0;
                    gone.extend(entries.remove(&key));
                }
            }
        }
        self.context.reclaim.count_graphs(0, bytes);
        // Not under the lock: freed here, unless somebody has it still.
        drop(gone);
    }
}

impl Entry {
    fn bytes(&self) -> usize {
        self.allocation.bytes()
    }

    fn is_given_up(&self, kept: usize) -> bool {
        self.allocation.is_given_up(1 + self.graphs + kept)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.0.launching.lock() = false;
        self.0.launched.notify_one();
    }
}

impl Lease {
    /// Whether it has memory that other graphs of the pool may use.
    #[inline]
    pub(super) fn has_turns(&self) -> bool {
        self.0.as_ref().is_some_and(|(_, kept)| !kept.is_empty())
    }

    /// While this value lives no other graph with memory of the pool is launched.
    pub(super) fn turn(&self) -> Result<Option<Turn>> {
        self.0.as_ref().map(|(pool, _)| pool.turn()).transpose()
    }

    /// The graph goes, with its `allocations`.
    pub(super) fn end(&mut self, allocations: &mut HashMap<usize, (Arc<Allocation>, How)>) {
        let Some((pool, kept)) = self.0.take() else { return };
        // Together, so that whoever counts owners sees none that is no graph's. The pool has the memory still.
        pool.settle(&kept, |key, entry| {
            entry.graphs -= 1;
            drop(allocations.remove(&key));
        });
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        let left = self.all.get_mut().entries.values().map(Entry::bytes).sum();
        self.context.reclaim.count_graphs(0, left);
    }
}
