//! Which bytes of a storage accesses touch and which of these they share: as ranges, in steps, as boxes of values with
//! symbols, and found again piece by piece. Uses recipes; checks, the builder, dumps and stored plans ask it.

pub(crate) mod boxes;
pub(crate) mod pieces;
pub(crate) mod ranges;
pub(crate) mod steps;
