//! Control of the mock for tests: that of `racl::mock`, which ends a test that runs against another library.
//!
//! What only gives a test quiet does nothing there, and a stream is held by a host function.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

pub(crate) use racl::mock::*;
use racl::{Result, Stream};

use super::library::{is_mock, needs_mock};

macro_rules! only_of_the_mock {
    ($(fn $name:ident($($parameter:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {$(
        pub(crate) fn $name($($parameter: $kind),*) $(-> $result)? {
            needs_mock(concat!("it uses mock::", stringify!($name)));
            racl::mock::$name($($parameter),*)
        }
    )*};
}

only_of_the_mock! {
    fn run_until_idle() -> u64;
    fn waiting_for_room() -> u32;
    fn now() -> Duration;
    fn advance(by: Duration);
    fn calls(function: &str) -> u64;
    fn live_handles() -> LiveHandles;
    fn fail(function: &str, nth: u64, code: i32) -> Result<()>;
    fn fail_task(function: &str, nth: u64, code: i32) -> Result<()>;
    fn set_memory_errors(device: i32, errors: &[(usize, usize)]) -> Result<()>;
    fn prefetched() -> (u64, u64);
    fn launches() -> Vec<Launch>;
    fn races() -> Vec<Race>;
    fn logged_calls() -> Vec<Call>;
}

/// What holds up a stream of another library.
type Gate = Arc<(Mutex<bool>, Condvar)>;

/// Gates that are shut, with the address of the stream behind each.
static GATES: Mutex<Vec<(usize, Gate)>> = Mutex::new(Vec::new());

/// A test that failed opens no gate.
const LONGEST: Duration = Duration::from_secs(30);

/// Nothing behind it runs on the stream until [`release`]; elsewhere by a host function that waits.
#[track_caller]
pub(crate) fn hold(stream: &Stream) -> Result<()> {
    if is_mock() {
        return racl::mock::hold(stream);
    }
    if stream.is_capturing() {
        needs_mock("it holds a stream that captures");
    }
    if !GATES.lock().unwrap().is_empty() {
        // One thread may run the host functions of all streams.
        needs_mock("it holds two streams at a time");
    }
    let gate = Gate::default();
    GATES.lock().unwrap().push((stream.as_raw().addr(), Arc::clone(&gate)));
    stream.host_function(move || {
        let open = gate.0.lock().unwrap();
        drop(gate.1.wait_timeout_while(open, LONGEST, |open| !*open).unwrap());
    })
}

pub(crate) fn release(stream: &Stream) -> Result<()> {
    if is_mock() {
        return racl::mock::release(stream);
    }
    open(|address| address == stream.as_raw().addr());
    Ok(())
}

/// A test that ends early does not wait for what it held itself.
pub(super) fn release_all() {
    open(|_| true);
}

fn open(which: impl Fn(usize) -> bool) {
    for (_, gate) in GATES.lock().unwrap().extract_if(.., |(address, _)| which(*address)) {
        *gate.0.lock().unwrap() = true;
        gate.1.notify_all();
    }
}

/// The tests of a process that say so run one at a time, whatever the library is.
pub(crate) fn exclusive() -> MutexGuard<'static, ()> {
    racl::mock::exclusive()
}

pub(crate) fn reset() -> Result<()> {
    if is_mock() { racl::mock::reset() } else { Ok(()) }
}

pub(crate) fn clear_failures() {
    racl::mock::clear_failures();
}

macro_rules! switches_of_the_mock {
    ($(fn $name:ident(on: bool) -> bool;)*) => {$(
        pub(crate) fn $name(on: bool) -> bool {
            if on {
                needs_mock(concat!("it uses mock::", stringify!($name)));
            }
            racl::mock::$name(on)
        }
    )*};
}

switches_of_the_mock! {
    fn stand_still(on: bool) -> bool;
    fn older_host_functions(on: bool) -> bool;
    fn older_graphs(on: bool) -> bool;
}

pub(crate) fn log_launches(on: bool) {
    if on {
        needs_mock("it uses mock::log_launches");
    }
    racl::mock::log_launches(on);
}

pub(crate) fn log_calls(on: bool) {
    if on {
        needs_mock("it uses mock::log_calls");
    }
    racl::mock::log_calls(on);
}

pub(crate) fn check_races(mode: RaceCheck) -> RaceCheck {
    if mode != RaceCheck::Off {
        needs_mock("it uses mock::check_races");
    }
    racl::mock::check_races(mode)
}

macro_rules! limits_of_the_mock {
    ($(fn $name:ident($limit:ident: $kind:ty);)*) => {$(
        pub(crate) fn $name($limit: Option<$kind>) -> Result<()> {
            if $limit.is_some() {
                needs_mock(concat!("it uses mock::", stringify!($name)));
            }
            racl::mock::$name($limit)
        }
    )*};
}

limits_of_the_mock! {
    fn limit_streams(count: u32);
    fn limit_events(count: u32);
    fn set_l2_cache_bytes(bytes: u64);
}
