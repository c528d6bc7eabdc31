"""Every op of StableHLO and CHLO on every element type, against the reference interpreter.

``python test/integration/type_sweep.py [--types f32,i4] [--ops add,sort] [--json FILE]`` runs all of it, each type in a
process of its own; ``test_types.py`` runs a part. What the verifier takes is tried: the tables below do not say which
types an op has. An op is given as the body of a function ``(%x, %y, ...) -> results`` on small tensors whose
values include the edges of the type.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from stablehlo_oracle import DTYPES, bits_of, interpret, tensor
from type_values import close, pairs, values

NARROW = tuple(name for name in DTYPES if name[2:3] == "E")
#: without infinities and NaN, or without zero and negative numbers
PARTIAL = ("f8E8M0FNU", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN")


@dataclasses.dataclass(frozen=True)
class Case:
    """One op: ``lines`` of MLIR that define ``%r0``, ``%r1`` ... of ``results`` from ``%x0``, ``%x1`` ... = ``arrays``.

    ``ulps``: how many floats a result may be off; ``helpers``: functions beside ``main``; ``expected``: the results
    where the interpreter does not know them; ``narrow``: the float of at most 8 bits that the case is about.
    """

    name: str
    lines: str
    arrays: tuple[np.ndarray, ...]
    types: tuple[str, ...]
    results: tuple[str, ...]
    ulps: float = 0
    helpers: str = ""
    expected: Callable[..., list[np.ndarray]] | None = None
    narrow: str = ""

    def stated(self) -> Case:
        """The case as the interpreter gets it.

        On floats of at most 8 bits the interpreter computes in that type step by step, and what has no pattern there
        (an infinity, a zero) becomes arbitrary bits: f32 and one rounding by ml_dtypes is the definition.
        """
        if not self.narrow:
            return self
        small = np.dtype(DTYPES[self.narrow])
        return dataclasses.replace(
            self,
            lines=self.lines.replace(self.narrow, "f32"),
            arrays=tuple(a.astype(np.float32) if a.dtype == small else a for a in self.arrays),
            types=tuple(t.replace(self.narrow, "f32") for t in self.types),
            results=tuple(t.replace(self.narrow, "f32") for t in self.results),
            helpers=self.helpers.replace(self.narrow, "f32"),
        )

    def rounded(self, found: list[np.ndarray]) -> list[np.ndarray]:
        """Results of ``stated`` in the types of the case."""
        with np.errstate(all="ignore"):
            return [
                f.astype(DTYPES[self.narrow]) if self.narrow and self.narrow in t else f
                for f, t in zip(found, self.results, strict=True)
            ]

    def module(self) -> str:
        return module([self])


def module(cases: list[Case]) -> str:
    """One module that computes all ``cases``, each in a function of its own scope of names."""
    parameters, body, returned, types = [], [], [], []
    for k, case in enumerate(cases):
        lines = case.lines.replace("%", f"%k{k}_").replace("^", f"^k{k}_").replace("@@", f"@k{k}_")
        parameters += [f"%k{k}_x{n}: {t}" for n, t in enumerate(case.types)]
        body.append(lines)
        returned += [f"%k{k}_r{n}" for n in range(len(case.results))]
        types += case.results
    helpers = "\n".join(case.helpers.replace("@@", f"@k{k}_") for k, case in enumerate(cases))
    return (
        f"func.func @main({', '.join(parameters)}) -> ({', '.join(types)}) {{\n"
        + "\n".join(body)
        + f"\nreturn {', '.join(returned)} : {', '.join(types)}\n}}\n{helpers}\n"
    )


# ------------------------------------------------------------------------------------------------------ elementwise

#: op -> how many floats the result may be off in f32 and f64 (narrower types: 1, where this is not 0)
UNARY = {
    "abs": 0, "negate": 0, "sign": 0, "ceil": 0, "floor": 0, "round_nearest_even": 0, "round_nearest_afz": 0,
    "sqrt": 1, "rsqrt": 4, "cbrt": 4, "exponential": 4, "exponential_minus_one": 8, "log": 4, "log_plus_one": 8,
    "logistic": 8, "tanh": 8, "tan": 8, "sine": 4, "cosine": 4, "not": 0, "popcnt": 0, "count_leading_zeros": 0,
    "real": 0, "imag": 0, "is_finite": 0, "optimization_barrier": 0,
}  # fmt: skip
CHLO_UNARY = {
    "acos": 64, "acosh": 64, "asin": 64, "asinh": 64, "atan": 16, "atanh": 64, "bessel_i1e": 64, "conj": 0, "cosh": 64,
    "sinh": 64, "tan": 64, "digamma": 256, "erf": 16, "erf_inv": 64, "erfc": 64, "is_inf": 0, "is_neg_inf": 0,
    "is_pos_inf": 0, "lgamma": 256, "square": 0,
}  # fmt: skip
BINARY = {
    "add": 0, "subtract": 0, "multiply": 0, "divide": 0, "remainder": 0, "maximum": 0, "minimum": 0, "power": 16,
    "atan2": 4, "and": 0, "or": 0, "xor": 0, "shift_left": 0, "shift_right_arithmetic": 0, "shift_right_logical": 0,
    "complex": 0,
}  # fmt: skip
CHLO_BINARY = {"next_after": 0, "mulhi": 0, "zeta": 1024, "polygamma": 1024}
DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE")
FLAGS = ("is_finite", "is_inf", "is_neg_inf", "is_pos_inf")
#: what goes through several roundings
COMPLEX_ULPS = 64


def _ulps(dtype: str, wide: float) -> float:
    if "complex" in dtype:
        return COMPLEX_ULPS
    return wide if dtype in ("f32", "f64") or wide == 0 else 1


def elementwise(dtype: str) -> Iterator[Case]:
    x = values(dtype)
    a, b = pairs(dtype)
    t, p = tensor(x.shape, dtype), tensor(a.shape, dtype)
    part = {"complex<f32>": "f32", "complex<f64>": "f64"}.get(dtype, dtype)
    for dialect, table in (("stablehlo", UNARY), ("chlo", CHLO_UNARY)):
        for op, wide in table.items():
            out = dtype
            if op in FLAGS:
                out = "i1"
            elif op in ("abs", "real", "imag"):
                out = part
            r = tensor(x.shape, out)
            if op == "optimization_barrier":
                line = f"%r0 = stablehlo.optimization_barrier %x0 : {t}"
            elif dialect == "chlo":
                line = f"%r0 = chlo.{op} %x0 : {t} -> {r}"
            else:
                line = f'%r0 = "stablehlo.{op}"(%x0) : ({t}) -> {r}'
            yield Case(f"{dialect}.{op}", line, (x,), (t,), (r,), _ulps(dtype, wide))
    for op, wide in BINARY.items():
        r = p if op != "complex" else tensor(a.shape, f"complex<{dtype}>")
        line = f'%r0 = "stablehlo.{op}"(%x0, %x1) : ({p}, {p}) -> {r}'
        right = _divisors(b) if op in ("divide", "remainder") else b
        yield Case(f"stablehlo.{op}", line, (a, right), (p, p), (r,), _ulps(dtype, wide))
    for op, wide in CHLO_BINARY.items():
        line = f"%r0 = chlo.{op} %x0, %x1 : {p}, {p} -> {p}"
        known = {"next_after": _next_after, "mulhi": _mulhi}.get(op)  # not by way of CHLO's own decomposition
        yield Case(f"chlo.{op}", line, (a, b), (p, p), (p,), _ulps(dtype, wide), expected=known)
    flag = tensor(a.shape, "i1")
    for direction in DIRECTIONS:
        line = f"%r0 = stablehlo.compare {direction}, %x0, %x1 : ({p}, {p}) -> {flag}"
        yield Case(f"compare {direction}", line, (a, b), (p, p), (flag,))
    if dtype == "i1":
        return
    c = np.roll(b, 3)
    yield Case("stablehlo.clamp", f"%r0 = stablehlo.clamp %x0, %x1, %x2 : {p}", (a, b, c), (p, p, p), (p,))
    low, high, s = b[:1].reshape(()), c[:1].reshape(()), tensor((), dtype)
    line = f"%r0 = stablehlo.clamp %x0, %x1, %x2 : ({s}, {p}, {s}) -> {p}"
    yield Case("clamp by scalars", line, (low, a, high), (s, p, s), (p,))


def _next_after(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        found = np.nextafter(x, y)
    # C leaves the sign of equal zeros to the second operand; ml_dtypes does not
    return [np.where(x.astype(np.float64) == y.astype(np.float64), y, found).astype(x.dtype)]


def _mulhi(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    bits = next(bits_of(name) for name, t in DTYPES.items() if np.dtype(t) == x.dtype)
    wide = [(int(a) * int(b)) >> bits for a, b in zip(x, y, strict=True)]
    return [np.array(wide, object).astype(np.int64 if "uint" not in x.dtype.name else np.uint64).astype(x.dtype)]


def _divisors(x: np.ndarray) -> np.ndarray:
    """``x`` without the integers by which the interpreter cannot divide; test_cases.py has those."""
    if x.dtype.kind == "b" or "int" not in x.dtype.name:
        return x
    one = np.ones((), x.dtype)
    return np.where((x == np.zeros((), x.dtype)) | (x == -one), one, x).astype(x.dtype)


def selections(dtype: str) -> Iterator[Case]:
    a, b = pairs(dtype)
    p, flag = tensor(a.shape, dtype), tensor(a.shape, "i1")
    which = np.arange(a.size) % 3 == 0
    line = f"%r0 = stablehlo.select %x0, %x1, %x2 : {flag}, {p}"
    yield Case("stablehlo.select", line, (which, a, b), (flag, p, p), (p,))
    line = f"%r0 = stablehlo.select %x0, %x1, %x2 : tensor<i1>, {p}"
    yield Case("select by a scalar", line, (np.array(False), a, b), ("tensor<i1>", p, p), (p,))
    for exponent, mantissa in ((5, 10), (8, 7), (4, 3), (2, 1), (1, 0), (3, 0), (11, 52)):
        line = f"%r0 = stablehlo.reduce_precision %x0, format = e{exponent}m{mantissa} : {p}"
        yield Case(f"reduce_precision e{exponent}m{mantissa}", line, (a,), (p,), (p,))


def conversions(dtype: str) -> Iterator[Case]:
    x = values(dtype)
    t = tensor(x.shape, dtype)
    for other in DTYPES:
        r = tensor(x.shape, other)
        line = f"%r0 = stablehlo.convert %x0 : ({t}) -> {r}"
        # (the interpreter takes the NaN of powers of two for an infinity)
        odd = other in PARTIAL or (dtype == "f8E8M0FNU" and "f" in other and "complex" not in other)
        known = functools.partial(_converted, target=other) if odd else None
        yield Case(f"convert to {other}", line, (x,), (t,), (r,), expected=known)
    wide = bits_of(dtype) if "complex" not in dtype else 2 * bits_of(dtype[8:-1])
    rows = values(dtype)[: values(dtype).size // 16 * 16] if values(dtype).size >= 16 else np.resize(x, 16)
    for other in DTYPES:
        narrow = bits_of(other) if "complex" not in other else 2 * bits_of(other[8:-1])
        if narrow == wide:
            source, target = rows.shape, rows.shape
        elif wide > narrow and wide % narrow == 0:
            source, target = rows.shape, (*rows.shape, wide // narrow)
        elif narrow % wide == 0 and narrow // wide <= 16:
            source = (16 // (narrow // wide), narrow // wide)
            target = source[:1]
        else:
            continue
        s, r = tensor(source, dtype), tensor(target, other)
        line = f"%r0 = stablehlo.bitcast_convert %x0 : ({s}) -> {r}"
        yield Case(f"bitcast_convert to {other}", line, (np.resize(rows, source),), (s,), (r,))


def _converted(x: np.ndarray, target: str) -> list[np.ndarray]:
    """``x`` in another float type, as ml_dtypes does it; a wide integer is rounded once."""
    if x.dtype.kind == "c":
        x = x.real
    if target == "f8E8M0FNU" and x.dtype.kind in "iu":
        powers = [_power(int(v)) for v in x]
        return [np.array(powers, np.uint8).view(DTYPES[target])]
    wide = x.astype(np.float64)
    if target == "f8E8M0FNU":  # the way by f32 takes what is tiny for zero
        wide = np.where((wide > 0) & (wide < 2.0**-127), 2.0**-127, wide)
    with np.errstate(all="ignore"):
        return [wide.astype(DTYPES[target])]


def _power(value: int) -> int:
    """The exponent of the power of two nearest to a positive integer, the larger one of two; NaN for the others."""
    if value <= 0:
        return 0xFF
    low = value.bit_length() - 1
    return 127 + low + int(2 * value >= 3 << low)


# --------------------------------------------------------------------------------------------------------- the rest


def reducer(op: str, dtype: str, at: str = "a") -> str:
    t = f"tensor<{dtype}>"
    return (
        f"({{\n^bb0(%{at}0: {t}, %{at}1: {t}):\n%{at}2 = stablehlo.{op} %{at}0, %{at}1 : {t}\n"
        f"stablehlo.return %{at}2 : {t}\n}})"
    )


def shaped_ops(dtype: str) -> Iterator[Case]:
    from type_sweep_shaped import cases

    yield from cases(dtype)


GROUPS: dict[str, Callable[[str], Iterator[Case]]] = {
    "elementwise": elementwise,
    "selections": selections,
    "conversions": conversions,
    "shaped": shaped_ops,
}


# ---------------------------------------------------------------------------------------------------------- running

#: what the interpreter does on the bits
_BY_BITS = ("constant", "bitcast_convert", "convert to")


def cases_of(group: str, dtype: str) -> Iterator[Case]:
    """The cases of a group on a type, with the right oracle."""
    for case in GROUPS[group](dtype):
        narrow = dtype in NARROW and not case.name.startswith(_BY_BITS) and case.expected is None
        yield dataclasses.replace(case, narrow=dtype) if narrow else case


def verifies(case: Case) -> bool:
    from kc.context import make_context, parse_module
    from kc.errors import KcError

    try:
        parse_module(case.module(), make_context())
    except KcError:
        return False
    return True


def compiled(cases: list[Case]) -> list[list[np.ndarray] | str]:
    """kc's results of each case, or what it says instead. All are compiled together where that works."""
    import kc

    try:
        flat = iter([np.asarray(r) for r in kc.compile(module(cases))(*(a for c in cases for a in c.arrays))])
        return [[next(flat) for _ in c.results] for c in cases]
    except Exception as error:
        if len(cases) == 1:
            return [f"kc: {type(error).__name__}: {error}"]
    return [compiled([case])[0] for case in cases]


def references(cases: list[Case]) -> list[list[np.ndarray] | str]:
    """The right results of each case, or why there are none (the interpreter ends the process on what it lacks)."""
    asked = [c.stated() for c in cases if c.expected is None]
    found: Iterator[np.ndarray] | None = None
    if asked:
        try:
            found = iter(in_process(interpret, module(asked), *(a for c in asked for a in c.arrays)))
        except ChildError as error:
            if len(cases) == 1:
                return [f"interpreter: {error}"]
            return [references([case])[0] for case in cases]
    return [
        c.expected(*c.arrays) if c.expected else c.rounded([next(found) for _ in c.results])  # type: ignore[arg-type]
        for c in cases
    ]


def outcomes(cases: list[Case]) -> dict[str, str]:
    """By name: "" when kc's results are the right ones, otherwise what is wrong."""
    answer = {}
    for case, actual, expected in zip(cases, compiled(cases), references(cases), strict=True):
        wrong = next((r for r in (actual, expected) if isinstance(r, str)), "")
        if not wrong:
            # where NaN becomes a zero its sign is nobody's
            partial = case.narrow in PARTIAL or any(name in t for t in case.results for name in PARTIAL)
            ulps = max(case.ulps, 0.5) if partial else case.ulps
            both = zip(actual, expected, strict=True)
            wrong = next((f"wrong: {w}" for a, b in both if (w := close(a, b, ulps, case.arrays))), "")
        answer[case.name] = wrong
    return answer


def sweep_type(dtype: str, groups: list[str], ops: list[str]) -> dict[str, str]:
    """The outcomes of all cases of one type."""
    found: dict[str, str] = {}
    for group in groups:
        cases = [c for c in cases_of(group, dtype) if not ops or any(o in c.name for o in ops)]
        cases = [c for c in cases if verifies(c)]
        for start in range(0, len(cases), 16):
            found |= outcomes(cases[start : start + 16])
    return found


def in_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """``work(*arguments)`` in a child of this process. Raises ChildError for what it raises, and when it crashes."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = (True, work(*arguments))
        except BaseException as error:
            answer = (False, f"{type(error).__name__}: {error}")
        with os.fdopen(writing, "wb") as stream:
            pickle.dump(answer, stream)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    _, status = os.waitpid(child, 0)
    done, answer = pickle.loads(data) if data else (False, f"it crashed (status {status})")
    if not done:
        raise ChildError(answer)
    return answer


class ChildError(Exception):
    """What went wrong in a child."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--types", default=",".join(DTYPES))
    parser.add_argument("--groups", default=",".join(GROUPS))
    parser.add_argument("--ops", default="")
    parser.add_argument("--json")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    whole: dict[str, dict[str, str]] = {}
    for dtype in options.types.split(","):
        whole[dtype] = {}
        for group in options.groups.split(","):
            try:
                whole[dtype] |= in_process(sweep_type, dtype, [group], [o for o in options.ops.split(",") if o])
            except ChildError as error:
                whole[dtype][group] = str(error)
        bad = {k: v for k, v in whole[dtype].items() if v and not v.startswith("interpreter")}
        unseen = sum(v.startswith("interpreter") for v in whole[dtype].values())
        print(
            f"{dtype}: {len(whole[dtype])} ops, {len(bad)} wrong, {unseen} that the interpreter does not run",
            flush=True,
        )
        for name, text in (whole[dtype] if options.v else bad).items():
            print(f"    {name}: {text.splitlines()[0][:200] if text else 'ok'}", flush=True)
        if options.json:
            Path(options.json).write_text(json.dumps(whole, indent=1))


if __name__ == "__main__":
    main()
