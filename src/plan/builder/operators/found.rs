//! Results whose size the device decides.

use std::fmt;
use std::panic::Location;

use crate::error::Result;
use crate::op::{DataType, aclnn};
use crate::plan::builder::{Builder, Inferred, Value};
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::count_of;
use crate::plan::symbols::dim::Dim;

/// What an operator found, of which the device decides how much it is: room for the most there can be, and the number
/// of rows of it that came.
///
/// Of the room, the first rows are what was found. It is filled with 0 before, so that behind them it is 0, as far as
/// the operator of the library writes no more than what it found. The mock's do not, and can be captured; no card was
/// asked. Who needs no more than what came makes it an output with [`Builder::output_found`] and reads it with
/// [`Executable::found`](crate::plan::Executable::found).
///
/// An operator of the same plan that takes [`Found::values`] works on all of the room. What it makes of rows that did not
/// come is kept out with [`Builder::found_mask`]; and [`Found::count`] can be the condition of a choice or of a loop
/// ([`Builder::if_then`], [`Builder::repeat_while`]), which does nothing where nothing came.
///
/// # Examples
///
/// ```
/// use racl::op::DataType::F32;
/// use racl::plan::{Input, Plan, Simulated};
///
/// let plan = Plan::build(|g| {
///     let x = g.input("x", [4], F32, Input::Copied)?;
///     let places = g.nonzero(x)?;
///     assert_eq!(g.dims(places.values())?, [4.into(), 1.into()]); // rows of indices
///     g.output_found("places", places)
/// })?;
/// let given = Simulated::new().tensor("x", &[0.0_f32, 3.0, 0.0, 5.0], [4]);
/// let result = plan.simulate(0, &given)?;
/// assert_eq!(result.found::<i64>("places")?, [1, 3]);
/// assert_eq!(result.to_vec::<i64>("places")?, [1, 3, 0, 0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    pub(super) values: Value,
    pub(super) count: Value,
}

impl Found {
    /// The room: its first dimension is the most there can be.
    #[must_use]
    pub fn values(&self) -> Value {
        self.values
    }

    /// How many rows came: `i64`, of shape `[1]`.
    #[must_use]
    pub fn count(&self) -> Value {
        self.count
    }
}

impl Builder {
    /// The indices of elements that are not 0, in order: rows of `i64` with one index for each dimension.
    ///
    /// C calls: `aclnnNonzero`, and `aclnnNeScalar` (`aclnnInplaceCopy` for truth values with gaps) and `aclnnReduceSum` for the number.
    ///
    /// # Errors
    ///
    /// As [`Builder::add`]; [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a value without dimensions,
    /// and one whose size with symbols plans cannot express.
    ///
    /// # Examples
    ///
    /// See [`Found`].
    #[doc(alias = "aclnnNonzero")]
    #[track_caller]
    pub fn nonzero(&self, x: Value) -> Result<Found> {
        let dims = self.dims(x)?;
        if dims.is_empty() {
            return self.not_found("nonzero: a value of no dimensions has no indices", Location::caller());
        }
        let values = self.room(&[elements(&dims), dims.len().into()], DataType::I64)?;
        let found = Found { values, count: self.count_true(self.is_set(x)?)? };
        aclnn::nonzero(self, &x, &mut { values })?;
        Ok(found)
    }

    /// The indices of elements that are not 0, in order, one list for each dimension: those of the first dimension, then
    /// as many of the second, and so on, one behind the other in a line of `i64`. The count is that of all lists.
    ///
    /// C calls: `aclnnNonzeroV2`, and `aclnnNeScalar`, `aclnnReduceSum` and `aclnnMuls` for the number.
    ///
    /// # Errors
    ///
    /// As [`Builder::nonzero`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2, 3], F32, Input::Copied)?;
    ///     g.output_found("places", g.nonzero_v2(x)?)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[0.0_f32, 3.0, 0.0, 5.0, 6.0, 0.0], [2, 3]);
    /// # #[cfg(feature = "mock")]
    /// assert_eq!(plan.simulate(0, &given)?.found::<i64>("places")?, [0, 1, 1, /* columns */ 1, 0, 1]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnNonzeroV2")]
    #[track_caller]
    pub fn nonzero_v2(&self, x: Value) -> Result<Found> {
        let dims = self.dims(x)?;
        if dims.is_empty() {
            return self.not_found("nonzero_v2: a value of no dimensions has no indices", Location::caller());
        }
        let (rank, most) = (dims.len(), elements(&dims));
        let lists = self.room(&[rank.into(), most], DataType::I64)?;
        let count = self.muls(self.count_true(self.is_set(x)?)?, rank as i64)?;
        aclnn::nonzero_v2(self, &x, &mut { lists })?;
        // What came is dense: a line of the room, whose rows are as long as what came.
        Ok(Found { values: self.reshape(lists, [most * rank])?, count })
    }

    /// The elements of `x` where `mask`, of truth values or `u8`, is not 0, in order. They broadcast to each other.
    ///
    /// C calls: `aclnnMaskedSelect`, and `aclnnNeScalar` and `aclnnReduceSum` for the number.
    ///
    /// # Errors
    ///
    /// As [`Builder::nonzero`], but for that of no dimensions; for a mask of another type, and shapes that do not
    /// broadcast.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     let large = g.masked_select(x, g.greater_than(x, 2.0_f32)?)?;
    ///     g.output_found("large", large)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let (x, large, mut bind) = (exe.input("x")?, exe.found_id("large")?, exe.bindings());
    /// for (given, expected) in [([1.0_f32, 5.0, 2.0, 4.0], &[5.0_f32, 4.0][..]), ([0.0; 4], &[])] {
    ///     let given = device.upload_tensor(&given, [4])?;
    ///     exe.run(&stream, bind.set(x, &given))?;
    ///     assert_eq!(exe.found::<f32>(large)?.to_vec()?, expected);
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnMaskedSelect")]
    #[track_caller]
    pub fn masked_select(&self, x: Value, mask: Value) -> Result<Found> {
        let kind = self.dtype(mask)?;
        if !matches!(kind, DataType::Bool | DataType::U8) {
            return self.not_found(format!("masked_select: a mask of {kind:?}, not Bool or U8"), Location::caller());
        }
        let (mut set, dims) = (self.is_set(mask)?, self.dims(x)?);
        if self.dims(set)? != dims {
            let all = self.empty(&dims[..], DataType::Bool)?;
            self.fill_bytes(all, 1)?;
            set = self.logical_and(set, all)?; // in the shape of both
        }
        let whole = self.dims(set)?;
        let values = self.room(&[elements(&whole)], self.dtype(x)?)?;
        let found = Found { values, count: self.count_true(set)? };
        aclnn::masked_select(self, &x, &mask, &mut { values })?;
        Ok(found)
    }

    /// Truth values of the rows that came: true for the first [`Found::count`] of them. The shape is that of
    /// [`Found::values`] with one element a row, so that it broadcasts to them.
    ///
    /// It lets any operator ignore what did not come: [`Builder::select`] takes what it made for rows that are true and
    /// another value for the rest, [`Builder::mul`] with a cast of it makes the rest 0.
    ///
    /// C calls: `aclnnInplaceFillScalar`, `aclnnCumsum` and `aclnnLeTensor`, which every release has.
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::{F32, I64};
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// // With what was found, and how much: their product, and nothing where nothing came.
    /// let scaled = Plan::build(|g| {
    ///     let total = g.input("total", [1], F32, Input::Copied)?;
    ///     let count = g.input("count", [1], I64, Input::Copied)?;
    ///     g.output("total", g.mul(total, g.cast(count, F32)?)?)
    /// })?;
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     let large = g.masked_select(x, g.greater_than(x, 2.0_f32)?)?;
    ///     // One less for each: the rest of the room would be -1.
    ///     let less = g.adds(large.values(), -1.0)?;
    ///     let less = g.select(g.found_mask(large)?, less, g.full([4], F32, 0.0)?)?;
    ///     let total = g.reduce_sum(less, &[0], true)?;
    ///     let [total] = g.if_then(large.count(), &scaled, &[total, large.count()])?;
    ///     g.output("total", total)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let (x, total, mut bind) = (exe.input("x")?, exe.output_id("total")?, exe.bindings());
    /// for (given, expected) in [([1.0_f32, 5.0, 2.0, 4.0], 14.0), ([0.0; 4], 0.0)] {
    ///     let given = device.upload_tensor(&given, [4])?;
    ///     exe.run(&stream, bind.set(x, &given))?;
    ///     assert_eq!(exe.output::<f32>(total)?.to_vec()?, [expected]);
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnCumsum")]
    #[track_caller]
    pub fn found_mask(&self, found: Found) -> Result<Value> {
        let mut dims = self.dims(found.values)?;
        let ones = self.full([dims[0]], DataType::I64, 1)?;
        let came = self.less_equal(self.cumsum(ones, 0)?, found.count)?;
        dims[1..].fill(Dim::from(1));
        if dims.len() > 1 { self.reshape(came, &dims[..]) } else { Ok(came) }
    }

    /// Makes what was found an output, and the number of its rows one of the host, which has its name and `.count`.
    ///
    /// # Errors
    ///
    /// As [`Builder::output`], for both names.
    ///
    /// # Examples
    ///
    /// See [`Found`] and [`Builder::masked_select`].
    #[track_caller]
    pub fn output_found(&self, name: &str, found: Found) -> Result<()> {
        self.output(name, found.values)?;
        let number = count_of(name);
        self.output_to_host(&number, found.count)?;
        self.state().tell_count(&number);
        Ok(())
    }

    pub(super) fn not_found<T>(&self, text: impl fmt::Display, at: &'static Location<'static>) -> Result<T> {
        self.state().wrong(FindingKind::Operand, at, text)
    }

    /// Memory that is 0 where nothing is written.
    #[track_caller]
    pub(super) fn room(&self, dims: &[Dim], dtype: DataType) -> Result<Value> {
        let values = self.empty(dims, dtype)?;
        self.fill_bytes(values, 0)?;
        Ok(values)
    }

    /// Truth values of what is not 0, without gaps.
    #[track_caller]
    pub(super) fn is_set(&self, x: Value) -> Result<Value> {
        if self.dtype(x)? != DataType::Bool {
            return self.not_equal_to(x, 0_i32);
        }
        if self.state().is_dense(x) {
            return Ok(x);
        }
        let dense = self.empty(&self.dims(x)?[..], DataType::Bool)?;
        aclnn::inplace_copy(self, &mut { dense }, &x)?;
        Ok(dense)
    }

    #[track_caller]
    pub(super) fn count_true(&self, set: Value) -> Result<Value> {
        let (set, mut sum) = (self.reshape(set, [elements(&self.dims(set)?)])?, Inferred::new());
        aclnn::reduce_sum(self, &set, &[0], true, DataType::I64, &mut sum)?;
        sum.value()
    }
}

pub(in crate::plan::builder) fn elements(dims: &[Dim]) -> Dim {
    if dims.contains(&Dim::from(0)) {
        return Dim::from(0); // whatever the others are
    }
    dims.iter().fold(Dim::from(1), |product, dim| product * *dim)
}
