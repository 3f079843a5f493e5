//! A body that is called 1,000 times, beside the same work written out.

use std::time::Instant;

use racl::Result;
use racl::plan::{Builder, Plan};

use super::Figures;
use super::workloads::{ROUNDS_OF_BODY, body, called, written_out};

const CALLS: usize = 1000;
const ROUNDS: usize = 21;
/// What a call may take, of its work written out.
const MOST: f64 = 1.0 / 50.0;

/// Seconds of the fastest round of building and checking; and the plan.
fn build(mut record: impl FnMut(&Builder) -> Result<()>, rounds: usize) -> Result<(Plan, f64)> {
    let mut least = f64::MAX;
    for _ in 1..rounds {
        let start = Instant::now();
        let plan = Plan::build(&mut record)?;
        least = least.min(start.elapsed().as_secs_f64());
        drop(plan);
    }
    Ok((Plan::build(&mut record)?, least))
}

pub(crate) fn figures(figures: &mut Figures) -> Result<()> {
    let inner = Plan::build(body)?;
    let (plan, with_calls) = build(|g| called(g, &inner, CALLS), ROUNDS)?;
    let (all, without) = build(|g| written_out(g, CALLS), ROUNDS / 2)?;
    assert_eq!(plan.operators(), all.operators());
    let name = |what: &str| format!("body of {} operators called {CALLS} times, {what}", 16 * ROUNDS_OF_BODY);
    figures.note(&name("building"), with_calls * 1e9 / CALLS as f64, "ns a call");
    figures.at_most(&name("building / written out"), with_calls / without, "times", MOST);
    let start = Instant::now();
    let memory = plan.memory(&[])?;
    figures.note(&name("writing out and planning"), start.elapsed().as_secs_f64() * 1e3, "ms");
    assert_eq!(memory, all.memory(&[])?);
    #[cfg(feature = "cache")]
    stored::figures(figures, &name, &inner)?;
    Ok(())
}

/// What they take on disk.
#[cfg(feature = "cache")]
mod stored {
    use racl::Acl;
    use racl::cache::{CompileCache, entries};

    use super::{Builder, CALLS, Figures, MOST, Plan, Result, called, written_out};

    fn bytes(record: impl Fn(&Builder) -> Result<()>) -> Result<u64> {
        let device = Acl::init_or_mock()?.device(0)?;
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let root = folder.path().join("caches");
        let cache = CompileCache::builder("Bench").cache_dir(&root).build()?;
        cache.func("calls").ignore_captures().compile(&device, record)?;
        Ok(entries(&root)?.iter().map(|entry| entry.bytes).sum())
    }

    pub(super) fn figures(figures: &mut Figures, name: &impl Fn(&str) -> String, inner: &Plan) -> Result<()> {
        let with_calls = bytes(|g| called(g, inner, CALLS))? as f64;
        let without = bytes(|g| written_out(g, CALLS))? as f64;
        figures.note(&name("stored"), with_calls / CALLS as f64, "bytes a call");
        figures.at_most(&name("stored / written out"), with_calls / without, "times", MOST);
        Ok(())
    }
}
