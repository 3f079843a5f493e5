//! Device memory that was given up while work may still use it: freed when that work is done.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::ffi::c_void;
use std::sync::atomic::{self, AtomicU64};
use std::time::Instant;

use super::ContextInner;
use crate::call::call;
use crate::error::{ErrorKind, Result};
use crate::lock::{Guard, Lock, Signal};
use crate::progress::Use;
use crate::retire;

/// The waiting memory of one context, in a line for each stream that holds some back.
///
/// Whatever looks asks each of those streams once, however much waits there.
#[derive(Default)]
pub(crate) struct Reclaim {
    lines: Lock<Lines>,
    /// How much memory was freed so far after it had waited.
    frees: AtomicU64,
    /// Told when memory that was taken out of its line is free.
    freed: Signal,
}

#[derive(Default)]
struct Lines {
    /// By the address of the stream's progress, which the line keeps.
    by_stream: HashMap<usize, Line>,
    /// Pieces that are in no line any more and not free yet.
    leaving: usize,
    /// Lines from which on those without memory are looked for.
    crowded: usize,
}

/// What waits for one stream.
struct Line {
    /// The latest of the submissions that are waited for.
    last: Use,
    waiting: BinaryHeap<Waiting>,
}

/// Memory that waits for the submission `number`, and then for the others.
struct Waiting {
    number: u64,
    address: *mut c_void,
    others: Vec<Use>,
}

impl Ord for Waiting {
    /// A heap gives its greatest first: the earliest submission.
    fn cmp(&self, other: &Self) -> Ordering {
        other.number.cmp(&self.number)
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Waiting {}

// SAFETY: the address is that of device memory, which is only passed on and which any thread may free.
unsafe impl Send for Waiting {}

impl Lines {
    /// Puts memory into the line of a stream that is not done; gives it back when there is none.
    fn stand(&mut self, address: *mut c_void, mut streams: Vec<Use>) -> Option<*mut c_void> {
        while let Some(stream) = streams.pop() {
            if stream.is_done() {
                continue;
            }
            let waiting = Waiting { number: stream.number(), address, others: streams };
            self.line(stream).waiting.push(waiting);
            return None;
        }
        Some(address)
    }

    fn line(&mut self, stream: Use) -> &mut Line {
        let key = stream.stream_key();
        if self.by_stream.len() > self.crowded && !self.by_stream.contains_key(&key) {
            self.by_stream.retain(|_, line| !line.waiting.is_empty());
            self.crowded = 16 + 2 * self.by_stream.len();
        }
        let number = stream.number();
        let line = self.by_stream.entry(key).or_insert_with(|| Line { last: stream, waiting: BinaryHeap::new() });
        line.last.renew(number);
        line
    }

    /// The streams that hold memory back, as far as is known.
    fn busy(&self) -> Vec<Use> {
        let holds = |line: &&Line| line.waiting.peek().is_some_and(|first| !line.last.is_done_at(first.number));
        self.by_stream.values().filter(holds).map(|line| line.last.clone()).collect()
    }

    /// Takes out what no stream uses any more.
    fn take_idle(&mut self) -> Vec<*mut c_void> {
        let mut moved = Vec::new();
        for line in self.by_stream.values_mut() {
            while line.waiting.peek().is_some_and(|first| line.last.is_done_at(first.number)) {
                moved.extend(line.waiting.pop());
            }
        }
        moved.into_iter().filter_map(|next| self.stand(next.address, next.others)).collect()
    }
}

impl Reclaim {
    fn lock(&self) -> Guard<'_, Lines> {
        self.lines.lock()
    }

    /// Frees the memory now, or when the submissions of `streams` are done. Never blocks.
    pub(crate) fn release(&self, context: &ContextInner, address: *mut c_void, streams: Vec<Use>) {
        if streams.iter().all(Use::is_done) {
            free_or_tell(context, address);
            return;
        }
        let idle = {
            let mut lines = self.lock();
            let idle = lines.stand(address, streams);
            lines.leaving += usize::from(idle.is_some());
            idle
        };
        self.free_all(context, idle.into_iter().collect());
        self.collect(context);
    }

    /// Frees what can be freed. Streams whose last known position does not suffice are asked, each once.
    pub(crate) fn collect(&self, context: &ContextInner) {
        let busy = {
            let lines = self.lock();
            if lines.by_stream.values().all(|line| line.waiting.is_empty()) {
                return;
            }
            lines.busy()
        };
        // No lock is held while streams are asked, and what waits stays where others see it.
        busy.iter().for_each(Use::poll);
        let idle = {
            let mut lines = self.lock();
            let idle = lines.take_idle();
            lines.leaving += idle.len();
            idle
        };
        self.free_all(context, idle);
    }

    fn free_all(&self, context: &ContextInner, idle: Vec<*mut c_void>) {
        if idle.is_empty() {
            return;
        }
        for &address in &idle {
            free_or_tell(context, address);
        }
        self.frees.fetch_add(idle.len() as u64, atomic::Ordering::AcqRel);
        self.lock().leaving -= idle.len();
        self.freed.notify_all();
    }

    /// How much memory was freed so far after it had waited.
    pub(crate) fn frees(&self) -> u64 {
        self.frees.load(atomic::Ordering::Acquire)
    }

    /// What holds memory back now, for [`Reclaim::wait`].
    pub(crate) fn held(&self) -> Vec<Use> {
        self.lock().busy()
    }

    /// Waits until some of `held`, which loses it, is done and what it held back is free; false when nothing is left
    /// or `until` has passed. Work that a gate holds up does not keep that of other streams from being found.
    pub(crate) fn wait(&self, context: &ContextInner, held: &mut Vec<Use>, until: Instant) -> bool {
        while !held.is_empty() {
            let before = held.len();
            held.retain(|stream| !is_over(context, stream));
            if held.len() < before {
                self.collect(context);
                self.wait_leaving();
                return true;
            }
            if Instant::now() > until {
                return false;
            }
            retire::pause();
        }
        false
    }

    /// Waits for frees that other threads are about to make.
    pub(crate) fn wait_leaving(&self) {
        let leaving = self.freed.wait_while(self.lock(), |lines| lines.leaving > 0);
        drop(leaving);
    }

    /// At the end of the context: every stream is gone.
    pub(crate) fn release_all(&self, context: &ContextInner) {
        let lines = std::mem::take(&mut *self.lock());
        for entry in lines.by_stream.into_values().flat_map(|line| line.waiting) {
            free_or_tell(context, entry.address);
        }
    }
}

/// Whether nothing is to be expected of the stream any more: its work is done, or cannot be waited for.
fn is_over(context: &ContextInner, stream: &Use) -> bool {
    stream.poll();
    if stream.is_done() {
        return true;
    }
    match retire::wait_briefly(|limit| stream.wait(limit)) {
        Ok(done) => done,
        Err(error) if error.kind() == ErrorKind::CaptureForbidden => true,
        Err(error) => {
            context.record_drop_error("waiting for memory to become free", error);
            true
        }
    }
}

fn free_or_tell(context: &ContextInner, address: *mut c_void) {
    if let Err(error) = free(context, address) {
        context.record_drop_error("freeing device memory", error);
    }
}

/// Frees memory that no submitted work uses.
pub(crate) fn free(context: &ContextInner, address: *mut c_void) -> Result<()> {
    // SAFETY: the address came from `aclrtMalloc`, its owner frees it once, and no submitted work uses it any more.
    unsafe { call!(context, aclrtFree(address)) }
}
