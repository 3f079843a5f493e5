//! A failure of each call of the library.

use crate::common::{device_at, mock};
use racl::collective::{Communicator, CommunicatorOptions, Determinism, Group, Reduction, RootInfo};
use racl::sys::{Library, Table};
use racl::{Context, ErrorKind, Result, Stream};

use crate::alone;

struct Alone {
    context: Context,
    stream: Stream,
    ranks: Communicator,
}

type Step = fn(&Alone) -> Result<()>;

const SUM: Reduction = Reduction::Sum;

/// Each call, and what makes it.
fn steps() -> Vec<(&'static str, Step)> {
    vec![
        ("HcclGetRootInfo", |with| RootInfo::new(&with.context).map(drop)),
        ("HcclCommInitRootInfo", |with| alone_again(with, CommunicatorOptions::new())),
        ("HcclCommInitRootInfoConfig", |with| alone_again(with, CommunicatorOptions::new().name("x"))),
        ("HcclGetRankId", |with| alone_again(with, CommunicatorOptions::new())),
        ("HcclGetRankSize", |with| alone_again(with, CommunicatorOptions::new())),
        ("HcclGetCommName", |with| alone_again(with, CommunicatorOptions::new())),
        ("HcclCommInitAll", |with| Communicator::all(&[&with.context]).map(drop)),
        ("HcclCreateSubCommConfig", |with| with.ranks.subgroup(&[0], 1).map(drop)),
        ("HcclGetCommAsyncError", |with| with.ranks.async_error().map(drop)),
        ("HcclSetConfig", |with| with.context.set_collective_determinism(Determinism::On)),
        ("HcclGetConfig", |with| with.context.collective_determinism().map(drop)),
        ("HcclAllReduce", |with| {
            with.ranks.all_reduce_in_place(&with.stream, &mut with.context.upload(&[1_i32])?, SUM)
        }),
        ("HcclReduce", |with| {
            let (send, mut recv) = (with.context.upload(&[1_i32])?, with.context.alloc::<i32>(1)?);
            with.ranks.reduce(&with.stream, &send, &mut recv, SUM, 0)
        }),
        ("HcclReduceScatter", |with| {
            let (send, mut recv) = (with.context.upload(&[1_i32])?, with.context.alloc::<i32>(1)?);
            with.ranks.reduce_scatter(&with.stream, &send, &mut recv, SUM)
        }),
        ("HcclReduceScatterV", |with| {
            let (send, mut recv) = (with.context.upload(&[1_i32])?, with.context.alloc::<i32>(1)?);
            #[allow(clippy::single_range_in_vec_init)]
            with.ranks.reduce_scatter_v(&with.stream, &send, &mut recv, &[0..1], SUM)
        }),
        ("HcclBroadcast", |with| with.ranks.broadcast(&with.stream, &mut with.context.upload(&[1_i32])?, 0)),
        ("HcclScatter", |with| {
            let (send, mut recv) = (with.context.upload(&[1_i32])?, with.context.alloc::<i32>(1)?);
            with.ranks.scatter(&with.stream, Some(&send), &mut recv, 0)
        }),
        ("HcclAllGather", |with| {
            let (send, mut recv) = (with.context.upload(&[1_i32])?, with.context.alloc::<i32>(1)?);
            with.ranks.all_gather(&with.stream, &send, &mut recv)
        }),
        ("HcclAllGatherV", |with| {
            let (send, mut recv) = (with.context.upload(&[1_i32])?, with.context.alloc::<i32>(1)?);
            #[allow(clippy::single_range_in_vec_init)]
            with.ranks.all_gather_v(&with.stream, &send, &mut recv, &[0..1])
        }),
        ("HcclAlltoAll", |with| {
            let (send, mut recv) = (with.context.upload(&[1_i32])?, with.context.alloc::<i32>(1)?);
            with.ranks.all_to_all(&with.stream, &send, &mut recv)
        }),
        ("HcclAlltoAllV", |with| {
            let (send, mut recv) = (with.context.upload(&[1_i32])?, with.context.alloc::<i32>(1)?);
            #[allow(clippy::single_range_in_vec_init)]
            with.ranks.all_to_all_v(&with.stream, &send, &[0..1], &mut recv, &[0..1])
        }),
        ("HcclAlltoAllVC", |with| {
            let (send, mut recv) = (with.context.upload(&[1_i32])?, with.context.alloc::<i32>(1)?);
            with.ranks.all_to_all_vc(&with.stream, &send, &mut recv, &[1])
        }),
        ("HcclBarrier", |with| with.ranks.barrier(&with.stream)),
        ("HcclBatchSendRecv", |with| {
            let (send, mut recv) = (with.context.upload(&[1_i32])?, with.context.alloc::<i32>(1)?);
            let mut batch = with.ranks.batch(&with.stream);
            batch.send(&send, 0)?.receive(&mut recv, 0)?;
            batch.submit()
        }),
    ]
}

/// Those of a rank table, which fail like those of a root information; questions without a code; and what other tests
/// here let fail.
const ELSEWHERE: [&str; 9] = [
    "HcclCommDestroy",
    "HcclCommInitClusterInfo",
    "HcclCommInitClusterInfoConfig",
    "HcclGetCommConfigCapability",
    "HcclGetErrorString",
    "HcclGroupEnd",
    "HcclGroupStart",
    "HcclRecv",
    "HcclSend",
];

#[test]
fn each_call_of_the_library_is_among_them() {
    let mut known: Vec<_> = steps().into_iter().map(|(name, _)| name).chain(ELSEWHERE).collect();
    known.sort_unstable();
    let of_hccl = Table::names().filter(|(_, library)| *library == Library::Collectives);
    assert_eq!(known, of_hccl.map(|(name, _)| name).collect::<Vec<_>>());
}

fn alone_again(with: &Alone, options: CommunicatorOptions) -> Result<()> {
    options.init(&with.context, &RootInfo::new(&with.context)?, 0, 1).map(drop)
}

#[test]
fn each_failed_call_is_told_and_nothing_is_lost() {
    let (acl, _alone) = alone();
    let context = acl.device(0).unwrap().context().clone();
    let root = RootInfo::new(&context).unwrap();
    let ranks = Communicator::new(&context, &root, 0, 1).unwrap();
    let with = Alone { stream: context.stream().unwrap(), context, ranks };
    let before = mock::live_handles().library_objects;
    for (name, step) in steps() {
        mock::fail(name, 1, 4).unwrap();
        let error = step(&with).unwrap_err();
        assert_eq!((error.call(), error.code(), error.kind()), (Some(name), Some(4), ErrorKind::Internal), "{error}");
        mock::clear_failures();
        let calls = mock::calls(name);
        step(&with).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(mock::calls(name), calls + 1, "{name}");
        with.stream.synchronize().unwrap();
        assert!(with.ranks.async_error().unwrap().is_none(), "{name}");
    }
    assert_eq!(mock::live_handles().library_objects, before);
    assert!(with.context.take_drop_errors().is_empty());
}

#[test]
fn messages_and_groups_fail_whole() {
    let (_acl, _alone) = alone();
    let devices = [0, 1].map(device_at);
    let ranks = Communicator::all(&[devices[0].context(), devices[1].context()]).unwrap();
    let (stream, there) = (devices[0].stream().unwrap(), devices[1].stream().unwrap());
    let (own, mut got) = (devices[0].upload(&[5]).unwrap(), devices[0].upload(&[0]).unwrap());
    for (name, code) in [("HcclGroupStart", 4), ("HcclSend", 4), ("HcclRecv", 4), ("HcclGroupEnd", 4)] {
        mock::fail(name, 1, code).unwrap();
        let mut group = Group::new();
        group.send(&ranks[0], &stream, &own, 1).unwrap().receive(&ranks[0], &stream, &mut got, 1).unwrap();
        let error = group.submit().unwrap_err();
        assert_eq!((error.call(), error.code()), (Some(name), Some(code)), "{error}");
        mock::clear_failures();
        stream.synchronize().unwrap();
    }
    for name in ["HcclSend", "HcclRecv"] {
        mock::fail(name, 1, 21).unwrap();
        let sent =
            if name == "HcclSend" { ranks[0].send(&stream, &own, 1) } else { ranks[0].receive(&stream, &mut got, 1) };
        assert_eq!(sent.unwrap_err().kind(), ErrorKind::Communication);
    }
    // The thread is in no group, and the communicator works.
    let mut message = devices[1].upload(&[0]).unwrap();
    ranks[0].send(&stream, &own, 1).unwrap();
    ranks[1].receive(&there, &mut message, 0).unwrap();
    assert_eq!(message.to_vec().unwrap(), [5]);
}

#[test]
fn a_failed_destruction_is_told() {
    let (acl, _alone) = alone();
    let context = acl.device(0).unwrap().context().clone();
    let before = mock::live_handles().library_objects;
    let make = || Communicator::new(&context, &RootInfo::new(&context).unwrap(), 0, 1).unwrap();
    mock::fail("HcclCommDestroy", 1, 4).unwrap();
    let refused = make().close().unwrap_err();
    assert_eq!((refused.error().call(), refused.error().code()), (Some("HcclCommDestroy"), Some(4)));
    refused.into_value().close().unwrap();

    // In use, says the library, and is asked again.
    mock::fail("HcclCommDestroy", 1, 20).unwrap();
    mock::fail("HcclCommDestroy", 2, 20).unwrap();
    make().close().unwrap();
    mock::fail("HcclCommDestroy", 1, 20).unwrap();
    drop(make()); // by a thread of its own, which is collected here
    let stream = context.stream().unwrap();
    while mock::live_handles().library_objects != before {
        stream.synchronize().unwrap();
    }
    assert!(context.take_drop_errors().is_empty());

    mock::fail("HcclCommDestroy", 1, 16).unwrap();
    drop(make());
    let errors = context.take_drop_errors();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].kind(), ErrorKind::Driver);
    assert!(errors[0].to_string().contains("destroying the communicator"), "{}", errors[0]);
}

#[test]
fn a_task_that_fails_on_the_device_is_told() {
    let (acl, _alone) = alone();
    let context = acl.device(0).unwrap().context().clone();
    let ranks = Communicator::new(&context, &RootInfo::new(&context).unwrap(), 0, 1).unwrap();
    let stream = context.stream().unwrap();
    let mut x = context.upload(&[1_i32]).unwrap();
    mock::fail_task("HcclAllReduce", 1, 507_015).unwrap();
    ranks.all_reduce_in_place(&stream, &mut x, SUM).unwrap();
    let error = stream.synchronize().unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::DeviceFault, Some(507_015)));
    mock::clear_failures();
}
