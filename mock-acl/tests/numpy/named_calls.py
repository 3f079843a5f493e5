"""Bad calls of operators by name that their own rules refuse: [name, inputs, outputs, attributes, code, words of the
text, function]. Outputs are (shape, type)."""
from device import encode, np
from named import FRACTAL_NZ, Given

INPUT, OUTPUT, ATTRIBUTE, OPEN, NOT_SUPPORTED, REFUSED = 100021, 100022, 100023, 148050, 207000, 500002


def x(*shape, dtype="f32"):
    return Given(encode(np.ones(shape), dtype), dtype)


def k(*values, dtype="s64"):
    """A constant."""
    return Given(encode(np.array(values), dtype), dtype, "host")


def to(*shape, dtype="f32"):
    return shape, dtype


def call(name, inputs, outputs, code, *words, function="aclopCompileAndExecute", **attributes):
    return name, inputs, outputs if isinstance(outputs, list) else [outputs], attributes, code, words, function


ELEMENTS = [
    *(call(name, [x(3)], to(3), NOT_SUPPORTED, key, **{key: value}) for name, key, value in (
        ("Exp", "base", 2.0), ("Exp", "scale", 2.0), ("Exp", "shift", 1.0), ("Log", "base", 3.0), ("Log", "scale", 0.5),
        ("Log", "shift", 1.0), ("HardSigmoid", "alpha", 0.5), ("HardSigmoid", "beta", 0.25))),
    *(call("Log", [x(3)], to(3), NOT_SUPPORTED, key, **{key: 2.0, "base": base}) for key in ("scale", "shift")
      for base in (2.0, 10.0)),
    call("AxpyV2", [x(3), x(3), x(2)], to(3), INPUT, "input 2"), call("AxpyV2", [x(3), x(4), x()], to(3), REFUSED),
    call("Add", [x(3), x(4)], to(3), REFUSED, "aclnnAdd"), call("Add", [x(3), x(3)], to(4), REFUSED, "aclnnAdd"),
    call("ClipByValue", [x(3), x(4), x()], to(3), REFUSED, "aclnnMaximum"),
    call("MaskedFill", [x(3), x(4, dtype="bool"), x()], to(3), REFUSED), call("MaskedFill", [x(3), x(3), x()], to(4), REFUSED),
    call("Addcmul", [x(3), x(3), x(3), k(1, 2, dtype="f32")], to(3), INPUT, "input 3 is not one number"),
    call("BitwiseAnd", [x(3), x(3)], to(3), REFUSED, "aclnnBitwiseAndTensor"), call("Invert", [x(3)], to(3), REFUSED),
    call("Add", [x(3), None], to(3), INPUT, "input 1 was left out"),
]
MOVES = [
    *(call(name, [x(2, 3)], to(3, 2), OUTPUT, "shape") for name in ("Identity", "TensorMove", "TransData")),
    call("Cast", [x(3)], to(3, dtype="s32"), ATTRIBUTE, "dst_type", dst_type=0),
    call("Cast", [x(3)], to(4), REFUSED, "aclnnCast"), call("Transpose", [x(2, 3), k(1)], to(3, 2), REFUSED),
    call("Transpose", [x(2, 3), k(1, 1)], to(3, 2), REFUSED), call("Transpose", [x(2, 3), k(0, 1)], to(3, 2), REFUSED),
    call("TransposeD", [x(2, 3)], to(3, 2), ATTRIBUTE, "perm", "9 numbers", perm=[0] * 9),
    call("BroadcastTo", [x(1, 3), k(2, 3)], to(3, 3), OUTPUT), call("BroadcastTo", [x(2), k(3)], to(3), REFUSED),
    call("Fill", [k(2, 3), x()], to(6), OUTPUT), call("Fill", [k(2, 3), x(2)], to(2, 3), REFUSED),
    call("Pad", [x(2, 3), k(1, 1)], to(4, 3), INPUT, "2 paddings for 2 dimensions"),
    call("Pad", [x(2), k(1, 1)], to(5), REFUSED, "aclnnConstantPadNd"),
    call("PadV3", [x(2), k(1, 1)], to(4), NOT_SUPPORTED, "mode edge", mode="edge"),
    call("PadV3", [x(2), k(1), x()], to(4), INPUT, "1 paddings"),
    call("PadV3", [x(2), k(-1, 1), x()], to(2), INPUT, "padding of -1"),
    call("PadV3", [x(2), k(1, -1), x()], to(2), INPUT, "and -1"),
    call("PadV3", [x(2), k(1 << 32, 0), x()], to(2), INPUT), call("PadV3", [x(2), k(0, 1 << 32), x()], to(2), INPUT),
    call("PadV3", [x(2), k(1, 1), x()], to(5), OUTPUT), call("PadV3", [x(2), k(1, 1), x(2)], to(4), REFUSED),
    call("PadV3", [x(2), k(1, 1), k(1, 2, dtype="f32")], to(4), INPUT, "input 2 is not one number"),
    call("Slice", [x(3), k(0, 0), k(1)], to(1), INPUT, "2 offsets and 1 sizes"),
    call("Slice", [x(3), k(0), k(1, 1)], to(1), INPUT), call("Slice", [x(3), k(4), k(0)], to(1), INPUT, "from 4 on"),
    call("Slice", [x(3), k(-1), k(1)], to(1), INPUT), call("Slice", [x(3), k(1), k(3)], to(3), INPUT, "has no 3"),
    call("Slice", [x(3), k(1), k(-2)], to(1), INPUT), call("Slice", [x(3), k(1), k(1)], to(2), OUTPUT),
    *(call("StridedSlice", [x(3), k(0), k(2), k(1)], to(2), NOT_SUPPORTED, key, **{key: 1})
      for key in ("ellipsis_mask", "new_axis_mask")),
    call("StridedSlice", [x(3), k(0, 0), k(1, 1), k(1, 1)], to(1), INPUT, "2, 2 and 2"),
    call("StridedSlice", [x(3), k(0), k(1, 1), k(1)], to(1), INPUT), call("StridedSlice", [x(3), k(0), k(1), k()], to(1), INPUT),
    call("StridedSlice", [x(3), k(0), k(2), k(0)], to(2), NOT_SUPPORTED, "step of 0"),
    call("StridedSlice", [x(3), k(2), k(0), k(-1)], to(2), NOT_SUPPORTED, "step of -1"),
    *(call("StridedSlice", [x(3), k(at), k(0), k(1)], to(), INPUT, f"begin {at}", shrink_axis_mask=1) for at in (3, -4)),
    call("StridedSlice", [x(3), k(0), k(2), k(1)], to(3), OUTPUT),
    call("AsStrided", [x(6), k(2, 2), k(1)], to(2, 2), INPUT, "2 sizes, 1 strides"),
    call("AsStrided", [x(6), k(2), k(1), k(1, 2)], to(2), INPUT), call("AsStrided", [x(6), k(2), k(1), k()], to(2), INPUT),
    call("AsStrided", [x(6), k(2), k(1)], to(3), OUTPUT), call("AsStrided", [x(6), k(2), k(-1), k(3)], to(2), INPUT, "outside"),
    *(call("AsStrided", [x(6), k(2, 2), k(3, step), k(offset)], to(2, 2), INPUT, "outside") for step, offset in (
        (1, 2), (6, 0), (1, -1), (1 << 62, 0), ((1 << 63) - 1, 5))),
    call("AsStrided", [x(6), k(3), k((1 << 63) - 1)], to(3), INPUT, "outside"),
    call("Reshape", [x(2, 3)], to(5), OUTPUT, "6 elements become 5"),
    call("ReverseV2", [x(2), k(1)], to(2), REFUSED, "aclnnFlip"), call("Tile", [x(2), k(-1)], to(2), REFUSED, "aclnnRepeat"),
    call("Tile", [x(2), k(2)], to(2), REFUSED), call("Tril", [x(2)], to(2), REFUSED, "aclnnTril"),
    call("ConcatD", [x(2), x(2)], to(4), ATTRIBUTE, "N is 3 with 2", concat_dim=0, N=3),
    call("ConcatD", [x(2), x(2)], to(4), REFUSED, "aclnnCat", concat_dim=1),
    call("Pack", [x(2), x(2)], to(2, 2), ATTRIBUTE, "N is 1", N=1), call("Pack", [x(2), x(3)], to(2, 2), REFUSED, "aclnnStack"),
    call("SplitD", [x(4)], [to(2), to(2)], ATTRIBUTE, "num_split is 3", split_dim=0, num_split=3),
    call("SplitD", [x(4)], [to(2), to(2)], ATTRIBUTE, "dimension 1", split_dim=1, num_split=2),
    call("SplitD", [x(4)], [to(2), to(2)], ATTRIBUTE, "dimension -2", split_dim=-2, num_split=2),
    call("SplitD", [x(5)], [to(2), to(2)], REFUSED, "aclnnSplitWithSize", split_dim=0, num_split=2),
    call("SplitVD", [x(4)], [to(2), to(2)], ATTRIBUTE, "1 size_splits", split_dim=0, num_split=2, size_splits=[4]),
    call("GatherV2", [x(4), x(2, dtype="s64"), k(0, 0)], to(2), INPUT, "input 2 has 2 numbers"),
    call("GatherV2", [x(4), x(2, dtype="s64"), k(0)], to(2), NOT_SUPPORTED, "batch_dims", batch_dims=1),
    call("GatherV2", [x(4), x(2, dtype="f32"), k(0)], to(2), REFUSED, "aclnnGatherV2"),
    call("GatherElements", [x(4), x(2, dtype="s64")], to(2), REFUSED, "aclnnGather", dim=1),
]
LINES = [
    *(call(name, [x(2, 3)], to(2, 3), ATTRIBUTE, "axes", **{"axes": axes}) for name in ("SoftmaxV2", "LogSoftmaxV2")
      for axes in ([], [0, 1])),
    call("SoftmaxV2", [x(3)], to(3), REFUSED, "aclnnSoftmax", axes=[1]),
    call("ScaledMaskedSoftmax", [x(2, 3), x(4, dtype="bool")], to(2, 3), REFUSED),
    call("ScaledMaskedSoftmax", [x(3), x(3, dtype="bool")], to(3), REFUSED, "aclnnTriu", fixed_triu_mask=True),
    call("ReduceSum", [x(2, 3), k(2)], to(2), REFUSED, "aclnnReduceSum"), call("ReduceMean", [x(2, 3), k(0)], to(2), REFUSED),
    call("ReduceSumD", [x(2, 3)], to(2), ATTRIBUTE, "axes", "9 numbers", axes=[0] * 9),
    call("ReduceProd", [x(2, 3, 4), k(0, 1)], to(4), NOT_SUPPORTED, "axes other than one or all"),
    *(call("ReduceProd", [x(2, 3), k(0, 1)], to(*shape), OUTPUT, "shape", keep_dims=keep)
      for shape, keep in (((), True), ((1,), True), ((1, 2), True), ((1, 1), False))),
    *(call("Cumsum", [x(3), k(0)], to(3), NOT_SUPPORTED, key, **{key: True}) for key in ("exclusive", "reverse")),
    call("Cumsum", [x(3), k(0, 0)], to(3), INPUT), call("Cumsum", [x(3), k(1)], to(3), REFUSED, "aclnnCumsum"),
    call("LayerNorm", [x(2, 3), x(3), x(3)], [to(2, 3), to(2, 1)], NOT_SUPPORTED, "mean", begin_norm_axis=1),
    call("LayerNorm", [x(2, 3), x(3), x(3)], to(2, 3), INPUT, "gamma has 1", begin_norm_axis=0),
    call("LayerNorm", [x(2, 3), x(3), x(3)], to(2, 3), ATTRIBUTE, "dimension 2", begin_norm_axis=2),
    *(call(name, [x(2, 3), k(0, 0)], to(3, dtype="s64"), INPUT) for name in ("ArgMaxV2", "ArgMin")),
    *(call(name, [x(2, 3), k(2)], to(3, dtype=to_type), REFUSED) for name in ("ArgMaxV2", "ArgMin") for to_type in ("s32", "s64")),
    *(call(name, [x(2, 3)], to(3, dtype="s32"), OUTPUT, "output 1 is missing", dimension=0)
      for name in ("ArgMaxWithValue", "ArgMinWithValue")),
    call("TopKV2", [x(3), k(2)], to(2), OUTPUT, "output 1 is missing"), call("Sort", [x(3)], to(3), OUTPUT, "output 1"),
    call("TopKV2", [x(3), k(4)], [to(4), to(4, dtype="s32")], REFUSED, "aclnnTopk"),
    call("TopKV2", [x(3), k(1, 1)], [to(1), to(1, dtype="s32")], INPUT),
]
NCHW = {"data_format": "NCHW", "pads": [0] * 4, "strides": [1] * 4}


def conv(code, *words, inputs=None, **changed):
    attributes = {key: value for key, value in {**NCHW, **changed}.items() if value is not None}
    return call("Conv2D", inputs or [x(1, 2, 4, 4), x(3, 2, 1, 1)], to(1, 3, 4, 4), code, *words, **attributes)


PRODUCTS = [
    call("MatMul", [x(2), x(2, 2)], to(2), INPUT, "input 0 has 1", transpose_x1=True),
    call("BatchMatMul", [x(2, 2), x(2)], to(2), INPUT, "input 1 has 1", adj_x2=True),
    call("MatMul", [x(2, 3), x(2, 3)], to(2, 3), REFUSED, "aclnnMatmul"),
    call("MatMul", [x(2, 3), x(3, 3), x(4)], to(2, 3), REFUSED, "aclnnAddmm"),
    call("MatMulV2", [x(2, 3), x(3, 3), None, x(1, dtype="s8")], to(2, 3), NOT_SUPPORTED, "offset_w"),
    call("BatchMatMulV2", [x(2, 3), x(3, 3), x(3)], to(2, 3), NOT_SUPPORTED, "bias"),
    call("BatchMatMulV2", [x(2, 3), x(3, 3), None, x(1, dtype="s8")], to(2, 3), NOT_SUPPORTED, "offset_w"),
    *(conv(ATTRIBUTE, key, **{key: value}) for key in ("strides", "dilations") for value in ([1] * 3, [2, 1, 1, 1], [1, 2, 1, 1], [1] * 5)),
    conv(ATTRIBUTE, "pads", pads=None), conv(ATTRIBUTE, "pads", pads=[0] * 3),
    conv(NOT_SUPPORTED, "pads that differ", pads=[0, 1, 0, 0]), conv(NOT_SUPPORTED, "pads that differ", pads=[0, 0, 0, 1]),
    conv(NOT_SUPPORTED, "NHWC", data_format=None), conv(NOT_SUPPORTED, "NHWC", data_format="NHWC"),
    conv(NOT_SUPPORTED, "offset_w", inputs=[x(1, 2, 4, 4), x(3, 2, 1, 1), None, x(1, dtype="s8")]),
    conv(REFUSED, "aclnnConvolution", groups=3),
]


def opened(name, inputs, outputs, code, *words, **attributes):
    return [call(name, inputs, outputs, code, *words, function=function, **attributes)
            for function in ("aclopInferShape", "aclopExecuteV2", "aclopCompileAndExecuteV2", "aclopExecute")]


SHAPES = [
    *opened("SelectV2", [x(3, dtype="bool"), x(3), x(3)], to(-1), OPEN), *opened("Add", [x(2), x(3)], to(-1), OPEN),
    *opened("Sort", [x(3)], [to(-1), to(3, dtype="s32")], OPEN), *opened("Transpose", [x(2, 3), k(1)], to(-1, -1), OPEN),
    *opened("Transpose", [x(2, 3), k(1, 2)], to(-2), ATTRIBUTE, "dimension 2 of 2"),
    *opened("Transpose", [x(2, 3), x(2, dtype="s64")], to(-1, -1), INPUT, "has to be a constant"),
    *opened("BroadcastTo", [x(1), x(1, dtype="s64")], to(-1), INPUT, "has to be a constant"),
    *opened("BroadcastTo", [x(1), k(*[1] * 9)], to(-1), INPUT, "9 numbers"),
    *opened("MatMul", [x(3), x(3, 2)], to(-1), OPEN), *opened("MatMul", [x(2, 3), x(3)], to(-2), OPEN),
    *opened("MatMul", [x(2, 3), x(3, 2)], to(-2), ATTRIBUTE, "transpose_x1", transpose_x1=1),
]
CALLS = ELEMENTS + MOVES + LINES + PRODUCTS + SHAPES
