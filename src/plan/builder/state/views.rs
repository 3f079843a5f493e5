//! Views of values: the same memory in another shape.

use std::ops::Range;
use std::panic::Location;

use crate::error::Result;
use crate::op::DataType;
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::ValueInfo;
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::recipe::sound::Sizes;
use crate::plan::symbols::dim::Dim;
use crate::plan::symbols::poly::Poly;

use super::{At, State, push_slowly};
use crate::plan::builder::Value;

impl State {
    #[track_caller]
    pub(in crate::plan) fn reshape(&mut self, value: Value, dims: Result<Vec<Dim>>) -> Result<Value> {
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

    #[track_caller]
    pub(in crate::plan) fn transpose(&mut self, value: Value, a: usize, b: usize) -> Result<Value> {
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

    #[track_caller]
    pub(in crate::plan) fn narrow(&mut self, value: Value, dim: usize, range: Range<Dim>) -> Result<Value> {
        let at = Location::caller();
        let (start, end) = (range.start, range.end);
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

    #[track_caller]
    pub(in crate::plan) fn bytes(&mut self, value: Value, range: Range<usize>) -> Result<Value> {
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
        self.check_countable(&layout.dims, at)?;
        // Nothing has its place where what it is a view of may have none either.
        let is_empty = layout.dims.iter().any(|dim| dim.as_fixed() == Some(0));
        let more = if is_empty { Extent::Fixed(0) } else { more };
        let info = &self.recipe.values[value.index as usize];
        let Some(offset) = info.offset.plus(&more) else {
            return self.wrong(FindingKind::Operand, at, "a view whose place has no number");
        };
        let storage = info.storage;
        let varies = offset.as_fixed().is_none() || layout.dims.iter().any(|dim| dim.as_fixed().is_none());
        if varies || layout.strides.iter().any(|stride| stride.as_fixed().is_none()) {
            let sizes = Sizes::of(&self.recipe);
            if !sizes.is_sound(&offset) || !sizes.is_sound_layout(&layout) {
                return self.too_large(&layout.dims, at);
            }
        }
        let layout = self.recipe.layout(&mut self.known, layout);
        let index = self.recipe.values.len() as u32;
        push_slowly(&mut self.recipe.values, ValueInfo { storage, layout, offset });
        self.producers.push_view(value.index);
        Ok(Value { plan: self.plan, index, version: self.versions.of_view(value) })
    }

    #[track_caller]
    pub(in crate::plan) fn dims(&self, value: Value) -> Result<Vec<Dim>> {
        self.check(value, "dims", Location::caller())?;
        Ok(self.recipe.layout_of(value.index).dims.clone())
    }

    /// Whether a value of this plan has no gaps.
    pub(in crate::plan) fn is_dense(&self, value: Value) -> bool {
        self.recipe.layout_of(value.index).is_dense()
    }

    #[track_caller]
    pub(in crate::plan) fn dtype(&self, value: Value) -> Result<DataType> {
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
