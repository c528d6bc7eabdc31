"""Write ``compiler/native_passes.py``: find the names of MLIR's registered passes in its shared library.

Every string constant of the library that looks like a pass name is offered to a pass manager, which refuses those that
are none. Run as ``python -m kc.tools.native_passes``; prints how many it found.
"""
from __future__ import annotations

import glob
import mmap
import os
import re
import sys
import textwrap

from kc import native_passes
from kc.bindings import ir, library_dir, passmanager


def find_names() -> list[str]:
    """All registered native passes and pass pipelines, sorted."""
    candidates: set[str] = set()
    for path in glob.glob(os.path.join(library_dir(), "*.so")):
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            for match in re.finditer(rb"[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?=\0)", data):
                parts = match.group().decode().split("-")
                # the linker lets a string share the tail of a longer one
                candidates.update("-".join(parts[i:]) for i in range(len(parts)))
    candidates.update(tail for name in sorted(candidates) for tail in _word_tails(name))
    context = ir.Context(load_on_create_dialects=[])
    return [name for name in sorted(candidates) if len(name) > 2 and _is_pass(name, context)]


def _word_tails(name: str) -> list[str]:
    """Tails of a single word, for names such as ``cse`` and ``canonicalize`` that share one."""
    return [name[i:] for i in range(1, len(name) - 2)] if "-" not in name else []


def _is_pass(name: str, context: ir.Context) -> bool:
    try:
        passmanager.PassManager("any", context=context).add(name)
    except ValueError as error:
        return "does not refer to a registered" not in str(error)
    return True


def main() -> int:
    """Rewrite the file in place."""
    names = find_names()
    path = native_passes.__file__
    with open(path, encoding="utf-8") as file:
        head, _, rest = file.read().partition('_NAMES = """\n')
    tail = rest.partition('"""\n')[2]
    body = textwrap.fill(" ".join(names), width=119, break_on_hyphens=False, break_long_words=False)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{head}_NAMES = """\n{body}\n"""\n{tail}')
    sys.stdout.write(f"{len(names)} passes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
