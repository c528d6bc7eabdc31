"""Custom call target -> the module of ``kc.runtime.cusolver`` that has it. What LAPACK has beyond these (Schur and
Hessenberg forms, eigenvalues of general matrices, pivoted QR …) has no function in cuSOLVER that gives the same."""
from __future__ import annotations

_FAMILIES = {"factor": ("getrf", "geqrf", "orgqr", "ungqr"), "spectral": ("gesdd", "gesvd", "syevd", "heevd")}
_REAL, _COMPLEX = ("orgqr", "syevd"), ("ungqr", "heevd")

TARGETS: dict[str, str] = {
    f"lapack_{prefix}{name}_ffi": module
    for module, names in _FAMILIES.items()
    for name in names
    for prefix in ("sd" if name in _REAL else "cz" if name in _COMPLEX else "sdcz")
}
TARGETS |= dict.fromkeys(("Eigh", "LuDecomposition", "ProductOfElementaryHouseholderReflectors", "Qr"), "xla_names")
