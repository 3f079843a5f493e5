//! The text so far, in device memory: what changes from token to token is read and written there, so that a graph
//! does the same for each of them.

use racl::{Device, Result, Stream, Tensor, op};

use crate::number::Number;

/// Token ids and the place that comes next.
#[derive(Debug)]
pub(crate) struct Sequence {
    /// `[1]`: the place of the token that the next step reads.
    pub(crate) position: Tensor<i64>,
    /// `[capacity + 1]`: 0, 1, 2 and so on.
    pub(crate) places: Tensor<i64>,
    /// `[1]`: the token at `position`.
    pub(crate) token: Tensor<i64>,
    /// `[capacity + 1]`: the prompt, and behind it what was generated.
    pub(crate) tokens: Tensor<i64>,
    /// `tokens` as a table to look up in.
    table: Tensor<i64>,
    /// `token` as what comes out of it.
    found: Tensor<i64>,
    one: Tensor<i64>,
    /// `[1]`: tokens of the prompt.
    pub(crate) prompt: Tensor<i64>,
    next: Tensor<i64>,
    slot: Tensor<i64>,
}

impl Sequence {
    /// For up to `capacity` steps.
    pub(crate) fn new(device: &Device, capacity: usize) -> Result<Self> {
        let length = capacity + 1;
        let places: Vec<i64> = (0..length as i64).collect();
        let (tokens, token) = (device.zeros([length])?, device.zeros([1])?);
        Ok(Self {
            position: device.zeros([1])?,
            places: device.upload_tensor(&places, [length])?,
            table: tokens.reshaped([length, 1])?,
            tokens,
            found: token.reshaped([1, 1])?,
            token,
            one: device.upload_tensor(&[1], [1])?,
            prompt: device.zeros([1])?,
            next: device.zeros([1])?,
            slot: device.zeros([1])?,
        })
    }

    /// Back to the start, with a prompt that fits. Blocks.
    pub(crate) fn start(&mut self, prompt: &[u32]) -> Result<()> {
        let mut tokens: Vec<i64> = prompt.iter().map(|id| i64::from(*id)).collect();
        tokens.resize(self.tokens.len(), 0);
        self.tokens.write(&tokens)?;
        self.prompt.write(&[prompt.len() as i64])?;
        self.position.write(&[0])
    }

    /// Looks the token of this step up.
    pub(crate) fn read(&mut self, stream: &Stream) -> Result<()> {
        op::embedding(stream, &self.table, &self.position, &mut self.found)
    }

    /// Takes the likeliest token as the next one and goes on. Inside the prompt the next token is known: what was
    /// found goes behind the prompt then, where the step that ends the prompt replaces it.
    pub(crate) fn write<T: Number>(&mut self, stream: &Stream, logits: &Tensor<T>) -> Result<()> {
        op::argmax(stream, logits, -1, false, &mut self.next)?;
        op::add_inplace(stream, &mut self.position, &self.one)?;
        op::maximum(stream, &self.position, &self.prompt, &mut self.slot)?;
        op::index_copy(stream, &mut self.tokens, 0, &self.slot, &self.next)
    }

    /// The first `count` tokens. Blocks.
    pub(crate) fn tokens(&self, count: usize) -> Result<Vec<u32>> {
        let tokens = self.tokens.narrow(0, 0..count)?.to_vec()?;
        Ok(tokens.into_iter().map(|id| u32::try_from(id).unwrap_or(u32::MAX)).collect())
    }
}
