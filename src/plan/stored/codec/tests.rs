//! Round trips, and bytes that are no plan.

mod allocation;
mod called;
mod choices;
mod damage;
mod effort;
mod fuzz;
mod generate;
mod hostile;
mod measure;
mod mutate;
mod same;

use super::{HASH, HEADER, seal};

/// What is between header and hash.
fn content(stored: &[u8]) -> &[u8] {
    &stored[HEADER..stored.len() - HASH]
}

/// A file of this content, with the header and the hash that it must have.
fn sealed(content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER];
    bytes.extend_from_slice(content);
    seal(&mut bytes);
    bytes
}
