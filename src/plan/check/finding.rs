//! What the builder and the checks find wrong, or worth a look.

use std::error::Error as StdError;
use std::fmt;

use crate::error::{Error, ErrorKind, List};
use crate::plan::recipe::Recipe;

/// What kind of thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// Two accesses to the same bytes, one of them a write, in no order.
    UnorderedAccess,
    /// Bytes that are read before anything was written to them, or since an operator was told to leave them; or an output
    /// that is not written as a whole.
    ReadBeforeWrite,
    /// An event that is waited for before it was recorded.
    WaitBeforeRecord,
    /// A second event, input, output or symbol of the same name.
    Duplicate,
    /// A value, event or dimension of another plan.
    Foreign,
    /// An event that is recorded twice without saying so.
    RecordedTwice,
    /// A tag or name that cannot be used.
    Name,
    /// Operands that do not fit the operator.
    Operand,
    /// A prefetch that cannot be meant.
    Prefetch,
    /// Waits for signals from outside that can never all be given.
    Deadlock,
    /// Operators that need more cores at once than there are: one alone, or several that may run at once. What is
    /// found is said at [`Foreign::needs`](crate::plan::Foreign::needs).
    CoreDeadlock,
    /// A core limit that the device does not have.
    CoreLimit,
    /// More streams than the device has left.
    Streams,
    /// More events than the device has left.
    Events,
    /// Options that exclude each other, or what was written.
    Options,
    /// A plan that cannot be called, or not like this.
    Call,
    /// A lint: an event that nothing waits for.
    NeverWaited,
    /// A lint: a value and its later version are both used afterwards.
    BothVersions,
    /// A lint: memory that was prefetched before.
    RepeatedPrefetch,
    /// A lint: a frozen input that the plan writes.
    FrozenWritten,
    /// A note: a closure without a name, so that the plan cannot be stored.
    Unnamed,
    /// A lint: a value of which it cannot be told whether all that is read was written before, or of which an operator
    /// writes no more than what it finds, or a plan that is called leaves a part.
    MaybeUnwritten,
}

impl FindingKind {
    /// Whether a plan with it can run all the same.
    #[must_use]
    pub fn is_lint(self) -> bool {
        matches!(
            self,
            Self::NeverWaited
                | Self::BothVersions
                | Self::RepeatedPrefetch
                | Self::FrozenWritten
                | Self::Unnamed
                | Self::MaybeUnwritten
        )
    }
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// What, where, and what to do, on one line.
    pub message: String,
    /// Positions of the operators concerned, in the order in which the plan issues its work.
    pub positions: Vec<u32>,
}

impl Finding {
    pub(crate) fn new(kind: FindingKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), positions: Vec::new() }
    }

    pub(crate) fn at(mut self, positions: &[u32]) -> Self {
        self.positions = positions.to_vec();
        self
    }

    pub(crate) fn into_error(self) -> Error {
        into_error(vec![self])
    }
}

impl Finding {
    /// A lint of the builder for the new positions of its work; none when that is gone, and of the checks, which find
    /// theirs again.
    pub(crate) fn moved(&self, (old, new): (&Recipe, &Recipe), now: impl Fn(u32) -> Option<u32>) -> Option<Self> {
        if self.kind == FindingKind::MaybeUnwritten {
            return None;
        }
        let (mut message, mut at) = (self.message.clone(), Vec::new());
        for position in &self.positions {
            let now = now(*position)?;
            message = message.replace(&old.describe(*position), &new.describe(now));
            at.push(now);
        }
        Some(Self::new(self.kind, message).at(&at))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// All findings of one error: its source. Shown are those that the error's own text does not have.
#[derive(Debug)]
struct Findings(Vec<Finding>);

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, finding) in self.0.iter().skip(1).enumerate() {
            let separator = if i == 0 { "also " } else { "; " };
            write!(f, "{separator}{finding}")?;
        }
        Ok(())
    }
}

impl StdError for Findings {}

impl List for Findings {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, index: usize) -> &dyn fmt::Display {
        &self.0[index]
    }
}

impl Error {
    /// What is wrong with a plan, of an error of the kind [`ErrorKind::InvalidPlan`]; empty for others. A check ends
    /// at a thousand of them.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        let list = self.list().map(|list| list as &(dyn StdError + 'static));
        list.and_then(|list| list.downcast_ref::<Findings>()).map_or(&[], |found| &found.0)
    }
}

/// The error of a plan with these findings, of which there is one at least.
pub(crate) fn into_error(findings: Vec<Finding>) -> Error {
    let first = findings.first().map(|finding| finding.message.clone()).unwrap_or_default();
    let text = match findings.len() {
        0 | 1 => first,
        n => format!("{first} (and {} more)", n - 1),
    };
    Error::new(ErrorKind::InvalidPlan, text).with_list(Findings(findings))
}
