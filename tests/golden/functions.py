"""Models that no command prints: what `call NAME ARGUMENTS` in analysis/commands.csv gives, as
JSON.

A test of a renamed function is edited here, never its value.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from spikemark import machines
from spikemark.machines.values import Values
from spikemark.models import access as irregular
from spikemark.models import mpi_rules, order_statistics, waiting_iid
from spikemark.models.exchange_times import EXCHANGES
from spikemark.models.loggp import Collectives, Traffic
from spikemark.models.recursion import LaneMeetings, evaluate
from spikemark.records import record
from spikemark.running import experiments
from spikemark.waiting import answer
from spikemark.waiting.trace import trace
from spikemark_studies.published import simula as energies


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


def access(name, *words):
    """Equations 13 to 17.

    Arguments: p SOURCES SYNAPSES, conventional N_M K M T, others N_M K_INTRA K_INTER M T.
    """
    numbers = [float(word) for word in words]
    if name != "p":
        numbers[-2:] = int(numbers[-2]), int(numbers[-1])
    names = {
        "p": "probability",
        "conventional": "f_conventional",
        "aware": "f_structure_aware",
    }
    return getattr(irregular, names.get(name, name))(*numbers)


def expected_access(path, ranks, threads, schedule):
    description = json.loads(Path(path).read_text())
    expected = irregular.expected(description, int(ranks), int(threads), schedule)
    return {
        "ratio": expected.ratio,
        "lists": expected.lists,
        "possible_lists": expected.possible_lists,
    }


def counted_access(record):
    totals = json.loads(Path(record).read_text())["totals"]
    return totals["first_accesses"] / totals["synaptic_events"]


def recursion(times, period, lag, exchange):
    """Waiting of ranks that meet in one lane; times: a list of compute times for each rank."""
    course = evaluate(
        np.array(json.loads(times), dtype=float),
        [LaneMeetings(int(period), int(lag), None, exchange_s=float(exchange))],
    )
    return {"waiting": course.waiting_s.sum(axis=-1).tolist(), "end": course.end_s.tolist()}


def kept_work(path, *words):
    """What `waiting` prints of a record whose ranks keep their work under every schedule.

    Words: arguments of `waiting.answer.answer`, name=value.
    """
    options = dict(word.split("=", 1) for word in words)
    changes = [options.pop("change")] if "change" in options else []
    schedule = options.pop("schedule", None)
    numbers = {name: int(word) for name, word in options.items()}
    run = replace(trace(record.load_run(path)), work=None)
    return answer.answer(run, schedule, changes=changes, **numbers).content()


def simula():
    """The energies of Simula et al. 2019, Tables II to IV, again from time and power."""
    definitions = energies.definitions()
    return {
        "table2": [_point(point) for point in energies.points(energies.X86)],
        "table3": [_point(point) for point in energies.points(energies.ARM)],
        "definitions": [{"name": d.name, "events": d.events} for d in definitions],
        "table4": [
            {"uj": _microjoules(energy.joules, definitions)}
            for energy in energies.table4().values()
        ],
        "slips": [
            *energies.slips_of_table(energies.X86),
            *energies.slips_of_table(energies.ARM),
            energies.slip_of_table4(),
        ],
    }


def _point(point):
    return {
        "product_j": point.product_j,
        "consistent": point.consistent,
        "gross_j": point.gross_j,
    }


def _microjoules(joule, definitions):
    return [energies.microjoule(joule, definition) for definition in definitions]


def exchange(profile, name, ranks, size, ranks_per_node="1"):
    """Seconds of an exchange in which all ranks send so many bytes to all, by the model alone."""
    nodes = np.arange(int(ranks)) // int(ranks_per_node)
    others = 1.0 - np.eye(int(ranks))
    traffic = Traffic(float(size) * others, others, nodes)
    network = network_of(profile, int(nodes.max()) + 1)
    if name == "barrier":
        return network.barrier(traffic)
    return EXCHANGES[name](network, traffic)


def algorithm(profile, call, ranks, size):
    """Which algorithm the MPI library of a machine takes."""
    selector = network_of(profile, int(ranks)).net.selector
    return mpi_rules.algorithm_of(selector, call, int(ranks), float(size))


def network_of(profile, nodes):
    """The network of a machine, with the congestion that was assumed when values were computed."""
    machine = machines.filled(machines.load(profile))
    machine = machine.assume("interconnect.congestion", 2.63, "1", "as then")
    return Collectives.from_values(Values(machine), nodes, measured=False)


def plan(experiment):
    """What earlier versions called the runs of an experiment, in their order."""
    return [
        run.earlier_ids[0]
        for run in experiments.expand(experiments.load_experiment(Path(experiment)))
    ]
