"""A region's module read: its ``@main``, the signature, and what that signature becomes on buffers."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

from kc.agents.realize.realized import RealizeError
from kc.errors import InputError

if TYPE_CHECKING:
    from kc.bindings import ir


class Source(NamedTuple):
    """A parsed module (which keeps its ops alive) and its ``@main``."""

    module: ir.Module
    function: ir.Operation


def parse_source(text: str, what: str = "the region") -> Source:
    """Parse a module and find its ``func.func @main``. Raises InputError when there is none."""
    from kc.answers import names_of
    from kc.context import make_context, parse_module

    module = parse_module(text, make_context(), what)
    main = names_of(module.operation).get("main")
    if main is None or main.name != "func.func" or not len(main.regions[0].blocks):
        raise InputError(f"{what} has no func.func @main with a body")
    return Source(module, main)


def parse_proposed(text: str) -> Source:
    """``parse_source`` of IR that an agent wrote: what is wrong with it is a verdict."""
    try:
        return parse_source(text, "the proposal")
    except InputError as error:
        raise RealizeError("parse", "parse.module", str(error)) from None


def is_kernel(function: Any) -> bool:
    """Whether a region is in destination-passing style: a kernel of a program, or one taken out of it (``kc.kind``)."""
    return not {"kc.kernel", "kc.kind"}.isdisjoint(function.attributes)


@dataclasses.dataclass(frozen=True)
class Value:
    """An argument or a result: ``shape`` is None for a scalar; ``element`` as MLIR writes it; ``dims``: the names of
    ``kc.dims``, empty where there are none."""

    shape: tuple[int | None, ...] | None
    element: str
    dims: tuple[str, ...] = ()
    written: bool = False
    unsigned: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape or ())

    def buffer(self) -> str:
        """Its type on buffers: a memref of identity layout, or the scalar."""
        if self.shape is None:
            return self.element
        return "memref<" + "".join(f"{'?' if size is None else size}x" for size in self.shape) + f"{self.element}>"

    def tensor(self) -> str:
        """Its type on tensors."""
        return self.buffer().replace("memref", "tensor", 1) if self.shape is not None else self.element


@dataclasses.dataclass(frozen=True)
class Signature:
    """A region's signature. ``kernel``: its last arguments are the destinations of its results."""

    arguments: tuple[Value, ...]
    results: tuple[Value, ...]
    kernel: bool

    @property
    def buffers(self) -> tuple[Value, ...]:
        """The arguments on buffers: the region's, then a destination per result where it has none yet. ``written``
        tells the destinations."""
        if self.kernel:
            first = len(self.arguments) - len(self.results)
            return tuple(dataclasses.replace(v, written=v.written or n >= first) for n, v in enumerate(self.arguments))
        return (*self.arguments, *(dataclasses.replace(v, written=True) for v in self.results))

    @property
    def sizes(self) -> dict[str, tuple[int, int]]:
        """Dimension names -> the first (argument, axis) that has it."""
        found: dict[str, tuple[int, int]] = {}
        for number, value in enumerate(self.arguments):
            for axis, name in enumerate(value.dims if value.shape is not None else ()):
                found.setdefault(name, (number, axis))
        return found

    @property
    def inputs(self) -> tuple[Value, ...]:
        """The arguments that are only read."""
        return tuple(value for value in self.buffers if not value.written)

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The buffers that are written."""
        return tuple(value for value in self.buffers if value.written)

    @classmethod
    def of(cls, function: Any) -> Signature:
        """The signature of a ``func.func`` on tensors or memrefs. Raises RealizeError for other types."""
        from kc.agents.contract import Contract
        from kc.bindings import ir

        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        contract = Contract.of(function)
        arguments = tuple(
            _value(type_, argument.dims, argument.writable)
            for type_, argument in zip(kind.inputs, contract.arguments, strict=True)
        )
        return cls(
            arguments,
            tuple(_value(type_) for type_ in kind.results),
            is_kernel(function),
        )


def _value(type_: Any, dims: tuple[str, ...] = (), written: bool = False) -> Value:
    from kc.bindings import ir

    if isinstance(type_, (ir.RankedTensorType, ir.MemRefType)):
        open_size = ir.ShapedType.get_dynamic_size()
        shape = tuple(None if size == open_size else size for size in type_.shape)
        element = str(type_.element_type)
        return Value(shape, _signless(element), dims, written, element.startswith("ui"))
    if isinstance(type_, (ir.IntegerType, ir.FloatType, ir.IndexType)):
        return Value(None, _signless(str(type_)), (), written)
    raise RealizeError(
        "signature",
        "signature.type",
        f"a region with an argument or result of type {type_} cannot stand further "
        "down: tensors with a rank and scalars can",
    )


def _signless(element: str) -> str:
    """``ui8`` as ``i8``: below StableHLO integers have no sign."""
    return element[1:] if element[:2] in ("ui", "si") else element
