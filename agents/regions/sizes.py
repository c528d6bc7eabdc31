"""What holds of the sizes of a function's arguments in its program: names, ranges, conditions between them.

An entry point knows what the program says of it and the runtime holds every call to (``kc.dims``, ``kc.sizes``,
``kc.facts``), and what its types bound. A private function knows what is true in all its calls: by what is known of
the callers, and by the checks of sizes that have run before a call.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

from kc.agents.facts import algebra
from kc.agents.regions.axes import SCALAR, Axis, shape_of
from kc.agents.regions.calls import before, caller_of, calls_of, is_called
from kc.agents.regions.dims import declared, dimensions
from kc.agents.regions.forms import LARGEST, Forms
from kc.agents.regions.symbols import is_public
from kc.bindings import ir
from kc.conditions import Condition, Expr, names_in, parse, renamed, residue

Range = algebra.Range
#: calls within calls that are followed
_DEPTH = 6
#: more names than this are not compared with each other
_COMPARED = 12
#: names that kc gives: they tell nothing further down
_MADE_UP = re.compile(r"d\d+")
_PREDICATES = {0: "==", 1: "!=", 2: "<", 3: "<=", 4: ">", 5: ">="}
#: a check of sizes that kc has put in, see ``kc.passes.conversion._checks``
_CHECK = "kc_check_"


@dataclasses.dataclass(frozen=True)
class Known:
    """``dims``: names per argument; ``ranges`` of these, both ends inclusive, as far as known; ``conditions``."""

    dims: list[tuple[str, ...]]
    ranges: Mapping[str, Range]
    conditions: tuple[Condition, ...]


def known(function: ir.Operation, module: ir.Operation | None = None, depth: int = _DEPTH) -> Known:
    """What is known of the sizes of ``function``, which is inside ``module``."""
    calls = [] if module is None or depth == 0 else calls_of(function, module)
    callers = [caller_of(call) for call in calls]
    if module is None or not calls or any(caller is None for caller in callers):
        return _declared(function, module)
    sites = []
    memo: dict[int, tuple[Known, Forms]] = {}
    for call, caller in zip(calls, callers, strict=True):
        assert caller is not None
        key = hash(caller)
        if key not in memo:
            above = known(caller, module, depth - 1)
            memo[key] = above, Forms(caller, module, _places(caller, above.dims), above.ranges)
        sites.append(_Site(call, caller, *memo[key]))
    return _in_calls(function, sites)


def _declared(function: ir.Operation, module: ir.Operation | None) -> Known:
    """What a function says of itself, if it is an entry point that nothing inside the program calls."""
    dims = dimensions(function)
    if function.name != "func.func" or not is_public(function) or (module is not None and is_called(function, module)):
        return Known(dims, {}, ())
    arguments = list(function.regions[0].blocks[0].arguments)
    checked: set[str] = set()
    ranges: dict[str, Range] = {}
    for argument, own in zip(arguments, dims, strict=True):
        bounds = _bounds(argument.type)
        for axis, extent in enumerate(shape_of(argument)):
            name = own[axis]
            if extent is None:
                checked.add(name)
                if bounds and bounds[axis] is not None:
                    ranges[name] = _meet(ranges.get(name), (0, bounds[axis]))  # type: ignore[arg-type]
    if not any(declared(function, len(arguments))):
        return Known(dims, ranges, ())  # the runtime knows no names to hold calls to
    if "kc.sizes" in function.attributes:
        for entry in ir.DictAttr(function.attributes["kc.sizes"]):
            if entry.name in checked:
                low, high = ir.DenseI64ArrayAttr(entry.attr)
                ranges[entry.name] = _meet(ranges.get(entry.name), (low, min(high, LARGEST)))
    conditions = []
    for fact in ir.ArrayAttr(function.attributes["kc.facts"]) if "kc.facts" in function.attributes else ():
        condition = parse(ir.StringAttr(fact).value)
        if condition is not None and checked.issuperset(condition.names):
            conditions.append(condition)
    return Known(dims, ranges, tuple(conditions))


def _bounds(kind: ir.Type) -> list[int | None]:
    """The limits in a type's ``#stablehlo.bounds``; kc checks them at the call."""
    text = str(kind.encoding) if isinstance(kind, ir.RankedTensorType) and kind.encoding is not None else ""
    match = re.search(r"bounds<([^>]*)>", text)
    return [] if match is None else [None if b.strip() == "?" else int(b) for b in match[1].split(",")]


def _meet(one: Range | None, other: Range) -> Range:
    return other if one is None else (max(one[0], other[0]), max(max(one[0], other[0]), min(one[1], other[1])))


def _places(function: ir.Operation, dims: Sequence[Sequence[str]]) -> dict[Axis, str]:
    """The axes of arguments, and arguments that are extents, with their names."""
    found: dict[Axis, str] = {}
    for argument, own in zip(function.regions[0].blocks[0].arguments, dims, strict=True):
        shaped = isinstance(argument.type, ir.ShapedType)
        for axis, name in enumerate(own):
            found[argument, axis if shaped else SCALAR] = name
    return found


class _Site:
    """One call: the forms of its operands, and what holds there."""

    def __init__(self, call: ir.Operation, caller: ir.Operation, above: Known, forms: Forms):
        self.call, self.forms = call, forms
        self.names = {name for own in above.dims for name in own if not _MADE_UP.fullmatch(name)}
        self.conditions = [*above.conditions, *_checks(before(call, caller), forms)]
        self._equal: dict[str, Expr] = {}
        for condition in self.conditions:
            for left, right in ((condition.left, condition.right), (condition.right, condition.left)):
                if condition.compare == "==" and isinstance(left, str) and left not in self._equal:
                    plain = self.canonical(right)
                    if left not in names_in(plain) and plain != left:
                        self._equal = {n: renamed(e, _Default({left: plain})) for n, e in self._equal.items()}
                        self._equal[left] = plain
                        break

    @property
    def ranges(self) -> dict[str, Range]:
        """The ranges of all names, of what the conditions say of one name alone too."""
        found = dict(self.forms.ranges)
        for condition in self.conditions:
            terms = algebra.polynomial(("-", condition.left, condition.right))
            names = [term[0] for term in terms if term]
            if len(names) == 1 and names[0] in found and abs(terms.get((names[0],), 0)) == 1:
                turned = terms[(names[0],)] < 0
                limit = terms.get((), 0) if turned else -terms.get((), 0)
                found[names[0]] = _meet(found.get(names[0]), _limits(condition.compare, limit, turned))
        return found

    def of(self, place: tuple[int, int]) -> Expr:
        """The extent of an operand: (number, axis or ``SCALAR``)."""
        return self.forms.of(self.call.operands[place[0]], place[1])

    def canonical(self, expr: Expr) -> Expr:
        """``expr`` where what equals something simpler is replaced by that."""
        return algebra.tidy(renamed(expr, _Default(self._equal)))


def _limits(compare: str, limit: int, turned: bool) -> Range:
    """The sizes that are so compared with ``limit``; ``turned``: the limit stands on the left."""
    if turned:
        compare = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(compare, compare)
    low = {">": limit + 1, ">=": limit, "==": limit}.get(compare, 0)
    high = {"<": limit - 1, "<=": limit, "==": limit}.get(compare, LARGEST)
    return max(low, 0), max(high, 0)


class _Default(dict):  # type: ignore[type-arg]
    """Names that stand for themselves where nothing else is known."""

    def __missing__(self, key: str) -> str:
        return key


def _checks(ops: Iterable[ir.Operation], forms: Forms) -> list[Condition]:
    """What checks of sizes have found true, which end the call otherwise."""
    found = []
    for op in ops:
        if op.name != "func.call" or not ir.FlatSymbolRefAttr(op.attributes["callee"]).value.startswith(_CHECK):
            continue
        holds = op.operands[0].owner
        if isinstance(holds, ir.Block) or holds.name != "arith.cmpi":
            continue
        compare = _PREDICATES.get(ir.IntegerAttr(holds.attributes["predicate"]).value)
        if compare is not None:
            left, right = (forms.of(value, SCALAR) for value in holds.operands)
            if names_in(left) or names_in(right):
                found.append(Condition(compare, left, right))
    return found


def _in_calls(function: ir.Operation, sites: Sequence[_Site]) -> Known:
    """What is true in all calls."""
    arguments = list(function.regions[0].blocks[0].arguments)
    places = [
        (number, axis)
        for number, argument in enumerate(arguments)
        for axis in ([SCALAR] if isinstance(argument.type, ir.IndexType) else _open(argument))
    ]
    forms = {place: [site.of(place) for site in sites] for place in places}
    plain = {place: [site.canonical(e) for site, e in zip(sites, own, strict=True)] for place, own in forms.items()}
    equal: list[tuple[Axis, Axis]] = []
    first: dict[str, tuple[int, int]] = {}
    for place in places:
        before_ = first.setdefault(str(plain[place]), place)
        if before_ != place:
            equal.append(((arguments[before_[0]], before_[1]), (arguments[place[0]], place[1])))
    preferred: dict[Axis, str] = {}
    for place, own in ((place, own) for table in (forms, plain) for place, own in table.items()):
        names = set(map(str, own))
        name = next(iter(names))
        if len(names) == 1 and name.isidentifier() and all(name in site.names for site in sites):
            preferred.setdefault((arguments[place[0]], place[1]), name)
    dims = dimensions(function, equal, preferred)
    exprs: dict[str, list[Expr]] = {}
    told: dict[str, list[list[Expr]]] = {}
    for place in places:
        name = _named(dims, place)
        if name:
            exprs.setdefault(name, plain[place])
            told.setdefault(name, []).extend((forms[place], plain[place]))
    ranges: dict[str, Range] = {}
    for name, own in told.items():
        spans = [_span([column[k] for column in own], site) for k, site in enumerate(sites)]
        ranges[name] = min(span[0] for span in spans), max(span[1] for span in spans)
    return Known(dims, ranges, tuple(_conditions(exprs, sites, ranges)))


def _span(exprs: Iterable[Expr], site: _Site) -> Range:
    """The range of a size that is each of ``exprs`` in a call."""
    found: Range = (0, LARGEST)
    for expr in exprs:
        span = algebra.interval(expr, site.ranges)
        found = found if span is None else _meet(found, span)
    return found


def _named(dims: Sequence[Sequence[str]], place: tuple[int, int]) -> str:
    own = dims[place[0]]
    return own[max(place[1], 0)] if len(own) > max(place[1], 0) else ""


def _open(argument: ir.Value) -> list[int]:
    return [axis for axis, extent in enumerate(shape_of(argument)) if extent is None]


def _conditions(
    exprs: Mapping[str, Sequence[Expr]], sites: Sequence[_Site], ranges: Mapping[str, Range]
) -> list[Condition]:
    """Conditions on the names that hold in every call: what they leave when divided, products, and order."""
    found: list[Condition] = []
    for name, own in exprs.items():
        rests = [
            residue(expr, algebra.residues(site.conditions)) for expr, site in zip(own, sites, strict=True)
        ]
        joined = rests[0]
        for rest in rests[1:]:
            joined = algebra.either(joined, rest)
        if joined[0] > 1:
            found.append(Condition("==", ("%", name, joined[0]), joined[1]))
    if len(exprs) > _COMPARED:
        return found
    tied: set[str] = set()
    for name in exprs:
        relation = _multiple(name, exprs, tied) or _product(name, exprs, tied)
        if relation is not None:
            found.append(relation)
            tied.add(name)
    for name in exprs:
        for other in exprs:
            wanted = Condition("<=", name, other)
            if name == other or algebra.proves(wanted, found, ranges):
                continue
            if all(
                algebra.proves(Condition("<=", a, b), site.conditions, site.ranges)
                for a, b, site in zip(exprs[name], exprs[other], sites, strict=True)
            ):
                found.append(wanted)
    return found


def _multiple(name: str, exprs: Mapping[str, Sequence[Expr]], tied: set[str]) -> Condition | None:
    """``name == factor * other + rest``, where that is so in every call."""
    for other, own in exprs.items():
        if other == name or other in tied:
            continue
        pairs = {algebra.multiple(a, b) for a, b in zip(exprs[name], own, strict=True)}
        pair = pairs.pop()
        if not pairs and pair is not None and pair != (1, 0):
            return Condition("==", name, algebra.tidy(("+", ("*", pair[0], other), pair[1])))
    return None


def _product(name: str, exprs: Mapping[str, Sequence[Expr]], tied: set[str]) -> Condition | None:
    """``name == factor * one * other``, where that is so in every call."""
    others = [other for other in exprs if other != name and other not in tied]
    for number, one in enumerate(others):
        for other in others[number:]:
            pairs = {
                algebra.multiple(a, ("*", b, c))
                for a, b, c in zip(exprs[name], exprs[one], exprs[other], strict=True)
            }
            pair = pairs.pop()
            if not pairs and pair is not None and pair[1] == 0:
                return Condition("==", name, algebra.tidy(("*", ("*", pair[0], one), other)))
    return None
