"""What to say when MLIR refuses an element of a pipeline: loaded only when something is wrong."""
from __future__ import annotations

import difflib
import re

from kc import registry
from kc.errors import PipelineError
from kc.native_passes import NATIVE_PASSES
from kc.pipeline_text import Element, Leaf, parse_options

_PARSER_ERROR = re.compile(r"Parser:1:(\d+): error: ([^\n]*)")
_RESTRICTED = re.compile(r"restricted to '([^']+)' on a PassManager intended to run on '([^']+)'")
_UNKNOWN = re.compile(r"'([^'\n]+)' does not refer to a registered pass")
_NO_OPTION = re.compile(r"no such option ([^\n]+)")
_BAD_VALUE = re.compile(r"for the -+([\w-]+) option: ([^\n]*)")


def explain_native(text: str, element: Element, anchor: str, message: str) -> PipelineError:
    """MLIR's refusal ``message`` of ``element`` as an error with a caret in the pipeline ``text``."""
    restricted = _RESTRICTED.search(message)
    if restricted:
        wanted = restricted.group(1)
        hint = f"'{element.text}' runs on '{wanted}', not on '{anchor}': write {wanted}({element.text})"
        return PipelineError(text, element.start, hint)
    if isinstance(element, Leaf):
        unknown = _UNKNOWN.search(message)
        if unknown:  # the pass itself, or one in a pipeline that is the value of an option
            name = unknown.group(1)
            return PipelineError(text, max(element.start, text.find(name, element.start)), unknown_pass(name), name)
        return PipelineError(text, *_option_at_fault(text, element, message))
    match = _PARSER_ERROR.search(message)
    if match:
        return PipelineError(text, element.start + int(match.group(1)) - 1, match.group(2))
    return PipelineError(text, element.start, _one_line(message))


def unknown_pass(name: str) -> str:
    """The message for a name that is no pass, with the nearest names that are."""
    near = difflib.get_close_matches(name, [*registry.known_names(), *NATIVE_PASSES], n=3, cutoff=0.7)
    hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else " (kc-opt --list-passes shows all)"
    return f"no pass is named '{name}'{hint}"


def _option_at_fault(text: str, leaf: Leaf, message: str) -> tuple[int, str]:
    options = parse_options(text, leaf.options_start, leaf.options_start + len(leaf.options or ""))
    match = _NO_OPTION.search(message)
    if match:
        bad = match.group(1).strip()
        where = next((o.start for o in options if o.key == bad), leaf.start)
        return where, f"pass '{leaf.name}' has no option '{bad}'"
    match = _BAD_VALUE.search(message)
    if match:
        key, reason = match.groups()
        where = next((o.value_start for o in options if o.key == key), leaf.start)
        return where, f"option '{key}' of '{leaf.name}': {reason.rstrip('!')}"
    where = options[0].start if options else leaf.start
    return where, _one_line(message)


def _one_line(message: str) -> str:
    return "; ".join(line.strip() for line in message.strip().splitlines() if line.strip(" ^"))
