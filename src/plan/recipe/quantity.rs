//! Numbers that operators are told and that may depend on the symbols of the plan.

use crate::op::Amount;
use crate::plan::symbols::dim::Dim;

/// A number that an operator is told: an integer, a [`Dim`], or a power of one, scaled. See
/// [`Builder::telling`](crate::plan::Builder::telling).
///
/// # Examples
///
/// ```
/// use racl::plan::{Dim, Quantity};
///
/// let fixed = Quantity::from(-1);
/// let size = Quantity::from(Dim::from(64));
/// let scale = Quantity::power(Dim::from(64), -0.5); // 1 / √64, as attention has it
/// assert_eq!(format!("{fixed} {size} {scale}"), "-1 64 64^-0.5");
/// assert_eq!(scale.times(3.0).to_string(), "3.0*64^-0.5");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Quantity(pub(crate) Form);

/// What a quantity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Form {
    Whole(i64),
    Size(#[cfg_attr(feature = "cache", serde(with = "super::wire::dim"))] Dim),
    /// The bits of the factor, the base, the bits of the exponent.
    Power(u64, #[cfg_attr(feature = "cache", serde(with = "super::wire::dim"))] Dim, u64),
}

/// What a parameter of an operator is told in place of what it was recorded with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Later {
    /// Its name.
    pub(crate) parameter: String,
    pub(crate) numbers: Vec<Form>,
    /// Whether some number is one that [each run gives](crate::plan::Builder::number).
    pub(crate) each_run: bool,
}

impl Quantity {
    /// `base` to the power of `exponent`, a floating-point number: for parameters that take one.
    #[must_use]
    pub fn power(base: impl Into<Dim>, exponent: f64) -> Self {
        Self(Form::Power(1.0_f64.to_bits(), base.into(), exponent.to_bits()))
    }

    /// `factor` times this, a floating-point number: for parameters that take one.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self(match self.0 {
            Form::Power(by, base, exponent) => Form::Power((f64::from_bits(by) * factor).to_bits(), base, exponent),
            Form::Size(size) => Form::Power(factor.to_bits(), size, 1.0_f64.to_bits()),
            Form::Whole(number) => Form::Power((factor * number as f64).to_bits(), Dim::from(1), 1.0_f64.to_bits()),
        })
    }
}

impl From<Dim> for Quantity {
    fn from(size: Dim) -> Self {
        Self(Form::Size(size))
    }
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Quantity {
            fn from(number: $integer) -> Self {
                Self(Form::Whole(number.into()))
            }
        }
    )*};
}

integers!(i32, i64, u32);

impl From<usize> for Quantity {
    fn from(size: usize) -> Self {
        Dim::from(size).into()
    }
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.show(&[]))
    }
}

/// What can be told in place of a number or a list: one [`Quantity`] or what becomes one, and arrays, slices and
/// vectors of such.
pub trait IntoQuantities {
    /// The numbers, in order.
    fn into_quantities(self) -> Vec<Quantity>;
}

impl<Q: Into<Quantity>> IntoQuantities for Q {
    fn into_quantities(self) -> Vec<Quantity> {
        vec![self.into()]
    }
}

impl<Q: Into<Quantity>, const N: usize> IntoQuantities for [Q; N] {
    fn into_quantities(self) -> Vec<Quantity> {
        self.into_iter().map(Into::into).collect()
    }
}

impl<Q: Into<Quantity> + Copy> IntoQuantities for &[Q] {
    fn into_quantities(self) -> Vec<Quantity> {
        self.iter().map(|one| (*one).into()).collect()
    }
}

impl<Q: Into<Quantity>> IntoQuantities for Vec<Q> {
    fn into_quantities(self) -> Vec<Quantity> {
        self.into_iter().map(Into::into).collect()
    }
}

impl Later {
    /// The numbers where all are integers, which may depend on symbols.
    pub(crate) fn integers(&self) -> Option<Vec<Dim>> {
        self.numbers.iter().map(Form::integer).collect()
    }
}

impl Form {
    fn integer(&self) -> Option<Dim> {
        match self {
            Self::Whole(number) => Some(Dim::from_parts(0, *number, Default::default())),
            Self::Size(size) => Some(*size),
            Self::Power(..) => None,
        }
    }

    /// The size that it depends on.
    pub(crate) fn size(&self) -> Option<Dim> {
        match self {
            Self::Whole(_) => None,
            Self::Size(size) | Self::Power(_, size, _) => Some(*size),
        }
    }

    /// Whether only a parameter of floating-point numbers can be it.
    pub(crate) fn is_real(&self) -> bool {
        matches!(self, Self::Power(..))
    }

    /// The same without symbols, which have these values.
    pub(crate) fn fixed(&self, symbols: &[u64]) -> Option<Self> {
        let size = |dim: &Dim| dim.value(symbols).map(Dim::fixed);
        Some(match self {
            Self::Whole(number) => Self::Whole(*number),
            Self::Size(dim) => Self::Size(size(dim)?),
            Self::Power(factor, dim, exponent) => Self::Power(*factor, size(dim)?, *exponent),
        })
    }

    /// The number of one without symbols.
    pub(crate) fn amount(&self) -> Option<Amount> {
        let whole = |dim: &Dim| dim.as_fixed().and_then(|size| i64::try_from(size).ok());
        Some(match self {
            Self::Whole(number) => Amount::Whole(*number),
            Self::Size(dim) => Amount::Whole(whole(dim)?),
            Self::Power(factor, dim, exponent) => {
                let power = (whole(dim)? as f64).powf(f64::from_bits(*exponent));
                Amount::Real(f64::from_bits(*factor) * power)
            }
        })
    }

    pub(crate) fn show(&self, names: &[String]) -> String {
        match self {
            Self::Whole(number) => number.to_string(),
            Self::Size(size) => size.show(names),
            Self::Power(factor, size, exponent) => {
                let (factor, exponent) = (f64::from_bits(*factor), f64::from_bits(*exponent));
                let by = if factor == 1.0 { String::new() } else { format!("{factor:?}*") };
                let size = size.show(names);
                let power = if exponent == 1.0 { String::new() } else { format!("^{exponent:?}") };
                if size.contains(['*', '+', '-']) {
                    format!("{by}({size}){power}")
                } else {
                    format!("{by}{size}{power}")
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_computed_from_the_values_of_symbols() {
        let n = Dim::symbol(0);
        let number = |quantity: Quantity, value| quantity.0.fixed(&[value]).unwrap().amount().unwrap();
        assert_eq!(number((n * 2 + 1).into(), 5), Amount::Whole(11));
        assert_eq!(number((-7).into(), 5), Amount::Whole(-7));
        assert_eq!(number(Quantity::power(n, -0.5), 16), Amount::Real(0.25));
        assert_eq!(number(Quantity::from(n).times(0.5), 3), Amount::Real(1.5));
        assert_eq!(number(Quantity::power(n, 2.0).times(0.5).times(3.0), 2), Amount::Real(6.0));
        assert_eq!(number(Quantity::from(4).times(0.25), 9), Amount::Real(1.0));
        assert_eq!(Quantity::from(n).0.amount(), None, "a symbol without a value");
        assert_eq!(Quantity::from(n * 2).0.fixed(&[u64::MAX]), None, "past all sizes");
    }

    #[test]
    fn they_are_shown_as_they_were_written() {
        let names = ["n".to_owned()];
        let n = Dim::symbol(0);
        assert_eq!(Quantity::from(n * 2 + 1).0.show(&names), "2*n+1");
        assert_eq!(Quantity::power(n, -0.5).times(2.0).0.show(&names), "2.0*n^-0.5");
        assert_eq!(Quantity::power(n + 1, 2.0).0.show(&names), "(n+1)^2.0");
    }
}
