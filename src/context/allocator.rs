//! Where device memory comes from.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use acl_sys::{aclrtMemMallocPolicy, aclrtStream};

use super::ContextInner;
use crate::call::call;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{Lock, caught, say};
use crate::progress::Use;

/// Where the memory of a context comes from: [`Context::set_allocator`](crate::Context::set_allocator).
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Allocator {
    /// From segments that are divided, kept and used again: an allocation is rarely a call of the library.
    #[default]
    Pool,
    /// As [`Pool`](Self::Pool), but the segments grow in place where the library has virtual memory: physical memory is
    /// mapped behind what is there, into addresses that the context reserves once for small blocks and once for large
    /// ones, and unmapped wherever nothing is in use any more. So blocks of any size come from the same memory, and
    /// little of it lies idle between others.
    ///
    /// Not what a context begins with: functions that share memory between processes, collective communication and
    /// registrations with other devices may take memory of `aclrtMalloc` alone, depending on the release.
    /// Where the library lacks the functions (`aclrtReserveMemAddress`, `aclrtMapMem` and their like) or refuses, the
    /// context says so in the log, once, and has segments as with [`Pool`](Self::Pool).
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::Allocator;
    ///
    /// let context = racl::Acl::mock()?.device(0)?.context().create_context()?;
    /// context.set_allocator(Allocator::Growing);
    /// drop(context.alloc::<u8>(20 << 20)?);
    /// drop(context.alloc::<u8>(30 << 20)?); // in the same memory and ten MiB more
    /// assert_eq!(context.memory_stats().reserved.now, 32 << 20);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "expandable_segments")]
    #[doc(alias = "aclrtReserveMemAddress")]
    #[doc(alias = "aclrtMallocPhysical")]
    #[doc(alias = "aclrtMapMem")]
    Growing,
    /// One call of `aclrtMalloc` for each allocation, and one of `aclrtFree`. So tools that watch these calls see every
    /// buffer by itself.
    Direct,
    /// From somebody else, such as the allocator of another framework in the same process.
    Foreign(Arc<dyn ForeignAllocator>),
}

/// Gives device memory, and takes it back.
///
/// # Safety
///
/// Memory that [`alloc`](Self::alloc) gives:
///
/// 1. is device memory of the device whose context asks, known to the same library, and nobody else's until it is
///    freed;
/// 2. has the bytes that were asked for, starts at a multiple of 64 bytes, and may be read 32 bytes beyond its last
///    block of 32, because operators do (guide: memory management, aclrtMalloc).
pub unsafe trait ForeignAllocator: Send + Sync {
    /// Memory of at least `bytes` bytes. Where it is for work of one stream alone, that stream is given, and the memory
    /// may be such that earlier work of that stream still uses; otherwise it is null, and no work uses the memory. Any
    /// thread calls it, with the context current, and without a lock of this crate that anybody waits for.
    ///
    /// # Errors
    ///
    /// Whatever the caller of the allocation is to get.
    fn alloc(&self, bytes: usize, stream: aclrtStream) -> Result<*mut c_void>;

    /// The program gave memory up that submitted work may use still: work of `streams`, in the order in which they first
    /// used it, as far as it is known not to be done. [`free`](Self::free) follows when it is. Their handles
    /// are names: a stream may be gone, and its handle another one's since. For allocators that note what happens; it
    /// does nothing unless it is written. Called where the memory is dropped, also in a host function:
    /// it must neither panic nor call the library.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::ffi::c_void;
    /// use std::sync::Mutex;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// use racl::sys::aclrtStream;
    /// use racl::{Allocator, Context, DeviceBuffer, ForeignAllocator, Result, mock};
    ///
    /// /// Lends memory of another context, and counts what is given up before its work is done.
    /// struct Counts {
    ///     from: Context,
    ///     out: Mutex<Vec<DeviceBuffer<u8>>>,
    ///     early: AtomicUsize,
    /// }
    ///
    /// // SAFETY: each piece is a buffer of the same device, which is kept until it is freed.
    /// unsafe impl ForeignAllocator for Counts {
    ///     fn alloc(&self, bytes: usize, _: aclrtStream) -> Result<*mut c_void> {
    ///         let buffer = self.from.alloc(bytes)?;
    ///         let address = buffer.address();
    ///         self.out.lock().unwrap().push(buffer);
    ///         Ok(address)
    ///     }
    ///
    ///     fn given_up(&self, _: *mut c_void, _: usize, streams: &[aclrtStream]) {
    ///         self.early.fetch_add(streams.len(), Ordering::Relaxed);
    ///     }
    ///
    ///     unsafe fn free(&self, address: *mut c_void, _: usize, _: aclrtStream) {
    ///         self.out.lock().unwrap().retain(|buffer| buffer.address() != address);
    ///     }
    /// }
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let (context, from) = (device.context().create_context()?, device.context().create_context()?);
    /// let counts = std::sync::Arc::new(Counts { from, out: Mutex::default(), early: AtomicUsize::new(0) });
    /// context.set_allocator(Allocator::Foreign(counts.clone()));
    /// let stream = context.stream()?;
    /// let mut buffer = context.alloc::<u8>(64)?;
    /// mock::hold(&stream)?; // its work does not run yet
    /// stream.fill_bytes(&mut buffer, 1)?;
    /// drop(buffer);
    /// assert_eq!((counts.early.load(Ordering::Relaxed), counts.out.lock().unwrap().len()), (1, 1));
    /// mock::release(&stream)?;
    /// stream.synchronize()?;
    /// assert_eq!(counts.out.lock().unwrap().len(), 0);
    /// # Ok::<(), racl::Error>(())
    /// ```
    fn given_up(&self, address: *mut c_void, bytes: usize, streams: &[aclrtStream]) {
        let _nobody_notes_it = (address, bytes, streams);
    }

    /// Takes memory back that no submitted work uses any more, as long as it was asked for and with the stream. May be
    /// called in a destructor: it must not panic. Nor may it ask the same context for memory, which may be waiting for
    /// what is given back here.
    ///
    /// # Safety
    ///
    /// The memory is of this allocator, with these bytes, and given back once.
    unsafe fn free(&self, address: *mut c_void, bytes: usize, stream: aclrtStream);
}

/// Memory of one allocation.
#[derive(Clone)]
pub(crate) enum Piece {
    Block(u32),
    Direct(Arc<Direct>),
}

/// Memory by itself.
pub(crate) struct Direct {
    pub(super) address: *mut c_void,
    pub(super) bytes: usize,
    pub(super) whose: Whose,
}

/// Memory of other calls than `aclrtMalloc`. It must not hold the context, which may own it; where it holds another one
/// it says so.
pub(crate) trait GiveBack: Send + Sync + 'static {
    /// Gives it back, which no submitted work uses, with the calls of the context; called until it succeeds once.
    fn give_back(&self, context: &ContextInner) -> Result<()>;

    /// How many bytes from the start work can use, after a call that may have failed half-way.
    fn left(&self) -> usize {
        usize::MAX
    }

    fn holds_context(&self) -> bool {
        false
    }
}

/// Who gave memory, and takes it back.
pub(super) enum Whose {
    /// `aclrtMalloc`.
    Library,
    /// Somebody else, for that stream.
    Foreign(Arc<dyn ForeignAllocator>, aclrtStream),
    /// Other calls of the library.
    Calls(Arc<dyn GiveBack>),
}

// SAFETY: the address and the stream are only passed on; any thread may free device memory.
unsafe impl Send for Direct {}
// SAFETY: as above.
unsafe impl Sync for Direct {}

impl Piece {
    /// Memory of other code.
    pub(super) fn kept_by(address: *mut c_void, bytes: usize, owner: impl Send + 'static) -> Self {
        let owner: Arc<dyn ForeignAllocator> = Arc::new(Keeper(Lock::new(Some(owner))));
        Self::Direct(Arc::new(Direct { address, bytes, whose: Whose::Foreign(owner, std::ptr::null_mut()) }))
    }

    /// Memory of other calls than `aclrtMalloc`.
    pub(super) fn of_calls(address: *mut c_void, bytes: usize, owner: Arc<dyn GiveBack>) -> Self {
        Self::Direct(Arc::new(Direct { address, bytes, whose: Whose::Calls(owner) }))
    }

    /// How many bytes from the start work can use, after an attempt to give it back that failed.
    pub(crate) fn left(&self) -> usize {
        match self {
            Self::Direct(direct) => match &direct.whose {
                Whose::Calls(owner) => owner.left(),
                _ => usize::MAX,
            },
            Self::Block(_) => usize::MAX,
        }
    }

    /// Tells the allocator that gave it that it was given up, while work of `streams` may use it.
    pub(super) fn tell_given_up(&self, streams: &[Use]) {
        let Self::Direct(direct) = self else { return };
        let Whose::Foreign(owner, _) = &direct.whose else { return };
        let busy = streams.iter().filter(|stream| !stream.is_done());
        let busy: Vec<aclrtStream> = busy.filter_map(Use::handle).collect();
        if !busy.is_empty() && caught(|| owner.given_up(direct.address, direct.bytes, &busy)).is_none() {
            say!(Error, "a foreign allocator panicked when memory was given up");
        }
    }

    /// Whether it holds another context than the one that it is of.
    pub(super) fn holds_context(&self) -> bool {
        matches!(self, Self::Direct(direct) if matches!(&direct.whose, Whose::Calls(owner) if owner.holds_context()))
    }

    /// Whether it is.
    pub(crate) fn is_of_calls(&self) -> bool {
        matches!(self, Self::Direct(direct) if matches!(direct.whose, Whose::Calls(_)))
    }

    /// That the memory came from the library with a call of its own.
    pub(crate) fn check_own_call(&self) -> Result<()> {
        let text = match self {
            Self::Direct(direct) => match direct.whose {
                Whose::Library => return Ok(()),
                Whose::Foreign(..) => "memory that came from other code, which frees it",
                Whose::Calls(_) => "memory that is mapped, and not of aclrtMalloc",
            },
            Self::Block(_) => {
                "memory that is part of a segment; Context::alloc_direct and Allocator::Direct make what can be \
                 given away"
            }
        };
        Err(Error::new(ErrorKind::NotSupported, text))
    }
}

/// Keeps one piece of memory of other code until that is given back.
struct Keeper<O>(Lock<Option<O>>);

// SAFETY: it gives no memory.
unsafe impl<O: Send> ForeignAllocator for Keeper<O> {
    fn alloc(&self, _: usize, _: aclrtStream) -> Result<*mut c_void> {
        Err(Error::new(ErrorKind::Internal, "memory of other code that is asked for more"))
    }

    unsafe fn free(&self, _: *mut c_void, _: usize, _: aclrtStream) {
        // The owner is code of others: no lock is held while it ends.
        let owner = self.0.lock().take();
        if caught(|| drop(owner)).is_none() {
            say!(Error, "the owner of device memory that other code made panicked when it was dropped");
        }
    }
}

/// Memory from the library.
pub(super) fn malloc(context: &ContextInner, bytes: usize) -> Result<*mut c_void> {
    let mut address = std::ptr::null_mut();
    let policy = aclrtMemMallocPolicy::ACL_MEM_MALLOC_HUGE_FIRST;
    // SAFETY: `address` is a place for one address.
    unsafe { call!(context, aclrtMalloc(&raw mut address, bytes, policy)) }?;
    Ok(address)
}

/// Frees memory of the library, which no submitted work uses.
pub(super) fn free(context: &ContextInner, address: *mut c_void) -> Result<()> {
    // SAFETY: the address came from `aclrtMalloc`, its owner frees it once, and no submitted work uses it any more.
    unsafe { call!(context, aclrtFree(address)) }
}

impl fmt::Debug for Allocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pool => "Pool",
            Self::Growing => "Growing",
            Self::Direct => "Direct",
            Self::Foreign(_) => "Foreign",
        })
    }
}
