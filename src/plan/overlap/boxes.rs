//! Values with symbols as boxes: their bytes are numbered like numbers with digits, the strides of the values being
//! the weights, and a value has a range of each digit.

use crate::plan::recipe::Recipe;
use crate::plan::symbols::poly::{Bounds, Poly};
use crate::sort;

/// Most weights of a grid.
const MOST_WEIGHTS: usize = 7;

/// The weights of the digits, in bytes, the largest first; the last is 1.
#[derive(Clone)]
pub(crate) struct Grid(Vec<Poly>);

/// First and end of each digit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Box(pub(crate) Vec<(Poly, Poly)>);

/// Whether one is at most the other, for all values of the symbols; false when it is not certain.
pub(crate) fn at_most(a: &Poly, b: &Poly, bounds: Bounds<'_>) -> bool {
    a == b || is_natural(&b.minus(a), bounds)
}

fn is_natural(poly: &Poly, bounds: Bounds<'_>) -> bool {
    poly.least(bounds).is_some_and(|least| least >= 0)
}

/// Number of elements, and distance in bytes, of each dimension of a value that takes steps.
fn axes(recipe: &Recipe, value: u32) -> impl Iterator<Item = (Poly, Poly)> {
    let layout = recipe.layout_of(value);
    let size = Poly::constant(layout.dtype.size() as i128);
    let axes = layout.dims.iter().zip(&layout.strides).filter(|(dim, _)| dim.as_fixed() != Some(1));
    axes.map(move |(dim, stride)| (dim.poly(), stride.poly().times(&size)))
}

impl Grid {
    /// For these values; none when they are too different.
    pub(crate) fn of(recipe: &Recipe, values: impl Iterator<Item = u32>, bounds: Bounds<'_>) -> Option<Self> {
        let (mut weights, mut layouts) = (vec![(1, Poly::constant(1))], Vec::new());
        for value in values {
            let layout = recipe.values[value as usize].layout;
            if layouts.contains(&layout) {
                continue;
            }
            layouts.push(layout);
            for (_, weight) in axes(recipe, value) {
                if weights.iter().any(|(_, known)| *known == weight) {
                    continue;
                }
                let greatest = weight.greatest(bounds).filter(|greatest| *greatest > 0)?;
                weights.push((greatest, weight));
            }
            if weights.len() > MOST_WEIGHTS || layouts.len() > 4 * MOST_WEIGHTS {
                return None;
            }
        }
        sort::by_key(&mut weights, |(greatest, _)| std::cmp::Reverse(*greatest));
        Some(Self(weights.into_iter().map(|(_, weight)| weight).collect()))
    }

    pub(crate) fn digits(&self) -> usize {
        self.0.len()
    }

    /// The box that a value certainly is. What its lower digits make is less than one of the digit before, so that
    /// two boxes have a byte in common exactly if they have each digit in common.
    pub(crate) fn place(&self, recipe: &Recipe, value: u32, bounds: Bounds<'_>) -> Option<Box> {
        let counts = self.counts(recipe, value, bounds)?;
        let mut rest = recipe.values[value as usize].offset.poly();
        let mut ranges = Vec::with_capacity(counts.len());
        for (digit, (weight, count)) in self.0.iter().zip(&counts).enumerate() {
            let span = self.span(digit + 1, &counts);
            // What the lower digits make lies below the weight, also for the last of them.
            let fits = |low: &Poly| {
                let inner = rest.minus(&low.times(weight));
                let is_inside = is_natural(low, bounds)
                    && is_natural(&inner, bounds)
                    && at_most(&inner.plus(&span), weight, bounds);
                is_inside.then_some(inner)
            };
            let mut lows = rest.quotients(weight).into_iter();
            let (low, inner) = lows.find_map(|low| fits(&low).map(|inner| (low, inner)))?;
            rest = inner;
            let end = low.plus(count);
            ranges.push((low, end));
        }
        Some(Box(ranges))
    }

    /// Bytes from the first to the end of the last of these digits.
    fn span(&self, from: usize, counts: &[Poly]) -> Poly {
        let one = Poly::constant(1);
        let steps = self.0.iter().zip(counts).skip(from).map(|(weight, count)| count.minus(&one).times(weight));
        steps.fold(one.clone(), |span, step| span.plus(&step))
    }

    /// How many of each digit a value has.
    fn counts(&self, recipe: &Recipe, value: u32, bounds: Bounds<'_>) -> Option<Vec<Poly>> {
        let one = Poly::constant(1);
        let mut counts = vec![one.clone(); self.0.len()];
        *counts.last_mut()? = Poly::constant(recipe.layout_of(value).dtype.size() as i128);
        for (count, weight) in axes(recipe, value) {
            let digit = self.0.iter().position(|known| *known == weight)?;
            if counts[digit] != one {
                return None;
            }
            counts[digit] = count;
        }
        // Rows without a gap between them may be one dimension: it becomes a whole number of the next weight.
        for digit in (1..counts.len()).rev() {
            let all = counts[digit].times(&self.0[digit]);
            if at_most(&all, &self.0[digit - 1], bounds) || counts[digit - 1] != one {
                continue;
            }
            counts[digit - 1] = all.exactly(&self.0[digit - 1])?;
            counts[digit] = self.0[digit - 1].exactly(&self.0[digit])?;
        }
        Some(counts)
    }
}

impl Box {
    /// Whether two certainly have no byte in common.
    pub(crate) fn is_apart(&self, other: &Self, bounds: Bounds<'_>) -> bool {
        let apart =
            |(a, b): (&(Poly, Poly), &(Poly, Poly))| at_most(&a.1, &b.0, bounds) || at_most(&b.1, &a.0, bounds);
        self.0.iter().zip(&other.0).any(apart)
    }

    /// Whether all of `other` certainly is part of it.
    pub(crate) fn has(&self, other: &Self, bounds: Bounds<'_>) -> bool {
        let has = |(a, b): (&(Poly, Poly), &(Poly, Poly))| at_most(&a.0, &b.0, bounds) && at_most(&b.1, &a.1, bounds);
        self.0.iter().zip(&other.0).all(has)
    }

    /// One box for two that differ in one digit only, and meet there, or of which one has the other.
    pub(crate) fn union(&self, other: &Self, bounds: Bounds<'_>) -> Option<Self> {
        if self.has(other, bounds) {
            return Some(self.clone());
        }
        if other.has(self, bounds) {
            return Some(other.clone());
        }
        let mut differ = (0..self.0.len()).filter(|digit| self.0[*digit] != other.0[*digit]);
        let (digit, None) = (differ.next()?, differ.next()) else { return None };
        let (a, b) = (&self.0[digit], &other.0[digit]);
        let (a, b) = if at_most(&a.0, &b.0, bounds) { (a, b) } else { (b, a) };
        if !(at_most(&a.0, &b.0, bounds) && at_most(&b.0, &a.1, bounds) && at_most(&a.1, &b.1, bounds)) {
            return None;
        }
        let mut both = self.clone();
        both.0[digit] = (a.0.clone(), b.1.clone());
        Some(both)
    }
}

/// Whether two values of a storage certainly have no byte in common.
pub(crate) fn are_apart(recipe: &Recipe, a: u32, b: u32, bounds: Bounds<'_>) -> bool {
    let apart = |grid: &Grid| {
        let (a, b) = (grid.place(recipe, a, bounds)?, grid.place(recipe, b, bounds)?);
        Some(a.is_apart(&b, bounds))
    };
    Grid::of(recipe, [a, b].into_iter(), bounds).as_ref().and_then(apart).unwrap_or(false)
}

#[cfg(test)]
mod tests;
