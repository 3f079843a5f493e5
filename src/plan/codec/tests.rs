//! Round trips, and bytes that are no plan.

mod generate;
mod same;
