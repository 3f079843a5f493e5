//! The sizes of the network, from the model's config.json.

use std::path::Path;

use model_files::Settings;

use crate::error::Result;
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
    /// [`Error::NoModel`](crate::Error::NoModel); [`Error::File`](crate::Error::File) for a file that cannot be read,
    /// and a network that this program does not implement.
    pub fn load(folder: &Path) -> Result<Self> {
        let settings = Settings::read(folder::file(folder, "config.json")?)?;
        settings.expect("model_type", "bert")?;
        settings.expect("hidden_act", "gelu")?;
        settings.expect_if_given("position_embedding_type", "absolute")?;
        let config = Self {
            hidden: settings.size("hidden_size")?,
            layers: settings.size("num_hidden_layers")?,
            heads: settings.size("num_attention_heads")?,
            feed_forward: settings.size("intermediate_size")?,
            vocabulary: settings.size("vocab_size")?,
            positions: settings.size("max_position_embeddings")?,
            types: settings.size("type_vocab_size")?,
            eps: settings.number("layer_norm_eps", None)?,
        };
        if !config.hidden.is_multiple_of(config.heads) {
            let (hidden, heads) = (config.hidden, config.heads);
            let text = format!("hidden_size {hidden} is no multiple of num_attention_heads {heads}");
            return Err(settings.wrong(text).into());
        }
        if config.positions < MAX_TOKENS {
            let positions = config.positions;
            let text = format!("max_position_embeddings is {positions}, at least {MAX_TOKENS} are needed");
            return Err(settings.wrong(text).into());
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
    if settings.flag("pooling_mode_mean_tokens").unwrap_or(false) {
        return Ok(());
    }
    Err(settings.wrong("pooling_mode_mean_tokens is not true, and only mean pooling is supported").into())
}
