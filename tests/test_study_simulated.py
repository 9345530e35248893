"""Studies of simulated machines from end to end: their experiments with few ranks and cycles, on SimGrid."""

import json
from dataclasses import replace
from pathlib import Path

import machine_file
import pytest
import test_study
import yaml
from studied import says_simulated

from spikemark import machines
from spikemark.prediction import phases
from spikemark.presets import mam_benchmark
from spikemark.running.experiments import find
from spikemark.studies import STUDIES, carry_out

pytestmark = pytest.mark.slow

AREAS = {"areas": 4, "neurons_per_area": 40, "indegree": 8}
FOUR = {"ranks": 4, "preset.areas": 4}
FAR = {"exchange": "direct"}
SMALL = {
    "weak-scaling": {
        "options": {"neurons_per_area": 40, "indegree": 8},
        "grid": [
            {"preset.areas": n, "ranks": n, **way}
            for n in (2, 4)
            for way in ({"schedule": ["conventional", "structure_aware"]}, {"schedule": "overlapped", **FAR})
        ],
    },
    "heterogeneity": {
        "options": AREAS,
        "grid": [
            {"schedule": ["conventional", "structure_aware"], "preset.size_cv": [0, 0.2], **FOUR},
            {"schedule": ["conventional", "structure_aware"], "preset.area_rate_cv": 0.2, **FOUR},
            {"schedule": "structure_aware", "preset.size_cv": 0, "delay_ratio": 2, **FOUR},
        ],
    },
    "overlap": {
        "options": AREAS,
        "grid": [
            {"schedule": ["conventional", "structure_aware"], "inject.correlation": [0, 0.9], **FOUR},
            {"schedule": "overlapped", "inject.correlation": [0, 0.9], "exchange": "direct", **FOUR},
            {"schedule": "overlapped", "inject.correlation": 0, "lag": 4, "exchange": "direct", **FOUR},
        ],
        "set": {"delay_ratio": 10, "time.simulate_ms": 20},
    },
    "interconnect": {
        "options": {"scale": 0.01},
        "grid": [{"ranks": [4, 8], "machine.ranks_per_node": [1, 2]}],
    },
    "mam": {
        "options": {"scale": 0.001},
        "grid": [
            {"schedule": "conventional", "ranks": 4},
            {"schedule": "structure_aware", "placement": ["area", "area_group"], "ranks": [4]},
            {"schedule": "structure_aware", "placement": "area_group", "ranks": 8},
        ],
    },
}


def shrunk(name: str, folder: Path) -> Path:
    """The experiment of the study on a made-up machine, with a small grid in place of its own."""
    content, small = yaml.safe_load(find(name).read_text()), SMALL[name]
    content["machine"] |= {"profile": str(machine_file.write(folder / "made-up.yaml")), "ranks_per_node": 1}
    if name == "mam":
        content["machine"]["compute_of"] = {"preset.scale": 0.002}
    content["preset"]["options"] |= small["options"]
    content["set"] |= {"time.warmup_ms": 0, "time.simulate_ms": 4} | small.get("set", {})
    if name == "interconnect":
        content["set"]["time.simulate_ms"] = 10
    content["grid"] = small["grid"]
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Carries a study out once, by name."""
    kept = {}

    def carry(name: str) -> carry_out.Done:
        if name not in kept:
            folder = tmp_path_factory.mktemp(name)
            study = replace(STUDIES[name], experiment=str(shrunk(name, folder)))
            with open(folder / "log", "w") as log:
                kept[name], outcome = carry_out.carry_out(study, None, folder, stream=log)
            assert outcome.complaints == [] and outcome.failed == {}
        return kept[name]

    return carry


def rows(found: carry_out.Done, table: str) -> list[dict]:
    return json.loads(found.tables.read_text())["tables"][table]["rows"]


def test_every_study_is_carried_out_in_a_test():
    """Here, with the measured studies, or in a file of its own."""
    elsewhere = {"simulation-check", "partition-du", "routing"}
    assert set(STUDIES) == set(SMALL) | set(test_study.SMALL) | elsewhere


@pytest.mark.parametrize("name", SMALL)
def test_all_runs_are_there_and_found_the_same_spikes(done, name):
    found = done(name)
    assert len(found.sweep.runs) == len(found.sweep.planned) > 3
    assert found.sweep.machine == "made-up" and found.sweep.simulated
    says_simulated(found)
    text = found.page.read_text()
    assert "NOT EQUAL" not in text
    assert found.findings.sentence.split()[0] in text


def test_the_miniapp_waits_as_the_recursion_says(done):
    """Compared with injected times of a millisecond, messages cost next to nothing."""
    for row in rows(done("overlap"), "waiting"):
        replayed = row["waiting_us_replayed"]["value"]
        assert row["waiting_us"]["value"] == pytest.approx(replayed, rel=0.05, abs=10)


def test_weak_scaling_takes_the_time_of_full_areas(done, tmp_path):
    """Compute times are those of the model for full areas, ten times those of the few simulated neurons."""
    machine = machines.filled(machines.load(machine_file.write(tmp_path / "made-up.yaml")))
    full = mam_benchmark.describe(areas=4, neurons_per_area=129_068, indegree=5842)
    cores = machine.need("node.cores", "a test").value
    expected = phases.phase_times(full, machine, 4, cores, "structure_aware").compute_s.mean()
    (row,) = (r for r in rows(done("weak-scaling"), "cycle_times") if r["schedule"].startswith("structure"))
    assert row["mean_us"] == pytest.approx(1e6 * expected, rel=0.1)


def test_larger_areas_take_longer(done):
    """With whole areas on ranks, waiting grows with the spread of the areas."""
    found = {
        (row["size_cv"], row["schedule"].split(",")[0]): row for row in rows(done("heterogeneity"), "size_cv")
    }
    equal, unequal = (found[spread, "structure-aware"]["waiting_s"]["value"] for spread in (0, 0.2))
    assert unequal > 1.2 * equal
