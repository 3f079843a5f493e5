//! Host outputs that each run brings to pinned memory of its own.
//!
//! The memory goes round: from a ring to a run, from there to whoever takes the outputs, and back when they are
//! dropped, also while its copies are under way. A captured graph has a ring, and so have the eager runs of one size;
//! what comes back when the ring is gone is freed.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, EventKind};
use crate::future::Reached;
use crate::lock::Lock;
use crate::plan::recipe::{OutputInfo, Recipe};
use crate::retire;
use crate::stream::Stream;

use super::executable::not_given;
use super::host::again;
use super::issue::HostSide;
use super::outcome::Outcome;
use super::piece::Place;
use super::rescue::Rescue;

/// Where outputs lie, by output; none for those that stay on the device.
type Places = Arc<[Option<Place>]>;

/// Memory of runs that nobody has: what came back first is in front.
pub(super) struct Ring {
    places: Places,
    /// Runs whose copies may be under way.
    most: usize,
    memory: Lock<VecDeque<Memory>>,
}

/// What one run needs.
#[derive(Default)]
struct Memory {
    /// Whose it is, as [`Outside`](super::outside::Outside) counts runs.
    run: u64,
    /// By output.
    sides: Vec<HostSide>,
    /// For the ends of streams beside that of the copies.
    ends: Vec<Arc<Event>>,
}

impl Memory {
    fn is_idle(&self) -> bool {
        !self.sides.iter().any(|side| matches!(side, HostSide::Lent(_)))
    }

    /// Whether its copies are over, whatever became of them.
    fn is_over(&self) -> Result<bool> {
        // The last one is likely to be the last to be over.
        for side in self.sides.iter().rev() {
            if let HostSide::Lent(lent) = side
                && !lent.is_over()?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Ring {
    pub(super) fn new(recipe: &Recipe, places: &[Place], most: usize) -> Arc<Self> {
        let place = |output: &OutputInfo| output.host.then(|| places[output.value as usize]);
        Arc::new(Self { places: recipe.outputs.iter().map(place).collect(), most, memory: Lock::default() })
    }

    /// The run that [`Ring::next`] would wait for, once the latest outputs are given up.
    pub(super) fn awaited(self: &Arc<Self>, latest: Option<&Delivery>) -> Result<Option<u64>> {
        let latest = latest.filter(|latest| std::ptr::eq(latest.ring.as_ptr(), Arc::as_ptr(self)));
        // Not under the lock: the library is asked.
        let all = std::mem::take(&mut *self.memory.lock());
        let awaited = self.awaited_of(&all, latest.map(|latest| &latest.memory));
        self.put_back(all);
        awaited
    }

    fn awaited_of(&self, all: &VecDeque<Memory>, latest: Option<&Memory>) -> Result<Option<u64>> {
        let mut known = all.iter().chain(latest);
        let Some(oldest) = known.next() else { return Ok(None) };
        let is_full = all.len() + usize::from(latest.is_some()) >= self.most;
        if !is_full || oldest.is_idle() || known.any(Memory::is_idle) || oldest.is_over()? {
            return Ok(None);
        }
        Ok(Some(oldest.run))
    }

    /// Memory for a run. Waits for the oldest copies when there are as many under way as may be.
    pub(super) fn next(self: &Arc<Self>, context: &Context, run: u64) -> Result<Delivery> {
        let mut delivery = Delivery {
            memory: Memory { run, ..self.take()? },
            places: Arc::clone(&self.places),
            ring: Arc::downgrade(self),
            recorded: 0,
            rescue: None,
            forced: None,
            good: false,
        };
        delivery.prepare(context).map(|()| delivery)
    }

    /// Memory whose copies are over or have been under way for longest; new one while there is little.
    fn take(&self) -> Result<Memory> {
        // Not under the lock: the library is asked.
        let mut all = std::mem::take(&mut *self.memory.lock());
        let mut surplus = Vec::new();
        // One more is that of the latest run.
        while all.len() > self.most.saturating_add(1)
            && all.front().is_some_and(|front| matches!(front.is_over(), Ok(true)))
        {
            surplus.extend(all.pop_front());
        }
        let chosen = self.choose(&all);
        let memory = chosen.map(|chosen| chosen.and_then(|index| all.remove(index)).unwrap_or_default());
        self.put_back(all);
        drop(surplus);
        memory
    }

    /// In front of what came back meanwhile.
    fn put_back(&self, mut all: VecDeque<Memory>) {
        let mut late = self.memory.lock();
        all.append(&mut late);
        *late = all;
    }

    fn choose(&self, all: &VecDeque<Memory>) -> Result<Option<usize>> {
        if let Some(idle) = all.iter().position(Memory::is_idle) {
            return Ok(Some(idle));
        }
        let Some(oldest) = all.front() else { return Ok(None) };
        Ok((all.len() >= self.most || oldest.is_over()?).then_some(0))
    }
}

/// Pinned memory with the host outputs of one run, and what has to be over before they can be read.
pub(super) struct Delivery {
    memory: Memory,
    places: Places,
    ring: Weak<Ring>,
    /// How many of the events are of this run.
    recorded: usize,
    /// Whose gates it passes, when operators of it are updated.
    rescue: Option<Arc<Rescue>>,
    /// How often runs were let through at gates, and how often before it.
    forced: Option<(Arc<AtomicU64>, u64)>,
    /// It is known to have succeeded, and all of its memory is here.
    good: bool,
}

impl Delivery {
    /// Makes all memory ready for a run.
    fn prepare(&mut self, context: &Context) -> Result<()> {
        self.memory.sides.resize_with(self.places.len(), || HostSide::Gone);
        for (side, place) in self.memory.sides.iter_mut().zip(&*self.places) {
            if matches!(side, HostSide::Lent(_)) {
                again(side)?;
            }
            let bytes = place.map_or(0, |place| place.span);
            if bytes > 0 && matches!(side, HostSide::Gone) {
                *side = HostSide::Here(context.pinned(bytes)?);
            }
        }
        Ok(())
    }

    /// By output, for whoever submits the copies.
    pub(super) fn sides(&mut self) -> &mut Vec<HostSide> {
        &mut self.memory.sides
    }

    /// Before the run: it waits at gates to the outside, which are opened by force as often as this says.
    pub(super) fn may_be_forced(&mut self, count: &Arc<AtomicU64>) {
        self.forced = Some((Arc::clone(count), count.load(Ordering::Acquire)));
    }

    /// Before the run: its updates are looked after.
    pub(super) fn rescued_by(&mut self, rescue: Option<&Arc<Rescue>>) {
        self.rescue = rescue.cloned();
    }

    /// What `stream` was given so far is part of the run.
    pub(super) fn mark(&mut self, stream: &Stream) -> Result<()> {
        let ends = &mut self.memory.ends;
        if ends.len() == self.recorded {
            ends.push(Arc::new(Event::create_in(stream.0.context(), EventKind::Order)?));
        }
        ends[self.recorded].record(stream)?;
        self.recorded += 1;
        Ok(())
    }

    /// Whether nothing of the run has to be waited for. Does not block.
    pub(super) fn is_over(&self) -> Result<bool> {
        if self.good {
            return Ok(true);
        }
        if !self.memory.is_over()? {
            return Ok(false);
        }
        for end in self.memory.ends.iter().take(self.recorded) {
            if !end.is_reached()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits for the run, and for none after it. An error when it failed, or nobody can tell that it did not.
    pub(super) fn settle(&mut self, outcome: &Outcome) -> Result<()> {
        if self.good {
            return Ok(());
        }
        outcome.check()?;
        self.wait().map_err(|error| of_run(outcome, error))?;
        outcome.check()?;
        self.good = true;
        Ok(())
    }

    /// What has to be reached before the run is over.
    pub(super) fn awaited(&mut self) -> Result<Vec<Reached>> {
        if self.good {
            return Ok(Vec::new());
        }
        let mut all: Vec<_> = self.memory.ends.iter().take(self.recorded).map(Event::outlasted).collect();
        for side in &mut self.memory.sides {
            if let HostSide::Lent(lent) = side {
                all.push(lent.share_done()?.outlasted());
            }
        }
        Ok(all)
    }

    /// Whoever awaited that was told so.
    pub(super) fn told(&self, outcome: &Outcome, error: Error) -> Error {
        self.rescue.iter().for_each(|rescue| rescue.note(&error));
        of_run(outcome, error)
    }

    fn wait(&mut self) -> Result<()> {
        if let Some(rescue) = &self.rescue {
            rescue.check()?;
        }
        let ended = self.memory.ends.iter().take(self.recorded).try_for_each(|end| end.outlast().map(drop));
        if let (Err(error), Some(rescue)) = (&ended, &self.rescue) {
            rescue.note(error);
        }
        ended?;
        self.memory.sides.iter_mut().try_for_each(land)?;
        if self.forced.as_ref().is_some_and(|(count, before)| count.load(Ordering::Acquire) != *before) {
            return Err(Error::invalid(
                "an output of a run that may have been let through at a gate without a signal",
            ));
        }
        // A failure that held the run up may have been found only while it was waited for.
        self.rescue.as_ref().map_or(Ok(()), |rescue| rescue.check())
    }

    /// Where an output lies; none when it stays on the device.
    pub(super) fn place(&self, output: usize) -> Option<Place> {
        self.places[output]
    }

    /// The bytes of an output, once the run is settled.
    pub(super) fn bytes(&self, output: usize, name: &str) -> Result<&[u8]> {
        match &self.memory.sides[output] {
            HostSide::Here(pinned) => Ok(pinned),
            HostSide::Gone if self.places[output].is_some_and(|place| place.span == 0) => Ok(&[]),
            HostSide::Gone | HostSide::Lent(_) => Err(not_given(name)),
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        match self.ring.upgrade() {
            Some(ring) => ring.memory.lock().push_back(memory),
            None => retire::together(|| drop(memory)),
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        retire::together(|| self.memory.get_mut().clear());
    }
}

/// A refused argument says nothing of the run.
fn of_run(outcome: &Outcome, error: Error) -> Error {
    if error.kind() == ErrorKind::InvalidArgument { error } else { outcome.told(error) }
}

/// The pinned memory is here once its transfer is over; after a wait that failed it can be waited for again.
fn land(side: &mut HostSide) -> Result<()> {
    let (landed, waited) = match std::mem::replace(side, HostSide::Gone) {
        HostSide::Lent(lent) => match lent.outlast() {
            Ok(pinned) => (HostSide::Here(pinned), Ok(())),
            Err(refused) => {
                let (lent, error) = refused.into_parts();
                (HostSide::Lent(lent), Err(error))
            }
        },
        other => (other, Ok(())),
    };
    *side = landed;
    waited
}
