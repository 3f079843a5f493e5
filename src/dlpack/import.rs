//! Tensors that come from other frameworks.

use std::ffi::c_void;

use bytemuck::Pod;

use super::{DLDevice, Managed, types};
use crate::context::Context;
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::memory::{DeviceBuffer, SharedBuffer};
use crate::op::{AnyTensor, Element, MAX_RANK, Shape};

/// Sizes and strides, none below zero.
struct Layout {
    shape: Shape,
    strides: [usize; MAX_RANK],
    /// Elements from the first one to behind the last one.
    span: usize,
}

impl Managed {
    /// A tensor over the memory, which it keeps: that of an NPU. The [type](AnyTensor::typed) of its elements is to be
    /// asked for. Nothing is waited for: work of the other framework that writes the memory is
    /// [the caller's to order](crate::dlpack). DLPack says the number of the device and not which AscendCL library it is
    /// of: where several are loaded, memory of another one is noticed of tensors that came from here. Those are tensors
    /// of the same memory again, also for what waits for work that uses it, and of the context that it is from.
    ///
    /// # Errors
    ///
    /// The tensor and [`ErrorKind::InvalidArgument`] for memory of another device than
    /// the context's, of another library as far as that is known, or of the host, an element type that no type here is,
    /// memory that is [read only](Self::is_read_only), more than eight dimensions, no elements, or strides below zero.
    pub fn into_tensor(self, context: impl AsRef<Context>) -> Result<AnyTensor, Refused<Self>> {
        let context = context.as_ref();
        let checked = self
            .check_device(context)
            .and_then(|()| Ok((self.layout()?, types::from_dlpack(self.dtype())?, self.first()?)));
        let (Layout { shape, strides, span }, kind, address) = match checked {
            Ok(checked) => checked,
            Err(error) => return Err(Refused::new(self, error)),
        };
        let each = kind.bits() / 8;
        let bytes = span.checked_mul(each).filter(|bytes| isize::try_from(*bytes).is_ok());
        let ends = |bytes: &usize| address.addr().checked_add(*bytes).is_some();
        let Some(bytes) = bytes.filter(|bytes| address.addr().is_multiple_of(each) && ends(bytes)) else {
            let text = format!("{span} elements of {each} bytes at {address:p}");
            return Err(Refused::new(self, Error::invalid(text)));
        };
        let buffer = match self.known(address, bytes) {
            // Two books of the same memory would not know of each other's work.
            Some(known) => {
                drop(self);
                Ok(known)
            }
            // What the frameworks share keeps the memory, and is ended when no work uses it any more.
            None => DeviceBuffer::<u8>::adopt(address, bytes, context, self).map(SharedBuffer::from),
        };
        let all = buffer.and_then(|bytes| AnyTensor::over(bytes, kind, [span]));
        all.and_then(|all| all.laid_out(shape, strides))
            .map_err(|error| unreachable!("its memory and layout were checked: {error}"))
    }

    fn check_device(&self, context: &Context) -> Result<()> {
        let DLDevice { device_type, device_id } = self.device();
        if device_type != DLDevice::EXTENSION || device_id != context.device_id() {
            let text = format!(
                "memory of DLPack's device {device_type}:{device_id}, and an NPU is {}:{}",
                DLDevice::EXTENSION,
                context.device_id()
            );
            return Err(Error::invalid(text));
        }
        if let Some(home) = self.home() {
            context.inner().check_memory(home.context(), || "memory of a tensor of DLPack".to_owned())?;
        }
        if self.is_read_only() {
            return Err(Error::invalid("memory that must not be written, and a tensor can be"));
        }
        if self.tensor().data.is_null() {
            return Err(Error::invalid("a tensor of DLPack without memory"));
        }
        Ok(())
    }

    /// So many bytes from the first element on, of memory that is known here.
    fn known(&self, first: *mut c_void, bytes: usize) -> Option<SharedBuffer<u8>> {
        let home = self.home()?;
        let from = first.addr().checked_sub(home.address().addr())?;
        let is_inside = from.checked_add(bytes).is_some_and(|end| end <= home.bytes());
        is_inside.then(|| SharedBuffer::within(&home, from, bytes))
    }

    /// Address of the first element.
    fn first(&self) -> Result<*mut c_void> {
        let (data, offset) = (self.tensor().data, self.tensor().byte_offset);
        match usize::try_from(offset).ok().and_then(|offset| data.addr().checked_add(offset)) {
            Some(address) => Ok(data.with_addr(address)),
            None => Err(Error::invalid(format!(
                "a first element {offset} bytes behind {data:p}, beyond the last address"
            ))),
        }
    }

    fn layout(&self) -> Result<Layout> {
        let sizes: Vec<usize> =
            self.shape().iter().map(|size| usize::try_from(*size).unwrap_or(usize::MAX)).collect();
        let shape = Shape::new(&sizes)?;
        if shape.elements() == 0 {
            return Err(Error::invalid(format!("a tensor of DLPack of shape {shape}, which has no elements")));
        }
        let mut strides = shape.dense_strides();
        for (at, stride) in self.strides().unwrap_or_default().iter().enumerate() {
            match usize::try_from(*stride) {
                // One of a dimension of size 1 leads nowhere, whatever it says.
                _ if sizes[at] == 1 => {}
                Ok(stride) => strides[at] = stride,
                Err(_) => return Err(Error::invalid(format!("a stride of {stride}, below zero"))),
            }
        }
        // A step more in each dimension than there is has to be a number too, as tensors want it.
        let steps = |beyond: usize| {
            let mut each = shape.iter().zip(&strides).map(|(size, stride)| (size - 1 + beyond).checked_mul(*stride));
            each.try_fold(1_usize, |all, one| all.checked_add(one?))
        };
        match steps(1).and_then(|_| steps(0)).filter(|span| i64::try_from(*span).is_ok()) {
            Some(span) => Ok(Layout { shape, strides, span }),
            None => Err(Error::invalid(format!("strides {:?} of the shape {shape}", self.strides()))),
        }
    }

    /// The elements in memory of the host: of a dense tensor in row order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for memory of a device, another element type,
    /// gaps between the elements, or memory that is not aligned for them.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::dlpack::Managed;
    ///
    /// let managed = Managed::from_vec(vec![1.5_f64, 2.5], [2])?;
    /// assert_eq!(managed.as_slice::<f64>()?, [1.5, 2.5]);
    /// assert!(managed.as_slice::<f32>().is_err());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        let Layout { shape, strides, span } = self.host_layout::<T>()?;
        let elements = shape.elements();
        let is_dense =
            shape.iter().enumerate().all(|(at, size)| *size == 1 || strides[at] == shape.dense_strides()[at]);
        if !is_dense || span != elements {
            let text = format!("a slice of a tensor of shape {shape} with the strides {:?}", self.strides());
            return Err(Error::invalid(text));
        }
        // SAFETY: whoever made the tensor promised so many elements of this type there, which stay as long as this
        // value; the address is checked to be aligned.
        Ok(unsafe { std::slice::from_raw_parts(self.first()?.cast::<T>(), elements) })
    }

    /// A copy of the elements in memory of the host, in row order, whatever the strides.
    ///
    /// # Errors
    ///
    /// As [`as_slice`](Self::as_slice), but for gaps; [`ErrorKind::OutOfMemory`] for more
    /// elements than there is memory for, as there may be where many of them lie upon each other.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let Layout { shape, strides, span } = self.host_layout::<T>()?;
        // Elements that lie upon each other may be more than any memory holds.
        let (count, mut elements) = (shape.elements(), Vec::new());
        elements.try_reserve_exact(count).map_err(|error| {
            let text = format!("a copy of a tensor of shape {shape} that lies on {span} elements");
            Error::new(ErrorKind::OutOfMemory, text).with_source(error)
        })?;
        let (first, mut at) = (self.first()?.cast::<T>(), vec![0; shape.len()]);
        for _ in 0..count {
            let place = at.iter().zip(&strides).map(|(at, stride)| at * stride).sum::<usize>();
            // SAFETY: an element of the tensor, which has them at these places of one allocation of the host.
            let element = unsafe { first.add(place) };
            // SAFETY: it is there, as whoever made the tensor promised; what lies between them is not looked at.
            elements.push(unsafe { element.read() });
            for (at, size) in at.iter_mut().zip(shape.iter()).rev() {
                *at = (*at + 1) % size;
                if *at > 0 {
                    break;
                }
            }
        }
        Ok(elements)
    }

    fn host_layout<T: Element + Pod>(&self) -> Result<Layout> {
        let DLDevice { device_type, device_id } = self.device();
        if device_type != DLDevice::CPU {
            let text =
                format!("memory of DLPack's device {device_type}:{device_id}, and the host is {}", DLDevice::CPU);
            return Err(Error::invalid(text));
        }
        let kind = types::from_dlpack(self.dtype())?;
        if kind != T::TYPE.into() {
            return Err(Error::invalid(format!("elements of DLPack's {:?} as {:?}", self.dtype(), T::TYPE)));
        }
        let first = self.first()?;
        if self.tensor().data.is_null() || !first.cast::<T>().is_aligned() {
            return Err(Error::invalid(format!("elements at {first:p}, aligned to {}", align_of::<T>())));
        }
        self.layout()
    }
}
