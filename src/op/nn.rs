//! The aclnn operators, one family a file.

pub(crate) mod arithmetic;
pub(crate) mod convert;
pub(crate) mod matmul;
pub(crate) mod normalise;
pub(crate) mod reduce;
pub(crate) mod select;
pub(crate) mod transformer;
pub(crate) mod unary;

mod attention;
mod channels;
mod compare;
mod create;
mod elements;
mod extremes;
mod in_place;
mod index;
mod layout;
mod norms;
mod order;
mod products;
mod window;
mod wrapped;
pub use arithmetic::{add, add_inplace, add_scaled, adds, div, divs, maximum, mul, mul_inplace, muls, sub};
pub use attention::{Attention, Mask, incremental_attention, prompt_attention};
pub use channels::{BatchNorm, GroupNorm, batch_norm, cross_entropy, group_norm};
pub use compare::{
    at_least, at_most, equal_to, greater_equal, greater_than, less, less_equal, less_than, logical_and, logical_not,
    logical_or, logical_xor, masked_fill, not_equal, not_equal_to,
};
pub use convert::{cast, copy, embedding, fill, permute};
pub use create::{arange, eye, linspace, one_hot, zero};
pub use elements::{
    ceil, clamp, cos, elu, exp, floor, hard_sigmoid, hard_swish, leaky_relu, log, minimum, neg, pow, pows,
    reciprocal, relu, round, sigmoid, sign, silu, sin, softplus,
};
pub use extremes::{all, amax, amin, any, argmin, max_dim, min_dim, norm, prod};
pub use in_place::{adds_inplace, div_inplace, muls_inplace, sub_inplace};
pub use index::{Reduce, gather, index_copy, index_fill, index_put, index_select, scatter};
pub use layout::{
    cat, expand, flip, pad, reflection_pad1d, reflection_pad2d, repeat, repeat_interleave, roll, slice, split, stack,
    tril, triu,
};
pub use matmul::{CubeMath, addmm, batch_matmul, matmul, matmul_with, mm};
pub use normalise::{GeluForm, LayerNorm, gelu, layer_norm, softmax};
pub use norms::{add_rms_norm, geglu, log_softmax};
pub use order::{argsort, cumsum, sort, topk};
pub use products::{baddbmm, dot, mv, triangular_solve, weight_quant_matmul};
pub use reduce::{mean, reduce_sum};
pub use select::{argmax, equal, greater, select};
pub use transformer::{RotaryForm, rms_norm, rotary_embedding, swiglu};
pub use unary::{abs, clamp_min, rsqrt, sqrt, tanh};
pub use window::{Window, avg_pool2d, conv1d, conv2d, im2col, max_pool2d, upsample_nearest2d};
