"""``stablehlo_out``: a region of StableHLO run by another compiler on a PJRT device, called by the compiled program."""

from __future__ import annotations

from kc.agents.protocol import Proposal, ProtocolError
from kc.agents.realize.host_call import host_call
from kc.agents.realize.realized import MissingError, Realized, RealizeError
from kc.agents.realize.region import Signature, Source

#: attributes of kc's contract, which other compilers do not know
_OWN = ("kc.",)


def stablehlo_out(region: Source, proposal: Proposal, level: str, target: str) -> Realized:
    """The call of a PJRT executable in a region's place. ``parameters``: ``platform`` (``cpu``, ``tpu`` …, as JAX
    names them). The region's sizes have to be known: other compilers of StableHLO compile for sizes."""
    if level != "stablehlo":
        raise RealizeError("level", "level.kind", f"a region at level '{level}' is no StableHLO")
    given = dict(proposal.parameters or {})
    platform = given.pop("platform", "cpu")
    if given:
        raise ProtocolError("there is platform", f"parameters.{next(iter(given))}")
    if not isinstance(platform, str) or not platform.isidentifier():
        raise ProtocolError(f"{platform!r} is no platform", "parameters.platform")
    if target.partition(":")[0] != "cpu":
        raise RealizeError(
            "level", "level.target", f"'stablehlo_out' is called from host code: the program is for '{target}'"
        )
    signature = Signature.of(region.function)
    for number, value in enumerate(signature.buffers):
        if value.shape is not None and None in value.shape:
            raise RealizeError(
                "signature",
                "signature.sizes",
                f"argument or result {number} has an open size ({value.buffer()}): hand out regions of known sizes, "
                "for instance of a program compiled with shapes='specialise'",
            )
    _check_installed()
    inputs = [number for number, value in enumerate(signature.buffers) if not value.written]
    outputs = [number for number, value in enumerate(signature.buffers) if value.written]
    return host_call(
        signature, "kc.pjrt.run", inputs, outputs, {"platform": platform, "program": _text(region)}, gpu=False
    )


def _check_installed() -> None:
    import importlib.util

    if importlib.util.find_spec("jax") is None:
        raise MissingError("'stablehlo_out' reaches devices through JAX, which is not installed: pip install 'kc[jax]'")


def _text(region: Source) -> str:
    """The region without kc's attributes."""
    from kc.answers import names_of
    from kc.bindings import ir

    module = region.module.operation.clone()
    for function in names_of(module.operation).values():
        for name in list(function.attributes):
            if name.startswith(_OWN):
                del function.attributes[name]
        for key in ("arg_attrs", "res_attrs"):
            if key in function.attributes:
                kept = [
                    ir.DictAttr.get(
                        {e.name: e.attr for e in ir.DictAttr(d) if not e.name.startswith(_OWN)}, module.context
                    )
                    for d in ir.ArrayAttr(function.attributes[key])
                ]
                function.attributes[key] = ir.ArrayAttr.get(kept, module.context)
    return str(module.operation.get_asm(enable_debug_info=False))
