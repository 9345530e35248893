"""Latency and bandwidth of an exchange, piece by piece in its size.

t(n) = alpha_i + beta_i n for n bytes from n_i up to n_(i+1): the model of Hockney (1994), with pieces because
MPI libraries switch algorithms with the size (the jumps in Lober et al. 2026, fig 4). Pieces need not meet.
alpha in seconds, beta in seconds per byte.

Where pieces end is found by trying all partitions into up to `MOST_PIECES` pieces of at least `FEWEST` sizes.
Each piece is fitted by least squares of relative errors, with beta >= 0 and the first alpha >= 0, and the
smallest Bayesian information criterion (Schwarz 1978) wins: N ln(S / N) + k ln N, S being the sum of the N
squares and k the number of parameters, ends of pieces included.

Other programs can make a repetition a hundred times longer. Times that are further from the median of their
size than `OUTLYING` robust standard deviations (1.4826 median absolute deviations, relative, of all sizes
together) are therefore first limited to that distance.

Intervals are for the curve, not for one more measurement: repetitions, each a whole curve, are drawn with
replacement, and everything is repeated (Efron 1979). With few repetitions that is too narrow, so it is
widened by sqrt(R / (R - 1)) and by Student's t with R - 1 degrees of freedom.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity, student, with_half

MOST_PIECES = 3
FEWEST = 3  # sizes of a piece: two always lie on a line
RESOLUTION = 1e-3  # relative error below which no partition is better than another
OUTLYING = 4
SHORTEST_S = 1e-12  # no curve predicts less


@dataclass(frozen=True)
class Piece:
    """A piece t = latency + n seconds_per_byte for sizes n from `first` to `last` (bytes), both measured.

    With a single repetition there are no intervals.
    """

    first: int
    last: int
    latency_s: Quantity  # of a later piece an intercept, which may be negative
    seconds_per_byte: Quantity


@dataclass(frozen=True)
class LatencyBandwidth:
    """A fitted curve."""

    sizes: np.ndarray  # [size], bytes, ascending
    pieces: list[Piece]
    repetitions: int
    resampled: list[list[tuple[int, float, float]]]  # per resample, per piece: place of its first size, line

    @classmethod
    def fit(
        cls, sizes: np.ndarray, times_s: np.ndarray, resamples: int = 300, seed: int = 1
    ) -> "LatencyBandwidth":
        """Fit `times_s` [repetition, size] in seconds at `sizes` [size] in bytes.

        Sizes ascend, three or more. Raises BadInput for times that are not above 0.
        """
        sizes, times = np.asarray(sizes, dtype=np.float64), np.asarray(times_s, dtype=np.float64)
        if not ((times > 0) & np.isfinite(times)).all():
            raise BadInput("times: seconds above 0")
        times = _drawn_in(times)
        starts, lines = _best(sizes, times)
        repetitions, generator = len(times), np.random.default_rng(seed)
        free, fixed = [], []
        for _ in range(resamples if repetitions > 1 else 0):
            drawn = times[generator.integers(repetitions, size=repetitions)]
            theirs, found = _best(sizes, drawn)
            free.append([(start, *line) for start, line in zip(theirs, found, strict=True)])
            fixed.append(_Segments(sizes, drawn).lines(starts))
        half = _widening(repetitions) * np.std(fixed, axis=0) if fixed else np.full_like(lines, None)
        pieces = []
        for first, last, line, h in zip(starts, _lasts(starts, len(sizes)), lines, half, strict=True):
            parts = zip(line.tolist(), h.tolist() if fixed else (None, None), ("s", "s/B"), strict=True)
            parts = [with_half(value, part, unit, "modelled") for value, part, unit in parts]
            pieces.append(Piece(int(sizes[first]), int(sizes[last]), *parts))
        return cls(sizes, pieces, repetitions, free)

    def predict(self, size: float) -> Quantity:
        """Time in s of an exchange of `size` bytes; between two pieces, that of the nearer one by log(size).

        It is modelled within the measured sizes, and extrapolated beyond them. Raises BadInput for a size
        that is not above 0.
        """
        if not 0 < size < float("inf"):
            raise BadInput.of("size", size, "bytes above 0")
        kind = "modelled" if self.sizes[0] <= size <= self.sizes[-1] else "extrapolated"
        starts = np.searchsorted(self.sizes, [p.first for p in self.pieces]).tolist()
        lines = [(p.latency_s.value, p.seconds_per_byte.value) for p in self.pieces]
        value = self._at(size, [(start, *line) for start, line in zip(starts, lines, strict=True)])
        if not self.resampled:
            return Quantity(value, unit="s", kind=kind)
        apart = np.log([self._at(size, lines) for lines in self.resampled]) - np.log(value)
        factor = float(np.exp(_widening(self.repetitions) * np.sqrt(np.mean(apart**2))))
        return Quantity(value, value / factor, value * factor, "s", kind)

    def _at(self, size: float, lines: list[tuple[int, float, float]]) -> float:
        reached = [(a, b) for s, a, b in lines if s == 0 or size**2 >= self.sizes[s - 1] * self.sizes[s]]
        alpha, beta = reached[-1]
        return max(alpha + beta * size, SHORTEST_S)


class _Segments:
    """Lines through all runs of consecutive sizes, [first, last], and their sums of squared errors."""

    def __init__(self, sizes: np.ndarray, times: np.ndarray):
        weight = 1 / np.median(times, axis=0) ** 2
        columns = [len(times), len(times) * sizes, len(times) * sizes**2]
        columns += [times.sum(axis=0), sizes * times.sum(axis=0), (times**2).sum(axis=0)]
        cumulated = np.array([np.r_[0, np.cumsum(weight * column)] for column in columns])
        # between the first and the last size: [sum, first, last]
        w, n, nn, t, nt, tt = cumulated[:, None, 1:] - cumulated[:, :-1, None]
        with np.errstate(divide="ignore", invalid="ignore"):  # no line through one size; none is asked for
            beta = np.maximum((nt - n * t / w) / (nn - n * n / w), 0)
            alpha = (t - beta * n) / w
            below = alpha[0] < 0  # a latency is not negative
            beta[0, below], alpha[0, below] = (nt / nn)[0, below], 0
            squares = tt - 2 * (alpha * t + beta * nt) + alpha**2 * w + 2 * alpha * beta * n + beta**2 * nn
        self.alpha, self.beta, self.squares = alpha, beta, np.maximum(squares, 0)

    def lines(self, starts: list[int]) -> np.ndarray:
        """Alpha and beta of the pieces that begin at these places, [piece, alpha or beta]."""
        at = starts, _lasts(starts, len(self.alpha))
        return np.c_[self.alpha[at], self.beta[at]]


def _lasts(starts: list[int], count: int) -> list[int]:
    """Places of the last sizes of pieces that begin at `starts`."""
    return [start - 1 for start in [*starts[1:], count]]


@lru_cache(maxsize=64)
def _partitions(count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """For 1, 2, … pieces: all partitions of `count` sizes, as the places of firsts and lasts [way, piece]."""
    found = []
    for pieces in range(1, min(MOST_PIECES, count // FEWEST) + 1):
        ways = [(0, *cuts) for cuts in combinations(range(FEWEST, count - FEWEST + 1), pieces - 1)]
        firsts = np.array([way for way in ways if min(np.diff(way), default=FEWEST) >= FEWEST])
        found.append((firsts, np.c_[firsts[:, 1:] - 1, np.full(len(firsts), count - 1)]))
    return found


def _best(sizes: np.ndarray, times: np.ndarray) -> tuple[list[int], np.ndarray]:
    """Places of the pieces' first sizes, and their lines [piece, alpha or beta]."""
    segments, number = _Segments(sizes, times), times.size
    best = np.inf, []
    for firsts, lasts in _partitions(len(sizes)):
        squares = segments.squares[firsts, lasts].sum(axis=1)
        way = int(squares.argmin())
        parameters = 3 * firsts.shape[1] - 1
        criterion = number * np.log(squares[way] / number + RESOLUTION**2) + parameters * np.log(number)
        if criterion < best[0]:
            best = criterion, firsts[way].tolist()
    return best[1], segments.lines(best[1])


def _widening(repetitions: int) -> float:
    """Half an interval per standard deviation of the resamples."""
    return student(repetitions - 1) * float(np.sqrt(repetitions / (repetitions - 1)))


def _drawn_in(times: np.ndarray) -> np.ndarray:
    """The times [repetition, size] without outliers."""
    median = np.median(times, axis=0)
    limit = OUTLYING * 1.4826 * np.median(abs(times / median - 1)) + RESOLUTION
    return np.clip(times, median * max(1 - limit, RESOLUTION), median * (1 + limit))
