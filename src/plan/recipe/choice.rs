//! Choices of a plan: which of some plans runs, by a number that the device has.
//!
//! A recipe as it was recorded has one node for a choice. Written out, the work of its arms stands one behind the other
//! between two brackets, all on the stream of the choice, and with no work of other streams in between.

use std::num::NonZeroU32;
use std::ops::Range;

use crate::op::DataType;

use super::layout::Layout;
use super::{NodeKind, Recipe};

/// How a choice goes on by its condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum ChoiceKind {
    /// The first arm where it is not 0, else the second. Without a second one, as it is recorded, the first operands
    /// are the results then.
    If,
    /// The arm with that number, and the last one for all other numbers.
    Switch,
    /// The only arm, again and again, while it is not 0; with a number, no more often than that.
    While(Option<NonZeroU32>),
}

impl ChoiceKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::If => "if",
            Self::Switch => "switch",
            Self::While(_) => "while",
        }
    }

    /// Which of so many arms runs; none when it is over.
    pub(crate) fn arm(self, number: u64, arms: usize) -> Option<usize> {
        match self {
            Self::If => Some(usize::from(number == 0)),
            Self::Switch => Some(usize::try_from(number).map_or(arms - 1, |number| number.min(arms - 1))),
            Self::While(_) => (number != 0).then_some(0),
        }
    }

    pub(crate) fn is_loop(self) -> bool {
        matches!(self, Self::While(_))
    }

    /// Whether no further arm may run after so many.
    pub(crate) fn is_spent(self, rounds: u32) -> bool {
        match self {
            Self::If | Self::Switch => rounds > 0,
            Self::While(most) => most.is_some_and(|most| rounds >= most.get()),
        }
    }
}

/// A choice as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ChoiceInfo {
    pub(crate) kind: ChoiceKind,
    /// What each arm calls.
    pub(crate) arms: Vec<u32>,
}

/// Most arms of a choice: a graph has no more streams.
pub(crate) const MOST_ARMS: usize = 1023;

/// Most rounds that the limit of a loop can be: graphs count them in 32 bits.
pub(crate) const MOST_ROUNDS: u32 = i32::MAX as u32;

/// Whether a number of this type can choose.
pub(crate) fn can_choose(dtype: DataType) -> bool {
    use DataType::{Bool, I8, I16, I32, I64, U8, U16, U32, U64};
    matches!(dtype, Bool | U8 | I8 | U16 | I16 | U32 | I32 | U64 | I64)
}

/// Whether a value of this layout can be a condition.
pub(crate) fn is_condition(layout: &Layout) -> bool {
    can_choose(layout.dtype) && layout.dims.iter().all(|dim| dim.as_fixed() == Some(1))
}

/// The number that the bytes of a condition are. The device has no signs here: those that are negative are large.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(all)
}

/// Where the work of a choice is in a recipe that is written out.
#[derive(Debug, Clone)]
pub(crate) struct Arms {
    pub(crate) all: Vec<Range<u32>>,
    /// The bracket behind them.
    pub(crate) end: u32,
}

impl Recipe {
    /// The arms of the choice that begins at a node.
    pub(crate) fn arms(&self, begin: u32) -> Arms {
        let (mut all, mut start, mut depth) = (Vec::new(), begin + 1, 0_u32);
        for (index, node) in (0..).zip(&self.nodes).skip(start as usize) {
            match node.kind {
                NodeKind::Begin(_) => depth += 1,
                NodeKind::End if depth > 0 => depth -= 1,
                NodeKind::Case if depth == 0 => {
                    all.push(start..index);
                    start = index + 1;
                }
                NodeKind::End => {
                    all.push(start..index);
                    return Arms { all, end: index };
                }
                _ => {}
            }
        }
        unreachable!("brackets are written in pairs")
    }

    /// How many bodies a graph of a recipe that is written out has, and how many are inside one another. A loop with a
    /// limit has two more, in its own.
    pub(crate) fn bodies(&self) -> (usize, usize) {
        let (mut arms, mut open, mut deepest) = (0, 0_usize, 0);
        for node in &self.nodes {
            match node.kind {
                NodeKind::Begin(ChoiceKind::While(Some(_))) => {
                    (arms, open) = (arms + 3, open + 1);
                    deepest = deepest.max(open + 1);
                }
                NodeKind::Begin(_) => (arms, open) = (arms + 1, open + 1),
                NodeKind::Case => arms += 1,
                NodeKind::End => open -= 1,
                _ => {}
            }
            deepest = deepest.max(open);
        }
        (arms, deepest)
    }

    /// The choice of a recipe that is written out with the most plans to choose from, and how many those are.
    pub(crate) fn widest_choice(&self) -> Option<(u32, usize)> {
        let (mut open, mut all) = (Vec::new(), Vec::new());
        for (index, node) in (0..).zip(&self.nodes) {
            match node.kind {
                NodeKind::Begin(_) => open.push((index, 1)),
                NodeKind::Case => open.last_mut().into_iter().for_each(|(_, plans)| *plans += 1),
                NodeKind::End => all.extend(open.pop()),
                _ => {}
            }
        }
        all.into_iter().max_by_key(|(_, plans)| *plans)
    }

    /// Whether some of the work that a node stands for is like this: itself, or any of the plans that it calls.
    pub(crate) fn has_inside(&self, kind: NodeKind, wanted: impl Fn(&Self, NodeKind) -> bool) -> bool {
        let calls = match kind {
            NodeKind::Call(ref call) => std::slice::from_ref(call),
            NodeKind::Choose(choice) => &self.choices[choice as usize].arms,
            _ => return wanted(self, kind),
        };
        calls.iter().any(|call| {
            let body = self.called[self.calls[*call as usize].callee as usize].0.written_out().0;
            body.nodes.iter().any(|node| wanted(body, node.kind))
        })
    }

    /// What a choice is called in messages.
    pub(super) fn choice_label(&self, choice: &ChoiceInfo) -> String {
        let operators = |arm: &u32| {
            let call = self.calls.get(*arm as usize)?;
            Some(self.called.get(call.callee as usize)?.0.facts().operators.to_string())
        };
        let all: Vec<String> = choice.arms.iter().filter_map(operators).collect();
        format!("{} of plans of {} operators", choice.kind.name(), all.join(", "))
    }
}
