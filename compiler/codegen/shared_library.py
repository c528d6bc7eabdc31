"""A shared library and its C header from a program's objects, for callers that are not Python.

The library runs where kc's runtime is not: ``kc.codegen.support`` is linked in, weakly, and gives it memory and one
thread.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from kc.errors import CompileError
from kc.temporary import Folder

_COMPILERS = ("cc", "gcc", "clang")
_LINKERS = ("ld.lld", "ld", "ld.gold")

_C_TYPES = {
    "f64": "double", "f32": "float", "i64": "int64_t", "i32": "int32_t", "i16": "int16_t", "i8": "int8_t",
    "ui64": "uint64_t", "ui32": "uint32_t", "ui16": "uint16_t", "ui8": "uint8_t", "i1": "uint8_t", "index": "int64_t",
    "f16": "uint16_t", "bf16": "uint16_t", "complex64": "kc_complex64", "complex128": "kc_complex128",
}  # fmt: skip


def link(objects: Sequence[bytes], triple: str, linker: str | None = None) -> bytes:
    """The bytes of a shared library made of ``objects``, by the system's C compiler or linker.

    ``linker`` (or ``KC_LINKER``) names the program; by default ``cc``, ``gcc``, ``clang`` are tried for the host's
    platform and ``<triple>-gcc`` for others, then ``ld.lld`` and ``ld``. Raises ``CompileError`` when there is none
    or it fails.
    """
    program = linker or os.environ.get("KC_LINKER") or _find(triple)
    with Folder("link") as folder:
        inputs = []
        for number, data in enumerate(objects):
            inputs.append(os.path.join(folder, f"{number}.o"))
            with open(inputs[-1], "wb") as file:
                file.write(data)
        output = os.path.join(folder, "out.so")
        command = [program, "-shared", "-o", output, *inputs]
        if not os.path.basename(program).startswith("ld"):
            command += ["-lm"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CompileError(f"could not run the linker '{program}': {error}") from None
        if done.returncode:
            raise CompileError(f"'{' '.join(command[:3])} …' failed:\n{done.stderr.strip()[-2000:]}")
        with open(output, "rb") as file:
            return file.read()


def _find(triple: str) -> str:
    import platform

    architecture = triple.split("-")[0]
    native = architecture == platform.machine()
    names = [*_COMPILERS, *_LINKERS] if native else [f"{_gnu(triple)}-gcc", f"{_gnu(triple)}-ld", "ld.lld"]
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    raise CompileError(
        f"no linker for {triple} found (looked for {', '.join(names)}): install a C compiler, name one in KC_LINKER, "
        "or take the object file, which kc's own runtime loads without a linker"
    )


def _gnu(triple: str) -> str:
    parts = [part for part in triple.split("-") if part not in ("unknown", "pc")]
    return "-".join(parts)


def header(manifest: Mapping[str, Any], guard: str = "KC_PROGRAM_H") -> str:
    """A C header that declares the entry points of a program and describes their arguments."""
    ranks = sorted(
        {
            (argument["dtype"], len(argument["shape"]))
            for entry in manifest["entries"].values()
            for argument in (*entry["args"], *entry["results"])
            if not argument.get("scalar")
        }
    )
    lines = [
        "/* Made by kc. Entry points take an array of pointers: one to the descriptor of each argument, then one to",
        "   the descriptor of each result, which the callee fills in. Its memory is the caller's to free: free(base).",
        "   The library runs in one thread; loaded after libomp it uses that one's threads. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "#include <stdint.h>",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "typedef struct { float re, im; } kc_complex64;",
        "typedef struct { double re, im; } kc_complex128;",
    ]
    for dtype, rank in ranks:
        kind = _C_TYPES.get(dtype, "uint8_t")
        sizes = f" int64_t sizes[{rank}]; int64_t strides[{rank}];" if rank else ""
        lines.append(
            f"typedef struct {{ {kind} *base; {kind} *aligned; int64_t offset;{sizes} }} {_descriptor(dtype, rank)};"
        )
    for name, entry in manifest["entries"].items():
        lines.append(f"/* {name}:")
        for position, argument in enumerate((*entry["args"], *entry["results"])):
            role = "result" if position >= len(entry["args"]) else argument["kind"]
            what = argument.get("name", "")
            dtype, shape = argument["dtype"], argument["shape"]
            scalar = argument.get("scalar", False)
            text = dtype if scalar else f"{dtype}[{', '.join(map(_extent, shape))}]"
            pointer = _C_TYPES.get(dtype, "uint8_t") if scalar else _descriptor(dtype, len(shape))
            lines.append(f"   args[{position}]: {role} {what}: {text}, a {pointer} *".replace("  ", " ").rstrip())
        lines.append("*/")
        lines.append(f"void kc_entry_{name}(void **args);")
    lines += ["#ifdef __cplusplus", "}", "#endif", f"#endif /* {guard} */", ""]
    return "\n".join(lines)


def _extent(extent: int | str | None) -> str:
    return "?" if extent is None else str(extent)


def _descriptor(dtype: str, rank: int) -> str:
    return f"kc_{re.sub('[^a-z0-9]', '_', dtype.lower())}_{rank}d"
