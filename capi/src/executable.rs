//! Executables, what their runs are given, and what those give.

use std::ffi::{c_char, c_void};
use std::sync::Arc;
use std::time::Duration;

use racl::op::ElementType;
use racl::plan::{Cores, Executable, External, FoundId, Frozen, InputId, OutputId};

use crate::arguments::{Out, Sized_, bytes_mut, fill, list, sized, text};
use crate::callback::with_callbacks;
use crate::cancel::Uncancelled;
use crate::errors::Entry;
use crate::failure::{Failure, Result, guard};
use crate::handles::{Alone, alone, alone_here, free, get};
use crate::host_outputs::Taken;
use crate::objects::{
    racl_bindings, racl_context, racl_errors, racl_executable, racl_plan, racl_stream, racl_tensor,
};
use crate::results::{answer, answer_list, make, tell};
use crate::run_options::racl_run_options;
use crate::status::RACL_BUSY;
use crate::stream::give;

/// An executable with its inputs and outputs by number.
pub(crate) struct Executables {
    pub(crate) inputs: Arc<[InputId]>,
    pub(crate) state: State,
}

pub(crate) struct State {
    pub(crate) executable: Executable,
    outputs: Arc<[OutputId]>,
}

/// An output by its number.
pub(crate) fn output(outputs: &[OutputId], output: u32) -> Result<OutputId> {
    let unknown = || Failure::invalid(format!("output {output} of {}", outputs.len()));
    outputs.get(output as usize).copied().ok_or_else(unknown)
}

impl State {
    fn output(&self, number: u32) -> Result<OutputId> {
        output(&self.outputs, number)
    }

    pub(crate) fn take(&mut self) -> Result<Taken> {
        Ok(Taken { value: self.executable.take_host_outputs()?, outputs: Arc::clone(&self.outputs) })
    }

    /// An output of which the device decides how much there is.
    pub(crate) fn found(&self, output: u32) -> Result<FoundId> {
        let id = self.output(output)?;
        Ok(self.executable.found_id(self.name(id))?)
    }

    fn name(&self, output: OutputId) -> &str {
        let found = self.executable.outputs().find(|(known, _)| *known == output);
        found.map(|(_, name)| name).unwrap_or_default()
    }
}

/// An input by its number.
pub(crate) fn input(inputs: &[InputId], input: u32) -> Result<InputId> {
    let unknown = || Failure::invalid(format!("input {input} of {}", inputs.len()));
    inputs.get(input as usize).copied().ok_or_else(unknown)
}

/// Does something with an executable, which one thread at a time has.
pub(crate) fn with<T>(
    executable: *const racl_executable,
    work: impl FnOnce(&mut State, &[InputId]) -> Result<T>,
) -> Result<T> {
    let mut executable = alone(executable)?;
    let Executables { inputs, state } = &mut *executable;
    work(state, inputs)
}

/// The same once the latest run is over, and only where `check` finds nothing wrong before. Others have the executable
/// meanwhile: the run may wait for their signal.
pub(crate) fn after_run<T>(
    executable: *const racl_executable,
    check: impl FnOnce(&State) -> Result<()>,
    work: impl FnOnce(&mut State) -> Result<T>,
) -> Result<T> {
    let mut own = alone(executable)?;
    check(&own.state)?;
    while let Some(end) = own.state.executable.run_end()? {
        drop(own);
        end.wait()?;
        own = soon_alone(executable)?;
    }
    work(&mut own.state)
}

/// The last pause is reached after some 25 ms in all.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// What others have for a moment: whoever gave the signal may be on the way out of that call. RACL_BUSY where one of them
/// has it for longer, maybe until this thread does something else.
fn soon_alone(executable: *const racl_executable) -> Result<Alone<racl_executable>> {
    let mut pause = Duration::from_micros(20);
    loop {
        match alone(executable) {
            Err(failure) if failure.status == RACL_BUSY && pause < LONGEST_PAUSE => std::thread::park_timeout(pause),
            taken => return taken,
        }
        pause = pause * 5 / 4;
    }
}

/// Memory for an input of the class RACL_INPUT_FROZEN.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_frozen {
    /// Its name.
    pub name: *const c_char,
    /// A dense tensor, whose memory the executable keeps.
    pub tensor: *const racl_tensor,
}

/// A plan with memory on the device of a context, and all of its frozen inputs. A captured one has a graph already when
/// nothing of it waits for a run. `options` may be NULL. One thread at a time uses an executable: others get RACL_BUSY. One
/// that reads lets others have it while it waits for a run at a gate of the plan, who may give the signal; it gets RACL_BUSY
/// itself where another has it then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_new(
    plan: *const racl_plan,
    context: *const racl_context,
    options: *const racl_run_options,
    frozen: *const racl_frozen,
    frozen_count: usize,
    executable: *mut *mut racl_executable,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    let work = || {
        let (plan, context) = (get(plan)?, get(context)?);
        // SAFETY: by the header.
        let options = unsafe { sized(options) }?.unwrap_or(racl_run_options::ZERO).options()?;
        let mut given = Frozen::new();
        // SAFETY: by the header.
        for one in unsafe { list(frozen, frozen_count, "frozen inputs") }? {
            // SAFETY: by the header.
            given = given.with(unsafe { text(one.name, "the name of an input") }?, &*get(one.tensor)?);
        }
        let executable = with_callbacks(|| Ok(plan.executable(&*context, &options, given)?))?;
        let inputs = executable.inputs().map(|(input, _)| input).collect();
        let outputs = executable.outputs().map(|(output, _)| output).collect();
        Ok(Executables { inputs, state: State { executable, outputs } })
    };
    // SAFETY: by the header.
    unsafe { make(executable, work) }
}

/// Gives the executable back, with its memory and graphs. Waits for its last run for at most 10 seconds, see
/// racl_free_limit_set(), and not for one that waits at a gate: what is not done by then is kept, and given back by a
/// thread of its own once it is; racl_context_take_errors() has what there is to say, among it what failed in its last run
/// and nobody was told before: wait for the stream first, for its next wait does not give that again.
#[unsafe(no_mangle)]
pub extern "C" fn racl_executable_free(executable: *mut racl_executable) -> i32 {
    guard(|| free(executable))
}

/// The number of an input, by its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_input(
    executable: *const racl_executable,
    name: *const c_char,
    number: *mut u32,
) -> i32 {
    let work = || {
        with(executable, |state, inputs| {
            // SAFETY: by the header.
            let id = state.executable.input(unsafe { text(name, "the name of an input") }?)?;
            Ok(inputs.iter().position(|known| *known == id).unwrap_or(usize::MAX) as u32)
        })
    };
    // SAFETY: by the header.
    unsafe { answer(number, "a number", work) }
}

/// The number of an output, by its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_output(
    executable: *const racl_executable,
    name: *const c_char,
    number: *mut u32,
) -> i32 {
    let work = || {
        with(executable, |state, _| {
            // SAFETY: by the header.
            let id = state.executable.output_id(unsafe { text(name, "the name of an output") }?)?;
            Ok(state.outputs.iter().position(|known| *known == id).unwrap_or(usize::MAX) as u32)
        })
    };
    // SAFETY: by the header.
    unsafe { answer(number, "a number", work) }
}

/// How many inputs it has: their numbers are those from 0 on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_input_count(executable: *const racl_executable, count: *mut u32) -> i32 {
    let work = || with(executable, |_, inputs| Ok(inputs.len() as u32));
    // SAFETY: by the header.
    unsafe { answer(count, "a count", work) }
}

/// Copies the name of an input to `name`, as racl_library_name() does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_input_name(
    executable: *const racl_executable,
    number: u32,
    name: *mut c_char,
    size: usize,
    needed: *mut usize,
) -> i32 {
    let work = || {
        with(executable, |state, inputs| {
            let input = input(inputs, number)?;
            let found = state.executable.inputs().find(|(known, _)| *known == input);
            Ok(found.map(|(_, name)| name.to_owned()).unwrap_or_default())
        })
    };
    // SAFETY: by the header.
    unsafe { tell(name, size, needed, work) }
}

/// How many outputs it has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_output_count(executable: *const racl_executable, count: *mut u32) -> i32 {
    let work = || with(executable, |state, _| Ok(state.outputs.len() as u32));
    // SAFETY: by the header.
    unsafe { answer(count, "a count", work) }
}

/// Copies the name of an output to `name`, as racl_library_name() does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_output_name(
    executable: *const racl_executable,
    output: u32,
    name: *mut c_char,
    size: usize,
    needed: *mut usize,
) -> i32 {
    let work = || with(executable, |state, _| Ok(state.name(state.output(output)?).to_owned()));
    // SAFETY: by the header.
    unsafe { tell(name, size, needed, work) }
}

/// Runs the plan on the stream: after the work before it there, and before the work after it. Returns when it is
/// submitted, and allocates no memory of the host when nothing has to be captured and no updatable input moved;
/// racl_stream_synchronize() and what reads outputs wait for it. Errors of the work come from those. It writes over the
/// outputs of the run before. Where four runs with memory of the host are under way, or as many as host outputs have
/// buffers, it waits for the first: RACL_DEADLOCK, and nothing is submitted, where that one waits at a gate that nobody
/// signalled, since nobody can while this has the executable. RACL_ADDRESS_CHANGED for another address than a graph was
/// captured with, RACL_GRAPH_LIMIT where it would take more graphs than may be, RACL_INVALID_ARGUMENT for inputs that are
/// missing or do not fit.
#[unsafe(no_mangle)]
pub extern "C" fn racl_executable_run(
    executable: *const racl_executable,
    stream: *const racl_stream,
    bindings: *const racl_bindings,
) -> i32 {
    guard(|| {
        give(stream, "racl_executable_run", |stream| {
            let (mut executable, mut bindings) = (alone_here(executable)?, alone_here(bindings)?);
            Ok(executable.state.executable.run(stream, &mut bindings.bindings)?)
        })
    })
}

/// Captures the graph that a run with these bindings would need, and does not run it. Nothing where it is there already,
/// and with RACL_RUN_EAGER.
#[unsafe(no_mangle)]
pub extern "C" fn racl_executable_capture(executable: *const racl_executable, bindings: *const racl_bindings) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| {
        let (mut executable, mut bindings) = (alone(executable)?, alone(bindings)?);
        with_callbacks(|| Ok(executable.state.executable.capture(&mut bindings.bindings)?))
    })
}

/// How many more graphs can be captured: up to the limit of racl_run_options, and with the streams that the device has
/// left, where it tells. 0 with RACL_RUN_EAGER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_graph_room(executable: *const racl_executable, graphs: *mut usize) -> i32 {
    let work = || with(executable, |state, _| Ok(state.executable.graph_room()?));
    // SAFETY: by the header.
    unsafe { answer(graphs, "a count", work) }
}

/// Memory of a static input, to be written between runs: racl_tensor_write() waits for the run before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_static_input(
    executable: *const racl_executable,
    number: u32,
    tensor: *mut *mut racl_tensor,
) -> i32 {
    let work = || with(executable, |state, inputs| Ok(state.executable.static_input_any(input(inputs, number)?)?));
    // SAFETY: by the header.
    unsafe { make(tensor, work) }
}

/// Memory of a copied input: a run that has this tensor bound copies nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_copied_input(
    executable: *const racl_executable,
    number: u32,
    tensor: *mut *mut racl_tensor,
) -> i32 {
    let work = || with(executable, |state, inputs| Ok(state.executable.copied_input_any(input(inputs, number)?)?));
    // SAFETY: by the header.
    unsafe { make(tensor, work) }
}

/// The type and shape of an output of the latest run, as racl_tensor_shape() gives them; `dtype` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_output_shape(
    executable: *const racl_executable,
    output: u32,
    shape: *mut usize,
    room: usize,
    rank: *mut usize,
    dtype: *mut i32,
) -> i32 {
    // SAFETY: by the header.
    let dtype = unsafe { Out::if_asked(dtype, 0, "a type") };
    let work = |places: &mut [usize]| {
        let dtype = dtype?;
        with(executable, |state, _| {
            let output = state.executable.output_any(state.output(output)?)?;
            places.iter_mut().zip(output.shape().iter()).for_each(|(place, size)| *place = *size);
            if let Some(dtype) = dtype {
                dtype.set(ElementType::from(output.dtype()).number());
            }
            Ok(output.shape().len())
        })
    };
    // SAFETY: by the header.
    unsafe { answer_list((shape, room), rank, ("a place for a shape", "a rank"), work) }
}

/// Waits for the latest run and copies an output to the host; `size` is that of the output. RACL_INVALID_ARGUMENT for
/// another size and where there was no run; the status of the run's failure where it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_read(
    executable: *const racl_executable,
    output: u32,
    data: *mut c_void,
    size: usize,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| {
        // SAFETY: by the header.
        let place = unsafe { bytes_mut(data, size, "a place for an output") }?;
        let check = |state: &State| state.output(output).map(drop);
        after_run(executable, check, |state| {
            Ok(state.executable.output_any(state.output(output)?)?.read_into(place)?)
        })
    })
}

/// Waits for the latest run and copies an output that it brought to the host, see racl_builder_output_to_host().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_read_host(
    executable: *const racl_executable,
    output: u32,
    data: *mut c_void,
    size: usize,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| {
        // SAFETY: by the header.
        let place = unsafe { bytes_mut(data, size, "a place for an output") }?;
        let check = |state: &State| state.output(output).map(drop);
        after_run(executable, check, |state| {
            let output = state.output(output)?;
            Ok(state.executable.host_output_bytes(output, place)?)
        })
    })
}

/// Copies an output of the latest run to a dense tensor of its type and shape when the stream gets there.
#[unsafe(no_mangle)]
pub extern "C" fn racl_executable_copy_output(
    executable: *const racl_executable,
    output: u32,
    stream: *const racl_stream,
    tensor: *const racl_tensor,
) -> i32 {
    guard(|| {
        give(stream, "racl_executable_copy_output", |stream| {
            let mut to = (*get(tensor)?).clone();
            with(executable, |state, _| {
                Ok(state.executable.output_any(state.output(output)?)?.copy_to(stream, &mut to)?)
            })
        })
    })
}

/// How often what happened to an executable.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_run_counters {
    /// sizeof(racl_run_counters).
    pub size: usize,
    /// Graphs that are kept.
    pub graphs: usize,
    /// Runs that replayed a graph.
    pub replays: u64,
    /// Runs operator by operator.
    pub eager: u64,
    /// Captures for new sizes.
    pub captured_new: u64,
    /// Captures because a tracked input had another address.
    pub captured_moved: u64,
    /// Graphs that made room for others.
    pub evicted: u64,
    /// Runs that changed operators inside a graph.
    pub updates: u64,
}

// SAFETY: integers alone, the first of them a size.
unsafe impl Sized_ for racl_run_counters {
    const WHAT: &'static str = "racl_run_counters";
    const ZERO: Self =
        Self { size: 0, graphs: 0, replays: 0, eager: 0, captured_new: 0, captured_moved: 0, evicted: 0, updates: 0 };
}

/// How often what happened so far. Set `size` of the struct first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_counters(
    executable: *const racl_executable,
    counters: *mut racl_run_counters,
) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        unsafe { fill(counters, racl_run_counters::ZERO) }?;
        let value = with(executable, |state, _| {
            let all = state.executable.counters();
            Ok(racl_run_counters {
                size: 0,
                graphs: state.executable.graphs(),
                replays: all.replays,
                eager: all.eager,
                captured_new: all.captured_new,
                captured_moved: all.captured_moved,
                evicted: all.evicted,
                updates: all.updates,
            })
        })?;
        // SAFETY: by the header.
        unsafe { fill(counters, value) }
    })
}

/// Drops every captured graph, once its last run is over.
#[unsafe(no_mangle)]
pub extern "C" fn racl_executable_clear_graphs(executable: *const racl_executable) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| {
        with(executable, |state, _| {
            state.executable.clear_graphs();
            Ok(())
        })
    })
}

/// Limits the cores of graphs that are captured from now on; 0 and 0 for no limit.
#[unsafe(no_mangle)]
pub extern "C" fn racl_executable_limit_cores(
    executable: *const racl_executable,
    cube_cores: u32,
    vector_cores: u32,
) -> i32 {
    guard(|| {
        with(executable, |state, _| {
            let cores = Cores { cube: cube_cores, vector: vector_cores };
            state.executable.limit_cores((cores != Cores { cube: 0, vector: 0 }).then_some(cores));
            Ok(())
        })
    })
}

/// Lets an executable do something at a gate of its plan with a stream.
///
/// # Safety
///
/// `gate` is as [`text`] wants it.
unsafe fn at_gate(
    (executable, gate): (*const racl_executable, *const c_char),
    (stream, what): (*const racl_stream, &'static str),
    work: impl FnOnce(&Executable, External, &racl::Stream) -> racl::Result<()>,
) -> i32 {
    let at = |stream: &racl::Stream| {
        with(executable, |state, _| {
            // SAFETY: as here.
            let gate = state.executable.plan().external(unsafe { text(gate, "the name of a gate") }?)?;
            Ok(work(&state.executable, gate, stream)?)
        })
    };
    guard(|| give(stream, what, at))
}

/// Gives a signal to runs that wait at a gate of the plan, when the stream gets there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_signal(
    executable: *const racl_executable,
    gate: *const c_char,
    stream: *const racl_stream,
) -> i32 {
    let work = |executable: &Executable, gate, stream: &racl::Stream| executable.signal(gate, stream);
    // SAFETY: by the header.
    unsafe { at_gate((executable, gate), (stream, "racl_executable_signal"), work) }
}

/// Makes the stream wait for a signal that runs give at a gate of the plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_wait_signal(
    executable: *const racl_executable,
    gate: *const c_char,
    stream: *const racl_stream,
) -> i32 {
    let work = |executable: &Executable, gate, stream: &racl::Stream| executable.wait_signal(gate, stream);
    // SAFETY: by the header.
    unsafe { at_gate((executable, gate), (stream, "racl_executable_wait_signal"), work) }
}

/// A way out of runs that wait at gates for signals that will not come: gives signals that were given time to arrive, as
/// long as racl_run_options says, then opens the gates until every run so far is over. Waits until then. What is behind a
/// gate that was opened ran without what it waits for: `gates` has these, RACL_OK for the status of each and its name for
/// the message. RACL_TIMEOUT where runs of another executable, which is to be released first, hold these up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_release_gates(
    executable: *const racl_executable,
    gates: *mut *mut racl_errors,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    let work = || {
        let names = with(executable, |state, _| Ok(state.executable.release_gates()?))?;
        Ok(names.into_iter().map(|name| Entry::from(Failure::own(crate::status::RACL_OK, name))).collect())
    };
    // SAFETY: by the header.
    unsafe { make(gates, work) }
}
