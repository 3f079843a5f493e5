"""A graph whose input has a fixed address: each run writes new numbers there and replays.

`x = tanh(x · w)` for each of eight weights.
"""

import torch
from shared import keep, numbers

LAYERS, WIDTH, RUNS = 8, 64, 3


def layers(x, weights):
    for weight in weights:
        x = torch.tanh(x @ weight)
    return x


host = [numbers(100 + layer, WIDTH, WIDTH) for layer in range(LAYERS)]
weights = [weight.npu() for weight in host]
x = torch.zeros(1, WIDTH, device="npu")
graph = torch.npu.NPUGraph()
with torch.npu.graph(graph):
    y = layers(x, weights)
for run in range(RUNS):
    new = numbers(200 + run, 1, WIDTH)
    x.copy_(new)
    graph.replay()
    keep(f"static-run-{run}", y, layers(new, host))
