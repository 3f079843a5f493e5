//! The lock: who waits, for how long, and who else may hold it.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::{Barrier, mpsc};
use std::time::{Duration, Instant};
use std::{fs, thread};

use racl::Result;
use racl::cache::CompileCache;
use racl::cache::Status;
use racl::plan::{Builder, HostFunction};

use crate::{Root, assert_hit, assert_rebuilt, decode, device, inputs, start};

/// Far more than any of this takes, also on a busy machine.
const LONG: Duration = Duration::from_secs(400);

fn compile(cache: &CompileCache, work: impl FnOnce(&Builder) -> Result<()>) -> Status {
    let mut work = Some(work);
    let mut once = |g: &Builder| work.take().expect("a plan is built once")(g);
    crate::compile(&cache.func("decode").inputs(&inputs(2)), &device(), &mut once).unwrap();
    cache.status("decode").unwrap()
}

/// Waits until so many wait for the lock of an entry below a root.
fn wait_for_waiters(root: &Root, count: usize) {
    let end = Instant::now() + LONG;
    while root.log().iter().filter(|line| line.contains("is locked; waiting")).count() < count {
        assert!(Instant::now() < end, "{:#?}", root.log());
        thread::yield_now();
    }
}

/// Lets one build while two wait; these two then build at the same time, or not at all.
fn two_wait_for_one(root: &Root, work: impl Fn(&Builder) -> Result<()> + Sync) -> Vec<Status> {
    let (begun, has_begun) = mpsc::channel();
    let (go, may_go) = mpsc::channel::<()>();
    let (together, work) = (Barrier::new(2), &work);
    // Who waits for the lock of the other one never gets to the barrier; after a while it builds alone.
    let cache = || root.cache().lock_timeout(LONG / 4).build().unwrap();
    thread::scope(|scope| {
        let first = cache();
        let first = scope.spawn(move || {
            compile(&first, |g| {
                begun.send(()).unwrap();
                may_go.recv().unwrap();
                work(g)
            })
        });
        has_begun.recv().unwrap();
        let waiting = [cache(), cache()].map(|cache| {
            let together = &together;
            scope.spawn(move || {
                compile(&cache, |g| {
                    together.wait();
                    work(g)
                })
            })
        });
        wait_for_waiters(root, 2);
        go.send(()).unwrap();
        [first].into_iter().chain(waiting).map(|thread| thread.join().unwrap()).collect()
    })
}

#[track_caller]
fn assert_told(statuses: &[Status], why: &str) {
    let [first, waiting @ ..] = statuses else { panic!() };
    assert!(matches!(first, Status::Uncached(text) if text.contains(why)), "{first}");
    for status in waiting {
        let Status::Uncached(text) = status else { panic!("{status}") };
        assert!(text.contains("was not stored: ") && text.contains(why), "{text}");
    }
}

#[test]
fn who_waits_for_a_plan_that_no_file_can_hold_builds_at_once() {
    let root = Root::new();
    let statuses = two_wait_for_one(&root, |g| {
        g.host_function(&HostFunction::unnamed(|_| {}))?;
        decode(g)
    });
    assert_told(&statuses, "has no name");
    // Nobody else is stopped by it.
    assert_eq!(start(root.cache()), (Status::Miss, true));
    assert_hit(root.cache());
}

#[test]
fn who_waits_for_a_plan_that_cannot_be_written_builds_at_once() {
    let root = Root::new();
    crate::assert_miss(root.cache());
    fs::remove_file(root.recipe()).unwrap();
    // In the way of the temporary file.
    let meta = root.files().remove(0);
    let block = meta.with_file_name(format!(".meta.json.{}.tmp", std::process::id()));
    fs::create_dir(&block).unwrap();
    assert_told(&two_wait_for_one(&root, decode), ".tmp: ");
    fs::remove_dir(&block).unwrap();
    assert_eq!(start(root.cache()), (Status::Miss, true));
    assert_hit(root.cache());
}

#[test]
fn a_word_of_another_time_stops_nobody() {
    let root = Root::new();
    let (begun, has_begun) = mpsc::channel();
    let (go, may_go) = mpsc::channel::<()>();
    let cache = root.cache().build().unwrap();
    compile(&cache, |g| g.host_function(&HostFunction::unnamed(|_| {})).and_then(|()| decode(g)));
    thread::scope(|scope| {
        let fails = root.cache().build().unwrap();
        let failing = scope.spawn(move || {
            let mut fail = |g: &Builder| {
                begun.send(()).unwrap();
                may_go.recv().unwrap();
                g.join("nowhere")
            };
            crate::compile(&fails.func("decode").inputs(&inputs(2)), &device(), &mut fail).unwrap_err();
        });
        has_begun.recv().unwrap();
        let waiting = scope.spawn(|| start(root.cache()));
        wait_for_waiters(&root, 1);
        go.send(()).unwrap();
        failing.join().unwrap();
        assert_eq!(waiting.join().unwrap(), (Status::Miss, true));
    });
}

/// Lets the child go on, also when the test fails: it has this end of the socket open too.
struct LetGo(UnixStream);

impl Drop for LetGo {
    fn drop(&mut self) {
        // A child that is gone does not read.
        let _ = self.0.write_all(b"g");
    }
}

#[test]
fn a_child_that_was_forked_while_a_plan_was_built_does_not_keep_the_lock() {
    let root = Root::new();
    let (here, mut there) = UnixStream::pair().unwrap();
    let here = LetGo(here);
    let mut forked = None;
    let cache = root.cache().build().unwrap();
    let status = compile(&cache, |g| {
        let mut command = Command::new("true");
        // SAFETY: between fork and exec only one byte is written to a socket and one is read.
        unsafe {
            command.pre_exec(move || {
                there.write_all(b"f")?;
                there.read_exact(&mut [0])
            });
        }
        forked = Some(thread::spawn(move || command.status()));
        // From here on the child has every file of this process open, until it is let go.
        (&here.0).read_exact(&mut [0]).unwrap();
        decode(g)
    });
    assert_eq!(status, Status::Miss);
    fs::write(root.recipe(), "broken").unwrap();
    assert_rebuilt(root.cache().lock_timeout(Duration::from_millis(1)), "its first bytes are others");
    drop(here);
    assert!(forked.unwrap().join().unwrap().unwrap().success());
    assert_hit(root.cache());
}
