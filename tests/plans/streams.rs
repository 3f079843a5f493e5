//! Streams and events of plans: how many records, waits and forks there are, and that they order what they must.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::mock;
use racl::ErrorKind;
use racl::op::{DataType::F32, aclnn};
use racl::plan::{Executable, Fork, Frozen, Input, Mode, ORIGIN_TAG, Options, Plan, RunOptions, Scope, Simulated};

use crate::kernels::tell_priority;
use crate::{Alone, give, result};

/// Records and waits that capturing the plan makes.
fn records_and_waits(alone: &Alone, plan: &Plan) -> (u64, u64, Executable) {
    let count = || (mock::calls("aclrtRecordEvent"), mock::calls("aclrtStreamWaitEvent"));
    let before = count();
    let exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let after = count();
    assert_eq!(plan.events() as u64, after.0 - before.0);
    (after.0 - before.0, after.1 - before.1, exe)
}

#[test]
fn two_nested_scopes_with_two_events_at_the_start_are_five_records() {
    let alone = Alone::new();
    // Here: no record at the start, one for each fork, and the second fork's record ends its stream too.
    for (fork, records) in [(Fork::AtStart, 5), (Fork::Here, 5)] {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            let (one, two) = (g.event("1")?, g.event("2")?);
            let a = g.adds(x, 1.0)?;
            g.record(&one)?;
            let (b, c) = g.scope_with("s1", Scope::new().fork(fork), |g| {
                g.wait(&one)?;
                let b = g.muls(a, 2.0)?;
                g.record(&two)?;
                let c = g.scope_with("s2", Scope::new().fork(fork), |g| {
                    g.wait(&two)?;
                    g.adds(b, 3.0)
                })?;
                Ok((b, c))
            })?;
            g.join("s2")?;
            g.join("s1")?;
            let y = g.add(b, c)?;
            g.output("y", y)
        })
        .unwrap();
        let (made, _, mut exe) = records_and_waits(&alone, &plan);
        assert_eq!(made, records, "{fork:?}");
        let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
        exe.run(&alone.stream(), &mut give(&exe, "x", &x)).unwrap();
        // b = 4, c = 7
        assert_eq!(result(&exe, "y"), [11.0; 4]);
    }
}

#[test]
fn a_scope_is_one_fork_and_one_join_however_often_it_is_entered() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let a = g.scope("s", |g| g.adds(x, 1.0))?;
        let b = g.scope("s", |g| g.scope("s", |g| g.muls(a, 2.0)))?;
        let c = g.scope(ORIGIN_TAG, |g| g.abs(x))?;
        g.join("s")?;
        let y = g.add(b, c)?;
        g.output("y", y)
    })
    .unwrap();
    let (records, waits, mut exe) = records_and_waits(&alone, &plan);
    assert_eq!((records, waits, plan.streams()), (2, 2, 2));
    let x = alone.device.upload_tensor(&[-1.0_f32, 2.0, 0.0, 4.0], [4]).unwrap();
    exe.run(&alone.stream(), &mut give(&exe, "x", &x)).unwrap();
    assert_eq!(result(&exe, "y"), [1.0, 8.0, 2.0, 14.0]);
}

#[test]
fn a_tag_that_was_joined_is_forked_again() {
    let alone = Alone::new();
    for fork in [Fork::Here, Fork::AtStart] {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            let mut value = x;
            for _ in 0..3 {
                value = g.scope_with("s", Scope::new().fork(fork), |g| g.adds(value, 1.0))?;
                g.join("s")?;
                value = g.muls(value, 2.0)?;
            }
            g.output("y", value)
        })
        .unwrap();
        let (records, waits, mut exe) = records_and_waits(&alone, &plan);
        assert_eq!((records, waits), (6, 6));
        let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
        exe.run(&alone.stream(), &mut give(&exe, "x", &x)).unwrap();
        // 4, 10, 22
        assert_eq!(result(&exe, "y"), [22.0; 4]);
    }
}

#[test]
fn a_wait_on_the_own_stream_is_dropped() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let event = g.event("e")?;
        g.adds(x, 1.0)?;
        g.record(&event)?;
        g.wait(&event)?;
        g.adds(x, 1.0).map(drop)
    })
    .unwrap();
    let (records, waits, _exe) = records_and_waits(&alone, &plan);
    assert_eq!((records, waits, plan.lints().len()), (1, 0, 0));
}

#[test]
fn a_wait_is_for_the_latest_record_at_that_time() {
    let alone = Alone::new();
    let plan = |rerecord: bool| {
        Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            let (event, buffer) = (g.event("e")?, g.empty([4], F32)?);
            aclnn::adds(g, &x, 1.0_f32, 1, &mut { buffer })?;
            g.record(&event)?;
            let first = g.scope_with("a", Scope::new().fork(Fork::AtStart), |g| {
                g.wait(&event)?;
                g.muls(buffer, 10.0)
            })?;
            g.join("a")?;
            aclnn::adds(g, &buffer, 1.0_f32, 1, &mut { buffer })?;
            if rerecord {
                g.rerecord(&event)?;
            }
            let second = g.scope_with("b", Scope::new().fork(Fork::AtStart), |g| {
                g.wait(&event)?;
                g.muls(buffer, 10.0)
            })?;
            g.join("b")?;
            let y = g.sub(second, first)?;
            g.output("y", y)
        })
    };
    // Without it the second wait is for the first record, which says nothing of the second write.
    assert_eq!(plan(false).unwrap_err().findings()[0].kind, racl::plan::FindingKind::UnorderedAccess);
    let mut exe = plan(true).unwrap().capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[5.0_f32; 4], [4]).unwrap();
    exe.run(&alone.stream(), &mut give(&exe, "x", &x)).unwrap();
    assert_eq!(result(&exe, "y"), [10.0; 4]);
}

#[test]
fn waiting_for_a_value_records_once_for_all_waits_and_never_on_its_own_stream() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let early = g.scope("s", |g| g.muls(x, 2.0))?;
        let own = g.adds(x, 1.0)?;
        let mut sum = g.wait_value(own, own)?;
        for tag in ["a", "b", "c"] {
            let later = g.wait_value(x, early)?;
            sum = g.scope(tag, |g| g.add(later, early))?;
        }
        g.join("c")?;
        g.output("y", sum)
    })
    .unwrap();
    // The start, one behind the producer, one for the fork behind `own`, and the ends of s, a, b and c.
    let (records, waits, mut exe) = records_and_waits(&alone, &plan);
    assert_eq!((records, waits), (7, 4 + 3 + 4));
    let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    exe.run(&alone.stream(), &mut give(&exe, "x", &x)).unwrap();
    assert_eq!(result(&exe, "y"), [3.0; 4]);
}

#[test]
fn waiting_for_all_values_orders_the_stream_after_each() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let a = g.scope("a", |g| g.adds(x, 1.0))?;
        let b = g.scope("b", |g| g.adds(x, 2.0))?;
        g.wait_all(&[a, b, x, a])?;
        let y = g.add(a, b)?;
        g.output("y", y)
    })
    .unwrap();
    let mut exe = plan.eager(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    exe.run(&alone.stream(), &mut give(&exe, "x", &x)).unwrap();
    assert_eq!(result(&exe, "y"), [5.0; 4]);
}

#[test]
fn a_wait_for_a_value_waits_for_all_that_wrote_its_parts() {
    let halves = |wait: bool| {
        Plan::build(|g| {
            let x = g.input("x", [8], F32, Input::Static)?;
            let whole = g.empty([16], F32)?;
            let parts = [g.narrow(whole, 0, 0..8)?, g.narrow(whole, 0, 8..16)?];
            for (tag, part) in ["1", "2"].into_iter().zip(parts) {
                g.scope(tag, |g| aclnn::abs(g, &x, &mut { part }))?;
            }
            if wait {
                g.wait_all(&[whole])?;
            }
            let y = g.muls(whole, 2.0)?;
            g.output("y", y)
        })
    };
    let races = halves(false).unwrap_err();
    assert_eq!(races.findings().len(), 2, "one for each half: {races:#}");
    halves(true).unwrap();
}

#[test]
fn the_priority_of_a_scope_is_that_of_its_stream() {
    let alone = Alone::new();
    for (mode, priority) in [Mode::Captured, Mode::Eager].into_iter().flat_map(|mode| [0, 3, 7].map(|p| (mode, p))) {
        let told = [(); 2].map(|()| Arc::new(AtomicU32::new(u32::MAX)));
        let [inside, after] = told.each_ref().map(tell_priority);
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Static)?;
            let (a, y) = (g.empty([4], F32)?, g.empty([4], F32)?);
            g.scope_with("side", Scope::new().priority(priority), |g| g.foreign(&inside, &[x], &[a]))?;
            g.join("side")?;
            g.foreign(&after, &[a], &[y])?;
            g.output("y", y)
        });
        let options = RunOptions::new().mode(mode);
        let mut exe = plan.unwrap().executable(&alone.device, &options, Frozen::new()).unwrap();
        exe.run(&alone.stream(), &mut exe.bindings()).unwrap();
        assert_eq!(told.map(|told| told.load(Ordering::Relaxed)), [priority, 0], "{mode:?}");
    }
}

#[test]
fn one_tag_in_two_executables_is_two_streams() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Static)?;
        let y = g.scope("side", |g| g.muls(x, 2.0))?;
        g.output("y", y)
    })
    .unwrap();
    let eager = || plan.executable(&alone.device, &RunOptions::new().mode(Mode::Eager), Frozen::new()).unwrap();
    let (mut held, mut free) = (eager(), eager());
    let streams = [alone.stream(), alone.stream()];
    mock::log_launches(true);
    mock::hold(&streams[0]).unwrap();
    held.run(&streams[0], &mut held.bindings()).unwrap();
    free.run(&streams[1], &mut free.bindings()).unwrap();
    streams[1].synchronize().unwrap();
    assert_eq!(mock::launches().len(), 1, "the other run is held");
    mock::release(&streams[0]).unwrap();
    streams[0].synchronize().unwrap();
    let ran: Vec<_> = mock::launches().iter().map(|launch| launch.stream).collect();
    mock::log_launches(false);
    assert!(ran.len() == 2 && ran[0] != ran[1], "{ran:?}");
}

#[test]
fn there_are_as_many_tags_as_can_be_numbered() {
    let refused = Plan::build(|g| {
        for tag in 1..usize::from(u16::MAX) {
            g.scope(&tag.to_string(), |_| Ok(()))?;
        }
        g.scope("one more", |_| Ok(()))
    });
    let error = refused.unwrap_err();
    let parts = ["more tags than can be numbered", "tests/plans/streams.rs:"];
    crate::common::assert_says(&error, racl::ErrorKind::InvalidPlan, &parts);
}

#[test]
fn the_scope_of_a_closure_ends_with_it_whoever_has_the_recording() {
    let _alone = Alone::new();
    let plan = Plan::build(|g| {
        let own = Plan::builder(Options::new());
        own.open_scope("of the other", Scope::new())?;
        let x = g.input("x", [4], F32, Input::Copied)?;
        let side = g.scope("side", |g| {
            let side = g.muls(x, 2.0)?;
            own.swap(g); // and what was recorded is the other's when the closure is over
            Ok(side)
        })?;
        // The scope that the other had stays open, and this one's is closed.
        g.close_scope()?;
        assert_eq!(g.close_scope().unwrap_err().kind(), ErrorKind::InvalidPlan);
        own.join("side")?; // refused inside its own scope
        own.output("y", own.add(x, side)?)?;
        own.swap(g);
        Ok(())
    });
    let plan = plan.unwrap();
    assert_eq!((plan.operators(), plan.streams()), (2, 2));
    let given = Simulated::new().tensor("x", &[1.0_f32; 4], [4]);
    assert_eq!(plan.simulate(1, &given).unwrap().to_vec::<f32>("y").unwrap(), [3.0; 4]);
}
