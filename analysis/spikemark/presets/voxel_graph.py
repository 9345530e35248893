"""A parametric brain of voxels: where they lie, how large they are, and from where their neurons get input.

Voxels lie in a ball, or on a flat sheet without border, and are sorted by region. A pair of voxels is kept
with a probability that falls as exp(-distance / lambda); `connected` of all pairs are kept. A neuron of
voxel t draws a source outside t from voxel v with the probability

    p(t <- v) ~ size(v) hub(v) exp(-distance / lambda) lognormal(weight_sd)   over the kept pairs.

`hub` is lognormal with the coefficient of variation `unevenness`; it makes some voxels speak to many others.
No measured connectivity is used. Distances are in radii of the ball, or in half widths of the sheet.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy import sparse

BLOCK, SCALINGS = 256, 3  # target voxels at a time; scalings of chances to their sum
EXCITATORY = 0.8  # share of a voxel's neurons, E:I 4:1; only they project to other voxels
#: Shares of a neuron's synapses by source: E and I of its own voxel, E of others (Du et al., public code).
LOCAL_E, LOCAL_I, OTHERS = 4 / 7, 1 / 7, 2 / 7


@dataclass(frozen=True)
class Voxels:
    """V voxels, numbered region by region."""

    places: np.ndarray  # [V, 3]
    region: np.ndarray  # [V]
    excitatory: np.ndarray  # [V] neurons
    inhibitory: np.ndarray  # [V] neurons
    sources: sparse.csr_array  # [V target, V source] p(t <- v); each row sums to 1, or is empty


def draw(
    voxels: int,
    neurons: int,
    seed: int,
    *,
    geometry: str,
    regions: int,
    connected: float,
    lambda_: float,
    weight_sd: float,
    unevenness: float,
    size_cv: float,
) -> Voxels:
    """The brain that these options and the seed give; see the module for their meaning."""
    rng = np.random.Generator(np.random.SFC64(seed))
    places, region = _places(rng, voxels, regions, geometry)
    sizes = _whole(_lognormal(rng, voxels, size_cv), neurons)
    inhibitory = np.maximum(1, np.rint((1 - EXCITATORY) * sizes)).astype(np.int64)
    strength = (sizes - inhibitory) * _lognormal(rng, voxels, unevenness)
    kept = _pairs(rng, places, strength, connected * voxels, lambda_, weight_sd, geometry == "sheet")
    return Voxels(places, region, sizes - inhibitory, inhibitory, kept)


def _lognormal(rng: np.random.Generator, count: int, cv: float) -> np.ndarray:
    """[count] lognormal numbers with mean 1 and the coefficient of variation `cv`."""
    variance = np.log1p(cv**2)
    return np.exp(rng.normal(-variance / 2, np.sqrt(variance), count))


def _whole(parts: np.ndarray, total: int) -> np.ndarray:
    """Whole numbers, at least 2, in proportion to `parts`, whose sum is `total`."""
    ends = np.rint(np.cumsum(parts) / parts.sum() * (total - 2 * len(parts))).astype(np.int64)
    return 2 + np.diff(ends, prepend=0)


def _places(rng: np.random.Generator, count: int, regions: int, geometry: str) -> tuple:
    """Places of the voxels and their regions: each voxel belongs to the nearest of random centres.

    Regions are numbered along a line through the brain; so are the voxels within each.
    """

    def scattered(n: int) -> np.ndarray:
        if geometry == "sheet":
            return np.c_[rng.uniform(-1, 1, (n, 2)), np.zeros(n)]
        directions = rng.normal(size=(n, 3))
        directions /= np.linalg.norm(directions, axis=1)[:, np.newaxis]
        return directions * rng.uniform(size=n)[:, np.newaxis] ** (1 / 3)

    centres, places = scattered(regions), scattered(count)
    centres = centres[np.argsort(centres[:, 0])]
    apart = (centres**2).sum(axis=1) - 2 * places @ centres.T  # plus what is the same for all centres
    region = apart.argmin(axis=1)
    order = np.lexsort((places[:, 0], region))
    return places[order], region[order]


def _pairs(
    rng: np.random.Generator,
    places: np.ndarray,
    strength: np.ndarray,
    partners: float,
    lambda_: float,
    weight_sd: float,
    wraps: bool,
) -> sparse.csr_array:
    """p(t <- v) of the kept pairs, [target, source]: on average `partners` sources for each target."""
    count = len(places)
    wanted = np.float32(min(partners, count - 1))
    at = places.astype(np.float32)
    seeds = rng.integers(2**63, size=-(-count // BLOCK))  # so that blocks can be drawn side by side

    def over(chances: np.ndarray) -> np.ndarray:
        """`wanted` over the sums of the targets; 0 for those that no other voxel reaches."""
        sums = chances.sum(axis=1, keepdims=True)
        return np.divide(wanted, sums, out=np.zeros_like(sums), where=sums > 0)

    def block(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sources, weights, and how many of them each target of the block has."""
        own = np.random.Generator(np.random.SFC64(seeds[number]))
        first, last = number * BLOCK, min((number + 1) * BLOCK, count)
        near = _distances(at[first:last], at, wraps)
        near /= -np.float32(lambda_)
        np.exp(near, out=near)
        near[np.arange(last - first), np.arange(first, last)] = 0
        chance = near * over(near)
        for _ in range(SCALINGS):  # pairs that are kept for sure leave more to the others
            np.minimum(chance, 1, out=chance)
            chance *= over(chance)
        kept = np.flatnonzero(own.random(near.shape, dtype=np.float32) < chance)
        rows, columns = np.divmod(kept, count)
        weights = strength[columns] * near.ravel()[kept]
        weights *= np.exp(weight_sd * own.standard_normal(len(rows)))
        weights /= np.bincount(rows, weights, last - first)[rows]
        return columns.astype(np.int32), weights.astype(np.float32), np.bincount(rows, minlength=last - first)

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as threads:
        indices, data, counts = zip(*threads.map(block, range(len(seeds))), strict=True)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(counts))])
    return sparse.csr_array((np.concatenate(data), np.concatenate(indices), starts), shape=(count, count))


def _distances(of: np.ndarray, to: np.ndarray, wraps: bool) -> np.ndarray:
    """[of, to]; on a sheet that wraps, the shortest way."""
    if wraps:
        apart = np.zeros((len(of), len(to)), np.float32)
        for axis in (0, 1):
            along = np.abs(of[:, axis, np.newaxis] - to[:, axis])
            apart += np.minimum(along, 2 - along) ** 2
        return np.sqrt(apart)
    squares = (of**2).sum(axis=1)[:, np.newaxis] + (to**2).sum(axis=1) - 2 * of @ to.T
    return np.sqrt(np.maximum(squares, 0))
