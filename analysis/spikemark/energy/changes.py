"""Where the level of a signal changes: penalised least squares over all piecewise constant signals."""

from dataclasses import dataclass

import numpy as np

#: A change must lower the sum of squares by this many times the variance of the noise times log n; 2 would do
#: for independent noise (Yao 1988), but meters average, so that their noise is correlated.
PENALTY = 8.0
#: Noise assumed where readings repeat, as a share of the whole range.
LEAST_NOISE = 0.005
#: Longer signals are averaged to about so many points first: the search takes the square of them.
MOST_POINTS = 8000


@dataclass(frozen=True)
class Segment:
    """Readings `first` to `last` - 1 share a level, `mean`."""

    first: int
    last: int
    mean: float

    @property
    def readings(self) -> int:
        return self.last - self.first


def segments(watts: np.ndarray) -> list[Segment]:
    """The levels of the signal `watts` [n], found by PELT (Killick et al. 2012) in the library ruptures."""
    n = len(watts)
    spread = float(np.ptp(watts)) if n else 0.0
    if n < 4 or spread == 0:
        return [Segment(0, n, float(np.mean(watts)))] if n else []
    from ruptures import KernelCPD

    block = -(-n // MOST_POINTS)
    whole = n // block
    means = watts[: whole * block].reshape(whole, block).mean(axis=1)
    noise = 1.4826 * float(np.median(np.abs(np.diff(means)))) / np.sqrt(2)
    noise = max(noise, LEAST_NOISE * spread)
    found = KernelCPD(kernel="linear", min_size=2).fit(means[:, None] / noise)
    ends = [int(end) * block for end in found.predict(pen=PENALTY * np.log(whole))]
    ends[-1] = n
    return [
        Segment(a, b, float(watts[a:b].mean())) for a, b in zip([0, *ends[:-1]], ends, strict=True) if b > a
    ]
