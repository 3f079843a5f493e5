//! The language of sizes: dimensions and polynomials with symbols, the values that symbols get at a run, and how much
//! work computing with all that may be. Uses no other room of plans; each of them speaks it.

pub(crate) mod dim;
pub(crate) mod effort;
pub(crate) mod poly;
pub(crate) mod values;

/// A named dimension and the numbers that it may be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) least: u64,
    pub(crate) greatest: u64,
    /// A number that each run gives anew: no size, and no part of what a graph is kept by.
    pub(crate) each_run: bool,
}
