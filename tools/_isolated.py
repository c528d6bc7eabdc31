"""Run a tool's work in a child process, so that a crash of native code becomes an error and a reproducer."""
from __future__ import annotations

import os
import sys
from collections.abc import Callable

from kc.reproducer import read_spool, run_in_child, signal_name
from kc.temporary import Folder
from kc.tools._opt_process import write_reproducer


def isolated(work: Callable[[str], int], reproducer: str | None) -> int:
    """Run ``work(spool path)`` in a child; returns its exit code, 1 after a crash.

    After a crash the pass that ran is named, and its reproducer is written to the path ``reproducer`` if given.
    """
    with Folder("opt") as folder:
        spool = os.path.join(folder, "spool")
        open(spool, "wb").close()
        code = run_in_child(lambda: work(spool))
        if code >= 0:
            return code
        name = signal_name(-code)
        found = read_spool(spool, f"native code crashed ({name})")
    if found is None:
        sys.stderr.write(f"kc-opt: native code crashed ({name}) outside of any pass\n")
        return 1
    pipeline, text = found
    reason = f"native code crashed ({name}) while running '{pipeline}'"
    if reproducer is None:
        sys.stderr.write(f"kc-opt: {reason}\n")
    else:
        write_reproducer(reproducer, text, reason)
    return 1
