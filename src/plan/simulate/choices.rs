//! Where a simulated run goes on at the brackets of a choice.

use crate::plan::recipe::choice::{Arms, ChoiceKind};
use crate::plan::recipe::{NodeKind, Recipe};

/// Most rounds of a loop without a lower limit: as on the mock.
const MOST_ROUNDS: u32 = 1_000_000;

/// A choice whose end is still to come.
#[derive(Debug, Clone)]
pub(super) struct Open {
    kind: ChoiceKind,
    arms: Arms,
    rounds: u32,
}

/// The node behind a bracket, in a run in which its condition is `number`; `open` are the choices around it.
pub(super) fn next(recipe: &Recipe, bracket: u32, number: u64, open: &mut Vec<Open>) -> Result<u32, String> {
    match recipe.nodes[bracket as usize].kind {
        NodeKind::Begin(kind) => open.push(Open { kind, arms: recipe.arms(bracket), rounds: 0 }),
        NodeKind::End if open.last().is_some_and(|one| one.kind.is_loop()) => {}
        NodeKind::End => {
            open.pop();
            return Ok(bracket + 1);
        }
        // An arm is over.
        _ => return Ok(open.last().map_or(bracket, |one| one.arms.end)),
    }
    let Some(one) = open.last_mut() else { return Ok(bracket + 1) };
    let chosen = if one.kind.is_spent(one.rounds) { None } else { one.kind.arm(number, one.arms.all.len()) };
    let Some(arm) = chosen else {
        let end = one.arms.end;
        open.pop();
        return Ok(end + 1);
    };
    one.rounds += 1;
    if one.rounds > MOST_ROUNDS {
        return Err(format!("a loop of more than {MOST_ROUNDS} rounds"));
    }
    Ok(one.arms.all[arm].start)
}
