"""``kc phases TARGET``: the road of a target, each phase as a pipeline that kc-opt takes."""
from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's arguments."""
    parser.add_argument("target", nargs="?", default="cpu")
    parser.add_argument("--start", default="stablehlo", help="level to start from (default: stablehlo)")


def run(args: argparse.Namespace) -> None:
    """Print the phases."""
    from kc.pipelines.roads import road
    from kc.targets import get_target

    for phase in road(get_target(args.target), args.start):
        print(f"// {phase.name}: {phase.start} -> {phase.end}: {phase.description}")
        print(f"{phase.text()}\n")
