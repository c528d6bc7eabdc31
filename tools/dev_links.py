"""Makes ``build/py/kc``: a package of links to the source folders, for tools that look at files and not at imports.

The folders have other names than the packages (``kc`` is ``compiler/``, ``kc.passes`` is ``passes/`` …). setuptools
maps them when it installs; mypy and pyright follow these links (``mypy_path`` and ``extraPaths`` in pyproject.toml).
Run again after adding a file directly under ``compiler/``: ``python tools/dev_links.py``.
"""
from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("dialects", "passes", "agents", "tools")


def make_links(root: Path = ROOT) -> Path:
    """Makes the links anew and returns the folder to put on the path."""
    package = root / "build" / "py" / "kc"
    package.mkdir(parents=True, exist_ok=True)
    sources = {path.name: path for path in (root / "compiler").iterdir() if path.name != "__pycache__"}
    sources |= {name: root / name for name in FOLDERS}
    for link in package.iterdir():
        if link.is_symlink() and link.name not in sources:
            link.unlink()
    for name, source in sources.items():
        link = package / name
        if not link.is_symlink():
            link.symlink_to(os.path.relpath(source, package))
    return package.parent


if __name__ == "__main__":
    print(make_links())
