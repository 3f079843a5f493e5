//! Handles: numbers in the shape of pointers, and the table of what they stand for.
//!
//! Slots are never given back, and each use of one by a new object has a generation of its own, so a handle of what is
//! gone is known as long as the process runs.

use std::hash::{BuildHasher as _, RandomState};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::cancel::Uncancelled;
use crate::failure::{Failure, Result};
use crate::objects::Kind;
use crate::status;

/// An opaque type of the header.
///
/// # Safety
///
/// No other one has its kind: objects of a kind are taken for its values.
pub(crate) unsafe trait Handle: Sized {
    /// What its handles stand for. Any thread may use and drop it.
    type Value: Send + 'static;
    const KIND: Kind;
    /// As it is called in errors, with an article.
    const WHAT: &'static str;
}

/// One that several calls use at a time.
pub(crate) trait Shared: Handle<Value: Sync> {}

/// One that one call uses at a time: others are told that it is busy.
pub(crate) trait Single: Handle {}

const KINDS: usize = Kind::ALL.len();
/// Slots of a chunk, and chunks of a kind.
const CHUNK: usize = 1 << 10;
const CHUNKS: usize = 1 << 12;

/// The bits of an index. In the word of a slot they count the calls that use the object.
const INDEX_BITS: u32 = 22;
const USERS: u64 = (1 << INDEX_BITS) - 1;
/// Of those: one call has it alone.
const TAKEN: u64 = 1 << (INDEX_BITS - 1);
const GENERATIONS: u64 = (1 << 24) - 1;

/// A place of an object, which has a line of the processor's cache alone.
#[repr(align(64))]
struct Slot {
    /// What the handle of the object says but for its index, and in place of that who uses it. Without an object: the
    /// generation of the next one, which is no handle's.
    word: AtomicU64,
    /// A box of the value. Written by who has the slot alone: it has no object yet, or is taken.
    object: AtomicPtr<()>,
}

type Chunks = [AtomicPtr<[Slot; CHUNK]>; CHUNKS];

/// Of each kind. Each null, or a chunk that stays for good. Nothing of it is in the file of the library: all are null
/// at first.
static SLOTS: [Chunks; KINDS] = [const { [const { AtomicPtr::new(null_mut()) }; CHUNKS] }; KINDS];
static FREE: [Mutex<Free>; KINDS] = [const { Mutex::new(Free { used: 0, again: Vec::new() }) }; KINDS];

struct Free {
    /// Slots that had an object once.
    used: usize,
    /// Those of them that have none.
    again: Vec<u32>,
}

/// What a handle says. Bit 0 of the handle is set, so that it is no aligned address, and here the highest. From the
/// lowest on: 12 bits of the chunk and 10 of the slot in it; 24 of generation; 5 of kind; 4 that are 0; and in the
/// highest byte of the handle the mark of this copy of the library, so that it is no address at all.
#[derive(Clone, Copy)]
struct Bits(u64);

impl Bits {
    fn new(index: usize, generation: u64, kind: Kind) -> Self {
        let place = ((index / CHUNK) | ((index % CHUNK) << 12)) as u64;
        Self(place | generation << INDEX_BITS | (kind as u64) << 46 | mark() << 55 | 1 << 63)
    }

    #[inline]
    fn of(address: usize) -> Self {
        Self((address as u64).rotate_right(1))
    }

    fn address(self) -> usize {
        self.0.rotate_left(1) as usize
    }

    #[inline]
    fn chunk(self) -> usize {
        self.0 as usize % CHUNKS
    }

    #[inline]
    fn place(self) -> usize {
        (self.0 >> 12) as usize % CHUNK
    }

    fn index(self) -> usize {
        self.chunk() * CHUNK + self.place()
    }

    fn generation(self) -> u64 {
        self.0 >> INDEX_BITS & GENERATIONS
    }

    /// The kind, of what may be a handle of this library.
    fn kind(self) -> Option<Kind> {
        let whole = self.0 >> 63 == 1 && self.0 >> 55 & 0xFF == mark() && self.0 >> 51 & 0xF == 0;
        let kind = Kind::ALL.iter().find(|kind| **kind as u64 == self.0 >> 46 & 0x1F);
        kind.copied().filter(|_| whole)
    }

    /// The word of a slot whose object nobody uses.
    #[inline]
    fn unused(self) -> u64 {
        self.0 & !USERS
    }
}

/// Another one for another copy of this library in the process, most of the time, where the generations are others too;
/// never 0 or 0xFF, which addresses begin with.
fn mark() -> u64 {
    let place = (&raw const SLOTS).addr() as u64;
    1 + (place >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15) % 254
}

#[inline]
fn slot(kind: Kind, bits: Bits) -> Option<&'static Slot> {
    let chunk = SLOTS[kind as usize][bits.chunk()].load(Ordering::Acquire);
    // SAFETY: null, or a chunk that was leaked and is only reached by reference.
    unsafe { chunk.as_ref() }.map(|chunk| &chunk[bits.place()])
}

fn chunk() -> Box<[Slot; CHUNK]> {
    // Not from 0 on: another copy of this library in the process may have the same mark.
    let first = RandomState::new().hash_one(()) % (GENERATIONS / 2);
    let empty = || Slot { word: AtomicU64::new(first << INDEX_BITS), object: AtomicPtr::new(null_mut()) };
    let slots: Box<[Slot]> = (0..CHUNK).map(|_| empty()).collect();
    slots.try_into().unwrap_or_else(|_| unreachable!("as many as a chunk has"))
}

/// A place for an object that is still to be made.
pub(crate) struct Reserved<H: Handle> {
    index: usize,
    slot: &'static Slot,
    kind: PhantomData<H>,
}

impl<H: Handle> Drop for Reserved<H> {
    fn drop(&mut self) {
        give_back(H::KIND, self.index);
    }
}

fn give_back(kind: Kind, index: usize) {
    FREE[kind as usize].lock().unwrap_or_else(PoisonError::into_inner).again.push(index as u32);
}

/// A place, before what goes there is made that must not be lost.
pub(crate) fn reserve<H: Handle>() -> Result<Reserved<H>> {
    let (index, slot) = reserve_slot(H::KIND)?;
    Ok(Reserved { index, slot, kind: PhantomData })
}

#[inline(never)]
fn reserve_slot(kind: Kind) -> Result<(usize, &'static Slot)> {
    let mut free = FREE[kind as usize].lock().unwrap_or_else(PoisonError::into_inner);
    let index = match free.again.pop() {
        Some(index) => index as usize,
        None if free.used == CHUNK * CHUNKS => {
            return Err(Failure::own(status::RACL_NO_HANDLES, "no handles are left"));
        }
        None => {
            let index = free.used;
            if index.is_multiple_of(CHUNK) {
                SLOTS[kind as usize][index / CHUNK].store(Box::leak(chunk()), Ordering::Release);
            }
            free.used += 1;
            index
        }
    };
    drop(free);
    let slot = slot(kind, Bits::new(index, 0, kind));
    Ok((index, slot.ok_or_else(|| Failure::own(status::RACL_PANIC, "a slot that is not there"))?))
}

impl<H: Handle> Reserved<H> {
    /// The handle of the object that is there now, which the caller of C owns.
    pub(crate) fn fill(self, value: H::Value) -> *mut H {
        let (index, slot) = (self.index, self.slot);
        std::mem::forget(self);
        std::ptr::without_provenance_mut(filled(H::KIND, index, slot, Box::into_raw(Box::new(value)).cast()))
    }
}

#[inline(never)]
fn filled(kind: Kind, index: usize, slot: &Slot, object: *mut ()) -> usize {
    slot.object.store(object, Ordering::Relaxed);
    let bits = Bits::new(index, slot.word.load(Ordering::Relaxed) >> INDEX_BITS, kind);
    slot.word.store(bits.unused(), Ordering::Release);
    bits.address()
}

/// A handle of a new object, which the caller of C owns.
pub(crate) fn new<H: Handle>(value: H::Value) -> Result<*mut H> {
    Ok(reserve::<H>()?.fill(value))
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
    fn find(self) -> Result<(&'static Slot, Bits)> {
        let Self { address, kind, what } = self;
        if address == 0 {
            return Err(Failure::own(status::RACL_NULL_POINTER, format!("NULL for {what}")));
        }
        let foreign =
            || Failure::own(status::RACL_FOREIGN_HANDLE, format!("{address:#x} for {what} is no handle of racl"));
        let bits = Bits::of(address);
        let its = bits.kind().ok_or_else(foreign)?;
        if its != kind {
            return Err(Failure::own(status::RACL_WRONG_KIND, format!("the handle of {} for {what}", its.what())));
        }
        Ok((slot(kind, bits).ok_or_else(foreign)?, bits))
    }

    #[cold]
    fn stale(self) -> Failure {
        Failure::own(status::RACL_STALE_HANDLE, format!("the handle of {} that is gone", self.what))
    }

    #[cold]
    fn busy(self) -> Failure {
        Failure::own(status::RACL_BUSY, format!("{} that another call uses", self.what))
    }

    /// Counts one call more, or says why not.
    #[cold]
    #[inline(never)]
    fn pin(self) -> Result<&'static Slot> {
        let (slot, bits) = self.find()?;
        let mut word = slot.word.load(Ordering::Relaxed);
        loop {
            if word & !USERS != bits.unused() {
                return Err(self.stale());
            }
            if word & USERS >= TAKEN - 1 {
                return Err(self.busy());
            }
            match slot.word.compare_exchange_weak(word, word + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(slot),
                Err(now) => word = now,
            }
        }
    }

    /// Lets one call have it alone, or says why not.
    #[cold]
    #[inline(never)]
    fn take(self) -> Result<(&'static Slot, Bits)> {
        let (slot, bits) = self.find()?;
        let unused = bits.unused();
        match slot.word.compare_exchange(unused, unused | TAKEN, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok((slot, bits)),
            Err(word) if word & !USERS == unused => Err(self.busy()),
            Err(_) => Err(self.stale()),
        }
    }
}

/// An object that stays where it is meanwhile.
pub(crate) struct Use<H: Shared> {
    slot: &'static Slot,
    value: PhantomData<H>,
}

impl<H: Shared> Deref for Use<H> {
    type Target = H::Value;

    #[inline]
    fn deref(&self) -> &H::Value {
        let object = self.slot.object.load(Ordering::Relaxed).cast::<H::Value>().cast_const();
        // SAFETY: a box of this kind, of which nobody has a mutable reference and which nobody frees while it is used.
        unsafe { &*object }
    }
}

impl<H: Shared> Drop for Use<H> {
    #[inline]
    fn drop(&mut self) {
        self.slot.word.fetch_sub(1, Ordering::Release);
    }
}

/// As [`Given::pin`], for a handle that nothing is wrong with: none otherwise, or where others count at the same time.
#[inline]
fn pin_live(kind: Kind, address: usize) -> Option<&'static Slot> {
    let bits = Bits::of(address);
    let slot = slot(kind, bits)?;
    let word = slot.word.load(Ordering::Relaxed);
    // All but the users is as the handle says, no call has it alone, and one more can be counted. Only what is there is
    // counted: a handle of what is gone disturbs nobody.
    let is_live = word ^ bits.unused() < TAKEN - 1;
    let pin = || slot.word.compare_exchange(word, word + 1, Ordering::Acquire, Ordering::Relaxed);
    (is_live && pin().is_ok()).then_some(slot)
}

/// What a handle stands for, while others use it too.
pub(crate) fn get<H: Shared>(handle: *const H) -> Result<Use<H>> {
    get_here(handle)
}

/// The same as part of the caller, for what programs call again and again.
#[inline(always)]
pub(crate) fn get_here<H: Shared>(handle: *const H) -> Result<Use<H>> {
    let slot = match pin_live(H::KIND, handle.addr()) {
        Some(slot) => slot,
        None => Given::of(handle).pin()?,
    };
    Ok(Use { slot, value: PhantomData })
}

/// An object that no other call uses.
pub(crate) struct Alone<H: Single> {
    slot: &'static Slot,
    value: PhantomData<H>,
}

impl<H: Single> Deref for Alone<H> {
    type Target = H::Value;

    #[inline]
    fn deref(&self) -> &H::Value {
        let object = self.slot.object.load(Ordering::Relaxed).cast::<H::Value>().cast_const();
        // SAFETY: a box of this kind, which this call has alone.
        unsafe { &*object }
    }
}

impl<H: Single> DerefMut for Alone<H> {
    #[inline]
    fn deref_mut(&mut self) -> &mut H::Value {
        let object = self.slot.object.load(Ordering::Relaxed).cast::<H::Value>();
        // SAFETY: as above.
        unsafe { &mut *object }
    }
}

impl<H: Single> Drop for Alone<H> {
    #[inline]
    fn drop(&mut self) {
        // Nobody else writes the word of a slot that is taken.
        let word = self.slot.word.load(Ordering::Relaxed);
        self.slot.word.store(word & !TAKEN, Ordering::Release);
    }
}

/// As [`Given::take`], for a handle that nothing is wrong with.
#[inline]
fn take_live(kind: Kind, address: usize) -> Option<&'static Slot> {
    let bits = Bits::of(address);
    let (slot, unused) = (slot(kind, bits)?, bits.unused());
    let taken = slot.word.compare_exchange(unused, unused | TAKEN, Ordering::Acquire, Ordering::Relaxed);
    taken.is_ok().then_some(slot)
}

/// What a handle stands for, for this call alone.
pub(crate) fn alone<H: Single>(handle: *const H) -> Result<Alone<H>> {
    alone_here(handle)
}

/// The same as part of the caller, as [`get_here`].
#[inline(always)]
pub(crate) fn alone_here<H: Single>(handle: *const H) -> Result<Alone<H>> {
    let slot = match take_live(H::KIND, handle.addr()) {
        Some(slot) => slot,
        None => Given::of(handle).take()?.0,
    };
    Ok(Alone { slot, value: PhantomData })
}

/// The slot of an object that is ended: it has none then, unless the object is put back.
struct Ending {
    slot: &'static Slot,
    bits: Bits,
    kind: Kind,
}

impl Drop for Ending {
    #[inline(never)]
    fn drop(&mut self) {
        if !self.slot.object.load(Ordering::Relaxed).is_null() {
            self.slot.word.store(self.bits.unused(), Ordering::Release);
            return;
        }
        let next = self.bits.generation() + 1;
        self.slot.word.store(next << INDEX_BITS, Ordering::Release);
        // One whose generations are used up is not used again.
        if next < GENERATIONS {
            give_back(self.kind, self.bits.index());
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
    let _uncancelled = Uncancelled::new();
    let (slot, bits) = Given::of(handle).take()?;
    let ending = Ending { slot, bits, kind: H::KIND };
    let object = slot.object.swap(null_mut(), Ordering::Relaxed).cast::<H::Value>();
    // SAFETY: a box of this kind, which this call has alone and which the slot has no longer.
    let object = unsafe { Box::from_raw(object) };
    let ended = end(*object).map_err(|Kept(value, failure)| {
        slot.object.store(Box::into_raw(value).cast(), Ordering::Relaxed);
        failure
    });
    drop(ending);
    ended
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
