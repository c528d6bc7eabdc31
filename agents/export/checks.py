"""CHECK lines for the body of a function, with names of values and of affine maps left open."""
from __future__ import annotations

import re
from collections.abc import Iterator

_NAME = re.compile(r"(%[A-Za-z0-9_$.-]+|#[A-Za-z]\w*)")
#: characters of a line that are checked; longer ones (code in an attribute) are cut
_WIDTH = 400


def check_lines(module: str, function: str = "main") -> Iterator[str]:
    """Lines ``// CHECK…`` that hold for ``module`` and tell it from any other body of the function."""
    names: dict[str, str] = {}
    lines = _function(module, function)
    yield f"// CHECK-LABEL: func.func @{function}("
    yield from _head(lines[0], names)
    for line in lines[1:-1]:
        yield f"// CHECK-NEXT: {_open(line.strip(), names)}"


def _function(module: str, name: str) -> list[str]:
    """The lines of a function in the module's text, from its head to its closing brace."""
    lines = module.splitlines()
    start = next(n for n, line in enumerate(lines) if re.match(rf"\s*func\.func (?:\w+ )?@{re.escape(name)}\(", line))
    indent = re.match(r"\s*", lines[start])[0]  # type: ignore[index]
    end = next(n for n in range(start + 1, len(lines)) if lines[n] == f"{indent}}}")
    return lines[start : end + 1]


def _head(line: str, names: dict[str, str]) -> Iterator[str]:
    """The arguments, each on its own so that attributes and types in between do not matter."""
    for name in re.findall(r"(%\w+):", line):
        names[name] = f"V{len(names)}"
        yield f"// CHECK-SAME: %[[{names[name]}:[A-Za-z0-9_]+]]:"


def _open(line: str, names: dict[str, str]) -> str:
    """``line`` as a pattern: a name is a variable, captured where it is defined (or met first)."""
    defined = line if line.startswith("^") else line.partition(" = ")[0] if line.startswith("%") else ""
    for name in _NAME.findall(defined):
        names.pop(name, None)
    shown = []
    for part in _NAME.split(line if len(line) <= _WIDTH else line[:_WIDTH]):
        if not _NAME.fullmatch(part):
            shown.append(part.replace("{{", "{{[{][{]}}").replace("[[", "{{[[][[]}}"))
        elif part in names:
            shown.append(f"{part[0]}[[{names[part]}]]")
        else:
            names[part] = f"{'M' if part[0] == '#' else 'V'}{len(names)}"
            shown.append(f"{part[0]}[[{names[part]}:[A-Za-z0-9_]+]]")
    return "".join(shown)
