"""Machine code from LLVM IR text, in a worker process, through the object cache."""

from __future__ import annotations

import dataclasses
import functools
import json
import platform
import re
from collections.abc import Callable, Sequence

from kc.codegen import cache, workers
from kc.errors import InputError, UnsupportedError

OPT_LEVELS = ("O0", "O1", "O2", "O3", "codegen-only")
# Part of every cache key: to be raised when what the worker does with a text changes.
_GENERATION = "2"
_PTX_TRIPLE = "nvptx64-nvidia-cuda"


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
        reply, _ = workers.run({"kind": "host"})
        found = json.dumps(reply["host"]).encode()
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


def _generate(kind: str, text: str, triple: str, cpu: str, features: str, opt: str, reloc: str) -> bytes:
    if opt not in OPT_LEVELS:
        raise InputError(f"no optimisation level '{opt}': one of {', '.join(OPT_LEVELS)}")
    resolved = (triple, cpu, features)
    if cpu == "host" or not triple:
        machine = host()
        if cpu == "host":
            if triple and triple.split("-")[0] != machine.triple.split("-")[0]:
                raise InputError(
                    f"cpu=host is {machine.cpu} of {machine.triple}; name a CPU of {triple} (or 'generic')"
                )
            resolved = (machine.triple, machine.cpu, ",".join(filter(None, (machine.features, features))))
        resolved = (triple or machine.triple, *resolved[1:])
    name = cache.key(_GENERATION, kind, *resolved, opt, reloc, _versions(), text)
    found = cache.load(name)
    if found is not None:
        return found
    triple, cpu, features = resolved
    header = {"kind": kind, "triple": triple, "cpu": cpu, "features": features, "opt": opt, "reloc": reloc}
    _, result = workers.run(header, text)
    cache.store(name, result)
    return result


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
    return _generate("object", text, triple, cpu, features, opt, reloc)


def assembly(
    text: str, *, triple: str = "", cpu: str = "host", features: str = "", opt: str = "O3", reloc: str = "pic"
) -> str:
    """Assembly text; arguments as for ``host_object``."""
    return _generate("assembly", text, triple, cpu, features, opt, reloc).decode()


def optimised_ir(
    text: str, *, triple: str = "", cpu: str = "host", features: str = "", opt: str = "O3", reloc: str = "pic"
) -> str:
    """The LLVM IR after the IR passes of ``opt``, before code generation; arguments as for ``host_object``."""
    return _generate("ir", text, triple, cpu, features, opt, reloc).decode()


def ptx(text: str, chip: str, features: str = "", opt: str = "O3") -> str:
    """PTX for ``chip`` (``sm_90a``); ``features`` names the PTX version (``+ptx88``).

    Raises ``CompileError`` when LLVM fails, ``UnsupportedError`` when the PTX calls a function that nobody defines.
    """
    if not re.fullmatch(r"sm_\d+[af]?", chip):
        raise InputError(f"'{chip}' is not an NVIDIA chip: write sm_80, sm_90a, …")
    result = _generate("assembly", text, _PTX_TRIPLE, chip, features, opt, "default").decode()
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


def many(jobs: Sequence[Callable[[], bytes]]) -> list[bytes]:
    """The results of ``jobs`` in order, run side by side, each in a worker of its own."""
    if len(jobs) <= 1:
        return [job() for job in jobs]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=min(len(jobs), 4)) as pool:
        return list(pool.map(lambda job: job(), jobs))


@functools.lru_cache(maxsize=64)
def cpu_features(triple: str, cpu: str, features: str) -> frozenset[str]:
    """The features that code for ``cpu`` may use: those that its name implies (avx, avx2, avx512f, f16c, fma are
    looked for), with ``features`` applied. Raises ``CompileError`` for a triple that LLVM does not know."""
    name = cache.key(_GENERATION, "features", _versions(), triple, cpu, features)
    found = cache.load(name)
    if found is None:
        reply, _ = workers.run({"kind": "features", "triple": triple, "cpu": cpu, "features": features})
        found = json.dumps(reply["features"]).encode()
        cache.store(name, found)
    return frozenset(json.loads(found))
