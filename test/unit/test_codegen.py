"""Code generation: the IR text for LLVM 22, the worker process, the object cache, ELF symbols, shared libraries."""

from __future__ import annotations

import ctypes
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from kc.codegen import cache, elf, emit, llvm_ir, manifest, shared_library, units, workers
from kc.codegen.downgrade import downgrade, literal_bits
from kc.context import make_context, parse_module
from kc.errors import CompileError, InputError, UnsupportedError

ADD = "define i32 @add(i32 %a, i32 %b) {\n  %c = add i32 %a, %b\n  ret i32 %c\n}\n"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("KC_REPRODUCER_DIR", str(tmp_path))
    monkeypatch.delenv("KC_CACHE", raising=False)


# --------------------------------------------------------------------------------------------------- literals


def _bits_back(kind: str, bits: int) -> int:
    """``bits`` as a constant through LLVM 24's printer, kc's rewriting, LLVM 22's parser and code generator."""
    width = {"half": 16, "bfloat": 16, "float": 32, "double": 64}[kind]
    names = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}
    module = parse_module(
        f"llvm.mlir.global external constant @g(0x{bits:0{width // 4}X} : {names[kind]}) : {names[kind]}",
        make_context(),
    )
    data = emit.host_object(llvm_ir.translate(module.operation), opt="O0")
    index = _section_data(data, width // 8)
    return index


def _section_data(data: bytes, size: int) -> int:
    """The first ``size`` bytes of the object's .rodata (or .bss, which is zero) as an integer."""
    (table,) = struct.unpack_from("<Q", data, 0x28)
    entry_size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * entry_size) for i in range(count)]
    names = headers[names_index][4]
    for header in headers:
        start = names + header[0]
        name = data[start : data.index(b"\0", start)].decode()
        if name.startswith(".rodata") and header[5] >= size:
            return int.from_bytes(data[header[4] : header[4] + size], "little")
    return 0


@pytest.mark.parametrize("kind", ["half", "bfloat", "float", "double"])
def test_literals_are_bit_exact(kind):
    exponent, mantissa = {"half": (5, 10), "bfloat": (8, 7), "float": (8, 23), "double": (11, 52)}[kind]
    width = 1 + exponent + mantissa
    generator = random.Random(7)
    values = {0, 1 << (width - 1), 1, (1 << mantissa) - 1, 1 << mantissa, ((1 << exponent) - 1) << mantissa}
    values |= {generator.getrandbits(width) for _ in range(150)}
    values |= {
        (((1 << exponent) - 1) << mantissa) | (1 << (mantissa - 1)) | generator.getrandbits(mantissa) for _ in range(5)
    }
    types = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}
    ordered = sorted(values)
    text = "\n".join(
        f"llvm.mlir.global external constant @g{i}(0x{bits:0{width // 4}X} : {types[kind]}) : {types[kind]}"
        for i, bits in enumerate(ordered)
    )
    translated = llvm_ir.translate(parse_module(text, make_context()).operation)
    found = {}
    for line in translated.splitlines():
        if line.startswith("@g"):
            name, _, rest = line.partition(" = ")
            found[int(name[2:])] = rest.split()[-1]
    for index, bits in enumerate(ordered):
        assert _parsed(kind, found[index].rstrip(",")) == bits, (hex(bits), found[index])
    # The parser's own word for it, on one value of each sort.
    for bits in (ordered[1], ordered[-1], ordered[len(ordered) // 2]):
        assert _bits_back(kind, bits) == bits


def _parsed(kind: str, literal: str) -> int:
    """The bits of a hexadecimal literal as LLVM's reference manual defines them (or of an exact decimal)."""
    if kind in ("half", "bfloat"):
        if literal.startswith(("0xH", "0xR")):
            return int(literal[3:], 16)
    elif literal.startswith("0x"):
        bits = int(literal[2:], 16)
        if kind == "double":
            return bits
        if (bits >> 52) & 0x7FF == 0x7FF:
            return ((bits >> 63) << 31) | (0xFF << 23) | ((bits >> 29) & 0x7FFFFF)
        return struct.unpack("<I", struct.pack("<f", struct.unpack("<d", struct.pack("<Q", bits))[0]))[0]
    raise AssertionError(f"'{literal}' is not the exact form")


def test_decimals_round_once():
    # 1 + 2**-24 + 2**-60 lies just above a tie of float: by way of double it would round down.
    just_above = "1.000000059604644776257986738"
    assert literal_bits("float", just_above) == 0x3F800001
    assert literal_bits("float", "1.00000005960464477") == 0x3F800000
    assert literal_bits("bfloat", "1.00390625000000001") == 0x3F81
    assert literal_bits("bfloat", "1.00390625") == 0x3F80
    assert literal_bits("half", "6.0e-8") == 1
    assert literal_bits("half", "-0.0") == 0x8000


def test_only_literals_change():
    text = (
        '@"float 1.1 name" = global [2 x float] [float 1.1, float +inf]\n'
        'call void asm "fadd float 1.5, +inf", ""()\n'
        "%v = fmul <2 x bfloat> %z, splat (bfloat 1.1)\n"
        "%r = select i1 %c, double 2.5e-3, double %x.1.5\n"
        "define float @f(float %x) denormal_fpenv(ieee) {\n"
        "switch i32 %a, label %b [ i32 1, label %c ] ; preds = %1.5\n"
    )
    assert downgrade(text) == (
        '@"float 1.1 name" = global [2 x float] [float 0x3FF19999A0000000, float 0x7FF0000000000000]\n'
        'call void asm "fadd float 1.5, +inf", ""()\n'
        "%v = fmul <2 x bfloat> %z, splat (bfloat 0xR3F8D)\n"
        "%r = select i1 %c, double 0x3F647AE147AE147B, double %x.1.5\n"
        "define float @f(float %x) {\n"
        "switch i32 %a, label %b [ i32 1, label %c ] ; preds = %1.5\n"
    )


def test_downgrade_is_linear():
    import time

    line = "@g = constant [8 x float] [" + ", ".join(f"float {i}.1e+00" for i in range(10000)) + "]\n"
    started = time.process_time()
    downgrade(line + "  %1 = fadd float %0, 1.1\n" * 20000)
    assert time.process_time() - started < 5


def test_translate_names_what_it_cannot():
    module = parse_module("module {\n  func.func @f() {\n    return\n  }\n}", make_context(), "m.mlir")
    with pytest.raises(UnsupportedError, match=r"'func.func' cannot be translated to LLVM IR \(at -:2:3\)"):
        llvm_ir.translate(module.operation)


# ----------------------------------------------------------------------------------------------------- worker


def test_object_defines_and_needs():
    text = (
        ADD + "declare float @expf(float)\ndefine float @e(float %x) {\n"
        "  %y = call float @expf(float %x)\n  ret float %y\n}\n"
    )
    assert elf.symbols(emit.host_object(text)) == elf.Symbols(("add", "e"), ("expf",))
    with pytest.raises(ValueError, match="not a 64-bit"):
        elf.symbols(b"MZ")


def test_opt_levels_and_assembly():
    loop = (
        "define void @f(ptr noalias %p, ptr noalias %q) {\nentry:\n  br label %l\nl:\n"
        "  %i = phi i64 [0, %entry], [%n, %l]\n  %a = getelementptr float, ptr %p, i64 %i\n  %v = load float, ptr %a\n"
        "  %s = fadd float %v, %v\n  %b = getelementptr float, ptr %q, i64 %i\n  store float %s, ptr %b\n"
        "  %n = add i64 %i, 1\n  %c = icmp ult i64 %n, 4096\n  br i1 %c, label %l, label %d\nd:\n  ret void\n}\n"
    )
    x86 = {"triple": "x86_64-unknown-linux-gnu", "cpu": "x86-64-v3"}
    assert "vaddps" in emit.assembly(loop, opt="O2", **x86)
    plain = emit.assembly(loop, opt="codegen-only", **x86)
    assert "vaddss" in plain and "vaddps" not in plain
    assert "<8 x float>" in emit.optimised_ir(loop, opt="O2", **x86)
    arm = emit.host_object(ADD, triple="aarch64-linux-gnu", cpu="neoverse-n1")
    assert arm[18:20] == b"\xb7\x00" and elf.symbols(arm).defined == ("add",)
    assert emit.host_object(ADD, triple="aarch64-apple-darwin", cpu="apple-m1")[:4] == b"\xcf\xfa\xed\xfe"
    with pytest.raises(InputError, match="no optimisation level 'O9'"):
        emit.host_object(ADD, opt="O9")
    with pytest.raises(CompileError, match="riscv"):
        emit.host_object(ADD, triple="riscvx-linux-gnu", cpu="generic")


def test_ptx_and_its_externals():
    text = "define ptx_kernel void @k(ptr addrspace(1) %p) {\n  store float 1.0, ptr addrspace(1) %p\n  ret void\n}\n"
    ptx = emit.ptx(text, "sm_80", "+ptx78")
    assert ".target sm_80" in ptx and ".entry k(" in ptx
    with pytest.raises(InputError, match="not an NVIDIA chip"):
        emit.ptx(text, "gfx90a")
    calls = (
        "declare float @__nv_expf(float)\ndefine float @f(float %x) {\n"
        "  %y = call float @__nv_expf(float %x)\n  ret float %y\n}\n"
    )
    with pytest.raises(CompileError, match="calls __nv_expf, which nothing defines"):
        emit.ptx(calls, "sm_80", "+ptx78")


def test_bad_ir_names_a_reproducer(tmp_path):
    with pytest.raises(CompileError, match=r"expected type(?s:.*)reproducer: ") as caught:
        emit.host_object("define oops")
    path = str(caught.value).split("reproducer: ")[1].strip()
    with open(path) as file:
        content = file.read()
    assert content.endswith("define oops") and "opt=O3" in content


def test_a_crash_of_llvm_is_an_error_and_the_next_request_works():
    text = (
        "define <vscale x 4 x i32> @f(<vscale x 4 x i32> %a) {\n"
        "  %b = add <vscale x 4 x i32> %a, %a\n  ret <vscale x 4 x i32> %b\n}\n"
    )
    with pytest.raises(CompileError, match=r"process died \(signal SIGABRT: LLVM ERROR"):
        emit.host_object(text, triple="x86_64-unknown-linux-gnu", cpu="x86-64")
    assert elf.symbols(emit.host_object(ADD)).defined == ("add",)


@pytest.mark.parametrize("padding", [0, 1 << 20], ids=["short", "longer than a pipe"])
def test_a_request_that_takes_too_long(monkeypatch, padding):
    monkeypatch.setenv("KC_CACHE", "0")
    emit.host_object(ADD)
    os.kill(workers._pool._idle[-1]._process.pid, signal.SIGSTOP)
    monkeypatch.setenv("KC_CODEGEN_TIMEOUT", "0.3")
    text = ADD + ";" + " " * padding
    with pytest.raises(CompileError, match="longer than the limit"):
        emit.host_object(text)
    monkeypatch.delenv("KC_CODEGEN_TIMEOUT")
    assert elf.symbols(emit.host_object(text)).defined == ("add",)


def test_fork_and_threads():
    emit.host_object(ADD)
    results = []
    threads = [
        threading.Thread(target=lambda i=i: results.append(emit.host_object(ADD.replace("@add", f"@add{i}"))))
        for i in range(4)
    ]
    for thread in threads:
        thread.start()
    child = os.fork()
    if child == 0:
        try:
            ok = elf.symbols(emit.host_object(ADD.replace("@add", "@child"))).defined == ("child",)
            os._exit(0 if ok else 1)
        finally:
            os._exit(2)
    for thread in threads:
        thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert sorted(elf.symbols(result).defined[0] for result in results) == [f"add{i}" for i in range(4)]


def test_workers_end_with_the_process():
    code = (
        f"from kc.codegen import emit, workers\nemit.host_object({ADD!r})\nprint(workers._pool._idle[0]._process.pid)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "KC_CACHE": "0"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    assert not os.path.exists(f"/proc/{done.stdout.strip()}")


# ------------------------------------------------------------------------------------------------------ cache


def test_cache_hits_misses_and_damage(tmp_path, monkeypatch):
    first = emit.host_object(ADD)

    def fail(*_):
        raise AssertionError("the cache was missed")

    monkeypatch.setattr(workers, "generate", fail)
    assert emit.host_object(ADD) == first
    with pytest.raises(AssertionError):
        emit.host_object(ADD, opt="O1")
    entries = [path for path in (tmp_path / "cache").glob("objects/??/*") if path.read_bytes()[32:] == first]
    assert len(entries) == 1
    entries[0].write_bytes(entries[0].read_bytes()[:-1] + b"?")
    with pytest.raises(AssertionError):
        emit.host_object(ADD)
    assert not entries[0].exists()


def test_cache_without_a_home(monkeypatch, tmp_path):
    for name in ("KC_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for home in ("", "relative", str(tmp_path / "file")):
        (tmp_path / "file").write_text("in the way")
        monkeypatch.setenv("HOME", home)
        cache.store("ab" * 32, b"data")
        assert cache.load("ab" * 32) is None
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KC_CACHE", "0")
    assert cache.directory() is None
    monkeypatch.delenv("KC_CACHE")
    cache.store("ab" * 32, b"data")
    assert cache.load("ab" * 32) == b"data"


def test_cache_is_pruned(tmp_path, monkeypatch):
    monkeypatch.setenv("KC_CACHE_LIMIT", "1")
    for number in range(5):
        name = f"{number:02d}" * 32
        cache.store(name, bytes(300 << 10))
        os.utime(tmp_path / "cache" / "objects" / name[:2] / name, (number, number))
    cache.prune(tmp_path / "cache" / "objects")
    assert [cache.load(f"{number:02d}" * 32) is not None for number in range(5)] == [False, False, False, True, True]


def test_keys_do_not_collide():
    assert cache.key("ab", "c") != cache.key("a", "bc")


# ---------------------------------------------------------------------------------------- units, shared library

MODULE = """
llvm.mlir.global internal constant @table(dense<[1, 2]> : tensor<2xi32>) : !llvm.array<2 x i32>
llvm.mlir.global internal @counter(0 : i32) : i32
llvm.func @kc_entry_main(%a: !llvm.ptr) {
  llvm.call @main_k0__impl(%a) : (!llvm.ptr) -> ()
  llvm.call @main_k1(%a) : (!llvm.ptr) -> ()
  llvm.call @"odd name"(%a) : (!llvm.ptr) -> ()
  llvm.call @plain(%a) : (!llvm.ptr) -> ()
  llvm.return
}
llvm.func @main_k0__impl(%a: !llvm.ptr) attributes {kc.impl} {
  %0 = llvm.mlir.addressof @table : !llvm.ptr
  llvm.call @micro(%0) : (!llvm.ptr) -> ()
  llvm.return
}
llvm.func @micro(%a: !llvm.ptr) {
  llvm.return
}
llvm.func @main_k1(%a: !llvm.ptr) attributes {kc.kernel} {
  %0 = llvm.mlir.addressof @table : !llvm.ptr
  llvm.call @micro(%0) : (!llvm.ptr) -> ()
  llvm.return
}
llvm.func @"odd name"(%a: !llvm.ptr {llvm.noalias}) attributes {kc.brief, kc.kernel} {
  llvm.return
}
llvm.func @plain(%a: !llvm.ptr) {
  llvm.return
}
"""


def test_functions_are_compiled_by_kind():
    brief, main, kernels = units.split(parse_module(MODULE, make_context()), "O2")
    assert [(unit.name, unit.opt) for unit in (brief, main, kernels)] == [
        ("brief", "O0"), ("main", "O2"), ("kernels", "codegen-only")
    ]  # fmt: skip
    assert "define internal void @main_k1(ptr %0) #" in main.text and "noinline" in main.text
    assert "define void @kc_entry_main(" in main.text and "define internal void @plain(" in main.text
    for declared in ("@main_k0__impl(ptr %0)", '@"odd name"(ptr noalias %0)', "@micro(ptr %0)"):
        assert f"declare hidden void {declared}\n" in main.text
    assert "define hidden void @main_k0__impl(" in kernels.text and "define hidden void @micro(" in kernels.text
    assert "@kc_entry_main" not in kernels.text + brief.text and "@plain" not in kernels.text + brief.text
    assert 'define hidden void @"odd name"(' in brief.text
    # A constant is copied to where it is named, and only there.
    assert ["@table = internal constant" in unit.text for unit in (brief, main, kernels)] == [False, True, True]
    objects = [elf.symbols(emit.host_object(unit.text, opt=unit.opt)) for unit in (brief, main, kernels)]
    assert set(objects[1].undefined) == {"main_k0__impl", "odd name", "micro"}


def test_who_names_a_level_gets_it():
    (whole,) = units.split(parse_module(MODULE, make_context()), "O0")
    assert whole.opt == "O0"
    assert "define internal void @main_k0__impl" in whole.text and "define void @kc_entry_main" in whole.text
    assert {unit.name for unit in units.split(parse_module(MODULE, make_context()), "O3")} == {"main", "kernels"}


def test_a_variable_is_not_copied():
    text = MODULE.replace("@table : !llvm.ptr", "@counter : !llvm.ptr")
    (whole,) = units.split(parse_module(text, make_context()), "O2")
    assert whole.opt == "O2" and whole.text.count("@counter = internal global") == 1


def test_large_kinds_are_cut(monkeypatch):
    kernels = "\n".join(
        f"llvm.func @k{i}(%a: !llvm.ptr) attributes {{kc.brief}} {{\n  llvm.return\n}}" for i in range(50)
    )
    calls = "\n".join(f"  llvm.call @k{i}(%a) : (!llvm.ptr) -> ()" for i in range(50))
    text = f"llvm.func @kc_entry_main(%a: !llvm.ptr) attributes {{kc.brief}} {{\n{calls}\n  llvm.return\n}}\n{kernels}"
    monkeypatch.setattr(units, "MOST_TEXT", 2500)
    parts = units.split(parse_module(text, make_context()), "O2")
    assert [part.name for part in parts] == ["brief", "brief-2"]
    assert max(len(part.text) for part in parts) < 6000
    tables = [elf.symbols(data) for data in emit.host_objects([(part.text, part.opt) for part in parts])]
    defined = [name for table in tables for name in table.defined]
    assert len(defined) == len(set(defined)) and "kc_entry_main" in defined
    assert {name for table in tables for name in table.undefined} <= set(defined) - {"kc_entry_main"}
    assert sum(part.text.count("\ndefine ") for part in parts) == 51


def test_a_batch_names_the_text_at_fault():
    good, bad = (ADD, "O0"), ("define oops", "O1")
    with pytest.raises(CompileError, match="reproducer: ") as caught:
        emit.host_objects([good, bad])
    with open(str(caught.value).split("reproducer: ")[1].strip()) as file:
        assert file.read().endswith("define oops")
    twice = emit.host_objects([good, (ADD.replace("@add", "@other"), "codegen-only")])
    assert [elf.symbols(data).defined for data in twice] == [("add",), ("other",)]


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_shared_library_and_header(tmp_path):
    described = {
        "entries": {
            "f": {
                "args": [
                    {"name": "x", "dtype": "f32", "shape": [4, None], "kind": "input"},
                    {"name": "n", "dtype": "i64", "shape": [], "scalar": True, "kind": "input"},
                    {"name": "w", "dtype": "bf16", "shape": [], "kind": "param", "param": 0},
                ],
                "results": [{"dtype": "complex64", "shape": ["n"]}],
            }
        }
    }
    header = shared_library.header(described)
    (tmp_path / "kc.h").write_text(header)
    (tmp_path / "t.c").write_text(
        '#include "kc.h"\nint main(void) { kc_f32_2d x; kc_bf16_0d w; kc_complex64_1d r;\n'
        "x.sizes[1] = 3; (void)w; (void)r;\n"
        "return sizeof x == 56 && sizeof w == 24 ? 0 : 1; }\n"
    )
    subprocess.run(["cc", "-Wall", "-Werror", "-std=c99", "t.c", "-o", "t"], cwd=tmp_path, check=True)
    assert subprocess.run([str(tmp_path / "t")]).returncode == 0
    path = tmp_path / "f.so"
    path.write_bytes(shared_library.link([emit.host_object(ADD)], emit.host().triple))
    assert ctypes.CDLL(str(path)).add(40, 2) == 42


def test_linker_errors(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CompileError, match="no linker for aarch64-linux-gnu found"):
        shared_library.link([b""], "aarch64-linux-gnu")
    with pytest.raises(CompileError, match="could not run the linker '/nowhere/ld'"):
        shared_library.link([b""], "x86_64-linux-gnu", linker="/nowhere/ld")


def test_host_features_agree_with_the_machine():
    machine = emit.host()
    enabled = emit.cpu_features(machine.triple, machine.cpu, machine.features)
    if machine.triple.startswith("x86_64") and os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as file:
            flags = next(line for line in file if line.startswith("flags")).split()
        assert {name: name in enabled for name in ("avx", "avx2", "fma", "f16c")} == {
            name: name in flags for name in ("avx", "avx2", "fma", "f16c")
        }
    assert {"avx2", "fma"} <= emit.cpu_features("x86_64-linux-gnu", "x86-64-v3", "")
    assert not {"avx", "fma"} & emit.cpu_features("x86_64-linux-gnu", "x86-64-v2", "")
    assert "fma" not in emit.cpu_features("x86_64-linux-gnu", "x86-64-v3", "-fma")
    assert np.dtype(np.float32).itemsize == 4


def test_runtime_symbols_are_those_of_the_loader():
    source = (Path(__file__).parents[2] / "compiler/runtime/src/symbols.cpp").read_text()
    math = re.search(r"kMath\[\] = \{(.*?)\};", source, re.DOTALL)
    names = {name + suffix for name in re.findall(r'"(\w+)"', math.group(1)) for suffix in ("", "f")}
    names |= set(re.findall(r"KC_SYMBOL\((\w+)\)", source)) - {"name"}
    names |= set(re.findall(r'\{"(\w+)", address\(', source))
    assert names == manifest.RUNTIME_SYMBOLS


ASSEMBLED = """module {
  llvm.func @kc_entry_main(%p: !llvm.ptr) {
    llvm.call @k(%p) : (!llvm.ptr) -> ()
    llvm.call @other(%p) : (!llvm.ptr) -> ()
    llvm.return
  }
  llvm.func @k(%p: !llvm.ptr) attributes {kc.asm =
      "\\09.text\\0A\\09.globl k\\0A\\09.hidden k\\0Ak:\\0A\\09movl $7, (%rdi)\\0A\\09retq\\0A"} {
    llvm.call @helper(%p) : (!llvm.ptr) -> ()
    llvm.call @both(%p) : (!llvm.ptr) -> ()
    llvm.return
  }
  llvm.func @other(%p: !llvm.ptr) {
    llvm.call @both(%p) : (!llvm.ptr) -> ()
    llvm.return
  }
  llvm.func @helper(%p: !llvm.ptr) {
    llvm.return
  }
  llvm.func @both(%p: !llvm.ptr) {
    llvm.return
  }
}"""


@pytest.mark.skipif(emit.host().triple.split("-")[0] != "x86_64", reason="assembly for x86-64")
def test_assembly_takes_the_place_of_a_function():
    module = parse_module(ASSEMBLED, make_context())
    assembly, main = units.split(module, "O1")
    assert (assembly.name, main.name) == ("asm", "main")
    assert assembly.text.startswith("module asm ") and assembly.text.count("\n") == 6
    assert "declare hidden void @k(ptr" in main.text and "define internal void @both" in main.text
    assert "@helper" not in main.text
    objects = emit.host_objects([(unit.text, unit.opt) for unit in (assembly, main)])
    assert [elf.symbols(data) for data in objects] == [
        elf.Symbols(("k",), ()), elf.Symbols(("kc_entry_main",), ("k",))
    ]  # fmt: skip
    whole = units.whole(module)
    assert 'module asm "k:"' in whole and "declare hidden void @k(ptr" in whole and "@helper" not in whole
    assert elf.symbols(emit.host_object(whole, opt="O1")).undefined == ()


def test_assembly_that_the_assembler_refuses_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("KC_REPRODUCER_DIR", str(tmp_path))
    with pytest.raises(CompileError, match=r"<inline asm>:1:9"):
        emit.host_object(emit.module_asm("no such thing"))
    assert not list(tmp_path.iterdir())
