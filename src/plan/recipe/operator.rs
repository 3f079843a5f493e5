//! The operators that a plan can hold: plain data, with the shape of their result.

use crate::op::{CubeMath, DataType, GeluForm, MAX_RANK};
use crate::plan::symbols::dim::Dim;

/// A number that an operator takes from the host; it becomes one of the operand's type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// For float types.
    Float(f64),
    /// For integer types, exactly; floats take it too.
    Int(i64),
}

impl From<f32> for Number {
    fn from(value: f32) -> Self {
        Self::Float(f64::from(value))
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<i32> for Number {
    fn from(value: i32) -> Self {
        Self::Int(i64::from(value))
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

/// Dimensions that a reduction removes, and whether they stay with size 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// Bit `i` for dimension `i`; none means all.
    pub(crate) dims: u8,
    pub(crate) keep: bool,
}

/// Order of dimensions: dimension `i` of the result is dimension `order[i]` of the operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Order {
    pub(crate) rank: u8,
    pub(crate) dims: [u8; MAX_RANK],
}

/// One operator of [`racl::op`](crate::op) with its attributes. The operands are values of the plan, in the order of
/// the function of the same name.
///
/// The methods of [`Builder`](crate::plan::Builder) of the same names are the usual way to write one.
///
/// # Examples
///
/// ```
/// use racl::plan::Operator;
///
/// let operator = Operator::Adds { value: 1.0.into() };
/// assert_eq!((operator.name(), operator.operands(), operator.works_in_place()), ("adds", 1, true));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Operator {
    /// [`op::add`](crate::op::add)
    Add,
    /// [`op::add_scaled`](crate::op::add_scaled)
    AddScaled {
        /// Factor of the second operand.
        alpha: Number,
    },
    /// [`op::sub`](crate::op::sub)
    Sub,
    /// [`op::mul`](crate::op::mul)
    Mul,
    /// [`op::div`](crate::op::div)
    Div,
    /// [`op::maximum`](crate::op::maximum)
    Maximum,
    /// [`op::adds`](crate::op::adds)
    Adds {
        /// Added to each element.
        value: Number,
    },
    /// [`op::muls`](crate::op::muls)
    Muls {
        /// Factor of each element.
        value: Number,
    },
    /// [`op::divs`](crate::op::divs)
    Divs {
        /// Divisor of each element.
        value: Number,
    },
    /// [`op::clamp_min`](crate::op::clamp_min)
    ClampMin {
        /// Least element of the result.
        least: Number,
    },
    /// [`op::abs`](crate::op::abs)
    Abs,
    /// [`op::sqrt`](crate::op::sqrt)
    Sqrt,
    /// [`op::rsqrt`](crate::op::rsqrt)
    Rsqrt,
    /// [`op::tanh`](crate::op::tanh)
    Tanh,
    /// [`op::gelu`](crate::op::gelu)
    Gelu {
        /// Which of the two formulas.
        form: GeluForm,
    },
    /// [`op::softmax`](crate::op::softmax)
    Softmax {
        /// Dimension of the operand.
        dim: u8,
    },
    /// [`op::layer_norm`](crate::op::layer_norm); operands: the input, weight and bias.
    LayerNorm {
        /// Added to the variance.
        eps: f64,
    },
    /// [`op::reduce_sum`](crate::op::reduce_sum)
    ReduceSum {
        /// What goes away.
        over: Reduction,
    },
    /// [`op::mean`](crate::op::mean)
    Mean {
        /// What goes away.
        over: Reduction,
    },
    /// [`op::cast`](crate::op::cast)
    Cast {
        /// Type of the result.
        to: DataType,
    },
    /// [`op::copy`](crate::op::copy()): any views, broadcast and converted.
    Copy,
    /// [`op::fill`](crate::op::fill), of a value without operands.
    Fill {
        /// Each element of the result.
        value: Number,
    },
    /// [`op::permute`](crate::op::permute)
    Permute {
        /// Order of the operand's dimensions.
        order: Order,
    },
    /// [`op::embedding`](crate::op::embedding); operands: table and indices.
    Embedding,
    /// [`op::matmul`](crate::op::matmul)
    Matmul {
        /// How the cube cores may compute.
        math: CubeMath,
    },
    /// [`op::mm`](crate::op::mm)
    Mm,
    /// [`op::batch_matmul`](crate::op::batch_matmul)
    BatchMatmul,
    /// [`op::addmm`](crate::op::addmm); operands: bias and the two matrices.
    Addmm,
}

impl Operator {
    /// The name of the function in [`racl::op`](crate::op).
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::AddScaled { .. } => "add_scaled",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::Div => "div",
            Self::Maximum => "maximum",
            Self::Adds { .. } => "adds",
            Self::Muls { .. } => "muls",
            Self::Divs { .. } => "divs",
            Self::ClampMin { .. } => "clamp_min",
            Self::Abs => "abs",
            Self::Sqrt => "sqrt",
            Self::Rsqrt => "rsqrt",
            Self::Tanh => "tanh",
            Self::Gelu { .. } => "gelu",
            Self::Softmax { .. } => "softmax",
            Self::LayerNorm { .. } => "layer_norm",
            Self::ReduceSum { .. } => "reduce_sum",
            Self::Mean { .. } => "mean",
            Self::Cast { .. } => "cast",
            Self::Copy => "copy",
            Self::Fill { .. } => "fill",
            Self::Permute { .. } => "permute",
            Self::Embedding => "embedding",
            Self::Matmul { .. } => "matmul",
            Self::Mm => "mm",
            Self::BatchMatmul => "batch_matmul",
            Self::Addmm => "addmm",
        }
    }

    /// Number of operands.
    #[must_use]
    pub fn operands(&self) -> usize {
        match self {
            Self::Fill { .. } => 0,
            Self::LayerNorm { .. } | Self::Addmm => 3,
            Self::Add
            | Self::AddScaled { .. }
            | Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Maximum
            | Self::Embedding
            | Self::Matmul { .. }
            | Self::Mm
            | Self::BatchMatmul => 2,
            _ => 1,
        }
    }

    /// Whether the result may be the very value that an operand is: element by element, shapes equal.
    #[must_use]
    pub fn works_in_place(&self) -> bool {
        matches!(
            self,
            Self::Add
                | Self::AddScaled { .. }
                | Self::Sub
                | Self::Mul
                | Self::Div
                | Self::Maximum
                | Self::Adds { .. }
                | Self::Muls { .. }
                | Self::Divs { .. }
                | Self::ClampMin { .. }
                | Self::Abs
                | Self::Sqrt
                | Self::Rsqrt
                | Self::Tanh
        )
    }

    /// Type and dimensions of the result, or what is wrong with the operands.
    pub(crate) fn infer(&self, operands: &[Operand<'_>]) -> Result<(DataType, Vec<Dim>), String> {
        if operands.len() != self.operands() {
            return Err(format!("{} operands; it takes {}", operands.len(), self.operands()));
        }
        self.check_types(operands)?;
        let first = operands.first().copied();
        let (a, b) = (first, operands.get(1).copied());
        let same = || a.map(|a| (a.dtype, a.dims.to_vec())).ok_or_else(|| "no operand".to_owned());
        match (self, a, b) {
            (Self::Fill { .. }, ..) => Err("a fill needs the value to fill".to_owned()),
            (Self::Cast { to }, Some(a), _) => Ok((*to, a.dims.to_vec())),
            (Self::Softmax { dim }, Some(a), _) if usize::from(*dim) >= a.dims.len() => {
                Err(format!("dimension {dim} of {} dimensions", a.dims.len()))
            }
            (Self::LayerNorm { .. }, Some(a), Some(weight)) => layer_norm(a, weight, operands[2]),
            (Self::ReduceSum { over } | Self::Mean { over }, Some(a), _) => reduce(a, *over),
            (Self::Permute { order }, Some(a), _) => permute(a, *order),
            (Self::Embedding, Some(table), Some(indices)) => embedding(table, indices),
            (Self::Matmul { .. }, Some(a), Some(b)) => matmul(a, b),
            (Self::Mm, Some(a), Some(b)) => mm(a, b),
            (Self::BatchMatmul, Some(a), Some(b)) => {
                if a.dims.len() != 3 || b.dims.len() != 3 {
                    return Err("its operands have three dimensions".to_owned());
                }
                matmul(a, b)
            }
            (Self::Addmm, Some(bias), Some(a)) => {
                let (dtype, dims) = mm(a, operands[2])?;
                match broadcast(bias.dims, &dims)? == dims {
                    true => Ok((dtype, dims)),
                    false => Err("the bias cannot be broadcast to the product".to_owned()),
                }
            }
            (_, Some(a), Some(b)) => Ok((a.dtype, broadcast(a.dims, b.dims)?)),
            _ => same(),
        }
    }

    fn check_types(&self, operands: &[Operand<'_>]) -> Result<(), String> {
        let Some(first) = operands.first() else { return Ok(()) };
        let alike = match self {
            Self::Embedding => &operands[..1],
            _ => operands,
        };
        if let Some(other) = alike.iter().find(|other| other.dtype != first.dtype) {
            return Err(format!("operands of types {:?} and {:?}; they must be the same", first.dtype, other.dtype));
        }
        let allowed = match self {
            Self::Cast { to } if to.is_complex() || first.dtype.is_complex() => false,
            Self::Cast { .. } | Self::Copy | Self::Permute { .. } | Self::Embedding => {
                return self.check_index(operands);
            }
            Self::Add
            | Self::AddScaled { .. }
            | Self::Sub
            | Self::Mul
            | Self::Maximum
            | Self::Adds { .. }
            | Self::Muls { .. }
            | Self::ClampMin { .. }
            | Self::Abs => first.dtype.is_numeric(),
            _ => first.dtype.is_float(),
        };
        if allowed { Ok(()) } else { Err(format!("operands of type {:?}, which it does not take", first.dtype)) }
    }

    fn check_index(&self, operands: &[Operand<'_>]) -> Result<(), String> {
        match (self, operands.get(1)) {
            (Self::Embedding, Some(indices)) if !matches!(indices.dtype, DataType::I32 | DataType::I64) => {
                Err(format!("indices of type {:?}; they are i32 or i64", indices.dtype))
            }
            _ => Ok(()),
        }
    }
}

/// Type and dimensions of an operand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand<'a> {
    pub(crate) dtype: DataType,
    pub(crate) dims: &'a [Dim],
}

type Inferred = Result<(DataType, Vec<Dim>), String>;

/// The common shape, as in numpy. Symbolic dimensions must be the same, since nobody knows whether they are 1.
pub(crate) fn broadcast(a: &[Dim], b: &[Dim]) -> Result<Vec<Dim>, String> {
    let one = Dim::from(1);
    let rank = a.len().max(b.len());
    let at = |dims: &[Dim], i: usize| (i + dims.len()).checked_sub(rank).map_or(one, |i| dims[i]);
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (x, y) if x == y || y == one => Ok(x),
            (x, y) if x == one => Ok(y),
            (x, y) => Err(format!("{a:?} and {b:?} cannot be broadcast: {x:?} meets {y:?}")),
        })
        .collect()
}

fn layer_norm(a: Operand<'_>, weight: Operand<'_>, bias: Operand<'_>) -> Inferred {
    if weight.dims != bias.dims || weight.dims.is_empty() || !a.dims.ends_with(weight.dims) {
        return Err(format!("weight {:?} and bias {:?} for an input {:?}", weight.dims, bias.dims, a.dims));
    }
    Ok((a.dtype, a.dims.to_vec()))
}

fn reduce(a: Operand<'_>, over: Reduction) -> Inferred {
    let all = over.dims == 0;
    let goes = |i: usize| all || over.dims & (1 << i) != 0;
    if (a.dims.len()..8).any(|i| over.dims & (1 << i) != 0) {
        return Err(format!("a dimension that {:?} does not have", a.dims));
    }
    let dims = a.dims.iter().enumerate();
    let kept = dims.filter(|(i, _)| over.keep || !goes(*i)).map(|(i, dim)| if goes(i) { Dim::from(1) } else { *dim });
    Ok((a.dtype, kept.collect()))
}

fn permute(a: Operand<'_>, order: Order) -> Inferred {
    let dims = &order.dims[..usize::from(order.rank)];
    let seen = dims.iter().fold(0_u16, |seen, dim| seen | 1 << dim);
    if dims.len() != a.dims.len() || seen != (1 << a.dims.len()) - 1 {
        return Err(format!("the order {dims:?} for {} dimensions", a.dims.len()));
    }
    Ok((a.dtype, dims.iter().map(|dim| a.dims[usize::from(*dim)]).collect()))
}

fn embedding(table: Operand<'_>, indices: Operand<'_>) -> Inferred {
    let [_, width] = table.dims else {
        return Err(format!("a table of shape {:?}; it has two dimensions", table.dims));
    };
    if indices.dims.len() >= MAX_RANK {
        return Err(format!("indices of {} dimensions; at most {} are possible", indices.dims.len(), MAX_RANK - 1));
    }
    Ok((table.dtype, indices.dims.iter().chain([width]).copied().collect()))
}

fn mm(a: Operand<'_>, b: Operand<'_>) -> Inferred {
    match (a.dims, b.dims) {
        ([m, k], [other, n]) if k == other => Ok((a.dtype, vec![*m, *n])),
        _ => Err(format!("{:?} times {:?}", a.dims, b.dims)),
    }
}

fn matmul(a: Operand<'_>, b: Operand<'_>) -> Inferred {
    let wrong = || format!("{:?} times {:?}", a.dims, b.dims);
    let (Some((k, outer)), false) = (a.dims.split_last(), b.dims.is_empty()) else { return Err(wrong()) };
    if b.dims.len() == 1 {
        return if b.dims[0] == *k { Ok((a.dtype, outer.to_vec())) } else { Err(wrong()) };
    }
    let (batch_b, matrix) = b.dims.split_at(b.dims.len() - 2);
    if matrix[0] != *k {
        return Err(wrong());
    }
    let (batch_a, rows) = match outer.split_last() {
        Some((rows, batch)) => (batch, Some(rows)),
        None => (outer, None),
    };
    let mut dims = broadcast(batch_a, batch_b)?;
    dims.extend(rows);
    dims.push(matrix[1]);
    Ok((a.dtype, dims))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn infer(operator: Operator, shapes: &[&[usize]]) -> Result<Vec<usize>, String> {
        let dims: Vec<Vec<Dim>> =
            shapes.iter().map(|shape| shape.iter().map(|size| Dim::from(*size)).collect()).collect();
        let mut operands: Vec<_> = dims.iter().map(|dims| Operand { dtype: DataType::F32, dims }).collect();
        if operator == Operator::Embedding {
            operands[1].dtype = DataType::I64;
        }
        let (_, dims) = operator.infer(&operands)?;
        Ok(dims.iter().map(|dim| dim.as_fixed().unwrap()).collect())
    }

    #[test]
    fn results_have_the_shapes_of_the_operator_library() {
        let math = CubeMath::default();
        let over = |dims, keep| Operator::ReduceSum { over: Reduction { dims, keep } };
        type Case<'a> = (Operator, &'a [&'a [usize]], &'a [usize]);
        let cases: &[Case<'_>] = &[
            (Operator::Add, &[&[2, 3], &[3]], &[2, 3]),
            (Operator::Add, &[&[2, 1], &[1, 4]], &[2, 4]),
            (Operator::Matmul { math }, &[&[2, 3], &[3, 4]], &[2, 4]),
            (Operator::Matmul { math }, &[&[3], &[3]], &[]),
            (Operator::Matmul { math }, &[&[3], &[3, 4]], &[4]),
            (Operator::Matmul { math }, &[&[5, 2, 3], &[3]], &[5, 2]),
            (Operator::Matmul { math }, &[&[5, 1, 2, 3], &[7, 3, 4]], &[5, 7, 2, 4]),
            (Operator::Addmm, &[&[4], &[2, 3], &[3, 4]], &[2, 4]),
            (Operator::BatchMatmul, &[&[5, 2, 3], &[5, 3, 4]], &[5, 2, 4]),
            (over(0b10, false), &[&[2, 3, 4]], &[2, 4]),
            (over(0b10, true), &[&[2, 3, 4]], &[2, 1, 4]),
            (over(0, false), &[&[2, 3]], &[]),
            (Operator::Embedding, &[&[10, 4], &[2, 3]], &[2, 3, 4]),
            (Operator::LayerNorm { eps: 0.0 }, &[&[2, 3], &[3], &[3]], &[2, 3]),
            (
                Operator::Permute { order: Order { rank: 3, dims: [2, 0, 1, 0, 0, 0, 0, 0] } },
                &[&[2, 3, 4]],
                &[4, 2, 3],
            ),
        ];
        for (operator, shapes, want) in cases {
            assert_eq!(infer(*operator, shapes).as_deref(), Ok(*want), "{operator:?} {shapes:?}");
        }
    }

    #[test]
    fn operands_that_do_not_fit_are_named() {
        let math = CubeMath::default();
        let cases: &[(Operator, &[&[usize]])] = &[
            (Operator::Add, &[&[2, 3], &[2]]),
            (Operator::Add, &[&[2, 3]]),
            (Operator::Mm, &[&[2, 3], &[4, 2]]),
            (Operator::Matmul { math }, &[&[], &[3]]),
            (Operator::Addmm, &[&[5], &[2, 3], &[3, 4]]),
            (Operator::Softmax { dim: 2 }, &[&[2, 3]]),
            (Operator::LayerNorm { eps: 0.0 }, &[&[2, 3], &[2], &[2]]),
            (Operator::ReduceSum { over: Reduction { dims: 0b100, keep: false } }, &[&[2, 3]]),
            (Operator::Permute { order: Order { rank: 2, dims: [0; 8] } }, &[&[2, 3]]),
            (Operator::Embedding, &[&[10], &[2]]),
        ];
        for (operator, shapes) in cases {
            assert!(infer(*operator, shapes).is_err(), "{operator:?} {shapes:?}");
        }
        let dims = [Dim::from(2)];
        let mixed = [DataType::F32, DataType::F16].map(|dtype| Operand { dtype, dims: &dims });
        assert!(Operator::Add.infer(&mixed).unwrap_err().contains("F16"));
        let bytes = [Operand { dtype: DataType::U8, dims: &dims }; 2];
        assert!(Operator::Add.infer(&bytes).unwrap_err().contains("U8"));
    }
}
