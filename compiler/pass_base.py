"""What a pass is: a frozen dataclass with a name, options as fields, and ``run``."""
from __future__ import annotations

import dataclasses
import functools
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from kc.diagnostics import Diagnostic, DiagnosticSink, Location, location_of
from kc.errors import PassFailure, PipelineError
from kc.pipeline_text import Leaf, parse_options

if TYPE_CHECKING:
    from kc.bindings import ir
    from kc.diagnostics import Located


class PassContext:
    """What a running pass may use beside its op: the MLIR context, and the way to speak to the user."""

    def __init__(
        self, context: ir.Context, sink: DiagnosticSink, pass_name: str, counts: dict[str, int] | None = None
    ):
        self.context, self.sink, self.pass_name = context, sink, pass_name
        self.counts = {} if counts is None else counts

    def error(self, where: Located | Location | None, message: str, notes: Sequence[Note] = ()) -> NoReturn:
        """Emit an error at ``where`` (an op, value, location) and end the pass: raises PassFailure.

        ``notes`` are texts, or pairs (where, text).
        """
        diagnostic = self._emit("error", where, message, notes)
        raise PassFailure(
            f"pass '{self.pass_name}' failed", (diagnostic,), self.pass_name, sources=self.sink.sources
        )

    def warn(self, where: Located | Location | None, message: str, notes: Sequence[Note] = ()) -> None:
        """Emit a warning; the pass goes on."""
        self._emit("warning", where, message, notes)

    def remark(self, where: Located | Location | None, message: str, notes: Sequence[Note] = ()) -> None:
        """Emit a remark: what the pass did or could not do, for those who ask."""
        self._emit("remark", where, message, notes)

    def run_pipeline(self, op: ir.Operation, text: str) -> None:
        """Run a pipeline on ``op`` as a part of this pass; its diagnostics and failures become those of the pass."""
        from kc.pass_manager import run_pipeline

        run_pipeline(op, text, sink=self.sink)

    def count(self, name: str, number: int = 1) -> None:
        """Add to a number that ``--mlir-pass-statistics`` shows for this pass, such as ``kernels-formed``."""
        self.counts[name] = self.counts.get(name, 0) + number

    def _emit(
        self, severity: str, where: Located | Location | None, message: str, notes: Sequence[Note]
    ) -> Diagnostic:
        place = location_of(where)
        below = []
        for note in notes:
            note_where, text = (where, note) if isinstance(note, str) else note
            below.append(Diagnostic("note", location_of(note_where), text))
        self.sink.emit(Diagnostic(severity, place, message, tuple(below)))
        return self.sink.diagnostics[-1]


Note = typing.Union[str, tuple[Any, str]]


@dataclasses.dataclass(frozen=True)
class Pass:
    """Base of all passes written in Python.

    A subclass is a frozen dataclass. It takes a valid op and leaves a valid one. Its fields are its options; in
    pipeline text a field ``max_size`` is written ``max-size``, and these types are understood:

    | field type                        | text                     |
    | --------------------------------- | ------------------------ |
    | ``int``, ``float``, ``str``       | ``size=4``, ``name=abc`` or ``name="a b"`` |
    | ``bool``                          | ``flag``, ``flag=true``, ``flag=false``    |
    | ``tuple[int, ...]`` (or str …)    | ``sizes=4,8,1``          |
    | ``Literal["a", "b"]``             | ``mode=a``               |
    | ``T | None``                      | as ``T``; ``none`` is None |
    """

    name: ClassVar[str] = ""
    #: name of the op that the pass runs on; "any" runs on every op
    anchor: ClassVar[str] = "builtin.module"
    #: level that the pass stands at, or (from, to) when it goes from one to the other
    level: ClassVar[str | tuple[str, str]] = ""
    #: dialects (native or kc's own) whose ops the pass makes; None loads all native ones
    dialects: ClassVar[tuple[str, ...] | None] = None

    def acts_on(self) -> frozenset[str] | None:
        """Names of the ops of which one must stand in the pass's op for it to have anything to do; None: always run.

        Passes in a row that say so share one walk over the module to learn that they have nothing to do.
        """
        return None

    def native(self) -> str | None:
        """The pass as an element of a native pipeline, when it is a native one under options of kc's choosing.

        None: it is not, and ``run`` does its work. Native neighbours run together in one native pass manager.
        """
        return None

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """Transform ``op`` in place. The MLIR context is active, no location is: pass ``loc=`` always."""
        raise NotImplementedError(f"{type(self).__name__}.run")

    def spec(self) -> str:
        """The pass as pipeline text; options at their default are left out. Parses back to an equal pass."""
        shown = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value != _default(field):
                shown.append(f"{field.name.replace('_', '-')}={_option_text(value)}")
        return self.name + (f"{{{' '.join(shown)}}}" if shown else "")

    @classmethod
    @functools.cache
    def option_types(cls) -> Mapping[str, Any]:
        """Option name in text -> type of its field; found once per class: annotations are text to evaluate."""
        hints: dict[str, Any] = {}
        fields = {field.name for field in dataclasses.fields(cls)}
        for base in reversed(cls.__mro__):
            told = base.__dict__.get("__annotations__", {})  # noqa: RUF063 - importing inspect takes 20 ms
            own = {name: kind for name, kind in told.items() if name in fields}
            if own:  # not get_type_hints(cls), which evaluates the ClassVars of all bases too: 1 ms a pass
                names = getattr(sys.modules.get(base.__module__), "__dict__", {})
                hints.update(typing.get_type_hints(types.SimpleNamespace(__annotations__=own), names))
        return types.MappingProxyType({f.name.replace("_", "-"): hints[f.name] for f in dataclasses.fields(cls)})


def make_pass(cls: type[Pass], text: str, leaf: Leaf) -> Pass:
    """Build a pass from its element in pipeline ``text``; raises PipelineError with a caret at the option at fault."""
    known = cls.option_types()
    values: dict[str, Any] = {}
    for option in parse_options(text, leaf.options_start, leaf.options_start + len(leaf.options or "")):
        if option.key not in known:
            has = "it has " + ", ".join(known) if known else "it takes no options"
            raise PipelineError(text, option.start, f"pass '{cls.name}' has no option '{option.key}' ({has})")
        field = option.key.replace("-", "_")
        if field in values:
            raise PipelineError(text, option.start, f"option '{option.key}' is given twice")
        try:
            values[field] = _convert(option.value, known[option.key])
        except ValueError:
            shown = "nothing" if option.value is None else f"'{option.value}'"
            wants = _type_text(known[option.key])
            raise PipelineError(
                text, option.value_start, f"option '{option.key}' of '{cls.name}' wants {wants}, got {shown}"
            ) from None
    missing = [
        f.name.replace("_", "-") for f in dataclasses.fields(cls) if f.name not in values and _default(f) is _REQUIRED
    ]
    if missing:
        raise PipelineError(text, leaf.start, f"pass '{cls.name}' needs the option '{missing[0]}'")
    try:
        return cls(**values)
    except ValueError as error:  # __post_init__ may check values against each other
        raise PipelineError(text, leaf.start, f"pass '{cls.name}': {error}") from None


_REQUIRED = object()


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return _REQUIRED


def _convert(value: str | None, kind: Any) -> Any:
    """Text to a field's type; raises ValueError when it does not fit."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is bool:
        try:
            return {None: True, "true": True, "1": True, "false": False, "0": False}[value]
        except KeyError:
            raise ValueError(value) from None
    if origin in (typing.Union, types.UnionType):
        rest = [a for a in arguments if a is not type(None)]
        if value in ("none", "None") and len(rest) < len(arguments):
            return None
        for candidate in rest:
            try:
                return _convert(value, candidate)
            except ValueError:
                continue
        raise ValueError(value)
    if value is None:
        raise ValueError(value)
    if kind is int:
        return int(value, 0)
    if kind is float:
        return float(value)
    if kind is str:
        return value
    if origin is tuple:
        if len(arguments) != 2 or arguments[1] is not Ellipsis:
            raise TypeError(f"a pass option cannot have the type {kind}: use tuple[T, ...]")
        return tuple(_convert(part.strip(), arguments[0]) for part in value.split(",")) if value.strip() else ()
    if origin is typing.Literal:
        for candidate in arguments:
            if str(candidate) == value:
                return candidate
        raise ValueError(value)
    raise TypeError(f"a pass option cannot have the type {kind}")


def _type_text(kind: Any) -> str:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        return f"a comma-separated list of {_type_text(arguments[0])}"
    if origin is typing.Literal:
        return "one of " + ", ".join(map(str, arguments))
    if origin in (typing.Union, types.UnionType):
        return " or ".join("none" if a is type(None) else _type_text(a) for a in arguments)
    return {int: "an integer", float: "a number", bool: "true or false", str: "text"}.get(kind, str(kind))


def _option_text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        text = ",".join(map(_option_text, value))
        return text or '""'
    text = str(value)
    plain = text and not any(c.isspace() or c in "{}[]()'\"," for c in text)
    if plain or isinstance(value, (int, float)):
        return text
    return f'"{text}"' if '"' not in text else f"'{text}'"
