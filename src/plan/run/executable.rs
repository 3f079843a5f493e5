//! The executable: a plan with memory on a device.

use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::plan::Plan;
use crate::plan::recipe::{Cores, Input, OnMove};
use crate::plan::symbols::values::{Values, named};
use crate::retire;
use crate::stream::Stream;

use super::behind::Behind;
use super::bindings::{Bindings, Bound, Declared, HostData, InputId, OutputId};
use super::choose::{Decider, Form};
use super::delivery::Delivery;
use super::eager::Eager;
use super::host::Ring;
use super::issue::{self, At, Issue, events, lease_streams};
use super::options::{Mode, OnFull, RunOptions};
use super::outcome::Outcome;
use super::outside::Outside;
use super::piece::{Piece, Pieces};
use super::pool::Pool;
use super::segments::Graphs;
use super::sized::{Fixed, Sized, Source};
use super::store::{Captured, Counters, Key, Store};
use super::symbols::resolve;
use super::update::Groups;
use super::without::Failed;
use super::{alias, budget, choose};

/// A plan ready to run on a device: its memory, and captured graphs as they are needed.
///
/// A run takes `&mut self` and returns when the work is submitted; runs follow one another on the device, on whatever
/// streams they are. `Send`, not `Sync`. Dropping it waits for the last replay; what eager runs submitted
/// belongs to their streams. Only a run that is behind one of another executable which waits at an external gate is
/// not waited for: a thread waits, and ends what is left of the executable.
///
/// Nobody can signal an external gate while the executable is dropped, or a graph of it for another one. So a run
/// that still waits there when all signals that were given have arrived, or had [their
/// time](RunOptions::signal_limit), is let through, as are streams at [`wait_signal`](Executable::wait_signal) with
/// more waits than signals; by a thread, where that takes longer than a [drop waits](crate::set_drop_limit). That is an error of [`Context::take_drop_errors`], which names the gate: what follows it
/// ran without what it waits for. Such errors of an executable that a thread ends come when that is done.
///
/// Made by [`Plan::capture`] or [`Plan::executable`].
///
/// # Examples
///
/// ```
/// use racl::op::DataType::F32;
/// use racl::plan::{Cores, Frozen, Input, Plan};
///
/// let plan = Plan::build(|g| {
///     let x = g.input("x", [1, 2], F32, Input::Copied)?;
///     let w = g.input("w", [2, 2], F32, Input::Frozen)?;
///     let y = g.matmul(x, w)?;
///     g.output("y", y)
/// })?;
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let w = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let mut exe = plan.capture(&device, Frozen::new().with("w", &w))?;
/// let (x, y) = (exe.input("x")?, exe.output_id("y")?); // names are resolved once
/// let mut bind = exe.bindings(); // kept and reused
/// for step in 1..=3 {
///     let value = device.upload_tensor(&[step as f32, 0.0], [1, 2])?;
///     exe.run(&stream, bind.set(x, &value))?;
///     assert_eq!(exe.output::<f32>(y)?.to_vec()?, [step as f32, 2.0 * step as f32]);
/// }
/// assert_eq!((exe.graphs(), exe.counters().replays), (1, 3));
/// exe.limit_cores(Some(Cores { cube: 1, vector: 1 })); // runs from now on have a graph of their own
/// exe.run(&stream, &mut bind)?;
/// assert_eq!((exe.graphs(), exe.plan().operators()), (2, 1));
/// exe.clear_graphs();
/// # Ok::<(), racl::Error>(())
/// ```
pub struct Executable {
    pub(super) id: u64,
    // Dropped in this order: graphs before the streams and the memory that they were recorded with.
    pub(super) store: Store,
    pub(super) current: Option<usize>,
    pub(super) eager: Eager,
    pub(super) last: Option<Last>,
    pub(super) outcome: Arc<Outcome>,
    pub(super) sized: Vec<Arc<Sized>>,
    /// The values of the symbols in the latest run, or for the latest capture.
    pub(super) numbers: Vec<u64>,
    pub(super) fixed: Fixed,
    pub(super) outside: Option<Outside>,
    pub(super) pool: Pool,
    pub(super) origin: Stream,
    /// What captures make.
    pub(super) form: Form,
    pub(super) decider: Decider,
    pub(super) cores: Option<Cores>,
    pub(super) cores_checked: bool,
    pub(super) cap: Option<u64>,
    pub(super) tracked: Vec<u32>,
    /// Addresses of tracked inputs that must not move, since the first run.
    pub(super) places: HashMap<u32, usize>,
    /// Inputs whose memory the plan writes.
    pub(super) written: Vec<u32>,
    /// Addresses of inputs of which no written one shares memory with another.
    pub(super) apart: Vec<usize>,
    /// Whether an input may move without another graph.
    pub(super) updatable: bool,
    pub(super) copied: Vec<u32>,
    /// Copied inputs whose memory somebody got.
    pub(super) lent: Vec<(u32, Piece)>,
    pub(super) hosts: Vec<u32>,
    pub(super) frozen: Vec<u32>,
    pub(super) declared: Arc<Declared>,
    pub(super) options: RunOptions,
    pub(super) plan: Plan,
    pub(super) context: Context,
}

/// The latest run: what it ran with.
pub(super) struct Last {
    pub(super) sized: Arc<Sized>,
    /// Captured graph, or none for an eager run.
    pub(super) captured: Option<usize>,
    /// Its host outputs, unless the graph or the eager runs have the memory; none once they were taken.
    pub(super) delivery: Option<Delivery>,
}

impl Executable {
    /// Captures now what no run can change.
    pub(super) fn capture_early(&mut self, at: At) -> Result<()> {
        if self.plan.is_dynamic() {
            return Ok(());
        }
        let sized = self.size(&[], None)?;
        let depends =
            |input: &super::bindings::DeclaredInput| matches!(input.class, Input::Tracked(_) | Input::Updatable);
        if self.options.mode == Mode::Eager || self.declared.inputs.iter().any(depends) {
            return Ok(());
        }
        let captured = self.record(sized, Key::default(), &[], (self.form, at)).map_err(|failed| failed.error)?;
        self.store.count_miss(&captured.key);
        self.current = Some(self.store.add(captured, self.options.limit));
        Ok(())
    }

    /// An input by name, for [`Bindings`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a name that the plan does not have.
    pub fn input(&self, name: &str) -> Result<InputId> {
        let index = named("input", name, self.declared.inputs.iter().map(|input| &input.name))?;
        Ok(InputId { executable: self.id, index: index as u32 })
    }

    /// An output by name.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a name that the plan does not have.
    pub fn output_id(&self, name: &str) -> Result<OutputId> {
        let index = named("output", name, self.plan.0.recipe.outputs.iter().map(|output| &output.name))?;
        Ok(OutputId { executable: self.id, index: index as u32 })
    }

    /// The inputs, with their names, in the order in which the plan was given them.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Static)?;
    ///     g.output("y", g.abs(x)?)
    /// })?;
    /// let exe = plan.capture(&device, Frozen::new())?;
    /// assert_eq!(exe.inputs().collect::<Vec<_>>(), [(exe.input("x")?, "x")]);
    /// assert_eq!(exe.outputs().collect::<Vec<_>>(), [(exe.output_id("y")?, "y")]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn inputs(&self) -> impl Iterator<Item = (InputId, &str)> {
        let id = |index: usize| InputId { executable: self.id, index: index as u32 };
        self.declared.inputs.iter().enumerate().map(move |(index, input)| (id(index), &*input.name))
    }

    /// The outputs, with their names, in the same order. See [`Executable::inputs`].
    pub fn outputs(&self) -> impl Iterator<Item = (OutputId, &str)> {
        let id = |index: usize| OutputId { executable: self.id, index: index as u32 };
        self.plan.0.recipe.outputs.iter().enumerate().map(move |(index, output)| (id(index), &*output.name))
    }

    /// Bindings without anything set. Several can be kept, for several sets of memory.
    #[must_use]
    pub fn bindings(&self) -> Bindings {
        let count = self.declared.inputs.len();
        Bindings {
            executable: self.id,
            addresses: vec![0; count],
            bound: vec![None; count],
            host: vec![HostData::default(); count],
            key: 0,
            symbols: Values::default(),
            first_error: None,
            recipe: Arc::clone(&self.declared),
        }
    }

    /// Limits the cores of graphs captured from now on, as one more part of what they are kept by. Scopes of the plan
    /// with a limit of their own keep it.
    ///
    /// A limit that the device does not have, or that is below what an operator needs at once
    /// ([`Foreign::needs`](crate::plan::Foreign::needs)), is refused by the next run, before anything is recorded.
    #[doc(alias = "aclrtSetStreamResLimit")]
    pub fn limit_cores(&mut self, cores: Option<Cores>) {
        self.cores = cores;
        self.cores_checked = false;
        self.current = None;
    }

    fn check_cores(&mut self) -> Result<()> {
        if let (Some(cores), false) = (self.cores, self.cores_checked) {
            budget::check_limit(cores, &self.plan.0.recipe, &self.context)?;
            self.cores_checked = true;
        }
        Ok(())
    }

    /// How often what happened so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        Counters { decided_by_host: self.decider.decided, ..self.store.counters }
    }

    /// Number of captured graphs that are kept. Those that a plan with choices has together, where the host chooses, count
    /// as one.
    #[must_use]
    pub fn graphs(&self) -> usize {
        self.store.len()
    }

    /// Drops every captured graph, once its last run is over; runs capture anew.
    pub fn clear_graphs(&mut self) {
        retire::together(|| {
            self.settle_graphs(0..self.store.len());
            (self.current, self.last) = (None, None);
            self.store.clear();
        });
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Runs the plan on `stream`: after the work before it there, and before the work after it. Returns when it is
    /// submitted, without waiting for earlier runs: also with host inputs and outputs, unless copies of four runs with
    /// the host are under way. It writes over the outputs of the run before; host outputs can be kept beyond it with
    /// [`RunOptions::host_output_buffers`]. One C call when the plan has only frozen, static, tracked and unmoved
    /// inputs, and the run before was on the same stream.
    ///
    /// Where the host chooses for a plan with [choices](crate::plan::Builder::if_else), it also waits for each condition,
    /// and so for the work before it on `stream`; other runs of its [pool](super::Pool) wait meanwhile.
    ///
    /// # Errors
    ///
    /// The first mistake of `bind`; [`ErrorKind::InvalidArgument`] for an input that is not given, bindings of
    /// another executable, shapes that do not fit, inputs that share memory where that matters, or memory to copy
    /// whose address is not a multiple of 64 bytes;
    /// [`ErrorKind::AddressChanged`] for a tracked input that must not move, or a frozen one with
    /// [`RunOptions::check_frozen`]; [`ErrorKind::GraphLimit`] with [`OnFull::Fail`]; [`ErrorKind::Timeout`] when a
    /// run of the same pool, on another thread, is not submitted in time, or the stream of the run before, which
    /// another thread is dropping, is not done; [`ErrorKind::DeviceLost`] when that stream could not be waited for;
    /// [`ErrorKind::WrongContext`] for a captured run on a stream of another context of the device;
    /// [`ErrorKind::Deadlock`] where it would wait for a run at an external gate that nobody signalled, nor can meanwhile;
    /// [`ErrorKind::Aborted`] where a run before was dropped and a signal for it is at an external gate, until
    /// [`release_gates`](Executable::release_gates) has begun anew; those of capturing and launching. Errors of the work itself come with a later synchronising call; those of work in front of a condition
    /// that the host waits for at once, with the line of the choice. Such a run gives all its signals nevertheless.
    #[doc(alias = "aclmdlRIExecuteAsync")]
    #[track_caller]
    pub fn run(&mut self, stream: &Stream, bind: &mut Bindings) -> Result<()> {
        let at = Location::caller();
        self.run_at(stream, bind, at).map_err(|error| stream.refuse(("plan run", at), error))
    }

    fn run_at(&mut self, stream: &Stream, bind: &mut Bindings, at: At) -> Result<()> {
        self.check_stream(stream)?;
        self.check_bindings(bind)?;
        let current = self.current.filter(|index| self.is_current(*index, bind));
        if self.updatable {
            // One that may lack some is captured anew.
            let mut whole = self.store.all().iter().filter(|captured| !captured.groups.may_lack_updates());
            whole.try_for_each(|captured| captured.groups.check())?;
        }
        // A graph was checked for its addresses when it was found; only updatable inputs may have others now.
        if current.is_some() && self.updatable {
            self.check_aliases(bind)?;
        }
        alias::check_lent(&self.lent, bind)?;
        if self.options.check_frozen {
            self.check_frozen(bind)?;
        }
        let found = match current {
            Some(index) => Some(index),
            None => self.find(bind, at, Some(stream))?,
        };
        if found.is_some() && !Arc::ptr_eq(stream.0.context(), self.context.inner()) {
            return Err(of_another_context(stream));
        }
        self.check_ahead(found, bind)?;
        // Not before: finding memory for further sizes asks the pool.
        let pool = self.pool.clone();
        let token = pool.enter(stream, at)?;
        // If the run fails or panics, the outputs are neither its own nor those of the one before.
        self.last = None;
        self.note_failed();
        self.outside.as_mut().map_or(Ok(()), |outside| outside.check_whole(stream, &self.origin))?;
        self.eager.take_told(stream, &self.outcome);
        Outcome::begin(&mut self.outcome, stream);
        let done = match found {
            Some(index) => self.replay_whole(index, stream, bind, at),
            None => self.run_eagerly(stream, bind, at),
        };
        Outcome::end(&mut self.outcome);
        self.outcome.was_told(&done);
        drop(token);
        self.note_run(done)
    }

    /// That the bindings are of this executable, and that nothing was wrong with them.
    pub(super) fn check_bindings(&self, bind: &mut Bindings) -> Result<()> {
        if bind.executable != self.id {
            return Err(Error::invalid("bindings of another executable"));
        }
        bind.check()
    }

    /// That nothing of a run would go where it cannot.
    fn check_stream(&self, stream: &Stream) -> Result<()> {
        stream.0.context().check_memory(self.context.inner(), || "an executable".to_owned())?;
        stream.0.check_thread()?;
        stream.check_eager("run the plan")
    }

    /// That no input which is written shares memory with another; unless that was looked at for the same memory.
    fn check_aliases(&mut self, bind: &Bindings) -> Result<()> {
        // The sizes at an address change with symbols only.
        if !self.written.is_empty() && (self.plan.is_dynamic() || self.apart != bind.addresses) {
            alias::check(&self.written, &self.fixed.inputs, bind)?;
            self.apart.clone_from(&bind.addresses);
        }
        Ok(())
    }

    /// The same of the inputs that are given once.
    pub(super) fn check_fixed_aliases(&self) -> Result<()> {
        alias::check(&self.written, &self.fixed.inputs, &self.bindings())
    }

    /// Whether a graph is the one for these bindings, told without allocating.
    fn is_current(&self, index: usize, bind: &Bindings) -> bool {
        let Some(captured) = self.store.peek(index) else { return false };
        let key = &captured.key;
        !self.options.force_recapture
            && !self.plan.is_dynamic()
            && key.user == bind.key
            && key.cores == self.cores
            && self.same_addresses(&key.tracked, bind)
            && !captured.groups.may_lack_updates()
    }

    fn same_addresses(&self, tracked: &[usize], bind: &Bindings) -> bool {
        if tracked.len() == bind.addresses.len() {
            return *tracked == *bind.addresses;
        }
        self.tracked.iter().zip(tracked).all(|(index, address)| bind.addresses[*index as usize] == *address)
    }

    fn check_frozen(&self, bind: &Bindings) -> Result<()> {
        for index in &self.frozen {
            let now = bind.addresses[*index as usize];
            let was = self.fixed.inputs[*index as usize].as_ref().map_or(0, |piece| piece.address().addr());
            if now != 0 && now != was {
                let name = &self.declared.inputs[*index as usize].name;
                let text = format!("frozen input {index} ({name:?}): its address was {was:#x} and is {now:#x}");
                return Err(Error::new(ErrorKind::AddressChanged, text));
            }
        }
        Ok(())
    }

    /// The graph for these bindings, captured if need be; none when the run is eager.
    pub(super) fn find(&mut self, bind: &Bindings, at: At, stream: Option<&Stream>) -> Result<Option<usize>> {
        let symbols = resolve(&self.plan.0, bind)?;
        self.check_aliases(bind)?;
        self.check_moves(&bind.addresses)?;
        let sizes = self.sizes(symbols);
        let sized = self.size(&sizes, stream)?;
        self.check_cores()?;
        if self.options.mode == Mode::Eager {
            return Ok(None);
        }
        let tracked = self.tracked.iter().map(|index| bind.addresses[*index as usize]).collect();
        let key = Key { symbols: sizes, tracked, cores: self.cores, user: bind.key };
        let known = self.store.find(|other| *other == key);
        let lacks = known.and_then(|index| self.store.peek(index)).is_some_and(|one| one.groups.may_lack_updates());
        if let (Some(index), false) = (known, self.options.force_recapture || lacks) {
            self.current = Some(index);
            return Ok(known);
        }
        if known.is_none() && self.store.len() >= self.options.limit {
            match self.options.on_full {
                OnFull::EvictLeastRecent => {}
                OnFull::Eager => {
                    self.store.counters.eager_at_limit += 1;
                    return Ok(None);
                }
                OnFull::Fail => {
                    let text = format!("{} captured graphs are kept, which is the limit", self.store.len());
                    return Err(Error::new(ErrorKind::GraphLimit, text));
                }
            }
        }
        let captured = self.record_somehow(&sized, &key, &bind.bound, at)?;
        // Others may have gone for it.
        let known = self.store.find(|other| *other == key);
        // Its graph may go, and removing the oldest moves the others.
        if known.is_some() || self.store.next_to_go(self.options.limit).is_some() {
            self.last = None;
        }
        let index = retire::together(|| self.keep_graph(known, captured));
        self.current = Some(index);
        Ok(self.current)
    }

    /// That no input moved which must not; the first run says where they are.
    fn check_moves(&mut self, addresses: &[usize]) -> Result<()> {
        for index in &self.tracked {
            let input = &self.declared.inputs[*index as usize];
            let now = addresses[*index as usize];
            if input.class != Input::Tracked(OnMove::Fail) || now == 0 {
                continue;
            }
            let was = *self.places.entry(*index).or_insert(now);
            if was != now {
                let text = format!("input {index} ({:?}): its address was {was:#x} and is {now:#x}", input.name);
                return Err(Error::new(ErrorKind::AddressChanged, text));
            }
        }
        Ok(())
    }

    /// Notes the values of the symbols for this run; gives those that are sizes.
    pub(super) fn sizes(&mut self, mut symbols: Vec<usize>) -> Vec<usize> {
        self.numbers.clear();
        self.numbers.extend(symbols.iter().map(|value| *value as u64));
        for (symbol, value) in self.plan.0.recipe.symbols.iter().zip(&mut symbols) {
            if symbol.each_run {
                *value = symbol.greatest as usize;
            }
        }
        symbols
    }

    /// Recipe and memory for values of the symbols, maybe for a run on a stream.
    pub(super) fn size(&mut self, symbols: &[usize], stream: Option<&Stream>) -> Result<Arc<Sized>> {
        if let Some(known) = self.sized.iter().find(|known| known.symbols == symbols) {
            return Ok(Arc::clone(known));
        }
        let from = Source { pool: &self.pool, context: &self.context, stream };
        let sized = Arc::new(Sized::new(&self.plan, symbols, &self.fixed, from)?);
        // Sizes that no graph uses any more are let go, but for the latest.
        self.sized.retain(|known| Arc::strong_count(known) > 1);
        self.sized.push(Arc::clone(&sized));
        Ok(sized)
    }

    /// Lets the graph go that was used longest ago.
    pub(super) fn evict(&mut self) {
        self.last = None;
        self.current = None;
        self.settle_graphs(self.store.next_to_go(0));
        self.store.evict();
        // It may have gone to a thread that waits for its run.
        retire::collect_for_room();
    }

    /// Captures what a form of the work has.
    pub(super) fn record(
        &self,
        sized: Arc<Sized>,
        key: Key,
        bound: &[Option<Bound>],
        (form, at): (Form, At),
    ) -> Result<Captured, Failed> {
        budget::check(&self.plan.0, &self.context, form, true)?;
        let plan = &self.plan.0;
        let recipe = sized.recipe(plan);
        let mut pieces = sized.pieces.clone();
        self.bind_pieces(&mut pieces, bound)?;
        let streams = lease_streams(recipe, &self.context, self.origin.clone())?;
        let events = events(recipe, self.context.inner())?;
        let most = self.output_buffers();
        let behind = |most| Behind::new(recipe, (&sized.places, &pieces), &self.context, most);
        let behind = most.map(behind).transpose()?;
        let mut hosts = sized.hosts(plan, &self.context, most.is_none())?;
        let counters = choose::counters(recipe, self.context.inner(), form)?;
        let mut groups = Groups::of(recipe, &self.context, (&pieces, &self.written), self.options.address_updates)?;
        let end = self.end()?.map(Arc::new);
        let mut issue = Issue {
            source: issue::Work { plan, recipe, numbers: &self.numbers, places: &sized.places, pieces: &pieces },
            streams: &streams,
            events: &events,
            gates: self.outside.as_ref().map(|outside| &outside.gates),
            hosts: &mut hosts,
            behind: behind.as_ref(),
            groups: (!groups.is_empty()).then_some(&mut groups),
            decider: None,
            counters: &counters,
            recorded: None,
            cap: self.cap,
            whole: self.cores,
            next: 0,
            at,
        };
        let graphs = Graphs::record(&mut issue, &self.origin, &self.pool.graphs(&self.context), form);
        let in_arm = |error: &Error| form == Form::Graph && issue.is_arm_refused(error);
        let graphs = graphs.map_err(|error| Failed { in_arm: in_arm(&error), error })?;
        let uploads = std::mem::take(&mut hosts.inputs).into_iter().map(Ring::of).collect();
        let told = self.numbers.clone();
        Ok(Captured { graphs, key, hosts, uploads, behind, groups, end, pieces, sized, told, used: 0 })
    }

    /// How many runs bring host outputs to memory of their own; none when one memory is for all.
    pub(super) fn output_buffers(&self) -> Option<usize> {
        let most = self.options.buffers;
        (most > 1 && self.plan.0.recipe.outputs.iter().any(|output| output.host)).then_some(most)
    }

    /// Puts the memory of tracked and updatable inputs in its place.
    pub(super) fn bind_pieces(&self, pieces: &mut Pieces, bound: &[Option<Bound>]) -> Result<()> {
        let recipe = &self.plan.0.recipe;
        for (index, input) in recipe.inputs.iter().enumerate() {
            if !matches!(input.class, Input::Tracked(_) | Input::Updatable) {
                continue;
            }
            let Some(Some(bound)) = bound.get(index) else { return Err(missing(&input.name)) };
            pieces[recipe.storage_of(input.value) as usize] = Some(bound.piece());
        }
        Ok(())
    }
}

/// What the library would say of a graph after the inputs had been copied.
#[cold]
fn of_another_context(stream: &Stream) -> Error {
    let name = stream.name();
    let text =
        format!("{name} belongs to another context than the executable; only eager runs go to streams of others");
    Error::new(ErrorKind::WrongContext, text)
}

/// An input that a run needs and was not bound.
pub(super) fn missing(name: &str) -> Error {
    Error::invalid(format!("input {name:?} is not given; Bindings::set does"))
}

pub(super) fn not_given(name: &str) -> Error {
    Error::invalid(format!("input or output {name:?} has no memory: it was not given, or its graph is gone"))
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executable")
            .field("plan", &self.plan)
            .field("graphs", &self.store.len())
            .field("counters", &self.counters())
            .finish_non_exhaustive()
    }
}
