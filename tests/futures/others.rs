//! Futures of launches, of runs of models, and of events that several processes have.

use std::sync::Arc;
use std::task::Poll;

use racl::{CaptureMode, ErrorKind, Graph, IpcEvent, Stream};

use crate::alone;
use crate::common::{assert_says, device, mock};
use crate::executor::{Woken, assert_waits, block_on, poll};

fn filling(stream: &Stream, buffer: &mut racl::DeviceBuffer<u8>) -> Graph {
    stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(buffer, 7)).unwrap()
}

#[test]
fn a_launch_is_awaited_on_whichever_stream_it_went_to() {
    let _alone = alone();
    let device = device();
    let streams = [device.stream().unwrap(), device.stream().unwrap()];
    let mut buffer = device.upload(&[0_u8; 8]).unwrap();
    let mut graph = filling(&streams[0], &mut buffer);
    block_on(graph.finished()).unwrap();
    for stream in &streams {
        mock::hold(stream).unwrap();
        graph.launch(stream).unwrap();
        let (woken, waker) = Woken::new();
        let mut finished = graph.finished();
        assert_waits(&mut finished, &waker);
        mock::release(stream).unwrap();
        woken.wait();
        assert!(matches!(poll(&mut finished, &waker), Poll::Ready(Ok(()))));
        assert_eq!(buffer.to_vec().unwrap(), [7; 8]);
        buffer.write(&[0; 8]).unwrap();
    }
    drop(streams);
    block_on(graph.finished()).unwrap();
}

#[test]
fn a_launch_that_failed_is_told_and_the_graph_may_be_gone() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.upload(&[0_u8; 8]).unwrap();
    mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
    let mut fails = filling(&stream, &mut buffer);
    fails.launch(&stream).unwrap();
    assert_eq!(block_on(fails.finished()).unwrap_err().kind(), ErrorKind::DeviceFault);
    let mut graph = filling(&stream, &mut buffer);
    mock::hold(&stream).unwrap();
    graph.launch(&stream).unwrap();
    let finished = graph.finished();
    mock::release(&stream).unwrap();
    drop((graph, fails, buffer));
    block_on(finished).unwrap();
}

#[test]
fn a_launch_is_not_awaited_while_its_stream_records() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.upload(&[0_u8; 8]).unwrap();
    let mut graph = filling(&stream, &mut buffer);
    graph.launch(&stream).unwrap();
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    let told = block_on(graph.finished()).unwrap_err();
    assert_says(&told, ErrorKind::CaptureForbidden, &["records a graph"]);
    capture.finish().unwrap();
    block_on(graph.finished()).unwrap();
}

#[test]
fn a_run_of_a_model_gives_its_shapes_when_it_is_done() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let model = device.context().load_model_bytes(mock::ModelFile::example()).unwrap();
    let x = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]).unwrap();
    let mut y = device.zeros::<f32>([2, 3]).unwrap();
    mock::hold(&stream).unwrap();
    let run = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap();
    let mut finished = run.submit_async(&stream).unwrap();
    let (woken, waker) = Woken::new();
    assert_waits(&mut finished, &waker);
    mock::release(&stream).unwrap();
    woken.wait();
    let Poll::Ready(shapes) = poll(&mut finished, &waker) else { panic!("it was woken") };
    assert_eq!(shapes.unwrap().of("y"), Some(&[2, 3][..]));
    assert_eq!(y.to_vec().unwrap(), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    let Poll::Ready(Err(again)) = poll(&mut finished, &waker) else { panic!("it was ready") };
    assert_says(&again, ErrorKind::InvalidArgument, &["polled again"]);
}

#[test]
fn a_run_of_a_model_whose_future_goes_runs_and_one_that_is_refused_has_none() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let model = device.context().load_model_bytes(mock::ModelFile::example()).unwrap();
    let mut y = device.zeros::<f32>([1, 3]).unwrap();
    mock::hold(&stream).unwrap();
    {
        let x = device.upload_tensor(&[1.0_f32, 2.0, 3.0], [1, 3]).unwrap();
        let run = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap();
        let mut finished = run.submit_async(&stream).unwrap();
        assert_waits(&mut finished, &Woken::new().1);
    }
    let refused = model.run().output("y", &mut y).unwrap().submit_async(&stream).unwrap_err();
    assert_says(&refused, ErrorKind::InvalidArgument, &["x"]);
    mock::release(&stream).unwrap();
    assert_eq!(y.to_vec().unwrap(), [2.0, 4.0, 6.0]);
}

fn ipc_event() -> Arc<IpcEvent> {
    Arc::new(device().context().ipc_event().unwrap())
}

#[test]
fn an_event_between_processes_is_awaited() {
    let _alone = alone();
    let stream = device().stream().unwrap();
    let event = ipc_event();
    block_on(event.reached()).unwrap();
    for _ in 0..3 {
        mock::hold(&stream).unwrap();
        event.record(&stream).unwrap();
        let (woken, waker) = Woken::new();
        let mut reached = event.reached();
        assert_waits(&mut reached, &waker);
        mock::release(&stream).unwrap();
        woken.wait();
        assert!(matches!(poll(&mut reached, &waker), Poll::Ready(Ok(()))));
    }
    let Ok(event) = Arc::try_unwrap(event) else { panic!("a future that was ready keeps it") };
    event.close().unwrap();
}

/// As the thread of each stream does.
#[test]
fn one_thread_asks_for_all_events_between_processes() {
    let _alone = alone();
    let stream = device().stream().unwrap();
    mock::hold(&stream).unwrap();
    let events: Vec<_> = (0..64).map(|_| ipc_event()).collect();
    let (_, waker) = Woken::new();
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let before = threads();
    let mut futures: Vec<_> = events.iter().map(|event| event.reached()).collect();
    for (event, future) in events.iter().zip(&mut futures) {
        event.record(&stream).unwrap();
        assert_waits(future, &waker);
    }
    assert!(threads() <= before + 1);
    futures.truncate(32);
    mock::release(&stream).unwrap();
    futures.into_iter().for_each(|future| block_on(future).unwrap());
}

#[test]
fn what_the_future_of_an_event_between_processes_was_told_is_not_lost_with_it() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let event = ipc_event();
    mock::hold(&stream).unwrap();
    event.record(&stream).unwrap();
    for heard in [true, false] {
        let (woken, waker) = Woken::new();
        let mut reached = event.reached();
        assert_waits(&mut reached, &waker);
        mock::fail("aclrtQueryEventStatus", 1, 507_000).unwrap();
        woken.wait();
        if heard {
            let Poll::Ready(Err(told)) = poll(&mut reached, &waker) else { panic!("it was woken") };
            assert_says(&told, ErrorKind::Internal, &["507000"]);
        }
        drop(reached);
        let told = device.context().take_drop_errors();
        assert_eq!(told.len(), usize::from(!heard), "{told:?}");
    }
    mock::release(&stream).unwrap();
    block_on(event.reached()).unwrap();
}
