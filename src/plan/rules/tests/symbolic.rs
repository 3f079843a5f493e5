//! Rules over symbols: what they say is what they say of each value of the symbol.

use crate::plan::symbols::dim::Dim;

use super::super::{Of, rule};
use super::random::Random;
use super::signatures::signatures;
use super::{Case, made};

/// Sizes of `from` are `to`.
pub(super) fn resized(case: &Case, from: usize, to: usize) -> Case {
    let mut case = case.clone();
    let sizes = case.operands.iter_mut().flatten().flat_map(|(_, dims)| dims.iter_mut());
    sizes.filter(|size| **size == from).for_each(|size| *size = to);
    case
}

/// Types and shapes for a value of the symbol.
fn with_value(results: &[Of], value: usize) -> Vec<(crate::op::DataType, Vec<Option<u64>>)> {
    let of = |of: &Of| (of.dtype, of.dims.iter().map(|dim| dim.value(&[value as u64])).collect());
    results.iter().map(of).collect()
}

#[test]
fn results_over_symbols_are_those_of_each_value() {
    let (mut compared, mut inferred) = (0, 0);
    let all = signatures();
    for signature in all.iter().filter(|one| rule(&one.name).is_some()) {
        let mut random = Random::new(&signature.name);
        let mut found = false;
        for _ in 0..60 {
            let case = made::case(&mut random, signature);
            let sizes: Vec<usize> = case.operands.iter().flatten().flat_map(|(_, dims)| dims).copied().collect();
            if sizes.is_empty() {
                continue;
            }
            let size = random.one_of(&sizes);
            let symbolic = |dim| if dim == size { Dim::symbol(0) } else { Dim::from(dim) };
            let Ok(results) = case.with_sizes(symbolic, &[(0, 8)], |_, results| results) else { continue };
            found |= !results.is_empty();
            for value in [size, 0, 1, 5, 7] {
                let fixed = resized(&case, size, value).with_rule(|_, results| results);
                // Sizes that only a device judges are not refused over symbols.
                let Ok(fixed) = fixed else { continue };
                assert_eq!(with_value(&results, value), with_value(&fixed, 0), "{value} for {size} in {case:?}");
                compared += 1;
            }
        }
        inferred += usize::from(found);
    }
    assert!(compared > 20_000 && inferred > 300, "{compared} comparisons, {inferred} operators");
}
