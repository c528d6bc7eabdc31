"""``kc explain``: a program's regions, the contract of each, what kc does with it, what agents did."""
from __future__ import annotations

import argparse
import os
import zipfile

from kc.errors import InputError
from kc.tools.commands import _common


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's arguments."""
    _common.add_source(parser)
    _common.add_target(parser)
    levels = "levels whose regions are told, with commas between, or all (default: linalg, where kernels are)"
    parser.add_argument("--level", default="linalg", metavar="LEVEL,…", help=levels)
    parser.add_argument("--kernel", default="*", metavar="PATTERN", help="only regions of this name (a glob pattern)")
    parser.add_argument("--ledger", metavar="FILE", help="a ledger: tell what agents did, and do it on the way down")
    parser.add_argument("--ir", action="store_true", help="show the text of what agents put in a region's place")


def run(args: argparse.Namespace) -> None:
    """Print what stands where and why. An artifact tells what agents' answers it holds."""
    if args.source != "-" and os.path.isfile(args.source) and zipfile.is_zipfile(args.source):
        for line in of_artifact(args.source, args.kernel, ir=args.ir):
            print(line)
        return
    for line in of_program(args):
        print(line)


def of_artifact(path: str, kernel: str = "*", *, ir: bool = False) -> list[str]:
    """What an artifact is, and the agents' answers in it."""
    import fnmatch
    import json

    from kc.agents.ledger import of_artifact, report

    with zipfile.ZipFile(path) as archive:
        if "manifest.json" not in archive.namelist():
            raise InputError(f"{path} is no kc artifact: it has no manifest.json")
        manifest = json.loads(archive.read("manifest.json"))
    lines = [f"{path}: for {manifest.get('target', '?')} ({manifest.get('chip') or manifest.get('triple', '?')}), "
             f"entries {', '.join(manifest.get('entries', {}))}"]  # fmt: skip
    used = [attempt for attempt in of_artifact(path) if fnmatch.fnmatchcase(attempt.name, kernel)]
    if not used:
        lines.append("no agent's answer is part of it")
    for attempt in used:
        lines += ["", *report.explain([attempt], ir=ir)]
    return lines


def of_program(args: argparse.Namespace) -> list[str]:
    """What stands where in a program."""
    from kc import frontends
    from kc.agents.ledger import Ledger
    from kc.agents.session import explaining, hooks
    from kc.pipelines.roads import road
    from kc.targets import get_target

    if args.ledger is not None and not os.path.exists(args.ledger):
        raise InputError(f"no such ledger: {args.ledger}")
    target = get_target(args.target)
    loaded = frontends.load(_common.read_source(args.source), args.entry)
    levels = [word for word in args.level.split(",") if word]
    if levels == ["all"]:
        levels = list(hooks.moments(road(target, loaded.level)))
    ledger = None if args.ledger is None else Ledger(args.ledger)
    return list(
        explaining.explain(
            loaded, target, levels=levels, names=args.kernel, entry=args.entry, ledger=ledger, ir=args.ir
        )
    )
