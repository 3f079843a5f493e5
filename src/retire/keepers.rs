//! Waits without a limit, and who looks on meanwhile whether they can end.
//!
//! A graph that waits at a gate waits for ever when the work that opens the gate failed on the device. No call tells
//! that: so who waits does so in parts, and lets a [`Keeper`] look in between.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use super::{attend, pause, wait_within};
use crate::closure;
use crate::error::{ErrorKind, Result};
use crate::lock::{self, Lock};

/// How long a wait lasts before the first look, and at most between two of them.
const FIRST: i32 = 50;
const LONGEST: i32 = 1000;

/// Knows of work that waits for other work.
pub(crate) trait Keeper: Send + Sync + 'static {
    /// Looks whether that work failed, and lets go what waits for it.
    fn look(&self);

    /// The same, without blocking.
    fn glance(&self);
}

static KEEPERS: Lock<Vec<Weak<dyn Keeper>>> = Lock::new(Vec::new());
/// Whether there may be some.
static ANY: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What a keeper waits for is not looked after.
    static LOOKING: Cell<bool> = const { Cell::new(false) };
}

/// Lets `keeper` look on while somebody waits, as long as it lives.
pub(crate) fn add<K: Keeper>(keeper: &Arc<K>) {
    let weak: Weak<K> = Arc::downgrade(keeper);
    let mut keepers = KEEPERS.lock();
    keepers.retain(|known| known.strong_count() > 0);
    keepers.push(weak);
    ANY.store(true, Ordering::Release);
}

fn all() -> Vec<Arc<dyn Keeper>> {
    if !ANY.load(Ordering::Acquire) || LOOKING.get() {
        return Vec::new();
    }
    let mut keepers = KEEPERS.lock();
    let all: Vec<_> = keepers.iter().filter_map(Weak::upgrade).collect();
    if all.is_empty() {
        keepers.clear();
        ANY.store(false, Ordering::Release);
    }
    all
}

/// While keepers look, also where one of them panics; within another's look, too.
struct Looking(bool);

impl Looking {
    fn begin() -> Self {
        Self(LOOKING.replace(true))
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        LOOKING.set(self.0);
    }
}

/// Lets all keepers look. Drops that no thread could be started for are tried again: one of them may be waited for.
pub(crate) fn look() {
    attend();
    let keepers = all();
    let _looking = Looking::begin();
    keepers.iter().for_each(|keeper| keeper.look());
}

/// Lets all keepers look after a wait of so many milliseconds that was in vain, unless it was short.
pub(crate) fn look_after<T>(ms: i32, waited: Result<T>) -> Result<T> {
    if ms >= FIRST && waited.as_ref().is_err_and(|error| error.kind() == ErrorKind::Timeout) {
        look();
    }
    waited
}

/// Lets all keepers look when somebody asks again and again instead of waiting.
#[inline]
pub(crate) fn glance() {
    if ANY.load(Ordering::Acquire) {
        glance_now();
    }
}

#[cold]
fn glance_now() {
    /// When the next one is due, in milliseconds from the first on.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    if closure::is_running() || !lock::is_free() {
        return;
    }
    let now = BEGUN.get_or_init(Instant::now).elapsed().as_millis() as u64;
    let due = NEXT.load(Ordering::Relaxed);
    let next = now + u64::from(FIRST.unsigned_abs());
    if now < due || NEXT.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return;
    }
    let keepers = all();
    let _looking = Looking::begin();
    keepers.iter().for_each(|keeper| keeper.glance());
}

/// Waits with `synchronize`, which takes a limit in milliseconds, as long as it takes.
pub(crate) fn wait_long(synchronize: impl Fn(Option<i32>) -> Result<()>) -> Result<()> {
    if all().is_empty() {
        return synchronize(None);
    }
    let mut part = FIRST;
    loop {
        match wait_part(part, &synchronize) {
            Ok(false) => {}
            Err(error) if error.kind() == ErrorKind::MissingSymbol => return synchronize(None),
            other => return other.map(drop),
        }
        part = (part * 2).min(LONGEST);
    }
}

/// Waits for at most so many milliseconds, then looks; false when the work is not done.
pub(crate) fn wait_part(ms: i32, synchronize: impl Fn(Option<i32>) -> Result<()>) -> Result<bool> {
    let begun = Instant::now();
    let done = wait_within(ms, synchronize)?;
    if !done {
        look();
        // A library with a clock of its own may give up at once.
        if begun.elapsed() < Duration::from_millis(ms.unsigned_abs().into()) / 2 {
            pause();
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::thread::ThreadId;

    use super::*;

    /// Panics where it looks on this thread; other tests have it as well.
    struct Panics(ThreadId);

    impl Keeper for Panics {
        fn look(&self) {
            if std::thread::current().id() == self.0 {
                resume_unwind(Box::new("on purpose"));
            }
        }

        fn glance(&self) {}
    }

    #[test]
    fn a_look_leaves_things_as_they_were() {
        LOOKING.set(true);
        look(); // of what a keeper waits for
        assert!(LOOKING.replace(false));
        let keeper = Arc::new(Panics(std::thread::current().id()));
        add(&keeper);
        assert!(catch_unwind(AssertUnwindSafe(look)).is_err());
        assert!(!LOOKING.get());
    }
}
