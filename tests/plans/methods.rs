//! The builder's methods for operators give what the functions of `racl::op` give on a stream.

use racl::half::f16;
use racl::op::{self, Attention, CubeMath, DataType, Element, GeluForm, GroupNorm, Mask, Reduce, RotaryForm, Window};
use racl::plan::{Builder, Frozen, Input, Plan, Simulated, Value};
use racl::{ErrorKind, Result, Stream, Tensor};

use crate::Alone;
use crate::common::assert_says;

type Planned = fn(&Builder, Value, Value) -> Result<Value>;
type Case = (&'static str, &'static [usize], &'static [usize], Planned, Eager<f32>);
type Eager<T> = fn(&Stream, &Tensor<f32>, &Tensor<f32>, &mut Tensor<T>) -> Result<()>;

const A: [f32; 8] = [0.5, -2.0, 3.0, 0.25, -0.5, 1.0, 2.0, 4.0];
const B: [f32; 8] = [1.5, 2.0, -3.0, 0.25, 2.5, -1.0, 0.5, 4.0];

/// Both on `a` and `b` of shape `dims`, with results of shape `out`.
fn check<T: Element>(
    alone: &Alone,
    dims: &[usize],
    (name, out): (&str, &[usize]),
    planned: Planned,
    eager: Eager<T>,
) {
    let stream = alone.stream();
    let count: usize = dims.iter().product();
    let [a, b] = [A, B].map(|numbers| alone.device.upload_tensor(&numbers[..count], dims).unwrap());
    let mut expected = alone.device.zeros::<T>(out).unwrap();
    eager(&stream, &a, &b, &mut expected).unwrap_or_else(|error| panic!("{name}: {error:#}"));
    let plan = Plan::build(|g| {
        let a = g.input("a", dims, DataType::F32, Input::Copied)?;
        let b = g.input("b", dims, DataType::F32, Input::Copied)?;
        let y = planned(g, a, b)?;
        assert_eq!(g.dims(y)?.iter().map(|dim| dim.as_fixed().unwrap()).collect::<Vec<_>>(), out, "{name}");
        g.output("y", y)
    })
    .unwrap_or_else(|error| panic!("{name}: {error:#}"));
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let mut bind = exe.bindings();
    for (input, tensor) in [("a", &a), ("b", &b)] {
        if let Ok(id) = exe.input(input) {
            bind.set(id, tensor);
        }
    }
    exe.run(&stream, &mut bind).unwrap_or_else(|error| panic!("{name}: {error:#}"));
    let got = exe.output::<T>(exe.output_id("y").unwrap()).unwrap().to_vec().unwrap();
    let expected = expected.to_vec().unwrap();
    assert_eq!(bytemuck::cast_slice::<T, u8>(&got), bytemuck::cast_slice::<T, u8>(&expected), "{name}");
}

const WHOLE: &[usize] = &[2, 4];

#[test]
fn element_wise() {
    let alone = Alone::new();
    let each: &[(&str, Planned, Eager<f32>)] = &[
        ("neg", |g, a, _| g.neg(a), |s, a, _, y| op::neg(s, a, y)),
        ("exp", |g, a, _| g.exp(a), |s, a, _, y| op::exp(s, a, y)),
        ("log", |g, a, _| g.log(a), |s, a, _, y| op::log(s, a, y)),
        ("sin", |g, a, _| g.sin(a), |s, a, _, y| op::sin(s, a, y)),
        ("cos", |g, a, _| g.cos(a), |s, a, _, y| op::cos(s, a, y)),
        ("sign", |g, a, _| g.sign(a), |s, a, _, y| op::sign(s, a, y)),
        ("floor", |g, a, _| g.floor(a), |s, a, _, y| op::floor(s, a, y)),
        ("ceil", |g, a, _| g.ceil(a), |s, a, _, y| op::ceil(s, a, y)),
        ("round", |g, a, _| g.round(a), |s, a, _, y| op::round(s, a, y)),
        ("reciprocal", |g, a, _| g.reciprocal(a), |s, a, _, y| op::reciprocal(s, a, y)),
        ("relu", |g, a, _| g.relu(a), |s, a, _, y| op::relu(s, a, y)),
        ("sigmoid", |g, a, _| g.sigmoid(a), |s, a, _, y| op::sigmoid(s, a, y)),
        ("silu", |g, a, _| g.silu(a), |s, a, _, y| op::silu(s, a, y)),
        ("hard_swish", |g, a, _| g.hard_swish(a), |s, a, _, y| op::hard_swish(s, a, y)),
        ("hard_sigmoid", |g, a, _| g.hard_sigmoid(a), |s, a, _, y| op::hard_sigmoid(s, a, y)),
        ("elu", |g, a, _| g.elu(a, 0.5), |s, a, _, y| op::elu(s, a, 0.5, y)),
        ("leaky_relu", |g, a, _| g.leaky_relu(a, 0.5), |s, a, _, y| op::leaky_relu(s, a, 0.5, y)),
        ("softplus", |g, a, _| g.softplus(a, 2.0, 3.0), |s, a, _, y| op::softplus(s, a, 2.0, 3.0, y)),
        ("pow", |g, a, b| g.pow(a, b), |s, a, b, y| op::pow(s, a, b, y)),
        ("pows", |g, a, _| g.pows(a, 3.0), |s, a, _, y| op::pows(s, a, 3.0, y)),
        ("clamp", |g, a, _| g.clamp(a, -1.0_f32, 2.0_f32), |s, a, _, y| op::clamp(s, a, -1.0, 2.0, y)),
        ("minimum", |g, a, b| g.minimum(a, b), |s, a, b, y| op::minimum(s, a, b, y)),
        ("cumsum", |g, a, _| g.cumsum(a, 1), |s, a, _, y| op::cumsum(s, a, 1, y)),
        ("log_softmax", |g, a, _| g.log_softmax(a, -1), |s, a, _, y| op::log_softmax(s, a, -1, y)),
        ("flip", |g, a, _| g.flip(a, &[1]), |s, a, _, y| op::flip(s, a, &[1], y)),
        ("roll", |g, a, _| g.roll(a, &[1], &[1]), |s, a, _, y| op::roll(s, a, &[1], &[1], y)),
        ("tril", |g, a, _| g.tril(a, 1), |s, a, _, y| op::tril(s, a, 1, y)),
        ("triu", |g, a, _| g.triu(a, 1), |s, a, _, y| op::triu(s, a, 1, y)),
    ];
    for (name, planned, eager) in each {
        check(&alone, WHOLE, (name, WHOLE), *planned, *eager);
    }
}

#[test]
fn truths() {
    let alone = Alone::new();
    let each: &[(&str, Planned, Eager<u8>)] = &[
        ("equal", |g, a, b| g.equal(a, b), |s, a, b, y| op::equal(s, a, b, y)),
        ("not_equal", |g, a, b| g.not_equal(a, b), |s, a, b, y| op::not_equal(s, a, b, y)),
        ("less", |g, a, b| g.less(a, b), |s, a, b, y| op::less(s, a, b, y)),
        ("less_equal", |g, a, b| g.less_equal(a, b), |s, a, b, y| op::less_equal(s, a, b, y)),
        ("greater", |g, a, b| g.greater(a, b), |s, a, b, y| op::greater(s, a, b, y)),
        ("greater_equal", |g, a, b| g.greater_equal(a, b), |s, a, b, y| op::greater_equal(s, a, b, y)),
        ("equal_to", |g, a, _| g.equal_to(a, 0.25_f32), |s, a, _, y| op::equal_to(s, a, 0.25, y)),
        ("not_equal_to", |g, a, _| g.not_equal_to(a, 0.25_f32), |s, a, _, y| op::not_equal_to(s, a, 0.25, y)),
        ("less_than", |g, a, _| g.less_than(a, 0.25_f32), |s, a, _, y| op::less_than(s, a, 0.25, y)),
        ("at_most", |g, a, _| g.at_most(a, 0.25_f32), |s, a, _, y| op::at_most(s, a, 0.25, y)),
        ("greater_than", |g, a, _| g.greater_than(a, 0.25_f32), |s, a, _, y| op::greater_than(s, a, 0.25, y)),
        ("at_least", |g, a, _| g.at_least(a, 0.25_f32), |s, a, _, y| op::at_least(s, a, 0.25, y)),
        ("logical_and", |g, a, b| g.logical_and(a, b), |s, a, b, y| op::logical_and(s, a, b, y)),
        ("logical_or", |g, a, b| g.logical_or(a, b), |s, a, b, y| op::logical_or(s, a, b, y)),
        ("logical_xor", |g, a, b| g.logical_xor(a, b), |s, a, b, y| op::logical_xor(s, a, b, y)),
        ("logical_not", |g, a, _| g.logical_not(a), |s, a, _, y| op::logical_not(s, a, y)),
    ];
    for (name, planned, eager) in each {
        check(&alone, WHOLE, (name, WHOLE), *planned, *eager);
    }
    check::<u8>(
        &alone,
        WHOLE,
        ("all", &[2]),
        |g, a, _| g.all(a, &[1], false),
        |s, a, _, y| op::all(s, a, &[1], false, y),
    );
    check::<u8>(
        &alone,
        WHOLE,
        ("any", &[1, 4]),
        |g, a, _| g.any(a, &[0], true),
        |s, a, _, y| op::any(s, a, &[0], true, y),
    );
}

#[test]
fn in_place() {
    let alone = Alone::new();
    let each: &[(&str, Planned, Eager<f32>)] = &[
        (
            "add_inplace",
            |g, a, b| changed(g, a, |g, y| g.add_inplace(y, b)),
            |s, a, b, y| {
                op::copy(s, a, y)?;
                op::add_inplace(s, y, b)
            },
        ),
        (
            "sub_inplace",
            |g, a, b| changed(g, a, |g, y| g.sub_inplace(y, b)),
            |s, a, b, y| {
                op::copy(s, a, y)?;
                op::sub_inplace(s, y, b)
            },
        ),
        (
            "mul_inplace",
            |g, a, b| changed(g, a, |g, y| g.mul_inplace(y, b)),
            |s, a, b, y| {
                op::copy(s, a, y)?;
                op::mul_inplace(s, y, b)
            },
        ),
        (
            "div_inplace",
            |g, a, b| changed(g, a, |g, y| g.div_inplace(y, b)),
            |s, a, b, y| {
                op::copy(s, a, y)?;
                op::div_inplace(s, y, b)
            },
        ),
        (
            "adds_inplace",
            |g, a, _| changed(g, a, |g, y| g.adds_inplace(y, 2.0_f32)),
            |s, a, _, y| {
                op::copy(s, a, y)?;
                op::adds_inplace(s, y, 2.0)
            },
        ),
        (
            "muls_inplace",
            |g, a, _| changed(g, a, |g, y| g.muls_inplace(y, 2.0_f32)),
            |s, a, _, y| {
                op::copy(s, a, y)?;
                op::muls_inplace(s, y, 2.0)
            },
        ),
        ("zero", |g, a, _| changed(g, a, |g, y| g.zero(y)), |s, _, _, y| op::zero(s, y)),
        ("fill", |g, a, _| changed(g, a, |g, y| g.fill(y, 3.0_f32)), |s, _, _, y| op::fill(s, y, 3.0)),
        (
            "index_fill",
            |g, a, _| changed(g, a, |g, y| g.index_fill(y, 1, &[0, 2], 9.0_f32)),
            |s, a, _, y| {
                op::copy(s, a, y)?;
                op::index_fill(s, y, 1, &[0, 2], 9.0)
            },
        ),
        (
            "masked_fill and select",
            |g, a, b| {
                let mask = g.greater(a, b)?;
                let y = g.select(mask, a, b)?;
                g.masked_fill(y, mask, 7.0_f32)?;
                Ok(y)
            },
            |s, a, b, y| {
                let mut mask = s.context().zeros::<u8>([2, 4])?;
                op::greater(s, a, b, &mut mask)?;
                op::select(s, &mask, a, b, y)?;
                op::masked_fill(s, y, &mask, 7.0)
            },
        ),
    ];
    for (name, planned, eager) in each {
        check(&alone, WHOLE, (name, WHOLE), *planned, *eager);
    }
}

/// A copy that is changed.
fn changed(g: &Builder, a: Value, change: impl FnOnce(&Builder, Value) -> Result<()>) -> Result<Value> {
    let y = g.muls(a, 1.0)?;
    change(g, y)?;
    Ok(y)
}

#[test]
fn folds_orders_and_places() {
    let alone = Alone::new();
    let each: &[(&str, &[usize], Planned, Eager<f32>)] = &[
        ("amax", &[2], |g, a, _| g.amax(a, &[1], false), |s, a, _, y| op::amax(s, a, &[1], false, y)),
        ("amin", &[2, 1], |g, a, _| g.amin(a, &[1], true), |s, a, _, y| op::amin(s, a, &[1], true, y)),
        ("prod", &[4], |g, a, _| g.prod(a, 0, false), |s, a, _, y| op::prod(s, a, 0, false, y)),
        ("norm", &[2], |g, a, _| g.norm(a, 2.0, &[1], false), |s, a, _, y| op::norm(s, a, 2.0, &[1], false, y)),
        (
            "max_dim",
            &[2],
            |g, a, _| Ok(g.max_dim(a, 1, false)?.0),
            |s, a, _, y| op::max_dim(s, a, 1, false, y, &mut s.context().zeros::<i64>([2])?),
        ),
        (
            "min_dim",
            &[2],
            |g, a, _| Ok(g.min_dim(a, 1, false)?.0),
            |s, a, _, y| op::min_dim(s, a, 1, false, y, &mut s.context().zeros::<i64>([2])?),
        ),
        (
            "topk",
            &[2, 3],
            |g, a, _| Ok(g.topk(a, 3, 1, true)?.0),
            |s, a, _, y| op::topk(s, a, 3, 1, true, y, &mut s.context().zeros([2, 3])?),
        ),
        ("slice", &[2, 2], |g, a, _| g.slice(a, 1, 1, 4, 2), |s, a, _, y| op::slice(s, a, 1, 1, 4, 2, y)),
        ("cat", &[4, 4], |g, a, b| g.cat(&[a, b], 0), |s, a, b, y| op::cat(s, &[a, b], 0, y)),
        ("stack", &[2, 2, 4], |g, a, b| g.stack(&[a, b], 1), |s, a, b, y| op::stack(s, &[a, b], 1, y)),
        (
            "split",
            &[2, 3],
            |g, a, _| Ok(g.split(a, &[1, 3], 1)?[1]),
            |s, a, _, y| op::split(s, a, &[1, 3], 1, &mut [&mut s.context().zeros([2, 1])?, y]),
        ),
        ("repeat", &[4, 4], |g, a, _| g.repeat(a, &[2, 1]), |s, a, _, y| op::repeat(s, a, &[2, 1], y)),
        ("expand", &[3, 2, 4], |g, a, _| g.expand(a, &[3, 2, 4]), |s, a, _, y| op::expand(s, a, &[3, 2, 4], y)),
        ("pad", &[2, 7], |g, a, _| g.pad(a, &[1, 2], 9.0_f32), |s, a, _, y| op::pad(s, a, &[1, 2], 9.0, y)),
        (
            "repeat_interleave",
            &[24],
            |g, a, _| g.repeat_interleave(a, 3),
            |s, a, _, y| op::repeat_interleave(s, a, 3, y),
        ),
        (
            "reflection_pad1d",
            &[2, 7],
            |g, a, _| g.reflection_pad1d(a, [1, 2]),
            |s, a, _, y| op::reflection_pad1d(s, a, [1, 2], y),
        ),
        ("swiglu", &[2, 2], |g, a, _| g.swiglu(a, 1), |s, a, _, y| op::swiglu(s, a, 1, y)),
        (
            "geglu",
            &[2, 2],
            |g, a, _| Ok(g.geglu(a, 1, GeluForm::Tanh)?.0),
            |s, a, _, y| op::geglu(s, a, 1, GeluForm::Tanh, y, &mut s.context().zeros([2, 2])?),
        ),
        ("linspace", &[5], |g, _, _| g.linspace(1.0_f32, 2.0_f32, 5), |s, _, _, y| op::linspace(s, 1.0, 2.0, 5, y)),
        ("arange", &[3], |g, _, _| g.arange(1.0_f32, 7.0_f32, 2.0_f32), |s, _, _, y| op::arange(s, 1.0, 7.0, 2.0, y)),
        ("eye", &[2, 3], |g, _, _| g.eye(2, 3, DataType::F32), |s, _, _, y| op::eye(s, 2, 3, y)),
    ];
    for (name, out, planned, eager) in each {
        check(&alone, WHOLE, (name, out), *planned, *eager);
    }
    let each: &[(&str, &[usize], Planned, Eager<i64>)] = &[
        ("argmax", &[2], |g, a, _| g.argmax(a, 1, false), |s, a, _, y| op::argmax(s, a, 1, false, y)),
        ("argmin", &[2, 1], |g, a, _| g.argmin(a, 1, true), |s, a, _, y| op::argmin(s, a, 1, true, y)),
        ("argsort", WHOLE, |g, a, _| g.argsort(a, 1, true), |s, a, _, y| op::argsort(s, a, 1, true, y)),
        (
            "sort",
            WHOLE,
            |g, a, _| Ok(g.sort(a, 0, true)?.1),
            |s, a, _, y| op::sort(s, a, 0, true, &mut s.context().zeros([2, 4])?, y),
        ),
    ];
    for (name, out, planned, eager) in each {
        check(&alone, WHOLE, (name, out), *planned, *eager);
    }
}

/// Indices of a plan and of a stream.
const PLACES: [i64; 2] = [1, 0];

#[test]
fn indices() {
    let alone = Alone::new();
    let each: &[(&str, &[usize], Planned, Eager<f32>)] = &[
        (
            "index_select",
            WHOLE,
            |g, a, _| g.index_select(a, 0, g.constant(&PLACES, [2])?),
            |s, a, _, y| op::index_select(s, a, 0, &s.context().upload_tensor(&PLACES, [2])?, y),
        ),
        (
            "gather",
            &[2, 1],
            |g, a, _| g.gather(a, 1, g.constant(&PLACES, [2, 1])?),
            |s, a, _, y| op::gather(s, a, 1, &s.context().upload_tensor(&PLACES, [2, 1])?, y),
        ),
        (
            "index_copy",
            WHOLE,
            |g, a, b| changed(g, a, |g, y| g.index_copy(y, 0, g.constant(&PLACES, [2])?, b)),
            |s, a, b, y| {
                op::copy(s, a, y)?;
                op::index_copy(s, y, 0, &s.context().upload_tensor(&PLACES, [2])?, b)
            },
        ),
        (
            "scatter",
            WHOLE,
            |g, a, b| changed(g, a, |g, y| g.scatter(y, 1, g.constant(&PLACES, [2, 1])?, b, Reduce::Add)),
            |s, a, b, y| {
                op::copy(s, a, y)?;
                op::scatter(s, y, 1, &s.context().upload_tensor(&PLACES, [2, 1])?, b, Reduce::Add)
            },
        ),
        (
            "index_put",
            WHOLE,
            |g, a, b| changed(g, a, |g, y| g.index_put(y, &[g.constant(&PLACES, [2])?], b, true)),
            |s, a, b, y| {
                op::copy(s, a, y)?;
                op::index_put(s, y, &[&s.context().upload_tensor(&PLACES, [2])?], b, true)
            },
        ),
        (
            "one_hot",
            &[2, 3],
            |g, _, _| {
                let (on, off) = (g.full([1], DataType::F32, 5.0)?, g.full([1], DataType::F32, -1.0)?);
                g.one_hot(g.constant(&PLACES, [2])?, 3, on, off)
            },
            |s, _, _, y| {
                let device = s.context();
                let (on, off) = (device.upload_tensor(&[5.0], [1])?, device.upload_tensor(&[-1.0], [1])?);
                op::one_hot(s, &device.upload_tensor(&PLACES, [2])?, 3, &on, &off, y)
            },
        ),
        (
            "cross_entropy",
            &[2, 4],
            |g, a, _| Ok(g.cross_entropy(a, g.constant(&PLACES, [2])?, -100)?.1),
            |s, a, _, y| {
                let target = s.context().upload_tensor(&PLACES, [2])?;
                op::cross_entropy(s, a, &target, -100, &mut s.context().zeros([1])?, y)
            },
        ),
    ];
    for (name, out, planned, eager) in each {
        check(&alone, WHOLE, (name, out), *planned, *eager);
    }
}

#[test]
fn norms_and_products() {
    let alone = Alone::new();
    let each: &[Case] = &[
        (
            "rms_norm",
            &[8],
            &[8],
            |g, a, b| Ok(g.rms_norm(a, b, 1e-6)?.0),
            |s, a, b, y| op::rms_norm(s, a, b, 1e-6, y, &mut s.context().zeros([1])?),
        ),
        (
            "add_rms_norm",
            &[8],
            &[8],
            |g, a, b| Ok(g.add_rms_norm(a, b, b, 1e-6)?.0),
            |s, a, b, y| {
                let device = s.context();
                op::add_rms_norm(s, a, b, b, 1e-6, (y, &mut device.zeros([8])?), &mut device.zeros([1])?)
            },
        ),
        ("its sum", &[8], &[8], |g, a, b| Ok(g.add_rms_norm(a, b, b, 1e-6)?.1), |s, a, b, y| op::add(s, a, b, y)),
        (
            "rotary_embedding",
            &[1, 2, 4],
            &[1, 2, 4],
            |g, a, b| g.rotary_embedding(a, b, b, RotaryForm::Neighbours),
            |s, a, b, y| op::rotary_embedding(s, a, b, b, RotaryForm::Neighbours, y),
        ),
        (
            "group_norm",
            &[1, 4, 2],
            &[1, 4, 2],
            |g, a, _| Ok(g.group_norm(a, 2, None, None, 1e-5)?.0),
            |s, a, _, out| {
                let (mut mean, mut scale) = (s.context().zeros([1, 2])?, s.context().zeros([1, 2])?);
                let results = GroupNorm { out, mean: &mut mean, scale: &mut scale };
                op::group_norm(s, a, 2, None, None, 1e-5, results)
            },
        ),
        (
            "matmul_with",
            &[2, 2],
            &[2, 2],
            |g, a, b| g.matmul_with(a, b, CubeMath::UseHf32),
            |s, a, b, y| op::matmul_with(s, a, b, y, CubeMath::UseHf32),
        ),
        ("dot", &[8], &[], |g, a, b| g.dot(a, b), |s, a, b, y| op::dot(s, a, b, y)),
        ("mv", &[2, 2], &[2], |g, a, b| g.mv(a, g.narrow(b, 0, 0..1).and_then(|b| g.reshape(b, [2]))?), {
            |s, a, b, y| op::mv(s, a, &b.narrow(0, 0..1)?.reshaped([2])?, y)
        }),
        (
            "baddbmm",
            &[2, 2, 2],
            &[2, 2, 2],
            |g, a, b| g.baddbmm(a, a, b, 0.5, 2.0),
            |s, a, b, y| op::baddbmm(s, a, a, b, 0.5, 2.0, y),
        ),
        ("triangular_solve", &[2, 2], &[2, 2], |g, a, b| Ok(g.triangular_solve(a, b, true, false, false)?.0), {
            |s, a, b, y| op::triangular_solve(s, a, b, true, false, false, (y, &mut s.context().zeros([2, 2])?))
        }),
        (
            "prompt_attention",
            &[1, 2, 2, 2],
            &[1, 2, 2, 2],
            |g, a, b| g.prompt_attention(a, b, a, None, false, &Attention::new(0.5)),
            |s, a, b, y| op::prompt_attention(s, a, b, a, Mask::None, &Attention::new(0.5), y),
        ),
        (
            "incremental_attention",
            &[2, 1, 2, 2],
            &[2, 1, 2, 2],
            |g, a, b| g.incremental_attention(a, b, a, None, &Attention::new(0.5)),
            |s, a, b, y| op::incremental_attention(s, a, b, a, None, &Attention::new(0.5), y),
        ),
    ];
    for (name, dims, out, planned, eager) in each {
        check(&alone, dims, (name, out), *planned, *eager);
    }
}

#[test]
fn windows() {
    let alone = Alone::new();
    const AROUND: Window<2> = Window { stride: [2, 1], padding: [1, 0], dilation: [1, 1] };
    let each: &[Case] = &[
        (
            "conv1d",
            &[1, 2, 4],
            &[1, 1, 3],
            |g, a, b| g.conv1d(a, g.narrow(b, 2, 0..2)?, None, Window::default(), 1),
            |s, a, b, y| op::conv1d(s, a, &b.narrow(2, 0..2)?, None, Window::default(), 1, y),
        ),
        (
            "conv2d",
            &[1, 1, 2, 4],
            &[1, 1, 2, 1],
            |g, a, b| g.conv2d(a, b, None, AROUND, 1),
            |s, a, b, y| op::conv2d(s, a, b, None, AROUND, 1, y),
        ),
        (
            "im2col",
            &[1, 1, 2, 4],
            &[1, 4, 3],
            |g, a, _| g.im2col(a, [2, 2], Window::default()),
            |s, a, _, y| op::im2col(s, a, [2, 2], Window::default(), y),
        ),
        (
            "avg_pool2d",
            &[1, 1, 2, 4],
            &[1, 1, 2, 3],
            |g, a, _| g.avg_pool2d(a, [2, 2], AROUND, true),
            |s, a, _, y| op::avg_pool2d(s, a, [2, 2], AROUND, true, y),
        ),
        (
            "max_pool2d",
            &[1, 1, 2, 4],
            &[1, 1, 1, 3],
            |g, a, _| Ok(g.max_pool2d(a, [2, 2], Window::default())?.0),
            |s, a, _, y| op::max_pool2d(s, a, [2, 2], Window::default(), y, &mut s.context().zeros([1, 1, 1, 3])?),
        ),
        (
            "upsample_nearest2d",
            &[1, 1, 2, 4],
            &[1, 1, 4, 4],
            |g, a, _| g.upsample_nearest2d(a, [4, 4]),
            |s, a, _, y| op::upsample_nearest2d(s, a, [4, 4], y),
        ),
        (
            "reflection_pad2d",
            &[1, 1, 2, 4],
            &[1, 1, 3, 6],
            |g, a, _| g.reflection_pad2d(a, [1, 1, 1, 0]),
            |s, a, _, y| op::reflection_pad2d(s, a, [1, 1, 1, 0], y),
        ),
    ];
    for (name, dims, out, planned, eager) in each {
        check(&alone, dims, (name, out), *planned, *eager);
    }
}

#[test]
fn weights_of_eight_bits() {
    let (alone, [half, one]) = (Alone::new(), [0.5, 1.25].map(f16::from_f32));
    let plan = Plan::build(|g| {
        let x = g.input("x", [1, 2], DataType::F16, Input::Copied)?;
        let (weight, scale) = (g.constant(&[10_i8, -20, 30, 40], [2, 2])?, g.constant(&[half, one], [2])?);
        g.output("y", g.weight_quant_matmul(x, weight, scale, 0)?)
    });
    let (device, stream) = (&alone.device, alone.stream());
    let x = device.upload_tensor(&[one, half], [1, 2]).unwrap();
    let weight = device.upload_tensor(&[10_i8, -20, 30, 40], [2, 2]).unwrap();
    let scale = device.upload_tensor(&[half, one], [2]).unwrap();
    let mut expected = device.zeros::<f16>([1, 2]).unwrap();
    op::weight_quant_matmul(&stream, &x, &weight, &scale, 0, &mut expected).unwrap();
    let mut exe = plan.unwrap().capture(device, Frozen::new()).unwrap();
    let mut bind = exe.bindings();
    exe.run(&stream, bind.set(exe.input("x").unwrap(), &x)).unwrap();
    let got = exe.output::<f16>(exe.output_id("y").unwrap()).unwrap().to_vec().unwrap();
    assert_eq!(got, expected.to_vec().unwrap());
    assert_ne!(got, [f16::ZERO; 2]);
}

#[test]
fn batch_norm_reads_its_statistics() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let images = g.symbol("images", 1..=4)?;
        let x = g.input("x", [images, 2.into()], DataType::F32, Input::Copied)?;
        let (mean, variance) = (g.constant(&[1.0_f32, 2.0], [2])?, g.constant(&[3.0_f32, 8.0], [2])?);
        let y = g.batch_norm(x, (None, Some(mean)), (mean, variance), 1.0)?;
        g.output("y", y)
    })
    .unwrap();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[5.0_f32, 2.0, 1.0, 8.0], [2, 2]).unwrap();
    exe.run(&alone.stream(), &mut crate::give(&exe, "x", &x)).unwrap();
    // (x - mean) / sqrt(variance + 1) + mean
    let want = [(5.0 - 1.0) / 2.0 + 1.0, 2.0, 1.0, (8.0 - 2.0) / 3.0 + 2.0];
    for (got, want) in crate::result(&exe, "y").into_iter().zip(want) {
        assert!((got - want as f32).abs() < 1e-5, "{got} for {want}");
    }
}

#[test]
fn attention_with_a_builder_wants_the_heads_alone_fixed() {
    // Others begin by ending all that the mock has, which a simulation uses, too.
    let _alone = Alone::new();
    let plan = Plan::build(|g| {
        let texts = g.symbol("texts", 1..=4)?;
        let keys = g.symbol("keys", 1..=8)?;
        let q = g.input("q", [texts, 1.into(), 2.into(), 16.into()], DataType::F16, Input::Copied)?;
        let k = g.input("k", [texts, keys, 1.into(), 16.into()], DataType::F16, Input::Copied)?;
        let mut y = g.empty([texts, 1.into(), 2.into(), 16.into()], DataType::F16)?;
        op::incremental_attention(g, &q, &k, &k, None, &Attention::new(0.5), &mut y)?;
        let mut z = g.empty([texts, 1.into(), 2.into(), 16.into()], DataType::F16)?;
        op::prompt_attention(g, &q, &k, &k, Mask::None, &Attention::new(0.5), &mut z)?;
        g.output("y", y)?;
        g.output("z", z)
    });
    let plan = plan.unwrap();
    let ones = vec![half::f16::ONE; 3 * 5 * 16];
    let given = Simulated::new().tensor("q", &ones[..96], [3, 1, 2, 16]).tensor("k", &ones, [3, 5, 1, 16]);
    let given = given.symbol("texts", 3).symbol("keys", 5);
    let left = plan.simulate(1, &given).unwrap();
    for name in ["y", "z"] {
        assert_eq!(left.to_vec::<half::f16>(name).unwrap(), vec![half::f16::ONE; 96], "{name}");
    }
    let refused = Plan::build(|g| {
        let heads = g.symbol("heads", 1..=4)?;
        let q = g.input("q", [1.into(), 1.into(), heads, 16.into()], DataType::F16, Input::Copied)?;
        op::incremental_attention(g, &q, &q, &q, None, &Attention::new(0.5), &mut { q })
    });
    assert_says(
        &refused.unwrap_err(),
        ErrorKind::InvalidPlan,
        &["dimension 2 of", "depends on symbols", "methods.rs"],
    );
}
