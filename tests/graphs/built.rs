//! What built graphs do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use racl::{ErrorKind, GraphPool, op};

use crate::common::mock;
use crate::{alone, build};

#[test]
fn work_of_every_kind_is_stored_and_runs_at_each_launch() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut out = context.zeros::<f32>([8, 8]).unwrap();
        let runs = Arc::new(AtomicU32::new(0));
        let inside = Arc::clone(&runs);
        let (mut input, mut output) = (None, None);
        let mut graph = build(context, |_, s| {
            let mut given = context.alloc::<f32>(64)?;
            let ones = context.upload_tensor(&[1.0_f32; 64], [8, 8])?;
            input = Some(s.upload(context.pinned::<f32>(64)?, &mut given)?);
            let given = racl::Tensor::over(given, [8, 8])?;
            // A first dimension needs scratch memory. Eighths, each time.
            op::softmax(s, &ones, 0, &mut ones.clone())?;
            op::matmul(s, &given.transposed(0, 1)?, &ones, &mut out)?;
            output = Some(s.download(&out.buffer()?, context.pinned::<f32>(64)?)?);
            s.host_function(move || {
                inside.fetch_add(1, Ordering::Relaxed);
            })
        })
        .unwrap();
        assert_eq!(runs.load(Ordering::Relaxed), 0);
        // Given and ones, 256 bytes each, are the graph's alone by now, and so is the scratch memory.
        assert!(graph.memory_bytes() > 3 * 256, "{}", graph.memory_bytes());
        let (input, output) = (input.unwrap(), output.unwrap());
        for turn in 1..=3 {
            graph.host(&input).unwrap().fill(turn as f32);
            graph.launch(&stream).unwrap();
            assert_eq!(*graph.host(&output).unwrap(), [turn as f32; 64]);
        }
        assert_eq!(runs.load(Ordering::Relaxed), 3);
        graph.close().unwrap();
        drop((out, stream));
        assert_eq!(context.memory_stats().active.now, 0);
    });
}

#[test]
fn started_streams_run_beside_and_are_done_when_the_graph_is() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let (mut x, mut y) = (context.upload(&[0_u8; 4]).unwrap(), context.upload(&[0_u8; 4]).unwrap());
        let flag = context.flag(0).unwrap();
        let mut graph = build(context, |builder, first| {
            let (side, deep) = (builder.stream("side")?, builder.stream("deep")?);
            first.start(&side)?;
            side.start(&deep)?;
            // The deepest one is held up until the host says so.
            deep.wait_value(&flag, racl::ValueWait::Equal(1))?;
            deep.fill_bytes(&mut x, 1)?;
            first.fill_bytes(&mut y, 2)
        })
        .unwrap();
        for turn in 0..3 {
            flag.set(0).unwrap();
            graph.launch(&stream).unwrap();
            mock::run_until_idle();
            assert!(!stream.is_complete().unwrap(), "{turn}: it is over, and a stream of it is not");
            flag.set(1).unwrap();
            graph.wait().unwrap();
            assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![1; 4], vec![2; 4]));
            x.write(&[0; 4]).unwrap();
        }
    });
}

#[test]
fn notifies_and_flags_order_its_streams() {
    alone(|context| {
        mock::check_races(mock::RaceCheck::Report);
        let stream = context.stream().unwrap();
        let mut x = context.upload_tensor(&[1.0_f32, 2.0], [2]).unwrap();
        let (notify, flag) = (context.notify().unwrap(), context.flag(0).unwrap());
        let mut graph = build(context, |builder, first| {
            let side = builder.stream("side")?;
            first.write_value(&flag, 0)?;
            first.start(&side)?;
            op::muls_inplace(first, &mut x, 10.0)?;
            notify.record(first)?;
            side.wait_notify(&notify, None)?;
            op::adds_inplace(&side, &mut x, 1.0)?;
            side.write_value(&flag, 5)?;
            first.wait_value(&flag, racl::ValueWait::Equal(5))?;
            op::muls_inplace(first, &mut x, 2.0)
        })
        .unwrap();
        drop((notify, flag));
        graph.launch(&stream).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(x.to_vec().unwrap(), [442.0, 842.0]); // ((x * 10 + 1) * 2, twice
        let races = mock::races();
        mock::check_races(mock::RaceCheck::Off);
        assert!(races.is_empty(), "{races:?}");
    });
}

#[test]
fn launches_are_in_order_with_work_on_the_same_memory() {
    alone(|context| {
        let (one, other) = (context.stream().unwrap(), context.stream().unwrap());
        let mut x = context.upload_tensor(&[1_i32], [1]).unwrap();
        let mut graph = build(context, |builder, first| {
            let side = builder.stream("side")?;
            first.start(&side)?;
            op::muls_inplace(&side, &mut x, 3)
        })
        .unwrap();
        mock::hold(&one).unwrap();
        op::adds_inplace(&one, &mut x, 1).unwrap();
        graph.launch(&other).unwrap(); // behind the sum
        op::adds_inplace(&one, &mut x, 5).unwrap(); // behind the graph
        mock::run_until_idle();
        assert!(!other.is_complete().unwrap());
        mock::release(&one).unwrap();
        assert_eq!(x.to_vec().unwrap(), [11]);
    });
}

#[test]
fn graphs_of_one_pool_share_their_temporaries() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let pool = GraphPool::new(context);
        let mut out = context.alloc::<u8>(1 << 16).unwrap();
        let mut graphs: Vec<_> = (1..=3)
            .map(|step| {
                let builder = context.build_graph_in(&pool).unwrap();
                let first = builder.first();
                let mut temporary = first.alloc::<u8>(1 << 16).unwrap();
                first.fill_bytes(&mut temporary, step).unwrap();
                first.copy(&temporary, &mut out).unwrap();
                drop(temporary);
                builder.finish().unwrap()
            })
            .collect();
        assert_eq!(pool.bytes(), 1 << 16);
        for (graph, step) in graphs.iter_mut().zip(1..) {
            graph.launch(&stream).unwrap();
            assert_eq!(out.to_vec().unwrap(), vec![step; 1 << 16]);
        }
        drop(graphs);
        assert_eq!(pool.bytes(), 0);
    });
}

#[test]
fn an_aborted_launch_is_told_and_the_next_one_is_whole() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut x = context.upload(&[0_u8]).unwrap();
        let flag = context.flag(0).unwrap();
        let mut graph = build(context, |builder, first| {
            let side = builder.stream("side")?;
            first.start(&side)?;
            side.fill_bytes(&mut x, 7)?;
            first.wait_value(&flag, racl::ValueWait::Equal(1))
        })
        .unwrap();
        graph.abort().unwrap(); // nothing runs
        graph.launch(&stream).unwrap();
        mock::run_until_idle(); // the side has said that it is at its end
        graph.abort().unwrap();
        assert_eq!(graph.wait().unwrap_err().kind(), ErrorKind::Aborted);
        x.write(&[0]).unwrap();
        flag.set(1).unwrap();
        graph.launch(&stream).unwrap();
        graph.wait().unwrap();
        assert_eq!(x.to_vec().unwrap(), [7]);

        let mut captured = stream.capture(racl::CaptureMode::Relaxed, |s| s.fill_bytes(&mut x, 1)).unwrap();
        assert_eq!(captured.abort().unwrap_err().kind(), ErrorKind::NotSupported);
    });
}

#[test]
fn work_that_fails_in_a_built_graph_is_told() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut x = context.upload(&[0_u8; 4]).unwrap();
        let mut graph = build(context, |builder, first| {
            let side = builder.stream("side")?;
            first.start(&side)?;
            mock::fail_task("aclrtMemsetAsync", 1, 507_015)?;
            side.fill_bytes(&mut x, 7)
        })
        .unwrap();
        mock::clear_failures();
        graph.launch(&stream).unwrap();
        assert_eq!(graph.wait().unwrap_err().kind(), ErrorKind::DeviceFault);

        let mut panics = build(context, |_, first| first.host_function(|| panic!("on purpose"))).unwrap();
        panics.launch(&stream).unwrap();
        assert_eq!(panics.wait().unwrap_err().kind(), ErrorKind::CallbackPanicked);
    });
}

#[test]
fn several_threads_build_one_graph() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut builder = context.build_graph().unwrap();
        let first = builder.first().clone();
        let sides: Vec<_> = (0..4).map(|number| builder.stream(&format!("side {number}")).unwrap()).collect();
        sides.iter().for_each(|side| first.start(side).unwrap());
        let mut parts: Vec<_> = (0..4).map(|_| context.alloc_zeroed::<u8>(16).unwrap()).collect();
        std::thread::scope(|scope| {
            for ((side, part), value) in sides.iter().zip(&mut parts).zip(1..) {
                scope.spawn(move || (0..50).for_each(|_| side.fill_bytes(part, value).unwrap()));
            }
        });
        let mut graph = std::thread::spawn(|| builder.finish()).join().unwrap().unwrap();
        graph.launch(&stream).unwrap();
        for (part, value) in parts.iter().zip(1..) {
            assert_eq!(part.to_vec().unwrap(), [value; 16]);
        }
        // The first one, and what was started.
        assert_eq!(graph.stream_count().unwrap(), 5);
    });
}

#[test]
fn threads_that_submit_while_the_building_ends_are_told() {
    alone(|context| {
        let stream = context.stream().unwrap();
        for _ in 0..20 {
            let mut builder = context.build_graph().unwrap();
            let (first, side) = (builder.first().clone(), builder.stream("side").unwrap());
            first.start(&side).unwrap();
            let mut parts = [context.alloc_zeroed::<u8>(4).unwrap(), context.alloc_zeroed::<u8>(4).unwrap()];
            let begun = std::sync::Barrier::new(3);
            let (stored, graph) = std::thread::scope(|scope| {
                let threads: Vec<_> = [&first, &side]
                    .into_iter()
                    .zip(&mut parts)
                    .map(|(stream, part)| {
                        let begun = &begun;
                        scope.spawn(move || {
                            begun.wait();
                            let mut stored = 0;
                            loop {
                                match stream.fill_bytes(part, 1) {
                                    Ok(()) => stored += 1,
                                    Err(error) => return (stored, error.kind()),
                                }
                            }
                        })
                    })
                    .collect();
                begun.wait();
                let graph = builder.finish();
                (threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>(), graph)
            });
            let mut graph = graph.unwrap();
            graph.launch(&stream).unwrap();
            for ((count, kind), part) in stored.into_iter().zip(&parts) {
                let told = [ErrorKind::CaptureInvalidated, ErrorKind::InvalidHandle];
                assert!(told.contains(&kind), "{kind:?}");
                assert_eq!(part.to_vec().unwrap(), [u8::from(count > 0); 4]);
            }
        }
    });
}
