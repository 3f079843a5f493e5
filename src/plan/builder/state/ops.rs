//! Operators in a plan.

use std::panic::Location;

use crate::error::Result;
use crate::op::{DataType, MAX_RANK};
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::element::{element_in_range, element_of};
use crate::plan::recipe::operator::{Number, Operator, Order, Reduction};
use crate::plan::recipe::{NodeKind, StorageKind};
use crate::plan::symbols::dim::{Dim, name_symbols};

use super::decompose::Issued;
use super::{At, State};
use crate::plan::builder::Value;

impl State {
    /// An operator whose result is a new value, or what to do in its place.
    pub(in crate::plan) fn op(&mut self, operator: Operator, operands: &[Value], at: At) -> Result<Issued<Value>> {
        let expected = self.infer(&operator, operands, at)?;
        if let Some(rewrite) = self.rewrite_of(&operator, at)? {
            return Ok(Issued::Rewrite(rewrite, expected));
        }
        let (dtype, dims) = expected;
        let (storages, values) = (self.recipe.storages.len(), self.recipe.values.len());
        let out = self.memory(StorageKind::Temporary, &dims, dtype, at)?;
        let issued = self.op_into_at(operator, operands, out, at);
        if issued.is_err() {
            self.recipe.storages.truncate(storages);
            self.recipe.values.truncate(values);
            self.producers.truncate(values);
        }
        issued.map(|()| Issued::Done(out))
    }

    fn infer(&self, operator: &Operator, operands: &[Value], at: At) -> Result<(DataType, Vec<Dim>)> {
        for value in operands {
            self.check(*value, operator.name(), at)?;
        }
        let views: Vec<_> = operands.iter().map(|value| self.operand(*value)).collect();
        match operator.infer(&views) {
            Ok(result) => self.check_number(operator, views[0].dtype, at).map(|()| result),
            Err(text) => {
                let text = name_symbols(&text, &self.recipe.symbol_names());
                self.wrong(FindingKind::Operand, at, format_args!("{}: {text}", operator.name()))
            }
        }
    }

    /// An operator that writes to `out`, or what to do in its place, whose result is to be copied there.
    pub(in crate::plan) fn op_into(
        &mut self,
        operator: Operator,
        operands: &[Value],
        out: Value,
        at: At,
    ) -> Result<Issued<()>> {
        self.check(out, operator.name(), at)?;
        let layout = self.recipe.layout_of(out.index);
        let mut rewrite = None;
        if matches!(operator, Operator::Fill { .. }) {
            if !operands.is_empty() {
                let text = format!("fill: {} operands; it takes none", operands.len());
                return self.wrong(FindingKind::Operand, at, text);
            }
            self.check_number(&operator, layout.dtype, at)?;
        } else {
            let (dtype, dims) = self.infer(&operator, operands, at)?;
            rewrite = self.rewrite_of(&operator, at)?.map(|rewrite| Issued::Rewrite(rewrite, (dtype, dims.clone())));
            let same = layout.dims == dims
                || (operator == Operator::Copy
                    && crate::plan::recipe::operator::broadcast(&dims, &layout.dims).as_ref() == Ok(&layout.dims));
            if !same || (layout.dtype != dtype && operator != Operator::Copy) {
                let name = operator.name();
                let (dims, into) = (self.show(&dims), self.show(&layout.dims));
                let text = format!("{name}: {dtype:?} {dims} into {:?} {into}", layout.dtype);
                return self.wrong(FindingKind::Operand, at, text);
            }
        }
        self.check_target(&operator, operands, out, at)?;
        match rewrite {
            None => self.op_into_at(operator, operands, out, at).map(Issued::Done),
            Some(rewrite) => Ok(rewrite),
        }
    }

    /// That the number of an operator is one of the type that it computes in. An operand may take a factor past its
    /// range to infinity, as its own products do; a fill has no such reason.
    fn check_number(&self, operator: &Operator, dtype: DataType, at: At) -> Result<()> {
        let element = match *operator {
            Operator::Fill { value } => element_in_range(value, dtype),
            Operator::Adds { value } | Operator::Muls { value } | Operator::Divs { value } => {
                element_of(value, dtype)
            }
            Operator::AddScaled { alpha: value } | Operator::ClampMin { least: value } => element_of(value, dtype),
            _ => return Ok(()),
        };
        match element {
            Ok(_) => Ok(()),
            Err(text) => {
                let name = operator.name();
                self.wrong(FindingKind::Operand, at, format_args!("the number of {name}: {text}"))
            }
        }
    }

    /// That the result does not run into an operand.
    fn check_target(&self, operator: &Operator, operands: &[Value], out: Value, at: At) -> Result<()> {
        let info = |value: Value| &self.recipe.values[value.index as usize];
        let target = info(out);
        let storage = &self.recipe.storages[target.storage as usize];
        if let StorageKind::Constant(_) = storage.kind {
            return self.wrong(FindingKind::Operand, at, format_args!("{} into a constant", operator.name()));
        }
        let bounds = self.recipe.bounds();
        for operand in operands {
            let same = info(*operand) == target;
            if same && operator.works_in_place() {
                continue;
            }
            if crate::plan::overlap::ranges::may_overlap(&self.recipe, operand.index, out.index, &bounds) {
                let how = if same { "which it cannot compute in place" } else { "which overlaps its result" };
                let text = format!("{}: an operand {how}", operator.name());
                return self.wrong(FindingKind::Operand, at, text);
            }
        }
        Ok(())
    }

    pub(in crate::plan) fn op_into_at(
        &mut self,
        operator: Operator,
        operands: &[Value],
        out: Value,
        at: At,
    ) -> Result<()> {
        let mut uses = [Self::write(out); 4];
        for (one, operand) in uses.iter_mut().zip(operands) {
            *one = Self::read(*operand);
        }
        uses[operands.len()] = Self::write(out);
        self.emit(NodeKind::Op(operator), &uses[..=operands.len()], at).map(drop)
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
        self.check_target(&Operator::Copy, &[from], to, at)?;
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
        let uses = [Self::read(from), Self::write(to)];
        if !self.is_plain_copy(from, to) {
            return self.emit(NodeKind::Op(Operator::Copy), &uses, at).map(drop);
        }
        self.check_updates("copy", &[from, to], at)?;
        self.emit(NodeKind::Copy, &uses, at).map(drop)
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
        self.check_target(&Operator::Fill { value: Number::Int(0) }, &[], value, at)?;
        self.check_updates("fill_bytes", &[value], at)?;
        self.emit(NodeKind::FillBytes(byte), &[Self::write(value)], at).map(drop)
    }

    #[track_caller]
    pub(in crate::plan) fn full(&mut self, dims: Result<Vec<Dim>>, dtype: DataType, number: Number) -> Result<Value> {
        let at = Location::caller();
        let dims = self.dims_of(dims, at)?;
        let fill = Operator::Fill { value: number };
        self.check_number(&fill, dtype, at)?;
        let out = self.memory(StorageKind::Temporary, &dims, dtype, at)?;
        self.op_into_at(fill, &[], out, at)?;
        Ok(out)
    }

    pub(in crate::plan) fn permute(&self, order: &[usize], at: At) -> Result<Operator> {
        let mut dims = [0; MAX_RANK];
        if order.len() > MAX_RANK || order.iter().any(|dim| *dim >= MAX_RANK) {
            return self.wrong(FindingKind::Operand, at, format_args!("permute: the order {order:?}"));
        }
        dims.iter_mut().zip(order).for_each(|(to, from)| *to = *from as u8);
        Ok(Operator::Permute { order: Order { rank: order.len() as u8, dims } })
    }

    pub(in crate::plan) fn reduction(
        &self,
        what: &str,
        a: Value,
        (dims, keep): (&[i64], bool),
        at: At,
    ) -> Result<Reduction> {
        Ok(Reduction { dims: self.dim_bits(what, a, dims, at)?, keep })
    }

    pub(in crate::plan) fn dim_bits(&self, what: &str, a: Value, dims: &[i64], at: At) -> Result<u8> {
        self.check(a, what, at)?;
        let rank = self.recipe.layout_of(a.index).dims.len() as i64;
        let mut bits = 0_u8;
        for dim in dims {
            let index = if *dim < 0 { dim + rank } else { *dim };
            if !(0..rank).contains(&index) || bits & (1 << index) != 0 {
                let text = format!("{what}: dimension {dim} of {rank}, which is not there or named twice");
                return self.wrong(FindingKind::Operand, at, text);
            }
            bits |= 1 << index;
        }
        Ok(bits)
    }
}
