//! What errors say of the task that failed. Lets tasks fail, so one test at a time.

mod common;

use std::error::Error as _;
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::{assert_says, mock};
use racl::op::DataType::F32;
use racl::plan::{Frozen, Input, Mode, Plan, RunOptions};
use racl::sys::aclrtExceptionInfo;
use racl::{CaptureMode, Context, Error, ErrorKind, Stream, Thrown, op};

/// One test at a time, on a mock with two devices that nobody used.
fn exclusive() -> MutexGuard<'static, ()> {
    let alone = mock::exclusive();
    // SAFETY: the other tests wait, and nothing else of this program reads or writes the environment meanwhile.
    unsafe { std::env::set_var("MOCK_ACL_DEVICES", "2") };
    mock::reset().unwrap();
    alone
}

/// Runs `test` in a context of its own.
fn alone(test: impl FnOnce(&Context)) {
    let _alone = exclusive();
    let context = common::direct_device().context().create_context().unwrap();
    test(&context);
    mock::clear_failures();
    context.close().unwrap();
}

/// An operator that fails on the device.
fn fail(stream: &Stream) {
    let x = stream.context().zeros::<f32>([4]).unwrap();
    stream.synchronize().unwrap();
    mock::fail_task("aclnnAbs", 1, 507_015).unwrap();
    op::abs(stream, &x, &mut x.clone()).unwrap();
}

fn numbers(error: &Error) -> Option<(u32, u32)> {
    error.task_failure().map(|failure| (failure.stream(), failure.device()))
}

fn id(stream: &Stream) -> u32 {
    stream.id().unwrap().unsigned_abs()
}

#[test]
fn the_error_of_an_operator_names_task_stream_and_device() {
    alone(|context| {
        let stream = context.stream().unwrap();
        fail(&stream);
        let error = stream.synchronize().unwrap_err();
        let failure = error.task_failure().unwrap_or_else(|| panic!("{error:#}"));
        assert_eq!((failure.code(), failure.stream(), failure.device()), (507_015, id(&stream), 0));
        assert!(failure.task() > 0 && failure.thread() != u32::MAX && failure.kernel().is_none(), "{failure}");
        let text = format!("[task {} of stream {} on device 0]", failure.task(), id(&stream));
        assert_says(&error, ErrorKind::DeviceFault, &[&text]);
        let whole = format!("{error:#}");
        assert!(whole.contains("the task is of") && whole.contains("tests/failures.rs:"), "{whole}");
        assert!(whole.contains("submitted by thread"), "{whole}");
        stream.synchronize().unwrap();
    });
}

#[test]
fn whoever_waits_is_told() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let want = Some((id(&stream), 0));
        fail(&stream);
        assert_eq!(numbers(&context.synchronize().unwrap_err()), want);
        let _ = stream.synchronize();
        for limit in [None, Some(Duration::from_secs(5))] {
            let event = context.event().unwrap();
            fail(&stream);
            event.record(&stream).unwrap();
            let waited = limit.map_or_else(|| event.synchronize(), |limit| event.synchronize_timeout(limit));
            assert_eq!(numbers(&waited.unwrap_err()), want, "{limit:?}");
            let _ = stream.synchronize();
        }
        fail(&stream);
        assert_eq!(numbers(&stream.synchronize_timeout(Duration::from_secs(5)).unwrap_err()), want);
    });
}

#[test]
fn a_drop_tells_it_too() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let want = Some((id(&stream), 0));
        fail(&stream);
        drop(stream);
        let told = context.take_drop_errors();
        assert!(told.len() == 1 && numbers(&told[0]) == want, "{told:?}");
    });
}

#[test]
fn a_wait_for_an_event_names_the_task_of_its_stream() {
    alone(|context| {
        let streams = [context.stream().unwrap(), context.stream().unwrap()];
        let events = [context.event().unwrap(), context.event().unwrap()];
        for (stream, event) in streams.iter().zip(&events) {
            fail(stream);
            event.record(stream).unwrap();
            mock::run_until_idle();
        }
        for (stream, event) in streams.iter().zip(&events).rev() {
            let error = event.synchronize().unwrap_err();
            assert_eq!(numbers(&error), Some((id(stream), 0)), "{error:#}");
        }
        streams.iter().for_each(|stream| drop(stream.synchronize()));
    });
}

#[test]
fn failures_of_work_that_was_aborted_explain_no_later_ones() {
    common::needs_the_card_alone("it aborts a device");
    alone(|context| {
        let (one, two) = (context.stream().unwrap(), context.stream().unwrap());
        fail(&one);
        mock::run_until_idle();
        context.abort_device(Duration::from_secs(1)).unwrap();
        let _ = one.synchronize();
        // The library says no more of this one than its code.
        let mut x = context.alloc::<u8>(4).unwrap();
        mock::fail("aclrtSynchronizeStream", 1, 507_015).unwrap();
        two.fill_bytes(&mut x, 1).unwrap();
        let error = two.synchronize().unwrap_err();
        assert_eq!((error.code(), numbers(&error)), (Some(507_015), None), "{error:#}");
    });
}

#[test]
fn a_report_lists_tasks_that_failed() {
    alone(|context| {
        let stream = context.stream().unwrap();
        fail(&stream);
        let error = stream.synchronize().unwrap_err();
        let report = context.acl().report().to_string();
        let (_, tasks) = report.split_once("\ntasks that failed last\n").unwrap();
        let latest = tasks.lines().take_while(|line| line.starts_with("  ")).last().unwrap();
        let want = format!(" s ago: {}", error.task_failure().unwrap());
        assert!(latest.ends_with(&want), "{latest}: {want}");
    });
}

#[test]
fn failures_of_several_devices_are_told_apart() {
    let _alone = exclusive();
    let devices = [0, 1].map(|id| common::acl().device(id).unwrap());
    let streams = devices.each_ref().map(|device| device.stream().unwrap());
    streams.iter().for_each(fail);
    for (number, stream) in [(1, &streams[1]), (0, &streams[0])] {
        let error = stream.synchronize().unwrap_err();
        assert_eq!(numbers(&error), Some((id(stream), number)), "{error:#}");
    }
    mock::clear_failures();
}

static HEARD: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn of_others(_: *mut aclrtExceptionInfo) {
    HEARD.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn a_function_of_other_code_hears_as_before() {
    alone(|context| {
        let set = context.acl().table().aclrtSetExceptionInfoCallback().unwrap();
        // SAFETY: a function that lives as long as the program.
        assert_eq!(unsafe { set(Some(of_others)) }, 0);
        context.acl().hear_failures().unwrap();
        let stream = context.stream().unwrap();
        fail(&stream);
        let error = stream.synchronize().unwrap_err();
        assert!(error.task_failure().is_some(), "{error:#}");
        assert_eq!(HEARD.swap(0, Ordering::Relaxed), 1);
        // SAFETY: null takes the function away.
        assert_eq!(unsafe { set(None) }, 0);
        fail(&stream);
        assert!(stream.synchronize().unwrap_err().task_failure().is_some());
        assert_eq!(HEARD.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn a_library_that_cannot_tell_is_used_all_the_same() {
    let _alone = exclusive();
    mock::fail("aclrtExceptionInfoCallbackRegister", 1, 507_000).unwrap();
    let device = common::device();
    mock::clear_failures();
    let stream = device.stream().unwrap();
    fail(&stream);
    let error = stream.synchronize().unwrap_err();
    assert!(error.kind() == ErrorKind::DeviceFault && error.task_failure().is_none(), "{error:#}");
    device.acl().hear_failures().unwrap();
    fail(&stream);
    assert_eq!(numbers(&stream.synchronize().unwrap_err()), Some((id(&stream), 0)));
    mock::fail("aclrtExceptionInfoCallbackRegister", 1, 507_000).unwrap();
    assert_eq!(device.acl().hear_failures().unwrap_err().code(), Some(507_000));
    mock::clear_failures();
}

#[test]
fn the_drop_of_a_stream_tells_a_panic_beside_a_fault() {
    alone(|context| {
        let mut buffer = context.alloc::<u8>(8).unwrap();
        let stream = context.stream().unwrap();
        stream.host_function(|| panic!("on purpose")).unwrap();
        mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        drop(stream);
        let kinds: Vec<_> = context.take_drop_errors().iter().map(Error::kind).collect();
        assert_eq!(kinds, [ErrorKind::DeviceFault, ErrorKind::CallbackPanicked]);
    });
}

/// Its wait takes what the library has to say.
#[test]
fn the_drop_of_a_buffer_that_is_lent_leaves_the_failure_of_its_copy_to_the_stream() {
    alone(|context| {
        let (stream, source) = (context.stream().unwrap(), context.alloc_zeroed::<u8>(8).unwrap());
        let fail = || {
            mock::fail_task("aclrtMemcpyAsync", 1, 507_015).unwrap();
            drop(stream.download(&source, context.pinned(8).unwrap()).unwrap());
        };
        fail();
        assert!(context.take_drop_errors().is_empty());
        assert_says(&stream.synchronize().unwrap_err(), ErrorKind::DeviceFault, &["507015"]);
        stream.synchronize().unwrap();
        // One is kept for the wait.
        fail();
        fail();
        assert_eq!(context.take_drop_errors().len(), 1);
        assert_says(&stream.synchronize().unwrap_err(), ErrorKind::DeviceFault, &["507015"]);
        stream.synchronize().unwrap();
        fail();
        drop(stream);
        let told = context.take_drop_errors();
        assert!(told.len() == 1 && told[0].kind() == ErrorKind::DeviceFault, "{told:?}");
    });
}

/// What the library tells of a replay that failed, whatever its task was.
#[test]
fn a_replay_that_failed_is_no_graph_that_cannot_run_now() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let x = context.zeros::<f32>([4]).unwrap();
        stream.synchronize().unwrap();
        mock::fail_task("aclnnAbs", 1, 507_011).unwrap();
        let mut graph = stream.capture(CaptureMode::Relaxed, |stream| op::abs(stream, &x, &mut x.clone())).unwrap();
        graph.launch(&stream).unwrap();
        assert_says(&stream.synchronize().unwrap_err(), ErrorKind::DeviceFault, &["507011"]);
        graph.launch(&stream).unwrap();
        drop((graph, stream));
        let told = context.take_drop_errors();
        assert!(told.iter().any(|error| error.to_string().contains("507011")), "{told:?}");
    });
}

type Wait<'a> = dyn Fn(&racl::Tensor<f32>) -> racl::Result<()> + 'a;

/// What an operator computes from memory that one on another stream was to write.
#[test]
fn whoever_waits_for_work_behind_work_of_another_stream_that_failed_is_told() {
    alone(|context| {
        let (first, second) = (context.stream().unwrap(), context.stream().unwrap());
        let mut x = context.upload_tensor(&[5.0_f32; 4], [4]).unwrap();
        let mut y = context.zeros::<f32>([4]).unwrap();
        let told = |result: racl::Result<()>| {
            let text = format!("work of stream {}, which this work is behind, failed", id(&first));
            assert_says(&result.unwrap_err(), ErrorKind::DeviceFault, &[&text]);
        };
        // Ordered by the memory, and by hand; told by each kind of wait.
        let waits: [&Wait<'_>; 4] = [
            &|y| y.to_vec().map(drop),
            &|_| second.synchronize(),
            &|_| {
                let event = context.event()?;
                event.record(&second)?;
                event.synchronize()
            },
            &|y| {
                let pinned = context.pinned::<f32>(4)?;
                second
                    .download(&y.buffer().unwrap(), pinned)
                    .unwrap()
                    .wait()
                    .map(drop)
                    .map_err(racl::Refused::into_error)
            },
        ];
        for (number, wait) in waits.into_iter().enumerate() {
            mock::fail_task("aclnnInplaceMuls", 1, 507_015).unwrap();
            if number % 2 == 0 {
                op::muls_inplace(&first, &mut x, 1.0).unwrap();
            } else {
                second.fork(&first).unwrap();
                racl::untracked(|| op::muls_inplace(&first, &mut x, 1.0)).unwrap();
                first.fork(&second).unwrap();
            }
            op::add(&second, &x, &x.clone(), &mut y).unwrap();
            told(wait(&y));
            // Once; and whoever waits for the stream that it is of, as before.
            second.synchronize().unwrap();
            assert_eq!(numbers(&first.synchronize().unwrap_err()), Some((id(&first), 0)));
            op::add(&second, &x, &x.clone(), &mut y).unwrap();
            assert_eq!(y.to_vec().unwrap(), [10.0; 4]);
            assert!(second.is_complete().unwrap());
        }
    });
}

/// A function of the host that panics stops nothing on the device.
#[test]
fn whoever_waits_for_work_behind_a_host_function_of_another_stream_that_failed_is_told() {
    alone(|context| {
        let [first, second, apart] = [(); 3].map(|()| context.stream().unwrap());
        let mut x = context.upload_tensor(&[5.0_f32; 4], [4]).unwrap();
        let mut y = context.zeros::<f32>([4]).unwrap();
        let waits: [&Wait<'_>; 3] = [&|y| y.to_vec().map(drop), &|_| second.synchronize(), &|_| {
            let event = context.event()?;
            event.record(&second)?;
            event.synchronize()
        }];
        for wait in waits {
            first.host_function(|| Thrown::new("the disk is full").because(std::fmt::Error).throw()).unwrap();
            op::muls_inplace(&first, &mut x, 1.0).unwrap();
            op::add(&second, &x, &x.clone(), &mut y).unwrap();
            let told = wait(&y).unwrap_err();
            assert_says(&told, ErrorKind::CallbackPanicked, &["on another stream", "the disk is full"]);
            assert!(told.source().is_some_and(|cause| cause.is::<std::fmt::Error>()));
            // Once; not what is behind nothing of it; and whoever waits for the stream that it is of, as before.
            second.synchronize().unwrap();
            apart.synchronize().unwrap();
            assert_says(&first.synchronize().unwrap_err(), ErrorKind::CallbackPanicked, &["the disk is full"]);
            // What comes behind that is good.
            op::add(&second, &x, &x.clone(), &mut y).unwrap();
            assert_eq!(y.to_vec().unwrap(), [10.0; 4]);
        }
        // Of what the first one told, others are not told again.
        first.host_function(|| panic!("on purpose")).unwrap();
        op::muls_inplace(&first, &mut x, 1.0).unwrap();
        op::add(&second, &x, &x.clone(), &mut y).unwrap();
        first.synchronize().unwrap_err();
        second.synchronize().unwrap();
    });
}

#[test]
fn work_that_is_not_behind_what_failed_is_good() {
    alone(|context| {
        let (first, second) = (context.stream().unwrap(), context.stream().unwrap());
        let (mut x, mut y) = (context.zeros::<f32>([4]).unwrap(), context.zeros::<f32>([4]).unwrap());
        // Behind what the first stream did before it failed, which nobody has waited for; then behind nothing more.
        op::adds_inplace(&first, &mut x, 1.0).unwrap();
        op::add(&second, &x, &x.clone(), &mut y).unwrap();
        first.synchronize().unwrap();
        mock::fail_task("aclnnInplaceMuls", 1, 507_015).unwrap();
        op::muls_inplace(&first, &mut x, 1.0).unwrap();
        op::adds_inplace(&second, &mut y, 1.0).unwrap();
        assert_eq!(y.to_vec().unwrap(), [3.0; 4]);
        second.synchronize().unwrap();
        first.synchronize().unwrap_err();
    });
}

#[test]
fn an_eager_run_whose_side_failed_is_told_by_each_wait_for_it_and_not_by_the_next_run() {
    alone(|context| {
        for (gated, buffers) in [(false, 2), (true, 2), (false, 1), (true, 1)] {
            let (stream, signals) = (context.stream().unwrap(), context.stream().unwrap());
            let mut gate = None;
            let plan = Plan::build(|g| {
                let x = g.input("x", [4], F32, Input::Static)?;
                let b = g.scope("side", |g| g.muls(x, 2.0))?;
                if gated {
                    g.wait_external(*gate.insert(g.external("gate")?))?;
                }
                let a = g.adds(x, 1.0)?;
                g.join("side")?;
                let y = g.add(a, b)?;
                g.output("y", y)?;
                g.output_to_host("h", g.abs(y)?)
            });
            let options = RunOptions::new().mode(Mode::Eager).host_output_buffers(buffers);
            let mut exe = plan.unwrap().executable(context, &options, Frozen::new()).unwrap();
            exe.static_input::<f32>(exe.input("x").unwrap()).unwrap().write(&[5.0; 4]).unwrap();
            let y = exe.output_id("y").unwrap();
            for wait in 0..3 {
                mock::fail_task("aclnnMuls", 1, 507_015).unwrap();
                exe.run(&stream, &mut exe.bindings()).unwrap();
                let end = exe.run_end().unwrap();
                gate.iter().for_each(|gate| exe.signal(*gate, &signals).unwrap());
                let told = match (wait, end) {
                    (0, Some(end)) => end.wait(),
                    (1, _) => exe.output::<f32>(y).unwrap().to_vec().map(drop),
                    _ => stream.synchronize(),
                };
                assert_eq!(told.unwrap_err().kind(), ErrorKind::DeviceFault, "{gated} {buffers} {wait}");
                stream.synchronize().unwrap();
                exe.run(&stream, &mut exe.bindings()).unwrap();
                gate.iter().for_each(|gate| exe.signal(*gate, &signals).unwrap());
                let good = exe.output::<f32>(y).unwrap().to_vec();
                assert_eq!(good.unwrap(), [16.0; 4], "{gated} {buffers} {wait}");
            }
        }
    });
}

#[test]
fn each_failure_is_told_to_what_is_behind_it_and_all_of_that_is_known_to_have_failed() {
    alone(|context| {
        let (first, second) = (context.stream().unwrap(), context.stream().unwrap());
        let mut x = context.upload_tensor(&[5.0_f32; 4], [4]).unwrap();
        let (mut y, mut z) = (context.zeros::<f32>([4]).unwrap(), context.zeros::<f32>([4]).unwrap());
        let fails = |x: &mut racl::Tensor<f32>| {
            mock::fail_task("aclnnInplaceMuls", 1, 507_015).unwrap();
            op::muls_inplace(&first, x, 100.0).unwrap();
        };
        // Two results of it: whoever waits for the first one was told of both.
        fails(&mut x);
        let (one, two) = (context.event().unwrap(), context.event().unwrap());
        op::add(&second, &x, &x.clone(), &mut y).unwrap();
        one.record(&second).unwrap();
        op::add(&second, &x, &x.clone(), &mut z).unwrap();
        two.record(&second).unwrap();
        assert_eq!(one.synchronize().unwrap_err().kind(), ErrorKind::DeviceFault);
        mock::run_until_idle();
        assert_eq!(two.is_complete().unwrap_err().kind(), ErrorKind::DeviceFault);
        // Another one, of which nobody who waited for the stream itself was told.
        fails(&mut x);
        op::add(&second, &x, &x.clone(), &mut y).unwrap();
        assert_eq!(second.synchronize().unwrap_err().kind(), ErrorKind::DeviceFault);
        assert!(first.synchronize().is_err());
        // Of a kind that says of calls that they were not done in time.
        mock::fail_task("aclnnInplaceMuls", 1, 507_012).unwrap();
        op::muls_inplace(&first, &mut x, 100.0).unwrap();
        op::add(&second, &x, &x.clone(), &mut y).unwrap();
        drop(second);
        let told = context.take_drop_errors();
        assert!(told.iter().any(|error| format!("{error:#}").contains("which this work is behind")), "{told:?}");
        drop(first.synchronize());
    });
}

/// A code that says of calls that they were not done in time says of a task that it failed.
#[test]
fn work_that_took_too_long_is_known_to_have_failed_whoever_was_told() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut x = context.upload_tensor(&[5.0_f32; 4], [4]).unwrap();
        for of_all in [false, true] {
            let (one, two) = (context.event().unwrap(), context.event().unwrap());
            mock::fail_task("aclnnInplaceMuls", 1, 507_012).unwrap();
            op::muls_inplace(&stream, &mut x, 100.0).unwrap();
            one.record(&stream).unwrap();
            two.record(&stream).unwrap();
            let told = if of_all { context.synchronize() } else { one.synchronize() }.unwrap_err();
            assert_eq!((told.kind(), told.code()), (ErrorKind::Timeout, Some(507_012)));
            assert!(told.task_failure().is_some(), "{told:#}");
            mock::run_until_idle();
            assert!(two.is_complete().is_err(), "of all: {of_all}");
            drop(stream.synchronize());
        }
    });
}

#[test]
fn failures_that_were_told_of_all_streams_at_once_are_told_of_no_later_work() {
    alone(|context| {
        let (a, b, c) = (context.stream().unwrap(), context.stream().unwrap(), context.stream().unwrap());
        let mut x = context.zeros::<f32>([4]).unwrap();
        let mut y = context.zeros::<f32>([4]).unwrap();
        for (stream, one) in [(&b, &mut x), (&c, &mut y)] {
            mock::fail_task("aclnnInplaceMuls", 1, 507_015).unwrap();
            op::muls_inplace(stream, one, 1.0).unwrap();
        }
        context.synchronize().unwrap_err();
        c.synchronize().unwrap();
        op::adds_inplace(&c, &mut y, 1.0).unwrap();
        op::adds_inplace(&a, &mut y, 1.0).unwrap();
        a.synchronize().unwrap();
        assert_eq!(y.to_vec().unwrap(), [2.0; 4]);
    });
}

#[test]
fn what_is_in_front_of_a_wait_for_failed_work_is_good() {
    alone(|context| {
        let (a, b) = (context.stream().unwrap(), context.stream().unwrap());
        let mut x = context.zeros::<f32>([4]).unwrap();
        let mut y = context.zeros::<f32>([4]).unwrap();
        let flag = context.flag(0).unwrap();
        op::adds_inplace(&a, &mut y, 1.0).unwrap();
        a.wait_value(&flag, racl::ValueWait::Equal(1)).unwrap();
        mock::fail_task("aclnnInplaceMuls", 1, 507_015).unwrap();
        op::muls_inplace(&b, &mut x, 1.0).unwrap();
        b.fork(&a).unwrap();
        assert_eq!(y.to_vec().unwrap(), [1.0; 4]);
        flag.set(1).unwrap();
        assert_eq!(a.synchronize().unwrap_err().kind(), ErrorKind::DeviceFault);
        b.synchronize().unwrap_err();
    });
}
