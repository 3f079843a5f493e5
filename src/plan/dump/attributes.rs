//! What a node is told beside its operands.

use crate::op::{CubeMath, GeluForm};
use crate::plan::recipe::choice::ChoiceKind;
use crate::plan::recipe::operator::{Number, Operator, Reduction};
use crate::plan::recipe::{Cores, Node, NodeKind, Recipe};

use super::{checksum, dtype_name};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Attribute<'a> {
    Float(f64),
    Int(i64),
    Count(u64),
    Flag(bool),
    Word(&'static str),
    List(Vec<u8>),
    Bytes(&'a [u8]),
    Name(&'a str),
    Text(String),
}

impl Attribute<'_> {
    pub(super) fn show(&self) -> String {
        match self {
            Self::Float(value) => format!("{value:?}"),
            Self::Int(value) => value.to_string(),
            Self::Count(value) => value.to_string(),
            Self::Flag(value) => value.to_string(),
            Self::Word(word) => (*word).to_owned(),
            Self::List(items) => format!("{items:?}"),
            Self::Bytes(bytes) => format!("{} bytes {:016x}", bytes.len(), checksum(bytes)),
            Self::Name(name) => format!("{name:?}"),
            Self::Text(text) => format!("{text:?}"),
        }
    }
}

pub(super) type Attributes<'a> = Vec<(&'static str, Attribute<'a>)>;

pub(super) fn attributes<'a>(recipe: &'a Recipe, node: &Node) -> Attributes<'a> {
    let mut all = match node.kind {
        NodeKind::Op(operator) => of_operator(operator),
        NodeKind::Foreign(function) | NodeKind::Host(function) => of_function(recipe, function),
        NodeKind::FillBytes(byte) => vec![("value", Attribute::Count(u64::from(byte)))],
        NodeKind::Prefetch { offset, max_bytes } => of_prefetch(offset, max_bytes),
        NodeKind::Begin(ChoiceKind::While(Some(most))) => vec![("at_most", Attribute::Count(u64::from(most.get())))],
        _ => Vec::new(),
    };
    let cores = usize::from(node.cores).checked_sub(1).and_then(|index| recipe.cores.get(index));
    all.extend(cores.into_iter().flat_map(|cores| of_cores(*cores, ["limit_cube", "limit_vector"])));
    all
}

fn of_operator(operator: Operator) -> Attributes<'static> {
    use Attribute::{Float, List, Word};
    match operator {
        Operator::AddScaled { alpha } => vec![("alpha", number(alpha))],
        Operator::Adds { value } | Operator::Muls { value } | Operator::Divs { value } | Operator::Fill { value } => {
            vec![("value", number(value))]
        }
        Operator::ClampMin { least } => vec![("least", number(least))],
        Operator::Gelu { form: GeluForm::Exact } => vec![("form", Word("exact"))],
        Operator::Gelu { form: GeluForm::Tanh } => vec![("form", Word("tanh"))],
        Operator::Softmax { dim } => vec![("dim", Attribute::Count(u64::from(dim)))],
        Operator::LayerNorm { eps } => vec![("eps", Float(eps))],
        Operator::ReduceSum { over } | Operator::Mean { over } => reduction(over),
        Operator::Cast { to } => vec![("to", Word(dtype_name(to)))],
        Operator::Permute { order } => vec![("order", List(order.dims[..usize::from(order.rank)].to_vec()))],
        Operator::Matmul { math } => vec![("math", Word(math_name(math)))],
        Operator::Add
        | Operator::Sub
        | Operator::Mul
        | Operator::Div
        | Operator::Maximum
        | Operator::Abs
        | Operator::Sqrt
        | Operator::Rsqrt
        | Operator::Tanh
        | Operator::Copy
        | Operator::Embedding
        | Operator::Mm
        | Operator::BatchMatmul
        | Operator::Addmm => Vec::new(),
    }
}

fn number(number: Number) -> Attribute<'static> {
    match number {
        Number::Float(value) => Attribute::Float(value),
        Number::Int(value) => Attribute::Int(value),
    }
}

fn math_name(math: CubeMath) -> &'static str {
    match math {
        CubeMath::KeepType => "keep_type",
        CubeMath::AllowLessPrecision => "allow_less_precision",
        CubeMath::UseF16 => "use_f16",
        CubeMath::UseHf32 => "use_hf32",
    }
}

fn reduction(over: Reduction) -> Attributes<'static> {
    let dims = match over.dims {
        0 => Attribute::Word("all"),
        bits => Attribute::List((0..8).filter(|dim| bits & (1 << dim) != 0).collect()),
    };
    vec![("dims", dims), ("keep", Attribute::Flag(over.keep))]
}

fn of_function(recipe: &Recipe, function: u32) -> Attributes<'_> {
    let info = &recipe.functions[function as usize];
    let mut all = match &info.name {
        Some(name) => vec![("function", Attribute::Name(name)), ("version", Attribute::Count(info.version.into()))],
        None => Vec::new(),
    };
    if !info.attributes.is_empty() {
        all.push(("attributes", Attribute::Bytes(&info.attributes)));
    }
    for later in &info.later {
        let names = recipe.symbol_names();
        let numbers: Vec<String> = later.numbers.iter().map(|number| number.show(&names)).collect();
        all.push(("told", Attribute::Text(format!("{} = {}", later.parameter, numbers.join(", ")))));
    }
    all.extend(of_cores(info.needs, ["needs_cube", "needs_vector"]));
    all
}

fn of_cores<'a>(cores: Cores, names: [&'static str; 2]) -> impl Iterator<Item = (&'static str, Attribute<'a>)> {
    let numbers = [cores.cube, cores.vector].map(u64::from);
    names.into_iter().zip(numbers).filter(|(_, number)| *number != 0).map(|(name, n)| (name, Attribute::Count(n)))
}

fn of_prefetch(offset: u64, max_bytes: u64) -> Attributes<'static> {
    let most = if max_bytes == usize::MAX as u64 { Attribute::Word("all") } else { Attribute::Count(max_bytes) };
    vec![("offset", Attribute::Count(offset)), ("max_bytes", most)]
}
