//! Small files that were made to keep the checks at work.

use crate::op::DataType::F32;
use crate::plan::codec::{decode, encode};
use crate::plan::dim::Dim;
use crate::plan::effort::within;
use crate::plan::layout::Extent;
use crate::plan::recipe::{Node, NodeKind, Recipe};
use crate::plan::stored::Code;
use crate::plan::{Builder, Foreign, Input, NotLoaded, Plan, Value};

use super::{fuzz, generate};

/// Reads of one input on two streams, of values that `change` makes.
fn readers(count: usize, dims: [usize; 2], change: impl Fn(&mut Recipe, usize)) -> Vec<u8> {
    let touch = Foreign::new("touch", 1, |_| Ok(()));
    let read = |g: &mut Builder, x: Value| g.foreign(&touch, &[x], &[]);
    let plan = Plan::build(|g| {
        let x = g.input("x", dims, F32, Input::Copied)?;
        let part = g.narrow(x, 1, 0..dims[1] / 2)?;
        read(g, part)?;
        g.scope("side", |g| read(g, part))?;
        g.join("side")?;
        g.output("y", x)
    });
    let mut recipe = plan.unwrap().0.recipe.clone();
    let is_read = |node: &Node| matches!(node.kind, NodeKind::Foreign(_));
    let at = recipe.nodes.iter().position(is_read).unwrap();
    let (node, access) = (recipe.nodes[at], recipe.accesses[recipe.nodes[at].first as usize]);
    for index in 0..count {
        let mut value = recipe.values[access.value as usize].clone();
        value.offset = Extent::Fixed(0);
        recipe.values.push(value);
        change(&mut recipe, index);
        let first = recipe.accesses.len() as u32;
        recipe.accesses.push(crate::plan::recipe::Access { value: recipe.values.len() as u32 - 1, ..access });
        recipe.nodes.insert(at, Node { first, ..node });
    }
    encode(&recipe, &[])
}

fn load(bytes: &[u8]) -> Result<(), String> {
    match Plan::from_bytes(bytes, Code::None) {
        Ok(_) => Ok(()),
        Err(NotLoaded::Broken(why) | NotLoaded::Unbound(why)) => Err(why),
    }
}

fn load_unlimited(bytes: &[u8]) -> Result<(), String> {
    let decoded = decode(bytes).map_err(|error| error.to_string())?;
    let bodies = fuzz::bodies(&decoded);
    Plan::from_decoded(decoded, bodies).map(drop).map_err(|error| error.to_string())
}

#[test]
fn views_with_many_gaps_do_not_keep_a_start_at_work() {
    // Each has 32768 pieces, which are compared with those of each other one.
    let bytes = readers(3000, [1 << 15, 8], |_, _| {});
    assert!(bytes.len() < 100_000, "{}", bytes.len());
    assert_eq!(load(&bytes), Err("checking it takes too long for its size".to_owned()));
    assert_eq!(load(&readers(20, [1 << 10, 8], |_, _| {})), Ok(()));
}

/// Whether so many steps are enough.
fn suffice(steps: u64, bytes: &[u8]) -> bool {
    within(steps, || assert_eq!(load_unlimited(bytes), Ok(()))).is_some()
}

#[test]
fn reads_that_each_overlap_each_other_are_counted() {
    const COUNT: usize = 2000;
    let bytes = readers(COUNT, [COUNT, 8], |recipe, index| {
        // All but one of its bytes are those of the one before, so that none stands for another.
        let mut layout = recipe.layouts[0].clone();
        (layout.dims, layout.strides) = (vec![Dim::fixed(4 * COUNT as u64)], vec![Extent::Fixed(1)]);
        recipe.layouts.push(layout);
        let value = recipe.values.last_mut().unwrap();
        (value.layout, value.offset) = (recipe.layouts.len() as u32 - 1, Extent::Fixed(4 * index as u64));
    });
    assert!(!suffice(1 << 16, &bytes) && suffice(1 << 24, &bytes));
}

#[test]
fn plans_of_a_builder_take_a_few_steps_a_byte() {
    for (seed, size) in [(1, 40), (2, 400), (3, 2000)] {
        let plan = generate::plan(seed, size);
        let bytes = encode(&plan.0.recipe, plan.lints());
        assert!(suffice(32 * bytes.len() as u64, &bytes), "{size}: {} bytes", bytes.len());
    }
}
