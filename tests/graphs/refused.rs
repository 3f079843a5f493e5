//! What is wrong with a graph that is built by hand is said where it happens, and leaves no graph.

use racl::{CaptureMode, Comparison, Context, ErrorKind, GraphBuilder, LabelList, Prefetch, Result, Stream};

use crate::common::{assert_says, mock};
use crate::{alone, build};

/// That `work` is refused so, and that the builder gives no graph then, which says it again.
#[track_caller]
fn refused(
    context: &Context,
    kind: ErrorKind,
    parts: &[&str],
    work: impl FnOnce(&mut GraphBuilder, &Stream) -> Result<()>,
) {
    let mut builder = context.build_graph().unwrap();
    let first = builder.first().clone();
    let error = work(&mut builder, &first).unwrap_err();
    assert_says(&error, kind, parts);
    assert_says(&builder.finish().unwrap_err(), ErrorKind::CaptureInvalidated, parts);
}

/// That such a graph is refused when it is finished.
#[track_caller]
fn never(context: &Context, part: &str, work: impl FnOnce(&mut GraphBuilder, &Stream) -> Result<()>) {
    assert_says(&build(context, work).unwrap_err(), ErrorKind::InvalidArgument, &[part]);
}

#[test]
fn what_only_captures_have_is_refused_before_the_library_sees_it() {
    alone(|context| {
        let (stream, event) = (context.stream().unwrap(), context.event().unwrap());
        let latch = context.external_event().unwrap();
        let calls = || {
            [
                "aclrtRecordEvent",
                "aclrtResetEvent",
                "aclrtStreamWaitEvent",
                "aclrtStreamWaitEventWithTimeout",
                "aclmdlRICondHandleCreate",
                "aclmdlRICaptureTaskGrpBegin",
            ]
            .map(mock::calls)
        };
        let before = calls();
        let by_hand = ["in a graph that is built by hand"];
        refused(context, ErrorKind::NotSupported, &by_hand, |_, first| event.record(first));
        let external = ["an external event in a graph that is built by hand"];
        refused(context, ErrorKind::NotSupported, &external, |_, first| latch.record(first));
        refused(context, ErrorKind::NotSupported, &external, |_, first| latch.reset(first));
        refused(context, ErrorKind::NotSupported, &external, |_, first| first.wait_external(&latch, None));
        let limit = Some(std::time::Duration::from_secs(1));
        refused(context, ErrorKind::NotSupported, &external, |_, first| first.wait_external(&latch, limit));
        refused(context, ErrorKind::NotSupported, &by_hand, |_, first| first.condition(None).map(drop));
        refused(context, ErrorKind::NotSupported, &by_hand, |_, first| first.task_group(|_| Ok(())).map(drop));
        refused(context, ErrorKind::NotSupported, &by_hand, |_, first| first.fork(&stream));
        assert_eq!(calls(), before);
        event.record(&stream).unwrap();
        let before = mock::calls("aclrtStreamWaitEvent");
        refused(context, ErrorKind::NotSupported, &by_hand, |_, first| first.wait(&event));
        refused(context, ErrorKind::NotSupported, &by_hand, |_, first| first.join(&stream));
        assert_eq!(mock::calls("aclrtStreamWaitEvent"), before);
        // By the library.
        let weights = context.alloc::<u8>(1024).unwrap();
        refused(context, ErrorKind::NotSupported, &["207000"], |_, first| {
            first.prefetch(&weights, Prefetch::all()).map(drop)
        });
        latch.close().unwrap();
        let builder = context.build_graph().unwrap();
        let error = builder.first().side("1").unwrap_err();
        assert_says(&error, ErrorKind::NotSupported, &by_hand);
    });
}

#[test]
fn its_streams_do_not_run_and_capture_nothing() {
    alone(|context| {
        let mut builder = context.build_graph().unwrap();
        let (first, side) = (builder.first().clone(), builder.stream("side").unwrap());
        first.start(&side).unwrap();
        let refused = |stream: &Stream| {
            let what = ["stream \"", "built by hand", "wait for the graph"];
            let forbidden = ErrorKind::CaptureForbidden;
            assert_says(&stream.synchronize().unwrap_err(), forbidden, &what);
            let limit = std::time::Duration::from_secs(1);
            assert_says(&stream.synchronize_timeout(limit).unwrap_err(), forbidden, &what);
            assert_says(&stream.is_complete().unwrap_err(), forbidden, &what);
            assert_says(&stream.abort().unwrap_err(), forbidden, &what);
            assert_says(&stream.begin_capture(CaptureMode::Relaxed).unwrap_err(), forbidden, &what);
        };
        [&first, &side].into_iter().for_each(refused);
        assert!(first.is_capturing());
        let mut graph = builder.finish().unwrap();
        [&first, &side].into_iter().for_each(refused);
        assert!(!first.is_capturing());
        let error = graph.launch(&side).unwrap_err();
        assert_says(&error, ErrorKind::InvalidHandle, &["graph launch", "complete"]);
        let (_, error) = side.into_raw().unwrap_err().into_parts();
        assert_eq!(error.kind(), ErrorKind::NotSupported);
        let (_, error) = first.close().unwrap_err().into_parts();
        assert_says(&error, ErrorKind::InvalidArgument, &["stream \"first\""]);
        let stream = context.stream().unwrap();
        graph.launch(&stream).unwrap();
        graph.wait().unwrap();
    });
}

#[test]
fn nothing_is_added_to_a_graph_that_is_there_or_was_given_up() {
    alone(|context| {
        let mut x = context.upload(&[0_u8; 4]).unwrap();
        let (notify, label) = (context.notify().unwrap(), context.label().unwrap());
        let mut late = |first: &Stream| {
            assert_eq!(first.fill_bytes(&mut x, 1).unwrap_err().kind(), ErrorKind::InvalidHandle);
            assert_eq!(notify.record(first).unwrap_err().kind(), ErrorKind::InvalidHandle);
            assert_eq!(first.host_function(|| ()).unwrap_err().kind(), ErrorKind::InvalidHandle);
            assert_eq!(first.set_label(&label).unwrap_err().kind(), ErrorKind::NotCapturing);
            assert_eq!(first.jump(&label).unwrap_err().kind(), ErrorKind::NotCapturing);
            assert!(first.upload(first.context().pinned_from(&[1_u8; 4]).unwrap(), &mut x).is_err());
            let event = first.context().event().unwrap();
            assert_eq!(event.record(first).unwrap_err().kind(), ErrorKind::InvalidHandle);
        };
        let builder = context.build_graph().unwrap();
        let first = builder.first().clone();
        let graph = builder.finish().unwrap();
        late(&first);
        drop(graph);
        late(&first);
        first.close().unwrap();

        let builder = context.build_graph().unwrap();
        let first = builder.first().clone();
        drop(builder);
        late(&first);
        drop(first);
        assert_eq!(x.to_vec().unwrap(), [0; 4]);
    });
}

#[test]
fn streams_are_started_once_from_the_first_one_on() {
    alone(|context| {
        let invalid = ErrorKind::InvalidArgument;
        refused(context, invalid, &["which is itself"], |_, first| first.start(first));
        refused(context, invalid, &["\"side\" starts \"first\"", "starts with the graph"], |builder, first| {
            builder.stream("side")?.start(first)
        });
        refused(context, invalid, &["started elsewhere"], |builder, first| {
            let side = builder.stream("side")?;
            first.start(&side)?;
            first.start(&side)
        });
        refused(context, invalid, &["was not started itself"], |builder, _| {
            builder.stream("one")?.start(&builder.stream("other")?)
        });
        refused(context, invalid, &["before those"], |builder, first| {
            first.set_label(&context.label()?)?;
            first.start(&builder.stream("side")?)
        });
        refused(context, invalid, &["a switch leads to"], |builder, first| {
            let (side, number) = (builder.stream("side")?, context.upload(&[0_i32])?);
            let other = builder.stream("other")?;
            first.start(&other)?;
            first.switch_if(&number, Comparison::Equal, &number, &side)?;
            other.start(&side)
        });
        refused(context, invalid, &["starts by itself"], |builder, first| {
            let (side, number) = (builder.stream("side")?, context.upload(&[0_i32])?);
            first.start(&side)?;
            side.switch_if(&number, Comparison::Equal, &number, first)
        });
    });
}

#[test]
fn streams_of_other_graphs_are_refused() {
    alone(|context| {
        let (stream, number) = (context.stream().unwrap(), context.upload(&[0_i32]).unwrap());
        let other = context.build_graph().unwrap();
        let elsewhere = ["not one of this graph"];
        for stream in [other.first(), &stream] {
            refused(context, ErrorKind::InvalidArgument, &elsewhere, |_, first| first.start(stream));
            refused(context, ErrorKind::InvalidArgument, &elsewhere, |_, first| {
                first.switch_if(&number, Comparison::Equal, &number, stream)
            });
        }
        let label = context.label().unwrap();
        for error in [
            stream.start(other.first()).unwrap_err(),
            stream.set_label(&label).unwrap_err(),
            stream.jump(&label).unwrap_err(),
            stream.switch_if(&number, Comparison::Equal, &number, other.first()).unwrap_err(),
        ] {
            assert_says(&error, ErrorKind::NotCapturing, &["built by hand"]);
        }
        // A stream that captures is none of a built graph either.
        let capture = stream.begin_capture(CaptureMode::Relaxed).unwrap();
        assert_eq!(stream.set_label(&label).unwrap_err().kind(), ErrorKind::NotCapturing);
        capture.finish().unwrap();
        other.finish().unwrap();
    });
}

#[test]
fn labels_and_memory_of_elsewhere_are_refused() {
    alone(|context| {
        let beside = context.create_context().unwrap();
        let foreign = beside.label().unwrap();
        let list = LabelList::new([&foreign]).unwrap();
        let index = context.upload(&[0_u32]).unwrap();
        let invalid = ErrorKind::InvalidArgument;
        refused(context, invalid, &["label of another context"], |_, first| first.set_label(&foreign));
        refused(context, invalid, &["labels of another context"], |_, first| first.jump(&foreign));
        refused(context, invalid, &["labels of another context"], |_, first| first.jump_by(&list, &index));
        let own = context.label().unwrap();
        assert_says(&LabelList::new([&own, &foreign]).unwrap_err(), invalid, &["several contexts"]);
        assert_says(&LabelList::new([]).unwrap_err(), invalid, &["0 labels"]);
        assert_says(&LabelList::new((0..65_536).map(|_| &own)).unwrap_err(), invalid, &["65536 labels"]);
        let mine = LabelList::new([&own]).unwrap();
        refused(context, invalid, &["by no number"], |_, first| first.jump_by(&mine, &index.slice(..0)?));
        let number = context.upload(&[0_i64]).unwrap();
        let none = number.slice(..0).unwrap();
        refused(context, invalid, &["by no number"], |builder, first| {
            first.switch_if(&number, Comparison::Equal, &none, &builder.stream("side")?)
        });
        let pool = racl::GraphPool::new(&beside);
        assert_eq!(context.build_graph_in(&pool).unwrap_err().kind(), invalid);
        drop((foreign, list, own, mine, pool));
        beside.close().unwrap();
    });
}

#[test]
fn a_label_stands_in_one_place_for_good() {
    alone(|context| {
        let label = context.label().unwrap();
        refused(context, ErrorKind::InvalidArgument, &["its place already"], |_, first| {
            first.set_label(&label)?;
            first.set_label(&label)
        });
        // The graph it was set in is gone.
        refused(context, ErrorKind::InvalidArgument, &["its place already"], |_, first| first.set_label(&label));
        never(context, "stands nowhere in this graph", |_, first| {
            first.jump(&label)?;
            first.set_label(&context.label()?)
        });
        never(context, "stands nowhere in this graph", |_, first| first.jump(&context.label()?));
    });
}

#[test]
fn control_that_gets_lost_is_told_when_the_building_ends() {
    alone(|context| {
        let number = context.upload(&[0_i32]).unwrap();
        never(context, "nothing starts stream \"idle\"", |builder, _| builder.stream("idle").map(drop));
        never(context, "\"side\" does not end with a jump", |builder, first| {
            first.switch_if(&number, Comparison::Equal, &number, &builder.stream("side")?)
        });
        never(context, "\"first\" ends with a jump", |_, first| {
            let begin = context.label()?;
            first.set_label(&begin)?;
            first.jump(&begin)
        });
        never(context, "run beside each other", |builder, first| {
            let (side, label) = (builder.stream("side")?, context.label()?);
            first.start(&side)?;
            first.set_label(&label)?;
            side.jump(&label)
        });
        never(context, "only streams that nothing starts", |builder, _| {
            let (one, other) = (builder.stream("one")?, builder.stream("other")?);
            one.switch_if(&number, Comparison::Equal, &number, &other)?;
            other.switch_if(&number, Comparison::Equal, &number, &one)
        });
    });
}
