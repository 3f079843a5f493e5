//! Recording, checking and planning the memory of plans of three sizes.

use std::time::{Duration, Instant};

use racl::Result;
use racl::plan::{MemoryReport, Plan};

use super::Figures;
use super::heap::growth;
use super::workloads::{ALL, Names, Workload};

/// Operators asked for, and rounds.
const SIZES: [(usize, usize); 3] = [(1_000, 101), (10_000, 21), (100_000, 9)];

struct Made {
    operators: usize,
    report: MemoryReport,
    /// Recording, checking and planning.
    times: [Duration; 3],
}

fn make((_, record): Workload, operators: usize, names: &Names) -> Result<Made> {
    let start = Instant::now();
    let mut recorded = start;
    let plan = Plan::build(|g| {
        record(g, operators, names)?;
        recorded = Instant::now();
        Ok(())
    })?;
    let checked = Instant::now();
    let report = plan.memory(&[])?;
    let done = Instant::now();
    let times = [recorded - start, checked - recorded, done - checked];
    Ok(Made { operators: plan.operators(), report, times })
}

pub(crate) fn figures(figures: &mut Figures) -> Result<()> {
    println!("# plans: heap is the most bytes live at once while one is recorded, checked and planned,");
    println!("# as asked of the allocator, beyond those before; an operator is any work but records and waits");
    for workload in ALL {
        let mut totals = Vec::new();
        for (size, rounds) in SIZES {
            totals.push(one_size(figures, workload, size, rounds)?);
        }
        let (least, most) = totals.iter().fold((f64::MAX, 0.0_f64), |(a, b), one| (a.min(*one), b.max(*one)));
        let name = format!("{}, most / least time an operator", workload.0);
        figures.at_most(&name, most / least, "times", 2.0);
    }
    Ok(())
}

/// Gives the nanoseconds an operator.
fn one_size(figures: &mut Figures, workload: Workload, size: usize, rounds: usize) -> Result<f64> {
    let names = Names::new(size);
    let (made, heap) = growth(|| make(workload, size, &names));
    let Made { operators, report, mut times } = made?;
    for _ in 0..rounds {
        let again = make(workload, size, &names)?.times;
        times.iter_mut().zip(again).for_each(|(least, time)| *least = (*least).min(time));
    }
    let name = |what: &str| format!("{}, {size}, {what}", workload.0);
    let each = times.map(|time| time.as_nanos() as f64 / operators as f64);
    for (phase, time) in ["recording", "checking", "planning"].iter().zip(each) {
        figures.note(&name(phase), time, "ns an operator");
    }
    let total: f64 = each.iter().sum();
    figures.note(&name("total"), total, "ns an operator");
    if size == 100_000 {
        figures.at_most(&name("all of it"), total * operators as f64 / 1e6, "ms", 1000.0);
    }
    // Half of the slices are told a number of their own.
    let most = if workload.0 == "slices" { 180.0 } else { 400.0 };
    figures.at_most(&name("heap"), heap as f64 / operators as f64, "bytes an operator", most);
    let ratio = report.peak as f64 / report.lower_bound.max(1) as f64;
    match workload.0 {
        "decoder" => figures.at_most(&name("memory / lower bound"), ratio, "times", 1.15),
        _ => figures.note(&name("memory / lower bound"), ratio, "times"),
    }
    Ok(total)
}
