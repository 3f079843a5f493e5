//! Decoding: which graph a step needs, and when it is recorded.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::ValueEnum;
use racl::collective::Communicator;
use racl::plan::Buckets;
use racl::{CaptureMode, Device, ErrorKind, Graph, Prefetch, ResultExt as _, Stream};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::network::Network;
use crate::number::Number;
use crate::step::Step;
use crate::weights::{Share, Source, Weights};

/// Lengths that the cache is read to, unless others are asked for. Those beyond the model's positions are left out.
pub const DEFAULT_BUCKETS: [usize; 5] = [64, 128, 256, 512, 1024];

/// How the operators reach the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Recorded once for each bucket, then replayed with one call a token.
    #[default]
    Replay,
    /// One by one for each token.
    Eager,
}

/// How attention is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Attention {
    /// Two products and a softmax over all places of the bucket, with a mask; a replayed token is one launch.
    #[default]
    Products,
    /// One operator over the keys that there are; that number is updated in the graph before each replay.
    Fused,
}

/// How a [`Decoder`] works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How the operators reach the device.
    pub mode: Mode,
    /// How attention is computed.
    pub attention: Attention,
    /// While a layer computes, the weights of the next one move into the L2 cache.
    pub prefetch: bool,
    /// Lengths that the cache is read to; empty for [`DEFAULT_BUCKETS`].
    pub buckets: Vec<usize>,
}

impl Default for Options {
    /// Replay of products, with prefetches and [`DEFAULT_BUCKETS`].
    fn default() -> Self {
        Self { mode: Mode::Replay, attention: Attention::Products, prefetch: true, buckets: Vec::new() }
    }
}

/// A step that was recorded.
#[derive(Debug)]
enum Recorded {
    Graph(Box<Graph>),
    Updated(Box<Step>),
}

/// A model on a device, with the text that it continues.
#[derive(Debug)]
pub struct Decoder<T: Number> {
    vocabulary: usize,
    mode: Mode,
    attention: Attention,
    weight_bytes: usize,
    graphs: BTreeMap<usize, Recorded>,
    network: Network<T>,
    buckets: Buckets,
    main: Stream,
    /// Where prefetches go, if there are any.
    side: Option<Stream>,
    /// Tokens of the prompt, and steps since it was given.
    prompt: usize,
    steps: usize,
}

impl<T: Number> Decoder<T> {
    /// Reads or makes the weights and uploads them. Graphs are recorded later, see [`Decoder::prepare`].
    ///
    /// # Errors
    ///
    /// Those that say what is wrong with the file of weights; [`Error::Sizes`], [`Error::Buckets`],
    /// [`Error::Device`].
    pub fn new(device: &Device, config: &Config, source: Source, options: &Options) -> Result<Self> {
        config.check().map_err(Error::Sizes)?;
        Self::with_share(device, config, source, options, None)
    }

    /// The part of a model that a card has among those of `ranks`, of whose sizes `config` has the whole: heads and the
    /// feed-forward part are split, and each card has the embedding and the output projection. Every rank makes the same
    /// calls with the same arguments, and gets the same tokens.
    ///
    /// # Errors
    ///
    /// As [`Decoder::new`]; [`Error::Sizes`] for heads, key heads or a feed-forward part that do not divide by the number
    /// of ranks; [`Error::Parallel`] for fused attention.
    pub fn new_part(
        device: &Device,
        config: &Config,
        source: Source,
        options: &Options,
        ranks: Arc<Communicator>,
    ) -> Result<Self> {
        let config = check_parallel(config, ranks.size() as usize, options.attention)?;
        Self::with_share(device, &config, source, options, Some(ranks))
    }

    fn with_share(
        device: &Device,
        config: &Config,
        source: Source,
        options: &Options,
        ranks: Option<Arc<Communicator>>,
    ) -> Result<Self> {
        let share = ranks.as_ref().map_or(Share { rank: 0, ranks: 1 }, |ranks| Share {
            rank: ranks.rank() as usize,
            ranks: ranks.size() as usize,
        });
        let buckets = buckets(&options.buckets, config.positions)?;
        check_room::<T>(device, config, buckets.greatest())?;
        let weights = Weights::load(device, config, source, share)?;
        let (main, side) = (device.stream()?, device.stream()?);
        main.set_name("network");
        side.set_name("prefetch");
        let side = if options.prefetch && can_prefetch(&side, &weights)? { Some(side) } else { None };
        log::info!("{:.1} MB of weights on the device", weights.bytes as f64 / 1e6);
        let weight_bytes = weights.bytes;
        let network = Network::new(device, config, (options.attention, ranks), weights, buckets.sizes())?;
        Ok(Self {
            vocabulary: config.vocabulary,
            mode: options.mode,
            attention: options.attention,
            weight_bytes,
            network,
            buckets,
            graphs: BTreeMap::new(),
            main,
            side,
            prompt: 0,
            steps: 0,
        })
    }

    /// Size of the weights on the device, in bytes.
    #[must_use]
    pub fn weight_bytes(&self) -> usize {
        self.weight_bytes
    }

    /// Whether weights are prefetched: asked for, and possible.
    #[must_use]
    pub fn prefetches(&self) -> bool {
        self.side.is_some()
    }

    /// Number of graphs that were recorded.
    #[must_use]
    pub fn graphs(&self) -> usize {
        self.graphs.len()
    }

    /// Number of operators that were replaced in graphs: with [`Attention::Fused`] one for each layer and token.
    #[must_use]
    pub fn updates(&self) -> u64 {
        let updates = |recorded: &Recorded| match recorded {
            Recorded::Graph(_) => 0,
            Recorded::Updated(updated) => updated.updates(),
        };
        self.graphs.values().map(updates).sum()
    }

    /// The lengths that the cache is read to, ascending.
    #[must_use]
    pub fn buckets(&self) -> &[usize] {
        self.buckets.sizes()
    }

    /// Continues `prompt` by the `count` likeliest tokens, each after those before it, and gives them. An end mark is
    /// a token as any other. Blocks.
    ///
    /// # Errors
    ///
    /// Those of [`Decoder::start`]; [`Error::Length`] for no token, or more than the largest bucket has places for;
    /// [`Error::NotFinite`]; [`Error::Device`].
    pub fn generate(&mut self, prompt: &[u32], count: usize) -> Result<Vec<u32>> {
        self.check_prompt(prompt)?;
        let steps = self.check_length(prompt.len(), count)?;
        self.start(prompt)?;
        for _ in 0..steps {
            self.advance()?;
        }
        let tokens = self.tokens()?;
        // What is no number spreads to all later steps through the cache.
        if self.logits()?.iter().all(|x| x.is_finite()) {
            Ok(tokens[prompt.len()..].to_vec())
        } else {
            Err(Error::NotFinite)
        }
    }

    /// Records the graphs that `generate` would record on the way for so long a text. Nothing in eager mode.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] as for [`Decoder::generate`]; [`Error::Device`].
    pub fn prepare(&mut self, prompt: usize, count: usize) -> Result<()> {
        let steps = self.check_length(prompt, count)?;
        let needed = self.buckets.sizes().partition_point(|bucket| *bucket < steps) + 1;
        let sizes = self.buckets.sizes()[..needed].to_vec();
        if self.mode == Mode::Replay {
            sizes.into_iter().try_for_each(|places| self.record(places))?;
        }
        Ok(())
    }

    /// Forgets the text and begins another. Blocks.
    ///
    /// # Errors
    ///
    /// [`Error::Prompt`] for no token, or one outside the vocabulary; [`Error::Length`] for more than the largest
    /// bucket has places for; [`Error::Device`].
    pub fn start(&mut self, prompt: &[u32]) -> Result<()> {
        self.check_prompt(prompt)?;
        self.check_length(prompt.len(), 1)?;
        self.network.start(&self.main, prompt)?;
        (self.prompt, self.steps) = (prompt.len(), 0);
        Ok(())
    }

    /// Queues one step: the next token of the prompt goes through the network, or the last one that came out of it.
    /// Does not block.
    ///
    /// # Errors
    ///
    /// [`Error::Prompt`] before [`Decoder::start`]; [`Error::Length`] when the largest bucket is full;
    /// [`Error::Device`], also for work of an earlier step. When the step could not be submitted, the text is lost
    /// and has to be started again.
    pub fn advance(&mut self) -> Result<()> {
        if self.prompt == 0 {
            return Err(Error::Prompt("is missing".to_owned()));
        }
        let full = |_| Error::Length(format!("the cache is full: it has {} places", self.buckets.greatest()));
        let keys = self.steps + 1;
        let places = self.buckets.pad(keys).map_err(full)?;
        if self.mode == Mode::Replay {
            self.record(places)?;
        }
        let submitted = self.submit(places, keys);
        // Half a step may have been submitted, or one that was not told how many keys there are.
        match submitted {
            Ok(()) => self.steps = keys,
            Err(_) => self.prompt = 0,
        }
        Ok(submitted?)
    }

    fn submit(&mut self, places: usize, keys: usize) -> racl::Result<()> {
        match self.graphs.get_mut(&places) {
            None => self.network.step(&self.main, self.side.as_ref(), places, keys),
            Some(Recorded::Graph(graph)) => graph.launch(&self.main),
            Some(Recorded::Updated(updated)) => updated.launch(&self.main, keys),
        }
    }

    /// The prompt and what was generated so far. Blocks.
    ///
    /// # Errors
    ///
    /// [`Error::Device`].
    pub fn tokens(&self) -> Result<Vec<u32>> {
        let known = if self.steps < self.prompt { self.prompt } else { self.steps + 1 };
        Ok(self.network.sequence.tokens(known)?)
    }

    /// What the last step gave for each token of the vocabulary; the greatest is the next token. Blocks.
    ///
    /// # Errors
    ///
    /// [`Error::Device`].
    pub fn logits(&self) -> Result<Vec<f32>> {
        Ok(self.network.logits()?.into_iter().map(Number::wide).collect())
    }

    /// Waits for all steps.
    ///
    /// # Errors
    ///
    /// [`Error::Device`].
    pub fn wait(&self) -> Result<()> {
        Ok(self.main.synchronize()?)
    }

    fn record(&mut self, places: usize) -> Result<()> {
        if self.graphs.contains_key(&places) {
            return Ok(());
        }
        let Self { network, main, side, .. } = self;
        let recorded = match self.attention {
            Attention::Products => {
                let step = |stream: &Stream| network.step(stream, side.as_ref(), places, places);
                main.capture(CaptureMode::ThreadLocal, step).map(|graph| Recorded::Graph(Box::new(graph)))
            }
            Attention::Fused => Step::record(&main.context(), network, side.is_some(), places)
                .map(|step| Recorded::Updated(Box::new(step))),
        };
        let what = || format!("recording the graph for {places} places; --eager does without graphs");
        self.graphs.insert(places, recorded.context_with(what)?);
        log::debug!("recorded the graph for {places} places");
        Ok(())
    }

    fn check_prompt(&self, prompt: &[u32]) -> Result<()> {
        if prompt.is_empty() {
            return Err(Error::Prompt("is empty; give at least one token".to_owned()));
        }
        let vocabulary = self.vocabulary;
        match prompt.iter().find(|id| **id as usize >= vocabulary) {
            None => Ok(()),
            Some(id) => Err(Error::Prompt(format!("has token {id}, and the vocabulary ends at {}", vocabulary - 1))),
        }
    }

    /// Number of steps: the last token that comes out goes through the network no more.
    fn check_length(&self, prompt: usize, count: usize) -> Result<usize> {
        if count == 0 {
            return Err(Error::Length("0 tokens asked for; ask for at least one".to_owned()));
        }
        let (steps, greatest) = (prompt.saturating_add(count - 1), self.buckets.greatest());
        if steps <= greatest {
            return Ok(steps);
        }
        Err(Error::Length(format!(
            "a prompt of {prompt} tokens and {count} more take {steps} places of the cache, and the largest bucket \
             has {greatest}: ask for fewer, or name a larger one with --buckets"
        )))
    }
}

/// The sizes of a card's part of the model.
pub(crate) fn check_parallel(config: &Config, ranks: usize, attention: Attention) -> Result<Config> {
    config.check().map_err(Error::Sizes)?;
    if attention == Attention::Fused && ranks > 1 {
        // Its graphs come from a plan, whose builder records operators and no communication.
        return Err(Error::Parallel("takes attention by products: leave --attention fused out".to_owned()));
    }
    config.part(ranks).map_err(Error::Sizes)
}

fn buckets(asked: &[usize], positions: usize) -> Result<Buckets> {
    if let Some(size) = asked.iter().find(|size| !(1..=positions).contains(*size)) {
        return Err(Error::Buckets(format!("has {size}; the model takes from 1 to {positions} tokens")));
    }
    let default = || DEFAULT_BUCKETS.into_iter().filter(|size| *size < positions).chain([positions.min(1024)]);
    let sizes = if asked.is_empty() { default().collect() } else { asked.to_vec() };
    Buckets::new(sizes).map_err(|error| Error::Buckets(format!("cannot be used: {error}")))
}

/// That weights and cache fit, before any of them is made.
fn check_room<T: Number>(device: &Device, config: &Config, places: usize) -> Result<()> {
    let size = size_of::<T>() as u128;
    let weights = config.weights() * size;
    let cache = 2 * (config.layers * places) as u128 * config.kv_width() as u128 * size;
    let (free, _) = device.memory_info()?;
    if weights + cache <= free as u128 {
        return Ok(());
    }
    let megabytes = |bytes: u128| bytes / 1_000_000;
    Err(Error::Sizes(format!(
        "{} MB of weights and {} MB of keys and values do not fit the {} MB that the device has left",
        megabytes(weights),
        megabytes(cache),
        megabytes(free as u128)
    )))
}

/// Whether the device has prefetches: they only save time, so the network can do without.
fn can_prefetch<T: Number>(stream: &Stream, weights: &Weights<T>) -> Result<bool> {
    match stream.prefetch(&weights.norm, Prefetch::all()) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotSupported => {
            log::warn!("weights are not prefetched, since the device cannot: {error}");
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}
