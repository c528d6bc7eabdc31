"""Dialect conversion with checks: type converters and targets that keep alive what MLIR only points to."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Union

from kc.bindings import ir
from kc.rewrite import RewriteError, Rewriter

if TYPE_CHECKING:
    from kc.rewrite import OpLike

#: ``fn(op, adaptor, rewriter)``: ``adaptor`` has the converted operands, by name and as ``operands``
ConversionFunction = Callable[[Any, Any, "ConversionRewriter"], Union[bool, None]]


class TypeConverter:
    """Converts types by functions ``fn(type) -> type | None``; the one added last is tried first, None means "not I".

    A type that no function takes stays as it is.
    """

    def __init__(self, *functions: Callable[[ir.Type], ir.Type | None]):
        from kc.bindings import rewrite as raw

        self.raw = raw.TypeConverter()
        self._kept: list[Any] = []  # MLIR does not keep them alive
        self.add(lambda kind: kind)
        for function in functions:
            self.add(function)

    def add(self, function: Callable[[ir.Type], ir.Type | None]) -> None:
        """Add a conversion; it is tried before those added earlier."""
        self._kept.append(function)
        self.raw.add_conversion(function)

    def convert(self, kind: ir.Type) -> ir.Type:
        """The converted type."""
        converted: ir.Type | None = self.raw.convert_type(kind)
        return kind if converted is None else converted


class ConversionTarget:
    """What is legal after a conversion: names of dialects (``arith``) and of ops (``func.func``, with a dot)."""

    def __init__(self, context: ir.Context, *, legal: str = "", illegal: str = ""):
        from kc.bindings import rewrite as raw

        self.context = context
        with context:
            self.raw = raw.ConversionTarget(context)
        for text, dialect, op in (
            (legal, self.raw.add_legal_dialect, self.raw.add_legal_op),
            (illegal, self.raw.add_illegal_dialect, self.raw.add_illegal_op),
        ):
            for name in text.split():
                (op if "." in name else dialect)(name)


class ConversionRewriter(Rewriter):
    """The rewriter of a conversion pattern; knows the type converter."""

    def __init__(self, raw: Any, root: OpLike, converter: TypeConverter):
        super().__init__(raw, root, converter.convert)
        self._converter = converter

    def convert_type(self, kind: ir.Type) -> ir.Type:
        """What the type becomes."""
        return self._converter.convert(kind)

    def convert_region_types(self, region: ir.Region) -> None:
        """Convert the types of the arguments of the blocks in ``region``."""
        self.changes += 1
        self._raw.convert_region_types(region, self._converter.raw)


def apply_partial_conversion(
    op: OpLike | ir.Module,
    patterns: dict[str, ConversionFunction],
    target: ConversionTarget,
    converter: TypeConverter | None = None,
    *,
    materialize: bool = False,
) -> None:
    """Convert the illegal ops inside ``op`` by ``patterns`` (op name -> function); others may stay.

    Without ``materialize``, a value that is used at its old type gets a ``builtin.unrealized_conversion_cast``, for
    ``reconcile-unrealized-casts`` to remove. Raises ir.MLIRError naming the op when an illegal op cannot be converted.
    """
    _convert(op, patterns, target, converter, "apply_partial_conversion", materialize)


def apply_full_conversion(
    op: OpLike | ir.Module,
    patterns: dict[str, ConversionFunction],
    target: ConversionTarget,
    converter: TypeConverter | None = None,
) -> None:
    """As ``apply_partial_conversion``, but every op must be legal in the end."""
    _convert(op, patterns, target, converter, "apply_full_conversion", True)


def _convert(
    op: OpLike | ir.Module,
    patterns: dict[str, ConversionFunction],
    target: ConversionTarget,
    converter: TypeConverter | None,
    driver: str,
    materialize: bool,
) -> None:
    from kc.bindings import rewrite as raw

    types = TypeConverter() if converter is None else converter
    native = raw.RewritePatternSet()
    for root, function in patterns.items():
        native.add_conversion(root, _adapt(function, types), types.raw)
    config = raw.ConversionConfig()
    config.build_materializations = materialize
    frozen = native.freeze()
    getattr(raw, driver)(op.operation, target.raw, frozen, config)


def _adapt(function: ConversionFunction, converter: TypeConverter) -> Callable[[Any, Any, Any, Any], bool]:
    """The native callback, which returns whether the match *failed*."""

    def call(op: Any, adaptor: Any, _: Any, raw: Any) -> bool:
        rewriter = ConversionRewriter(raw, op, converter)
        with op.location:
            matched = function(op, adaptor, rewriter) is not False
        if not matched and rewriter.changes:
            raise RewriteError(f"a conversion of '{op.operation.name}' changed the IR and then said no match")
        return not matched

    return call
