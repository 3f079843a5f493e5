//! Texts to token ids.

use std::fmt;
use std::path::Path;

use crate::error::{Error, Result};
use crate::folder;

/// Most tokens of a text, with the two that mark its start and end.
pub const MAX_TOKENS: usize = 256;

/// The tokenizer of the model, tokenizer.json.
pub struct Tokenizer(tokenizers::Tokenizer);

impl Tokenizer {
    /// Reads tokenizer.json of the model in `folder`. Its own settings for truncation and padding are not used.
    ///
    /// # Errors
    ///
    /// [`Error::NoModel`] when the file is not there, [`Error::Tokenizer`] when it is no tokenizer.
    pub fn load(folder: &Path) -> Result<Self> {
        let path = folder::file(folder, "tokenizer.json")?;
        let wrong = |reason: tokenizers::Error| Error::Tokenizer { path: path.clone(), reason: reason.to_string() };
        let mut tokenizer = tokenizers::Tokenizer::from_file(&path).map_err(wrong)?;
        tokenizer.with_padding(None).with_truncation(None).map_err(wrong)?;
        let this = Self(tokenizer);
        let ends = this.encode("").map_or(0, |ids| ids.len());
        if ends != 2 {
            let reason = format!("it gives {ends} tokens for the empty text, where [CLS] and [SEP] are expected");
            return Err(Error::Tokenizer { path, reason });
        }
        Ok(this)
    }

    /// The token ids of `text`, between those that mark its start and end. A text of more than [`MAX_TOKENS`] is cut,
    /// with a warning in the log.
    ///
    /// # Errors
    ///
    /// [`Error::Text`] when the tokenizer refuses the text.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        let encoding = self.0.encode_fast(text, true);
        let encoding = encoding.map_err(|error| Error::Text { text: beginning(text), reason: error.to_string() })?;
        let mut ids = encoding.get_ids().to_vec();
        let count = ids.len();
        if count > MAX_TOKENS {
            log::warn!("a text of {count} tokens is cut to {MAX_TOKENS}: {:?}", beginning(text));
            ids.drain(MAX_TOKENS - 1..count - 1);
        }
        Ok(ids)
    }
}

/// Enough of a text to recognise it.
fn beginning(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokenizer").field("vocabulary", &self.0.get_vocab_size(true)).finish_non_exhaustive()
    }
}
