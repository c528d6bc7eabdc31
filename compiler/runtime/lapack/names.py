"""Custom call target -> the module of ``kc.runtime.lapack`` that has it."""
from __future__ import annotations

_FAMILIES = {
    "factor": ("getrf", "geqrf", "geqp3", "orgqr", "ungqr", "ormqr", "unmqr", "gehrd", "sytrd", "hetrd", "gtsv"),
    "spectral": ("gesdd", "gesvd", "syevd", "heevd", "geev", "gees"),
}
_REAL, _COMPLEX = ("orgqr", "ormqr", "sytrd", "syevd"), ("ungqr", "unmqr", "hetrd", "heevd")

#: JAX's names for CPUs: lapack_{s,d,c,z}NAME_ffi
TARGETS: dict[str, str] = {
    f"lapack_{prefix}{name}_ffi": module
    for module, names in _FAMILIES.items()
    for name in names
    for prefix in ("sd" if name in _REAL else "cz" if name in _COMPLEX else "sdcz")
}
TARGETS["tridiagonal_solve_perturbed_ffi"] = "perturbed"
#: XLA's own names, which JAX uses where it does not call LAPACK itself
TARGETS |= dict.fromkeys(("Eigh", "LuDecomposition", "ProductOfElementaryHouseholderReflectors", "Qr"), "xla_names")
