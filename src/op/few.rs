//! Lists that are mostly short.

use std::mem::MaybeUninit;

/// How many need no allocation: more than nearly all operators have operands.
const FEW: usize = 12;

/// Values in the order in which they came; up to `N` of them are stored in place.
pub(crate) struct Few<T: Copy, const N: usize = FEW> {
    /// The first `count` are there, unless `many` has all.
    few: [MaybeUninit<T>; N],
    count: usize,
    many: Vec<T>,
}

impl<T: Copy> Few<T> {
    pub(crate) const fn new() -> Self {
        Self::sized()
    }
}

impl<T: Copy, const N: usize> Few<T, N> {
    /// With as many places as the type says.
    pub(crate) const fn sized() -> Self {
        Self { few: [MaybeUninit::uninit(); N], count: 0, many: Vec::new() }
    }

    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        if self.count < N {
            self.few[self.count].write(value);
            self.count += 1;
        } else {
            self.extend_many(&[value]);
        }
    }

    /// All of `values`, behind what is there.
    // Where it is known how many there are the copy is a store.
    #[inline(always)]
    pub(crate) fn extend(&mut self, values: &[T]) {
        if let Some(room) = self.few.get_mut(self.count..self.count + values.len()) {
            // SAFETY: as many places, which may have no value, as values, which are copied.
            unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), room.as_mut_ptr().cast(), values.len()) };
            self.count += values.len();
        } else {
            self.extend_many(values);
        }
    }

    #[cold]
    fn extend_many(&mut self, values: &[T]) {
        if self.many.is_empty() {
            self.many = self.as_slice().to_vec();
        }
        self.many.extend_from_slice(values);
        // What comes next goes there, too.
        self.count = N;
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.count = 0;
        if !self.many.is_empty() {
            self.many = Vec::new();
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        if self.many.is_empty() { self.count } else { self.many.len() }
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        if !self.many.is_empty() {
            return &self.many;
        }
        // SAFETY: the first `count` values were written.
        unsafe { std::slice::from_raw_parts(self.few.as_ptr().cast(), self.count) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        if !self.many.is_empty() {
            return &mut self.many;
        }
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.few.as_mut_ptr().cast(), self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_come_together_are_stored_as_others() {
        for first in [0, 1, 7, 8, 9] {
            for second in [0, 1, 3, 8, 20] {
                let mut values = Few::<usize, 8>::sized();
                values.extend(&(0..first).collect::<Vec<_>>());
                values.extend(&(first..first + second).collect::<Vec<_>>());
                values.push(first + second);
                values.extend(&[first + second + 1]);
                values.as_mut_slice()[0] = 0;
                assert_eq!(values.as_slice(), (0..first + second + 2).collect::<Vec<_>>(), "{first} {second}");
            }
        }
    }

    #[test]
    fn few_and_many_values_keep_their_order() {
        for count in [0, 1, FEW - 1, FEW, FEW + 1, 40] {
            let mut values: Few<usize> = Few::new();
            (0..count).for_each(|value| values.push(value));
            assert_eq!(values.as_slice(), (0..count).collect::<Vec<_>>());
        }
    }
}
