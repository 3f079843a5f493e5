//! The weights on the device: uploaded once, never written again.

use std::ops::Range;
use std::path::Path;

use model_files::{WeightsFile, aligned, upload};
use racl::{Device, SharedBuffer, Tensor};

use crate::config::Config;
use crate::error::Result;
use crate::folder;

/// The tensors that turn tokens into vectors.
#[derive(Debug)]
pub(crate) struct Embeddings {
    pub(crate) words: Tensor<f32>,
    pub(crate) positions: Tensor<f32>,
    /// Token type 0, which all tokens of a single text have.
    pub(crate) kind: Tensor<f32>,
    /// Factor and summand of the normalisation, `[2, hidden]`.
    pub(crate) norm: Tensor<f32>,
}

/// Where the tensors of a layer lie in its memory: one piece, so that one prefetch moves them. The same for each
/// layer.
#[derive(Debug)]
pub(crate) struct Places {
    /// Query, key and value side by side.
    pub(crate) qkv: Place,
    pub(crate) attention: Place,
    pub(crate) attention_norm: Place,
    pub(crate) up: Place,
    pub(crate) down: Place,
    pub(crate) norm: Place,
}

/// Elements of a weight, and of what is added: of `x · weight + bias` with `weight` of shape `[in, out]`, or of a
/// normalisation.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) weight: Range<usize>,
    pub(crate) bias: Range<usize>,
}

/// All weights that the network uses.
#[derive(Debug)]
pub(crate) struct Weights {
    pub(crate) config: Config,
    pub(crate) embeddings: Embeddings,
    /// The memory of each layer.
    pub(crate) layers: Vec<SharedBuffer<f32>>,
    pub(crate) places: Places,
    /// Their size.
    pub(crate) bytes: usize,
}

impl Weights {
    /// Reads config.json and model.safetensors in `folder`, tensor by tensor, and uploads the weights.
    pub(crate) fn load(folder: &Path, device: &Device) -> Result<Self> {
        let config = Config::load(folder)?;
        let mut file = WeightsFile::open(&folder::file(folder, "model.safetensors")?)?;
        let embeddings = Embeddings::load(&mut file, &config, device)?;
        let places = Places::of(&config);
        let layers: Vec<_> = (0..config.layers)
            .map(|index| places.load(&mut file, &format!("encoder.layer.{index}"), device))
            .collect::<Result<_>>()?;
        let tables = [&embeddings.words, &embeddings.positions, &embeddings.kind, &embeddings.norm];
        let elements = tables.iter().map(|table| table.len()).sum::<usize>()
            + layers.iter().map(|layer| layer.len()).sum::<usize>();
        Ok(Self { config, embeddings, layers, places, bytes: elements * size_of::<f32>() })
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
        let mut norm = file.read("embeddings.LayerNorm.weight", &[width])?;
        norm.extend(file.read::<f32>("embeddings.LayerNorm.bias", &[width])?);
        Ok(Self { words, positions, kind, norm: device.upload_tensor(&norm, [2, width])? })
    }
}

impl Places {
    fn of(config: &Config) -> Self {
        let (hidden, wide) = (config.hidden, config.feed_forward);
        let qkv = Place::linear(0, hidden, 3 * hidden);
        let attention = Place::linear(qkv.end(), hidden, hidden);
        let attention_norm = Place::norm(attention.end(), hidden);
        let up = Place::linear(attention_norm.end(), hidden, wide);
        let down = Place::linear(up.end(), wide, hidden);
        let norm = Place::norm(down.end(), hidden);
        Self { qkv, attention, attention_norm, up, down, norm }
    }

    /// Reads a layer and uploads it.
    fn load(&self, file: &mut WeightsFile, prefix: &str, device: &Device) -> Result<SharedBuffer<f32>> {
        let mut pack = Pack { file, prefix, data: vec![0.0; self.norm.end()] };
        pack.linear(&["attention.self.query", "attention.self.key", "attention.self.value"], &self.qkv)?;
        pack.linear(&["attention.output.dense"], &self.attention)?;
        pack.norm("attention.output.LayerNorm", &self.attention_norm)?;
        pack.linear(&["intermediate.dense"], &self.up)?;
        pack.linear(&["output.dense"], &self.down)?;
        pack.norm("output.LayerNorm", &self.norm)?;
        Ok(upload(device, &pack.data)?.into_shared())
    }
}

impl Place {
    /// From the first aligned element at or after `start`.
    fn linear(start: usize, inputs: usize, outputs: usize) -> Self {
        Self::of(start, inputs * outputs, outputs)
    }

    /// From the first aligned element at or after `start`.
    fn norm(start: usize, width: usize) -> Self {
        Self::of(start, width, width)
    }

    fn of(start: usize, weight: usize, bias: usize) -> Self {
        let weight = aligned(start, weight);
        Self { bias: aligned(weight.end, bias), weight }
    }

    fn end(&self) -> usize {
        self.bias.end
    }
}

/// The tensors of a layer on the host, one after the other.
struct Pack<'a> {
    file: &'a mut WeightsFile,
    prefix: &'a str,
    data: Vec<f32>,
}

impl Pack<'_> {
    /// Linear parts side by side. The file has each as `[out, in]`; turned around here, they need no copy at run
    /// time.
    fn linear(&mut self, names: &[&str], place: &Place) -> Result<()> {
        let columns = place.bias.len();
        let (inputs, outputs) = (place.weight.len() / columns, columns / names.len());
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
        Ok(())
    }

    fn norm(&mut self, name: &str, place: &Place) -> Result<()> {
        for (kind, range) in [("weight", &place.weight), ("bias", &place.bias)] {
            let numbers = self.file.read(&format!("{}.{name}.{kind}", self.prefix), &[range.len()])?;
            self.data[range.clone()].copy_from_slice(&numbers);
        }
        Ok(())
    }
}
