"""One region through equality saturation: what ``algebra`` runs in its sandbox."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kc.agents.builtin.egraph.emit import emit
from kc.agents.builtin.egraph.extract import ExtractionError, extract
from kc.agents.builtin.egraph.saturate import Limits, granted, rule_text, rulesets, saturate
from kc.agents.builtin.egraph.terms import Encoder
from kc.agents.contract import Contract


def task(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Of ``{"ir", "contract", "exact", "rules", "limits"}`` make what ``rewrite`` gives; nothing where that is None.

    ``exact``: no rules that assume anything. ``rules``: files of rules beside kc's own.
    """
    contract = Contract.from_json(request["contract"])
    allows = (lambda name: False) if request["exact"] else contract.allows
    rules = rule_text(tuple(request["rules"]))
    found = rewrite(request["ir"], rules, granted(rules, allows), Limits(**request["limits"]))
    if found is not None:
        yield found


def rewrite(
    text: str, rules: str, chosen: list[str], limits: Limits | None = None, least: float = 0.01
) -> dict[str, Any] | None:
    """``{"ir", "assumes", "before", "after", "fired", "stopped"}`` of the region under the rulesets ``chosen``.

    ``before`` and ``after`` are costs in byte-times (see ``extract``). None unless it becomes cheaper by the share
    ``least``. Allowances that do not pay are dropped.
    """
    from kc.bindings import ir
    from kc.context import make_context, parse_module, verify
    from kc.pass_manager import run_pipeline

    module = parse_module(text, make_context())
    main = next(op.operation for op in module.body.operations
                if "sym_name" in op.attributes and ir.StringAttr(op.attributes["sym_name"]).value == "main")
    if len(main.regions[0].blocks) != 1:
        return None
    needs = rulesets(rules)
    encoder = Encoder()
    program = encoder.encode(main)
    try:
        _, before = extract(saturate(program, rules, ()), program.roots)
        classes = saturate(program, rules, chosen, limits)
        terms, after = extract(classes, program.roots)
        if after > before * (1 - least):
            return None
        for allowance in sorted({name for ruleset in chosen for name in needs[ruleset]}):
            fewer = [name for name in chosen if allowance not in needs[name]]
            narrower = saturate(program, rules, fewer, limits)
            terms_of, cost = extract(narrower, program.roots)
            if cost <= after * (1 + least):
                chosen, classes, terms, after = fewer, narrower, terms_of, cost
        with module.context, ir.Location.unknown(module.context):
            emit(main, encoder, program, classes, terms)
    except ExtractionError:
        return None
    run_pipeline(module, "builtin.module(cse)")
    verify(module, "region after equality saturation")
    assumes = sorted({name for ruleset in chosen for name in needs[ruleset]})
    return {"ir": str(module), "assumes": assumes, "before": before, "after": after, "fired": sorted(classes.fired),
            "stopped": classes.stopped}
