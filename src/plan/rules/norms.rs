//! Softmax, normalisations, gates, and rotary embeddings.

use crate::op::DataType::{self, F32};
use crate::plan::recipe::operator::Operand;
use crate::plan::symbols::dim::Dim;

use super::shapes::{dim_of, require_same, require_spread, resized, writable};
use super::types::{Types, require, same};
use super::{Also, Args, Family, No, Of, Results, ensure, sizes};

/// A tensor of f32, f16 or bf16.
fn narrow<'a>(args: &Args<'a>, at: usize) -> Result<Operand<'a>, No> {
    let x = args.tensor(at)?;
    require(Types::NARROW, x.dtype, "an operand")?;
    Ok(x)
}

/// One that may be left out, of a shape.
fn maybe_narrow(args: &Args<'_>, at: usize, dims: &[Dim], what: &str) -> Result<(), No> {
    if args.has(at) { require_same(narrow(args, at)?.dims, dims, what) } else { Ok(()) }
}

fn any_narrow(dtype: DataType, dims: impl Into<Vec<Dim>>) -> Of {
    Of::new(dtype, dims).or(Types::NARROW)
}

/// A result that is not looked at.
fn unused(dtype: DataType) -> Of {
    Of::new(dtype, [Dim::from(1)]).or(Types::KNOWN).or_shape(Also::Anything).unless(false)
}

fn softmax(args: &Args<'_>) -> Results {
    if args.tensor(0)?.dtype == DataType::F64 {
        return Err(No::Unsure("a library may take F64".to_owned()));
    }
    let x = narrow(args, 0)?;
    dim_of(args.fixed(1)?, x.dims.len())?;
    Ok(vec![any_narrow(x.dtype, x.dims)])
}

fn softmax_backward(args: &Args<'_>) -> Results {
    let (grad, output) = (narrow(args, 0)?, narrow(args, 1)?);
    require_same(grad.dims, output.dims, "a gradient")?;
    dim_of(args.fixed(2)?, output.dims.len())?;
    Ok(vec![any_narrow(output.dtype, output.dims)])
}

/// How many dimensions stand before those that are normalised, which are told.
fn lead(args: &Args<'_>, x: Operand<'_>, shape: usize) -> Result<usize, No> {
    let inner = args.ints(shape)?;
    let fits = !inner.is_empty() && x.dims.ends_with(&inner);
    ensure!(fits, "{:?} is normalised over {inner:?}, which is not its end", x.dims);
    Ok(x.dims.len() - inner.len())
}

/// The shape with ones from a dimension on.
fn ones_from(dims: &[Dim], at: usize) -> Vec<Dim> {
    let ones = std::iter::repeat_n(Dim::from(1), dims.len() - at);
    dims[..at].iter().copied().chain(ones).collect()
}

fn layer_norm(args: &Args<'_>) -> Results {
    let x = narrow(args, 0)?;
    let lead = lead(args, x, 1)?;
    maybe_narrow(args, 2, &x.dims[lead..], "a weight")?;
    maybe_narrow(args, 3, &x.dims[lead..], "a bias")?;
    // Results that are left out need no shape.
    let statistics = |at| any_narrow(F32, if args.has(at) { ones_from(x.dims, lead) } else { Vec::new() });
    Ok(vec![Of::new(x.dtype, x.dims), statistics(6), statistics(7)])
}

fn layer_norm_with_mode(args: &Args<'_>) -> Results {
    let mode = args.fixed(8)?;
    ensure!((0..=2).contains(&mode), "a mode {mode}, which is 0 to 2");
    layer_norm(args)
}

/// Which results are wanted; a result that is, and is left out, is refused.
fn wanted(args: &Args<'_>, mask: usize, first: usize) -> Result<[bool; 3], No> {
    let mask = args.bools(mask)?;
    let &[a, b, c] = mask else {
        return Err(No::Misfit(format!("a mask of {} truth values, which are 3", mask.len())));
    };
    for (at, wanted) in [a, b, c].into_iter().enumerate() {
        ensure!(!wanted || args.has(first + at), "a result that is wanted and left out");
    }
    Ok([a, b, c])
}

/// The results that are wanted.
fn chosen(wanted: [bool; 3], results: [Of; 3]) -> Results {
    Ok(wanted.into_iter().zip(results).map(|(wanted, of)| if wanted { of } else { unused(of.dtype) }).collect())
}

fn layer_norm_backward(args: &Args<'_>) -> Results {
    let wanted = wanted(args, 7, 8)?;
    let (grad, x, mean, rstd) = (narrow(args, 0)?, narrow(args, 1)?, narrow(args, 3)?, narrow(args, 4)?);
    let lead = lead(args, x, 2)?;
    let (inner, statistics) = (&x.dims[lead..], ones_from(x.dims, lead));
    require_same(grad.dims, x.dims, "a gradient")?;
    require_same(mean.dims, &statistics, "a mean")?;
    require_same(rstd.dims, &statistics, "a deviation")?;
    maybe_narrow(args, 5, inner, "a weight")?;
    maybe_narrow(args, 6, inner, "a bias")?;
    chosen(wanted, [any_narrow(x.dtype, x.dims), any_narrow(x.dtype, inner), any_narrow(x.dtype, inner)])
}

/// The statistics may leave out dimensions at their end.
fn rms(args: &Args<'_>, x: Operand<'_>, gamma: usize, rstd: usize) -> Result<(Of, Of), No> {
    let gamma = narrow(args, gamma)?;
    same(gamma.dtype, x.dtype, "an input and its weight")?;
    let fits = !gamma.dims.is_empty() && x.dims.ends_with(gamma.dims);
    ensure!(fits, "a weight {:?} for {:?}", gamma.dims, x.dims);
    let statistics = ones_from(x.dims, x.dims.len() - gamma.dims.len());
    let shorter = args.declared(rstd).map(|of| of.dims.to_vec()).filter(|dims| statistics.starts_with(dims));
    let rstd = Of::new(F32, statistics).or_shape(shorter.map_or(Also::Nothing, Also::Shape));
    Ok((Of::new(x.dtype, x.dims), rstd))
}

fn rms_norm(args: &Args<'_>) -> Results {
    let (y, rstd) = rms(args, narrow(args, 0)?, 1, 4)?;
    Ok(vec![y, rstd])
}

fn add_rms_norm(args: &Args<'_>) -> Results {
    let (x, other) = (narrow(args, 0)?, narrow(args, 1)?);
    same(other.dtype, x.dtype, "operands")?;
    require_same(other.dims, x.dims, "an operand")?;
    let (y, rstd) = rms(args, x, 2, 5)?;
    Ok(vec![y.clone(), rstd, y])
}

fn add_layer_norm(args: &Args<'_>) -> Results {
    let (x, other, gamma, beta) = (narrow(args, 0)?, narrow(args, 1)?, narrow(args, 2)?, narrow(args, 3)?);
    for operand in [other, gamma, beta] {
        same(operand.dtype, x.dtype, "operands")?;
    }
    require_same(other.dims, x.dims, "an operand")?;
    let fits = !gamma.dims.is_empty() && x.dims.ends_with(gamma.dims);
    ensure!(fits, "a weight {:?} for {:?}", gamma.dims, x.dims);
    require_same(beta.dims, gamma.dims, "a bias")?;
    if args.has(4) {
        let more = narrow(args, 4)?;
        same(more.dtype, x.dtype, "operands")?;
        require_same(more.dims, if more.dims.len() == x.dims.len() { x.dims } else { gamma.dims }, "an operand")?;
    }
    let statistics = Of::new(F32, ones_from(x.dims, x.dims.len() - gamma.dims.len()));
    let y = Of::new(x.dtype, x.dims);
    let sum = y.clone().unless(args.flag(6)?);
    Ok(vec![y, statistics.clone(), statistics, sum])
}

/// A number for each channel, where it is there.
fn channels(args: &Args<'_>, at: usize, channels: Dim) -> Result<(), No> {
    maybe_narrow(args, at, &[channels], "a number for each channel")
}

/// Images of several channels.
fn images<'a>(args: &Args<'a>, at: usize) -> Result<Operand<'a>, No> {
    let x = narrow(args, at)?;
    ensure!(x.dims.len() >= 2, "an input of shape {:?}", x.dims);
    Ok(x)
}

fn group_norm(args: &Args<'_>, groups: usize, told: bool) -> Results {
    let x = images(args, 0)?;
    if told {
        let size = sizes::product(&x.dims[2..]);
        let fits = args.int(3)? == x.dims[0] && args.int(4)? == x.dims[1] && Some(args.int(5)?) == size;
        ensure!(fits, "other numbers than those of an input {:?}", x.dims);
    }
    channels(args, 1, x.dims[1])?;
    channels(args, 2, x.dims[1])?;
    let groups = args.fixed(groups)?;
    let fits = sizes::fixed(x.dims[1]).is_none_or(|channels| groups > 0 && channels % groups == 0);
    ensure!(groups > 0 && fits, "{groups} groups of {:?} channels", x.dims[1]);
    let statistics = any_narrow(x.dtype, [x.dims[0], sizes::number(groups)]);
    Ok(vec![Of::new(x.dtype, x.dims), statistics.clone(), statistics])
}

fn instance_norm(args: &Args<'_>) -> Results {
    let x = narrow(args, 0)?;
    let &[n, a, b, c] = x.dims else {
        return Err(No::Misfit(format!("an input of shape {:?}; it has 4 dimensions", x.dims)));
    };
    let one = Dim::from(1);
    let (number, statistics) = match args.text(3)? {
        Some(b"NCHW") => (a, [n, a, one, one]),
        Some(b"NHWC") => (c, [n, one, one, c]),
        _ => return Err(No::Misfit("a format that is neither NCHW nor NHWC".to_owned())),
    };
    let _ = b;
    require_same(narrow(args, 1)?.dims, &[number], "a weight")?;
    require_same(narrow(args, 2)?.dims, &[number], "a bias")?;
    let statistics = any_narrow(x.dtype, statistics);
    Ok(vec![Of::new(x.dtype, x.dims), statistics.clone(), statistics])
}

fn batch_norm(args: &Args<'_>) -> Results {
    let x = images(args, 0)?;
    let training = args.flag(5)?;
    (1..=4).try_for_each(|at| channels(args, at, x.dims[1]))?;
    ensure!(training || (args.has(3) && args.has(4)), "no statistics, and nothing is trained");
    let saved = if training { any_narrow(F32, [x.dims[1]]) } else { unused(F32) };
    Ok(vec![Of::new(x.dtype, x.dims), saved.clone(), saved])
}

fn batch_norm_elements(args: &Args<'_>) -> Results {
    let x = images(args, 0)?;
    (1..=4).try_for_each(|at| channels(args, at, x.dims[1]))?;
    Ok(vec![Of::new(x.dtype, x.dims)])
}

fn batch_norm_backward(args: &Args<'_>) -> Results {
    let wanted = wanted(args, 9, 10)?;
    let (grad, x) = (narrow(args, 0)?, images(args, 1)?);
    require_same(grad.dims, x.dims, "a gradient")?;
    channels(args, 2, x.dims[1])?;
    let statistics = if args.flag(7)? { [5, 6] } else { [3, 4] };
    for at in statistics {
        require_same(narrow(args, at)?.dims, &[x.dims[1]], "a number for each channel")?;
    }
    let line = any_narrow(x.dtype, [x.dims[1]]);
    chosen(wanted, [any_narrow(x.dtype, x.dims), line.clone(), line])
}

// ---- gates ----

/// Half of a dimension.
fn halved(args: &Args<'_>) -> Result<Of, No> {
    let x = narrow(args, 0)?;
    ensure!(!x.dims.is_empty(), "an input without a dimension to halve");
    let at = dim_of(args.fixed(1)?, x.dims.len())?;
    let odd = sizes::fixed(x.dims[at]).is_some_and(|size| size % 2 != 0);
    ensure!(!odd, "half of {:?}", x.dims[at]);
    let half = writable(half(x.dims[at]))?;
    Ok(Of::new(x.dtype, resized(x.dims, at, half)))
}

/// Of an even number.
fn half(dim: Dim) -> Option<Dim> {
    let half = sizes::quotient(dim, 2)?;
    (sizes::times(half, 2.into()) == Some(dim)).then_some(half)
}

fn geglu(args: &Args<'_>) -> Results {
    let form = args.fixed(2)?;
    ensure!((0..=1).contains(&form), "form {form}, which is 0 or 1");
    let of = halved(args)?;
    Ok(vec![of.clone(), of])
}

fn rotary(args: &Args<'_>) -> Results {
    let (x, cos, sin, mode) = (narrow(args, 0)?, narrow(args, 1)?, narrow(args, 2)?, args.fixed(3)?);
    same(cos.dtype, x.dtype, "operands")?;
    same(sin.dtype, x.dtype, "operands")?;
    ensure!((0..=1).contains(&mode), "mode {mode}, which is 0 or 1");
    let last = x.dims.last().copied().unwrap_or(Dim::from(1));
    ensure!(sizes::fixed(last).is_none_or(|last| last % 2 == 0), "half of {last:?}");
    ensure!(cos.dims.len() == x.dims.len(), "angles of shape {:?} for {:?}", cos.dims, x.dims);
    require_spread(cos.dims, x.dims)?;
    require_same(sin.dims, cos.dims, "sines")?;
    Ok(vec![Of::new(x.dtype, x.dims)])
}

pub(super) const RULES: Family = &[
    (&["Softmax", "LogSoftmax"], softmax),
    (&["SoftmaxBackward", "LogSoftmaxBackward"], softmax_backward),
    (&["LayerNorm", "FastLayerNorm"], layer_norm),
    (&["LayerNormWithImplMode"], layer_norm_with_mode),
    (&["LayerNormBackward"], layer_norm_backward),
    (&["RmsNorm"], rms_norm),
    (&["AddRmsNorm"], add_rms_norm),
    (&["AddLayerNorm"], add_layer_norm),
    (&["GroupNorm"], |a| group_norm(a, 6, true)),
    (&["GroupNormSilu", "GroupNormSiluV2"], |a| group_norm(a, 3, false)),
    (&["InstanceNorm"], instance_norm),
    (&["BatchNorm"], batch_norm),
    (&["BatchNormElemt"], batch_norm_elements),
    (&["BatchNormBackward"], batch_norm_backward),
    (&["SwiGlu", "Glu"], |a| Ok(vec![halved(a)?])),
    (&["GeGlu", "GeGluV3"], geglu),
    (&["RotaryPositionEmbedding"], rotary),
];
