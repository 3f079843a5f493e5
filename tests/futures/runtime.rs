//! With tokio: tasks on many threads, limits of time, and those that lose a race.

use std::time::Duration;

use racl::{Device, Result, Stream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::alone;
use crate::common::{device, mock};

fn runtime(threads: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(threads).enable_time().build().unwrap()
}

async fn sum_up(device: Device, stream: Stream, task: u32) -> Result<u64> {
    let mut sum = 0;
    let mut buffer = device.alloc::<u32>(256)?;
    for round in 0..20 {
        let sent = stream.upload(device.pinned_from(&[task + round; 256])?, &mut buffer);
        let pinned = sent.map_err(racl::Refused::into_error)?.await?;
        let came = stream.download(&buffer, pinned).map_err(racl::Refused::into_error)?.await?;
        stream.finished().await?;
        sum += came.iter().map(|one| u64::from(*one)).sum::<u64>();
    }
    Ok(sum)
}

#[test]
fn tasks_share_streams_and_threads() {
    let _alone = alone();
    let device = device();
    let streams: Vec<_> = (0..8).map(|_| device.stream().unwrap()).collect();
    let sums = runtime(4).block_on(async {
        let mut tasks = JoinSet::new();
        for task in 0..64 {
            tasks.spawn(sum_up(device.clone(), streams[task as usize % 8].clone(), task));
        }
        tasks.join_all().await
    });
    let sum: u64 = sums.into_iter().map(|sum| sum.unwrap()).sum();
    let expected: u64 = (0..64).flat_map(|task| (0..20).map(move |round| 256 * (task + round))).sum();
    assert_eq!(sum, expected);
}

/// The one that loses is dropped while its work is held.
#[test]
fn whoever_is_late_is_dropped_and_the_work_goes_on() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(64).unwrap();
    runtime(1).block_on(async {
        mock::hold(&stream).unwrap();
        let sent = stream.upload(device.pinned_from(&[8_u8; 64]).unwrap(), &mut buffer).unwrap();
        let limit = Duration::from_millis(1);
        assert!(tokio::time::timeout(limit, stream.finished()).await.is_err());
        assert!(tokio::time::timeout(limit, sent.into_future()).await.is_err());
        mock::release(&stream).unwrap();
        stream.finished().await.unwrap();
    });
    assert_eq!(buffer.to_vec().unwrap(), [8; 64]);
}

#[test]
fn a_runtime_that_ends_takes_its_futures_along() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    mock::hold(&stream).unwrap();
    let runtime = runtime(2);
    for _ in 0..100 {
        runtime.spawn(stream.finished());
    }
    runtime.shutdown_background();
    mock::release(&stream).unwrap();
    stream.synchronize().unwrap();
}
