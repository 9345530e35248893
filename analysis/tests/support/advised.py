"""A machine and networks for which every way to run them is tried quickly."""

from small_machine import Machine, Value

from spikemark.prediction import advise_search, asked, rates
from spikemark.presets import mam_benchmark

MACHINE = Machine().with_(node__sockets=Value(2, "1"))
SLOW = {"interconnect__latency": 200.0, "interconnect__gap": 20.0}
RANKS = 8


def few(monkeypatch) -> None:
    """Leaves few numbers of nodes and ranks to try."""
    monkeypatch.setattr(advise_search, "DOUBLING", (1, 2, 4))
    monkeypatch.setattr(advise_search, "BETWEEN", ())
    monkeypatch.setattr(advise_search, "MOST_RANKS", RANKS)


def network(description: dict, **how) -> asked.Network:
    """A network that is asked about, to be run in all ways but for `how`."""
    found = asked.Network("small", description, rates.of(description), named=("--run", "small.json"))
    return asked.for_all_schedules(found, **how)


def benchmark(**options) -> dict:
    """A small MAM-benchmark."""
    return mam_benchmark.describe(**({"neurons_per_area": 2000, "indegree": 200} | options))
