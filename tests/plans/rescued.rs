//! Gates of updates whose signal fails on the device: nobody waits for them for ever, and the executable says that it
//! is of no use.

use racl::op::DataType::F32;
use racl::plan::{Executable, Frozen, Input, Plan};
use racl::{Error, ErrorKind, Result, Stream};

use crate::common::{assert_says, mock};
use crate::{Alone, give, result};

const FAULT: i32 = 507_015;

/// What keeps a gate of an update shut when it fails on the device: the signal, or what the update stream waits for
/// before it; and the record that it waits for. And how many of them two runs have at least.
const FAILS: [(&str, u64); 3] = [("aclrtValueWrite", 4), ("aclrtStreamWaitEvent", 2), ("aclrtRecordEvent", 3)];

/// y = 2 x + x, with x updatable: two operators, each behind a gate of its own.
fn executable(alone: &Alone) -> Executable {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Updatable)?;
        let h = g.muls(x, 2.0)?;
        let y = g.add(h, x)?;
        g.output("y", y)
    });
    plan.unwrap().capture(&alone.device, Frozen::new()).unwrap()
}

fn run(alone: &Alone, exe: &mut Executable, stream: &Stream, value: f32) -> Result<()> {
    let x = alone.device.upload_tensor(&[value; 4], [4]).unwrap();
    exe.run(stream, &mut give(exe, "x", &x))
}

/// Lets each task of a kind fail in one of two runs, the second of which is given while the first one may wait, and
/// hands the executable to `end`, which says what it was told. How often that was that an update failed.
fn each_failure((function, count): (&str, u64), end: impl Fn(&Alone, Executable, &Stream) -> Vec<Error>) -> usize {
    let mut poisoned = 0;
    for nth in 1..=count {
        let alone = Alone::new();
        let (stream, what) = (alone.stream(), format!("{function} {nth}"));
        let mut exe = executable(&alone);
        run(&alone, &mut exe, &stream, 1.0).unwrap();
        stream.synchronize().unwrap();
        let live = mock::live_handles().streams;
        mock::fail_task(function, nth, FAULT).unwrap();
        // On a busy machine the first one is over by then otherwise, and nothing waits for it.
        mock::stand_still(true);
        let mut told: Vec<_> = (2..4).filter_map(|turn| run(&alone, &mut exe, &stream, turn as f32).err()).collect();
        mock::stand_still(false);
        told.extend(end(&alone, exe, &stream));
        mock::clear_failures();
        told.extend(stream.synchronize().err());
        told.extend(alone.device.context().take_drop_errors());
        let of = |kind: ErrorKind| told.iter().any(|error| error.kind() == kind);
        assert!(!of(ErrorKind::Timeout), "{what}: {told:?}");
        assert!(of(ErrorKind::DeviceFault) || of(ErrorKind::Aborted), "{what}: nobody was told: {told:?}");
        poisoned += usize::from(told.iter().any(|error| error.to_string().contains("of no use")));
        // Nothing else is held up, and the next executable knows nothing of it.
        assert!(mock::live_handles().streams <= live, "{what}: a stream was left");
        let mut other = executable(&alone);
        for value in [1.0, 2.0] {
            run(&alone, &mut other, &stream, value).unwrap();
            assert_eq!(result(&other, "y"), [3.0 * value; 4], "{what}");
        }
    }
    poisoned
}

#[test]
fn a_drop_after_a_signal_that_failed_returns() {
    for fails in FAILS {
        each_failure(fails, |_, exe, _| {
            drop(exe);
            Vec::new()
        });
    }
}

#[test]
fn waits_after_a_signal_that_failed_return_and_the_executable_is_of_no_use() {
    for fails in FAILS {
        let poisoned = each_failure(fails, |alone, mut exe, stream| {
            let waited = stream.synchronize().err();
            let output = exe.output_id("y").unwrap();
            let read = exe.output::<f32>(output).and_then(|y| y.to_vec()).err();
            let again = run(alone, &mut exe, stream, 5.0).err();
            if let Some(error) = again.as_ref().filter(|error| error.to_string().contains("of no use")) {
                assert_says(error, ErrorKind::Aborted, &["an update of a graph failed on the device"]);
                assert!(run(alone, &mut exe, stream, 6.0).is_err(), "once is for ever");
            }
            waited.into_iter().chain(read).chain(again).collect()
        });
        // A record that fails is one of the run's own stream; the gates stay as they are.
        assert!(poisoned > 0 || fails.0 == "aclrtRecordEvent", "{fails:?}: nobody was told that an update failed");
    }
}

#[test]
fn other_threads_that_wait_are_let_go() {
    for fails in FAILS {
        each_failure(fails, |alone, exe, stream| {
            let event = alone.device.event().unwrap();
            event.record(stream).unwrap();
            std::thread::scope(|scope| {
                let context = alone.device.context();
                let waits = [
                    scope.spawn(|| stream.synchronize().err()),
                    scope.spawn(|| event.synchronize().err()),
                    scope.spawn(move || context.synchronize().err()),
                ];
                drop(exe);
                waits.into_iter().filter_map(|wait| wait.join().unwrap()).collect()
            })
        });
    }
}

#[test]
fn a_wait_for_updates_that_failed_says_that_nobody_knows_their_end() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Updatable)?;
        let y = g.muls(x, 3.0)?;
        g.output_to_host("y", y)
    })
    .unwrap();
    // Which call it is that waits for the updates is not for this test to know.
    let mut unknown = 0;
    for nth in 1..=4 {
        let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
        let y = exe.output_id("y").unwrap();
        for value in [1.0, 2.0] {
            run(&alone, &mut exe, &stream, value).unwrap();
            assert_eq!(exe.host_output::<f32>(y).unwrap(), [3.0 * value; 4]);
        }
        run(&alone, &mut exe, &stream, 3.0).unwrap();
        for name in ["aclrtSynchronizeStream", "aclrtSynchronizeStreamWithTimeout"] {
            mock::fail(name, nth, 507_000).unwrap();
        }
        let read = exe.host_output::<f32>(y);
        mock::clear_failures();
        match (read, run(&alone, &mut exe, &stream, 4.0)) {
            (Ok(read), again) => {
                assert_eq!(read, [9.0; 4], "{nth}");
                again.unwrap();
            }
            (Err(_), Err(error)) => {
                assert_says(&error, ErrorKind::Aborted, &["is not known", "507000", "of no use"]);
                unknown += 1;
            }
            (Err(_), Ok(())) => assert_eq!(exe.host_output::<f32>(y).unwrap(), [12.0; 4], "{nth}"),
        }
        drop(exe);
        let _ = alone.device.context().take_drop_errors();
    }
    assert!(unknown > 0);
}

type Wait = fn(&Alone, &Stream) -> Result<()>;

const LONG: std::time::Duration = std::time::Duration::from_secs(600);

/// Ways to wait for a stream.
const WAITS: [Wait; 4] = [
    |_, stream| stream.synchronize(),
    |_, stream| stream.synchronize_timeout(LONG),
    |alone, stream| {
        let event = alone.device.event()?;
        event.record(stream)?;
        event.synchronize()
    },
    |alone, stream| {
        let event = alone.device.event()?;
        event.record(stream)?;
        event.synchronize_timeout(LONG)
    },
];

/// Three runs, each of whose outputs is copied away: the numbers, or what a wait for them says.
fn copied_away(alone: &Alone, exe: &mut Executable, stream: &Stream, wait: Wait) -> Result<Vec<Vec<f32>>> {
    let y = exe.output_id("y").unwrap();
    let copies: Vec<_> = (2..5)
        .map(|turn| {
            let mut copy = alone.device.zeros::<f32>([4]).unwrap();
            let ran = run(alone, exe, stream, turn as f32);
            let copied = ran.and_then(|()| exe.output::<f32>(y)?.copy_to(stream, &mut copy));
            copied.map(|()| copy).ok()
        })
        .collect();
    wait(alone, stream)?;
    copies.iter().flatten().map(|copy| copy.to_vec()).collect()
}

#[test]
fn who_waits_for_the_stream_of_a_run_is_told_of_updates_that_failed() {
    let mut told = 0;
    for (function, count) in [("aclmdlRICaptureTaskUpdateEnd", 6), FAILS[0], FAILS[1]] {
        for (nth, wait) in (1..=count).flat_map(|nth| WAITS.map(|wait| (nth, wait))) {
            let alone = Alone::new();
            let (stream, what) = (alone.stream(), format!("{function} {nth}"));
            let mut exe = executable(&alone);
            run(&alone, &mut exe, &stream, 1.0).unwrap();
            stream.synchronize().unwrap();
            mock::fail_task(function, nth, FAULT).unwrap();
            let read = copied_away(&alone, &mut exe, &stream, wait);
            mock::clear_failures();
            match read {
                Ok(read) => assert_eq!(read, [[6.0; 4], [9.0; 4], [12.0; 4]], "{what}: nobody is told"),
                Err(error) => {
                    told += usize::from(error.kind() == ErrorKind::Aborted);
                    let mut again = run(&alone, &mut exe, &stream, 5.0);
                    if again.is_ok() {
                        // The first error was one of the stream itself.
                        wait(&alone, &stream).unwrap_err();
                        again = run(&alone, &mut exe, &stream, 6.0);
                    }
                    assert_says(&again.unwrap_err(), ErrorKind::Aborted, &["of no use"]);
                    // Once for each stream; and other work of this one is as good as before.
                    if wait(&alone, &stream).is_err() {
                        wait(&alone, &stream).unwrap();
                    }
                    assert_eq!(alone.device.upload_tensor(&[7.0_f32], [1]).unwrap().to_vec().unwrap(), [7.0]);
                }
            }
            drop(exe);
            let _ = alone.device.context().take_drop_errors();
        }
    }
    assert!(told >= WAITS.len(), "nobody was told: {told}");
}

#[test]
fn who_asks_again_and_again_is_let_go_after_a_signal_that_failed() {
    type Ask = fn(&Stream, &racl::Event) -> Result<bool>;
    let asks: [Ask; 2] = [|stream, _| stream.is_complete(), |_, event| event.is_complete()];
    for (function, ask) in [FAILS[0].0, FAILS[1].0].into_iter().flat_map(|name| asks.map(|ask| (name, ask))) {
        let alone = Alone::new();
        let stream = alone.stream();
        let mut exe = executable(&alone);
        run(&alone, &mut exe, &stream, 1.0).unwrap();
        stream.synchronize().unwrap();
        mock::fail_task(function, 1, FAULT).unwrap();
        // So that updates find work to wait for, however busy the machine is.
        mock::stand_still(true);
        run(&alone, &mut exe, &stream, 2.0).unwrap();
        let event = alone.device.event().unwrap();
        event.record(&stream).unwrap();
        mock::stand_still(false);
        while matches!(ask(&stream, &event), Ok(false)) {
            std::thread::yield_now();
        }
        mock::clear_failures();
        assert_says(&run(&alone, &mut exe, &stream, 3.0).unwrap_err(), ErrorKind::Aborted, &["of no use"]);
        drop(exe);
        let _ = alone.device.context().take_drop_errors();
    }
}
