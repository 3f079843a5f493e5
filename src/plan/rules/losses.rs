//! Losses and their gradients.

use crate::plan::recipe::operator::Operand;
use crate::plan::symbols::dim::Dim;

use super::shapes::{broadcast, require_rank, require_same, require_spread};
use super::types::{Types, require, same};
use super::{Also, Args, Family, No, Of, Results, ensure, sizes};

fn narrow<'a>(args: &Args<'a>, at: usize) -> Result<Operand<'a>, No> {
    let x = args.tensor(at)?;
    require(Types::NARROW, x.dtype, "an operand")?;
    Ok(x)
}

fn any_narrow(x: Operand<'_>, dims: impl Into<Vec<Dim>>) -> Of {
    Of::new(x.dtype, dims).or(Types::NARROW)
}

/// One number, without dimensions or with one.
fn single(x: Operand<'_>) -> Of {
    any_narrow(x, []).or_shape(Also::Shape(vec![Dim::from(1)]))
}

fn require_single(x: Operand<'_>, what: &str) -> Result<(), No> {
    let one = x.dims.len() <= 1 && sizes::product(x.dims) == Some(1.into());
    ensure!(one, "{what} of shape {:?}; it is one number", x.dims);
    Ok(())
}

/// Whether each loss stays on its own; else there is one number.
fn stays(args: &Args<'_>, at: usize) -> Result<bool, No> {
    let reduction = args.fixed(at)?;
    ensure!((0..=2).contains(&reduction), "a reduction {reduction}, which is 0 to 2");
    Ok(reduction == 0)
}

/// Of two tensors that broadcast: where they, what weighs them, and the reduction stand.
fn pair(args: &Args<'_>, (x, y): (usize, usize), weights: &[usize], reduction: usize) -> Result<(Of, bool), No> {
    let (x, y) = (narrow(args, x)?, narrow(args, y)?);
    let dims = broadcast(x.dims, y.dims)?;
    for at in weights.iter().filter(|at| args.has(**at)) {
        require_spread(narrow(args, *at)?.dims, &dims)?;
    }
    Ok((any_narrow(x, dims), stays(args, reduction)?))
}

fn loss(args: &Args<'_>, weights: &[usize], reduction: usize) -> Results {
    let (of, stays) = pair(args, (0, 1), weights, reduction)?;
    let x = narrow(args, 0)?;
    Ok(vec![if stays { of } else { single(x) }])
}

/// The gradient stands first.
fn backward(args: &Args<'_>, weights: &[usize], reduction: usize) -> Results {
    let (of, _) = pair(args, (1, 2), weights, reduction)?;
    require_spread(narrow(args, 0)?.dims, &of.dims)?;
    Ok(vec![of])
}

fn require_beta(args: &Args<'_>, at: usize) -> Result<(), No> {
    let beta = args.real(at)?;
    ensure!(beta >= 0.0, "a beta of {beta}");
    Ok(())
}

fn target<'a>(args: &Args<'a>, at: usize) -> Result<Operand<'a>, No> {
    let target = args.tensor(at)?;
    require(Types::INDICES, target.dtype, "classes")?;
    Ok(target)
}

/// Rows of classes, or one row where that is taken.
fn require_rows(x: Operand<'_>, flat: bool) -> Result<(), No> {
    ensure!(x.dims.len() == 2 || (flat && x.dims.len() == 1), "an input of shape {:?}", x.dims);
    Ok(())
}

fn nll(args: &Args<'_>) -> Results {
    let (x, target, weight) = (narrow(args, 0)?, target(args, 1)?, narrow(args, 2)?);
    let stays = stays(args, 3)?;
    require_rows(x, true)?;
    if x.dims.len() == 1 {
        require_single(target, "a class")?;
    } else {
        require_same(target.dims, &x.dims[..1], "classes")?;
    }
    require_same(weight.dims, &x.dims[x.dims.len() - 1..], "weights")?;
    let loss = if stays && x.dims.len() == 2 { any_narrow(x, &x.dims[..1]) } else { single(x) };
    Ok(vec![loss, single(x)])
}

fn nll_backward(args: &Args<'_>) -> Results {
    let (grad, x, target, weight) = (narrow(args, 0)?, narrow(args, 1)?, target(args, 2)?, narrow(args, 3)?);
    let (stays, total) = (stays(args, 4)?, narrow(args, 6)?);
    require_rows(x, true)?;
    let row = [Dim::from(1)];
    let rows = match (x.dims, target.dims) {
        ([rows, _], _) => std::slice::from_ref(rows),
        (_, []) => &[],
        _ => &row[..],
    };
    require_same(target.dims, rows, "classes")?;
    require_same(weight.dims, &x.dims[x.dims.len() - 1..], "weights")?;
    require_single(total, "the sum of weights")?;
    if stays && x.dims.len() == 2 {
        require_same(grad.dims, rows, "a gradient")?;
    } else {
        require_single(grad, "a gradient")?;
    }
    Ok(vec![any_narrow(x, x.dims)])
}

fn cross_entropy(args: &Args<'_>) -> Results {
    let (x, target, smoothing) = (narrow(args, 0)?, target(args, 1)?, args.real(5)?);
    let stays = match args.text(3)? {
        None | Some(b"mean" | b"sum") => false,
        Some(b"none") => true,
        Some(_) => return Err(No::Misfit("a reduction that is none of none, mean and sum".to_owned())),
    };
    ensure!(!args.flag(7)?, "the second loss, which is not computed");
    ensure!((0.0..=1.0).contains(&smoothing), "smoothing by {smoothing}");
    require_rows(x, false)?;
    require_same(target.dims, &x.dims[..1], "classes")?;
    if args.has(2) {
        require_same(narrow(args, 2)?.dims, &x.dims[1..], "weights")?;
    }
    let loss = if stays { any_narrow(x, &x.dims[..1]) } else { single(x) };
    let unused = any_narrow(x, &x.dims[..1]).or(Types::KNOWN).or_shape(Also::Anything).unless(false);
    Ok(vec![loss, any_narrow(x, x.dims), unused.clone(), unused])
}

fn with_logits(args: &Args<'_>) -> Results {
    let (x, labels) = (narrow(args, 0)?, narrow(args, 1)?);
    same(labels.dtype, x.dtype, "operands")?;
    require_rank(x, 2, "an input")?;
    require_same(labels.dims, x.dims, "labels")?;
    Ok(vec![Of::new(x.dtype, &x.dims[..1]), Of::new(x.dtype, x.dims)])
}

pub(super) const RULES: Family = &[
    (&["MseLoss", "L1Loss"], |a| loss(a, &[], 2)),
    (&["MseLossBackward", "L1LossBackward"], |a| backward(a, &[], 3)),
    (&["SmoothL1Loss"], |a| {
        require_beta(a, 3)?;
        loss(a, &[], 2)
    }),
    (&["SmoothL1LossBackward"], |a| {
        require_beta(a, 4)?;
        backward(a, &[], 3)
    }),
    (&["BinaryCrossEntropy"], |a| loss(a, &[2], 3)),
    (&["BinaryCrossEntropyBackward"], |a| backward(a, &[3], 4)),
    (&["BinaryCrossEntropyWithLogits"], |a| loss(a, &[2, 3], 4)),
    (&["BinaryCrossEntropyWithLogitsBackward"], |a| backward(a, &[3, 4], 5)),
    (&["NLLLoss"], nll),
    (&["NLLLossBackward"], nll_backward),
    (&["CrossEntropyLoss"], cross_entropy),
    (&["SoftmaxCrossEntropyWithLogits"], with_logits),
];
