"""A module of the llvm level cut into pieces that are compiled apart.

What a schedule built is vectorised already: LLVM's IR passes find nothing to do there and cost half of the compile
time. General loops need them. And functions that are over in no time (``kc.brief``, see ``kc-mark-brief``) need
nothing of it: the fast code generator makes their code in a tenth of the time. So each of the three kinds goes into
objects of its own; large kinds go into several, which are compiled side by side. Mathematical functions that general
code calls (``kc.math``) are straight code, and go with what schedules built.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping

from kc.answers import ASM
from kc.bindings import ir
from kc.codegen import emit, llvm_ir
from kc.codegen.llvm_ir import PREFIX

#: LLVM IR text of one object, in characters, beyond which another is begun
MOST_TEXT = 1 << 18

_BRIEF, _MAIN, _KERNELS, _ASM = "brief", "main", "kernels", "asm"


@dataclasses.dataclass(frozen=True)
class Unit:
    """One object to be: its name, LLVM IR text and optimisation level."""

    name: str
    text: str
    opt: str


def split(module: ir.Module, opt: str) -> list[Unit]:
    """``module`` as units; ``opt`` is the level of general code. The module's functions get the linkage they need.

    Only entry points (``kc_entry_…``) are visible outside the program. Kernels that are called from ``main`` are not
    inlined into it: LLVM's passes take time that grows faster than the length of a function. Brief functions are told
    apart at ``O2`` only: who names another level gets it. Assembly is a unit by itself: a module that is nothing else.
    """
    said = _kinds(module, opt)  # before the translation: it sets attributes
    text = _Text(llvm_ir.translate(module.operation), assembly_of(module))
    kinds = text.spread(said)
    pieces = list(_pieces(text, kinds))
    if len(pieces) > 1 and text.shares_state(pieces):
        foreign = [piece for piece in pieces if piece[0] == _ASM]
        pieces = [(_MAIN, [name for name in text.functions if name not in text.assembly]), *foreign]
    shared = text.shared(pieces)
    levels = _levels(opt)
    counts: dict[str, int] = {}
    units = []
    for kind, names in pieces:
        number = counts[kind] = counts.get(kind, 0) + 1
        name = kind if number == 1 else f"{kind}-{number}"
        units.append(Unit(name, text.of(names, shared), levels[kind]))
    return units


def _kinds(module: ir.Module, opt: str) -> dict[str, str | None]:
    """What the module says about the kind of its functions; kernels of general code are not to be inlined."""
    kinds: dict[str, str | None] = {}
    no_inline = ir.UnitAttr.get(module.context)
    for function in llvm_ir.functions(module.operation):
        if not len(function.regions[0].blocks):
            continue
        kind = _kind(function, opt)
        if kind == _MAIN and "kc.kernel" in function.attributes and opt not in ("O0", "codegen-only"):
            function.attributes["no_inline"] = no_inline
        kinds[ir.StringAttr(function.attributes["sym_name"]).value] = kind
    return kinds


def _kind(function: ir.Operation, opt: str) -> str | None:
    """The kind of a function; None where the function does not say."""
    if ASM in function.attributes:
        return _ASM
    if opt in ("O0", "codegen-only"):
        return _MAIN
    if "kc.impl" in function.attributes:
        return _KERNELS
    if "kc.brief" in function.attributes and opt == "O2":
        return _BRIEF
    if "kc.math" in function.attributes:
        return _KERNELS
    return _MAIN if "kc.kernel" in function.attributes else None


def level_of(function: ir.Operation, opt: str) -> str:
    """The optimisation level at which ``split`` has a function compiled, by itself; ``opt``: that of general code."""
    return _levels(opt)[_kind(function, opt) or _MAIN]


def _levels(opt: str) -> dict[str, str]:
    return {_BRIEF: "O0", _MAIN: opt, _KERNELS: "codegen-only", _ASM: "codegen-only"}


def assembly_of(module: ir.Module) -> dict[str, str]:
    """The functions of a module whose code is assembly (``kc.answers.ASM``), by name."""
    return {
        ir.StringAttr(function.attributes["sym_name"]).value: ir.StringAttr(function.attributes[ASM]).value
        for function in llvm_ir.functions(module.operation)
        if ASM in function.attributes
    }


def whole(module: ir.Module) -> str:
    """LLVM IR text of a whole module, with the assembly that takes the place of functions in it."""
    assembly = assembly_of(module)
    text = llvm_ir.translate(module.operation)
    if not assembly:
        return text
    parts = _Text(text, assembly)
    names = [name for name in parts.functions if name not in assembly]
    return "\n".join([parts.of(names, set(assembly)), *map(emit.module_asm, assembly.values())])


def _pieces(text: _Text, kinds: dict[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Kind and functions of each unit."""
    for name in text.assembly:
        yield _ASM, [name]
    for kind in (_BRIEF, _MAIN, _KERNELS):
        names: list[str] = []
        size = 0
        for name, body in text.functions.items():
            if kinds[name] != kind:
                continue
            if names and size + len(body) > MOST_TEXT:
                yield kind, names
                names, size = [], 0
            names.append(name)
            size += len(body)
        if names:
            yield kind, names


_NAME = re.compile(r'@(?:"([^"]*)"|([\w.$-]+))')
_DEFINED = re.compile(r'^define [^\n]*?@(?:"([^"]*)"|([\w.$-]+))\(', re.MULTILINE)
_LINKAGE = re.compile(r"define (?:internal |private |hidden )*")


class _Text:
    """LLVM IR text taken apart: ``functions`` and ``globals`` by name, and what every unit needs."""

    def __init__(self, text: str, assembly: Mapping[str, str] | None = None):
        #: code that takes the place of functions, by their names
        self.assembly = assembly or {}
        self.functions: dict[str, str] = {}
        self._globals: dict[str, str] = {}
        self._declared: dict[str, str] = {}
        common: list[str] = []
        position = 0
        for match in _DEFINED.finditer(text):
            self._outside(text[position : match.start()], common)
            position = text.index("\n}\n", match.start()) + 3
            self.functions[match.group(1) or match.group(2)] = text[match.start() : position]
        self._outside(text[position:], common)
        self._common = "\n".join(common) + "\n"
        self._references = {name: _names(body) for name, body in self.functions.items()}
        if self.assembly:
            self._leave_out()

    def _leave_out(self) -> None:
        """Forget what only the functions call that assembly takes the place of: it has its own of that."""
        before = self._reached(self.assembly)
        self._references.update((name, {}) for name in self.assembly)
        outside = [name for name in self.functions if name not in before or name.startswith(PREFIX)]
        for name in before - self._reached([*outside, *self.assembly]):
            del self.functions[name], self._references[name]

    def _reached(self, roots: Iterable[str]) -> set[str]:
        """The functions ``roots`` and what they name, and what that names."""
        found: set[str] = set()
        stack = list(roots)
        while stack:
            name = stack.pop()
            if name in self.functions and name not in found:
                found.add(name)
                stack.extend(self._references[name])
        return found

    def _outside(self, text: str, common: list[str]) -> None:
        for line in text.split("\n"):
            if line.startswith("@"):
                self._globals[next(iter(_names(line)))] = line
            elif line.startswith("declare "):
                self._declared[next(iter(_names(line)))] = line
            elif line and not line.startswith(";"):
                common.append(line)

    def spread(self, kinds: dict[str, str | None]) -> dict[str, str]:
        """The kind of every function. ``kinds`` has None for those of the module that do not say.

        These belong to scheduled code if that calls them. What LLVM's translation made (the bodies of parallel
        regions) is of the kind of the function that names it.
        """
        kinds = {name: kind for name, kind in kinds.items() if name in self.functions}
        found = {name: kind for name, kind in kinds.items() if kind}
        self._inherit(found, [name for name, kind in found.items() if kind == _KERNELS])
        for name in kinds:
            found.setdefault(name, _MAIN)
        self._inherit(found, list(found))
        return {name: found.get(name, _MAIN) for name in self.functions}

    def _inherit(self, kinds: dict[str, str], stack: list[str]) -> None:
        while stack:
            name = stack.pop()
            for other in self._references[name]:
                if other in self.functions and other not in kinds:
                    kinds[other] = kinds[name]
                    stack.append(other)

    def shares_state(self, pieces: list[tuple[str, list[str]]]) -> bool:
        """Whether two of ``pieces`` name one variable, which then must not be copied into both."""
        seen: set[str] = set()
        for _, names in pieces:
            variables = {name for name in self._globals_of(names) if _is_variable(self._globals[name])}
            if variables & seen:
                return True
            seen |= variables
        return False

    def _globals_of(self, functions: Iterable[str]) -> list[str]:
        """The globals that ``functions`` name, and those that these name, in the order of the text."""
        found: set[str] = set()
        stack = list(functions)
        while stack:
            name = stack.pop()
            for other in self._references[name] if name in self.functions else _names(self._globals[name]):
                if other in self._globals and other not in found:
                    found.add(other)
                    stack.append(other)
        return [name for name in self._globals if name in found]

    def shared(self, pieces: list[tuple[str, list[str]]]) -> set[str]:
        """The functions that functions of other pieces name."""
        home = {name: number for number, (_, names) in enumerate(pieces) for name in names}
        return {
            other
            for name, references in self._references.items()
            for other in references
            if home.get(other, home[name]) != home[name]
        }

    def of(self, names: list[str], shared: set[str]) -> str:
        """The text of a unit that defines the functions ``names``: others are declared, entry points are visible."""
        if len(names) == 1 and names[0] in self.assembly:
            return emit.module_asm(self.assembly[names[0]])
        inside = set(names)
        own = self._globals_of(names)
        needed: dict[str, None] = {}
        for name in names:
            needed.update(self._references[name])
        for name in own:
            needed.update(_names(self._globals[name]))
        declared = [self._declared[name] for name in needed if name in self._declared]
        declared += [_declaration(self.functions[name]) for name in needed if name in shared and name not in inside]
        bodies = [self._linked(name, name in shared) for name in names]
        return "\n".join([self._common, *(self._globals[name] for name in own), *declared, "", *bodies])

    def _linked(self, name: str, shared: bool) -> str:
        visible = "" if name.startswith(PREFIX) else "hidden " if shared else "internal "
        return _LINKAGE.sub(f"define {visible}", self.functions[name], count=1)


def _names(text: str) -> dict[str, None]:
    """The global names in ``text``, in order."""
    return dict.fromkeys(quoted or plain for quoted, plain in _NAME.findall(text))


def _declaration(function: str) -> str:
    """``declare`` for a ``define``: its first line up to the end of the parameters."""
    named = _DEFINED.match(function)
    assert named is not None
    depth, end = 1, named.end()
    while depth:
        depth += {"(": 1, ")": -1}.get(function[end], 0)
        end += 1
    return _LINKAGE.sub("declare hidden ", function[:end], count=1)


def _is_variable(line: str) -> bool:
    """Whether the line defines a global that may change, or that has an address of its own for others to see."""
    head = line.partition(" = ")[2].split()
    linkage = {"private", "internal"} & set(head[:4])
    return "external" not in head[:2] and not ("constant" in head[:5] and linkage)
