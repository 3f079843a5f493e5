//! Which operators of the mock have a rule.

use super::super::rule;
use super::signatures::signatures;

/// Those without one, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("aclnnMaskedSelect", "the size depends on data"),
    ("aclnnNonzero", "the size depends on data"),
    ("aclnnNonzeroV2", "the size depends on data"),
    ("aclnnUnique", "the size depends on data"),
    ("aclnnUnique2", "the size depends on data"),
    ("aclnnUniqueConsecutive", "the size depends on data"),
    ("aclnnUniqueDim", "the size depends on data"),
];

#[test]
fn every_operator_that_the_mock_computes_has_a_rule_or_a_reason() {
    let all = signatures();
    let without: Vec<&str> =
        all.iter().filter(|one| one.on_mock && rule(&one.name).is_none()).map(|one| one.name.as_str()).collect();
    let known: Vec<&str> = WITHOUT.iter().map(|(name, _)| *name).collect();
    assert_eq!(without, known);
    let unknown: Vec<&&str> = super::super::FAMILIES
        .iter()
        .copied()
        .flatten()
        .flat_map(|(names, _)| names.iter())
        .filter(|name| !all.iter().any(|one| one.on_mock && one.name.strip_prefix("aclnn") == Some(name)))
        .collect();
    assert!(unknown.is_empty(), "rules of what the mock does not compute: {unknown:?}");
    let names = super::super::FAMILIES.iter().copied().flatten().flat_map(|(names, _)| names.iter());
    let ruled = all.iter().filter(|one| rule(&one.name).is_some()).count();
    assert_eq!(names.count(), ruled, "an operator has two rules");
}
