//! Plans that are called, where calls are kept.

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
