//! Memory that grows in place, and physical memory that is mapped in several places.

use racl::{CaptureMode, Context, ErrorKind, GrowableBuffer, MemoryAccess, PageKind, PlaceKind, Tensor, op};

use crate::common::{assert_says, device, mock};
use crate::exclusive;

/// The mock's pages.
const STEP: usize = 2 << 20;

/// What the mock has of device memory beside what others of this process keep.
fn live() -> (u64, u64) {
    let live = mock::live_handles();
    (live.device_allocations, live.device_bytes)
}

fn context() -> Context {
    device().context().create_context().unwrap()
}

#[test]
fn memory_grows_while_work_uses_it_and_keeps_its_address() {
    let _alone = exclusive();
    let context = context();
    let (stream, before) = (context.stream().unwrap(), live());
    let mut buffer: GrowableBuffer<i32> = context.reserve(STEP).unwrap();
    assert_eq!((buffer.len(), buffer.capacity(), buffer.is_empty()), (0, STEP, true));
    assert!(buffer.slice(..).unwrap().to_vec().unwrap().is_empty());
    buffer.grow(1).unwrap();
    assert_eq!(buffer.len(), STEP / 4);
    let address = buffer.address();
    mock::hold(&stream).unwrap();
    stream.fill_words(&mut buffer, 3).unwrap();
    buffer.grow(STEP / 4).unwrap();
    assert_eq!(buffer.len(), STEP / 4, "there are as many already");
    buffer.grow(STEP / 4 + 1).unwrap();
    assert_eq!((buffer.len(), buffer.address()), (STEP / 2, address));
    stream.fill_words(&mut buffer.slice_mut(STEP / 4..).unwrap(), 4).unwrap();
    mock::release(&stream).unwrap();
    let mut expected = vec![3; STEP / 4];
    expected.resize(STEP / 2, 4);
    assert!(buffer.to_vec().unwrap() == expected);
    let error = buffer.grow(STEP + 1).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["that are reserved"]);
    assert_eq!(buffer.len(), STEP / 2);
    buffer.close().unwrap();
    assert_eq!(live(), before);
}

#[test]
fn a_buffer_shrinks_by_the_pieces_in_which_it_grew() {
    let _alone = exclusive();
    let context = context();
    let mut buffer: GrowableBuffer<u8> = context.reserve(8 * STEP).unwrap();
    [1, STEP + 1, 4 * STEP].into_iter().for_each(|len| buffer.grow(len).unwrap());
    buffer.slice_mut(..1).unwrap().write(&[5]).unwrap();
    let shared = buffer.shared();
    assert_says(&buffer.shrink(0).unwrap_err(), ErrorKind::InvalidArgument, &["1 other handles"]);
    drop(shared);
    for (len, left) in [(4 * STEP, 4 * STEP), (2 * STEP + 1, 4 * STEP), (2 * STEP, 2 * STEP), (1, STEP)] {
        buffer.shrink(len).unwrap();
        assert_eq!(buffer.len(), left);
    }
    assert_eq!(buffer.slice(..1).unwrap().to_vec().unwrap(), [5]);
    assert_eq!(buffer.slice(..STEP + 1).unwrap_err().kind(), ErrorKind::InvalidArgument);
    mock::fail("aclrtUnmapMem", 1, 507_000).unwrap();
    assert_says(&buffer.shrink(0).unwrap_err(), ErrorKind::Internal, &["aclrtUnmapMem"]);
    assert_eq!(buffer.len(), STEP);
    buffer.shrink(0).unwrap();
    assert_eq!(buffer.len(), 0);
    buffer.grow(1).unwrap();
}

#[test]
fn a_graph_and_tensors_keep_what_is_mapped() {
    let _alone = exclusive();
    let context = context();
    let (stream, before) = (context.stream().unwrap(), live());
    let mut buffer: GrowableBuffer<f32> = context.reserve(STEP).unwrap();
    buffer.grow(4).unwrap();
    buffer.slice_mut(..4).unwrap().write(&[1.0, 2.0, 3.0, 4.0]).unwrap();
    let mut tensor = Tensor::over(buffer.shared().slice(..4).unwrap(), [4]).unwrap();
    let step = |s: &racl::Stream| op::adds_inplace(s, &mut tensor, 1.0);
    let mut graph = stream.capture(CaptureMode::ThreadLocal, step).unwrap();
    let buffer = buffer.close().unwrap_err().into_value();
    drop(buffer);
    graph.launch(&stream).unwrap();
    assert_eq!(tensor.to_vec().unwrap(), [2.0, 3.0, 4.0, 5.0]);
    drop((graph, tensor));
    stream.synchronize().unwrap();
    drop(stream);
    context.synchronize().unwrap();
    assert_eq!(live(), before);
}

#[test]
fn a_buffer_that_goes_while_work_uses_it_is_unmapped_behind_that() {
    let _alone = exclusive();
    let context = context();
    let (stream, before) = (context.stream().unwrap(), live());
    let mut buffer: GrowableBuffer<u8> = context.reserve(STEP).unwrap();
    buffer.grow(1).unwrap();
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    drop(buffer);
    assert!(live() > before);
    mock::release(&stream).unwrap();
    context.synchronize().unwrap();
    assert_eq!(live(), before);
    // Left in line, and with it no circle: the context ends it.
    let mut buffer: GrowableBuffer<u8> = context.reserve(STEP).unwrap();
    buffer.grow(1).unwrap();
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    drop(buffer);
    mock::release(&stream).unwrap();
    stream.close().unwrap();
    context.close().unwrap();
    assert_eq!(live(), before);
}

#[test]
fn one_piece_of_memory_is_mapped_twice() {
    let _alone = exclusive();
    let context = context();
    let before = live();
    let memory = context.physical_memory(2 * STEP).unwrap();
    assert_eq!((memory.size_bytes(), context.memory_granularity().unwrap()), (2 * STEP, STEP));
    let known = memory.properties().unwrap();
    assert_eq!((known.place, known.pages), (PlaceKind::Device(0), PageKind::Huge));
    let (mut one, mut other) = (context.reserve::<u8>(4 * STEP).unwrap(), context.reserve::<u8>(4 * STEP).unwrap());
    one.grow(1).unwrap();
    one.map(&memory).unwrap();
    memory.close().unwrap();
    let again = one.physical(2 * STEP).unwrap();
    assert_eq!(again.size_bytes(), 2 * STEP);
    other.map(&again).unwrap();
    drop(again);
    one.slice_mut(STEP..STEP + 2).unwrap().write(&[1, 2]).unwrap();
    assert_eq!(other.slice(..2).unwrap().to_vec().unwrap(), [1, 2]);
    one.close().unwrap();
    assert_eq!(other.slice(..2).unwrap().to_vec().unwrap(), [1, 2]);
    assert_says(&other.physical(2 * STEP).unwrap_err(), ErrorKind::InvalidArgument, &["that are mapped"]);
    other.close().unwrap();
    assert_eq!(live(), before);
}

#[test]
fn access_is_what_was_said() {
    let _alone = exclusive();
    let context = context();
    let mut buffer: GrowableBuffer<u8> = context.reserve(4 * STEP).unwrap();
    assert_says(&buffer.access(&context).unwrap_err(), ErrorKind::InvalidArgument, &["nothing is mapped"]);
    buffer.set_access(&context, MemoryAccess::Read).unwrap();
    buffer.grow(1).unwrap();
    assert_eq!(buffer.access(&context).unwrap(), MemoryAccess::Read);
    buffer.set_access(&context, MemoryAccess::None).unwrap();
    assert_eq!(buffer.access(&context).unwrap(), MemoryAccess::None);
    buffer.set_access(&context, MemoryAccess::ReadWrite).unwrap();
    let before = buffer.len();
    mock::fail("aclrtMemSetAccess", 1, 507_000).unwrap();
    assert_says(&buffer.grow(before + 1).unwrap_err(), ErrorKind::Internal, &["aclrtMemSetAccess"]);
    assert_eq!(buffer.len(), before);
    buffer.grow(before + 1).unwrap();
    buffer.slice_mut(..1).unwrap().write(&[1]).unwrap();
}

#[test]
fn what_cannot_be_had_is_told_and_leaves_nothing() {
    crate::common::needs_the_card_alone("it uses up what the card has");
    let _alone = exclusive();
    let context = context();
    let before = live();
    assert_eq!(context.reserve::<u8>(0).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(context.reserve::<u64>(usize::MAX).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(context.reserve::<u8>(isize::MAX as usize).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(context.physical_memory(0).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_says(&context.physical_memory(1).unwrap_err(), ErrorKind::InvalidArgument, &["aclrtMallocPhysical"]);
    let (_, total) = context.memory_info().unwrap();
    let error = context.physical_memory(total.next_multiple_of(STEP) + STEP).unwrap_err();
    assert_says(&error, ErrorKind::OutOfMemory, &["aclrtMallocPhysical"]);
    for call in ["aclrtReserveMemAddress", "aclrtMallocPhysical", "aclrtMapMem"] {
        mock::fail(call, 1, 507_000).unwrap();
        let grown = context.reserve::<u8>(STEP).and_then(|mut buffer| buffer.grow(1));
        assert_says(&grown.unwrap_err(), ErrorKind::Internal, &[call]);
        assert_eq!(live(), before, "{call}");
    }
    // A close that failed is tried again, and goes on where it was.
    let mut buffer: GrowableBuffer<u8> = context.reserve(4 * STEP).unwrap();
    buffer.grow(1).unwrap();
    buffer.grow(STEP + 1).unwrap();
    mock::fail("aclrtUnmapMem", 2, 507_000).unwrap();
    let (buffer, error) = buffer.close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::Internal, &["aclrtUnmapMem"]);
    assert_eq!(buffer.len(), STEP);
    mock::fail("aclrtReleaseMemAddress", 1, 507_000).unwrap();
    let (buffer, error) = buffer.close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::Internal, &["aclrtReleaseMemAddress"]);
    buffer.close().unwrap();
    assert_eq!(live(), before);
    // Dropped instead, the error is kept for the context.
    mock::fail("aclrtReleaseMemAddress", 1, 507_000).unwrap();
    drop(context.reserve::<u8>(STEP).unwrap());
    let told = context.take_drop_errors();
    assert_eq!(told.len(), 1);
    assert_says(&told[0], ErrorKind::Internal, &["aclrtReleaseMemAddress"]);
}

#[test]
fn mapped_memory_is_neither_given_away_nor_exported_as_an_allocation() {
    let _alone = exclusive();
    let context = context();
    let mut buffer: GrowableBuffer<u8> = context.reserve(STEP).unwrap();
    buffer.grow(1).unwrap();
    let shared = buffer.shared();
    drop(buffer);
    assert_says(&shared.export(&[]).unwrap_err(), ErrorKind::NotSupported, &["mapped"]);
    let plain = shared.into_buffer().unwrap();
    let (plain, error) = plain.into_raw().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::NotSupported, &["mapped"]);
    plain.close().unwrap();
}

#[test]
fn access_that_was_refused_is_not_asked_for_again() {
    let _alone = exclusive();
    let context = context();
    let mut buffer: GrowableBuffer<u8> = context.reserve(4 * STEP).unwrap();
    buffer.grow(1).unwrap();
    mock::fail("aclrtMemSetAccess", 1, 507_899).unwrap();
    assert_eq!(buffer.set_access(&context, MemoryAccess::Read).unwrap_err().kind(), ErrorKind::Driver);
    let calls = mock::calls("aclrtMemSetAccess");
    buffer.grow(STEP + 1).unwrap();
    assert_eq!(mock::calls("aclrtMemSetAccess"), calls);
    assert_eq!(buffer.access(&context).unwrap(), MemoryAccess::ReadWrite);
    // What cannot be mapped to its end, nor unmapped, is told as such the next time.
    buffer.set_access(&context, MemoryAccess::Read).unwrap();
    mock::fail("aclrtMemSetAccess", 1, 507_899).unwrap();
    mock::fail("aclrtUnmapMem", 1, 507_000).unwrap();
    buffer.grow(2 * STEP + 1).unwrap_err();
    drop(context.take_drop_errors());
    buffer.grow(2 * STEP + 1).unwrap();
    assert!(buffer.len() > 2 * STEP);
}

#[test]
fn a_close_that_fails_half_way_leaves_what_is_still_mapped() {
    let _alone = exclusive();
    let context = context();
    let (stream, before) = (context.stream().unwrap(), live());
    let mut buffer: GrowableBuffer<u8> = context.reserve(4 * STEP).unwrap();
    [STEP, 2 * STEP].into_iter().for_each(|len| buffer.grow(len).unwrap());
    let part = buffer.shared().slice(STEP / 2..).unwrap();
    drop(buffer);
    mock::fail("aclrtUnmapMem", 2, 507_899).unwrap();
    let (mut part, error) = part.close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::Driver, &["aclrtUnmapMem"]);
    assert_eq!(part.len(), STEP / 2, "the second piece is gone");
    stream.fill_bytes(&mut part, 3).unwrap();
    assert!(part.to_vec().unwrap() == vec![3; STEP / 2]);
    mock::fail("aclrtReleaseMemAddress", 1, 507_899).unwrap();
    let (part, error) = part.close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::Driver, &["aclrtReleaseMemAddress"]);
    assert!(part.is_empty() && part.to_vec().unwrap().is_empty());
    part.close().unwrap();
    assert_eq!(live(), before);
}

#[test]
fn mapped_host_memory_whose_close_fails_half_way_is_empty() {
    let _alone = exclusive();
    let context = context();
    let before = mock::live_handles();
    let mut memory = context.mapped::<u32>(4).unwrap();
    memory.host().unwrap().copy_from_slice(&[1, 2, 3, 4]);
    mock::fail("aclrtHostUnregister", 1, 507_899).unwrap();
    let (mut memory, error) = memory.close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::Driver, &["aclrtHostUnregister"]);
    assert_eq!(memory.host().unwrap(), [1, 2, 3, 4]);
    mock::fail("aclrtFreeHost", 1, 507_899).unwrap();
    let (mut memory, error) = memory.close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::Driver, &["aclrtFreeHost"]);
    assert!(memory.len() == 0 && memory.host().unwrap().is_empty(), "the device has it no more");
    memory.close().unwrap();
    assert_eq!(mock::live_handles(), before);
}

#[test]
fn memory_of_which_nothing_is_the_contexts_does_not_count_as_its() {
    let _alone = exclusive();
    let context = context();
    let before = context.memory_stats();
    let mut grows: GrowableBuffer<u8> = context.reserve(2 * STEP).unwrap();
    grows.grow(1).unwrap();
    let others = (context.mapped::<u8>(8).unwrap(), context.managed::<u8>(8).unwrap());
    assert_eq!(context.memory_stats(), before);
    drop((grows, others));
    assert_eq!(context.memory_stats(), before);
    let direct = context.alloc_direct::<u8>(64).unwrap();
    let with = context.memory_stats();
    assert_eq!((with.direct.held, with.device_allocations), (1, before.device_allocations + 1));
    drop(direct);
}
