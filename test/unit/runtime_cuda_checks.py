"""Checks of GPU programs on the driver of fake_cuda.c, run by test_runtime_cuda.py in processes of their own."""
from __future__ import annotations

import ctypes
import gc
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from runtime_tools import argument, compile_c, program, result

import kc.runtime
from kc.runtime import ArgumentError, DeviceError, ExecutionError, LoadError, cuda, dlpack

fake = ctypes.CDLL(os.environ["KC_LIBCUDA"])
fake.fake_log.restype = ctypes.c_char_p
fake.fake_current.restype = ctypes.c_void_p
fake.fake_set_current.argtypes = [ctypes.c_void_p]

GPU = """
extern void kc_gpu_launch(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, void **);
extern void kc_gpu_tensor_map_encode(void *, int64_t, int64_t, void *, void *, void *, void *, int64_t, int64_t);
extern void kc_gpu_memcpy_d2h(void *, void *, int64_t);
extern void kc_gpu_memcpy_h2d(void *, void *, int64_t);
extern void kc_gpu_memcpy_d2d(void *, void *, int64_t);
extern void kc_gpu_memset(void *, int64_t, int64_t);
"""
DOUBLE = GPU + """
void kc_entry_main(void **args) {
  D1 *x = args[0], *r = args[1]; int64_t n = x->size[0];
  float *scratch = _mlir_memref_to_llvm_aligned_alloc(64, 4 * n), *p = _mlir_memref_to_llvm_alloc(4 * n);
  void *one[] = {&x->data, &scratch, &n}, *two[] = {&scratch, &p, &n};
  kc_gpu_launch(0, (n + 31) / 32, 1, 1, 32, 1, 1, SHARED, one);
  kc_gpu_launch(0, (n + 31) / 32, 1, 1, 32, 1, 1, SHARED, two);
  _mlir_memref_to_llvm_free(scratch);
  give1(r, p, n);
}
"""
KERNELS = [{"name": "scale", "module": "k.ptx"}, {"name": "first", "module": "k.ptx"}]


def gpu_program(source: str, args: Any, results: Any, *flags: str, **more: Any) -> Any:
    files = {"k.ptx": b"// ptx", **more.pop("files", {})}
    kernels = more.pop("kernels", KERNELS)
    return program(compile_c(source, *flags), args, results, files, target="nvptx", kernels=kernels, **more)


def doubler(shared: int = 0) -> Any:
    return gpu_program(DOUBLE, [argument("x", "f32", ("N",))], [result("f32", ("N",))], f"-DSHARED={shared}")


def log() -> list[str]:
    lines: list[str] = fake.fake_log().decode().splitlines()
    fake.fake_clear()
    return lines


def names(lines: list[str]) -> list[str]:
    return [line.split()[0] for line in lines]


def fails(error: type[Exception], call: Any, *words: str) -> None:
    try:
        call()
    except error as caught:
        assert all(word in str(caught) for word in words), caught
    else:
        raise AssertionError(f"no {error.__name__}")


def check_devices() -> None:
    assert cuda.device_count() == 2
    gpu = cuda.describe(1)
    assert (gpu.name, gpu.capability, gpu.multiprocessors, gpu.driver) == ("Fake GPU 1", (9, 0), 132, (13, 0))
    fails(DeviceError, lambda: cuda.describe(2), "cuDeviceGet failed")
    fails(DeviceError, lambda: cuda.own_stream(5), "there is no CUDA device 5 (the driver shows 2)")
    fails(DeviceError, lambda: cuda.own_stream(-1), "there is no CUDA device -1")


def check_numpy_goes_to_the_device_and_back() -> None:
    p = doubler()
    log()
    x = np.arange(40, dtype=np.float32)
    before = fake.fake_live()
    assert (p(x)[0] == 4 * x).all()
    first = log()
    assert first.count("cuModuleLoadDataEx context 0, // ptx") == 1
    assert [line for line in first if "cuLaunchKernel" in line] == [
        "cuLaunchKernel 1 context 0 grid 2 1 1 block 32 1 1 shared 0 stream 0x50"
    ] * 2
    assert (p(x)[0] == 4 * x).all()
    again = names(log())
    assert "cuModuleLoadDataEx" not in again and "cuFuncSetAttribute" not in again
    assert again.index("cuMemcpyHtoDAsync_v2") < again.index("cuLaunchKernel") < again.index("cuMemcpyDtoHAsync_v2")
    assert fake.fake_live() == before, "nothing leaks"
    assert fake.fake_current() is None, "the caller's context is back"


def check_empty_arrays_launch_nothing() -> None:
    p = doubler()
    p(np.ones(1, np.float32))
    log()
    assert p(np.zeros(0, np.float32))[0].shape == (0,)
    assert "cuLaunchKernel" not in names(log())


def check_shared_memory_is_asked_for_once() -> None:
    p = doubler(shared=100_000)
    x = np.ones(3, np.float32)
    p(x)
    assert [line for line in log() if "Attribute 8" in line] == ["cuFuncSetAttribute 8 = 100000"]
    p(x)
    assert "cuFuncSetAttribute" not in names(log())
    doubler(shared=48 << 10)(x)
    assert "cuFuncSetAttribute" not in names(log())


def check_launch_errors() -> None:
    p = doubler()
    x = np.ones(3, np.float32)
    p(x)
    before = fake.fake_live()
    log()
    fake.fake_fail(b"cuLaunchKernel", 719)
    fails(ExecutionError, lambda: p(x), "launch of kernel 'scale' with grid 1 x 1 x 1", "CUDA_ERROR_LAUNCH_FAILED")
    assert names(log()).count("cuLaunchKernel") == 1, "after a failure nothing else is launched"
    assert fake.fake_live() == before, "what was allocated is freed"
    assert p(x)[0].tolist() == [4, 4, 4]


def check_allocation_errors() -> None:
    p = doubler()
    x = np.ones(3, np.float32)
    p(x)
    name = b"cuMemAlloc_v2" if "FAKE_CUDA_NO_POOL" in os.environ else b"cuMemAllocFromPoolAsync"
    fake.fake_fail(name, 2)
    message = "allocation of 12 bytes on device 0 failed: CUDA_ERROR_OUT_OF_MEMORY (out of memory)"
    fails(DeviceError, lambda: p(x), message)
    log()
    fake.fake_fail(name, 2)
    fails(ExecutionError, lambda: p(DeviceBytes(x)), "allocation of 12 bytes on device 1 failed")
    log()


def check_load_errors() -> None:
    args, results = [argument("x")], [result()]
    x = np.ones(3, np.float32)
    bad = gpu_program(DOUBLE, args, results, "-DSHARED=0", files={"k.ptx": b"bad ptx"})
    for _ in range(2):
        words = ("does not load 'k.ptx': CUDA_ERROR_INVALID_PTX", "line 7; error : Unknown symbol 'q'")
        fails(LoadError, lambda: bad(x), *words)
    fails(LoadError, bad.prepare, "Unknown symbol 'q'")
    absent = gpu_program(DOUBLE, args, results, "-DSHARED=0", kernels=[{"name": "absent", "module": "k.ptx"}])
    fails(LoadError, lambda: absent(x), "'k.ptx' has no kernel 'absent': CUDA_ERROR_NOT_FOUND")
    none = gpu_program(DOUBLE, args, results, "-DSHARED=0", kernels=[])
    fails(ExecutionError, lambda: none(x), "launch of kernel 0 of 0")
    for chip, good in (("sm_90a", True), ("sm_80", True), ("sm_100", False), ("sm_80a", False), ("sm_90", True)):
        made = gpu_program(DOUBLE, args, results, "-DSHARED=0", chip=chip)
        if good:
            assert made(x)[0].tolist() == [4, 4, 4]
        else:
            fails(LoadError, lambda made=made: made(x), f"made for {chip}; GPU 0 (Fake GPU 0) is sm_90")
    lost = [{"name": "scale", "module": "b"}]
    fails(LoadError, lambda: gpu_program(DOUBLE, args, results, "-DSHARED=0", kernels=lost), "'b' is missing")
    log()


PARAMS = GPU + """
void kc_entry_main(void **args) {
  D1 *w = args[0], *x = args[1]; int64_t n = 1, m = x->size[0]; float *p = _mlir_memref_to_llvm_alloc(4);
  void *one[] = {&w->data, &p, &n};
  kc_gpu_launch(1, 1, 1, 1, 1, 1, 1, 0, one);
  give1(args[2], p, 1);
  *(D1 *)args[3] = *x; /* an argument handed back */
}
"""


def check_parameters_and_borrowed_results() -> None:
    args = [{**argument("w", "f32", (4,)), "kind": "param"}, argument("x")]
    params = [{"file": "w", "dtype": "f32", "shape": [4]}]
    w = np.float32([5, 6, 7, 8])
    p = gpu_program(PARAMS, args, [result("f32", (1,)), result()], params=params, files={"w": w})
    x = np.arange(3, dtype=np.float32)
    log()
    first, same = p(x)
    assert first.tolist() == [5] and same.tolist() == [0, 1, 2]
    assert sum("HtoD" in line and " 16 " in line for line in log()) == 1
    p(x)
    lines = log()
    assert not any("HtoD" in line and " 16 " in line for line in lines), "parameters are uploaded once"
    assert "cuMemcpyDtoDAsync_v2" in names(lines), "a borrowed result is copied on the device"
    before = fake.fake_live()
    del p
    gc.collect()
    assert fake.fake_live() == before - 1


COPIES = GPU + """
void kc_entry_main(void **args) {
  D1 *x = args[0]; int64_t k; float host[4];
  float *p = _mlir_memref_to_llvm_alloc(16), *q = _mlir_memref_to_llvm_alloc(16);
  kc_gpu_memcpy_d2h(host, x->data, 16);
  for (k = 0; k < 4; k++) host[k] += 1;
  kc_gpu_memcpy_h2d(p, host, 16);
  kc_gpu_memset(q, 0, 16);
  kc_gpu_memcpy_d2d(q, p, 8);
  _mlir_memref_to_llvm_free(p);
  char map[128] __attribute__((aligned(64)));
  uint64_t dims[2] = {64, 32}, pitch[1] = {128}; uint32_t box[2] = {64, 8};
  kc_gpu_tensor_map_encode(map, 9, 2, q, dims, pitch, box, 3, 2);
  if (map[0] != 7) kc_raise("no tensor map");
  give1(args[1], q, 4);
}
"""


LEFT = GPU + """
void kc_fail_check(const char *, int64_t, int64_t);
void kc_entry_main(void **args) {
  D1 *x = args[0];
  float *p = _mlir_memref_to_llvm_alloc(16), *q = _mlir_memref_to_llvm_alloc(16);
  _mlir_memref_to_llvm_free(p);
  if (x->size[0] != 4) kc_fail_check("{0} is not {1}", x->size[0], 4);
  give1(args[1], q, 4);
}
"""


def check_a_call_that_is_left_frees_device_memory() -> None:
    p = gpu_program(LEFT, [argument("x")], [result()])
    p(np.ones(4, np.float32))
    before = fake.fake_live()
    fails(ExecutionError, lambda: p(np.ones(5, np.float32)), "5 is not 4")
    assert fake.fake_live() == before
    assert p(np.ones(4, np.float32))[0].shape == (4,)


def check_copies_and_tensor_maps() -> None:
    p = gpu_program(COPIES, [argument("x")], [result()])
    log()
    assert p(np.float32([1, 2, 3, 4]))[0].tolist() == [2, 3, 0, 0]
    lines = log()
    assert "cuTensorMapEncodeTiled type 9 rank 2 dims 64 32 pitch 128 box 64 8 steps 1 1 swizzle 3 l2 2" in lines
    copied = names(lines).index("cuMemcpyDtoHAsync_v2")
    assert names(lines)[copied + 1] == "cuStreamSynchronize", "host code reads the bytes next"
    fake.fake_fail(b"cuTensorMapEncodeTiled", 1)
    words = ("tensor map", "type 9", "dimension 1: size 32, box 8", "pitch 128")
    fails(ExecutionError, lambda: p(np.ones(4, np.float32)), *words)
    log()


STRIDED = """
void kc_entry_main(void **args) {
  D1 *x = args[0]; float *p = _mlir_memref_to_llvm_alloc(24);
  D2 from = {x->data, x->data, 1, {2, 3}, {4, 1}}, to = {p, p, 0, {2, 3}, {3, 1}};
  Unranked source = {2, &from}, target = {2, &to};
  memrefCopy(4, &source, &target);
  give1(args[1], p, 6);
}
"""


def check_strided_copies() -> None:
    p = gpu_program(STRIDED, [argument("x")], [result()])
    log()
    assert p(np.arange(8, dtype=np.float32))[0].tolist() == [1, 2, 3, 5, 6, 7]
    assert names(log()).count("cuMemcpyDtoDAsync_v2") == 2, "one copy a row"


class DeviceBytes:
    """An array of some library in the fake's memory on device 1: only the CUDA array interface."""

    def __init__(self, array: np.ndarray, stream: int | None = None, **changes: Any) -> None:
        self._array = array
        interface = {"shape": array.shape, "typestr": array.dtype.str, "data": (array.ctypes.data, False), "version": 3}
        self.__cuda_array_interface__ = {**interface, "stream": stream, **changes}


def check_device_arrays() -> None:
    p = doubler()
    x = np.arange(5, dtype=np.float32)
    log()
    (y,) = p(DeviceBytes(x, stream=7))
    assert isinstance(y, kc.runtime.DeviceArray) and y.shape == (5,) and y.dtype == "f32"
    lines = log()
    assert "cuStreamSynchronize 0x7" in lines, "the producer's stream is waited for"
    launch = next(line for line in lines if "cuLaunchKernel" in line)
    assert launch.endswith("stream 0x51") and "context 1" in launch, launch
    assert not any("HtoD" in line or "DtoH" in line for line in lines), "no copies"
    assert lines[-1] == "cuStreamSynchronize 0x51"
    interface = y.__cuda_array_interface__
    values = np.ctypeslib.as_array(ctypes.cast(interface["data"][0], ctypes.POINTER(ctypes.c_float)), (5,))
    assert (values == 4 * x).all() and interface["strides"] == (4,)
    (z,) = p(y)  # by DLPack, which gives the buffer away
    fails(BufferError, lambda: y.__cuda_array_interface__, "given away")
    capsule = z.__dlpack__(stream=9)
    assert [line for line in log() if "Wait" in line or "Record" in line] == [
        "cuEventRecord 0xe on 0x51", "cuStreamWaitEvent 0x9 waits for 0xe"
    ]
    before = fake.fake_live()
    del capsule
    assert fake.fake_live() == before - 1, "a capsule that nobody took frees its tensor"
    fails(ArgumentError, lambda: p(DeviceBytes(x, typestr="<f8")), "argument 0 ('x'): expected f32[N], got f64[5]")
    fails(ArgumentError, lambda: p(DeviceBytes(x, strides=(8,))), "not contiguous")
    fails(ArgumentError, lambda: p(DeviceBytes(x, mask=x)), "masked")


def check_cpu_program_refuses_device_arrays() -> None:
    source = "void kc_entry_main(void **a) { *(D1 *)a[1] = *(D1 *)a[0]; }"
    p = program(compile_c(source), [argument("x")], [result()])
    fails(ArgumentError, lambda: p(DeviceBytes(np.ones(3, np.float32))), "argument 0 ('x')", "GPU 1", "runs on the CPU")


def check_gpu_program_refuses_tensors_of_the_cpu() -> None:
    try:
        import torch
    except ImportError:
        return
    fails(ArgumentError, lambda: doubler()(torch.ones(3)), "argument 0 ('x')", "an array on the CPU", "runs on a GPU")


def check_freeing_on_a_lost_stream() -> None:
    pool = "FAKE_CUDA_NO_POOL" not in os.environ
    p = doubler()
    (y,) = p(DeviceBytes(np.ones(3, np.float32)))
    log()
    fake.fake_fail(b"cuMemFreeAsync", 400)
    before = fake.fake_live()
    del y
    assert fake.fake_live() == before - 1
    assert names(log()) == (["cuMemFreeAsync"] if pool else []) + ["cuMemFree_v2"]


def check_two_devices_in_one_call() -> None:
    add = GPU + "void kc_entry_main(void **a) { *(D1 *)a[2] = *(D1 *)a[0]; }"
    p = gpu_program(add, [argument("x"), argument("y")], [result()])
    x = np.ones(3, np.float32)
    real = dlpack.device_of
    order = iter([0, 1])
    dlpack.device_of = lambda pointer: next(order)
    try:
        fails(ArgumentError, lambda: p(DeviceBytes(x), DeviceBytes(x)), "argument 1 ('y')", "GPU 1", "GPU 0")
    finally:
        dlpack.device_of = real


def check_context_of_the_caller() -> None:
    other = ctypes.create_string_buffer(8)
    fake.fake_set_current(ctypes.addressof(other))
    doubler()(np.ones(3, np.float32))
    assert fake.fake_current() == ctypes.addressof(other)
    fake.fake_set_current(None)


if __name__ == "__main__":
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            check()
            fake.fake_clear()
            print(name, "passed", flush=True)
