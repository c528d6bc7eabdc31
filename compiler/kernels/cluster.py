"""Groups the compute ops of a block into kernels.

Ops are visited in block order. Each tries to join the clusters of its producers; a merge stands if the analysis
proves that the whole is still of a fast family, if it pays (``kc.kernels.policy``), and if it closes no cycle between
clusters. """
from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from kc.bindings import ir
from kc.kernels import expr as E
from kc.kernels.analysis import draft, operand_of
from kc.kernels.classify import classify
from kc.kernels.closure import Closures
from kc.kernels.graph import BlockGraph, Role, bits
from kc.kernels.policy import Policy, adds_prologue, is_wider, rows_pay
from kc.kernels.reader import Reader
from kc.kernels.structured import BodyOp, Structured, Unreadable, plain_dim

_MOST_ANALYSED = 2048  # ops analysed on the way to one kernel: one that grows op by op is analysed again each time
_ATTENTION_DEPTH = 4  # clusters between the two products of an attention, the score's included
_WEIGHT = {"attention": 5, "contraction": 4, "window": 4, "rows": 3, "map": 2, "general": 0}


# Families that a producer cannot be fused into, whatever the ops: asked before an analysis is spent on it.
_PRODUCTS = ("contraction", "window", "attention")
_NEVER: dict[str, tuple[str, ...]] = {
    "map": ("attention",),
    "rows": _PRODUCTS,
    "contraction": (*_PRODUCTS, "rows"),
    "window": (*_PRODUCTS, "rows"),
    "attention": (*_PRODUCTS, "rows"),
    "general": ("map", "rows", *_PRODUCTS, "general"),
}


@dataclasses.dataclass(eq=False)
class Cluster:
    """Compute ops that form one kernel, and what the analysis says they are."""

    members: list[int]  # in block order
    kernel: E.Kernel
    #: tensors with one element per point of the kernel's space, in the order of its loops: what may be fused blindly
    full: set[ir.Value] = dataclasses.field(default_factory=set)
    #: whether members joined blindly since ``kernel`` was found
    pending: bool = False
    #: no fewer than the kernel has operands, and the values that were counted since that was exact
    operands: int = 0
    counted: set[ir.Value] = dataclasses.field(default_factory=set)
    #: ops analysed so far on the way to this kernel
    analysed: int = 0

    @property
    def kind(self) -> E.Kind:
        """The family."""
        return E.kind(self.kernel)


class Clustering:
    """The clusters of one block under ``policy``."""

    def __init__(self, graph: BlockGraph, policy: Policy) -> None:
        self.graph, self.policy = graph, policy
        self.closures = Closures(graph)
        self.cluster_of: dict[int, Cluster] = {}
        self._dynamic: dict[int, bool] = {}
        for number, role in enumerate(graph.roles):
            if role is Role.COMPUTE and not self._follow(number):
                self._visit(number)
        for cluster in self.clusters:
            self._settle(cluster)

    @property
    def clusters(self) -> list[Cluster]:
        """Every cluster once, by first member."""
        return list({id(c): c for _, c in sorted(self.cluster_of.items())}.values())

    # ------------------------------------------------------------------------------------------------ growing

    def _visit(self, number: int) -> None:
        cluster = Cluster([number], E.General("", (), "new"))
        self._found(cluster, [number], self._analyze([number]))
        tried: set[Cluster] = set()
        while True:
            todo = [c for c in self._producer_clusters(cluster) if c not in tried]
            if not todo:
                self._absorb_attention(cluster)
                return
            producer = max(todo, key=lambda c: _WEIGHT[c.kind])
            tried.add(producer)
            kernel = self._merged(producer, cluster)
            if kernel is not None:
                cluster.analysed += producer.analysed
                self._found(cluster, sorted((*cluster.members, *producer.members)), kernel)

    def _found(self, cluster: Cluster, members: list[int], kernel: E.Kernel) -> None:
        cluster.members, cluster.kernel, cluster.pending = members, kernel, False
        cluster.operands, cluster.counted = len(kernel.operands), set()
        self.cluster_of.update(dict.fromkeys(members, cluster))
        loops = len(getattr(kernel, "dims", ()))
        if isinstance(kernel, E.Contraction):
            loops -= len(kernel.k)
        elif isinstance(kernel, E.Window):
            loops -= len(kernel.window)
        results = self.closures.closure(members).results
        cluster.full = {
            value
            for value, output in zip(results, getattr(kernel, "outputs", ()), strict=False)
            if [coord.dim for coord in output.coords] == list(range(loops))
        }

    def _settle(self, cluster: Cluster) -> None:
        """Analyses a cluster that grew blindly."""
        if cluster.pending:
            self._found(cluster, cluster.members, self._analyze(cluster.members))

    def _follow(self, number: int) -> bool:
        """Joins an elementwise op to the cluster it follows, without analysis, where nothing can go wrong.

        All tensors it reads from the cluster are ``full`` and read element for element, it writes one element per
        point, and it depends on no other cluster. Most ops of a real program are of this kind. """
        form = self.graph.form(number)
        if form is None or len(self.graph.ops[number].results) != 1 or any(form.reductions):
            return False
        producers = {self.cluster_of[p] for p in self.closures.producers([number])}
        if len(producers) != 1:
            return False
        cluster = producers.pop()
        if not cluster.full or len(cluster.members) >= self.policy.max_ops:
            return False
        if not self._reads_elementwise(form, cluster) or not self._has_room(cluster, number, form):
            return False
        # a path that leaves the cluster and comes back enters the op through what it reads
        if self.closures.reads_other(number) and self._closes_cycle(cluster, [number]):
            return False
        cluster.members.append(number)
        cluster.pending = True
        cluster.full.add(self.graph.ops[number].results[0])
        self.cluster_of[number] = cluster
        return True

    def _has_room(self, cluster: Cluster, number: int, form: Structured) -> bool:
        """Whether the kernel with ``number`` in it has few enough operands: by a quick bound, else counted."""
        new = set(form.operands[: form.inputs]) - cluster.full - cluster.counted
        cluster.operands += len(new) + 1  # it reads them and is a result
        cluster.counted |= new
        if cluster.operands <= self.policy.max_operands:
            return True
        closure = self.closures.closure((*cluster.members, number))
        cluster.operands = len(closure.leaves) + len(closure.results)
        cluster.counted = set()
        return cluster.operands <= self.policy.max_operands

    def _reads_elementwise(self, form: Structured, cluster: Cluster) -> bool:
        identity = list(range(form.loops))
        if any(not item.pure or item.name == "tensor.extract" for item in form.body) or None in form.maps:
            return False
        if any(kind == "outer" for item in form.body for kind, _ in item.args):
            return False
        if [plain_dim(position) for position in form.maps[-1] or ()] != identity:
            return False
        if any(arg == ("arg", form.arg_of_operand[-1]) for item in form.body for arg in item.args):
            return False  # reads its destination
        follows = False
        for operand, positions in zip(form.operands[: form.inputs], form.maps, strict=False):
            dims = [plain_dim(position) for position in positions or ()]
            if dims == identity and self._widened(operand) in cluster.full:
                follows = True
            elif not (_is_ordered(dims) and self._is_plain(operand)):
                return False
        return follows

    def _widened(self, value: ir.Value) -> ir.Value:
        """What ``value`` is a cast of, element for element, by ops that are repeated in the kernel; else itself."""
        while (number := self.graph.definition.get(value)) is not None and self.graph.roles[number] is Role.CHEAP:
            form = self.graph.form(number)
            if form is None or form.inputs != 1 or len(form.body) != 1 or form.body[0].args != (("arg", 0),):
                break
            identity = list(range(form.loops))
            if any([plain_dim(position) for position in maps or ()] != identity for maps in form.maps):
                break
            value = form.operands[0]
        return value

    def _is_plain(self, value: ir.Value) -> bool:
        """Whether reading ``value`` in the order of its axes reads an argument in that order, or nothing."""
        number = self.graph.definition.get(value)
        while number is not None and self.graph.roles[number] is Role.VIEW:
            if len(self.graph.ops[number].operands) > 1:
                return False  # a position or an extent may be computed from the cluster's own results
            value = self.graph.ops[number].operands[0]
            number = self.graph.definition.get(value)
        if number is None or self.graph.roles[number] is Role.OTHER:
            return True
        if self.graph.ops[number].name in ("linalg.fill", "arith.constant"):
            return True
        form = self.graph.form(number)
        if self.graph.roles[number] is not Role.CHEAP or form is None:
            return False
        inputs = zip(form.operands[: form.inputs], form.maps, strict=False)
        return all(_is_ordered([plain_dim(p) for p in maps or ()]) and self._is_plain(item) for item, maps in inputs)

    def _absorb_attention(self, cluster: Cluster) -> None:
        """Joins the contraction ``cluster`` with the softmax and the score before it if the three are an attention."""
        if not isinstance(cluster.kernel, E.Contraction):
            return
        above: dict[Cluster, None] = {}
        frontier = [cluster]
        for _ in range(_ATTENTION_DEPTH):
            frontier = [c for f in frontier for c in self._producer_clusters(f) if c not in above]
            above.update(dict.fromkeys(frontier))
            frontier = [c for c in frontier if isinstance(c.kernel, (E.Rows, E.Map, E.General))]
        for score in above:
            if not isinstance(score.kernel, E.Contraction):
                continue
            between = [c for c in above if c is score or self._depends(c, score, above)]
            members = sorted(m for c in (*between, cluster) for m in c.members)
            if len(members) > self.policy.max_ops or not self._has_exponential(members):
                continue
            if not self._is_convex(members):
                continue
            kernel = self._analyze(members)
            if isinstance(kernel, E.Attention):
                self._found(cluster, members, kernel)
                return

    def _merged(self, producer: Cluster, consumer: Cluster) -> E.Kernel | None:
        members = sorted((*producer.members, *consumer.members))
        if len(members) > self.policy.max_ops or consumer.kind in _NEVER[producer.kind]:
            return None
        consumer.analysed += len(members)
        if consumer.analysed + producer.analysed > _MOST_ANALYSED:
            return None
        if self._closes_cycle(producer, consumer.members):
            return None
        self._settle(producer)
        kernel = self._analyze(members)
        if isinstance(kernel, E.General) or len(kernel.operands) > self.policy.max_operands:
            return None
        return kernel if self._pays(producer, consumer, kernel) else None

    def _pays(self, producer: Cluster, consumer: Cluster, merged: E.Kernel) -> bool:
        """Whether fusing ``producer`` into ``consumer`` is worth it."""
        if isinstance(producer.kernel, E.Map):
            folds = any(self.graph.has_reduction(member) for member in consumer.members)
            if isinstance(merged, (E.Contraction, E.Window)) and folds and adds_prologue(consumer.kernel, merged):
                return self._is_dequantisation(producer, consumer)
            if is_wider(merged, producer.kernel) and self._scalar_ops(producer) > self.policy.max_recompute:
                return False
        return not isinstance(merged, E.Rows) or rows_pay(merged, self.policy)

    def _is_dequantisation(self, producer: Cluster, consumer: Cluster) -> bool:
        """A short widening of a narrow operand for one user: cheaper to repeat in the contraction than to write out."""
        closure = self.closures.closure(producer.members)
        if len(closure.results) != 1 or self._scalar_ops(producer) > self.policy.max_recompute:
            return False
        (wide,) = closure.results
        if wide in self.closures.closure((*producer.members, *consumer.members)).results:
            return False
        tensors = [leaf for leaf in closure.leaves if isinstance(leaf.type, ir.ShapedType)]
        biggest = max(tensors, key=lambda leaf: ir.ShapedType(leaf.type).rank, default=None)
        calls = any(item.name.startswith("math.") for member in producer.members for item in self._body(member))
        return biggest is not None and bits(biggest.type) < bits(wide.type) and not calls

    def _body(self, number: int) -> tuple[BodyOp, ...]:
        form = self.graph.form(number)
        return form.body if form is not None else ()

    def _has_exponential(self, members: list[int]) -> bool:
        """Whether there can be a softmax among the members: asked before an analysis is spent on it."""
        return any(item.name == "math.exp" for member in members for item in self._body(member))

    def _scalar_ops(self, cluster: Cluster) -> int:
        return sum(len(self._body(member)) for member in cluster.members)

    # ----------------------------------------------------------------------------------------------- analysis

    def _analyze(self, members: list[int]) -> E.Kernel:
        closure = self.closures.closure(members)
        numbers = {value: number for number, value in enumerate(closure.leaves)}
        operands = tuple(operand_of(value) for value in closure.leaves) + tuple(
            operand_of(value, True, i) for i, value in enumerate(closure.results)
        )
        if not all(isinstance(value.type, ir.RankedTensorType) for value in closure.results):
            return E.General("", operands, "a result that is not a tensor")
        if len(closure.ops) > 4 * self.policy.max_ops:
            return E.General("", operands, "too many ops that are repeated in each kernel")
        if self._waits_for(closure.leaves, members):
            return E.General("", operands, "an operand that depends on its own results")
        out_args = range(len(numbers), len(operands))
        destinations = dict(zip(closure.results, out_args, strict=True))
        # Extents matter where shapes are dynamic; equal static ones are equal without being told.
        ops = [self.graph.ops[number] for number in closure.ops if self._is_dynamic(number)]
        try:
            reader = Reader(ops, numbers.get, self.graph.cache, destinations)
            return classify(draft(reader, "", operands, closure.results, out_args))
        except Unreadable as error:
            return E.General("", operands, str(error))

    def _waits_for(self, leaves: Sequence[ir.Value], members: Sequence[int]) -> bool:
        """Whether a leaf is a view or a scalar that depends on one of ``members``: a slice at a computed position."""
        inside = set(members)
        sources = [self.graph.definition.get(leaf) for leaf in leaves]
        outer = [s for s in sources if s is not None and self.graph.roles[s] not in (Role.COMPUTE, Role.OTHER)]
        return not inside.isdisjoint(self.closures.producers(outer))

    def _is_dynamic(self, number: int) -> bool:
        known = self._dynamic.get(number)
        if known is None:
            op = self.graph.ops[number]
            types = [value.type for value in (*op.operands, *op.results)]
            known = any(isinstance(t, ir.RankedTensorType) and not t.has_static_shape for t in types)
            self._dynamic[number] = known
        return known

    # -------------------------------------------------------------------------------------------------- edges

    def _producer_clusters(self, cluster: Cluster) -> list[Cluster]:
        found = dict.fromkeys(self.cluster_of[p] for p in self.closures.producers(cluster.members))
        found.pop(cluster, None)
        return list(found)

    def _depends(self, cluster: Cluster, source: Cluster, within: dict[Cluster, None]) -> bool:
        """Whether ``cluster`` uses results of ``source``, directly or through clusters of ``within``."""
        stack, seen = [cluster], {cluster}
        while stack:
            for producer in self._producer_clusters(stack.pop()):
                if producer is source:
                    return True
                if producer in within and producer not in seen:
                    seen.add(producer)
                    stack.append(producer)
        return False

    def _is_convex(self, members: list[int]) -> bool:
        """Whether no path leaves ``members`` and comes back."""
        inside = set(members)
        return not self._reaches([u for m in members for u in self.closures.users(m) if u not in inside], inside, set())

    def _closes_cycle(self, producer: Cluster, consumers: list[int]) -> bool:
        """Whether some path leads from ``producer`` to ``consumers`` through an op of neither."""
        goal, own = set(consumers), set(producer.members)
        starts = [u for m in producer.members for u in self.closures.users(m) if u not in goal and u not in own]
        return self._reaches(starts, goal, own)

    def _reaches(self, starts: list[int], goal: set[int], skip: set[int]) -> bool:
        """Whether a path through whole clusters leads from ``starts`` to an op in ``goal``, not entering ``skip``.

        Ops behind the goal belong to no cluster yet: no path comes back from there.
        """
        seen: set[int] = set()
        last = max(goal)
        stack = list(starts)
        while stack:
            number = stack.pop()
            if number in goal:
                return True
            if number in seen or number in skip or (number > last and number not in self.cluster_of):
                continue
            cluster = self.cluster_of.get(number)
            for member in cluster.members if cluster is not None else (number,):
                seen.add(member)
                stack.extend(self.closures.users(member))
        return False


def _is_ordered(dims: list[int | None]) -> bool:
    """Whether the axes are distinct loops in order: a broadcast, not a transpose."""
    plain = [dim for dim in dims if dim is not None]
    return len(plain) == len(dims) and plain == sorted(set(plain))
