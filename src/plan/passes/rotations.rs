//! Rotary embeddings that are written with halves: one operator.

use crate::error::Result;
use crate::op::DataType::{Bf16, F16, F32};
use crate::op::aclnn;
use crate::plan::recipe::Access;
use crate::plan::symbols::dim::Dim;
use crate::plan::symbols::poly::Poly;

use super::edit::Edit;
use super::facts::Facts;
use super::group::{Group, are_halves, dims, dtype, orders};
use super::replacing::{Replacing, value};

pub(super) const NAME: &str = "fused_rotations";

/// What libraries of CANN take: so many dimensions, the last of them less than this.
const RANK: usize = 4;
const WIDTH: usize = 896;
/// Batches and heads are fewer.
const FEW: i128 = 1000;
/// Where the rows come right before the last dimension, batches times heads are at most so many times the rows.
const HEADS_OF_ROW: i128 = 8;

/// The first dimensions of angles that cards take: those that are as large as in what is turned; the others are 1.
const SPREAD: [[bool; 3]; 6] = [
    [true, true, true],
    [false, false, true],
    [true, false, true],
    [false, true, false],
    [true, true, false],
    [true, false, false],
];

/// Lets `x · cos + cat(-second half, first half) · sin` be one operator.
#[inline(never)]
pub(super) fn run(facts: &Facts<'_>) -> Result<Edit> {
    let mut edit = Edit::of(facts.recipe);
    for last in 0..facts.recipe.nodes.len() as u32 {
        let Some(call) = facts.called(last).filter(|call| call.is(&["aclnnAdd"])) else { continue };
        let (Some(pairs), Some(y), Some(1.0)) = (orders(&call), call.tensor(3), call.scalar(2)) else { continue };
        let found = pairs.into_iter().find_map(|(straight, turned)| {
            let mut group = Group::of(facts, last);
            let found = rotation(&mut group, straight, turned)?;
            (fits(facts, &found, y.value) && group.is_closed(&[]) && !group.is_taken(&edit)).then_some((group, found))
        });
        if let Some((group, Rotation { x, cos, sin })) = found {
            let (x, cos, sin) = (value(x.value), value(cos.value), value(sin.value));
            let to = &mut value(y.value);
            let replacing = Replacing::of(|g| aclnn::rotary_position_embedding(g, &x, &cos, &sin, 0, to))?;
            let why = "aclnnRotaryPositionEmbedding computes it, in place of";
            group.replace(&mut edit, NAME, why, replacing);
        }
    }
    Ok(edit)
}

struct Rotation {
    x: Access,
    cos: Access,
    sin: Access,
}

fn rotation(group: &mut Group<'_>, straight: Access, turned: Access) -> Option<Rotation> {
    let straight = group.made_by(straight, &["aclnnMul"])?;
    let turned = group.made_by(turned, &["aclnnMul"])?;
    let (straight, turned) = (orders(&straight)?, orders(&turned)?);
    turned.into_iter().find_map(|(joined, sin)| {
        straight.into_iter().find_map(|(x, cos)| {
            let mut longer = group.clone();
            turns(&mut longer, x, joined)?;
            *group = longer;
            Some(Rotation { x, cos, sin })
        })
    })
}

/// Whether this is the second half of `x`, negated, and then the first half.
fn turns(group: &mut Group<'_>, x: Access, joined: Access) -> Option<()> {
    let facts = group.facts;
    let cat = group.made_by(joined, &["aclnnCat"])?;
    let last = dims(facts, x.value).len() as i64 - 1;
    let [negated, first] = *cat.tensors(0) else { return None };
    let second = group.made_by(negated, &["aclnnNeg"])?.tensor(0)?;
    let views = are_halves(facts, x.value, (first.value, second.value), usize::try_from(last).ok()?);
    let dim = cat.int(1)?;
    ((dim == -1 || dim == last) && (views || split(group, x, (first, second)).is_some())).then_some(())
}

/// Whether both are what an operator splits `x` into, in its last dimension.
fn split(group: &mut Group<'_>, x: Access, (first, second): (Access, Access)) -> Option<()> {
    let facts = group.facts;
    let call = group.made_by(first, &["aclnnSplitWithSize"])?;
    let [a, b] = *call.tensors(3) else { return None };
    let (dim, last) = (call.int(2)?, dims(facts, x.value).len() as i64 - 1);
    let fits = facts.is_same(call.tensor(0)?.value, x.value)
        && (dim == -1 || dim == last)
        && facts.is_same(a.value, first.value)
        && facts.is_same(b.value, second.value)
        && dims(facts, a.value) == dims(facts, b.value);
    fits.then_some(())
}

fn fits(facts: &Facts<'_>, found: &Rotation, y: u32) -> bool {
    let Rotation { x, cos, sin } = found;
    let (shape, angles) = (dims(facts, x.value), dims(facts, cos.value));
    let one = dtype(facts, y);
    shape.len() == RANK
        && are_angles(facts, shape, angles)
        // What is written has no gaps.
        && facts.recipe.layout_of(y).is_dense()
        && dims(facts, sin.value) == angles
        && dims(facts, y) == shape
        && [F32, F16, Bf16].contains(&one)
        && [x, cos, sin].iter().all(|operand| dtype(facts, operand.value) == one)
}

fn are_angles(facts: &Facts<'_>, shape: &[Dim], angles: &[Dim]) -> bool {
    let ([lead @ .., width], [all @ .., angle]) = (shape, angles) else { return false };
    let size = |(size, full): (&Dim, bool)| if full { *size } else { Dim::from(1) };
    let is_spread = |full: [bool; 3]| all.iter().copied().eq(lead.iter().zip(full).map(size));
    // The library goes by the sizes, so what may be taken for several of them has to be good for each.
    let mut spread = SPREAD.into_iter().filter(|full| is_spread(*full)).peekable();
    angle == width
        && width.as_fixed().is_some_and(|width| width < WIDTH)
        && spread.peek().is_some()
        && spread.all(|full| has_room(facts, lead, full))
}

/// Whether there are no more batches and heads than libraries of CANN take, where the angles are spread so.
fn has_room(facts: &Facts<'_>, lead: &[Dim], full: [bool; 3]) -> bool {
    let rows = full.iter().rposition(|full| *full).unwrap_or(RANK - 2);
    let mut others = lead.iter().enumerate().filter(|(dim, _)| *dim != rows).map(|(_, size)| size.poly());
    let (Some(a), Some(b)) = (others.next(), others.next()) else { return false };
    let few = |size: &Poly| size.greatest(&facts.bounds).is_some_and(|size| size < FEW);
    let left = Poly::constant(HEADS_OF_ROW).times(&lead[rows].poly()).minus(&a.times(&b));
    few(&a) && few(&b) && (rows != RANK - 2 || left.least(&facts.bounds).is_some_and(|left| left >= 0))
}
