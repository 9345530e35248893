"""The study of delivery on planted times."""

import copy
import shutil

import numpy as np
import pandas as pd
import pytest
from fake_simulation import simulated
from html_page import Page
from planned import run, write_experiment
from small_network import describe
from studied import OVERSUBSCRIBED, says_simulated

from spikemark.models.delivery_time import Times
from spikemark.records.gather import gather
from spikemark.studies import STUDIES, carry_out, delivery
from spikemark.studies.delivery import timing

TRUTH = Times(first=30e-9, next=2e-9, spike=8e-9)
INDEGREES = (2, 4, 10, 30, 60)


def planned() -> list[dict]:
    """Networks of several in-degrees, 1 x 1, 1 x 2, 2 x 1 and, without times that count, 4 x 1."""
    runs = []
    for indegree in INDEGREES:
        network = describe(areas=4, neurons=50, indegree=indegree, rate_hz=50)
        network["record"]["cycles"] = False
        for ranks, threads in ((1, 1), (1, 2), (2, 1), (4, 1)):
            fields = {"preset.indegree": indegree}
            warnings = OVERSUBSCRIBED if ranks == 4 else []
            runs += [
                run(
                    ranks=ranks,
                    threads=threads,
                    repetition=k,
                    fields=fields,
                    description=network,
                    warnings=warnings,
                )
                for k in (1, 2, 3)
            ]
    return runs


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A results folder whose runs took as long as TRUTH says, but for one run that was disturbed."""
    folder, runs = tmp_path_factory.mktemp("delivery"), planned()
    for number, (options, m) in enumerate(
        zip(runs, gather(write_experiment(folder / "first", runs)).runs, strict=True)
    ):
        record = m.run.record
        parts = record.ranks * record.threads
        first, events = (x / parts for x in (record.totals.first_accesses, record.totals.synaptic_events))
        spikes = first * (1.5 if record.threads == 2 else 1)  # a third of them without a list
        seconds = float(TRUTH.predict([[first, events, spikes]])[0]) * (5 if number == 0 else 1)
        phases = {name: phase.model_dump() for name, phase in record.timing.phases.items()}
        options["timing__phases"] = copy.deepcopy(phases) | {"deliver": {"mean_s": seconds, "max_s": seconds}}
        options["lanes"] = [
            lane.model_dump() | {"spikes_sent": round(spikes * record.ranks)} for lane in record.lanes
        ]
    return write_experiment(folder / "second", runs)


@pytest.fixture(scope="module")
def done(results):
    return carry_out.write(STUDIES["delivery"], gather(results))


def rows(done, name: str) -> list[dict]:
    return next(table.rows for table in done.findings.tables if table.name == name)


def test_planted_times_are_found_whatever_one_run_says(done):
    found = {row["time"]: row["fitted_ns"] for row in rows(done, "times")}
    planted = {"t_first": 30, "t_next": 2, "t_spike": 8, "t_first + t_spike": 38}
    assert {name: cell.value for name, cell in found.items()} == pytest.approx(planted, rel=0.01)
    assert all(cell.low <= 1.001 * cell.value for cell in found.values())


def test_every_second_length_is_held_out(done):
    held = [row["length"] for row in rows(done, "points") if row["role"] == "held out"]
    assert len(rows(done, "points")) == len(INDEGREES) * 3  # not those of more ranks than cores
    assert len(held) == 2 * 3
    assert all(abs(row["error_percent"]) < 1 for row in rows(done, "points"))
    assert "6 of 6 held-out points within 15" in done.page.read_text()


def test_a_slow_repetition_is_divided_out(results):
    """What slows all configurations of one down is the machine; what slows one down is its own."""
    runs = gather(results).runs
    for m in runs:
        phase = m.run.record.timing.phases["deliver"]
        own = 1.5 if m.planned.repetition == 2 else 1.0
        m.run.record.timing.phases["deliver"] = phase.model_copy(update={"mean_s": own * phase.mean_s})
    for p in timing.points(runs):
        assert p.middle_s == pytest.approx(float(TRUTH.predict(p.counts.mean(axis=0))), rel=1e-3)


def test_a_model_that_does_not_hold_is_said_to(results):
    sweep = gather(results)
    for m in sweep.runs:
        held = m.planned.fields["preset.indegree"] == INDEGREES[1]
        phase = m.run.record.timing.phases["deliver"]
        if held:
            m.run.record.timing.phases["deliver"] = phase.model_copy(update={"mean_s": 2 * phase.mean_s})
    findings = delivery.read(sweep)
    box = findings.parts[0].boxes[0]
    assert box.tone == "bad" and "3 of 6" in box.text and "NOT reached" in box.text


def test_kernels_stand_beside_if_there_are_any(done, results, monkeypatch):
    assert not any(row["kernel_ns"] for row in rows(done, "times"))
    assert "run spikemark bench" in " ".join(Page(done.page.read_text(encoding="utf-8")).text.split())


def test_times_of_the_kernels_are_fitted_likewise(results):
    sizes = [1, 8, 100, 1000]
    ns = [(40 + 1.5 * size) / size for size in sizes]  # per synapse
    table = pd.DataFrame({
        "kernel": "deliver", "size": sizes, "item": "synapse", "repetitions": 5, "clock": "cpu",
        "median_ns": ns, "q1_ns": ns, "q3_ns": ns, "real_median_ns": ns, "raw": "raw.json",
    })  # fmt: skip
    sweep = gather(results)
    path = sweep.path.parents[1] / "bench" / "here" / "kernels.parquet"
    path.parent.mkdir(parents=True)
    table.to_parquet(path)
    found = {
        row["time"]: row["kernel_ns"]
        for table in delivery.read(sweep).tables
        for row in table.rows
        if "time" in row
    }
    path.unlink()
    assert found["t_next"] == pytest.approx(1.5) and found["t_first + t_spike"] == pytest.approx(40)
    assert found["t_first"] == found["t_spike"] == ""  # every spike of the kernel has a list


def test_a_page_of_simulated_runs_calls_none_of_their_times_measured(results, fake, tmp_path):
    shutil.copytree(results.parents[1], tmp_path / "copy")
    sweep = gather(simulated(tmp_path / "copy" / results.parent.name / results.name))
    done = carry_out.write(STUDIES["delivery"], sweep)
    assert len(rows(done, "points")) == len(INDEGREES) * 4  # no core of this machine is short of
    says_simulated(done)


def test_planted_drift_is_found_whatever_single_runs_say():
    drift = {1: 1.0, 2: 1.3, 3: 0.9, 4: 1.0, 5: 2.0}
    runs = [(setup, block, (setup + 1) * slower) for setup in range(20) for block, slower in drift.items()]
    runs = [(s, b, 10 * t if (s, b) == (3, 4) else t) for s, b, t in runs if (s, b) != (7, 1)]
    assert timing.slower(runs) == pytest.approx(drift)


def test_without_drift_nothing_changes():
    rng = np.random.default_rng(1)
    runs = [(s, b, np.exp(s + 0.01 * rng.standard_normal())) for s in range(50) for b in range(9)]
    assert all(abs(factor - 1) < 0.01 for factor in timing.slower(runs).values())
    assert timing.slower([]) == {} and timing.slower([("a", 1, 3.0)]) == {1: 1.0}
