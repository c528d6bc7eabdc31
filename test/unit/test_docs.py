"""The code blocks of README.md and docs/ do what they say: each page is run from top to bottom in an empty folder.

A fenced block's first word says what it is: ``python`` runs in a process of the page's own, ``sh`` in a shell, and a
block with a file name after the language is written to that file. ``sh install`` blocks are run by CI instead; ``text``
and blocks without a language are not run.
"""
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)(?: +(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[int, str, str | None, str]]:
    """(line, language, word after it, text) of each fenced block of a page."""
    text = page.read_text()
    return [(text.count("\n", 0, m.start()) + 1, m[1], m[2], m[3]) for m in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_blocks_run(page: Path, tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "KC_CACHE_DIR": str(tmp_path / "cache")}
    script: list[str] = []
    for line, language, word, text in blocks(page):
        if language == "text" or word == "install":
            continue
        if word is not None:
            (tmp_path / word).write_text(text)
        elif language == "python":
            script.append(f"# {page.name}:{line}\n{text}")
        elif language == "sh":
            _run(["bash", "-euo", "pipefail", "-c", text], tmp_path, environment, f"{page}:{line}")
        else:
            pytest.fail(f"{page}:{line}: a block of '{language}' is neither run nor written to a file")
    if script:
        (tmp_path / "page.py").write_text("\n".join(script))
        _run([sys.executable, "page.py"], tmp_path, environment, str(page))


def _run(command: list[str], folder: Path, environment: dict[str, str], place: str) -> None:
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, f"{place}: exit code {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def test_every_page_is_found() -> None:
    """Links lead to what is there, and from the README to every page."""
    seen, left, broken = {PAGES[0]}, [PAGES[0]], []
    while left:
        page = left.pop()
        text = BLOCK.sub("", page.read_text())
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            target = (page.parent / link).resolve()
            if "://" in link or target in seen:
                continue
            if not target.exists():
                broken.append(f"{page.relative_to(ROOT)}: {link}")
            elif target in PAGES:
                seen.add(target)
                left.append(target)
    assert not broken, f"links that lead nowhere: {broken}"
    lost = [str(page.relative_to(ROOT)) for page in PAGES if page not in seen]
    assert not lost, f"pages that nothing leads to: {lost}"


def test_every_page_has_blocks_that_run() -> None:
    idle = [str(p.relative_to(ROOT)) for p in PAGES if not any(b[1] in ("python", "sh") for b in blocks(p))]
    assert idle == [p for p in idle if p == "docs/passes.md"], f"pages that show nothing that runs: {idle}"
