"""Partition methods. Each is one module with a `METHOD` and is listed below."""

from spikemark.core.errors import BadInput
from spikemark.prediction.partition.problem import Method

from . import (
    area_group,
    genetic,
    greedy_affinity,
    greedy_swap,
    kahip,
    largest_first,
    metis,
    mtkahypar,
    peak_search,
    random_atoms,
    round_robin,
    sequential,
    space_filling,
)

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        round_robin.METHOD,
        random_atoms.METHOD,
        sequential.METHOD,
        genetic.METHOD,
        greedy_swap.METHOD,
        greedy_affinity.METHOD,
        largest_first.METHOD,
        space_filling.METHOD,
        metis.METHOD,
        kahip.METHOD,
        mtkahypar.METHOD,
        peak_search.METHOD,
        area_group.METHOD,
    )
}


def weighted() -> str:
    """The names of the methods that heed weights of ranks."""
    return ", ".join(name for name, method in METHODS.items() if method.weighted)


def find(name: str) -> Method:
    """The method of that name. Raises BadInput naming all methods."""
    if name not in METHODS:
        raise BadInput(f"method={name!r}: one of {', '.join(METHODS)}")
    return METHODS[name]


def check_limit(method: Method, time_limit_s: float | None) -> None:
    """Raises BadInput for a time limit of a method that it could not end."""
    if time_limit_s is not None and not method.searches:
        searches = ", ".join(name for name, other in METHODS.items() if other.searches)
        raise BadInput(
            f"--time-limit={time_limit_s:g}: method {method.name!r} ends by itself; allowed: {searches}"
        )
