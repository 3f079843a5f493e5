//! Build script of racl: what `racl::BUILD` says, and where programs of this package that are bound to the library
//! (feature `link`) find it when they start. Nothing is searched here: library and headers are those that acl-sys
//! found (`DEP_ACL_SYS_…`).

// Lines on standard output are how a build script speaks to cargo.
#![allow(clippy::print_stdout)]

#[path = "build/commit.rs"]
mod commit;

use std::env;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    let checkout = commit::of(Path::new(&variable("CARGO_MANIFEST_DIR")));
    for file in &checkout.watched {
        println!("cargo:rerun-if-changed={}", file.display());
    }
    println!("cargo:rustc-env=RACL_BUILD_COMMIT={}", checkout.commit.unwrap_or_default());
    println!("cargo:rustc-env=RACL_BUILD_HEADERS={}", variable("DEP_ACL_SYS_HEADERS"));
    println!("cargo:rustc-env=RACL_BUILD_TOOLKIT={}", variable("DEP_ACL_SYS_VERSION"));
    if let (true, Ok(folder)) = (cfg!(feature = "link"), env::var("DEP_ACL_SYS_LIB_DIR")) {
        // One argument a word, since a folder may have a comma. `LD_LIBRARY_PATH` still comes first.
        for word in ["--enable-new-dtags", "-rpath", &folder] {
            println!("cargo:rustc-link-arg=-Xlinker");
            println!("cargo:rustc-link-arg={word}");
        }
    }
}

/// Nothing for what is not set, which only the metadata of a toolkit may be.
fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
