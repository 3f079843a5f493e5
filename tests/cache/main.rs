//! The compile cache: what it finds, what it stores, and that nothing on disk can break a start.
#![cfg(all(target_os = "linux", feature = "cache"))]

#[path = "../common/mod.rs"]
mod common;

mod broken;
mod child;
mod files;
mod keys;
mod start;
mod threads;
mod traces;
mod waiting;
#[path = "../common/watchdog.rs"]
mod watchdog;

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use racl::cache::CompileCache;
use racl::cache::{CacheBuilder, Func, Signature, Status};
use racl::op::DataType::F32;
use racl::plan::{Builder, Frozen, Input, Plan};
use racl::{Device, Result};
use watchdog::Watchdog;

pub(crate) use common::device;

/// A folder for caches that goes away with the value.
pub(crate) struct Root {
    folder: tempfile::TempDir,
    _watched: Watchdog,
}

impl Root {
    pub(crate) fn new() -> Self {
        collect_log();
        Self { folder: tempfile::tempdir().unwrap(), _watched: Watchdog::new() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("caches")
    }

    /// A cache that builds also when there is an entry, and compares. Tests about what is not built turn that off.
    pub(crate) fn cache(&self) -> CacheBuilder {
        CompileCache::builder("Model").cache_dir(self.path()).world_size(1).salt("tests").verify(true)
    }

    /// The files below, by path, without the locks.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        collect(&self.path(), &mut found);
        found.retain(|path| !path.ends_with(".lock"));
        found.sort();
        found
    }

    /// The only stored plan.
    #[track_caller]
    pub(crate) fn recipe(&self) -> PathBuf {
        let mut files = self.files();
        files.retain(|path| path.ends_with("recipe.bin"));
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    }

    /// What the log has said about this folder.
    pub(crate) fn log(&self) -> Vec<String> {
        log_about(self.folder.path().to_str().unwrap())
    }

    #[track_caller]
    pub(crate) fn assert_logged(&self, parts: &[&str]) {
        let log = self.log();
        assert!(log.iter().any(|line| parts.iter().all(|part| line.contains(part))), "{parts:?} in {log:#?}");
    }
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            collect(&path, found);
        } else {
            found.push(path);
        }
    }
}

static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Collector;

impl log::Log for Collector {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        if record.target().starts_with("racl::cache") {
            let line = format!("{}: {}", record.level().as_str().to_lowercase(), record.args());
            LOG.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    }

    fn flush(&self) {}
}

fn collect_log() {
    static START: Once = Once::new();
    START.call_once(|| {
        log::set_logger(&Collector).unwrap();
        log::set_max_level(log::LevelFilter::Debug);
    });
}

pub(crate) fn log_about(what: &str) -> Vec<String> {
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    log.iter().filter(|line| line.contains(what)).cloned().collect()
}

/// y = x times x, and two streams.
pub(crate) fn decode(g: &Builder) -> Result<()> {
    square(g, 2)
}

pub(crate) fn square(g: &Builder, size: usize) -> Result<()> {
    let x = g.input("x", [size, size], F32, Input::Copied)?;
    let h = g.scope("side", |g| g.muls(x, 2.0))?;
    let product = g.matmul(x, x)?;
    g.join("side")?;
    let y = g.add(product, h)?;
    g.output("y", y)
}

pub(crate) fn inputs(size: usize) -> Signature {
    let mut inputs = Signature::new();
    inputs.input("x", [size, size], F32, Input::Copied).unwrap();
    inputs
}

/// What the plan of `decode` computes on the device.
pub(crate) fn result(device: &Device, plan: &Plan) -> Vec<f32> {
    let stream = device.stream().unwrap();
    let mut exe = plan.capture(device, Frozen::new()).unwrap();
    let (x, y) = (exe.input("x").unwrap(), exe.output_id("y").unwrap());
    let value = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    let mut bind = exe.bindings();
    exe.run(&stream, bind.set(x, &value)).unwrap();
    exe.output::<f32>(y).unwrap().to_vec().unwrap()
}

pub(crate) const RESULT: [f32; 4] = [9.0, 14.0, 21.0, 30.0];

/// Compiles with one closure, as far as the key can tell: another place of a test is no other start for it.
pub(crate) fn compile(func: &Func, device: &Device, work: &mut dyn FnMut(&Builder) -> Result<()>) -> Result<Plan> {
    // What it captures is the work of the test.
    func.clone().ignore_captures().compile(device, |g| work(g))
}

/// Compiles `decode` as a new start would; gives the status and whether something was built. The result must be
/// right.
#[track_caller]
pub(crate) fn start(cache: CacheBuilder) -> (Status, bool) {
    let (device, cache) = (device(), cache.build().unwrap());
    let built = Cell::new(false);
    let mut work = |g: &Builder| {
        built.set(true);
        decode(g)
    };
    let plan = compile(&cache.func("decode").inputs(&inputs(2)), &device, &mut work).unwrap();
    assert_eq!(plan.to_text(), Plan::build(decode).unwrap().to_text());
    if std::env::var_os(child::DO_NOT_RUN).is_none() {
        assert_eq!(result(&device, &plan), RESULT);
    }
    (cache.status("decode").unwrap(), built.get())
}

#[track_caller]
pub(crate) fn assert_hit(cache: CacheBuilder) {
    assert_eq!(start(cache.clone().verify(true)), (Status::Hit, true));
    assert_eq!(start(cache.verify(false)), (Status::Hit, false));
}

#[track_caller]
pub(crate) fn assert_miss(cache: CacheBuilder) {
    assert_eq!(start(cache), (Status::Miss, true));
}

#[track_caller]
pub(crate) fn assert_rebuilt(cache: CacheBuilder, part: &str) {
    match start(cache) {
        (Status::Rebuilt(why), true) => assert!(why.contains(part), "{part:?} in {why}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub(crate) fn assert_uncached(cache: CacheBuilder, part: &str) {
    match start(cache) {
        (Status::Uncached(why), true) => assert!(why.contains(part), "{part:?} in {why}"),
        other => panic!("{other:?}"),
    }
}
