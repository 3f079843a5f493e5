//! Host outputs that are forgotten, dropped in any order and on any thread, and read where nobody should.

use std::mem::forget;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::common::mock;
use racl::op::DataType::F32;
use racl::plan::{Bindings, Executable, Frozen, HostOutputs, Input, InputId, Mode, OutputId, Plan, RunOptions};
use racl::{CaptureMode, ErrorKind, Result, Stream};

use crate::arena::{Arena, Gate};

const MODES: [Mode; 2] = [Mode::Captured, Mode::Eager];

/// y = 3 x from host to host, on two streams.
struct Tripled {
    exe: Executable,
    bind: Bindings,
    x: InputId,
    y: OutputId,
}

impl Tripled {
    fn new(arena: &Arena, mode: Mode, buffers: usize) -> Self {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Host)?;
            let y = g.scope("side", |g| g.muls(x, 3.0))?;
            g.join("side")?;
            g.output_to_host("y", y)
        });
        let options = RunOptions::new().mode(mode).host_output_buffers(buffers);
        let exe = plan.unwrap().executable(&arena.context, &options, Frozen::new()).unwrap();
        let (bind, x, y) = (exe.bindings(), exe.input("x").unwrap(), exe.output_id("y").unwrap());
        Self { exe, bind, x, y }
    }

    fn run(&mut self, stream: &Stream, x: f32) -> Result<HostOutputs> {
        self.exe.run(stream, self.bind.host(self.x, &[x; 4], [4]))?;
        self.exe.take_host_outputs()
    }
}

#[test]
fn forgotten_ones_are_replaced() {
    let arena = Arena::new();
    for mode in MODES {
        let stream = arena.stream();
        let mut tripled = Tripled::new(&arena, mode, 2);
        let y = tripled.y;
        for turn in 0..30_u8 {
            let x = f32::from(turn);
            forget(tripled.run(&stream, x + 100.0).unwrap());
            let mut outputs = tripled.run(&stream, x).unwrap();
            if turn % 3 == 0 {
                assert_eq!(outputs.as_slice::<f32>(y).unwrap().len(), 4);
            }
            assert_eq!(outputs.read::<f32>(y).unwrap(), [3.0 * x; 4]);
        }
        let gate = Gate::before(&stream);
        let mut outputs = tripled.run(&stream, 7.0).unwrap();
        forget(tripled);
        gate.open();
        assert_eq!(outputs.read::<f32>(y).unwrap(), [21.0; 4]);
    }
    arena.end_with_leaks();
}

#[test]
fn everything_goes_in_any_order_while_runs_are_under_way() {
    let arena = Arena::new();
    for mode in MODES {
        for order in 0..24_usize {
            let stream = arena.stream();
            let mut tripled = Tripled::new(&arena, mode, 2);
            let y = tripled.y;
            let [mut first, second] = [1.0, 2.0].map(|x| tripled.run(&stream, x).unwrap());
            if order % 2 == 0 {
                // What it reads before is right whatever goes afterwards.
                assert_eq!(first.read::<f32>(y).unwrap(), [3.0; 4]);
            }
            let mut left: Vec<Box<dyn std::any::Any>> =
                vec![Box::new(tripled), Box::new(first), Box::new(second), Box::new(stream)];
            for (count, digit) in [(4, order / 6), (3, order % 6 / 2), (2, order % 2), (1, 0)] {
                assert_eq!(left.len(), count);
                drop(left.remove(digit));
            }
        }
    }
    arena.end();
}

#[test]
fn readers_on_other_threads_while_runs_go_on() {
    let arena = Arena::new();
    for mode in MODES {
        let stream = arena.stream();
        let mut tripled = Tripled::new(&arena, mode, 3);
        let y = tripled.y;
        thread::scope(|scope| {
            let senders: Vec<_> = (0..3)
                .map(|_| {
                    let (send, receive) = channel::<(HostOutputs, f32)>();
                    scope.spawn(move || {
                        for (mut outputs, x) in receive {
                            assert_eq!(outputs.read::<f32>(y).unwrap(), [3.0 * x; 4]);
                        }
                    });
                    send
                })
                .collect();
            for turn in 0..200_u16 {
                let x = f32::from(turn);
                senders[usize::from(turn % 3)].send((tripled.run(&stream, x).unwrap(), x)).unwrap();
            }
            // While the readers give memory back.
            drop(tripled);
        });
    }
    arena.end();
}

#[test]
fn an_executable_that_goes_from_thread_to_thread_leaves_its_outputs_behind() {
    let arena = Arena::new();
    for mode in MODES {
        let stream = arena.stream();
        let mut tripled = Tripled::new(&arena, mode, 2);
        let y = tripled.y;
        let mut kept = Vec::new();
        for turn in 0..8_u8 {
            let there = stream.clone();
            let (back, outputs) = thread::spawn(move || {
                let outputs = tripled.run(&there, turn.into()).unwrap();
                (tripled, outputs)
            })
            .join()
            .unwrap();
            tripled = back;
            kept.push(outputs);
        }
        thread::spawn(move || drop(tripled)).join().unwrap();
        for (turn, mut outputs) in kept.into_iter().enumerate().rev() {
            assert_eq!(outputs.read::<f32>(y).unwrap(), [3.0 * turn as f32; 4], "{mode:?}");
        }
    }
    arena.end();
}

#[test]
fn host_functions_that_read_them_and_drop_them() {
    for mode in MODES {
        for gone in [false, true] {
            let arena = Arena::new();
            let (stream, other) = (arena.stream(), arena.stream());
            let mut tripled = Tripled::new(&arena, mode, 2);
            let y = tripled.y;
            let place = Arc::new(Mutex::new(None));
            let (mut outputs, out) = (Some(tripled.run(&stream, 2.0).unwrap()), Arc::clone(&place));
            let left = (!gone).then_some(tripled);
            other
                .host_function(move || {
                    let mut outputs = outputs.take().unwrap();
                    *out.lock().unwrap() = Some(outputs.read::<f32>(y));
                })
                .unwrap();
            other.synchronize().unwrap();
            match place.lock().unwrap().take().unwrap() {
                Ok(read) => assert_eq!(read, [6.0; 4]),
                // The runtime forbids such waits.
                Err(error) => assert_eq!(error.kind(), ErrorKind::NotSupported, "{error}"),
            }
            drop(left);
            stream.synchronize().unwrap();
            drop((stream, other));
            arena.end();
        }
    }
}

#[test]
fn reads_in_the_middle_of_a_capture() {
    let arena = Arena::new();
    for mode in MODES {
        let (stream, other) = (arena.stream(), arena.stream());
        let mut tripled = Tripled::new(&arena, mode, 2);
        let y = tripled.y;
        let mut outputs = tripled.run(&stream, 2.0).unwrap();
        for captures in [CaptureMode::Global, CaptureMode::ThreadLocal, CaptureMode::Relaxed] {
            let capture = other.begin_capture(captures).unwrap();
            match outputs.read::<f32>(y) {
                Ok(read) => assert_eq!(read, [6.0; 4]),
                Err(error) => assert_eq!(error.kind(), ErrorKind::CaptureForbidden, "{error}"),
            }
            drop(capture);
        }
        assert_eq!(outputs.read::<f32>(y).unwrap(), [6.0; 4], "{mode:?}");
    }
    arena.end();
}

#[test]
fn a_pipeline_of_which_every_few_calls_fail_gives_no_wrong_number() {
    const CALLS: [&str; 8] = [
        "aclrtMallocHost",
        "aclrtMemcpyAsync",
        "aclrtRecordEvent",
        "aclrtStreamWaitEvent",
        "aclrtQueryEventStatus",
        "aclrtSynchronizeEvent",
        "aclrtSynchronizeEventWithTimeout",
        "aclmdlRIExecuteAsync",
    ];
    let arena = Arena::new();
    for mode in MODES {
        for call in CALLS {
            let streams = [arena.stream(), arena.stream()];
            let mut tripled = Tripled::new(&arena, mode, 2);
            let (y, mut kept) = (tripled.y, Vec::new());
            let mut failed = 0;
            for turn in 0..60_u8 {
                mock::fail(call, 1 + u64::from(turn % 5), 507_000).unwrap();
                let stream = &streams[usize::from(turn / 4 % 2)];
                match tripled.run(stream, turn.into()) {
                    Ok(outputs) => kept.push((outputs, turn)),
                    Err(_) => failed += 1,
                }
                if kept.len() > 2 {
                    let (mut outputs, turn) = kept.remove(usize::from(turn % 3));
                    match outputs.read::<f32>(y) {
                        Ok(read) => assert_eq!(read, [3.0 * f32::from(turn); 4], "{mode:?}, {call}"),
                        Err(_) => failed += 1,
                    }
                }
            }
            mock::clear_failures();
            let mut last = tripled.run(&streams[0], 5.0).or_else(|_| tripled.run(&streams[0], 5.0)).unwrap();
            assert_eq!(last.read::<f32>(y).unwrap(), [15.0; 4], "{mode:?}, {call}, after {failed} failures");
        }
    }
    arena.end_with_leaks();
}
