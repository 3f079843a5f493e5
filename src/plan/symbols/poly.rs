//! Polynomials over the symbols of a plan: sizes and offsets that are known only at a run.

use std::collections::BTreeMap;

use super::dim::MAX_SYMBOLS;
use super::effort::spend;

/// The power of each symbol in one term.
pub(crate) type Monomial = [u8; MAX_SYMBOLS];

/// A sum of terms; no term has the coefficient 0. Coefficients saturate: such a size is refused by its bounds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Poly(BTreeMap<Monomial, i128>);

/// Most steps of a division.
const MOST_DIVISIONS: usize = 16;

/// Least and greatest value of each symbol.
pub(crate) type Bounds<'a> = &'a [(u64, u64)];

impl Poly {
    pub(crate) fn constant(value: i128) -> Self {
        let mut poly = Self::default();
        poly.add_term([0; MAX_SYMBOLS], value);
        poly
    }

    pub(crate) fn add_term(&mut self, powers: Monomial, coefficient: i128) {
        let entry = self.0.entry(powers).or_default();
        *entry = entry.saturating_add(coefficient);
        if *entry == 0 {
            self.0.remove(&powers);
        }
    }

    pub(crate) fn terms(&self) -> impl ExactSizeIterator<Item = (&Monomial, &i128)> {
        self.0.iter()
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        self.combine(other, 1)
    }

    pub(crate) fn minus(&self, other: &Self) -> Self {
        self.combine(other, -1)
    }

    fn combine(&self, other: &Self, sign: i128) -> Self {
        spend((self.0.len() + other.0.len()) as u64);
        let mut sum = self.clone();
        for (powers, coefficient) in &other.0 {
            sum.add_term(*powers, coefficient.saturating_mul(sign));
        }
        sum
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        spend((self.0.len() * other.0.len()) as u64);
        let mut product = Self::default();
        for (a, x) in &self.0 {
            for (b, y) in &other.0 {
                let mut powers = *a;
                powers.iter_mut().zip(b).for_each(|(power, more)| *power = power.saturating_add(*more));
                product.add_term(powers, x.saturating_mul(*y));
            }
        }
        product
    }

    /// What a division may give as whole numbers, the likeliest first: which one leaves a rest that is less than `by`
    /// and not negative depends on what the symbols can be.
    pub(crate) fn quotients(&self, by: &Self) -> Vec<Self> {
        let (mut steps, _) = self.divide(by);
        let last = steps.last().cloned().unwrap_or_default();
        steps.insert(0, Self::default());
        steps.push(last.minus(&Self::constant(1)));
        steps.reverse();
        steps
    }

    /// The number that times `by` is this.
    pub(crate) fn exactly(&self, by: &Self) -> Option<Self> {
        let (mut steps, rest) = self.divide(by);
        rest.0.is_empty().then(|| steps.pop().unwrap_or_default())
    }

    /// The quotient after each step of a division, and the rest.
    fn divide(&self, by: &Self) -> (Vec<Self>, Self) {
        let (mut steps, mut quotient) = (Vec::new(), Self::default());
        // What the first term of `by` divides goes into the quotient, what it does not into the rest.
        let (mut left, mut rest) = (self.clone(), Self::default());
        let Some((lead, factor)) = by.0.last_key_value() else { return (steps, left) };
        while let Some((powers, coefficient)) = left.0.pop_last() {
            let mut term = powers;
            let divides = steps.len() < MOST_DIVISIONS
                && term.iter_mut().zip(lead).all(|(power, less)| {
                    let difference = power.checked_sub(*less);
                    *power = difference.unwrap_or(0);
                    difference.is_some()
                });
            let times = if divides { coefficient.div_euclid(*factor) } else { 0 };
            rest.add_term(powers, coefficient.saturating_sub(times.saturating_mul(*factor)));
            if times == 0 {
                continue;
            }
            let mut part = Self::default();
            part.add_term(term, times);
            for (powers, coefficient) in part.times(by).0.into_iter().rev().skip(1) {
                left.add_term(powers, coefficient.saturating_neg());
            }
            quotient = quotient.plus(&part);
            steps.push(quotient.clone());
        }
        (steps, rest)
    }

    /// The number, of a polynomial without symbols.
    pub(crate) fn as_constant(&self) -> Option<i128> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&[0; MAX_SYMBOLS]).copied(),
            _ => None,
        }
    }

    /// The value for these values of the symbols; none on overflow.
    pub(crate) fn value(&self, symbols: &[u64]) -> Option<i128> {
        self.0.iter().try_fold(0_i128, |sum, (powers, coefficient)| {
            let term = product(powers, |index| symbols.get(index).copied())?;
            sum.checked_add(coefficient.checked_mul(term)?)
        })
    }

    /// A bound from below for all values of the symbols within their bounds; none on overflow.
    pub(crate) fn least(&self, bounds: Bounds<'_>) -> Option<i128> {
        self.bound(bounds, false)
    }

    /// A bound from above.
    pub(crate) fn greatest(&self, bounds: Bounds<'_>) -> Option<i128> {
        self.bound(bounds, true)
    }

    fn bound(&self, bounds: Bounds<'_>, upper: bool) -> Option<i128> {
        self.0.iter().try_fold(0_i128, |sum, (powers, coefficient)| {
            let high = (*coefficient > 0) == upper;
            let term = product(powers, |index| bounds.get(index).map(|(low, up)| if high { *up } else { *low }))?;
            sum.checked_add(coefficient.checked_mul(term)?)
        })
    }
}

fn product(powers: &Monomial, value: impl Fn(usize) -> Option<u64>) -> Option<i128> {
    powers.iter().enumerate().filter(|(_, power)| **power != 0).try_fold(1_i128, |product, (index, power)| {
        product.checked_mul(i128::from(value(index)?).checked_pow(u32::from(*power))?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(index: usize) -> Poly {
        let mut powers = [0; MAX_SYMBOLS];
        powers[index] = 1;
        let mut poly = Poly::default();
        poly.add_term(powers, 1);
        poly
    }

    #[test]
    fn terms_add_multiply_and_cancel() {
        let (n, m) = (symbol(0), symbol(1));
        let sum = n.plus(&m);
        let square = sum.times(&sum);
        assert_eq!(square.value(&[3, 4]), Some(49));
        assert_eq!(square.minus(&square).as_constant(), Some(0));
        assert_eq!(n.times(&m).plus(&Poly::constant(5)).value(&[3, 4]), Some(17));
        assert_eq!(Poly::constant(7).as_constant(), Some(7));
        assert_eq!(n.as_constant(), None);
    }

    #[test]
    fn bounds_hold_for_all_values() {
        let (n, m) = (symbol(0), symbol(1));
        let difference = n.minus(&m);
        assert_eq!(difference.least(&[(2, 5), (1, 2)]), Some(0));
        assert_eq!(difference.greatest(&[(2, 5), (1, 2)]), Some(4));
        assert_eq!(n.times(&n).greatest(&[(0, u64::MAX)]), None, "an overflow has no bound");
    }
}
