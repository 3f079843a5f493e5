//! The sizes of the network, from a config.json as Llama models have it.

use std::path::Path;

use model_files::{MOST, Settings};

use crate::error::Result;

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
    /// [`Error::File`](crate::Error::File) for a file that cannot be read, and a network that this program does not
    /// implement.
    pub fn load(path: &Path) -> Result<Self> {
        let settings = Settings::read(path)?.object()?;
        settings.expect_if_given("model_type", "llama")?;
        settings.expect_if_given("hidden_act", "silu")?;
        settings.expect_if_given("attention_bias", false)?;
        settings.expect_if_given("mlp_bias", false)?;
        settings.expect_if_given("rope_scaling", ())?;
        let (hidden, heads) = (settings.size("hidden_size")?, settings.size("num_attention_heads")?);
        let kv_heads = settings.size_or("num_key_value_heads", heads)?;
        if !hidden.is_multiple_of(heads) && settings.get("head_dim").is_none_or(|head| head.is_null()) {
            let text = format!("hidden_size {hidden} is no multiple of num_attention_heads {heads}");
            return Err(settings.wrong(text).into());
        }
        let head = settings.size_or("head_dim", hidden / heads)?;
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

    /// The sizes of a part, of as many as `ranks` cards: heads and the feed-forward part are split; a token's width, the
    /// vocabulary and the layers are not. Else says what cannot be split.
    pub(crate) fn part(&self, ranks: usize) -> Result<Self, String> {
        let split = [
            ("num_attention_heads", self.heads),
            ("num_key_value_heads", self.kv_heads),
            ("intermediate_size", self.feed_forward),
        ];
        if let Some((name, size)) = split.iter().find(|(_, size)| ranks == 0 || !size.is_multiple_of(ranks)) {
            return Err(format!("{name} {size} is no multiple of --tensor-parallel {ranks}"));
        }
        let [heads, kv_heads, feed_forward] = split.map(|(_, size)| size / ranks);
        Ok(Self { heads, kv_heads, feed_forward, ..self.clone() })
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
