//! Which operators multiply matrices, and how much they multiply.

use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::recipe::{Access, Recipe};
use crate::plan::symbols::dim::Dim;

/// Rows and columns of the part of a result that a matrix core computes.
const TILE: (u64, u64) = (128, 256);

/// Products of each element that a matrix core sums up.
const SUMMED: u64 = 256;

/// Which cores an operator uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Vector,
    /// Matrix cores, for the product of this operand and the next.
    Product {
        first: usize,
    },
    /// Matrix cores, for the windows of the first operand with the filters of the second.
    Convolution,
    /// Both, as attention does.
    Both,
}

/// By the name of an operator, as `racl::op` or the library has it.
pub(super) fn kind(name: &str) -> Kind {
    let name = name.strip_prefix("aclnn").unwrap_or(name).to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if has(&["attention"]) || (has(&["conv"]) && has(&["backward"])) {
        Kind::Both
    } else if has(&["addmm", "addbmm", "baddbmm", "addmv"]) {
        Kind::Product { first: 1 }
    } else if has(&["convolution", "convdepthwise"]) {
        Kind::Convolution
    } else if has(&["matmul"]) || matches!(&*name, "mm" | "mv" | "dot" | "gemm") {
        Kind::Product { first: 0 }
    } else {
        Kind::Vector
    }
}

/// Whether an operator uses some rows of a table alone.
pub(super) fn uses_rows(label: &str) -> bool {
    let label = label.to_ascii_lowercase();
    ["embedding", "gather", "index", "scatter", "take"].iter().any(|part| label.contains(part))
}

/// How much a product multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) multiplications: u128,
    /// Parts of it that cores compute by themselves.
    pub(super) parts: u64,
    pub(super) element_bytes: u64,
}

/// Of a product by the shapes of its operands and its result.
pub(super) fn product(recipe: &Recipe, accesses: &[Access], kind: Kind) -> Work {
    let first = if let Kind::Product { first } = kind { first } else { 0 };
    let layout = |access: &Access| recipe.layout_of(access.value);
    let mut operands = accesses.iter().filter(|access| access.mode.reads()).skip(first).map(layout);
    let result = accesses.iter().find(|access| access.mode.writes()).map(layout);
    let (Some(a), Some(b), Some(c)) = (operands.next(), operands.next(), result) else {
        return Work { multiplications: 0, parts: u64::MAX, element_bytes: 2 };
    };
    let inner = if kind == Kind::Convolution { filter(b) } else { inner(a, b, c) };
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
    use crate::plan::{Input, Plan};

    #[test]
    fn names_tell_the_cores() {
        for name in ["matmul", "mm", "batch_matmul", "aclnnMatmul", "aclnnBatchMatMul", "aclnnMv"] {
            assert_eq!(kind(name), Kind::Product { first: 0 }, "{name}");
        }
        for name in ["addmm", "aclnnAddmm", "aclnnInplaceAddmm", "aclnnBaddbmm"] {
            assert_eq!(kind(name), Kind::Product { first: 1 }, "{name}");
        }
        assert_eq!(kind("aclnnConvolution"), Kind::Convolution);
        assert_eq!(kind("aclnnPromptFlashAttentionV3"), Kind::Both);
        for name in ["add", "aclnnRmsNorm", "softmax", "aclnnMmap", "aclnnDotted"] {
            assert_eq!(kind(name), Kind::Vector, "{name}");
        }
    }

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
            let work = product(recipe, accesses, kind(&recipe.label(node)));
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
