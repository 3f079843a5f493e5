//! Files of offline models that the mock runs, written as its documentation says (`mock-acl/docs/model-format.md`).

use crate::error::{Error, Result};
use crate::op::{DataType, Element};

/// The file of an offline model for the mock, which runs a container of its own: the kernels of a real one are for the
/// card. Tensors and operators are named; operators run in the order in which they are added.
///
/// # Examples
///
/// ```
/// use racl::mock::ModelFile;
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let file = ModelFile::new()
///     .input::<f32>("x", &[2, 2])
///     .weight("w", &[2, 2], &[1.0_f32, 0.0, 0.0, 2.0])
///     .output::<f32>("y", &[2, 2])
///     .operator("product", "MatMul", &["x", "w"], "y")
///     .bytes()?;
/// let model = device.context().load_model_bytes(file)?;
/// let x = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let mut y = device.zeros::<f32>([2, 2])?;
/// model.run().input("x", &x)?.output("y", &mut y)?.wait()?;
/// assert_eq!(y.to_vec()?, [1.0, 4.0, 3.0, 8.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct ModelFile {
    tensors: Vec<Tensor>,
    operators: Vec<Operator>,
    gears: Vec<Vec<u64>>,
    dynamic: u32,
    weights: Vec<u8>,
}

#[derive(Debug, Clone)]
struct Tensor {
    name: String,
    data_type: i32,
    format: i32,
    place: u8,
    sizes: Vec<i64>,
    ranges: Vec<(i64, i64)>,
    /// Offset and size of a weight.
    weight: Option<(u64, u64)>,
    file: Option<String>,
}

#[derive(Debug, Clone)]
struct Operator {
    name: String,
    kind: String,
    operands: Vec<String>,
    result: String,
    attributes: Vec<(String, Value)>,
}

#[derive(Debug, Clone)]
enum Value {
    Integer(i64),
    Float(f64),
    Integers(Vec<i64>),
    Text(String),
}

const INPUT: u8 = 0;
const OUTPUT: u8 = 1;
const INNER: u8 = 2;
const WEIGHT: u8 = 3;
const EXTERNAL: u8 = 4;
const ALIGN: usize = 64;
const ND: i32 = 2;
const PREPROCESSING: &str = "ascend_dynamic_aipp_data";

impl ModelFile {
    /// A model of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A small one for examples: `y` is twice `x`, rows of three f32, built for batches of 1, 2 and 4 rows.
    #[must_use]
    pub fn example() -> Vec<u8> {
        let file = Self::new().input::<f32>("x", &[-1, 3]).output::<f32>("y", &[-1, 3]).batches(&[1, 2, 4]);
        // Every name of it is there.
        file.operator("twice", "Muls", &["x"], "y").float("value", 2.0).bytes().unwrap_or_default()
    }

    /// Adds an input; a size of -1 is open.
    pub fn input<T: Element>(self, name: &str, sizes: &[i64]) -> Self {
        self.tensor(name, T::TYPE, INPUT, sizes)
    }

    /// Adds an output.
    pub fn output<T: Element>(self, name: &str, sizes: &[i64]) -> Self {
        self.tensor(name, T::TYPE, OUTPUT, sizes)
    }

    /// Adds a tensor that operators give to each other.
    pub fn inner<T: Element>(self, name: &str, sizes: &[i64]) -> Self {
        self.tensor(name, T::TYPE, INNER, sizes)
    }

    /// Adds a weight with its values.
    pub fn weight<T: Element>(mut self, name: &str, sizes: &[i64], values: &[T]) -> Self {
        self.weights.resize(self.weights.len().next_multiple_of(ALIGN), 0);
        let place = (self.weights.len() as u64, size_of_val(values) as u64);
        self.weights.extend_from_slice(bytemuck::cast_slice(values));
        self = self.tensor(name, T::TYPE, WEIGHT, sizes);
        self.last(|tensor| tensor.weight = Some(place))
    }

    /// Adds a weight that is in another file, from the byte `offset` on.
    pub fn external<T: Element>(self, name: &str, sizes: &[i64], file: &str, offset: u64) -> Self {
        let bytes = sizes.iter().product::<i64>().unsigned_abs() * size_of::<T>() as u64;
        self.tensor(name, T::TYPE, EXTERNAL, sizes).last(|tensor| {
            tensor.weight = Some((offset, bytes));
            tensor.file = Some(file.to_owned());
        })
    }

    /// Least and greatest sizes of the tensor that was added last, -1 for no limit.
    pub fn ranges(self, ranges: &[(i64, i64)]) -> Self {
        self.last(|tensor| tensor.ranges = ranges.to_vec())
    }

    /// The runtime's numbers of the type and the format of the tensor that was added last.
    pub fn raw_type(self, data_type: i32, format: i32) -> Self {
        self.last(|tensor| (tensor.data_type, tensor.format) = (data_type, format))
    }

    /// The model is built for these numbers of samples.
    pub fn batches(mut self, counts: &[u64]) -> Self {
        (self.dynamic, self.gears) = (1, counts.iter().map(|count| vec![*count]).collect());
        self
    }

    /// The model is built for images of these heights and widths.
    pub fn image_sizes(mut self, sizes: &[(u64, u64)]) -> Self {
        (self.dynamic, self.gears) = (2, sizes.iter().map(|(height, width)| vec![*height, *width]).collect());
        self
    }

    /// The model is built for these numbers in place of all open sizes of its inputs.
    pub fn open_sizes(mut self, rows: &[&[u64]]) -> Self {
        (self.dynamic, self.gears) = (3, rows.iter().map(|row| row.to_vec()).collect());
        self
    }

    /// Adds an operator, of a type that the mock's documentation lists.
    pub fn operator(mut self, name: &str, kind: &str, operands: &[&str], result: &str) -> Self {
        self.operators.push(Operator {
            name: name.to_owned(),
            kind: kind.to_owned(),
            operands: operands.iter().map(|&name| name.to_owned()).collect(),
            result: result.to_owned(),
            attributes: Vec::new(),
        });
        self
    }

    /// Adds preprocessing of so many images (dynamic AIPP): from the input `image`, u8, one image a row, to `result`, f16 or
    /// u8, whose channels are in front, or last with the attribute `channels_last` of 1. Its parameters become one more
    /// input, which each run tells ([`ModelRun::preprocessing`](crate::ModelRun::preprocessing)).
    pub fn preprocess(self, image: &str, images: u64, result: &str) -> Self {
        let before = self.tensors.iter().filter(|tensor| tensor.name.starts_with(PREPROCESSING)).count();
        let name = if before == 0 { PREPROCESSING.to_owned() } else { format!("{PREPROCESSING}_{before}") };
        // What the library has for a batch, and for each image.
        let bytes = 64 + 96 * i64::try_from(images).unwrap_or(0);
        let operator = format!("preprocess{before}");
        self.input::<u8>(&name, &[bytes]).operator(&operator, "Aipp", &[image, &name], result)
    }

    /// An attribute of the operator that was added last.
    pub fn integer(self, name: &str, value: i64) -> Self {
        self.attribute(name, Value::Integer(value))
    }

    /// An attribute of the operator that was added last.
    pub fn float(self, name: &str, value: f64) -> Self {
        self.attribute(name, Value::Float(value))
    }

    /// An attribute of the operator that was added last.
    pub fn integers(self, name: &str, values: &[i64]) -> Self {
        self.attribute(name, Value::Integers(values.to_vec()))
    }

    /// An attribute of the operator that was added last.
    pub fn text(self, name: &str, value: &str) -> Self {
        self.attribute(name, Value::Text(value.to_owned()))
    }

    /// The bytes of the file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for an operator with tensors that there are
    /// not. Everything else is for the mock to refuse.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        self.tensors.iter().for_each(|tensor| tensor.write(&mut body));
        self.gears.iter().flatten().for_each(|number| body.extend(number.to_le_bytes()));
        for operator in &self.operators {
            operator.write(&self.tensors, &mut body)?;
        }
        body.extend(&self.weights);
        let mut file = b"MOCKACLM".to_vec();
        [1_u32, 1].iter().for_each(|number| file.extend(number.to_le_bytes()));
        [body.len() as u64, checksum(&body)].iter().for_each(|number| file.extend(number.to_le_bytes()));
        for number in [self.tensors.len(), self.operators.len(), self.gears.len(), self.dynamic as usize] {
            file.extend((number as u32).to_le_bytes());
        }
        [self.weights.len() as u64, 0].iter().for_each(|number| file.extend(number.to_le_bytes()));
        file.extend(body);
        Ok(file)
    }

    fn tensor(mut self, name: &str, data_type: DataType, place: u8, sizes: &[i64]) -> Self {
        self.tensors.push(Tensor {
            name: name.to_owned(),
            data_type: data_type.raw().0,
            format: ND,
            place,
            sizes: sizes.to_vec(),
            ranges: Vec::new(),
            weight: None,
            file: None,
        });
        self
    }

    fn last(mut self, change: impl FnOnce(&mut Tensor)) -> Self {
        if let Some(tensor) = self.tensors.last_mut() {
            change(tensor);
        }
        self
    }

    fn attribute(mut self, name: &str, value: Value) -> Self {
        if let Some(operator) = self.operators.last_mut() {
            operator.attributes.push((name.to_owned(), value));
        }
        self
    }
}

impl Tensor {
    fn write(&self, to: &mut Vec<u8>) {
        text(&self.name, to);
        to.extend(self.data_type.to_le_bytes());
        to.extend(self.format.to_le_bytes());
        to.extend([self.place, self.sizes.len() as u8, u8::from(!self.ranges.is_empty())]);
        self.sizes.iter().for_each(|size| to.extend(size.to_le_bytes()));
        self.ranges.iter().flat_map(|(least, most)| [least, most]).for_each(|size| to.extend(size.to_le_bytes()));
        self.weight
            .iter()
            .flat_map(|(offset, size)| [offset, size])
            .for_each(|number| to.extend(number.to_le_bytes()));
        if let Some(file) = &self.file {
            text(file, to);
        }
    }
}

impl Operator {
    fn write(&self, tensors: &[Tensor], to: &mut Vec<u8>) -> Result<()> {
        text(&self.name, to);
        text(&self.kind, to);
        to.extend([self.operands.len() as u8, self.attributes.len() as u8]);
        for name in self.operands.iter().chain([&self.result]) {
            let index = tensors.iter().position(|tensor| tensor.name == *name);
            let missing = || Error::invalid(format!("operator {:?} has no tensor {name:?}", self.name));
            to.extend((index.ok_or_else(missing)? as u32).to_le_bytes());
        }
        for (name, value) in &self.attributes {
            text(name, to);
            match value {
                Value::Integer(value) => {
                    to.push(1);
                    to.extend(value.to_le_bytes());
                }
                Value::Float(value) => {
                    to.push(2);
                    to.extend(value.to_le_bytes());
                }
                Value::Integers(values) => {
                    to.push(3);
                    to.extend((values.len() as u32).to_le_bytes());
                    values.iter().for_each(|value| to.extend(value.to_le_bytes()));
                }
                Value::Text(value) => {
                    to.push(4);
                    text(value, to);
                }
            }
        }
        Ok(())
    }
}

fn text(value: &str, to: &mut Vec<u8>) {
    to.extend((value.len() as u16).to_le_bytes());
    to.extend(value.as_bytes());
    to.push(0);
}

/// FNV-1a.
fn checksum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
