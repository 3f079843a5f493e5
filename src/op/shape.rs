//! Shapes of up to eight dimensions, without allocation.

use std::fmt;
use std::ops::Deref;

use crate::error::{Error, Result};

/// Most dimensions that an operator takes.
pub const MAX_RANK: usize = 8;

/// Sizes of the dimensions of a tensor, outermost first. Dereferences to a slice.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    dims: [usize; MAX_RANK],
    rank: usize,
}

impl Shape {
    /// The shape with these dimensions; none of them for a single number.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for more than [`MAX_RANK`] dimensions, or
    /// when the number of elements does not fit.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::Shape;
    ///
    /// let shape = Shape::new(&[2, 3, 4])?;
    /// assert_eq!(shape.elements(), 24);
    /// assert_eq!(shape.len(), 3); // dimensions: it is a slice
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn new(sizes: &[usize]) -> Result<Self> {
        if sizes.len() > MAX_RANK {
            return Err(Error::invalid(format!("{} dimensions; operators take up to {MAX_RANK}", sizes.len())));
        }
        // Zeros count as ones: strides are products of the other sizes.
        let elements = sizes.iter().try_fold(1_usize, |product, size| product.checked_mul((*size).max(1)));
        if elements.is_none_or(|elements| i64::try_from(elements).is_err()) {
            return Err(Error::invalid(format!("the shape {sizes:?} has too many elements")));
        }
        let mut dims = [0; MAX_RANK];
        dims[..sizes.len()].copy_from_slice(sizes);
        Ok(Self { dims, rank: sizes.len() })
    }

    /// Number of elements; 1 without dimensions.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.iter().product()
    }

    /// Strides, in elements, of a tensor of this shape without gaps.
    pub(crate) fn dense_strides(&self) -> [usize; MAX_RANK] {
        let mut strides = [0; MAX_RANK];
        let mut step = 1;
        for (stride, size) in strides.iter_mut().zip(self.iter()).rev() {
            *stride = step;
            step *= size;
        }
        let rank = self.rank;
        // `zip` stops at the rank, so `rev` started there.
        debug_assert!(rank == 0 || strides[rank - 1] == 1);
        strides
    }

    /// The sizes, followed by zeros.
    pub(crate) fn all(&self) -> &[usize; MAX_RANK] {
        &self.dims
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    pub(crate) fn swapped(mut self, a: usize, b: usize) -> Self {
        self.dims.swap(a, b);
        self
    }

    pub(crate) fn resized(mut self, dim: usize, size: usize) -> Self {
        self.dims[dim] = size;
        self
    }
}

impl Deref for Shape {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.dims[..self.rank]
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// What can be given as a shape: arrays, slices and shapes.
pub trait IntoShape {
    /// The shape.
    ///
    /// # Errors
    ///
    /// As [`Shape::new`].
    fn into_shape(self) -> Result<Shape>;
}

impl IntoShape for Shape {
    fn into_shape(self) -> Result<Shape> {
        Ok(self)
    }
}

impl<const N: usize> IntoShape for [usize; N] {
    fn into_shape(self) -> Result<Shape> {
        Shape::new(&self)
    }
}

impl IntoShape for &[usize] {
    fn into_shape(self) -> Result<Shape> {
        Shape::new(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_strides_count_inner_elements() {
        let shape = Shape::new(&[2, 3, 4]).unwrap();
        assert_eq!(shape.dense_strides()[..3], [12, 4, 1]);
        assert_eq!(shape.elements(), 24);
        assert_eq!(Shape::new(&[]).unwrap().elements(), 1);
    }

    #[test]
    fn too_many_dimensions_or_elements_are_refused() {
        assert!(Shape::new(&[1; 9]).is_err());
        assert!(Shape::new(&[usize::MAX, 2]).is_err());
        assert!(Shape::new(&[1 << 40, 1 << 40]).is_err());
        assert!(Shape::new(&[0, 1 << 40, 1 << 40]).is_err());
    }
}
