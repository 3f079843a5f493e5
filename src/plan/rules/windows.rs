//! Windows over images and signals: convolutions, pools, patches.

use crate::op::DataType::{I32, I64};
use crate::plan::recipe::operator::Operand;
use crate::plan::symbols::dim::Dim;

use super::shapes::{require_rank, require_same, writable};
use super::types::{Types, require, same};
use super::{Also, Args, Family, No, Of, Results, ensure, sizes};

/// How windows move along one axis.
#[derive(Clone, Copy)]
struct Axis {
    kernel: i64,
    stride: i64,
    before: i64,
    after: i64,
    dilation: i64,
}

const PLAIN: Axis = Axis { kernel: 1, stride: 1, before: 0, after: 0, dilation: 1 };

/// Greatest number of elements of a window and of an axis that windows move along: sums and products of such numbers
/// do not overflow.
const MOST: i64 = i32::MAX as i64;

/// A number for each axis, or one for all; parameters are lists.
fn numbers(args: &Args<'_>, at: usize, least: i64, axes: usize) -> Result<Vec<i64>, No> {
    let list = args.fixed_ints(at)?;
    ensure!(list.len() == 1 || list.len() == axes, "{} numbers for {axes} axes", list.len());
    let good = |number: &i64| (least..=MOST).contains(number);
    ensure!(list.iter().all(good), "numbers {list:?} of a window");
    Ok((0..axes).map(|axis| list[if list.len() == 1 { 0 } else { axis }]).collect())
}

/// How many windows there are; they may begin in the padding behind with `ceil`.
fn slide(args: &Args<'_>, axis: Axis, size: Dim, ceil: bool) -> Result<Dim, No> {
    require_countable(args, size)?;
    let reach = axis.dilation * (axis.kernel - 1) + 1;
    let room = sizes::plus(size, axis.before + axis.after - reach);
    // One that reaches past what is behind counts with `ceil`.
    let past = if ceil { axis.stride - 1 } else { 0 };
    if let Some(room) = room.and_then(sizes::fixed) {
        ensure!(room + past >= 0, "a window of {reach} in {size:?} with its padding");
    }
    let windows = |room: Dim| sizes::plus(sizes::quotient(room, axis.stride)?, 1);
    let mut count = writable(room.and_then(|room| windows(sizes::plus(room, past)?)))?;
    if let (true, Some(fixed), Some(size)) = (ceil, sizes::fixed(count), sizes::fixed(size)) {
        if (fixed - 1) * axis.stride >= size + axis.before {
            ensure!(fixed > 1, "a window of {reach} in {size:?}, behind which it begins");
            count = sizes::number(fixed - 1);
        }
    } else if ceil && axis.stride > 1 {
        return Err(No::Unsure("how many windows there are depends on symbols".to_owned()));
    }
    Ok(count)
}

/// Whatever its symbols are.
fn require_countable(args: &Args<'_>, size: Dim) -> Result<(), No> {
    ensure!(args.least(size).is_none_or(|least| least <= MOST.into()), "an axis of {size:?} elements");
    Ok(())
}

/// A size that has to be known.
fn known(dim: Dim, what: &str) -> Result<i64, No> {
    sizes::fixed(dim).ok_or_else(|| No::Unsure(format!("{what} depends on symbols")))
}

/// Input, weight and bias of a convolution, with the axes of the weight.
struct Conv<'a> {
    x: Operand<'a>,
    weight: Operand<'a>,
    axes: usize,
}

fn conv_operands<'a>(args: &Args<'a>, bias: usize) -> Result<Conv<'a>, No> {
    let (x, weight) = (args.tensor(0)?, args.tensor(1)?);
    require(Types::NARROW, x.dtype, "an input")?;
    same(weight.dtype, x.dtype, "an input and its weight")?;
    if let Some(bias) = args.maybe(bias)? {
        require(Types::NARROW, bias.dtype, "a bias")?;
    }
    if x.dims.len() == 5 && weight.dims.len() == 5 {
        return Err(No::Unsure("a library may take windows of three axes".to_owned()));
    }
    ensure!((3..=4).contains(&x.dims.len()), "an input of shape {:?}; it has 3 or 4 dimensions", x.dims);
    require_rank(weight, x.dims.len(), "a weight")?;
    Ok(Conv { x, weight, axes: x.dims.len() - 2 })
}

fn require_bias(args: &Args<'_>, bias: usize, count: Dim) -> Result<(), No> {
    args.maybe(bias)?.map_or(Ok(()), |bias| require_same(bias.dims, &[count], "a bias"))
}

/// The axes of a convolution; stride, padding and dilation are parameters from `stride` on.
fn axes_of(args: &Args<'_>, conv: &Conv<'_>, stride: usize) -> Result<Vec<Axis>, No> {
    let axes = conv.axes;
    let strides = numbers(args, stride, 1, axes)?;
    let (padding, dilation) = (numbers(args, stride + 1, 0, axes)?, numbers(args, stride + 2, 1, axes)?);
    (0..axes)
        .map(|at| {
            let kernel = known(conv.weight.dims[2 + at], "the size of a window")?;
            ensure!((1..=MOST).contains(&kernel), "windows of {kernel}");
            let (stride, before, dilation) = (strides[at], padding[at], dilation[at]);
            Ok(Axis { kernel, stride, before, after: before, dilation })
        })
        .collect()
}

fn convolve(args: &Args<'_>, conv: &Conv<'_>, bias: usize, stride: usize, groups: i64) -> Results {
    let axes = axes_of(args, conv, stride)?;
    let (have, results) = (known(conv.x.dims[1], "channels")?, known(conv.weight.dims[0], "channels")?);
    let fits = groups > 0 && have % groups == 0 && results % groups == 0;
    ensure!(fits, "{groups} groups of {have} channels and {results} results");
    let each = sizes::number(have / groups);
    ensure!(conv.weight.dims[1] == each && have != 0, "a weight {:?} for {have} channels", conv.weight.dims);
    require_bias(args, bias, conv.weight.dims[0])?;
    let mut dims = vec![conv.x.dims[0], conv.weight.dims[0]];
    for (axis, size) in axes.into_iter().zip(&conv.x.dims[2..]) {
        dims.push(slide(args, axis, *size, false)?);
    }
    Ok(vec![Of::new(conv.x.dtype, dims)])
}

fn transposed(args: &Args<'_>, conv: &Conv<'_>, groups: i64) -> Results {
    let axes = axes_of(args, conv, 3)?;
    let extra = numbers(args, 7, 0, conv.axes)?;
    let (have, each) = (known(conv.x.dims[1], "channels")?, known(conv.weight.dims[1], "channels")?);
    ensure!(groups > 0 && have != 0 && have % groups == 0, "{groups} groups of {have} channels");
    let fits = conv.weight.dims[0] == conv.x.dims[1] && (1..=MOST).contains(&each);
    ensure!(fits, "a weight {:?} for {have}", conv.weight.dims);
    let results = writable(sizes::times(sizes::number(each), sizes::number(groups)))?;
    require_bias(args, 2, results)?;
    let mut dims = vec![conv.x.dims[0], results];
    for ((axis, size), extra) in axes.into_iter().zip(&conv.x.dims[2..]).zip(extra) {
        ensure!(args.is_zero(*size) != Some(true), "an image of nothing");
        require_countable(args, *size)?;
        ensure!(extra < axis.stride || extra < axis.dilation, "{extra} more elements");
        let reach = axis.dilation * (axis.kernel - 1) + 1 + extra - 2 * axis.before - axis.stride;
        let all = writable(sizes::times(*size, sizes::number(axis.stride)).and_then(|all| sizes::plus(all, reach)))?;
        ensure!(sizes::fixed(all).is_none_or(|all| all >= 1), "a result without elements");
        require_countable(args, all)?;
        dims.push(all);
    }
    Ok(vec![Of::new(conv.x.dtype, dims)])
}

fn convolution(args: &Args<'_>) -> Results {
    let conv = conv_operands(args, 2)?;
    let groups = args.fixed(8)?;
    if args.flag(6)? {
        return transposed(args, &conv, groups);
    }
    convolve(args, &conv, 2, 3, groups)
}

fn depthwise(args: &Args<'_>) -> Results {
    require_rank(args.tensor(0)?, 4, "an input")?;
    let conv = conv_operands(args, 3)?;
    let kernel: Vec<Dim> = numbers(args, 2, 1, 2)?.into_iter().map(sizes::number).collect();
    ensure!(conv.weight.dims[2..] == kernel, "windows {kernel:?} of a weight {:?}", conv.weight.dims);
    let groups = known(conv.x.dims[1], "channels")?;
    convolve(args, &conv, 3, 4, groups)
}

fn convolution_backward(args: &Args<'_>) -> Results {
    let mask = args.bools(10)?;
    let &[a, b, c] = mask else {
        return Err(No::Misfit(format!("a mask of {} truth values, which are 3", mask.len())));
    };
    let (grad, x, weight) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    let rank = x.dims.len();
    ensure!((3..=4).contains(&rank), "an input of shape {:?}; it has 3 or 4 dimensions", x.dims);
    for one in [grad, x, weight] {
        require(Types::NARROW, one.dtype, "an operand")?;
        require_rank(one, rank, "an operand")?;
    }
    let conv = Conv { x, weight, axes: rank - 2 };
    let (axes, turned, groups) = (axes_of(args, &conv, 4)?, args.flag(7)?, args.fixed(9)?);
    let (small, large) = if turned { (x, grad) } else { (grad, x) };
    let (few, many) = (known(small.dims[1], "channels")?, known(large.dims[1], "channels")?);
    ensure!(groups >= 1 && few % groups == 0 && many % groups == 0, "{groups} groups of {few} and {many} channels");
    let fits = large.dims[0] == small.dims[0]
        && weight.dims[0] == small.dims[1]
        && weight.dims[1] == sizes::number(many / groups);
    ensure!(fits, "{:?}, {:?} and {:?}", grad.dims, x.dims, weight.dims);
    for ((axis, size), have) in axes.into_iter().zip(&large.dims[2..]).zip(&small.dims[2..]) {
        ensure!(slide(args, axis, *size, false)? == *have, "{have:?} windows in {size:?}");
    }
    let results = [x.dims.to_vec(), weight.dims.to_vec(), vec![grad.dims[1]]];
    let mut all = Vec::new();
    for (at, (wanted, dims)) in [a, b, c].into_iter().zip(results).enumerate() {
        ensure!(!wanted || args.has(12 + at), "a result that is wanted and left out");
        let of = Of::new(x.dtype, dims).or(Types::NARROW);
        all.push(if wanted { of } else { of.or(Types::KNOWN).or_shape(Also::Anything).unless(false) });
    }
    Ok(all)
}

// ---- pools ----

/// Images or one of them, of floats and not empty.
fn planes<'a>(args: &Args<'a>, at: usize) -> Result<Operand<'a>, No> {
    let x = args.tensor(at)?;
    ensure!((3..=4).contains(&x.dims.len()), "an input of shape {:?}; it has 3 or 4 dimensions", x.dims);
    let empty = x.dims[x.dims.len() - 2..].iter().any(|dim| args.is_zero(*dim) == Some(true));
    ensure!(!empty, "an image of nothing");
    require(Types::FLOATS, x.dtype, "an input")?;
    Ok(x)
}

/// Kernel, stride and padding from a parameter on; without a stride it is the kernel.
fn pool_axes(args: &Args<'_>, kernel: usize) -> Result<[Axis; 2], No> {
    let kernels = numbers(args, kernel, 1, 2)?;
    let strides = if args.ints(kernel + 1)?.is_empty() { kernels.clone() } else { numbers(args, kernel + 1, 1, 2)? };
    let padding = numbers(args, kernel + 2, 0, 2)?;
    let axis = |at: usize| {
        let before = padding[at];
        Axis { kernel: kernels[at], stride: strides[at], before, after: before, ..PLAIN }
    };
    Ok([axis(0), axis(1)])
}

fn dilated(args: &Args<'_>, at: usize, axes: [Axis; 2]) -> Result<[Axis; 2], No> {
    let dilation = numbers(args, at, 1, 2)?;
    let [a, b] = axes;
    Ok([Axis { dilation: dilation[0], ..a }, Axis { dilation: dilation[1], ..b }])
}

/// The shape with a number for each window.
fn pooled(args: &Args<'_>, x: Operand<'_>, axes: [Axis; 2], ceil: bool) -> Result<Vec<Dim>, No> {
    let (lead, planes) = x.dims.split_at(x.dims.len() - 2);
    let mut dims = lead.to_vec();
    for (axis, size) in axes.into_iter().zip(planes) {
        ensure!(axis.before.max(axis.after) <= axis.kernel / 2, "padding of a window of {}", axis.kernel);
        dims.push(slide(args, axis, *size, ceil)?);
    }
    Ok(dims)
}

fn average(args: &Args<'_>) -> Results {
    let x = planes(args, 0)?;
    Ok(vec![Of::new(x.dtype, pooled(args, x, pool_axes(args, 1)?, args.flag(4)?)?)])
}

fn adaptive(args: &Args<'_>) -> Results {
    let (x, sizes) = (planes(args, 0)?, numbers(args, 1, 0, 2)?);
    x.dims[x.dims.len() - 2..].iter().try_for_each(|size| require_countable(args, *size))?;
    let lead = &x.dims[..x.dims.len() - 2];
    Ok(vec![Of::new(x.dtype, [lead, &sizes.into_iter().map(super::sizes::number).collect::<Vec<_>>()].concat())])
}

fn greatest(args: &Args<'_>) -> Results {
    let x = planes(args, 0)?;
    let axes = dilated(args, 4, pool_axes(args, 1)?)?;
    let dims = pooled(args, x, axes, args.flag(5)?)?;
    Ok(vec![Of::new(x.dtype, dims.clone()), Of::new(I32, dims).or(Types::of(I64))])
}

/// Empty lists stand for 1 and for no padding; four numbers of it are for both sides.
fn greatest_alone(args: &Args<'_>) -> Results {
    let x = planes(args, 0)?;
    let ones = |at: usize| if args.ints(at)?.is_empty() { Ok(vec![1, 1]) } else { numbers(args, at, 1, 2) };
    let (kernel, stride, pads, dilation) = (numbers(args, 1, 1, 2)?, ones(2)?, args.fixed_ints(4)?, ones(5)?);
    let pads = match pads.len() {
        0 => vec![0; 4],
        4 => pads,
        _ => numbers(args, 4, 0, 2)?.repeat(2),
    };
    ensure!(pads.iter().all(|by| *by >= 0), "padding {pads:?}");
    let (by_itself, ceil) = (args.fixed(3)?, args.fixed(6)?);
    ensure!(by_itself == 0 && (0..=1).contains(&ceil), "padding of kind {by_itself}, rounding {ceil}");
    let axis = |at: usize| Axis {
        kernel: kernel[at],
        stride: stride[at],
        before: pads[at],
        after: pads[2 + at],
        dilation: dilation[at],
    };
    Ok(vec![Of::new(x.dtype, pooled(args, x, [axis(0), axis(1)], ceil == 1)?)])
}

/// A gradient with a number for each window.
fn pool_backward(args: &Args<'_>, dims: impl FnOnce(Operand<'_>) -> Result<Vec<Dim>, No>) -> Results {
    let (grad, x) = (args.tensor(0)?, planes(args, 1)?);
    same(grad.dtype, x.dtype, "a gradient and its input")?;
    require_same(grad.dims, &dims(x)?, "a gradient")?;
    Ok(vec![Of::new(x.dtype, x.dims)])
}

fn adaptive_backward(args: &Args<'_>) -> Results {
    let grad = args.tensor(0)?.dims;
    pool_backward(args, |x| {
        ensure!(grad.len() == x.dims.len(), "a gradient of shape {grad:?}");
        let at = x.dims.len() - 2;
        x.dims[at..].iter().chain(&grad[at..]).try_for_each(|size| require_countable(args, *size))?;
        Ok([&x.dims[..at], &grad[at..]].concat())
    })
}

fn greatest_backward(args: &Args<'_>) -> Results {
    let places = args.tensor(2)?;
    require(Types::INDICES, places.dtype, "places")?;
    let axes = dilated(args, 6, pool_axes(args, 3)?)?;
    let ceil = args.flag(7)?;
    pool_backward(args, |x| {
        let dims = pooled(args, x, axes, ceil)?;
        require_same(places.dims, &dims, "places")?;
        Ok(dims)
    })
}

fn columns(args: &Args<'_>) -> Results {
    let x = args.tensor(0)?;
    let (kernel, dilation) = (numbers(args, 1, 1, 2)?, numbers(args, 2, 1, 2)?);
    let (padding, stride) = (numbers(args, 3, 0, 2)?, numbers(args, 4, 1, 2)?);
    ensure!((3..=4).contains(&x.dims.len()), "an input of shape {:?}; it has 3 or 4 dimensions", x.dims);
    let at = x.dims.len() - 2;
    let mut count = Dim::from(1);
    for axis in 0..2 {
        let (before, dilation) = (padding[axis], dilation[axis]);
        let axis_of = Axis { kernel: kernel[axis], stride: stride[axis], before, after: before, dilation };
        count = writable(sizes::times(count, slide(args, axis_of, x.dims[at + axis], false)?))?;
    }
    let depth = writable(sizes::times(x.dims[at - 1], sizes::number(kernel[0] * kernel[1])))?;
    Ok(vec![Of::new(x.dtype, [&x.dims[..at - 1], &[depth, count]].concat())])
}

pub(super) const RULES: Family = &[
    (&["Convolution"], convolution),
    (&["ConvDepthwise2d"], depthwise),
    (&["ConvolutionBackward"], convolution_backward),
    (&["AvgPool2d"], average),
    (&["AdaptiveAvgPool2d"], adaptive),
    (&["MaxPool2dWithIndices"], greatest),
    (&["MaxPool"], greatest_alone),
    (&["AvgPool2dBackward"], |a| {
        let (axes, ceil) = (pool_axes(a, 2)?, a.flag(5)?);
        pool_backward(a, |x| pooled(a, x, axes, ceil))
    }),
    (&["AdaptiveAvgPool2dBackward"], adaptive_backward),
    (&["MaxPool2dWithIndicesBackward"], greatest_backward),
    (&["Im2col"], columns),
];
