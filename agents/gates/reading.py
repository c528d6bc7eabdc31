"""What the differential test needs to know of a module, as plain data: signature, contract, constants, kinds of ops."""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from kc.agents.contract import ArgumentContract, Contract
from kc.agents.execution.signature import Kind, Signature
from kc.agents.gates.case import main_of, walk
from kc.agents.gates.traits import Traits

if TYPE_CHECKING:
    from kc.bindings import ir

#: ops whose run may depend on an order of iterations or threads
_PARALLEL = ("scf.parallel", "scf.forall", "affine.parallel", "gpu.launch", "gpu.launch_func")
_COMPARISONS = (
    "arith.cmp",
    "stablehlo.compare",
    "arith.max",
    "arith.min",
    "arith.rem",
    "arith.and",
    "stablehlo.clamp",
    "stablehlo.max",
    "stablehlo.min",
    "stablehlo.remainder",
    "llvm.icmp",
    "llvm.fcmp",
    "scf.index_switch",
    "arith.select",
    "stablehlo.select",
)
_SCALES = ("arith.mulf", "arith.divf", "stablehlo.multiply", "stablehlo.divide", "llvm.fmul", "llvm.fdiv")
#: most constants of each kind that are kept, those in comparisons first
_MOST = 160
_ROUNDING = {"f8": 3, "f16": 11, "bf16": 8, "f32": 24, "f64": 53}
_NO_ARITHMETIC = re.compile(
    r"\.(constant|extf|truncf|convert|reshape|broadcast\w*|transpose|slice|concatenate|select|load|store|extract\w*|insert\w*"
    r"|splat|empty|yield|return|cmpf|compare|maximum\w*|minimum\w*|copy|fill|pad|gather|reverse|bitcast\w*|neg\w*|abs\w*"
    r"|transfer_\w+|dynamic_\w*slice|real|imag|complex|from_elements|collapse_shape|expand_shape|cast|dim|iota|sort|if|for"
    r"|while|while_loop|condition|generic|func|call|module|alloc\w*|subview|dealloc|get_global|global)$"
)


@dataclasses.dataclass(frozen=True)
class Reading:
    """Plain facts about one module.

    ``integers``, ``floats``: constants in it, those that are compared with something first. ``parallel``: whether an
    order of iterations is left open. ``bits``: significant bits of the coarsest float type in which it computes (0: no
    float arithmetic). ``ops``: number of ops. ``work``: a guess at the scalar operations of one run where
    shapes are static. ``traits``, ``divisors``, ``singled``: see ``traits.Traits``. ``unnamed``: arguments of the
    original some of whose open sizes nothing ties to a name (``naming``).
    """

    arguments: tuple[Kind, ...]
    results: tuple[Kind, ...]
    contract: Contract
    integers: tuple[int, ...] = ()
    floats: tuple[float, ...] = ()
    parallel: bool = False
    bits: int = 0
    ops: int = 0
    work: int = 0
    traits: frozenset[str] = frozenset()
    divisors: tuple[int, ...] = ()
    singled: tuple[int, ...] = ()
    unnamed: tuple[int, ...] = ()


def read(module: ir.Module) -> Reading:
    """The facts about a module that has ``@main``.

    Raises InputError for a malformed contract, ExecutionError for a type that cannot cross to ``@main``.
    """

    main = main_of(module)
    assert main is not None
    signature = Signature.of(module)
    integers: Counter[int] = Counter()
    floats: Counter[float] = Counter()
    parallel, bits, ops, work = False, 0, 0, 0
    traits = Traits()
    for op in walk(module.operation):
        ops += 1
        traits.see(op)
        work += _work(op)
        parallel = parallel or op.name in _PARALLEL or op.name.startswith("omp.")
        bits = min(bits or 99, _bits(op)) if _bits(op) else bits
        weight = 1
        if len(op.results) == 1 and op.name.endswith("constant"):
            users = [use.owner.name for use in op.results[0].uses]
            weight = 1000 if any(u.startswith(_COMPARISONS) for u in users) else 10
            weight += 100 * any(u.startswith(_SCALES) for u in users)
        for name in op.attributes:
            if name not in ("operandSegmentSizes", "function_type", "sym_name", "dimension_numbers"):
                _harvest(op.attributes[name], weight, integers, floats)
        for result in op.results:
            for extent in re.findall(r"(?<=[<x\[])(\d+)(?=x|\])", str(result.type)[:200]):
                integers[int(extent)] += 1
    contract = _grouped(Contract.of(main), signature, main.name == "llvm.func")
    return Reading(
        signature.arguments,
        signature.results,
        contract,
        tuple(n for n, _ in integers.most_common(_MOST)),
        tuple(x for x, _ in floats.most_common(_MOST)),
        parallel,
        bits if bits < 99 else 0,
        ops,
        work,
        frozenset(traits.names),
        traits.divisors,
        traits.singled,
    )


def _grouped(contract: Contract, signature: Signature, expanded: bool) -> Contract:
    """At level llvm an argument is several, and what is said of it stands on the first.

    What the contract says by numbers of arguments then is said by numbers of those in ``signature``.
    """
    if not expanded:
        return contract
    firsts, at = [], 0
    for kind in signature.arguments:
        firsts.append(at)
        at += kind.words
    numbers = {first: number for number, first in enumerate(firsts)}
    arguments = tuple(
        contract.arguments[first] if first < len(contract.arguments) else ArgumentContract() for first in firsts
    )
    arguments = tuple(
        dataclasses.replace(a, may_alias=None if a.may_alias is None else numbers.get(a.may_alias)) for a in arguments
    )
    facts = [_ARGUMENT.sub(lambda match: f"arg{numbers.get(int(match[1]), '')}", fact) for fact in contract.facts]
    return dataclasses.replace(contract, arguments=arguments, facts=tuple(facts))


#: an argument in a fact
_ARGUMENT = re.compile(r"\barg(\d+)\b")


def _work(op: ir.Operation) -> int:
    """A guess at the scalar operations of one op on static tensors."""
    results = [_elements(str(result.type)) for result in op.results]
    operands = [_elements(str(operand.type)) for operand in op.operands]
    if op.name in ("stablehlo.dot_general", "stablehlo.dot") and results and len(operands) == 2:
        return int((results[0] * operands[0] * operands[1]) ** 0.5)
    if op.name == "stablehlo.convolution" and results and len(operands) == 2:
        return results[0] * max(1, operands[1] // 8)
    if op.name == "stablehlo.reduce_window" and results:
        windows = re.findall(r"window_dimensions = array<i64: ([\d, ]+)>", str(op))
        return results[0] * math.prod(int(n) for n in windows[0].split(",")) if windows else results[0]
    return max([*results, *operands], default=1)


def _elements(kind: str) -> int:
    match = re.match(r"tensor<((?:\d+x)+)", kind)
    return math.prod(int(n) for n in match[1].split("x")[:-1]) if match else 1


def _bits(op: ir.Operation) -> int:
    """Significant bits of the float type in which an op computes; 0 when it computes nothing in floats."""
    if not len(op.results) or _NO_ARITHMETIC.search(op.name):
        return 0
    match = re.search(r"(?:^|[x<])(bf16|f16|f32|f64|f8)", str(op.results[0].type))
    return _ROUNDING[match[1]] if match else 0


def _harvest(attribute: Any, weight: int, integers: Counter[int], floats: Counter[float]) -> None:
    from kc.bindings import ir

    if isinstance(attribute, ir.IntegerAttr):
        integers[int(attribute.value)] += weight
    elif isinstance(attribute, ir.FloatAttr):
        floats[attribute.value] += weight
    elif isinstance(attribute, (ir.DenseI64ArrayAttr, ir.DenseI32ArrayAttr)):
        for value in list(attribute)[:32]:
            integers[value] += 1
    elif isinstance(attribute, ir.DenseElementsAttr):
        _harvest_dense(attribute, weight, integers, floats)
    elif isinstance(attribute, ir.ArrayAttr):
        for item in list(attribute)[:32]:
            _harvest(item, 1, integers, floats)
    elif isinstance(attribute, ir.AffineMapAttr):
        for number in re.findall(r"(?<![\w])\d+", str(attribute)):
            integers[int(number)] += 1


def _harvest_dense(attribute: Any, weight: int, integers: Counter[int], floats: Counter[float]) -> None:
    from kc.bindings import ir

    if attribute.is_splat:
        _harvest(attribute.get_splat_value(), weight, integers, floats)
    elif len(attribute) <= 64:
        kind = ir.ShapedType(attribute.type).element_type
        if isinstance(kind, (ir.IntegerType, ir.IndexType)):
            for value in attribute:
                integers[int(value)] += weight
        elif isinstance(kind, (ir.F32Type, ir.F64Type, ir.F16Type)):
            for value in attribute:
                floats[float(value)] += weight
