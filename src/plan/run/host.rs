//! Host memory of inputs and outputs, between runs.
//!
//! A graph has fixed addresses, and its replay reads them when it gets there. So the upload of a host input is no part
//! of the graph: each run copies from pinned memory of its own, on the stream of the launch and in front of it, and
//! does not wait for the replay before. Two graphs in turn would need all of their memory twice, and each a capture.

use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::PinnedBuffer;
use crate::plan::checked::Inner;
use crate::stream::Stream;

use super::bindings::Bindings;
use super::executable::not_given;
use super::issue::{HostSide, HostSides, upload};
use super::piece::Piece;
use super::sized::Sized;

/// Runs that may be submitted before the copy of the first is done; the next one waits for it.
pub(super) const AHEAD: usize = 4;

/// What was bound for a host input.
fn given(input: u32, bind: &Bindings) -> Result<&[u8]> {
    let index = input as usize;
    let data = &bind.host[index];
    let name = &bind.recipe.inputs[index].name;
    if data.shape.is_none() {
        return Err(Error::invalid(format!("host input {name:?} is not given; Bindings::host does")));
    }
    Ok(&data.bytes)
}

/// Writes what was bound for a host input to its pinned memory.
pub(super) fn fill(side: &mut HostSide, input: u32, bind: &Bindings) -> Result<()> {
    let data = given(input, bind)?;
    if !data.is_empty() {
        again(side)?.copy_from_slice(data);
    }
    Ok(())
}

/// Pinned memory of one host input of a captured graph: that of the run before last and so on, the oldest in front; with
/// the run in front of which its copy is, as [`Outside`](super::outside::Outside) counts them.
#[derive(Debug, Default)]
pub(super) struct Ring(Vec<(u64, HostSide)>);

impl Ring {
    /// With the memory of the first run.
    pub(super) fn of(side: HostSide) -> Self {
        Self(vec![(0, side)])
    }

    /// Copies what was bound for `input` to `piece` when `stream` gets there, in front of the run.
    pub(super) fn upload(
        &mut self,
        (input, run): (u32, u64),
        bind: &Bindings,
        piece: &Piece,
        stream: &Stream,
    ) -> Result<()> {
        let data = given(input, bind)?;
        if data.is_empty() {
            return Ok(());
        }
        let (of, side) = self.next(stream, data.len())?;
        *of = run;
        again(side)?.copy_from_slice(data);
        upload(side, piece, stream)
    }

    /// The memory of the oldest run, which is the newest then: if its copy is not done, and there are few, other
    /// memory.
    fn next(&mut self, stream: &Stream, bytes: usize) -> Result<&mut (u64, HostSide)> {
        let free = self.is_free()?;
        if matches!(self.0.first(), Some((_, HostSide::Gone))) {
            self.0.remove(0);
        }
        if free || self.0.len() >= AHEAD {
            self.0.rotate_left(1);
        } else {
            self.0.push((0, HostSide::Here(stream.context().pinned(bytes)?)));
        }
        self.0.last_mut().ok_or_else(|| Error::new(ErrorKind::Internal, "no memory for a host input"))
    }

    /// Whether the memory of the oldest run can be taken at once.
    fn is_free(&self) -> Result<bool> {
        match self.0.first() {
            Some((_, HostSide::Lent(lent))) => lent.is_over(),
            Some((_, HostSide::Here(_))) => Ok(true),
            Some((_, HostSide::Gone)) | None => Ok(false),
        }
    }

    /// The run that the next upload would wait for: that before the one in front of which the oldest copy is.
    pub(super) fn awaited(&self) -> Result<Option<u64>> {
        match self.0.first() {
            Some((run, HostSide::Lent(_))) if self.0.len() >= AHEAD && !self.is_free()? => {
                Ok(Some(run.saturating_sub(1)))
            }
            _ => Ok(None),
        }
    }
}

/// The pinned memory for other contents, once its transfer is over.
pub(super) fn again(side: &mut HostSide) -> Result<&mut PinnedBuffer<u8>> {
    if let HostSide::Lent(_) = side
        && let HostSide::Lent(lent) = std::mem::replace(side, HostSide::Gone)
    {
        *side = HostSide::Here(lent.wait_to_reuse()?);
    }
    here(side)
}

/// The pinned memory, once its transfer is over.
pub(super) fn here(side: &mut HostSide) -> Result<&mut PinnedBuffer<u8>> {
    if let HostSide::Lent(_) = side
        && let HostSide::Lent(lent) = std::mem::replace(side, HostSide::Gone)
    {
        *side = HostSide::Here(lent.outlast()?);
    }
    match side {
        HostSide::Here(pinned) => Ok(pinned),
        _ => Err(not_given("host memory")),
    }
}

/// Before an eager run: all host memory is here, and what was lost to a failed transfer is made anew.
pub(super) fn take_back(
    hosts: &mut HostSides,
    (sized, plan): (&Sized, &Inner),
    context: &Context,
    outputs: bool,
) -> Result<()> {
    let mut lost = false;
    for side in hosts.inputs.iter_mut().chain(&mut hosts.outputs) {
        if let HostSide::Lent(_) = side {
            let back = again(side).map(drop);
            lost |= back.is_err();
            back?;
        }
    }
    let recipe = sized.recipe(plan);
    let wanted = recipe.inputs.iter().any(|input| input.class == crate::plan::recipe::Input::Host)
        || recipe.outputs.iter().any(|output| output.host);
    if wanted && (lost || is_missing(hosts, sized, plan)) {
        *hosts = sized.hosts(plan, context, outputs)?;
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
