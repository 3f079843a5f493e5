//! Arguments of launches: values of the host, addresses of memory, data that goes along.

use std::ffi::c_void;
use std::sync::Arc;

use acl_sys::aclrtPlaceHolderInfo;
use bytemuck::Pod;

use super::function::Kernel;
use super::parts::Parts;
use crate::allocation::{Allocation, How, Touch};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{
    DeviceBuffer, DeviceRead, DeviceSlice, DeviceSliceMut, GrowableBuffer, ManagedBuffer, MappedBuffer, SharedBuffer,
};
use crate::op::{Few, Tensor};

/// The runtime's limit (guide: kernel launch, arguments).
const MOST_ARGUMENTS: usize = 128;
/// Of parameters in the block, and of data behind them.
const ALIGNMENT: usize = 8;
const DATA_ALIGNMENT: usize = 32;

mod sealed {
    pub trait Sealed<'a> {
        fn put(self, arguments: &mut super::Arguments<'a>) -> crate::error::Result<()>;
    }
}

/// What [`KernelLaunch::arg`](crate::KernelLaunch::arg) takes: device memory by its address, or a plain value.
///
/// | argument | the kernel gets | the launch |
/// |---|---|---|
/// | `&DeviceBuffer` and its like, `&DeviceSlice`, `&Tensor` | the address of the first element | reads the memory |
/// | `&MappedBuffer` | the device's address of the first element | reads the memory |
/// | `&mut` of the same, and of `DeviceSliceMut` | the address of the first element | reads and writes it |
/// | a number, a `#[repr(C)]` struct that is `bytemuck::Pod` | its bytes | |
///
/// A number without a type in the source is an `i32` or an `f64`: `arg(2.0_f32)` for a parameter of 4 bytes. A tensor
/// with gaps between its elements is refused.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no argument of a kernel",
    note = "device memory is given as `&buffer` or `&mut buffer`, a value as a type that is `bytemuck::Pod`"
)]
pub trait KernelArgument<'a>: sealed::Sealed<'a> {}

/// The block of arguments as it is built.
#[allow(missing_debug_implementations, reason = "nobody outside can have one")]
pub struct Arguments<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) parts: Parts<'a>,
}

/// Bytes for the kernel, and which of them are addresses of data that goes along. Those of most kernels take no
/// allocation.
pub(super) struct Block {
    pub(super) bytes: Few<u8, 128>,
    /// Offset and size of each argument.
    pub(super) parts: Few<(u32, u32)>,
    /// Data by the index of its argument.
    pub(super) data: Vec<(usize, Vec<u8>)>,
    /// The bytes are those of all arguments.
    whole: bool,
}

impl<'a> Arguments<'a> {
    #[inline]
    pub(super) fn new(kernel: &'a Kernel) -> Self {
        Self { kernel, parts: Parts::new() }
    }

    #[inline(always)]
    fn memory(&mut self, memory: &'a Arc<Allocation>, address: *mut c_void, how: How) -> Result<()> {
        self.parts.uses.push(Touch::new(memory, how));
        self.address(address)
    }

    #[inline(always)]
    pub(super) fn address(&mut self, address: *mut c_void) -> Result<()> {
        self.value(&address.addr().to_ne_bytes())
    }

    /// One argument of these bytes.
    // How many is known where it is called: the copy is a store then.
    #[inline(always)]
    pub(super) fn value(&mut self, bytes: &[u8]) -> Result<()> {
        match self.place(bytes.len()) {
            Some(offset) => {
                self.parts.block.fill_up(offset);
                self.parts.block.bytes.extend(bytes);
                self.parts.block.parts.push((offset as u32, bytes.len() as u32));
                Ok(())
            }
            None => Err(self.misplaced(bytes.len())),
        }
    }

    /// An argument that is the address of a copy of `data`.
    pub(super) fn data(&mut self, data: Vec<u8>) -> Result<()> {
        if data.is_empty() {
            let index = self.parts.block.parts.len();
            return Err(Error::invalid(format!("argument {index} of {}: no data", self.name())));
        }
        self.address(std::ptr::null_mut())?;
        let block = &mut self.parts.block;
        block.data.push((block.parts.len() - 1, data));
        Ok(())
    }

    /// Where the next argument goes: where the kernel declares it, else behind the one before. Nowhere when it is
    /// [wrong](Self::misplaced).
    #[inline(always)]
    fn place(&self, bytes: usize) -> Option<usize> {
        let (index, end) = (self.parts.block.parts.len(), self.parts.block.bytes.len());
        let next = end.next_multiple_of(ALIGNMENT);
        let offset = match self.kernel.parameters() {
            None => next,
            Some(parameters) => {
                let declared = parameters.get(index)?;
                let fits = declared.size == bytes && declared.offset >= end && declared.offset <= next;
                fits.then_some(declared.offset)?
            }
        };
        // The library takes sizes of 32 bits.
        let takes = !self.parts.block.whole && index < MOST_ARGUMENTS;
        let fits = takes && bytes != 0 && offset.checked_add(bytes)? <= u32::MAX as usize;
        fits.then_some(offset)
    }

    /// Why an argument of so many bytes goes nowhere.
    #[cold]
    fn misplaced(&self, bytes: usize) -> Error {
        let (index, end) = (self.parts.block.parts.len(), self.parts.block.bytes.len());
        let say = |text: String| Error::invalid(format!("argument {index} of {}: {text}", self.name()));
        if bytes == 0 {
            return say("a value of no bytes".to_owned());
        }
        if self.parts.block.whole {
            return say("it is given all arguments, and some one by one".to_owned());
        }
        if index == MOST_ARGUMENTS {
            return say(format!("the runtime takes {MOST_ARGUMENTS}"));
        }
        let next = end.next_multiple_of(ALIGNMENT);
        match self.kernel.parameters().map(|parameters| (parameters.get(index), parameters.len())) {
            Some((None, count)) => say(format!("the kernel declares {count} parameters")),
            Some((Some(declared), _)) if declared.size != bytes => {
                say(format!("{bytes} bytes, and the kernel declares {}", declared.size))
            }
            Some((Some(declared), _)) if declared.offset < end || declared.offset > next => {
                let text = format!("{} declares parameter {index} at byte {}", self.name(), declared.offset);
                Error::new(ErrorKind::UnknownValue, format!("{text}, and the one before ends at {end}"))
            }
            _ => too_many(next.saturating_add(bytes)),
        }
    }

    fn name(&self) -> String {
        format!("kernel {:?}", self.kernel.name())
    }

    /// That the kernel has all that it declares.
    pub(super) fn check(&self) -> Result<()> {
        let given = self.parts.block.parts.len();
        match self.kernel.parameters() {
            Some(declared) if declared.len() != given => {
                let text = format!("{given} arguments for {}, which declares {}", self.name(), declared.len());
                Err(Error::invalid(text))
            }
            _ => Ok(()),
        }
    }

    /// That a whole block has the size of what the kernel declares, with or without the bytes that align its end.
    pub(super) fn check_block(&self, bytes: usize) -> Result<()> {
        let Some(declared) = self.kernel.parameters() else { return Ok(()) };
        let end = declared.iter().map(|one| one.offset.saturating_add(one.size)).max().unwrap_or(0);
        let most = end.checked_next_multiple_of(ALIGNMENT).unwrap_or(end);
        if (end..=most).contains(&bytes) {
            return Ok(());
        }
        Err(Error::invalid(format!("{bytes} bytes of arguments for {}, which declares {end}", self.name())))
    }
}

impl Default for Block {
    fn default() -> Self {
        Self { bytes: Few::sized(), parts: Few::new(), data: Vec::new(), whole: false }
    }
}

impl Block {
    #[inline]
    pub(super) fn clear(&mut self) {
        let Self { bytes, parts, data, whole } = self;
        bytes.clear();
        parts.clear();
        if !data.is_empty() {
            *data = Vec::new();
        }
        *whole = false;
    }

    /// The bytes with the data behind them, and where the addresses of that go.
    pub(super) fn joined(&mut self) -> Result<Vec<aclrtPlaceHolderInfo>> {
        if self.bytes.len() == 0 {
            // The library takes no empty block.
            self.fill_up(ALIGNMENT);
            self.parts.push((0, ALIGNMENT as u32));
        }
        if self.data.is_empty() {
            return number(self.bytes.len()).map(|_| Vec::new());
        }
        let mut places = Vec::with_capacity(self.data.len());
        for (index, data) in std::mem::take(&mut self.data) {
            let at = self.bytes.len().next_multiple_of(DATA_ALIGNMENT);
            self.fill_up(at);
            self.bytes.extend(&data);
            let offset = self.parts.as_slice()[index].0;
            places.push(aclrtPlaceHolderInfo { addrOffset: offset, dataOffset: number(at)? });
        }
        number(self.bytes.len())?;
        Ok(places)
    }

    /// These bytes in place of what there is.
    pub(super) fn set_whole(&mut self, bytes: &[u8]) {
        self.bytes = Few::sized();
        self.bytes.extend(bytes);
        self.whole = true;
    }

    /// Zeros up to `end`, which is at most a few bytes on.
    #[inline(always)]
    fn fill_up(&mut self, end: usize) {
        if self.bytes.len() < end {
            self.fill_up_slowly(end);
        }
    }

    #[cold]
    fn fill_up_slowly(&mut self, end: usize) {
        (self.bytes.len()..end).for_each(|_| self.bytes.push(0));
    }
}

/// The library takes sizes of 32 bits, and cuts longer ones.
pub(super) fn number(bytes: usize) -> Result<u32> {
    u32::try_from(bytes).map_err(|_| too_many(bytes))
}

#[cold]
fn too_many(bytes: usize) -> Error {
    Error::invalid(format!("{bytes} bytes of arguments, which may have less than 4 GiB"))
}

impl<T: Pod> KernelArgument<'_> for T {}

impl<'a, T: Pod> sealed::Sealed<'a> for T {
    #[inline(always)]
    fn put(self, arguments: &mut Arguments<'a>) -> Result<()> {
        arguments.value(bytemuck::bytes_of(&self))
    }
}

#[inline(always)]
fn slice<'a, T: Pod>(arguments: &mut Arguments<'a>, memory: DeviceSlice<'a, T>, how: How) -> Result<()> {
    arguments.memory(memory.allocation(), memory.address(), how)
}

macro_rules! memory {
    ($([$($life:lifetime)?] $memory:ty;)*) => {$(
        impl<'a, $($life: 'a,)? T: Pod> KernelArgument<'a> for &'a $memory {}

        impl<'a, $($life: 'a,)? T: Pod> sealed::Sealed<'a> for &'a $memory {
            #[inline(always)]
            fn put(self, arguments: &mut Arguments<'a>) -> Result<()> {
                slice(arguments, self.as_slice(), How::Read)
            }
        }

        impl<'a, $($life: 'a,)? T: Pod> KernelArgument<'a> for &'a mut $memory {}

        impl<'a, $($life: 'a,)? T: Pod> sealed::Sealed<'a> for &'a mut $memory {
            #[inline(always)]
            fn put(self, arguments: &mut Arguments<'a>) -> Result<()> {
                let memory: &'a $memory = self;
                slice(arguments, memory.as_slice(), How::Written)
            }
        }
    )*};
}

memory! {
    [] DeviceBuffer<T>;
    [] SharedBuffer<T>;
    [] GrowableBuffer<T>;
    [] ManagedBuffer<T>;
    ['b] DeviceSliceMut<'b, T>;
}

impl<'a, T: Pod> KernelArgument<'a> for &'a MappedBuffer<T> {}

impl<'a, T: Pod> sealed::Sealed<'a> for &'a MappedBuffer<T> {
    fn put(self, arguments: &mut Arguments<'a>) -> Result<()> {
        slice(arguments, self.for_kernels(), How::Read)
    }
}

impl<'a, T: Pod> KernelArgument<'a> for &'a mut MappedBuffer<T> {}

impl<'a, T: Pod> sealed::Sealed<'a> for &'a mut MappedBuffer<T> {
    fn put(self, arguments: &mut Arguments<'a>) -> Result<()> {
        let memory: &'a MappedBuffer<T> = self;
        slice(arguments, memory.for_kernels(), How::Written)
    }
}

impl<'a, 'b: 'a, T: Pod> KernelArgument<'a> for &'a DeviceSlice<'b, T> {}

impl<'a, 'b: 'a, T: Pod> sealed::Sealed<'a> for &'a DeviceSlice<'b, T> {
    fn put(self, arguments: &mut Arguments<'a>) -> Result<()> {
        slice(arguments, *self, How::Read)
    }
}

fn tensor<'a, T>(arguments: &mut Arguments<'a>, tensor: &'a Tensor<T>, how: How) -> Result<()>
where
    T: crate::op::Element,
{
    if !tensor.is_dense() {
        let (index, name) = (arguments.parts.block.parts.len(), arguments.name());
        return Err(Error::invalid(format!("argument {index} of {name}: a tensor with gaps between its elements")));
    }
    arguments.memory(tensor.allocation(), tensor.address(), how)
}

impl<'a, T: crate::op::Element> KernelArgument<'a> for &'a Tensor<T> {}

impl<'a, T: crate::op::Element> sealed::Sealed<'a> for &'a Tensor<T> {
    fn put(self, arguments: &mut Arguments<'a>) -> Result<()> {
        tensor(arguments, self, How::Read)
    }
}

impl<'a, T: crate::op::Element> KernelArgument<'a> for &'a mut Tensor<T> {}

impl<'a, T: crate::op::Element> sealed::Sealed<'a> for &'a mut Tensor<T> {
    fn put(self, arguments: &mut Arguments<'a>) -> Result<()> {
        tensor(arguments, self, How::Written)
    }
}
