"""Run textual pipelines that mix native and Python passes at any anchor.

The text is parsed into a tree (``pipeline_text``) and the tree into a plan: runs of native passes become one native
pass manager each, Python passes are called directly, and a nested group that holds a Python pass is walked by kc over
the ops directly inside, which is MLIR's own rule. With instrumentation every pass is a step of its own, so that
printing, timing and reproducers cover native and Python passes alike.
"""
from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Union

from kc import registry
from kc.bindings import ir, passmanager
from kc.context import load_all_dialects, load_dialect
from kc.diagnostics import Diagnostic, DiagnosticSink, Location, capture, print_diagnostic
from kc.errors import CompileError, PassFailure, PipelineError
from kc.pipeline_text import Element, Leaf, Nest, leaves, parse_elements, parse_pipeline

if TYPE_CHECKING:
    from kc.instrumentation import Instrumentation
    from kc.pass_base import Pass, PassContext


class NativeStep:
    """Native elements that run together in one native pass manager."""

    def __init__(self, anchor: str, context: ir.Context):
        self.manager = passmanager.PassManager(anchor, context=context)
        self.elements: list[Element] = []


class PythonStep:
    """One Python pass."""

    def __init__(self, leaf: Leaf, instance: Pass):
        self.leaf, self.instance = leaf, instance


class NestStep:
    """A plan that runs on every op named ``anchor`` directly inside the current one."""

    def __init__(self, nest: Nest, steps: list[Step]):
        self.nest, self.steps = nest, steps


_NO_COUNTS: dict[str, int] = {}  # a native pass counts nothing

Step = Union[NativeStep, PythonStep, NestStep]


class PassManager:
    """A parsed pipeline. Make one with ``PassManager.parse``; ``run`` it on as many ops as you like."""

    def __init__(self, tree: Nest, text: str, context: ir.Context):
        self.tree, self.text, self.context = tree, text, context
        self._plans: dict[bool, list[Step]] = {}
        while False not in self._plans:
            try:
                self._plans[False] = self._plan(tree, split=False)
            except PipelineError as error:  # entry points are looked at only now: finding them takes 100 ms
                if error.unknown_pass is None or registry.find_plugin(error.unknown_pass) is None:
                    raise

    @classmethod
    def parse(cls, text: str, context: ir.Context) -> PassManager:
        """Parse ``anchor(pass,…)``. Raises PipelineError with a caret into ``text``, down to the option at fault."""
        return cls(parse_pipeline(text), text, context)

    @classmethod
    def parse_flags(cls, elements: Sequence[str], context: ir.Context, anchor: str = "builtin.module") -> PassManager:
        """A pipeline of elements; a pass is nested under the op it is made for, as ``mlir-opt --pass`` does."""
        text = f"{anchor}({','.join(elements)})"
        tree = parse_pipeline(text)
        nested = tuple(_nest_implicitly(text, e, anchor, context) for e in tree.body)
        if nested == tree.body:
            return cls(tree, text, context)
        return cls.parse(f"{anchor}({','.join(e.text for e in nested)})", context)

    def __str__(self) -> str:
        return self.tree.text

    def run(
        self,
        op: ir.Module | ir.Operation | ir.OpView,
        *,
        sink: DiagnosticSink | None = None,
        instrumentations: Sequence[Instrumentation] = (),
        verify_each: bool = True,
    ) -> None:
        """Run the pipeline on ``op`` in place, with each of ``instrumentations`` called around every pass.

        Diagnostics go to ``sink``; without one, warnings and remarks are shown on stderr and errors are kept for the
        exception. Raises CompileError when a pass fails (its ``diagnostics`` say why) or leaves invalid IR; the op
        is then as the failing pass left it. Raises PipelineError when ``op`` is not the pipeline's anchor.
        """
        target = op.operation
        if self.tree.anchor not in ("any", target.name):
            message = f"this pipeline runs on '{self.tree.anchor}', but it was given a '{target.name}'"
            raise PipelineError(self.text, self.tree.start, message)
        if sink is None:
            sink = shown = DiagnosticSink(on_emit=lambda d: _show_unless_error(d, shown))
        with capture(self.context, sink), self.context:
            run = _Run(self, sink, instrumentations, verify_each, target)
            run.warn_about_anchors()
            run.steps(self._plan_for(bool(instrumentations)), target, (self.tree,))

    def _plan_for(self, split: bool) -> list[Step]:
        if split not in self._plans:
            self._plans[split] = self._plan(self.tree, split)
        return self._plans[split]

    def _plan(self, nest: Nest, split: bool) -> list[Step]:
        steps: list[Step] = []
        for element in nest.body:
            if isinstance(element, Nest) and (split or _has_python(element)):
                steps.append(NestStep(element, self._plan(element, split)))
            elif isinstance(element, Leaf) and (cls := _python_pass(element.name)) is not None:
                steps.append(self._python_step(cls, element, nest.anchor))
            else:
                if split or not steps or not isinstance(steps[-1], NativeStep):
                    steps.append(NativeStep(nest.anchor, self.context))
                step = steps[-1]
                assert isinstance(step, NativeStep)
                _add_native(step.manager, self.text, element, nest.anchor, self.context)
                step.elements.append(element)
        return steps

    def _python_step(self, cls: type[Pass], leaf: Leaf, anchor: str) -> PythonStep:
        from kc.pass_base import make_pass

        if cls.anchor not in ("any", anchor) and anchor != "any":
            message = f"pass '{leaf.name}' runs on '{cls.anchor}', not on '{anchor}': write {cls.anchor}({leaf.text})"
            raise PipelineError(self.text, leaf.start, message)
        return PythonStep(leaf, make_pass(cls, self.text, leaf))


def run_pipeline(module: ir.Module | ir.Operation, text: str, *, sink: DiagnosticSink | None = None) -> None:
    """Parse ``text`` and run it on ``module`` in place; see ``PassManager``."""
    PassManager.parse(text, module.context).run(module, sink=sink)


class _Run:
    """One execution of a plan."""

    def __init__(
        self,
        manager: PassManager,
        sink: DiagnosticSink,
        instrumentations: Sequence[Instrumentation],
        verify_each: bool,
        root: ir.Operation,
    ):
        self.manager, self.sink, self.root = manager, sink, root
        self.instrumentations, self.verify_each = instrumentations, verify_each

    def steps(self, steps: Sequence[Step], op: ir.Operation, nests: tuple[Nest, ...]) -> None:
        for step in steps:
            if isinstance(step, NestStep):
                for child in children(op, step.nest.anchor):
                    self.steps(step.steps, child, (*nests, step.nest))
            elif self.instrumentations:
                self.watched(step, op, nests)
            else:
                self.leaf(step, op, {})

    def watched(self, step: NativeStep | PythonStep, op: ir.Operation, nests: tuple[Nest, ...]) -> None:
        from kc.instrumentation import PassEvent

        python = isinstance(step, PythonStep)
        leaf = step.leaf if isinstance(step, PythonStep) else step.elements[0]
        assert isinstance(leaf, Leaf)  # with instrumentation every native step is one pass
        title = type(step.instance).__name__ if isinstance(step, PythonStep) else leaf.name
        event = PassEvent(leaf, title, op, self.root, nests, {} if python else _NO_COUNTS)
        for instrumentation in self.instrumentations:
            instrumentation.before_pass(event)
        try:
            self.leaf(step, op, event.counts)
        except BaseException as error:
            for instrumentation in reversed(self.instrumentations):
                instrumentation.after_failure(event, error)
            raise
        for instrumentation in reversed(self.instrumentations):
            instrumentation.after_pass(event)

    def leaf(self, step: NativeStep | PythonStep, op: ir.Operation, counts: dict[str, int]) -> None:
        before = len(self.sink.diagnostics)
        if isinstance(step, PythonStep):
            self.python(step.instance, op, before, counts)
            return
        step.manager.enable_verifier(self.verify_each)
        try:
            step.manager.run(op)
        except ir.MLIRError as error:
            what, name = ",".join(e.text for e in step.elements), None
            if len(step.elements) == 1 and isinstance(step.elements[0], Leaf):
                name = step.elements[0].name
            what = f"pass '{what}' failed" if name else f"pipeline '{what}' failed"
            raise CompileError(what, self._since(before, error), name, sources=self.sink.sources) from None

    def python(self, instance: Pass, op: ir.Operation, before: int, counts: dict[str, int]) -> None:
        from kc.pass_base import PassContext

        context = self.manager.context
        if instance.dialects is None:
            load_all_dialects(context)
        for dialect in instance.dialects or ():
            load_dialect(context, dialect)
        ctx = PassContext(context, self.sink, instance.name, counts)
        _run_python(instance, op, ctx, lambda error: self._since(before, error))
        if any(d.severity == "error" for d in self.sink.diagnostics[before:]):
            raise self._failed(instance.name, "failed", before)
        if self.verify_each:
            self._verify_after(instance.name, op, before)

    def _failed(self, name: str, how: str, before: int) -> CompileError:
        return CompileError(f"pass '{name}' {how}", self._since(before), name, sources=self.sink.sources)

    def _verify_after(self, name: str, op: ir.Operation, before: int) -> None:
        try:
            valid = op.verify()
        except ir.MLIRError:
            valid = False
        if not valid:
            raise self._failed(name, "left IR that does not verify", before)

    def _since(self, before: int, error: Exception | None = None) -> list[Diagnostic]:
        found = self.sink.diagnostics[before:]
        if not found and error is not None and str(error) != "Failure while executing pass pipeline":
            return [Diagnostic("error", None, str(error))]
        return found

    def warn_about_anchors(self) -> None:
        """Warn when a nested group cannot match because no such op exists, or only stands deeper."""
        op = self.root
        for nest in self.manager.tree.body:
            if not isinstance(nest, Nest) or nest.anchor == "any" or any(True for _ in children(op, nest.anchor)):
                continue
            deeper = _ops_named(op, nest.anchor)
            if deeper:
                parents = sorted({o.parent.operation.name for o in deeper if o.parent is not None})
                hint = f"{len(deeper)} of them stand inside {', '.join(parents)}; nest the group there"
            elif not _op_exists(self.manager.context, nest.anchor):
                hint = "no dialect has an op of that name"
            else:
                continue
            message = f"'{nest.anchor}' matches nothing directly inside '{op.name}': {hint}"
            place = pipeline_location(self.manager.text, nest.start)
            self.sink.sources.setdefault(place.file, self.manager.text)
            self.sink.emit(Diagnostic("warning", place, message))


def _run_python(
    instance: Pass, op: ir.Operation, ctx: PassContext, since: Callable[[Exception], Sequence[Diagnostic]]
) -> None:
    """Call ``run`` and give every way in which it can fail the shape of a CompileError."""
    name = instance.name
    try:
        instance.run(op, ctx)
    except PassFailure:
        raise
    except CompileError as error:
        if error.pass_name is None:
            error.pass_name = name
        raise
    except ir.MLIRError as error:
        raise CompileError(f"pass '{name}' failed", since(error), name) from error
    except Exception as error:
        message = f"pass '{name}' raised {type(error).__name__}: {error} (a bug in the pass)"
        raise CompileError(message, since(error), name) from error


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


def _ops_named(op: ir.Operation, name: str) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner.operation.name == name and inner.operation != op:
            found.append(inner.operation)
        return ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def pipeline_location(text: str, position: int) -> Location:
    """The place of ``position`` in a pipeline's text, as the file ``<pipeline>``."""
    return Location("<pipeline>", text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position))


def _op_exists(context: ir.Context, name: str) -> bool:
    dialect = name.partition(".")[0]
    if not context.is_dialect_loaded(dialect):
        try:
            _ = context.dialects[dialect]
        except (IndexError, ValueError, RuntimeError):
            return False
    return bool(context.is_registered_operation(name))


def _python_pass(name: str) -> type[Pass] | None:
    return registry.find_pass(name)


def _has_python(nest: Nest) -> bool:
    return any(registry.is_known(leaf.name) for leaf in leaves(nest))


def _show_unless_error(diagnostic: Diagnostic, sink: DiagnosticSink) -> None:
    if diagnostic.severity != "error":
        print_diagnostic(diagnostic, sink.sources)


# ------------------------------------------------------------------------------------- native passes and their errors

_RESTRICTED = re.compile(r"restricted to '([^']+)' on a PassManager intended to run on '([^']+)'")


def _add_native(
    manager: passmanager.PassManager, text: str, element: Element, anchor: str, context: ir.Context
) -> None:
    """Add one native element; a mistake becomes a PipelineError whose caret is in the right leaf."""
    shown: list[str] = []
    try:
        if any(leaf.options for leaf in leaves(element)):
            with stderr_captured(shown):  # where LLVM writes what is wrong with an option's value
                manager.add(element.text)
        else:
            manager.add(element.text)
    except ValueError as error:
        if isinstance(element, Nest):
            # MLIR's message has no position inside a group: add the leaves one by one to find the one at fault
            inner = passmanager.PassManager(element.anchor, context=context)
            for child in element.body:
                _add_native(inner, text, child, element.anchor, context)
        from kc.pipeline_errors import explain_native

        raise explain_native(text, element, anchor, "\n".join([*shown, str(error)])) from None


@contextlib.contextmanager
def stderr_captured(into: list[str]) -> Iterator[None]:
    """Collect what native code writes to file descriptor 2 while the block runs; it is appended to ``into``."""
    with open(os.memfd_create("kc-stderr"), "w+b") as file:
        sys.stderr.flush()
        saved = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            file.seek(0)
            text = file.read().decode(errors="replace")
            if text:
                into.append(text)


def _nest_implicitly(text: str, element: Element, anchor: str, context: ir.Context) -> Element:
    """``element`` wrapped in the op that its pass is restricted to, when that is not ``anchor``."""
    if isinstance(element, Nest):
        return element
    cls = _python_pass(element.name)
    if cls is not None:
        restricted = None if cls.anchor in ("any", anchor) else cls.anchor
    else:
        restricted = _native_restriction(element, anchor, context)
    return element if restricted is None else Nest(restricted, (element,), element.start, element.end)


def _native_restriction(leaf: Leaf, anchor: str, context: ir.Context) -> str | None:
    try:
        passmanager.PassManager(anchor, context=context).add(leaf.text)
    except ValueError as error:
        match = _RESTRICTED.search(str(error))
        return match.group(1) if match else None
    return None


__all__ = ["PassManager", "children", "parse_elements", "run_pipeline"]
