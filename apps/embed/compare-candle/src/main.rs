//! all-MiniLM-L6-v2 in candle on one thread of the CPU, beside embed on the mock, in one run.
//!
//! `cargo run --release` in this folder; needs the weights that `fetch-model.sh` fetches. Prints figures as `cargo
//! bench -p embed` does: name, value, unit, target, and whether the target is met. Times are processor time, the best
//! of some rounds. Ends with 1 when a target is missed.

mod candle;

use std::error::Error;
use std::process::{Command, ExitCode};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use std::{env, fs};

use embed::{Embedder, LENGTHS, Mode, Tokenizer, folder};
use racl::Acl;
use serde_json::Value;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const REFERENCE: &str = include_str!("../../tests/minilm_reference.json");
/// The best of these counts. The two take turns, so that a busy machine slows both.
const ROUNDS: usize = 7;
/// Least speed of embed, of candle's.
const LEAST_RATIO: f64 = 0.25;
/// Most that a component of an embedding may differ.
const CLOSE: f64 = 1e-4;
/// Read once by rayon and by candle, so it has to be there when the process starts.
const THREADS: &str = "RAYON_NUM_THREADS";

fn main() -> Result<ExitCode> {
    if env::var(THREADS).as_deref() != Ok("1") {
        let status = Command::new(env::current_exe()?).args(env::args_os().skip(1)).env(THREADS, "1").status()?;
        return Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let folder = folder::default_folder().ok_or("neither HOME nor RACL_MODEL_DIR is set")?;
    let tokenizer = Tokenizer::load(&folder)?;
    let device = Acl::mock()?.device(0)?;
    let mut here = Embedder::load(&folder, &device, Mode::Replay)?;
    let there = candle::Model::load(&folder)?;

    let texts = texts(&tokenizer)?;
    let mut met = true;
    met &= line("largest difference of the embeddings", difference(&mut here, &there, &texts)?, "1", CLOSE, false);
    met &= compare("15 texts", &mut here, &there, &texts, Some(LEAST_RATIO))?;
    // The lengths that embed pads to: neither of the two computes padding here.
    for length in LENGTHS {
        compare(&format!("a text of {length} tokens"), &mut here, &there, &[vec![101; length]], None)?;
    }
    Ok(ExitCode::from(u8::from(!met)))
}

/// Token ids of the texts of the reference, which are those of the bench of embed.
fn texts(tokenizer: &Tokenizer) -> Result<Vec<Vec<u32>>> {
    let reference: Value = serde_json::from_str(REFERENCE)?;
    let items = reference["items"].as_array().ok_or("the reference has no items")?;
    items.iter().map(|item| Ok(tokenizer.encode(item["text"].as_str().ok_or("an item without a text")?)?)).collect()
}

/// Of any component of any text.
fn difference(here: &mut Embedder, there: &candle::Model, texts: &[Vec<u32>]) -> Result<f64> {
    let mut worst = 0.0_f64;
    for text in texts {
        let (a, b) = (here.embed(text)?, there.embed(text)?);
        if a.len() != b.len() {
            return Err(format!("{} numbers here, {} there", a.len(), b.len()).into());
        }
        worst = a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs())).fold(worst, f64::max);
    }
    Ok(worst)
}

/// Three lines: both times, and their ratio.
fn compare(
    what: &str,
    here: &mut Embedder,
    there: &candle::Model,
    texts: &[Vec<u32>],
    least: Option<f64>,
) -> Result<bool> {
    let (mut embed, mut candle) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        embed = embed.min(timed(|| texts.iter().try_for_each(|text| here.embed(text).map(drop)))?);
        candle = candle.min(timed(|| texts.iter().try_for_each(|text| there.embed(text).map(drop)))?);
    }
    println!("{what}, embed on the mock\t{:.2}\tms\tnone\tmet", milliseconds(embed));
    println!("{what}, candle on one thread\t{:.2}\tms\tnone\tmet", milliseconds(candle));
    let (name, ratio) = (format!("{what}, embed over candle"), candle.as_secs_f64() / embed.as_secs_f64());
    match least {
        Some(least) => Ok(line(&name, ratio, "ratio", least, true)),
        None => {
            println!("{name}\t{ratio:.3}\tratio\tnone\tmet");
            Ok(true)
        }
    }
}

fn timed<E: Error + 'static>(run: impl FnOnce() -> std::result::Result<(), E>) -> Result<Duration> {
    let start = clock();
    run()?;
    Ok(clock() - start)
}

/// What all threads of this process had of the processors so far, so that other work of the machine does not count;
/// the time that passed where the system does not tell.
fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let passed = START.get_or_init(Instant::now).elapsed();
    let spent = |folder: fs::DirEntry| {
        let text = fs::read_to_string(folder.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
    };
    let threads = fs::read_dir("/proc/self/task").ok();
    threads.and_then(|threads| threads.map(|thread| spent(thread.ok()?)).sum()).unwrap_or(passed)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Says whether the target is met: the least that the value may be, or the most.
fn line(name: &str, value: f64, unit: &str, target: f64, least: bool) -> bool {
    let met = if least { value >= target } else { value <= target };
    let (sign, word) = (if least { ">=" } else { "<=" }, if met { "met" } else { "missed" });
    let value = if value != 0.0 && value < 1e-2 { format!("{value:.1e}") } else { format!("{value:.3}") };
    println!("{name}\t{value}\t{unit}\t{sign} {target}\t{word}");
    met
}
