"""Custom calls of a GPU program on the driver of fake_cuda.c, whose device memory is the host's; run by
test_custom_calls.py in a process of its own. The program has no kernels: calls and copies only."""
import ctypes

import numpy as np

import kc
from kc.runtime import ExecutionError, LoadError, custom_calls

SOURCE = """
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = stablehlo.custom_call @gpu.test(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.custom_call @gpu.test(%0) {
    output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0,
      operand_tuple_indices = []>]} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}"""
X = np.arange(12, dtype=np.float32).reshape(4, 3)


def on_host(inputs, outputs, attributes):
    assert isinstance(inputs[0], np.ndarray)
    outputs[0][...] = inputs[0] * 3 + inputs[0]


def on_device(inputs, outputs, attributes):
    described = outputs[0].__cuda_array_interface__
    assert described["shape"] == (4, 3) and described["typestr"] == "<f4" and described["strides"] == (12, 4)
    assert inputs[0].__cuda_array_interface__["data"][1] and not described["data"][1]
    arrays = [
        np.frombuffer((ctypes.c_char * 48).from_address(v.pointer), np.float32) for v in (inputs[0], outputs[0])
    ]
    arrays[1][...] = arrays[0] + 1


def fails(inputs, outputs, attributes):
    raise ValueError("no")


custom_calls.register("gpu.test", on_host)
np.testing.assert_array_equal(kc.compile(SOURCE, "nvptx:sm_90a")(X)[0], 16 * X)
custom_calls.register("gpu.test", on_device, "nvptx")
program = kc.compile(SOURCE, "nvptx:sm_90a")
np.testing.assert_array_equal(program(X)[0], X + 2)
np.testing.assert_array_equal(program(X)[0], X + 2)
custom_calls.register("gpu.test", fails, "nvptx", replace=True)
try:
    kc.compile(SOURCE, "nvptx:sm_90a")(X)
    raise AssertionError("did not fail")
except ExecutionError as error:
    assert "custom call 'gpu.test' at -:3:8: ValueError: no" in str(error), error
    assert isinstance(error.__cause__, ValueError)
np.testing.assert_array_equal(program(X)[0], X + 2)

custom_calls.unregister("gpu.test", "nvptx")
custom_calls.register_c("gpu.test", ctypes.CFUNCTYPE(None)(lambda: None), replace=True)
try:
    kc.compile(SOURCE, "nvptx:sm_90a")(X)
    raise AssertionError("did not fail")
except LoadError as error:
    assert "there is a C function for the CPU only" in str(error), error


BUFFERS = ctypes.POINTER(ctypes.POINTER(ctypes.c_float))


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, BUFFERS, ctypes.c_char_p, ctypes.c_size_t)
def xla(stream, buffers, opaque, size):
    for k in range(12):
        buffers[1][k] = buffers[0][k] - 1


custom_calls.register_c("gpu.test", xla, "nvptx", abi="xla", replace=True)
np.testing.assert_array_equal(kc.compile(SOURCE, "nvptx:sm_90a")(X)[0], X - 2)
print("all passed")
