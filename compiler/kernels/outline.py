"""Moves clusters into kernel functions and replaces them by calls, in destination-passing style."""
from __future__ import annotations

import heapq

from kc.bindings import ir
from kc.kernels import named
from kc.kernels.closure import Closure
from kc.kernels.cluster import Cluster, Clustering
from kc.kernels.destinations import Destination, copy_into_slice, destinations_of, separate_fills
from kc.kernels.graph import BlockGraph, Role, walk_nested


class Outliner:
    """Outlines the clusters of one block. ``names`` holds the module's symbols and gives fresh ones."""

    def __init__(self, graph: BlockGraph, clustering: Clustering, prefix: str, names: set[str]) -> None:
        self.graph, self.clustering, self.prefix, self.names = graph, clustering, prefix, names
        self.replaced: dict[ir.Value, ir.Value] = {}
        self._number = 0  # of the next kernel, if that is free
        self.closures = {id(c): clustering.closures.closure(c.members) for c in clustering.clusters}
        self.destinations = {id(c): destinations_of(graph, self.closures[id(c)]) for c in clustering.clusters}

    def run(self, module_block: ir.Block) -> list[ir.Operation]:
        """Rewrites the block and returns the kernel functions, which stand at the end of ``module_block``."""
        graph = self.graph
        terminator = graph.ops[graph.terminator]
        functions: list[ir.Operation] = []
        dead: set[int] = set()
        for item in self._order():
            if isinstance(item, int):
                graph.ops[item].move_before(terminator)
                continue
            functions.append(self._outline(item, module_block, terminator))
            dead.update(item.members)
        for old, new in self.replaced.items():
            old.replace_all_uses_with(new)
        # Members and the cheap ops between them go together, users first: a member may be used by a cheap op.
        for number in reversed(range(graph.terminator)):
            op = graph.ops[number]
            unused = _removable(op) and not any(list(result.uses) for result in op.results)
            if number in dead or unused:
                op.erase()
        return functions

    # -------------------------------------------------------------------------------------------------- order

    def _order(self) -> list[int | Cluster]:
        """Clusters and remaining ops, sorted so that definitions come before uses and else as before."""
        graph = self.graph
        nodes: list[int | Cluster] = []
        node_of: dict[int, int] = {}
        for number in range(graph.terminator):
            if graph.roles[number] is Role.COMPUTE:
                cluster = self.clustering.cluster_of[number]
                if cluster.members[0] == number:
                    for member in cluster.members:
                        node_of[member] = len(nodes)
                    nodes.append(cluster)
            else:
                node_of[number] = len(nodes)
                nodes.append(number)
        needs: list[set[int]] = [set() for _ in nodes]
        for position, node in enumerate(nodes):
            values = graph.uses[node] if isinstance(node, int) else self._needs(node)
            for value in values:
                source = graph.definition.get(value)
                if source is not None:
                    needs[position].add(node_of[source])
            if isinstance(node, int) and node in graph.after_effect:
                needs[position].add(node_of[graph.after_effect[node]])
            needs[position].discard(position)
        users: list[list[int]] = [[] for _ in nodes]
        for position, sources in enumerate(needs):
            for source in sources:
                users[source].append(position)
        rank = [node if isinstance(node, int) else node.members[-1] for node in nodes]
        ready = [(rank[p], p) for p in range(len(nodes)) if not needs[p]]
        heapq.heapify(ready)
        order: list[int | Cluster] = []
        left = [len(sources) for sources in needs]
        while ready:
            _, position = heapq.heappop(ready)
            order.append(nodes[position])
            for user in users[position]:
                left[user] -= 1
                if left[user] == 0:
                    heapq.heappush(ready, (rank[user], user))
        if len(order) != len(nodes):
            raise AssertionError("clusters depend on each other in a cycle")
        return order

    def _needs(self, cluster: Cluster) -> list[ir.Value]:
        values = list(self.closures[id(cluster)].leaves)
        for destination in self.destinations[id(cluster)]:
            if destination.caller is not None:
                values.append(destination.caller)
            if destination.empty is not None:
                values.extend(destination.empty.operands)
            if destination.like is not None:
                values.append(destination.like)
        return values

    # ------------------------------------------------------------------------------------------------ outline

    def _outline(self, cluster: Cluster, module_block: ir.Block, before: ir.Operation) -> ir.Operation:
        from kc.bindings import func

        closure, destinations = self.closures[id(cluster)], self.destinations[id(cluster)]
        only_init = {d.caller for d in destinations if d.caller is not None and not self._read(closure, d)}
        leaves = [leaf for leaf in closure.leaves if leaf not in only_init]
        location = self.graph.ops[cluster.members[-1]].location
        types = [leaf.type for leaf in leaves] + [d.result.type for d in destinations]
        results = [d.result.type for d in destinations]
        name = self._fresh_name()
        with location:
            function = func.FuncOp(
                name, ir.FunctionType.get(types, results), visibility="private", ip=ir.InsertionPoint(module_block)
            )
        function.attributes["kc.kernel"] = ir.UnitAttr.get()
        function.attributes["kc.kind"] = ir.StringAttr.get(cluster.kind)
        entry = function.add_entry_block([location] * len(types))
        self._fill_body(entry, closure, leaves, destinations)
        with ir.InsertionPoint(before), location:
            operands = [self.replaced.get(leaf, leaf) for leaf in leaves]
            operands += [self._destination_value(d, before) for d in destinations]
            call = func.CallOp(results, ir.FlatSymbolRefAttr.get(name), operands)
        for destination, new in zip(destinations, call.operation.results, strict=True):
            self.replaced[destination.result] = new
        return function.operation

    def _read(self, closure: Closure, destination: Destination) -> bool:
        """Whether the destination's old contents are also read other than as its op's init."""
        owner = self.graph.definition[destination.result]
        uses = 0
        for number in closure.ops:
            for value in self.graph.uses[number]:
                if value == destination.caller:
                    op = self.graph.ops[number]
                    uses += sum(operand == value for operand in op.operands)
                    uses += 2 * (value not in list(op.operands))
                    uses += number != owner
        return uses > 1

    def _destination_value(self, destination: Destination, before: ir.Operation) -> ir.Value:
        from kc.bindings import arith, tensor

        if destination.caller is not None:
            return self.replaced.get(destination.caller, destination.caller)
        if destination.empty is not None:
            clone = destination.empty.clone(ip=ir.InsertionPoint(before))
            for number, operand in enumerate(destination.empty.operands):
                clone.operation.operands[number] = self.replaced.get(operand, operand)
            return clone.operation.results[0]
        shape = ir.RankedTensorType(destination.result.type)
        if destination.like is not None:
            like = self.replaced.get(destination.like, destination.like)
            index = ir.IndexType.get()
            axes = [axis for axis in range(shape.rank) if shape.is_dynamic_dim(axis)]
            places = [arith.ConstantOp(index, axis).result for axis in axes]
            extents = [tensor.DimOp(like, place).result for place in places]
            return ir.Operation.create("tensor.empty", [shape], extents).results[0]
        return tensor.EmptyOp(list(shape.shape), shape.element_type).operation.results[0]

    def _fill_body(self, entry: ir.Block, closure: Closure, leaves: list[ir.Value],
                   destinations: tuple[Destination, ...]) -> None:  # fmt: skip
        from kc.bindings import func

        mapping: dict[ir.Value, ir.Value] = dict(zip(leaves, entry.arguments, strict=False))
        out_args = list(entry.arguments)[len(leaves) :]
        destination_of = {d.result: (d, arg) for d, arg in zip(destinations, out_args, strict=True)}
        for d, arg in destination_of.values():
            if d.caller is not None and d.caller not in mapping:
                mapping[d.caller] = arg
        point = ir.InsertionPoint(entry)
        cloned: list[ir.Operation] = []
        for op in [*closure.outside, *(self.graph.ops[number] for number in closure.ops)]:
            clone = op.clone(ip=point).operation
            _remap(clone, mapping)
            cloned.append(clone)
            for position, (old, new) in enumerate(zip(op.results, clone.results, strict=True)):
                mapping[old] = new
                if old in destination_of:
                    self._bind(op, clone, position, *destination_of[old], mapping)
        separate_fills(cloned)
        cloned.extend(copy_into_slice(op) for op in cloned if op.name == "tensor.insert_slice")
        returned = []
        for d, arg in destination_of.values():
            value = mapping[d.result]
            if d.init is None:
                with point, d.result.owner.location:
                    value = named.copy(value, arg)
            returned.append(value)
        with point, entry.owner.location:
            func.ReturnOp(returned)
        for op in reversed(cloned):
            if _removable(op) and not any(list(result.uses) for result in op.results):
                op.erase()

    def _bind(self, op: ir.Operation, clone: ir.Operation, position: int, destination: Destination, arg: ir.Value,
              mapping: dict[ir.Value, ir.Value]) -> None:  # fmt: skip
        if destination.init is None:
            return
        value = arg
        for fill in reversed(destination.fills):
            again = fill.clone(ip=ir.InsertionPoint(clone)).operation
            _remap(again, mapping)
            again.operands[1] = value
            value = again.results[0]
        clone.operands[destination.init] = value

    def _fresh_name(self) -> str:
        while f"{self.prefix}_k{self._number}" in self.names:
            self._number += 1
        name = f"{self.prefix}_k{self._number}"
        self.names.add(name)
        return name


def _removable(op: ir.Operation) -> bool:
    return op.name.startswith(("tensor.", "arith.", "math.", "complex.", "linalg.", "index.")) and len(op.results) > 0


def _remap(op: ir.Operation, mapping: dict[ir.Value, ir.Value]) -> None:
    """Replaces operands of ``op`` and of the ops in its regions."""
    for inner in walk_nested(op):
        for number, operand in enumerate(inner.operands):
            new = mapping.get(operand)
            if new is not None:
                inner.operands[number] = new
