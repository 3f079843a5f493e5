//! Futures of events that several processes have, whose streams are not this process's: one thread asks for all of them,
//! while there are any.

use std::ops::Range;
use std::process;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use super::place::{Place, wake};
use super::waiter::LINGERS;
use super::{Awaited, Reached};
use crate::closure;
use crate::error::{Error, ErrorKind, Result};
use crate::event::IpcEvent;
use crate::lock::{Lock, Signal};

/// How soon the thread asks again: at first, and at last.
const AGAIN: Range<Duration> = Duration::from_micros(50)..Duration::from_millis(5);

static ASKED: Lock<Asked> = Lock::new(Asked { waits: Vec::new(), process: 0 });
static CHANGED: Signal = Signal::new();

struct Asked {
    waits: Vec<Wait>,
    /// That the thread is in; a child of a fork has none. 0 for no thread.
    process: u32,
}

/// The future has both.
struct Wait {
    event: Weak<IpcEvent>,
    place: Weak<Place>,
}

impl IpcEvent {
    /// A future that is ready when the latest record of any process is reached; at once for an event that was never
    /// recorded. The event is kept until then. When it is recorded anew meanwhile, the future is ready by that record.
    ///
    /// Any thread may poll it, with any executor. Polling does not block. Dropping it takes nothing back. A thread asks
    /// for all such events of the process, from every 50 microseconds to every 5 milliseconds, while one is awaited.
    ///
    /// # Errors
    ///
    /// Of the await: as [`IpcEvent::synchronize`]. What a future was told that was dropped is kept for
    /// [`Context::take_drop_errors`](crate::Context::take_drop_errors).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// async fn both(theirs: &Arc<racl::IpcEvent>, stream: &racl::Stream) -> racl::Result<()> {
    ///     theirs.reached().await?; // what another process recorded
    ///     stream.finished().await
    /// }
    /// ```
    #[doc(alias = "aclrtQueryEventStatus")]
    pub fn reached(self: &Arc<Self>) -> Reached {
        Reached(Awaited::Elsewhere(Arc::clone(self)))
    }
}

/// How the work before the latest record ended, if it is over. Does not block.
pub(super) fn ask(event: &IpcEvent) -> Option<Result<()>> {
    if closure::is_running() {
        // No call is allowed there.
        return None;
    }
    match event.is_complete() {
        // Returns at once, and tells how it ended.
        Ok(true) => Some(event.synchronize()),
        Ok(false) => None,
        Err(error) => Some(Err(error)),
    }
}

/// What a future was told of the event that was dropped.
pub(super) fn keep(event: &IpcEvent, error: Error) {
    event.context_inner().record_drop_error("an event whose future was dropped", error);
}

/// Lets the thread ask for `event` and tell `place`.
pub(super) fn tell(event: &Arc<IpcEvent>, place: &Arc<Place>) -> Result<()> {
    let mut asked = ASKED.lock();
    if asked.process != process::id() {
        // Those of the parent of a fork are nobody's here.
        asked.waits.clear();
        start()?;
        asked.process = process::id();
    }
    asked.waits.push(Wait { event: Arc::downgrade(event), place: Arc::downgrade(place) });
    drop(asked);
    CHANGED.notify_all();
    Ok(())
}

fn start() -> Result<()> {
    let started = thread::Builder::new().name("racl asks events".to_owned()).spawn(run);
    started.map(drop).map_err(|error| {
        let text = format!("no thread that asks for events of processes: {error}");
        Error::new(ErrorKind::Other, text).with_source(error)
    })
}

fn run() {
    let mut pause = AGAIN.start;
    loop {
        let mut asked = ASKED.lock();
        if asked.waits.is_empty() {
            asked = CHANGED.wait_timeout(asked, LINGERS);
            pause = AGAIN.start;
        }
        if asked.waits.is_empty() {
            asked.process = 0;
            return;
        }
        let waits = std::mem::take(&mut asked.waits);
        drop(asked);
        let (before, open) = (waits.len(), waits.into_iter().filter_map(still_open).collect::<Vec<_>>());
        pause = if open.len() < before { AGAIN.start } else { (2 * pause).min(AGAIN.end) };
        let mut asked = ASKED.lock();
        asked.waits.extend(open);
        if !asked.waits.is_empty() {
            // Whoever comes meanwhile is asked for at once.
            drop(CHANGED.wait_timeout(asked, pause));
        }
    }
}

/// Asks for one, whose future is told and woken where it is over, and gone where nobody has it.
fn still_open(wait: Wait) -> Option<Wait> {
    let event = wait.event.upgrade()?;
    if wait.place.strong_count() == 0 {
        return None;
    }
    let Some(ended) = ask(&event) else { return Some(wait) };
    let told = match wait.place.upgrade() {
        Some(place) => place.tell(ended),
        None => ended.map(|()| None),
    };
    let waker = told.unwrap_or_else(|error| {
        keep(&event, error);
        None
    });
    // Whoever is woken may close the context next.
    drop(event);
    waker.into_iter().for_each(wake);
    None
}
