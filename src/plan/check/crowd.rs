//! The heaviest set of operators that may all run at once.
//!
//! At any moment some operators have started, and of those some are over; one can start when all that come before it
//! are over. What runs weighs the starts less the ends, so the heaviest set is a closure of greatest weight, which a
//! maximal flow gives: exact, and in polynomial time.

use crate::lock::say;
use crate::plan::order::Order;

/// Steps that one search may take; then nothing is said.
const MOST_STEPS: usize = 20_000_000;

/// More than all weights together.
const NO_LIMIT: u64 = u64::MAX / 2;

const SOURCE: usize = 0;
const SINK: usize = 1;

/// Operators with a weight, and which of them come before which.
pub(super) struct Crowd {
    /// Node and weight.
    all: Vec<(u32, u32)>,
    /// Streams with their members.
    chains: Vec<(u16, Vec<usize>)>,
    /// Which chain a member is on, and where.
    places: Vec<(usize, usize)>,
    /// Up to where each chain is over when a member starts, as `(member, chain, count)`: only what the member before
    /// it on its own chain does not say. None when there are too many to look at.
    over: Option<Vec<(usize, usize, usize)>>,
}

impl Crowd {
    /// Of nodes in the order of issue, on so many streams.
    pub(super) fn of(order: &Order, nodes: impl Iterator<Item = (u32, u32)>, streams: usize) -> Self {
        let all: Vec<(u32, u32)> = nodes.collect();
        let (mut chains, mut number) = (Vec::<(u16, Vec<usize>)>::new(), vec![None; streams]);
        let mut places = Vec::new();
        for (member, (node, _)) in all.iter().enumerate() {
            let tag = order.tag(*node);
            let chain = *number[usize::from(tag)].get_or_insert_with(|| {
                chains.push((tag, Vec::new()));
                chains.len() - 1
            });
            places.push((chain, chains[chain].1.len()));
            chains[chain].1.push(member);
        }
        let mut crowd = Self { all, chains, places, over: None };
        if crowd.all.len().saturating_mul(crowd.chains.len()) <= MOST_STEPS {
            crowd.over = Some(crowd.compare(order));
        }
        crowd
    }

    fn compare(&self, order: &Order) -> Vec<(usize, usize, usize)> {
        let mut over = Vec::new();
        for (own, (_, members)) in self.chains.iter().enumerate() {
            for (chain, (tag, others)) in self.chains.iter().enumerate().filter(|(chain, _)| *chain != own) {
                let mut count = 0;
                for member in members {
                    let known = order.known(*tag, self.all[*member].0);
                    let before = count;
                    while others.get(count).is_some_and(|other| order.position(self.all[*other].0) <= known) {
                        count += 1;
                    }
                    if count > before {
                        over.push((*member, chain, count));
                    }
                }
            }
        }
        over
    }

    /// The heaviest of each chain together: no set weighs more.
    fn bound(&self) -> u64 {
        let heaviest = |members: &Vec<usize>| members.iter().map(|member| u64::from(self.all[*member].1)).max();
        self.chains.iter().filter_map(|(_, members)| heaviest(members)).sum()
    }
}

/// The heaviest set of members that may run at once, as nodes and weights, if it weighs more than `limit`. None as
/// well when the search would take too long.
pub(super) fn heaviest(crowd: &Crowd, limit: u64) -> Option<Vec<(u32, u32)>> {
    if crowd.bound() <= limit {
        return None;
    }
    let network = Network::of(crowd).and_then(|mut network| network.saturate().then_some(network));
    let Some(mut network) = network else {
        say!(Debug, "{} operators that need cores are too many to compare all sets of them", crowd.all.len());
        return None;
    };
    let reached = network.levels();
    let runs = |member: &usize| reached[start(*member)] != 0 && reached[end(*member)] == 0;
    let set: Vec<_> = (0..crowd.all.len()).filter(runs).map(|member| crowd.all[member]).collect();
    (set.iter().map(|(_, weight)| u64::from(*weight)).sum::<u64>() > limit).then_some(set)
}

fn start(member: usize) -> usize {
    2 + 2 * member
}

fn end(member: usize) -> usize {
    3 + 2 * member
}

/// Edges with what they can still take; each has its reverse right behind it.
struct Network {
    to: Vec<usize>,
    left: Vec<u64>,
    /// Edges that leave a vertex.
    from: Vec<Vec<u32>>,
    steps: usize,
}

impl Network {
    /// None when not everything was compared.
    fn of(crowd: &Crowd) -> Option<Self> {
        let over = crowd.over.as_ref()?;
        let vertices = start(crowd.all.len());
        let mut network = Self { to: Vec::new(), left: Vec::new(), from: vec![Vec::new(); vertices], steps: 0 };
        for (member, (_, weight)) in crowd.all.iter().enumerate() {
            network.edge(SOURCE, start(member), u64::from(*weight));
            network.edge(end(member), SINK, u64::from(*weight));
            network.edge(end(member), start(member), NO_LIMIT);
            let (chain, place) = crowd.places[member];
            if let Some(before) = place.checked_sub(1) {
                network.edge(start(member), end(crowd.chains[chain].1[before]), NO_LIMIT);
            }
        }
        for (member, chain, count) in over {
            network.edge(start(*member), end(crowd.chains[*chain].1[count - 1]), NO_LIMIT);
        }
        Some(network)
    }

    fn edge(&mut self, a: usize, b: usize, most: u64) {
        for (from, to, left) in [(a, b, most), (b, a, 0)] {
            self.from[from].push(self.to.len() as u32);
            self.to.push(to);
            self.left.push(left);
        }
    }

    /// Sends as much as goes from the source to the sink (Dinic); false when that takes too long.
    fn saturate(&mut self) -> bool {
        loop {
            let levels = self.levels();
            if levels[SINK] == 0 {
                return true;
            }
            if !self.block(&levels) {
                return false;
            }
        }
    }

    /// Distance of each vertex from the source, which has 1; 0 for what cannot be reached.
    fn levels(&mut self) -> Vec<u32> {
        let mut levels = vec![0; self.from.len()];
        levels[SOURCE] = 1;
        let (mut queue, mut next) = (vec![SOURCE], 0);
        while let Some(vertex) = queue.get(next).copied() {
            next += 1;
            for edge in &self.from[vertex] {
                let (to, left) = (self.to[*edge as usize], self.left[*edge as usize]);
                if left > 0 && levels[to] == 0 {
                    levels[to] = levels[vertex] + 1;
                    queue.push(to);
                }
            }
        }
        self.steps += self.to.len();
        levels
    }

    /// Sends what goes along shortest ways.
    fn block(&mut self, levels: &[u32]) -> bool {
        let mut tried = vec![0; self.from.len()];
        let (mut way, mut vertex) = (Vec::<usize>::new(), SOURCE);
        loop {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return false;
            }
            if vertex == SINK {
                self.send(&way);
                self.steps += way.len();
                way.clear();
                vertex = SOURCE;
            } else if let Some(edge) = self.from[vertex].get(tried[vertex]).map(|edge| *edge as usize) {
                let to = self.to[edge];
                if self.left[edge] > 0 && levels[to] == levels[vertex] + 1 {
                    way.push(edge);
                    vertex = to;
                } else {
                    tried[vertex] += 1;
                }
            } else if let Some(edge) = way.pop() {
                vertex = self.to[edge ^ 1];
                tried[vertex] += 1;
            } else {
                return true;
            }
        }
    }

    /// Sends as much along a way as its tightest edge takes.
    fn send(&mut self, way: &[usize]) {
        let most = way.iter().map(|edge| self.left[*edge]).min().unwrap_or(0);
        for edge in way {
            self.left[*edge] -= most;
            self.left[*edge ^ 1] += most;
        }
    }
}
