//! Streams and events inside a plan.

use std::panic::Location;
use std::sync::Arc;

use crate::error::Result;
use crate::plan::finding::FindingKind;
use crate::plan::options::Single;
use crate::plan::recipe::{Access, Cores, EventInfo, Mode, NodeKind, ORIGIN};

use super::{
    At, Builder, EventState, Frame, NONE, ORIGIN_TAG, Pending, Reserve, Value, is_alive, keep_alive, push_slowly,
};

/// When the work of a scope may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Fork {
    /// After what was issued on the surrounding stream so far.
    #[default]
    Here,
    /// With the plan itself, as TorchAir has it: other dependencies are the caller's, by events.
    AtStart,
}

/// Options of [`Builder::scope_with`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scope {
    priority: Option<u32>,
    fork: Fork,
    cores: Option<Cores>,
}

impl Scope {
    /// The defaults: priority 0, forked here, no core limit.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Priority of the stream, 0 (highest) to 7, from the tag's first scope on: a hint that is passed on.
    #[must_use]
    pub fn priority(self, priority: u32) -> Self {
        Self { priority: Some(priority), ..self }
    }

    /// When the work may start.
    #[must_use]
    pub fn fork(self, fork: Fork) -> Self {
        Self { fork, ..self }
    }

    /// Limits the operators of the scope to so many cores; 0 leaves a number as it is. Checked against the device when
    /// an executable is made.
    #[must_use]
    #[doc(alias = "aclrtSetStreamResLimit")]
    #[doc(alias = "limit_core_num")]
    pub fn cores(self, cores: Cores) -> Self {
        Self { cores: Some(cores), ..self }
    }
}

/// An event of a plan with a tag of its own, from [`Builder::event`]. Dropping it frees the tag for another event.
#[derive(Debug)]
pub struct TaggedEvent {
    plan: u32,
    tag: String,
    _alive: Arc<()>,
}

/// A gate between a plan and work beside it, from [`Builder::external`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct External {
    pub(crate) plan: u32,
    pub(crate) index: u32,
}

impl Builder {
    /// Issues the work of `work` on the stream named `tag`, after what was issued on the surrounding stream so far.
    ///
    /// The same tag is the same stream; scopes nest. Work after the scope does not wait for it: record an event in the
    /// scope and wait for it, or [`join`](Self::join) the tag. Every tag is joined at the end of the plan.
    ///
    /// # Errors
    ///
    /// The error of `work`. [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for an empty tag, or with
    /// [`Options::single_stream`](crate::plan::Options::single_stream).
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     let side = g.scope("side", |g| g.muls(x, 2.0))?;
    ///     let main = g.adds(x, 1.0)?; // meanwhile
    ///     g.join("side")?;
    ///     let sum = g.add(main, side)?;
    ///     g.output("sum", sum)
    /// })?;
    /// assert_eq!(plan.streams(), 2);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "npu_stream_switch")]
    #[track_caller]
    pub fn scope<T>(&mut self, tag: &str, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.scope_with(tag, Scope::default(), work)
    }

    /// As [`Builder::scope`], with options.
    ///
    /// # Errors
    ///
    /// As [`Builder::scope`]; also for a priority above 7, or another one than the tag has.
    #[track_caller]
    pub fn scope_with<T>(
        &mut self,
        tag: &str,
        options: Scope,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let at = Location::caller();
        let index = self.scope_tag(tag, options, at)?;
        let cores = match options.cores {
            Some(cores) => self.core_limit(cores, at)?,
            None => self.scopes.last().map_or(0, |frame| frame.cores),
        };
        let (parent, place) = (self.tag(), self.place(at));
        let pending = (index != parent).then_some(Pending { parent, fork: options.fork, place });
        self.scopes.push(Frame { tag: index, cores, pending });
        let result = work(self);
        self.scopes.pop();
        result
    }

    fn scope_tag(&mut self, tag: &str, options: Scope, at: At) -> Result<u16> {
        if tag.is_empty() {
            return self.wrong(FindingKind::Name, at, "a scope without a tag");
        }
        if options.priority.is_some_and(|priority| priority > 7) {
            return self.wrong(FindingKind::Name, at, format_args!("scope {tag:?}: a priority above 7"));
        }
        match self.options.single {
            Single::No => {}
            Single::Collapse => return Ok(ORIGIN),
            Single::Strict => {
                let text = "with the option single_stream; ask for collapse_streams to put every tag on one stream";
                return self.wrong(FindingKind::Options, at, format_args!("scope {tag:?} {text}"));
            }
        }
        let Some(&known) = self.tags.get(tag) else {
            if self.recipe.tags.len() >= usize::from(u16::MAX) {
                return self.wrong(FindingKind::Streams, at, "more tags than can be numbered");
            }
            return Ok(self.add_tag(tag, options.priority.unwrap_or(0)));
        };
        let has = self.recipe.tags[usize::from(known)].priority;
        match options.priority {
            Some(priority) if priority != has && known != ORIGIN => {
                let text = format_args!("scope {tag:?}: priority {priority}, and its stream has {has}");
                self.wrong(FindingKind::Name, at, text)
            }
            _ => Ok(known),
        }
    }

    /// The number of a core limit, counted from 1.
    fn core_limit(&mut self, cores: Cores, at: At) -> Result<u16> {
        let all = &mut self.recipe.cores;
        let index = all.iter().position(|known| *known == cores).unwrap_or(all.len());
        if index >= usize::from(u16::MAX) {
            return self.wrong(FindingKind::CoreLimit, at, "more core limits than can be numbered");
        }
        if index == all.len() {
            all.push(cores);
        }
        Ok(index as u16 + 1)
    }

    /// Makes the streams of the open scopes wait for what they wait for.
    pub(super) fn enter_scopes(&mut self, at: At) -> Result<()> {
        for i in 1..self.scopes.len() {
            let (tag, pending) = (self.scopes[i].tag, self.scopes[i].pending.take());
            let Some(Pending { parent, fork, place }) = pending else { continue };
            let chain = &self.chains[usize::from(tag)];
            match fork {
                Fork::AtStart if chain.active => {}
                Fork::AtStart if !chain.was_joined => {
                    let event = self.start_event();
                    self.wait_on(event, tag, place, at)?;
                }
                Fork::AtStart => self.fork(ORIGIN, tag, place, at)?,
                Fork::Here => self.fork(parent, tag, place, at)?,
            }
        }
        Ok(())
    }

    pub(super) fn start_event(&mut self) -> u32 {
        match self.start {
            Some(event) => event,
            None => {
                let event = self.new_event(None);
                self.start = Some(event);
                event
            }
        }
    }

    fn new_event(&mut self, name: Option<&str>) -> u32 {
        push_slowly(&mut self.recipe.events, EventInfo { name: name.map(str::to_owned) });
        self.recipe.events.len() as u32 - 1
    }

    /// `to` waits for everything on `from`.
    pub(super) fn fork(&mut self, from: u16, to: u16, place: u32, at: At) -> Result<()> {
        if from == to {
            return Ok(());
        }
        if !self.chains[usize::from(from)].active {
            self.fork(ORIGIN, from, place, at)?;
        }
        let event = self.record_end(from, place, at)?;
        self.wait_on(event, to, place, at)
    }

    /// An event behind all work of a stream.
    fn record_end(&mut self, tag: u16, place: u32, at: At) -> Result<u32> {
        let chain = &self.chains[usize::from(tag)];
        if let Some((nodes, event)) = chain.last_record
            && nodes == chain.nodes
        {
            return Ok(event);
        }
        if tag == ORIGIN && chain.nodes == 0 {
            return Ok(self.start_event());
        }
        let event = self.new_event(None);
        self.push(NodeKind::Record(event), tag, &[], place, at)?;
        let chain = &mut self.chains[usize::from(tag)];
        chain.last_record = Some((chain.nodes, event));
        Ok(event)
    }

    /// `tag` waits for the event, unless it does already.
    pub(super) fn wait_on(&mut self, event: u32, tag: u16, place: u32, at: At) -> Result<()> {
        let chain = &mut self.chains[usize::from(tag)];
        let again = !self.waited.insert(tag, event);
        if again && chain.active {
            return Ok(());
        }
        chain.active = true;
        self.push(NodeKind::Wait(event), tag, &[], place, at).map(drop)
    }

    /// Makes the surrounding stream wait for all work of `tag` so far, which ends there: work that is given to the tag
    /// later is forked anew.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a tag that has no work to join, and for the tag of
    /// the surrounding scope.
    #[track_caller]
    pub fn join(&mut self, tag: &str) -> Result<()> {
        let at = Location::caller();
        if self.options.single == Single::Collapse {
            return Ok(());
        }
        let place = self.place(at);
        self.enter_scopes(at)?;
        let current = self.tag();
        match self.tags.get(tag).copied() {
            Some(index) if index == current => {
                self.wrong(FindingKind::Name, at, format_args!("join of {tag:?} inside its own scope"))
            }
            Some(index) if self.chains[usize::from(index)].active && index != ORIGIN => {
                self.join_into(index, current, place, at)
            }
            _ => self.wrong(FindingKind::Name, at, format_args!("join of {tag:?}, which has no work")),
        }
    }

    pub(super) fn join_into(&mut self, tag: u16, into: u16, place: u32, at: At) -> Result<()> {
        let event = self.record_end(tag, place, at)?;
        self.wait_on(event, into, place, at)?;
        let chain = &mut self.chains[usize::from(tag)];
        (chain.active, chain.was_joined) = (false, true);
        self.joins.push((tag, chain.last));
        Ok(())
    }

    // ---- tagged events ----

    /// A new event with a tag.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) while another event of the plan has the tag, and for an
    /// empty one.
    #[doc(alias = "npu_create_tagged_event")]
    #[track_caller]
    pub fn event(&mut self, tag: &str) -> Result<TaggedEvent> {
        let at = Location::caller();
        if tag.is_empty() {
            return self.wrong(FindingKind::Name, at, "an event without a tag");
        }
        if self.events.get(tag).is_some_and(|known| is_alive(&known.alive)) {
            return self.wrong(FindingKind::Duplicate, at, format_args!("event tag {tag:?} is in use already"));
        }
        if let Some(former) = self.events.remove(tag) {
            self.lint_unwaited(tag, &former);
        }
        let alive = keep_alive();
        let state = EventState { alive: Arc::downgrade(&alive), latest: None, waited: false };
        self.events.insert(tag.to_owned(), state);
        Ok(TaggedEvent { plan: self.plan, tag: tag.to_owned(), _alive: alive })
    }

    /// Marks the point that the surrounding stream has reached.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for an event of another plan, and for one that was
    /// recorded already: [`Builder::rerecord`] says so.
    #[doc(alias = "npu_tagged_event_record")]
    #[track_caller]
    pub fn record(&mut self, event: &TaggedEvent) -> Result<()> {
        let at = Location::caller();
        self.check_event(event, at)?;
        if self.events[&event.tag].latest.is_some() {
            let text = "is recorded already; rerecord moves it, for the waits that follow";
            return self.wrong(FindingKind::RecordedTwice, at, format_args!("event {:?} {text}", event.tag));
        }
        self.record_at(event, at)
    }

    /// Records an event again: later waits are for this point, earlier ones for the point before.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for an event of another plan.
    #[track_caller]
    pub fn rerecord(&mut self, event: &TaggedEvent) -> Result<()> {
        let at = Location::caller();
        self.check_event(event, at)?;
        if let Some(former) = self.events.remove(&event.tag) {
            self.lint_unwaited(&event.tag, &former);
            self.events.insert(event.tag.clone(), former);
        }
        self.record_at(event, at)
    }

    fn record_at(&mut self, event: &TaggedEvent, at: At) -> Result<()> {
        let index = self.new_event(Some(&event.tag));
        let node = self.emit(NodeKind::Record(index), &[], at)?;
        let tag = self.tag();
        if let Some(state) = self.events.get_mut(&event.tag) {
            state.latest = Some((index, tag, node));
            state.waited = false;
        }
        Ok(())
    }

    /// Makes the surrounding stream wait for the latest record of the event. On the stream that recorded it this has no
    /// effect.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for an event of another plan, and for one that was not
    /// recorded yet.
    #[doc(alias = "npu_tagged_event_wait")]
    #[track_caller]
    pub fn wait(&mut self, event: &TaggedEvent) -> Result<()> {
        let at = Location::caller();
        self.wait_event(event, at)
    }

    /// The latest record of an event, and its tag.
    pub(super) fn recorded(&self, event: &TaggedEvent, at: At) -> Result<(u32, u16)> {
        self.check_event(event, at)?;
        let Some((index, from, _)) = self.events[&event.tag].latest else {
            let text = "is waited for before it is recorded, so that the wait would order nothing";
            return self.wrong(FindingKind::WaitBeforeRecord, at, format_args!("event {:?} {text}", event.tag));
        };
        Ok((index, from))
    }

    pub(super) fn wait_event(&mut self, event: &TaggedEvent, at: At) -> Result<()> {
        let (index, from) = self.recorded(event, at)?;
        if let Some(state) = self.events.get_mut(&event.tag) {
            state.waited = true;
        }
        let tag = self.tag();
        if from == tag {
            self.wishes.fences.push(self.recipe.nodes.len() as u32);
            return Ok(());
        }
        self.enter_scopes(at)?;
        let place = self.place(at);
        self.wait_on(index, tag, place, at)
    }

    fn check_event(&self, event: &TaggedEvent, at: At) -> Result<()> {
        if event.plan == self.plan && self.events.contains_key(&event.tag) {
            return Ok(());
        }
        self.wrong(FindingKind::Foreign, at, format_args!("event {:?} belongs to another plan", event.tag))
    }

    pub(super) fn lint_unwaited(&mut self, tag: &str, state: &EventState) {
        if let (false, Some((.., node))) = (state.waited, state.latest) {
            let tag = tag.to_owned();
            self.lint(FindingKind::NeverWaited, &[node], move |recipe, nodes| {
                format!("event {tag:?} is recorded and nothing waits for it: {}", recipe.describe(nodes[0]))
            });
        }
    }

    // ---- lifetimes and data dependencies ----

    /// Keeps the memory of `value` reserved until `tag` is joined: for work on that stream which the plan does not know
    /// of. What the plan knows of is taken into account without this.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a value of another plan, and for a tag that no scope
    /// has used.
    #[doc(alias = "npu_record_tagged_stream")]
    #[track_caller]
    pub fn record_stream(&mut self, value: Value, tag: &str) -> Result<()> {
        let at = Location::caller();
        self.check(value, "record_stream", at)?;
        if self.options.single == Single::Collapse {
            return Ok(());
        }
        let Some(&index) = self.tags.get(tag) else {
            let text =
                format_args!("record_stream on {tag:?}, which no scope has used; the origin is {ORIGIN_TAG:?}");
            return self.wrong(FindingKind::Name, at, text);
        };
        let storage = self.recipe.storage_of(value.index);
        self.reserve.push(Reserve { storage, tag: index, since: self.recipe.nodes.len() as u32 });
        Ok(())
    }

    /// A later version of `value`, over the same memory: work that is given it waits for what produced `dependency`.
    /// Work that is given the earlier version does not wait; using both from here on is a lint.
    ///
    /// There is one record for each producer, however many waits, and none for work on its own stream.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a value of another plan.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     let first = g.scope("1", |g| g.muls(x, 2.0))?;
    ///     let x = g.wait_value(x, first)?; // what uses x now starts after `first` is there
    ///     let sum = g.add(x, first)?;
    ///     g.output("sum", sum)
    /// })?;
    /// assert!(plan.lints().is_empty());
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "npu_wait_tensor")]
    #[track_caller]
    pub fn wait_value(&mut self, value: Value, dependency: Value) -> Result<Value> {
        let at = Location::caller();
        self.check(value, "wait_value", at)?;
        self.check(dependency, "wait_value", at)?;
        let place = self.place(at);
        let later = self.add_value(self.recipe.values[value.index as usize].clone(), self.producers.own(value.index));
        let waits = (dependency.index, &*self.producers.of(&self.recipe, dependency.index));
        let nodes = &self.recipe.nodes;
        self.versions.add(value.index, later.index, waits, place, |node| nodes[node as usize].tag);
        Ok(later)
    }

    /// Makes the surrounding stream wait for what produced the values.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) without a value, and for one of another plan.
    #[track_caller]
    pub fn wait_all(&mut self, values: &[Value]) -> Result<()> {
        let at = Location::caller();
        if values.is_empty() {
            return self.wrong(FindingKind::Operand, at, "wait_all without a value to wait for");
        }
        for value in values {
            self.check(*value, "wait_all", at)?;
        }
        self.enter_scopes(at)?;
        let (tag, place) = (self.tag(), self.place(at));
        self.wishes.fences.push(self.recipe.nodes.len() as u32);
        for value in values {
            self.wait_for_producers(*value, tag, place, at)?;
        }
        Ok(())
    }

    /// Makes a stream wait for whatever wrote the value.
    pub(super) fn wait_for_producers(&mut self, value: Value, tag: u16, place: u32, at: At) -> Result<()> {
        let producers = self.producers.of(&self.recipe, value.index);
        producers.into_iter().try_for_each(|producer| self.wait_for_producer(producer, tag, place, at))
    }

    pub(super) fn wait_for_producer(&mut self, producer: u32, tag: u16, place: u32, at: At) -> Result<()> {
        if producer == NONE || self.recipe.nodes[producer as usize].tag == tag {
            return Ok(());
        }
        let event = match self.recorded_after.get(&producer) {
            Some(event) => *event,
            None => {
                let event = self.new_event(None);
                self.recorded_after.insert(producer, event);
                event
            }
        };
        self.wait_on(event, tag, place, at)
    }

    pub(super) fn wait_for_versions(&mut self, value: u32, tag: u16, place: u32, at: At) -> Result<()> {
        let next = self.recipe.nodes.len() as u32;
        for i in 0..self.versions.after(value).len() {
            let producer = self.versions.after(value)[i];
            self.wishes.after.push((next, producer));
            self.wait_for_producer(producer, tag, place, at)?;
        }
        Ok(())
    }

    pub(super) fn note_versions(&mut self, accesses: &[Access], node: u32) {
        for access in accesses.iter().filter(|access| access.mode != Mode::Touch) {
            self.versions.note(access.value, node);
        }
    }

    // ---- gates to the outside ----

    /// A gate between this plan and work beside it, by name. The executable gives and takes its signals.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a name that is empty or taken.
    #[track_caller]
    pub fn external(&mut self, name: &str) -> Result<External> {
        let at = Location::caller();
        if name.is_empty() || self.recipe.externals.iter().any(|known| known == name) {
            let kind = if name.is_empty() { FindingKind::Name } else { FindingKind::Duplicate };
            return self.wrong(kind, at, format_args!("external gate {name:?}: the name is empty or taken"));
        }
        self.recipe.externals.push(name.to_owned());
        Ok(External { plan: self.plan, index: self.recipe.externals.len() as u32 - 1 })
    }

    /// Makes the surrounding stream wait, in each run, for one signal of
    /// [`Executable::signal`](crate::plan::Executable::signal), or of the plan itself, and takes it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a gate of another plan.
    #[doc(alias = "aclrtValueWait")]
    #[track_caller]
    pub fn wait_external(&mut self, gate: External) -> Result<()> {
        self.external_node(gate, NodeKind::ExternalWait(gate.index), Location::caller())
    }

    /// Gives one signal through the gate when the surrounding stream gets there, in each run.
    ///
    /// # Errors
    ///
    /// As [`Builder::wait_external`].
    #[doc(alias = "aclrtValueWrite")]
    #[track_caller]
    pub fn record_external(&mut self, gate: External) -> Result<()> {
        self.external_node(gate, NodeKind::ExternalRecord(gate.index), Location::caller())
    }

    fn external_node(&mut self, gate: External, kind: NodeKind, at: At) -> Result<()> {
        if gate.plan != self.plan {
            return self.wrong(FindingKind::Foreign, at, "an external gate of another plan");
        }
        self.emit(kind, &[], at).map(drop)
    }
}
