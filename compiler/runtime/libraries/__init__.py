"""Libraries of others as custom calls: BLAS and oneDNN on the CPU, cuBLASLt and cuDNN on NVIDIA GPUs, PJRT through JAX.

Each is looked for when a program that calls it is loaded (``names.TARGETS`` has the calls), by ctypes: kc needs none
of them, and links with none. What agents propose as ``library`` and ``stablehlo_out`` becomes calls of these.
"""
