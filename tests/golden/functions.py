"""Models that no command prints: what `call NAME ARGUMENTS` in analysis/commands.csv gives, as JSON.

A test of a renamed function is edited here, never its value.
"""

import json
from pathlib import Path

import numpy as np

from spikemark import machines
from spikemark.machines.values import Values
from spikemark.models import access as irregular
from spikemark.models import mpi_rules, order_statistics, waiting_iid
from spikemark.models.loggp import EXCHANGES, Collectives, Traffic
from spikemark.models.published import simula as energies
from spikemark.models.recursion import Lane, evaluate
from spikemark.running import experiments


def maximum(ranks):
    return order_statistics.expected_maximum(int(ranks))


def interval(mean, sd, ranks, level):
    return order_statistics.interval_of_maxima(float(mean), float(sd), int(ranks), float(level))


def cv(mean, sd, period):
    mean, sd = waiting_iid.window(float(mean), float(sd), int(period))
    return sd / mean


def ratio(period):
    return waiting_iid.waiting_ratio(int(period))


def iid(mean, sd, ranks, cycles, period):
    return waiting_iid.predict(float(mean), float(sd), int(ranks), int(cycles), int(period))


def access(what, *given):
    """Equations 13 to 17: p SOURCES SYNAPSES, conventional N_M K M T, others N_M K_INTRA K_INTER M T."""
    numbers = [float(x) for x in given]
    if what != "p":
        numbers[-2:] = int(numbers[-2]), int(numbers[-1])
    names = {"conventional": "f_conventional", "aware": "f_structure_aware"}
    return getattr(irregular, names.get(what, what))(*numbers)


def expected_access(path, ranks, threads, schedule):
    found = irregular.expected(json.loads(Path(path).read_text()), int(ranks), int(threads), schedule)
    return {"ratio": found.ratio, "lists": found.lists, "possible_lists": found.possible_lists}


def counted_access(record):
    totals = json.loads(Path(record).read_text())["totals"]
    return totals["first_accesses"] / totals["synaptic_events"]


def recursion(times, period, lag, exchange):
    """Waiting of ranks that meet in one lane; times: a list of compute times for each rank."""
    course = evaluate(
        np.array(json.loads(times), dtype=float),
        [Lane(int(period), int(lag), None, exchange_s=float(exchange))],
    )
    return {"waiting": course.waiting_s.sum(axis=-1).tolist(), "end": course.end_s.tolist()}


def simula():
    """The energies of Simula et al. 2019, Tables II to IV, again from time and power."""
    points = {
        name: [
            {"product_j": p.product_j, "consistent": p.consistent, "gross_j": p.gross_j}
            for p in energies.points(table)
        ]
        for name, table in (("table2", energies.X86), ("table3", energies.ARM))
    }
    events = [{"name": d.name, "events": d.events} for d in energies.definitions()]
    uj = [
        {"uj": [energies.microjoule(joule, d) for d in energies.definitions()]}
        for joule, _ in energies.table4().values()
    ]
    return points | {"definitions": events, "table4": uj, "slips": energies.slips()}


def exchange(profile, name, ranks, size, each="1"):
    """Seconds of an exchange in which all ranks send so many bytes to all, without measured tables."""
    ranks, each = int(ranks), int(each)
    node, other = np.arange(ranks) // each, 1.0 - np.eye(ranks)
    net, traffic = network_of(profile, int(node.max()) + 1), Traffic(float(size) * other, other, node)
    return net.barrier(traffic) if name == "barrier" else EXCHANGES[name](net, traffic)


def algorithm(profile, call, ranks, size):
    """Which algorithm the MPI library of a machine takes."""
    return mpi_rules.chosen(network_of(profile, int(ranks)).net.selector, call, int(ranks), float(size))


def network_of(profile, nodes):
    # The values are for the congestion that was assumed when they were computed; they name it.
    filled = machines.filled(machines.load(profile)).assume("interconnect.congestion", 2.63, "1", "as then")
    return Collectives.of(Values(filled), nodes, measured=False)


def plan(experiment):
    """The ids of all runs of an experiment, in their order."""
    return [run.id for run in experiments.expand(experiments.load(Path(experiment)))]
