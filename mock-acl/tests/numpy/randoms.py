"""Operators that make random numbers, in NumPy: Philox4x32-10 after Random123's description, and what mock-acl/docs/
operators.md says of the sequence. Makers as in calls.py."""
import ctypes

from calls import EVERY, Expect, output, rule
from device import DTYPES, FLOATS, INTEGERS, decode, encode, np
from moves import integer
from reductions import flag

NARROW = ("f32", "f16", "bf16")
DIGITS = {"f32": 24, "f16": 11, "bf16": 8, "f64": 53}
LOW = np.uint64(0xFFFFFFFF)


def philox(counters, key):
    """Four words for each row of four; the key has two."""
    x = [np.asarray(counters[:, k], np.uint64) for k in range(4)]
    first, second = int(key[0]), int(key[1])
    for _ in range(10):
        left, right = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        x = [(right >> np.uint64(32)) ^ x[1] ^ np.uint64(first), right & LOW,
             (left >> np.uint64(32)) ^ x[3] ^ np.uint64(second), left & LOW]
        first, second = (first + 0x9E3779B9) & 0xFFFFFFFF, (second + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(x, axis=1)


# The vectors that Random123 publishes: counter, key, words.
KNOWN = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0],
     [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
]
for known_counter, known_key, known_words in KNOWN:
    assert philox(np.array([known_counter], np.uint64), known_key).tolist() == [known_words]


def blocks(source, count):
    """The words of the first `count` blocks, a row for each."""
    seed, offset = (v & (2**64 - 1) for v in source)
    numbers = np.arange(count, dtype=np.uint64)
    counters = np.stack([numbers & LOW, numbers >> np.uint64(32), np.full(count, offset & 0xFFFFFFFF, np.uint64),
                         np.full(count, offset >> 32, np.uint64)], axis=1)
    return philox(counters, (seed & 0xFFFFFFFF, seed >> 32))


def words(source, count):
    return blocks(source, -(-count // 4)).reshape(-1)[:count]


def long_words(source, count):
    pairs = blocks(source, -(-count // 2)).reshape(-1, 2)[:count]
    return pairs[:, 0] | pairs[:, 1] << np.uint64(32)


def normals(source, count):
    parts = blocks(source, -(-count // 4)).reshape(-1, 2).astype(np.float64)
    radius = np.sqrt(-2 * np.log((parts[:, 0] + 1) / 2**32))
    angle = parts[:, 1] / 2**32 * 2 * np.pi
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1)[:count]


def below(drawn, count):
    return [int(d) * count >> 64 for d in drawn]


def numbers(case):
    """A seed and an offset, small or of all bits."""
    if case.random.random() < 0.5:
        return int(case.random.integers(0, 99)), int(case.random.integers(0, 9)) * 12
    return tuple(int(v) for v in case.random.integers(-2**63, 2**63 - 1, 2))


def source(case, tensors):
    """The source, and the arguments that say it."""
    seed, offset = numbers(case)
    if not tensors:
        return (seed, offset), [integer(seed), integer(offset)]
    more = int(case.random.integers(0, 50))
    shapes = [case.pick([(), (1,)]) for _ in range(2)]
    given = [case.given(np.full(s, v), "s64") for s, v in zip(shapes, (seed, offset))]
    return (seed, offset + more), [*given, integer(more)]


def large(case):
    """Shapes with more than a chunk in a row now and then."""
    if case.random.random() < 0.2:
        return case.pick([(1000,), (3, 300), (257, 2)])
    return case.shape()


def normal(tensors):
    def make(case, dtype):
        shape = large(case)
        mean, std = (float(np.float32(v)) for v in (case.random.normal() * 3, case.random.random() * 4))
        where, arguments = source(case, tensors)
        want = (mean + std * normals(where, int(np.prod(shape)))).reshape(shape)
        want = want if dtype in FLOATS else near(want, dtype)
        return [output(case, want, dtype, abs(mean) + std), ctypes.c_float(mean), ctypes.c_float(std), *arguments]
    return make


def near(values, dtype):
    """Towards zero, at the ends of the type."""
    if dtype == "bool":
        return values != 0
    info = np.iinfo(DTYPES[dtype][1])
    return np.clip(np.trunc(values), info.min, info.max).astype(np.int64)


def normal_out(of_mean, of_std):
    def make(case, dtype):
        shape = large(case)
        tensors = of_mean + of_std == 2
        mean = case.given(encode(case.random.normal(size=case.broadcast(shape) if tensors else shape), "f32"), "f32")
        std = case.given(encode(case.random.random(case.broadcast(shape) if tensors else shape), "f32"), "f32")
        where, arguments = source(case, False)
        a, b = mean[4] if of_mean else 0.5, std[4] if of_std else 2.0
        common = np.broadcast_shapes(np.shape(a), np.shape(b)) if of_mean or of_std else shape
        want = np.float64(a) + np.float64(b) * normals(where, int(np.prod(common))).reshape(common)
        scale = np.abs(a) + np.asarray(b, np.float64)
        return [mean if of_mean else ctypes.c_float(a), std if of_std else ctypes.c_float(b), *arguments,
                output(case, want if dtype in FLOATS else near(want, dtype), dtype, scale)]
    return make


def kept_below(values, dtype, start, end):
    stored = decode(encode(values, dtype), dtype)
    return np.where(stored >= end, start, values)


def uniform(tensors):
    def make(case, dtype):
        shape = large(case)
        count = int(np.prod(shape))
        start = case.pick([0.0, 0.0, -1.0, 0.1, 3.0])
        end = start + case.pick([1.0, 1.0, 0.0, 0.001, 97.5])
        where, arguments = source(case, tensors)
        digits = DIGITS.get(dtype, 53)
        if digits == 53:
            u = (long_words(where, count) >> np.uint64(11)).astype(np.float64) / 2**53
        else:
            u = (words(where, count) >> np.uint64(32 - digits)).astype(np.float64) / 2**digits
        want = start + u * (end - start)
        want = kept_below(want, dtype, start, end) if dtype in FLOATS else near(want, dtype)
        return [output(case, want.reshape(shape), dtype, max(abs(start), abs(end))), ctypes.c_double(start),
                ctypes.c_double(end), *arguments]
    return make


def between(tensors):
    def make(case, dtype):
        shape = large(case)
        start, length = int(case.random.integers(0, 60)), int(case.random.integers(1, 60))
        if dtype == "bool":
            start, length = case.pick([(0, 1), (0, 2), (1, 1)])
        if dtype in ("s64", "f64", "f32", "bf16"):
            start, length = case.pick([(start, length), (-2**62, 2**63 - 1), (-5, 2**40), (2**63 - 9, 8)])
        where, arguments = source(case, tensors)
        want = whole(where, int(np.prod(shape)), start, length, dtype)
        return [output(case, want.reshape(shape), dtype), integer(start), integer(start + length), *arguments]
    return make


def whole(where, count, start, length, dtype):
    drawn = np.array([start + d for d in below(long_words(where, count), length)], np.int64)
    if dtype not in FLOATS:
        return drawn
    return kept_below(drawn.astype(np.float64), dtype, float(start), float(start) + float(length))


def everywhere(tensors):
    def make(case, dtype):
        shape = large(case)
        most = 2**DIGITS[dtype] if dtype in FLOATS else 1 if dtype == "bool" else int(np.iinfo(DTYPES[dtype][1]).max)
        where, arguments = source(case, tensors)
        want = whole(where, int(np.prod(shape)), 0, most + 1, dtype)
        return [output(case, want.reshape(shape), dtype), *arguments]
    return make


def trials(in_place, tensor):
    def make(case, dtype):
        shape = large(case)
        kind = case.pick(FLOATS)
        where, arguments = source(case, False)
        if tensor:
            chances = encode(case.random.random(case.broadcast(shape)) * case.pick([0, 1, 1, 1]), kind)
            prob = case.given(chances, kind)
            chances = decode(chances, kind)
        else:
            chances = case.pick([0.0, 0.25, 0.5, 0.9375, 1.0])
            prob = case.device.scalar(chances, case.pick(FLOATS))
        want = words(where, int(np.prod(shape))).reshape(shape).astype(np.float64) / 2**32 < chances
        out = output(case, want, dtype)
        if in_place:
            return [out, prob, *arguments]
        return [case.operand(shape, case.pick(EVERY)), prob, *arguments, out]
    return make


# ---- dropout ----

def mask_bytes(count):
    return (count + 127) // 128 * 16


def drawn_mask(where, count, chance):
    kept = words(where, count).astype(np.float64) / 2**32 >= chance
    padded = np.zeros(mask_bytes(count) * 8, np.uint8)
    padded[:count] = kept
    return np.packbits(padded, bitorder="little").astype(np.int64)


def chance(case):
    return case.pick([0.0, 0.1, 0.3, 0.5, 0.75, 1.0])


def mask_of(count_of_forms):
    """aclnnDropoutGenMask, V2, V2Tensor."""
    def make(case, dtype):
        shape, prob = large(case), chance(case)
        where, arguments = source(case, count_of_forms == 2)
        kind = case.pick(NARROW)
        used = float(decode(encode(np.array([prob]), kind), kind)[0]) if count_of_forms else prob
        last = [ctypes.c_int(DTYPES[kind][0])] if count_of_forms else []
        want = drawn_mask(where, int(np.prod(shape)), used)
        return [case.device.ints(shape), ctypes.c_double(prob), *arguments, *last, output(case, want, "u8")]
    return make


def bits_of(case, count):
    """A mask of random bits: the operand and what it keeps."""
    given = case.random.integers(0, 256, mask_bytes(count)).astype(np.uint8)
    return case.given(given, "u8"), np.unpackbits(given, bitorder="little")[:count].astype(bool)


def do_mask(case, dtype):
    x, prob = case.operand(large(case), dtype), chance(case)
    mask, kept = bits_of(case, x[4].size)
    kept = kept.reshape(x[4].shape)
    want = x[4] if prob == 0 else np.where(kept & (prob < 1), x[4] * (1 / (1 - np.float64(prob))), 0)
    return [x, mask, ctypes.c_double(prob), output(case, want, case.pick(FLOATS))]


def backward(case, dtype):
    x, scale = case.operand(large(case), dtype), case.pick([0.0, 1.0, 2.0, 1 / 0.7])
    mask, kept = bits_of(case, x[4].size)
    want = x[4] if scale == 1 else np.where(kept.reshape(x[4].shape) & (scale != 0), x[4] * scale, 0)
    return [x, mask, ctypes.c_double(scale), output(case, want, dtype)]


def backward_v3(case, dtype):
    x, scale = case.operand(large(case), dtype), case.pick([0.0, 1.0, 2.0, 1 / 0.7])
    mask, kept = bits_of(case, x[4].size)
    return [x, mask, ctypes.c_double(scale), output(case, x[4] * kept.reshape(x[4].shape) * scale, dtype)]


def dropout(version):
    def make(case, dtype):
        x, prob = case.operand(large(case), dtype), chance(case)
        train = version == 3 or bool(case.random.integers(0, 4))
        where, arguments = source(case, False)
        want, count = x[4], x[4].size
        mask = output(case, drawn_mask(where, count, prob), "u8")
        if not train or prob in (0.0, 1.0):
            mask.want = mask.operand[4].astype(np.int64)  # as it was
        if train and prob == 1.0:
            want = np.zeros(x[4].shape)
        elif train and prob:
            kept = (words(where, count).astype(np.float64) / 2**32 >= prob).reshape(x[4].shape)
            want = np.where(kept, x[4] * (1 / (1 - prob)), 0)
        first = [x, None, ctypes.c_double(prob)] if version == 3 else [x, ctypes.c_double(prob), flag(train)]
        return [*first, *arguments, output(case, want, dtype), mask]
    return make


# ---- choices ----

def permutation(case, dtype):
    n = int(case.random.integers(0, 3 if dtype == "bool" else 120))
    where, arguments = source(case, False)
    order = list(range(n))
    drawn = long_words(where, n)
    for i in range(n - 1, 0, -1):
        j = below(drawn[i:i + 1], i + 1)[0]
        order[i], order[j] = order[j], order[i]
    return [integer(n), *arguments, output(case, np.array(order, np.int64), dtype)]


def unit(drawn):
    return (drawn >> np.uint64(11)).astype(np.float64) / 2**53


def with_replacement(where, weights, count):
    drawn, chosen = unit(long_words(where, len(weights) * count)).reshape(-1, count), []
    for row, u in zip(weights, drawn):
        sums = np.cumsum(row)
        last = np.flatnonzero(row)[-1]
        chosen.append(np.minimum(np.searchsorted(sums, u * sums[-1], side="right"), last))
    return chosen


def without_replacement(where, weights, count):
    drawn = unit(long_words(where, weights.size)).reshape(weights.shape) + 2.0**-53
    return np.argsort(-np.log(drawn) / weights, axis=1, kind="stable")[:, :count]


def multinomial(tensors):
    def make(case, dtype):
        rows, classes = case.pick([None, 1, 3, 5]), int(case.random.integers(1, 60))
        replacement = bool(case.random.integers(0, 2))
        shape = (classes,) if rows is None else (rows, classes)
        weights = decode(encode(case.random.random(shape) * (case.random.random(shape) < 0.7), dtype), dtype)
        weights[..., 0] = 0.5
        fewest = int((weights > 0).sum(-1).min())
        count = int(case.random.integers(1, 70 if replacement else fewest + 1))
        self = case.given(encode(weights, dtype), dtype)
        where, arguments = source(case, tensors)
        draw = with_replacement if replacement else without_replacement
        chosen = np.array(draw(where, weights.reshape(-1, classes), count), np.int64)
        return [self, integer(count), flag(replacement), *arguments,
                output(case, chosen.reshape((*shape[:-1], count)), "s64")]
    return make


def rrelu(inplace):
    def make(case, dtype):
        shape = large(case)
        self = case.operand(shape, dtype)
        lower, upper = case.pick([(0.125, 0.375), (-1.0, 1.0), (0.5, 0.5)])
        training = bool(case.random.integers(0, 2))
        (seed, offset), arguments = source(case, False)
        u = (words((seed, offset), self[4].size) >> np.uint32(8)).astype(np.float64) / 2**24
        drawn = (lower + u * (upper - lower)).reshape(shape)
        noise = case.operand(shape, dtype)
        above = self[4] > 0
        stored = decode(encode(np.where(above, 1, drawn), dtype), dtype) if training else noise[4]
        factor = np.where(above, 1, stored if training else (lower + upper) / 2)
        kept = Expect(noise, stored, dtype)
        numbers_given = [case.device.scalar(v, "f32") for v in (lower, upper)]
        start = [self if not inplace else Expect(self, self[4] * factor, dtype), kept, *numbers_given, flag(training)]
        out = [] if inplace else [output(case, self[4] * factor, dtype)]
        return [*start, *arguments, *out]
    return make


RULES = [
    rule("RReluWithNoise", rrelu(False), FLOATS), rule("InplaceRReluWithNoise", rrelu(True), FLOATS),
    rule("InplaceNormal", normal(False)), rule("InplaceNormalTensor", normal(True)),
    rule("NormalFloatFloat", normal_out(0, 0)), rule("NormalFloatTensor", normal_out(0, 1)),
    rule("NormalTensorFloat", normal_out(1, 0)), rule("NormalTensorTensor", normal_out(1, 1)),
    rule("InplaceUniform", uniform(False)), rule("InplaceUniformTensor", uniform(True)),
    rule("InplaceRandom", between(False)), rule("InplaceRandomTensor", between(True)),
    rule("InplaceRandomWithoutFromTo", everywhere(False)), rule("InplaceRandomWithoutFromToTensor", everywhere(True)),
    rule("InplaceBernoulli", trials(True, False)), rule("InplaceBernoulliTensor", trials(True, True)),
    rule("Bernoulli", trials(False, False)), rule("BernoulliTensor", trials(False, True)),
    rule("DropoutGenMask", mask_of(0)), rule("DropoutGenMaskV2", mask_of(1)), rule("DropoutGenMaskV2Tensor", mask_of(2)),
    rule("DropoutDoMask", do_mask, FLOATS), rule("DropoutBackward", backward, FLOATS),
    rule("DropoutV3Grad", backward_v3, FLOATS), rule("Dropout", dropout(1), FLOATS),
    rule("DropoutV3", dropout(3), FLOATS), rule("Randperm", permutation, EVERY),
    rule("Multinomial", multinomial(False), FLOATS), rule("MultinomialTensor", multinomial(True), FLOATS),
]
