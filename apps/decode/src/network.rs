//! The network: the same operators for each token, on the same memory.
//!
//! Keys and values lie in a cache `[capacity, key heads · width]` for each layer. A step writes its own row there and
//! reads the first rows, as many as the bucket that it was made for has; places behind the current one do not count.

use std::collections::BTreeMap;

use racl::op::{self, RotaryForm};
use racl::{Device, Prefetch, Result, Stream, Tensor};

use crate::config::Config;
use crate::number::Number;
use crate::sequence::Sequence;
use crate::weights::{Layer, Weights};

/// Weights, cache and everything in between.
#[derive(Debug)]
pub(crate) struct Network<T: Number> {
    config: Config,
    weights: Weights<T>,
    pub(crate) sequence: Sequence,
    /// For each layer keys and values, `[capacity, key heads · width]`.
    caches: Vec<[Tensor<T>; 2]>,
    angles: Angles<T>,
    work: Work<T>,
    frames: BTreeMap<usize, Frame<T>>,
}

/// Cosines and sines of the rotary embedding.
#[derive(Debug)]
struct Angles<T: Number> {
    /// Of all places, `[capacity, width]`.
    tables: [Tensor<T>; 2],
    /// Of the current place, `[1, width]`.
    rows: [Tensor<T>; 2],
    /// `rows`, `[1, 1, 1, width]`.
    views: [Tensor<T>; 2],
}

/// What lies between the operators. Each layer uses the same memory.
#[derive(Debug)]
struct Work<T: Number> {
    hidden: Tensor<T>,
    normed: Tensor<T>,
    scale: Tensor<f32>,
    /// Query, key and value of the token.
    qkv: Tensor<T>,
    /// Of them query and key, `[1, heads + key heads, 1, width]`.
    heads: Tensor<T>,
    /// Query and key after the rotary embedding, in the same shape.
    turned: Tensor<T>,
    /// Of them the query, `[key heads, heads / key heads, width]`.
    query: Tensor<T>,
    /// The new rows of the cache: key and value, `[1, key heads · width]`.
    rows: [Tensor<T>; 2],
    context: Tensor<T>,
    /// In the shape of `query`.
    context_heads: Tensor<T>,
    added: Tensor<T>,
    gate_up: Tensor<T>,
    active: Tensor<T>,
    logits: Tensor<T>,
    /// What is added to scores of places that do not count, and of those that do.
    least: Tensor<T>,
    zero: Tensor<T>,
}

/// What depends on how many places a step reads.
#[derive(Debug)]
struct Frame<T: Number> {
    places: Tensor<i64>,
    /// 1 at the current place, `[places]`, and as a column.
    here: Tensor<u8>,
    column: Tensor<u8>,
    /// 1 at places behind the current one.
    later: Tensor<u8>,
    /// What is added to scores.
    mask: Tensor<T>,
    scores: Tensor<T>,
    shares: Tensor<T>,
    caches: Vec<Cache<T>>,
}

/// Views of the cache of a layer.
#[derive(Debug)]
struct Cache<T: Number> {
    /// Keys and values, `[places, key heads · width]`.
    rows: [Tensor<T>; 2],
    /// `[key heads, width, places]`.
    keys: Tensor<T>,
    /// `[key heads, places, width]`.
    values: Tensor<T>,
}

impl<T: Number> Network<T> {
    /// With room for steps on up to the greatest of `buckets` places.
    pub(crate) fn new(device: &Device, config: &Config, weights: Weights<T>, buckets: &[usize]) -> Result<Self> {
        let capacity = buckets.iter().copied().max().unwrap_or(1);
        let cache = || device.zeros([capacity, config.kv_width()]);
        let caches: Vec<_> = weights.layers.iter().map(|_| Ok([cache()?, cache()?])).collect::<Result<_>>()?;
        let sequence = Sequence::new(device, capacity)?;
        let frame = |places: &usize| Ok((*places, Frame::new(device, config, *places, &sequence, &caches)?));
        Ok(Self {
            config: config.clone(),
            frames: buckets.iter().map(frame).collect::<Result<_>>()?,
            angles: Angles::new(device, config, capacity)?,
            work: Work::new(device, config)?,
            weights,
            sequence,
            caches,
        })
    }

    pub(crate) fn weights(&self) -> &Weights<T> {
        &self.weights
    }

    /// What the last step gave for each token of the vocabulary. Blocks.
    pub(crate) fn logits(&self) -> Result<Vec<T>> {
        self.work.logits.to_vec()
    }

    /// Back to the start, with a prompt that fits. Blocks.
    pub(crate) fn start(&mut self, stream: &Stream, prompt: &[u32]) -> Result<()> {
        // What does not count is multiplied by 0, which takes a number to give 0.
        for rows in self.caches.iter().flatten() {
            stream.fill_bytes(&mut rows.buffer()?, 0)?;
        }
        self.sequence.start(prompt)
    }

    /// One token, with a cache of `places` places, which is a bucket. While a layer computes, the weights of the next
    /// one move into the L2 cache on the stream `side`, if there is one.
    pub(crate) fn step(&mut self, stream: &Stream, side: Option<&Stream>, places: usize) -> Result<()> {
        let Self { config, weights, sequence, angles, work, frames, .. } = self;
        let Some(frame) = frames.get_mut(&places) else {
            unreachable!("a step on {places} places, which is no bucket")
        };
        let ahead = Ahead { stream, side };
        ahead.layer(weights, 0)?;
        sequence.read(stream)?;
        op::embedding(stream, &weights.words, &sequence.token, &mut work.hidden)?;
        angles.look_up(stream, &sequence.position)?;
        frame.look_up(stream, &sequence.position, work)?;
        for (index, layer) in weights.layers.iter().enumerate() {
            ahead.layer(weights, index + 1)?;
            work.attend(stream, config, layer, angles, frame, index)?;
            work.feed_forward(stream, config, layer)?;
        }
        work.normalise(stream, &weights.norm, config.eps)?;
        op::mm(stream, &work.normed, &weights.head, &mut work.logits)?;
        sequence.write(stream, &work.logits)?;
        ahead.join()
    }
}

/// Prefetches on a side stream.
struct Ahead<'a> {
    stream: &'a Stream,
    side: Option<&'a Stream>,
}

impl Ahead<'_> {
    /// The weights of a layer, from when the stream gets here; behind the last layer the output projection.
    fn layer<T: Number>(&self, weights: &Weights<T>, index: usize) -> Result<()> {
        let Some(side) = self.side else { return Ok(()) };
        self.stream.fork(side)?;
        match weights.layers.get(index) {
            Some(layer) => side.prefetch(&layer.memory, Prefetch::all())?,
            None => side.prefetch(&weights.head, Prefetch::all())?,
        };
        Ok(())
    }

    fn join(&self) -> Result<()> {
        self.side.map_or(Ok(()), |side| self.stream.join(side))
    }
}

impl<T: Number> Angles<T> {
    fn new(device: &Device, config: &Config, capacity: usize) -> Result<Self> {
        let width = config.head;
        let table = |of: fn(f64) -> f64| {
            let angle = |place: usize, i: usize| {
                let frequency = config.theta.powf(-((2 * (i % (width / 2))) as f64) / width as f64);
                T::of(of(place as f64 * frequency) as f32)
            };
            let numbers: Vec<T> = (0..capacity)
                .flat_map(|place| (0..width).map(move |i| (place, i)))
                .map(|(p, i)| angle(p, i))
                .collect();
            device.upload_tensor(&numbers, [capacity, width])
        };
        let rows = [device.zeros([1, width])?, device.zeros([1, width])?];
        let [cos, sin] = &rows;
        let views = [cos.reshaped([1, 1, 1, width])?, sin.reshaped([1, 1, 1, width])?];
        Ok(Self { tables: [table(f64::cos)?, table(f64::sin)?], rows, views })
    }

    fn look_up(&mut self, stream: &Stream, position: &Tensor<i64>) -> Result<()> {
        self.tables
            .iter()
            .zip(&mut self.rows)
            .try_for_each(|(table, row)| op::embedding(stream, table, position, row))
    }
}

impl<T: Number> Frame<T> {
    fn new(
        device: &Device,
        config: &Config,
        places: usize,
        sequence: &Sequence,
        caches: &[[Tensor<T>; 2]],
    ) -> Result<Self> {
        let scores = [config.kv_heads, config.heads / config.kv_heads, places];
        let here = device.zeros([places])?;
        let cache = |[keys, values]: &[Tensor<T>; 2]| {
            let rows = [keys.narrow(0, 0..places)?, values.narrow(0, 0..places)?];
            let heads = |rows: &Tensor<T>| rows.reshaped([places, config.kv_heads, config.head])?.transposed(0, 1);
            Ok(Cache { keys: heads(&rows[0])?.transposed(1, 2)?, values: heads(&rows[1])?, rows })
        };
        Ok(Self {
            places: sequence.places.narrow(0, 0..places)?,
            column: here.reshaped([places, 1])?,
            here,
            later: device.zeros([places])?,
            mask: device.zeros([places])?,
            scores: device.zeros(scores)?,
            shares: device.zeros(scores)?,
            caches: caches.iter().map(cache).collect::<Result<_>>()?,
        })
    }

    /// Which place is the current one, and which do not count.
    fn look_up(&mut self, stream: &Stream, position: &Tensor<i64>, work: &Work<T>) -> Result<()> {
        op::equal(stream, &self.places, position, &mut self.here)?;
        op::greater(stream, &self.places, position, &mut self.later)?;
        op::select(stream, &self.later, &work.least, &work.zero, &mut self.mask)
    }
}

impl<T: Number> Work<T> {
    fn new(device: &Device, config: &Config) -> Result<Self> {
        let (query, pair, width) = (config.query_width(), config.kv_width(), config.head);
        let (heads, groups) = (config.heads, [config.kv_heads, config.heads / config.kv_heads, width]);
        let both = [1, heads + config.kv_heads, 1, width];
        let vector = |width: usize| device.zeros::<T>([1, width]);
        let part = |whole: &Tensor<T>, from: usize, to: usize| whole.reshaped([whole.len()])?.narrow(0, from..to);
        let (qkv, turned, context) = (vector(query + 2 * pair)?, device.zeros(both)?, vector(query)?);
        let rows = [part(&turned, query, query + pair)?, part(&qkv, query + pair, query + 2 * pair)?];
        let [key, value] = &rows;
        Ok(Self {
            hidden: vector(config.hidden)?,
            normed: vector(config.hidden)?,
            scale: device.zeros([1, 1])?,
            heads: part(&qkv, 0, query + pair)?.reshaped(both)?,
            query: part(&turned, 0, query)?.reshaped(groups)?,
            rows: [key.reshaped([1, pair])?, value.reshaped([1, pair])?],
            context_heads: context.reshaped(groups)?,
            qkv,
            turned,
            context,
            added: vector(config.hidden)?,
            gate_up: vector(2 * config.feed_forward)?,
            active: vector(config.feed_forward)?,
            logits: vector(config.vocabulary)?,
            least: device.upload_tensor(&[T::LEAST], [1])?,
            zero: device.zeros([1])?,
        })
    }

    fn normalise(&mut self, stream: &Stream, weight: &Tensor<T>, eps: f64) -> Result<()> {
        op::rms_norm(stream, &self.hidden, weight, eps, &mut self.normed, &mut self.scale)
    }

    fn attend(
        &mut self,
        stream: &Stream,
        config: &Config,
        layer: &Layer<T>,
        angles: &Angles<T>,
        frame: &mut Frame<T>,
        index: usize,
    ) -> Result<()> {
        self.normalise(stream, &layer.attention_norm, config.eps)?;
        op::mm(stream, &self.normed, &layer.qkv, &mut self.qkv)?;
        let [cos, sin] = &angles.views;
        op::rotary_embedding(stream, &self.heads, cos, sin, RotaryForm::Halves, &mut self.turned)?;
        let Frame { column, mask, scores, shares, caches, .. } = frame;
        let cache = &caches[index];
        for (rows, row) in cache.rows.iter().zip(&self.rows) {
            op::select(stream, column, row, rows, &mut rows.clone())?;
        }
        op::batch_matmul(stream, &self.query, &cache.keys, scores)?;
        let scale = T::of((1.0 / (config.head as f64).sqrt()) as f32);
        op::add_scaled(stream, mask, scores, scale, &mut scores.clone())?;
        op::softmax(stream, scores, -1, shares)?;
        op::batch_matmul(stream, shares, &cache.values, &mut self.context_heads)?;
        op::mm(stream, &self.context, &layer.attention, &mut self.added)?;
        op::add_inplace(stream, &mut self.hidden, &self.added)
    }

    fn feed_forward(&mut self, stream: &Stream, config: &Config, layer: &Layer<T>) -> Result<()> {
        self.normalise(stream, &layer.feed_norm, config.eps)?;
        op::mm(stream, &self.normed, &layer.gate_up, &mut self.gate_up)?;
        op::swiglu(stream, &self.gate_up, -1, &mut self.active)?;
        op::mm(stream, &self.active, &layer.down, &mut self.added)?;
        op::add_inplace(stream, &mut self.hidden, &self.added)
    }
}
