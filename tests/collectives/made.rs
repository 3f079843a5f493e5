//! How communicators are made.

use std::thread;

use racl::ErrorKind;
use racl::collective::{Batch, Communicator, CommunicatorOptions, Group, Reduction, RootInfo};

use crate::common::{assert_says, device_at, mock};
use crate::{DEVICES, alone, run};

#[test]
fn ranks_names_and_sizes_are_told() {
    let (acl, _alone) = alone();
    let names = run(&acl, 3, |rank| {
        assert_eq!(rank.ranks.size(), 3);
        assert_eq!(rank.ranks.context().device_id(), rank.me() as i32);
        assert!(!rank.ranks.as_raw().is_null());
        assert!(format!("{:?}", rank.ranks).contains("size: 3"));
        rank.ranks.name().to_owned()
    });
    assert!(!names[0].is_empty() && names.iter().all(|name| *name == names[0]), "{names:?}");
}

#[test]
fn one_thread_makes_all_ranks() {
    let (acl, _alone) = alone();
    let devices: Vec<_> = (0..DEVICES as i32).map(|device| acl.device(device).unwrap()).collect();
    let contexts: Vec<_> = devices.iter().map(racl::Device::context).collect();
    let ranks = Communicator::all(&contexts).unwrap();
    let streams: Vec<_> = devices.iter().map(|device| device.stream().unwrap()).collect();
    let mut sums: Vec<_> = devices.iter().map(|device| device.upload(&[device.id() + 1]).unwrap()).collect();
    for (index, communicator) in ranks.iter().enumerate() {
        assert_eq!((communicator.rank() as usize, communicator.size() as usize), (index, DEVICES));
        communicator.all_reduce_in_place(&streams[index], &mut sums[index], Reduction::Sum).unwrap();
    }
    for sum in &sums {
        assert_eq!(sum.to_vec().unwrap(), [10]);
    }

    assert_eq!(Communicator::all(&[] as &[racl::Context]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let twice = Communicator::all(&[contexts[0], contexts[0]]).unwrap_err();
    assert_says(&twice, ErrorKind::InvalidArgument, &["device 0 is named twice"]);
}

#[test]
fn subgroups_have_ranks_of_their_own() {
    let (acl, _alone) = alone();
    run(&acl, 4, |rank| {
        // Odd ones backwards; even ones do something else.
        let odd = rank.ranks.subgroup(&[3, 1], 1).unwrap();
        let Some(odd) = odd else {
            assert_eq!(rank.me() % 2, 0);
            return;
        };
        assert_eq!((odd.size(), odd.rank()), (2, u32::from(rank.me() == 1)));
        let own = rank.device.upload(&[rank.me() as i32]).unwrap();
        let mut both = rank.device.alloc::<i32>(2).unwrap();
        odd.all_gather(&rank.stream, &own, &mut both).unwrap();
        assert_eq!(both.to_vec().unwrap(), [3, 1]);
    });
    run(&acl, 1, |rank| {
        for ranks in [&[][..], &[1], &[0, 0]] {
            assert_eq!(rank.ranks.subgroup(ranks, 1).unwrap_err().kind(), ErrorKind::InvalidArgument, "{ranks:?}");
        }
        assert_eq!(rank.ranks.subgroup(&[0], 0xFFFF_FFFF).unwrap_err().kind(), ErrorKind::InvalidArgument);
    });
}

#[test]
fn a_rank_table_names_the_cards() {
    let (acl, _alone) = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ranks.json");
    let devices: Vec<_> = (0..2)
        .map(|rank| format!(r#"{{"device_id": "{rank}", "device_ip": "192.168.1.{rank}", "rank_id": "{rank}"}}"#))
        .collect();
    let server = format!(r#"{{"server_id": "10.0.0.1", "device": [{}]}}"#, devices.join(", "));
    let text =
        format!(r#"{{"status": "completed", "version": "1.0", "server_count": "1", "server_list": [{server}]}}"#);
    std::fs::write(&path, text).unwrap();
    let rank = |rank: i32| {
        let device = acl.device(rank).unwrap();
        let ranks = match rank {
            0 => Communicator::from_rank_table(device.context(), &path, 0),
            _ => CommunicatorOptions::new().name("by table").init_from_rank_table(device.context(), &path, 1),
        };
        let ranks = ranks.unwrap();
        let mut sum = device.upload(&[rank + 1]).unwrap();
        ranks.all_reduce_in_place(&device.stream().unwrap(), &mut sum, Reduction::Sum).unwrap();
        assert_eq!(sum.to_vec().unwrap(), [3]);
        assert_eq!(ranks.name() == "by table", rank == 1);
    };
    thread::scope(|scope| {
        scope.spawn(|| rank(1));
        rank(0);
    });

    let context = acl.device(0).unwrap().context().clone();
    let error = Communicator::from_rank_table(&context, &path, 1).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["rank table", "device 1"]);
    let error = Communicator::from_rank_table(&context, &path, 2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let error = Communicator::from_rank_table(&context, folder.path().join("none"), 0).unwrap_err();
    assert_says(&error, ErrorKind::File, &["none"]);
    let error = Communicator::from_rank_table(&context, "a\0b", 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    std::fs::write(&path, "{").unwrap();
    assert_eq!(Communicator::from_rank_table(&context, &path, 0).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn a_root_information_is_bytes() {
    let (acl, _alone) = alone();
    let context = acl.device(0).unwrap().context().clone();
    let root = RootInfo::new(&context).unwrap();
    assert_eq!(root.as_bytes().len(), RootInfo::BYTES);
    assert_eq!(RootInfo::try_from(root.as_bytes()).unwrap(), root);
    assert_ne!(root, RootInfo::new(&context).unwrap());
    for bad in [&root.as_bytes()[1..], &[], &[root.as_bytes(), &[0]].concat()] {
        assert_eq!(RootInfo::from_bytes(bad).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
    // Bytes that are none.
    for byte in [0_u8, 1, 0xFF] {
        let none = RootInfo::from_bytes(&[byte; RootInfo::BYTES]).unwrap();
        let error = Communicator::new(&context, &none, 0, 1).unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["HcclCommInitRootInfo", "root information"]);
    }
    for (rank, size) in [(0, 0), (1, 1), (5, 2)] {
        assert_eq!(Communicator::new(&context, &root, rank, size).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
    assert_eq!(Communicator::new(&context, &root, 0, 1000).unwrap_err().kind(), ErrorKind::NotSupported);
    Communicator::new(&context, &root, 0, 1).unwrap();
}

#[test]
fn two_threads_of_a_card_do_not_make_communicators_at_once() {
    let (_acl, _alone) = alone();
    let (zero, one) = (device_at(0), device_at(1));
    let root = RootInfo::new(zero.context()).unwrap();
    let calls = mock::calls("HcclCommInitRootInfo");
    thread::scope(|scope| {
        let first = scope.spawn(|| Communicator::new(zero.context(), &root, 0, 2).unwrap());
        while mock::calls("HcclCommInitRootInfo") == calls {
            thread::yield_now();
        }
        let error = Communicator::new(zero.context(), &root, 1, 2).unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["another thread", "device 0"]);
        let second = Communicator::new(one.context(), &root, 1, 2).unwrap();
        assert_eq!((first.join().unwrap().rank(), second.rank()), (0, 1));
    });
}

#[test]
fn communicators_go_between_threads() {
    fn both<T: Send + Sync>() {}
    both::<Communicator>();
    both::<RootInfo>();
    both::<CommunicatorOptions>();
    fn exclusive<T: std::panic::UnwindSafe>() {}
    exclusive::<RootInfo>();
    let _: fn(&Batch<'_>, &Group<'_>) = |_, _| {};
}
