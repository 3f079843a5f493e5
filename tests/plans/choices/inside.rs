//! What stands in the plans that are chosen, and beside them.

use racl::op::DataType::{F32, I32};
use racl::plan::{Frozen, Input, Mode, Plan, RunOptions};

use super::{all_ways, body, condition, round, times, with, x};
use crate::Alone;

/// 64 KiB that are written, and read later.
fn large(by: f64) -> Plan {
    body(&["w"], move |g, x, w| {
        let wide = g.full([4096, 4], F32, by)?;
        let mut all = g.add(wide, x)?;
        for _ in 0..3 {
            all = g.adds(all, 1.0)?;
        }
        let row = g.narrow(all, 0, 4095..4096)?;
        g.mul(g.reshape(row, [4])?, w[0])
    })
}

#[test]
fn choices_stand_in_choices_in_calls_and_in_loops() {
    let alone = Alone::new();
    let inner = Plan::build(|g| {
        let c = g.input("c", [1], I32, Input::Copied)?;
        let x = g.input("x", [4], F32, Input::Copied)?;
        let less = g.adds(c, -1)?;
        let [y] = g.switch(less, &[&times(3.0), &times(5.0)], &times(7.0), &[x])?;
        g.output("c", less)?;
        g.output("y", y)
    });
    let inner = inner.unwrap();
    let called = Plan::build(|g| {
        let c = g.input("c", [1], I32, Input::Copied)?;
        let x = g.input("x", [4], F32, Input::Copied)?;
        let [c, x] = g.scope("side", |g| g.if_then(c, &inner, &[c, x]))?;
        g.join("side")?;
        g.output("c", c)?;
        g.output("x", x)
    });
    let called = called.unwrap();
    let looped = Plan::build(|g| {
        let c = g.input("c", [1], I32, Input::Copied)?;
        let x = g.input("x", [4], F32, Input::Copied)?;
        let [c, x] = g.call_times(2, &called, [c, x], &[])?;
        g.output("more", c)?;
        g.output("c", c)?;
        g.output("x", x)
    });
    let looped = looped.unwrap();
    let plan = Plan::build(|g| {
        let c = condition(g, I32)?;
        let [_, y] = g.repeat_while(c, &looped, [c, x(g)?], &[])?;
        g.output("y", y)
    });
    // Each number from the first down to 1 goes through the switch: 1 is case 0, 2 case 1, more the rest.
    let left = all_ways(&alone, &plan.unwrap(), &with(&[0, 1, 2, 3, 5]));
    let factors: Vec<f32> = left.iter().map(|y| y[0]).collect();
    assert_eq!(factors, [1.0, 3.0, 15.0, 105.0, 5145.0]);
}

#[test]
fn memory_of_one_arm_is_that_of_the_other_and_what_loops_need_lasts() {
    let alone = Alone::new();
    let (a, b) = (large(1.0), large(2.0));
    let step = Plan::build(|g| {
        let left = g.input("left", [1], I32, Input::Copied)?;
        let x = g.input("x", [4], F32, Input::Copied)?;
        let w = g.input("w", [4], F32, Input::Copied)?;
        let [x] = g.if_else(left, &large(0.5), &large(0.25), &[x, w])?;
        let left = g.adds(left, -1)?;
        g.output("more", left)?;
        g.output("left", left)?;
        g.output("x", x)
    });
    let step = step.unwrap();
    let plan = Plan::build(|g| {
        let (c, x) = (condition(g, I32)?, x(g)?);
        // Used by every round and not before: nothing else may have its place.
        let w = g.full([4], F32, 2.0)?;
        let before = g.adds(x, 1.0)?;
        let [y] = g.if_else(c, &a, &b, &[before, w])?;
        let [_, z] = g.repeat_while(c, &step, [c, y], &[w])?;
        g.output("y", g.add(z, before)?)
    });
    let plan = plan.unwrap();
    let left = all_ways(&alone, &plan, &with(&[0, 1, 3]));
    let one = |x: f32, wide: f32| (x + wide + 3.0) * 2.0;
    let expected = |x: f32, c: i32| {
        let first = one(x + 1.0, if c != 0 { 1.0 } else { 2.0 });
        (0..c).fold(first, |x, _| one(x, 0.5)) + x + 1.0
    };
    for (y, c) in left.iter().zip([0, 1, 3]) {
        assert_eq!(*y, [1.0, 2.0, 3.0, -4.0].map(|x| expected(x, c)), "{c}");
    }
    let arena = plan.memory(&[]).unwrap().peak;
    assert!(arena < 3 * 65536, "two of 64 KiB at once, of any arm: {arena}");
}

#[test]
fn plans_of_any_size_choose() {
    let alone = Alone::new();
    let scaled = |by: f64| {
        Plan::build(move |g| {
            let n = g.symbol("n", 1..=64)?;
            let x = g.input("x", [n], F32, Input::Copied)?;
            let wide = g.cat(&[x, x], 0)?;
            g.output("y", g.muls(wide, by)?)
        })
        .unwrap()
    };
    let plan = Plan::build(|g| {
        let m = g.symbol("m", 1..=16)?;
        let (c, x) = (condition(g, I32)?, g.input("x", [m * 2], F32, Input::Copied)?);
        let [y] = g.if_else(c, &scaled(2.0), &scaled(3.0), &[x])?;
        assert_eq!(g.dims(y)?, [m * 4]);
        g.output("y", y)
    });
    let stream = alone.stream();
    for mode in [Mode::Eager, Mode::Captured] {
        let options = RunOptions::new().mode(mode);
        let mut exe = plan.as_ref().unwrap().executable(&alone.device, &options, Frozen::new()).unwrap();
        for (c, count) in [(0, 2), (1, 2), (1, 6), (0, 6)] {
            let x: Vec<f32> = (0..count).map(|i| i as f32).collect();
            let by = if c == 0 { 3.0 } else { 2.0 };
            let condition = alone.device.upload_tensor(&[c], [1]).unwrap();
            let tensor = alone.device.upload_tensor(&x, [x.len()]).unwrap();
            let mut bind = exe.bindings();
            bind.set(exe.input("c").unwrap(), &condition).set(exe.input("x").unwrap(), &tensor);
            exe.run(&stream, &mut bind).unwrap();
            let expected: Vec<f32> = x.iter().chain(&x).map(|x| x * by).collect();
            assert_eq!(crate::result(&exe, "y"), expected, "{mode:?} {c} {count}");
        }
    }
}

#[test]
fn work_of_other_streams_goes_on_beside_a_choice() {
    let alone = Alone::new();
    let body = round();
    let plan = Plan::build(|g| {
        let (c, x) = (condition(g, I32)?, x(g)?);
        let ones = g.full([4], F32, 1.0)?;
        let beside = g.scope("1", |g| {
            let wide = g.full([4096, 4], F32, 1.0)?;
            let sum = g.add(wide, x)?;
            g.reshape(g.narrow(sum, 0, 7..8)?, [4])
        })?;
        let [_, y] = g.repeat_while(c, &body, [c, x], &[ones])?;
        let [other] = g.scope("2", |g| {
            let y = g.wait_value(y, y)?;
            g.if_else(c, &times(2.0), &times(3.0), &[y])
        })?;
        g.join("1")?;
        g.join("2")?;
        g.output("y", g.add(g.add(other, beside)?, y)?)
    });
    let left = all_ways(&alone, &plan.unwrap(), &with(&[0, 2]));
    assert_eq!(
        left,
        [[1.0, 2.0, 3.0, -4.0].map(|x| x * 4.0 + x + 1.0), [1.0, 2.0, 3.0, -4.0].map(|x| x * 12.0 + x + 1.0)]
    );
}
