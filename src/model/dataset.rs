//! What one run is given: a list of buffers for its inputs, and one for its outputs.

use std::ffi::c_void;
use std::sync::Arc;

use acl_sys::{aclDataBuffer, aclTensorDesc, aclmdlDataset};

use super::description::ModelTensor;
use crate::call::{call, pointer, value};
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};

/// A list of buffers, and what it was told of their shapes.
pub(super) struct Dataset {
    raw: *mut aclmdlDataset,
    buffers: Vec<*mut aclDataBuffer>,
    shapes: Vec<*mut aclTensorDesc>,
    context: Arc<ContextInner>,
}

// SAFETY: lists of addresses in memory of the host, which belong to no thread.
unsafe impl Send for Dataset {}
// SAFETY: what is read of a shared one changes nothing.
unsafe impl Sync for Dataset {}

/// Those of one run.
pub(super) struct Lists {
    pub(super) input: Dataset,
    pub(super) output: Dataset,
}

impl Dataset {
    pub(super) fn new(context: &Arc<ContextInner>) -> Result<Self> {
        // SAFETY: the call takes nothing.
        let raw = unsafe { pointer!(&**context, aclmdlCreateDataset()) }?;
        Ok(Self { raw, buffers: Vec::new(), shapes: Vec::new(), context: Arc::clone(context) })
    }

    pub(super) fn raw(&self) -> *mut aclmdlDataset {
        self.raw
    }

    /// Adds device memory, which its owner keeps for as long as a run uses it.
    pub(super) fn add(&mut self, address: *mut c_void, bytes: usize) -> Result<()> {
        // SAFETY: the buffer notes the address and the length, and reads neither.
        let buffer = unsafe { pointer!(&*self.context, aclCreateDataBuffer(address, bytes)) }?;
        self.buffers.push(buffer);
        // SAFETY: both are live; the list notes the buffer, which is destroyed with it.
        unsafe { call!(&*self.context, aclmdlAddDatasetBuffer(self.raw, buffer)) }
    }

    /// Says which shape the buffer `index` has in this run.
    pub(super) fn set_shape(&mut self, index: usize, tensor: &ModelTensor, shape: &[usize]) -> Result<()> {
        let dims: Option<Vec<i64>> = shape.iter().map(|size| i64::try_from(*size).ok()).collect();
        let rank = i32::try_from(shape.len()).ok();
        let (Some(dims), Some(rank)) = (dims, rank) else {
            return Err(Error::invalid(format!("the shape {shape:?} is too large for the library")));
        };
        let (dtype, format) = (acl_sys::aclDataType(tensor.raw_type), tensor.format.raw());
        // SAFETY: `dims` has `rank` numbers, which are copied.
        let desc = unsafe { pointer!(&*self.context, aclCreateTensorDesc(dtype, rank, dims.as_ptr(), format)) }?;
        self.shapes.push(desc);
        // SAFETY: both are live; the descriptor is destroyed after the list.
        unsafe { call!(&*self.context, aclmdlSetDatasetTensorDesc(self.raw, desc, index)) }
    }

    /// The shape that a run gave the buffer `index`; none where it says nothing.
    pub(super) fn shape(&self, index: usize) -> Result<Option<Vec<usize>>> {
        // SAFETY: a live list.
        let desc = unsafe { value!(&*self.context, aclmdlGetDatasetTensorDesc(self.raw, index)) }?;
        if desc.is_null() {
            return Ok(None);
        }
        // SAFETY: a descriptor of the list, which is there as long as that.
        let rank = unsafe { value!(&*self.context, aclGetTensorDescNumDims(desc)) }?;
        if rank > acl_sys::ACL_MAX_DIM_CNT as usize {
            // Among them the number that stands for an unknown one.
            return Ok(None);
        }
        let mut shape = Vec::new();
        for dim in 0..rank {
            let mut size = 0;
            // SAFETY: as above, and a place for one number.
            unsafe { call!(&*self.context, aclGetTensorDescDimV2(desc, dim, &raw mut size)) }?;
            let size = usize::try_from(size).map_err(|_| {
                let text = format!("the library says that size {dim} of an output is {size}");
                Error::new(ErrorKind::UnknownValue, text)
            })?;
            shape.push(size);
        }
        Ok(Some(shape))
    }

    fn tell(&self, result: Result<()>) {
        if let Err(error) = result {
            self.context.record_drop_error("destroying what a run of a model was given", error);
        }
    }
}

impl Drop for Dataset {
    fn drop(&mut self) {
        for buffer in std::mem::take(&mut self.buffers) {
            // SAFETY: the buffer is this list's own and destroyed once; no run uses it any more.
            self.tell(unsafe { call!(&*self.context, aclDestroyDataBuffer(buffer)) });
        }
        // SAFETY: as above.
        self.tell(unsafe { call!(&*self.context, aclmdlDestroyDataset(self.raw)) });
        for shape in std::mem::take(&mut self.shapes) {
            // SAFETY: as above; the call gives nothing.
            self.tell(unsafe { value!(&*self.context, aclDestroyTensorDesc(shape)) });
        }
    }
}
