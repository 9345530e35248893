"""Where neurons live: how many of each population every virtual process (rank, thread) holds.

The rules of the mini-app's placements, restated; one function per placement, listed in PLACEMENTS.
"""

import numpy as np

from spikemark.errors import BadInput


def area_names(populations: list[dict]) -> list[str]:
    """Name of each population's area."""
    return [p.get("area", p["name"]) for p in populations]


def areas_of(populations: list[dict]) -> list[int]:
    """Area number of each population; areas count in the order in which they first appear."""
    names = area_names(populations)
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


def area_group(populations: list[dict], ranks: int, threads: int) -> np.ndarray:
    """An area lives on as many consecutive ranks as its size deserves, small ones together on one.

    The smallest number of neurons on the fullest rank for which first fit, the largest area first, needs no
    more ranks than there are; ranks left over split the fullest. Ranks are numbered by their lowest area.
    """
    numbers = areas_of(populations)
    sizes = np.zeros(max(numbers) + 1, dtype=np.int64)
    np.add.at(sizes, numbers, [p["size"] for p in populations])
    low, high = 1, int(sizes.sum())
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if sum(n for _, n in _pack(sizes, middle)) <= ranks else (middle + 1, high)
    bins = _pack(sizes, low)
    for _ in range(ranks - sum(n for _, n in bins)):
        _spend_rank(sizes, bins)

    counts = np.zeros((len(populations), ranks, threads), dtype=np.int64)
    first_rank = 0
    for areas, n in sorted(bins, key=lambda b: min(b[0])):
        for p, (number, start) in enumerate(zip(numbers, starts_of(populations), strict=True)):
            if number not in areas:
                continue
            begin = int(starts_of(populations)[numbers.index(number)])
            dealt = residues(int(start) - begin, populations[p]["size"], n * threads)
            counts[p, first_rank : first_rank + n] = dealt.reshape(threads, n).T
        first_rank += n
    return counts


def _pack(sizes: np.ndarray, most: int) -> list[list]:
    """Bins [areas, ranks] in which no rank has more than `most` neurons."""
    bins: list[list] = []
    for area_number in sorted(range(len(sizes)), key=lambda a: (-sizes[a], a)):
        size = sizes[area_number]
        fitting = (b for b in bins if b[1] == 1 and sizes[b[0]].sum() + size <= most)
        found = next(fitting, None) if size <= most else None
        if found is None:
            bins.append([[area_number], max(1, -(-int(size) // most))])
        else:
            found[0].append(area_number)
    return bins


def _spend_rank(sizes: np.ndarray, bins: list[list]) -> None:
    fullest = max(bins, key=lambda b: sizes[b[0]].sum() / b[1])
    filled = sorted(a for a in fullest[0] if sizes[a] > 0)
    if len(filled) == 1:
        fullest[1] += 1
    else:
        fullest[0].remove(filled[0])
        bins.append([[filled[0]], 1])


PLACEMENTS = {"round_robin": round_robin, "area": area, "area_group": area_group}


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
