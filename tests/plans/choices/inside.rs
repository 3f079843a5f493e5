//! What stands in the plans that are chosen, and beside them.

use crate::common::mock;
use racl::ErrorKind;
use racl::op::DataType::{F32, I32};
use racl::plan::{FindingKind, Input, Plan, RunOptions};

use super::{WAYS, Way, all_ways, body, condition, made, round, times, with, x};
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
    for way in WAYS {
        let mut exe = made(way, plan.as_ref().unwrap(), &alone.device, &RunOptions::new()).unwrap();
        for (c, count) in [(0, 2), (1, 2), (1, 6), (0, 6)] {
            let x: Vec<f32> = (0..count).map(|i| i as f32).collect();
            let by = if c == 0 { 3.0 } else { 2.0 };
            let condition = alone.device.upload_tensor(&[c], [1]).unwrap();
            let tensor = alone.device.upload_tensor(&x, [x.len()]).unwrap();
            let mut bind = exe.bindings();
            bind.set(exe.input("c").unwrap(), &condition).set(exe.input("x").unwrap(), &tensor);
            exe.run(&stream, &mut bind).unwrap();
            let expected: Vec<f32> = x.iter().chain(&x).map(|x| x * by).collect();
            assert_eq!(crate::result(&exe, "y"), expected, "{way:?} {c} {count}");
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

#[test]
fn work_of_an_arm_that_fails_on_the_device_is_reported_when_it_is_chosen() {
    for way in WAYS {
        let alone = Alone::new();
        let (good, bad) = (times(2.0), body(&[], |g, x, _| g.abs(x)));
        let plan = Plan::build(|g| {
            let [y] = g.if_else(condition(g, I32)?, &bad, &good, &[x(g)?])?;
            g.output("y", y)
        });
        let context = alone.device.context().create_context().unwrap();
        mock::fail_task("aclnnAbs", 1, 507_015).unwrap();
        let mut exe = made(way, &plan.unwrap(), &context, &RunOptions::new()).unwrap();
        let stream = context.stream().unwrap();
        let x = context.upload_tensor(&[-1.0_f32; 4], [4]).unwrap();
        let numbers = [0, 1].map(|c: i32| context.upload_tensor(&[c], [1]).unwrap());
        let mut run = |which: usize| {
            let mut bind = exe.bindings();
            bind.set(exe.input("c").unwrap(), &numbers[which]).set(exe.input("x").unwrap(), &x);
            exe.run(&stream, &mut bind)?;
            let y = exe.output::<f32>(exe.output_id("y")?)?.to_vec();
            y.and_then(|y| stream.synchronize().map(|()| y))
        };
        assert_eq!(run(0).unwrap(), [-2.0; 4], "{way:?}: what is not chosen does not run");
        run(1).unwrap_err();
        mock::clear_failures();
        drop(stream.synchronize());
        drop(context.take_drop_errors());
    }
}

#[test]
fn streams_of_bodies_are_counted_before_anything_is_recorded() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let c = condition(g, I32)?;
        let [y] = g.switch(c, &[&times(2.0), &times(3.0)], &times(4.0), &[x(g)?])?;
        g.output("y", y)
    });
    let plan = plan.unwrap();
    for way in [Way::Graph, Way::Segments] {
        let with = |limit: u32| {
            mock::limit_streams(Some(limit)).unwrap();
            let made = made(way, &plan, &alone.device, &RunOptions::new()).map(drop);
            mock::limit_streams(None).unwrap();
            made
        };
        // What the check lets through is recorded, and the library itself never refuses.
        let enough = (1..100).find(|limit| match with(*limit) {
            Ok(()) => true,
            Err(few) => {
                let found = (few.kind(), few.findings()[0].kind);
                assert_eq!(found, (ErrorKind::InvalidPlan, FindingKind::Streams), "{few}");
                false
            }
        });
        let least = "a stream, three for bodies and the default one";
        assert!(enough.is_some_and(|limit| limit > 4), "{way:?}: {least}: {enough:?}");
    }
}

#[test]
fn host_functions_of_an_arm_come_behind_all_before_them_wherever_streams_are_chosen() {
    use racl::plan::{HostFunction, Options, auto};
    let alone = Alone::new();
    let log = HostFunction::new("test.log", 1, |_| {});
    let logs = body(&[], |g, x, _| {
        g.host_function(&log)?;
        g.abs(x)
    });
    let streams = |logs: &Plan| {
        let build = |options: Options| {
            Plan::build_with(options, |g| {
                let (c, x) = (condition(g, I32)?, x(g)?);
                let a = g.muls(x, 2.0)?;
                let [b] = g.if_else(c, logs, logs, &[x])?;
                g.output("y", g.add(a, b)?)
            })
            .unwrap()
        };
        let target = auto::Target::new(192 << 20, 24, 48).unwrap();
        let spread = build(Options::new().auto_streams(2));
        let overlapped = build(Options::new()).overlap(&auto::Auto::new(target).prefetch(false)).unwrap().plan;
        for plan in [&spread, &overlapped] {
            assert_eq!(all_ways(&alone, plan, &with(&[1])), [[3.0, 6.0, 9.0, -4.0]]);
        }
        // The stream of each bracket.
        let text = spread.to_text();
        text.lines()
            .filter(|line| line.contains(": if.0("))
            .map(|line| line.starts_with("origin:"))
            .collect::<Vec<_>>()
    };
    assert_eq!(streams(&logs), [true], "beside nothing");
    assert_eq!(streams(&body(&[], |g, x, _| g.abs(x))), [false], "beside the other operator");
}

#[test]
fn inputs_and_outputs_of_every_class_stand_beside_a_choice() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let c = g.input("c", [1], I32, Input::Host)?;
        let moves = g.input("moves", [4], F32, Input::Updatable)?;
        let x = g.adds(moves, 1.0)?;
        let [y] = g.if_else(c, &times(2.0), &times(3.0), &[x])?;
        let [_, z] = g.repeat_while(c, &round(), [c, y], &[g.full([4], F32, 1.0)?])?;
        g.output_to_host("z", g.add(z, moves)?)
    });
    let plan = plan.unwrap();
    let stream = alone.stream();
    for (way, buffers) in [(Way::Eager, 1), (Way::Graph, 1), (Way::Graph, 3), (Way::Segments, 1), (Way::Segments, 3)]
    {
        let mut exe = made(way, &plan, &alone.device, &RunOptions::new().host_output_buffers(buffers)).unwrap();
        let (c, moves, z) = (exe.input("c").unwrap(), exe.input("moves").unwrap(), exe.output_id("z").unwrap());
        let mut bind = exe.bindings();
        for (count, value) in [(0, 1.0_f32), (2, 5.0), (1, -1.0), (2, 7.0)] {
            // Another place each time.
            let memory = alone.device.upload_tensor(&[value; 4], [4]).unwrap();
            exe.run(&stream, bind.host(c, &[count], [1]).set(moves, &memory)).unwrap();
            let by = if count == 0 { 3.0 } else { 2.0 };
            let expected = (value + 1.0) * by * 2.0_f32.powi(count) + value;
            assert_eq!(exe.host_output::<f32>(z).unwrap(), [expected; 4], "{way:?} {count} {value}");
        }
        assert_eq!(exe.graphs(), usize::from(way != Way::Eager));
    }
}
