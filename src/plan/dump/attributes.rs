//! What a node is told beside its operands.

use std::borrow::Cow;

use crate::op::{DataType, Numeral, Recorded, Scalar, Takes, Told};
use crate::plan::recipe::choice::ChoiceKind;
use crate::plan::recipe::quantity::Later;
use crate::plan::recipe::{Cores, FunctionKind, Node, NodeKind, PrefetchInfo, Recipe};

use super::{Names, checksum, dtype_name};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Attribute<'a> {
    Float(f64),
    Int(i64),
    Count(u64),
    Flag(bool),
    Word(&'static str),
    List(&'a [i64]),
    Bytes(Cow<'a, [u8]>),
    Name(&'a str),
    Text(String),
    /// Text that is shown as it is.
    Plain(String),
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
            Self::Plain(text) => text.clone(),
        }
    }
}

pub(super) type Attributes<'a> = Vec<(&'static str, Attribute<'a>)>;

pub(super) fn attributes<'a>(recipe: &'a Recipe, names: &'a Names, node: &Node) -> Attributes<'a> {
    let mut all = match node.kind {
        NodeKind::Foreign(function) | NodeKind::Host(function) => match names.told.get(function as usize) {
            Some(Some(recorded)) => {
                let later = recipe.functions[function as usize].later();
                let mut all = of_operator(recorded, later);
                all.extend(of_later(recipe, later));
                all
            }
            _ => of_function(recipe, function),
        },
        NodeKind::FillBytes(byte) => vec![("value", Attribute::Count(u64::from(byte)))],
        NodeKind::Prefetch(prefetch) => of_prefetch(recipe.prefetches[prefetch as usize]),
        NodeKind::Begin(ChoiceKind::While(Some(most))) => vec![("at_most", Attribute::Count(u64::from(most.get())))],
        _ => Vec::new(),
    };
    let cores = usize::from(node.cores).checked_sub(1).and_then(|index| recipe.cores.get(index));
    all.extend(cores.into_iter().flat_map(|cores| of_cores(*cores, ["limit_cube", "limit_vector"])));
    all
}

/// What an operator is told, by the names of its parameters, without what is told later.
fn of_operator<'a>(recorded: &'a Recorded, later: &[Later]) -> Attributes<'a> {
    let parameters = recorded.parameters().zip(recorded.kinds()).zip(recorded.told().iter());
    let known = parameters.filter(|((name, _), _)| !later.iter().any(|one| one.parameter == *name));
    known.filter_map(|((name, takes), told)| Some((name, argument(*takes, told)?))).collect()
}

/// All that an operator is told, on one line.
#[cfg(feature = "cache")]
pub(crate) fn told_text(recorded: &Recorded) -> String {
    let all = of_operator(recorded, &[]);
    all.iter().map(|(name, value)| format!("{name}={}", value.show())).collect::<Vec<_>>().join(", ")
}

/// What a parameter is told; none of a tensor, and of what is left out.
fn argument(takes: Takes, told: &Told) -> Option<Attribute<'_>> {
    Some(match told {
        Told::Tensor(_) | Told::NoTensor | Told::Tensors(..) | Told::NoTensors | Told::Null => return None,
        Told::Number(bits) => match takes {
            Takes::Number(Numeral::Float) => Attribute::Float(f64::from_bits(*bits)),
            Takes::Number(Numeral::Truth) => Attribute::Flag(*bits != 0),
            Takes::Number(Numeral::Count) => Attribute::Count(*bits),
            Takes::Number(Numeral::Type) => match DataType::ALL.into_iter().find(|one| is_type(*one, *bits)) {
                Some(dtype) => Attribute::Word(dtype_name(dtype)),
                None => Attribute::Count(*bits),
            },
            _ => Attribute::Int(bits.cast_signed()),
        },
        Told::Scalar(scalar) => number(*scalar),
        Told::Ints(numbers) => Attribute::List(numbers),
        Told::Scalars(numbers) => {
            let numbers: Vec<String> = numbers.iter().map(|one| number(*one).show()).collect();
            Attribute::Plain(format!("[{}]", numbers.join(", ")))
        }
        Told::Floats(numbers) => Attribute::Plain(format!("{numbers:?}")),
        Told::Bools(truths) => Attribute::Plain(format!("{truths:?}")),
        Told::Text(text) => Attribute::Text(text.to_string_lossy().into_owned()),
    })
}

fn is_type(dtype: DataType, bits: u64) -> bool {
    u64::from(dtype.raw().0.cast_unsigned()) == bits
}

fn number(scalar: Scalar) -> Attribute<'static> {
    match scalar.number() {
        Some((DataType::Bool, _, whole)) => Attribute::Flag(whole != 0),
        // With as many digits as tell it from its neighbours.
        Some((DataType::F32, real, _)) => Attribute::Float(format!("{:?}", real as f32).parse().unwrap_or(real)),
        Some((dtype, real, _)) if dtype.is_floating() => Attribute::Float(real),
        Some((_, _, whole)) => Attribute::Int(whole),
        None => Attribute::Plain(format!("{scalar:?}")),
    }
}

fn of_function(recipe: &Recipe, function: u32) -> Attributes<'_> {
    let info = &recipe.functions[function as usize];
    let mut all = match info.name() {
        Some(name) => vec![("function", Attribute::Name(name)), ("version", Attribute::Count(info.version().into()))],
        None => Vec::new(),
    };
    let bytes = info.attributes();
    if !bytes.is_empty() {
        all.push(("attributes", Attribute::Bytes(bytes)));
    }
    if info.kind() == FunctionKind::Operator {
        all.extend(of_later(recipe, info.later()));
    }
    all.extend(of_cores(info.needs(), ["needs_cube", "needs_vector"]));
    all
}

fn of_later<'a>(recipe: &Recipe, later: &[Later]) -> impl Iterator<Item = (&'static str, Attribute<'a>)> {
    let names = recipe.symbol_names();
    later.iter().map(move |later| {
        let numbers: Vec<String> = later.numbers.iter().map(|number| number.show(&names)).collect();
        ("told", Attribute::Text(format!("{} = {}", later.parameter, numbers.join(", "))))
    })
}

fn of_cores<'a>(cores: Cores, names: [&'static str; 2]) -> impl Iterator<Item = (&'static str, Attribute<'a>)> {
    let numbers = [cores.cube, cores.vector].map(u64::from);
    names.into_iter().zip(numbers).filter(|(_, number)| *number != 0).map(|(name, n)| (name, Attribute::Count(n)))
}

fn of_prefetch(PrefetchInfo { offset, max_bytes }: PrefetchInfo) -> Attributes<'static> {
    let most = if max_bytes == usize::MAX as u64 { Attribute::Word("all") } else { Attribute::Count(max_bytes) };
    vec![("offset", Attribute::Count(offset)), ("max_bytes", most)]
}
