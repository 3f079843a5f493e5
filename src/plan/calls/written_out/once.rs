//! One run of a plan within its caller.

use crate::plan::recipe::callable::CallInfo;
use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::{Access, Node, NodeKind, ORIGIN, Recipe, Storage, StorageKind, ValueInfo};

use super::{CHECKED, Place, Shared, Sized};

/// One run of a plan within its caller.
pub(super) struct Once<'a> {
    pub(super) body: &'a Recipe,
    pub(super) info: &'a CallInfo,
    pub(super) shared: &'a Shared,
    pub(super) sized: &'a Sized,
    /// The call.
    pub(super) node: &'a Node,
    pub(super) from: &'a [Place],
    pub(super) to: &'a [Place],
    /// Whether it is an arm of a choice, all of it on one stream: events would order nothing.
    pub(super) arm: bool,
}

impl Once<'_> {
    pub(super) fn write(&self, new: &mut Recipe) {
        let body = self.body;
        let memory = self.memory(new);
        let values = new.values.len() as u32;
        for (value, offset) in body.values.iter().zip(&self.sized.offsets) {
            let (storage, start) = &memory[value.storage as usize];
            let offset = start.plus(offset).expect(CHECKED);
            new.values.push(ValueInfo {
                storage: *storage,
                layout: self.sized.layouts[value.layout as usize],
                offset,
            });
        }
        let events = new.events.len() as u32;
        if !self.arm {
            new.events.extend(body.events.iter().cloned());
        }
        let mut recorded = vec![ORIGIN; body.events.len()];
        let mut positions = Vec::with_capacity(body.nodes.len());
        for node in &body.nodes {
            let tag = self.tag(node.tag);
            if let NodeKind::Record(event) = node.kind {
                recorded[event as usize] = tag;
            }
            // A stream does not wait for itself, which two of the plan may be here.
            let waits_for_itself = matches!(node.kind, NodeKind::Wait(event) if recorded[event as usize] == tag);
            let orders_nothing = self.arm && node.kind.is_sync();
            if !waits_for_itself && !orders_nothing {
                let first = new.accesses.len() as u32;
                let own = |access: &Access| Access { value: values + access.value, mode: access.mode };
                new.accesses.extend(body.accesses_of(node).iter().map(own));
                let cores = node.cores.checked_sub(1).map(|index| self.shared.cores[usize::from(index)]);
                let cores = cores.unwrap_or(self.node.cores);
                let place = self.shared.places + node.place;
                new.nodes.push(Node { kind: self.kind(node.kind, events), first, place, tag, cores, ..*node });
            }
            positions.push((new.nodes.len() as u32).saturating_sub(1));
        }
        let own = |(storage, node): &(u32, u32)| (memory[*storage as usize].0, positions[*node as usize]);
        new.reserved.extend(body.reserved.iter().map(own));
    }

    /// Where each storage is.
    fn memory(&self, new: &mut Recipe) -> Vec<Place> {
        let mut place = |(storage, bytes): (&Storage, &Extent)| match storage.kind {
            StorageKind::Input(input) => self.from[input as usize].clone(),
            StorageKind::Output(output) => self.to[output as usize].clone(),
            StorageKind::Constant(constant) => (self.shared.constants[constant as usize], Extent::Fixed(0)),
            // Another caller may give other weights, or memory that changes.
            StorageKind::Temporary | StorageKind::Once => {
                new.storages.push(Storage { kind: StorageKind::Temporary, bytes: bytes.clone() });
                (new.storages.len() as u32 - 1, Extent::Fixed(0))
            }
        };
        self.body.storages.iter().zip(&self.sized.bytes).map(&mut place).collect()
    }

    fn tag(&self, tag: u16) -> u16 {
        if tag == ORIGIN || self.info.collapsed { self.node.tag } else { self.sized.tags[usize::from(tag) - 1] }
    }

    fn kind(&self, kind: NodeKind, events: u32) -> NodeKind {
        match kind {
            NodeKind::Foreign(function) => NodeKind::Foreign(self.sized.functions + function),
            NodeKind::Host(function) => NodeKind::Host(self.sized.functions + function),
            NodeKind::Record(event) => NodeKind::Record(events + event),
            NodeKind::Wait(event) => NodeKind::Wait(events + event),
            NodeKind::Prefetch(prefetch) => NodeKind::Prefetch(self.sized.prefetches + prefetch),
            NodeKind::Choose(choice) => NodeKind::Choose(self.sized.choices[choice as usize]),
            other => other,
        }
    }
}
