"""Generators of operations by family: each adds one or more operations to a program under construction."""
