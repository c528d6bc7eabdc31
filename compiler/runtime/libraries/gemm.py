"""A matrix product as libraries are asked for it: shapes, and what is done to the result."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

#: what may happen to a product's elements at last: ``gelu`` is the tanh form
EPILOGUES = ("none", "relu", "gelu")


@dataclasses.dataclass(frozen=True)
class Product:
    """``out = epilogue(alpha * op(a) op(b) + bias)``, row-major; ``batch`` matrices one after the other, of which a
    factor has as many, or one for all (step 0)."""

    batch: int
    m: int
    n: int
    k: int
    transpose_a: bool
    transpose_b: bool
    step_a: int
    step_b: int
    alpha: float
    bias: bool
    epilogue: str

    @classmethod
    def of(cls, shapes: Sequence[Sequence[int]], out: Sequence[int], attributes: Mapping[str, Any]) -> Product:
        """The product of operands (a, b, and bias if there are three) with these shapes into one of shape ``out``.

        Raises ``ValueError`` for shapes that do not fit together.
        """
        a, b = list(shapes[0]), list(shapes[1])
        left, right = bool(attributes.get("transpose_a", False)), bool(attributes.get("transpose_b", False))
        if len(a) < 2 or len(b) < 2 or len(out) < 2:
            raise ValueError(f"a product of arrays of shapes {a} and {b}: matrices, or stacks of them, are multiplied")
        m, k = (a[-1], a[-2]) if left else (a[-2], a[-1])
        k2, n = (b[-1], b[-2]) if right else (b[-2], b[-1])
        if k != k2 or list(out[-2:]) != [m, n]:
            raise ValueError(f"a product of {m} x {k} and {k2} x {n} into {out[-2]} x {out[-1]}")
        batch = _size(out[:-2])
        steps = []
        for shape in (a, b):
            given = _size(shape[:-2])
            if given not in (1, batch) or (given == batch != 1 and list(shape[:-2]) != list(out[:-2])):
                raise ValueError(f"a stack of shape {shape[:-2]} in a product of shape {list(out[:-2])}")
            steps.append(shape[-1] * shape[-2] if given == batch else 0)
        bias = len(shapes) > 2
        if bias and list(shapes[2]) != [n]:
            raise ValueError(f"a bias of shape {list(shapes[2])} on {n} columns")
        epilogue = str(attributes.get("epilogue", "none"))
        if epilogue not in EPILOGUES:
            raise ValueError(f"no epilogue '{epilogue}': {', '.join(EPILOGUES)}")
        return cls(batch, m, n, k, left, right, steps[0], steps[1], float(attributes.get("alpha", 1.0)), bias, epilogue)


def _size(shape: Sequence[int]) -> int:
    result = 1
    for extent in shape:
        result *= extent
    return result


def finish(out: Any, product: Product, bias: Any) -> None:
    """Bias and epilogue on a NumPy array, in place."""
    import numpy as np

    if product.bias:
        out += bias
    if product.epilogue == "relu":
        np.maximum(out, 0, out=out)
    elif product.epilogue == "gelu":
        inner = np.tanh(np.sqrt(2 / np.pi).astype(out.dtype) * (out + out.dtype.type(0.044715) * out**3))
        out *= out.dtype.type(0.5) * (1 + inner)
