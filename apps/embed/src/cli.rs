//! The command line.

use std::fs;
use std::io::{self, BufRead, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Parser;
use racl::cache::CompileCache;

use crate::embedder::{Embedder, Mode};
use crate::error::{Error, Result};
use crate::folder::default_folder;
use crate::output::{self, Format, Item};
use crate::progress;
use crate::tokens::Tokenizer;

/// Sentence embeddings with all-MiniLM-L6-v2: 384 numbers a text, of norm 1.
///
/// Results go to standard output, one JSON object a line; the log goes to standard error. Texts over 256 tokens are
/// cut, with a warning.
#[derive(Debug, Parser)]
#[command(name = "embed", version, after_help = ENVIRONMENT)]
pub struct Arguments {
    /// Texts to embed; without any, each line of standard input is one
    #[arg(value_name = "TEXT")]
    pub texts: Vec<String>,

    /// Folder with config.json, tokenizer.json and model.safetensors [default: where fetch-model.sh puts them]
    #[arg(long, value_name = "DIR")]
    pub model: Option<PathBuf>,

    /// How results are written [default: jsonl; with --similarity plain]
    #[arg(long, value_enum)]
    pub format: Option<Format>,

    /// Compare all texts: a table of cosines, or with jsonl one more field in each object
    #[arg(long)]
    pub similarity: bool,

    /// Submit operators one by one instead of replaying captured graphs
    #[arg(long)]
    pub eager: bool,

    /// Keep the plan of the network in this folder: the next start loads it instead of building it
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,

    /// Number of the device
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub device: i32,

    /// Log only warnings and errors
    #[arg(short, long)]
    pub quiet: bool,
}

const ENVIRONMENT: &str = "\
Environment:
  RACL_LIBRARY    the AscendCL library: a path, `system` for the installed one, or `mock` for the built-in mock
  RACL_MODEL_DIR  the folder of the model, for fetch-model.sh and as default of --model
  RUST_LOG        what is logged, such as debug";

/// A file of at most this size is read as a whole, so that progress has an end.
const READ_AHEAD_BYTES: u64 = 64 << 20;

/// Starts the log, on standard error.
pub fn start_log(quiet: bool) {
    command_line::start_log(quiet, "warn,embed=info,racl::cache=info", progress::LogOutput);
}

/// Does what the command line asks for.
///
/// # Errors
///
/// Those of the model, the device, and standard input and output.
pub fn run(arguments: Arguments) -> Result<()> {
    let Arguments { texts, model, format, similarity, eager, cache, device, quiet: _ } = arguments;
    let folder = model.or_else(default_folder).ok_or(Error::NoFolder)?;
    let format = format.unwrap_or(if similarity { Format::Plain } else { Format::Jsonl });
    let mode = if eager { Mode::Eager } else { Mode::Replay };
    let mut pipeline = Pipeline::open(&folder, mode, device, cache)?;
    let start = Instant::now();
    let (texts, total) = texts_of(texts);
    progress::start(total);
    let result = pipeline.run(texts, format, similarity);
    progress::finish();
    let count = result?;
    let graphs = pipeline.embedder.graphs();
    log::info!("{} in {:.1?}, with {}", some(count, "text"), start.elapsed(), some(graphs, "graph"));
    Ok(())
}

/// The given texts, else the lines of standard input; and their number where it is known.
fn texts_of(given: Vec<String>) -> (Box<dyn Iterator<Item = Result<String>>>, Option<usize>) {
    if !given.is_empty() {
        let count = given.len();
        return (Box::new(given.into_iter().map(Ok)), Some(count));
    }
    if io::stdin().is_terminal() {
        log::info!("reading standard input, one text a line; Ctrl-D ends it");
    }
    let lines = io::stdin().lock().lines().enumerate();
    let lines = lines.map(|(index, line)| line.map_err(|source| Error::Input { line: index + 1, source }));
    // The end of a file is known before its lines are needed, that of a pipe is not.
    let input = fs::metadata("/dev/stdin");
    if input.is_ok_and(|input| input.is_file() && input.len() <= READ_AHEAD_BYTES) {
        let lines: Vec<_> = lines.collect();
        let count = lines.len();
        return (Box::new(lines.into_iter()), Some(count));
    }
    (Box::new(lines), None)
}

fn some(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

struct Pipeline {
    tokenizer: Tokenizer,
    embedder: Embedder,
}

impl Pipeline {
    fn open(folder: &Path, mode: Mode, device: i32, cache: Option<PathBuf>) -> Result<Self> {
        let tokenizer = Tokenizer::load(folder)?;
        let acl = command_line::library()?;
        log::info!("library: {acl}");
        let device = acl.device(device)?;
        let embedder = match cache {
            None => Embedder::load(folder, &device, mode)?,
            Some(root) => {
                let cache = CompileCache::builder("embed").cache_dir(root).build().map_err(Error::Cache)?;
                Embedder::load_cached(folder, &device, mode, &cache)?
            }
        };
        Ok(Self { tokenizer, embedder })
    }

    fn embed(&mut self, text: String) -> Result<Item> {
        let tokens = self.tokenizer.encode(&text)?;
        let embedding = self.embedder.embed(&tokens)?;
        Ok(Item { text, tokens, embedding, similarity: None })
    }

    /// Gives the number of texts.
    fn run(
        &mut self,
        texts: impl Iterator<Item = Result<String>>,
        format: Format,
        similarity: bool,
    ) -> Result<usize> {
        let mut kept = Vec::new();
        let mut count = 0;
        for text in texts {
            let item = self.embed(text?)?;
            count += 1;
            progress::advance();
            if similarity {
                kept.push(item);
            } else {
                // Written at once: whoever reads the results need not wait for the rest.
                write(|out| output::write_item(out, format, &item))?;
            }
        }
        if similarity {
            output::compare(&mut kept);
            write(|out| match format {
                Format::Plain => output::write_table(out, &kept),
                Format::Jsonl => kept.iter().try_for_each(|item| output::write_item(out, format, item)),
            })?;
        }
        Ok(count)
    }
}

fn write(results: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    progress::beside(|| command_line::write(results)).map_err(Error::Output)
}
