"""Run the examples for a GPU where there is one: judge the proposals, check the programs, time them.

    PYTHONPATH=FARM python3 test/agents/gpu/run_examples.py FOLDER OUT [EXAMPLE-TO-SANITIZE ...]

``FOLDER`` is what ``make_examples.py`` wrote. Needs kc.runtime, NumPy, ml_dtypes and PyTorch with CUDA; no MLIR. Prints
one JSON object a line; verdicts go to ``OUT/KEY.json``. Programs are checked against PyTorch in f64, and timed by CUDA
events in rounds that interleave the original, the proposal and PyTorch's own form, in an order shuffled each time.
"""
from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from kc.agents.realize.there import judge
from kc.runtime import load


def softmax_transposed(x: Any) -> Any:
    return torch.softmax(x, 1).T.contiguous()


def mish(x: Any) -> Any:
    return torch.nn.functional.mish(x)


def top_p(x: Any) -> Any:
    p = torch.softmax(x, 1)
    return torch.where(torch.cumsum(p, 1) <= 0.9, p, torch.zeros_like(p))


def linear_distance(x: Any, w: Any, b: Any) -> Any:
    y = torch.addmm(b, x, w)
    return y - y.amax(1, keepdim=True)


def _normal(*shape: int, scale: float = 1.0) -> Any:
    return torch.randn(*shape, device="cuda") * scale


#: example -> what it computes, arguments at several sizes, largest error relative to the largest result
CASES: dict[str, tuple[Callable[..., Any], list[Callable[[], tuple[Any, ...]]], float]] = {
    "gpu_online_softmax": (
        softmax_transposed,
        [
            lambda: (_normal(256, 32768),),
            lambda: (_normal(2048, 50257),),
            lambda: (_normal(37, 1001),),
            lambda: (_normal(5, 3),),
        ],
        2e-6,
    ),
    "asm_ptx_edit": (mish, [lambda: (_normal(24576, 4096),), lambda: (_normal(3, 4096, scale=30),)], 1e-6),
    "triton_cumsum": (top_p, [lambda: (_normal(4096, 4096),), lambda: (_normal(7, 4096),)], 1e-5),
    "cublaslt_linear": (
        linear_distance,
        [
            lambda: (_normal(8192, 4096), _normal(4096, 512, scale=0.02), _normal(512)),
            lambda: (_normal(33, 70), _normal(70, 512, scale=0.1), _normal(512)),
        ],
        1e-5,
    ),
}


def check(name: str, programs: dict[str, Any]) -> dict[str, float]:
    """Largest error of each program over all sizes."""
    function, sizes, bound = CASES[name]
    worst: dict[str, float] = {}
    for make in sizes:
        arguments = make()
        want = function(*(a.double() for a in arguments))
        for which, program in programs.items():
            (got,) = program(*arguments)
            error = (got.double() - want).abs()
            if name == "triton_cumsum":  # an element at the limit may fall on either side of it
                assert (error > 1e-6).sum() <= 2 * arguments[0].shape[0], "more than the elements at the limit differ"
                error = error[error <= 1e-6]
            worst[which] = max(worst.get(which, 0.0), float(error.max() / want.abs().max()))
    assert all(value <= bound for value in worst.values()), f"{name}: {worst} exceeds {bound}"
    return worst


def timed(function: Callable[[], Any], seconds: float = 0.02) -> float:
    """Microseconds of one call: enough calls between two events to fill ``seconds``."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    function()
    torch.cuda.synchronize()
    began = time.perf_counter()
    function()
    torch.cuda.synchronize()
    calls = max(3, min(200, int(seconds / max(1e-6, time.perf_counter() - began))))
    start.record()
    for _ in range(calls):
        function()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) * 1e3 / calls


def time_programs(name: str, programs: dict[str, Any], rounds: int = 9) -> dict[str, Any]:
    """Medians over shuffled rounds at the first size, and the quartiles of the speed-up within rounds."""
    function, sizes, _ = CASES[name]
    arguments = sizes[0]()
    forms: dict[str, Callable[[], Any]] = {key: (lambda p=p: p(*arguments)) for key, p in programs.items()}
    forms["torch"] = lambda: function(*arguments)
    times: dict[str, list[float]] = {key: [] for key in forms}
    for _ in range(rounds):
        order = list(forms)
        random.shuffle(order)
        for key in order:
            times[key].append(timed(forms[key]))
    gain = [a / b for a, b in zip(times["original"], times["proposal"], strict=True)]
    return {
        "shapes": [list(a.shape) for a in arguments],
        "us": {key: round(statistics.median(values), 2) for key, values in times.items()},
        "speedup": round(statistics.median(gain), 3),
        "quartiles": [round(q, 3) for q in statistics.quantiles(gain)[::2]],
    }


def main(folder: Path, out: Path, sanitized: Sequence[str] = ()) -> int:
    """All examples; how many went wrong. ``sanitized``: those whose packs also run under compute-sanitizer."""
    torch.backends.cuda.matmul.allow_tf32 = False
    out.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for name in CASES:
        try:
            programs = {which: load(folder / name / f"{which}.kca") for which in ("original", "proposal")}
            row: dict[str, Any] = {"example": name, "errors": check(name, programs)}
            row |= time_programs(name, programs)
        except Exception as error:  # the other examples go on
            row = {"example": name, "failed": f"{type(error).__name__}: {error}"[:2000]}
            wrong += 1
        print(json.dumps(row), flush=True)
        for pack in sorted((folder / name / "packs").glob("*/pack.json")):
            verdict = judge(pack.parent, sanitize=name in sanitized)
            (out / f"{pack.parent.name}.json").write_text(json.dumps(verdict, indent=1) + "\n")
            print(json.dumps({"pack": pack.parent.name, "of": name, **verdict}), flush=True)
            wrong += not verdict["accepted"]
    return wrong


if __name__ == "__main__":
    sys.exit(min(1, main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])))
