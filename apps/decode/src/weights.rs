//! The weights on the device: uploaded once, never written again.

use std::path::{Path, PathBuf};

use model_files::{Dtype, WeightsFile, upload};
use racl::{Device, SharedBuffer, Tensor};

use crate::config::Config;
use crate::error::Result;
use crate::number::Number;
use crate::pack::{Place, Places};
use crate::random::Stream;

/// A tensor that every model has.
const FIRST: &str = "model.embed_tokens.weight";

/// The element type of the model in a safetensors file: that of its token embedding.
///
/// # Errors
///
/// [`Error::File`](crate::Error::File) for a file that cannot be used, or has no token embedding.
pub fn dtype_of(path: &Path) -> Result<Dtype> {
    Ok(WeightsFile::open(path)?.dtype(FIRST)?)
}

/// Where weights come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Made up, the same ones for each seed.
    Random {
        /// Any number.
        seed: u64,
    },
    /// A safetensors file with the names of Llama models.
    File(PathBuf),
}

/// Which part of the matrices a card has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
}

/// How a matrix is split among cards: each has some of its outputs, or some of its inputs, and sums of all cards are
/// the outputs then.
#[derive(Clone, Copy)]
enum Split {
    Outputs,
    Inputs,
}

/// An open [`Source`].
enum Reader {
    Random(u64),
    File(WeightsFile),
}

/// What a tensor is, which decides how large its random numbers are.
#[derive(Clone, Copy)]
enum Kind {
    Table,
    Linear,
    Norm,
}

impl Reader {
    fn open(source: Source) -> Result<Self> {
        Ok(match source {
            Source::Random { seed } => Self::Random(seed),
            Source::File(path) => Self::File(WeightsFile::open(&path)?),
        })
    }

    /// The numbers of a tensor; a linear one has the shape `[outputs, inputs]`.
    fn read<T: Number>(&mut self, name: &str, shape: &[usize], kind: Kind) -> Result<Vec<T>> {
        let seed = match self {
            Self::File(file) => return Ok(file.read(name, shape)?),
            Self::Random(seed) => *seed,
        };
        let stream = Stream::new(seed, name);
        let (middle, spread) = match kind {
            Kind::Table => (0.0, 1.0),
            // So that outputs have the variance of inputs.
            Kind::Linear => (0.0, (3.0 / shape[1] as f64).sqrt() as f32),
            Kind::Norm => (1.0, 0.25),
        };
        let elements = shape.iter().product::<usize>() as u64;
        Ok((0..elements).map(|index| T::of(middle + spread * stream.at(index))).collect())
    }
}

/// All weights that the network uses.
#[derive(Debug)]
pub(crate) struct Weights<T: Number> {
    pub(crate) words: Tensor<T>,
    /// The output projection as a matrix `[hidden, vocabulary]`.
    pub(crate) head: Tensor<T>,
    /// The last normalisation.
    pub(crate) norm: Tensor<T>,
    pub(crate) layers: Vec<Layer<T>>,
    /// Their size.
    pub(crate) bytes: usize,
}

/// The tensors of a layer, which lie in one piece of memory.
#[derive(Debug)]
pub(crate) struct Layer<T: Number> {
    /// For prefetches.
    pub(crate) memory: SharedBuffer<T>,
    pub(crate) attention_norm: Tensor<T>,
    pub(crate) qkv: Tensor<T>,
    pub(crate) attention: Tensor<T>,
    pub(crate) feed_norm: Tensor<T>,
    pub(crate) gate_up: Tensor<T>,
    pub(crate) down: Tensor<T>,
}

impl<T: Number> Weights<T> {
    /// Reads or makes the weights, tensor by tensor, and uploads a share of them, whose sizes are those of `config`.
    pub(crate) fn load(device: &Device, config: &Config, source: Source, share: Share) -> Result<Self> {
        let mut reader = Reader::open(source)?;
        let (hidden, rows) = (config.hidden, config.vocabulary);
        let words: Vec<T> = reader.read(FIRST, &[rows, hidden], Kind::Table)?;
        let words = Tensor::over(upload(device, &words)?, [rows, hidden])?;
        let head = if config.tied {
            words.transposed(0, 1)?
        } else {
            let head: Vec<T> = reader.read("lm_head.weight", &[rows, hidden], Kind::Linear)?;
            Tensor::over(upload(device, &turned(&head, hidden))?, [hidden, rows])?
        };
        let norm: Vec<T> = reader.read("model.norm.weight", &[hidden], Kind::Norm)?;
        let norm = device.upload_tensor(&norm, [hidden])?;
        let places = Places::of(config);
        let layers: Vec<_> = (0..config.layers)
            .map(|index| Layer::load(&mut reader, (index, share), &places, config, device))
            .collect::<Result<_>>()?;
        let head_elements = if config.tied { 0 } else { head.len() };
        let elements = words.len() + head_elements + norm.len() + layers.len() * places.len();
        Ok(Self { words, head, norm, layers, bytes: elements * size_of::<T>() })
    }
}

impl<T: Number> Layer<T> {
    fn load(
        reader: &mut Reader,
        (index, share): (usize, Share),
        places: &Places,
        config: &Config,
        device: &Device,
    ) -> Result<Self> {
        let mut pack = Pack { reader, index, share, data: vec![T::of(0.0); places.len()] };
        let (query, pair, wide) = (config.query_width(), config.kv_width(), config.feed_forward);
        pack.norm("input_layernorm", &places.attention_norm)?;
        pack.linear(
            &[("self_attn.q_proj", query), ("self_attn.k_proj", pair), ("self_attn.v_proj", pair)],
            &places.qkv,
            Split::Outputs,
        )?;
        pack.linear(&[("self_attn.o_proj", config.hidden)], &places.attention, Split::Inputs)?;
        pack.norm("post_attention_layernorm", &places.feed_norm)?;
        pack.linear(&[("mlp.gate_proj", wide), ("mlp.up_proj", wide)], &places.gate_up, Split::Outputs)?;
        pack.linear(&[("mlp.down_proj", config.hidden)], &places.down, Split::Inputs)?;
        let memory = upload(device, &pack.data)?.into_shared();
        let tensor = |place: &Place| Tensor::over(memory.slice(place.elements.clone())?, place.shape);
        let vector = |place: &Place| tensor(place)?.reshaped([place.shape[1]]);
        Ok(Self {
            attention_norm: vector(&places.attention_norm)?,
            qkv: tensor(&places.qkv)?,
            attention: tensor(&places.attention)?,
            feed_norm: vector(&places.feed_norm)?,
            gate_up: tensor(&places.gate_up)?,
            down: tensor(&places.down)?,
            memory,
        })
    }
}

/// The tensors of a layer on the host, one after the other.
struct Pack<'a, T> {
    reader: &'a mut Reader,
    index: usize,
    share: Share,
    data: Vec<T>,
}

impl<T: Number> Pack<'_, T> {
    /// Linear parts side by side, each with its outputs. The file has them as `[outputs, inputs]`; turned around here,
    /// they need no copy at run time. Of each the own share is taken.
    fn linear(&mut self, parts: &[(&str, usize)], place: &Place, split: Split) -> Result<()> {
        let [inputs, columns] = place.shape;
        let Share { rank, ranks } = self.share;
        let mut first = 0;
        for (name, outputs) in parts {
            let name = format!("model.layers.{}.{name}.weight", self.index);
            let (all_outputs, all_inputs) = match split {
                Split::Outputs => (outputs * ranks, inputs),
                Split::Inputs => (*outputs, inputs * ranks),
            };
            let whole = self.reader.read(&name, &[all_outputs, all_inputs], Kind::Linear)?;
            let size = inputs * outputs;
            let own = rank * size..(rank + 1) * size;
            // Outputs lie one after the other in the file, and inputs once it is turned.
            let weight = match split {
                Split::Outputs => turned(&whole[own], inputs),
                Split::Inputs => turned(&whole, all_inputs)[own].to_vec(),
            };
            let rows = self.data[place.elements.clone()].chunks_exact_mut(columns);
            for (row, from) in rows.zip(weight.chunks_exact(*outputs)) {
                row[first..first + outputs].copy_from_slice(from);
            }
            first += outputs;
        }
        Ok(())
    }

    fn norm(&mut self, name: &str, place: &Place) -> Result<()> {
        let name = format!("model.layers.{}.{name}.weight", self.index);
        let numbers: Vec<T> = self.reader.read(&name, &place.shape[1..], Kind::Norm)?;
        self.data[place.elements.clone()].copy_from_slice(&numbers);
        Ok(())
    }
}

/// The matrix with `columns` columns, transposed.
fn turned<T: Number>(matrix: &[T], columns: usize) -> Vec<T> {
    let rows = matrix.len() / columns;
    let mut out = vec![T::of(0.0); matrix.len()];
    for (row, from) in matrix.chunks_exact(columns).enumerate() {
        out.iter_mut().skip(row).step_by(rows).zip(from).for_each(|(to, from)| *to = *from);
    }
    out
}
