"""Machine code from LLVM IR text, in a worker process, through the object cache."""

from __future__ import annotations

import dataclasses
import functools
import json
import platform
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from kc.codegen import cache, workers
from kc.errors import InputError, UnsupportedError

OPT_LEVELS = ("O0", "O1", "O2", "O3", "codegen-only")
# Part of every cache key: to be raised when what the worker does with a text changes.
_GENERATION = "3"
_PTX_TRIPLE = "nvptx64-nvidia-cuda"
_WORTH_A_WORKER = 2500  # characters of LLVM IR (of eight times as many at O0) that are worth a worker of their own
_Made = TypeVar("_Made")


@dataclasses.dataclass(frozen=True)
class Host:
    """The machine that kc runs on, as LLVM names it: triple, CPU, features (``+avx2,-sse4a,…``), LLVM's version."""

    triple: str
    cpu: str
    features: str
    llvm: str


@functools.lru_cache(maxsize=1)
def host() -> Host:
    """The host. Asked of a worker once per machine: the answer is kept in the object cache."""
    name = cache.key(_GENERATION, "host", _versions(), _cpu_description())
    found = cache.load(name)
    if found is None:
        found = json.dumps(workers.run({"kind": "host"})["host"]).encode()
        cache.store(name, found)
    return Host(**json.loads(found))


def _cpu_description() -> str:
    # Model and flags of the first processor: what changes when a home folder meets another machine.
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            first = file.read().split("\n\n")[0]
    except OSError:
        return platform.processor()
    kept = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU ")
    return "\n".join(line for line in first.splitlines() if line.startswith(kept) and "MHz" not in line)


def _generate(
    kind: str, parts: Sequence[tuple[str, str]], triple: str, cpu: str, features: str, reloc: str
) -> list[bytes]:
    """What LLVM makes of the texts ``parts``, each with its optimisation level: small ones in one worker, large ones
    side by side."""
    for _, opt in parts:
        if opt not in OPT_LEVELS:
            raise InputError(f"no optimisation level '{opt}': one of {', '.join(OPT_LEVELS)}")
    triple, cpu, features = _resolve(triple, cpu, features)
    names = [cache.key(_GENERATION, kind, triple, cpu, features, opt, reloc, _versions(), text) for text, opt in parts]
    found = [cache.load(name) for name in names]
    missing = [position for position, data in enumerate(found) if data is None]
    header = {"kind": kind, "triple": triple, "cpu": cpu, "features": features, "reloc": reloc}
    batches = _batches([(position, *parts[position]) for position in missing])

    def work(batch: list[int]) -> list[bytes]:
        return workers.generate(header, [parts[position] for position in batch])

    for batch, made in zip(batches, many([functools.partial(work, batch) for batch in batches]), strict=True):
        for position, data in zip(batch, made, strict=True):
            found[position] = data
            cache.store(names[position], data)
    return [data for data in found if data is not None]


def _resolve(triple: str, cpu: str, features: str) -> tuple[str, str, str]:
    """Triple, CPU and features in LLVM's words, with the host's facts filled in."""
    if triple and cpu != "host":
        return triple, cpu, features
    machine = host()
    if cpu == "host":
        if triple and triple.split("-")[0] != machine.triple.split("-")[0]:
            raise InputError(f"cpu=host is {machine.cpu} of {machine.triple}; name a CPU of {triple} (or 'generic')")
        return triple or machine.triple, machine.cpu, ",".join(filter(None, (machine.features, features)))
    return machine.triple, cpu, features


def _batches(parts: Sequence[tuple[int, str, str]]) -> list[list[int]]:
    """``parts`` (number, text, level) shared out so that workers end at about the same time.

    A second worker pays when it takes away milliseconds. Measured: 4 µs a character of LLVM IR, an eighth of that at
    O0.
    """
    costs = sorted(((len(text) / (8 if opt == "O0" else 1), number) for number, text, opt in parts), reverse=True)
    large = sum(cost > _WORTH_A_WORKER for cost, _ in costs)
    batches: list[list[int]] = [[] for _ in range(max(1, min(large, workers.SIDE_BY_SIDE)))]
    loads = [0.0] * len(batches)
    for cost, number in costs:
        least = loads.index(min(loads))
        loads[least] += cost
        batches[least].append(number)
    return batches if parts else []


@functools.lru_cache(maxsize=1)
def _versions() -> str:
    # Read from the metadata: importing llvmlite here would load LLVM into the compiler's own process.
    from importlib.metadata import version

    return f"llvmlite {version('llvmlite')}"


def host_object(
    text: str, *, triple: str = "", cpu: str = "host", features: str = "", opt: str = "O3", reloc: str = "pic"
) -> bytes:
    """A relocatable object (ELF, Mach-O or COFF as ``triple`` says) of LLVM IR ``text``.

    ``triple`` empty means the host's; ``cpu`` is LLVM's name, ``generic`` or ``host``; ``features`` is LLVM's list
    (``+avx2,-avx512f``); ``opt`` is one of ``OPT_LEVELS``, where ``codegen-only`` runs no IR passes.
    Raises ``CompileError`` (with a reproducer's path) when LLVM refuses the text or dies on it.
    """
    return _generate("object", [(text, opt)], triple, cpu, features, reloc)[0]


def host_objects(
    parts: Sequence[tuple[str, str]], *, triple: str = "", cpu: str = "host", features: str = "", reloc: str = "pic"
) -> list[bytes]:
    """``host_object`` of several texts, each with its optimisation level."""
    return _generate("object", parts, triple, cpu, features, reloc)


def module_asm(assembly: str) -> str:
    """LLVM IR of a module that is nothing but ``assembly`` (text for the host's kind of machine)."""
    kept = frozenset(range(32, 127)) - frozenset(b'"\\')
    return "\n".join(
        'module asm "' + "".join(chr(b) if b in kept else f"\\{b:02X}" for b in line.encode()) + '"'
        for line in assembly.split("\n")
    )


def assembly(
    text: str, *, triple: str = "", cpu: str = "host", features: str = "", opt: str = "O3", reloc: str = "pic"
) -> str:
    """Assembly text; arguments as for ``host_object``."""
    return _generate("assembly", [(text, opt)], triple, cpu, features, reloc)[0].decode()


def optimised_ir(
    text: str, *, triple: str = "", cpu: str = "host", features: str = "", opt: str = "O3", reloc: str = "pic"
) -> str:
    """The LLVM IR after the IR passes of ``opt``, before code generation; arguments as for ``host_object``."""
    return _generate("ir", [(text, opt)], triple, cpu, features, reloc)[0].decode()


def ptx(text: str, chip: str, features: str = "", opt: str = "O3") -> str:
    """PTX for ``chip`` (``sm_90a``); ``features`` names the PTX version (``+ptx88``).

    Raises ``CompileError`` when LLVM fails, ``UnsupportedError`` when the PTX calls a function that nobody defines.
    """
    if not re.fullmatch(r"sm_\d+[af]?", chip):
        raise InputError(f"'{chip}' is not an NVIDIA chip: write sm_80, sm_90a, …")
    result = _generate("assembly", [(text, opt)], _PTX_TRIPLE, chip, features, "default")[0].decode()
    missing = undefined_ptx_functions(result)
    if missing:
        raise UnsupportedError(
            f"the device code calls {', '.join(missing)}, which nothing defines: "
            "a math function was not expanded (run kc-expand-math{target=nvptx} first)"
        )
    return result


_PTX_EXTERN = re.compile(r"^\.extern\s+\.func\s+(?:\([^)]*\)\s*)?([\w$.]+)", re.MULTILINE)
_PTX_RUNTIME = frozenset({"vprintf", "__assertfail", "malloc", "free"})  # the driver's linker knows these


def undefined_ptx_functions(text: str) -> list[str]:
    """The functions that PTX ``text`` declares external and that the driver does not bring itself."""
    return sorted(set(_PTX_EXTERN.findall(text)) - _PTX_RUNTIME)


def many(jobs: Sequence[Callable[[], _Made]]) -> list[_Made]:
    """The results of ``jobs`` in order, run side by side, each in a worker of its own."""
    if len(jobs) <= 1:
        return [job() for job in jobs]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=min(len(jobs), workers.SIDE_BY_SIDE)) as pool:
        return list(pool.map(lambda job: job(), jobs))


@functools.lru_cache(maxsize=64)
def cpu_features(triple: str, cpu: str, features: str) -> frozenset[str]:
    """The features that code for ``cpu`` may use: those that its name implies (avx, avx2, avx512f, f16c, fma are
    looked for), with ``features`` applied. Raises ``CompileError`` for a triple that LLVM does not know."""
    name = cache.key(_GENERATION, "features", _versions(), triple, cpu, features)
    found = cache.load(name)
    if found is None:
        reply = workers.run({"kind": "features", "triple": triple, "cpu": cpu, "features": features})
        found = json.dumps(reply["features"]).encode()
        cache.store(name, found)
    return frozenset(json.loads(found))
