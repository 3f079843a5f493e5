//! Memory that grows in place: addresses that are reserved once, and physical memory that is mapped there in chunks
//! (guide: memory management, virtual memory).

use std::ffi::c_void;

use acl_sys::{
    aclrtDrvMemHandle, aclrtMemAllocationType, aclrtMemAttr, aclrtMemGranularityOptions, aclrtMemHandleType,
    aclrtMemLocation, aclrtMemLocationType, aclrtPhysicalMemProp,
};

use super::ContextInner;
use crate::call::{Caller as _, call};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::say;
use crate::pool::{Chunk, Growth, Request, Spent};

/// What a library without the question has: large pages.
const STEP: usize = 2 << 20;

/// Physical memory that is in no chunk yet.
struct Physical<'a> {
    context: &'a ContextInner,
    handle: aclrtDrvMemHandle,
}

impl Physical<'_> {
    /// As a number, for the pool.
    fn keep(self) -> usize {
        let handle = self.handle.expose_provenance();
        std::mem::forget(self);
        handle
    }
}

impl Drop for Physical<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is this value's own, and is freed once.
        if let Err(error) = unsafe { call!(self.context, aclrtFreePhysical(self.handle)) } {
            self.context.record_drop_error("freeing physical memory", error);
        }
    }
}

fn property(context: &ContextInner) -> aclrtPhysicalMemProp {
    aclrtPhysicalMemProp {
        handleType: aclrtMemHandleType::ACL_MEM_HANDLE_TYPE_NONE,
        allocationType: aclrtMemAllocationType::ACL_MEM_ALLOCATION_TYPE_PINNED,
        memAttr: aclrtMemAttr::ACL_HBM_MEM_HUGE,
        location: aclrtMemLocation {
            id: context.device.cast_unsigned(),
            type_: aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_DEVICE,
        },
        reserve: 0,
    }
}

/// Physical memory comes in multiples of this.
fn step(context: &ContextInner) -> Result<usize> {
    // Releases up to CANN 9.1 have the rest without it.
    if !context.table().has("aclrtMemGetAllocationGranularity") {
        return Ok(STEP);
    }
    let (mut property, mut bytes) = (property(context), 0_usize);
    let option = aclrtMemGranularityOptions::ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED;
    // SAFETY: a property, and a place for one number.
    unsafe { call!(context, aclrtMemGetAllocationGranularity(&raw mut property, option, &raw mut bytes)) }?;
    Ok(bytes.max(1))
}

/// Reserves addresses for blocks like that of `request`, once: twice as many as the device has memory, so that holes
/// between blocks that stay do not use them up.
pub(super) fn open(context: &ContextInner, request: Request) -> Result<()> {
    if context.reclaim.lock().pool.has_range(request) {
        return Ok(());
    }
    let step = step(context)?;
    let (_, total) = context.memory_info()?;
    let bytes = total.saturating_mul(2).checked_next_multiple_of(step);
    let bytes = bytes.ok_or_else(|| Error::invalid(format!("{total} bytes of device memory in steps of {step}")))?;
    let mut address: *mut c_void = std::ptr::null_mut();
    // SAFETY: `address` is a place for one address; no wanted one.
    unsafe { call!(context, aclrtReserveMemAddress(&raw mut address, bytes, 0, std::ptr::null_mut(), 0)) }?;
    let raced = {
        let pool = &mut context.reclaim.lock().pool;
        let has = pool.has_range(request);
        if !has {
            pool.add_range(request, address.addr(), bytes, step);
        }
        has
    };
    if raced {
        release(context, address.addr());
    }
    Ok(())
}

/// Maps memory for a growth, as far as there is any.
pub(super) fn map(context: &ContextInner, growth: &Growth) -> (Vec<Chunk>, Result<()>) {
    let mut chunks = Vec::new();
    let mapped = growth.chunks().try_for_each(|(address, bytes)| {
        chunks.push(map_chunk(context, address, bytes)?);
        Ok(())
    });
    (chunks, mapped)
}

fn map_chunk(context: &ContextInner, address: usize, bytes: usize) -> Result<Chunk> {
    let (property, mut handle) = (property(context), std::ptr::null_mut());
    // SAFETY: a place for one handle, and a property that lives as long as the call.
    unsafe { call!(context, aclrtMallocPhysical(&raw mut handle, bytes, &raw const property, 0)) }?;
    let physical = Physical { context, handle };
    let target = std::ptr::without_provenance_mut(address);
    // SAFETY: the addresses are reserved by this context, nothing is mapped there, and the memory has as many bytes.
    unsafe { call!(context, aclrtMapMem(target, bytes, 0, handle, 0)) }?;
    Ok(Chunk { address, bytes, handle: physical.keep() })
}

/// Takes the memory of a chunk away, which no submitted work uses. False when it is there still.
pub(super) fn unmap(context: &ContextInner, chunk: Chunk) -> bool {
    let address = std::ptr::without_provenance_mut(chunk.address);
    // SAFETY: `map_chunk` mapped memory at this address, and no submitted work uses it.
    if let Err(error) = unsafe { call!(context, aclrtUnmapMem(address)) } {
        context.record_drop_error("unmapping device memory", error);
        return false;
    }
    drop(Physical { context, handle: std::ptr::with_exposed_provenance_mut(chunk.handle) });
    true
}

/// Gives a range back that no block lies in.
pub(super) fn end(context: &ContextInner, range: Spent) {
    // All of them, also when one stays.
    let stay = range.chunks.into_iter().filter(|chunk| !unmap(context, *chunk)).count();
    if stay == 0 {
        release(context, range.address);
    }
}

fn release(context: &ContextInner, address: usize) {
    let address = std::ptr::without_provenance_mut(address);
    // SAFETY: the range was reserved by `open`, nothing is mapped there, and it is released once.
    if let Err(error) = unsafe { call!(context, aclrtReleaseMemAddress(address)) } {
        context.record_drop_error("giving reserved addresses back", error);
    }
}

/// Memory of this context comes in plain segments from now on.
pub(super) fn refuse(context: &ContextInner, error: Error) -> Result<()> {
    let passing = [ErrorKind::DeviceFault, ErrorKind::DeviceLost, ErrorKind::Aborted, ErrorKind::Timeout];
    // What this crate refuses, such as calls of a thread that has the process locked, passes too.
    if error.kind() != ErrorKind::MissingSymbol && (error.code().is_none() || passing.contains(&error.kind())) {
        return Err(error);
    }
    if !std::mem::replace(&mut context.reclaim.lock().plain, true) {
        say!(Warn, "memory of device {} does not grow in place, but comes in segments: {error:#}", context.device);
    }
    Ok(())
}
