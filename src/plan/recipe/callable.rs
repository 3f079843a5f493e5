//! Plans that a plan calls, and the calls: what both sides know of each other.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::plan::symbols::dim::Dim;

use super::function::Body;
use super::{Mode, Recipe, Tag};

/// A plan as others call it: recorded once, by whoever builds plans.
pub(crate) trait Callable: Send + Sync {
    /// As it was recorded.
    fn recorded(&self) -> &Recipe;

    /// With the calls that it makes itself written out, but for those of choices, and the code of its functions.
    fn inlined(&self) -> (&Recipe, &[Body]);

    /// With all calls that it makes itself written out, and the code of its functions.
    fn written_out(&self) -> (&Recipe, &[Body]);

    /// What a caller has to know.
    fn facts(&self) -> &Facts;

    /// As what it was before somebody called it.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// A plan that is called; the very same one is one entry of a recipe.
#[derive(Clone)]
pub(crate) struct Callee(pub(crate) Arc<dyn Callable>);

impl Callee {
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl PartialEq for Callee {
    fn eq(&self, other: &Self) -> bool {
        self.is(other) || self.0.recorded() == other.0.recorded()
    }
}

impl fmt::Debug for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Callee").field(self.0.recorded()).finish()
    }
}

/// How a plan is called. Calls with other operands share it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct CallInfo {
    /// Which of the plans that are called.
    pub(crate) callee: u32,
    /// What its symbols are here.
    #[cfg_attr(feature = "cache", serde(with = "super::wire::dims"))]
    pub(crate) symbols: Vec<Dim>,
    /// How often it runs, one time behind the other.
    pub(crate) times: u32,
    /// So many of its results are its first operands the next time.
    pub(crate) carried: u16,
    /// Whether all its work goes to the stream of the call.
    pub(crate) collapsed: bool,
}

/// What a caller has to know of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Its inputs, in order.
    pub(crate) params: Vec<Param>,
    /// What the memory of its inputs and outputs holds behind it.
    pub(crate) behind: Vec<Behind>,
    /// Why nothing can call it.
    pub(crate) refused: Option<String>,
    /// Its streams but for the origin, with those of the plans that it calls.
    pub(crate) tags: Vec<Tag>,
    /// Core limits, with those of the plans that it calls.
    pub(crate) cores: usize,
    /// How much it is with its calls written out: nodes, accesses, values, storages and events.
    pub(crate) pieces: u64,
    /// Of those the work: what is no record and no wait.
    pub(crate) operators: u64,
    /// How deep its calls go; 0 for a plan without.
    pub(crate) depth: u32,
    /// Whether there are choices in it or in what it calls.
    pub(crate) chooses: bool,
    /// How many of its nodes are done once, and not by runs; where it is called, each run does them.
    pub(crate) once: usize,
    /// Whether code without a name is in it or in what it calls.
    pub(crate) unnamed: bool,
}

/// What a plan does with an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Param {
    pub(crate) mode: Mode,
    /// Whether work uses it that cannot be updated inside captured graphs.
    pub(crate) stays: bool,
    /// Whether byte copies use it, which begin at whole blocks.
    pub(crate) aligned: bool,
    /// Whether an operator is told to leave all of it, and nothing writes it again: it holds anything then.
    pub(crate) left: bool,
}

/// What of the memory of an input or an output a plan may not have written, though it counts as written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Behind {
    /// Only as much is written as the device finds.
    pub(crate) found: bool,
    /// An operator is told to leave a part that nothing certainly writes again: that holds anything.
    pub(crate) in_part: bool,
}
