//! The functions of `racl::op` with fixed types, each written once: on a stream with tensors, in a plan with values.

#![allow(clippy::useless_conversion, reason = "of a number that is written once for both it is none in one of them")]

use racl::op::{
    self, Attention, CubeMath, DataType, Element, Elements, Floats, GeluForm, GroupNorm, LayerNorm, Mask, Numerics,
    Of, On, Reduce, RotaryForm, Window,
};
use racl::plan::{Builder, Frozen, Inferred, Input, Mode, Plan, Planned, RunOptions, Simulated, Value};
use racl::{ErrorKind, Result, Stream, Tensor};

use crate::Alone;
use crate::common::assert_says;

const A: [f32; 8] = [0.5, -2.0, 3.0, 0.25, -0.5, 1.0, 2.0, 4.0];
const B: [f32; 8] = [1.5, 2.0, -3.0, 0.25, 2.5, -1.0, 0.5, 4.0];
const WHOLE: &[usize] = &[2, 4];

/// Where both worlds get what a function needs beside its operands.
trait Makes<K: Elements>: On<K> {
    /// For a result that nobody looks at.
    fn spare<U: Element>(&self, dims: &[usize]) -> <K::As<U> as Elements>::Out;

    fn given<U: Element>(&self, elements: &[U], dims: &[usize]) -> <K::As<U> as Elements>::Operand;
}

impl Makes<f32> for Stream {
    fn spare<U: Element>(&self, dims: &[usize]) -> Tensor<U> {
        self.context().zeros(dims).unwrap()
    }

    fn given<U: Element>(&self, elements: &[U], dims: &[usize]) -> Tensor<U> {
        self.context().upload_tensor(elements, dims).unwrap()
    }
}

impl Makes<Planned> for Builder {
    fn spare<U: Element>(&self, _: &[usize]) -> Inferred {
        Inferred::new()
    }

    fn given<U: Element>(&self, elements: &[U], dims: &[usize]) -> Value {
        self.constant(elements, dims).unwrap()
    }
}

type Eager<R> = fn(&Stream, &Tensor<f32>, &Tensor<f32>, &mut Tensor<R>) -> Result<()>;
type Recorded = fn(&Builder, &Value, &Value, &mut Inferred) -> Result<()>;

struct Both<R: Element> {
    name: &'static str,
    dims: &'static [usize],
    out: &'static [usize],
    eager: Eager<R>,
    recorded: Recorded,
}

/// One function for both worlds, on `a` and `b` of one shape, with a result.
macro_rules! both {
    ($($name:ident $dims:expr => $out:expr, |$on:tt, $a:tt, $b:tt, $y:tt| $call:expr;)*) => {
        [$(Both {
            name: stringify!($name),
            dims: $dims,
            out: $out,
            eager: |$on, $a, $b, $y| $call,
            recorded: |$on, $a, $b, $y| $call,
        }),*]
    };
}

fn record<R: Element>(g: &Builder, case: &Both<R>) -> Result<()> {
    let a = g.input("a", case.dims, DataType::F32, Input::Copied)?;
    let b = g.input("b", case.dims, DataType::F32, Input::Copied)?;
    let mut y = Inferred::new();
    (case.recorded)(g, &a, &b, &mut y)?;
    let y = y.value()?;
    assert!(g.dtype(y)? == R::TYPE || (g.dtype(y)?, R::TYPE) == (DataType::Bool, DataType::U8), "{}", case.name);
    g.output("y", y)
}

/// The same bytes on a stream and in a plan, on every way to run it.
fn check<R: Element>(alone: &Alone, cases: &[Both<R>]) {
    let stream = alone.stream();
    #[cfg(feature = "cache")]
    let folder = tempfile::tempdir().unwrap();
    for case in cases {
        let Both { name, dims, out, .. } = *case;
        let count: usize = dims.iter().product();
        let [a, b] = [A, B].map(|numbers| alone.device.upload_tensor(&numbers[..count], dims).unwrap());
        let mut expected = alone.device.zeros::<R>(out).unwrap();
        (case.eager)(&stream, &a, &b, &mut expected).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        let expected = expected.to_vec().unwrap();
        let expected: &[u8] = bytemuck::cast_slice(&expected);
        assert!(expected.iter().any(|byte| *byte != 0) || name == "zero", "{name}: nothing but zeros");
        let plan = Plan::build(|g| record(g, case)).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        let run = |plan: &Plan, mode| {
            let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
            let mut bind = exe.bindings();
            for (input, tensor) in [("a", &a), ("b", &b)] {
                if let Ok(id) = exe.input(input) {
                    bind.set(id, tensor);
                }
            }
            exe.run(&stream, &mut bind).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            let got = exe.output::<R>(exe.output_id("y").unwrap()).unwrap();
            assert_eq!(&got.shape()[..], out, "{name}");
            bytemuck::cast_slice::<R, u8>(&got.to_vec().unwrap()).to_vec()
        };
        assert_eq!(run(&plan, Mode::Captured), expected, "{name}, captured");
        assert_eq!(run(&plan, Mode::Eager), expected, "{name}, eagerly");
        let given = Simulated::new().tensor("a", &A[..count], dims).tensor("b", &B[..count], dims);
        let simulation = plan.simulate(5, &given).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        assert_eq!(simulation.bytes("y").unwrap(), expected, "{name}, simulated");
        #[cfg(feature = "cache")]
        for is_stored in [false, true] {
            let cache = racl::cache::CompileCache::builder("Typed").cache_dir(folder.path()).build().unwrap();
            let stored = cache.func(name).ignore_captures().compile(&alone.device, |g| record(g, case)).unwrap();
            if is_stored {
                assert_eq!(cache.status(name).unwrap(), racl::cache::Status::Hit, "{name}");
                assert_eq!(run(&stored, Mode::Captured), expected, "{name}, stored");
            }
        }
    }
}

#[test]
fn arithmetic_and_functions_of_elements() {
    check::<f32>(
        &Alone::new(),
        &both! {
            add WHOLE => WHOLE, |on, a, b, y| op::add(on, a, b, y);
            add_scaled WHOLE => WHOLE, |on, a, b, y| op::add_scaled(on, a, b, 0.5_f32.into(), y);
            sub WHOLE => WHOLE, |on, a, b, y| op::sub(on, a, b, y);
            mul WHOLE => WHOLE, |on, a, b, y| op::mul(on, a, b, y);
            div WHOLE => WHOLE, |on, a, b, y| op::div(on, a, b, y);
            maximum WHOLE => WHOLE, |on, a, b, y| op::maximum(on, a, b, y);
            minimum WHOLE => WHOLE, |on, a, b, y| op::minimum(on, a, b, y);
            adds WHOLE => WHOLE, |on, a, _, y| op::adds(on, a, 0.5_f32.into(), y);
            muls WHOLE => WHOLE, |on, a, _, y| op::muls(on, a, 0.5_f32.into(), y);
            divs WHOLE => WHOLE, |on, a, _, y| op::divs(on, a, 3_f32.into(), y);
            clamp_min WHOLE => WHOLE, |on, a, _, y| op::clamp_min(on, a, 0.5_f32.into(), y);
            clamp WHOLE => WHOLE, |on, a, _, y| op::clamp(on, a, (-1_f32).into(), 2_f32.into(), y);
            abs WHOLE => WHOLE, |on, a, _, y| op::abs(on, a, y);
            sqrt WHOLE => WHOLE, |on, a, _, y| {
                op::abs(on, a, y)?;
                let mut root = on.spare::<f32>(WHOLE);
                op::sqrt(on, y, &mut root)?;
                op::copy(on, &root, y)
            };
            rsqrt WHOLE => WHOLE, |on, a, _, y| {
                let mut positive = on.spare::<f32>(WHOLE);
                op::abs(on, a, &mut positive)?;
                op::rsqrt(on, &positive, y)
            };
            tanh WHOLE => WHOLE, |on, a, _, y| op::tanh(on, a, y);
            neg WHOLE => WHOLE, |on, a, _, y| op::neg(on, a, y);
            exp WHOLE => WHOLE, |on, a, _, y| op::exp(on, a, y);
            log WHOLE => WHOLE, |on, a, _, y| {
                let mut positive = on.spare::<f32>(WHOLE);
                op::abs(on, a, &mut positive)?;
                op::log(on, &positive, y)
            };
            sin WHOLE => WHOLE, |on, a, _, y| op::sin(on, a, y);
            cos WHOLE => WHOLE, |on, a, _, y| op::cos(on, a, y);
            sign WHOLE => WHOLE, |on, a, _, y| op::sign(on, a, y);
            floor WHOLE => WHOLE, |on, a, _, y| op::floor(on, a, y);
            ceil WHOLE => WHOLE, |on, a, _, y| op::ceil(on, a, y);
            round WHOLE => WHOLE, |on, a, _, y| op::round(on, a, y);
            reciprocal WHOLE => WHOLE, |on, a, _, y| op::reciprocal(on, a, y);
            relu WHOLE => WHOLE, |on, a, _, y| op::relu(on, a, y);
            sigmoid WHOLE => WHOLE, |on, a, _, y| op::sigmoid(on, a, y);
            silu WHOLE => WHOLE, |on, a, _, y| op::silu(on, a, y);
            hard_swish WHOLE => WHOLE, |on, a, _, y| op::hard_swish(on, a, y);
            hard_sigmoid WHOLE => WHOLE, |on, a, _, y| op::hard_sigmoid(on, a, y);
            elu WHOLE => WHOLE, |on, a, _, y| op::elu(on, a, 0.5, y);
            leaky_relu WHOLE => WHOLE, |on, a, _, y| op::leaky_relu(on, a, 0.5, y);
            softplus WHOLE => WHOLE, |on, a, _, y| op::softplus(on, a, 2.0, 3.0, y);
            pow WHOLE => WHOLE, |on, a, b, y| op::pow(on, a, b, y);
            pows WHOLE => WHOLE, |on, a, _, y| op::pows(on, a, 3.0, y);
            gelu WHOLE => WHOLE, |on, a, _, y| op::gelu(on, a, GeluForm::Tanh, y);
        },
    );
}

#[test]
fn what_changes_an_operand_in_place() {
    check::<f32>(
        &Alone::new(),
        &both! {
            add_inplace WHOLE => WHOLE, |on, a, b, y| {
                op::copy(on, a, y)?;
                op::add_inplace(on, y, b)
            };
            sub_inplace WHOLE => WHOLE, |on, a, b, y| {
                op::copy(on, a, y)?;
                op::sub_inplace(on, y, b)
            };
            mul_inplace WHOLE => WHOLE, |on, a, b, y| {
                op::copy(on, a, y)?;
                op::mul_inplace(on, y, b)
            };
            div_inplace WHOLE => WHOLE, |on, a, b, y| {
                op::copy(on, a, y)?;
                op::div_inplace(on, y, b)
            };
            adds_inplace WHOLE => WHOLE, |on, a, _, y| {
                op::copy(on, a, y)?;
                op::adds_inplace(on, y, 2_f32.into())
            };
            muls_inplace WHOLE => WHOLE, |on, a, _, y| {
                op::copy(on, a, y)?;
                op::muls_inplace(on, y, 2_f32.into())
            };
            fill WHOLE => WHOLE, |on, a, _, y| {
                op::copy(on, a, y)?;
                op::fill(on, y, 3_f32.into())
            };
            zero WHOLE => WHOLE, |on, a, _, y| {
                op::copy(on, a, y)?;
                op::zero(on, y)
            };
            masked_fill WHOLE => WHOLE, |on, a, b, y| {
                let mut mask = on.spare::<u8>(WHOLE);
                op::greater(on, a, b, &mut mask)?;
                op::copy(on, a, y)?;
                op::masked_fill(on, y, &mask, 7_f32.into())
            };
            index_fill WHOLE => WHOLE, |on, a, _, y| {
                op::copy(on, a, y)?;
                op::index_fill(on, y, 1, &[0, 2], 9_f32.into())
            };
            index_copy WHOLE => WHOLE, |on, a, b, y| {
                op::copy(on, a, y)?;
                op::index_copy(on, y, 0, &on.given(&[1_i64, 0], &[2]), b)
            };
            index_put WHOLE => WHOLE, |on, a, _, y| {
                op::copy(on, a, y)?;
                let (rows, columns) = (on.given(&[0_i64, 1], &[2]), on.given(&[3_i64, 0], &[2]));
                op::index_put(on, y, &[&rows, &columns], &on.given(&[70_f32, 80.0], &[2]), true)
            };
            scatter WHOLE => WHOLE, |on, a, b, y| {
                op::copy(on, a, y)?;
                op::scatter(on, y, 1, &on.given(&[0_i64, 3], &[2, 1]), b, Reduce::Add)
            };
        },
    );
}

#[test]
fn truths_and_indices() {
    let alone = Alone::new();
    check::<u8>(
        &alone,
        &both! {
            equal WHOLE => WHOLE, |on, a, b, y| op::equal(on, a, b, y);
            not_equal WHOLE => WHOLE, |on, a, b, y| op::not_equal(on, a, b, y);
            less WHOLE => WHOLE, |on, a, b, y| op::less(on, a, b, y);
            less_equal WHOLE => WHOLE, |on, a, b, y| op::less_equal(on, a, b, y);
            greater WHOLE => WHOLE, |on, a, b, y| op::greater(on, a, b, y);
            greater_equal WHOLE => WHOLE, |on, a, b, y| op::greater_equal(on, a, b, y);
            equal_to WHOLE => WHOLE, |on, a, _, y| op::equal_to(on, a, 0.25_f32.into(), y);
            not_equal_to WHOLE => WHOLE, |on, a, _, y| op::not_equal_to(on, a, 0.25_f32.into(), y);
            less_than WHOLE => WHOLE, |on, a, _, y| op::less_than(on, a, 0.25_f32.into(), y);
            at_most WHOLE => WHOLE, |on, a, _, y| op::at_most(on, a, 0.25_f32.into(), y);
            greater_than WHOLE => WHOLE, |on, a, _, y| op::greater_than(on, a, 0.25_f32.into(), y);
            at_least WHOLE => WHOLE, |on, a, _, y| op::at_least(on, a, 0.25_f32.into(), y);
            logical_and WHOLE => WHOLE, |on, a, b, y| op::logical_and(on, a, b, y);
            logical_or WHOLE => WHOLE, |on, a, b, y| op::logical_or(on, a, b, y);
            logical_xor WHOLE => WHOLE, |on, a, _, y| {
                op::logical_xor(on, a, &on.given(&[0_f32, 1.0, 0.0, 2.0], &[4]), y)
            };
            logical_not &[2] => &[2], |on, _, _, y| op::logical_not(on, &on.given(&[0_f32, 1.0], &[2]), y);
            any WHOLE => &[4], |on, a, _, y| op::any(on, a, &[0], false, y);
            all WHOLE => &[2, 1], |on, a, _, y| op::all(on, a, &[1], true, y);
        },
    );
    check::<i64>(
        &alone,
        &both! {
            argmax WHOLE => &[2], |on, a, _, y| op::argmax(on, a, 1, false, y);
            argmin WHOLE => &[2, 1], |on, a, _, y| op::argmin(on, a, 1, true, y);
            argsort WHOLE => WHOLE, |on, a, _, y| op::argsort(on, a, 1, true, y);
            sort WHOLE => WHOLE, |on, a, _, y| op::sort(on, a, 0, true, &mut on.spare::<f32>(WHOLE), y);
            topk WHOLE => &[2, 3], |on, a, _, y| op::topk(on, a, 3, 1, true, &mut on.spare::<f32>(&[2, 3]), y);
            max_dim WHOLE => &[2], |on, a, _, y| op::max_dim(on, a, 1, false, &mut on.spare::<f32>(&[2]), y);
            min_dim WHOLE => &[2], |on, a, _, y| op::min_dim(on, a, 1, false, &mut on.spare::<f32>(&[2]), y);
        },
    );
}

#[test]
fn what_moves_elements() {
    check::<f32>(
        &Alone::new(),
        &both! {
            copy WHOLE => WHOLE, |on, a, _, y| op::copy(on, a, y);
            permute WHOLE => &[4, 2], |on, a, _, y| op::permute(on, a, &[1, 0], y);
            embedding WHOLE => &[3, 4], |on, a, _, y| op::embedding(on, a, &on.given(&[1_i64, 0, 1], &[3]), y);
            slice WHOLE => &[2, 2], |on, a, _, y| op::slice(on, a, 1, 1, 4, 2, y);
            cat WHOLE => &[4, 4], |on, a, b, y| op::cat(on, &[a, b], 0, y);
            stack WHOLE => &[2, 2, 4], |on, a, b, y| op::stack(on, &[a, b], 1, y);
            split WHOLE => &[2, 3], |on, a, _, y| {
                let mut first = on.spare::<f32>(&[2, 1]);
                op::split(on, a, &[1, 3], 1, &mut [&mut first, y])
            };
            repeat WHOLE => &[4, 4], |on, a, _, y| op::repeat(on, a, &[2, 1], y);
            expand WHOLE => &[3, 2, 4], |on, a, _, y| op::expand(on, a, &[3, 2, 4], y);
            flip WHOLE => WHOLE, |on, a, _, y| op::flip(on, a, &[1], y);
            roll WHOLE => WHOLE, |on, a, _, y| op::roll(on, a, &[1], &[1], y);
            tril WHOLE => WHOLE, |on, a, _, y| op::tril(on, a, 1, y);
            triu WHOLE => WHOLE, |on, a, _, y| op::triu(on, a, 1, y);
            pad WHOLE => &[2, 7], |on, a, _, y| op::pad(on, a, &[1, 2], 9_f32.into(), y);
            repeat_interleave WHOLE => &[24], |on, a, _, y| op::repeat_interleave(on, a, 3, y);
            reflection_pad1d WHOLE => &[2, 7], |on, a, _, y| op::reflection_pad1d(on, a, [1, 2], y);
            reflection_pad2d &[1, 2, 4] => &[1, 3, 5], |on, a, _, y| op::reflection_pad2d(on, a, [1, 0, 0, 1], y);
            gather WHOLE => &[2, 1], |on, a, _, y| op::gather(on, a, 1, &on.given(&[1_i64, 3], &[2, 1]), y);
            index_select WHOLE => &[2, 4], |on, a, _, y| op::index_select(on, a, 0, &on.given(&[1_i64, 0], &[2]), y);
            select WHOLE => WHOLE, |on, a, b, y| {
                let mut mask = on.spare::<u8>(WHOLE);
                op::greater(on, a, b, &mut mask)?;
                op::select(on, &mask, a, b, y)
            };
            one_hot WHOLE => &[2, 3], |on, _, _, y| {
                let (classes, hot, cold) = (on.given(&[2_i64, 0], &[2]), on.given(&[5_f32], &[1]), on.given(&[1_f32], &[1]));
                op::one_hot(on, &classes, 3, &hot, &cold, y)
            };
        },
    );
}

#[test]
fn reductions_products_and_norms() {
    check::<f32>(
        &Alone::new(),
        &both! {
            reduce_sum WHOLE => &[2], |on, a, _, y| op::reduce_sum(on, a, &[1], false, y);
            mean WHOLE => &[1, 4], |on, a, _, y| op::mean(on, a, &[0], true, y);
            amax WHOLE => &[2], |on, a, _, y| op::amax(on, a, &[1], false, y);
            amin WHOLE => &[2, 1], |on, a, _, y| op::amin(on, a, &[1], true, y);
            prod WHOLE => &[4], |on, a, _, y| op::prod(on, a, 0, false, y);
            norm WHOLE => &[2], |on, a, _, y| op::norm(on, a, 2.0, &[1], false, y);
            cumsum WHOLE => WHOLE, |on, a, _, y| op::cumsum(on, a, 1, y);
            softmax WHOLE => WHOLE, |on, a, _, y| op::softmax(on, a, -1, y);
            log_softmax WHOLE => WHOLE, |on, a, _, y| op::log_softmax(on, a, -1, y);
            swiglu WHOLE => &[2, 2], |on, a, _, y| op::swiglu(on, a, 1, y);
            geglu WHOLE => &[2, 2], |on, a, _, y| {
                op::geglu(on, a, 1, GeluForm::Tanh, y, &mut on.spare::<f32>(&[2, 2]))
            };
            layer_norm WHOLE => WHOLE, |on, a, _, y| {
                let (weight, bias) = (on.given(&[1_f32, 2.0, 3.0, 4.0], &[4]), on.given(&[0.5_f32; 4], &[4]));
                op::layer_norm(on, a, &LayerNorm { weight: &weight, bias: &bias, eps: 1e-5 }, y)
            };
            rms_norm WHOLE => WHOLE, |on, a, _, y| {
                op::rms_norm(on, a, &on.given(&[1_f32, 2.0, 3.0, 4.0], &[4]), 1e-5, y, &mut on.spare::<f32>(&[2, 1]))
            };
            add_rms_norm WHOLE => WHOLE, |on, a, b, y| {
                let (weight, mut sum) = (on.given(&[1_f32, 2.0, 3.0, 4.0], &[4]), on.spare::<f32>(WHOLE));
                op::add_rms_norm(on, a, b, &weight, 1e-5, (y, &mut sum), &mut on.spare::<f32>(&[2, 1]))
            };
            group_norm &[1, 4, 2] => &[1, 4, 2], |on, a, _, y| {
                let (mut mean, mut scale) = (on.spare::<f32>(&[1, 2]), on.spare::<f32>(&[1, 2]));
                let results = GroupNorm { out: y, mean: &mut mean, scale: &mut scale };
                op::group_norm(on, a, 2, Some(&on.given(&[1_f32, 2.0, 3.0, 4.0], &[4])), None, 1e-5, results)
            };
            cross_entropy WHOLE => &[], |on, a, _, y| {
                let classes = on.given(&[1_i64, 3], &[2]);
                op::cross_entropy(on, a, &classes, -100, y, &mut on.spare::<f32>(WHOLE))
            };
            rotary_embedding &[1, 1, 2, 4] => &[1, 1, 2, 4], |on, a, b, y| {
                op::rotary_embedding(on, a, b, a, RotaryForm::Neighbours, y)
            };
            matmul &[2, 2] => &[2, 2], |on, a, b, y| op::matmul(on, a, b, y);
            matmul_with &[2, 2] => &[2, 2], |on, a, b, y| op::matmul_with(on, a, b, y, CubeMath::KeepType);
            mm &[2, 2] => &[2, 2], |on, a, b, y| op::mm(on, a, b, y);
            addmm &[2, 2] => &[2, 2], |on, a, b, y| op::addmm(on, b, a, b, y);
            batch_matmul &[2, 2, 2] => &[2, 2, 2], |on, a, b, y| op::batch_matmul(on, a, b, y);
            baddbmm &[2, 2, 2] => &[2, 2, 2], |on, a, b, y| op::baddbmm(on, a, a, b, 0.5, 2.0, y);
            mv WHOLE => &[2], |on, a, _, y| op::mv(on, a, &on.given(&[1_f32, 2.0, 3.0, 4.0], &[4]), y);
            dot &[8] => &[], |on, a, b, y| op::dot(on, a, b, y);
            triangular_solve &[2, 2] => &[2, 2], |on, a, b, y| {
                op::triangular_solve(on, a, b, true, false, false, (y, &mut on.spare::<f32>(&[2, 2])))
            };
            conv1d &[1, 2, 4] => &[1, 1, 3], |on, a, _, y| {
                let (kernel, bias) = (on.given(&[1_f32, -1.0, 2.0, 0.5], &[1, 2, 2]), on.given(&[3_f32], &[1]));
                op::conv1d(on, a, &kernel, Some(&bias), Window::default(), 1, y)
            };
            conv2d &[1, 1, 2, 4] => &[1, 1, 2, 4], |on, a, _, y| {
                let window = Window { padding: [1, 1], ..Window::default() };
                op::conv2d(on, a, &on.given(&[1_f32; 9], &[1, 1, 3, 3]), None, window, 1, y)
            };
            im2col &[1, 1, 2, 4] => &[1, 2, 4], |on, a, _, y| op::im2col(on, a, [2, 1], Window::default(), y);
            avg_pool2d &[1, 1, 2, 4] => &[1, 1, 1, 3], |on, a, _, y| {
                op::avg_pool2d(on, a, [2, 2], Window::default(), true, y)
            };
            max_pool2d &[1, 1, 2, 4] => &[1, 1, 1, 3], |on, a, _, y| {
                op::max_pool2d(on, a, [2, 2], Window::default(), y, &mut on.spare::<i32>(&[1, 1, 1, 3]))
            };
            upsample_nearest2d &[1, 1, 2, 4] => &[1, 1, 4, 8], |on, a, _, y| op::upsample_nearest2d(on, a, [4, 8], y);
            prompt_attention &[1, 2, 2, 2] => &[1, 2, 2, 2], |on, a, b, y| {
                op::prompt_attention(on, a, b, a, Mask::None, &Attention::new(0.5), y)
            };
            masked_attention &[1, 2, 2, 2] => &[1, 2, 2, 2], |on, a, b, y| {
                let mask = on.given(&[0_u8, 1, 0, 0], &[1, 1, 2, 2]);
                op::prompt_attention(on, a, b, a, Mask::Given(&mask), &Attention::new(0.5), y)
            };
            incremental_attention &[2, 1, 2, 2] => &[2, 1, 2, 2], |on, a, b, y| {
                op::incremental_attention(on, a, b, a, None, &Attention::new(0.5), y)
            };
        },
    );
}

/// A program of its own, written once: `relu(x · w) · ½ + x`, in the type of the operands.
fn layer<T: Floats>(
    on: &impl On<T>,
    x: &impl Of<T>,
    w: &impl Of<T>,
    [product, positive, half]: [&mut T::Out; 3],
    (number, out): (T::Number, &mut T::Out),
) -> Result<()> {
    op::matmul(on, x, w, product)?;
    op::relu(on, product, positive)?;
    op::muls(on, positive, number, half)?;
    op::add(on, half, x, out)
}

#[test]
fn one_function_of_the_user_is_for_both() {
    let alone = Alone::new();
    let stream = alone.stream();
    let [x, w] = [A, B].map(|numbers| alone.device.upload_tensor(&numbers[..4], [2, 2]).unwrap());
    let zeros = || alone.device.zeros::<f32>([2, 2]).unwrap();
    let mut out = zeros();
    layer(&stream, &x, &w, [&mut zeros(), &mut zeros(), &mut zeros()], (0.5, &mut out)).unwrap();
    let plan = Plan::build(|g| {
        let x = g.input("x", [2, 2], DataType::F32, Input::Copied)?;
        let w = g.input("w", [2, 2], DataType::F32, Input::Copied)?;
        let [mut p, mut q, mut r, mut y] = [(); 4].map(|()| Inferred::new());
        layer(g, &x, &w, [&mut p, &mut q, &mut r], (0.5_f32.into(), &mut y))?;
        g.output("y", y.value()?)
    });
    let given = Simulated::new().tensor("x", &A[..4], [2, 2]).tensor("w", &B[..4], [2, 2]);
    assert_eq!(plan.unwrap().simulate(1, &given).unwrap().to_vec::<f32>("y").unwrap(), out.to_vec().unwrap());
}

#[test]
fn a_probe_takes_them_too() {
    let alone = Alone::new();
    let (a, mut y) = (alone.device.zeros::<f32>([2]).unwrap(), alone.device.zeros::<f32>([2]).unwrap());
    let probe = op::Probe::new();
    op::exp(&probe, &a, &mut y).unwrap();
    let footprint = probe.into_footprint();
    let [read, written] = footprint.used() else { panic!("{footprint:?}") };
    assert!(read.access.reads() && written.access.writes());
    assert_eq!((read.address, written.address), (a.address().addr(), y.address().addr()));
}

#[test]
fn results_that_are_declared_are_made_and_cast_by_their_type() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [3], DataType::F32, Input::Copied)?;
        let mut halves = g.empty([3], DataType::F16)?;
        op::cast(g, &x, &mut halves)?;
        let mut numbers = g.empty([3], DataType::I32)?;
        op::arange(g, 1.into(), 7.into(), 2.into(), &mut numbers)?;
        let mut ones = g.empty([2, 2], DataType::I64)?;
        op::eye(g, 2, 2, &mut ones)?;
        let mut line = g.empty([3], DataType::F32)?;
        op::linspace(g, 1.into(), 2.into(), 3, &mut line)?;
        g.output("halves", halves)?;
        g.output("numbers", numbers)?;
        g.output("ones", ones)?;
        g.output("line", line)
    });
    let given = Simulated::new().tensor("x", &[1.5_f32, -2.0, 0.1], [3]);
    let result = plan.unwrap().simulate(1, &given).unwrap();
    let half = racl::half::f16::from_f32;
    assert_eq!(result.to_vec::<racl::half::f16>("halves").unwrap(), [half(1.5), half(-2.0), half(0.1)]);
    assert_eq!(result.to_vec::<i32>("numbers").unwrap(), [1, 3, 5]);
    assert_eq!(result.to_vec::<i64>("ones").unwrap(), [1, 0, 0, 1]);
    assert_eq!(result.to_vec::<f32>("line").unwrap(), [1.0, 1.5, 2.0]);
    drop(alone);
}

#[test]
fn sizes_that_operators_are_told_may_depend_on_symbols() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let (n, m) = (g.symbol("n", 1..=8)?, g.symbol("m", 1..=8)?);
        let a = g.input("a", [n, 4.into(), m], DataType::F32, Input::Copied)?;
        let weight = g.input("w", [m], DataType::F32, Input::Copied)?;
        let norm = LayerNorm { weight: &weight, bias: &weight, eps: 1e-5 };
        let (mut layers, mut twice) = (Inferred::new(), Inferred::new());
        op::layer_norm(g, &a, &norm, &mut layers)?;
        g.output("layers", layers.value()?)?;
        let (mut out, mut mean, mut scale) = (Inferred::new(), Inferred::new(), Inferred::new());
        let results = GroupNorm { out: &mut out, mean: &mut mean, scale: &mut scale };
        op::group_norm(g, &a, 2, None, None, 1e-5, results)?;
        g.output("groups", out.value()?)?;
        g.output("scale", scale.value()?)?;
        op::repeat_interleave(g, &a, 2, &mut twice)?;
        g.output("twice", twice.value()?)
    })
    .unwrap();
    let (device, stream) = (&alone.device, alone.stream());
    for (n, m) in [(1, 1), (2, 3), (3, 2)] {
        let numbers: Vec<f32> = (0..n * 4 * m).map(|i| (i * 5 % 7) as f32).collect();
        let a = device.upload_tensor(&numbers, [n, 4, m]).unwrap();
        let weight = device.upload_tensor(&B[..m], [m]).unwrap();
        let zeros = |shape: &[usize]| device.zeros::<f32>(shape).unwrap();
        let (mut layers, mut twice) = (zeros(&[n, 4, m]), zeros(&[2 * n * 4 * m]));
        op::layer_norm(&stream, &a, &LayerNorm { weight: &weight, bias: &weight, eps: 1e-5 }, &mut layers).unwrap();
        let (mut out, mut mean, mut scale) = (zeros(&[n, 4, m]), zeros(&[n, 2]), zeros(&[n, 2]));
        let results = GroupNorm { out: &mut out, mean: &mut mean, scale: &mut scale };
        op::group_norm(&stream, &a, 2, None, None, 1e-5, results).unwrap();
        op::repeat_interleave(&stream, &a, 2, &mut twice).unwrap();
        let given = Simulated::new().tensor("a", &numbers, [n, 4, m]).tensor("w", &B[..m], [m]);
        let left = plan.simulate(1, &given).unwrap();
        for (name, want) in [("layers", &layers), ("groups", &out), ("scale", &scale), ("twice", &twice)] {
            assert_eq!(left.to_vec::<f32>(name).unwrap(), want.to_vec().unwrap(), "{name} for {n} and {m}");
        }
    }
}

#[test]
fn what_a_plan_cannot_know_is_refused_with_the_line() {
    let refused = |record: fn(&Builder, Value) -> Result<()>, says: &[&str]| {
        let built = Plan::build(|g| {
            let x = g.input("x", [2, 3], DataType::F32, Input::Copied)?;
            record(g, x)
        });
        let says: Vec<&str> = says.iter().copied().chain(["tests/plans/typed.rs:"]).collect();
        assert_says(&built.unwrap_err(), ErrorKind::InvalidPlan, &says);
    };
    refused(|g, x| op::cast(g, &x, &mut Inferred::new()), &["to be inferred", "Builder::empty"]);
    refused(|g, _| op::arange(g, 0.into(), 4.into(), 1.into(), &mut Inferred::new()), &["to be inferred"]);
    refused(
        |g, x| {
            let mut whole = g.empty([2, 3], DataType::I32)?;
            op::copy(g, &x, &mut whole)?;
            op::adds(g, &whole, 0.5_f32.into(), &mut Inferred::new())
        },
        &["0.5", "I32"],
    );
    let mut other = None;
    Plan::build(|g| {
        other = Some(g.input("x", [1], DataType::F32, Input::Copied)?);
        Ok(())
    })
    .unwrap();
    let foreign = Plan::build(|g| op::adds(g, &other.unwrap(), 1.into(), &mut Inferred::new())).unwrap_err();
    assert_says(&foreign, ErrorKind::InvalidPlan, &["tests/plans/typed.rs:"]);
}

#[test]
fn a_value_where_an_index_tensor_is_taken_on_a_stream_is_refused() {
    let alone = Alone::new();
    let stream = alone.stream();
    let a = alone.device.zeros::<f32>([4]).unwrap();
    let mut value = None;
    Plan::build(|g| {
        value = Some(g.input("i", [2], DataType::I64, Input::Copied)?);
        Ok(())
    })
    .unwrap();
    let mut out = alone.device.zeros::<f32>([2]).unwrap();
    let error = op::index_select(&stream, &a, 0, &value.unwrap(), &mut out).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["a value of a plan where memory is needed"]);
    let numbers: fn(&Stream, &Tensor<f32>, &mut Tensor<f32>) -> Result<()> = doubled;
    numbers(&stream, &out.clone(), &mut out).unwrap();
}

fn doubled<T: Numerics>(on: &impl On<T>, x: &impl Of<T>, out: &mut impl Of<T>) -> Result<()> {
    op::add(on, x, x, out)
}
