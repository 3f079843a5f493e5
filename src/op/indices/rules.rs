//! Which operators take indices, and what of.

use super::Range;
use crate::op::argument::Arg;
use crate::op::executor::Call;
use crate::op::operand;
use crate::op::view::View;

/// The indices of an operator, in its first operand.
#[derive(Debug)]
pub(super) struct Rule {
    operator: &'static str,
    /// The parameter that has them.
    pub(super) index: &'static str,
    pub(super) within: Within,
    wraps: Wraps,
}

#[derive(Debug)]
pub(super) enum Within {
    /// The dimension that this parameter says.
    Dim(&'static str),
    First,
    /// All elements.
    Elements,
    /// As many dimensions as the last one of the indices has elements.
    Leading,
    /// For each tensor of a list the dimension with its place there.
    Each,
    /// What this parameter says.
    Told(&'static str),
    /// The classes of this operand, a row each; what `ignore_index` says is none.
    Classes(&'static str),
    /// Where slices as long as the updates begin in the dimension that `axis` says.
    Starts,
}

/// Whether negative ones count from the end.
#[derive(Debug)]
enum Wraps {
    No,
    Yes,
    /// As this parameter says.
    Told(&'static str),
}

const fn rule(operator: &'static str, index: &'static str, within: Within, wraps: Wraps) -> Rule {
    Rule { operator, index, within, wraps }
}

use Within::{Classes, Dim, Each, Elements, First, Leading, Starts};
use Wraps::{No, Yes};

/// What the mock's kernels take, which a test compares; no card was seen.
static RULES: [Rule; 26] = [
    rule("aclnnCrossEntropyLoss", "target", Classes("input"), No),
    rule("aclnnEmbedding", "indices", First, No),
    rule("aclnnEmbeddingDenseBackward", "indices", Within::Told("num_weights"), No),
    rule("aclnnGather", "index", Dim("dim"), Yes),
    rule("aclnnGatherNd", "indices", Leading, Wraps::Told("negative_index_support")),
    rule("aclnnGatherV2", "index", Dim("dim"), Yes),
    rule("aclnnIndex", "indices", Each, Yes),
    rule("aclnnIndexAdd", "index", Dim("dim"), No),
    rule("aclnnIndexCopy", "index", Dim("dim"), No),
    rule("aclnnIndexFill", "index", Dim("dim"), Yes),
    rule("aclnnIndexPutImpl", "indices", Each, Yes),
    rule("aclnnIndexSelect", "index", Dim("dim"), Yes),
    rule("aclnnInplaceIndexCopy", "index", Dim("dim"), No),
    rule("aclnnInplaceIndexFill", "index", Dim("dim"), Yes),
    rule("aclnnInplacePut", "index", Elements, Yes),
    rule("aclnnInplaceScatter", "index", Dim("dim"), No),
    rule("aclnnInplaceScatterUpdate", "indices", Starts, No),
    rule("aclnnInplaceScatterValue", "index", Dim("dim"), No),
    rule("aclnnNLLLoss", "target", Classes("self_"), No),
    rule("aclnnNLLLossBackward", "target", Classes("self_"), No),
    rule("aclnnScatter", "index", Dim("dim"), No),
    rule("aclnnScatterAdd", "index", Dim("dim"), No),
    rule("aclnnScatterNd", "indices", Leading, No),
    rule("aclnnScatterNdUpdate", "indices", Leading, No),
    rule("aclnnScatterValue", "index", Dim("dim"), No),
    rule("aclnnTake", "index", Elements, Yes),
];

pub(super) fn of(operator: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.operator == operator)
}

impl Rule {
    /// What the indices are to be; none where that is not known, since something else is wrong with the call. Of those
    /// whose range depends on their place all but the size.
    pub(super) fn range(&self, call: &Call<'_>, data: &View<'_>) -> Option<Range> {
        let rank = data.dims.rank();
        let dim =
            |name| along(number(call, name)?, rank).map(|dim| data.dims.get(dim).map_or(1, |size| *size as i64));
        let size = match self.within {
            Within::Dim(name) => dim(name)?,
            Within::First => *data.dims.first()? as i64,
            Within::Elements => data.dims.elements() as i64,
            Within::Leading | Within::Each => 0,
            Within::Told(name) => number(call, name)?,
            Within::Classes(of) => *operand(call, of)?.dims.last()? as i64,
            Within::Starts => {
                let at = along(number(call, "axis")?, rank)?;
                dim("axis")? - *operand(call, "updates")?.dims.get(at)? as i64 + 1
            }
        };
        let wraps = match self.wraps {
            Wraps::No => false,
            Wraps::Yes => true,
            Wraps::Told(name) => number(call, name)? != 0,
        };
        let skipped =
            if matches!(self.within, Within::Classes(_)) { Some(number(call, "ignore_index")?) } else { None };
        Some(Range { size, wraps, skipped })
    }
}

/// A dimension, of which negative ones count from the end.
fn along(dim: i64, rank: usize) -> Option<usize> {
    // One number counts as a line of one.
    let rank = rank.max(1) as i64;
    (-rank..rank).contains(&dim).then(|| dim.rem_euclid(rank) as usize)
}

fn argument<'a>(call: &Call<'a>, name: &str) -> Option<&'a Arg<'a>> {
    call.args.get(call.function.parameter(name)?.0)
}

fn number(call: &Call<'_>, name: &str) -> Option<i64> {
    match argument(call, name)? {
        Arg::Number(bits) => Some(bits.cast_signed()),
        _ => None,
    }
}

fn operand<'a>(call: &Call<'a>, name: &str) -> Option<View<'a>> {
    let Arg::Tensor(operand, _) = argument(call, name)? else { return None };
    operand::memory(*operand).ok()
}
