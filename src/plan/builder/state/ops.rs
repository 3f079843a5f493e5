//! Copies and fills in a plan, and what operators of fixed types take.

use std::panic::Location;

use crate::error::Result;
use crate::op::{DataType, Scalar};
use crate::plan::check::finding::FindingKind;
use crate::plan::overlap::ranges::may_overlap;
use crate::plan::recipe::NodeKind;
use crate::plan::recipe::element::{element_in_range, scalar_of};
use crate::plan::recipe::operator::Number;

use super::{At, State};
use crate::plan::builder::Value;

/// Types that the functions of [`racl::op`](crate::op) take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) enum Types {
    Any,
    Numbers,
    Floats,
}

impl State {
    /// That operands are of one type, and of these types. Gives it.
    pub(in crate::plan) fn typed(&self, name: &str, types: Types, operands: &[Value], at: At) -> Result<DataType> {
        for value in operands {
            self.check(*value, name, at)?;
        }
        let dtype = |value: &Value| self.recipe.layout_of(value.index).dtype;
        let first = dtype(&operands[0]);
        if let Some(other) = operands.iter().map(dtype).find(|other| *other != first) {
            let text = format!("{name}: operands of types {first:?} and {other:?}; they must be the same");
            return self.wrong(FindingKind::Operand, at, text);
        }
        let takes = match types {
            Types::Any => true,
            Types::Numbers => first.is_numeric(),
            Types::Floats => first.is_float(),
        };
        if takes {
            return Ok(first);
        }
        self.wrong(
            FindingKind::Operand,
            at,
            format_args!("{name}: operands of type {first:?}, which it does not take"),
        )
    }

    /// A number of the type that an operator computes in. One past its range is an infinity, as its own products are.
    pub(in crate::plan) fn number_of(&self, name: &str, number: Number, dtype: DataType, at: At) -> Result<Scalar> {
        scalar_of(number, dtype)
            .or_else(|text| self.wrong(FindingKind::Operand, at, format_args!("the number of {name}: {text}")))
    }

    /// The same for elements, which have no reason to become infinite.
    pub(in crate::plan) fn number_to_fill(&self, number: Number, dtype: DataType, at: At) -> Result<Scalar> {
        element_in_range(number, dtype)
            .map(|element| Scalar::of(dtype, element))
            .or_else(|text| self.wrong(FindingKind::Operand, at, format_args!("the number of fill: {text}")))
    }

    /// That what is written is no constant, and no part of what is read.
    fn check_target(&self, what: &str, operands: &[Value], out: Value, at: At) -> Result<()> {
        let info = |value: Value| &self.recipe.values[value.index as usize];
        if self.is_constant(out) {
            return self.wrong(FindingKind::Operand, at, format_args!("{what} into a constant"));
        }
        let bounds = self.recipe.bounds();
        match operands.iter().find(|one| may_overlap(&self.recipe, one.index, out.index, &bounds)) {
            None => Ok(()),
            Some(operand) => {
                let same = info(*operand) == info(out);
                let how = if same { "which it cannot compute in place" } else { "which overlaps its result" };
                self.wrong(FindingKind::Operand, at, format_args!("{what}: an operand {how}"))
            }
        }
    }

    #[track_caller]
    pub(in crate::plan) fn copy(&mut self, from: Value, to: Value) -> Result<()> {
        let at = Location::caller();
        self.check(from, "copy", at)?;
        self.check(to, "copy", at)?;
        let (a, b) = (self.recipe.layout_of(from.index), self.recipe.layout_of(to.index));
        if !a.is_dense() || !b.is_dense() || a.bytes() != b.bytes() {
            let (from, to) = (self.show(&a.dims), self.show(&b.dims));
            let why = if a.bytes() == b.bytes() { "values with gaps" } else { "other numbers of bytes" };
            let text = format!("copy of {:?} {from} to {:?} {to}: {why}", a.dtype, b.dtype);
            return self.wrong(FindingKind::Operand, at, text);
        }
        self.check_target("copy", &[from], to, at)?;
        let (a, b) = (self.recipe.layout_of(from.index), self.recipe.layout_of(to.index));
        if a == b || self.is_plain_copy(from, to) {
            return self.copy_at(from, to, at);
        }
        // The copy operator would convert the elements, or refuse the shapes.
        let Some(bytes) = a.bytes().and_then(|bytes| bytes.as_fixed()) else {
            let text = "copy of a view with symbols to another type or shape";
            return self.wrong(FindingKind::Operand, at, text);
        };
        let (source, target) = (self.bytes(from, 0..bytes as usize)?, self.bytes(to, 0..bytes as usize)?);
        self.copy_at(source, target, at)?;
        Ok(())
    }

    /// A byte copy between dense values, the copy operator for others.
    pub(super) fn copy_at(&mut self, from: Value, to: Value, at: At) -> Result<()> {
        if !self.is_plain_copy(from, to) {
            return self.copy_elements(from, to, at);
        }
        self.check_updates("copy", &[from, to], at)?;
        self.emit(NodeKind::Copy, &[Self::read(from), Self::write(to)], at).map(drop)
    }

    /// Whether the runtime's copies take it: dense, and at addresses of whole blocks.
    pub(super) fn is_plain_copy(&self, from: Value, to: Value) -> bool {
        let aligned = |value: Value| {
            let offset = &self.recipe.values[value.index as usize].offset;
            offset.as_fixed().is_some_and(|offset| offset.is_multiple_of(64))
        };
        self.recipe.layout_of(from.index).is_dense() && aligned(from) && aligned(to)
    }

    #[track_caller]
    pub(in crate::plan) fn fill_bytes(&mut self, value: Value, byte: u8) -> Result<()> {
        let at = Location::caller();
        self.check(value, "fill_bytes", at)?;
        if !self.recipe.layout_of(value.index).is_dense() {
            return self.wrong(FindingKind::Operand, at, "fill_bytes of a value with gaps");
        }
        self.check_target("fill_bytes", &[], value, at)?;
        self.check_updates("fill_bytes", &[value], at)?;
        self.emit(NodeKind::FillBytes(byte), &[Self::write(value)], at).map(drop)
    }
}
