//! Random weights that anybody can make again: each number is a function of seed, tensor name and place alone.
//!
//! The README has the definition, tests/reference.py the same in NumPy.

/// Odd, and 2⁶⁴ divided by the golden ratio.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The numbers of one tensor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    key: u64,
}

impl Stream {
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        Self { key: mix(seed) ^ fnv(name.as_bytes()) }
    }

    /// Number `index`, evenly from -1 (included) to 1 (excluded): 24 bits, so exact in a 32-bit float.
    pub(crate) fn at(&self, index: u64) -> f32 {
        let bits = mix(self.key.wrapping_add(index.wrapping_mul(STEP)));
        ((bits >> 40) as i32 - (1 << 23)) as f32 / (1 << 23) as f32
    }
}

/// The finalizer of SplitMix64.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// FNV-1a.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published values: SplitMix64 seeded with 1234567 begins with these, and FNV-1a of "a" is this.
    #[test]
    fn the_parts_are_the_published_functions() {
        let seed = 1_234_567_u64;
        assert_eq!(mix(seed), 6_457_827_717_110_365_317);
        assert_eq!(mix(seed.wrapping_add(STEP)), 3_203_168_211_198_807_973);
        assert_eq!(fnv(b"a"), 0xAF63_DC4C_8601_EC8C);
    }

    #[test]
    fn numbers_are_even_and_differ_by_seed_and_name() {
        let (a, b, c) = (Stream::new(1, "x"), Stream::new(2, "x"), Stream::new(1, "y"));
        let numbers: Vec<f32> = (0..10_000).map(|index| a.at(index)).collect();
        assert!(numbers.iter().all(|x| (-1.0..1.0).contains(x)));
        let mean = numbers.iter().sum::<f32>() / 1e4;
        let square = numbers.iter().map(|x| x * x).sum::<f32>() / 1e4;
        assert!(mean.abs() < 0.03 && (square - 1.0 / 3.0).abs() < 0.02, "{mean} {square}");
        assert!(b.at(0) != a.at(0) && c.at(0) != a.at(0));
    }
}
