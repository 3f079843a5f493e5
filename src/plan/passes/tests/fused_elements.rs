//! Chains of operators on elements that are one operator.

use crate::op::{DataType, GeluForm, aclnn};
use crate::plan::{Inferred, Simulated};

use super::*;

fn elements() -> Passes {
    OFF.fused_elements(PassMode::Verified)
}

type Three = [Value; 3];

fn given(g: &Builder, dtype: DataType) -> Result<Three> {
    let n = g.symbol("n", 1..=3)?;
    let wide = |name| g.input(name, [n, Dim::from(4)], dtype, Input::Copied);
    Ok([wide("a")?, wide("b")?, g.input("c", [4], dtype, Input::Static)?])
}

fn typed(dtype: DataType, chain: impl Fn(&Builder, Three) -> Result<Value>) -> impl FnOnce(&Builder) -> Result<()> {
    move |g| {
        let all = given(g, dtype)?;
        g.output("y", chain(g, all)?)
    }
}

fn work(chain: impl Fn(&Builder, Three) -> Result<Value>) -> impl FnOnce(&Builder) -> Result<()> {
    typed(F32, chain)
}

/// The chain is this operator alone, in every type; `of` operators before.
#[track_caller]
fn becomes(name: &str, of: usize, chain: impl Fn(&Builder, Three) -> Result<Value>) {
    becomes_told((name, ""), of, chain);
}

/// The same, which is told this.
#[track_caller]
fn becomes_told((name, told): (&str, &str), of: usize, chain: impl Fn(&Builder, Three) -> Result<Value>) {
    for dtype in [F32, F16, Bf16] {
        let better = optimised(elements(), typed(dtype, &chain));
        assert_eq!((better.before, better.plan.operators(), better.changes.len()), (of, 1, of - 1), "{better}");
        let text = better.plan.to_text();
        assert!(text.contains(&format!("= {name}.0(")) && text.contains(told), "{text}");
        assert!(better.changes.iter().all(|change| change.pass == "fused_elements"), "{better}");
    }
}

#[track_caller]
fn stays(chain: impl Fn(&Builder, Three) -> Result<Value>) {
    unchanged(elements(), work(chain));
}

/// The result of an operator by its C name.
fn made(call: impl FnOnce(&mut Inferred) -> Result<()>) -> Result<Value> {
    let mut result = Inferred::new();
    call(&mut result)?;
    result.value()
}

fn sigmoid(g: &Builder, x: Value) -> Result<Value> {
    made(|y| aclnn::sigmoid(g, &x, y))
}

/// `1 + exp(-x)`
fn one_and_power(g: &Builder, x: Value) -> Result<Value> {
    let negated = made(|y| aclnn::neg(g, &x, y))?;
    g.adds(made(|y| aclnn::exp(g, &negated, y))?, 1.0)
}

#[test]
fn sums_with_a_multiple_have_an_alpha() {
    becomes_told(("aclnnAdd", "{alpha=0.5}"), 2, |g, [a, b, _]| g.add(a, g.muls(b, 0.5)?));
    becomes_told(("aclnnAdd", "{alpha=0.5}"), 2, |g, [a, _, c]| g.add(g.muls(c, 0.5)?, a));
    becomes_told(("aclnnAdd", "{alpha=-0.5}"), 2, |g, [a, b, _]| g.sub(a, g.muls(b, 0.5)?));
    becomes_told(("aclnnAdd", "{alpha=-0.5}"), 2, |g, [a, b, _]| g.add_scaled(a, g.muls(b, -1.0)?, 0.5));
    // With two numbers it would be rounded once less.
    stays(|g, [a, b, _]| g.add_scaled(a, g.muls(b, 3.0)?, 0.5));
    // What is taken from is not told a number.
    stays(|g, [a, b, _]| g.sub(g.muls(a, 0.5)?, b));
    stays(|g, [a, b, _]| g.add_scaled(g.muls(a, 0.5)?, b, 2.0));
}

#[test]
fn sums_with_a_product_or_a_quotient_are_one_operator() {
    becomes("aclnnAddcmul", 2, |g, [a, b, c]| g.add(a, g.mul(b, c)?));
    becomes("aclnnAddcmul", 3, |g, [a, b, c]| g.add(g.muls(g.mul(b, c)?, -1.0)?, a));
    becomes("aclnnAddcmul", 3, |g, [a, b, c]| g.sub(a, g.mul(b, g.muls(c, 0.25)?)?));
    becomes("aclnnAddcmul", 3, |g, [a, b, c]| g.sub(a, g.mul(g.muls(b, 0.25)?, c)?));
    becomes("aclnnAddcdiv", 2, |g, [a, b, c]| g.add(a, g.div(b, c)?));
    becomes("aclnnAddcdiv", 3, |g, [a, b, c]| g.sub(a, g.div(g.muls(b, 3.0)?, c)?));
    // A number below is none in front.
    let better = optimised(elements(), work(|g, [a, b, c]| g.add(a, g.div(b, g.muls(c, 3.0)?)?)));
    assert_eq!((better.before, better.plan.operators()), (3, 2), "{better}");
    stays(|g, [a, b, c]| g.sub(g.mul(a, b)?, c));
    // Nor are numbers of whole products and quotients, nor of both factors.
    for whole in [0.25, 3.0] {
        let of = |product: bool| {
            move |g: &Builder, [a, b, c]: Three| {
                g.add(a, g.muls(if product { g.mul(b, c)? } else { g.div(b, c)? }, whole)?)
            }
        };
        for product in [true, false] {
            let text = optimised(elements(), work(of(product))).plan.to_text();
            assert!(!text.contains("aclnnAddc"), "{text}");
        }
    }
    let better = optimised(elements(), work(|g, [a, b, c]| g.add(a, g.mul(g.muls(b, 0.5)?, g.muls(c, 0.5)?)?)));
    assert_eq!((better.before, better.plan.operators()), (4, 2), "{better}");
}

/// In which order they are multiplied is seen where the numbers are large.
#[test]
fn large_and_tiny_factors_give_the_same_numbers() {
    let (large, tiny) = (2.0_f32.powi(70), 2.0_f32.powi(-90));
    let plan = |chain: fn(&Builder, Three) -> Result<Value>| {
        let work = |g: &Builder| {
            let wide = |name| g.input(name, [1], F32, Input::Copied);
            g.output("y", chain(g, [wide("a")?, wide("b")?, wide("c")?])?)
        };
        Plan::build(work).unwrap().optimise(&OFF.fused_elements(PassMode::On)).unwrap().plan
    };
    let of = |plan: &Plan, [b, c]: [f32; 2]| {
        let given = Simulated::new().tensor("a", &[0.0_f32], [1]).tensor("b", &[b], [1]).tensor("c", &[c], [1]);
        plan.simulate(1, &given).unwrap().to_vec::<f32>("y").unwrap()[0]
    };
    let quotient = plan(|g, [a, b, c]| g.add(a, g.muls(g.div(b, c)?, 2.0_f32.powi(70))?));
    assert_eq!(of(&quotient, [large, large]), large);
    let product = plan(|g, [a, b, c]| g.add(a, g.mul(b, g.muls(c, 2.0_f32.powi(70))?)?));
    assert_eq!(of(&product, [large, 2.0_f32.powi(-100)]), 2.0_f32.powi(40));
    let small = plan(|g, [a, b, c]| g.add(a, g.muls(g.div(b, c)?, 2.0_f32.powi(-90))?));
    assert_eq!(of(&small, [tiny, tiny]), tiny);
}

/// Signs of zeros are seen by their inverses.
#[test]
fn signs_of_zeros_stay() {
    stays(|g, [a, b, _]| g.clamp_min(g.add(a, b)?, 0.0));
    let limited = |first: bool| {
        move |g: &Builder, [a, ..]: Three| {
            let none = g.constant(&[0.0_f32], [1])?;
            let least = if first { g.maximum(none, a)? } else { g.maximum(a, none)? };
            made(|y| aclnn::clamp_max(g, &least, 1.0_f32, y))
        }
    };
    unchanged(elements(), work(limited(true)));
    assert_eq!(optimised(elements(), work(limited(false))).plan.operators(), 1);
}

/// min(5, -0) is -0, and max(-0, 0) the second of them; the operator takes the least number first, and ends at -0.
#[test]
fn limits_that_are_zeros_of_both_signs_stay() {
    let limits = |least: f32, most: f32| {
        move |g: &Builder| {
            let x = g.input("x", [1], F32, Input::Copied)?;
            g.output("y", g.clamp_min(made(|y| aclnn::clamp_max(g, &x, most, y))?, f64::from(least))?)
        }
    };
    for (least, most) in [(0.0_f32, -0.0_f32), (-0.0, 0.0)] {
        let plan =
            Plan::build(limits(least, most)).unwrap().optimise(&OFF.fused_elements(PassMode::On)).unwrap().plan;
        let y = plan.simulate(1, &Simulated::new().tensor("x", &[5.0_f32], [1])).unwrap().to_vec::<f32>("y").unwrap();
        assert_eq!(y[0].to_bits(), least.to_bits(), "{least} to {most}");
        unchanged(elements(), limits(least, most));
    }
    assert_eq!(optimised(elements(), limits(0.0, 0.0)).plan.operators(), 1);
}

#[test]
fn what_lies_between_two_tensors_is_one_operator() {
    becomes("aclnnLerp", 3, |g, [a, b, c]| g.add(a, g.mul(c, g.sub(b, a)?)?));
    becomes("aclnnLerps", 3, |g, [a, b, _]| g.add(g.muls(g.sub(b, a)?, 0.3)?, a));
    becomes("aclnnLerps", 2, |g, [a, b, _]| g.add_scaled(a, g.sub(b, a)?, 0.3));
    // The other way round it is a sum with a product.
    let better = optimised(elements(), work(|g, [a, b, c]| g.add(a, g.mul(c, g.sub(a, b)?)?)));
    assert!(better.plan.to_text().contains("aclnnAddcmul"), "{better}");
    // A difference of what is infinite or huge would be NaN or infinite where the sum is a number.
    for shares in [[0.75, 0.25], [0.75, 0.5], [1.5, -0.5]] {
        let sum = |g: &Builder, [a, b, _]: Three| g.add(g.muls(a, shares[0])?, g.muls(b, shares[1])?);
        let better = optimised(elements(), work(sum));
        assert!(better.plan.to_text().contains("aclnnAdd "), "{better}");
    }
}

#[test]
fn multiples_to_which_a_number_is_added_are_one_operator() {
    becomes("aclnnRsubs", 2, |g, [a, ..]| g.adds(g.muls(a, 0.3)?, 1.5));
    becomes("aclnnRsubs", 2, |g, [a, ..]| g.adds(made(|y| aclnn::neg(g, &a, y))?, 1.0));
    stays(|g, [a, ..]| g.muls(g.adds(a, 1.5)?, 0.3));
}

#[test]
fn limits_are_one_operator() {
    becomes("aclnnClamp", 2, |g, [a, ..]| made(|y| aclnn::clamp_max(g, &g.clamp_min(a, -1.0)?, 2.0_f32, y)));
    becomes("aclnnClamp", 2, |g, [a, ..]| g.clamp_min(made(|y| aclnn::clamp_max(g, &a, 2.0_f32, y))?, -1.0));
    let better = optimised(
        elements(),
        work(|g, [a, ..]| {
            let (least, most) = (g.constant(&[-1.0_f32], [1])?, g.constant(&[2.0_f32], [1, 1])?);
            g.maximum(least, made(|y| aclnn::minimum(g, &a, &most, y))?)
        }),
    );
    assert_eq!((better.before, better.plan.operators()), (2, 1), "{better}");
    // They cross; one is not known; both are of one kind.
    stays(|g, [a, ..]| made(|y| aclnn::clamp_max(g, &g.clamp_min(a, 2.0)?, 1.0_f32, y)));
    stays(|g, [a, b, _]| made(|y| aclnn::minimum(g, &g.clamp_min(a, -1.0)?, &b, y)));
    stays(|g, [a, ..]| g.clamp_min(g.clamp_min(a, -1.0)?, 1.0));
}

#[test]
fn sums_that_are_not_negative_are_one_operator() {
    becomes("aclnnAddRelu", 2, |g, [a, b, _]| made(|y| aclnn::relu(g, &g.add(a, b)?, y)));
    becomes("aclnnAddRelu", 3, |g, [a, b, _]| made(|y| aclnn::relu(g, &g.sub(a, g.muls(b, 0.3)?)?, y)));
    stays(|g, [a, b, _]| g.clamp_min(g.add(a, b)?, 0.5));
}

#[test]
fn activations_that_are_written_out_are_one_operator() {
    becomes("aclnnSilu", 2, |g, [a, ..]| g.mul(sigmoid(g, a)?, a));
    becomes("aclnnSilu", 4, |g, [a, ..]| g.div(a, one_and_power(g, a)?));
    becomes("aclnnSigmoid", 4, |g, [a, ..]| made(|y| aclnn::reciprocal(g, &one_and_power(g, a)?, y)));
    becomes("aclnnSilu", 5, |g, [a, ..]| g.mul(a, made(|y| aclnn::reciprocal(g, &one_and_power(g, a)?, y))?));
    becomes("aclnnSwish", 3, |g, [a, ..]| g.mul(a, sigmoid(g, g.muls(a, 1.702)?)?));
    stays(|g, [a, b, _]| g.mul(a, sigmoid(g, b)?));
    stays(|g, [a, b, _]| g.div(a, one_and_power(g, b)?));
}

fn cubic(g: &Builder, x: Value, third: f64) -> Result<Value> {
    g.muls(g.add(x, g.muls(g.mul(g.mul(x, x)?, x)?, third)?)?, 0.797_884_560_802_865_4)
}

fn bent(g: &Builder, x: Value, form: GeluForm) -> Result<Value> {
    let bend = match form {
        GeluForm::Tanh => g.tanh(cubic(g, x, 0.044_715)?)?,
        GeluForm::Exact => {
            let x = g.muls(x, std::f64::consts::FRAC_1_SQRT_2)?;
            made(|y| aclnn::erf(g, &x, y))?
        }
    };
    g.adds(bend, 1.0)
}

#[test]
fn both_forms_of_gelu_are_one_operator() {
    becomes("aclnnGeluV2", 9, |g, [a, ..]| g.mul(g.muls(a, 0.5)?, bent(g, a, GeluForm::Tanh)?));
    becomes("aclnnGeluV2", 9, |g, [a, ..]| g.muls(g.mul(bent(g, a, GeluForm::Tanh)?, a)?, 0.5));
    becomes("aclnnGeluV2", 5, |g, [a, ..]| g.mul(a, g.muls(bent(g, a, GeluForm::Exact)?, 0.5)?));
    becomes("aclnnGeluV2", 9, |g, [a, ..]| {
        // x · (1 + 0.044715 x²) · √(2/π)
        let inner = g.mul(a, g.adds(g.muls(g.pows(a, 2.0)?, 0.044_715)?, 1.0)?)?;
        let bend = g.tanh(g.muls(inner, 0.797_884_56)?)?;
        g.mul(g.muls(a, 0.5)?, g.adds(bend, 1.0)?)
    });
    let text =
        |form| optimised(elements(), work(|g, [a, ..]| g.mul(g.muls(a, 0.5)?, bent(g, a, form)?))).plan.to_text();
    assert_ne!(text(GeluForm::Tanh).lines().last(), text(GeluForm::Exact).lines().last());
    // Another number is another function; the halves are of another tensor.
    let none = |chain: &dyn Fn(&Builder, Three) -> Result<Value>| {
        let text = optimised(elements(), work(chain)).plan.to_text();
        assert!(!text.contains("aclnnGeluV2"), "{text}");
    };
    none(&|g, [a, ..]| g.mul(g.muls(a, 0.5)?, g.adds(g.tanh(cubic(g, a, 0.05)?)?, 1.0)?));
    none(&|g, [a, b, _]| g.mul(g.muls(b, 0.5)?, bent(g, a, GeluForm::Tanh)?));
}

#[test]
fn chains_that_others_read_or_write_between_stay() {
    stays(|g, [a, b, c]| {
        let product = g.mul(b, c)?;
        g.div(g.add(a, product)?, product)
    });
    stays(|g, [a, b, c]| {
        let product = g.mul(b, c)?;
        aclnn::tanh(g, &c, &mut { c })?;
        g.add(a, product)
    });
    stays(|g, [a, b, c]| {
        let product = g.mul(b, c)?;
        aclnn::tanh(g, &product, &mut { product })?;
        g.add(a, product)
    });
    stays(|g, [a, b, c]| {
        let (sum, product) = (g.abs(a)?, g.mul(b, c)?);
        aclnn::add(g, &sum, &product, 1, &mut { sum })?;
        Ok(sum)
    });
    stays(|g, [a, b, c]| {
        let product = g.mul(b, c)?;
        g.record_external(g.external("read")?)?;
        g.add(a, product)
    });
    // Both parts are the product.
    stays(|g, [_, b, c]| {
        let product = g.mul(b, c)?;
        g.add(product, product)
    });
    stays(|g, [a, b, c]| {
        let product = g.scope("side", |g| g.mul(b, c))?;
        g.join("side")?;
        g.add(a, product)
    });
}

#[test]
fn results_that_are_outputs_and_other_types_stay() {
    unchanged(elements(), |g| {
        let [a, b, c] = given(g, F32)?;
        let product = g.mul(b, c)?;
        g.output("product", product)?;
        g.output("y", g.add(a, product)?)
    });
    unchanged(elements(), typed(DataType::I32, |g, [a, b, c]| g.add(a, g.mul(b, c)?)));
    stays(|g, [a, b, c]| g.add(g.cast(a, F16)?, g.cast(g.mul(b, c)?, F16)?));
}

#[test]
fn what_other_passes_look_for_is_left_to_them() {
    let chain = |g: &Builder| {
        let (x, w) = (g.input("x", [2, 4], F32, Input::Copied)?, g.input("w", [4], F32, Input::Frozen)?);
        let eps = g.adds(g.mean(g.mul(x, x)?, &[-1], true)?, 1e-5)?;
        let bias = g.input("bias", [3], F32, Input::Frozen)?;
        let m = g.input("m", [4, 3], F32, Input::Frozen)?;
        g.output("y", g.add(g.mm(g.mul(g.mul(x, g.rsqrt(eps)?)?, w)?, m)?, bias)?)
    };
    let better = optimised(Passes::all(PassMode::Verified), chain);
    let passes: Vec<_> = better.changes.iter().map(|change| change.pass).collect();
    assert!(!passes.contains(&"fused_elements") && better.plan.operators() == 2, "{better}");
}

#[test]
fn factors_that_the_type_does_not_have_stay_apart() {
    let scaled = |factor: f32| {
        move |g: &Builder, [a, b, _]: Three| {
            let mut scaled = Inferred::new();
            aclnn::muls(g, &b, factor, &mut scaled)?;
            g.add(a, scaled.value()?)
        }
    };
    let product = |g: &Builder, [a, b, c]: Three| {
        let mut scaled = Inferred::new();
        aclnn::muls(g, &b, 0.1_f32, &mut scaled)?;
        g.add(a, g.mul(scaled.value()?, c)?)
    };
    for factor in [1e5_f32, 1e-8] {
        unchanged(elements(), typed(DataType::F16, scaled(factor)));
        assert_eq!(optimised(elements(), typed(F32, scaled(factor))).plan.operators(), 1);
    }
    unchanged(elements(), typed(DataType::Bf16, scaled(0.1)));
    assert_eq!(optimised(elements(), typed(DataType::Bf16, scaled(0.375))).plan.operators(), 1);
    // What is told is the f32, not a number of the type.
    let better = optimised(elements(), typed(DataType::F16, scaled(0.1)));
    assert!(better.plan.to_text().contains("{alpha=0.1}"), "{}", better.plan.to_text());
    assert_eq!(optimised(elements(), typed(F32, product)).plan.operators(), 1);
    assert!(optimised(elements(), typed(DataType::F16, product)).plan.operators() > 1);
}
