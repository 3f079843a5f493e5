//! Stored plans that call others.

use crate::op::DataType::F32;
use crate::plan::builder::tests::bodies;
use crate::plan::recipe::{Mode, NodeKind, Recipe};
use crate::plan::stored::Code;
use crate::plan::stored::codec::{decode, encode};
use crate::plan::symbols::dim::Dim;
use crate::plan::{Input, NotLoaded, Options, Plan, Simulated};

/// Bytes of the outputs of a simulated run.
fn outputs(plan: &Plan, names: &[String], rows: usize) -> Vec<Vec<u8>> {
    let numbers: Vec<f32> = (0..rows * 4).map(|index| index as f32 / 8.0 - 1.0).collect();
    let given = Simulated::new().tensor("x", &numbers, [rows, 4]);
    let run = plan.simulate(1, &given).unwrap();
    names.iter().map(|name| run.bytes(name).unwrap().to_vec()).collect()
}

#[test]
fn plans_that_call_others_come_back_as_they_were() {
    for seed in 0..100 {
        let made = bodies::plan(seed, Options::new(), true).unwrap();
        let bytes = made.plan.to_bytes();
        let (again, hash) = Plan::from_bytes(&bytes, Code::None).unwrap();
        assert_eq!((again.to_bytes(), again.recipe_hash()), (bytes, hash), "seed {seed}");
        assert_eq!(hash, made.plan.recipe_hash());
        assert_eq!(made.plan.difference(&again), None);
        assert_eq!(again.to_text_with_lines(), made.plan.to_text_with_lines());
        let rows = if made.dynamic { 2 } else { 3 };
        assert_eq!(outputs(&again, &made.outputs, rows), outputs(&made.plan, &made.outputs, rows), "seed {seed}");
    }
}

/// x, 8 times through a plan of 30 operators, and that by call or in place.
fn deep(calls: bool) -> Plan {
    let work = |g: &crate::plan::Builder, x| (0..30).try_fold(x, |x, _| g.tanh(x));
    let body = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        g.output("y", work(g, x)?)
    });
    let body = body.unwrap();
    let plan = Plan::build(|g| {
        let mut x = g.input("x", [4], F32, Input::Copied)?;
        for _ in 0..8 {
            x = if calls { g.call_with(&body, &[x], &[])?[0] } else { work(g, x)? };
        }
        g.output("y", x)
    });
    plan.unwrap()
}

#[test]
fn a_body_is_stored_once() {
    let [called, written] = [true, false].map(|calls| deep(calls).to_bytes().len());
    assert!(called * 4 < written, "{called} and {written} bytes");
    assert_eq!(deep(true).difference(&deep(true)), None);
    assert_eq!(deep(true).difference(&deep(false)).unwrap(), "one plan calls what the other does itself");
}

/// A plan that calls another, which writes its second input, with a symbol.
fn small() -> Recipe {
    let body = Plan::build(|g| {
        let n = g.symbol("n", 2..=8)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        let state = g.input("state", [n], F32, Input::Copied)?;
        g.copy(x, state)?;
        g.output("y", g.add(x, state)?)
    });
    let body = body.unwrap();
    let plan = Plan::build(|g| {
        let m = g.symbol("m", 1..=4)?;
        let x = g.input("x", [m * 2], F32, Input::Copied)?;
        let state = g.empty([m * 2], F32)?;
        let [y] = g.call(&body, &[x, state])?;
        g.output("y", y)
    });
    plan.unwrap().recipe().clone()
}

fn refusal(change: impl FnOnce(&mut Recipe)) -> String {
    let mut recipe = small();
    change(&mut recipe);
    match Plan::from_bytes(&encode(&recipe, &[]), Code::None) {
        Err(NotLoaded::Broken(why) | NotLoaded::Unbound(why)) => why,
        Ok(_) => panic!("it is loaded"),
    }
}

#[test]
fn calls_that_do_not_fit_are_refused() {
    assert!(Plan::from_bytes(&encode(&small(), &[]), Code::None).is_ok());
    let node = |recipe: &Recipe| {
        recipe.nodes.iter().position(|node| matches!(node.kind, NodeKind::Call(_))).expect("it calls")
    };
    let first = |recipe: &Recipe| recipe.nodes[node(recipe)].first as usize;
    type Change = fn(&mut Recipe);
    let of_calls: [(Change, &str); 9] = [
        (|recipe| recipe.calls[0].callee = 1, "a plan that is not there"),
        (|recipe| recipe.calls[0].times = 0, "no times"),
        (|recipe| recipe.calls[0].times = u32::MAX, "pieces with its calls written out"),
        (|recipe| recipe.calls[0].carried = 2, "2 values that are carried"),
        (|recipe| recipe.calls[0].symbols.clear(), "0 sizes for 1 symbols"),
        (|recipe| recipe.calls[0].symbols[0] = Dim::symbol(0), "which is 2 to 8"),
        (|recipe| recipe.calls[0].symbols[0] = Dim::symbol(1), "sizes that symbols cannot be"),
        (|recipe| recipe.calls[0].symbols[0] = Dim::from(4), "which is F32 [4] here"),
        (|recipe| recipe.calls.clear(), "does not fit the rest of the plan"),
    ];
    for (change, text) in of_calls {
        let why = refusal(change);
        assert!(why.contains(text), "{why}");
    }
    let why = refusal(|recipe| {
        let node = node(recipe);
        recipe.nodes[node].count -= 1;
    });
    assert!(why.contains("0 results of a plan that has 1"), "{why}");
    let why = refusal(|recipe| {
        let first = first(recipe);
        recipe.accesses[first + 1].mode = Mode::Read;
    });
    assert!(why.contains("its input \"state\" is for Write and not for Read"), "{why}");
    let why = refusal(|recipe| {
        let first = first(recipe);
        recipe.accesses[first + 1].value = recipe.accesses[first].value;
    });
    assert!(why.contains("shares memory with its input \"x\""), "{why}");
}

#[test]
fn a_plan_that_contains_itself_is_refused() {
    let stored = encode(&small(), &[]);
    let content = super::content(&stored);
    // One plan that is called, which calls none.
    assert_eq!(content[..2], [1, 0]);
    let mut itself = content.to_vec();
    itself.splice(1..2, [1, 0]);
    let error = decode(&super::sealed(&itself)).unwrap_err().to_string();
    assert_eq!(error, "plan that is called 0: it calls itself, or one that is not before it");
}
