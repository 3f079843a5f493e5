//! Where the tensors of a layer lie in its memory: one piece, so that one prefetch moves them. The same for each layer.

use std::ops::Range;

use model_files::aligned;

use crate::config::Config;

/// A matrix `[inputs, outputs]`, or a vector of one row.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) elements: Range<usize>,
    pub(crate) shape: [usize; 2],
}

impl Place {
    /// From the first aligned element at or after `start`.
    fn of(start: usize, shape: [usize; 2]) -> Self {
        Self { elements: aligned(start, shape[0] * shape[1]), shape }
    }
}

#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) attention_norm: Place,
    /// Query, key and value side by side.
    pub(crate) qkv: Place,
    pub(crate) attention: Place,
    pub(crate) feed_norm: Place,
    /// Gate and up side by side.
    pub(crate) gate_up: Place,
    pub(crate) down: Place,
}

impl Places {
    pub(crate) fn of(config: &Config) -> Self {
        let (hidden, wide, query) = (config.hidden, config.feed_forward, config.query_width());
        let attention_norm = Place::of(0, [1, hidden]);
        let qkv = Place::of(attention_norm.elements.end, [hidden, query + 2 * config.kv_width()]);
        let attention = Place::of(qkv.elements.end, [query, hidden]);
        let feed_norm = Place::of(attention.elements.end, [1, hidden]);
        let gate_up = Place::of(feed_norm.elements.end, [hidden, 2 * wide]);
        let down = Place::of(gate_up.elements.end, [wide, hidden]);
        Self { attention_norm, qkv, attention, feed_norm, gate_up, down }
    }

    /// Elements of a layer.
    pub(crate) fn len(&self) -> usize {
        self.down.elements.end
    }
}
