//! Communicators of several ranks: threads of this process, each with a device of the mock, and processes.

#[path = "../common/mod.rs"]
mod common;

mod batches;
mod ended;
mod failures;
mod faults;
mod graphs;
mod made;
mod options;
mod processes;
mod ragged;
mod raw;
mod refused;
mod values;

use std::sync::{Mutex, MutexGuard, Once};

use common::mock;
use racl::collective::{Communicator, RootInfo};
use racl::{Acl, Device, Result, Stream};

/// What a rank of a test has.
pub(crate) struct Rank {
    pub(crate) device: Device,
    pub(crate) stream: Stream,
    pub(crate) ranks: Communicator,
}

impl Rank {
    pub(crate) fn me(&self) -> usize {
        self.ranks.rank() as usize
    }
}

/// Devices of the mock in this process.
pub(crate) const DEVICES: usize = 4;

/// The mock with several devices, and the right to be alone with it.
pub(crate) fn alone() -> (Acl, MutexGuard<'static, ()>) {
    static ONCE: Once = Once::new();
    let guard = mock::exclusive();
    // SAFETY: every test comes by here before it does anything else, and nothing reads the environment meanwhile.
    ONCE.call_once(|| unsafe { std::env::set_var("MOCK_ACL_DEVICES", "4") });
    (common::acl(), guard)
}

/// Runs `body` as each of `count` ranks, on as many threads and devices; gives what they gave, by rank.
pub(crate) fn run<T: Send>(acl: &Acl, count: usize, body: impl Fn(&Rank) -> T + Sync) -> Vec<T> {
    // Elsewhere there may be fewer.
    drop(common::device_at(count as i32 - 1));
    let root = RootInfo::new(acl.device(0).unwrap().context()).unwrap();
    let given = Mutex::new(Vec::new());
    let one = |rank: usize| -> Result<()> {
        let device = acl.device(rank as i32)?;
        let ranks = Communicator::new(device.context(), &root, rank as u32, count as u32)?;
        let stream = device.stream()?;
        let got = body(&Rank { device, stream, ranks });
        given.lock().unwrap().push((rank, got));
        Ok(())
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..count).map(|rank| scope.spawn(move || one(rank))).collect();
        one(0).unwrap();
        others.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
    });
    let mut given = given.into_inner().unwrap();
    given.sort_by_key(|(rank, _)| *rank);
    given.into_iter().map(|(_, got)| got).collect()
}
