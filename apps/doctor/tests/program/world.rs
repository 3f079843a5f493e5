//! Toolkits and libraries made from the mock, once a run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

use racl::sys::{Library, Release, SymbolInfo, Table};

pub(crate) struct World {
    /// The look-alike, in a folder with a space in its name.
    pub(crate) toolkit: PathBuf,
    /// A library without `aclrtCmoAsync`.
    pub(crate) without_cmo: PathBuf,
    /// A library with what the runtime of CANN 8.1 has, and all operators.
    pub(crate) old: PathBuf,
    /// A toolkit with the runtime alone, 8.1.RC1.
    pub(crate) runtime: PathBuf,
    /// A toolkit with the operators alone, 8.2.RC1.
    pub(crate) operators: PathBuf,
    /// Devices that work, fail, hang and crash, see faulty.c.
    pub(crate) faulty: PathBuf,
}

pub(crate) fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| build(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("doctor")))
}

fn build(folder: &Path) -> World {
    let mock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../mock-acl");
    let build = folder.join("build");
    let toolkit = folder.join("a toolkit");
    // Whatever an earlier version of this program put there.
    let _ = fs::remove_dir_all(&toolkit);
    let mut make = Command::new("make");
    make.arg("-s").arg("-C").arg(&mock).arg(format!("BUILD={}", build.display()));
    run(make.arg("install").env("PREFIX", &toolkit).env_remove("DESTDIR").env_remove("MAKEFLAGS"));
    // Objects of sources that went away stay in the folder.
    let sources = mock.join("src");
    let objects: Vec<_> = files_below(&sources)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .map(|path| build.join("obj").join(path.strip_prefix(&sources).unwrap()).with_extension("o"))
        .collect();
    let without = |name: &str, hidden: &dyn Fn(&SymbolInfo) -> bool| {
        let hidden: Vec<_> = SymbolInfo::all().filter(|symbol| hidden(symbol)).map(|symbol| symbol.name).collect();
        link(&folder.join(name), &objects, &hidden)
    };
    let is_operator = |symbol: &SymbolInfo| matches!(symbol.library, Library::OperatorBase | Library::Operators);
    let is_newer = |symbol: &SymbolInfo| symbol.library == Library::Runtime && !symbol.is_in(Release::Cann8_1);
    without("runtime/lib64/libascendcl.so", &is_operator);
    for name in ["operators/lib64/libnnopbase.so", "operators/lib64/libopapi.so"] {
        without(name, &|symbol| symbol.library == Library::Runtime);
    }
    let faulty = folder.join("faulty.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/faulty.c");
    run(compiler().args(["-shared", "-fPIC", "-o"]).arg(&faulty).arg(source));
    fs::write(folder.join("runtime/version.cfg"), "toolkit_running_version=[8.1.RC1:test]\n").unwrap();
    fs::write(folder.join("operators/version.cfg"), "toolkit_running_version=[8.2.RC1:test]\n").unwrap();
    World {
        toolkit,
        without_cmo: without("without_cmo.so", &|symbol| symbol.name == "aclrtCmoAsync"),
        old: without("old.so", &is_newer),
        runtime: folder.join("runtime"),
        operators: folder.join("operators"),
        faulty,
    }
}

/// Every file below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.into_iter().flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

fn compiler() -> Command {
    Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()))
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}

/// A library without the functions `hidden`. Its own calls stay inside it, whatever else is loaded.
fn link(path: &Path, objects: &[PathBuf], hidden: &[&str]) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let script = path.with_extension("map");
    let hidden: String = hidden.iter().map(|name| format!("{name}; ")).collect();
    fs::write(&script, format!("{{ global: mock_acl_*; acl*; Acl*; local: {hidden}}};\n")).unwrap();
    let script = format!("-Wl,--version-script={}", script.display());
    run(compiler().args(["-shared", "-pthread", "-Wl,-Bsymbolic", &script, "-o"]).arg(path).args(objects).arg("-lm"));
    path.to_owned()
}

/// How many functions a family has.
pub(crate) fn count(library: Library) -> usize {
    Table::names().filter(|(_, of)| *of == library).count()
}
