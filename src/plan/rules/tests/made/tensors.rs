//! Arguments that fit together: products, places, indices.

use crate::op::DataType::{self, Bf16, F16, F32, F64, I8, I32, I64};

use super::super::random::Random;
use super::Want::{self, Flag, Int, Ints, Nothing, Results, Tensor, Tensors};

type Given = Vec<(&'static str, Want)>;

pub(super) fn given(random: &mut Random, name: &str) -> Option<Given> {
    products(random, name).or_else(|| moves(random, name)).or_else(|| indices(random, name))
}

fn joined(a: &[usize], b: &[usize]) -> Vec<usize> {
    [a, b].concat()
}

fn products(random: &mut Random, name: &str) -> Option<Given> {
    let dtype = random.narrow();
    let (m, k, n, b) = (random.size(), random.some(), random.some(), random.some());
    let tensor = |dims: &[usize]| Tensor(dtype, dims.to_vec());
    let math = ("cube_math_type", Int(random.from(0, 3)));
    let own = |random: &mut Random, dims: &[usize]| Tensor(dtype, random.spread(dims));
    Some(match name {
        "Mm" => vec![("self_", tensor(&[m, k])), ("mat2", tensor(&[k, n])), math],
        "BatchMatMul" | "BatchMatMulWeightNz" => {
            vec![
                ("self_", tensor(&[b, m, k])),
                ("mat2", tensor(&[if random.chance(50) { 1 } else { b }, k, n])),
                math,
            ]
        }
        "Matmul" | "MatmulWeightNz" => {
            let rank = random.below(3);
            let batch = random.dims(rank);
            let (a, other) = (random.spread(&batch), random.spread(&batch));
            let x = if random.chance(80) { joined(&a, &[m, k]) } else { vec![k] };
            let y = if random.chance(80) { joined(&other, &[k, n]) } else { vec![k] };
            vec![("self_", tensor(&x)), ("mat2", tensor(&y)), math]
        }
        "Addmm" | "AddmmWeightNz" => {
            vec![("self_", own(random, &[m, n])), ("mat1", tensor(&[m, k])), ("mat2", tensor(&[k, n])), math]
        }
        "InplaceAddmm" => {
            vec![("self_ref", tensor(&[m, n])), ("mat1", tensor(&[m, k])), ("mat2", tensor(&[k, n])), math]
        }
        "Baddbmm" | "Addbmm" | "InplaceBaddbmm" | "InplaceAddbmm" => {
            let out = if name.contains("Baddbmm") { vec![b, m, n] } else { vec![m, n] };
            let (spread, batches) = (own(random, &out), [tensor(&[b, m, k]), tensor(&[b, k, n])]);
            let [first, second] = batches;
            vec![("self_", spread), ("self_ref", tensor(&out)), ("batch1", first), ("batch2", second), math]
        }
        "Addmv" => vec![("self_", own(random, &[m])), ("mat", tensor(&[m, k])), ("vec", tensor(&[k])), math],
        "Mv" => vec![("self_", tensor(&[m, k])), ("vec", tensor(&[k])), math],
        "Dot" => {
            let dtype = random.one_of(&[F32, F16, I8, I32]);
            vec![("self_", Tensor(dtype, vec![k])), ("tensor", Tensor(dtype, vec![k]))]
        }
        "Ger" => vec![("self_", tensor(&[m])), ("vec2", Tensor(random.dtype(), vec![n]))],
        "Addr" | "InplaceAddr" => {
            let own = own(random, &[m, n]);
            vec![("self_", own), ("self_ref", tensor(&[m, n])), ("vec1", tensor(&[m])), ("vec2", tensor(&[n]))]
        }
        "Gemm" => {
            let (turn_a, turn_b) = (random.chance(50), random.chance(50));
            let turned = |dims: [usize; 2], turn: bool| if turn { [dims[1], dims[0]] } else { dims };
            vec![
                ("a", tensor(&turned([m, k], turn_a))),
                ("b", tensor(&turned([k, n], turn_b))),
                ("c", own(random, &[m, n])),
                ("trans_a", Int(i64::from(turn_a))),
                ("trans_b", Int(i64::from(turn_b))),
                math,
            ]
        }
        "TriangularSolve" => {
            let (dtype, rank) = (random.one_of(&[F32, F64]), random.below(3));
            let batch = random.dims(rank);
            let (a, other) = (random.spread(&batch), random.spread(&batch));
            vec![("self_", Tensor(dtype, joined(&a, &[m, n]))), ("a", Tensor(dtype, joined(&other, &[m, m])))]
        }
        _ if name.starts_with("QuantMatmul") => quantised(random, (m, k, n)),
        _ if name.starts_with("WeightQuant") => weight_quantised(random, (m, n)),
        _ => return None,
    })
}

fn quantised(random: &mut Random, (m, k, n): (usize, usize, usize)) -> Given {
    let (turn_1, turn_2) = (random.chance(50), random.chance(50));
    let turned = |a: usize, b: usize, turn: bool| if turn { vec![b, a] } else { vec![a, b] };
    let scale = |random: &mut Random| {
        let (count, dtype) = (if random.chance(50) { n } else { 1 }, random.one_of(&[F32, Bf16, I64]));
        Tensor(dtype, if random.chance(50) { vec![count] } else { vec![1, count] })
    };
    let rows = |random: &mut Random| if random.chance(50) { Tensor(F32, vec![m]) } else { Nothing };
    let bias = if random.chance(50) { Tensor(I32, vec![n]) } else { Nothing };
    let (scales, of_rows) = (scale(random), rows(random));
    vec![
        ("x2_scale", scales.clone()),
        ("x1_scale", of_rows.clone()),
        ("y_scale", Nothing),
        ("x1_offset", Nothing),
        ("x2_offset", Nothing),
        ("y_offset", Nothing),
        ("group_size", Int(i64::from(random.chance(5)))),
        ("x1", Tensor(I8, turned(m, k, turn_1))),
        ("x2", Tensor(I8, turned(k, n, turn_2))),
        ("scale", scales),
        ("offset", Nothing),
        ("pertoken_scale_optional", of_rows),
        ("bias", bias),
        ("transpose_x1", Flag(turn_1)),
        ("transpose_x2", Flag(turn_2)),
    ]
}

fn weight_quantised(random: &mut Random, (m, n): (usize, usize)) -> Given {
    let dtype = random.one_of(&[F16, Bf16]);
    let (k, group) = if random.chance(50) { (70, random.one_of(&[32, 64])) } else { (random.some(), 0) };
    let packed = random.chance(25);
    let count = if packed { n * 8 } else { n };
    let grid = |random: &mut Random| match (group, random.below(3)) {
        (0, 0) => Tensor(dtype, vec![1]),
        (0, 1) => Tensor(dtype, vec![count]),
        (0, _) => Tensor(dtype, vec![1, count]),
        (group, _) => Tensor(dtype, vec![70_usize.div_ceil(group), count]),
    };
    let offset = if random.chance(50) { grid(random) } else { Nothing };
    let bias = if random.chance(50) { Tensor(random.one_of(&[dtype, F32]), vec![count]) } else { Nothing };
    vec![
        ("x", Tensor(dtype, vec![m, k])),
        ("weight", Tensor(if packed { I32 } else { I8 }, vec![k, n])),
        ("antiquant_scale", grid(random)),
        ("antiquant_offset_optional", offset),
        ("quant_scale_optional", Nothing),
        ("quant_offset_optional", Nothing),
        ("bias_optional", bias),
        ("antiquant_group_size", Int(group as i64)),
        ("inner_precise", Int(random.from(0, 1))),
    ]
}

fn moves(random: &mut Random, name: &str) -> Option<Given> {
    let dtype = random.dtype();
    let some = |random: &mut Random, rank: usize| (0..rank).map(|_| random.some()).collect::<Vec<_>>();
    if let Some(rank) =
        name.chars().rev().find_map(|c| c.to_digit(10)).filter(|_| name.contains("Pad") || name.contains("Upsample"))
    {
        let rank = if name.ends_with("V2") { name.chars().nth(15)?.to_digit(10)? } else { rank } as usize;
        let lead = if name.contains("Upsample") { 2 } else { random.below(2) + 1 };
        let dims = some(random, lead + rank);
        let pads = (0..2 * rank).map(|_| random.from(0, 1)).collect();
        let sizes = (0..rank).map(|_| random.from(1, 5)).collect();
        return Some(vec![("self_", Tensor(dtype, dims)), ("padding", Ints(pads)), ("output_size", Ints(sizes))]);
    }
    let dims = random.shape();
    let rank = dims.len() as i64;
    Some(match name {
        "Permute" => {
            let mut order: Vec<i64> = (0..rank).collect();
            for at in 1..order.len() {
                order.swap(at, random.below(at + 1));
            }
            vec![("self_", Tensor(dtype, dims)), ("dims", Ints(order))]
        }
        "Repeat" => {
            let count = rank + random.from(0, 1);
            let times = (0..count).map(|_| random.from(0, 3)).collect();
            vec![("self_", Tensor(dtype, dims)), ("repeats", Ints(times))]
        }
        "Expand" => {
            let own = random.spread(&dims);
            let sizes = dims.iter().map(|dim| *dim as i64).collect();
            vec![("self_", Tensor(dtype, own)), ("size", Ints(sizes))]
        }
        "Roll" => {
            let count = random.below(3) + 1;
            let shifts = (0..count).map(|_| random.from(-5, 5)).collect();
            let along = (0..count).map(|_| random.from(-rank, rank)).collect();
            vec![("x", Tensor(dtype, dims)), ("shifts", Ints(shifts)), ("dims", Ints(along))]
        }
        "ConstantPadNd" => {
            let pads = (0..2 * random.from(0, rank)).map(|_| random.from(-1, 2)).collect();
            vec![("self_", Tensor(dtype, dims)), ("pad", Ints(pads))]
        }
        "Slice" => {
            let end = if random.chance(50) { i64::MAX } else { random.from(-4, 5) };
            let step = random.from(0, 3);
            vec![("start", Int(random.from(-4, 4))), ("end", Int(end)), ("step", Int(step))]
        }
        "InplaceCopy" => {
            let src = random.spread(&dims);
            vec![("self_ref", Tensor(dtype, dims)), ("src", Tensor(random.dtype(), src))]
        }
        "Cat" | "Stack" => {
            let rank = random.below(3) + usize::from(name == "Cat");
            let (dims, at) = (some(random, rank), random.below(rank + 1).min(rank.saturating_sub(1)));
            let count = random.below(3) + 1;
            let all = (0..count).map(|_| {
                let mut own = dims.clone();
                if name == "Cat" && rank > 0 {
                    own[at] = random.size();
                }
                (if random.chance(70) { dtype } else { random.dtype() }, own)
            });
            let all = all.collect();
            vec![("tensors", Tensors(all)), ("dim", Int(at as i64))]
        }
        "SplitTensor" | "SplitWithSize" => {
            let mut dims = some(random, 2);
            let at = random.below(2);
            dims[at] = random.size();
            let (each, size) = (random.some(), dims[at]);
            let sizes = [random.below(size + 1), 0];
            let parts = vec![sizes[0] as i64, (size - sizes[0]) as i64];
            let count = if name == "SplitWithSize" { 2 } else { size.div_ceil(each).max(1) };
            vec![
                ("self_", Tensor(dtype, dims)),
                ("dim", Int(at as i64)),
                ("split_sections", Int(each as i64)),
                ("split_size", Ints(parts)),
                ("out", Results(count)),
            ]
        }
        _ if name.starts_with("RepeatInterleave") => repeated(random, name, dtype),
        "InplaceMaskedScatter" => vec![
            ("self_ref", Tensor(dtype, dims.clone())),
            ("mask", Tensor(DataType::Bool, random.spread(&dims))),
            ("source", Tensor(dtype, random.shape())),
        ],
        _ => return None,
    })
}

fn repeated(random: &mut Random, name: &str, dtype: DataType) -> Given {
    let dims: Vec<usize> = (0..random.below(2) + 1).map(|_| random.some()).collect();
    let at = random.below(dims.len());
    let lines = if name.ends_with("Dim") { dims[at] } else { dims.iter().product() };
    let times = random.from(0, 3);
    let number = random.one_of(&[I64, I32]);
    let listed = Tensor(number, if random.chance(50) { vec![lines] } else { vec![] });
    let repeats = if name.contains("Int") && name.contains("InterleaveInt") { Int(times) } else { listed };
    vec![
        ("self_", Tensor(dtype, dims)),
        ("repeats", repeats),
        ("dim", Int(at as i64)),
        ("output_size", Int(times * lines as i64)),
    ]
}

fn indices(random: &mut Random, name: &str) -> Option<Given> {
    let (dtype, index) = (random.dtype(), random.one_of(&[I64, I64, I32]));
    let dims: Vec<usize> = (0..random.below(3) + 1).map(|_| random.some()).collect();
    let at = random.below(dims.len());
    let mut resized = dims.clone();
    resized[at] = random.size();
    let (own, dim) = (Tensor(dtype, dims.clone()), ("dim", Int(at as i64)));
    Some(match name {
        "Embedding" => {
            let table = vec![random.some(), random.some()];
            vec![("weight", Tensor(dtype, table)), ("indices", Tensor(index, random.shape()))]
        }
        "EmbeddingDenseBackward" => {
            let rows = random.shape();
            let grad = joined(&rows, &[random.some()]);
            vec![
                ("grad", Tensor(dtype, grad)),
                ("indices", Tensor(index, rows)),
                ("num_weights", Int(random.from(0, 4))),
                ("scale_grad_by_freq", Flag(random.chance(10))),
            ]
        }
        "IndexSelect" => vec![("self_", own), dim, ("index", Tensor(index, vec![random.size()]))],
        "Gather" | "GatherV2" => vec![("self_", own), dim, ("index", Tensor(index, resized))],
        "GatherNd" | "ScatterNd" | "ScatterNdUpdate" => {
            let depth = random.below(dims.len() + 1);
            let lead = vec![random.some(); random.below(2)];
            let updates = joined(&lead, &dims[depth..]);
            vec![
                ("self_", own.clone()),
                ("data", own.clone()),
                ("var_ref", own),
                ("indices", Tensor(index, joined(&lead, &[depth]))),
                ("updates", Tensor(dtype, updates)),
            ]
        }
        "Take" | "InplacePut" => {
            let places = random.shape();
            let source = if random.chance(50) { places.clone() } else { vec![places.iter().product()] };
            vec![
                ("self_", own.clone()),
                ("self_ref", own),
                ("index", Tensor(index, places)),
                ("source", Tensor(dtype, source)),
            ]
        }
        "Index" | "IndexPutImpl" => {
            let common: Vec<usize> = (0..random.below(3)).map(|_| random.some()).collect();
            let count = random.below(dims.len()) + 1;
            let all = (0..count).map(|_| (index, if random.chance(25) { vec![0] } else { random.spread(&common) }));
            let all = all.collect();
            let values = if random.chance(60) { vec![] } else { common };
            vec![
                ("self_", own.clone()),
                ("self_ref", own),
                ("indices", Tensors(all)),
                ("values", Tensor(dtype, values)),
            ]
        }
        "Scatter" | "InplaceScatter" | "ScatterAdd" | "ScatterValue" | "InplaceScatterValue" => vec![
            ("self_", own.clone()),
            ("self_ref", own),
            dim,
            ("index", Tensor(index, resized.clone())),
            ("src", Tensor(dtype, resized)),
            ("reduce", Int(random.from(-1, 2))),
        ],
        "InplaceScatterUpdate" => {
            let data = vec![random.some(), random.some() + 1, random.some()];
            let updates = vec![data[0], random.below(data[1]) + 1, data[2]];
            let indices = if random.chance(50) { vec![data[0]] } else { vec![] };
            vec![
                ("data", Tensor(dtype, data)),
                ("indices", Tensor(index, indices)),
                ("updates", Tensor(dtype, updates)),
                ("axis", Int(random.one_of(&[1, 1, -2, 0]))),
            ]
        }
        "IndexAdd" | "IndexCopy" | "InplaceIndexCopy" | "IndexFill" | "InplaceIndexFill" => vec![
            ("self_", own.clone()),
            ("self_ref", own.clone()),
            dim,
            ("index", Tensor(index, vec![resized[at]])),
            ("source", Tensor(dtype, resized)),
            ("out_ref", own),
        ],
        "IndexFillTensor" | "InplaceIndexFillTensor" => {
            let places = (0..random.below(3)).map(|_| random.from(-1, dims[at] as i64 - 1)).collect();
            vec![("self_", own.clone()), ("self_ref", own), dim, ("index", Ints(places))]
        }
        "Bincount" => {
            let n = random.some();
            vec![
                ("self_", Tensor(random.one_of(&[I64, I32, I8]), vec![n])),
                ("weights", Tensor(random.dtype(), vec![n])),
                ("minlength", Int(random.from(0, 3))),
                ("out", Tensor(random.one_of(&[I64, F32]), vec![random.some() + 2])),
            ]
        }
        _ => return None,
    })
}
