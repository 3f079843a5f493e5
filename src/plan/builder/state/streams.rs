//! Streams and events inside a plan.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Result;
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::{Cores, EventInfo, NodeKind, ORIGIN};

use crate::plan::builder::options::Single;
use crate::plan::builder::{Fork, Scope};

use super::{At, Frame, Pending, State, push_slowly};

/// How many scopes of a recording are still open, once a closure is over. It belongs to the recording, which another
/// builder may have by then.
#[derive(Clone)]
pub(in crate::plan) struct Over(Arc<AtomicUsize>);

impl Over {
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicUsize::new(usize::MAX)))
    }

    /// Ends the scope that was opened when so many others were, and those within it.
    pub(in crate::plan) fn leave(&self, depth: usize) {
        self.0.fetch_min(depth, Ordering::Relaxed);
    }
}

impl State {
    /// Opens a scope, which [`Over::leave`] ends; gives how many were open before.
    pub(in crate::plan) fn enter_scope(&mut self, tag: &str, options: Scope, at: At) -> Result<(Over, usize)> {
        self.open_scope(tag, options, false, at).map(|()| (self.over.clone(), self.scopes.len() - 1))
    }

    /// Opens a scope, which [`State::close_scope`] ends when it is opened by hand.
    pub(in crate::plan) fn open_scope(&mut self, tag: &str, options: Scope, by_hand: bool, at: At) -> Result<()> {
        let index = self.scope_tag(tag, options, at)?;
        let cores = match options.cores {
            Some(cores) => self.core_limit(cores, at)?,
            None => self.scopes.last().map_or(0, |frame| frame.cores),
        };
        let (parent, place) = (self.tag(), self.place(at));
        let pending = (index != parent).then_some(Pending { parent, fork: options.fork, place });
        self.scopes.push(Frame { tag: index, cores, pending, by_hand: by_hand.then_some(at) });
        Ok(())
    }

    /// Ends the scopes whose closures are over.
    pub(in crate::plan) fn leave_scopes(&mut self) {
        let left = self.over.0.load(Ordering::Relaxed);
        if left != usize::MAX {
            self.over.0.store(usize::MAX, Ordering::Relaxed);
            self.scopes.truncate(left.max(1));
        }
    }

    #[track_caller]
    pub(in crate::plan) fn close_scope(&mut self) -> Result<()> {
        match self.scopes.pop_if(|frame| frame.by_hand.is_some()) {
            Some(_) => Ok(()),
            None => {
                let text = "the end of a scope, where none is open that open_scope opened";
                self.wrong(FindingKind::Name, Location::caller(), text)
            }
        }
    }

    /// That no scope is open any more.
    pub(super) fn check_closed(&self) -> Result<()> {
        let open = self.scopes.iter().find_map(|frame| Some((frame, frame.by_hand?)));
        let Some((open, at)) = open else { return Ok(()) };
        let tag = &self.recipe.tags[usize::from(open.tag)].name;
        let text = format!("the scope of {tag:?} is still open at the end; close_scope ends it");
        self.wrong(FindingKind::Name, at, text)
    }

    fn scope_tag(&mut self, tag: &str, options: Scope, at: At) -> Result<u16> {
        if tag.is_empty() {
            return self.wrong(FindingKind::Name, at, "a scope without a tag");
        }
        if options.priority.is_some_and(|priority| priority > 7) {
            return self.wrong(FindingKind::Name, at, format_args!("scope {tag:?}: a priority above 7"));
        }
        match self.options.single {
            Single::No => {}
            Single::Collapse => return Ok(ORIGIN),
            Single::Strict => {
                let text = "with the option single_stream; ask for collapse_streams to put every tag on one stream";
                return self.wrong(FindingKind::Options, at, format_args!("scope {tag:?} {text}"));
            }
        }
        let Some(&known) = self.tags.get(tag) else {
            return self.new_tag(tag, options.priority.unwrap_or(0), at);
        };
        let has = self.recipe.tags[usize::from(known)].priority;
        match options.priority {
            Some(_) if known == ORIGIN => {
                let text = "scope of the origin: its priority is that of the stream that a run is given";
                self.wrong(FindingKind::Name, at, text)
            }
            Some(priority) if priority != has => {
                let text = format!("scope {tag:?}: priority {priority}, and its stream has {has}");
                self.wrong(FindingKind::Name, at, text)
            }
            _ => Ok(known),
        }
    }

    pub(super) fn new_tag(&mut self, tag: &str, priority: u32, at: At) -> Result<u16> {
        if self.recipe.tags.len() >= usize::from(u16::MAX) {
            return self.wrong(FindingKind::Streams, at, "more tags than can be numbered");
        }
        Ok(self.add_tag(tag, priority))
    }

    /// The number of a core limit, counted from 1.
    fn core_limit(&mut self, cores: Cores, at: At) -> Result<u16> {
        let all = &mut self.recipe.cores;
        let index = all.iter().position(|known| *known == cores).unwrap_or(all.len());
        if index >= usize::from(u16::MAX) {
            return self.wrong(FindingKind::CoreLimit, at, "more core limits than can be numbered");
        }
        if index == all.len() {
            all.push(cores);
        }
        Ok(index as u16 + 1)
    }

    /// Makes the streams of the open scopes wait for what they wait for.
    pub(super) fn enter_scopes(&mut self, at: At) -> Result<()> {
        for i in 1..self.scopes.len() {
            let (tag, pending) = (self.scopes[i].tag, self.scopes[i].pending.take());
            let Some(Pending { parent, fork, place }) = pending else { continue };
            let chain = &self.chains[usize::from(tag)];
            match fork {
                Fork::AtStart if chain.active => {}
                Fork::AtStart if !chain.was_joined => {
                    let event = self.start_event();
                    self.wait_on(event, tag, place, at)?;
                }
                Fork::AtStart => self.fork(ORIGIN, tag, place, at)?,
                Fork::Here => self.fork(parent, tag, place, at)?,
            }
        }
        Ok(())
    }

    pub(super) fn start_event(&mut self) -> u32 {
        match self.start {
            Some(event) => event,
            None => {
                let event = self.new_event(None);
                self.start = Some(event);
                event
            }
        }
    }

    pub(super) fn new_event(&mut self, name: Option<&str>) -> u32 {
        push_slowly(&mut self.recipe.events, EventInfo { name: name.map(str::to_owned) });
        self.recipe.events.len() as u32 - 1
    }

    /// `to` waits for everything on `from`.
    pub(super) fn fork(&mut self, from: u16, to: u16, place: u32, at: At) -> Result<()> {
        if from == to {
            return Ok(());
        }
        if !self.chains[usize::from(from)].active {
            self.fork(ORIGIN, from, place, at)?;
        }
        let event = self.record_end(from, place, at)?;
        self.wait_on(event, to, place, at)
    }

    /// An event behind all work of a stream.
    fn record_end(&mut self, tag: u16, place: u32, at: At) -> Result<u32> {
        let chain = &self.chains[usize::from(tag)];
        if let Some((nodes, event)) = chain.last_record
            && nodes == chain.nodes
        {
            return Ok(event);
        }
        if tag == ORIGIN && chain.nodes == 0 {
            return Ok(self.start_event());
        }
        let event = self.new_event(None);
        self.push(NodeKind::Record(event), tag, &[], place, at)?;
        let chain = &mut self.chains[usize::from(tag)];
        chain.last_record = Some((chain.nodes, event));
        Ok(event)
    }

    /// `tag` waits for the event, unless it does already.
    pub(super) fn wait_on(&mut self, event: u32, tag: u16, place: u32, at: At) -> Result<()> {
        let chain = &mut self.chains[usize::from(tag)];
        let again = !self.waited.insert(tag, event);
        if again && chain.active {
            return Ok(());
        }
        chain.active = true;
        self.push(NodeKind::Wait(event), tag, &[], place, at).map(drop)
    }

    #[track_caller]
    pub(in crate::plan) fn join(&mut self, tag: &str) -> Result<()> {
        let at = Location::caller();
        if self.options.single == Single::Collapse {
            return Ok(());
        }
        let current = self.tag();
        match self.tags.get(tag).copied() {
            Some(index) if index == current => {
                self.wrong(FindingKind::Name, at, format_args!("join of {tag:?} inside its own scope"))
            }
            Some(index) if index != ORIGIN && self.has_work(index) => {
                let place = self.place(at);
                self.enter_scopes(at)?;
                self.join_into(index, current, place, at)
            }
            _ => self.wrong(FindingKind::Name, at, format_args!("join of {tag:?}, which has no work")),
        }
    }

    /// Whether there is anything to join: work, or an open scope that is to wait for something.
    fn has_work(&self, tag: u16) -> bool {
        let enters = |frame: &Frame| frame.tag == tag && frame.pending.is_some();
        self.chains[usize::from(tag)].active || self.scopes.iter().any(enters)
    }

    pub(super) fn join_into(&mut self, tag: u16, into: u16, place: u32, at: At) -> Result<()> {
        let event = self.record_end(tag, place, at)?;
        self.wait_on(event, into, place, at)?;
        let chain = &mut self.chains[usize::from(tag)];
        (chain.active, chain.was_joined) = (false, true);
        self.joins.push((tag, chain.last));
        Ok(())
    }
}
