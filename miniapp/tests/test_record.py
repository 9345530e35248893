"""The run record is what miniapp/FORMAT.md says, and its figures agree with each other."""

import json
import re
import shutil
import signal

import numpy as np
import program
import pytest
from faults.interposed import Fault
from program import rows

from spikemark.records.judged import warnings

pytestmark = pytest.mark.slow

MASK = (1 << 64) - 1


@pytest.fixture(scope="module", params=[1, 2])
def run(request, tmp_path_factory):
    """A run on two ranks of one thread or two; its folder and record."""
    out = tmp_path_factory.mktemp("record") / "run"
    return out, program.record_of(out, ranks=2, threads=request.param)


def splitmix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def test_the_fields_are_those_that_are_documented(run):
    """Dotted names in the first column of the table of record.json in FORMAT.md."""
    text = (program.ROOT / "miniapp" / "FORMAT.md").read_text()
    table = text.split("### `record.json`")[1].split("###")[0]
    first = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    documented = {name for row in first for name in re.findall(r"`([\w.]+)`", row)}
    record, whole = run[1], ("timing", "memory")
    written = {*record, *(f"{part}.{name}" for part in whole for name in record[part])} - set(whole)
    assert written == documented
    for part in (record["totals"], record["provenance"], record["host"], record["lanes"][0]):
        assert [name for name in part if f"`{name}`" not in text] == []


def test_phases_add_up_to_the_wall_clock_time(run):
    out, record = run
    cycles = np.load(out / "cycles.npy")
    assert cycles.dtype == np.float32
    assert cycles.shape == (2, record["timing"]["cycles"], len(record["phases"]))
    walls = [float(row["simulate_s"]) for row in rows(out)]
    assert cycles.astype(float).sum(axis=(1, 2)) == pytest.approx(walls, rel=0.02)
    for i, name in enumerate(record["phases"]):
        sums, said = cycles[:, :, i].astype(float).sum(axis=1), record["timing"]["phases"][name]
        assert [sums.mean(), sums.max()] == pytest.approx([said["mean_s"], said["max_s"]], rel=1e-3)
    waits = cycles[:, :, record["phases"].index("thread_wait")]
    assert (waits > 0).all() if record["threads"] > 1 else (waits == 0).all()


def test_the_share_of_the_timers_is_that_of_the_readings(run):
    """After deliver, update, collocate and the near lane in each cycle, twice where ranks meet, and
    at two barriers of several threads; however long a reading takes on this host.
    """
    timing, (near, far), several = run[1]["timing"], run[1]["lanes"], run[1]["threads"] > 1
    readings = timing["timer_overhead"] * timing["simulate_s"] / timing["timer_read_s"]
    assert readings == pytest.approx(
        (4 + 2 * several) * near["windows"] + 2 * far["windows"] + 1 + several
    )


def test_the_spikes_are_sorted_and_give_the_checksum(run):
    out, record = run
    spikes = np.load(out / "spikes.npy")
    assert spikes.dtype == np.uint32 and spikes.shape == (record["totals"]["spikes"], 2)
    total = sum(splitmix64(int(gid) + (int(step) << 32)) for gid, step in spikes) & MASK
    assert f"{total:016x}" == record["spike_checksum"]
    assert (np.diff(spikes[:, 1].astype(np.int64) * 2**32 + spikes[:, 0]) > 0).all()
    assert spikes[:, 1].min() >= 100 and spikes[:, 1].max() < 2100  # the warm-up has 100 steps
    assert len(spikes) == 2000 * 10 * 0.2  # neurons x Hz x s; the interval divides the time


def test_the_activity_counts_the_spikes_of_each_population_in_each_cycle(run):
    out, record = run
    spikes, sizes = (
        np.load(out / "spikes.npy"),
        [p["size"] for p in record["description"]["network"]["populations"]],
    )
    population = np.searchsorted(np.cumsum(sizes), spikes[:, 0], side="right")
    cycle = (spikes[:, 1] - 100) // (
        2000 // record["timing"]["cycles"]
    )  # after the warm-up of 100 steps
    counted = np.zeros((record["timing"]["cycles"], len(sizes)), np.uint32)
    np.add.at(counted, (cycle, population), 1)
    activity = np.load(out / "activity.npy")
    assert record["timing"]["stretch_cycles"] == 1 and activity.dtype == np.uint32
    assert np.array_equal(activity, counted)


def test_totals_are_the_sums_over_ranks_and_lanes(run):
    out, record = run
    for name, total in record["totals"].items():
        assert sum(int(row[name]) for row in rows(out)) == total, name
    for name in ("synapses", "messages", "bytes_sent"):
        assert sum(lane[name] for lane in record["lanes"]) == record["totals"][name]
    # Every neuron fires twice, so every one of the 100 synapses per neuron is visited twice.
    assert record["totals"]["synaptic_events"] == 100 * record["totals"]["spikes"]
    assert record["memory"]["peak_bytes"] == sum(int(row["peak_bytes"]) for row in rows(out))
    _, far = record["lanes"]
    # Every window sends its sizes (4 bytes) to the other rank, and 4 bytes for each spike wanted
    # there.
    assert far["bytes_sent"] == 2 * 200 * 4 + 4 * far["spikes_sent"]


def test_without_a_barrier_the_waiting_is_null_with_a_reason(tmp_path):
    record = program.record_of(tmp_path / "run", *program.sets(record__barrier=False), ranks=2)
    waiting = record["timing"]["phases"]["synchronise"]
    assert waiting["mean_s"] is waiting["max_s"] is None and waiting["reason"]
    cycles, column = np.load(tmp_path / "run" / "cycles.npy"), record["phases"].index("synchronise")
    assert np.isnan(cycles[:, :, column]).all()
    assert not np.isnan(np.delete(cycles, column, axis=2)).any()


def test_the_description_in_the_record_runs_again_to_the_same_spikes(run, tmp_path):
    (tmp_path / "again.json").write_text(json.dumps(run[1]["description"]))
    again = program.record_of(tmp_path / "run", description=tmp_path / "again.json")
    assert again["checksum"] == run[1]["checksum"]


@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_the_build_with_checks_gives_the_same_spikes_in_any_exchange(half, tmp_path):
    """By day every second exchange; test_exchange.c tries all of them without these checks."""
    short = program.sets(placement="area_group", time__simulate_ms=2)
    expected = program.record_of(tmp_path / "alone", *short)["checksum"]
    exchanges = program.registered()["exchanges"].values()
    names = sorted({one["name"] for one in exchanges if not one["absent"]} - {"self"})
    for name in names[half::2]:
        found = program.checked(
            tmp_path / name, *short, "--set", f"exchange={name}", ranks=3, leaking=False
        )
        assert found["checksum"] == expected, name


@pytest.mark.parametrize("classes", [0, pytest.param(4, marks=pytest.mark.nightly)])
def test_every_model_gives_the_same_spikes_without_optimisation(classes, tmp_path):
    for model in program.registered()["neuron_models"]:
        about = {
            "neuron": {"model": model},
            "external": {"rate_hz": 8, "synapses": 1000, "weight": 120},
        }
        fields = {
            f"network__populations__{i}__{name}": about[name] for i in (0, 1) for name in about
        }
        fields["network__projections__0__weight"] = {"mean": 20, "sd": 5, "classes": classes}
        arguments = program.sets(time__simulate_ms=20, **fields)
        record = program.record_of(tmp_path / model, *arguments, threads=2)
        found = program.checked(tmp_path / f"{model}-checked", *arguments, ranks=2)
        assert record["totals"]["spikes"] > 0
        expected = 2000 * 8 * 1000 * 0.02  # neurons x synapses x rate x time
        assert abs(record["totals"]["external_events"] - expected) < 5 * expected**0.5
        assert found["totals"]["external_events"] == record["totals"]["external_events"]
        assert found["checksum"] == record["checksum"]
        if classes == 0:
            assert record["memory"]["parts"]["synapses"] == 8 * record["totals"]["synapses"]


@pytest.mark.parametrize(
    ("asked", "has"), [(20000, 10000), (10000, None), (7000, 10000), (4000, 5000), (0, None)]
)
def test_rates_that_cannot_be_reached_are_warned_of(tmp_path, asked, has):
    rates = {
        f"network__populations__{i}__neuron__rate_hz": rate for i, rate in enumerate((10, asked))
    }
    record = program.record_of(tmp_path / "run", *program.sets(time__simulate_ms=60, **rates))
    assert sum(w.startswith("rate_hz") for w in warnings(record)) == (has is not None)
    per_neuron = record["totals"]["spikes"] / record["totals"]["neurons"] / 0.06
    assert per_neuron == pytest.approx(((has or asked) + 10) / 2, rel=0.1)


@pytest.mark.parametrize("exchange", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_a_run_that_dies_while_it_replaces_another_leaves_a_whole_record(tmp_path, exchange):
    """Where names can be traded, a record is in its place at any time; elsewhere, one lies beside
    it.
    """
    out, died = tmp_path / "run", set()
    plain, short = (
        {} if exchange else {"SPIKEMARK_NO_EXCHANGE": "1"},
        program.sets(time__simulate_ms=1),
    )
    for call in range(1, 40):
        shutil.rmtree(tmp_path)
        program.record_of(out, *short, *program.sets(seed=1))
        how = plain | Fault("kill", str(tmp_path), call, calls=("rename", "remove")).environment()
        done = program.start(program.EXAMPLE, "--out", out, *short, *program.sets(seed=2), **how)
        found = [json.loads(path.read_text()) for path in tmp_path.glob("*/record.json")]
        assert all(record["status"] == "complete" for record in found)
        assert {record["description"]["seed"] for record in found} <= {1, 2} and found
        assert (out / "record.json").is_file() or not exchange
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        died.add(tuple(sorted(record["description"]["seed"] for record in found)))
    assert done.returncode == 0 and (1, 2) in died, "it died once while both were there"


@pytest.mark.parametrize("name", ["record.json", "ranks.csv", "cycles.npy"])
@pytest.mark.parametrize("call", ["open", "write", "fsync", "close"])
def test_a_file_that_is_not_written_is_named(tmp_path, name, call):
    failing = Fault("EIO", f"/{name}", calls=(call,)).environment()
    done = program.start(program.EXAMPLE, "--out", tmp_path / "run", **failing)
    assert done.returncode != 0 and list(tmp_path.iterdir()) == []
    (line,) = done.stderr.splitlines()
    assert line.startswith("miniapp: --out: ") and name in line and "Input/output error" in line
