"""Texts for ``--list-passes``, ``--dump-pass-pipeline`` and ``--show-dialects``."""
from __future__ import annotations

import inspect
import re
import textwrap
from typing import TYPE_CHECKING

from kc import registry
from kc.bindings import ir, passmanager
from kc.context import make_context, special_dialects
from kc.native_passes import NATIVE_PASSES
from kc.pass_base import Pass, make_pass
from kc.pipeline_text import Element, Leaf, leaves

if TYPE_CHECKING:
    from kc.pass_manager import PassManager


def describe_pipeline(manager: PassManager) -> str:
    """The pipeline with every option of every pass, as ``mlir-opt --dump-pass-pipeline`` shows it."""
    body = ",".join(_element(e, manager.tree.anchor, manager) for e in manager.tree.body)
    count = sum(1 for _ in leaves(manager.tree))
    return f"Pass Manager with {count} passes:\n{manager.tree.anchor}({body})"


def _element(element: Element, anchor: str, manager: PassManager) -> str:
    if not isinstance(element, Leaf):
        return f"{element.anchor}({','.join(_element(e, element.anchor, manager) for e in element.body)})"
    cls = registry.find_pass(element.name)
    if cls is not None:
        return make_pass(cls, manager.text, element).spec()
    native = passmanager.PassManager(anchor, context=manager.context)
    native.add(element.text)
    return str(native)[len(anchor) + 1 : -1]


def list_passes() -> str:
    """kc's passes with summary, anchor, level and options; then the names of the native ones."""
    shown = ["kc passes:"]
    for name in registry.known_names():
        cls = registry.find_pass(name)
        assert cls is not None
        shown.append(f"  --{name:<34} - {summary(cls)}")
        level = " to ".join(cls.level) if isinstance(cls.level, tuple) else cls.level
        shown.append(f"      on {cls.anchor}, level {level or 'any'}")
        shown += [f"      --{option:<30} - {text}" for option, text in option_texts(cls)]
    shown.append("native passes:")
    shown.append(textwrap.fill(" ".join(NATIVE_PASSES), 118, initial_indent="  ", subsequent_indent="  ",
                               break_on_hyphens=False))
    return "\n".join(shown) + "\n"


def summary(cls: type[Pass]) -> str:
    """The first sentence of a pass's docstring."""
    text = inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    return re.split(r"(?<=[.!])\s", text)[0]


def option_texts(cls: type[Pass]) -> list[tuple[str, str]]:
    """(option, type and default) of each option."""
    default = cls()
    kinds = cls.option_types()
    texts = []
    for option, kind in kinds.items():
        name = getattr(kind, "__name__", None) if isinstance(kind, type) else str(kind).replace("typing.", "")
        texts.append((option, f"{name}, default {getattr(default, option.replace('-', '_'))!r}"))
    return texts


def dialect_names() -> list[str]:
    """All dialects that a kc context can load: native ones and kc's own."""
    try:
        # the bindings cannot list dialects, but the parser's error does
        ir.Module.parse("kc_no_such_dialect.op", context=make_context())
    except ir.MLIRError as error:
        found = re.search(r"Available dialects: (.*?)(?: ; |$)", str(error), re.MULTILINE)
        if found:
            return sorted({*(n.strip() for n in found.group(1).split(",")), *special_dialects()})
    raise RuntimeError("MLIR's parser did not list its dialects")
