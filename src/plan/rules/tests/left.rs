//! What operators are told to leave is known without their shapes.

use super::super::{left, rule};
use super::signatures::signatures;
use super::{Library, tried};

#[test]
fn what_is_left_is_known_where_shapes_are_not() {
    let library = Library::new();
    let (mut some, mut none) = (0, 0);
    for signature in signatures().iter().filter(|one| rule(&one.name).is_some()) {
        for case in tried(&library, signature, 40, &mut Vec::new()) {
            let of_rule: Vec<bool> = case.with_rule(|_, results| results.unwrap().iter().map(|of| of.left).collect());
            let known = case.with_rule(|args, _| left(&signature.name, args));
            match known {
                Some(known) => {
                    assert_eq!(known.iter().map(|of| of.left).collect::<Vec<_>>(), of_rule, "{case:?}");
                    some += usize::from(of_rule.contains(&true));
                }
                None => {
                    assert!(!of_rule.contains(&true), "{case:?}");
                    none += 1;
                }
            }
        }
    }
    assert!(some > 20 && none > 5000, "{some} that leave something, {none} that cannot");
}
