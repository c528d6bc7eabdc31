"""``cuda``: CUDA C++ source, compiled to PTX by NVRTC (the wheel ``nvidia-cuda-nvrtc``, extra ``kc[cuda]``)."""

from __future__ import annotations

import re

from kc.agents.protocol import Proposal
from kc.agents.realize.compiled import compiled
from kc.agents.realize.device import check_target, from_ptx
from kc.agents.realize.realized import Realized, RealizeError
from kc.agents.realize.region import Source

_MOST_CHARACTERS = 1 << 20


def cuda(region: Source, proposal: Proposal, level: str, target: str) -> Realized:
    """A region answered with CUDA C++. ``launch.entry`` names an ``extern "C" __global__`` function."""
    assert proposal.source is not None
    chip = check_target("cuda", level, target).chip
    ptx, log = compile_cuda(proposal.source, chip)
    return from_ptx(region, ptx, proposal, level, target, tuple(line for line in log.splitlines() if line.strip())[:20])


def compile_cuda(source: str, chip: str = "sm_90a") -> tuple[str, str]:
    """PTX and the compiler's remarks of CUDA C++ ``source``. In a child process, with limits of time and memory.

    The source sees CUDA's own headers and no others. Raises RealizeError with NVRTC's words when it refuses, InputError
    when NVRTC is not installed.
    """
    if len(source) > _MOST_CHARACTERS:
        raise RealizeError(
            "parse", "parse.source", f"the source has {len(source)} characters, {_MOST_CHARACTERS} at most"
        )
    for directive in re.findall(
        r"(?:#|%:|\?\?=)\s*include\b[^\n]*|__has_include[^\n]*|#\s*embed[^\n]*", _spliced(source)
    ):
        if not re.fullmatch(r"#\s*include\s*<\w[\w/]*(?:\.\w+)?>\s*(?://.*|/\*.*)?", directive):
            raise RealizeError(
                "parse",
                "parse.source",
                f"'{directive.strip()[:80]}': only CUDA's own headers can be included (<name.h>)",
            )
    done = compiled("kc.agents.realize.nvrtc", {"source": source, "chip": chip})
    if "error" in done:
        raise RealizeError("parse", "parse.source", f"NVRTC refuses the source:\n{done['error']}")
    return done["ptx"], done["log"]


def _spliced(source: str) -> str:
    """The source with its continued lines made one, as the preprocessor sees it."""
    return re.sub(r"\\[ \t]*\r?\n", "", source)
