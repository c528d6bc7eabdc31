"""Write ``docs/passes.md``, the reference of kc's passes, from the passes' docstrings and options.

Run as ``python -m kc.tools.docs_passes [FILE]`` in the source tree after a pass was added or changed.
"""
from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence

from kc import registry
from kc.levels import LEVELS
from kc.pass_base import Pass
from kc.passes import REGISTRY
from kc.tools._describe import option_texts

HEAD = """# Passes

All passes of kc, by the level they stand at; a conversion is listed at the level it starts from. `kc-opt --list-passes`
shows them too, with the native ones. This page is written by `python -m kc.tools.docs_passes`.
"""


def page() -> str:
    """The text of the page."""
    classes = [cls for name in REGISTRY if (cls := registry.find_pass(name)) is not None]
    parts = [HEAD]
    for level in LEVELS:
        here = [cls for cls in classes if _start(cls) == level]
        if here:
            parts.append(f"## {level}\n")
            parts += [_section(cls) for cls in here]
    return "\n".join(parts)


def _start(cls: type[Pass]) -> str:
    return cls.level if isinstance(cls.level, str) else cls.level[0]


def _section(cls: type[Pass]) -> str:
    level = cls.level if isinstance(cls.level, str) else " → ".join(cls.level)
    lines = [f"### `{cls.name}`\n", f"On `{cls.anchor}`, level {level}.\n"]
    lines.append("```text\n" + inspect.cleandoc(cls.__doc__ or "").replace("```", "'''") + "\n```\n")
    options = option_texts(cls)
    if options:
        lines.append("| option | type and default |\n| --- | --- |")
        lines += [f"| `{option}` | `{text.replace('|', 'or')}` |" for option, text in options]
        lines.append("")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page."""
    arguments = sys.argv[1:] if argv is None else argv
    path = arguments[0] if arguments else "docs/passes.md"
    text = page()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    sys.stdout.write(f"{path}: {len(REGISTRY)} passes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
