//! Host outputs that are downloaded behind a captured graph, by each run.
//!
//! An output that the plan writes again after its download is copied where the download stands, inside the graph, and
//! the copy is what each run brings.

use std::sync::Arc;

use crate::context::Context;
use crate::error::{Result, ResultExt as _};
use crate::plan::recipe::{NodeKind, Recipe};
use crate::stream::Stream;

use super::delivery::{Delivery, Ring};
use super::executable::not_given;
use super::issue::{At, download};
use super::piece::{Piece, Pieces, Place};

/// What a graph leaves for the runs to bring.
pub(super) struct Behind {
    pub(super) ring: Arc<Ring>,
    /// By output; none for those without bytes and those that stay on the device.
    sources: Vec<Option<Source>>,
}

struct Source {
    piece: Piece,
    /// A copy, for which the graph has a task.
    copied: bool,
}

impl Behind {
    pub(super) fn new(
        recipe: &Recipe,
        (places, pieces): (&[Place], &Pieces),
        context: &Context,
        most: usize,
    ) -> Result<Self> {
        let rewritten = rewritten(recipe);
        let sources = recipe.outputs.iter().zip(rewritten).map(|(output, copied)| {
            let place = &places[output.value as usize];
            if !output.host || place.span == 0 {
                return Ok(None);
            }
            let piece = if copied {
                Piece::new(context.inner(), place.span as u64)?
            } else {
                let storage = pieces[place.storage as usize].as_ref();
                place.piece(storage.ok_or_else(|| not_given(&output.name))?)
            };
            Ok(Some(Source { piece, copied }))
        });
        let sources = sources.collect::<Result<_>>()?;
        Ok(Self { ring: Ring::new(recipe, places, most), sources })
    }

    /// In place of a download inside the graph.
    pub(super) fn record(&self, output: usize, from: &Piece, stream: &Stream, at: At) -> Result<()> {
        match &self.sources[output] {
            Some(source) if source.copied => from.copy_to(stream, &source.piece, at),
            _ => Ok(()),
        }
    }

    /// Behind a launch on `stream`.
    pub(super) fn bring(&self, recipe: &Recipe, delivery: &mut Delivery, stream: &Stream) -> Result<()> {
        for ((source, side), output) in self.sources.iter().zip(delivery.sides()).zip(&recipe.outputs) {
            if let Some(source) = source {
                download(side, &source.piece, stream).context_with(|| format!("output {:?}", output.name))?;
            }
        }
        Ok(())
    }
}

/// By output: whether something is written to its memory after it was downloaded.
fn rewritten(recipe: &Recipe) -> Vec<bool> {
    let mut written = vec![false; recipe.storages.len()];
    let mut rewritten = vec![false; recipe.outputs.len()];
    // Work that comes before other work on the device was also issued before it.
    for node in recipe.nodes.iter().rev() {
        if let NodeKind::Download(output) = node.kind {
            let value = recipe.outputs[output as usize].value;
            rewritten[output as usize] = written[recipe.storage_of(value) as usize];
        }
        for access in recipe.accesses_of(node).iter().filter(|access| access.mode.writes()) {
            written[recipe.storage_of(access.value) as usize] = true;
        }
    }
    rewritten
}
