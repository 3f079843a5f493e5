//! Properties of whole plans.

mod checks;
