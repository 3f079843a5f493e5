//! One size of the inputs is a symbol: for each of its values the same bytes as on a stream.

use crate::plan::Mode;

use super::super::random::Random;
use super::super::symbolic::resized as with_size;
use super::*;

/// The steps with `value` for `size` of the inputs; none where an operator takes no such operands.
fn resized(library: &Library, steps: &[Step], size: usize, value: usize) -> Option<Vec<Step>> {
    let mut all: Vec<Step> = Vec::new();
    for step in steps {
        let mut case = with_size(&step.case, size, value);
        for (operand, from) in case.operands.iter_mut().zip(&step.from) {
            match from.earlier() {
                Some((step, which)) => operand.clone_from(&all[step].case.operands[which]),
                None if *from == From::Made && !is_declared(&step.case) => *operand = None,
                None => {}
            }
        }
        let (case, inferred) = case.completed();
        inferred.ok()?;
        if case.judged() != Some(true) || is_half_empty(&case) || !runs(library, &case, &fresh(library, &case)) {
            return None;
        }
        all.push(Step { case, ..step.clone() });
    }
    Some(all)
}

/// Sizes of what the program is given, of those that the symbol may be.
fn sizes(steps: &[Step]) -> Vec<usize> {
    inputs(steps).into_iter().flat_map(|(_, (_, dims), _)| dims).filter(|size| (1..=8).contains(size)).collect()
}

#[test]
fn random_plans_with_a_symbol_leave_the_same_bytes_for_each_of_its_values() {
    let library = Library::new();
    let cases = all_cases(&library);
    let (mut built, mut others, mut refused) = (0, 0, 0);
    let first = super::first_seed();
    for seed in first..first + 1000 {
        let mut random = Random::new(&format!("symbol {seed}"));
        let steps = program(&mut random, &cases);
        let sizes = sizes(&steps);
        if sizes.is_empty() {
            continue;
        }
        let size = random.one_of(&sizes);
        let Ok(plan) = written(&steps, &Form { symbol: Some(size), ..PLAIN }) else {
            refused += 1;
            continue;
        };
        built += 1;
        for (turn, value) in [size, 0, 1, 5, 7].into_iter().enumerate() {
            let Some(steps) = resized(&library, &steps, size, value) else { continue };
            let expected = expected(&library, &steps);
            let mode = if (seed + turn) % 2 == 0 { Mode::Captured } else { Mode::Eager };
            check_run(&library, &steps, &plan, mode, &expected);
            check_simulated_with(&steps, &plan, seed as u64, &given(&steps).symbol("n", value), &expected);
            others += usize::from(value != size);
        }
    }
    if !is_filtered() {
        assert!(
            built > 500 && refused < 400 && others > 1000,
            "{built} built, {refused} refused, {others} with other sizes"
        );
    }
}
