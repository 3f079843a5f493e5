//! Objects of one device used on another. One test, because it sets the number of devices for its process.

mod common;

use common::{assert_says, mock};
use racl::op::DataType::F32;
use racl::op::ReduceKind;
use racl::plan::{Frozen, Input, Mode, Plan, Pool, RunOptions};
use racl::{
    CaptureMode, Comparison, CountUpdate, CountWait, Device, DeviceLink, ErrorKind, MemoryAccess, Prefetch, Rows,
    ValueWait, op,
};

#[test]
fn memory_and_graphs_of_another_device_are_refused() {
    // SAFETY: the only test of this binary, and nothing else reads the environment while it is set.
    unsafe { std::env::set_var("MOCK_ACL_DEVICES", "2") };
    let acl = common::acl();
    assert!(acl.device_count().unwrap() == 2 || !common::is_mock());
    let (zero, one) = (common::device_at(0), common::device_at(1));
    let (here, there) = (zero.stream().unwrap(), one.stream().unwrap());

    let mut buffer = one.alloc::<u8>(64).unwrap();
    let parts = ["memory of device 1", "used on device 0"];
    assert_says(&here.fill_bytes(&mut buffer, 1).unwrap_err(), ErrorKind::InvalidArgument, &parts);
    assert_says(&here.prefetch(&buffer, Prefetch::all()).unwrap_err(), ErrorKind::InvalidArgument, &parts);
    let pinned = zero.pinned::<u8>(64).unwrap();
    assert_says(&here.upload(pinned, &mut buffer).unwrap_err().into_error(), ErrorKind::InvalidArgument, &parts);
    let pinned = one.pinned::<u8>(64).unwrap();
    let refused = here.upload_batch(pinned, &mut [(buffer.slice_mut(..).unwrap(), 0..64)]).unwrap_err();
    assert_says(refused.error(), ErrorKind::InvalidArgument, &parts);
    let refused = here.upload_rows(refused.into_value(), &mut buffer, Rows::new(8, 8)).unwrap_err();
    assert_says(refused.error(), ErrorKind::InvalidArgument, &parts);
    let mut own = zero.alloc::<u8>(64).unwrap();
    let error = here.copy_rows(&buffer, &mut own, Rows::new(8, 8)).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &parts);
    let (a, b) = (zero.zeros::<f32>([2]).unwrap(), one.zeros::<f32>([2]).unwrap());
    let mut out = zero.zeros::<f32>([2]).unwrap();
    assert_says(&op::add(&here, &a, &b, &mut out).unwrap_err(), ErrorKind::InvalidArgument, &parts);

    assert_says(&op::aclnn::neg(&here, &a, &mut b.clone()).unwrap_err(), ErrorKind::InvalidArgument, &parts);
    let list = op::aclnn::cat(&here, &[&a, &b], 0, &mut out).unwrap_err();
    assert_says(&list, ErrorKind::InvalidArgument, &parts);

    there.fill_bytes(&mut buffer, 7).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [7; 64]);

    let mut graph = there.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 8)).unwrap();
    assert_eq!(graph.launch(&here).unwrap_err().kind(), ErrorKind::WrongContext);
    graph.launch(&there).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [8; 64]);

    // A stream may wait for an event of another device.
    let event = one.event().unwrap();
    event.record(&there).unwrap();
    here.wait(&event).unwrap();
    here.synchronize().unwrap();

    let latch = one.context().external_event().unwrap();
    for refused in [latch.record(&here), latch.reset(&here), here.wait_external(&latch, None)] {
        assert_says(&refused.unwrap_err(), ErrorKind::InvalidArgument, &["an external event of device 1"]);
    }

    kernels(&zero, &one);
    gates(&zero, &one);
    built(&zero, &one);
    plans(&zero, &one);
    out_of_reach(&zero, &one);
    peers(&zero, &one);
    mapped(&zero, &one);
    smaller_ways(&zero, &one);
}

/// The ways in which little memory, or memory beside others, enters a call; both ways round.
fn smaller_ways(zero: &Device, one: &Device) {
    for (own, other) in [(zero, one), (one, zero)] {
        let stream = own.stream().unwrap();
        let texts = [format!("device {}", other.id()), format!("device {}", own.id())];
        #[track_caller]
        fn refused(done: racl::Result<()>, texts: &[String]) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            assert_says(&done.unwrap_err(), ErrorKind::InvalidArgument, &texts);
        }
        let refused = |done: racl::Result<()>| refused(done, &texts);
        let (mut near, mut far) = (own.upload(&[1_i32; 64]).unwrap(), other.upload(&[2_i32; 64]).unwrap());
        refused(stream.fill_words(&mut far, 3));
        refused(op::reduce_into(&stream, &far, &mut near, ReduceKind::Sum));
        refused(op::reduce_into(&stream, &near, &mut far, ReduceKind::Sum));
        let (data, mut into) = ([5_i32; 64], [6_i32; 64]);
        refused(own.context().write_batch(&mut [(far.slice_mut(..).unwrap(), &data[..])]));
        refused(own.context().read_batch(&mut [(far.slice(..).unwrap(), &mut into[..])]));
        let lent = stream.download_batch(&[(far.slice(..).unwrap(), 0..64)], own.pinned::<i32>(64).unwrap());
        refused(lent.map(drop).map_err(racl::Refused::into_error));
        let (flag, notify) = (other.context().flag(0).unwrap(), other.context().notify().unwrap());
        refused(stream.write_value(&flag, 1));
        refused(stream.wait_value(&flag, ValueWait::Equal(0)));
        let counting = other.context().counting_notify().unwrap();
        for done in [counting.record(&stream, CountUpdate::Set(1)), counting.reset(&stream)] {
            refused(done);
        }
        refused(stream.wait_count(&counting, CountWait::equal(0)));
        refused(notify.record(&stream));
        refused(stream.wait_notify(&notify, None));
        let [near_shared, far_shared] = [near, far].map(racl::DeviceBuffer::into_shared);
        refused(own.context().copy_descriptor(&near_shared, &far_shared, 16).map(drop));
        refused(own.context().device_pointer(&far_shared).map(drop));
        let [near, far] = [own, other].map(|device| {
            let shared = device.upload(&[0_i32; 64]).unwrap().into_shared();
            device.context().device_pointer(&shared).unwrap()
        });
        refused(stream.copy_pointed((&near, 0), (&far, 0), 16));
        refused(stream.copy_pointed((&far, 0), (&near, 0), 16));
        assert_eq!((near_shared.to_vec().unwrap(), far_shared.to_vec().unwrap()), (vec![1; 64], vec![2; 64]));
        assert_eq!(into, [6; 64]);
    }
}

/// Labels, streams, numbers and kernels of another device, for graphs that are built and changed.
fn built(zero: &racl::Device, one: &racl::Device) {
    let invalid = ErrorKind::InvalidArgument;
    let (label, builder) = (one.context().label().unwrap(), zero.context().build_graph().unwrap());
    let error = builder.first().set_label(&label).unwrap_err();
    assert_says(&error, invalid, &["a label of device 1 used on device 0"]);
    let builder = zero.context().build_graph().unwrap();
    let number = one.upload(&[0_i64]).unwrap();
    let error = builder.first().switch_if(&number, Comparison::Less, &number, builder.first()).unwrap_err();
    assert_says(&error, invalid, &["memory of device 1 used on device 0"]);
    let other = one.context().build_graph().unwrap();
    let builder = zero.context().build_graph().unwrap();
    assert_says(&builder.first().start(other.first()).unwrap_err(), invalid, &["not one of this graph"]);
    let mut graph = other.finish().unwrap();
    assert_eq!(graph.launch(&zero.stream().unwrap()).unwrap_err().kind(), ErrorKind::WrongContext);

    let (here, flag) = (zero.stream().unwrap(), zero.context().flag(0).unwrap());
    let file = common::compiled_kernels("sample");
    let [poke, foreign] =
        // SAFETY: kernels of this repository, or no kernels at all.
        [zero, one].map(|device| unsafe { device.context().load_kernels(&file) }.unwrap().kernel("poke").unwrap());
    let mut byte = zero.upload(&[1_u8]).unwrap();
    let captured = here.capture(CaptureMode::ThreadLocal, |s| {
        s.write_value(&flag, 1)?;
        // SAFETY: the one parameter of the kernel, which writes one byte.
        unsafe { poke.launch(s).arg(&mut byte).submit() }
    });
    let mut graph = captured.unwrap();
    let tasks = graph.tasks().unwrap();
    let elsewhere = one.context().flag(0).unwrap();
    let error = graph.change(|change| change.write_value(&tasks[0], &elsewhere, 2)).unwrap_err();
    assert_says(&error, invalid, &["a flag of device 1 used on device 0"]);
    let (there, mut remote) = (one.stream().unwrap(), one.upload(&[1_u8]).unwrap());
    // SAFETY: as above, and it is refused.
    let replaced =
        graph.change(|change| unsafe { foreign.launch(&there).arg(&mut remote).replace(change, &tasks[1]) });
    assert_says(&replaced.unwrap_err(), invalid, &["kernel \"poke\" of device 1 used on device 0"]);
    // SAFETY: as above.
    let replaced = graph.change(|change| unsafe { poke.launch(&there).arg(&mut remote).replace(change, &tasks[1]) });
    assert_says(&replaced.unwrap_err(), invalid, &["memory of device 1 used on device 0"]);
    graph.launch(&here).unwrap();
    graph.wait().unwrap();
    assert_eq!((flag.value().unwrap(), byte.to_vec().unwrap()), (1, vec![7]));
}

/// A binary is loaded on one device, and its kernels run there.
fn kernels(zero: &racl::Device, one: &racl::Device) {
    let file = common::compiled_kernels("sample");
    // SAFETY: kernels of this repository, or no kernels at all.
    let [poke, own] =
        [zero, one].map(|device| unsafe { device.context().load_kernels(&file) }.unwrap().kernel("poke").unwrap());
    let there = one.stream().unwrap();
    let (mut here, mut byte) = (zero.upload(&[1_u8]).unwrap(), one.upload(&[1_u8]).unwrap());
    // SAFETY: the one parameter of the kernel, which writes one byte; so are those below.
    let error = unsafe { poke.launch(&there).arg(&mut byte).submit() }.unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["a kernel binary of device 0 used on device 1"]);
    // SAFETY: as above.
    let error = unsafe { own.launch(&there).arg(&mut here).submit() }.unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["memory of device 0 used on device 1"]);
    // SAFETY: as above.
    unsafe { own.launch(&there).arg(&mut byte).submit() }.unwrap();
    assert_eq!((byte.to_vec().unwrap(), here.to_vec().unwrap()), (vec![7], vec![1]));
    // Contexts of one device share it.
    let second = one.context().create_context().unwrap();
    let stream = second.stream().unwrap();
    // SAFETY: as above.
    unsafe { own.launch(&stream).arg(&mut byte).submit() }.unwrap();
    stream.synchronize().unwrap();
}

/// Each direction on its own, any number of times; every call that fails is told.
fn peers(zero: &racl::Device, one: &racl::Device) {
    assert!(zero.can_access_peer(one).unwrap() && one.can_access_peer(zero).unwrap());
    assert_eq!(zero.link_to(one).unwrap(), DeviceLink::Hccs);
    for on in [true, true, false, false, true] {
        if on {
            zero.enable_peer_access(one).unwrap();
        } else {
            zero.disable_peer_access(one).unwrap();
        }
        assert_eq!(zero.has_peer_access(one).unwrap(), on);
        assert!(!one.has_peer_access(zero).unwrap());
    }
    type Call = fn(&racl::Device, &racl::Device) -> racl::Result<()>;
    let calls: [(&str, Call); 4] = [
        ("aclrtDeviceCanAccessPeer", |a, b| a.can_access_peer(b).map(drop)),
        ("aclrtDevicePeerAccessStatus", |a, b| a.has_peer_access(b).map(drop)),
        ("aclrtDeviceEnablePeerAccess", |a, b| a.enable_peer_access(b)),
        ("aclrtDeviceDisablePeerAccess", |a, b| a.disable_peer_access(b)),
    ];
    for (name, call) in calls {
        mock::fail(name, 1, 507_899).unwrap();
        assert_says(&call(zero, one).unwrap_err(), ErrorKind::Driver, &[name, "507899"]);
    }
    assert!(zero.has_peer_access(one).unwrap(), "as it was");
    assert_eq!((one.logical_id().unwrap(), one.pci_bus_id().unwrap().as_str()), (1, "0000:c1:00.0"));
    assert_eq!(one.acl().device_at("0000:c1:00.0").unwrap().id(), 1);
}

/// A plan on one device with memory, streams and pools of another.
/// The gates of a plan are memory of its device.
fn gates(zero: &racl::Device, one: &racl::Device) {
    let mut gate = None;
    let plan = Plan::build(|g| {
        let it = *gate.insert(g.external("gate")?);
        g.wait_external(it)
    });
    let (gate, plan) = (gate.unwrap(), plan.unwrap());
    for mode in [Mode::Captured, Mode::Eager] {
        let options = RunOptions::new().mode(mode);
        let exe = plan.executable(zero, &options, Frozen::new()).unwrap();
        let there = one.stream().unwrap();
        for refused in [exe.signal(gate, &there), exe.wait_signal(gate, &there)] {
            let parts = ["an executable of device 0", "used on device 1"];
            assert_says(&refused.unwrap_err(), ErrorKind::InvalidArgument, &parts);
        }
        there.synchronize().unwrap();
    }
}

fn plans(zero: &racl::Device, one: &racl::Device) {
    let plan = Plan::build(|g| {
        let w = g.input("w", [2], F32, Input::Frozen)?;
        let x = g.input("x", [2], F32, Input::Copied)?;
        let y = g.add(x, w)?;
        g.output("y", y)
    })
    .unwrap();
    let (here, there) = (zero.upload_tensor(&[1.0_f32; 2], [2]).unwrap(), one.zeros::<f32>([2]).unwrap());
    let refused = |error: &racl::Error, part: &str| assert_says(error, ErrorKind::InvalidArgument, &[part]);
    let frozen = plan.capture(zero, Frozen::new().with("w", &there)).unwrap_err();
    refused(&frozen, "input \"w\": memory of device 1 used on device 0");
    for mode in [Mode::Captured, Mode::Eager] {
        let options = RunOptions::new().mode(mode);
        let pooled = options.clone().pool(&Pool::new(one));
        let error = plan.executable(zero, &pooled, Frozen::new().with("w", &here)).unwrap_err();
        refused(&error, "a pool of another device");
        let mut exe = plan.executable(zero, &options, Frozen::new().with("w", &here)).unwrap();
        let (x, mut bind) = (exe.input("x").unwrap(), exe.bindings());
        bind.set(x, &there);
        refused(
            &exe.run(&zero.stream().unwrap(), &mut bind).unwrap_err(),
            "input \"x\": memory of device 1 used on device 0",
        );
        bind.set(x, &here);
        refused(
            &exe.run(&one.stream().unwrap(), &mut bind).unwrap_err(),
            "an executable of device 0 used on device 1",
        );
        exe.run(&zero.stream().unwrap(), &mut bind).unwrap();
        let y = exe.output::<f32>(exe.output_id("y").unwrap()).unwrap();
        assert_eq!(y.to_vec().unwrap(), [2.0; 2]);
        let mut other = one.zeros::<f32>([2]).unwrap();
        refused(&y.copy_to(&zero.stream().unwrap(), &mut other).unwrap_err(), "memory of device 1");
    }
}

/// Memory of another device that is mapped, which a device has no access to before it is given.
fn out_of_reach(zero: &Device, one: &Device) {
    let stream = zero.stream().unwrap();
    let mut buffer = zero.context().reserve::<f32>(8 << 20).unwrap();
    (0..2).for_each(|_| buffer.map(&one.context().physical_memory(2 << 20).unwrap()).unwrap());
    let access = [zero, one].map(|device| buffer.access(device).unwrap());
    assert_eq!(access, [MemoryAccess::None, MemoryAccess::ReadWrite]);
    stream.fill_words(&mut buffer, 2.0).unwrap();
    assert_says(&stream.synchronize().unwrap_err(), ErrorKind::DeviceLost, &["507053"]);
    let mut out = racl::Tensor::over(buffer.shared().slice(..4).unwrap(), [4]).unwrap();
    let x = zero.zeros::<f32>([4]).unwrap();
    op::adds(&stream, &x, 3.0, &mut out).unwrap();
    assert_says(&stream.synchronize().unwrap_err(), ErrorKind::DeviceFault, &["507015"]);
    buffer.set_access(zero, MemoryAccess::ReadWrite).unwrap();
    assert_eq!(buffer.access(zero).unwrap(), MemoryAccess::ReadWrite);
    op::adds(&stream, &x, 3.0, &mut out).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(buffer.slice(..4).unwrap().to_vec().unwrap(), [3.0; 4]);
}

/// Each of two contexts has memory of the other mapped, and streams of further contexts use it when it is dropped.
fn mapped(zero: &Device, one: &Device) {
    let before = mock::live_handles();
    let [a, b, c, d] = [zero, one, zero, one].map(|device| device.context().create_context().unwrap());
    let streams = [c.stream().unwrap(), d.stream().unwrap()];
    for (own, other, stream) in [(&a, &b, &streams[0]), (&b, &a, &streams[1])] {
        let mut buffer = own.reserve::<u8>(2 << 20).unwrap();
        buffer.map(&other.physical_memory(2 << 20).unwrap()).unwrap();
        buffer.set_access(own, MemoryAccess::ReadWrite).unwrap();
        mock::hold(stream).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        drop(buffer);
    }
    drop((a, b));
    for stream in streams {
        mock::release(&stream).unwrap();
        stream.close().unwrap();
    }
    // Waits for the threads that free it.
    assert!(c.take_drop_errors().is_empty() && d.take_drop_errors().is_empty());
    c.close().unwrap();
    d.close().unwrap();
    assert_eq!(mock::live_handles(), before, "the two contexts keep each other");
}
