//! What a model takes and gives.

use std::fmt;

use acl_sys::aclFormat;

use crate::error::{Error, Result};
use crate::op::DataType;

/// The inputs and outputs of an offline model, and the sizes that it was built for. Read once, when the model is loaded
/// ([`Model::description`](crate::Model::description)), or without loading it:
/// [`Context::describe_model`](crate::Context::describe_model).
///
/// # Examples
///
/// ```
/// # let file = racl::mock::ModelFile::example();
/// let device = racl::Acl::mock()?.device(0)?;
/// let model = device.context().load_model_bytes(file)?;
/// let about = model.description();
/// let x = &about.inputs()[0];
/// assert_eq!((x.name(), x.data_type(), x.sizes()), ("x", Some(racl::op::DataType::F32), &[None, Some(3)][..]));
/// assert_eq!(*about.gears(), racl::ModelGears::Batch(vec![1, 2, 4]));
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(alias = "aclmdlDesc")]
pub struct ModelDescription {
    pub(super) inputs: Vec<ModelTensor>,
    pub(super) outputs: Vec<ModelTensor>,
    pub(super) gears: ModelGears,
    /// The input that tells the choice of a gear: its index for the library, and its bytes.
    pub(super) choice: Option<(usize, usize)>,
    /// The inputs that are parameters of image preprocessing: their indices for the library, and their bytes.
    pub(super) parameters: Vec<(usize, usize)>,
}

impl ModelDescription {
    /// What a run has to be given, in the order of the model. The inputs by which the library is told of a gear and of image
    /// preprocessing are not among them: this crate fills them.
    #[must_use]
    #[doc(alias = "aclmdlGetNumInputs")]
    pub fn inputs(&self) -> &[ModelTensor] {
        &self.inputs
    }

    /// What a run writes, in the order of the model.
    #[must_use]
    #[doc(alias = "aclmdlGetNumOutputs")]
    pub fn outputs(&self) -> &[ModelTensor] {
        &self.outputs
    }

    /// The input of this name.
    #[must_use]
    #[doc(alias = "aclmdlGetInputIndexByName")]
    pub fn input(&self, name: &str) -> Option<&ModelTensor> {
        self.inputs.iter().find(|input| input.name == name)
    }

    /// The output of this name.
    #[must_use]
    #[doc(alias = "aclmdlGetOutputIndexByName")]
    pub fn output(&self, name: &str) -> Option<&ModelTensor> {
        self.outputs.iter().find(|output| output.name == name)
    }

    /// Whether a run has to say what is made of images ([`ModelRun::preprocessing`](crate::ModelRun::preprocessing)).
    #[must_use]
    #[doc(alias = "ACL_DYNAMIC_AIPP_NAME")]
    pub fn takes_preprocessing(&self) -> bool {
        !self.parameters.is_empty()
    }

    /// Which input it is for the library, which counts those that this crate fills.
    pub(super) fn place_of_input(&self, index: usize) -> usize {
        let mut own: Vec<_> = self.parameters.iter().chain(&self.choice).map(|(place, _)| *place).collect();
        own.sort_unstable();
        own.into_iter().fold(index, |at, place| at + usize::from(place <= at))
    }

    /// The sizes among which each run chooses one.
    #[must_use]
    pub fn gears(&self) -> &ModelGears {
        &self.gears
    }
}

/// The sizes that a model with open ones was built for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelGears {
    /// There is nothing to choose: every size is fixed, or any may be given.
    None,
    /// Numbers of samples: [`ModelRun::batch`](crate::ModelRun::batch).
    #[doc(alias = "aclmdlGetDynamicBatch")]
    Batch(Vec<usize>),
    /// Heights and widths of images: [`ModelRun::image_size`](crate::ModelRun::image_size).
    #[doc(alias = "aclmdlGetDynamicHW")]
    ImageSize(Vec<(usize, usize)>),
    /// Every size of all inputs in a row: [`ModelRun::dims`](crate::ModelRun::dims).
    #[doc(alias = "aclmdlGetInputDynamicDims")]
    Dims(Vec<Vec<usize>>),
}

/// An input or an output of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelTensor {
    pub(super) name: String,
    pub(super) data_type: Option<DataType>,
    pub(super) raw_type: i32,
    pub(super) format: ModelFormat,
    pub(super) sizes: Option<Vec<Option<usize>>>,
    pub(super) ranges: Vec<(usize, Option<usize>)>,
    pub(super) bytes: Option<usize>,
}

impl ModelTensor {
    /// Its name in the model.
    #[must_use]
    #[doc(alias = "aclmdlGetInputNameByIndex")]
    #[doc(alias = "aclmdlGetOutputNameByIndex")]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of its elements; none for one that no type of this crate stands for. Such memory is given to a run as
    /// bytes: [`ModelRun::input_bytes`](crate::ModelRun::input_bytes).
    #[must_use]
    #[doc(alias = "aclmdlGetInputDataType")]
    #[doc(alias = "aclmdlGetOutputDataType")]
    pub fn data_type(&self) -> Option<DataType> {
        self.data_type
    }

    /// The runtime's number of the type.
    #[must_use]
    #[doc(alias = "aclDataType")]
    pub fn raw_data_type(&self) -> i32 {
        self.raw_type
    }

    /// How its elements lie in memory.
    #[must_use]
    #[doc(alias = "aclmdlGetInputFormat")]
    #[doc(alias = "aclmdlGetOutputFormat")]
    pub fn format(&self) -> ModelFormat {
        self.format
    }

    /// Its sizes in elements, none for one that only a run decides. Nothing at all where not even their number is known
    /// ([`ModelTensor::has_known_rank`]).
    #[must_use]
    #[doc(alias = "aclmdlGetInputDims")]
    #[doc(alias = "aclmdlGetOutputDims")]
    pub fn sizes(&self) -> &[Option<usize>] {
        self.sizes.as_deref().unwrap_or_default()
    }

    /// Whether it is known how many sizes there are.
    #[must_use]
    pub fn has_known_rank(&self) -> bool {
        self.sizes.is_some()
    }

    /// The shape, where a run decides nothing of it.
    #[must_use]
    pub fn shape(&self) -> Option<Vec<usize>> {
        self.sizes.as_ref()?.iter().copied().collect()
    }

    /// Least and greatest size of each dimension of an input, none for no limit. Empty where the model does not say.
    #[must_use]
    #[doc(alias = "aclmdlGetInputDimsRange")]
    pub fn ranges(&self) -> &[(usize, Option<usize>)] {
        &self.ranges
    }

    /// Bytes that are always enough; none where nothing limits them.
    #[must_use]
    #[doc(alias = "aclmdlGetInputSizeByIndex")]
    #[doc(alias = "aclmdlGetOutputSizeByIndex")]
    pub fn size_bytes(&self) -> Option<usize> {
        self.bytes
    }

    /// Bytes that memory for it has at least: with `shape` where a run decides that, 0 as long as nobody knows it.
    /// Where there is nothing to decide, or the type is not known, those that the library asks for.
    pub(super) fn need(&self, shape: Option<&[usize]>) -> Result<usize> {
        let fixed = self.shape();
        let shape = shape.or(fixed.as_deref());
        let says = |text: String| Error::invalid(format!("{:?} of the model: {text}", self.name));
        let Some(data_type) = self.data_type else {
            let empty = shape.is_some_and(|shape| shape.contains(&0)).then_some(0);
            let number = self.raw_type;
            return self.bytes.or(empty).ok_or_else(|| {
                says(format!("nobody knows how many bytes it needs, of the type with the number {number}"))
            });
        };
        let Some(shape) = shape else { return Ok(0) };
        let counted = shape.iter().try_fold(data_type.size(), |bytes, size| bytes.checked_mul(*size));
        let counted = counted.ok_or_else(|| says(format!("the shape {shape:?} is larger than any memory")))?;
        Ok(counted.max(if fixed.is_some() { self.bytes.unwrap_or(0) } else { 0 }))
    }

    /// Whether a run has to say its shape.
    pub(super) fn is_open(&self) -> bool {
        self.shape().is_none()
    }

    /// Why `shape` cannot be that of a run.
    pub(super) fn misfit(&self, shape: &[usize]) -> Option<String> {
        let sizes = self.sizes.as_ref()?;
        if sizes.len() != shape.len() {
            return Some(format!("{} sizes, where the model has {}", shape.len(), sizes.len()));
        }
        let of_dim = |dim: usize| {
            let (given, (least, most)) = (shape[dim], self.ranges.get(dim).copied().unwrap_or((0, None)));
            match sizes[dim] {
                Some(size) => (size != given).then(|| format!("size {dim} is {given}, where the model has {size}")),
                None if given < least || most.is_some_and(|most| given > most) => {
                    let most = most.map_or_else(|| "any number".to_owned(), |most| most.to_string());
                    Some(format!("size {dim} is {given}, where the model takes {least} to {most}"))
                }
                None => None,
            }
        };
        (0..shape.len()).find_map(of_dim)
    }
}

/// How the elements of a tensor lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "aclFormat")]
pub enum ModelFormat {
    /// The model does not say.
    Undefined,
    /// Any number of dimensions, the last one dense.
    Nd,
    /// Images: samples, channels, height, width.
    Nchw,
    /// Images: samples, height, width, channels.
    Nhwc,
    /// Filters: height, width, input channels, output channels.
    Hwcn,
    /// Images whose channels are split into blocks.
    Nc1hwc0,
    /// Filters in the blocks of the matrix unit.
    FractalZ,
    /// Matrices in the blocks of the matrix unit.
    FractalNz,
    /// Volumes: samples, channels, depth, height, width.
    Ncdhw,
    /// Volumes: samples, depth, height, width, channels.
    Ndhwc,
    /// Samples and channels.
    Nc,
    /// Samples, channels, length.
    Ncl,
    /// Another one, by the runtime's number.
    Other(i32),
}

impl ModelFormat {
    pub(super) fn of_raw(raw: aclFormat) -> Self {
        match raw {
            aclFormat::ACL_FORMAT_UNDEFINED => Self::Undefined,
            aclFormat::ACL_FORMAT_ND => Self::Nd,
            aclFormat::ACL_FORMAT_NCHW => Self::Nchw,
            aclFormat::ACL_FORMAT_NHWC => Self::Nhwc,
            aclFormat::ACL_FORMAT_HWCN => Self::Hwcn,
            aclFormat::ACL_FORMAT_NC1HWC0 => Self::Nc1hwc0,
            aclFormat::ACL_FORMAT_FRACTAL_Z => Self::FractalZ,
            aclFormat::ACL_FORMAT_FRACTAL_NZ => Self::FractalNz,
            aclFormat::ACL_FORMAT_NCDHW => Self::Ncdhw,
            aclFormat::ACL_FORMAT_NDHWC => Self::Ndhwc,
            aclFormat::ACL_FORMAT_NC => Self::Nc,
            aclFormat::ACL_FORMAT_NCL => Self::Ncl,
            aclFormat(number) => Self::Other(number),
        }
    }

    /// The runtime's number.
    pub(super) fn raw(self) -> aclFormat {
        match self {
            Self::Undefined => aclFormat::ACL_FORMAT_UNDEFINED,
            Self::Nd => aclFormat::ACL_FORMAT_ND,
            Self::Nchw => aclFormat::ACL_FORMAT_NCHW,
            Self::Nhwc => aclFormat::ACL_FORMAT_NHWC,
            Self::Hwcn => aclFormat::ACL_FORMAT_HWCN,
            Self::Nc1hwc0 => aclFormat::ACL_FORMAT_NC1HWC0,
            Self::FractalZ => aclFormat::ACL_FORMAT_FRACTAL_Z,
            Self::FractalNz => aclFormat::ACL_FORMAT_FRACTAL_NZ,
            Self::Ncdhw => aclFormat::ACL_FORMAT_NCDHW,
            Self::Ndhwc => aclFormat::ACL_FORMAT_NDHWC,
            Self::Nc => aclFormat::ACL_FORMAT_NC,
            Self::Ncl => aclFormat::ACL_FORMAT_NCL,
            Self::Other(number) => aclFormat(number),
        }
    }
}

/// Bytes that a model needs on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelSize {
    /// For what its operators give to each other; 0 where each run takes what it needs.
    pub work: usize,
    /// For its weights.
    pub weights: usize,
}

impl fmt::Display for ModelSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of weights and {} of work memory", self.weights, self.work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(data_type: Option<DataType>, sizes: &[Option<usize>], bytes: Option<usize>) -> ModelTensor {
        let (name, sizes) = ("x".to_owned(), Some(sizes.to_vec()));
        ModelTensor { name, data_type, raw_type: 29, format: ModelFormat::Nd, sizes, ranges: Vec::new(), bytes }
    }

    #[test]
    fn memory_is_as_large_as_the_library_asks() {
        let fixed = |data_type, bytes| tensor(data_type, &[Some(2), Some(3)], bytes).need(None).unwrap();
        assert_eq!(fixed(Some(DataType::F32), None), 24);
        assert_eq!(fixed(Some(DataType::F32), Some(64)), 64, "blocks that are filled up");
        assert_eq!(fixed(None, Some(3)), 3);
        let open = tensor(Some(DataType::F32), &[None, Some(3)], Some(1200));
        assert_eq!((open.need(None).unwrap(), open.need(Some(&[2, 3])).unwrap()), (0, 24));
        let open = tensor(None, &[None, Some(3)], Some(50));
        assert_eq!((open.need(None).unwrap(), open.need(Some(&[2, 3])).unwrap()), (50, 50));
    }

    #[test]
    fn what_nobody_can_know_is_refused() {
        let says = |tensor: &ModelTensor, shape: Option<&[usize]>| tensor.need(shape).unwrap_err().to_string();
        for sizes in [[Some(2)], [None]] {
            let unknown = tensor(None, &sizes, None);
            assert!(says(&unknown, None).contains("how many bytes it needs, of the type with the number 29"));
            assert!(says(&unknown, Some(&[2])).contains("the number 29"));
            assert_eq!(unknown.need(Some(&[0])).unwrap(), 0);
        }
        let open = tensor(Some(DataType::F32), &[None, Some(4)], None);
        assert!(says(&open, Some(&[1 << 62, 4])).contains("larger than any memory"));
        let fixed = tensor(Some(DataType::F32), &[Some(usize::MAX)], Some(8));
        assert!(says(&fixed, None).contains("larger than any memory"));
    }
}
