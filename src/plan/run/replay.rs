//! One run: the replay of a captured graph, or operator by operator.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use crate::by_plan::ByPlan;
use crate::error::{Error, ErrorKind, Result, ResultExt as _};
use crate::event::Event;
use crate::memory::Touch;
use crate::plan::checked::Inner;
use crate::plan::recipe::{Input, Node, NodeKind, Recipe};
use crate::stream::{CoreLimit, Stream, Task};

use super::bindings::{Bindings, Declared};
use super::choose::{Decider, Form};
use super::delivery::Ring;
use super::executable::{Executable, Last, missing, not_given};
use super::issue::{At, Issue, compute, limit_of, writes_nothing};
use super::outcome::Outcome;
use super::outside::Outside;
use super::piece::Pieces;
use super::readdress::{Memory, Way};
use super::segments::Deciding;
use super::store::Captured;
use super::symbols::resolve;
use super::update::Updates;
use super::{budget, host, issue};

impl Executable {
    pub(super) fn replay(&mut self, index: usize, stream: &Stream, bind: &mut Bindings, at: At) -> Result<()> {
        let (run, captured) = (self.next_run(), self.store.get(index));
        // Before anything is submitted: it may wait, and fail.
        let mut delivery = captured.behind.as_ref().map(|behind| behind.ring.next(&self.context, run)).transpose()?;
        if let Some(delivery) = &mut delivery {
            delivery.rescued_by(captured.groups.rescue());
            self.outside.iter().for_each(|outside| delivery.may_be_forced(outside.forced()));
            captured.groups.stream().iter().for_each(|update| Outcome::add(&mut self.outcome, update));
        }
        let sized = Arc::clone(&captured.sized);
        let recipe = &self.plan.0.recipe;
        for input in &self.copied {
            copy_in(recipe, &self.declared, *input, &captured.pieces, bind, stream, at)?;
        }
        for input in &self.hosts {
            let value = recipe.inputs[*input as usize].value;
            let piece = captured.pieces[recipe.storage_of(value) as usize].as_ref();
            let piece = piece.ok_or_else(|| not_given(&self.declared.inputs[*input as usize].name))?;
            captured.uploads[*input as usize].upload((*input, run), bind, piece, stream)?;
        }
        let outside = self.outside.as_ref();
        if captured.groups.is_empty() {
            mark_before(outside, captured.end.is_some(), stream)?;
            captured.graphs.launch_first(stream, at).map_err(|error| budget::name_choice(error, recipe))?;
            let noted = note(outside, stream, captured.end.as_mut());
            let Captured { graphs, sized, pieces, .. } = captured;
            let gates = outside.map(|outside| &outside.gates);
            let (recipe, places, decider) = (sized.recipe(&self.plan.0), &sized.places, &mut self.decider);
            let chosen = graphs.launch_rest(&mut Deciding { recipe, places, pieces, gates, decider, stream, at });
            noted.and(chosen)?;
        } else {
            let run = Run { plan: &self.plan.0, numbers: &self.numbers, outside };
            let updates = replay_with_updates(run, captured, (&mut self.decider, stream), bind, at)?;
            self.store.counters.updates += updates.all;
            self.store.counters.updates_by_address += updates.by_address;
        }
        let brings = self.store.peek(index).and_then(|captured| Some((captured, captured.behind.as_ref()?)));
        if let (Some(delivery), Some((captured, behind))) = (&mut delivery, brings) {
            captured.groups.stream().map_or(Ok(()), |update| delivery.mark(update))?;
            behind.bring(recipe, delivery, stream)?;
        }
        self.store.counters.replays += 1;
        self.last = Some(Last { sized, captured: Some(index), delivery });
        Ok(())
    }

    pub(super) fn run_eagerly(&mut self, stream: &Stream, bind: &mut Bindings, at: At) -> Result<()> {
        let symbols = resolve(&self.plan.0, bind)?;
        let symbols = self.sizes(symbols);
        let sized = self.size(&symbols, Some(stream))?;
        let (most, run) = (self.output_buffers(), self.next_run());
        let plan = &self.plan.0;
        let recipe = sized.recipe(plan);
        Form::Eager.check_waits(recipe)?;
        let mut pieces = sized.pieces.clone();
        self.bind_pieces(&mut pieces, &bind.bound)?;
        if self.eager.needs_hosts(&symbols)? {
            self.eager.add_hosts(&symbols, sized.hosts(plan, &self.context, most.is_none())?);
        }
        let ring =
            |most| self.eager.ring(&symbols, || Ring::new(recipe, &sized.places, most)).next(&self.context, run);
        let mut delivery = most.map(ring).transpose()?;
        if !self.eager.is_prepared() {
            budget::check(plan, &self.context, Form::Eager, true)?;
        }
        self.eager.prepare(recipe, &self.context, stream)?;
        self.eager.sides().iter().for_each(|side| Outcome::add(&mut self.outcome, side));
        if self.eager.end.is_none() {
            self.eager.end = self.end()?.map(Arc::new);
        }
        for input in &self.copied {
            copy_in(&plan.recipe, &self.declared, *input, &pieces, bind, stream, at)?;
        }
        stream.0.order(&touches(recipe, &self.written, &pieces))?;
        mark_before(self.outside.as_ref(), self.eager.end.is_some(), stream)?;
        let (streams, events, hosts) = self.eager.parts(&symbols, run);
        let hosts = hosts.ok_or_else(|| Error::new(ErrorKind::Internal, "an eager run without host memory"))?;
        host::take_back(hosts, (&sized, plan), &self.context, most.is_none())?;
        for input in &self.hosts {
            host::fill(&mut hosts.inputs[*input as usize], *input, bind)?;
        }
        if let Some(delivery) = &mut delivery {
            std::mem::swap(&mut hosts.outputs, delivery.sides());
            self.outside.iter().for_each(|outside| delivery.may_be_forced(outside.forced()));
        }
        // From here on the plan says what waits for what.
        let by_plan = ByPlan::begin();
        let mut issue = Issue {
            source: issue::Work { plan, recipe, numbers: &self.numbers, places: &sized.places, pieces: &pieces },
            streams,
            events,
            gates: self.outside.as_ref().map(|outside| &outside.gates),
            hosts,
            behind: None,
            groups: None,
            decider: Some(&mut self.decider),
            counters: &HashMap::new(),
            recorded: None,
            cap: self.cap,
            whole: self.cores,
            next: 0,
            at,
        };
        // Code of the user may panic.
        let issued = catch_unwind(AssertUnwindSafe(|| issue.all()));
        if !matches!(issued, Ok(Ok(()))) {
            issue.settle();
        }
        if let Some(delivery) = &mut delivery {
            std::mem::swap(&mut issue.hosts.outputs, delivery.sides());
        }
        drop(by_plan);
        let noted = self.outside.as_ref().map_or(Ok(()), |outside| outside.ran(stream, self.eager.end.as_mut()));
        self.eager.leave(&self.origin);
        issued.unwrap_or_else(|panic| resume_unwind(panic)).and(noted)?;
        self.eager.sides().iter().try_for_each(|side| report_with_outputs(side, recipe, &pieces, at))?;
        if let Some(delivery) = &mut delivery {
            self.eager.sides().iter().try_for_each(|side| delivery.mark(side))?;
        }
        self.store.counters.eager += 1;
        self.last = Some(Last { sized, captured: None, delivery });
        Ok(())
    }
}

/// What a run does with the memory of its values.
fn touches<'a>(recipe: &Recipe, written: &[u32], pieces: &'a Pieces) -> Vec<Touch<'a>> {
    let mut touches: Vec<_> = pieces.iter().map(|piece| Some(Touch::written(&piece.as_ref()?.allocation))).collect();
    for (index, input) in recipe.inputs.iter().enumerate() {
        if input.class != Input::Host && !written.contains(&(index as u32)) {
            let touch = &mut touches[recipe.storage_of(input.value) as usize];
            *touch = touch.map(|touch| Touch::read(touch.memory));
        }
    }
    touches.into_iter().flatten().collect()
}

/// Before work that waits at gates to the outside.
fn mark_before(outside: Option<&Outside>, waits: bool, stream: &Stream) -> Result<()> {
    if outside.is_some() && waits { stream.mark_before_gate() } else { Ok(()) }
}

/// Makes whoever reads an output wait for `side` too, where nobody else would hear of work that failed.
fn report_with_outputs(side: &Stream, recipe: &Recipe, pieces: &Pieces, at: At) -> Result<()> {
    let outputs =
        recipe.outputs.iter().filter_map(|output| pieces[recipe.storage_of(output.value) as usize].as_ref());
    let uses: Vec<_> = outputs.map(|piece| Touch::kept(&piece.allocation)).collect();
    let task = Task { label: "plan", location: at, uses: &uses, scratch: None };
    side.0.submit(&task, |_| Ok(())).map(drop)
}

/// Copies what was bound to the executable's memory, unless it is that memory.
fn copy_in(
    recipe: &Recipe,
    declared: &Declared,
    input: u32,
    pieces: &Pieces,
    bind: &Bindings,
    stream: &Stream,
    at: At,
) -> Result<()> {
    let index = input as usize;
    let name = &declared.inputs[index].name;
    let to = pieces[recipe.storage_of(recipe.inputs[index].value) as usize].as_ref();
    let bound = bind.bound[index].as_ref().ok_or_else(|| missing(name))?;
    let to = to.ok_or_else(|| not_given(name))?;
    if bound.address() == to.address().addr() {
        return Ok(());
    }
    bound.piece().copy_to(stream, to, at).context_with(|| format!("input {name:?}"))
}

/// Notes a launch, which waits at gates to the outside maybe.
fn note(outside: Option<&Outside>, stream: &Stream, end: Option<&mut Arc<Event>>) -> Result<()> {
    outside.map_or(Ok(()), |outside| outside.ran(stream, end))
}

/// What a run of a graph with updates is made from.
#[derive(Clone, Copy)]
struct Run<'a> {
    plan: &'a Inner,
    /// The values of the symbols.
    numbers: &'a [u64],
    outside: Option<&'a Outside>,
}

/// Whether the operator of a node is told another number than the graph knows.
fn is_told_anew(plan: &Inner, node: &Node, (known, now): (&[u64], &[u64])) -> bool {
    let NodeKind::Foreign(function) = node.kind else { return false };
    let later = plan.recipe.functions[function as usize].later().iter().filter(|later| later.each_run);
    let mut numbers = later.flat_map(|later| &later.numbers);
    numbers.any(|number| number.fixed(known) != number.fixed(now))
}

/// Launches a graph and replaces the operators whose inputs moved, or that are told other numbers; gives how many.
fn replay_with_updates(
    run: Run<'_>,
    captured: &mut Captured,
    (decider, stream): (&mut Decider, &Stream),
    bind: &Bindings,
    at: At,
) -> Result<Updates> {
    let Run { plan, numbers, outside } = run;
    let recipe = captured.sized.recipe(plan);
    captured.groups.mark_moved(recipe, bind, &mut captured.pieces)?;
    if captured.told != numbers {
        let told = (&captured.told[..], numbers);
        captured.groups.mark_told(|node| is_told_anew(plan, &recipe.nodes[node as usize], told));
        captured.told.clear();
        captured.told.extend_from_slice(numbers);
    }
    let given = captured.groups.touches(&captured.pieces);
    stream.0.order(&given)?;
    captured.groups.order(stream, at)?;
    mark_before(outside, captured.end.is_some(), stream)?;
    captured.graphs.launch_first(stream, at).map_err(|error| budget::name_choice(error, recipe))?;
    let task = Task { label: "graph launch", location: at, uses: &given, scratch: None };
    // In order with all of them already, since before the launch.
    let used = {
        let state = stream.0.lock();
        stream.0.submit_locked(&state, &task, |_| Ok(())).map(drop)
    };
    let is_kept = used.is_ok();
    let noted = note(outside, stream, captured.end.as_mut()).and(used);
    let (places, pieces, whole) = (&captured.sized.places, &captured.pieces, captured.key.cores);
    let source = issue::Work { plan, recipe, numbers, places, pieces };
    let renew = |way: &mut Way, node: u32, update: &Stream| {
        let node = &recipe.nodes[node as usize];
        let limit = limit_of(recipe, node, whole).map(|cores| CoreLimit::begin(update, cores)).transpose()?;
        let computed = match &node.kind {
            NodeKind::Foreign(function) => match plan.operator(*function) {
                Some(recorded) => {
                    let memory = Memory { places, pieces, accesses: recipe.accesses_of(node) };
                    match writes_nothing(source, (*function, memory.accesses)) {
                        true => Ok(false),
                        false => {
                            source.told(recorded, *function).and_then(|told| way.renew(&told, memory, update, at))
                        }
                    }
                }
                None => compute(source, node, update, at).map(|()| false),
            },
            _ => compute(source, node, update, at).map(|()| false),
        };
        let ended = limit.map_or(Ok(()), CoreLimit::end);
        computed.and_then(|by_address| ended.map(|()| by_address))
    };
    // Code of the user may panic.
    let groups = &mut captured.groups;
    let count = catch_unwind(AssertUnwindSafe(|| groups.run((stream, at), is_kept, pieces, renew)));
    let gates = outside.map(|outside| &outside.gates);
    let mut deciding = Deciding { recipe, places, pieces, gates, decider, stream, at };
    let chosen = match (&noted, &count) {
        (Ok(()), Ok(Ok(_))) => captured.graphs.launch_rest(&mut deciding),
        _ => {
            captured.graphs.give_up_rest(&deciding);
            Ok(())
        }
    };
    let kept = if captured.graphs.have_choices() {
        // Those that were launched since use what the operators have now.
        stream.0.submit(&task, |_| Ok(())).and_then(|_| captured.groups.keep(stream, at))
    } else {
        Ok(())
    };
    let count = noted.and(count.unwrap_or_else(|panic| resume_unwind(panic)))?;
    chosen.and(kept)?;
    if let (Some(update), true) = (captured.groups.stream(), count.all > 0) {
        report_with_outputs(update, recipe, pieces, at)?;
    }
    Ok(count)
}
