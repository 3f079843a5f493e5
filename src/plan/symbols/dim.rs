//! Dimensions of a plan: numbers, or named symbols that get their value at a run.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Add, Mul};

use crate::error::{Error, Result};
use crate::op::{MAX_RANK, Shape};

use super::poly::{Monomial, Poly};

/// Most symbols that one plan can have.
pub const MAX_SYMBOLS: usize = 8;

/// One dimension of a value: a number, a symbol, or a product of symbols times a number plus a number.
///
/// Symbols come from [`Builder::symbol`](crate::plan::Builder::symbol) and are good for the plan that it builds; others
/// are refused. `+` and `*` compute; a result outside the form above is kept as such and refused, with a message, where
/// it is used as a dimension.
///
/// # Examples
///
/// ```
/// use racl::op::DataType::F32;
/// use racl::plan::{Dim, Input, Plan};
///
/// let plan = Plan::build(|g| {
///     let tokens = g.symbol("tokens", 1..=512)?;
///     let x = g.input("x", [tokens, Dim::from(64)], F32, Input::Copied)?;
///     let flat = g.reshape(x, [tokens * 64])?;
///     let y = g.adds(flat, 1.0)?;
///     g.output("y", y)
/// })?;
/// assert!(plan.is_dynamic());
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Dim {
    factor: u64,
    plus: i64,
    powers: Monomial,
    /// The plan that the symbols are from, where they are from a builder; else 0. No part of what it is.
    plan: u32,
}

impl PartialEq for Dim {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for Dim {}

impl Hash for Dim {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

/// What cannot be written as a [`Dim`].
const OTHER: Dim = Dim { factor: u64::MAX, plus: 0, powers: [0; MAX_SYMBOLS], plan: 0 };

impl Dim {
    pub(crate) const fn fixed(size: u64) -> Self {
        // Sizes above `i64::MAX` have no meaning anywhere.
        if size > i64::MAX as u64 { OTHER } else { Self { factor: 0, plus: size as i64, ..OTHER } }
    }

    pub(crate) fn symbol(index: usize) -> Self {
        let mut powers = [0; MAX_SYMBOLS];
        powers[index] = 1;
        Self { factor: 1, plus: 0, powers, plan: 0 }
    }

    /// The same, of a plan that is being built.
    pub(crate) fn of_plan(self, plan: u32) -> Self {
        Self { plan, ..self }
    }

    /// Whether its symbols are those of another plan.
    pub(crate) fn is_foreign(self, plan: u32) -> bool {
        self.plan != 0 && self.plan != plan
    }

    /// The result of a computation with `a` and `b`.
    fn of_both(self, a: Self, b: Self) -> Self {
        if self == OTHER || (a.plan != 0 && b.is_foreign(a.plan)) {
            return OTHER;
        }
        self.of_plan(a.plan.max(b.plan))
    }

    /// Factor, summand and powers: what a file stores.
    pub(crate) fn parts(self) -> (u64, i64, Monomial) {
        (self.factor, self.plus, self.powers)
    }

    pub(crate) fn from_parts(factor: u64, plus: i64, powers: Monomial) -> Self {
        Self::normal(factor, plus, powers)
    }

    fn normal(factor: u64, plus: i64, powers: Monomial) -> Self {
        if factor == 0 {
            return Self { factor, plus, ..OTHER };
        }
        if powers == [0; MAX_SYMBOLS] {
            let sum = i64::try_from(factor).ok().and_then(|factor| factor.checked_add(plus));
            return sum.map_or(OTHER, |plus| Self { factor: 0, plus, ..OTHER });
        }
        Self { factor, plus, powers, plan: 0 }
    }

    /// The dimension, if it has a form that plans can use.
    pub(crate) fn usable(self) -> Result<Self> {
        checked(vec![self]).map(|_| self)
    }

    /// Whether the dimension has a form that plans can use.
    pub(crate) fn is_usable(self) -> bool {
        self != OTHER && (self.factor != 0 || self.plus >= 0)
    }

    /// The number, of a dimension without symbols.
    #[must_use]
    pub fn as_fixed(self) -> Option<usize> {
        if self.factor == 0 { usize::try_from(self.plus).ok() } else { None }
    }

    /// The index of the symbol that the dimension is, without factor and summand.
    pub(crate) fn as_symbol(self) -> Option<usize> {
        let only = self.powers.iter().map(|power| u32::from(*power)).sum::<u32>() == 1;
        let plain = self.factor == 1 && self.plus == 0 && only;
        plain.then(|| self.powers.iter().position(|power| *power == 1)).flatten()
    }

    /// The number for these values of the symbols.
    pub(crate) fn value(self, symbols: &[u64]) -> Option<u64> {
        let mut value = i128::from(self.factor);
        for (index, power) in self.powers.iter().enumerate().filter(|(_, power)| **power != 0) {
            value = value.checked_mul(i128::from(*symbols.get(index)?).checked_pow(u32::from(*power))?)?;
        }
        u64::try_from(value.checked_add(i128::from(self.plus))?).ok()
    }

    pub(crate) fn poly(self) -> Poly {
        let mut poly = Poly::constant(i128::from(self.plus));
        poly.add_term(self.powers, i128::from(self.factor));
        poly
    }

    /// Shown with the names of the symbols.
    pub(crate) fn show(self, names: &[String]) -> String {
        if self == OTHER {
            return "?".to_owned();
        }
        let mut factors = Vec::new();
        if self.factor > 1 {
            factors.push(self.factor.to_string());
        }
        for (index, power) in self.powers.iter().enumerate() {
            let name = names.get(index).cloned().unwrap_or_else(|| format!("s{index}"));
            factors.extend(std::iter::repeat_n(name, usize::from(*power)));
        }
        match (factors.is_empty(), self.plus) {
            (true, plus) => plus.to_string(),
            (false, 0) => factors.join("*"),
            (false, plus) => format!("{}{plus:+}", factors.join("*")),
        }
    }
}

impl From<usize> for Dim {
    fn from(size: usize) -> Self {
        Self::fixed(size as u64)
    }
}

impl<D: Into<Self>> Add<D> for Dim {
    type Output = Self;

    fn add(self, other: D) -> Self {
        let other = other.into();
        if self == OTHER || other == OTHER {
            return OTHER;
        }
        let Some(plus) = self.plus.checked_add(other.plus) else { return OTHER };
        let powers = if self.factor == 0 { other.powers } else { self.powers };
        if self.factor != 0 && other.factor != 0 && self.powers != other.powers {
            return OTHER;
        }
        let sum = self.factor.checked_add(other.factor).map_or(OTHER, |factor| Self::normal(factor, plus, powers));
        sum.of_both(self, other)
    }
}

impl<D: Into<Self>> Mul<D> for Dim {
    type Output = Self;

    fn mul(self, other: D) -> Self {
        let other = other.into();
        if self == OTHER || other == OTHER {
            return OTHER;
        }
        let (a, b) = if self.factor == 0 { (other, self) } else { (self, other) };
        if b.factor == 0 {
            // A number times anything of the form.
            let factor = u64::try_from(b.plus).ok().and_then(|by| a.factor.checked_mul(by));
            return match (factor, a.plus.checked_mul(b.plus)) {
                (Some(factor), Some(plus)) => Self::normal(factor, plus, a.powers).of_both(a, b),
                _ => OTHER,
            };
        }
        if a.plus != 0 || b.plus != 0 {
            return OTHER;
        }
        let mut powers = a.powers;
        for (power, more) in powers.iter_mut().zip(b.powers) {
            let Some(sum) = power.checked_add(more) else { return OTHER };
            *power = sum;
        }
        let product = a.factor.checked_mul(b.factor).map_or(OTHER, |factor| Self::normal(factor, 0, powers));
        product.of_both(a, b)
    }
}

impl fmt::Debug for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show(&[]))
    }
}

/// Dimensions as a list, with the names of the symbols.
pub(crate) fn show_dims(dims: &[Dim], names: &[String]) -> String {
    let shown: Vec<String> = dims.iter().map(|dim| dim.show(names)).collect();
    format!("[{}]", shown.join(", "))
}

/// A text of this crate about dimensions, such as "s0 meets 4", with the names of the symbols. It must hold no text
/// of the user's.
pub(crate) fn name_symbols(text: &str, names: &[String]) -> String {
    let mut named = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let end = rest.find(|letter: char| is_word(letter) != is_word(first)).unwrap_or(rest.len());
        let (token, after) = rest.split_at(end);
        let index = token.strip_prefix('s').and_then(|index| index.parse::<usize>().ok());
        named.push_str(index.and_then(|index| names.get(index)).map_or(token, String::as_str));
        rest = after;
    }
    named
}

/// What can be given as the dimensions of a value: arrays and slices of numbers or [`Dim`]s, and shapes.
pub trait IntoDims {
    /// The dimensions, outermost first.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for more than [`MAX_RANK`] dimensions, or
    /// one that plans cannot express.
    fn into_dims(self) -> Result<Vec<Dim>>;
}

fn checked(dims: Vec<Dim>) -> Result<Vec<Dim>> {
    if dims.len() > MAX_RANK {
        return Err(Error::invalid(format!("{} dimensions; operators take up to {MAX_RANK}", dims.len())));
    }
    match dims.iter().position(|dim| !dim.is_usable()) {
        None => Ok(dims),
        Some(index) => Err(Error::invalid(format!(
            "dimension {index} is none that a plan can have: a product of symbols times a number plus a number"
        ))),
    }
}

impl<D: Into<Dim>, const N: usize> IntoDims for [D; N] {
    fn into_dims(self) -> Result<Vec<Dim>> {
        checked(self.into_iter().map(Into::into).collect())
    }
}

impl<D: Into<Dim> + Copy> IntoDims for &[D] {
    fn into_dims(self) -> Result<Vec<Dim>> {
        checked(self.iter().map(|dim| (*dim).into()).collect())
    }
}

impl IntoDims for Vec<Dim> {
    fn into_dims(self) -> Result<Vec<Dim>> {
        checked(self)
    }
}

impl IntoDims for Shape {
    fn into_dims(self) -> Result<Vec<Dim>> {
        checked(self.iter().map(|size| Dim::from(*size)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_keeps_the_form() {
        let (n, m) = (Dim::symbol(0), Dim::symbol(1));
        let names = ["n".to_owned(), "m".to_owned()];
        assert_eq!((n * 2 + 3).show(&names), "2*n+3");
        assert_eq!((n * m * 4).show(&names), "4*n*m");
        assert_eq!((n + n).show(&names), "2*n");
        assert_eq!((n * 2 + 3).value(&[5, 0]), Some(13));
        assert_eq!((n * m).value(&[5, 7]), Some(35));
        assert_eq!((Dim::from(3) * 4 + 1).as_fixed(), Some(13));
        let none = 0;
        assert_eq!(n * none, Dim::from(0));
        assert_eq!(n.as_symbol(), Some(0));
        assert_eq!((n + 1).as_symbol(), None);
    }

    #[test]
    fn texts_name_the_symbols() {
        let names = ["tokens".to_owned(), "heads".to_owned()];
        let dims = [Dim::symbol(0), Dim::symbol(1) * 2, Dim::from(4)];
        assert_eq!(show_dims(&dims, &names), "[tokens, 2*heads, 4]");
        assert_eq!(name_symbols(&format!("{:?} meets {:?}", dims[0], dims[1]), &names), "tokens meets 2*heads");
    }

    #[test]
    fn names_of_symbols_are_not_replaced_within_one_another() {
        // Names that are those of other symbols, or parts of the words around them.
        let names = ["a", "s0", "s1", "meets"].map(str::to_owned);
        let dims: Vec<Dim> = (0..4).map(Dim::symbol).collect();
        assert_eq!(
            name_symbols(&format!("as {dims:?} meets s9, dims0"), &names),
            "as [a, s0, s1, meets] meets s9, dims0"
        );
        assert_eq!(name_symbols(&format!("{:?}→{:?}", dims[1] * dims[0] * 2, dims[2]), &names), "2*a*s0→s1");
        assert_eq!(name_symbols("", &names), "");
    }

    #[test]
    fn other_forms_are_refused_where_they_are_used() {
        let (n, m) = (Dim::symbol(0), Dim::symbol(1));
        for other in [n + m, (n + 1) * m, Dim::from(usize::MAX), n * usize::MAX * 2, Dim::from(i64::MAX as usize) + 1]
        {
            assert!(!other.is_usable(), "{other:?}");
            assert!([other].into_dims().is_err());
            assert!(!(other + 1).is_usable() && !(other * 2).is_usable());
        }
        assert!([1_usize; 9].into_dims().is_err());
        assert!([1_usize; 8].into_dims().is_ok());
    }
}
