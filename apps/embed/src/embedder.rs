//! Running the network: a graph for each padded length, recorded when a text first needs it.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use racl::cache::CompileCache;
use racl::plan::{Bindings, Buckets, Executable, InputId, MemoryReport, OutputId, Pool, RunOptions};
use racl::{Device, ErrorKind, Prefetch, ResultExt as _, Stream};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::network;
use crate::tokens::MAX_TOKENS;
use crate::weights::Weights;

/// The lengths that texts are padded to, in tokens.
pub const LENGTHS: [usize; 5] = [16, 32, 64, 128, MAX_TOKENS];

/// How the operators reach the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Recorded once for each length, then replayed with one call.
    #[default]
    Replay,
    /// One by one for each text.
    Eager,
}

/// The network on a device.
///
/// Texts run one after another: each call of [`Embedder::embed`] returns when its result is there.
#[derive(Debug)]
pub struct Embedder {
    mode: Mode,
    executable: Executable,
    bindings: Bindings,
    inputs: Inputs,
    output: OutputId,
    /// Those of [`LENGTHS`].
    lengths: Buckets,
    /// Lengths whose graphs were recorded.
    ready: BTreeSet<usize>,
    main: Stream,
    weights: Weights,
    plan_time: Duration,
}

/// What each text brings.
#[derive(Debug)]
struct Inputs {
    ids: InputId,
    mask: InputId,
    /// The padded ids and the mask of a text, kept for the next one.
    padded: (Vec<i64>, Vec<f32>),
}

impl Embedder {
    /// Uploads the weights in `folder` to `device`. Graphs are recorded later, see [`Embedder::prepare`].
    ///
    /// # Errors
    ///
    /// Those that say what is wrong with the files of the model; [`Error::Device`].
    pub fn load(folder: &Path, device: &Device, mode: Mode) -> Result<Self> {
        Self::open(folder, device, mode, None)
    }

    /// As [`Embedder::load`], with the plan of the network from `cache`: a start that finds it there builds nothing.
    ///
    /// # Errors
    ///
    /// Those of [`Embedder::load`].
    pub fn load_cached(folder: &Path, device: &Device, mode: Mode, cache: &CompileCache) -> Result<Self> {
        Self::open(folder, device, mode, Some(cache))
    }

    fn open(folder: &Path, device: &Device, mode: Mode, cache: Option<&CompileCache>) -> Result<Self> {
        let start = Instant::now();
        let weights = Weights::load(folder, device)?;
        let main = device.stream()?;
        main.set_name("network");
        let prefetch = can_prefetch(&main, &weights)?;
        let making = Instant::now();
        let plan = network::plan(&weights, prefetch, device, cache)?;
        let plan_time = making.elapsed();
        // Taken at once for the longest text, so that the graphs of all lengths share it.
        let arena = Pool::new(device);
        arena.reserve(plan.memory(&[MAX_TOKENS])?.peak)?;
        let options = RunOptions::new().pool(&arena).mode(match mode {
            Mode::Replay => racl::plan::Mode::Captured,
            Mode::Eager => racl::plan::Mode::Eager,
        });
        let executable = plan.executable(device, &options, network::frozen(&weights))?;
        let padded = (Vec::with_capacity(MAX_TOKENS), Vec::with_capacity(MAX_TOKENS));
        let inputs = Inputs { ids: executable.input(network::IDS)?, mask: executable.input(network::MASK)?, padded };
        let (bindings, output) = (executable.bindings(), executable.output_id(network::EMBEDDING)?);
        log::info!("{} MB of weights uploaded in {:.1?}", weights.bytes / 1_000_000, start.elapsed());
        let (lengths, ready) = (Buckets::new(LENGTHS)?, BTreeSet::new());
        Ok(Self { mode, executable, bindings, inputs, output, lengths, ready, main, weights, plan_time })
    }

    /// Sizes of the network.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.weights.config
    }

    /// Size of the weights on the device, in bytes.
    #[must_use]
    pub fn weight_bytes(&self) -> usize {
        self.weights.bytes
    }

    /// How long it took to build the plan, or to find it in a cache.
    #[must_use]
    pub fn plan_time(&self) -> Duration {
        self.plan_time
    }

    /// Number of graphs that were recorded.
    #[must_use]
    pub fn graphs(&self) -> usize {
        self.executable.graphs()
    }

    /// What a text of `tokens` tokens needs besides weights and results, and the least that any plan of it could
    /// need.
    ///
    /// # Errors
    ///
    /// [`Error::Tokens`] for none or more than [`MAX_TOKENS`]; [`Error::Device`].
    pub fn memory(&self, tokens: usize) -> Result<MemoryReport> {
        Ok(self.executable.plan().memory(&[padded(&self.lengths, tokens)?])?)
    }

    /// Does now what the first text of `tokens` tokens would otherwise wait for: records its graph and runs it once.
    /// Nothing in eager mode, or when it is done already.
    ///
    /// # Errors
    ///
    /// [`Error::Tokens`] for none or more than [`MAX_TOKENS`]; [`Error::Device`].
    pub fn prepare(&mut self, tokens: usize) -> Result<()> {
        let length = padded(&self.lengths, tokens)?;
        if self.mode == Mode::Eager || self.ready.contains(&length) {
            return Ok(());
        }
        self.run(length, &[0]).map(drop)
    }

    /// The embedding of a text of these token ids: as many numbers as a token is wide, of Euclidean norm 1.
    ///
    /// # Errors
    ///
    /// [`Error::Tokens`] for no token, more than [`MAX_TOKENS`], or one outside the vocabulary; [`Error::NotFinite`];
    /// [`Error::Device`].
    pub fn embed(&mut self, ids: &[u32]) -> Result<Vec<f32>> {
        let vocabulary = self.weights.config.vocabulary;
        if let Some(id) = ids.iter().find(|id| **id as usize >= vocabulary) {
            return Err(Error::Tokens(format!(
                "token {id} is outside the vocabulary of {vocabulary}: tokenizer.json and model.safetensors belong to \
                 different models; run apps/embed/fetch-model.sh into an empty folder"
            )));
        }
        let embedding = self.run(padded(&self.lengths, ids.len())?, ids)?;
        if embedding.iter().all(|x| x.is_finite()) { Ok(embedding) } else { Err(Error::NotFinite) }
    }

    /// Runs the network on `ids`, padded to `length`, and waits for it.
    fn run(&mut self, length: usize, ids: &[u32]) -> Result<Vec<f32>> {
        let Inputs { ids: to, mask, padded } = &mut self.inputs;
        pad(ids, length, padded);
        self.bindings.host(*to, &padded.0, [length]).host(*mask, &padded.1, [1, length]);
        let start = Instant::now();
        let first = self.mode == Mode::Replay && !self.ready.contains(&length);
        let run = self.executable.run(&self.main, &mut self.bindings);
        if first {
            run.context_with(|| format!("recording the graph for {length} tokens; --eager does without graphs"))?;
            self.ready.insert(length);
            let (took, MemoryReport { peak, lower_bound, .. }) = (start.elapsed(), self.memory(length)?);
            log::debug!(
                "recorded a graph for {length} tokens in {took:.1?}; it computes in {peak} bytes, of which at least \
                 {lower_bound} are in use at once"
            );
        } else {
            run?;
        }
        Ok(self.executable.host_output(self.output)?)
    }
}

/// Whether the device has prefetches: they only save time, so the network can do without.
fn can_prefetch(stream: &Stream, weights: &Weights) -> Result<bool> {
    let Some(first) = weights.layers.first() else { return Ok(false) };
    match stream.prefetch(first, Prefetch::all()) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotSupported => {
            log::warn!("weights are not prefetched, since the device cannot: {error}");
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

/// The least of [`LENGTHS`] that a text fits.
fn padded(lengths: &Buckets, tokens: usize) -> Result<usize> {
    if tokens == 0 {
        return Err(Error::Tokens("a text without tokens; even the empty text has [CLS] and [SEP]".to_owned()));
    }
    let length = lengths.pad(tokens);
    length.map_err(|_| Error::Tokens(format!("a text of {tokens} tokens; the model takes {MAX_TOKENS}")))
}

/// The ids of the text, then 0; and 1 for each of its tokens, then 0.
fn pad(ids: &[u32], length: usize, (padded, mask): &mut (Vec<i64>, Vec<f32>)) {
    padded.clear();
    padded.extend(ids.iter().map(|id| i64::from(*id)));
    padded.resize(length, 0);
    mask.clear();
    mask.resize(ids.len(), 1.0);
    mask.resize(length, 0.0);
}
