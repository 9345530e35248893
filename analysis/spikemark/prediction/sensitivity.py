"""What an unknown value of a machine does to a figure of a comparison, and to the order of the machines.

Every assumed value is moved to both ends of its interval while all others stay. The machine then takes the
fewest nodes whose middle reaches the target; where none does, it misses the target and leaves the order.
"""

from collections.abc import Callable

from spikemark.machines.plain import plain

from .node_range import Candidate
from .offers import Effect, ranked
from .predict import Prediction

#: Starts of paths that a vendor knows; the others have to be measured.
OF_VENDOR = ("node.", "interconnect.", "power.", "price.")
HOW = {True: "ask the vendor", False: "the vendor runs spikemark calibrate"}
GIVEN = {"price.node_hour": "--price, or ask the vendor"}


def reaching(c: Candidate, path: str = "", side: str = "", name: str = "") -> tuple[int | None, float | None]:
    """The fewest nodes whose middle reaches the target where a value is at a limit (none: at its middle).

    And a figure on these, or on the fastest; None where it is unknown.
    """

    def there(p: Prediction, figure: str) -> float | None:
        moved = getattr(p.moves[path], side) if path in p.moves else None
        known = p.figures.get(figure)
        return moved[figure] if moved and figure in moved else known.value if known else None

    reached = [p for p in c.usable if there(p, "real_time_factor") <= c.target]
    looked_at = reached[0] if reached else min(c.usable, key=lambda p: there(p, "real_time_factor"))
    return (reached[0].nodes if reached else None), (there(looked_at, name) if name else None)


def lacking_path(c: Candidate, name: str) -> str:
    """The path that a missing figure lacks, from its reason."""
    return c.chosen.reasons[name].removeprefix(f"{c.name}: ").split(" is unknown")[0]


def effects(
    candidates: list[Candidate], name: str, call: Callable[[Candidate], str] = lambda c: c.name
) -> list[Effect]:
    """All effects on a figure, the largest first.

    A figure that is unknown has an effect without ends, which comes before all others.
    """
    judged = [c for c in candidates if c.usable and not c.implausible]
    unknown = [c for c in judged if name in c.chosen.reasons]
    found = [_unknown(c, lacking_path(c, name), call) for c in unknown]
    known = [c for c in judged if c not in unknown]
    usual = {c.name: _there(c, "", "", name) for c in known}
    called = {c.name: call(c) for c in candidates}
    for c in known:
        for path, moved in c.chosen.moves.items():
            if moved.kind != "assumed":
                continue
            ends = [_there(c, path, side, name) for side in ("low", "high")]
            orders = [_order(usual | {c.name: end}, called) for end in ends]
            few, many = (reaching(c, path, side)[0] for side in ("low", "high"))
            found.append(Effect(
                call(c), path, plain(path), HOW[path.startswith(OF_VENDOR)], _order(usual, called),
                usual[c.name], (ends[0], ends[1]), (orders[0], orders[1]),
                (moved.low["real_time_factor"], moved.high["real_time_factor"]), nodes_said(few, many),
            ))  # fmt: skip
    return ranked(found)


def nodes_said(one: int | None, other: int | None) -> str:
    """The nodes at two limits, the fewest first; None: more than were tried."""
    few, many = sorted((one, other), key=lambda n: float("inf") if n is None else n)
    said = [str(n) if n else "more than were tried" for n in (few, many)]
    return " to ".join(dict.fromkeys(said))


def _there(c: Candidate, path: str, side: str, name: str) -> float | None:
    nodes, figure = reaching(c, path, side, name)
    return None if nodes is None else figure


def _order(figures: dict[str, float | None], called: dict[str, str]) -> tuple[str, ...]:
    reached = {name: figure for name, figure in figures.items() if figure is not None}
    return tuple(called[name] for name in sorted(reached, key=reached.__getitem__))


def _unknown(c: Candidate, path: str, call: Callable[[Candidate], str]) -> Effect:
    how = GIVEN.get(path, HOW[True])
    return Effect(call(c), path, plain(path), how, (), no_value=True)
