//! Sizes with symbols: that they are of a form that can be computed with, and that views stay inside their memory.

use crate::plan::recipe::layout::Extent;
use crate::plan::symbols::dim::MAX_SYMBOLS;
use crate::plan::symbols::poly::{Bounds, Monomial, Poly};

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
}
