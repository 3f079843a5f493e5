//! Kernels that fail, and kernels that take too long.

use std::time::Duration;

use racl::{CaptureMode, Error, ErrorKind, TaskFailure, op};

use crate::common::{assert_says, mock};
use crate::{alone, fail, kernel, load};

fn named(error: &Error) -> Option<&str> {
    error.task_failure().and_then(TaskFailure::kernel)
}

#[test]
fn the_error_names_kernel_stream_and_task() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let binary = load(context);
        for (name, code, told) in [
            ("fail", 1, 507_035),
            ("fail_cube", 1, 507_015),
            ("fail_any", 1, 507_015),
            ("fail_mix", 3, 507_015),
            ("fail", 507_018, 507_018),
            ("fail", 507_053, 507_053),
        ] {
            fail(&binary.kernel("fail").unwrap(), &stream, 0).unwrap();
            fail(&binary.kernel(name).unwrap(), &stream, code).unwrap();
            let error = stream.synchronize().unwrap_err();
            assert_eq!(error.code(), Some(told), "{error}");
            let id = stream.id().unwrap();
            let failure = error.task_failure().unwrap_or_else(|| panic!("{error:#}"));
            assert_eq!((failure.kernel(), failure.code()), (Some(name), told));
            assert_eq!((failure.stream(), failure.device()), (id.unsigned_abs(), 0));
            assert!(failure.task() > 1 && failure.thread() != u32::MAX);
            let task = failure.task();
            assert_says(
                &error,
                error.kind(),
                &[&format!("[kernel {name:?}, task {task} of stream {id} on device 0]")],
            );
            assert!(format!("{error:#}").contains("submitted by thread"), "{error:#}");
            let _ = stream.synchronize();
        }
    });
}

#[test]
fn whoever_asks_first_is_told() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let kernel = kernel(context, "fail");
        fail(&kernel, &stream, 1).unwrap();
        let error = loop {
            match stream.is_complete() {
                Ok(true) => panic!("a kernel that failed is done, says a query"),
                Ok(false) => drop(mock::run_until_idle()),
                Err(error) => break error,
            }
        };
        assert_eq!(named(&error), Some("fail"));
        stream.synchronize().unwrap();
        let done = context.event().unwrap();
        fail(&kernel, &stream, 1).unwrap();
        done.record(&stream).unwrap();
        let mut buffer = context.alloc_zeroed::<u8>(4).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        let error = buffer.to_vec().unwrap_err();
        assert_eq!((error.kind(), named(&error)), (ErrorKind::DeviceFault, Some("fail")), "{error:#}");
    });
}

#[test]
fn a_failure_inside_a_graph_is_named_too() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let kernel = kernel(context, "fail");
        let mut graph = stream
            .capture(CaptureMode::ThreadLocal, |s| {
                fail(&kernel, s, 0)?;
                fail(&kernel, s, 1)
            })
            .unwrap();
        drop(kernel);
        for _ in 0..2 {
            graph.launch(&stream).unwrap();
            let error = graph.wait().unwrap_err();
            assert_eq!((error.code(), named(&error)), (Some(507_035), Some("fail")), "{error:#}");
            let _ = stream.synchronize();
        }
    });
}

#[test]
fn failures_of_other_work_are_not_laid_to_a_kernel() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let kernel = kernel(context, "fail");
        fail(&kernel, &stream, 0).unwrap();
        stream.synchronize().unwrap();
        let x = context.zeros::<f32>([4]).unwrap();
        mock::fail_task("aclnnAbs", 1, 507_015).unwrap();
        op::abs(&stream, &x, &mut x.clone()).unwrap();
        let error = stream.synchronize().unwrap_err();
        assert_eq!((error.kind(), named(&error)), (ErrorKind::DeviceFault, None), "{error:#}");
    });
}

#[test]
fn memory_that_is_not_there_is_a_fault_of_the_kernel() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let poke = kernel(context, "poke");
        let nowhere = std::ptr::without_provenance_mut(0x1000);
        // SAFETY: the mock looks at each address before it is used, and nothing is there.
        unsafe { poke.launch(&stream).address(nowhere).submit() }.unwrap();
        let error = stream.synchronize().unwrap_err();
        assert_eq!((error.kind(), named(&error)), (ErrorKind::DeviceFault, Some("poke")), "{error:#}");
    });
}

#[test]
fn a_kernel_that_takes_too_long_fails() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let slow = kernel(context, "slow");
        for (limit, late) in [
            (Some(Duration::from_millis(1)), true),
            (Some(Duration::from_secs(1)), true),
            (Some(Duration::from_secs(3)), false),
            (None, false),
        ] {
            let two_seconds = 2_000_000_000_u64;
            let before = mock::now();
            // SAFETY: the one parameter of `slow`.
            unsafe { slow.launch(&stream).limit(limit).arg(two_seconds).submit() }.unwrap();
            let waited = stream.synchronize();
            let spent = mock::now() - before;
            if late {
                let error = waited.unwrap_err();
                assert_eq!((error.code(), named(&error)), (Some(507_014), Some("slow")), "{limit:?}: {error:#}");
                assert!(spent >= limit.unwrap() && spent < Duration::from_secs(2), "{limit:?}: {spent:?}");
            } else {
                waited.unwrap();
                assert!(spent >= Duration::from_secs(2), "{limit:?}: {spent:?}");
            }
        }
    });
}

#[test]
fn a_limit_is_rounded_up_where_the_release_has_whole_seconds() {
    for late in [true, false] {
        // The first turn of `alone` is with the newer way of launches.
        let turn = std::cell::Cell::new(0);
        alone(|context| {
            let older = turn.replace(turn.get() + 1) == 1;
            let (stream, slow) = (context.stream().unwrap(), kernel(context, "slow"));
            let takes = if late { 2_500_000_000_u64 } else { 1_800_000_000 };
            let limit = Duration::from_millis(1500);
            // SAFETY: the one parameter of `slow`.
            unsafe { slow.launch(&stream).limit(limit).arg(takes).submit() }.unwrap();
            // As a limit of two seconds.
            assert_eq!(stream.synchronize().is_err(), late || !older, "{takes} ns, older: {older}");
            // SAFETY: as above.
            let long = unsafe { slow.launch(&stream).limit(Duration::from_secs(65_536)).arg(1_u64).submit() };
            assert_eq!(long.is_err(), older);
            if let Err(error) = long {
                assert_says(&error, ErrorKind::NotSupported, &["65536 seconds", "up to 65,535"]);
            }
            stream.synchronize().unwrap();
        });
    }
}

#[test]
fn a_kernel_whose_name_is_not_told_is_named_by_its_task() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let kernel = kernel(context, "fail");
        for call in ["aclrtGetFuncHandleFromExceptionInfo", "aclrtGetFunctionName"] {
            mock::fail(call, 1, 507_000).unwrap();
            fail(&kernel, &stream, 1).unwrap();
            let error = stream.synchronize().unwrap_err();
            let task = error.task_failure().map(|failure| (failure.kernel(), failure.stream()));
            let id = stream.id().unwrap().unsigned_abs();
            assert_eq!((error.kind(), task), (ErrorKind::DeviceFault, Some((None, id))), "{call}");
            let _ = stream.synchronize();
        }
    });
}
