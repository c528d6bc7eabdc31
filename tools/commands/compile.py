"""``kc compile``: a program to an artifact, or to one of the forms beneath it."""
from __future__ import annotations

import argparse

from kc.errors import InputError
from kc.tools.commands import _common

EMIT = ("artifact", "object", "shared-library", "assembly", "llvm-ir", "ptx")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's arguments."""
    _common.add_source(parser)
    _common.add_target(parser)
    parser.add_argument("--emit", choices=EMIT, default="artifact", help="what to write (default: artifact)")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="a phase parameter")
    _common.add_agents(parser)
    _common.add_output(parser, required=True)


def run(args: argparse.Namespace) -> None:
    """Compile and write the result."""
    from kc import api
    from kc.tools.commands import translate

    options = parse_options(args.option)
    source = _common.read_source(args.source)
    executable = api.compile(source, args.target, args.entry, options=options, **_common.agent_options(args))
    _common.tell(executable)
    if args.emit == "artifact":
        executable.save(args.output)
    else:
        _common.write(args.output, translate.form_of(executable, args.emit, args.target))


def parse_options(pairs: list[str]) -> dict[str, str]:
    """``NAME=VALUE`` words as a dictionary; raises InputError for a word without ``=``."""
    for pair in pairs:
        if "=" not in pair:
            raise InputError(f"--option wants NAME=VALUE, got '{pair}'")
    return dict(pair.split("=", 1) for pair in pairs)
