"""One execution of a plan: passes in order, failures told in one way, instrumentation around each pass."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NoReturn

from kc.bindings import ir
from kc.context import load_all_dialects, load_dialect
from kc.diagnostics import Diagnostic, DiagnosticSink, Location, location_of
from kc.errors import CompileError, KcError
from kc.pass_plan import NativeStep, NestStep, PythonStep, Step
from kc.pipeline_text import Leaf, Nest

if TYPE_CHECKING:
    from kc.instrumentation import Instrumentation
    from kc.pass_base import Pass

#: when a result is verified: after each pass, before native passes that follow Python ones and at the end, or never
Verify = Literal["each", "steps", "never"]

_NO_COUNTS: dict[str, int] = {}  # a native pass counts nothing


class Run:
    """Runs steps on ops inside ``root``."""

    def __init__(
        self,
        root: ir.Operation,
        context: ir.Context,
        sink: DiagnosticSink,
        instrumentations: Sequence[Instrumentation],
        verify: Verify,
    ):
        self.root, self.context, self.sink = root, context, sink
        self.instrumentations, self.verify = instrumentations, verify
        self._names: set[str] | None = None  # of the ops inside the op at hand, until something may have changed them
        self._unverified: list[str] = []  # Python passes that ran since the op at hand was verified

    def pipeline(self, steps: Sequence[Step], op: ir.Operation, tree: Nest) -> None:
        """Run the whole plan of ``tree`` on ``op``."""
        self.steps(steps, op, (tree,))
        if self.verify == "steps":
            self._unverified = self._unverified or [tree.text]
            self._verify_group(op)

    def steps(self, steps: Sequence[Step], op: ir.Operation, nests: tuple[Nest, ...]) -> None:
        """Run ``steps`` on ``op``; ``nests`` are the groups around them, outermost first."""
        self._names = None
        for step in steps:
            if isinstance(step, NestStep):
                for child in children(op, step.nest.anchor):
                    self._check_isolated(child)
                    self.steps(step.steps, child, (*nests, step.nest))
                self._names = None
            elif self.instrumentations:
                self._watched(step, op, nests)
            else:
                self._leaf(step, op, {})

    def _check_isolated(self, op: ir.Operation) -> None:
        """MLIR's rule for the op of a group: a pass must not reach values outside of its op."""
        if not op.has_trait(ir.IsIsolatedFromAboveTrait):
            message = f"'{op.name}' op trying to schedule a pass on an operation not marked as 'IsolatedFromAbove'"
            self._fail(f"no pass can run on '{op.name}'", None, len(self.sink.diagnostics), message, op)

    def _watched(self, step: NativeStep | PythonStep, op: ir.Operation, nests: tuple[Nest, ...]) -> None:
        from kc.instrumentation import PassEvent

        if isinstance(step, PythonStep):
            leaf, title, counts = step.leaf, type(step.instance).__name__, dict[str, int]()
        else:
            element = step.elements[0]
            assert isinstance(element, Leaf)  # with instrumentation every native step is one pass
            leaf, title, counts = element, element.name, _NO_COUNTS
        event = PassEvent(leaf, title, op, self.root, nests, counts)
        if not all(instrumentation.should_run(event) for instrumentation in self.instrumentations):
            return
        for instrumentation in self.instrumentations:
            instrumentation.before_pass(event)
        try:
            self._leaf(step, op, counts)
        except BaseException as error:
            for instrumentation in reversed(self.instrumentations):
                instrumentation.after_failure(event, error)
            raise
        for instrumentation in reversed(self.instrumentations):
            instrumentation.after_pass(event)

    def _leaf(self, step: NativeStep | PythonStep, op: ir.Operation, counts: dict[str, int]) -> None:
        before = len(self.sink.diagnostics)
        if isinstance(step, PythonStep):
            if self.instrumentations or self._has_work(step.instance, op):
                self._names = None
                self._python(step.instance, op, before, counts)
            return
        self._names = None
        self._verify_group(op)
        step.manager.enable_verifier(self.verify == "each")
        try:
            step.manager.run(op)
        except ir.MLIRError as error:
            what = ",".join(e.text for e in step.elements)
            one = isinstance(step.elements[0], Leaf) and len(step.elements) == 1
            name = step.elements[0].name if isinstance(step.elements[0], Leaf) and one else None
            self._fail(f"{'pass' if one else 'pipeline'} '{what}' failed", name, before, _text(error), op)

    def _python(self, instance: Pass, op: ir.Operation, before: int, counts: dict[str, int]) -> None:
        """Run a Python pass, and give every way in which it can fail the shape of a CompileError."""
        from kc.pass_base import PassContext

        name = instance.name
        if instance.dialects is None:
            load_all_dialects(self.context)
        for dialect in instance.dialects or ():
            load_dialect(self.context, dialect)
        try:
            instance.run(op, PassContext(self.context, self.sink, name, counts))
        except CompileError as error:
            self._tell(error, before, op)
            error.pass_name = error.pass_name or name
            raise
        except KcError as error:
            self._tell(error, before, op)
            self._fail(f"pass '{name}' failed: {error.message}", name, before, error.message, op, error)
        except ir.MLIRError as error:
            self._fail(f"pass '{name}' failed", name, before, _text(error), op, error)
        except Exception as error:
            message = f"pass '{name}' raised {type(error).__name__}: {error} (a bug in the pass)"
            self._fail(message, name, before, message, op, error, bug=True)
        if any(d.severity == "error" for d in self.sink.diagnostics[before:]):
            self._fail(f"pass '{name}' failed", name, before, "", op)
        if self.verify == "each" and not _verifies(op):
            self._fail(f"pass '{name}' left IR that does not verify", name, before, "the IR does not verify", op)
        if self.verify == "steps":
            self._unverified.append(name)

    def _has_work(self, instance: Pass, op: ir.Operation) -> bool:
        wanted = instance.acts_on()
        if wanted is None:
            return True
        if self._names is None:
            self._names = op_names(op)
        return not wanted.isdisjoint(self._names)

    def _verify_group(self, op: ir.Operation) -> None:
        """Verify what a row of Python passes left, before anything native relies on it."""
        names, self._unverified = self._unverified, []
        before = len(self.sink.diagnostics)
        if names and not _verifies(op):
            several = f"one of the passes {', '.join(names)}" if len(names) > 1 else f"pass '{names[0]}'"
            one = names[0] if len(names) == 1 else None
            self._fail(f"{several} left IR that does not verify", one, before, "the IR does not verify", op)

    def _tell(self, error: KcError, before: int, op: ir.Operation) -> None:
        """See that what ``error`` says is in the sink."""
        seen = self.sink.diagnostics[before:]
        for diagnostic in error.diagnostics:
            if diagnostic not in seen:
                self.sink.emit(diagnostic)
        if not error.diagnostics:
            self.sink.emit(Diagnostic("error", location_of(op), error.message))
            error.diagnostics = (self.sink.diagnostics[-1],)
        error.sources.update(self.sink.sources)

    def _fail(
        self,
        message: str,
        name: str | None,
        before: int,
        reason: str,
        op: ir.Operation,
        cause: BaseException | None = None,
        bug: bool = False,
    ) -> NoReturn:
        """Raise CompileError; ``reason`` is emitted at ``op`` when no error was emitted since ``before``."""
        if not any(d.severity == "error" for d in self.sink.diagnostics[before:]):
            self.sink.emit(Diagnostic("error", location_of(op), reason))
        failure = CompileError(message, self.sink.diagnostics[before:], name, sources=self.sink.sources)
        failure.is_bug = bug
        raise failure from cause


def _text(error: ir.MLIRError) -> str:
    """What MLIR says, for the case that it emitted no diagnostic."""
    return str(error).strip() or "failed"


def _verifies(op: ir.Operation) -> bool:
    try:
        return bool(op.verify())
    except ir.MLIRError:
        return False


def op_names(op: ir.Operation) -> set[str]:
    """The names of the ops inside ``op``."""
    found: set[str] = set()

    def visit(inner: ir.Operation) -> ir.WalkResult:
        found.add(inner.name)
        return ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def children(op: ir.Operation, anchor: str) -> Iterator[ir.Operation]:
    """The ops named ``anchor`` directly inside ``op``, in order; for ``any``, those that passes may run on."""
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        inner = inner.operation
        if inner == op:
            return ir.WalkResult.ADVANCE
        if inner.name == anchor or (anchor == "any" and inner.has_trait(ir.IsIsolatedFromAboveTrait)):
            found.append(inner)
        return ir.WalkResult.SKIP

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return iter(found)


def warn_about_anchors(tree: Nest, text: str, op: ir.Operation, context: ir.Context, sink: DiagnosticSink) -> None:
    """Warn when a group of ``tree`` cannot match because no such op exists, or only stands deeper."""
    for nest in tree.body:
        if not isinstance(nest, Nest) or nest.anchor == "any" or any(True for _ in children(op, nest.anchor)):
            continue
        deeper = _ops_named(op, nest.anchor)
        if deeper:
            parents = sorted({o.parent.operation.name for o in deeper if o.parent is not None})
            hint = f"{len(deeper)} of them stand inside {', '.join(parents)}; nest the group there"
        elif not _op_exists(context, nest.anchor):
            hint = "no dialect has an op of that name"
        else:
            continue
        place = pipeline_location(text, nest.start)
        sink.sources.setdefault(place.file, text)
        message = f"'{nest.anchor}' matches nothing directly inside '{op.name}': {hint}"
        sink.emit(Diagnostic("warning", place, message))


def pipeline_location(text: str, position: int) -> Location:
    """The place of ``position`` in a pipeline's text, as the file ``<pipeline>``."""
    return Location("<pipeline>", text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position))


def _ops_named(op: ir.Operation, name: str) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner.operation.name == name and inner.operation != op:
            found.append(inner.operation)
        return ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _op_exists(context: ir.Context, name: str) -> bool:
    dialect = name.partition(".")[0]
    if not context.is_dialect_loaded(dialect):
        try:
            load_dialect(context, dialect)
        except KcError:
            return False
    return bool(context.is_registered_operation(name))
