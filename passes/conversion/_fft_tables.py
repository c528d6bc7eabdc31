"""Plans and tables of fast Fourier transforms; NumPy in double precision, no MLIR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

#: a prime factor above it is not worth a pass of its own: Bluestein's algorithm then takes fewer operations
LARGEST_PRIME = 61


def factors(n: int) -> list[int] | None:
    """The radices of the passes of a transform of length ``n``, equal ones together; None where a prime is too large.

    Of the powers of two as many 8 as leave 1 or 4 (4, 4 for a rest of 2), then 3, 5, 7 and other primes.
    """
    found: list[int] = []
    twos = (n & -n).bit_length() - 1
    n >>= twos
    eights, rest = divmod(twos, 3)
    if rest == 1 and eights:
        found += [8] * (eights - 1) + [4, 4]
    else:
        found += [8] * eights + [1 << rest] * (rest > 0)
    prime = 3
    while n > 1:
        if prime * prime > n:
            prime = n
        while n % prime == 0:
            found.append(prime)
            n //= prime
        prime += 2
    return None if found and max(found) > LARGEST_PRIME else found


def smooth_length(n: int) -> int:
    """The least of 2^k, 3 2^k and 5 2^k that is at least ``n``: few radices, so little code."""
    return min(odd << max(0, -(-n // odd) - 1).bit_length() for odd in (1, 3, 5))


def roots(exponents: Any, n: int) -> np.ndarray:
    """exp(-2 pi i k / n) for integers k, as pairs of f64 [..., 2]; exact at multiples of an eighth of a turn but for
    rounding, and symmetric: computed in the first octant.
    """
    import numpy as np

    k = np.asarray(exponents, np.int64) % n
    octant, rest = np.divmod(8 * k, n)  # angle = (octant + rest / n) / 8 turns
    odd = octant % 2 == 1
    within = np.where(odd, n - rest, rest) * (np.pi / 4 / n)  # mirrored about the nearer multiple of a quarter turn
    cosine, sine = np.cos(within), np.sin(within)
    quarter = ((octant + odd) // 2) % 4
    sine = np.where(odd, -sine, sine)
    turned = np.select(
        [quarter == 0, quarter == 1, quarter == 2], [cosine, -sine, -cosine], sine
    ), np.select([quarter == 0, quarter == 1, quarter == 2], [sine, cosine, -sine], -cosine)
    return np.stack([turned[0] + 0.0, 0.0 - turned[1]], axis=-1)


def twiddles(radices: Sequence[int], n: int) -> np.ndarray:
    """The roots that all passes multiply by, one pass after the other: pairs [total, 2].

    A pass of radix r on rows of r * m has exp(-2 pi i q i / (r m)) for q = 1 .. r-1 and i = 0 .. m-1.
    """
    import numpy as np

    parts, rest = [], n
    for r in radices:
        m = rest // r
        parts.append(roots(np.outer(np.arange(1, r), np.arange(m)).ravel(), rest))
        rest = m
    return np.concatenate(parts)


def chirp(n: int) -> np.ndarray:
    """exp(-pi i j^2 / n), pairs [n, 2]."""
    import numpy as np

    j = np.arange(n, dtype=np.int64)
    return roots(j * j % (2 * n), 2 * n)


def chirp_spectrum(n: int, length: int) -> np.ndarray:
    """The transform of the conjugate chirp wrapped around ``length`` >= 2 n - 1 points, over ``length``: pairs."""
    import numpy as np

    pairs = chirp(n)
    wrapped = np.zeros(length, np.complex128)
    wrapped[:n] = pairs[:, 0] - 1j * pairs[:, 1]
    wrapped[length - n + 1 :] = wrapped[1:n][::-1]
    spectrum = np.fft.fft(wrapped) / length
    return np.stack([spectrum.real, spectrum.imag], axis=-1)
