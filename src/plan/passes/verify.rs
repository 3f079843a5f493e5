//! That a plan gives the same numbers as another one, by simulation.

use crate::error::{Error, ErrorKind, Result};
use crate::op::DataType;
use crate::plan::recipe::{OutputInfo, Recipe, count_of};
use crate::plan::simulate::Random;
use crate::plan::symbols::dim::Dim;
use crate::plan::{Plan, Simulated, Simulation};

/// Inputs that are tried for each choice of the symbols.
const SEEDS: u64 = 3;
/// The seed of inputs with what ordinary numbers are not.
const ODD: u64 = SEEDS;
/// Of so many floats of those one is odd.
const ODD_SHARE: usize = 8;
/// Most bytes of inputs and temporaries of a simulated run; symbols are made smaller until it needs no more.
const MOST_BYTES: u64 = 256 << 20;

/// How far numbers may be from those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// Bit for bit.
    Equal,
    /// So much of the largest finite magnitude in the same tensor: [`share`].
    Close,
}

impl Bound {
    /// Floats beside ordinary ones. Work that rounds fewer times may leave out what hides others, or sum what overflows,
    /// so that it is compared at zeros alone.
    fn odd(self) -> &'static [f32] {
        match self {
            Self::Equal => &[0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN],
            Self::Close => &[0.0],
        }
    }
}

/// How much of the largest number a number may be away from what it was.
fn share(dtype: DataType) -> Option<f64> {
    match dtype {
        DataType::F32 | DataType::F64 => Some(1e-4),
        DataType::F16 => Some(1e-2),
        DataType::Bf16 => Some(5e-2),
        _ => None,
    }
}

/// Runs both plans on random inputs and compares all that they leave behind, wherever the plan before can run.
pub(super) fn verify(pass: &str, bound: Bound, before: &Plan, after: &Plan) -> Result<()> {
    let (mut last, mut compared, mut refused) = (None, false, None);
    for share in [0, 1, 2] {
        let symbols = symbols(before, share);
        if last.replace(symbols.clone()) == Some(symbols.clone()) {
            continue;
        }
        for seed in 0..=ODD {
            match first((before, bound), &symbols, seed) {
                Ok((given, first)) => {
                    same((pass, bound), (before, &first), after, (&symbols, &given), seed)?;
                    compared = true;
                }
                Err(error) => refused = refused.or(Some(error)),
            }
        }
    }
    match refused {
        Some(error) if !compared => Err(error.context(format!("{pass}: cannot be verified"))),
        _ => Ok(()),
    }
}

/// Inputs, and what the plan before leaves of them.
fn first((before, bound): (&Plan, Bound), symbols: &[usize], seed: u64) -> Result<(Simulated, Simulation)> {
    let odd = if seed == ODD { bound.odd() } else { &[] };
    let some = given(before, symbols, (seed, odd), 4)?;
    if let Ok(first) = before.simulate(seed, &some) {
        return Ok((some, first));
    }
    // An index may be one that there is not.
    let least = given(before, symbols, (seed, odd), 1)?;
    let first = before.simulate(seed, &least)?;
    Ok((least, first))
}

/// The least values of the symbols, those half way, or the greatest; less where that takes too much memory.
fn symbols(plan: &Plan, share: u64) -> Vec<usize> {
    let bounds = plan.0.recipe.bounds();
    let at = |shift: u32| -> Vec<usize> {
        let value = |(least, greatest): &(u64, u64)| least + (((greatest - least) * share / 2) >> shift);
        bounds.iter().map(|bounds| value(bounds) as usize).collect()
    };
    let fits = |symbols: &Vec<usize>| {
        let Ok((fixed, memory)) = plan.specialise(symbols) else { return false };
        let declared = fixed.inputs.iter().map(|input| input.value);
        let declared = declared.chain(fixed.outputs.iter().map(|output| output.value));
        let bytes = declared.filter_map(|value| fixed.layout_of(value).bytes()?.as_fixed());
        bytes.fold(memory.peak, u64::saturating_add) <= MOST_BYTES
    };
    (0..u64::BITS).map(at).find(fits).unwrap_or_else(|| at(u64::BITS - 1))
}

fn same(
    (pass, bound): (&str, Bound),
    (before, first): (&Plan, &Simulation),
    after: &Plan,
    (symbols, given): (&[usize], &Simulated),
    seed: u64,
) -> Result<()> {
    let recipe = &before.0.recipe;
    let second = after.simulate(seed, given).map_err(|error| error.context(format!("{pass}: with the pass")))?;
    let different = |what: String, element: usize| {
        let names = recipe.symbols.iter().zip(symbols).map(|(symbol, value)| format!(", {} = {value}", symbol.name));
        let names: String = names.collect();
        let text = format!("{pass}: {what} differs at element {element} (inputs of seed {seed}{names})");
        Err(Error::new(ErrorKind::InvalidPlan, text))
    };
    let coarsest = coarsest(recipe);
    for (what, dtype, a, b) in left(&before.specialise(symbols)?.0, first, &second)? {
        let share = share(dtype).filter(|_| bound == Bound::Close).map(|own| own.max(coarsest));
        let element = difference(share, dtype, a, b);
        if let Some(element) = element.filter(|_| seed != ODD || share.is_some() || !alike(dtype, a, b)) {
            return different(what, element);
        }
    }
    Ok(())
}

/// The share of the coarsest type that a plan computes with: what is rounded so somewhere is no finer where it ends.
fn coarsest(recipe: &Recipe) -> f64 {
    let written = recipe.accesses.iter().filter(|access| access.mode.writes());
    written.filter_map(|access| share(recipe.layout_of(access.value).dtype)).fold(0.0, f64::max)
}

/// The first element that differs: by more than a share of the greatest one, or at all.
fn difference(share: Option<f64>, dtype: DataType, a: &[u8], b: &[u8]) -> Option<usize> {
    let by_bits = || (0..a.len().max(b.len())).find(|byte| a.get(*byte) != b.get(*byte)).map(|at| at / dtype.size());
    let Some(share) = share.filter(|_| a.len() == b.len()) else { return by_bits() };
    let numbers = |bytes: &[u8]| bytes.chunks(dtype.size()).map(|one| number(dtype, one)).collect::<Vec<f64>>();
    let (a, b) = (numbers(a), numbers(b));
    let largest = a.iter().filter(|one| one.is_finite()).fold(0.0_f64, |most, one| most.max(one.abs()));
    let close = |a: f64, b: f64| {
        let both = a.is_finite() && b.is_finite();
        if both { (a - b).abs() <= share * largest } else { a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) }
    };
    a.iter().zip(&b).position(|(a, b)| !close(*a, *b))
}

/// Whether all is the same bit for bit, but for the sign and the rest of what is no number: which of two NaN comes out
/// of a sum is the machine's choice.
fn alike(dtype: DataType, a: &[u8], b: &[u8]) -> bool {
    let is_nan = |one: &[u8]| share(dtype).is_some() && number(dtype, one).is_nan();
    let mut each = a.chunks(dtype.size()).zip(b.chunks(dtype.size()));
    a.len() == b.len() && each.all(|(a, b)| a == b || (is_nan(a) && is_nan(b)))
}

/// The number that bytes are; of a type that has a [`share`].
fn number(dtype: DataType, bytes: &[u8]) -> f64 {
    match (dtype, bytes) {
        (DataType::F64, &[a, b, c, d, e, f, g, h]) => f64::from_ne_bytes([a, b, c, d, e, f, g, h]),
        (DataType::F32, &[a, b, c, d]) => f32::from_ne_bytes([a, b, c, d]).into(),
        (DataType::F16, &[a, b]) => half::f16::from_ne_bytes([a, b]).to_f64(),
        (DataType::Bf16, &[a, b]) => half::bf16::from_ne_bytes([a, b]).to_f64(),
        _ => f64::NAN,
    }
}

type Pair<'a> = (String, DataType, &'a [u8], &'a [u8]);

/// What both runs left behind; of outputs of which the device decides how much there is, that much. Their number is an
/// output itself.
fn left<'a>(recipe: &Recipe, first: &'a Simulation, second: &'a Simulation) -> Result<Vec<Pair<'a>>> {
    let mut left = Vec::new();
    for output in &recipe.outputs {
        let (name, dtype) = (&output.name, recipe.layout_of(output.value).dtype);
        let came = came(recipe, output, first)?;
        let part = |bytes: &'a [u8]| came.and_then(|came| bytes.get(..came)).unwrap_or(bytes);
        left.push((format!("output {name:?}"), dtype, part(first.bytes(name)?), part(second.bytes(name)?)));
        if output.host {
            let what = format!("output {name:?} on the host");
            left.push((what, dtype, part(first.host_bytes(name)?), part(second.host_bytes(name)?)));
        }
    }
    for input in &recipe.inputs {
        let (name, dtype) = (&input.name, recipe.layout_of(input.value).dtype);
        left.push((format!("input {name:?}"), dtype, first.input_bytes(name)?, second.input_bytes(name)?));
    }
    Ok(left)
}

/// The bytes of an output that came, where another output has the number of its rows
/// ([`Builder::output_found`](crate::plan::Builder::output_found)).
fn came(recipe: &Recipe, output: &OutputInfo, run: &Simulation) -> Result<Option<usize>> {
    let number = count_of(&output.name);
    let is_number = |other: &&OutputInfo| {
        let layout = recipe.layout_of(other.value);
        other.counts
            && other.host
            && other.name == number
            && layout.dtype == DataType::I64
            && layout.dims[..] == [Dim::from(1)]
    };
    let Some(number) = recipe.outputs.iter().find(is_number) else { return Ok(None) };
    let layout = recipe.layout_of(output.value);
    let rows = layout.dims.first().and_then(|rows| rows.as_fixed()).filter(|rows| *rows > 0);
    let bytes = layout.bytes().and_then(|bytes| bytes.as_fixed());
    let (Some(rows), Some(bytes)) = (rows, bytes) else { return Ok(None) };
    let came = <[u8; 8]>::try_from(run.host_bytes(&number.name)?).ok().map(i64::from_ne_bytes);
    let came = came.and_then(|came| usize::try_from(came).ok()).filter(|came| *came <= rows);
    Ok(came.map(|came| came * (bytes as usize / rows)))
}

/// Inputs that follow from the seed, some floats odd; integers that may be indices are below `end`.
fn given(plan: &Plan, symbols: &[usize], (seed, odd): (u64, &[f32]), end: usize) -> Result<Simulated> {
    let (fixed, _) = plan.specialise(symbols)?;
    let mut random = Random::new(seed ^ 0x005e_ed0f_1a57);
    let mut given = Simulated::new();
    for (symbol, value) in plan.0.recipe.symbols.iter().zip(symbols) {
        given = given.symbol(&symbol.name, *value);
    }
    for input in &fixed.inputs {
        let layout = fixed.layout_of(input.value);
        let elements = layout.elements().and_then(|elements| elements.as_fixed()).unwrap_or(0);
        let mut next = || match some_odd(layout.dtype, &mut random, odd) {
            Some(odd) => odd,
            None => element(layout.dtype, &mut random, end),
        };
        let bytes: Vec<u8> = (0..elements).flat_map(|_| next()).collect();
        given = given.bytes(&input.name, bytes);
    }
    Ok(given)
}

/// One of the odd floats, now and then.
fn some_odd(dtype: DataType, random: &mut Random, odd: &[f32]) -> Option<Vec<u8>> {
    if odd.is_empty() || share(dtype).is_none() || random.below(ODD_SHARE) > 0 {
        return None;
    }
    let number = odd[random.below(odd.len())];
    Some(match dtype {
        DataType::F64 => f64::from(number).to_ne_bytes().to_vec(),
        DataType::F16 => half::f16::from_f32(number).to_ne_bytes().to_vec(),
        DataType::Bf16 => half::bf16::from_f32(number).to_ne_bytes().to_vec(),
        _ => number.to_ne_bytes().to_vec(),
    })
}

/// A float from -4 to 4, a truth value, a small integer.
fn element(dtype: DataType, random: &mut Random, end: usize) -> Vec<u8> {
    let mut number = || random.below(8001) as f64 / 1000.0 - 4.0;
    match dtype {
        DataType::F32 => (number() as f32).to_ne_bytes().to_vec(),
        DataType::F64 => number().to_ne_bytes().to_vec(),
        DataType::Complex64 => [number() as f32, number() as f32].iter().flat_map(|one| one.to_ne_bytes()).collect(),
        DataType::Complex128 => [number(), number()].iter().flat_map(|one| one.to_ne_bytes()).collect(),
        // The sign, an exponent around that of 1, any fraction.
        DataType::F16 | DataType::Complex32 => {
            let mut half =
                || ((random.below(2) << 15) | ((12 + random.below(5)) << 10) | random.below(1 << 10)) as u16;
            (0..dtype.size() / 2).flat_map(|_| half().to_ne_bytes()).collect()
        }
        DataType::Bf16 => {
            let half = (random.below(2) << 15) | ((124 + random.below(5)) << 7) | random.below(1 << 7);
            (half as u16).to_ne_bytes().to_vec()
        }
        DataType::Bool => vec![random.below(2) as u8],
        DataType::I8 | DataType::U8 => vec![random.next() as u8],
        DataType::I16 | DataType::U16 => (random.next() as u16).to_ne_bytes().to_vec(),
        DataType::I32 | DataType::U32 => (random.below(end) as u32).to_ne_bytes().to_vec(),
        DataType::I64 | DataType::U64 => (random.below(end) as u64).to_ne_bytes().to_vec(),
    }
}
