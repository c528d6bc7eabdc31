"""The score of a block of products: the kernel's expression, masks, and the exponential's scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kc.bindings import arith
from kc.builder.expr import Ops
from kc.builder.gpu import Value, const
from kc.builder.gpu_math import LOG2E, DeviceEmitter, f32
from kc.builder.gpu_memory import load_raw
from kc.builder.gpu_ops import maximum_number
from kc.kernels.expr import Acc, Expr, Index, Load
from kc.schedules.gpu.access import ONE, ZERO, Access
from kc.schedules.gpu.attention.config import BLOCK_ROWS

if TYPE_CHECKING:
    from kc.schedules.gpu.attention.consumer import Consumer
    from kc.schedules.gpu.attention.kernel import Place

LOWEST = -3.4028234663852886e38  # of f32


def exp2_polynomial(x: Value) -> Value:
    """2**x on the FMA units, relative error 1e-4: a cubic on [-1/2, 1/2] (least maximal error) and the exponent's
    bits."""
    x = maximum_number(x, f32(-126.0))
    shifted = x + f32(12582912.0)  # 1.5 * 2^23: the nearest integer in the low bits
    fraction = x - (shifted - f32(12582912.0))
    p = fraction * (fraction * (fraction * f32(0.05500761) + f32(0.24220793)) + f32(0.69328273)) + f32(1.0)
    return (p.bitcast("i32") + (shifted.bitcast("i32") << 23)).bitcast("f32")


class Score:
    """``plain``: the score is a positive constant times the product, which then goes into ``factor``, the scale of
    exp2's argument; otherwise the expression is evaluated element by element and ``factor`` is log2(e)."""

    def __init__(self, consumer: Consumer) -> None:
        self.consumer, self.body, self.problem = consumer, consumer.body, consumer.problem
        self.plain = self.problem.scale is not None
        self.factor = (self.problem.scale or 1.0) * LOG2E
        self.ops = Ops(consumer.body.location)

    def prepare(self, place: Place) -> None:
        """The tile's rows and batch positions."""
        arguments = self.body.arguments
        self.batch = [value.zext("i64") for value in place.batch]
        self.tile_row = place.block * BLOCK_ROWS + self.consumer.row
        last = self.body.queries - 1
        self.safe_rows = [(self.tile_row + 8 * row).minimum(last) for row in range(2)]
        self.uniform: dict[Load, Value] = {}
        for node, item in self.problem.loads.items():
            if item.strides[-1] == ZERO and item.strides[-2] == ZERO:
                self.uniform[node] = arguments.element(item, [*self.batch, None, None])

    def first_key(self, place: Place, index: Value) -> Value:
        """The thread's first key (i32) in step ``index``."""
        return (place.steps - 1 - index) * self.consumer.config.keys + self.consumer.pair

    # -- the expression

    def __call__(self, products: list[Value], place: Place, index: Value) -> list[Value]:
        """Scores of the thread's products in step ``index`` (in units that ``factor`` multiplies)."""
        if self.plain:
            return products
        key = self.first_key(place, index)
        result = []
        for group in range(len(products) // 4):
            operands = self._operands(key + 8 * group)
            for position in range(4):
                leaf = self._leaf(products[4 * group + position], operands, key + 8 * group, position)
                result.append(DeviceEmitter(self.ops, leaf, "fast").value(self.problem.score))
        return result

    def _operands(self, key: Value) -> dict[Load, list[Value]]:
        """Per load its four values at two rows and two keys from ``key``."""
        arguments, found = self.body.arguments, dict[Load, list[Value]]()
        for node, item in self.problem.loads.items():
            if node in self.uniform:
                found[node] = [self.uniform[node]] * 4
            elif item.strides[-1] == ZERO:
                rows = [arguments.element(item, [*self.batch, row.zext("i64"), None]) for row in self.safe_rows]
                found[node] = [rows[0], rows[0], rows[1], rows[1]]
            elif item.strides[-2] == ZERO:
                found[node] = self._pair(item, None, key) * 2
            else:
                found[node] = [value for row in self.safe_rows for value in self._pair(item, row.zext("i64"), key)]
        return found

    def _pair(self, item: Access, row: Value | None, key: Value) -> list[Value]:
        arguments, keys = self.body.arguments, self.body.keys
        even = (
            all(stride.multiple_of(2) for stride in item.strides[:-1])
            and self.problem.keys.multiple_of(2)
            and all(count * stride.coefficient % 2 == 0 for count, stride in item.constants)
        )
        if item.strides[-1] == ONE and even:
            place = arguments.pointer(item, [*self.batch, row, key.minimum(keys - 2).zext("i64")])
            return load_raw(place, item.type, 2, arguments.invariant(item.arg)).unpack()
        return [
            arguments.element(item, [*self.batch, row, (key + lane).minimum(keys - 1).zext("i64")]) for lane in range(2)
        ]

    def _leaf(
        self, product: Value, operands: dict[Load, list[Value]], key: Value, position: int
    ) -> Callable[[Expr], Any]:
        def find(node: Expr) -> Any:
            if isinstance(node, Acc):
                return product.ssa
            if isinstance(node, Load):
                return (operands[node][position] if node in operands else self.body.arguments.scalar(node.arg)).ssa
            assert isinstance(node, Index)
            return self._index(node.dim, key, position).resize("index").ssa

        return find

    def _index(self, loop: int, key: Value, position: int) -> Value:
        if loop == self.body.kernel.q:
            return self.tile_row + 8 * (position // 2)
        if loop == self.body.kernel.kv:
            return key + position % 2
        if loop in self.problem.batch:
            return self.batch[self.problem.batch.index(loop)]
        return const(0)  # a loop of size 1

    # -- masks

    def mask(self, scores: list[Value], place: Place) -> list[Value]:
        """Minus infinity for keys after the row (causal) or after the last key, in the step that has them: the
        first."""
        problem, keys = self.problem, self.consumer.config.keys
        key = self.first_key(place, const(0))
        limits: Sequence[Value]
        if problem.causal:
            rows = [self.tile_row, self.tile_row + 8]
            if problem.queries != problem.keys or problem.keys.static is None:
                rows = [row.minimum(self.body.keys - 1) for row in rows]  # else no row is after the last key
            limits = [row - key for row in rows]
        elif problem.keys.multiple_of(keys):
            return scores
        else:
            limits = [self.body.keys - 1 - key] * 2
        lowest = f32(float("-inf"))
        return [
            Value(arith.select(limits[i // 2 % 2].compare("sge", 8 * (i // 4) + i % 2).ssa, x.ssa, lowest.ssa))
            for i, x in enumerate(scores)
        ]
