//! Each method that takes its value has a program among those that must not compile, which uses the value afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Methods by which values are used as before: their types are `Copy`.
const COPIED: [&str; 15] = [
    "Access::reads",
    "Access::writes",
    "DataType::size",
    "Dim::as_fixed",
    "ElementType::bits",
    "ElementType::data_type",
    "ElementType::number",
    "FindingKind::is_lint",
    "Format::number",
    "ImageFormat::bytes",
    "IpcEventHandle::to_bytes",
    "KernelParameter::offset",
    "KernelParameter::size",
    "Reason::is_of_prefetch",
    "Thrown::throw", // does not return
];

fn sources(folder: &Path, all: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            all.push(fs::read_to_string(path).unwrap());
        }
    }
}

fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap()
}

/// `Type::method` of what a header such as `impl<T: Pod> Type<T> {` begins, without generics and paths.
fn type_of(header: &str) -> &str {
    let mut depth = 0;
    let behind = header.char_indices().find(|&(_, c)| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0 && c == ' '
    });
    behind.map_or("", |(at, _)| word(&header[at + 1..]))
}

/// The public methods of a source that take `self`, and give something else than the value itself.
fn consuming(source: &str) -> Vec<String> {
    let mut all = Vec::new();
    for block in source.split("\nimpl").skip(1) {
        let (header, block) = (type_of(block.lines().next().unwrap()), block.split("\n}").next().unwrap());
        for function in block.split("\n    pub ").skip(1) {
            let Some((_, named)) = function.split_once("fn ").filter(|(before, _)| before.len() < 20) else {
                continue;
            };
            let signature = named.split(['{', ';']).next().unwrap();
            let (Some(takes), Some((_, gives))) = (signature.split_once('('), signature.rsplit_once("->")) else {
                continue;
            };
            let takes = takes.1.trim_start().trim_start_matches("mut ");
            let as_before = ["Self", "Result<Self>"].contains(&gives.trim().split(" where").next().unwrap().trim());
            if word(takes) == "self" && !takes.starts_with("self:") && !as_before {
                all.push(format!("{header}::{}", word(named)));
            }
        }
    }
    all
}

#[test]
fn what_takes_its_value_has_a_program_that_uses_it_afterwards() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut all, mut refused) = (Vec::new(), vec![fs::read_to_string(root.join("compile_fail.rs")).unwrap()]);
    sources(&root, &mut all);
    sources(&root.join("compile_fail"), &mut refused);
    let programs: Vec<_> = refused.iter().flat_map(|text| text.split("```compile_fail,E0382").skip(1)).collect();
    let has = |method: &str| {
        let (kind, name) = method.split_once("::").unwrap();
        programs.iter().any(|program| {
            let program = program.split("//! ```").next().unwrap();
            program.contains(kind)
                && [format!(".{name}("), format!(".{name}::<")].iter().any(|it| program.contains(it))
        })
    };
    let found: BTreeSet<_> = all.iter().flat_map(|source| consuming(source)).collect();
    assert!(["Stream::close", "PinnedBuffer::into_vec", "DeviceSliceMut::cast"].iter().all(|it| found.contains(*it)));
    assert!(COPIED.iter().all(|it| found.contains(*it)), "{found:?}");
    let missing: Vec<_> = found.iter().filter(|it| !COPIED.contains(&it.as_str()) && !has(it)).collect();
    assert!(missing.is_empty(), "no program uses the value afterwards: {missing:?}");
}
