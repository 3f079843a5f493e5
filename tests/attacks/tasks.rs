//! Work that fails on the device, long after the call that gave it.

use crate::common::mock;
use racl::plan::Mode;
use racl::{CaptureMode, ErrorKind, op};

use crate::arena::{Arena, formula, result, run};

const FAULT: i32 = 507_015;

/// That `work` is told of the failure somewhere, and everything goes on after it.
fn told(function: &str, work: impl Fn(&Arena) -> racl::Result<()>) {
    let arena = Arena::new();
    work(&arena).unwrap();
    for nth in 1..=3 {
        mock::fail_task(function, nth, FAULT).unwrap();
        let ended = work(&arena);
        let waited = arena.context.synchronize();
        let dropped = arena.context.take_drop_errors();
        mock::clear_failures();
        if nth == 1 {
            let kinds: Vec<_> =
                ended.err().into_iter().chain(waited.err()).chain(dropped).map(|error| error.kind()).collect();
            assert!(kinds.contains(&ErrorKind::DeviceFault), "{function} {nth}: {kinds:?}");
        }
        arena.still_works();
        work(&arena).unwrap();
    }
    drop(arena.context.take_drop_errors());
    arena.end();
}

#[test]
fn a_fill() {
    told("aclrtMemsetAsync", |arena| {
        let stream = arena.stream();
        let mut buffer = arena.context.alloc::<u8>(8)?;
        stream.fill_bytes(&mut buffer, 1)?;
        assert_eq!(buffer.to_vec()?, [1; 8]);
        Ok(())
    });
}

#[test]
fn an_operator_whose_result_is_read() {
    told("aclnnAdds", |arena| {
        let stream = arena.stream();
        let (a, mut out) = (arena.tensor(1.0), arena.tensor(0.0));
        op::adds(&stream, &a, 1.0, &mut out)?;
        assert_eq!(out.to_vec()?, [2.0; 4]);
        Ok(())
    });
}

#[test]
fn an_operator_whose_stream_is_dropped() {
    told("aclnnAdds", |arena| {
        let stream = arena.stream();
        let (a, mut out) = (arena.tensor(1.0), arena.tensor(0.0));
        op::adds(&stream, &a, 1.0, &mut out)?;
        drop(stream);
        Ok(())
    });
}

#[test]
fn an_upload_that_is_waited_for_and_one_that_is_not() {
    for waits in [true, false] {
        told("aclrtMemcpyAsync", |arena| {
            let stream = arena.stream();
            let mut buffer = arena.context.alloc::<u32>(4)?;
            let lent = stream.upload(arena.context.pinned_from(&[1_u32; 4])?, &mut buffer)?;
            if waits {
                lent.wait()?;
            } else {
                drop(lent);
            }
            stream.synchronize()
        });
    }
}

#[test]
fn an_operator_of_a_graph_at_each_replay() {
    let arena = Arena::new();
    let stream = arena.stream();
    let (one, mut sum) = (arena.tensor(1.0), arena.tensor(0.0));
    mock::fail_task("aclnnInplaceAdd", 1, FAULT).unwrap();
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut sum, &one)).unwrap();
    for _ in 0..3 {
        graph.launch(&stream).unwrap();
        assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::DeviceFault);
        let _ = graph.wait();
    }
    assert_eq!(sum.to_vec().unwrap(), [0.0; 4]);
    drop((graph, stream, one, sum));
    arena.end();
}

#[test]
fn a_run_of_a_plan() {
    let arena = Arena::new();
    for mode in [Mode::Captured, Mode::Eager] {
        let stream = arena.stream();
        let x = arena.tensor(1.0);
        mock::fail_task("aclnnMuls", 1, FAULT).unwrap();
        let mut exe = arena.executable(mode, formula);
        let mut bind = exe.bindings();
        let ran = exe.run(&stream, bind.set(exe.input("x").unwrap(), &x));
        let waited = stream.synchronize();
        assert!(ran.is_err() || waited.is_err(), "{mode:?}: nobody was told");
        mock::clear_failures();
        drop((exe, bind));
        let mut exe = arena.executable(mode, formula);
        assert_eq!(run(&mut exe, &stream, &x), [3.0; 4]);
        assert_eq!(result(&exe), [3.0; 4]);
    }
    drop(arena.context.take_drop_errors());
    arena.end();
}

#[test]
fn many_at_once_on_many_streams() {
    let arena = Arena::new();
    let streams: Vec<_> = (0..6).map(|_| arena.stream()).collect();
    let mut tensors: Vec<_> = (0..6).map(|_| arena.tensor(0.0)).collect();
    for nth in [1, 3, 5] {
        mock::fail_task("aclnnInplaceFillScalar", nth, FAULT).unwrap();
    }
    let mut failed = 0;
    for (at, (stream, tensor)) in streams.iter().zip(&mut tensors).enumerate() {
        op::fill(stream, tensor, at as f32 + 1.0).unwrap();
    }
    for (at, (stream, tensor)) in streams.iter().zip(&tensors).enumerate() {
        match stream.synchronize() {
            Ok(()) => assert_eq!(tensor.to_vec().unwrap(), [at as f32 + 1.0; 4]),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::DeviceFault);
                failed += 1;
                assert_eq!(tensor.to_vec().unwrap(), [0.0; 4]);
            }
        }
    }
    assert_eq!(failed, 3);
    drop((streams, tensors));
    arena.end();
}
