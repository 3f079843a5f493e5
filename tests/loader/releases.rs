//! Libraries with the functions of one release each: what works, and how the rest is refused.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use racl::op::DataType::F32;
use racl::plan::{Cores, Executable, Frozen, Input, Mode, Plan, RunOptions, Scope};
use racl::sys::{MissingSymbol, Release, Table, aclrtDevAttr};
use racl::{Acl, Allocator, CaptureMode, Device, ErrorKind, Prefetch, Result, Stream};

use crate::build::{RELEASES, belongs, libraries};
use crate::common::{assert_says, skipped};
use crate::controls::Controls;
use crate::watchdog::Watchdog;
use crate::{add, choices, host_functions, load};

use Release::{Cann8_1, Cann8_2, Cann8_3, Cann9_0};

/// Something that needs a function which not every release has.
struct Feature {
    symbol: &'static str,
    /// The releases without the function.
    missing: &'static [Release],
    /// What the message says of the releases with the function.
    history: &'static str,
    run: fn(&Device) -> Result<()>,
}

const FEATURES: [Feature; 16] = [
    Feature {
        symbol: "aclrtGetDeviceInfo",
        missing: &[Cann8_1, Cann8_2, Cann8_3],
        history: "it came after CANN 8.3",
        run: |device| device.attribute(aclrtDevAttr::ACL_DEV_ATTR_AICORE_CORE_NUM).map(drop),
    },
    Feature {
        symbol: "aclmdlRIDebugJsonPrint",
        missing: &[Cann8_1, Cann8_2, Cann8_3],
        history: "it came after CANN 8.3",
        run: |device| {
            let graph = device.stream()?.capture(CaptureMode::ThreadLocal, |_| Ok(()))?;
            graph.write_trace(tempfile::NamedTempFile::new().unwrap().path())
        },
    },
    Feature {
        symbol: "aclrtSetStreamResLimit",
        missing: &[Cann8_1, Cann8_2, Cann9_0],
        history: "the headers of CANN 8.3, the release after CANN 9.1 and the development head after CANN 9.1 have \
                  it, those of CANN 8.1, CANN 8.2 and CANN 9.0 do not",
        run: core_limit,
    },
    Feature {
        symbol: "aclrtStreamGetId",
        missing: &[Cann8_1, Cann8_2, Cann8_3, Cann9_0],
        history: "it came after CANN 9.0",
        run: |device| device.stream()?.id().map(drop),
    },
    Feature {
        symbol: "aclrtMemsetD32",
        missing: &[Cann8_1, Cann8_2, Cann8_3, Cann9_0],
        history: "it came after CANN 9.0",
        run: |device| device.context().alloc_filled(4, 1_u32).map(drop),
    },
    Feature {
        symbol: "aclrtMemcpyBatch",
        missing: &[Cann8_1, Cann8_2],
        history: "it came after CANN 8.2",
        run: |device| device.context().write_batch(&mut [(device.alloc::<u8>(1)?.slice_mut(..)?, &[1])]),
    },
    Feature {
        symbol: "aclrtGetMemcpyDescSize",
        missing: &[Cann8_1, Cann8_2, Cann8_3, Cann9_0],
        history: "it came after CANN 9.0",
        run: |device| {
            let memory = device.alloc::<u8>(64)?.into_shared();
            device.context().copy_descriptor(&memory, &memory, 1).map(drop)
        },
    },
    Feature {
        symbol: "aclrtIpcMemGetExportKey",
        missing: &[Cann8_1, Cann8_2, Cann8_3, Cann9_0],
        history: "it came after CANN 9.0",
        run: |device| device.context().alloc_direct::<u8>(64)?.into_shared().export(&[]).map(drop),
    },
    Feature {
        symbol: "aclrtIpcMemImportByKey",
        missing: &[Cann8_1, Cann8_2, Cann8_3, Cann9_0],
        history: "it came after CANN 9.0",
        // SAFETY: nobody exported it, so it is refused.
        run: |device| match unsafe { device.context().import_memory::<u8>(&"none:1".parse()?) } {
            Err(error) if error.kind() == ErrorKind::InvalidArgument => Ok(()),
            other => other.map(drop),
        },
    },
    Feature {
        symbol: "aclrtMemExportToShareableHandle",
        missing: &[Cann8_1, Cann8_2, Cann8_3],
        history: "it came after CANN 8.3",
        run: |device| device.context().physical_memory(2 << 20)?.export(&[]).map(drop),
    },
    Feature {
        symbol: "aclrtHostRegister",
        missing: &[Cann8_1, Cann8_2, Cann8_3, Cann9_0],
        history: "it came after CANN 9.0",
        run: |device| device.context().mapped::<u8>(1).map(drop),
    },
    Feature {
        symbol: "aclrtMemAllocManaged",
        missing: &[Cann8_1, Cann8_2, Cann8_3, Cann9_0],
        history: "it came after CANN 9.0",
        run: |device| device.context().managed::<u8>(1).map(drop),
    },
    Feature {
        symbol: "aclmdlRICondHandleCreate",
        missing: &[Cann8_1, Cann8_2, Cann8_3, Cann9_0],
        history: "it came after CANN 9.0",
        run: |device| {
            let (stream, mut out) = (device.stream()?, device.upload(&[0_u8; 4])?);
            let captured = stream.capture(CaptureMode::ThreadLocal, |s| {
                let condition = s.condition(Some(1))?;
                s.if_then(&condition, |s| s.fill_bytes(&mut out, 1))
            });
            assert!(!stream.is_capturing());
            captured?.launch(&stream)?;
            assert_eq!(out.to_vec()?, [1; 4]);
            Ok(())
        },
    },
    Feature {
        symbol: "aclmdlRIBuildBegin",
        missing: &[Cann8_1, Cann8_2, Cann8_3, Cann9_0],
        history: "it came after CANN 9.0",
        run: |device| {
            let (stream, mut out) = (device.stream()?, device.upload(&[0_u8; 4])?);
            let mut builder = device.context().build_graph()?;
            let side = builder.stream("side")?;
            builder.first().start(&side)?;
            side.fill_bytes(&mut out, 1)?;
            builder.finish()?.launch(&stream)?;
            assert_eq!(out.to_vec()?, [1; 4]);
            Ok(())
        },
    },
    Feature {
        symbol: "aclmdlRIGetStreams",
        missing: &[Cann8_1, Cann8_2, Cann8_3, Cann9_0],
        history: "it came after CANN 9.0",
        run: |device| device.stream()?.capture(CaptureMode::ThreadLocal, |_| Ok(()))?.tasks().map(drop),
    },
    Feature {
        symbol: "aclmdlRICaptureThreadExchangeMode",
        missing: &[Cann8_1, Cann8_2, Cann8_3],
        history: "it came after CANN 8.3",
        run: |device| device.context().with_capture_mode(CaptureMode::Relaxed, || ()),
    },
];

/// Plans with gates to the outside and with updates: by values where the library has waits for them, else by events.
fn gates(device: &Device) -> Result<()> {
    for mode in [Mode::Eager, Mode::Captured] {
        gate(device, mode)?;
        updates(device, mode)?;
    }
    Ok(())
}

/// A plan one input of which moves between runs, each time behind work that another stream has for it.
fn updates(device: &Device, mode: Mode) -> Result<()> {
    let plan = Plan::build(|g| {
        let x = g.input("x", [2], F32, Input::Updatable)?;
        let y = g.adds(x, 1.0)?;
        let z = g.muls(y, 2.0)?;
        g.output("z", z)
    })?;
    let main = device.stream()?;
    let mut exe = plan.executable(device, &RunOptions::new().mode(mode), Frozen::new())?;
    let (input, output, mut bind) = (exe.input("x")?, exe.output_id("z")?, exe.bindings());
    for step in 1..=4 {
        let x = device.upload_tensor(&[step as f32, 0.0], [2])?;
        // Twice, the second time without an update.
        for _ in 0..2 {
            exe.run(&main, bind.set(input, &x))?;
            assert_eq!(exe.output::<f32>(output)?.to_vec()?, [2.0 * step as f32 + 2.0, 2.0]);
        }
    }
    assert_eq!(exe.counters().updates, if mode == Mode::Captured { 3 } else { 0 });
    Ok(())
}

/// A plan that waits for a signal, given before the run and after it, and gives one.
fn gate(device: &Device, mode: Mode) -> Result<()> {
    let mut gates = None;
    let plan = Plan::build(|g| {
        let x = g.input("x", [2], F32, Input::Copied)?;
        let (open, done) = *gates.insert((g.external("open")?, g.external("done")?));
        g.wait_external(open)?;
        let y = g.adds(x, 1.0)?;
        g.record_external(done)?;
        g.output("y", y)
    })?;
    let (open, done) = gates.unwrap();
    let (main, side) = (device.stream()?, device.stream()?);
    let mut exe = plan.executable(device, &RunOptions::new().mode(mode), Frozen::new())?;
    let (input, output, mut bind) = (exe.input("x")?, exe.output_id("y")?, exe.bindings());
    for step in 0..3 {
        let x = device.upload_tensor(&[1.0_f32, step as f32], [2])?;
        if step == 0 {
            exe.signal(open, &side)?;
        }
        exe.run(&main, bind.set(input, &x))?;
        if step > 0 {
            assert!(!main.is_complete()?, "no signal was given");
            exe.signal(open, &side)?;
        }
        exe.wait_signal(done, &side)?;
        side.synchronize()?;
        assert_eq!(exe.output::<f32>(output)?.to_vec()?, [2.0, step as f32 + 1.0]);
    }
    // Nobody signals: it is opened on request, and where the executable goes.
    exe.run(&main, &mut bind)?;
    assert_eq!(exe.release_gates()?, ["open"]);
    main.synchronize()?;
    exe.run(&main, &mut bind)?;
    drop(exe);
    main.synchronize()?;
    let told = device.context().take_drop_errors();
    assert!(told.len() == 1 && told[0].kind() == ErrorKind::Aborted, "{told:?}");
    Ok(())
}

/// A plan one part of which has fewer cores.
fn core_limit(device: &Device) -> Result<()> {
    let plan = Plan::build(|g| {
        let x = g.input("x", [2], F32, Input::Copied)?;
        let y = g.scope_with("side", Scope::new().cores(Cores { cube: 1, vector: 1 }), |g| g.adds(x, 1.0))?;
        g.join("side")?;
        g.output("y", y)
    })?;
    run(device, plan.eager(device, Frozen::new())?)
}

fn run(device: &Device, mut exe: racl::plan::Executable) -> Result<()> {
    let main = device.stream()?;
    let x = device.upload_tensor(&[1.0_f32, 2.0], [2])?;
    let (input, output, mut bind) = (exe.input("x")?, exe.output_id("y")?, exe.bindings());
    exe.run(&main, bind.set(input, &x))?;
    assert_eq!(exe.output::<f32>(output)?.to_vec()?, [2.0, 3.0]);
    Ok(())
}

/// A limit of the whole device ends, also where the library does not tell how many cores there are.
fn device_limit(device: &Device) -> Result<()> {
    if !device.acl().table().has("aclrtSetDeviceResLimit") {
        return Ok(());
    }
    let all = device.core_limit()?;
    let limit = device.limit_cores(Cores { cube: 1, vector: 1 })?;
    assert_eq!(device.core_limit()?, Cores { cube: 1, vector: 1 });
    limit.end()?;
    assert_eq!(device.core_limit()?, all);
    Ok(())
}

/// Waits with a limit, also where the library has none for events, and a drop that gives up.
fn limits(device: &Device, controls: &Controls) -> Result<()> {
    let (stream, event) = (device.stream()?, device.event()?);
    event.record(&stream)?;
    event.synchronize_timeout(Duration::from_secs(600))?;
    assert!(event.is_complete()?);
    controls.hold(&stream);
    let mut buffer = device.alloc::<u8>(8)?;
    let lent = stream.upload(device.context().pinned(8)?, &mut buffer)?;
    event.record(&stream)?;
    let late = event.synchronize_timeout(Duration::from_millis(30)).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Timeout, "{late}");
    assert!(!event.is_complete()?);
    racl::set_drop_limit(Duration::from_millis(30));
    drop(lent);
    let told = device.context().take_drop_errors();
    racl::set_drop_limit(Duration::from_secs(10));
    assert_eq!(told.iter().map(racl::Error::kind).collect::<Vec<_>>(), [ErrorKind::Timeout], "{told:?}");
    assert_says(&told[0], ErrorKind::Timeout, &["a copy of 8 bytes on "]);
    controls.release(&stream);
    event.synchronize_timeout(Duration::from_secs(600))?;
    stream.synchronize()
}

const FAULT: i32 = 507_015;

/// y = 2 x + x, with x updatable: two operators, each behind a gate of its own.
fn updatable(device: &Device) -> Result<Executable> {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Updatable)?;
        let h = g.muls(x, 2.0)?;
        let y = g.add(h, x)?;
        g.output("y", y)
    })?;
    plan.capture(device, Frozen::new())
}

fn run_with(device: &Device, exe: &mut Executable, stream: &Stream, value: f32) -> Result<()> {
    let x = device.upload_tensor(&[value; 4], [4])?;
    let (input, mut bind) = (exe.input("x")?, exe.bindings());
    exe.run(stream, bind.set(input, &x))
}

/// Lets a task that opens gates fail on the device, each in its turn, in one of two runs: by values where the library
/// has waits for them, else by events. Nobody waits for the gate for ever, and somebody is told.
fn rescues(device: &Device, controls: &Controls) -> Result<()> {
    let opens = match device.acl().table().aclrtValueWrite() {
        Ok(_) => "aclrtValueWrite",
        Err(_) => "aclrtRecordEvent",
    };
    let mut of_no_use = 0;
    for (name, count) in [(opens, 8), ("aclrtStreamWaitEvent", 4)] {
        for nth in 1..=count {
            let stream = device.stream()?;
            let mut exe = updatable(device)?;
            run_with(device, &mut exe, &stream, 1.0)?;
            stream.synchronize()?;
            controls.fail_task(name, nth, FAULT);
            let mut told: Vec<_> =
                (2..4).filter_map(|turn| run_with(device, &mut exe, &stream, turn as f32).err()).collect();
            told.extend(stream.synchronize().err());
            told.extend(run_with(device, &mut exe, &stream, 4.0).err());
            drop(exe);
            controls.clear_failures();
            told.extend(stream.synchronize().err());
            told.extend(device.context().take_drop_errors());
            let of = |kind: ErrorKind| told.iter().any(|error| error.kind() == kind);
            assert!(!of(ErrorKind::Timeout), "{name} {nth}: {told:?}");
            of_no_use += usize::from(told.iter().any(|error| error.to_string().contains("of no use")));
            let mut other = updatable(device)?;
            run_with(device, &mut other, &stream, 2.0)?;
            let y = other.output_id("y")?;
            assert_eq!(other.output::<f32>(y)?.to_vec()?, [6.0; 4], "{name} {nth}");
        }
    }
    assert!(of_no_use > 0, "no gate was kept shut");
    Ok(())
}

/// What needs nothing that a release lacks.
fn works_everywhere(acl: &Acl, controls: &Controls) -> Result<()> {
    assert_eq!(add(acl)?, [2.0, 4.0, 6.0]);
    let device = acl.device(0)?;
    let (main, side) = (device.stream()?, device.stream()?);
    let weights = device.upload(&[1_u8; 64])?;
    let mut buffer = device.upload(&[0_u8; 4])?;
    let mut graph = main.capture(CaptureMode::ThreadLocal, |s| {
        s.fork(&side)?;
        side.prefetch(&weights, Prefetch::all())?;
        s.fill_bytes(&mut buffer, 6)?;
        s.join(&side)
    })?;
    graph.launch(&main)?;
    assert_eq!(buffer.to_vec()?, [6; 4]);
    let (start, end) = (device.timing_event()?, device.timing_event()?);
    start.record(&main)?;
    end.record(&main)?;
    main.synchronize()?;
    end.elapsed_since(&start)?;
    let default = device.default_stream()?;
    default.fill_bytes(&mut buffer, 7)?;
    default.synchronize()?;
    assert_eq!(buffer.to_vec()?, [7; 4]);
    let growing = device.context().create_context()?;
    growing.set_allocator(Allocator::Growing);
    growing.alloc::<u8>(30 << 20)?;
    assert_eq!(growing.memory_stats().reserved.now, 32 << 20);
    let plan = Plan::build(|g| {
        let x = g.input("x", [2], F32, Input::Copied)?;
        let y = g.scope("side", |g| g.adds(x, 1.0))?;
        g.join("side")?;
        g.output("y", y)
    })?;
    run(&device, plan.capture(&device, Frozen::new())?)?;
    limits(&device, controls)?;
    device_limit(&device)?;
    host_functions::work(&device)?;
    gates(&device)?;
    choices::work(&device)?;
    rescues(&device, controls)
}

fn alone() -> bool {
    let alone = Table::load().is_err();
    if !alone {
        skipped("an installed toolkit has the functions that shall be missing");
    }
    alone
}

/// Held by tests that initialise these libraries: one cannot be closed while another test uses it.
fn initialises() -> MutexGuard<'static, ()> {
    static IN_USE: Mutex<()> = Mutex::new(());
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn each_release_has_its_functions_and_no_others() {
    if !alone() {
        return;
    }
    for release in RELEASES {
        // SAFETY: a library made from the mock.
        let table = unsafe { Table::load_from(libraries().release(release)) }.unwrap();
        let wrong: Vec<_> = Table::names()
            .filter(|(name, _)| table.has(name) != belongs(name, release))
            .map(|(name, _)| name)
            .collect();
        assert!(wrong.is_empty(), "{release}: {wrong:?}");
    }
}

#[test]
fn what_every_release_has_works_with_each() {
    let _alone = initialises();
    let _watched = Watchdog::new();
    for release in RELEASES {
        let path = libraries().release(release);
        let acl = load(path).unwrap();
        let controls = Controls::of(path);
        works_everywhere(&acl, &controls).unwrap_or_else(|error| panic!("{release}: {error:#}"));
        acl.close().unwrap();
    }
}

#[test]
fn what_a_release_lacks_is_refused_by_name_and_spoils_nothing_else() {
    if !alone() {
        return;
    }
    let _alone = initialises();
    for release in RELEASES {
        let path = libraries().release(release);
        let acl = load(path).unwrap();
        let device = acl.device(0).unwrap();
        for Feature { symbol, missing, history, run } in FEATURES {
            let done = run(&device);
            if missing.contains(&release) {
                let text = format!("{symbol} is not in {}: {history}", path.display());
                assert_says(&done.unwrap_err(), ErrorKind::MissingSymbol, &[&text]);
                assert_eq!(add(&acl).unwrap(), [2.0, 4.0, 6.0]);
            } else {
                done.unwrap_or_else(|error| panic!("{symbol} with {release}: {error:#}"));
            }
        }
        device.synchronize().unwrap();
        assert!(device.context().take_drop_errors().is_empty());
    }
}

#[test]
fn functions_that_are_gone_and_operators_that_came_say_so() {
    if !alone() {
        return;
    }
    let said = |release, missing: MissingSymbol, tail: &str| {
        let path = libraries().release(release).display().to_string();
        let said = missing.to_string();
        assert!(said.starts_with(&format!("{} is not in {path}", missing.symbol)), "{said}");
        assert!(said.ends_with(&format!(": {tail}")), "{said}");
    };
    // SAFETY: a library made from the mock.
    let newest = unsafe { Table::load_from(libraries().release(Release::AfterCann9_1)) }.unwrap();
    said(Release::AfterCann9_1, newest.aclfvInit().unwrap_err(), "it is gone after CANN 9.0");
    // SAFETY: a library made from the mock.
    let oldest = unsafe { Table::load_from(libraries().release(Cann8_1)) }.unwrap();
    said(Cann8_1, oldest.aclnnAddV3().unwrap_err(), "it came after CANN 8.1");
    said(Cann8_1, oldest.aclmdlRIUpdate().unwrap_err(), "it came after CANN 9.0");
}
