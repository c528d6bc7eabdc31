"""Run GPU artifacts and compare with the answers stored beside them; print a table.

    python test/integration/gpu/run_artifacts.py DIR [DIR ...] [--only TEXT]

Each DIR was made by ``models.py make`` or ``operations.py make``. Needs kc.runtime (of an installed kc, or of this
checkout with its libkc_runtime.so built), NumPy and PyTorch; no MLIR, no LLVM. The exit code is 1 when a
case fails or is above its bound.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def find_kc() -> None:
    """Make ``import kc.runtime`` work: without an installed kc, through links to this checkout's ``compiler``."""
    if importlib.util.find_spec("kc") is not None:
        return
    farm = Path(tempfile.mkdtemp(prefix="kc-farm-"))
    (farm / "kc").mkdir()
    for entry in (ROOT / "compiler").iterdir():
        (farm / "kc" / entry.name).symlink_to(entry)
    sys.path.insert(0, str(farm))


def main() -> int:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--only", default="", help="run the cases whose name has this in it")
    args = parser.parse_args()
    find_kc()
    sys.path.insert(0, str(HERE))
    from models import run

    failed = 0
    for folder in args.folders:
        print(f"{folder}:")
        failed += run(folder, args.only)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
