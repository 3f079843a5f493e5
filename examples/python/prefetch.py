"""A weight is moved to the L2 cache while a product runs: eagerly, and inside a captured graph.

`out = ((|x + 1| · |x + 1|) · y)`; a side stream prefetches y.
"""

import torch
import torch_npu
from shared import N, keep, numbers


def step(x, y, side):
    main = torch.npu.current_stream()
    moved = x + 1
    side.wait_stream(main)
    with torch.npu.stream(side):
        torch_npu.npu_prefetch(y, moved, y.numel() * y.element_size())
    size = moved.abs()
    out = (size @ size) @ y
    main.wait_stream(side)
    return out


host_x, host_y = numbers(1, N, N), numbers(2, N, 1)
size = (host_x + 1).abs()
expected = (size @ size) @ host_y

x, y, side = host_x.npu(), host_y.npu(), torch.npu.Stream()
keep("prefetch-eager", step(x, y, side), expected)

graph = torch.npu.NPUGraph()
with torch.npu.graph(graph):
    out = step(x, y, side)
graph.replay()
keep("prefetch-captured", out, expected)
