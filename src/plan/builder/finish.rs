//! From what was recorded to the recipe.

use crate::error::Result;
use crate::plan::finding::{Finding, FindingKind};
use crate::plan::function::Body;
use crate::plan::recipe::{Node, NodeKind, ORIGIN, Recipe};

use super::Builder;

/// What building gives, before it is checked.
pub(crate) struct Built {
    /// The builder's number.
    pub(crate) plan: u32,
    pub(crate) recipe: Recipe,
    pub(crate) bodies: Vec<Body>,
    pub(crate) lints: Vec<Finding>,
}

impl Builder {
    /// Joins every stream that is still apart and puts the nodes into their final order.
    pub(crate) fn finish(mut self) -> Result<Built> {
        self.join_all()?;
        self.finish_lints();
        let positions = self.place_records();
        self.resolve_reserved(&positions);
        let lints = self.lints.iter().map(|lint| {
            let nodes: Vec<u32> = lint.nodes.iter().map(|node| positions[*node as usize]).collect();
            Finding::new(lint.kind, (lint.text)(&self.recipe, &nodes)).at(&nodes)
        });
        let lints = lints.collect();
        Ok(Built { plan: self.plan, recipe: self.recipe, bodies: self.bodies, lints })
    }

    fn join_all(&mut self) -> Result<()> {
        let at = std::panic::Location::caller();
        for tag in 1..self.chains.len() as u16 {
            if !self.chains[usize::from(tag)].active {
                continue;
            }
            // Joined where its last work was asked for: that is the line a message about it should name.
            let last = self.recipe.nodes.iter().rev().find(|node| node.tag == tag).map_or(0, |node| node.place);
            self.join_into(tag, ORIGIN, last, at)?;
        }
        Ok(())
    }

    fn finish_lints(&mut self) {
        let events = std::mem::take(&mut self.events);
        let mut events: Vec<_> = events.into_iter().collect();
        events.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (tag, state) in &events {
            self.lint_unwaited(tag, state);
        }
        let mut versions: Vec<_> = std::mem::take(&mut self.versions).into_values().collect();
        versions.sort_by_key(|version| version.later_used);
        for version in versions {
            let (Some(earlier), Some(later)) = (version.earlier_used, version.later_used) else { continue };
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

    /// Puts the record at the start, and those right behind their producers, in; gives the new position of each node.
    fn place_records(&mut self) -> Vec<u32> {
        let records = std::mem::take(&mut self.records_after);
        let mut behind = vec![super::NONE; if records.is_empty() { 0 } else { self.recipe.nodes.len() }];
        for (node, event) in &records {
            behind[*node as usize] = *event;
        }
        let nodes = std::mem::take(&mut self.recipe.nodes);
        let mut placed: Vec<Node> = Vec::with_capacity(nodes.len() + records.len() + 1);
        let mut positions = Vec::with_capacity(nodes.len());
        let record = |event: u32, tag: u16, place: u32| Node {
            kind: NodeKind::Record(event),
            first: 0,
            place,
            count: 0,
            tag,
            cores: 0,
        };
        if let Some(start) = self.start {
            placed.push(record(start, ORIGIN, nodes.first().map_or(0, |node| node.place)));
        }
        for (index, node) in nodes.into_iter().enumerate() {
            positions.push(placed.len() as u32);
            let (tag, place) = (node.tag, node.place);
            placed.push(node);
            if let Some(event) = behind.get(index).filter(|event| **event != super::NONE) {
                placed.push(record(*event, tag, place));
            }
        }
        self.recipe.nodes = placed;
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
