//! Lifetimes across streams, and waits for values.

use std::panic::Location;

use crate::error::Result;
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::{Mode, Ordered};

use crate::plan::builder::options::Single;
use crate::plan::builder::{ORIGIN_TAG, Value};

use super::{At, NONE, Progress, Reserve, State, Used};

impl State {
    #[track_caller]
    pub(in crate::plan) fn record_stream(&mut self, value: Value, tag: &str) -> Result<()> {
        let at = Location::caller();
        self.check(value, "record_stream", at)?;
        if self.options.single == Single::Collapse {
            return Ok(());
        }
        let Some(&index) = self.tags.get(tag) else {
            let text = format!("record_stream on {tag:?}, which no scope has used; the origin is {ORIGIN_TAG:?}");
            return self.wrong(FindingKind::Name, at, text);
        };
        let storage = self.recipe.storage_of(value.index);
        self.reserve.push(Reserve { storage, tag: index, since: self.recipe.nodes.len() as u32 });
        Ok(())
    }

    #[track_caller]
    pub(in crate::plan) fn wait_value(&mut self, value: Value, dependency: Value) -> Result<Value> {
        let at = Location::caller();
        self.check(value, "wait_value", at)?;
        self.check(dependency, "wait_value", at)?;
        let place = self.place(at);
        let waits = (dependency, &*self.producers.of(&self.recipe, dependency.index));
        let nodes = &self.recipe.nodes;
        let behind = self.recorded_after.iter().map(|(node, event)| (*node, *event));
        let progress = self.progress.get_or_insert_with(|| Progress::of(nodes, behind));
        let hides = |a: u32, b: u32| {
            let tag = |node: u32| nodes[node as usize].tag;
            a == b || progress.knows((tag(a), a), (tag(b), b))
        };
        let version = self.versions.add(value, waits, place, hides);
        Ok(Value { version, ..value })
    }

    #[track_caller]
    pub(in crate::plan) fn wait_all(&mut self, values: &[Value]) -> Result<()> {
        let at = Location::caller();
        if values.is_empty() {
            return self.wrong(FindingKind::Operand, at, "wait_all without a value to wait for");
        }
        for value in values {
            self.check(*value, "wait_all", at)?;
        }
        self.enter_scopes(at)?;
        let (tag, place) = (self.tag(), self.place(at));
        self.ordered = Ordered::Fence;
        for value in values {
            self.wait_for_producers(*value, tag, place, at)?;
        }
        Ok(())
    }

    /// Makes a stream wait for whatever wrote the value.
    pub(super) fn wait_for_producers(&mut self, value: Value, tag: u16, place: u32, at: At) -> Result<()> {
        let producers = self.producers.of(&self.recipe, value.index);
        producers.into_iter().try_for_each(|producer| self.wait_for_producer(producer, tag, place, at))
    }

    pub(super) fn wait_for_producer(&mut self, producer: u32, tag: u16, place: u32, at: At) -> Result<()> {
        if producer == NONE || self.recipe.nodes[producer as usize].tag == tag {
            return Ok(());
        }
        let event = match self.recorded_after.get(&producer) {
            Some(event) => *event,
            None => {
                let event = self.new_event(None);
                self.recorded_after.insert(producer, event);
                if let Some(progress) = &mut self.progress {
                    progress.record(event, producer);
                }
                event
            }
        };
        self.wait_on(event, tag, place, at)
    }

    pub(super) fn wait_for_versions(&mut self, value: Value, tag: u16, place: u32, at: At) -> Result<()> {
        let next = self.recipe.nodes.len() as u32;
        for i in 0..self.versions.after(value).len() {
            let producer = self.versions.after(value)[i];
            let of = self.recipe.nodes[producer as usize].tag;
            if of == tag {
                // Of use only where all work is on one stream.
                self.after.push((next, producer));
                self.ordered = self.ordered.max(Ordered::After);
                continue;
            }
            let now = self.recipe.nodes.len() as u32;
            if !self.progress.as_ref().is_some_and(|progress| progress.knows((tag, now), (of, producer))) {
                self.wait_for_producer(producer, tag, place, at)?;
            }
        }
        Ok(())
    }

    pub(super) fn note_versions(&mut self, uses: &[Used], node: u32) {
        for (value, _) in uses.iter().filter(|(_, mode)| *mode != Mode::Touch) {
            self.versions.note(*value, node);
        }
    }
}
