//! The structures of DLPack 1.0, whose layout every framework shares.

use std::ffi::c_void;

/// Which version of the structures a tensor has. Readers of another `major` may use nothing but the deleter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct DLPackVersion {
    /// Changes when the layout does.
    pub major: u32,
    /// Changes when something is added.
    pub minor: u32,
}

/// A kind of device and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct DLDevice {
    /// Such as [`CPU`](Self::CPU).
    pub device_type: i32,
    /// Of the devices of this kind.
    pub device_id: i32,
}

impl DLDevice {
    /// Memory of the host.
    pub const CPU: i32 = 1;
    /// A device of an extension: what PyTorch says of its "PrivateUse1" devices, which NPUs are.
    pub const EXTENSION: i32 = 12;
}

/// The type of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct DLDataType {
    /// 0 for integers, 1 for unsigned ones, 2 for floats, 4 for bfloat, 5 for complex numbers, 6 for truth values.
    pub code: u8,
    /// Bits of one element.
    pub bits: u8,
    /// Elements of a vector, 1 for plain ones.
    pub lanes: u16,
}

/// A view of memory.
#[derive(Debug)]
#[repr(C)]
pub struct DLTensor {
    /// Where it begins, but for `byte_offset`.
    pub data: *mut c_void,
    /// Where the memory is.
    pub device: DLDevice,
    /// Number of dimensions.
    pub ndim: i32,
    /// Type of the elements.
    pub dtype: DLDataType,
    /// Sizes of the dimensions, as many as there are.
    pub shape: *mut i64,
    /// How far apart, in elements; null for a dense tensor in row order.
    pub strides: *mut i64,
    /// From `data` to the first element.
    pub byte_offset: u64,
}

/// A tensor and how to end it, as frameworks passed it before version 1.
#[derive(Debug)]
#[repr(C)]
pub struct DLManagedTensor {
    /// The view.
    pub dl_tensor: DLTensor,
    /// For the deleter.
    pub manager_ctx: *mut c_void,
    /// Ends the tensor; null where nothing is to be done.
    pub deleter: Option<unsafe extern "C" fn(*mut Self)>,
}

/// A tensor and how to end it.
#[derive(Debug)]
#[repr(C)]
pub struct DLManagedTensorVersioned {
    /// Of these structures.
    pub version: DLPackVersion,
    /// For the deleter.
    pub manager_ctx: *mut c_void,
    /// Ends the tensor; null where nothing is to be done.
    pub deleter: Option<unsafe extern "C" fn(*mut Self)>,
    /// [`READ_ONLY`](Self::READ_ONLY) and others.
    pub flags: u64,
    /// The view.
    pub dl_tensor: DLTensor,
}

impl DLManagedTensorVersioned {
    /// Set when the memory must not be written.
    pub const READ_ONLY: u64 = 1;
}
