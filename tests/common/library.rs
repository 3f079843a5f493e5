//! The library that tests run against: the mock, or with `RACL_LIBRARY` the one that it names; `tools/run-test` sets
//! the variable below then, and counts what is skipped there.

use std::io::Write as _;
use std::sync::{LazyLock, Once};
use std::{env, fs};

use racl::{Acl, Device, Result};

/// Set for tests that are to use the library that `RACL_LIBRARY` names.
const ELSEWHERE: &str = "RACL_TEST_ELSEWHERE";

/// A file that is written with what the library is.
const FACTS: &str = "RACL_TEST_FACTS";

/// Set where the library takes the mock's files of models, as one does that has the mock behind it.
const MODELS: &str = "RACL_TEST_MODELS";

/// Set where nobody else uses the card.
const ALONE: &str = "RACL_TEST_CARD_IS_OURS";

/// Whether the test runs against the built-in mock.
pub(crate) fn is_mock() -> bool {
    static MOCK: LazyLock<bool> = LazyLock::new(|| {
        let (library, elsewhere) = (env::var("RACL_LIBRARY"), env::var_os(ELSEWHERE).is_some());
        // Cargo takes the runner from the folder that it is started in.
        let forgotten = !elsewhere && library.is_ok_and(|library| !matches!(&*library, "" | "mock"));
        assert!(
            !forgotten,
            "RACL_LIBRARY is set, and tools/run-test does not run the test: start cargo in the repository"
        );
        !elsewhere
    });
    *MOCK
}

/// Ends the test as one that is skipped, unless it runs against the built-in mock.
#[track_caller]
pub(crate) fn needs_mock(reason: &str) {
    if !is_mock() {
        skip(reason);
    }
}

/// Ends the test as one that is skipped, where the library does not take the mock's files of models.
#[track_caller]
pub(crate) fn needs_models_of_the_mock() {
    if !is_mock() && env::var_os(MODELS).is_none() {
        skip(&format!("its models are files of the mock; {MODELS}=1 runs it where the library takes those"));
    }
}

/// Ends the test as one that is skipped, where other programs may use the card: it changes what they see.
#[track_caller]
pub(crate) fn needs_the_card_alone(reason: &str) {
    if !is_mock() && env::var_os(ALONE).is_none() {
        skip(&format!("{reason}; {ALONE}=1 runs it"));
    }
}

/// Ends the test as one that is skipped, where the library is of a release without this function.
#[track_caller]
pub(crate) fn needs_function(name: &str) {
    assert!(racl::sys::symbol_info(name).is_some(), "{name} is no function of the interface");
    if !is_mock() && !acl().table().has(name) {
        skip(&format!("the library has no {name}"));
    }
}

#[track_caller]
fn skip(reason: &str) -> ! {
    super::mock::release_all();
    panic!("skipped here: {reason}");
}

/// The library, initialised.
pub(crate) fn acl() -> Acl {
    if is_mock() {
        return Acl::mock().expect("the mock initialises");
    }
    let acl = Acl::init().expect("the library initialises");
    static TOLD: Once = Once::new();
    TOLD.call_once(|| tell(&acl));
    acl
}

/// Writes for the report what the library is; the first program that runs does.
fn tell(acl: &Acl) {
    let Some(file) = env::var_os(FACTS) else { return };
    let Ok(mut file) = fs::File::create_new(file) else { return };
    let shown = |result: Result<String>| result.unwrap_or_else(|error| format!("not known: {error}"));
    let version = shown(acl.version().map(|(major, minor, patch)| format!("{major}.{minor}.{patch}")));
    let chip = shown(acl.soc_name());
    let devices = shown(acl.device_count().map(|count| count.to_string()));
    let lines = [("library", acl.to_string()), ("interface", version), ("chip", chip), ("devices", devices)];
    for (what, is) in lines {
        writeln!(file, "{what}\t{is}").expect("a line is written");
    }
}

/// A device by its number; the test is skipped where there are fewer.
pub(crate) fn device_at(number: i32) -> Device {
    let acl = acl();
    let count = acl.device_count().expect("the library counts its devices");
    if number.cast_unsigned() >= count {
        needs_mock(&format!("it needs {} devices, here are {count}", number + 1));
    }
    acl.device(number).expect("the library has the device")
}
