//! How an operator inside a captured graph is replaced: by the addresses of its tensors where it allows that, else
//! whole.
//!
//! The first update of an operator runs its first phase and asks the library to keep what came of it; further updates
//! replace addresses and run the second phase alone. A captured graph has one shape and one layout for each value, so
//! an input that moved has nothing new but its address. That an operator or the library does not allow it is
//! remembered, and both phases run at each update; so it is for foreign operators, and for one whose update by
//! address failed. One executor serves all threads, one run after the other, under the limit of cores that it was
//! planned with: under another one, and once settings of operators have changed, it is planned anew.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;

use crate::error::Result;
use crate::memory::Allocation;
use crate::op::{Keep, Recorded, Repeatable, Target};
use crate::plan::recipe::{Access, FunctionKind, Node, NodeKind, Recipe};
use crate::stream::{Stream, planned_cores};

use super::issue::{At, all_views, storage};
use super::piece::{Pieces, Place};

/// How one operator is replaced.
pub(super) enum Way {
    /// Not known before the first update.
    Untried,
    ByAddress(Repeatable, Planned),
    Whole,
}

/// What first phases look at beside their operands: the limit of cores that holds on the thread, and settings of the
/// context, by how often they have changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Planned {
    cores: u64,
    changes: u64,
}

impl Planned {
    /// By this thread, for the stream.
    fn now(stream: &Stream) -> Self {
        Self { cores: planned_cores(), changes: stream.0.context().operators.changes() }
    }
}

/// The memory of the values now.
#[derive(Clone, Copy)]
pub(super) struct Memory<'a> {
    pub(super) places: &'a [Place],
    pub(super) pieces: &'a Pieces,
    pub(super) accesses: &'a [Access],
}

impl<'a> Memory<'a> {
    /// What has each operand of the operator, and where it is told that this starts.
    fn storages(self, of: &Recorded) -> impl Iterator<Item = Result<(&'a Arc<Allocation>, *mut c_void)>> + Clone {
        let place = move |access: &Access| &self.places[access.value as usize];
        let rank = |at: usize| self.accesses.get(at).map(|access| place(access).dims.rank());
        let blocks = of.weight_in_blocks(rank);
        self.accesses.iter().enumerate().map(move |(at, access)| {
            let place = place(access);
            let piece = storage(self.pieces, place)?;
            let before = if blocks == Some(at) { place.offset } else { 0 };
            Ok((&piece.allocation, piece.address().wrapping_byte_add(before)))
        })
    }
}

impl Way {
    pub(super) fn of(recipe: &Recipe, node: &Node, allowed: bool) -> Self {
        let known = match node.kind {
            // What it is told is part of what would be kept.
            NodeKind::Foreign(_) if recipe.is_told(node) => false,
            NodeKind::Foreign(function) => recipe.functions[function as usize].kind() == FunctionKind::Operator,
            _ => false,
        };
        if allowed && known { Self::Untried } else { Self::Whole }
    }

    /// Submits an operator again, to a stream with an open update. Gives whether it was by address.
    pub(super) fn renew(&mut self, recorded: &Recorded, memory: Memory<'_>, stream: &Stream, at: At) -> Result<bool> {
        let what = Again { recorded, memory };
        let now = Planned::now(stream);
        // Whole is what stays when a second phase fails or panics on the way.
        match std::mem::replace(self, Self::Whole) {
            Self::ByAddress(mut kept, planned) if planned == now => {
                if kept.launch(stream, memory.storages(recorded), at)? {
                    *self = Self::ByAddress(kept, planned);
                    return Ok(true);
                }
            }
            Self::Untried | Self::ByAddress(..) => {
                if let Some(mut kept) = self.first_phase(what, stream, at)?
                    && kept.launch(stream, memory.storages(recorded), at)?
                {
                    *self = Self::ByAddress(kept, now);
                    return Ok(false);
                }
            }
            Self::Whole => {}
        }
        what.launch(stream, at).map(|()| false)
    }

    /// An executor for further updates too, if there can be one. A first phase that fails says nothing about that.
    fn first_phase(&mut self, what: Again<'_>, stream: &Stream, at: At) -> Result<Option<Repeatable>> {
        let kept = Cell::new(None);
        *self = Self::Untried;
        what.launch(Keep { stream, kept: &kept }, at)?;
        *self = Self::Whole;
        Ok(kept.into_inner())
    }

    /// After an update that could not be ended: whether a kept executor was to blame is not known.
    pub(super) fn give_up(&mut self) {
        if matches!(self, Self::ByAddress(..)) {
            *self = Self::Whole;
        }
    }
}

/// An operator on its memory, as often as it is wanted.
#[derive(Clone, Copy)]
struct Again<'a> {
    recorded: &'a Recorded,
    memory: Memory<'a>,
}

impl Again<'_> {
    fn launch(self, target: impl Target, at: At) -> Result<()> {
        let Memory { places, pieces, accesses } = self.memory;
        all_views(places, pieces, accesses, |views| self.recorded.launch(target, views, at))
    }
}
