//! Plans: a graph as data, checked before a device sees it.

#![allow(dead_code, reason = "being built")]

mod dim;
mod host;
mod launch;
mod layout;
mod operator;
mod poly;
mod recipe;

pub use dim::{Dim, IntoDims, MAX_SYMBOLS};
pub use operator::{Number, Operator, Order, Reduction};
pub use recipe::{Cores, Input, OnMove};
