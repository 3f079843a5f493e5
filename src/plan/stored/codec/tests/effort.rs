//! Small files that were made to keep the checks at work.

use crate::op::DataType::F32;
use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::{Access, Mode, Node, NodeKind, Recipe};
use crate::plan::stored::Code;
use crate::plan::stored::codec::{decode, encode};
use crate::plan::symbols::dim::Dim;
use crate::plan::symbols::effort::within;
use crate::plan::{Foreign, Input, NotLoaded, Plan};

use super::{fuzz, generate};

/// Writes of one input by two streams that run at once, of values that `change` makes.
fn writers(count: usize, size: usize, change: impl Fn(&mut Recipe, usize)) -> Vec<u8> {
    let touch = Foreign::new("touch", 1, |_| Ok(()));
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        g.input("z", [size], F32, Input::Copied)?;
        g.scope("side", |g| g.foreign(&touch, &[x], &[]))?;
        g.foreign(&touch, &[x], &[])?;
        g.join("side")?;
        g.output("y", x)
    });
    let mut recipe = plan.unwrap().0.recipe.clone();
    let written = recipe.inputs[1].value as usize;
    for index in 0..count {
        let is_read = |node: &Node| matches!(node.kind, NodeKind::Foreign(_)) && usize::from(node.tag) == index % 2;
        let at = recipe.nodes.iter().position(is_read).unwrap();
        let node = recipe.nodes[at];
        recipe.values.push(recipe.values[written].clone());
        change(&mut recipe, index);
        let (first, value) = (recipe.accesses.len() as u32, recipe.values.len() as u32 - 1);
        recipe.accesses.push(Access { value, mode: Mode::Write });
        recipe.nodes.insert(at, Node { first, ..node });
    }
    encode(&recipe, &[])
}

/// Gives the last value a layout of its own, from an element on.
fn set(recipe: &mut Recipe, first: usize, count: usize, stride: u64) {
    let mut layout = recipe.layout_of(recipe.inputs[1].value).clone();
    (layout.dims, layout.strides) = (vec![Dim::fixed(count as u64)], vec![Extent::Fixed(stride)]);
    recipe.layouts.push(layout);
    let value = recipe.values.last_mut().unwrap();
    (value.layout, value.offset) = (recipe.layouts.len() as u32 - 1, Extent::Fixed(4 * first as u64));
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
    Plan::from_decoded(decoded.recipe, decoded.lints, bodies).map(drop).map_err(|error| error.to_string())
}

/// Every sixth element on one stream and every tenth beside it on the other: never the same, which only a walk along
/// one of them tells.
fn combs(count: usize, length: usize) -> Vec<u8> {
    writers(count, 20 * length, |recipe, index| match index % 2 {
        0 => set(recipe, 0, length - index, 6),
        _ => set(recipe, 1, length - index, 10),
    })
}

#[test]
fn views_with_many_gaps_do_not_keep_a_start_at_work() {
    let bytes = combs(1000, 1 << 16);
    assert!(bytes.len() < 100_000, "{}", bytes.len());
    assert_eq!(load(&bytes), Err("checking it takes too long for its size".to_owned()));
    assert_eq!(load(&combs(20, 1 << 10)), Ok(()));
}

/// Whether so many steps are enough.
fn suffice(steps: u64, bytes: &[u8]) -> bool {
    within(steps, || assert_eq!(load_unlimited(bytes), Ok(()))).is_some()
}

#[test]
fn ranges_are_found_in_a_few_steps_each() {
    const COUNT: usize = 2000;
    // Half of each is that of the one two before, on the same stream.
    let bytes = writers(COUNT, 8 * COUNT, |recipe, index| {
        let half = index % 2 * 4 * COUNT;
        set(recipe, half + index, 4, 1);
    });
    assert!(suffice(32 * bytes.len() as u64, &bytes));
}

#[test]
fn plans_of_a_builder_take_a_few_steps_a_byte() {
    for (seed, size) in [(1, 40), (2, 400), (3, 2000)] {
        let plan = generate::plan(seed, size);
        let bytes = encode(&plan.0.recipe, plan.lints());
        assert!(suffice(32 * bytes.len() as u64, &bytes), "{size}: {} bytes", bytes.len());
    }
}
