"""JAX arrays: on the CPU adopted through NumPy (no copy), on a GPU through DLPack.

JAX has no current stream to join: GPU calls run on the runtime's own stream, which waits for the inputs, and the
call returns when its results are there.
"""
from __future__ import annotations

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
_X64_ONLY = frozenset(("f64", "i64", "ui64", "complex128"))


class JaxKind:
    name = "jax"

    def stream(self, device: int) -> int | None:
        return None

    def wrap(self, result: Result) -> Any:
        import jax

        if result.dtype.name in _X64_ONLY and not jax.config.jax_enable_x64:
            # JAX would narrow the values without a word: say what is so, keep the values.
            return _narrowed(NUMPY.wrap(result), result.dtype.name)
        if result.dtype.name in _BY_DLPACK and all(result.shape):
            return jax.dlpack.from_dlpack(dlpack.Exported(result))
        where = None if result.device_type == CPU else jax.devices("gpu")[result.device]
        return jax.device_put(NUMPY.wrap(result), where)


JAX = JaxKind()


def _narrowed(array: Any, name: str) -> Any:
    """64-bit results with JAX's 64-bit types off: as JAX does with NumPy arrays, but integers must fit."""
    import jax.numpy as jnp

    narrow = {"f64": np.float32, "complex128": np.complex64, "i64": np.int32, "ui64": np.uint32}[name]
    if np.issubdtype(narrow, np.integer):
        limits = np.iinfo(narrow)
        if array.size and (array.min() < limits.min or array.max() > limits.max):
            raise OverflowError(f"a result of {name} does not fit JAX's 32-bit types; set jax_enable_x64")
    return jnp.asarray(array.astype(narrow))


def adopt(array: jax.Array, spec: Spec, index: int) -> View:
    import jax

    if isinstance(array, jax.core.Tracer):
        refuse(spec, index, "got a value that JAX is tracing; call the program outside of jax.jit, grad and vmap")
    if jax.dtypes.issubdtype(array.dtype, jax.dtypes.prng_key):
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
