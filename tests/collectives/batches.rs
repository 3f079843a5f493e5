//! Messages between two ranks, in batches and in groups.

use racl::collective::Group;
use racl::{CaptureMode, ErrorKind};

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

        let captured = rank.stream.capture(CaptureMode::ThreadLocal, |stream| {
            let mut group = Group::new();
            group.send(&rank.ranks, stream, &memory, other)?;
            group.submit()
        });
        assert_eq!(kind(captured.unwrap_err()), ErrorKind::CaptureForbidden);
    });
}
