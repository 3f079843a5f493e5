//! Streams that are just being dropped, which wait for their work: others find them as before.

mod common;
#[path = "common/watchdog.rs"]
mod watchdog;

use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use common::mock;
use racl::collective::{Communicator, Reduction};
use racl::op::DataType::F32;
use racl::plan::{Frozen, Input, Mode, Plan, RunOptions};
use racl::{Acl, CaptureMode, Context, ErrorKind, Stream, op, sys};

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(3600);

fn alone(test: impl FnOnce(&Context)) {
    common::needs_the_card_alone("it holds streams, lets work fail and aborts a device");
    let (_alone, _watched) = (mock::exclusive(), watchdog::Watchdog::new());
    // A thread that ends what the test before left may be inside the mock still.
    while mock::reset().is_err() {
        thread::yield_now();
    }
    racl::set_drop_limit(LONG);
    let context = common::direct_device().context().create_context().unwrap();
    test(&context);
    mock::clear_failures();
}

fn waits() -> u64 {
    ["aclrtSynchronizeStream", "aclrtSynchronizeStreamWithTimeout"].map(mock::calls).iter().sum()
}

/// A stream that a thread drops, which waits for its work.
struct Going {
    raw: usize,
    thread: JoinHandle<()>,
}

impl Going {
    /// Of one that is held.
    fn begin(stream: Stream) -> Self {
        let (raw, before) = (stream.as_raw().addr(), waits());
        let thread = thread::spawn(move || drop(stream));
        while waits() == before {
            thread::yield_now();
        }
        Self { raw, thread }
    }

    fn end(self) {
        // SAFETY: the mock checks any handle.
        unsafe { sys::mock::mock_acl_release_stream(std::ptr::without_provenance_mut(self.raw)) };
        self.thread.join().unwrap();
    }
}

#[test]
fn work_that_is_aborted_meanwhile_is_told_to_have_been_dropped() {
    common::needs_the_card_alone("it aborts a device");
    alone(|context| {
        let (stream, event) = (context.stream().unwrap(), context.event().unwrap());
        let bytes = context.upload(&[7_u8; 64]).unwrap();
        mock::hold(&stream).unwrap();
        let lent = stream.download(&bytes, context.pinned::<u8>(64).unwrap()).unwrap();
        event.record(&stream).unwrap();
        let going = Going::begin(stream);
        context.abort_device(LONG.min(Duration::from_secs(60))).unwrap();
        assert_eq!(event.is_complete().unwrap_err().kind(), ErrorKind::Aborted);
        assert_eq!(event.synchronize().unwrap_err().kind(), ErrorKind::Aborted);
        assert_eq!(lent.wait().unwrap_err().error().kind(), ErrorKind::Aborted);
        going.end();
        drop(context.take_drop_errors());
    });
}

#[test]
fn an_event_of_work_that_a_wait_for_the_context_was_told_of_is_not_complete() {
    alone(|context| {
        let (stream, event) = (context.stream().unwrap(), context.event().unwrap());
        let mut bytes = context.alloc::<u8>(64).unwrap();
        mock::hold(&stream).unwrap();
        mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
        stream.fill_bytes(&mut bytes, 1).unwrap();
        event.record(&stream).unwrap();
        let going = Going::begin(stream);
        let before = mock::calls("aclrtSynchronizeDevice") + mock::calls("aclrtSynchronizeDeviceWithTimeout");
        let told = thread::scope(|scope| {
            let told = scope.spawn(|| context.synchronize());
            while mock::calls("aclrtSynchronizeDevice") + mock::calls("aclrtSynchronizeDeviceWithTimeout") == before {
                thread::yield_now();
            }
            going.end();
            told.join().unwrap()
        });
        // Whichever of the two waits was told.
        let dropped = context.take_drop_errors();
        assert!(told.is_err() || !dropped.is_empty());
        assert_eq!(event.is_complete().unwrap_err().kind(), ErrorKind::DeviceFault);
    });
}

#[test]
fn operations_of_a_communicator_stay_in_order() {
    alone(|context| {
        let ranks = Communicator::all(&[context]).unwrap().pop().unwrap();
        let (first, second) = (context.stream().unwrap(), context.stream().unwrap());
        let (mut a, mut b) = (context.zeros::<f32>([16]).unwrap(), context.zeros::<f32>([16]).unwrap());
        mock::hold(&first).unwrap();
        ranks.all_reduce_in_place(&first, &mut a, Reduction::Sum).unwrap();
        let going = Going::begin(first);
        ranks.all_reduce_in_place(&second, &mut b, Reduction::Sum).unwrap();
        mock::run_until_idle();
        assert!(!second.is_complete().unwrap(), "the one before is held");
        going.end();
        second.synchronize().unwrap();
    });
}

/// With an eager executable whose side stream a thread without a limit drops, since a gate may hold it up.
#[test]
fn work_that_is_to_follow_theirs_is_submitted_at_once() {
    alone(|context| {
        for launches in [false, true] {
            let (stream, other, third) =
                (context.stream().unwrap(), context.stream().unwrap(), context.stream().unwrap());
            let mut gate = None;
            let gated = Plan::build(|g| {
                let it = *gate.insert(g.external("gate")?);
                g.wait_external(it)
            });
            let (gated, gate) = (gated.unwrap(), gate.unwrap());
            let mut holder = gated.capture(context, Frozen::new()).unwrap();
            holder.run(&stream, &mut holder.bindings()).unwrap();
            let plan = Plan::build(|g| {
                let x = g.input("x", [64], F32, Input::Static)?;
                g.scope("side", |g| g.fill_bytes(x, 1))?;
                g.join("side")
            });
            let plan = plan.unwrap();
            let mut exe = plan.executable(context, &RunOptions::new().mode(Mode::Eager), Frozen::new()).unwrap();
            let mut x = exe.static_input::<f32>(exe.input("x").unwrap()).unwrap();
            exe.run(&stream, &mut exe.bindings()).unwrap();
            let before = waits();
            drop(exe);
            while waits() == before {
                thread::yield_now();
            }
            let (submitted, word) = channel();
            let behind = thread::spawn(move || {
                if launches {
                    let captured = other.capture(CaptureMode::Relaxed, |to| op::adds_inplace(to, &mut x, 1.0));
                    captured.unwrap().launch(&other).unwrap();
                } else {
                    op::adds_inplace(&other, &mut x, 1.0).unwrap();
                }
                submitted.send(()).unwrap();
            });
            // Who waits for the word gives the signal behind it.
            word.recv().unwrap();
            holder.signal(gate, &third).unwrap();
            behind.join().unwrap();
            stream.synchronize().unwrap();
        }
    });
}

#[test]
fn whoever_waits_for_other_streams_does_not_wait_once_more_for_one_that_hangs() {
    alone(|context| {
        let (hangs, healthy) = (context.stream().unwrap(), context.stream().unwrap());
        let mut bytes = context.alloc::<u8>(64).unwrap();
        mock::hold(&hangs).unwrap();
        hangs.fill_bytes(&mut bytes, 1).unwrap();
        let raw = hangs.as_raw();
        racl::set_drop_limit(Duration::from_millis(1));
        drop(hangs);
        // Else this takes that long.
        racl::set_drop_limit(LONG);
        healthy.synchronize().unwrap();
        assert_eq!(context.take_drop_errors().len(), 1);
        // SAFETY: the mock checks any handle.
        unsafe { sys::mock::mock_acl_release_stream(raw) };
    });
}

#[test]
fn streams_that_are_idle_make_room_for_contexts_captures_and_their_sides() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut bytes = context.alloc::<u8>(64).unwrap();
        let leave_idle = || {
            let sides = |to: &Stream| {
                let mut part = context.alloc::<u8>(64)?;
                (0..8).try_for_each(|number| {
                    let side = to.side(&number.to_string())?;
                    to.fork(&side)?;
                    side.fill_bytes(&mut part, 1)?;
                    to.join(&side)
                })
            };
            drop(stream.capture(CaptureMode::ThreadLocal, sides).unwrap());
            mock::limit_streams(Some(500)).unwrap();
            mock::limit_streams(Some(500 - context.streams_left().unwrap())).unwrap();
            assert_eq!(context.streams_left().unwrap(), 0);
        };
        leave_idle();
        drop(context.create_context().unwrap());
        mock::limit_streams(None).unwrap();
        leave_idle();
        drop(stream.capture(CaptureMode::ThreadLocal, |to| to.fill_bytes(&mut bytes, 1)).unwrap());
        mock::limit_streams(None).unwrap();
        leave_idle();
        let with_side = |to: &Stream| {
            let side = to.side("a side")?;
            to.fork(&side)?;
            side.fill_bytes(&mut bytes, 1)?;
            to.join(&side)
        };
        drop(stream.capture(CaptureMode::ThreadLocal, with_side).unwrap());
        mock::limit_streams(None).unwrap();
        drop(Acl::mock().unwrap());
    });
}
