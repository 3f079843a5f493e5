//! Plans that are called, where calls are kept.

use crate::plan::auto::bodies::put;

use super::*;

const WIDTH: usize = 128;

/// Two branches, and a product of their sum with each of two weights behind small work.
fn layer() -> Plan {
    build(|g| {
        let x = g.input("x", [1, WIDTH], F32, Input::Copied)?;
        let weights = ["first", "second"].map(|name| g.input(name, [WIDTH, WIDTH], F32, Input::Frozen));
        let branch = |factor| (0..6).try_fold(x, |y, _| g.muls(y, factor));
        let sum = g.add(branch(0.5)?, branch(2.0)?)?;
        g.output("y", weights.into_iter().try_fold(sum, |y, weight| g.matmul(g.tanh(g.abs(y)?)?, weight?))?)
    })
}

/// Calls a plan of an input and two weights twice, with weights of these classes the first time.
fn twice(called: &Plan, classes: [Input; 2]) -> Plan {
    build(|g| {
        let x = g.input("x", [1, WIDTH], F32, Input::Copied)?;
        let weight = |name: &str, class| g.input(name, [WIDTH, WIDTH], F32, class);
        let (first, second) = (weight("first", classes[0])?, weight("second", classes[1])?);
        let [y] = g.call(called, &[x, first, second])?;
        let frozen = weight("frozen", Input::Frozen)?;
        g.output("y", g.call(called, &[y, frozen, frozen]).map(|[y]: [Value; 1]| y)?)
    })
}

/// Memory so slow that a weight of 64 KiB is worth a prefetch.
fn slow() -> Auto {
    let rates = Rates { memory: 20_000, ..Rates::default() };
    Auto::new(target().rates(rates).unwrap()).keep_calls(true)
}

#[test]
fn what_is_updatable_where_a_plan_is_called_is_not_prefetched_and_all_else_overlaps() {
    let layer = layer();
    let fetched = |kept: &Overlapped| {
        let names = kept.report.prefetched.iter().map(|one| one.weight.clone().unwrap());
        (names.collect::<Vec<_>>(), count(kept, Reason::Bound), kept.report.moved.len())
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let (frozen, updatable) = (Input::Frozen, Input::Updatable);
    for (classes, want, bound) in [
        ([frozen, frozen], names(&["first", "second"]), 0),
        ([updatable, frozen], names(&["second"]), 1),
        ([frozen, updatable], names(&["first"]), 1),
        ([updatable, updatable], names(&[]), 2),
    ] {
        let plan = twice(&layer, classes);
        assert_eq!(fetched(&overlap(&plan, &slow())), (want, bound, 6), "{classes:?}");
    }
    // One that a plan passes on to another.
    let middle = build(|g| {
        let x = g.input("x", [1, WIDTH], F32, Input::Copied)?;
        let weight = |name: &str| g.input(name, [WIDTH, WIDTH], F32, Input::Static);
        g.output("y", g.call(&layer, &[x, weight("a")?, weight("b")?]).map(|[y]: [Value; 1]| y)?)
    });
    let nested = overlap(&twice(&middle, [updatable, frozen]), &slow());
    assert_eq!(fetched(&nested), (names(&["second"]), 1, 6));
}

/// Calls a plan of one input so many times in a row.
fn repeated(called: &Plan, times: usize) -> Plan {
    build(|g| {
        let x = g.input("x", [8], F32, Input::Copied)?;
        g.output("y", g.call_times(times, called, [x], &[]).map(|[y]: [Value; 1]| y)?)
    })
}

#[test]
fn why_a_plan_that_is_called_stays_as_it_is_is_told() {
    let own = build(|g| {
        let x = g.input("x", [8], F32, Input::Copied)?;
        let y = g.scope("own", |g| g.abs(x))?;
        g.join("own")?;
        g.output("y", g.add(x, y)?)
    });
    let chain = build(|g| {
        let x = g.input("x", [8], F32, Input::Copied)?;
        g.output("y", (0..3).try_fold(x, |y, _| g.abs(y))?)
    });
    for (body, want) in [(own, (Reason::OwnStreams, 1)), (chain, (Reason::Needs, 3))] {
        let kept = overlap(&repeated(&body, 2), &auto().keep_calls(true));
        assert_eq!((kept.report.left, kept.report.after), (vec![want], kept.report.before));
    }
}

#[test]
fn what_is_called_stays_as_it_is_where_the_caller_would_be_too_large() {
    let body = branches();
    let Overlapped { plan: new, report } = overlap(&body, &auto());
    let pieces = |plan: &Plan| plan.callee().0.facts().pieces as usize;
    assert!((pieces(&body) + 1..2 * pieces(&body)).contains(&pieces(&new)));
    // The caller itself has fewer pieces than two calls.
    let most = (1 << 24) / pieces(&body) - 2;
    for (times, fits) in [(most, false), (most / 2, true)] {
        let mut recipe = repeated(&body, times).0.recorded.recipe.clone();
        assert_eq!(put(&mut recipe, 0, new.callee()), fits, "{times}");
        assert_eq!(recipe.called[0].is(&new.callee()), fits, "{times}");
    }
    let told = report.too_large();
    assert_eq!((told.moved.len(), told.after), (0, told.before));
    assert!(told.left.contains(&(Reason::TooLarge, 4)), "{told}");
}
