"""Every study from end to end with the real mini-app and its own experiment, scaled down."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from spikemark.models import recursion
from spikemark.running.experiments import find
from spikemark.studies import STUDIES, carry_out, waits

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]

SMALL = {
    "exchange-shehzad": {
        "set": {"time.warmup_ms": 10},
        "grid": [
            {"preset.neurons_per_area": 2525, "time.simulate_ms": 1000},
            {"preset.neurons_per_area": 500, "time.simulate_ms": 50, "ranks": 8},
        ],
    },
    "exchange-music": {
        "set": {"time.warmup_ms": 0, "time.simulate_ms": 20},
        "grid": [
            {"preset.structure": 0, "ranks": [2, 8]},
            {"preset.structure": [1, 0.5], "ranks": 32},
        ],
    },
    "schedules": {
        "grid": [{"schedule": "structure_aware"}, {"schedule": "overlapped"}],
        "each": {"delay_ratio": 10, "inject.correlation": [0, 0.9]},
    },
    "energy-simula": {
        "set": {"time.warmup_ms": 100, "time.simulate_ms": 500, "record.idle_pause_s": 0},
        "grid": [{"preset.scale": 0.1}],
    },
    "networks": {
        "grid": [
            {"preset.scale": 0.02, "time.simulate_ms": 400},
            {
                "preset.name": "dpsnn",
                "preset.scale": 0.1,
                "preset.state": ["aw", "sw"],
                "time.warmup_ms": 100,
            },
            {"preset.name": "music-cells", "time.simulate_ms": 200},
            {"preset.name": "mam-benchmark", "preset.neurons_per_area": 500, "time.simulate_ms": 500},
        ],
    },
    "delivery": {
        "set": {
            "network.projections.0.indegree": 120,
            "network.projections.1.indegree": 120,
            "network.populations.2.size": 1000,
        },
        "sizes": [1000, 10_000, 100_000, 300_000],  # lists of 600 to 2
    },
    "bath": {"set": {"time.simulate_ms": 20}, "factors": [1, 2]},
}
#: What is left out of studies that compute for minutes; tests of their own do that with small machines.
LEFT_OUT = {"bath": {"prepare": None}}


def shrunk(name: str, folder: Path) -> Path:
    """The experiment of the study with a small grid in place of its own, and few repetitions."""
    content = yaml.safe_load(find(name).read_text())
    small = SMALL[name]
    content["set"] = content.get("set", {}) | small.get("set", {})
    if name == "schedules":
        content["set"]["time.simulate_ms"] = 20
        content["seeds"] = [1, 2]
        far = next(entry["exchange"] for entry in content["grid"] if "exchange" in entry)
        content["grid"] = [entry | small["each"] for entry in small["grid"]]
        content["grid"][1]["exchange"] = far
    elif name == "bath":
        waits = {"inject.per_neuron_ns": [[100_000, 100_000 * f] for f in small["factors"]]}
        content["grid"] = [entry | waits for entry in content["grid"]]
        content["seeds"] = 1
    elif name == "energy-simula":
        content |= {"grid": small["grid"], "repetitions": 2}
    elif name == "networks":
        content |= {"grid": small["grid"], "threads": 1}
    elif name == "delivery":
        content["description"] = str(find(name).parent / content["description"])
        content["repetitions"] = 1
        sizes = {"network.populations.0.size": small["sizes"], "network.populations.1.size": 1000}
        content["grid"] = [entry | sizes for entry in content["grid"][:2]]
    else:
        exchanges = content["grid"][0]["exchange"]
        content["grid"] = [entry | {"exchange": exchanges} for entry in small["grid"]]
        if name == "exchange-shehzad":
            content["preset"]["options"]["indegree"] = 20
        content["repetitions"] = 1
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
            study = replace(STUDIES[name], experiment=str(shrunk(name, folder)), **LEFT_OUT.get(name, {}))
            with open(folder / "log", "w") as log, pytest.MonkeyPatch.context() as quick:
                quick.setattr("spikemark.studies.delivery.kernel.MIN_TIME_S", 1e-3)
                kept[name], outcome = carry_out.carry_out(study, "here", folder, stream=log)
            assert outcome.complaints == [] and outcome.failed == {}
        return kept[name]

    return carry


def rows(found: carry_out.Done, table: str) -> list[dict]:
    return json.loads(found.tables.read_text())["tables"][table]["rows"]


@pytest.mark.parametrize("name", SMALL)
def test_all_runs_are_there_and_found_the_same_spikes(done, name):
    found = done(name)
    assert len(found.sweep.runs) == len(found.sweep.planned) > 3
    text = found.page.read_text()
    assert "NOT EQUAL" not in text
    assert found.findings.sentence.split()[0] in text


def test_shehzad_counts_what_the_algorithms_send(done):
    """An allgather hands over one message per other rank, doubling one per step; both send the same bytes."""
    counts = {(r["ranks"], r["exchange"]): r for r in rows(done("exchange-shehzad"), "counts")}
    plain, doubling = counts[8, "allgather"], counts[8, "rma_doubling"]
    assert (plain["connections"], plain["messages"]) == (7, 7)
    assert (doubling["connections"], doubling["messages"]) == (3, 3)
    assert plain["bytes"] > 0 and doubling["bytes"] > 0
    assert plain["exchange_us"] is None


def test_music_sends_more_than_needed_where_few_are_connected(done):
    found = {(r["connectivity"], r["ranks"]): r for r in rows(done("exchange-music"), "sent")}
    every, one, nine = found["all to all", 8], found["one to one", 32], found["nearest neighbours", 32]
    assert [row["p2p_connections"] for row in (every, one, nine)] == [4, 1, 9]
    assert [row["collective_connections"] for row in (every, one, nine)] == [7, 31, 31]
    assert one["collective_bytes"] == nine["collective_bytes"]
    assert nine["p2p_bytes"] == pytest.approx(9 * one["p2p_bytes"], rel=0.05)
    assert one["bytes_ratio"] > 8


def test_schedules_wait_as_the_recursion_says(done):
    """Transport and waking up, which the recursion does not know, add to its waiting.

    A host that is busy in one run and not in another may turn the order of both. So what overlapping saves is
    asked of the same compute times.
    """
    found = done("schedules")
    waiting = rows(found, "waiting")
    assert len(waiting) == 4
    for row in waiting:
        assert row["waiting_us"]["value"] > 0.95 * row["waiting_us_replayed"]["value"] > 0
    factors = rows(found, "overlap")
    assert [row["correlation"] for row in factors] == [0, 0.9]
    setups = {
        (one.setup.correlation, one.setup.configuration.schedule): one
        for one in waits.of_runs(found.sweep.runs)[0]
    }
    for row in factors:
        plain, late = (setups[row["correlation"], name] for name in ("structure_aware", "overlapped"))
        assert row["factor_replayed"]["value"] == pytest.approx(plain.replayed.value / late.replayed.value)
        lanes = [recursion.lanes_of(one.runs[0].run) for one in (plain, late)]
        for measured in (*plain.runs, *late.runs):
            apart, over = (recursion.evaluate(measured.run.compute(), way).waiting_s.mean() for way in lanes)
            assert apart > over > 0


def test_networks_fire_as_their_models_say(done):
    found = done("networks")
    by_name = {row["network"]: row for row in rows(found, "networks")}
    assert by_name["music-cells"]["rate_hz"] == pytest.approx(30, rel=0.01)
    assert by_name["mam-benchmark, neurons_per_area = 500"]["rate_hz"] == pytest.approx(2.5, rel=0.1)
    for name in ("music-cells", "mam-benchmark, neurons_per_area = 500"):
        assert by_name[name]["cv"] in (None, pytest.approx(0, abs=1e-6))  # clocks
    layers = [r for r in rows(found, "rates") if r["network"].startswith("microcircuit")]
    assert [r["population"] for r in layers][0::7] == ["L23E", "L6I"]
    assert all(r["published_hz"] > 0 for r in layers)
    awake = next(row for name, row in by_name.items() if "state = aw" in name)
    slow = next(row for name, row in by_name.items() if "state = sw" in name)
    assert awake["published_hz"] == 3.2 and slow["published_hz"] is None
    assert awake["rate_hz"] == pytest.approx(3.2, rel=0.3)  # few neurons, and one second
    assert all(r["here"] is None for r in rows(found, "real_time"))  # none at its published size


def test_energy_is_measured_or_its_absence_explained(done):
    found = rows(done("energy-simula"), "here")
    assert [row["ranks"] for row in found] == [1, 2]
    assert found[0]["recurrent_events"] == found[1]["recurrent_events"] > 0
    assert found[0]["external_events"] == found[1]["external_events"] > 0
    tables = json.loads(done("energy-simula").tables.read_text())["tables"]
    for row in found:
        assert row["gross_j"] is not None or tables["here"]["missing"]


def test_delivery_counts_what_threads_do(done):
    points = rows(done("delivery"), "points")
    assert len(points) == 4 * len(SMALL["delivery"]["sizes"])
    by_setup = {(row["setup"], round(row["length"])): row for row in points}
    assert min(row["length"] for row in points) < 2 < 500 < max(row["length"] for row in points)
    empty = {setup: row["empty_percent"] for (setup, length), row in by_setup.items() if length <= 2}
    two = next(value for setup, value in empty.items() if setup.startswith("1 × 2"))
    others = [value for setup, value in empty.items() if not setup.startswith("1 × 2")]
    assert two > 10 and max(map(abs, others)) < 1e-9  # a rank is sent no spike that it has no list of
    assert {row["role"] for row in points} == {"fitted", "held out"}


def test_bath_asks_whatif_about_slowed_ranks(done):
    found = rows(done("bath"), "injected")
    assert [row["slower"] for row in found] == [2, 2, 2]
    for row in found:
        assert row["ratio"]["value"] > 0 and row["said_us"]["value"] > 0
        assert row["said_ratio"]["low"] <= row["said_ratio"]["value"] <= row["said_ratio"]["high"]


def test_the_command_prints_the_tables_of_runs_that_are_there(tmp_path):
    """Nothing is measured: the mini-app cannot run, and the command says so and shows what there is."""
    broken = tmp_path / "miniapp"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    command = [sys.executable, "-m", "spikemark", "study", "exchange-music", "--json", "--results", tmp_path]
    ran = subprocess.run(
        [*map(str, command), "--profile", str(_failing_profile(tmp_path))],
        env={**os.environ, "SPIKEMARK_MINIAPP": str(broken)},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1
    content = json.loads(ran.stdout)
    assert content["runs"]["complete"] == 0 < content["runs"]["planned"]
    assert "not carried out" in ran.stderr
    assert {name: content[name] for name in content["tables"]} == content["tables"] != {}


def _failing_profile(folder: Path) -> Path:
    """A profile with which the workflow ends at once."""
    profile = folder / "profile"
    profile.mkdir()
    (profile / "config.yaml").write_text("executor: nowhere\n")
    return profile
