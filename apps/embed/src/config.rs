//! The sizes of the network, from the model's config.json.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::folder;
use crate::tokens::MAX_TOKENS;

/// Sizes of a BERT encoder.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// Width of a token.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// Attention heads of a layer.
    pub heads: usize,
    /// Width of the feed-forward part.
    pub feed_forward: usize,
    /// Number of tokens.
    pub vocabulary: usize,
    /// Number of positions.
    pub positions: usize,
    /// Number of token types.
    pub types: usize,
    /// Added to the variance by layer normalisation.
    pub eps: f64,
}

impl Config {
    /// Reads config.json of the model in `folder`, and the pooling settings if there are any.
    ///
    /// # Errors
    ///
    /// [`Error::NoModel`] and [`Error::Read`]; [`Error::Config`] for a network that this program does not implement.
    pub fn load(folder: &Path) -> Result<Self> {
        let settings = Settings::read(folder::file(folder, "config.json")?)?;
        settings.expect("model_type", "bert", None)?;
        settings.expect("hidden_act", "gelu", None)?;
        settings.expect("position_embedding_type", "absolute", Some("absolute"))?;
        let config = Self {
            hidden: settings.size("hidden_size")?,
            layers: settings.size("num_hidden_layers")?,
            heads: settings.size("num_attention_heads")?,
            feed_forward: settings.size("intermediate_size")?,
            vocabulary: settings.size("vocab_size")?,
            positions: settings.size("max_position_embeddings")?,
            types: settings.size("type_vocab_size")?,
            eps: settings.number("layer_norm_eps")?,
        };
        if !config.hidden.is_multiple_of(config.heads) {
            let (hidden, heads) = (config.hidden, config.heads);
            return Err(settings.wrong(format!("hidden_size {hidden} is no multiple of num_attention_heads {heads}")));
        }
        if config.positions < MAX_TOKENS {
            let positions = config.positions;
            return Err(
                settings.wrong(format!("max_position_embeddings is {positions}, at least {MAX_TOKENS} are needed"))
            );
        }
        check_pooling(folder)?;
        Ok(config)
    }

    /// Width of an attention head.
    #[must_use]
    pub fn head(&self) -> usize {
        self.hidden / self.heads
    }
}

/// A model with another pooling than the mean would silently give wrong embeddings.
fn check_pooling(folder: &Path) -> Result<()> {
    let path = folder.join("1_Pooling").join("config.json");
    if !path.is_file() {
        return Ok(());
    }
    let settings = Settings::read(path)?;
    if settings.value["pooling_mode_mean_tokens"] == Value::Bool(true) {
        return Ok(());
    }
    Err(settings.wrong("pooling_mode_mean_tokens is not true, and only mean pooling is supported".to_owned()))
}

struct Settings {
    path: PathBuf,
    value: Value,
}

impl Settings {
    fn read(path: PathBuf) -> Result<Self> {
        let text = fs::read_to_string(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
        match serde_json::from_str(&text) {
            Ok(value) => Ok(Self { path, value }),
            Err(error) => Err(Error::Config { path, reason: format!("not JSON: {error}") }),
        }
    }

    fn wrong(&self, reason: String) -> Error {
        Error::Config { path: self.path.clone(), reason }
    }

    fn expect(&self, key: &str, supported: &str, default: Option<&str>) -> Result<()> {
        match self.value.get(key).map_or(default, Value::as_str) {
            Some(found) if found == supported => Ok(()),
            _ => {
                let found = self.value.get(key).map_or("missing".to_owned(), Value::to_string);
                Err(self.wrong(format!("{key} is {found}, and only {supported:?} is supported")))
            }
        }
    }

    fn size(&self, key: &str) -> Result<usize> {
        let found = self.value.get(key);
        // Far above every real model, and low enough that no product of sizes overflows.
        let size = found.and_then(Value::as_u64).filter(|size| (1..=1 << 20).contains(size));
        let size = size.and_then(|size| usize::try_from(size).ok());
        size.ok_or_else(|| {
            let found = found.map_or("missing".to_owned(), Value::to_string);
            self.wrong(format!("{key} is {found}, and a positive number up to {} is needed", 1 << 20))
        })
    }

    fn number(&self, key: &str) -> Result<f64> {
        let found = self.value.get(key);
        found.and_then(Value::as_f64).filter(|number| *number > 0.0).ok_or_else(|| {
            let found = found.map_or("missing".to_owned(), Value::to_string);
            self.wrong(format!("{key} is {found}, and a positive number is needed"))
        })
    }
}
