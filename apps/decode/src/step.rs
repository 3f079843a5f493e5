//! A step with fused attention as a plan: its operators are recorded once for each bucket, and a replay tells each
//! attention how many keys there are.
//!
//! That number is part of what the operator was planned for, so its task in the graph is replaced. A plan does that
//! for operators that are told a number of the run: each attention lies in a task group behind a gate, the graph is
//! launched, and while the device works on what comes before, the attention of each layer is planned and replaced and
//! its gate opened.

use racl::op::{DataType, aclnn};
use racl::plan::{After, Bindings, Builder, Dim, Executable, Frozen, Input, OnMove, Plan, RunOptions, Value};
use racl::{Context, Prefetch, Result, Stream};

use crate::config::Config;
use crate::network::Network;
use crate::number::Number;
use crate::pack::{Place, Places};

/// What is bound once, and stays where it is.
const FIXED: Input = Input::Tracked(OnMove::Fail);

/// The graph of a bucket.
#[derive(Debug)]
pub(crate) struct Step {
    executable: Executable,
    bindings: Bindings,
}

impl Step {
    /// Records the graph for `places` places, with prefetches or without.
    pub(crate) fn record<T: Number>(
        context: &Context,
        network: &Network<T>,
        prefetches: bool,
        places: usize,
    ) -> Result<Self> {
        let plan = plan::<T>(&network.config, network.capacity(), prefetches, places)?;
        let weights = &network.weights;
        let [cos, sin] = &network.angles.tables;
        let mut frozen = Frozen::new();
        frozen = frozen.with("words", &weights.words).with("norm", &weights.norm).with("cos", cos).with("sin", sin);
        if !network.config.tied {
            frozen = frozen.with("head", &weights.head);
        }
        for (index, layer) in weights.layers.iter().enumerate() {
            frozen = frozen.with(&format!("layer {index}"), &layer.memory);
        }
        let executable = plan.executable(context, &RunOptions::new(), frozen)?;
        let mut bindings = executable.bindings();
        let sequence = &network.sequence;
        for (name, tensor) in
            [("position", &sequence.position), ("tokens", &sequence.tokens), ("prompt", &sequence.prompt)]
        {
            bindings.set(executable.input(name)?, tensor);
        }
        bindings.set(executable.input("logits")?, &network.work.logits);
        for (index, [keys, values]) in network.caches.iter().enumerate() {
            bindings.set(executable.input(&format!("keys {index}"))?, keys);
            bindings.set(executable.input(&format!("values {index}"))?, values);
        }
        let mut step = Self { executable, bindings };
        step.executable.capture(step.bindings.symbol("keys", places))?;
        Ok(step)
    }

    /// Replays the graph for `keys` keys. Does not block.
    pub(crate) fn launch(&mut self, stream: &Stream, keys: usize) -> Result<()> {
        self.executable.run(stream, self.bindings.symbol("keys", keys))
    }

    /// Operators that were replaced so far.
    pub(crate) fn updates(&self) -> u64 {
        self.executable.counters().updates
    }
}

/// What a step is recorded from.
struct Recorder<'g> {
    g: &'g Builder,
    config: &'g Config,
    dtype: DataType,
    places: usize,
    keys: Dim,
    /// Of the token.
    position: Value,
    cos: Value,
    sin: Value,
}

fn plan<T: Number>(config: &Config, capacity: usize, prefetches: bool, places: usize) -> Result<Plan> {
    Plan::build(|g| {
        let dtype = T::TYPE;
        let frozen = |name: &str, shape: [usize; 2]| g.input(name, shape, dtype, Input::Frozen);
        let number = |name: &str, count: usize| g.input(name, [count], DataType::I64, FIXED);
        let words = frozen("words", [config.vocabulary, config.hidden])?;
        let head = match config.tied {
            true => g.transpose(words, 0, 1)?,
            false => frozen("head", [config.hidden, config.vocabulary])?,
        };
        let norm = g.input("norm", [config.hidden], dtype, Input::Frozen)?;
        let angles = [frozen("cos", [capacity, config.head])?, frozen("sin", [capacity, config.head])?];
        let (position, prompt) = (number("position", 1)?, number("prompt", 1)?);
        let mut tokens = number("tokens", capacity + 1)?;
        let pack = Places::of(config);
        let layer = |index: usize| g.input(&format!("layer {index}"), [pack.len()], dtype, Input::Frozen);
        let layers: Vec<Value> = (0..config.layers).map(layer).collect::<Result<_>>()?;
        // The weights that come next move into the cache while a layer computes.
        let ahead = |index: usize, after: After<'_>| match prefetches {
            true => g.prefetch(layers.get(index).copied().unwrap_or(head), Prefetch::all(), after).map(drop),
            false => Ok(()),
        };

        ahead(0, After::Start)?;
        let token = g.embedding(g.reshape(tokens, [capacity + 1, 1])?, position)?;
        let mut hidden = g.embedding(words, g.reshape(token, [1])?)?;
        let row = |table: Value| g.reshape(g.embedding(table, position)?, [1, 1, 1, config.head]);
        let (cos, sin) = (row(angles[0])?, row(angles[1])?);
        let keys = g.number("keys", 1..=places)?;
        let step = Recorder { g, config, dtype, places, keys, position, cos, sin };
        for (index, layer) in layers.iter().enumerate() {
            ahead(index + 1, After::Value(hidden))?;
            let cache = ["keys", "values"]
                .map(|what| g.input(&format!("{what} {index}"), [capacity, config.kv_width()], dtype, FIXED));
            let [keys, values] = cache;
            hidden = step.layer(hidden, |place| step.weight(*layer, place), &pack, [keys?, values?])?;
        }
        let normed = step.normalised(hidden, norm)?;
        let logits = g.input("logits", [1, config.vocabulary], dtype, FIXED)?;
        aclnn::mm(g, &normed, &head, &mut { logits }, 0)?;
        step.go_on(logits, prompt, &mut tokens)
    })
}

impl Recorder<'_> {
    /// A tensor of a layer.
    fn weight(&self, layer: Value, place: &Place) -> Result<Value> {
        self.g.reshape(self.g.narrow(layer, 0, place.elements.clone())?, place.shape)
    }

    fn empty(&self, dims: impl racl::plan::IntoDims) -> Result<Value> {
        self.g.empty(dims, self.dtype)
    }

    fn normalised(&self, hidden: Value, weight: Value) -> Result<Value> {
        let weight = self.g.reshape(weight, [self.config.hidden])?;
        let (mut normed, mut scale) = (self.empty([1, self.config.hidden])?, self.g.empty([1, 1], DataType::F32)?);
        aclnn::rms_norm(self.g, &hidden, &weight, self.config.eps, &mut normed, &mut scale)?;
        Ok(normed)
    }

    /// What a layer makes of `hidden`; its cache gets a row.
    fn layer(
        &self,
        hidden: Value,
        weight: impl Fn(&Place) -> Result<Value>,
        pack: &Places,
        cache: [Value; 2],
    ) -> Result<Value> {
        let (g, config) = (self.g, self.config);
        let normed = self.normalised(hidden, weight(&pack.attention_norm)?)?;
        let context = self.attention(g.mm(normed, weight(&pack.qkv)?)?, cache)?;
        let hidden = g.add(hidden, g.mm(context, weight(&pack.attention)?)?)?;
        let normed = self.normalised(hidden, weight(&pack.feed_norm)?)?;
        let gate_up = g.mm(normed, weight(&pack.gate_up)?)?;
        let mut active = self.empty([1, config.feed_forward])?;
        aclnn::swi_glu(g, &gate_up, -1, &mut active)?;
        g.add(hidden, g.mm(active, weight(&pack.down)?)?)
    }

    /// Of query, key and value of the token, `[1, query + 2 · pair]`.
    fn attention(&self, qkv: Value, cache: [Value; 2]) -> Result<Value> {
        let (g, config) = (self.g, self.config);
        let (query, pair, width) = (config.query_width(), config.kv_width(), config.head);
        let flat = g.reshape(qkv, [query + 2 * pair])?;
        let both = [1, config.heads + config.kv_heads, 1, width];
        let heads = g.reshape(g.narrow(flat, 0, 0..query + pair)?, both)?;
        let mut turned = self.empty(both)?;
        aclnn::rotary_position_embedding(g, &heads, &self.cos, &self.sin, 0, &mut turned)?;
        let turned = g.reshape(turned, [query + pair])?;
        let part = |whole: Value, from: usize| g.reshape(g.narrow(whole, 0, from..from + pair)?, [1, pair]);
        let rows = [part(turned, query)?, part(flat, query + pair)?];
        let mut read = Vec::with_capacity(2);
        for (mut cache, row) in cache.into_iter().zip(rows) {
            aclnn::inplace_index_copy(g, &mut cache, 0, &self.position, &row)?;
            let rows = g.narrow(cache, 0, 0..self.places)?;
            read.push(g.reshape(rows, [1, self.places, config.kv_heads, width])?);
        }
        let q = g.reshape(g.narrow(turned, 0, 0..query)?, [1, 1, config.heads, width])?;
        let mut context = self.empty([1, 1, config.heads, width])?;
        let (heads, groups) = (config.heads as i64, config.kv_heads as i64);
        let scale = 1.0 / (width as f64).sqrt();
        let told = g.telling("actual_seq_lengths", [self.keys]);
        aclnn::incre_flash_attention(
            &told,
            &q,
            &[&read[0]],
            &[&read[1]],
            None,
            None,
            None,
            heads,
            scale,
            "BSND",
            groups,
            &mut context,
        )?;
        g.reshape(context, [1, query])
    }

    /// The likeliest token, and on to the next place.
    fn go_on(&self, logits: Value, prompt: Value, tokens: &mut Value) -> Result<()> {
        let g = self.g;
        let mut next = g.empty([1], DataType::I64)?;
        aclnn::arg_max(g, &logits, -1, false, &mut next)?;
        aclnn::inplace_adds(g, &mut { self.position }, 1_i64, 1_i64)?;
        // Inside the prompt the next token is known: what was found goes behind it then.
        let slot = g.maximum(self.position, prompt)?;
        aclnn::inplace_index_copy(g, tokens, 0, &slot, &next)
    }
}
