//! The operators of the generator: for the simulator, and for streams.

use std::ffi::c_void;
use std::sync::{Arc, Mutex};

use racl::plan::{Foreign, Launch};
use racl::sys::aclrtMemcpyKind;
use racl::{PinnedBuffer, Result};

use super::generate::{self, Spread};

/// The operator of a number, which computes the same on a stream as in the simulator.
pub(crate) fn mixer(number: u32, reads: &[Spread], writes: &[Spread]) -> Foreign {
    let (reads, writes) = (reads.to_vec(), writes.to_vec());
    Foreign::new(format!("f{number}"), 1, move |launch| submit(number, &reads, &writes, launch))
        .simulated(move |reads, writes| generate::compute(u64::from(number), reads, writes))
}

/// Brings what the operator reads to the host, computes there, and takes the results back. The host cannot touch the
/// memory of the device, the mock's neither.
fn submit(number: u32, reads: &[Spread], writes: &[Spread], launch: &Launch<'_>) -> Result<()> {
    let parts: Vec<Part> =
        reads.iter().chain(writes).enumerate().map(|(i, spread)| part(launch, i, spread)).collect();
    let sizes: Vec<usize> = parts.iter().map(|part| part.bytes).collect();
    let (total, count) = (sizes.iter().sum::<usize>(), reads.len());
    let mut host = launch.stream().context().pinned::<u8>(total.max(1))?;
    let base = host.as_mut_ptr();
    let host = Arc::new(Mutex::new(host));
    let mut first = 0;
    for part in &parts[..count] {
        part.copy(launch, base.wrapping_add(first), aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_HOST);
        first += part.bytes;
    }
    let memory = Arc::clone(&host);
    launch.stream().host_function(move || compute(number, count, &sizes, &memory))?;
    for part in &parts[count..] {
        part.copy(launch, base.wrapping_add(first), aclrtMemcpyKind::ACL_MEMCPY_HOST_TO_DEVICE);
        first += part.bytes;
    }
    // Keeps the memory until the copies are over.
    launch.stream().host_function(move || drop(Arc::clone(&host)))
}

/// Computes in host memory that holds everything read, then everything to write.
fn compute(number: u32, reads: usize, sizes: &[usize], memory: &Mutex<PinnedBuffer<u8>>) {
    let mut memory = memory.lock().unwrap();
    let mut rest = &mut memory[..];
    let mut parts: Vec<&mut [u8]> = Vec::new();
    for size in sizes {
        let (part, after) = rest.split_at_mut(*size);
        parts.push(part);
        rest = after;
    }
    let results = parts.split_off(reads);
    let read: Vec<Vec<u8>> = parts.iter().map(|part| part.to_vec()).collect();
    let mut written: Vec<Vec<u8>> = results.iter().map(|part| part.to_vec()).collect();
    generate::compute(u64::from(number), &read, &mut written);
    results.into_iter().zip(&written).for_each(|(to, from)| to.copy_from_slice(from));
}

/// The memory of a value: its address, and the pieces without gaps in the order of the elements.
struct Part {
    address: *mut c_void,
    pieces: Vec<(usize, usize)>,
    bytes: usize,
}

fn part(launch: &Launch<'_>, index: usize, spread: &Spread) -> Part {
    assert_eq!(launch.shape(index).as_deref(), Some(&spread.dims[..]));
    let (starts, element) = (spread.starts(), spread.element);
    let end = starts.iter().max().map_or(0, |last| last + element);
    assert_eq!(launch.bytes(index), end);
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    for start in &starts {
        match pieces.last_mut() {
            Some((first, bytes)) if *first + *bytes == *start => *bytes += element,
            _ => pieces.push((*start, element)),
        }
    }
    Part { address: launch.address(index), pieces, bytes: starts.len() * element }
}

impl Part {
    /// Copies the elements to or from dense host memory.
    fn copy(&self, launch: &Launch<'_>, host: *mut u8, kind: aclrtMemcpyKind) {
        let copy = crate::common::acl().table().aclrtMemcpyAsync().unwrap();
        let mut host = host.cast::<c_void>();
        for (start, bytes) in &self.pieces {
            let device = self.address.wrapping_byte_add(*start);
            let (to, from) =
                if kind == aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_HOST { (host, device) } else { (device, host) };
            // SAFETY: the piece lies in a value of the launch, whose memory the executable keeps. The pinned memory
            // is kept by a host function behind the copies, and only touched by the one between them.
            let code = unsafe { copy(to, *bytes, from, *bytes, kind, launch.stream().as_raw()) };
            assert_eq!(code, 0);
            host = host.wrapping_byte_add(*bytes);
        }
    }
}
