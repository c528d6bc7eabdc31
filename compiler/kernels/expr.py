"""What a kernel computes, as data: scalar expressions over one iteration space.

``kc.kernels.analyze`` reads a kernel (a ``func.func {kc.kernel}`` of linalg ops on tensors) into one of the
``Kernel`` classes below; schedules read those and never walk linalg themselves.  Nothing here holds an MLIR
handle, so a ``Kernel`` may outlive the module it came from, be hashed, pickled or shown to an agent.

An *iteration space* is a tuple of ``Dim``.  An expression gives the value of one element at one point of the space:
``Load`` reads an operand at coordinates that are dims or constants, ``Apply`` is one ``arith``/``math`` op,
``Reduce`` folds its argument over some dims (its value does not depend on them any more).

Softmax over the rows of ``x: tensor<8x128xf32>`` (dims 0 = row, 1 = column) is::

    x = Load(arg=0, coords=(Coord(0), Coord(1)), type="f32")
    m = Reduce("arith.maximumf", x, dims=(1,), init=Const(-inf, "f32"), type="f32")
    e = Apply("math.exp", (Apply("arith.subf", (x, m), "f32"),), "f32")
    Apply("arith.divf", (e, Reduce("arith.addf", e, (1,), Const(0.0, "f32"), "f32")), "f32")
"""
from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Container
from typing import Literal, Union


@dataclasses.dataclass(frozen=True)
class Dim:
    """One loop of the iteration space. ``size`` is None when only known at run time.

    ``source = (arg, axis)``: the function argument and the axis of it whose extent this loop has; always set when
    ``size`` is None, so that a schedule can read the extent off that argument's descriptor.
    """

    size: int | None
    source: tuple[int, int] | None = None


@dataclasses.dataclass(frozen=True)
class Operand:
    """A function argument of the kernel. ``shape`` is None for a scalar passed by value (``f32``, ``i32``, ``index``).

    ``type`` is the MLIR element type as text: ``f32``, ``bf16``, ``i1``, ``i8``, ``index``, ``complex<f32>`` ...
    ``is_out``: a destination operand (the kernel's result number ``result`` is written into it).
    """

    shape: tuple[int | None, ...] | None
    type: str
    is_out: bool = False
    result: int | None = None


# ------------------------------------------------------------------------------------------------ expressions


class _Node:
    """Structural equality and hashing in constant time: expressions are DAGs whose tree size may be exponential.

    ``digest`` is a hash of the whole expression, computed once when the node is made from the digests of its operands.
    """

    def __post_init__(self) -> None:
        children, text = self._parts()
        digest = hashlib.blake2b(
            b"".join([type(self).__name__.encode(), b"\0", text.encode(), b"\0", *[c.digest for c in children]]),
            digest_size=16,
        ).digest()
        object.__setattr__(self, "children", children)
        object.__setattr__(self, "digest", digest)

    def _parts(self) -> tuple[tuple[Expr, ...], str]:
        """The operands, and the other fields as text: floats exactly (``-0.0`` and ``nan`` are told apart)."""
        raise NotImplementedError

    #: the operands, outermost first
    children: tuple[Expr, ...]
    digest: bytes
    __match_args__: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Node) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        """Whole while small; else op and digest: written out as a tree, shared parts would repeat without end."""
        if len(walk(self)) > 12:  # type: ignore[arg-type]
            return f"<{type(self).__name__} {getattr(self, 'op', '')} {self.digest.hex()[:8]}>"
        return f"{type(self).__name__}({', '.join(repr(getattr(self, name)) for name in self.__match_args__)})"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Const(_Node):
    """A literal of MLIR type ``type``; ``value`` is a Python int, float or bool (``nan`` and ``inf`` allowed)."""

    value: int | float | bool
    type: str

    def _parts(self) -> tuple[tuple[Expr, ...], str]:
        return (), f"{type(self.value).__name__} {self.value!r} {self.type}"


@dataclasses.dataclass(frozen=True)
class Coord:
    """A coordinate of a ``Load``: ``scale * dim + offset`` with ``dim`` None for the constant ``offset``.

    ``more`` holds further ``(dim, scale)`` terms (a window: ``2 * oh + kh``). It is empty in every kernel class but
    ``Window``; axes of extent 1 are always the constant 0.
    """

    dim: int | None
    scale: int = 1
    offset: int = 0
    more: tuple[tuple[int, int], ...] = ()


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Load(_Node):
    """Element of argument ``arg`` at ``coords`` (one ``Coord`` per axis; empty for a 0-d tensor or a scalar)."""

    arg: int
    coords: tuple[Coord, ...]
    type: str

    def _parts(self) -> tuple[tuple[Expr, ...], str]:
        at = [f"{c.dim},{c.scale},{c.offset},{c.more}" for c in self.coords]
        return (), f"{self.arg} {at} {self.type}"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Index(_Node):
    """The current value of loop ``dim`` (``linalg.index``)."""

    dim: int
    type: str = "index"

    def _parts(self) -> tuple[tuple[Expr, ...], str]:
        return (), f"{self.dim} {self.type}"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Apply(_Node):
    """One scalar op: ``op`` is its MLIR name (``arith.addf``, ``math.exp``, ``arith.select``, ``arith.cmpf`` ...).

    ``attrs``: sorted ``(name, MLIR attribute text)`` pairs, for example ``(("predicate", "1 : i64"),)``;
    fast-math flags stand there too (``("fastmath", "#arith.fastmath<contract>")``).
    """

    op: str
    args: tuple[Expr, ...]
    type: str
    attrs: tuple[tuple[str, str], ...] = ()

    def _parts(self) -> tuple[tuple[Expr, ...], str]:
        return self.args, f"{self.op} {self.type} {self.attrs}"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Reduce(_Node):
    """``arg`` folded over loops ``dims`` with the binary op ``op`` (MLIR name), starting from ``init``."""

    op: str
    arg: Expr
    dims: tuple[int, ...]
    init: Expr
    type: str

    def _parts(self) -> tuple[tuple[Expr, ...], str]:
        return (self.arg, self.init), f"{self.op} {self.dims} {self.type}"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Acc(_Node):
    """In an epilogue: the contraction's accumulated value. In a score callback: the raw score q·k (unscaled)."""

    type: str = "f32"

    def _parts(self) -> tuple[tuple[Expr, ...], str]:
        return (), self.type


Expr = Union[Const, Load, Index, Apply, Reduce, Acc]


def walk(*roots: Expr, done: Container[Expr] = ()) -> list[Expr]:
    """Every distinct sub-expression of the roots, operands before users; nothing of what is in ``done`` or below it."""
    order: list[Expr] = []
    seen: set[int] = set()
    stack: list[Expr | None] = list(reversed(roots))  # None: the node below it has its operands in ``order``
    while stack:
        node = stack.pop()
        if node is None:
            order.append(stack.pop())  # type: ignore[arg-type]
            continue
        if id(node) in seen or node in done:
            continue
        seen.add(id(node))
        if node.children:
            stack += (node, None, *node.children[::-1])
        else:
            order.append(node)
    return order


# ---------------------------------------------------------------------------------------------------- kernels


@dataclasses.dataclass(frozen=True)
class Output:
    """Result ``expr`` stored to destination argument ``arg`` at ``coords``.

    Coordinates are plain dims (a permutation of the space or a subset of it); an axis of extent 1 has the constant 0.
    """

    arg: int
    coords: tuple[Coord, ...]
    expr: Expr


@dataclasses.dataclass(frozen=True)
class Kernel:
    """Base: ``name`` is the function's symbol, ``operands`` its arguments in order (inputs, then destinations)."""

    name: str
    operands: tuple[Operand, ...]


@dataclasses.dataclass(frozen=True)
class Map(Kernel):
    """Elementwise: no ``Reduce`` anywhere; every output has one element per point of ``dims``."""

    dims: tuple[Dim, ...] = ()
    outputs: tuple[Output, ...] = ()


@dataclasses.dataclass(frozen=True)
class Rows(Kernel):
    """Row kernels (softmax, norms, plain row reductions).

    The last ``ncols`` loops of ``dims`` are the row's columns, everything before numbers the rows. Every ``Reduce``
    folds exactly the column loops and depends on every row loop. Outputs are row shaped (all loops) or one value a row
    (row loops only). A plain reduction may read its columns with a stride (a sum over the first axis).
    """

    dims: tuple[Dim, ...] = ()
    ncols: int = 1
    outputs: tuple[Output, ...] = ()


@dataclasses.dataclass(frozen=True)
class Contraction(Kernel):
    """``acc[b.., m.., n..] = sum over k.. of lhs * rhs``, then ``outputs`` over (b, m, n) with ``Acc`` as a leaf.

    ``dims`` lists all loops; ``batch``, ``m``, ``n``, ``k`` index into it. ``lhs`` and ``rhs`` are expressions over
    (b, m, k) and (b, k, n): a plain ``Load`` or a prologue (cast, dequantisation). ``acc_type`` is the type of the
    accumulator, whose first value is ``init`` (usually ``Const(0)``; a ``Load`` for C += A·B).
    """

    dims: tuple[Dim, ...] = ()
    batch: tuple[int, ...] = ()
    m: tuple[int, ...] = ()
    n: tuple[int, ...] = ()
    k: tuple[int, ...] = ()
    lhs: Expr = Const(0.0, "f32")
    rhs: Expr = Const(0.0, "f32")
    init: Expr = Const(0.0, "f32")
    acc_type: str = "f32"
    outputs: tuple[Output, ...] = ()


@dataclasses.dataclass(frozen=True)
class Window(Kernel):
    """Convolution or pooling: one reduction whose loads slide (``Coord.more``), then an elementwise epilogue.

    ``acc[out..] = reduce over window.. of body`` with ``reduce`` an MLIR op name (``arith.addf``, ``arith.maximumf``),
    then ``outputs`` over the loops ``out`` with ``Acc`` as a leaf. For a convolution ``body`` is ``lhs * rhs`` where
    the product's first operand reads the image; every read is in bounds (padding is materialised before the kernel).
    """

    dims: tuple[Dim, ...] = ()
    out: tuple[int, ...] = ()
    window: tuple[int, ...] = ()
    reduce: str = "arith.addf"
    body: Expr = Const(0.0, "f32")
    init: Expr = Const(0.0, "f32")
    acc_type: str = "f32"
    outputs: tuple[Output, ...] = ()


@dataclasses.dataclass(frozen=True)
class Attention(Kernel):
    """``out[b.., q, :] = softmax over keys of score(q·k) @ v``.

    ``dims``: batch loops, then query (``q``), key (``kv``), head depth (``d``), value depth (``dv``). ``score`` is
    an expression over (b.., q, kv) with ``Acc`` for the raw product: scale, bias, mask, soft-cap. ``causal``: the mask
    part of ``score`` is known to be ``kv <= q`` (``score`` then omits it). ``probs_type``: element type that the
    probabilities are rounded to before the second product.
    """

    dims: tuple[Dim, ...] = ()
    batch: tuple[int, ...] = ()
    q: int = 0
    kv: int = 0
    d: int = 0
    dv: int = 0
    query: Load = Load(0, (), "f32")
    key: Load = Load(1, (), "f32")
    value: Load = Load(2, (), "f32")
    score: Expr = Acc()
    causal: bool = False
    probs_type: str = "f32"
    outputs: tuple[Output, ...] = ()
    safe: bool = False
    masked: float = float("-inf")


@dataclasses.dataclass(frozen=True)
class General(Kernel):
    """No fast family fits; ``reason`` says why. Scheduled from its linalg ops by loops."""

    reason: str = ""


Kind = Literal["map", "rows", "contraction", "window", "attention", "general"]


def kind(kernel: Kernel) -> Kind:
    """The ``kc.kind`` attribute's text for ``kernel``."""
    return type(kernel).__name__.lower()  # type: ignore[return-value]
