//! Compiles mock-acl into the program, its exported names renamed so that a real library can be linked beside it.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::vars;

/// Builds the static mock from the sources beside this package.
pub(crate) fn build() {
    let root = vars::cargo("CARGO_MANIFEST_DIR").join("../mock-acl");
    let (src, include) = (root.join("src"), root.join("include"));
    println!("cargo:rerun-if-changed={}", src.display());
    println!("cargo:rerun-if-changed={}", include.display());
    let out = vars::cargo("OUT_DIR");
    let prefix = out.join("mock_prefix.h");
    // Its own names stay what they are, and hidden: the mock's shared library in the same program has them too.
    let hidden = "#define MOCK_EXPORT\n".to_owned();
    let names = [renames(&src.join("exports.def")), renames(&src.join("beside.def")), hidden].concat();
    fs::write(&prefix, names).expect("OUT_DIR is writable");
    let mut files = sources(&src);
    files.sort();
    let mut build = cc::Build::new();
    let (optimised, with_lines) = (env::var("PROFILE"), env::var("DEBUG"));
    if (optimised.as_deref(), with_lines.as_deref()) == (Ok("release"), Ok("true")) {
        // Lines, for backtraces: types and variables take a sixth of the time.
        build.debug(false).force_frame_pointer(true).flag_if_supported("-g1");
    }
    build
        .files(files)
        .include(&include)
        .include(&src)
        .std("c11")
        .opt_level(2)
        .flag("-include")
        .flag(prefix)
        .flag("-fvisibility=hidden")
        .flag("-pthread")
        .flag("-Wmissing-prototypes")
        .warnings(true)
        .extra_warnings(true)
        .compile("racl_mock_acl");
    println!("cargo:rustc-link-lib=m");
}

/// Every C source below `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let (folders, files): (Vec<_>, Vec<_>) =
        entries.filter_map(|entry| Some(entry.ok()?.path())).partition(|path| path.is_dir());
    let here = files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "c"));
    here.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

fn renames(exports: &Path) -> String {
    let text = fs::read_to_string(exports).unwrap_or_else(|e| panic!("{}: {e}", exports.display()));
    text.lines()
        .filter_map(|line| {
            let (kind, rest) = line.split_once('(')?;
            if kind.is_empty() || !kind.bytes().all(|b| b.is_ascii_uppercase()) {
                return None;
            }
            let name = rest.split(',').next()?.trim();
            // Renames the symbol and leaves the token alone, so that names in macros stay what they are.
            Some(format!("#pragma redefine_extname {name} racl_mock_{name}\n"))
        })
        .collect()
}
