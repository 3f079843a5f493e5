//! What goes in comes out.

use crate::op::DataType::F32;
use crate::plan::recipe::Recipe;
use crate::plan::stored::codec::{Decoded, decode, decode_hashed, encode, recipe_hash};
use crate::plan::stored::difference::first_difference;
use crate::plan::{Dim, Foreign, HostFunction, Input, Plan, Registry};

use super::{content, generate};

/// Bytes tell what `==` cannot: that a number that is none stayed the same one.
fn bytes(plan: &Plan) -> Vec<u8> {
    encode(&plan.0.recipe, plan.lints())
}

#[test]
fn decoded_plans_are_those_that_were_encoded() {
    for seed in 0..400 {
        let plan = generate::plan(seed, seed as usize % 40);
        let stored = bytes(&plan);
        let decoded = decode_hashed(&stored).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let (Decoded { recipe, lints, .. }, hash) = decoded;
        assert_eq!(hash, recipe_hash(&plan.0.recipe), "seed {seed}");
        assert_eq!(lints, plan.lints());
        assert_eq!(recipe.places, plan.0.recipe.places);
        assert_eq!(format!("{recipe:?}"), format!("{:?}", plan.0.recipe), "seed {seed}");
        assert_eq!(encode(&recipe, &lints), stored);
        assert_eq!(first_difference(&plan.0.recipe, &recipe), None);
        let bodies = generate::registry().bodies(&recipe).unwrap();
        let again = Plan::from_decoded(recipe, lints, bodies).unwrap();
        let symbols: Vec<usize> = plan.0.recipe.symbols.iter().map(|symbol| symbol.greatest as usize).collect();
        assert_eq!(again.memory(&symbols).unwrap(), plan.memory(&symbols).unwrap());
        assert_ne!(again.0.id, plan.0.id);
    }
}

#[test]
fn the_format_is_what_this_version_of_it_says() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [2_usize], F32, Input::Copied)?;
        let y = g.tanh(x)?;
        g.output("y", y)
    });
    let expected: &[&[u8]] = &[
        // No plans that are called, and none of them is. No symbols; the origin, of priority 0; no events and gates.
        &[0, 0, 0],
        &[1, 6],
        b"origin",
        &[0, 0, 0],
        // Storages: input 0 and output 0, both of eight bytes.
        &[2, 1, 0, 0, 8, 2, 0, 0, 8],
        // A layout: f32, one dimension of 2, of stride 1.
        &[1, 0, 1, 0, 2, 1, 0, 1],
        // Values: storages 0 and 1 with layout 0 at 0. Accesses: 0 is read, 1 written.
        &[2, 0, 0, 0, 0, 1, 0, 0, 0],
        &[2, 0, 0, 1, 1],
        // A node: of function 0; accesses from 0, no place here, two accesses, stream 0, no core limit, no order that
        // was asked for.
        &[1, 0, 0, 0, 0, 2, 0, 0, 0],
        // Input "x": value 0, copied. Output "y": value 1, not for the host, and no number of rows.
        &[1, 1, b'x', 0, 2],
        &[1, 1, b'y', 1, 0, 0],
        // No constants. A function: an operator of the library, with its name, of no version.
        &[0, 1, 2, 1, 9],
        b"aclnnTanh",
        &[0],
        // What it is told: a tensor that is read, a tensor that is written. No cores, nothing that is told later.
        &[4, 0, 0, 0, 1],
        &[0, 0, 0],
        // No core limits, reservations and prefetches; no prefetch cap; no calls and choices; one source file.
        &[0, 0, 0, 0, 0, 0, 1],
    ];
    let stored = bytes(&plan.unwrap());
    let (stored, expected) = (content(&stored), expected.concat());
    assert_eq!(stored[..expected.len()], expected, "another format needs another version");
    // Behind the name of the file and the one place: one node, whose place is the first. No lints.
    assert_eq!(stored[stored.len() - 3..], [1, 0, 0], "another format needs another version");
}

#[test]
fn views_with_several_symbols_come_back() {
    let plan = Plan::build(|g| {
        let (n, m) = (g.symbol("n", 8..=16)?, g.symbol("m", 1..=8)?);
        let k = g.symbol("k", 1..=8)?;
        let x = g.input("x", [n, k], F32, Input::Copied)?;
        let square = g.input("square", [n, n], F32, Input::Copied)?;
        let ends = [g.narrow(x, 0, Dim::from(0)..m)?, g.narrow(square, 0, Dim::from(0)..m)?];
        let middle = g.narrow(x, 0, Dim::from(2)..n)?;
        for (index, part) in ends.into_iter().chain([middle]).enumerate() {
            let part = g.tanh(part)?;
            g.output(&format!("y{index}"), part)?;
        }
        Ok(())
    });
    let recipe = plan.unwrap().0.recipe.clone();
    assert_eq!(decode(&encode(&recipe, &[])).unwrap().recipe, recipe);
}

#[test]
fn stored_plans_find_their_code_by_kind_name_and_version() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        g.foreign(&Foreign::new("a", 3, |_| Ok(())), &[x], &[x])?;
        g.host_function(&HostFunction::new("a", 1, |_| {}))?;
        g.host_function(&HostFunction::unnamed(|_| {}))?;
        g.output("x", x)
    })
    .unwrap();
    let named = Recipe { functions: plan.0.recipe.functions[..2].to_vec(), ..plan.0.recipe.clone() };
    let foreign = |version| Foreign::new("a", version, |_| Ok(()));
    let host = HostFunction::new("a", 1, |_| {});
    let error = |registry: Registry, recipe: &Recipe| registry.bodies(recipe).unwrap_err().to_string();
    assert_eq!(
        error(Registry::new(), &named),
        "the stored plan needs foreign operator \"a\", which is not registered"
    );
    assert_eq!(
        error(Registry::new().foreign(&foreign(2)).host_function(&host), &named),
        "the stored plan needs version 3 of foreign operator \"a\"; version 2 is registered"
    );
    let registry = Registry::new().foreign(&foreign(3)).host_function(&host);
    assert_eq!(registry.bodies(&named).unwrap().len(), 2);
    assert_eq!(
        error(registry, &plan.0.recipe),
        "the stored plan needs a host function without a name, which nothing can find"
    );
}

#[test]
fn mistakes_of_a_registry_are_told() {
    let foreign = Foreign::new("a", 1, |_| Ok(()));
    let host = HostFunction::new("a", 1, |_| {});
    let registry = Registry::new().foreign(&foreign).host_function(&host);
    assert!(registry.check().is_ok() && registry.len() == 2 && !registry.is_empty());
    assert_eq!(format!("{registry:?}"), r#"[("foreign operator", "a", 1), ("host function", "a", 1)]"#);
    let text = |registry: Registry| registry.check().unwrap_err().to_string();
    assert!(text(registry.foreign(&foreign)).contains("foreign operator \"a\" is registered twice"));
    assert!(text(Registry::new().host_function(&HostFunction::unnamed(|_| {}))).contains("without a name"));
}

fn two_steps(second: f64, side: bool) -> Recipe {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let h = g.muls(x, 2.0)?;
        let y = if side { g.scope("1", |g| g.adds(h, second))? } else { g.adds(h, second)? };
        g.output("y", y)
    });
    plan.unwrap().0.recipe.clone()
}

#[test]
fn the_first_operator_that_differs_is_named() {
    let one = two_steps(1.0, false);
    assert_eq!(first_difference(&one, &two_steps(1.0, false)), None);
    assert_eq!(
        first_difference(&one, &two_steps(1.5, false)).unwrap(),
        "operator #1 (aclnnAdds, the origin stream): it is told other=1.0, alpha=1.0 in one and other=1.5, alpha=1.0 in \
         the other"
    );
    let text = first_difference(&one, &two_steps(1.0, true)).unwrap();
    assert_eq!(
        text,
        "operator #1 (aclnnAdds, the origin stream): it is aclnnAdds in one and record of event #0 in the other"
    );
    let mut other = one.clone();
    other.inputs[0].class = Input::Static;
    assert!(first_difference(&one, &other).unwrap().contains("input 0 is"));
    other = one.clone();
    other.nodes.pop();
    assert_eq!(
        first_difference(&other, &one).unwrap(),
        "operator #1 (aclnnAdds, the origin stream): one plan ends before it, the other has 2"
    );
    let number = |value| first_difference(&two_steps(f64::NAN, false), &two_steps(value, false));
    assert_eq!((number(f64::NAN), number(1.0).is_some()), (None, true));
}

#[test]
fn hashes_leave_out_source_places_only() {
    let one = two_steps(1.0, false);
    let mut moved = one.clone();
    moved.places.all.iter_mut().for_each(|place| place.1 += 1);
    moved.nodes[0].place = 0;
    assert_eq!(recipe_hash(&one), recipe_hash(&moved));
    assert_ne!(recipe_hash(&one), recipe_hash(&two_steps(1.5, false)));
    assert_ne!(recipe_hash(&one), recipe_hash(&two_steps(1.0, true)));
}
