"""One block of a function as a graph: what each op is to kernel formation, and who uses whom.

Ops are numbered in block order; the terminator is the last number. Handles are read only: the block must not change
while a ``BlockGraph`` of it is in use. """
from __future__ import annotations

import enum

from kc import params
from kc.bindings import ir
from kc.kernels.shapes import reassociation, static_size
from kc.kernels.structured import Cache, Structured, Unreadable
from kc.rewrite import walk_ops

_VIEWS = frozenset(("tensor.expand_shape", "tensor.collapse_shape", "tensor.cast", "tensor.extract_slice"))
_WIDENING = frozenset(("arith.extf", "arith.extsi", "arith.extui", "arith.sitofp", "arith.uitofp"))
_PURE_DIALECTS = ("tensor.", "arith.", "math.", "complex.", "index.", "scf.", "linalg.", "affine.", "kc.", "shape.")
_CHEAP_BODY = 12  # scalar ops that may be recomputed in every consumer when they read no memory
_DEPTH = 64  # longest chain of ops that is repeated in every kernel that needs its end


class Role(enum.Enum):
    """What an op is to kernel formation."""

    COMPUTE = "compute"  # belongs to exactly one kernel
    CHEAP = "cheap"  # computed again in every kernel that needs it
    VIEW = "view"  # a reshape or slice: inside a kernel if its source is, else in the caller
    SCALAR = "scalar"  # constants, index arithmetic, tensor.empty, element reads
    OTHER = "other"  # stays in the caller: control flow, calls, insert_slice ...


def walk_nested(op: ir.Operation) -> list[ir.Operation]:
    """``op`` and every op in its regions."""
    return [op] if len(op.regions) == 0 else [op, *walk_ops(op)]


def outer_values(op: ir.Operation) -> list[ir.Value]:
    """The values that ``op`` uses, those captured by its regions included, in order of first use."""
    if len(op.regions) == 0:
        return list(dict.fromkeys(op.operands))
    inside: set[ir.Value] = set()
    used: dict[ir.Value, None] = {}
    for inner in walk_nested(op):
        for value in inner.operands:
            used[value] = None
        inside.update(inner.results)
        for region in inner.regions:
            for block in region.blocks:
                inside.update(block.arguments)
    inside.difference_update(op.results)
    return [value for value in used if value not in inside]


class BlockGraph:
    """Roles and use-def edges of the ops of ``block``."""

    def __init__(self, block: ir.Block, cache: Cache) -> None:
        self.cache = cache
        self.ops = [view.operation for view in block.operations]
        self.terminator = len(self.ops) - 1
        self.definition: dict[ir.Value, int] = {}
        self.uses: list[list[ir.Value]] = []
        self.users: dict[ir.Value, list[int]] = {}
        self.roles: list[Role] = []
        for number, op in enumerate(self.ops):
            values = outer_values(op)
            self.uses.append(values)
            for value in values:
                self.users.setdefault(value, []).append(number)
            for result in op.results:
                self.definition[result] = number
        self._depths: list[int] = []  # of the chain of ops before it that would be repeated with it
        for number, op in enumerate(self.ops):
            self.roles.append(Role.OTHER if number == self.terminator else self._role(number, op))
            self._bound_depth(number)
        self.after_effect: dict[int, int] = {}  # effectful op -> the effectful op before it
        last = None
        for number in range(self.terminator):
            if self.roles[number] is Role.OTHER and has_effects(self.ops[number]):
                if last is not None:
                    self.after_effect[number] = last
                last = number
        self.before_effect = {before: after for after, before in self.after_effect.items()}
        for number in reversed(range(self.terminator)):
            if self.roles[number] is Role.CHEAP and self._escapes(number):
                self.roles[number] = Role.COMPUTE

    def form(self, number: int) -> Structured | None:
        """The structured form of op ``number``, None if it has none."""
        if not self.ops[number].name.startswith("linalg."):
            return None
        try:
            return self.cache.form(self.ops[number])
        except Unreadable:
            return None

    def has_reduction(self, number: int) -> bool:
        """Whether the op folds over a loop (or is no structured op at all)."""
        form = self.form(number)
        return form is None or any(form.reductions)

    def _role(self, number: int, op: ir.Operation) -> Role:
        name = op.name
        if name in _VIEWS:
            return Role.VIEW
        if name in ("arith.constant", "tensor.empty", "tensor.dim", "tensor.extract"):
            return Role.SCALAR
        if name.startswith(("arith.", "math.", "complex.", "index.")):
            shaped = any(isinstance(result.type, ir.ShapedType) for result in op.results)
            return Role.COMPUTE if shaped else Role.SCALAR
        if name.startswith("linalg.") and len(op.results) > 0:
            return Role.CHEAP if self._is_cheap(number, op) else Role.COMPUTE
        if name == "tensor.insert_slice":  # a pad: its destination is a fill
            return Role.COMPUTE if self._is_fill(op.operands[1]) else Role.OTHER
        if name in ("tensor.pad", "tensor.generate", "tensor.splat", "tensor.from_elements"):
            return Role.COMPUTE
        if name in ("scf.for", "scf.while", "scf.if", "scf.forall"):
            return Role.COMPUTE if is_element_loop(op) else Role.OTHER
        return Role.OTHER

    def _bound_depth(self, number: int) -> None:
        """Keeps the end of a long chain of views, index arithmetic or cheap ops in memory or in the caller."""
        depth, role = 0, self.roles[number]
        if role in (Role.CHEAP, Role.VIEW, Role.SCALAR):
            sources = [self.definition[value] for value in self.uses[number] if value in self.definition]
            depth = 1 + max((self._depths[source] for source in sources), default=0)
            if depth > _DEPTH:
                self.roles[number] = Role.COMPUTE if role is Role.CHEAP else Role.OTHER
                depth = 0
        self._depths.append(depth)

    def _is_fill(self, value: ir.Value) -> bool:
        number = self.definition.get(value)
        return number is not None and self.ops[number].name == "linalg.fill"

    def _is_cheap(self, number: int, op: ir.Operation) -> bool:
        if op.name == "linalg.fill":
            return True
        form = self.form(number)
        if form is None or len(op.results) != 1 or any(form.reductions) or any(not item.pure for item in form.body):
            return False
        if any(item.name == "tensor.extract" for item in form.body):
            return False
        inputs = [value for value in form.operands[: form.inputs] if isinstance(value.type, ir.ShapedType)]
        if ("arg", len(form.operands) - 1) in [arg for item in form.body for arg in item.args]:
            return False  # reads its destination
        if all(self._made_of_nothing(value) for value in inputs):
            return len(form.body) <= _CHEAP_BODY
        if len(inputs) != 1 or form.inputs != 1:
            return False
        if form.yields[0] == ("arg", 0):
            return True
        widening = len(form.body) == 1 and form.body[0].name in _WIDENING and form.yields[0] == ("op", 0)
        return widening and bits(op.results[0].type) > bits(inputs[0].type)

    def _made_of_nothing(self, value: ir.Value) -> bool:
        """Whether a tensor is computed without reading memory: constants, iota, what is made of them."""
        while value in self.definition:
            number = self.definition[value]
            op = self.ops[number]
            if op.name == "arith.constant":
                return params.is_splat(op)
            if op.name in _VIEWS:
                value = op.operands[0]
                continue
            if number < len(self.roles) and self.roles[number] is Role.CHEAP:
                form = self.form(number)
                return form is not None and all(
                    self._made_of_nothing(item)
                    for item in form.operands[: form.inputs]
                    if isinstance(item.type, ir.ShapedType)
                )
            return False
        return is_splat_constant(value)

    def _escapes(self, number: int) -> bool:
        """Whether a cheap op's value is needed in memory: outside kernels, or in another shape than its own."""
        stack = list(self.ops[number].results)
        from_memory = not self._made_of_nothing(stack[0])
        while stack:
            for user in self.users.get(stack.pop(), ()):
                if self.roles[user] is Role.OTHER or (from_memory and splits_rows(self.ops[user])):
                    return True
                if self.roles[user] in (Role.VIEW, Role.SCALAR):
                    stack.extend(self.ops[user].results)
        return False


def splits_rows(op: ir.Operation) -> bool:
    """Whether ``op`` is a reshape that does more than add or drop axes of extent 1."""
    if op.name not in ("tensor.expand_shape", "tensor.collapse_shape"):
        return False
    wide = op.results[0] if op.name == "tensor.expand_shape" else op.operands[0]
    return any(sum(static_size(wide, axis) != 1 for axis in group) > 1 for group in reassociation(op))


def has_effects(op: ir.Operation) -> bool:
    """Whether the order of ``op`` among its like matters: calls, assertions, anything not known to be pure."""
    for inner in walk_nested(op):
        if inner.name in ("func.call", "cf.assert") or not inner.name.startswith(_PURE_DIALECTS):
            return True
    return False


def is_splat_constant(value: ir.Value) -> bool:
    """Whether the value is an ``arith.constant dense<c>`` from any block."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return False
    return params.is_splat(value.owner.operation)


def bits(tensor_type: ir.Type) -> int:
    """Width of a tensor's element type in bits; 64 for index."""
    element = ir.ShapedType(tensor_type).element_type
    if isinstance(element, (ir.IntegerType, ir.FloatType)):
        return element.width
    if isinstance(element, ir.ComplexType):
        inner = element.element_type
        return 2 * inner.width if isinstance(inner, (ir.IntegerType, ir.FloatType)) else 128
    return 64


_ELEMENT_DIALECTS = ("arith.", "math.", "complex.", "scf.", "index.", "cf.assert")
_ELEMENT_OPS = frozenset(("tensor.extract", "tensor.insert", "tensor.dim", "tensor.cast", "tensor.empty"))


def is_element_loop(op: ir.Operation) -> bool:
    """Whether control flow works on single elements of tensors (a sort, a scatter), so that it is one kernel.

    A kernel returns nothing but tensors: a scalar result that somebody reads keeps it out.
    """
    touches = False
    for inner in walk_nested(op):
        if inner.name in ("tensor.extract", "tensor.insert"):
            touches = True
        elif not inner.name.startswith(_ELEMENT_DIALECTS) and inner.name not in _ELEMENT_OPS:
            return False
    scalars = [result for result in op.results if not isinstance(result.type, ir.ShapedType)]
    read = any(True for result in scalars for _ in result.uses)
    return touches and len(scalars) < len(op.results) and not read
