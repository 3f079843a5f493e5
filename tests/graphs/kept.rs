//! What graphs keep, built ones above all, and what becomes of it.

use std::mem::forget;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use racl::{Comparison, Context, ErrorKind, Graph, LabelList, op};

use crate::common::{assert_says, mock};
use crate::{alone, build};

/// A graph with everything, whose parts nobody else has.
fn with_everything(context: &Context) -> Graph {
    build(context, |builder, first| {
        let (side, other) = (builder.stream("side")?, builder.stream("other")?);
        let mut x = context.upload_tensor(&[1_i32; 8], [8])?;
        let (notify, flag) = (context.notify()?, context.flag(0)?);
        let (one, two) = (context.label()?, context.label()?);
        let (index, number) = (context.upload(&[1_u32])?, context.upload(&[0_i32])?);
        first.start(&side)?;
        op::adds_inplace(&side, &mut x, 1)?;
        notify.record(&side)?;
        first.wait_notify(&notify, None)?;
        first.write_value(&flag, 3)?;
        first.switch_if(&number, Comparison::Equal, &number, &other)?;
        first.set_label(&one)?;
        first.set_label(&two)?;
        other.jump_by(&LabelList::new([&one, &two])?, &index)
    })
    .unwrap()
}

#[test]
fn a_graph_keeps_what_nobody_else_has() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut graph = with_everything(context);
        let filler: Vec<_> = (0..40).map(|_| context.upload(&[9_u8; 32]).unwrap()).collect();
        for _ in 0..3 {
            graph.launch(&stream).unwrap();
        }
        graph.wait().unwrap();
        assert!(filler.iter().all(|other| other.to_vec().unwrap() == [9; 32]));
        let live = mock::live_handles();
        assert_eq!(live.library_objects, 3, "two labels and their list");
        drop(graph);
        let after = mock::live_handles();
        assert_eq!((after.library_objects, live.graphs - after.graphs, live.streams - after.streams), (0, 1, 3));
        drop(filler);
        assert_eq!(context.memory_stats().active.now, 0);
    });
}

#[test]
fn streams_are_unbound_before_the_graph_goes_and_destroyed_after_it() {
    alone(|context| {
        let calls = || {
            ["aclmdlRIUnbindStream", "aclmdlRIDestroy", "aclrtDestroyStream", "aclrtDestroyLabel"].map(mock::calls)
        };
        let graph = with_everything(context);
        let before = calls();
        graph.close().unwrap();
        let after = calls();
        assert_eq!(std::array::from_fn(|at| after[at] - before[at]), [3, 1, 3, 2]);
        // A stream that the program has stays until that goes.
        let builder = context.build_graph().unwrap();
        let first = builder.first().clone();
        drop(builder.finish().unwrap());
        assert_eq!(calls()[2], after[2]);
        drop(first);
        assert_eq!(calls()[2], after[2] + 1);
    });
}

#[test]
fn a_builder_that_is_dropped_gives_everything_back() {
    alone(|context| {
        for finished in [false, true] {
            let before = mock::live_handles();
            let mut builder = context.build_graph().unwrap();
            let (first, side) = (builder.first().clone(), builder.stream("side").unwrap());
            let mut x = context.alloc::<u8>(64).unwrap();
            first.fill_bytes(&mut x, 1).unwrap();
            let lent = first.upload(context.pinned_from(&[1_u8; 64]).unwrap(), &mut x).unwrap();
            first.set_label(&context.label().unwrap()).unwrap();
            drop((first, side, lent, x));
            if finished {
                // Nothing starts the side.
                builder.finish().unwrap_err();
            } else {
                drop(builder);
            }
            // The context keeps the event of the copy for the next one.
            let now = mock::LiveHandles { events: before.events, ..mock::live_handles() };
            assert_eq!(now, before, "finished: {finished}");
            assert_eq!(context.memory_stats().active.now, 0);
        }
    });
}

#[test]
fn each_call_of_a_build_that_fails_is_told_and_leaves_nothing() {
    alone(|context| {
        // Those that are made at all, before the graph is there.
        let names = [
            "aclrtCreateStreamWithConfig",
            "aclmdlRIBuildBegin",
            "aclmdlRIBindStream",
            "aclrtActiveStream",
            "aclrtValueWrite",
            "aclrtValueWait",
            "aclrtCreateLabel",
            "aclrtSetLabel",
            "aclrtCreateLabelList",
            "aclrtSwitchLabelByIndex",
            "aclrtSwitchStream",
            "aclmdlRIEndTask",
            "aclmdlRIBuildEnd",
        ];
        let number = context.upload(&[0_i32]).unwrap();
        let make = || {
            build(context, |builder, first| {
                let (side, other) = (builder.stream("side")?, builder.stream("other")?);
                let label = context.label()?;
                first.start(&side)?;
                first.switch_if(&number, Comparison::Equal, &number, &other)?;
                first.set_label(&label)?;
                other.jump(&label)
            })
        };
        drop(make().unwrap());
        for name in names {
            let before = mock::calls(name);
            drop(make().unwrap());
            let count = mock::calls(name) - before;
            assert!(count > 0, "{name}");
            for nth in 1..=count {
                let before = mock::live_handles();
                mock::fail(name, nth, 507_000).unwrap();
                let error = make().unwrap_err();
                assert!(format!("{error:#}").contains("507000"), "call {nth} of {name}: {error:#}");
                assert_eq!(mock::live_handles(), before, "call {nth} of {name}");
            }
        }
    });
}

#[test]
fn a_label_that_could_not_be_set_stands_in_another_graph() {
    alone(|context| {
        let label = context.label().unwrap();
        let set = || {
            build(context, |_, first| {
                first.jump(&label)?;
                first.set_label(&label)
            })
        };
        mock::fail("aclrtSetLabel", 1, 507_000).unwrap();
        assert!(format!("{:#}", set().unwrap_err()).contains("aclrtSetLabel"));
        drop(set().unwrap());
        // It has its place now.
        assert!(set().unwrap_err().to_string().contains("its place already"));
    });
}

#[test]
fn failures_at_the_end_are_told_and_what_the_library_has_is_left() {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let device = crate::common::direct_device();
    for (name, graphs) in [("aclmdlRIUnbindStream", 0), ("aclmdlRIDestroy", 1), ("aclrtDestroyLabelList", 0)] {
        for given_up in [false, true] {
            let context = device.context().create_context().unwrap();
            let before = mock::live_handles();
            let mut builder = context.build_graph().unwrap();
            let other = builder.stream("other").unwrap();
            let (label, mut x) = (context.label().unwrap(), context.alloc::<u8>(4).unwrap());
            other.jump(&label).unwrap();
            let number = context.upload(&[0_i32]).unwrap();
            let first = builder.first().clone();
            first.switch_if(&number, Comparison::Equal, &number, &other).unwrap();
            first.set_label(&label).unwrap();
            first.fill_bytes(&mut x, 1).unwrap();
            drop((other, label, x, first, number));
            mock::fail(name, 1, 507_000).unwrap();
            if given_up {
                drop(builder);
            } else {
                drop(builder.finish().unwrap());
            }
            mock::clear_failures();
            let told = context.take_drop_errors();
            assert!(told.len() == 1 && format!("{:#}", told[0]).contains(name), "{name}: {told:?}");
            let live = mock::live_handles();
            assert_eq!(live.graphs - before.graphs, graphs, "{name}");
            assert_eq!(live.device_allocations > before.device_allocations, graphs == 1, "{name}: memory");
            drop(context);
        }
    }
    mock::reset().unwrap();
}

#[test]
fn a_graph_that_could_not_be_closed_is_closed_later() {
    alone(|context| {
        let graph = with_everything(context);
        mock::fail("aclmdlRIDestroy", 1, 107_037).unwrap();
        let (graph, error) = graph.close().unwrap_err().into_parts();
        assert_eq!(error.kind(), racl::ErrorKind::GraphRunning);
        // Its streams are unbound.
        let stream = context.stream().unwrap();
        let mut graph = graph;
        for _ in 0..2 {
            let error = graph.launch(&stream).unwrap_err();
            assert_says(&error, racl::ErrorKind::InvalidHandle, &["a graph without its streams"]);
        }
        graph.close().unwrap();
    });
}

#[test]
fn a_graph_in_flight_is_waited_for_by_its_drop() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut graph = with_everything(context);
        graph.launch(&stream).unwrap();
        drop(graph);
    });
}

/// What is given away goes when the other code destroys the graph.
#[test]
fn what_a_graph_uses_that_is_given_away_goes_with_it() {
    alone(|context| {
        for by_hand in [true, false] {
            let before = mock::live_handles();
            let mut x = context.alloc::<u8>(64).unwrap();
            let stream = context.stream().unwrap();
            let graph = match by_hand {
                true => build(context, |_, first| first.fill_bytes(&mut x, 1)),
                false => stream.capture(racl::CaptureMode::Relaxed, |s| s.fill_bytes(&mut x, 1)),
            };
            let raw = graph.unwrap().into_raw().unwrap();
            drop(x);
            assert_eq!(mock::live_handles().device_allocations, before.device_allocations + 1);
            // SAFETY: the graph was given away above, and this crate keeps what it uses.
            let mut graph = unsafe { Graph::from_raw(raw, context) }.unwrap();
            graph.launch(&stream).unwrap();
            // Twice, with what it uses since.
            let mut y = context.alloc::<u8>(64).unwrap();
            let raw = match by_hand {
                true => graph,
                false => {
                    graph.close().unwrap();
                    stream.capture(racl::CaptureMode::Relaxed, |s| s.fill_bytes(&mut y, 1)).unwrap()
                }
            };
            drop(y);
            // SAFETY: as above.
            let again = unsafe { Graph::from_raw(raw.into_raw().unwrap(), context) }.unwrap();
            // SAFETY: as above.
            let again = unsafe { Graph::from_raw(again.into_raw().unwrap(), context) }.unwrap();
            again.close().unwrap();
            drop(stream);
            // A thread of its own frees it.
            let begun = std::time::Instant::now();
            while mock::live_handles() != before {
                assert!(begun.elapsed() < std::time::Duration::from_secs(60), "{:?}", mock::live_handles());
                std::thread::yield_now();
            }
        }
        // A thread that is over is joined by the next wait.
        context.stream().unwrap().synchronize().unwrap();
    });
}

/// For good: nobody says when the graph is gone.
#[test]
fn what_a_graph_uses_that_is_given_away_stays_where_its_end_cannot_be_heard_of() {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let device = crate::common::direct_device();
    let context = device.context().create_context().unwrap();
    let stream = context.stream().unwrap();
    let mut x = context.alloc::<u8>(64).unwrap();
    let graph = stream.capture(racl::CaptureMode::Relaxed, |s| s.fill_bytes(&mut x, 1)).unwrap();
    let before = mock::live_handles();
    mock::fail("aclmdlRIDestroyRegisterCallback", 1, 507_000).unwrap();
    let raw = graph.into_raw().unwrap();
    drop(x);
    // SAFETY: the graph was given away above, and this crate keeps what it uses.
    unsafe { Graph::from_raw(raw, &context) }.unwrap().close().unwrap();
    let after = mock::live_handles();
    assert_eq!((after.graphs, after.device_allocations), (before.graphs - 1, before.device_allocations));
    drop((stream, context, device));
    mock::reset().unwrap();
}

/// Its streams, its graph and what it keeps stay, and everybody else goes on.
#[test]
fn a_builder_that_is_forgotten_harms_nobody() {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let context = crate::common::direct_device().context().create_context().unwrap();
    let mut x = context.upload(&[5_u8; 16]).unwrap();
    let builder = context.build_graph().unwrap();
    let first = builder.first().clone();
    first.fill_bytes(&mut x, 1).unwrap();
    forget(builder);
    first.fill_bytes(&mut x, 2).unwrap(); // stored
    drop(first);
    assert_eq!(x.to_vec().unwrap(), [5; 16]);
    let stream = context.stream().unwrap();
    stream.fill_bytes(&mut x, 3).unwrap();
    assert_eq!(x.to_vec().unwrap(), [3; 16]);
    drop((x, stream, context));
    mock::reset().unwrap();
}

/// Panics as it goes, and counts that.
struct Explodes(Arc<AtomicUsize>);

impl Drop for Explodes {
    fn drop(&mut self) {
        let nth = self.0.fetch_add(1, Ordering::Relaxed);
        panic!("on purpose, {nth}");
    }
}

#[test]
fn what_panics_as_a_graph_drops_it_ends_neither_the_rest_nor_the_process() {
    type End = fn(racl::Graph);
    let unwinding: End = |graph| {
        let thrown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _graph = graph;
            panic!("the program's own");
        }));
        assert_eq!(thrown.unwrap_err().downcast_ref::<&str>(), Some(&"the program's own"));
    };
    alone(|context| {
        let stream = context.stream().unwrap();
        let before = mock::live_handles();
        for end in [drop as End, |graph| graph.close().unwrap(), unwinding] {
            let count = Arc::new(AtomicUsize::new(0));
            let mut buffer = context.upload(&[0_u8; 8]).unwrap();
            let mut graph = stream
                .capture(racl::CaptureMode::ThreadLocal, |s| {
                    for _ in 0..3 {
                        let owned = Explodes(Arc::clone(&count));
                        s.host_function(move || assert_eq!(Arc::strong_count(&owned.0), 4))?;
                    }
                    s.fill_bytes(&mut buffer, 1)
                })
                .unwrap();
            graph.launch(&stream).unwrap();
            drop(buffer);
            end(graph);
            assert_eq!(count.load(Ordering::Relaxed), 3);
            let told = context.take_drop_errors();
            assert_eq!(told.len(), 3, "{told:?}");
            assert_says(&told[1], ErrorKind::CallbackPanicked, &["on purpose, 1", "a graph kept"]);
            stream.synchronize().unwrap();
            assert_eq!(mock::live_handles(), before);
        }
        // A capture that is given up has kept it, too.
        let count = Arc::new(AtomicUsize::new(0));
        let (owned, capture) =
            (Explodes(Arc::clone(&count)), stream.begin_capture(racl::CaptureMode::Relaxed).unwrap());
        stream.host_function(move || assert!(Arc::strong_count(&owned.0) > 0)).unwrap();
        drop(capture);
        assert_eq!((count.load(Ordering::Relaxed), context.take_drop_errors().len()), (1, 1));
    });
}
