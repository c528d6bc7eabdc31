"""Shrinking a module to the smallest that still fails: delta debugging over MLIR.

MLIR has this as the C++ tool ``mlir-reduce`` only, which knows neither kc's passes nor wrong results. Here ``case`` is
what is shrunk, ``edits`` and ``rewriting`` are the steps (each leaves IR that verifies, or is dropped), ``search``
tries them in turn, and ``predicates`` say whether a candidate still fails.
"""
