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
use crate::progress::Progress;
use crate::retire::{self, AtGates, BRIEF, has_notes};
use crate::stream::{Stream, StreamInner};

use super::gate::{Gates, Written};
use super::issue::At;

/// How long the first look at a run lasts that may go on; each further one lasts twice as long, up to the last.
const FIRST_LOOK: Duration = Duration::from_millis(1);
const LONGEST_LOOK: Duration = Duration::from_millis(100);

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

/// How long signals that were given are waited for.
#[derive(Debug, Clone, Copy)]
struct Time {
    left: Duration,
    /// Whether they may take no longer: what waits for them is let through then.
    is_all: bool,
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
    /// Runs that were given to a stream.
    runs: u64,
    /// Something failed: nobody knows what waits at which gate.
    unsure: bool,
    /// Streams that were given runs, each with how often work of it had been dropped before: nobody knows which signals a
    /// run took that was dropped.
    streams: Vec<(Arc<Progress>, u64)>,
}

/// What happened at one gate so far.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    waits: u64,
    signals: u64,
    /// Signals less waits, as far as a gate can keep them: at most one.
    balance: i64,
    /// Waits that were let through without a signal.
    let_through: u64,
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

    /// Notes a run that `stream` was just given, whose end is `end`. Where somebody waits for that of a run before, this
    /// one has an event of its own: what failed in it is not told to others.
    pub(super) fn ran(&self, stream: &Stream, end: Option<&mut Arc<Event>>) -> Result<()> {
        {
            let mut owed = self.owed();
            for (tally, steps) in owed.tallies.iter_mut().zip(&self.steps) {
                tally.add(steps.waits, steps.signals);
            }
            owed.runs += 1;
            self.tell(&owed);
        }
        let Some(end) = end else { return Ok(()) };
        self.work.note(&stream.0);
        if Arc::get_mut(end).is_none() {
            *end = Arc::new(Event::create_in(stream.0.context(), EventKind::Order)?);
        }
        // Without it the end of the run could not be told from that of the one before.
        end.record(stream).or_else(|error| end.record(stream).and(Err(error)))
    }

    pub(super) fn signal(&self, gate: usize, stream: &Stream, at: At) -> Result<()> {
        // The signal may have been given nevertheless.
        self.gates.signal(gate, stream, at).inspect_err(|_| self.failed())?;
        let mut owed = self.owed();
        if stream.is_capturing() {
            owed.tallies[gate].uncounted = true;
            self.tell(&owed);
            return Ok(());
        }
        owed.tallies[gate].add(0, 1);
        self.tell(&owed);
        let mark = owed.given.of(stream);
        drop(owed);
        mark?.record(stream)
    }

    /// Tells whoever would wait for work at the gates whether that can go on.
    fn tell(&self, owed: &Owed) {
        self.work.set_short(owed.tallies.iter().any(|tally| tally.balance < 0 || tally.uncounted));
    }

    pub(super) fn wait(&self, gate: usize, stream: &Stream, at: At) -> Result<()> {
        stream.mark_before_gate()?;
        self.gates.wait(gate, stream, at).inspect_err(|_| self.failed())?;
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
        let mark = owed.taken.of(stream);
        drop(owed);
        mark?.record(stream)
    }

    /// Whether some wait got no signal.
    pub(super) fn is_short(&self) -> bool {
        self.owed().tallies.iter().any(|tally| tally.balance < 0)
    }

    /// Notes a run that failed, or a signal or wait that was refused: from then on nobody knows what waits.
    pub(super) fn failed(&self) {
        self.owed().unsure = true;
    }

    /// Whether work of a run may have been dropped; then nobody knows what waits.
    fn were_dropped(&self, owed: &mut Owed) -> bool {
        let dropped = owed.streams.iter().any(|(of, drops)| !has_notes(of) || of.drops() != *drops);
        owed.unsure |= dropped;
        dropped
    }

    /// Before a run on `stream`: that none was dropped which was to take a signal that is there, which would be one for this.
    pub(super) fn check_whole(&mut self, stream: &Stream, control: &Stream) -> Result<()> {
        if self.alone(|this, owed| !this.were_dropped(owed) || this.is_empty(owed, control)) {
            let (progress, streams) = (stream.0.progress(), &mut self.owed.get_mut().streams);
            // Of what is done nothing is dropped any more.
            streams.retain(|(of, _)| of.open() > 0);
            if !streams.iter().any(|(of, _)| Arc::ptr_eq(of, progress)) {
                streams.push((Arc::clone(progress), progress.drops()));
            }
            return Ok(());
        }
        let text = "a run before that waits at gates was dropped by an abort, and there is a signal that it may have been \
                    to take; Executable::release_gates takes away those that are left";
        Err(Error::new(ErrorKind::Aborted, text))
    }

    /// Whether no signal is at a gate where runs wait, nor on its way; then what was dropped does not matter.
    fn is_empty(&self, owed: &mut Owed, control: &Stream) -> bool {
        let gates = self.steps.iter().enumerate().filter(|(_, steps)| steps.waits > 0);
        let are_shut = || gates.map(|(gate, _)| gate).all(|gate| self.gates.value(gate, control) == Some(0));
        let is_empty = owed.given.are_reached() && are_shut();
        if is_empty {
            self.clear(owed);
        }
        is_empty
    }

    /// Runs that were dropped do not count any more, nor what they and others waited for: no gate has a signal.
    fn clear(&self, owed: &mut Owed) {
        owed.streams.clear();
        for (tally, steps) in owed.tallies.iter_mut().zip(&self.steps) {
            if steps.waits > 0 {
                *tally = Tally::default();
            }
        }
        self.tell(owed);
    }

    /// Whether a run may have been dropped.
    pub(super) fn may_lack_runs(&mut self) -> bool {
        self.alone(Self::were_dropped)
    }

    /// Where a run was dropped, once all runs are over: takes away the signals that are left. Waits for those that are
    /// under way.
    pub(super) fn begin_anew(&mut self, control: &Stream) -> Result<()> {
        if !self.may_lack_runs() {
            return Ok(());
        }
        let limit = self.time(Patience::Limited).left;
        self.alone(|this, owed| {
            let shut = |gate| this.gates.shut_if_open(gate, control) != Written::Late;
            if !owed.given.wait(limit) || !(0..this.names.len()).map(shut).fold(true, |all, shut| all & shut) {
                let text =
                    "signals that were given before an abort have not arrived; they are to be waited for first";
                return Err(Error::new(ErrorKind::Timeout, text));
            }
            this.clear(owed);
            Ok(())
        })
    }

    /// How many runs there were.
    pub(super) fn runs(&self) -> u64 {
        self.owed().runs
    }

    /// That a run ends although no further signal comes, as far as is known: waits take signals in turn, so that those
    /// without one are the last. That a signal may be lost, since a gate keeps one, is not known here.
    pub(super) fn check_ends(&self, run: u64, what: &str) -> Result<()> {
        let owed = self.owed();
        let later = owed.runs.saturating_sub(run);
        let holds = |(tally, steps): (&Tally, &Steps)| {
            let counted = !owed.unsure && !tally.uncounted && tally.waits == owed.runs * steps.waits;
            let without = tally.waits.saturating_sub(tally.signals + tally.let_through);
            steps.waits > 0 && counted && without > later * steps.waits
        };
        let Some(gate) = owed.tallies.iter().zip(&self.steps).position(holds) else { return Ok(()) };
        let Tally { waits, signals, .. } = owed.tallies[gate];
        let text = format!(
            "{what}, which waits at the gate {:?}: it was waited for {waits} times and signalled {signals} times, and \
             nobody can signal it meanwhile",
            self.names[gate]
        );
        Err(Error::new(ErrorKind::Deadlock, text))
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
        let (begun, time) = (Instant::now(), self.time(patience));
        if !owed.settle(time) {
            return Vec::new();
        }
        if owed.tallies.iter().any(|tally| tally.uncounted) {
            owed.settled = false;
            all_reached(ends, time.left.saturating_sub(begun.elapsed()));
        }
        // A gate that the plan signals itself opens by itself, unless some wait is left over.
        let shut = |(gate, steps): (usize, &Steps)| {
            let own = steps.signals > 0 && owed.tallies[gate].balance >= 0;
            (steps.waits > 0 && !own).then_some(gate)
        };
        let shut: Vec<_> = self.steps.iter().enumerate().filter_map(shut).collect();
        self.open_until(owed, &shut, control, patience, |limit| all_reached(ends, limit))
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
        if !owed.settle(self.time(patience)) {
            return Vec::new();
        }
        let taken = std::mem::take(&mut owed.taken);
        let opened = self.open_until(owed, &short, control, patience, |limit| taken.wait(limit));
        owed.taken = taken;
        opened
    }

    /// How long signals that were given are waited for: no longer than the drop waits that this is part of.
    fn time(&self, patience: Patience) -> Time {
        if patience == Patience::Brief {
            return Time { left: self.limit.min(BRIEF), is_all: false };
        }
        let left = retire::deadline_of_drop().map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.unwrap_or(Duration::MAX);
        Time { left: self.limit.min(left), is_all: self.limit <= left }
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
        let (mut count, mut late) = (vec![0_u64; self.names.len()], vec![false; self.names.len()]);
        let (mut look, mut looked) = (FIRST_LOOK, Duration::ZERO);
        let limit = self.time(patience).left;
        let until = retire::deadline_of_drop();
        let goes_on = |looked| match patience {
            Patience::Forever => until.is_none_or(|until| Instant::now() < until),
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
            for gate in shut.iter().copied() {
                if late[gate] && !matches!(control.is_complete(), Ok(true)) {
                    continue;
                }
                let opened = self.gates.open_if_shut(gate, control);
                count[gate] += u64::from(opened != Written::Not);
                // What writes hangs, and a second one would be behind it.
                late[gate] = opened == Written::Late;
            }
            looked += look;
            look = (look * 2).min(LONGEST_LOOK);
            std::thread::yield_now();
        }
        let mut opened = Vec::new();
        for gate in shut.iter().copied().filter(|gate| count[*gate] > 0) {
            // Whether nobody took the last one: one that is there may be a signal that was late.
            let left = owed.settled && over(FIRST_LOOK) && self.gates.shut_if_open(gate, control) != Written::Not;
            let taken = count[gate] - u64::from(left);
            let tally = &mut owed.tallies[gate];
            tally.balance = tally.balance.saturating_add_unsigned(taken).min(1);
            tally.let_through += taken;
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
    /// Waits for signals that were given; false when they may take more time than there is.
    fn settle(&mut self, time: Time) -> bool {
        self.settled = self.given.wait(time.left);
        self.settled || time.is_all
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
struct Marks(Vec<(Weak<StreamInner>, Arc<Event>)>);

impl Marks {
    /// What is to be recorded on `stream`, which has just been given one: without a lock, since a record waits for room.
    fn of(&mut self, stream: &Stream) -> Result<Arc<Event>> {
        let known = self.0.iter().position(|(of, _)| std::ptr::eq(of.as_ptr(), Arc::as_ptr(&stream.0)));
        // One that is about to be recorded is not reached.
        let is_over = |mark: &Arc<Event>| Arc::strong_count(mark) == 1 && matches!(mark.is_reached(), Ok(true));
        let index = match known.or_else(|| self.0.iter().position(|(_, mark)| is_over(mark))) {
            Some(index) => index,
            None => {
                let mark = Arc::new(Event::create_in(stream.0.context(), EventKind::Order)?);
                self.0.push((Weak::new(), mark));
                self.0.len() - 1
            }
        };
        let (of, mark) = &mut self.0[index];
        *of = Arc::downgrade(&stream.0);
        Ok(Arc::clone(mark))
    }

    fn are_reached(&self) -> bool {
        self.0.iter().all(|(_, mark)| matches!(mark.is_reached(), Ok(true)))
    }

    /// Whether all are reached within the limit.
    fn wait(&self, limit: Duration) -> bool {
        let begun = Instant::now();
        self.0.iter().fold(true, |all, (_, mark)| reached(mark, limit.saturating_sub(begun.elapsed())) && all)
    }
}

/// Whether all are reached within the limit; those behind one that is not are not asked.
fn all_reached(events: &[&Event], limit: Duration) -> bool {
    let begun = Instant::now();
    events.iter().all(|event| reached(event, limit.saturating_sub(begun.elapsed())))
}

/// Whether an event is reached within the limit; a failure of the work before it is told to whoever asks for errors
/// of drops.
fn reached(event: &Event, limit: Duration) -> bool {
    // What the C call can take.
    let limit = limit.clamp(FIRST_LOOK, Duration::from_millis(i32::MAX as u64));
    match event.outlast_within(limit) {
        Ok(_) => true,
        Err(error) if error.is_not_done() => false,
        Err(error) => {
            event.context_inner().record_drop_error("waiting for work at a gate that is opened", error);
            true
        }
    }
}
