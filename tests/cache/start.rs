//! Cold and warm starts, ranks and functions.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use std::{env, fs};

use racl::ErrorKind;
use racl::cache::CompileCache;
use racl::cache::{Signature, Status, entries, readable_cache};
use racl::op::DataType::F32;
use racl::plan::{Builder, Decompositions, Dim, Foreign, HostFunction, Input, Registry};

use crate::common::assert_says;
use crate::{Root, assert_hit, assert_miss, compile, decode, device, inputs, result, start};

#[test]
fn the_second_start_builds_nothing() {
    let root = Root::new();
    assert_miss(root.cache());
    root.assert_logged(&["info: ", "miss for \"decode\": building for "]);
    root.assert_logged(&["info: ", "\"decode\" built in ", " bytes stored in "]);
    assert_hit(root.cache());
    root.assert_logged(&["info: ", "hit for \"decode\": 3 operators from "]);
}

#[test]
fn nothing_happens_on_disk_before_a_plan_is_compiled() {
    let root = Root::new();
    let cache = root.cache().build().unwrap();
    let func = cache.func("decode").inputs(&inputs(2));
    assert!(!root.path().exists());
    assert_eq!(func.status(), None);
    func.compile(device(), decode).unwrap();
    assert_eq!(func.status(), Some(Status::Miss));
    assert_eq!(cache.root(), root.path());
}

#[test]
fn files_lie_where_the_documentation_says_and_only_their_owner_can_read_them() {
    let root = Root::new();
    assert_miss(root.cache().world_size(4).global_rank(3).tp_rank(1).pp_rank(0));
    let recipe = root.recipe();
    let below = recipe.strip_prefix(root.path()).unwrap().to_str().unwrap();
    let levels: Vec<&str> = below.split('/').collect();
    assert_eq!(levels[1..], ["world4global_rank3_tp_rank1_pp_rank0", "decode", "recipe.bin"]);
    let hash = levels[0].strip_prefix("Model_dynamic_").unwrap();
    assert!(hash.len() == 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    for file in root.files() {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    for folder in recipe.ancestors().skip(1).take(4) {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
    let static_root = Root::new();
    assert_miss(static_root.cache().dynamic(false));
    let path = static_root.recipe().to_string_lossy().into_owned();
    assert!(path.contains("/Model_static_") && path.ends_with("/decode/recipe.bin"), "{path}");
}

#[test]
fn folders_of_ranks_do_not_collide() {
    let root = Root::new();
    let ranks = [(0, None, None), (1, None, None), (1, Some(0), None), (1, None, Some(0)), (1, Some(1), Some(0))];
    let caches = || {
        ranks.map(|(rank, tp, pp)| {
            let mut cache = root.cache().world_size(2).global_rank(rank);
            cache = if let Some(rank) = tp { cache.tp_rank(rank) } else { cache };
            if let Some(rank) = pp { cache.pp_rank(rank) } else { cache }
        })
    };
    caches().into_iter().for_each(assert_miss);
    assert_miss(root.cache());
    caches().into_iter().for_each(assert_hit);
    assert_eq!(root.files().len(), 2 * (ranks.len() + 1));
}

#[test]
fn functions_of_one_cache_have_plans_of_their_own() {
    let (root, device) = (Root::new(), device());
    let prefill = |g: &Builder| {
        let x = g.input("x", [8, 8], F32, Input::Copied)?;
        let y = g.tanh(x)?;
        g.output("y", y)
    };
    for status in [Status::Miss, Status::Hit] {
        let cache = root.cache().build().unwrap();
        let a = cache.func("prefill").compile(&device, prefill).unwrap();
        let b = cache.func("decode").compile(&device, decode).unwrap();
        assert_eq!((a.operators(), b.operators()), (1, 3));
        assert_eq!((cache.status("prefill"), cache.status("decode")), (Some(status.clone()), Some(status)));
    }
}

#[test]
fn the_first_line_of_an_entry_for_people_says_what_it_was_made_with() {
    let root = Root::new();
    assert_miss(root.cache());
    let recipe = root.recipe();
    let text = readable_cache(&recipe).unwrap();
    assert_eq!(text, readable_cache(recipe.parent().unwrap()).unwrap());
    for part in
        ["# salt: given: \"tests\"\n", "# chip: Ascend", "racl plan 1\n", "aclnnMatmul.0", "tests/cache/main.rs:"]
    {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    let found = entries(root.path()).unwrap();
    assert_eq!(found.len(), 1);
    let entry = &found[0];
    assert_eq!((entry.name.as_str(), entry.function.as_str(), entry.operators), ("Model", "decode", Some(3)));
    assert_eq!(entry.bytes, fs::metadata(&recipe).unwrap().len());
    entry.verify().unwrap();
    entry.remove().unwrap();
    assert!(root.files().is_empty() && fs::read_dir(root.path()).unwrap().next().is_none());
    assert_miss(root.cache());
}

#[test]
fn foreign_operators_are_found_again_by_name_and_version() {
    let (root, device) = (Root::new(), device());
    let kernel = |version| Foreign::new("mine.touch", version, |_| Ok(())).attributes(*b"abc");
    let said = HostFunction::new("mine.log", 1, |_| {});
    let compile = |registry: &Registry, version| {
        let cache = root.cache().build().unwrap();
        let plan = cache.func("decode").registry(registry).compile(&device, |g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            let y = g.empty([4], F32)?;
            g.foreign(&kernel(version), &[x], &[y])?;
            g.host_function(&said)?;
            g.output("y", y)
        });
        plan.unwrap();
        cache.status("decode").unwrap()
    };
    let registry = |version| Registry::new().foreign(&kernel(version)).host_function(&said);
    assert_eq!(compile(&registry(1), 1), Status::Miss);
    assert_eq!(compile(&registry(1), 1), Status::Hit);
    let Status::Uncached(why) = compile(&Registry::new(), 1) else { panic!() };
    assert!(why.contains("\"mine.touch\", which is not registered"), "{why}");
    let there = "host function \"mine.log\" version 1 there";
    root.assert_logged(&[
        "info: ",
        "differs in registry: nothing here, foreign operator \"mine.touch\" version 1",
        there,
    ]);
    let Status::Uncached(why) = compile(&registry(2), 1) else { panic!() };
    assert!(why.contains("needs version 1 of foreign operator \"mine.touch\"; version 2 is registered"), "{why}");
    assert_eq!(compile(&registry(2), 2), Status::Miss);
    let tuned = Registry::new().foreign(&kernel(1).attributes(*b"abd")).host_function(&said);
    assert_eq!(compile(&tuned, 1), Status::Miss);
    for (registry, version) in [(registry(1), 1), (registry(2), 2), (tuned, 1)] {
        assert_eq!(compile(&registry, version), Status::Hit);
    }
}

#[test]
fn a_closure_without_a_name_is_said_once_and_runs_without_the_cache() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().build().unwrap();
    let func = cache.func("unnamed_closure");
    for _ in 0..2 {
        func.compile(&device, |g| g.host_function(&HostFunction::unnamed(|_| {}))).unwrap();
        let Some(Status::Uncached(why)) = func.status() else { panic!("{:?}", func.status()) };
        assert!(why.contains("tests/cache/start.rs:") && why.contains("has no name"), "{why}");
    }
    let said = crate::log_about("\"unnamed_closure\" is not cached");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(root.files().is_empty());
}

#[test]
fn an_error_of_the_closure_reaches_the_caller_and_leaves_nothing() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().build().unwrap();
    let failed = cache.func("decode").compile(&device, |g| g.join("nowhere"));
    let error = failed.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidPlan);
    assert_eq!(cache.status("decode"), Some(Status::Failed(error.to_string())));
    assert!(root.files().is_empty());
    assert_miss(root.cache());
}

#[test]
fn a_static_cache_refuses_symbols() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().dynamic(false).build().unwrap();
    let mut dynamic = Signature::new();
    let n = dynamic.symbol("n", 1..=4).unwrap();
    dynamic.input("x", [n], F32, Input::Copied).unwrap();
    let refused = cache.func("a").inputs(&dynamic).compile(&device, |_| Ok(())).unwrap_err();
    assert_says(&refused, ErrorKind::InvalidArgument, &["static shapes", "function \"a\" has the symbol \"n\""]);
    let refused = cache.func("b").compile(&device, |g| {
        let n = g.symbol("n", 1..=4)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        g.output("y", x)
    });
    assert_says(&refused.unwrap_err(), ErrorKind::InvalidArgument, &["function \"b\" has the symbol \"n\""]);
}

#[test]
fn inputs_that_are_not_those_stated_are_named() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().build().unwrap();
    let refused = cache.func("decode").inputs(&inputs(3)).compile(&device, decode).unwrap_err();
    let parts = ["argument \"x\": expected F32 [3, 3] Copied, got F32 [2, 2] Copied"];
    assert_says(&refused, ErrorKind::InvalidArgument, &parts);
    assert!(root.files().is_empty());
}

#[test]
fn a_plan_from_disk_names_a_tensor_that_does_not_fit() {
    let (root, device) = (Root::new(), device());
    let dynamic = |g: &Builder| {
        let n = g.symbol("n", 1..=4)?;
        let x = g.input("x", [n, Dim::from(2)], F32, Input::Copied)?;
        let y = g.abs(x)?;
        g.output("y", y)
    };
    for _ in 0..2 {
        let cache = root.cache().build().unwrap();
        let plan = cache.func("decode").compile(&device, dynamic).unwrap();
        let mut exe = plan.capture(&device, racl::plan::Frozen::new()).unwrap();
        let (stream, x) = (device.stream().unwrap(), exe.input("x").unwrap());
        let wrong = device.upload_tensor(&[0.0_f32; 6], [2, 3]).unwrap();
        let mut bind = exe.bindings();
        let error = exe.run(&stream, bind.set(x, &wrong)).unwrap_err();
        let parts = ["input \"x\": expected F32 [n, 2], got F32 [2, 3]"];
        assert_says(&error, ErrorKind::InvalidArgument, &parts);
    }
}

#[test]
fn rewritten_operators_are_what_is_stored() {
    let (root, device) = (Root::new(), device());
    let twice = Decompositions::new().with("aclnnMuls", 1, |g, _, operands| g.add(operands[0], operands[0])).unwrap();
    for status in [Status::Miss, Status::Hit] {
        let cache = root.cache().decompositions(&twice).build().unwrap();
        let plan = cache.func("decode").compile(&device, decode).unwrap();
        assert_eq!(cache.status("decode"), Some(status));
        assert!(!plan.to_text().contains("aclnnMuls"), "{}", plan.to_text());
        assert_eq!(result(&device, &plan), crate::RESULT);
    }
}

#[test]
fn who_finds_the_lock_taken_waits_and_loads_or_gives_up_after_a_while() {
    let root = Root::new();
    let (begun, has_begun) = mpsc::channel();
    let (go, may_go) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let (slow, quick) = (root.cache().build().unwrap(), root.cache().lock_timeout(Duration::from_millis(1)));
        scope.spawn(move || {
            let mut work = |g: &Builder| {
                begun.send(()).unwrap();
                may_go.recv().unwrap();
                decode(g)
            };
            compile(&slow.func("decode").inputs(&inputs(2)), &device(), &mut work).unwrap();
            assert_eq!(slow.status("decode"), Some(Status::Miss));
        });
        has_begun.recv().unwrap();
        let (status, built) = start(quick);
        assert!(matches!(&status, Status::Uncached(why) if why.contains("another process has built")), "{status}");
        assert!(built);
        let waiting = scope.spawn(|| start(root.cache().verify(false)));
        go.send(()).unwrap();
        assert_eq!(waiting.join().unwrap(), (Status::Hit, false));
    });
}

#[test]
fn ranks_that_the_world_does_not_have_are_refused() {
    let builder = || CompileCache::builder("Model");
    let refused = builder().world_size(2).global_rank(2).build().unwrap_err();
    assert_says(&refused, ErrorKind::InvalidArgument, &["global rank 2 in a world of 2"]);
    let refused = builder().world_size(4).global_rank(0).tp_rank(4).build().unwrap_err();
    assert_says(&refused, ErrorKind::InvalidArgument, &["tp rank 4 in a world of 4"]);
    if env::var_os("RANK").is_none() {
        let refused = builder().world_size(2).build().unwrap_err();
        assert_says(&refused, ErrorKind::InvalidArgument, &["needs the rank of this process"]);
    }
}

#[test]
fn gates_of_a_plan_from_disk_are_found_by_name() {
    let (root, device) = (Root::new(), device());
    for status in [Status::Miss, Status::Hit] {
        let cache = root.cache().build().unwrap();
        let plan = cache.func("gated").compile(&device, |g| {
            let x = g.input("x", [2, 2], F32, Input::Copied)?;
            let gate = g.external("ready")?;
            g.wait_external(gate)?;
            let y = g.muls(x, 3.0)?;
            g.output("y", y)
        });
        let plan = plan.unwrap();
        assert_eq!(cache.status("gated"), Some(status));
        let gate = plan.external("ready").unwrap();
        assert_says(&plan.external("other").unwrap_err(), ErrorKind::InvalidArgument, &["no gate \"other\""]);
        let (stream, beside) = (device.stream().unwrap(), device.stream().unwrap());
        let mut exe = plan.capture(&device, racl::plan::Frozen::new()).unwrap();
        let (x, y) = (exe.input("x").unwrap(), exe.output_id("y").unwrap());
        let value = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
        let mut bind = exe.bindings();
        exe.run(&stream, bind.set(x, &value)).unwrap();
        exe.signal(gate, &beside).unwrap();
        assert_eq!(exe.output::<f32>(y).unwrap().to_vec().unwrap(), [3.0, 6.0, 9.0, 12.0]);
    }
}

#[test]
fn starts_and_removals_at_the_same_time_do_each_other_no_harm() {
    let root = Root::new();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..40 {
                    // The result is checked inside.
                    let (status, _) = start(root.cache());
                    assert!(matches!(status, Status::Hit | Status::Miss), "{status}");
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..200 {
                for entry in entries(root.path()).unwrap() {
                    entry.remove().unwrap();
                }
            }
        });
    });
    start(root.cache());
    assert_hit(root.cache());
}

#[test]
fn a_plan_that_could_not_be_loaded_again_is_not_stored_and_that_is_said_once() {
    let (root, device) = (Root::new(), device());
    let wide = |g: &Builder| {
        let n = g.symbol("n", 1..=2)?;
        let x = g.input("x", [n + 1; 7], F32, Input::Copied)?;
        let y = g.abs(x)?;
        g.output("y", y)
    };
    let cache = root.cache().build().unwrap();
    for _ in 0..2 {
        cache.func("wide").compile(&device, wide).unwrap();
        let Some(Status::Uncached(why)) = cache.status("wide") else { panic!("{:?}", cache.status("wide")) };
        assert!(why.contains("the plan cannot be loaded again: "), "{why}");
    }
    let said = crate::log_about("\"wide\" is not cached: the plan cannot be loaded again");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(root.files().is_empty());
}

#[test]
fn seven_dimensions_with_a_symbol_are_stored() {
    let (root, device) = (Root::new(), device());
    for want in [Status::Miss, Status::Hit] {
        let cache = root.cache().build().unwrap();
        let plan = cache.func("decode").compile(&device, |g| {
            let n = g.symbol("n", 1..=2)?;
            let x = g.input("x", [n; 7], F32, Input::Copied)?;
            let y = g.abs(x)?;
            g.output("y", y)
        });
        plan.unwrap();
        assert_eq!(cache.status("decode"), Some(want));
    }
}

#[test]
fn an_error_is_the_last_status_and_not_the_one_before() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().build().unwrap();
    let func = cache.func("decode").inputs(&inputs(2));
    func.compile(&device, decode).unwrap();
    assert_eq!(func.status(), Some(Status::Miss));
    let error = func.compile(&device, |g| g.join("nowhere")).unwrap_err();
    assert_eq!(func.status(), Some(Status::Failed(error.to_string())));
    assert!(func.status().unwrap().to_string().starts_with("failed: "));
    func.compile(&device, decode).unwrap();
    assert_eq!(func.status(), Some(Status::Hit));
}
