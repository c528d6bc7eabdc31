"""Arithmetic on real or complex elements alike."""

from __future__ import annotations

from kc.bindings import ir
from kc.passes.conversion._emit import Emitter, is_complex


def field_op(e: Emitter, name: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    """``name`` is ``add``, ``sub``, ``mul`` or ``div``."""
    return e.bin(f"complex.{name}" if is_complex(lhs.type) else f"arith.{name}f", lhs, rhs)


def square_root(e: Emitter, value: ir.Value) -> ir.Value:
    return e.unary("complex.sqrt" if is_complex(value.type) else "math.sqrt", value)


def conjugate(e: Emitter, value: ir.Value) -> ir.Value:
    """The conjugate; a real value is its own."""
    if not is_complex(value.type):
        return value
    part = ir.ComplexType(value.type).element_type
    imaginary = e.unary("arith.negf", e.one("complex.im", [value], part))
    return e.one("complex.create", [e.one("complex.re", [value], part), imaginary], value.type)


def wide_type(type_: ir.Type) -> ir.Type:
    """The type to accumulate in: f32 for narrower floats, else the type itself."""
    return type_ if str(type_) in ("f64", "f32") or is_complex(type_) else ir.F32Type.get()


def convert_float(e: Emitter, value: ir.Value, type_: ir.Type) -> ir.Value:
    return value if is_complex(type_) else e.to_float(value, type_)
