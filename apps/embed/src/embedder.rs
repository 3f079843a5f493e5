//! Running the network: a graph for each padded length, recorded when a text first needs it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use racl::{CaptureMode, Device, ErrorKind, Graph, Lent, PinnedBuffer, Prefetch, ResultExt as _, Stream};

use crate::activations::{Activations, Views};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::network::{Streams, forward};
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
    // Dropped in this order: graphs before the streams that they run on.
    graphs: BTreeMap<usize, Recorded>,
    idle: BTreeMap<usize, Host>,
    main: Stream,
    side: Option<Stream>,
    activations: Activations,
    weights: Weights,
    device: Device,
}

/// Memory of the host that a run reads and writes.
#[derive(Debug)]
struct Host {
    ids: PinnedBuffer<i64>,
    mask: PinnedBuffer<f32>,
    output: PinnedBuffer<f32>,
}

/// The same while a run, or a graph, has it.
struct Flight {
    ids: Lent<i64>,
    mask: Lent<f32>,
    output: Lent<f32>,
}

/// The graph of one length, and the keys to its memory of the host.
#[derive(Debug)]
struct Recorded {
    graph: Graph,
    ids: Lent<i64>,
    mask: Lent<f32>,
    output: Lent<f32>,
}

impl Embedder {
    /// Uploads the weights in `folder` to `device`. Graphs are recorded later, see [`Embedder::prepare`].
    ///
    /// # Errors
    ///
    /// Those that say what is wrong with the files of the model; [`Error::Device`].
    pub fn load(folder: &Path, device: &Device, mode: Mode) -> Result<Self> {
        let start = Instant::now();
        let weights = Weights::load(folder, device)?;
        let activations = Activations::new(device, &weights.config, MAX_TOKENS)?;
        let main = device.stream()?;
        main.set_name("network");
        let side = prefetcher(device, &weights)?;
        log::info!("{} MB of weights uploaded in {:.1?}", weights.bytes / 1_000_000, start.elapsed());
        let (graphs, idle) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { mode, graphs, idle, main, side, activations, weights, device: device.clone() })
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

    /// Number of graphs that were recorded.
    #[must_use]
    pub fn graphs(&self) -> usize {
        self.graphs.len()
    }

    /// Does now what the first text of `tokens` tokens would otherwise wait for: one run operator by operator, so that
    /// the library can set up what it needs, then the recording. Nothing in eager mode, or when it is done already.
    ///
    /// # Errors
    ///
    /// [`Error::Tokens`] for more than [`MAX_TOKENS`]; [`Error::Device`].
    pub fn prepare(&mut self, tokens: usize) -> Result<()> {
        let length = padded(tokens)?;
        if self.mode == Mode::Eager || self.graphs.contains_key(&length) {
            return Ok(());
        }
        let start = Instant::now();
        let host = self.host(length)?;
        let host = self.run(length, host)?;
        let recorded = self.record(length, host)?;
        let bytes = recorded.graph.memory_bytes();
        self.graphs.insert(length, recorded);
        log::debug!("recorded a graph for {length} tokens in {:.1?}; it uses {bytes} bytes", start.elapsed());
        Ok(())
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
        let length = padded(ids.len())?;
        let embedding = match self.mode {
            Mode::Replay => self.replay(length, ids)?,
            Mode::Eager => {
                let mut host = self.host(length)?;
                pad(ids, &mut host.ids);
                mark(ids.len(), &mut host.mask);
                let host = self.run(length, host)?;
                let embedding = host.output.to_vec();
                self.idle.insert(length, host);
                embedding
            }
        };
        if embedding.iter().all(|x| x.is_finite()) { Ok(embedding) } else { Err(Error::NotFinite) }
    }

    fn replay(&mut self, length: usize, ids: &[u32]) -> Result<Vec<f32>> {
        self.prepare(length)?;
        let Recorded { graph, ids: to, mask, output } =
            self.graphs.get_mut(&length).expect("`prepare` made the graph of this length");
        pad(ids, &mut graph.host(to)?);
        mark(ids.len(), &mut graph.host(mask)?);
        graph.launch(&self.main)?;
        Ok(graph.host(output)?.to_vec())
    }

    /// Memory of the host for texts of `length` tokens; a text of one token until it is filled.
    fn host(&mut self, length: usize) -> Result<Host> {
        if let Some(host) = self.idle.remove(&length) {
            return Ok(host);
        }
        let (device, width) = (&self.device, self.weights.config.hidden);
        let mut host =
            Host { ids: device.pinned(length)?, mask: device.pinned(length)?, output: device.pinned(width)? };
        mark(1, &mut host.mask);
        Ok(host)
    }

    /// Runs the network operator by operator and waits for it.
    fn run(&self, length: usize, host: Host) -> Result<Host> {
        let mut views = self.activations.views(&self.weights.config, length)?;
        let flight = submit(&self.weights, &mut views, host, Streams { main: &self.main, side: self.side.as_ref() })?;
        Ok(Host { ids: flight.ids.wait()?, mask: flight.mask.wait()?, output: flight.output.wait()? })
    }

    /// Records the network.
    fn record(&self, length: usize, host: Host) -> Result<Recorded> {
        let advice = || format!("recording the graph for {length} tokens; --eager does without graphs");
        let mut views = self.activations.views(&self.weights.config, length)?;
        let record = || {
            let capture = self.main.begin_capture(CaptureMode::ThreadLocal)?;
            let side = self.side.is_some().then(|| capture.side("prefetch")).transpose()?;
            let Flight { ids, mask, output } =
                submit(&self.weights, &mut views, host, Streams { main: &capture, side: side.as_ref() })?;
            Ok(Recorded { graph: capture.finish()?, ids, mask, output })
        };
        Ok(record().context_with(advice)?)
    }
}

/// The stream for prefetches, unless the device has none: they only save time, so it can do without.
fn prefetcher(device: &Device, weights: &Weights) -> Result<Option<Stream>> {
    let Some(first) = weights.layers.first() else { return Ok(None) };
    let side = device.stream()?;
    side.set_name("prefetch");
    match side.prefetch(&first.memory, Prefetch::all()) {
        Ok(_) => Ok(Some(side)),
        Err(error) if error.kind() == ErrorKind::NotSupported => {
            log::warn!("weights are not prefetched, since the device cannot: {error}");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Everything that one run submits: upload, network, download.
fn submit(weights: &Weights, v: &mut Views, host: Host, streams: Streams<'_>) -> racl::Result<Flight> {
    let main = streams.main;
    let ids = main.upload(host.ids, &mut v.ids_buffer)?;
    let mask = main.upload(host.mask, &mut v.mask_buffer)?;
    forward(weights, v, streams)?;
    let output = main.download(&v.output_buffer, host.output)?;
    Ok(Flight { ids, mask, output })
}

/// The least of [`LENGTHS`] that a text fits.
fn padded(tokens: usize) -> Result<usize> {
    if tokens == 0 {
        return Err(Error::Tokens("a text without tokens; even the empty text has [CLS] and [SEP]".to_owned()));
    }
    let length = LENGTHS.into_iter().find(|length| tokens <= *length);
    length.ok_or_else(|| Error::Tokens(format!("a text of {tokens} tokens; the model takes {MAX_TOKENS}")))
}

/// The ids of the text, then 0.
fn pad(ids: &[u32], to: &mut [i64]) {
    let padded = ids.iter().map(|id| i64::from(*id)).chain(std::iter::repeat(0));
    to.iter_mut().zip(padded).for_each(|(to, id)| *to = id);
}

/// 1 for the tokens of the text, 0 for the padding.
fn mark(tokens: usize, mask: &mut [f32]) {
    let (text, padding) = mask.split_at_mut(tokens);
    text.fill(1.0);
    padding.fill(0.0);
}
