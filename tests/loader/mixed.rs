//! Objects of two libraries in one program: each call refuses those of the other one.

use racl::half::f16;
use racl::{Acl, CaptureMode, Comparison, Device, Error, ErrorKind, GraphPool, LabelList, Prefetch, Tensor, op};

use crate::build::libraries;
use crate::load;

fn devices() -> (Device, Device) {
    let loaded = load(&libraries().full).unwrap();
    (Acl::mock().unwrap().device(0).unwrap(), loaded.device(0).unwrap())
}

#[track_caller]
fn assert_refused<T>(result: Result<T, impl Into<Error>>) {
    let error: Error = result.err().expect("the object of another library was taken").into();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    assert!(error.code().is_none(), "only the library noticed: {error}");
}

#[test]
fn memory_of_one_library_is_refused_by_streams_of_the_other() {
    let (here, there) = devices();
    let stream = there.stream().unwrap();
    let (mut foreign, mut own) = (here.alloc::<u8>(64).unwrap(), there.alloc::<u8>(64).unwrap());
    assert_refused(stream.fill_bytes(&mut foreign, 1));
    assert_refused(stream.copy(&foreign, &mut own));
    assert_refused(stream.copy(&own, &mut foreign));
    assert_refused(stream.prefetch(&foreign, Prefetch::all()));
    assert_refused(stream.upload(there.pinned::<u8>(64).unwrap(), &mut foreign));
    assert_refused(stream.upload(here.pinned::<u8>(64).unwrap(), &mut own));
    assert_refused(stream.download(&foreign, there.pinned::<u8>(64).unwrap()));
    assert_refused(stream.download(&own, here.pinned::<u8>(64).unwrap()));
    stream.synchronize().unwrap();
}

#[test]
fn tensors_of_one_library_are_refused_by_operators_of_the_other() {
    let (here, there) = devices();
    let stream = there.stream().unwrap();
    let (mut foreign, mut own): (Tensor<f32>, Tensor<f32>) = (here.zeros([4]).unwrap(), there.zeros([4]).unwrap());
    assert_refused(op::add(&stream, &own.clone(), &foreign, &mut own));
    assert_refused(op::add(&stream, &foreign, &own.clone(), &mut own));
    assert_refused(op::add(&stream, &own, &own, &mut foreign));
    assert_refused(op::fill(&stream, &mut foreign, 1.0));
    assert_refused(op::cast(&stream, &foreign, &mut there.zeros::<f16>([4]).unwrap()));
    stream.synchronize().unwrap();
    assert_eq!(own.to_vec().unwrap(), [0.0; 4]);
}

#[test]
fn events_and_graphs_of_one_library_are_refused_by_streams_of_the_other() {
    let (here, there) = devices();
    let (stream, other) = (there.stream().unwrap(), here.stream().unwrap());
    let event = here.timing_event().unwrap();
    assert_refused(event.record(&stream));
    assert_refused(stream.wait(event.as_event()));
    assert_refused(stream.fork(&other));
    assert_refused(other.join(&stream));
    event.record(&other).unwrap();
    assert_refused(stream.wait(event.as_event()));
    assert_refused(there.timing_event().unwrap().elapsed_since(&event));
    let mut graph = other.capture(CaptureMode::Relaxed, |_| Ok(())).unwrap();
    assert_refused(graph.launch(&stream));
    graph.launch(&other).unwrap();
    other.synchronize().unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn what_one_library_has_is_refused_by_graphs_that_the_other_builds() {
    let (here, there) = devices();
    let (foreign, own) = (here.context().label().unwrap(), there.context().label().unwrap());
    let (index, number) = (here.upload(&[0_u32]).unwrap(), here.upload(&[0_i32]).unwrap());
    let list = LabelList::new([&own]).unwrap();
    let builder = || there.context().build_graph().unwrap();
    assert_refused(builder().first().set_label(&foreign));
    assert_refused(builder().first().jump(&foreign));
    assert_refused(builder().first().jump_by(&list, &index));
    assert_refused(LabelList::new([&own, &foreign]));
    let other = here.context().build_graph().unwrap();
    assert_refused(builder().first().start(other.first()));
    assert_refused(builder().first().switch_if(&number, Comparison::Equal, &number, other.first()));
    assert_refused(there.context().build_graph_in(&GraphPool::new(&here)));
    let mut graph = other.finish().unwrap();
    assert_refused(graph.launch(&there.stream().unwrap()));
    let stream = there.stream().unwrap();
    let (flag, elsewhere) = (there.context().flag(0).unwrap(), here.context().flag(0).unwrap());
    let mut graph = stream.capture(CaptureMode::Relaxed, |s| s.write_value(&flag, 1)).unwrap();
    let tasks = graph.tasks().unwrap();
    assert_refused(graph.change(|change| change.write_value(&tasks[0], &elsewhere, 1)));
    graph.launch(&stream).unwrap();
    graph.wait().unwrap();
    assert_eq!(flag.value().unwrap(), 1);
}

#[test]
fn a_thread_may_use_both_in_turn() {
    let (here, there) = devices();
    let (one, two) = (here.stream().unwrap(), there.stream().unwrap());
    let (mut a, mut b) = (here.alloc::<u8>(8).unwrap(), there.alloc::<u8>(8).unwrap());
    for byte in 0..4 {
        one.fill_bytes(&mut a, byte).unwrap();
        two.fill_bytes(&mut b, byte + 10).unwrap();
        assert_eq!(a.to_vec().unwrap(), [byte; 8]);
        assert_eq!(b.to_vec().unwrap(), [byte + 10; 8]);
    }
}
