"""A second opinion on an accepted mutant, by other inputs than the gate draws and without its code.

Run as a process of its own, since it executes the mutant: reads ``{"original", "proposal", "level", "seed"}`` as JSON
from stdin and prints ``same IR``, ``agrees on N calls``, ``differs: ...`` or ``not run: ...``.
"""
from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

_CALLS = {"stablehlo": 60, "linalg": 240, "loops": 240, "gpu": 4}
_FILLS = ("normal", "ties", "equal", "integers", "special", "wide", "constants", "large", "tiny")
_TAME = ("normal", "ties", "equal", "integers")
_LOOSE = {"reassoc", "contract", "approx", "arcp", "low_precision"}


def _dtype(element: str) -> np.dtype[Any]:
    if element == "bf16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    if element in ("i1", "index"):
        return np.dtype({"i1": "bool", "index": "int64"}[element])
    letters, width = re.fullmatch(r"([a-z]+)(\d+)", element).groups()  # type: ignore[union-attr]
    return np.dtype({"f": "float", "i": "int", "si": "int", "ui": "uint"}[letters] + width)


class Signature:
    """What ``@main``'s arguments are: shapes with names for unknown sizes, element types, ranges, roles."""

    def __init__(self, text: str):
        from kc.agents.contract import Contract
        from kc.bindings import ir
        from kc.context import make_context, parse_module

        module = parse_module(text, make_context(), "original")
        main = next(op for op in module.body.operations if str(op.attributes["sym_name"]) == '"main"').operation
        self.contract = Contract.of(main)
        self.types = [str(kind) for kind in ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value).inputs]
        self.floats = [float(x) for x in re.findall(r"(?<![\w.])-?\d+\.\d+(?:[eE][-+]?\d+)?", text)]
        self.ints = [int(x) for x in re.findall(r"(?<![\w.%])-?\d{1,18}(?![\w.])", text)]

    def sizes(self, r: random.Random, number: int) -> dict[str, int]:
        """Values of the named dimensions: ends and equal ones first, then anything."""
        names = sorted({name for argument in self.contract.arguments for name in argument.dims})
        chosen: dict[str, int] = {}
        for place, name in enumerate(names):
            low, high = self.contract.size_range(name)
            steps = [int(m[1]) for f in self.contract.facts if (m := re.fullmatch(rf"{name} % (\d+) == 0", f))]
            usual = min(high, max(low, 48))
            near = {0: low, 1: usual, 2: min(low + 1, high), 3: min(high, 7 + 3 * place), 4: min(high, 4000)}
            value = near.get(number, r.randint(low, usual) if r.random() < 0.9 else r.randint(low, min(high, 4000)))
            if number % 11 == 5 and chosen:
                value = min(high, max(low, next(iter(chosen.values())) + r.choice((0, 0, 1, -1))))
            for step in steps:
                value = value // step * step
            chosen[name] = value
        return chosen

    def _obeying(self, number: int, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """``values`` brought under the facts on the values of an argument."""
        facts = {fact.partition("(")[0] for fact in self.contract.facts if fact.endswith(f"(arg{number})")}
        if facts & {"finite", "positive", "nonnegative", "sorted"}:
            values = np.where(np.isfinite(values), values, 1).astype(values.dtype)
        if facts & {"positive", "nonnegative"}:
            values = np.where(values > 0, values, 1).astype(values.dtype)
        return np.sort(values, axis=-1) if "sorted" in facts and values.ndim else values

    def arguments(self, seed: int, fill: str, sizes: dict[str, int]) -> tuple[np.ndarray[Any, Any], ...]:
        """Values for one call."""
        g = np.random.default_rng(seed)
        made = []
        for number, (kind, told) in enumerate(zip(self.types, self.contract.arguments, strict=True)):
            match = re.match(r"(?:tensor|memref)<((?:[\d?]+x)*)(\w+)", kind)
            dims = [d for d in match[1].split("x") if d] if match else []
            shape = tuple(int(d) if d != "?" else sizes[told.dims[i]] for i, d in enumerate(dims))
            dtype = _dtype(match[2] if match else kind)
            if f"unique(arg{number})" in self.contract.facts:
                assert told.range is not None
                count = int(np.prod(shape))
                values = g.permutation(np.arange(told.range[0], told.range[1] + 1))[:count].reshape(shape)
            elif dtype.kind in "iu":
                values = self._integers(g, fill, shape, dtype, told.range)
            elif dtype.kind == "b":
                values = g.random(shape) < 0.5
            else:
                values = self._obeying(number, self._reals(g, fill, shape, dtype))
            with np.errstate(all="ignore"):
                made.append(np.asarray(values).astype(dtype).reshape(shape))
        return tuple(made)

    def _integers(self, g: Any, fill: str, shape: tuple[int, ...], dtype: Any, bounds: Any) -> Any:
        info = np.iinfo(dtype)
        low, high = bounds or (info.min, info.max)
        ends = [low, high, low + 1, high - 1, 0, 1, -1, *self.ints]
        pool = np.array([e for e in ends if low <= e <= high] or [low], dtype=object)
        if fill in ("special", "constants", "large"):
            return g.choice(pool, shape)
        if fill == "equal":
            return np.full(shape, g.choice(pool))
        if fill == "wide":
            return g.integers(low, high, shape, endpoint=True, dtype=dtype)
        small = g.integers(max(low, -5), max(min(high, 5), max(low, -5)), shape, endpoint=True)
        return np.where(g.random(shape) < 0.05, g.choice(pool, shape), small)

    def _reals(self, g: Any, fill: str, shape: tuple[int, ...], dtype: Any) -> Any:
        import ml_dtypes

        info = ml_dtypes.finfo(dtype)
        largest, least = float(info.max), float(info.smallest_subnormal)
        values = g.standard_normal(shape)
        if fill in ("normal", "ties"):
            return values if fill == "normal" else np.round(values)
        if fill == "equal":
            return np.full(shape, g.choice([0.0, -0.0, 1.0, -3.0, np.nan, np.inf, -np.inf, *self.floats]))
        if fill == "integers":
            return g.integers(-20, 20, shape) / 2
        if fill == "wide":
            sign = np.where(g.random(shape) < 0.5, -1.0, 1.0)
            return sign * 10.0 ** g.uniform(np.log10(least) + 1, np.log10(largest) - 0.1, shape)
        if fill == "large":
            return np.abs(values) * 60 + 40
        if fill == "tiny":
            return values * float(info.smallest_normal) ** g.choice([0.5, 1.0])
        if fill == "constants":
            near = [f * s for f in self.floats or [1.0] for s in (1, -1, 0.5, 2, 1.5, 2.5)]
            return g.choice(near, shape)
        pool = [np.nan, np.inf, -np.inf, 0.0, -0.0, least, -least, largest, -largest, 1.0, 42.0]
        return np.where(g.random(shape) < g.choice([0.03, 0.3]), g.choice(pool, shape), values)


def same_ir(one: str, other: str) -> bool:
    """Whether both are one module after clean-up, contract attributes left out."""
    from kc.context import make_context, parse_module
    from kc.pass_manager import run_pipeline

    shown = []
    for text in (one, other):
        module = parse_module(text, make_context(), "module")
        run_pipeline(module, "builtin.module(canonicalize,cse,canonicalize,symbol-dce)")
        bare = re.sub(r"kc\.\w+(?: = (?:\[[^]]*\]|\{[^}]*\}|array<[^>]*>|-?\d+ : i64))?,? ?", "", str(module))
        shown.append(re.sub(r" ?(?:attributes )?\{\}|%\w+", lambda m: "%" if m[0][0] == "%" else "", bare))
    return shown[0] == shown[1]


def _differs(got: Any, want: Any, loose: bool, rough: bool, fill: str, signed_zeros: bool) -> str | None:
    for number, (a, b) in enumerate(zip(got, want, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"result {number} is {a.dtype}{list(a.shape)}, not {b.dtype}{list(b.shape)}"
        if a.dtype.kind in "iub":
            bad = a != b
        else:
            with np.errstate(all="ignore"):
                x, y = a.astype(np.float64), b.astype(np.float64)
                both = np.isnan(x) & np.isnan(y)
                if loose and fill not in _TAME:  # sums in another order may overflow, or not
                    bad = np.zeros(x.shape, np.bool_)
                elif loose:
                    scale = np.max(np.abs(np.where(np.isfinite(y), y, 0)), initial=0.0)
                    narrow = a.dtype.itemsize < 4
                    limit = (0.1 if rough or narrow else 1e-3) * (scale + 1)
                    bad = ~(both | (x == y) | (np.abs(x - y) <= limit))
                else:
                    bad = ~(both | ((x == y) & ((np.signbit(x) == np.signbit(y)) | (not signed_zeros))))
        if bad.any():
            place = int(np.argmax(bad))
            return f"result {number}[{place}] is {a.reshape(-1)[place]!r}, not {b.reshape(-1)[place]!r}"
    return None


def _outcomes(text: str, level: str, calls: Any, roles: Any, **checks: Any) -> Iterator[Any]:
    from kc.agents.execution import Checks, run

    yield from run(text, level, calls, checks=Checks(roles=roles, seconds=5.0, **checks))


def recheck(original: str, proposal: str, level: str, seed: int) -> str:
    """See the module."""
    from kc.agents.execution import Call, engine

    if same_ir(original, proposal):
        return "same IR"
    signature = Signature(original)
    contract, r = signature.contract, random.Random(seed)
    allow = set(contract.allow)
    fills = [_FILLS[n % len(_FILLS)] if n > 8 else "normal" for n in range(_CALLS[level])]
    calls = [
        Call(signature.arguments(seed + n, fill, signature.sizes(r, n)), poison=(0xA5, 0xFF, 0x00)[n % 3],
             guard=("none", "after", "before")[n % 3])
        for n, fill in enumerate(fills)
    ]  # fmt: skip
    roles = tuple("out" if a.out else "inout" if a.inout else "in" for a in contract.arguments)
    how: dict[str, Any] = {"engine": engine(original, proposal)} if level == "stablehlo" else {}
    want = list(_outcomes(original, level, calls, roles, **how))
    parallel = level == "loops" and "scf.parallel" in proposal
    orders: tuple[str, ...] = ("forward", "reversed") if parallel else ("forward",)
    compared = 0
    for order in orders:
        got = list(_outcomes(proposal, level, calls, roles, order=order, **how))
        for fill, call, a, b in zip(fills, calls, got, want, strict=True):
            if b.fault is not None:
                continue
            wrong = a.fault or a.mutated or a.outside or a.heap or a.fatal or (a.leaked > b.leaked)
            found = str(wrong) if wrong else _differs(
                a.results, b.results, bool(allow & _LOOSE), "low_precision" in allow, fill, "nsz" not in allow
            )  # fmt: skip
            if found and not (fill == "special" and allow & {"nnan", "ninf"}):
                shapes = [x.shape for x in call.arguments]
                return f"differs: {found} ({fill} values, shapes {shapes}, {order})"
            compared += 1
    return f"agrees on {compared} calls"


if __name__ == "__main__":
    task = json.load(sys.stdin)
    try:
        print("\n" + recheck(task["original"], task["proposal"], task["level"], task["seed"]))
    except Exception as error:
        print(f"\nnot run: {type(error).__name__}: {str(error)[:300]}")
