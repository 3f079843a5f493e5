//! Host memory of inputs and outputs, between runs.

use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;
use crate::memory::PinnedBuffer;
use crate::plan::checked::Inner;

use super::bindings::Bindings;
use super::executable::not_given;
use super::issue::{HostSide, HostSides};
use super::sized::Sized;

/// Writes what was bound for a host input to its pinned memory.
pub(super) fn fill(side: &mut HostSide, graph: Option<&mut Graph>, input: u32, bind: &Bindings) -> Result<()> {
    let index = input as usize;
    let data = &bind.host[index];
    let name = &bind.recipe.inputs[index].name;
    if data.shape.is_none() {
        return Err(Error::invalid(format!("host input {name:?} is not given; Bindings::host does")));
    }
    if data.bytes.is_empty() {
        return Ok(());
    }
    match (side, graph) {
        (HostSide::Lent(lent), Some(graph)) => graph.host(lent)?.copy_from_slice(&data.bytes),
        (side, _) => here(side)?.copy_from_slice(&data.bytes),
    }
    Ok(())
}

/// The pinned memory, once its transfer is over.
pub(super) fn here(side: &mut HostSide) -> Result<&mut PinnedBuffer<u8>> {
    if let HostSide::Lent(_) = side
        && let HostSide::Lent(lent) = std::mem::replace(side, HostSide::Gone)
    {
        *side = HostSide::Here(lent.wait()?);
    }
    match side {
        HostSide::Here(pinned) => Ok(pinned),
        _ => Err(not_given("host memory")),
    }
}

/// Before an eager run: all host memory is here, and what was lost to a failed transfer is made anew.
pub(super) fn take_back(hosts: &mut HostSides, sized: &Sized, plan: &Inner, context: &Context) -> Result<()> {
    let mut lost = false;
    for side in hosts.inputs.iter_mut().chain(&mut hosts.outputs) {
        if let HostSide::Lent(_) = side {
            let back = here(side).map(drop);
            lost |= back.is_err();
            back?;
        }
    }
    let recipe = sized.recipe(plan);
    let wanted = recipe.inputs.iter().any(|input| input.class == crate::plan::recipe::Input::Host)
        || recipe.outputs.iter().any(|output| output.host);
    if wanted && (lost || is_missing(hosts, sized, plan)) {
        *hosts = sized.hosts(plan, context)?;
    }
    if lost { Err(Error::new(ErrorKind::Internal, "host memory of a run was lost")) } else { Ok(()) }
}

fn is_missing(hosts: &HostSides, sized: &Sized, plan: &Inner) -> bool {
    let recipe = sized.recipe(plan);
    let gone = |side: &HostSide, value: u32, wanted: bool| {
        wanted && sized.places[value as usize].span > 0 && matches!(side, HostSide::Gone)
    };
    let host = crate::plan::recipe::Input::Host;
    recipe.inputs.iter().zip(&hosts.inputs).any(|(input, side)| gone(side, input.value, input.class == host))
        || recipe.outputs.iter().zip(&hosts.outputs).any(|(output, side)| gone(side, output.value, output.host))
}
