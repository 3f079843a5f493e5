//! Other modes of captures for a part of the program.

use std::panic::{AssertUnwindSafe, catch_unwind};

use racl::{CaptureMode, Context, ErrorKind, Result, Stream};

use crate::alone;
use crate::common::{assert_says, mock};

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
            let finished = capture.finish();
            assert_eq!(finished.err().map(|error| error.kind()), (!allowed).then_some(ErrorKind::CaptureInvalidated));
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
        assert_eq!(capture.finish().unwrap_err().kind(), ErrorKind::CaptureInvalidated);
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

/// Records a fill, lets `call` be refused, and has the capture end without a graph, for that call.
fn refused<T>(stream: &Stream, mode: CaptureMode, call: impl FnOnce() -> (Result<T>, u32)) {
    let name = stream.name();
    let capture = stream.begin_capture(mode).unwrap();
    stream.alloc::<u8>(8).and_then(|mut buffer| stream.fill_bytes(&mut buffer, 1)).unwrap();
    let (told, line) = call();
    let told = told.err().expect("it is refused");
    let place = format!("{}:{line}", file!());
    let of = format!("the capture of {name}");
    assert_says(&told, ErrorKind::CaptureForbidden, &[&place, &of, &format!("{mode:?}")]);
    assert_says(&capture.finish().unwrap_err(), ErrorKind::CaptureInvalidated, &[&place, "beside the capture"]);
    assert!(!stream.is_capturing());
}

#[test]
fn what_blocks_beside_a_capture_is_not_asked_of_the_library_and_costs_the_graph() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let buffer = context.upload(&[1_u8; 128]).unwrap();
        let mut tensor = context.zeros::<f32>([2]).unwrap();
        let flag = context.flag(3).unwrap();
        let memory = context.upload(&[[0_u8; 64]; 2]).unwrap().into_shared();
        let mut copy = context.copy_descriptor(&memory, &memory, 1).unwrap();
        let mut pointer = context.device_pointer(&memory).unwrap();
        let mut written = context.upload(&[1_u8; 4]).unwrap();
        let batched = context.upload(&[1_u8; 4]).unwrap();
        let mut host = [0; 128];
        let calls: [&mut dyn FnMut() -> (Result<()>, u32); 13] = [
            &mut || (buffer.read(&mut host), line!()),
            &mut || (buffer.to_vec().map(drop), line!()),
            &mut || (buffer.slice(1..).unwrap().to_vec().map(drop), line!()),
            &mut || (written.write(&[0; 4]), line!()),
            &mut || (tensor.write(&[0.0; 2]), line!()),
            &mut || (context.upload(&[1_u8]).map(drop), line!()),
            &mut || (context.zeros::<f32>([2]).map(drop), line!()),
            &mut || (flag.value().map(drop), line!()),
            &mut || (flag.set(1), line!()),
            &mut || (copy.set(0, 1), line!()),
            &mut || (pointer.point_to(1), line!()),
            &mut || (context.read_batch(&mut [(batched.slice(..).unwrap(), &mut [0; 4])]), line!()),
            &mut || (context.synchronize(), line!()),
        ];
        let counted =
            ["aclrtMemcpy", "aclrtMemset", "aclrtSetMemcpyDesc", "aclrtMemcpyBatch", "aclrtSynchronizeDevice"];
        let asked = || counted.map(mock::calls);
        let before = asked();
        for call in calls {
            refused(&stream, CaptureMode::ThreadLocal, &mut *call);
            refused(&stream, CaptureMode::Global, &mut *call);
        }
        assert_eq!(asked(), before);
        assert_eq!(flag.value().unwrap(), 3);
    });
}

#[test]
fn another_thread_breaks_the_captures_that_forbid_it_and_no_others() {
    alone(|context| {
        let [global, local, relaxed] = [(); 3].map(|()| context.stream().unwrap());
        let modes = [CaptureMode::Global, CaptureMode::ThreadLocal, CaptureMode::Relaxed];
        let begin = |(stream, mode): (&Stream, _)| stream.begin_capture(mode).unwrap();
        let captures: Vec<_> = [&global, &local, &relaxed].into_iter().zip(modes).map(begin).collect();
        let told = std::thread::scope(|threads| threads.spawn(|| reads(context)).join().unwrap()).unwrap_err();
        assert_says(&told, ErrorKind::CaptureForbidden, &[&global.name(), "Global"]);
        let ended: Vec<_> = captures.into_iter().map(|capture| capture.finish().is_ok()).collect();
        assert_eq!(ended, [false, true, true]);
        // None is open any more.
        reads(context).unwrap();
        context.synchronize().unwrap();
    });
}

#[test]
fn captures_of_other_contexts_and_ended_ones_forbid_nothing() {
    alone(|context| {
        let other = crate::common::device().context().create_context().unwrap();
        let stream = other.stream().unwrap();
        let capture = stream.begin_capture(CaptureMode::Global).unwrap();
        reads(context).unwrap();
        drop(capture);
        reads(&other).unwrap();
        // One that forbade something goes with its error.
        let capture = stream.begin_capture(CaptureMode::Global).unwrap();
        drop(reads(&other).unwrap_err());
        capture.finish().unwrap_err();
        stream.capture(CaptureMode::Global, |_| Ok(())).unwrap();
        drop(stream);
        other.close().unwrap();
    });
}

#[test]
fn what_the_library_takes_beside_a_capture_goes_and_wrong_arguments_cost_nothing() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let buffer = context.upload(&[7_u8; 4]).unwrap();
        let memory = context.upload(&[[0_u8; 64]; 2]).unwrap().into_shared();
        let mut pointer = context.device_pointer(&memory).unwrap();
        let capture = stream.begin_capture(CaptureMode::Global).unwrap();
        assert!(buffer.slice(4..).unwrap().to_vec().unwrap().is_empty());
        assert_says(&context.upload::<u8>(&[]).unwrap_err(), ErrorKind::InvalidArgument, &[]);
        assert_says(&pointer.point_to(2).unwrap_err(), ErrorKind::InvalidArgument, &[]);
        assert_says(&context.write_batch::<u8>(&mut []).unwrap_err(), ErrorKind::InvalidArgument, &[]);
        // Other code on this thread may have set the mode.
        let exchange = context.acl().table().aclmdlRICaptureThreadExchangeMode().unwrap();
        let mut mode = racl::sys::aclmdlRICaptureMode::ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
        // SAFETY: a place for one mode.
        assert_eq!(unsafe { exchange(&raw mut mode) }, 0);
        assert_eq!(buffer.to_vec().unwrap(), [7; 4]);
        // SAFETY: as above.
        assert_eq!(unsafe { exchange(&raw mut mode) }, 0);
        assert_eq!(mode, racl::sys::aclmdlRICaptureMode::ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
        capture.finish().unwrap();
    });
}
