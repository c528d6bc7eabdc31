"""Checked rewriting: helpers, patterns and the ``@kc.rewrite`` decorator.

The raw bindings crash the process on ordinary mistakes (a value count that is off, an erased op that still has users).
Here each of them is a ``RewriteError``. Dialect conversion is in ``kc.conversion``; its names are found here too.

Rewriting by hand is as good as patterns: collect ops with ``walk_ops``, then for each of them build new ops and
``replace_op``. Never use an op that was erased, nor one inside it.
"""
from __future__ import annotations

import dataclasses
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Union

from kc.bindings import ir

if TYPE_CHECKING:
    from kc.pass_base import Pass

    OpLike = Union[ir.Operation, ir.OpView]
    New = Union[ir.Value, ir.Operation, ir.OpView, Sequence[ir.Value]]
    #: ``fn(op, rewriter)``; False means that the pattern does not match
    PatternFunction = Callable[[Any, "Rewriter"], Union[bool, None]]

_CONVERSION = ("ConversionTarget", "TypeConverter", "apply_partial_conversion", "apply_full_conversion")


def __getattr__(name: str) -> Any:
    if name in _CONVERSION:
        from kc import conversion

        return getattr(conversion, name)
    raise AttributeError(f"module 'kc.rewrite' has no attribute {name!r}")


class RewriteError(Exception):
    """A rewrite was used in a way that would break the IR."""


# ------------------------------------------------------------------------------------------------ rewriting by hand


def walk_ops(op: OpLike | ir.Module, names: str | Iterable[str] | None = None) -> list[ir.Operation]:
    """A snapshot of the ops inside ``op`` (itself excluded), outermost first; only those named in ``names``.

    Collect first, act after: acting inside MLIR's walk loses the type of exceptions, and an op erased under it crashes.
    Do not use an op of the list after you erased it or an op around it.
    """
    root = op.operation
    wanted = {names} if isinstance(names, str) else None if names is None else set(names)
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        inner = inner.operation
        if (wanted is None or inner.name in wanted) and inner != root:
            found.append(inner)
        return ir.WalkResult.ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def values_of(new: New) -> list[ir.Value]:
    """The values of an op, a value, or a sequence of values."""
    if isinstance(new, ir.Value):
        return [new]
    if isinstance(new, (ir.Operation, ir.OpView)):
        return list(new.operation.results)
    return list(new)


def check_replacement(
    op: OpLike, new: New, convert: Callable[[ir.Type], ir.Type | None] | None = None
) -> list[ir.Value]:
    """The values that are to replace the results of ``op``; raises RewriteError when count or types do not agree.

    ``convert`` gives the type that a result of some type must be replaced by; without it types must be equal.
    """
    operation, values = op.operation, values_of(new)
    results = list(operation.results)
    if len(values) != len(results):
        raise RewriteError(
            f"'{operation.name}' has {len(results)} results, but {len(values)} values were given to replace them"
        )
    for index, (result, value) in enumerate(zip(results, values, strict=True)):
        wanted = result.type if convert is None else convert(result.type) or result.type
        if value.type not in (wanted, result.type):
            raise RewriteError(
                f"result {index} of '{operation.name}' is to be replaced by {wanted}, the replacement has {value.type}"
            )
        if result == value:
            raise RewriteError(f"'{operation.name}' cannot be replaced by its own result")
    return values


def check_unused(op: OpLike) -> None:
    """Raises RewriteError when a result of ``op`` still has uses."""
    for index, result in enumerate(op.operation.results):
        use = next(iter(result.uses), None)
        if use is not None:
            raise RewriteError(
                f"'{op.operation.name}' cannot be erased: its result {index} is still used by "
                f"'{use.owner.operation.name}'"
            )


def replace_op(op: OpLike, new: New) -> None:
    """Replace all uses of the results of ``op`` by ``new`` (values or an op with as many results) and erase ``op``."""
    values = check_replacement(op, new)
    operation = op.operation
    for result, value in zip(list(operation.results), values, strict=True):
        result.replace_all_uses_with(value)
    operation.erase()


def erase_op(op: OpLike) -> None:
    """Erase an op whose results have no uses."""
    check_unused(op)
    op.operation.erase()


# -------------------------------------------------------------------------------------------------------- patterns


class Rewriter:
    """What a pattern changes the IR with. Ops built under ``with rewriter.ip:`` stand before the matched op.

    While a pattern runs, its op's location is the ambient one.
    """

    def __init__(self, raw: Any, root: OpLike, convert: Callable[[ir.Type], ir.Type | None] | None = None):
        self._raw, self._root, self._convert = raw, root, convert
        self._gone: list[ir.Operation] = []
        #: how many changes the pattern made known
        self.changes = 0

    @property
    def ip(self) -> ir.InsertionPoint:
        """The insertion point, before the matched op."""
        point: ir.InsertionPoint = self._raw.ip
        return point

    def replace_op(self, op: OpLike, new: New) -> None:
        """Replace the results of ``op`` by ``new`` (values, or an op with as many results) and erase ``op``."""
        self._check_alive(op)
        values = check_replacement(op, new, self._convert)
        self.changes += 1
        self._gone.append(op.operation)
        self._raw.replace_op(op.operation, values)

    def erase_op(self, op: OpLike) -> None:
        """Erase an op whose results have no uses."""
        self._check_alive(op)
        if self._convert is None:  # in a conversion, uses are replaced before anything is erased
            check_unused(op)
        self.changes += 1
        self._gone.append(op.operation)
        self._raw.erase_op(op.operation)

    def modified(self, op: OpLike) -> None:
        """Say that ``op`` was changed in place (attributes, operands) or that ops were added without replacing any."""
        self.changes += 1

    def _check_alive(self, op: OpLike) -> None:
        if any(op is gone or op.operation is gone for gone in self._gone):
            raise RewriteError("this op was already replaced or erased")


class RewritePattern:
    """A pattern on ops named ``root``: a subclass, or a function by ``RewritePattern.of("arith.addi", function)``."""

    root: ClassVar[str | type[ir.OpView]]
    benefit: ClassVar[int] = 1

    def match_and_rewrite(self, op: Any, rewriter: Rewriter) -> bool | None:
        """Rewrite ``op``. Return False, before anything is changed, when the pattern does not match."""
        raise NotImplementedError

    @staticmethod
    def of(root: str | type[ir.OpView], function: PatternFunction, benefit: int = 1) -> RewritePattern:
        """The pattern that a plain function is."""
        return _FunctionPattern(root, function, benefit)


class _FunctionPattern(RewritePattern):
    def __init__(self, root: str | type[ir.OpView], function: PatternFunction, benefit: int):
        self.root = root  # type: ignore[misc]
        self.benefit = benefit  # type: ignore[misc]
        self._function = function

    def match_and_rewrite(self, op: Any, rewriter: Rewriter) -> bool | None:
        return self._function(op, rewriter)


def apply_patterns_greedily(
    op: OpLike | ir.Module, patterns: Sequence[RewritePattern], *, fold: bool = False, max_iterations: int = 10
) -> int:
    """Apply patterns inside ``op`` until none matches; returns the number of rewrites.

    Dead ops are erased on the way. With ``fold``, ops are folded and constants merged too. Raises RewriteError when
    patterns still match after ``max_iterations`` rounds, and whatever a pattern raises; the IR is then half-rewritten.
    """
    from kc.bindings import rewrite as raw

    config = raw.GreedyRewriteConfig()
    config.enable_folding = config.enable_constant_cse = fold
    config.max_iterations = max_iterations
    # a pattern that matches its own result would never leave a round
    config.max_num_rewrites = 2_000 + 20 * len(walk_ops(op))
    config.region_simplification_level = raw.GreedySimplifyRegionLevel.DISABLED
    frozen, count = _freeze(patterns)
    try:
        raw.apply_patterns_and_fold_greedily(op.operation, frozen, config)
    except RuntimeError as error:
        if "failed to converge" not in str(error):
            raise
        names = ", ".join(sorted({_pattern_name(p) for p in patterns}))
        raise RewriteError(f"patterns still match after {max_iterations} rounds ({names})") from None
    return count[0]


def walk_and_apply(op: OpLike | ir.Module, patterns: Sequence[RewritePattern]) -> int:
    """Apply patterns once to each op inside ``op``, in one walk; returns the number of rewrites."""
    from kc.bindings import rewrite as raw

    frozen, count = _freeze(patterns)
    raw.walk_and_apply_patterns(op.operation, frozen)
    return count[0]


def _freeze(patterns: Sequence[RewritePattern]) -> tuple[Any, list[int]]:
    """A frozen native set of patterns, and a counter of rewrites."""
    from kc.bindings import rewrite as raw

    native, count = raw.RewritePatternSet(), [0]
    for pattern in patterns:
        native.add(pattern.root, _adapt(pattern, count), pattern.benefit)
    return native.freeze(), count


def _adapt(pattern: RewritePattern, count: list[int]) -> Callable[[Any, Any], bool]:
    """The native callback of a pattern, which returns whether the match *failed*."""

    def call(op: Any, raw: Any) -> bool:
        rewriter = Rewriter(raw, op)
        with op.location:
            matched = pattern.match_and_rewrite(op, rewriter) is not False
        if not matched and rewriter.changes:
            raise RewriteError(f"pattern '{_pattern_name(pattern)}' changed the IR and then said no match")
        count[0] += rewriter.changes > 0
        return rewriter.changes == 0

    return call


def _pattern_name(pattern: RewritePattern) -> str:
    function = getattr(pattern, "_function", None)
    return getattr(function, "__name__", type(pattern).__name__)


# ------------------------------------------------------------------------------------------------- pattern passes


def rewrite(
    *roots: str, level: str = "", name: str | None = None, anchor: str = "any", benefit: int = 1
) -> Callable[[PatternFunction], PatternFunction]:
    """Make a registered pass of a pattern function::

        @kc.rewrite("arith.addi", level="linalg", name="my-rewrite")
        def add_to_sub(op, rewriter):
            '''Summary of the pass.'''
            ...
            rewriter.replace_op(op, new)      # or: return False, for "no match"

    The pass applies the function to ops named ``roots`` until it matches no more. Its name is the function's with
    dashes unless given. The function gains the attribute ``pass_class``. Raises InputError when the name is taken.
    """
    if not roots or not all(isinstance(root, str) for root in roots):
        raise TypeError('@kc.rewrite needs the names of ops: @kc.rewrite("arith.addi", …)')

    def decorate(function: PatternFunction) -> PatternFunction:
        from kc.registry import register

        function.pass_class = register(  # type: ignore[attr-defined]
            _pattern_pass(function, roots, level, name or function.__name__.replace("_", "-"), anchor, benefit)
        )
        return function

    return decorate


def _pattern_pass(
    function: PatternFunction, roots: Sequence[str], level: str, name: str, anchor: str, benefit: int
) -> type[Pass]:
    from kc.pass_base import Pass, PassContext

    def run(self: Pass, op: ir.Operation, ctx: PassContext) -> None:
        ctx.count("rewrites", apply_patterns_greedily(op, [RewritePattern.of(r, function, benefit) for r in roots]))

    body = {"name": name, "anchor": anchor, "level": level, "run": run, "__doc__": function.__doc__}
    cls = type("".join(part.capitalize() for part in name.split("-")), (Pass,), body)
    cls.__module__, cls.__qualname__ = function.__module__, function.__qualname__
    return dataclasses.dataclass(frozen=True)(cls)


class _CallableModule(types.ModuleType):
    """Makes ``kc.rewrite`` both this module and the decorator ``@kc.rewrite(...)``: neither may hide the other."""

    def __call__(self, *roots: str, **options: Any) -> Callable[[PatternFunction], PatternFunction]:
        return rewrite(*roots, **options)


sys.modules[__name__].__class__ = _CallableModule
