//! Every environment variable the build script reads.

use std::env;
use std::path::PathBuf;

/// Folder with `acl/acl.h`; outranks every toolkit.
pub(crate) const INCLUDE_DIR: &str = "ACL_SYS_INCLUDE_DIR";
/// Folder with `libascendcl.so`; outranks every toolkit.
pub(crate) const LIB_DIR: &str = "ACL_SYS_LIB_DIR";
/// Roots of an installed toolkit, in the order of their rank.
pub(crate) const TOOLKIT_ROOTS: [&str; 2] = ["ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH"];

/// Folder that generated bindings are written to instead of `OUT_DIR`; `regen.sh` sets it.
#[cfg(feature = "bindgen")]
pub(crate) const GENERATE_INTO: &str = "ACL_SYS_GENERATE_INTO";

/// Reads `name`, the form prefixed with the target triple first, and asks cargo to watch both.
pub(crate) fn read(name: &str) -> Option<PathBuf> {
    let target = env::var("TARGET").unwrap_or_default().to_uppercase().replace('-', "_");
    let prefixed = format!("{target}_{name}");
    [prefixed.as_str(), name]
        .into_iter()
        .inspect(|name| println!("cargo:rerun-if-env-changed={name}"))
        .filter_map(env::var_os)
        .find(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// A variable that cargo sets for every build script.
#[cfg(any(feature = "bindgen", feature = "mock"))]
pub(crate) fn cargo(name: &str) -> PathBuf {
    PathBuf::from(env::var_os(name).unwrap_or_else(|| panic!("cargo sets {name} for build scripts")))
}
