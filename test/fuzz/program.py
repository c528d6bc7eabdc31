"""A program of the fuzzer and its texts: what kc compiles, what the interpreter runs, and what it runs in f64."""

from __future__ import annotations

import dataclasses
import re

import numpy as np

from .facts import Facts
from .tensors import COMPLEX, FLOATS8, Tensor, dtype, finfo, is_inexact, part, unit_roundoff


@dataclasses.dataclass
class Value:
    """An SSA value."""

    name: str
    type: Tensor
    facts: Facts


@dataclasses.dataclass
class Op:
    """``results = body``.

    ``rounds``: the results are rounded on their own, so the noisy evaluation perturbs them. ``shaken``: operands whose
    elements are summed, and how much more than one rounding each is to be perturbed. ``reference``: what the
    interpreter runs instead where it lacks the operation: operations, and the body of the last.
    """

    results: list[Value]
    body: str
    rounds: bool = False
    shaken: tuple[tuple[Value, float], ...] = ()
    constant: np.ndarray | None = None
    reference: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """The operation's text, without noise."""
        assert not self.reference, "regions are the same for kc and the interpreter"
        return _op(self, None)


@dataclasses.dataclass
class Noise:
    """An argument of the wide text: ``1 + amplitude * u`` (or, if additive, ``amplitude * u``), u random within ±1."""

    type: Tensor
    amplitude: float
    additive: bool = False

    def draw(self, rng: np.random.Generator | None) -> np.ndarray:
        shape = tuple(int(n) for n in self.type.shape)
        base = 0.0 if self.additive else 1.0
        if rng is None:
            return np.full(shape, base)
        size = rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
        return base + self.amplitude * size


@dataclasses.dataclass
class Program:
    """Arguments with their arrays, operations in order, results, and private functions by text."""

    args: list[tuple[Value, np.ndarray]]
    ops: list[Op]
    results: list[Value]
    helpers: list[str]
    families: list[str]
    low_ok: bool = True

    @property
    def exact(self) -> bool:
        return all(v.facts.exact for v in self.results)

    def parts(self) -> list[Program]:
        """What each result alone needs, and each operation alone: candidates for a smaller program with the same fault,
        the smallest first."""
        targets = [op.results for op in self.ops if op.results and op.constant is None] + [[r] for r in self.results]
        found = {}
        for results in targets:
            part = self._only(results)
            found[part.compiled()] = part
        return sorted(found.values(), key=lambda p: len(p.ops))

    def _only(self, results: list[Value]) -> Program:
        needed = {v.name for v in results}
        ops = []
        for op in reversed(self.ops):
            if needed & {r.name for r in op.results}:
                ops.append(op)
                needed |= set(re.findall(r"%(v\d+)\b", " ".join((op.body, *op.reference))))
        helpers = self.helpers if any("@helper" in op.body for op in ops) else []
        args = [(v, a) for v, a in self.args if v.name in needed]
        return dataclasses.replace(self, args=args, ops=ops[::-1], results=results, helpers=helpers)

    def compiled(self) -> str:
        """The text for kc: unknown dimensions are ``?``."""
        return re.sub(r"\?\d+", "?", self._text())

    def low(self) -> str:
        """The text for the interpreter: every size known; complex values cross its border as their parts, and types
        that NumPy's buffers do not know as f32 and i32."""
        return re.sub(r"\?(\d+)", r"\1", self._text(border=True))

    def wide(self) -> tuple[str, list[Noise]]:
        """The text with every float an f64, and noise as further arguments wherever a value is rounded."""
        noises: list[Noise] = []
        text = re.sub(r"\?(\d+)", r"\1", self._text(border=True, noises=noises))
        return _FLOAT.sub("f64", text), noises

    def _text(self, border: bool = False, noises: list[Noise] | None = None) -> str:
        head, lines = [], []
        for value, _ in self.args:
            split = border and value.type.element in COMPLEX
            names = [f"%{value.name}_re", f"%{value.name}_im"] if split else [f"%{value.name}"]
            kind = value.type.of(part(value.type.element)) if split else value.type
            head += [f"{n}: {kind}" for n in names]
            if split:
                lines.append(f"%{value.name} = stablehlo.complex {', '.join(names)} : {value.type}")
        for op in self.ops:
            lines += _op(op, noises, border)
        returned, types = [], []
        for value in self.results:
            names, kinds, extra = _result(value) if border else ([f"%{value.name}"], [value.type], [])
            lines += extra
            returned += names
            types += kinds
        head += [f"%noise{i}: {n.type}" for i, n in enumerate(noises or ())]
        kinds = ", ".join(str(t) for t in types)
        body = "\n".join(f"  {line}" for line in lines)
        tail = f"  return {', '.join(returned)} : {kinds}" if returned else "  return"
        main = f"func.func @main({', '.join(head)}) -> ({kinds}) {{\n{body}\n{tail}\n}}"
        return "\n".join([main, *self.helpers])


_FLOAT = re.compile(r"(?<=[x<])(?:bf16|f16|f32|f8\w+)(?=>)")


def _result(value: Value) -> tuple[list[str], list[Tensor], list[str]]:
    """A result as what the bindings can hand out."""
    element, name = value.type.element, value.name
    if element in COMPLEX:
        kind = value.type.of(part(element))
        lines = [f"%{name}_r{p} = stablehlo.{p} %{name} : ({value.type}) -> {kind}" for p in ("real", "imag")]
        return [f"%{name}_rreal", f"%{name}_rimag"], [kind, kind], lines
    if element in ("bf16", "f16", *FLOATS8):
        plain = "f32"
    elif element in ("i4", "i2"):
        plain = "i32"
    elif element in ("ui4", "ui2"):
        plain = "ui32"
    else:
        return [f"%{name}"], [value.type], []
    kind = value.type.of(plain)
    return [f"%{name}_out"], [kind], [f"%{name}_out = stablehlo.convert %{name} : ({value.type}) -> {kind}"]


def _op(op: Op, noises: list[Noise] | None, reference: bool = False) -> list[str]:
    if op.constant is not None:
        (result,) = op.results
        return [f"%{result.name} = stablehlo.constant {literal(op.constant, result.type, noises is not None)}"]
    names = ", ".join(f"%{r.name}" for r in op.results)
    *lines, body = op.reference if reference and op.reference else (op.body,)
    if noises is None:
        return [*lines, f"{names} = {body}" if names else body]
    for operand, amplitude in op.shaken:
        if is_inexact(operand.type.element):
            name = f"{operand.name}s{len(noises)}"
            shaking = _perturb(name, operand.name, operand.type, amplitude, noises)
            body = re.sub(rf"%{operand.name}\b", f"%{name}", body)
            lines = shaking + [re.sub(rf"%{operand.name}\b", f"%{name}", line) for line in lines]
    perturbed = [op.rounds and is_inexact(r.type.element) and not r.facts.exact for r in op.results]
    raw = ", ".join(f"%{r.name}raw" if p else f"%{r.name}" for r, p in zip(op.results, perturbed, strict=True))
    lines.append(f"{raw} = {body}" if raw else body)
    for r, p in zip(op.results, perturbed, strict=True):
        if p:
            lines += _perturb(r.name, f"{r.name}raw", r.type, 1.0, noises)
    return lines


def _perturb(name: str, of: str, kind: Tensor, amplitude: float, noises: list[Noise]) -> list[str]:
    """``%name``: ``%of`` with a relative error of ``amplitude`` roundings, and one of a denormal where those are not
    tiny."""
    lines = []
    product = f"{name}m" if kind.element == "f16" or kind.element in FLOATS8 else name
    lines += _noise_operand(Noise(kind.of(part(kind.element)), amplitude * unit_roundoff(kind.element)), kind, noises)
    lines.append(f"%{product} = stablehlo.multiply %{of}, %n{len(noises) - 1} : {kind}")
    if product != name:
        lines += _noise_operand(Noise(kind, float(finfo(kind.element).smallest_subnormal) / 2, True), kind, noises)
        lines.append(f"%{name} = stablehlo.add %{product}, %n{len(noises) - 1} : {kind}")
    return lines


def _noise_operand(noise: Noise, kind: Tensor, noises: list[Noise]) -> list[str]:
    """The noise argument as a value of ``kind``."""
    noises.append(noise)
    k = len(noises) - 1
    if kind.element not in COMPLEX:
        return [f"%n{k} = stablehlo.optimization_barrier %noise{k} : {kind}"]
    # of the imaginary part, so that an error of one part is seen in the other
    noises.append(Noise(noise.type, noise.amplitude, True))
    return [f"%n{k + 1} = stablehlo.complex %noise{k}, %noise{k + 1} : {kind}"]


def literal(array: np.ndarray, kind: Tensor, wide: bool = False) -> str:
    """``dense<…> : type``; ``wide``: for the text in f64, where bit patterns of NaN and infinities are those of f64."""
    element = kind.element

    def one(x: np.generic) -> str:
        if element == "i1":
            return "true" if x else "false"
        if element in COMPLEX:
            return f"({real(x.real)}, {real(x.imag)})"
        return real(x) if is_inexact(element) else str(int(x))

    def real(x: np.generic) -> str:
        if np.isfinite(np.float64(x)):
            return repr(float(x)) if "e" not in repr(float(x)) else f"{float(x):.20e}"
        stored = np.float64(x) if wide else np.array(x, dtype(part(element)))
        return f"0x{int(np.asarray(stored).reshape(1).view(f'u{stored.itemsize}')[0]):0{2 * stored.itemsize}X}"

    def nest(a: np.ndarray) -> str:
        return one(a[()]) if a.ndim == 0 else "[" + ", ".join(nest(x) for x in a) + "]"

    return f"dense<{nest(array) if array.size else ''}> : {kind}"
