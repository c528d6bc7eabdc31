"""A region of StableHLO run by another compiler: its text goes to a PJRT device through JAX (extra ``kc[jax]``)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kc.runtime.errors import ExecutionError


def implementation(name: str) -> Callable[..., None]:
    """The function of a custom call."""
    return run


def run(inputs: Sequence[Any], outputs: Sequence[Any], attributes: Mapping[str, Any]) -> None:
    """Call the program ``attributes["program"]`` on a device of ``attributes["platform"]``."""
    results = _compiled(attributes["program"], attributes["platform"])(inputs)
    for array, result in zip(outputs, results, strict=True):
        found = np.asarray(result)
        if found.shape != array.shape or found.dtype.itemsize != array.dtype.itemsize:
            raise ExecutionError(
                f"the device gave {found.dtype}{list(found.shape)}, expected {array.dtype}{list(array.shape)}"
            )
        array[...] = found.view(array.dtype) if found.dtype != array.dtype else found


@functools.lru_cache(maxsize=64)
def _compiled(program: str, platform: str) -> Callable[[Sequence[Any]], list[Any]]:
    """The program on the platform's first device. Raises ``ExecutionError`` in JAX's words."""
    try:
        import jax
        from jaxlib import xla_client
    except ImportError as error:
        raise ExecutionError(f"a PJRT device is reached through JAX ({error}): pip install 'kc[jax]'") from None
    try:
        device = jax.devices(platform)[0]
        devices = xla_client.DeviceList((device,))
        loaded = device.client.compile_and_load(program, devices, xla_client.CompileOptions())
    except Exception as error:  # JAX has many kinds
        raise ExecutionError(f"PJRT platform '{platform}': {type(error).__name__}: {error}") from None

    def call(arrays: Sequence[Any]) -> list[Any]:
        with jax.enable_x64(True):  # else 64-bit numbers become 32-bit ones
            placed = [jax.device_put(np.array(array), device) for array in arrays]
        made = loaded.execute_sharded(placed).disassemble_into_single_device_arrays()
        return [parts[0] for parts in made]

    return call
