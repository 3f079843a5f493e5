//! Operations in captured graphs, and their order on several streams.

use crate::common::{assert_says, device_at, mock};
use racl::collective::{Communicator, Reduction};
use racl::op::DataType::F32;
use racl::plan::{Foreign, Frozen, Input, Plan};
use racl::{CaptureMode, ErrorKind, op};

use crate::{alone, run};

#[test]
fn a_graph_runs_its_operations_with_what_is_there_then() {
    let (acl, _alone) = alone();
    run(&acl, 3, |rank| {
        let mut x = rank.device.zeros::<f32>([4]).unwrap();
        let mut twice = rank.device.zeros::<f32>([4]).unwrap();
        let mut all = rank.device.zeros::<f32>([12]).unwrap();
        let mut graph = rank
            .stream
            .capture(CaptureMode::ThreadLocal, |stream| {
                op::add(stream, &x, &x, &mut twice)?;
                rank.ranks.all_reduce_in_place(stream, &mut twice, Reduction::Sum)?;
                rank.ranks.all_gather(stream, &twice, &mut all)
            })
            .unwrap();
        for round in 0..4 {
            let own = [round as f32, 1.0, rank.me() as f32, -1.0];
            x.write(&own).unwrap();
            graph.launch(&rank.stream).unwrap();
            let sum = [6.0 * round as f32, 6.0, 6.0, -6.0];
            assert_eq!(all.to_vec().unwrap(), [sum; 3].concat(), "{round}");
        }
        assert!(rank.ranks.async_error().unwrap().is_none());
    });
}

#[test]
fn a_graph_keeps_the_communicator_and_the_memory() {
    let (_acl, _alone) = alone();
    let before = mock::live_handles().library_objects;
    let devices = [0, 1].map(device_at);
    let ranks = Communicator::all(&[devices[0].context(), devices[1].context()]).unwrap();
    let mut graphs = Vec::new();
    let mut results = Vec::new();
    for (device, communicator) in devices.iter().zip(ranks) {
        let stream = device.stream().unwrap();
        let send = device.upload(&[device.id() + 1; 8]).unwrap();
        let recv = device.upload(&[0; 8]).unwrap().into_shared();
        let sum = |stream: &racl::Stream| communicator.all_reduce(stream, &send, &mut recv.clone(), Reduction::Sum);
        graphs.push((stream.capture(CaptureMode::ThreadLocal, sum).unwrap(), stream));
        results.push(recv);
    }
    for (graph, stream) in &mut graphs {
        graph.launch(stream).unwrap();
    }
    assert_eq!(results[0].to_vec().unwrap(), [3; 8]);
    assert_eq!(results[1].to_vec().unwrap(), [3; 8]);
    drop(graphs);
    assert_eq!(mock::live_handles().library_objects, before);
}

#[test]
fn a_plan_reduces_in_a_closure() {
    let (acl, _alone) = alone();
    run(&acl, 2, |rank| {
        let ranks = rank.ranks.subgroup(&[0, 1], 5).unwrap().unwrap();
        let kinds = |done: racl::Result<()>| done.unwrap_err().kind();
        let sum = Foreign::new("test.sum", 1, move |launch| {
            assert_eq!(kinds(launch.all_reduce(&ranks, 0, 2, Reduction::Sum)), ErrorKind::InvalidArgument);
            // What is only read is not written, and the other way round.
            assert_eq!(kinds(launch.all_reduce(&ranks, 1, 0, Reduction::Sum)), ErrorKind::InvalidArgument);
            launch.all_reduce(&ranks, 0, 1, Reduction::Sum)
        });
        let plan = Plan::build(|g| {
            let x = g.input("x", [3], F32, Input::Copied)?;
            let twice = g.add(x, x)?;
            g.foreign(&sum, &[twice], &[twice])?;
            let out = g.adds(twice, 1.0)?;
            g.output("y", out)
        })
        .unwrap();
        let mut captured = plan.capture(&rank.device, Frozen::new()).unwrap();
        let (input, y) = (captured.input("x").unwrap(), captured.output_id("y").unwrap());
        let mut bind = captured.bindings();
        for round in 0..3 {
            let own = [round as f32, rank.me() as f32, 1.0];
            let x = rank.device.upload_tensor(&own, [3]).unwrap();
            bind.set(input, &x);
            captured.run(&rank.stream, &mut bind).unwrap();
            let expected = [4.0 * round as f32 + 1.0, 3.0, 5.0];
            assert_eq!(captured.output::<f32>(y).unwrap().to_vec().unwrap(), expected);
        }
    });
}

#[test]
fn operations_of_a_communicator_keep_their_order_on_several_streams() {
    let (acl, _alone) = alone();
    run(&acl, 2, |rank| {
        let side = rank.device.stream().unwrap();
        let mut first = rank.device.upload(&[1_i32; 4]).unwrap();
        let mut second = rank.device.upload(&[1_i64; 9]).unwrap();
        // Unordered, the second would be in front on this rank, and the other would be told.
        if rank.me() == 0 {
            mock::hold(&rank.stream).unwrap();
        }
        racl::untracked(|| {
            rank.ranks.all_reduce_in_place(&rank.stream, &mut first, Reduction::Sum).unwrap();
            rank.ranks.all_reduce_in_place(&side, &mut second, Reduction::Sum).unwrap();
        });
        assert!(rank.me() == 1 || !side.is_complete().unwrap());
        if rank.me() == 0 {
            mock::release(&rank.stream).unwrap();
        }
        assert_eq!(second.to_vec().unwrap(), [2; 9]);
        assert_eq!(first.to_vec().unwrap(), [2; 4]);
    });
}

#[test]
fn launches_of_graphs_are_operations_in_that_order() {
    let (acl, _alone) = alone();
    run(&acl, 2, |rank| {
        let (side, third) = (rank.device.stream().unwrap(), rank.device.stream().unwrap());
        let mut first = rank.device.upload(&[1_i32; 4]).unwrap();
        let mut second = rank.device.upload(&[1_i64; 9]).unwrap();
        let mut last = rank.device.upload(&[1_i32; 5]).unwrap();
        let mut graph = side
            .capture(CaptureMode::ThreadLocal, |stream| {
                rank.ranks.all_reduce_in_place(stream, &mut second, Reduction::Sum)
            })
            .unwrap();
        // Unordered, what is behind would be in front on this rank, and the other would be told.
        if rank.me() == 0 {
            mock::hold(&rank.stream).unwrap();
        }
        racl::untracked(|| {
            rank.ranks.all_reduce_in_place(&rank.stream, &mut first, Reduction::Sum).unwrap();
            graph.launch(&side).unwrap();
            rank.ranks.all_reduce_in_place(&third, &mut last, Reduction::Sum).unwrap();
            graph.launch(&rank.stream).unwrap();
        });
        assert!(rank.me() == 1 || !(side.is_complete().unwrap() || third.is_complete().unwrap()));
        if rank.me() == 0 {
            mock::release(&rank.stream).unwrap();
        }
        rank.stream.synchronize().unwrap();
        assert_eq!(second.to_vec().unwrap(), [4; 9], "two launches");
        assert_eq!((first.to_vec().unwrap(), last.to_vec().unwrap()), (vec![2; 4], vec![2; 5]));
        assert!(rank.ranks.async_error().unwrap().is_none());
    });
}

#[test]
fn a_graph_whose_communicator_was_aborted_is_not_launched() {
    let (acl, _alone) = alone();
    run(&acl, 1, |rank| {
        let ranks = rank.ranks.subgroup(&[0], 3).unwrap().unwrap();
        let mut x = rank.device.upload(&[1_i32; 4]).unwrap();
        let sum = |s: &racl::Stream, x: &mut _| ranks.all_reduce_in_place(s, x, Reduction::Sum);
        let mut graph = rank.stream.capture(CaptureMode::ThreadLocal, |s| sum(s, &mut x)).unwrap();
        graph.launch(&rank.stream).unwrap();
        graph.wait().unwrap();
        ranks.abort().unwrap();
        let launches = mock::calls("aclmdlRIExecuteAsync");
        assert_says(&graph.launch(&rank.stream).unwrap_err(), ErrorKind::Aborted, &["the communicator was aborted"]);
        assert_eq!(mock::calls("aclmdlRIExecuteAsync"), launches);
        assert_eq!(x.to_vec().unwrap(), [1; 4]);
    });
}

#[test]
fn work_on_other_streams_waits_for_operations_on_its_memory() {
    let (acl, _alone) = alone();
    run(&acl, 2, |rank| {
        let other = rank.device.stream().unwrap();
        let mut x = rank.device.upload_tensor(&[1.0_f32, 2.0], [2]).unwrap();
        for round in 1..=5 {
            op::adds_inplace(&other, &mut x, 1.0).unwrap();
            rank.ranks.all_reduce_in_place(&rank.stream, &mut x, Reduction::Max).unwrap();
            let expected = [1.0 + round as f32, 2.0 + round as f32];
            op::muls_inplace(&other, &mut x, 1.0).unwrap();
            assert_eq!(x.to_vec().unwrap(), expected);
        }
    });
}

#[test]
fn an_update_of_a_graph_takes_no_operations() {
    let (acl, _alone) = alone();
    run(&acl, 1, |rank| {
        let mut x = rank.device.upload_tensor(&[1.0_f32], [1]).unwrap();
        let capture = rank.stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        let group = rank.stream.task_group(|stream| op::adds_inplace(stream, &mut x, 1.0)).unwrap();
        let mut graph = capture.finish().unwrap();
        let calls = mock::calls("HcclBarrier");
        let refused = graph.update(&group, |stream| rank.ranks.barrier(stream)).unwrap_err();
        assert_says(&refused, ErrorKind::NotSupported, &["an update of a graph"]);
        assert_eq!(mock::calls("HcclBarrier"), calls);
        rank.ranks.barrier(&rank.stream).unwrap();
        rank.stream.synchronize().unwrap();
    });
}
