"""``library``: a region computed by a library of others, called by the compiled program.

| ``library`` | ``operation`` | on |
| --- | --- | --- |
| ``blas`` | ``gemm`` | CPU: SciPy's BLAS |
| ``onednn`` | ``gemm`` | CPU: oneDNN's ``dnnl_sgemm`` |
| ``cublaslt`` | ``matmul`` | GPU: with bias, ReLU or tanh-GELU in the epilogue |
| ``cudnn`` | ``convolution``, ``softmax`` | GPU |

``parameters``: ``operation``, ``inputs`` (names ``argN`` in the order of the operation: a, b, bias), ``output``
(``argN`` or ``outN``), and the operation's own (``transpose_a``, ``transpose_b``, ``alpha``, ``epilogue`` …).
"""

from __future__ import annotations

from typing import Any

from kc.agents.protocol import Proposal, ProtocolError
from kc.agents.realize.host_call import host_call
from kc.agents.realize.launch import buffer_named
from kc.agents.realize.realized import Realized, RealizeError
from kc.agents.realize.region import Signature, Source

_GEMM = {"transpose_a": bool, "transpose_b": bool, "alpha": float, "epilogue": ("none", "relu", "gelu")}
_CONVOLUTION = {"strides": list, "padding": list, "dilation": list, "groups": int, "layout": ("NCHW", "NHWC")}
#: (library, operation) -> target of the custom call, platform, numbers of inputs, parameters with their types
_OPERATIONS: dict[tuple[str, str], tuple[str, str, tuple[int, ...], dict[str, Any]]] = {
    ("blas", "gemm"): ("kc.blas.gemm", "cpu", (2, 3), _GEMM),
    ("onednn", "gemm"): ("kc.onednn.gemm", "cpu", (2, 3), _GEMM),
    ("cublaslt", "matmul"): ("kc.cublaslt.matmul", "nvptx", (2, 3), {**_GEMM, "compute": ("f32", "tf32")}),
    ("cudnn", "convolution"): ("kc.cudnn.convolution", "nvptx", (2,), _CONVOLUTION),
    ("cudnn", "softmax"): ("kc.cudnn.softmax", "nvptx", (1,), {"log": bool}),
}


def library(region: Source, proposal: Proposal, level: str, target: str) -> Realized:
    """The call of a library in a region's place. Raises ProtocolError for parameters that it does not have."""
    given = dict(proposal.parameters or {})
    known = {name for name, _ in _OPERATIONS}
    if proposal.library not in known:
        raise ProtocolError(f"{proposal.library!r} is none of {', '.join(sorted(known))}", "library")
    operations = [operation for name, operation in _OPERATIONS if name == proposal.library]
    operation = given.pop("operation", operations[0] if len(operations) == 1 else None)
    if operation not in operations:
        raise ProtocolError(
            f"{proposal.library} has {', '.join(operations)}, not {operation!r}", "parameters.operation"
        )
    call, platform, counts, fields = _OPERATIONS[proposal.library, operation]
    if target.partition(":")[0] != platform:
        raise RealizeError("level", "level.target", f"{proposal.library} is for target '{platform}', not '{target}'")
    if level not in ("torch", "stablehlo", "linalg", "loops"):
        raise RealizeError("level", "level.kind", f"a library answers regions at 'loops' or above, not at '{level}'")
    signature = Signature.of(region.function)
    inputs, output = _buffers(given, signature, counts)
    _check(given, fields)
    if proposal.library in ("blas", "onednn", "cublaslt"):
        _check_types(proposal.library, signature, inputs, output)
    return host_call(signature, call, inputs, [output], given, platform != "cpu")


def _buffers(given: dict[str, Any], signature: Signature, counts: tuple[int, ...]) -> tuple[list[int], int]:
    """The numbers of the buffers that ``inputs`` and ``output`` name; both are taken out of ``given``."""
    written = [number for number, value in enumerate(signature.buffers) if value.written]
    if len(written) != 1:
        raise RealizeError(
            "signature", "signature.results", f"a library computes one result; the region has {len(written)}"
        )
    names = given.pop("inputs", [f"arg{n}" for n, value in enumerate(signature.buffers) if not value.written])
    if not isinstance(names, (list, tuple)) or len(names) not in counts:
        raise ProtocolError(
            f"wants a list of {' or '.join(map(str, counts))} names, not {names!r}", "parameters.inputs"
        )
    inputs = [buffer_named(name, signature, f"parameters.inputs[{k}]") for k, name in enumerate(names)]
    if "output" not in given:
        return inputs, written[0]
    output = buffer_named(given.pop("output"), signature, "parameters.output")
    if output != written[0]:
        raise ProtocolError(f"the region writes buffer {written[0]}, not {output}", "parameters.output")
    return inputs, output


def _check(given: dict[str, Any], fields: dict[str, Any]) -> None:
    for name, value in given.items():
        if name not in fields:
            raise ProtocolError(f"there are inputs, output, {', '.join(fields)}", f"parameters.{name}")
        wanted = fields[name]
        if isinstance(wanted, tuple):
            right = value in wanted
        elif wanted is float:
            right = isinstance(value, (int, float)) and not isinstance(value, bool)
        elif wanted is list:
            right = isinstance(value, (list, tuple)) and all(type(item) is int and item >= 0 for item in value)
        else:
            right = type(value) is wanted
        if not right:
            what = ", ".join(wanted) if isinstance(wanted, tuple) else wanted.__name__
            raise ProtocolError(f"wants {what}, not {value!r}", f"parameters.{name}")


_ELEMENTS = {
    "blas": ("f32", "f64", "complex<f32>", "complex<f64>"),
    "onednn": ("f32",),
    "cublaslt": ("f32", "f64", "bf16", "f16"),
}


def _check_types(name: str, signature: Signature, inputs: list[int], output: int) -> None:
    """Raises RealizeError for element types and ranks that the product does not take."""
    values = [signature.buffers[number] for number in (*inputs, output)]
    for number, value in zip((*inputs, output), values, strict=True):
        if value.element not in _ELEMENTS[name]:
            raise RealizeError(
                "signature", "signature.type", f"{name} multiplies {', '.join(_ELEMENTS[name])}, not {value.element}"
            )
        if value.rank < 2 and number != (inputs[2] if len(inputs) > 2 else None):
            raise RealizeError("signature", "signature.type", f"buffer {number} has rank {value.rank}: no matrix")
    if name != "cublaslt" and len({value.element for value in values}) > 1:
        raise RealizeError("signature", "signature.type", f"{name} multiplies matrices of one type")
