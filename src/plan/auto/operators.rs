//! What the model knows of the library's operators, by their exact names in C: which cores each uses, and which of its
//! tensors it uses in part. All others work on vector cores and use all of every tensor.

use crate::plan::recipe::{FunctionInfo, Node, NodeKind, Recipe};

/// Which cores an operator uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    Vector,
    /// Matrix cores, for the product of this tensor of those that are read and the next.
    Product {
        first: usize,
    },
    /// Matrix cores, for the windows of the first tensor with the filters of the second.
    Convolution,
    /// All of both.
    Both,
}

/// The operator without what all names in C begin with.
fn short(name: &str) -> &str {
    name.strip_prefix("aclnn").unwrap_or(name)
}

/// Which cores an operator of this name uses.
pub(super) fn demand(name: &str) -> Demand {
    let is_in = |names: &[&str]| names.binary_search(&short(name)).is_ok();
    match () {
        () if is_in(PRODUCTS) => Demand::Product { first: 0 },
        () if is_in(ADDED) => Demand::Product { first: 1 },
        () if is_in(CONVOLUTIONS) => Demand::Convolution,
        () if is_in(BOTH) => Demand::Both,
        () => Demand::Vector,
    }
}

/// The operator of the library that work is.
pub(super) fn operator<'a>(recipe: &'a Recipe, node: &Node) -> Option<&'a FunctionInfo> {
    match node.kind {
        NodeKind::Foreign(function) => {
            recipe.functions.get(function as usize).filter(|info| info.recorded().is_some())
        }
        _ => None,
    }
}

/// The accesses of work to tensors that it uses in part, by their places.
pub(super) fn in_part(recipe: &Recipe, node: &Node) -> Vec<usize> {
    let Some(recorded) = operator(recipe, node).and_then(|info| info.recorded()) else { return Vec::new() };
    let Ok(known) = IN_PART.binary_search_by_key(&short(recorded.name()), |(name, _)| name) else {
        return Vec::new();
    };
    let (parameters, accesses) = (IN_PART[known].1, recipe.accesses_of(node));
    let (mut found, mut at) = (Vec::new(), 0);
    for (parameter, told) in recorded.parameters().zip(recorded.told().iter()) {
        let end = at + told.tensors().map_or(0, |(count, _)| count as usize);
        if parameters.contains(&parameter) {
            found.extend((at..end.min(accesses.len())).filter(|place| {
                let layout = recipe.layout_of(accesses[*place].value);
                !EXPERTS.contains(&short(recorded.name())) || layout.dims.len() > 2
            }));
        }
        at = end;
    }
    found
}

/// Products of the first two tensors that are read.
const PRODUCTS: &[&str] = &[
    "AllGatherMatmul",
    "AlltoAllAllGatherBatchMatMul",
    "AlltoAllvGroupedMatMul",
    "BatchMatMul",
    "BatchMatMulReduceScatterAlltoAll",
    "BatchMatMulWeightNz",
    "BatchMatmulQuant",
    "Dot",
    "DualLevelQuantMatmulWeightNz",
    "FusedLinearOnlineMaxSum",
    "FusedMatmul",
    "FusedQuantMatmul",
    "FusedQuantMatmulWeightNz",
    "Gemm",
    "GroupedMatMulAlltoAllv",
    "GroupedMatmulAdd",
    "GroupedMatmulFinalizeRouting",
    "GroupedMatmulFinalizeRoutingV2",
    "GroupedMatmulFinalizeRoutingV3",
    "GroupedMatmulFinalizeRoutingWeightNz",
    "GroupedMatmulFinalizeRoutingWeightNzV2",
    "GroupedMatmulSwigluQuant",
    "GroupedMatmulSwigluQuantWeightNZ",
    "InplaceMatmulAllReduceAddRmsNorm",
    "InplaceQuantMatmulAllReduceAddRmsNorm",
    "InplaceWeightQuantMatmulAllReduceAddRmsNorm",
    "Matmul",
    "MatmulAllReduce",
    "MatmulAllReduceAddRmsNorm",
    "MatmulAllReduceV2",
    "MatmulCompress",
    "MatmulCompressDequant",
    "MatmulEmuSplitWeight",
    "MatmulReduceScatter",
    "MatmulWeightNz",
    "Mm",
    "Mv",
    "QuantBatchMatmulInplaceAdd",
    "QuantGroupedMatmulDequant",
    "QuantMatmul",
    "QuantMatmulActivationQuantWeightNz",
    "QuantMatmulAllReduce",
    "QuantMatmulAllReduceAddRmsNorm",
    "QuantMatmulAllReduceV2",
    "QuantMatmulAllReduceV3",
    "QuantMatmulAllReduceV4",
    "QuantMatmulDequant",
    "QuantMatmulReduceSumWeightNz",
    "QuantMatmulV2",
    "QuantMatmulV3",
    "QuantMatmulV4",
    "QuantMatmulV5",
    "QuantMatmulWeightNz",
    "Sparse4to2QuantMatmulWeightNz",
    "TransposeBatchMatMul",
    "TransposeBatchMatMulWeightNz",
    "TransposeQuantBatchMatMul",
    "TransposeQuantBatchMatMulWeightNz",
    "WeightQuantBatchMatmul",
    "WeightQuantBatchMatmulNz",
    "WeightQuantBatchMatmulV2",
    "WeightQuantBatchMatmulV3",
    "WeightQuantMatmulAllReduce",
    "WeightQuantMatmulAllReduceAddRmsNorm",
];

/// Products of the second and third tensor, added to the first.
const ADDED: &[&str] =
    &["Addbmm", "Addmm", "AddmmWeightNz", "Addmv", "Baddbmm", "InplaceAddbmm", "InplaceAddmm", "InplaceBaddbmm"];

/// Windows of the first tensor with the filters of the second.
const CONVOLUTIONS: &[&str] = &["ConvDepthwise2d", "Convolution", "QuantConvolution", "QuantConvolutionWeightNz"];

/// What uses matrix and vector cores in turn, or multiplies lists of matrices.
const BOTH: &[&str] = &[
    "AddLora",
    "BidirectionLSTM",
    "BidirectionLSTMV2",
    "ConvTbc",
    "ConvTbcBackward",
    "ConvolutionBackward",
    "DeformableConv2d",
    "DeformableConv2dBackward",
    "FFN",
    "FFNV2",
    "FFNV3",
    "FlashAttentionScore",
    "FlashAttentionScoreGrad",
    "FlashAttentionScoreGradV2",
    "FlashAttentionScoreV2",
    "FlashAttentionUnpaddingScoreGrad",
    "FlashAttentionUnpaddingScoreGradV2",
    "FlashAttentionUnpaddingScoreGradV3",
    "FlashAttentionUnpaddingScoreGradV4",
    "FlashAttentionVarLenScore",
    "FlashAttentionVarLenScoreV2",
    "FlashAttentionVarLenScoreV3",
    "FlashAttentionVarLenScoreV4",
    "FlatQuant",
    "FlatQuantV2",
    "FlatQuantV3",
    "FusedInferAttentionScore",
    "FusedInferAttentionScoreV2",
    "FusedInferAttentionScoreV3",
    "FusedInferAttentionScoreV4",
    "FusedInferAttentionScoreV5",
    "FusedLinearCrossEntropyLossGrad",
    "GRU",
    "GRUBackward",
    "GroupedMatMulAllReduce",
    "GroupedMatmul",
    "GroupedMatmulV2",
    "GroupedMatmulV3",
    "GroupedMatmulV4",
    "GroupedMatmulV5",
    "GroupedMatmulWeightNz",
    "IncreFlashAttention",
    "IncreFlashAttentionV2",
    "IncreFlashAttentionV3",
    "IncreFlashAttentionV4",
    "InnerFusedInferAttentionScore",
    "LSTM",
    "LstmBackward",
    "MlaProlog",
    "MlaPrologV2",
    "MlaPrologV2WeightNz",
    "MlaPrologV3",
    "MlaPrologV3WeightNz",
    "NsaCompressAttention",
    "NsaCompressAttentionInfer",
    "NsaSelectedAttention",
    "NsaSelectedAttentionGrad",
    "NsaSelectedAttentionInfer",
    "PromptFlashAttention",
    "PromptFlashAttentionV2",
    "PromptFlashAttentionV3",
    "RotateQuant",
    "SwinAttentionScoreQuant",
    "SwinTransformerLnQkvQuant",
    "ThnnFusedLstmCell",
    "ThnnFusedLstmCellBackward",
];

/// The parameters whose tensors an operator uses in part: rows that indices tell, experts that have tokens, pages of a
/// cache, a triangle.
const IN_PART: &[(&str, &[&str])] = &[
    ("AddLora", &["weight_b", "weight_a_optional"]),
    ("AdvanceStep", &["block_tables"]),
    ("AlltoAllvGroupedMatMul", &["gmm_weight"]),
    ("Bucketize", &["boundaries"]),
    ("CrossEntropyLoss", &["weight_optional"]),
    ("CrossEntropyLossGrad", &["weight_optional"]),
    ("DeformableConv2d", &["x"]),
    ("DequantRopeQuantKvcache", &["k_cache_ref", "v_cache_ref"]),
    ("Diag", &["self_"]),
    ("Embedding", &["weight"]),
    ("EmbeddingBag", &["weight"]),
    ("EmbeddingRenorm", &["self_ref"]),
    ("FFN", &["weight1", "weight2"]),
    ("FFNV2", &["weight1", "weight2"]),
    ("FFNV3", &["weight1", "weight2"]),
    ("FusedInferAttentionScore", &["key", "value"]),
    ("FusedInferAttentionScoreV2", &["key", "value"]),
    ("FusedInferAttentionScoreV3", &["key", "value", "key_rope_optional"]),
    ("FusedInferAttentionScoreV4", &["key", "value", "key_rope_optional"]),
    ("FusedInferAttentionScoreV5", &["key", "value", "key_rope_optional"]),
    ("Gather", &["self_"]),
    ("GatherNd", &["self_"]),
    ("GatherV2", &["self_"]),
    ("GatherV3", &["self_"]),
    ("GridSampler2D", &["input"]),
    ("GridSampler3D", &["input"]),
    ("GroupedMatMulAllReduce", &["weight"]),
    ("GroupedMatMulAlltoAllv", &["gmm_weight"]),
    ("GroupedMatmul", &["weight"]),
    ("GroupedMatmulAdd", &["weight"]),
    ("GroupedMatmulFinalizeRouting", &["w"]),
    ("GroupedMatmulFinalizeRoutingV2", &["x2"]),
    ("GroupedMatmulFinalizeRoutingV3", &["x2"]),
    ("GroupedMatmulFinalizeRoutingWeightNz", &["x2"]),
    ("GroupedMatmulFinalizeRoutingWeightNzV2", &["x2"]),
    ("GroupedMatmulSwigluQuant", &["weight"]),
    ("GroupedMatmulSwigluQuantWeightNZ", &["weight"]),
    ("GroupedMatmulV2", &["weight"]),
    ("GroupedMatmulV3", &["weight"]),
    ("GroupedMatmulV4", &["weight"]),
    ("GroupedMatmulV5", &["weight"]),
    ("GroupedMatmulWeightNz", &["weight"]),
    ("IncreFlashAttention", &["key", "value"]),
    ("IncreFlashAttentionV2", &["key", "value"]),
    ("IncreFlashAttentionV3", &["key", "value"]),
    ("IncreFlashAttentionV4", &["key", "value"]),
    ("Index", &["self_"]),
    ("IndexCopy", &["self_ref", "out_ref"]),
    ("IndexPutImpl", &["self_ref"]),
    ("IndexSelect", &["self_"]),
    ("InnerFusedInferAttentionScore", &["key", "value"]),
    ("InplaceFillDiagonal", &["self_ref"]),
    ("InplaceIndexCopy", &["self_ref"]),
    ("InplaceIndexFill", &["self_ref"]),
    ("InplaceIndexFillTensor", &["self_ref"]),
    ("InplacePut", &["self_ref"]),
    ("InplaceQuantScatter", &["self_ref"]),
    ("InplaceQuantScatterV2", &["self_ref"]),
    ("InplaceScatter", &["self_ref"]),
    ("InplaceScatterReduce", &["self_ref"]),
    ("InplaceScatterUpdate", &["data"]),
    ("InplaceScatterValue", &["self_ref"]),
    ("MlaProlog", &["kv_cache_ref", "kr_cache_ref"]),
    ("MlaPrologV2", &["kv_cache_ref", "kr_cache_ref"]),
    ("MlaPrologV2WeightNz", &["kv_cache_ref", "kr_cache_ref"]),
    ("MlaPrologV3", &["kv_cache_ref", "kr_cache_ref"]),
    ("MlaPrologV3WeightNz", &["kv_cache_ref", "kr_cache_ref"]),
    ("MultiScaleDeformableAttentionGrad", &["value"]),
    ("MultiScaleDeformableAttnFunction", &["value"]),
    ("NLLLoss", &["self_", "weight"]),
    ("NLLLoss2d", &["self_", "weight"]),
    ("NLLLoss2dBackward", &["self_", "weight"]),
    ("NLLLossBackward", &["self_", "weight"]),
    ("NsaCompressAttention", &["key", "value"]),
    ("NsaCompressAttentionInfer", &["key", "value"]),
    ("NsaCompressWithCache", &["output_cache"]),
    ("NsaSelectedAttention", &["key", "value"]),
    ("NsaSelectedAttentionGrad", &["key", "value"]),
    ("NsaSelectedAttentionInfer", &["key", "value"]),
    ("PromptFlashAttention", &["key", "value"]),
    ("PromptFlashAttentionV2", &["key", "value"]),
    ("PromptFlashAttentionV3", &["key", "value"]),
    ("QuantGroupedMatmulDequant", &["weight"]),
    ("RoiAlign", &["self_"]),
    ("RoiAlignV2", &["self_"]),
    ("RopeWithSinCosCache", &["cos_sin_cache"]),
    ("ScatterNdUpdate", &["var_ref"]),
    ("SearchSorted", &["sorted_sequence"]),
    ("SearchSorteds", &["sorted_sequence"]),
    ("Slice", &["self_"]),
    ("SliceV2", &["self_"]),
    ("StridedSlice", &["self_"]),
    ("StridedSliceAssignV2", &["var_ref"]),
    ("Take", &["self_"]),
    ("TfScatterAdd", &["var_ref"]),
    ("Trace", &["self_"]),
    ("Tril", &["self_"]),
    ("Triu", &["self_"]),
];

/// Networks of experts where their matrices have a dimension for these.
const EXPERTS: &[&str] = &["FFN", "FFNV2", "FFNV3"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::DataType::{F16, I64};
    use crate::op::aclnn;
    use crate::plan::{Input, Plan};

    #[test]
    fn names_tell_the_cores() {
        for name in ["aclnnMatmul", "aclnnMm", "aclnnBatchMatMul", "aclnnMv", "aclnnQuantMatmulV4"] {
            assert_eq!(demand(name), Demand::Product { first: 0 }, "{name}");
        }
        for name in ["aclnnAddmm", "aclnnInplaceAddmm", "aclnnBaddbmm"] {
            assert_eq!(demand(name), Demand::Product { first: 1 }, "{name}");
        }
        assert_eq!(demand("aclnnConvolution"), Demand::Convolution);
        assert_eq!(demand("aclnnPromptFlashAttentionV3"), Demand::Both);
        // The second multiplies no matrices, the third and fourth have parts of such names.
        for name in
            ["aclnnAdd", "aclnnTransMatmulWeight", "aclnnGemmaRmsNorm", "aclnnRingAttentionUpdate", "mine.matmul"]
        {
            assert_eq!(demand(name), Demand::Vector, "{name}");
        }
    }

    #[test]
    #[cfg(feature = "cache")]
    fn tables_are_sorted_and_name_operators_of_the_library() {
        let parts: Vec<&str> = IN_PART.iter().map(|(name, _)| *name).collect();
        let mut seen = std::collections::HashSet::new();
        for table in [PRODUCTS, ADDED, CONVOLUTIONS, BOTH, &parts, EXPERTS] {
            assert!(table.is_sorted_by(|a, b| a < b));
            table.iter().for_each(|name| assert!(crate::op::Recorded::is_known(&format!("aclnn{name}")), "{name}"));
        }
        for name in [PRODUCTS, ADDED, CONVOLUTIONS, BOTH].into_iter().flatten() {
            assert!(seen.insert(name), "{name} is in two tables");
        }
        for (name, parameters) in IN_PART {
            let known: Vec<&str> = crate::op::Recorded::parameters_of(&format!("aclnn{name}")).unwrap().collect();
            assert!(!parameters.is_empty() && parameters.iter().all(|one| known.contains(one)), "{name}: {known:?}");
        }
        assert!(EXPERTS.iter().all(|name| parts.contains(name)));
    }

    /// The places of what the last operator of a plan uses in part.
    fn last(work: impl FnOnce(&crate::plan::Builder) -> crate::Result<()>) -> Vec<usize> {
        let plan = Plan::build(work).unwrap();
        let recipe = &plan.0.recipe;
        in_part(recipe, recipe.nodes.last().unwrap())
    }

    #[test]
    fn parameters_tell_what_is_used_in_part() {
        let table = last(|g| {
            let table = g.input("table", [100, 4], F16, Input::Frozen)?;
            g.embedding(table, g.input("rows", [3], I64, Input::Copied)?).map(drop)
        });
        assert_eq!(table, [0]);
        let product = last(|g| {
            let x = g.input("x", [4, 4], F16, Input::Frozen)?;
            g.mm(x, x).map(drop)
        });
        assert!(product.is_empty());
        // Of a list all tensors are behind the one that is in front of it.
        let cache = last(|g| {
            let x = g.input("x", [1, 2, 1, 16], F16, Input::Copied)?;
            let mut y = g.empty([1, 2, 1, 16], F16)?;
            aclnn::incre_flash_attention(g, &x, &[&x], &[&x], None, None, None, 2, 1.0, "BNSD", 2, &mut y)
        });
        assert_eq!(cache, [1, 2]);
        // Without experts the matrices of a feed-forward network are read whole.
        let network = |experts: &[usize]| {
            last(|g| {
                let x = g.input("x", [3, 16], F16, Input::Copied)?;
                let w = |name: &str| g.input(name, &*[experts, &[16, 16]].concat(), F16, Input::Frozen);
                let (up, down, mut y) = (w("up")?, w("down")?, g.empty([3, 16], F16)?);
                aclnn::ffnv3(
                    g, &x, &up, &down, None, None, None, None, None, None, None, None, None, None, None, "relu", 0,
                    false, &mut y,
                )
            })
        };
        assert_eq!((network(&[]), network(&[8])), (vec![], vec![1, 2]));
    }
}
