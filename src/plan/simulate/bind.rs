//! From what is given by name to the values of the symbols and the bytes of each input.

use crate::error::{Error, Result};
use crate::plan::dim::{Dim, MAX_SYMBOLS};
use crate::plan::recipe::{InputInfo, Recipe, Symbol};

use super::{Given, Simulated};

/// The values of the symbols, in their order.
pub(super) fn symbols(recipe: &Recipe, given: &Simulated) -> Result<Vec<usize>> {
    let mut values: Vec<Option<u64>> = vec![None; recipe.symbols.len()];
    for (name, value) in &given.symbols {
        let Some(index) = recipe.symbols.iter().position(|symbol| symbol.name == *name) else {
            return Err(unknown("symbol", name, recipe.symbols.iter().map(|symbol| &symbol.name)));
        };
        if values[index].replace(*value as u64).is_some_and(|former| former != *value as u64) {
            return Err(Error::invalid(format!("symbol {name:?} is given twice")));
        }
    }
    while infer(recipe, given, &mut values)? {}
    let missing = recipe.symbols.iter().zip(&values).find(|(_, value)| value.is_none());
    if let Some((Symbol { name, .. }, _)) = missing {
        let text = format!("symbol {name:?} has no value: give one, or the shape of an input that has it");
        return Err(Error::invalid(text));
    }
    Ok(values.into_iter().flatten().map(|value| value as usize).collect())
}

/// Takes from the given shapes what they say of symbols without a value; whether that was anything.
fn infer(recipe: &Recipe, given: &Simulated, values: &mut [Option<u64>]) -> Result<bool> {
    let mut news = false;
    for input in &recipe.inputs {
        let dims = &recipe.layout_of(input.value).dims;
        let Some((_, shape)) = given.find(&input.name).and_then(|one| one.typed) else { continue };
        if shape.len() != dims.len() {
            return Err(wrong_shape(recipe, input, &shape));
        }
        for (dim, size) in dims.iter().zip(shape.iter()) {
            let Some((symbol, factor, plus)) = unknown_of(*dim, values) else { continue };
            let value = size_less(*size, plus).filter(|rest| rest.is_multiple_of(factor)).map(|rest| rest / factor);
            let Some(value) = value else { return Err(wrong_shape(recipe, input, &shape)) };
            values[symbol] = Some(value);
            news = true;
        }
    }
    Ok(news)
}

fn size_less(size: usize, plus: i64) -> Option<u64> {
    (size as u64).checked_add_signed(plus.checked_neg()?)
}

/// Symbol, factor and summand of a dimension with one unknown symbol, of power 1.
fn unknown_of(dim: Dim, values: &[Option<u64>]) -> Option<(usize, u64, i64)> {
    let (mut factor, plus, powers) = dim.parts();
    let mut unknown = None;
    for index in (0..MAX_SYMBOLS).filter(|index| powers[*index] != 0) {
        match values[index] {
            Some(value) => factor = factor.checked_mul(value.checked_pow(u32::from(powers[index]))?)?,
            None if powers[index] == 1 && unknown.is_none() => unknown = Some(index),
            None => return None,
        }
    }
    (factor != 0).then_some((unknown?, factor, plus))
}

/// The bytes of each input, which fit a recipe whose symbols have values.
pub(super) fn inputs(recipe: &Recipe, fixed: &Recipe, given: &Simulated) -> Result<Vec<Vec<u8>>> {
    for (index, Given { name, .. }) in given.inputs.iter().enumerate() {
        if !recipe.inputs.iter().any(|input| input.name == *name) {
            return Err(unknown("input", name, recipe.inputs.iter().map(|input| &input.name)));
        }
        if given.inputs[..index].iter().any(|earlier| earlier.name == *name) {
            return Err(Error::invalid(format!("input {name:?} is given twice")));
        }
    }
    recipe.inputs.iter().map(|input| checked(fixed, input, given)).collect()
}

fn checked(fixed: &Recipe, input: &InputInfo, given: &Simulated) -> Result<Vec<u8>> {
    let (name, layout) = (&input.name, fixed.layout_of(input.value));
    let Some(one) = given.find(name) else {
        return Err(Error::invalid(format!("input {name:?} is missing: {:?} {:?}", layout.dtype, layout.dims)));
    };
    if let Some((dtype, shape)) = one.typed {
        if dtype != layout.dtype {
            let text = format!("input {name:?} has elements of type {:?}; given are {dtype:?}", layout.dtype);
            return Err(Error::invalid(text));
        }
        if !layout.dims.iter().map(|dim| dim.as_fixed()).eq(shape.iter().map(|size| Some(*size))) {
            return Err(wrong_shape(fixed, input, &shape));
        }
    }
    let want = super::memory::size(fixed, input.value);
    if one.bytes.len() != want {
        let (dtype, dims, has) = (layout.dtype, &layout.dims, one.bytes.len());
        return Err(Error::invalid(format!(
            "input {name:?} of {dtype:?} {dims:?} has {want} bytes; given are {has}"
        )));
    }
    Ok(one.bytes.clone())
}

fn wrong_shape(recipe: &Recipe, input: &InputInfo, shape: &[usize]) -> Error {
    let names = recipe.symbol_names();
    let dims: Vec<String> = recipe.layout_of(input.value).dims.iter().map(|dim| dim.show(&names)).collect();
    Error::invalid(format!("input {:?} has the shape [{}]; given is {shape:?}", input.name, dims.join(", ")))
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a String>) -> Error {
    let known: Vec<_> = known.map(|known| format!("{known:?}")).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Error::invalid(format!("the plan has no {what} {name:?}; it has {known}"))
}
