//! Where the mock is built in.

use std::ffi::c_char;
use std::time::Duration;

use racl::mock::{self, RaceCheck};

use super::{
    RACL_MOCK_RACES_FAIL, RACL_MOCK_RACES_OFF, RACL_MOCK_RACES_REPORT, racl_mock_call, racl_mock_launch,
    racl_mock_live,
};
use crate::arguments::Sized_ as _;
use crate::errors::Entry;
use crate::failure::{Failure, Result};
use crate::handles::get;
use crate::objects::racl_stream;
use crate::status;

pub(super) fn hold(stream: *const racl_stream) -> Result<()> {
    Ok(mock::hold(&get(stream)?.value)?)
}

pub(super) fn release(stream: *const racl_stream) -> Result<()> {
    Ok(mock::release(&get(stream)?.value)?)
}

pub(super) fn release_all() -> Result<()> {
    mock::release_all();
    Ok(())
}

pub(super) fn stand_still(on: bool) -> Result<i32> {
    Ok(i32::from(mock::stand_still(on)))
}

pub(super) fn run_until_idle() -> Result<u64> {
    Ok(mock::run_until_idle())
}

pub(super) fn now() -> Result<u64> {
    Ok(u64::try_from(mock::now().as_nanos()).unwrap_or(u64::MAX))
}

pub(super) fn advance(nanoseconds: u64) -> Result<()> {
    mock::advance(Duration::from_nanos(nanoseconds));
    Ok(())
}

pub(super) fn calls(function: &str) -> Result<u64> {
    if racl::sys::symbol_info(function).is_none() {
        return Err(Failure::invalid(format!("{function:?} is no function of AscendCL")));
    }
    Ok(mock::calls(function))
}

pub(super) fn fail(function: &str, nth: u64, code: i32) -> Result<()> {
    Ok(mock::fail(function, nth, code)?)
}

pub(super) fn fail_task(function: &str, nth: u64, code: i32) -> Result<()> {
    Ok(mock::fail_task(function, nth, code)?)
}

pub(super) fn clear_failures() -> Result<()> {
    mock::clear_failures();
    Ok(())
}

pub(super) fn live() -> Result<racl_mock_live> {
    let all = mock::live_handles();
    Ok(racl_mock_live {
        size: 0,
        contexts: all.contexts,
        streams: all.streams,
        events: all.events,
        graphs: all.graphs,
        device_bytes: all.device_bytes,
        pinned_bytes: all.pinned_bytes,
        executors: all.executors,
    })
}

pub(super) fn prefetched() -> Result<(u64, u64)> {
    Ok(mock::prefetched())
}

pub(super) fn reset() -> Result<()> {
    Ok(mock::reset()?)
}

pub(super) fn limit_streams(count: u32) -> Result<()> {
    Ok(mock::limit_streams((count != 0).then_some(count))?)
}

pub(super) fn limit_events(count: u32) -> Result<()> {
    Ok(mock::limit_events((count != 0).then_some(count))?)
}

pub(super) fn set_l2_cache(bytes: u64) -> Result<()> {
    Ok(mock::set_l2_cache_bytes((bytes != 0).then_some(bytes))?)
}

pub(super) fn check_races(mode: i32) -> Result<i32> {
    let mode = match mode {
        RACL_MOCK_RACES_OFF => RaceCheck::Off,
        RACL_MOCK_RACES_REPORT => RaceCheck::Report,
        RACL_MOCK_RACES_FAIL => RaceCheck::Fail,
        other => return Err(Failure::invalid(format!("{other} for a check of races"))),
    };
    Ok(match mock::check_races(mode) {
        RaceCheck::Report => RACL_MOCK_RACES_REPORT,
        RaceCheck::Fail => RACL_MOCK_RACES_FAIL,
        _ => RACL_MOCK_RACES_OFF,
    })
}

pub(super) fn races() -> Result<Vec<Entry>> {
    let entry = |race: mock::Race| Entry::from(Failure::own(status::RACL_OK, race.to_string()));
    Ok(mock::races().into_iter().map(entry).collect())
}

pub(super) fn log_launches(on: bool) -> Result<()> {
    mock::log_launches(on);
    Ok(())
}

pub(super) fn launch_count() -> Result<u64> {
    Ok(mock::launch_count())
}

pub(super) fn log_calls(on: bool) -> Result<()> {
    mock::log_calls(on);
    Ok(())
}

pub(super) fn call_count() -> Result<u64> {
    Ok(mock::call_count())
}

pub(super) fn call(index: u64) -> Result<racl_mock_call> {
    let beyond = || Failure::invalid(format!("call {index} of {}", mock::call_count()));
    let call = mock::call_at(index).ok_or_else(beyond)?;
    let mut all = racl_mock_call::ZERO;
    all.function = constant(call.function);
    all.thread = call.thread;
    all.injected = call.injected.unwrap_or(0);
    for (to, given) in all.given.iter_mut().zip(&call.given) {
        *to = std::ptr::without_provenance(*given);
        all.given_count += 1;
    }
    all.gave = std::ptr::without_provenance(call.gave.unwrap_or(0));
    Ok(all)
}

/// A constant of the mock, which has a zero at its end.
fn constant(name: &'static str) -> *const c_char {
    if name.is_empty() { c"".as_ptr() } else { name.as_ptr().cast() }
}

pub(super) fn launch(index: u64) -> Result<racl_mock_launch> {
    let beyond = || Failure::invalid(format!("launch {index} of {}", mock::launch_count()));
    let launch = mock::launch_at(index).ok_or_else(beyond)?;
    Ok(racl_mock_launch {
        size: 0,
        function: constant(launch.function),
        cube_cores: launch.cube_cores,
        vector_cores: launch.vector_cores,
        graph: launch.graph.unwrap_or(0),
        stream: launch.stream,
    })
}
