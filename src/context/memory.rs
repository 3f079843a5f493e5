//! What a program can ask and set about the memory of a context.

use super::Context;
use super::allocator::Allocator;
use crate::lock::theirs;
use crate::pool::MemoryStats;

impl Context {
    /// Where memory comes from that is allocated from now on; what is held stays what it is. A context begins with
    /// [`Allocator::Pool`], or with [`Allocator::Growing`] or [`Allocator::Direct`] when the environment variable
    /// `RACL_ALLOCATOR` is `growing` or `direct` as the context is made.
    ///
    /// The pool takes segments from the library: 2 MiB for blocks of up to 1 MiB, 20 MiB for those of up to 10 MiB,
    /// larger ones by themselves. Each block starts at a multiple of 64 bytes and is followed by the 32 bytes that
    /// operators may read beyond its last block of 32 (guide: memory management, aclrtMalloc). Memory that is given up
    /// while work uses it goes to whoever asks once that work is done; where it is work of one stream alone, later
    /// allocations for that stream, such as the scratch memory of operators, have it at once, and when memory is short
    /// those for other streams too, which wait for that work on the device. Memory that a capture records stays with
    /// its graph. Memory is kept for later allocations, until it is
    /// [trimmed](Context::trim_memory), the device has too little, or the context ends.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::{Allocator, mock};
    ///
    /// let _alone = mock::exclusive();
    /// let context = racl::Acl::mock()?.device(0)?.context().create_context()?;
    /// drop(context.alloc::<u8>(100)?);
    /// let calls = mock::calls("aclrtMalloc");
    /// drop(context.alloc::<u8>(100)?); // no call
    /// assert_eq!(mock::calls("aclrtMalloc"), calls);
    /// context.set_allocator(Allocator::Direct);
    /// drop(context.alloc::<u8>(100)?);
    /// assert_eq!(mock::calls("aclrtMalloc"), calls + 1);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn set_allocator(&self, allocator: Allocator) {
        let former = std::mem::replace(&mut self.inner().reclaim.lock().allocator, allocator);
        // Not under the lock: it may be the last handle of somebody's allocator.
        theirs(|| drop(former));
    }

    /// What memory this context has, without asking the device. [`Context::memory_info`] is what the library says of
    /// the device, where whole segments count.
    ///
    /// # Examples
    ///
    /// ```
    /// let context = racl::Acl::mock()?.device(0)?.context().create_context()?;
    /// let buffer = context.alloc::<f32>(1000)?;
    /// let stats = context.memory_stats();
    /// assert_eq!((stats.allocated.now, stats.small.held, stats.device_allocations), (4000, 1, 1));
    /// drop(buffer);
    /// let stats = context.memory_stats();
    /// assert_eq!((stats.allocated.now, stats.allocated.peak), (0, 4000));
    /// assert_eq!(stats.cached(), stats.reserved.now);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn memory_stats(&self) -> MemoryStats {
        self.inner().reclaim.lock().pool.figures
    }

    /// Lets the peaks of [`Context::memory_stats`] begin again with what there is now.
    pub fn reset_peak_memory_stats(&self) {
        self.inner().reclaim.lock().pool.figures.reset_peaks();
    }

    /// Gives memory back to the device that nothing uses, in whole segments, or the pieces of those that
    /// [grow](Allocator::Growing), until the context has at most `keep`
    /// bytes or no more such segments. Gives the number of bytes. Does not wait for work; what is done is found.
    ///
    /// # Examples
    ///
    /// ```
    /// let context = racl::Acl::mock()?.device(0)?.context().create_context()?;
    /// drop(context.alloc::<u8>(5 << 20)?);
    /// assert_eq!(context.memory_stats().reserved.now, (20 << 20) - 512);
    /// assert_eq!(context.trim_memory(0), (20 << 20) - 512);
    /// assert_eq!(context.memory_stats().reserved.now, 0);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "empty_cache")]
    #[doc(alias = "aclrtFree")]
    pub fn trim_memory(&self, keep: usize) -> usize {
        let (reclaim, before) = (&self.inner().reclaim, self.memory_stats().reserved.now);
        reclaim.collect(self.inner());
        reclaim.trim(self.inner(), keep);
        before.saturating_sub(self.memory_stats().reserved.now)
    }

    /// The most bytes that the context has at a time, segments and all, which are of whole 2 MiB, so that a limit below
    /// leaves room for nothing; none for what the device has. Allocations beyond it fail with
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory) once what is cached is given back and what work held is
    /// waited for. Below what the context has already, it holds for what comes.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::ErrorKind;
    ///
    /// let context = racl::Acl::mock()?.device(0)?.context().create_context()?;
    /// context.set_memory_limit(Some(64 << 20));
    /// let _most = context.alloc::<u8>(50 << 20)?;
    /// assert_eq!(context.alloc::<u8>(50 << 20).unwrap_err().kind(), ErrorKind::OutOfMemory);
    /// context.set_memory_limit(None);
    /// context.alloc::<u8>(50 << 20)?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn set_memory_limit(&self, bytes: Option<usize>) {
        self.inner().reclaim.lock().limit = bytes;
    }
}
