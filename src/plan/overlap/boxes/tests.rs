//! Values with symbols, compared for all values of these.

use std::collections::HashSet;

use crate::error::Result;
use crate::op::DataType::{F32, U8};
use crate::plan::builder::tests::generate::Dice;
use crate::plan::check;
use crate::plan::order::Order;
use crate::plan::overlap::ranges::{common, may_overlap};
use crate::plan::recipe::uses::Uses;
use crate::plan::simulate::tests::brute::bytes_of;
use crate::plan::{Builder, Dim, FindingKind, Foreign, Fork, Options, Plan, Scope, Value};

fn fill(g: &Builder, value: Value) -> Result<()> {
    g.fill(value, 1.0_f32)
}

/// A random part of a value, the ends of which may be symbols; the same value where that is not certainly inside.
fn part(g: &Builder, dice: &mut Dice, symbols: [Dim; 2], mut value: Value) -> Value {
    for dim in 0..g.dims(value).unwrap().len() {
        let whole = g.dims(value).unwrap()[dim];
        let end = |dice: &mut Dice| match dice.below(6) {
            0 => whole,
            1 => symbols[dice.index(2)],
            2 => symbols[dice.index(2)] + 1,
            3 => symbols[0] * symbols[1],
            _ => Dim::from(dice.index(4)),
        };
        let from = if dice.chance(400) { Dim::from(0) } else { end(dice) };
        let to = if dice.chance(400) { whole } else { end(dice) };
        if dice.chance(600) {
            value = g.narrow(value, dim, from..to).unwrap_or(value);
        }
    }
    let dims = g.dims(value).unwrap().len();
    if dims > 1 && dice.chance(200) {
        value = g.transpose(value, dice.index(dims), dice.index(dims)).unwrap();
    }
    value
}

/// A random shape of up to 128 bytes where both symbols are 2.
fn shape(dice: &mut Dice, [n, m]: [Dim; 2]) -> Vec<Dim> {
    let shapes = [
        vec![Dim::from(4), n, Dim::from(6)],
        vec![Dim::from(2), n + 3, Dim::from(3)],
        vec![n, Dim::from(4), m],
        vec![n + 1, m],
        vec![n, m + 1, Dim::from(3)],
        vec![Dim::from(4), m * 2],
        vec![n * m, Dim::from(4)],
        vec![Dim::from(2), n + 1, m + 2],
    ];
    shapes[dice.index(shapes.len())].clone()
}

fn values() -> impl Iterator<Item = [u64; 2]> {
    (0..=2).flat_map(|n| (0..=2).map(move |m| [n, m]))
}

#[test]
fn values_that_are_said_to_be_apart_are_for_all_symbols() {
    let (mut apart, mut missed, mut together) = (0, 0, 0);
    for seed in 0..6000 {
        let mut dice = Dice(seed);
        let least = dice.index(2);
        let g = Builder::new(Options::new());
        let symbols = [g.symbol("n", least..=2).unwrap(), g.symbol("m", least..=2).unwrap()];
        let dims = shape(&mut dice, symbols);
        let whole = g.empty(dims, [U8, F32][dice.index(2)]).unwrap();
        let (a, b) = (part(&g, &mut dice, symbols, whole), part(&g, &mut dice, symbols, whole));
        let both = [a, b];
        g.foreign(&Foreign::new("nothing", 1, |_| Ok(())), &[], &both).unwrap();
        let recipe = g.finish().unwrap().recipe;
        let accesses = recipe.accesses_of(recipe.nodes.last().unwrap());
        let (a, b) = (accesses[0].value, accesses[1].value);
        let inside = || values().filter(|values| values.iter().all(|value| *value >= least as u64));
        let meet =
            inside().any(|values| common(&recipe, a, b, &values) != crate::plan::overlap::ranges::Common::Nothing);
        match (may_overlap(&recipe, a, b, &recipe.bounds()), meet) {
            (false, meet) => {
                assert!(!meet, "seed {seed}");
                apart += 1;
            }
            (true, true) => together += 1,
            (true, false) => missed += 1,
        }
    }
    assert!(apart > 500 && together > 1000, "{apart} {missed} {together}");
}

#[test]
fn what_is_said_to_be_written_is_for_all_symbols() {
    let (mut fine, mut unsure, mut wrong) = (0, 0, 0);
    for seed in 0..6000 {
        let mut dice = Dice(seed);
        let least = dice.index(2);
        let g = Builder::new(Options::new());
        let symbols = [g.symbol("n", least..=2).unwrap(), g.symbol("m", least..=2).unwrap()];
        let dims = shape(&mut dice, symbols);
        let whole = g.empty(dims, U8).unwrap();
        for _ in 0..2 + dice.below(4) {
            // Often the rest beside a part, so that some are complete.
            let dim = dice.index(g.dims(whole).unwrap().len());
            let (size, at) = (g.dims(whole).unwrap()[dim], symbols[dice.index(2)]);
            for range in [Dim::from(0)..at, at..size] {
                if let (true, Ok(half)) = (dice.chance(800), g.narrow(whole, dim, range)) {
                    let half = if dice.chance(200) { part(&g, &mut dice, symbols, half) } else { half };
                    fill(&g, half).unwrap();
                }
            }
        }
        let read = if dice.chance(500) { part(&g, &mut dice, symbols, whole) } else { whole };
        g.foreign(&Foreign::new("nothing", 1, |_| Ok(())), &[read], &[]).unwrap();
        let recipe = g.finish().unwrap().recipe;
        let found = check::check(&recipe, &Order::of(&recipe).unwrap(), &Uses::of(&recipe));
        let inside = values().filter(|values| values.iter().all(|value| *value >= least as u64));
        let complete = inside.into_iter().all(|values| {
            let recipe = recipe.specialised(&values).unwrap();
            let (reader, writers) = recipe.nodes.split_last().unwrap();
            let writes = writers.iter().flat_map(|node| recipe.accesses_of(node));
            let written = writes.fold(0, |written, one| written | bytes_of(&recipe, one.value));
            bytes_of(&recipe, recipe.accesses_of(reader)[0].value) & !written == 0
        });
        match found.first().map(|one| one.kind) {
            None => {
                assert!(complete, "seed {seed}");
                fine += 1;
            }
            Some(FindingKind::MaybeUnwritten) => unsure += 1,
            Some(_) => {
                assert!(!complete, "seed {seed}: {found:?}");
                wrong += 1;
            }
        }
    }
    assert!(fine > 500 && wrong > 500, "{fine} {unsure} {wrong}");
}

/// Two parts of a value, each along one dimension.
type Parts<'a> = (&'a [Dim], usize, [std::ops::Range<Dim>; 2]);

/// What is found when these are filled, and then all is read, in order or at once.
fn findings((dims, dim, parts): &Parts<'_>, at_once: bool) -> HashSet<FindingKind> {
    let plan = Plan::build(|g| {
        g.symbol("s", 1..=8)?;
        let x = g.empty(*dims, F32)?;
        for (tag, range) in ["1", "2"].into_iter().zip(parts.clone()) {
            let part = g.narrow(x, *dim, range)?;
            match at_once {
                true => g.scope_with(tag, Scope::new().fork(Fork::AtStart), |g| fill(g, part))?,
                false => fill(g, part)?,
            }
        }
        if at_once {
            g.join("1")?;
            g.join("2")?;
        }
        let y = g.abs(x)?;
        g.output("y", y)
    });
    let all = match &plan {
        Ok(plan) => plan.lints().to_vec(),
        Err(error) => error.findings().to_vec(),
    };
    all.into_iter().map(|finding| finding.kind).collect()
}

#[test]
fn parts_along_any_dimension_are_apart_and_make_up_the_whole() {
    let (s, zero) = (Dim::symbol(0), Dim::from(0));
    let fixed = |from: usize, to: usize| Dim::from(from)..Dim::from(to);
    let cases: [Parts<'_>; 6] = [
        (&[Dim::from(4), s, Dim::from(6)], 2, [fixed(0, 3), fixed(3, 6)]),
        (&[Dim::from(2), s + 4, Dim::from(8)], 1, [zero..s, s..s + 4]),
        (&[Dim::from(1), s + 4, Dim::from(8)], 1, [zero..s, s..s + 4]),
        (&[Dim::from(4), s * 2], 1, [zero..s, s..s * 2]),
        (&[s, Dim::from(4), Dim::from(8)], 1, [fixed(0, 2), fixed(2, 4)]),
        (&[s, s * 3, s], 1, [zero..s, s..s * 3]),
    ];
    for parts in &cases {
        assert_eq!((findings(parts, true), findings(parts, false)), Default::default(), "{parts:?}");
        let (dims, dim, [a, b]) = parts;
        let wider = (*dims, *dim, [a.start..a.end + 1, b.clone()]);
        assert_eq!(findings(&wider, true), HashSet::from([FindingKind::UnorderedAccess]), "{wider:?}");
        let narrower = (*dims, *dim, [a.clone(), b.start + 1..b.end]);
        assert_eq!(findings(&narrower, false), HashSet::from([FindingKind::ReadBeforeWrite]), "{narrower:?}");
    }
}

#[test]
fn a_view_of_all_bytes_in_another_order_writes_all() {
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=64)?;
        let x = g.empty([Dim::from(2), n, Dim::from(4)], F32)?;
        let turned = g.transpose(x, 0, 1)?;
        fill(g, turned)?;
        let flat = g.reshape(x, [n * 8])?;
        let y = g.abs(flat)?;
        g.output("y", y)
    });
    assert_eq!(plan.unwrap().lints(), []);
}

/// Many parts of one value, one after the other in a dimension, and sometimes a random one more.
fn slices(g: &Builder, dice: &mut Dice, [n, m]: [Dim; 2]) -> Vec<Value> {
    let zero = Dim::from(0);
    let (dims, dim, first) = match dice.below(6) {
        0 => (vec![n, Dim::from(20)], 1, zero),
        1 => (vec![Dim::from(20), n], 0, zero),
        2 => (vec![Dim::from(3), n + 20, m], 1, n),
        3 => (vec![m, Dim::from(20), n + 1], 1, zero),
        4 => (vec![n * 20, Dim::from(4)], 0, zero),
        _ => (vec![Dim::from(4), Dim::from(20)], 1, zero),
    };
    let is_wide = dims[0] == n * 20;
    let whole = g.empty(dims, F32).unwrap();
    let mut values: Vec<Value> = (0..20)
        .filter_map(|i| {
            let at = |i: usize| match (is_wide, i) {
                (true, 0) => zero,
                (true, i) => n * i,
                (false, i) => first + i,
            };
            let to = if dice.chance(20) { at(i + 2) } else { at(i + 1) };
            g.narrow(whole, dim, at(i)..to).ok()
        })
        .collect();
    if dice.chance(300) {
        let index = dice.index(values.len());
        values.push(part(g, dice, [n, m], whole));
        values[index] = part(g, dice, [n, m], values[index]);
    }
    values
}

#[test]
fn many_parts_on_two_streams_are_refused_as_comparing_every_two_says() {
    let (mut fine, mut wrong) = (0, 0);
    for seed in 0..600 {
        let mut dice = Dice(seed);
        let g = Builder::new(Options::new());
        let least = dice.index(2);
        let symbols = [g.symbol("n", least..=2).unwrap(), g.symbol("m", least..=2).unwrap()];
        for value in slices(&g, &mut dice, symbols) {
            let tag = ["1", "2"][dice.index(2)];
            g.scope_with(tag, Scope::new().fork(Fork::AtStart), |g| fill(g, value)).unwrap();
        }
        g.join("1").ok();
        g.join("2").ok();
        let recipe = g.finish().unwrap().recipe;
        let bounds = recipe.bounds();
        let found = check::check(&recipe, &Order::of(&recipe).unwrap(), &Uses::of(&recipe));
        let fills: Vec<_> = recipe.nodes.iter().filter(|node| node.count > 0).collect();
        let value = |index: usize| recipe.accesses_of(fills[index])[0].value;
        let pairs = (0..fills.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let mut meet = pairs.filter(|(a, b)| fills[*a].tag != fills[*b].tag);
        let expected = meet.any(|(a, b)| may_overlap(&recipe, value(a), value(b), &bounds));
        let is_unordered = found.iter().any(|one| one.kind == FindingKind::UnorderedAccess);
        assert_eq!(is_unordered, expected, "seed {seed}: {found:?}");
        *(if expected { &mut wrong } else { &mut fine }) += 1;
    }
    assert!(fine > 100 && wrong > 100, "{fine} {wrong}");
}
