//! Messages between two ranks, in batches and in groups.

use std::sync::atomic::{AtomicBool, Ordering};

use racl::collective::{Communicator, Group};
use racl::{CaptureMode, ErrorKind};

use crate::common::{Over, device_at, mock};
use crate::{alone, run};

#[test]
fn a_message_goes_from_one_rank_to_another() {
    let (acl, _alone) = alone();
    run(&acl, 2, |rank| {
        let mut memory = rank.device.upload(&[rank.me() as f64 + 1.0; 3]).unwrap();
        for _ in 0..3 {
            if rank.me() == 0 {
                rank.ranks.send(&rank.stream, &memory, 1).unwrap();
                rank.ranks.receive(&rank.stream, &mut memory, 1).unwrap();
            } else {
                let mut twice = rank.device.alloc::<f64>(3).unwrap();
                rank.ranks.receive(&rank.stream, &mut twice, 0).unwrap();
                let doubled: Vec<_> = twice.to_vec().unwrap().iter().map(|x| 2.0 * x).collect();
                memory = rank.device.upload(&doubled).unwrap();
                rank.ranks.send(&rank.stream, &memory, 0).unwrap();
            }
        }
        assert_eq!(memory.to_vec().unwrap(), [8.0; 3]);
    });
}

#[test]
fn a_ring_turns_in_one_batch() {
    let (acl, _alone) = alone();
    run(&acl, 4, |rank| {
        let (me, next, before) = (rank.ranks.rank(), (rank.ranks.rank() + 1) % 4, (rank.ranks.rank() + 3) % 4);
        let own = rank.device.upload(&[me, me + 10]).unwrap();
        let (mut left, mut self_sent) = (rank.device.alloc::<u32>(2).unwrap(), rank.device.alloc::<u32>(2).unwrap());
        let mut batch = rank.ranks.batch(&rank.stream);
        batch.send(&own, next).unwrap().receive(&mut left, before).unwrap();
        batch.send(&own, me).unwrap().receive(&mut self_sent, me).unwrap();
        batch.submit().unwrap();
        assert_eq!(left.to_vec().unwrap(), [before, before + 10]);
        assert_eq!(self_sent.to_vec().unwrap(), [me, me + 10]);
    });
}

#[test]
fn a_batch_is_replayed_by_a_graph() {
    let (acl, _alone) = alone();
    run(&acl, 2, |rank| {
        let other = 1 - rank.ranks.rank();
        let mut own = rank.device.upload(&[rank.me() as i32; 4]).unwrap();
        let mut got = rank.device.upload(&[0; 4]).unwrap();
        let mut graph = rank
            .stream
            .capture(CaptureMode::ThreadLocal, |stream| {
                let mut batch = rank.ranks.batch(stream);
                batch.send(&own, other)?.receive(&mut got, other)?;
                batch.submit()
            })
            .unwrap();
        for round in 0..3 {
            own.write(&[rank.me() as i32 + 10 * round; 4]).unwrap();
            graph.launch(&rank.stream).unwrap();
            assert_eq!(got.to_vec().unwrap(), [other as i32 + 10 * round; 4]);
        }
    });
}

#[test]
fn a_group_joins_messages_of_several_streams_and_communicators() {
    let (acl, _alone) = alone();
    run(&acl, 2, |rank| {
        let other = 1 - rank.ranks.rank();
        let second = rank.ranks.subgroup(&[1, 0], 7).unwrap().unwrap();
        assert_eq!((second.rank(), second.size()), (other, 2));
        let side = rank.device.stream().unwrap();
        let own = rank.device.upload(&[rank.ranks.rank()]).unwrap();
        let (mut first, mut swapped) = (rank.device.alloc::<u32>(1).unwrap(), rank.device.alloc::<u32>(1).unwrap());
        let mut group = Group::new();
        // Alone each send would wait for the other rank's receive, which stands behind a send.
        group.send(&rank.ranks, &rank.stream, &own, other).unwrap();
        group.send(&second, &side, &own, rank.ranks.rank()).unwrap();
        group.receive(&rank.ranks, &rank.stream, &mut first, other).unwrap();
        group.receive(&second, &side, &mut swapped, rank.ranks.rank()).unwrap();
        group.submit().unwrap();
        assert_eq!((first.to_vec().unwrap(), swapped.to_vec().unwrap()), (vec![other], vec![other]));
    });
}

#[test]
fn a_group_is_replayed_by_a_graph() {
    let (acl, _alone) = alone();
    run(&acl, 2, |rank| {
        let other = 1 - rank.ranks.rank();
        let second = rank.ranks.subgroup(&[1, 0], 7).unwrap().unwrap();
        let side = rank.device.stream().unwrap();
        let mut own = rank.device.upload(&[0]).unwrap();
        let (mut first, mut swapped) = (rank.device.alloc::<u32>(1).unwrap(), rank.device.alloc::<u32>(1).unwrap());
        let mut graph = rank
            .stream
            .capture(CaptureMode::ThreadLocal, |stream| {
                stream.fork(&side)?;
                let mut group = Group::new();
                group.send(&rank.ranks, stream, &own, other)?;
                group.send(&second, &side, &own, rank.ranks.rank())?;
                group.receive(&rank.ranks, stream, &mut first, other)?;
                group.receive(&second, &side, &mut swapped, rank.ranks.rank())?;
                group.submit()?;
                stream.join(&side)
            })
            .unwrap();
        drop((second, side));
        for round in 0..3 {
            own.write(&[rank.ranks.rank() + 10 * round]).unwrap();
            graph.launch(&rank.stream).unwrap();
            let want = vec![other + 10 * round];
            assert_eq!((first.to_vec().unwrap(), swapped.to_vec().unwrap()), (want.clone(), want));
        }
    });
}

#[test]
fn batches_and_groups_refuse_what_cannot_go() {
    let (acl, _alone) = alone();
    run(&acl, 2, |rank| {
        let (me, other) = (rank.ranks.rank(), 1 - rank.ranks.rank());
        let memory = rank.device.upload(&[0_u8; 8]).unwrap().into_shared();
        let (mut low, high) = (memory.slice(..4).unwrap(), memory.slice(2..).unwrap());
        let kind = |error: racl::Error| error.kind();

        assert_eq!(kind(rank.ranks.batch(&rank.stream).submit().unwrap_err()), ErrorKind::InvalidArgument);
        assert_eq!(kind(Group::new().submit().unwrap_err()), ErrorKind::InvalidArgument);
        let mut batch = rank.ranks.batch(&rank.stream);
        assert_eq!(kind(batch.send(&memory, 2).unwrap_err()), ErrorKind::InvalidArgument);
        batch.send(&high, other).unwrap();
        assert_eq!(kind(batch.receive(&mut low, other).unwrap_err()), ErrorKind::InvalidArgument);
        drop(batch);
        let mut group = Group::new();
        assert_eq!(kind(group.send(&rank.ranks, &rank.stream, &memory, me).unwrap_err()), ErrorKind::InvalidArgument);
        drop(group);
        assert_eq!(kind(rank.ranks.send(&rank.stream, &memory, me).unwrap_err()), ErrorKind::InvalidArgument);

        let side = rank.device.stream().unwrap();
        let calls = mock::calls("HcclGroupStart");
        let captured = rank.stream.capture(CaptureMode::ThreadLocal, |stream| {
            let mut group = Group::new();
            group.send(&rank.ranks, stream, &memory, other)?.send(&rank.ranks, &side, &memory, other)?;
            group.submit()
        });
        assert_eq!(mock::calls("HcclGroupStart"), calls);
        assert_eq!(kind(captured.unwrap_err()), ErrorKind::CaptureForbidden);
    });
}

#[test]
fn a_group_that_is_refused_reaches_nothing_and_spoils_the_capture() {
    let (acl, _alone) = alone();
    run(&acl, 2, |rank| {
        let other = 1 - rank.ranks.rank();
        let memory = rank.device.upload(&[0_u8; 64]).unwrap();
        let own = rank.ranks.subgroup(&[0, 1], 9).unwrap().unwrap();

        // The building ends before the group is submitted.
        let builder = rank.device.context().build_graph().unwrap();
        let bound = builder.first().clone();
        let mut group = Group::new();
        group.send(&own, &bound, &memory, other).unwrap();
        let graph = builder.finish();
        assert_eq!(group.submit().unwrap_err().kind(), ErrorKind::NotSupported);
        drop(graph);

        let captured = rank.stream.capture(CaptureMode::ThreadLocal, |stream| {
            let mut group = Group::new();
            group.send(&own, stream, &memory, other)?;
            own.abort()?;
            assert_eq!(group.submit().unwrap_err().kind(), ErrorKind::Aborted);
            Ok(())
        });
        assert_eq!(captured.unwrap_err().kind(), ErrorKind::CaptureInvalidated);
    });
}

#[test]
fn what_a_group_uses_stays_while_another_thread_waits_for_the_stream() {
    const PARTS: usize = 100;
    let (_acl, _alone) = alone();
    let devices = [0, 1].map(device_at);
    let ranks = Communicator::all(&[devices[0].context(), devices[1].context()]).unwrap();
    let (stream, there) = (devices[0].stream().unwrap(), devices[1].stream().unwrap());
    let over = AtomicBool::new(false);
    let mut reused = 0;
    std::thread::scope(|scope| {
        let _over = Over::at_end(&over);
        // While a group is made the library has nothing of it, and this thread finds the stream idle.
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                stream.synchronize().unwrap();
            }
        });
        for _ in 0..20 {
            let mut first = devices[0].upload(&[0_u8; 512]).unwrap();
            let rest = devices[0].upload(&[0_u8; PARTS]).unwrap().into_shared();
            let mut parts: Vec<_> = (0..PARTS).map(|at| rest.slice(at..=at).unwrap()).collect();
            let mut group = Group::new();
            group.receive(&ranks[0], &stream, &mut first, 1).unwrap();
            for part in &mut parts {
                group.receive(&ranks[0], &stream, part, 1).unwrap();
            }
            group.submit().unwrap();
            let place = first.address();
            drop(first);
            reused += usize::from(devices[0].alloc::<u8>(512).unwrap().address() == place);
            let sent = devices[1].upload(&[7_u8; 512]).unwrap().into_shared();
            ranks[1].send(&there, &sent, 0).unwrap();
            for at in 0..PARTS {
                ranks[1].send(&there, &sent.slice(at..=at).unwrap(), 0).unwrap();
            }
            there.synchronize().unwrap();
        }
    });
    assert_eq!(reused, 0);
}

#[test]
fn a_card_that_cannot_be_made_current_leaves_no_group_open() {
    let (_acl, _alone) = alone();
    let devices = [0, 1].map(device_at);
    let mut times = 1;
    let mut nth = 0;
    while nth <= times {
        let ranks = Communicator::all(&[devices[0].context(), devices[1].context()]).unwrap();
        let streams = [0, 1].map(|at: usize| devices[at].stream().unwrap());
        let own = devices[0].upload(&[5]).unwrap();
        let mut got = devices[1].upload(&[0]).unwrap();
        let mut group = Group::new();
        group.send(&ranks[0], &streams[0], &own, 1).unwrap();
        group.receive(&ranks[1], &streams[1], &mut got, 0).unwrap();
        let before = mock::calls("aclrtSetCurrentContext");
        if nth > 0 {
            mock::fail("aclrtSetCurrentContext", nth, 107_002).unwrap();
        }
        // The mock queues on streams of one context at a time: it fails, and that is told.
        group.submit().unwrap_err();
        mock::clear_failures();
        if nth == 0 {
            times = mock::calls("aclrtSetCurrentContext") - before;
        }
        // Calls outside of a group are queued at once.
        ranks[0].send(&streams[0], &own, 1).unwrap();
        ranks[1].receive(&streams[1], &mut got, 0).unwrap();
        assert_eq!(got.to_vec().unwrap(), [5], "{nth} of {times}");
        // A message of the group that was queued before waits for one who takes it.
        ranks[0].abort().unwrap();
        nth += 1;
    }
    assert!(times >= 2, "{times}");
}
