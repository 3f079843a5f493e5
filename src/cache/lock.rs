//! The lock beside an entry: of many processes one builds, the others wait for it.

use std::os::fd::OwnedFd;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::folder::{Folder, Trouble, refused};

/// Name of the lock file.
pub(super) const LOCK: &str = ".lock";

/// Held until it is dropped, or the process ends.
#[derive(Debug)]
pub(super) struct Lock {
    _fd: OwnedFd,
}

/// Takes the lock of a folder. `None` when others hold it all the time.
pub(super) fn take(folder: &Folder, timeout: Duration) -> Result<Option<Lock>, Trouble> {
    let start = Instant::now();
    loop {
        let fd = folder.open_lock(LOCK)?;
        let fd = match flock(&fd, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => fd,
            Err(Errno::WOULDBLOCK) => {
                log::debug!("compile cache: {} is locked; waiting", folder.path().display());
                match wait(fd, timeout.saturating_sub(start.elapsed())) {
                    Some(fd) => fd.map_err(|error| no_lock(folder, error))?,
                    None => return Ok(None),
                }
            }
            Err(error) => return Err(no_lock(folder, error)),
        };
        // Who prunes removes the file while holding it: the next one needs the new file.
        if folder.is_still(LOCK, &fd) {
            return Ok(Some(Lock { _fd: fd }));
        }
    }
}

fn no_lock(folder: &Folder, error: Errno) -> Trouble {
    refused(&folder.path().join(LOCK), format!("the file system gives no lock ({error})"))
}

/// Waits in a thread of its own, since such a wait has no time limit; one that takes too long gives the lock back as
/// soon as it has it.
fn wait(fd: OwnedFd, timeout: Duration) -> Option<Result<OwnedFd, Errno>> {
    let (done, waiting) = mpsc::channel();
    let work = move || {
        let locked = loop {
            match flock(&fd, FlockOperation::LockExclusive) {
                Err(Errno::INTR) => {}
                Err(error) => break Err(error),
                Ok(()) => break Ok(fd),
            }
        };
        // Nobody waits any more: the file is closed, which unlocks it.
        drop(done.send(locked));
    };
    if let Err(error) = thread::Builder::new().name("racl-cache-lock".to_owned()).spawn(work) {
        log::warn!("compile cache: no thread to wait for a lock in: {error}");
        return None;
    }
    waiting.recv_timeout(timeout).ok()
}
