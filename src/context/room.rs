//! Finding room for an allocation.

use std::cell::Cell;
use std::ffi::c_void;
use std::fmt::Write as _;
use std::panic::Location;
use std::sync::Arc;
use std::time::Instant;

use super::ContextInner;
use super::allocator::{self, Allocator, Direct, Piece, Whose};
use super::ranges;
use super::reclaim::{Behind, Found, Reclaim, State};
use crate::call::check_not_forked;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::theirs;
use crate::pool::Request;
use crate::progress::Use;
use crate::retire;

/// Holders that the error names.
const NAMED: usize = 8;

/// What is asked for, by whom.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    context: &'a ContextInner,
    bytes: usize,
    request: Request,
    behind: Option<&'a Behind<'a>>,
    place: &'static Location<'static>,
    /// Bytes that had [come back](crate::pool::Pool::returned) when it was tried last, with those that came of that.
    seen: &'a Cell<u64>,
    /// Bytes that had been [given up](crate::pool::Pool::given_up) when it was looked last who holds some back.
    held: &'a Cell<u64>,
}

/// How often memory that others ask for is a reason to try again: they may be as short, and for ever.
const OTHERS: usize = 16;

/// Memory of `bytes` bytes. For work of the stream `behind`, where there is one, alone: earlier work of it may use the
/// memory still. When memory is short, what is cached is given back. Then a stream takes what another one gave up,
/// whose work it waits for on the device; where that cannot be, the host waits for memory that others held.
#[inline]
pub(crate) fn find(
    context: &ContextInner,
    bytes: usize,
    behind: Option<&Behind<'_>>,
    place: &'static Location<'static>,
) -> Result<Found> {
    // What the pool has is the process's that was forked.
    check_not_forked()?;
    let request = Request::new(bytes).ok_or_else(|| too_large(bytes))?;
    match context.reclaim.take(request, behind, place) {
        Some(found) => Ok(found),
        None => {
            let wanted = Wanted { context, bytes, request, behind, place, seen: &Cell::new(0), held: &Cell::new(0) };
            wanted.look().map_err(|error| wanted.explain(error))
        }
    }
}

/// Memory of `bytes` bytes from a call of the library of its own, whatever the context's allocator. When memory is
/// short, what is cached is given back.
pub(crate) fn find_own(context: &ContextInner, bytes: usize, place: &'static Location<'static>) -> Result<Found> {
    let request = Request::new(bytes).ok_or_else(|| too_large(bytes))?;
    let wanted = Wanted { context, bytes, request, behind: None, place, seen: &Cell::new(0), held: &Cell::new(0) };
    let mut tried = wanted.own();
    if is_short(&tried) {
        context.reclaim.lock().pool.figures.retries += 1;
        let mut held = wanted.settle();
        let again = || {
            wanted.look_back();
            wanted.trim(0);
            wanted.own()
        };
        context.reclaim.trim_others(context);
        tried = wanted.wait(again(), &mut held, again);
    }
    tried.map_err(|error| wanted.explain(error))
}

#[cold]
fn too_large(bytes: usize) -> Error {
    Error::invalid(format!("{bytes} bytes do not fit an address space"))
}

/// Whether memory is what it failed for.
fn is_short(tried: &Result<Found>) -> bool {
    tried.as_ref().is_err_and(|error| error.kind() == ErrorKind::OutOfMemory)
}

/// Bytes that are asked for, which count no more when nothing comes: an allocator of the user may panic.
struct Asked<'a> {
    reclaim: &'a Reclaim,
    bytes: usize,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.reclaim.lock().growing -= self.bytes;
    }
}

impl Wanted<'_> {
    /// Where no block was free.
    #[cold]
    fn look(self) -> Result<Found> {
        let reclaim = &self.context.reclaim;
        let before = reclaim.frees();
        reclaim.collect(self.context);
        if reclaim.frees() > before
            && let Some(found) = reclaim.take(self.request, self.behind, self.place)
        {
            return Ok(found);
        }
        if let Some(behind) = self.behind
            && let Some(found) = reclaim.take_joined(self.request, behind, self.place)
        {
            return Ok(found);
        }
        self.look_back();
        let tried = self.grow(false);
        if !is_short(&tried) {
            return tried;
        }
        self.squeeze(tried, before)
    }

    /// Where the device has too little, or the limit does not allow more.
    fn squeeze(self, mut tried: Result<Found>, before: u64) -> Result<Found> {
        let reclaim = &self.context.reclaim;
        reclaim.lock().pool.figures.retries += 1;
        let mut held = self.settle();
        let (cached, least) = (self.trim(0), self.request.least_segment());
        let cached = cached + reclaim.trim_others(self.context);
        if cached > 0 || reclaim.frees() > before || least < self.request.segment() {
            tried = self.again();
        }
        if is_short(&tried)
            && let Some(behind) = self.behind
            && let Some(found) = reclaim.take_elsewhere(self.request, behind, self.place)
        {
            return Ok(found);
        }
        self.wait(tried, &mut held, || self.again())
    }

    /// What streams hold back now; the rest of what was given up is free after this.
    fn settle(self) -> Vec<Use> {
        let reclaim = &self.context.reclaim;
        self.held.set(reclaim.lock().pool.given_up);
        let held = reclaim.held();
        // Other threads may have found out since that work is done, and not have put back what it held.
        reclaim.collect(self.context);
        reclaim.wait_leaving();
        held
    }

    /// Gives back what is cached, until at most `keep` bytes are reserved.
    fn trim(self, keep: usize) -> usize {
        let bytes = self.context.reclaim.trim(self.context, keep);
        self.seen.set(self.seen.get() + bytes as u64);
        bytes
    }

    /// Before a trial: what came back until then does not count afterwards.
    fn look_back(self) {
        self.seen.set(self.context.reclaim.lock().pool.returned);
    }

    /// Whether another trial may have what this one lacked: others gave some back meanwhile, or up, so that it can be
    /// waited for, or, as long as that counts, ask for some at this moment, which they may not get as a whole. Little
    /// beside what is asked for does not count: other threads come and go with such all the time. Nor does what was
    /// held back before and was waited for, or cannot be.
    fn may_come(self, others_count: bool) -> bool {
        let state = self.context.reclaim.lock();
        let returned = state.pool.returned.saturating_sub(self.seen.get());
        let given_up = state.pool.given_up.saturating_sub(self.held.get());
        let asked = if others_count { state.growing as u64 } else { 0 };
        returned.saturating_add(given_up).saturating_add(asked) > self.bytes as u64 / 16
    }

    /// Waits for what holds memory back, and tries `again` whenever some is free. Other threads may have that first, and
    /// give it up once more: then for that.
    fn wait(self, mut tried: Result<Found>, held: &mut Vec<Use>, again: impl Fn() -> Result<Found>) -> Result<Found> {
        let (reclaim, until) = (&self.context.reclaim, retire::deadline());
        let mut turns = 0;
        loop {
            while is_short(&tried) && reclaim.wait(self.context, held, until) {
                tried = again();
            }
            if !is_short(&tried) || !held.is_empty() || Instant::now() > until {
                break;
            }
            reclaim.wait_leaving();
            if !self.may_come(turns < OTHERS) {
                break;
            }
            turns += 1;
            retire::pause();
            *held = self.settle();
            tried = again();
        }
        if is_short(&tried) && !held.is_empty() {
            // What came free in the last look.
            tried = again();
        }
        match held.len() {
            0 => tried,
            busy => tried.map_err(|error| {
                let limit = retire::drop_limit();
                error
                    .with_detail(format!("work of {busy} streams that holds memory back is not done after {limit:?}"))
            }),
        }
    }

    /// Once something was freed.
    fn again(self) -> Result<Found> {
        self.look_back();
        if let Some(found) = self.context.reclaim.take(self.request, self.behind, self.place) {
            return Ok(found);
        }
        self.trim(0);
        self.grow(true)
    }

    /// Memory from where the context has it; no more than is needed where `least`.
    fn grow(self, least: bool) -> Result<Found> {
        let allocator = self.context.reclaim.allocator();
        match allocator {
            Allocator::Pool => self.segment(least),
            Allocator::Growing => match self.grow_in_place(least)? {
                Some(found) => Ok(found),
                None => self.segment(least),
            },
            Allocator::Direct => self.own(),
            Allocator::Foreign(foreign) => {
                let stream = self.behind.map_or(std::ptr::null_mut(), |behind| behind.raw);
                let address = self.reserve(self.bytes, || {
                    crate::call::Caller::bind(self.context)?;
                    theirs(|| foreign.alloc(self.bytes, stream))
                })?;
                Ok(self.direct(address, Whose::Foreign(foreign, stream)))
            }
        }
    }

    /// A block of a new segment.
    fn segment(self, least: bool) -> Result<Found> {
        let segment = if least { self.request.least_segment() } else { self.request.segment() };
        let address = self.reserve(segment, || allocator::malloc(self.context, segment))?;
        let state = &mut *self.context.reclaim.lock();
        state.growing -= segment;
        state.pool.add_segment(self.request, address.addr(), segment);
        let taken = state.pool.take(self.request, self.place);
        let taken = taken.ok_or_else(|| Error::new(ErrorKind::Internal, "a segment without room"))?;
        Ok(Found::block(taken, None))
    }

    /// A block of a range, to which memory comes; none when the library does not let memory grow, or no addresses are
    /// left.
    fn grow_in_place(self, least: bool) -> Result<Option<Found>> {
        let reclaim = &self.context.reclaim;
        if reclaim.lock().plain {
            return Ok(None);
        }
        if let Err(error) = ranges::open(self.context, self.request) {
            return ranges::refuse(self.context, error).map(|()| None);
        }
        let Some(growth) = reclaim.lock().pool.plan_growth(self.request, least) else { return Ok(None) };
        let bytes = growth.bytes;
        let asked = self.reserve(bytes, || Ok(ranges::map(self.context, &growth)));
        let asked_at_all = asked.is_ok();
        let (chunks, mapped) = asked.unwrap_or_else(|error| (Vec::new(), Err(error)));
        let taken = {
            let state = &mut *reclaim.lock();
            state.growing -= if asked_at_all { bytes } else { 0 };
            // What others may take, where it is too little here.
            let left: usize = if mapped.is_err() { chunks.iter().map(|chunk| chunk.bytes).sum() } else { 0 };
            state.pool.returned += left as u64;
            self.seen.set(self.seen.get() + left as u64);
            state.pool.grow(growth, &chunks, self.request, self.place)
        };
        match (taken, mapped) {
            (Some(taken), _) => Ok(Some(Found::block(taken, None))),
            (None, Err(error)) if error.kind() != ErrorKind::OutOfMemory => {
                ranges::refuse(self.context, error).map(|()| None)
            }
            (None, mapped) => mapped.map(|()| None),
        }
    }

    /// What one call of the library gives.
    fn own(self) -> Result<Found> {
        let address = self.reserve(self.bytes, || allocator::malloc(self.context, self.bytes))?;
        Ok(self.direct(address, Whose::Library))
    }

    fn direct(self, address: *mut c_void, whose: Whose) -> Found {
        let foreign = matches!(whose, Whose::Foreign(..));
        let user = self.behind.filter(|_| foreign).map(|behind| (behind.last)());
        let piece = Piece::Direct(Arc::new(Direct { address, bytes: self.bytes, whose }));
        let state = &mut *self.context.reclaim.lock();
        state.growing -= self.bytes;
        state.pool.hold_direct(self.bytes);
        Found { piece, address, user }
    }

    /// Asks for `bytes` bytes within the limit; they count as asked for until the caller has noted them.
    fn reserve<T>(self, bytes: usize, ask: impl FnOnce() -> Result<T>) -> Result<T> {
        let over = |state: &State| {
            let after = state.pool.figures.reserved.now.saturating_add(state.growing).saturating_add(bytes);
            state.limit.is_some_and(|limit| after > limit)
        };
        let reclaim = &self.context.reclaim;
        if over(&reclaim.lock()) {
            let limit = reclaim.lock().limit.unwrap_or(usize::MAX);
            self.trim(limit.saturating_sub(bytes));
        }
        {
            let mut state = reclaim.lock();
            if over(&state) {
                let (limit, has) = (state.limit.unwrap_or(usize::MAX), state.pool.figures.reserved.now);
                let asked = match state.growing {
                    0 => String::new(),
                    others => format!(" and the {others} that others ask for"),
                };
                let text = format!(
                    "{bytes} bytes more than the {has} that the context has{asked} are above its limit {limit}"
                );
                return Err(Error::new(ErrorKind::OutOfMemory, text));
            }
            state.growing += bytes;
        }
        let asked = Asked { reclaim, bytes };
        let got = ask()?;
        std::mem::forget(asked);
        Ok(got)
    }

    /// The error, with who holds the memory.
    fn explain(self, error: Error) -> Error {
        let error = error.context(format!("allocating {} bytes on device {}", self.bytes, self.context.device()));
        if error.kind() != ErrorKind::OutOfMemory {
            return error;
        }
        let mut state = self.context.reclaim.lock();
        state.pool.figures.out_of_memory += 1;
        let (figures, largest) = (state.pool.figures, state.pool.largest(NAMED));
        drop(state);
        if figures.reserved.now == 0 {
            return error;
        }
        let mut text = format!(
            "the context has {} bytes: {} allocated, {} that wait for work, {} cached",
            figures.reserved.now,
            figures.active.now - figures.waiting(),
            figures.waiting(),
            figures.cached()
        );
        for holder in largest {
            let (bytes, place) = (holder.bytes, holder.place);
            let _ = write!(text, "\n  {bytes} bytes held by {}:{}", place.file(), place.line());
        }
        error.context(text)
    }
}
