//! Work that is done once, when an executable is made.

use crate::context::Context;
use crate::error::{Result, ResultExt as _};
use crate::plan::checked::Inner;
use crate::plan::recipe::callable::Callable as _;
use crate::plan::recipe::{NodeKind, Recipe, StorageKind};
use crate::sort;
use crate::stream::Stream;

use super::issue::{At, Work, compute, piece_of};
use super::piece::{Piece, Pieces, places};
use super::sized::Fixed;

/// Does it on a stream, waits for it, and keeps what runs read of the results.
pub(super) fn prepare(plan: &Inner, context: &Context, fixed: &mut Fixed, stream: &Stream, at: At) -> Result<()> {
    let recipe = &plan.recipe;
    if plan.facts().once == 0 {
        return Ok(());
    }
    // None of it depends on symbols, for which the rest may have no size.
    let numbers: Vec<u64> = recipe.symbols.iter().map(|symbol| symbol.least).collect();
    let recipe = recipe.fixed_part();
    let (places, pieces) = (places(&recipe)?, pieces(&recipe, context, fixed)?);
    let source = Work { plan, recipe: &recipe, numbers: &numbers, places: &places, pieces: &pieces };
    for (index, node) in (0..).zip(&recipe.nodes).filter(|(_, node)| recipe.is_once(node)) {
        let done = match (node.kind, recipe.accesses_of(node)) {
            (NodeKind::Copy, [from, to]) => {
                let piece = |value| piece_of(&places, &pieces, value);
                piece(from.value)?.copy_to(stream, &piece(to.value)?, at)
            }
            _ => compute(source, node, stream, at),
        };
        done.context_with(|| recipe.describe(index))?;
    }
    stream.synchronize().context_with(|| {
        let names = recipe.nodes.iter().filter(|node| recipe.is_once(node)).filter_map(|node| recipe.operator(node));
        format!("work that is done once, when an executable is made: {}", some_of(names))
    })?;
    let used = recipe.read_by_runs();
    fixed.once = pieces.into_iter().zip(used).map(|(piece, used)| piece.filter(|_| used)).collect();
    Ok(())
}

/// The first few different ones.
fn some_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut all: Vec<&str> = names.collect();
    sort::plain(&mut all);
    all.dedup();
    let more = if all.len() > 4 { ", …" } else { "" };
    all.truncate(4);
    all.join(", ") + more
}

fn pieces(recipe: &Recipe, context: &Context, fixed: &Fixed) -> Result<Pieces> {
    let piece = |storage: &crate::plan::recipe::Storage| match storage.kind {
        StorageKind::Once => Piece::new(context.inner(), storage.bytes.as_fixed().unwrap_or(0)).map(Some),
        StorageKind::Constant(index) => Ok(Some(fixed.constants[index as usize].clone())),
        StorageKind::Input(index) => Ok(fixed.inputs[index as usize].clone()),
        StorageKind::Temporary | StorageKind::Output(_) => Ok(None),
    };
    recipe.storages.iter().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use crate::op::DataType::{F16, F32};
    use crate::plan::{Input, PassMode, Passes, Plan};

    #[test]
    fn steps_on_the_way_are_not_kept() {
        let plan = Plan::build(|g| {
            let (x, w) = (g.input("x", [2, 3], F16, Input::Copied)?, g.input("w", [4, 3], F32, Input::Frozen)?);
            let turned = g.permute(w, &[1, 0])?;
            g.output("y", g.matmul(x, g.cast(turned, F16)?)?)
        });
        let plan = plan.unwrap().optimise(&Passes::new().relaid_weights(PassMode::On)).unwrap().plan;
        let recipe = &plan.0.recipe;
        let kept = recipe.storages.iter().zip(recipe.read_by_runs()).filter(|(_, used)| *used);
        let sizes: Vec<_> = kept.map(|(storage, _)| storage.bytes.as_fixed()).collect();
        assert_eq!((recipe.once(), sizes), (2, vec![Some(4 * 3 * 2)]), "the cast one alone");
    }
}
