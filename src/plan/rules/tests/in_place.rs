//! Operators that leave other numbers where a result is the very memory of an operand are refused in place.

use std::collections::BTreeSet;

use crate::op::Access;

use super::super::{places, rule, works_in_place};
use super::bytes::{all_bytes, bytes, can_run, counting, fresh, is_compared, runs};
use super::signatures::signatures;
use super::{Case, Library, tried};

/// Whether all that is written is the same where `operand` is the memory of `result`; none where the operator does not
/// run on what they hold.
fn leaves_the_same(library: &Library, case: &Case, operand: usize, result: usize) -> Option<bool> {
    let compared = is_compared(case);
    let (mut apart, mut together) = (fresh(library, case), fresh(library, case));
    if case.accesses()[result] == Access::ReadWrite {
        // Both are read, so both hold the same.
        let held = bytes(case, result);
        for all in [&mut apart, &mut together] {
            all[operand] = library.device.upload(&held).unwrap().into_shared();
        }
    }
    together[result] = together[operand].clone();
    if !runs(library, case, &apart) {
        return None;
    }
    if !runs(library, case, &together) {
        return Some(false);
    }
    let (apart, together) = (all_bytes(&apart), all_bytes(&together));
    Some((0..compared.len()).all(|at| !compared[at] || apart[at] == together[at]))
}

#[test]
fn what_no_rule_knows_is_not_in_place() {
    let all = signatures();
    let unknown: Vec<_> = all.iter().filter(|one| rule(&one.name).is_none()).collect();
    assert!(unknown.len() > 200, "{} operators", unknown.len());
    for one in unknown {
        assert!(!works_in_place(&one.name, 0, 1, 1..2) && !works_in_place(&one.name, 1, 0, 0..1), "{}", one.name);
    }
    assert!(!works_in_place("Abs", 0, 1, 1..2) && !works_in_place("somethingElse", 0, 1, 1..2));
    assert!(works_in_place("aclnnAbs", 0, 1, 1..2));
}

#[test]
fn what_a_plan_takes_in_place_leaves_the_same_numbers() {
    let library = Library::new();
    let turns = std::env::var("RACL_RULES_TURNS").map_or(40, |turns| turns.parse().unwrap());
    let (mut taken, mut refused, mut same) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for signature in signatures().iter().filter(|one| rule(&one.name).is_some()) {
        let cases = tried(&library, signature, turns, &mut Vec::new());
        for case in cases.iter().filter(|case| can_run(case)).map(|case| counting(&library, case)) {
            let (accesses, compared) = (case.accesses(), is_compared(&case));
            let written = places(&accesses, |access| access.writes());
            for result in (0..accesses.len()).filter(|at| accesses[*at].writes() && compared[*at]) {
                for operand in (0..accesses.len()).filter(|at| accesses[*at] == Access::Read) {
                    if case.operands[operand] != case.operands[result] {
                        continue;
                    }
                    let Some(alike) = leaves_the_same(&library, &case, operand, result) else { continue };
                    let pair = (case.name.clone(), operand, result);
                    match (alike, works_in_place(&case.name, operand, result, written.clone())) {
                        (true, true) => drop(same.insert(case.name.clone())),
                        (true, false) => {}
                        (false, true) => drop(taken.insert(pair)),
                        (false, false) => drop(refused.insert(case.name.clone())),
                    }
                }
            }
        }
    }
    assert!(taken.is_empty(), "taken in place, and left other numbers or failed: {taken:?}");
    assert!(refused.len() > 80 && same.len() > 300, "{} refused, {} taken", refused.len(), same.len());
}
