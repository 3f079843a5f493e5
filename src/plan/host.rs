//! The operators on host memory.

mod element;

pub(crate) use element::element_of;
