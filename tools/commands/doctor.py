"""``kc doctor``: what is installed here, and what is not."""
from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The subcommand takes no arguments."""


def run(args: argparse.Namespace) -> None:
    """Print the report."""
    from kc.tools import _doctor

    report = _doctor.report()
    print(report if isinstance(report, str) else "\n".join(report))
