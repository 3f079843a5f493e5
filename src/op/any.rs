//! Tensors whose element type is known when the program runs.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use acl_sys::{aclDataType, aclFormat};

use super::element::{DataType, Element};
use super::operand::Described;
use super::shape::{IntoShape, MAX_RANK, Shape};
use super::tensor::Tensor;
use super::view::{Form, View};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::memory::{Allocation, SharedBuffer};

/// A data type by its number in the library, also one that no type of Rust stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[doc(alias = "aclDataType")]
pub struct ElementType {
    number: i32,
    bits: u32,
}

macro_rules! element_types {
    ($($(#[$doc:meta])* $name:ident = $raw:ident, $bits:literal;)*) => {$(
        $(#[$doc])*
        pub const $name: Self = Self { number: aclDataType::$raw.0, bits: $bits };
    )*
        const NAMED: &[Self] = &[$(Self::$name),*];
    };
}

impl ElementType {
    element_types! {
        /// A truth value, a byte.
        BOOL = ACL_BOOL, 8;
        /// 16-bit unsigned integer.
        U16 = ACL_UINT16, 16;
        /// 32-bit unsigned integer.
        U32 = ACL_UINT32, 32;
        /// 64-bit unsigned integer.
        U64 = ACL_UINT64, 64;
        /// Complex number of two f16.
        COMPLEX32 = ACL_COMPLEX32, 32;
        /// Complex number of two f32.
        COMPLEX64 = ACL_COMPLEX64, 64;
        /// Complex number of two f64.
        COMPLEX128 = ACL_COMPLEX128, 128;
        /// 4-bit integer, two in a byte.
        I4 = ACL_INT4, 4;
        /// 1-bit unsigned integer, eight in a byte.
        U1 = ACL_UINT1, 1;
        /// 8-bit float whose exponent and mantissa vary in size.
        HIFLOAT8 = ACL_HIFLOAT8, 8;
        /// 8-bit float with 5 bits of exponent and 2 of mantissa.
        F8_E5M2 = ACL_FLOAT8_E5M2, 8;
        /// 8-bit float with 4 bits of exponent and 3 of mantissa, without infinities.
        F8_E4M3FN = ACL_FLOAT8_E4M3FN, 8;
        /// 8 bits of exponent alone: a scale.
        F8_E8M0 = ACL_FLOAT8_E8M0, 8;
        /// 4-bit float with 2 bits of exponent and 1 of mantissa.
        F4_E2M1 = ACL_FLOAT4_E2M1, 4;
        /// 4-bit float with 1 bit of exponent and 2 of mantissa.
        F4_E1M2 = ACL_FLOAT4_E1M2, 4;
    }

    /// The type with this number in the library and this size of an element in bits, for types that have no name
    /// here.
    ///
    /// # Safety
    ///
    /// An element of this type has `bits` bits in the library: operators reach as much memory as it thinks.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::ElementType;
    ///
    /// // SAFETY: truth values are bytes.
    /// assert_eq!(unsafe { ElementType::new(12, 8) }, ElementType::BOOL);
    /// ```
    #[must_use]
    pub const unsafe fn new(number: i32, bits: u32) -> Self {
        Self { number, bits }
    }

    /// The type with this number in the library, of those that have a name here or are a [`DataType`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::{DataType, ElementType};
    ///
    /// assert_eq!(ElementType::of_number(0), Some(DataType::F32.into()));
    /// assert_eq!(ElementType::of_number(12), Some(ElementType::BOOL));
    /// assert_eq!(ElementType::of_number(-1), None);
    /// ```
    #[must_use]
    pub fn of_number(number: i32) -> Option<Self> {
        let mut all = DataType::ALL.into_iter().map(Self::from).chain(Self::NAMED.iter().copied());
        all.find(|kind| kind.number == number)
    }

    /// Bits of one element.
    #[must_use]
    pub const fn bits(self) -> usize {
        self.bits as usize
    }

    /// Its number in the library.
    #[must_use]
    pub const fn number(self) -> i32 {
        self.number
    }

    /// The type of elements that operators with types of Rust and plans know; none for those that they do not.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::{DataType, ElementType};
    ///
    /// assert_eq!(ElementType::of_number(1).and_then(ElementType::data_type), Some(DataType::F16));
    /// assert_eq!(ElementType::I4.data_type(), None);
    /// ```
    #[must_use]
    pub fn data_type(self) -> Option<DataType> {
        DataType::ALL.into_iter().find(|dtype| Self::from(*dtype) == self)
    }

    pub(crate) fn raw(self) -> aclDataType {
        aclDataType(self.number)
    }
}

impl From<DataType> for ElementType {
    fn from(dtype: DataType) -> Self {
        Self { number: dtype.raw().0, bits: dtype.size() as u32 * 8 }
    }
}

/// How the elements of a storage are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[doc(alias = "aclFormat")]
pub struct Format(aclFormat);

impl Format {
    /// Any dimensions, laid out by strides: what tensors have that nothing else is said of.
    pub const ND: Self = Self(aclFormat::ACL_FORMAT_ND);
    /// Images: batch, channels, height, width.
    pub const NCHW: Self = Self(aclFormat::ACL_FORMAT_NCHW);
    /// Images: batch, height, width, channels.
    pub const NHWC: Self = Self(aclFormat::ACL_FORMAT_NHWC);
    /// Volumes: batch, channels, depth, height, width.
    pub const NCDHW: Self = Self(aclFormat::ACL_FORMAT_NCDHW);
    /// Sequences: batch, channels, length.
    pub const NCL: Self = Self(aclFormat::ACL_FORMAT_NCL);
    /// Images in blocks of channels.
    pub const NC1HWC0: Self = Self(aclFormat::ACL_FORMAT_NC1HWC0);
    /// Filters in blocks.
    pub const FRACTAL_Z: Self = Self(aclFormat::ACL_FORMAT_FRACTAL_Z);
    /// Matrices in blocks, as the cube units read them.
    pub const FRACTAL_NZ: Self = Self(aclFormat::ACL_FORMAT_FRACTAL_NZ);

    /// The format with this number in the library.
    #[must_use]
    pub const fn new(number: i32) -> Self {
        Self(aclFormat(number))
    }

    /// Its number in the library.
    #[must_use]
    pub const fn number(self) -> i32 {
        self.0.0
    }
}

/// A shaped view of device memory whose element type is known when the program runs: an operand for
/// [`aclnn`](crate::op::aclnn) of a type without a Rust type, in a format of the device, or of any type.
///
/// Sizes, strides and offsets count elements. Clones are cheap, share the memory and keep it alive. Nothing here
/// waits for the device. A [`Tensor`] is an operand by itself; `AnyTensor::from` makes one of it without a copy, and
/// [`AnyTensor::typed`] a tensor again.
///
/// C calls: `aclCreateTensor`, `aclDestroyTensor`, made for each new [signature](crate::op#executors).
///
/// # Examples
///
/// ```
/// use racl::op::{AnyTensor, ElementType, aclnn};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[1.0_f32, 5.0, 3.0], [3])?;
/// let b = device.upload_tensor(&[1.0_f32, 2.0, 4.0], [3])?;
/// let bytes = device.alloc::<u8>(3)?.into_shared();
/// let mut larger = AnyTensor::over(bytes.clone(), ElementType::BOOL, [3])?;
/// aclnn::gt_tensor(&stream, &a, &b, &mut larger)?;
/// assert_eq!(bytes.to_vec()?, [0, 1, 0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Clone)]
#[doc(alias = "aclTensor")]
#[doc(alias = "aclCreateTensor")]
pub struct AnyTensor {
    allocation: Arc<Allocation>,
    start: *mut c_void,
    /// Bytes of the storage.
    bytes: usize,
    shape: Shape,
    strides: [usize; MAX_RANK],
    offset: usize,
    form: Form,
}

// SAFETY: the address is that of device memory, which any thread may name; it is never dereferenced on the host.
unsafe impl Send for AnyTensor {}
// SAFETY: as above; the allocation has its own locks.
unsafe impl Sync for AnyTensor {}

impl<T: Element> From<&Tensor<T>> for AnyTensor {
    fn from(tensor: &Tensor<T>) -> Self {
        let view = tensor.view();
        let storage = Shape::new(&[view.len]).unwrap_or_else(|_| unreachable!("a buffer has as many elements"));
        Self {
            allocation: Arc::clone(view.allocation),
            start: view.start,
            bytes: view.len * size_of::<T>(),
            shape: view.dims,
            strides: view.strides,
            offset: view.offset,
            form: Form { kind: T::TYPE.into(), format: aclFormat::ACL_FORMAT_ND, storage },
        }
    }
}

impl<T: Element> From<Tensor<T>> for AnyTensor {
    fn from(tensor: Tensor<T>) -> Self {
        Self::from(&tensor)
    }
}

impl AnyTensor {
    /// A dense tensor over the start of `bytes`, a [`SharedBuffer`] or a [`DeviceBuffer`](crate::DeviceBuffer), whose
    /// memory it shares.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when the buffer is smaller than the shape,
    /// or for a type of no bits.
    pub fn over(
        bytes: impl Into<SharedBuffer<u8>>,
        kind: impl Into<ElementType>,
        shape: impl IntoShape,
    ) -> Result<Self> {
        Self::unchecked(bytes.into(), kind.into(), shape.into_shape()?)?.checked()
    }

    /// A tensor over `bytes` whose first element is the element `offset` of them, with `strides` elements between
    /// neighbours of each dimension; without strides it is dense. The memory is shared.
    ///
    /// # Errors
    ///
    /// As [`AnyTensor::over`] and [`AnyTensor::strided`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::{AnyTensor, DataType};
    ///
    /// let bytes = racl::Acl::mock()?.device(0)?.upload(&[1_u8, 2, 3])?.into_shared();
    /// // The same two elements in three rows, which dense ones would have no room for.
    /// let rows = AnyTensor::over_strided(bytes.clone(), DataType::U8, [3, 2], Some(&[0, 1]), 1)?;
    /// assert_eq!(rows.typed::<u8>()?.to_vec()?, [2, 3, 2, 3, 2, 3]);
    /// assert!(AnyTensor::over_strided(bytes, DataType::U8, [2], None, 2).is_err());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn over_strided(
        bytes: impl Into<SharedBuffer<u8>>,
        kind: impl Into<ElementType>,
        shape: impl IntoShape,
        strides: Option<&[usize]>,
        offset: usize,
    ) -> Result<Self> {
        let shape = shape.into_shape()?;
        let dense = shape.dense_strides();
        let strides = strides.unwrap_or(&dense[..shape.rank()]);
        Self::unchecked(bytes.into(), kind.into(), shape)?.strided(strides, offset)
    }

    /// A dense tensor that the buffer may be too small for.
    fn unchecked(bytes: SharedBuffer<u8>, kind: ElementType, shape: Shape) -> Result<Self> {
        if kind.bits == 0 {
            return Err(Error::invalid(format!("elements of no bits, of the type {}", kind.number)));
        }
        let len = bytes.len();
        let storage = Shape::new(&[elements_in(len, kind)])?;
        Ok(Self {
            start: bytes.address(),
            allocation: Arc::clone(bytes.allocation()),
            bytes: len,
            strides: shape.dense_strides(),
            shape,
            offset: 0,
            form: Form { kind, format: aclFormat::ACL_FORMAT_ND, storage },
        })
    }

    /// The same elements, seen with other strides and from another element on. The view shares the memory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for another number of strides than of
    /// dimensions, or when an element is outside the memory.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::{AnyTensor, DataType};
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let bytes = device.upload(&[1_u8, 2, 3, 4, 5, 6])?;
    /// let every_second = AnyTensor::over(bytes, DataType::U8, [3])?.strided(&[2], 1)?;
    /// assert_eq!(every_second.typed::<u8>()?.to_vec()?, [2, 4, 6]);
    /// assert!(every_second.strided(&[2], 2).is_err()); // its last element would be the seventh
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn strided(&self, strides: &[usize], offset: usize) -> Result<Self> {
        if strides.len() != self.shape.rank() {
            return Err(Error::invalid(format!("{} strides for the shape {}", strides.len(), self.shape)));
        }
        // In C they are signed; one of a dimension of size 1 need not lead into the memory.
        if strides.iter().chain([&offset]).any(|stride| i64::try_from(*stride).is_err()) {
            return Err(Error::invalid(format!("strides {strides:?} from element {offset} on do not fit 63 bits")));
        }
        let mut view = self.clone();
        view.strides = self.shape.dense_strides();
        view.strides[..strides.len()].copy_from_slice(strides);
        view.offset = offset;
        view.checked()
    }

    /// The same memory in another format, with the shape that the elements have in it; dimensions and strides stay
    /// those that a program thinks in. Nothing is moved: operators such as
    /// [`aclnn::npu_format_cast`](crate::op::aclnn::npu_format_cast) do that.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when `storage` does not fit the memory.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::{AnyTensor, DataType, Format};
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// // A matrix of 30 × 40 in blocks of 16 × 16: 3 columns of 2 blocks.
    /// let memory = device.alloc::<u8>(3 * 2 * 16 * 16 * 2)?;
    /// let weight = AnyTensor::over(memory, DataType::F16, [30, 40])?;
    /// let weight = weight.with_format(Format::FRACTAL_NZ, [3, 2, 16, 16])?;
    /// assert_eq!(**weight.storage(), [3, 2, 16, 16]);
    /// assert!(weight.with_format(Format::FRACTAL_NZ, [4, 2, 16, 16]).is_err());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn with_format(&self, format: Format, storage: impl IntoShape) -> Result<Self> {
        let mut view = self.clone();
        view.form = Form { format: format.0, storage: storage.into_shape()?, ..self.form };
        view.checked()
    }

    /// The same bytes as elements of another type of the same size, such as truth values over bytes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a type of another size.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::{AnyTensor, ElementType};
    ///
    /// let acl = racl::Acl::mock()?;
    /// let bytes = acl.device(0)?.upload_tensor(&[1_u8, 0], [2])?;
    /// let mask = AnyTensor::from(&bytes).with_type(ElementType::BOOL)?;
    /// assert_eq!(mask.element_type(), ElementType::BOOL);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn with_type(&self, kind: impl Into<ElementType>) -> Result<Self> {
        let kind = kind.into();
        if kind.bits != self.form.kind.bits {
            let (bits, own) = (kind.bits, self.form.kind.bits);
            return Err(Error::invalid(format!("elements of {bits} bits in a tensor of elements of {own} bits")));
        }
        Ok(Self { form: Form { kind, ..self.form }, ..self.clone() })
    }

    /// The same elements as a tensor of `T`. The view shares the memory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for another element type, a format that is
    /// not laid out by strides, or memory that does not start at a multiple of the size of `T`.
    pub fn typed<T: Element>(&self) -> Result<Tensor<T>> {
        let Form { kind, format, .. } = self.form;
        let from = self.start.addr() - self.allocation.address().addr();
        if kind != T::TYPE.into() || format != aclFormat::ACL_FORMAT_ND || !from.is_multiple_of(size_of::<T>()) {
            return Err(Error::invalid(format!("{self:?} as a tensor of {:?}", T::TYPE)));
        }
        let buffer = SharedBuffer::within(&self.allocation, from, self.bytes / size_of::<T>());
        Ok(Tensor::with_layout(buffer, self.shape, self.strides, self.offset))
    }

    /// Sizes of the dimensions.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Strides of the dimensions, in elements.
    #[must_use]
    pub fn strides(&self) -> &[usize] {
        &self.strides[..self.shape.rank()]
    }

    /// Elements from the start of the storage to the first one.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Type of the elements.
    #[must_use]
    pub fn element_type(&self) -> ElementType {
        self.form.kind
    }

    /// How the storage is laid out.
    #[must_use]
    pub fn format(&self) -> Format {
        Format(self.form.format)
    }

    /// Shape of the storage in its format; one dimension when nothing else was said.
    #[must_use]
    pub fn storage(&self) -> &Shape {
        &self.form.storage
    }

    /// The context that the memory belongs to.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::from_inner(self.allocation.context())
    }

    /// Device address of the storage. It must not be dereferenced on the host.
    #[must_use]
    pub fn address(&self) -> *mut c_void {
        self.start
    }

    /// The same memory with another shape, laid out by these strides.
    #[cfg(feature = "dlpack")]
    pub(crate) fn laid_out(self, shape: Shape, strides: [usize; MAX_RANK]) -> Result<Self> {
        Self { shape, strides, ..self }.checked()
    }

    /// The memory of a dense tensor of the format ND, as bytes: for copies with the host.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for one with gaps, of another format, or whose
    /// elements do not fill bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::DeviceRead as _;
    /// use racl::op::AnyTensor;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let x = AnyTensor::from(device.upload_tensor(&[1_i32, 2], [2])?);
    /// let mut bytes = [0; 8];
    /// x.bytes()?.as_slice().read(&mut bytes)?;
    /// assert_eq!(bytes[4..], 2_i32.to_ne_bytes());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn bytes(&self) -> Result<SharedBuffer<u8>> {
        let kind = self.form.kind;
        if !kind.bits.is_multiple_of(8) || self.format() != Format::ND || self.strides != self.shape.dense_strides() {
            return Err(Error::invalid(format!("{self:?} as bytes; make it dense before")));
        }
        let size = kind.bits() / 8;
        let from = self.start.addr() - self.allocation.address().addr() + self.offset * size;
        Ok(SharedBuffer::within(&self.allocation, from, self.shape.elements() * size))
    }

    pub(crate) fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    /// This tensor, if all of it is inside its memory.
    fn checked(self) -> Result<Self> {
        let available = elements_in(self.bytes, self.form.kind);
        if self.form.storage.elements() > available {
            let storage = self.form.storage;
            return Err(Error::invalid(format!("a storage of shape {storage} over {available} elements")));
        }
        let reach = self.reach().filter(|reach| *reach <= self.form.storage.elements());
        if reach.is_none() {
            return Err(Error::invalid(format!(
                "a tensor of shape {} with strides {:?} from element {} on, over {} elements",
                self.shape,
                self.strides(),
                self.offset,
                self.form.storage.elements()
            )));
        }
        Ok(self)
    }

    /// One after the last element; none when that does not fit a number.
    fn reach(&self) -> Option<usize> {
        let steps = self.shape.iter().zip(&self.strides);
        let mut span = steps.map(|(size, stride)| (*size).max(1).checked_mul(*stride));
        // A step more in each dimension than there is, where views of no elements may begin.
        span.try_fold(self.offset, |sum, step| sum.checked_add(step?))?;
        if self.shape.elements() == 0 {
            return Some(self.offset);
        }
        let steps = self.shape.iter().zip(&self.strides);
        Some(steps.fold(self.offset + 1, |sum, (size, stride)| sum + (size - 1) * stride))
    }
}

fn elements_in(bytes: usize, kind: ElementType) -> usize {
    // Through a wider number, since the bits of all bytes may not fit.
    usize::try_from(bytes as u128 * 8 / u128::from(kind.bits)).unwrap_or(usize::MAX)
}

impl Described for AnyTensor {
    #[allow(private_interfaces)]
    fn view(&self) -> Option<View<'_>> {
        Some(View {
            allocation: &self.allocation,
            start: self.start,
            len: self.form.storage.elements(),
            dtype: DataType::U8,
            dims: self.shape,
            strides: self.strides,
            offset: self.offset,
            form: Some(&self.form),
        })
    }
}

impl fmt::Debug for AnyTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyTensor")
            .field("type", &self.form.kind)
            .field("format", &self.form.format.0)
            .field("shape", &self.shape)
            .field("strides", &self.strides())
            .finish_non_exhaustive()
    }
}
