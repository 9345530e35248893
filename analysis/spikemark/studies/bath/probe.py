"""What the models say of a small run: it tells results that an older model computed from those of today."""

from functools import lru_cache

from spikemark import machines
from spikemark.machines.inputs import Inputs
from spikemark.network.description import read
from spikemark.prediction import rates, times
from spikemark.prediction.layout import Layout
from spikemark.prediction.loads import Counting
from spikemark.presets import mam_benchmark

from .settings import LAGGED, SLOW, USUAL, Way

MACHINE, RANKS, THREADS = "slow-nodes", 8, 8
WAYS = (Way("conventional"), Way("structure_aware", 10), Way(LAGGED, 10, 1))
DIGITS = 4  # more would tell one computer from another


@lru_cache(maxsize=1)
def numbers() -> list[str]:
    """Seconds per simulated second in each part of the run, for three schedules."""
    description = read(
        mam_benchmark.describe(areas=RANKS, neurons_per_area=2000, indegree=100, delay_ratio=10)
    )
    counting = Counting(description, rates.of(description).hz)
    machine = machines.filled(machines.load_any(MACHINE))
    layout = Layout.of(machine, RANKS, THREADS, 1, {USUAL: RANKS - 1, SLOW: 1})
    found = []
    for way in WAYS:
        changed = {"lag": way.lag} if way.lag else {}
        loads = counting.loads(RANKS, THREADS, way.schedule, delay_ratio=way.delay_ratio, **changed)
        parts = times.of_parts(loads, Inputs(machine), layout)
        found += [f"{way.words}: {name} {seconds:.{DIGITS}g}" for name, seconds in parts.items()]
    return found
