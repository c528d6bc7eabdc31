"""``ptx``: foreign device code with a declared launch, an answer at the gpu level. Other sources become PTX first."""

from __future__ import annotations

from typing import Any

from kc.agents.protocol import Proposal
from kc.agents.realize import launch as launches
from kc.agents.realize import ptx_text
from kc.agents.realize.expressions import Emitter
from kc.agents.realize.launch import Launch
from kc.agents.realize.ptx_text import Entry, Ptx
from kc.agents.realize.realized import Realized, RealizeError
from kc.agents.realize.region import Signature, Source
from kc.errors import CompileError


def ptx(region: Source, proposal: Proposal, level: str, target: str) -> Realized:
    """A region answered with PTX."""
    assert proposal.source is not None
    return from_ptx(region, proposal.source, proposal, level, target)


def check_target(kind: str, level: str, target: str) -> Any:
    """The target of a proposal of device code. Raises RealizeError where it has no place."""
    from kc.targets import get_target

    chosen = get_target(target)
    if chosen.name != "nvptx":
        raise RealizeError(
            "level", "level.target", f"'{kind}' is code for NVIDIA GPUs; the region is compiled for '{target}'"
        )
    if level not in ("torch", "stablehlo", "linalg", "loops"):
        raise RealizeError(
            "level", "level.kind", f"'{kind}' answers regions at level 'loops' or above, not at '{level}'"
        )
    return chosen


def from_ptx(
    region: Source, text: str, proposal: Proposal, level: str, target: str, notes: tuple[str, ...] = ()
) -> Realized:
    """The answer that launches a kernel of PTX ``text`` as ``proposal.launch`` says."""
    chosen = check_target(proposal.kind, level, target)
    module = ptx_text.read(text)
    if not module.entries:
        raise RealizeError("verify", "verify.ptx", "the PTX defines no kernel (.entry)")
    signature = Signature.of(region.function)
    launch = launches.read(proposal.launch, signature, module.entries)
    return answer(module, launch, signature, chosen, notes)


def answer(module: Ptx, launch: Launch, signature: Signature, target: Any, notes: tuple[str, ...] = ()) -> Realized:
    """The checked answer: assembled once here, so that what ``ptxas`` refuses never reaches a program."""
    entry = module.entries[launch.entry]
    static, said = assemble(module, entry.name, target)
    launches.check(launch, entry, signature, target.limits(), static)
    text = host_module(module.text, entry, launch, signature)
    return Realized(
        "gpu",
        text,
        answer=text,
        files={"device.ptx": module.text.encode()},
        needs="gpu",
        runs="kc",
        notes=(*notes, *said),
    )


def assemble(module: Ptx, kernel: str, target: Any) -> tuple[int, tuple[str, ...]]:
    """Bytes of static shared memory of ``kernel``, and what ``ptxas`` says of it. Raises RealizeError when it refuses.

    Without a ``ptxas`` nothing is checked here: the driver will.
    """
    from kc.codegen import ptx_check

    if ptx_check.find_ptxas() is None:
        return 0, ("no ptxas was found: the driver assembles the PTX when the program is loaded",)
    try:
        done = ptx_check.assemble(module.text, target.chip)
    except CompileError as error:
        raise RealizeError("verify", "verify.ptx", error.message) from None
    report = done.kernels.get(kernel)
    if report is None:
        return 0, done.notes
    said = (f"{kernel}: {report.registers} registers, {report.shared} bytes of shared memory", *done.problems())
    return report.shared, said


def host_module(text: str, entry: Entry, launch: Launch, signature: Signature) -> str:
    """The module at the gpu level: ``@main`` on buffers, which launches a kernel that is there as PTX."""
    types = [value.buffer() for value in signature.buffers]
    emit = Emitter(types, [value.shape for value in signature.buffers])
    sizes = [emit.size(size) for size in (*launch.grid, *launch.block)]
    shared = emit.line(f"arith.index_cast {emit.size(launch.shared)} : index to i32")
    values, kinds = [], []
    for parameter, argument in zip(entry.parameters, launch.arguments, strict=True):
        value, kind = _pass(emit, parameter.type, parameter.size, argument, signature)
        values.append(f"{value} : {kind}")
        kinds.append(kind)
    body = "\n    ".join(emit.lines)
    arguments = ", ".join(f"%a{number}: {type_}" for number, type_ in enumerate(types))
    return f"""module attributes {{gpu.container_module}} {{
  gpu.module @device attributes {{kc.ptx = "{escaped(text)}"}} {{
    llvm.func @{entry.name}({", ".join(kinds)}) attributes {{gpu.kernel, nvvm.kernel}}
  }}
  func.func @main({arguments}) {{
    {body}
    gpu.launch_func @device::@{entry.name} blocks in ({", ".join(sizes[:3])}) threads in ({", ".join(sizes[3:])})
      dynamic_shared_memory_size {shared} args({", ".join(values)})
    return
  }}
}}
"""


def _pass(emit: Emitter, type_: str, size: int, argument: tuple[str, Any], signature: Signature) -> tuple[str, str]:
    """What a parameter of ``size`` bytes gets: the SSA name and its MLIR type."""
    kind, value = argument
    if kind == "buffer":
        buffer = signature.buffers[value]
        if buffer.shape is None:
            if buffer.element == "index":
                return emit.line(f"arith.index_cast %a{value} : index to i64"), "i64"
            return f"%a{value}", buffer.element
        index = emit.line(f"memref.extract_aligned_pointer_as_index %a{value} : {buffer.buffer()} -> index")
        number = emit.line(f"arith.index_cast {index} : index to i64")
        return emit.line(f"llvm.inttoptr {number} : i64 to !llvm.ptr"), "!llvm.ptr"
    word = f"i{8 * size}"
    if kind == "size":
        return emit.line(f"arith.index_cast {emit.size(value)} : index to {word}"), word
    if isinstance(value, float) or type_[0] == "f":
        return emit.line(f"arith.constant {float(value)!r} : f{8 * size}"), f"f{8 * size}"
    signed = int(value) - (1 << 8 * size) if int(value) >= 1 << (8 * size - 1) else int(value)
    return emit.line(f"arith.constant {signed} : {word}"), word


def escaped(text: str) -> str:
    """``text`` inside an MLIR string literal."""
    return "".join(
        c if c.isprintable() and c.isascii() and c not in '"\\' else "".join(f"\\{byte:02X}" for byte in c.encode())
        for c in text
    )
