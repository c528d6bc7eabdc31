"""What the attention schedule needs to know of a kernel: four tensors, sizes, the score's form."""

from __future__ import annotations

import dataclasses

from kc.builder.expr import HALF, loads
from kc.kernels.expr import Acc, Apply, Attention, Const, Expr, Load, Output
from kc.schedules.gpu.access import ONE, ZERO, Access, Extent, access, collapse, dim_extent, start

_ALIGN = 8  # half-type elements in 16 bytes: pitches of tensor maps are multiples of this
_DEPTHS = (64, 128)


@dataclasses.dataclass(frozen=True)
class Tensor:
    """Query, key, value or output: depth contiguous, ``pitch`` elements between neighbours of the sequence.

    ``access``: where it is in memory. ``groups``: batch loops that this tensor walks as one, with the stride of each
    group (two groups at most).
    """

    access: Access
    length: Extent
    pitch: Extent
    groups: tuple[tuple[int, ...], ...]
    strides: tuple[Extent, ...]
    sizes: tuple[Extent, ...]


@dataclasses.dataclass(frozen=True)
class Problem:
    """``scale``: the score is the raw product times this positive number; None: ``score`` must be evaluated.

    ``batch``: batch loops, outermost first. Score accesses have strides (batch.., query, key).
    """

    element: str
    depth: int
    batch: tuple[int, ...]
    batch_sizes: tuple[Extent, ...]
    queries: Extent
    keys: Extent
    query: Tensor
    key: Tensor
    value: Tensor
    output: Tensor
    scale: float | None
    score: Expr
    loads: dict[Load, Access]
    causal: bool

    @classmethod
    def of(cls, kernel: Attention) -> Problem | None:
        """None when depths, types or layouts do not fit the tensor-core schedule."""
        dims = kernel.dims
        depth = dims[kernel.d].size
        if depth not in _DEPTHS or dims[kernel.dv].size != depth or len(kernel.outputs) != 1:
            return None
        output = kernel.outputs[0]
        element = kernel.query.type
        if element not in HALF or not _is_acc(output.expr) or any(dim.size == 0 for dim in dims):
            return None
        if not all(
            kernel.operands[node.arg].type == element for node in (kernel.query, kernel.key, kernel.value, output)
        ):
            return None
        batch = tuple(loop for loop in kernel.batch if dims[loop].size != 1)
        queries, keys = dim_extent(dims, kernel.q), dim_extent(dims, kernel.kv)
        sides = (
            (kernel.query, kernel.q, kernel.d),
            (kernel.key, kernel.kv, kernel.d),
            (kernel.value, kernel.kv, kernel.dv),
            (output, kernel.q, kernel.dv),
        )
        try:
            tensors = [_tensor(kernel, node, batch, sequence, inner) for node, sequence, inner in sides]
            scores = {
                node: access(kernel, dims, node)
                for node in loads(kernel.score)
                if kernel.operands[node.arg].shape is not None
            }
        except NotImplementedError:
            return None
        query, key, value, result = tensors
        if query is None or key is None or value is None or result is None:
            return None
        order = [*batch, kernel.q, kernel.kv]
        ordered = {
            node: dataclasses.replace(item, strides=tuple(item.strides[loop] for loop in order))
            for node, item in scores.items()
        }
        return cls(
            element,
            depth,
            batch,
            tuple(dim_extent(dims, loop) for loop in batch),
            queries,
            keys,
            query,
            key,
            value,
            result,
            score_scale(kernel.score),
            kernel.score,
            ordered,
            kernel.causal,
        )


def _is_acc(node: Expr) -> bool:
    while isinstance(node, Apply) and node.op in ("arith.truncf", "arith.extf"):
        node = node.args[0]
    return isinstance(node, Acc)


def score_scale(node: Expr) -> float | None:
    """c if ``node`` is the raw score times a positive constant c, else None."""
    scale = 1.0
    while isinstance(node, Apply):
        if node.op == "arith.extf":
            node = node.args[0]
        elif node.op == "arith.mulf" and any(isinstance(arg, Const) for arg in node.args):
            constant, node = node.args if isinstance(node.args[0], Const) else node.args[::-1]
            scale *= constant.value  # type: ignore[union-attr]
        elif node.op == "arith.divf" and isinstance(node.args[1], Const) and node.args[1].value:
            scale /= node.args[1].value
            node = node.args[0]
        else:
            return None
    return scale if isinstance(node, Acc) and 1e-6 < scale < 1e6 else None


def _tensor(kernel: Attention, node: Load | Output, batch: tuple[int, ...], sequence: int, inner: int) -> Tensor | None:
    item = access(kernel, kernel.dims, node)
    used = [loop for loop in batch if item.strides[loop] != ZERO]
    pitch = item.strides[sequence] if item.strides[sequence] != ZERO else Extent(64)  # one position: any pitch will do
    if item.strides[inner] != ONE or not all(part.multiple_of(_ALIGN) for part in (pitch, *start(item))):
        return None
    space = collapse(kernel.dims, used, [item])
    strides = tuple(item.strides[group[-1]] for group in space.groups)
    if len(space.groups) > 2 or not all(stride.multiple_of(_ALIGN) for stride in strides):
        return None
    if any(stride.coefficient < 0 for stride in (pitch, *strides)):  # walked backwards
        return None
    return Tensor(item, dim_extent(kernel.dims, sequence), pitch, space.groups, strides, space.sizes)
