//! Stored plans that choose among others.

use std::num::NonZeroU32;

use crate::op::DataType::{F32, I8, I32};
use crate::plan::recipe::choice::ChoiceKind;
use crate::plan::recipe::{Mode, NodeKind, Recipe};
use crate::plan::stored::Code;
use crate::plan::stored::codec::encode;
use crate::plan::{Input, NotLoaded, Plan, Simulated};

/// x · by, of any size.
fn times(by: f64) -> Plan {
    Plan::build(|g| {
        let n = g.symbol("n", 2..=8)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        g.output("y", g.muls(x, by)?)
    })
    .unwrap()
}

/// A choice of two plans, and a loop over one of them.
pub(super) fn chosen() -> Plan {
    let (two, three) = (times(2.0), times(3.0));
    let body = Plan::build(|g| {
        let (c, n) = (g.input("c", [1], I32, Input::Copied)?, g.symbol("n", 2..=8)?);
        let x = g.input("x", [n], F32, Input::Copied)?;
        let [x] = g.if_then(c, &two, &[x])?;
        let c = g.adds(c, -1)?;
        g.output("more", c)?;
        g.output("c", c)?;
        g.output("x", x)
    });
    Plan::build(|g| {
        let (c, m) = (g.input("c", [1], I32, Input::Copied)?, g.symbol("m", 1..=4)?);
        let x = g.input("x", [m * 2], F32, Input::Copied)?;
        let [y] = g.switch(c, &[&two, &three], &two, &[x])?;
        let ([_, y], _) = g.repeat_at_most(9, c, &body?, [c, y], &[])?;
        g.output("y", y)
    })
    .unwrap()
}

fn output(plan: &Plan, c: i32) -> Vec<f32> {
    let given = Simulated::new().tensor("c", &[c], [1]).tensor("x", &[1.0_f32, -2.0], [2]);
    plan.simulate(3, &given).unwrap().to_vec("y").unwrap()
}

#[test]
fn plans_that_choose_come_back_as_they_were() {
    let plan = chosen();
    let bytes = plan.to_bytes();
    let (again, hash) = Plan::from_bytes(&bytes, Code::None).unwrap();
    assert_eq!((again.to_bytes(), again.recipe_hash(), hash), (bytes, hash, plan.recipe_hash()));
    assert_eq!(plan.difference(&again), None);
    assert_eq!(again.to_text_with_lines(), plan.to_text_with_lines());
    for (c, by) in [(0, 2.0), (1, 6.0), (3, 16.0)] {
        assert_eq!(output(&again, c), [by, -2.0 * by], "{c}");
    }
}

fn refusal(change: impl FnOnce(&mut Recipe)) -> String {
    refusal_of(&chosen(), change)
}

fn refusal_of(plan: &Plan, change: impl FnOnce(&mut Recipe)) -> String {
    let mut recipe = plan.recipe().clone();
    change(&mut recipe);
    match Plan::from_bytes(&encode(&recipe, &[]), Code::None) {
        Err(NotLoaded::Broken(why) | NotLoaded::Unbound(why)) => why,
        Ok(_) => panic!("it is loaded"),
    }
}

#[test]
fn choices_that_do_not_fit_are_refused() {
    let plan = chosen();
    let recipe = plan.recipe();
    let nodes = |kind: ChoiceKind| {
        let is = |choice: u32| recipe.choices[choice as usize].kind == kind;
        let found = recipe.nodes.iter().position(|node| matches!(node.kind, NodeKind::Choose(one) if is(one)));
        found.expect("it chooses")
    };
    let (switch, loops) = (nodes(ChoiceKind::Switch), nodes(ChoiceKind::While(NonZeroU32::new(9))));
    let (first, looped) = (recipe.nodes[switch].first as usize, recipe.nodes[loops].first as usize);
    let whole = |recipe: &mut Recipe, kind| {
        for node in &mut recipe.nodes {
            if let NodeKind::Choose(_) = node.kind {
                node.kind = kind;
            }
        }
    };
    type Change<'a> = Box<dyn FnOnce(&mut Recipe) + 'a>;
    let changes: Vec<(Change<'_>, &str)> = vec![
        (Box::new(|recipe| recipe.choices.clear()), "does not fit the rest of the plan"),
        (Box::new(|recipe| recipe.choices[0].arms.clear()), "0 cases"),
        (Box::new(|recipe| recipe.choices[0].arms[0] = 99), "a call that is not there"),
        (Box::new(|recipe| recipe.choices[0].kind = ChoiceKind::While(None)), "cases, where"),
        (
            Box::new(|recipe| recipe.choices[1].kind = ChoiceKind::While(NonZeroU32::new(1 << 31))),
            "2147483648 rounds",
        ),
        (Box::new(|recipe| recipe.choices[1].kind = ChoiceKind::If), "results in place of operands"),
        (Box::new(|recipe| recipe.choices[0].arms[1] = recipe.choices[1].arms[0]), "inputs and"),
        (Box::new(|recipe| recipe.calls[0].times = 2), "a call that is none of a choice"),
        (Box::new(|recipe| recipe.calls[0].collapsed = false), "a call that is none of a choice"),
        (Box::new(|recipe| recipe.symbols[0].each_run = true), "the dimension"),
        (Box::new(move |recipe| whole(recipe, NodeKind::Begin(ChoiceKind::If))), "does not fit"),
        (Box::new(move |recipe| whole(recipe, NodeKind::Case)), "does not fit"),
        (Box::new(move |recipe| whole(recipe, NodeKind::End)), "does not fit"),
        (Box::new(|recipe| recipe.nodes[switch].count = 0), "operands for a plan of"),
        (Box::new(|recipe| recipe.nodes[switch].count -= 1), "0 results of a plan that has 1"),
        (Box::new(|recipe| recipe.accesses[first].mode = Mode::Write), "its condition is for Read and not for Write"),
        (Box::new(|recipe| recipe.accesses[first + 1].mode = Mode::Touch), "is for Read and not for Touch"),
        (Box::new(|recipe| recipe.accesses[first].value = recipe.accesses[first + 1].value), "its condition is F32"),
        (Box::new(|recipe| recipe.accesses[first + 2].value = recipe.accesses[first + 1].value), "shares memory"),
        (Box::new(|recipe| recipe.accesses[looped + 3].value = recipe.accesses[looped].value), "shares memory"),
    ];
    for (index, (change, text)) in changes.into_iter().enumerate() {
        let why = refusal(change);
        assert!(why.contains(text), "{index}: {text:?} is not in {why}");
    }
}

#[test]
fn a_byte_with_a_sign_chooses_among_128_cases_at_most() {
    let two = times(2.0);
    let plan = Plan::build(|g| {
        let (c, n) = (g.input("c", [1], I8, Input::Copied)?, g.symbol("n", 2..=8)?);
        let x = g.input("x", [n], F32, Input::Copied)?;
        let [y] = g.switch(c, &[&two; 128], &two, &[x])?;
        g.output("y", y)
    });
    let more = |recipe: &mut Recipe| {
        let arm = recipe.choices[0].arms[0];
        recipe.choices[0].arms.push(arm);
    };
    let why = refusal_of(&plan.unwrap(), more);
    assert!(why.contains("negative numbers count from 128 on, beside 129 cases"), "{why}");
}
