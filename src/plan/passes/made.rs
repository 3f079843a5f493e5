//! The operators that passes let stand for others, and which of them a library lacks.

use acl_sys::Table;

/// By their names in C.
const MADE: [&str; 25] = [
    "aclnnPromptFlashAttentionV3",
    "aclnnRmsNorm",
    "aclnnAddRmsNorm",
    "aclnnAddLayerNorm",
    "aclnnBatchNormElemt",
    "aclnnSwiGlu",
    "aclnnRotaryPositionEmbedding",
    "aclnnAddmm",
    "aclnnBaddbmm",
    "aclnnMatmulWeightNz",
    "aclnnBatchMatMulWeightNz",
    "aclnnAddmmWeightNz",
    "aclnnQuantMatmulWeightNz",
    "aclnnAdd",
    "aclnnAddcmul",
    "aclnnAddcdiv",
    "aclnnLerp",
    "aclnnLerps",
    "aclnnRsubs",
    "aclnnClamp",
    "aclnnAddRelu",
    "aclnnSigmoid",
    "aclnnSilu",
    "aclnnSwish",
    "aclnnGeluV2",
];

/// Some of those operators, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lacking(u32);

impl Lacking {
    pub(super) const fn none() -> Self {
        Self(0)
    }

    /// What a library does not have.
    pub(super) fn of(table: &Table) -> Self {
        Self::where_not(|name| table.has(name) && table.has(&format!("{name}GetWorkspaceSize")))
    }

    pub(super) fn where_not(has: impl Fn(&str) -> bool) -> Self {
        let bits = MADE.iter().enumerate().filter(|(_, name)| !has(name)).map(|(bit, _)| 1 << bit);
        Self(bits.fold(0, |all, bit: u32| all | bit))
    }

    /// Whether an operator is one of them.
    pub(super) fn has(self, name: &str) -> bool {
        let bit = MADE.iter().position(|made| *made == name);
        debug_assert!(bit.is_some(), "{name} is none of the operators that passes make");
        bit.is_some_and(|bit| self.0 >> bit & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_bit_and_is_a_function_of_the_library() {
        assert!(MADE.len() <= 32);
        for name in MADE {
            assert!(acl_sys::symbol_info(name).is_some(), "{name}");
            let lacking = Lacking::where_not(|other| other != name);
            let lacks: Vec<_> = MADE.into_iter().filter(|other| lacking.has(other)).collect();
            assert_eq!(lacks, [name]);
        }
    }
}
