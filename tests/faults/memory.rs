//! What uses memory, and copies, once.

use racl::op::{ReduceKind, reduce_into};
use racl::{
    Allocator, Context, DeviceRead as _, DeviceUnit, ManagedAdvice, ManagedPlace, MemoryAccess, MemoryLink,
    PlaceKind, Prefetch, Refused, Result, Rows, Stream,
};

use crate::common::mock;

pub(crate) fn run(context: &Context) -> Result<()> {
    copies(context)?;
    rows_and_batches(context)?;
    indirect_copies(context)?;
    shared_memory(context)?;
    mapped_memory(context)?;
    host_memory(context)?;
    memory_in_use(context)?;
    growing(context)
}

fn copies(context: &Context) -> Result<()> {
    let stream = context.stream()?;
    let mut one = context.upload(&[1_u32; 16])?;
    let mut two = context.alloc_zeroed::<u32>(16)?;
    stream.copy(&one, &mut two)?;
    assert_eq!(two.to_vec()?, [1; 16]);
    one.write(&[2; 16])?;
    assert_eq!(one.slice(4..6)?.to_vec()?, [2; 2]);
    let up = stream.upload(context.pinned_from(&[3_u32; 16])?, &mut one)?;
    let down = stream.download(&one, context.pinned(16)?)?;
    assert_eq!(*down.wait()?, [3; 16]);
    up.is_complete()?;
    drop(up);
    stream.prefetch(&one, Prefetch::bytes(32))?;
    stream.fill_bytes(&mut one, 0)?;
    stream.synchronize()?;
    assert_eq!(one.to_vec()?, [0; 16]);
    Ok(())
}

fn rows_and_batches(context: &Context) -> Result<()> {
    let stream = context.stream()?;
    let mut all = context.upload(&[0_i32, 1, 2, 3, 4, 5])?;
    let mut two = context.alloc::<i32>(2)?;
    stream.copy_rows(&all, &mut two, Rows::new(1, 2).from_pitch(3))?;
    reduce_into(&stream, &all.slice(..2)?, &mut two, ReduceKind::Sum)?;
    assert_eq!(two.to_vec()?, [0, 4]);
    let vector = context.pin(vec![7, 8])?;
    assert_eq!(context.place_of(vector.as_ptr().cast())?.kind, PlaceKind::Host);
    assert_eq!(vector.into_vec()?, [7, 8]);
    let host = context.pinned_from(&[7, 8])?;
    let (mut low, mut high) = all.split_at_mut(3)?;
    let lent = stream.upload_batch(host, &mut [(low.slice_mut(1..2)?, 1..2), (high.slice_mut(..1)?, 0..1)])?;
    assert_eq!(*lent.wait()?, [7, 8]);
    assert_eq!(all.to_vec()?, [0, 8, 2, 7, 4, 5]);
    Ok(())
}

/// Copies whose places stand in memory, fills with words, and batches of the host.
fn indirect_copies(context: &Context) -> Result<()> {
    let stream = context.stream()?;
    let rows = context.alloc_filled(32, 1_i32)?.into_shared();
    let mut target = context.alloc_zeroed::<i32>(32)?.into_shared();
    stream.fill_words(&mut rows.slice(16..)?, 2)?;
    let copy = context.copy_descriptor(&rows, &target, 16)?;
    stream.copy_described(&copy)?;
    let (from, to) = (context.device_pointer(&rows)?, context.device_pointer(&target)?);
    stream.copy_pointed((&from, 16), (&to, 16), 16)?;
    let mut read = [0; 32];
    context.read_batch(&mut [(target.as_slice(), &mut read[..])])?;
    assert_eq!((read[0], read[31]), (1, 2));
    context.write_batch(&mut [(racl::DeviceWrite::as_mut_slice(&mut target), &[3; 32])])?;
    assert_eq!(target.to_vec()?, [3; 32]);
    Ok(())
}

/// Memory that another process could have.
fn shared_memory(context: &Context) -> Result<()> {
    let memory = context.alloc_direct::<u8>(64)?.into_shared();
    let export = memory.export(&[std::process::id()])?;
    export.set_link(MemoryLink::Hccs)?;
    // SAFETY: the key of an export that is closed later.
    let mut same = unsafe { context.import_memory::<u8>(export.key()) }?;
    same.write(&[5; 64])?;
    assert_eq!(memory.to_vec()?, [5; 64]);
    // The process that has both closes the import first.
    same.close().map_err(Refused::into_error)?;
    export.close().map_err(Refused::into_error)?;
    // SAFETY: a context of this library, which outlives the value.
    let own = unsafe { Context::from_raw(context.acl(), context.as_raw()) }?;
    own.upload(&[1_u8])?;
    own.close().map_err(Refused::into_error)?;
    // Before the memory is freed, which can only tell of a context that cannot be made current.
    context.bind()
}

/// Physical memory, and where it is mapped.
fn mapped_memory(context: &Context) -> Result<()> {
    let memory = context.physical_memory(context.memory_granularity()?)?;
    memory.properties()?;
    let mut buffer = context.reserve::<u8>(1 << 30)?;
    buffer.map(&memory)?;
    buffer.set_access(context, MemoryAccess::ReadWrite)?;
    assert_eq!(buffer.access(context)?, MemoryAccess::ReadWrite);
    buffer.slice_mut(..1)?.write(&[7])?;
    let mut others = context.reserve::<u8>(1 << 30)?;
    let process = std::process::id();
    for key in [memory.export(&[process])?, buffer.physical(0)?.export_fabric(&[process])?] {
        let imported = context.import_physical(&key)?;
        others.map(&imported)?;
        imported.close().map_err(Refused::into_error)?;
    }
    assert_eq!(others.slice(..1)?.to_vec()?, [7]);
    others.close().map_err(Refused::into_error)?;
    buffer.close().map_err(Refused::into_error)?;
    memory.close().map_err(Refused::into_error)
}

/// Memory of the host that the device reaches.
fn host_memory(context: &Context) -> Result<()> {
    let stream = context.stream()?;
    context.acl().device(0)?.reaches_host_memory(DeviceUnit::Vector)?;
    let mut mapped = context.mapped::<u32>(4)?;
    assert_eq!(mapped.host()?, [0; 4]);
    mapped.close().map_err(Refused::into_error)?;
    let mut managed = context.managed::<u8>(8)?;
    managed.advise(.., ManagedAdvice::ReadMostly(true))?;
    assert!(managed.is_read_mostly(..)?);
    stream.prefetch_managed(&managed, .., ManagedPlace::Host)?;
    stream.prefetch_managed_batch(&[(&managed, 0..8, ManagedPlace::Device(0))])?;
    stream.fill_bytes(&mut managed, 3)?;
    assert_eq!(managed.host()?, [3; 8]);
    assert_eq!(managed.last_prefetch(..)?, Some(ManagedPlace::Device(0)));
    managed.close().map_err(Refused::into_error)
}

/// Opens the gate of a stream again, whatever happens.
struct Held<'a>(&'a Stream);

impl<'a> Held<'a> {
    fn new(stream: &'a Stream) -> Result<Self> {
        mock::hold(stream)?;
        Ok(Self(stream))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // Refused when the stream is gone, which is as good.
        let _ = mock::release(self.0);
    }
}

/// Memory that is given up while work still uses it, and asked for again.
fn memory_in_use(context: &Context) -> Result<()> {
    let stream = context.stream()?;
    let mut buffer = context.alloc::<u8>(64)?;
    let mut other = context.alloc::<u8>(64)?;
    let held = Held::new(&stream)?;
    stream.fill_bytes(&mut buffer, 1)?;
    drop(buffer);
    stream.fill_bytes(&mut other, 2)?;
    // Memory that is short is waited for, so the stream must be able to go on from here.
    drop(held);
    let third = context.alloc::<u8>(64)?;
    stream.synchronize()?;
    drop(third);
    assert_eq!(other.to_vec()?, [2; 64]);
    Ok(())
}

/// Memory that grows in place and goes again.
fn growing(context: &Context) -> Result<()> {
    let own = context.create_context()?;
    own.set_allocator(Allocator::Growing);
    drop(own.alloc::<u8>(21 << 20)?);
    let kept = own.alloc::<u8>(42 << 20)?;
    let last = own.alloc::<u8>(64)?;
    drop(kept);
    own.trim_memory(0);
    // From memory that another context may give back.
    let mut again = own.alloc_zeroed::<u8>(1 << 20)?;
    again.write(&vec![1; 1 << 20])?;
    assert_eq!(again.slice(..2)?.to_vec()?, [1; 2]);
    drop((again, last));
    own.close().map_err(racl::Refused::into_error)
}
