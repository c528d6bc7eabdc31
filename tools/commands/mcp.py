"""``kc mcp``: kc as an MCP server over stdio, for coding agents."""
from __future__ import annotations

import argparse
import os

from kc.errors import InputError
from kc.tools.commands import _common


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's arguments."""
    parser.add_argument("source", metavar="FILE", nargs="?", help="a program to load at once (default: none)")
    parser.add_argument("--entry", default="main", help="name of the entry function (default: main)")
    _common.add_target(parser)
    parser.add_argument("--ledger", metavar="PATH", help="the ledger to keep (default: one that goes with the session)")
    parser.add_argument("--timing", action="store_true", help="accept only proposals that are measured to be faster")


def run(args: argparse.Namespace) -> None:
    """Serve until the client is gone."""
    from kc.agents.bindings import mcp
    from kc.agents.bindings.remote import Remote

    first = None
    if args.source is not None:
        if not os.path.exists(args.source):
            raise InputError(f"no such file: {args.source}")
        first = {"source": os.path.abspath(args.source), "target": args.target, "entry": args.entry}
    mcp.serve(Remote(args.ledger, args.timing, first))
