"""Random StableHLO functions over the ops that kc.agents.builtin.egraph knows, and some that it does not."""
from __future__ import annotations

import random

_STEPS = [
    "unary", "unary", "binary", "binary", "binary", "constant", "transpose", "reshape", "broadcast", "reduce", "dot",
    "select", "reverse",
]


class Program:
    """A function with one result, text by text; ``inputs``: shapes of its f32 arguments."""

    def __init__(self, seed: int, ops: int = 12):
        self._random = random.Random(seed)
        rows, columns = self._random.choice([2, 3, 5]), self._random.choice([2, 4, 7])
        self.inputs = [(rows, columns), (rows, columns), (columns, rows), (rows,), ()]
        self._lines: list[str] = []
        self._values: list[tuple[str, tuple[int, ...]]] = [(f"%a{n}", s) for n, s in enumerate(self.inputs)]
        self._count = 0
        for _ in range(ops):
            self._step()
        self.result = self._values[-1]

    @property
    def text(self) -> str:
        arguments = ", ".join(f"%a{n}: {kind(s)}" for n, s in enumerate(self.inputs))
        name, shape = self.result
        body = "\n".join(f"  {line}" for line in self._lines)
        return f"func.func @main({arguments}) -> {kind(shape)} {{\n{body}\n  return {name} : {kind(shape)}\n}}"

    def _pick(self, shape: tuple[int, ...] | None = None) -> tuple[str, tuple[int, ...]]:
        fitting = [v for v in self._values if shape is None or v[1] == shape]
        return self._random.choice(fitting[-6:]) if self._random.random() < 0.7 else self._random.choice(fitting)

    def _add(self, shape: tuple[int, ...], *lines: str) -> str:
        name = f"%v{self._count}"
        self._count += 1
        self._lines += [line.replace("@@", name) for line in lines]
        self._values.append((name, shape))
        return name

    def _step(self) -> None:
        rng = self._random
        x, shape = self._pick()
        choice = rng.choice(_STEPS)
        if choice == "unary":
            op = rng.choice(["negate", "negate", "abs", "exponential", "sqrt", "rsqrt", "tanh", "floor"])
            self._add(shape, f"@@ = stablehlo.{op} {x} : {kind(shape)}")
        elif choice == "binary":
            y, _ = self._pick(shape)
            op = rng.choice(["add", "subtract", "multiply", "divide", "maximum", "minimum"])
            self._add(shape, f"@@ = stablehlo.{op} {x}, {y} : {kind(shape)}")
        elif choice == "constant":
            number = rng.choice(["1.0", "-1.0", "0.0", "-0.0", "2.0", "0.25", "3.0"])
            op = rng.choice(["add", "subtract", "multiply", "divide"])
            self._add(shape, f"@@c = stablehlo.constant dense<{number}> : {kind(shape)}",
                      f"@@ = stablehlo.{op} {x}, @@c : {kind(shape)}")
        elif choice == "transpose" and len(shape) == 2:
            turned = (shape[1], shape[0])
            self._add(turned, f"@@ = stablehlo.transpose {x}, dims = [1, 0] : ({kind(shape)}) -> {kind(turned)}")
        elif choice == "reshape" and len(shape) == 2:
            flat = (shape[0] * shape[1],) if rng.random() < 0.5 else (shape[1], shape[0])
            self._add(flat, f"@@ = stablehlo.reshape {x} : ({kind(shape)}) -> {kind(flat)}")
        elif choice == "broadcast" and len(shape) < 2:
            wide = rng.choice([s for s in self.inputs if len(s) == 2])
            if not shape or shape[0] in wide:
                dims = f"[{wide.index(shape[0])}]" if shape else "[]"
                self._add(wide, f"@@ = stablehlo.broadcast_in_dim {x}, dims = {dims} : ({kind(shape)}) -> {kind(wide)}")
        elif choice == "reduce" and shape:
            axis, (op, start) = rng.randrange(len(shape)), rng.choice([("add", "0.0"), ("maximum", "0xFF800000")])
            left = tuple(n for a, n in enumerate(shape) if a != axis)
            scalar = kind(())
            self._add(left, f"@@c = stablehlo.constant dense<{start}> : {scalar}",
                      f"@@ = stablehlo.reduce({x} init: @@c) applies stablehlo.{op} across dimensions = [{axis}] : "
                      f"({kind(shape)}, {scalar}) -> {kind(left)}")
        elif choice == "dot" and len(shape) == 2:
            fitting = [v for v in self._values if len(v[1]) == 2 and v[1][0] == shape[1]]
            if fitting:
                y, other = rng.choice(fitting)
                made = (shape[0], other[1])
                self._add(made, f"@@ = stablehlo.dot_general {x}, {y}, contracting_dims = [1] x [0] : "
                                f"({kind(shape)}, {kind(other)}) -> {kind(made)}")
        elif choice == "select":
            y, _ = self._pick(shape)
            truth = kind(shape).replace("f32", "i1")
            self._add(shape, f"@@p = stablehlo.compare LT, {x}, {y} : ({kind(shape)}, {kind(shape)}) -> {truth}",
                      f"@@ = stablehlo.select @@p, {y}, {x} : {truth}, {kind(shape)}")
        elif choice == "reverse" and shape:  # an op without a term
            self._add(shape, f"@@ = stablehlo.reverse {x}, dims = [0] : {kind(shape)}")


def kind(shape: tuple[int, ...]) -> str:
    """The type of an f32 tensor."""
    return f"tensor<{'x'.join([*map(str, shape), 'f32'])}>"
