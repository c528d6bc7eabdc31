"""What the tensor-core schedule needs to know of a contraction: loop groups, operand layouts, output kinds.

Loops are merged into one M, one N and one K group and any number of batch groups; an M or N group that does not merge
with the main one becomes a batch group that the other operand does not depend on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from kc.builder.expr import HALF, loads
from kc.kernels.expr import Acc, Apply, Const, Contraction, Expr, Load, walk
from kc.schedules.gpu.access import ONE, ZERO, Access, Extent, Space, access, collapse, grouped, start

ALIGN = 8  # 16 bytes of a half type: pitches of tensor maps are multiples of this


@dataclasses.dataclass(frozen=True)
class Operand:
    """One factor in memory. ``k_major``: K is contiguous; else M (or N) is. ``access`` strides: batch groups, m or n,
    k."""

    access: Access
    k_major: bool
    batch: tuple[int, ...]  # batch groups that it depends on

    @property
    def pitch(self) -> Extent:
        """Elements between neighbours of the loop that is not contiguous."""
        return self.access.strides[-2] if self.k_major else self.access.strides[-1]


@dataclasses.dataclass(frozen=True)
class Problem:
    """``sizes`` of the batch groups, then m, n, k. Access strides of the epilogue follow (batch.., m, n)."""

    element: str
    batch: tuple[Extent, ...]
    m: Extent
    n: Extent
    k: Extent
    lhs: Operand
    rhs: Operand
    loads: dict[Load, Access]
    outputs: tuple[Access, ...]
    groups: tuple[tuple[int, ...], ...]  # loops of each batch group, of m, of n

    @property
    def tensor_outputs(self) -> tuple[bool, ...]:
        """Which outputs can be written by bulk tensor stores."""
        return tuple(
            output.type in HALF
            and output.strides[-1] == ONE
            and not output.constants
            and all(stride.multiple_of(ALIGN) and stride.coefficient >= 0 for stride in output.strides[:-1])
            and sum(stride != ZERO for stride in output.strides[:-2]) <= 3
            for output in self.outputs
        )

    @classmethod
    def of(cls, kernel: Contraction) -> Problem | None:
        """None when the operands are not two half-type tensors that tensor maps can describe."""
        lhs, rhs = plain_load(kernel.lhs), plain_load(kernel.rhs)
        if lhs is None or rhs is None or lhs.type != rhs.type or lhs.type not in HALF or not kernel.outputs:
            return None
        if any(dim.size == 0 for dim in kernel.dims) or kernel.acc_type not in (*HALF, "f32"):
            return None
        nodes = [
            node
            for node in loads(*(output.expr for output in kernel.outputs), kernel.init)
            if kernel.operands[node.arg].shape is not None
        ]
        try:
            items = {node: access(kernel, kernel.dims, node) for node in [lhs, rhs, *nodes]}
            outputs = [access(kernel, kernel.dims, output) for output in kernel.outputs]
        except NotImplementedError:
            return None
        everything = [*items.values(), *outputs]
        m, more_m = _main(kernel, kernel.m, everything)
        n, more_n = _main(kernel, kernel.n, everything)
        k = collapse(kernel.dims, kernel.k, everything)
        if len(k.groups) != 1:
            return None
        batch = collapse(kernel.dims, [*kernel.batch, *more_m, *more_n], everything)
        whole = Space(batch.groups + m.groups + n.groups + k.groups, batch.sizes + m.sizes + n.sizes + k.sizes)
        count = len(batch.groups)
        a = _operand(grouped(items[lhs], whole), count, count)
        b = _operand(grouped(items[rhs], whole), count, count + 1)
        if a is None or b is None:
            return None
        space = Space(whole.groups[:-1], whole.sizes[:-1])
        return cls(
            lhs.type,
            batch.sizes,
            m.sizes[0],
            n.sizes[0],
            k.sizes[0],
            a,
            b,
            {node: grouped(items[node], space) for node in nodes},
            tuple(grouped(output, space) for output in outputs),
            space.groups,
        )


def plain_load(node: Expr) -> Load | None:
    """The load under widening casts (products of half types are exact in f32); None if there is arithmetic."""
    while isinstance(node, Apply) and node.op == "arith.extf":
        node = node.args[0]
    return node if isinstance(node, Load) and node.coords else None


def zero_init(kernel: Contraction) -> bool:
    return isinstance(kernel.init, Const) and kernel.init.value == 0


def with_init(kernel: Contraction, root: Expr) -> Expr:
    """``root`` with the initial accumulator added to ``Acc``."""
    if zero_init(kernel):
        return root
    add = "arith.addf" if kernel.acc_type[0] == "f" or kernel.acc_type == "bf16" else "arith.addi"
    memo: dict[int, Expr] = {}
    for node in walk(root):
        if isinstance(node, Acc):
            memo[id(node)] = Apply(add, (node, kernel.init), node.type)
        elif isinstance(node, Apply):
            memo[id(node)] = dataclasses.replace(node, args=tuple(memo[id(arg)] for arg in node.args))
        else:
            memo[id(node)] = node
    return memo[id(root)]


def _main(kernel: Contraction, loops: Sequence[int], items: list[Access]) -> tuple[Space, list[int]]:
    """The group of ``loops`` to tile, and the loops that are left over."""
    space = collapse(kernel.dims, loops, items)
    if not space.groups:
        if not loops:
            return Space(((),), (ONE,)), []
        return Space((tuple(loops[-1:]),), (ONE,)), []
    largest = max(range(len(space.groups)), key=lambda number: (space.sizes[number].static or 1 << 30, number))
    rest = [loop for number, group in enumerate(space.groups) if number != largest for loop in group]
    return Space((space.groups[largest],), (space.sizes[largest],)), rest


def _operand(item: Access, batches: int, row: int) -> Operand | None:
    """``item`` seen as a matrix of group ``row`` by k; None if a tensor map cannot describe it."""
    batch, across, k = item.strides[:batches], item.strides[row], item.strides[-1]
    other = item.strides[batches + 1 if row == batches else batches]
    if other != ZERO or k == ZERO or not all(part.multiple_of(ALIGN) for part in start(item)):
        return None
    across = Extent(64) if across == ZERO else across  # one row: any pitch will do
    k_major = k == ONE
    if not k_major and across != ONE:
        return None
    pitch = across if k_major else k
    if any(stride.coefficient < 0 for stride in (pitch, *batch)):  # walked backwards
        return None
    used = tuple(number for number, stride in enumerate(batch) if stride != ZERO)
    if len(used) > 2 or not all(batch[number].multiple_of(ALIGN) for number in used) or not pitch.multiple_of(ALIGN):
        return None
    return Operand(dataclasses.replace(item, strides=(*batch, across, k)), k_major, used)
