//! Ending what waits at gates for signals that nobody will give.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::progress::Queue as _;
use crate::retire::{self, Waited, keepers};
use crate::stream::Stream;

use super::eager::Eager;
use super::executable::Executable;
use super::outside::{Outside, Patience};
use super::sized::{Fixed, Sized};
use super::store::{Captured, Store};

impl Executable {
    /// A way out of runs that wait at external gates for signals that will not come: gives signals that were given
    /// time to arrive, as long as [`RunOptions::signal_limit`](super::RunOptions::signal_limit), then opens the gates
    /// until every run so far is over, and those at which [`wait_signal`](Executable::wait_signal) has more waits
    /// than signals. Blocks until then. Gives the names of the gates that it opened; what follows them ran without
    /// what it waits for. Runs of other executables that are before these on the device are not let through: theirs
    /// are to be released first.
    ///
    /// Where a run was dropped by an [abort](crate::Stream::abort), all gates are shut at the end, whatever signals were
    /// given before: whether the run took its own nobody knows. [`run`](Executable::run) refuses until then where one is there
    /// or on its way.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Timeout`](crate::ErrorKind::Timeout) when signals that were given before an abort do not arrive;
    /// [`ErrorKind::Timeout`](crate::ErrorKind::Timeout) when runs of another executable hold these up at a gate for
    /// longer than the limit; nothing is lost then, and it can be called again. The first error of the runs, unless it
    /// was told while gates were opened: [`Context::take_drop_errors`](crate::Context::take_drop_errors) has it then, as
    /// it has the gates that were opened before an error.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Static)?;
    ///     let ready = g.external("ready")?;
    ///     g.wait_external(ready)?;
    ///     let y = g.abs(x)?;
    ///     g.output("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// exe.run(&stream, &mut exe.bindings())?;
    /// assert_eq!(exe.release_gates()?, ["ready"]); // nobody signals it
    /// stream.synchronize()?;
    /// assert!(exe.release_gates()?.is_empty());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn release_gates(&mut self) -> Result<Vec<String>> {
        self.note_failed();
        let Some(outside) = &mut self.outside else { return Ok(Vec::new()) };
        let left = outside.left();
        let ends = ends(&self.store, &self.eager, &left);
        let work = Arc::clone(outside.work());
        let held = || retire::may_hold(Some(&work));
        let patience = if held() { Patience::Limited } else { Patience::Forever };
        let mut opened = outside.release(&ends, &self.origin, patience);
        opened.extend(outside.release_others(&self.origin, Patience::Limited));
        if held() && ends.iter().any(|end| matches!(end.is_reached(), Ok(false))) {
            opened.iter().for_each(|opened| opened.report(self.context.inner()));
            let text = "runs at gates are behind those of another executable, which are to be released first";
            return Err(Error::new(ErrorKind::Timeout, text));
        }
        // That runs were dropped is why there may be signals that nobody takes.
        let lacks = outside.may_lack_runs();
        let is_told = |error: &Error| lacks && error.kind() == ErrorKind::Aborted;
        let whole =
            |end: &Event| end.outlast().map(drop).or_else(|error| if is_told(&error) { Ok(()) } else { Err(error) });
        let ended = ends.into_iter().try_for_each(whole).and_then(|()| outside.begin_anew(&self.origin));
        if let Err(error) = ended {
            opened.iter().for_each(|opened| opened.report(self.context.inner()));
            return Err(error);
        }
        Ok(opened.into_iter().map(|opened| opened.name).collect())
    }

    /// An event for the ends of runs that wait at gates.
    pub(super) fn end(&self) -> Result<Option<Event>> {
        self.outside.as_ref().map_or(Ok(None), |outside| outside.end(self.context.inner()))
    }

    /// Lets graphs come to their end, before they are dropped. One that is behind the run of another executable, or
    /// whose signal may arrive later than the drop waits, keeps its gates: they can still be signalled.
    pub(super) fn settle_graphs(&mut self, graphs: impl IntoIterator<Item = usize>) {
        let Some(outside) = &mut self.outside else { return };
        let graphs = graphs.into_iter().filter_map(|index| self.store.peek(index)?.end.as_ref());
        let graphs: Vec<&Arc<Event>> = graphs.collect();
        let ends: Vec<&Event> = graphs.iter().map(|end| &***end).collect();
        let held = retire::may_hold(Some(outside.work()));
        let patience = if held { Patience::Brief } else { Patience::Forever };
        let opened = outside.release(&ends, &self.origin, patience);
        opened.iter().for_each(|opened| opened.report(self.context.inner()));
        let left = graphs.into_iter().filter(|end| held || !matches!(end.is_reached(), Ok(true)));
        left.for_each(|end| outside.leave(end));
    }

    /// Keeps a graph, in place of the one that is `known`, or of the oldest where there are as many as may be.
    pub(super) fn keep_graph(&mut self, known: Option<usize>, captured: Captured) -> usize {
        self.settle_graphs(known.or_else(|| self.store.next_to_go(self.options.limit)));
        let Some(index) = known else {
            self.store.count_miss(&captured.key);
            return self.store.add(captured, self.options.limit);
        };
        self.store.counters.captured_forced += 1;
        self.store.replace(index, captured);
        index
    }
}

/// The ends of the latest runs.
fn ends<'a>(store: &'a Store, eager: &'a Eager, left: &'a [Arc<Event>]) -> Vec<&'a Event> {
    let graphs = store.all().iter().filter_map(|captured| captured.end.as_deref());
    graphs.chain(eager.end.as_deref()).chain(left.iter().map(|end| &**end)).collect()
}

/// What is left of an executable when it is dropped: what its work may still use.
struct Remains {
    // Dropped in this order, as by the executable.
    store: Store,
    eager: Eager,
    _sized: Vec<Arc<Sized>>,
    _fixed: Fixed,
    outside: Option<Outside>,
    origin: Stream,
    context: Context,
    /// Gates whose opening was told.
    told: Vec<String>,
}

impl Remains {
    fn of(executable: &mut Executable) -> Self {
        executable.last = None;
        Self {
            store: std::mem::take(&mut executable.store),
            eager: std::mem::take(&mut executable.eager),
            _sized: std::mem::take(&mut executable.sized),
            _fixed: std::mem::take(&mut executable.fixed),
            outside: executable.outside.take(),
            origin: executable.origin.clone(),
            context: executable.context.clone(),
            told: Vec::new(),
        }
    }

    /// Whether the work does not end soon, and gates of another executable may be the reason.
    fn is_held(&mut self) -> bool {
        if retire::is_patient() || !self.others_hold() || self.is_settled() {
            return false;
        }
        self.release(Patience::Brief);
        !self.is_over()
    }

    /// Whether the work does not end within the time that a drop has.
    fn is_late(&mut self) -> bool {
        if retire::is_patient() || self.is_settled() {
            return false;
        }
        let until = retire::deadline();
        loop {
            self.release(Patience::Limited);
            keepers::look();
            if self.has_ended() {
                return false;
            }
            if Instant::now() >= until {
                return true;
            }
            retire::pause();
        }
    }

    fn others_hold(&self) -> bool {
        retire::may_hold(self.outside.as_ref().map(Outside::work))
    }

    /// Whether there is nothing to wait for, as far as is known without asking.
    fn is_settled(&self) -> bool {
        let graphs = self.store.all().iter().all(|captured| captured.graphs.is_settled());
        graphs && self.streams().all(|stream| stream.0.is_settled()) && self.is_quiet()
    }

    /// Whether everything that dropping this waits for is over soon.
    fn is_over(&self) -> bool {
        self.has_ended() && !self.is_short()
    }

    /// Whether its own work is over soon; waits of the user's streams at its gates aside.
    fn has_ended(&self) -> bool {
        let graphs = self.store.all().iter().all(|captured| captured.graphs.ends_soon());
        let streams = graphs && self.streams().all(|stream| stream.0.ends_soon());
        streams && self.eager.is_quiet() && !self.is_running_eagerly()
    }

    /// Whether no eager run needs anything of this.
    fn is_quiet(&self) -> bool {
        self.eager.is_quiet() && !self.is_short() && !self.is_running_eagerly()
    }

    /// Whether an eager run that waits at gates is not over.
    fn is_running_eagerly(&self) -> bool {
        self.eager.end.as_ref().is_some_and(|end| !matches!(end.is_reached(), Ok(true)))
    }

    /// Streams of its own that may have work.
    fn streams(&self) -> impl Iterator<Item = &Stream> {
        let updates = self.store.all().iter().filter_map(|captured| captured.groups.stream());
        self.eager.sides().iter().chain(updates).chain([&self.origin])
    }

    /// The first of its work that does not end.
    fn hanging(&self) -> String {
        let graph = self.store.all().iter().find_map(|captured| captured.graphs.hanging());
        let at_gates = || self.outside.as_ref()?.work().hanging();
        let run = || self.is_running_eagerly().then(at_gates)?.map(|stream| format!("a run on {stream}"));
        let stream = || self.streams().find(|stream| !stream.0.is_settled());
        graph
            .or_else(run)
            .or_else(|| stream().map(|stream| format!("work of {}", stream.0.describe())))
            .unwrap_or_else(|| "a run".to_owned())
    }

    fn is_short(&self) -> bool {
        self.outside.as_ref().is_some_and(Outside::is_short)
    }

    fn release(&mut self, patience: Patience) {
        let Some(outside) = &mut self.outside else { return };
        let left = outside.left();
        let others = if patience == Patience::Brief { Patience::Brief } else { Patience::Limited };
        let mut opened = outside.release(&ends(&self.store, &self.eager, &left), &self.origin, patience);
        opened.extend(outside.release_others(&self.origin, others));
        for opened in opened {
            if !self.told.contains(&opened.name) {
                opened.report(self.context.inner());
                self.told.push(opened.name);
            }
        }
    }

    /// On a thread of its own: waits for runs of others, and lets its own through meanwhile.
    fn end_later(mut self) {
        let limit = self.outside.as_ref().map_or(Duration::ZERO, Outside::limit);
        let begun = Instant::now();
        // Later its own signals had their time, and what is left needs no more patience.
        while begun.elapsed() < limit && self.others_hold() && !self.is_over() {
            self.release(Patience::Brief);
            retire::pause();
        }
    }
}

impl Drop for Remains {
    fn drop(&mut self) {
        let Some(outside) = &self.outside else { return };
        // Streams of its own are waited for, as are graphs. Another one belongs to the user, but a run at a gate on
        // it can have its signal behind itself.
        let waits = self.is_running_eagerly()
            || self.store.len() > 0
            || !self.eager.sides().is_empty()
            || !outside.left().is_empty();
        if waits || outside.is_short() {
            self.release(if waits { Patience::Forever } else { Patience::Limited });
        }
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        retire::together(|| {
            self.end_all();
            retire::collect();
        });
    }
}

impl Executable {
    fn end_all(&mut self) {
        let mut remains = Remains::of(self);
        let mut waited = Waited::Held;
        if !remains.is_held() {
            if !remains.is_late() {
                return drop(remains);
            }
            let late = retire::late(&remains.hanging());
            self.context.inner().record_drop_error("an executable that goes away", late);
            waited = Waited::Late;
        }
        remains.outside.iter().for_each(|outside| outside.work().settle());
        retire::leave(waited, remains, Remains::end_later);
    }
}
