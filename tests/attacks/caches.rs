//! Compile caches in places and under names that nobody would choose.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use racl::Result;
use racl::cache::CompileCache;
use racl::cache::Signature;
use racl::op::DataType::F32;
use racl::plan::{Builder, Frozen, Input, OnMove, Plan, RunOptions};

use crate::arena::{Arena, formula, run};

fn build(g: &Builder) -> Result<()> {
    let x = g.input("x", [4], F32, Input::Tracked(OnMove::Recapture))?;
    let y = formula(g, x)?;
    g.output("y", y)
}

fn inputs() -> Signature {
    let mut inputs = Signature::new();
    inputs.input("x", [4], F32, Input::Tracked(OnMove::Recapture)).unwrap();
    inputs
}

#[track_caller]
fn works(arena: &Arena, plan: &Plan) {
    let mut exe = plan.executable(&arena.context, &RunOptions::new(), Frozen::new()).unwrap();
    assert_eq!(run(&mut exe, &arena.stream(), &arena.tensor(-1.0)), [3.0; 4]);
}

#[test]
fn a_root_that_is_a_file_or_nowhere() {
    let arena = Arena::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "not a folder").unwrap();
    for root in [file.clone(), file.join("below"), "/dev/null".into(), "/proc/none".into()] {
        let cache = CompileCache::builder("Model").cache_dir(&root).world_size(1).salt("attack").build();
        let Ok(cache) = cache else { continue };
        let func = cache.func("f").inputs(&inputs());
        // A cache that cannot store is no reason not to run.
        if let Ok(plan) = func.compile(arena.device(), build) {
            works(&arena, &plan);
        }
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "not a folder");
    arena.end();
}

#[test]
fn names_that_lead_elsewhere() {
    let arena = Arena::new();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    fs::create_dir(&root).unwrap();
    for name in ["../out", "/etc", "..", ".", "", "a/b", "a\\b", "\0", "x\ny", "CON", &"n".repeat(300)] {
        let cache = CompileCache::builder(name).cache_dir(&root).world_size(1).salt("attack").build();
        if let Ok(cache) = cache
            && let Ok(plan) = cache.func(name).inputs(&inputs()).compile(arena.device(), build)
        {
            works(&arena, &plan);
        }
    }
    let outside: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(outside, ["root"]);
    arena.end();
}

#[test]
fn a_build_that_panics_and_one_that_compiles_itself() {
    let arena = Arena::new();
    let folder = tempfile::tempdir().unwrap();
    let cache = CompileCache::builder("Model").cache_dir(folder.path()).world_size(1).salt("attack").build().unwrap();
    let func = cache.func("f").inputs(&inputs());
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        func.clone().ignore_captures().compile(arena.device(), |_| std::panic::resume_unwind(Box::new("on purpose")))
    }));
    assert!(panicked.is_err());
    let again = func.clone();
    let other = cache.func("g").inputs(&inputs());
    let plan = func.clone().ignore_captures().compile(arena.device(), |g| {
        // Another function of the same cache, while this one is being built.
        works(&arena, &other.compile(arena.device(), build)?);
        build(g)
    });
    works(&arena, &plan.unwrap());
    works(&arena, &again.ignore_captures().compile(arena.device(), build).unwrap());
    arena.end();
}

#[test]
fn files_that_change_while_threads_compile() {
    let arena = Arena::new();
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let (arena, folder) = (&arena, folder.path());
            scope.spawn(move || {
                for _ in 0..10 {
                    let cache = CompileCache::builder("Model").cache_dir(folder).world_size(1).salt("attack").build();
                    let plan = cache.unwrap().func("f").inputs(&inputs()).compile(arena.device(), build).unwrap();
                    works(arena, &plan);
                }
            });
        }
        let folder = folder.path();
        scope.spawn(move || {
            for round in 0..30 {
                for entry in racl::cache::entries(folder).unwrap_or_default() {
                    if round % 3 == 0 {
                        let _ = entry.remove();
                    } else {
                        let _ = entry.verify();
                    }
                }
                std::thread::yield_now();
            }
        });
    });
    arena.end();
}
