"""``kc tune``: search the schedules of a program's kernels and keep what was measured."""
from __future__ import annotations

import argparse
import fnmatch
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from kc.errors import InputError
from kc.tools.commands._common import add_source, add_target, read_source, write

if TYPE_CHECKING:
    from kc.agents.builtin.search.search import Result
    from kc.agents.protocol import Observation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``kc tune``."""
    add_source(parser)
    add_target(parser)
    parser.add_argument("--kernel", action="append", default=[], metavar="NAME", help="only these (glob patterns)")
    parser.add_argument("--budget", type=float, default=60.0, metavar="SECONDS", help="for all kernels (default: 60)")
    parser.add_argument("--points", type=int, default=1_000, metavar="N", help="at most so many points a kernel")
    parser.add_argument("--resume", action="store_true", help="go on from the points that were measured before")
    parser.add_argument("--sampler", choices=("evolution", "random", "tpe"), default="evolution")
    parser.add_argument("--no-model", action="store_true", help="do not let a learned cost model choose points")
    parser.add_argument("--sizes", default="", metavar="D=N,…", help="sizes of open dimensions to measure at")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="threads of a kernel (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--database", default="", metavar="FILE", help="default: KC_TUNING_DB, else in kc's cache")
    parser.add_argument("--plot", metavar="FILE.svg", help="draw the best so far of each search")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def run(args: argparse.Namespace) -> int:
    """Search, kernel by kernel, and print what was found."""
    from kc.agents.builtin.search import show
    from kc.agents.builtin.search.bench import WorkerError
    from kc.agents.builtin.search.kernels import parse_sizes, space_of, tune
    from kc.agents.builtin.search.search import Limits
    from kc.agents.builtin.tuning_db import TuningDatabase

    sizes = parse_sizes(args.sizes)
    found = kernels(read_source(args.source), args.entry, args.target)
    chosen = [o for o in found if not args.kernel or any(fnmatch.fnmatchcase(o.name, p) for p in args.kernel)]
    if args.kernel and not chosen:
        raise InputError(f"no kernel is named {' or '.join(args.kernel)}: there are {', '.join(o.name for o in found)}")
    spaces = [(o, space) for o in chosen if (space := space_of(o)) is not None]
    if not spaces:
        raise InputError("none of these kernels has a schedule with anything to choose")
    limits = Limits(args.budget / len(spaces), args.points, not args.no_model)
    _warn_if_busy(args.threads)
    rows: list[dict[str, Any]] = []
    courses = []
    with TuningDatabase(args.database) as database:
        for observation, space in spaces:
            try:
                result = tune(
                    observation, space, database, sizes=sizes, sampler=args.sampler, seed=args.seed,
                    resume=args.resume, limits=limits, threads=args.threads,
                )
            except WorkerError as error:
                rows.append({"kernel": observation.name, "schedule": space.schedule, "error": error.message})
                continue
            rows.append(_row(observation, space.default, result))
            courses.append((observation.name, result.course))
            if not args.json:
                print(_line(rows[-1]), flush=True)
        path = database.path
    if args.plot:
        write(args.plot, show.plot(courses))
    if args.json:
        print(json.dumps({"database": path, "kernels": rows}, indent=2))
    for row in rows if not args.json else ():
        if "error" in row:
            print(_line(row))
    return 1 if all("error" in row for row in rows) else 0


def kernels(source: bytes | str, entry: str = "main", target: str = "cpu") -> list[Observation]:
    """The kernels of a program as agents see them, once they are formed."""
    from kc import frontends
    from kc.agents.regions import find
    from kc.agents.session.observe import observe
    from kc.pipelines.roads import road
    from kc.pipelines.run import run_phases, up_to
    from kc.targets import get_target

    loaded, chosen = frontends.load(source, entry), get_target(target)
    run_phases(loaded.module, up_to(road(chosen, loaded.level), "form-kernels", loaded.level))
    seen: dict[str, Observation] = {}
    for region in find(loaded.module, "linalg"):
        observation = observe(region, "after:form-kernels", chosen)
        seen.setdefault(observation.identity, observation)  # equal kernels are searched once
    return list(seen.values())


def _warn_if_busy(threads: int) -> None:
    """Say so when other processes will be measured too."""
    load, processors = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if threads != 1 and load > processors:
        advice = "--threads 1 measures CPU time, which others disturb less"
        print(f"kc tune: the machine is busy (load {load:.1f} on {processors} processors); {advice}", file=sys.stderr)


def _row(observation: Observation, default: dict[str, Any], result: Result) -> dict[str, Any]:
    best, gain = result.best, result.gain
    return {
        "kernel": observation.name, "kind": observation.kind, "schedule": best.schedule, "better": result.better,
        "gain": gain and {"ratio": gain.value, "interval": [gain.low, gain.high], "rounds": gain.pairs},
        "us": best.us, "default_us": best.default_us, "measured": result.measured, "known": result.known,
        "failed": result.failed, "failure": result.failure, "stopped": result.stopped,
        "knobs": {n: v for n, v in best.knobs.items() if v != default.get(n)},
    }


def _line(row: dict[str, Any]) -> str:
    if "error" in row:
        return f"@{row['kernel']} ({row['schedule']}): cannot be measured: {row['error']}"
    points = f"{row['measured']} points" + (f" and {row['known']} from before" if row["known"] else "")
    if row["failed"]:
        points += f", {row['failed']} failed ({row['failure'].partition(chr(10))[0]})"
    head = f"@{row['kernel']} ({row['kind']}, schedule {row['schedule']}; {points}):"
    if not row["better"]:
        return f"{head} nothing beats the compiler's own choice"
    gain = row["gain"]
    low, high = gain["interval"]
    knobs = ", ".join(f"{name}={value}" for name, value in row["knobs"].items())
    return (f"{head} {gain['ratio']:.3f} times as fast ({low:.3f} to {high:.3f} in {gain['rounds']} rounds, "
            f"{row['default_us']:.1f} -> {row['us']:.1f} µs): {knobs}")
