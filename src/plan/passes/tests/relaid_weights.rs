//! Work on weights alone, which is done once.

use super::*;

fn relaid() -> Passes {
    OFF.relaid_weights(PassMode::Verified)
}

fn weight(g: &Builder, name: &str, dims: [usize; 2]) -> Result<Value> {
    g.input(name, dims, F32, Input::Frozen)
}

fn row(g: &Builder) -> Result<Value> {
    g.input("x", [1, 3], F32, Input::Copied)
}

#[test]
fn weights_are_turned_cast_and_joined_once() {
    let better = optimised(relaid(), |g| {
        let x = row(g)?;
        let (w, v) = (weight(g, "w", [2, 3])?, weight(g, "v", [2, 3])?);
        let joined = g.cat(&[w, v], 0)?;
        let turned = g.permute(joined, &[1, 0])?;
        g.output("y", g.matmul(g.cast(x, F16)?, g.cast(turned, F16)?)?)
    });
    assert_eq!((better.before, better.plan.operators(), better.changes.len()), (5, 2, 3), "{better}");
    let text = better.plan.to_text();
    for name in ["aclnnCat.0", "aclnnPermute.0", "aclnnCast.1"] {
        assert!(text.lines().any(|line| line.starts_with(&format!("once, origin: %{name} "))), "{name}: {text}");
    }
    assert_eq!(text.matches("once, ").count() - text.matches("is done once, ").count(), 3, "{text}");
    let line =
        "relaid_weights: \"aclnnCat\" of stream \"origin\" is gone, it is done once, when an executable is made";
    assert!(text.lines().any(|one| one == line), "{text}");
}

#[test]
fn they_are_not_part_of_the_memory_of_runs() {
    let plan = Plan::build(|g| {
        let w = g.input("w", [64, 64], F32, Input::Frozen)?;
        let x = g.input("x", [64, 64], F32, Input::Copied)?;
        g.output("y", g.add(g.abs(x)?, g.permute(w, &[1, 0])?)?)
    })
    .unwrap();
    let better = plan.optimise(&relaid()).unwrap().plan;
    let (before, after) = (plan.memory(&[]).unwrap().sum, better.memory(&[]).unwrap().sum);
    let bytes = 64 * 64 * 4;
    assert!(before >= 2 * bytes, "{before}: of abs and of permute");
    assert!((bytes..2 * bytes).contains(&after), "{after}: of abs alone");
}

#[test]
fn all_passes_leave_it_off() {
    unchanged(Passes::all(PassMode::On).needless_moves(PassMode::Off).needless_transposes(PassMode::Off), |g| {
        g.output("y", g.mul(row(g)?, g.permute(weight(g, "w", [3, 1])?, &[1, 0])?)?)
    });
}

#[test]
fn what_is_no_weight_is_done_by_every_run() {
    for class in [Input::Static, Input::Copied, Input::Tracked(crate::plan::OnMove::Recapture), Input::Host] {
        unchanged(relaid(), |g| {
            let w = g.input("w", [3, 1], F32, class)?;
            g.output("y", g.mul(row(g)?, g.permute(w, &[1, 0])?)?)
        });
    }
    // With something that each run brings.
    unchanged(relaid(), |g| g.output("y", g.abs(g.mul(row(g)?, weight(g, "w", [1, 3])?)?)?));
    // Of a size that each run brings.
    unchanged(relaid(), |g| {
        let n = g.symbol("n", 1..=4)?;
        let x = g.input("x", [n, Dim::from(3)], F32, Input::Copied)?;
        let wide = g.empty([n, Dim::from(3)], F32)?;
        aclnn::inplace_copy(g, &mut { wide }, &weight(g, "w", [1, 3])?)?;
        g.output("y", g.add(x, wide)?)
    });
    // Results that the caller has.
    unchanged(relaid(), |g| g.output("y", g.permute(weight(g, "w", [3, 1])?, &[1, 0])?));
}

#[test]
fn weights_and_results_that_are_written_stay() {
    unchanged(relaid(), |g| {
        let w = weight(g, "w", [1, 3])?;
        let before = g.abs(w)?;
        aclnn::tanh(g, &w, &mut { w })?;
        g.output("y", g.add(before, row(g)?)?)
    });
    unchanged(relaid(), |g| {
        let moved = g.abs(weight(g, "w", [1, 3])?)?;
        aclnn::add(g, &moved, &row(g)?, 1, &mut { moved })?;
        g.output("y", moved)
    });
}

#[test]
fn shapes_of_weights_are_fixed_where_others_are_not() {
    let better = optimised(relaid(), |g| {
        let n = g.symbol("n", 1..=8)?;
        let x = g.input("x", [n, Dim::from(3)], F32, Input::Copied)?;
        let w = g.permute(weight(g, "w", [2, 3])?, &[1, 0])?;
        g.output("y", g.matmul(x, w)?)
    });
    assert_eq!((better.before, better.plan.operators()), (2, 1), "{better}");
}

#[test]
fn work_on_other_streams_is_done_once_too() {
    let better = optimised(relaid(), |g| {
        let (x, w) = (row(g)?, weight(g, "w", [3, 1])?);
        let turned = g.scope("side", |g| g.permute(w, &[1, 0]))?;
        g.join("side")?;
        g.output("y", g.mul(x, turned)?)
    });
    assert!(better.plan.to_text().contains("once, side: %aclnnPermute.0"), "{}", better.plan.to_text());
}

#[test]
fn moves_read_weights_where_they_are_when_this_is_off_and_after_it_when_it_is_on() {
    let work = |g: &Builder| g.output("y", g.mul(row(g)?, g.permute(weight(g, "w", [3, 1])?, &[1, 0])?)?);
    let moves = OFF.needless_moves(PassMode::Verified);
    assert!(!optimised(moves, work).plan.to_text().contains("aclnnPermute.0"));
    assert!(optimised(moves.relaid_weights(PassMode::Verified), work).plan.to_text().contains("once, origin: "));
}

#[test]
fn a_plan_that_is_called_does_it_in_every_run() {
    let body = Plan::build(|g| {
        let w = g.permute(weight(g, "w", [3, 1])?, &[1, 0])?;
        g.output("y", g.mul(row(g)?, w)?)
    })
    .unwrap();
    let body = body.optimise(&relaid()).unwrap().plan;
    assert_eq!(body.operators(), 1);
    let caller = Plan::build(|g| {
        let w = g.input("w", [3, 1], F32, Input::Static)?;
        let y: [_; 1] = g.call(&body, &[w, row(g)?])?;
        g.output("y", y[0])
    })
    .unwrap();
    let text = caller.to_text();
    assert!(text.contains("aclnnPermute.0(") && !text.contains("once, "), "{text}");
    // The caller may say that its own memory is a weight.
    let caller = Plan::build(|g| {
        let y: [_; 1] = g.call(&body, &[weight(g, "w", [3, 1])?, row(g)?])?;
        g.output("y", y[0])
    });
    let better = caller.unwrap().optimise(&relaid()).unwrap();
    assert!(better.plan.to_text().contains("once, origin: "), "{}", better.plan.to_text());
}

#[cfg(feature = "cache")]
#[test]
fn stored_plans_do_it_once() {
    use crate::plan::{Code, Registry};

    let better = optimised(relaid(), turned);
    let registry = Registry::new();
    let (stored, _) = Plan::from_bytes(&better.plan.to_bytes(), Code::Registered(&registry)).unwrap();
    assert_eq!(better.plan.difference(&stored), None);
    assert!(stored.to_text().contains("once, origin: %aclnnPermute.0"));
}

fn turned(g: &Builder) -> Result<()> {
    let w = g.permute(weight(g, "w", [3, 1])?, &[1, 0])?;
    g.output("y", g.mul(g.abs(row(g)?)?, w)?)
}

#[test]
fn a_recipe_in_which_it_depends_on_runs_is_wrong() {
    use crate::plan::recipe::{FunctionInfo, FunctionKind, Recipe, StorageKind};

    let better = optimised(relaid(), turned);
    let recipe = &better.plan.0.recipe;
    assert_eq!(recipe.wrong_once(), None);
    let wrong = |change: &dyn Fn(&mut Recipe)| {
        let mut changed = recipe.clone();
        change(&mut changed);
        changed.wrong_once().unwrap()
    };
    let brought = "it is done once, and reads what runs write or bring";
    assert_eq!(wrong(&|r| r.inputs[0].class = Input::Static), (0, brought));
    let node = |name: &str| recipe.nodes.iter().position(|one| recipe.operator(one) == Some(name)).unwrap();
    let written = |node: usize| {
        let accesses = recipe.accesses_of(&recipe.nodes[node]);
        recipe.storage_of(accesses.iter().find(|one| one.mode.writes()).unwrap().value) as usize
    };
    let abs = node("aclnnAbs");
    assert_eq!(wrong(&|r| r.storages[written(abs)].kind = StorageKind::Once), (abs as u32, brought));
    let foreign = wrong(&|r| {
        let foreign = |one: &mut FunctionInfo| one.change(|parts| parts.kind = FunctionKind::Foreign);
        r.functions.iter_mut().for_each(foreign);
    });
    assert_eq!(foreign, (0, "it is done once, and is no operator of the library"));
    // A run that writes the weight.
    let access =
        recipe.nodes[abs].first as usize + usize::from(!recipe.accesses_of(&recipe.nodes[abs])[0].mode.writes());
    assert_eq!(wrong(&|r| r.accesses[access].value = r.inputs[0].value), (0, brought));
}

/// A chain of permutations of a weight, the last of which a run reads.
fn chain(links: usize) -> Plan {
    Plan::build(|g| {
        let mut w = weight(g, "w", [4, 4])?;
        for _ in 0..links {
            w = g.permute(w, &[1, 0])?;
        }
        g.output("y", g.add(g.input("x", [4, 4], F32, Input::Copied)?, w)?)
    })
    .unwrap()
}

#[test]
fn a_chain_without_room_is_walked_once() {
    for links in [100, 1000] {
        let (steps, done) = super::super::relaid::steps(&chain(links), 10);
        assert_eq!(done, 0);
        assert!(steps <= 4 * links + 4, "{steps} for {links} links");
        let (steps, done) = super::super::relaid::steps(&chain(links), 64);
        assert_eq!((steps, done), (links + 1, links));
    }
}

/// Random work on weights and on what a run brings.
fn random_work(g: &Builder, seed: u64) -> Result<()> {
    let mut dice = crate::plan::builder::tests::generate::Dice(seed);
    let mut values = vec![g.input("x", [4, 4], F32, Input::Copied)?];
    for name in ["a", "b"] {
        values.push(weight(g, name, [4, 4])?);
    }
    for _ in 0..12 {
        let (one, other) = (values[dice.index(values.len())], values[dice.index(values.len())]);
        values.push(match dice.index(3) {
            0 => g.add(one, other)?,
            1 => g.permute(one, &[1, 0])?,
            _ => g.abs(one)?,
        });
    }
    let (last, brought) = (values[values.len() - 1], values[0]);
    g.output("y", g.add(last, brought)?)?;
    g.output("z", g.add(values[values.len() - 2], brought)?)
}

#[test]
fn what_executables_keep_has_room() {
    use crate::plan::recipe::StorageKind;

    let mut fewer = 0;
    for seed in 0..200 {
        let plan = Plan::build(|g| random_work(g, seed)).unwrap();
        let mut last = 0;
        for most in [0, 63, 64, 128, 192, u64::MAX] {
            let better = plan.optimise(&relaid().most_relaid(most)).unwrap();
            let recipe = &better.plan.0.recipe;
            let read = recipe.read_by_runs();
            let kept = recipe.storages.iter().zip(read).filter(|(one, read)| one.kind == StorageKind::Once && *read);
            let kept: u64 = kept.map(|(one, _)| one.bytes.as_fixed().unwrap()).sum();
            assert!(kept <= most, "{seed}: {kept} of {most}");
            fewer += usize::from(better.changes.len() < last);
            last = better.changes.len();
        }
    }
    assert_eq!(fewer, 0, "more room, and less is done once");
}
