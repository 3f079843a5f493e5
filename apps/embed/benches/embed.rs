//! The figures of this program, one a line: name, value, unit, target, and whether the target is met.
//!
//! `cargo bench -p embed`; needs the weights that `fetch-model.sh` fetches and the built-in mock. Ends with 1 when a
//! target is missed; with `-- --any-time`, for machines that are slow or busy, times do not count.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::fs;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use embed::{Embedder, LENGTHS, Mode, Result, Tokenizer, folder};
use racl::cache::CompileCache;
use racl::{Acl, mock};
use serde_json::Value;

const REFERENCE: &str = include_str!("../tests/minilm_reference.json");
/// How often the figures without a target are measured; the best counts.
const ROUNDS: usize = 5;
static MISSED: AtomicBool = AtomicBool::new(false);
static ANY_TIME: AtomicBool = AtomicBool::new(false);

fn main() -> Result<ExitCode> {
    ANY_TIME.store(std::env::args().any(|argument| argument == "--any-time"), Ordering::Relaxed);
    let Some(folder) = folder::default_folder().filter(|folder| folder.join("model.safetensors").is_file()) else {
        eprintln!("skipped: the weights are not there; run apps/embed/fetch-model.sh");
        return Ok(ExitCode::SUCCESS);
    };
    let tokenizer = Tokenizer::load(&folder)?;
    let texts = tokens(&tokenizer)?;
    let device = Acl::mock()?.device(0)?;
    let start = Instant::now();
    let mut embedder = Embedder::load(&folder, &device, Mode::Replay)?;
    line("loading", milliseconds(start.elapsed()), "ms", None);

    let first = pass(&mut embedder, &texts)?;
    line("15 texts, graphs recorded on the way", milliseconds(first), "ms", Some(4000.0));
    // Before a second model is loaded.
    line("peak memory", peak_mb(), "MB", Some(4.0 * embedder.weight_bytes() as f64 / 1e6));

    let root = std::env::temp_dir().join(format!("embed-bench-{}", std::process::id()));
    for start in ["cold", "warm"] {
        let cache = CompileCache::builder("embed").cache_dir(&root).build()?;
        let made = Embedder::load_cached(&folder, &device, Mode::Replay, &cache)?.plan_time();
        line(&format!("making the plan, {start} cache"), milliseconds(made), "ms", None);
    }
    // What is left in the folder for temporary files does no harm.
    let _ = fs::remove_dir_all(&root);
    line("largest difference from the reference", difference(&mut embedder)? * 1e6, "1e-6", Some(100.0));
    let launches = mock::calls("aclmdlRIExecuteAsync");
    embedder.embed(&texts[0])?;
    line("launch calls a text", (mock::calls("aclmdlRIExecuteAsync") - launches) as f64, "calls", Some(1.0));
    let operators = mock::calls("aclnnAddmm");
    embedder.embed(&texts[0])?;
    line("operator calls a text", (mock::calls("aclnnAddmm") - operators) as f64, "calls", Some(0.0));
    for length in LENGTHS {
        let memory = embedder.memory(length)?;
        let share = 100.0 * memory.peak as f64 / memory.lower_bound as f64;
        line(&format!("arena for {length} tokens, of its lower bound"), share, "%", Some(115.0));
    }

    line("15 texts, replayed", best(&mut embedder, &texts)?, "ms", None);
    for length in LENGTHS {
        let text = vec![101; length];
        line(&format!("one text of {length} tokens"), best(&mut embedder, &[text])?, "ms", None);
    }
    let mut eager = Embedder::load(&folder, &device, Mode::Eager)?;
    line("15 texts, operator by operator", best(&mut eager, &texts)?, "ms", None);
    Ok(ExitCode::from(u8::from(MISSED.load(Ordering::Relaxed))))
}

fn reference() -> Vec<Value> {
    let mut reference: Value = serde_json::from_str(REFERENCE).expect("the reference is JSON");
    serde_json::from_value(reference["items"].take()).expect("the reference has items")
}

fn tokens(tokenizer: &Tokenizer) -> Result<Vec<Vec<u32>>> {
    reference().iter().map(|item| tokenizer.encode(item["text"].as_str().unwrap_or_default())).collect()
}

/// Of any component of any text.
fn difference(embedder: &mut Embedder) -> Result<f64> {
    let mut worst = 0.0_f64;
    for mut item in reference() {
        let ids: Vec<u32> = serde_json::from_value(item["ids"].take()).expect("the reference has ids");
        let expected: Vec<f64> =
            serde_json::from_value(item["embedding"].take()).expect("the reference has embeddings");
        let found = embedder.embed(&ids)?;
        let differences = found.iter().zip(expected).map(|(found, expected)| (f64::from(*found) - expected).abs());
        worst = differences.fold(worst, f64::max);
    }
    Ok(worst)
}

fn pass(embedder: &mut Embedder, texts: &[Vec<u32>]) -> Result<Duration> {
    let start = Instant::now();
    for text in texts {
        embedder.embed(text)?;
    }
    Ok(start.elapsed())
}

fn best(embedder: &mut Embedder, texts: &[Vec<u32>]) -> Result<f64> {
    let times = (0..ROUNDS).map(|_| pass(embedder, texts)).collect::<Result<Vec<_>>>()?;
    Ok(times.into_iter().min().map_or(f64::NAN, milliseconds))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The most memory that the process had so far; not a number where the system does not tell.
fn peak_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|text| text.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib * 1024.0 / 1e6)
}

/// A target is the most that a value may be.
fn line(name: &str, value: f64, unit: &str, target: Option<f64>) {
    match target {
        Some(target) => {
            let met = if value <= target { "met" } else { "missed" };
            let counts = unit != "ms" || !ANY_TIME.load(Ordering::Relaxed);
            MISSED.fetch_or(counts && met == "missed", Ordering::Relaxed);
            println!("embed, {name}\t{value:.1}\t{unit}\tat most {target:.0}\t{met}");
        }
        None => println!("embed, {name}\t{value:.1}\t{unit}\tnone\tmet"),
    }
}
