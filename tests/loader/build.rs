//! Shared libraries made from the mock's sources with the C compiler, once a run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use racl::sys::{Library, Release, Table, symbol_info};

/// The libraries, by what they lack.
pub(crate) struct Libraries {
    /// The whole mock, as `lib64/libascendcl.so` of a toolkit folder.
    pub(crate) full: PathBuf,
    /// No `aclrtCmoAsync`.
    pub(crate) without_cmo: PathBuf,
    /// Loads no kernels.
    pub(crate) without_kernels: PathBuf,
    /// Launches kernels by lists of arguments, and tells nothing of them.
    pub(crate) older_kernels: PathBuf,
    /// No marks for tools, and no library of them beside it.
    pub(crate) without_marks: PathBuf,
    /// No addresses to reserve.
    pub(crate) without_ranges: PathBuf,
    /// Neither spelling of the function that gives an executor another address.
    pub(crate) without_addresses: PathBuf,
    /// Its older spelling alone.
    pub(crate) older_addresses: PathBuf,
    /// No repeatable executors.
    pub(crate) without_repetition: PathBuf,
    /// As releases that neither count initialisations nor give the handle of the default stream.
    pub(crate) old: PathBuf,
    /// The runtime alone: no operators, and nothing beside it.
    pub(crate) runtime: PathBuf,
    /// The runtime alone, with `libopapi.so` beside it.
    pub(crate) with_sibling: PathBuf,
    /// Nothing of the operators nor of their compiler, and nothing beside it.
    pub(crate) bare: PathBuf,
    /// No `aclrtMalloc`, which every AscendCL has.
    pub(crate) crippled: PathBuf,
    /// A library with one function of its own.
    pub(crate) foreign: PathBuf,
    /// A text file.
    pub(crate) text: PathBuf,
    /// Where all of them are.
    pub(crate) folder: PathBuf,
    objects: Vec<PathBuf>,
}

/// The releases that there is a library for, oldest first.
pub(crate) const RELEASES: [Release; 6] = [
    Release::Cann8_1,
    Release::Cann8_2,
    Release::Cann8_3,
    Release::Cann9_0,
    Release::AfterCann9_1,
    Release::Development,
];

/// Whether the library made for a release has a function. Operators were read at both ends only, and the releases of
/// the functions around them are not known: what the oldest has, each has.
pub(crate) fn belongs(name: &str, release: Release) -> bool {
    let symbol = symbol_info(name).unwrap();
    match symbol.library {
        _ if symbol.first().is_none() => true,
        Library::Operators if release < Release::Development => symbol.is_in(Release::Cann8_1),
        _ => symbol.is_in(release),
    }
}

impl Libraries {
    /// The mock with the functions of one release only, each in a folder of its own.
    pub(crate) fn release(&self, release: Release) -> &Path {
        static MADE: [OnceLock<PathBuf>; 6] = [const { OnceLock::new() }; 6];
        let index = RELEASES.iter().position(|each| *each == release).unwrap();
        MADE[index].get_or_init(|| {
            let others: Vec<_> =
                Table::names().map(|(name, _)| name).filter(|name| !belongs(name, release)).collect();
            link(&self.folder.join(format!("release{index}/libascendcl.so")), &self.objects, &others)
        })
    }

    /// The mock with more C code, without the functions `hidden`.
    pub(crate) fn with_code(&self, name: &str, code: &str, hidden: &[&str]) -> PathBuf {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let source = path.with_extension("c");
        fs::write(&source, code).unwrap();
        let object = path.with_extension("o");
        run(compiler().args(["-std=c11", "-fPIC", "-c", "-o"]).arg(&object).arg(&source));
        link(&path, &[&self.objects[..], &[object]].concat(), hidden)
    }

    /// A library that needs another one, which is not there.
    pub(crate) fn needing_another(&self, path: &Path) {
        let (code, other) = (self.folder.join("other.c"), path.with_file_name("libother-racl.so"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&code, "int answer(void) { return 42; }\n").unwrap();
        run(compiler().args(["-shared", "-fPIC", "-Wl,-soname,libother-racl.so", "-o"]).arg(&other).arg(&code));
        let mut cc = compiler();
        run(cc.args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-o"]).arg(path).arg(&code).arg(&other));
        fs::remove_file(other).unwrap();
    }

    /// The runtime of another of these libraries, with a library of `code` beside it.
    pub(crate) fn beside(&self, runtime: &Path, name: &str, code: &str) -> PathBuf {
        let path = self.folder.join(name);
        let (source, to) = (path.with_extension("c"), path.with_file_name("libascendcl.so"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&source, code).unwrap();
        run(compiler().args(["-std=c11", "-shared", "-fPIC", "-o"]).arg(&path).arg(&source));
        fs::copy(runtime, &to).unwrap();
        to
    }

    /// A library of `code` in front of the whole mock: what it does not define comes from there.
    pub(crate) fn in_front(&self, name: &str, code: &str) -> PathBuf {
        let path = self.folder.join(name);
        let source = path.with_extension("c");
        fs::write(&source, code).unwrap();
        let mut cc = compiler();
        cc.args(["-std=c11", "-shared", "-fPIC", "-Wl,--no-as-needed", "-o"]).arg(&path).arg(&source);
        // The path of the mock is written into the library, since the mock has no name of its own here.
        run(cc.arg(&self.full));
        path
    }
}

/// The libraries of this run.
pub(crate) fn libraries() -> &'static Libraries {
    crate::common::needs_mock("it makes libraries of the mock");
    static LIBRARIES: OnceLock<Libraries> = OnceLock::new();
    LIBRARIES.get_or_init(|| build(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("loader")))
}

fn build(folder: &Path) -> Libraries {
    let objects = compile(&folder.join("objects"));
    let link = |name: &str, hidden: &[&str]| link(&folder.join(name), &objects, hidden);
    let operators: Vec<_> =
        Table::names().filter(|(_, of)| *of == Library::Operators).map(|(name, _)| name).collect();
    let apart = [Library::Operators, Library::Collectives];
    let apart: Vec<_> = Table::names().filter(|(_, of)| apart.contains(of)).map(|(name, _)| name).collect();
    let with_sibling = link("sibling/libascendcl.so", &apart);
    link("sibling/libhccl.so", &operators);
    link("sibling/libopapi.so", &["aclnnAddV3"]);
    let marks: Vec<_> = Table::names().filter(|(_, of)| *of == Library::Marks).map(|(name, _)| name).collect();
    let beyond = [Library::OperatorBase, Library::Operators, Library::OperatorCompiler, Library::Collectives];
    let beyond: Vec<_> = Table::names().filter(|(_, of)| beyond.contains(of)).map(|(name, _)| name).collect();
    let foreign = folder.join("foreign.c");
    fs::write(&foreign, "int answer(void) { return 42; }\n").unwrap();
    run(compiler().args(["-shared", "-fPIC", "-o"]).arg(foreign.with_extension("so")).arg(&foreign));
    let text = folder.join("text.so");
    fs::write(&text, "not a library\n").unwrap();
    Libraries {
        full: link("toolkit/lib64/libascendcl.so", &[]),
        without_marks: link("without_marks/libascendcl.so", &marks),
        without_ranges: link("without_ranges.so", &["aclrtReserveMemAddress"]),
        without_cmo: link("without_cmo.so", &["aclrtCmoAsync"]),
        without_kernels: link("without_kernels.so", &["aclrtBinaryLoadFromFile", "aclrtBinaryLoadFromData"]),
        older_kernels: link(
            "older_kernels.so",
            &[
                "aclrtLaunchKernelWithHostArgs",
                "aclrtBinarySetExceptionCallback",
                "aclrtExceptionInfoCallbackRegister",
                "aclrtFunctionGetParamCount",
                "aclrtFunctionGetParamInfo",
            ],
        ),
        without_addresses: link("without_addresses.so", &["aclSetTensorAddr", "AclSetTensorAddr"]),
        older_addresses: link("older_addresses.so", &["aclSetTensorAddr"]),
        without_repetition: link("without_repetition.so", &["aclSetAclOpExecutorRepeatable"]),
        old: link("old.so", &["aclFinalizeReference", "aclrtCtxGetCurrentDefaultStream"]),
        runtime: link("runtime.so", &operators),
        with_sibling,
        bare: link("bare/libascendcl.so", &beyond),
        crippled: link("crippled.so", &["aclrtMalloc"]),
        foreign: foreign.with_extension("so"),
        text,
        folder: folder.to_owned(),
        objects,
    }
}

fn compiler() -> Command {
    Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()))
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Every file below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.into_iter().flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// The objects of the mock; one is made again when a source is newer.
fn compile(folder: &Path) -> Vec<PathBuf> {
    let mock = Path::new(env!("CARGO_MANIFEST_DIR")).join("mock-acl");
    let include = mock.join("include");
    let files = |ends: &str| -> Vec<PathBuf> {
        files_below(&mock.join("src"))
            .into_iter()
            .filter(|path| path.extension().is_some_and(|e| e == ends))
            .collect()
    };
    fs::create_dir_all(folder).unwrap();
    let time = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    let headers = [files("h"), files("def")].concat().iter().map(|path| time(path)).max().flatten();
    let sources = files("c");
    // Files of different rooms may have one name.
    let object = |source: &Path| {
        let name = source.strip_prefix(mock.join("src")).unwrap().to_str().unwrap().replace('/', "-");
        folder.join(name).with_extension("o")
    };
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let made = time(&object(source));
                    if made > time(source) && made > headers {
                        continue;
                    }
                    let mut cc = compiler();
                    cc.args(["-std=c11", "-O1", "-fPIC", "-fvisibility=hidden", "-pthread", "-c", "-I"]);
                    run(cc.arg(&include).arg("-I").arg(mock.join("src")).arg(source).arg("-o").arg(object(source)));
                }
            });
        }
    });
    sources.iter().map(|source| object(source)).collect()
}

/// A library without the functions `hidden`. Its own calls stay inside it, whatever else is loaded.
fn link(path: &Path, objects: &[PathBuf], hidden: &[&str]) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let script = path.with_extension("map");
    let hidden: String = hidden.iter().map(|name| format!("{name}; ")).collect();
    let local = if hidden.is_empty() { String::new() } else { format!("local: {hidden}") };
    fs::write(&script, format!("{{ global: mock_acl_*; acl*; Acl*; Hccl*; {local}}};\n")).unwrap();
    let script = format!("-Wl,--version-script={}", script.display());
    run(compiler().args(["-shared", "-pthread", "-Wl,-Bsymbolic", &script, "-o"]).arg(path).args(objects).arg("-lm"));
    path.to_owned()
}
