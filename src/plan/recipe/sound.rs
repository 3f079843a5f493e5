//! Sizes that can be computed with: those that a builder gives out, and that are read of a file.

use crate::plan::symbols::dim::Dim;
use crate::plan::symbols::poly::Monomial;

use super::Recipe;
use super::layout::{Extent, Layout};

/// Sizes are below this.
pub(crate) const MOST_BYTES: u64 = 1 << 62;
/// All memory of a plan is below this.
pub(crate) const MOST_TOGETHER: u64 = 2 * MOST_BYTES;

/// Terms, coefficients and powers of a size with symbols. With these the numbers of a view, products of two sizes
/// summed over eight dimensions, stay below 2¹²⁷, so that no sum or product saturates.
pub(crate) const MOST_TERMS: usize = 512;
pub(crate) const MOST_COEFFICIENT: u64 = 1 << 56;
pub(crate) const MOST_POWER: u32 = 64;

/// Terms of the product of all dimensions, and with it the memory that the facts of a layout take.
#[cfg(feature = "cache")]
const MOST_PRODUCT: usize = 64;

/// The symbols that sizes are made of.
pub(crate) struct Sizes {
    pub(crate) bounds: Vec<(u64, u64)>,
    /// Which may be in one.
    may: Vec<bool>,
}

impl Sizes {
    pub(crate) fn of(recipe: &Recipe) -> Self {
        let may = recipe.symbols.iter().map(|symbol| !symbol.each_run).collect();
        Self { bounds: recipe.bounds(), may }
    }

    /// The same, where also those that each run gives anew may be in one.
    pub(crate) fn of_each_run(recipe: &Recipe) -> Self {
        Self { bounds: recipe.bounds(), may: vec![true; recipe.symbols.len()] }
    }

    /// Whether the powers are those of symbols that there are, and that sizes may have.
    fn known_powers(&self, powers: &Monomial) -> bool {
        let may = |index: usize| self.may.get(index).copied().unwrap_or(false);
        powers.iter().enumerate().all(|(index, power)| *power == 0 || may(index))
            && powers.iter().map(|power| u32::from(*power)).sum::<u32>() <= MOST_POWER
    }

    /// Whether a size is a number that memory can have, or made of symbols of the plan.
    pub(crate) fn is_sound(&self, extent: &Extent) -> bool {
        match extent {
            Extent::Fixed(value) => *value < MOST_BYTES,
            Extent::Symbolic(poly) => {
                let mut terms = poly.terms();
                terms.len() <= MOST_TERMS
                    && terms.all(|(powers, by)| {
                        by.unsigned_abs() < u128::from(MOST_COEFFICIENT) && self.known_powers(powers)
                    })
            }
        }
    }

    /// Whether a dimension is a number from 0, of some numbers for the symbols: a run for others is refused.
    pub(crate) fn is_sound_dim(&self, dim: Dim) -> bool {
        let (factor, plus, powers) = dim.parts();
        if factor == 0 {
            return (0..MOST_BYTES as i64).contains(&plus);
        }
        let small = factor < MOST_COEFFICIENT && plus.unsigned_abs() < MOST_COEFFICIENT;
        small
            && dim.is_usable()
            && self.known_powers(&powers)
            && dim.poly().least(&self.bounds).is_some()
            && !self.is_negative(dim)
    }

    /// Whether a dimension is below 0 whatever the symbols are.
    pub(crate) fn is_negative(&self, dim: Dim) -> bool {
        dim.poly().greatest(&self.bounds).is_none_or(|greatest| greatest < 0)
    }

    /// Whether a layout has places for its elements that can be computed with. One of a file has [facts](Facts::of) besides.
    pub(crate) fn is_sound_layout(&self, layout: &Layout) -> bool {
        layout.dims.iter().all(|dim| self.is_sound_dim(*dim))
            && layout.strides.iter().all(|stride| self.is_sound(stride))
            && layout.span().is_some()
            && layout.bytes().is_some()
    }

    /// The most bytes that memory has, where it can have them.
    pub(crate) fn most(&self, bytes: &Extent) -> Option<u64> {
        let most = if self.is_sound(bytes) { bytes.greatest(&self.bounds) } else { None };
        most.and_then(|most| u64::try_from(most).ok()).filter(|most| *most < MOST_BYTES)
    }
}

/// What is told of a layout once for all values that have it.
#[cfg(feature = "cache")]
pub(crate) struct Facts {
    pub(crate) span: Extent,
    pub(crate) dense: bool,
    pub(crate) bytes: Extent,
}

#[cfg(feature = "cache")]
impl Facts {
    pub(crate) fn of(layout: &Layout) -> Option<Self> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::symbols::dim::MAX_SYMBOLS;
    use crate::plan::symbols::poly::Poly;

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
    fn forms_that_cannot_be_computed_with_are_not_sound() {
        let sizes = Sizes { bounds: vec![(1, 4)], may: vec![true] };
        let sound = |poly: Poly| sizes.is_sound(&Extent::of(poly).unwrap());
        assert!(sound(poly(&[(&[1], 4), (&[], 8)])));
        assert!(!sound(poly(&[(&[0, 1], 4)])), "a symbol that is not there");
        assert!(!sound(poly(&[(&[65], 1)])));
        assert!(!sound(poly(&[(&[1], 1 << 56)])));
        assert!(!sound(poly(&[(&[1], i128::MIN)])));
        assert!(sizes.is_sound(&Extent::Fixed((1 << 62) - 1)) && !sizes.is_sound(&Extent::Fixed(1 << 62)));
    }
}
