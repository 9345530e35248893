"""Fields beside the name, of exchanges and placements that have some, for the layout fuzzer."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Draw:
    """What a rule may use; `files` takes the content of the files that it names, by their names.

    `ordinary`: the exchanges that one may be composed of.
    """

    rng: random.Random
    ranks: int
    neurons: int
    ordinary: list[str]
    files: dict[str, Any] = field(default_factory=dict)

    def file(self, kind: str, **content) -> str:
        """Takes a file and returns its name."""
        name = f"{kind}-{len(self.files)}.json"
        self.files[name] = {"kind": kind, "format_version": 1, **content}
        return name


def _two_level(draw: Draw) -> dict[str, Any]:
    inner, outer = draw.rng.choices(draw.ordinary, k=2)
    return {"inner": inner, "outer": outer, "group": draw.rng.randint(1, draw.ranks)}


def _multi_level(draw: Draw) -> dict[str, Any]:
    """A grid of all ranks. Lanes that join fewer ranks refuse it, or take the default grid."""
    rng, found = draw.rng, {"side": draw.rng.choice(("sender", "receiver")), "merge": draw.rng.random() < 0.5}
    if rng.random() < 0.7:
        rest, dimensions = draw.ranks, []
        while rest > 1 and len(dimensions) < 8:
            dimensions.append(rng.choice([n for n in range(1, rest + 1) if rest % n == 0]))
            rest //= dimensions[-1]
        found["dimensions"] = [*dimensions, *[rest] * (rest > 1)] or [1]
        if rng.random() < 0.7:
            found["parts"] = rng.choices(draw.ordinary, k=len(found["dimensions"]))
        if len(found["dimensions"]) == 2 and rng.random() < 0.4:
            members, groups = found["dimensions"]
            bridge = [[rng.randrange(members) for _ in range(draw.ranks)] for _ in range(groups)]
            found["table"] = draw.file("forwarding_table", dimensions=[members, groups], bridge=bridge)
    if rng.random() < 0.4:
        found["order"] = draw.file("rank_order", order=rng.sample(range(draw.ranks), draw.ranks))
    return found


def _from_file(draw: Draw) -> dict[str, Any]:
    """Ranges of any lengths, some of them dealt over several ranks."""
    rng = draw.rng
    ends = sorted({rng.randint(1, draw.neurons) for _ in range(rng.randint(0, 9))} | {draw.neurons})
    first = [0, *ends[:-1]]
    over = [rng.choice((1, 1, rng.randint(1, draw.ranks))) for _ in ends]
    return {
        "file": draw.file(
            "placement", ranks=draw.ranks, first=first, end=ends, over=over,
            rank=[rng.randint(0, draw.ranks - n) for n in over],
            origin=[rng.choice((begin, 0, begin // 2)) for begin in first],
        )
    }  # fmt: skip


def _weights(draw: Draw) -> dict[str, Any]:
    """Weights of ranks, often equal ones; they follow from the numbers of ranks and neurons."""
    rng = random.Random(1000 * draw.ranks + draw.neurons)
    few = rng.choice(((1,), (1,), (1, 2), (0.3, 1, 2.5)))
    return {"weights": [rng.choice(few) for _ in range(draw.ranks)]}


#: Fields beside the name, of the exchanges that have some. Composed ones without a rule take their defaults.
EXCHANGES: dict[str, Callable[[Draw], dict[str, Any]]] = {
    "two_level": _two_level,
    "multi_level": _multi_level,
}
#: The same of placements.
PLACEMENTS: dict[str, Callable[[Draw], dict[str, Any]]] = {
    "from_file": _from_file,
    "round_robin": _weights,
    "area_group": _weights,
}
