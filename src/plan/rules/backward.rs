//! Gradients of operators that compute each element on its own: of the gradient behind them and of what went in or
//! came out.

use super::elements::{Computes::Floats, binary};
use super::{Args, Family, Results, ensure};

fn slope(args: &Args<'_>, other: usize, numbers: std::ops::Range<usize>) -> Results {
    for number in numbers {
        args.scalar(number)?;
    }
    Ok(vec![binary(args, (0, other), Floats)?])
}

fn swish(args: &Args<'_>) -> Results {
    args.maybe_scalar(2)?;
    slope(args, 1, 0..0)
}

fn gelu(args: &Args<'_>) -> Results {
    ensure!(matches!(args.text(2)?, Some(b"none" | b"tanh")), "a form that is neither none nor tanh");
    slope(args, 1, 0..0)
}

fn leaky(args: &Args<'_>) -> Results {
    let (_, negative, _) = args.number(2)?;
    ensure!(!(args.flag(3)? && negative < 0.0), "the slope {negative} of a result");
    slope(args, 1, 0..0)
}

fn log_sigmoid(args: &Args<'_>) -> Results {
    args.tensor(2)?;
    slope(args, 1, 0..0)
}

pub(super) const RULES: Family = &[
    (
        &[
            "SigmoidBackward",
            "TanhBackward",
            "GeluBackward",
            "HardsigmoidBackward",
            "HardswishBackward",
            "HardswishBackwardV2",
            "SeluBackward",
            "MishBackward",
            "SiluBackward",
            "FastGeluBackward",
        ],
        |a| slope(a, 1, 0..0),
    ),
    (&["ThresholdBackward", "HardshrinkBackward", "SoftshrinkBackward"], |a| slope(a, 1, 2..3)),
    (&["HardtanhBackward", "SoftplusBackward"], |a| slope(a, 1, 2..4)),
    (&["EluBackward"], |a| slope(a, 5, 1..4)),
    (&["SwishBackward"], swish),
    (&["GeluBackwardV2"], gelu),
    (&["LeakyReluBackward"], leaky),
    (&["LogSigmoidBackward"], log_sigmoid),
];
