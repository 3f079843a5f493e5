//! Futures that nobody awaits to the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::thread::yield_now;

use racl::{Context, ErrorKind, Stream};

use crate::alone;
use crate::common::{device, mock};
use crate::executor::{assert_waits, block_on};

/// Where nobody else's memory counts.
fn apart() -> (Context, Stream) {
    let context = device().context().create_context().unwrap();
    let stream = context.stream().unwrap();
    (context, stream)
}

fn pinned() -> u64 {
    mock::live_handles().pinned_allocations
}

#[test]
fn a_buffer_is_kept_until_its_copy_is_done() {
    let _alone = alone();
    let (context, stream) = apart();
    let mut target = context.alloc::<u8>(64).unwrap();
    let before = pinned();
    for polled in [false, true] {
        mock::hold(&stream).unwrap();
        let lent = stream.upload(context.pinned_from(&[6_u8; 64]).unwrap(), &mut target).unwrap();
        let mut back = lent.into_future();
        if polled {
            assert_waits(&mut back, Waker::noop());
        }
        drop(back);
        assert_eq!(pinned(), before + 1, "the copy is not done");
        mock::release(&stream).unwrap();
        stream.synchronize().unwrap();
        while pinned() != before {
            yield_now();
        }
        assert_eq!(target.to_vec().unwrap(), [6; 64]);
    }
    assert!(context.take_drop_errors().is_empty());
}

#[test]
fn a_copy_that_is_done_frees_its_buffer_at_once() {
    let _alone = alone();
    let (context, stream) = apart();
    let before = pinned();
    let mut target = context.alloc::<u8>(64).unwrap();
    let lent = stream.upload(context.pinned_from(&[6_u8; 64]).unwrap(), &mut target).unwrap();
    stream.synchronize().unwrap();
    drop(lent.into_future());
    assert_eq!(pinned(), before);
}

#[test]
fn what_went_wrong_with_a_dropped_copy_is_told_by_the_next_wait_for_its_stream() {
    let _alone = alone();
    let (context, stream) = apart();
    let before = pinned();
    let mut target = context.alloc::<u8>(64).unwrap();
    mock::hold(&stream).unwrap();
    mock::fail_task("aclrtMemcpyAsync", 1, 507_015).unwrap();
    let lent = stream.upload(context.pinned_from(&[6_u8; 64]).unwrap(), &mut target).unwrap();
    drop(lent.into_future());
    mock::release(&stream).unwrap();
    while pinned() != before {
        yield_now();
    }
    assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::DeviceFault);
    stream.synchronize().unwrap();
    assert!(context.take_drop_errors().is_empty());
}

/// Tells when its last handle goes.
struct Gone(Arc<AtomicBool>);

impl Wake for Gone {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_waker_goes_with_its_future() {
    let _alone = alone();
    let (_context, stream) = apart();
    mock::hold(&stream).unwrap();
    let gone = Arc::<AtomicBool>::default();
    let mut finished = stream.finished();
    assert_waits(&mut finished, &Arc::new(Gone(Arc::clone(&gone))).into());
    assert!(!gone.load(Ordering::SeqCst));
    drop(finished);
    assert!(gone.load(Ordering::SeqCst), "the work is not done, and nobody awaits it");
    mock::release(&stream).unwrap();
    block_on(stream.finished()).unwrap();
}

/// Forgotten ones as well: what waits for them ends when the work does.
#[test]
fn futures_that_are_forgotten_keep_no_stream() {
    let _alone = alone();
    let (mut context, stream) = apart();
    mock::hold(&stream).unwrap();
    let mut forgotten = stream.finished();
    assert_waits(&mut forgotten, Waker::noop());
    std::mem::forget(forgotten);
    drop(stream.finished());
    mock::release(&stream).unwrap();
    stream.close().unwrap();
    while let Err(refused) = context.close() {
        context = refused.into_value();
        yield_now();
    }
}
