//! Accesses to memory that nothing orders, as the mock sees them.

use std::ffi::{CStr, c_char};
use std::fmt;

use acl_sys::mock as sys;

/// What the mock does about accesses that nothing orders; see [`check_races`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RaceCheck {
    /// It does not look.
    #[default]
    Off,
    /// Says each pair once on standard error, and keeps it for [`races`].
    Report,
    /// The same, and the later task of the pair fails as for a bad address, without having done anything.
    Fail,
}

impl RaceCheck {
    fn of(mode: i32) -> Self {
        match mode {
            sys::MOCK_ACL_RACES_REPORT => Self::Report,
            sys::MOCK_ACL_RACES_FAIL => Self::Fail,
            _ => Self::Off,
        }
    }

    fn raw(self) -> i32 {
        match self {
            Self::Off => sys::MOCK_ACL_RACES_OFF,
            Self::Report => sys::MOCK_ACL_RACES_REPORT,
            Self::Fail => sys::MOCK_ACL_RACES_FAIL,
        }
    }
}

/// One of the two accesses of a [`Race`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaceAccess {
    /// C name of the function that queued the task, or that the host called.
    pub function: String,
    /// Id of the stream, `None` for a call of the host.
    pub stream: Option<i32>,
    /// The how manieth task of its stream it is, or the how manieth of its graph, from 1 on; 0 for a call of the host.
    pub task: u64,
    /// Id of the graph whose replay ran it, `None` outside of one.
    pub graph: Option<u32>,
    /// Whether it writes.
    pub writes: bool,
}

/// Two accesses to the same bytes that nothing orders, one of which writes; given by [`races`]. Displayed it is what
/// the mock says on standard error: who does what, with which memory, and what would order the two.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Race {
    /// The one that the mock executed first.
    pub first: RaceAccess,
    /// The one that it executed later.
    pub second: RaceAccess,
    /// Address of the first byte that both touched, the first time; of a strided access the bytes in between count.
    pub address: usize,
    /// Bytes from there to the last that both touched.
    pub bytes: u64,
    /// Where these lie in their allocation, in bytes; `None` when it is gone.
    pub offset: Option<u64>,
    /// How often such a pair was met.
    pub times: u64,
    text: String,
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Lets the mock look for accesses to memory that nothing orders: of tasks on different streams, or of a task and a
/// call of the host. Gives what was set before. Off unless the environment variable `MOCK_ACL_RACES` says otherwise.
///
/// What is queued already is not looked at, and what was found before is forgotten, also when the same is set again. A
/// [`reset`](super::reset) forgets it as well and leaves the setting. Own kernels touch nothing that the mock knows of;
/// which accesses it sees, and what it takes for an order, stands in `docs/races.md` of mock-acl.
///
/// A program with [tracking](crate::Context::set_tracking) has nothing to find. Without it, this shows what is missing.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock::{self, RaceCheck};
///
/// mock::check_races(RaceCheck::Report);
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let context = device.context().create_context()?;
/// let (left, right) = (context.stream()?, context.stream()?);
/// let mut buffer = context.alloc::<u8>(1 << 10)?;
/// left.fill_bytes(&mut buffer, 1)?;
/// right.fill_bytes(&mut buffer, 2)?; // waits for the other stream
/// right.synchronize()?;
/// assert!(mock::races().is_empty());
///
/// context.set_tracking(false);
/// left.fill_bytes(&mut buffer, 1)?;
/// right.fill_bytes(&mut buffer, 2)?;
/// mock::run_until_idle(); // a control of the mock, which orders nothing
/// let races = mock::races();
/// assert_eq!((races.len(), races[0].bytes, races[0].offset), (1, 1 << 10, Some(0)));
/// assert!(races[0].to_string().contains("nothing orders them"));
/// assert_eq!(mock::check_races(RaceCheck::Off), RaceCheck::Report);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "mock_acl_check_races")]
pub fn check_races(mode: RaceCheck) -> RaceCheck {
    // SAFETY: takes a number.
    RaceCheck::of(unsafe { sys::mock_acl_check_races(mode.raw()) })
}

/// The pairs that were found since [`check_races`] or [`reset`](super::reset), in the order in which they were met,
/// each once however often; 4,096 at most.
///
/// # Examples
///
/// [`check_races`] shows it.
#[must_use]
#[doc(alias = "mock_acl_race_at")]
pub fn races() -> Vec<Race> {
    // SAFETY: takes nothing.
    let count = unsafe { sys::mock_acl_race_count() };
    (0..count).map_while(race).collect()
}

fn race(index: u64) -> Option<Race> {
    let mut raw = sys::mock_acl_race { struct_size: size_of::<sys::mock_acl_race>(), ..sys::mock_acl_race::EMPTY };
    // SAFETY: `raw` is such a structure with its size set.
    if unsafe { sys::mock_acl_race_at(index, &raw mut raw) } != 0 {
        return None;
    }
    let access = |function, stream: i32, task, graph, writes| RaceAccess {
        function: name(function),
        stream: (stream >= 0).then_some(stream),
        task,
        graph: (graph != 0).then_some(graph),
        writes: writes != 0,
    };
    Some(Race {
        first: access(raw.first, raw.first_stream, raw.first_task, raw.first_graph, raw.first_writes),
        second: access(raw.second, raw.second_stream, raw.second_task, raw.second_graph, raw.second_writes),
        address: raw.address.addr(),
        bytes: raw.bytes,
        offset: (!raw.block.is_null()).then_some(raw.offset),
        times: raw.times,
        text: text(index),
    })
}

fn name(function: *const c_char) -> String {
    if function.is_null() {
        return String::new();
    }
    // SAFETY: a NUL-terminated constant of the mock, which is part of the program.
    unsafe { CStr::from_ptr(function) }.to_string_lossy().into_owned()
}

fn text(index: u64) -> String {
    let mut bytes = [0_u8; 2048];
    // SAFETY: room for as many bytes as are told; the mock writes no more, and ends them with a zero.
    unsafe { sys::mock_acl_race_text(index, bytes.as_mut_ptr().cast(), bytes.len() as u64) };
    CStr::from_bytes_until_nul(&bytes).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}
