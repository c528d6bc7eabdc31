"""Custom call target -> the module of ``kc.runtime.libraries`` that has it, and the platform that it is for."""

from __future__ import annotations

TARGETS: dict[str, tuple[str, str]] = {
    "kc.blas.gemm": ("blas", "cpu"),
    "kc.onednn.gemm": ("onednn", "cpu"),
    "kc.cublaslt.matmul": ("cublaslt", "nvptx"),
    "kc.cudnn.convolution": ("cudnn", "nvptx"),
    "kc.cudnn.softmax": ("cudnn", "nvptx"),
    "kc.pjrt.run": ("pjrt", "cpu"),
}
