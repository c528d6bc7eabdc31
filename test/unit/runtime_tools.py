"""Helpers of the runtime's tests: objects made by gcc or llvmlite, and programs around them."""
from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kc.runtime import Program

#: C declarations of descriptors and of what the runtime offers
PRELUDE = """
#include <stdint.h>
#include <stddef.h>
typedef struct { void *base; void *data; int64_t offset; } D0;
typedef struct { void *base; void *data; int64_t offset; int64_t size[1]; int64_t stride[1]; } D1;
typedef struct { void *base; void *data; int64_t offset; int64_t size[2]; int64_t stride[2]; } D2;
extern void *_mlir_memref_to_llvm_alloc(int64_t);
extern void *_mlir_memref_to_llvm_aligned_alloc(int64_t, int64_t);
extern void _mlir_memref_to_llvm_free(void *);
extern void kc_raise(const char *);
typedef struct { int64_t rank; void *descriptor; } Unranked;
extern void memrefCopy(int64_t item_size, Unranked *from, Unranked *to);
static inline void give1(D1 *r, void *p, int64_t n) {
  r->base = r->data = p; r->offset = 0; r->size[0] = n; r->stride[0] = 1;
}
"""


def build_library(source: Path, folder: Path) -> str:
    """A shared library made of one C file, such as a driver of our own; skips the test where there is no compiler."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    path = folder / f"lib{source.stem}.so"
    command = ["gcc", "-O1", "-shared", "-fPIC", "-w", str(source), "-o", str(path), "-pthread"]
    subprocess.run(command, check=True)
    return str(path)


def compile_c(source: str, *flags: str) -> bytes:
    """An object made by the system's C compiler (position-independent unless the flags say otherwise).

    With ``KC_TEST_OBJECTS`` objects are kept in that folder and taken from there, for machines without a compiler.
    """
    kept = os.environ.get("KC_TEST_OBJECTS")
    digest = hashlib.sha256(repr((PRELUDE, source, flags)).encode()).hexdigest()[:20]
    if kept and (stored := Path(kept) / f"{digest}.o").exists():
        return stored.read_bytes()
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs gcc")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "source.c"
        path.write_text(PRELUDE + source)
        output = path.with_suffix(".o")
        options = ["-O2", "-fPIC", "-Wno-unused", "-fno-stack-protector", *flags]
        subprocess.run([compiler, *options, "-c", str(path), "-o", str(output)], check=True)
        data = output.read_bytes()
    if kept:
        Path(kept).mkdir(parents=True, exist_ok=True)
        stored.write_bytes(data)
    return data


def compile_ir(text: str) -> bytes:
    """An object made by LLVM from IR text, as kc's own code generation makes them (small code model, PIC)."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    module.verify()
    target = llvm.Target.from_triple("x86_64-unknown-linux-gnu")
    machine = target.create_target_machine(opt=2, reloc="pic", codemodel="small")
    return machine.emit_object(module)


def argument(name: str, dtype: str = "f32", shape: Sequence[int | str | None] = (None,), **more: Any) -> dict[str, Any]:
    return {"name": name, "dtype": dtype, "shape": list(shape), "kind": "input", **more}


def result(dtype: str = "f32", shape: Sequence[int | str | None] = (None,), **more: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), **more}


def entry(args: Sequence[dict[str, Any]], results: Sequence[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"args": list(args), "results": list(results), **more}


def program(
    objects: bytes | dict[str, bytes],
    args: Sequence[dict[str, Any]] = (),
    results: Sequence[dict[str, Any]] = (),
    files: dict[str, Any] | None = None,
    **manifest: Any,
) -> Program:
    """A CPU program with the one entry ``main``."""
    if isinstance(objects, bytes):
        objects = {"main.o": objects}
    whole = {"version": 1, "target": "cpu", "entries": {"main": entry(args, results)}, "objects": list(objects)}
    return Program.from_manifest({**whole, **manifest}, {**objects, **(files or {})})
