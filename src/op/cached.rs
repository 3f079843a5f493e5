//! Executors that wait for the next call with an equal signature.
//!
//! A signature is all that a first phase is told except the addresses: the function, types, shapes, strides, offsets
//! and formats of the operands, and every value from the host. Both phases are made on one thread, so each thread has
//! executors of its own for each context. A call takes the second phase alone when the thread knows the signature;
//! else both, and keeps the executor if the library lets it be repeated.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::executor::{Call, Index, Memory, once};
use super::repeatable::{Kept, Moved, Setter};
use crate::context::{Context, ContextInner, Holder, age};
use crate::error::Result;
use crate::lock::{Guard, Lock, over_calls, say};
use crate::stream::{Stream, planned_cores};

/// What became of the operators of a context, on all threads that are still there. See
/// [`Context::operator_cache`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct OperatorCache {
    /// Signatures that are remembered now.
    pub signatures: usize,
    /// Threads that remember some: each of them planned the [signatures](crate::op#executors) that it uses.
    pub threads: usize,
    /// Calls that needed the second phase only.
    pub hits: u64,
    /// Calls that planned an executor.
    pub misses: u64,
    /// Those of the misses whose operator cannot be repeated, or took no other address.
    pub refused: u64,
}

impl Context {
    /// How often operators found an executor that an earlier call with an equal
    /// [signature](crate::op#executors) had planned. Waits neither for the device nor for other threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let context = acl.device(0)?.context().create_context()?;
    /// let stream = context.stream()?;
    /// let mut a = context.zeros::<f32>([4])?;
    /// for _ in 0..3 {
    ///     let b = context.upload_tensor(&[1.0; 4], [4])?; // another address each time
    ///     op::add_inplace(&stream, &mut a, &b)?;
    /// }
    /// assert_eq!(a.to_vec()?, [3.0; 4]);
    /// let cache = context.operator_cache();
    /// assert_eq!((cache.misses, cache.hits, cache.signatures), (1, 2, 1));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn operator_cache(&self) -> OperatorCache {
        let mut sum = OperatorCache::default();
        self.inner().operators.each(self.inner(), |thread: &PerThread| {
            thread.counts.add_to(&mut sum);
        });
        sum
    }

    /// How many signatures all threads together remember for this context, 4,096 at first. All contexts together
    /// remember as many, or the number in the environment variable `RACL_OPERATOR_CACHE`, which is read once. Beyond
    /// either the one goes that was used longest ago, whichever thread had it. With 0 every call plans its executor
    /// anew. Any thread may set it; work that was submitted is not affected.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let context = racl::Acl::mock()?.device(0)?.context().create_context()?;
    /// context.set_operator_cache(0);
    /// let (stream, mut a) = (context.stream()?, context.zeros::<f32>([4])?);
    /// op::fill(&stream, &mut a, 2.0)?;
    /// op::fill(&stream, &mut a, 2.0)?;
    /// assert_eq!(context.operator_cache().hits, 0);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn set_operator_cache(&self, signatures: usize) {
        self.inner().operators.set_limit(self.inner(), signatures);
    }

    /// Forgets every executor of this context. To be called after settings of the runtime that a first phase looks
    /// at were changed beside this crate, such as deterministic kernels or limits of cores. Any thread may call it; it
    /// does not wait for the device, and work that was submitted is not affected.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let context = racl::Acl::mock()?.device(0)?.context().create_context()?;
    /// let (stream, mut a) = (context.stream()?, context.zeros::<f32>([4])?);
    /// op::fill(&stream, &mut a, 2.0)?;
    /// context.clear_operator_cache();
    /// assert_eq!(context.operator_cache().signatures, 0);
    /// assert_eq!(a.to_vec()?, [2.0; 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn clear_operator_cache(&self) {
        self.inner().operators.forget(self.inner());
    }
}

thread_local! {
    static MINE: RefCell<Mine> = const { RefCell::new(Mine { threads: Vec::new() }) };
}

/// What this thread keeps, by the id of the context; the one that was used last is the first.
struct Mine {
    threads: Vec<(u64, Arc<PerThread>)>,
}

impl Drop for Mine {
    fn drop(&mut self) {
        // Nothing is destroyed here: the library's own data of the thread may be gone already.
        for (_, thread) in &self.threads {
            thread.is_over.store(true, Ordering::Release);
        }
    }
}

impl Mine {
    fn of(&mut self, context: &Arc<ContextInner>) -> &PerThread {
        if self.threads.first().is_none_or(|(id, _)| *id != context.id()) {
            match self.threads.iter().position(|(id, _)| *id == context.id()) {
                Some(at) => self.threads.swap(0, at),
                None => {
                    // A context that ended has nothing any more.
                    self.threads.retain(|(_, thread)| Arc::strong_count(thread) > 1);
                    let thread = PerThread::new(context);
                    context.operators.join(context, Arc::clone(&thread) as Arc<dyn Holder>);
                    self.threads.insert(0, (context.id(), thread));
                }
            }
        }
        &self.threads[0].1
    }
}

/// The executors of one thread for one context.
struct PerThread {
    is_over: AtomicBool,
    /// None when the library cannot repeat executors.
    setter: Option<Setter>,
    /// When the signature was used that was used longest ago; the greatest number for none.
    oldest: AtomicU64,
    /// To how many signatures somebody wanted to shrink this while the thread was at work; the greatest for nobody.
    wanted: AtomicUsize,
    counts: Arc<Counts>,
    kept: Lock<Signatures>,
}

/// Written by who has the lock; read by anyone, for the thread may have to wait for the device while it has that.
#[derive(Default)]
struct Counts {
    signatures: AtomicUsize,
    hits: AtomicU64,
    misses: AtomicU64,
    refused: AtomicU64,
}

impl Counts {
    fn add_to(&self, sum: &mut OperatorCache) {
        let signatures = self.signatures.load(Ordering::Relaxed);
        sum.signatures += signatures;
        sum.threads += usize::from(signatures > 0);
        sum.hits += self.hits.load(Ordering::Relaxed);
        sum.misses += self.misses.load(Ordering::Relaxed);
        sum.refused += self.refused.load(Ordering::Relaxed);
    }
}

#[inline]
fn count(one: &AtomicU64) {
    one.store(one.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

impl PerThread {
    fn new(context: &ContextInner) -> Arc<Self> {
        let setter = Setter::of(context);
        let (is_over, oldest) = (AtomicBool::new(false), AtomicU64::new(u64::MAX));
        let counts = Arc::<Counts>::default();
        let kept = Lock::new(Signatures { counts: Arc::clone(&counts), ..Signatures::default() });
        Arc::new(Self { is_over, setter, oldest, wanted: AtomicUsize::new(usize::MAX), counts, kept })
    }

    fn lock(&self) -> Guard<'_, Signatures> {
        self.kept.lock()
    }

    #[inline]
    fn run(&self, stream: &Stream, call: &Call<'_>, setter: Setter) -> Result<()> {
        let mut kept = self.lock();
        // For scratch memory, and room in the queue; nobody waits for this lock before the thread or the context ends.
        let over = over_calls(&kept);
        self.shrink_as_wanted(stream.0.context(), &mut kept);
        let done = kept.run(stream, call, setter);
        self.note_oldest(&kept);
        drop((over, kept));
        if self.wanted.load(Ordering::Acquire) != usize::MAX {
            self.shrink_soon(stream.0.context(), usize::MAX);
        }
        done
    }

    #[inline]
    fn shrink_as_wanted(&self, context: &ContextInner, kept: &mut Signatures) {
        if self.wanted.load(Ordering::Acquire) != usize::MAX {
            kept.shrink(context, self.wanted.swap(usize::MAX, Ordering::AcqRel));
        }
    }

    #[inline]
    fn note_oldest(&self, kept: &Signatures) {
        self.oldest.store(kept.oldest_age(), Ordering::Relaxed);
    }
}

impl Holder for PerThread {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    fn shrink(&self, context: &ContextInner, limit: usize) {
        let mut kept = self.lock();
        kept.shrink(context, limit);
        self.note_oldest(&kept);
    }

    fn shrink_soon(&self, context: &ContextInner, limit: usize) {
        self.wanted.fetch_min(limit, Ordering::AcqRel);
        // Where this fails the thread looks at the wish once it has released the lock.
        if let Some(mut kept) = self.kept.try_lock() {
            self.shrink_as_wanted(context, &mut kept);
            self.note_oldest(&kept);
        }
    }

    fn oldest(&self) -> Option<u64> {
        Some(self.oldest.load(Ordering::Relaxed)).filter(|age| *age != u64::MAX)
    }

    fn try_remove_oldest(&self, context: &ContextInner) -> bool {
        let Some(mut kept) = self.kept.try_lock() else { return false };
        let left = kept.by_hash.len();
        kept.shrink(context, left.saturating_sub(1));
        self.note_oldest(&kept);
        left > 0
    }
}

/// Submits an operator: with the executor of an earlier call, if there is one.
pub(super) fn run(stream: &Stream, call: &Call<'_>) -> Result<()> {
    let context = stream.0.context();
    let operators = &context.operators;
    if operators.limit() > 0 {
        let done = MINE.try_with(|mine| {
            let mut mine = mine.try_borrow_mut().ok()?;
            let thread = mine.of(context);
            let setter = thread.setter?;
            Some(thread.run(stream, call, setter))
        });
        if let Ok(Some(done)) = done {
            if operators.is_full() {
                operators.keep_limits(context);
            }
            return done;
        }
        // The library cannot repeat executors, or the thread is ending.
    }
    once(stream, call, call.memory(stream)?.uses.as_slice())
}

/// Executors by signature, in the order of their last use.
#[derive(Default)]
struct Signatures {
    by_hash: HashMap<u64, usize, BuildHasherDefault<AsItIs>>,
    entries: Vec<Entry>,
    /// Places in `entries` that are free.
    free: Vec<usize>,
    /// The entry that was used last, and the one that was used longest ago, when there are any.
    newest: usize,
    oldest: usize,
    /// Of the call that is being made.
    words: Vec<u64>,
    counts: Arc<Counts>,
}

struct Entry {
    hash: u64,
    words: Box<[u64]>,
    /// None for an operator that is planned each time.
    kept: Option<Kept>,
    newer: usize,
    older: usize,
    /// What was used after it, the last time.
    next: usize,
    /// When it was used last.
    age: u64,
}

// SAFETY: the handles inside are this value's own. The operator library asks for both phases on one thread, and only
// the thread that planned an executor finds it here to launch it; for the end of an executor or of a description it
// asks for nothing.
unsafe impl Send for Signatures {}

/// Keys that are hashes already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Four sums beside each other, none of which waits for another one's product.
fn hash(words: &[u64]) -> u64 {
    let mix = |sum: u64, word: u64| (sum.rotate_left(26) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut sums = [words.len() as u64, 1, 2, 3];
    let (fours, rest) = words.as_chunks::<4>();
    for four in fours {
        sums.iter_mut().zip(four).for_each(|(sum, word)| *sum = mix(*sum, *word));
    }
    let mixed = rest.iter().chain(&sums[1..]).fold(sums[0], |sum, word| mix(sum, *word));
    mixed ^ mixed >> 32
}

impl Signatures {
    fn run(&mut self, stream: &Stream, call: &Call<'_>, setter: Setter) -> Result<()> {
        let mut words = std::mem::take(&mut self.words);
        words.clear();
        words.extend([call.function.id(), planned_cores()]);
        let mut memory = Memory::default();
        let done = memory.gather(call, stream, Some(&mut words)).and_then(|()| {
            if !memory.is_plain {
                let indices = setter.indices(call, &memory);
                let both = memory.starts.as_slice().iter().zip(indices.as_slice());
                let stay = both.filter(|(_, index)| **index == Index::Unsure);
                words.extend(stay.map(|(start, _)| start.addr() as u64));
            }
            self.run_noted(stream, call, setter, &words, &memory)
        });
        self.words = words;
        done
    }

    fn run_noted(
        &mut self,
        stream: &Stream,
        call: &Call<'_>,
        setter: Setter,
        words: &[u64],
        memory: &Memory<'_>,
    ) -> Result<()> {
        let context = &**stream.0.context();
        let (uses, starts) = (memory.uses.as_slice(), memory.starts.as_slice());
        if let Some(at) = self.guess(words).or_else(|| self.look_up(words)) {
            self.entries[self.newest].next = at;
            self.touch(at);
            if let Some(kept) = &mut self.entries[at].kept {
                if kept.move_to(context, call.label, starts) == Moved::Taken {
                    count(&self.counts.hits);
                    let done = kept.submit(stream, (call.label, call.location), uses);
                    if done.is_err() {
                        self.remove(at, context);
                    }
                    return done;
                }
                if let Some(mut kept) = self.entries[at].kept.take() {
                    kept.destroy(context);
                }
            }
            count(&self.counts.misses);
            count(&self.counts.refused);
            return once(stream, call, uses);
        }
        count(&self.counts.misses);
        let kept = match Kept::plan(context, call, memory, setter)? {
            Ok(kept) => kept,
            Err(error) => {
                say!(Debug, "{} is planned anew for each call: {error}", call.label);
                count(&self.counts.refused);
                self.insert(context, words, None);
                return once(stream, call, uses);
            }
        };
        let mut kept = kept;
        let done = kept.submit(stream, (call.label, call.location), uses);
        match done {
            Ok(()) => self.insert(context, words, Some(kept)),
            Err(_) => kept.destroy(context),
        }
        done
    }

    /// The entry that followed the one of the last call when that was used before, if it is of this signature: programs
    /// repeat themselves.
    #[inline]
    fn guess(&self, words: &[u64]) -> Option<usize> {
        let at = self.entries.get(self.newest)?.next;
        (*self.entries.get(at)?.words == *words).then_some(at)
    }

    fn look_up(&self, words: &[u64]) -> Option<usize> {
        self.by_hash.get(&hash(words)).copied().filter(|at| *self.entries[*at].words == *words)
    }

    fn insert(&mut self, context: &ContextInner, words: &[u64], kept: Option<Kept>) {
        let hash = hash(words);
        if let Some(at) = self.by_hash.get(&hash).copied() {
            // Another signature with the same hash gives way.
            self.remove(at, context);
        }
        context.operators.note_added();
        let (newer, older, next) = (usize::MAX, usize::MAX, usize::MAX);
        let entry = Entry { hash, words: words.into(), kept, newer, older, next, age: age() };
        let at = match self.free.pop() {
            Some(at) => {
                self.entries[at] = entry;
                at
            }
            None => {
                self.entries.push(entry);
                self.entries.len() - 1
            }
        };
        self.link(at);
        self.by_hash.insert(hash, at);
        self.counts.signatures.store(self.by_hash.len(), Ordering::Relaxed);
    }

    /// Makes it the newest.
    fn touch(&mut self, at: usize) {
        self.entries[at].age = age();
        if self.newest != at {
            self.unlink(at);
            self.link(at);
        }
    }

    /// Puts an entry that is in no order in front; `by_hash` need not have it yet.
    fn link(&mut self, at: usize) {
        let is_first = self.entries.len() - self.free.len() == 1;
        self.entries[at].newer = usize::MAX;
        if is_first {
            self.entries[at].older = usize::MAX;
            self.oldest = at;
        } else {
            self.entries[at].older = self.newest;
            self.entries[self.newest].newer = at;
        }
        self.newest = at;
    }

    fn unlink(&mut self, at: usize) {
        let (newer, older) = (self.entries[at].newer, self.entries[at].older);
        match newer {
            usize::MAX => self.newest = older,
            newer => self.entries[newer].older = older,
        }
        match older {
            usize::MAX => self.oldest = newer,
            older => self.entries[older].newer = newer,
        }
    }

    fn remove(&mut self, at: usize, context: &ContextInner) {
        self.unlink(at);
        let entry = &mut self.entries[at];
        self.by_hash.remove(&entry.hash);
        self.counts.signatures.store(self.by_hash.len(), Ordering::Relaxed);
        entry.words = Box::default();
        context.operators.note_removed();
        if let Some(mut kept) = entry.kept.take() {
            kept.destroy(context);
        }
        self.free.push(at);
    }

    /// When the one was used that was used longest ago; the greatest number for none.
    fn oldest_age(&self) -> u64 {
        if self.by_hash.is_empty() { u64::MAX } else { self.entries[self.oldest].age }
    }

    /// Forgets what was used longest ago, until so many are left.
    fn shrink(&mut self, context: &ContextInner, limit: usize) {
        while self.by_hash.len() > limit {
            self.remove(self.oldest, context);
        }
    }
}
