//! What each stream of a plan waits for so far: to leave out waits that order nothing new.

use crate::plan::order::clocks::Clocks;
use crate::plan::recipe::{Node, NodeKind};

use super::{NONE, push_slowly};

/// Followed from the first `wait_value` on.
pub(super) struct Progress {
    clocks: Clocks,
    /// For each stream the nodes from which on it knows more, and its clock from there on.
    chains: Vec<Vec<(u32, u32)>>,
    /// The node that each event is recorded behind.
    events: Vec<u32>,
}

impl Progress {
    /// `behind` are nodes that have an event recorded right behind them.
    pub(super) fn of(nodes: &[Node], behind: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut progress = Self { clocks: Clocks::growing(), chains: Vec::new(), events: Vec::new() };
        behind.for_each(|(node, event)| progress.record(event, node));
        (0..nodes.len()).for_each(|index| progress.push(&nodes[..=index]));
        progress
    }

    /// The event marks the end of a node.
    pub(super) fn record(&mut self, event: u32, node: u32) {
        while self.events.len() <= event as usize {
            push_slowly(&mut self.events, NONE);
        }
        self.events[event as usize] = node;
    }

    /// The last of the nodes is new.
    pub(super) fn push(&mut self, nodes: &[Node]) {
        let (Some(node), index) = (nodes.last(), nodes.len() as u32 - 1) else { return };
        match node.kind {
            NodeKind::Record(event) => self.record(event, index),
            NodeKind::Wait(event) => {
                let from = self.events.get(event as usize).copied().unwrap_or(NONE);
                if let Some(record) = nodes.get(from as usize) {
                    self.wait(node.tag, index, record.tag, from);
                }
            }
            _ => {}
        }
    }

    fn wait(&mut self, tag: u16, node: u32, from: u16, record: u32) {
        let streams = usize::from(tag.max(from)) + 1;
        if self.chains.len() < streams {
            self.chains.resize_with(streams, Vec::new);
            let chains = &mut self.chains;
            self.clocks.grow(streams, |see| chains.iter_mut().flatten().for_each(|(_, clock)| see(clock)));
        }
        let (own, theirs) = (self.clock(tag, node), self.clock(from, record));
        let clock = self.clocks.joined(own, theirs, from, record + 1);
        if clock != own {
            push_slowly(&mut self.chains[usize::from(tag)], (node, clock));
        }
    }

    /// The clock of a stream when it comes to a node.
    fn clock(&self, tag: u16, node: u32) -> u32 {
        let Some(chain) = self.chains.get(usize::from(tag)) else { return 0 };
        let known = chain.partition_point(|(from, _)| *from <= node);
        known.checked_sub(1).map_or(0, |index| chain[index].1)
    }

    /// Whether the node `done`, of stream `of`, is done when stream `tag` comes to `node`.
    pub(super) fn knows(&self, (tag, node): (u16, u32), (of, done): (u16, u32)) -> bool {
        if tag == of {
            return done < node;
        }
        usize::from(of) < self.chains.len() && self.clocks.get(self.clock(tag, node), of) > done
    }
}
