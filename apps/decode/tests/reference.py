#!/usr/bin/env python3
"""The decoder in 64-bit floats, in NumPy, from the definition of the network alone.

reference.py --check    only gets NumPy, as the tests of the mock's operators do
reference.py < JOB      JOB is a JSON object: config (as config.json), seed or file, dtype (f32, f16, bf16), tokens

Prints a JSON object with `logits`: those behind each of the tokens. Ends with 77 when NumPy cannot be had.
"""
import json
import math
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.append(os.path.join(ROOT, "mock-acl/tests/numpy"))
sys.dont_write_bytecode = True
try:
    from device import np, decode, encode  # noqa: E402
except (ImportError, OSError, subprocess.CalledProcessError) as error:
    print(f"NumPy cannot be had: {error}", file=sys.stderr)
    sys.exit(77)

U64 = np.uint64
STEP = 0x9E3779B97F4A7C15


def mix(z):
    """The finalizer of SplitMix64."""
    z = z + U64(STEP)
    z = (z ^ (z >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> U64(27))) * U64(0x94D049BB133111EB)
    return z ^ (z >> U64(31))


def fnv(text):
    """FNV-1a."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


class Made:
    """Random weights: see the README."""

    def __init__(self, seed, dtype):
        self.seed, self.dtype = seed, dtype

    def tensor(self, name, shape, kind):
        key = mix(np.array([self.seed], U64)) ^ U64(fnv(name))
        bits = mix(key + np.arange(math.prod(shape), dtype=U64) * U64(STEP)) >> U64(40)
        number = (bits.astype(np.int64) - 2**23).astype(np.float32) / np.float32(2**23)
        spread = {"table": 1.0, "norm": 0.25}.get(kind) or math.sqrt(3 / shape[1])
        middle = np.float32(1 if kind == "norm" else 0)
        number = middle + np.float32(spread) * number
        return decode(encode(number, self.dtype), self.dtype).reshape(shape)


class Stored:
    """A safetensors file."""

    TYPES = {"F32": ("f32", "<f4"), "F16": ("f16", "<f2"), "BF16": ("bf16", "<u2")}

    def __init__(self, path):
        self.data = open(path, "rb").read()
        length = int.from_bytes(self.data[:8], "little")
        self.header, self.start = json.loads(self.data[8:8 + length]), 8 + length

    def tensor(self, name, shape, kind):
        info = self.header[name]
        assert info["shape"] == list(shape), name
        dtype, stored = self.TYPES[info["dtype"]]
        first, last = (self.start + offset for offset in info["data_offsets"])
        return decode(np.frombuffer(self.data[first:last], stored), dtype).reshape(shape)


class Model:
    def __init__(self, config, source):
        self.config, self.source = config, source
        self.hidden, self.heads = config["hidden_size"], config["num_attention_heads"]
        self.pairs = config.get("num_key_value_heads", self.heads)
        self.width = config.get("head_dim", self.hidden // self.heads)
        self.eps, self.theta = config["rms_norm_eps"], config.get("rope_theta", 10000.0)
        rows = (config["vocab_size"], self.hidden)
        self.words = source.tensor("model.embed_tokens.weight", rows, "table")
        tied = config.get("tie_word_embeddings", False)
        self.out = self.words if tied else source.tensor("lm_head.weight", rows, "linear")

    def linear(self, x, name, outputs):
        return x @ self.source.tensor(name + ".weight", (outputs, x.shape[1]), "linear").T

    def norm(self, x, name):
        weight = self.source.tensor(name + ".weight", (self.hidden,), "norm")
        return x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + self.eps) * weight

    def turn(self, x):
        """x[place, head, width]: element i and element i + width / 2 by the angle of the place."""
        half = self.width // 2
        angle = np.outer(np.arange(len(x)), self.theta ** (-2 * np.arange(half) / self.width))[:, None, :]
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], -1)

    def attention(self, x, layer):
        count = len(x)
        q, k, v = (self.linear(x, f"{layer}.self_attn.{name}_proj", heads * self.width).reshape(count, heads, -1)
                   for name, heads in (("q", self.heads), ("k", self.pairs), ("v", self.pairs)))
        q, k = self.turn(q), self.turn(k)
        out = np.zeros_like(q)
        for head in range(self.heads):
            pair = head // (self.heads // self.pairs)
            scores = q[:, head] @ k[:, pair].T / math.sqrt(self.width)
            scores[np.triu_indices(count, 1)] = -np.inf
            share = np.exp(scores - scores.max(axis=1, keepdims=True))
            out[:, head] = share / share.sum(axis=1, keepdims=True) @ v[:, pair]
        return self.linear(out.reshape(count, -1), f"{layer}.self_attn.o_proj", self.hidden)

    def feed_forward(self, x, layer):
        wide = self.config["intermediate_size"]
        gate = self.linear(x, f"{layer}.mlp.gate_proj", wide)
        up = self.linear(x, f"{layer}.mlp.up_proj", wide)
        return self.linear(gate / (1 + np.exp(-gate)) * up, f"{layer}.mlp.down_proj", self.hidden)

    def logits(self, tokens):
        x = self.words[tokens]
        for index in range(self.config["num_hidden_layers"]):
            layer = f"model.layers.{index}"
            x = x + self.attention(self.norm(x, f"{layer}.input_layernorm"), layer)
            x = x + self.feed_forward(self.norm(x, f"{layer}.post_attention_layernorm"), layer)
        return self.norm(x, "model.norm") @ self.out.T


def main():
    if sys.argv[1:] == ["--check"]:
        print(f"NumPy {np.__version__}")
        return
    job = json.load(sys.stdin)
    source = Stored(job["file"]) if "file" in job else Made(job["seed"], job["dtype"])
    with np.errstate(over="ignore"):
        logits = Model(job["config"], source).logits(job["tokens"])
    json.dump({"logits": logits.tolist()}, sys.stdout)


main()
