//! The weights on the device: uploaded once, never written again.

use std::ops::Range;
use std::path::Path;

use racl::{Device, DeviceBuffer, Tensor};

use crate::config::Config;
use crate::error::Result;
use crate::folder;
use crate::weights_file::WeightsFile;

/// Elements of which every tensor of a layer starts at a multiple: 512 bytes, which suits the device.
const ALIGNMENT: usize = 128;
/// Elements that an upload moves at once.
const UPLOAD_ELEMENTS: usize = 1 << 20;

/// `x · weight + bias`, with `weight` of shape `[in, out]`.
#[derive(Debug)]
pub(crate) struct Linear {
    pub(crate) weight: Tensor<f32>,
    pub(crate) bias: Tensor<f32>,
}

/// Factor and summand of a layer normalisation.
#[derive(Debug)]
pub(crate) struct Norm {
    pub(crate) weight: Tensor<f32>,
    pub(crate) bias: Tensor<f32>,
}

/// The tensors that turn tokens into vectors.
#[derive(Debug)]
pub(crate) struct Embeddings {
    pub(crate) words: Tensor<f32>,
    pub(crate) positions: Tensor<f32>,
    /// Token type 0, which all tokens of a single text have.
    pub(crate) kind: Tensor<f32>,
    pub(crate) norm: Norm,
}

/// One layer: all its tensors lie in one piece of memory, so that one prefetch moves them.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) memory: DeviceBuffer<f32>,
    /// Query, key and value side by side.
    pub(crate) qkv: Linear,
    pub(crate) attention: Linear,
    pub(crate) attention_norm: Norm,
    pub(crate) up: Linear,
    pub(crate) down: Linear,
    pub(crate) norm: Norm,
}

/// All weights that the network uses.
#[derive(Debug)]
pub(crate) struct Weights {
    pub(crate) config: Config,
    pub(crate) embeddings: Embeddings,
    pub(crate) layers: Vec<Layer>,
    /// Their size.
    pub(crate) bytes: usize,
}

impl Weights {
    /// Reads config.json and model.safetensors in `folder`, tensor by tensor, and uploads the weights.
    pub(crate) fn load(folder: &Path, device: &Device) -> Result<Self> {
        let config = Config::load(folder)?;
        let mut file = WeightsFile::open(&folder::file(folder, "model.safetensors")?)?;
        let embeddings = Embeddings::load(&mut file, &config, device)?;
        let layers: Vec<_> =
            (0..config.layers).map(|index| Layer::load(&mut file, &config, index, device)).collect::<Result<_>>()?;
        let tables = [&embeddings.words, &embeddings.positions, &embeddings.kind];
        let elements = tables.iter().map(|table| table.len()).sum::<usize>()
            + layers.iter().map(|layer| layer.memory.len()).sum::<usize>()
            + embeddings.norm.weight.len() * 2;
        Ok(Self { config, embeddings, layers, bytes: elements * size_of::<f32>() })
    }
}

impl Embeddings {
    fn load(file: &mut WeightsFile, config: &Config, device: &Device) -> Result<Self> {
        let width = config.hidden;
        let mut table = |name: &str, rows: usize| -> Result<Tensor<f32>> {
            let data = file.read(&format!("embeddings.{name}_embeddings.weight"), &[rows, width])?;
            Ok(Tensor::over(upload(device, &data)?, [rows, width])?)
        };
        let (words, positions) = (table("word", config.vocabulary)?, table("position", config.positions)?);
        let kind = table("token_type", config.types)?.narrow(0, 0..1)?;
        let weight = device.upload_tensor(&file.read("embeddings.LayerNorm.weight", &[width])?, [width])?;
        let bias = device.upload_tensor(&file.read("embeddings.LayerNorm.bias", &[width])?, [width])?;
        Ok(Self { words, positions, kind, norm: Norm { weight, bias } })
    }
}

impl Layer {
    fn load(file: &mut WeightsFile, config: &Config, index: usize, device: &Device) -> Result<Self> {
        let (hidden, wide) = (config.hidden, config.feed_forward);
        let mut pack = Pack { file, prefix: format!("encoder.layer.{index}"), data: Vec::new() };
        let qkv =
            pack.linear(&["attention.self.query", "attention.self.key", "attention.self.value"], hidden, hidden)?;
        let attention = pack.linear(&["attention.output.dense"], hidden, hidden)?;
        let attention_norm = pack.norm("attention.output.LayerNorm", hidden)?;
        let up = pack.linear(&["intermediate.dense"], hidden, wide)?;
        let down = pack.linear(&["output.dense"], wide, hidden)?;
        let norm = pack.norm("output.LayerNorm", hidden)?;
        let memory = upload(device, &pack.data)?;
        Ok(Self {
            qkv: qkv.linear(&memory)?,
            attention: attention.linear(&memory)?,
            attention_norm: attention_norm.norm(&memory)?,
            up: up.linear(&memory)?,
            down: down.linear(&memory)?,
            norm: norm.norm(&memory)?,
            memory,
        })
    }
}

/// The tensors of a layer on the host, one after the other.
struct Pack<'a> {
    file: &'a mut WeightsFile,
    prefix: String,
    data: Vec<f32>,
}

/// Where a weight and its bias lie in a pack.
struct Place {
    weight: Range<usize>,
    bias: Range<usize>,
}

impl Pack<'_> {
    fn reserve(&mut self, elements: usize) -> Range<usize> {
        let start = self.data.len().next_multiple_of(ALIGNMENT);
        self.data.resize(start + elements, 0.0);
        start..start + elements
    }

    /// Linear parts side by side. The file has each as `[out, in]`; turned around here, they need no copy at run time.
    fn linear(&mut self, names: &[&str], inputs: usize, outputs: usize) -> Result<Place> {
        let columns = names.len() * outputs;
        let place = Place { weight: self.reserve(inputs * columns), bias: self.reserve(columns) };
        for (part, name) in names.iter().enumerate() {
            let weight = self.file.read(&format!("{}.{name}.weight", self.prefix), &[outputs, inputs])?;
            let bias = self.file.read(&format!("{}.{name}.bias", self.prefix), &[outputs])?;
            let first = part * outputs;
            let rows = self.data[place.weight.clone()].chunks_exact_mut(columns);
            for (input, row) in rows.enumerate() {
                let column = weight.iter().skip(input).step_by(inputs);
                row[first..first + outputs].iter_mut().zip(column).for_each(|(to, from)| *to = *from);
            }
            self.data[place.bias.clone()][first..first + outputs].copy_from_slice(&bias);
        }
        Ok(place)
    }

    fn norm(&mut self, name: &str, width: usize) -> Result<Place> {
        let place = Place { weight: self.reserve(width), bias: self.reserve(width) };
        for (kind, range) in [("weight", &place.weight), ("bias", &place.bias)] {
            let numbers = self.file.read(&format!("{}.{name}.{kind}", self.prefix), &[width])?;
            self.data[range.clone()].copy_from_slice(&numbers);
        }
        Ok(place)
    }
}

impl Place {
    fn linear(&self, memory: &DeviceBuffer<f32>) -> Result<Linear> {
        let columns = self.bias.len();
        let weight = Tensor::over(memory.slice(self.weight.clone())?, [self.weight.len() / columns, columns])?;
        Ok(Linear { weight, bias: Tensor::over(memory.slice(self.bias.clone())?, [columns])? })
    }

    fn norm(&self, memory: &DeviceBuffer<f32>) -> Result<Norm> {
        let part = |range: &Range<usize>| Tensor::over(memory.slice(range.clone())?, [range.len()]);
        Ok(Norm { weight: part(&self.weight)?, bias: part(&self.bias)? })
    }
}

/// In pieces, so that a library which stages an upload in memory of its own needs little of it.
fn upload(device: &Device, data: &[f32]) -> Result<DeviceBuffer<f32>> {
    let buffer = device.alloc(data.len())?;
    for (index, piece) in data.chunks(UPLOAD_ELEMENTS).enumerate() {
        let start = index * UPLOAD_ELEMENTS;
        buffer.slice(start..start + piece.len())?.write(piece)?;
    }
    Ok(buffer)
}
