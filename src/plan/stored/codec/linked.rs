//! Plans that a stored plan calls: which they are, and that the calls fit them.

use crate::error::{Error, ErrorKind, Result};
use crate::plan::Plan;
use crate::plan::calls::{
    check_choice, check_choice_operands, check_info, check_operands, check_pieces, check_whole,
};
use crate::plan::recipe::callable::Callee;
use crate::plan::recipe::function::Body;
use crate::plan::recipe::{NodeKind, Recipe};

use super::{Decoded, Unlinked};

/// The plans that a recipe calls, with those that they call: each once, and before those that call it.
pub(crate) fn callees(recipe: &Recipe) -> Vec<Callee> {
    let mut all = Vec::new();
    add(&mut all, recipe);
    all
}

fn add(all: &mut Vec<Callee>, recipe: &Recipe) {
    for callee in &recipe.called {
        if !all.iter().any(|known| known.is(callee)) {
            add(all, callee.0.recorded());
            all.push(callee.clone());
        }
    }
}

/// That calls fit the plans that they call.
pub(super) fn check(recipe: &Recipe) -> Result<()> {
    let wrong = |text: String| Err(Error::new(ErrorKind::InvalidPlan, text));
    for (index, info) in recipe.calls.iter().enumerate() {
        check_info(recipe, info).or_else(|text| wrong(format!("call {index}: {text}")))?;
    }
    for (index, choice) in recipe.choices.iter().enumerate() {
        check_choice(recipe, choice).or_else(|text| wrong(format!("choice {index}: {text}")))?;
    }
    for (index, node) in recipe.nodes.iter().enumerate() {
        let accesses = recipe.accesses_of(node);
        let fits = match node.kind {
            NodeKind::Call(call) => check_operands(recipe, &recipe.calls[call as usize], accesses),
            NodeKind::Choose(choice) => check_choice_operands(recipe, &recipe.choices[choice as usize], accesses),
            _ => continue,
        };
        fits.or_else(|text| wrong(format!("node {index}: {text}")))?;
    }
    check_whole(recipe).or_else(wrong)
}

/// What checks write out of the plans of one file: a few bytes may stand for many pieces, time and again.
#[derive(Default)]
struct WrittenOut {
    known: Vec<Callee>,
    pieces: u64,
}

impl WrittenOut {
    /// Before the calls of a recipe are checked.
    fn add(&mut self, recipe: &Recipe) -> Result<()> {
        let sized = recipe.calls.iter().filter(|info| !info.symbols.is_empty());
        for callee in sized.filter_map(|info| recipe.called.get(info.callee as usize)) {
            if !self.known.iter().any(|known| known.is(callee)) {
                self.pieces = self.pieces.saturating_add(callee.0.facts().pieces);
                self.known.push(callee.clone());
            }
        }
        check_pieces(self.pieces).map_err(|text| Error::new(ErrorKind::InvalidPlan, format!("plans in it: {text}")))
    }
}

impl Plan {
    /// A plan from a file and the plans that it calls, with the code that a recipe needs; what is wrong is told apart
    /// by whoever calls.
    pub(crate) fn link<E>(
        decoded: Decoded,
        code: impl Fn(&Recipe) -> Result<Vec<Body>, E>,
        broken: impl Fn(Error) -> E,
    ) -> Result<Self, E> {
        let Decoded { callees, mut recipe, called, lints } = decoded;
        let mut plans: Vec<Self> = Vec::with_capacity(callees.len());
        let mut written = WrittenOut::default();
        for Unlinked { mut recipe, called } in callees {
            recipe.called = called.iter().map(|index| plans[*index as usize].callee()).collect();
            written.add(&recipe).map_err(&broken)?;
            let bodies = code(&recipe)?;
            plans.push(Self::from_decoded(recipe, Vec::new(), bodies).map_err(&broken)?);
        }
        recipe.called = called.iter().map(|index| plans[*index as usize].callee()).collect();
        written.add(&recipe).map_err(&broken)?;
        let bodies = code(&recipe)?;
        Self::from_decoded(recipe, lints, bodies).map_err(broken)
    }
}
