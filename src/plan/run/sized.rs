//! A plan with numbers for its symbols: recipe, places, and the memory that its graphs share.

use std::sync::Arc;

use crate::context::Context;
use crate::error::{Error, ErrorKind, Result, ResultExt as _};
use crate::lock::say;
use crate::memory::PinnedBuffer;
use crate::plan::Plan;
use crate::plan::checked::Inner;
use crate::plan::memory::MemoryPlan;
use crate::plan::recipe::{Input, Recipe, StorageKind};

use super::issue::{HostSide, HostSides};
use super::piece::{Piece, Pieces, Place, places};
use super::pool::Pool;
use crate::stream::Stream;

pub(super) struct Sized {
    pub(super) symbols: Vec<usize>,
    /// None when the plan itself has no symbols.
    specialised: Option<Recipe>,
    pub(super) places: Vec<Place>,
    /// None for inputs that each run brings.
    pub(super) pieces: Pieces,
}

/// Memory that does not depend on symbols.
#[derive(Debug, Default)]
pub(super) struct Fixed {
    /// Frozen and static inputs.
    pub(super) inputs: Vec<Option<Piece>>,
    pub(super) constants: Vec<Piece>,
    /// What work that is done once made, by storage; empty where there is none.
    pub(super) once: Pieces,
}

/// Where memory comes from, and for a run on which stream, if for one.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) pool: &'a Pool,
    pub(super) context: &'a Context,
    pub(super) stream: Option<&'a Stream>,
}

impl Sized {
    pub(super) fn new(plan: &Plan, symbols: &[usize], fixed: &Fixed, from: Source<'_>) -> Result<Self> {
        let (recipe, memory) = plan.specialise(symbols)?;
        say!(Debug, "temporaries of {plan:?} for symbols {symbols:?}: {}", memory.report());
        let places = places(&recipe)?;
        let pieces = pieces(&recipe, &memory, fixed, from);
        from.stream.into_iter().for_each(|stream| from.pool.took_memory(stream));
        let pieces = pieces?;
        let specialised = plan.is_dynamic().then(|| recipe.into_owned());
        Ok(Self { symbols: symbols.to_vec(), specialised, places, pieces })
    }

    pub(super) fn recipe<'a>(&'a self, plan: &'a Inner) -> &'a Recipe {
        self.specialised.as_ref().unwrap_or(&plan.recipe)
    }

    /// Host memory for its inputs, and for its outputs unless each run has that of its own.
    pub(super) fn hosts(&self, plan: &Inner, context: &Context, outputs: bool) -> Result<HostSides> {
        let recipe = self.recipe(plan);
        let pinned = |value: u32, wanted: bool| -> Result<HostSide> {
            let bytes = self.places[value as usize].span;
            if !wanted || bytes == 0 {
                return Ok(HostSide::Gone);
            }
            let buffer: PinnedBuffer<u8> = context.pinned(bytes)?;
            Ok(HostSide::Here(buffer))
        };
        let inputs = recipe.inputs.iter().map(|input| pinned(input.value, input.class == Input::Host));
        let outputs = recipe.outputs.iter().filter(|_| outputs).map(|output| pinned(output.value, output.host));
        Ok(HostSides { inputs: inputs.collect::<Result<_>>()?, outputs: outputs.collect::<Result<_>>()? })
    }
}

fn pieces(recipe: &Recipe, memory: &MemoryPlan, fixed: &Fixed, from: Source<'_>) -> Result<Pieces> {
    let Source { pool, context, stream } = from;
    let arena =
        pool.arena(memory.peak, stream).context_with(|| format!("the arena of a plan, {} bytes", memory.peak))?;
    let own = |bytes: u64| Piece::for_run(context.inner(), bytes, stream).map(Some);
    recipe
        .storages
        .iter()
        .zip(&memory.offsets)
        .enumerate()
        .map(|(place, (storage, offset))| {
            let bytes =
                storage.bytes.as_fixed().ok_or_else(|| Error::new(ErrorKind::Internal, "a size with symbols"))?;
            match storage.kind {
                StorageKind::Temporary => match &arena {
                    Some(arena) if *offset != MemoryPlan::ELSEWHERE => {
                        let (offset, bytes) = (*offset as usize, bytes as usize);
                        Ok(Some(Piece { allocation: Arc::clone(arena), offset, bytes }))
                    }
                    _ => Ok(None),
                },
                StorageKind::Output(_) => own(bytes),
                StorageKind::Once => Ok(fixed.once.get(place).cloned().flatten()),
                StorageKind::Constant(index) => Ok(Some(fixed.constants[index as usize].clone())),
                StorageKind::Input(index) => match recipe.inputs[index as usize].class {
                    Input::Frozen | Input::Static => Ok(fixed.inputs[index as usize].clone()),
                    Input::Copied | Input::Host => own(bytes),
                    Input::Tracked(_) | Input::Updatable => Ok(None),
                },
            }
        })
        .collect()
}
