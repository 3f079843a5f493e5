//! The two phases of an operator.

use std::ffi::c_void;
use std::panic::Location;

use acl_sys::{Entry, MissingSymbol, Table, aclOpExecutor, aclrtStream};

use super::argument::{Arg, Objects};
use super::cached;
use super::few::Few;
use super::first::FirstPhase;
use super::indices;
use super::operand::{self, Access, Operand};
use super::owned::owned;
use super::repeatable::Keep;
use super::told::Takes;
use crate::call::{Caller as _, check};
use crate::context::ContextInner;
use crate::error::Result;
use crate::memory::{How, Touch};
use crate::stream::{Scratch, Stream, Task, Workspace};

owned! {
    /// A planned operator that has not been launched.
    Executor, aclOpExecutor, aclDestroyAclOpExecutor
}

/// An operator of the library: its two phases.
pub(crate) struct Function {
    second: Entry,
    first: Entry,
    /// That no other function has.
    id: u64,
    call: FirstPhase,
    /// What its parameters take.
    takes: &'static [Takes],
    /// What it is called in Rust, and what its parameters are, a comma behind each: one text for all has one address,
    /// where a list has many.
    names: &'static str,
    /// Bytes of the first of them.
    label: u8,
}

/// FNV-1a; a test compares all names.
const fn id_of(name: &str) -> u64 {
    let (bytes, mut id, mut at) = (name.as_bytes(), 0xcbf2_9ce4_8422_2325_u64, 0);
    while at < bytes.len() {
        id = (id ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    id
}

/// On a workspace with its bytes. The executor comes from the first phase of the same operator, the workspace has the
/// bytes that it asked for, and both they and the memory of the tensors last until the work is done.
pub(crate) type SecondPhase = unsafe extern "C" fn(*mut c_void, u64, *mut aclOpExecutor, aclrtStream) -> i32;

impl Function {
    pub(crate) const fn new(
        name: &'static str,
        first_name: &'static str,
        call: FirstPhase,
        // For its type alone: no operator's method of the table need be in the program.
        _second: fn(&Table) -> Result<SecondPhase, MissingSymbol>,
    ) -> Self {
        Self {
            second: Entry::of(name),
            first: Entry::of(first_name),
            id: id_of(name),
            call,
            takes: &[],
            names: "",
            label: 0,
        }
    }

    /// Of these phases, the second and the first one.
    pub(super) fn of((second, first): (Entry, Entry), call: FirstPhase) -> Self {
        Self { second, first, id: id_of(second.name()), call, takes: &[], names: "", label: 0 }
    }

    /// Says what the parameters take, and the names: its own in Rust, and theirs.
    pub(crate) const fn taking(mut self, takes: &'static [Takes], names: &'static str) -> Self {
        (self.takes, self.names) = (takes, names);
        let bytes = names.as_bytes();
        while (self.label as usize) < bytes.len() && bytes[self.label as usize] != b',' {
            self.label += 1;
        }
        self
    }

    /// The name of the second phase, which is that of the operator.
    pub(crate) fn name(&self) -> &'static str {
        self.second.name()
    }

    /// Its name in Rust.
    pub(super) fn label(&self) -> &'static str {
        &self.names[..usize::from(self.label)]
    }

    pub(super) fn entry(&self) -> Entry {
        self.second
    }

    /// The index of a parameter, and what it takes.
    pub(crate) fn parameter(&self, name: &str) -> Option<(usize, Takes)> {
        let index = self.parameters().position(|known| known == name)?;
        Some((index, *self.takes.get(index)?))
    }

    /// The names of all parameters.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.names.split_terminator(',').skip(1)
    }

    pub(super) fn takes(&self) -> &'static [Takes] {
        self.takes
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// The first phase: gives the executor, and the bytes of scratch memory that it asks for.
    pub(super) fn plan<'c>(&self, context: &'c ContextInner, objects: &Objects<'c>) -> Result<(Executor<'c>, u64)> {
        context.before_operator();
        context.bind()?;
        let table = context.table();
        let (mut bytes, mut executor) = (0_u64, std::ptr::null_mut());
        let address = table.entry(self.first)?;
        // SAFETY: the address of this phase, and the call for its type; the objects are live and were made for this
        // call, in the order of its arguments.
        let code = unsafe { (self.call)(address, &objects.slots, &raw mut bytes, &raw mut executor) };
        check(table, self.first.name(), code)?;
        Ok((Executor::own(executor, context), bytes))
    }

    /// The second phase.
    ///
    /// # Safety
    ///
    /// As [`SecondPhase`] says.
    pub(super) unsafe fn launch(
        &self,
        context: &ContextInner,
        (workspace, bytes): (*mut c_void, u64),
        executor: *mut aclOpExecutor,
        stream: aclrtStream,
    ) -> Result<()> {
        context.bind()?;
        let table = context.table();
        let address = table.entry(self.second)?;
        // SAFETY: not null, and the second phase of an operator: its type was compared in `new`.
        let second = unsafe { std::mem::transmute::<*mut c_void, SecondPhase>(address) };
        // SAFETY: as the caller promises.
        check(table, self.name(), unsafe { second(workspace, bytes, executor, stream) })
    }
}

/// One call of an operator.
pub(crate) struct Call<'a> {
    pub(crate) function: &'static Function,
    /// What errors call it.
    pub(crate) label: &'static str,
    pub(crate) location: &'static Location<'static>,
    pub(crate) args: &'a [Arg<'a>],
}

/// Where an operator goes.
pub(crate) trait Target: Copy {
    /// Takes the operator, whose memory belongs to the device of the stream.
    fn take(self, call: &Call<'_>) -> Result<()>;
}

impl Target for &Stream {
    #[inline]
    fn take(self, call: &Call<'_>) -> Result<()> {
        let looked_at = if self.0.context().operators.index_checks() { indices::check(self, call) } else { Ok(()) };
        let done = looked_at.and_then(|()| cached::run(self, call));
        done.map_err(|error| self.refuse((call.label, call.location), error))
    }
}

impl Target for Keep<'_> {
    fn take(self, call: &Call<'_>) -> Result<()> {
        self.keep(call)
    }
}

/// The memory of a call's tensors, in the order of its arguments.
pub(super) struct Memory<'a> {
    pub(super) uses: Few<Touch<'a>>,
    /// Where the storage of each starts.
    pub(super) starts: Few<*mut c_void>,
    /// Whether the index of each tensor among the operands is known: none is in a list, and none is left out before
    /// another one.
    pub(super) is_plain: bool,
}

impl Default for Memory<'_> {
    #[inline]
    fn default() -> Self {
        Self { uses: Few::new(), starts: Few::new(), is_plain: true }
    }
}

/// How the library is told that a tensor moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Index {
    /// Of the tensor among all operands.
    Any(usize),
    /// Among the operands that are read.
    Input(usize),
    /// Among those that are written.
    Output(usize),
    /// Of a list among the operands that are read, and of the tensor in it.
    InputOf(usize, usize),
    OutputOf(usize, usize),
    /// What index it has is not sure, so it has to stay where it is.
    Unsure,
}

impl Call<'_> {
    /// What tells the call from others, but for its tensors: equal words, equal operators with equal numbers.
    pub(crate) fn note(&self, words: &mut Vec<u64>) {
        words.push(self.function.id());
        self.args.iter().for_each(|arg| arg.note(words));
    }

    /// The memory of the operands, which has to be of the stream's device.
    pub(super) fn memory(&self, stream: &Stream) -> Result<Memory<'_>> {
        let mut memory = Memory::default();
        memory.gather(self, stream, None)?;
        Ok(memory)
    }
}

#[cfg(all(test, feature = "cache"))]
impl Call<'_> {
    /// The first phase alone: whether the library takes the operator.
    pub(crate) fn first_phase(&self, stream: &Stream) -> Result<()> {
        let context = &**stream.0.context();
        let objects = Objects::make(context, self.args)?;
        self.function.plan(context, &objects).map(drop)
    }
}

impl Call<'_> {
    /// The index of each tensor, in the order of [`Memory::starts`], of a call that has lists, or leaves operands out
    /// before others. Operands that are read are counted apart from those that are written; a list is one of either.
    ///
    /// Some operators number the tensors of lists as if they stood for themselves, so that of a tensor behind a list is
    /// not sure; nor is any behind one that is left out, which counts in some, or of a result behind an operand that
    /// is changed in place, which may count as a result.
    pub(super) fn indices(&self) -> Few<Index> {
        let mut indices = Few::new();
        let (mut inputs, mut outputs) = (Kind::default(), Kind::default());
        for arg in self.args {
            match *arg {
                Arg::Tensor(_, access) => {
                    let kind = if access == Access::Write { &mut outputs } else { &mut inputs };
                    let make = if access == Access::Write { Index::Output } else { Index::Input };
                    indices.push(if kind.is_sure && !kind.has_list { make(kind.count) } else { Index::Unsure });
                    kind.count += 1;
                    outputs.is_sure &= access != Access::ReadWrite;
                }
                Arg::Tensors(list, access) => {
                    let kind = if access == Access::Write { &mut outputs } else { &mut inputs };
                    let make = if access == Access::Write { Index::OutputOf } else { Index::InputOf };
                    for at in 0..list.count() {
                        indices.push(if kind.is_sure { make(kind.count, at) } else { Index::Unsure });
                    }
                    kind.count += 1;
                    kind.has_list = true;
                    outputs.is_sure &= access != Access::ReadWrite;
                }
                Arg::NoTensor | Arg::NoTensors => (inputs.is_sure, outputs.is_sure) = (false, false),
                _ => {}
            }
        }
        indices
    }
}

/// Operands that are read, or that are written, so far.
struct Kind {
    count: usize,
    has_list: bool,
    is_sure: bool,
}

impl Default for Kind {
    fn default() -> Self {
        Self { count: 0, has_list: false, is_sure: true }
    }
}

impl<'a> Memory<'a> {
    /// Adds that of the operands of a call. Everything that the first phase is told, except the addresses, is noted in
    /// `words`.
    // Into what is there, since it is some hundreds of bytes.
    #[inline]
    pub(super) fn gather(
        &mut self,
        call: &Call<'a>,
        stream: &Stream,
        mut words: Option<&mut Vec<u64>>,
    ) -> Result<()> {
        let mut left_out = false;
        for arg in call.args {
            if let Some(words) = &mut words {
                arg.note(words);
            }
            match *arg {
                Arg::Tensor(operand, access) => {
                    self.is_plain &= !left_out;
                    self.add(stream, (operand, access), words.as_deref_mut())?;
                }
                Arg::Tensors(list, access) => {
                    self.is_plain = false;
                    for index in 0..list.count() {
                        self.add(stream, (list.at(index), access), words.as_deref_mut())?;
                    }
                }
                Arg::NoTensor | Arg::NoTensors => left_out = true,
                _ => {}
            }
        }
        Ok(())
    }

    #[inline]
    fn add(
        &mut self,
        stream: &Stream,
        (operand, access): (&'a dyn Operand, Access),
        words: Option<&mut Vec<u64>>,
    ) -> Result<()> {
        let (allocation, start) = operand::noted(operand, words)?;
        stream.check_device(allocation.context())?;
        let how = if access.writes() { How::Written } else { How::Read };
        self.uses.push(Touch::new(allocation, how));
        self.starts.push(start);
        Ok(())
    }
}

/// Both phases, for this call alone.
pub(super) fn once(stream: &Stream, call: &Call<'_>, uses: &[Touch<'_>]) -> Result<()> {
    let context = &**stream.0.context();
    let objects = Objects::make(context, call.args)?;
    let (executor, bytes) = call.function.plan(context, &objects)?;
    let workspace = workspace(stream, bytes)?;
    let scratch = Some(Workspace(workspace.as_ref()));
    let address = workspace.as_ref().map_or(std::ptr::null_mut(), Scratch::address);
    let (label, location) = (call.label, call.location);
    stream.0.submit(&Task { label, location, uses, scratch }, |raw| {
        // A second phase that fails may or may not have consumed the executor; leaking it then is better than
        // destroying it twice.
        let executor = executor.into_raw();
        // SAFETY: the executor comes from this operator's first phase on this thread and is used once; the workspace
        // has the bytes that it asked for; the memory of the tensors is registered with the stream.
        unsafe { call.function.launch(context, (address, bytes), executor, raw) }
    })?;
    Ok(())
}

/// Scratch memory for an operator that asks for some.
pub(super) fn workspace(stream: &Stream, bytes: u64) -> Result<Option<Scratch>> {
    match bytes {
        0 => Ok(None),
        _ => stream.0.workspace(usize::try_from(bytes).unwrap_or(usize::MAX)).map(Some),
    }
}

/// A [`Function`] of the two C functions named.
macro_rules! function {
    ($launch:ident, $plan:ident) => {
        $crate::op::executor::Function::new(
            stringify!($launch),
            stringify!($plan),
            $crate::op::first::call_of(acl_sys::Table::$plan),
            acl_sys::Table::$launch,
        )
    };
}
pub(crate) use function;
