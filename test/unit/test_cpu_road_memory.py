"""The arena's packing, and loop nests' plans, as data."""

from __future__ import annotations

import random
import time

import pytest

from kc.bindings import ir
from kc.builder.arena import Interval, pack, peak
from kc.builder.loop_nest import Access, Loop, Nest
from kc.context import make_context


@pytest.mark.parametrize("seed", range(8))
def test_no_two_live_buffers_overlap(seed):
    generator = random.Random(seed)
    intervals = []
    for _ in range(300):
        start = generator.randrange(1000)
        intervals.append(
            Interval(start, start + generator.randrange(1, 80), generator.choice([1, 64, 100, 4096, 70000]))
        )
    offsets, total = pack(intervals, 64)
    assert all(offset % 64 == 0 for offset in offsets)
    for i, (a, low) in enumerate(zip(intervals, offsets, strict=True)):
        assert low + a.size <= total
        for b, other in zip(intervals[:i], offsets[:i], strict=True):
            if a.start <= b.end and b.start <= a.end:
                assert low + a.size <= other or other + b.size <= low, (a, low, b, other)
    assert peak(intervals) <= total <= 1.25 * peak(intervals)


def test_a_chain_needs_two_places():
    chain = [Interval(i, i + 1, 256) for i in range(50)]
    assert pack(chain, 64)[1] == 512 == peak(chain)
    assert pack([], 64) == ([], 0)


def test_many_live_buffers_pack_quickly():
    generator = random.Random(3)
    intervals = [Interval(i, 2500 + generator.randrange(2500), generator.randrange(1, 1 << 16)) for i in range(2500)]
    started = time.process_time()
    pack(intervals, 64)
    assert time.process_time() - started < 4


def _nest(shape, maps, kinds, outputs=1, cost=4):
    """A nest over memrefs whose axes step with the dims in ``maps``; -1 in ``shape`` is known at run time only."""
    context = make_context()
    with context, ir.Location.unknown():
        text = ", ".join(
            f"%a{i}: memref<{''.join(('?' if shape[d] < 0 else str(shape[d])) + 'x' for d in dims)}f32>"
            for i, dims in enumerate(maps)
        )
        module = ir.Module.parse(f"func.func @f({text}, %n: index) {{ return }}")
        arguments = module.body.operations[0].regions[0].blocks[0].arguments
        sizes = [arguments[len(maps)] if size < 0 else size for size in shape]
        loops = [Loop(size, kind == "p", (d,)) for d, (size, kind) in enumerate(zip(sizes, kinds, strict=True))]
        accesses = [Access(arguments[i], tuple(ir.AffineDimExpr.get(d) for d in dims)) for i, dims in enumerate(maps)]
        nest = Nest(loops, accesses, outputs, cost)
        nest.plan(grain=16384, min_work=131072)
    return nest, (context, module)


def order(nest):
    return [loop.sources[0] for loop in nest.loops]


def test_loop_orders():
    matmul, _keep = _nest((64, 32, 16), ((0, 2), (2, 1), (0, 1)), "ppr")
    assert order(matmul) == [0, 2, 1] and not matmul.in_registers
    transposed, _keep = _nest((64, 32, 16), ((0, 2), (1, 2), (0, 1)), "ppr")
    assert order(transposed) == [0, 1, 2] and transposed.in_registers
    columns, _keep = _nest((64, 32), ((0, 1), (1,)), "rp")
    assert order(columns) == [0, 1] and not columns.in_registers
    reads_across, _keep = _nest((64, 32), ((1, 0), (1, 0), (0, 1)), "pp")
    assert order(reads_across) == [1, 0]


def test_chunks():
    small, _keep = _nest((8, 8), ((0, 1), (0, 1)), "pp")
    assert small.chunks is None
    long, _keep = _nest((1 << 20,), ((0,), (0,)), "p")
    assert long.chunks is not None and (long.chunks.count, long.chunks.tile) == (1, 4096)
    rows, _keep = _nest((4, 1 << 20), ((0, 1), (1,), (0, 1)), "ppp"[:2])
    assert rows.chunks is not None and rows.chunks.count == 2 and rows.chunks.tile == 4096
    narrow, _keep = _nest((100000, 8), ((0, 1), (1,), (0, 1)), "pp")
    assert narrow.chunks is not None and narrow.chunks.count == 1 and narrow.chunks.tile >= 128
    dynamic, _keep = _nest((-1, -1), ((0, 1), (1,), (0, 1)), "pp")
    assert dynamic.chunks is not None and dynamic.chunks.count == 2 and dynamic.chunks.tile == 4096
    inner, _keep = _nest((64, -1, 512), ((0, 1, 2), (0, 1)), "ppr")
    assert inner.chunks is not None and inner.chunks.count == 1 and inner.chunks.tile is None
    everything, _keep = _nest((1 << 20,), ((0,), ()), "r")
    assert everything.chunks is None
    overwritten, _keep = _nest((1 << 20, 4), ((0, 1), (1,)), "pp")
    assert overwritten.chunks is None
