//! Gates between an executable and the outside: what is owed at them, and a way out when nobody gives it.
//!
//! A signal can only be given by whoever has the executable, so that while it is dropped, or a graph of it, no
//! further ones come. A run that waits then, although all signals that were given have arrived, would wait for ever.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, EventKind};
use crate::lock::{Guard, Lock};
use crate::plan::recipe::{NodeKind, Recipe};
use crate::retire::{self, AtGates, BRIEF};
use crate::stream::{Stream, StreamInner};

use super::gate::Gates;
use super::issue::At;

/// How long the first look at a run lasts that may go on; each further one lasts twice as long, up to the last.
const FIRST_LOOK: Duration = Duration::from_millis(1);
const LONGEST_LOOK: Duration = Duration::from_millis(100);

/// The code of an event that was not reached in time. Work that failed by a time-out of its own has others.
const NOT_REACHED: i32 = 507_047;

pub(super) struct Outside {
    pub(super) gates: Gates,
    names: Vec<String>,
    /// What a run does at each gate.
    steps: Vec<Steps>,
    /// How long a signal that was given may take to arrive, when it is the last hope of a run.
    limit: Duration,
    owed: Lock<Owed>,
    /// What waits at the gates.
    work: Arc<AtGates>,
    /// Ends of graphs that are gone while they run.
    left: Lock<Vec<Arc<Event>>>,
    /// How often gates were opened, or are about to be, because no signal was to come.
    forced: Arc<AtomicU64>,
}

/// How long work is waited for that is let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// Until it is over, or as long as a drop waits.
    Forever,
    /// No longer than signals may take.
    Limited,
    /// Hardly: something else may hold it up. Nothing is opened while signals that were given may arrive.
    Brief,
}

#[derive(Debug, Clone, Copy, Default)]
struct Steps {
    waits: u64,
    signals: u64,
}

#[derive(Default)]
struct Owed {
    tallies: Vec<Tally>,
    /// Signals from outside.
    given: Marks,
    /// Waits outside.
    taken: Marks,
    /// Whether no signal of before may still arrive.
    settled: bool,
}

/// What happened at one gate so far.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    waits: u64,
    signals: u64,
    /// Signals less waits, as far as a gate can keep them: at most one.
    balance: i64,
    /// Graphs of the user signal or wait, when they run.
    uncounted: bool,
}

/// A gate that was opened because no signal was to come.
pub(super) struct Opened {
    pub(super) name: String,
    waits: u64,
    signals: u64,
}

impl Outside {
    pub(super) fn new(recipe: &Recipe, context: &Arc<ContextInner>, limit: Duration) -> Result<Option<Self>> {
        let count = recipe.externals.len();
        if count == 0 {
            return Ok(None);
        }
        let mut steps = vec![Steps::default(); count];
        for node in &recipe.nodes {
            match node.kind {
                NodeKind::ExternalWait(gate) => steps[gate as usize].waits += 1,
                NodeKind::ExternalRecord(gate) => steps[gate as usize].signals += 1,
                _ => {}
            }
        }
        let owed = Owed { tallies: vec![Tally::default(); count], ..Owed::default() };
        Ok(Some(Self {
            gates: Gates::new(context, count)?,
            names: recipe.externals.clone(),
            steps,
            limit,
            owed: Lock::new(owed),
            work: AtGates::new(),
            left: Lock::default(),
            forced: Arc::default(),
        }))
    }

    /// An event for the end of runs; none when runs wait at no gate.
    pub(super) fn end(&self, context: &Arc<ContextInner>) -> Result<Option<Event>> {
        let waits = self.steps.iter().any(|steps| steps.waits > 0);
        waits.then(|| Event::create_in(context, EventKind::Order)).transpose()
    }

    /// What waits at the gates.
    pub(super) fn work(&self) -> &Arc<AtGates> {
        &self.work
    }

    /// How often gates were opened, or are about to be, because no signal was to come.
    pub(super) fn forced(&self) -> &Arc<AtomicU64> {
        &self.forced
    }

    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Notes the end of a graph that goes while it may run.
    pub(super) fn leave(&self, end: &Arc<Event>) {
        let mut left = self.left.lock();
        left.retain(|end| !matches!(end.is_reached(), Ok(true)));
        left.push(Arc::clone(end));
    }

    /// Ends of graphs that are gone and may still run.
    pub(super) fn left(&self) -> Vec<Arc<Event>> {
        let mut left = self.left.lock();
        left.retain(|end| !matches!(end.is_reached(), Ok(true)));
        left.clone()
    }

    fn owed(&self) -> Guard<'_, Owed> {
        self.owed.lock()
    }

    /// Notes a run that `stream` was just given, whose end is `end`.
    pub(super) fn ran(&self, stream: &Stream, end: Option<&Event>) -> Result<()> {
        {
            let mut owed = self.owed();
            for (tally, steps) in owed.tallies.iter_mut().zip(&self.steps) {
                tally.add(steps.waits, steps.signals);
            }
            self.tell(&owed);
        }
        let Some(end) = end else { return Ok(()) };
        self.work.note(&stream.0);
        // Without it the end of the run could not be told from that of the one before.
        end.record(stream).or_else(|error| end.record(stream).and(Err(error)))
    }

    pub(super) fn signal(&self, gate: usize, stream: &Stream, at: At) -> Result<()> {
        self.gates.signal(gate, stream, at)?;
        let mut owed = self.owed();
        if stream.is_capturing() {
            owed.tallies[gate].uncounted = true;
            self.tell(&owed);
            return Ok(());
        }
        owed.tallies[gate].add(0, 1);
        self.tell(&owed);
        owed.given.note(stream)
    }

    /// Tells whoever would wait for work at the gates whether that can go on.
    fn tell(&self, owed: &Owed) {
        self.work.set_short(owed.tallies.iter().any(|tally| tally.balance < 0 || tally.uncounted));
    }

    pub(super) fn wait(&self, gate: usize, stream: &Stream, at: At) -> Result<()> {
        stream.mark_before_gate()?;
        self.gates.wait(gate, stream, at)?;
        let mut owed = self.owed();
        if stream.is_capturing() {
            owed.tallies[gate].uncounted = true;
            self.tell(&owed);
            self.work.note_capture();
            return Ok(());
        }
        self.work.note(&stream.0);
        owed.tallies[gate].add(1, 0);
        self.tell(&owed);
        owed.taken.note(stream)
    }

    /// Whether some wait got no signal.
    pub(super) fn is_short(&self) -> bool {
        self.owed().tallies.iter().any(|tally| tally.balance < 0)
    }

    /// Waits until the runs that `ends` follow are over, and opens the gates that hold them up once all signals that
    /// were given have arrived, or had their time. `control` is a stream that nothing holds up.
    pub(super) fn release(&mut self, ends: &[&Event], control: &Stream, patience: Patience) -> Vec<Opened> {
        if ends.iter().all(|end| matches!(end.is_reached(), Ok(true))) {
            return Vec::new();
        }
        self.alone(|this, owed| this.release_runs(owed, ends, control, patience))
    }

    /// With what is owed, without its lock: this may wait, and nobody else has the executable.
    fn alone<T>(&mut self, act: impl FnOnce(&Self, &mut Owed) -> T) -> T {
        let mut owed = std::mem::take(self.owed.get_mut());
        let done = act(self, &mut owed);
        *self.owed.get_mut() = owed;
        done
    }

    fn release_runs(&self, owed: &mut Owed, ends: &[&Event], control: &Stream, patience: Patience) -> Vec<Opened> {
        let limit = self.limit_of(patience);
        if !owed.settle(limit, patience) {
            return Vec::new();
        }
        if owed.tallies.iter().any(|tally| tally.uncounted) {
            owed.settled = false;
            let _ = ends.iter().all(|end| reached(end, limit));
        }
        // A gate that the plan signals itself opens by itself, unless some wait is left over.
        let shut = |(gate, steps): (usize, &Steps)| {
            let own = steps.signals > 0 && owed.tallies[gate].balance >= 0;
            (steps.waits > 0 && !own).then_some(gate)
        };
        let shut: Vec<_> = self.steps.iter().enumerate().filter_map(shut).collect();
        self.open_until(owed, &shut, control, patience, |limit| ends.iter().all(|end| reached(end, limit)))
    }

    /// When no run goes on and none will come: opens the gates at which waits outside are left over.
    pub(super) fn release_others(&mut self, control: &Stream, patience: Patience) -> Vec<Opened> {
        self.alone(|this, owed| this.release_waits(owed, control, patience))
    }

    fn release_waits(&self, owed: &mut Owed, control: &Stream, patience: Patience) -> Vec<Opened> {
        let short = |(gate, tally): (usize, &Tally)| (tally.balance < 0).then_some(gate);
        let short: Vec<_> = owed.tallies.iter().enumerate().filter_map(short).collect();
        if short.is_empty() {
            return Vec::new();
        }
        if !owed.settle(self.limit_of(patience), patience) {
            return Vec::new();
        }
        let taken = std::mem::take(&mut owed.taken);
        let opened = self.open_until(owed, &short, control, patience, |limit| taken.wait(limit));
        owed.taken = taken;
        opened
    }

    fn limit_of(&self, patience: Patience) -> Duration {
        if patience == Patience::Brief { self.limit.min(BRIEF) } else { self.limit }
    }

    /// Opens `shut` again and again until what waits there is `over`.
    fn open_until(
        &self,
        owed: &mut Owed,
        shut: &[usize],
        control: &Stream,
        patience: Patience,
        over: impl Fn(Duration) -> bool,
    ) -> Vec<Opened> {
        let mut count = vec![0_u64; self.names.len()];
        let (mut look, mut looked) = (FIRST_LOOK, Duration::ZERO);
        let limit = self.limit_of(patience);
        let until = retire::deadline();
        let goes_on = |looked| match patience {
            Patience::Forever => retire::is_patient() || Instant::now() < until,
            Patience::Limited | Patience::Brief => looked < limit,
        };
        // What can go on by itself does so before.
        let mut opens = false;
        while !over(look) && goes_on(looked) {
            if !opens {
                // Before what it lets through can be over.
                self.forced.fetch_add(1, Ordering::AcqRel);
                opens = true;
            }
            for gate in shut {
                count[*gate] += u64::from(self.gates.open_if_shut(*gate, control));
            }
            looked += look;
            look = (look * 2).min(LONGEST_LOOK);
            std::thread::yield_now();
        }
        let mut opened = Vec::new();
        for gate in shut.iter().copied().filter(|gate| count[*gate] > 0) {
            // Whether nobody took the last one: one that is there may be a signal that was late.
            let left = owed.settled && over(FIRST_LOOK) && self.gates.shut_if_open(gate, control);
            let taken = count[gate] - u64::from(left);
            let tally = &mut owed.tallies[gate];
            tally.balance += i64::try_from(taken).unwrap_or(i64::MAX);
            if taken > 0 {
                opened.push(Opened { name: self.names[gate].clone(), waits: tally.waits, signals: tally.signals });
            }
        }
        if opens && opened.is_empty() {
            self.forced.fetch_sub(1, Ordering::AcqRel);
        }
        self.tell(owed);
        opened
    }
}

impl Owed {
    /// Waits for signals that were given; false when more time is needed for them than there is.
    fn settle(&mut self, limit: Duration, patience: Patience) -> bool {
        self.settled = self.given.wait(limit);
        self.settled || patience != Patience::Brief
    }
}

impl Tally {
    fn add(&mut self, waits: u64, signals: u64) {
        self.waits += waits;
        self.signals += signals;
        self.balance = self.balance.saturating_add_unsigned(signals).saturating_sub_unsigned(waits).min(1);
    }
}

impl Opened {
    /// Tells it to whoever asks for errors of drops.
    pub(super) fn report(&self, context: &ContextInner) {
        let Self { name, waits, signals } = self;
        let text = format!(
            "waited for {waits} times and signalled {signals} times; opened so that the work can end; what \
             follows it ran without what it waits for"
        );
        context.record_drop_error(&format!("external gate {name:?}"), Error::new(ErrorKind::Aborted, text));
    }
}

/// The latest event of interest of each stream.
#[derive(Default)]
struct Marks(Vec<(Weak<StreamInner>, Event)>);

impl Marks {
    /// Notes that `stream` has just been given one.
    fn note(&mut self, stream: &Stream) -> Result<()> {
        let known = self.0.iter().position(|(of, _)| std::ptr::eq(of.as_ptr(), Arc::as_ptr(&stream.0)));
        let index = match known.or_else(|| self.0.iter().position(|(_, mark)| matches!(mark.is_reached(), Ok(true))))
        {
            Some(index) => index,
            None => {
                self.0.push((Weak::new(), Event::create_in(stream.0.context(), EventKind::Order)?));
                self.0.len() - 1
            }
        };
        let (of, mark) = &mut self.0[index];
        *of = Arc::downgrade(&stream.0);
        mark.record(stream)
    }

    /// Whether all are reached, each within the limit.
    fn wait(&self, limit: Duration) -> bool {
        self.0.iter().fold(true, |all, (_, mark)| reached(mark, limit) && all)
    }
}

/// Whether an event is reached within the limit; a failure of the work before it is told to whoever asks for errors
/// of drops.
fn reached(event: &Event, limit: Duration) -> bool {
    // What the C call can take.
    let limit = limit.clamp(FIRST_LOOK, Duration::from_millis(i32::MAX as u64));
    match event.synchronize_timeout(limit) {
        Ok(()) => true,
        Err(error) if error.code() == Some(NOT_REACHED) => false,
        Err(error) => {
            event.context_inner().record_drop_error("waiting for work at a gate that is opened", error);
            true
        }
    }
}
