//! Memory that grows in place: what is mapped where and when, and what becomes of it when the library does not go
//! along.

mod common;

use common::{assert_says, device, mock};
use racl::{Allocator, CaptureMode, Context, ErrorKind};

const MIB: usize = 1 << 20;

fn context() -> Context {
    let context = device().context().create_context().unwrap();
    context.set_allocator(Allocator::Growing);
    context
}

fn calls(names: [&str; 3]) -> [u64; 3] {
    names.map(mock::calls)
}

#[test]
fn blocks_of_any_size_come_from_one_range() {
    let _alone = mock::exclusive();
    let context = context();
    let names = ["aclrtMalloc", "aclrtReserveMemAddress", "aclrtMallocPhysical"];
    let before = calls(names);
    for mib in [20, 30, 40, 50] {
        drop(context.alloc::<u8>(mib * MIB).unwrap());
    }
    // 50 MiB and the tail, in steps of 2 MiB; segments of their own would be 146 MiB.
    assert_eq!(context.memory_stats().reserved.now, 52 * MIB);
    let small = context.alloc::<u8>(64).unwrap();
    assert_eq!(context.memory_stats().small.reserved, 2 * MIB);
    let after = calls(names);
    // Of the first 22 MiB 20 and 2 are a piece each.
    assert_eq!([0, 1, 2].map(|index| after[index] - before[index]), [0, 2, 2 + 1 + 1 + 1 + 1]);
    assert_eq!(context.memory_stats().device_allocations, 6);
    drop(small);
}

#[test]
fn what_is_written_across_pieces_is_read() {
    let _alone = mock::exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    drop(context.alloc::<u8>(3 * MIB).unwrap());
    let data: Vec<u32> = (0..6 * MIB as u32).collect();
    let buffer = context.upload(&data).unwrap();
    assert!(context.memory_stats().large.segments >= 2, "24 MiB in several pieces");
    let mut copy = stream.alloc::<u32>(data.len()).unwrap();
    stream.copy(&buffer, &mut copy).unwrap();
    assert!(copy.to_vec().unwrap() == data);
}

#[test]
fn what_is_unused_goes_from_between_what_is_used() {
    let _alone = mock::exclusive();
    let context = context();
    let live = || mock::live_handles().device_bytes;
    let before = live();
    let mut held: Vec<_> = (0..4_u8).map(|number| context.upload(&vec![number; 20 * MIB - 512]).unwrap()).collect();
    assert_eq!(live() - before, 80 * MIB as u64);
    drop(held.remove(1));
    assert_eq!(context.trim_memory(0), 20 * MIB);
    assert_eq!(live() - before, 60 * MIB as u64);
    // The hole is of use again.
    let again = context.upload(&vec![9_u8; 20 * MIB - 512]).unwrap();
    assert_eq!((live() - before, again.to_vec().unwrap()[20 * MIB - 513]), (80 * MIB as u64, 9));
    let first = |index: usize| held[index].to_vec().unwrap()[0];
    assert_eq!([0, 1, 2].map(first), [0, 2, 3]);
    drop((again, held));
    assert_eq!((context.trim_memory(0), live()), (80 * MIB, before));
}

#[test]
fn a_limit_and_want_of_memory_are_as_with_segments() {
    common::needs_the_card_alone("it uses up what the card has");
    let _alone = mock::exclusive();
    let context = context();
    context.set_memory_limit(Some(56 * MIB));
    let held = context.alloc::<u8>(24 * MIB).unwrap();
    let other = context.alloc::<u8>(18 * MIB).unwrap();
    let error = context.alloc::<u8>(18 * MIB).unwrap_err();
    assert_says(&error, ErrorKind::OutOfMemory, &["limit 58720256", "18874368 bytes more"]);
    // What is free between others goes, and the limit allows as much elsewhere.
    drop(held);
    let larger = context.alloc::<u8>(26 * MIB).unwrap();
    assert!(context.memory_stats().reserved.peak <= 56 * MIB);
    drop((other, larger));
    context.set_memory_limit(None);
    let most = context.memory_info().unwrap().1 / 3 * 2;
    drop(context.alloc::<u8>(most).unwrap());
    assert!(context.alloc::<u8>(2 * most).unwrap_err().kind() == ErrorKind::OutOfMemory);
    drop(context.alloc::<u8>(most + 64 * MIB).unwrap());
    // Somebody else needs it.
    let other = device().context().create_context().unwrap();
    drop(other.alloc::<u8>(most).unwrap());
    assert_eq!(context.memory_stats().reserved.now, 0);
}

#[test]
fn graphs_keep_memory_that_grew() {
    let _alone = mock::exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    let mut out = context.alloc_zeroed::<u8>(30 * MIB).unwrap();
    let mut graph = stream
        .capture(CaptureMode::ThreadLocal, |stream| {
            let mut temporary = stream.alloc::<u8>(30 * MIB)?;
            stream.fill_bytes(&mut temporary, 7)?;
            stream.copy(&temporary, &mut out)
        })
        .unwrap();
    context.trim_memory(0);
    let other = context.upload(&vec![1_u8; 30 * MIB]).unwrap();
    graph.launch(&stream).unwrap();
    assert!(out.to_vec().unwrap() == vec![7; 30 * MIB]);
    assert!(other.to_vec().unwrap() == vec![1; 30 * MIB]);
}

/// What the context calls for memory that grows.
const FUNCTIONS: [&str; 7] = [
    "aclrtMemGetAllocationGranularity",
    "aclrtGetMemInfo",
    "aclrtReserveMemAddress",
    "aclrtMallocPhysical",
    "aclrtMapMem",
    "aclrtUnmapMem",
    "aclrtFreePhysical",
];

#[test]
fn whatever_fails_memory_is_had_and_nothing_is_left() {
    let _alone = mock::exclusive();
    let before = mock::live_handles();
    for name in FUNCTIONS {
        for nth in 1..=6 {
            for code in [207_000, 507_000] {
                let context = context();
                mock::fail(name, nth, code).unwrap();
                for mib in [50, 60, 1] {
                    let mut buffer = context.alloc::<u8>(mib * MIB).unwrap();
                    let mut last = buffer.slice_mut(mib * MIB - 64..).unwrap();
                    last.write(&[3; 64]).unwrap();
                    assert_eq!(last.to_vec().unwrap(), [3; 64], "{name}, call {nth}");
                    drop(buffer);
                    context.trim_memory(30 * MIB);
                }
                mock::clear_failures();
                let told = context.take_drop_errors();
                assert!(told.is_empty() || ["aclrtUnmapMem", "aclrtFreePhysical"].contains(&name), "{told:?}");
                context.close().unwrap();
                let live = mock::live_handles();
                // What could not be freed is lost; what could not be unmapped is tried again at the end.
                let lost = if name == "aclrtFreePhysical" { told.len() as u64 } else { 0 };
                assert_eq!(live.device_allocations, before.device_allocations + lost, "{name}, call {nth}, {code}");
                mock::reset().unwrap();
            }
        }
    }
}

#[test]
fn memory_that_could_not_be_unmapped_goes_at_the_next_trim() {
    let _alone = mock::exclusive();
    let before = mock::live_handles().device_bytes;
    let context = context();
    for round in 0..3 {
        drop(context.alloc::<u8>(50 * MIB).unwrap());
        mock::fail("aclrtUnmapMem", 1, 507_000).unwrap();
        context.trim_memory(0);
        mock::clear_failures();
        let stats = context.memory_stats();
        assert!(stats.reserved.now > 0 && stats.reserved.now <= stats.reserved.peak, "{round}: {stats:?}");
        assert_eq!(context.take_drop_errors().len(), 1, "{round}");
        // Nobody has the addresses meanwhile, and others are had.
        let kept = context.upload(&vec![round; 8 * MIB]).unwrap();
        context.trim_memory(0);
        assert!(kept.to_vec().unwrap() == vec![round; 8 * MIB], "{round}");
        drop(kept);
        context.trim_memory(0);
        assert_eq!((context.memory_stats().reserved.now, mock::live_handles().device_bytes), (0, before), "{round}");
        assert_eq!(context.take_drop_errors().len(), 0, "{round}");
    }
    context.close().unwrap();
}

#[test]
fn a_library_that_refuses_is_asked_once() {
    let _alone = mock::exclusive();
    let context = context();
    mock::fail("aclrtReserveMemAddress", 1, 207_000).unwrap();
    let before = mock::calls("aclrtReserveMemAddress");
    for mib in [1, 5, 30] {
        drop(context.alloc::<u8>(mib * MIB).unwrap());
    }
    assert_eq!(mock::calls("aclrtReserveMemAddress") - before, 1);
    let stats = context.memory_stats();
    // As plain segments: each a page less one unit.
    assert_eq!((stats.large.segments, stats.large.reserved), (2, (20 + 32) * MIB - 2 * 512));
}

#[test]
fn threads_grow_the_same_range() {
    let _alone = mock::exclusive();
    let context = context();
    std::thread::scope(|scope| {
        for number in 0..4_u8 {
            let context = &context;
            scope.spawn(move || {
                for round in 0..20 {
                    let len = (1 + (usize::from(number) + round) % 7) * MIB;
                    let buffer = context.upload(&vec![number; len]).unwrap();
                    if round % 5 == 0 {
                        context.trim_memory(0);
                    }
                    assert!(buffer.to_vec().unwrap() == vec![number; len]);
                }
            });
        }
    });
    let stats = context.memory_stats();
    assert_eq!((stats.active.now, stats.cached()), (0, stats.reserved.now));
    context.trim_memory(0);
    assert_eq!(context.memory_stats().reserved.now, 0);
}

/// In processes of their own, since the variable is looked at when a context is made.
#[test]
fn the_environment_chooses_the_allocator_that_a_context_begins_with() {
    const VARIABLE: &str = "RACL_ALLOCATOR";
    const NAME: &str = "the_environment_chooses_the_allocator_that_a_context_begins_with";
    if std::env::var_os("RACL_TEST_CHILD").is_some() {
        let _alone = mock::exclusive();
        let device = device();
        let names = ["aclrtMalloc", "aclrtReserveMemAddress", "aclrtMallocPhysical"];
        let (before, made) = (calls(names), device.context());
        drop(made.alloc::<u8>(30 * MIB).unwrap());
        let after = calls(names);
        let done = [0, 1, 2].map(|index| after[index] - before[index]);
        let kept = made.memory_stats().reserved.now;
        match std::env::var(VARIABLE).as_deref() {
            // In steps of 2 MiB, with the tail of the block.
            Ok("growing") => assert_eq!((done[..2].to_vec(), done[2] > 0, kept), (vec![0, 1], true, 32 * MIB)),
            Ok("direct") => assert_eq!((done, kept), ([1, 0, 0], 0)),
            _ => assert_eq!((done, kept > 30 * MIB), ([1, 0, 0], true)),
        }
        return;
    }
    for value in ["growing", "direct", "pool", "", "bigger"] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", NAME]).env(VARIABLE, value).env("RACL_TEST_CHILD", "1");
        let done = child.output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && text.contains("1 passed"), "{value:?}: {text}");
    }
}

#[test]
fn a_call_that_is_refused_for_a_while_does_not_end_growing() {
    common::needs_the_card_alone("it locks the process");
    let _alone = mock::exclusive();
    let context = context();
    let acl = device().acl().clone();
    drop(context.alloc::<u8>(4 * MIB).unwrap());
    let lock = acl.lock_process().unwrap();
    assert_eq!(context.alloc::<u8>(64 * MIB).unwrap_err().kind(), ErrorKind::NotSupported);
    lock.unlock().unwrap();
    let names = ["aclrtMalloc", "aclrtReserveMemAddress", "aclrtMallocPhysical"];
    let before = calls(names);
    drop(context.alloc::<u8>(64 * MIB).unwrap());
    let after = calls(names);
    assert_eq!((after[0] - before[0], after[2] > before[2]), (0, true), "it came in segments");
}
