//! Reading a description from the library.

use std::ffi::{CStr, CString, c_char};
use std::sync::Arc;

use acl_sys::{aclDataType, aclmdlBatch, aclmdlDesc, aclmdlHW, aclmdlIODims, aclmdlIODimsRange};

use super::description::{ModelDescription, ModelFormat, ModelGears, ModelTensor};
use crate::call::{call, pointer, value};
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};
use crate::op::DataType;

/// The input that the library is told a gear by, and those of image preprocessing.
const CHOICE: &str = "ascend_mbatch_shape_data";
const PREPROCESSING: &str = "ascend_dynamic_aipp_data";

/// As many as there is room for of batches and of sizes of images.
const MOST_GEARS: usize = 128;

/// The size that says that the number of sizes is not known.
const UNKNOWN_RANK: i64 = -2;

/// A description of the library.
pub(super) struct Desc {
    raw: *mut aclmdlDesc,
    context: Arc<ContextInner>,
}

// SAFETY: a description is memory of the host that belongs to no thread.
unsafe impl Send for Desc {}
// SAFETY: what is read of it changes nothing, but for its model's choice of a gear, of which the model has a turn.
unsafe impl Sync for Desc {}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Input,
    Output,
}

impl Desc {
    pub(super) fn new(context: &Arc<ContextInner>) -> Result<Self> {
        // SAFETY: the call takes nothing.
        let raw = unsafe { pointer!(&**context, aclmdlCreateDesc()) }?;
        Ok(Self { raw, context: Arc::clone(context) })
    }

    pub(super) fn of_loaded(context: &Arc<ContextInner>, id: u32) -> Result<Self> {
        let desc = Self::new(context)?;
        // SAFETY: a live description and the id of a loaded model.
        unsafe { call!(&**context, aclmdlGetDesc(desc.raw, id)) }?;
        Ok(desc)
    }

    pub(super) fn of_file(context: &Arc<ContextInner>, path: &CStr) -> Result<Self> {
        let desc = Self::new(context)?;
        // SAFETY: a live description and a path that ends with a zero.
        unsafe { call!(&**context, aclmdlGetDescFromFile(desc.raw, path.as_ptr())) }?;
        Ok(desc)
    }

    pub(super) fn of_bytes(context: &Arc<ContextInner>, bytes: &[u8]) -> Result<Self> {
        let desc = Self::new(context)?;
        // SAFETY: a live description; the bytes are there for the call, and nothing of them is asked for later.
        unsafe { call!(&**context, aclmdlGetDescFromMem(desc.raw, bytes.as_ptr().cast(), bytes.len())) }?;
        Ok(desc)
    }

    /// All that is known of the model.
    pub(super) fn read(&self) -> Result<ModelDescription> {
        // SAFETY: a live description.
        let inputs = unsafe { value!(&*self.context, aclmdlGetNumInputs(self.raw)) }?;
        // SAFETY: as above.
        let outputs = unsafe { value!(&*self.context, aclmdlGetNumOutputs(self.raw)) }?;
        let mut about = ModelDescription {
            inputs: Vec::new(),
            outputs: (0..outputs).map(|index| self.tensor(Side::Output, index)).collect::<Result<_>>()?,
            gears: ModelGears::None,
            choice: None,
            parameters: Vec::new(),
        };
        for index in 0..inputs {
            let input = self.tensor(Side::Input, index)?;
            let bytes = || {
                let text = format!("the library does not say how long {:?} of the model is", input.name);
                input.bytes.ok_or_else(|| Error::new(ErrorKind::UnknownValue, text))
            };
            // Several have numbers behind the name.
            if input.name.starts_with(PREPROCESSING) {
                about.parameters.push((index, bytes()?));
            } else if input.name == CHOICE {
                (about.choice, about.gears) = (Some((index, bytes()?)), self.gears(index)?);
            } else {
                about.inputs.push(input);
            }
        }
        Ok(about)
    }

    fn tensor(&self, side: Side, index: usize) -> Result<ModelTensor> {
        let name = self.name(side, index)?;
        let raw_type = self.data_type(side, index)?;
        if raw_type == aclDataType::ACL_DT_UNDEFINED {
            return Err(Error::new(ErrorKind::UnknownValue, format!("no type is known of {name:?} of the model")));
        }
        let mut dims = no_dims();
        match side {
            // SAFETY: a live description, and a place for the sizes.
            Side::Input => unsafe { call!(&*self.context, aclmdlGetInputDims(self.raw, index, &raw mut dims)) },
            // SAFETY: as above.
            Side::Output => unsafe { call!(&*self.context, aclmdlGetOutputDims(self.raw, index, &raw mut dims)) },
        }?;
        let sizes = sizes_of(&dims, &name)?;
        let asks = side == Side::Input && sizes.as_ref().is_some_and(|sizes| sizes.contains(&None));
        let bytes = self.bytes(side, index)?;
        Ok(ModelTensor {
            data_type: DataType::of_raw(raw_type),
            raw_type: raw_type.0,
            format: self.format(side, index)?,
            ranges: if asks { self.ranges(index)? } else { Vec::new() },
            bytes: (bytes > 0).then_some(bytes),
            sizes,
            name,
        })
    }

    fn name(&self, side: Side, index: usize) -> Result<String> {
        let name = match side {
            // SAFETY: a live description.
            Side::Input => unsafe { pointer!(&*self.context, aclmdlGetInputNameByIndex(self.raw, index)) },
            // SAFETY: as above.
            Side::Output => unsafe { pointer!(&*self.context, aclmdlGetOutputNameByIndex(self.raw, index)) },
        }?;
        // SAFETY: text that ends with a zero and is there as long as the description.
        let name = unsafe { text_at(name) };
        if name.is_empty() {
            let what = if side == Side::Input { "input" } else { "output" };
            let text = format!("the library does not say what {what} {index} of the model is called");
            return Err(Error::new(ErrorKind::UnknownValue, text));
        }
        Ok(name)
    }

    fn data_type(&self, side: Side, index: usize) -> Result<aclDataType> {
        match side {
            // SAFETY: a live description.
            Side::Input => unsafe { value!(&*self.context, aclmdlGetInputDataType(self.raw, index)) },
            // SAFETY: as above.
            Side::Output => unsafe { value!(&*self.context, aclmdlGetOutputDataType(self.raw, index)) },
        }
    }

    fn format(&self, side: Side, index: usize) -> Result<ModelFormat> {
        let raw = match side {
            // SAFETY: a live description.
            Side::Input => unsafe { value!(&*self.context, aclmdlGetInputFormat(self.raw, index)) },
            // SAFETY: as above.
            Side::Output => unsafe { value!(&*self.context, aclmdlGetOutputFormat(self.raw, index)) },
        }?;
        Ok(ModelFormat::of_raw(raw))
    }

    fn bytes(&self, side: Side, index: usize) -> Result<usize> {
        match side {
            // SAFETY: a live description.
            Side::Input => unsafe { value!(&*self.context, aclmdlGetInputSizeByIndex(self.raw, index)) },
            // SAFETY: as above.
            Side::Output => unsafe { value!(&*self.context, aclmdlGetOutputSizeByIndex(self.raw, index)) },
        }
    }

    fn ranges(&self, index: usize) -> Result<Vec<(usize, Option<usize>)>> {
        let mut range = aclmdlIODimsRange { rangeCount: 0, range: [[0; 2]; 128] };
        // SAFETY: a live description, and a place for the ranges.
        unsafe { call!(&*self.context, aclmdlGetInputDimsRange(self.raw, index, &raw mut range)) }?;
        let count = range.rangeCount.min(range.range.len());
        let whole = |[least, most]: [i64; 2]| (usize::try_from(least).unwrap_or(0), usize::try_from(most).ok());
        Ok(range.range[..count].iter().copied().map(whole).collect())
    }

    /// What a model with an input for the choice was built for.
    fn gears(&self, index: usize) -> Result<ModelGears> {
        let mut batch = aclmdlBatch { batchCount: 0, batch: [0; 128] };
        // SAFETY: a live description, and a place for the numbers.
        unsafe { call!(&*self.context, aclmdlGetDynamicBatch(self.raw, &raw mut batch)) }?;
        if batch.batchCount > 0 {
            let known = &batch.batch[..batch.batchCount.min(batch.batch.len())];
            return Ok(ModelGears::Batch(known.iter().map(|count| whole(*count)).collect()));
        }
        let mut images = aclmdlHW { hwCount: 0, hw: [[0; 2]; 128] };
        // SAFETY: as above.
        unsafe { call!(&*self.context, aclmdlGetDynamicHW(self.raw, index, &raw mut images)) }?;
        if images.hwCount > 0 {
            let known = &images.hw[..images.hwCount.min(images.hw.len())];
            return Ok(ModelGears::ImageSize(known.iter().map(|[h, w]| (whole(*h), whole(*w))).collect()));
        }
        let mut count = 0;
        // SAFETY: a live description, and a place for one number; the index stands for all inputs.
        unsafe { call!(&*self.context, aclmdlGetInputDynamicGearCount(self.raw, usize::MAX, &raw mut count)) }?;
        if count == 0 {
            let text = "the library does not say which sizes the model was built for";
            return Err(Error::new(ErrorKind::UnknownValue, text));
        }
        if count > MOST_GEARS {
            return Err(Error::new(ErrorKind::UnknownValue, format!("{count} choices of sizes")));
        }
        let mut rows: Vec<_> = std::iter::repeat_with(no_dims).take(count).collect();
        // SAFETY: places for as many rows as are given.
        unsafe { call!(&*self.context, aclmdlGetInputDynamicDims(self.raw, usize::MAX, rows.as_mut_ptr(), count)) }?;
        let row_of = |row: &aclmdlIODims| {
            let count = row.dimCount.min(row.dims.len());
            row.dims[..count].iter().map(|size| usize::try_from(*size).unwrap_or(usize::MAX)).collect()
        };
        Ok(ModelGears::Dims(rows.iter().map(row_of).collect()))
    }

    /// The shape of an output with the gear that was chosen last.
    pub(super) fn current_output(&self, index: usize) -> Result<Option<Vec<usize>>> {
        let mut dims = no_dims();
        // SAFETY: a live description, and a place for the sizes.
        unsafe { call!(&*self.context, aclmdlGetCurOutputDims(self.raw, index, &raw mut dims)) }?;
        let sizes = sizes_of(&dims, "an output")?;
        Ok(sizes.and_then(|sizes| sizes.into_iter().collect()))
    }

    /// The text of an attribute; none where the operator has none.
    pub(super) fn attribute(&self, operator: &str, attribute: &str) -> Result<Option<String>> {
        let text = |text: &str| {
            CString::new(text).map_err(|error| Error::invalid("a name with a zero byte").with_source(error))
        };
        let (operator, attribute) = (text(operator)?, text(attribute)?);
        let (name, which) = (operator.as_ptr(), attribute.as_ptr());
        // SAFETY: a live description, and two texts that end with a zero.
        let found = unsafe { value!(&*self.context, aclmdlGetOpAttr(self.raw, name, which)) }?;
        // SAFETY: text that ends with a zero and is there as long as the description.
        let text = (!found.is_null()).then(|| unsafe { text_at(found) });
        // An empty one stands for an attribute that is not there, in the runtime's guide.
        Ok(text.filter(|text| !text.is_empty()))
    }
}

impl Drop for Desc {
    fn drop(&mut self) {
        // SAFETY: the description is this value's own and destroyed once.
        if let Err(error) = unsafe { call!(&*self.context, aclmdlDestroyDesc(self.raw)) } {
            self.context.record_drop_error("destroying the description of a model", error);
        }
    }
}

/// # Safety
///
/// A pointer that is not null, to text that ends with a zero and lasts for the call.
unsafe fn text_at(text: *const c_char) -> String {
    // SAFETY: this function's own condition.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

pub(super) fn no_dims() -> aclmdlIODims {
    aclmdlIODims { name: [0; 128], dimCount: 0, dims: [0; 128] }
}

fn whole(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The sizes, none for open ones; none at all where their number is open.
fn sizes_of(dims: &aclmdlIODims, name: &str) -> Result<Option<Vec<Option<usize>>>> {
    let known = dims.dims.get(..dims.dimCount).ok_or_else(|| {
        let text = format!("{} sizes of {name:?}, more than there is room for", dims.dimCount);
        Error::new(ErrorKind::UnknownValue, text)
    })?;
    if known.contains(&UNKNOWN_RANK) {
        return Ok(None);
    }
    Ok(Some(known.iter().map(|size| usize::try_from(*size).ok()).collect()))
}
