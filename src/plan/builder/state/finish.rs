//! From what was recorded to the recipe.

use crate::error::Result;
use crate::plan::check::finding::{Finding, FindingKind};
use crate::plan::recipe::function::Body;
use crate::plan::recipe::{Input, InputInfo, Node, NodeKind, ORIGIN, Recipe, StorageKind};
use crate::plan::spread::{Wishes, evenly};
use crate::sort;

use super::producers::Producers;
use super::{State, Versions};

/// What building gives, before it is checked.
pub(crate) struct Built {
    /// The builder's number.
    pub(crate) plan: u32,
    pub(crate) recipe: Recipe,
    pub(crate) bodies: Vec<Body>,
    pub(crate) lints: Vec<Finding>,
}

impl State {
    /// Joins every stream that is still apart and puts the nodes into their final order.
    pub(crate) fn finish(mut self) -> Result<Built> {
        self.options.check()?;
        self.check_closed()?;
        self.join_all()?;
        self.finish_lints();
        // What only recording needs would add to the most memory that a plan takes.
        self.producers = Producers::default();
        self.waited = Default::default();
        self.progress = None;
        self.operators = Default::default();
        self.calls = Default::default();
        (self.input_names, self.output_names, self.external_names, self.known) = Default::default();
        let mut positions = self.place_records();
        self.resolve_reserved(&positions);
        self.drop_unused_tags();
        self.recipe.drop_unused();
        self.spread(&mut positions);
        let lints = self.lints.iter().map(|lint| {
            let nodes: Vec<u32> = lint.nodes.iter().map(|node| positions[*node as usize]).collect();
            Finding::new(lint.kind, (lint.text)(&self.recipe, &nodes)).at(&nodes)
        });
        let lints = lints.collect();
        self.recipe.shrink();
        self.bodies.shrink_to_fit();
        Ok(Built { plan: self.plan, recipe: self.recipe, bodies: self.bodies, lints })
    }

    /// Spreads the work over several streams, if the options or the environment ask for it.
    fn spread(&mut self, positions: &mut [u32]) {
        let Some(streams) = self.options.spread(!self.recipe.symbols.is_empty()) else { return };
        let wishes = Wishes::with_fences(&self.after, &self.recipe);
        if let Some((spread, moved)) = evenly::spread(&self.recipe, &wishes, streams) {
            self.recipe = spread;
            positions.iter_mut().for_each(|position| *position = moved[*position as usize]);
        }
    }

    fn join_all(&mut self) -> Result<()> {
        let at = std::panic::Location::caller();
        for tag in 1..self.chains.len() as u16 {
            if !self.chains[usize::from(tag)].active {
                continue;
            }
            // Joined where its last work was asked for: that is the line a message about it should name.
            let chain = &self.chains[usize::from(tag)];
            let last = if chain.nodes == 0 { 0 } else { self.recipe.nodes[chain.last as usize].place };
            self.join_into(tag, ORIGIN, last, at)?;
        }
        Ok(())
    }

    /// Leaves out streams that have no work: scopes in which nothing was done.
    fn drop_unused_tags(&mut self) {
        let recipe = &mut self.recipe;
        let mut used = vec![false; recipe.tags.len()];
        used[usize::from(ORIGIN)] = true;
        recipe.nodes.iter().for_each(|node| used[usize::from(node.tag)] = true);
        if used.iter().all(|used| *used) {
            return;
        }
        let mut numbers = vec![0_u16; used.len()];
        for i in 1..used.len() {
            numbers[i] = numbers[i - 1] + u16::from(used[i]);
        }
        recipe.nodes.iter_mut().for_each(|node| node.tag = numbers[usize::from(node.tag)]);
        let mut used = used.into_iter();
        recipe.tags.retain(|_| used.next().unwrap_or(true));
    }

    fn finish_lints(&mut self) {
        let events = std::mem::take(&mut self.events);
        let mut events: Vec<_> = events.into_iter().collect();
        sort::by(&mut events, |(a, _), (b, _)| a.cmp(b));
        for (tag, state) in &events {
            self.lint_unwaited(tag, state);
        }
        self.lint_frozen();
        for version in std::mem::replace(&mut self.versions, Versions::new()).both_used() {
            let (earlier, later) = (version.earlier_used, version.later_used);
            self.lint(FindingKind::BothVersions, &[earlier, later], move |recipe, nodes| {
                format!(
                    "{} uses the earlier and {} the later version of the value of the wait_value at {}; only the later \
                     one waits",
                    recipe.describe(nodes[0]),
                    recipe.describe(nodes[1]),
                    recipe.places.show(version.place)
                )
            });
        }
    }

    /// Frozen inputs that the plan writes, with the first work that does.
    fn lint_frozen(&mut self) {
        let recipe = &self.recipe;
        let mut written: Vec<Option<u32>> = vec![None; recipe.inputs.len()];
        for (index, node) in recipe.nodes.iter().enumerate() {
            for access in recipe.accesses_of(node).iter().filter(|access| access.mode.writes()) {
                if let StorageKind::Input(input) = recipe.storages[recipe.storage_of(access.value) as usize].kind {
                    written[input as usize].get_or_insert(index as u32);
                }
            }
        }
        for (input, node) in written.into_iter().enumerate() {
            let (Some(node), InputInfo { name, class: Input::Frozen, .. }) = (node, &self.recipe.inputs[input])
            else {
                continue;
            };
            let name = name.clone();
            self.lint(FindingKind::FrozenWritten, &[node], move |recipe, nodes| {
                let writer = recipe.describe(nodes[0]);
                format!("{writer} writes the frozen input {name:?}: the next run, and whoever shares it, finds that")
            });
        }
    }

    /// Puts the record at the start, and those right behind their producers, in; gives the new position of each node.
    fn place_records(&mut self) -> Vec<u32> {
        let records = std::mem::take(&mut self.recorded_after);
        let nodes = &mut self.recipe.nodes;
        let mut behind = vec![super::NONE; if records.is_empty() { 0 } else { nodes.len() }];
        for (node, event) in &records {
            behind[*node as usize] = *event;
        }
        let mut positions = vec![0; nodes.len()];
        let record = |event, tag, place| Node::bare(NodeKind::Record(event), tag, place);
        let start = self.start.map(|start| record(start, ORIGIN, nodes.first().map_or(0, |node| node.place)));
        let (old, more) = (nodes.len(), records.len() + usize::from(start.is_some()));
        nodes.reserve_exact(more);
        nodes.extend(std::iter::repeat_n(record(0, ORIGIN, 0), more));
        // From the end on, so that nodes move within the same memory.
        let mut end = nodes.len();
        for index in (0..old).rev() {
            let node = nodes[index];
            if let Some(event) = behind.get(index).filter(|event| **event != super::NONE) {
                end -= 1;
                nodes[end] = record(*event, node.tag, node.place);
            }
            end -= 1;
            nodes[end] = node;
            positions[index] = end as u32;
        }
        if let (Some(start), Some(first)) = (start, nodes.first_mut()) {
            *first = start;
        }
        positions
    }

    /// Finds the node that ends each reservation: the last one before the tag's next join.
    fn resolve_reserved(&mut self, positions: &[u32]) {
        let end = self.chains[usize::from(ORIGIN)].last;
        for mark in std::mem::take(&mut self.reserve) {
            let join = self.joins.iter().find(|(tag, last)| *tag == mark.tag && *last >= mark.since);
            let last = join.map_or(end, |(_, last)| *last);
            if let Some(position) = positions.get(last as usize) {
                self.recipe.reserved.push((mark.storage, *position));
            }
        }
    }
}
