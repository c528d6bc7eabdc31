"""Compile time beside XLA CPU: both compile the same StableHLO modules in one process, in shuffled order.

    python bench/compile_time.py                        the built-in set (needs jax, as all modes with XLA do)
    python bench/compile_time.py FILE_OR_DIR…           modules given as files (``*.mlir`` of a folder)
    python bench/compile_time.py --sample 60 DIR        a fixed random sample of them
    python bench/compile_time.py scale                  kc alone: chains of 2,500 to 20,000 ops, wide and deep modules
    python bench/compile_time.py constant               kc alone: a constant of 256 MiB, and the memory that it costs

A compile is from text to a program that is loaded and can be called; kc's object cache is off, and each module is
compiled once before it is timed by neither. Times are milliseconds of wall clock and, since cores are shared, of CPU
(all threads and child processes). A file's time is the median of its rounds; a row gives median, 95th
percentile and mean over the files, and ``ratio`` is kc over XLA: below 1, kc is faster. Files that one of the two
cannot compile are named and left out of both.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["KC_CACHE"] = "0"

Times = dict[str, tuple[float, float]]  # file -> milliseconds of wall clock and of CPU


# ------------------------------------------------------------------------------------------------------- contenders


def compile_kc(text: str) -> Any:
    """A program of kc's, loaded."""
    import kc

    return kc.compile(text).program


def make_compile_xla() -> Callable[[str], Any]:
    """The function that compiles with XLA CPU, through the client that jax uses."""
    import jax

    jax.config.update("jax_enable_x64", True)
    from jax.extend import backend
    from jaxlib import xla_client

    client: Any = backend.get_backend("cpu")
    devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
    return lambda text: client.compile_and_load(text, devices, xla_client.CompileOptions())


def cpu_seconds() -> float:
    """CPU time of this process, of its children that have ended, and of those that live (kc's worker, on Linux)."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = time.process_time() + ended.ru_utime + ended.ru_stime
    for children in Path("/proc/self/task").glob("*/children"):
        for child in children.read_text().split():
            for thread in Path(f"/proc/{child}/task").glob("*/schedstat"):
                total += int(thread.read_text().split()[0]) * 1e-9
    return total


# ------------------------------------------------------------------------------------------------------- the table


def compare(modules: dict[str, str], rounds: int, seed: int) -> tuple[Times, Times]:
    """The times of kc and of XLA, over the modules that both compile."""
    contenders = {"kc": compile_kc, "xla": make_compile_xla()}
    order = random.Random(seed)
    good: dict[str, str] = {}
    for name, text in modules.items():
        try:
            for function in contenders.values():
                function(text)
            good[name] = text
        except Exception as error:
            print(f"left out: {name}: {(str(error).splitlines() or [''])[0][:120]}", file=sys.stderr)
    samples: dict[str, dict[str, list[tuple[float, float]]]] = {c: {n: [] for n in good} for c in contenders}
    for _ in range(rounds):
        jobs = [(contender, name) for contender in contenders for name in good]
        order.shuffle(jobs)
        for contender, name in jobs:
            wall, cpu = time.perf_counter(), cpu_seconds()
            held = contenders[contender](good[name])
            samples[contender][name].append((1e3 * (time.perf_counter() - wall), 1e3 * (cpu_seconds() - cpu)))
            del held
    medians = {
        contender: {n: (statistics.median(w for w, _ in s), statistics.median(c for _, c in s)) for n, s in by.items()}
        for contender, by in samples.items()
    }
    return medians["kc"], medians["xla"]


def summary(values: list[float]) -> tuple[float, float, float]:
    """Median, 95th percentile and mean."""
    ordered = sorted(values)
    late = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return statistics.median(ordered), late, statistics.mean(ordered)


def report(kc_times: Times, xla_times: Times, slowest: int) -> None:
    """Print the table, and the files whose ratio is worst."""
    print(f"{len(kc_times)} modules   {'median':>9} {'p95':>9} {'mean':>9}   (ms)")
    for position, clock in enumerate(("wall", "CPU")):
        rows = [summary([t[position] for t in times.values()]) for times in (kc_times, xla_times)]
        for name, row in zip(("kc", "XLA"), rows, strict=True):
            print(f"{clock:5} {name:8} " + " ".join(f"{cell:9.1f}" for cell in row))
        print(f"{clock:5} {'ratio':8} " + " ".join(f"{a / b:9.2f}" for a, b in zip(*rows, strict=True)))
    ratios = sorted(((kc_times[n][0] / xla_times[n][0], n) for n in kc_times), reverse=True)
    each = statistics.median(ratio for ratio, _ in ratios)
    print(f"median of the files' own ratios {each:.2f}; kc is faster on {sum(r < 1 for r, _ in ratios)}")
    for ratio, name in ratios[:slowest]:
        print(f"  {ratio:6.2f}  {kc_times[name][0]:8.1f} ms kc  {xla_times[name][0]:8.1f} ms XLA  {name}")


def read_modules(paths: list[Path], sample: int) -> dict[str, str]:
    """Name -> text of the files, and of the ``*.mlir`` in folders."""
    files = [f for path in paths for f in (sorted(path.glob("*.mlir")) if path.is_dir() else [path])]
    if sample and sample < len(files):
        files = sorted(random.Random(1).sample(files, sample))
    return {file.name: file.read_text() for file in files}


def built_in() -> dict[str, str]:
    """Modules that jax writes: the kinds of ops that small programs are made of."""
    import jax
    import jax.numpy as jnp

    def attention(q: Any, k: Any, v: Any) -> Any:
        return jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8.0) @ v

    def layer_norm(x: Any, g: Any, b: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * g + b

    def block(x: Any, g: Any, b: Any, w: Any) -> Any:
        y = layer_norm(x, g, b)
        return x + jax.nn.gelu(attention(y, y, y) @ w)

    x, row, square = jnp.ones((8, 64)), jnp.ones(64), jnp.ones((64, 64))
    programs: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "add": (lambda a, b: a + b, (x, x)),
        "tanh": (jnp.tanh, (x,)),
        "gelu": (jax.nn.gelu, (x,)),
        "matmul": (lambda a, b: a @ b, (x, square)),
        "mlp": (lambda a, w, b: jax.nn.relu(a @ w + b) @ w, (x, square, row)),
        "softmax": (jax.nn.softmax, (x,)),
        "layer_norm": (layer_norm, (x, row, row)),
        "attention": (attention, (x, x, x)),
        "block": (block, (x, row, row, square)),
        "grad": (jax.grad(lambda a, w: (jnp.tanh(a @ w) ** 2).sum(), argnums=1), (x, square)),
        "conv": (
            lambda a, w: jax.lax.conv_general_dilated(a, w, (1, 1), "SAME"),
            (jnp.ones((1, 3, 16, 16)), jnp.ones((4, 3, 3, 3))),
        ),
        "gather": (lambda a, i: a[i], (x, jnp.arange(4))),
        "scatter": (lambda a, i: a.at[i].add(1.0), (x, jnp.arange(4))),
        "sort": (jnp.sort, (x,)),
        "argmax": (lambda a: a.argmax(-1), (x,)),
        "cumsum": (lambda a: a.cumsum(-1), (x,)),
        "while": (lambda a: jax.lax.fori_loop(0, 10, lambda _, c: c * 0.5 + 1.0, a), (x,)),
        "scan": (lambda a: jax.lax.scan(lambda c, r: (c + r, c * r), row, a), (x,)),
        "random": (lambda k: jax.random.normal(k, (64,)), (jax.random.PRNGKey(0),)),
        "transpose": (lambda a: a.reshape(4, 2, 64).transpose(2, 0, 1), (x,)),
    }
    return {name: jax.jit(function).lower(*args).as_text() for name, (function, args) in programs.items()}


# ----------------------------------------------------------------------------------------------------------- scale


def chain(length: int, width: int = 64) -> str:
    """``length`` dependent additions and multiplications."""
    kind = f"tensor<{width}xf32>"
    lines = [f"func.func @main(%v0: {kind}, %w: {kind}) -> {kind} {{"]
    lines += [f"  %v{i + 1} = stablehlo.{('add', 'multiply')[i % 2]} %v{i}, %w : {kind}" for i in range(length)]
    return "\n".join([*lines, f"  return %v{length} : {kind}", "}"])


def mixed_chain(length: int) -> str:
    """A chain of additions, products of matrices, row sums and a loop every 400 ops."""
    kind = "tensor<8x8xf32>"
    lines = [
        f"func.func @main(%v0: {kind}, %w: {kind}) -> {kind} {{",
        "  %zero = stablehlo.constant dense<0.0> : tensor<f32>",
        "  %first = stablehlo.constant dense<0> : tensor<i32>",
        "  %last = stablehlo.constant dense<3> : tensor<i32>",
        "  %one = stablehlo.constant dense<1> : tensor<i32>",
    ]
    for i in range(length):
        if i % 400 == 399:
            lines.append(
                f"  %n{i}, %v{i + 1} = stablehlo.while(%i = %first, %c = %v{i}) : tensor<i32>, {kind} cond {{\n"
                "    %less = stablehlo.compare LT, %i, %last : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
                "    stablehlo.return %less : tensor<i1>\n  } do {\n"
                "    %next = stablehlo.add %i, %one : tensor<i32>\n"
                f"    %more = stablehlo.tanh %c : {kind}\n"
                f"    stablehlo.return %next, %more : tensor<i32>, {kind}\n  }}"
            )
        elif i % 10 == 9:
            lines.append(
                f"  %v{i + 1} = stablehlo.dot_general %v{i}, %w, contracting_dims = [1] x [0] "
                f": ({kind}, {kind}) -> {kind}"
            )
        elif i % 10 == 4:
            lines.append(
                f"  %r{i} = stablehlo.reduce(%v{i} init: %zero) applies stablehlo.add across dimensions = [1] "
                f": ({kind}, tensor<f32>) -> tensor<8xf32>"
            )
            lines.append(f"  %v{i + 1} = stablehlo.broadcast_in_dim %r{i}, dims = [0] : (tensor<8xf32>) -> {kind}")
        else:
            lines.append(f"  %v{i + 1} = stablehlo.add %v{i}, %w : {kind}")
    return "\n".join([*lines, f"  return %v{length} : {kind}", "}"])


def wide(width: int) -> str:
    """``width`` independent ops, all of them results: as many tensors live at once."""
    kind = "tensor<16xf32>"
    lines = [f"func.func @main(%x: {kind}) -> ({', '.join([kind] * width)}) {{"]
    for i in range(width):  # different constants: equal ops would be merged
        lines.append(f"  %c{i} = stablehlo.constant dense<{i}.5> : {kind}")
        lines.append(f"  %v{i} = stablehlo.{('add', 'multiply', 'subtract')[i % 3]} %x, %c{i} : {kind}")
    names = ", ".join(f"%v{i}" for i in range(width))
    return "\n".join([*lines, f"  return {names} : {', '.join([kind] * width)}", "}"])


def deep(depth: int) -> str:
    """``depth`` calls one inside the other, then ``depth`` branches one inside the other."""
    kind = "tensor<16xf32>"
    parts = [f"func.func @main(%x: {kind}, %p: tensor<i1>) -> {kind} {{"]
    parts += [f"  %c = func.call @f{depth}(%x) : ({kind}) -> {kind}"]
    for level in range(depth):
        parts.append(f'  %r{level} = "stablehlo.if"(%p) ({{')
    parts += [f"  %e = stablehlo.tanh %c : {kind}", f"  stablehlo.return %e : {kind}"]
    for level in reversed(range(depth)):
        parts.append(f"  }}, {{ stablehlo.return %c : {kind} }}) : (tensor<i1>) -> {kind}")
        parts.append(f"  stablehlo.return %r{level} : {kind}" if level else f"  return %r0 : {kind}")
    parts.append("}")
    parts.append(f"func.func private @f0(%x: {kind}) -> {kind} {{ return %x : {kind} }}")
    for level in range(1, depth + 1):
        parts.append(
            f"func.func private @f{level}(%x: {kind}) -> {kind} {{\n"
            f"  %y = func.call @f{level - 1}(%x) : ({kind}) -> {kind}\n"
            f"  %z = stablehlo.sine %y : {kind}\n  return %z : {kind}\n}}"
        )
    return "\n".join(parts)


def scale(largest: int, only: str) -> None:
    """Print CPU time and peak memory for growing modules, each in a process of its own."""
    sizes = [largest // 8, largest // 4, largest // 2, largest]
    cases: list[tuple[str, str]] = [(f"chain {n}", chain(n)) for n in sizes]
    cases += [(f"mixed {n}", mixed_chain(n)) for n in sizes]
    cases += [(f"wide {n}", wide(n)) for n in (largest // 16, largest // 8, largest // 4)]
    cases += [(f"deep {n}", deep(n)) for n in (largest // 400, largest // 100)]
    print(f"{'module':16} {'front s':>9} {'all s':>9} {'us per op':>10} {'peak MiB':>9}")
    for name, text in cases:
        if only in name:
            count = int(name.split()[1])
            for result in in_child(lambda text=text: measure(text)):  # type: ignore[misc]
                front, total, peak = result
                print(f"{name:16} {front:9.2f} {total:9.2f} {1e6 * total / count:10.0f} {peak:9.0f}", flush=True)


def measure(text: str) -> tuple[float, float, float]:
    """CPU seconds down to scheduled kernels, CPU seconds in all, and peak MiB of this process."""
    from kc import frontends
    from kc.api import compile_loaded

    ended: dict[str, float] = {}
    started = cpu_seconds()

    def observe(phase: Any, _: float) -> None:
        ended[phase.name] = cpu_seconds()

    compile_loaded(frontends.load(text), observe=observe)
    return ended["cpu-schedule"] - started, cpu_seconds() - started, peak_mib()


def peak_mib() -> float:
    """Peak resident memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_child(function: Callable[[], Any]) -> Iterator[Any]:
    """What ``function`` returns in a forked child; nothing, and a line that says so, if the child dies."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "w") as stream:
                json.dump(function(), stream)
            status = 0
        except BaseException as error:
            print(f"{type(error).__name__}: {str(error)[:300]}", file=sys.stderr, flush=True)
        os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    if status == 0:
        yield json.loads(text)
    else:
        print(f"the child ended with status {status}", flush=True)


# -------------------------------------------------------------------------------------------------------- constant


def constant(mib: int) -> None:
    """Print what a constant of ``mib`` MiB costs, given as bytecode, as a module in memory and as a blob in text."""
    print(f"a constant of {mib} MiB: {'seconds':>9} {'peak over the input, MiB':>26}")
    for form in ("module", "bytecode", "text"):
        for seconds, extra in in_child(lambda form=form: _compile_constant(form, mib)):  # type: ignore[misc]
            print(f"  {form:20} {seconds:9.2f} {extra:26.0f}", flush=True)


def _compile_constant(form: str, mib: int) -> tuple[float, float]:
    import io

    import numpy

    import kc
    from kc.bindings import ir
    from kc.context import make_context

    count = mib << 18
    kind = f"tensor<{count}xf32>"
    head = f"func.func @main(%x: {kind}) -> {kind} {{\n  %c = stablehlo.constant "
    tail = f" : {kind}\n  %y = stablehlo.add %x, %c : {kind}\n  return %y : {kind}\n}}"
    kc.compile(chain(3))  # code, dialects and tables are loaded
    source: Any
    if form == "text":
        blob = numpy.random.default_rng(0).bytes(count * 4)
        source = f'{head}dense_resource<big>{tail}\n{{-# dialect_resources: {{ builtin: {{ big: "0x04000000'
        source += blob.hex() + '" } } #-}'
        del blob
    else:
        context = make_context()
        source = ir.Module.parse(f"{head}dense<0.0>{tail}", context=context)
        data = numpy.random.default_rng(0).standard_normal(count, dtype=numpy.float32)
        with context:
            big = ir.DenseElementsAttr.get(data)
        del data
        body = source.body.operations[0].regions[0].blocks[0]
        body.operations[0].operation.attributes["value"] = big
        if form == "bytecode":
            buffer = io.BytesIO()
            source.operation.write_bytecode(buffer)
            del body, big, source, context
            source = buffer.getvalue()
            del buffer
    before = _reset_peak()
    started = time.perf_counter()
    executable = kc.compile(source)
    seconds = time.perf_counter() - started
    del executable
    return seconds, _status("VmHWM") - before


def _reset_peak() -> float:
    """Resident MiB now; the peak that the kernel keeps for this process starts anew (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field + ":")).split()[1]) / 1024


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help="scale, constant, or files and folders; nothing: the built-in set")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sample", type=int, default=0, help="so many of the files, always the same ones")
    parser.add_argument("--seed", type=int, default=0, help="of the order in which modules are compiled")
    parser.add_argument("--slowest", type=int, default=5, help="how many of the worst files to name")
    parser.add_argument("--largest", type=int, default=20_000, help="ops of the longest chain (scale)")
    parser.add_argument("--only", default="", help="modules whose name holds this text (scale)")
    parser.add_argument("--mib", type=int, default=256, help="size of the constant (constant)")
    args = parser.parse_args()
    if args.what == ["scale"]:
        scale(args.largest, args.only)
    elif args.what == ["constant"]:
        constant(args.mib)
    else:
        modules = read_modules([Path(item) for item in args.what], args.sample) if args.what else built_in()
        report(*compare(modules, args.rounds, args.seed), args.slowest)


if __name__ == "__main__":
    main()
