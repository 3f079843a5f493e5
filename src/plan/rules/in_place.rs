//! Which operators may write a result to the very value that an operand is.

use std::ops::Range;

/// All operands.
const ALL: u32 = u32::MAX;
/// All but the first: what is added to, scattered into or asked about may be the result.
const OTHERS: u32 = !1;

/// Operators that read an operand again after they wrote some of a result, and which operands these are, by bits, in
/// the order of the tensors that the operator is given.
const NOT_IN_PLACE: &[(&[&str], u32)] = &[
    (&["GeluV2", "BinaryCrossEntropyWithLogitsBackward", "CrossEntropyLoss", "NLLLoss"], ALL),
    (&["Softmax", "LayerNorm", "BatchNorm", "InstanceNorm"], ALL),
    (&["GroupNorm", "GroupNormSilu", "GroupNormSiluV2"], ALL),
    (&["AddRmsNorm"], 1 << 2),
    (&["AddLayerNorm"], 0b11100),
    (&["ReduceSum", "Mean", "Topk"], ALL),
    (&["Cast", "InplaceCopy", "Permute", "Flip", "Roll", "ConstantPadNd"], ALL),
    (&["Embedding", "EmbeddingDenseBackward", "Bincount", "Unique2"], ALL),
    (&["IndexSelect", "Gather", "GatherV2", "GatherNd", "Take", "Index"], ALL),
    (&["RepeatInterleave", "RepeatInterleaveTensor", "RepeatInterleaveWithDim"], ALL),
    (&["RepeatInterleaveInt", "RepeatInterleaveIntWithDim"], ALL),
    (&["IndexAdd", "IndexCopy", "InplaceIndexCopy", "Scatter", "ScatterAdd", "ScatterNd"], OTHERS),
    (&["InplaceScatter", "InplaceScatterUpdate", "ScatterNdUpdate", "IndexPutImpl", "InplacePut"], OTHERS),
    (&["Matmul", "MatmulWeightNz", "Mm", "BatchMatMul", "BatchMatMulWeightNz", "Mv", "Addmm"], ALL),
    (&["QuantMatmulV3", "QuantMatmulV4", "QuantMatmulV5", "QuantMatmulWeightNz"], ALL),
    (&["WeightQuantBatchMatmulV2", "WeightQuantBatchMatmulV3"], ALL),
    (&["AddmmWeightNz", "Addmv", "Addbmm", "Baddbmm", "InplaceAddmm", "InplaceAddbmm", "InplaceBaddbmm"], OTHERS),
    (&["Gemm"], 0b11),
    (&["TriangularSolve"], 0b10),
    (&["Convolution", "ConvDepthwise2d", "AvgPool2d", "MaxPool", "MaxPool2dWithIndices"], ALL),
    (&["PromptFlashAttention", "PromptFlashAttentionV2", "PromptFlashAttentionV3"], OTHERS),
    (&["IncreFlashAttention", "IncreFlashAttentionV2", "IncreFlashAttentionV3", "IncreFlashAttentionV4"], OTHERS),
    (&["FusedInferAttentionScore", "FusedInferAttentionScoreV2", "FusedInferAttentionScoreV3"], OTHERS),
    (&["FusedInferAttentionScoreV4", "FusedInferAttentionScoreV5"], OTHERS),
    (&["FlashAttentionScore", "FlashAttentionScoreV2"], OTHERS),
    (&["RReluWithNoise", "InplaceRReluWithNoise", "ForeachNonFiniteCheckAndUnscale"], ALL),
];

/// Where the first and the last tensor stand that an operator writes.
pub(in crate::plan) fn places<T>(tensors: &[T], writes: impl Fn(&T) -> bool) -> Range<usize> {
    let first = tensors.iter().position(&writes).unwrap_or_default();
    first..tensors.iter().rposition(writes).map_or(first, |last| last + 1)
}

/// Whether a result of an operator, by its name in C, may be the very value that an operand is. Both are counted among
/// the tensors that the operator is given, of which it writes `written`. Nobody has tried operators that no rule knows.
pub(in crate::plan) fn works_in_place(name: &str, operand: usize, result: usize, written: Range<usize>) -> bool {
    let known = super::rule(name).and(name.strip_prefix("aclnn"));
    let Some(name) = known else { return false };
    if let Some((_, operands)) = NOT_IN_PLACE.iter().find(|(names, _)| names.contains(&name)) {
        return operands >> operand.min(31) & 1 == 0;
    }
    // Of lists, one place after the other is computed; a tensor of numbers for all of them is read each time.
    let count = written.len().max(1);
    !name.starts_with("Foreach")
        || operand < written.start / count * count && operand % count == result - written.start
}
