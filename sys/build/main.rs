//! Build script of acl-sys.
//!
//! Publishes to dependents (`DEP_ACL_SYS_…`): `ROOT`, `INCLUDE`, `LIB_DIR` and `VERSION` of the toolkit when one was
//! found, `MODE`, the enabled ways to the library joined by commas, and `HEADERS`, the release of the headers that the
//! bindings come from (`unknown` for a toolkit without a version). With `dlopen` and `mock` a missing toolkit is no
//! error.
//!
//! With `link` the tests of this package start without `LD_LIBRARY_PATH`. Cargo passes no argument of the linker to
//! other packages: a program that is bound to the library prints the lines of `run_path` in a build script of its own,
//! with `DEP_ACL_SYS_LIB_DIR` when it depends on this package, or the variable is set when it starts.

// Lines on standard output are how a build script speaks to cargo.
#![allow(clippy::print_stdout)]

#[cfg(feature = "bindgen")]
mod generate;
#[cfg(feature = "mock")]
mod mock;
mod probe;
mod vars;
mod version;

use std::path::PathBuf;

use probe::Toolkit;

fn main() {
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rustc-check-cfg=cfg(acl_sys_generated)");
    let toolkit = probe::find(&candidates(), &|path| path.exists());
    if let Ok(toolkit) = &toolkit {
        println!("cargo:root={}", toolkit.root.display());
        println!("cargo:include={}", toolkit.include.display());
        println!("cargo:lib_dir={}", toolkit.lib.display());
        println!("cargo:version={}", version_of(toolkit));
    }
    println!("cargo:mode={}", modes().join(","));
    #[cfg(feature = "mock")]
    mock::build();
    if cfg!(feature = "link") && std::env::var_os("DOCS_RS").is_none() {
        match &toolkit {
            Ok(toolkit) => link(toolkit),
            Err(places) => panic!("the feature `link` needs the AscendCL library: {places}"),
        }
    }
    println!("cargo:headers={}", headers(toolkit.as_ref()));
}

/// The release of the headers that the bindings come from, which are generated here if that is asked for.
#[cfg(feature = "bindgen")]
fn headers(toolkit: Result<&Toolkit, &probe::NotFound>) -> String {
    let generated = generate::run(toolkit);
    match toolkit.ok().filter(|_| generated).map(version_of) {
        None => version::COMMITTED_HEADERS.to_owned(),
        Some(version) if version.is_empty() => "unknown".to_owned(),
        Some(version) => format!("CANN {version}"),
    }
}

#[cfg(not(feature = "bindgen"))]
fn headers(_toolkit: Result<&Toolkit, &probe::NotFound>) -> &'static str {
    version::COMMITTED_HEADERS
}

fn version_of(toolkit: &Toolkit) -> String {
    probe::version(&toolkit.root, &|path| std::fs::read_to_string(path).ok())
}

fn modes() -> Vec<&'static str> {
    [("dlopen", cfg!(feature = "dlopen")), ("link", cfg!(feature = "link")), ("mock", cfg!(feature = "mock"))]
        .into_iter()
        .filter_map(|(name, on)| on.then_some(name))
        .collect()
}

fn candidates() -> probe::Candidates {
    let mut roots: Vec<(String, PathBuf)> =
        vars::TOOLKIT_ROOTS.iter().filter_map(|name| Some(((*name).to_owned(), vars::read(name)?))).collect();
    let usual = "the usual place".to_owned();
    roots.extend(vars::read("HOME").map(|home| (usual.clone(), home.join("Ascend/ascend-toolkit/latest"))));
    roots.push((usual, "/usr/local/Ascend/ascend-toolkit/latest".into()));
    probe::Candidates { include_dir: vars::read(vars::INCLUDE_DIR), lib_dir: vars::read(vars::LIB_DIR), roots }
}

fn link(toolkit: &Toolkit) {
    println!("cargo:rustc-link-search=native={}", toolkit.lib.display());
    let name = if toolkit.lib.join("libascendcl.so").exists() { "ascendcl" } else { "acl_rt" };
    println!("cargo:rustc-link-lib=dylib={name}");
    run_path(&toolkit.lib.display().to_string());
}

/// Where tests of this package find the library when they start; `LD_LIBRARY_PATH` still comes first.
fn run_path(folder: &str) {
    // One argument a word, since a folder may have a comma.
    for word in ["--enable-new-dtags", "-rpath", folder] {
        println!("cargo:rustc-link-arg=-Xlinker");
        println!("cargo:rustc-link-arg={word}");
    }
}
