//! Symbols, inputs, constants, memory and outputs.

use std::ops::RangeInclusive;
use std::panic::Location;

use crate::error::Result;
use crate::op::DataType;
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::is_updatable;
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::recipe::operator::Operand;
use crate::plan::recipe::sound::{MOST_TOGETHER, Sizes};
use crate::plan::recipe::{Input, InputInfo, NodeKind, OutputInfo, Storage, StorageKind, ValueInfo};
use crate::plan::symbols::Symbol;
use crate::plan::symbols::dim::{Dim, MAX_SYMBOLS};

use super::{At, NONE, State, push_slowly};
use crate::plan::builder::Value;

impl State {
    #[track_caller]
    pub(in crate::plan) fn symbol(
        &mut self,
        name: &str,
        bounds: RangeInclusive<usize>,
        each_run: bool,
    ) -> Result<Dim> {
        let at = Location::caller();
        let symbols = &self.recipe.symbols;
        if name.is_empty() || symbols.iter().any(|known| known.name == name) {
            let kind = if name.is_empty() { FindingKind::Name } else { FindingKind::Duplicate };
            return self.wrong(kind, at, format_args!("symbol {name:?}: the name is empty or taken"));
        }
        if symbols.len() == MAX_SYMBOLS {
            return self.wrong(FindingKind::Name, at, format_args!("symbol {name:?} is one more than {MAX_SYMBOLS}"));
        }
        let (least, greatest) = (*bounds.start() as u64, *bounds.end() as u64);
        if least > greatest || greatest == 0 || greatest > 1 << 31 {
            return self.wrong(FindingKind::Name, at, format_args!("symbol {name:?} with the bounds {bounds:?}"));
        }
        let dim = Dim::symbol(symbols.len()).of_plan(self.plan);
        self.recipe.symbols.push(Symbol { name: name.to_owned(), least, greatest, each_run });
        Ok(dim)
    }

    #[track_caller]
    pub(in crate::plan) fn input(
        &mut self,
        name: &str,
        dims: Result<Vec<Dim>>,
        dtype: DataType,
        class: Input,
    ) -> Result<Value> {
        let at = Location::caller();
        let dims = self.dims_of(dims, at)?;
        if name.is_empty() || self.input_names.contains(name) {
            let kind = if name.is_empty() { FindingKind::Name } else { FindingKind::Duplicate };
            return self.wrong(kind, at, format_args!("input {name:?}: the name is empty or taken"));
        }
        if matches!(class, Input::Frozen | Input::Static) && dims.iter().any(|dim| dim.as_fixed().is_none()) {
            let class = if class == Input::Frozen { "frozen" } else { "static" };
            let text = format!("input {name:?} is {class}, so its shape cannot have symbols");
            return self.wrong(FindingKind::Operand, at, text);
        }
        let index = self.recipe.inputs.len() as u32;
        let value = self.memory(StorageKind::Input(index), &dims, dtype, at)?;
        self.input_names.insert(name.to_owned());
        self.recipe.inputs.push(InputInfo { name: name.to_owned(), value: value.index, class });
        if class == Input::Host {
            // The upload is the first work that the plan knows of for this memory.
            self.emit(NodeKind::Upload(index), &[Self::write(value)], at)?;
        }
        Ok(value)
    }

    #[track_caller]
    pub(in crate::plan) fn constant(
        &mut self,
        data: &[u8],
        dims: Result<Vec<Dim>>,
        dtype: DataType,
    ) -> Result<Value> {
        let at = Location::caller();
        let dims = self.dims_of(dims, at)?;
        let elements = dims.iter().try_fold(1_usize, |product, dim| product.checked_mul(dim.as_fixed()?));
        if elements.and_then(|elements| elements.checked_mul(dtype.size())) != Some(data.len()) {
            let (given, shape) = (data.len() / dtype.size(), self.show(&dims));
            let text = match data.len() % dtype.size() {
                0 => format!("{given} elements for {shape}"),
                _ => format!("{} bytes for {dtype:?} {shape}", data.len()),
            };
            return self.wrong(FindingKind::Operand, at, text);
        }
        let index = self.recipe.constants.len() as u32;
        let value = self.memory(StorageKind::Constant(index), &dims, dtype, at)?;
        self.recipe.constants.push(data.to_vec());
        Ok(value)
    }

    #[track_caller]
    pub(in crate::plan) fn empty(&mut self, dims: Result<Vec<Dim>>, dtype: DataType) -> Result<Value> {
        let at = Location::caller();
        let dims = self.dims_of(dims, at)?;
        self.memory(StorageKind::Temporary, &dims, dtype, at)
    }

    pub(super) fn memory(&mut self, kind: StorageKind, dims: &[Dim], dtype: DataType, at: At) -> Result<Value> {
        let known = self.dense[dtype as usize].get(dims).cloned();
        let (layout, bytes, most) = known.map_or_else(|| self.dense_layout(dims, dtype, at), Ok)?;
        let mut together = self.together.saturating_add(most);
        if together >= MOST_TOGETHER {
            // Some of it may have been taken back.
            let sizes = Sizes::of(&self.recipe);
            let others = self.recipe.storages.iter().filter_map(|storage| sizes.most(&storage.bytes));
            together = others.fold(most, u64::saturating_add);
        }
        if together >= MOST_TOGETHER {
            return self.too_large(dims, at);
        }
        if self.recipe.storages.len() >= NONE as usize {
            return self.wrong(FindingKind::Operand, at, "more values than can be numbered");
        }
        self.together = together;
        let storage = self.recipe.storages.len() as u32;
        push_slowly(&mut self.recipe.storages, Storage { kind, bytes });
        push_slowly(&mut self.recipe.values, ValueInfo { storage, layout, offset: Extent::Fixed(0) });
        self.producers.push_new();
        Ok(Value { plan: self.plan, index: self.recipe.values.len() as u32 - 1, version: 0 })
    }

    /// That the places of elements have numbers, also where there are no elements.
    pub(super) fn check_countable(&self, dims: &[Dim], at: At) -> Result<()> {
        let sizes = dims.iter().filter_map(|dim| dim.as_fixed());
        match sizes.map(|size| size.max(1)).try_fold(1_u64, |places: u64, size| places.checked_mul(size as u64)) {
            Some(places) if places < 1 << 60 => Ok(()),
            _ => self.too_large(dims, at),
        }
    }

    /// The layout of a value without gaps, its bytes and the most of them, which are found again from then on.
    fn dense_layout(&mut self, dims: &[Dim], dtype: DataType, at: At) -> Result<(u32, Extent, u64)> {
        self.check_countable(dims, at)?;
        let layout = Layout::dense(dtype, dims);
        let bytes = layout.as_ref().and_then(Layout::bytes);
        let sizes = Sizes::of(&self.recipe);
        if dims.iter().any(|dim| sizes.is_negative(*dim)) {
            let text = format!("a value of shape {}, which is negative whatever the symbols are", self.show(dims));
            return self.wrong(FindingKind::Operand, at, text);
        }
        let bytes = bytes.and_then(|bytes| sizes.most(&bytes).map(|most| (bytes, most)));
        let (Some(layout), Some((bytes, most))) = (layout.filter(|one| sizes.is_sound_layout(one)), bytes) else {
            return self.too_large(dims, at);
        };
        let layout = self.recipe.layout(&mut self.known, layout);
        self.dense[dtype as usize].insert(dims.into(), (layout, bytes.clone(), most));
        Ok((layout, bytes, most))
    }

    pub(super) fn too_large<T>(&self, dims: &[Dim], at: At) -> Result<T> {
        let text = format!("a value of shape {} is too large", self.show(dims));
        self.wrong(FindingKind::Operand, at, text)
    }

    pub(super) fn operand(&self, value: Value) -> Operand<'_> {
        let layout = self.recipe.layout_of(value.index);
        Operand { dtype: layout.dtype, dims: &layout.dims }
    }

    #[track_caller]
    pub(in crate::plan) fn output(&mut self, name: &str, value: Value) -> Result<()> {
        self.add_output(name, value, false, Location::caller())
    }

    #[track_caller]
    pub(in crate::plan) fn output_to_host(&mut self, name: &str, value: Value) -> Result<()> {
        self.add_output(name, value, true, Location::caller())
    }

    /// That none of these is memory that moves inside captured graphs, for work that cannot be updated there.
    pub(super) fn check_updates(&self, what: impl std::fmt::Display, values: &[Value], at: At) -> Result<()> {
        let Some(value) = values.iter().find(|value| is_updatable(&self.recipe, value.index)) else { return Ok(()) };
        let StorageKind::Input(input) = self.recipe.storages[self.recipe.storage_of(value.index) as usize].kind
        else {
            return Ok(());
        };
        let name = &self.recipe.inputs[input as usize].name;
        let text = format!(
            "{what}: input {name:?} is updatable, and only operators can be updated inside a captured graph; \
             aclnn::inplace_copy and Builder::fill are such"
        );
        self.wrong(FindingKind::Operand, at, text)
    }

    /// Says that the latest output, which has this name, is the number of rows of another.
    pub(in crate::plan) fn tell_count(&mut self, name: &str) {
        if let Some(last) = self.recipe.outputs.last_mut().filter(|last| last.name == name) {
            last.counts = true;
        }
    }

    fn add_output(&mut self, name: &str, value: Value, host: bool, at: At) -> Result<()> {
        self.check(value, "output", at)?;
        if name.is_empty() || self.output_names.contains(name) {
            let kind = if name.is_empty() { FindingKind::Name } else { FindingKind::Duplicate };
            return self.wrong(kind, at, format_args!("output {name:?}: the name is empty or taken"));
        }
        let index = self.recipe.outputs.len() as u32;
        let info = &self.recipe.values[value.index as usize];
        let storage = &self.recipe.storages[info.storage as usize];
        let whole = self.recipe.layout_of(value.index).bytes() == Some(storage.bytes.clone())
            && info.offset == Extent::Fixed(0)
            && self.recipe.layout_of(value.index).is_dense();
        let value = if storage.kind == StorageKind::Temporary && whole {
            let storage = info.storage as usize;
            self.recipe.storages[storage].kind = StorageKind::Output(index);
            value
        } else {
            if self.is_plain_copy(value, value) {
                self.check_updates(format_args!("output {name:?}, which is a copy"), &[value], at)?;
            }
            let layout = self.recipe.layout_of(value.index).clone();
            let copy = self.memory(StorageKind::Output(index), &layout.dims, layout.dtype, at)?;
            self.copy_at(value, copy, at)?;
            copy
        };
        self.output_names.insert(name.to_owned());
        self.recipe.outputs.push(OutputInfo { name: name.to_owned(), value: value.index, host, counts: false });
        if host {
            self.emit(NodeKind::Download(index), &[Self::read(value)], at)?;
        }
        Ok(())
    }
}
