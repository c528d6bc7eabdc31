"""The process that runs LLVM (llvmlite): ``python -m kc.codegen.worker``.

LLVM ends the process on what it cannot select, so it never runs inside the compiler. This file is the child's side and
imports llvmlite only; ``workers.py`` is the compiler's side. A message is two big-endian u32 lengths, a JSON header
and a payload of bytes; requests come on stdin, replies leave on what was stdout (which then points at stderr, because
LLVM may print there). The child ends when stdin closes.

Request header: ``kind`` (``object``, ``assembly``, ``ir``; ``host`` and ``features`` ask about machines), ``triple``
(empty: the host's), ``cpu`` (``host``: the host's, with its features), ``features``, ``reloc``, and ``parts``: for each
LLVM IR text in the payload its ``size`` in bytes and ``opt`` (``O0`` … ``O3``, or ``codegen-only``: no IR passes, code
generation at level 3). Reply header: ``ok``, and ``error`` when not, else ``sizes`` of the results in the payload.
"""

from __future__ import annotations

import functools
import json
import os
import struct
import sys
from typing import IO, Any


def read_message(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """The next (header, payload) of ``stream``, or None at its end."""
    prefix = stream.read(8)
    if len(prefix) < 8:
        return None
    header_size, payload_size = struct.unpack(">II", prefix)
    header = stream.read(header_size)
    payload = stream.read(payload_size)
    if len(header) < header_size or len(payload) < payload_size:
        return None
    return json.loads(header), payload


def pack_message(header: dict[str, Any], payload: bytes = b"") -> bytes:
    """The bytes of one message."""
    encoded = json.dumps(header).encode()
    return struct.pack(">II", len(encoded), len(payload)) + encoded + payload


@functools.lru_cache(maxsize=1)
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()  # for assembly in modules
    return llvm


def _host() -> dict[str, str]:
    llvm = _llvm()
    return {
        "triple": llvm.get_process_triple(),
        "cpu": llvm.get_host_cpu_name(),
        "features": llvm.get_host_cpu_features().flatten(),
        "llvm": ".".join(map(str, llvm.llvm_version_info)),
    }


@functools.lru_cache(maxsize=32)
def _machine(triple: str, cpu: str, features: str, level: int, reloc: str) -> Any:
    target = _llvm().Target.from_triple(triple)
    return target.create_target_machine(cpu=cpu, features=features, opt=level, reloc=reloc, codemodel="small")


# What shows in the code for an x86 CPU that has the feature: LLVM keeps no list of what a CPU's name implies that
# llvmlite would give.
_PROBES = {
    "avx": ("%ymm", "define <8 x float> @f(<8 x float> %a) { %r = fadd <8 x float> %a, %a\n ret <8 x float> %r }"),
    "avx2": ("vpaddd", "define <8 x i32> @f(<8 x i32> %a) { %r = add <8 x i32> %a, %a\n ret <8 x i32> %r }"),
    "avx512f": (
        "%zmm",
        "define <16 x float> @f(<16 x float> %a) { %r = fadd <16 x float> %a, %a\n ret <16 x float> %r }",
    ),
    "f16c": ("vcvtps2ph", "define half @f(float %a) { %r = fptrunc float %a to half\n ret half %r }"),
    "fma": (
        "vfmadd",
        "declare float @llvm.fma.f32(float, float, float)\n"
        "define float @f(float %a) { %r = call float @llvm.fma.f32(float %a, float %a, float %a)\n ret float %r }",
    ),
}


def _features(triple: str, cpu: str, features: str) -> list[str]:
    found = {feature[1:] for feature in features.split(",") if feature.startswith("+")}
    if triple.startswith(("x86_64", "i686")):
        machine = _machine(triple, cpu, features, 2, "pic")
        for name, (sign, text) in _PROBES.items():
            assembly = machine.emit_assembly(_llvm().parse_assembly(text))
            if sign in assembly and not (name == "avx2" and "%ymm" not in assembly):
                found.add(name)
            else:
                found.discard(name)
    return sorted(found)


def _generate(request: dict[str, Any], payload: bytes) -> list[bytes]:
    results = []
    position = 0
    for part in request["parts"]:
        text = payload[position : position + part["size"]].decode()
        position += part["size"]
        results.append(_generate_one(request, part["opt"], text))
    return results


def _generate_one(request: dict[str, Any], opt: str, text: str) -> bytes:
    llvm = _llvm()
    triple, cpu, features = request["triple"], request["cpu"], request["features"]
    if cpu == "host":
        host = _host()
        cpu = host["cpu"]
        features = ",".join(filter(None, (host["features"], features)))
    triple = triple or llvm.get_process_triple()
    level = 3 if opt == "codegen-only" else int(opt[1])
    machine = _machine(triple, cpu, features, level, request.get("reloc", "pic"))
    module = llvm.parse_assembly(text)
    module.triple = triple
    module.data_layout = str(machine.target_data)
    module.verify()
    if opt not in ("codegen-only", "O0"):
        tuning = llvm.create_pipeline_tuning_options(speed_level=level)
        # Measured on general loops (softmax, layer norm, MLP): unrolling and SLP double the time of the passes; what
        # speed they bring is left to O3. The vectoriser's interleaving, which matters more, stays on.
        tuning.slp_vectorization = tuning.loop_unrolling = level >= 3
        builder = llvm.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
    kind = request["kind"]
    if kind == "object":
        return bytes(machine.emit_object(module))
    if kind == "assembly":
        return str(machine.emit_assembly(module)).encode()
    return str(module).encode()


def main() -> None:
    """Serve requests until stdin closes."""
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    while True:
        message = read_message(requests)
        if message is None:
            break
        request, payload = message
        try:
            if request["kind"] == "host":
                reply = pack_message({"ok": True, "host": _host()})
            elif request["kind"] == "features":
                found = _features(request["triple"], request["cpu"], request["features"])
                reply = pack_message({"ok": True, "features": found})
            else:
                results = _generate(request, payload)
                reply = pack_message({"ok": True, "sizes": [len(part) for part in results]}, b"".join(results))
        except Exception as error:  # whatever it is, the compiler must hear of it
            reply = pack_message({"ok": False, "error": f"{error}" or type(error).__name__})
        view = memoryview(reply)
        while view:
            view = view[replies.write(view) :]


if __name__ == "__main__":
    main()
