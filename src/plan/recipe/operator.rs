//! What operators take: numbers from the host, and operands with type and shape.

use crate::op::DataType;
use crate::plan::symbols::dim::Dim;

/// A number that an operator takes from the host; it becomes one of the operand's type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// For float types.
    Float(f64),
    /// For integer types, exactly; floats take it too.
    Int(i64),
}

impl From<f32> for Number {
    fn from(value: f32) -> Self {
        Self::Float(f64::from(value))
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<i32> for Number {
    fn from(value: i32) -> Self {
        Self::Int(i64::from(value))
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

/// Type and dimensions of an operand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand<'a> {
    pub(crate) dtype: DataType,
    pub(crate) dims: &'a [Dim],
}

/// The common shape, as in numpy. Symbolic dimensions must be the same, since nobody knows whether they are 1.
pub(crate) fn broadcast(a: &[Dim], b: &[Dim]) -> Result<Vec<Dim>, String> {
    let one = Dim::from(1);
    let rank = a.len().max(b.len());
    let at = |dims: &[Dim], i: usize| (i + dims.len()).checked_sub(rank).map_or(one, |i| dims[i]);
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (x, y) if x == y || y == one => Ok(x),
            (x, y) if x == one => Ok(y),
            (x, y) => Err(format!("{a:?} and {b:?} cannot be broadcast: {x:?} meets {y:?}")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_broadcast_from_their_ends() {
        let shape = |sizes: &[usize]| -> Vec<Dim> { sizes.iter().map(|size| Dim::from(*size)).collect() };
        let both = |a: &[usize], b: &[usize]| broadcast(&shape(a), &shape(b));
        assert_eq!(both(&[2, 3], &[3]), Ok(shape(&[2, 3])));
        assert_eq!(both(&[2, 1], &[1, 4]), Ok(shape(&[2, 4])));
        assert_eq!(both(&[], &[0, 1]), Ok(shape(&[0, 1])));
        assert!(both(&[2, 3], &[2]).unwrap_err().contains("3 meets 2"));
        let (n, one) = ([Dim::symbol(0)], [Dim::from(1)]);
        assert_eq!(broadcast(&n, &one), Ok(n.to_vec()));
        assert!(broadcast(&n, &[Dim::symbol(1)]).is_err(), "two symbols may be two numbers");
    }
}
