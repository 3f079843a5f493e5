//! Without the feature: there are no objects, and functions say so.

use std::ffi::c_char;

use super::{off, racl_cache_options, racl_cache_stats, racl_compile};
use crate::failure::Result;
use crate::objects::{racl_cache, racl_context, racl_foreign, racl_host_function, racl_registry};

pub(crate) type Caches = ();
pub(crate) type Registries = ();

/// # Safety
///
/// None.
pub(super) unsafe fn open(_: *const racl_cache_options) -> Result<Caches> {
    Err(off())
}

pub(super) fn folder(_: *const racl_cache) -> Result<Vec<u8>> {
    Err(off())
}

/// # Safety
///
/// None.
pub(super) unsafe fn compile(
    _: *const racl_cache,
    _: *const racl_context,
    _: *const racl_compile,
) -> Result<racl::plan::Plan> {
    Err(off())
}

/// # Safety
///
/// None.
pub(super) unsafe fn status(_: *const racl_cache, _: *const c_char) -> Result<(i32, String)> {
    Err(off())
}

pub(super) fn counted(_: *const racl_cache) -> Result<racl_cache_stats> {
    Err(off())
}

pub(super) fn new_registry() -> Result<Registries> {
    Err(off())
}

pub(super) fn add_host_function(_: *const racl_registry, _: *const racl_host_function) -> Result<()> {
    Err(off())
}

pub(super) fn add_foreign(_: *const racl_registry, _: *const racl_foreign) -> Result<()> {
    Err(off())
}
