"""Kernel times from runs of the mini-app: those that were planted come back."""

from types import SimpleNamespace

import pytest

from spikemark import machines
from spikemark.machines.profile import Value
from spikemark.measuring import kernels_in_runs
from spikemark.measuring.site import QUICK_EFFORT, Site
from spikemark.network.presets import mam_benchmark
from spikemark.prediction import layout, performance

PLANTED = {
    "t_first": 60.0,
    "t_first_far": 200.0,
    "t_next": 1.2,
    "update.ignore_and_fire": 0.3,
    "update_far": 0.2,
    "collocate": 150.0,
    "cycle": 120.0,
    "meet": 700.0,
    "exchange": 900.0,
}


def planted():
    """A machine whose kernels take these times on one core, and 1.1 times as long on all."""
    values = {
        f"kernels.{group}.{name}": Value(factor * ns, "ns", "measured", "")
        for group, factor in (("one_core", 1), ("full_node", 1.1))
        for name, ns in PLANTED.items()
        if group == "full_node" or name not in ("meet", "exchange")
    }
    return machines.load("zen5-vm").with_values(values)


def a_run(way, out, neurons: int, indegree: int, ms: float, areas: int):
    description = mam_benchmark.describe(
        areas=areas,
        neurons_per_area=neurons,
        indegree=indegree,
        simulate_ms=ms,
        schedule="conventional",
    )
    return SimpleNamespace(
        record=SimpleNamespace(description=description, ranks=way.ranks, threads=way.threads)
    )


def test_times_that_make_the_phases_are_found(monkeypatch, tmp_path):
    machine = machines.filled(planted())

    def spent(run, part):
        loads, record = kernels_in_runs._loads(run), run.record
        ranks = layout.MachineLayout.from_machine(
            machine, record.ranks, record.threads, record.ranks
        )
        prediction = performance.performance(loads, machine, ranks, drawn=False)
        return float(prediction.parts[part][0]) * loads.cycle_s

    monkeypatch.setattr(kernels_in_runs.runs, "run", a_run)
    monkeypatch.setattr(kernels_in_runs, "_spent", spent)
    site = Site(1, 2)
    bench_values = machines.load("zen5-vm").values
    values = kernels_in_runs.values(
        [kernels_in_runs.one_round(site, QUICK_EFFORT, tmp_path, [])], site, bench_values
    )
    for name, ns in PLANTED.items():
        assert values[f"kernels.full_node.{name}"].value == pytest.approx(1.1 * ns, rel=1e-3), name
        if name not in ("meet", "exchange"):
            assert values[f"kernels.one_core.{name}"].value == pytest.approx(ns, rel=1e-3), name
    # a model that was not run finds the same caches
    more = 1.1 * 0.3 - bench_values["kernels.full_node.update.ignore_and_fire"].value
    other = "kernels.full_node.update.lif_exp"
    assert values[other].value == pytest.approx(bench_values[other].value + more)
