//! What a plan needs of a device, against what the device has: before anything is recorded.

use acl_sys::aclrtDevResLimitType;

use crate::call::call;
use crate::context::Context;
use crate::error::{ErrorKind, Result};
use crate::plan::Inner;
use crate::plan::check::core_demand;
use crate::plan::finding::{Finding, FindingKind, into_error};
use crate::plan::recipe::{Cores, Input};

use super::options::Mode;

/// Checks core limits, core demand, streams and events. What the library cannot tell is not checked.
pub(super) fn check(plan: &Inner, context: &Context, mode: Mode) -> Result<()> {
    let mut findings = Vec::new();
    cores(plan, context, &mut findings)?;
    let tags = plan.recipe.tags.len();
    if tags > 1 || mode == Mode::Captured {
        // Recording takes a hidden stream for each tag, and one of the user's for all but the origin. Of the latter,
        // those without a priority may be idle ones.
        let plain = plan.recipe.tags.iter().skip(1).filter(|tag| tag.priority == 0).count();
        let reused = context.inner().idle_streams.len().min(plain);
        let (hidden, what) = if mode == Mode::Captured { (tags, "record") } else { (0, "run") };
        let needed = hidden + tags - 1 - reused;
        if let Some(left) = streams_left(context)?.filter(|left| (*left as usize) < needed) {
            let text =
                format!("the plan needs {needed} streams to {what} its {tags} tags; the device has {left} left");
            findings.push(Finding::new(FindingKind::Streams, text));
        }
    }
    let events = plan.recipe.events.len();
    if events > 0
        && let Some(left) = events_left(context)?.filter(|left| (*left as usize) < events)
    {
        let text = format!("the plan needs {events} events; the device has {left} left");
        findings.push(Finding::new(FindingKind::Events, text));
    }
    if findings.is_empty() { Ok(()) } else { Err(into_error(findings)) }
}

fn cores(plan: &Inner, context: &Context, findings: &mut Vec<Finding>) -> Result<()> {
    let demands = plan.recipe.functions.iter().any(|function| function.needs != Cores::default());
    if plan.recipe.cores.is_empty() && !demands {
        return Ok(());
    }
    let Some(has) = known(device_cores(context))? else { return Ok(()) };
    for (index, wanted) in plan.recipe.cores.iter().enumerate() {
        let node = plan.recipe.nodes.iter().position(|node| usize::from(node.cores) == index + 1);
        let place = node.map_or_else(String::new, |node| format!(" of {}", plan.recipe.describe(node as u32)));
        findings.extend(too_many(*wanted, has, &place));
    }
    findings.extend(core_demand(&plan.recipe, &plan.order, has));
    Ok(())
}

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

/// Checks the core limit of an executable.
pub(super) fn check_limit(wanted: Cores, context: &Context) -> Result<()> {
    let Some(has) = known(device_cores(context))? else { return Ok(()) };
    match too_many(wanted, has, " of the executable") {
        None => Ok(()),
        Some(finding) => Err(finding.into_error()),
    }
}

pub(crate) fn device_cores(context: &Context) -> Result<Cores> {
    let (inner, device) = (&**context.inner(), context.device_id());
    let ask = |kind: aclrtDevResLimitType| {
        let mut value = 0;
        // SAFETY: `value` is a place for one number.
        unsafe { call!(inner, aclrtGetDeviceResLimit(device, kind, &raw mut value)) }.map(|()| value)
    };
    Ok(Cores {
        cube: ask(aclrtDevResLimitType::ACL_RT_DEV_RES_CUBE_CORE)?,
        vector: ask(aclrtDevResLimitType::ACL_RT_DEV_RES_VECTOR_CORE)?,
    })
}

/// How many graphs of the plan the streams that are left suffice for, where the library tells: a hidden stream for
/// each tag of each, one for its updates, and those of the user once.
pub(super) fn graphs_left(plan: &Inner, context: &Context) -> Result<Option<usize>> {
    let tags = plan.recipe.tags.len().max(1);
    let updates = plan.recipe.inputs.iter().any(|input| input.class == Input::Updatable);
    let left = streams_left(context)?;
    Ok(left.map(|left| (left as usize).saturating_sub(tags - 1) / (tags + usize::from(updates))))
}

fn streams_left(context: &Context) -> Result<Option<u32>> {
    let mut left = 0;
    // SAFETY: `left` is a place for one number.
    let asked = unsafe { call!(&**context.inner(), aclrtGetStreamAvailableNum(&raw mut left)) };
    known(asked.map(|()| left))
}

fn events_left(context: &Context) -> Result<Option<u32>> {
    let mut left = 0;
    // SAFETY: `left` is a place for one number.
    let asked = unsafe { call!(&**context.inner(), aclrtGetEventAvailNum(&raw mut left)) };
    known(asked.map(|()| left))
}

/// The answer, unless the library or the chip does not have the question.
fn known<T>(asked: Result<T>) -> Result<Option<T>> {
    match asked {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if matches!(error.kind(), ErrorKind::MissingSymbol | ErrorKind::NotSupported) => Ok(None),
        Err(error) => Err(error.context("asking the device what it has left for a plan")),
    }
}
