//! A program that uses everything once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use racl::half::f16;
use racl::op::{self, GeluForm, LayerNorm, RotaryForm, Scalar, aclnn};
use racl::plan::Cores;
use racl::{
    Acl, Allocator, CaptureMode, Comparison, Context, CountUpdate, CountWait, Device, DeviceFeature, DeviceStatus,
    Error, ErrorKind, LabelList, LibraryFeature, Prefetch, Result, Stream, StreamOptions, SystemOption,
};

/// Whether memory comes from the pool; else each allocation is one of the library, which the mock counts.
pub(crate) static POOLED: AtomicBool = AtomicBool::new(false);

/// Runs the program; gives the errors of destructors as well. Panics when a result is wrong that came without an
/// error.
pub(crate) fn run(drop_errors: &mut Vec<Error>) -> Result<()> {
    let acl = Acl::mock()?;
    assert_eq!(acl.device_count()?, 1);
    assert!(!acl.soc_name()?.is_empty());
    acl.version()?;
    let device = acl.device(0)?;
    drop(acl);
    let result = in_device(&device, drop_errors);
    drop_errors.extend(device.context().take_drop_errors());
    result
}

fn in_device(device: &Device, drop_errors: &mut Vec<Error>) -> Result<()> {
    device.l2_cache_bytes()?;
    device.cube_cores()?;
    device.vector_cores()?;
    facts(device)?;
    let context = device.context().create_context()?;
    context.set_allocator(if POOLED.load(Ordering::Relaxed) { Allocator::Pool } else { Allocator::Direct });
    let result = in_context(&context, drop_errors);
    drop_errors.extend(context.take_drop_errors());
    result
}

/// What a device tells of itself.
fn facts(device: &Device) -> Result<()> {
    device.supports(DeviceFeature::TaskUpdate)?;
    assert_eq!(device.status()?, DeviceStatus::Normal);
    device.utilization()?;
    device.uuid()?;
    device.stream_priorities()?;
    device.link_to(device)?;
    device.set_overflow_mode(device.overflow_mode()?)?;
    assert_eq!((device.logical_id()?, device.physical_id()?), (0, 0));
    let acl = device.acl();
    assert_eq!(acl.device_at(&device.pci_bus_id()?)?.id(), 0);
    acl.run_mode()?;
    acl.supports(LibraryFeature::Bf16)?;
    acl.process_id()?;
    assert!(acl.is_device_open(0)?);
    Ok(())
}

fn in_context(context: &Context, drop_errors: &mut Vec<Error>) -> Result<()> {
    context.bind()?;
    context.memory_info()?;
    ordering(context)?;
    signals(context)?;
    settings(context)?;
    controls(context)?;
    crate::memory::run(context)?;
    operators(context)?;
    graph(context)?;
    conditions(context)?;
    by_hand(context)?;
    changed(context)?;
    crate::kernels::run(context)?;
    crate::plans::run(context)?;
    given_up(context, drop_errors)?;
    context.synchronize()
}

fn ordering(context: &Context) -> Result<()> {
    let (main, side) = (context.stream()?, context.stream_with(StreamOptions::new().priority(3).fast_launch())?);
    main.id()?;
    let default = context.default_stream()?;
    let (start, end) = (context.timing_event()?, context.timing_event()?);
    start.record(&main)?;
    main.fork(&side)?;
    let runs = count_runs(&side, 1)?;
    main.join(&side)?;
    end.record(&main)?;
    main.synchronize()?;
    assert!(main.is_complete()? && end.is_complete()?);
    end.elapsed_since(&start)?;
    end.timestamp()?;
    end.synchronize()?;
    end.synchronize_timeout(Duration::from_secs(600))?;
    side.synchronize_timeout(Duration::from_secs(600))?;
    default.synchronize()?;
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    start.close()?;
    side.close().map_err(racl::Refused::into_error)
}

/// Notifies, counting ones, what processes share, and what graphs share with work beside them.
fn signals(context: &Context) -> Result<()> {
    let (giver, taker) = (context.stream()?, context.stream()?);
    let (notify, count) = (context.notify()?, context.counting_notify()?);
    notify.id()?;
    count.id()?;
    notify.record(&giver)?;
    taker.wait_notify(&notify, Some(Duration::from_secs(2)))?;
    count.reset(&giver)?;
    count.record(&giver, CountUpdate::Add(2))?;
    taker.wait_count(&count, CountWait::equal(2).clears().limit(Duration::from_secs(2)))?;
    taker.synchronize()?;
    notify.reset()?;
    let shared = context.import_notify(&notify.export(&[std::process::id()])?)?;
    let event = context.ipc_event()?;
    let same = context.open_ipc_event(event.handle()?)?;
    event.record(&giver)?;
    shared.record(&giver)?;
    taker.wait_ipc(&same)?;
    taker.wait_notify(&notify, Some(Duration::from_secs(2)))?;
    taker.synchronize()?;
    same.synchronize()?;
    same.synchronize_timeout(Duration::from_secs(600))?;
    assert!(same.is_complete()?);
    let latch = context.external_event()?;
    latch.record(&giver)?;
    taker.wait_external(&latch, Some(Duration::from_secs(2)))?;
    latch.reset(&taker)?;
    taker.synchronize()?;
    latch.close()?;
    drop((giver, taker));
    count.close()?;
    event.close().map_err(racl::Refused::into_error)
}

/// What the library is told of operators and waits, and what it says of faults.
fn settings(context: &Context) -> Result<()> {
    let (acl, device) = (context.acl(), context.acl().device(0)?);
    for on in [true, false] {
        context.set_option(SystemOption::Deterministic, on)?;
        assert_eq!(context.option(SystemOption::Deterministic)?, Some(on));
        acl.set_option(SystemOption::Deterministic, on)?;
        assert_eq!(acl.option(SystemOption::Deterministic)?, on);
    }
    context.set_operator_limit(None)?;
    acl.set_wait_limit(None)?;
    device.fault()?;
    let watches = (acl.watch_streams(|_, _| {})?, acl.watch_devices(|_, _| {})?);
    watches.0.end()?;
    watches.1.end()?;
    acl.watch_aborts(|_, _, _| true)?.end()?;
    snapshot(acl)?;
    device.repair_memory(&device.memory_errors()?)
}

fn snapshot(acl: &Acl) -> Result<()> {
    let heard = Arc::new(AtomicU32::new(0));
    let inside = Arc::clone(&heard);
    let watch = acl.watch_snapshots(move |_, _| inside.fetch_add(1, Ordering::Relaxed) < 100)?;
    let locked = acl.lock_process()?;
    let saved = locked.back_up().map_err(racl::Refused::into_error)?;
    let locked = saved.restore().map_err(racl::Refused::into_error)?;
    locked.unlock().map_err(racl::Refused::into_error)?;
    assert_eq!(heard.load(Ordering::Relaxed), 6);
    drop(watch);
    Ok(())
}

/// What streams are told of themselves, limits of cores, and the end of work before its time.
fn controls(context: &Context) -> Result<()> {
    let options = StreamOptions::new().stop_on_failure().overflow_check().tag(7);
    let stream = context.stream_with(options)?;
    assert!(stream.stops_on_failure()? && stream.checks_overflow()?);
    assert_eq!((stream.priority()?, stream.tag()?), (0, Some(7)));
    let limit = stream.limit_cores(Cores { cube: 2, vector: 0 })?;
    assert_eq!((stream.core_limit()?.cube, context.thread_cores()?.cube), (2, 2));
    limit.end()?;
    assert!(!stream.has_overflowed()?);
    stream.reset_overflow_status()?;
    stream.abort()?;
    context.abort_device(Duration::from_secs(600))?;
    stream.close().map_err(racl::Refused::into_error)
}

fn count_runs(stream: &Stream, step: u32) -> Result<Arc<AtomicU32>> {
    let runs = Arc::new(AtomicU32::new(0));
    let inside = Arc::clone(&runs);
    stream.host_function(move || {
        inside.fetch_add(step, Ordering::Relaxed);
    })?;
    Ok(runs)
}

fn decoder_operators(context: &Context, s: &Stream) -> Result<()> {
    let a = context.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
    let (row, mut out) = (a.narrow(0, 0..1)?, context.zeros::<f32>([2, 2])?);
    op::rms_norm(s, &a, &row.reshaped([2])?, 1e-5, &mut out, &mut context.zeros([2, 1])?)?;
    op::rotary_embedding(s, &a, &row, &row, RotaryForm::Halves, &mut out)?;
    op::swiglu(s, &a, -1, &mut context.zeros([2, 1])?)?;
    let (mut mark, mut places) = (context.zeros([2, 2])?, context.zeros::<i64>([2])?);
    op::equal(s, &a, &row, &mut mark)?;
    op::greater(s, &a, &row, &mut mark)?;
    op::select(s, &mark, &row, &a, &mut out)?;
    op::argmax(s, &a, -1, false, &mut places)?;
    assert_eq!(out.to_vec()?, [1.0, 2.0, 1.0, 2.0]);
    assert_eq!(places.to_vec()?, [1, 1]);
    Ok(())
}

fn operators(context: &Context) -> Result<()> {
    let s = &context.stream()?;
    let a = context.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
    let (row, mut one) = (context.upload_tensor(&[1.0_f32, 1.0], [2])?, context.zeros::<f32>([2])?);
    let mut out = context.zeros::<f32>([2, 2])?;
    op::add(s, &a, &a, &mut out)?;
    op::add_inplace(s, &mut out, &row)?;
    op::adds(s, &out.clone(), 1.0, &mut out)?;
    op::sub(s, &out.clone(), &a, &mut out)?;
    assert_eq!(out.to_vec()?, [3.0, 4.0, 5.0, 6.0]);
    op::mul(s, &a, &a, &mut out)?;
    op::mul_inplace(s, &mut out, &a)?;
    op::muls(s, &out.clone(), 2.0, &mut out)?;
    op::div(s, &out.clone(), &a, &mut out)?;
    op::divs(s, &out.clone(), 2.0, &mut out)?;
    op::maximum(s, &out.clone(), &a, &mut out)?;
    op::clamp_min(s, &out.clone(), 2.0, &mut out)?;
    assert_eq!(out.to_vec()?, [2.0, 4.0, 9.0, 16.0]);
    op::sqrt(s, &a, &mut out)?;
    op::rsqrt(s, &out.clone(), &mut out)?;
    op::tanh(s, &out.clone(), &mut out)?;
    op::abs(s, &out.clone(), &mut out)?;
    op::gelu(s, &out.clone(), GeluForm::Tanh, &mut out)?;
    // Transposed operands and first dimensions need scratch memory.
    op::matmul(s, &a.transposed(0, 1)?, &a, &mut out)?;
    op::mm(s, &a, &a, &mut out)?;
    let cube = a.reshaped([1, 2, 2])?;
    op::batch_matmul(s, &cube, &cube, &mut out.reshaped([1, 2, 2])?)?;
    op::addmm(s, &row, &a, &a, &mut out)?;
    assert_eq!(out.to_vec()?, [8.0, 11.0, 16.0, 23.0]);
    op::softmax(s, &a, 0, &mut out)?;
    op::layer_norm(s, &a, &LayerNorm { weight: &row, bias: &row, eps: 1e-5 }, &mut out)?;
    decoder_operators(context, s)?;
    op::reduce_sum(s, &a, &[0], false, &mut one)?;
    op::mean(s, &a, &[0], false, &mut one)?;
    assert_eq!(one.to_vec()?, [2.0, 3.0]);
    let indices = context.upload_tensor(&[1_i32, 0], [2])?;
    op::embedding(s, &a, &indices, &mut out)?;
    op::permute(s, &out.clone().transposed(0, 1)?, &[1, 0], &mut out)?;
    assert_eq!(out.to_vec()?, [3.0, 4.0, 1.0, 2.0]);
    let mut half = context.empty::<f16>([2, 2])?;
    op::cast(s, &out, &mut half)?;
    op::copy(s, &half, &mut out)?;
    op::fill(s, &mut half, f16::ONE)?;
    assert_eq!(half.to_vec()?, [f16::ONE; 4]);
    assert_eq!(out.to_vec()?, [3.0, 4.0, 1.0, 2.0]);
    // More scratch memory than before.
    let wide = context.zeros::<f32>([64, 64])?;
    op::softmax(s, &wide, 0, &mut wide.clone())?;
    assert_eq!(wide.to_vec()?[0], 1.0 / 64.0);
    by_name(context, s)
}

/// Arguments of the kinds that no operator of the mock has.
fn by_name(context: &Context, s: &Stream) -> Result<()> {
    let a = context.zeros::<f32>([2])?;
    let (mut one, mut other) = (context.zeros::<f32>([2])?, context.zeros::<f32>([2])?);
    let mut kept = Vec::new();
    let described = |result: Result<()>| match result {
        Err(error) if error.kind() == ErrorKind::NotSupported => Ok(()),
        other => other,
    };
    for _ in 0..2 {
        // Lists on other memory each time.
        let whole = context.empty::<f32>([4])?;
        let (left, right) =
            (context.upload_tensor(&[1.0_f32, 2.0], [2])?, context.upload_tensor(&[3.0_f32, 4.0], [2])?);
        op::cat(s, &[&left, &right], 0, &mut whole.clone())?;
        let (mut head, mut tail) = (context.empty::<f32>([1])?, context.empty::<f32>([3])?);
        op::split(s, &whole, &[1, 3], 0, &mut [&mut head, &mut tail])?;
        assert_eq!((head.to_vec()?, tail.to_vec()?), (vec![1.0], vec![2.0, 3.0, 4.0]));
        kept.push((whole, left, right, head, tail));
    }
    let numbers = [1.0_f32, 2.0].map(Scalar::from);
    described(aclnn::foreach_pow_scalar_list(s, &[&a, &a], &numbers, &mut [&mut one, &mut other]))?;
    described(aclnn::resize(s, &a, &[2.0, 2.0], "nearest", &mut one))?;
    let mask = [true, false];
    described(aclnn::grid_sampler2d_backward(s, &a, &a, &a, 0, 0, false, &mask, &mut one, &mut other))
}

fn graph(context: &Context) -> Result<()> {
    let (main, other) = (context.stream()?, context.stream()?);
    let weights = context.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
    let mut x = context.alloc::<f32>(4)?;
    let mut y = context.zeros::<f32>([2, 2])?;
    let runs = Arc::new(AtomicU32::new(0));
    let inside = Arc::clone(&runs);
    let capture = main.begin_capture(CaptureMode::Relaxed)?;
    let side = capture.stream().side("1")?;
    capture.stream().fork(&side)?;
    side.prefetch(&weights, Prefetch::all())?;
    let input = capture.stream().upload(context.pinned::<f32>(4)?, &mut x)?;
    capture.stream().join(&side)?;
    let x = racl::Tensor::over(x, [2, 2])?;
    op::matmul(capture.stream(), &weights.transposed(0, 1)?, &x, &mut y)?;
    capture.stream().host_function(move || {
        inside.fetch_add(1, Ordering::Relaxed);
    })?;
    let output = capture.stream().download(&y.buffer()?, context.pinned::<f32>(4)?)?;
    let mut graph = capture.finish()?;
    // Replays use the memory; the values here are no longer needed.
    drop((weights, x, y, side));
    graph.host(&input)?.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    graph.launch(&main)?;
    assert_eq!(*graph.host(&output)?, [1.0, 3.0, 2.0, 4.0]);
    graph.launch(&main)?;
    graph.launch(&other)?;
    graph.launch(&main)?;
    graph.wait()?;
    // A launch that fails is reported by the stream that it was given to.
    other.synchronize()?;
    assert_eq!(runs.load(Ordering::Relaxed), 4);
    let path = std::env::temp_dir().join(format!("racl-faults-{}.json", std::process::id()));
    let written = graph.write_trace(&path);
    // Not there when the call failed.
    let _ = std::fs::remove_file(&path);
    written?;
    graph.launch(&other)?;
    graph.close().map_err(racl::Refused::into_error)
}

/// A loop of one round with a choice in it, and a switch. Two writes end the loop, of which one may fail.
fn conditions(context: &Context) -> Result<()> {
    let stream = context.stream()?;
    let (mut wanted, zero) = (context.upload(&[0_u64])?, context.upload(&[0_u64])?);
    let out = context.alloc_zeroed::<u8>(4)?.into_shared();
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| {
        let (more, which) = (s.condition(Some(1))?, s.condition(None)?);
        s.repeat_while(&more, |s| {
            s.copy(&zero, &mut more.cell()?)?;
            s.fill_bytes(&mut more.cell::<u64>()?, 0)?;
            let (last, mut one, mut other) = (s.condition(None)?, out.slice(..1)?, out.slice(1..2)?);
            s.copy(&wanted, &mut last.cell()?)?;
            s.if_else(&last, |s| s.fill_bytes(&mut one, 1), |s| s.fill_bytes(&mut other, 2))
        })?;
        s.copy(&wanted, &mut which.cell()?)?;
        s.switch(&which, 2, |case, s| {
            let side = s.side("1")?;
            s.fork(&side)?;
            side.fill_bytes(&mut out.slice(2 + case..3 + case)?, 3)?;
            s.join(&side)
        })
    })?;
    graph.launch(&stream)?;
    assert_eq!(out.to_vec()?, [0, 2, 3, 0]);
    wanted.write(&[1])?;
    graph.launch(&stream)?;
    graph.wait()?;
    assert_eq!(out.to_vec()?, [1, 2, 3, 3]);
    graph.close().map_err(racl::Refused::into_error)
}

/// A graph that is built by hand, with everything that leads from stream to stream.
fn by_hand(context: &Context) -> Result<()> {
    let stream = context.stream()?;
    let out = context.alloc_zeroed::<u8>(3)?.into_shared();
    let (number, index) = (context.upload(&[1_i32])?, context.upload(&[0_u32])?);
    let mut builder = context.build_graph()?;
    let (first, side, other) = (builder.first().clone(), builder.stream("side")?, builder.stream("other")?);
    let (middle, end) = (context.label()?, context.label()?);
    first.start(&side)?;
    side.fill_bytes(&mut out.slice(..1)?, 1)?;
    first.switch_if(&number, Comparison::Equal, &number, &other)?;
    first.set_label(&middle)?;
    first.fill_bytes(&mut out.slice(2..)?, 3)?;
    first.set_label(&end)?;
    other.fill_bytes(&mut out.slice(1..2)?, 2)?;
    other.jump_by(&LabelList::new([&middle, &end])?, &index)?;
    let mut graph = builder.finish()?;
    drop((first, side, other, middle, end, number, index));
    graph.set_name("by hand")?;
    assert_eq!(graph.name()?, "by hand");
    graph.id()?;
    graph.log()?;
    graph.abort()?;
    graph.launch(&stream)?;
    graph.wait()?;
    assert_eq!(out.to_vec()?, [1, 2, 3]);
    graph.close().map_err(racl::Refused::into_error)
}

/// Tasks of a captured graph, looked at and changed.
fn changed(context: &Context) -> Result<()> {
    let stream = context.stream()?;
    let (flag, other) = (context.flag(0)?, context.flag(0)?);
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| {
        context.with_capture_mode(CaptureMode::Relaxed, || flag.set(4))??;
        s.write_value(&flag, 1)?;
        s.write_value(&flag, 2)
    })?;
    let tasks = graph.tasks()?;
    graph.change(|change| {
        change.write_value(&tasks[0], &other, 3)?;
        change.disable(&tasks[1])
    })?;
    graph.launch(&stream)?;
    graph.wait()?;
    assert_eq!((flag.value()?, other.value()?), (4, 3));
    graph.close().map_err(racl::Refused::into_error)
}

/// A capture that is dropped, and a graph that is dropped after its launch.
fn given_up(context: &Context, drop_errors: &mut Vec<Error>) -> Result<()> {
    let stream = context.stream()?;
    let mut buffer = context.alloc_zeroed::<u8>(8)?;
    let capture = stream.begin_capture(CaptureMode::ThreadLocal)?;
    // Left unjoined, so that the end of the capture is an error too.
    capture.stream().fork(&capture.stream().side("1")?)?;
    drop(capture);
    let mut graph = stream.capture(CaptureMode::Global, |s| {
        let side = s.side("2")?;
        s.fork(&side)?;
        side.fill_bytes(&mut buffer, 2)?;
        s.join(&side)
    })?;
    graph.launch(&stream)?;
    drop(graph);
    drop_errors.extend(context.take_drop_errors());
    let result = buffer.to_vec()?;
    assert!(result == [2; 8] || !drop_errors.is_empty(), "{result:?}");
    Ok(())
}
