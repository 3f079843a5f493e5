//! Drops of what a gate of another executable holds up: none waits for it, and nothing is lost.

use crate::common::mock;
use racl::op::DataType::F32;
use racl::plan::{Executable, External, Frozen, Input, Mode, OnMove, Plan, Pool, RunOptions, Scope};
use racl::{CaptureMode, ErrorKind, Stream};

use crate::{Alone, give, result};

/// y = |t + 1|, after `name` was signalled if there is one, on a side stream or on that of the run.
fn plan(name: Option<&str>, side: bool) -> (Plan, Option<External>) {
    let mut gate = None;
    let plan = Plan::build(|g| {
        let t = g.input("t", [4], F32, Input::Tracked(OnMove::Recapture))?;
        gate = name.map(|name| g.external(name)).transpose()?;
        let more = if side {
            let more = g.scope_with("side", Scope::new(), |g| {
                gate.map_or(Ok(()), |gate| g.wait_external(gate))?;
                g.adds(t, 1.0)
            })?;
            g.join("side")?;
            more
        } else {
            gate.map_or(Ok(()), |gate| g.wait_external(gate))?;
            g.adds(t, 1.0)?
        };
        let y = g.abs(more)?;
        g.output("y", y)
    });
    (plan.unwrap(), gate)
}

const WAYS: [(Mode, bool); 4] =
    [(Mode::Captured, false), (Mode::Captured, true), (Mode::Eager, false), (Mode::Eager, true)];

/// An executable with a run on `stream`, and its gate.
fn ran(
    alone: &Alone,
    name: Option<&str>,
    (mode, side): (Mode, bool),
    pool: &Pool,
    stream: &Stream,
) -> (Executable, Option<External>) {
    let (plan, gate) = plan(name, side);
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let options = RunOptions::new().mode(mode).pool(pool);
    let mut exe = plan.executable(&alone.device, &options, Frozen::new()).unwrap();
    exe.run(stream, &mut give(&exe, "t", &t)).unwrap();
    (exe, gate)
}

/// The gates that errors of drops name; there are no others.
#[track_caller]
fn opened(alone: &Alone) -> Vec<String> {
    let errors = alone.device.context().take_drop_errors();
    let name = |error: &racl::Error| {
        let text = format!("{error:#}");
        assert!(error.kind() == ErrorKind::Aborted && text.contains("external gate "), "{text}");
        text.split('"').nth(1).unwrap().to_owned()
    };
    let mut names: Vec<_> = errors.iter().map(name).collect();
    names.sort();
    names
}

/// Streams, events, graphs, allocations and bytes on the device that are alive.
fn live() -> [u64; 5] {
    let live = mock::live_handles();
    [live.streams, live.events, live.graphs, live.device_allocations, live.device_bytes]
}

/// That the device can be closed, and that nothing is alive then.
#[track_caller]
fn assert_nothing_left(alone: Alone) {
    // Elsewhere tests that were skipped half way have left something.
    crate::common::needs_mock("it counts handles");
    assert!(alone.device.context().take_drop_errors().is_empty());
    let Alone { device, _watched, _lock } = alone;
    device.close().unwrap();
    assert_eq!(live(), [0; 5]);
}

/// How the second run is ordered after the first.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Behind {
    Stream,
    Pool,
    Event,
}

#[test]
fn an_executable_behind_another_goes_first() {
    for first in WAYS {
        for second in WAYS {
            for behind in [Behind::Stream, Behind::Pool, Behind::Event] {
                for gate in [None, Some("second")] {
                    let alone = Alone::new();
                    let pools = [Pool::new(&alone.device), Pool::new(&alone.device)];
                    let streams = [alone.stream(), alone.stream()];
                    let (a, _) = ran(&alone, Some("first"), first, &pools[0], &streams[0]);
                    let on = &streams[usize::from(behind != Behind::Stream)];
                    if behind == Behind::Event {
                        streams[0].fork(on).unwrap();
                    }
                    let pool = &pools[usize::from(behind != Behind::Pool)];
                    let (b, _) = ran(&alone, gate, second, pool, on);
                    drop(b);
                    mock::run_until_idle();
                    assert!(!streams[0].is_complete().unwrap() && !on.is_complete().unwrap());
                    drop(a);
                    let names: Vec<_> = [Some("first"), gate].into_iter().flatten().collect();
                    assert_eq!(opened(&alone), names, "{first:?} {second:?} {behind:?}");
                    drop((pools, streams));
                    assert_nothing_left(alone);
                }
            }
        }
    }
}

#[test]
fn what_is_dropped_behind_a_gate_ends_when_that_is_signalled() {
    crate::common::needs_mock("it uses mock::run_until_idle");
    for second in WAYS {
        let alone = Alone::new();
        let (stream, other) = (alone.stream(), alone.stream());
        let pool = Pool::new(&alone.device);
        let (mut a, ready) = ran(&alone, Some("first"), (Mode::Captured, true), &pool, &stream);
        for gate in [None, Some("second")] {
            let (b, _) = ran(&alone, gate, second, &pool, &stream);
            drop(b);
        }
        a.signal(ready.unwrap(), &other).unwrap();
        assert_eq!(result(&a, "y"), [2.0; 4]);
        stream.synchronize().unwrap();
        assert_eq!(opened(&alone), ["second"]);
        // The gate of the first one was not touched.
        let t = alone.device.upload_tensor(&[-7.0_f32; 4], [4]).unwrap();
        a.run(&stream, &mut give(&a, "t", &t)).unwrap();
        mock::run_until_idle();
        assert!(!stream.is_complete().unwrap());
        a.signal(ready.unwrap(), &other).unwrap();
        assert_eq!(result(&a, "y"), [6.0; 4]);
        drop((a, pool, stream, other, t));
        assert_nothing_left(alone);
    }
}

#[test]
fn signals_of_a_dropped_executable_that_come_behind_the_gate_are_waited_for() {
    for second in WAYS {
        let alone = Alone::new();
        let (stream, other) = (alone.stream(), alone.stream());
        let pool = Pool::new(&alone.device);
        let (a, ready) = ran(&alone, Some("first"), (Mode::Captured, false), &pool, &stream);
        stream.fork(&other).unwrap();
        let (b, second) = ran(&alone, Some("second"), second, &pool, &stream);
        b.signal(second.unwrap(), &other).unwrap();
        drop(b);
        a.signal(ready.unwrap(), &alone.stream()).unwrap();
        stream.synchronize().unwrap();
        other.synchronize().unwrap();
        assert_eq!(opened(&alone), Vec::<String>::new());
        drop((a, pool, stream, other));
        assert_nothing_left(alone);
    }
}

#[test]
fn a_stream_goes_before_the_run_on_it() {
    for way in WAYS {
        for signalled in [false, true] {
            let alone = Alone::new();
            let (stream, other) = (alone.stream(), alone.stream());
            let pool = Pool::new(&alone.device);
            let (mut a, ready) = ran(&alone, Some("first"), way, &pool, &stream);
            drop(stream);
            if signalled {
                a.signal(ready.unwrap(), &other).unwrap();
                assert_eq!(result(&a, "y"), [2.0; 4]);
            } else {
                // A run elsewhere comes after that on the stream which is gone.
                let t = alone.device.upload_tensor(&[4.0_f32; 4], [4]).unwrap();
                a.run(&other, &mut give(&a, "t", &t)).unwrap();
                mock::run_until_idle();
                assert!(!other.is_complete().unwrap());
            }
            drop(a);
            assert_eq!(opened(&alone).len(), usize::from(!signalled), "{way:?}");
            drop((pool, other));
            assert_nothing_left(alone);
        }
    }
}

#[test]
fn a_device_goes_first() {
    for way in WAYS {
        let Alone { device, _watched, _lock } = Alone::new();
        racl::set_end_on_drop(true);
        let alone = Alone { device: device.clone(), _watched, _lock };
        let stream = alone.stream();
        let pool = Pool::new(&alone.device);
        let (a, _) = ran(&alone, Some("first"), way, &pool, &stream);
        let (b, _) = ran(&alone, Some("second"), way, &pool, &stream);
        let Alone { device: last, _watched, _lock } = alone;
        let closed = || mock::calls("aclrtResetDevice");
        let before = closed();
        drop((last, device, pool, stream, b, a));
        // The device is given back last, which must not come during another test.
        while live() != [0; 5] || closed() == before {
            std::thread::yield_now();
        }
        racl::set_end_on_drop(false);
    }
}

#[test]
fn graphs_streams_and_lent_memory_of_the_user_go_while_a_gate_holds_them_up() {
    let alone = Alone::new();
    let stream = alone.stream();
    let pool = Pool::new(&alone.device);
    let (a, _) = ran(&alone, Some("first"), (Mode::Eager, false), &pool, &stream);
    let side = alone.stream();
    stream.fork(&side).unwrap();
    let mut buffer = alone.device.alloc_zeroed::<u8>(64).unwrap();
    let recorder = alone.stream();
    let mut graph = recorder.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 3)).unwrap();
    graph.launch(&side).unwrap();
    let copied = side.download(&buffer.slice(..4).unwrap(), alone.device.pinned::<u8>(4).unwrap()).unwrap();
    drop((graph, side, copied, stream));
    assert_eq!(mock::live_handles().graphs, 1);
    drop(a);
    assert_eq!(opened(&alone), ["first"]);
    assert_eq!(mock::live_handles().graphs, 0);
    assert_eq!(buffer.to_vec().unwrap(), [3; 64]);
    drop((buffer, recorder, pool));
    assert_nothing_left(alone);
}

#[test]
fn a_graph_that_is_evicted_behind_a_gate_is_not_waited_for() {
    for (gate, forced) in [(None, false), (None, true), (Some("second"), false), (Some("second"), true)] {
        let alone = Alone::new();
        let stream = alone.stream();
        let pool = Pool::new(&alone.device);
        let (a, _) = ran(&alone, Some("first"), (Mode::Captured, false), &pool, &stream);
        let options = RunOptions::new().graph_limit(1).pool(&pool);
        let options = if forced { options.force_recapture() } else { options };
        let mut b = plan(gate, true).0.executable(&alone.device, &options, Frozen::new()).unwrap();
        let memory = [1.0_f32, 2.0, 3.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
        for t in &memory {
            b.run(&stream, &mut give(&b, "t", t)).unwrap();
        }
        b.clear_graphs();
        mock::run_until_idle();
        assert!(!stream.is_complete().unwrap());
        drop((b, a));
        stream.synchronize().unwrap();
        let names = opened(&alone);
        assert!(names.contains(&"first".to_owned()));
        assert_eq!(names.contains(&"second".to_owned()), gate.is_some());
        drop((memory, pool, options, stream));
        assert_nothing_left(alone);
    }
}

#[test]
fn failures_of_work_that_is_waited_for_elsewhere_are_told() {
    for second in [(Mode::Captured, false), (Mode::Eager, true)] {
        let alone = Alone::new();
        let stream = alone.stream();
        let pool = Pool::new(&alone.device);
        let (a, _) = ran(&alone, Some("first"), (Mode::Captured, false), &pool, &stream);
        mock::fail_task("aclnnAbs", 1, 507_015).unwrap();
        let (b, _) = ran(&alone, None, second, &pool, &stream);
        drop((stream, b));
        drop(a);
        let errors = alone.device.context().take_drop_errors();
        let faults = errors.iter().filter(|error| error.kind() == ErrorKind::DeviceFault).count();
        assert!(faults > 0, "{errors:?}");
        drop(pool);
        assert_nothing_left(alone);
    }
}

#[test]
fn streams_of_what_was_dropped_come_back() {
    let alone = Alone::new();
    let (stream, other) = (alone.stream(), alone.stream());
    let pool = Pool::new(&alone.device);
    let (mut a, ready) = ran(&alone, Some("first"), (Mode::Captured, true), &pool, &stream);
    a.signal(ready.unwrap(), &other).unwrap();
    stream.synchronize().unwrap();
    // Enough for two executables beside the first, and far from enough for fifty.
    mock::limit_streams(Some(24)).unwrap();
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    for _ in 0..50 {
        a.run(&stream, &mut give(&a, "t", &t)).unwrap();
        drop(ran(&alone, None, (Mode::Captured, true), &pool, &stream));
        a.signal(ready.unwrap(), &other).unwrap();
        // A thread that comes late would wait for the next run on the stream, too: this joins those of before.
        mock::run_until_idle();
        assert!(alone.device.context().take_drop_errors().is_empty());
    }
    drop((a, stream, other, pool, t));
    assert_nothing_left(alone);
}
