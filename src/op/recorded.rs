//! Calls of operators that are kept and issued later: what a plan is made of.

use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::Location;

use acl_sys::aclFormat;

use super::argument::Arg;
use super::element::DataType;
use super::executor::{Call, Function, Target};
use super::few::Few;
use super::operand::{Access, Awaited, Destination, Operand, Place, Record, Sizes, Tells, Token, Views};
use super::shape::Shape;
use super::tellings::{Kept, Tellings};
use super::told::{self, Amount, Takes, Told};
use super::view::{Form, View};
use crate::error::{Error, ErrorKind, Result};

/// An operator with all that it is told, without its tensors.
#[derive(Clone)]
pub(crate) struct Recorded {
    function: &'static Function,
    told: Kept,
}

impl std::fmt::Debug for Recorded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct(self.function.name()).field("told", &self.told().iter().collect::<Vec<_>>()).finish()
    }
}

/// As files tell it: the same operator, told the same, and one number that is none is another.
impl PartialEq for Recorded {
    fn eq(&self, other: &Self) -> bool {
        self.function.id() == other.function.id() && self.bytes() == other.bytes()
    }
}

impl Eq for Recorded {}

impl std::hash::Hash for Recorded {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.function.id().hash(state);
        self.bytes().hash(state);
    }
}

impl Recorded {
    pub(crate) fn of(call: &Call<'_>) -> Result<Self> {
        let mut told = Vec::with_capacity(call.args.len());
        for arg in call.args {
            let odd = || Error::invalid(format!("{}: it cannot be recorded", call.label));
            told.push(Told::of(arg).ok_or_else(odd)?);
        }
        Ok(Self { function: call.function, told: Kept::of(told, call.function.takes()) })
    }

    /// The operator that a stored plan names, with what it was told.
    #[cfg(feature = "cache")]
    pub(crate) fn from_stored(name: &str, bytes: &[u8]) -> Result<Self, String> {
        let (_, function) = super::aclnn::find(name)
            .ok_or_else(|| format!("operator {name:?}, which this version of the crate does not have"))?;
        let told = told::read(bytes, function.takes()).map_err(|text| format!("operator {name:?}: {text}"))?;
        Ok(Self { function, told: Kept::of(told, function.takes()) })
    }

    /// The operator of this name with what it is told.
    #[cfg(all(test, feature = "cache"))]
    pub(crate) fn from_told(name: &str, told: Vec<Told>) -> Result<Self, String> {
        Self::from_stored(name, &told::write(told.iter()))
    }

    /// Whether there is an operator of this name in C.
    #[cfg(feature = "cache")]
    pub(crate) fn is_known(name: &str) -> bool {
        super::aclnn::find(name).is_some()
    }

    /// What the parameters of an operator of C are called.
    #[cfg(all(test, feature = "cache"))]
    pub(crate) fn parameters_of(name: &str) -> Option<impl Iterator<Item = &'static str> + use<>> {
        super::aclnn::find(name).map(|(_, function)| function.parameters())
    }

    /// The operator with other numbers for parameters that are not known before: the name of each, and its amounts.
    pub(crate) fn with<'n>(
        &self,
        numbers: impl IntoIterator<Item = (&'n str, &'n [Amount])>,
    ) -> Result<Self, String> {
        let mut new = self.clone();
        for (name, amounts) in numbers {
            let retold = self.function.parameter(name).and_then(|(index, takes)| {
                let told = new.told.get_mut(index, self.function.takes())?;
                *told = told.retold(takes, amounts)?;
                Some(())
            });
            retold.ok_or_else(|| format!("{}: {name} cannot be {}", self.function.label(), shown(amounts)))?;
        }
        Ok(new)
    }

    /// The index of a parameter.
    pub(crate) fn index(&self, parameter: &str) -> Option<usize> {
        self.function.parameter(parameter).map(|(index, _)| index)
    }

    /// What a parameter takes.
    #[cfg(feature = "cache")]
    pub(crate) fn takes(&self, parameter: &str) -> Option<Takes> {
        self.function.parameter(parameter).map(|(_, takes)| takes)
    }

    /// As [`Call::note`] of a call that is this one.
    pub(crate) fn note(&self, words: &mut Vec<u64>) {
        words.push(self.function.id());
        self.told().iter().for_each(|told| told.note(words));
    }

    /// What it is told, as bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        told::write(self.told().iter())
    }

    /// All that it is told, in the order of its parameters.
    pub(crate) fn told(&self) -> Tellings<'_> {
        self.told.all(self.function.takes())
    }

    /// What its parameters are called.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.function.parameters()
    }

    /// What its parameters take, each of them.
    pub(crate) fn kinds(&self) -> &'static [Takes] {
        self.function.takes()
    }

    /// Its name in C.
    pub(crate) fn name(&self) -> &'static str {
        self.function.name()
    }

    /// What is done with each tensor, in order.
    #[cfg(feature = "cache")]
    pub(crate) fn accesses(&self) -> impl Iterator<Item = Access> + '_ {
        let of = |told: &Told| told.tensors().map(|(count, access)| std::iter::repeat_n(access, count as usize));
        self.told().iter().filter_map(of).flatten()
    }

    /// Gives the operator on the memory of `views`, in its order, to `target`.
    pub(crate) fn launch(
        &self,
        target: impl Target,
        views: &[View<'_>],
        location: &'static Location<'static>,
    ) -> Result<()> {
        let mut own = Vec::new();
        let form = blocked(self.function.name(), views);
        let views = match &form {
            Some((at, dims, form)) => {
                own.extend_from_slice(views);
                let (strides, start) = (dims.dense_strides(), blocks_start(&views[*at]));
                own[*at] = View { dims: *dims, strides, start, offset: 0, form: Some(form), ..views[*at] };
                &own[..]
            }
            None => views,
        };
        let lists = self.lists(views)?;
        let (mut lists, mut views) = (lists.iter(), views);
        let mut args = Vec::with_capacity(self.told().len());
        for told in self.told().iter() {
            args.push(match told {
                Told::Tensor(access) => match views.split_first() {
                    Some((first, rest)) => {
                        views = rest;
                        Arg::Tensor(first, *access)
                    }
                    None => return Err(self.odd()),
                },
                Told::Tensors(count, access) => match (lists.next(), views.split_at_checked(*count as usize)) {
                    (Some(list), Some((_, rest))) => {
                        views = rest;
                        Arg::Tensors(list, *access)
                    }
                    _ => return Err(self.odd()),
                },
                other => other.argument().ok_or_else(|| self.odd())?,
            });
        }
        target.take(&Call { function: self.function, label: self.function.label(), location, args: &args })
    }

    /// Which tensor, if any, is a weight in blocks, of which the library is told where they begin and not where its storage
    /// does; by the ranks of the tensors.
    pub(crate) fn weight_in_blocks(&self, rank: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        let (_, x, at) = BLOCKED.into_iter().find(|(known, ..)| *known == self.function.name())?;
        (rank(at)? == rank(x)? + 2).then_some(at)
    }

    /// The views of each list among the arguments.
    fn lists<'a>(&self, views: &'a [View<'a>]) -> Result<Vec<Views<'a>>> {
        let (mut lists, mut start) = (Vec::new(), 0_usize);
        for told in self.told().iter() {
            let Some((count, _)) = told.tensors() else { continue };
            let end = start + count as usize;
            if matches!(told, Told::Tensors(..)) {
                lists.push(Views(views.get(start..end).ok_or_else(|| self.odd())?));
            }
            start = end;
        }
        if start == views.len() { Ok(lists) } else { Err(self.odd()) }
    }

    /// Gives the operator on `operands`, in its order, to a builder or a stream.
    #[cfg(all(test, feature = "cache"))]
    pub(crate) fn submit(&self, on: &dyn super::operand::Submit, operands: &[&dyn Operand]) -> Result<()> {
        let (mut lists, mut left) = (Vec::new(), operands);
        for told in self.told().iter() {
            let (list, rest) = left.split_at(told.tensors().map_or(0, |(count, _)| count as usize));
            lists.push(list);
            left = rest;
        }
        let args: Vec<Arg<'_>> = self
            .told()
            .iter()
            .zip(&lists)
            .map(|(told, list)| match told {
                Told::Tensor(access) => Arg::Tensor(list[0], *access),
                Told::Tensors(_, access) => Arg::Tensors(list, *access),
                other => other.argument().unwrap(),
            })
            .collect();
        super::aclnn::submit(on, (self.function, self.function.label()), Location::caller(), &args)
    }

    fn odd(&self) -> Error {
        Error::new(
            ErrorKind::Internal,
            format!("{} with other tensors than it was recorded with", self.function.label()),
        )
    }
}

/// Products that take their weight in FRACTAL_NZ, with the places of what is multiplied and of the weight among their
/// tensors.
const BLOCKED: [(&str, usize, usize); 4] = [
    ("aclnnMatmulWeightNz", 0, 1),
    ("aclnnBatchMatMulWeightNz", 0, 1),
    ("aclnnAddmmWeightNz", 1, 2),
    ("aclnnQuantMatmulWeightNz", 0, 1),
];

/// Rows of a block in FRACTAL_NZ, and the columns of one, which have 32 bytes.
pub(crate) const BLOCK_ROWS: usize = 16;

pub(crate) fn block_columns(dtype: DataType) -> usize {
    (32 / dtype.size()).max(1)
}

/// The weight of such a product that is given as its storage, `[…, n / n0, k / 16, 16, n0]`: which tensor it is, its
/// shape as a matrix, and what the library is told of its storage.
fn blocked(name: &str, views: &[View<'_>]) -> Option<(usize, Shape, Form)> {
    let (_, x, at) = BLOCKED.into_iter().find(|(known, ..)| *known == name)?;
    let (x, weight) = (views.get(x)?, views.get(at)?);
    let [lead @ .., n, k, rows, columns] = &weight.dims[..] else { return None };
    let storage = weight.dims.rank() == x.dims.rank() + 2
        && (*rows, *columns) == (BLOCK_ROWS, block_columns(weight.dtype))
        && weight.strides == weight.dims.dense_strides()
        && weight.form.is_none();
    let dims = Shape::new(&[lead, &[k * rows, n * columns]].concat()).ok().filter(|_| storage)?;
    let form = Form { kind: weight.dtype.into(), format: aclFormat::ACL_FORMAT_FRACTAL_NZ, storage: weight.dims };
    Some((at, dims, form))
}

/// Where blocks begin, which the library counts from the start of a storage: that of one part of several in one tensor
/// is its own.
fn blocks_start(weight: &View<'_>) -> *mut c_void {
    weight.start.wrapping_byte_add(weight.offset * weight.dtype.size())
}

fn shown(amounts: &[Amount]) -> String {
    let one = |amount: &Amount| match amount {
        Amount::Whole(number) => number.to_string(),
        Amount::Real(number) => format!("{number:?}"),
    };
    match amounts {
        [amount] => one(amount),
        _ => format!("[{}]", amounts.iter().map(one).collect::<Vec<_>>().join(", ")),
    }
}

/// What stands for an operand where operators are recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stands<'a> {
    Value(Token),
    /// A result that is still to be made.
    Awaited(&'a Awaited),
    /// Nothing: memory.
    Memory,
}

impl<'a> Stands<'a> {
    fn of(operand: &'a dyn Operand) -> Self {
        match (operand.token(), operand.awaited()) {
            (Some(token), _) => Self::Value(token),
            (None, Some(awaited)) => Self::Awaited(awaited),
            (None, None) => Self::Memory,
        }
    }
}

/// The operands of a call in order, with what is done to each.
pub(crate) fn stands<'a>(call: &Call<'a>) -> Few<(Stands<'a>, Access)> {
    let mut all = Few::new();
    for arg in call.args {
        match *arg {
            Arg::Tensor(operand, access) => all.push((Stands::of(operand), access)),
            Arg::Tensors(list, access) => {
                (0..list.count()).for_each(|index| all.push((Stands::of(list.at(index)), access)));
            }
            _ => {}
        }
    }
    all
}

/// What stands for the tensors of an operator, in order.
pub(crate) type Tensors = Vec<(Token, Access)>;

/// Stands where a stream does, and keeps the operator that it is given.
#[derive(Default)]
pub(crate) struct Recorder(RefCell<Option<(Recorded, Tensors)>>);

/// What the call of a function of [`aclnn`](super::aclnn) on values is.
pub(crate) fn recorded(call: impl FnOnce(&Recorder) -> Result<()>) -> Result<(Recorded, Tensors)> {
    let recorder = Recorder::default();
    call(&recorder)?;
    recorder.0.into_inner().ok_or_else(|| Error::new(ErrorKind::Internal, "no operator was recorded"))
}

impl Destination for Recorder {
    fn place(&self) -> Place<'_> {
        Place::Recorder(self)
    }
}

impl Record for Recorder {
    #[allow(private_interfaces)]
    fn record(&self, call: &Call<'_>) -> Result<()> {
        let token = |(stands, access): &(Stands<'_>, Access)| match stands {
            Stands::Value(token) => Ok((*token, *access)),
            _ => Err(Error::new(ErrorKind::Internal, format!("{}: an operand that is no value", call.label))),
        };
        let tensors = stands(call).as_slice().iter().map(token).collect::<Result<_>>()?;
        *self.0.borrow_mut() = Some((Recorded::of(call)?, tensors));
        Ok(())
    }

    fn dtype(&self, _: Token, at: &'static Location<'static>) -> Result<DataType> {
        Err(self.refuse("the type of a value that is not known".into(), at))
    }

    fn tells<'a>(&'a self, _: Token, _: &[(&str, Sizes)], at: &'static Location<'static>) -> Result<Tells<'a>> {
        Err(self.refuse("the sizes of a value that are not known".into(), at))
    }

    fn size(&self, _: Token, _: usize, at: &'static Location<'static>) -> Result<i64> {
        Err(self.refuse("the sizes of a value that are not known".into(), at))
    }

    fn refuse(&self, text: String, at: &'static Location<'static>) -> Error {
        Error::new(ErrorKind::Internal, format!("{text} ({at})"))
    }
}
