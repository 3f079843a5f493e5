//! Handles: numbers in the shape of pointers, and the table of what they stand for.
//!
//! Slots are never given back, and each use of one by a new object has a generation of its own, so a handle of what is
//! gone is known as long as the process runs.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::failure::{Failure, Result};
use crate::objects::{Kind, Object};
use crate::status;

/// An opaque type of the header.
pub(crate) trait Handle: Sized {
    /// What its handles stand for.
    type Value;
    const KIND: Kind;
    /// As it is called in errors, with an article.
    const WHAT: &'static str;

    fn pick(object: &Object) -> Option<&Self::Value>;
    fn wrap(value: Self::Value) -> Object;
    fn unwrap(object: Object) -> Result<Self::Value, Box<Object>>;
}

const CHUNK: usize = 1024;
const CHUNKS: usize = 4096;

/// Of a slot's word, whose low 32 bits count the calls that look at the object: there is an object.
const LIVE: u64 = 1 << 32;
/// One call has it alone.
const TAKEN: u64 = 1 << 33;
/// One generation.
const GENERATION: u64 = 1 << 40;
const GENERATIONS: u64 = (1 << 24) - 1;

struct Slot {
    word: AtomicU64,
    object: UnsafeCell<Option<Object>>,
}

// SAFETY: the object is only written by who has the slot alone (not live, or taken), and only read behind a pin on a
// live one that is not taken; objects may be used and dropped by any thread, see `Object`.
unsafe impl Sync for Slot {}

/// Each null, or a chunk that stays for good. Nothing of it is in the file of the library: all are null at first.
static SLOTS: [AtomicPtr<[Slot; CHUNK]>; CHUNKS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; CHUNKS];
static FREE: Mutex<Free> = Mutex::new(Free { used: 0, again: Vec::new() });

struct Free {
    /// Slots that had an object once.
    used: usize,
    /// Those of them that have none.
    again: Vec<u32>,
}

/// What a handle says: bit 0, so that it is no aligned address; 22 bits of index; 24 of generation; 5 of kind; and in
/// the highest byte the mark of this copy of the library, so that it is no address at all.
struct Parts {
    index: usize,
    generation: u64,
    kind: u64,
}

impl Parts {
    fn of(bits: u64) -> Option<Self> {
        let kind = bits >> 47 & 0x1F;
        let whole = bits & 1 == 1 && bits >> 56 == mark() && bits >> 52 & 0xF == 0;
        whole.then_some(Self { index: (bits >> 1 & 0x3F_FFFF) as usize, generation: bits >> 23 & GENERATIONS, kind })
    }

    fn bits(&self) -> u64 {
        1 | (self.index as u64) << 1 | self.generation << 23 | self.kind << 47 | mark() << 56
    }
}

/// Another one for another copy of this library in the process, most of the time; never 0 or 0xFF, which addresses
/// begin with.
fn mark() -> u64 {
    let place = (&raw const SLOTS).addr() as u64;
    1 + (place >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15) % 254
}

fn slot(index: usize) -> Option<&'static Slot> {
    let chunk = SLOTS.get(index / CHUNK)?.load(Ordering::Acquire);
    // SAFETY: null, or a chunk that was leaked and is only reached by reference.
    unsafe { chunk.as_ref() }?.get(index % CHUNK)
}

fn chunk() -> Box<[Slot; CHUNK]> {
    let empty = || Slot { word: AtomicU64::new(0), object: UnsafeCell::new(None) };
    let slots: Box<[Slot]> = (0..CHUNK).map(|_| empty()).collect();
    slots.try_into().unwrap_or_else(|_| unreachable!("as many as a chunk has"))
}

/// A place for an object that is still to be made.
pub(crate) struct Reserved<H> {
    index: usize,
    slot: &'static Slot,
    kind: PhantomData<H>,
}

impl<H> Drop for Reserved<H> {
    fn drop(&mut self) {
        give_back(self.index);
    }
}

fn give_back(index: usize) {
    FREE.lock().unwrap_or_else(PoisonError::into_inner).again.push(index as u32);
}

/// A place, before what goes there is made that must not be lost.
pub(crate) fn reserve<H: Handle>() -> Result<Reserved<H>> {
    let (index, slot) = reserve_slot()?;
    Ok(Reserved { index, slot, kind: PhantomData })
}

#[inline(never)]
fn reserve_slot() -> Result<(usize, &'static Slot)> {
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    let index = match free.again.pop() {
        Some(index) => index as usize,
        None if free.used == CHUNK * CHUNKS => {
            return Err(Failure::own(status::RACL_NO_HANDLES, "no handles are left"));
        }
        None => {
            let index = free.used;
            if index.is_multiple_of(CHUNK) {
                SLOTS[index / CHUNK].store(Box::leak(chunk()), Ordering::Release);
            }
            free.used += 1;
            index
        }
    };
    drop(free);
    let slot = slot(index).ok_or_else(|| Failure::own(status::RACL_PANIC, "a slot that is not there"))?;
    Ok((index, slot))
}

impl<H: Handle> Reserved<H> {
    /// The handle of the object that is there now, which the caller of C owns.
    pub(crate) fn fill(self, value: H::Value) -> *mut H {
        let (index, slot) = (self.index, self.slot);
        std::mem::forget(self);
        // SAFETY: the slot is not live, and its index was on the list once: nobody else reads or writes the object.
        unsafe { *slot.object.get() = Some(H::wrap(value)) };
        let word = slot.word.fetch_add(LIVE, Ordering::Release);
        let parts = Parts { index, generation: word / GENERATION, kind: H::KIND as u64 };
        std::ptr::without_provenance_mut(parts.bits() as usize)
    }
}

/// A handle of a new object, which the caller of C owns.
#[cfg(feature = "cache")]
pub(crate) fn new<H: Handle>(value: H::Value) -> Result<*mut H> {
    Ok(reserve::<H>()?.fill(value))
}

/// An object that stays where it is meanwhile.
pub(crate) struct Use<H: Handle> {
    slot: &'static Slot,
    value: PhantomData<H>,
}

impl<H: Handle> Deref for Use<H> {
    type Target = H::Value;

    fn deref(&self) -> &H::Value {
        // SAFETY: pinned, live and not taken, so nobody writes the object.
        let object = unsafe { &*self.slot.object.get() };
        object.as_ref().and_then(H::pick).unwrap_or_else(|| unreachable!("its handle says this kind"))
    }
}

impl<H: Handle> Drop for Use<H> {
    fn drop(&mut self) {
        self.slot.word.fetch_sub(1, Ordering::Release);
    }
}

/// A handle as it was given, and what it has to be. What follows is compiled once for all kinds.
#[derive(Clone, Copy)]
struct Given {
    address: usize,
    kind: Kind,
    what: &'static str,
}

impl Given {
    fn of<H: Handle>(handle: *const H) -> Self {
        Self { address: handle.addr(), kind: H::KIND, what: H::WHAT }
    }

    /// The slot of the handle, and what the handle says.
    #[inline(never)]
    fn find(self) -> Result<(&'static Slot, Parts)> {
        let Self { address, kind, what } = self;
        if address == 0 {
            return Err(Failure::own(status::RACL_NULL_POINTER, format!("NULL for {what}")));
        }
        let foreign =
            || Failure::own(status::RACL_FOREIGN_HANDLE, format!("{address:#x} for {what} is no handle of racl"));
        let parts = Parts::of(address as u64).ok_or_else(foreign)?;
        if parts.kind != kind as u64 {
            let other = Kind::ALL.iter().find(|kind| **kind as u64 == parts.kind).ok_or_else(foreign)?;
            return Err(Failure::own(status::RACL_WRONG_KIND, format!("the handle of {} for {what}", other.what())));
        }
        let slot = slot(parts.index).ok_or_else(foreign)?;
        Ok((slot, parts))
    }

    #[cold]
    fn stale(self) -> Failure {
        Failure::own(status::RACL_STALE_HANDLE, format!("the handle of {} that is gone", self.what))
    }

    #[cold]
    fn busy(self) -> Failure {
        Failure::own(status::RACL_BUSY, format!("{} that another call uses", self.what))
    }

    /// Keeps the object where it is, until its slot is counted down; or why not.
    #[cold]
    #[inline(never)]
    fn pin(self) -> Result<&'static Slot> {
        let (slot, Parts { generation, .. }) = self.find()?;
        let mut word = slot.word.load(Ordering::Relaxed);
        loop {
            if word & LIVE == 0 || word / GENERATION != generation {
                return Err(self.stale());
            }
            if word & TAKEN != 0 {
                return Err(self.busy());
            }
            // Only what is there is counted: a handle of what is gone disturbs nobody.
            match slot.word.compare_exchange_weak(word, word + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(slot),
                Err(now) => word = now,
            }
        }
    }

    #[inline(never)]
    fn take(self) -> Result<Alone> {
        let (slot, Parts { index, generation, .. }) = self.find()?;
        let free = (generation * GENERATION) | LIVE;
        match slot.word.compare_exchange(free, free | TAKEN, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(Alone(slot, index)),
            Err(word) if word & LIVE != 0 && word / GENERATION == generation => Err(self.busy()),
            Err(_) => Err(self.stale()),
        }
    }
}

/// As [`Given::pin`], for a handle that nothing is wrong with: the slot says what its handle has to be.
#[inline(never)]
fn pin_live(address: usize, kind: Kind) -> Option<&'static Slot> {
    let index = address >> 1 & 0x3F_FFFF;
    let slot = slot(index)?;
    let word = slot.word.load(Ordering::Relaxed);
    let parts = Parts { index, generation: word / GENERATION, kind: kind as u64 };
    let is_whole = word & (LIVE | TAKEN) == LIVE && parts.bits() == address as u64;
    // Only what is there is counted, and another count now is a reason to look again.
    let pin = || slot.word.compare_exchange(word, word + 1, Ordering::Acquire, Ordering::Relaxed);
    (is_whole && pin().is_ok()).then_some(slot)
}

/// What a handle stands for.
pub(crate) fn get<H: Handle>(handle: *const H) -> Result<Use<H>> {
    let slot = match pin_live(handle.addr(), H::KIND) {
        Some(slot) => slot,
        None => Given::of(handle).pin()?,
    };
    Ok(Use { slot, value: PhantomData })
}

/// The only call that has an object; the object stays unless it is given up.
struct Alone(&'static Slot, usize);

impl Alone {
    fn object(&mut self) -> &mut Option<Object> {
        // SAFETY: taken, which one call does at a time, and pins of others do not look at the object then.
        unsafe { &mut *self.0.object.get() }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        if self.object().is_some() {
            self.0.word.fetch_sub(TAKEN, Ordering::Release);
            return;
        }
        let word = self.0.word.fetch_add(GENERATION - LIVE - TAKEN, Ordering::Release);
        // One whose generations are used up is not used again.
        if word / GENERATION < GENERATIONS - 1 {
            give_back(self.1);
        }
    }
}

/// What was not ended, and why.
pub(crate) struct Kept<T>(pub(crate) Box<T>, pub(crate) Failure);

impl<T> Kept<T> {
    pub(crate) fn new(value: T, failure: impl Into<Failure>) -> Self {
        Self(Box::new(value), failure.into())
    }

    /// What racl refused to end.
    pub(crate) fn of<U>(refused: racl::Refused<U>, value: impl FnOnce(U) -> T) -> Self {
        let (inner, error) = refused.into_parts();
        Self::new(value(inner), error)
    }
}

/// Ends an object by `end`, which gives it back when that is refused: the handle stays what it was then.
pub(crate) fn end<H: Handle>(handle: *mut H, end: impl FnOnce(H::Value) -> Result<(), Kept<H::Value>>) -> Result<()> {
    let given = Given::of(handle);
    let mut alone = given.take()?;
    let object = alone.object().take().ok_or_else(|| given.stale())?;
    match H::unwrap(object).map(end) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(kept)) => {
            let Kept(value, failure) = kept;
            *alone.object() = Some(H::wrap(*value));
            Err(failure)
        }
        Err(object) => {
            *alone.object() = Some(*object);
            Err(given.stale())
        }
    }
}

/// Drops an object; NULL is none.
pub(crate) fn free<H: Handle>(handle: *mut H) -> Result<()> {
    if handle.is_null() {
        return Ok(());
    }
    end(handle, |value| {
        drop(value);
        Ok(())
    })
}

const _: () = assert!(usize::BITS == 64, "handles have 64 bits");
