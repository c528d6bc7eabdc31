"""PTX after it was made: assembly by ``ptxas``, and what ``ptxas`` says about each kernel."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from kc.errors import CompileError
from kc.temporary import Folder


class KernelReport(NamedTuple):
    """What ``ptxas -v`` says of one kernel. Sizes in bytes, per thread for spills and stack, per block for
    ``shared``.
    """

    name: str
    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    shared: int


class Assembled(NamedTuple):
    """The result of ``assemble``: the cubin, a report per kernel, and the performance notes (``C75xx``) as they were
    printed.

    A ``C75xx`` note says that ``ptxas`` serialised tensor core instructions: right results at a fraction of the speed.
    """

    cubin: bytes
    kernels: dict[str, KernelReport]
    notes: tuple[str, ...]

    def problems(self) -> list[str]:
        """Reasons not to use a fast kernel: spills and serialisation notes."""
        found = [
            f"{kernel.name} spills {kernel.spill_stores} bytes of registers"
            for kernel in self.kernels.values()
            if kernel.spill_stores or kernel.spill_loads
        ]
        return found + list(self.notes)


@functools.lru_cache(maxsize=1)
def find_ptxas() -> str | None:
    """The path of a ``ptxas``: ``KC_PTXAS``, NVIDIA's PyPI packages, triton's, ``CUDA_HOME``, ``PATH``,
    ``/usr/local/cuda``.
    """
    given = os.environ.get("KC_PTXAS")
    if given:
        return given
    candidates: list[Path] = []
    for package, patterns in (
        ("nvidia", ("cu*/bin/ptxas", "cuda_nvcc/bin/ptxas")),
        ("triton", ("backends/nvidia/bin/ptxas",)),
    ):
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            for pattern in patterns:
                candidates += sorted(Path(folder).glob(pattern), reverse=True)
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            candidates.append(Path(os.environ[variable]) / "bin" / "ptxas")
    on_path = shutil.which("ptxas")
    if on_path:
        candidates.append(Path(on_path))
    candidates.append(Path("/usr/local/cuda/bin/ptxas"))
    return next((str(path) for path in candidates if os.access(path, os.X_OK) and path.is_file()), None)


def assemble(ptx: str, chip: str, ptxas: str | None = None) -> Assembled:
    """Assemble ``ptx`` for ``chip`` (``sm_90a``) at ``-O3``.

    ``ptxas`` defaults to ``find_ptxas()``. Raises CompileError when there is none, or with its words when it fails.
    """
    tool = ptxas or find_ptxas()
    if tool is None:
        raise CompileError("no ptxas was found: install nvidia-cuda-nvcc, or set KC_PTXAS to its path")
    with Folder("ptxas") as folder:
        source, target = Path(folder, "kernels.ptx"), Path(folder, "kernels.cubin")
        source.write_text(ptx)
        command = [tool, f"-arch={chip}", "-O3", "-v", str(source), "-o", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        log = done.stdout + done.stderr
        if done.returncode:
            raise CompileError(f"ptxas refuses the PTX for {chip}:\n{log.strip()[:4000]}")
        return Assembled(target.read_bytes(), parse_report(log), parse_notes(log))


_ENTRY = re.compile(r"(?:Compiling entry function|Function properties for) '?([\w$.]+)'?")
_SPILL = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers(.*)")
_SHARED = re.compile(r"(\d+) bytes smem")
_NOTE = re.compile(r"\bC75\d\d\b")


def parse_report(log: str) -> dict[str, KernelReport]:
    """The kernels that ``ptxas -v`` reports in ``log``, by name."""
    found: dict[str, KernelReport] = {}
    name = ""
    frame = (0, 0, 0)
    for line in log.splitlines():
        entry = _ENTRY.search(line)
        if entry:
            name = entry.group(1)
        spill = _SPILL.search(line)
        if spill:
            stack, stores, loads = map(int, spill.groups())
            frame = (stack, stores, loads)
        used = _USED.search(line)
        if used and name:
            shared = _SHARED.search(used.group(2))
            size = int(shared.group(1)) if shared else 0
            found[name] = KernelReport(name, int(used.group(1)), frame[1], frame[2], frame[0], size)
    return found


def parse_notes(log: str) -> tuple[str, ...]:
    """The lines of ``log`` that carry a serialisation note."""
    return tuple(line.strip() for line in log.splitlines() if _NOTE.search(line))
