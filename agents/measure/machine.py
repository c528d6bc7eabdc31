"""What a machine can do at best: bytes and operations per second, for the roofline floor below which no time is real.

S. Williams, A. Waterman, D. Patterson, "Roofline", CACM 52(4), 2009. A floor must never reject an honest result, so it
is generous. CPU: copies and matrix products are measured once, kept under ``~/.cache/kc`` (or
``KC_CACHE_DIR``), and multiplied by a margin. GPU: the figures follow from the driver's attributes, by the formulas of
NVIDIA's tuning guides, so no program can beat them.
"""
from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

#: how much faster than the best measured copy or product on this machine a program may be (a copy is no stream of
#: loads, a product of NumPy's is not at the peak, the machine was perhaps busy)
MARGIN = 2.0
#: the same for data in the first-level caches, where a measured copy is mostly overhead
CACHED_MARGIN = 8.0
#: bytes of a copy between the second-level caches' reach, and far beyond all caches
_NEAR, _FAR = 128 << 10, 64 << 20
_REPEATS = 12
#: sizes of matrices of which one core's caches hold three
_GEMMS = (96, 256)
VERSION = 1


@dataclasses.dataclass(frozen=True)
class Machine:
    """Best rates, margins included. ``memory``: bytes/s beyond the caches, ``cache``: within; ``operations``: kind of
    number (``f64``, ``f32``, ``narrow`` for 16 bits and fewer, integers of 8 bits too) -> operations/s, a product and a
    sum being two; ``cache_bytes``: size of the last level."""

    name: str
    memory: float
    cache: float
    cache_bytes: int
    operations: Mapping[str, float]

    def floor_us(self, nbytes: float, operations: Mapping[str, float]) -> float:
        """The shortest time in µs in which so many bytes can be moved and operations be done."""
        rate = self.memory if nbytes > 4 * self.cache_bytes else self.cache
        return 1e6 * max(nbytes / rate, *(n / self.operations[kind] for kind, n in operations.items()), 0.0)

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Machine:
        """Inverse of ``to_json``."""
        return cls(**data)


def machine(device: int | None = None, *, again: bool = False) -> Machine:
    """This machine's CPUs, or one of its GPUs. ``again``: measure even when figures are kept; the best ones stay."""
    if device is not None:
        from kc.agents.measure.gpu import limits

        return limits(device)
    path = _path()
    kept = _read(path)
    if kept is not None and not again:
        return kept
    measured = _measure()
    if kept is not None:
        best = {kind: max(rate, kept.operations[kind]) for kind, rate in measured.operations.items()}
        measured = dataclasses.replace(
            measured, memory=max(measured.memory, kept.memory), cache=max(measured.cache, kept.cache), operations=best
        )
    _write(path, measured)
    return measured


def last_level_bytes() -> int:
    """Size of the largest cache that the system tells of; 32 MiB where it tells none."""
    sizes = []
    for file in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        with contextlib.suppress(OSError, ValueError):
            text = file.read_text().strip()
            sizes.append(int(text[:-1]) << {"K": 10, "M": 20}[text[-1]])
    return max(sizes, default=32 << 20)


def _measure() -> Machine:
    """Measure copies and products of one core, and take them times the cores that this process may use."""
    cores = len(os.sched_getaffinity(0))
    near, far = cores * _copy(_NEAR), cores * _copy(_FAR)
    products = {kind: cores * _product(kind) for kind in ("f32", "f64")}
    return Machine(
        _name(), MARGIN * far, CACHED_MARGIN * max(near, far), last_level_bytes(),
        {
            **{kind: MARGIN * rate for kind, rate in products.items()},
            # Instructions for narrow numbers do up to 16 times the work of those for f32 (AMX against AVX-512).
            "narrow": 16 * MARGIN * products["f32"],
        },
    )


def _best(work: Callable[[], object], amount: float, count: int) -> float:
    """``amount`` per second of CPU time (other processes do not count), the best of several times ``count`` calls."""
    best = 0.0
    for _ in range(_REPEATS):
        began = time.process_time_ns()
        for _ in range(count):
            work()
        best = max(best, 1e9 * amount * count / max(time.process_time_ns() - began, 1))
    return best


def _copy(size: int) -> float:
    """Bytes per second, read and written, of copies of ``size`` bytes on one core."""
    source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)
    return _best(lambda: np.copyto(target, source), 2 * size, max(1, (8 << 20) // size))


def _product(kind: str) -> float:
    """Operations per second and core of matrix products by NumPy's BLAS."""
    found = 0.0
    for size in _GEMMS:
        left = np.ones((size, size), {"f32": np.float32, "f64": np.float64}[kind])
        right, out = left.copy(), left.copy()
        amount = 2 * size**3
        work = functools.partial(np.matmul, left, right, out=out)
        found = max(found, _best(work, amount, max(1, 20_000_000 // amount)))
    return found


def _name() -> str:
    """The processor's name and how many of them this process may use."""
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return f"{model} x {len(os.sched_getaffinity(0))}"


def _path() -> Path | None:
    """Where the figures are kept; None where nothing can be."""
    folder = os.environ.get("KC_CACHE_DIR")
    if folder:
        return Path(folder) / "machine.json"
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kc" / "machine.json"
    except RuntimeError:
        return None


def _read(path: Path | None) -> Machine | None:
    """The figures that are kept, if they are of this machine."""
    if path is None:
        return None
    try:
        data = json.loads(path.read_text())
        found = Machine.from_json(data["machine"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if data.get("version") == VERSION and found.name == _name() else None


def _write(path: Path | None, found: Machine) -> None:
    """Keep the figures, whole or not at all; a folder that cannot be written is no error."""
    if path is None:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w") as file:
            json.dump({"version": VERSION, "machine": found.to_json()}, file)
        os.replace(temporary, path)
