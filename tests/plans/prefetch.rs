//! Prefetches in plans: what is asked for, where, and when.

use crate::common::mock;
use racl::Prefetch;
use racl::op::DataType::{F32, U8};
use racl::plan::{After, FindingKind, Frozen, Input, Mode, Options, Plan, RunOptions, Scope};

use crate::{Alone, result};

/// A plan that prefetches from 100 bytes, and what its builder said it would ask for.
fn plan(options: Options, requests: &[Prefetch]) -> racl::Result<(Plan, Vec<usize>)> {
    let mut asked = Vec::new();
    let plan = Plan::build_with(options, |g| {
        let w = g.input("w", [100], U8, Input::Static)?;
        for request in requests {
            asked.push(g.prefetch(w, *request, After::Start)?);
        }
        Ok(())
    })?;
    Ok((plan, asked))
}

/// Calls and bytes of one run.
fn fetched(alone: &Alone, plan: &Plan, mode: Mode) -> (u64, u64) {
    let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
    let stream = alone.stream();
    let before = mock::prefetched();
    let mut bind = exe.bindings();
    exe.run(&stream, &mut bind).unwrap();
    stream.synchronize().unwrap();
    let after = mock::prefetched();
    (after.0 - before.0, after.1 - before.1)
}

#[test]
fn a_request_is_clipped_to_the_memory() {
    let alone = Alone::new();
    for (bytes, offset, expected) in [(50, 0, 50), (200, 0, 100), (200, 99, 1), (1, 0, 1), (usize::MAX, 40, 60)] {
        let (plan, asked) = plan(Options::new(), &[Prefetch::bytes(bytes).offset(offset)]).unwrap();
        assert_eq!(asked, [expected]);
        for mode in [Mode::Captured, Mode::Eager] {
            assert_eq!(fetched(&alone, &plan, mode), (1, expected as u64), "{bytes} from {offset}, {mode:?}");
        }
    }
}

#[test]
fn a_request_that_cannot_be_meant_is_refused() {
    let _alone = Alone::new();
    for (bytes, offset, part) in
        [(1, 100, "offset 100 of 100"), (1, 101, "offset 101 of 100"), (0, 0, "0 bytes"), (0, 200, "0 bytes")]
    {
        let error = plan(Options::new(), &[Prefetch::bytes(bytes).offset(offset)]).unwrap_err();
        let found = &error.findings()[0];
        assert_eq!(found.kind, FindingKind::Prefetch);
        assert!(found.message.contains(part) && found.message.contains("tests/plans/prefetch.rs:"), "{found}");
    }
}

#[test]
fn a_request_that_is_refused_leaves_nothing_behind() {
    let _alone = Alone::new();
    let plan = Plan::build(|g| {
        let w = g.input("w", [100], U8, Input::Static)?;
        let event = g.event("e")?;
        g.prefetch(w, Prefetch::all(), After::Event(&event)).unwrap_err();
        g.prefetch(w, Prefetch::bytes(0), After::Start).unwrap_err();
        // The same again is no repetition, since nothing was asked for.
        g.prefetch(w, Prefetch::all(), After::Start).map(drop)
    })
    .unwrap();
    assert_eq!((plan.lints().len(), plan.operators(), plan.streams()), (0, 1, 2));
}

#[test]
fn four_gibibytes_and_more_are_several_calls() {
    let alone = Alone::new();
    let bytes = (4_u64 << 30) + 100;
    let plan = Plan::build(|g| {
        let w = g.input("w", [bytes as usize], U8, Input::Tracked(racl::plan::OnMove::Recapture))?;
        assert_eq!(g.prefetch(w, Prefetch::all(), After::Start)?, bytes as usize);
        Ok(())
    })
    .unwrap();
    let Ok(w) = alone.device.alloc::<u8>(bytes as usize) else {
        return crate::common::skipped("the mock has no 4 GiB");
    };
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let (calls, stream) = (mock::calls("aclrtCmoAsync"), alone.stream());
    exe.run(&stream, &mut crate::give(&exe, "w", &w.into_shared())).unwrap();
    stream.synchronize().unwrap();
    assert_eq!((mock::calls("aclrtCmoAsync") - calls, mock::prefetched()), (2, (2, bytes)));
}

#[test]
fn repeated_requests_are_a_lint_or_left_out() {
    let alone = Alone::new();
    let requests = [Prefetch::bytes(60), Prefetch::bytes(50).offset(5), Prefetch::bytes(60).offset(10)];
    let (kept, asked) = plan(Options::new(), &requests).unwrap();
    assert_eq!(asked, [60, 50, 60]);
    assert_eq!(fetched(&alone, &kept, Mode::Captured), (3, 170));
    let lint = &kept.lints()[0];
    assert_eq!((kept.lints().len(), lint.kind), (1, FindingKind::RepeatedPrefetch));
    // Record at the start, wait, and the prefetches.
    assert_eq!(lint.positions, [2, 3]);
    assert!(
        lint.message.contains("prefetch (#3, stream \"prefetch\"") && lint.message.contains("repeats prefetch (#2")
    );
    let (dropped, asked) = plan(Options::new().drop_repeated_prefetches(), &requests).unwrap();
    assert_eq!((asked, dropped.lints().len()), (vec![60, 0, 60], 0));
    assert_eq!(fetched(&alone, &dropped, Mode::Captured), (2, 120));
}

#[test]
fn a_cap_is_a_share_of_what_the_device_reports() {
    let alone = Alone::new();
    mock::set_l2_cache_bytes(Some(100_000)).unwrap();
    for (share, expected) in [(0.5, 50_000), (1.0, 65_536), (0.001, 100)] {
        let plan = Plan::build_with(Options::new().prefetch_cap(share), |g| {
            let w = g.input("w", [65_536], U8, Input::Static)?;
            g.prefetch(w, Prefetch::all(), After::Start).map(drop)
        })
        .unwrap();
        assert_eq!(fetched(&alone, &plan, Mode::Captured), (1, expected), "{share}");
    }
    mock::set_l2_cache_bytes(None).unwrap();
    for share in [0.0, -1.0, 1.5, f64::NAN] {
        let error = Plan::build_with(Options::new().prefetch_cap(share), |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains(&format!("a cap of {share} of the L2 cache")), "{error}");
    }
}

#[test]
fn a_prefetch_waits_for_what_it_is_told_to_and_nothing_waits_for_it() {
    let alone = Alone::new();
    // `After::Value` needs no record at the start: its wait is what forks.
    for (after, records, waits) in [("start", 2, 2), ("value", 2, 2), ("event", 2, 2)] {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Static)?;
            let w = g.input("w", [4], F32, Input::Static)?;
            let event = g.event("e")?;
            let h = g.tanh(x)?;
            if after == "event" {
                g.record(&event)?;
            }
            let after = match after {
                "start" => After::Start,
                "value" => After::Value(h),
                _ => After::Event(&event),
            };
            g.prefetch(w, Prefetch::all(), after)?;
            let y = g.mul(h, w)?;
            g.output("y", y)
        })
        .unwrap();
        let before = (mock::calls("aclrtRecordEvent"), mock::calls("aclrtStreamWaitEvent"));
        let _exe = plan.capture(&alone.device, Frozen::new()).unwrap();
        let made = (mock::calls("aclrtRecordEvent") - before.0, mock::calls("aclrtStreamWaitEvent") - before.1);
        assert_eq!(made, (records, waits), "{after}");
    }
}

/// Whether the prefetch has run while the producer, a gate from outside before it, has not.
#[track_caller]
fn waits(alone: &Alone, after: &str) -> bool {
    let mut gate = None;
    let plan = Plan::build(|g| {
        let x = g.input("x", [8], F32, Input::Static)?;
        let w = g.input("w", [100], U8, Input::Static)?;
        let held = g.external("held")?;
        gate = Some(held);
        let produced = g.scope("1", |g| {
            g.wait_external(held)?;
            g.muls(x, 2.0)
        })?;
        let event = g.event("done")?;
        g.scope("1", |g| g.record(&event))?;
        let after = match after {
            "value" => After::Value(produced),
            "event" => After::Event(&event),
            _ => After::Start,
        };
        g.prefetch(w, Prefetch::all(), after)?;
        g.output("y", produced)
    })
    .unwrap();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let (stream, other) = (alone.stream(), alone.stream());
    let before = mock::prefetched().0;
    exe.run(&stream, &mut exe.bindings()).unwrap();
    mock::run_until_idle();
    let early = mock::prefetched().0 > before;
    exe.signal(gate.unwrap(), &other).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(mock::prefetched().0, before + 1);
    !early
}

#[test]
fn a_prefetch_starts_after_what_it_depends_on_and_not_later() {
    let alone = Alone::new();
    assert!(waits(&alone, "value"));
    assert!(waits(&alone, "event"));
    assert!(!waits(&alone, "start"), "nothing holds it");
}

#[test]
fn a_prefetch_of_memory_that_updates_move_is_refused() {
    let refused = Plan::build(|g| {
        let w = g.input("w", [100], U8, Input::Updatable)?;
        g.prefetch(w, Prefetch::all(), After::Start).map(drop)
    })
    .unwrap_err();
    assert_eq!(refused.findings()[0].kind, FindingKind::Prefetch);
}

#[test]
fn a_prefetch_in_a_scope_is_work_of_its_stream() {
    let alone = Alone::new();
    for mode in [Mode::Captured, Mode::Eager] {
        let mut gate = None;
        let plan = Plan::build(|g| {
            let (x, w) = (g.input("x", [4], F32, Input::Static)?, g.input("w", [100], U8, Input::Static)?);
            let (go, done) = (g.external("go")?, g.external("done")?);
            gate = Some((go, done));
            g.scope_with("side", Scope::new().priority(2), |g| {
                g.wait_external(go)?;
                g.prefetch(w, Prefetch::all(), After::Start)
            })?;
            let y = g.adds(x, 1.0)?;
            g.record_external(done)?;
            g.output("y", y)
        })
        .unwrap();
        assert_eq!(plan.streams(), 2, "that of prefetches is for those of the origin");
        let (go, done) = gate.unwrap();
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let (stream, other) = (alone.stream(), alone.stream());
        let before = mock::prefetched();
        exe.run(&stream, &mut exe.bindings()).unwrap();
        exe.wait_signal(done, &other).unwrap();
        other.synchronize().unwrap();
        mock::run_until_idle();
        assert_eq!(mock::prefetched(), before, "behind the gate, as all of its stream");
        exe.signal(go, &other).unwrap();
        assert_eq!(result(&exe, "y"), [1.0; 4]);
        stream.synchronize().unwrap();
        assert_eq!(mock::prefetched(), (before.0 + 1, before.1 + 100));
    }
}
