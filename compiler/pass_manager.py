"""Run textual pipelines that mix native and Python passes at any anchor.

The text is parsed into a tree (``pipeline_text``) and the tree into a plan (``pass_plan``): runs of native passes
become one native pass manager each, Python passes are called directly, and a nested group that holds a Python pass is
walked by kc over the ops directly inside, which is MLIR's own rule (``pass_run``). With instrumentation every pass is a
step of its own, so that printing, timing and reproducers cover native and Python passes alike.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kc import registry
from kc.bindings import ir
from kc.diagnostics import Diagnostic, DiagnosticSink, capture, print_diagnostic
from kc.errors import InputError, PipelineError
from kc.pass_plan import Planner, Step, nest_implicitly
from kc.pass_run import Run, Verify, warn_about_anchors
from kc.pipeline_text import Nest, parse_pipeline

if TYPE_CHECKING:
    from kc.instrumentation import Instrumentation


class PassManager:
    """A parsed pipeline. Make one with ``PassManager.parse``; ``run`` it on as many ops as you like."""

    def __init__(self, tree: Nest, text: str, context: ir.Context):
        self.tree, self.text, self.context = tree, text, context
        self._planner = Planner(text, context)
        self._plans: dict[bool, list[Step]] = {}
        while False not in self._plans:
            try:
                self._plan(split=False)
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
        nested = tuple(nest_implicitly(e, anchor, context) for e in tree.body)
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
        verify: Verify = "each",
    ) -> None:
        """Run the pipeline on ``op`` in place, with each of ``instrumentations`` called around every pass.

        Diagnostics go to ``sink``; without one, warnings are shown on stderr, remarks are dropped, and errors are kept
        for the exception. ``verify``: the result of ``each`` pass is verified; or that of ``steps``, which is what a
        row of Python passes hands to a native one and the last result; or ``never``. Raises CompileError when a pass
        fails (its ``diagnostics`` say why) or leaves invalid IR; the op is then as the failing pass left it. Raises
        PipelineError when ``op`` is not the pipeline's anchor, and InputError when it is of another context.
        """
        target = op.operation
        if target.context != self.context:
            raise InputError("the pipeline was parsed for another context than the one of the op it is to run on")
        if self.tree.anchor not in ("any", target.name):
            message = f"this pipeline runs on '{self.tree.anchor}', but it was given a '{target.name}'"
            raise PipelineError(self.text, self.tree.start, message)
        if sink is None:
            sink = shown = DiagnosticSink(on_emit=lambda d: _show_warning(d, shown))
        with capture(self.context, sink), self.context:
            warn_about_anchors(self.tree, self.text, target, self.context, sink)
            run = Run(target, self.context, sink, instrumentations, verify)
            run.pipeline(self._plan(split=bool(instrumentations)), target, self.tree)

    def _plan(self, split: bool) -> list[Step]:
        if split not in self._plans:
            self._plans[split] = self._planner.plan(self.tree, split)
        return self._plans[split]


def run_pipeline(
    module: ir.Module | ir.Operation, text: str, *, sink: DiagnosticSink | None = None, verify: Verify = "each"
) -> None:
    """Parse ``text`` and run it on ``module`` in place; see ``PassManager``."""
    context = module.context
    managers = _kept.get(context)
    key = (text, len(registry.registered))
    manager = None if managers is None else managers.get(key)
    if manager is None:
        manager = PassManager.parse(text, context)
        if managers is not None:
            managers[key] = manager
    manager.run(module, sink=sink, verify=verify)


#: context -> text of a pipeline and number of registered passes -> its manager, for the contexts that serve several
#: compilations
_kept: dict[ir.Context, dict[tuple[str, int], PassManager]] = {}


def keep_managers(context: ir.Context) -> None:
    """Let ``run_pipeline`` parse a pipeline once for ``context``, until ``drop_managers``."""
    _kept.setdefault(context, {})


def drop_managers(context: ir.Context) -> None:
    """Free what ``keep_managers`` has kept, and with it the context."""
    _kept.pop(context, None)


def _show_warning(diagnostic: Diagnostic, sink: DiagnosticSink) -> None:
    if diagnostic.severity == "warning":
        print_diagnostic(diagnostic, sink.sources)
