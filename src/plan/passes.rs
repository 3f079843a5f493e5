//! Passes: a plan that computes the same with less work. Uses checked plans, and simulates them to verify.
//!
//! A pass looks at a recipe and says what to leave out; the result is checked like a plan from a builder. Each leaves
//! alone what it cannot tell: memory of inputs and outputs, memory that is written more than once, and memory that
//! work beside the plan may use.

use crate::acl::Acl;
use crate::error::Result;

use super::builder::Built;
use super::checked::Plan;

mod arms;
mod attention;
mod blocked;
mod called;
mod channels;
mod common;
mod copies;
mod dead;
mod direct;
mod edit;
mod elements;
mod facts;
mod fold;
mod gates;
mod group;
mod made;
mod moves;
mod norms;
mod optimised;
mod products;
mod relaid;
mod replacing;
mod rotations;
#[cfg(test)]
mod tests;
mod transposes;
mod verify;

use edit::Edit;
use facts::Facts;
use made::Lacking;
pub use optimised::Optimised;
use verify::Bound;

/// How a pass is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum PassMode {
    /// Not at all.
    #[default]
    Off,
    /// It changes the plan.
    On,
    /// It changes the plan, and what it made is compared with what it was given: both are simulated on random inputs,
    /// with symbols at their bounds and half way where the plan given can run, or less where a run would take over 256
    /// MiB; also with zeros, and, where bits count, infinities and NaN. All outputs and inputs must be the same,
    /// bit for bit, of an output that the device finds ([`Builder::output_found`](super::Builder::output_found)) as much
    /// as came; but for passes that let another operator round fewer times ([`Passes::fused_attention`],
    /// [`Passes::fused_norms`], [`Passes::fused_gates`], [`Passes::fused_rotations`], [`Passes::fused_elements`], and
    /// [`Passes::fused_products`] where it finds products of f16 or bf16): floats may differ there by so much of the
    /// largest finite magnitude in the same output, 1e-4 for f32 and f64, 1e-2 for f16 and 5e-2 for bf16, or that of a
    /// coarser type in the plan; infinities and NaN have to be in the same places. That calls host functions, and needs
    /// each operator on the host ([`Plan::simulate`]).
    ///
    /// Work that makes much of small differences, such as a `tanh` or a softmax behind large sums of f16, can bring the
    /// numbers of a right plan beyond such a bound; verify its parts by themselves then.
    Verified,
}

/// Which passes a plan goes through, see [`Plan::optimise`], which writes out plans that it calls. None to begin with.
///
/// # Examples
///
/// ```
/// use racl::plan::{PassMode, Passes};
///
/// let careful = Passes::all(PassMode::Verified).folded_constants(PassMode::Off);
/// let one = Passes::new().dead_values(PassMode::On);
/// assert_ne!(careful, one);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passes {
    folded_constants: PassMode,
    needless_copies: PassMode,
    common_values: PassMode,
    needless_transposes: PassMode,
    needless_moves: PassMode,
    fused_attention: PassMode,
    fused_norms: PassMode,
    fused_gates: PassMode,
    fused_rotations: PassMode,
    fused_products: PassMode,
    fused_elements: PassMode,
    relaid_weights: PassMode,
    blocked_weights: PassMode,
    reads_blocks: bool,
    direct_results: PassMode,
    dead_values: PassMode,
    most_folded: usize,
    most_relaid: u64,
    foreign: bool,
    lacking: Lacking,
}

impl Default for Passes {
    fn default() -> Self {
        Self::new()
    }
}

impl Passes {
    /// No pass.
    #[must_use]
    pub const fn new() -> Self {
        Self::all(PassMode::Off)
    }

    /// Every pass in this way, but [`relaid_weights`](Self::relaid_weights) and
    /// [`blocked_weights`](Self::blocked_weights): those are right only where weights stay what they are, which a plan
    /// cannot tell.
    #[must_use]
    pub const fn all(mode: PassMode) -> Self {
        Self {
            folded_constants: mode,
            needless_copies: mode,
            common_values: mode,
            needless_transposes: mode,
            needless_moves: mode,
            fused_attention: mode,
            fused_norms: mode,
            fused_gates: mode,
            fused_rotations: mode,
            fused_products: mode,
            fused_elements: mode,
            relaid_weights: PassMode::Off,
            blocked_weights: PassMode::Off,
            reads_blocks: true,
            direct_results: mode,
            dead_values: mode,
            most_folded: 1 << 20,
            most_relaid: u64::MAX,
            foreign: false,
            lacking: Lacking::none(),
        }
    }

    /// Work on constants alone is done now, and its results are constants of the plan.
    ///
    /// Only where all sizes are fixed, there is an operand at all, and the results are memory of the plan that nothing
    /// else writes. This crate computes the commonest operators of [`op::aclnn`](crate::op::aclnn) itself, as
    /// [`Plan::simulate`] does, and the mock the others, with the feature `mock`; these stay without it. The numbers are
    /// the host's: a device may round differently, within what the operator documents. Operators that draw numbers stay.
    #[must_use]
    pub const fn folded_constants(mut self, mode: PassMode) -> Self {
        self.folded_constants = mode;
        self
    }

    /// A copy goes, and its readers read the original: whole memory of the plan or a constant, without gaps, of the
    /// same type and shape, that is not written once it was copied; nor is the copy.
    #[must_use]
    pub const fn needless_copies(mut self, mode: PassMode) -> Self {
        self.needless_copies = mode;
        self
    }

    /// Work that was done before goes, and the first result is used: the same operator, told the same, with operands
    /// that nothing may have written in between, on the same stream or ordered before; results are memory of the plan
    /// that nothing else writes. Where the plan waits for a gate, signals one or calls a host function in between,
    /// operands that are inputs or outputs may be others. The first result lives longer then, so that the plan may
    /// need more memory.
    #[must_use]
    pub const fn common_values(mut self, mode: PassMode) -> Self {
        self.common_values = mode;
        self
    }

    /// A permutation that exchanges the last two dimensions goes, and the products that read it read a view of what it
    /// copied: a weight is never laid anew, however often the plan runs. Only where products alone read the copy, as
    /// matrices, and nothing may write the original before they do. Of a constant the permutation is
    /// [folded](Self::folded_constants) before.
    #[must_use]
    pub const fn needless_transposes(mut self, mode: PassMode) -> Self {
        self.needless_transposes = mode;
        self
    }

    /// An operator that only moves elements goes, and what reads its result reads a view of what it moved: a copy of a
    /// view or of an input, `permute`, `aclnnSlice`, `aclnnSplitWithSize`, and `aclnnCat` of pieces that lie behind each
    /// other in one memory. Only where the readers are operators on elements, sums along dimensions, `softmax`, products
    /// or others that move, which take any strides; where it is one operator, since each may have to gather the
    /// elements for itself, or the view has no gaps; and where nothing may write what was moved before they read it. It
    /// waits for the other passes, but for [`fused_elements`](Self::fused_elements) and
    /// [`direct_results`](Self::direct_results).
    #[must_use]
    pub const fn needless_moves(mut self, mode: PassMode) -> Self {
        self.needless_moves = mode;
        self
    }

    /// `softmax(scale · q · kᵀ + mask) · v` in products of three or four dimensions becomes
    /// `aclnnPromptFlashAttentionV3`: of f16 or bf16, which cards take, of 256 heads of 512 elements at most, with or
    /// without casts to f32 around the softmax, a scale, and a mask. A mask is a constant of zeros and minus infinities,
    /// the same for all heads, in which each row sees something. What holds for all fused passes: nobody else reads what
    /// the operators in between make, all are on one stream with one limit of cores, they are told all numbers when the
    /// plan is built, and nothing may write what they read until the last one is done, nor is it what that writes.
    #[must_use]
    pub const fn fused_attention(mut self, mode: PassMode) -> Self {
        self.fused_attention = mode;
        self
    }

    /// `x · rsqrt(mean(x²) + eps) · weight` becomes `aclnnRmsNorm`, where the mean is over the dimensions of the
    /// weight, which are the last ones of `x`, and keeps them: of f32, f16 or bf16, statistics in f32, with casts
    /// around. The square may be a product, a power of 2 or `aclnnSquare`, the root part of a quotient. With a sum of
    /// two tensors of one shape in front it becomes `aclnnAddRmsNorm`; others may read the sum after that. And
    /// `(x - mean) · scale · weight + bias` with a number for each channel becomes `aclnnBatchNormElemt`: of f32, where
    /// the scale comes from `aclnnRsqrt` or is a constant above 0, since libraries of CANN take the variance out of it.
    /// The rest is as for [`fused_attention`](Self::fused_attention).
    ///
    /// A sum of two tensors of one shape in front of `aclnnLayerNorm` with a weight and a bias of its type becomes
    /// `aclnnAddLayerNorm`, which Atlas A2, A3 and inference cards and Ascend 950 have, with an eps of 1e-5, the one
    /// that its document allows; others may read the sum after that, and where nobody does it is not written.
    #[must_use]
    pub const fn fused_norms(mut self, mode: PassMode) -> Self {
        self.fused_norms = mode;
        self
    }

    /// `silu(gate) · up` becomes `aclnnSwiGlu` where both are halves of one tensor: views, the second behind the first
    /// in some dimension, or what `aclnnSplitWithSize` makes. `silu` may be written with `sigmoid`. Two products whose
    /// weights could be joined stay two, and so do halves and results with gaps, which its document excludes. The rest is
    /// as for [`fused_attention`](Self::fused_attention).
    #[must_use]
    pub const fn fused_gates(mut self, mode: PassMode) -> Self {
        self.fused_gates = mode;
        self
    }

    /// `x · cos + cat(-second half of x, first half) · sin` becomes `aclnnRotaryPositionEmbedding`, over the last of
    /// four dimensions, where the angles have a shape that cards take: the last dimension of `x`, and of the others
    /// those of rows, of rows and batches, or all. Batches and heads are fewer than 1,000 each, together at most eight
    /// times the rows where those come right before the last dimension, and the result has no gaps, as its document
    /// wants. The rest is as for [`fused_attention`](Self::fused_attention).
    #[must_use]
    pub const fn fused_rotations(mut self, mode: PassMode) -> Self {
        self.fused_rotations = mode;
        self
    }

    /// A product to which something is added becomes one operator with it, where all tensors are of one type, f32,
    /// f16 or bf16, and the product is computed in the type of the operands:
    ///
    /// | the product | becomes |
    /// |---|---|
    /// | of two matrices | [`op::addmm`](crate::op::addmm) |
    /// | of as many matrices on both sides, in three dimensions | `aclnnBaddbmm` |
    /// | of rows in several dimensions and a matrix, where a view has the rows in one; what is added is the same for all rows, or such rows | [`op::addmm`](crate::op::addmm) of that view |
    ///
    /// Numbers in front of the product and of what is added, from `aclnnMuls`, `aclnnNeg`, `aclnnSub` or the `alpha`
    /// of a sum, become `alpha` and `beta`, unless one is 0, `beta` at most 1.2e-7, which libraries of CANN take for 0, or two of them
    /// would have to be multiplied. Of f32 the
    /// numbers are the same on the mock and on the host; of f16 and bf16 they are rounded once. A device may round
    /// differently, within what the operator documents. The rest is as for
    /// [`fused_attention`](Self::fused_attention).
    ///
    /// An activation behind stays an operator of its own. By the pages of the open operator repositories, up to CANN
    /// 9.2: `aclnnFusedMatmul` computes it too, but is for Ascend 950 alone, takes no bias in front of a GELU, f32 in
    /// HF32 only, and the mock does not compute it; `aclnnFFN` and its later versions are two products with the
    /// activation between them, which their page says to try and to leave where they are slower; the grouped products
    /// take one where all operands are quantised.
    #[must_use]
    pub const fn fused_products(mut self, mode: PassMode) -> Self {
        self.fused_products = mode;
        self
    }

    /// A chain of operators on elements becomes the operator that the library has for it, where all tensors of it are of
    /// one type, f32, f16 or bf16:
    ///
    /// | the chain | becomes |
    /// |---|---|
    /// | `a ± s · b` | `aclnnAdd` with `alpha` |
    /// | `a ± s · b · c`, `a ± s · b / c` | `aclnnAddcmul`, `aclnnAddcdiv` |
    /// | `a + w · (b - a)` | `aclnnLerp` for a tensor, `aclnnLerps` for a number |
    /// | `s · x + t` | `aclnnRsubs` |
    /// | a least and a greatest number, also as constants of one element | `aclnnClamp` |
    /// | what is not negative of `a ± s · b` | `aclnnAddRelu` |
    /// | `1 / (1 + exp(-x))`; its product with `x`, or that of `x` and `sigmoid(x)` or `sigmoid(s · x)` | `aclnnSigmoid`, `aclnnSilu`, `aclnnSwish` |
    /// | `0.5 · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))`, `0.5 · x · (1 + erf(x / √2))` | `aclnnGeluV2` |
    ///
    /// It comes after all other passes but [`direct_results`](Self::direct_results), so that none of them misses a
    /// part of what it looks for. The rest is as for [`fused_attention`](Self::fused_attention).
    #[must_use]
    pub const fn fused_elements(mut self, mode: PassMode) -> Self {
        self.fused_elements = mode;
        self
    }

    /// A copy into a part of a larger value goes, and what makes the copied result writes it there: a byte copy or
    /// `aclnnInplaceCopy` into a view, such as a row of a cache, or `aclnnCat` and `aclnnStack` where all that they
    /// join is made so. Only results of operators of the library that nobody else reads, on the stream of the copy;
    /// where nobody uses the part from the start of the operator until it is copied; and parts without gaps: most
    /// operators of the library write results with gaps by a copy of their own. It waits for the other passes, which
    /// know results by the memory that is theirs alone.
    #[must_use]
    pub const fn direct_results(mut self, mode: PassMode) -> Self {
        self.direct_results = mode;
        self
    }

    /// Work on weights alone is done once, when an executable is made, and runs read its results: a weight is turned,
    /// copied without gaps, cast, joined with others or computed from quantised ones for all runs together. Weights are
    /// [frozen](super::Input::Frozen) inputs that the plan does not write, and constants; only operators of the library
    /// whose sizes are all fixed, and results that are memory of the plan which nothing else writes.
    ///
    /// **What the frozen inputs hold when the executable is made is what runs compute with**, whatever is written to
    /// them later. So it is not one of [`all`](Self::all): turn it on where weights stay what they are. Executables
    /// have such results each for itself, beside the weights, which they still hold; [`Plan::memory`] does not count
    /// them. In a plan that calls this one the work is done by every run, since calls may give other weights; the
    /// calling plan can go through this pass itself.
    ///
    /// It waits for the other passes, but for [`needless_moves`](Self::needless_moves) and those that wait for that:
    /// with [`needless_transposes`](Self::needless_transposes) on, products read weights turned where they are, and
    /// those are not laid anew. [`most_relaid`](Self::most_relaid) bounds the memory.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, PassMode, Passes, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [1, 2], F32, Input::Static)?;
    ///     let w = g.input("w", [3, 2], F32, Input::Frozen)?; // a row for each result
    ///     g.output("y", g.matmul(x, g.permute(w, &[1, 0])?)?)
    /// })?;
    /// let better = plan.optimise(&Passes::new().relaid_weights(PassMode::Verified))?.plan;
    /// assert_eq!((plan.operators(), better.operators()), (2, 1));
    /// assert!(better.to_text().contains("once, origin: %aclnnPermute.0 f32[2, 3] = "));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub const fn relaid_weights(mut self, mode: PassMode) -> Self {
        self.relaid_weights = mode;
        self
    }

    /// Weights of products are brought into FRACTAL_NZ once, when an executable is made: the blocks of 16 rows in which
    /// the matrix cores of a card read them, so that no product lays its weight anew. The newest releases have such
    /// products: with an older library the executable is not made
    /// ([`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol)), unless [`for_library`](Self::for_library) says
    /// which it is.
    ///
    /// | the product | becomes |
    /// |---|---|
    /// | `aclnnMatmul`, `aclnnMm` of two matrices, or of rows in several dimensions where a view has them in one | `aclnnMatmulWeightNz` |
    /// | `aclnnMatmul`, `aclnnBatchMatMul` of as many matrices on both sides, in three dimensions | `aclnnBatchMatMulWeightNz` |
    /// | `aclnnAddmm`, also from [`fused_products`](Self::fused_products) | `aclnnAddmmWeightNz` |
    /// | `aclnnQuantMatmulV4`, `aclnnQuantMatmulV5` of two matrices of 8 bits, without groups and offsets | `aclnnQuantMatmulWeightNz` |
    ///
    /// Of f16 or bf16, all operands of one type, and of i8. Only weights, as
    /// [`relaid_weights`](Self::relaid_weights) says, that such products alone read, all behind the first of them; of
    /// fixed sizes that are multiples of the blocks, which are 16 by 16, and 16 by 32 of i8; also views that are
    /// turned. The blocks are memory beside the weight, which the executable still holds; `aclnnPermute` lays them.
    /// It works wherever the plan will run, unless [`on_soc`](Self::on_soc) says where.
    ///
    /// **What the frozen inputs hold when the executable is made is what runs compute with**, so it is not one of
    /// [`all`](Self::all). It waits for the other passes. To be verified or simulated it needs the feature `mock`.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F16;
    /// use racl::plan::{Input, PassMode, Passes, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [1, 32], F16, Input::Static)?;
    ///     let w = g.input("w", [32, 64], F16, Input::Frozen)?;
    ///     g.output("y", g.matmul(x, w)?)
    /// })?;
    /// let better = plan.optimise(&Passes::new().blocked_weights(PassMode::On))?.plan;
    /// assert_eq!(better.operators(), 1);
    /// let text = better.to_text();
    /// assert!(text.contains("once, origin: %aclnnPermute.0 f16[4, 2, 16, 16] = "), "{text}");
    /// assert!(text.contains("aclnnMatmulWeightNz"));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub const fn blocked_weights(mut self, mode: PassMode) -> Self {
        self.blocked_weights = mode;
        self
    }

    /// Says where the plan will run, by the name of the SoC ([`Acl::soc_name`](crate::Acl::soc_name)): weights are
    /// [brought into blocks](Self::blocked_weights) only for cards whose library has such products, which are Atlas A2
    /// (`Ascend910B…`) and A3 (`Ascend910_93…`). Without it they are for every one, also where there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::{PassMode, Passes};
    ///
    /// let acl = racl::Acl::mock()?;
    /// let passes = Passes::all(PassMode::On).blocked_weights(PassMode::On).on_soc(&acl.soc_name()?);
    /// # let _ = passes;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn on_soc(mut self, soc: &str) -> Self {
        self.reads_blocks = blocked::has_products(soc);
        self
    }

    /// Says which library the plan will run with: passes make only operators that it has, and leave alone what would
    /// become another one. Without it they make all that they know, and no executable is made where the library lacks
    /// one ([`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol)).
    ///
    /// What a release declares in its headers says less: `aclnnRmsNorm`, `aclnnAddLayerNorm` and `aclnnSwiGlu` are
    /// declared by headers of CANN 8.1, and of later ones only once the library is built, which makes those headers.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, PassMode, Passes, Plan};
    ///
    /// let acl = racl::Acl::mock()?;
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2, 4], F32, Input::Copied)?;
    ///     let w = g.input("w", [4], F32, Input::Frozen)?;
    ///     g.output("y", g.layer_norm(g.add(x, x)?, w, w, 1e-5)?)
    /// })?;
    /// let passes = Passes::all(PassMode::On).for_library(&acl);
    /// assert_eq!(plan.optimise(&passes)?.plan.operators(), 1); // the mock has aclnnAddLayerNorm
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn for_library(mut self, acl: &Acl) -> Self {
        self.lacking = Lacking::of(acl.table());
        self
    }

    /// Most bytes, in all, of what is [laid](Self::relaid_weights) or [brought into blocks](Self::blocked_weights) once
    /// and kept by an executable: any number, if nothing is said. What is written on the way to what runs read is not
    /// kept, and does not count. What has no room stays as it is, in the order of the plan.
    #[must_use]
    pub const fn most_relaid(mut self, bytes: u64) -> Self {
        self.most_relaid = bytes;
        self
    }

    /// Work goes of which nobody reads what it writes, and so does what only such work needs, and prefetches for it.
    ///
    /// Host functions, copies to and from the host, and writes to inputs and outputs always stay, as do operators that
    /// work together with those of other devices.
    #[must_use]
    pub const fn dead_values(mut self, mode: PassMode) -> Self {
        self.dead_values = mode;
        self
    }

    /// Most bytes of the results of one operator that become constants: 1 MiB, if nothing is said.
    #[must_use]
    pub const fn most_folded(mut self, bytes: usize) -> Self {
        self.most_folded = bytes;
        self
    }

    /// Says that [foreign operators](crate::plan::Foreign) with a name do nothing but compute all that they write from
    /// what they read and their attributes, so that they may go like others; those of one name, version and
    /// attributes are the same then. They are never folded.
    #[must_use]
    pub const fn foreign_only_computes(mut self) -> Self {
        self.foreign = true;
        self
    }

    fn all_modes(&self) -> [(Pass, PassMode); 15] {
        [
            (Pass::Fold, self.folded_constants),
            (Pass::Copies, self.needless_copies),
            (Pass::Common, self.common_values),
            (Pass::Transposes, self.needless_transposes),
            (Pass::Attention, self.fused_attention),
            (Pass::Norms, self.fused_norms),
            (Pass::Gates, self.fused_gates),
            (Pass::Rotations, self.fused_rotations),
            (Pass::Products, self.fused_products),
            (Pass::Blocked, if self.reads_blocks { self.blocked_weights } else { PassMode::Off }),
            (Pass::Relaid, self.relaid_weights),
            (Pass::Moves, self.needless_moves),
            (Pass::Elements, self.fused_elements),
            (Pass::Direct, self.direct_results),
            (Pass::Dead, self.dead_values),
        ]
    }

    /// The plan after one pass; none when there is nothing to change.
    fn apply(&self, plan: &Plan, pass: Pass, mode: PassMode) -> Result<Option<Plan>> {
        let facts = Facts::of(plan.0.inlined(), (self.foreign, self.lacking));
        // None of them is put in here: one function of all has a frame whose places take longer addresses.
        let edit = match pass {
            Pass::Fold => fold::run(&facts, self.most_folded as u64)?,
            Pass::Copies => copies::run(&facts),
            Pass::Common => common::run(&facts),
            Pass::Transposes => transposes::run(&facts),
            Pass::Attention => attention::run(&facts)?,
            Pass::Norms => norms::run(&facts)?,
            Pass::Gates => gates::run(&facts)?,
            Pass::Rotations => rotations::run(&facts)?,
            Pass::Products => products::run(&facts)?,
            Pass::Blocked => blocked::run(&facts, self.most_relaid)?,
            Pass::Relaid => relaid::run(&facts, self.most_relaid),
            Pass::Moves => moves::run(&facts),
            Pass::Elements => elements::run(&facts)?,
            Pass::Direct => direct::run(&facts),
            Pass::Dead => dead::run(&facts),
        };
        if edit.changes.is_empty() {
            return Ok(None);
        }
        let bound = if edit.rounds_less { Bound::Close } else { pass.bound() };
        let changed = changed(plan, edit).map_err(|error| error.context(pass.name()))?;
        if mode == PassMode::Verified {
            verify::verify(pass.name(), bound, plan, &changed)?;
        }
        Ok(Some(changed))
    }
}

#[derive(Debug, Clone, Copy)]
enum Pass {
    Fold,
    Copies,
    Common,
    Transposes,
    Attention,
    Norms,
    Gates,
    Rotations,
    Products,
    Blocked,
    Relaid,
    Moves,
    Elements,
    Direct,
    Dead,
}

impl Pass {
    fn name(self) -> &'static str {
        match self {
            Self::Fold => fold::NAME,
            Self::Copies => copies::NAME,
            Self::Common => common::NAME,
            Self::Transposes => transposes::NAME,
            Self::Attention => attention::NAME,
            Self::Norms => norms::NAME,
            Self::Gates => gates::NAME,
            Self::Rotations => rotations::NAME,
            Self::Products => products::NAME,
            Self::Blocked => blocked::NAME,
            Self::Relaid => relaid::NAME,
            Self::Moves => moves::NAME,
            Self::Elements => elements::NAME,
            Self::Direct => direct::NAME,
            Self::Dead => dead::NAME,
        }
    }
}

impl Pass {
    /// Whether others look for what it would take apart, so that it waits until they find nothing.
    fn is_late(self) -> bool {
        matches!(self, Self::Blocked | Self::Relaid | Self::Moves | Self::Elements | Self::Direct)
    }

    /// How far numbers may be from those before.
    fn bound(self) -> Bound {
        match self {
            Self::Attention | Self::Norms | Self::Gates | Self::Rotations | Self::Elements => Bound::Close,
            _ => Bound::Equal,
        }
    }
}

/// The plan with the changes, checked.
fn changed(plan: &Plan, edit: Edit) -> Result<Plan> {
    let old = plan.0.inlined();
    let changes = plan.0.changes.iter().chain(&edit.changes).cloned().collect();
    let (recipe, bodies, positions) = edit.apply(&old.recipe, &old.bodies);
    let written = plan.0.inlined_positions();
    let now = |node: u32| positions[written(node)? as usize];
    let recorded = &plan.0.recorded.recipe;
    let lints = plan.0.lints.iter().filter_map(|lint| lint.moved((recorded, &recipe), now)).collect();
    Plan::of_changed(Built { plan: plan.0.id, recipe, bodies, lints }, changes)
}
