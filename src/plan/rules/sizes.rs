//! Numbers that may depend on symbols.

use crate::plan::symbols::dim::Dim;

/// A number as one that could depend on symbols; it may be negative.
pub(super) fn number(number: i64) -> Dim {
    Dim::from_parts(0, number, Default::default())
}

/// The number, of one without symbols.
pub(super) fn fixed(dim: Dim) -> Option<i64> {
    let (factor, plus, _) = dim.parts();
    (factor == 0).then_some(plus)
}

pub(super) fn plus(dim: Dim, by: i64) -> Option<Dim> {
    let (factor, plus, powers) = dim.parts();
    let sum = plus.checked_add(by)?;
    (factor != u64::MAX).then(|| if factor == 0 { number(sum) } else { Dim::from_parts(factor, sum, powers) })
}

/// The sum, where it can be written.
pub(super) fn sum(a: Dim, b: Dim) -> Option<Dim> {
    match (fixed(a), fixed(b)) {
        (_, Some(b)) => plus(a, b),
        (Some(a), _) => plus(b, a),
        _ => Some(a + b).filter(|sum| sum.is_usable()),
    }
}

/// The product, where it can be written.
pub(super) fn times(a: Dim, b: Dim) -> Option<Dim> {
    match (fixed(a), fixed(b)) {
        (Some(a), Some(b)) => a.checked_mul(b).map(number),
        _ => Some(a * b).filter(|product| product.is_usable()),
    }
}

/// The number of elements, where it can be written.
pub(super) fn product(dims: &[Dim]) -> Option<Dim> {
    if dims.contains(&Dim::from(0)) {
        return Some(Dim::from(0)); // whatever the others are
    }
    dims.iter().try_fold(Dim::from(1), |all, dim| times(all, *dim))
}

/// The quotient rounded down, where it can be written whatever the symbols are.
pub(super) fn quotient(dim: Dim, by: i64) -> Option<Dim> {
    let (factor, plus, powers) = dim.parts();
    let step = u64::try_from(by).ok().filter(|step| *step > 0)?;
    match factor {
        0 => Some(number(plus.div_euclid(by))),
        u64::MAX => None,
        _ if factor.is_multiple_of(step) => Some(Dim::from_parts(factor / step, plus.div_euclid(by), powers)),
        _ => None,
    }
}

/// The difference, where it can be written.
pub(super) fn difference(a: Dim, b: Dim) -> Option<Dim> {
    if let Some(b) = fixed(b) {
        return plus(a, b.checked_neg()?);
    }
    let ((of_a, plus_a, powers), (of_b, plus_b, others)) = (a.parts(), b.parts());
    let plus = plus_a.checked_sub(plus_b)?;
    match of_a.checked_sub(of_b)? {
        _ if powers != others || of_a == u64::MAX || of_b == u64::MAX => None,
        0 => Some(number(plus)),
        factor => Some(Dim::from_parts(factor, plus, powers)),
    }
}
