//! Other modes of captures for a part of the program.

use std::panic::{AssertUnwindSafe, catch_unwind};

use racl::{CaptureMode, Context, ErrorKind, Result};

use crate::alone;
use crate::common::mock;

/// A blocking copy.
fn reads(context: &Context) -> Result<Vec<u8>> {
    // Of its own, so that nothing is waited for first.
    context.upload(&[1_u8]).map(|_| Vec::new())
}

#[test]
fn blocking_calls_are_refused_as_the_thread_has_it() {
    use CaptureMode::{Global, Relaxed, ThreadLocal};
    alone(|context| {
        let stream = context.stream().unwrap();
        // (the capture, the thread's own, whether this thread captures): allowed
        let table = [
            (Global, Global, true, false),
            (Global, Relaxed, true, true),
            (Global, Global, false, false),
            (Global, ThreadLocal, false, true),
            (ThreadLocal, Global, true, false),
            (ThreadLocal, Relaxed, true, true),
            (ThreadLocal, Global, false, true),
            (Relaxed, Global, true, true),
        ];
        for (capture, own, captures, allowed) in table {
            let scope = || context.with_capture_mode(own, || reads(context)).unwrap();
            let capture = stream.begin_capture(capture).unwrap();
            let read = match captures {
                true => scope(),
                false => std::thread::scope(|threads| threads.spawn(scope).join().unwrap()),
            };
            capture.finish().unwrap();
            assert_eq!(read.is_ok(), allowed, "{table:?}: {own:?} {captures}");
            assert!(read.err().is_none_or(|error| error.kind() == ErrorKind::CaptureForbidden));
        }
    });
}

#[test]
fn the_former_mode_comes_back() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        let relaxed = |work: &dyn Fn() -> bool| context.with_capture_mode(CaptureMode::Relaxed, work).unwrap();
        assert!(relaxed(&|| {
            let inner = context.with_capture_mode(CaptureMode::Global, || reads(context)).unwrap();
            inner.is_err() && reads(context).is_ok()
        }));
        assert!(reads(context).is_err());
        let panicked = catch_unwind(AssertUnwindSafe(|| relaxed(&|| panic!("on purpose"))));
        assert!(panicked.is_err() && reads(context).is_err());

        mock::fail("aclmdlRICaptureThreadExchangeMode", 1, 507_000).unwrap();
        let refused = context.with_capture_mode(CaptureMode::Relaxed, || unreachable!()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Internal);
        mock::fail("aclmdlRICaptureThreadExchangeMode", 2, 507_000).unwrap();
        context.with_capture_mode(CaptureMode::Relaxed, || ()).unwrap();
        let told = context.take_drop_errors();
        assert!(told.len() == 1 && told[0].to_string().contains("507000"), "{told:?}");
        context.with_capture_mode(CaptureMode::Global, || ()).unwrap();
        capture.finish().unwrap();
        // As at first: this thread is that of other tests as well.
        restore(context);
    });
}

/// The failure above left the mode.
fn restore(context: &Context) {
    let mut mode = racl::sys::aclmdlRICaptureMode::ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
    let function = context.acl().table().aclmdlRICaptureThreadExchangeMode().unwrap();
    // SAFETY: a place for one value.
    assert_eq!(unsafe { function(&raw mut mode) }, 0);
}
