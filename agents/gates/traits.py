"""What the ops of a text do that only certain values show: divisions, conversions, loops, looks at bits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kc.agents.execution.undefined import OPS as UNDEFINED

if TYPE_CHECKING:
    from kc.bindings import ir

_DIVISIONS = re.compile(r"\.(\w*div\w*|\w*rem\w*|remainder|sdiv|udiv)$")
_REMAINDERS = re.compile(r"\.(rem[su]i|andi)$")
_BITS = re.compile(r"\.(bitcast\w*|copysign|is_finite|fpclass|is\.fpclass|ptrtoint)$")
_LOOPS = re.compile(r"^(scf\.(while|for)|affine\.for|stablehlo\.while|(cf|llvm)\.(br|cond_br|switch))$")
_COMPARES = re.compile(r"^(stablehlo\.compare|arith\.cmp[if]|llvm\.[if]cmp)$")
_ROUNDS = re.compile(r"\.(\w*round\w*|\w*floor\w*|\w*ceil\w*|trunc|rint|nearbyint|\w*fpto[su]i)$")
_CONVERSIONS = re.compile(r"\.(truncf|sitofp|uitofp|fptrunc|convert|reduce_precision|fpto[su]i)$")
_PRODUCTS = re.compile(r"\.(muli|mul[su]i_extended|mul|multiply)$")
_SCALINGS = re.compile(r"\.(mulf|fmul|multiply|divf|fdiv|divide)$")
_SHIFTS = re.compile(r"\.(shr[su]i|lshr|ashr|shift_right_\w+)$")
#: ops that pass a constant on as it is
_PASSED = re.compile(r"\.(broadcast\w*|splat|extui|extsi|trunci|index_cast\w*|convert|zext|sext|reshape|fill)$")
_ELEMENT = re.compile(r"(?:^|[x<])((?:bf|f|i|ui|si|tf)\d+\w*|index)(?:$|[>,\s])")


class Traits:
    """Gathers the traits of a module, op by op.

    ``names``: ``divide``, ``divide-floats``, ``scale-floats``, ``fma``, ``bits``, ``loop``, ``compare``, ``round``,
    ``undefined`` (ops of ``kc.agents.execution.undefined``), and ``narrow:TYPE`` for each float type that is converted
    to.
    ``divisors``: constants that integers are divided by, also those that a product and a shift stand for.
    ``singled``: sizes that comparisons of index values tell from others, remainders among them.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._divisors: dict[int, None] = {}
        self._factors: dict[int, None] = {}
        self._shifts: dict[int, None] = {}
        self._compared: dict[int, None] = {}
        self._periods: dict[int, None] = {}

    def see(self, op: ir.Operation) -> None:
        """Take note of one op."""
        name = op.name
        if _LOOPS.search(name):
            self.names.add("loop")
        if name in UNDEFINED and not _shifts_little(op):
            self.names.add("undefined")
        if _BITS.search(name) or "TOTALORDER" in str(op.attributes["compare_type"] if _has(op, "compare_type") else ""):
            self.names.add("bits")
        if len(op.results) == 0:
            return
        kind = element(op.results[0].type)
        if name == "arith.cmpi" and element(op.operands[0].type) == "index":
            self._compared.update(dict.fromkeys(_constants(op.operands)))
        elif kind == "index" and _REMAINDERS.search(name):
            mask = name.endswith("andi")
            self._periods.update(dict.fromkeys(c + mask for c in _constants(op.operands[1:2])))
        if _COMPARES.search(name) and element(op.operands[0].type) not in ("index", "i1", ""):
            self.names.add("compare")
        if _ROUNDS.search(name):
            self.names.add("round")
        if _CONVERSIONS.search(name) and len(op.operands):
            self._conversion(element(op.operands[0].type), kind)
        if name.endswith((".fma", ".fmuladd")):
            self.names.add("fma")
        if is_float_name(kind) and _DIVISIONS.search(name):
            self.names.add("divide-floats")
        if is_float_name(kind) and _SCALINGS.search(name):
            self.names.add("scale-floats")
        if kind[:1] not in ("i", "u", "s"):
            return
        if _DIVISIONS.search(name):
            self.names.add("divide")
            self._divisors.update(dict.fromkeys(_constants(op.operands[1:2])))
        elif _PRODUCTS.search(name):
            self._factors.update(dict.fromkeys(_constants(op.operands)))
        elif _SHIFTS.search(name):
            self._shifts.update(dict.fromkeys(_constants(op.operands[1:2])))

    def _conversion(self, source: str, kind: str) -> None:
        if is_float_name(kind):
            self.names.add(f"narrow:{kind}")
        elif is_float_name(source):
            self.names.add("round")

    @property
    def divisors(self) -> tuple[int, ...]:
        """Those that stand there, then those that a factor and a shift stand for, 2 and more."""
        found = [abs(d) for d in self._divisors]
        for shift in list(self._shifts)[:8]:
            for factor in list(self._factors)[:8]:
                for width in (0, 32, 64):  # the high half of a product is a shift too
                    if 0 <= shift < 128 and 2 < abs(factor) < 1 << (shift + width):
                        found.append(round((1 << (shift + width)) / abs(factor)))
        return tuple(dict.fromkeys(d for d in found if d > 1))[:24]

    @property
    def singled(self) -> tuple[int, ...]:
        """What is compared with; where remainders are taken, the first two sizes that leave it as one."""
        compared = [c for c in self._compared if c >= 0]
        found = [c for c in compared if c > 1]
        for period in [p for p in self._periods if p > 2][:4]:
            found += [c + times * period for c in compared if c < period for times in (0, 1)]
        return tuple(dict.fromkeys(n for n in found if n > 1))[:16]


def is_float_name(kind: str) -> bool:
    """Whether MLIR's name of a type names a float."""
    return kind.startswith(("f", "bf"))


def element(kind: Any) -> str:
    """MLIR's name of the elements of a type, the type's own name where it has none; '' where it is neither."""
    match = _ELEMENT.search(str(kind))
    return match[1] if match else ""


def _shifts_little(op: ir.Operation) -> bool:
    """Whether an op shifts by a constant that is less than its width."""
    width = re.search(r"i(\d+)>?$", str(op.results[0].type))
    amounts = _constants(op.operands[1:2])
    return bool(amounts) and 0 <= amounts[0] < (int(width[1]) if width else 64)


def _has(op: ir.Operation, name: str) -> bool:
    return name in op.attributes


def _constants(values: Iterable[Any]) -> list[int]:
    """Integers that these values are for certain."""
    from kc.bindings import ir

    found = []
    for value in values:
        for _ in range(4):
            owner = value.owner
            if isinstance(owner, ir.Block):
                break
            owner = owner.operation
            if owner.name.endswith("constant") and _has(owner, "value"):
                attribute = owner.attributes["value"]
                if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
                    attribute = attribute.get_splat_value()
                if isinstance(attribute, ir.IntegerAttr):
                    found.append(int(attribute.value))
                break
            if not _PASSED.search(owner.name) or not len(owner.operands):
                break
            value = owner.operands[0]
    return found
