"""What a kernel of given compute ops would contain: cheap ops cloned into it, its arguments and its results."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from kc import params
from kc.bindings import ir
from kc.kernels.graph import BlockGraph, Role
from kc.kernels.shapes import DYNAMIC
from kc.kernels.views import static_slice


@dataclasses.dataclass(frozen=True)
class Closure:
    """All ops a kernel contains (members and what is cloned into it), its leaves and its results."""

    ops: tuple[int, ...]  # numbers of this block's ops, in order
    outside: tuple[ir.Operation, ...]  # cheap ops of enclosing blocks (constants), operands first
    leaves: tuple[ir.Value, ...]
    results: tuple[ir.Value, ...]


class Closures:
    """Closures and dependences of sets of compute ops of one block."""

    def __init__(self, graph: BlockGraph) -> None:
        self.graph = graph
        self._producers: list[tuple[int, ...]] = []  # of the first so many ops
        self._users: dict[int, tuple[int, ...]] = {}
        self._last: tuple[tuple[int, ...], Closure] | None = None

    def closure(self, members: Iterable[int]) -> Closure:
        """Members, the cheap ops they need, leaves in order of first use and the results needed elsewhere."""
        key = tuple(members)
        if self._last is None or self._last[0] != key:
            self._last = key, self._closure(key)
        return self._last[1]

    def _closure(self, members: tuple[int, ...]) -> Closure:
        graph, inside = self.graph, set(members)
        ops = set(inside)
        outside: dict[ir.Value, ir.Operation] = {}
        leaves: dict[ir.Value, None] = {}

        known: dict[int, bool] = {}  # whether an op goes inside

        def need(first: ir.Value) -> None:
            stack = [first]
            while stack:
                value = stack.pop()
                number = graph.definition.get(value)
                if number is None:
                    if is_outer_constant(value):
                        outside.setdefault(value, value.owner.operation)
                    else:
                        leaves.setdefault(value)
                elif number not in ops:
                    if self._goes_inside(number, inside, known):
                        ops.add(number)
                        stack.extend(reversed(graph.uses[number]))
                    else:
                        leaves.setdefault(value)

        for member in sorted(inside):
            for value in graph.uses[member]:
                need(value)
        for leaf in [leaf for leaf in leaves if not isinstance(leaf.type, ir.ShapedType)]:
            number = graph.definition.get(leaf)
            if number is None or graph.ops[number].name != "tensor.dim" or graph.ops[number].operands[0] not in leaves:
                continue
            del leaves[leaf]  # the extent of an argument: read there, not passed beside it
            ops.add(number)
            need(graph.ops[number].operands[1])
        results = [r for m in sorted(inside) for r in graph.ops[m].results if self._needed_outside(r, inside)]
        return Closure(tuple(sorted(ops)), tuple(outside.values()), tuple(leaves), tuple(results))

    def _goes_inside(self, number: int, inside: set[int], known: dict[int, bool]) -> bool:
        """Whether an op that is no member is cloned into the kernel; remembered in ``known``."""
        found = known.get(number)
        if found is None:
            role, op = self.graph.roles[number], self.graph.ops[number]
            if role is Role.SCALAR:
                found = self._clones(number, inside, known)
            elif role is Role.VIEW:
                # a static slice outside would be strided, and a strided argument is copied
                found = op.name == "tensor.extract_slice" and self._static_slice(number)
                found = found or self._is_inside(op.operands[0], inside)
            else:
                found = role is Role.CHEAP
            known[number] = found
        return found

    def _clones(self, number: int, inside: set[int], known: dict[int, bool]) -> bool:
        """Whether a scalar op is repeated inside the kernel rather than passed by value."""
        op = self.graph.ops[number]
        if op.name == "arith.constant":
            return not isinstance(op.results[0].type, ir.ShapedType) or is_splat(op)
        if op.name in ("tensor.empty", "tensor.extract"):
            return True
        if op.name == "tensor.dim":
            return self._is_inside(op.operands[0], inside)
        for value in self.graph.uses[number]:
            source = self.graph.definition.get(value)
            if source is None:
                if not is_outer_constant(value):
                    return False
            elif self.graph.roles[source] is not Role.SCALAR or not self._goes_inside(source, inside, known):
                return False
        return True

    def _is_inside(self, value: ir.Value, inside: set[int]) -> bool:
        """Whether a tensor is computed inside the kernel (by a member or a cheap op, perhaps through views)."""
        number = self.graph.definition.get(value)
        while number is not None and self.graph.roles[number] is Role.VIEW:
            number = self.graph.definition.get(self.graph.ops[number].operands[0])
        if number is None:
            return False
        made_here = number in inside or self.graph.roles[number] is Role.CHEAP
        return made_here or self.graph.ops[number].name == "tensor.empty"

    def _static_slice(self, number: int) -> bool:
        offsets, _, strides = static_slice(self.graph.ops[number])
        return DYNAMIC not in offsets and DYNAMIC not in strides

    def producers(self, members: Iterable[int]) -> list[int]:
        """The compute ops that the members depend on directly, through cheap ops, views and scalars."""
        return list(dict.fromkeys(p for m in members for p in self._producers_of(m)))

    def _producers_of(self, number: int) -> tuple[int, ...]:
        graph = self.graph
        for op in range(len(self._producers), number + 1):  # sources stand before their users
            found: dict[int, None] = {}
            for value in graph.uses[op]:
                source = graph.definition.get(value)
                if source is None:
                    continue
                if graph.roles[source] is Role.COMPUTE:
                    found[source] = None
                elif graph.roles[source] is not Role.OTHER:
                    found.update(dict.fromkeys(self._producers[source]))
            self._producers.append(tuple(found))
        return self._producers[number]

    def reads_other(self, number: int) -> bool:
        """Whether an op depends, through cheap ops, views and scalars, on an op that stays in the caller."""
        stack, seen = [number], {number}
        while stack:
            for value in self.graph.uses[stack.pop()]:
                source = self.graph.definition.get(value)
                if source is None or source in seen:
                    continue
                seen.add(source)
                if self.graph.roles[source] is Role.OTHER:
                    return True
                if self.graph.roles[source] is not Role.COMPUTE:
                    stack.append(source)
        return False

    def _needed_outside(self, value: ir.Value, inside: set[int]) -> bool:
        stack, seen = [value], {value}
        while stack:
            for user in self.graph.users.get(stack.pop(), ()):
                role = self.graph.roles[user]
                if role is Role.OTHER or (role is Role.COMPUTE and user not in inside):
                    return True
                if role is not Role.COMPUTE:
                    fresh = [result for result in self.graph.ops[user].results if result not in seen]
                    seen.update(fresh)
                    stack.extend(fresh)
        return False

    def users(self, number: int) -> tuple[int, ...]:
        """Users of an op that are not cloned into the user's kernel: compute and other ops; the next effect of an
        effect.
        """
        known = self._users.get(number)
        if known is not None:
            return known
        follower = self.graph.before_effect.get(number)
        found: list[int] = [] if follower is None else [follower]
        stack = list(self.graph.ops[number].results)
        seen: set[int] = set()
        while stack:
            for user in self.graph.users.get(stack.pop(), ()):
                if user in seen:
                    continue
                seen.add(user)
                if self.graph.roles[user] in (Role.COMPUTE, Role.OTHER):
                    found.append(user)
                else:
                    stack.extend(self.graph.ops[user].results)
        self._users[number] = tuple(found)
        return self._users[number]


def is_splat(op: ir.Operation) -> bool:
    """Whether an ``arith.constant`` repeats one value."""
    return params.is_splat(op)


def is_outer_constant(value: ir.Value) -> bool:
    """Whether a value from an enclosing block is a constant that every kernel can repeat."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return False
    op = value.owner.operation
    return not isinstance(op.results[0].type, ir.ShapedType) or is_splat(op)
