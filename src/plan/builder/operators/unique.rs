//! What there is of elements, or of slices, each once.

use std::panic::Location;

use crate::error::Result;
use crate::op::{DataType, aclnn};
use crate::plan::builder::{Builder, Value};
use crate::plan::symbols::dim::Dim;

use super::found::{Found, elements};

/// What the operator takes where elements are compared, not slices.
const NO_DIMENSION: i64 = 1000;

impl Builder {
    /// What there is of elements, in ascending order, each once; with the place of each element of `x` among them,
    /// `i64` in the shape of `x`, and how many there are of each, `i64` rows of which as many came. NaN equals nothing.
    ///
    /// C calls: `aclnnUnique2`, and `aclnnNeScalar` and `aclnnReduceSum` for the number.
    ///
    /// # Errors
    ///
    /// As [`Builder::nonzero`], but for that of no dimensions.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::I32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [4], I32, Input::Copied)?;
    ///     let (values, places, counts) = g.unique(x)?;
    ///     g.output_found("values", values)?;
    ///     g.output("places", places)?;
    ///     g.output_found("counts", counts)
    /// })?;
    /// let result = plan.simulate(0, &Simulated::new().tensor("x", &[7, 3, 7, 7], [4]))?;
    /// assert_eq!(result.found::<i32>("values")?, [3, 7]);
    /// assert_eq!(result.to_vec::<i64>("places")?, [1, 0, 1, 1]);
    /// assert_eq!(result.found::<i64>("counts")?, [1, 3]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnUnique2")]
    #[track_caller]
    pub fn unique(&self, x: Value) -> Result<(Found, Value, Found)> {
        let (values, places, counts) = self.rooms(x, false)?;
        aclnn::unique2(self, &x, true, true, true, &mut { values }, &mut { places }, &mut { counts })?;
        self.each_once(values, places, counts)
    }

    /// What there is of slices along dimension `dim`, in ascending order, each once; with the place of each slice of `x`
    /// among them, and how many there are of each. Slices are compared element by element; NaN equals nothing.
    ///
    /// The slices that came are rows: `dim` is the first dimension of the values, whatever it is of `x`, and the others
    /// follow in their order. The places and the counts are lines of `i64`. A negative `dim` counts from the end.
    ///
    /// C calls: `aclnnUniqueDim`, `aclnnPermute` where `dim` is not the first, and `aclnnNeScalar` and `aclnnReduceSum`
    /// for the number.
    ///
    /// # Errors
    ///
    /// As [`Builder::nonzero`]; also for a dimension that `x` does not have.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::I32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [3, 2], I32, Input::Copied)?;
    ///     let (rows, places, counts) = g.unique_dim(x, 0)?;
    ///     g.output_found("rows", rows)?;
    ///     g.output("places", places)?;
    ///     g.output_found("counts", counts)
    /// })?;
    /// # #[cfg(feature = "mock")] {
    /// let result = plan.simulate(0, &Simulated::new().tensor("x", &[7, 3, 1, 9, 7, 3], [3, 2]))?;
    /// assert_eq!(result.found::<i32>("rows")?, [1, 9, /* the second */ 7, 3]);
    /// assert_eq!(result.to_vec::<i64>("places")?, [1, 0, 1]);
    /// assert_eq!(result.found::<i64>("counts")?, [1, 2]);
    /// # }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnUniqueDim")]
    #[track_caller]
    pub fn unique_dim(&self, x: Value, dim: i64) -> Result<(Found, Value, Found)> {
        let x = self.in_front(x, dim, "unique_dim")?;
        let (values, places, counts) = self.rooms(x, true)?;
        aclnn::unique_dim(self, &x, true, true, 0, &mut { values }, &mut { places }, &mut { counts })?;
        self.each_once(values, places, counts)
    }

    /// What there is of elements in a row, or along `dim` of slices, each once: an element that equals the one before it
    /// is left out. With the place of each among them, `i64` in the shape of `x` or, with `dim`, a line, and how many
    /// there are of each.
    ///
    /// Shapes and dimensions as for [`Builder::unique`] without `dim`, and as for [`Builder::unique_dim`] with it; the
    /// order is that of `x`.
    ///
    /// C calls: `aclnnUniqueConsecutive`, and as [`Builder::unique_dim`].
    ///
    /// # Errors
    ///
    /// As [`Builder::unique_dim`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::I32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [5], I32, Input::Copied)?;
    ///     let (values, _, counts) = g.unique_consecutive(x, None)?;
    ///     g.output_found("values", values)?;
    ///     g.output_found("counts", counts)
    /// })?;
    /// # #[cfg(feature = "mock")] {
    /// let result = plan.simulate(0, &Simulated::new().tensor("x", &[7, 7, 3, 7, 7], [5]))?;
    /// assert_eq!(result.found::<i32>("values")?, [7, 3, 7]);
    /// assert_eq!(result.found::<i64>("counts")?, [2, 1, 2]);
    /// # }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnUniqueConsecutive")]
    #[track_caller]
    pub fn unique_consecutive(&self, x: Value, dim: Option<i64>) -> Result<(Found, Value, Found)> {
        let x = match dim {
            Some(dim) => self.in_front(x, dim, "unique_consecutive")?,
            None => x,
        };
        let (values, places, counts) = self.rooms(x, dim.is_some())?;
        let along = if dim.is_some() { 0 } else { NO_DIMENSION };
        aclnn::unique_consecutive(self, &x, true, true, along, &mut { values }, &mut { places }, &mut { counts })?;
        self.each_once(values, places, counts)
    }

    /// `x` with a dimension as the first one.
    #[track_caller]
    fn in_front(&self, x: Value, dim: i64, what: &str) -> Result<Value> {
        let dims = self.dims(x)?;
        let from_end = if dim < 0 { dims.len() as i64 } else { 0 };
        let Some(dim) = usize::try_from(dim.saturating_add(from_end)).ok().filter(|dim| *dim < dims.len()) else {
            let text = format!("{what}: dimension {dim} of a value of {} dimensions", dims.len());
            return self.not_found(text, Location::caller());
        };
        if dim == 0 {
            return Ok(x);
        }
        let order: Vec<usize> = std::iter::once(dim).chain((0..dims.len()).filter(|other| *other != dim)).collect();
        self.permute(x, &order)
    }

    /// Room for the most that there can be of rows, or of elements: of what is found, of places, and of counts.
    #[track_caller]
    fn rooms(&self, x: Value, rows: bool) -> Result<(Value, Value, Value)> {
        let dims = self.dims(x)?;
        let flat = [elements(&dims)];
        let room: &[Dim] = if rows { &dims } else { &flat };
        let values = self.room(room, self.dtype(x)?)?;
        let places = if rows { &dims[..1] } else { &dims[..] };
        Ok((values, self.empty(places, DataType::I64)?, self.room(&room[..1], DataType::I64)?))
    }

    #[track_caller]
    fn each_once(&self, values: Value, places: Value, counts: Value) -> Result<(Found, Value, Found)> {
        let count = self.count_true(self.is_set(counts)?)?; // each of them is one or more, the rest 0
        Ok((Found { values, count }, places, Found { values: counts, count }))
    }
}
