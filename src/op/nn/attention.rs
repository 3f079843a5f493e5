//! Fused attention: scores, softmax and weighted values of all heads in one operator.

use crate::error::Result;
use crate::op::operand::optional;
use crate::op::typed::size;
use crate::op::{Elements, Floats, Of, On, Operand, aclnn};

/// What [`prompt_attention`] and [`incremental_attention`] do, beside their tensors.
#[derive(Debug, Clone, Copy)]
pub struct Attention<'a> {
    /// Factor of the scores; often `1 / √(size of a head)`.
    pub scale: f64,
    /// Of each text, the rows of the query that count; all without it. Prompts only. From the host: planned for.
    pub rows: Option<&'a [i64]>,
    /// Of each text, the rows of the keys and values that count; all without it. From the host: planned for.
    pub key_rows: Option<&'a [i64]>,
}

impl Attention<'_> {
    /// Every row sees every key.
    #[must_use]
    pub fn new(scale: f64) -> Self {
        Self { scale, rows: None, key_rows: None }
    }
}

/// What the rows of [`prompt_attention`] see.
#[derive(Default)]
pub enum Mask<'a, M: Elements = u8> {
    /// All keys.
    #[default]
    None,
    /// Keys where this has 0: `[texts, 1, rows, keys]`, or with one text for all.
    Given(&'a M::Operand),
    /// The key with their own number and those before it. Takes a `[2048, 2048]` tensor with 1 above the diagonal,
    /// which cards cut their tiles from (sparse mode 2).
    Causal(&'a M::Operand),
}

impl<M: Elements> Clone for Mask<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Elements> Copy for Mask<'_, M> {}

impl<M: Elements> std::fmt::Debug for Mask<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Given(mask) => f.debug_tuple("Given").field(mask).finish(),
            Self::Causal(tile) => f.debug_tuple("Causal").field(tile).finish(),
        }
    }
}

/// Attention of many rows: `softmax(scale · q · kᵀ) · v` for each head.
///
/// `q` and `out` are `[texts, rows, heads, size]`, `k` and `v` are `[texts, keys, groups, size]`: `heads` is a multiple
/// of `groups`, and that many heads share one group of keys and values. A row that sees nothing becomes 0. `out` shares
/// no memory with the operands. Types: f16 and bf16; f32 too on the mock.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when shapes or lengths do not fit; those of
/// [every operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::op::{self, Attention, Mask};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let ones = device.upload_tensor(&vec![1_u8; 2048 * 2048], [2048, 2048])?;
/// let mut later = device.zeros([2048, 2048])?;
/// op::triu(&stream, &ones, 1, &mut later)?;
/// let q = device.upload_tensor(&[0.0_f32, 0.0], [1, 2, 1, 1])?; // two rows that like all keys equally
/// let v = device.upload_tensor(&[2.0, 4.0], [1, 2, 1, 1])?;
/// let mut out = device.zeros([1, 2, 1, 1])?;
/// op::prompt_attention(&stream, &q, &v, &v, Mask::Causal(&later), &Attention::new(1.0), &mut out)?;
/// assert_eq!(out.to_vec()?, [2.0, 3.0]); // the first sees the first only
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnPromptFlashAttentionV3")]
#[doc(alias = "scaled_dot_product_attention")]
#[track_caller]
pub fn prompt_attention<T: Floats>(
    on: &impl On<T>,
    q: &impl Of<T>,
    k: &impl Of<T>,
    v: &impl Of<T>,
    mask: Mask<'_, T::As<u8>>,
    attention: &Attention<'_>,
    out: &mut impl Of<T>,
) -> Result<()> {
    let (heads, groups) = (size(on, q, 2)?, size(on, k, 2)?);
    let Attention { scale, rows, key_rows } = *attention;
    let (mode, mask) = match mask {
        Mask::None => (0, None),
        Mask::Given(mask) => (0, Some(mask as &dyn Operand)),
        Mask::Causal(tile) => (2, Some(tile as &dyn Operand)),
    };
    // How far a row sees to either side, where the mode asks for it: everywhere.
    let all = i64::from(i32::MAX);
    aclnn::prompt_flash_attention_v3(
        on, q, k, v, None, mask, rows, key_rows, None, None, None, None, None, heads, scale, all, all, "BSND",
        groups, mode, 0, out,
    )
}

/// Attention of one row a text, as in decoding: `softmax(scale · q · kᵀ) · v` for each head.
///
/// `q` and `out` are `[texts, 1, heads, size]`, `k` and `v` are `[texts, keys, groups, size]`: `heads` is a multiple of
/// `groups`, and that many heads share one group of keys and values. `mask` has 1 where a text does not see a key, as
/// `[texts, 1, 1, keys]`. `out` shares no memory with the operands. Types: f16 and bf16; f32 too on the mock.
///
/// # Errors
///
/// As [`prompt_attention`].
///
/// # Examples
///
/// ```
/// use racl::op::{self, Attention};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let q = device.upload_tensor(&[0.0_f32; 2], [1, 1, 2, 1])?; // two heads
/// let cache = device.upload_tensor(&[2.0, 4.0, 100.0], [1, 3, 1, 1])?; // one group, three keys
/// let mut out = device.zeros([1, 1, 2, 1])?;
/// let two = Attention { key_rows: Some(&[2]), ..Attention::new(1.0) };
/// op::incremental_attention(&stream, &q, &cache, &cache, None, &two, &mut out)?;
/// assert_eq!(out.to_vec()?, [3.0, 3.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnIncreFlashAttention")]
#[track_caller]
pub fn incremental_attention<T: Floats>(
    on: &impl On<T>,
    q: &impl Of<T>,
    k: &impl Of<T>,
    v: &impl Of<T>,
    mask: Option<&<T::As<u8> as Elements>::Operand>,
    attention: &Attention<'_>,
    out: &mut impl Of<T>,
) -> Result<()> {
    let (heads, groups) = (size(on, q, 2)?, size(on, k, 2)?);
    let Attention { scale, key_rows, .. } = *attention;
    let mask = optional(mask);
    aclnn::incre_flash_attention(on, q, &[k], &[v], None, mask, key_rows, heads, scale, "BSND", groups, out)
}
