//! What is in a graph.

use std::panic::{AssertUnwindSafe, catch_unwind};

use racl::{CaptureMode, ErrorKind, GraphTask, TaskWork, ValueWait, op};

use crate::common::{assert_says, mock};
use crate::{alone, build};

fn kinds(tasks: &[GraphTask]) -> Vec<&'static str> {
    let kind = |task: &GraphTask| match task.work() {
        TaskWork::Kernel(_) => "kernel",
        TaskWork::EventRecord(_) => "record",
        TaskWork::EventWait(_) => "wait",
        TaskWork::EventReset(_) => "reset",
        TaskWork::ValueWrite { .. } => "value",
        TaskWork::ValueWait { .. } => "value wait",
        TaskWork::Other => "other",
        _ => "?",
    };
    tasks.iter().map(kind).collect()
}

#[test]
fn the_tasks_of_a_capture_are_told_with_their_parameters() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut x = context.upload_tensor(&[1.0_f32, 2.0], [2]).unwrap();
        let (flag, event) = (context.flag(0).unwrap(), context.event().unwrap());
        let graph = stream
            .capture(CaptureMode::ThreadLocal, |s| {
                let side = s.side("1")?;
                s.write_value(&flag, 7)?;
                event.record(s)?;
                side.wait(&event)?;
                side.wait_value(&flag, ValueWait::And(6))?;
                op::muls_inplace(s, &mut x, 2.0)?;
                s.join(&side)?;
                s.fill_bytes(&mut x.buffer()?.slice(..1)?, 0)
            })
            .unwrap();
        let tasks = graph.tasks().unwrap();
        assert_eq!(graph.stream_count().unwrap(), 2);
        // The origin comes last, and resets what was recorded at its end.
        let (side, origin): (Vec<_>, Vec<_>) = tasks.iter().cloned().partition(|task| task.stream() == 0);
        assert_eq!(kinds(&side), ["wait", "value wait", "record"]);
        assert_eq!(kinds(&origin), ["value", "record", "kernel", "wait", "other", "reset", "reset"]);
        let address = flag.address();
        assert_eq!(origin[0].work(), TaskWork::ValueWrite { address, value: 7 });
        assert_eq!(side[1].work(), TaskWork::ValueWait { address, until: ValueWait::And(6) });
        let TaskWork::EventRecord(record) = origin[1].work() else { panic!("{:?}", origin[1]) };
        let TaskWork::EventWait(wait) = side[0].work() else { panic!("{:?}", side[0]) };
        assert_eq!((record.event, wait.event), (event.as_raw(), event.as_raw()));
        let numbers: Vec<_> = origin[..5].iter().chain(&side).map(GraphTask::number).collect();
        assert!(numbers.iter().enumerate().all(|(at, number)| !numbers[..at].contains(number)), "{numbers:?}");
    });
}

#[test]
fn the_tasks_of_a_built_graph_are_told_too() {
    alone(|context| {
        let flag = context.flag(0).unwrap();
        let graph = build(context, |builder, first| {
            let side = builder.stream("side")?;
            first.start(&side)?;
            side.write_value(&flag, 2)
        })
        .unwrap();
        let tasks = graph.tasks().unwrap();
        // The number that tells of the end is cleared, written and waited for.
        assert_eq!(kinds(&tasks), ["value", "other", "value wait", "value", "value"]);
        assert_eq!(tasks.iter().map(GraphTask::stream).collect::<Vec<_>>(), [0, 0, 0, 1, 1]);
        assert_eq!(tasks[3].work(), TaskWork::ValueWrite { address: flag.address(), value: 2 });
    });
}

#[test]
fn a_capture_whose_group_panicked_gives_no_graph() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut x = context.zeros::<f32>([2]).unwrap();
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _ = stream.task_group(|s| {
                op::muls_inplace(s, &mut x, 2.0)?;
                panic!("on purpose")
            });
        }));
        assert!(caught.is_err());
        let parts = ["task group at tests/graphs/tasks.rs:", "its work panicked"];
        assert_says(&capture.finish().unwrap_err(), ErrorKind::CaptureInvalidated, &parts);
        stream.capture(CaptureMode::ThreadLocal, |s| op::muls_inplace(s, &mut x, 2.0)).unwrap();
    });
}

/// Records a group, inside which `end` ends the capture; another capture of the same stream has groups again.
fn ended_inside(mode: CaptureMode, end: impl Fn(racl::Capture) -> racl::Result<()>) {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut x = context.upload_tensor(&[1.0_f32, 2.0], [2]).unwrap();
        let mut capture = Some(stream.begin_capture(mode).unwrap());
        let group = stream.task_group(|s| {
            op::muls_inplace(s, &mut x, 2.0)?;
            end(capture.take().unwrap())?;
            assert!(!s.is_capturing());
            Ok(())
        });
        assert_says(&group.unwrap_err(), ErrorKind::CaptureInvalidated, &["the capture ended inside the task group"]);
        let capture = stream.begin_capture(mode).unwrap();
        let group = stream.task_group(|s| op::muls_inplace(s, &mut x, 2.0)).unwrap();
        let mut graph = capture.finish().unwrap();
        graph.update(&group, |s| op::muls_inplace(s, &mut x, 5.0)).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(x.to_vec().unwrap(), [5.0, 10.0]);
    });
}

#[test]
fn a_capture_that_is_finished_inside_its_group_gives_no_graph_and_leaves_the_stream_whole() {
    ended_inside(CaptureMode::ThreadLocal, |capture| {
        let error = capture.finish().unwrap_err();
        let parts = ["the capture ended inside the task group at tests/graphs/tasks.rs:"];
        assert_says(&error, ErrorKind::CaptureInvalidated, &parts);
        Ok(())
    });
}

#[test]
fn a_capture_that_is_given_up_inside_its_group_leaves_the_stream_whole() {
    ended_inside(CaptureMode::ThreadLocal, |capture| {
        drop(capture);
        Ok(())
    });
    ended_inside(CaptureMode::Relaxed, |capture| {
        let capture = capture.detach();
        std::thread::spawn(move || drop(capture)).join().unwrap();
        Ok(())
    });
}

#[test]
fn a_group_in_a_new_capture_is_not_ended_with_the_one_around_it() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut x = context.upload_tensor(&[1.0_f32], [1]).unwrap();
        let mut capture = Some(stream.begin_capture(CaptureMode::ThreadLocal).unwrap());
        let mut inner = None;
        let outer = stream.task_group(|s| {
            drop(capture.take());
            let capture = s.begin_capture(CaptureMode::ThreadLocal)?;
            let group = s.task_group(|s| op::muls_inplace(s, &mut x, 2.0))?;
            inner = Some((capture.finish()?, group));
            Ok(())
        });
        assert_eq!(outer.unwrap_err().kind(), ErrorKind::CaptureInvalidated);
        let (mut graph, group) = inner.unwrap();
        graph.update(&group, |s| op::muls_inplace(s, &mut x, 3.0)).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(x.to_vec().unwrap(), [3.0]);
    });
}

#[test]
fn an_operator_of_another_kind_is_refused_by_an_update_and_the_right_ones_are_taken_then() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut x = context.upload_tensor(&[3.0_f32], [1]).unwrap();
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        let record = |s: &racl::Stream, x: &mut racl::Tensor<f32>, by: f32| {
            op::muls_inplace(s, x, by)?;
            op::adds_inplace(s, x, by)
        };
        let group = stream.task_group(|s| record(s, &mut x, 2.0)).unwrap();
        let mut graph = capture.finish().unwrap();
        // As many tensors, and the order alone is another one.
        let mut passed = None;
        let error = graph.update(&group, |s| {
            passed = op::adds_inplace(s, &mut x, 2.0).err();
            Ok(())
        });
        let parts = ["inplace_adds in the place of inplace_muls", "number 0 of the group"];
        assert_says(&passed.unwrap(), ErrorKind::InvalidArgument, &parts);
        assert_says(&error.unwrap_err(), ErrorKind::InvalidArgument, &["replaced nothing", parts[0]]);
        // Nothing of the group was replaced.
        graph.launch(&stream).unwrap();
        assert_eq!(x.to_vec().unwrap(), [8.0]);
        graph.update(&group, |s| record(s, &mut x, 10.0)).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(x.to_vec().unwrap(), [90.0]);
    });
}

#[test]
fn tasks_of_groups_know_theirs() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut x = context.upload_tensor(&[1.0_f32], [1]).unwrap();
        let mut make = || {
            let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
            op::muls_inplace(&stream, &mut x, 2.0).unwrap();
            let group = stream.task_group(|s| op::adds_inplace(s, &mut x, 2.0)).unwrap();
            (capture.finish().unwrap(), group)
        };
        let ((one, group), (other, _)) = (make(), make());
        let inside = |graph: &racl::Graph| {
            let tasks = graph.tasks().unwrap().into_iter();
            tasks.filter(|task| matches!(task.work(), TaskWork::Kernel(_))).map(|task| task.is_in(&group)).collect()
        };
        let (own, others): (Vec<_>, Vec<_>) = (inside(&one), inside(&other));
        assert_eq!(own, [false, true]);
        assert_eq!(others, [false, false]);
    });
}

#[test]
fn names_are_kept_whole_or_refused() {
    alone(|context| {
        let mut graph = build(context, |_, _| Ok(())).unwrap();
        assert_eq!(graph.name().unwrap(), "");
        for name in ["decode", "", "größer", &"x".repeat(512)] {
            graph.set_name(name).unwrap();
            assert_eq!(graph.name().unwrap(), name);
        }
        assert_says(&graph.set_name(&"x".repeat(513)).unwrap_err(), ErrorKind::InvalidArgument, &["513 bytes"]);
        assert_says(&graph.set_name("a\0b").unwrap_err(), ErrorKind::InvalidArgument, &["zero byte"]);
        assert_eq!(graph.name().unwrap().len(), 512);
        let other = build(context, |_, _| Ok(())).unwrap();
        assert_ne!(graph.id().unwrap(), other.id().unwrap());
        graph.log().unwrap();
        for (name, call) in [
            ("aclmdlRISetName", (|graph| graph.set_name("x")) as fn(&mut racl::Graph) -> racl::Result<()>),
            ("aclmdlRIGetName", |graph| graph.name().map(drop)),
            ("aclmdlRIGetId", |graph| graph.id().map(drop)),
            ("aclmdlRIDebugPrint", |graph| graph.log()),
            ("aclmdlRIGetStreams", |graph| graph.stream_count().map(drop)),
        ] {
            mock::fail(name, 1, 207_000).unwrap();
            assert_says(&call(&mut graph).unwrap_err(), ErrorKind::NotSupported, &[name, "207000"]);
        }
    });
}

#[test]
fn each_call_that_looks_and_fails_is_told() {
    alone(|context| {
        let graph = build(context, |_, first| first.write_value(&context.flag(0)?, 1)).unwrap();
        let names = [
            "aclmdlRIGetStreams",
            "aclmdlRIGetTasksByStream",
            "aclmdlRITaskGetSeqId",
            "aclmdlRITaskGetType",
            "aclmdlRITaskGetParams",
        ];
        for name in names {
            let before = mock::calls(name);
            assert_eq!(graph.tasks().unwrap().len(), 1);
            for nth in 1..=mock::calls(name) - before {
                mock::fail(name, nth, 207_000).unwrap();
                assert_says(&graph.tasks().unwrap_err(), ErrorKind::NotSupported, &[name]);
            }
        }
    });
}

#[test]
fn the_stream_of_an_update_that_is_over_captures_nothing() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut x = context.upload_tensor(&[1_f32; 4], [4]).unwrap();
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        let group = stream.task_group(|s| op::muls_inplace(s, &mut x, 2.0)).unwrap();
        let mut graph = capture.finish().unwrap();
        let mut kept = None;
        let work = |s: &racl::Stream| {
            kept = Some(s.clone());
            op::muls_inplace(s, &mut x, 5.0)
        };
        graph.update(&group, work).unwrap();
        let error = kept.unwrap().begin_capture(CaptureMode::ThreadLocal).unwrap_err();
        assert_says(&error, ErrorKind::InvalidHandle, &["capture", "an update of a graph, which is over"]);
    });
}

#[test]
fn a_group_of_nothing_is_whole_again_after_an_update_of_nothing() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut x = context.zeros::<f32>([4]).unwrap();
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        let group = stream.task_group(|_| Ok(())).unwrap();
        op::adds_inplace(&stream, &mut x, 1.0).unwrap();
        let mut graph = capture.finish().unwrap();
        graph.update(&group, |s| op::adds_inplace(s, &mut x.clone(), 1.0)).unwrap_err();
        assert_says(&graph.launch(&stream).unwrap_err(), ErrorKind::GraphRunning, &["update it again"]);
        graph.update(&group, |_| Ok(())).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(x.to_vec().unwrap(), [1.0; 4]);
    });
}
