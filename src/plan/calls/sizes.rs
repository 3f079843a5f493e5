//! Sizes of a plan that is called, in the symbols of its caller.

use crate::plan::recipe::Recipe;
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::recipe::quantity::Form;
use crate::plan::recipe::sound::{MOST_COEFFICIENT, MOST_POWER, MOST_TERMS};
use crate::plan::symbols::dim::Dim;
use crate::plan::symbols::poly::Poly;

/// A dimension with `by` in place of the symbols; none where it is none that a plan can have.
pub(super) fn dim(size: Dim, by: &[Dim]) -> Option<Dim> {
    let (factor, plus, powers) = size.parts();
    if factor == 0 {
        return Some(size);
    }
    let mut product = Dim::from(usize::try_from(factor).ok()?);
    for (index, power) in powers.iter().enumerate().filter(|(_, power)| **power != 0) {
        let by = *by.get(index)?;
        for _ in 0..*power {
            product = product * by;
        }
    }
    let sum = product + Dim::from_parts(0, plus, Default::default());
    sum.is_usable().then_some(sum)
}

fn is_moderate(poly: &Poly) -> bool {
    let mut terms = poly.terms();
    terms.len() <= MOST_TERMS
        && terms.all(|(powers, by)| {
            by.unsigned_abs() < u128::from(MOST_COEFFICIENT)
                && powers.iter().map(|power| u32::from(*power)).sum::<u32>() <= MOST_POWER
        })
}

/// A size with `by` in place of the symbols.
pub(super) fn extent(size: &Extent, by: &[Dim]) -> Option<Extent> {
    let Extent::Symbolic(poly) = size else { return Some(size.clone()) };
    let mut sum = Poly::default();
    for (powers, factor) in poly.terms() {
        let mut term = Poly::constant(*factor);
        for (index, power) in powers.iter().enumerate().filter(|(_, power)| **power != 0) {
            let by = by.get(index)?.poly();
            for _ in 0..*power {
                term = Some(term.times(&by)).filter(is_moderate)?;
            }
        }
        sum = sum.plus(&term);
    }
    Some(sum).filter(is_moderate).and_then(Extent::of)
}

pub(super) fn layout(layout: &Layout, by: &[Dim]) -> Option<Layout> {
    let dims = layout.dims.iter().map(|size| dim(*size, by)).collect::<Option<_>>()?;
    let strides = layout.strides.iter().map(|stride| extent(stride, by)).collect::<Option<_>>()?;
    Some(Layout { dtype: layout.dtype, dims, strides })
}

pub(super) fn number(number: &Form, by: &[Dim]) -> Option<Form> {
    Some(match number {
        Form::Whole(number) => Form::Whole(*number),
        Form::Size(size) => Form::Size(dim(*size, by)?),
        Form::Power(factor, size, exponent) => Form::Power(*factor, dim(*size, by)?, *exponent),
    })
}

/// What the symbols of a plan are by the shapes of its operands, beside what `told` says: a dimension that is a symbol
/// tells it. Operands with other numbers of dimensions tell nothing. The first symbol that nothing tells is an error.
pub(crate) fn bind<'a>(
    callee: &Recipe,
    operands: impl Iterator<Item = &'a [Dim]>,
    told: Vec<Option<Dim>>,
) -> Result<Vec<Dim>, String> {
    let mut known = told;
    for (input, dims) in callee.inputs.iter().zip(operands) {
        let wanted = &callee.layout_of(input.value).dims;
        for (want, dim) in wanted.iter().zip(dims).filter(|_| wanted.len() == dims.len()) {
            if let Some(symbol) = want.as_symbol() {
                known[symbol].get_or_insert(*dim);
            }
        }
    }
    let missing = |index: usize| {
        let name = &callee.symbols[index].name;
        format!("no shape of an operand is its symbol {name:?}; call_with tells what it is")
    };
    known.iter().enumerate().map(|(index, dim)| dim.ok_or_else(|| missing(index))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_caller() {
        let (n, m) = (Dim::symbol(0), Dim::symbol(1));
        let by = [m * 2 + 1, Dim::from(3)];
        assert_eq!(dim(n * 4 + 2, &by), Some(m * 8 + 6));
        assert_eq!(dim(n * m, &by), Some(m * 6 + 3));
        assert_eq!(dim(Dim::from(7), &by), Some(Dim::from(7)));
        assert_eq!(dim(n * n, &by), None, "a square of a sum is no dimension");
        let square = Extent::of_dim(n * n).unwrap();
        assert_eq!(extent(&square, &by).unwrap().value(&[0, 2]), Some(25), "and a size");
        assert_eq!(number(&Form::Power(0, n, 0), &by), Some(Form::Power(0, m * 2 + 1, 0)));
    }

    #[test]
    fn sizes_past_all_bounds_are_none() {
        let n = Dim::symbol(0);
        assert_eq!(dim(n * usize::MAX, &[n * 3]), None);
        let large = (0..60).fold(n, |power, _| power * n);
        assert_eq!(extent(&Extent::of_dim(large).unwrap(), &[n * n]), None, "122 is no power of a size");
        assert_eq!(extent(&Extent::of_dim(large).unwrap(), &[n + 4]), None, "nor are there such numbers");
    }
}
