//! The lock beside an entry: of many processes one builds, the others wait for it.
//!
//! Who has built and can store nothing writes why into the file before unlocking it. Whoever has waited finds that
//! and builds at once, without the lock, so that the others do the same beside it. Who takes the lock to build,
//! empties the file: the word of one that dies, or of another time, stops nobody.

use std::os::fd::OwnedFd;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock, ftruncate};
use rustix::io::{Errno, pread, pwrite};

use super::folder::{Folder, Trouble, refused};
use crate::lock::say;
use crate::text::shown;

/// Name of the lock file.
pub(super) const LOCK: &str = ".lock";
/// How the word for those who wait begins.
const WORD: &str = "not stored: ";
/// Most bytes of it.
const MOST_WORD: usize = 1024;

/// Held until it is dropped, or the process ends.
///
/// A child that is forked without starting another program shares it: when this process dies before unlocking, the
/// lock lasts until the child ends too.
#[derive(Debug)]
pub(super) struct Lock {
    fd: OwnedFd,
    process: u32,
}

impl Lock {
    fn of(fd: OwnedFd) -> Self {
        Self { fd, process: std::process::id() }
    }

    /// Whether this process has taken it, and not one that it was forked from.
    pub(super) fn is_own(&self) -> bool {
        self.process == std::process::id()
    }

    /// Tells those who wait that nothing was stored, and why.
    pub(super) fn leave_word(&self, why: &str) {
        let text = format!("{WORD}{why}");
        let bytes = &text.as_bytes()[..text.len().min(MOST_WORD)];
        let written = ftruncate(&self.fd, 0).and_then(|()| pwrite(&self.fd, bytes, 0));
        // Where the disk is full, a length needs no room.
        if written.is_err() && ftruncate(&self.fd, WORD.len() as u64).is_err() {
            say!(Debug, "compile cache: no word for those who wait for a lock");
        }
    }

    /// What the last builder has left, taken away when `forget` says so.
    fn word(&self, forget: bool) -> Option<String> {
        let mut bytes = [0; MOST_WORD];
        let count = pread(&self.fd, &mut bytes[..], 0).unwrap_or(0);
        if count == 0 {
            return None;
        }
        if forget && let Err(error) = ftruncate(&self.fd, 0) {
            say!(Debug, "compile cache: a word in a lock file stays: {error}");
        }
        let text = String::from_utf8_lossy(&bytes[..count]);
        Some(text.strip_prefix(WORD).unwrap_or("for a reason that it could not write down").to_owned())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough while a forked child has the file open too, and the child must not unlock.
        if self.is_own()
            && let Err(error) = flock(&self.fd, FlockOperation::Unlock)
        {
            say!(Warn, "compile cache: a lock file cannot be unlocked ({error}); closing it has to do");
        }
    }
}

/// Whether bytes of a lock file are such that a cache has written.
pub(super) fn is_lock(bytes: &[u8]) -> bool {
    let is_length = bytes.len() <= WORD.len() && bytes.iter().all(|byte| *byte == 0);
    is_length || bytes.starts_with(WORD.as_bytes())
}

/// Takes the lock of a folder, with what the last one to hold it has left for those who waited. `None` when others
/// hold it all the time.
pub(super) fn take(folder: &Folder, timeout: Duration) -> Result<Option<(Lock, Option<String>)>, Trouble> {
    let start = Instant::now();
    let mut waited = false;
    loop {
        let fd = folder.open_lock(LOCK)?;
        let lock = match flock(&fd, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Lock::of(fd),
            Err(Errno::WOULDBLOCK) => {
                say!(Debug, "compile cache: {} is locked; waiting", shown(folder.path()));
                waited = true;
                match wait(fd, timeout.saturating_sub(start.elapsed())) {
                    Some(lock) => lock.map_err(|error| no_lock(folder, error))?,
                    None => return Ok(None),
                }
            }
            Err(error) => return Err(no_lock(folder, error)),
        };
        // Who prunes removes the file while holding it: the next one needs the new file.
        if folder.is_still(LOCK, &lock.fd) {
            let word = lock.word(!waited).filter(|_| waited);
            return Ok(Some((lock, word)));
        }
    }
}

fn no_lock(folder: &Folder, error: Errno) -> Trouble {
    refused(&folder.path().join(LOCK), format!("the file system gives no lock ({error})"))
}

/// Waits in a thread of its own, since such a wait has no time limit; one that takes too long gives the lock back as
/// soon as it has it.
fn wait(fd: OwnedFd, timeout: Duration) -> Option<Result<Lock, Errno>> {
    let (done, waiting) = mpsc::channel();
    let work = move || {
        let locked = loop {
            match flock(&fd, FlockOperation::LockExclusive) {
                Err(Errno::INTR) => {}
                Err(error) => break Err(error),
                Ok(()) => break Ok(Lock::of(fd)),
            }
        };
        // When nobody waits any more, this unlocks it.
        drop(done.send(locked));
    };
    if let Err(error) = thread::Builder::new().name("racl-cache-lock".to_owned()).spawn(work) {
        say!(Warn, "compile cache: no thread to wait for a lock in: {error}");
        return None;
    }
    waiting.recv_timeout(timeout).ok()
}
