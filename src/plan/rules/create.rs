//! Operators that make elements: sequences, fills, random numbers.

use crate::op::DataType::{self, Bf16, Bool, F16, F32, F64, I8, I16, I32, I64, U8};
use crate::plan::symbols::dim::Dim;

use super::elements::require_one;
use super::shapes::{broadcast, dim_of, require_same, require_spread, writable};
use super::types::{Types, float, promote, require, same};
use super::{Also, Args, Family, No, Of, Results, ensure, sizes};

/// Numbers from one to another; `whole` says that the end belongs to them.
fn sequence(args: &Args<'_>, whole: bool) -> Results {
    let ((a, start, _), (b, end, _), (c, step, _)) = (args.number(0)?, args.number(1)?, args.number(2)?);
    let steps = (end - start) / step;
    ensure!(step != 0.0 && steps.is_finite(), "from {start} to {end} in steps of {step}");
    ensure!(steps >= 0.0, "from {start} to {end}, where a step of {step} leads away");
    let length = if whole { steps.floor() + 1.0 } else { steps.ceil() };
    let of = Of::new(promote(promote(a, b), c), [sizes::number(length as i64)]).or(Types::KNOWN);
    Ok(vec![if whole { of } else { of.or_shape(Also::Elements) }])
}

fn spaced(args: &Args<'_>) -> Results {
    let ((a, ..), (b, ..), count) = (args.scalar(0)?, args.scalar(1)?, args.int(2)?);
    ensure!(sizes::fixed(count).is_none_or(|count| count >= 0), "{count:?} numbers");
    Ok(vec![Of::new(float(promote(a, b)), [count]).or(Types::KNOWN)])
}

fn eye(args: &Args<'_>) -> Results {
    let dims = [writable(Some(args.int(0)?))?, writable(Some(args.int(1)?))?];
    Ok(vec![Of::new(F32, dims).or(Types::KNOWN)])
}

fn one_hot(args: &Args<'_>) -> Results {
    let (classes, count, on, off) = (args.tensor(0)?, args.int(1)?, args.tensor(2)?, args.tensor(3)?);
    require(Types::INTEGERS, classes.dtype, "classes")?;
    ensure!(sizes::fixed(count).is_none_or(|count| (0..=i64::from(i32::MAX)).contains(&count)), "{count:?} classes");
    ensure!(classes.dims.len() < 8, "classes of 8 dimensions");
    for value in [on, off] {
        ensure!(sizes::product(value.dims) == Some(1.into()), "a value of shape {:?}", value.dims);
        same(value.dtype, on.dtype, "values")?;
    }
    let at = dim_of(args.fixed(4)?, classes.dims.len() + 1)?;
    let mut dims = classes.dims.to_vec();
    dims.insert(at, count);
    Ok(vec![Of::new(on.dtype, dims)])
}

fn fill_diagonal(args: &Args<'_>) -> Results {
    let own = args.tensor(0)?;
    args.scalar(1)?;
    ensure!(own.dims.len() >= 2, "a diagonal of {:?}", own.dims);
    let alike = own.dims.iter().all(|dim| *dim == own.dims[0]);
    ensure!(own.dims.len() == 2 || alike, "a diagonal of {:?}", own.dims);
    Ok(Vec::new())
}

/// An operator that takes any tensor in place.
fn anything(args: &Args<'_>) -> Results {
    args.tensor(0).map(|_| Vec::new())
}

/// Any shape and type: there is nothing that they follow from.
fn fill_scalar(args: &Args<'_>) -> Results {
    ensure!(args.has(1), "no number to fill with");
    let Some(out) = args.declared(0) else {
        return Err(No::Unsure("nothing says what type and shape it has".to_owned()));
    };
    Ok(vec![Of::new(out.dtype, out.dims)])
}

fn fill_tensor(args: &Args<'_>) -> Results {
    require_one(args, 1)?;
    anything(args)
}

// ---- random numbers ----

/// One number each: the seed and the place in its numbers.
fn sources(args: &Args<'_>, seed: usize) -> Result<(), No> {
    for at in [seed, seed + 1] {
        require(Types::of(I64), args.tensor(at)?.dtype, "a seed")?;
        require_one(args, at)?;
    }
    Ok(())
}

fn uniform(args: &Args<'_>, seed: Option<usize>) -> Results {
    let (from, to) = (args.real(1)?, args.real(2)?);
    ensure!(from <= to && (to - from).is_finite(), "from {from} to {to}");
    seed.map_or(Ok(()), |seed| sources(args, seed))?;
    anything(args)
}

/// The integers that a type has room for.
fn ends(dtype: DataType) -> (i64, i64) {
    match dtype {
        Bool => (0, 1),
        U8 => (0, 255),
        I8 => (-128, 127),
        I16 => (-32_768, 32_767),
        I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        F16 => (-65_504, 65_504),
        _ => (i64::MIN, i64::MAX),
    }
}

fn between(args: &Args<'_>, seed: Option<usize>) -> Results {
    let (own, from, to) = (args.tensor(0)?, args.fixed(1)?, args.fixed(2)?);
    let (least, most) = ends(own.dtype);
    ensure!(from < to && from >= least && to - 1 <= most, "numbers from {from} to {to} of type {:?}", own.dtype);
    seed.map_or(Ok(()), |seed| sources(args, seed))?;
    Ok(Vec::new())
}

fn any_number(args: &Args<'_>) -> Results {
    sources(args, 1)?;
    anything(args)
}

fn probability(args: &Args<'_>, at: usize) -> Result<(), No> {
    let (_, chance, _) = args.number(at)?;
    ensure!((0.0..=1.0).contains(&chance), "a probability of {chance}");
    Ok(())
}

fn probabilities(args: &Args<'_>) -> Result<(), No> {
    let chances = args.tensor(1)?;
    require(Types::FLOATS, chances.dtype, "probabilities")?;
    require_spread(chances.dims, args.tensor(0)?.dims)
}

/// Of the first operand only the shape counts.
fn trials(args: &Args<'_>) -> Results {
    let x = args.tensor(0)?;
    Ok(vec![Of::new(x.dtype, x.dims).or(Types::KNOWN)])
}

fn require_deviation(args: &Args<'_>, at: usize) -> Result<(), No> {
    let deviation = args.real(at)?;
    ensure!(deviation >= 0.0, "a deviation of {deviation}");
    Ok(())
}

fn normal_in_place(args: &Args<'_>, seed: Option<usize>) -> Results {
    require_deviation(args, 2)?;
    seed.map_or(Ok(()), |seed| sources(args, seed))?;
    anything(args)
}

/// Of means and deviations, which broadcast.
fn normal(args: &Args<'_>, tensors: &[usize], number: Option<usize>) -> Results {
    number.map_or(Ok(()), |number| require_deviation(args, number))?;
    let (mut dtype, mut dims) = (F16, Vec::new());
    for (which, at) in tensors.iter().enumerate() {
        let of = args.tensor(*at)?;
        require(Types::FLOATS, of.dtype, "means and deviations")?;
        dtype = if which == 0 { of.dtype } else { promote(dtype, of.dtype) };
        dims = broadcast(&dims, of.dims)?;
    }
    Ok(vec![Of::new(dtype, dims).or(Types::KNOWN)])
}

/// Any shape: there is nothing that it follows from.
fn normal_numbers(args: &Args<'_>) -> Results {
    require_deviation(args, 1)?;
    let Some(out) = args.declared(4) else {
        return Err(No::Unsure("nothing says what shape it has".to_owned()));
    };
    Ok(vec![Of::new(F32, out.dims).or(Types::KNOWN)])
}

fn leaky_in_place(args: &Args<'_>) -> Result<Of, No> {
    let (x, noise) = (args.tensor(0)?, args.tensor(1)?);
    let ((_, low, _), (_, high, _)) = (args.number(2)?, args.number(3)?);
    require(Types::FLOATS, x.dtype, "an input")?;
    require(Types::FLOATS, noise.dtype, "noise")?;
    require_same(noise.dims, x.dims, "noise")?;
    ensure!(low <= high && (high - low).is_finite(), "slopes from {low} to {high}");
    Ok(Of::new(x.dtype, x.dims).or(Types::FLOATS))
}

/// How many numbers from 0 on a type tells from each other.
fn room(dtype: DataType) -> i64 {
    match dtype {
        Bool => 2,
        I8 => 128,
        U8 => 256,
        Bf16 => 257,
        F16 => 2049,
        I16 => 1 << 15,
        F32 => (1 << 24) + 1,
        I32 => 1 << 31,
        F64 => (1 << 53) + 1,
        _ => i64::MAX,
    }
}

fn permutation(args: &Args<'_>) -> Results {
    let length = writable(Some(args.int(0)?))?;
    let count = sizes::fixed(length).unwrap_or(0);
    let types = DataType::ALL.into_iter().filter(|dtype| Types::KNOWN.has(*dtype) && room(*dtype) >= count);
    let types = types.fold(Types::of(I64), |types, dtype| types | Types::of(dtype));
    Ok(vec![Of::new(I64, [length]).or(types)])
}

fn samples(args: &Args<'_>, seed: Option<usize>) -> Results {
    let (x, count, again) = (args.tensor(0)?, args.fixed(1)?, args.flag(2)?);
    require(Types::FLOATS, x.dtype, "weights")?;
    ensure!((1..=2).contains(&x.dims.len()), "weights of shape {:?}", x.dims);
    let classes = x.dims[x.dims.len() - 1];
    ensure!(args.is_zero(classes) != Some(true), "no classes");
    let few = sizes::fixed(classes).is_some_and(|classes| classes < count);
    ensure!(count > 0 && (again || !few), "{count} of {classes:?} classes");
    seed.map_or(Ok(()), |seed| sources(args, seed))?;
    let mut dims = x.dims.to_vec();
    dims[x.dims.len() - 1] = sizes::number(count);
    Ok(vec![Of::new(I64, dims)])
}

// ---- dropout ----

/// The bytes of a mask, a bit for each element and 128 at a time.
fn mask(count: Option<Dim>) -> Result<Of, No> {
    let bytes = count.and_then(|count| sizes::times(sizes::quotient(sizes::plus(count, 127)?, 128)?, 16.into()));
    Ok(Of::new(U8, [writable(bytes)?]).or_shape(Also::Elements))
}

fn require_mask(args: &Args<'_>, at: usize, count: Option<Dim>) -> Result<(), No> {
    let (of, want) = (args.tensor(at)?, mask(count)?);
    ensure!(of.dtype == U8 && want.takes(of.dtype, of.dims) == Some(true), "a mask {:?} {:?}", of.dtype, of.dims);
    Ok(())
}

fn masked(args: &Args<'_>, chance: bool) -> Results {
    let x = args.tensor(0)?;
    require(Types::FLOATS, x.dtype, "an input")?;
    require_mask(args, 1, sizes::product(x.dims))?;
    if chance {
        require_chance(args, 2)?;
    }
    Ok(vec![Of::new(x.dtype, x.dims).or(Types::FLOATS)])
}

fn require_chance(args: &Args<'_>, at: usize) -> Result<(), No> {
    let chance = args.real(at)?;
    ensure!((0.0..=1.0).contains(&chance), "a probability of {chance}");
    Ok(())
}

/// Whether chance takes part: where it does not, nothing writes the mask (guide: aclnnDropout, aclnnDropoutV3).
pub(super) fn draws(args: &Args<'_>, chance: usize, train: Option<usize>) -> Result<bool, No> {
    let (chance, train) = (args.real(chance)?, train.map(|train| args.flag(train)).transpose()?);
    Ok(train != Some(false) && chance > 0.0 && chance < 1.0)
}

fn dropout(args: &Args<'_>, chance: usize, train: Option<usize>) -> Results {
    let x = args.tensor(0)?;
    require(Types::FLOATS, x.dtype, "an input")?;
    require_chance(args, chance)?;
    let mask = mask(sizes::product(x.dims))?.unless(draws(args, chance, train)?);
    Ok(vec![Of::new(x.dtype, x.dims).or(Types::FLOATS), mask])
}

fn dropout_v3(args: &Args<'_>) -> Results {
    ensure!(!args.has(1), "a shape of noise, which has to be left out");
    dropout(args, 2, None)
}

fn dropout_mask(args: &Args<'_>, dtype: Option<usize>) -> Results {
    let dims = args.ints(0)?;
    require_chance(args, 1)?;
    if let Some(dtype) = dtype {
        require(Types::NARROW, args.dtype(dtype)?, "a probability")?;
    }
    ensure!(dims.iter().all(|dim| sizes::fixed(*dim).is_none_or(|dim| dim >= 0)), "a shape {dims:?}");
    Ok(vec![mask(sizes::product(&dims))?])
}

fn dropout_mask_of(args: &Args<'_>) -> Results {
    sources(args, 2)?;
    dropout_mask(args, Some(5))
}

fn one(of: Result<Of, No>) -> Results {
    Ok(vec![of?])
}

pub(super) const RULES: Family = &[
    (&["Arange"], |a| sequence(a, false)),
    (&["Range"], |a| sequence(a, true)),
    (&["Linspace"], spaced),
    (&["Eye"], eye),
    (&["OneHot"], one_hot),
    (&["InplaceFillDiagonal"], fill_diagonal),
    (&["InplaceFillScalar"], fill_scalar),
    (&["InplaceFillTensor"], fill_tensor),
    (&["InplaceOne", "InplaceZero", "InplaceRandomWithoutFromTo"], anything),
    (&["InplaceUniform"], |a| uniform(a, None)),
    (&["InplaceUniformTensor"], |a| uniform(a, Some(3))),
    (&["InplaceRandom"], |a| between(a, None)),
    (&["InplaceRandomTensor"], |a| between(a, Some(3))),
    (&["InplaceRandomWithoutFromToTensor"], any_number),
    (&["InplaceBernoulli"], |a| {
        probability(a, 1)?;
        anything(a)
    }),
    (&["InplaceBernoulliTensor"], |a| probabilities(a).map(|()| Vec::new())),
    (&["Bernoulli"], |a| {
        probability(a, 1)?;
        trials(a)
    }),
    (&["BernoulliTensor"], |a| {
        probabilities(a)?;
        trials(a)
    }),
    (&["InplaceNormal"], |a| normal_in_place(a, None)),
    (&["InplaceNormalTensor"], |a| normal_in_place(a, Some(3))),
    (&["NormalFloatFloat"], normal_numbers),
    (&["NormalFloatTensor"], |a| normal(a, &[1], None)),
    (&["NormalTensorFloat"], |a| normal(a, &[0], Some(1))),
    (&["NormalTensorTensor"], |a| normal(a, &[0, 1], None)),
    (&["RReluWithNoise"], |a| one(leaky_in_place(a))),
    (&["InplaceRReluWithNoise"], |a| leaky_in_place(a).map(|_| Vec::new())),
    (&["Randperm"], permutation),
    (&["Multinomial"], |a| samples(a, None)),
    (&["MultinomialTensor"], |a| samples(a, Some(3))),
    (&["DropoutDoMask"], |a| masked(a, true)),
    (&["DropoutBackward", "DropoutV3Grad"], |a| masked(a, false)),
    (&["Dropout"], |a| dropout(a, 1, Some(2))),
    (&["DropoutV3"], dropout_v3),
    (&["DropoutGenMask"], |a| dropout_mask(a, None)),
    (&["DropoutGenMaskV2"], |a| dropout_mask(a, Some(4))),
    (&["DropoutGenMaskV2Tensor"], dropout_mask_of),
];
