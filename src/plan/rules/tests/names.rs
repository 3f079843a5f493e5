//! Lists of operators by name against the parameters of all operators.

use crate::plan::recipe::function::{is_random, works_together};

use super::signatures::{Signature, signatures};

/// The operators with such a parameter.
fn with(wanted: impl Fn(&str, &str) -> bool) -> Vec<Signature> {
    let has = |one: &Signature| one.parameters.iter().any(|(name, kind)| wanted(name, kind));
    signatures().into_iter().filter(has).collect()
}

#[test]
fn operators_of_a_group_work_together() {
    let grouped = with(|name, kind| name.starts_with("group") && kind == "text");
    assert!(grouped.len() > 30, "{}", grouped.len());
    for one in grouped {
        assert!(works_together(&one.name), "{}", one.name);
    }
}

#[test]
fn operators_with_a_seed_are_random() {
    let seeded = with(|name, _| name.starts_with("seed"));
    assert!(seeded.iter().filter(|one| one.on_mock).count() > 20);
    for one in &seeded {
        assert!(is_random(&one.name), "{}", one.name);
    }
    let seeded: Vec<&str> = seeded.iter().map(|one| &*one.name).collect();
    let all = signatures();
    let others = all.iter().map(|one| &*one.name).filter(|name| is_random(name) && !seeded.contains(name));
    // They are given the mask.
    assert_eq!(others.collect::<Vec<_>>(), ["aclnnDropoutBackward", "aclnnDropoutDoMask", "aclnnDropoutV3Grad"]);
}
