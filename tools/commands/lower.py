"""``kc lower``: a program as it stands at a level."""
from __future__ import annotations

import argparse

from kc.tools.commands import _common


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's arguments."""
    _common.add_source(parser)
    _common.add_target(parser)
    stops = "a level, as its phases leave it (stablehlo, linalg, loops, gpu, llvm, asm), or a phase (default: linalg)"
    parser.add_argument("--to", default="linalg", help=stops)
    _common.add_agents(parser)
    _common.add_output(parser)


def run(args: argparse.Namespace) -> None:
    """Print the module at the level."""
    from kc import api

    source, agents = _common.read_source(args.source), _common.agent_options(args)
    text = api.lower(source, to=args.to, target=args.target, entry=args.entry, **agents)
    _common.write(args.output, text)
