//! The values of symbols: those given by name, and what the shapes of inputs say of the others.

use crate::error::{Error, Result};

use super::Symbol;
use super::dim::{Dim, MAX_SYMBOLS, show_dims};

/// A value for each symbol that has one so far.
pub(crate) type Values = [Option<usize>; MAX_SYMBOLS];

/// An input of a plan, and the shape of what it is given.
#[derive(Clone, Copy)]
pub(crate) struct Shaped<'a> {
    pub(crate) name: &'a str,
    pub(crate) dims: &'a [Dim],
    pub(crate) shape: &'a [usize],
}

/// The value of each symbol, in order, with which every shape is what its dimensions make of it. `how` is the method
/// that gives a symbol by name.
pub(crate) fn resolve<'a, I: Iterator<Item = Shaped<'a>>>(
    symbols: &[Symbol],
    mut values: Values,
    shaped: impl Fn() -> I,
    how: &str,
) -> Result<Vec<usize>> {
    // Before a shape is said to contradict what cannot be.
    let mut given = symbols.iter().zip(values).filter_map(|(symbol, value)| Some((symbol, value?)));
    given.try_for_each(|(symbol, value)| check_bounds(symbol, value))?;
    if let Some(one) = shaped().find(|one| one.dims.len() != one.shape.len()) {
        return Err(one.error(symbols, None));
    }
    while infer(symbols, &mut values, shaped())? {}
    if let Some((Symbol { name, .. }, _)) = symbols.iter().zip(values).find(|(_, value)| value.is_none()) {
        return Err(Error::invalid(format!("no input says what symbol {name:?} is; {how} does")));
    }
    shaped().try_for_each(|one| one.check(symbols, &values))?;
    Ok(values.into_iter().take(symbols.len()).flatten().collect())
}

/// That a value is within the bounds of its symbol.
pub(crate) fn check_bounds(symbol: &Symbol, value: usize) -> Result<()> {
    let Symbol { name, least, greatest, .. } = symbol;
    if (*least..=*greatest).contains(&(value as u64)) {
        return Ok(());
    }
    Err(Error::invalid(format!("symbol {name:?} is {value}; its bounds are {least} to {greatest}")))
}

/// Takes from the shapes what they say of symbols without a value; whether that was anything.
fn infer<'a>(symbols: &[Symbol], values: &mut Values, shaped: impl Iterator<Item = Shaped<'a>>) -> Result<bool> {
    let mut news = false;
    for one in shaped {
        for (dim, size) in one.dims.iter().zip(one.shape) {
            let Some((symbol, factor, plus)) = unknown_of(*dim, values) else { continue };
            let rest = plus.checked_neg().and_then(|less| (*size as u64).checked_add_signed(less));
            let value = rest.filter(|rest| rest.is_multiple_of(factor)).map(|rest| rest / factor);
            let value = value.and_then(|value| usize::try_from(value).ok());
            values[symbol] = Some(value.ok_or_else(|| one.no_value(symbols, *dim, *size, symbol))?);
            news = true;
        }
    }
    Ok(news)
}

/// Symbol, factor and summand of a dimension with one unknown symbol, of power 1.
fn unknown_of(dim: Dim, values: &Values) -> Option<(usize, u64, i64)> {
    let (mut factor, plus, powers) = dim.parts();
    let mut unknown = None;
    for (index, power) in powers.into_iter().enumerate().filter(|(_, power)| *power != 0) {
        match values[index] {
            Some(value) => factor = factor.checked_mul((value as u64).checked_pow(u32::from(power))?)?,
            None if power == 1 && unknown.is_none() => unknown = Some(index),
            None => return None,
        }
    }
    (factor != 0).then_some((unknown?, factor, plus))
}

impl Shaped<'_> {
    fn check(&self, symbols: &[Symbol], values: &Values) -> Result<()> {
        let known = values.map(|value| value.unwrap_or_default() as u64);
        let fits = |(dim, size): (&Dim, &usize)| dim.value(&known) == Some(*size as u64);
        let Some(wrong) = self.dims.iter().zip(self.shape).find(|one| !fits(*one)) else { return Ok(()) };
        let Some(symbol) = wrong.0.as_symbol() else { return Err(self.error(symbols, Some(&known))) };
        let (Symbol { name, .. }, value, size) = (&symbols[symbol], known[symbol], wrong.1);
        let (shape, input) = (self.shape, self.name);
        Err(Error::invalid(format!(
            "symbol {name:?} is {value} elsewhere and {size} in the shape {shape:?} of input {input:?}"
        )))
    }

    fn no_value(&self, symbols: &[Symbol], dim: Dim, size: usize, symbol: usize) -> Error {
        let (shape, input, names) = (self.shape, self.name, names(symbols));
        let (dim, symbol) = (dim.show(&names), &symbols[symbol].name);
        Error::invalid(format!(
            "no value of symbol {symbol:?} makes {dim} the {size} in the shape {shape:?} of input {input:?}"
        ))
    }

    fn error(&self, symbols: &[Symbol], values: Option<&[u64; MAX_SYMBOLS]>) -> Error {
        let (name, shape, dims) = (self.name, self.shape, show_dims(self.dims, &names(symbols)));
        let fixed = self.dims.iter().all(|dim| dim.as_fixed().is_some());
        let here = values.filter(|_| !fixed).map_or_else(String::new, |values| {
            let sizes: Vec<u64> = self.dims.iter().filter_map(|dim| dim.value(values)).collect();
            format!(", which is {sizes:?} here")
        });
        Error::invalid(format!("input {name:?}: expected {dims}{here}, got {shape:?}"))
    }
}

fn names(symbols: &[Symbol]) -> Vec<String> {
    symbols.iter().map(|symbol| symbol.name.clone()).collect()
}

/// The place of `name` among what the plan has, or the error that says what there is.
pub(crate) fn named<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a String> + Clone) -> Result<usize> {
    known.clone().position(|known| known == name).ok_or_else(|| unknown(what, name, known))
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a String>) -> Error {
    let known: Vec<_> = known.map(|known| format!("{known:?}")).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Error::invalid(format!("the plan has no {what} {name:?}; it has {known}"))
}

#[cfg(test)]
mod tests;
