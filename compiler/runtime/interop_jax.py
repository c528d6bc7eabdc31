"""JAX arrays: on the CPU adopted through NumPy (no copy), on a GPU through DLPack.

JAX has no current stream to join: GPU calls run on the runtime's own stream, which waits for the inputs, and the
call returns when its results are there.
"""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.runtime import dlpack
from kc.runtime.arrays import CPU, CUDA, NUMPY, Result, View, adopt_numpy, refuse
from kc.runtime.signature import Spec

if TYPE_CHECKING:
    import jax

# Types that jax.dlpack takes; others reach JAX through a NumPy array (a copy).
_BY_DLPACK = frozenset((
    "f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "ui64", "ui32", "ui16", "ui8", "i1", "complex64",
    "complex128",
))


class JaxKind:
    name = "jax"

    def stream(self, device: int) -> int | None:
        return None

    def wrap(self, result: Result) -> Any:
        import jax

        name = result.dtype.name
        if name in ("i64", "ui64") and not jax.config.jax_enable_x64:
            return _narrowed(NUMPY.wrap(result), name)
        if result.device_type == CPU:
            return jax.numpy.asarray(NUMPY.wrap(result))  # no copy: the memory is aligned as JAX likes it
        if name in _BY_DLPACK and all(result.shape):
            return jax.dlpack.from_dlpack(dlpack.Exported(result))
        return jax.device_put(NUMPY.wrap(result), jax.devices("gpu")[result.device])


JAX = JaxKind()


def _narrowed(array: Any, name: str) -> Any:
    """64-bit integers with JAX's 64-bit types off: JAX would cut them to 32 bits without a word."""
    import jax.numpy as jnp

    limits = np.iinfo(np.int32 if name == "i64" else np.uint32)
    if array.size and (array.min() < limits.min or array.max() > limits.max):
        raise OverflowError(f"a result of {name} does not fit JAX's 32-bit types; set jax_enable_x64")
    return jnp.asarray(array)


def adopt(array: jax.Array, spec: Spec, index: int) -> View:
    if isinstance(array, sys.modules["jax"].core.Tracer):
        refuse(spec, index, "got a value that JAX is tracing; call the program outside of jax.jit, grad and vmap")
    if not isinstance(array.dtype, np.dtype):
        refuse(spec, index, "got a typed PRNG key (jax.random.key_data gives its numbers)")
    devices = array.devices()
    if len(devices) != 1:
        refuse(spec, index, f"got an array spread over {len(devices)} devices")
    (device,) = devices
    if device.platform == CPU:
        return adopt_numpy(np.asarray(array), spec, index, JAX)
    if device.platform not in (CUDA, "gpu"):
        refuse(spec, index, f"got an array on a {device.platform} device")
    return dlpack.adopt(array.block_until_ready(), JAX, spec, index)
