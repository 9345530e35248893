"""What a comparison runs, in words."""

from spikemark.network.schedules import called

from . import simulators
from .compare import BEST, Comparison
from .node_range import ENDLESS

NO_END = f"{ENDLESS.strip()} The target is not sure on any number of nodes that was tried: no upper end."


def schedule(made: Comparison) -> str:
    """The compared run in words."""
    return "the best exact schedule on each machine" if made.schedule == BEST else label(made.schedule)


def label(name: str) -> str:
    """What a schedule is called."""
    found = called(name)
    return name if found is None else found.label


def chosen_schedules(made: Comparison) -> list[str]:
    """One line, where schedules were chosen: which, and how to fix one."""
    used = {label(c.chosen.schedule): c.chosen for c in made.candidates if c.usable}
    if made.schedule != BEST or not used:
        return []
    ways = ", ".join(
        name if p.loads.delay_ratio is None else f"{name} with D = {p.loads.delay_ratio}"
        for name, p in used.items()
    )
    whose = simulators.find(made.simulator)
    what = (
        "exact schedule, placement and exchange" if whose.ways is None else f"way that {whose.released} has"
    )
    return [
        f"Every machine and number of nodes has the fastest {what}"
        f" ({ways}; `spikemark advise` explains the choice). `--schedule` fixes one."
    ]
