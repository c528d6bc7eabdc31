"""Regions at level torch: judged at linalg, to which kc's own road takes original and proposal alike.

No executor takes ``!torch.vtensor``. What a stranger may write at torch is checked on his text; everything else, runs
included, on what becomes of it.
"""

from __future__ import annotations

import dataclasses
import re
from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kc.agents.gates.reasons import Rejection
from kc.agents.protocol import Proposal
from kc.errors import InputError

if TYPE_CHECKING:
    from kc.bindings import ir

LEVEL = "torch"
#: where both are judged
BELOW = "linalg"
_TASK = "kc.agents.gates.torch_level:"
#: lowered originals that are kept
_KEPT = 16
_lowered: OrderedDict[str, str] = OrderedDict()


def original_below(text: str) -> str:
    """The original at ``BELOW``, its contract on it. Raises InputError when it cannot be lowered."""
    from kc.agents.gates import sandbox

    if text not in _lowered:
        messages, end = sandbox.call(_TASK + "lower", text, None)
        if end.kind != "ok" or not messages:
            raise InputError(f"the original cannot be lowered to level '{BELOW}': {end.message}")
        (found,) = messages
        if isinstance(found, Rejection):
            raise InputError(f"the original cannot be lowered to level '{BELOW}': {found.message}")
        _lowered[text] = found
        if len(_lowered) > _KEPT:
            _lowered.popitem(last=False)
    _lowered.move_to_end(text)
    return _lowered[text]


def proposal_below(original: str, proposal: Proposal) -> Proposal | Rejection:
    """``proposal`` for the lowered original; one of another level or kind is for it as it is."""
    from kc.agents.gates import sandbox

    if proposal.kind != "replace_ir" or proposal.level not in (None, LEVEL):
        return proposal
    messages, end = sandbox.call(_TASK + "lower", proposal.ir, original)
    if end.kind != "ok" or not messages:
        return Rejection(f"parse.{end.kind}", f"lowering the proposal to level '{BELOW}': {end.message}")
    (found,) = messages
    if isinstance(found, Rejection):
        return found
    return dataclasses.replace(proposal, ir=found, level=BELOW)


def lower(text: str, original_text: str | None) -> Iterator[Any]:
    """A task of the sandbox: the text at ``BELOW``, or a Rejection. ``original_text``: the region's, of a proposal."""
    from kc.agents.contract import Contract
    from kc.agents.gates.case import Case, main_of
    from kc.agents.gates.level import check
    from kc.agents.gates.parse import parse
    from kc.context import make_context
    from kc.errors import KcError
    from kc.pipelines.run import run_phases
    from kc.pipelines.torch import PHASES

    context = make_context()
    module = parse(text, context)
    if isinstance(module, Rejection):
        yield module
        return
    main = main_of(module)
    if main is None:
        yield Rejection("signature.main", "there is no public function @main with a body")
        return
    contract = Contract.of(main)
    if original_text is not None:
        original = parse(original_text, context)
        assert not isinstance(original, Rejection)
        wanted = main_of(original)
        assert wanted is not None
        contract = Contract.of(wanted)
        found = check(Case(original, module, LEVEL, contract)) or _signature(wanted, main)
        if found is not None:
            yield found
            return
    try:
        run_phases(module, PHASES)
    except KcError as error:
        yield Rejection("verify.invalid", f"it does not go down to level '{BELOW}': {error}"[:2000])
        return
    made = main_of(module)
    if made is None:
        yield Rejection("signature.main", f"at level '{BELOW}' there is no function @main any more")
        return
    contract.write(made)
    yield str(module.operation.get_asm(enable_debug_info=True))  # what is told of an op is told of a line of ``text``


def above(found: Rejection, text: str) -> Rejection:
    """A rejection that names the op of ``text``, a proposal at ``LEVEL``, which became the op below that it names."""
    where = (found.witness or {}).get("diverging")
    lines = text.splitlines()
    if where is None or not 0 < where.get("line", 0) <= len(lines):
        return found
    name = re.match(r"\"?([A-Za-z_][\w.$]*)", lines[where["line"] - 1][where["column"] - 1 :])
    if name is None or not name[1].startswith((f"{LEVEL}.", f"{LEVEL}_")):
        return found
    told = {**where, "op": name[1], "text": " ".join(lines[where["line"] - 1].split()), "below": where["op"]}
    message = found.message.replace(f"'{where['op']}' at line", f"'{name[1]}' at line", 1)
    return dataclasses.replace(found, op=name[1], message=message, witness={**(found.witness or {}), "diverging": told})


def _signature(wanted: ir.Operation, given: ir.Operation) -> Rejection | None:
    """Whether ``@main`` has the type that the region has."""
    one, other = (op.attributes["function_type"] for op in (wanted, given))
    if one != other:
        return Rejection("signature.types", f"@main has type {other}, the region {one}")
    return None
