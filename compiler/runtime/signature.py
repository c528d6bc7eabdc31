"""Signatures: what an entry point takes and gives, read from a manifest, and the check of shapes against it.

A dimension is an ``int`` (exactly this), ``None`` (any), or a name (any, but the same wherever the name stands in the
call). ``dims`` of an entry may bound a name: ``{"B": {"min": 1, "max": 64, "multiple": 8}}``. ``conditions`` of an
entry hold between names: ``[{"text": "N == 4 * M", "tree": ["==", "N", ["*", 4, "M"]]}]``, operators first.
"""
from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kc.runtime import dtypes
from kc.runtime.errors import ArgumentError, LoadError

Dim = int | str | None


@dataclasses.dataclass(frozen=True)
class Spec:
    """One argument or result: element type and shape. ``scalar`` ones travel by value, not as an array of rank 0."""

    name: str
    dtype: dtypes.DType
    shape: tuple[Dim, ...]
    scalar: bool = False
    param: int | None = None  # index into the manifest's params; None for inputs and results

    def __str__(self) -> str:
        dims = ", ".join("?" if dim is None else str(dim) for dim in self.shape)
        return f"{self.dtype.name}[{dims}]"

    @property
    def static_shape(self) -> tuple[int, ...] | None:
        """The shape when every dimension is fixed."""
        sizes = tuple(dim for dim in self.shape if isinstance(dim, int))
        return sizes if len(sizes) == len(self.shape) else None


@dataclasses.dataclass(frozen=True)
class Bounds:
    """Limits of a named dimension."""

    min: int = 0
    max: int | None = None
    multiple: int = 1


_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "==": operator.eq, "!=": operator.ne, "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt,
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
}


@dataclasses.dataclass(frozen=True)
class Condition:
    """What must hold between sizes. ``tree``: an integer, a name, or an operator with two trees; ``text`` tells it."""

    text: str
    tree: Any
    names: tuple[str, ...]

    @classmethod
    def read(cls, data: Mapping[str, Any], where: str) -> Condition:
        """The condition in a manifest. Raises ``LoadError`` when it is malformed."""
        names: dict[str, None] = {}

        def visit(tree: Any) -> None:
            if isinstance(tree, str):
                names[tree] = None
            elif isinstance(tree, list) and len(tree) == 3 and tree[0] in _OPERATORS:
                visit(tree[1])
                visit(tree[2])
            elif not isinstance(tree, int):
                raise LoadError(f"manifest: {where}: {tree!r} is no condition on sizes")

        visit(data.get("tree"))
        return cls(str(data.get("text", data["tree"])), data["tree"], tuple(names))

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Whether these sizes obey it."""
        return bool(_value(self.tree, sizes))


def _value(tree: Any, sizes: Mapping[str, int]) -> int:
    if isinstance(tree, list):
        return _OPERATORS[tree[0]](_value(tree[1], sizes), _value(tree[2], sizes))
    return sizes[tree] if isinstance(tree, str) else int(tree)


@dataclasses.dataclass(frozen=True)
class Signature:
    """An entry point: all arguments in the order of the machine code, and its results."""

    name: str
    symbol: str
    args: tuple[Spec, ...]
    results: tuple[Spec, ...]
    bounds: Mapping[str, Bounds] = dataclasses.field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()

    @property
    def inputs(self) -> tuple[Spec, ...]:
        """What the caller gives: the arguments that are not bound parameters."""
        return tuple(spec for spec in self.args if spec.param is None)

    def __str__(self) -> str:
        inputs = ", ".join(f"{spec.name}: {spec}" for spec in self.inputs)
        return f"{self.name}({inputs}) -> ({', '.join(map(str, self.results))})"

    def check_shapes(self, shapes: Sequence[tuple[int, ...]]) -> None:
        """Checks the inputs' shapes. Raises ``ArgumentError`` that names the argument, what was expected and given."""
        bound: dict[str, tuple[int, int]] = {}  # name → (size, index of the argument that gave it)
        inputs = self.inputs
        for index, (spec, shape) in enumerate(zip(inputs, shapes, strict=True)):
            where = describe_argument(index, spec)
            got = f"{spec.dtype.name}[{', '.join(map(str, shape))}]"
            if len(shape) != len(spec.shape):
                ranks = f"rank {len(shape)}, not {len(spec.shape)}"
                raise ArgumentError(f"{where}: expected {spec}, got {got} ({ranks})", index, spec.name)
            for axis, (dim, size) in enumerate(zip(spec.shape, shape, strict=True)):
                if isinstance(dim, int):
                    if size != dim:
                        raise ArgumentError(f"{where}: expected {spec}, got {got} (dimension {axis})", index, spec.name)
                elif dim is not None:
                    first = bound.setdefault(dim, (size, index))
                    if first[0] != size:
                        raise ArgumentError(
                            f"{where}: expected {spec}, got {got}: dimension {axis} is {size}, but '{dim}' is "
                            f"{first[0]} in {describe_argument(first[1], inputs[first[1]])}", index, spec.name
                        )
                    self._check_bounds(dim, size, f"{where}: expected {spec}, got {got}", index, spec.name)
        if self.conditions:
            self._check_conditions(bound)

    def _check_conditions(self, bound: Mapping[str, tuple[int, int]]) -> None:
        """What must hold between the sizes in ``bound``: name → (size, index of the argument that gave it)."""
        sizes = {name: size for name, (size, _) in bound.items()}
        for condition in self.conditions:
            if all(name in sizes for name in condition.names) and not condition.holds(sizes):
                last = max(condition.names, key=lambda name: bound[name][1])
                index = bound[last][1]
                told = ", ".join(
                    f"'{n}' is {sizes[n]} in {describe_argument(bound[n][1], self.inputs[bound[n][1]])}"
                    for n in condition.names
                )
                spec = self.inputs[index]
                where = f"{describe_argument(index, spec)}: expected {spec}"
                raise ArgumentError(f"{where} with {condition.text}; {told}", index, spec.name)

    def _check_bounds(self, dim: str, size: int, where: str, index: int, name: str) -> None:
        limits = self.bounds.get(dim)
        if limits is None:
            return
        if size < limits.min or (limits.max is not None and size > limits.max):
            upper = "" if limits.max is None else f" and at most {limits.max}"
            raise ArgumentError(f"{where}: '{dim}' must be at least {limits.min}{upper}", index, name)
        if size % limits.multiple:
            raise ArgumentError(f"{where}: '{dim}' must be a multiple of {limits.multiple}", index, name)


def describe_argument(index: int, spec: Spec) -> str:
    return f"argument {index} ('{spec.name}')"


def _spec(data: Mapping[str, Any], where: str, position: int, params: int) -> tuple[Spec, int]:
    try:
        dtype = dtypes.by_name(data["dtype"])
        shape = tuple(data["shape"])
    except KeyError as error:
        raise LoadError(f"manifest: {where}: {error.args[0]}") from None
    for dim in shape:
        if (dim is not None and not isinstance(dim, (int, str))) or (isinstance(dim, int) and dim < 0):
            raise LoadError(f"manifest: {where}: dimension {dim!r} is no size, name or null")
    param = None
    if data.get("kind", "input") == "param":
        param = data.get("param", params)
        params += 1
    scalar = bool(data.get("scalar", False))
    if scalar and shape:
        raise LoadError(f"manifest: {where}: a scalar has no dimensions")
    return Spec(data.get("name") or f"arg{position}", dtype, shape, scalar, param), params


def read_entry(name: str, data: Mapping[str, Any], param_count: int) -> Signature:
    """The signature of one of the manifest's entries. Raises ``LoadError`` when it is malformed."""
    args: list[Spec] = []
    params = 0
    for position, arg in enumerate(data.get("args", ())):
        spec, params = _spec(arg, f"entry '{name}', argument {position}", position, params)
        if spec.param is not None and not (isinstance(spec.param, int) and 0 <= spec.param < param_count):
            raise LoadError(f"manifest: entry '{name}', argument {position}: there is no parameter {spec.param}")
        args.append(spec)
    results = tuple(
        _spec(result, f"entry '{name}', result {position}", position, 0)[0]
        for position, result in enumerate(data.get("results", ()))
    )
    bounds = {dim: Bounds(**limits) for dim, limits in data.get("dims", {}).items()}
    conditions = tuple(Condition.read(one, f"entry '{name}'") for one in data.get("conditions", ()))
    return Signature(name, data.get("symbol", f"kc_entry_{name}"), tuple(args), results, bounds, conditions)
