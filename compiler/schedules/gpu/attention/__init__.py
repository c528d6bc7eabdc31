"""Attention on Hopper's tensor cores: softmax(score(Q K^T)) V without the score matrix in memory.

The structure is FlashAttention-3's (Shah et al., 2024): a producer warpgroup feeds rings of key and value tiles, two
consumer warpgroups hold 64 query rows each, and the softmax of one step runs under the value product of the step
before. Tiles are handed out dynamically, longest first. Measured on an H200 against cuDNN (bf16, causal, 4096 x 128):
1.15.

Dynamic hand-out counts in a word of global memory. A kernel module has ``SLOTS`` of them, a launch takes the one that a
program-wide launch number selects, and every launch leaves its word at zero; so launches on several streams do not
meet.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from kc.builder.gpu import Value, const, if_
from kc.builder.gpu_module import TENSOR_MAP, Device, Host, Parameter
from kc.kernels.expr import Attention, Kernel
from kc.schedules.gpu.access import ONE, Extent, supported
from kc.schedules.gpu.arguments import Arguments, DeviceArguments
from kc.schedules.gpu.attention.config import BLOCK_ROWS, THREADS, WARPGROUP_ROWS, Config
from kc.schedules.gpu.attention.kernel import AttentionBody
from kc.schedules.gpu.attention.problem import Problem, Tensor
from kc.schedules.gpu.features import Features

__all__ = ["AttentionSchedule"]

SLOTS = 1024
_L2_BYTES = 32 << 20  # keys and values of the heads that are worked on at once
_SLAB = 64


@dataclasses.dataclass(frozen=True)
class AttentionSchedule:
    """``config`` and the size of the persistent grid."""

    config: Config
    multiprocessors: int = 132

    @classmethod
    def pick(cls, kernel: Kernel, features: Features) -> AttentionSchedule | None:
        """None unless bf16 or f16, depth 64 or 128, depth contiguous, pitches of a multiple of 16 bytes, on sm_90a."""
        if not isinstance(kernel, Attention) or not features.hopper or not supported(kernel.operands):
            return None
        problem = Problem.of(kernel)
        return cls(Config.pick(problem), features.multiprocessors) if problem else None

    def build(self, kernel: Attention, module: Any) -> None:
        """Inserts ``@K_device`` and ``@K__impl`` into ``module``."""
        location = module.location
        problem = Problem.of(kernel)
        assert problem is not None
        tensors = (problem.query, problem.key, problem.value, problem.output)
        maps = [Parameter(f"map_{name}", TENSOR_MAP) for name in ("query", "key", "value", "output")]
        arguments = Arguments(kernel, kernel.dims, _extents(problem), maps)
        parameters = [*arguments.parameters, Parameter("slot", "i32"), Parameter("heads", "i32")]
        with location:
            device = Device(module, kernel, parameters, THREADS, counters=SLOTS)
            with device.body:
                body = AttentionBody(self.config, kernel, problem, DeviceArguments(arguments, device), location)
                body.build()
            host = Host(module, kernel)
            with host.body:
                tiles = self._tiles(host, arguments, problem)
                with if_(tiles.ne(0)):
                    rows = (WARPGROUP_ROWS, self.config.keys, self.config.keys, WARPGROUP_ROWS)
                    encoded = [
                        _map(host, arguments, problem, tensor, box) for tensor, box in zip(tensors, rows, strict=True)
                    ]
                    values = arguments.host_values(host, encoded)
                    host.launch(
                        device,
                        tiles.minimum(self.multiprocessors),
                        [*values, host.sequence(SLOTS), self._heads(host, arguments, problem)],
                        self.config.shared_bytes,
                    )

    def _tiles(self, host: Host, arguments: Arguments, problem: Problem) -> Value:
        rows = (arguments.host_extent(host, problem.queries) + (BLOCK_ROWS - 1)) // BLOCK_ROWS
        return rows * arguments.host_extent(host, _product(problem.batch_sizes))

    def _heads(self, host: Host, arguments: Arguments, problem: Problem) -> Value:
        """How many heads are worked on at once (i32): as many as keep their keys and values in L2."""
        all_heads = arguments.host_extent(host, _product(problem.batch_sizes))
        shared = [
            size
            for loop, size in zip(problem.batch, problem.batch_sizes, strict=True)
            if not any(loop in group for group in problem.key.groups)
        ]
        sharing = arguments.host_extent(host, _product(tuple(shared)))  # query heads with the same keys
        bytes_a_head = arguments.host_extent(host, problem.keys) * (problem.depth * 4)
        fit = const(_L2_BYTES, "i64") // bytes_a_head * sharing
        at_least_one = fit.eq(0).select(const(1, "i64"), fit)
        return at_least_one.minimum(all_heads).trunc("i32")


def _product(sizes: tuple[Extent, ...]) -> Extent:
    result = ONE
    for size in sizes:
        result = result * size
    return result


def _extents(problem: Problem) -> list[Extent]:
    result = [*problem.batch_sizes, problem.queries, problem.keys]
    for item in problem.loads.values():
        result += [*item.strides, *(stride for _, stride in item.constants)]
    return result


def _map(host: Host, arguments: Arguments, problem: Problem, tensor: Tensor, rows: int) -> Value:
    """(64 of depth, sequence, depth / 64, batch groups..): a tile with all its depth is one box, whatever the
    layout."""

    def value(extent: Extent) -> Value:
        return arguments.host_extent(host, extent)

    inner = list(reversed(range(len(tensor.groups))))
    dims = [Extent(_SLAB), tensor.length, Extent(problem.depth // _SLAB), *(tensor.sizes[number] for number in inner)]
    strides = [tensor.pitch, Extent(_SLAB), *(tensor.strides[number] for number in inner)]
    return host.tensor_map(
        tensor.access.arg,
        problem.element,
        [value(extent) for extent in dims],
        [value(extent * Extent(2)) for extent in strides],
        [_SLAB, rows, problem.depth // _SLAB, *([1] * len(inner))],
        arguments.host_start(host, tensor.access),
    )
