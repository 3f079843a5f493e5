//! Finding the library when the program runs, and the library that the program is linked with.

use core::ffi::c_void;
#[cfg(feature = "dlopen")]
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use libloading::os::unix::Library as Handle;

use crate::code_files::CodeFiles;
use crate::elf;
use crate::symbols::{Library, SymbolInfo};
use crate::table::{Source, Table};
use crate::toolkit::toolkit_places;

/// Why no library could be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// None of the places has a library that loads.
    #[error("tried {}", tried.join("; "))]
    NotFound {
        /// Each place with the loader's reason.
        tried: Vec<String>,
    },
    /// The file loads but is no AscendCL library, or one too old to start with.
    #[error("{path} is not a usable AscendCL library: it has no {symbol}")]
    NotAscendcl {
        /// What was loaded.
        path: String,
        /// The required function that it lacks.
        symbol: &'static str,
    },
}

/// Functions without which nothing works; every release has them.
const REQUIRED: [&str; 4] = ["aclInit", "aclrtSetDevice", "aclrtCreateStream", "aclrtMalloc"];

/// A function that only the mock has.
const MOCK: &str = "mock_acl_version";

/// Folders of libraries of installed toolkits, best first.
fn toolkit_folders() -> Vec<PathBuf> {
    toolkit_places().into_iter().map(|place| place.root.join("lib64")).collect()
}

/// The libraries of one installation; those of the operators are opened when an operator is first used.
struct Installation {
    /// Shown in messages.
    name: String,
    /// The name, with its file when it does not say it itself.
    place: String,
    /// Folder of the runtime when it was opened by a path; its siblings are looked for there first.
    folder: Option<PathBuf>,
    opened: Mutex<Opened>,
}

#[derive(Default)]
struct Opened {
    /// Opened libraries; never closed, because threads of the runtime may still run.
    handles: Vec<&'static Handle>,
    /// Families that were looked for already, with each of their files.
    looked: Vec<(Library, Vec<Looked>)>,
}

/// What became of one file name of a family.
struct Looked {
    soname: &'static str,
    /// What was opened.
    place: Option<String>,
    /// What is there and does not open, with the reason.
    refused: Vec<String>,
    /// Where there is nothing.
    absent: Vec<String>,
}

impl Looked {
    /// Opens the first of `paths` that opens.
    fn at(soname: &'static str, library: Library, paths: impl Iterator<Item = PathBuf>) -> (Self, Option<Handle>) {
        let (mut refused, mut nowhere) = (Vec::new(), Vec::new());
        for path in paths {
            // SAFETY: a library of an installation whose runtime is loaded, or one that the user's search leads to.
            match unsafe { open(&path) } {
                Ok(handle) => {
                    let mut symbols = SymbolInfo::all().filter(|symbol| symbol.library == library);
                    let address = symbols.find_map(|symbol| address_in(&handle, symbol.name));
                    let place = Some(place(path.display().to_string(), address));
                    return (Self { soname, place, refused, absent: nowhere }, Some(handle));
                }
                Err(why) => {
                    // Another name in these words is that of a library which this one needs.
                    let absent = format!("{}: cannot open shared object file: No such file", path.display());
                    let text = format!("{} does not open: {why}", path.display());
                    if why.starts_with(&absent) {
                        nowhere.push(path.display().to_string());
                    } else if !refused.contains(&text) {
                        refused.push(text);
                    }
                }
            }
        }
        (Self { soname, place: None, refused, absent: nowhere }, None)
    }
}

/// The name of a library, with the file that `address` in it is from when the name has no folder.
fn place(name: String, address: Option<*mut c_void>) -> String {
    if name.contains('/') {
        return name;
    }
    let file = address.and_then(|address| CodeFiles::read().ok()?.of(address.addr()).map(Path::to_owned));
    file.map_or_else(|| name.clone(), |file| format!("{name} at {}", file.display()))
}

impl Installation {
    fn new(name: String, folder: Option<PathBuf>, runtime: Handle) -> Self {
        let place = place(name.clone(), address_in(&runtime, REQUIRED[0]));
        let looked = vec![(Library::Runtime, Vec::new())];
        let opened = Opened { handles: vec![Box::leak(Box::new(runtime))], looked };
        Self { name, place, folder, opened: Mutex::new(opened) }
    }

    fn opened(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Opens what has not been looked for. The list is not locked meanwhile: what runs when a library is loaded may ask
    /// for functions.
    fn open_siblings(&self, library: Library) {
        if self.opened().looked.iter().any(|(known, _)| *known == library) {
            return;
        }
        let (mut files, mut handles) = (Vec::new(), Vec::new());
        for &soname in library.sonames() {
            let beside = self.folder.iter().map(|folder| folder.join(soname));
            let elsewhere = toolkit_folders().into_iter().map(|folder| folder.join(soname));
            let (file, handle) = Looked::at(soname, library, beside.chain([PathBuf::from(soname)]).chain(elsewhere));
            files.push(file);
            handles.extend(handle);
        }
        let mut opened = self.opened();
        // Somebody else may have been faster, whose handles keep the libraries that these name too.
        if opened.looked.iter().all(|(known, _)| *known != library) {
            opened.handles.extend(handles.drain(..).map(|handle| -> &'static Handle { Box::leak(Box::new(handle)) }));
            opened.looked.push((library, files));
        }
        drop(opened);
        drop(handles);
    }

    fn known(&self, symbol: &str) -> Option<*mut c_void> {
        self.opened().handles.iter().find_map(|handle| address_in(handle, symbol))
    }
}

impl Opened {
    fn files(&self, library: Library) -> &[Looked] {
        self.looked.iter().find(|(known, _)| *known == library).map_or(&[], |(_, files)| files)
    }
}

impl Source for Installation {
    fn address(&self, symbol: &'static str, library: Library) -> *mut c_void {
        let found = self.known(symbol).or_else(|| {
            self.open_siblings(library);
            self.known(symbol)
        });
        found.unwrap_or(core::ptr::null_mut())
    }

    fn describe(&self) -> String {
        self.name.clone()
    }

    fn searched(&self, library: Library) -> String {
        let opened = self.opened();
        let files = opened.files(library);
        let found = files.iter().filter_map(|file| file.place.as_deref());
        let places: Vec<_> = [self.place.as_str()].into_iter().chain(found).collect();
        let mut notes: Vec<_> = files.iter().flat_map(|file| file.refused.iter().map(String::as_str)).collect();
        // Operators are in one library or in one for each kind, so what else is absent says nothing.
        let absent: Vec<_> = match library {
            // A package of its own, which may be anywhere, or nowhere.
            Library::Collectives => files.iter().flat_map(|file| file.absent.iter().map(String::as_str)).collect(),
            _ => files.iter().map(|file| file.soname).collect(),
        };
        let absent = format!("not found: {}", absent.join(", "));
        if places.len() == 1 && notes.is_empty() && !files.is_empty() {
            notes.push(&absent);
        }
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        format!("{}{notes}", places.join(" or "))
    }

    fn not_opened(&self, library: Library) -> Vec<String> {
        self.opened().files(library).iter().flat_map(|file| file.refused.clone()).collect()
    }

    fn is_found(&self, library: Library) -> bool {
        self.opened().files(library).iter().any(|file| file.place.is_some())
    }

    fn simulates(&self) -> bool {
        self.opened().handles.iter().any(|handle| address_in(handle, MOCK).is_some())
    }
}

fn address_in(handle: &Handle, symbol: &str) -> Option<*mut c_void> {
    // SAFETY: the symbol is only looked up here; the caller of the table's method that hands it out upholds the
    // signature.
    let found = unsafe { handle.get::<*mut c_void>(symbol.as_bytes()) };
    found.ok().map(|symbol| symbol.into_raw().cast()).filter(|address: &*mut c_void| !address.is_null())
}

/// # Safety
///
/// The initialisers of the library and of what it needs are harmless.
unsafe fn open(path: &Path) -> Result<Handle, String> {
    if let Some(why) = elf::refusal(path) {
        return Err(why);
    }
    // SAFETY: opening runs the initialisers of the library, for which the caller answers.
    let handle = unsafe { Handle::open(Some(path), libc_flags()) };
    handle.map_err(|error| describe(&error))
}

/// RTLD_NOW | RTLD_GLOBAL: the operator libraries look for symbols of the runtime in the global scope.
const fn libc_flags() -> core::ffi::c_int {
    0x2 | libloading::os::unix::RTLD_GLOBAL
}

fn describe(error: &libloading::Error) -> String {
    match error {
        libloading::Error::DlOpen { source } | libloading::Error::DlSym { source } => source.to_string(),
        other => other.to_string(),
    }
}

fn checked(installation: Installation) -> Result<Table, LoadError> {
    let missing = REQUIRED.into_iter().find(|name| installation.address(name, Library::Runtime).is_null());
    match missing {
        Some(symbol) => Err(LoadError::NotAscendcl { path: installation.name, symbol }),
        // SAFETY: the library has the functions that make it AscendCL, whose names and signatures are a published
        // interface; its handles are leaked, so it stays loaded.
        None => Ok(unsafe { Table::from_source(Box::new(installation)) }),
    }
}

#[cfg(feature = "dlopen")]
impl Table {
    /// Loads the library of this machine: by name as the dynamic loader finds it, then from the toolkit folders
    /// (`ASCEND_TOOLKIT_HOME`, `ASCEND_HOME_PATH`, `~/Ascend`, `/usr/local/Ascend`).
    ///
    /// # Errors
    ///
    /// [`LoadError::NotFound`] names every place with its reason; [`LoadError::NotAscendcl`] when what loads lacks
    /// the basic functions.
    pub fn load() -> Result<Self, LoadError> {
        let names = Library::Runtime.sonames();
        let plain = names.iter().map(PathBuf::from);
        let folders = toolkit_folders();
        let full = folders.iter().flat_map(|folder| names.iter().map(move |name| folder.join(name)));
        let mut tried = Vec::new();
        for path in plain.chain(full) {
            // SAFETY: the file is found as the dynamic loader finds it, or in the folder of a toolkit: the user of the
            // program answers for both, as for every library that it needs.
            match unsafe { open(&path) } {
                Ok(handle) => {
                    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).map(Path::to_owned);
                    return checked(Installation::new(path.display().to_string(), folder, handle));
                }
                Err(why) => tried.push(format!("{} ({why})", path.display())),
            }
        }
        Err(LoadError::NotFound { tried })
    }

    /// Loads the library at `path`: a file, or a name that the dynamic loader searches. The operator libraries are
    /// looked for beside it first.
    ///
    /// # Errors
    ///
    /// [`LoadError::NotFound`] with the loader's reason, [`LoadError::NotAscendcl`] when the file is something else.
    ///
    /// # Safety
    ///
    /// Loading runs the initialisers of the file and of whatever it needs, before anything can be asked of it: they
    /// must be harmless, and functions with the names of AscendCL's must be AscendCL's.
    pub unsafe fn load_from(path: impl AsRef<OsStr>) -> Result<Self, LoadError> {
        let path = Path::new(path.as_ref());
        // SAFETY: the caller answers for the file.
        let handle = unsafe { open(path) }
            .map_err(|why| LoadError::NotFound { tried: vec![format!("{} ({why})", path.display())] })?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).map(Path::to_owned);
        checked(Installation::new(path.display().to_string(), folder, handle))
    }
}

#[cfg(feature = "link")]
impl Table {
    /// The library that the program is linked with.
    ///
    /// # Errors
    ///
    /// [`LoadError::NotAscendcl`] when that library lacks the basic functions.
    pub fn linked() -> Result<Self, LoadError> {
        // A use of one function keeps the linker from dropping the library as unneeded.
        let anchor: unsafe extern "C" fn(*const core::ffi::c_char) -> crate::aclError = crate::aclInit;
        std::hint::black_box(anchor);
        checked(Installation::new("the linked AscendCL library".to_owned(), None, Handle::this()))
    }
}
