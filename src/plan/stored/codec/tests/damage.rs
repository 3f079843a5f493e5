//! Files that were cut or damaged.

use fastrand::Rng;

use crate::plan::stored::codec::{DecodeError, HASH, HEADER, decode, encode};

use super::{content, generate, sealed};

fn stored(seed: u64, size: usize) -> Vec<u8> {
    let plan = generate::plan(seed, size);
    encode(&plan.0.recipe, plan.lints())
}

#[test]
fn a_cut_file_is_no_plan() {
    let whole = stored(3, 6);
    for length in 0..whole.len() {
        let error = decode(&whole[..length]).unwrap_err();
        let known = match length {
            0..8 => error == DecodeError::Magic,
            8..HASH => error == DecodeError::Short(length),
            _ => error == DecodeError::Length { expected: whole.len() as u64, found: length as u64 },
        };
        assert!(known, "{length}: {error}");
    }
    assert!(decode(&whole).is_ok());
}

#[test]
fn a_file_that_is_cut_and_sealed_again_is_no_plan() {
    let whole = stored(3, 6);
    let content = content(&whole);
    for length in 0..content.len() {
        let error = decode(&sealed(&content[..length])).unwrap_err();
        assert!(matches!(error, DecodeError::Unreadable { .. } | DecodeError::Count { .. }), "{length}: {error}");
    }
    let longer = [content, &[0]].concat();
    assert_eq!(decode(&sealed(&longer)), Err(DecodeError::Trailing(1)));
}

#[test]
fn a_flipped_bit_is_found() {
    let mut small = stored(5, 4);
    for index in 0..small.len() * 8 {
        small[index / 8] ^= 1 << (index % 8);
        let error = decode(&small).unwrap_err();
        let known = match index / 8 {
            0..8 => error == DecodeError::Magic,
            8..10 => matches!(error, DecodeError::Version(_)),
            10..HEADER => matches!(error, DecodeError::Length { .. }),
            _ => error == DecodeError::Checksum,
        };
        assert!(known, "bit {index}: {error}");
        small[index / 8] ^= 1 << (index % 8);
    }
    let mut large = stored(6, 1000);
    let mut random = Rng::with_seed(1);
    for _ in 0..500 {
        let index = random.usize(..large.len());
        let bit = 1 << random.u8(..8);
        large[index] ^= bit;
        assert!(decode(&large).is_err(), "byte {index}");
        large[index] ^= bit;
    }
}

#[test]
fn a_flipped_bit_behind_a_right_checksum_is_harmless() {
    for seed in 0..3 {
        let mut content = content(&stored(seed, 4)).to_vec();
        for index in 0..content.len() * 8 {
            content[index / 8] ^= 1 << (index % 8);
            if let Ok(decoded) = decode(&sealed(&content)) {
                assert!(decode(&encode(&decoded.recipe, &decoded.lints)).is_ok());
            }
            content[index / 8] ^= 1 << (index % 8);
        }
    }
}
