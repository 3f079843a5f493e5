//! The initialisation value: which library, and its life time.

#[cfg(feature = "dlopen")]
use std::ffi::OsString;
use std::ffi::{CStr, OsStr};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use acl_sys::{MixedToolkits, Table, aclCANNPackageName, aclCANNPackageVersion};

use crate::call::{Caller, call, check_not_forked, check_not_locked, pointer, set_verify_context, watch_forks};
use crate::error::{Error, ErrorKind, Refused, Result, ResultExt as _};
use crate::lock::{Lock, Signal, say};
use crate::retire;

mod ending;
mod hear;
pub(crate) mod kept;
mod options;
mod watch;

use ending::{Ending, finalize, initialize};
pub(crate) use options::ConfigFile;
pub use options::{
    CacheMode, CoreMetrics, DumpLevel, DumpOptions, DumpStatistic, DumpTensors, ErrorScope, EventMode, FaultDetail,
    HostData, InitDump, InitOptions, InitProfiler, KernelOutput, TaskTimes,
};
pub use watch::{AbortStage, DeviceState, StreamState, Watch};

/// AscendCL, initialised. The first value initialises the library of its process; [`Acl::close`] ends it.
///
/// Clones are cheap and share one initialisation; every object of this crate keeps it alive. When the last value is
/// dropped the library stays initialised for the next one, unless [`set_end_on_drop`](crate::set_end_on_drop) says
/// otherwise. When another part of the process initialised the library before (code 100002), this value uses it and
/// leaves its end to that part.
///
/// The library is chosen by the constructor: [`Acl::init`] takes the one of this machine, or the one that the
/// environment variable `RACL_LIBRARY` names: a path, `system` (search as if it were not set) or `mock` (the built-in
/// mock, with the feature `mock`). The mock is never chosen by itself.
///
/// C calls: `aclInit`, `aclFinalize`, `aclFinalizeReference`. [`Acl::close`] tells how the end went.
///
/// # Examples
///
/// ```
/// let acl = racl::Acl::mock()?;
/// assert_eq!(acl.device_count()?, 1);
/// println!("running on {acl}");
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Clone)]
pub struct Acl(Arc<AclInner>);

struct AclInner {
    table: Arc<Table>,
    /// Looked at when the first operator is used.
    mixed: OnceLock<Option<MixedToolkits>>,
}

/// The library behind an initialisation.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Choice {
    #[cfg(feature = "dlopen")]
    System,
    #[cfg(feature = "dlopen")]
    Path(OsString),
    #[cfg(feature = "link")]
    Linked,
    #[cfg(feature = "mock")]
    Mock,
}

struct Live {
    choice: Choice,
    /// Kept for the process: a library is never unloaded, and loading it twice is work for nothing.
    table: Option<Arc<Table>>,
    inner: Weak<AclInner>,
    /// How to end the present initialisation, if there is one.
    ending: Option<Ending>,
    /// The configuration that it was begun with.
    config: Option<String>,
    /// Some thread begins or ends it.
    busy: bool,
}

impl Live {
    fn new(choice: Choice) -> Self {
        Self { choice, table: None, inner: Weak::new(), ending: None, config: None, busy: false }
    }
}

static LIVE: Lock<Vec<Live>> = Lock::new(Vec::new());
/// Told when an entry is no longer busy.
static CHANGED: Signal = Signal::new();

static ENDS_ON_DROP: AtomicBool = AtomicBool::new(false);

/// Whether the last [`Device`](crate::Device) that is dropped resets its device, and the last [`Acl`] ends its library.
/// Any thread may call it; it counts for the whole process.
///
/// Off at first: a reset takes long and loses the caches of the runtime, and an end of the library in a destructor
/// comes when the program does not expect it, at the end of the process even in an order that the runtime does not bear
/// (guide: `aclFinalize` is not to be called from static destructors). Devices stay open for the next who asks;
/// [`Device::close`](crate::Device::close) and [`Acl::close`] end them, and tell how that went.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
///
/// let acl = racl::Acl::mock()?;
/// drop(acl.device(0)?);
/// assert_eq!(mock::calls("aclrtResetDevice"), 0);
/// racl::set_end_on_drop(true);
/// drop(acl.device(0)?); // the same one
/// assert_eq!((mock::calls("aclrtSetDevice"), mock::calls("aclrtResetDevice")), (1, 1));
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclrtResetDevice")]
#[doc(alias = "aclFinalize")]
pub fn set_end_on_drop(on: bool) {
    ENDS_ON_DROP.store(on, Ordering::Relaxed);
}

pub(crate) fn ends_on_drop() -> bool {
    ENDS_ON_DROP.load(Ordering::Relaxed)
}

/// Environment variable that chooses the library.
const LIBRARY: &str = "RACL_LIBRARY";
const VERIFY: &str = "RACL_VERIFY_CONTEXT";

impl Acl {
    /// Initialises the library of this machine, or the one that `RACL_LIBRARY` names.
    ///
    /// Without the variable: the library that the program is linked with (feature `link`), else the one that is found
    /// at run time (feature `dlopen`).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::LibraryNotFound`] naming every place searched; [`ErrorKind::NotSupported`] when the way that is
    /// asked for is not compiled in, and in a fork of a process that has initialised a library;
    /// [`ErrorKind::Internal`] on a machine without a driver.
    #[doc(alias = "aclInit")]
    pub fn init() -> Result<Self> {
        Self::named(std::env::var_os(LIBRARY).as_deref())
    }

    /// Initialises the library at `path`: a file, or a name that the dynamic loader searches.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::LibraryNotFound`] with the reason, such as a file for another machine or no AscendCL at all.
    ///
    /// # Safety
    ///
    /// Loading runs the initialisers of the file and of whatever it needs, before anything can be asked of it: they
    /// must be harmless, and functions with the names of AscendCL's must be AscendCL's. [`Acl::init`] takes what
    /// the user of the program has set up instead, as the dynamic loader does.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// // SAFETY: the file is the vendor's.
    /// let acl = unsafe { racl::Acl::init_from("/usr/local/Ascend/latest/lib64/libascendcl.so") }?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[cfg(feature = "dlopen")]
    pub unsafe fn init_from(path: impl Into<OsString>) -> Result<Self> {
        Self::start(Choice::Path(path.into()))
    }

    /// Initialises the built-in mock.
    ///
    /// # Errors
    ///
    /// Only when the mock is told to fail, see [`mock`](crate::mock): the kind of the code that it was told.
    #[cfg(feature = "mock")]
    pub fn mock() -> Result<Self> {
        Self::start(Choice::Mock)
    }

    /// For examples, tests and programs that shall run everywhere: the library that `RACL_LIBRARY` names, or the
    /// built-in mock when the variable is not set. The value says which ([`Acl::library`]).
    ///
    /// # Errors
    ///
    /// As [`Acl::init`].
    #[cfg(feature = "mock")]
    pub fn init_or_mock() -> Result<Self> {
        let value = std::env::var_os(LIBRARY).filter(|value| !value.is_empty());
        Self::named(Some(value.as_deref().unwrap_or("mock".as_ref())))
    }

    /// The library that `RACL_LIBRARY` names.
    fn named(variable: Option<&OsStr>) -> Result<Self> {
        take_named(variable, Self::start)
    }

    /// Finds and loads the library that [`Acl::init`] would take, and leaves it uninitialised: for programs that look
    /// into an installation.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::LibraryNotFound`] and [`ErrorKind::NotSupported`] as [`Acl::init`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// let table = racl::Acl::load()?;
    /// println!("{} has prefetches: {}", table.describe(), table.has("aclrtCmoAsync"));
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn load() -> Result<Table> {
        take_named(std::env::var_os(LIBRARY).as_deref(), |choice| open(&choice))
    }

    // Without a way to any library there is no choice to begin with.
    #[cfg_attr(not(any(feature = "dlopen", feature = "link", feature = "mock")), allow(unreachable_code))]
    fn start(choice: Choice) -> Result<Self> {
        Self::start_with(choice, None)
    }

    // As above.
    #[cfg_attr(not(any(feature = "dlopen", feature = "link", feature = "mock")), allow(unreachable_code))]
    fn start_with(choice: Choice, options: Option<&InitOptions>) -> Result<Self> {
        check_not_forked()?;
        let config = options.map(InitOptions::checked).transpose()?;
        let mut live = LIVE.lock();
        let place = match live.iter().position(|entry| entry.choice == choice) {
            Some(place) => place,
            None => {
                live.push(Live::new(choice));
                live.len() - 1
            }
        };
        live = CHANGED.wait_while(live, |live| live[place].busy);
        let entry = &mut live[place];
        if config.is_some() && entry.ending.is_some() && entry.config != config {
            return Err(options::too_late("this crate, otherwise"));
        }
        if let Some(inner) = entry.inner.upgrade() {
            return Ok(Self(inner));
        }
        if entry.ending.is_none() {
            // Others wait, but not for the lock: initialising takes long, and runs code of the library.
            entry.busy = true;
            let (choice, known) = (entry.choice.clone(), entry.table.clone());
            drop(live);
            let (table, begun) = begin(&choice, known, config.as_deref());
            if begun.is_ok() {
                watch_forks();
            }
            let heard = begun.as_ref().map_or(Ok(()), |_| hear::begin(table.as_ref()));
            live = LIVE.lock();
            live[place].busy = false;
            live[place].table = table;
            live[place].ending = begun.as_ref().ok().copied();
            live[place].config = config;
            CHANGED.notify_all();
            begun?;
            // Written once the lock is free, and not before: a logger may ask for the library.
            if let Err(error) = heard {
                say!(Warn, "errors will not name the task that failed: {error:#}");
            }
            say!(Debug, "initialised {}", live[place].table.as_deref().map_or_else(String::new, Table::describe));
        }
        let entry = &mut live[place];
        let table = entry.table.clone().ok_or_else(|| Error::new(ErrorKind::Internal, "no library"))?;
        let inner = Arc::new(AclInner { table, mixed: OnceLock::new() });
        entry.inner = Arc::downgrade(&inner);
        Ok(Self(inner))
    }

    /// What the functions come from: the path of a library, or name and version of the built-in mock.
    #[must_use]
    pub fn library(&self) -> String {
        self.0.table.describe()
    }

    /// True when this is the mock that is compiled into the program.
    #[must_use]
    pub fn is_mock(&self) -> bool {
        self.0.table.is_mock()
    }

    /// The raw call table, for calls that this crate does not wrap.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.0.table
    }

    /// The same, for what may outlive the initialisation.
    pub(crate) fn shared_table(&self) -> Arc<Table> {
        Arc::clone(&self.0.table)
    }

    /// Number of devices that the process sees (`ASCEND_RT_VISIBLE_DEVICES`).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Driver`], [`ErrorKind::InvalidDevice`] or [`ErrorKind::Internal`] on a machine without a driver.
    #[doc(alias = "aclrtGetDeviceCount")]
    pub fn device_count(&self) -> Result<u32> {
        let mut count = 0;
        // SAFETY: `count` is a place for one number.
        unsafe { call!(self, aclrtGetDeviceCount(&raw mut count)) }?;
        Ok(count)
    }

    /// Name of the chip, such as `Ascend910B2`; device 0's when the devices differ.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OperatorArgument`] when the library gives no name.
    #[doc(alias = "aclrtGetSocName")]
    pub fn soc_name(&self) -> Result<String> {
        // SAFETY: takes nothing; gives null or a string that the library owns.
        let name = unsafe { pointer!(self, aclrtGetSocName()) }?;
        // SAFETY: a non-null result is a NUL-terminated string that is never freed.
        let name = unsafe { CStr::from_ptr(name) };
        Ok(name.to_string_lossy().into_owned())
    }

    /// Version of the runtime interface: major, minor, patch.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] on a library without the query.
    #[doc(alias = "aclrtGetVersion")]
    pub fn version(&self) -> Result<(i32, i32, i32)> {
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        // SAFETY: three places for one number each.
        unsafe { call!(self, aclrtGetVersion(&raw mut major, &raw mut minor, &raw mut patch)) }?;
        Ok((major, minor, patch))
    }

    /// Version of a part of the installation, such as
    /// [`ACL_PKG_NAME_DRIVER`](aclCANNPackageName::ACL_PKG_NAME_DRIVER), as its own files say it. Reads a file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::File`] when the part is not installed, or `ASCEND_HOME_PATH` does not lead to it;
    /// [`ErrorKind::MissingSymbol`] on a library without the query.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::sys::aclCANNPackageName;
    ///
    /// let acl = racl::Acl::mock()?;
    /// if let Ok(version) = acl.package_version(aclCANNPackageName::ACL_PKG_NAME_DRIVER) {
    ///     println!("driver {version}");
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclsysGetCANNVersion")]
    pub fn package_version(&self, package: aclCANNPackageName) -> Result<String> {
        let mut version = aclCANNPackageVersion {
            version: [0; 128],
            majorVersion: [0; 64],
            minorVersion: [0; 64],
            releaseVersion: [0; 64],
            patchVersion: [0; 64],
            reserved: [0; 128],
        };
        // SAFETY: `version` is a place for one answer.
        unsafe { call!(self, aclsysGetCANNVersion(package, &raw mut version)) }?;
        let bytes: Vec<u8> = version.version.iter().map(|byte| byte.to_ne_bytes()[0]).collect();
        let text = CStr::from_bytes_until_nul(&bytes).map(|text| text.to_string_lossy().into_owned());
        Ok(text.unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The toolkits of the runtime and of the operators, when they are not the same one. The log has a warning about
    /// it once, when this is asked or the first operator is used. The first call loads the operators' libraries and
    /// looks at files.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// assert!(acl.mixed_toolkits().is_none());
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn mixed_toolkits(&self) -> Option<&MixedToolkits> {
        if self.0.mixed.get().is_none() {
            // Not inside the initialisation of the cell: a logger may ask this.
            let mixed = self.0.table.mixed_toolkits();
            let text = mixed.as_ref().map(ToString::to_string);
            if self.0.mixed.set(mixed).is_ok()
                && let Some(text) = text
            {
                say!(Warn, "{text}; versions that were not made for each other may fail or give wrong numbers");
            }
        }
        self.0.mixed.get().and_then(Option::as_ref)
    }

    /// Ends the initialisation now, after resetting the devices that were kept open; the library's other users keep
    /// theirs. Blocks for that long, with no lock held.
    ///
    /// # Errors
    ///
    /// The value and [`ErrorKind::InvalidArgument`] while devices or clones use it; what the library says otherwise,
    /// such as [`ErrorKind::Internal`]; [`ErrorKind::Timeout`] when another thread that begins or ends the use of the
    /// library is not back within the [limit of drops](crate::set_drop_limit).
    #[doc(alias = "aclFinalize")]
    #[doc(alias = "aclFinalizeReference")]
    pub fn close(self) -> Result<(), Refused<Self>> {
        let others = Arc::strong_count(&self.0) - 1;
        if others > 0 {
            return Err(Refused::new(self, Error::invalid(format!("{others} other values use the initialisation"))));
        }
        self.0.end(1, kept::reset).map_err(|error| Refused::new(self, error))
    }
}

impl Caller for Acl {
    fn table(&self) -> &Table {
        &self.0.table
    }

    fn bind(&self) -> Result<()> {
        check_not_locked()
    }
}

impl fmt::Debug for Acl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acl").field("library", &self.library()).finish_non_exhaustive()
    }
}

impl fmt::Display for Acl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.library())
    }
}

/// What `take` makes of the library that `variable` names.
fn take_named<T>(variable: Option<&OsStr>, take: impl FnOnce(Choice) -> Result<T>) -> Result<T> {
    let choice = choice_of(variable)?;
    #[cfg(feature = "dlopen")]
    let by_path = matches!(choice, Choice::Path(_));
    #[cfg(not(feature = "dlopen"))]
    let by_path = false;
    take(choice).map_err(|error| match error.kind() {
        ErrorKind::LibraryNotFound if by_path => {
            error.context("RACL_LIBRARY takes the path of libascendcl.so, `system` or `mock`")
        }
        _ => error,
    })
}

fn choice_of(variable: Option<&OsStr>) -> Result<Choice> {
    #[cfg(not(any(feature = "dlopen", feature = "link", feature = "mock")))]
    return Err(Error::new(
        ErrorKind::NotSupported,
        format!(
            "RACL_LIBRARY={variable:?}: this program was built without a way to a library (dlopen, link or mock)"
        ),
    ));
    #[cfg(any(feature = "dlopen", feature = "link", feature = "mock"))]
    match variable.map_or(Some(""), OsStr::to_str) {
        #[cfg(feature = "link")]
        Some("") => Ok(Choice::Linked),
        #[cfg(all(feature = "dlopen", not(feature = "link")))]
        Some("") => Ok(Choice::System),
        #[cfg(feature = "dlopen")]
        Some("system") => Ok(Choice::System),
        #[cfg(all(feature = "link", not(feature = "dlopen")))]
        Some("system") => Ok(Choice::Linked),
        #[cfg(feature = "mock")]
        Some("mock") => Ok(Choice::Mock),
        #[cfg(not(feature = "mock"))]
        Some("mock") => Err(Error::new(
            ErrorKind::NotSupported,
            "RACL_LIBRARY=mock asks for the built-in mock, which this program was built without (feature `mock`)",
        )),
        #[cfg(feature = "dlopen")]
        _ => Ok(Choice::Path(variable.unwrap_or_default().to_owned())),
        #[cfg(not(feature = "dlopen"))]
        _ => Err(Error::new(
            ErrorKind::NotSupported,
            format!(
                "RACL_LIBRARY={:?}: this program was built without the feature `dlopen`",
                variable.unwrap_or_default()
            ),
        )),
    }
}

fn open(choice: &Choice) -> Result<Table> {
    match choice {
        #[cfg(feature = "dlopen")]
        Choice::System => Table::load().map_err(|error| {
            let advice = "set RACL_LIBRARY to the path of libascendcl.so, or ASCEND_TOOLKIT_HOME to the toolkit's \
                          folder, as its set_env.sh does";
            Error::new(
                ErrorKind::LibraryNotFound,
                format!("{}; {advice}", crate::text::printable(&error.to_string())),
            )
        }),
        #[cfg(feature = "dlopen")]
        // SAFETY: the caller of `init_from` answers for the file, or the user who set RACL_LIBRARY, as for a file that
        // LD_LIBRARY_PATH leads to.
        Choice::Path(path) => Ok(unsafe { Table::load_from(path) }?),
        #[cfg(feature = "link")]
        Choice::Linked => Ok(Table::linked()?),
        #[cfg(feature = "mock")]
        Choice::Mock => Ok(Table::mock()),
        #[cfg(not(any(feature = "dlopen", feature = "link", feature = "mock")))]
        _ => unreachable!("there is no choice to make"),
    }
}

impl Drop for AclInner {
    fn drop(&mut self) {
        if ends_on_drop()
            && let Err(error) = self.end(0, kept::reset)
        {
            say!(Error, "ending the library: {error:#}");
        }
    }
}

impl AclInner {
    /// Ends the initialisation, after `first`, unless more than `known` values use it: one that was made meanwhile goes
    /// on with it.
    fn end(&self, known: usize, first: impl FnOnce(&Table) -> Result<()>) -> Result<()> {
        let of_this = |entry: &Live| entry.table.as_ref().is_some_and(|table| Arc::ptr_eq(table, &self.table));
        let live = LIVE.lock();
        let Some(place) = live.iter().position(of_this) else { return Ok(()) };
        let mut live = CHANGED.wait_until(live, retire::deadline(), |live| live[place].busy);
        let entry = &mut live[place];
        if entry.busy {
            return Err(retire::not_back("initialises or ends the library"));
        }
        let Some(ending) = entry.ending.filter(|_| entry.inner.strong_count() <= known) else { return Ok(()) };
        // Others wait, but not for the lock.
        entry.busy = true;
        drop(live);
        let ended = first(&self.table).and_then(|()| finalize(&self.table, ending));
        let mut live = LIVE.lock();
        live[place].busy = false;
        if ended.is_ok() {
            (live[place].ending, live[place].inner) = (None, Weak::new());
        }
        CHANGED.notify_all();
        ended
    }
}

/// Loads the library, unless that was done before, and initialises it. Says nothing: others wait for this, a logger
/// maybe.
fn begin(choice: &Choice, known: Option<Arc<Table>>, config: Option<&str>) -> (Option<Arc<Table>>, Result<Ending>) {
    let table = match known.map_or_else(|| open(choice).map(Arc::new), Ok) {
        Ok(table) => table,
        Err(error) => return (None, Err(error)),
    };
    if std::env::var_os(VERIFY).is_some_and(|value| value == "1") {
        set_verify_context(true);
    }
    let begun = initialize(&table, config).context_with(|| format!("with {}", table.describe()));
    (Some(table), begun)
}

/// The mock was reset, so it is not initialised, whatever values from before are left, and has no device open. Gives the
/// addresses of its tables.
#[cfg(feature = "mock")]
pub(crate) fn forget_mock() -> Vec<usize> {
    let mut tables = Vec::new();
    for entry in LIVE.lock().iter_mut().filter(|entry| entry.choice == Choice::Mock) {
        (entry.ending, entry.inner) = (None, Weak::new());
        tables.extend(entry.table.as_deref().map(|table| std::ptr::from_ref(table).addr()));
    }
    kept::forget(&tables);
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(feature = "dlopen")]
    fn the_variable_chooses_the_library() {
        assert_eq!(choice_of(Some("system".as_ref())).unwrap(), Choice::System);
        assert_eq!(choice_of(Some("/x/libascendcl.so".as_ref())).unwrap(), Choice::Path("/x/libascendcl.so".into()));
    }

    #[test]
    #[cfg(all(feature = "dlopen", not(feature = "link")))]
    fn without_the_variable_the_mock_is_never_chosen() {
        assert_eq!(choice_of(None).unwrap(), Choice::System);
        assert_eq!(choice_of(Some("".as_ref())).unwrap(), Choice::System);
    }
}
