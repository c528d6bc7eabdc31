"""kc for PyTorch: ``kc.torch.compile`` ahead of time, ``torch.compile(module, backend="kc")`` just in time."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from kc.errors import InputError

try:
    import torch
    import torch.utils._pytree as pytree
except ModuleNotFoundError as error:  # pragma: no cover - depends on the installation
    raise InputError("kc.torch needs PyTorch: pip install 'kc[torch]'") from error

from kc import api
from kc.frontends import fx_graph, torch_decompositions
from kc.frontends import torch as frontend


@dataclasses.dataclass
class CompiledModule:
    """A PyTorch module compiled ahead of time; call it like the module.

    Weights are those that the module had when it was compiled. Buffers that the module updates in training mode (batch
    norm's running statistics) are updated in place. ``executable`` is the ``kc.Executable`` beneath.
    """

    executable: api.Executable
    program: frontend.TorchProgram

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The module's result on tensors of the example inputs' dtypes and shapes (dynamic sizes may differ).

        Raises InputError when the structure of the arguments is not that of the example inputs, and
        ``kc.runtime.ArgumentError`` when a tensor does not fit.
        """
        program = self.program
        leaves, spec = pytree.tree_flatten((args, kwargs))
        if spec != program.in_spec:
            raise InputError(f"arguments have the structure {spec}, the example inputs had {program.in_spec}")
        for position, value in program.constants:
            if leaves[position] != value:
                raise InputError(f"argument {position} is {leaves[position]!r}; the module was compiled for {value!r}")
        inputs = [*leaves, *program.live]
        tensors = program.plan.arguments(inputs)
        results = self.executable(*tensors)
        with torch.no_grad():
            for index, state in program.states:
                state.copy_(results[index])
            for index, position in program.mutated_inputs:
                leaves[position].copy_(results[index])
        return pytree.tree_unflatten(program.plan.restore(results, inputs), program.out_spec)


def compile(
    module: torch.nn.Module | torch.export.ExportedProgram,
    example_inputs: Sequence[Any],
    target: str = "cpu",
    *,
    dynamic_shapes: Any = None,
    agents: Sequence[Any] = (),
    options: Any = None,
    **taking_part: Any,
) -> CompiledModule:
    """Compile ``module`` for the shapes and dtypes of ``example_inputs``.

    ``dynamic_shapes``: as ``torch.export.export`` takes it; those sizes may differ from call to call. ``agents``,
    ``options`` and what else there is (``ledger``, ``ledger_mode``, ``timing``): as in ``kc.compile``.
    Raises InputError when PyTorch cannot export the module, UnsupportedError when kc cannot compile what it exports.
    """
    if isinstance(module, torch.export.ExportedProgram):
        exported = module
    else:
        exported = frontend.export(module, example_inputs, dynamic_shapes=dynamic_shapes)
    program = frontend.load(exported)
    made = api.compile_loaded(program.loaded(), target, agents=agents, options=options, **taking_part)
    return CompiledModule(made, program)


def backend(graph_module: torch.fx.GraphModule, example_inputs: Sequence[Any], **options: Any) -> Callable[..., Any]:
    """The backend that ``torch.compile(module, backend="kc")`` finds: forward and backward graphs compiled by kc."""
    from torch._dynamo.backends.common import aot_autograd

    _replace_attention(graph_module)
    compiler = aot_autograd(
        fw_compiler=lambda graph, inputs: _compile_graph(graph, inputs, options),
        decompositions=torch_decompositions.table(),
    )
    return compiler(graph_module, list(example_inputs))


def _replace_attention(graph_module: torch.fx.GraphModule) -> None:
    """Put kc's own form of attention in the graph before autograd picks one of PyTorch's fused operators for it."""
    for node in graph_module.graph.nodes:
        if node.target is torch.nn.functional.scaled_dot_product_attention and node.kwargs.get("dropout_p", 0.0) == 0.0:
            node.target = torch_decompositions.scaled_dot_product_attention
    graph_module.recompile()


def _compile_graph(
    graph_module: torch.fx.GraphModule, example_inputs: Sequence[Any], options: dict[str, Any]
) -> Callable[..., Any]:
    """One ATen graph compiled; weights are inputs of it, so nothing is bound."""
    from functorch.compile import make_boxed_func

    graph, plan = fx_graph.prepare(graph_module.graph)
    device = next((t.device.type for t in example_inputs if isinstance(t, torch.Tensor)), "cpu")
    target = options.get("target", "nvptx" if device == "cuda" else "cpu")
    if not any(output.kind == "result" for output in plan.outputs):
        return make_boxed_func(lambda *inputs: plan.restore((), inputs))
    loaded = frontend.loaded_graph(graph, len(plan.inputs))
    executable = api.compile_loaded(loaded, target, options=options.get("options"))

    def call(*inputs: Any) -> list[Any]:
        return plan.restore(executable(*plan.arguments(inputs)), inputs)

    return make_boxed_func(call)
