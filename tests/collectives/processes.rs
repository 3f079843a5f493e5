//! Ranks that are processes: this program, started again.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use racl::collective::{Communicator, Reduction, RootInfo};
use racl::{Acl, CaptureMode, ErrorKind};

use crate::alone;
use crate::common::needs_mock;

const RANK: &str = "RACL_TEST_RANK";
const FOLDER: &str = "RACL_TEST_FOLDER";

/// The bytes of the root information, once rank 0 has put the file there whole.
fn root(context: &racl::Context, rank: u32) -> RootInfo {
    let path = PathBuf::from(std::env::var_os(FOLDER).unwrap()).join("root");
    if rank == 0 {
        let root = RootInfo::new(context).unwrap();
        let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap()).unwrap();
        file.write_all(root.as_bytes()).unwrap();
        file.persist(&path).unwrap();
        return root;
    }
    loop {
        match std::fs::read(&path) {
            Ok(bytes) => return RootInfo::from_bytes(&bytes).unwrap(),
            Err(_) => std::thread::yield_now(),
        }
    }
}

fn start(test: &str, rank: u32, folder: &std::path::Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("processes::{test}"), "--nocapture"])
        .env(RANK, rank.to_string())
        .env(FOLDER, folder)
        .env("MOCK_ACL_DEVICES", "4")
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Runs `test` as each of `count` ranks, or gives the rank that this process is.
fn as_rank(test: &str, count: u32, good: &[u32]) -> Option<u32> {
    if let Ok(rank) = std::env::var(RANK) {
        return Some(rank.parse().unwrap());
    }
    let folder = tempfile::tempdir().unwrap();
    let children: Vec<_> = (0..count).map(|rank| start(test, rank, folder.path())).collect();
    for (rank, mut child) in (0..).zip(children) {
        let status = child.wait().unwrap();
        assert!(status.success() || !good.contains(&rank), "rank {rank}: {status}");
    }
    None
}

fn join(acl: &Acl, rank: u32, count: u32) -> (racl::Device, Communicator) {
    let device = acl.device(rank as i32).unwrap();
    let root = root(device.context(), rank);
    let ranks = Communicator::new(device.context(), &root, rank, count).unwrap();
    (device, ranks)
}

#[test]
fn processes_have_the_right_numbers() {
    const COUNT: u32 = 4;
    let Some(rank) = as_rank("processes_have_the_right_numbers", COUNT, &[0, 1, 2, 3]) else { return };
    let (acl, _alone) = alone();
    let (device, ranks) = join(&acl, rank, COUNT);
    let stream = device.stream().unwrap();
    let len = 5000;
    let own: Vec<_> = (0..len).map(|index| (index * (rank as usize + 1)) as f32).collect();
    let (send, mut recv) = (device.upload(&own).unwrap(), device.alloc::<f32>(len).unwrap());
    ranks.all_reduce(&stream, &send, &mut recv, Reduction::Sum).unwrap();
    let expected: Vec<_> = (0..len).map(|index| 10.0 * index as f32).collect();
    assert_eq!(recv.to_vec().unwrap(), expected);

    let mut graph = stream
        .capture(CaptureMode::ThreadLocal, |stream| {
            ranks.all_reduce_in_place(stream, &mut recv, Reduction::Max)?;
            ranks.barrier(stream)
        })
        .unwrap();
    for _ in 0..3 {
        graph.launch(&stream).unwrap();
    }
    assert_eq!(recv.to_vec().unwrap(), expected);
}

#[test]
fn a_process_that_dies_is_told_to_the_others() {
    needs_mock("a card hangs there");
    let Some(rank) = as_rank("a_process_that_dies_is_told_to_the_others", 2, &[0]) else { return };
    let (acl, _alone) = alone();
    let (device, ranks) = join(&acl, rank, 2);
    let stream = device.stream().unwrap();
    ranks.barrier(&stream).unwrap();
    stream.synchronize().unwrap();
    if rank == 1 {
        std::process::abort();
    }
    ranks.barrier(&stream).unwrap();
    assert_eq!(stream.synchronize().unwrap_err().code(), Some(507_022));
    let why = ranks.async_error().unwrap().unwrap();
    assert_eq!(why.kind(), ErrorKind::Communication, "{why}");
    ranks.abort().unwrap();
    racl::set_drop_limit(Duration::from_secs(10));
}
