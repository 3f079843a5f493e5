//! Generates the bindings from the headers of a toolkit with bindgen.
//!
//! One file per header family plus `calls.rs`, the list that the call table is made from. The result replaces the
//! committed bindings only when it has every function of theirs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use bindgen::{Builder, EnumVariation};
use syn::{FnArg, ForeignItem, Item, ReturnType};

use crate::probe::{NotFound, Toolkit};
use crate::vars;

/// A header family: the file it gives, its headers (a whole folder ends with a slash), the families it uses, its
/// library in the table.
struct Family {
    file: &'static str,
    headers: &'static [&'static str],
    uses: &'static [&'static str],
    library: &'static str,
}

/// The family whose header a toolkit has elsewhere, and with functions inside in place of declarations: the committed
/// bindings of it are taken.
const COMMITTED: &str = "marks";

const FAMILIES: [Family; 16] = [
    Family {
        file: "runtime",
        headers: &[
            "acl/acl.h",
            "acl/acl_base.h",
            "acl/acl_base_rt.h",
            "acl/acl_base_mdl.h",
            "acl/acl_rt.h",
            "acl/acl_rt_allocator.h",
            "acl/acl_rt_memory_soma.h",
            "acl/error_codes/rt_error_codes.h",
            "acl/error_codes/ge_error_codes.h",
            "ge/ge_error_codes.h",
        ],
        uses: &[],
        library: "Runtime",
    },
    Family { file: "dump", headers: &["acl/acl_dump.h"], uses: &["runtime"], library: "Dump" },
    Family {
        file: "operator_by_name",
        headers: &["acl/acl_op.h"],
        uses: &["runtime", "dump"],
        library: "OperatorExecutor",
    },
    Family {
        file: "operator_compiler",
        headers: &["acl/acl_op_compiler.h"],
        uses: &["runtime", "operator_by_name"],
        library: "OperatorCompiler",
    },
    Family { file: "model", headers: &["acl/acl_mdl.h"], uses: &["runtime"], library: "Model" },
    Family {
        file: "profiling",
        headers: &["acl/acl_prof.h", "acl/acl_msprof.h"],
        uses: &["runtime"],
        library: "Profiler",
    },
    Family { file: "channel", headers: &["acl/acl_tdt.h"], uses: &["runtime"], library: "Channel" },
    Family { file: "queue", headers: &["acl/acl_tdt_queue.h"], uses: &["runtime", "channel"], library: "Queue" },
    Family { file: "platform", headers: &["acl/acl_platform.h"], uses: &["runtime"], library: "Runtime" },
    Family { file: "super_kernel", headers: &["acl/super_kernel.h"], uses: &["runtime"], library: "Runtime" },
    Family {
        file: "blas",
        headers: &["acl/ops/acl_cblas.h"],
        uses: &["runtime", "operator_by_name"],
        library: "Blas",
    },
    Family { file: "retrieval", headers: &["acl/ops/acl_fv.h"], uses: &["runtime"], library: "Retrieval" },
    Family {
        file: "collectives",
        headers: &["hccl/hccl_types.h", "hccl/hccl.h"],
        uses: &["runtime"],
        library: "Collectives",
    },
    Family { file: "marks", headers: &["mstx/ms_tools_ext.h"], uses: &["runtime"], library: "Marks" },
    Family { file: "operator_base", headers: &["aclnn/"], uses: &["runtime"], library: "OperatorBase" },
    Family { file: "operators", headers: &["aclnnop/"], uses: &["runtime", "operator_base"], library: "Operators" },
];

/// Functions in a block of the call list.
const BLOCK: usize = 64;

/// Functions whose parameters differ between releases, with what to know for a call.
const CHANGED: [(&str, &str); 3] = [
    (
        "aclmdlRIDebugJsonPrint",
        "Up to CANN 9.0 the function has no `flags`; such a library ignores the third argument and always prints the \
         summary, so the call is the same for every release.",
    ),
    (
        "aclrtGetMemUsageInfo",
        "Up to CANN 9.0 the device is a `uint32_t`; the values that are valid for both types are passed alike.",
    ),
    (
        "aclrtUnuseStreamResInCurrentThread",
        "In CANN 8.3 the function has no parameter: such a library ignores the stream and acts on the whole thread. \
         The call itself is the same for every release.",
    ),
];

/// Generates into `OUT_DIR`, or says why the committed bindings stay. True when they are replaced.
pub(crate) fn run(toolkit: Result<&Toolkit, &NotFound>) -> bool {
    let toolkit = match toolkit {
        Ok(toolkit) => toolkit,
        Err(_) => return keep("no toolkit was found"),
    };
    let elsewhere = vars::read(vars::GENERATE_INTO);
    let out = elsewhere.clone().unwrap_or_else(|| vars::cargo("OUT_DIR"));
    let root = vars::cargo("CARGO_MANIFEST_DIR");
    let mut calls = String::new();
    let mut libraries = BTreeMap::new();
    for family in &FAMILIES {
        let text = if family.file == COMMITTED && elsewhere.is_none() {
            let committed = root.join("src/bindings").join(COMMITTED).with_extension("rs");
            fs::read_to_string(&committed).map_err(|error| format!("{}: {error}", committed.display()))
        } else {
            generate(family, &toolkit.include)
        };
        let text = match text {
            Ok(text) => text,
            Err(why) => return keep(&format!("{} gives no bindings: {why}", toolkit.include.display())),
        };
        list_calls(family, &text, &mut calls, &mut libraries);
        fs::write(out.join(family.file).with_extension("rs"), text).expect("the output folder is writable");
    }
    fs::write(out.join("calls.rs"), &calls).expect("the output folder is writable");
    let releases = root.join("../mock-acl/abi/symbols.tsv");
    let symbols = symbols(&releases, &libraries, elsewhere.is_some());
    fs::write(out.join("symbols.rs"), symbols).expect("the output folder is writable");
    if elsewhere.is_some() {
        return false;
    }
    let missing = missing_names(&root.join("src/bindings/calls.rs"), &calls);
    match missing.first() {
        None => {
            println!("cargo:rustc-cfg=acl_sys_generated");
            true
        }
        Some(name) => keep(&format!(
            "the headers in {} lack {} of the functions, {name} first",
            toolkit.include.display(),
            missing.len()
        )),
    }
}

fn keep(why: &str) -> bool {
    println!("cargo:warning=feature bindgen: {why}; the committed bindings are kept");
    false
}

fn generate(family: &Family, include: &Path) -> Result<String, String> {
    let mut builder = Builder::default()
        .header_contents("wrapper.hpp", &wrapper(family, include))
        .clang_args(["-x", "c++", "-std=c++17", "-I"])
        .clang_arg(include.display().to_string())
        .clang_args(compiler_includes().iter().map(|dir| format!("-isystem{}", dir.display())))
        .allowlist_recursively(false)
        .default_enum_style(EnumVariation::NewType { is_bitfield: false, is_global: false })
        .must_use_type("aclError")
        .must_use_type("aclnnStatus")
        .derive_debug(true)
        .layout_tests(true)
        .use_core()
        .merge_extern_blocks(true)
        .disable_header_comment()
        .formatter(bindgen::Formatter::Prettyplease)
        .raw_line("// Generated by sys/regen.sh; not edited by hand.")
        .raw_line("");
    for header in family.headers {
        println!("cargo:rerun-if-changed={}", include.join(header).display());
        let tail = if header.ends_with('/') { ".*" } else { "" };
        builder = builder.allowlist_file(format!(".*/{}{tail}", header.replace('.', "\\.")));
    }
    for used in family.uses {
        builder = builder.raw_line(format!("use super::{used}::*;"));
    }
    builder.generate().map(|bindings| bindings.to_string()).map_err(|e| e.to_string())
}

/// Includes what the toolkit has of the family; some headers do not stand alone, so the base comes first.
fn wrapper(family: &Family, include: &Path) -> String {
    let mut headers: Vec<PathBuf> = vec![include.join("acl/acl_base.h")];
    for header in family.headers {
        let path = include.join(header);
        if header.ends_with('/') {
            let files = fs::read_dir(path).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
            let start = headers.len();
            headers.extend(files.filter(|path| path.extension().is_some_and(|e| e == "h")));
            headers[start..].sort();
        } else if path.exists() {
            headers.push(path);
        }
    }
    headers.iter().map(|h| format!("#include \"{}\"\n", h.display())).collect()
}

/// A bare libclang has no `stddef.h`; the C compiler of the machine has.
fn compiler_includes() -> Vec<PathBuf> {
    let output = std::process::Command::new("cc").args(["-print-file-name=include"]).output();
    output
        .ok()
        .and_then(|out| String::from_utf8(out.stdout).ok())
        .map(|text| PathBuf::from(text.trim()))
        .filter(|dir| dir.join("stddef.h").exists())
        .into_iter()
        .collect()
}

/// One line for each function that is not variadic, in blocks, because one long list takes the compiler seconds; the
/// library of each function.
fn list_calls(family: &Family, bindings: &str, calls: &mut String, libraries: &mut BTreeMap<String, &'static str>) {
    let file = syn::parse_file(bindings).expect("bindgen writes valid Rust");
    let functions = file.items.iter().filter_map(|item| match item {
        Item::ForeignMod(block) => Some(&block.items),
        _ => None,
    });
    let mut in_block = 0;
    for item in functions.flatten() {
        let ForeignItem::Fn(function) = item else { continue };
        let signature = &function.sig;
        let name = signature.ident.to_string();
        libraries.insert(name.clone(), family.library);
        if signature.variadic.is_some() {
            continue;
        }
        if in_block == BLOCK {
            calls.push_str("}\n");
            in_block = 0;
        }
        if in_block == 0 {
            calls.push_str("calls! {\n");
        }
        in_block += 1;
        if let Some((_, note)) = CHANGED.iter().find(|(changed, _)| *changed == name) {
            writeln!(calls, "    #[doc = {note:?}]").expect("writing to a string");
        }
        let arguments: Vec<String> = signature
            .inputs
            .iter()
            .map(|argument| match argument {
                FnArg::Typed(typed) => print_type(&typed.ty),
                FnArg::Receiver(_) => unreachable!("C functions have no receiver"),
            })
            .collect();
        let result = match &signature.output {
            ReturnType::Default => "()".to_owned(),
            ReturnType::Type(_, ty) => print_type(ty),
        };
        writeln!(calls, "    {name}({}) -> {result};", arguments.join(", ")).expect("writing to a string");
    }
    if in_block > 0 {
        calls.push_str("}\n");
    }
}

/// The list behind `symbol_info`: the library of each function and the header sets that have it.
///
/// Every function of our own headers has its sets; one of a toolkit may be newer than the list.
fn symbols(releases: &Path, libraries: &BTreeMap<String, &'static str>, all_known: bool) -> String {
    println!("cargo:rerun-if-changed={}", releases.display());
    let text = fs::read_to_string(releases).unwrap_or_else(|e| panic!("{}: {e}", releases.display()));
    let known: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once('\t')).collect();
    let mut out = String::from("symbols! {\n");
    for (name, library) in libraries {
        let sets = known.get(name.as_str()).copied();
        assert!(sets.is_some() || !all_known, "{name} is not in {}", releases.display());
        let sets = sets.unwrap_or("0");
        writeln!(out, "    {library} {name} {sets};").expect("writing to a string");
    }
    out.push_str("}\n");
    out
}

fn print_type(ty: &syn::Type) -> String {
    let alias: Item = syn::parse_quote!(type T = #ty;);
    let text = prettyplease::unparse(&syn::File { shebang: None, attrs: Vec::new(), items: vec![alias] });
    let text = text.trim().trim_start_matches("type T = ").trim_end_matches(';');
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(").replace(", )", ")").replace(",)", ")")
}

fn names(calls: &str) -> BTreeSet<&str> {
    let functions = calls.lines().filter(|line| !line.trim_start().starts_with('#'));
    functions.filter_map(|line| Some(line.split_once('(')?.0.trim())).collect()
}

fn missing_names(committed: &Path, calls: &str) -> Vec<String> {
    println!("cargo:rerun-if-changed={}", committed.display());
    let committed = fs::read_to_string(committed).unwrap_or_default();
    let here = names(calls);
    names(&committed).into_iter().filter(|name| !here.contains(name)).map(str::to_owned).collect()
}
