//! Tasks of captured graphs that are changed.

use racl::{CaptureMode, Context, DeviceFlag, ErrorKind, Graph, Stream, TaskWork, ValueWait};

use crate::common::{assert_says, mock};
use crate::{alone, build};

/// A graph that waits for a number, fills memory, and writes a number.
fn waits_and_writes(context: &Context, stream: &Stream) -> (Graph, DeviceFlag, racl::SharedBuffer<u8>) {
    let (flag, out) = (context.flag(1).unwrap(), context.alloc_zeroed::<u8>(4).unwrap().into_shared());
    let graph = stream
        .capture(CaptureMode::ThreadLocal, |s| {
            s.wait_value(&flag, ValueWait::Equal(1))?;
            s.fill_bytes(&mut out.clone(), 1)?;
            s.write_value(&flag, 2)
        })
        .unwrap();
    (graph, flag, out)
}

#[test]
fn changes_hold_from_the_next_launch_on_and_are_kept() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let (mut graph, flag, _) = waits_and_writes(context, &stream);
        graph.launch(&stream).unwrap();
        let tasks = graph.tasks().unwrap();
        let (other, third) = (context.flag(8).unwrap(), context.flag(0).unwrap());
        graph
            .change(|change| {
                change.wait_value(&tasks[0], &other, ValueWait::AtLeast(8))?;
                change.write_value(&tasks[2], &other, 5)?;
                change.write_value(&tasks[2], &third, 9) // the last time counts
            })
            .unwrap();
        assert_eq!(flag.value().unwrap(), 2, "the launch before was waited for");
        let looked = graph.tasks().unwrap();
        let address = other.address();
        assert_eq!(looked[0].work(), TaskWork::ValueWait { address, until: ValueWait::AtLeast(8) });
        assert_eq!(looked[2].work(), TaskWork::ValueWrite { address: third.address(), value: 9 });
        drop(other); // the graph has it
        graph.launch(&stream).unwrap();
        graph.wait().unwrap();
        assert_eq!((flag.value().unwrap(), third.value().unwrap()), (2, 9));
        // What was given by a change that is replaced goes.
        let before = mock::live_handles().device_allocations;
        graph.change(|change| change.wait_value(&tasks[0], &flag, ValueWait::Nor(0))).unwrap();
        assert_eq!(mock::live_handles().device_allocations, before - 1);
        graph.launch(&stream).unwrap();
        graph.wait().unwrap();
    });
}

#[test]
fn a_disabled_task_does_nothing_any_more() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let (mut graph, flag, out) = waits_and_writes(context, &stream);
        flag.set(77).unwrap();
        let tasks = graph.tasks().unwrap();
        graph
            .change(|change| {
                change.disable(&tasks[0])?;
                change.disable(&tasks[2])
            })
            .unwrap();
        for _ in 0..2 {
            graph.launch(&stream).unwrap();
            graph.wait().unwrap();
        }
        assert_eq!((flag.value().unwrap(), out.to_vec().unwrap()), (77, vec![1; 4]));
        // What was looked at before knows nothing of it.
        graph
            .change(|change| {
                let before = ["disabled before"];
                assert_says(&change.disable(&tasks[0]).unwrap_err(), ErrorKind::InvalidArgument, &before);
                let error = change.write_value(&tasks[2], &flag, 1).unwrap_err();
                assert_says(&error, ErrorKind::InvalidArgument, &before);
                Ok(())
            })
            .unwrap();
        assert_eq!(graph.tasks().unwrap()[0].work(), TaskWork::Other);
        graph.launch(&stream).unwrap();
        graph.wait().unwrap();
    });
}

#[test]
fn an_error_of_the_program_changes_nothing() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let (mut graph, flag, _) = waits_and_writes(context, &stream);
        let tasks = graph.tasks().unwrap();
        let calls = mock::calls("aclmdlRITaskSetParams");
        let error = graph.change(|change| {
            change.write_value(&tasks[2], &flag, 9)?;
            context.alloc::<u8>(4)?.slice(..9).map(drop)
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidArgument);
        graph.change(|_| Ok(())).unwrap();
        assert_eq!((mock::calls("aclmdlRITaskSetParams"), mock::calls("aclmdlRIUpdate")), (calls, 0));
        graph.launch(&stream).unwrap();
        graph.wait().unwrap();
        assert_eq!(flag.value().unwrap(), 2);
    });
}

#[test]
fn what_does_not_fit_a_task_is_refused_before_the_library_spoils_the_graph() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let (mut graph, flag, _) = waits_and_writes(context, &stream);
        let (other, _, _) = waits_and_writes(context, &stream);
        let (tasks, foreign) = (graph.tasks().unwrap(), other.tasks().unwrap());
        graph
            .change(|change| {
                let invalid = ErrorKind::InvalidArgument;
                assert_says(&change.write_value(&tasks[0], &flag, 1).unwrap_err(), invalid, &["writes no number"]);
                let wait = change.wait_value(&tasks[2], &flag, ValueWait::Equal(1));
                assert_says(&wait.unwrap_err(), invalid, &["waits for no number"]);
                assert_says(&change.disable(&tasks[1]).unwrap_err(), invalid, &["cannot be disabled"]);
                assert_says(&change.disable(&foreign[0]).unwrap_err(), invalid, &["another graph"]);
                for address in [std::ptr::null_mut(), flag.address().wrapping_byte_add(4)] {
                    // SAFETY: it is refused.
                    let refused = unsafe { change.write_value_at(&tasks[2], address, 1) };
                    assert_says(&refused.unwrap_err(), invalid, &["multiple of 8"]);
                }
                // SAFETY: the flag lives as long as the graph, and nobody else uses it.
                unsafe { change.write_value_at(&tasks[2], flag.address(), 6) }
            })
            .unwrap();
        graph.launch(&stream).unwrap();
        graph.wait().unwrap();
        assert_eq!(flag.value().unwrap(), 6);
        let mut built = build(context, |_, first| first.write_value(&flag, 1)).unwrap();
        let task = built.tasks().unwrap().remove(0);
        let refused = built.change(|change| change.disable(&task)).unwrap_err();
        assert_says(&refused, ErrorKind::NotSupported, &["built by hand"]);
    });
}

#[test]
fn a_change_that_the_library_refuses_ends_the_graph_and_keeps_what_it_may_use() {
    alone(|context| {
        let stream = context.stream().unwrap();
        for name in ["aclmdlRITaskSetParams", "aclmdlRITaskDisable", "aclmdlRIUpdate"] {
            let (mut graph, flag, _) = waits_and_writes(context, &stream);
            let tasks = graph.tasks().unwrap();
            let other = context.flag(0).unwrap();
            mock::fail(name, 1, 507_000).unwrap();
            let changed = graph.change(|change| {
                change.write_value(&tasks[2], &other, 4)?;
                change.disable(&tasks[0])
            });
            assert_says(&changed.unwrap_err(), ErrorKind::Internal, &[name, "changing tasks of a graph"]);
            let before = mock::live_handles().device_allocations;
            drop((other, flag));
            assert_eq!(mock::live_handles().device_allocations, before);
            assert_eq!(graph.launch(&stream).unwrap_err().kind(), ErrorKind::GraphRunning);
        }
    });
}

#[test]
fn a_task_that_the_library_was_not_asked_to_disable_is_not_disabled() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let (mut graph, flag, out) = waits_and_writes(context, &stream);
        let (tasks, other) = (graph.tasks().unwrap(), context.flag(0).unwrap());
        let mut both = || {
            graph.change(|change| {
                change.write_value(&tasks[2], &other, 4)?;
                change.disable(&tasks[0])
            })
        };
        mock::fail("aclmdlRITaskSetParams", 1, 507_000).unwrap();
        assert_says(&both().unwrap_err(), ErrorKind::Internal, &["aclmdlRITaskSetParams"]);
        both().unwrap();
        graph.launch(&stream).unwrap();
        graph.wait().unwrap();
        assert_eq!((flag.value().unwrap(), other.value().unwrap()), (1, 4));
        assert_eq!(out.to_vec().unwrap(), [1; 4]);
    });
}

#[test]
fn a_task_that_was_disabled_by_a_change_that_failed_is_confirmed_by_the_same_change() {
    alone(|context| {
        let stream = context.stream().unwrap();
        for fails in ["aclmdlRIUpdate", "aclmdlRITaskSetParams"] {
            let (mut graph, flag, _out) = waits_and_writes(context, &stream);
            let (tasks, other) = (graph.tasks().unwrap(), context.flag(0).unwrap());
            let mut both = || {
                graph.change(|change| {
                    change.disable(&tasks[0])?;
                    change.write_value(&tasks[2], &other, 4)
                })
            };
            let before = mock::calls("aclmdlRITaskDisable");
            mock::fail(fails, 1, 207_001).unwrap();
            assert_says(&both().unwrap_err(), ErrorKind::OutOfMemory, &[fails]);
            both().unwrap();
            assert_eq!(mock::calls("aclmdlRITaskDisable"), before + 1, "the library has it");
            let again = graph.change(|change| change.disable(&tasks[0])).unwrap_err();
            assert_says(&again, ErrorKind::InvalidArgument, &["disabled before"]);
            graph.launch(&stream).unwrap();
            graph.wait().unwrap();
            assert_eq!(other.value().unwrap(), 4);
            drop(flag);
        }
    });
}
