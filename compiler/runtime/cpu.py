"""What the runtime needs to know of this machine's CPU: whether a program's code can run on it."""
from __future__ import annotations

import functools
import platform

from kc.runtime.errors import LoadError

# LLVM's names where they differ from those in /proc/cpuinfo.
_CPUINFO_NAMES = {
    "bmi": "bmi1", "sse3": "pni", "sse4.1": "sse4_1", "sse4.2": "sse4_2", "lzcnt": "abm", "avx512vnni": "avx512_vnni",
    "avx512bf16": "avx512_bf16", "avx512fp16": "avx512_fp16",
    "avx512vbmi2": "avx512_vbmi2", "avx512bitalg": "avx512_bitalg", "avx512vpopcntdq": "avx512_vpopcntdq",
    "avxvnni": "avx_vnni", "amx-tile": "amx_tile", "amx-int8": "amx_int8", "amx-bf16": "amx_bf16", "sha": "sha_ni",
}
# Extensions that code generation uses and whose absence means an illegal instruction, not only slower code.
_CHECKED = frozenset((
    "sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "avx", "avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe",
    "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512vnni", "avx512bf16", "avx512fp16", "avx512vbmi",
    "avx512vbmi2", "avx512bitalg", "avx512vpopcntdq", "avx512ifma", "avxvnni", "gfni", "vaes", "vpclmulqdq",
    "amx-tile", "amx-int8", "amx-bf16",
))


@functools.cache
def flags() -> frozenset[str]:
    """The CPU's flags as /proc/cpuinfo lists them; empty when it cannot be read."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("flags"):
                    return frozenset(line.partition(":")[2].split())
    except OSError:
        pass
    return frozenset()


def check_runs_here(triple: str, features: str) -> None:
    """Raises ``LoadError`` when code for ``triple`` with LLVM ``features`` ("+avx2,-avx512f") cannot run here."""
    machine = triple.split("-")[0]
    if machine and machine != platform.machine():
        raise LoadError(f"this program is made for {triple}; this machine is {platform.machine()}")
    here = flags()
    if not here:
        return
    wanted = {name[1:] for name in features.split(",") if name.startswith("+")} & _CHECKED
    missing = sorted(name for name in wanted if _CPUINFO_NAMES.get(name, name) not in here)
    if missing:
        raise LoadError(
            f"this program uses CPU extensions that this machine lacks: {', '.join(missing)}; compile it for this CPU, "
            "or for a common base (cpu='x86-64-v2')"
        )
