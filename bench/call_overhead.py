"""What a call costs beside the work: the time of the smallest program, per kind of array.

    python bench/call_overhead.py            on the CPU (needs the compiler)
    python bench/call_overhead.py FILE.kca   a GPU artifact made with --make (needs kc.runtime and PyTorch)
    python bench/call_overhead.py --make FILE.kca
"""
from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

SOURCE = """
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
"""


def microseconds(function: Callable[[], Any], calls: int = 5000) -> float:
    """CPU time of one call, the mean of ``calls``."""
    for _ in range(200):
        function()
    started = time.process_time()
    for _ in range(calls):
        function()
    return (time.process_time() - started) / calls * 1e6


def main() -> None:
    """See the module's docstring."""
    if len(sys.argv) == 3 and sys.argv[1] == "--make":
        import kc

        kc.compile(SOURCE, "nvptx:sm_90a").save(sys.argv[2])
        return
    import numpy
    import torch

    if len(sys.argv) == 2:
        import kc.runtime

        program: Any = kc.runtime.load(sys.argv[1])
        x = torch.ones(8, 8, device="cuda")
        print(f"kc, torch tensors on the GPU: {microseconds(lambda: program(x, x)):.1f} us")
        print(f"torch eager x + x on the GPU: {microseconds(lambda: x + x):.1f} us")
        torch.cuda.synchronize()
        return
    import kc

    program = kc.compile(SOURCE).program
    a, t = numpy.ones((8, 8), numpy.float32), torch.ones(8, 8)
    print(f"kc, NumPy: {microseconds(lambda: program(a, a)):.1f} us; numpy a + a: {microseconds(lambda: a + a):.1f} us")
    print(f"kc, torch: {microseconds(lambda: program(t, t)):.1f} us; torch t + t: {microseconds(lambda: t + t):.1f} us")


if __name__ == "__main__":
    main()
