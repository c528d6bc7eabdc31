"""The runtime on a real GPU: PTX by the driver, PyTorch's streams and tensors, memory, faults, launch cost.

The host code is C (kc's own code generation is tested elsewhere). Where the GPU is there may be no C compiler:

    KC_TEST_OBJECTS=DIR python -m pytest test/integration/gpu/test_runtime_gpu.py    with gcc: fills DIR (and skips)
    KC_TEST_OBJECTS=DIR python -m pytest test/integration/gpu/test_runtime_gpu.py    on the GPU: takes them from DIR
"""
from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "unit"))
from runtime_tools import argument, compile_c, program, result

from kc.runtime import ArgumentError, DeviceError, ExecutionError, LoadError, Program, cuda

pytestmark = pytest.mark.gpu

PTX = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 p_in, .param .u64 p_out, .param .u64 p_n, .param .f32 p_factor) {
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<8>; .reg .f32 %f<4>;
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  cvt.u64.u32 %d0, %r3;
  ld.param.u64 %d1, [p_n];
  setp.ge.u64 %p, %d0, %d1;
  @%p bra done;
  ld.param.u64 %d2, [p_in]; ld.param.u64 %d3, [p_out]; ld.param.f32 %f1, [p_factor];
  shl.b64 %d4, %d0, 2;
  add.u64 %d5, %d2, %d4; add.u64 %d6, %d3, %d4;
  ld.global.f32 %f0, [%d5];
  mul.f32 %f0, %f0, %f1;
  st.global.f32 [%d6], %f0;
done:
  ret;
}
.visible .entry fault(.param .u64 p_out) { .reg .b64 %d<2>; mov.u64 %d0, 16; st.global.u64 [%d0], %d0; ret; }
.extern .shared .align 16 .b8 pool[];
.visible .entry shared_sum(.param .u64 p_out, .param .u64 p_last) {
  .reg .b32 %r<4>; .reg .b64 %d<6>; .reg .f32 %f<2>; .reg .pred %p;
  mov.u32 %r0, %tid.x; mov.u32 %r1, pool; ld.param.u64 %d0, [p_last]; cvt.u32.u64 %r2, %d0;
  setp.ne.u32 %p, %r0, 0;
  @%p bra wait;
  mov.f32 %f0, 0f42280000; add.u32 %r3, %r1, %r2; st.shared.f32 [%r3], %f0;
wait:
  bar.sync 0;
  @!%p bra done;
  add.u32 %r3, %r1, %r2; ld.shared.f32 %f1, [%r3];
  ld.param.u64 %d1, [p_out]; st.global.f32 [%d1], %f1;
done:
  ret;
}
"""
KERNELS = [{"name": name, "module": "k.ptx"} for name in ("scale", "fault", "shared_sum")]

HOST = """
extern void kc_gpu_launch(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, void **);
extern void kc_gpu_memcpy_d2h(void *, void *, int64_t);
/* x * 2 * 3, through a scratch buffer that is freed while the work may still be running */
void kc_entry_main(void **args) {
  D1 *x = args[0], *r = args[1]; int64_t n = x->size[0]; float two = 2, three = 3;
  float *scratch = _mlir_memref_to_llvm_alloc(4 * n), *p = _mlir_memref_to_llvm_alloc(4 * n);
  void *one[] = {&x->data, &scratch, &n, &two}, *other[] = {&scratch, &p, &n, &three};
  kc_gpu_launch(0, (n + 255) / 256, 1, 1, 256, 1, 1, 0, one);
  kc_gpu_launch(0, (n + 255) / 256, 1, 1, 256, 1, 1, 0, other);
  _mlir_memref_to_llvm_free(scratch);
  give1(r, p, n);
}
void kc_entry_param(void **args) {
  D1 *x = args[0], *w = args[1]; int64_t n = w->size[0]; float two = 2; float *p = _mlir_memref_to_llvm_alloc(4 * n);
  void *one[] = {&w->data, &p, &n, &two};
  kc_gpu_launch(0, 1, 1, 1, 256, 1, 1, 0, one);
  give1(args[2], p, n);
  *(D1 *)args[3] = *x;
}
void kc_entry_fault(void **args) {
  float *p = _mlir_memref_to_llvm_alloc(4), host; void *one[] = {&p};
  kc_gpu_launch(1, 1, 1, 1, 1, 1, 1, 0, one);
  kc_gpu_memcpy_d2h(&host, p, 4);
  give1(args[1], p, 1);
}
void kc_entry_refused(void **args) {
  float *p = _mlir_memref_to_llvm_alloc(4), two = 2; int64_t n = 1; void *one[] = {&p, &p, &n, &two};
  kc_gpu_launch(0, 1, 1, 1, 4096, 1, 1, 0, one);
  give1(args[1], p, 1);
}
void kc_entry_shared(void **args) {
  float *p = _mlir_memref_to_llvm_alloc(4); int64_t last = 200000; void *one[] = {&p, &last};
  kc_gpu_launch(2, 1, 1, 1, 64, 1, 1, 200016, one);
  give1(args[1], p, 1);
}
void kc_entry_many(void **args) {
  D1 *x = args[0]; int64_t n = 1, count = x->size[0]; float two = 2; float *p = _mlir_memref_to_llvm_alloc(4);
  void *one[] = {&x->data, &p, &n, &two};
  for (int64_t i = 0; i < count; i++) kc_gpu_launch(0, 1, 1, 1, 32, 1, 1, 0, one);
  give1(args[1], p, 1);
}
"""


def entries() -> dict[str, Any]:
    one = {"args": [argument("x", "f32", ("N",))], "results": [result("f32", (None,))]}
    weights = {**argument("w", "f32", (4,)), "kind": "param"}
    param = {"args": [argument("x", "f32", ("N",)), weights], "results": [result("f32", (4,)), result("f32", ("N",))]}
    return {"main": one, "param": param, "fault": one, "refused": one, "shared": one, "many": one}


def make(ptx: bytes = PTX) -> Program:
    params = [{"file": "w", "dtype": "f32", "shape": [4]}]
    files = {"k.ptx": ptx, "w": np.float32([1, 2, 3, 4])}
    return program(
        compile_c(HOST), files=files, target="nvptx", kernels=KERNELS, entries=entries(), params=params
    )


@pytest.fixture(scope="module")
def gpu_program() -> Program:
    built = make()  # before the look at the driver, so that objects are made where there is none
    try:
        if cuda.device_count() == 0:
            pytest.skip("the driver shows no GPU")
    except DeviceError as error:
        pytest.skip(str(error))
    return built


@pytest.fixture(scope="module")
def torch(gpu_program: Program) -> Any:
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    return module


def test_numpy(gpu_program: Program) -> None:
    for n in (1, 255, 256, 100_003, 0):
        x = np.random.default_rng(n).standard_normal(n).astype(np.float32)
        (y,) = gpu_program(x)
        assert type(y) is np.ndarray
        np.testing.assert_array_equal(y, x * 2 * 3)


def test_parameters_and_borrowed_results(gpu_program: Program) -> None:
    for _ in range(3):
        twice, same = gpu_program.run("param", np.arange(5, dtype=np.float32))
        assert twice.tolist() == [2, 4, 6, 8] and same.tolist() == [0, 1, 2, 3, 4]


def test_torch_tensors(gpu_program: Program, torch: Any) -> None:
    x = torch.randn(1000, device="cuda")
    (y,) = gpu_program(x)
    assert type(y) is torch.Tensor and y.device == x.device and y.dtype == x.dtype
    assert torch.equal(y, x * 2 * 3)
    assert torch.equal(gpu_program(x[::2])[0], x[::2] * 6), "not contiguous: copied"
    assert gpu_program(x[:0])[0].shape == (0,)
    with pytest.raises(ArgumentError, match="an array on the CPU, but this program runs on a GPU"):
        gpu_program(x.cpu())
    with pytest.raises(ArgumentError, match=r"expected f32\[N\], got f16\[1000\]"):
        gpu_program(x.half())


def test_work_is_on_the_callers_stream(gpu_program: Program, torch: Any) -> None:
    """On a stream behind slow work: the program waits for its input, and nobody has to synchronise."""
    stream = torch.cuda.Stream()
    big = torch.randn(4096, 4096, device="cuda")
    torch.cuda.synchronize()
    for n in range(5):
        with torch.cuda.stream(stream):
            x = torch.zeros(1 << 20, device="cuda")
            for _ in range(10):
                big @ big
            x += n + 1
            (y,) = gpu_program(x)
            del x
            z = y + 1
        stream.synchronize()
        assert torch.equal(z, torch.full_like(z, 6 * (n + 1) + 1))


def test_results_free_their_memory(gpu_program: Program, torch: Any) -> None:
    x = torch.randn(64 << 20, device="cuda")  # 256 MiB in, scratch and result as large
    gpu_program(x)
    torch.cuda.synchronize()
    free, _ = torch.cuda.mem_get_info()
    for _ in range(50):
        gpu_program(x)
    torch.cuda.synchronize()
    assert free - torch.cuda.mem_get_info()[0] < 256 << 20


def test_large_dynamic_shared_memory(gpu_program: Program) -> None:
    assert gpu_program.run("shared", np.ones(1, np.float32))[0].tolist() == [42]


def test_refused_launch(gpu_program: Program) -> None:
    message = r"launch of kernel 'scale' .*block 4096 x 1 x 1.*CUDA_ERROR_INVALID_VALUE"
    with pytest.raises(ExecutionError, match=message):
        gpu_program.run("refused", np.ones(1, np.float32))
    assert gpu_program(np.ones(2, np.float32))[0].tolist() == [6, 6], "the next call is not affected"


def test_ptx_errors_carry_the_assemblers_log(gpu_program: Program) -> None:
    bad = make(PTX.replace(b"mul.f32 %f0, %f0, %f1", b"mul.f32 %f0, %f9, %f1"))
    with pytest.raises(LoadError, match=r"does not load 'k\.ptx': CUDA_ERROR_INVALID_PTX(.|\n)*%f9"):
        bad.prepare(0)


def test_jax_arrays(gpu_program: Program) -> None:
    jax = pytest.importorskip("jax")
    try:
        device = jax.devices("gpu")[0]
    except RuntimeError:
        pytest.skip("JAX sees no GPU")
    x = jax.device_put(np.arange(100, dtype=np.float32), device)
    (y,) = gpu_program(x)
    assert isinstance(y, jax.Array) and y.devices() == x.devices()
    np.testing.assert_array_equal(np.asarray(y), np.arange(100) * 6)


def test_cost_of_a_launch_and_of_a_call(gpu_program: Program, torch: Any) -> None:
    """A launch from compiled host code costs under 2 µs beyond what the driver takes (some 2 to 4 µs in all)."""
    x = torch.ones(10_000, device="cuda")
    gpu_program.run("many", x)
    torch.cuda.synchronize()
    start = time.perf_counter()
    gpu_program.run("many", x)
    launch = (time.perf_counter() - start) / len(x)
    torch.cuda.synchronize()
    one = x[:1]
    for _ in range(100):
        gpu_program(one)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(1000):
        gpu_program(one)
    call = (time.perf_counter() - start) / 1000
    print(f"launch {launch * 1e6:.2f} µs, call with 2 launches {call * 1e6:.1f} µs")
    assert launch < 8e-6 and call < 200e-6


FAULT = """
import sys; sys.path[:0] = {path!r}
import numpy as np
from test_runtime_gpu import make
from kc.runtime import ExecutionError
try: make().run("fault", np.ones(1, np.float32))
except ExecutionError as error: print(error)
"""


@pytest.mark.parametrize("synchronous", [False, True])
def test_a_faulting_kernel_is_an_error(gpu_program: Program, synchronous: bool) -> None:
    """In a process of its own: after a fault the context is lost. KC_GPU_SYNC=1 names the kernel."""
    code = FAULT.format(path=[str(Path(__file__).parent)])
    environment = {**os.environ, "KC_GPU_SYNC": "1" if synchronous else "0"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in done.stdout, done.stdout + done.stderr
    assert ("launch of kernel 'fault'" in done.stdout) == synchronous


def test_what_the_driver_tells() -> None:
    try:
        count = cuda.device_count()
    except DeviceError as error:
        pytest.skip(str(error))
    for index in range(count):
        gpu = cuda.describe(index)
        assert gpu.name and gpu.capability >= (5, 0) and gpu.memory > 1 << 30 and gpu.driver >= (12, 0)
