//! Limits of cores outside plans. Counts calls of the mock and lets some fail, so one test at a time.

mod common;

use common::{assert_says, mock};
use racl::op::DataType::F32;
use racl::plan::{Cores, Frozen, Input, Mode, Plan, RunOptions, Scope};
use racl::{CaptureMode, Device, ErrorKind, Stream, op};

const ALL: Cores = Cores { cube: 24, vector: 48 };
const SOME: Cores = Cores { cube: 4, vector: 6 };

fn alone(test: impl FnOnce(&Device, &Stream)) {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let device = common::device();
    let stream = device.stream().unwrap();
    test(&device, &stream);
    mock::clear_failures();
    assert_eq!(device.core_limit().unwrap(), ALL);
}

/// What the kernels of the same product had each time.
fn products(stream: &Stream, times: usize) -> Vec<(u32, u32)> {
    mock::log_launches(true);
    let context = stream.context();
    let a = context.upload_tensor(&[1.0_f32; 4], [2, 2]).unwrap();
    for _ in 0..times {
        op::matmul(stream, &a, &a, &mut context.zeros([2, 2]).unwrap()).unwrap();
    }
    stream.synchronize().unwrap();
    let of = mock::launches().into_iter().filter(|launch| launch.function.contains("Matmul"));
    of.map(|launch| (launch.cube_cores, launch.vector_cores)).collect()
}

#[test]
fn work_of_the_thread_has_the_cores_of_the_limit_until_it_ends() {
    alone(|device, stream| {
        assert_eq!(products(stream, 2), [(24, 48); 2]);
        let limit = stream.limit_cores(SOME).unwrap();
        assert_eq!((stream.core_limit().unwrap(), device.context().thread_cores().unwrap()), (SOME, SOME));
        // Also on other streams, and for operators that were planned before.
        assert_eq!(products(&device.stream().unwrap(), 2), [(4, 6); 2]);
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(products(stream, 1), [(24, 48)], "another thread"));
        });
        limit.end().unwrap();
        assert_eq!((stream.core_limit().unwrap(), device.context().thread_cores().unwrap()), (ALL, ALL));
        assert_eq!(products(stream, 2), [(24, 48); 2]);
    });
}

#[test]
fn a_graph_keeps_the_cores_that_it_was_captured_with() {
    alone(|device, stream| {
        let a = device.upload_tensor(&[1.0_f32; 4], [2, 2]).unwrap();
        let mut out = device.zeros::<f32>([2, 2]).unwrap();
        let limit = stream.limit_cores(SOME).unwrap();
        let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| op::matmul(s, &a, &a, &mut out)).unwrap();
        drop(limit);
        mock::log_launches(true);
        graph.launch(stream).unwrap();
        stream.synchronize().unwrap();
        let cores: Vec<_> = mock::launches().iter().map(|launch| (launch.cube_cores, launch.vector_cores)).collect();
        assert_eq!(cores, [(4, 6)]);
    });
}

#[test]
fn a_plan_with_limits_of_its_own_leaves_that_of_the_thread_as_it_was() {
    alone(|device, stream| {
        let plan = Plan::build(|g| {
            let x = g.input("x", [2, 2], F32, Input::Copied)?;
            let few = Scope::new().cores(Cores { cube: 1, vector: 2 });
            let y = g.scope_with("side", few, |g| g.matmul(x, x))?;
            g.output("y", y)?;
            Ok(())
        })
        .unwrap();
        let x = device.upload_tensor(&[1.0_f32; 4], [2, 2]).unwrap();
        for of_limit in [stream, &device.stream().unwrap()] {
            let limit = of_limit.limit_cores(SOME).unwrap();
            for mode in [Mode::Eager, Mode::Captured] {
                let mut executable = plan.executable(device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
                let mut bind = executable.bindings();
                bind.set(executable.input("x").unwrap(), &x);
                mock::log_launches(true);
                executable.run(stream, &mut bind).unwrap();
                stream.synchronize().unwrap();
                let launches = mock::launches();
                let product = launches.iter().find(|launch| launch.function.contains("Matmul")).unwrap();
                assert_eq!((product.cube_cores, product.vector_cores), (1, 2));
                assert_eq!(device.context().thread_cores().unwrap(), SOME);
                assert_eq!(products(stream, 2), [(4, 6); 2]);
            }
            limit.end().unwrap();
            assert_eq!(products(stream, 1), [(24, 48)]);
        }
    });
}

#[test]
fn limits_that_cannot_be_are_refused_and_leave_nothing() {
    common::needs_function("aclrtSetStreamResLimit");
    alone(|device, stream| {
        for cores in [Cores { cube: 25, vector: 0 }, Cores { cube: 1, vector: 49 }] {
            assert_eq!(stream.limit_cores(cores).unwrap_err().kind(), ErrorKind::InvalidArgument);
            assert_eq!(device.limit_cores(cores).unwrap_err().kind(), ErrorKind::InvalidArgument);
            assert_eq!((stream.core_limit().unwrap(), device.core_limit().unwrap()), (ALL, ALL));
        }
        let none = Cores::default();
        assert_says(&stream.limit_cores(none).unwrap_err(), ErrorKind::InvalidArgument, &["no number of cores"]);
        assert_says(&device.limit_cores(none).unwrap_err(), ErrorKind::InvalidArgument, &["no number of cores"]);
        let (first, whole) = (stream.limit_cores(SOME).unwrap(), device.limit_cores(SOME).unwrap());
        let again = stream.limit_cores(SOME).unwrap_err();
        assert_says(&again, ErrorKind::InvalidArgument, &["another limit of cores holds on this thread"]);
        assert_says(&device.limit_cores(SOME).unwrap_err(), ErrorKind::InvalidArgument, &["holds for device 0"]);
        drop((first, whole));
        drop((stream.limit_cores(SOME).unwrap(), device.limit_cores(SOME).unwrap()));
    });
}

#[test]
fn a_limit_of_the_device_counts_for_operators_that_were_kept() {
    alone(|device, stream| {
        assert_eq!(products(stream, 2), [(24, 48); 2]);
        let limit = device.limit_cores(Cores { cube: 3, vector: 0 }).unwrap();
        let before = mock::calls("aclnnMatmulGetWorkspaceSize");
        assert_eq!(products(stream, 2), [(3, 48); 2]);
        assert!(mock::calls("aclnnMatmulGetWorkspaceSize") > before, "planned anew");
        limit.end().unwrap();
        assert_eq!(products(stream, 1), [(24, 48)]);
        assert_eq!(mock::calls("aclrtResetDeviceResLimit"), 1);
    });
}

#[test]
fn the_limit_of_other_code_comes_back() {
    alone(|device, _| {
        let table = device.acl().table();
        let kind = racl::sys::aclrtDevResLimitType::ACL_RT_DEV_RES_VECTOR_CORE;
        // SAFETY: takes numbers.
        assert_eq!(unsafe { table.aclrtSetDeviceResLimit().unwrap()(0, kind, 10) }, 0);
        let limit = device.limit_cores(SOME).unwrap();
        assert_eq!(device.core_limit().unwrap(), SOME);
        drop(limit);
        assert_eq!(device.core_limit().unwrap(), Cores { cube: 24, vector: 10 });
        assert_eq!(mock::calls("aclrtResetDeviceResLimit"), 0);
        // SAFETY: takes a number.
        assert_eq!(unsafe { table.aclrtResetDeviceResLimit().unwrap()(0) }, 0);
    });
}

#[test]
fn each_call_that_fails_is_told_and_the_limit_is_undone() {
    alone(|device, stream| {
        for (call, nth) in
            [("aclrtSetStreamResLimit", 1), ("aclrtSetStreamResLimit", 2), ("aclrtUseStreamResInCurrentThread", 1)]
        {
            mock::fail(call, nth, 507_000).unwrap();
            assert_says(&stream.limit_cores(SOME).unwrap_err(), ErrorKind::Internal, &[call]);
            assert_eq!((stream.core_limit().unwrap(), device.context().thread_cores().unwrap()), (ALL, ALL));
        }
        for (call, nth) in
            [("aclrtSetDeviceResLimit", 1), ("aclrtSetDeviceResLimit", 2), ("aclrtGetDeviceResLimit", 2)]
        {
            mock::fail(call, nth, 507_000).unwrap();
            assert_says(&device.limit_cores(SOME).unwrap_err(), ErrorKind::Internal, &[call]);
            assert_eq!(device.core_limit().unwrap(), ALL);
        }
        for call in ["aclrtUnuseStreamResInCurrentThread", "aclrtResetStreamResLimit", "aclrtResetDeviceResLimit"] {
            mock::fail(call, 1, 507_000).unwrap();
            drop(stream.limit_cores(SOME).unwrap());
            drop(device.limit_cores(SOME).unwrap());
            let errors = device.context().take_drop_errors();
            assert_eq!(errors.len(), 1, "{errors:?}");
            assert_says(&errors[0], ErrorKind::Internal, &[call, "core limit"]);
            // A limit of a stream that was not undone is so by the next; one of the device counts as that of others.
            drop(stream.limit_cores(SOME).unwrap());
            // SAFETY: takes a number.
            assert_eq!(unsafe { device.acl().table().aclrtResetDeviceResLimit().unwrap()(0) }, 0);
        }
        mock::fail("aclrtGetStreamResLimit", 1, 507_000).unwrap();
        assert_eq!(stream.core_limit().unwrap_err().kind(), ErrorKind::Internal);
        mock::fail("aclrtGetResInCurrentThread", 2, 507_000).unwrap();
        assert_eq!(device.context().thread_cores().unwrap_err().kind(), ErrorKind::Internal);
    });
}

#[test]
fn a_limit_that_could_not_be_read_holds_nothing() {
    alone(|device, _| {
        mock::fail("aclrtGetDeviceResLimit", 1, 507_000).unwrap();
        assert_says(&device.limit_cores(SOME).unwrap_err(), ErrorKind::Internal, &["aclrtGetDeviceResLimit"]);
        device.limit_cores(SOME).unwrap().end().unwrap();
    });
}

#[test]
fn limits_of_two_threads_leave_the_whole_device() {
    alone(|device, _| {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..2000 {
                        match device.limit_cores(SOME) {
                            Ok(limit) => limit.end().unwrap(),
                            Err(error) => assert_says(&error, ErrorKind::InvalidArgument, &["holds for device 0"]),
                        }
                    }
                });
            }
        });
        assert_eq!(device.core_limit().unwrap(), ALL);
    });
}
