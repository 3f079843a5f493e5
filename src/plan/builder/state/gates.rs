//! Gates between a plan and work beside it.

use std::panic::Location;

use crate::error::Result;
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::NodeKind;

use crate::plan::builder::External;

use super::{At, State};

impl State {
    #[track_caller]
    pub(in crate::plan) fn external(&mut self, name: &str) -> Result<External> {
        let at = Location::caller();
        if name.is_empty() || self.external_names.contains(name) {
            let kind = if name.is_empty() { FindingKind::Name } else { FindingKind::Duplicate };
            return self.wrong(kind, at, format_args!("external gate {name:?}: the name is empty or taken"));
        }
        self.external_names.insert(name.to_owned());
        self.recipe.externals.push(name.to_owned());
        Ok(External { plan: self.plan, index: self.recipe.externals.len() as u32 - 1 })
    }

    #[track_caller]
    pub(in crate::plan) fn wait_external(&mut self, gate: External) -> Result<()> {
        self.external_node(gate, NodeKind::ExternalWait(gate.index), Location::caller())
    }

    #[track_caller]
    pub(in crate::plan) fn record_external(&mut self, gate: External) -> Result<()> {
        self.external_node(gate, NodeKind::ExternalRecord(gate.index), Location::caller())
    }

    fn external_node(&mut self, gate: External, kind: NodeKind, at: At) -> Result<()> {
        if gate.plan != self.plan {
            return self.wrong(FindingKind::Foreign, at, "an external gate of another plan");
        }
        self.emit(kind, &[], at).map(drop)
    }
}
