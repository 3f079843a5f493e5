//! The memory of a context: taken from its pool or from the library, and given back when the work that uses it is done.

use std::ffi::c_void;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use acl_sys::{Table, aclrtStream};

use super::ContextInner;
use super::allocator::{self, Allocator, GiveBack, Piece, Whose};
use super::lines::Lines;
use super::ranges;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{Guard, Lock, Signal, say, say_later, theirs};
use crate::pool::{Pool, Request};
use crate::progress::Use;
use crate::retire::{self, Waited};

/// The memory of every context, with its device and the table of its library: one context may have what another one
/// needs.
static ALL: Lock<Vec<(i32, usize, Weak<Reclaim>)>> = Lock::new(Vec::new());

/// What says which allocator a context begins with.
const VARIABLE: &str = "RACL_ALLOCATOR";

/// The memory of one context.
///
/// Whatever looks for memory that is free by now asks each stream that holds some back once, however much waits there.
pub(crate) struct Reclaim {
    state: Lock<State>,
    /// How much memory became free so far after it had waited.
    frees: AtomicU64,
    /// Told when memory that was taken out of its line is free.
    freed: Signal,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) pool: Pool,
    pub(super) lines: Lines,
    pub(super) allocator: Allocator,
    pub(super) limit: Option<usize>,
    /// Bytes that are asked for at this moment.
    pub(super) growing: usize,
    /// The library does not let memory grow in place.
    pub(super) plain: bool,
    /// Pieces that are in no line any more and not free yet.
    leaving: usize,
    /// Given up by threads that may make no calls.
    later: Vec<Piece>,
    /// At its end there was work that may use some for ever.
    lost: bool,
}

/// The stream that memory is for.
pub(crate) struct Behind<'a> {
    pub(crate) key: usize,
    pub(crate) raw: aclrtStream,
    /// Its latest submission.
    pub(crate) last: &'a dyn Fn() -> Use,
    /// Makes it wait on the device for work of another stream; false where that cannot be.
    pub(crate) follow: &'a dyn Fn(&Use) -> bool,
}

/// Memory for somebody, and work that may still use it.
pub(crate) struct Found {
    pub(crate) piece: Piece,
    pub(crate) address: *mut c_void,
    pub(crate) user: Option<Use>,
}

impl Found {
    pub(super) fn block(taken: crate::pool::Taken, user: Option<Use>) -> Self {
        Self { piece: Piece::Block(taken.id), address: std::ptr::without_provenance_mut(taken.address), user }
    }
}

impl State {
    /// Whether memory comes in blocks of segments.
    #[inline]
    fn gives_blocks(&self) -> bool {
        matches!(self.allocator, Allocator::Pool | Allocator::Growing)
    }
}

impl Default for Reclaim {
    fn default() -> Self {
        let allocator = match std::env::var(VARIABLE).as_deref() {
            Ok("direct") => Allocator::Direct,
            Ok("growing") => Allocator::Growing,
            Ok("" | "pool") | Err(_) => Allocator::Pool,
            Ok(text) => {
                let known = "\"pool\", \"growing\" or \"direct\"";
                say!(Warn, "{VARIABLE} is {text:?}, which is none of {known}; it stays \"pool\"");
                Allocator::Pool
            }
        };
        let state = State { allocator, ..State::default() };
        Self { state: Lock::new(state), frees: AtomicU64::new(0), freed: Signal::new() }
    }
}

impl Reclaim {
    pub(super) fn of(device: i32, table: &Table) -> Arc<Self> {
        let made = Arc::<Self>::default();
        let mut all = ALL.lock();
        all.retain(|(_, _, known)| known.strong_count() > 0);
        all.push((device, std::ptr::from_ref(table).addr(), Arc::downgrade(&made)));
        made
    }

    /// Gives back what other contexts of the same device keep for later, or could not free so far.
    pub(super) fn trim_others(&self, context: &ContextInner) -> usize {
        let key = (context.device, std::ptr::from_ref(context.acl.table()).addr());
        let others: Vec<_> = {
            let all = ALL.lock();
            all.iter()
                .filter(|(device, table, _)| (*device, *table) == key)
                .filter_map(|all| all.2.upgrade())
                .collect()
        };
        let others = others.iter().filter(|other| !std::ptr::eq(&raw const ***other, self));
        // Freed with this context: memory belongs to the device, and the other one may be ending.
        others.map(|other| other.free_later(context) + other.trim(context, 0)).sum()
    }

    /// Frees what threads gave up that were to make no calls then. How many pieces: not all have bytes that count.
    fn free_later(&self, context: &ContextInner) -> usize {
        let idle = {
            let state = &mut *self.lock();
            let idle = std::mem::take(&mut state.later);
            state.leaving += idle.len();
            idle
        };
        let count = idle.len();
        self.free_all(context, idle);
        count
    }

    #[inline]
    pub(super) fn lock(&self) -> Guard<'_, State> {
        self.state.lock()
    }

    pub(super) fn allocator(&self) -> Allocator {
        self.lock().allocator.clone()
    }

    /// Memory that is there, for a stream or for anybody.
    #[inline]
    pub(super) fn take(
        &self,
        request: Request,
        behind: Option<&Behind<'_>>,
        place: &'static Location<'static>,
    ) -> Option<Found> {
        let state = &mut *self.lock();
        if !state.gives_blocks() {
            return None;
        }
        if let Some(behind) = behind
            && let Some((taken, user)) = state.lines.take(&mut state.pool, behind.key, request, place)
        {
            return Some(Found::block(taken, Some(user)));
        }
        state.pool.take(request, place).map(|taken| Found::block(taken, None))
    }

    /// As [`Self::take`], of blocks side by side that the stream gave up, where they are large enough together.
    pub(super) fn take_joined(
        &self,
        request: Request,
        behind: &Behind<'_>,
        place: &'static Location<'static>,
    ) -> Option<Found> {
        let state = &mut *self.lock();
        if !state.gives_blocks() {
            return None;
        }
        state.lines.join(&mut state.pool, behind.key, request);
        let (taken, user) = state.lines.take(&mut state.pool, behind.key, request, place)?;
        Some(Found::block(taken, Some(user)))
    }

    /// Memory that another stream gave up, for a stream that waits for its work on the device from here on.
    pub(super) fn take_elsewhere(
        &self,
        request: Request,
        behind: &Behind<'_>,
        place: &'static Location<'static>,
    ) -> Option<Found> {
        let others = {
            let state = &mut *self.lock();
            if !state.gives_blocks() {
                return None;
            }
            state.lines.elsewhere(&state.pool, behind.key, request)
        };
        // The block stays where others see it until it is certain that it can be had.
        others.iter().filter(|before| (behind.follow)(before)).find_map(|before| {
            let taken = {
                let state = &mut *self.lock();
                state.lines.take_after(&mut state.pool, before, request, place)
            };
            // The wait is the latest of the stream's submissions that has to do with the block.
            taken.map(|taken| Found::block(taken, Some((behind.last)())))
        })
    }

    /// Gives memory back now, or when the submissions of `streams` are done. Never blocks.
    #[inline]
    pub(crate) fn release(&self, context: &ContextInner, piece: Piece, streams: Vec<Use>) {
        if let Piece::Block(id) = piece {
            let state = &mut *self.lock();
            if streams.iter().all(Use::is_done) {
                state.pool.give(id);
            } else {
                state.pool.give_up(id);
                if state.lines.stand(&mut state.pool, piece, streams).is_some() {
                    state.pool.rest(id);
                }
            }
            return;
        }
        self.release_direct(context, piece, streams);
    }

    fn release_direct(&self, context: &ContextInner, piece: Piece, streams: Vec<Use>) {
        piece.tell_given_up(&streams);
        let idle = {
            let state = &mut *self.lock();
            state.pool.give_up_direct(bytes_of(&piece));
            let idle = state.lines.stand(&mut state.pool, piece, streams);
            state.leaving += usize::from(idle.is_some());
            idle
        };
        let waits = idle.is_none();
        self.free_all(context, idle.into_iter().collect());
        if waits {
            self.collect(context);
        }
    }

    /// Frees what can be freed. Streams whose last known position does not suffice are asked, each once.
    pub(crate) fn collect(&self, context: &ContextInner) {
        let busy = {
            let state = &mut *self.lock();
            if state.lines.is_empty() && state.later.is_empty() {
                return;
            }
            state.lines.busy(&state.pool)
        };
        // No lock is held while streams are asked, and what waits stays where others see it.
        busy.iter().for_each(Use::poll);
        let (idle, blocks) = {
            let state = &mut *self.lock();
            let (mut idle, blocks) = state.lines.take_idle(&mut state.pool);
            idle.append(&mut state.later);
            state.leaving += idle.len();
            (idle, blocks)
        };
        self.frees.fetch_add(blocks, Ordering::AcqRel);
        self.free_all(context, idle);
    }

    fn free_all(&self, context: &ContextInner, idle: Vec<Piece>) {
        if idle.is_empty() {
            return;
        }
        if retire::must_leave() {
            let mut state = self.lock();
            state.leaving -= idle.len();
            state.later.extend(idle);
            drop(state);
            return self.freed.notify_all();
        }
        // A logger that allocates may wait for what is leaving.
        let _words = say_later();
        let (count, mut bytes) = (idle.len(), Vec::with_capacity(idle.len()));
        for piece in idle {
            bytes.push(bytes_of(&piece));
            if let Err(error) = free(context, &piece) {
                context.record_drop_error("freeing device memory", error);
            }
        }
        self.frees.fetch_add(count as u64, Ordering::AcqRel);
        let mut state = self.lock();
        state.leaving -= count;
        bytes.into_iter().for_each(|bytes| state.pool.end_direct(bytes));
        drop(state);
        self.freed.notify_all();
    }

    /// Frees memory now that no submitted work uses; its owner gets the error and keeps it.
    pub(crate) fn free_now(&self, context: &ContextInner, piece: &Piece) -> Result<()> {
        if let Piece::Block(id) = *piece {
            self.lock().pool.give(id);
            return Ok(());
        }
        free(context, piece)?;
        let mut state = self.lock();
        state.pool.give_up_direct(bytes_of(piece));
        state.pool.end_direct(bytes_of(piece));
        Ok(())
    }

    /// Memory that other code made and `owner` keeps.
    pub(crate) fn hold_for_others(&self, address: *mut c_void, bytes: usize, owner: impl Send + 'static) -> Piece {
        self.lock().pool.hold_direct(bytes);
        Piece::kept_by(address, bytes, owner)
    }

    /// Memory of other calls than `aclrtMalloc`, of which `counted` bytes are the context's.
    pub(crate) fn hold_of_calls(&self, address: *mut c_void, counted: usize, owner: Arc<dyn GiveBack>) -> Piece {
        self.lock().pool.hold_direct(counted);
        Piece::of_calls(address, counted, owner)
    }

    /// Memory that other code frees from here on.
    pub(crate) fn let_go(&self, piece: &Piece) {
        let mut state = self.lock();
        state.pool.give_up_direct(bytes_of(piece));
        state.pool.end_direct(bytes_of(piece));
    }

    /// Gives segments back in which nothing is in use, and chunks of those that grow, until at most `keep` bytes are
    /// reserved. How many bytes.
    pub(super) fn trim(&self, context: &ContextInner, keep: usize) -> usize {
        let (segments, chunks, count) = {
            let mut state = self.lock();
            let segments = state.pool.take_segments(keep);
            let chunks = state.pool.take_chunks(keep);
            let count = segments.len() + chunks.len();
            state.leaving += count;
            (segments, chunks, count)
        };
        if count == 0 {
            return 0;
        }
        let mut bytes = chunks.iter().map(|leaving| leaving.chunk.bytes).sum::<usize>();
        // As in `free_all`.
        let _words = say_later();
        let mut kept = Vec::new();
        for segment in segments {
            match allocator::free(context, std::ptr::without_provenance_mut(segment.address)) {
                Ok(()) => bytes += segment.bytes,
                Err(error) => {
                    // Of a handle that is wrong, and of a card that is lost, nobody knows what is still there.
                    let lost = [ErrorKind::InvalidHandle, ErrorKind::DeviceLost, ErrorKind::DeviceFault];
                    if !lost.contains(&error.kind()) {
                        kept.push(segment);
                    }
                    context.record_drop_error("freeing a segment of device memory", error);
                }
            }
        }
        let chunks: Vec<_> =
            chunks.into_iter().map(|leaving| (ranges::unmap(context, leaving.chunk), leaving)).collect();
        let mut state = self.lock();
        chunks.into_iter().for_each(|(gone, leaving)| state.pool.left(leaving, gone));
        kept.into_iter().for_each(|segment| state.pool.put_back(segment));
        state.leaving -= count;
        state.pool.returned += bytes as u64;
        drop(state);
        self.freed.notify_all();
        bytes
    }

    /// Captures made memory for their graphs, or it is theirs no more.
    pub(crate) fn count_graphs(&self, more: usize, fewer: usize) {
        self.lock().pool.figures.count_graphs(more, fewer);
    }

    /// Another number whenever memory came free, of this thread's looks or another's.
    fn came_free(&self) -> u64 {
        self.frees().wrapping_add(self.lock().pool.returned)
    }

    /// How much memory became free so far after it had waited.
    pub(super) fn frees(&self) -> u64 {
        self.frees.load(Ordering::Acquire)
    }

    /// What holds memory back now, for [`Reclaim::wait`].
    pub(super) fn held(&self) -> Vec<Use> {
        let state = &mut *self.lock();
        state.lines.busy(&state.pool)
    }

    /// Waits until some of `held`, which loses it, is done and what it held back is free; false when nothing is left
    /// or `until` has passed. Work that a gate holds up does not keep that of other streams from being found.
    pub(super) fn wait(&self, context: &ContextInner, held: &mut Vec<Use>, until: Instant) -> bool {
        while !held.is_empty() {
            let before = (held.len(), self.came_free());
            held.retain(|stream| !is_over(context, stream));
            self.collect(context);
            let is_late = Instant::now() > until;
            // Also what a stream that goes on held back for its work so far, as others may do all the time.
            if held.len() < before.0 || (!is_late && self.came_free() != before.1) {
                self.wait_leaving();
                return true;
            }
            if is_late {
                return false;
            }
            retire::pause();
        }
        false
    }

    /// Waits for frees that other threads are about to make, at most as long as for work: an allocator of other code may
    /// be waiting for this thread.
    pub(super) fn wait_leaving(&self) {
        drop(self.freed.wait_until(self.lock(), retire::deadline(), |state| state.leaving > 0));
    }

    /// Whether others are giving some back.
    pub(super) fn is_leaving(&self) -> bool {
        self.lock().leaving > 0
    }

    /// The same at the end of a context, which does not go on while others are not back.
    fn all_left(&self) -> Result<Guard<'_, State>> {
        let state = self.freed.wait_until(self.lock(), retire::deadline(), |state| state.leaving > 0);
        if state.leaving > 0 { Err(retire::not_back("gives memory of the context back")) } else { Ok(state) }
    }

    /// The streams of other contexts whose work uses memory of this one, whose own streams are all gone, after asking
    /// them.
    fn users(&self, context: &ContextInner) -> Vec<Use> {
        let held = || {
            self.collect(context);
            let mut held = self.held();
            held.retain(|stream| !stream.is_lost());
            held
        };
        let held_back = held();
        // One that failed cannot be asked how far it is, but it can be waited for.
        let asked = |stream: &Use| retire::wait_moment(|limit| stream.outlast(limit)).is_ok() && stream.is_done();
        // All of them.
        if held_back.iter().filter(|stream| asked(stream)).count() > 0 { held() } else { held_back }
    }

    /// Whether no work of other contexts' streams uses memory of this one any more. No stream is kept for long.
    pub(super) fn is_unused(&self, context: &ContextInner) -> bool {
        self.users(context).is_empty()
    }

    /// Waits, in a drop of the context, for work of other contexts' streams that uses memory of it.
    pub(super) fn outlast(&self, context: &ContextInner) -> Waited {
        loop {
            let users = self.users(context);
            if users.is_empty() {
                return Waited::Done;
            }
            if retire::is_patient() {
                // Not without a limit here: this may be in the drop of such a stream, of which it is a part.
                return Waited::Held;
            }
            for stream in users {
                match retire::wait(|limit| stream.outlast(limit)) {
                    Ok(Waited::Done) if stream.is_done() || stream.is_lost() => {}
                    // Whoever drops its work is not done with it.
                    Ok(Waited::Done) => return Waited::Held,
                    Ok(other) => return other,
                    // It may be done or lost since; a stream that captures, or a device that fails, cannot be asked.
                    Err(_) if stream.is_done() || stream.is_lost() => {}
                    Err(_) => return Waited::Held,
                }
            }
        }
    }

    /// That no work of other contexts' streams uses memory of this one.
    pub(super) fn check_unused(&self, context: &ContextInner) -> Result<()> {
        let users = self.users(context);
        if users.is_empty() { Ok(()) } else { Err(Error::invalid(in_use(&users))) }
    }

    /// What is said of work that is not done, for which the context stays.
    pub(super) fn describe_users(&self) -> String {
        in_use(&self.held())
    }

    /// At the end of the context: every stream of it is gone, nobody holds memory, and work that uses some is done, or
    /// is nothing that anybody will ever know of: what such work uses stays where it is.
    pub(crate) fn release_all(&self, context: &ContextInner) -> Result<()> {
        self.collect(context);
        let lines = std::mem::take(&mut self.lock().lines);
        let lost = !lines.is_empty();
        if lost {
            let text = "work that nobody can wait for may still use some of it, which stays";
            context.record_drop_error("freeing device memory", Error::new(ErrorKind::DeviceLost, text));
            // With what owns it.
            lines.into_pieces().for_each(std::mem::forget);
        }
        self.lock().lost |= lost;
        let mut state = self.all_left()?;
        let ranges = if state.lost { Vec::new() } else { state.pool.rest_all() };
        drop(state);
        ranges.into_iter().for_each(|range| ranges::end(context, range));
        self.trim(context, 0);
        // Others may be giving its segments back.
        self.all_left().map(drop)
    }
}

/// As [`Reclaim::release`], of memory that may hold another context. In the line of its own one it would keep the
/// other, and both would stay where each has such a line; so a thread waits for the work.
#[inline]
pub(crate) fn give_up(context: &Arc<ContextInner>, piece: Piece, streams: Vec<Use>) {
    if matches!(piece, Piece::Block(_)) || streams.iter().all(Use::is_done) || !piece.holds_context() {
        return context.reclaim.release(context, piece, streams);
    }
    retire::on_thread((Arc::clone(context), piece, streams), |(context, piece, streams)| {
        let is_used = || {
            streams.iter().for_each(Use::poll);
            streams.iter().any(|last| !last.is_done() && !last.is_lost())
        };
        let tell = || {
            let late = retire::late(&format!("work of {},", Use::describe_open(&streams)));
            context.record_drop_error("unmapping device memory", late);
        };
        retire::outlast(is_used, tell);
        context.reclaim.release(&context, piece, streams);
    });
}

fn in_use(users: &[Use]) -> String {
    let described: Vec<_> = users.iter().filter_map(Use::describe).collect();
    format!("work of other contexts that uses memory of this one: {}", described.join(", "))
}

/// Whether nothing is to be expected of the stream any more: its work is done, or cannot be waited for.
fn is_over(context: &ContextInner, stream: &Use) -> bool {
    stream.poll();
    if stream.is_done() {
        return true;
    }
    match retire::wait_briefly(|limit| stream.outlast(limit)) {
        Ok(done) => done,
        Err(error) if error.kind() == ErrorKind::CaptureForbidden => true,
        Err(error) => {
            context.record_drop_error("waiting for memory to become free", error);
            true
        }
    }
}

/// Of memory that is no block.
fn bytes_of(piece: &Piece) -> usize {
    match piece {
        Piece::Direct(direct) => direct.bytes,
        Piece::Block(_) => 0,
    }
}

/// Frees memory that is no block and that no submitted work uses.
fn free(context: &ContextInner, piece: &Piece) -> Result<()> {
    match piece {
        Piece::Direct(direct) => match &direct.whose {
            Whose::Foreign(foreign, stream) => {
                // SAFETY: the memory came from this allocator with these bytes, and its owner frees it once.
                theirs(|| unsafe { foreign.free(direct.address, direct.bytes, *stream) });
                Ok(())
            }
            Whose::Library => allocator::free(context, direct.address),
            Whose::Calls(owner) => owner.give_back(context),
        },
        Piece::Block(_) => Ok(()),
    }
}

#[cfg(all(test, feature = "mock"))]
mod tests {
    use std::thread;

    use super::*;
    use crate::{Acl, Refused};

    #[test]
    fn the_end_of_a_context_waits_for_who_gives_memory_back_and_not_for_ever() -> Result<()> {
        let context = Acl::mock()?.device(0)?.context().create_context()?;
        let reclaim = Arc::clone(&context.inner().reclaim);
        reclaim.lock().leaving += 1; // as on a thread whose call hangs
        let refused = retire::until(Instant::now(), || context.close()).unwrap_err();
        assert_eq!(refused.error().kind(), ErrorKind::Timeout);
        assert!(refused.error().to_string().contains("gives memory"), "{}", refused.error());
        let context = refused.into_value();
        thread::scope(|scope| {
            let closed = scope.spawn(|| context.close().map_err(Refused::into_error));
            reclaim.lock().leaving -= 1; // before or after the other waits
            reclaim.freed.notify_all();
            closed.join().expect("no panic")
        })
    }
}
