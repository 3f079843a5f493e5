//! Choices of a plan on real streams: the graph that is recorded chooses, else the host does.

use std::cell::RefCell;
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result, ResultExt as _};
use crate::graph::Condition;
use crate::memory::SharedBuffer;
use crate::op::{self, Tensor};
use crate::plan::recipe::choice::{self, Arms, ChoiceKind};
use crate::plan::recipe::{NodeKind, Recipe};
use crate::stream::Stream;

use super::host::here;
use super::issue::{At, HostSide, Issue, download};
use super::options::Mode;
use super::piece::Piece;

/// How the work of a plan reaches the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Eager,
    /// One graph, which chooses.
    Graph,
    /// A graph for each piece of work without choices: the host chooses among them. Also for sizes at which an arm is not
    /// possible.
    Segments,
}

impl Form {
    pub(super) fn of(mode: Mode, recipe: &Recipe, context: &ContextInner) -> Self {
        let chooses = || recipe.nodes.iter().any(|node| matches!(node.kind, NodeKind::Begin(_)));
        match mode {
            Mode::Eager => Self::Eager,
            Mode::Captured if chooses() && !context.has_conditions() => Self::Segments,
            Mode::Captured => Self::Graph,
        }
    }

    /// That no run waits for ever: where the host chooses, it waits for what may itself wait for the host.
    pub(super) fn check_waits(self, recipe: &Recipe) -> Result<()> {
        let (run, advice) = match self {
            Self::Graph => return Ok(()),
            Self::Eager => ("an eager run", "capture the plan"),
            Self::Segments => {
                ("a run on a library without conditional graphs", "releases after CANN 9.0 capture the plan")
            }
        };
        let has = |wanted: fn(NodeKind) -> bool| recipe.nodes.iter().position(|node| wanted(node.kind));
        let choice = has(|kind| matches!(kind, NodeKind::Begin(_)));
        let gate = has(|kind| matches!(kind, NodeKind::ExternalWait(_)));
        let (Some(choice), Some(gate)) = (choice, gate) else { return Ok(()) };
        let (choice, gate) = (recipe.describe(choice as u32), recipe.describe(gate as u32));
        let text = format!("{run} waits for the condition of {choice}, which may wait at {gate}: {advice}");
        Err(Error::new(ErrorKind::NotSupported, text))
    }
}

/// Reads the numbers by which the host chooses.
#[derive(Default)]
pub(super) struct Decider {
    /// Pinned memory for numbers of 1, 2, 4 and 8 bytes.
    sides: [HostSide; 4],
    /// How many it has read.
    pub(super) decided: u64,
}

impl Decider {
    /// The number of a condition. Blocks until `stream` has done what it was given so far, and reports its errors.
    pub(super) fn number(&mut self, condition: &Piece, stream: &Stream) -> Result<u64> {
        let side = self.sides.get_mut(condition.bytes.trailing_zeros() as usize);
        let side = side.ok_or_else(|| Error::new(ErrorKind::Internal, "a condition that is no number"))?;
        if matches!(side, HostSide::Gone) {
            *side = HostSide::Here(stream.context().pinned(condition.bytes)?);
        }
        download(side, condition, stream)?;
        let waited = stream.synchronize();
        // Also after a failure, since the copy has the memory.
        let number = waited.and(here(side).map(|bytes| choice::number(bytes)))?;
        self.decided += 1;
        Ok(number)
    }
}

/// A byte of a number that is not 0.
const SET: u8 = 1;

impl Issue<'_> {
    /// Issues the choice that begins at a node to its stream; gives the node behind it.
    pub(super) fn choice(&mut self, begin: u32, kind: ChoiceKind, stream: &Stream) -> Result<u32> {
        let recipe = self.source.recipe;
        let condition = self.piece(recipe.accesses_of(&recipe.nodes[begin as usize])[0])?;
        let arms = recipe.arms(begin);
        match self.decider {
            None => self.record((begin, kind), &condition, &arms, stream)?,
            Some(_) => self.decide(kind, &condition, &arms, stream)?,
        }
        Ok(arms.end + 1)
    }

    /// Waits for the condition, and issues what it chooses.
    fn decide(&mut self, kind: ChoiceKind, condition: &Piece, arms: &Arms, stream: &Stream) -> Result<()> {
        let mut rounds = 0;
        while !kind.is_spent(rounds) {
            let Some(decider) = &mut self.decider else { return Ok(()) };
            let number = decider.number(condition, stream)?;
            let Some(arm) = kind.arm(number, arms.all.len()) else { return Ok(()) };
            self.range(arms.all[arm].clone(), None)?;
            rounds = rounds.saturating_add(1);
        }
        Ok(())
    }

    /// Records all arms as bodies of the graph.
    fn record(&mut self, (begin, kind): (u32, ChoiceKind), from: &Piece, arms: &Arms, stream: &Stream) -> Result<()> {
        let at = self.at;
        let number = stream.condition(Some(0))?;
        let set = |s: &Stream| cell(&number, from.bytes).and_then(|cell| from.copy_to(s, &cell, at));
        set(stream)?;
        let (counters, issue) = (self.counters, RefCell::new(self));
        let arm = |index: usize, s: &Stream| {
            let issued = issue.borrow_mut().range(arms.all[index].clone(), Some(s));
            issued.context_with(|| arm_of(kind, index, arms.all.len()))
        };
        match kind {
            ChoiceKind::If => stream.if_else(&number, |s| arm(0, s), |s| arm(1, s)),
            ChoiceKind::While(None) => stream.repeat_while(&number, |s| arm(0, s).and_then(|()| set(s))),
            ChoiceKind::While(Some(most)) => {
                let rounds = Rounds::new(counters, begin)?;
                rounds.begin(stream, most)?;
                stream.repeat_while(&number, |s| {
                    arm(0, s)?;
                    let end = |s: &Stream| cell(&number, from.bytes).and_then(|cell| cell.fill(s, 0, at));
                    rounds.next(s, at, set, end)
                })
            }
            ChoiceKind::Switch => {
                // A graph does nothing for other numbers, so that what is left is told by a number of its own.
                let (left, cases) = (stream.condition(Some(0))?, arms.all.len() - 1);
                let tell = |s: &Stream, byte: u8| cell(&left, 1).and_then(|cell| cell.fill(s, byte, at));
                tell(stream, SET)?;
                stream.switch(&number, cases, |case, s| arm(case, s).and_then(|()| tell(s, 0)))?;
                stream.if_then(&left, |s| arm(cases, s))
            }
        }
    }
}

/// One of the arms of a choice, for a failure while it is recorded: a run might not have come there.
pub(super) fn arm_of(kind: ChoiceKind, index: usize, arms: usize) -> String {
    format!("{}, which is captured whether a run chooses it or not", name_of(kind, index, arms))
}

/// One of the arms of a choice that a run has chosen.
pub(super) fn chosen_arm(kind: ChoiceKind, index: usize, arms: usize) -> String {
    format!("{}, which this run chose", name_of(kind, index, arms))
}

fn name_of(kind: ChoiceKind, index: usize, arms: usize) -> String {
    match kind {
        ChoiceKind::If if index == 0 => "`then`".to_owned(),
        ChoiceKind::While(_) => "the body of the loop".to_owned(),
        ChoiceKind::Switch if index + 1 < arms => format!("case {index}"),
        ChoiceKind::If | ChoiceKind::Switch => "`otherwise`".to_owned(),
    }
}

/// The first bytes of the number of a condition.
fn cell(condition: &Condition, bytes: usize) -> Result<Piece> {
    let cell = condition.cell::<u8>().context_with(|| "the number of a choice".to_owned())?;
    Ok(Piece { allocation: Arc::clone(cell.allocation()), offset: 0, bytes })
}

/// Memory that counts the rounds of loops with a limit, by the node where each begins; for graphs that choose.
pub(super) type Counters = HashMap<u32, Piece>;

pub(super) fn counters(recipe: &Recipe, context: &Arc<ContextInner>, form: Form) -> Result<Counters> {
    let limited = |kind: NodeKind| form == Form::Graph && matches!(kind, NodeKind::Begin(ChoiceKind::While(Some(_))));
    let begins = (0..).zip(&recipe.nodes).filter(|(_, node)| limited(node.kind));
    begins.map(|(begin, _)| Ok((begin, Piece::new(context, size_of::<i32>() as u64)?))).collect()
}

/// The rounds that a loop of a graph has left.
struct Rounds {
    left: Piece,
}

impl Rounds {
    fn new(counters: &Counters, begin: u32) -> Result<Self> {
        let left = counters.get(&begin).cloned();
        let left = left.ok_or_else(|| Error::new(ErrorKind::Internal, "a loop with a limit and no counter"))?;
        Ok(Self { left })
    }

    fn number(&self) -> Result<Tensor<i32>> {
        Tensor::over(SharedBuffer::within(&self.left.allocation, self.left.offset, 1), [1])
    }

    /// In front of the loop, which may be in another one.
    fn begin(&self, stream: &Stream, most: NonZeroU32) -> Result<()> {
        let most =
            i32::try_from(most.get()).map_err(|_| Error::new(ErrorKind::Internal, "a limit that is too high"))?;
        op::fill(stream, &mut self.number()?, most)
    }

    /// Behind a round: whether there is one more is what `set` says, or `end` when none is left.
    fn next(
        &self,
        stream: &Stream,
        at: At,
        set: impl FnOnce(&Stream) -> Result<()>,
        end: impl FnOnce(&Stream) -> Result<()>,
    ) -> Result<()> {
        op::adds_inplace(stream, &mut self.number()?, -1_i32)?;
        let left = stream.condition(Some(0))?;
        self.left.copy_to(stream, &cell(&left, self.left.bytes)?, at)?;
        stream.if_else(&left, set, end)
    }
}
