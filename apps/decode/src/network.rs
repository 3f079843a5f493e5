//! The network: the same operators for each token, on the same memory.
//!
//! Keys and values lie in a cache `[capacity, key heads · width]` for each layer. A step writes its own row there and
//! reads the first rows, as many as the bucket that it was made for has; places behind the current one do not count.

use std::collections::BTreeMap;
use std::sync::Arc;

use racl::collective::{Communicator, Reduction};
use racl::op::{self, RotaryForm};
use racl::{Device, Prefetch, Result, Stream, Tensor};

use crate::config::Config;
use crate::decoder::Attention;
use crate::number::Number;
use crate::sequence::Sequence;
use crate::weights::{Layer, Weights};

/// Weights, cache and everything in between.
#[derive(Debug)]
pub(crate) struct Network<T: Number> {
    pub(crate) config: Config,
    attention: Attention,
    /// The cards that have parts of each layer, when there are several.
    ranks: Option<Arc<Communicator>>,
    pub(crate) weights: Weights<T>,
    pub(crate) sequence: Sequence,
    /// For each layer keys and values, `[capacity, key heads · width]`.
    pub(crate) caches: Vec<[Tensor<T>; 2]>,
    pub(crate) angles: Angles<T>,
    pub(crate) work: Work<T>,
    frames: BTreeMap<usize, Frame<T>>,
}

/// Cosines and sines of the rotary embedding.
#[derive(Debug)]
pub(crate) struct Angles<T: Number> {
    /// Of all places, `[capacity, width]`.
    pub(crate) tables: [Tensor<T>; 2],
    /// Of the current place, `[1, width]`.
    rows: [Tensor<T>; 2],
    /// `rows`, `[1, 1, 1, width]`.
    views: [Tensor<T>; 2],
}

/// What lies between the operators. Each layer uses the same memory.
#[derive(Debug)]
pub(crate) struct Work<T: Number> {
    hidden: Tensor<T>,
    normed: Tensor<T>,
    scale: Tensor<f32>,
    /// Query, key and value of the token.
    qkv: Tensor<T>,
    /// Of them query and key, `[1, heads + key heads, 1, width]`.
    heads: Tensor<T>,
    /// Query and key after the rotary embedding, in the same shape.
    turned: Tensor<T>,
    /// Of them the query, `[key heads, heads / key heads, width]`, and `[1, 1, heads, width]`.
    query: Tensor<T>,
    query_row: Tensor<T>,
    /// The new rows of the cache: key and value, `[1, key heads · width]`.
    rows: [Tensor<T>; 2],
    context: Tensor<T>,
    /// In the shapes of `query` and `query_row`.
    context_heads: Tensor<T>,
    context_row: Tensor<T>,
    added: Tensor<T>,
    gate_up: Tensor<T>,
    active: Tensor<T>,
    pub(crate) logits: Tensor<T>,
    /// What is added to scores of places that do not count, and of those that do.
    least: Tensor<T>,
    zero: Tensor<T>,
}

/// What depends on how many places a step reads.
#[derive(Debug)]
struct Frame<T: Number> {
    places: Tensor<i64>,
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
    /// `[key heads, width, places]`.
    keys: Tensor<T>,
    /// `[key heads, places, width]`.
    values: Tensor<T>,
    /// Keys and values, `[1, places, key heads, width]`.
    fused: [Tensor<T>; 2],
}

impl<T: Number> Network<T> {
    /// With room for steps on up to the greatest of `buckets` places.
    pub(crate) fn new(
        device: &Device,
        config: &Config,
        (attention, ranks): (Attention, Option<Arc<Communicator>>),
        weights: Weights<T>,
        buckets: &[usize],
    ) -> Result<Self> {
        let capacity = buckets.iter().copied().max().unwrap_or(1);
        let cache = || device.zeros([capacity, config.kv_width()]);
        let caches: Vec<_> = weights.layers.iter().map(|_| Ok([cache()?, cache()?])).collect::<Result<_>>()?;
        let sequence = Sequence::new(device, capacity)?;
        let frame = |places: &usize| Ok((*places, Frame::new(device, config, *places, &sequence, &caches)?));
        Ok(Self {
            config: config.clone(),
            attention,
            ranks,
            frames: buckets.iter().map(frame).collect::<Result<_>>()?,
            angles: Angles::new(device, config, capacity)?,
            work: Work::new(device, config)?,
            weights,
            sequence,
            caches,
        })
    }

    /// Places of the cache.
    pub(crate) fn capacity(&self) -> usize {
        self.sequence.places.len() - 1
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

    /// Number of layers.
    fn layers(&self) -> usize {
        self.weights.layers.len()
    }

    /// One token, which makes `keys` of them, with a cache of `places` places, which is a bucket. While a layer
    /// computes, the weights of the next one move into the L2 cache on the stream `side`, if there is one.
    pub(crate) fn step(&mut self, stream: &Stream, side: Option<&Stream>, places: usize, keys: usize) -> Result<()> {
        for index in 0..self.layers() {
            self.between(stream, side, places, index)?;
            self.attend(stream, places, index, keys)?;
        }
        self.between(stream, side, places, self.layers())
    }

    /// What a step does in front of the attention of layer `index`, from behind that of the layer before; for the
    /// number of layers, what is behind the last one.
    fn between(&mut self, stream: &Stream, side: Option<&Stream>, places: usize, index: usize) -> Result<()> {
        let ahead = Ahead { stream, side };
        if index == 0 {
            self.begin(&ahead, places)?;
        } else {
            let layer = &self.weights.layers[index - 1];
            let ranks = self.ranks.as_deref();
            self.work.behind_attention(stream, layer, ranks)?;
            self.work.feed_forward(stream, &self.config, layer, ranks)?;
        }
        let Some(layer) = self.weights.layers.get(index) else { return self.end(&ahead) };
        ahead.layer(&self.weights, index + 1)?;
        self.work.project(stream, &self.config, layer, &self.angles)?;
        for (cache, row) in self.caches[index].iter_mut().zip(&self.work.rows) {
            op::index_copy(stream, cache, 0, &self.sequence.position, row)?;
        }
        Ok(())
    }

    fn begin(&mut self, ahead: &Ahead<'_>, places: usize) -> Result<()> {
        let Self { weights, sequence, angles, work, frames, .. } = self;
        ahead.layer(weights, 0)?;
        sequence.read(ahead.stream)?;
        op::embedding(ahead.stream, &weights.words, &sequence.token, &mut work.hidden)?;
        angles.look_up(ahead.stream, &sequence.position)?;
        match self.attention {
            Attention::Products => frame(frames, places).look_up(ahead.stream, &sequence.position, work),
            Attention::Fused => Ok(()),
        }
    }

    fn end(&mut self, ahead: &Ahead<'_>) -> Result<()> {
        let Self { config, weights, sequence, work, .. } = self;
        work.normalise(ahead.stream, &weights.norm, config.eps)?;
        op::mm(ahead.stream, &work.normed, &weights.head, &mut work.logits)?;
        sequence.write(ahead.stream, &work.logits)?;
        ahead.join()
    }

    /// The attention of layer `index`. Products find in device memory how many keys there are, and take no `keys`.
    fn attend(&mut self, stream: &Stream, places: usize, index: usize, keys: usize) -> Result<()> {
        let scale = 1.0 / (self.config.head as f64).sqrt();
        let frame = frame(&mut self.frames, places);
        match self.attention {
            Attention::Products => frame.products(stream, scale, index, &mut self.work),
            Attention::Fused => frame.fused(stream, scale, index, &mut self.work, keys),
        }
    }
}

fn frame<T: Number>(frames: &mut BTreeMap<usize, Frame<T>>, places: usize) -> &mut Frame<T> {
    let Some(frame) = frames.get_mut(&places) else { unreachable!("a step on {places} places, which is no bucket") };
    frame
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
        let cache = |[keys, values]: &[Tensor<T>; 2]| {
            let rows =
                |cache: &Tensor<T>| cache.narrow(0, 0..places)?.reshaped([1, places, config.kv_heads, config.head]);
            let heads = |rows: &Tensor<T>| rows.reshaped([places, config.kv_heads, config.head])?.transposed(0, 1);
            let (keys, values) = (rows(keys)?, rows(values)?);
            Ok(Cache { keys: heads(&keys)?.transposed(1, 2)?, values: heads(&values)?, fused: [keys, values] })
        };
        Ok(Self {
            places: sequence.places.narrow(0, 0..places)?,
            later: device.zeros([places])?,
            mask: device.zeros([places])?,
            scores: device.zeros(scores)?,
            shares: device.zeros(scores)?,
            caches: caches.iter().map(cache).collect::<Result<_>>()?,
        })
    }

    /// Which places do not count.
    fn look_up(&mut self, stream: &Stream, position: &Tensor<i64>, work: &Work<T>) -> Result<()> {
        op::greater(stream, &self.places, position, &mut self.later)?;
        op::select(stream, &self.later, &work.least, &work.zero, &mut self.mask)
    }

    /// The attention of layer `index` over all places, with a mask.
    fn products(&mut self, stream: &Stream, scale: f64, index: usize, work: &mut Work<T>) -> Result<()> {
        let Self { mask, scores, shares, caches, .. } = self;
        let cache = &caches[index];
        op::batch_matmul(stream, &work.query, &cache.keys, scores)?;
        op::add_scaled(stream, mask, scores, T::of(scale as f32), &mut scores.clone())?;
        op::softmax(stream, scores, -1, shares)?;
        op::batch_matmul(stream, shares, &cache.values, &mut work.context_heads)
    }

    /// The attention of layer `index` over the first `keys` places.
    fn fused(&self, stream: &Stream, scale: f64, index: usize, work: &mut Work<T>, keys: usize) -> Result<()> {
        let [cached, values] = &self.caches[index].fused;
        let rows = [keys as i64];
        let attention = op::Attention { key_rows: Some(&rows), ..op::Attention::new(scale) };
        op::incremental_attention(stream, &work.query_row, cached, values, None, &attention, &mut work.context_row)
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
            query_row: part(&turned, 0, query)?.reshaped([1, 1, heads, width])?,
            rows: [key.reshaped([1, pair])?, value.reshaped([1, pair])?],
            context_heads: context.reshaped(groups)?,
            context_row: context.reshaped([1, 1, heads, width])?,
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

    /// Query, key and value of the token, at its place.
    fn project(&mut self, stream: &Stream, config: &Config, layer: &Layer<T>, angles: &Angles<T>) -> Result<()> {
        self.normalise(stream, &layer.attention_norm, config.eps)?;
        op::mm(stream, &self.normed, &layer.qkv, &mut self.qkv)?;
        let [cos, sin] = &angles.views;
        op::rotary_embedding(stream, &self.heads, cos, sin, RotaryForm::Halves, &mut self.turned)
    }

    /// Adds what a part of a layer gave, of all cards that have parts of it.
    fn add(&mut self, stream: &Stream, ranks: Option<&Communicator>) -> Result<()> {
        if let Some(ranks) = ranks {
            ranks.all_reduce_in_place(stream, &mut self.added, Reduction::Sum)?;
        }
        op::add_inplace(stream, &mut self.hidden, &self.added)
    }

    fn behind_attention(&mut self, stream: &Stream, layer: &Layer<T>, ranks: Option<&Communicator>) -> Result<()> {
        op::mm(stream, &self.context, &layer.attention, &mut self.added)?;
        self.add(stream, ranks)
    }

    fn feed_forward(
        &mut self,
        stream: &Stream,
        config: &Config,
        layer: &Layer<T>,
        ranks: Option<&Communicator>,
    ) -> Result<()> {
        self.normalise(stream, &layer.feed_norm, config.eps)?;
        op::mm(stream, &self.normed, &layer.gate_up, &mut self.gate_up)?;
        op::swiglu(stream, &self.gate_up, -1, &mut self.active)?;
        op::mm(stream, &self.active, &layer.down, &mut self.added)?;
        self.add(stream, ranks)
    }
}
