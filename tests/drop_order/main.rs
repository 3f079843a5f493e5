//! The order of C calls when a program drops what it has, in every order: the mock logs each, and rules are held against
//! the log of the whole life of the library, from its start to its end.

#[path = "../common/mod.rs"]
mod common;

mod clocks;
mod loaded;
mod orders;
mod rules;
mod wrong;
