//! One trace for each entry, and verification.

use racl::cache::{Signature, Status};
use racl::op::DataType::F32;
use racl::plan::{Builder, Dim, Input};
use racl::{Device, ErrorKind, Result};

use crate::common::assert_says;
use crate::{Root, assert_hit, assert_miss, device, inputs, square};

fn compile(cache: &racl::cache::CompileCache, device: &Device, size: usize) -> Result<Status> {
    let func = cache.func("decode").inputs(&inputs(size));
    let plan = crate::compile(&func, device, &mut |g| square(g, size))?;
    let text = racl::plan::Plan::build(|g| square(g, size))?.to_text();
    assert_eq!(plan.to_text(), text);
    Ok(func.status().unwrap())
}

#[test]
fn a_second_trace_abandons_the_entry_with_one_warning() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().build().unwrap();
    assert_eq!(compile(&cache, &device, 2).unwrap(), Status::Miss);
    assert_eq!(compile(&cache, &device, 2).unwrap(), Status::Hit);
    for size in [3, 2, 3, 4] {
        let Status::Abandoned(why) = compile(&cache, &device, size).unwrap() else { panic!() };
        assert!(
            why.contains("second trace: argument \"x\": expected F32 [3, 3] Copied, got F32 [2, 2] Copied"),
            "{why}"
        );
        assert!(root.files().is_empty());
    }
    let warnings: Vec<String> = root.log().into_iter().filter(|line| line.starts_with("warn: ")).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("is abandoned"));
    // Another start is another beginning.
    assert_miss(root.cache());
}

#[test]
fn in_strict_mode_a_second_trace_is_an_error_and_the_entry_stays() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().strict(true).build().unwrap();
    assert_eq!(compile(&cache, &device, 2).unwrap(), Status::Miss);
    let refused = compile(&cache, &device, 3).unwrap_err();
    assert_says(&refused, ErrorKind::InvalidArgument, &["function \"decode\" has a second trace"]);
    assert_eq!(compile(&cache, &device, 2).unwrap(), Status::Hit);
    assert_hit(root.cache());
}

#[test]
fn in_strict_mode_a_plan_that_is_not_cached_is_an_error() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().strict(true).build().unwrap();
    let func = cache.func("decode");
    let refused = func.compile(&device, |g| {
        g.host_function(&racl::plan::HostFunction::unnamed(|_| {}))?;
        square(g, 2)
    });
    assert_says(&refused.unwrap_err(), ErrorKind::File, &["function \"decode\" is not cached: ", "has no name"]);
    assert!(matches!(func.status(), Some(Status::Uncached(_))), "{:?}", func.status());
    // A root that is a file.
    let root = Root::new();
    std::fs::write(root.path(), "").unwrap();
    let cache = root.cache().strict(true).build().unwrap();
    let refused = cache.func("decode").compile(&device, |g| square(g, 2)).unwrap_err();
    assert_says(&refused, ErrorKind::File, &["function \"decode\" is not cached: "]);
    let cache = root.cache().build().unwrap();
    cache.func("decode").compile(&device, |g| square(g, 2)).unwrap();
}

#[test]
fn another_value_of_a_symbol_is_no_second_trace() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().build().unwrap();
    let rows = |count: usize| {
        let mut rows = Signature::new();
        rows.input("x", [count, 2], F32, Input::Copied).unwrap();
        rows
    };
    let dynamic = |g: &Builder| {
        let n = g.symbol("n", 1..=64)?;
        let x = g.input("x", [n, Dim::from(2)], F32, Input::Copied)?;
        let y = g.abs(x)?;
        g.output("y", y)
    };
    let compile = |count| {
        let func = cache.func("decode").inputs(&rows(count));
        crate::compile(&func, &device, &mut { dynamic })?;
        Ok(func.status().unwrap())
    };
    assert_eq!(compile(3).unwrap(), Status::Miss);
    assert_eq!((compile(5).unwrap(), compile(64).unwrap()), (Status::Hit, Status::Hit));
    let outside: racl::Error = compile(65).unwrap_err();
    assert_says(&outside, ErrorKind::InvalidArgument, &["argument \"x\": expected F32 [65, 2]", "got F32 [n, 2]"]);
}

#[test]
fn without_stated_inputs_the_second_compilation_finds_out() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().build().unwrap();
    let func = cache.func("decode");
    for (size, want) in [(2, Status::Miss), (2, Status::Hit)] {
        func.compile(&device, |g| square(g, size)).unwrap();
        assert_eq!(func.status(), Some(want));
    }
    let plan = func.compile(&device, |g| square(g, 3)).unwrap();
    assert!(plan.to_text().contains("f32[3, 3]"));
    let Some(Status::Abandoned(why)) = func.status() else { panic!("{:?}", func.status()) };
    assert!(why.contains("gives a second plan"), "{why}");
    assert!(root.files().is_empty());
}

#[test]
fn another_closure_never_gets_the_plan_of_the_first() {
    let (root, device) = (Root::new(), device());
    let compile = |cache: &racl::cache::CompileCache, first: bool| {
        let func = cache.func("decode").inputs(&inputs(2));
        let plan = match first {
            true => func.compile(&device, |g| square(g, 2)),
            false => func.compile(&device, |g| {
                changed(g)?;
                Ok(())
            }),
        };
        let shown = plan.unwrap().to_text();
        assert_eq!((shown.contains(" aclnnAdd.0("), shown.contains(" aclnnSub.0(")), (first, !first), "{shown}");
        func.status().unwrap()
    };
    // Of several starts each has an entry.
    for want in [Status::Miss, Status::Hit] {
        for first in [true, false] {
            assert_eq!(compile(&root.cache().build().unwrap(), first), want);
        }
    }
    root.assert_logged(&["info: ", " differs in closure: cache::traces::another_closure_never"]);
    // In one process the function has one trace.
    let cache = root.cache().build().unwrap();
    assert_eq!(compile(&cache, true), Status::Hit);
    let Status::Abandoned(why) = compile(&cache, false) else { panic!() };
    assert!(why.contains("\"decode\" gives a second plan: operator #"), "{why}");
    // Another closure that gives the same plan is the same trace.
    let cache = root.cache().build().unwrap();
    let same = cache.func("decode").inputs(&inputs(2)).compile(&device, |g| square(g, 2)).unwrap();
    let again = cache.func("decode").inputs(&inputs(2)).compile(&device, |g| square(g, 2)).unwrap();
    assert_eq!((same.to_text(), cache.status("decode")), (again.to_text(), Some(Status::Hit)));
}

#[test]
fn captures_that_the_key_does_not_know_are_said_once() {
    let (root, device) = (Root::new(), device());
    let warnings = || crate::log_about("captures 8 bytes, of which the key knows nothing");
    let cache = root.cache().build().unwrap();
    let compile =
        |func: racl::cache::Func, size: usize| drop(func.compile(&device, move |g| square(g, size)).unwrap());
    let about = |name: &str| warnings().iter().filter(|line| line.contains(&format!("{name:?}"))).count();
    compile(cache.func("captured_a"), 2);
    compile(cache.func("captured_a"), 2);
    compile(cache.func("captured_b"), 2);
    assert_eq!((about("captured_a"), about("captured_b")), (1, 1));
    compile(cache.func("captured_c").part("size", 2), 2);
    // The inputs do not tell what else is captured.
    compile(cache.func("captured_d").inputs(&inputs(2)), 2);
    compile(cache.func("captured_d").inputs(&inputs(2)), 2);
    assert_eq!(about("captured_d"), 1);
    cache.func("captured_e").compile(&device, crate::decode).unwrap();
    compile(cache.func("captured_f").inputs(&inputs(2)).ignore_captures(), 2);
    compile(cache.func("captured_f").ignore_captures(), 2);
    assert_eq!(warnings().iter().filter(|line| line.contains("captured_")).count(), 3, "{:?}", warnings());
}

#[test]
fn stated_inputs_do_not_hide_that_another_number_was_captured() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().verify(false).build().unwrap();
    let mut x = Signature::new();
    x.input("x", [4], F32, Input::Copied).unwrap();
    let compile = |func: racl::cache::Func, layers: usize| {
        let plan = func.inputs(&x).compile(&device, |g| {
            let mut x = g.input("x", [4], F32, Input::Copied)?;
            for _ in 0..layers {
                x = g.abs(x)?;
            }
            g.output("y", x)
        });
        plan.unwrap().operators()
    };
    let func = || cache.func("decode");
    assert_eq!((compile(func(), 2), func().status()), (2, Some(Status::Miss)));
    assert_eq!((compile(func(), 2), func().status()), (2, Some(Status::Hit)));
    assert_eq!(compile(func(), 3), 3);
    let Some(Status::Abandoned(why)) = func().status() else { panic!("{:?}", func().status()) };
    assert!(why.contains("\"decode\" gives a second plan: "), "{why}");
    // Who says that it does not matter is believed; a part tells.
    let ignored = || cache.func("ignored").ignore_captures();
    assert_eq!((compile(ignored(), 2), compile(ignored(), 3)), (2, 2));
    let part = |layers: usize| compile(cache.func("part").part("layers", layers), layers);
    assert_eq!((part(2), part(3), part(2)), (2, 3, 2));
    root.assert_logged(&["info: ", "hit for \"ignored\": 2 operators"]);
}

#[test]
fn a_part_that_is_given_twice_is_refused() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().build().unwrap();
    let func = cache.func("decode").part("size", 2).part("layers", 2).part("size", 3);
    let refused = func.compile(&device, |g| square(g, 2)).unwrap_err();
    assert_says(&refused, ErrorKind::InvalidArgument, &["function \"decode\": part \"size\" is given twice"]);
    assert!(root.files().is_empty());
}

#[test]
fn parts_tell_plans_of_one_function_apart() {
    let (root, device) = (Root::new(), device());
    for want in [Status::Miss, Status::Hit] {
        let cache = root.cache().build().unwrap();
        for size in [2, 3] {
            let func = cache.func("decode").part("size", size);
            let plan = func.compile(&device, |g| square(g, size)).unwrap();
            assert!(plan.to_text().contains(&format!("f32[{size}, {size}]")));
            assert_eq!(func.status(), Some(want.clone()));
        }
    }
}

/// As `decode`, but for one operator.
fn changed(g: &Builder) -> Result<()> {
    let x = g.input("x", [2, 2], F32, Input::Copied)?;
    let h = g.scope("side", |g| g.muls(x, 2.0))?;
    let product = g.matmul(x, x)?;
    g.join("side")?;
    let y = g.sub(product, h)?;
    g.output("y", y)
}

#[test]
fn a_changed_operator_under_the_same_salt_is_caught_by_verify() {
    let (root, device) = (Root::new(), device());
    assert_miss(root.cache());
    // Nothing tells the key, to which they are one closure; that is what the salt is for.
    let cache = root.cache().verify(false).build().unwrap();
    let stale = crate::compile(&cache.func("decode").inputs(&inputs(2)), &device, &mut changed).unwrap();
    assert_eq!(cache.status("decode"), Some(Status::Hit));
    assert!(stale.to_text().contains(" aclnnAdd.0("));

    let cache = root.cache().verify(true).build().unwrap();
    let plan = crate::compile(&cache.func("decode").inputs(&inputs(2)), &device, &mut changed).unwrap();
    let Some(Status::Rebuilt(why)) = cache.status("decode") else { panic!("{:?}", cache.status("decode")) };
    assert!(why.contains("operator #") && why.contains("(aclnnAdd, ") && why.contains("aclnnSub"), "{why}");
    assert!(plan.to_text().contains(" aclnnSub.0("));
    root.assert_logged(&["warn: ", "what is built now is another plan: operator #"]);

    let cache = root.cache().verify(true).build().unwrap();
    crate::compile(&cache.func("decode").inputs(&inputs(2)), &device, &mut changed).unwrap();
    assert_eq!(cache.status("decode"), Some(Status::Hit));
    // The same plan from another place in the source is the same plan.
    let elsewhere = |g: &Builder| changed(g);
    let cache = root.cache().verify(true).build().unwrap();
    crate::compile(&cache.func("decode").inputs(&inputs(2)), &device, &mut { elsewhere }).unwrap();
    assert_eq!(cache.status("decode"), Some(Status::Hit));
}

#[test]
fn a_compilation_inside_of_another_does_not_swap_their_entries() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().build().unwrap();
    let func = |size| cache.func("decode").inputs(&inputs(size));
    let outer = crate::compile(&func(2), &device, &mut |g| {
        assert_eq!(compile(&cache, &device, 3)?, Status::Miss);
        square(g, 2)
    });
    assert!(outer.unwrap().to_text().contains("f32[2, 2]"));
    let Some(Status::Uncached(why)) = cache.status("decode") else { panic!("{:?}", cache.status("decode")) };
    assert!(why.contains("was compiled for other inputs at the same time"), "{why}");
    // The trace is the inner one, and so is what is stored.
    assert_eq!(compile(&cache, &device, 3).unwrap(), Status::Hit);
    assert!(racl::cache::readable_cache(root.recipe()).unwrap().contains("f32[3, 3]"));
    assert!(matches!(compile(&cache, &device, 2).unwrap(), Status::Abandoned(_)));
}

#[test]
fn a_compilation_inside_of_its_own_closure_does_not_wait() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().lock_timeout(std::time::Duration::from_secs(3600)).build().unwrap();
    let outer = crate::compile(&cache.func("decode").inputs(&inputs(2)), &device, &mut |g| {
        let Status::Uncached(why) = compile(&cache, &device, 2)? else { panic!() };
        assert!(why.contains("inside of its closure"), "{why}");
        square(g, 2)
    });
    outer.unwrap();
    assert_eq!(cache.status("decode"), Some(Status::Miss));
    assert_hit(root.cache());
}

#[test]
fn a_wrong_plan_does_not_stay_when_the_right_one_cannot_be_written() {
    let (root, device) = (Root::new(), device());
    assert_miss(root.cache());
    // In the way of the temporary file.
    let name = format!(".meta.json.{}.tmp", std::process::id());
    let block = root.recipe().with_file_name(name);
    std::fs::create_dir(&block).unwrap();
    let cache = root.cache().verify(true).build().unwrap();
    let plan = crate::compile(&cache.func("decode").inputs(&inputs(2)), &device, &mut changed).unwrap();
    assert!(plan.to_text().contains(" aclnnSub.0("));
    let Some(Status::Uncached(why)) = cache.status("decode") else { panic!("{:?}", cache.status("decode")) };
    assert!(why.contains(".tmp"), "{why}");
    assert!(root.files().is_empty(), "{:?}", root.files());
    std::fs::remove_dir(&block).unwrap();
    assert_miss(root.cache());
}
