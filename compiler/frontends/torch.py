"""The PyTorch front end: exported programs and FX graphs to modules at the torch level.

Weights and buffers become function arguments marked ``kc.param`` and travel beside the module as arrays; they are never
literals in the IR. Dynamic dimensions stay dynamic: their names, ranges and conditions (``torch.export.Dim``) go along
as ``kc.dims``, ``kc.sizes`` and ``kc.facts``.
"""
from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind

from kc.bindings import ir
from kc.errors import InputError, UnsupportedError
from kc.frontends import Loaded, fx_graph, torch_decompositions, torch_sizes
from kc.frontends._sizes import Sizes
from kc.params import ParamTable


@dataclasses.dataclass
class TorchProgram:
    """A module at the torch level and what is needed to call it.

    ``module``: one public function ``entry``; its arguments are the tensors of ``plan.inputs``, then the parameters.
    ``params``: the bound parameters, in order. ``states``: (result, tensor) pairs: buffers that a call updates in
    place. ``mutated_inputs``: (result, position among the user inputs) pairs, likewise. ``live``: the tensors of
    ``states``, which follow the user inputs in a call. ``constants``: user inputs that are not tensors, with the
    value that was traced.
    """

    module: ir.Module
    params: list[torch.Tensor]
    plan: fx_graph.Plan
    states: list[tuple[int, torch.Tensor]] = dataclasses.field(default_factory=list)
    mutated_inputs: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    live: list[torch.Tensor] = dataclasses.field(default_factory=list)
    constants: list[tuple[int, Any]] = dataclasses.field(default_factory=list)
    in_spec: Any = None
    out_spec: Any = None

    def loaded(self) -> Loaded:
        """The program as the driver takes it."""
        table = ParamTable.of(self.module.context)
        for number, tensor in enumerate(self.params):
            added = table.add(to_numpy(tensor))
            assert added == number, "parameters are added once, to a table of their own"
        return Loaded(self.module, "torch")


@contextlib.contextmanager
def _plain_modules() -> Iterator[None]:
    """Switch off the fused fast path of ``nn.MultiheadAttention``: it traces to an operator that nobody can read."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def export(
    module: torch.nn.Module, args: Sequence[Any], kwargs: dict[str, Any] | None = None, dynamic_shapes: Any = None
) -> torch.export.ExportedProgram:
    """``torch.export.export`` of ``module``, set up so that what comes out can be compiled.

    Raises InputError when PyTorch cannot export the module with these arguments.
    """
    with torch.no_grad(), _plain_modules():
        try:
            return torch.export.export(
                module, tuple(fx_graph.distinct(args)), kwargs, dynamic_shapes=dynamic_shapes, strict=False
            )
        except Exception as error:
            raise InputError(f"torch.export could not trace {type(module).__name__}: {error}") from error


def load(program: torch.export.ExportedProgram, entry: str = "main") -> TorchProgram:
    """An exported program as a module at the torch level.

    Raises UnsupportedError for inputs that are not tensors and for what the importer does not know.
    """
    told = torch_sizes.of_program(program)
    with torch.no_grad(), _plain_modules():
        program = program.run_decompositions(torch_decompositions.table())
    signature = program.graph_signature
    mutated = {s.target for s in signature.output_specs if s.kind == OutputKind.BUFFER_MUTATION}
    users: list[str] = []
    constants: list[tuple[int, Any]] = []
    bound: list[tuple[str, torch.Tensor]] = []
    live: list[tuple[str, str, torch.Tensor]] = []
    graph_inputs = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    for spec in signature.input_specs:
        name = spec.arg.name
        if spec.kind == InputKind.USER_INPUT:
            if isinstance(spec.arg, ConstantArgument):
                constants.append((len(users), spec.arg.value))
            users.append(name)
        elif spec.kind in (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR):
            tensor = _state(program, spec.target)
            if spec.target in mutated:
                live.append((name, spec.target, tensor))
            elif graph_inputs[name].users:
                bound.append((name, tensor))
        else:
            raise UnsupportedError(f"input '{name}' of the program is a {spec.kind.name.lower()}, not a tensor")

    order = [*users, *(name for name, *_ in live), *(name for name, _ in bound)]
    graph, plan = fx_graph.prepare(program.graph, order)
    position = {node.name: i for i, node in enumerate(n for n in program.graph.nodes if n.op == "placeholder")}
    by_position = {position[name]: index for index, name in enumerate([*users, *(n for n, *_ in live)])}
    plan.inputs = [by_position[p] for p in plan.inputs if p in by_position]

    result = TorchProgram(
        import_graph(graph, entry, len(plan.inputs), told), [tensor for _, tensor in bound], plan,
        in_spec=program.call_spec.in_spec, out_spec=program.call_spec.out_spec,
    )
    result.constants = constants
    result.live = [tensor for *_, tensor in live]
    targets = {target: tensor for _, target, tensor in live}
    kept: list[fx_graph.Output] = []
    for spec, output in zip(signature.output_specs, plan.outputs, strict=True):
        if output.kind == "input":
            output = fx_graph.Output("input", by_position[output.value])
        if spec.kind == OutputKind.USER_OUTPUT:
            kept.append(output)
        elif output.kind != "result":
            continue  # written back unchanged
        elif spec.kind == OutputKind.BUFFER_MUTATION:
            result.states.append((output.value, targets[spec.target]))
        elif spec.kind == OutputKind.USER_INPUT_MUTATION:
            result.mutated_inputs.append((output.value, users.index(spec.target)))
        else:
            raise UnsupportedError(f"the exported program has a {spec.kind.name.lower()} output")
    plan.outputs = kept
    return result


def _state(program: torch.export.ExportedProgram, target: str) -> torch.Tensor:
    """A parameter, buffer or lifted constant by name; non-persistent buffers stand among the constants."""
    for table in (program.state_dict, program.constants):
        if target in table:
            return table[target].detach()
    raise InputError(f"the exported program has no value for '{target}'")


def to_numpy(tensor: torch.Tensor) -> Any:
    """A tensor's values as a NumPy array (``ml_dtypes`` for bfloat16 and float8); shares memory where it can."""
    tensor = tensor.detach().cpu().contiguous()
    names = {torch.bfloat16: "bfloat16", torch.float8_e4m3fn: "float8_e4m3fn", torch.float8_e5m2: "float8_e5m2"}
    if tensor.dtype not in names:
        return tensor.numpy()
    import ml_dtypes

    bits = torch.int16 if tensor.element_size() == 2 else torch.int8
    return tensor.view(bits).numpy().view(getattr(ml_dtypes, names[tensor.dtype]))


def loaded_graph(graph: torch.fx.Graph, inputs: int, entry: str = "main") -> Loaded:
    """A prepared graph whose arguments are all inputs, as the driver takes it."""
    return Loaded(import_graph(graph, entry, inputs), "torch")


def import_graph(
    graph: torch.fx.Graph, entry: str, inputs: int, told: tuple[Sizes, dict[str, str]] | None = None
) -> ir.Module:
    """A prepared graph as a module; arguments from position ``inputs`` on are marked as parameters.

    ``told``: what is known of its sizes, and names of its symbols.
    """
    from kc.bindings import fx_importer
    from kc.context import make_context

    context = make_context()
    importer = fx_importer.FxImporter(context=context)
    owner = graph.owning_module
    try:
        if owner is not None:
            importer.import_graph_module(owner, func_name=entry)
        else:
            importer.import_stateless_graph(graph, func_name=entry)
    except Exception as error:
        raise UnsupportedError(f"torch-mlir could not import the graph: {type(error).__name__}: {error}") from error
    module = importer.module
    functions = {f.operation.attributes["sym_name"].value: f for f in module.body.operations}
    function = functions[entry].operation
    attributes = []
    inputs_unsigned, results_unsigned = fx_graph.unsigned(graph)
    sizes, names = (Sizes(), {}) if told is None else told
    extents = [[torch_sizes.renamed(text, names) for text in texts] for texts in fx_graph.symbols(graph)]
    sizes.take([text for texts in extents for text in texts])
    extents = [sizes.dims(texts) for texts in extents]
    with context:
        for index, dims in enumerate(extents):
            entry_attributes: dict[str, ir.Attribute] = {
                "kc.dims": ir.ArrayAttr.get([ir.StringAttr.get(d) for d in dims]), **_dtype(inputs_unsigned[index])
            }
            if index >= inputs:
                number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), index - inputs)
                entry_attributes["kc.param"] = number
            attributes.append(ir.DictAttr.get(entry_attributes))
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
        for key, attribute in sizes.attributes(extents).items():
            function.attributes[key] = attribute
        results = [ir.DictAttr.get(_dtype(name)) for name in results_unsigned]
        function.attributes["res_attrs"] = ir.ArrayAttr.get(results)
    return module


def _dtype(name: str | None) -> dict[str, ir.Attribute]:
    """The attribute that keeps an unsigned type's name: linalg has integers without signs only."""
    return {} if name is None else {"kc.dtype": ir.StringAttr.get(name)}
