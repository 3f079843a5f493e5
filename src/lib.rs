//! Safe Rust for Ascend NPUs.
