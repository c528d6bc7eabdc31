"""FX graphs made ready for the importer: plain tensors in, plain tensors out, everything else in a plan.

torch-mlir's importer takes a graph whose inputs and outputs are tensors. Real graphs (from ``torch.export`` or
AOTAutograd) also carry symbolic integers, ``None`` outputs, outputs that are inputs, and constants. ``prepare``
takes those out of the graph and records in a ``Plan`` how to put them back around each call.
"""
from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import is_symbolic

from kc.errors import UnsupportedError


@dataclasses.dataclass(frozen=True)
class Output:
    """Where one output of the original graph comes from.

    ``kind`` and ``value``: ``result`` (position among the compiled results), ``input`` (position among the original
    inputs), ``constant`` (the value itself), ``symint`` (position among the results of ``Plan.symints``).
    """

    kind: str
    value: Any


@dataclasses.dataclass
class Plan:
    """How to call a prepared graph as the original one.

    ``inputs``: positions, among the original inputs, of what the prepared graph takes, in order. ``integers``: indices
    into ``inputs`` of integers that are the extent of no tensor; they are passed as extents of empty ones.
    ``symints``: computes the symbolic-integer outputs from the original inputs, or None when there are none.
    """

    inputs: list[int]
    outputs: list[Output]
    integers: tuple[int, ...] = ()
    symints: Callable[..., tuple[int, ...]] | None = None

    def arguments(self, inputs: Sequence[Any]) -> list[Any]:
        """What the prepared graph takes, from the original inputs."""
        device = next((t.device for t in inputs if isinstance(t, torch.Tensor)), None)
        taken = [inputs[i] for i in self.inputs]
        for index in self.integers:
            taken[index] = torch.empty((taken[index], 0), device=device)
        return [t.detach() if isinstance(t, torch.Tensor) else t for t in taken]

    def restore(self, results: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """The original graph's outputs, from the compiled results and the original inputs."""
        numbers = self.symints(*inputs) if self.symints else ()
        sources = {"result": results, "input": inputs, "symint": numbers}
        return [o.value if o.kind == "constant" else sources[o.kind][o.value] for o in self.outputs]


def distinct(tensors: Sequence[Any]) -> list[Any]:
    """``tensors`` with every repeated object copied: ``torch.export`` would bind all its uses to the last one."""
    seen: set[int] = set()
    result = []
    for value in tensors:
        if isinstance(value, torch.Tensor):
            if id(value) in seen:
                value = value.clone()
            seen.add(id(value))
        result.append(value)
    return result


def prepare(graph: torch.fx.Graph, order: Sequence[str] | None = None) -> tuple[torch.fx.Graph, Plan]:
    """A copy of ``graph`` that takes and returns tensors only, and the plan to call it.

    ``order``: names of the placeholders in the order wanted (default: as they are); those left out must be unused.
    """
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    by_name = {node.name: node for node in inputs}
    position = {node.name: index for index, node in enumerate(inputs)}
    chosen = [by_name[name] for name in order] if order is not None else inputs

    new = torch.fx.Graph()
    mapping: dict[torch.fx.Node, torch.fx.Node] = {}
    tensors = [node for node in chosen if isinstance(node.meta.get("val"), torch.Tensor)]
    sizes = {node: _size_in(tensors, node) for node in inputs if _is_used_integer(node)}
    taken = [node for node in chosen if node in tensors or (node in sizes and sizes[node] is None)]
    carriers = {}
    for node in taken:
        if node in tensors:
            mapping[node] = new.node_copy(node)
        else:
            carriers[node] = _empty_of_extent(new, node, tensors)
    for node, found in sizes.items():
        if found is not None or node in carriers:
            tensor, axis = (mapping[found[0]], found[1]) if found is not None else (carriers[node], 0)
            mapping[node] = new.call_function(torch.ops.aten.sym_size.int, (tensor, axis))
            mapping[node].meta = dict(node.meta)
    missing = [node.name for node in inputs if node not in mapping and node.users]
    if missing:
        raise UnsupportedError(
            f"graph input {', '.join(missing)} is neither a tensor nor an integer; pass it as a 0-d tensor"
        )
    # An unused input with an entry in the mapping (never looked up) is not copied as an input again.
    outputs = new.graph_copy(graph, mapping | {node: None for node in inputs if node not in mapping})
    original = next(node for node in graph.nodes if node.op == "output").args[0]
    original = list(original) if isinstance(original, (list, tuple)) else [original]
    copied = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]

    plan: list[Output] = []
    results: list[torch.fx.Node] = []
    numbers: list[torch.fx.Node] = []
    for old, node in zip(original, copied, strict=True):
        if not isinstance(old, torch.fx.Node):
            plan.append(Output("constant", old))
        elif old.op == "placeholder":
            plan.append(Output("input", position[old.name]))
        elif isinstance(old.meta.get("val"), (int, float, bool)) or _is_number(old):
            plan.append(Output("symint", len(numbers)))
            numbers.append(old)
        else:
            plan.append(Output("result", len(results)))
            results.append(node)
    new.output(tuple(results))
    new.eliminate_dead_code()
    for node in new.nodes:  # kc's target decides where things live; the importer knows the CPU only
        node.args = torch.fx.node.map_aggregate(node.args, _on_cpu)
        node.kwargs = torch.fx.node.map_aggregate(node.kwargs, _on_cpu)
    _promote_unsigned(new)
    new.lint()
    symints = _symint_function(graph, numbers) if numbers else None
    integers = tuple(index for index, node in enumerate(taken) if node in carriers)
    return new, Plan([position[node.name] for node in taken], plan, integers, symints)


def _on_cpu(value: Any) -> Any:
    return torch.device("cpu") if isinstance(value, torch.device) else value


def _promote_unsigned(graph: torch.fx.Graph) -> None:
    """Write out the promotion of unsigned bytes that meet another type: the importer would extend their sign."""
    for node in list(graph.nodes):
        if node.op != "call_function" or torch.Tag.pointwise not in getattr(node.target, "tags", ()):
            continue
        tensors = [a for a in node.args if isinstance(a, torch.fx.Node) and isinstance(a.meta.get("val"), torch.Tensor)]
        values = [a.meta["val"] for a in tensors if a.meta["val"].dtype != torch.bool]
        bytes_ = [a for a in tensors if a.meta["val"].dtype == torch.uint8]
        others = [v for v in values if v.dtype != torch.uint8]
        if not bytes_ or not others:
            continue
        for argument in bytes_:
            value = argument.meta["val"]
            dtype = functools.reduce(torch.promote_types, (torch.result_type(value, other) for other in others))
            if dtype == torch.uint8:
                continue
            with graph.inserting_before(node):
                wide = graph.call_function(torch.ops.prims.convert_element_type.default, (argument, dtype))
            with value.fake_mode:
                wide.meta = {**argument.meta, "val": value.to(dtype)}
            wide.meta.pop("tensor_meta", None)
            node.replace_input_with(argument, wide)


def _is_number(node: torch.fx.Node) -> bool:
    return isinstance(node.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool))


def _is_used_integer(node: torch.fx.Node) -> bool:
    return isinstance(node.meta.get("val"), torch.SymInt) and bool(node.users)


def _size_in(tensors: Sequence[torch.fx.Node], node: torch.fx.Node) -> tuple[torch.fx.Node, int] | None:
    """A tensor and the axis of it whose extent is the integer of an input."""
    for tensor in tensors:
        for axis, size in enumerate(tensor.meta["val"].shape):
            if is_symbolic(size) and size.node.expr == node.meta["val"].node.expr:
                return tensor, axis
    return None


def _empty_of_extent(new: torch.fx.Graph, node: torch.fx.Node, tensors: Sequence[torch.fx.Node]) -> torch.fx.Node:
    """An input that brings an integer as the first extent of a tensor without elements.

    Backward graphs take extents of the forward graph that none of their own tensors has.
    """
    value = node.meta["val"]
    modes = [mode for t in tensors if (mode := getattr(t.meta["val"], "fake_mode", None)) is not None]
    carrier = new.placeholder(f"{node.name}_extent")
    with modes[0] if modes else FakeTensorMode(shape_env=value.node.shape_env):
        carrier.meta = {"val": torch.empty((value, 0))}
    return carrier


def _symint_function(graph: torch.fx.Graph, numbers: Sequence[torch.fx.Node]) -> Callable[..., tuple[int, ...]]:
    """A Python function of the original inputs that evaluates the symbolic integers ``numbers``."""
    copy = torch.fx.Graph()
    mapping: dict[torch.fx.Node, torch.fx.Node] = {}
    copy.graph_copy(graph, mapping)
    copy.output(tuple(mapping[node] for node in numbers))
    copy.eliminate_dead_code()
    return torch.fx.GraphModule(torch.nn.Module(), copy).forward


def symbols(graph: torch.fx.Graph) -> list[list[str]]:
    """For each placeholder, its shape as text: a number, or a dynamic size's expression (equal text, equal size)."""
    return [
        [str(size.node.expr) if is_symbolic(size) else str(int(size)) for size in node.meta["val"].shape]
        for node in graph.nodes
        if node.op == "placeholder"
    ]


#: PyTorch's unsigned integers and their names in a signature
_UNSIGNED = {torch.uint8: "ui8", torch.uint16: "ui16", torch.uint32: "ui32", torch.uint64: "ui64"}


def unsigned(graph: torch.fx.Graph) -> tuple[list[str | None], list[str | None]]:
    """For each placeholder and each result, the name of its type when that is an unsigned integer."""
    results = next(node for node in graph.nodes if node.op == "output").args[0]
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    return tuple([_UNSIGNED.get(n.meta["val"].dtype) for n in nodes] for nodes in (inputs, results))  # type: ignore[return-value]
