//! The sizes of the network, from a config.json as Llama models have it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};

/// Sizes of a decoder of the Llama family.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// Width of a token.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// Query heads of a layer.
    pub heads: usize,
    /// Key and value heads of a layer; each serves as many query heads.
    pub kv_heads: usize,
    /// Width of a head, which is even.
    pub head: usize,
    /// Width of the feed-forward part.
    pub feed_forward: usize,
    /// Number of tokens.
    pub vocabulary: usize,
    /// Greatest length of a text.
    pub positions: usize,
    /// Added to the mean square by RMS normalisation.
    pub eps: f64,
    /// Base of the angles of the rotary embedding.
    pub theta: f64,
    /// The output projection is the token embedding.
    pub tied: bool,
}

impl Default for Config {
    /// A small one: 3.4 million weights.
    fn default() -> Self {
        Self {
            hidden: 256,
            layers: 4,
            heads: 8,
            kv_heads: 2,
            head: 32,
            feed_forward: 704,
            vocabulary: 1000,
            positions: 1024,
            eps: 1e-5,
            theta: 10_000.0,
            tied: false,
        }
    }
}

impl Config {
    /// Reads a config.json.
    ///
    /// # Errors
    ///
    /// [`Error::Read`]; [`Error::Config`] for a network that this program does not implement.
    pub fn load(path: &Path) -> Result<Self> {
        let settings = Settings::read(path)?;
        settings.expect("model_type", &Value::from("llama"), &Value::from("llama"))?;
        settings.expect("hidden_act", &Value::from("silu"), &Value::from("silu"))?;
        settings.expect("attention_bias", &Value::Bool(false), &Value::Bool(false))?;
        settings.expect("mlp_bias", &Value::Bool(false), &Value::Bool(false))?;
        settings.expect("rope_scaling", &Value::Null, &Value::Null)?;
        let (hidden, heads) = (settings.size("hidden_size")?, settings.size("num_attention_heads")?);
        let kv_heads = settings.size_or("num_key_value_heads", heads)?;
        let head = match settings.value.get("head_dim") {
            None | Some(Value::Null) if !hidden.is_multiple_of(heads) => {
                let text = format!("hidden_size {hidden} is no multiple of num_attention_heads {heads}");
                return Err(settings.wrong(text));
            }
            _ => settings.size_or("head_dim", hidden / heads)?,
        };
        let config = Self {
            hidden,
            layers: settings.size("num_hidden_layers")?,
            heads,
            kv_heads,
            head,
            feed_forward: settings.size("intermediate_size")?,
            vocabulary: settings.size("vocab_size")?,
            positions: settings.size_or("max_position_embeddings", 2048)?,
            eps: settings.number("rms_norm_eps", Some(1e-6))?,
            theta: settings.number("rope_theta", Some(10_000.0))?,
            tied: settings.flag("tie_word_embeddings")?,
        };
        config.check().map_err(|reason| settings.wrong(reason))?;
        Ok(config)
    }

    /// That the sizes fit each other; else says what does not.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Self { heads, kv_heads, head, .. } = *self;
        let sizes = [self.hidden, self.layers, heads, kv_heads, head, self.feed_forward, self.vocabulary];
        if sizes.iter().chain([&self.positions]).any(|size| !(1..=MOST).contains(&(*size as u64))) {
            return Err(format!("a size is not between 1 and {MOST}: {self:?}"));
        }
        if !heads.is_multiple_of(kv_heads) {
            return Err(format!("num_attention_heads {heads} is no multiple of num_key_value_heads {kv_heads}"));
        }
        if head % 2 != 0 {
            return Err(format!("heads are {head} wide, and the rotary embedding needs an even width"));
        }
        Ok(())
    }

    /// Number of weights.
    #[must_use]
    pub fn weights(&self) -> u128 {
        let [hidden, query, pair, wide] =
            [self.hidden, self.query_width(), self.kv_width(), self.feed_forward].map(|size| size as u128);
        let layer = hidden * (2 * query + 2 * pair + 3 * wide + 2);
        let tables = if self.tied { 1 } else { 2 };
        layer * self.layers as u128 + hidden * (tables * self.vocabulary as u128 + 1)
    }

    /// Elements of a key, and of a value, of all heads.
    #[must_use]
    pub fn kv_width(&self) -> usize {
        self.kv_heads * self.head
    }

    /// Elements of a query of all heads.
    #[must_use]
    pub fn query_width(&self) -> usize {
        self.heads * self.head
    }
}

struct Settings {
    path: PathBuf,
    value: Value,
}

/// Far above every real model, and low enough that no product of sizes overflows.
const MOST: u64 = 1 << 20;

impl Settings {
    fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        match serde_json::from_str(&text) {
            Ok(value @ Value::Object(_)) => Ok(Self { path: path.to_owned(), value }),
            Ok(_) => Err(Error::Config { path: path.to_owned(), reason: "not a JSON object".to_owned() }),
            Err(error) => Err(Error::Config { path: path.to_owned(), reason: format!("not JSON: {error}") }),
        }
    }

    fn wrong(&self, reason: String) -> Error {
        Error::Config { path: self.path.clone(), reason }
    }

    fn expect(&self, key: &str, supported: &Value, default: &Value) -> Result<()> {
        match self.value.get(key).unwrap_or(default) {
            found if found == supported => Ok(()),
            found => Err(self.wrong(format!("{key} is {found}, and only {supported} is supported"))),
        }
    }

    fn size(&self, key: &str) -> Result<usize> {
        let found = self.value.get(key);
        let size = found.and_then(Value::as_u64).filter(|size| (1..=MOST).contains(size));
        let size = size.and_then(|size| usize::try_from(size).ok());
        size.ok_or_else(|| {
            let found = found.map_or("missing".to_owned(), Value::to_string);
            self.wrong(format!("{key} is {found}, and a positive number up to {MOST} is needed"))
        })
    }

    fn size_or(&self, key: &str, default: usize) -> Result<usize> {
        match self.value.get(key) {
            None | Some(Value::Null) => Ok(default),
            Some(_) => self.size(key),
        }
    }

    fn number(&self, key: &str, default: Option<f64>) -> Result<f64> {
        let found = self.value.get(key);
        let number = if found.is_none() { default } else { found.and_then(Value::as_f64) };
        number.filter(|number| *number > 0.0).ok_or_else(|| {
            let found = found.map_or("missing".to_owned(), Value::to_string);
            self.wrong(format!("{key} is {found}, and a positive number is needed"))
        })
    }

    fn flag(&self, key: &str) -> Result<bool> {
        match self.value.get(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(found) => Err(self.wrong(format!("{key} is {found}, and true or false is needed"))),
        }
    }
}
