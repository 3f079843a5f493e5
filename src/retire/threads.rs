//! Threads that end what somebody else dropped.
//!
//! There are [`ENOUGH`] at most, since a program may drop faster than they end things. Each ends once there is nothing to
//! do. Where all of them hang, what is behind may be what they wait for: then there are more.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{CHANGED, PATIENT, lock};
use crate::call::is_forked;
use crate::lock::{bury, say};

/// What a thread is to do.
type Job = Box<dyn FnOnce() + Send>;

/// As many threads as there are while they do not hang.
const ENOUGH: usize = 64;

/// They hang when none of them has taken a job or ended one for so long.
const STUCK: Duration = Duration::from_millis(50);

/// Of those that are started because others hang, the next one takes a job so much later.
const APART: Duration = Duration::from_millis(10);

/// A job that has not ended.
#[derive(Default)]
pub(super) struct Open {
    /// Whoever dropped what it has waited as long as a drop does.
    pub(super) late: bool,
    /// Nobody waits for it any more.
    pub(super) given_up: bool,
    /// Somebody who waits for a moment only has done so.
    pub(super) waited_for: bool,
}

struct Thread {
    /// It takes no more jobs.
    left: Arc<AtomicBool>,
    handle: JoinHandle<()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Worker,
    /// Waits until the workers hang, and is one then.
    Spare,
}

pub(super) struct Jobs {
    pub(super) open: BTreeMap<u64, Open>,
    /// Those that no thread has taken yet.
    queue: VecDeque<(u64, Job)>,
    /// Those that are tried again later.
    kept: Vec<Job>,
    /// The number of the latest.
    last: u64,
    /// Any has, since somebody asked last.
    ended: bool,
    threads: Vec<Thread>,
    /// Of `threads`, those that take no more jobs.
    left: usize,
    workers: usize,
    /// Of `workers`, those that are about to take their first job.
    starting: usize,
    spare: bool,
    /// When the spare takes a job.
    due: Option<Instant>,
}

impl Jobs {
    pub(super) const fn new() -> Self {
        Self {
            open: BTreeMap::new(),
            queue: VecDeque::new(),
            kept: Vec::new(),
            last: 0,
            ended: false,
            threads: Vec::new(),
            left: 0,
            workers: 0,
            starting: 0,
            spare: false,
            due: None,
        }
    }

    fn push(&mut self, job: Job, late: bool) {
        self.last += 1;
        self.open.insert(self.last, Open { late, ..Open::default() });
        self.queue.push_back((self.last, job));
    }

    /// Puts what was [kept](keep) where threads take it.
    pub(super) fn resume(&mut self) {
        for job in std::mem::take(&mut self.kept) {
            self.push(job, false);
        }
    }

    /// Whether there is nothing to end, to join or to tell.
    pub(super) fn are_idle(&self) -> bool {
        self.open.is_empty() && self.threads.is_empty() && !self.ended
    }

    /// Whether there are jobs that threads will end, if nothing holds them up.
    pub(super) fn go_on(&self) -> bool {
        !self.open.is_empty() && (self.workers > 0 || self.spare)
    }

    /// The role of a thread that is to be started, if one is.
    fn claim(&mut self) -> Option<Role> {
        if self.queue.len() <= self.starting {
            return None;
        }
        if self.workers < ENOUGH {
            self.workers += 1;
            self.starting += 1;
            return Some(Role::Worker);
        }
        (!std::mem::replace(&mut self.spare, true)).then_some(Role::Spare)
    }

    /// A thread could not be started.
    fn disclaim(&mut self, role: Role) {
        match role {
            Role::Worker => {
                self.workers -= 1;
                self.starting -= 1;
            }
            Role::Spare => self.spare = false,
        }
    }

    /// A job for a worker, which is none any more where there is none.
    fn take(&mut self, left: &AtomicBool) -> Option<(u64, Job)> {
        let job = self.queue.pop_front();
        if job.is_none() {
            self.workers -= 1;
            self.left += 1;
            left.store(true, Ordering::Release);
        }
        self.due = Instant::now().checked_add(STUCK);
        job
    }

    /// The job with this number has ended: as [`Jobs::take`].
    fn next(&mut self, number: u64, left: &AtomicBool) -> Option<(u64, Job)> {
        self.open.remove(&number);
        self.ended = true;
        // Also one that was a spare: it goes on while others hang.
        self.take(left)
    }

    fn take_left(&mut self) -> Vec<Thread> {
        if self.left == 0 {
            return Vec::new();
        }
        let (left, threads): (Vec<_>, _) =
            std::mem::take(&mut self.threads).into_iter().partition(|thread| thread.left.load(Ordering::Acquire));
        self.threads = threads;
        // One that has just been started may be missing among the threads.
        self.left -= left.len();
        left
    }
}

/// Gives threads a job, which is kept where none can be started.
pub(super) fn begin(job: Job, late: bool) {
    let gone = {
        let jobs = &mut lock().jobs;
        jobs.push(job, late);
        // Each has a stack until it is joined or let go, which is never waited for: it may end values of the program.
        if jobs.left > ENOUGH { jobs.take_left() } else { Vec::new() }
    };
    drop(gone);
    if let Err(error) = attend() {
        say!(Error, "no thread for a drop that has to wait, which is kept until there is one: {error}");
    }
}

/// Keeps a job until [`Jobs::resume`].
pub(super) fn keep(job: Job) {
    lock().jobs.kept.push(job);
}

/// Starts the threads that the jobs need; those that cannot be started are tried again by the next call.
pub(super) fn attend() -> io::Result<()> {
    while !is_forked() {
        let role = lock().jobs.claim();
        let Some(role) = role else { break };
        start(role)?;
    }
    Ok(())
}

/// Joins the threads that take no more jobs. Whether any job has ended since the last call.
pub(super) fn collect() -> bool {
    let (left, ended) = {
        let jobs = &mut lock().jobs;
        (jobs.take_left(), std::mem::take(&mut jobs.ended))
    };
    left.into_iter().filter_map(|thread| thread.handle.join().err()).for_each(bury);
    ended
}

fn start(role: Role) -> io::Result<()> {
    let left = Arc::<AtomicBool>::default();
    let own = Arc::clone(&left);
    let started = builder().spawn(move || work(role, &own));
    let jobs = &mut lock().jobs;
    match started {
        Ok(handle) => jobs.threads.push(Thread { left, handle }),
        Err(error) => {
            jobs.disclaim(role);
            return Err(error);
        }
    }
    Ok(())
}

fn work(role: Role, left: &AtomicBool) {
    PATIENT.set(true);
    let mut next = match role {
        Role::Worker => take_first(left),
        Role::Spare => await_turn(left),
    };
    while let Some((number, job)) = next {
        run(job);
        next = lock().jobs.next(number, left);
        CHANGED.notify_all();
    }
}

fn take_first(left: &AtomicBool) -> Option<(u64, Job)> {
    let jobs = &mut lock().jobs;
    jobs.starting -= 1;
    jobs.take(left)
}

/// Waits until all workers hang, or there is nothing to do.
fn await_turn(left: &AtomicBool) -> Option<(u64, Job)> {
    let mut state = lock();
    let job = loop {
        let jobs = &mut state.jobs;
        let now = Instant::now();
        let rest = jobs.due.map_or(Duration::ZERO, |due| due.saturating_duration_since(now));
        if jobs.queue.is_empty() || rest.is_zero() {
            jobs.spare = false;
            jobs.workers += 1;
            let job = jobs.take(left);
            jobs.due = now.checked_add(APART);
            break job;
        }
        state = CHANGED.wait_timeout(state, rest);
    };
    drop(state);
    // The next spare.
    super::attend();
    job
}

/// Also what panics ends, for a graph or an executable owns values of the program.
fn run(job: Job) {
    if let Err(thrown) = catch_unwind(AssertUnwindSafe(job)) {
        say!(Error, "something that a graph or an executable owned panicked when it was dropped");
        bury(thrown);
    }
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
    use std::panic::resume_unwind;
    use std::sync::Barrier;
    use std::sync::mpsc::channel;

    use super::super::{collect, on_thread};
    use super::*;

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

    /// Panics when it is dropped, and what that throws does so again.
    struct Throws;

    impl Drop for Throws {
        fn drop(&mut self) {
            resume_unwind(Box::new("on purpose"));
        }
    }

    #[test]
    fn a_job_that_panics_does_not_keep_others_from_their_end() {
        let (jobs, left) = (&mut Jobs::new(), AtomicBool::new(false));
        jobs.push(Box::new(|| resume_unwind(Box::new(Throws))), false);
        jobs.push(Box::new(|| ()), false);
        jobs.workers = 1;
        let (first, job) = jobs.take(&left).unwrap();
        run(job);
        assert_eq!(jobs.next(first, &left).map(|(second, _)| second), Some(2));
        assert!(jobs.open.len() == 1 && jobs.ended);
        let (send, receive) = channel();
        // More than there are threads for, so that these have to go on.
        for number in 0..3 * ENOUGH {
            let send = send.clone();
            on_thread(number, move |number| {
                send.send(number).unwrap();
                resume_unwind(Box::new(Throws));
            });
        }
        drop(send);
        let mut ended: Vec<_> = receive.iter().collect();
        ended.sort_unstable();
        assert_eq!(ended, (0..3 * ENOUGH).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_behind_jobs_that_hang_is_ended() {
        let (send, receive) = channel();
        let hangs = Arc::new(Barrier::new(2 * ENOUGH + 1));
        for _ in 0..2 * ENOUGH {
            on_thread(Arc::clone(&hangs), |hangs| {
                hangs.wait();
            });
        }
        // Comes last, and lets the others go; no call is made meanwhile.
        on_thread(hangs, move |hangs| {
            hangs.wait();
            send.send(()).unwrap();
        });
        receive.recv().unwrap();
    }

    #[test]
    fn jobs_have_a_thread_each_up_to_enough_and_then_a_spare() {
        let jobs = &mut Jobs::new();
        let mut roles = Vec::new();
        for _ in 0..ENOUGH + 3 {
            jobs.push(Box::new(|| ()), false);
            roles.extend(jobs.claim());
        }
        assert_eq!((roles.len(), roles.iter().filter(|role| **role == Role::Spare).count()), (ENOUGH + 1, 1));
        // One that could not be started is due again.
        jobs.disclaim(Role::Spare);
        assert!(jobs.claim() == Some(Role::Spare) && jobs.claim().is_none());
        let left = AtomicBool::new(false);
        while jobs.take(&left).is_some() {}
        assert!(left.load(Ordering::Acquire));
        assert_eq!((jobs.workers, jobs.left), (ENOUGH - 1, 1));
    }
}
