//! Arguments that fit together: windows, norms, attention, losses, what is made from nothing.

use crate::op::DataType::{self, Bf16, Bool, F16, F32, F64, I8, I32, I64, U8};

use super::super::random::Random;
use super::Want::{self, Flag, Int, Ints, Nothing, Real, Tensor, Tensors, Text, Truths, Type};

type Given = Vec<(&'static str, Want)>;

pub(super) fn given(random: &mut Random, name: &str) -> Option<Given> {
    windows(random, name)
        .or_else(|| norms(random, name))
        .or_else(|| attention(random, name))
        .or_else(|| losses(random, name))
        .or_else(|| made(random, name))
}

fn pair(random: &mut Random, least: i64, most: i64, axes: usize) -> Want {
    let count = if random.chance(20) { 1 } else { axes };
    Ints((0..count).map(|_| random.from(least, most)).collect())
}

fn windows(random: &mut Random, name: &str) -> Option<Given> {
    let dtype = random.narrow();
    Some(match name {
        "Convolution" | "ConvDepthwise2d" => convolution(random, name, dtype),
        "ConvolutionBackward" => convolution_backward(random, dtype),
        "Im2col" => {
            let rank = 3 + random.below(2);
            let dims = (0..rank).map(|at| if at + 2 < rank { random.some() } else { random.some() + 3 }).collect();
            vec![
                ("self_", Tensor(dtype, dims)),
                ("kernel_size", pair(random, 1, 2, 2)),
                ("dilation", pair(random, 1, 2, 2)),
                ("padding", pair(random, 0, 1, 2)),
                ("stride", pair(random, 1, 3, 2)),
            ]
        }
        _ if name.contains("Pool") && !name.contains("Adaptive") => pool(random, name, dtype),
        "AdaptiveAvgPool2d" => {
            let dims = (0..3 + random.below(2)).map(|_| random.some()).collect();
            vec![("self_", Tensor(dtype, dims)), ("output_size", pair(random, 0, 4, 2))]
        }
        "AdaptiveAvgPool2dBackward" => {
            let dims: Vec<usize> = (0..3 + random.below(2)).map(|_| random.some()).collect();
            let mut grad = dims.clone();
            let last = grad.len() - 1;
            grad[last] = random.size();
            vec![("self_", Tensor(dtype, dims)), ("grad_output", Tensor(dtype, grad))]
        }
        _ => return None,
    })
}

fn convolution(random: &mut Random, name: &str, dtype: DataType) -> Given {
    let axes = if name == "Convolution" { 1 + random.below(2) } else { 2 };
    let (turned, each, images) = (random.chance(40) && name == "Convolution", random.some(), random.some());
    let mut groups = 1 + random.below(2);
    let mut channels = each * groups;
    let mut results = groups * random.some();
    if name != "Convolution" {
        (groups, channels) = (each, each);
        results = each * random.some();
    }
    let kernel: Vec<usize> = (0..axes).map(|_| random.below(3) + 1).collect();
    let sizes = (0..axes).map(|_| random.below(4) + 3);
    let x: Vec<usize> = [images, channels].into_iter().chain(sizes).collect();
    let weight = if turned { [channels, results / groups] } else { [results, channels / groups] };
    let weight: Vec<usize> = weight.into_iter().chain(kernel.iter().copied()).collect();
    let bias = if random.chance(50) { Tensor(random.narrow(), vec![results]) } else { Nothing };
    vec![
        ("input", Tensor(dtype, x.clone())),
        ("self_", Tensor(dtype, x)),
        ("weight", Tensor(dtype, weight)),
        ("kernel_size", Ints(kernel.iter().map(|size| *size as i64).collect())),
        ("bias", bias),
        ("stride", pair(random, 1, 3, axes)),
        ("padding", pair(random, 0, 2, axes)),
        ("dilation", pair(random, 1, 2, axes)),
        ("output_padding", pair(random, 0, if turned { 1 } else { 0 }, axes)),
        ("transposed", Flag(turned)),
        ("groups", Int(groups as i64)),
    ]
}

fn convolution_backward(random: &mut Random, dtype: DataType) -> Given {
    let (images, channels, results) = (random.some(), random.some(), random.some());
    let (stride, size) = (random.from(1, 2), random.below(3) + 3);
    let windows = (size - 2) / stride as usize + 1;
    let turned = random.chance(40);
    let (small, large) = (vec![images, results, windows], vec![images, channels, size]);
    let (grad, input) = if turned { (large, small) } else { (small, large) };
    vec![
        ("grad_output", Tensor(dtype, grad)),
        ("input", Tensor(dtype, input)),
        ("weight", Tensor(random.narrow(), vec![results, channels, 2])),
        ("stride", Ints(vec![stride])),
        ("padding", Ints(vec![0])),
        ("dilation", Ints(vec![1])),
        ("transposed", Flag(turned)),
        ("groups", Int(1)),
        ("output_mask", Truths((0..3).map(|_| random.chance(70)).collect())),
    ]
}

fn pool(random: &mut Random, name: &str, dtype: DataType) -> Given {
    let (rank, kernel, stride) = (3 + random.below(2), random.from(1, 3), random.from(1, 3));
    let padding = random.from(0, kernel / 2);
    let sizes = [random.below(4) + 3, random.below(4) + 3];
    let lead: Vec<usize> = (0..rank - 2).map(|_| random.some()).collect();
    let windows = sizes.map(|size| (size as i64 + 2 * padding - kernel) / stride + 1).map(|count| count as usize);
    let (x, grad) = ([&lead[..], &sizes].concat(), [&lead[..], &windows].concat());
    let pads = if random.chance(30) { vec![padding; 4] } else { vec![padding] };
    let ceil = random.chance(if name.contains("Backward") { 10 } else { 50 });
    vec![
        ("self_", Tensor(dtype, x)),
        ("grad_output", Tensor(dtype, grad.clone())),
        ("indices", if name.contains("Backward") { Tensor(I32, grad) } else { Want::Random }),
        ("kernel_size", Ints(vec![kernel])),
        ("kernel_shape", Ints(vec![kernel])),
        ("stride", Ints(vec![stride])),
        ("strides", Ints(vec![stride, stride])),
        ("padding", Ints(vec![padding])),
        ("paddings", Ints(vec![padding])),
        ("pads", Ints(pads)),
        ("dilation", Ints(vec![1])),
        ("dilations", if random.chance(50) { Ints(vec![]) } else { Ints(vec![1]) }),
        ("auto_pad", Int(0)),
        ("ceil_mode", Flag(ceil)),
    ]
}

fn norms(random: &mut Random, name: &str) -> Option<Given> {
    let dtype = random.narrow();
    let rank = random.below(3) + 2;
    let mut dims = random.dims(rank);
    let maybe = |random: &mut Random, dims: &[usize]| {
        if random.chance(60) { Tensor(random.narrow(), dims.to_vec()) } else { Nothing }
    };
    let mask = Truths((0..3).map(|_| random.chance(80)).collect());
    Some(match name {
        "Softmax" | "LogSoftmax" | "SoftmaxBackward" | "LogSoftmaxBackward" => vec![
            ("self_", Tensor(dtype, dims.clone())),
            ("output", Tensor(random.narrow(), dims.clone())),
            ("grad_output", Tensor(dtype, dims)),
        ],
        "AddLayerNorm" => {
            let tail = dims[random.below(rank)..].to_vec();
            let bias = [Nothing, Tensor(dtype, dims.clone()), Tensor(dtype, tail.clone())];
            vec![
                ("x1", Tensor(dtype, dims.clone())),
                ("x2", Tensor(dtype, dims)),
                ("gamma", Tensor(dtype, tail.clone())),
                ("beta", Tensor(dtype, tail)),
                ("bias_optional", bias[random.below(3)].clone()),
                ("additional_output", Flag(random.chance(70))),
            ]
        }
        _ if name.contains("LayerNorm") => {
            let lead = random.below(rank);
            let inner = dims[lead..].to_vec();
            let statistics = [&dims[..lead], &vec![1; inner.len()]].concat();
            vec![
                ("input", Tensor(dtype, dims.clone())),
                ("grad_out", Tensor(random.narrow(), dims)),
                ("mean", Tensor(random.narrow(), statistics.clone())),
                ("rstd", Tensor(F32, statistics)),
                ("normalized_shape", Ints(inner.iter().map(|dim| *dim as i64).collect())),
                ("weight_optional", maybe(random, &inner)),
                ("bias_optional", maybe(random, &inner)),
                ("impl_mode", Int(random.from(0, 2))),
                ("output_mask", mask),
            ]
        }
        "RmsNorm" | "AddRmsNorm" => {
            let gamma = dims[random.below(rank)..].to_vec();
            vec![
                ("x", Tensor(dtype, dims.clone())),
                ("x1", Tensor(dtype, dims.clone())),
                ("x2", Tensor(dtype, dims)),
                ("gamma", Tensor(dtype, gamma)),
            ]
        }
        _ if name.starts_with("GroupNorm") => {
            let groups = random.below(2) + 1;
            dims[1] = groups * random.some();
            let count: usize = dims[2..].iter().product();
            let channels = vec![dims[1]];
            vec![
                ("n", Int(dims[0] as i64)),
                ("c", Int(dims[1] as i64)),
                ("hx_w", Int(count as i64)),
                ("group", Int(groups as i64)),
                ("gamma", Tensor(dtype, channels.clone())),
                ("beta", Tensor(random.narrow(), channels)),
                ("self_", Tensor(dtype, dims)),
            ]
        }
        "InstanceNorm" => {
            let dims: Vec<usize> = (0..4).map(|_| random.some()).collect();
            let last = random.chance(50);
            let channels = Tensor(random.narrow(), vec![dims[if last { 3 } else { 1 }]]);
            let format = if last { "NHWC" } else { "NCHW" };
            vec![
                ("gamma", channels.clone()),
                ("beta", channels),
                ("x", Tensor(dtype, dims)),
                ("data_format", Text(if random.chance(95) { format } else { "ND" })),
            ]
        }
        _ if name.starts_with("BatchNorm") => {
            let channels = vec![dims[1]];
            let one = |random: &mut Random| Tensor(random.narrow(), channels.clone());
            let mut all = vec![("mean", one(random)), ("invstd", one(random)), ("output_mask", mask)];
            let parameters = ["weight", "bias", "running_mean", "running_var", "save_mean", "save_invstd"];
            let backward = name.ends_with("Backward");
            let parameters = parameters.into_iter().filter(|one| backward || !one.starts_with("save"));
            for parameter in parameters {
                all.push((parameter, if random.chance(90) { one(random) } else { Nothing }));
            }
            all.extend([("input", Tensor(dtype, dims.clone())), ("grad_out", Tensor(random.narrow(), dims))]);
            all
        }
        "SwiGlu" | "Glu" | "GeGlu" | "GeGluV3" => {
            let at = random.below(rank);
            dims[at] = 2 * random.below(3);
            vec![
                ("x", Tensor(dtype, dims.clone())),
                ("self_", Tensor(dtype, dims)),
                ("dim", Int(at as i64)),
                ("approximate", Int(random.from(0, 1))),
            ]
        }
        "RotaryPositionEmbedding" => {
            dims[rank - 1] = 2 * random.below(3);
            let angles: Vec<usize> = dims.iter().map(|dim| if random.chance(30) { 1 } else { *dim }).collect();
            vec![
                ("cos", Tensor(dtype, angles.clone())),
                ("sin", Tensor(dtype, angles)),
                ("x", Tensor(dtype, dims)),
                ("mode", Int(random.from(0, 1))),
            ]
        }
        _ => return None,
    })
}

fn attention(random: &mut Random, name: &str) -> Option<Given> {
    let (listed, row) = (name.starts_with("Fused") || name.starts_with("Incre"), name.starts_with("Incre"));
    let training = name.starts_with("FlashAttention");
    if !listed && !training && !name.starts_with("Prompt") {
        return None;
    }
    let dtype = random.narrow();
    let layout = random.one_of(&["BSH", "BSND", "BNSD", if training { "SBH" } else { "BNSD" }]);
    let layout = if !training && !row && random.chance(20) { "BNSD_BSND" } else { layout };
    let (batch, kv_heads) = (random.some(), random.some());
    let heads = kv_heads * (1 + random.below(2));
    let (rows, keys) = (if row || random.chance(30) { 1 } else { random.some() }, random.some());
    let (width, of_value) = (random.some(), random.some());
    let shape = |batch: usize, rows: usize, heads: usize, width: usize| match layout {
        "BSH" => vec![batch, rows, heads * width],
        "SBH" => vec![rows, batch, heads * width],
        "BSND" => vec![batch, rows, heads, width],
        _ => vec![batch, heads, rows, width],
    };
    let (key, value) = (shape(batch, keys, kv_heads, width), shape(batch, keys, kv_heads, of_value));
    let parts = |dims: Vec<usize>, width: usize| match random_parts(layout, batch) {
        true => Tensors(vec![(dtype, shape(1, keys, kv_heads, width)); batch]),
        false => Tensors(vec![(dtype, dims)]),
    };
    let (key, value) = match listed {
        true => (parts(key, width), parts(value, of_value)),
        false => (Tensor(dtype, key), Tensor(dtype, value)),
    };
    let masks = [vec![rows, keys], vec![1, rows, keys], vec![batch, 1, rows, keys], vec![2048, 2048]];
    let (mask, sparse) = match random.below(5) {
        0 => (Tensor(Bool, masks[3].clone()), random.from(2, 3)),
        1 => (Tensor(U8, random.one_of(&masks[..3])), 0),
        _ => (Nothing, 0),
    };
    let shift = if random.chance(20) { Tensor(dtype, vec![1, heads, rows, keys]) } else { Nothing };
    let lengths = |random: &mut Random, most: usize| match random.below(4) {
        0 => Ints(vec![random.from(0, most as i64)]),
        1 => Ints((0..batch).map(|_| random.from(0, most as i64)).collect()),
        2 => Ints(vec![]),
        _ => Nothing,
    };
    let mut all = vec![
        ("query", Tensor(dtype, shape(batch, rows, heads, width))),
        ("key", key),
        ("value", value),
        ("input_layout", Text(layout)),
        ("num_heads", Int(heads as i64)),
        ("head_num", Int(heads as i64)),
        ("num_key_value_heads", Int(if heads == kv_heads && random.chance(50) { 0 } else { kv_heads as i64 })),
        ("sparse_mode", Int(sparse)),
        ("keep_prob", Real(if random.chance(95) { 1.0 } else { 0.5 })),
        ("prefix_optional", if random.chance(50) { Nothing } else { Ints(vec![]) }),
        ("q_start_idx_optional", Nothing),
        ("kv_start_idx_optional", Nothing),
        ("pse_type", Int(i64::from(random.chance(5)))),
        ("softmax_lse_flag", Flag(random.chance(50))),
    ];
    for parameter in ["pse_shift", "pse_shift_optional", "real_shift_optional"] {
        all.push((parameter, shift.clone()));
    }
    for parameter in ["atten_mask", "atten_mask_optional"] {
        all.push((parameter, mask.clone()));
    }
    let (of_rows, of_keys) = (lengths(random, rows), lengths(random, keys));
    for parameter in ["actual_seq_lengths", "actual_seq_lengths_optional"] {
        all.push((parameter, if row { of_keys.clone() } else { of_rows.clone() }));
    }
    for parameter in ["actual_seq_lengths_kv", "actual_seq_lengths_kv_optional"] {
        all.push((parameter, of_keys.clone()));
    }
    all.push(("*", Nothing)); // all that may be left out
    Some(all)
}

/// Whether each sequence has a key of its own.
fn random_parts(layout: &str, batch: usize) -> bool {
    layout.len() == 4 && batch > 1
}

fn losses(random: &mut Random, name: &str) -> Option<Given> {
    let dtype = random.narrow();
    if name.contains("NLLLoss") || name == "CrossEntropyLoss" || name == "SoftmaxCrossEntropyWithLogits" {
        let (rows, classes) = (random.size(), random.some());
        let flat = name.starts_with("NLL") && random.chance(30);
        let x = if flat { vec![classes] } else { vec![rows, classes] };
        let target = if flat { random.one_of(&[vec![], vec![1]]) } else { vec![rows] };
        let reduction = random.from(0, 2);
        let grad = if reduction == 0 && !flat { vec![rows] } else { random.one_of(&[vec![], vec![1]]) };
        return Some(vec![
            ("self_", Tensor(dtype, x.clone())),
            ("input", Tensor(dtype, x.clone())),
            ("features", Tensor(dtype, x.clone())),
            ("labels", Tensor(dtype, x)),
            ("target", Tensor(random.one_of(&[I64, I32]), target)),
            ("weight", Tensor(random.narrow(), vec![classes])),
            ("weight_optional", if random.chance(50) { Tensor(F32, vec![classes]) } else { Nothing }),
            ("total_weight", Tensor(random.narrow(), random.one_of(&[vec![], vec![1]]))),
            ("grad_output", Tensor(random.narrow(), grad)),
            ("reduction", Int(reduction)),
            ("reduction_optional", Text(random.one_of(&["none", "mean", "sum"]))),
            ("return_zloss", Flag(random.chance(5))),
            ("label_smoothing", Real(random.one_of(&[0.0, 0.5, 1.0]))),
        ]);
    }
    if !name.contains("Loss") && !name.contains("CrossEntropy") {
        return None;
    }
    let dims = random.shape();
    let spread = |random: &mut Random| Tensor(random.narrow(), random.spread(&dims));
    let weight = |random: &mut Random| if random.chance(50) { spread(random) } else { Nothing };
    Some(vec![
        ("self_", Tensor(dtype, dims.clone())),
        ("target", spread(random)),
        ("grad_output", spread(random)),
        ("grad_out", spread(random)),
        ("weight", weight(random)),
        ("weight_optional", weight(random)),
        ("pos_weight_optional", weight(random)),
        ("reduction", Int(random.from(0, 2))),
        ("beta", Real(random.one_of(&[0.0, 1.0, 1.0, -1.0]))),
    ])
}

fn made(random: &mut Random, name: &str) -> Option<Given> {
    let dims = random.shape();
    let count: usize = dims.iter().product();
    let bytes = count.div_ceil(128) * 16;
    let float = random.one_of(&[F32, F64]);
    let number = random.one_of(&[vec![], vec![1]]);
    let mut all = vec![("seed_tensor", Tensor(I64, number.clone())), ("offset_tensor", Tensor(I64, number.clone()))];
    match name {
        "TransMatmulWeight" => {
            // Whole blocks, which take no more room than the weight has.
            let rank = random.one_of(&[1, 2, 2, 3, 4, 6, 7]);
            let dims = [vec![1; rank.max(2) - 2], vec![16, 32]].concat();
            all.push((
                "mm_weight_ref",
                Tensor(random.one_of(&[F16, Bf16, I8, F16, F32]), if rank == 1 { vec![32] } else { dims }),
            ));
        }
        "OneHot" => {
            let dtype = random.dtype();
            all.extend([
                ("self_", Tensor(random.one_of(&[I64, I32]), dims)),
                ("num_classes", Int(random.from(0, 4))),
                ("on_value", Tensor(dtype, number.clone())),
                ("off_value", Tensor(dtype, number)),
            ]);
        }
        "Eye" => all.extend([("n", Int(random.from(-1, 4))), ("m", Int(random.from(0, 4)))]),
        "InplaceFillTensor" => all.push(("value", Tensor(random.dtype(), number))),
        "InplaceRandom" | "InplaceRandomTensor" => {
            all.extend([("from", Int(random.from(-1, 2))), ("to", Int(random.from(1, 200)))]);
        }
        "Randperm" => all.push(("n", Int(random.one_of(&[-1, 0, 1, 2, 3, 129, 257, 300])))),
        "Multinomial" | "MultinomialTensor" => {
            let rank = random.below(2) + 1;
            let dims = (0..rank).map(|_| random.some()).collect();
            all.extend([("self_", Tensor(float, dims)), ("numsamples", Int(random.from(0, 3)))]);
        }
        "BernoulliTensor" | "InplaceBernoulliTensor" => {
            let chances = random.spread(&dims);
            all.extend([
                ("self_", Tensor(random.dtype(), dims.clone())),
                ("self_ref", Tensor(random.dtype(), dims)),
                ("prob", Tensor(float, chances)),
            ]);
        }
        "NormalFloatFloat" => all.push(("out", Tensor(random.dtype(), dims))),
        _ if name.starts_with("Normal") => {
            all.extend([("mean_", Want::Random)]);
        }
        "RReluWithNoise" | "InplaceRReluWithNoise" => all.extend([
            ("self_", Tensor(float, dims.clone())),
            ("noise", Tensor(random.narrow(), dims)),
            ("lower", Want::Scalar(0.25_f32.into())),
        ]),
        "DropoutDoMask" | "DropoutBackward" | "DropoutV3Grad" | "Dropout" | "DropoutV3" => all.extend([
            ("self_", Tensor(float, dims.clone())),
            ("input", Tensor(float, dims.clone())),
            ("grad_output", Tensor(float, dims.clone())),
            ("grad_y", Tensor(float, dims)),
            ("mask", Tensor(U8, vec![bytes])),
            ("prob", Real(0.5)),
            ("p", Real(random.one_of(&[0.5, 0.5, 0.0, 1.0, 2.0]))),
            ("optional_noise_shape", Nothing),
        ]),
        "DropoutGenMask" | "DropoutGenMaskV2" | "DropoutGenMaskV2Tensor" => all.extend([
            ("shape", Ints(dims.iter().map(|dim| *dim as i64).collect())),
            ("prob", Real(0.5)),
            ("prob_data_type", Type(random.one_of(&[F32, F32, F64]))),
        ]),
        "InplaceRandomWithoutFromToTensor" | "InplaceUniformTensor" | "InplaceNormalTensor" => {}
        _ => return None,
    }
    Some(all)
}
