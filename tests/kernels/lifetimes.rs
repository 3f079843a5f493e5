//! What keeps a binary, and how long.

use racl::{CaptureMode, ErrorKind};

use crate::common::{assert_says, mock};
use crate::{add, alone, fail, kernel, load};

const UNLOAD: &str = "aclrtBinaryUnLoad";

#[test]
fn kernels_clones_and_variables_keep_their_binary() {
    alone(|context| {
        let binary = load(context);
        let kernel = binary.kernel("fail").unwrap();
        let refused = binary.close().unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["1 kernels or clones"]);
        let binary = refused.into_value();
        drop(kernel);
        let counter = binary.global::<i32>("counter").unwrap();
        let refused = binary.close().unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["\"counter\" is in use"]);
        let before = mock::calls(UNLOAD);
        drop(refused);
        assert_eq!(mock::calls(UNLOAD), before, "the variable has it");
        assert_eq!(counter.to_vec().unwrap(), [40]);
        drop(counter);
        assert_eq!(mock::calls(UNLOAD), before + 1);
        let binary = load(context);
        drop(binary.global::<i32>("counter").unwrap());
        binary.close().unwrap();
        assert_eq!(mock::calls(UNLOAD), before + 2);
    });
}

#[test]
fn a_binary_whose_variables_are_in_use_is_not_closed_and_knows_them_still() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let binary = load(context);
        let mut counter = binary.global::<i32>("counter").unwrap();
        mock::hold(&stream).unwrap();
        stream.fill_bytes(&mut counter, 0).unwrap();
        drop(counter);
        let refused = binary.close().unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["work that is not done", "\"counter\""]);
        let binary = refused.into_value();
        mock::release(&stream).unwrap();
        stream.synchronize().unwrap();
        // Work that failed is told, by the wait that the close ends with.
        mock::hold(&stream).unwrap();
        mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
        stream.fill_bytes(&mut binary.global::<i32>("counter").unwrap(), 0).unwrap();
        let address = binary.global::<i32>("counter").unwrap().address();
        mock::release(&stream).unwrap();
        assert_eq!(binary.global::<i32>("counter").unwrap().to_vec().unwrap_err().code(), Some(507_015));
        assert_eq!(binary.global::<i32>("counter").unwrap().address(), address);
        binary.close().unwrap();
    });
}

#[test]
fn a_variable_that_could_not_be_waited_for_keeps_its_users() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let binary = load(context);
        stream.fill_bytes(&mut binary.global::<i32>("counter").unwrap(), 0).unwrap();
        mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
        stream.fill_bytes(&mut binary.global::<i32>("table").unwrap(), 0).unwrap();
        mock::run_until_idle();
        let refused = binary.close().unwrap_err();
        assert_says(refused.error(), ErrorKind::DeviceFault, &["507015"]);
        let binary = refused.into_value();
        assert_eq!(binary.global::<f32>("table").unwrap().len(), 250);
        assert_eq!(binary.global::<i32>("counter").unwrap().to_vec().unwrap(), [0]);
        binary.close().unwrap();
    });
}

#[test]
fn work_under_way_keeps_the_code_and_the_memory() {
    for way in [false, true] {
        alone(|context| {
            let stream = context.stream().unwrap();
            let ones = context.upload(&[1.0_f32; 4]).unwrap();
            let mut out = context.alloc_zeroed(4).unwrap();
            mock::hold(&stream).unwrap();
            let binary = load(context);
            let sum = binary.kernel("add").unwrap();
            add(&sum, &stream, &ones, &ones, &mut out).unwrap();
            drop((sum, ones));
            let before = mock::calls(UNLOAD);
            if way {
                let refused = binary.close().unwrap_err();
                assert_says(
                    refused.error(),
                    ErrorKind::InvalidArgument,
                    &["work that is not done uses a kernel binary"],
                );
                drop(refused);
            } else {
                drop(binary);
            }
            assert_eq!(mock::calls(UNLOAD), before);
            mock::release(&stream).unwrap();
            assert_eq!(out.to_vec().unwrap(), [2.0; 4]);
        });
    }
}

#[test]
fn a_graph_keeps_the_code_and_the_memory_of_what_it_replays() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut out = context.alloc_zeroed(4).unwrap();
        let before = mock::calls(UNLOAD);
        let mut graph = {
            let (sum, ones) = (kernel(context, "add"), context.upload(&[1.0_f32; 4]).unwrap());
            stream.capture(CaptureMode::ThreadLocal, |s| add(&sum, s, &ones, &ones, &mut out)).unwrap()
        };
        assert_eq!(out.to_vec().unwrap(), [0.0; 4], "recorded, not run");
        for _ in 0..3 {
            graph.launch(&stream).unwrap();
        }
        assert_eq!(out.to_vec().unwrap(), [2.0; 4]);
        assert_eq!(mock::calls(UNLOAD), before);
        graph.close().unwrap();
        assert_eq!(mock::calls(UNLOAD), before + 1);
    });
}

#[test]
fn closing_is_refused_while_a_graph_holds_a_launch() {
    alone(|context| {
        let (stream, binary) = (context.stream().unwrap(), load(context));
        let fails = binary.kernel("fail").unwrap();
        let graph = stream.capture(CaptureMode::ThreadLocal, |s| fail(&fails, s, 0)).unwrap();
        drop(fails);
        let refused = binary.close().unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["a graph uses a kernel binary"]);
        graph.close().unwrap();
        refused.into_value().close().unwrap();
    });
}

#[test]
fn a_capture_that_is_given_up_gives_the_binary_back() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let before = mock::calls(UNLOAD);
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        fail(&kernel(context, "fail"), &stream, 0).unwrap();
        assert_eq!(mock::calls(UNLOAD), before);
        drop(capture);
        assert_eq!(mock::calls(UNLOAD), before + 1);
    });
}

#[test]
fn a_binary_that_cannot_be_unloaded_is_told() {
    alone(|context| {
        let binary = load(context);
        let raw = binary.as_raw();
        mock::fail(UNLOAD, 1, 507_000).unwrap();
        let refused = binary.close().unwrap_err();
        assert_eq!(refused.error().code(), Some(507_000));
        mock::fail(UNLOAD, 1, 507_000).unwrap();
        drop(refused);
        let told = context.take_drop_errors();
        assert!(told.len() == 1 && told[0].to_string().contains("destroying a kernel binary"), "{told:?}");
        // SAFETY: the handle is live still, and nobody has it.
        assert_eq!(unsafe { context.acl().table().aclrtBinaryUnLoad().unwrap()(raw) }, 0);
    });
}

#[test]
fn a_binary_that_could_not_be_closed_names_its_failures_still() {
    alone(|context| {
        let (binary, stream) = (load(context), context.stream().unwrap());
        mock::fail(UNLOAD, 1, 507_000).unwrap();
        let binary = binary.close().unwrap_err().into_value();
        fail(&binary.kernel("fail").unwrap(), &stream, 1).unwrap();
        let error = stream.synchronize().unwrap_err();
        assert_eq!(error.task_failure().and_then(racl::TaskFailure::kernel), Some("fail"), "{error:#}");
        binary.close().unwrap();
    });
}

#[test]
fn a_host_function_may_drop_the_last_handle() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let kernel = kernel(context, "fail");
        fail(&kernel, &stream, 0).unwrap();
        let mut last = Some(kernel);
        stream.host_function(move || drop(last.take())).unwrap();
        stream.synchronize().unwrap();
    });
}
