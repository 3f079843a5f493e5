//! The order between streams that use the same memory, which nobody asked for by an event.

#[path = "../common/mod.rs"]
mod common;
mod meanwhile;
mod plans;
mod random;

use common::{device, mock};
use racl::Tensor;
use racl::{CaptureMode, Context, ErrorKind, Stream, op, untracked};

const EVENTS: [&str; 2] = ["aclrtRecordEvent", "aclrtStreamWaitEvent"];

/// Records of events and waits for them so far.
fn events() -> [u64; 2] {
    EVENTS.map(mock::calls)
}

/// How many of them `work` makes.
fn events_of(work: impl FnOnce()) -> [u64; 2] {
    let before = events();
    work();
    let after = events();
    [after[0] - before[0], after[1] - before[1]]
}

/// Streams whose work stays where it is until they are released, in a context of their own.
fn held(count: usize) -> (Context, Vec<Stream>) {
    mock::stand_still(true);
    let context = device().context().create_context().unwrap();
    let streams: Vec<_> = (0..count).map(|_| context.stream().unwrap()).collect();
    streams.iter().for_each(|stream| mock::hold(stream).unwrap());
    (context, streams)
}

/// Lets the streams go one after another: each runs as far as it can without those behind it.
fn release_in_turn<'a>(streams: impl IntoIterator<Item = &'a Stream>) {
    for stream in streams {
        mock::release(stream).unwrap();
        mock::run_until_idle();
    }
}

#[test]
fn a_read_waits_for_the_writer_and_a_write_for_the_readers() {
    let _alone = mock::exclusive();
    let (context, streams) = held(2);
    let [a, b] = &streams[..] else { panic!("two streams") };
    let mut x = context.zeros::<f32>([4]).unwrap();
    let mut y = context.zeros::<f32>([4]).unwrap();
    op::fill(a, &mut x, 3.0).unwrap();
    op::add_inplace(b, &mut y, &x).unwrap(); // reads what `a` writes
    op::fill(a, &mut x, 5.0).unwrap(); // overwrites what `b` reads
    release_in_turn([b, a]);
    assert_eq!(y.to_vec().unwrap(), [3.0; 4]);
    assert_eq!(x.to_vec().unwrap(), [5.0; 4]);
}

#[test]
fn without_tracking_the_same_program_is_a_race() {
    let _alone = mock::exclusive();
    let (context, streams) = held(2);
    let [a, b] = &streams[..] else { panic!("two streams") };
    let mut x = context.zeros::<f32>([4]).unwrap();
    let mut y = context.zeros::<f32>([4]).unwrap();
    let race = |x: &mut Tensor<f32>, y: &mut Tensor<f32>| {
        op::fill(a, x, 3.0).unwrap();
        op::add_inplace(b, y, x).unwrap();
    };
    let made = events_of(|| untracked(|| race(&mut x, &mut y)));
    assert_eq!(made, [0, 0]);
    release_in_turn([b, a]);
    assert_eq!(y.to_vec().unwrap(), [0.0; 4], "`b` ran first");

    streams.iter().for_each(|stream| mock::hold(stream).unwrap());
    context.set_tracking(false);
    assert_eq!(events_of(|| race(&mut x, &mut y)), [0, 0]);
    context.set_tracking(true);
    // What was submitted meanwhile is known all the same.
    assert_eq!(events_of(|| op::fill(a, &mut y, 7.0).unwrap()), [1, 1]);
    release_in_turn([b, a]);
    assert_eq!(y.to_vec().unwrap(), [7.0; 4]);
}

#[test]
fn one_stream_makes_no_event_and_what_was_waited_for_is_not_waited_for_again() {
    let _alone = mock::exclusive();
    let (context, streams) = held(3);
    let [a, b, c] = &streams[..] else { panic!("three streams") };
    let mut x = context.zeros::<f32>([4]).unwrap();
    let mut y = context.zeros::<f32>([4]).unwrap();
    let mut z = context.zeros::<f32>([4]).unwrap();
    let alone = events_of(|| {
        for _ in 0..5 {
            op::fill(a, &mut x, 1.0).unwrap();
            op::add_inplace(a, &mut y, &x).unwrap();
        }
    });
    assert_eq!(alone, [0, 0]);
    // Two operands of one stream: one record, one wait.
    assert_eq!(events_of(|| op::add_inplace(b, &mut y, &x).unwrap()), [1, 1]);
    assert_eq!(events_of(|| op::add_inplace(b, &mut y, &x).unwrap()), [0, 0]);
    // `a` was given nothing since, so that its mark serves another stream as well.
    assert_eq!(events_of(|| op::add_inplace(c, &mut z, &x).unwrap()), [0, 1]);
    // Readers do not wait for each other.
    assert_eq!(events_of(|| op::add_inplace(b, &mut y, &x).unwrap()), [0, 0]);
    // A wait for `b` is one for all that `b` waited for.
    let [mut p, mut q] = [0, 1].map(|_| context.zeros::<f32>([4]).unwrap());
    op::fill(a, &mut p, 1.0).unwrap();
    op::add_inplace(b, &mut q, &p).unwrap();
    assert_eq!(events_of(|| op::add_inplace(c, &mut p, &q).unwrap()), [1, 1]);
    // An order that the program makes counts.
    op::fill(a, &mut p, 1.0).unwrap();
    a.fork(c).unwrap();
    assert_eq!(events_of(|| op::fill(c, &mut p, 2.0).unwrap()), [0, 0]);
    release_in_turn([c, b, a]);
    // What is known to be done is not waited for either.
    a.synchronize().unwrap();
    op::fill(a, &mut x, 1.0).unwrap();
    a.synchronize().unwrap();
    b.synchronize().unwrap();
    c.synchronize().unwrap();
    assert_eq!(events_of(|| op::fill(b, &mut x, 2.0).unwrap()), [0, 0]);
}

#[test]
fn copies_fills_and_transfers_are_ordered_too() {
    let _alone = mock::exclusive();
    let (context, streams) = held(2);
    let [a, b] = &streams[..] else { panic!("two streams") };
    let mut x = context.alloc_zeroed::<u8>(64).unwrap();
    let mut y = context.alloc_zeroed::<u8>(64).unwrap();
    a.fill_bytes(&mut x, 1).unwrap();
    b.copy(&x, &mut y).unwrap();
    a.fill_bytes(&mut y, 2).unwrap();
    let down = b.download(&y, context.pinned(64).unwrap()).unwrap();
    let up = a.upload(context.pinned_from(&[3_u8; 64]).unwrap(), &mut y).unwrap();
    b.copy(&y, &mut x).unwrap();
    release_in_turn([b, a]);
    assert_eq!(*down.wait().unwrap(), [2; 64]);
    drop(up);
    assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![3; 64], vec![3; 64]));
}

#[test]
fn the_host_waits_for_the_users_on_all_streams() {
    let _alone = mock::exclusive();
    mock::stand_still(true);
    let context = device().context().create_context().unwrap();
    let (a, b) = (context.stream().unwrap(), context.stream().unwrap());
    let mut x = context.zeros::<f32>([4]).unwrap();
    let y = context.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    op::fill(&a, &mut x, 3.0).unwrap();
    op::add_inplace(&b, &mut x, &y).unwrap();
    assert_eq!(x.to_vec().unwrap(), [4.0; 4]);
    op::fill(&a, &mut x, 3.0).unwrap();
    let mut z = context.zeros::<f32>([4]).unwrap();
    op::add_inplace(&b, &mut z, &x).unwrap();
    x.write(&[9.0; 4]).unwrap();
    assert_eq!(z.to_vec().unwrap(), [3.0; 4]);
}

#[test]
fn launches_are_ordered_by_all_memory_of_the_graph() {
    let _alone = mock::exclusive();
    let (context, streams) = held(2);
    let [a, b] = &streams[..] else { panic!("two streams") };
    let mut sum = context.zeros::<f32>([4]).unwrap();
    let mut step = context.zeros::<f32>([4]).unwrap();
    let mut seen = context.zeros::<f32>([4]).unwrap();
    let mut graph = a.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut sum, &step)).unwrap();
    op::fill(b, &mut step, 2.0).unwrap(); // after the capture, on another stream
    graph.launch(a).unwrap();
    op::fill(b, &mut step, 10.0).unwrap(); // not before the launch has read it
    assert_eq!(events_of(|| graph.launch(a).unwrap()), [1, 1]);
    assert_eq!(events_of(|| graph.launch(a).unwrap()), [0, 0], "nobody else came in between");
    op::add_inplace(b, &mut seen, &sum).unwrap();
    graph.launch(a).unwrap(); // not before `b` has read the sum
    release_in_turn([b, a]);
    assert_eq!(seen.to_vec().unwrap(), [22.0; 4]);
    assert_eq!(sum.to_vec().unwrap(), [32.0; 4]);
}

#[test]
fn two_graphs_that_share_memory_follow_each_other() {
    let _alone = mock::exclusive();
    let (context, streams) = held(2);
    let [a, b] = &streams[..] else { panic!("two streams") };
    let mut x = context.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let one = context.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let mut add = a.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut x, &one)).unwrap();
    let mut double = a.capture(CaptureMode::ThreadLocal, |s| op::muls_inplace(s, &mut x, 2.0)).unwrap();
    for _ in 0..3 {
        add.launch(a).unwrap();
        double.launch(b).unwrap();
    }
    release_in_turn([b, a]);
    // ((1 + 1) * 2 + 1) * 2 ...
    assert_eq!(x.to_vec().unwrap(), [22.0; 4]);
}

#[test]
fn a_launch_after_one_by_hand_is_ordered() {
    let _alone = mock::exclusive();
    let (context, streams) = held(2);
    let [a, b] = &streams[..] else { panic!("two streams") };
    let mut sum = context.zeros::<f32>([4]).unwrap();
    let mut step = context.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let mut graph = a.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut sum, &step)).unwrap();
    graph.launch(a).unwrap();
    op::fill(b, &mut step, 10.0).unwrap();
    assert_eq!(events_of(|| untracked(|| graph.launch(a).unwrap())), [0, 0]);
    assert_eq!(events_of(|| graph.launch(a).unwrap()), [1, 1], "`b` was not waited for yet");
    mock::release(a).unwrap();
    mock::run_until_idle();
    mock::release(b).unwrap();
    // The launch by hand came before the fill.
    assert_eq!(sum.to_vec().unwrap(), [12.0; 4]);
}

#[test]
fn work_from_before_a_capture_can_be_waited_for_during_it() {
    let _alone = mock::exclusive();
    let (context, streams) = held(2);
    let [a, b] = &streams[..] else { panic!("two streams") };
    let mut x = context.zeros::<f32>([4]).unwrap();
    let mut y = context.zeros::<f32>([4]).unwrap();
    op::fill(a, &mut x, 3.0).unwrap();
    let capture = a.begin_capture(CaptureMode::ThreadLocal).unwrap();
    op::add_inplace(b, &mut y, &x).unwrap();
    op::fill(capture.stream(), &mut x, 4.0).unwrap();
    let graph = capture.finish().unwrap();
    release_in_turn([b, a]);
    assert_eq!(y.to_vec().unwrap(), [3.0; 4]);
    assert_eq!(x.to_vec().unwrap(), [3.0; 4], "the graph was not launched");
    drop(graph);
}

#[test]
fn a_stream_that_goes_away_busy_is_waited_for() {
    let _alone = mock::exclusive();
    mock::stand_still(true);
    let context = device().context().create_context().unwrap();
    let (a, b) = (context.stream().unwrap(), context.stream().unwrap());
    let mut x = context.zeros::<f32>([4]).unwrap();
    let mut y = context.zeros::<f32>([4]).unwrap();
    op::fill(&a, &mut x, 3.0).unwrap();
    drop(a);
    op::add_inplace(&b, &mut y, &x).unwrap();
    assert_eq!(y.to_vec().unwrap(), [3.0; 4]);
}

#[test]
fn a_failing_event_call_fails_the_operator_and_names_the_stream() {
    let _alone = mock::exclusive();
    mock::stand_still(true);
    let context = device().context().create_context().unwrap();
    let (a, b) = (context.stream().unwrap(), context.stream().unwrap());
    a.set_name("loader");
    let mut x = context.zeros::<f32>([4]).unwrap();
    for name in ["aclrtCreateEventExWithFlag", "aclrtRecordEvent", "aclrtStreamWaitEvent"] {
        op::fill(&a, &mut x, 3.0).unwrap();
        mock::fail(name, 1, 507_899).unwrap();
        let error = op::adds_inplace(&b, &mut x, 1.0).unwrap_err();
        mock::clear_failures();
        assert!(format!("{error:#}").contains("ordering work after that of stream \"loader\""), "{error:#}");
        op::adds_inplace(&b, &mut x, 2.0).unwrap();
        assert_eq!(x.to_vec().unwrap(), [5.0; 4]);
    }
}

#[test]
fn a_host_function_may_use_what_its_stream_is_done_with() {
    let _alone = mock::exclusive();
    mock::stand_still(true);
    let context = device().context().create_context().unwrap();
    let (a, b) = (context.stream().unwrap(), context.stream().unwrap());
    let mut done = context.zeros::<f32>([4]).unwrap();
    let mut later = context.zeros::<f32>([4]).unwrap();
    op::fill(&a, &mut done, 3.0).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let (mut x, mut y, other) = (done.clone(), later.clone(), b.clone());
    let submit = move || {
        let both = [op::adds_inplace(&other, &mut x, 1.0), op::adds_inplace(&other, &mut y, 1.0)];
        sender.send(both.map(|done| done.map_err(|error| error.kind()))).unwrap();
    };
    a.host_function(submit).unwrap();
    op::fill(&a, &mut later, 5.0).unwrap();
    a.synchronize().unwrap();
    // What `a` does with the other one is behind the function, which cannot wait for it.
    assert_eq!(receiver.recv().unwrap(), [Ok(()), Err(ErrorKind::NotSupported)]);
    assert_eq!((done.to_vec().unwrap(), later.to_vec().unwrap()), (vec![4.0; 4], vec![5.0; 4]));
}
