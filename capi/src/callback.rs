//! Functions of C that racl calls, and what they are given.

use std::any::Any;
use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use racl::plan::{Cores, Foreign, HostFunction, Launch};
use racl::{Error, ErrorKind, Thrown};

use crate::arguments::{Sized_, bytes, null, sized, text};
use crate::failure::{Failure, Result, discard, guard, heard};
use crate::handles::free;
use crate::objects::{racl_foreign, racl_host_function, racl_stream};
use crate::results::make;
use crate::stream::give;

/// A function that runs on the host when a stream gets there, on a thread of the AscendCL library or of racl; it is
/// given `user`, and the attributes of its racl_host_function, NULL where there are none. Another number than 0 fails the
/// work: the next wait for it gives RACL_CALLBACK_PANICKED, with the text that racl_last_error_set() was given where the
/// number is the status that was given there.
/// It makes no call of AscendCL, and none of racl that waits.
#[allow(non_camel_case_types)]
pub type racl_host_callback =
    Option<unsafe extern "C-unwind" fn(user: *mut c_void, attributes: *const c_void, size: usize) -> i32>;

/// Gives `user` back, once, when nothing will be called with it any more, on any thread. An exception that leaves it ends
/// the process.
#[allow(non_camel_case_types)]
pub type racl_release_callback = Option<unsafe extern "C-unwind" fn(user: *mut c_void)>;

/// Puts the work of a foreign operator on `launch->stream`, with calls of AscendCL such as aclnn... or
/// aclrtLaunchKernel. It is called when the operator is captured, when a graph is updated, and at each eager run.
/// Another number than 0 fails the capture or run, and should be the code that such a call gave, or what
/// racl_last_error_set() gives.
#[allow(non_camel_case_types)]
pub type racl_launch_callback =
    Option<unsafe extern "C-unwind" fn(user: *mut c_void, launch: *const racl_launch) -> i32>;

/// Computes a foreign operator on the host, for racl_simulation_new(): values that are read, and those that are written,
/// each in the order in which the builder was given them, NULL where there are none. Another number than 0 fails the
/// simulation.
#[allow(non_camel_case_types)]
pub type racl_simulate_callback = Option<
    unsafe extern "C-unwind" fn(
        user: *mut c_void,
        reads: *const racl_bytes,
        read_count: usize,
        writes: *const racl_bytes,
        write_count: usize,
    ) -> i32,
>;

/// Memory of the host.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_bytes {
    /// Where it begins; NULL where there are no bytes.
    pub data: *mut c_void,
    /// Its bytes.
    pub size: usize,
}

/// One value of a foreign operator.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_launch_value {
    /// On the device.
    pub address: *mut c_void,
    /// From the first to the last element.
    pub bytes: usize,
    /// Number of an aclDataType, RACL_TYPE_...
    pub dtype: i32,
    /// How many dimensions.
    pub rank: u32,
    /// The size of each; NULL where there are none.
    pub shape: *const usize,
    /// How many elements lie between two neighbours of each; NULL where there are none.
    pub strides: *const usize,
}

/// What a foreign operator is launched with; all of it ends with the call.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_launch {
    /// sizeof(racl_launch) as the library knows it.
    pub size: usize,
    /// An aclrtStream, whose context is current.
    pub stream: *mut c_void,
    /// Values that are read, then those that are written; NULL where there are none. Each begins `value_size` bytes behind
    /// the one before, which is more in later versions than sizeof(racl_launch_value) is here: values + 1 is the second one
    /// where both are the same.
    pub values: *const racl_launch_value,
    /// How many.
    pub count: usize,
    /// The attributes of the operator; NULL where there are none.
    pub attributes: *const c_void,
    /// Their bytes.
    pub attributes_size: usize,
    /// sizeof(racl_launch_value) as the library knows it.
    pub value_size: usize,
}

/// What callbacks are given beside the rest. The header says that they may be called on any thread.
pub(crate) struct User {
    pub(crate) address: *mut c_void,
    release: racl_release_callback,
    is_kept: AtomicBool,
}

// SAFETY: the address is only handed to functions of C, which the header asks to take it on any thread.
unsafe impl Send for User {}
// SAFETY: as above.
unsafe impl Sync for User {}

impl User {
    pub(crate) fn new(address: *mut c_void, release: racl_release_callback) -> Self {
        Self { address, release, is_kept: AtomicBool::new(true) }
    }

    /// The caller keeps it: the call failed.
    pub(crate) fn leave(&self) {
        self.is_kept.store(false, Ordering::Relaxed);
    }
}

impl Drop for User {
    fn drop(&mut self) {
        if let (Some(release), true) = (self.release, self.is_kept.load(Ordering::Relaxed)) {
            // SAFETY: by the header; nobody has the address any more.
            let released = catch_unwind(|| unsafe { release(self.address) });
            released.unwrap_or_else(discard);
        }
    }
}

thread_local! {
    /// A callback failed on this thread by an unwind, since racl was entered that may call them.
    static FAILED: Cell<bool> = const { Cell::new(false) };
}

/// What a callback said of its failure, with all that it knows.
fn thrown(text: String, said: Failure) -> Thrown {
    let thrown = Thrown::new(text);
    if said.knows_more() { thrown.because(said) } else { thrown }
}

fn because(error: Error, said: Failure) -> Error {
    if said.knows_more() { error.because(said) } else { error }
}

/// Runs a callback, and notes that what unwinds now is its own.
fn called(work: impl FnOnce() -> i32, name: impl FnOnce(i32) -> String) {
    let payload: Box<dyn Any + Send> = match heard(work) {
        (Ok(0), _) => return,
        (Ok(code), None) => Box::new(name(code)),
        (Ok(code), Some(said)) => Box::new(thrown(format!("{}: {}", name(code), said.message()), said)),
        (Err(payload), _) => payload,
    };
    FAILED.set(true);
    resume_unwind(payload);
}

/// That stored plans can find it again.
fn named(name: &str, what: &str) -> Result<()> {
    if name.is_empty() { Err(Failure::invalid(format!("an empty name of {what}"))) } else { Ok(()) }
}

/// Where a list begins, for C: NULL for one of nothing, whose address says nothing in Rust.
fn start<T>(list: &[T]) -> *const T {
    if list.is_empty() { std::ptr::null() } else { list.as_ptr() }
}

/// Runs a function of the host, whose failure ends it as a panic does, without the message of one.
fn run(
    function: unsafe extern "C-unwind" fn(*mut c_void, *const c_void, usize) -> i32,
    user: &User,
    attributes: &[u8],
    name: &str,
) {
    // SAFETY: by the header.
    let work = || unsafe { function(user.address, start(attributes).cast(), attributes.len()) };
    called(work, |code| format!("host function {name:?} gave {code}"));
}

/// A host function of plans.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_host_function_info {
    /// sizeof(racl_host_function_info).
    pub size: usize,
    /// By which stored plans find it again; not empty.
    pub name: *const c_char,
    /// A stored plan takes that of the same number alone.
    pub version: u32,
    /// Bytes that the function is given, which stored plans keep; NULL for none.
    pub attributes: *const c_void,
    /// How many.
    pub attributes_size: usize,
    /// The function.
    pub run: racl_host_callback,
    /// What it is given.
    pub user: *mut c_void,
    /// What `user` is given to in the end, or NULL. Not when racl_host_function_new() fails.
    pub release: racl_release_callback,
}

// SAFETY: integers and pointers alone, the first of them a size; pointers to functions may be NULL.
unsafe impl Sized_ for racl_host_function_info {
    const WHAT: &'static str = "racl_host_function_info";
    const ZERO: Self = Self {
        size: 0,
        name: std::ptr::null(),
        version: 0,
        attributes: std::ptr::null(),
        attributes_size: 0,
        run: None,
        user: std::ptr::null_mut(),
        release: None,
    };
}

/// A host function, for builders and registries. What it is given stays as long as a plan or an executable has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_host_function_new(
    info: *const racl_host_function_info,
    function: *mut *mut racl_host_function,
) -> i32 {
    let work = || {
        // SAFETY: by the header.
        let info = unsafe { sized(info) }?.ok_or_else(|| null("a racl_host_function_info"))?;
        // SAFETY: by the header.
        let name = unsafe { text(info.name, "the name of a host function") }?.to_owned();
        named(&name, "a host function")?;
        let function = info.run.ok_or_else(|| null("the function of a host function"))?;
        // SAFETY: by the header.
        let attributes = unsafe { bytes(info.attributes, info.attributes_size, "attributes") }?;
        let (user, own) = (User::new(info.user, info.release), name.clone());
        let body = move |attributes: &[u8]| run(function, &user, attributes, &own);
        Ok(HostFunction::new(name, info.version, body).attributes(attributes))
    };
    // SAFETY: by the header.
    unsafe { make(function, work) }
}

/// Gives the handle back.
#[unsafe(no_mangle)]
pub extern "C" fn racl_host_function_free(function: *mut racl_host_function) -> i32 {
    guard(|| free(function))
}

/// Runs a function on the host when the stream gets there; in a capture it becomes part of the graph, and runs at each
/// launch. `user` goes to `release`, which may be NULL, when it will not run any more; not when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_stream_host_function(
    stream: *const racl_stream,
    function: racl_host_callback,
    user: *mut c_void,
    release: racl_release_callback,
) -> i32 {
    let work = |stream: &racl::Stream| {
        let function = function.ok_or_else(|| null("a host function"))?;
        let user = Arc::new(User::new(user, release));
        let own = Arc::clone(&user);
        let queued = stream.host_function(move || run(function, &own, &[], "of a stream"));
        queued.inspect_err(|_| user.leave())?;
        Ok(())
    };
    guard(|| give(stream, "racl_stream_host_function", work))
}

/// A foreign operator of plans.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_foreign_info {
    /// sizeof(racl_foreign_info).
    pub size: usize,
    /// By which stored plans find it again; not empty.
    pub name: *const c_char,
    /// A stored plan takes that of the same number alone.
    pub version: u32,
    /// Cores that it needs at the same time to make progress: matrix cores; 0 for any.
    pub cube_cores: u32,
    /// Vector cores.
    pub vector_cores: u32,
    /// Bytes that its functions are given, which stored plans keep; NULL for none.
    pub attributes: *const c_void,
    /// How many.
    pub attributes_size: usize,
    /// Puts its work on a stream.
    pub launch: racl_launch_callback,
    /// Computes it on the host, or NULL: plans with it cannot be simulated then.
    pub simulate: racl_simulate_callback,
    /// What the functions are given.
    pub user: *mut c_void,
    /// What `user` is given to in the end, or NULL. Not when racl_foreign_new() fails.
    pub release: racl_release_callback,
}

// SAFETY: integers and pointers alone, the first of them a size; pointers to functions may be NULL.
unsafe impl Sized_ for racl_foreign_info {
    const WHAT: &'static str = "racl_foreign_info";
    const ZERO: Self = Self {
        size: 0,
        name: std::ptr::null(),
        version: 0,
        cube_cores: 0,
        vector_cores: 0,
        attributes: std::ptr::null(),
        attributes_size: 0,
        launch: None,
        simulate: None,
        user: std::ptr::null_mut(),
        release: None,
    };
}

/// A foreign operator, for builders and registries. What it is given stays as long as a plan or an executable has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_foreign_new(info: *const racl_foreign_info, foreign: *mut *mut racl_foreign) -> i32 {
    let work = || {
        // SAFETY: by the header.
        let info = unsafe { sized(info) }?.ok_or_else(|| null("a racl_foreign_info"))?;
        // SAFETY: by the header.
        let name = unsafe { text(info.name, "the name of a foreign operator") }?.to_owned();
        named(&name, "a foreign operator")?;
        let function = info.launch.ok_or_else(|| null("the launch of a foreign operator"))?;
        // SAFETY: by the header.
        let attributes = unsafe { bytes(info.attributes, info.attributes_size, "attributes") }?;
        let user = Arc::new(User::new(info.user, info.release));
        let (own, told) = (Arc::clone(&user), name.clone());
        let foreign = Foreign::new(name.clone(), info.version, move |told_of| launch(function, &own, told_of, &told));
        let foreign = foreign.attributes(attributes);
        let foreign = foreign.needs(Cores { cube: info.cube_cores, vector: info.vector_cores });
        Ok(match info.simulate {
            None => foreign,
            Some(function) => {
                foreign.simulated(move |reads, writes| simulate(function, &user, (reads, writes), &name))
            }
        })
    };
    // SAFETY: by the header.
    unsafe { make(foreign, work) }
}

/// Gives the handle back.
#[unsafe(no_mangle)]
pub extern "C" fn racl_foreign_free(foreign: *mut racl_foreign) -> i32 {
    guard(|| free(foreign))
}

/// The lowest code that a function of AscendCL gives.
const FIRST_OF_ACL: i32 = 100_000;

fn launch(
    function: unsafe extern "C-unwind" fn(*mut c_void, *const racl_launch) -> i32,
    user: &User,
    told: &Launch<'_>,
    name: &str,
) -> Result<(), Error> {
    let shapes: Vec<_> = (0..told.len()).filter_map(|index| told.shape(index)).collect();
    let value = |(index, shape): (usize, &racl::op::Shape)| racl_launch_value {
        address: told.address(index),
        bytes: told.bytes(index),
        dtype: told.dtype(index).map_or(0, |dtype| racl::op::ElementType::from(dtype).number()),
        rank: shape.len() as u32,
        shape: start(shape),
        strides: start(told.strides(index).unwrap_or_default()),
    };
    let values: Vec<_> = shapes.iter().enumerate().map(value).collect();
    let all = racl_launch {
        size: size_of::<racl_launch>(),
        stream: told.stream().as_raw(),
        values: start(&values),
        count: values.len(),
        attributes: start(told.attributes()).cast(),
        attributes_size: told.attributes().len(),
        value_size: size_of::<racl_launch_value>(),
    };
    // SAFETY: by the header; what is pointed at outlives the call.
    match heard(|| unsafe { function(user.address, &raw const all) }) {
        (Ok(code), Some(said)) if code < FIRST_OF_ACL => {
            let text = format!("the launch of foreign operator {name:?} gave {code}: {}", said.message());
            Err(because(told.error(ErrorKind::CallbackPanicked, text), said))
        }
        (Ok(code), said) => told.check("racl_launch_callback", code).map_err(|error| match said {
            Some(said) => {
                let text = format!("the launch of foreign operator {name:?}: {}", said.message());
                because(error.context(text), said)
            }
            None => error,
        }),
        (Err(payload), _) => {
            discard(payload);
            Err(told.error(ErrorKind::CallbackPanicked, format!("the launch of foreign operator {name:?} panicked")))
        }
    }
}

fn simulate(
    function: unsafe extern "C-unwind" fn(*mut c_void, *const racl_bytes, usize, *const racl_bytes, usize) -> i32,
    user: &User,
    (reads, writes): (&[Vec<u8>], &mut [Vec<u8>]),
    name: &str,
) {
    let read = |bytes: &Vec<u8>| racl_bytes { data: start(bytes).cast_mut().cast(), size: bytes.len() };
    let write = |bytes: &mut Vec<u8>| {
        let data = if bytes.is_empty() { std::ptr::null_mut() } else { bytes.as_mut_ptr() };
        racl_bytes { data: data.cast(), size: bytes.len() }
    };
    let reads: Vec<_> = reads.iter().map(read).collect();
    let writes: Vec<_> = writes.iter_mut().map(write).collect();
    // SAFETY: by the header; what is pointed at outlives the call, and what is read is not written.
    let work = || unsafe { function(user.address, start(&reads), reads.len(), start(&writes), writes.len()) };
    called(work, |code| format!("the simulation of foreign operator {name:?} gave {code}"));
}

/// Runs what may run callbacks on this thread, whose failures are theirs and no fault of racl; other panics are.
pub(crate) fn with_callbacks<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let outer = FAILED.replace(false);
    let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let failure = if FAILED.get() { Failure::callback(&*payload) } else { Failure::panic(&*payload) };
        discard(payload);
        Err(failure)
    });
    FAILED.set(outer);
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status;

    unsafe extern "C-unwind" fn gives_seven(_: *mut c_void, _: *const c_void, _: usize) -> i32 {
        7
    }

    unsafe extern "C-unwind" fn panics(_: *mut c_void, _: *const c_void, _: usize) -> i32 {
        resume_unwind(Box::new("thrown"))
    }

    #[test]
    fn a_fault_of_racl_is_not_told_as_the_callbacks() {
        let user = User::new(std::ptr::null_mut(), None);
        let of = |work: &dyn Fn()| {
            let failure = with_callbacks(|| -> Result<()> {
                work();
                Ok(())
            })
            .unwrap_err();
            (failure.status, failure.message.clone())
        };
        let fault = (status::RACL_PANIC, "a fault of racl: inside".to_owned());
        assert_eq!(of(&|| resume_unwind(Box::new("inside"))), fault);
        let seven = (status::RACL_CALLBACK_PANICKED, "host function \"f\" gave 7".to_owned());
        assert_eq!(of(&|| run(gives_seven, &user, &[], "f")), seven);
        let thrown = (status::RACL_CALLBACK_PANICKED, "thrown".to_owned());
        assert_eq!(of(&|| run(panics, &user, &[], "f")), thrown);
        // What a callback did before says nothing of the next call, nor of one around it.
        assert_eq!(of(&|| resume_unwind(Box::new("inside"))), fault);
        let nested = || {
            let inner = with_callbacks(|| -> Result<()> {
                run(panics, &user, &[], "f");
                Ok(())
            });
            assert!(inner.is_err());
            resume_unwind(Box::new("inside"))
        };
        assert_eq!(of(&nested), fault);
    }
}
