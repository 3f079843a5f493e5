//! What is known about each function: its library, and the releases whose headers declare it.

use core::fmt;

/// The library that a function belongs to on a CANN installation.
///
/// `libascendcl.so` of a full installation exports most of them, so it is asked first; the library of the family is
/// opened when it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Library {
    /// `libascendcl.so`, or `libacl_rt.so` of newer installations: the runtime.
    Runtime,
    /// `libacl_mdl.so`: offline models.
    Model,
    /// `libacl_op_executor.so`: single operators by name.
    OperatorExecutor,
    /// `libacl_op_compiler.so`: compilation of single operators.
    OperatorCompiler,
    /// `libmsprofiler.so`: profiling.
    Profiler,
    /// `libacl_tdt_channel.so`: channels that carry tensors between host and device.
    Channel,
    /// `libacl_tdt_queue.so`: queues.
    Queue,
    /// `libascend_dump.so`: dumps of operators.
    Dump,
    /// `libacl_cblas.so`: matrix products.
    Blas,
    /// `libacl_retr.so`: feature retrieval.
    Retrieval,
    /// `libhccl.so`: collective communication between cards.
    Collectives,
    /// `libms_tools_ext.so`: marks and ranges for tools (mstx).
    Marks,
    /// `libnnopbase.so`: tensors, scalars and executors of operators.
    OperatorBase,
    /// `libopapi.so`, or one library a kind of operator in newer installations: the built-in operators.
    Operators,
}

impl Library {
    /// Every family, the runtime first.
    pub const ALL: [Self; 14] = [
        Self::Runtime,
        Self::Model,
        Self::OperatorExecutor,
        Self::OperatorCompiler,
        Self::Profiler,
        Self::Channel,
        Self::Queue,
        Self::Dump,
        Self::Blas,
        Self::Retrieval,
        Self::Collectives,
        Self::Marks,
        Self::OperatorBase,
        Self::Operators,
    ];

    /// The file names of the library, those of older installations first.
    #[must_use]
    pub const fn sonames(self) -> &'static [&'static str] {
        match self {
            Self::Runtime => &["libascendcl.so", "libacl_rt.so"],
            Self::Model => &["libacl_mdl.so"],
            Self::OperatorExecutor => &["libacl_op_executor.so"],
            Self::OperatorCompiler => &["libacl_op_compiler.so"],
            Self::Profiler => &["libmsprofiler.so"],
            Self::Channel => &["libacl_tdt_channel.so"],
            Self::Queue => &["libacl_tdt_queue.so"],
            Self::Dump => &["libascend_dump.so"],
            Self::Blas => &["libacl_cblas.so"],
            Self::Retrieval => &["libacl_retr.so"],
            Self::Collectives => &["libhccl.so"],
            Self::Marks => &["libms_tools_ext.so"],
            Self::OperatorBase => &["libnnopbase.so"],
            Self::Operators => &[
                "libopapi.so",
                "libopapi_math.so",
                "libopapi_nn.so",
                "libopapi_cv.so",
                "libopapi_transformer.so",
                "libopapi_legacy.so",
            ],
        }
    }
}

/// A release of CANN whose headers were read, oldest first.
///
/// | release | headers that were read |
/// |---|---|
/// | CANN 8.1 | those in the torch-npu wheel 2.4.0.post4; for operators those of 8.1.RC1 |
/// | CANN 8.2 | torch-npu 2.6.0 |
/// | CANN 8.3 | torch-npu 2.7.1 |
/// | CANN 9.0 | torch-npu 2.9.1 |
/// | newer than CANN 9.1 | torch-npu 2.14.0 |
/// | development | the open runtime and operator repositories, August 2026 |
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Release {
    /// CANN 8.1.
    Cann8_1,
    /// CANN 8.2.
    Cann8_2,
    /// CANN 8.3.
    Cann8_3,
    /// CANN 9.0.
    Cann9_0,
    /// The release that follows CANN 9.1.
    AfterCann9_1,
    /// The open repositories in August 2026.
    Development,
}

impl Release {
    /// Every release that was read, oldest first.
    pub const ALL: [Self; 6] =
        [Self::Cann8_1, Self::Cann8_2, Self::Cann8_3, Self::Cann9_0, Self::AfterCann9_1, Self::Development];

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cann8_1 => "CANN 8.1",
            Self::Cann8_2 => "CANN 8.2",
            Self::Cann8_3 => "CANN 8.3",
            Self::Cann9_0 => "CANN 9.0",
            Self::AfterCann9_1 => "the release after CANN 9.1",
            Self::Development => "the development head after CANN 9.1",
        })
    }
}

/// What the parameters of a function were before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignatureChange {
    /// The last release with the old parameters.
    pub until: Release,
    /// The old declaration, in C.
    pub declaration: &'static str,
}

/// A function of the interface.
///
/// The releases are those whose *headers* declare it. A library may have a function before its headers do, so this
/// explains a missing one and does not predict it; [`Table::has`](crate::Table::has) asks the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolInfo {
    /// C name.
    pub name: &'static str,
    /// The library that it belongs to.
    pub library: Library,
    /// A bit for each release, [`Release::Cann8_1`] the lowest.
    sets: u8,
}

impl SymbolInfo {
    /// Every function of the interface, sorted by name.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + DoubleEndedIterator + Clone {
        (0..COUNT).map(Self::at)
    }

    /// The one at this place of the list.
    pub(crate) fn at(index: usize) -> Self {
        let (library, sets) = KNOWN[index];
        Self { name: name(index), library, sets }
    }

    /// Whether the headers of `release` declare it. The operators were read in CANN 8.1 and at the development head
    /// only.
    #[must_use]
    pub const fn is_in(&self, release: Release) -> bool {
        self.sets & release.bit() != 0
    }

    /// The first release that declares it; `CANN 8.1` stands for everything up to there. `None` when that is not
    /// known.
    #[must_use]
    pub fn first(&self) -> Option<Release> {
        Release::ALL.into_iter().find(|release| self.is_in(*release))
    }

    /// The last release that declares it. `None` when it is still there, or when that is not known.
    #[must_use]
    pub fn last(&self) -> Option<Release> {
        // The open repositories hold less than a release, so a release newer than 9.1 is enough to be still there.
        let newest = Release::AfterCann9_1.bit() | Release::Development.bit();
        if self.sets & newest != 0 {
            return None;
        }
        Release::ALL.into_iter().rev().find(|release| self.is_in(*release))
    }

    /// The newest release before [`first`](Self::first) whose headers were read, when there is one.
    fn absent_in(&self) -> Option<Release> {
        let first = self.first()?;
        if self.library == Library::Operators {
            return (first > Release::Cann8_1).then_some(Release::Cann8_1);
        }
        Release::ALL.into_iter().rev().find(|release| *release < first)
    }

    /// The releases whose headers do not declare it though older and newer ones do. Not told for operators, which
    /// were read at both ends only, nor for the development head, which holds less.
    fn gaps(&self) -> Vec<Release> {
        let of_release = |release: &Release| self.library != Library::Operators && *release != Release::Development;
        let without = Release::ALL.into_iter().filter(of_release).filter(|release| !self.is_in(*release));
        let between = |release: &Release| {
            let is_around =
                |holds: &dyn Fn(Release) -> bool| Release::ALL.into_iter().any(|r| self.is_in(r) && holds(r));
            is_around(&|other| other < *release) && is_around(&|other| other > *release)
        };
        without.filter(between).collect()
    }

    /// How its parameters changed; the declaration of this crate is the newest.
    #[must_use]
    pub fn changes(&self) -> &'static [SignatureChange] {
        CHANGES.iter().find(|(name, _)| *name == self.name).map_or(&[], |(_, changes)| changes)
    }
}

/// What is known about the C function `name`; `None` for a name that is no function of the interface.
///
/// ```
/// use acl_sys::{Release, symbol_info};
///
/// let update = symbol_info("aclmdlRIUpdate").unwrap();
/// assert_eq!(update.first(), Some(Release::AfterCann9_1));
/// assert_eq!(update.last(), None);
/// assert!(symbol_info("aclNoSuchThing").is_none());
/// ```
#[must_use]
pub fn symbol_info(name: &str) -> Option<SymbolInfo> {
    slot(name).map(SymbolInfo::at)
}

/// A function of the interface as its number in this build, for lists of many functions: a [`Table`](crate::Table)
/// finds its address without a search, and without a method of the table for each in the program.
///
/// ```
/// use acl_sys::Entry;
///
/// const ADD: Entry = Entry::of("aclnnAdd");
/// assert_eq!(ADD.name(), "aclnnAdd");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry(u16);

impl Entry {
    /// The function of a C name, for constants.
    ///
    /// # Panics
    ///
    /// When the interface has no function of this name: a constant does not compile then.
    #[must_use]
    pub const fn of(name: &str) -> Self {
        let (mut low, mut high) = (0, COUNT);
        while low < high {
            let middle = usize::midpoint(low, high);
            if is_before(NAMES[middle], name) { low = middle + 1 } else { high = middle }
        }
        // The first that is not before it: the same where nothing of it is before that.
        assert!(low < COUNT && !is_before(name, NAMES[low]), "no function of the interface");
        Self(low as u16)
    }

    /// The function of a C name; none where the interface has no such function.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        slot(name).map(|index| Self(index as u16))
    }

    /// Its C name.
    #[must_use]
    pub fn name(self) -> &'static str {
        name(self.index())
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

const fn is_before(a: &str, b: &str) -> bool {
    let (a, b, mut at) = (a.as_bytes(), b.as_bytes(), 0);
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] < b[at];
        }
        at += 1;
    }
    a.len() < b.len()
}

pub(crate) const COUNT: usize = NAMES.len();

/// Where each name ends in [`TEXT`]. Texts of their own would be as many addresses, each of which a program that is
/// loaded has to fill in.
static ENDS: [u32; COUNT] = ends();

const fn ends() -> [u32; COUNT] {
    let (mut ends, mut end, mut at) = ([0; COUNT], 0, 0);
    while at < COUNT {
        end += NAMES[at].len() as u32;
        ends[at] = end;
        at += 1;
    }
    ends
}

/// The name at this place of the list.
fn name(index: usize) -> &'static str {
    let start = if index == 0 { 0 } else { ENDS[index - 1] };
    TEXT.get(start as usize..ENDS[index] as usize).unwrap_or_default()
}

/// The place of a name in the list, which is its [`Slot`].
pub(crate) fn slot(wanted: &str) -> Option<usize> {
    let (mut low, mut high) = (0, COUNT);
    while low < high {
        let middle = usize::midpoint(low, high);
        if name(middle) < wanted { low = middle + 1 } else { high = middle }
    }
    (low < COUNT && name(low) == wanted).then_some(low)
}

/// The second half of a message about a missing function; empty when the releases explain nothing.
pub(crate) fn history(name: &str) -> String {
    let Some(symbol) = symbol_info(name) else { return String::new() };
    if !symbol.gaps().is_empty() {
        return gaps_text(&symbol);
    }
    match (symbol.absent_in(), symbol.last()) {
        (_, Some(last)) => format!(": it is gone after {last}"),
        (Some(Release::AfterCann9_1), None) => ": it came after CANN 9.1".to_owned(),
        (Some(before), None) => format!(": it came after {before}"),
        (None, None) => String::new(),
    }
}

/// For a function that went and came back: which headers have it, and which do not.
fn gaps_text(symbol: &SymbolInfo) -> String {
    let listed = |wanted: bool| {
        // A function that the development head lacks is not gone, see `last`.
        let counts = |release: &Release| wanted || *release != Release::Development;
        let releases = Release::ALL.into_iter().filter(|release| symbol.is_in(*release) == wanted).filter(counts);
        let names: Vec<_> = releases.map(|release| release.to_string()).collect();
        match names.split_last() {
            Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
            _ => names.concat(),
        }
    };
    format!(": the headers of {} have it, those of {} do not", listed(true), listed(false))
}

/// The functions whose parameter types changed; other releases differ in names of parameters only. For that whose
/// pointer became one to what is only read, the call is the same.
const CHANGES: [(&str, &[SignatureChange]); 4] = [
    (
        "aclmdlRIDebugJsonPrint",
        &[SignatureChange {
            until: Release::Cann9_0,
            declaration: "aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path)",
        }],
    ),
    (
        "aclprofCreateConfig",
        &[SignatureChange {
            until: Release::Cann8_3,
            declaration: "aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums, \
                          aclprofAicoreMetrics aicoreMetrics, aclprofAicoreEvents *aicoreEvents, uint64_t \
                          dataTypeConfig)",
        }],
    ),
    (
        "aclrtGetMemUsageInfo",
        &[SignatureChange {
            until: Release::Cann9_0,
            declaration: "aclError aclrtGetMemUsageInfo(uint32_t deviceId, aclrtMemUsageInfo *memUsageInfo, size_t \
                          inputNum, size_t *outputNum)",
        }],
    ),
    (
        "aclrtUnuseStreamResInCurrentThread",
        &[SignatureChange {
            until: Release::Cann8_3,
            declaration: "aclError aclrtUnuseStreamResInCurrentThread(void)",
        }],
    ),
];

macro_rules! symbols {
    ($($library:ident $name:ident $sets:literal;)*) => {
        /// Sorted. For constants: what a program looks up is in [`TEXT`].
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// All of them, one behind the other.
        static TEXT: &str = concat!($(stringify!($name)),*);

        /// The library of each, and a bit for each release.
        static KNOWN: [(Library, u8); COUNT] = [$((Library::$library, $sets)),*];

        /// The places of the functions in the list.
        #[allow(non_camel_case_types, dead_code, clippy::upper_case_acronyms)]
        #[derive(Clone, Copy)]
        pub(crate) enum Slot { $($name),* }
    };
}

#[cfg(not(acl_sys_generated))]
include!("bindings/symbols.rs");
#[cfg(acl_sys_generated)]
include!(concat!(env!("OUT_DIR"), "/symbols.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_script_names_the_newest_release() {
        let newest = Release::ALL.last().unwrap();
        assert_eq!(crate::version::COMMITTED_HEADERS, newest.to_string());
    }

    #[test]
    fn the_table_is_sorted_and_knows_every_call() {
        assert!(NAMES.is_sorted_by(|a, b| a < b));
        assert!(SymbolInfo::all().map(|symbol| symbol.name).eq(NAMES.iter().copied()));
        for (name, library) in crate::Table::names() {
            assert_eq!(symbol_info(name).map(|symbol| symbol.library), Some(library), "{name}");
        }
        for (name, changes) in CHANGES {
            assert_eq!(symbol_info(name).unwrap().changes(), changes);
        }
    }

    #[test]
    fn an_entry_is_found_by_each_name() {
        for (index, name) in NAMES.iter().copied().enumerate() {
            assert_eq!((Entry::of(name).index(), Entry::of(name).name()), (index, name));
            assert_eq!(Entry::find(name), Some(Entry::of(name)));
        }
        for name in ["", "aclInitX", "aclIni", "zzz"] {
            assert_eq!(Entry::find(name), None, "{name}");
            assert!(std::panic::catch_unwind(|| Entry::of(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn a_missing_function_is_explained_by_its_releases() {
        for (symbol, text) in [
            ("aclmdlRIUpdate", "aclmdlRIUpdate is not in lib: it came after CANN 9.0"),
            ("aclInit", "aclInit is not in lib"),
            ("aclfvInit", "aclfvInit is not in lib: it is gone after CANN 9.0"),
            ("aclCreateTensor", "aclCreateTensor is not in lib"),
            ("aclopCompile", "aclopCompile is not in lib"),
            (
                "aclrtSetStreamResLimit",
                "aclrtSetStreamResLimit is not in lib: the headers of CANN 8.3, the release after CANN 9.1 and the \
                 development head after CANN 9.1 have it, those of CANN 8.1, CANN 8.2 and CANN 9.0 do not",
            ),
        ] {
            let missing = crate::MissingSymbol { symbol, searched: "lib".to_owned() };
            assert_eq!(missing.to_string(), text);
        }
    }

    /// The functions that the comparison with the real headers found to be declared otherwise.
    #[test]
    fn the_changes_are_those_that_the_real_headers_show() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../mock-acl/abi/changes.tsv");
        let text = std::fs::read_to_string(path).unwrap();
        let sets = ["2.4.0.post4", "2.6.0", "2.7.1", "2.9.1", "2.14.0"];
        let rows = text.lines().map(|line| line.split('\t').collect::<Vec<_>>()).filter(|row| row[1] == "function");
        let mut found: Vec<_> = rows
            .map(|row| {
                let newest = row[0].split(',').map(|set| sets.iter().position(|known| *known == set).unwrap()).max();
                let parameters = row[3].split_once('(').unwrap().1.trim_end_matches(')');
                (
                    row[2],
                    Release::ALL[newest.unwrap()],
                    parameters.split(", ").filter(|each| !each.is_empty()).count(),
                )
            })
            .collect();
        found.sort_unstable();
        let known = CHANGES.map(|(name, changes)| {
            let [change] = changes else { panic!("{name}: more than one change is not compared") };
            let (start, parameters) = change.declaration.trim_end_matches(')').split_once('(').unwrap();
            assert!(start.ends_with(name), "{start}");
            (name, change.until, parameters.split(", ").filter(|each| *each != "void").count())
        });
        assert_eq!(found, known);
    }

    #[test]
    fn releases_are_told_apart() {
        let unuse = symbol_info("aclrtUnuseStreamResInCurrentThread").unwrap();
        assert_eq!(unuse.first(), Some(Release::Cann8_3));
        assert!(!unuse.is_in(Release::Cann8_2) && unuse.is_in(Release::Development));
        assert_eq!(symbol_info("aclfvInit").unwrap().last(), Some(Release::Cann9_0));
        assert_eq!(symbol_info("aclCreateTensor").unwrap().first(), None);
        assert_eq!(symbol_info("aclopCompile").unwrap().library, Library::OperatorCompiler);
    }
}
