//! Streams that are aborted while they wait for others: what they were behind goes on, and nobody may take it for done.

mod common;

use std::sync::{Mutex, mpsc};
use std::time::Duration;

use common::mock;
use racl::op::DataType::F32;
use racl::plan::{Frozen, Input, Mode, Plan, RunOptions};
use racl::{AbortStage, Allocator, CaptureMode, Context, DeviceBuffer, Event, Graph, Stream, op};

/// Larger than what small segments have.
const LARGE: usize = 12 << 20;

fn alone(test: impl FnOnce(&Context)) {
    common::needs_mock("it ends work that the mock holds");
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let context = common::device().context().create_context().unwrap();
    test(&context);
    context.synchronize().unwrap();
    assert!(context.take_drop_errors().is_empty());
    context.close().unwrap();
}

/// A stream that is held, and one that waits for it when it uses what the first did.
fn streams(context: &Context) -> (Stream, Stream) {
    let streams = (context.stream().unwrap(), context.stream().unwrap());
    mock::hold(&streams.0).unwrap();
    streams
}

/// Memory that the held stream writes, in a context that has no more.
fn had_elsewhere(context: &Context, held: &Stream, other: &Stream) -> DeviceBuffer<u8> {
    context.set_allocator(Allocator::Pool);
    drop(context.alloc::<u8>(64).unwrap());
    let mut first = context.alloc::<u8>(LARGE).unwrap();
    let address = first.address();
    context.set_memory_limit(Some(context.memory_stats().reserved.now));
    held.fill_bytes(&mut first, 1).unwrap();
    drop(first);
    let again = other.alloc::<u8>(LARGE).unwrap();
    assert_eq!(again.address(), address);
    again
}

#[test]
fn memory_that_a_stream_had_from_another_is_not_free_when_it_is_aborted() {
    alone(|context| {
        let (held, other) = streams(context);
        let mut borrowed = had_elsewhere(context, &held, &other);
        other.fill_bytes(&mut borrowed, 2).unwrap();
        other.abort().unwrap();
        drop(borrowed);
        assert!(!other.is_complete().unwrap(), "it waits for the other's work once more");
        racl::set_drop_limit(Duration::from_millis(10));
        let refused = context.alloc::<u8>(LARGE).unwrap_err();
        racl::set_drop_limit(Duration::from_secs(10));
        assert_eq!(refused.kind(), racl::ErrorKind::OutOfMemory);
        // Its own work may have it, behind the wait.
        let mut again = other.alloc::<u8>(LARGE).unwrap();
        other.fill_bytes(&mut again, 3).unwrap();
        mock::release(&held).unwrap();
        assert_eq!(again.to_vec().unwrap(), [3; LARGE]);
        drop(again);
        assert_eq!(context.upload(&[7_u8; LARGE]).unwrap().to_vec().unwrap(), [7; LARGE]);
    });
}

#[test]
fn memory_that_was_given_up_before_the_abort_is_not_free_either() {
    common::needs_the_card_alone("it aborts a device");
    alone(|context| {
        let (held, other) = streams(context);
        let mut borrowed = had_elsewhere(context, &held, &other);
        other.fill_bytes(&mut borrowed, 2).unwrap();
        drop(borrowed);
        context.abort_device(Duration::from_secs(10)).unwrap();
        mock::release(&held).unwrap();
        assert_eq!(context.upload(&[7_u8; LARGE]).unwrap().to_vec().unwrap(), [7; LARGE]);

        mock::hold(&held).unwrap();
        let mut borrowed = had_elsewhere(context, &held, &other);
        other.fill_bytes(&mut borrowed, 2).unwrap();
        drop(borrowed);
        other.abort().unwrap();
        racl::set_drop_limit(Duration::from_millis(10));
        let refused = context.alloc::<u8>(LARGE).unwrap_err();
        racl::set_drop_limit(Duration::from_secs(10));
        assert_eq!(refused.kind(), racl::ErrorKind::OutOfMemory);
        mock::release(&held).unwrap();
        assert_eq!(context.upload(&[8_u8; LARGE]).unwrap().to_vec().unwrap(), [8; LARGE]);
    });
}

#[test]
fn an_aborted_stream_is_ordered_anew() {
    alone(|context| {
        let (held, other) = streams(context);
        let mut x = context.alloc_zeroed::<u8>(4).unwrap();
        held.fill_bytes(&mut x, 1).unwrap();
        let mut copy = context.alloc_zeroed::<u8>(4).unwrap();
        other.copy(&x, &mut copy).unwrap();
        other.abort().unwrap();
        other.synchronize().unwrap(); // it is free of what it waited for
        other.fill_bytes(&mut x, 2).unwrap();
        assert!(!other.is_complete().unwrap());
        mock::release(&held).unwrap();
        other.synchronize().unwrap();
        assert_eq!(x.to_vec().unwrap(), [2; 4]);
        // Further work on the memory costs as little as before.
        let waits = mock::calls("aclrtStreamWaitEvent");
        for value in 3..6 {
            other.fill_bytes(&mut x, value).unwrap();
        }
        assert_eq!((x.to_vec().unwrap(), mock::calls("aclrtStreamWaitEvent")), (vec![5; 4], waits));
    });
}

/// What others waited for was dropped with its record: they are not made to wait for that again.
#[test]
fn others_wait_for_what_an_aborted_stream_is_given_next() {
    alone(|context| {
        let (held, other) = streams(context);
        let mut x = context.alloc_zeroed::<u8>(4).unwrap();
        held.fill_bytes(&mut x, 1).unwrap();
        other.fill_bytes(&mut x, 2).unwrap();
        held.abort().unwrap();
        other.abort().unwrap();
        held.fill_bytes(&mut x, 3).unwrap();
        other.fill_bytes(&mut x, 4).unwrap();
        assert!(!other.is_complete().unwrap());
        mock::release(&held).unwrap();
        other.synchronize().unwrap();
        assert_eq!(x.to_vec().unwrap(), [4; 4]);
    });
}

fn adds_one(context: &Context, stream: &Stream) -> (Graph, racl::Tensor<f32>) {
    let one = context.upload_tensor(&[1.0_f32], [1]).unwrap();
    let mut sum = context.zeros::<f32>([1]).unwrap();
    let graph = stream.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut sum, &one)).unwrap();
    (graph, sum)
}

/// A graph of `third`, launched on a held stream and then on one that is aborted while it waits for that.
fn launched_behind_an_aborted_launch(
    context: &Context,
    third: &Stream,
    (held, other): (&Stream, &Stream),
) -> (Graph, racl::Tensor<f32>) {
    let (mut graph, sum) = adds_one(context, third);
    graph.launch(held).unwrap();
    graph.launch(other).unwrap();
    other.abort().unwrap();
    (graph, sum)
}

#[test]
fn a_graph_is_not_done_before_a_launch_that_an_aborted_one_waited_for() {
    alone(|context| {
        let third = context.stream().unwrap();
        let (held, other) = streams(context);
        let (mut graph, sum) = launched_behind_an_aborted_launch(context, &third, (&held, &other));
        graph.launch(&third).unwrap();
        assert!(!third.is_complete().unwrap(), "two launches at once");
        third.abort().unwrap();
        let done: Event = context.event().unwrap();
        done.record(&held).unwrap();
        assert!(!done.is_complete().unwrap());
        mock::release(&held).unwrap();
        // The first may tell the abort of the stream alone, and wait for no launch before it.
        let told: Vec<_> = (0..3).map_while(|_| graph.wait().err()).map(|error| error.kind()).collect();
        assert!(told == [racl::ErrorKind::Aborted; 1] || told == [racl::ErrorKind::Aborted; 2], "{told:?}");
        graph.wait().unwrap();
        assert!(done.is_complete().unwrap(), "the first launch is not done");
        assert_eq!(sum.to_vec().unwrap(), [1.0]);
        let destroyed = mock::calls("aclmdlRIDestroy");
        drop(graph);
        assert_eq!(mock::calls("aclmdlRIDestroy"), destroyed + 1);
    });
}

#[test]
fn the_host_follows_a_launch_that_an_aborted_one_waited_for() {
    alone(|context| {
        let third = context.stream().unwrap();
        let (held, other) = streams(context);
        let (mut graph, sum) = launched_behind_an_aborted_launch(context, &third, (&held, &other));
        std::thread::scope(|scope| {
            let read = scope.spawn(|| sum.to_vec().unwrap());
            mock::run_until_idle();
            assert!(!read.is_finished());
            mock::release(&held).unwrap();
            assert_eq!(read.join().unwrap(), [1.0]);
        });
        let mut out = context.alloc_zeroed::<f32>(1).unwrap();
        mock::hold(&held).unwrap();
        graph.launch(&held).unwrap();
        graph.launch(&other).unwrap();
        other.abort().unwrap();
        third.copy(&sum.buffer().unwrap(), &mut out).unwrap();
        assert!(!third.is_complete().unwrap());
        mock::release(&held).unwrap();
        assert_eq!(out.to_vec().unwrap(), [2.0]);
    });
}

/// A stream that is given something of a held one, and then waits for one at a gate.
#[test]
fn work_in_front_of_a_wait_for_a_gate_is_followed_by_others() {
    alone(|context| {
        let mut gate = None;
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Static)?;
            let gate = *gate.insert(g.external("gate")?);
            g.wait_external(gate)?;
            let y = g.adds(x, 1.0)?;
            g.output("y", y)
        });
        for forks in [true, false] {
            let options = RunOptions::new().mode(Mode::Eager);
            let mut exe = plan.as_ref().unwrap().executable(context, &options, Frozen::new()).unwrap();
            let (gated, other) = (context.stream().unwrap(), context.stream().unwrap());
            let mut x = context.alloc_zeroed::<u8>(4).unwrap();
            let first = context.stream().unwrap();
            mock::hold(&first).unwrap();
            first.fill_bytes(&mut x, 1).unwrap();
            let mut bind = exe.bindings();
            exe.run(&gated, &mut bind).unwrap();
            if forks {
                gated.fork(&first).unwrap();
            } else {
                let event = context.event().unwrap();
                event.record(&gated).unwrap();
                first.wait(&event).unwrap();
            }
            other.fill_bytes(&mut x, 2).unwrap();
            mock::run_until_idle();
            assert!(!other.is_complete().unwrap(), "beside work on the same memory");
            mock::release(&first).unwrap();
            other.synchronize().unwrap();
            exe.signal(gate.unwrap(), &other).unwrap();
            assert_eq!(x.to_vec().unwrap(), [2; 4]);
            first.synchronize().unwrap();
        }
    });
}

/// What a record stood for may have been dropped with it.
#[test]
fn an_event_whose_record_was_dropped_puts_nobody_behind_what_that_waited_for() {
    alone(|context| {
        let (held, other) = streams(context);
        let third = context.stream().unwrap();
        let mut x = context.alloc_zeroed::<u8>(4).unwrap();
        let mut copy = context.alloc_zeroed::<u8>(4).unwrap();
        held.fill_bytes(&mut x, 1).unwrap();
        other.copy(&x, &mut copy).unwrap();
        let event = context.event().unwrap();
        event.record(&other).unwrap();
        other.abort().unwrap();
        third.wait(&event).unwrap();
        third.fill_bytes(&mut x, 2).unwrap();
        mock::run_until_idle();
        assert!(!third.is_complete().unwrap(), "beside work on the same memory");
        mock::release(&held).unwrap();
        third.synchronize().unwrap();
        assert_eq!(x.to_vec().unwrap(), [2; 4]);
    });
}

/// What goes while its work is being dropped is done all the same.
#[test]
fn a_stream_that_goes_amid_an_abort_of_the_device_holds_no_memory_back() {
    common::needs_the_card_alone("it aborts a device");
    alone(|context| {
        let (stream, gone) = (context.stream().unwrap(), context.stream().unwrap());
        mock::hold(&gone).unwrap();
        let mut buffer = context.alloc::<u8>(64).unwrap();
        gone.fill_bytes(&mut buffer, 1).unwrap();
        drop(buffer);
        let ((begin, begins), (end, ends)) = (mpsc::sync_channel(1), mpsc::sync_channel(1));
        let ends = Mutex::new(ends);
        let watch = context.acl().watch_aborts(move |_, stage, _| {
            if stage == AbortStage::After {
                begin.send(()).unwrap();
                ends.lock().unwrap().recv().unwrap();
            }
            true
        });
        std::thread::scope(|scope| {
            scope.spawn(move || {
                begins.recv().unwrap();
                drop(gone);
                end.send(()).unwrap();
            });
            context.abort_device(Duration::from_secs(10)).unwrap();
        });
        watch.unwrap().end().unwrap();
        stream.synchronize().unwrap();
        context.trim_memory(0);
        assert_eq!(context.memory_stats().waiting(), 0);
        context.take_drop_errors();
    });
}
