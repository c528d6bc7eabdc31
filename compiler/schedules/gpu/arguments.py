"""How a kernel's operands and run-time extents travel from the host function to the device function.

Every operand becomes one parameter ``a<number>`` (a pointer for tensors, the value for scalars) and every symbol that
an address or a loop needs one ``i64`` ``s<number>``; tensor maps come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kc.builder.expr import HALF
from kc.builder.gpu import Value, at, const, load
from kc.builder.gpu_memory import from_memory, memory_kind
from kc.builder.gpu_module import Device, Host, Parameter
from kc.builder.gpu_ops import widen
from kc.kernels.expr import Dim, Kernel, Operand
from kc.schedules.gpu.access import ONE, ZERO, Access, Extent, Symbol, itemsize, start, symbols_of


class Arguments:
    """The parameters of ``kernel`` for addresses and loops made of ``extents``."""

    def __init__(
        self, kernel: Kernel, dims: Sequence[Dim], extents: Iterable[Extent], maps: Sequence[Parameter] = ()
    ) -> None:
        self.kernel = kernel
        self.dims = dims
        self.symbols: list[Symbol] = symbols_of(extents)
        self.maps = tuple(maps)
        self.parameters = [
            *self.maps,
            *(Parameter(f"a{number}", _parameter_type(operand)) for number, operand in enumerate(kernel.operands)),
            *(Parameter(f"s{number}", "i64") for number in range(len(self.symbols))),
        ]
        self.written = {number for number, operand in enumerate(kernel.operands) if operand.is_out}

    # -- on the host

    def _source(self, symbol: Symbol) -> tuple[int, int]:
        if symbol[0] == "extent":
            return symbol[1], symbol[2]
        source = self.dims[symbol[1]].source
        if source is None:
            raise ValueError(f"loop {symbol[1]} of kernel @{self.kernel.name} has no static size and no source")
        return source

    def host_extent(self, host: Host, extent: Extent) -> Value:
        """``extent`` as ``i64`` in the host function."""
        result = const(extent.coefficient, "i64")
        for symbol in extent.symbols:
            value = host.extent(*self._source(symbol))
            result = value if extent.coefficient == 1 and symbol is extent.symbols[0] else result * value
        return result

    def host_start(self, host: Host, item: Access) -> Value | int:
        """Byte offset of ``item`` at the origin of its loops, in the host function."""
        parts = [self.host_extent(host, part) for part in start(item)]
        if not parts:
            return 0
        result = parts[0]
        for part in parts[1:]:
            result = result + part
        return result * itemsize(item.type)

    def host_values(self, host: Host, maps: Sequence[Value] = ()) -> list[Value]:
        """The launch's arguments, in the order of ``parameters``."""
        operands = [
            host.pointer(number) if operand.shape is not None else host.scalar(number)
            for number, operand in enumerate(self.kernel.operands)
        ]
        return [*maps, *operands, *(host.extent(*self._source(symbol)) for symbol in self.symbols)]


class DeviceArguments:
    """``Arguments`` inside the device function; create it at the kernel's start."""

    def __init__(self, arguments: Arguments, device: Device) -> None:
        self.arguments = arguments
        self.device = device
        self.symbol_values = {symbol: device[f"s{number}"] for number, symbol in enumerate(arguments.symbols)}

    def extent(self, extent: Extent, kind: str = "i64") -> Value:
        """The value of ``extent``; a constant when static."""
        if extent.static is not None:
            return const(extent.static, kind)
        result: Value | None = None
        for symbol in extent.symbols:
            value = self.symbol_values[symbol].resize(kind)
            result = value if result is None else result * value
        assert result is not None
        return result * extent.coefficient

    def scaled(self, index: Value, extent: Extent) -> Value:
        """``index`` (i64) times ``extent``."""
        return index * (extent.coefficient if not extent.symbols else self.extent(extent))

    def pointer(self, item: Access, coordinates: Sequence[Value | None], extra: int = 0) -> Value:
        """Address of the element at ``coordinates`` (i64 per loop group; None: zero), ``extra`` elements further."""
        offset: Value | None = None
        fixed = extra
        for coordinate, stride in zip(coordinates, item.strides, strict=True):
            if coordinate is None or stride == ZERO:
                continue
            term = self.scaled(coordinate, stride)
            offset = term if offset is None else offset + term
        for count, stride in item.constants:
            if stride.static is not None:
                fixed += count * stride.static
                continue
            term = self.scaled(const(count, "i64"), stride)
            offset = term if offset is None else offset + term
        size = itemsize(item.type)
        base = self.device[f"a{item.arg}"]
        if offset is None:
            return at(base, fixed * size) if fixed else base
        return at(base, offset * size, fixed * size)

    def is_scalar(self, arg: int) -> bool:
        """Whether the argument travels by value."""
        return self.arguments.kernel.operands[arg].shape is None

    def scalar(self, arg: int) -> Value:
        """A by-value argument as it is computed with."""
        value, kind = self.device[f"a{arg}"], self.arguments.kernel.operands[arg].type
        if kind in HALF:
            return widen(value.bitcast("i16"), kind)
        return value.resize("index") if kind == "index" else value

    def invariant(self, arg: int) -> bool:
        """Whether nothing writes the argument's memory during the launch."""
        return arg not in self.arguments.written

    def element(self, item: Access, coordinates: Sequence[Value | None]) -> Value:
        """One element, as it is computed with."""
        raw = load(
            memory_kind(item.type), self.pointer(item, coordinates), itemsize(item.type), self.invariant(item.arg)
        )
        return from_memory(raw, item.type)


def _parameter_type(operand: Operand) -> str:
    """Destinations are buffers of their own; without these attributes LLVM's optimiser forgets that loads are
    invariant."""
    if operand.shape is None:
        return "i64" if operand.type == "index" else operand.type
    return f"!llvm.ptr<1> {{llvm.noalias{'' if operand.is_out else ', llvm.readonly'}}}"


def inner_vector(items: Iterable[Access], inner: int, limit: int) -> int:
    """Elements of 16 bytes of the narrowest type that ``items`` walk with stride 1, at most ``limit``."""
    sizes = [itemsize(item.type) for item in items if item.strides and item.strides[inner] == ONE]
    return min(limit, 16 // min(sizes)) if sizes else 1
