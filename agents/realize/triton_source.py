"""Triton source from a stranger: what may stand in it. Checked before anything of it is run.

Triton compiles a Python function from its source, but to hold that function a module has to be executed, and some names
in its body are looked up and called while it is compiled. So a source may hold imports of ``triton`` and
``triton.language``, constants, and functions under ``@triton.jit``, whose bodies reach nothing but arguments, local
names, each other, and what Triton offers to kernels.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kc.agents.realize.realized import RealizeError

_MOST_CHARACTERS = 200_000
_MODULES = {"triton": "triton", "triton.language": "tl"}
#: what a kernel may name of the two modules: a function or a type of theirs, and those of ``tl.math``
_FOR_KERNELS = re.compile(r"triton\.(?:cdiv|next_power_of_2|(?:language\.)(?:math\.)?(?!math$)[A-Za-z]\w*)")
#: Python's own functions that a kernel may call
_BUILTINS = {
    "range",
    "min",
    "max",
    "len",
    "int",
    "float",
    "bool",
    "tuple",
    "list",
    "isinstance",
    "abs",
    "True",
    "False",
    "None",
}
_FORBIDDEN = (ast.Lambda, ast.ClassDef, ast.AsyncFunctionDef, ast.Await, ast.Yield, ast.YieldFrom, ast.Try, ast.Raise,
              ast.Global, ast.Nonlocal, ast.Delete, ast.With, ast.AsyncWith, ast.Import, ast.ImportFrom, ast.NamedExpr,
              ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)  # fmt: skip


def check(source: str) -> dict[str, ast.FunctionDef]:
    """The jitted functions of ``source`` by name. Raises RealizeError that names the line of what may not be there."""
    if len(source) > _MOST_CHARACTERS:
        raise RealizeError(
            "parse", "parse.source", f"the source has {len(source)} characters, {_MOST_CHARACTERS} at most"
        )
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RealizeError("parse", "parse.source", f"the source is no Python: {error}") from None
    modules: dict[str, str] = {}  # name -> triton or triton.language
    functions: dict[str, ast.FunctionDef] = {}
    constants: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            _import(node, modules)
        elif isinstance(node, ast.ImportFrom):
            if node.module != "triton" or [alias.name for alias in node.names] != ["language"] or node.level:
                _refuse(node, "imports something other than triton and triton.language")
            modules[node.names[0].asname or "language"] = "triton.language"
        elif isinstance(node, ast.FunctionDef):
            functions[node.name] = node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            constants.add(_constant(node, modules))
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):  # a docstring
            _refuse(node, "is neither an import, a constant nor a function under @triton.jit")
    for function in functions.values():
        _Function(function, modules, set(functions) | constants).check()
    if not functions:
        raise RealizeError("parse", "parse.source", "the source has no function under @triton.jit")
    return functions


def _refuse(node: ast.AST, what: str) -> None:
    line = getattr(node, "lineno", 0)
    raise RealizeError("parse", "parse.source", f"line {line} of the Triton source {what}: '{ast.unparse(node)[:80]}'")


def _import(node: ast.Import, modules: dict[str, str]) -> None:
    for alias in node.names:
        if alias.name not in _MODULES or (alias.asname is None and "." in alias.name):
            _refuse(node, "imports something other than 'triton' and 'triton.language as tl'")
        modules[alias.asname or alias.name] = alias.name


def _constant(node: ast.Assign | ast.AnnAssign, modules: dict[str, str]) -> str:
    """The name of ``X = 3``, ``X: tl.constexpr = 3`` or ``X = tl.constexpr(3)``."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    value = node.value
    if (
        isinstance(value, ast.Call)
        and _path(value.func, modules) == "triton.language.constexpr"
        and len(value.args) == 1
    ):
        value = value.args[0]
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        value = value.operand
    named = len(targets) == 1 and isinstance(targets[0], ast.Name)
    annotated = isinstance(node, ast.AnnAssign) and _path(node.annotation, modules) != "triton.language.constexpr"
    if not named or annotated or not isinstance(value, ast.Constant):
        _refuse(node, "is no constant")
    assert isinstance(targets[0], ast.Name)
    return targets[0].id


def _path(node: ast.AST, modules: dict[str, str]) -> str | None:
    """``triton.language.load`` of ``tl.load``; None for what does not begin with a module."""
    if isinstance(node, ast.Name):
        return modules.get(node.id)
    if isinstance(node, ast.Attribute):
        base = _path(node.value, modules)
        return None if base is None else f"{base}.{node.attr}"
    return None


def _nodes(node: ast.AST, modules: dict[str, str]) -> Iterator[ast.AST]:
    """``node`` and what is in it; a path into a module is one node."""
    yield node
    if isinstance(node, ast.Attribute) and _path(node, modules) is not None:
        return
    for child in ast.iter_child_nodes(node):
        yield from _nodes(child, modules)


class _Function:
    """The check of one function."""

    def __init__(self, node: ast.FunctionDef, modules: dict[str, str], known: set[str]) -> None:
        self.node, self.modules, self.known = node, modules, known

    def check(self) -> None:
        node, arguments = self.node, self.node.args
        if [_path(decorator, self.modules) for decorator in node.decorator_list] != ["triton.jit"]:
            _refuse(node, "is a function without @triton.jit alone over it")
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            _refuse(node, "has arguments other than plain ones")
        for argument in arguments.args:
            if (
                argument.annotation is not None
                and _path(argument.annotation, self.modules) != "triton.language.constexpr"
            ):
                _refuse(argument, "has an annotation other than tl.constexpr")
        if any(not isinstance(default, ast.Constant) for default in arguments.defaults) or node.returns is not None:
            _refuse(node, "has a default that is no constant, or a result annotation")
        local = {argument.arg for argument in arguments.args}
        inside = [child for statement in node.body for child in _nodes(statement, self.modules)]
        local |= {child.id for child in inside if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)}
        if local & (set(self.modules) | self.known):
            _refuse(node, f"gives {', '.join(sorted(local & (set(self.modules) | self.known)))} another meaning")
        for child in inside:
            self._check(child, local)

    def _check(self, node: ast.AST, local: set[str]) -> None:
        if isinstance(node, (*_FORBIDDEN, ast.FunctionDef)):
            _refuse(node, "has a form that kernels do not need")
        if isinstance(node, ast.Attribute):
            if node.attr.startswith("_"):
                _refuse(node, "reaches for a private name")
            path = _path(node, self.modules)
            if path is not None and not _FOR_KERNELS.fullmatch(path):
                _refuse(node, "names something of triton that is not for kernels")
        if isinstance(node, ast.Name) and node.id not in local | self.known | _BUILTINS:
            _refuse(node, f"uses '{node.id}', which the source does not define")


def language_paths(functions: dict[str, ast.FunctionDef], source: str) -> set[str]:
    """What the functions name of ``triton.language``, as paths after it (``load``, ``math.exp``)."""
    modules: dict[str, str] = {}
    for top in ast.parse(source).body:
        if isinstance(top, ast.Import):
            _import(top, modules)
        elif isinstance(top, ast.ImportFrom):
            modules[top.names[0].asname or "language"] = "triton.language"
    found = set()
    for function in functions.values():
        for node in _nodes(function, modules):
            path = _path(node, modules) if isinstance(node, ast.Attribute) else None
            if path and path.startswith("triton.language."):
                found.add(path.removeprefix("triton.language."))
    return found
