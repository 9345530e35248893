"""The order in which the runs of a sweep were carried out, and which of them ran beside others."""

from bisect import bisect_right
from collections.abc import Callable
from datetime import datetime

from .gather import Sweep
from .record import Run


def span(run: Run) -> tuple[float, float]:
    """When a run began and ended, in s since the Unix epoch, by launch.json.

    Older records say only the second in which the mini-app started; then a run counts from the next second to
    the end of its measured part, so that nothing overlaps by rounding. The end may come before the beginning.
    """
    launched, timing = run.launched, run.record.timing
    if launched is not None and launched.began_s is not None and launched.wall_s is not None:
        return launched.began_s, launched.began_s + launched.wall_s
    started = datetime.fromisoformat(run.record.provenance.started).timestamp()
    ended = timing.simulate_ended_s
    return started + 1, started + timing.build_s + timing.simulate_s if ended is None else ended


def out_of_order(sweep: Sweep) -> int:
    """The least number of runs that would have to be moved for the others to be in the order of the plan."""
    began = [span(m.run)[0] for m in sweep.runs]  # in the order of the plan
    tails: list[float] = []  # the earliest last begin of a sequence in order, by its length
    for at in began:
        place = bisect_right(tails, at)
        tails[place : place + 1] = [at]
    return len(began) - len(tails)


def at_once(sweep: Sweep) -> list[str]:
    """The ids of runs during which another run of the sweep ran anywhere, in planned order."""
    return _together(sweep, lambda run: {""})


def beside_others(sweep: Sweep) -> list[str]:
    """The ids of runs during which another run of the sweep ran on one of their nodes, in planned order."""
    return _together(sweep, lambda run: set(run.record.host.node_names or [run.record.host.name]))


def _together(sweep: Sweep, places: Callable[[Run], set[str]]) -> list[str]:
    """The ids of runs that were in one of their places while another run was."""
    if sweep.simulated:
        return []
    found: set[str] = set()
    going: list[tuple[float, str, set[str]]] = []  # end, id and nodes of runs that may not be over
    for m in sorted(sweep.runs, key=lambda m: span(m.run)[0]):
        began, ended = span(m.run)
        nodes = places(m.run)
        going = [one for one in going if one[0] > began]
        others = [id for _, id, held in going if held & nodes]
        if others and ended > began:
            found |= {m.planned.id, *others}
        going.append((ended, m.planned.id, nodes))
    return [m.planned.id for m in sweep.runs if m.planned.id in found]


def jobs(sweep: Sweep) -> list[str]:
    """The jobs of Slurm in which the runs were carried out, each once, in the order of the plan."""
    allocations = [m.run.launched.allocation for m in sweep.runs if m.run.launched]
    return list(dict.fromkeys(one.job for one in allocations if one))


def one_job_per_run(sweep: Sweep) -> bool:
    """Says whether each of several runs was a job of its own."""
    return len(sweep.runs) > 1 and len(jobs(sweep)) == len(sweep.runs)
