//! Weights in FRACTAL_NZ: brought there once, or given so.

use half::f16;
use racl::op::DataType::{Bf16, F16, F32, I8};
use racl::op::aclnn;
use racl::plan::{
    Builder, Executable, Frozen, Inferred, Input, Mode, PassMode, Passes, Plan, RunOptions, Scope, Simulated, Value,
};
use racl::{ErrorKind, Result};

use crate::common::{assert_says, mock};
use crate::{Alone, calls_of, give};

const K: usize = 32;
const N: usize = 48;

fn pass() -> Passes {
    Passes::new().blocked_weights(PassMode::Verified)
}

/// Small whole numbers, whose sums of products are exact in f16.
fn numbers(count: usize, seed: usize) -> Vec<f16> {
    (0..count).map(|i| f16::from_f32(((i * 7 + seed) % 5) as f32 - 2.0)).collect()
}

/// The product of `x`, `[rows, K]`, and `w`, `[K, N]`.
fn product(x: &[f16], w: &[f16]) -> Vec<f16> {
    let at = |row: usize, column: usize| (0..K).map(|i| x[row * K + i].to_f32() * w[i * N + column].to_f32()).sum();
    let rows = x.len() / K;
    (0..rows).flat_map(|row| (0..N).map(move |column| (row, column))).map(|(r, c)| f16::from_f32(at(r, c))).collect()
}

fn plan(work: impl FnOnce(&Builder, Value, Value) -> Result<Value>) -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [3, K], F16, Input::Copied)?;
        let w = g.input("w", [K, N], F16, Input::Frozen)?;
        g.output("y", work(g, x, w)?)
    })
    .unwrap()
}

fn run(alone: &Alone, exe: &mut Executable, x: &[f16]) -> Vec<f16> {
    let x = alone.device.upload_tensor(x, [3, K]).unwrap();
    exe.run(&alone.stream(), &mut give(exe, "x", &x)).unwrap();
    exe.output::<f16>(exe.output_id("y").unwrap()).unwrap().to_vec().unwrap()
}

#[test]
fn products_read_a_weight_that_was_brought_into_blocks_once() {
    let alone = Alone::new();
    let before = plan(|g, x, w| g.matmul(x, w));
    let better = before.optimise(&pass()).unwrap();
    assert_eq!((better.before, better.plan.operators(), better.changes.len()), (1, 1, 1), "{better}");
    assert!(better.to_string().contains("blocked_weights: aclnnMatmul (#0, "), "{better}");
    let text = better.plan.to_text();
    assert!(text.contains("once, origin: %aclnnPermute.0 f16[3, 2, 16, 16] = "), "{text}");
    let (x, w) = (numbers(3 * K, 1), numbers(K * N, 3));
    let expected = product(&x, &w);
    let weight = alone.device.upload_tensor(&w, [K, N]).unwrap();
    for mode in [Mode::Captured, Mode::Eager] {
        let options = RunOptions::new().mode(mode);
        let frozen = Frozen::new().with("w", &weight);
        let plan = &better.plan;
        let products = mock::calls("aclnnMatmulWeightNz");
        let (laid, mut exe) = calls_of("aclnnPermute", || plan.executable(&alone.device, &options, frozen).unwrap());
        assert_eq!(laid, 1, "{mode:?}");
        for _ in 0..2 {
            assert_eq!(run(&alone, &mut exe, &x), expected, "{mode:?}");
        }
        assert!(mock::calls("aclnnMatmulWeightNz") > products, "{mode:?}");
    }
    let given = Simulated::new().tensor("x", &x, [3, K]).tensor("w", &w, [K, N]);
    for plan in [&before, &better.plan] {
        assert_eq!(plan.simulate(3, &given).unwrap().to_vec::<f16>("y").unwrap(), expected);
    }
}

#[test]
fn one_weight_is_laid_once_for_all_its_products_and_turned_where_it_stands() {
    let alone = Alone::new();
    let build = |g: &Builder| {
        let x = g.input("x", [3, K], F16, Input::Copied)?;
        let w = g.input("w", [N, K], F16, Input::Frozen)?; // a row for each result
        let turned = g.transpose(w, 0, 1)?;
        let first = g.matmul(x, turned)?;
        g.output("y", g.add(first, g.mm(g.adds(x, 1.0)?, turned)?)?)
    };
    let better = Plan::build(build).unwrap().optimise(&pass()).unwrap();
    assert_eq!((better.changes.len(), better.plan.to_text().matches("once, origin").count()), (2, 1), "{better}");
    let (x, w) = (numbers(3 * K, 2), numbers(K * N, 4));
    let columns: Vec<f16> = (0..N * K).map(|at| w[at % K * N + at / K]).collect();
    let mut exe = better
        .plan
        .capture(&alone.device, Frozen::new().with("w", &alone.device.upload_tensor(&columns, [N, K]).unwrap()))
        .unwrap();
    let more: Vec<f16> = x.iter().map(|one| *one + f16::ONE).collect();
    let sums = product(&x, &w).into_iter().zip(product(&more, &w)).map(|(a, b)| a + b);
    assert_eq!(run(&alone, &mut exe, &x), sums.collect::<Vec<_>>());
}

#[test]
#[cfg(feature = "cache")]
fn a_plan_with_blocks_is_stored_and_loaded() {
    let alone = Alone::new();
    let folder = tempfile::tempdir().unwrap();
    let (x, w) = (numbers(3 * K, 1), numbers(K * N, 3));
    let weight = alone.device.upload_tensor(&w, [K, N]).unwrap();
    for turn in 0..2 {
        let cache = racl::cache::CompileCache::builder("Blocked").cache_dir(folder.path()).build().unwrap();
        let plan = cache.func("product").ignore_captures().compile(&alone.device, |g| {
            let x = g.input("x", [3, K], F16, Input::Copied)?;
            let blocks = g.input("w", [N / 16, K / 16, 16, 16], F16, Input::Frozen)?;
            let mut y = Inferred::new();
            aclnn::matmul_weight_nz(g, &x, &blocks, &mut y, 0)?;
            assert_eq!(g.dims(y.value()?)?, [3.into(), N.into()]);
            g.output("y", y.value()?)
        });
        let plan = plan.unwrap();
        if turn == 1 {
            assert_eq!(cache.status("product").unwrap(), racl::cache::Status::Hit);
        }
        let blocks = alone.device.upload_tensor(&in_blocks(&w), [N / 16, K / 16, 16, 16]).unwrap();
        let mut exe = plan.capture(&alone.device, Frozen::new().with("w", &blocks)).unwrap();
        assert_eq!(run(&alone, &mut exe, &x), product(&x, &w), "{turn}");
    }
    // The same as what the matrix gives.
    let mut exe = plan(|g, x, w| g.matmul(x, w)).capture(&alone.device, Frozen::new().with("w", &weight)).unwrap();
    assert_eq!(run(&alone, &mut exe, &x), product(&x, &w));
}

#[test]
fn blocks_of_batches_and_of_what_is_added_to_are_taken() {
    let _alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [2, 3, 32], Bf16, Input::Copied)?;
        let w = g.input("w", [2, 1, 2, 16, 16], Bf16, Input::Copied)?;
        let mut y = Inferred::new();
        aclnn::batch_mat_mul_weight_nz(g, &x, &w, &mut y, 0)?;
        assert_eq!(g.dims(y.value()?)?, [2.into(), 3.into(), 16.into()]);
        let (row, blocks) = (g.narrow(y.value()?, 0, 0..1)?, g.input("b", [2, 1, 16, 16], Bf16, Input::Copied)?);
        let row = g.reshape(g.permute(row, &[0, 1, 2])?, [3, 16])?;
        let mut z = Inferred::new();
        let bias = g.full([32], Bf16, 1.0)?;
        aclnn::addmm_weight_nz(g, &bias, &row, &blocks, 1.0_f32, 1.0_f32, &mut z, 0)?;
        assert_eq!(g.dims(z.value()?)?, [3.into(), 32.into()]);
        g.output("z", z.value()?)
    });
    // Sums of whole numbers below 256, which are exact: x picks the row i + 1 of the weight, whose blocks are laid as
    // [k / 16][n / 16][k][n]... of the transposed one, so that each place of `b` counts once.
    let exact = |values: Vec<f32>| values.into_iter().map(half::bf16::from_f32).collect::<Vec<_>>();
    let x: Vec<f32> = (0..192).map(|at| f32::from(u8::from(at % 32 == at / 32 + 1))).collect();
    let w: Vec<f32> = (0..1024).map(|at| (at % 7) as f32).collect();
    let b: Vec<f32> = (0..512).map(|at| (at % 3) as f32).collect();
    let given = Simulated::new()
        .tensor("x", &exact(x), [2, 3, 32])
        .tensor("w", &exact(w.clone()), [2, 1, 2, 16, 16])
        .tensor("b", &exact(b.clone()), [2, 1, 16, 16]);
    let z = plan.unwrap().simulate(1, &given).unwrap().to_vec::<half::bf16>("z").unwrap();
    let block = |data: &[f32], rows: usize, k: usize, n: usize| {
        data[((n / 16 * (rows / 16) + k / 16) * 16 + k % 16) * 16 + n % 16]
    };
    for (at, z) in z.iter().enumerate() {
        let (row, column) = (at / 32, at % 32);
        let expected: f32 = (0..16).map(|k| block(&w, 32, row + 1, k) * block(&b, 16, k, column)).sum();
        assert_eq!(z.to_f32(), expected + 1.0, "{row}, {column}");
    }
}

/// What the plan gives before and after the pass, and that no product without blocks is left.
#[track_caller]
fn same(plan: &Plan, passes: &Passes, given: &Simulated, names: [&str; 2]) {
    let better = plan.optimise(passes).unwrap();
    let text = better.plan.to_text();
    assert!(text.contains(names[1]) && !text.contains(&format!("{}.", names[0])), "{text}");
    let [before, after] = [plan, &better.plan].map(|plan| plan.simulate(1, given).unwrap());
    let (before, after) = (before.bytes("y").unwrap(), after.bytes("y").unwrap());
    assert!(before == after && before.iter().any(|byte| *byte != 0), "{names:?}");
}

#[test]
fn weights_of_rows_of_batches_and_of_sums_are_brought_into_blocks() {
    let _alone = Alone::new();
    let (x, w) = (numbers(6 * K, 1), numbers(2 * K * N, 3));
    let rows = Plan::build(|g| {
        let x = g.input("x", [2, 3, K], F16, Input::Copied)?;
        g.output("y", g.matmul(x, g.input("w", [K, N], F16, Input::Frozen)?)?)
    });
    let given = Simulated::new().tensor("x", &x, [2, 3, K]).tensor("w", &w[..K * N], [K, N]);
    same(&rows.unwrap(), &pass(), &given, ["aclnnMatmul", "aclnnMatmulWeightNz"]);
    // Rows that no view has in one dimension.
    let apart = Plan::build(|g| {
        let x = g.input("x", [2, 6, K], F16, Input::Copied)?;
        let w = g.input("w", [K, N], F16, Input::Frozen)?;
        g.output("y", g.matmul(g.narrow(x, 1, 1..4)?, w)?)
    });
    assert!(apart.unwrap().optimise(&pass()).unwrap().changes.is_empty());
    for turned in [false, true] {
        let batches = Plan::build(|g| {
            let x = g.input("x", [2, 3, K], F16, Input::Copied)?;
            let w = g.input("w", if turned { [2, N, K] } else { [2, K, N] }, F16, Input::Frozen)?;
            let (w, mut y) = (if turned { g.transpose(w, 1, 2)? } else { w }, Inferred::new());
            aclnn::batch_mat_mul(g, &x, &w, &mut y, 0)?;
            g.output("y", y.value()?)
        });
        let shape = if turned { [2, N, K] } else { [2, K, N] };
        let given = Simulated::new().tensor("x", &x, [2, 3, K]).tensor("w", &w, shape);
        same(&batches.unwrap(), &pass(), &given, ["aclnnBatchMatMul", "aclnnBatchMatMulWeightNz"]);
    }
    let added = Plan::build(|g| {
        let x = g.input("x", [6, K], F16, Input::Copied)?;
        let w = g.input("w", [K, N], F16, Input::Frozen)?;
        let bias = g.full([N], F16, 2.0)?;
        g.output("y", g.add(g.matmul(x, w)?, bias)?)
    });
    let given = Simulated::new().tensor("x", &x, [6, K]).tensor("w", &w[..K * N], [K, N]);
    let both = pass().fused_products(PassMode::Verified);
    same(&added.unwrap(), &both, &given, ["aclnnMatmul", "aclnnAddmmWeightNz"]);
}

#[test]
fn weights_of_8_bits_are_brought_into_blocks_of_32_columns() {
    let alone = Alone::new();
    let (x, w): (Vec<i8>, Vec<i8>) = (
        (0..3 * 32).map(|i| (i * 7 % 11) as i8 - 5).collect(),
        (0..32 * 64).map(|i| (i * 5 % 13) as i8 - 6).collect(),
    );
    let scale: Vec<f32> = (0..64).map(|i| if i % 2 == 0 { 0.5 } else { 0.25 }).collect();
    for (turned, later) in [(false, false), (true, false), (false, true), (true, true)] {
        let shape = if turned { [64, 32] } else { [32, 64] };
        let plan = Plan::build(|g| {
            let x = g.input("x", [3, 32], I8, Input::Copied)?;
            let w = g.input("w", shape, I8, Input::Frozen)?;
            let scale = g.input("scale", [64], F32, Input::Frozen)?;
            let rows = g.input("rows", [3], F32, Input::Frozen)?;
            let mut y = g.empty([3, 64], F16)?;
            if later {
                aclnn::quant_matmul_v5(
                    g,
                    &x,
                    &w,
                    Some(&rows),
                    &scale,
                    None,
                    None,
                    None,
                    None,
                    None,
                    false,
                    turned,
                    0,
                    &mut y,
                )?;
            } else {
                aclnn::quant_matmul_v4(g, &x, &w, &scale, None, Some(&rows), None, false, turned, &mut y)?;
            }
            g.output("y", y)
        });
        let plan = plan.unwrap();
        let rows = [1.0_f32, 2.0, 0.5];
        let given = Simulated::new().tensor("x", &x, [3, 32]).tensor("w", &w, shape);
        let given = given.tensor("scale", &scale, [64]).tensor("rows", &rows, [3]);
        let name = if later { "aclnnQuantMatmulV5" } else { "aclnnQuantMatmulV4" };
        same(&plan, &pass(), &given, [name, "aclnnQuantMatmulWeightNz"]);
        let better = plan.optimise(&pass()).unwrap().plan;
        let [weight, scales] =
            [better.to_text().contains("i8[2, 2, 16, 32]"), better.to_text().contains("once, origin")];
        assert!(weight && scales, "{}", better.to_text());
        let device = &alone.device;
        let (weight, numbers) =
            (device.upload_tensor(&w, shape).unwrap(), device.upload_tensor(&scale, [64]).unwrap());
        let (rows_of, data) = (device.upload_tensor(&rows, [3]).unwrap(), device.upload_tensor(&x, [3, 32]).unwrap());
        let frozen = Frozen::new().with("w", &weight).with("scale", &numbers).with("rows", &rows_of);
        let mut exe = better.capture(device, frozen).unwrap();
        exe.run(&alone.stream(), &mut give(&exe, "x", &data)).unwrap();
        let y = exe.output::<f16>(exe.output_id("y").unwrap()).unwrap().to_vec().unwrap();
        let at = |k: usize, n: usize| i32::from(if turned { w[n * 32 + k] } else { w[k * 64 + n] });
        for (i, y) in y.iter().enumerate() {
            let (row, n) = (i / 64, i % 64);
            let sum: i32 = (0..32).map(|k| i32::from(x[row * 32 + k]) * at(k, n)).sum();
            assert_eq!(*y, f16::from_f32(sum as f32 * scale[n] * rows[row]), "{i} {turned} {later}");
        }
    }
}

#[test]
fn cards_without_such_products_keep_their_weights() {
    let _alone = Alone::new();
    for (soc, wants) in [
        ("Ascend910B3", true),
        ("Ascend910_9382", true),
        ("Ascend910B", false),
        ("Ascend310P3", false),
        ("Ascend910A", false),
        ("Ascend950PR_9599", false),
        ("", false),
    ] {
        let better = plan(|g, x, w| g.matmul(x, w)).optimise(&pass().on_soc(soc)).unwrap();
        assert_eq!(better.changes.len(), usize::from(wants), "{soc}");
    }
    // The last word counts.
    let forced = pass().on_soc("Ascend310P3").on_soc("Ascend910B1");
    assert_eq!(plan(|g, x, w| g.matmul(x, w)).optimise(&forced).unwrap().changes.len(), 1);
}

#[test]
fn weights_that_others_read_or_runs_bring_stay() {
    let _alone = Alone::new();
    let stays = |plan: Plan| {
        let better = plan.optimise(&pass()).unwrap();
        assert!(better.changes.is_empty(), "{better}");
    };
    stays(plan(|g, x, w| g.add(g.matmul(x, w)?, g.reduce_sum(w, &[0], true)?)));
    stays(plan(|g, x, w| g.matmul_with(x, g.muls(w, 2.0)?, racl::op::CubeMath::KeepType)));
    stays(plan(|g, x, w| {
        g.muls_inplace(w, 2.0_f32)?;
        g.matmul(x, w)
    }));
    // Two products on streams that run beside each other.
    stays(plan(|g, x, w| {
        let beside =
            g.scope_with("side", Scope::new().fork(racl::plan::Fork::AtStart), |g| g.matmul(g.abs(x)?, w))?;
        let own = g.matmul(x, w)?;
        g.join("side")?;
        g.add(own, beside)
    }));
    for (dims, dtype, class) in [
        ([K, 40], F16, Input::Frozen),
        ([K, N], F32, Input::Frozen),
        ([K, N], F16, Input::Static),
        ([40, N], F16, Input::Frozen),
    ] {
        let plan = Plan::build(|g| {
            let x = g.input("x", [2, dims[0]], dtype, Input::Copied)?;
            let w = g.input("w", dims, dtype, class)?;
            g.output("y", g.matmul(x, w)?)
        });
        stays(plan.unwrap());
    }
}

#[test]
fn memory_for_what_is_laid_once_is_bounded() {
    let _alone = Alone::new();
    let two = || {
        Plan::build(|g| {
            let x = g.input("x", [1, K], F16, Input::Static)?;
            let [a, b] = [g.input("a", [K, N], F16, Input::Frozen)?, g.input("b", [K, N], F16, Input::Frozen)?];
            g.output("y", g.add(g.matmul(x, a)?, g.matmul(x, b)?)?)
        })
        .unwrap()
    };
    let bytes = (K * N * 2) as u64;
    for (most, laid) in [(0, 0), (bytes - 1, 0), (bytes, 1), (2 * bytes - 1, 1), (2 * bytes, 2), (u64::MAX, 2)] {
        let better = two().optimise(&pass().most_relaid(bytes.min(most) + most.saturating_sub(bytes))).unwrap();
        assert_eq!(better.changes.len(), laid, "{most}: {better}");
    }
    // What is there counts.
    let first = two().optimise(&pass().most_relaid(bytes)).unwrap().plan;
    assert!(first.optimise(&pass().most_relaid(bytes)).unwrap().changes.is_empty());
    assert_eq!(first.optimise(&pass().most_relaid(2 * bytes)).unwrap().changes.len(), 1);
    // So it does for weights that are turned.
    let turned = Plan::build(|g| {
        let x = g.input("x", [1, 2], F32, Input::Static)?;
        let [a, b] = [g.input("a", [3, 2], F32, Input::Frozen)?, g.input("b", [3, 2], F32, Input::Frozen)?];
        let both = g.add(g.matmul(x, g.permute(a, &[1, 0])?)?, g.matmul(x, g.permute(b, &[1, 0])?)?)?;
        g.output("y", both)
    });
    let turned = turned.unwrap();
    for (most, laid) in [(23, 0), (24, 1), (47, 1), (48, 2)] {
        let passes = Passes::new().relaid_weights(PassMode::Verified).most_relaid(most);
        assert_eq!(turned.optimise(&passes).unwrap().changes.len(), laid, "{most}");
    }
}

#[test]
fn steps_on_the_way_need_no_room() {
    let _alone = Alone::new();
    // 24 bytes of f32 are turned, and 12 of f16 kept.
    let plan = Plan::build(|g| {
        let x = g.input("x", [1, 2], F16, Input::Static)?;
        let w = g.input("w", [3, 2], F32, Input::Frozen)?;
        g.output("y", g.matmul(x, g.cast(g.permute(w, &[1, 0])?, F16)?)?)
    });
    let plan = plan.unwrap();
    let with = |most: u64| {
        let better = plan.optimise(&Passes::new().relaid_weights(PassMode::Verified).most_relaid(most)).unwrap();
        (better.changes.len(), better.plan.operators())
    };
    assert_eq!([with(11), with(12)], [(0, 3), (2, 1)]);
    // The larger one stays, and so the turned one would have to be kept: 6 bytes of f16, where 12 are too many.
    let grows = Plan::build(|g| {
        let x = g.input("x", [1, 1], F32, Input::Static)?;
        let w = g.input("w", [3, 1], F16, Input::Frozen)?;
        g.output("y", g.matmul(x, g.cast(g.permute(w, &[1, 0])?, F32)?)?)
    });
    let grows = grows.unwrap();
    let with = |most: u64| {
        let better = grows.optimise(&Passes::new().relaid_weights(PassMode::Verified).most_relaid(most)).unwrap();
        (better.changes.len(), better.plan.operators())
    };
    assert_eq!([with(5), with(6), with(11), with(12)], [(0, 3), (1, 2), (1, 2), (2, 1)]);
}

/// A matrix `[K, N]` in FRACTAL_NZ.
fn in_blocks(w: &[f16]) -> Vec<f16> {
    let mut blocks = vec![f16::ZERO; K * N];
    for (at, one) in w.iter().enumerate() {
        let (row, column) = (at / N, at % N);
        blocks[((column / 16 * (K / 16) + row / 16) * 16 + row % 16) * 16 + column % 16] = *one;
    }
    blocks
}

#[test]
fn one_part_of_several_weights_in_one_tensor_is_a_weight() {
    let alone = Alone::new();
    for class in [Input::Copied, Input::Updatable] {
        parts_are_weights(&alone, class);
    }
}

fn parts_are_weights(alone: &Alone, class: Input) {
    let plan = Plan::build(|g| {
        let x = g.input("x", [3, K], F16, class)?;
        let all = g.input("w", [3, N / 16, K / 16, 16, 16], F16, Input::Frozen)?;
        for part in 0..3 {
            let own = g.reshape(g.narrow(all, 0, part..part + 1)?, [N / 16, K / 16, 16, 16])?;
            let mut y = Inferred::new();
            aclnn::matmul_weight_nz(g, &x, &own, &mut y, 0)?;
            g.output(["first", "second", "third"][part], y.value()?)?;
        }
        Ok(())
    });
    let plan = plan.unwrap();
    let x = numbers(3 * K, 1);
    let weights: Vec<Vec<f16>> = (0..3).map(|part| numbers(K * N, 2 + part)).collect();
    let all: Vec<f16> = weights.iter().flat_map(|w| in_blocks(w)).collect();
    let given = Simulated::new().tensor("x", &x, [3, K]).tensor("w", &all, [3, N / 16, K / 16, 16, 16]);
    let simulated = plan.simulate(1, &given).unwrap();
    let blocks = alone.device.upload_tensor(&all, [3, N / 16, K / 16, 16, 16]).unwrap();
    let data = alone.device.upload_tensor(&x, [3, K]).unwrap();
    for mode in [Mode::Captured, Mode::Eager] {
        let options = RunOptions::new().mode(mode);
        let mut exe = plan.executable(&alone.device, &options, Frozen::new().with("w", &blocks)).unwrap();
        // An input that may move has moved in the last run, and been where it was in the one before.
        let elsewhere = alone.device.upload_tensor(&numbers(3 * K, 4), [3, K]).unwrap();
        for x in [&data, &elsewhere, &data] {
            exe.run(&alone.stream(), &mut give(&exe, "x", x)).unwrap();
        }
        for (name, w) in ["first", "second", "third"].into_iter().zip(&weights) {
            let y = exe.output::<f16>(exe.output_id(name).unwrap()).unwrap().to_vec().unwrap();
            assert_eq!(y, product(&x, w), "{name} {mode:?}");
            assert_eq!(simulated.to_vec::<f16>(name).unwrap(), y, "{name}");
        }
    }
}

#[test]
fn blocks_that_do_not_fit_are_refused_with_the_line() {
    let _alone = Alone::new();
    let refused = |dims: &[usize], says: &str| {
        let built = Plan::build(|g| {
            let x = g.input("x", [3, K], F16, Input::Copied)?;
            let w = g.input("w", dims, F16, Input::Frozen)?;
            aclnn::matmul_weight_nz(g, &x, &w, &mut Inferred::new(), 0)
        });
        assert_says(&built.unwrap_err(), ErrorKind::InvalidPlan, &[says, "tests/plans/blocked.rs:"]);
    };
    refused(&[3, 3, 16, 16], "48"); // three blocks of rows for 32
    refused(&[3, 2, 16, 8], "16");
}
