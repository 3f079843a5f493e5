//! A stream in the middle loses its waits: who is behind it is not behind what that waited for any more, and later work
//! is ordered anew, whatever was told.
#![forbid(unsafe_code)]

mod common;
#[path = "common/watchdog.rs"]
mod watchdog;

use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::{device, mock};
use racl::{CaptureMode, Context, DeviceBuffer, GraphPool, Stream, StreamOptions};

const FAULT: i32 = 507_015;

/// Of which there is room for one more where there is little.
const LARGE: usize = 30 << 20;

/// A chain of streams, of which the far end is held.
struct Three {
    context: Context,
    far: Stream,
    middle: Stream,
    near: Stream,
    _watched: watchdog::Watchdog,
    _alone: MutexGuard<'static, ()>,
}

impl Three {
    fn new(options: StreamOptions) -> Self {
        common::needs_mock("it holds streams, and lets work fail");
        let (alone, watched) = (mock::exclusive(), watchdog::Watchdog::new());
        let context = device().context().create_context().unwrap();
        let [far, near] = [0; 2].map(|_| context.stream().unwrap());
        let middle = context.stream_with(options).unwrap();
        mock::hold(&far).unwrap();
        Self { context, far, middle, near, _watched: watched, _alone: alone }
    }

    fn zeros(&self) -> DeviceBuffer<u8> {
        self.context.alloc_zeroed(64).unwrap()
    }

    /// Memory that the far stream writes once it goes on.
    fn large(&self) -> DeviceBuffer<u8> {
        let mut large = self.far.alloc(LARGE).unwrap();
        self.far.fill_bytes(&mut large, 7).unwrap();
        large
    }

    /// Nobody else writes what the near stream had newly, and wrote.
    #[track_caller]
    fn near_has_its_own(&self, own: &DeviceBuffer<u8>) {
        mock::run_until_idle();
        mock::release(&self.far).unwrap();
        self.near.synchronize().unwrap();
        self.far.synchronize().unwrap();
        assert!(own.to_vec().unwrap().iter().all(|byte| *byte == 128));
    }

    /// The near stream wrote to `buffer` last of all, which the far one writes once it goes on.
    #[track_caller]
    fn near_comes_last(self, buffer: &DeviceBuffer<u8>) {
        mock::run_until_idle();
        mock::release(&self.far).unwrap();
        self.near.synchronize().unwrap();
        self.far.synchronize().unwrap();
        let _ = self.middle.synchronize();
        assert_eq!(buffer.to_vec().unwrap(), [128; 64]);
        self.context.take_drop_errors();
        mock::clear_failures();
    }
}

#[test]
fn by_an_abort_behind_the_memory_that_they_use() {
    let three = Three::new(StreamOptions::new());
    let (mut buffer, mut other) = (three.zeros(), three.zeros());
    three.far.fill_bytes(&mut buffer, 7).unwrap();
    three.middle.copy(&buffer, &mut other).unwrap();
    three.near.fill_bytes(&mut other, 1).unwrap();
    three.middle.abort().unwrap();
    three.near.fill_bytes(&mut buffer, 128).unwrap();
    three.near_comes_last(&buffer);
}

#[test]
fn by_an_abort_behind_events_of_which_one_is_waited_for_later() {
    for later in [false, true] {
        let three = Three::new(StreamOptions::new());
        let (mut buffer, fourth) = (three.zeros(), three.context.stream().unwrap());
        let event = three.context.event().unwrap();
        three.far.fill_bytes(&mut buffer, 7).unwrap();
        three.far.fork(&three.middle).unwrap();
        three.middle.fork(&fourth).unwrap();
        event.record(&fourth).unwrap();
        if !later {
            three.near.wait(&event).unwrap();
        }
        three.middle.abort().unwrap();
        if later {
            three.near.wait(&event).unwrap();
        }
        three.near.fill_bytes(&mut buffer, 128).unwrap();
        three.near_comes_last(&buffer);
    }
}

#[test]
fn by_an_abort_while_memory_is_short() {
    let three = Three::new(StreamOptions::new());
    let mut other = three.zeros();
    three.context.set_memory_limit(Some(45 << 20));
    let large = three.large();
    three.middle.copy(&large.slice(..64).unwrap(), &mut other).unwrap();
    three.near.fill_bytes(&mut other, 1).unwrap();
    three.middle.abort().unwrap();
    drop(large);
    let mut own = three.near.alloc::<u8>(LARGE).unwrap();
    three.near.fill_bytes(&mut own, 128).unwrap();
    three.near_has_its_own(&own);
}

#[test]
fn by_an_abort_between_graphs_of_one_pool() {
    let three = Three::new(StreamOptions::new());
    let pool = GraphPool::new(&three.context);
    let mut outs: Vec<_> = (0..3).map(|_| three.zeros()).collect();
    let graphs = outs.iter_mut().zip([7, 1, 128]).map(|(out, byte)| {
        let captured = three.near.capture_in(CaptureMode::Relaxed, &pool, |s| {
            let mut temporary = s.alloc::<u8>(64)?;
            s.fill_bytes(&mut temporary, byte)?;
            s.copy(&temporary, out)
        });
        captured.unwrap()
    });
    let mut graphs: Vec<_> = graphs.collect();
    // Only the first part of the first graph has run when the others come.
    graphs[0].launch(&three.far).unwrap();
    graphs[1].launch(&three.middle).unwrap();
    three.middle.fork(&three.near).unwrap();
    three.middle.abort().unwrap();
    graphs[2].launch(&three.near).unwrap();
    mock::run_until_idle();
    assert!(!three.near.is_complete().unwrap(), "it runs beside a graph that has the same memory");
    mock::release(&three.far).unwrap();
    three.near.synchronize().unwrap();
    drop(graphs);
    assert_eq!([outs[0].to_vec().unwrap()[0], outs[2].to_vec().unwrap()[0]], [7, 128]);
}

#[test]
fn by_a_failure_on_a_stream_that_stops() {
    let three = Three::new(StreamOptions::new().stop_on_failure());
    let (mut buffer, mut other, mut own) = (three.zeros(), three.zeros(), three.zeros());
    three.far.fill_bytes(&mut buffer, 7).unwrap();
    mock::fail_task("aclrtMemsetAsync", 1, FAULT).unwrap();
    three.middle.fill_bytes(&mut own, 7).unwrap();
    three.middle.copy(&buffer, &mut other).unwrap();
    three.near.fill_bytes(&mut other, 1).unwrap();
    mock::run_until_idle();
    three.near.synchronize().unwrap_err();
    three.near.fill_bytes(&mut buffer, 128).unwrap();
    three.near_comes_last(&buffer);
}

#[test]
fn by_a_wait_that_failed() {
    let three = Three::new(StreamOptions::new());
    let (mut buffer, mut other) = (three.zeros(), three.zeros());
    three.far.copy(&other, &mut buffer).unwrap();
    mock::fail_task("aclrtStreamWaitEvent", 1, FAULT).unwrap();
    three.near.fill_bytes(&mut other, 1).unwrap();
    mock::run_until_idle();
    three.near.synchronize().unwrap_err();
    three.near.fill_bytes(&mut buffer, 128).unwrap();
    three.near_comes_last(&buffer);
}

/// The near stream has it through the middle alone, and has used it already.
#[test]
fn by_an_abort_behind_memory_that_was_had_before() {
    let three = Three::new(StreamOptions::new());
    three.context.set_memory_limit(Some(45 << 20));
    let large = three.large();
    three.far.fork(&three.middle).unwrap();
    three.middle.fork(&three.near).unwrap();
    drop(large);
    let mut own = three.near.alloc::<u8>(LARGE).unwrap();
    three.near.fill_bytes(&mut own, 128).unwrap();
    three.middle.abort().unwrap();
    three.near_has_its_own(&own);
}

#[test]
fn by_a_wait_that_failed_between_launches_of_a_graph() {
    let three = Three::new(StreamOptions::new());
    let mut buffer = three.zeros();
    let mut graph = three.near.capture(CaptureMode::Relaxed, |s| s.fill_bytes(&mut buffer, 7)).unwrap();
    graph.launch(&three.far).unwrap();
    mock::fail_task("aclrtStreamWaitEvent", 1, FAULT).unwrap();
    graph.launch(&three.middle).unwrap();
    mock::run_until_idle();
    three.middle.synchronize().unwrap_err();
    // It follows both, and so does what comes behind it.
    three.near.fill_bytes(&mut buffer, 128).unwrap();
    three.near_comes_last(&buffer);
}

#[test]
fn by_an_abort_while_a_launch_waits_for_room() {
    let three = Three::new(StreamOptions::new());
    let (mut buffer, mut other) = (three.zeros(), three.zeros());
    let mut graph = three.near.capture(CaptureMode::Relaxed, |s| s.fill_bytes(&mut buffer, 128)).unwrap();
    three.far.fill_bytes(&mut buffer, 7).unwrap();
    three.middle.copy(&buffer, &mut other).unwrap();
    three.near.fill_bytes(&mut other, 1).unwrap();
    let launches = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = common::Over::at_end(&stop);
        let launching = scope.spawn(|| {
            while !stop.load(Ordering::Acquire) {
                graph.launch(&three.near).unwrap();
                launches.fetch_add(1, Ordering::AcqRel);
            }
        });
        // The queue is full once nothing comes any more.
        let (mut before, mut since) = (0, Instant::now());
        while (before == 0 || since.elapsed() < Duration::from_millis(50)) && !launching.is_finished() {
            let now = launches.load(Ordering::Acquire);
            if now != before {
                (before, since) = (now, Instant::now());
            }
            std::thread::yield_now();
        }
        stop.store(true, Ordering::Release);
        three.middle.abort().unwrap();
        launching.join().unwrap();
    });
    mock::run_until_idle();
    assert!(!three.far.is_complete().unwrap());
    graph.launch(&three.near).unwrap();
    mock::run_until_idle();
    assert!(!three.near.is_complete().unwrap(), "the latest launch is in no order");
    three.near_comes_last(&buffer);
}

/// It has memory of the middle and of the far stream, aborts its own work, and is aborted in the middle then.
#[test]
fn by_an_abort_behind_memory_that_is_waited_for_again() {
    let three = Three::new(StreamOptions::new());
    three.context.set_memory_limit(Some(75 << 20));
    let mut of_middle = three.middle.alloc::<u8>(LARGE).unwrap();
    let of_far = three.large();
    three.far.fork(&three.middle).unwrap();
    three.middle.fill_bytes(&mut of_middle, 7).unwrap();
    drop(of_middle);
    let first = three.near.alloc::<u8>(LARGE).unwrap();
    drop(of_far);
    let mut own = three.near.alloc::<u8>(LARGE).unwrap();
    three.near.abort().unwrap();
    three.near.fill_bytes(&mut own, 128).unwrap();
    three.middle.abort().unwrap();
    three.near_has_its_own(&own);
    drop(first);
}

/// The wait for the memory itself fails: what comes behind it waits again. Whoever orders by himself does not know of that
/// memory either.
#[test]
fn by_a_wait_for_memory_that_failed() {
    for by_hand in [false, true] {
        let three = Three::new(StreamOptions::new());
        three.context.set_memory_limit(Some(45 << 20));
        drop(three.large());
        mock::fail_task("aclrtStreamWaitEvent", 1, FAULT).unwrap();
        let mut own = three.near.alloc::<u8>(LARGE).unwrap();
        mock::run_until_idle();
        three.near.synchronize().unwrap_err();
        let mut fill = || three.near.fill_bytes(&mut own, 128);
        if by_hand { racl::untracked(fill) } else { fill() }.unwrap();
        three.near_has_its_own(&own);
    }
}

/// A host function of the far stream, which may not wait for room there, gives work to the near one.
#[test]
fn by_a_wait_for_memory_that_failed_in_front_of_work_that_a_host_function_gives() {
    let three = Three::new(StreamOptions::new());
    three.context.set_memory_limit(Some(45 << 20));
    let (near, (told, tells)) = (three.near.clone(), std::sync::mpsc::channel());
    let own = std::sync::Arc::new(std::sync::Mutex::new(None::<DeviceBuffer<u8>>));
    let same = std::sync::Arc::clone(&own);
    three
        .far
        .host_function(move || {
            let mut own = same.lock().unwrap();
            told.send(near.fill_bytes(own.as_mut().unwrap(), 128)).unwrap();
        })
        .unwrap();
    drop(three.large());
    mock::fail_task("aclrtStreamWaitEvent", 1, FAULT).unwrap();
    *own.lock().unwrap() = Some(three.near.alloc::<u8>(LARGE).unwrap());
    mock::run_until_idle();
    three.near.synchronize().unwrap_err();
    mock::release(&three.far).unwrap();
    three.far.synchronize().unwrap();
    tells.recv().unwrap().unwrap();
    three.near.synchronize().unwrap();
    let own = own.lock().unwrap().take().unwrap();
    three.near_has_its_own(&own);
}

/// Another thread waits for room in the far stream, whose lock it has: an abort of the near one returns all the same, and its
/// memory stays its own.
#[test]
fn by_an_abort_behind_memory_of_a_stream_that_is_full() {
    let three = Three::new(StreamOptions::new());
    three.context.set_memory_limit(Some(45 << 20));
    drop(three.large());
    let mut own = three.near.alloc::<u8>(LARGE).unwrap();
    racl::set_drop_limit(Duration::from_millis(50));
    std::thread::scope(|scope| {
        scope.spawn(|| (0..3000).for_each(|_| three.far.host_function(|| ()).unwrap()));
        while mock::waiting_for_room() == 0 {
            std::thread::yield_now();
        }
        let aborted = three.near.abort();
        mock::release(&three.far).unwrap();
        aborted.unwrap();
    });
    racl::set_drop_limit(Duration::from_secs(10));
    three.near.fill_bytes(&mut own, 128).unwrap();
    three.near_has_its_own(&own);
    drop(three.context.take_drop_errors());
}

/// The same for who is short of memory, and would have the far stream's.
#[test]
fn memory_of_a_stream_that_is_full_is_not_waited_for_without_a_limit() {
    let three = Three::new(StreamOptions::new());
    three.context.set_memory_limit(Some(45 << 20));
    drop(three.large());
    racl::set_drop_limit(Duration::from_millis(50));
    std::thread::scope(|scope| {
        scope.spawn(|| (0..3000).for_each(|_| three.far.host_function(|| ()).unwrap()));
        while mock::waiting_for_room() == 0 {
            std::thread::yield_now();
        }
        let refused = three.near.alloc::<u8>(LARGE);
        mock::release(&three.far).unwrap();
        assert_eq!(refused.unwrap_err().kind(), racl::ErrorKind::OutOfMemory);
    });
    racl::set_drop_limit(Duration::from_secs(10));
    drop(three.near.alloc::<u8>(LARGE).unwrap());
}
