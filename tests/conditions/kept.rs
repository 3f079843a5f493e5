//! What bodies touch is the graph's: kept, in order with other streams, and of its pool.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use racl::{CaptureMode, GraphPool, Prefetch, op};

use crate::common::{device, mock, needs_function};
use crate::{bytes, capture, number, word};

#[test]
fn a_graph_keeps_what_its_bodies_use() {
    let device = device();
    let context = device.context().create_context().unwrap();
    let stream = context.stream().unwrap();
    let mut out = context.zeros::<f32>([8, 8]).unwrap();
    let runs = Arc::new(AtomicU32::new(0));
    let inside = Arc::clone(&runs);
    let (mut input, mut output) = (None, None);
    // Relaxed: the ones are made while it captures.
    let captured = stream.capture(CaptureMode::Relaxed, |s| {
        let condition = s.condition(Some(1))?;
        s.if_then(&condition, |s| {
            let (mut given, ones) = (context.alloc::<f32>(64)?, context.upload_tensor(&[1.0_f32; 64], [8, 8])?);
            input = Some(s.upload(context.pinned::<f32>(64)?, &mut given)?);
            let given = racl::Tensor::over(given, [8, 8])?;
            s.prefetch(&ones, Prefetch::all())?;
            // A first dimension needs scratch memory. Eighths, each time.
            op::softmax(s, &ones, 0, &mut ones.clone())?;
            op::matmul(s, &given.transposed(0, 1)?, &ones, &mut out)?;
            output = Some(s.download(&out.buffer()?, context.pinned::<f32>(64)?)?);
            s.host_function(move || {
                inside.fetch_add(1, Ordering::Relaxed);
            })
        })
    });
    let mut graph = captured.unwrap();
    // Given and ones, 256 bytes each, are the graph's alone by now, and so is the scratch memory.
    assert!(graph.memory_bytes() > 3 * 256, "{}", graph.memory_bytes());
    let filler = vec![7.0_f32; 64];
    let others: Vec<_> = (0..50).map(|_| context.upload(&filler).unwrap()).collect();
    let (input, output) = (input.unwrap(), output.unwrap());
    for turn in 1..=3 {
        graph.host(&input).unwrap().fill(turn as f32);
        graph.launch(&stream).unwrap();
        assert_eq!(*graph.host(&output).unwrap(), [turn as f32; 64]);
    }
    assert_eq!(runs.load(Ordering::Relaxed), 3);
    assert!(others.iter().all(|other| other.to_vec().unwrap() == filler));
    graph.close().unwrap();
    drop((out, others, stream));
    assert_eq!(context.memory_stats().active.now, 0);
}

/// The launch waits for work of another stream on memory that only a body uses, and the other way round.
#[test]
fn launches_are_in_order_with_other_streams_by_what_their_bodies_use() {
    let _alone = mock::exclusive();
    mock::stand_still(true);
    let context = device().context().create_context().unwrap();
    let (main, other) = (context.stream().unwrap(), context.stream().unwrap());
    let (mut x, mut y) = (context.zeros::<f32>([4]).unwrap(), context.zeros::<f32>([4]).unwrap());
    let mut graph = capture(&main, |s| {
        let condition = s.condition(Some(0))?;
        s.if_else(&condition, |_| Ok(()), |s| op::muls(s, &x, 2.0, &mut y))
    });
    mock::hold(&other).unwrap();
    op::fill(&other, &mut x, 3.0).unwrap();
    graph.launch(&main).unwrap();
    mock::run_until_idle();
    mock::release(&other).unwrap();
    mock::run_until_idle();
    assert_eq!(y.to_vec().unwrap(), [6.0; 4]);

    mock::hold(&main).unwrap();
    graph.launch(&main).unwrap();
    op::fill(&other, &mut x, 5.0).unwrap(); // overwrites what the body reads
    mock::run_until_idle();
    mock::release(&main).unwrap();
    mock::run_until_idle();
    assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![5.0; 4], vec![6.0; 4]));
    mock::stand_still(false);
}

#[test]
fn memory_that_a_body_makes_is_of_the_pool_and_is_had_again_behind_it() {
    needs_function("aclmdlRICondHandleCreate");
    let context = device().context().create_context().unwrap();
    let (stream, pool) = (context.stream().unwrap(), GraphPool::new(&context));
    let mut outs = [(); 2].map(|()| context.alloc_zeroed::<u8>(5000).unwrap());
    let mut graphs = Vec::new();
    for (value, out) in (1_u8..).zip(&mut outs) {
        let mut addresses = Vec::new();
        graphs.push(stream.capture_in(CaptureMode::ThreadLocal, &pool, |s| {
            let condition = s.condition(Some(1))?;
            let mut temporary = |s: &racl::Stream, value: u8| {
                let mut memory = s.alloc::<u8>(5000)?;
                addresses.push(memory.address());
                s.fill_bytes(&mut memory, value).map(|()| memory)
            };
            drop(temporary(s, 0)?);
            s.switch(&condition, 3, |case, s| {
                let inner = s.condition(Some(1))?;
                if case == 0 {
                    drop(temporary(s, 9)?);
                }
                s.if_then(&inner, |s| temporary(s, 9).map(drop))?;
                s.copy(&temporary(s, value + 10 * u8::try_from(case).unwrap())?, out)
            })?;
            drop(temporary(s, 0)?);
            Ok(())
        }));
        // Given up by what comes before, or by a body that runs instead.
        assert_eq!(addresses, [addresses[0]; 9]);
    }
    let mut graphs: Vec<_> = graphs.into_iter().map(Result::unwrap).collect();
    assert_eq!(pool.bytes(), 5000);
    graphs.iter_mut().for_each(|graph| graph.launch(&stream).unwrap());
    for (value, out) in (11..).zip(&outs) {
        assert_eq!(out.to_vec().unwrap(), [value; 5000]);
    }
    drop(graphs);
    assert_eq!(pool.bytes(), 0);
}

/// Memory that a body gave to its caller is not had again, and neither is one that it only borrowed.
#[test]
fn memory_that_somebody_has_still_is_not_had_again() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut out = device.alloc::<u8>(64).unwrap();
    let mut graph = capture(&stream, |s| {
        let condition = s.condition(Some(1))?;
        let (mut around, mut inside) = (s.alloc::<u8>(64)?, None);
        s.if_then(&condition, |s| {
            s.fill_bytes(&mut around, 1)?;
            let mut own = s.alloc::<u8>(64)?;
            s.fill_bytes(&mut own, 2)?;
            inside = Some(own);
            Ok(())
        })?;
        let (inside, mut third) = (inside.unwrap(), s.alloc::<u8>(64)?);
        s.fill_bytes(&mut third, 3)?;
        s.copy(&inside, &mut third)?;
        s.copy(&around, &mut out)?;
        s.copy(&third.slice(..32)?, &mut out.slice_mut(..32)?)
    });
    graph.launch(&stream).unwrap();
    let found = out.to_vec().unwrap();
    assert_eq!((&found[..32], &found[32..]), (&[2; 32][..], &[1; 32][..]));
}

#[test]
fn the_race_checker_finds_nothing_in_bodies_that_fork_and_join() {
    let _alone = mock::exclusive();
    let before = mock::check_races(mock::RaceCheck::Report);
    let device = device();
    let (stream, out, wanted) = (device.stream().unwrap(), bytes(&device, 64), word(&device, 1));
    let mut graph = capture(&stream, |s| {
        let condition = s.condition(None)?;
        s.copy(&wanted, &mut condition.cell()?)?;
        let (one, other) = (out.clone(), out.clone());
        let fill = |s: &racl::Stream, value| {
            let side = s.side("1")?;
            s.fork(&side)?;
            side.fill_bytes(&mut one.clone(), value)?;
            s.join(&side)
        };
        s.if_else(
            &condition,
            |s| fill(s, 1),
            |s| other.clone().slice(..8).and_then(|mut part| s.fill_bytes(&mut part, 2)),
        )?;
        s.fill_bytes(&mut out.slice(..1)?, 3)
    });
    for _ in 0..3 {
        graph.launch(&stream).unwrap();
        stream.synchronize().unwrap();
    }
    let found = mock::races();
    mock::check_races(before);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(out.to_vec().unwrap()[..2], [3, 1]);
}

/// Through pinned memory that the graph has.
#[test]
fn the_host_gives_and_takes_numbers_between_launches() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut out = device.zeros::<i64>([1]).unwrap();
    let (mut given, mut left) = (None, None);
    let mut graph = capture(&stream, |s| {
        let condition = s.condition(None)?;
        let mut cell = condition.cell::<i64>()?;
        given = Some(s.upload(device.pinned(1)?, &mut cell)?);
        s.repeat_while(&condition, |s| {
            op::adds_inplace(s, &mut out, 1_i64)?;
            op::adds_inplace(s, &mut number(&condition), -1_i64)
        })?;
        left = Some(s.download(&cell, device.pinned(1)?)?);
        Ok(())
    });
    let (given, left) = (given.unwrap(), left.unwrap());
    let mut rounds = 0;
    for more in [3, 0, 7] {
        rounds += more;
        graph.host(&given).unwrap()[0] = more;
        graph.host(&left).unwrap()[0] = -1;
        graph.launch(&stream).unwrap();
        assert_eq!((out.to_vec().unwrap()[0], graph.host(&left).unwrap()[0]), (rounds, 0));
    }
}

#[test]
fn a_condition_and_its_cell_may_go_before_the_graph_is_whole() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut out = bytes(&device, 1);
    let mut graph = capture(&stream, |s| {
        let condition = s.condition(None)?;
        let mut cell = number(&condition);
        s.if_then(&condition, |s| s.fill_bytes(&mut out, 5))?;
        drop(condition);
        op::fill(s, &mut cell, 1_i64)
    });
    for expected in [0, 5] {
        graph.launch(&stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), [expected]);
    }
}
