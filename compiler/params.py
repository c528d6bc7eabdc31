"""Parameters: the big constants and bound weights of a module, kept beside it and never as text.

An entry function's argument with the attribute ``{kc.param = N : i64}`` is parameter ``N`` of the module's
``ParamTable``; the artifact stores the table's arrays as files and the runtime binds them when the program is loaded.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import hashlib
import math
import re
import struct
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy

    from kc.bindings import ir

ATTRIBUTE = "kc.param"

_COMPLEX = {"complex<f32>": "complex64", "complex<f64>": "complex128"}


@dataclasses.dataclass(frozen=True, eq=False)
class Param:
    """One parameter: ``data`` holds the elements in row-major order, one byte or more each (i1 and i4: one byte each).

    ``dtype`` is the runtime's name of the element type (``f32``, ``bf16``, ``i1``, ``ui8``, ``complex64``),
    ``shape`` static.
    """

    dtype: str
    shape: tuple[int, ...]
    data: numpy.ndarray[Any, Any]

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return int(self.data.nbytes)

    def tobytes(self) -> bytes:
        """The elements' bytes; a copy unless ``data`` is all of a ``bytes`` object."""
        base = self.data.base
        return base if isinstance(base, bytes) and len(base) == self.nbytes else self.data.tobytes()


class ParamTable:
    """Parameters by number. Equal constants share a number; what ``add`` is given is kept, not copied."""

    def __init__(self) -> None:
        self._params: dict[int, Param] = {}
        self._by_hash: dict[tuple[str, tuple[int, ...], bytes], int] = {}

    @staticmethod
    def of(context: ir.Context) -> ParamTable:
        """The table of the modules that live in ``context``, made on first use and kept as long as the context."""
        return _tables.setdefault(context, ParamTable())

    @staticmethod
    def drop(context: ir.Context) -> bool:
        """Forget the table of ``context``; gives whether it held parameters."""
        return bool(_tables.pop(context, None))

    def add(self, data: numpy.ndarray[Any, Any], dtype: str | None = None, shape: tuple[int, ...] | None = None) -> int:
        """Take an array and return its number.

        ``dtype`` is needed where NumPy's own dtype does not tell (``data`` holding the raw bytes of another type),
        ``shape`` where ``data`` is flat. Raises ``ValueError`` when a dtype has no name or the size does not fit.
        """
        import numpy

        data = numpy.ascontiguousarray(data) if data.ndim else data
        shape = tuple(data.shape) if shape is None else tuple(shape)
        dtype = dtype_name(data.dtype) if dtype is None else dtype
        expected = itemsize(dtype)
        for extent in shape:
            expected *= extent
        if expected != data.nbytes:
            raise ValueError(f"{data.nbytes} bytes for {dtype}{list(shape)}, which has {expected}")
        number = len(self._params)
        self._params[number] = Param(dtype, shape, data)
        return number

    def add_constant(self, data: bytes, dtype: str, shape: tuple[int, ...]) -> int:
        """Take a constant's bytes; equal constants get the same number."""
        import numpy

        identity = (dtype, tuple(shape), hashlib.sha256(data).digest())
        if identity not in self._by_hash:
            self._by_hash[identity] = self.add(numpy.frombuffer(data, numpy.uint8), dtype, shape)
        return self._by_hash[identity]

    def __getitem__(self, number: int) -> Param:
        return self._params[number]

    def __len__(self) -> int:
        return len(self._params)

    def __iter__(self) -> Iterator[int]:
        return iter(self._params)


_tables: weakref.WeakKeyDictionary[Any, ParamTable] = weakref.WeakKeyDictionary()


def itemsize(dtype: str) -> int:
    """Bytes that one element of ``dtype`` (runtime name) takes in memory; sub-byte types take one."""
    if dtype in ("complex64", "complex128"):
        return int(dtype[7:]) // 8
    match = re.match(r"(?:bf|ui|f|i|u)(\d+)", dtype)
    if match is None:
        if dtype == "index":
            return 8
        raise ValueError(f"no element type is named '{dtype}'")
    return max(1, int(match.group(1)) // 8)


def dtype_name(dtype: Any) -> str:
    """The runtime's name of a NumPy (or ml_dtypes) dtype. Raises ``ValueError`` for objects, strings, dates."""
    name = str(dtype)
    known = {"bool": "i1", "bfloat16": "bf16", "complex64": name, "complex128": name, "int4": "i4", "uint4": "ui4"}
    if name in known:
        return known[name]
    match = re.fullmatch(r"(float|int|uint)(\d+)", name)
    if match is not None:
        return {"float": "f", "int": "i", "uint": "ui"}[match.group(1)] + match.group(2)
    match = re.fullmatch(r"float(\d+)_(e\w+)", name)
    if match is not None:
        return f"f{match.group(1)}{match.group(2).upper()}"
    raise ValueError(f"arrays of NumPy dtype {name} cannot be parameters")


def type_dtype(element: ir.Type) -> str:
    """The runtime's name of an MLIR element type."""
    text = str(element)
    return _COMPLEX.get(text, text.replace("si", "i") if text.startswith("si") else text)


# ------------------------------------------------------------------------------------------- constants' bytes
# The bindings give the contents of some element types only (no bf16, f8, i4, complex, no dense_resource). MLIR's C API
# gives all dense ones; its functions are in the shared library that the bindings load.


class _Handle(ctypes.Structure):
    _fields_ = (("pointer", ctypes.c_void_p),)


class _StringRef(ctypes.Structure):
    _fields_ = (("data", ctypes.c_char_p), ("length", ctypes.c_size_t))


@functools.lru_cache(maxsize=1)
def _capi() -> Any:
    import os

    from kc.bindings import library_dir

    folder = library_dir()
    name = next(n for n in sorted(os.listdir(folder)) if n.startswith("libTorchMLIRAggregateCAPI"))
    library = ctypes.CDLL(os.path.join(folder, name))
    library.mlirOperationGetAttributeByName.argtypes = (_Handle, _StringRef)
    library.mlirOperationGetAttributeByName.restype = _Handle
    library.mlirOperationSetAttributeByName.argtypes = (_Handle, _StringRef, _Handle)
    library.mlirOperationSetAttributeByName.restype = None
    library.mlirDenseElementsAttrGetRawData.argtypes = (_Handle,)
    library.mlirDenseElementsAttrGetRawData.restype = ctypes.c_void_p
    library.mlirDenseElementsAttrIsSplat.argtypes = (_Handle,)
    library.mlirDenseElementsAttrIsSplat.restype = ctypes.c_bool
    library.mlirAttributeIsADenseElements.argtypes = (_Handle,)
    library.mlirAttributeIsADenseElements.restype = ctypes.c_bool
    library.mlirAttributeIsADenseResourceElements.argtypes = (_Handle,)
    library.mlirAttributeIsADenseResourceElements.restype = ctypes.c_bool
    return library


def _operation(op: ir.Operation) -> _Handle:
    capsule = op.operation._CAPIPtr
    get_name, get_pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.argtypes, get_name.restype = (ctypes.py_object,), ctypes.c_char_p
    get_pointer.argtypes, get_pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
    return _Handle(get_pointer(capsule, get_name(capsule)))


def _attribute(op: ir.Operation, name: str) -> _Handle:
    encoded = name.encode()
    result: _Handle = _capi().mlirOperationGetAttributeByName(_operation(op), _StringRef(encoded, len(encoded)))
    return result


def copy_attribute(source: ir.Operation, target: ir.Operation, name: str) -> None:
    """Give ``target`` the attribute ``name`` of ``source``, of whatever kind: its contents are shared, not copied."""
    encoded = name.encode()
    handle = _attribute(source, name)
    _capi().mlirOperationSetAttributeByName(_operation(target), _StringRef(encoded, len(encoded)), handle)


def is_splat(op: ir.Operation, name: str = "value") -> bool:
    """Whether attribute ``name`` of ``op`` is a dense constant that repeats one value, of any element type.

    The bindings raise TypeError where the elements are complex.
    """
    handle, library = _attribute(op, name), _capi()
    return bool(
        handle.pointer
        and library.mlirAttributeIsADenseElements(handle)
        and library.mlirDenseElementsAttrIsSplat(handle)
    )


def splat_bytes(op: ir.Operation, name: str, nbytes: int) -> bytes | None:
    """The ``nbytes`` bytes of the one element that the dense constant ``name`` of ``op`` repeats; None if no splat."""
    if not is_splat(op, name):
        return None
    return ctypes.string_at(_capi().mlirDenseElementsAttrGetRawData(_attribute(op, name)), nbytes)


def complex_splat(op: ir.Operation, name: str = "value") -> complex | None:
    """The number that the dense constant ``name`` of ``op``, a tensor of complex<f32> or complex<f64>, repeats."""
    form = "2f" if "complex<f32>" in str(op.results[0].type) else "2d"
    data = splat_bytes(op, name, struct.calcsize(form))
    return None if data is None else complex(*struct.unpack(form, data))


def constant_bytes(op: ir.Operation, name: str, nbytes: int) -> bytes | None:
    """The ``nbytes`` bytes of the dense constant that is attribute ``name`` of ``op``.

    None when it is a splat (better left in the code) or when it is neither ``dense`` nor ``dense_resource``.
    """
    handle = _attribute(op, name)
    library = _capi()
    if not handle.pointer:
        return None
    if library.mlirAttributeIsADenseElements(handle):
        if library.mlirDenseElementsAttrIsSplat(handle):
            return None
        return ctypes.string_at(library.mlirDenseElementsAttrGetRawData(handle), nbytes)
    if library.mlirAttributeIsADenseResourceElements(handle):
        return _resource_bytes(op, nbytes)
    return None


def is_resource(op: ir.Operation, name: str = "value") -> bool:
    """Whether attribute ``name`` of ``op`` is a constant whose contents stand in the module's resources."""
    handle = _attribute(op, name)
    return bool(handle.pointer and _capi().mlirAttributeIsADenseResourceElements(handle))


def lacks_contents(op: ir.Operation) -> bool:
    """Whether the value of ``op``, of which ``is_resource`` holds, is not among the resources: MLIR crashes then."""
    from kc.bindings import ir

    module = ir.Module.create(ir.Location.unknown(op.context))
    op.clone(ir.InsertionPoint(module.body))
    pieces = _Pieces(0)
    module.operation.write_bytecode(pieces)
    elements = math.prod(ir.ShapedType(op.results[0].type).shape)
    if pieces.total > max(_SMALL, elements):  # a byte or more each; what is packed is looked up as text
        return False
    return re.search(r': "0x[0-9A-Fa-f]', module.operation.get_asm().rpartition("{-#")[2]) is None and elements > 0


_SMALL = 1 << 16  # bytes of a resource that is read from the op's text


class _Pieces:
    """A file that keeps what is written to it in pieces of ``nbytes`` bytes."""

    def __init__(self, nbytes: int):
        self._nbytes = nbytes
        self.found: list[bytes] = []
        self.total = 0

    def write(self, piece: bytes) -> None:
        """Take one piece."""
        self.total += len(piece)
        if len(piece) == self._nbytes:
            self.found.append(piece)


def _resource_bytes(op: ir.Operation, nbytes: int) -> bytes | None:
    # The C API reads resources one element a call. In bytecode a resource is one write: no other piece is that long.
    from kc.bindings import ir

    module = ir.Module.create(ir.Location.unknown(op.context))
    op.clone(ir.InsertionPoint(module.body))
    if nbytes >= _SMALL:
        pieces = _Pieces(nbytes)
        module.operation.write_bytecode(pieces)
        if len(pieces.found) == 1:
            return pieces.found[0]
    text = module.operation.get_asm()
    match = re.search(r'"0x[0-9A-Fa-f]{8}([0-9A-Fa-f]*)"', text[text.rfind("{-#") :])
    if match is None:
        return None
    data = bytes.fromhex(match.group(1))
    return data if len(data) == nbytes else None
