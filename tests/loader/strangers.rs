//! What one library has is refused by each kind of work of another, before that one is asked; and nothing is lost.

use std::fmt::Debug;

use racl::op::{self, Argument, ReduceKind};
use racl::plan::{Frozen, Input, Plan};
use racl::{
    CaptureMode, CountUpdate, CountWait, Device, Error, ManagedPlace, MemoryAccess, Refused, Rows, Stream, ValueWait,
    mock,
};

use crate::foreign_memory::{Two, two};

mod collectives;
mod dlpack;
mod kernels;
mod models;

/// Runs `test` with the device that works and the one whose things are foreign to it, both ways round; nothing may be
/// left of it that failed.
fn both_ways(test: impl Fn(&Two, &Device, &Device)) {
    let _alone = mock::exclusive();
    let two = two();
    for (own, other) in two.both_ways() {
        test(&two, own, other);
        for device in [own, other] {
            device.context().synchronize().unwrap();
            let told = device.context().take_drop_errors();
            assert!(told.is_empty(), "{told:?}");
        }
    }
}

impl Two {
    /// That foreign memory was refused, and what goes with the error is given back as it was.
    #[track_caller]
    fn gives_back<T>(&self, done: Result<impl Debug, Refused<T>>) -> T {
        let (value, error) = done.expect_err("what is of another library was taken").into_parts();
        self.refuses_some("memory", Err::<(), Error>(error));
        value
    }
}

#[test]
fn copies_of_rows_and_parts() {
    both_ways(|two, own, other| {
        let stream = own.stream().unwrap();
        let (mut near, mut far) = (own.upload(&[1_u8; 64]).unwrap(), other.upload(&[2_u8; 64]).unwrap());
        let rows = || Rows::new(2, 8);
        let pinned = || own.pinned_from(&[3_u8; 64]).unwrap();
        assert_eq!(*two.gives_back(stream.upload_rows(pinned(), &mut far, rows())), [3; 64]);
        assert_eq!(*two.gives_back(stream.download_rows(&far, pinned(), rows())), [3; 64]);
        let foreign = other.pinned_from(&[4_u8; 64]).unwrap();
        let foreign = two.gives_back(stream.upload_rows(foreign, &mut near, rows()));
        let foreign = two.gives_back(stream.download_rows(&near, foreign, rows()));
        two.refuses_some("memory", stream.copy_rows(&far, &mut near, rows()));
        two.refuses_some("memory", stream.copy_rows(&near, &mut far, rows()));
        two.refuses_some("memory", stream.copy_peer(&far, &mut near));
        two.refuses_some("memory", stream.copy_peer(&near, &mut far));

        let mut parts = [(near.slice_mut(..8).unwrap(), 0..8), (far.slice_mut(..8).unwrap(), 8..16)];
        assert_eq!(*two.gives_back(stream.upload_batch(pinned(), &mut parts)), [3; 64]);
        let parts = [(near.slice(..8).unwrap(), 0..8), (far.slice(..8).unwrap(), 8..16)];
        assert_eq!(*two.gives_back(stream.download_batch(&parts, pinned())), [3; 64]);
        let mut parts = [(near.slice_mut(..).unwrap(), 0..64)];
        let foreign = two.gives_back(stream.upload_batch(foreign, &mut parts));
        let foreign = two.gives_back(stream.download_batch(&[(near.slice(..).unwrap(), 0..64)], foreign));
        assert_eq!(*foreign, [4; 64]);
        let (data, mut into) = ([5_u8; 64], [6_u8; 64]);
        let mut parts = [(near.slice_mut(..).unwrap(), &data[..]), (far.slice_mut(..).unwrap(), &data[..])];
        two.refuses_some("memory", own.context().write_batch(&mut parts));
        two.refuses_some("memory", own.context().read_batch(&mut [(far.slice(..).unwrap(), &mut into[..])]));
        assert_eq!((near.to_vec().unwrap(), far.to_vec().unwrap(), into), (vec![1; 64], vec![2; 64], [6; 64]));
    });
}

#[test]
fn copies_whose_places_stand_in_device_memory() {
    both_ways(|two, own, other| {
        let stream = own.stream().unwrap();
        let near = own.upload(&[1_u8; 64]).unwrap().into_shared();
        let far = other.upload(&[2_u8; 64]).unwrap().into_shared();
        let context = own.context();
        two.refuses_some("memory", context.copy_descriptor(&far, &near, 64));
        two.refuses_some("memory", context.copy_descriptor(&near, &far, 64));
        two.refuses_some("memory", context.device_pointer(&far));
        let described = other.context().copy_descriptor(&far, &far, 32).unwrap();
        two.refuses_some("memory", stream.copy_described(&described));
        let (here, there) = (context.device_pointer(&near).unwrap(), other.context().device_pointer(&far).unwrap());
        two.refuses_some("memory", stream.copy_pointed((&there, 0), (&here, 0), 64));
        two.refuses_some("memory", stream.copy_pointed((&here, 0), (&there, 0), 64));
        assert_eq!((near.to_vec().unwrap(), far.to_vec().unwrap()), (vec![1; 64], vec![2; 64]));
    });
}

#[test]
fn fills_sums_and_answers_into_memory() {
    both_ways(|two, own, other| {
        let stream = own.stream().unwrap();
        let (mut near, mut far) = (own.upload(&[1.0_f32; 16]).unwrap(), other.upload(&[2.0_f32; 16]).unwrap());
        two.refuses_some("memory", stream.fill_words(&mut far, 3.0));
        two.refuses_some("memory", stream.overflow_status(&mut far));
        two.refuses_some("memory", op::reduce_into(&stream, &far, &mut near, ReduceKind::Sum));
        two.refuses_some("memory", op::reduce_into(&stream, &near, &mut far, ReduceKind::Sum));
        let (here, there) = (own.zeros::<f32>([2]).unwrap(), other.zeros::<f32>([2]).unwrap());
        let arguments = [Argument::Tensor(&there), Argument::Tensor(&here)];
        two.refuses_some("memory", op::call(&stream, "aclnnNeg", &arguments));
        let arguments = [Argument::Tensor(&here), Argument::Tensor(&there)];
        two.refuses_some("memory", op::call(&stream, "aclnnNeg", &arguments));
        assert_eq!((near.to_vec().unwrap(), far.to_vec().unwrap()), (vec![1.0; 16], vec![2.0; 16]));
    });
}

#[test]
fn flags_and_notifies() {
    both_ways(|two, own, other| {
        let stream = own.stream().unwrap();
        let flag = other.context().flag(7).unwrap();
        two.refuses_some("memory", stream.write_value(&flag, 1));
        two.refuses_some("memory", stream.wait_value(&flag, ValueWait::Equal(1)));
        let notify = other.context().notify().unwrap();
        two.refuses_some("notify", notify.record(&stream));
        two.refuses_some("notify", stream.wait_notify(&notify, None));
        let latch = other.context().external_event().unwrap();
        two.refuses_some("external event", latch.record(&stream));
        two.refuses_some("external event", latch.reset(&stream));
        two.refuses_some("external event", stream.wait_external(&latch, None));
        let counting = other.context().counting_notify().unwrap();
        two.refuses_some("notify", counting.record(&stream, CountUpdate::Add(1)));
        two.refuses_some("notify", counting.reset(&stream));
        two.refuses_some("notify", stream.wait_count(&counting, CountWait::equal(1)));
        let event = other.context().ipc_event().unwrap();
        two.refuses_some("event", event.record(&stream));
        two.refuses_some("event", stream.wait_ipc(&event));
        assert_eq!(flag.value().unwrap(), 7);
    });
}

#[test]
fn memory_that_moves_is_mapped_or_grows() {
    both_ways(|two, own, other| {
        let stream = own.stream().unwrap();
        let (near, far) = (own.context().managed::<u8>(16).unwrap(), other.context().managed::<u8>(16).unwrap());
        two.refuses_some("memory", stream.prefetch_managed(&far, .., ManagedPlace::Device(0)));
        let parts = [(&near, 0..16, ManagedPlace::Host), (&far, 0..16, ManagedPlace::Host)];
        two.refuses_some("memory", stream.prefetch_managed_batch(&parts));
        assert_eq!((near.last_prefetch(..).unwrap(), far.last_prefetch(..).unwrap()), (None, None));
        let bytes = other.context().memory_granularity().unwrap();
        let physical = other.context().physical_memory(bytes).unwrap();
        let mut growable = own.context().reserve::<u8>(bytes).unwrap();
        two.refuses_some("physical memory", growable.map(&physical));
        growable.grow(1).unwrap();
        two.refuses_some("a device", growable.set_access(other, MemoryAccess::ReadWrite));
        two.refuses_some("a device", growable.access(other));
        let mut slice = growable.slice_mut(..64).unwrap();
        two.refuses_some("memory", other.stream().unwrap().fill_bytes(&mut slice, 1));
    });
}

/// `x = 3` in a graph, as a group, and its task.
fn filled(stream: &Stream, x: &mut racl::Tensor<f32>) -> (racl::Graph, racl::TaskGroup) {
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    let group = stream.task_group(|s| op::fill(s, x, 3.0)).unwrap();
    (capture.finish().unwrap(), group)
}

#[test]
fn work_that_replaces_that_of_a_graph() {
    both_ways(|two, own, other| {
        let stream = own.stream().unwrap();
        let (mut near, mut far) = (own.zeros::<f32>([4]).unwrap(), other.zeros::<f32>([4]).unwrap());
        let (mut graph, group) = filled(&stream, &mut near);
        two.refuses_some("memory", graph.update(&group, |s| op::fill(s, &mut far, 5.0)));
        // Also of an update that lets the error pass.
        let forgotten = graph.update(&group, |s| {
            let _refused = op::fill(s, &mut far, 5.0);
            Ok(())
        });
        let error = forgotten.unwrap_err().to_string();
        assert!(error.contains("memory of") && error.contains("replaced nothing"), "{error}");
        graph.launch(&stream).unwrap();
        assert_eq!(near.to_vec().unwrap(), [3.0; 4]);
        graph.update(&group, |s| op::fill(s, &mut near, 5.0)).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!((near.to_vec().unwrap(), far.to_vec().unwrap()), (vec![5.0; 4], vec![0.0; 4]));
        // Groups and tasks of the other library's graph are those of another graph.
        let (foreign, elsewhere) = filled(&other.stream().unwrap(), &mut far);
        assert!(graph.update(&elsewhere, |s| op::fill(s, &mut near, 7.0)).is_err());
        let task = foreign.tasks().unwrap().remove(0);
        assert!(graph.change(|change| change.disable(&task)).is_err());
        graph.launch(&stream).unwrap();
        assert_eq!(near.to_vec().unwrap(), [5.0; 4]);
    });
}

#[test]
fn pinned_memory_that_a_graph_of_the_other_library_was_lent() {
    both_ways(|two, own, other| {
        let record = |device: &Device, buffer: &mut racl::DeviceBuffer<u32>| {
            let capture = device.stream().unwrap().begin_capture(CaptureMode::ThreadLocal).unwrap();
            let lent = capture.stream().upload(device.pinned_from(&[4; 2]).unwrap(), buffer).unwrap();
            (capture.finish().unwrap(), lent)
        };
        let (mut near, mut far) = (own.upload(&[1; 2]).unwrap(), other.upload(&[2; 2]).unwrap());
        let (mut here, lent) = record(own, &mut near);
        let (mut there, foreign) = record(other, &mut far);
        let refused = here.host(&foreign).map(drop).unwrap_err();
        assert!(refused.to_string().contains("does not belong to this graph"), "{refused}");
        here.host(&lent).unwrap().copy_from_slice(&[6; 2]);
        here.launch(&own.stream().unwrap()).unwrap();
        there.launch(&other.stream().unwrap()).unwrap();
        assert_eq!((near.to_vec().unwrap(), far.to_vec().unwrap()), (vec![6; 2], vec![4; 2]));
        // A capture refuses it before anything is recorded, and gives no graph.
        let stream = own.stream().unwrap();
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        let foreign = other.pinned_from(&[9; 2]).unwrap();
        assert_eq!(*two.gives_back(capture.stream().upload(foreign, &mut near)), [9; 2]);
        assert!(capture.finish().is_err());
    });
}

#[test]
fn outputs_of_plans_copied_to_memory_of_the_other_library() {
    both_ways(|two, own, other| {
        let stream = own.stream().unwrap();
        let plan = Plan::build(|g| {
            let x = g.input("x", [2], op::DataType::F32, Input::Copied)?;
            let y = g.muls(x, 2.0)?;
            g.output("y", y)
        })
        .unwrap();
        let mut exe = plan.capture(own, Frozen::new()).unwrap();
        let (x, y) = (exe.input("x").unwrap(), exe.output_id("y").unwrap());
        let (near, far) = (own.upload_tensor(&[1.0_f32; 2], [2]).unwrap(), other.zeros::<f32>([2]).unwrap());
        let mut any = op::AnyTensor::from(&far);
        two.refuses_some("memory", exe.run(&stream, exe.bindings().set(x, &any)));
        exe.run(&stream, exe.bindings().set(x, &near)).unwrap();
        let output = exe.output_any(y).unwrap();
        two.refuses_some("memory", output.copy_to(&stream, &mut any));
        let mut into = own.zeros::<f32>([2]).unwrap();
        two.refuses_some("memory", exe.output::<f32>(y).unwrap().copy_to(&other.stream().unwrap(), &mut into));
        assert_eq!(exe.output::<f32>(y).unwrap().to_vec().unwrap(), [2.0; 2]);
        assert_eq!(far.to_vec().unwrap(), [0.0; 2]);
    });
}
