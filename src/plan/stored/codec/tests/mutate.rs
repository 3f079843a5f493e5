//! Changes to stored plans, to their bytes and to what they say.

use std::num::NonZeroU32;
use std::sync::Arc;

use fastrand::Rng;

use crate::op::{DataType, Token, aclnn, recorded};
use crate::plan::Value;
use crate::plan::recipe::choice::ChoiceKind;
use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::quantity::{Form, Later};
use crate::plan::recipe::{
    Access, EventInfo, FunctionInfo, FunctionKind, Input, Mode, NodeKind, Recipe, Storage, StorageKind, Tag,
};
use crate::plan::symbols::dim::{Dim, MAX_SYMBOLS};
use crate::plan::symbols::poly::Poly;

/// Changes up to four places of `bytes`; `other` gives bytes to splice in.
pub(super) fn bytes(random: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..random.usize(1..5) {
        let at = if bytes.is_empty() { 0 } else { random.usize(..bytes.len()) };
        let end = bytes.len().min(at + random.usize(1..9));
        match random.u8(..8) {
            _ if bytes.is_empty() => bytes.push(random.u8(..)),
            0 => bytes[at] ^= 1 << random.u8(..8),
            1 => bytes[at] = [0, 1, 2, 0x7f, 0x80, 0xff][random.usize(..6)],
            2 => bytes[at] = bytes[at].wrapping_add(random.u8(..5)).wrapping_sub(2),
            3 => drop(bytes.splice(at..at, [0xff, 0xff, 0xff, 0xff, random.u8(..0x80)])),
            4 => drop(bytes.drain(at..end)),
            5 => {
                let again = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, again));
            }
            6 if !other.is_empty() => {
                let from = random.usize(..other.len());
                let piece = &other[from..other.len().min(from + end - at)];
                drop(bytes.splice(at..at + piece.len().min(end - at), piece.iter().copied()));
            }
            _ => bytes.truncate(at.max(1)),
        }
    }
}

fn number(random: &mut Rng) -> u64 {
    match random.u8(..4) {
        0 => [7, 8, 16, 64, 128, 1 << 20][random.usize(..6)],
        1 => [1 << 31, u64::from(u32::MAX), (1 << 62) - 1, 1 << 62, 1 << 63, u64::MAX][random.usize(..6)],
        _ => random.u64(..5),
    }
}

fn index(random: &mut Rng) -> u32 {
    if random.u8(..16) == 0 { random.u32(..) } else { random.u32(..12) }
}

fn extent(random: &mut Rng) -> Extent {
    if random.bool() {
        return Extent::Fixed(number(random));
    }
    let mut poly = Poly::default();
    for _ in 0..random.usize(1..4) {
        let mut powers = [0; MAX_SYMBOLS];
        powers[random.usize(..2)] = random.u8(..3);
        let by = i128::from(number(random)) * if random.u8(..4) == 0 { -1 } else { 1 };
        poly.add_term(powers, by);
    }
    Extent::of(poly.clone()).unwrap_or_else(|| Extent::Symbolic(Arc::new(poly)))
}

fn dim(random: &mut Rng) -> Dim {
    let mut powers = [0; MAX_SYMBOLS];
    powers[random.usize(..2)] = random.u8(..3);
    match random.u8(..3) {
        0 => Dim::from_parts(random.u64(..3), random.i64(-8..8), powers),
        1 => Dim::from_parts(number(random), number(random) as i64, powers),
        _ => Dim::fixed(number(random)),
    }
}

/// An operator that does not fit what it is given, most of the time.
fn operator(random: &mut Rng) -> FunctionInfo {
    let value = Value::from(Token { owner: 0, index: 0, version: 0 });
    let (x, mut y) = (&value, value);
    let (dim, dims) = (random.i64(-3..9), [random.i64(-1..3), random.i64(-1..3)]);
    let dims = &dims[..random.usize(..3)];
    let number = if random.bool() { f32::NAN } else { 1.0 };
    let recorded = recorded(|to| match random.u8(..9) {
        0 => aclnn::softmax(to, x, dim, &mut y),
        1 => aclnn::permute(to, x, dims, &mut y),
        2 => aclnn::mean(to, x, dims, dim > 0, DataType::F32, &mut y),
        3 => aclnn::inplace_fill_scalar(to, &mut y, number),
        4 => aclnn::embedding(to, x, x, &mut y),
        5 => aclnn::addmm(to, x, x, x, number, number, &mut y, dim as i8),
        6 => aclnn::inplace_copy(to, &mut y, x),
        7 => aclnn::layer_norm(to, x, dims, Some(x), Some(x), f64::INFINITY, &mut y, None, None),
        _ => aclnn::cast(to, x, DataType::I64, &mut y),
    });
    FunctionInfo::of_operator(Arc::new(recorded.unwrap().0), Vec::new())
}

fn kind(random: &mut Rng) -> NodeKind {
    let at = index(random);
    match random.u8(..15) {
        14 => [NodeKind::Begin(choice_kind(random)), NodeKind::Case, NodeKind::End][random.usize(..3)],
        13 => NodeKind::Choose(at),
        12 => NodeKind::Call(at),
        0 | 1 => NodeKind::Foreign(at),
        2 => NodeKind::Host(at),
        3 => NodeKind::Copy,
        4 => NodeKind::FillBytes(random.u8(..)),
        5 => NodeKind::Prefetch(at),
        6 => NodeKind::Record(at),
        7 => NodeKind::Wait(at),
        8 => NodeKind::ExternalWait(at),
        9 => NodeKind::ExternalRecord(at),
        10 => NodeKind::Upload(at),
        _ => NodeKind::Download(at),
    }
}

fn choice_kind(random: &mut Rng) -> ChoiceKind {
    let most = NonZeroU32::new([0, 1, random.u32(..)][random.usize(..3)]);
    [ChoiceKind::If, ChoiceKind::Switch, ChoiceKind::While(most)][random.usize(..3)]
}

fn any<'a, T>(random: &mut Rng, all: &'a mut [T]) -> Option<&'a mut T> {
    if all.is_empty() { None } else { Some(&mut all[random.usize(..all.len())]) }
}

/// Changes up to three things that a recipe says.
pub(super) fn recipe(random: &mut Rng, recipe: &mut Recipe) {
    for _ in 0..random.usize(1..4) {
        if random.bool() {
            work(random, recipe)
        } else {
            memory(random, recipe)
        };
    }
}

fn choice(random: &mut Rng, recipe: &mut Recipe) -> Option<()> {
    let calls = recipe.calls.len() as u32 + 1;
    let one = any(random, &mut recipe.choices)?;
    match random.u8(..4) {
        0 => one.kind = choice_kind(random),
        1 => drop(one.arms.pop()),
        2 => one.arms.push(random.u32(..calls)),
        _ => *any(random, &mut one.arms)? = random.u32(..calls),
    }
    Some(())
}

fn call(random: &mut Rng, recipe: &mut Recipe) -> Option<()> {
    if random.u8(..3) == 0 && !recipe.choices.is_empty() {
        return choice(random, recipe);
    }
    let called = recipe.called.clone();
    let one = any(random, &mut recipe.calls)?;
    match random.u8(..6) {
        0 => one.callee = index(random),
        1 => *any(random, &mut one.symbols)? = dim(random),
        2 => one.times = (number(random) % 100) as u32,
        3 => one.carried = index(random) as u16,
        4 => one.collapsed = random.bool(),
        _ => drop(recipe.called.splice(0..1, called.into_iter().rev().take(1))),
    }
    Some(())
}

fn work(random: &mut Rng, recipe: &mut Recipe) -> Option<()> {
    let count = recipe.nodes.len();
    let choices = if recipe.calls.is_empty() { 12 } else { 13 };
    match random.u8(..choices) {
        12 => call(random, recipe)?,
        0 => any(random, &mut recipe.nodes)?.kind = kind(random),
        1 => any(random, &mut recipe.nodes)?.tag = index(random) as u16,
        2 => any(random, &mut recipe.nodes)?.first = index(random),
        3 => any(random, &mut recipe.nodes)?.count = index(random) as u16,
        4 => any(random, &mut recipe.nodes)?.cores = index(random) as u16,
        5 => any(random, &mut recipe.nodes)?.place = index(random),
        6 if count > 1 => recipe.nodes.swap(random.usize(..count), random.usize(..count)),
        7 if count > 0 => drop(recipe.nodes.remove(random.usize(..count))),
        8 if count > 0 => recipe.nodes.insert(random.usize(..count), recipe.nodes[random.usize(..count)]),
        9 => recipe.reserved.push((index(random), index(random))),
        10 => any(random, &mut recipe.tags)?.priority = index(random),
        _ => match random.u8(..14) {
            12 | 13 => *any(random, &mut recipe.functions)? = operator(random),
            0 => recipe.events.push(EventInfo { name: None }),
            1 => drop(recipe.events.pop()),
            2 => recipe.tags.push(Tag { name: random.char(..).to_string(), priority: 0 }),
            3 => drop(recipe.tags.pop()),
            4 => {
                let (at, byte) = (random.usize(..), random.u8(..));
                any(random, &mut recipe.functions)?.change(|parts| {
                    let at = at % parts.attributes.len().max(1);
                    parts.attributes.iter_mut().skip(at).take(1).for_each(|one| *one = byte);
                });
            }
            5 => {
                let byte = random.u8(..);
                any(random, &mut recipe.functions)?.change(|parts| {
                    parts.attributes = [&*parts.attributes, &[byte]].concat().into();
                });
            }
            6 => any(random, &mut recipe.functions)?.change(|parts| parts.kind = FunctionKind::Operator),
            7 => later(random, recipe)?.parameter = random.char(..).to_string(),
            8 => later(random, recipe)?.numbers.push(form(random)),
            9 => {
                let one = later(random, recipe)?;
                *any(random, &mut one.numbers)? = form(random);
            }
            10 => {
                let numbers = vec![form(random)];
                let one = Later { parameter: "alpha".to_owned(), numbers, each_run: random.bool() };
                any(random, &mut recipe.functions)?.change(|parts| parts.later.push(one));
            }
            _ => any(random, &mut recipe.functions)?.change(|parts| parts.kind = FunctionKind::Host),
        },
    }
    Some(())
}

/// What some operator is told later.
fn later<'r>(random: &mut Rng, recipe: &'r mut Recipe) -> Option<&'r mut Later> {
    let function = any(random, &mut recipe.functions)?;
    any(random, function.later_mut())
}

/// A number of an operator, of symbols that may be there.
fn form(random: &mut Rng) -> Form {
    let mut powers = [0; MAX_SYMBOLS];
    powers[random.usize(..MAX_SYMBOLS)] = random.u8(..3);
    let dim = Dim::from_parts(random.u64(..4), random.i64(-3..4), powers);
    match random.u8(..3) {
        0 => Form::Whole(random.i64(..)),
        1 => Form::Size(dim),
        _ => Form::Power(random.u64(..), dim, random.u64(..)),
    }
}

fn memory(random: &mut Rng, recipe: &mut Recipe) -> Option<()> {
    let modes = [Mode::Read, Mode::Write, Mode::ReadWrite, Mode::Touch];
    match random.u8(..16) {
        0 => any(random, &mut recipe.accesses)?.value = index(random),
        1 => any(random, &mut recipe.accesses)?.mode = modes[random.usize(..4)],
        2 => recipe.accesses.push(Access { value: index(random), mode: Mode::Read }),
        3 => any(random, &mut recipe.values)?.storage = index(random),
        4 => any(random, &mut recipe.values)?.layout = index(random),
        5 => any(random, &mut recipe.values)?.offset = extent(random),
        6 => any(random, &mut recipe.storages)?.bytes = extent(random),
        7 => {
            let owner = index(random);
            let (input, output) = (StorageKind::Input(owner), StorageKind::Output(owner));
            let kinds = [StorageKind::Temporary, input, output, StorageKind::Once];
            any(random, &mut recipe.storages)?.kind = kinds[random.usize(..4)];
        }
        8 => recipe.storages.push(Storage { kind: StorageKind::Temporary, bytes: extent(random) }),
        9 => {
            let layout = any(random, &mut recipe.layouts)?;
            *any(random, &mut layout.dims)? = dim(random);
        }
        10 => {
            let layout = any(random, &mut recipe.layouts)?;
            *any(random, &mut layout.strides)? = extent(random);
        }
        11 => {
            let layout = any(random, &mut recipe.layouts)?;
            layout.dims.push(dim(random));
            layout.strides.push(extent(random));
        }
        12 => {
            // Another view of the same memory, whose elements may share bytes.
            let mut value = any(random, &mut recipe.values)?.clone();
            let mut layout = recipe.layouts.get(value.layout as usize)?.clone();
            *any(random, &mut layout.strides)? = Extent::Fixed(random.u64(..4));
            value.layout = recipe.layouts.len() as u32;
            recipe.layouts.push(layout);
            recipe.values.push(value);
            any(random, &mut recipe.accesses)?.value = recipe.values.len() as u32 - 1;
        }
        13 => {
            let constant = any(random, &mut recipe.constants)?;
            constant.resize(random.usize(..64), random.u8(..));
        }
        14 => {
            let classes = [Input::Frozen, Input::Copied, Input::Host];
            any(random, &mut recipe.inputs)?.class = classes[random.usize(..3)];
        }
        _ => {
            let symbol = any(random, &mut recipe.symbols)?;
            (symbol.least, symbol.greatest) = (random.u64(..4), number(random));
            symbol.each_run ^= random.u8(..4) == 0;
        }
    }
    Some(())
}
