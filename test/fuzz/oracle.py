"""The reference interpreter of StableHLO on a program's texts: in the program's own types, and in f64 with noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Noise
from .tensors import COMPLEX, Tensor, dtype


class Interpreted:
    """A text ready to be evaluated on several sets of arguments."""

    def __init__(self, text: str):
        from kc.bindings import stablehlo_api
        from kc.context import make_context, parse_module
        from kc.pass_manager import run_pipeline

        self._api = stablehlo_api
        self._module = parse_module(text, make_context())
        run_pipeline(
            self._module,
            "builtin.module(func.func(chlo-legalize-to-stablehlo,stablehlo-legalize-composite-to-call),inline)",
        )

    def __call__(self, arrays: list[tuple[np.ndarray, str]]) -> list[np.ndarray]:
        """Evaluate on arrays with their element types; complex ones cross as their parts."""
        from kc.bindings import ir

        with self._module.context, ir.Location.unknown():
            attributes = [ir.Attribute.parse(t) for a, e in arrays for t in _literals(a, e)]
            return [np.array(r) for r in self._api.eval_module(self._module, attributes)]


def low(text: str, arguments: list[tuple[np.ndarray, str]], results: list[str]) -> list[np.ndarray]:
    """The results in the program's own types (``results``: their element types)."""
    return _joined(Interpreted(text)(arguments), results, True)


def wide(
    text: str,
    noises: list[Noise],
    arguments: list[tuple[np.ndarray, str]],
    results: list[str],
    seeds: list[int | None],
    evaluator: dict[str, Any],
) -> list[list[np.ndarray]]:
    """The results in f64 (or complex128) once per seed; None: without noise. ``evaluator`` keeps the parsed text."""
    if "module" not in evaluator:
        evaluator["module"] = Interpreted(text)
    widened = [_widened(a, e) for a, e in arguments]
    out = []
    for seed in seeds:
        rng = None if seed is None else np.random.default_rng(seed)
        noise = [(n.draw(rng), "f64") for n in noises]
        out.append(_joined(evaluator["module"](widened + noise), results, False))
    return out


def _widened(array: np.ndarray, element: str) -> tuple[np.ndarray, str]:
    if element in COMPLEX:
        return array.astype(np.complex128), "complex<f64>"
    if element.startswith(("f", "bf")):
        return array.astype(np.float64), "f64"
    return array, element


def _joined(parts: list[np.ndarray], elements: list[str], narrow: bool) -> list[np.ndarray]:
    """Undo what ``Program.low`` did to results at the border."""
    left, out = iter(parts), []
    for element in elements:
        first = next(left)
        if element in COMPLEX:
            second = next(left)
            value = np.empty(first.shape, np.complex64 if first.dtype == np.float32 else np.complex128)
            value.real, value.imag = first, second
            out.append(value)
        elif narrow or not element.startswith(("f", "bf")):
            with np.errstate(all="ignore"):
                out.append(first.astype(dtype(element)))
        else:
            out.append(first.astype(np.float64))
    return out


def _literals(array: np.ndarray, element: str) -> list[str]:
    if element in COMPLEX:
        kind = "f32" if element == COMPLEX[0] else "f64"
        return [_literal(np.array(p, order="C"), kind) for p in (array.real, array.imag)]
    return [_literal(np.array(array, order="C"), element)]


def _literal(array: np.ndarray, element: str) -> str:
    kind = Tensor(array.shape, element)
    if array.size == 0:
        return f"dense<> : {kind}"
    if element == "i1":
        return f"dense<{str(array.astype(int).tolist()).replace('1', 'true').replace('0', 'false')}> : {kind}"
    if array.size > 1:
        return f'dense<"0x{array.tobytes().hex().upper()}"> : {kind}'
    # a hex string is no literal for one element: its bits are
    one = array.reshape(1)
    if element.startswith(("i", "ui")):
        return f"dense<{int(one[0])}> : {kind}"
    return f"dense<0x{int(one.view(f'u{array.itemsize}')[0]):0{2 * array.itemsize}X}> : {kind}"
