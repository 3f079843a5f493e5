//! Lists that are mostly short.

use std::mem::MaybeUninit;

/// How many need no allocation: more than nearly all operators have operands.
const FEW: usize = 12;

/// Values in the order in which they came; up to [`FEW`] of them are stored in place.
pub(crate) struct Few<T: Copy> {
    /// The first `count` are there, unless `many` has all.
    few: [MaybeUninit<T>; FEW],
    count: usize,
    many: Vec<T>,
}

impl<T: Copy> Few<T> {
    pub(crate) fn new() -> Self {
        Self { few: [MaybeUninit::uninit(); FEW], count: 0, many: Vec::new() }
    }

    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        if self.count < FEW {
            self.few[self.count].write(value);
            self.count += 1;
        } else {
            if self.many.is_empty() {
                self.many = self.as_slice().to_vec();
            }
            self.many.push(value);
        }
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        if !self.many.is_empty() {
            return &self.many;
        }
        // SAFETY: the first `count` values were written.
        unsafe { std::slice::from_raw_parts(self.few.as_ptr().cast(), self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_values_keep_their_order() {
        for count in [0, 1, FEW - 1, FEW, FEW + 1, 40] {
            let mut values = Few::new();
            (0..count).for_each(|value| values.push(value));
            assert_eq!(values.as_slice(), (0..count).collect::<Vec<_>>());
        }
    }
}
