"""GPU kernels side by side with PyTorch, through kc's whole road and its runtime.

    python bench/gpu_kernels.py build DIR [NAME ...]    compile the cases to artifacts (no GPU needed)
    python bench/gpu_kernels.py run DIR [NAME ...]      check and time them (needs a GPU and PyTorch)

Every case is StableHLO text. ``run`` compares with PyTorch in float32 first, then times both in rounds of shuffled
order: ten calls in a row after a pause and one call to warm up. Figures: median over the rounds, spread in brackets.
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Case(NamedTuple):
    """``inputs``: (shape, dtype) each; ``work`` in operations (``unit`` TF/s) or bytes (GB/s) a call."""

    text: str
    inputs: tuple[tuple[tuple[int, ...], str], ...]
    reference: str
    work: float
    unit: str


def _matmul(size: int, layout: str = "kn", epilogue: str = "") -> Case:
    contracting = 0 if layout == "kn" else 1
    square = f"tensor<{size}x{size}xbf16>"
    dims = f"contracting_dims = [1] x [{contracting}]"
    lines = [f"%0 = stablehlo.dot_general %x, %w, {dims} : ({square}, {square}) -> {square}"]
    result, arguments = "%0", f"%x: {square}, %w: {square}"
    inputs: list[tuple[tuple[int, ...], str]] = [((size, size), "bf16"), ((size, size), "bf16")]
    if epilogue:
        arguments += f", %b: tensor<{size}xbf16>"
        inputs.append(((size,), "bf16"))
        wide = f"tensor<{size}x{size}xf32>"
        lines += [
            f"%1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<{size}xbf16>) -> {square}",
            f"%2 = stablehlo.add %0, %1 : {square}",
            f"%3 = stablehlo.convert %2 : ({square}) -> {wide}",
            f"%half = stablehlo.constant dense<0.5> : {wide}",
            f"%one = stablehlo.constant dense<1.0> : {wide}",
            f"%root = stablehlo.constant dense<0.70710678> : {wide}",
            f"%4 = stablehlo.multiply %3, %root : {wide}",
            f"%5 = chlo.erf %4 : {wide} -> {wide}",
            f"%6 = stablehlo.add %5, %one : {wide}",
            f"%7 = stablehlo.multiply %3, %half : {wide}",
            f"%8 = stablehlo.multiply %7, %6 : {wide}",
            f"%9 = stablehlo.convert %8 : ({wide}) -> {square}",
        ]
        result = "%9"
    reference = "matmul" + ("_nk" if layout == "nk" else "") + ("_gelu" if epilogue else "")
    return Case(_main(arguments, lines, result, square), tuple(inputs), reference, 2.0 * size**3, "TF/s")


def _softmax(rows: int, columns: int, kind: str) -> Case:
    whole, wide, row = f"tensor<{rows}x{columns}x{kind}>", f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>"
    lines = [
        f"%0 = stablehlo.convert %x : ({whole}) -> {wide}",
        "%low = stablehlo.constant dense<0xFF800000> : tensor<f32>",
        "%zero = stablehlo.constant dense<0.0> : tensor<f32>",
        f"%1 = stablehlo.reduce(%0 init: %low) applies stablehlo.maximum across dimensions = [1] "
        f": ({wide}, tensor<f32>) -> {row}",
        f"%2 = stablehlo.broadcast_in_dim %1, dims = [0] : ({row}) -> {wide}",
        f"%3 = stablehlo.subtract %0, %2 : {wide}",
        f"%4 = stablehlo.exponential %3 : {wide}",
        f"%5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] "
        f": ({wide}, tensor<f32>) -> {row}",
        f"%6 = stablehlo.broadcast_in_dim %5, dims = [0] : ({row}) -> {wide}",
        f"%7 = stablehlo.divide %4, %6 : {wide}",
        f"%8 = stablehlo.convert %7 : ({wide}) -> {whole}",
    ]
    size = 2 if kind == "bf16" else 4
    case = _main(f"%x: {whole}", lines, "%8", whole)
    return Case(case, (((rows, columns), kind),), "softmax", 2.0 * size * rows * columns, "GB/s")


def _layer_norm(rows: int, columns: int) -> Case:
    whole, wide = f"tensor<{rows}x{columns}xbf16>", f"tensor<{rows}x{columns}xf32>"
    row, vector = f"tensor<{rows}xf32>", f"tensor<{columns}xbf16>"

    def mean(source: str, name: str) -> list[str]:
        return [
            f"%{name}_s = stablehlo.reduce({source} init: %zero) applies stablehlo.add across dimensions = [1] "
            f": ({wide}, tensor<f32>) -> {row}",
            f"%{name}_m = stablehlo.divide %{name}_s, %count : {row}",
        ]

    lines = [
        f"%0 = stablehlo.convert %x : ({whole}) -> {wide}",
        "%zero = stablehlo.constant dense<0.0> : tensor<f32>",
        f"%count = stablehlo.constant dense<{float(columns)}> : {row}",
        f"%epsilon = stablehlo.constant dense<1.0e-5> : {row}",
        *mean("%0", "a"),
        f"%1 = stablehlo.broadcast_in_dim %a_m, dims = [0] : ({row}) -> {wide}",
        f"%2 = stablehlo.subtract %0, %1 : {wide}",
        f"%3 = stablehlo.multiply %2, %2 : {wide}",
        *mean("%3", "b"),
        f"%4 = stablehlo.add %b_m, %epsilon : {row}",
        f"%5 = stablehlo.rsqrt %4 : {row}",
        f"%6 = stablehlo.broadcast_in_dim %5, dims = [0] : ({row}) -> {wide}",
        f"%7 = stablehlo.multiply %2, %6 : {wide}",
    ]
    value = "%7"
    for number, (argument, op) in enumerate((("%g", "multiply"), ("%b", "add"))):
        lines += [
            f"%v{number} = stablehlo.convert {argument} : ({vector}) -> tensor<{columns}xf32>",
            f"%w{number} = stablehlo.broadcast_in_dim %v{number}, dims = [1] : (tensor<{columns}xf32>) -> {wide}",
            f"%y{number} = stablehlo.{op} {value}, %w{number} : {wide}",
        ]
        value = f"%y{number}"
    lines.append(f"%out = stablehlo.convert {value} : ({wide}) -> {whole}")
    text = _main(f"%x: {whole}, %g: {vector}, %b: {vector}", lines, "%out", whole)
    inputs = (((rows, columns), "bf16"), ((columns,), "bf16"), ((columns,), "bf16"))
    return Case(text, inputs, "layer_norm", 4.0 * rows * columns, "GB/s")


def _attention(batch: int, heads: int, length: int, depth: int, causal: bool) -> Case:
    whole, scores = f"tensor<{batch}x{heads}x{length}x{depth}xbf16>", f"tensor<{batch}x{heads}x{length}x{length}xf32>"
    row, half = f"tensor<{batch}x{heads}x{length}xf32>", scores.replace("f32", "bf16")
    lines = [
        "%low = stablehlo.constant dense<0xFF800000> : tensor<f32>",
        "%zero = stablehlo.constant dense<0.0> : tensor<f32>",
        f"%0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] "
        f": ({whole}, {whole}) -> {scores}",
        f"%scale = stablehlo.constant dense<{depth**-0.5}> : {scores}",
        f"%1 = stablehlo.multiply %0, %scale : {scores}",
    ]
    value = "%1"
    if causal:
        square = f"tensor<{length}x{length}xi32>"
        mask = f"tensor<{batch}x{heads}x{length}x{length}xi1>"
        lines += [
            f"%i = stablehlo.iota dim = 0 : {square}",
            f"%j = stablehlo.iota dim = 1 : {square}",
            f"%keep = stablehlo.compare GE, %i, %j : ({square}, {square}) -> tensor<{length}x{length}xi1>",
            f"%mask = stablehlo.broadcast_in_dim %keep, dims = [2, 3] : (tensor<{length}x{length}xi1>) -> {mask}",
            f"%minus = stablehlo.constant dense<0xFF800000> : {scores}",
            f"%2 = stablehlo.select %mask, %1, %minus : {mask}, {scores}",
        ]
        value = "%2"
    lines += [
        f"%3 = stablehlo.reduce({value} init: %low) applies stablehlo.maximum across dimensions = [3] "
        f": ({scores}, tensor<f32>) -> {row}",
        f"%4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : ({row}) -> {scores}",
        f"%5 = stablehlo.subtract {value}, %4 : {scores}",
        f"%6 = stablehlo.exponential %5 : {scores}",
        f"%7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [3] "
        f": ({scores}, tensor<f32>) -> {row}",
        f"%8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : ({row}) -> {scores}",
        f"%9 = stablehlo.divide %6, %8 : {scores}",
        f"%p = stablehlo.convert %9 : ({scores}) -> {half}",
        f"%o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] "
        f": ({half}, {whole}) -> {whole}",
    ]
    text = _main(f"%q: {whole}, %k: {whole}, %v: {whole}", lines, "%o", whole)
    work = 4.0 * batch * heads * length * length * depth / (2 if causal else 1)
    inputs = (((batch, heads, length, depth), "bf16"),) * 3
    return Case(text, inputs, "attention_causal" if causal else "attention", work, "TF/s")


def _main(arguments: str, lines: list[str], result: str, kind: str) -> str:
    body = "\n    ".join([*lines, f"return {result} : {kind}"])
    return f"module {{\n  func.func @main({arguments}) -> {kind} {{\n    {body}\n  }}\n}}\n"


CASES = {
    "matmul_4096": _matmul(4096),
    "matmul_8192": _matmul(8192),
    "matmul_4096_nk": _matmul(4096, "nk"),
    "matmul_gelu_8192": _matmul(8192, epilogue="gelu"),
    "softmax_f32": _softmax(8192, 8192, "f32"),
    "softmax_bf16": _softmax(8192, 8192, "bf16"),
    "softmax_long": _softmax(4096, 32768, "bf16"),
    "layer_norm": _layer_norm(16384, 4096),
    "attention_causal": _attention(4, 32, 4096, 128, True),
    "attention_full": _attention(4, 32, 4096, 128, False),
    "attention_64": _attention(4, 32, 4096, 64, True),
}


def build(folder: Path, names: list[str]) -> None:
    """Writes one artifact a case, and says which kernels it holds."""
    import kc

    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        start = time.perf_counter()
        executable = kc.compile(CASES[name].text, target="nvptx")
        executable.save(str(folder / f"{name}.kca"))
        kernels = [(kernel["name"], kernel.get("regs")) for kernel in executable.manifest["kernels"]]
        print(f"{name:18s} {time.perf_counter() - start:5.1f} s  {kernels}", flush=True)


def _references() -> dict[str, Callable[..., Any]]:
    import torch
    import torch.nn.functional as functional
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def attention(causal: bool) -> Callable[..., Any]:
        def run(q: Any, k: Any, v: Any) -> Any:
            backends = [SDPBackend.CUDNN_ATTENTION] if q.dtype == torch.bfloat16 else [SDPBackend.MATH]
            with sdpa_kernel(backends):
                return functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

        return run

    return {
        "matmul": torch.matmul,
        "matmul_nk": lambda x, w: torch.matmul(x, w.t()),
        "matmul_gelu": lambda x, w, b: functional.gelu(torch.matmul(x, w) + b),
        "softmax": lambda x: torch.softmax(x, -1),
        "layer_norm": lambda x, g, b: functional.layer_norm(x, (x.shape[-1],), g, b, 1e-5),
        "attention": attention(False),
        "attention_causal": attention(True),
    }


def run(folder: Path, names: list[str], rounds: int) -> int:
    """Checks and times; the number of cases that were wrong."""
    import torch

    import kc.runtime

    kinds = {"bf16": torch.bfloat16, "f32": torch.float32}
    torch.backends.cuda.matmul.allow_tf32 = False
    references, wrong = _references(), 0
    records: list[dict[str, Any]] = []
    for name in names:
        case = CASES[name]
        program = kc.runtime.load(str(folder / f"{name}.kca"))
        arrays = [torch.randn(shape, device="cuda").to(kinds[kind]) for shape, kind in case.inputs]
        if case.reference.startswith("matmul"):
            arrays[1] *= arrays[1].shape[0] ** -0.5
        plain = references[case.reference]
        (found,) = program(*arrays)
        few = [array[:1, :2].float() if "attention" in name else array.float() for array in arrays]
        exact = plain(*few)
        part = found[:1, :2] if "attention" in name else found
        error = ((part.float() - exact).norm() / exact.norm()).item()
        bound = 1e-5 if found.dtype == torch.float32 else 6e-3
        if not error < bound:
            wrong += 1
            print(f"{name:18s} WRONG: relative error {error:.2e}", flush=True)
            continue
        del few, exact, part, found
        entries: dict[str, Callable[[], Any]] = {
            "kc": functools.partial(program, *arrays),
            "torch": functools.partial(plain, *arrays),
        }
        if not name.startswith(("matmul_4", "matmul_8", "attention")):
            entries["torch.compile"] = functools.partial(torch.compile(plain, dynamic=False), *arrays)
        times = _times(entries, rounds)
        for entry, samples in sorted(times.items(), key=lambda item: statistics.median(item[1])):
            median = statistics.median(samples)
            scale = case.work / (1e9 if case.unit == "TF/s" else 1e6)
            spread = f"{scale / max(samples):.0f}-{scale / min(samples):.0f}"
            ratio = median / statistics.median(times["kc"])
            print(
                f"{name:18s} {entry:14s} {median * 1e3:9.1f} us {scale / median:8.1f} {case.unit} ({spread})  "
                f"error {error:.1e}  this/kc {ratio:.3f}",
                flush=True,
            )
            records.append({"case": name, "entry": entry, "ms": samples})
    (folder / "results.json").write_text(json.dumps(records))
    return wrong


def _times(entries: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Milliseconds a call, of ten calls in a row, in shuffled rounds."""
    import torch

    calls = 10
    for call in entries.values():
        for _ in range(3):
            call()
    samples: dict[str, list[float]] = {name: [] for name in entries}
    for _ in range(rounds):
        order = list(entries)
        random.shuffle(order)
        for name in order:
            torch.cuda.synchronize()
            time.sleep(0.1)
            entries[name]()
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            for _ in range(calls):
                entries[name]()
            end.record()
            torch.cuda.synchronize()
            samples[name].append(start.elapsed_time(end) / calls)
    return samples


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["build", "run"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    names = options.names or list(CASES)
    unknown = [name for name in names if name not in CASES]
    if unknown:
        parser.error(f"no case {', '.join(unknown)}: one of {', '.join(CASES)}")
    if options.action == "build":
        build(options.folder, names)
        return 0
    return 1 if run(options.folder, names, options.rounds) else 0


if __name__ == "__main__":
    sys.exit(main())
