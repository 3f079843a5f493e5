//! Views of values: the same memory in another shape.

use std::ops::Range;
use std::panic::Location;

use crate::error::Result;
use crate::op::DataType;
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::ValueInfo;
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::symbols::dim::{Dim, IntoDims};
use crate::plan::symbols::poly::Poly;

use super::{At, Builder, Value, push_slowly};

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
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "view")]
    #[track_caller]
    pub fn reshape(&mut self, value: Value, dims: impl IntoDims) -> Result<Value> {
        let at = Location::caller();
        let dims = self.dims_of(dims, at)?;
        self.check(value, "reshape", at)?;
        let from = self.recipe.layout_of(value.index);
        let to = Layout::dense(from.dtype, &dims);
        match to {
            Some(to) if from.is_dense() && to.elements() == from.elements() => {
                self.view(value, to, Extent::Fixed(0), at)
            }
            _ => {
                let gaps = if from.is_dense() { "" } else { ", which has gaps" };
                let text = format!("reshape to {} of {}{gaps}", self.show(&dims), self.show(&from.dims));
                self.wrong(FindingKind::Operand, at, text)
            }
        }
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
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn transpose(&mut self, value: Value, a: usize, b: usize) -> Result<Value> {
        let at = Location::caller();
        self.check(value, "transpose", at)?;
        let mut layout = self.recipe.layout_of(value.index).clone();
        if a.max(b) >= layout.dims.len() {
            let text = format!("transpose of dimensions {a} and {b} of {}", self.show(&layout.dims));
            return self.wrong(FindingKind::Operand, at, text);
        }
        layout.dims.swap(a, b);
        layout.strides.swap(a, b);
        self.view(value, layout, Extent::Fixed(0), at)
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
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [2.0, 3.0, 5.0, 6.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "slice")]
    #[track_caller]
    pub fn narrow<D: Into<Dim>>(&mut self, value: Value, dim: usize, range: Range<D>) -> Result<Value> {
        let at = Location::caller();
        let (start, end) = (range.start.into(), range.end.into());
        self.check(value, "narrow", at)?;
        self.check_dim(start, at)?;
        self.check_dim(end, at)?;
        let mut layout = self.recipe.layout_of(value.index).clone();
        let wrong = |builder: &Self, layout: &Layout| {
            let names = builder.recipe.symbol_names();
            let (start, end, all) = (start.show(&names), end.show(&names), builder.show(&layout.dims));
            let text = format!("narrow to {start}..{end} of dimension {dim} of {all}");
            builder.wrong(FindingKind::Operand, at, text)
        };
        let Some(&whole) = layout.dims.get(dim) else { return wrong(self, &layout) };
        let bounds = self.recipe.bounds();
        let never_negative = |poly: &Poly| poly.least(&bounds).is_some_and(|least| least >= 0);
        let length = end.poly().minus(&start.poly());
        let inside = start.is_usable()
            && end.is_usable()
            && never_negative(&start.poly())
            && never_negative(&length)
            && never_negative(&whole.poly().minus(&end.poly()));
        let (true, Some(length)) = (inside, dim_of(&length)) else { return wrong(self, &layout) };
        let step = layout.strides[dim].poly().times(&Poly::constant(layout.dtype.size() as i128));
        let Some(offset) = Extent::of(start.poly().times(&step)) else { return wrong(self, &layout) };
        layout.dims[dim] = length;
        self.view(value, layout, offset, at)
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
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0], [2])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 0.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn bytes(&mut self, value: Value, range: Range<usize>) -> Result<Value> {
        let at = Location::caller();
        self.check(value, "bytes", at)?;
        let layout = self.recipe.layout_of(value.index);
        let size = layout.bytes().and_then(|bytes| bytes.as_fixed());
        let inside = range.start <= range.end && size.is_some_and(|size| range.end as u64 <= size);
        if !inside || !layout.is_dense() {
            let has = match size {
                _ if !layout.is_dense() => "gaps between its elements".to_owned(),
                None => "no fixed number of bytes".to_owned(),
                Some(size) => format!("{size} bytes"),
            };
            let text = format!("bytes {range:?} of a value of shape {}, which has {has}", self.show(&layout.dims));
            return self.wrong(FindingKind::Operand, at, text);
        }
        let bytes =
            Layout { dtype: DataType::U8, dims: vec![Dim::from(range.len())], strides: vec![Extent::Fixed(1)] };
        self.view(value, bytes, Extent::Fixed(range.start as u64), at)
    }

    fn view(&mut self, value: Value, layout: Layout, more: Extent, at: At) -> Result<Value> {
        let info = &self.recipe.values[value.index as usize];
        let Some(offset) = info.offset.plus(&more) else {
            return self.wrong(FindingKind::Operand, at, "a view whose place has no number");
        };
        let storage = info.storage;
        let layout = self.recipe.layout(&mut self.known, layout);
        let index = self.recipe.values.len() as u32;
        push_slowly(&mut self.recipe.values, ValueInfo { storage, layout, offset });
        self.producers.push_view(value.index);
        Ok(Value { plan: self.plan, index, version: self.versions.of_view(value) })
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
    ///     assert_eq!((g.dims(turned)?, g.dtype(turned)?), (&[Dim::from(4), n][..], F32));
    ///     Ok(())
    /// })?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn dims(&self, value: Value) -> Result<&[Dim]> {
        self.check(value, "dims", Location::caller())?;
        Ok(&self.recipe.layout_of(value.index).dims)
    }

    /// Type of the elements of a value.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a value of another plan.
    #[track_caller]
    pub fn dtype(&self, value: Value) -> Result<DataType> {
        self.check(value, "dtype", Location::caller())?;
        Ok(self.recipe.layout_of(value.index).dtype)
    }
}

/// A polynomial of the form that dimensions have.
fn dim_of(poly: &Poly) -> Option<Dim> {
    let (mut plus, mut symbolic) = (0_i128, None);
    for (powers, coefficient) in poly.terms() {
        if powers.iter().all(|power| *power == 0) {
            plus = *coefficient;
        } else if symbolic.replace((*powers, *coefficient)).is_some() {
            return None;
        }
    }
    let (powers, factor) = symbolic.unwrap_or_default();
    let dim = Dim::from_parts(u64::try_from(factor).ok()?, i64::try_from(plus).ok()?, powers);
    dim.is_usable().then_some(dim)
}
