//! Attention in its versions: of a prompt, of one row, in training.

use std::ops::Range;

use crate::op::DataType::{self, Bool, F32, I8, U8};
use crate::plan::recipe::operator::Operand;
use crate::plan::symbols::dim::Dim;

use super::types::{Types, require, same};
use super::{Also, Args, Family, No, Of, Results, ensure, sizes};

/// Where the parameters of a version stand. Query, key and value are the first three.
#[derive(Clone, Copy)]
struct Version {
    /// Whether key and value are lists.
    listed: bool,
    training: bool,
    one_row: bool,
    shift: usize,
    mask: usize,
    lengths: Option<usize>,
    kv_lengths: Option<usize>,
    heads: usize,
    /// None where the shape of the key tells.
    kv_heads: Option<usize>,
    layout: usize,
    sparse: Option<usize>,
}

const PROMPT: Version = Version {
    listed: false,
    training: false,
    one_row: false,
    shift: 3,
    mask: 4,
    lengths: Some(5),
    kv_lengths: Some(6),
    heads: 12,
    kv_heads: Some(17),
    layout: 16,
    sparse: Some(18),
};

/// One row against the keys so far; the number of heads stands at `heads`.
const fn row(heads: usize) -> Version {
    let at = Version { listed: true, one_row: true, lengths: None, kv_lengths: Some(5), sparse: None, ..PROMPT };
    Version { heads, layout: heads + 2, kv_heads: Some(heads + 3), ..at }
}

const fn fused(heads: usize) -> Version {
    let at = Version { listed: true, heads, layout: heads + 4, ..PROMPT };
    Version { kv_heads: Some(heads + 5), sparse: Some(heads + 6), ..at }
}

const fn training(heads: usize) -> Version {
    let at = Version { training: true, mask: 6, lengths: None, kv_lengths: None, kv_heads: None, ..PROMPT };
    Version { heads, layout: heads + 1, sparse: Some(heads + 3), ..at }
}

/// How heads lie in a tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Bsh,
    Sbh,
    Bsnd,
    Bnsd,
    /// With a result in the layout before the last one.
    BnsdBsnd,
}
use Layout::{Bnsd, BnsdBsnd, Bsh, Bsnd, Sbh};

fn layout(args: &Args<'_>, version: &Version) -> Result<Layout, No> {
    let layout = match args.text(version.layout)? {
        Some(b"BSH") => Some(Bsh),
        Some(b"SBH") => Some(Sbh),
        Some(b"BSND") => Some(Bsnd),
        Some(b"BNSD") => Some(Bnsd),
        Some(b"BNSD_BSND") => Some(BnsdBsnd),
        _ => None,
    };
    layout
        .filter(|layout| match layout {
            BnsdBsnd => !version.training && !version.one_row,
            Sbh => version.training,
            _ => true,
        })
        .ok_or_else(|| No::Misfit("a layout that it does not take".to_owned()))
}

/// A tensor as sequences, heads, positions, and elements of a head.
#[derive(Debug, Clone, Copy)]
struct Heads {
    batch: Dim,
    rows: Dim,
    width: Dim,
}

fn heads_of(layout: Layout, x: Operand<'_>, heads: i64) -> Result<Heads, No> {
    let wrong = || No::Misfit(format!("{:?} does not have {heads} heads", x.dims));
    let split = |width: Dim| {
        let odd = sizes::fixed(width).is_some_and(|width| width % heads != 0);
        let each = sizes::quotient(width, heads);
        if odd { Err(wrong()) } else { each.ok_or_else(|| No::Unsure("heads that depend on symbols".to_owned())) }
    };
    let counted = |count: Dim| if count == sizes::number(heads) { Ok(()) } else { Err(wrong()) };
    match (layout, x.dims) {
        (Bsh, &[batch, rows, width]) | (Sbh, &[rows, batch, width]) => {
            Ok(Heads { batch, rows, width: split(width)? })
        }
        (Bsnd, &[batch, rows, count, width]) | (Bnsd | BnsdBsnd, &[batch, count, rows, width]) => {
            counted(count)?;
            Ok(Heads { batch, rows, width })
        }
        _ => Err(wrong()),
    }
}

fn shape_of(layout: Layout, of: Heads, heads: i64) -> Result<Vec<Dim>, No> {
    let count = sizes::number(heads);
    let flat = sizes::times(of.width, count);
    let flat = || flat.ok_or_else(|| No::Unsure("heads that depend on symbols".to_owned()));
    Ok(match layout {
        Bsh => vec![of.batch, of.rows, flat()?],
        Sbh => vec![of.rows, of.batch, flat()?],
        Bsnd | BnsdBsnd => vec![of.batch, of.rows, count, of.width],
        Bnsd => vec![of.batch, count, of.rows, of.width],
    })
}

/// How many heads the key has.
fn kv_heads(
    args: &Args<'_>,
    version: &Version,
    layout: Layout,
    key: Operand<'_>,
    (heads, width): (i64, Dim),
) -> Result<i64, No> {
    let unsure = || No::Unsure("heads that depend on symbols".to_owned());
    let count = match (version.kv_heads, layout, key.dims) {
        (Some(at), ..) => match args.fixed(at)? {
            0 => heads,
            count => count,
        },
        (None, Bsh | Sbh, [_, _, all]) => match sizes::fixed(width).ok_or_else(unsure)? {
            0 => 0,
            width => sizes::fixed(*all).ok_or_else(unsure)? / width,
        },
        (None, Bsnd, [_, _, count, _]) | (None, Bnsd, [_, count, _, _]) => {
            if width == Dim::from(0) {
                0
            } else {
                sizes::fixed(*count).ok_or_else(unsure)?
            }
        }
        _ => 0,
    };
    let fits = count > 0 && heads % count == 0 && heads / count <= 64;
    ensure!(fits, "{heads} heads for {count} of the key");
    Ok(count)
}

/// What follows from query, key and value.
struct Attention {
    dtype: DataType,
    heads: i64,
    query: Heads,
    /// Elements of a head of the result.
    width: Dim,
    layout: Layout,
}

impl Attention {
    fn result(&self) -> Result<Of, No> {
        let of = Heads { width: self.width, ..self.query };
        Ok(Of::new(self.dtype, shape_of(self.layout, of, self.heads)?))
    }

    /// As many numbers for each row.
    fn numbers(&self, count: usize) -> Of {
        Of::new(F32, [self.query.batch, sizes::number(self.heads), self.query.rows, Dim::from(count)])
    }
}

fn keys<'a>(args: &Args<'a>, version: &Version, at: usize) -> Result<Vec<Operand<'a>>, No> {
    if version.listed { args.list(at) } else { Ok(vec![args.tensor(at)?]) }
}

fn attention(args: &Args<'_>, version: &Version) -> Result<Attention, No> {
    let (query, heads) = (args.tensor(0)?, args.fixed(version.heads)?);
    let (keys, values) = (keys(args, version, 1)?, keys(args, version, 2)?);
    let layout = layout(args, version)?;
    ensure!(heads > 0, "{heads} heads");
    require(Types::NARROW, query.dtype, "a query")?;
    keys.iter().chain(&values).try_for_each(|one| same(one.dtype, query.dtype, "query, key and value"))?;
    let of = heads_of(layout, query, heads)?;
    ensure!(!version.one_row || of.rows == Dim::from(1), "a query of {:?} rows", of.rows);
    let count = kv_heads(args, version, layout, keys[0], (heads, of.width))?;
    let several = keys.len() != 1;
    let fits = keys.len() == values.len() && (!several || Dim::from(keys.len()) == of.batch);
    ensure!(fits, "{} keys and {} values of {:?} sequences", keys.len(), values.len(), of.batch);
    let batch = if several { Dim::from(1) } else { of.batch };
    let (mut positions, mut width) = (Vec::new(), None);
    for (key, value) in keys.iter().zip(&values) {
        let (key, value) = (heads_of(layout, *key, count)?, heads_of(layout, *value, count)?);
        ensure!(key.batch == batch && value.batch == batch, "{:?} and {:?} sequences", key.batch, value.batch);
        ensure!(key.rows == value.rows, "{:?} keys of {:?} values", key.rows, value.rows);
        ensure!(key.width == of.width, "heads of {:?} elements in {:?}", key.width, of.width);
        ensure!(width.is_none_or(|width| width == value.width), "values of {:?} elements", value.width);
        positions.push(key.rows);
        width = Some(value.width);
    }
    let attention = Attention { dtype: query.dtype, heads, query: of, width: width.unwrap_or(of.width), layout };
    let longest = longest(&positions)?;
    check_shift(args, version, &attention, longest)?;
    check_mask(args, version, &attention, longest)?;
    check_lengths(args, version.lengths, &attention, &[of.rows], of.rows == Dim::from(1))?;
    check_lengths(args, version.kv_lengths, &attention, &positions, false)?;
    Ok(attention)
}

fn longest(positions: &[Dim]) -> Result<Dim, No> {
    if let [only] = positions {
        return Ok(*only);
    }
    let fixed: Option<Vec<i64>> = positions.iter().map(|one| sizes::fixed(*one)).collect();
    let longest = fixed.and_then(|all| all.into_iter().max()).map(sizes::number);
    longest.ok_or_else(|| No::Unsure("keys whose lengths depend on symbols".to_owned()))
}

/// Whether a size is less for all values of the symbols.
fn is_less(args: &Args<'_>, a: Dim, b: Dim) -> bool {
    a.poly().minus(&b.poly()).greatest(args.bounds).is_some_and(|most| most < 0)
}

/// That rows and positions are covered; one row counts for all of them, and a batch of one for all sequences.
fn require_cover(args: &Args<'_>, x: Operand<'_>, of: &Attention, positions: Dim, least: usize) -> Result<(), No> {
    let one = Dim::from(1);
    let (batch, rows, heads) = (of.query.batch, of.query.rows, sizes::number(of.heads));
    let some = |dim: Dim, all: Dim| dim == one || dim == all;
    let enough = |dim: Dim, all: Dim| !is_less(args, dim, all);
    let row = |dim: Dim| dim == one || enough(dim, rows);
    let fits = x.dims.len() >= least
        && match *x.dims {
            [a, last] => enough(last, positions) && if rows == one { some(a, batch) } else { row(a) },
            [a, b, last] => enough(last, positions) && row(b) && some(a, batch),
            [a, b, c, last] => enough(last, positions) && row(c) && some(a, batch) && some(b, heads),
            _ => false,
        };
    ensure!(fits, "{:?} does not cover {rows:?} rows and {positions:?} positions", x.dims);
    Ok(())
}

fn check_shift(args: &Args<'_>, version: &Version, of: &Attention, positions: Dim) -> Result<(), No> {
    let Some(shift) = args.maybe(version.shift)? else { return Ok(()) };
    same(shift.dtype, of.dtype, "a query and its shift")?;
    require_cover(args, shift, of, positions, 4)?;
    ensure!(shift.dims[1] == sizes::number(of.heads), "a shift {:?} of {} heads", shift.dims, of.heads);
    Ok(())
}

fn check_mask(args: &Args<'_>, version: &Version, of: &Attention, positions: Dim) -> Result<(), No> {
    let (sparse, mask) = (version.sparse.map_or(Ok(0), |at| args.fixed(at))?, args.maybe(version.mask)?);
    ensure!((0..=3).contains(&sparse), "a mode {sparse}, which is 0 to 3");
    let single = of.query.rows == Dim::from(1) && !version.training;
    let Some(mask) = mask else {
        ensure!(sparse == 0 || version.training || single, "mode {sparse} without a mask");
        return Ok(());
    };
    require(Types::list(&[Bool, I8, U8]), mask.dtype, "a mask")?;
    if matches!(sparse, 2 | 3) {
        let side = Dim::from(2048);
        let [lead @ .., a, b] = mask.dims else {
            ensure!(single, "a mask of shape {:?}", mask.dims);
            return Ok(());
        };
        let whole = lead.len() <= 2 && lead.iter().all(|dim| *dim == Dim::from(1)) && *a == side && *b == side;
        ensure!(single || whole, "a mask of shape {:?}, which is 2048 x 2048 in mode {sparse}", mask.dims);
        return Ok(());
    }
    require_cover(args, mask, of, positions, 2)
}

/// Lengths of sequences, one for all or one for each; `each` is what they are at most.
fn check_lengths(args: &Args<'_>, at: Option<usize>, of: &Attention, each: &[Dim], unused: bool) -> Result<(), No> {
    let Some(at) = at.filter(|at| args.has(*at)) else { return Ok(()) };
    let lengths = args.ints(at)?;
    let few = sizes::fixed(of.query.batch).is_some_and(|batch| (lengths.len() as i64) < batch);
    ensure!(lengths.len() <= 1 || !few, "{} lengths of {:?} sequences", lengths.len(), of.query.batch);
    let batch = sizes::fixed(of.query.batch).unwrap_or(1).max(0) as usize;
    // As many as are told apart: there may be more sequences than anybody can count.
    let told = if lengths.len().max(each.len()) == 1 { batch.min(1) } else { batch };
    for at in 0..if unused || lengths.is_empty() { 0 } else { told } {
        let length = lengths[if lengths.len() == 1 { 0 } else { at }];
        let whole = each[if each.len() == 1 { 0 } else { at }];
        let negative = args.least(length).is_some_and(|least| least < 0) && sizes::fixed(length).is_some();
        ensure!(!negative && !is_less(args, whole, length), "a length of {length:?} of {whole:?}");
    }
    Ok(())
}

/// What has to be left out.
fn refuse(args: &Args<'_>, parameters: Range<usize>) -> Result<(), No> {
    for at in parameters {
        ensure!(!args.has(at), "parameter {at}, which has to be left out");
    }
    Ok(())
}

fn alone(args: &Args<'_>, version: Version, refused: Range<usize>) -> Results {
    refuse(args, refused)?;
    Ok(vec![attention(args, &version)?.result()?])
}

/// A result that is not looked at.
fn unused() -> Of {
    Of::new(F32, [Dim::from(1)]).or(Types::KNOWN).or_shape(Also::Anything).unless(false)
}

/// With the logarithm of the sum of each row, where it is asked for by the flag at `flag`.
fn with_sums(args: &Args<'_>, heads: usize, flag: usize, sums: usize) -> Results {
    refuse(args, 7..heads)?;
    let of = attention(args, &fused(heads))?;
    let wanted = args.flag(flag)?;
    ensure!(!wanted || args.has(sums), "sums that are wanted and left out");
    Ok(vec![of.result()?, if wanted { of.numbers(1) } else { unused() }])
}

fn latest(args: &Args<'_>) -> Results {
    let kind = args.fixed(45)?;
    ensure!(kind == 0, "a shift of kind {kind}");
    with_sums(args, 31, 41, 47)
}

fn require_empty(args: &Args<'_>, parameters: Range<usize>) -> Result<(), No> {
    for at in parameters {
        ensure!(!args.has(at) || args.ints(at)?.is_empty(), "numbers {at}, which have to be left out");
    }
    Ok(())
}

fn in_training(args: &Args<'_>, heads: usize, lists: Range<usize>) -> Results {
    refuse(args, 4..6)?;
    require_empty(args, lists)?;
    let keep = args.real(heads - 3)?;
    ensure!((keep - 1.0).abs() == 0.0, "dropout, with {keep} kept");
    let of = attention(args, &training(heads))?;
    Ok(vec![of.numbers(8), of.numbers(8), unused(), of.result()?])
}

fn in_training_later(args: &Args<'_>) -> Results {
    let kind = args.fixed(18)?;
    ensure!((0..=1).contains(&kind), "a shift of kind {kind}");
    in_training(args, 14, 7..10)
}

pub(super) const RULES: Family = &[
    (&["PromptFlashAttention"], |a| {
        let first = Version { kv_lengths: None, heads: 6, layout: 10, kv_heads: Some(11), sparse: None, ..PROMPT };
        alone(a, first, 0..0)
    }),
    (&["PromptFlashAttentionV2", "PromptFlashAttentionV3"], |a| alone(a, PROMPT, 7..12)),
    (&["IncreFlashAttention"], |a| alone(a, row(6), 0..0)),
    (&["IncreFlashAttentionV2"], |a| alone(a, row(11), 6..11)),
    (&["IncreFlashAttentionV3"], |a| alone(a, row(14), 6..14)),
    (&["IncreFlashAttentionV4"], |a| alone(a, row(15), 6..15)),
    (&["FusedInferAttentionScore"], |a| with_sums(a, 17, 27, 29)),
    (&["FusedInferAttentionScoreV2"], |a| with_sums(a, 24, 34, 38)),
    (&["FusedInferAttentionScoreV3"], |a| with_sums(a, 27, 37, 41)),
    (&["FusedInferAttentionScoreV4"], |a| with_sums(a, 29, 39, 44)),
    (&["FusedInferAttentionScoreV5"], latest),
    (&["FlashAttentionScore"], |a| in_training(a, 12, 7..8)),
    (&["FlashAttentionScoreV2"], in_training_later),
];
