//! Indices that the host looks at before an operator is queued that uses them.

use acl_sys::aclFormat;

use super::argument::Arg;
use super::element::DataType;
use super::executor::Call;
use super::operand;
use super::shape::MAX_RANK;
use super::tensor::advance;
use super::view::View;
use crate::by_plan::ByPlan;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::memory::{DeviceRead as _, SharedBuffer};
use crate::stream::Stream;

mod rules;

use rules::{Rule, Within};

impl Context {
    /// Makes the host look at indices before it gives an operator that uses them to a stream of this context, or not, as a
    /// context begins. Where the environment variable `RACL_CHECK_INDICES` is 1, contexts begin with it. It is for tests,
    /// and while a program is written. Any thread may set it.
    ///
    /// An index out of range is an error of the operator then, which is not queued:
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) with the place and the number. To look at them the
    /// call waits for all work that uses their memory, on whatever stream, and copies them: it may be told that such work
    /// failed, and waits for ever where that waits for the calling thread, as at a gate or for a value.
    ///
    /// These operators are looked at, by whatever function they are called: those that gather, scatter, index, embed,
    /// take and put, and the losses that take a class for each row. Not looked at are others; indices that are not
    /// `i32` or `i64`, and in a list those behind them, where a mask may stand for several dimensions; operators of a
    /// capture, of other code too, and of an update of a graph; what a run of a plan gives to streams
    /// ([`Plan::simulate`](crate::plan::Plan::simulate) finds those); and anything beside a capture of the indices'
    /// context that forbids a wait, or where the library does not tell whether other code captures with the stream.
    /// Captures of other code on other streams are not known, and a wait may spoil them.
    ///
    /// Negative indices are in range for operators that count them from the end: gathers, lists of indices, takes and
    /// puts, fills, and `aclnnGatherNd` where it is told so.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::{ErrorKind, op};
    ///
    /// let context = racl::Acl::mock()?.device(0)?.context().create_context()?;
    /// context.set_index_checks(true);
    /// let stream = context.stream()?;
    /// let table = context.upload_tensor(&[1.0_f32; 6], [3, 2])?;
    /// let rows = context.upload_tensor(&[0_i64, 3], [2])?;
    /// let mut out = context.zeros([2, 2])?;
    /// let error = op::embedding(&stream, &table, &rows, &mut out).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    /// assert!(error.to_string().contains("indices is 3 at [1], and is to be from 0 to 2"), "{error}");
    /// stream.synchronize()?; // nothing was queued
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn set_index_checks(&self, on: bool) {
        self.inner().operators.set_index_checks(on);
    }

    /// See [`Context::set_index_checks`].
    #[must_use]
    pub fn index_checks(&self) -> bool {
        self.inner().operators.index_checks()
    }
}

/// What the indices of one dimension have to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    size: i64,
    wraps: bool,
    skipped: Option<i64>,
}

impl Range {
    fn has(self, index: i64) -> bool {
        (self.least()..self.size).contains(&index) || self.skipped == Some(index)
    }

    fn least(self) -> i64 {
        if self.wraps { -self.size } else { 0 }
    }
}

/// That all indices of a call are in range, before anything of it is queued.
#[cold]
#[inline(never)]
pub(super) fn check(stream: &Stream, call: &Call<'_>) -> Result<()> {
    let Some(rule) = rules::of(call.function.name()) else { return Ok(()) };
    // A plan orders its own work; a capture, of other code too, and an update of a graph run nothing now.
    let runs_later =
        || stream.is_capturing() || stream.0.only_keeps() || stream.is_captured_by_others().unwrap_or(true);
    if ByPlan::is_here() || runs_later() {
        return Ok(());
    }
    check_by(rule, call).map_err(|error| error.context_in_front(call.function.name()))
}

fn check_by(rule: &Rule, call: &Call<'_>) -> Result<()> {
    let Some(Arg::Tensor(data, _)) = call.args.first() else { return Ok(()) };
    let data = operand::memory(*data)?;
    let Some((index, _)) = call.function.parameter(rule.index) else { return Ok(()) };
    match call.args.get(index) {
        Some(Arg::Tensor(indices, _)) => {
            let Some(range) = rule.range(call, &data) else { return Ok(()) };
            let indices = operand::memory(*indices)?;
            // Columns of pairs are in different dimensions.
            if matches!(rule.within, Within::Starts) && indices.dims.rank() > 1 {
                return Ok(());
            }
            let of = |place: &[usize]| match rule.within {
                Within::Leading => Some(Range { size: size_at(&data, *place.last()?)?, ..range }),
                _ => Some(range),
            };
            check_tensor(rule.index, &indices, of)
        }
        Some(Arg::Tensors(list, _)) => {
            let Some(range) = rule.range(call, &data) else { return Ok(()) };
            for member in 0..list.count() {
                let indices = operand::memory(list.at(member))?;
                let Some(size) = size_at(&data, member) else { return Ok(()) };
                // A mask stands for as many dimensions as it has: those behind it are of others.
                if type_of(&indices).is_none() && (indices.dims.elements() > 0 || indices.dims.rank() > 1) {
                    return Ok(());
                }
                let name = format!("{}[{member}]", rule.index);
                check_tensor(&name, &indices, |_| Some(Range { size, ..range }))?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn size_at(data: &View<'_>, dim: usize) -> Option<i64> {
    data.dims.get(dim).map(|size| *size as i64)
}

fn check_tensor(name: &str, indices: &View<'_>, of: impl Fn(&[usize]) -> Option<Range>) -> Result<()> {
    let count = indices.dims.elements();
    let Some(dtype) = type_of(indices).filter(|_| count > 0) else { return Ok(()) };
    if indices.allocation.context().forbids_waits() {
        return Ok(());
    }
    let size = dtype.size();
    let (first, len) = indices.bytes();
    let from = indices.start.addr() - indices.allocation.address().addr() + first;
    let bytes = SharedBuffer::<u8>::within(indices.allocation, from, len).as_slice().to_vec()?;
    let mut place = [0; MAX_RANK];
    for _ in 0..count {
        let at: usize = place.iter().zip(&indices.strides).map(|(i, stride)| i * stride).sum();
        let place_in = &place[..indices.dims.rank()];
        if let Some(range) = of(place_in) {
            check_number(name, (place_in, number(&bytes[at * size..][..size])), range)?;
        }
        advance(&mut place, &indices.dims);
    }
    Ok(())
}

/// The type of indices that the host can read.
fn type_of(indices: &View<'_>) -> Option<DataType> {
    let dtype = match indices.form {
        None => Some(indices.dtype),
        Some(form) => form.kind.data_type().filter(|_| form.format == aclFormat::ACL_FORMAT_ND),
    };
    dtype.filter(|dtype| matches!(dtype, DataType::I32 | DataType::I64))
}

fn check_number(name: &str, (place, number): (&[usize], i64), range: Range) -> Result<()> {
    if range.has(number) {
        return Ok(());
    }
    let to_be = match range.size {
        ..=0 => "there is nothing for it to name".to_owned(),
        size => format!("is to be from {} to {}", range.least(), size - 1),
    };
    Err(Error::invalid(format!("{name} is {number} at {place:?}, and {to_be}")))
}

fn number(bytes: &[u8]) -> i64 {
    match bytes.try_into() {
        Ok(bytes) => i64::from_ne_bytes(bytes),
        Err(_) => bytes.try_into().map_or(0, |bytes| i64::from(i32::from_ne_bytes(bytes))),
    }
}
