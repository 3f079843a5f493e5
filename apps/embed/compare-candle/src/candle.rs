//! The model in candle.

use std::fs;
use std::path::Path;

use candle_core::{DType, Device, IndexOp as _, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};

use crate::Result;

/// Computes in 32-bit floats, as embed does.
pub(crate) struct Model(BertModel);

impl Model {
    pub(crate) fn load(folder: &Path) -> Result<Self> {
        let config: Config = serde_json::from_str(&fs::read_to_string(folder.join("config.json"))?)?;
        let weights = fs::read(folder.join("model.safetensors"))?;
        let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)?;
        Ok(Self(BertModel::load(weights, &config)?))
    }

    /// The mean over the tokens, of Euclidean norm 1. The text is as long as it is: there is no padding.
    pub(crate) fn embed(&self, ids: &[u32]) -> candle_core::Result<Vec<f32>> {
        let ids = Tensor::new(ids, &Device::Cpu)?.unsqueeze(0)?;
        let mean = self.0.forward(&ids, &ids.zeros_like()?, None)?.i(0)?.mean(0)?;
        let length = mean.sqr()?.sum_all()?.sqrt()?;
        mean.broadcast_div(&length)?.to_vec1()
    }
}
