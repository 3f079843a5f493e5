//! The network: what one run submits, whether it is executed at once or recorded.

use racl::op::{self, GeluForm, LayerNorm};
use racl::{Prefetch, Result, Stream, Tensor};

use crate::activations::Views;
use crate::weights::{Layer, Norm, Weights};

/// Added to the attention scores of padding: its weight becomes exactly 0.
const MASKED: f32 = 1e9;
/// Least length that a vector is divided by.
const LEAST_LENGTH: f32 = 1e-12;

/// Where a run submits its work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Streams<'a> {
    /// The operators.
    pub(crate) main: &'a Stream,
    /// The prefetches, where the device has them.
    pub(crate) side: Option<&'a Stream>,
}

/// Computes `v.output` from `v.ids` and `v.mask`.
///
/// While a layer computes, the weights of the next one move into the L2 cache on the side stream.
pub(crate) fn forward(weights: &Weights, v: &mut Views, streams: Streams<'_>) -> Result<()> {
    let Streams { main, side } = streams;
    let steps = weights.layers.len();
    for step in 0..=steps {
        let prefetch = side.zip(weights.layers.get(step));
        if let Some((side, next)) = prefetch {
            main.fork(side)?;
            side.prefetch(&next.memory, Prefetch::all())?;
        }
        match step {
            0 => embed(weights, v, main)?,
            _ => layer(weights, &weights.layers[step - 1], v, main)?,
        }
        if let Some((side, _)) = prefetch {
            main.join(side)?;
        }
    }
    pool(v, main)
}

fn normalise(main: &Stream, from: &Tensor<f32>, norm: &Norm, eps: f64, to: &mut Tensor<f32>) -> Result<()> {
    op::layer_norm(main, from, &LayerNorm { weight: &norm.weight, bias: &norm.bias, eps }, to)
}

/// Token, position and type of each token, and the attention bias of the padding.
fn embed(weights: &Weights, v: &mut Views, main: &Stream) -> Result<()> {
    let tables = &weights.embeddings;
    op::adds(main, &v.mask, -1.0, &mut v.shifted)?;
    op::muls(main, &v.shifted, MASKED, &mut v.bias)?;
    op::embedding(main, &tables.words, &v.ids, &mut v.sum)?;
    op::add_inplace(main, &mut v.sum, &tables.positions.narrow(0, 0..v.ids.len())?)?;
    op::add_inplace(main, &mut v.sum, &tables.kind)?;
    normalise(main, &v.sum, &tables.norm, weights.config.eps, &mut v.hidden)
}

fn layer(weights: &Weights, layer: &Layer, v: &mut Views, main: &Stream) -> Result<()> {
    let eps = weights.config.eps;
    let scale = 1.0 / (weights.config.head() as f32).sqrt();
    op::addmm(main, &layer.qkv.bias, &v.hidden, &layer.qkv.weight, &mut v.qkv)?;
    op::batch_matmul(main, &v.query, &v.key, &mut v.scores)?;
    op::add_scaled(main, &v.bias, &v.scores, scale, &mut v.weighed)?;
    op::softmax(main, &v.weighed, -1, &mut v.scores)?;
    op::batch_matmul(main, &v.scores, &v.value, &mut v.context)?;
    op::permute(main, &v.context, &[1, 0, 2], &mut v.joined)?;
    op::addmm(main, &layer.attention.bias, &v.attended, &layer.attention.weight, &mut v.sum)?;
    op::add_inplace(main, &mut v.sum, &v.hidden)?;
    normalise(main, &v.sum, &layer.attention_norm, eps, &mut v.hidden)?;

    op::addmm(main, &layer.up.bias, &v.hidden, &layer.up.weight, &mut v.up)?;
    op::gelu(main, &v.up, GeluForm::Exact, &mut v.active)?;
    op::addmm(main, &layer.down.bias, &v.active, &layer.down.weight, &mut v.sum)?;
    op::add_inplace(main, &mut v.sum, &v.hidden)?;
    normalise(main, &v.sum, &layer.norm, eps, &mut v.hidden)
}

/// The mean over the tokens of the text, scaled to length 1.
fn pool(v: &mut Views, main: &Stream) -> Result<()> {
    op::mm(main, &v.mask, &v.hidden, &mut v.pooled)?;
    op::reduce_sum(main, &v.mask, &[1], true, &mut v.count)?;
    op::div(main, &v.pooled, &v.count, &mut v.mean)?;
    op::mul(main, &v.mean, &v.mean, &mut v.squares)?;
    op::reduce_sum(main, &v.squares, &[1], true, &mut v.length)?;
    op::sqrt(main, &v.length, &mut v.norm)?;
    op::clamp_min(main, &v.norm, LEAST_LENGTH, &mut v.length)?;
    op::div(main, &v.mean, &v.length, &mut v.output)
}
