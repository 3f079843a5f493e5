//! What was changed in a plan after it was recorded.

use std::fmt;

use crate::plan::recipe::Recipe;

/// Work of a plan, as it is named in a report.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Work {
    /// What it does: the name of the operator.
    pub operator: String,
    /// Its position in the plan in which it was found.
    pub position: u32,
    /// The name of its stream.
    pub stream: String,
    /// File and line of the code that recorded it.
    pub place: String,
}

impl Work {
    pub(crate) fn of(recipe: &Recipe, position: u32) -> Self {
        let node = &recipe.nodes[position as usize];
        Self {
            operator: recipe.label(node),
            position,
            stream: recipe.tags[usize::from(node.tag)].name.clone(),
            place: recipe.places.show(node.place),
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operator, position, stream, place } = self;
        write!(f, "{operator} (#{position}, stream {stream:?}, {place})")
    }
}

/// One thing that [`Plan::optimise`](crate::plan::Plan::optimise) changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The pass: the name of the method of [`Passes`](crate::plan::Passes) that turns it on.
    pub pass: &'static str,
    /// The work that is not in the plan any more.
    pub work: Work,
    /// Why it is not needed.
    pub why: &'static str,
    /// The work whose result is used in place of its own.
    pub instead: Option<Work>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} is gone, {}", self.pass, self.work, self.why)?;
        self.instead.as_ref().map_or(Ok(()), |instead| write!(f, " {instead}"))
    }
}
