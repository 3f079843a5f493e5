//! Memory that host and devices share.

use racl::{CaptureMode, Context, ErrorKind, ManagedAdvice, ManagedBuffer, ManagedPlace, PlaceKind};

use crate::common::{assert_says, device, mock};
use crate::exclusive;

/// Managed memory moves in these.
const PAGE: usize = 2 << 20;

fn context() -> Context {
    device().context().create_context().unwrap()
}

#[test]
fn host_and_device_take_turns() {
    let _alone = exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    let mut table: ManagedBuffer<u16> = context.managed(4).unwrap();
    assert_eq!(table.host().unwrap(), [0; 4]);
    assert_eq!(context.place_of(table.address()).unwrap().kind, PlaceKind::Managed);
    table.host().unwrap().copy_from_slice(&[1, 2, 3, 4]);
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut table.slice_mut(1..2).unwrap(), 9).unwrap();
    std::thread::scope(|scope| {
        let read = scope.spawn(|| table.host().map(|host| host.to_vec()));
        mock::release(&stream).unwrap();
        assert_eq!(read.join().unwrap().unwrap(), [1, 0x0909, 3, 4]);
    });
    let mut out = context.alloc::<u16>(4).unwrap();
    stream.copy(&table, &mut out).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1, 0x0909, 3, 4]);
    table.close().unwrap();
}

#[test]
fn the_host_has_no_memory_that_others_may_use() {
    let _alone = exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    let mut table: ManagedBuffer<u8> = context.managed(4).unwrap();
    let shared = table.shared();
    assert_says(&table.host().unwrap_err(), ErrorKind::InvalidArgument, &["1 other handles"]);
    drop(shared);
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut table, 5)).unwrap();
    assert_says(&table.host().unwrap_err(), ErrorKind::InvalidArgument, &["graphs share"]);
    let mut table = table.close().unwrap_err().into_value();
    graph.launch(&stream).unwrap();
    drop(graph);
    assert_eq!(table.host().unwrap(), [5; 4]);
    // Work that failed is told before the host has it.
    mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
    stream.fill_bytes(&mut table, 6).unwrap();
    assert_says(&table.host().unwrap_err(), ErrorKind::DeviceFault, &["507015"]);
}

#[test]
fn what_the_host_has_stays_its_memory_over_a_reset() {
    let _alone = exclusive();
    let own = context();
    let mut table: ManagedBuffer<u8> = own.managed(2 * PAGE).unwrap();
    let address = table.address();
    let host = table.host().unwrap();
    host[0] = 7;
    mock::reset().unwrap();
    host[PAGE] = 1;
    assert_eq!((host[0], host[PAGE]), (7, 1));
    // It is nobody else's.
    let other: ManagedBuffer<u8> = device().context().managed(PAGE).unwrap();
    assert_ne!(other.address(), address);
    other.close().unwrap();
    assert!(table.host().is_ok_and(|host| host[0] == 7));
    drop((table, own));
}

#[test]
fn advice_counts_for_whole_pages() {
    let _alone = exclusive();
    let context = context();
    let table: ManagedBuffer<u32> = context.managed(PAGE).unwrap(); // 4 pages
    let page = PAGE / 4;
    assert_eq!((table.is_read_mostly(..).unwrap(), table.preferred_place(..).unwrap()), (false, None));
    assert!(table.accessed_by(..).unwrap().is_empty());
    assert_eq!(table.last_prefetch(..).unwrap(), None);
    table.advise(page + 1..page + 2, ManagedAdvice::ReadMostly(true)).unwrap();
    assert!(table.is_read_mostly(page..2 * page).unwrap());
    assert!(!table.is_read_mostly(page..2 * page + 1).unwrap() && !table.is_read_mostly(..page).unwrap());
    // The last element of one page and the first of the next.
    table.advise(page - 1..page + 1, ManagedAdvice::Preferred(Some(ManagedPlace::Host))).unwrap();
    assert_eq!(table.preferred_place(..2 * page).unwrap(), Some(ManagedPlace::Host));
    assert_eq!(table.preferred_place(..).unwrap(), None, "not the same everywhere");
    table.advise(..1, ManagedAdvice::Preferred(Some(ManagedPlace::Device(0)))).unwrap();
    assert_eq!(table.preferred_place(..1).unwrap(), Some(ManagedPlace::Device(0)));
    table.advise(..1, ManagedAdvice::Preferred(Some(ManagedPlace::HostNode(3)))).unwrap();
    assert_eq!(table.preferred_place(..1).unwrap(), Some(ManagedPlace::HostNode(3)));
    table.advise(.., ManagedAdvice::Preferred(None)).unwrap();
    assert_eq!(table.preferred_place(..1).unwrap(), None);
    for place in [ManagedPlace::Device(0), ManagedPlace::Host] {
        table.advise(.., ManagedAdvice::AccessedBy(place)).unwrap();
    }
    assert_eq!(table.accessed_by(..).unwrap(), [ManagedPlace::Device(0), ManagedPlace::Host]);
    table.advise(..1, ManagedAdvice::NotAccessedBy(ManagedPlace::Device(0))).unwrap();
    assert_eq!(table.accessed_by(..1).unwrap(), [ManagedPlace::Host]);
    table.advise(.., ManagedAdvice::ReadMostly(false)).unwrap();
    assert!(!table.is_read_mostly(page..page + 1).unwrap());
}

#[test]
fn prefetches_happen_in_the_order_of_their_stream() {
    let _alone = exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    let (one, other) = (context.managed::<u8>(2 * PAGE).unwrap(), context.managed::<u8>(1).unwrap());
    mock::hold(&stream).unwrap();
    stream.prefetch_managed(&one, PAGE.., ManagedPlace::Device(0)).unwrap();
    mock::run_until_idle();
    assert_eq!(one.last_prefetch(PAGE..).unwrap(), None);
    mock::release(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(one.last_prefetch(PAGE..).unwrap(), Some(ManagedPlace::Device(0)));
    assert_eq!(one.last_prefetch(..).unwrap(), None);
    let parts = [(&one, 0..2 * PAGE, ManagedPlace::Host), (&other, 0..1, ManagedPlace::Device(0))];
    stream.prefetch_managed_batch(&parts).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(one.last_prefetch(..).unwrap(), Some(ManagedPlace::Host));
    assert_eq!(other.last_prefetch(..).unwrap(), Some(ManagedPlace::Device(0)));
    // It is kept while a prefetch is under way.
    mock::hold(&stream).unwrap();
    stream.prefetch_managed(&other, .., ManagedPlace::Host).unwrap();
    drop(other);
    mock::release(&stream).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn what_cannot_be_is_told() {
    let _alone = exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    assert_eq!(context.managed::<u8>(0).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let error = context.managed::<u8>(4 << 40).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["aclrtMemAllocManaged"]);
    let table: ManagedBuffer<u8> = context.managed(10).unwrap();
    for range in [0..11, 5..5] {
        let error = table.advise(range.clone(), ManagedAdvice::ReadMostly(true)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        let error = stream.prefetch_managed(&table, range, ManagedPlace::Host).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    }
    for number in [17, u32::MAX] {
        let place = ManagedPlace::Device(number);
        let error = table.advise(.., ManagedAdvice::AccessedBy(place)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        let error = stream.prefetch_managed(&table, .., place).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    }
    let error = stream.prefetch_managed_batch::<u8>(&[]).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["without a part"]);
    mock::fail("aclrtFree", 1, 507_000).unwrap();
    let (table, error) = table.close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::Internal, &["aclrtFree"]);
    table.close().unwrap();
}

/// Operators may read so many bytes behind what they are given.
#[test]
fn there_is_something_behind_the_end() {
    const TAIL: usize = 32;
    let _alone = exclusive();
    let context = context();
    let range = context.acl().table().aclrtMemGetAddressRange().unwrap();
    for len in [1, 64, 4096, PAGE] {
        let managed: ManagedBuffer<u8> = context.managed(len).unwrap();
        let filled = context.alloc::<u8>(len).unwrap();
        for start in [managed.address(), filled.address()] {
            let (mut base, mut size) = (std::ptr::null_mut(), 0);
            // SAFETY: two places for one value each.
            assert_eq!(unsafe { range(start, &raw mut base, &raw mut size) }, 0);
            assert!(base.addr() + size >= start.addr() + len + TAIL, "{size} of {len}");
        }
    }
}
