//! Streams, events, gates and prefetches of plans, and code of the caller in them.

use std::ffi::c_char;

use racl::Prefetch;
use racl::plan::{After, Cores, Fork, Scope};

use crate::arguments::{Sized_, list, sized, text};
use crate::failure::{Failure, guard};
use crate::handles::get;
use crate::objects::{racl_builder, racl_foreign, racl_host_function};
use crate::recording::{issuing, racl_value, recording};
use crate::results::{answer, answer_if_asked};

/// How the stream of a scope is made.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_scope_options {
    /// sizeof(racl_scope_options).
    pub size: usize,
    /// The stream starts with the plan (1), not behind what the surrounding one has done so far (0).
    pub at_start: i32,
    /// 1 when the next field counts.
    pub has_priority: i32,
    /// 0 (highest) to 7; the same in all scopes of a tag.
    pub priority: u32,
    /// Limits of cores, together: matrix cores, and
    pub cube_cores: u32,
    /// vector cores. 0 for none.
    pub vector_cores: u32,
}

// SAFETY: integers alone, the first of them a size.
unsafe impl Sized_ for racl_scope_options {
    const WHAT: &'static str = "racl_scope_options";
    const ZERO: Self = Self { size: 0, at_start: 0, has_priority: 0, priority: 0, cube_cores: 0, vector_cores: 0 };
}

impl racl_scope_options {
    fn scope(self) -> Result<Scope, Failure> {
        let mut scope = Scope::new();
        let yes = |number: i32, what: &str| match number {
            0 | 1 => Ok(number == 1),
            other => Err(Failure::invalid(format!("{other} for whether a scope {what}"))),
        };
        if yes(self.at_start, "starts with the plan")? {
            scope = scope.fork(Fork::AtStart);
        }
        if yes(self.has_priority, "has a priority")? {
            scope = scope.priority(self.priority);
        }
        match (self.cube_cores, self.vector_cores) {
            (0, 0) => Ok(scope),
            (cube, vector) => Ok(scope.cores(Cores { cube, vector })),
        }
    }
}

/// What follows goes to the stream with this tag, up to racl_builder_scope_end(); scopes nest. `options` may be NULL.
/// Work on different streams that touches the same memory has to be put in order by joins, events or waits:
/// racl_builder_build() says where it is not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_scope_begin(
    builder: *const racl_builder,
    tag: *const c_char,
    options: *const racl_scope_options,
) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let tag = unsafe { text(tag, "the tag of a scope") }?;
            // SAFETY: by the header.
            let options = unsafe { sized(options) }?.map_or_else(|| Ok(Scope::new()), racl_scope_options::scope)?;
            Ok(recording.builder.open_scope(tag, options)?)
        })
    })
}

/// Ends the innermost scope.
#[unsafe(no_mangle)]
pub extern "C" fn racl_builder_scope_end(builder: *const racl_builder) -> i32 {
    guard(|| recording(builder, |recording| Ok(recording.builder.close_scope()?)))
}

/// Makes the current stream wait for all work of a tag so far, which ends there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_join(builder: *const racl_builder, tag: *const c_char) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            Ok(recording.builder.join(unsafe { text(tag, "a tag") }?)?)
        })
    })
}

/// An event with a tag, which the functions below take.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_event(builder: *const racl_builder, tag: *const c_char) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let tag = unsafe { text(tag, "the tag of an event") }?;
            let event = recording.builder.event(tag)?;
            recording.events.insert(tag.to_owned(), event);
            Ok(())
        })
    })
}

/// Marks the point that the current stream has reached.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_record(builder: *const racl_builder, tag: *const c_char) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let event = recording.event(unsafe { text(tag, "the tag of an event") }?)?;
            Ok(recording.builder.record(event)?)
        })
    })
}

/// Marks another point with an event, which may have been recorded before: later waits are for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_rerecord(builder: *const racl_builder, tag: *const c_char) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let event = recording.event(unsafe { text(tag, "the tag of an event") }?)?;
            Ok(recording.builder.rerecord(event)?)
        })
    })
}

/// Makes the current stream wait for the latest record of an event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_wait(builder: *const racl_builder, tag: *const c_char) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let event = recording.event(unsafe { text(tag, "the tag of an event") }?)?;
            Ok(recording.builder.wait(event)?)
        })
    })
}

/// Gives the tag of an event back: another event may have it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_event_end(builder: *const racl_builder, tag: *const c_char) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let tag = unsafe { text(tag, "the tag of an event") }?;
            recording.event(tag)?;
            recording.events.remove(tag);
            Ok(())
        })
    })
}

/// Keeps the memory of a value until a tag is joined: for work on that stream which the plan does not know of.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_record_stream(
    builder: *const racl_builder,
    value: racl_value,
    tag: *const c_char,
) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let tag = unsafe { text(tag, "a tag") }?;
            Ok(recording.builder.record_stream(recording.value(value)?, tag)?)
        })
    })
}

/// A later version of a value, over the same memory: work that is given it waits for what produced `dependency`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_wait_value(
    builder: *const racl_builder,
    of: racl_value,
    dependency: racl_value,
    value: *mut racl_value,
) -> i32 {
    let work = || {
        recording(builder, |recording| {
            let (of, dependency) = (recording.value(of)?, recording.value(dependency)?);
            let later = recording.builder.wait_value(of, dependency)?;
            Ok(recording.add(later))
        })
    };
    // SAFETY: by the header.
    unsafe { answer(value, "a value", work) }
}

/// Makes the current stream wait for what produced the values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_wait_all(
    builder: *const racl_builder,
    values: *const racl_value,
    count: usize,
) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let values = recording.values(unsafe { list(values, count, "values") }?)?;
            Ok(recording.builder.wait_all(&values)?)
        })
    })
}

/// What is prefetched, and when.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_prefetch_options {
    /// sizeof(racl_prefetch_options).
    pub size: usize,
    /// The byte of the value that is the first.
    pub offset: usize,
    /// How many at most; 0 for all.
    pub bytes: usize,
    /// It starts when this value is there; 0 for none.
    pub after_value: racl_value,
    /// It starts when the latest record of the event with this tag is done; NULL for none. With neither it starts with
    /// the plan, and with both the call is refused.
    pub after_event: *const c_char,
}

// SAFETY: integers and a pointer, the first of them a size.
unsafe impl Sized_ for racl_prefetch_options {
    const WHAT: &'static str = "racl_prefetch_options";
    const ZERO: Self = Self { size: 0, offset: 0, bytes: 0, after_value: 0, after_event: std::ptr::null() };
}

/// Brings memory of a value into the L2 cache, on a stream of its own outside of scopes. `options` may be NULL: all of
/// it, from the start of the plan on. `fetched`, which may be NULL, gets the bytes, as far as the value has them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_prefetch(
    builder: *const racl_builder,
    value: racl_value,
    options: *const racl_prefetch_options,
    fetched: *mut usize,
) -> i32 {
    let work = || {
        issuing(builder, |recording| {
            // SAFETY: by the header.
            let options = unsafe { sized(options) }?.unwrap_or(racl_prefetch_options::ZERO);
            let what = if options.bytes == 0 { Prefetch::all() } else { Prefetch::bytes(options.bytes) };
            let after = match (options.after_value, options.after_event.is_null()) {
                (0, true) => After::Start,
                (dependency, true) => After::Value(recording.value(dependency)?),
                (0, false) => {
                    // SAFETY: by the header.
                    let tag = unsafe { text(options.after_event, "the tag of an event") }?;
                    After::Event(recording.event(tag)?)
                }
                _ => return Err(Failure::invalid("a prefetch after a value and an event")),
            };
            Ok(recording.builder.prefetch(recording.value(value)?, what.offset(options.offset), after)?)
        })
    };
    // SAFETY: by the header.
    unsafe { answer_if_asked(fetched, work) }
}

/// A gate between the plan and work beside it, by name: racl_executable_signal() and racl_executable_wait_signal() are
/// its other side.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_gate(builder: *const racl_builder, name: *const c_char) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let name = unsafe { text(name, "the name of a gate") }?;
            let gate = recording.builder.external(name)?;
            recording.gates.insert(name.to_owned(), gate);
            Ok(())
        })
    })
}

/// The current stream waits at a gate for a signal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_gate_wait(builder: *const racl_builder, name: *const c_char) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let gate = recording.gate(unsafe { text(name, "the name of a gate") }?)?;
            Ok(recording.builder.wait_external(gate)?)
        })
    })
}

/// The current stream gives a signal at a gate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_gate_record(builder: *const racl_builder, name: *const c_char) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let gate = recording.gate(unsafe { text(name, "the name of a gate") }?)?;
            Ok(recording.builder.record_external(gate)?)
        })
    })
}

/// A function that runs on the host when the current stream gets there.
#[unsafe(no_mangle)]
pub extern "C" fn racl_builder_host_function(
    builder: *const racl_builder,
    function: *const racl_host_function,
) -> i32 {
    guard(|| {
        let function = get(function)?;
        issuing(builder, |recording| Ok(recording.builder.host_function(&function)?))
    })
}

/// A foreign operator that reads and writes the bytes of these values; one in both lists is read and written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_foreign(
    builder: *const racl_builder,
    foreign: *const racl_foreign,
    reads: *const racl_value,
    read_count: usize,
    writes: *const racl_value,
    write_count: usize,
) -> i32 {
    guard(|| {
        let foreign = get(foreign)?;
        issuing(builder, |recording| {
            // SAFETY: by the header.
            let reads = recording.values(unsafe { list(reads, read_count, "values to read") }?)?;
            // SAFETY: by the header.
            let writes = recording.values(unsafe { list(writes, write_count, "values to write") }?)?;
            Ok(recording.builder.foreign(&foreign, &reads, &writes)?)
        })
    })
}
