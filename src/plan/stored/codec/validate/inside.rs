//! Sizes with symbols: that they are of a form that can be computed with, and that views stay inside their memory.

use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::symbols::dim::{Dim, MAX_SYMBOLS};
use crate::plan::symbols::poly::{Bounds, Monomial, Poly};

use super::MOST_BYTES;

/// Terms, coefficients and powers of a size with symbols. With these the numbers of a view, products of two sizes
/// summed over eight dimensions, stay below 2¹²⁷, so that no sum or product saturates.
const MOST_TERMS: usize = 512;
const MOST_COEFFICIENT: u64 = 1 << 56;
const MOST_POWER: u32 = 64;

/// Whether the powers are those of symbols that there are, and that sizes may have.
fn known_powers(powers: &Monomial, sizes: &[bool]) -> bool {
    let may = |index: usize| sizes.get(index).copied().unwrap_or(false);
    powers.iter().enumerate().all(|(index, power)| *power == 0 || may(index))
        && powers.iter().map(|power| u32::from(*power)).sum::<u32>() <= MOST_POWER
}

/// Whether a size is a number that memory can have, or made of symbols of the plan; `sizes` says which may be in one.
pub(super) fn is_sound(extent: &Extent, sizes: &[bool]) -> bool {
    match extent {
        Extent::Fixed(value) => *value < MOST_BYTES,
        Extent::Symbolic(poly) => {
            let mut terms = poly.terms();
            terms.len() <= MOST_TERMS
                && terms.all(|(powers, by)| {
                    by.unsigned_abs() < u128::from(MOST_COEFFICIENT) && known_powers(powers, sizes)
                })
        }
    }
}

/// Whether a dimension is a number from 0, of some numbers for the symbols: a run for others is refused.
pub(super) fn is_sound_dim(dim: Dim, bounds: Bounds<'_>, sizes: &[bool]) -> bool {
    let (factor, plus, powers) = dim.parts();
    if factor == 0 {
        return (0..MOST_BYTES as i64).contains(&plus);
    }
    let small = factor < MOST_COEFFICIENT && plus.unsigned_abs() < MOST_COEFFICIENT;
    small
        && dim.is_usable()
        && known_powers(&powers, sizes)
        && dim.poly().least(bounds).is_some()
        && dim.poly().greatest(bounds).is_some_and(|greatest| greatest >= 0)
}

/// Whether every first byte is a multiple of `size`.
pub(super) fn is_multiple(offset: &Extent, size: u64) -> bool {
    match offset {
        Extent::Fixed(value) => value.is_multiple_of(size),
        Extent::Symbolic(poly) => poly.terms().all(|(_, by)| by % i128::from(size) == 0),
    }
}

/// Whether a view at `offset` with the span of its layout ends inside `bytes`, whatever the symbols are.
pub(super) fn ends_inside(offset: &Extent, span: &Extent, bytes: &Extent, bounds: Bounds<'_>) -> bool {
    let Some(end) = offset.plus(span) else { return false };
    end.is_at_most(bytes, bounds) || never_negative(&bytes.poly().minus(&end.poly()), bounds)
}

/// What is told of a layout once for all values that have it.
pub(super) struct Facts {
    pub(super) span: Extent,
    pub(super) dense: bool,
    pub(super) bytes: Extent,
}

/// Terms of the product of all dimensions, and with it the memory that the facts of a layout take.
const MOST_PRODUCT: usize = 64;

impl Facts {
    pub(super) fn of(layout: &Layout) -> Option<Self> {
        // A multiple of symbols is one term, unless something is added to it.
        let terms = |dim: &Dim| match dim.parts() {
            (0, ..) | (_, 0, _) => 1,
            _ => 2,
        };
        if layout.dims.iter().map(terms).product::<usize>() > MOST_PRODUCT {
            return None;
        }
        Some(Self { span: layout.span()?, dense: layout.is_dense(), bytes: layout.bytes()? })
    }
}

/// Work that the exact test below may take.
const MOST_TESTED: (usize, usize, u32) = (32, 4, 8);

/// Whether a polynomial is 0 or more within the bounds, where bounding each term alone is not enough, as for
/// `n * k - m * k` with `n >= m`. Each symbol is written as its least value plus, or its greatest minus, something
/// from 0; when no term is negative then, for one choice of these, nothing can be.
fn never_negative(poly: &Poly, bounds: Bounds<'_>) -> bool {
    let used: Vec<usize> =
        (0..bounds.len()).filter(|index| poly.terms().any(|(powers, _)| powers[*index] != 0)).collect();
    let degree = |powers: &Monomial| powers.iter().map(|power| u32::from(*power)).sum::<u32>();
    let (terms, symbols, powers) = MOST_TESTED;
    if poly.terms().len() > terms
        || used.len() > symbols
        || poly.terms().any(|(monomial, _)| degree(monomial) > powers)
    {
        return false;
    }
    (0..1_u32 << used.len()).any(|choice| {
        let mut shifted = poly.clone();
        for (bit, index) in used.iter().enumerate() {
            let (least, greatest) = bounds[*index];
            let (from, sign) = if choice & (1 << bit) == 0 { (least, 1) } else { (greatest, -1) };
            shifted = substitute(&shifted, *index, i128::from(from), sign);
        }
        shifted.terms().all(|(_, by)| *by > 0 && *by < i128::MAX)
    })
}

/// The polynomial with `from + sign * symbol` in place of a symbol.
fn substitute(poly: &Poly, index: usize, from: i128, sign: i128) -> Poly {
    let mut step = Poly::constant(from);
    let mut powers = [0; MAX_SYMBOLS];
    powers[index] = 1;
    step.add_term(powers, sign);
    let mut result = Poly::default();
    for (powers, by) in poly.terms() {
        let mut rest = *powers;
        let power = std::mem::take(&mut rest[index]);
        let mut term = Poly::default();
        term.add_term(rest, *by);
        for _ in 0..power {
            term = term.times(&step);
        }
        result = result.plus(&term);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poly(terms: &[(&[u8], i128)]) -> Poly {
        let mut poly = Poly::default();
        for (powers, by) in terms {
            let mut all = [0; MAX_SYMBOLS];
            all[..powers.len()].copy_from_slice(powers);
            poly.add_term(all, *by);
        }
        poly
    }

    #[test]
    fn products_of_differences_are_told_exactly() {
        // n from 8 to 16, m from 1 to 8, k from 1 to 8.
        let bounds = [(8, 16), (1, 8), (1, 8)];
        let difference = poly(&[(&[1, 0, 1], 1), (&[0, 1, 1], -1)]);
        assert_eq!(difference.least(&bounds), Some(8 - 64));
        assert!(never_negative(&difference, &bounds), "(n - m) * k");
        assert!(never_negative(&poly(&[(&[2, 0, 0], 1), (&[1, 1, 0], -1)]), &bounds), "n * n - m * n");
        assert!(!never_negative(&poly(&[(&[1, 0, 1], 1), (&[0, 1, 1], -1), (&[], -1)]), &bounds), "one less");
        assert!(!never_negative(&poly(&[(&[1, 0, 1], 1), (&[0, 1, 1], -2)]), &bounds), "8 - 16 at the least");
    }

    #[test]
    fn forms_that_cannot_be_computed_with_are_not_sound() {
        let sound = |poly: Poly| is_sound(&Extent::of(poly).unwrap(), &[true]);
        assert!(sound(poly(&[(&[1], 4), (&[], 8)])));
        assert!(!sound(poly(&[(&[0, 1], 4)])), "a symbol that is not there");
        assert!(!sound(poly(&[(&[65], 1)])));
        assert!(!sound(poly(&[(&[1], 1 << 56)])));
        assert!(!sound(poly(&[(&[1], i128::MIN)])));
        assert!(is_sound(&Extent::Fixed((1 << 62) - 1), &[]) && !is_sound(&Extent::Fixed(1 << 62), &[]));
    }
}
