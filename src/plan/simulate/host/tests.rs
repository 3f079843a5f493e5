//! Every kernel against the mock, bit for bit.

mod bench;
mod made;
mod matrices;
mod moving;
mod numbers;
mod reductions;

use bench::{Bench, Kind, LAYOUTS, Values, dense};
