"""Builders of linalg's named ops. Those of the bindings give the same ops, but first define every one in Python."""

from __future__ import annotations

from kc.bindings import ir


def fill(value: ir.Value, into: ir.Value) -> ir.Value:
    """``linalg.fill`` of a tensor of the type of ``into`` with a scalar."""
    from kc.bindings import linalg

    op = linalg.FillOp([into.type], [value], [into])
    linalg.fill_builtin_region(op.operation)
    return op.operation.results[0]


def copy(value: ir.Value, into: ir.Value) -> ir.Value:
    """``linalg.copy`` of a tensor to one of the type of ``into``."""
    from kc.bindings import linalg

    op = linalg.CopyOp([into.type], [value], [into], cast=ir.Attribute.parse("#linalg.type_fn<cast_signed>"))
    linalg.fill_builtin_region(op.operation)
    return op.operation.results[0]
