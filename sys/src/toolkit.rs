//! Installed toolkits: where they are looked for, which one a file belongs to, and their versions.

use core::fmt;
use std::env;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::code_files::CodeFiles;
use crate::table::Table;
use crate::version;

/// A folder where a toolkit is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The environment variable that names it or a folder above it; `None` for the usual place of installations.
    pub variable: Option<&'static str>,
    /// The folder, which need not be there. Its `lib64` has the libraries.
    pub root: PathBuf,
}

/// Where toolkits are looked for, best first: the folders that `ASCEND_TOOLKIT_HOME` and `ASCEND_HOME_PATH` name, the
/// usual one in `HOME`, and the usual one of the machine. Looks at the environment only.
///
/// ```
/// let last = acl_sys::toolkit_places().pop().unwrap();
/// assert!(last.root.starts_with("/usr/local/Ascend") && last.variable.is_none());
/// ```
#[must_use]
pub fn toolkit_places() -> Vec<Place> {
    let named = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let usual = Path::new("Ascend/ascend-toolkit/latest");
    let roots = ["ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH"].map(|name| (name, named(name)));
    let home = ("HOME", named("HOME").map(|home| home.join(usual)));
    let variables = roots.into_iter().chain([home]);
    let known = variables.filter_map(|(name, root)| Some(Place { variable: Some(name), root: root? }));
    known.chain([Place { variable: None, root: Path::new("/usr/local").join(usual) }]).collect()
}

/// An installed toolkit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolkit {
    /// Its folder.
    pub root: PathBuf,
    /// The file that tells its version, when there is one.
    pub version_file: Option<PathBuf>,
    /// Its version, or why the file does not tell it. An empty text where there is no file.
    pub version: Result<String, String>,
}

/// Files that tell a version, best first, below the folder of a toolkit.
const VERSION_FILES: [&str; 4] =
    ["version.cfg", "version.info", "share/info/runtime/version.info", "runtime/version.info"];
/// Names that only the folder of a whole toolkit has (own choice, from the installations of CANN 8 and 9).
const MARKS: [&str; 4] = ["version.cfg", "set_env.sh", "opp", "share/info"];
/// A version file has some hundred bytes.
const MOST_BYTES: u64 = 1 << 16;

impl Toolkit {
    /// The toolkit in `root`, with what its version file says.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let file = VERSION_FILES.iter().map(|name| root.join(name)).find(|path| path.symlink_metadata().is_ok());
        let version = file.as_deref().map_or_else(|| Ok(String::new()), read_version);
        Self { root, version_file: file, version }
    }

    /// The toolkit that the library `file` belongs to: the nearest folder above it that looks like one. `None` when
    /// none does.
    #[must_use]
    pub fn of_file(file: &Path) -> Option<Self> {
        let marked = |folder: &&Path| MARKS.iter().any(|name| folder.join(name).exists());
        file.ancestors().skip(1).take_while(|folder| folder.parent().is_some()).find(marked).map(Self::at)
    }

    /// The version, where it is known.
    fn known(&self) -> Option<&str> {
        self.version.as_deref().ok().filter(|version| !version.is_empty())
    }
}

/// `folder (version)`
impl fmt::Display for Toolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.root.display(), self.known().unwrap_or("version unknown"))
    }
}

/// The version that `file` tells.
fn read_version(file: &Path) -> Result<String, String> {
    let about = fs::metadata(file).map_err(|error| error.to_string())?;
    // A pipe would wait for a writer.
    if !about.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    match version::in_text(&text) {
        None => Err("it names no version".to_owned()),
        Some(version) if version.len() > 64 || !version.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Err("what it names is no version".to_owned())
        }
        Some(version) => Ok(version.to_owned()),
    }
}

/// A runtime and operators of different toolkits in one process, from [`Table::mixed_toolkits`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixedToolkits {
    /// That of `aclInit`.
    pub runtime: Toolkit,
    /// That of the operators.
    pub operators: Toolkit,
}

impl fmt::Display for MixedToolkits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the runtime is that of {}, the operators are those of {}", self.runtime, self.operators)
    }
}

/// One function of each library of operators that is loaded for nearly every program.
const OF_OPERATORS: [&str; 2] = ["aclCreateTensor", "aclnnAddGetWorkspaceSize"];

impl Table {
    /// Whether the operators come from another toolkit than the runtime, as with a `LD_LIBRARY_PATH` of one
    /// installation and a library path of another: versions that were never tested together.
    ///
    /// Toolkits are told apart by folder; two folders that name the same version count as one. `None` also when a
    /// file lies in no folder that looks like a toolkit. Opens the libraries of the operators and looks at files: ask
    /// once.
    ///
    /// ```
    /// # #[cfg(feature = "mock")]
    /// assert_eq!(acl_sys::Table::mock().mixed_toolkits(), None);
    /// ```
    #[must_use]
    pub fn mixed_toolkits(&self) -> Option<MixedToolkits> {
        let addresses = OF_OPERATORS.map(|symbol| self.address_of(symbol));
        // Read when all of them are loaded.
        let files = CodeFiles::read().ok()?;
        let runtime = files.of(self.address_of("aclInit")?)?;
        let others: Vec<_> = addresses.into_iter().filter_map(|address| files.of(address?)).collect();
        if others.iter().all(|file| *file == runtime) {
            return None;
        }
        let runtime = Toolkit::of_file(runtime)?;
        let mut others = others.into_iter().filter_map(Toolkit::of_file);
        let operators = others.find(|toolkit| {
            toolkit.root != runtime.root && (toolkit.known().is_none() || toolkit.known() != runtime.known())
        })?;
        Some(MixedToolkits { runtime, operators })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path = env::temp_dir().join(format!("acl-sys-toolkit-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn a_version_file_that_cannot_be_used_says_why() {
        let root = folder("broken");
        assert_eq!(Toolkit::at(&root).version, Ok(String::new()));
        let file = root.join("version.cfg");
        for (bytes, want) in [
            (&b"Version=8.2.RC1\n"[..], Ok("8.2.RC1")),
            (b"# x\r\ntoolkit_running_version=[9.0.0:x]\r\n", Ok("9.0.0")),
            (b"", Err("it names no version")),
            (b"\xff\xfe\0\0", Err("it names no version")),
            (b"Version=\n", Err("it names no version")),
            (b"Version=\x1b[31mred\n", Err("what it names is no version")),
            (b"Version=8.\xff\n", Err("what it names is no version")),
        ] {
            fs::write(&file, bytes).unwrap();
            let toolkit = Toolkit::at(&root);
            assert_eq!(toolkit.version.as_deref().map_err(String::as_str), want, "{bytes:?}");
            assert_eq!(toolkit.version_file.as_ref(), Some(&file));
        }
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        assert_eq!(Toolkit::at(&root).version, Err("it is no regular file".to_owned()));
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_file_belongs_to_the_nearest_folder_that_looks_like_a_toolkit() {
        let root = folder("marks");
        let lib = root.join("runtime/lib64");
        fs::create_dir_all(&lib).unwrap();
        assert_eq!(Toolkit::of_file(&lib.join("libascendcl.so")), None);
        // A component alone has a version, and is no toolkit.
        fs::write(root.join("runtime/version.info"), "Version=7.7.0\n").unwrap();
        assert_eq!(Toolkit::of_file(&lib.join("libascendcl.so")), None);
        fs::create_dir(root.join("opp")).unwrap();
        let found = Toolkit::of_file(&lib.join("libascendcl.so")).unwrap();
        assert_eq!((found.root.as_path(), found.version.as_deref()), (root.as_path(), Ok("7.7.0")));
        assert_eq!(found.version_file, Some(root.join("runtime/version.info")));
        fs::remove_dir_all(&root).unwrap();
    }
}
