//! Build script of acl-sys.
//!
//! Publishes to dependents (`DEP_ACL_SYS_…`): `ROOT`, `INCLUDE`, `LIB_DIR` and `VERSION` of the toolkit when one was
//! found, and `MODE`, the enabled ways to the library joined by commas. With `dlopen` and `mock` a missing toolkit is
//! no error.

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
        println!("cargo:version={}", probe::version(&toolkit.root, &|path| std::fs::read_to_string(path).ok()));
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
    #[cfg(feature = "bindgen")]
    generate::run(toolkit.as_ref());
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
}
