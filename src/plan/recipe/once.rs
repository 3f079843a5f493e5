//! Work that is done once, when an executable is made: which it is, and what it may do.

use super::layout::Extent;
use super::{Input, Node, NodeKind, Recipe, StorageKind};
use crate::plan::symbols::dim::Dim;

impl Recipe {
    /// Whether a node is done once, and not by runs: it writes memory of that kind.
    pub(crate) fn is_once(&self, node: &Node) -> bool {
        matches!(node.kind, NodeKind::Foreign(_) | NodeKind::Copy)
            && self.accesses_of(node).iter().any(|one| one.mode.writes() && self.is_kept(one.value))
    }

    /// The recipe with nothing in place of what depends on symbols, for work that none of that is part of.
    pub(crate) fn fixed_part(&self) -> Self {
        let mut fixed = self.clone();
        for layout in &mut fixed.layouts {
            let strides = layout.strides.iter().all(|stride| stride.as_fixed().is_some());
            if !strides || layout.dims.iter().any(|dim| dim.as_fixed().is_none()) {
                layout.dims.fill(Dim::fixed(0));
                layout.strides.fill(Extent::Fixed(0));
            }
        }
        let offsets = fixed.values.iter_mut().map(|value| &mut value.offset);
        let extents = offsets.chain(fixed.storages.iter_mut().map(|storage| &mut storage.bytes));
        extents.filter(|extent| extent.as_fixed().is_none()).for_each(|extent| *extent = Extent::Fixed(0));
        fixed.symbols.clear();
        fixed
    }

    /// How many nodes are done once.
    pub(crate) fn once(&self) -> usize {
        if self.storages.iter().all(|storage| storage.kind != StorageKind::Once) {
            return 0;
        }
        self.nodes.iter().filter(|node| self.is_once(node)).count()
    }

    fn is_kept(&self, value: u32) -> bool {
        self.storages[self.storage_of(value) as usize].kind == StorageKind::Once
    }

    /// Whether a value has its bytes when an executable is made, unless the plan writes it.
    pub(crate) fn is_early(&self, value: u32) -> bool {
        match self.storages[self.storage_of(value) as usize].kind {
            StorageKind::Constant(_) | StorageKind::Once => true,
            StorageKind::Input(input) => self.inputs[input as usize].class == Input::Frozen,
            StorageKind::Temporary | StorageKind::Output(_) => false,
        }
    }

    /// Storages that are written once and that runs read; the others are steps on the way.
    pub(crate) fn read_by_runs(&self) -> Vec<bool> {
        let mut read = vec![false; self.storages.len()];
        for node in self.nodes.iter().filter(|node| !self.is_once(node)) {
            for access in self.accesses_of(node) {
                let storage = self.storage_of(access.value) as usize;
                read[storage] = self.storages[storage].kind == StorageKind::Once;
            }
        }
        read
    }

    /// Storages that the plan writes.
    pub(crate) fn written(&self) -> Vec<bool> {
        let mut written = vec![false; self.storages.len()];
        for access in self.accesses.iter().filter(|access| access.mode.writes()) {
            written[self.storage_of(access.value) as usize] = true;
        }
        written
    }

    /// Whether a value, and its memory, has a size and a place without symbols.
    pub(crate) fn is_fixed(&self, value: u32) -> bool {
        let (info, layout) = (&self.values[value as usize], self.layout_of(value));
        self.storages[info.storage as usize].bytes.as_fixed().is_some()
            && info.offset.as_fixed().is_some()
            && layout.dims.iter().all(|dim| dim.as_fixed().is_some())
            && layout.strides.iter().all(|stride| stride.as_fixed().is_some())
    }

    /// Whether the numbers that a node is told have no symbols.
    pub(crate) fn is_told_fixed(&self, node: &Node) -> bool {
        let NodeKind::Foreign(function) = node.kind else { return true };
        let later = self.functions[function as usize].later().iter();
        let mut numbers = later.flat_map(|later| &later.numbers).filter_map(|number| number.size());
        numbers.all(|size| size.as_fixed().is_some())
    }
}

/// What a recipe from elsewhere may have wrong.
#[cfg(any(feature = "cache", test))]
impl Recipe {
    /// The first node that writes memory which is written once, and is not one that can be done then; with the reason.
    pub(crate) fn wrong_once(&self) -> Option<(u32, &'static str)> {
        if !self.storages.iter().any(|storage| storage.kind == StorageKind::Once) {
            return None;
        }
        let written = self.written();
        let kept =
            |node: &&Node| self.accesses_of(node).iter().any(|one| one.mode.writes() && self.is_kept(one.value));
        let nodes = (0..).zip(&self.nodes).filter(|(_, node)| kept(node));
        nodes.into_iter().find_map(|(index, node)| Some((index, self.why_not_once(node, &written)?)))
    }

    fn why_not_once(&self, node: &Node, written: &[bool]) -> Option<&'static str> {
        let accesses = self.accesses_of(node);
        let computes = self.operator(node).is_some() || node.kind == NodeKind::Copy;
        let is_given =
            |value: u32| self.is_early(value) && (self.is_kept(value) || !written[self.storage_of(value) as usize]);
        match () {
            () if !computes => Some("it is done once, and is no operator of the library"),
            () if !accesses.iter().all(|one| self.is_fixed(one.value)) || !self.is_told_fixed(node) => {
                Some("it is done once, with sizes that symbols say")
            }
            () if accesses.iter().any(|one| one.mode != super::Mode::Read && !self.is_kept(one.value)) => {
                Some("it is done once, and writes what runs write")
            }
            () if accesses.iter().any(|one| !one.mode.only_writes() && !is_given(one.value)) => {
                Some("it is done once, and reads what runs write or bring")
            }
            () => None,
        }
    }
}
