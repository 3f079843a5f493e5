//! Threads that end what somebody else dropped.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use super::{CHANGED, PATIENT, lock};
use crate::lock::Lock;

/// What a thread is to do.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// A thread that waits.
pub(super) struct Elsewhere {
    done: Arc<AtomicBool>,
    pub(super) thread: JoinHandle<()>,
    /// Whoever dropped what it has waited as long as a drop does.
    pub(super) late: bool,
    /// Nobody waits for it any more.
    pub(super) given_up: bool,
}

impl Elsewhere {
    pub(super) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }
}

/// Says that a thread is done, also when what a graph or an executable owned panics.
struct Says(Arc<AtomicBool>);

impl Drop for Says {
    fn drop(&mut self) {
        let state = lock();
        self.0.store(true, Ordering::Release);
        drop(state);
        CHANGED.notify_all();
    }
}

/// A thread for `job`, or the job again.
pub(super) fn start(job: Job) -> Result<Elsewhere, (Job, io::Error)> {
    // A thread that cannot be started drops what it was given.
    let place = Arc::new(Lock::new(Some(job)));
    let done = Arc::<AtomicBool>::default();
    let (given, flag) = (Arc::clone(&place), Arc::clone(&done));
    let started = builder().spawn(move || {
        let _says = Says(flag);
        PATIENT.set(true);
        let job = given.lock().take();
        job.into_iter().for_each(|job| job());
    });
    started.map(|thread| Elsewhere { done, thread, late: false, given_up: false }).map_err(|error| {
        let job = place.lock().take();
        (job.unwrap_or_else(|| Box::new(|| {})), error)
    })
}

fn builder() -> std::thread::Builder {
    let builder = std::thread::Builder::new().name("racl-drop".to_owned());
    #[cfg(test)]
    if tests::NONE.get() {
        // More than there is room for.
        return builder.stack_size(1 << 56);
    }
    builder
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::mpsc::channel;

    use super::super::{collect, on_thread};

    thread_local! {
        /// Whether this thread can start no other.
        pub(super) static NONE: Cell<bool> = const { Cell::new(false) };
    }

    #[test]
    fn what_no_thread_could_be_started_for_is_kept_until_there_is_one() {
        let (send, receive) = channel();
        let here = std::thread::current().id();
        NONE.set(true);
        for number in 0..3 {
            let send = send.clone();
            on_thread(number, move |number| send.send((number, std::thread::current().id())).unwrap());
        }
        collect();
        NONE.set(false);
        collect();
        drop(send);
        let ended: Vec<_> = receive.iter().collect();
        let mut numbers: Vec<_> = ended.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2]);
        assert!(ended.iter().all(|(_, thread)| *thread != here));
    }
}
