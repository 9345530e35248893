"""Where neurons live: how many of each population every virtual process (rank, thread) holds.

The rules of the mini-app's placements, restated; one function per placement, listed in PLACEMENTS.
"""

import numpy as np

from spikemark.errors import BadInput


def areas_of(populations: list[dict]) -> list[int]:
    """Area number of each population; areas count in the order in which they first appear."""
    names = [p.get("area", p["name"]) for p in populations]
    order = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return [order[name] for name in names]


def starts_of(populations: list[dict]) -> np.ndarray:
    """First gid of each population."""
    return np.concatenate([[0], np.cumsum([p["size"] for p in populations])])[:-1].astype(np.int64)


def residues(start: int, size: int, modulus: int) -> np.ndarray:
    """How many of the numbers start ... start + size - 1 leave each remainder modulo `modulus`, [modulus]."""
    whole, rest = divmod(size, modulus)
    return whole + ((np.arange(modulus) - start) % modulus < rest)


def round_robin(populations: list[dict], ranks: int, threads: int) -> np.ndarray:
    """Neuron `gid` lives on virtual process vp = gid mod (R T): rank vp mod R, thread vp div R."""
    counts = np.zeros((len(populations), ranks, threads), dtype=np.int64)
    for p, start in enumerate(starts_of(populations)):
        counts[p] = residues(start, populations[p]["size"], ranks * threads).reshape(threads, ranks).T
    return counts


def area(populations: list[dict], ranks: int, threads: int) -> np.ndarray:
    """Area a lives on rank a mod R; its neurons go to threads in turn, counted from the area's first gid."""
    numbers = areas_of(populations)
    if len(set(numbers)) < ranks:
        raise BadInput(
            f"ranks={ranks}: placement 'area' has {len(set(numbers))} areas for at most as many ranks"
        )
    counts = np.zeros((len(populations), ranks, threads), dtype=np.int64)
    first: dict[int, int] = {}
    for p, (number, start) in enumerate(zip(numbers, starts_of(populations), strict=True)):
        begin = first.setdefault(number, int(start))
        counts[p, number % ranks] = residues(int(start) - begin, populations[p]["size"], threads)
    return counts


PLACEMENTS = {"round_robin": round_robin, "area": area}


def neurons(description: dict, placement: str, ranks: int, threads: int) -> np.ndarray:
    """Neurons of each population on each virtual process, [population, rank, thread].

    Raises BadInput for an unknown placement, fewer than one rank or thread, and more ranks than it can serve.
    """
    if placement not in PLACEMENTS:
        raise BadInput(f"placement={placement!r}: known are {', '.join(PLACEMENTS)}")
    for name, value in (("ranks", ranks), ("threads", threads)):
        if value < 1 or value != int(value):
            raise BadInput(f"{name}={value}: an integer of at least 1")
    return PLACEMENTS[placement](description["network"]["populations"], ranks, threads)
