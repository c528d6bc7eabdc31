"""Running the rules that a contract grants, under a budget, and reading the classes of equal terms back."""
from __future__ import annotations

import dataclasses
import functools
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kc.agents.builtin.egraph.terms import Program, tables
from kc.errors import InputError

_HERE = Path(__file__).parent
#: constructors of terms
_FORMS = frozenset({
    "Value", "Fill", "Un", "Bin", "Compare", "Select", "Convert", "Transpose", "Reshape", "Broadcast", "Reduce", "Dot",
})


@dataclasses.dataclass(frozen=True)
class Limits:
    """When to stop: rounds of all rules, terms, wall seconds. What is known by then is used."""

    rounds: int = 12
    terms: int = 20_000
    seconds: float = 10.0


@dataclasses.dataclass(frozen=True)
class Node:
    """A term whose operands are classes: constructor, parameters (text, numbers, tuples of numbers), operands."""

    form: str
    parameters: tuple[Any, ...]
    operands: tuple[int, ...]


@dataclasses.dataclass
class Classes:
    """Equal terms: ``nodes[c]`` are the terms of class c; its element type and shape; the class of each name.

    ``fired``: rule -> number of matches. ``stopped``: why the run ended (``saturated``, ``rounds`` …).
    """

    nodes: dict[int, list[Node]]
    types: dict[int, tuple[str, tuple[int, ...]]]
    of: dict[str, int]
    fired: dict[str, int]
    stopped: str


@functools.cache
def rule_text(files: tuple[str, ...] = ()) -> str:
    """kc's rules and those in ``files``, which may use its rulesets and declare more."""
    try:
        return "\n".join(Path(path).read_text() for path in (str(_HERE / "rules.egg"), *files))
    except OSError as error:
        raise InputError(f"cannot read rules: {error}") from None


def rulesets(rules: str) -> dict[str, frozenset[str]]:
    """Name of each ruleset that ``rules`` declares -> the allowances that it needs (``exact``: none)."""
    names = re.findall(r"^\(ruleset (\S+)\)", rules, re.MULTILINE)
    return {name: frozenset(name.split("-")) - {"exact"} for name in names}


def granted(rules: str, allows: Callable[[str], bool]) -> list[str]:
    """The rulesets all of whose allowances the contract has."""
    return [name for name, needs in rulesets(rules).items() if all(map(allows, needs))]


def saturate(program: Program, rules: str, chosen: Iterable[str], limits: Limits | None = None) -> Classes:
    """The classes of ``program`` after those of ``rules`` in the ``chosen`` rulesets; none: as it stands.

    Raises InputError for rules that egglog cannot read.
    """
    limits = limits or Limits()
    try:
        from egglog import bindings
    except ImportError as error:
        raise InputError(f"the agent 'algebra' needs egglog: pip install 'kc[algebra]' ({error})") from None
    graph = bindings.EGraph()

    def run(text: str) -> list[Any]:
        return graph.run_program(*graph.parse_program(text))

    run((_HERE / "language.egg").read_text())
    try:
        run(rules)
    except bindings.EggSmolError as error:
        raise InputError(f"a rule of equality saturation is wrong: {error}") from None
    run("\n".join([*tables(program), *program.lines, "(run-schedule (saturate (run types)))"]))
    started, stopped = time.monotonic(), "saturated"
    fired: dict[str, int] = {}
    steps = " ".join(f"(run {name})" for name in chosen)
    for number in range(limits.rounds + 1):
        if not steps:
            break
        if number == limits.rounds:
            stopped = "rounds"
        elif time.monotonic() - started > limits.seconds:
            stopped = "seconds"
        elif _size(run("(print-size)")) > limits.terms:
            stopped = "terms"
        else:
            report = run(f"(run-schedule (seq {steps} (saturate (run types))))")[-1].report
            for rule, count in report.num_matches_per_rule.items():
                if count and not rule.startswith("("):  # the rules of types have no name
                    fired[rule] = fired.get(rule, 0) + count
            if report.updated:
                continue
        break
    return _read(graph, program, fired, stopped)


def _size(outputs: list[Any]) -> int:
    """Number of terms, of the output of ``print-size``."""
    return sum(count for name, count in outputs[-1].sizes if name in _FORMS)


def _read(graph: Any, program: Program, fired: dict[str, int], stopped: str) -> Classes:
    frozen = graph.freeze()
    numbers: dict[Any, int] = {}

    def value(sort: str, raw: Any) -> Any:
        if sort == "String":
            return graph.value_to_string(raw)
        if sort == "i64":
            return graph.value_to_i64(raw)
        return tuple(graph.value_to_i64(part) for part in graph.value_to_vec(raw))

    def number(raw: Any) -> int:
        return numbers.setdefault(raw, len(numbers))

    nodes: dict[int, list[Node]] = {}
    shapes: dict[int, tuple[int, ...]] = {}
    elements: dict[int, str] = {}
    of: dict[str, int] = {}
    for name, function in frozen.functions.items():
        for row in function.rows:
            if function.is_let_binding:
                of[name] = number(row.output)
            elif name == "shape-of":
                shapes[number(row.inputs[0])] = value("Ints", row.output)
            elif name == "elem-of":
                elements[number(row.inputs[0])] = value("String", row.output)
            elif function.output_sort == "Tensor":
                pairs = list(zip(function.input_sorts, row.inputs, strict=True))
                parameters = tuple(value(sort, raw) for sort, raw in pairs if sort != "Tensor")
                operands = tuple(number(raw) for sort, raw in pairs if sort == "Tensor")
                nodes.setdefault(number(row.output), []).append(Node(name, parameters, operands))
    types = {c: (elements[c], shapes[c]) for c in nodes if c in shapes and c in elements}
    return Classes(nodes, types, of, fired, stopped)
