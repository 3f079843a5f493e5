//! Hashing of what a program records itself, many times over: quick, and no guard against keys that are chosen to
//! collide. Nothing that comes from files is hashed so.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by such hashes.
pub(crate) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Quick(u64);

impl Quick {
    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(26) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Quick {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| self.add(u64::from(*byte)));
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.add(u64::from(number));
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.add(u64::from(number));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    /// The multiplication moves what differs up; maps look at both ends.
    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn keys_that_differ_little_fall_into_different_places() {
        let build = BuildHasherDefault::<Quick>::default();
        let keys =
            |at: u64| [build.hash_one([at, 0, 1]), build.hash_one([0, at << 32, 1]), build.hash_one([1, 0, at])];
        let all: Vec<u64> = (2..1000).flat_map(keys).collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
        // Of 4096 places most are hit by about three thousand keys that are spread well.
        let low: HashSet<u64> = all.iter().map(|hash| hash & 0xfff).collect();
        let high: HashSet<u64> = all.iter().map(|hash| hash >> 57).collect();
        assert!(low.len() > 1800 && high.len() == 128, "{} and {}", low.len(), high.len());
    }

    #[test]
    fn bytes_are_hashed_to_the_last() {
        let build = BuildHasherDefault::<Quick>::default();
        let texts = ["", "a", "b", "abcdefgh", "abcdefghi", "abcdefghj", "bbcdefghi"];
        let all: HashSet<u64> = texts.iter().map(|text| build.hash_one(text)).collect();
        assert_eq!(all.len(), texts.len());
    }
}
