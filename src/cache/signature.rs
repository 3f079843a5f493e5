//! The inputs that a plan is compiled for, known before it is built.

use std::ops::RangeInclusive;

use crate::error::{Error, Result};
use crate::op::DataType;
use crate::plan::{Dim, Input, IntoDims, MAX_SYMBOLS, show_dims};

/// The inputs that a plan is compiled for: names, types, ranks, classes and fixed dimensions, and symbols for the
/// dimensions that each run may choose.
///
/// It is part of the key of an entry. A plan whose inputs are others is refused.
///
/// # Examples
///
/// ```
/// use racl::cache::Signature;
/// use racl::op::DataType::F32;
/// use racl::plan::{Dim, Input};
///
/// let mut inputs = Signature::new();
/// let tokens = inputs.symbol("tokens", 1..=512)?;
/// inputs.input("x", [tokens, Dim::from(64)], F32, Input::Copied)?;
/// inputs.input("w", [64, 64], F32, Input::Frozen)?;
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Signature {
    symbols: Vec<(String, u64, u64)>,
    inputs: Vec<Declared>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Declared {
    name: String,
    dtype: DataType,
    dims: Vec<Dim>,
    class: Input,
}

impl Signature {
    /// No input yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A named dimension, as [`Builder::symbol`](crate::plan::Builder::symbol) of the plan.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a name that is empty or taken, bounds
    /// without a number, or more than [`MAX_SYMBOLS`] symbols.
    pub fn symbol(&mut self, name: &str, bounds: RangeInclusive<usize>) -> Result<Dim> {
        if name.is_empty() || self.symbols.iter().any(|(known, ..)| known == name) {
            return Err(Error::invalid(format!("symbol {name:?}: the name is empty or taken")));
        }
        if bounds.is_empty() || self.symbols.len() == MAX_SYMBOLS {
            return Err(Error::invalid(format!(
                "symbol {name:?} with the bounds {bounds:?}, of at most {MAX_SYMBOLS} symbols"
            )));
        }
        self.symbols.push((name.to_owned(), *bounds.start() as u64, *bounds.end() as u64));
        Ok(Dim::symbol(self.symbols.len() - 1))
    }

    /// Adds an input, as [`Builder::input`](crate::plan::Builder::input) of the plan.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a name that is empty or taken, and for
    /// dimensions that plans cannot express.
    pub fn input(&mut self, name: &str, dims: impl IntoDims, dtype: DataType, class: Input) -> Result<&mut Self> {
        if name.is_empty() || self.inputs.iter().any(|known| known.name == name) {
            return Err(Error::invalid(format!("input {name:?}: the name is empty or taken")));
        }
        self.inputs.push(Declared { name: name.to_owned(), dtype, dims: dims.into_dims()?, class });
        Ok(self)
    }

    /// The names of the symbols.
    pub(super) fn symbols(&self) -> impl Iterator<Item = &str> {
        self.symbols.iter().map(|(name, ..)| name.as_str())
    }

    /// The inputs of a plan.
    pub(super) fn of(plan: &crate::plan::Plan) -> Self {
        let recipe = plan.recipe();
        let symbols = recipe.symbols.iter().map(|symbol| (symbol.name.clone(), symbol.least, symbol.greatest));
        let inputs = recipe.inputs.iter().map(|input| {
            let layout = recipe.layout_of(input.value);
            let (dtype, dims) = (layout.dtype, layout.dims.clone());
            Declared { name: input.name.clone(), dtype, dims, class: input.class }
        });
        Self { symbols: symbols.collect(), inputs: inputs.collect() }
    }

    /// One line that is the same for equal signatures only.
    pub(super) fn text(&self) -> String {
        let names = self.names();
        let symbols = self.symbols.iter().map(|(name, least, greatest)| format!("{name:?} {least} to {greatest}"));
        let inputs = self.inputs.iter().map(|input| format!("{:?} {}", input.name, input.show(&names)));
        symbols.chain(inputs).collect::<Vec<_>>().join(", ")
    }

    fn names(&self) -> Vec<String> {
        self.symbols.iter().map(|(name, ..)| name.clone()).collect()
    }

    /// That a plan with the inputs `plan` takes what this signature says. Its symbols may stand where this one has
    /// numbers within their bounds.
    pub(super) fn fits(&self, plan: &Self) -> Result<(), String> {
        let mut values = [None; MAX_SYMBOLS];
        for input in &self.inputs {
            let Some(other) = plan.inputs.iter().find(|other| other.name == input.name) else {
                let got = plan.inputs.iter().map(|other| format!("{:?}", other.name)).collect::<Vec<_>>().join(", ");
                return Err(format!("argument {:?}: expected by the signature; the plan has {got}", input.name));
            };
            let wrong = || {
                let (want, got) = (input.show(&self.names()), other.show(&plan.names()));
                format!("argument {:?}: expected {want}, got {got}", input.name)
            };
            if (input.dtype, input.class, input.dims.len()) != (other.dtype, other.class, other.dims.len()) {
                return Err(wrong());
            }
            for (here, there) in input.dims.iter().zip(&other.dims) {
                if !self.dimension_fits(*here, plan, *there, &mut values) {
                    return Err(wrong());
                }
            }
        }
        match plan.inputs.iter().find(|other| !self.inputs.iter().any(|input| input.name == other.name)) {
            Some(other) => {
                let got = other.show(&plan.names());
                Err(format!("argument {:?}: not in the signature, got {got}", other.name))
            }
            None => Ok(()),
        }
    }

    fn dimension_fits(&self, here: Dim, plan: &Self, there: Dim, values: &mut [Option<u64>; MAX_SYMBOLS]) -> bool {
        let Some(size) = here.as_fixed() else {
            // The same symbols, with the same bounds.
            return here.show(&self.names()) == there.show(&plan.names())
                && self
                    .symbols
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| here.parts().2[*index] != 0)
                    .all(|(_, symbol)| plan.symbols.contains(symbol));
        };
        match there.as_symbol() {
            Some(symbol) => {
                let (_, least, greatest) = &plan.symbols[symbol];
                let size = size as u64;
                (*least..=*greatest).contains(&size) && *values[symbol].get_or_insert(size) == size
            }
            // Sizes that are computed from symbols are checked by the runs.
            None => there.as_fixed().is_none_or(|fixed| fixed == size),
        }
    }
}

impl Declared {
    fn show(&self, names: &[String]) -> String {
        format!("{:?} {} {:?}", self.dtype, show_dims(&self.dims, names), self.class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::DataType::{F16, F32};

    fn fixed(dims: [usize; 2], dtype: DataType, class: Input) -> Signature {
        let mut signature = Signature::new();
        signature.input("x", dims, dtype, class).unwrap();
        signature
    }

    fn symbolic(greatest: usize) -> Signature {
        let mut signature = Signature::new();
        let n = signature.symbol("n", 1..=greatest).unwrap();
        signature.input("x", [n, Dim::from(4)], F32, Input::Copied).unwrap();
        signature
    }

    #[test]
    fn what_does_not_fit_is_named_with_both_sides() {
        let plan = fixed([2, 4], F32, Input::Copied);
        assert_eq!(plan.fits(&plan), Ok(()));
        for other in
            [fixed([3, 4], F32, Input::Copied), fixed([2, 4], F16, Input::Copied), fixed([2, 4], F32, Input::Frozen)]
        {
            let text = other.fits(&plan).unwrap_err();
            assert!(
                text.starts_with("argument \"x\": expected F") && text.ends_with("got F32 [2, 4] Copied"),
                "{text}"
            );
        }
        let mut more = plan.clone();
        more.input("w", [4], F32, Input::Frozen).unwrap();
        assert!(more.fits(&plan).unwrap_err().contains("argument \"w\": expected by the signature"));
        assert!(plan.fits(&more).unwrap_err().contains("argument \"w\": not in the signature"));
    }

    #[test]
    fn another_value_of_a_symbol_fits() {
        let plan = symbolic(8);
        assert_eq!(plan.fits(&plan), Ok(()));
        assert_eq!(fixed([3, 4], F32, Input::Copied).fits(&plan), Ok(()));
        assert!(fixed([9, 4], F32, Input::Copied).fits(&plan).is_err());
        assert!(fixed([3, 5], F32, Input::Copied).fits(&plan).is_err());
        assert!(symbolic(9).fits(&plan).is_err());
        assert!(plan.fits(&fixed([3, 4], F32, Input::Copied)).is_err());
    }

    #[test]
    fn a_symbol_has_one_value() {
        let mut plan = Signature::new();
        let n = plan.symbol("n", 1..=8).unwrap();
        plan.input("x", [n, n], F32, Input::Copied).unwrap();
        assert_eq!(fixed([3, 3], F32, Input::Copied).fits(&plan), Ok(()));
        assert!(fixed([3, 4], F32, Input::Copied).fits(&plan).is_err());
    }
}
