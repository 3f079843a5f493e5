//! Which work of a plan happens before which, by stream order and by events. Uses recipes; the memory plan and the
//! checks ask it, and the builder has its clocks.

use super::recipe::{NodeKind, Recipe};

pub(crate) mod clocks;

use clocks::{Clocks, Least};

/// Answers "is `a` done before `b` starts", for few streams in constant time.
///
/// Each stream is a chain with numbered positions. A clock says, for each chain, up to which position everything is
/// done; it changes only where a stream waits, so nodes between two waits share one.
#[derive(Debug)]
pub(crate) struct Order {
    /// Position of each node in its chain, from 1 on.
    position: Vec<u32>,
    tag: Vec<u16>,
    epoch: Vec<u32>,
    clocks: Clocks,
    chains: usize,
}

/// Why the order of a recipe cannot be told; only of recipes that did not come from a builder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    /// The node waits for an event that no node before it records.
    Wait(u32),
    /// The node records an event that was recorded before.
    Record(u32),
}

impl Order {
    pub(crate) fn of(recipe: &Recipe) -> Result<Self, Broken> {
        let (n, chains) = (recipe.nodes.len(), recipe.tags.len());
        let mut order = Self {
            position: Vec::with_capacity(n),
            tag: Vec::with_capacity(n),
            epoch: Vec::with_capacity(n),
            clocks: Clocks::new(chains),
            chains,
        };
        let mut length = vec![0_u32; chains];
        // The first clock knows of nothing; every chain starts with it.
        let mut current = vec![0_u32; chains];
        let mut recorded = vec![None; recipe.events.len()];
        for (index, node) in recipe.nodes.iter().enumerate() {
            let chain = usize::from(node.tag);
            match node.kind {
                NodeKind::Wait(event) => {
                    let record = recorded[event as usize].ok_or(Broken::Wait(index as u32))?;
                    current[chain] = order.joined(current[chain], record);
                }
                NodeKind::Record(event) if recorded[event as usize].is_some() => {
                    return Err(Broken::Record(index as u32));
                }
                NodeKind::Record(event) => recorded[event as usize] = Some(index),
                _ => {}
            }
            length[chain] += 1;
            order.position.push(length[chain]);
            order.tag.push(node.tag);
            order.epoch.push(current[chain]);
        }
        order.clocks.shrink();
        Ok(order)
    }

    /// The clock `epoch` with what the node `record` knows added: the same one when that is nothing new.
    fn joined(&mut self, epoch: u32, record: usize) -> u32 {
        self.clocks.joined(epoch, self.epoch[record], self.tag[record], self.position[record])
    }

    /// Whether `a` is done before `b` starts, whatever the timing.
    pub(crate) fn before(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        if self.tag[a] == self.tag[b] {
            self.position[a] < self.position[b]
        } else {
            self.knows(b, self.tag[a]) >= self.position[a]
        }
    }

    pub(crate) fn ordered(&self, a: u32, b: u32) -> bool {
        self.before(a, b) || self.before(b, a)
    }

    /// Up to which position of `chain` everything is done when node `b` starts; not for its own chain.
    fn knows(&self, b: usize, chain: u16) -> u32 {
        self.clocks.get(self.epoch[b], chain)
    }

    /// Up to which position of another stream than its own everything is done when `node` starts.
    pub(crate) fn known(&self, tag: u16, node: u32) -> u32 {
        self.knows(node as usize, tag)
    }

    /// The nodes of each stream.
    pub(crate) fn by_chain(&self) -> Vec<Vec<u32>> {
        let mut length = vec![0; self.chains];
        self.tag.iter().for_each(|tag| length[usize::from(*tag)] += 1);
        let mut chains: Vec<Vec<u32>> = length.into_iter().map(Vec::with_capacity).collect();
        for (node, tag) in self.tag.iter().enumerate() {
            chains[usize::from(*tag)].push(node as u32);
        }
        chains
    }

    /// For a node the first one that may not be done when it starts: itself, or one of another stream.
    pub(crate) fn first_unknown(&self) -> impl FnMut(u32) -> u32 {
        let chains = self.by_chain();
        let next = move |chain: u16, position: u32| {
            let chain: &Vec<u32> = &chains[usize::from(chain)];
            chain.get(position as usize).copied().unwrap_or(u32::MAX)
        };
        let mut least = Least::new(&self.clocks, self.chains, next);
        move |node| node.min(least.without(self.epoch[node as usize], self.tag(node)))
    }

    /// Whether everything up to `position` of `chain` is done before `node` starts.
    #[allow(dead_code, reason = "checks of stored plans")]
    pub(crate) fn reaches(&self, chain: u16, position: u32, node: u32) -> bool {
        let node = node as usize;
        if self.tag[node] == chain { position < self.position[node] } else { self.knows(node, chain) >= position }
    }

    pub(crate) fn position(&self, node: u32) -> u32 {
        self.position[node as usize]
    }

    pub(crate) fn tag(&self, node: u32) -> u16 {
        self.tag[node as usize]
    }
}
