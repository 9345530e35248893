"""The run record is what miniapp/FORMAT.md says, and its figures agree with each other."""

import csv
import json
import os
import re
import subprocess

import numpy as np
import program
import pytest

pytestmark = pytest.mark.slow

MASK = (1 << 64) - 1


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run on two ranks; its directory and record."""
    out = tmp_path_factory.mktemp("record") / "run"
    return out, program.record_of(out, ranks=2)


def splitmix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def documented_fields():
    """Dotted names in the first column of the table of record.json in FORMAT.md."""
    text = (program.ROOT / "miniapp" / "FORMAT.md").read_text()
    table = text.split("### `record.json`")[1].split("###")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`([\w.]+)`", row)]


def test_the_documented_fields_are_there(run):
    names = documented_fields()
    assert len(names) > 20
    for name in names:
        value = run[1]
        for key in name.split("."):
            assert key in value, name
            value = value[key]


def test_no_field_is_undocumented(run):
    record = run[1]
    written = {
        *record,
        *(f"timing.{k}" for k in record["timing"]),
        *(f"memory.{k}" for k in record["memory"]),
    }
    assert written - {"timing", "memory"} == set(documented_fields())


def test_the_inner_fields_are_documented(run):
    text = (program.ROOT / "miniapp" / "FORMAT.md").read_text()
    record = run[1]
    for part in (record["totals"], record["provenance"], record["host"], record["lanes"][0]):
        for name in part:
            assert f"`{name}`" in text, name


def test_phases_add_up_to_the_wall_clock_time(run):
    out, record = run
    cycles = np.load(out / "cycles.npy")
    assert cycles.dtype == np.float32
    assert cycles.shape == (2, record["timing"]["cycles"], len(record["phases"]))
    per_rank = cycles.astype(float).sum(axis=(1, 2))
    with open(out / "ranks.csv") as file:
        walls = [float(row["simulate_s"]) for row in csv.DictReader(file)]
    assert per_rank == pytest.approx(walls, rel=0.02)
    for i, name in enumerate(record["phases"]):
        sums = cycles[:, :, i].astype(float).sum(axis=1)
        assert sums.mean() == pytest.approx(record["timing"]["phases"][name]["mean_s"], rel=1e-3)
        assert sums.max() == pytest.approx(record["timing"]["phases"][name]["max_s"], rel=1e-3)


def test_the_spike_checksum_can_be_recomputed(run):
    out, record = run
    spikes = np.load(out / "spikes.npy")
    assert spikes.dtype == np.uint32
    assert spikes.shape == (record["totals"]["spikes"], 2)
    total = sum(splitmix64(int(gid) + (int(step) << 32)) for gid, step in spikes) & MASK
    assert f"{total:016x}" == record["spike_checksum"]


def test_spikes_are_sorted_measured_and_at_the_rate(run):
    out, _ = run
    spikes = np.load(out / "spikes.npy").astype(np.int64)
    keys = spikes[:, 1] * 2**32 + spikes[:, 0]
    assert (np.diff(keys) > 0).all()
    assert spikes[:, 1].min() >= 100  # the warm-up has 100 steps
    assert spikes[:, 1].max() < 2100
    assert len(spikes) == 2000 * 10 * 0.2  # neurons x Hz x s; the interval divides the time


def test_totals_are_the_sums_over_ranks_and_lanes(run):
    out, record = run
    with open(out / "ranks.csv") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["rank"]) for row in rows] == [0, 1]
    counts = set(rows[0]) & set(record["totals"])
    assert counts == set(record["totals"])
    for name in counts:
        assert sum(int(row[name]) for row in rows) == record["totals"][name]
    for name in ("synapses", "messages", "bytes_sent"):
        assert sum(lane[name] for lane in record["lanes"]) == record["totals"][name]
    # Every neuron fires twice, so every one of the 100 synapses per neuron is visited twice.
    assert record["totals"]["synaptic_events"] == 100 * record["totals"]["spikes"]
    assert record["memory"]["peak_bytes"] == sum(int(row["peak_bytes"]) for row in rows)


def test_the_lanes_are_as_the_schedule_says(run):
    near, far = run[1]["lanes"]
    assert (near["name"], near["period"], near["ranks"], near["exchange"]) == ("near", 1, 1, "self")
    assert (far["name"], far["period"], far["ranks"], far["exchange"]) == ("far", 10, 2, "alltoallv")
    assert near["windows"] == 2000
    assert far["windows"] == 200
    assert (near["messages"], near["slack"]) == (0, 0)
    assert (far["slack"], far["shortest_delay_ms"]) == (0, 1)
    # Every window sends its sizes (4 bytes) to the other rank, and 4 bytes for each spike wanted there.
    assert far["bytes_sent"] == 2 * 200 * 4 + 4 * far["spikes_sent"]


BETWEEN = [
    {"name": "own", "group": "area"},
    {"name": "there", "from": "left", "to": "right", "period": 5},
    {"name": "back", "from": ["right"], "period": "auto"},
]


def test_lanes_between_areas_are_explained_and_recorded(run, tmp_path):
    arguments = program.sets(schedule=json.dumps(BETWEEN), exchange='{"there": "p2p", "back": "allgatherv"}')
    explained = program.start(program.EXAMPLE, "--explain", "--ranks", 2, *arguments).stdout
    assert "there    every 5 cycles, lag 0, p2p over 2 of 2 ranks, " in explained
    record = program.record_of(tmp_path / "run", *arguments, ranks=2)
    own, there, back = record["lanes"]
    assert [lane["ranks"] for lane in record["lanes"]] == [1, 2, 2]
    assert [lane["exchange"] for lane in record["lanes"]] == ["self", "p2p", "allgatherv"]
    assert (there["period"], back["period"], there["groups"]) == (5, 10, 1)
    assert sum(lane["synapses"] for lane in record["lanes"]) == record["totals"]["synapses"]
    assert own["synapses"] == run[1]["lanes"][0]["synapses"]
    assert there["messages"] == there["windows"]  # one way only
    assert record["checksum"] == run[1]["checksum"]
    assert program.checked(tmp_path / "checked", *arguments, ranks=2)["checksum"] == run[1]["checksum"]


def test_the_share_of_the_timers_is_that_of_the_readings(run):
    """After deliver, update, collocate and the near lane in each cycle, and twice where ranks meet; however
    long a reading takes on this host."""
    timing, (near, far) = run[1]["timing"], run[1]["lanes"]
    assert timing["timer_read_s"] > 0
    readings = timing["timer_overhead"] * timing["simulate_s"] / timing["timer_read_s"]
    assert readings == pytest.approx(4 * near["windows"] + 2 * far["windows"] + 1)


def test_without_a_barrier_the_waiting_is_null_with_a_reason(tmp_path):
    record = program.record_of(tmp_path / "run", *program.sets(record__barrier="false"), ranks=2)
    waiting = record["timing"]["phases"]["synchronise"]
    assert waiting["mean_s"] is None
    assert waiting["max_s"] is None
    assert "record.barrier" in waiting["reason"]
    cycles = np.load(tmp_path / "run" / "cycles.npy")
    column = record["phases"].index("synchronise")
    assert np.isnan(cycles[:, :, column]).all()
    assert not np.isnan(np.delete(cycles, column, axis=2)).any()


def test_only_what_is_asked_for_is_written(tmp_path):
    program.record_of(tmp_path / "run", *program.sets(record__cycles="false", record__spikes="false"))
    assert sorted(f.name for f in (tmp_path / "run").iterdir()) == ["ranks.csv", "record.json"]


def test_the_description_in_the_record_runs_again_to_the_same_spikes(run, tmp_path):
    record = run[1]
    again = tmp_path / "again.json"
    again.write_text(json.dumps(record["description"]))
    assert program.record_of(tmp_path / "run", description=again)["checksum"] == record["checksum"]


def test_oversubscription_is_a_warning(tmp_path):
    short = program.sets(schedule="conventional", time__simulate_ms=1)  # so many threads are slow
    record = program.record_of(tmp_path / "run", *short, ranks=8, threads=64)
    assert any(w.startswith("oversubscribed: 8 ranks x 64 threads") for w in record["warnings"])


def test_the_build_without_optimisation_and_with_checks_gives_the_same_spikes(run, tmp_path):
    assert program.checked(tmp_path / "run", ranks=2, threads=2)["checksum"] == run[1]["checksum"]


def test_the_build_with_checks_finds_nothing_in_any_exchange(tmp_path):
    short = program.sets(placement="area_group", time__simulate_ms=2)
    expected = program.record_of(tmp_path / "alone", *short)["checksum"]
    lines = program.start("--list").stdout.splitlines()
    absent = {line.split()[0] for line in lines if "; absent: " in line}
    for name in set(program.registered()["exchange"]) - {"self"} - absent:
        how = {"ranks": 3, "options": "exitcode=0:detect_leaks=0"}
        found = program.checked(tmp_path / name, *short, "--set", f"exchange={name}", **how)
        assert found["checksum"] == expected, name


def test_every_model_gives_the_same_spikes_without_optimisation(tmp_path):
    for model in program.registered()["neuron model"]:
        fields = {"time__simulate_ms": 20, "network__projections__0__weight": '{"mean": 20, "sd": 5}'}
        for i in (0, 1):
            fields[f"network__populations__{i}__neuron"] = json.dumps({"model": model})
            external = {"rate_hz": 8, "synapses": 1000, "weight": 120}
            fields[f"network__populations__{i}__external"] = json.dumps(external)
        arguments = program.sets(**fields)
        record = program.record_of(tmp_path / model, *arguments, threads=2)
        found = program.checked(tmp_path / f"{model}-checked", *arguments, ranks=2)
        assert record["totals"]["spikes"] > 0
        expected = 2000 * 8 * 1000 * 0.02  # neurons x synapses x rate x time
        assert abs(record["totals"]["external_events"] - expected) < 5 * expected**0.5
        assert found["totals"]["external_events"] == record["totals"]["external_events"]
        with open(tmp_path / f"{model}-checked" / "ranks.csv") as file:
            by_rank = [int(row["external_events"]) for row in csv.DictReader(file)]
        assert len(by_rank) == 2 and min(by_rank) > 0
        assert sum(by_rank) == found["totals"]["external_events"]
        assert found["checksum"] == record["checksum"]


def test_weights_without_classes_take_eight_bytes(tmp_path):
    weight = '{"mean": 20, "sd": 5, "classes": 0}'
    fields = {"time__simulate_ms": 20, "network__projections__0__weight": weight}
    for i in (0, 1):
        fields[f"network__populations__{i}__neuron"] = '{"model": "lif_exp", "I_e_pA": 500}'
    arguments = program.sets(**fields)
    record = program.record_of(tmp_path / "run", *arguments, threads=2)
    assert record["memory"]["parts"]["synapses"] == 8 * record["totals"]["synapses"]
    assert record["totals"]["spikes"] > 1000
    assert program.checked(tmp_path / "checked", *arguments, ranks=2)["checksum"] == record["checksum"]
    done = program.start("--explain", program.EXAMPLE, *arguments)
    assert re.search(r"summed in 32 bits, one for each synapse \(eight bytes\)\n", done.stdout)
    predicted = float(re.search(r"synapses ([\d.]+),", done.stdout)[1]) * 2**20
    assert predicted == pytest.approx(record["memory"]["parts"]["synapses"], abs=0.06 * 2**20)


def test_random_in_degrees_are_expected_and_counted(tmp_path):
    fields = {f"network__projections__{i}__indegree": '{"mean": 40.5}' for i in range(4)}
    arguments = program.sets(**fields)
    record = program.record_of(tmp_path / "run", *arguments, threads=2)
    totals, projections = record["totals"], record["description"]["network"]["projections"]
    assert projections[0]["indegree"] == {"mean": 40.5, "distribution": "poisson"}
    assert 0 < abs(totals["synapses"] - 4 * 40500) < 5 * (4 * 40500) ** 0.5
    # Every neuron fires twice, so every synapse is visited twice.
    assert totals["synaptic_events"] == 2 * totals["synapses"]
    done = program.start("--explain", program.EXAMPLE, *arguments)
    assert "162000 synapses expected, since in-degrees are random, seed 1" in done.stdout
    assert program.checked(tmp_path / "checked", *arguments, ranks=2)["checksum"] == record["checksum"]


@pytest.mark.parametrize(("asked", "has"), [(20000, 10000), (10000, None), (7000, 10000), (5000, None),
                                             (4000, 5000), (100, None), (0, None)])  # fmt: skip
def test_rates_that_cannot_be_reached_are_warned_of(tmp_path, asked, has):
    rates = {
        "network__populations__0__neuron__rate_hz": 10,
        "network__populations__1__neuron__rate_hz": asked,
    }
    record = program.record_of(tmp_path / "run", *program.sets(time__simulate_ms=60, **rates))
    found = [w for w in record["warnings"] if w.startswith("rate_hz")]
    steps = "since spikes are whole steps of 0.1 ms apart"
    said = f"rate_hz of population right: {asked} cannot be reached; it becomes {has}, {steps}"
    assert found == ([] if has is None else [said])
    per_neuron = record["totals"]["spikes"] / record["totals"]["neurons"] / 0.06
    assert per_neuron == pytest.approx(((has or asked) + 10) / 2, rel=0.1)


def test_threads_bound_to_one_core_are_a_warning(tmp_path):
    command = ["mpirun", "--quiet", "--bind-to", "core", "-n", "1", program.MINIAPP, program.EXAMPLE]
    environment = {**os.environ, **program.ENVIRONMENT, "OMP_NUM_THREADS": "3"}
    command += ["--out", tmp_path / "run", *program.sets(time__simulate_ms=1)]
    subprocess.run(command, env=environment, check=True, timeout=600)
    record = json.loads((tmp_path / "run" / "record.json").read_text())
    assert len(record["host"]["binding"][0]) < 3
    bound = [w for w in record["warnings"] if w.startswith("bound too tightly: rank 0 on node ")]
    assert any(" has 3 threads" in w for w in bound)
