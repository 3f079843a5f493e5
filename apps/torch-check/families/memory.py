"""What the allocator says, frees and keeps."""

import gc

import torch

from torchcheck import check, close, floats

MEGA = 1 << 20


def fresh():
    gc.collect()
    torch.npu.synchronize()
    torch.npu.empty_cache()
    return torch.npu.memory_allocated()


@check
def allocated_and_given_back():
    before = fresh()
    x = torch.empty(MEGA, dtype=torch.uint8, device="npu")
    assert torch.npu.memory_allocated() - before in (MEGA, MEGA + 512)
    del x
    assert torch.npu.memory_allocated() == before


@check
def reserved_and_emptied():
    fresh()
    x = torch.empty(64 * MEGA, dtype=torch.uint8, device="npu")
    reserved = torch.npu.memory_reserved()
    del x
    torch.npu.synchronize()
    torch.npu.empty_cache()
    assert torch.npu.memory_reserved() < reserved


@check
def the_peak():
    before = fresh()
    torch.npu.reset_peak_memory_stats()
    x = torch.empty(8 * MEGA, dtype=torch.uint8, device="npu")
    del x
    assert torch.npu.max_memory_allocated() >= before + 8 * MEGA


@check
def free_and_total():
    free, total = torch.npu.mem_get_info()
    assert 0 < free <= total
    x = torch.empty(512 * MEGA, dtype=torch.uint8, device="npu")
    assert torch.npu.mem_get_info()[0] < free or torch.npu.memory_reserved() > 512 * MEGA
    del x


@check
def summary():
    assert "Allocated memory" in torch.npu.memory_summary()


@check
def stats():
    stats = torch.npu.memory_stats()
    assert stats["allocated_bytes.all.current"] == torch.npu.memory_allocated()


@check
def snapshot():
    x = torch.empty(3 * MEGA, dtype=torch.uint8, device="npu")
    assert any(segment["allocated_size"] >= 3 * MEGA for segment in torch.npu.memory_snapshot())
    del x


@check
def history():
    torch.npu.memory._record_memory_history()
    x = torch.empty(3 * MEGA, dtype=torch.uint8, device="npu")
    history = torch.npu.memory._snapshot()
    torch.npu.memory._record_memory_history(enabled=None)
    assert history["segments"]
    del x


@check
def too_much():
    try:
        torch.empty(1 << 45, dtype=torch.uint8, device="npu")
    except RuntimeError as error:
        assert "out of memory" in str(error).lower()
    else:
        raise AssertionError("32 TiB were given")
    close(torch.ones(2, device="npu") + 1, torch.full((2,), 2.0))


@check
def a_fraction():
    torch.npu.set_per_process_memory_fraction(0.01)
    try:
        torch.empty(2048 * MEGA, dtype=torch.uint8, device="npu")
    except RuntimeError as error:
        assert "out of memory" in str(error).lower()
    else:
        raise AssertionError("2 GiB of 0.6 were given")
    finally:
        torch.npu.set_per_process_memory_fraction(1.0)


@check
def blocks_are_used_again():
    fresh()
    x = torch.empty(5 * MEGA, dtype=torch.uint8, device="npu")
    where = x.data_ptr()
    del x
    y = torch.empty(5 * MEGA, dtype=torch.uint8, device="npu")
    assert y.data_ptr() == where


@check
def growing_and_shrinking():
    for size in (1, 3, 7, 40, 5, 90, 2):
        x = torch.full((size * MEGA,), 1, dtype=torch.uint8, device="npu")
        assert x[-1].item() == 1
        del x
    fresh()


@check
def many_small_ones():
    kept = [torch.full((index + 1,), float(index), device="npu") for index in range(500)]
    assert all(each[0].item() == index for index, each in enumerate(kept))


@check
def raw_allocation():
    where = torch.npu.caching_allocator_alloc(4096)
    assert where
    torch.npu.caching_allocator_delete(where)


@check
def a_pool():
    pool = torch.npu.MemPool()
    with torch.npu.use_mem_pool(pool):
        x = torch.ones(1000, device="npu")
    close(x * 2, torch.full((1000,), 2.0))


@check
def pinned():
    x = torch.empty(MEGA, pin_memory=True)
    assert x.is_pinned()
    stats = torch.npu.host_memory_stats()
    assert stats
    del x
    torch.npu.host_empty_cache()


@check
def backend():
    assert torch.npu.get_allocator_backend() == "native"


@check
def streams_keep_their_blocks():
    stream = torch.npu.Stream()
    with torch.npu.stream(stream):
        x = torch.full((MEGA,), 3.0, device="npu")
        y = x * 2
    del x
    z = torch.full((MEGA,), 7.0, device="npu")
    stream.synchronize()
    close(y[:5], torch.full((5,), 6.0))
    close(z[:5], torch.full((5,), 7.0))


@check
def a_parameter_swapped():
    import torch_npu

    x = torch_npu.empty_with_swapped_memory((100,), dtype=torch.float32, device="npu:0")
    x.fill_(2)
    close(x + floats(100).npu(), floats(100) + 2)
