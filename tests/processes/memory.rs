//! Device memory of two processes.

use racl::{ErrorKind, GrowableBuffer, MemoryLink, PhysicalKey};

use crate::common::{acl, assert_says, device, mock};
use crate::watchdog::Watchdog;
use crate::{Other, hear, is_other, tell};

#[test]
fn memory_is_exported_to_one_process_and_no_other() {
    crate::common::needs_function("aclrtDeviceGetBareTgid");
    crate::common::needs_function("aclrtIpcMemGetExportKey");
    let (_alone, _watched) = (mock::exclusive(), Watchdog::new());
    let device = device();
    if is_other() {
        tell(&acl().process_id().unwrap().to_string());
        let key = hear().parse().unwrap();
        // SAFETY: the export stays while this is used, or the key is refused.
        let mut memory = unsafe { device.context().import_memory::<u32>(&key) }.unwrap();
        assert_eq!(memory.to_vec().unwrap(), [1, 2, 3]);
        memory.slice_mut(1..).unwrap().write(&[8, 9]).unwrap();
        memory.close().unwrap();
        // SAFETY: the export stays while this is used, or the key is refused.
        let refused = unsafe { device.context().import_memory::<u32>(&hear().parse().unwrap()) }.unwrap_err();
        assert_says(&refused, ErrorKind::Driver, &["aclrtIpcMemImportByKey"]);
        tell("done");
        return;
    }
    let mut memory = device.context().alloc_direct::<u32>(3).unwrap().into_shared();
    memory.write(&[1, 2, 3]).unwrap();
    let mut other = Other::start("memory::memory_is_exported_to_one_process_and_no_other");
    let process = other.hear().parse().unwrap();
    let export = memory.export(&[process]).unwrap();
    assert_eq!(export.key().size_bytes(), 12);
    export.set_link(MemoryLink::Hccs).unwrap();
    other.tell(&export.key().to_string());
    let own = memory.export(&[acl().process_id().unwrap()]).unwrap();
    other.tell(&own.key().to_string());
    assert_eq!(other.hear(), "done");
    assert_eq!(memory.to_vec().unwrap(), [1, 8, 9]);
    other.end();
    let refused = memory.close().unwrap_err();
    assert_says(refused.error(), ErrorKind::InvalidArgument, &["2 other handles"]);
    export.close().unwrap();
    drop(own);
    refused.into_value().close().unwrap();
}

#[test]
fn streams_of_two_processes_write_in_the_order_that_events_make() {
    let (_alone, _watched) = (mock::exclusive(), Watchdog::new());
    let device = device();
    let (context, stream) = (device.context(), device.stream().unwrap());
    if is_other() {
        // SAFETY: the export stays while this is used, or the key is refused.
        let mut memory = unsafe { context.import_memory::<u8>(&hear().parse().unwrap()) }.unwrap();
        let theirs = context.import_notify(&hear().parse().unwrap()).unwrap();
        let own = context.import_notify(&hear().parse().unwrap()).unwrap();
        stream.wait_notify(&theirs, None).unwrap();
        stream.fill_bytes(&mut memory.slice_mut(1..).unwrap(), 2).unwrap();
        own.record(&stream).unwrap();
        tell("queued");
        stream.synchronize().unwrap();
        assert_eq!(memory.to_vec().unwrap(), [1, 2, 2]);
        memory.close().unwrap();
        tell("done");
        return;
    }
    let mut memory = context.alloc_direct::<u8>(3).unwrap().into_shared();
    let export = memory.export(&[]).unwrap();
    let (own, theirs) = (context.notify().unwrap(), context.notify().unwrap());
    let mut other = Other::start("memory::streams_of_two_processes_write_in_the_order_that_events_make");
    for key in
        [export.key().to_string(), own.export(&[]).unwrap().to_string(), theirs.export(&[]).unwrap().to_string()]
    {
        other.tell(&key);
    }
    assert_eq!(other.hear(), "queued");
    stream.fill_bytes(&mut memory, 1).unwrap();
    own.record(&stream).unwrap();
    stream.wait_notify(&theirs, None).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(memory.to_vec().unwrap(), [1, 2, 2]);
    assert_eq!(other.hear(), "done");
    other.end();
}

#[test]
fn physical_memory_of_another_process_is_mapped_here() {
    crate::common::needs_function("aclrtDeviceGetBareTgid");
    let (_alone, _watched) = (mock::exclusive(), Watchdog::new());
    let device = device();
    let context = device.context();
    if is_other() {
        tell(&acl().process_id().unwrap().to_string());
        for value in [1_u8, 2] {
            let key: PhysicalKey = hear().parse().unwrap();
            let memory = context.import_physical(&key).unwrap();
            assert_eq!(memory.size_bytes(), key.size_bytes());
            assert_says(&memory.export(&[]).unwrap_err(), ErrorKind::InvalidArgument, &["imported"]);
            let mut buffer: GrowableBuffer<u8> = context.reserve(4 << 20).unwrap();
            buffer.map(&memory).unwrap();
            assert_eq!(buffer.slice(..1).unwrap().to_vec().unwrap(), [value]);
            buffer.slice_mut(1..2).unwrap().write(&[10 * value]).unwrap();
            // A range has its own memory, or that of others.
            assert_eq!(buffer.grow(buffer.len() + 1).unwrap_err().kind(), ErrorKind::InvalidArgument);
            tell("written");
        }
        let refused = context.import_physical(&hear().parse().unwrap()).unwrap_err();
        assert_says(&refused, ErrorKind::Driver, &["aclrtMemImportFromShareableHandle"]);
        tell("done");
        return;
    }
    let mut other = Other::start("memory::physical_memory_of_another_process_is_mapped_here");
    let process: u32 = other.hear().parse().unwrap();
    for value in [1_u8, 2] {
        let memory = context.physical_memory(2 << 20).unwrap();
        let mut buffer: GrowableBuffer<u8> = context.reserve(4 << 20).unwrap();
        buffer.map(&memory).unwrap();
        buffer.slice_mut(..2).unwrap().write(&[value, 0]).unwrap();
        let key = if value == 1 { memory.export(&[process]) } else { memory.export_fabric(&[process]) }.unwrap();
        drop(memory);
        other.tell(&key.to_string());
        assert_eq!(other.hear(), "written");
        assert_eq!(buffer.slice(..2).unwrap().to_vec().unwrap(), [value, 10 * value]);
    }
    let memory = context.physical_memory(2 << 20).unwrap();
    other.tell(&memory.export(&[acl().process_id().unwrap()]).unwrap().to_string());
    assert_eq!(other.hear(), "done");
    other.end();
}

#[test]
fn keys_of_a_process_that_is_gone_are_refused() {
    crate::common::needs_function("aclrtIpcMemGetExportKey");
    let (_alone, _watched) = (mock::exclusive(), Watchdog::new());
    let device = device();
    let context = device.context();
    if is_other() {
        let memory = context.alloc_direct::<u8>(64).unwrap().into_shared();
        let export = memory.export(&[]).unwrap();
        let physical = context.physical_memory(2 << 20).unwrap();
        tell(&export.key().to_string());
        tell(&physical.export(&[]).unwrap().to_string());
        hear();
        unreachable!("it is killed");
    }
    let mut other = Other::start("memory::keys_of_a_process_that_is_gone_are_refused");
    let (memory, physical) = (other.hear().parse().unwrap(), other.hear().parse().unwrap());
    other.kill();
    // SAFETY: the export stays while this is used, or the key is refused.
    let error = unsafe { context.import_memory::<u8>(&memory) }.unwrap_err();
    assert_says(&error, ErrorKind::Driver, &["aclrtIpcMemImportByKey"]);
    let error = context.import_physical(&physical).unwrap_err();
    assert_says(&error, ErrorKind::Driver, &["aclrtMemImportFromShareableHandle"]);
}

#[test]
fn an_import_is_given_back_behind_the_work_that_uses_it_and_holds_no_context() {
    let (_alone, _watched) = (mock::exclusive(), Watchdog::new());
    let owner = device();
    let memory = owner.context().alloc_direct::<u8>(64).unwrap().into_shared();
    let export = memory.export(&[]).unwrap();
    let before = mock::live_handles().contexts;
    let context = owner.context().create_context().unwrap();
    let stream = context.stream().unwrap();
    // SAFETY: the export stays while this is used, or the key is refused.
    let mut same = unsafe { context.import_memory::<u8>(export.key()) }.unwrap();
    let stats = context.memory_stats();
    assert_eq!((stats.allocated.now, stats.direct.held), (64, 1));
    let calls = mock::calls("aclrtIpcMemClose");
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut same, 4).unwrap();
    drop(same);
    assert_eq!(mock::calls("aclrtIpcMemClose"), calls, "the fill uses it");
    mock::release(&stream).unwrap();
    stream.close().unwrap();
    context.close().unwrap();
    assert_eq!(mock::calls("aclrtIpcMemClose"), calls + 1);
    assert_eq!(mock::live_handles().contexts, before);
    assert_eq!(memory.to_vec().unwrap(), [4; 64]);
}

#[test]
fn what_cannot_be_shared_is_told() {
    let (_alone, _watched) = (mock::exclusive(), Watchdog::new());
    let device = device();
    let context = device.context();
    let pooled = device.upload(&[1_u8; 64]).unwrap().into_shared();
    assert_says(&pooled.export(&[]).unwrap_err(), ErrorKind::NotSupported, &["segment", "alloc_direct"]);
    let memory = context.alloc_direct::<u8>(64).unwrap().into_shared();
    let part = memory.slice(..32).unwrap();
    assert_says(&part.export(&[]).unwrap_err(), ErrorKind::InvalidArgument, &["a part of memory"]);
    let error = memory.export(&[u32::MAX]).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["the number of a process"]);
    let export = memory.export(&[]).unwrap();
    let text = export.key().to_string();
    assert_eq!(text.parse::<racl::MemoryKey>().unwrap(), *export.key());
    // More bytes than there are, which the library knows.
    let longer = text.replace(":64", ":128").parse().unwrap();
    // SAFETY: the export stays while this is used, or the key is refused.
    let error = unsafe { context.import_memory::<u8>(&longer) }.unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["a key for 128 bytes of memory that has 64"]);
    // SAFETY: the export stays while this is used, or the key is refused.
    let error = unsafe { context.import_memory::<[u8; 3]>(export.key()) }.unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["64 bytes of memory for elements of 3 bytes"]);
    // SAFETY: the export stays while this is used, or the key is refused.
    let error = unsafe { context.import_memory::<u8>(&"nothing:64".parse().unwrap()) }.unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["aclrtIpcMemImportByKey"]);
    let error = context.import_physical(&"server:00000000000000ff:64".parse().unwrap()).unwrap_err();
    assert_eq!(error.call(), Some("aclrtMemImportFromShareableHandle"), "{error}");
    for call in ["aclrtIpcMemGetExportKey", "aclrtIpcMemSetImportPid"] {
        mock::fail(call, 1, 507_000).unwrap();
        assert_says(&memory.export(&[1]).unwrap_err(), ErrorKind::Internal, &[call]);
    }
    mock::fail("aclrtIpcMemSetAttr", 1, 507_000).unwrap();
    assert_says(&export.set_link(MemoryLink::Sio).unwrap_err(), ErrorKind::Internal, &["aclrtIpcMemSetAttr"]);
    mock::fail("aclrtIpcMemClose", 1, 507_000).unwrap();
    let (export, error) = export.close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::Internal, &["aclrtIpcMemClose"]);
    mock::fail("aclrtIpcMemClose", 1, 507_000).unwrap();
    drop(export);
    let told = context.take_drop_errors();
    assert_eq!(told.len(), 1);
    assert_says(&told[0], ErrorKind::Internal, &["aclrtIpcMemClose"]);
}
