//! A share of the L2 cache.

use crate::error::{Error, Result};

/// In thousandths, or the bits of the number that was given and is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Share {
    Thousandths(u32),
    Wrong(u64),
}

impl Share {
    pub(crate) fn new(share: f64) -> Self {
        if share > 0.0 && share <= 1.0 {
            Self::Thousandths(((share * 1000.0).round() as u32).max(1))
        } else {
            Self::Wrong(share.to_bits())
        }
    }

    /// 0 for what is none.
    pub(crate) fn thousandths(self) -> u32 {
        match self {
            Self::Thousandths(share) => share,
            Self::Wrong(_) => 0,
        }
    }

    /// `what` it is for: "a cap".
    pub(crate) fn check(self, what: &str) -> Result<()> {
        match self {
            Self::Thousandths(_) => Ok(()),
            Self::Wrong(bits) => {
                let share = f64::from_bits(bits);
                Err(Error::invalid(format!("{what} of {share} of the L2 cache; it is above 0 and at most 1")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_above_0_and_at_most_1() {
        let taken = [0.25, 1.0, 1e-9, f64::MIN_POSITIVE];
        assert_eq!(taken.map(|share| Share::new(share).thousandths()), [250, 1000, 1, 1]);
        for share in taken {
            Share::new(share).check("a cap").unwrap();
        }
        for share in [0.0, -0.5, 1.000_001, f64::INFINITY, f64::NAN] {
            let text = Share::new(share).check("a cap").unwrap_err().to_string();
            assert!(text.contains(&format!("a cap of {share} of the L2 cache")), "{text}");
        }
    }
}
