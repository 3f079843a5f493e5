//! Waits at gates whose signals come from the plan itself: all of them must end, whoever takes which signal.

use std::collections::HashSet;

use crate::plan::order::Order;
use crate::plan::recipe::{NodeKind, Recipe};
use crate::plan::symbols::effort::spend;

use super::finding::{Finding, FindingKind};

/// Most states that are looked at. What is not found among so many is not reported.
const MOST_STATES: usize = 1 << 12;
/// Numbers that all of them may have together.
const MOST_NUMBERS: usize = 1 << 24;

pub(super) fn check(recipe: &Recipe, order: &Order, findings: &mut Vec<Finding>) {
    if recipe.externals.is_empty() {
        return;
    }
    let gates = Gates::new(recipe, order);
    let (stuck, can_end) = gates.explore();
    let why = match can_end {
        true => "may never end: another wait can take the signal that it needs",
        false => "can never end: its signal comes only after it",
    };
    for node in stuck {
        let text = format!("{} {why}", recipe.describe(node));
        findings.push(Finding::new(FindingKind::Deadlock, text).at(&[node]));
    }
}

struct Gates<'a> {
    recipe: &'a Recipe,
    order: &'a Order,
    /// Waits and records at gates, of each stream.
    chains: Vec<Vec<u32>>,
    /// Gates that the plan gives signals to; the others get theirs from outside.
    own: Vec<bool>,
}

#[derive(Clone)]
struct State {
    /// Nodes of each chain that are done.
    done: Vec<usize>,
    signals: Vec<u32>,
    /// Waits at each gate that are not done.
    waits: Vec<u32>,
}

impl<'a> Gates<'a> {
    fn new(recipe: &'a Recipe, order: &'a Order) -> Self {
        let (mut chains, mut own) = (vec![Vec::new(); recipe.tags.len()], vec![false; recipe.externals.len()]);
        for (index, node) in recipe.nodes.iter().enumerate() {
            match node.kind {
                NodeKind::ExternalRecord(gate) => own[gate as usize] = true,
                NodeKind::ExternalWait(_) => {}
                _ => continue,
            }
            chains[usize::from(node.tag)].push(index as u32);
        }
        chains.retain(|chain| !chain.is_empty());
        Self { recipe, order, chains, own }
    }

    /// Waits that are stuck in one way that the streams can take, and whether there is a way in which all end.
    fn explore(&self) -> (Vec<u32>, bool) {
        let mut waits = vec![0; self.own.len()];
        for node in self.chains.iter().flatten() {
            if let NodeKind::ExternalWait(gate) = self.kind(*node) {
                waits[gate as usize] += 1;
            }
        }
        let most = MOST_STATES.min(MOST_NUMBERS / (self.chains.len() + 2 * self.own.len()));
        let start = State { done: vec![0; self.chains.len()], signals: vec![0; self.own.len()], waits };
        let (mut open, mut known) = (vec![start], HashSet::new());
        let (mut stuck, mut can_end) = (Vec::new(), false);
        while let Some(mut state) = open.pop() {
            let contested = self.settle(&mut state);
            if contested.is_empty() {
                let left = self.stuck(&state);
                can_end |= left.is_empty();
                stuck = if stuck.is_empty() { left } else { stuck };
            }
            for chain in contested {
                let mut next = state.clone();
                self.step(&mut next, chain);
                if known.len() < most && known.insert(next.done.clone()) {
                    open.push(next);
                }
            }
        }
        (stuck, can_end)
    }

    fn kind(&self, node: u32) -> NodeKind {
        self.recipe.nodes[node as usize].kind
    }

    fn next(&self, state: &State, chain: usize) -> Option<u32> {
        self.chains[chain].get(state.done[chain]).copied()
    }

    /// Whether everything before the node is done.
    fn is_free(&self, state: &State, node: u32) -> bool {
        let mut others = (0..self.chains.len()).filter_map(|chain| self.next(state, chain));
        !others.any(|other| self.order.before(other, node))
    }

    /// Does all that takes no signal from anybody; gives the chains whose next wait has others to share signals with.
    fn settle(&self, state: &mut State) -> Vec<usize> {
        loop {
            // Each chain is compared with each.
            if !spend((self.chains.len() * self.chains.len()) as u64) {
                return Vec::new();
            }
            let (mut news, mut contested) = (false, Vec::new());
            for chain in 0..self.chains.len() {
                let Some(node) = self.next(state, chain).filter(|node| self.is_free(state, *node)) else { continue };
                let enough = match self.kind(node) {
                    NodeKind::ExternalWait(gate) if self.own[gate as usize] => {
                        let signals = state.signals[gate as usize];
                        if signals > 0 {
                            contested.push(chain);
                        }
                        signals >= state.waits[gate as usize]
                    }
                    _ => true,
                };
                if enough {
                    self.step(state, chain);
                    news = true;
                }
            }
            if !news {
                return contested;
            }
        }
    }

    fn step(&self, state: &mut State, chain: usize) {
        match self.next(state, chain).map(|node| self.kind(node)) {
            Some(NodeKind::ExternalRecord(gate)) => state.signals[gate as usize] += 1,
            Some(NodeKind::ExternalWait(gate)) => {
                state.waits[gate as usize] -= 1;
                state.signals[gate as usize] -= u32::from(self.own[gate as usize]);
            }
            _ => {}
        }
        state.done[chain] += 1;
    }

    /// The next waits, once nothing can go on.
    fn stuck(&self, state: &State) -> Vec<u32> {
        let next = (0..self.chains.len()).filter_map(|chain| self.next(state, chain));
        next.filter(|node| self.is_free(state, *node)).collect()
    }
}
