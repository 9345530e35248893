"""Two modes of cycle times: most cycles take one time, a share of them a multiple of it.

A mixture of two normals, by expectation maximisation on a histogram. It counts as two modes where they are
further apart than D = 2 (Ashman, Bird, Zepf 1994), D = sqrt(2) |m2 - m1| / sqrt(s1^2 + s2^2): below that,
two normals only imitate a skewed distribution. And the likelihood of n independent values must gain more than
`SURE` ln n over one normal (the criterion of Schwarz 1978 asks for 1.5 ln n), or a few outliers would be a
mode.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

BINS, ROUNDS, APART, SMALLEST, SURE = 2000, 200, 2.0, 1e-4, 5.0
SPLITS = (0.02, 0.1, 0.5, 0.9, 0.98)  # quantiles at which expectation maximisation begins
RANGE = (1e-5, 1 - 1e-5)  # quantiles beyond which values are taken for those at the quantile


@dataclass(frozen=True)
class Modes:
    """`share` of the times belongs to the minor mode; means and standard deviations (major, minor) in s."""

    share: float
    means: tuple[float, float]
    sds: tuple[float, float]

    @property
    def factor(self) -> float:
        return self.means[1] / self.means[0]

    def minor(self, times: np.ndarray) -> np.ndarray:
        """Probability that each of `times` in s, any shape, is of the minor mode."""
        logs = [
            np.log(weight / sd) - 0.5 * ((times - mean) / sd) ** 2
            for weight, mean, sd in zip((1 - self.share, self.share), self.means, self.sds, strict=True)
        ]
        return special.expit(logs[1] - logs[0])


def find(values: np.ndarray, counts: np.ndarray, independent: float) -> Modes | None:
    """The modes of times `values` [bin] in s, ascending, that occur `counts` [bin] times; None for one.

    `independent`: as how many independent values these count.
    """
    shares = counts / counts.sum()
    cumulated = np.cumsum(shares)
    if np.count_nonzero(shares) < 3:
        return None
    fits = [_maximise(values, shares, values[np.searchsorted(cumulated, split)]) for split in SPLITS]
    found = max((fit for fit in fits if fit), key=lambda fit: fit[0], default=None)
    if found is None:
        return None
    likelihood, modes = found
    one = -np.log(_spread(values, shares)) - 0.5
    if independent * (likelihood - one) < SURE * np.log(independent):
        return None
    distance = np.sqrt(2) * abs(modes.means[1] - modes.means[0]) / np.hypot(*modes.sds)
    return modes if distance > APART and modes.share > SMALLEST else None


def _maximise(values: np.ndarray, shares: np.ndarray, split: float) -> tuple[float, Modes] | None:
    """Log likelihood per value, and the mixture; the minor mode is the rarer one."""
    weight = np.where(values > split, 1.0, 0.0)
    least = _spread(values, shares) / 1000
    for _ in range(ROUNDS):
        parts = []
        for own in (shares * (1 - weight), shares * weight):
            total = own.sum()
            if not total > SMALLEST / 10:
                return None
            mean = own @ values / total
            parts.append((total, mean, max(np.sqrt(own @ (values - mean) ** 2 / total), least)))
        logs = np.array([np.log(p / sd) - 0.5 * ((values - mean) / sd) ** 2 for p, mean, sd in parts])
        weight = special.expit(logs[1] - logs[0])
    likelihood = float(shares @ np.logaddexp(*logs))
    major, minor = sorted(parts, reverse=True)
    modes = Modes(float(minor[0]), (float(major[1]), float(minor[1])), (float(major[2]), float(minor[2])))
    return likelihood, modes


def _spread(values: np.ndarray, shares: np.ndarray) -> float:
    return float(np.sqrt(shares @ (values - shares @ values) ** 2))


def histogram(parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Bins and counts of the values in `parts`; what is beyond `RANGE` counts at its end."""
    sample = np.concatenate([part[:: max(1, len(part) * len(parts) // 1_000_000)] for part in parts])
    low, high = np.quantile(sample, RANGE)
    width = (high - low) / BINS or 1.0
    counts = np.zeros(BINS + 1)
    for part in parts:
        place = np.clip((part - low) / width, 0, BINS).astype(np.int64)
        counts += np.bincount(place, minlength=BINS + 1)
    return low + width * (np.arange(BINS + 1) + 0.5), counts
