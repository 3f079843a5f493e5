//! What a run of a plan costs through the C ABI, beside the same run in Rust, on the mock.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Nanoseconds are the best of rounds in which
//! the ways alternate; instructions are counted by callgrind, where valgrind is there. `-- PATH` measures a
//! `libracl.so` with the mock too, as it was installed. Ends with code 1 when a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "../tests/support/device.rs"]
mod device;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::ptr::{null, null_mut};
use std::time::Instant;
use std::{env, mem};

use racl::op::DataType;
use racl::plan::{Bindings, Executable, Frozen, Input, InputId, Plan};
use racl::{Acl, Result, Stream, Tensor, mock};
use racl_capi::{
    RACL_ARG_RESULT, RACL_ARG_VALUE, RACL_INPUT_TRACKED, RACL_OK, racl_arg, racl_bindings, racl_buffer, racl_builder,
    racl_context, racl_dim, racl_executable, racl_frozen, racl_library, racl_plan, racl_plan_options,
    racl_run_options, racl_stream, racl_stream_options, racl_tensor, racl_tensor_layout, racl_value,
};

const ROUNDS: usize = 301;
/// Fewer than a stream's queue takes.
const CALLS: u32 = 200;
/// Which way a process goes whose instructions are counted.
const WAY: &str = "RACL_COUNTED_WAY";
/// What a run through C may cost over one in Rust. Instructions are the same on each run, nanoseconds are those of the
/// machine.
const MOST_NANOSECONDS: f64 = 20.0;
const MOST_INSTRUCTIONS: f64 = 100.0;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: each call is passed on as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One way to run the plan.
trait Way {
    fn run(&mut self);
    /// Gives its input for the next run, which is the same memory.
    fn bind(&mut self);
    fn wait(&mut self);
    fn stand_still(&mut self);
}

/// `y = |x|`, of four floats where the caller has them.
struct Rust {
    stream: Stream,
    executable: Executable,
    bindings: Bindings,
    id: InputId,
    x: Tensor<f32>,
}

impl Rust {
    fn new() -> Result<Self> {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], DataType::F32, Input::Tracked(racl::plan::OnMove::Recapture))?;
            g.output("y", g.abs(x)?)
        })?;
        let device = Acl::mock()?.device(0)?;
        let stream = device.stream()?;
        let x = device.upload_tensor(&[-1.0_f32, 2.0, -3.0, 4.0], [4])?;
        let executable = plan.capture(&device, Frozen::new())?;
        let (bindings, id) = (executable.bindings(), executable.input("x")?);
        Ok(Self { stream, executable, bindings, id, x })
    }
}

impl Way for Rust {
    fn bind(&mut self) {
        self.bindings.set(self.id, &self.x);
    }

    fn run(&mut self) {
        self.executable.run(&self.stream, &mut self.bindings).expect("the plan runs");
    }

    fn wait(&mut self) {
        self.stream.synchronize().expect("the work is done");
    }

    fn stand_still(&mut self) {
        mock::stand_still(true);
    }
}

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

const RTLD_NOW: c_int = 2;

macro_rules! functions {
    ($($name:ident($($argument:ty),*);)*) => {
        /// Functions of libracl, as C calls them.
        #[derive(Clone, Copy)]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) -> i32,)*
        }

        impl Functions {
            /// Those that are part of this program.
            fn linked() -> Self {
                Self { $($name: racl_capi::$name,)* }
            }

            /// Those of a library, which stays.
            fn of(path: &str) -> Self {
                let name = CString::new(path).expect("a path");
                // SAFETY: a text; the library is libracl, whose constructors do nothing.
                let library = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };
                assert!(!library.is_null(), "{path} cannot be loaded");
                let find = |name: &str| {
                    let text = CString::new(name).expect("a name");
                    // SAFETY: a library that is loaded, and a text.
                    let found = unsafe { dlsym(library, text.as_ptr()) };
                    assert!(!found.is_null(), "{path} lacks {name}");
                    found
                };
                Self {$(
                    // SAFETY: the function of this name, whose type is that of the crate that the library was made of.
                    $name: unsafe {
                        mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> i32>(
                            find(stringify!($name)),
                        )
                    },
                )*}
            }
        }
    };
}

functions! {
    racl_library_open(*const c_char, *mut *mut racl_library);
    racl_context_primary(*const racl_library, i32, *mut *mut racl_context);
    racl_stream_new(*const racl_context, *const racl_stream_options, *mut *mut racl_stream);
    racl_stream_synchronize(*const racl_stream, i64);
    racl_buffer_new(*const racl_context, usize, *mut *mut racl_buffer);
    racl_tensor_new(*const racl_buffer, *const racl_tensor_layout, *mut *mut racl_tensor);
    racl_builder_new(*const racl_plan_options, *mut *mut racl_builder);
    racl_builder_input(
        *const racl_builder, *const c_char, i32, *const racl_dim, usize, i32, *mut racl_value
    );
    racl_builder_operator(*const racl_builder, *const c_char, *const racl_arg, usize);
    racl_builder_output(*const racl_builder, *const c_char, racl_value);
    racl_builder_build(*mut racl_builder, *mut *mut racl_plan);
    racl_executable_new(
        *const racl_plan, *const racl_context, *const racl_run_options, *const racl_frozen, usize,
        *mut *mut racl_executable
    );
    racl_executable_run(*const racl_executable, *const racl_stream, *const racl_bindings);
    racl_bindings_new(*const racl_executable, *mut *mut racl_bindings);
    racl_bindings_tensor(*const racl_bindings, u32, *const racl_tensor);
    racl_mock_stand_still(i32, *mut i32);
}

/// The same plan, of handles.
struct C {
    functions: Functions,
    stream: *mut racl_stream,
    executable: *mut racl_executable,
    bindings: *mut racl_bindings,
    x: *mut racl_tensor,
}

fn ok(status: i32) {
    assert_eq!(status, RACL_OK);
}

impl C {
    fn new(f: Functions) -> Self {
        let (mut library, mut context, mut stream) = (null_mut(), null_mut(), null_mut());
        // SAFETY: texts, lists and places that outlive each call; so below.
        ok(unsafe { (f.racl_library_open)(c"mock".as_ptr(), &raw mut library) });
        // SAFETY: as above.
        ok(unsafe { (f.racl_context_primary)(library, 0, &raw mut context) });
        // SAFETY: as above.
        ok(unsafe { (f.racl_stream_new)(context, null(), &raw mut stream) });
        let (x, mut executable, mut bindings) = (tensor(f, context), null_mut(), null_mut());
        // SAFETY: as above.
        ok(unsafe { (f.racl_executable_new)(plan(f), context, null(), null(), 0, &raw mut executable) });
        // SAFETY: as above.
        ok(unsafe { (f.racl_bindings_new)(executable, &raw mut bindings) });
        Self { functions: f, stream, executable, bindings, x }
    }
}

fn tensor(f: Functions, context: *const racl_context) -> *mut racl_tensor {
    let (mut buffer, mut tensor) = (null_mut(), null_mut());
    // SAFETY: structs, lists and places that outlive each call; so below.
    ok(unsafe { (f.racl_buffer_new)(context, 16, &raw mut buffer) });
    let shape = [4_usize];
    let layout = device::floats(&shape);
    // SAFETY: as above.
    ok(unsafe { (f.racl_tensor_new)(buffer, &raw const layout, &raw mut tensor) });
    tensor
}

fn plan(f: Functions) -> *mut racl_plan {
    let (mut builder, mut plan, mut x, mut y) = (null_mut(), null_mut(), 0, 0);
    // SAFETY: texts, lists and places that outlive each call; so below.
    ok(unsafe { (f.racl_builder_new)(null(), &raw mut builder) });
    let (name, shape) = (c"x".as_ptr(), [4]);
    // SAFETY: as above.
    ok(unsafe { (f.racl_builder_input)(builder, name, 0, shape.as_ptr(), 1, RACL_INPUT_TRACKED, &raw mut x) });
    let argument = |kind, data, integer| racl_arg { kind, reserved: 0, count: 0, data, integer, real: 0.0 };
    let args = [
        argument(RACL_ARG_VALUE, null(), x.cast_signed()),
        argument(RACL_ARG_RESULT, (&raw mut y).cast::<c_void>().cast_const(), 0),
    ];
    // SAFETY: as above.
    ok(unsafe { (f.racl_builder_operator)(builder, c"aclnnAbs".as_ptr(), args.as_ptr(), args.len()) });
    // SAFETY: as above.
    ok(unsafe { (f.racl_builder_output)(builder, c"y".as_ptr(), y) });
    // SAFETY: as above.
    ok(unsafe { (f.racl_builder_build)(builder, &raw mut plan) });
    plan
}

impl Way for C {
    fn bind(&mut self) {
        // SAFETY: handles alone; so below.
        ok(unsafe { (self.functions.racl_bindings_tensor)(self.bindings, 0, self.x) });
    }

    fn run(&mut self) {
        // SAFETY: as above.
        ok(unsafe { (self.functions.racl_executable_run)(self.executable, self.stream, self.bindings) });
    }

    fn wait(&mut self) {
        // SAFETY: as above.
        ok(unsafe { (self.functions.racl_stream_synchronize)(self.stream, -1) });
    }

    fn stand_still(&mut self) {
        let mut former = 0;
        // SAFETY: a place.
        ok(unsafe { (self.functions.racl_mock_stand_still)(1, &raw mut former) });
    }
}

/// Its instructions are counted, and those of what it calls.
#[inline(never)]
fn measured_runs(way: &mut dyn Way, binds: bool) {
    for _ in 0..CALLS {
        if binds {
            way.bind();
        }
        black_box(&mut *way).run();
    }
}

fn warm(way: &mut dyn Way) {
    // Nothing of the work runs while calls are measured.
    way.stand_still();
    way.bind();
    (0..16).for_each(|_| way.run());
    way.wait();
}

fn nanoseconds(way: &mut dyn Way, binds: bool) -> f64 {
    let start = Instant::now();
    measured_runs(way, binds);
    let took = start.elapsed().as_nanos() as f64 / f64::from(CALLS);
    way.wait();
    took
}

/// Instructions a run; none without valgrind.
fn instructions(way: &str) -> Option<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]);
    command.arg("--toggle-collect=*measured_runs*").arg(env::current_exe().ok()?);
    let out = command.env(WAY, way).output().ok()?;
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{way}: {text}");
    let collected = text.lines().find_map(|line| Some(line.split_once("Collected :")?.1.trim().to_owned()))?;
    Some(collected.parse::<u64>().ok()? / u64::from(CALLS))
}

/// In the process that is counted.
fn counted(mut way: Box<dyn Way>) {
    warm(&mut *way);
    measured_runs(&mut *way, false);
    way.wait();
    mem::forget(way);
}

/// A line of a figure; whether it is met.
fn line(name: &str, value: f64, unit: &str, most: Option<f64>) -> bool {
    let met = most.is_none_or(|most| value <= most);
    let target = most.map_or("none".to_owned(), |most| format!("at most {most}"));
    println!("{name}\t{value:.1}\t{unit}\t{target}\t{}", if met { "met" } else { "missed" });
    met
}

/// Nanoseconds of a run in Rust, and what one through C adds: the best of rounds in which both alternate, so that what
/// else the machine does counts little.
fn compare(rust: &mut Rust, c: &mut C, binds: bool) -> (f64, f64) {
    let (mut best, mut best_of_c) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        best = best.min(nanoseconds(rust, binds));
        best_of_c = best_of_c.min(nanoseconds(c, binds));
    }
    (best, best_of_c - best)
}

/// All figures of one library; whether they are met.
fn report(rust: &mut Rust, functions: Functions, (what, way): (&str, &str)) -> bool {
    let mut c = C::new(functions);
    warm(&mut c);
    let before = ALLOCATIONS.get();
    measured_runs(&mut c, true);
    let allocations = (ALLOCATIONS.get() - before) as f64 / f64::from(CALLS);
    c.wait();
    let (one, over) = compare(rust, &mut c, false);
    let (bound, bound_over) = compare(rust, &mut c, true);
    line(&format!("run of a plan beside {what}, Rust"), one, "ns", None);
    let mut met = line(&format!("run of a plan, {what} over Rust"), over, "ns", Some(MOST_NANOSECONDS));
    line(&format!("run of a plan with a tensor bound beside {what}, Rust"), bound, "ns", None);
    line(&format!("run of a plan with a tensor bound, {what} over Rust"), bound_over, "ns", None);
    // Another library has an allocator of its own, which is not looked at here.
    if way == "linked" {
        met &= line(&format!("run of a plan, {what}"), allocations, "allocations", Some(0.0));
    }
    match (instructions("rust"), instructions(way)) {
        (Some(rust), Some(c)) => {
            let over = c as f64 - rust as f64;
            met &= line(&format!("run of a plan, {what} over Rust"), over, "instructions", Some(MOST_INSTRUCTIONS));
        }
        _ => println!("# no instructions: they need valgrind"),
    }
    met
}

fn main() -> Result<ExitCode> {
    match env::var(WAY).as_deref() {
        Ok("rust") => counted(Box::new(Rust::new()?)),
        Ok("linked") => counted(Box::new(C::new(Functions::linked()))),
        Ok(path) => counted(Box::new(C::new(Functions::of(path)))),
        Err(_) => {
            let mut rust = Rust::new()?;
            warm(&mut rust);
            let mut met = report(&mut rust, Functions::linked(), ("C", "linked"));
            // Cargo adds `--bench`.
            for path in env::args().skip(1).filter(|argument| !argument.starts_with('-')) {
                met &= report(&mut rust, Functions::of(&path), ("C as installed", &path));
            }
            return Ok(if met { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
    }
    Ok(ExitCode::SUCCESS)
}
