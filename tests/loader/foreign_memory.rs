//! Memory of one library never reaches another: two are loaded, and each way in refuses what the other one gave.

use racl::op::DataType::F32;
use racl::plan::{Foreign, Frozen, Input, Mode, OnMove, Plan, Pool, RunOptions};
use racl::{Acl, CaptureMode, Device, Error, ErrorKind, Prefetch, Result, mock, op};

use crate::build::libraries;
use crate::common::assert_says;

/// A device of each library, of the same number.
pub(crate) struct Two {
    pub(crate) here: Device,
    pub(crate) there: Device,
    /// The file of the second library.
    name: String,
}

pub(crate) fn two() -> Two {
    let name = libraries().full.display().to_string();
    // SAFETY: a library made from the mock.
    let there = unsafe { Acl::init_from(&name) }.unwrap().device(0).unwrap();
    Two { here: Acl::mock().unwrap().device(0).unwrap(), there, name }
}

impl Two {
    #[track_caller]
    fn refuses<T: std::fmt::Debug>(&self, done: Result<T>) {
        self.refuses_some("memory", done);
    }

    /// That `what` is refused as that of another library, before a library was asked.
    #[track_caller]
    pub(crate) fn refuses_some<T, E: Into<Error>>(&self, what: &str, done: std::result::Result<T, E>) {
        let error: Error = done.err().expect("what is of another library was taken").into();
        assert_says(&error, ErrorKind::InvalidArgument, &[what, &self.name, "mock-acl"]);
        assert!(error.code().is_none(), "only the library noticed: {error}");
    }

    /// The devices both ways round: the one that works, and the one whose memory is foreign to it.
    pub(crate) fn both_ways(&self) -> [(&Device, &Device); 2] {
        [(&self.here, &self.there), (&self.there, &self.here)]
    }
}

#[test]
fn the_built_in_mock_is_not_steered_by_streams_of_another_library() {
    let _alone = mock::exclusive();
    let two = two();
    let (here, there) = (two.here.stream().unwrap(), two.there.stream().unwrap());
    for steer in [mock::hold, mock::release] {
        let error = steer(&there).unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &[&there.name(), &two.name, "not of the built-in mock"]);
        steer(&here).unwrap();
    }
}

#[test]
fn streams_and_operators_take_memory_of_their_own_library() {
    let _alone = mock::exclusive();
    let two = two();
    let stream = two.here.stream().unwrap();
    let (mut own, mut other) = (two.here.zeros::<f32>([4]).unwrap(), two.there.zeros::<f32>([4]).unwrap());
    let mut bytes = two.there.alloc::<u8>(64).unwrap();
    two.refuses(stream.fill_bytes(&mut bytes, 1));
    two.refuses(stream.prefetch(&bytes, Prefetch::all()));
    two.refuses(stream.upload(two.here.pinned::<u8>(64).unwrap(), &mut bytes).map_err(racl::Refused::into_error));
    let pinned = two.there.pinned::<u8>(64).unwrap();
    two.refuses(stream.upload(pinned, &mut two.here.alloc(64).unwrap()).map_err(racl::Refused::into_error));
    two.refuses(op::add(&stream, &own.clone(), &other, &mut own));
    two.refuses(op::copy(&stream, &own, &mut other));
    two.refuses(op::aclnn::neg(&stream, &own, &mut other));
    two.refuses(op::aclnn::cat(&stream, &[&own.clone(), &other], 0, &mut own));
    // An operator whose executor is kept looks at each call.
    op::relu(&stream, &own.clone(), &mut own).unwrap();
    two.refuses(op::relu(&stream, &other, &mut own));
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    two.refuses(stream.fill_bytes(&mut bytes, 1));
    drop(capture);
    assert_eq!(own.to_vec().unwrap(), [0.0; 4]);
    assert_eq!(other.to_vec().unwrap(), [0.0; 4]);
}

#[test]
fn bound_inputs_of_every_class_are_of_the_executables_library() {
    let _alone = mock::exclusive();
    let two = two();
    let stream = two.here.stream().unwrap();
    let (own, other) =
        (two.here.upload_tensor(&[1.0_f32; 2], [2]).unwrap(), two.there.upload_tensor(&[2.0_f32; 2], [2]).unwrap());
    let classes = [Input::Copied, Input::Tracked(OnMove::Recapture), Input::Tracked(OnMove::Fail), Input::Updatable];
    for (class, mode) in classes.into_iter().flat_map(|class| [(class, Mode::Captured), (class, Mode::Eager)]) {
        let plan = Plan::build(|g| {
            let x = g.input("x", [2], F32, class)?;
            let y = g.muls(x, 3.0)?;
            g.output("y", y)
        })
        .unwrap();
        let mut exe = plan.executable(&two.here, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let (x, y) = (exe.input("x").unwrap(), exe.output_id("y").unwrap());
        let mut bind = exe.bindings();
        two.refuses(exe.run(&stream, bind.set(x, &other)));
        two.refuses(exe.run(&stream, exe.bindings().set(x, &other.clone())));
        exe.run(&stream, exe.bindings().set(x, &own)).unwrap();
        assert_eq!(exe.output::<f32>(y).unwrap().to_vec().unwrap(), [3.0; 2]);
        let mut to = two.there.zeros::<f32>([2]).unwrap();
        two.refuses(exe.output::<f32>(y).unwrap().copy_to(&stream, &mut to));
    }
}

#[test]
fn frozen_inputs_pools_and_streams_are_of_the_executables_library() {
    let _alone = mock::exclusive();
    let two = two();
    let other = two.there.upload_tensor(&[2.0_f32; 2], [2]).unwrap();
    let given = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&given);
    let foreign = Foreign::new("test.looks", 1, move |_| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    });
    let plan = Plan::build(|g| {
        let w = g.input("w", [2], F32, Input::Frozen)?;
        let y = g.empty([2], F32)?;
        g.foreign(&foreign, &[w], &[y])?;
        g.output("y", y)
    })
    .unwrap();
    two.refuses(plan.capture(&two.here, Frozen::new().with("w", &other)));
    let buffer = two.there.upload(&[2.0_f32; 2]).unwrap().into_shared();
    two.refuses(plan.capture(&two.here, Frozen::new().with("w", &buffer)));
    assert_eq!(given.load(std::sync::atomic::Ordering::Relaxed), 0, "a foreign operator saw the memory");
    let own = two.here.zeros::<f32>([2]).unwrap();
    let pooled = RunOptions::new().pool(&Pool::new(&two.there));
    let error = plan.executable(&two.here, &pooled, Frozen::new().with("w", &own)).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["a pool of another device or library"]);
    let mut exe = plan.capture(&two.here, Frozen::new().with("w", &own)).unwrap();
    let mut bind = exe.bindings();
    assert!(exe.run(&two.there.stream().unwrap(), &mut bind).is_err());
    exe.run(&two.here.stream().unwrap(), &mut bind).unwrap();
}

#[test]
fn gates_are_signalled_and_waited_for_by_streams_of_the_executables_library() {
    let _alone = mock::exclusive();
    let two = two();
    let mut gate = None;
    let plan = Plan::build(|g| {
        let it = *gate.insert(g.external("gate")?);
        g.wait_external(it)
    });
    let (gate, plan) = (gate.unwrap(), plan.unwrap());
    for (here, there) in two.both_ways() {
        let exe = plan.capture(here, Frozen::new()).unwrap();
        let (own, stream) = (here.stream().unwrap(), there.stream().unwrap());
        two.refuses_some("an executable", exe.signal(gate, &stream));
        two.refuses_some("an executable", exe.wait_signal(gate, &stream));
        stream.synchronize().unwrap();
        exe.signal(gate, &own).unwrap();
        exe.wait_signal(gate, &own).unwrap();
        own.synchronize().unwrap();
    }
}

#[test]
fn bindings_that_outlive_their_executable_say_so() {
    let _alone = mock::exclusive();
    let context = Acl::mock().unwrap().device(0).unwrap().context().create_context().unwrap();
    let own = context.zeros::<f32>([2]).unwrap();
    let plan = Plan::build(|g| {
        let x = g.input("x", [2], F32, Input::Copied)?;
        let y = g.abs(x)?;
        g.output("y", y)
    })
    .unwrap();
    let exe = plan.executable(&context, &RunOptions::new(), Frozen::new()).unwrap();
    let (x, mut bind) = (exe.input("x").unwrap(), exe.bindings());
    drop((exe, own));
    context.close().unwrap();
    let device = Acl::mock().unwrap().device(0).unwrap();
    let other = device.zeros::<f32>([2]).unwrap();
    bind.set(x, &other);
    let mut exe = plan.capture(&device, Frozen::new()).unwrap();
    let error = exe.run(&device.stream().unwrap(), &mut bind).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}
