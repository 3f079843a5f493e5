//! Events by tags.

use std::panic::Location;
use std::sync::Arc;

use crate::error::Result;
use crate::plan::builder::TaggedEvent;
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::{NodeKind, Ordered};

use super::{At, EventState, State, is_alive, keep_alive};

impl State {
    #[track_caller]
    pub(in crate::plan) fn event(&mut self, tag: &str) -> Result<TaggedEvent> {
        let at = Location::caller();
        if tag.is_empty() {
            return self.wrong(FindingKind::Name, at, "an event without a tag");
        }
        if self.events.get(tag).is_some_and(|known| is_alive(&known.alive)) {
            return self.wrong(FindingKind::Duplicate, at, format_args!("event tag {tag:?} is in use already"));
        }
        if let Some(former) = self.events.remove(tag) {
            self.lint_unwaited(tag, &former);
        }
        let alive = keep_alive();
        let state = EventState { alive: Arc::downgrade(&alive), latest: None, waited: false };
        self.events.insert(tag.to_owned(), state);
        Ok(TaggedEvent { plan: self.plan, tag: tag.to_owned(), _alive: alive })
    }

    #[track_caller]
    pub(in crate::plan) fn record(&mut self, event: &TaggedEvent) -> Result<()> {
        let at = Location::caller();
        self.check_event(event, at)?;
        if self.events[&event.tag].latest.is_some() {
            let text = "is recorded already; rerecord moves it, for the waits that follow";
            return self.wrong(FindingKind::RecordedTwice, at, format_args!("event {:?} {text}", event.tag));
        }
        self.record_at(event, at)
    }

    #[track_caller]
    pub(in crate::plan) fn rerecord(&mut self, event: &TaggedEvent) -> Result<()> {
        let at = Location::caller();
        self.check_event(event, at)?;
        if let Some(former) = self.events.remove(&event.tag) {
            self.lint_unwaited(&event.tag, &former);
            self.events.insert(event.tag.clone(), former);
        }
        self.record_at(event, at)
    }

    fn record_at(&mut self, event: &TaggedEvent, at: At) -> Result<()> {
        let index = self.new_event(Some(&event.tag));
        let node = self.emit(NodeKind::Record(index), &[], at)?;
        let tag = self.tag();
        if let Some(state) = self.events.get_mut(&event.tag) {
            state.latest = Some((index, tag, node));
            state.waited = false;
        }
        Ok(())
    }

    #[track_caller]
    pub(in crate::plan) fn wait(&mut self, event: &TaggedEvent) -> Result<()> {
        let at = Location::caller();
        self.wait_event(event, at)
    }

    /// The latest record of an event, and its tag.
    pub(super) fn recorded(&self, event: &TaggedEvent, at: At) -> Result<(u32, u16)> {
        self.check_event(event, at)?;
        let Some((index, from, _)) = self.events[&event.tag].latest else {
            let text = "is waited for before it is recorded, so that the wait would order nothing";
            return self.wrong(FindingKind::WaitBeforeRecord, at, format_args!("event {:?} {text}", event.tag));
        };
        Ok((index, from))
    }

    pub(super) fn wait_event(&mut self, event: &TaggedEvent, at: At) -> Result<()> {
        let (index, from) = self.recorded(event, at)?;
        if let Some(state) = self.events.get_mut(&event.tag) {
            state.waited = true;
        }
        let tag = self.tag();
        if from == tag {
            self.ordered = Ordered::Fence;
            return Ok(());
        }
        self.enter_scopes(at)?;
        let place = self.place(at);
        self.wait_on(index, tag, place, at)
    }

    fn check_event(&self, event: &TaggedEvent, at: At) -> Result<()> {
        if event.plan == self.plan && self.events.contains_key(&event.tag) {
            return Ok(());
        }
        self.wrong(FindingKind::Foreign, at, format_args!("event {:?} belongs to another plan", event.tag))
    }

    pub(super) fn lint_unwaited(&mut self, tag: &str, state: &EventState) {
        if let (false, Some((.., node))) = (state.waited, state.latest) {
            let tag = tag.to_owned();
            self.lint(FindingKind::NeverWaited, &[node], move |recipe, nodes| {
                format!("event {tag:?} is recorded and nothing waits for it: {}", recipe.describe(nodes[0]))
            });
        }
    }
}
