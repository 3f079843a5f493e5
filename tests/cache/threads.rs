//! Compilations that overlap: of one function and of several, by one cache.

use std::cell::Cell;
use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::thread;

use racl::cache::CompileCache;
use racl::cache::Status;
use racl::op::DataType::F32;
use racl::plan::{Builder, Input, Plan};
use racl::{Device, Result};

use crate::{RESULT, Root, compile, decode, device, inputs, result, square};

/// y = 3 x.
fn prefill(g: &Builder) -> Result<()> {
    let x = g.input("x", [2, 2], F32, Input::Copied)?;
    let y = g.muls(x, 3.0)?;
    g.output("y", y)
}

/// The statuses of `prefill` and `decode`, which compile and run at the same time: neither goes on before both have
/// begun.
fn two_scenes(cache: &CompileCache, device: &Device, build: bool) -> [Status; 2] {
    let both = Barrier::new(2);
    let scene = |name: &str, work: fn(&Builder) -> Result<()>, want: [f32; 4]| {
        let func = cache.func(name).inputs(&inputs(2)).part("scene", name);
        if !build {
            both.wait();
        }
        let mut meet = |g: &Builder| {
            assert!(build, "{name} is built again");
            both.wait();
            work(g)
        };
        let plan = compile(&func, device, &mut meet).unwrap();
        for _ in 0..3 {
            assert_eq!(result(device, &plan), want);
        }
        func.status().unwrap()
    };
    thread::scope(|scope| {
        let one = scope.spawn(|| scene("prefill", prefill, [3.0, 6.0, 9.0, 12.0]));
        let two = scope.spawn(|| scene("decode", decode, RESULT));
        [one.join().unwrap(), two.join().unwrap()]
    })
}

#[test]
fn two_scenes_of_one_cache_compile_and_run_beside_each_other() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().verify(false).build().unwrap();
    assert_eq!(two_scenes(&cache, &device, true), [Status::Miss, Status::Miss]);
    assert_eq!(two_scenes(&cache, &device, false), [Status::Hit, Status::Hit]);
    let later = root.cache().verify(false).build().unwrap();
    assert_eq!(two_scenes(&later, &device, false), [Status::Hit, Status::Hit]);
    assert_eq!(root.files().len(), 4);
}

#[test]
fn one_function_on_several_threads_is_built_once() {
    let (root, device) = (Root::new(), device());
    let cache = root.cache().verify(false).build().unwrap();
    let func = cache.func("decode").inputs(&inputs(2));
    let (begun, has_begun) = channel();
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            let mut work = |g: &Builder| {
                begun.send(()).unwrap();
                decode(g)
            };
            compile(&func, &device, &mut work).unwrap()
        });
        has_begun.recv().unwrap();
        let again = || compile(&func, &device, &mut |_| panic!("built a second time")).unwrap();
        let others: Vec<_> = (0..3).map(|_| scope.spawn(again)).collect();
        for plan in others.into_iter().chain([first]).map(|thread| thread.join().unwrap()) {
            assert_eq!(result(&device, &plan), RESULT);
        }
    });
    // Who of them ended last is open.
    assert!(matches!(func.status(), Some(Status::Miss | Status::Hit)), "{:?}", func.status());
    compile(&func, &device, &mut |_| panic!("built a second time")).unwrap();
    assert_eq!(func.status(), Some(Status::Hit));
}

/// What comes of `outer`, which begins first and ends last, when `inner` compiles the same function meanwhile.
fn overlapping<F, G>(root: &Root, device: &Device, outer: F, inner: G) -> (CompileCache, Plan, Status)
where
    F: FnOnce(&CompileCache, &Device, &mut dyn FnMut()) -> Plan + Send,
    G: FnOnce(&CompileCache, &Device) -> Plan,
{
    let cache = root.cache().verify(false).build().unwrap();
    let ((begun, has_begun), (go, may_go)) = (channel(), channel::<()>());
    let plan = thread::scope(|scope| {
        let cache = &cache;
        let slow = scope.spawn(move || {
            outer(cache, device, &mut || {
                begun.send(()).unwrap();
                may_go.recv().unwrap();
            })
        });
        has_begun.recv().unwrap();
        inner(cache, device);
        assert_eq!(cache.status("decode"), Some(Status::Miss));
        go.send(()).unwrap();
        slow.join().unwrap()
    });
    let status = cache.status("decode").unwrap();
    (cache, plan, status)
}

#[test]
fn other_inputs_at_the_same_time_do_not_swap_their_entries() {
    let (root, device) = (Root::new(), device());
    let sized = |cache: &CompileCache, device: &Device, size: usize, before: &mut dyn FnMut()| {
        let mut work = |g: &Builder| {
            before();
            square(g, size)
        };
        compile(&cache.func("decode").inputs(&inputs(size)), device, &mut work).unwrap()
    };
    let (cache, plan, status) = overlapping(
        &root,
        &device,
        |cache, device, wait| sized(cache, device, 2, wait),
        |cache, device| sized(cache, device, 3, &mut || {}),
    );
    assert_eq!(result(&device, &plan), RESULT);
    let Status::Uncached(why) = status else { panic!("{status:?}") };
    assert!(why.contains("for other inputs at the same time"), "{why}");
    sized(&cache, &device, 3, &mut || panic!("built again"));
    assert_eq!(cache.status("decode"), Some(Status::Hit));
}

#[test]
fn another_closure_at_the_same_time_gets_its_own_plan() {
    let (root, device) = (Root::new(), device());
    let (cache, plan, status) = overlapping(
        &root,
        &device,
        |cache, device, wait| {
            let func = cache.func("decode").inputs(&inputs(2));
            func.compile(device, |g| {
                wait();
                decode(g)
            })
            .unwrap()
        },
        |cache, device| cache.func("decode").inputs(&inputs(2)).compile(device, prefill).unwrap(),
    );
    assert_eq!(result(&device, &plan), RESULT);
    assert!(matches!(&status, Status::Uncached(why) if why.contains("or by another closure")), "{status}");
    // The trace is that of the other one.
    let built = Cell::new(0);
    let func = cache.func("decode").inputs(&inputs(2));
    let third = func.compile(&device, |g| {
        built.set(built.get() + 1);
        decode(g)
    });
    assert_eq!(result(&device, &third.unwrap()), RESULT);
    assert!(matches!(func.status(), Some(Status::Abandoned(_))), "{:?}", func.status());
    assert_eq!(built.get(), 1);
}
