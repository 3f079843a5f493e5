//! Profiles and dumps, as the mock writes them. One at a time in a process.

mod common;

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use common::assert_says;
use common::mock::{self, ModelFile};
use racl::profiling::{
    CoreMetrics, DumpOptions, DumpTensors, HostRange, ProfileData, ProfileOptions, ProfileSetting, Step,
};
use racl::{CaptureMode, Context, ErrorKind, op};
use serde_json::Value;

/// On a context of its own, with a folder for what is written.
fn alone(test: impl FnOnce(&Context, &Path)) {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let context = common::device().context().create_context().unwrap();
    let before = mock::live_handles().library_objects;
    test(&context, folder.path());
    mock::clear_failures();
    assert!(context.take_drop_errors().is_empty());
    assert_eq!(mock::live_handles().library_objects, before);
    context.close().unwrap();
}

/// Events of the only trace in `folder`: name, category and process; 0 is the host.
fn events(folder: &Path) -> Vec<(String, String, u64)> {
    let sessions: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    let text = fs::read_to_string(sessions[0].join("trace.json")).unwrap();
    let trace: Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] != "M");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    events.map(|event| (text(&event["name"]), text(&event["cat"]), event["pid"].as_u64().unwrap())).collect()
}

fn count(events: &[(String, String, u64)], name: &str, category: &str, process: u64) -> usize {
    events.iter().filter(|event| event.0 == name && event.1 == category && event.2 == process).count()
}

#[test]
fn a_profile_has_kernels_marks_ranges_and_steps() {
    alone(|context, folder| {
        let stream = context.stream().unwrap();
        let mut x = context.upload_tensor(&[1.0_f32, 2.0], [2]).unwrap();
        let acl = context.acl();
        let profile = acl.profile(&ProfileOptions::new(folder)).unwrap();
        assert!(acl.profile_mark("begun").unwrap());
        let range = acl.profile_range("whole").unwrap();
        assert!(range.is_recorded());
        let step = stream.begin_step().unwrap();
        let done = stream.marked("twice", |s| op::muls_inplace(s, &mut x, 2.0).map(|()| 7)).unwrap();
        assert_eq!(done, 7);
        step.end().unwrap();
        drop(stream.begin_step().unwrap());
        stream.synchronize().unwrap();
        // On another thread than it began on.
        assert!(std::thread::spawn(|| range.end().unwrap()).join().unwrap());
        drop(acl.profile_range("dropped").unwrap());
        profile.stop().unwrap();
        let events = events(folder);
        assert_eq!(count(&events, "begun", "mark", 0), 1, "{events:?}");
        assert_eq!(count(&events, "whole", "range", 0), 1);
        assert_eq!(count(&events, "dropped", "range", 0), 1);
        for mark in ["twice begin", "twice end"] {
            assert_eq!((count(&events, mark, "mark", 0), count(&events, mark, "mark", 1)), (1, 1), "{mark}");
        }
        for step in ["step 1 start", "step 1 end", "step 2 start", "step 2 end"] {
            assert_eq!(count(&events, step, "mark", 1), 1, "{step}");
        }
        assert!(events.iter().any(|event| event.0.contains("Muls") && event.2 == 1), "{events:?}");
        // In the order of the stream.
        let place = |name: &str| events.iter().position(|event| event.0.contains(name) && event.2 == 1).unwrap();
        assert!(place("twice begin") < place("Muls") && place("Muls") < place("twice end"));
    });
}

#[test]
fn marks_go_with_captured_graphs() {
    alone(|context, folder| {
        let stream = context.stream().unwrap();
        let mut x = context.upload_tensor(&[1.0_f32], [1]).unwrap();
        let profile = context.acl().profile(&ProfileOptions::new(folder)).unwrap();
        let mut graph = stream
            .capture(CaptureMode::ThreadLocal, |s| s.marked("layer", |s| op::adds_inplace(s, &mut x, 1.0)))
            .unwrap();
        for _ in 0..3 {
            graph.launch(&stream).unwrap();
        }
        stream.synchronize().unwrap();
        profile.stop().unwrap();
        assert_eq!(x.to_vec().unwrap(), [4.0]);
        let events = events(folder);
        for mark in ["layer begin", "layer end"] {
            // The host's is that of the capture.
            assert_eq!((count(&events, mark, "mark", 1), count(&events, mark, "mark", 0)), (3, 1), "{mark}");
        }
        // Captured while nothing recorded, a graph has none, and is a graph.
        let mut y = context.upload_tensor(&[1.0_f32], [1]).unwrap();
        let mut graph = stream
            .capture(CaptureMode::ThreadLocal, |s| s.marked("layer", |s| op::adds_inplace(s, &mut y, 1.0)))
            .unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(y.to_vec().unwrap(), [2.0]);
    });
}

#[test]
fn tools_of_mstx_are_told_beside_the_profile_and_with_captured_graphs() {
    alone(|context, folder| {
        let (acl, stream) = (context.acl(), context.stream().unwrap());
        let mut x = context.upload_tensor(&[1.0_f32], [1]).unwrap();
        let profile = acl.profile(&ProfileOptions::new(folder)).unwrap();
        assert!(acl.profile_mark("begun").unwrap());
        assert!(acl.profile_range("whole").and_then(HostRange::end).unwrap());
        drop(acl.profile_range("dropped").unwrap());
        assert!(stream.mark("now").unwrap());
        let mut graph = stream
            .capture(CaptureMode::ThreadLocal, |s| {
                s.mark("here")?;
                s.marked("layer", |s| op::adds_inplace(s, &mut x, 1.0))
            })
            .unwrap();
        for _ in 0..3 {
            graph.launch(&stream).unwrap();
        }
        let failed = stream.marked("broken", |_| context.alloc::<u8>(usize::MAX).map(drop));
        failed.unwrap_err();
        stream.synchronize().unwrap();
        profile.stop().unwrap();
        let events = events(folder);
        for (name, category, host, device) in [
            ("racl: begun", "mark", 1, 0),
            ("racl: whole", "range", 1, 0),
            ("racl: dropped", "range", 1, 0),
            ("racl: now", "mark", 1, 1),
            // The host's is that of the capture.
            ("racl: here", "mark", 1, 3),
            ("racl: layer", "range", 1, 3),
            ("racl: broken", "range", 1, 1),
        ] {
            let seen = (count(&events, name, category, 0), count(&events, name, category, 1));
            assert_eq!(seen, (host, device), "{name}: {events:?}");
        }
        assert_eq!(mock::calls("mstxDomainCreateA"), 1, "the domain is kept");
    });
}

/// Also in a capture, which ends without the range of the stream.
#[test]
fn a_range_for_tools_ends_where_its_work_panics() {
    alone(|context, folder| {
        let stream = context.stream().unwrap();
        let profile = context.acl().profile(&ProfileOptions::new(folder)).unwrap();
        let panics = || stream.marked("work", |_| -> racl::Result<()> { std::panic::resume_unwind(Box::new(())) });
        for ends in 1..=2 {
            let capture = (ends == 2).then(|| stream.begin_capture(CaptureMode::ThreadLocal).unwrap());
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).unwrap_err();
            assert_eq!(mock::calls("mstxDomainRangeEnd"), ends);
            drop(capture);
        }
        stream.synchronize().unwrap();
        profile.stop().unwrap();
    });
}

/// They have no codes: what is not told to tools changes nothing else.
#[test]
fn a_call_of_mstx_that_fails_takes_nothing_from_the_profile() {
    alone(|context, folder| {
        let (acl, stream) = (context.acl(), context.stream().unwrap());
        let profile = acl.profile(&ProfileOptions::new(folder)).unwrap();
        let fail = |call| mock::fail(call, 1, 507_000).unwrap();
        let ends = || mock::calls("mstxDomainRangeEnd");
        fail("mstxDomainCreateA");
        assert!(acl.profile_mark("no domain").unwrap());
        fail("mstxDomainMarkA");
        assert!(acl.profile_mark("untold").unwrap());
        fail("mstxDomainMarkA");
        assert!(stream.mark("untold too").unwrap());
        fail("mstxDomainRangeStartA");
        assert!(acl.profile_range("no range").and_then(HostRange::end).unwrap());
        fail("mstxDomainRangeStartA");
        assert_eq!(stream.marked("no work", |_| Ok(3)).unwrap(), 3);
        assert_eq!(ends(), 0, "nothing has begun");
        fail("mstxDomainRangeEnd");
        assert!(acl.profile_range("open").and_then(HostRange::end).unwrap());
        fail("mstxDomainRangeEnd");
        stream.marked("open too", |_| Ok(())).unwrap();
        assert_eq!(ends(), 2);
        stream.synchronize().unwrap();
        profile.stop().unwrap();
        let events = events(folder);
        assert!(!events.iter().any(|event| event.0.starts_with("racl: ")), "{events:?}");
        for (name, category) in [("no domain", "mark"), ("untold", "mark"), ("no range", "range"), ("open", "range")]
        {
            assert_eq!(count(&events, name, category, 0), 1, "{name}");
        }
        for mark in ["untold too", "no work begin", "no work end", "open too begin", "open too end"] {
            assert_eq!(count(&events, mark, "mark", 1), 1, "{mark}");
        }
    });
}

#[test]
fn nothing_is_recorded_where_nothing_records() {
    alone(|context, folder| {
        let (stream, acl) = (context.stream().unwrap(), context.acl());
        let recorded = || {
            let range = acl.profile_range("range").unwrap();
            assert!(!range.is_recorded());
            (acl.profile_mark("mark").unwrap(), stream.mark("mark").unwrap(), range.end().unwrap())
        };
        assert_eq!(recorded(), (false, false, false));
        let tasks_alone = ProfileOptions::new(folder).data(&[ProfileData::TaskTime]);
        let profile = acl.profile(&tasks_alone).unwrap();
        assert_eq!(recorded(), (false, false, false));
        profile.stop().unwrap();
        // What is no failure is none in reports either.
        let report = acl.report().to_string();
        assert!(!report.lines().any(|line| line.contains("aclprofMark") && line.contains("(-1)")), "{report}");
        stream.synchronize().unwrap();
    });
}

#[test]
fn a_range_ends_with_its_profile_at_the_latest() {
    alone(|context, folder| {
        let acl = context.acl();
        let stamps = || mock::calls("aclprofCreateStamp") - mock::calls("aclprofDestroyStamp");
        let profile = acl.profile(&ProfileOptions::new(folder.join("first"))).unwrap();
        let (open, dropped) = (acl.profile_range("open").unwrap(), acl.profile_range("dropped").unwrap());
        assert_eq!((stamps(), mock::calls("aclprofRangeStop")), (2, 0));
        profile.stop().unwrap();
        assert_eq!((stamps(), mock::calls("aclprofRangeStop")), (0, 2), "before the profile stops");
        let recorded = events(&folder.join("first"));
        assert_eq!((count(&recorded, "open", "range", 0), count(&recorded, "dropped", "range", 0)), (1, 1));
        // Another profile is none of theirs.
        let profile = acl.profile(&ProfileOptions::new(folder.join("second"))).unwrap();
        let own = acl.profile_range("own").unwrap();
        assert!(!open.end().unwrap());
        drop(dropped);
        assert_eq!((stamps(), mock::calls("aclprofRangeStop")), (1, 2));
        assert!(own.end().unwrap());
        profile.stop().unwrap();
    });
}

#[test]
fn the_error_of_marked_work_is_told_first() {
    alone(|context, folder| {
        let (acl, stream) = (context.acl(), context.stream().unwrap());
        let profile = acl.profile(&ProfileOptions::new(folder)).unwrap();
        mock::fail("aclprofMarkEx", 2, 507_000).unwrap();
        let refused = stream.marked("work", |_| context.alloc::<u8>(usize::MAX).map(drop)).unwrap_err();
        assert_ne!(refused.call(), Some("aclprofMarkEx"), "{refused}");
        mock::fail("aclprofMarkEx", 2, 507_000).unwrap();
        let refused = stream.marked("work", |_| Ok(())).unwrap_err();
        assert_eq!(refused.call(), Some("aclprofMarkEx"));
        profile.stop().unwrap();
    });
}

#[test]
fn messages_that_the_library_does_not_take_are_told() {
    alone(|context, _| {
        let (stream, acl) = (context.stream().unwrap(), context.acl());
        for text in ["", &"x".repeat(128)] {
            let says = format!("a mark of {} bytes", text.len());
            assert_says(&acl.profile_mark(text).unwrap_err(), ErrorKind::InvalidArgument, &[&says]);
            assert_says(&acl.profile_range(text).unwrap_err(), ErrorKind::InvalidArgument, &[&says]);
            assert_says(&stream.mark(text).unwrap_err(), ErrorKind::InvalidArgument, &[&says]);
        }
        assert_says(&stream.mark("a\0b").unwrap_err(), ErrorKind::InvalidArgument, &["zero byte"]);
        assert!(!stream.mark(&"x".repeat(127)).unwrap());
    });
}

#[test]
fn one_profile_a_process() {
    alone(|context, folder| {
        let acl = context.acl();
        let options = ProfileOptions::new(folder);
        let profile = acl.profile(&options).unwrap();
        let refused = acl.profile(&options).unwrap_err();
        assert_says(&refused, ErrorKind::AlreadyInitialized, &["a profile already"]);
        drop(profile);
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "a drop writes it");
        acl.profile(&options).unwrap().stop().unwrap();
        // Of other code in the process.
        let path = c"/tmp/of others";
        let init = acl.table().aclprofInit().unwrap();
        let finalize = acl.table().aclprofFinalize().unwrap();
        // SAFETY: a path with its length.
        assert_eq!(unsafe { init(path.as_ptr(), path.count_bytes()) }, 0);
        let refused = acl.profile(&options).unwrap_err();
        assert_says(&refused, ErrorKind::AlreadyInitialized, &["aclprofInit", "100002"]);
        // SAFETY: takes nothing.
        assert_eq!(unsafe { finalize() }, 0);
        acl.profile(&options).unwrap().stop().unwrap();
    });
}

#[test]
fn options_reach_the_library_and_wrong_ones_are_told() {
    alone(|context, folder| {
        let acl = context.acl();
        let metrics = [
            CoreMetrics::None,
            CoreMetrics::Arithmetic,
            CoreMetrics::Pipes,
            CoreMetrics::MemoryBandwidth,
            CoreMetrics::BufferBandwidth,
            CoreMetrics::Conflicts,
            CoreMetrics::UnifiedBuffer,
            CoreMetrics::L2Cache,
            CoreMetrics::PipeExecution,
            CoreMetrics::MemoryAccess,
        ];
        for metrics in metrics {
            let all = [
                ProfileData::TaskTime,
                ProfileData::TaskTimeBrief,
                ProfileData::Calls,
                ProfileData::RuntimeCalls,
                ProfileData::CoreMetrics,
                ProfileData::CpuOperators,
                ProfileData::L2Cache,
                ProfileData::Communication,
                ProfileData::Training,
                ProfileData::Marks,
                ProfileData::TaskMemory,
                ProfileData::OperatorAttributes,
            ];
            let options = ProfileOptions::new(folder).metrics(metrics).data(&all);
            let options = options.setting(ProfileSetting::StorageLimit, "200MB");
            acl.profile(&options).unwrap().stop().unwrap();
        }
        assert_eq!(mock::calls("aclprofSetConfig"), 10);
        let base = || ProfileOptions::new(folder);
        for (options, says) in [
            (base().devices(&[9]), "aclprofCreateConfig"),
            (base().devices(&[0, 0]), "aclprofCreateConfig"),
            (base().devices(&[]).data(&[ProfileData::TaskTime]), "a profile of no devices"),
            (base().devices(&[]), "a profile of no devices"),
            (base().data(&[]), "aclprofStart"),
            (base().setting(ProfileSetting::Host, ""), "aclprofSetConfig"),
            (base().setting(ProfileSetting::Host, "c\0pu"), "zero byte"),
            (ProfileOptions::new("a\0b"), "zero byte"),
            (ProfileOptions::new(""), "aclprofInit"),
        ] {
            assert_says(&acl.profile(&options).unwrap_err(), ErrorKind::InvalidArgument, &[says]);
        }
        let below = ProfileOptions::new(folder.join("none/below"));
        assert_eq!(acl.profile(&below).unwrap_err().kind(), ErrorKind::File);
        // Nothing of them is left.
        acl.profile(&base()).unwrap().stop().unwrap();
        acl.profile(&base().devices(&[]).data(&[ProfileData::Marks])).unwrap().stop().unwrap();
    });
}

#[test]
fn each_call_of_a_profile_that_fails_is_told_and_leaves_none() {
    alone(|context, folder| {
        let (acl, stream) = (context.acl(), context.stream().unwrap());
        let options = ProfileOptions::new(folder).setting(ProfileSetting::Host, "cpu");
        let begin = ["aclprofInit", "aclprofSetConfig", "aclprofCreateConfig", "aclprofStart"];
        let end = ["aclprofStop", "aclprofDestroyConfig", "aclprofFinalize"];
        for call in begin.into_iter().chain(end) {
            mock::fail(call, 1, 507_000).unwrap();
            let told = acl.profile(&options).and_then(|profile| Ok(profile.stop()?)).unwrap_err();
            assert!(told.to_string().starts_with(call), "{told}");
            mock::clear_failures();
            // What the failed call was to end the drop has ended: another profile is there at once.
            acl.profile(&options).unwrap().stop().unwrap();
        }
        let profile = acl.profile(&options).unwrap();
        for call in ["aclprofSetStampTraceMessage", "aclprofMark"] {
            mock::fail(call, 1, 507_000).unwrap();
            assert_eq!(acl.profile_mark("x").unwrap_err().call(), Some(call));
        }
        // It gives no stamp then, as where nothing records any.
        mock::fail("aclprofCreateStamp", 1, 507_000).unwrap();
        assert!(!acl.profile_mark("x").unwrap());
        mock::fail("aclprofRangeStart", 1, 507_000).unwrap();
        assert_eq!(acl.profile_range("x").unwrap_err().call(), Some("aclprofRangeStart"));
        mock::fail("aclprofRangeStop", 1, 507_000).unwrap();
        assert_eq!(acl.profile_range("x").and_then(HostRange::end).unwrap_err().call(), Some("aclprofRangeStop"));
        mock::fail("aclprofMarkEx", 1, 507_000).unwrap();
        assert_eq!(stream.mark("x").unwrap_err().call(), Some("aclprofMarkEx"));
        mock::fail("aclprofCreateStepInfo", 1, 507_000).unwrap();
        assert_eq!(stream.begin_step().unwrap_err().call(), Some("aclprofCreateStepInfo"));
        for nth in [1, 2] {
            mock::fail("aclprofGetStepTimestamp", nth, 507_000).unwrap();
            let told = stream.begin_step().and_then(Step::end).unwrap_err();
            assert_eq!(told.call(), Some("aclprofGetStepTimestamp"));
            mock::clear_failures();
        }
        stream.synchronize().unwrap();
        profile.stop().unwrap();
    });
}

#[test]
fn a_profile_that_could_not_be_stopped_comes_back() {
    alone(|context, folder| {
        let (acl, options) = (context.acl(), ProfileOptions::new(folder));
        for call in ["aclprofStop", "aclprofDestroyConfig", "aclprofFinalize"] {
            let profile = acl.profile(&options).unwrap();
            mock::fail(call, 1, 507_000).unwrap();
            let refused = profile.stop().unwrap_err();
            assert_says(refused.error(), ErrorKind::Internal, &[call]);
            assert_says(&acl.profile(&options).unwrap_err(), ErrorKind::AlreadyInitialized, &["a profile already"]);
            refused.into_value().stop().unwrap();
        }
        acl.profile(&options).unwrap().stop().unwrap();
    });
}

/// The numbers of a NumPy file of f32.
fn numbers(path: &Path) -> Vec<f32> {
    numbers_of(&fs::read(path).unwrap())
}

fn numbers_of(bytes: &[u8]) -> Vec<f32> {
    assert_eq!(&bytes[..6], b"\x93NUMPY");
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[start..].chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_dump_has_what_operators_read_and_wrote() {
    alone(|context, folder| {
        let (acl, stream) = (context.acl(), context.stream().unwrap());
        let x = context.upload_tensor(&[1.0_f32, -2.0], [2]).unwrap();
        let mut y = context.zeros::<f32>([2]).unwrap();
        let dump = acl.dump(&DumpOptions::new(folder).tensors(DumpTensors::All)).unwrap();
        op::abs(&stream, &x, &mut y).unwrap();
        stream.synchronize().unwrap();
        dump.stop().unwrap();
        op::abs(&stream, &x, &mut y).unwrap();
        stream.synchronize().unwrap();
        let names = names(folder);
        assert_eq!(names, ["000000.aclnnAbs.input.0.npy", "000000.aclnnAbs.output.0.npy"]);
        assert_eq!(numbers(&folder.join(&names[0])), [1.0, -2.0]);
        assert_eq!(numbers(&folder.join(&names[1])), [1.0, 2.0]);
    });
}

#[test]
fn operators_of_models_and_graphs_are_dumped_too() {
    alone(|context, folder| {
        let stream = context.stream().unwrap();
        let model = context.load_model_bytes(ModelFile::example()).unwrap();
        let x = context.upload_tensor(&[1.0_f32, 2.0, 3.0], [1, 3]).unwrap();
        let mut y = context.zeros::<f32>([1, 3]).unwrap();
        let mut graph =
            stream.capture(CaptureMode::ThreadLocal, |s| op::adds_inplace(s, &mut y.clone(), 1.0)).unwrap();
        let options = DumpOptions::new(folder).tensors(DumpTensors::Outputs).model("example", &[]);
        let dump = context.acl().dump(&options).unwrap();
        model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().submit(&stream).unwrap();
        graph.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        drop(dump);
        let outputs: Vec<_> = names(folder).iter().map(|name| numbers(&folder.join(name))).collect();
        assert_eq!(outputs, [[2.0, 4.0, 6.0], [3.0, 5.0, 7.0]]);
    });
}

#[test]
fn a_function_gets_what_the_files_would_hold() {
    alone(|context, folder| {
        let (acl, stream) = (context.acl(), context.stream().unwrap());
        let big = vec![0.5_f32; 400_000];
        let (x, mut y) = (context.upload_tensor(&big, [big.len()]).unwrap(), context.zeros([big.len()]).unwrap());
        let parts = Arc::new(Mutex::new(Vec::new()));
        let to = Arc::clone(&parts);
        let options = DumpOptions::new(folder).tensors(DumpTensors::Outputs);
        let dump = acl
            .dump_to(&options, move |part| {
                let part = (part.file.to_owned(), part.offset, part.bytes.to_vec(), part.is_last);
                to.lock().unwrap().push(part);
            })
            .unwrap();
        op::adds(&stream, &x, 1.0, &mut y).unwrap();
        stream.synchronize().unwrap();
        dump.stop().unwrap();
        assert_eq!(Arc::strong_count(&parts), 1, "the function went with the dump");
        let parts = parts.lock().unwrap();
        assert!(parts.len() >= 2 && parts.iter().all(|part| part.0.contains("aclnnAdds.output.0")));
        let mut whole = Vec::new();
        for (index, (_, offset, bytes, is_last)) in parts.iter().enumerate() {
            assert_eq!((*offset, *is_last), (Some(whole.len() as u64), index + 1 == parts.len()));
            whole.extend(bytes);
        }
        assert_eq!(numbers_of(&whole), vec![1.5; 400_000]);
        assert!(names(folder).is_empty(), "nothing went to files");
    });
}

#[test]
fn a_function_that_panics_is_told_at_the_end() {
    alone(|context, folder| {
        let (acl, stream) = (context.acl(), context.stream().unwrap());
        let mut x = context.upload_tensor(&[1.0_f32], [1]).unwrap();
        let options = DumpOptions::new(folder);
        let dump = acl.dump_to(&options, |_| panic!("of the test")).unwrap();
        op::adds_inplace(&stream, &mut x, 1.0).unwrap();
        stream.synchronize().unwrap();
        assert_says(
            dump.stop().unwrap_err().error(),
            ErrorKind::CallbackPanicked,
            &["the function that a dump goes to"],
        );
        assert_eq!(x.to_vec().unwrap(), [2.0]);
        acl.dump(&options).unwrap().stop().unwrap();
    });
}

/// Panics when it goes.
struct Breaks;

impl Drop for Breaks {
    fn drop(&mut self) {
        panic!("of the test");
    }
}

#[test]
fn a_function_whose_end_panics_is_told_too() {
    alone(|context, folder| {
        let (acl, stream) = (context.acl(), context.stream().unwrap());
        let mut x = context.upload_tensor(&[1.0_f32], [1]).unwrap();
        let (options, breaks) = (DumpOptions::new(folder), Breaks);
        let dump = acl.dump_to(&options, move |_| assert!(size_of_val(&breaks) == 0)).unwrap();
        op::adds_inplace(&stream, &mut x, 1.0).unwrap();
        stream.synchronize().unwrap();
        assert_says(
            dump.stop().unwrap_err().error(),
            ErrorKind::CallbackPanicked,
            &["the function that a dump goes to"],
        );
        acl.dump(&options).unwrap().stop().unwrap();
    });
}

#[test]
fn one_dump_a_process_and_each_failure_is_told() {
    alone(|context, folder| {
        let acl = context.acl();
        let options = DumpOptions::new(folder);
        let dump = acl.dump(&options).unwrap();
        let refused = acl.dump(&options).unwrap_err();
        assert_says(&refused, ErrorKind::AlreadyInitialized, &["a dump already"]);
        drop(dump);
        let missing = DumpOptions::new(folder.join("none"));
        assert_says(&acl.dump(&missing).unwrap_err(), ErrorKind::File, &["/none", "is not there"]);
        for call in ["aclmdlInitDump", "aclmdlSetDump", "acldumpRegCallback"] {
            mock::fail(call, 1, 507_000).unwrap();
            let told = acl.dump_to(&options, |_| ()).unwrap_err();
            assert_eq!(told.call(), Some(call));
            acl.dump(&options).unwrap().stop().unwrap();
        }
        mock::fail("aclmdlFinalizeDump", 1, 507_000).unwrap();
        let refused = acl.dump(&options).unwrap().stop().unwrap_err();
        assert_eq!(refused.error().call(), Some("aclmdlFinalizeDump"));
        assert_says(&acl.dump(&options).unwrap_err(), ErrorKind::AlreadyInitialized, &["a dump already"]);
        refused.into_value().stop().unwrap();
        acl.dump(&options).unwrap().stop().unwrap();
    });
}
