"""``kc census``: everything in a program that a target cannot compile, at once."""
from __future__ import annotations

import argparse

from kc.tools.commands import _common


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's arguments."""
    _common.add_source(parser)
    _common.add_target(parser)


def run(args: argparse.Namespace) -> int:
    """Print one line for each unsupported operation; exit code 1 if there is any."""
    from kc import frontends
    from kc.census import census, notes

    loaded = frontends.load(_common.read_source(args.source), args.entry)
    found = census(loaded.module, args.target)
    for entry in (*found, *notes(loaded.module, args.target)):
        print(entry)
    if not found:
        print(f"every operation of {args.source} can be compiled for {args.target}")
    return 1 if found else 0
