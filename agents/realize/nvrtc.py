"""NVRTC by ctypes: CUDA C++ to PTX, no GPU and no driver needed. Run as a child (see ``kc.agents.realize.child``)."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kc.errors import InputError

#: path of a libnvrtc to use instead of the one that is found
VARIABLE = "KC_NVRTC_LIBRARY"


def find() -> str | None:
    """The library: ``KC_NVRTC_LIBRARY``, NVIDIA's wheels, the CUDA toolkit; None when there is none."""
    given = os.environ.get(VARIABLE)
    if given:
        return given
    for folder in _folders():
        found = sorted(f for f in folder.glob("libnvrtc.so.[0-9]*") if f.name.removeprefix("libnvrtc.so.").isdigit())
        if found:
            return str(found[-1])
    return None


def _folders() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        yield from sorted(Path(place).glob("cu[0-9]*/lib"), reverse=True)
        yield Path(place, "cuda_nvrtc", "lib")
    for home in filter(None, (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda")):
        yield Path(home, "lib64")


@functools.cache
def _load() -> ctypes.CDLL:
    where = find()
    if where is None:
        raise InputError("CUDA C++ needs NVRTC, which was not found: pip install 'kc[cuda]'")
    return ctypes.CDLL(where)


def includes() -> list[str]:
    """Folders of CUDA's headers beside the library (``cuda_fp16.h``, ``mma.h``): wheels of the runtime bring them."""
    where = find()
    if where is None:
        return []
    spec = importlib.util.find_spec("nvidia")
    places = [Path(where).parent.parent / "include"]
    for place in (spec.submodule_search_locations or ()) if spec else ():
        places.append(Path(place, "cuda_runtime", "include"))
    return [str(path) for path in places if path.is_dir()]


def compile_source(source: str, chip: str) -> dict[str, str]:
    """``{"ptx": …, "log": …, "compiler": …}``, or ``{"error": …}`` in NVRTC's words."""
    lib = _load()
    program = ctypes.c_void_p()
    _require(lib, lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"proposal.cu", 0, None, None))
    options = [f"--gpu-architecture={chip.replace('sm_', 'compute_')}", "--std=c++17", "--no-source-include",
               "--device-int128", *(f"--include-path={path}" for path in includes())]  # fmt: skip
    arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    status = lib.nvrtcCompileProgram(program, len(options), arguments)
    log = _text(lib, program, "ProgramLog")
    if status:
        return {"error": log.strip() or _words(lib, status)}
    return {"ptx": _text(lib, program, "PTX"), "log": log, "compiler": f"nvrtc {_version(lib)}"}


def _version(lib: Any) -> str:
    major, minor = ctypes.c_int(), ctypes.c_int()
    _require(lib, lib.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return f"{major.value}.{minor.value}"


def _text(lib: Any, program: ctypes.c_void_p, what: str) -> str:
    size = ctypes.c_size_t()
    _require(lib, getattr(lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _require(lib, getattr(lib, f"nvrtcGet{what}")(program, buffer))
    return buffer.value.decode(errors="replace")


def _require(lib: Any, status: int) -> None:
    if status:
        raise InputError(f"NVRTC failed: {_words(lib, status)}")


def _words(lib: Any, status: int) -> str:
    lib.nvrtcGetErrorString.restype = ctypes.c_char_p
    return str(lib.nvrtcGetErrorString(status).decode())


def main(request: dict[str, Any]) -> dict[str, Any]:
    """What the child does."""
    return compile_source(request["source"], request["chip"])
