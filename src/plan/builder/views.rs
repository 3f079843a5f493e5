//! Views of values: the same memory in another shape.

use std::ops::Range;

use crate::error::Result;
use crate::op::DataType;
use crate::plan::symbols::dim::{Dim, IntoDims};

use super::{Builder, Value};

impl Builder {
    /// The same elements, in the same order, in another shape.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for another number of elements, a value with gaps,
    /// and one of another plan.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2, 3], F32, Input::Copied)?;
    ///     let flat = g.reshape(x, [6])?; // no work: a view
    ///     let y = g.adds(flat, 1.0)?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "view")]
    #[track_caller]
    pub fn reshape(&self, value: Value, dims: impl IntoDims) -> Result<Value> {
        let dims = dims.into_dims();
        self.state().reshape(value, dims)
    }

    /// The same elements with dimensions `a` and `b` exchanged, counted from 0.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a dimension that the value does not have, and a
    /// value of another plan.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2, 3], F32, Input::Copied)?;
    ///     let turned = g.transpose(x, 0, 1)?; // [3, 2]
    ///     g.output("y", turned)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn transpose(&self, value: Value, a: usize, b: usize) -> Result<Value> {
        self.state().transpose(value, a, b)
    }

    /// The elements `range` of dimension `dim`; the other dimensions stay whole. Both ends may have symbols.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a dimension that the value does not have, a
    /// range that is not inside it for all values of the symbols, and a value of another plan.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2, 3], F32, Input::Copied)?;
    ///     let right = g.narrow(x, 1, 1..3)?; // two of the three columns
    ///     g.output("y", right)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [2.0, 3.0, 5.0, 6.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "slice")]
    #[track_caller]
    pub fn narrow<D: Into<Dim>>(&self, value: Value, dim: usize, range: Range<D>) -> Result<Value> {
        let range = range.start.into()..range.end.into();
        self.state().narrow(value, dim, range)
    }

    /// The bytes `range` of the memory of `value`, as a value of bytes: what a foreign operator touches.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a value with gaps, with symbols or of another
    /// plan, and for a range outside it.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let y = g.adds(x, 0.0)?;
    ///     let second = g.bytes(y, 4..8)?;
    ///     g.fill_bytes(second, 0)?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0], [2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 0.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn bytes(&self, value: Value, range: Range<usize>) -> Result<Value> {
        self.state().bytes(value, range)
    }

    /// Dimensions of a value.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a value of another plan.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Dim, Input, Plan};
    ///
    /// Plan::build(|g| {
    ///     let n = g.symbol("n", 1..=8)?;
    ///     let x = g.input("x", [n, Dim::from(4)], F32, Input::Copied)?;
    ///     let turned = g.transpose(x, 0, 1)?;
    ///     assert_eq!((g.dims(turned)?, g.dtype(turned)?), (vec![Dim::from(4), n], F32));
    ///     Ok(())
    /// })?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn dims(&self, value: Value) -> Result<Vec<Dim>> {
        self.state().dims(value)
    }

    /// Type of the elements of a value.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a value of another plan.
    #[track_caller]
    pub fn dtype(&self, value: Value) -> Result<DataType> {
        self.state().dtype(value)
    }
}
