//! Which bytes of a storage a value covers, and whether two values share some.

use super::effort::spend;
use super::layout::Extent;
use super::poly::Bounds;
use super::recipe::Recipe;

/// First byte and end of a value within its storage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Range {
    pub(crate) start: Extent,
    pub(crate) end: Extent,
    /// Whether every byte between belongs to it.
    pub(crate) dense: bool,
}

pub(crate) fn range(recipe: &Recipe, value: u32) -> Range {
    let info = &recipe.values[value as usize];
    let layout = recipe.layout_of(value);
    let whole = recipe.storages[info.storage as usize].bytes.clone();
    let end = layout.span().and_then(|span| info.offset.plus(&span)).unwrap_or(whole);
    Range { start: info.offset.clone(), end, dense: layout.is_dense() }
}

/// Whether two values may have a byte in common, for some values of the symbols.
pub(crate) fn may_overlap(recipe: &Recipe, a: u32, b: u32, bounds: Bounds<'_>) -> bool {
    if recipe.storage_of(a) != recipe.storage_of(b) {
        return false;
    }
    let (x, y) = (range(recipe, a), range(recipe, b));
    let apart = x.end.is_at_most(&y.start, bounds) || y.end.is_at_most(&x.start, bounds);
    if apart || x.start == x.end || y.start == y.end {
        return false;
    }
    if x.dense && y.dense {
        return true;
    }
    common(recipe, a, b) != Common::Nothing
}

/// What the bytes of two values have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Common {
    Nothing,
    Bytes {
        start: u64,
        end: u64,
    },
    /// Too many pieces to tell, or symbols: they may have something in common.
    Unknown,
}

/// Most pieces of a value with gaps that are compared one by one.
const MOST_PIECES: u64 = 1 << 16;

/// The first piece of bytes that both values have. Exact for values without symbols.
pub(crate) fn common(recipe: &Recipe, a: u32, b: u32) -> Common {
    let (Some(a), Some(b)) = (pieces(recipe, a), pieces(recipe, b)) else { return Common::Unknown };
    let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        let (start, end) = (x.0.max(y.0), x.1.min(y.1));
        if start < end {
            return Common::Bytes { start, end };
        }
        if x.1 <= y.1 {
            a.next()
        } else {
            b.next()
        };
    }
    Common::Nothing
}

/// The contiguous pieces of a value, in order; none when there are too many or their places are not known.
fn pieces(recipe: &Recipe, value: u32) -> Option<Vec<(u64, u64)>> {
    let info = &recipe.values[value as usize];
    let layout = recipe.layout_of(value);
    let size = layout.dtype.size() as u64;
    let offset = info.offset.as_fixed()?;
    let mut axes = Vec::new();
    for (dim, stride) in layout.dims.iter().zip(&layout.strides) {
        match (dim.as_fixed()? as u64, stride.as_fixed()?) {
            (0, _) => return Some(Vec::new()),
            (1, _) | (_, 0) => {}
            (count, stride) => axes.push((stride.checked_mul(size)?, count)),
        }
    }
    axes.sort_unstable();
    let mut run = size;
    axes.retain(|(stride, count)| {
        let joins = *stride == run;
        run *= if joins { *count } else { 1 };
        !joins
    });
    let total = axes.iter().try_fold(1_u64, |product, (_, count)| product.checked_mul(*count))?;
    if total > MOST_PIECES || !spend(total) {
        return None;
    }
    let mut starts = vec![offset];
    for (stride, count) in axes {
        starts = starts.iter().flat_map(|start| (0..count).map(move |i| start + i * stride)).collect();
    }
    starts.sort_unstable();
    Some(starts.into_iter().map(|start| (start, start + run)).collect())
}
