//! Instructions of safe calls beside those of the raw calls beneath them, of memory from the cache of a context, and of
//! recording, checking and planning large plans, counted by callgrind: the same on each run, however busy the machine is.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Targets are the figures of
//! `instructions.tsv` and a thirtieth, for another compiler; `-- --write` writes that table. Needs valgrind.
#![allow(clippy::print_stdout, missing_docs)]

use std::env;
use std::hint::black_box;
use std::process::{Command, ExitCode};

use racl::plan::Plan;
use racl::{Acl, DeviceBuffer, Result, mock};

#[path = "plans/lists.rs"]
mod lists;
#[path = "pairs/mod.rs"]
mod pairs;
#[path = "plans/workloads.rs"]
#[expect(dead_code, reason = "the bench of plans has a use for the rest")]
mod workloads;
use pairs::{CASES, Calls};
use workloads::{ALL, Names, Workload};

/// Which calls a process makes: the name of a case, and `raw` or `safe`, or those of memory or of a plan.
const CASE: &str = "RACL_COUNTED_CASE";
const WAY: &str = "RACL_COUNTED_WAY";

const ROUNDS: u64 = 8;
/// Fewer than a stream's queue takes.
const CALLS: u64 = 256;

/// How often a plan is made, and of how many operators.
const PLANS: u64 = 4;
const OPERATORS: usize = 1000;

/// How much memory is taken each time, and how often before it is given back.
const MEMORY: [(&str, usize, u64); 4] =
    [("64 B", 64, 500), ("4 KiB", 4 << 10, 500), ("1 MiB", 1 << 20, 100), ("64 MiB", 64 << 20, 20)];
/// Counted each by itself: what the program does with the memory, and how it is told.
const HALVES: [(&str, &str); 2] = [("alloc", "from the cache"), ("free", "back to it")];

/// What submissions do to keep the order between streams, which other figures have within.
const ORDER: &str = "order between streams, three buffers";

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

#[inline(never)]
fn measured_calls_of_memory(work: impl FnOnce() -> Result<()>) -> Result<()> {
    let done = work();
    // Otherwise this may end before what it calls.
    black_box(&done);
    done
}

/// In the process that is counted.
fn take_memory(bytes: usize, count: u64, counted: &str) -> Result<()> {
    let context = Acl::mock()?.device(0)?.context().create_context()?;
    let mut held: Vec<DeviceBuffer<u8>> = Vec::with_capacity(count as usize);
    let half = |way: &str, work: &mut dyn FnMut() -> Result<()>| {
        if way == counted { measured_calls_of_memory(work) } else { work() }
    };
    for _ in 0..=ROUNDS {
        // The first time fills the cache.
        let counts = context.memory_stats().reserved.now > 0;
        let way = |way| if counts { way } else { "" };
        half(way("alloc"), &mut || {
            (0..count).try_for_each(|_| context.alloc(black_box(bytes)).map(|one| held.push(one)))
        })?;
        half(way("free"), &mut || {
            held.clear();
            Ok(())
        })?;
    }
    Ok(())
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

/// In the process that is counted: what the order between streams costs a call that uses three buffers, which one stream
/// alone uses.
fn keep_order() -> Result<()> {
    let device = Acl::mock()?.device(0)?;
    mock::stand_still(true);
    let stream = device.stream()?;
    let buffers = [device.alloc::<u8>(64)?, device.alloc::<u8>(64)?, device.alloc::<u8>(64)?];
    stream.fill_bytes(&mut device.alloc::<u8>(64)?, 0)?;
    let mut call: Calls<'_> = Box::new(|| racl::order_alone(&stream, black_box(&buffers)));
    call()?;
    (0..ROUNDS).try_for_each(|_| measured_calls(&mut call))
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
    figures.add(ORDER, "of a call", (0, count(ORDER, "order", ROUNDS * CALLS)?));
    Some(())
}

/// None without valgrind.
fn count_memory(figures: &mut Figures) -> Option<()> {
    for (size, _, times) in MEMORY {
        for (way, half) in HALVES {
            let case = format!("memory, {size} {half}");
            let each = count(size, way, ROUNDS * times)?;
            figures.add(&case, "a block", (0, each));
        }
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
        if let Some((_, bytes, times)) = MEMORY.into_iter().find(|(size, ..)| *size == case) {
            take_memory(bytes, times, &way)?;
        } else if let Some(record) = ALL.into_iter().find(|(name, _)| *name == case && way == "plan") {
            make_plans(record)?;
        } else if way == "order" {
            keep_order()?;
        } else {
            make_calls(&case, way == "safe")?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut figures = Figures { table: String::from("# call\traw\tsafe over raw\n"), missed: false };
    let counted = count_calls(&mut figures).and_then(|()| count_memory(&mut figures));
    if counted.is_none() || count_plans(&mut figures)?.is_none() {
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
