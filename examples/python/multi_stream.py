"""Three streams and two events inside a captured graph.

Stream "1" waits by an event for the sum on the main stream, stream "2" for the product there.
"""

import torch
from shared import N, keep, numbers

host = [numbers(seed, N, N) for seed in (11, 12, 13, 14)]
a, b, c, d = (matrix.npu() for matrix in host)
one, two = torch.npu.Stream(), torch.npu.Stream()
added, multiplied = torch.npu.Event(), torch.npu.Event()

graph = torch.npu.NPUGraph()
with torch.npu.graph(graph):
    main = torch.npu.current_stream()
    total = a + b
    added.record()
    with torch.npu.stream(one):
        added.wait()
        product_1 = total @ d

    product = a @ b
    multiplied.record()
    with torch.npu.stream(two):
        multiplied.wait()
        sum_2 = product + c

    three = torch.ones(N, N, device="npu") + 2
    main.wait_stream(one)
    main.wait_stream(two)
graph.replay()

a, b, c, d = host
keep("streams-sum", total, a + b)
keep("streams-product-1", product_1, (a + b) @ d)
keep("streams-product", product, a @ b)
keep("streams-sum-2", sum_2, a @ b + c)
keep("streams-three", three, torch.full((N, N), 3.0))
