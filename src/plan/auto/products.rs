//! How much products multiply.

use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::recipe::{Access, Recipe};
use crate::plan::symbols::dim::Dim;

use super::operators::Demand;

/// Rows and columns of the part of a result that a matrix core computes.
const TILE: (u64, u64) = (128, 256);

/// Products of each element that a matrix core sums up.
const SUMMED: u64 = 256;

/// How much a product multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) multiplications: u128,
    /// Parts of it that cores compute by themselves.
    pub(super) parts: u64,
    pub(super) element_bytes: u64,
}

/// Of a product by the shapes of its operands and its result.
pub(super) fn product(recipe: &Recipe, accesses: &[Access], demand: Demand) -> Work {
    let first = if let Demand::Product { first } = demand { first } else { 0 };
    let layout = |access: &Access| recipe.layout_of(access.value);
    let mut operands = accesses.iter().filter(|access| access.mode.reads()).skip(first).map(layout);
    let result = accesses.iter().find(|access| access.mode.writes()).map(layout);
    let (Some(a), Some(b), Some(c)) = (operands.next(), operands.next(), result) else {
        return Work { multiplications: 0, parts: u64::MAX, element_bytes: 2 };
    };
    let inner = if demand == Demand::Convolution { filter(b) } else { inner(a, b, c) };
    let multiplications = u128::from(elements(c)) * u128::from(inner);
    let parts = tiles(c).saturating_mul(inner.div_ceil(SUMMED).max(1));
    Work { multiplications, parts, element_bytes: a.dtype.size().max(1) as u64 }
}

fn elements(layout: &Layout) -> u64 {
    layout.elements().as_ref().and_then(Extent::as_fixed).unwrap_or(0)
}

fn size(dim: Option<&Dim>) -> u64 {
    dim.and_then(|dim| dim.as_fixed()).unwrap_or(1) as u64
}

/// Products that each element of the result is the sum of.
fn inner(a: &Layout, b: &Layout, c: &Layout) -> u64 {
    let counts = [a, b, c].map(elements);
    match (a.dims.len(), b.dims.len(), c.dims.len()) {
        // m·k · k·n / m·n, whichever way round the matrices stand.
        (2, 2, 2) if counts[2] > 0 => {
            let square = u128::from(counts[0]) * u128::from(counts[1]) / u128::from(counts[2]);
            u64::try_from(square.isqrt()).unwrap_or(u64::MAX)
        }
        _ => size(a.dims.last()),
    }
}

/// Elements of one filter.
fn filter(filters: &Layout) -> u64 {
    elements(filters) / size(filters.dims.first()).max(1)
}

fn tiles(c: &Layout) -> u64 {
    let (columns, rows) = (size(c.dims.last()), size(c.dims.iter().rev().nth(1)));
    let matrices = elements(c) / (columns * rows).max(1);
    matrices.max(1).saturating_mul(columns.div_ceil(TILE.1)).saturating_mul(rows.div_ceil(TILE.0)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::DataType::F16;
    use crate::plan::auto::operators::demand;
    use crate::plan::{Input, Plan};

    #[test]
    fn shapes_tell_how_much_is_multiplied() {
        let plan = Plan::build(|g| {
            let input = |name: &str, dims: &[usize]| g.input(name, dims, F16, Input::Copied);
            let (a, b) = (input("a", &[256, 64])?, input("b", &[64, 512])?);
            g.mm(a, b)?;
            g.addmm(input("bias", &[512])?, a, b)?;
            g.mm(a, g.transpose(input("c", &[300, 64])?, 0, 1)?)?;
            g.batch_matmul(input("d", &[3, 5, 7])?, input("e", &[3, 7, 11])?)?;
            g.matmul(input("f", &[2, 4, 100, 32])?, input("g", &[2, 4, 32, 100])?)?;
            g.mm(input("h", &[1, 2048])?, input("i", &[2048, 2048])?)?;
            Ok(())
        })
        .unwrap();
        let recipe = &plan.0.recipe;
        let of = |node: usize| {
            let (node, accesses) = (&recipe.nodes[node], recipe.accesses_of(&recipe.nodes[node]));
            let work = product(recipe, accesses, demand(&recipe.label(node)));
            (work.multiplications, work.parts)
        };
        assert_eq!(of(0), (256 * 64 * 512, 2 * 2));
        assert_eq!(of(1), (256 * 64 * 512, 2 * 2));
        assert_eq!(of(2), (256 * 64 * 300, 2 * 2));
        assert_eq!(of(3), (3 * 5 * 7 * 11, 3));
        assert_eq!(of(4), (8 * 100 * 32 * 100, 8));
        assert_eq!(of(5), (2048 * 2048, 8 * 8));
    }
}
