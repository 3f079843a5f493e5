//! The command line.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use model_files::Dtype;
use racl::Device;
use racl::half::{bf16, f16};

use crate::config::Config;
use crate::decoder::{Attention, Decoder, Mode, Options};
use crate::error::{Error, Result};
use crate::number::Number;
use crate::parallel;
use crate::stats;
use crate::weights::{Source, dtype_of};

/// Greedy decoding with a small Llama-style model: token ids in, token ids out.
///
/// Without --weights the weights are random, the same ones for each seed. Token ids go to standard output, the log to
/// standard error.
#[derive(Debug, Parser)]
#[command(name = "decode", version, after_help = ENVIRONMENT)]
pub struct Arguments {
    /// Token ids to continue, with commas or spaces between them
    #[arg(long, value_name = "IDS", default_value = "1")]
    pub prompt: String,

    /// Number of tokens to generate
    #[arg(short = 'n', long, value_name = "N", default_value_t = 32)]
    pub tokens: usize,

    /// A safetensors file with the tensor names of Llama models; all F32, all F16 or all BF16
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "dtype"])]
    pub weights: Option<PathBuf>,

    /// Sizes of the model, as config.json of Llama models [default: config.json beside --weights, else a small one]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Seed of random weights
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Type of random weights
    #[arg(long, value_enum, default_value_t = Kind::F32)]
    pub dtype: Kind,

    /// Lengths that the key-value cache is read to; each has a graph [default: 64,128,256,512,1024]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub buckets: Vec<usize>,

    /// Submit operators one by one instead of replaying captured graphs
    #[arg(long, conflicts_with = "stats")]
    pub eager: bool,

    /// How attention is computed
    #[arg(long, value_enum, default_value_t = Attention::default())]
    pub attention: Attention,

    /// Do not prefetch the weights of the next layer
    #[arg(long)]
    pub no_prefetch: bool,

    /// Time both ways to submit, after the tokens: name, value and unit a line
    #[arg(long)]
    pub stats: bool,

    /// Number of the device
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub device: i32,

    /// Number of cards that share each layer, from --device on; they must divide heads, key heads and feed-forward width
    #[arg(long, value_name = "R", default_value_t = 1, conflicts_with = "stats",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub tensor_parallel: u32,

    /// Log only warnings and errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Types of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// 32-bit floats.
    F32,
    /// 16-bit floats.
    F16,
    /// 16-bit floats with the exponent of 32-bit ones.
    Bf16,
}

const ENVIRONMENT: &str = "\
Environment:
  RACL_LIBRARY  the AscendCL library: a path, `system` for the installed one, or `mock` for the built-in mock
  RUST_LOG      what is logged, such as debug";

/// Starts the log, on standard error.
pub fn start_log(quiet: bool) {
    command_line::start_log(quiet, "warn,decode=info", io::stderr());
}

/// Does what the command line asks for.
///
/// # Errors
///
/// Those of the prompt, the model, the device, and standard output.
pub fn run(arguments: &Arguments) -> Result<()> {
    let prompt = prompt(&arguments.prompt)?;
    let (source, kind) = match &arguments.weights {
        Some(path) => (Source::File(path.clone()), kind_of(path)?),
        None => (Source::Random { seed: arguments.seed }, arguments.dtype),
    };
    let beside = arguments.weights.as_ref().map(|path| path.with_file_name("config.json"));
    let config = match arguments.config.as_ref().or(beside.as_ref()) {
        Some(path) => Config::load(path)?,
        None => Config::default(),
    };
    let acl = command_line::library()?;
    log::info!("library: {acl}");
    let job = Job { arguments, prompt, source, config, device: acl.device(arguments.device)? };
    match kind {
        Kind::F32 => job.run::<f32>(),
        Kind::F16 => job.run::<f16>(),
        Kind::Bf16 => job.run::<bf16>(),
    }
}

struct Job<'a> {
    arguments: &'a Arguments,
    prompt: Vec<u32>,
    source: Source,
    config: Config,
    device: Device,
}

impl Job<'_> {
    fn run<T: Number>(self) -> Result<()> {
        let Self { arguments, prompt, source, config, device } = self;
        let mode = if arguments.eager { Mode::Eager } else { Mode::Replay };
        let (prefetch, buckets) = (!arguments.no_prefetch, arguments.buckets.clone());
        let attention = arguments.attention;
        let options = Options { mode, attention, prefetch, buckets };
        let (tokens, speeds) = if arguments.stats {
            stats::measure::<T>(&device, &config, &source, &options, &prompt, arguments.tokens)?
        } else if arguments.tensor_parallel > 1 {
            let count = arguments.tensor_parallel;
            let tokens =
                parallel::generate::<T>(&device, count, &config, &source, &options, (&prompt, arguments.tokens))?;
            (tokens, Vec::new())
        } else {
            let mut decoder = Decoder::<T>::new(&device, &config, source, &options)?;
            (decoder.generate(&prompt, arguments.tokens)?, Vec::new())
        };
        let write = |out: &mut dyn io::Write| {
            let ids: Vec<String> = tokens.iter().map(u32::to_string).collect();
            writeln!(out, "{}", ids.join(" "))?;
            if speeds.is_empty() { Ok(()) } else { stats::write(out, &speeds, prefetch) }
        };
        command_line::write(write).map_err(Error::Output)
    }
}

fn prompt(text: &str) -> Result<Vec<u32>> {
    let words = text.split([',', ' ', '\t', '\n']).filter(|word| !word.is_empty());
    let id = |word: &str| {
        let wrong = |_| Error::Prompt(format!("has {word:?}, which is no token id: ids are numbers from 0"));
        word.parse().map_err(wrong)
    };
    words.map(id).collect()
}

fn kind_of(path: &Path) -> Result<Kind> {
    match dtype_of(path)? {
        Dtype::F16 => Ok(Kind::F16),
        Dtype::BF16 => Ok(Kind::Bf16),
        // Of any other type reading a tensor says that it is not supported.
        _ => Ok(Kind::F32),
    }
}
