//! What operators take: tensors of any type, and lists of them.

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::Arc;

use super::element::Element;
use super::tensor::Tensor;
use super::view::View;
use crate::error::{Error, Result};
use crate::memory::Allocation;
use crate::stream::Stream;

// Public in a private module: traits of this crate alone.
#[allow(unreachable_pub)]
mod sealed {
    use std::ffi::c_void;
    use std::panic::Location;
    use std::sync::Arc;

    use super::{Allocation, Stream, View};
    use crate::error::{Error, Result};
    use crate::op::Footprint;
    use crate::op::element::DataType;
    use crate::op::executor::Call;

    pub trait Described {
        /// The memory; none of a value that is recorded.
        #[allow(private_interfaces)]
        fn view(&self) -> Option<View<'_>>;

        /// The allocation, and where the storage in it starts, of which `words` are told all that the first phase is,
        /// but for the address; as [`Self::view`] has it, which is larger.
        #[allow(private_interfaces)]
        fn noted(&self, words: Option<&mut Vec<u64>>) -> Option<(&Arc<Allocation>, *mut c_void)> {
            let view = self.view()?;
            if let Some(words) = words {
                view.note(words);
            }
            Some((view.allocation, view.start))
        }

        /// What stands for it where operators are recorded; none of memory.
        fn token(&self) -> Option<Token> {
            None
        }

        /// Where what records operators leaves what stands for a result that nobody made before.
        fn awaited(&self) -> Option<&Awaited> {
            None
        }
    }

    /// A result that is made when its operator is recorded.
    #[derive(Debug, Default)]
    pub struct Awaited(pub(in crate::op) std::cell::OnceCell<Token>);

    /// A value of something that records operators: of what, which, and which version of it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Token {
        pub owner: u32,
        pub index: u32,
        pub version: u32,
    }

    /// What records operators in place of a stream.
    #[allow(private_interfaces)]
    pub trait Record {
        fn record(&self, call: &Call<'_>) -> Result<()>;

        /// The type of the elements of a value.
        fn dtype(&self, token: Token, at: &'static Location<'static>) -> Result<DataType>;

        /// What takes an operator that is told sizes of a value as numbers, by the names of its parameters, and those
        /// numbers: where some depend on symbols, something else than this.
        fn tells<'a>(
            &'a self,
            token: Token,
            sizes: &[(&str, Sizes)],
            at: &'static Location<'static>,
        ) -> Result<Tells<'a>>;

        /// The size of one dimension of a value, which must not depend on symbols; 0 where there is no such one.
        fn size(&self, token: Token, dim: usize, at: &'static Location<'static>) -> Result<i64>;

        /// Why an operator at this place cannot be recorded.
        fn refuse(&self, text: String, at: &'static Location<'static>) -> Error;
    }

    /// What takes an operator in place of what it was given to, and lists of numbers.
    pub type Tells<'a> = (Option<Box<dyn Record + 'a>>, Vec<Vec<i64>>);

    /// Sizes of an operand, as numbers that an operator is told.
    #[derive(Debug, Clone, Copy)]
    pub enum Sizes {
        /// All of them, as a list.
        All,
        /// That of a dimension; 0 where there is no such one.
        Of(usize),
        /// The number of elements from a dimension on.
        From(usize),
        /// So many times the number of all elements.
        Times(i64),
    }

    pub trait Destination {
        fn place(&self) -> Place<'_>;
    }

    /// Where an operator goes.
    #[derive(Debug)]
    pub enum Place<'a> {
        Stream(&'a Stream),
        Footprint(&'a std::cell::RefCell<Footprint>),
        Recorder(&'a dyn Record),
    }

    impl std::fmt::Debug for dyn Record + '_ {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Record")
        }
    }
}
pub(crate) use sealed::{Awaited, Described, Destination, Place, Record, Sizes, Tells, Token};

impl Awaited {
    /// What stands for the result, once it is recorded.
    pub(crate) fn token(&self) -> Option<Token> {
        self.0.get().copied()
    }

    /// Once, by what made the result.
    pub(crate) fn fill(&self, token: Token) {
        self.0.set(token).unwrap_or_else(|_| unreachable!("a result is made by one operator"));
    }
}

/// An operand of the functions in [`aclnn`](crate::op::aclnn): a [`Tensor`] of any type, an
/// [`AnyTensor`](crate::op::AnyTensor), or a value of a plan where the plan's builder takes the operator.
pub trait Operand: Described {}

impl<T: Described + ?Sized> Operand for T {}

/// An operand that may be missing.
pub(super) fn optional<O: Operand>(operand: Option<&O>) -> Option<&dyn Operand> {
    operand.map(|operand| operand as &dyn Operand)
}

impl<T: Element> Described for Tensor<T> {
    #[allow(private_interfaces)]
    fn view(&self) -> Option<View<'_>> {
        Some(Self::view(self))
    }

    #[allow(private_interfaces)]
    #[inline]
    fn noted(&self, words: Option<&mut Vec<u64>>) -> Option<(&Arc<Allocation>, *mut c_void)> {
        if let Some(words) = words {
            self.note(words);
        }
        Some((self.allocation(), self.storage()))
    }
}

impl Described for View<'_> {
    #[allow(private_interfaces)]
    fn view(&self) -> Option<View<'_>> {
        Some(*self)
    }
}

/// The memory of an operand that a stream is given.
#[inline]
pub(super) fn memory<'a>(operand: &'a dyn Operand) -> Result<View<'a>> {
    operand.view().ok_or_else(|| no_memory(operand))
}

/// As [`memory`]: the allocation, and where the storage in it starts. All else is noted in `words`.
#[inline]
pub(super) fn noted<'a>(
    operand: &'a dyn Operand,
    words: Option<&mut Vec<u64>>,
) -> Result<(&'a Arc<Allocation>, *mut c_void)> {
    operand.noted(words).ok_or_else(|| no_memory(operand))
}

#[cold]
fn no_memory(operand: &dyn Operand) -> Error {
    Error::invalid(match operand.awaited() {
        Some(awaited) if awaited.token().is_none() => {
            "a result to be inferred where memory is needed: only the builder of a plan makes results, a stream takes \
             tensors"
        }
        _ => "a value of a plan where memory is needed: a stream takes tensors, the plan's builder takes its values",
    })
}

/// A list of operands.
pub(crate) trait List {
    fn count(&self) -> usize;

    fn at(&self, index: usize) -> &dyn Operand;
}

impl<'o> List for &[&'o (dyn Operand + 'o)] {
    fn count(&self) -> usize {
        self.len()
    }

    fn at(&self, index: usize) -> &dyn Operand {
        self[index]
    }
}

/// Views of one operand that is a list.
#[derive(Clone, Copy)]
pub(super) struct Views<'a>(pub(super) &'a [View<'a>]);

impl List for Views<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn at(&self, index: usize) -> &dyn Operand {
        &self.0[index]
    }
}

impl<'o> List for &mut [&'o mut (dyn Operand + 'o)] {
    fn count(&self) -> usize {
        self.len()
    }

    fn at(&self, index: usize) -> &dyn Operand {
        self[index]
    }
}

/// Where the functions in [`aclnn`](crate::op::aclnn) take an operator: a [`Stream`], which queues it, a [`Probe`],
/// which only notes what memory it would use, or the [`Builder`](crate::plan::Builder) of a plan, which records it.
pub trait Submit: Destination {}

impl<T: Destination + ?Sized> Submit for T {}

impl Destination for Stream {
    fn place(&self) -> Place<'_> {
        Place::Stream(self)
    }
}

/// What an operator does with a range of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// An input.
    Read,
    /// An output.
    Write,
    /// Both: an operand that is changed in place.
    ReadWrite,
}

impl Access {
    /// Whether the range is read.
    #[must_use]
    pub fn reads(self) -> bool {
        self != Self::Write
    }

    /// Whether the range is written.
    #[must_use]
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

/// A range of device memory that an operator uses, from the first to the last byte of an operand; gaps of a view
/// count as used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Used {
    /// Device address of the first byte.
    pub address: usize,
    /// Bytes; an operand without elements is left out.
    pub bytes: usize,
    /// What is done with it.
    pub access: Access,
}

/// The memory that operators use, in the order of their parameters: what has to be ordered with other work.
///
/// Scratch memory is not in it: each launch has its own. An output that an operator may leave alone counts as
/// written.
///
/// # Examples
///
/// ```
/// use racl::op::{Probe, aclnn};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let x = device.upload_tensor(&[1.0_f32, 2.0], [2])?;
/// let mut out = device.zeros::<f32>([2])?;
/// let probe = Probe::new();
/// aclnn::exp(&probe, &x, &mut out)?; // nothing is launched
/// let footprint = probe.into_footprint();
/// let used = footprint.used();
/// assert!(used[0].access.reads() && used[1].access.writes());
/// assert_eq!((used[1].address, used[1].bytes), (out.address().addr(), 8));
/// assert!(footprint.conflicts_with(&footprint)); // two of them write the same
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Footprint(Vec<Used>);

impl Footprint {
    /// The ranges.
    #[must_use]
    pub fn used(&self) -> &[Used] {
        &self.0
    }

    /// Whether one of the two writes what the other one uses, so that they must not run at the same time.
    #[must_use]
    pub fn conflicts_with(&self, other: &Self) -> bool {
        let overlap = |a: &Used, b: &Used| a.address < b.address + b.bytes && b.address < a.address + a.bytes;
        let conflict = |a: &Used, b: &Used| (a.access.writes() || b.access.writes()) && overlap(a, b);
        self.0.iter().any(|a| other.0.iter().any(|b| conflict(a, b)))
    }

    pub(super) fn note(&mut self, view: &View<'_>, access: Access) {
        let (first, bytes) = view.bytes();
        if bytes > 0 {
            self.0.push(Used { address: view.start.addr() + first, bytes, access });
        }
    }
}

/// Takes operators in place of a stream and launches none: it collects what memory they would use. See
/// [`Footprint`].
#[derive(Debug, Default)]
pub struct Probe(RefCell<Footprint>);

impl Probe {
    /// One that has seen no operator.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the operators use that it was given.
    #[must_use]
    pub fn into_footprint(self) -> Footprint {
        self.0.into_inner()
    }
}

impl Destination for Probe {
    fn place(&self) -> Place<'_> {
        Place::Footprint(&self.0)
    }
}
