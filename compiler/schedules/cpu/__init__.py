"""Schedules of the CPU: loops and vectors over memrefs, one module a kernel family."""
