//! Executables, what their runs are given, and what those give.

use std::ffi::{c_char, c_void};
use std::sync::Arc;
use std::time::Duration;

use racl::op::{ElementType, MAX_RANK};
use racl::plan::{
    Bindings, Cores, Executable, External, FoundId, Frozen, InputId, Mode, OnFull, OutputId, RunOptions,
};

use crate::arguments::{Out, Sized_, bytes, fill, list, list_mut, sized, text};
use crate::callback::with_callbacks;
use crate::failure::{Failure, Result, guard};
use crate::handles::{alone, free, get};
use crate::objects::{racl_bindings, racl_context, racl_executable, racl_plan, racl_stream, racl_tensor};
use crate::recording::data_type;
use crate::results::{answer, answer_list, make};
use crate::stream::give;

/// Runs replay captured graphs, which are made as they are needed.
pub const RACL_RUN_CAPTURED: i32 = 0;
/// Runs give the stream operator by operator.
pub const RACL_RUN_EAGER: i32 = 1;

/// The graph that was used least recently makes room.
pub const RACL_FULL_EVICT: i32 = 0;
/// The run is an eager one.
pub const RACL_FULL_EAGER: i32 = 1;
/// The run fails: RACL_GRAPH_LIMIT.
pub const RACL_FULL_FAIL: i32 = 2;

/// Each run captures anew.
pub const RACL_RUN_FORCE_RECAPTURE: u32 = 1;
/// Runs look at frozen inputs that are bound, and fail when they moved: RACL_ADDRESS_CHANGED.
pub const RACL_RUN_CHECK_FROZEN: u32 = 2;
/// Operators that use updatable inputs are planned again at each move, instead of getting other addresses alone.
pub const RACL_RUN_NO_ADDRESS_UPDATES: u32 = 4;

/// How an executable runs.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_run_options {
    /// sizeof(racl_run_options).
    pub size: usize,
    /// RACL_RUN_CAPTURED or RACL_RUN_EAGER.
    pub mode: i32,
    /// What a run does that needs one graph more than the limit: RACL_FULL_...
    pub on_full: i32,
    /// RACL_RUN_FORCE_RECAPTURE and its like put together.
    pub flags: u32,
    /// How many captured graphs are kept; 0 for 64.
    pub graph_limit: usize,
    /// So many runs have memory of the host of their own for host outputs; 0 for 1. racl_executable_read_host() reads
    /// those of the latest run alone, whatever this is.
    pub host_output_buffers: usize,
    /// Nanoseconds after which a signal at a gate is given up when the executable ends; 0 for 60 seconds.
    pub signal_limit: u64,
}

// SAFETY: integers alone, the first of them a size.
unsafe impl Sized_ for racl_run_options {
    const WHAT: &'static str = "racl_run_options";
    const ZERO: Self =
        Self { size: 0, mode: 0, on_full: 0, flags: 0, graph_limit: 0, host_output_buffers: 0, signal_limit: 0 };
}

impl racl_run_options {
    fn options(self) -> Result<RunOptions> {
        let mut options = RunOptions::new();
        options = options.mode(match self.mode {
            RACL_RUN_CAPTURED => Mode::Captured,
            RACL_RUN_EAGER => Mode::Eager,
            other => return Err(Failure::invalid(format!("{other} for the mode of runs"))),
        });
        options = options.on_full(match self.on_full {
            RACL_FULL_EVICT => OnFull::EvictLeastRecent,
            RACL_FULL_EAGER => OnFull::Eager,
            RACL_FULL_FAIL => OnFull::Fail,
            other => return Err(Failure::invalid(format!("{other} for what a full store does"))),
        });
        let known = RACL_RUN_FORCE_RECAPTURE | RACL_RUN_CHECK_FROZEN | RACL_RUN_NO_ADDRESS_UPDATES;
        if self.flags & !known != 0 {
            return Err(Failure::invalid(format!("unknown flags {:#x} of runs", self.flags)));
        }
        if self.flags & RACL_RUN_FORCE_RECAPTURE != 0 {
            options = options.force_recapture();
        }
        if self.flags & RACL_RUN_CHECK_FROZEN != 0 {
            options = options.check_frozen();
        }
        options = options.address_updates(self.flags & RACL_RUN_NO_ADDRESS_UPDATES == 0);
        if self.graph_limit != 0 {
            options = options.graph_limit(self.graph_limit);
        }
        if self.host_output_buffers != 0 {
            options = options.host_output_buffers(self.host_output_buffers);
        }
        match self.signal_limit {
            0 => Ok(options),
            nanoseconds => Ok(options.signal_limit(Duration::from_nanos(nanoseconds))),
        }
    }
}

/// An executable with its inputs and outputs by number.
pub(crate) struct Executables {
    inputs: Arc<[InputId]>,
    state: State,
}

pub(crate) struct State {
    pub(crate) executable: Executable,
    outputs: Vec<OutputId>,
}

impl State {
    fn output(&self, output: u32) -> Result<OutputId> {
        let unknown = || Failure::invalid(format!("output {output} of {}", self.outputs.len()));
        self.outputs.get(output as usize).copied().ok_or_else(unknown)
    }

    /// An output of which the device decides how much there is.
    pub(crate) fn found(&self, output: u32) -> Result<FoundId> {
        let id = self.output(output)?;
        let name = self.executable.outputs().find(|(known, _)| *known == id).map(|(_, name)| name);
        Ok(self.executable.found_id(name.unwrap_or_default())?)
    }
}

/// Bindings, with the inputs of their executable.
pub(crate) struct Binding {
    bindings: Bindings,
    inputs: Arc<[InputId]>,
}

fn input(inputs: &[InputId], input: u32) -> Result<InputId> {
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
/// nothing of it waits for a run. `options` may be NULL. One thread at a time uses an executable: others get RACL_BUSY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_new(
    plan: *const racl_plan,
    context: *const racl_context,
    options: *const racl_run_options,
    frozen: *const racl_frozen,
    frozen_count: usize,
    executable: *mut *mut racl_executable,
) -> i32 {
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
/// thread of its own once it is; racl_context_take_errors() has what there is to say.
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

/// Runs the plan on the stream: after the work before it there, and before the work after it. Returns when it is
/// submitted, and allocates no memory of the host when nothing has to be captured; racl_stream_synchronize() and what
/// reads outputs wait for it. Errors of the work come from those. It writes over the outputs of the run before.
#[unsafe(no_mangle)]
pub extern "C" fn racl_executable_run(
    executable: *const racl_executable,
    stream: *const racl_stream,
    bindings: *const racl_bindings,
) -> i32 {
    guard(|| {
        give(stream, "racl_executable_run", |stream| {
            let (mut executable, mut bindings) = (alone(executable)?, alone(bindings)?);
            Ok(executable.state.executable.run(stream, &mut bindings.bindings)?)
        })
    })
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

/// Waits for the latest run and copies an output to the host; `size` is that of the output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_read(
    executable: *const racl_executable,
    output: u32,
    data: *mut c_void,
    size: usize,
) -> i32 {
    guard(|| {
        with(executable, |state, _| {
            // SAFETY: by the header.
            let place = unsafe { list_mut(data.cast(), size, "a place for an output") }?;
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
    guard(|| {
        with(executable, |state, _| {
            // SAFETY: by the header.
            let place = unsafe { list_mut(data.cast(), size, "a place for an output") }?;
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

/// Bindings of an executable, with nothing set: they are kept and used for run after run. One thread at a time uses
/// them. They keep the memory that is bound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_bindings_new(
    executable: *const racl_executable,
    bindings: *mut *mut racl_bindings,
) -> i32 {
    let work = || {
        let executable = alone(executable)?;
        Ok(Binding { bindings: executable.state.executable.bindings(), inputs: Arc::clone(&executable.inputs) })
    };
    // SAFETY: by the header.
    unsafe { make(bindings, work) }
}

/// Does something with bindings, and tells its mistake at once.
fn bind(bindings: *const racl_bindings, work: impl FnOnce(&mut Bindings, &[InputId]) -> Result<()>) -> Result<()> {
    let mut binding = alone(bindings)?;
    let Binding { bindings, inputs } = &mut *binding;
    work(bindings, inputs)?;
    Ok(bindings.check()?)
}

/// Binds a dense tensor to an input. What was bound before stays when this fails.
#[unsafe(no_mangle)]
pub extern "C" fn racl_bindings_tensor(
    bindings: *const racl_bindings,
    number: u32,
    tensor: *const racl_tensor,
) -> i32 {
    guard(|| {
        let tensor = get(tensor)?;
        bind(bindings, |bindings, inputs| {
            bindings.set(input(inputs, number)?, &*tensor);
            Ok(())
        })
    })
}

/// Gives an input of the class RACL_INPUT_HOST: its aclDataType, its shape, and `size` bytes, which are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_bindings_host(
    bindings: *const racl_bindings,
    number: u32,
    dtype: i32,
    shape: *const usize,
    rank: usize,
    data: *const c_void,
    size: usize,
) -> i32 {
    guard(|| {
        bind(bindings, |bindings, inputs| {
            if rank > MAX_RANK {
                return Err(Failure::invalid(format!("{rank} dimensions, of at most {MAX_RANK}")));
            }
            // SAFETY: by the header.
            let shape = unsafe { list(shape, rank, "a shape") }?;
            // SAFETY: by the header.
            let data = unsafe { bytes(data, size, "an input") }?;
            bindings.host_bytes(input(inputs, number)?, data, data_type(dtype)?, shape);
            Ok(())
        })
    })
}

/// The value of a symbol that no input has, or of a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_bindings_symbol(
    bindings: *const racl_bindings,
    name: *const c_char,
    value: usize,
) -> i32 {
    guard(|| {
        bind(bindings, |bindings, _| {
            // SAFETY: by the header.
            bindings.symbol(unsafe { text(name, "the name of a symbol") }?, value);
            Ok(())
        })
    })
}

/// One more thing that captured graphs are kept by.
#[unsafe(no_mangle)]
pub extern "C" fn racl_bindings_key(bindings: *const racl_bindings, key: u64) -> i32 {
    guard(|| {
        bind(bindings, |bindings, _| {
            bindings.key(key);
            Ok(())
        })
    })
}

/// Gives the handle back.
#[unsafe(no_mangle)]
pub extern "C" fn racl_bindings_free(bindings: *mut racl_bindings) -> i32 {
    guard(|| free(bindings))
}
