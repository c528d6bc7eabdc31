"""Groups the compute ops of a block into kernels.

Ops are visited in block order. Each tries to join the clusters of its producers; a merge stands if the analysis proves that the
whole is still of a fast family, if it pays (``_worthwhile``), and if it closes no cycle between clusters.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from kc.bindings import ir
from kc.kernels import expr as E
from kc.kernels.analysis import draft, operand_of
from kc.kernels.classify import classify, reduces
from kc.kernels.graph import BlockGraph, Role
from kc.kernels.reader import Reader, static_slice
from kc.kernels.shapes import DYNAMIC
from kc.kernels.structured import Unreadable

_ATTENTION_DEPTH = 4  # clusters between the two products of an attention, the score's included


@dataclasses.dataclass(frozen=True)
class Policy:
    """Bounds on what is fused. Neutral to the target."""

    max_ops: int = 256  # compute ops in a kernel
    max_operands: int = 32  # arguments of a kernel, destinations included
    max_recompute: int = 8  # scalar ops computed again for every element of a wider consumer
    max_row: int = 1 << 16  # elements of a row that is kept while it is reduced more than once


@dataclasses.dataclass
class Cluster:
    """Compute ops that form one kernel, and what the analysis says they are."""

    members: list[int]  # in block order
    kernel: E.Kernel

    @property
    def kind(self) -> str:
        return E.kind(self.kernel)


@dataclasses.dataclass(frozen=True)
class Closure:
    """All ops a kernel contains (members and what is cloned into it), its leaves and its results."""

    ops: tuple[int, ...]  # numbers of this block's ops, in order
    outside: tuple[ir.Operation, ...]  # cheap ops of enclosing blocks (constants), operands first
    leaves: tuple[ir.Value, ...]
    results: tuple[ir.Value, ...]


class Clustering:
    """The clusters of one block under ``policy``."""

    def __init__(self, graph: BlockGraph, policy: Policy) -> None:
        self.graph, self.policy = graph, policy
        self.cluster_of: dict[int, Cluster] = {}
        self._producers: dict[int, tuple[int, ...]] = {}
        for number, role in enumerate(graph.roles):
            if role is Role.COMPUTE:
                self._visit(number)

    @property
    def clusters(self) -> list[Cluster]:
        """Every cluster once, by first member."""
        return list({id(c): c for _, c in sorted(self.cluster_of.items())}.values())

    # ------------------------------------------------------------------------------------------------ growing

    def _visit(self, number: int) -> None:
        cluster = Cluster([number], self._analyze([number]))
        self.cluster_of[number] = cluster
        tried: set[int] = set()
        while True:
            candidates = {id(c): c for c in (self.cluster_of[p] for p in self.compute_producers(cluster.members))}
            candidates.pop(id(cluster), None)
            todo = [c for key, c in candidates.items() if key not in tried]
            if not todo:
                self._absorb_attention(cluster)
                return
            producer = max(todo, key=_weight)
            tried.add(id(producer))
            kernel = self._merged(producer, cluster, number)
            if kernel is not None:
                cluster.members = sorted((*cluster.members, *producer.members))
                cluster.kernel = kernel
                for member in producer.members:
                    self.cluster_of[member] = cluster

    def _absorb_attention(self, cluster: Cluster) -> None:
        """Joins the contraction ``cluster`` with the softmax and the score before it if the three are an attention."""
        if not isinstance(cluster.kernel, E.Contraction):
            return
        above: dict[int, Cluster] = {}
        frontier = [cluster]
        for _ in range(_ATTENTION_DEPTH):
            frontier = [c for f in frontier for c in self._producer_clusters(f) if id(c) not in above]
            above.update((id(c), c) for c in frontier)
            frontier = [c for c in frontier if isinstance(c.kernel, (E.Rows, E.Map, E.General))]
        for score in above.values():
            if not isinstance(score.kernel, E.Contraction):
                continue
            between = [c for c in above.values() if c is score or self._depends(c, score, above)]
            members = sorted(m for c in (*between, cluster) for m in c.members)
            if len(members) > self.policy.max_ops or not self._is_convex(members):
                continue
            kernel = self._analyze(members)
            if isinstance(kernel, E.Attention):
                cluster.members, cluster.kernel = members, kernel
                self.cluster_of.update(dict.fromkeys(members, cluster))
                return

    def _producer_clusters(self, cluster: Cluster) -> list[Cluster]:
        found = {id(c): c for c in (self.cluster_of[p] for p in self.compute_producers(cluster.members))}
        found.pop(id(cluster), None)
        return list(found.values())

    def _depends(self, cluster: Cluster, source: Cluster, within: dict[int, Cluster]) -> bool:
        """Whether ``cluster`` uses results of ``source``, directly or through clusters of ``within``."""
        stack, seen = [cluster], {id(cluster)}
        while stack:
            for producer in self._producer_clusters(stack.pop()):
                if producer is source:
                    return True
                if id(producer) in within and id(producer) not in seen:
                    seen.add(id(producer))
                    stack.append(producer)
        return False

    def _is_convex(self, members: list[int]) -> bool:
        """Whether no path leaves ``members`` and comes back."""
        inside = set(members)
        seen: set[int] = set()
        stack = [user for m in members for user in self._direct_users(m) if user not in inside]
        while stack:
            number = stack.pop()
            if number in inside:
                return False
            if number in seen:
                continue
            seen.add(number)
            cluster = self.cluster_of.get(number)
            for member in cluster.members if cluster is not None else (number,):
                seen.add(member)
                stack.extend(self._direct_users(member))
        return True

    def _merged(self, producer: Cluster, consumer: Cluster, number: int) -> E.Kernel | None:
        members = sorted((*producer.members, *consumer.members))
        if len(members) > self.policy.max_ops or isinstance(producer.kernel, E.General):
            return None
        if self._closes_cycle(producer, consumer):
            return None
        kernel = self._analyze(members)
        if isinstance(kernel, E.General) or len(kernel.operands) > self.policy.max_operands:
            return None
        return kernel if self._worthwhile(producer, consumer, number, kernel) else None

    def _worthwhile(self, producer: Cluster, consumer: Cluster, number: int, merged: E.Kernel) -> bool:
        """Whether fusing ``producer`` into ``consumer`` (which holds the op just visited) pays."""
        if isinstance(merged, (E.Contraction, E.Window)) and isinstance(producer.kernel, E.Map):
            if any(self.graph.has_reduction(member) for member in consumer.members) and not self._is_epilogue_side(
                producer, consumer, merged
            ):
                return self._is_dequantisation(producer, merged)
        if isinstance(merged, E.Rows) and not self._rows_pay(merged, producer):
            return False
        if isinstance(producer.kernel, E.Map) and _is_wider(merged, producer.kernel):
            return self._scalar_ops(producer.members) <= self.policy.max_recompute
        return True

    def _is_epilogue_side(self, producer: Cluster, consumer: Cluster, merged: E.Kernel) -> bool:
        """Whether a Map producer feeds the epilogue only: the factors read what they read without it."""
        before, after = _factors(consumer.kernel), _factors(merged)
        return before is not None and after is not None and _shape_of(before) == _shape_of(after)

    def _is_dequantisation(self, producer: Cluster, merged: E.Kernel) -> bool:
        """A short widening of a narrow operand: cheaper to repeat in the contraction than to write out."""
        if len(merged.operands) != 0 and any(o.arg in _loads(merged) for o in _outputs(merged)):
            return False
        results = {str(self.graph.ops[m].results[0].type) for m in producer.members}
        closure = self.closure(producer.members)
        if len(closure.results) != 1 or self._scalar_ops(producer.members) > self.policy.max_recompute or not results:
            return False
        wide = closure.results[0]
        if wide in self.closure(sorted((*producer.members, *self._user_members(wide)))).results:
            return False
        from kc.kernels.graph import bits

        tensors = [leaf for leaf in closure.leaves if isinstance(leaf.type, ir.ShapedType)]
        biggest = max(tensors, key=lambda v: ir.ShapedType(v.type).rank, default=None)
        calls = any(item.name.startswith("math.") for m in producer.members for item in self._body(m))
        return biggest is not None and bits(biggest.type) < bits(wide.type) and not calls

    def _user_members(self, value: ir.Value) -> list[int]:
        return [user for user in self.graph.users.get(value, ()) if user in self.cluster_of]

    def _body(self, number: int) -> tuple:
        form = self.graph.form(number)
        return form.body if form is not None else ()

    def _scalar_ops(self, members: Iterable[int]) -> int:
        return sum(len(self._body(member)) for member in members)

    def _rows_pay(self, rows: E.Rows, producer: Cluster) -> bool:
        columns = range(len(rows.dims) - rows.ncols, len(rows.dims))
        folds = reduces(rows.outputs)
        wide = [o for o in rows.outputs if any(c.dim in columns for c in o.coords)]
        if len(folds) == 1 and not wide:
            return True  # a plain reduction with its argument computed on the way
        length = 1
        for column in columns:
            length *= rows.dims[column].size or 1
        if length > self.policy.max_row:
            return False
        last = len(rows.dims) - 1
        for output in wide:
            if output.coords[-1].dim not in (last, None):
                return False
        for output in rows.outputs:
            for node in E.walk(output.expr):
                if isinstance(node, E.Load) and any(c.dim in columns for c in node.coords):
                    if node.coords[-1].dim not in (last, None):
                        return False
        return True

    # ----------------------------------------------------------------------------------------------- analysis

    def _analyze(self, members: list[int]) -> E.Kernel:
        closure = self.closure(members)
        numbers: dict[ir.Value, int] = {}
        leaves = set(closure.leaves)

        def leaf(value: ir.Value) -> int | None:
            return numbers.setdefault(value, len(numbers)) if value in leaves else None

        ops = [*closure.outside, *(self.graph.ops[number] for number in closure.ops)]
        for value in closure.leaves:
            leaf(value)
        count = len(numbers)
        operands = tuple(operand_of(value) for value in closure.leaves) + tuple(
            operand_of(value, True, i) for i, value in enumerate(closure.results)
        )
        out_args = range(count, count + len(closure.results))
        if not all(isinstance(value.type, ir.RankedTensorType) for value in closure.results):
            return E.General("", operands, "a result that is not a tensor")
        try:
            reader = Reader(ops, leaf, self.graph.cache, dict(zip(closure.results, out_args, strict=True)))
            return classify(draft(reader, "", operands, closure.results, out_args))
        except Unreadable as error:
            return E.General("", operands, str(error))

    def closure(self, members: Iterable[int]) -> Closure:
        """Members, the cheap ops they need, leaves in order of first use and the results needed elsewhere."""
        graph = self.graph
        inside = set(members)
        ops: set[int] = set(inside)
        outside: dict[ir.Value, ir.Operation] = {}
        leaves: dict[ir.Value, None] = {}

        def need(value: ir.Value) -> None:
            number = graph.definition.get(value)
            if number is None:
                if _is_outer_scalar(value):
                    outside.setdefault(value, value.owner.operation)
                else:
                    leaves.setdefault(value)
                return
            if number in ops:
                return
            role = graph.roles[number]
            if role is Role.CHEAP or (role is Role.SCALAR and self._clones(number, inside)) or (role is Role.VIEW and self._is_inside(graph.ops[number].operands[0], inside)) or (graph.ops[number].name == "tensor.extract_slice" and self._static_slice(number)):
                pass
            else:
                leaves.setdefault(value)
                return
            ops.add(number)
            for operand in graph.uses[number]:
                need(operand)

        for member in sorted(inside):
            for value in graph.uses[member]:
                need(value)
        for leaf in [leaf for leaf in leaves if not isinstance(leaf.type, ir.ShapedType)]:
            number = graph.definition.get(leaf)
            if number is not None and graph.ops[number].name == "tensor.dim" and graph.ops[number].operands[0] in leaves:
                del leaves[leaf]  # the extent of an argument: read there, not passed beside it
                ops.add(number)
                need(graph.ops[number].operands[1])
        results = [r for m in sorted(inside) for r in graph.ops[m].results if self._needed_outside(r, inside)]
        return Closure(tuple(sorted(ops)), tuple(outside.values()), tuple(leaves), tuple(results))

    def _clones(self, number: int, inside: set[int]) -> bool:
        """Whether a scalar op is repeated inside the kernel rather than passed by value."""
        op = self.graph.ops[number]
        if op.name == "arith.constant":
            return not isinstance(op.results[0].type, ir.ShapedType) or _is_splat(op)
        if op.name in ("tensor.empty", "tensor.extract"):
            return True
        if op.name == "tensor.dim":
            return self._is_inside(op.operands[0], inside)
        return all(self._clones_value(value, inside) for value in self.graph.uses[number])

    def _clones_value(self, value: ir.Value, inside: set[int]) -> bool:
        number = self.graph.definition.get(value)
        if number is None:
            return _is_outer_scalar(value)
        return self.graph.roles[number] is Role.SCALAR and self._clones(number, inside)

    def _is_inside(self, value: ir.Value, inside: set[int]) -> bool:
        """Whether a tensor is computed inside the kernel (by a member or a cheap op, perhaps through views)."""
        number = self.graph.definition.get(value)
        while number is not None and self.graph.roles[number] is Role.VIEW:
            number = self.graph.definition.get(self.graph.ops[number].operands[0])
        if number is None:
            return False
        return number in inside or self.graph.roles[number] is Role.CHEAP or self.graph.ops[number].name == "tensor.empty"

    def _static_slice(self, number: int) -> bool:
        offsets, _, strides = static_slice(self.graph.ops[number])
        return DYNAMIC not in offsets and DYNAMIC not in strides

    # -------------------------------------------------------------------------------------------------- edges

    def compute_producers(self, members: Iterable[int]) -> list[int]:
        """The compute ops that the members depend on directly, through cheap ops, views and scalars."""
        return list(dict.fromkeys(p for m in members for p in self._producers_of(m)))

    def _producers_of(self, number: int) -> tuple[int, ...]:
        known = self._producers.get(number)
        if known is None:
            found: dict[int, None] = {}
            for value in self.graph.uses[number]:
                source = self.graph.definition.get(value)
                if source is None:
                    continue
                if self.graph.roles[source] is Role.COMPUTE:
                    found[source] = None
                elif self.graph.roles[source] is not Role.OTHER:
                    found.update(dict.fromkeys(self._producers_of(source)))
            known = tuple(found)
            self._producers[number] = known
        return known

    def _needed_outside(self, value: ir.Value, inside: set[int]) -> bool:
        stack = [value]
        seen: set[ir.Value] = set()
        while stack:
            current = stack.pop()
            for user in self.graph.users.get(current, ()):
                role = self.graph.roles[user]
                if role is Role.OTHER or (role is Role.COMPUTE and user not in inside):
                    return True
                if role in (Role.CHEAP, Role.VIEW, Role.SCALAR):
                    for result in self.graph.ops[user].results:
                        if result not in seen:
                            seen.add(result)
                            stack.append(result)
        return False

    def _closes_cycle(self, producer: Cluster, consumer: Cluster) -> bool:
        """Whether some path leads from ``producer`` to ``consumer`` through an op of neither."""
        goal = set(consumer.members)
        last = max(goal)
        seen: set[int] = set()
        stack = [user for m in producer.members for user in self._direct_users(m)]
        stack = [user for user in stack if user not in goal and user not in producer.members]
        while stack:
            number = stack.pop()
            if number in seen:
                continue
            seen.add(number)
            if number in goal:
                return True
            if number in producer.members:
                continue
            cluster = self.cluster_of.get(number)
            for member in cluster.members if cluster is not None else (number,):
                seen.add(member)
                stack.extend(u for u in self._direct_users(member) if u <= last or u in self.cluster_of)
        return False

    def _direct_users(self, number: int) -> list[int]:
        """Users of an op that are not cloned into the user's kernel: compute and other ops."""
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
        return found


def _weight(cluster: Cluster) -> int:
    return {"attention": 5, "contraction": 4, "window": 4, "rows": 3, "map": 2, "general": 0}[cluster.kind]


def _outputs(kernel: E.Kernel) -> tuple[E.Output, ...]:
    return getattr(kernel, "outputs", ())


def _loads(kernel: E.Kernel) -> set[int]:
    return {n.arg for o in _outputs(kernel) for n in E.walk(o.expr) if isinstance(n, E.Load)}


def _factors(kernel: E.Kernel) -> tuple[E.Expr, ...] | None:
    if isinstance(kernel, E.Contraction):
        return kernel.lhs, kernel.rhs
    if isinstance(kernel, E.Window):
        return (kernel.body,)
    return None


def _shape_of(factors: tuple[E.Expr, ...]) -> list[list[tuple[str, str]]]:
    """What the factors compute, without argument numbers: enough to see whether a prologue was added."""
    return [[(type(n).__name__, getattr(n, "op", "")) for n in E.walk(factor)] for factor in factors]


def _is_wider(merged: E.Kernel, part: E.Kernel) -> bool:
    """Whether the merged kernel loops over more dims than ``part`` did."""
    return len(getattr(merged, "dims", ())) > len(getattr(part, "dims", ()))


def _is_splat(op: ir.Operation) -> bool:
    attribute = op.attributes["value"]
    return isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat


def _is_outer_scalar(value: ir.Value) -> bool:
    """Whether a value from an enclosing block is a constant that every kernel can repeat."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return False
    op = value.owner.operation
    return not isinstance(op.results[0].type, ir.ShapedType) or _is_splat(op)



