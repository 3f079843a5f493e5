//! Loading the mock as a library, its first call in a new process, and what the call table adds to a call.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Times of a start are measured inside
//! new processes; calls through the table and calls that the linker bound alternate in one process. Ends with code 1
//! when a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use racl::sys::{Table, aclDataType};

/// New processes for each way to the library.
const STARTS: usize = 31;
const ROUNDS: usize = 301;
const CALLS: u32 = 10_000;

/// Set in the processes that measure a start: the path of a library, or nothing for the built-in mock.
const CHILD: &str = "RACL_BENCH_LIBRARY";

unsafe extern "C" {
    /// The built-in mock's function, bound by the linker.
    #[link_name = "racl_mock_aclDataTypeSize"]
    fn linked(kind: aclDataType) -> usize;
}

/// Finds the library, resolves a function and calls it; then resolves every other. Prints the nanoseconds of both.
fn start(library: &str) {
    let begin = Instant::now();
    // SAFETY: the library is the look-alike's own.
    let load = || unsafe { Table::load_from(library) };
    let table = if library.is_empty() { Table::mock() } else { load().expect("the library loads") };
    let function = table.aclDataTypeSize().expect("the mock has the function");
    // SAFETY: takes a number.
    let size = unsafe { function(aclDataType::ACL_FLOAT) };
    let first = begin.elapsed().as_nanos();
    assert_eq!(size, 4);
    let begin = Instant::now();
    let found = Table::names().filter(|(name, _)| table.has(name)).count();
    println!("{first}\t{}", begin.elapsed().as_nanos() / found.max(1) as u128);
}

/// Nanoseconds of the first call in new processes, sorted, and those of resolving another function, sorted.
fn starts(library: &Path) -> [Vec<f64>; 2] {
    let program = std::env::current_exe().expect("the path of this program");
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..STARTS {
        let output = Command::new(&program).env(CHILD, library).output().expect("this program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let line = String::from_utf8(output.stdout).expect("figures are text");
        for (times, field) in times.iter_mut().zip(line.trim().split('\t')) {
            times.push(field.parse().expect("a number"));
        }
    }
    times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
    times
}

/// The mock as a library, made anew when its sources changed.
fn library() -> PathBuf {
    let mock = Path::new(env!("CARGO_MANIFEST_DIR")).join("mock-acl");
    let made = Command::new("make").args(["-s", "-C"]).arg(&mock).output().expect("make runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    mock.join("build/lib64/libascendcl.so")
}

fn time(mut call: impl FnMut() -> usize) -> f64 {
    let begin = Instant::now();
    for _ in 0..CALLS {
        black_box(call());
    }
    begin.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

/// Median nanoseconds of a linked call, and of what the table adds to it.
fn calls() -> [f64; 2] {
    let table = Table::mock();
    let kind = aclDataType::ACL_FLOAT;
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        // SAFETY: takes a number.
        let plain = time(|| unsafe { linked(black_box(kind)) });
        let through = time(|| {
            let function = black_box(&table).aclDataTypeSize().expect("the mock has the function");
            // SAFETY: takes a number.
            unsafe { function(black_box(kind)) }
        });
        times[0].push(plain);
        times[1].push(through - plain);
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    })
}

fn main() -> ExitCode {
    if let Ok(library) = std::env::var(CHILD) {
        start(&library);
        return ExitCode::SUCCESS;
    }
    let mut missed = false;
    let mut at_most = |name: &str, value: f64, unit: &str, most: f64| {
        missed |= value > most;
        let met = if value <= most { "met" } else { "missed" };
        println!("{name}\t{value:.2}\t{unit}\tat most {most}\t{met}");
    };
    for (name, library) in [("loaded mock", library()), ("built-in mock", PathBuf::new())] {
        let [first, each] = starts(&library);
        at_most(&format!("{name}, first call of a process, median"), first[STARTS / 2] / 1e6, "ms", 1.0);
        at_most(&format!("{name}, first call of a process, best"), first[0] / 1e6, "ms", 1.0);
        println!("{name}, resolving one more function\t{:.1}\tns\tnone\tmet", each[STARTS / 2]);
    }
    let [plain, more] = calls();
    println!("linked call\t{plain:.2}\tns\tnone\tmet");
    at_most("call through the table over a linked call", more, "ns", 2.0);
    if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
