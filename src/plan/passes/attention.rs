//! Attention that is written as products and a softmax: one operator.

use crate::error::Result;
use crate::op::DataType::{Bf16, F16, F32, U8};
use crate::op::{Operand, aclnn};
use crate::plan::recipe::Access;
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::symbols::dim::Dim;

use super::called::Called;
use super::edit::Edit;
use super::facts::Facts;
use super::group::{Group, dims, dtype, orders};
use super::replacing::{Replacing, value};

pub(super) const NAME: &str = "fused_attention";

/// What cards take: elements of a head, heads, and sequences, of which there may be fewer where the elements are no
/// multiple of 16.
const WIDEST: usize = 512;
const MOST_HEADS: usize = 256;
const MOST_SEQUENCES: usize = 1 << 16;
const MOST_UNALIGNED: usize = 128;
/// Of keys and values, by the document of the operator.
const MOST_KEYS: usize = 20 << 20;

const PRODUCTS: [&str; 2] = ["aclnnMatmul", "aclnnBatchMatMul"];

/// Lets the last product of an attention do all of it.
#[inline(never)]
pub(super) fn run(facts: &Facts<'_>) -> Result<Edit> {
    let mut edit = Edit::of(facts.recipe);
    for last in 0..facts.recipe.nodes.len() as u32 {
        let Some(call) = facts.called(last).filter(is_product) else { continue };
        let mut group = Group::of(facts, last);
        let Some(found) = attention(&mut group, &call) else { continue };
        if group.is_closed(&[]) && !group.is_taken(&edit) {
            fuse(&mut edit, &group, &found)?;
        }
    }
    Ok(edit)
}

/// `softmax(scale · q · kᵀ + mask) · v`; the key is as it stands in the product.
struct Attention {
    query: Access,
    turned_key: Access,
    value: Access,
    scale: f64,
    /// The bytes of its mask, with 1 for what a row does not see.
    mask: Option<Vec<u8>>,
    out: Access,
}

fn is_product(call: &Called<'_>) -> bool {
    call.is(&PRODUCTS) && call.int(3) == Some(0)
}

fn attention(group: &mut Group<'_>, call: &Called<'_>) -> Option<Attention> {
    let (facts, shares, value, out) = (group.facts, call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let one = dtype(facts, out.value);
    let rank = dims(facts, shares.value).len();
    let uncast = group.through(shares, "aclnnCast", |cast| cast.tensor(0));
    let softmax = group.made_by(uncast, &["aclnnSoftmax"])?;
    let dim = softmax.int(1)?;
    let mut scores = group.through(softmax.tensor(0)?, "aclnnCast", |cast| cast.tensor(0));
    let hidden = masked(group, scores);
    let mask = match hidden {
        Some((under, mask)) => {
            scores = under;
            Some(mask)
        }
        None => None,
    };
    let (scores, scale) = scaled(group, scores);
    let product = group.made_by(scores, &PRODUCTS).filter(is_product)?;
    let found = Attention { query: product.tensor(0)?, turned_key: product.tensor(1)?, value, scale, mask, out };
    let wide = [uncast, softmax.tensor(0)?].iter().all(|at| [one, F32].contains(&dtype(facts, at.value)));
    let narrow =
        [shares, scores, found.query, found.turned_key, value].iter().all(|at| dtype(facts, at.value) == one);
    let fits = [F16, Bf16].contains(&one)
        && wide
        && narrow
        && scale.is_finite()
        && (dim == -1 || dim == rank as i64 - 1)
        && is_attention(facts, &found);
    fits.then_some(found)
}

/// Scores times a number.
fn scaled(group: &mut Group<'_>, scores: Access) -> (Access, f64) {
    let mut longer = group.clone();
    let call = longer.made_by(scores, &["aclnnMuls", "aclnnDivs"]);
    match call.and_then(|call| Some((call.tensor(0)?, call.scalar(1)?, call.is(&["aclnnDivs"])))) {
        Some((from, by, divides)) => {
            *group = longer;
            (from, if divides { by.recip() } else { by })
        }
        None => (scores, 1.0),
    }
}

/// Scores with a constant added that hides some of them.
fn masked(group: &mut Group<'_>, scores: Access) -> Option<(Access, Vec<u8>)> {
    let mut longer = group.clone();
    let sum = longer.made_by(scores, &["aclnnAdd"]).filter(|sum| sum.scalar(2) == Some(1.0))?;
    let found = orders(&sum)?.into_iter().find_map(|(under, mask)| {
        let hidden = hidden(group, mask, dims(group.facts, under.value))?;
        Some((under, hidden))
    })?;
    *group = longer;
    Some(found)
}

/// What a constant hides: 0 where it is 0, 1 where it is minus infinity. None for other numbers, where a row sees
/// nothing, and for one that is not the same for all heads.
fn hidden(group: &Group<'_>, mask: Access, scores: &[Dim]) -> Option<Vec<u8>> {
    let facts = group.facts;
    let (bytes, layout) = (group.constant(mask.value)?, facts.recipe.layout_of(mask.value));
    let (lead, last) = layout.dims.split_at(layout.dims.len().checked_sub(2)?);
    let columns = last[1].as_fixed()?;
    let fits = facts.is_whole(mask.value) && lead.iter().all(|dim| *dim == Dim::from(1)) && scores.ends_with(last);
    let (zero, least): (Vec<&[u8]>, &[u8]) = match layout.dtype {
        F32 => (vec![&[0, 0, 0, 0], &[0, 0, 0, 0x80]], &[0, 0, 0x80, 0xff]),
        F16 => (vec![&[0, 0], &[0, 0x80]], &[0, 0xfc]),
        Bf16 => (vec![&[0, 0], &[0, 0x80]], &[0x80, 0xff]),
        _ => return None,
    };
    if !fits || columns == 0 || cfg!(target_endian = "big") {
        return None;
    }
    let one = |number: &[u8]| match number {
        number if zero.contains(&number) => Some(0),
        number if number == least => Some(1),
        _ => None,
    };
    let hidden: Vec<u8> = bytes.chunks(layout.dtype.size()).map(one).collect::<Option<_>>()?;
    hidden.chunks(columns).all(|row| row.contains(&0)).then_some(hidden)
}

/// Whether query, key and value have one shape of heads, and the result is that of the query.
fn is_attention(facts: &Facts<'_>, found: &Attention) -> bool {
    let [query, key, value, out] =
        [found.query, found.turned_key, found.value, found.out].map(|one| dims(facts, one.value));
    let (&[ref lead @ .., rows, width], &[ref key_lead @ .., key_width, keys]) = (query, key) else { return false };
    let heads_are_known = match lead {
        [_] => true,
        [_, heads] => heads.as_fixed().is_some_and(|heads| heads > 0),
        _ => false,
    };
    let whole =
        |dims: &[Dim], rows: Dim| matches!(dims, [first @ .., a, b] if first == lead && (*a, *b) == (rows, width));
    heads_are_known
        && is_within_limits(facts, lead, (keys, width))
        && lead == key_lead
        && key_width == width
        && whole(value, keys)
        && whole(out, rows)
}

/// Whether cards take so many sequences, heads and keys of such a width, whatever the symbols are.
fn is_within_limits(facts: &Facts<'_>, lead: &[Dim], (keys, width): (Dim, Dim)) -> bool {
    let at_most = |dim: Dim, most: usize| dim.poly().greatest(&facts.bounds).is_some_and(|size| size <= most as i128);
    let Some(width) = width.as_fixed().filter(|width| *width <= WIDEST) else { return false };
    let most = if width.is_multiple_of(16) { MOST_SEQUENCES } else { MOST_UNALIGNED };
    lead.first().is_none_or(|sequences| at_most(*sequences, most))
        && at_most(keys, MOST_KEYS)
        && lead.iter().skip(1).all(|heads| at_most(*heads, MOST_HEADS))
}

/// A value as sequences, heads, rows and elements: a head of its own each where there are three dimensions. Views stay
/// views: the document of the operator asks for none, its implementation lays them out by itself (ops-transformer,
/// aclnnInnerPromptFlashAttention).
fn as_heads(edit: &mut Edit, facts: &Facts<'_>, one: Access, turned: bool) -> u32 {
    let (info, layout) = (&facts.recipe.values[one.value as usize], facts.recipe.layout_of(one.value));
    let Layout { dtype, mut dims, mut strides } = layout.clone();
    let rank = dims.len();
    if turned {
        dims.swap(rank - 2, rank - 1);
        strides.swap(rank - 2, rank - 1);
    }
    if rank == 3 {
        dims.insert(1, Dim::from(1));
        strides.insert(1, strides[0].clone());
    }
    edit.value(facts.recipe, info.storage, info.offset.clone(), Layout { dtype, dims, strides })
}

fn mask_value(edit: &mut Edit, facts: &Facts<'_>, bytes: Vec<u8>, scores: [Dim; 2]) -> Option<u32> {
    let one = Dim::from(1);
    let layout = Layout::dense(U8, &[one, one, scores[0], scores[1]])?;
    let storage = edit.constant(facts.recipe, bytes);
    Some(edit.value(facts.recipe, storage, Extent::Fixed(0), layout))
}

fn fuse(edit: &mut Edit, group: &Group<'_>, found: &Attention) -> Result<()> {
    let facts = group.facts;
    let [q, k, v, mut out] =
        [(found.query, false), (found.turned_key, true), (found.value, false), (found.out, false)]
            .map(|(one, turned)| value(as_heads(edit, facts, one, turned)));
    let (query, key) = (dims(facts, found.query.value), dims(facts, found.turned_key.value));
    let sides = [query[query.len() - 2], key[key.len() - 1]];
    let mask = found.mask.clone().and_then(|bytes| mask_value(edit, facts, bytes, sides)).map(value);
    let heads = if query.len() == 4 { query[1].as_fixed().unwrap_or(1) as i64 } else { 1 };
    let mask = mask.as_ref().map(|mask| mask as &dyn Operand);
    // How far a row sees to either side, where the mode asks for it: everywhere.
    let far = i64::from(i32::MAX);
    let replacing = Replacing::of(|to| {
        aclnn::prompt_flash_attention_v3(
            to,
            &q,
            &k,
            &v,
            None,
            mask,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            heads,
            found.scale,
            far,
            far,
            "BNSD",
            heads,
            0,
            0,
            &mut out,
        )
    })?;
    group.replace(edit, NAME, "aclnnPromptFlashAttentionV3 computes it, in place of", replacing);
    Ok(())
}
