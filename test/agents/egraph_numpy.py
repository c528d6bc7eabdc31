"""Terms of kc.agents.builtin.egraph evaluated with NumPy, and whether the terms of each class agree."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kc.agents.builtin.egraph.saturate import Classes, Node

DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "ui8": np.uint8, "i1": np.bool_}


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _compare(direction: str) -> Callable[..., np.ndarray]:
    return {"LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal, "EQ": np.equal,
            "NE": np.not_equal}[direction]


UNARY: dict[str, Callable[..., np.ndarray]] = {
    "negate": np.negative, "abs": np.abs, "exponential": np.exp, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
    "not": np.invert, "logistic": _logistic, "tanh": np.tanh, "floor": np.floor,
}
BINARY: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
    "minimum": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or, "power": np.power,
}
START = {"add": 0, "multiply": 1}


def evaluate(node: Node, element: str, operands: list[np.ndarray], leaves: list[np.ndarray]) -> np.ndarray:
    """The value of one term. Sums go in order of the index, so that equal orders give equal bits."""
    p = node.parameters
    kind = DTYPES[element]
    if node.form == "Value":
        return leaves[p[0]]
    if node.form == "Fill":
        return np.full(p[2], float(p[0]) if element[0] == "f" else int(p[0]), kind)
    x = operands[0]
    if node.form == "Un":
        return UNARY[p[0]](x).astype(kind)
    if node.form == "Bin":
        return BINARY[p[0]](x, operands[1]).astype(kind)
    if node.form == "Compare":
        return _compare(p[0])(x, operands[1])
    if node.form == "Select":
        return np.where(x, operands[1], operands[2])
    if node.form == "Convert":
        return x.astype(kind)
    if node.form == "Transpose":
        return np.ascontiguousarray(x.transpose(p[0]))
    if node.form == "Reshape":
        return x.reshape(p[0])
    if node.form == "Broadcast":
        shape = [1] * len(p[1])
        for axis, dim in enumerate(p[0]):
            shape[dim] = x.shape[axis]
        return np.ascontiguousarray(np.broadcast_to(x.reshape(shape), p[1]))
    if node.form == "Reduce":
        rest = [axis for axis in range(x.ndim) if axis not in p[1]]
        rows = np.moveaxis(x, p[1], range(len(p[1]))).reshape(-1, *(x.shape[axis] for axis in rest))
        total = np.full(rows.shape[1:], START[p[0]], kind) if p[0] in START else rows[0]
        for row in rows:
            total = BINARY[p[0]](total, row)
        return np.asarray(total)
    assert node.form == "Dot", node.form
    left = np.swapaxes(x, -1, -2) if p[0] else x
    right = np.swapaxes(operands[1], -1, -2) if p[1] else operands[1]
    total = np.zeros((*left.shape[:-1], right.shape[-1]), kind)
    for k in range(left.shape[-1]):
        total = total + left[..., :, k, None] * right[..., None, k, :]
    return total


def disagreement(classes: Classes, leaves: list[np.ndarray], same: Callable[[np.ndarray, np.ndarray], bool]) -> str:
    """The first class of which two terms differ, in words; empty when all agree."""
    with np.errstate(all="ignore"):
        values: dict[int, tuple[Node, np.ndarray]] = {}
        waiting = True
        while waiting:
            waiting = False
            for c, nodes in classes.nodes.items():
                for node in nodes:
                    if c not in values and all(o in values for o in node.operands):
                        operands = [values[o][1] for o in node.operands]
                        values[c] = (node, evaluate(node, classes.types[c][0], operands, leaves))
                        waiting = True
        for c, nodes in classes.nodes.items():
            for node in nodes:
                operands = [values[o][1] for o in node.operands]
                got = evaluate(node, classes.types[c][0], operands, leaves)
                first, want = values[c]
                if got.shape != classes.types[c][1] or not same(got, want):
                    return f"{node} is {got.tolist()}, {first} is {want.tolist()}"
    return ""
