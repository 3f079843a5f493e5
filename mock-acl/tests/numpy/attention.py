"""Attention in NumPy: softmax(scale * Q K^T + shift) V over what a row may see, one row after the other."""
import ctypes

from device import decode, encode, np

from calls import output, rule
from moves import integer

NARROW = ("f16", "bf16", "f32")
ORDERS = {"BSH": (0, 2, 1, 3), "BSND": (0, 2, 1, 3), "BNSD": (0, 1, 2, 3), "SBH": (2, 0, 1, 3)}
FAR = 2147483647
NONE = None


def laid(values, layout):
    """[B, N, S, D] in a layout."""
    turned = values.transpose(ORDERS[layout])
    first, second, heads, dim = turned.shape
    return turned.reshape(first, second, heads * dim) if layout.endswith("H") else turned


def numbers(case, shape, dtype, edges=(np.nan,)):
    values = case.random.standard_normal(shape)
    if case.random.random() < 0.15 and values.size:
        values.flat[case.random.integers(0, values.size)] = case.pick(edges)
    return decode(encode(values, dtype), dtype)


def given(case, values, dtype):
    return case.given(encode(values, dtype), dtype)


def rounded_up(case, count):
    return count + (int(case.random.integers(0, 3)) if case.random.random() < 0.3 else 0)


class Setup:
    """One call: its tensors and what has to come. Options: one_row, training, listed, plain (no mode), lengths."""

    def __init__(self, case, dtype, **options):
        self.case, self.dtype, self.options = case, dtype, options
        pick, random = case.pick, case.random
        self.heads_kv = pick([1, 1, 2, 3])
        self.heads = self.heads_kv * pick([1, 1, 2, 4])
        self.batch, self.dim = pick([1, 1, 2, 3]), pick([1, 3, 8, 16, 40])
        self.dim_v = pick([self.dim, self.dim, 1, 7])
        self.rows = 1 if options.get("one_row") else pick([1, 2, 5, 17, 40, 70])
        self.keys = [0 if random.random() < 0.04 else pick([1, 3, 9, 33, 80])] * self.batch
        layouts = ["BSH", "BSND", "BNSD"] + (["SBH"] if options.get("training") else [])
        self.layout = self.out_layout = pick(layouts)
        if options.get("two") and self.layout == "BNSD" and random.random() < 0.4:
            self.out_layout = "BSND"
        self.name = self.layout if self.layout == self.out_layout else "BNSD_BSND"
        self.scale = pick([1.0, 0.25, 1 / np.sqrt(self.dim)])
        self.values()
        self.lengths()
        self.mask()
        self.shift()
        self.compute()

    def values(self):
        case, dtype = self.case, self.dtype
        self.parted = self.options.get("listed") and case.random.random() < 0.4
        if self.parted:
            self.keys = [case.pick([0, 1, 4, 9, 33]) for _ in range(self.batch)]
        self.most = max(self.keys)
        self.q = numbers(case, (self.batch, self.heads, self.rows, self.dim), dtype)
        self.k = [numbers(case, (1, self.heads_kv, n, self.dim), dtype) for n in self.keys]
        self.v = [numbers(case, (1, self.heads_kv, n, self.dim_v), dtype, (np.nan, np.inf)) for n in self.keys]

        def tensors(parts):
            whole = parts if self.parted else [np.concatenate(parts)]
            made = [given(case, laid(p, self.layout), dtype) for p in whole]
            return made if self.options.get("listed") else made[0]
        self.query = given(case, laid(self.q, self.layout), dtype)
        self.key, self.value = tensors(self.k), tensors(self.v)

    def some_lengths(self, whole):
        """None, one for all or one for each, and what they mean."""
        case, way = self.case, self.case.random.random()
        if way < 0.5:
            return NONE, whole
        if way < 0.7:
            one = int(case.random.integers(0, min(whole) + 1))
            return case.device.ints([one]), [one] * self.batch
        each = [int(case.random.integers(0, n + 1)) for n in whole]
        return case.device.ints(each + ([1] if self.batch > 1 and case.random.random() < 0.3 else [])), each

    def lengths(self):
        self.q_ints, self.q_lengths = NONE, [self.rows] * self.batch
        self.kv_ints, self.kv_lengths = NONE, self.keys
        if "q" in self.options.get("lengths", ""):
            self.q_ints, lengths = self.some_lengths(self.q_lengths)
            self.q_lengths = self.q_lengths if self.rows == 1 else lengths
        if "k" in self.options.get("lengths", ""):
            self.kv_ints, self.kv_lengths = self.some_lengths(self.keys)

    def full_mask(self):
        case, wide, rows = self.case, rounded_up(self.case, self.most), rounded_up(self.case, self.rows)
        leading = case.pick([(), (1,), (self.batch,), (1, 1), (self.batch, 1)])
        if self.options.get("training"):
            leading = case.pick([(), (1, 1), (self.batch, 1), (self.batch, self.heads)])
        shape = (*leading, rows, wide)
        if self.rows == 1:
            shape = case.pick([(self.batch, wide), (self.batch, 1, wide), (self.batch, 1, 1, wide), (1, wide)])
        mask = case.random.random(shape) < case.pick([0.1, 0.5, 0.9])
        self.mask_operand = case.given(mask.astype(np.uint8), case.pick(["bool", "u8", "s8"]))
        if mask.ndim == 2 and self.rows == 1:
            mask = mask[:, None, None, :]
        while mask.ndim < 4:
            mask = mask[None] if mask.ndim == 2 else mask[:, None]
        return np.broadcast_to(mask[:, :, :self.rows, :self.most],
                               (self.batch, self.heads, self.rows, self.most))

    def mask(self):
        case, training = self.case, self.options.get("training")
        self.hidden = np.zeros((self.batch, self.heads, self.rows, self.most), bool)
        self.mask_operand, self.mode, self.before, self.after = NONE, 0, FAR, FAR
        if self.options.get("one_row"):
            if case.random.random() < 0.5:
                self.hidden = self.full_mask()
            return
        self.mode = 0 if self.options.get("plain") else case.pick([0, 0, 1, 2, 3])
        self.before, self.after = (case.pick([FAR, 0, 3, 20]) for _ in range(2))
        if self.mode == 0 and case.random.random() < 0.4 or training and case.random.random() < 0.2:
            return
        i, j = np.arange(self.rows)[:, None], np.arange(self.most)[None]
        band = self.rows > 1 or training
        if self.mode in (0, 1):
            self.hidden = self.full_mask()
            if band and self.mode == 0:
                self.hidden = self.hidden | (j < i - self.before) | (j > i + self.after)
            return
        # What stands in a mask of these modes has no effect: it is expected to be the triangle.
        whole = case.given(np.triu(np.ones((2048, 2048), np.uint8), 1), "u8")
        self.mask_operand = whole
        if not band:
            return
        for b in range(self.batch):
            ahead = self.kv_lengths[b] - self.q_lengths[b] if self.mode == 3 else 0
            self.hidden[b] = j > i + ahead

    def shift(self):
        case = self.case
        self.shift_operand, self.moved = NONE, 0
        if case.random.random() < 0.6:
            return
        rows, wide = rounded_up(case, self.rows), rounded_up(case, self.most)
        shape = (case.pick([1, self.batch]), self.heads, 1 if self.options.get("training") else rows, wide)
        shift = numbers(case, shape, self.dtype)
        self.shift_operand = given(case, shift, self.dtype)
        self.moved = np.broadcast_to(shift[:, :, :self.rows, :self.most], self.hidden.shape)

    def compute(self):
        shape = (self.batch, self.heads, self.rows)
        self.out, self.size = np.zeros((*shape, self.dim_v)), np.zeros((*shape, self.dim_v))
        self.top, self.sum = np.full(shape, -np.inf), np.zeros(shape)
        scale = np.float64(np.float32(self.scale))
        for b, n, i in np.ndindex(shape):
            if i >= self.q_lengths[b]:
                continue
            seen = ~self.hidden[b, n, i, :self.kv_lengths[b]]
            if not seen.any():
                continue
            group = self.heads // self.heads_kv
            k = self.k[b][0, n // group, :self.kv_lengths[b]][seen]
            v = self.v[b][0, n // group, :self.kv_lengths[b]][seen]
            x = k @ self.q[b, n, i]
            shift = self.moved[b, n, i, :self.kv_lengths[b]][seen] if self.shift_operand else 0
            x = scale * (x + shift) if self.options.get("shift_first") else scale * x + shift
            top = x.max()
            p = np.exp(x - top)
            self.top[b, n, i], self.sum[b, n, i] = top, p.sum()
            # Sums in the order of the products: infinities come out as they do one by one.
            self.out[b, n, i] = (p[:, None] * v).sum(0) / p.sum()
            error = 1 + 0.3 * scale * (np.abs(k) @ np.abs(self.q[b, n, i])).max()
            self.size[b, n, i] = (p[:, None] * np.abs(v)).sum(0) / p.sum() * error
        self.size = np.where(np.isfinite(self.size), self.size, 1)

    def result(self):
        scale = laid(self.size, self.out_layout)
        return output(self.case, laid(self.out, self.out_layout), self.dtype, scale)

    def text(self):
        return ctypes.c_char_p(self.name.encode())

    def wide(self, values, count):
        spread = np.repeat(values[..., None], count, -1)
        near = np.where(np.isfinite(spread), np.abs(spread), 0) + 8
        return output(self.case, spread, "f32", near)


def number(value):
    return ctypes.c_double(value)


def prompt(version):
    def make(case, dtype):
        s = Setup(case, dtype, plain=version == 1, two=True, lengths="q" if version == 1 else "qk")
        quantised = [] if version == 1 else [NONE] * 5
        lengths = [s.q_ints] if version == 1 else [s.q_ints, s.kv_ints]
        modes = {1: [], 2: [integer(s.mode)], 3: [integer(s.mode), integer(case.pick([0, 1, 2, 3]))]}[version]
        heads = case.pick([0, s.heads_kv]) if s.heads == s.heads_kv else s.heads_kv
        return [s.query, s.key, s.value, s.shift_operand, s.mask_operand, *lengths, *quantised, integer(s.heads),
                number(s.scale), integer(s.before), integer(s.after), s.text(), integer(heads), *modes, s.result()]
    return make


def increment(version):
    def make(case, dtype):
        s = Setup(case, dtype, one_row=True, listed=True, lengths="k")
        missing = [NONE] * {1: 0, 2: 5, 3: 8, 4: 9}[version]
        sizes = [] if version < 3 else [integer(0), integer(1)]
        return [s.query, s.key, s.value, s.shift_operand, s.mask_operand, s.kv_ints, *missing, integer(s.heads),
                number(s.scale), s.text(), integer(s.heads_kv), *sizes, s.result()]
    return make


def fused(version):
    def make(case, dtype):
        s = Setup(case, dtype, listed=True, two=True, lengths="qk")
        missing = [NONE] * {1: 10, 2: 17, 3: 20, 4: 22, 5: 24}[version]
        wanted = bool(case.random.integers(0, 2))
        lse = [s.wide(s.top + np.log(s.sum), 1)] if wanted else [NONE]
        modes = [integer(0)] * {1: 0, 2: 2, 3: 2, 4: 3, 5: 4}[version]
        return [s.query, s.key, s.value, s.shift_operand, s.mask_operand, s.q_ints, s.kv_ints, *missing,
                integer(s.heads), number(s.scale), integer(s.before), integer(s.after), s.text(),
                integer(s.heads_kv), integer(s.mode), integer(0), integer(0), integer(0), ctypes.c_bool(wanted),
                *modes, s.result(), *lse]
    return make


def training(version):
    def make(case, dtype):
        kind = case.pick([0, 1])
        s = Setup(case, dtype, training=True, shift_first=version == 1 or kind == 1)
        more = [] if version == 1 else [NONE, NONE]
        last = [] if version == 1 else [integer(kind)]
        return [s.query, s.key, s.value, s.shift_operand, NONE, NONE, s.mask_operand, NONE, *more, number(s.scale),
                number(1), integer(s.before), integer(s.after), integer(s.heads), s.text(), integer(0),
                integer(s.mode), *last, s.wide(s.top, 8), s.wide(s.sum, 8), NONE, s.result()]
    return make


def rules(name, maker, versions):
    return [rule(name + (f"V{v}" if v > 1 else ""), maker(v), types=NARROW) for v in range(1, versions + 1)]


RULES = [*rules("PromptFlashAttention", prompt, 3), *rules("IncreFlashAttention", increment, 4),
         *rules("FusedInferAttentionScore", fused, 5), *rules("FlashAttentionScore", training, 2)]
