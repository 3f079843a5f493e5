//! What a launch is made of.

use std::cell::Cell;
use std::mem::{ManuallyDrop, transmute};
use std::ops::{Deref, DerefMut};

use super::argument::Block;
use super::attributes::Attributes;
use crate::allocation::Touch;
use crate::error::Error;
use crate::memory::DeviceSlice;
use crate::op::Few;

thread_local! {
    /// Those of a launch of this thread that is over, for the next one.
    static SPARE: Cell<Option<Box<All<'static>>>> = const { Cell::new(None) };
}

/// Some hundreds of bytes, which stay where they are while the launch is made, and for the next one of the thread.
pub(super) struct Parts<'a>(ManuallyDrop<Box<All<'a>>>);

pub(super) struct All<'a> {
    pub(super) block: Block,
    pub(super) uses: Few<Touch<'a>, 8>,
    pub(super) whole: Whole<'a>,
    pub(super) attributes: Attributes,
    /// The first thing that was wrong.
    pub(super) wrong: Option<Error>,
}

/// Arguments that are not given one by one.
pub(super) enum Whole<'a> {
    No,
    /// The block has all of them.
    Host,
    Device(DeviceSlice<'a, u8>),
}

impl Parts<'_> {
    /// Nothing so far.
    #[inline]
    pub(super) fn new() -> Self {
        let spare = SPARE.try_with(Cell::take).unwrap_or_default();
        Self(ManuallyDrop::new(spare.unwrap_or_else(All::new)))
    }
}

impl All<'_> {
    #[cold]
    fn new() -> Box<Self> {
        Box::new(Self {
            block: Block::default(),
            uses: Few::sized(),
            whole: Whole::No,
            attributes: Attributes::default(),
            wrong: None,
        })
    }

    /// Leaves nothing of the launch.
    #[inline]
    fn clear(&mut self) {
        let Self { block, uses, whole, attributes, wrong } = self;
        block.clear();
        uses.clear();
        *whole = Whole::No;
        attributes.clear();
        *wrong = None;
    }
}

impl<'a> Deref for Parts<'a> {
    type Target = All<'a>;

    #[inline]
    fn deref(&self) -> &All<'a> {
        &self.0
    }
}

impl<'a> DerefMut for Parts<'a> {
    #[inline]
    fn deref_mut(&mut self) -> &mut All<'a> {
        &mut self.0
    }
}

impl Drop for Parts<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the value ends here, and nothing looks at it any more.
        let mut all = unsafe { ManuallyDrop::take(&mut self.0) };
        all.clear();
        // SAFETY: the same type, but for how long its references last, of which `clear` has left none.
        let all = unsafe { transmute::<Box<All<'_>>, Box<All<'static>>>(all) };
        // A thread that is ending keeps nothing.
        let _ = SPARE.try_with(|spare| spare.set(Some(all)));
    }
}
