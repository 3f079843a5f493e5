//! Instructions of safe calls beside those of the raw calls beneath them, and of recording, checking and planning large
//! plans, counted by callgrind: the same on each run, however busy the machine is.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Targets are the figures of
//! `instructions.tsv` and a thirtieth, for another compiler; `-- --write` writes that table. Needs valgrind.
#![allow(clippy::print_stdout, missing_docs)]

use std::env;
use std::hint::black_box;
use std::process::{Command, ExitCode};

use racl::plan::Plan;
use racl::{Acl, Result, mock};

#[path = "plans/lists.rs"]
mod lists;
#[path = "pairs/mod.rs"]
mod pairs;
#[path = "plans/workloads.rs"]
#[expect(dead_code, reason = "the bench of plans has a use for the rest")]
mod workloads;
use pairs::{CASES, Calls};
use workloads::{ALL, Names, Workload};

/// Which calls a process makes: the name of a case, and `raw` or `safe`, or that of a plan.
const CASE: &str = "RACL_COUNTED_CASE";
const WAY: &str = "RACL_COUNTED_WAY";

const ROUNDS: u64 = 8;
/// Fewer than a stream's queue takes.
const CALLS: u64 = 256;

/// How often a plan is made, and of how many operators.
const PLANS: u64 = 4;
const OPERATORS: usize = 1000;

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

#[inline(never)]
fn measured_calls_of_plans(record: Workload, names: &Names) -> Result<usize> {
    let plan = Plan::build(|g| record.1(g, OPERATORS, names))?;
    black_box(plan.memory(&[])?);
    Ok(plan.operators())
}

/// In the process that is counted.
fn make_plans(record: Workload) -> Result<()> {
    let names = Names::new(OPERATORS);
    (0..PLANS).try_for_each(|_| measured_calls_of_plans(record, &names).map(drop))
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

/// Instructions a call, of so many; none without valgrind.
fn count(case: &str, way: &str, calls: u64) -> Option<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]);
    command.arg("--toggle-collect=*measured_calls*").arg(env::current_exe().ok()?);
    let out = command.env(CASE, case).env(WAY, way).output().ok()?;
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{case}, {way}: {text}");
    let line = text.lines().find_map(|line| line.split_once("Collected :"))?;
    let instructions: u64 = line.1.trim().parse().ok()?;
    Some(instructions / calls)
}

/// What the table says the safe call adds.
fn noted(case: &str) -> Option<u64> {
    let line = TABLE.lines().find_map(|line| line.strip_prefix(case)?.strip_prefix('\t'))?;
    line.split('\t').nth(1)?.parse().ok()
}

/// What was counted, and whether a target was missed.
struct Figures {
    table: String,
    missed: bool,
}

impl Figures {
    fn add(&mut self, case: &str, what: &str, (raw, own): (u64, u64)) {
        let most = noted(case).map(|noted| noted + noted / 30 + 2);
        let met = most.is_none_or(|most| own <= most);
        self.missed |= !met;
        let met = if met { "met" } else { "missed" };
        let target = most.map_or("none".to_owned(), |most| format!("at most {most}"));
        println!("{case}, {what}\t{own}\tinstructions\t{target}\t{met}");
        self.table += &format!("{case}\t{raw}\t{own}\n");
    }
}

/// None without valgrind.
fn count_calls(figures: &mut Figures) -> Option<()> {
    for (case, _) in CASES {
        let [raw, safe] = ["raw", "safe"].map(|way| count(case, way, ROUNDS * CALLS));
        let (raw, safe) = (raw?, safe?);
        println!("{case}, raw\t{raw}\tinstructions\tnone\tmet");
        figures.add(case, "safe over raw", (raw, safe.saturating_sub(raw)));
    }
    Some(())
}

fn count_plans(figures: &mut Figures) -> Result<Option<()>> {
    let names = Names::new(OPERATORS);
    for record in ALL {
        let operators = measured_calls_of_plans(record, &names)? as u64;
        let Some(each) = count(record.0, "plan", PLANS * operators) else { return Ok(None) };
        let case = format!("plan of {OPERATORS} operators, {}", record.0);
        figures.add(&case, "an operator", (0, each));
    }
    Ok(Some(()))
}

fn main() -> Result<ExitCode> {
    if let (Ok(case), Ok(way)) = (env::var(CASE), env::var(WAY)) {
        let done = match ALL.into_iter().find(|(name, _)| *name == case) {
            Some(record) if way == "plan" => make_plans(record),
            _ => make_calls(&case, way == "safe"),
        };
        return done.map(|()| ExitCode::SUCCESS);
    }
    let mut figures = Figures { table: String::from("# call\traw\tsafe over raw\n"), missed: false };
    if count_calls(&mut figures).is_none() || count_plans(&mut figures)?.is_none() {
        println!("instructions\tnone\tinstructions\tvalgrind, to count them\tmissed");
        return Ok(ExitCode::FAILURE);
    }
    if env::args().any(|argument| argument == "--write") {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.tsv");
        std::fs::write(path, figures.table).expect("the table can be written");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(if figures.missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
