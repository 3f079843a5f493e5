//! Prefetches in a plan.

use std::collections::BTreeMap;
use std::panic::Location;

use crate::error::Result;
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::{Mode, NodeKind, ORIGIN, PrefetchInfo};
use crate::prefetch::Prefetch;

use crate::plan::builder::options::Single;
use crate::plan::builder::{After, Value};

use super::{At, Frame, State};

/// The stream of prefetches that are asked for on the origin stream, where they would hold up its work.
const PREFETCH_TAG: &str = "prefetch";

/// The prefetches of one storage: first byte and end, and the node.
#[derive(Default)]
pub(super) struct Prefetched(BTreeMap<(u64, u64), u32>);

impl Prefetched {
    /// Adds one that none is around. Others that it is around are forgotten, unless all are to be kept.
    fn add(&mut self, start: u64, end: u64, node: u32, keep_all: bool) {
        if !keep_all {
            let inside = self.0.range((start, 0)..(end, 0)).take_while(|((_, to), _)| *to <= end);
            let inside: Vec<_> = inside.map(|(key, _)| *key).collect();
            for key in inside {
                self.0.remove(&key);
            }
        }
        self.0.insert((start, end), node);
    }

    fn same(&self, start: u64, end: u64) -> Option<u32> {
        self.0.get(&(start, end)).copied()
    }

    /// One that asks for all of these bytes. None is inside another, so that a later start is a later end.
    fn around(&self, start: u64, end: u64) -> Option<u32> {
        let (_, node) = self.0.range(..=(start, u64::MAX)).next_back().filter(|((_, to), _)| end <= *to)?;
        Some(*node)
    }
}

impl State {
    #[track_caller]
    pub(in crate::plan) fn prefetch(&mut self, value: Value, what: Prefetch, after: After<'_>) -> Result<usize> {
        let at = Location::caller();
        self.check(value, "prefetch", at)?;
        if let After::Value(dependency) = after {
            self.check(dependency, "prefetch", at)?;
        }
        if self.options.single == Single::Strict {
            return self.wrong(FindingKind::Options, at, "a prefetch with the option single_stream");
        }
        if crate::plan::recipe::is_updatable(&self.recipe, value.index) {
            let text =
                "a prefetch of an updatable input: a captured graph would fetch where it was when it was captured";
            return self.wrong(FindingKind::Prefetch, at, text);
        }
        let (offset, bytes) = self.clip(value, what, at)?;
        if let After::Event(event) = after {
            self.recorded(event, at)?;
        }
        let range = self.range(value, offset, bytes);
        let earlier = range.and_then(|range| self.prefetched_before(range));
        if earlier.is_some() && self.options.drop_repeated_prefetches {
            return Ok(0);
        }
        let own = self.tag() == ORIGIN && self.options.single == Single::No;
        if own {
            let tag = self.tags.get(PREFETCH_TAG).copied();
            let tag = match tag {
                Some(tag) => tag,
                None => self.new_tag(PREFETCH_TAG, 0, at)?,
            };
            self.scopes.push(Frame { tag, cores: 0, pending: None, by_hand: None });
        }
        let done = self.prefetch_here(value, what, after, at);
        if own {
            self.scopes.pop();
        }
        let node = done?;
        match (earlier, range) {
            (Some(earlier), _) => self.lint_repeated(earlier, node),
            (None, Some((storage, start, end))) => {
                let keep_all = self.options.cap() != 0;
                self.prefetched.entry(storage).or_default().add(start, end, node, keep_all);
            }
            (None, None) => {}
        }
        Ok(bytes as usize)
    }

    fn prefetch_here(&mut self, value: Value, what: Prefetch, after: After<'_>, at: At) -> Result<u32> {
        let place = self.place(at);
        self.enter_scopes(at)?;
        let tag = self.tag();
        match after {
            After::Value(dependency) => {
                self.wait_for_versions(dependency, tag, place, at)?;
                self.wait_for_producers(dependency, tag, place, at)?;
            }
            After::Event(event) => self.wait_event(event, at)?,
            After::Start => {}
        }
        if !self.chains[usize::from(tag)].active {
            let start = self.start_event();
            self.wait_on(start, tag, place, at)?;
        }
        let (offset, max_bytes) = what.parts();
        let kind = NodeKind::Prefetch(self.recipe.prefetches.len() as u32);
        let node = self.emit(kind, &[(value, Mode::Touch)], at)?;
        self.recipe.prefetches.push(PrefetchInfo { offset: offset as u64, max_bytes: max_bytes as u64 });
        Ok(node)
    }

    /// Offset and length of the request; of memory with symbols, for its greatest size.
    fn clip(&self, value: Value, what: Prefetch, at: At) -> Result<(u64, u64)> {
        let size = self.recipe.layout_of(value.index).bytes();
        let most = size.and_then(|size| size.greatest(&self.recipe.bounds())).unwrap_or(0);
        match what.clip(usize::try_from(most).unwrap_or(usize::MAX)) {
            Ok((offset, bytes)) => Ok((offset as u64, bytes as u64)),
            Err(error) => self.wrong(FindingKind::Prefetch, at, error.detail()),
        }
    }

    /// Storage and bytes of a request, where they are known.
    fn range(&self, value: Value, offset: u64, bytes: u64) -> Option<(u32, u64, u64)> {
        let info = &self.recipe.values[value.index as usize];
        let start = info.offset.as_fixed()? + offset;
        Some((info.storage, start, start + bytes))
    }

    /// An earlier prefetch that asked for all of these bytes.
    fn prefetched_before(&self, (storage, start, end): (u32, u64, u64)) -> Option<u32> {
        let known = self.prefetched.get(&storage)?;
        // A cap, which only the device tells, may shorten a longer one to less than this.
        if self.options.cap() != 0 { known.same(start, end) } else { known.around(start, end) }
    }

    fn lint_repeated(&mut self, earlier: u32, node: u32) {
        self.lint(FindingKind::RepeatedPrefetch, &[earlier, node], |recipe, nodes| {
            let (earlier, later) = (recipe.describe(nodes[0]), recipe.describe(nodes[1]));
            format!("{later} repeats {earlier}; drop_repeated_prefetches leaves it out")
        });
    }
}
