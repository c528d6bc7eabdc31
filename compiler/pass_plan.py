"""From a pipeline's tree to what is run: native passes in native pass managers, Python passes as objects."""
from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Union

from kc import registry
from kc.bindings import ir, passmanager
from kc.errors import PipelineError
from kc.pipeline_text import Element, Leaf, Nest, leaves

if TYPE_CHECKING:
    from kc.pass_base import Pass


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
    """A plan that runs on every op named ``nest.anchor`` directly inside the current one."""

    def __init__(self, nest: Nest, steps: list[Step]):
        self.nest, self.steps = nest, steps


Step = Union[NativeStep, PythonStep, NestStep]

#: (class, element of a pipeline) -> the pass, which is immutable: options are parsed once
_instances: dict[tuple[type[Pass], str], Pass] = {}


class Planner:
    """Makes plans for one pipeline ``text``; raises PipelineError with a caret into it."""

    def __init__(self, text: str, context: ir.Context):
        self.text, self.context = text, context

    def plan(self, nest: Nest, split: bool) -> list[Step]:
        """The steps of a group's body; with ``split`` every pass is a step of its own.

        Otherwise neighbouring native elements share one native manager, and an all-native group stays one element.
        """
        steps: list[Step] = []
        for element in nest.body:
            if isinstance(element, Nest) and (split or _has_python(element)):
                steps.append(NestStep(element, self.plan(element, split)))
            elif isinstance(element, Leaf) and (cls := registry.find_pass(element.name)) is not None:
                step = self._python_step(cls, element, nest.anchor)
                native = step.instance.native()
                if native is None:
                    steps.append(step)
                else:
                    row = self._native_step(steps, nest.anchor, split)
                    row.manager.add(native)
                    row.elements.append(element)
            else:
                row = self._native_step(steps, nest.anchor, split)
                self._add_native(row.manager, element, nest.anchor)
                row.elements.append(element)
        return steps

    def _native_step(self, steps: list[Step], anchor: str, split: bool) -> NativeStep:
        """The step that a native element joins: the last one, or with ``split`` a new one."""
        last = steps[-1] if steps else None
        if split or not isinstance(last, NativeStep):
            last = NativeStep(anchor, self.context)
            steps.append(last)
        return last

    def _python_step(self, cls: type[Pass], leaf: Leaf, anchor: str) -> PythonStep:
        if cls.anchor not in ("any", anchor):
            message = f"pass '{leaf.name}' runs on '{cls.anchor}', not on '{anchor}': write {cls.anchor}({leaf.text})"
            raise PipelineError(self.text, leaf.start, message)
        key = (cls, leaf.text)
        instance = _instances.get(key)
        if instance is None:
            from kc.pass_base import make_pass

            instance = _instances[key] = make_pass(cls, self.text, leaf)
        return PythonStep(leaf, instance)

    def _add_native(self, manager: passmanager.PassManager, element: Element, anchor: str) -> None:
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
                inner = passmanager.PassManager(element.anchor, context=self.context)
                for child in element.body:
                    self._add_native(inner, child, element.anchor)
            from kc.pipeline_errors import explain_native

            raise explain_native(self.text, element, anchor, "\n".join([*shown, str(error)])) from None


def nest_implicitly(element: Element, anchor: str, context: ir.Context) -> Element:
    """``element`` wrapped in the op that its pass is restricted to, when that is not ``anchor``."""
    if isinstance(element, Nest):
        return element
    cls = registry.find_pass(element.name)
    if cls is not None:
        restricted = None if cls.anchor in ("any", anchor) else cls.anchor
    else:
        restricted = _native_restriction(element, anchor, context)
    return element if restricted is None else Nest(restricted, (element,), element.start, element.end)


def _native_restriction(leaf: Leaf, anchor: str, context: ir.Context) -> str | None:
    try:
        with stderr_captured([]):
            passmanager.PassManager(anchor, context=context).add(leaf.text)
    except ValueError as error:
        import re

        match = re.search(r"restricted to '([^']+)' on a PassManager intended to run on", str(error))
        return match.group(1) if match else None
    return None


def _has_python(nest: Nest) -> bool:
    return any(registry.is_known(leaf.name) for leaf in leaves(nest))


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
