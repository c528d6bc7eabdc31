"""An executor for modules at level gpu without a GPU: every warp steps through its ops, lanes side by side in NumPy.

Host code and kernels are interpreted as written. Warps run in turn and meet at barriers; clocks per thread tell which
accesses are ordered, so that races are found whatever the order in which the warps ran. Correctness counts here, not
speed: some microseconds per op and warp.
"""
