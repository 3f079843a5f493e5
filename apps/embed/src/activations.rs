//! The memory that a run computes in: one set for the longest text, seen through views of each length.
//!
//! Runs follow one another on one stream, so the graphs of all lengths share it.

use racl::{Device, DeviceBuffer, Result, Tensor};

use crate::config::Config;

/// The memory, for texts of up to the number of tokens that it was made for.
#[derive(Debug)]
pub(crate) struct Activations {
    ids: DeviceBuffer<i64>,
    mask: DeviceBuffer<f32>,
    bias: DeviceBuffer<f32>,
    hidden: DeviceBuffer<f32>,
    sum: DeviceBuffer<f32>,
    qkv: DeviceBuffer<f32>,
    scores: DeviceBuffer<f32>,
    weighed: DeviceBuffer<f32>,
    context: DeviceBuffer<f32>,
    joined: DeviceBuffer<f32>,
    up: DeviceBuffer<f32>,
    active: DeviceBuffer<f32>,
    pooled: DeviceBuffer<f32>,
    mean: DeviceBuffer<f32>,
    squares: DeviceBuffer<f32>,
    output: DeviceBuffer<f32>,
    count: DeviceBuffer<f32>,
    length: DeviceBuffer<f32>,
    norm: DeviceBuffer<f32>,
}

/// Views for texts of `n` tokens; `h` is the width of a token.
#[derive(Debug)]
pub(crate) struct Views {
    /// `[n]`, uploaded: token ids.
    pub(crate) ids: Tensor<i64>,
    pub(crate) ids_buffer: DeviceBuffer<i64>,
    /// `[1, n]`, uploaded: 1 for a token of the text, 0 for padding.
    pub(crate) mask: Tensor<f32>,
    pub(crate) mask_buffer: DeviceBuffer<f32>,
    /// `[1, n]`, scratch for the bias.
    pub(crate) shifted: Tensor<f32>,
    /// `[1, n]`, what the mask adds to attention scores: 0, or a large negative number for padding.
    pub(crate) bias: Tensor<f32>,
    /// `[n, h]`, the tokens between layers.
    pub(crate) hidden: Tensor<f32>,
    /// `[n, h]`, the tokens before a normalisation.
    pub(crate) sum: Tensor<f32>,
    /// `[n, 3 h]`
    pub(crate) qkv: Tensor<f32>,
    /// `[heads, n, h / heads]`, views of `qkv`; the key's last two dimensions are exchanged.
    pub(crate) query: Tensor<f32>,
    pub(crate) key: Tensor<f32>,
    pub(crate) value: Tensor<f32>,
    /// `[heads, n, n]`
    pub(crate) scores: Tensor<f32>,
    pub(crate) weighed: Tensor<f32>,
    /// `[heads, n, h / heads]`
    pub(crate) context: Tensor<f32>,
    /// `[n, heads, h / heads]`, and the same as `[n, h]`
    pub(crate) joined: Tensor<f32>,
    pub(crate) attended: Tensor<f32>,
    /// `[n, feed_forward]`
    pub(crate) up: Tensor<f32>,
    pub(crate) active: Tensor<f32>,
    /// `[1, h]`
    pub(crate) pooled: Tensor<f32>,
    pub(crate) mean: Tensor<f32>,
    pub(crate) squares: Tensor<f32>,
    pub(crate) output: Tensor<f32>,
    pub(crate) output_buffer: DeviceBuffer<f32>,
    /// `[1, 1]`
    pub(crate) count: Tensor<f32>,
    pub(crate) length: Tensor<f32>,
    pub(crate) norm: Tensor<f32>,
}

impl Activations {
    pub(crate) fn new(device: &Device, config: &Config, tokens: usize) -> Result<Self> {
        let floats = |elements: usize| device.alloc_zeroed::<f32>(elements);
        let (hidden, wide, pairs) = (config.hidden, config.feed_forward, config.heads * tokens * tokens);
        Ok(Self {
            ids: device.alloc_zeroed(tokens)?,
            mask: floats(tokens)?,
            bias: floats(2 * tokens)?,
            hidden: floats(tokens * hidden)?,
            sum: floats(tokens * hidden)?,
            qkv: floats(tokens * 3 * hidden)?,
            scores: floats(pairs)?,
            weighed: floats(pairs)?,
            context: floats(tokens * hidden)?,
            joined: floats(tokens * hidden)?,
            up: floats(tokens * wide)?,
            active: floats(tokens * wide)?,
            pooled: floats(hidden)?,
            mean: floats(hidden)?,
            squares: floats(hidden)?,
            output: floats(hidden)?,
            count: floats(1)?,
            length: floats(1)?,
            norm: floats(1)?,
        })
    }

    /// Views for texts of `n` tokens, at most as many as the memory was made for.
    pub(crate) fn views(&self, config: &Config, n: usize) -> Result<Views> {
        let Config { hidden, heads, feed_forward, .. } = *config;
        let head = config.head();
        let tokens = |buffer: &DeviceBuffer<f32>, width: usize| part(buffer, &[n, width]);
        let row = |buffer: &DeviceBuffer<f32>, width: usize| part(buffer, &[1, width]);
        let ids_buffer = self.ids.slice(..n)?;
        let mask_buffer = self.mask.slice(..n)?;
        let qkv = tokens(&self.qkv, 3 * hidden)?;
        // Heads of query, key and value, in this order.
        let all = qkv.reshaped([n, 3 * heads, head])?.transposed(0, 1)?;
        let joined = part(&self.joined, &[n, heads, head])?;
        Ok(Views {
            ids: Tensor::over(self.ids.slice(..n)?, [n])?,
            ids_buffer,
            mask: Tensor::over(self.mask.slice(..n)?, [1, n])?,
            mask_buffer,
            shifted: Tensor::over(self.bias.slice(n..2 * n)?, [1, n])?,
            bias: row(&self.bias, n)?,
            hidden: tokens(&self.hidden, hidden)?,
            sum: tokens(&self.sum, hidden)?,
            query: all.narrow(0, 0..heads)?,
            key: all.narrow(0, heads..2 * heads)?.transposed(1, 2)?,
            value: all.narrow(0, 2 * heads..3 * heads)?,
            qkv,
            scores: part(&self.scores, &[heads, n, n])?,
            weighed: part(&self.weighed, &[heads, n, n])?,
            context: part(&self.context, &[heads, n, head])?,
            attended: joined.reshaped([n, hidden])?,
            joined,
            up: tokens(&self.up, feed_forward)?,
            active: tokens(&self.active, feed_forward)?,
            pooled: row(&self.pooled, hidden)?,
            mean: row(&self.mean, hidden)?,
            squares: row(&self.squares, hidden)?,
            output: row(&self.output, hidden)?,
            output_buffer: self.output.slice(..)?,
            count: row(&self.count, 1)?,
            length: row(&self.length, 1)?,
            norm: row(&self.norm, 1)?,
        })
    }
}

fn part(buffer: &DeviceBuffer<f32>, shape: &[usize]) -> Result<Tensor<f32>> {
    let elements: usize = shape.iter().product();
    Tensor::over(buffer.slice(..elements)?, shape)
}
