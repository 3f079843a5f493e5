//! Sizes, and how the elements of a value lie in its memory.

use std::sync::Arc;

use crate::op::DataType;
use crate::plan::symbols::dim::Dim;
use crate::plan::symbols::poly::{Bounds, Poly};

/// A number of bytes or elements: known, or dependent on symbols.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Extent {
    Fixed(u64),
    Symbolic(Arc<Poly>),
}

impl Extent {
    pub(crate) fn of(poly: Poly) -> Option<Self> {
        match poly.as_constant() {
            Some(constant) => u64::try_from(constant).ok().map(Self::Fixed),
            None => Some(Self::Symbolic(Arc::new(poly))),
        }
    }

    /// The number that a dimension is.
    pub(crate) fn of_dim(dim: Dim) -> Option<Self> {
        match dim.as_fixed() {
            Some(size) => Some(Self::Fixed(size as u64)),
            None => Self::of(dim.poly()),
        }
    }

    pub(crate) fn poly(&self) -> Poly {
        match self {
            Self::Fixed(value) => Poly::constant(i128::from(*value)),
            Self::Symbolic(poly) => (**poly).clone(),
        }
    }

    pub(crate) fn as_fixed(&self) -> Option<u64> {
        match self {
            Self::Fixed(value) => Some(*value),
            Self::Symbolic(_) => None,
        }
    }

    /// The number for these values of the symbols.
    pub(crate) fn value(&self, symbols: &[u64]) -> Option<u64> {
        match self {
            Self::Fixed(value) => Some(*value),
            Self::Symbolic(poly) => u64::try_from(poly.value(symbols)?).ok(),
        }
    }

    pub(crate) fn plus(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Fixed(a), Self::Fixed(b)) => a.checked_add(*b).map(Self::Fixed),
            _ => Self::of(self.poly().plus(&other.poly())),
        }
    }

    pub(crate) fn times(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Fixed(a), Self::Fixed(b)) => a.checked_mul(*b).map(Self::Fixed),
            _ => Self::of(self.poly().times(&other.poly())),
        }
    }

    /// Whether this is at most `other` whatever the symbols are; false when it is not certain.
    pub(crate) fn is_at_most(&self, other: &Self, bounds: Bounds<'_>) -> bool {
        match (self, other) {
            (Self::Fixed(a), Self::Fixed(b)) => a <= b,
            _ => other.poly().minus(&self.poly()).least(bounds).is_some_and(|least| least >= 0),
        }
    }

    pub(crate) fn show(&self) -> String {
        match self {
            Self::Fixed(value) => value.to_string(),
            Self::Symbolic(_) => "a varying number of".to_owned(),
        }
    }

    /// The greatest number that it can be.
    pub(crate) fn greatest(&self, bounds: Bounds<'_>) -> Option<i128> {
        match self {
            Self::Fixed(value) => Some(i128::from(*value)),
            Self::Symbolic(poly) => poly.greatest(bounds),
        }
    }
}

/// Type, sizes and strides (in elements) of a value. Values of one kind share it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Layout {
    pub(crate) dtype: DataType,
    pub(crate) dims: Vec<Dim>,
    pub(crate) strides: Vec<Extent>,
}

impl Layout {
    /// Without gaps, the last dimension fastest; none when the size has no number.
    pub(crate) fn dense(dtype: DataType, dims: &[Dim]) -> Option<Self> {
        let mut strides = vec![Extent::Fixed(1); dims.len()];
        for i in (1..dims.len()).rev() {
            strides[i - 1] = strides[i].times(&Extent::of_dim(dims[i])?)?;
        }
        Some(Self { dtype, dims: dims.to_vec(), strides })
    }

    /// Whether the elements lie one after the other in their order. The stride of a dimension of size 1 means
    /// nothing.
    pub(crate) fn is_dense(&self) -> bool {
        let mut expected = Extent::Fixed(1);
        let sizes = self.dims.iter().zip(&self.strides).rev();
        for (dim, stride) in sizes.filter(|(dim, _)| dim.as_fixed() != Some(1)) {
            if *stride != expected {
                return false;
            }
            let Some(next) = Extent::of_dim(*dim).and_then(|dim| expected.times(&dim)) else { return false };
            expected = next;
        }
        true
    }

    pub(crate) fn elements(&self) -> Option<Extent> {
        self.dims.iter().try_fold(Extent::Fixed(1), |product, dim| product.times(&Extent::of_dim(*dim)?))
    }

    /// Bytes of the elements themselves.
    pub(crate) fn bytes(&self) -> Option<Extent> {
        self.elements()?.times(&Extent::Fixed(self.dtype.size() as u64))
    }

    /// Bytes from the first to the end of the last element, gaps included; of an empty one 0 or more.
    pub(crate) fn span(&self) -> Option<Extent> {
        if self.dims.iter().any(|dim| dim.as_fixed() == Some(0)) {
            return Some(Extent::Fixed(0));
        }
        if let Some(span) = self.fixed_span() {
            return Some(Extent::Fixed(span));
        }
        let mut last = Poly::constant(1);
        for (dim, stride) in self.dims.iter().zip(&self.strides) {
            let steps = dim.poly().minus(&Poly::constant(1));
            last = last.plus(&steps.times(&stride.poly()));
        }
        Extent::of(last.times(&Poly::constant(self.dtype.size() as i128)))
    }

    /// The span, where no symbol takes part and no size is 0.
    fn fixed_span(&self) -> Option<u64> {
        let last = self.dims.iter().zip(&self.strides).try_fold(0_u64, |last, (dim, stride)| {
            let steps = dim.as_fixed()? as u64 - 1;
            last.checked_add(steps.checked_mul(stride.as_fixed()?)?)
        })?;
        last.checked_add(1)?.checked_mul(self.dtype.size() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_count_gaps_and_dense_ones_do_not_have_any() {
        let dims = [Dim::from(3), Dim::from(4)];
        let dense = Layout::dense(DataType::F32, &dims).unwrap();
        assert_eq!(dense.span(), Some(Extent::Fixed(48)));
        assert_eq!(dense.bytes(), Some(Extent::Fixed(48)));
        let column = Layout { dims: vec![Dim::from(3), Dim::from(1)], ..dense.clone() };
        assert_eq!(column.span(), Some(Extent::Fixed(36)));
        assert!(dense.is_dense() && !column.is_dense());
        let row = Layout { dims: vec![Dim::from(1), Dim::from(3)], ..dense.clone() };
        assert!(row.is_dense(), "nothing follows the only row");
        let element = Layout { dims: vec![Dim::from(1), Dim::from(1)], ..dense.clone() };
        assert!(element.is_dense());
        let symbolic = Layout::dense(DataType::F16, &[Dim::symbol(0), Dim::from(4)]).unwrap();
        let first = Layout { dims: vec![Dim::from(1), Dim::symbol(0)], ..dense };
        assert!(first.is_dense());
        assert_eq!(symbolic.span().unwrap().value(&[5]), Some(40));
        assert_eq!(symbolic.strides[0], Extent::Fixed(4));
    }

    #[test]
    fn comparisons_hold_for_all_values_or_are_not_certain() {
        let n = Extent::of(Dim::symbol(0).poly()).unwrap();
        let bounds = [(2, 8)];
        assert!(Extent::Fixed(2).is_at_most(&n, &bounds));
        assert!(!Extent::Fixed(3).is_at_most(&n, &bounds));
        assert!(n.is_at_most(&Extent::Fixed(8), &bounds));
        assert!(n.is_at_most(&n.plus(&n).unwrap(), &bounds));
    }
}
