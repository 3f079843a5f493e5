//! The network as a plan: one for every padded length, with the weights as frozen inputs.

use racl::cache::CompileCache;
use racl::op::GeluForm;
use racl::op::{
    DataType::{F32, I64},
    aclnn,
};
use racl::plan::{After, Builder, Dim, Frozen, Input, Plan, Value};
use racl::{Device, Prefetch, Result};

use crate::tokens::MAX_TOKENS;
use crate::weights::{Place, Weights};

/// Added to the attention scores of padding: its weight becomes exactly 0.
const MASKED: f32 = 1e9;
/// Least length that a vector is divided by.
const LEAST_LENGTH: f32 = 1e-12;

/// Input: `[tokens]`, token ids.
pub(crate) const IDS: &str = "ids";
/// Input: `[1, tokens]`, 1 for a token of the text, 0 for padding.
pub(crate) const MASK: &str = "mask";
/// Output: `[1, hidden]`, of length 1.
pub(crate) const EMBEDDING: &str = "embedding";

/// The memory of each weight, by the names of the plan's inputs.
pub(crate) fn frozen(weights: &Weights) -> Frozen {
    let tables = &weights.embeddings;
    let given = Frozen::new()
        .with("words", &tables.words)
        .with("positions", &tables.positions)
        .with("kind", &tables.kind)
        .with("embeddings", &tables.norm);
    weights.layers.iter().enumerate().fold(given, |given, (index, layer)| given.with(&layer_name(index), layer))
}

fn layer_name(index: usize) -> String {
    format!("layer {index}")
}

/// The name of the plan in a cache.
pub(crate) const FUNCTION: &str = "network";

/// The plan, for texts of up to [`MAX_TOKENS`] tokens: from the cache if there is one.
pub(crate) fn plan(weights: &Weights, prefetch: bool, device: &Device, cache: Option<&CompileCache>) -> Result<Plan> {
    let Some(cache) = cache else { return Plan::build(|g| build(g, weights, prefetch)) };
    // All that the plan depends on: the rest of the weights are inputs.
    let function = cache.func(FUNCTION).part("model", format!("{:?}", weights.config)).part("prefetch", prefetch);
    function.compile(device, |g| build(g, weights, prefetch))
}

/// While a layer computes, the weights of the next one move into the L2 cache on a side stream: from when the layer
/// has what it starts from.
fn build(g: &Builder, weights: &Weights, prefetch: bool) -> Result<()> {
    let tokens = g.symbol("tokens", 1..=MAX_TOKENS)?;
    let layers: Vec<Value> = weights
        .layers
        .iter()
        .enumerate()
        .map(|(index, memory)| g.input(&layer_name(index), [memory.len()], F32, Input::Frozen))
        .collect::<Result<_>>()?;
    let next = |g: &Builder, index: usize, after: After<'_>| match layers.get(index) {
        Some(memory) if prefetch => g.prefetch(*memory, Prefetch::all(), after).map(drop),
        _ => Ok(()),
    };
    next(g, 0, After::Start)?;
    let network = Network { weights, tokens };
    let mask = g.input(MASK, [Dim::from(1), tokens], F32, Input::Host)?;
    let bias = attention_bias(g, mask)?;
    let mut hidden = network.embed(g)?;
    for (index, memory) in layers.iter().enumerate() {
        next(g, index + 1, After::Value(hidden))?;
        hidden = network.layer(g, *memory, hidden, bias)?;
    }
    let embedding = pool(g, mask, hidden)?;
    g.output_to_host(EMBEDDING, embedding)
}

/// What the mask adds to attention scores: 0, or a large negative number for padding.
fn attention_bias(g: &Builder, mask: Value) -> Result<Value> {
    let shifted = g.adds(mask, -1.0)?;
    g.muls(shifted, MASKED)
}

struct Network<'a> {
    weights: &'a Weights,
    tokens: Dim,
}

impl Network<'_> {
    /// Token, position and type of each token: `[tokens, hidden]`.
    fn embed(&self, g: &Builder) -> Result<Value> {
        let config = &self.weights.config;
        let ids = g.input(IDS, [self.tokens], I64, Input::Host)?;
        let table = |name, rows| g.input(name, [rows, config.hidden], F32, Input::Frozen);
        let (words, positions) = (table("words", config.vocabulary)?, table("positions", config.positions)?);
        let (kind, norm) = (table("kind", 1)?, table("embeddings", 2)?);
        let sum = g.embedding(words, ids)?;
        let positions = g.narrow(positions, 0, Dim::from(0)..self.tokens)?;
        aclnn::add(g, &sum, &positions, 1, &mut { sum })?;
        aclnn::add(g, &sum, &kind, 1, &mut { sum })?;
        let (width, norm) = (config.hidden, g.reshape(norm, [2 * config.hidden])?);
        self.normalise(g, sum, norm, &Place { weight: 0..width, bias: width..2 * width })
    }

    fn layer(&self, g: &Builder, memory: Value, hidden: Value, bias: Value) -> Result<Value> {
        let (config, places, tokens) = (&self.weights.config, &self.weights.places, self.tokens);
        let (heads, head) = (config.heads, config.head());
        let scale = 1.0 / (head as f32).sqrt();
        // Heads of query, key and value, in this order.
        let qkv = linear(g, hidden, memory, &places.qkv)?;
        let qkv = g.reshape(qkv, [tokens, Dim::from(3 * heads), Dim::from(head)])?;
        let qkv = g.transpose(qkv, 0, 1)?;
        let query = g.narrow(qkv, 0, 0..heads)?;
        let key = g.narrow(qkv, 0, heads..2 * heads)?;
        let key = g.transpose(key, 1, 2)?;
        let value = g.narrow(qkv, 0, 2 * heads..3 * heads)?;
        let scores = g.batch_matmul(query, key)?;
        let weighed = g.add_scaled(bias, scores, scale)?;
        let scores = g.softmax(weighed, -1)?;
        let context = g.batch_matmul(scores, value)?;
        let joined = g.permute(context, &[1, 0, 2])?;
        let joined = g.reshape(joined, [tokens, Dim::from(config.hidden)])?;
        let sum = linear(g, joined, memory, &places.attention)?;
        aclnn::add(g, &sum, &hidden, 1, &mut { sum })?;
        let hidden = self.normalise(g, sum, memory, &places.attention_norm)?;

        let up = linear(g, hidden, memory, &places.up)?;
        let active = g.gelu(up, GeluForm::Exact)?;
        let sum = linear(g, active, memory, &places.down)?;
        aclnn::add(g, &sum, &hidden, 1, &mut { sum })?;
        self.normalise(g, sum, memory, &places.norm)
    }

    fn normalise(&self, g: &Builder, from: Value, memory: Value, place: &Place) -> Result<Value> {
        let weight = g.narrow(memory, 0, place.weight.clone())?;
        let bias = g.narrow(memory, 0, place.bias.clone())?;
        g.layer_norm(from, weight, bias, self.weights.config.eps)
    }
}

fn linear(g: &Builder, from: Value, memory: Value, place: &Place) -> Result<Value> {
    let columns = place.bias.len();
    let weight = g.narrow(memory, 0, place.weight.clone())?;
    let weight = g.reshape(weight, [place.weight.len() / columns, columns])?;
    let bias = g.narrow(memory, 0, place.bias.clone())?;
    g.addmm(bias, from, weight)
}

/// The mean over the tokens of the text, scaled to length 1.
fn pool(g: &Builder, mask: Value, hidden: Value) -> Result<Value> {
    let pooled = g.mm(mask, hidden)?;
    let count = g.reduce_sum(mask, &[1], true)?;
    let mean = g.div(pooled, count)?;
    let squares = g.mul(mean, mean)?;
    let length = g.reduce_sum(squares, &[1], true)?;
    let length = g.sqrt(length)?;
    let length = g.clamp_min(length, LEAST_LENGTH)?;
    g.div(mean, length)
}
