//! Plans of unusual shapes: how long building and planning of memory take, and the most memory while one is built.

use std::time::Instant;

use racl::op::{DataType::F32, aclnn};
use racl::plan::{After, Builder, Dim, Fork, Input, Plan, Scope, Value};
use racl::{Prefetch, Result};

use super::Figures;
use super::heap::growth;

/// What a plan is called, what records it, most seconds and most megabytes.
type Shape = (&'static str, fn(&Builder) -> Result<()>, f64, f64);

const ALL: [Shape; 15] = [
    ("2000 fills of 8 columns of 60000 rows", columns, 0.5, 10.0),
    ("2000 fills of 8 columns on two streams", columns_on_streams, 0.5, 10.0),
    ("2000 columns of 60000 rows on two streams", different_columns, 1.0, 10.0),
    ("4000 columns of 64 rows on two streams", short_columns, 0.5, 20.0),
    ("4000 columns of a symbol's rows on two streams", symbolic_columns, 1.0, 20.0),
    ("4000 slices of a symbol's rows on two streams", symbolic_slices, 1.0, 20.0),
    ("16384 tiles on two streams", tiles, 1.0, 20.0),
    ("50000 fills of half a value, each further on", windows, 1.0, 50.0),
    ("50000 fills of half of each half on two streams", windows_on_streams, 1.0, 100.0),
    ("wait_value in a chain over 4000 tags", chained_waits, 1.0, 50.0),
    ("10000 tags", tags, 1.0, 50.0),
    ("30000 gates", gates, 1.0, 50.0),
    ("50000 prefetches of parts of a weight", prefetches, 1.0, 50.0),
    ("20000 rows on four streams, each waited for", rows, 1.0, 50.0),
    ("10000 scopes without work", scopes, 0.5, 10.0),
];

pub(crate) fn figures(figures: &mut Figures) -> Result<()> {
    println!("# plans of unusual shapes: time of building one, most bytes live at once meanwhile, in millions");
    for (name, record, seconds, megabytes) in ALL {
        if std::env::var("RACL_SHAPE").is_ok_and(|wanted| !name.contains(&wanted)) {
            continue;
        }
        let start = Instant::now();
        let (plan, heap) = growth(|| Plan::build(record));
        let time = start.elapsed().as_secs_f64();
        let plan = plan?;
        let start = Instant::now();
        // Those with symbols have one, which may be 8.
        plan.memory(if plan.is_dynamic() { &[8] } else { &[] })?;
        let planning = start.elapsed().as_secs_f64();
        figures.at_most(&format!("{name}, time"), time, "s", seconds);
        figures.at_most(&format!("{name}, planning of memory"), planning, "s", 1.0);
        figures.at_most(&format!("{name}, heap"), heap as f64 / 1e6, "MB", megabytes);
    }
    Ok(())
}

fn fill(g: &Builder, value: Value) -> Result<()> {
    g.fill(value, 1.0_f32)
}

fn at_start<T>(g: &Builder, tag: &str, work: impl FnOnce(&Builder) -> Result<T>) -> Result<T> {
    g.scope_with(tag, Scope::new().fork(Fork::AtStart), work)
}

fn columns(g: &Builder) -> Result<()> {
    let x = g.empty([60_000, 8], F32)?;
    for i in 0..2000 {
        let column = g.narrow(x, 1, i % 8..i % 8 + 1)?;
        fill(g, column)?;
    }
    g.output("x", x)
}

fn columns_on_streams(g: &Builder) -> Result<()> {
    let x = g.empty([60_000, 8], F32)?;
    for i in 0..2000 {
        let column = g.narrow(x, 1, i % 8..i % 8 + 1)?;
        at_start(g, ["1", "2"][i % 2], |g| fill(g, column))?;
    }
    g.output("x", x)
}

fn different_columns(g: &Builder) -> Result<()> {
    let x = g.empty([60_000, 2000], F32)?;
    for i in 0..2000 {
        let column = g.narrow(x, 1, i..i + 1)?;
        at_start(g, ["1", "2"][i % 2], |g| fill(g, column))?;
    }
    g.output("x", x)
}

fn columns_of(g: &Builder, rows: Dim) -> Result<()> {
    let x = g.empty([rows, Dim::from(4000)], F32)?;
    for i in 0..4000 {
        let column = g.narrow(x, 1, i..i + 1)?;
        at_start(g, ["1", "2"][i % 2], |g| fill(g, column))?;
    }
    g.output("x", x)
}

fn short_columns(g: &Builder) -> Result<()> {
    columns_of(g, Dim::from(64))
}

fn symbolic_columns(g: &Builder) -> Result<()> {
    let rows = g.symbol("rows", 1..=64)?;
    columns_of(g, rows)
}

fn symbolic_slices(g: &Builder) -> Result<()> {
    let rows = g.symbol("rows", 1..=8)?;
    let x = g.empty([rows * 4000, Dim::from(4)], F32)?;
    for i in 0..4000 {
        let slice = g.narrow(x, 0, rows * i..rows * (i + 1))?;
        at_start(g, ["1", "2"][i % 2], |g| fill(g, slice))?;
    }
    g.output("x", x)
}

fn tiles(g: &Builder) -> Result<()> {
    let x = g.empty([1024, 1024], F32)?;
    for i in 0..128 {
        let row = g.narrow(x, 0, 8 * i..8 * i + 8)?;
        for j in 0..128 {
            let tile = g.narrow(row, 1, 8 * j..8 * j + 8)?;
            at_start(g, ["1", "2"][(i + j) % 2], |g| fill(g, tile))?;
        }
    }
    g.output("x", x)
}

fn windows(g: &Builder) -> Result<()> {
    let x = g.empty([100_000], F32)?;
    for i in 0..=50_000 {
        let window = g.narrow(x, 0, i..i + 50_000)?;
        fill(g, window)?;
    }
    let y = g.scope("side", |g| g.tanh(x))?;
    g.output("y", y)
}

fn windows_on_streams(g: &Builder) -> Result<()> {
    let x = g.empty([100_000], F32)?;
    for i in 0..=25_000 {
        for (tag, half) in [("1", 0), ("2", 50_000)] {
            let window = g.narrow(x, 0, half + i..half + i + 25_000)?;
            at_start(g, tag, |g| fill(g, window))?;
        }
    }
    g.join("1")?;
    g.join("2")?;
    g.output("x", x)
}

/// Each value is produced on a stream of its own, by work that waits for all earlier ones.
fn chained_waits(g: &Builder) -> Result<()> {
    let mut x = g.input("x", [4], F32, Input::Copied)?;
    for i in 0..4000 {
        let y = at_start(g, &format!("tag {i}"), |g| g.adds(x, 1))?;
        x = g.wait_value(x, y)?;
    }
    let y = g.adds(x, 1)?;
    g.output("y", y)
}

fn tags(g: &Builder) -> Result<()> {
    let x = g.input("x", [4], F32, Input::Copied)?;
    let mut values = Vec::new();
    for i in 0..10_000 {
        values.push(g.scope(&format!("tag {i}"), |g| g.adds(x, 1))?);
    }
    g.wait_all(&values)?;
    let y = g.add(values[0], values[9999])?;
    g.output("y", y)
}

fn gates(g: &Builder) -> Result<()> {
    for i in 0..30_000 {
        let gate = g.external(&format!("gate {i}"))?;
        at_start(g, ["1", "2", "3"][i % 3], |g| g.record_external(gate))?;
        at_start(g, ["2", "3", "1"][i % 3], |g| g.wait_external(gate))?;
    }
    Ok(())
}

fn prefetches(g: &Builder) -> Result<()> {
    let x = g.input("x", [50_000], F32, Input::Copied)?;
    let y = g.tanh(x)?;
    for i in 0..50_000 {
        g.prefetch(x, Prefetch::bytes(4).offset(4 * i), After::Start)?;
    }
    g.output("y", y)
}

fn rows(g: &Builder) -> Result<()> {
    let x = g.empty([20_000, 16], F32)?;
    let mut last = g.input("last", [1, 16], F32, Input::Copied)?;
    for i in 0..20_000 {
        let row = g.narrow(x, 0, i..i + 1)?;
        let tag = ["1", "2", "3", "4"][i % 4];
        at_start(g, tag, |g| aclnn::muls(g, &last, 2.0_f32, &mut { row }))?;
        last = g.wait_value(row, row)?;
    }
    let y = g.tanh(last)?;
    g.output("y", y)
}

fn scopes(g: &Builder) -> Result<()> {
    let x = g.input("x", [4], F32, Input::Copied)?;
    for i in 0..10_000 {
        g.scope(&format!("tag {i}"), |_| Ok(()))?;
    }
    let y = g.tanh(x)?;
    g.output("y", y)
}
