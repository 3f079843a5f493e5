//! Tensors, and operators by their name.

use std::ffi::{c_char, c_void};

use racl::DeviceRead as _;
use racl::op::{AnyTensor, Argument, ElementType, Format, MAX_RANK, Operand, Scalar};

use crate::arguments::{Sized_, bytes, bytes_mut, list, null, sized, text};
use crate::cancel::Uncancelled;
use crate::failure::{Failure, Result, guard};
use crate::handles::{Use, free, get};
use crate::objects::{racl_buffer, racl_stream, racl_tensor};
use crate::record::RACL_ARG_DIM;
use crate::recording::check_held;
use crate::results::{answer, answer_list, make};
use crate::stream::give;

/// The shape of a tensor and how it lies in its buffer.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_tensor_layout {
    /// sizeof(racl_tensor_layout).
    pub size: usize,
    /// Number of an aclDataType, such as RACL_TYPE_FLOAT.
    pub dtype: i32,
    /// How many dimensions.
    pub rank: u32,
    /// The size of each, `rank` numbers; NULL for rank 0.
    pub shape: *const usize,
    /// How many elements lie between two neighbours of each dimension; NULL for a dense tensor.
    pub strides: *const usize,
    /// The element of the buffer that is the first of the tensor.
    pub offset: usize,
    /// Number of an aclFormat. What is not RACL_FORMAT_ND needs the shape that the elements have in it.
    pub format: i32,
    /// How many dimensions this shape has.
    pub storage_rank: u32,
    /// This shape; NULL for ND.
    pub storage: *const usize,
}

// SAFETY: integers and pointers alone, the first of them a size.
unsafe impl Sized_ for racl_tensor_layout {
    const WHAT: &'static str = "racl_tensor_layout";
    const ZERO: Self = Self {
        size: 0,
        dtype: 0,
        rank: 0,
        shape: std::ptr::null(),
        strides: std::ptr::null(),
        offset: 0,
        format: 0,
        storage_rank: 0,
        storage: std::ptr::null(),
    };
}

fn element_type(number: i32) -> Result<ElementType> {
    let unknown = || Failure::invalid(format!("{number} is no aclDataType that racl knows"));
    ElementType::of_number(number).ok_or_else(unknown)
}

/// A tensor over a buffer, whose memory it keeps. The buffer has to have all of its elements: RACL_INVALID_ARGUMENT else,
/// for a type that racl does not know, and for a format below 0. Which others there are the AscendCL library knows, and says
/// when it is given the tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_tensor_new(
    buffer: *const racl_buffer,
    layout: *const racl_tensor_layout,
    tensor: *mut *mut racl_tensor,
) -> i32 {
    let work = || {
        let buffer = get(buffer)?;
        // SAFETY: by the header.
        let layout = unsafe { sized(layout) }?.ok_or_else(|| null("a racl_tensor_layout"))?;
        let sizes = |sizes, rank, what| {
            if rank as usize > MAX_RANK {
                return Err(Failure::invalid(format!("{rank} dimensions, of at most {MAX_RANK}")));
            }
            // SAFETY: by the header.
            unsafe { list(sizes, rank as usize, what) }
        };
        let shape = sizes(layout.shape, layout.rank, "a shape")?;
        let strides =
            if layout.strides.is_null() { None } else { Some(sizes(layout.strides, layout.rank, "strides")?) };
        let kind = element_type(layout.dtype)?;
        let mut made = AnyTensor::over_strided((*buffer).clone(), kind, shape, strides, layout.offset)?;
        if layout.format < 0 {
            return Err(Failure::invalid(format!("{} for an aclFormat", layout.format)));
        }
        let format = Format::new(layout.format);
        if format != Format::ND {
            if layout.storage_rank == 0 {
                let text = format!(
                    "a tensor of format {}, not RACL_FORMAT_ND, without the shape of its storage",
                    layout.format
                );
                return Err(Failure::invalid(text));
            }
            made = made.with_format(format, sizes(layout.storage, layout.storage_rank, "the shape of a storage")?)?;
        }
        Ok(made)
    };
    // SAFETY: by the header.
    unsafe { make(tensor, work) }
}

/// Its aclDataType, RACL_TYPE_...
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_tensor_dtype(tensor: *const racl_tensor, dtype: *mut i32) -> i32 {
    let work = || Ok(get(tensor)?.element_type().number());
    // SAFETY: by the header.
    unsafe { answer(dtype, "a type", work) }
}

/// Its dimensions: `rank` gets how many there are, and `shape`, which has room for `room` numbers and may be NULL when
/// that is 0, gets as many of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_tensor_shape(
    tensor: *const racl_tensor,
    shape: *mut usize,
    room: usize,
    rank: *mut usize,
) -> i32 {
    let work = |places: &mut [usize]| {
        let tensor = get(tensor)?;
        places.iter_mut().zip(tensor.shape().iter()).for_each(|(place, size)| *place = *size);
        Ok(tensor.shape().len())
    };
    // SAFETY: by the header.
    unsafe { answer_list((shape, room), rank, ("a place for a shape", "a rank"), work) }
}

/// Its strides, in elements, as racl_tensor_shape() gives the shape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_tensor_strides(
    tensor: *const racl_tensor,
    strides: *mut usize,
    room: usize,
    rank: *mut usize,
) -> i32 {
    let work = |places: &mut [usize]| {
        let tensor = get(tensor)?;
        places.iter_mut().zip(tensor.strides()).for_each(|(place, stride)| *place = *stride);
        Ok(tensor.strides().len())
    };
    // SAFETY: by the header.
    unsafe { answer_list((strides, room), rank, ("a place for strides", "a rank"), work) }
}

/// The memory of a dense tensor, from its first element on, as a buffer that keeps it: for copies in the order of a stream
/// (racl_stream_upload() and its like) and for other code. RACL_INVALID_ARGUMENT for one with gaps, one whose format is not
/// ND, and elements that do not fill bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_tensor_buffer(tensor: *const racl_tensor, buffer: *mut *mut racl_buffer) -> i32 {
    let work = || Ok(get(tensor)?.bytes()?);
    // SAFETY: by the header.
    unsafe { make(buffer, work) }
}

/// Copies `size` bytes from the host to a dense tensor, which has as many. Waits as racl_buffer_write() does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_tensor_write(tensor: *const racl_tensor, data: *const c_void, size: usize) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| {
        let mut memory = get(tensor)?.bytes()?;
        // SAFETY: by the header.
        Ok(memory.write(unsafe { bytes(data, size, "data to write") }?)?)
    })
}

/// Copies a dense tensor to the host; `size` is its bytes. Waits as racl_buffer_read() does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_tensor_read(tensor: *const racl_tensor, data: *mut c_void, size: usize) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| {
        let memory = get(tensor)?.bytes()?;
        // SAFETY: by the header.
        Ok(memory.as_slice().read(unsafe { bytes_mut(data, size, "a place for data") }?)?)
    })
}

/// Gives the handle back.
#[unsafe(no_mangle)]
pub extern "C" fn racl_tensor_free(tensor: *mut racl_tensor) -> i32 {
    guard(|| free(tensor))
}

/// A tensor, a scalar, a list or a text that may be left out, and is.
pub const RACL_ARG_NONE: i32 = 0;
/// `data` is a racl_tensor.
pub const RACL_ARG_TENSOR: i32 = 1;
/// `data` is a list of `count` racl_tensor *.
pub const RACL_ARG_TENSORS: i32 = 2;
/// `data` is a list of `count` int64_t.
pub const RACL_ARG_INTS: i32 = 3;
/// `data` is a list of `count` float.
pub const RACL_ARG_FLOATS: i32 = 4;
/// `data` is a list of `count` bytes, 0 or 1.
pub const RACL_ARG_BOOLS: i32 = 5;
/// `data` is a text with a zero at its end.
pub const RACL_ARG_TEXT: i32 = 6;
/// `integer`; also for a float, or a scalar, which is an int64_t then.
pub const RACL_ARG_INT: i32 = 7;
/// `real`; also for a scalar, which is a double then.
pub const RACL_ARG_FLOAT: i32 = 8;
/// `integer`, 0 or 1; also for a scalar.
pub const RACL_ARG_BOOL: i32 = 9;
/// `integer` is an aclDataType.
pub const RACL_ARG_TYPE: i32 = 10;
/// A scalar that is a float: `real`.
pub const RACL_ARG_SCALAR_FLOAT: i32 = 11;
/// A scalar that is an int32_t: `integer`.
pub const RACL_ARG_SCALAR_INT32: i32 = 12;

/// `data` is a list of `count` racl_arg, each of them a number: RACL_ARG_INT, RACL_ARG_FLOAT, RACL_ARG_BOOL or
/// RACL_ARG_SCALAR_...
pub const RACL_ARG_SCALARS: i32 = 13;

/// One argument of an operator. The fields that its kind does not name are not looked at.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_arg {
    /// RACL_ARG_...
    pub kind: i32,
    /// 0, so that later versions may say more with it; another number is refused.
    pub reserved: u32,
    /// How many elements a list has.
    pub count: usize,
    /// An object, or a list.
    pub data: *const c_void,
    /// An integer.
    pub integer: i64,
    /// A float.
    pub real: f64,
}

/// Gives an operator of AscendCL to the stream by its C name, such as "aclnnAdd". The arguments are those of the
/// function aclnn...GetWorkspaceSize, in its order, without its last two; results are tensors too. Returns when the
/// operator is queued; in a capture it becomes part of the graph. RACL_INVALID_ARGUMENT for an unknown name, another number
/// of arguments or another kind of one; RACL_MISSING_SYMBOL where the library lacks the operator; what the library refuses
/// has the status of its reason.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_operator(
    stream: *const racl_stream,
    name: *const c_char,
    args: *const racl_arg,
    count: usize,
) -> i32 {
    guard(|| {
        give(stream, "racl_operator", |stream| {
            // SAFETY: by the header.
            let name = unsafe { text(name, "the name of an operator") }?;
            // SAFETY: by the header.
            let args = unsafe { arguments(args, count) }?;
            let mut held = Vec::with_capacity(args.len());
            for arg in args {
                // SAFETY: by the header.
                held.push(unsafe { Held::of(arg) }?);
            }
            let lists: Vec<Vec<&dyn Operand>> = held.iter().map(Held::operands).collect();
            let arguments: Vec<Argument<'_>> =
                held.iter().zip(&lists).map(|(held, list)| held.argument(list)).collect();
            // It waits for the indices then.
            let _uncancelled = stream.context().index_checks().then(Uncancelled::new);
            Ok(racl::op::call(stream, name, &arguments)?)
        })
    })
}

/// More than any operator takes.
const TOO_MANY: usize = 256;

/// The arguments of an operator. A count that is none, such as -1, is refused before as many are looked at or made room
/// for.
///
/// # Safety
///
/// As [`list`].
pub(crate) unsafe fn arguments<'a>(args: *const racl_arg, count: usize) -> Result<&'a [racl_arg]> {
    if count >= TOO_MANY {
        return Err(Failure::invalid(format!("{count} arguments, more than any operator takes")));
    }
    // SAFETY: as here.
    unsafe { list(args, count, "arguments") }
}

/// Refuses an argument of a later version, which says what this one does not know.
pub(crate) fn check_version(arg: &racl_arg) -> Result<()> {
    match arg.reserved {
        0 => Ok(()),
        other => Err(Failure::invalid(format!("{other} for the reserved field of an argument"))),
    }
}

/// An argument with what it keeps meanwhile.
pub(crate) enum Held<'a> {
    Tensors(Vec<Use<racl_tensor>>, bool),
    Bools(Vec<bool>),
    Scalars(Vec<Scalar>),
    Plain(Argument<'a>),
}

impl<'a> Held<'a> {
    /// # Safety
    ///
    /// What the kind names is there, and nobody changes it meanwhile.
    pub(crate) unsafe fn of(arg: &racl_arg) -> Result<Self> {
        check_version(arg)?;
        let (data, count) = (arg.data, arg.count);
        Ok(match arg.kind {
            RACL_ARG_NONE => Self::Plain(Argument::None),
            RACL_ARG_TENSOR => Self::Tensors(vec![get(data.cast::<racl_tensor>())?], false),
            RACL_ARG_TENSORS => {
                // SAFETY: as here.
                let tensors = unsafe { list(data.cast::<*const racl_tensor>(), count, "a list of tensors") }?;
                Self::Tensors(tensors.iter().map(|tensor| get(*tensor)).collect::<Result<_>>()?, true)
            }
            // SAFETY: as here.
            RACL_ARG_INTS => Self::Plain(Argument::Ints(unsafe { list(data.cast(), count, "a list of integers") }?)),
            RACL_ARG_FLOATS => {
                // SAFETY: as here.
                Self::Plain(Argument::Floats(unsafe { list(data.cast(), count, "a list of floats") }?))
            }
            RACL_ARG_BOOLS => {
                // SAFETY: as here.
                let bytes: &[u8] = unsafe { list(data.cast(), count, "a list of truth values") }?;
                let truth = |byte: &u8| truth(i64::from(*byte));
                Self::Bools(bytes.iter().map(truth).collect::<Result<_>>()?)
            }
            // SAFETY: as here.
            RACL_ARG_TEXT => Self::Plain(Argument::Text(unsafe { text(data.cast(), "a text") }?)),
            RACL_ARG_INT => Self::Plain(Argument::Int(arg.integer)),
            RACL_ARG_FLOAT => Self::Plain(Argument::Float(arg.real)),
            RACL_ARG_BOOL => Self::Plain(Argument::Bool(truth(arg.integer)?)),
            RACL_ARG_TYPE => {
                let odd = |_| Failure::invalid(format!("{} for an aclDataType", arg.integer));
                Self::Plain(Argument::Type(element_type(i32::try_from(arg.integer).map_err(odd)?)?))
            }
            RACL_ARG_SCALAR_FLOAT | RACL_ARG_SCALAR_INT32 => Self::Plain(Argument::Scalar(scalar(arg)?)),
            RACL_ARG_SCALARS => {
                // SAFETY: as here.
                let numbers: &[racl_arg] = unsafe { list(data.cast(), count, "a list of scalars") }?;
                Self::Scalars(numbers.iter().map(scalar).collect::<Result<_>>()?)
            }
            other => {
                if other == RACL_ARG_DIM {
                    check_held(arg.integer)?;
                }
                return Err(Failure::invalid(format!("{other} for the kind of an argument")));
            }
        })
    }

    pub(crate) fn operands(&self) -> Vec<&dyn Operand> {
        match self {
            Self::Tensors(tensors, _) => tensors.iter().map(|tensor| &**tensor as &dyn Operand).collect(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn argument<'s>(&'s self, operands: &'s [&'s dyn Operand]) -> Argument<'s>
    where
        'a: 's,
    {
        match (self, operands) {
            (Self::Tensors(_, false), [operand]) => Argument::Tensor(*operand),
            (Self::Tensors(..), _) => Argument::Tensors(operands),
            (Self::Bools(truths), _) => Argument::Bools(truths),
            (Self::Scalars(numbers), _) => Argument::Scalars(numbers),
            (Self::Plain(argument), _) => *argument,
        }
    }
}

fn scalar(arg: &racl_arg) -> Result<Scalar> {
    check_version(arg)?;
    Ok(match arg.kind {
        RACL_ARG_SCALAR_FLOAT => Scalar::from(arg.real as f32),
        RACL_ARG_SCALAR_INT32 => {
            let odd = |_| Failure::invalid(format!("{} for a scalar of 32 bits", arg.integer));
            Scalar::from(i32::try_from(arg.integer).map_err(odd)?)
        }
        RACL_ARG_INT => Scalar::from(arg.integer),
        RACL_ARG_FLOAT => Scalar::from(arg.real),
        RACL_ARG_BOOL => Scalar::from(truth(arg.integer)?),
        other => return Err(Failure::invalid(format!("an argument of kind {other} in a list of scalars"))),
    })
}

fn truth(number: i64) -> Result<bool> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Failure::invalid(format!("{other} for a truth value"))),
    }
}
