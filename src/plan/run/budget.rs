//! What a plan needs of a device, against what the device has: before anything is recorded.

use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::plan::check::finding::{Finding, FindingKind, into_error};
use crate::plan::check::{alone, core_demand};
use crate::plan::checked::Inner;
use crate::plan::recipe::{Cores, Node, NodeKind, ORIGIN, Recipe};
use crate::retire;
use crate::stream::device_cores;

use super::choose::Form;
use super::segments::segments_of;

/// Checks core limits, core demand, streams and events. What the library cannot tell is not checked. `started` when
/// the executable has its own stream already.
pub(super) fn check(plan: &Inner, context: &Context, form: Form, started: bool) -> Result<()> {
    let mut findings = Vec::new();
    cores(plan, context, &mut findings)?;
    let needs = Needs::of(&plan.recipe, form);
    let streams = || -> Result<(usize, Option<u32>)> {
        let needed = needs.streams(context, started);
        let left = known(context.streams_left())?;
        Ok((needed, left.filter(|left| (*left as usize) < needed)))
    };
    let (mut needed, mut few) = streams()?;
    if few.is_some() {
        context.inner().idle_streams.shrink(context.inner(), needs.leased(started));
        if matches!(streams(), Ok((_, Some(_)))) {
            context.inner().idle_streams.shrink_others(context.inner());
        }
        // Those of what was dropped may become free.
        retire::make_room(|| !matches!(streams(), Ok((_, Some(_)))));
        (needed, few) = streams()?;
    }
    if let Some(left) = few {
        let what = if form == Form::Eager { "run" } else { "record" };
        let updates = if needs.update > 0 { " and update it" } else { "" };
        let tags = plan.recipe.tags.len();
        let text =
            format!("the plan needs {needed} streams to {what} its {tags} tags{updates}; the device has {left} left");
        findings.push(Finding::new(FindingKind::Streams, text));
    }
    if needs.events > 0
        && let Some(left) = known(context.events_left())?.filter(|left| (*left as usize) < needs.events)
    {
        let text = format!("the plan needs {} events; the device has {left} left", needs.events);
        findings.push(Finding::new(FindingKind::Events, text));
    }
    if findings.is_empty() { Ok(()) } else { Err(into_error(findings)) }
}

/// Of the queues that a graph may have, 1,024, plans to choose from take most then.
const MANY: usize = 512;

/// Where a graph has most of its streams from, when there are too many of them.
pub(super) fn name_choice(error: Error, recipe: &Recipe) -> Error {
    match recipe.widest_choice() {
        // With fewer the device has none left for another reason.
        Some((node, plans)) if error.kind() == ErrorKind::NoStreams && recipe.bodies().0 > MANY => {
            let (all, place) = (recipe.bodies().0, recipe.describe(node));
            error.context(format!("a graph has a stream for each plan to choose from, {all}: {plans} are of {place}"))
        }
        _ => error,
    }
}

/// What one graph of a plan, or eager runs of it, take of the device.
struct Needs {
    /// Streams of tags beside the origin that may be idle ones, and those that are made for their priority.
    plain: usize,
    priority: usize,
    /// Hidden streams, which recording takes for each stream that takes part in a graph, and for each body of a choice.
    hidden: usize,
    /// Streams that bodies inside one another are recorded on.
    bodies: usize,
    /// The stream of updates.
    update: usize,
    /// Those of the recipe, the start of a run with updates, the end of one at gates, and those that streams fork from
    /// a segment by and join it.
    events: usize,
}

impl Needs {
    fn of(recipe: &Recipe, form: Form) -> Self {
        let tags = recipe.tags.iter().enumerate().skip(usize::from(ORIGIN) + 1);
        let plain = tags.clone().filter(|(_, tag)| tag.priority == 0).count();
        let priority = tags.clone().count() - plain;
        let mut takes_part = vec![false; recipe.tags.len()];
        recipe.nodes.iter().for_each(|node| takes_part[usize::from(node.tag)] = true);
        let part = tags.filter(|(index, _)| takes_part[*index]).count();
        let update = usize::from(form != Form::Eager && has_updates(recipe));
        let waits = recipe.nodes.iter().any(|node| matches!(node.kind, NodeKind::ExternalWait(_)));
        let (mut hidden, mut bodies, mut borders) = (0, 0, 0);
        match form {
            Form::Eager => {}
            Form::Graph => {
                let (arms, deep) = recipe.bodies();
                (hidden, bodies) = (part + 1 + arms, deep);
            }
            Form::Segments => {
                for sides in segments_of(recipe).iter().map(|segment| segment.sides(recipe).len()) {
                    (hidden, borders) = (hidden + 1 + sides, borders.max(2 * sides));
                }
            }
        }
        let events = recipe.events.len() + update + usize::from(waits) + borders;
        Self { plain, priority, hidden, bodies, update, events }
    }

    /// Streams that may be idle ones.
    fn leased(&self, started: bool) -> usize {
        self.plain + self.bodies + self.update + usize::from(!started)
    }

    fn streams(&self, context: &Context, started: bool) -> usize {
        let leased = self.leased(started);
        let reused = context.inner().idle_streams.len().min(leased);
        leased - reused + self.priority + self.hidden
    }
}

/// Whether the device has too few streams or events left for one more graph of the plan, where the library tells, and
/// although other contexts give their idle streams back.
pub(super) fn is_short(plan: &Inner, context: &Context, form: Form) -> Result<bool> {
    let needs = Needs::of(&plan.recipe, form);
    let few = |left: Option<u32>, needed: usize| left.is_some_and(|left| (left as usize) < needed);
    let streams = || -> Result<bool> { Ok(few(known(context.streams_left())?, needs.streams(context, true))) };
    let idle = &context.inner().idle_streams;
    let streams = streams()? && (!idle.shrink_others(context.inner()) || streams()?);
    Ok(streams || (needs.events > 0 && few(known(context.events_left())?, needs.events)))
}

/// Whether graphs of the recipe have operators that are updated.
fn has_updates(recipe: &Recipe) -> bool {
    let computes = |node: &&Node| matches!(node.kind, NodeKind::Foreign(_));
    recipe.nodes.iter().filter(computes).any(|node| recipe.is_updated(node))
}

fn cores(plan: &Inner, context: &Context, findings: &mut Vec<Finding>) -> Result<()> {
    let demands = plan.recipe.functions.iter().any(|function| function.needs() != Cores::default());
    if plan.recipe.cores.is_empty() && !demands {
        return Ok(());
    }
    let has = known(device_cores(context))?.unwrap_or(UNKNOWN);
    for (index, wanted) in plan.recipe.cores.iter().enumerate() {
        let limited = |node: &Node| usize::from(node.cores) == index + 1 && !node.kind.is_sync();
        let node = plan.recipe.nodes.iter().position(limited);
        let place = node.map_or_else(String::new, |node| format!(" of {}", plan.recipe.describe(node as u32)));
        findings.extend(too_many(*wanted, has, &place));
    }
    findings.extend(core_demand(&plan.recipe, &plan.order, has));
    Ok(())
}

/// Cores of a device that does not tell them: those of scopes and executables still limit what an operator gets.
const UNKNOWN: Cores = Cores { cube: u32::MAX, vector: u32::MAX };

fn too_many(wanted: Cores, has: Cores, place: &str) -> Option<Finding> {
    if wanted.cube <= has.cube && wanted.vector <= has.vector {
        return None;
    }
    let text = format!(
        "the core limit{place} is {} matrix and {} vector cores; the device has {} and {}",
        wanted.cube, wanted.vector, has.cube, has.vector
    );
    Some(Finding::new(FindingKind::CoreLimit, text))
}

/// Checks the core limit of an executable, against the device and what operators of the plan need.
pub(super) fn check_limit(wanted: Cores, recipe: &Recipe, context: &Context) -> Result<()> {
    let has = known(device_cores(context))?.unwrap_or(UNKNOWN);
    let mut findings = alone(recipe, has, Some(wanted));
    findings.extend(too_many(wanted, has, " of the executable"));
    if findings.is_empty() { Ok(()) } else { Err(into_error(findings)) }
}

/// How many graphs of the plan the streams that are left suffice for, where the library tells: hidden ones and that
/// of updates for each of them, and those of the tags once.
pub(super) fn graphs_left(plan: &Inner, context: &Context, form: Form) -> Result<Option<usize>> {
    let needs = Needs::of(&plan.recipe, form);
    let idle = context.inner().idle_streams.len();
    let once = needs.priority + (needs.plain + needs.bodies).saturating_sub(idle);
    let left = known(context.streams_left())?;
    Ok(left.map(|left| (left as usize).saturating_sub(once) / (needs.hidden + needs.update).max(1)))
}

/// The answer, unless the library or the chip does not have the question.
fn known<T>(asked: Result<T>) -> Result<Option<T>> {
    match asked {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if matches!(error.kind(), ErrorKind::MissingSymbol | ErrorKind::NotSupported) => Ok(None),
        Err(error) => Err(error.context("asking the device what it has left for a plan")),
    }
}
