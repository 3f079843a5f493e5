//! Every kernel against the mock, bit for bit.

mod bench;
mod moving;
mod numbers;

use bench::{Bench, Kind, LAYOUTS, Values, dense};
