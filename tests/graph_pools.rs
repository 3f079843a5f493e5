//! Memory that captures make: whose it is, and which graphs share it.

mod common;

use std::ffi::c_void;

use common::{assert_says, device, mock};
use racl::op::DataType::F32;
use racl::plan::{Frozen, Input, Plan, Pool, RunOptions};
use racl::{CaptureMode, Context, DeviceBuffer, ErrorKind, Graph, GraphPool, Stream, Tensor, op};

fn context() -> Context {
    device().context().create_context().unwrap()
}

/// A graph that fills a temporary with `value` and copies it to `out`, and where the temporary lies.
fn fills(stream: &Stream, pool: &GraphPool, value: u8, out: &mut DeviceBuffer<u8>) -> (Graph, *mut c_void) {
    let mut address = std::ptr::null_mut();
    let graph = stream.capture_in(CaptureMode::Relaxed, pool, |stream| {
        let mut temporary = stream.alloc::<u8>(out.len())?;
        address = temporary.address();
        stream.fill_bytes(&mut temporary, value)?;
        stream.copy(&temporary, out)
    });
    (graph.unwrap(), address)
}

fn out(context: &Context) -> DeviceBuffer<u8> {
    context.alloc_zeroed(5000).unwrap()
}

#[test]
fn graphs_of_one_pool_have_the_same_memory_and_others_do_not() {
    let _alone = mock::exclusive();
    let context = context();
    let (stream, pool) = (context.stream().unwrap(), GraphPool::new(&context));
    let mut outs = [(); 4].map(|()| out(&context));
    let (one, first) = fills(&stream, &pool, 1, &mut outs[0]);
    let (two, second) = fills(&stream, &pool, 2, &mut outs[1]);
    assert_eq!((first, pool.bytes(), context.memory_stats().graphs.now), (second, 5000, 5000));
    // Of its own, and that of the graph that has it.
    let (three, third) = fills(&stream, &GraphPool::new(&context), 3, &mut outs[2]);
    let (four, fourth) = fills(&stream, &three.pool(), 4, &mut outs[3]);
    assert!(third != first && third == fourth);
    assert_eq!((three.pool().bytes(), context.memory_stats().graphs.now), (5000, 10_000));
    for mut graph in [one, two, three, four] {
        graph.launch(&stream).unwrap();
        graph.close().unwrap();
    }
    for (value, out) in (1..).zip(&outs) {
        assert_eq!(out.to_vec().unwrap(), [value; 5000]);
    }
    assert_eq!((pool.bytes(), context.memory_stats().graphs.now), (0, 0));
    assert_eq!(context.memory_stats().graphs.peak, 10_000);
    drop(outs);
    stream.synchronize().unwrap();
    assert_eq!(context.memory_stats().active.now, 0);
}

#[test]
fn memory_stays_as_long_as_a_graph_has_it() {
    let _alone = mock::exclusive();
    let context = context();
    let (stream, pool) = (context.stream().unwrap(), GraphPool::new(&context));
    let (mut a, mut b) = (out(&context), out(&context));
    let (one, address) = fills(&stream, &pool, 1, &mut a);
    let (mut two, _) = fills(&stream, &pool, 2, &mut b);
    drop((one, pool));
    let taken: Vec<_> = (0..100).map(|_| context.alloc::<u8>(5000).unwrap()).collect();
    assert!(taken.iter().all(|buffer| buffer.address() != address));
    assert_eq!(two.pool().bytes(), 5000);
    two.launch(&stream).unwrap();
    assert_eq!(b.to_vec().unwrap(), [2; 5000]);
    drop(two);
    let free: Vec<_> = (0..100).map(|_| context.alloc::<u8>(5000).unwrap()).collect();
    assert!(free.iter().any(|buffer| buffer.address() == address));
}

#[test]
fn graphs_that_share_memory_wait_for_each_other() {
    let _alone = mock::exclusive();
    let context = context();
    let (first, second) = (context.stream().unwrap(), context.stream().unwrap());
    let pool = GraphPool::new(&context);
    let (mut a, mut b) = (out(&context), out(&context));
    let ((mut one, _), (mut two, _)) = (fills(&first, &pool, 1, &mut a), fills(&second, &pool, 2, &mut b));
    for _ in 0..3 {
        mock::hold(&first).unwrap();
        one.launch(&first).unwrap();
        two.launch(&second).unwrap();
        mock::run_until_idle();
        assert!(!second.is_complete().unwrap(), "the temporary of both is not written yet");
        mock::release(&first).unwrap();
        second.synchronize().unwrap();
        assert_eq!((a.to_vec().unwrap(), b.to_vec().unwrap()), (vec![1; 5000], vec![2; 5000]));
    }
}

fn softmax(stream: &Stream, pool: &GraphPool, rows: usize) -> (Graph, Tensor<f32>) {
    let context = stream.context();
    let (a, mut out) = (context.zeros::<f32>([rows, 16]).unwrap(), context.empty::<f32>([rows, 16]).unwrap());
    let graph = stream.capture_in(CaptureMode::ThreadLocal, pool, |stream| op::softmax(stream, &a, 0, &mut out));
    (graph.unwrap(), out)
}

#[test]
fn scratch_memory_is_shared_and_in_order_too() {
    let _alone = mock::exclusive();
    let context = context();
    let (first, second) = (context.stream().unwrap(), context.stream().unwrap());
    let pool = GraphPool::new(&context);
    let (mut large, _) = softmax(&first, &pool, 4096);
    let scratch = pool.bytes();
    assert!(scratch > 4096, "{scratch} bytes");
    // Smaller ones have the same, those on their own some more.
    let (mut small, out) = softmax(&second, &pool, 8);
    assert_eq!((pool.bytes(), context.memory_stats().graphs.now), (scratch, scratch));
    let (own, _) = softmax(&second, &GraphPool::new(&context), 8);
    assert!(context.memory_stats().graphs.now > scratch);
    mock::hold(&first).unwrap();
    large.launch(&first).unwrap();
    small.launch(&second).unwrap();
    mock::run_until_idle();
    assert!(!second.is_complete().unwrap(), "the first graph has the scratch memory");
    mock::release(&first).unwrap();
    assert_eq!(out.to_vec().unwrap()[0], 0.125);
    drop((large, small, own));
    assert_eq!((pool.bytes(), context.memory_stats().graphs.now), (0, 0));
}

#[test]
fn what_somebody_has_or_had_outside_of_graphs_is_not_lent() {
    let _alone = mock::exclusive();
    let context = context();
    let (stream, pool) = (context.stream().unwrap(), GraphPool::new(&context));
    let mut kept = Vec::new();
    let allocates = |stream: &Stream, kept: &mut Vec<DeviceBuffer<u8>>| {
        let graph = stream.capture_in(CaptureMode::Relaxed, &pool, |stream| {
            let mut buffer = stream.alloc::<u8>(5000)?;
            stream.fill_bytes(&mut buffer, 1)?;
            kept.push(buffer);
            Ok(())
        });
        graph.unwrap()
    };
    let graphs: Vec<_> = (0..3).map(|_| allocates(&stream, &mut kept)).collect();
    let mut addresses: Vec<_> = kept.iter().map(|buffer| buffer.address().addr()).collect();
    // The host read one, eager work used one, and one is given up as it is.
    kept[0].to_vec().unwrap();
    stream.fill_bytes(&mut kept[1], 2).unwrap();
    kept.clear();
    let two = |kept: &mut Vec<DeviceBuffer<u8>>| {
        let mut both = [0; 2];
        let graph = stream.capture_in(CaptureMode::Relaxed, &pool, |stream| {
            let (mut lent, mut own) = (stream.alloc::<u8>(5000)?, stream.alloc::<u8>(5000)?);
            stream.fill_bytes(&mut lent, 1)?;
            stream.fill_bytes(&mut own, 1)?;
            both = [lent.address().addr(), own.address().addr()];
            kept.push(own);
            Ok(())
        });
        (graph.unwrap(), both)
    };
    let (again, both) = two(&mut kept);
    assert_eq!(both[0], addresses[2]);
    assert!(!addresses.contains(&both[1]));
    // A buffer that another graph has is not lent either.
    let mut buffer = kept.remove(0);
    let foreign = stream.capture(CaptureMode::Relaxed, |stream| stream.fill_bytes(&mut buffer, 3)).unwrap();
    drop(buffer);
    addresses.push(both[1]);
    let (last, both) = two(&mut kept);
    assert_eq!(both[0], addresses[2]);
    assert!(!addresses.contains(&both[1]));
    drop((graphs, again, foreign, last, kept));
    stream.synchronize().unwrap();
    assert_eq!((pool.bytes(), context.memory_stats().active.now), (0, 0));
}

#[test]
fn a_capture_that_gives_no_graph_gives_its_memory_back() {
    let _alone = mock::exclusive();
    let context = context();
    let (stream, pool) = (context.stream().unwrap(), GraphPool::new(&context));
    let mut a = out(&context);
    let (graph, address) = fills(&stream, &pool, 1, &mut a);
    for _ in 0..3 {
        let capture = stream.begin_capture_in(CaptureMode::Relaxed, &pool).unwrap();
        let (mut one, mut two) = (stream.alloc::<u8>(5000).unwrap(), stream.alloc::<u8>(5000).unwrap());
        assert_eq!((one.address(), pool.bytes()), (address, 10_000));
        stream.fill_bytes(&mut one, 1).unwrap();
        stream.fill_bytes(&mut two, 1).unwrap();
        drop(capture);
    }
    assert_eq!(pool.bytes(), 5000);
    // Unused memory stays with who has it.
    let mut unused = Vec::new();
    let capture = |stream: &Stream| stream.alloc::<u8>(100).map(|buffer| unused.push(buffer));
    let empty = stream.capture_in(CaptureMode::Relaxed, &pool, capture).unwrap();
    assert_eq!((pool.bytes(), context.memory_stats().allocated.now), (5000, 5000 + 5000 + 100));
    drop((empty, graph));
    assert_eq!((pool.bytes(), context.memory_stats().graphs.now), (0, 0));
}

#[test]
fn captures_at_the_same_time_have_different_memory() {
    let _alone = mock::exclusive();
    let context = context();
    let pool = GraphPool::new(&context);
    let streams = [context.stream().unwrap(), context.stream().unwrap()];
    let mut outs = [out(&context), out(&context)];
    let (graph, address) = fills(&streams[0], &pool, 1, &mut outs[0]);
    let captures = streams.each_ref().map(|stream| stream.begin_capture_in(CaptureMode::Relaxed, &pool).unwrap());
    let addresses = streams.each_ref().map(|stream| stream.alloc::<u8>(5000).unwrap().address());
    assert!(addresses[0] == address && addresses[1] != address);
    drop(captures.map(|capture| capture.finish().unwrap()));
    drop(graph);
    // From several threads, in turns that nobody knows.
    std::thread::scope(|scope| {
        for (value, stream) in (1..).zip(&streams) {
            let (context, pool) = (&context, &pool);
            scope.spawn(move || {
                let mut out = out(context);
                for _ in 0..50 {
                    let (mut graph, _) = fills(stream, pool, value, &mut out);
                    graph.launch(stream).unwrap();
                    assert_eq!(out.to_vec().unwrap(), [value; 5000]);
                }
            });
        }
    });
    assert_eq!((pool.bytes(), context.memory_stats().graphs.now), (0, 0));
}

#[test]
fn a_pool_is_of_one_context() {
    let _alone = mock::exclusive();
    let (context, other) = (context(), context());
    let stream = context.stream().unwrap();
    let error = stream.begin_capture_in(CaptureMode::Relaxed, &GraphPool::new(&other)).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["another context"]);
    assert!(!stream.is_capturing());
}

#[test]
fn graphs_of_a_plan_share_their_scratch_memory() {
    let _alone = mock::exclusive();
    let context = context();
    let plan = Plan::build(|g| {
        let rows = g.symbol("rows", 1..=4096)?;
        let x = g.input("x", [rows, 16.into()], F32, Input::Host)?;
        let y = g.softmax(x, 0)?;
        g.output_to_host("y", y)
    })
    .unwrap();
    let (pool, stream) = (Pool::new(&context), context.stream().unwrap());
    let mut exe = plan.executable(&context, &RunOptions::new().pool(&pool), Frozen::new()).unwrap();
    let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
    let mut run = |rows: usize| {
        exe.run(&stream, bind.host(x, &vec![0.0_f32; rows * 16], [rows, 16])).unwrap();
        assert_eq!(exe.host_output::<f32>(y).unwrap()[0], 1.0 / rows as f32);
        exe.graphs()
    };
    assert_eq!(run(4096), 1);
    let scratch = pool.scratch_bytes();
    assert!(scratch > 0);
    for rows in [1, 2, 8, 1024] {
        run(rows);
    }
    assert_eq!((run(4096), pool.scratch_bytes(), context.memory_stats().graphs.now), (5, scratch, scratch));
    drop(exe);
    assert_eq!(pool.scratch_bytes(), 0);
}

#[test]
fn a_capture_whose_output_earlier_graphs_of_the_pool_would_write_gives_no_graph() {
    let context = context();
    let stream = context.stream().unwrap();
    let pool = GraphPool::new(&context);
    let mut out = context.alloc_zeroed::<u8>(4096).unwrap();
    let (mut first, lent) = fills(&stream, &pool, 1, &mut out);
    let mut kept = None;
    let mut capture = |keeps: bool| {
        kept = None;
        stream.capture_in(CaptureMode::Relaxed, &pool, |s| {
            let mut own = s.alloc::<u8>(4096)?;
            s.fill_bytes(&mut own, 2)?;
            kept = Some(own).filter(|_| keeps);
            Ok(())
        })
    };
    let error = capture(true).unwrap_err();
    let text = ["4096 bytes", "earlier captures of the same pool", "Context::alloc"];
    assert_says(&error, ErrorKind::CaptureInvalidated, &text);
    let given_up = capture(false).unwrap();
    assert_eq!(pool.bytes(), 4096, "the memory of the first one");
    first.launch(&stream).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1; 4096]);
    // What no earlier graph has may be kept, and later captures do not get it.
    drop((first, given_up));
    let mut second = capture(true).unwrap();
    second.launch(&stream).unwrap();
    let (mut third, _) = fills(&stream, &pool, 3, &mut out);
    third.launch(&stream).unwrap();
    let kept = kept.unwrap();
    assert_eq!((kept.to_vec().unwrap(), out.to_vec().unwrap()), (vec![2; 4096], vec![3; 4096]));
    assert!(!lent.is_null());
}
