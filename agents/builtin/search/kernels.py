"""From a kernel to a search: what it is searched as, and under which key its points are kept."""
from __future__ import annotations

import math
from collections.abc import Mapping

from kc.agents.builtin.search.bench import Worker
from kc.agents.builtin.search.search import Limits, Result, search
from kc.agents.builtin.search.show import Progress
from kc.agents.builtin.tuning_db import Key, TuningDatabase
from kc.agents.protocol import Observation
from kc.agents.realize.knob_space import KnobSpace, knobs
from kc.errors import InputError


def space_of(observation: Observation) -> KnobSpace | None:
    """The knobs of the kernel's schedule; None where it has none or nothing to choose."""
    if observation.level != "linalg":
        return None
    space = knobs(observation.ir, observation.target)
    return space if space is not None and space.knobs else None


def key_of(observation: Observation, sizes: Mapping[str, int]) -> Key:
    """The key of the kernel's points on this machine."""
    return Key(observation.identity, observation.target, machine_name(), tuple(sorted(sizes.items())))


def machine_name() -> str:
    """The processor, and how many of them this process may use: what a measurement depends on."""
    import os
    import platform
    from pathlib import Path

    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.machine()
    return f"{model} x {len(os.sched_getaffinity(0))}"


def parse_sizes(text: str) -> dict[str, int]:
    """``M=512,N=384`` as sizes; raises InputError."""
    sizes: dict[str, int] = {}
    for part in filter(None, (word.strip() for word in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals or not value.strip().isdigit():
            raise InputError(f"sizes are given as NAME=NUMBER,…, not '{part}'")
        sizes[name.strip()] = int(value)
    return sizes


def tune(
    observation: Observation, space: KnobSpace, database: TuningDatabase, *, sizes: Mapping[str, int] | None = None,
    sampler: str = "evolution", seed: int = 0, resume: bool = True, limits: Limits | None = None, threads: int = 0,
) -> Result:
    """Search the schedules of one kernel on this machine's CPU, at ``sizes`` or typical ones.

    Raises InputError for a target that is not this machine's CPU, WorkerError when the kernel cannot be measured.
    """
    if observation.target.partition(":")[0] != "cpu" or "triple" in observation.target:
        raise InputError(f"schedules are measured on this machine's CPU only, not for target '{observation.target}'")
    limits = limits or Limits()
    sizes = dict(sizes or {})
    features = tuple(math.log2(1 + value) for value in (observation.flops or 0.0, observation.bytes or 0.0))
    progress = Progress(observation.name, limits.seconds)
    try:
        with Worker(observation.ir, observation.target, sizes, threads=threads, seed=seed) as worker:
            return search(
                space, worker, database, key_of(observation, sizes), features=features, sampler=sampler, seed=seed,
                resume=resume, limits=limits, watch=progress,
            )
    finally:
        progress.close()
