//! Instructions of safe calls beside those of the raw calls beneath them, counted by callgrind: the same on each run,
//! however busy the machine is.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Targets are the figures of
//! `instructions.tsv` and a thirtieth, for another compiler; `-- --write` writes that table. Needs valgrind.
#![allow(clippy::print_stdout, missing_docs)]

use std::env;
use std::hint::black_box;
use std::process::{Command, ExitCode};

use racl::{Acl, Result, mock};

#[path = "pairs/mod.rs"]
mod pairs;
use pairs::{CASES, Calls};

/// Which calls a process makes: the name of a case, and `raw` or `safe`.
const CASE: &str = "RACL_COUNTED_CASE";
const WAY: &str = "RACL_COUNTED_WAY";

const ROUNDS: u64 = 8;
/// Fewer than a stream's queue takes.
const CALLS: u64 = 256;

/// Name, instructions of the raw call, and what the safe one adds.
const TABLE: &str = include_str!("instructions.tsv");

/// Its instructions are counted, and those of what it calls.
#[inline(never)]
fn measured_calls(call: &mut Calls<'_>) -> Result<()> {
    for _ in 0..CALLS {
        black_box(call()?);
    }
    Ok(())
}

/// In the process that is counted.
fn make_calls(case: &str, safe: bool) -> Result<()> {
    let device = Acl::mock()?.device(0)?;
    // Nothing runs while calls are counted.
    mock::stand_still(true);
    let stream = device.stream()?;
    let (_, make) = CASES.iter().find(|(name, _)| *name == case).expect("a case of this file");
    make(&device, &stream, safe, &mut |mut call| {
        for _ in 0..16 {
            call()?;
        }
        for _ in 0..ROUNDS {
            stream.synchronize()?;
            measured_calls(&mut call)?;
        }
        stream.synchronize()
    })
}

/// Instructions a call; none without valgrind.
fn count(case: &str, way: &str) -> Option<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]);
    command.arg("--toggle-collect=*measured_calls*").arg(env::current_exe().ok()?);
    let out = command.env(CASE, case).env(WAY, way).output().ok()?;
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{case}, {way}: {text}");
    let line = text.lines().find_map(|line| line.split_once("Collected :"))?;
    let instructions: u64 = line.1.trim().parse().ok()?;
    Some(instructions / (ROUNDS * CALLS))
}

/// What the table says the safe call adds.
fn noted(case: &str) -> Option<u64> {
    let line = TABLE.lines().find_map(|line| line.strip_prefix(case)?.strip_prefix('\t'))?;
    line.split('\t').nth(1)?.parse().ok()
}

fn main() -> Result<ExitCode> {
    if let (Ok(case), Ok(way)) = (env::var(CASE), env::var(WAY)) {
        return make_calls(&case, way == "safe").map(|()| ExitCode::SUCCESS);
    }
    let mut missed = false;
    let mut table = String::from("# call\traw\tsafe over raw\n");
    for (case, _) in CASES {
        let (Some(raw), Some(safe)) = (count(case, "raw"), count(case, "safe")) else {
            println!("{case}\tnone\tinstructions\tvalgrind, to count them\tmissed");
            return Ok(ExitCode::FAILURE);
        };
        let over = safe.saturating_sub(raw);
        let most = noted(case).map(|noted| noted + noted / 30 + 2);
        let met = most.is_none_or(|most| over <= most);
        missed |= !met;
        let met = if met { "met" } else { "missed" };
        let target = most.map_or("none".to_owned(), |most| format!("at most {most}"));
        println!("{case}, raw\t{raw}\tinstructions\tnone\tmet");
        println!("{case}, safe over raw\t{over}\tinstructions\t{target}\t{met}");
        table += &format!("{case}\t{raw}\t{over}\n");
    }
    if env::args().any(|argument| argument == "--write") {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.tsv");
        std::fs::write(path, table).expect("the table can be written");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
