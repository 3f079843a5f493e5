//! Memory that comes from an allocator of the program.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use racl::sys::aclrtStream;
use racl::{Allocator, Context, DeviceBuffer, ErrorKind, ForeignAllocator, Stream};

use crate::common::{assert_says, mock};
use crate::{context, given_up};

/// Gives memory of another context, and knows what is out.
#[derive(Default)]
struct Lender {
    context: Mutex<Option<Context>>,
    out: Mutex<Vec<(usize, DeviceBuffer<u8>)>>,
    streams: AtomicUsize,
}

// SAFETY: each piece is a buffer of the same device with the bytes and the tail, kept until it is freed.
unsafe impl ForeignAllocator for Lender {
    fn alloc(&self, bytes: usize, stream: aclrtStream) -> racl::Result<*mut c_void> {
        let context = self.context.lock().unwrap().clone().unwrap();
        let buffer = context.alloc::<u8>(bytes)?;
        let address = buffer.address();
        self.streams.fetch_add(usize::from(!stream.is_null()), Ordering::Relaxed);
        self.out.lock().unwrap().push((address.addr(), buffer));
        Ok(address)
    }

    unsafe fn free(&self, address: *mut c_void, bytes: usize, _stream: aclrtStream) {
        let out = &mut *self.out.lock().unwrap();
        let at = out.iter().position(|(known, _)| *known == address.addr()).expect("memory that is out");
        assert_eq!(out.swap_remove(at).1.len(), bytes);
    }
}

#[test]
fn memory_can_come_from_somebody_else() {
    let _alone = mock::exclusive();
    let (context, owner) = (context(), context());
    let lender = Arc::new(Lender::default());
    *lender.context.lock().unwrap() = Some(owner.clone());
    let out = || lender.out.lock().unwrap().len();
    let own = context.alloc::<u8>(64).unwrap();
    context.set_allocator(Allocator::Foreign(Arc::<Lender>::clone(&lender)));
    let stream = context.stream().unwrap();
    let buffer = context.upload(&[3_u8; 1000]).unwrap();
    assert_eq!((out(), buffer.to_vec().unwrap()), (1, vec![3; 1000]));
    buffer.close().unwrap();
    assert_eq!(out(), 0);
    // Given up with work that uses it: back after that work, not before.
    mock::hold(&stream).unwrap();
    let mut buffer = stream.alloc::<u8>(64).unwrap();
    assert_eq!(lender.streams.load(Ordering::Relaxed), 1);
    stream.fill_bytes(&mut buffer, 1).unwrap();
    drop(buffer);
    assert_eq!((out(), context.memory_stats().direct.active), (1, 64));
    mock::release(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!((out(), context.memory_stats().direct.active), (0, 0));
    // What was there before is what it was.
    drop(own);
    assert_eq!((out(), context.memory_stats().small.held), (0, 0));
    lender.context.lock().unwrap().take();
}

/// Panics instead of giving memory, as often as it was told.
#[derive(Default)]
struct Panics {
    lender: Lender,
    left: AtomicUsize,
}

// SAFETY: memory is that of the lender.
unsafe impl ForeignAllocator for Panics {
    fn alloc(&self, bytes: usize, stream: aclrtStream) -> racl::Result<*mut c_void> {
        let panics = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        assert!(panics.is_err(), "no memory today");
        self.lender.alloc(bytes, stream)
    }

    unsafe fn free(&self, address: *mut c_void, bytes: usize, stream: aclrtStream) {
        // SAFETY: as this function's.
        unsafe { self.lender.free(address, bytes, stream) };
    }
}

#[test]
fn an_allocator_that_panics_takes_nothing_of_the_limit() {
    let _alone = mock::exclusive();
    let (context, owner) = (context(), context());
    let panics = Arc::new(Panics { left: AtomicUsize::new(3), ..Panics::default() });
    *panics.lender.context.lock().unwrap() = Some(owner);
    context.set_allocator(Allocator::Foreign(Arc::<Panics>::clone(&panics)));
    context.set_memory_limit(Some(1000));
    for _ in 0..3 {
        let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| context.alloc::<u8>(600).map(drop)));
        assert!(tried.is_err(), "{tried:?}");
    }
    let first = context.alloc::<u8>(600).unwrap();
    let error = context.alloc::<u8>(600).unwrap_err();
    assert_says(&error, ErrorKind::OutOfMemory, &["600 bytes more than the 600 that the context has are above"]);
    drop(first);
    context.close().unwrap();
    panics.lender.context.lock().unwrap().take();
}

/// Has no memory once: meanwhile work is done and somebody finds out.
struct Hesitant {
    lender: Lender,
    refuses: Mutex<Option<(Stream, Context)>>,
}

// SAFETY: memory is that of the lender.
unsafe impl ForeignAllocator for Hesitant {
    fn alloc(&self, bytes: usize, stream: aclrtStream) -> racl::Result<*mut c_void> {
        let Some((held, beside)) = self.refuses.lock().unwrap().take() else {
            return self.lender.alloc(bytes, stream);
        };
        mock::release(&held)?;
        mock::run_until_idle();
        beside.trim_memory(0); // asks the stream how far it is
        Err(beside.alloc::<u8>(1 << 50).unwrap_err())
    }

    unsafe fn free(&self, address: *mut c_void, bytes: usize, stream: aclrtStream) {
        // SAFETY: as this function's.
        unsafe { self.lender.free(address, bytes, stream) };
    }
}

/// As when another thread asks the stream in the moment between the call that failed and the look at who holds memory.
#[test]
fn work_that_ends_between_a_refusal_and_the_look_at_what_waits_is_no_lack_of_memory() {
    let _alone = mock::exclusive();
    let (context, beside, owner) = (context(), context(), context());
    let stream = context.stream().unwrap();
    let lender = Lender { context: Mutex::new(Some(owner)), ..Lender::default() };
    let hesitant = Arc::new(Hesitant { lender, refuses: Mutex::default() });
    context.set_allocator(Allocator::Foreign(Arc::<Hesitant>::clone(&hesitant)));
    mock::hold(&stream).unwrap();
    given_up(&context, &stream, 64);
    given_up(&beside, &stream, 64);
    *hesitant.refuses.lock().unwrap() = Some((stream.clone(), beside));
    context.alloc::<u8>(64).unwrap();
    assert_eq!(context.memory_stats().retries, 1);
    drop(stream);
    context.close().unwrap();
    hesitant.lender.context.lock().unwrap().take();
}

/// Looks at the executors of the context that asks, ends them all, and runs an operator there.
#[derive(Default)]
struct Curious {
    lender: Lender,
    asks: Mutex<Option<(Context, Stream, racl::Tensor<f32>)>>,
    scratch: AtomicUsize,
}

// SAFETY: memory is that of the lender.
unsafe impl ForeignAllocator for Curious {
    fn alloc(&self, bytes: usize, stream: aclrtStream) -> racl::Result<*mut c_void> {
        let asks = self.asks.lock().unwrap().take();
        if let Some((context, stream, mut ones)) = asks {
            context.clear_operator_cache();
            self.scratch.fetch_add(context.operator_cache().signatures + 1, Ordering::Relaxed);
            racl::op::fill(&stream, &mut ones, 1.0)?;
        }
        self.lender.alloc(bytes, stream)
    }

    unsafe fn free(&self, address: *mut c_void, bytes: usize, stream: aclrtStream) {
        // SAFETY: as this function's.
        unsafe { self.lender.free(address, bytes, stream) };
    }
}

#[test]
fn an_allocator_may_look_at_executors_and_run_one_while_one_gets_scratch_memory() {
    let _alone = mock::exclusive();
    let (context, owner) = (context(), context());
    let lender = Lender { context: Mutex::new(Some(owner)), ..Lender::default() };
    let curious = Arc::new(Curious { lender, ..Curious::default() });
    context.set_allocator(Allocator::Foreign(Arc::<Curious>::clone(&curious)));
    let stream = context.stream().unwrap();
    let x = context.upload_tensor(&[3.0_f32, 1.0, 2.0], [3]).unwrap();
    let (mut values, mut order) = (context.zeros::<f32>([3]).unwrap(), context.zeros::<i64>([3]).unwrap());
    let ones = context.zeros::<f32>([2]).unwrap();
    *curious.asks.lock().unwrap() = Some((context.clone(), stream.clone(), ones.clone()));
    racl::op::aclnn::sort(&stream, &x, true, 0, false, &mut values, &mut order).unwrap();
    assert_eq!(ones.to_vec().unwrap(), [1.0; 2]);
    assert!(curious.scratch.load(Ordering::Relaxed) > 0, "the operator needs no scratch memory");
    assert_eq!((values.to_vec().unwrap(), order.to_vec().unwrap()), (vec![1.0, 2.0, 3.0], vec![1, 2, 0]));
    // The wish of before was granted once the operator was done.
    assert_eq!(context.operator_cache().signatures, 0);
    drop((x, values, order, ones, stream));
    context.set_allocator(Allocator::Direct);
    context.close().unwrap();
    curious.lender.context.lock().unwrap().take();
}
