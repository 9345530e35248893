"""`spikemark calibrate`: what it makes of measurements, and what it refuses."""

import itertools
import os
import signal
import subprocess
import sys
import time
from functools import partial
from types import SimpleNamespace

import fake_exchanges
import numpy as np
import pytest
import synthetic
import yaml
from synthetic import compute_times

from spikemark.bench import exchange_times, kernels
from spikemark.bench.kept import BenchFailed
from spikemark.calibration import (
    cycle_time,
    exchanges,
    jitter,
    kernel_times,
    messages,
    node,
    node_spread,
    profile_text,
    site,
    software,
)
from spikemark.calibration.kernel_runs import Round
from spikemark.calibration.parts import Parts
from spikemark.calibration.values import measured, repeated
from spikemark.core import launch, places
from spikemark.core.errors import BadInput
from spikemark.machines import fields
from spikemark.machines.profile import checked
from spikemark.records import record

SIZES = (4, 16, 64, 256, 1024, 8192)
UPDATED = ("ignore_and_fire", "lif_exp")


def test_one_more_repetition_falls_into_the_interval():
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(2000):
        *some, another = rng.normal(10, 1, 6)
        low, high = repeated(list(some), "ns").interval
        inside += low <= another <= high
    assert 0.93 < inside / 2000 < 0.97


def test_an_interval_holds_what_was_measured_and_is_not_below_0():
    value = repeated([0.0, 0.0, 3.0], "ns")
    assert value.value == 0 and value.interval[0] == 0 and value.interval[1] > 3
    assert repeated([1.0, 2.0], "ns").interval is None


def test_intervals_are_such_as_a_profile_may_have():
    assert repeated([1.0, 2.0, 9.0], "ns").interval[0] == pytest.approx(0.1)  # of a time that is not 0
    values = {
        "jitter.minor_share": measured(0.9, "1", (0.5, 1.4)),
        "jitter.minor_factor": measured(1.5, "1", (0.3, 3)),
    }
    profile = checked(yaml.safe_load(profile_text.text("here", "A", values, "calibrated", {}, [])), "here")
    assert profile.get("jitter.minor_share").interval == (0.5, 1)
    assert profile.get("jitter.minor_factor").interval == (1, 3)


def times(first: float, following: float, spike: float) -> dict:
    """Of a round, ns per item, as the times of delivery make them."""
    found = {("collocate", 8): 5.0, (kernel_times.EXTERNAL, 4096): 1.5}
    found |= {(f"update_{model}", 4096): 0.5 + i for i, model in enumerate(UPDATED)}
    for size in SIZES:
        mean = size / 16
        found["deliver_drawn", size] = (first * (1 - np.exp(-mean)) + following * mean + spike) / mean
    return found


def test_kernels_give_the_times_of_delivery_that_were_planted():
    rounds = [times(20 + i, 1.5, 7) for i in range(3)]
    found = kernel_times.of_rounds(rounds, SIZES)
    assert found["t_first"].value == pytest.approx(21)
    assert found["t_next"].value == pytest.approx(1.5)
    assert found["t_spike"].value == pytest.approx(7)
    low, high = found["t_first"].interval
    assert low < 20 and high > 22
    assert found["t_next"].reference == "mean list lengths 0.25 to 512, fitted within 0 %"
    assert found["collocate"].value == 20  # a spike goes to four ranks
    assert found["external"].value == 1.5
    assert [found[f"update.{model}"].value for model in UPDATED] == [0.5, 1.5]


def test_a_round_runs_the_kernels_that_are_read(monkeypatch):
    """The pattern and the names of bench_kernels belong together."""
    command = [places.program("bench_kernels"), "--benchmark_list_tests=true"]
    command += [f"--benchmark_filter={kernel_times.pattern(SIZES)}"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    parts = [kernels.NAME.fullmatch(name) for name in listed]
    found = {(part["kernel"], int(part["size"])) for part in parts}
    assert found >= times(1, 1, 1).keys() | {("clock", 1), ("triad", 64)}


ALONE, HERE = site.Site(1, 1), site.Site(1, 2)


def planted(latency=1e-6, rate=1e10, gap=2e-7) -> dict:
    """Times of a pair of ranks."""
    many = {(0, n): 2 * latency + (n - 1) * gap for n in (1, 4, 16, 64)}
    return many | {(size, 1): 2 * latency + size / rate for size in (messages.LARGE, messages.LARGEST)}


def a_round(nodes=("a", "a"), pairs=None, halves=None, eager=4040):
    return messages.Round(list(nodes), pairs or {(0, len(nodes) - 1): planted()}, halves or {}, eager)


def test_messages_within_a_node_give_latency_bandwidth_gap_and_the_eager_limit():
    found, unknown = messages.values([a_round()] * 3, [])
    assert {name.split(".")[1]: value.value for name, value in found.items()} == {
        "latency_node": pytest.approx(1),
        "bandwidth_node": pytest.approx(10),
        "gap": pytest.approx(0.2),
        "eager": 4040 / 1024,
    }
    between = ("latency", "bandwidth", "topology", "nodes_per_leaf", "congestion")
    assert unknown == {f"interconnect.{name}": messages.ONE_NODE for name in between}
    disturbed = a_round(pairs={(0, 1): planted(gap=-1e-8)}, eager=None)
    _, unknown = messages.values([disturbed] * 3, [])
    assert unknown["interconnect.gap"] == messages.DISTURBED
    assert unknown["interconnect.eager"] == "even an empty message waits for its receiver"


def four_nodes(latencies, crowded=2.0) -> messages.Round:
    """All pairs of four nodes with these latencies (us), and halves that share what one pair has."""
    pairs = list(itertools.combinations(range(4), 2))
    times = {pair: planted(1e-6 * us) for pair, us in zip(pairs, latencies, strict=True)}
    halves = {pair: (planted(), planted(rate=1e10 / crowded)) for pair in ((0, 2), (1, 3))}
    return a_round(("n1", "n2", "n3", "n4"), times, halves, 65480)


def test_of_several_pairs_the_profile_has_the_median_and_the_reference_the_ends():
    found, unknown = messages.values([a_round()] * 3, [four_nodes([1, 1.1, 1.2, 1.2, 1.3, 1.4])] * 3)
    latency = found["interconnect.latency"]
    assert latency.value == pytest.approx(1.2) and found["interconnect.latency_node"].value == pytest.approx(
        1
    )
    assert latency.reference == (
        "half a round trip between nodes, median over 6 pairs of n1, n2, n3, n4: 1 (n1-n2) to 1.4 (n3-n4)"
    )
    assert "n1, n2, n3, n4" in found["interconnect.gap"].reference
    assert found["interconnect.congestion"].value == pytest.approx(2)
    assert "from n1 to n4" in found["interconnect.eager"].reference
    assert unknown["interconnect.topology"] == "latencies of 6 pairs, 1 to 1.4 us, show one level"


@pytest.mark.parametrize(
    ("latencies", "levels"),
    [
        ((1, 2, 2, 2, 2, 1), "two levels, 1 to 1 us (2 pairs) and 2 to 2 us (4)"),
        ((1, 1, 1, 1, 1, 9), "one level"),
    ],
)
def test_levels_of_the_network_are_told_but_not_assumed(latencies, levels):
    found, unknown = messages.values([], [four_nodes(latencies)] * 3)
    assert levels in unknown["interconnect.topology"] == unknown["interconnect.nodes_per_leaf"]
    assert "interconnect.topology" not in found


def test_what_bench_messages_writes_is_read():
    def row(pair, size, seconds, at_once=1, number=1):
        return {"repetition": 0, "pair": pair, "at_once": at_once, "bytes": size, "messages": number,
                "rounds": 3, "round_s": seconds}  # fmt: skip

    rows = [row([0, 3], 0, 2e-6), row([0, 3], messages.LARGE, 1e-4)]
    rows += [row([0, 2], messages.LARGE, 2e-4), row([0, 2], messages.LARGE, 4e-4, at_once=2)]
    found = messages.read({"nodes": ["a", "b", "c", "d"], "eager_bytes": None, "measurements": rows})
    assert found.pairs == {(0, 3): {(0, 1): 2e-6, (messages.LARGE, 1): 1e-4}}
    assert found.halves == {(0, 2): ({(messages.LARGE, 1): 2e-4}, {(messages.LARGE, 1): 4e-4})}


def test_one_core_has_no_messages():
    assert messages.within(ALONE, None, True) is None and messages.between(HERE, None, True) is None
    values, unknown = exchanges.values([{}], ALONE)
    assert not values and unknown["interconnect.tables"] == unknown["interconnect.selector"] == messages.ALONE
    values, unknown = messages.values([], [])
    assert not values and unknown["interconnect.gap"] == messages.ALONE


def test_tables_are_medians_and_say_how_far_repetitions_are_apart():
    def one(factor):
        return exchange_times.repetitions(fake_exchanges.content(noise=0, repetitions=1, lines={
            "alltoall": (factor * 1e-6, 0), "allgather": (factor * 2e-6, 0)}), "raw")[0]  # fmt: skip

    rounds = [{fields.WITHIN: one(f), fields.BETWEEN: one(9 * f)} for f in (1, 2, 1.5)]
    found, unknown = exchanges.values(rounds, site.Site(2, 1))
    table = found["interconnect.tables.alltoall"]
    assert table.value == [(2, size, pytest.approx(1.5)) for size in fake_exchanges.SIZES]
    assert table.reference == "medians; single repetitions are 0.67 to 1.3 times as long"
    assert found["interconnect.tables.barrier"].value == [(2, 0, pytest.approx(0.5))]
    assert found["interconnect.tables_between.alltoall"].value[0][2] == pytest.approx(13.5)
    assert "interconnect.selector" not in found  # of a library that nobody knows
    assert unknown["interconnect.tables_full"] == messages.ALONE


def kernels_of(**factors) -> list[Round]:
    """Rounds in which the kernels of a node take so many times as long."""
    nodes = {node: [{key: f * ns for key, ns in times(20, 1.5, 7).items()}] for node, f in factors.items()}
    alone = {node: copies[0] for node, copies in nodes.items()}
    return [Round(alone, nodes)] * 3


def test_the_spread_between_nodes_is_that_of_their_kernel_times():
    rounds = kernels_of(n1=0.9, n2=1.0, n3=1.1)
    found = node_spread.value(rounds)
    assert found.value == pytest.approx(0.1)
    assert "n3 takes 1.100 times the mean, n1 0.900" in found.reference
    (line,) = node_spread.slow(rounds)
    assert line == "node n3 is slow: kernels take 1.10 times as long as on the median node"
    assert node_spread.slow(kernels_of(n1=0.99, n2=1.0, n3=1.01)) == []


def test_a_part_that_fails_is_started_again_in_a_new_folder(tmp_path):
    folders = []

    def part(folder):
        folders.append(folder)
        if len(folders) < 3:
            raise BenchFailed(f"crash {len(folders)}")
        return "done"

    again = Parts(tmp_path, spare=2)
    assert again(part) == "done" and again.failed == ["crash 1", "crash 2"]
    assert len(set(folders)) == 3 and {folder.parent for folder in folders} == {tmp_path}
    folders.clear()
    with pytest.raises(BenchFailed, match="crash 1"):
        again(part)


def test_nodes_beyond_the_allocation_are_refused(monkeypatch):
    with pytest.raises(BadInput, match="--nodes: 2; allowed here: 1, this host"):
        site.Site.of(2)
    with pytest.raises(BadInput, match="--nodes: 0; allowed: at least 1"):
        site.Site.of(0)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setattr(launch, "nodes_at_hand", lambda: launch.Nodes((4, 2), "job 7", ("a", "b")))
    with pytest.raises(BadInput, match="--nodes: 3; allowed: up to 2, the nodes of job 7"):
        site.Site.of(3)
    there = site.Site.of(2)
    assert there == site.Site(2, 2, ("a", "b"), True) and site.Site.of().nodes == 1
    assert (there.full().ranks, there.full().ranks_per_node) == (4, 2)
    assert [site.Site(n, 1).sizes for n in (1, 2, 3, 6)] == [[], [2], [2, 3], [2, 4, 6]]


def test_jitter_is_that_of_the_times():
    found = jitter.fluctuation(compute_times(4, 20_000, 1e-4, 0.05, 0.8, 0.1, seed=1))
    assert found.cv == pytest.approx(0.05, rel=0.1)  # not the spread of the ranks
    assert found.correlation_time == pytest.approx(9, rel=0.15)  # (1 + r) / (1 - r)
    assert found.share < 1e-4  # five standard deviations

    none = jitter.fluctuation(np.random.default_rng(1).uniform(0.9, 1.1, (2, 1000)))
    assert (none.share, none.factor) == (0, None)


def test_an_empty_cycle_is_the_median_of_its_compute_phases(tmp_path):
    folder = synthetic.write_run(tmp_path / "run", ranks=2, cycles=5)
    cycles = np.zeros_like(np.load(folder / "cycles.npy"))
    cycles[:, :, :3] = 1e-6
    cycles[1, :, 0] = 2e-6
    cycles[0, 3, 1] = 1  # an interrupt
    np.save(folder / "cycles.npy", cycles)
    assert cycle_time.seconds(record.load(folder)) == pytest.approx(3.5e-6)
    found = cycle_time.values([(1e-6, 2e-6 + 1e-8 * i) for i in range(3)])
    assert found["kernels.one_core.cycle"].value == pytest.approx(1000)
    assert found["kernels.full_node.cycle"].value == pytest.approx(2010)


@pytest.mark.parametrize(("share", "factor"), [(0.1, 1.5), (0.001, 30)])  # a mode, and interrupts
def test_long_cycles_are_told_from_the_others(share, factor):
    rng = np.random.default_rng(1)
    shape = 2, 20_000
    times = rng.normal(1, 0.02, shape) * np.where(rng.random(shape) < share, factor, 1)
    found = jitter.fluctuation(times)
    assert found.share == pytest.approx(share, rel=0.2)
    assert found.factor == pytest.approx(factor, rel=0.02)
    assert found.cv == pytest.approx(0.02, rel=0.05)
    assert found.correlation_time == pytest.approx(1, abs=0.1)


def test_power_is_what_the_meter_read_or_unknown_with_its_reason():
    read = SimpleNamespace(gross_j=100.0, idle_power_w=20.0, duration_s=2.0, source="hwmon", reason=None)
    found, unknown = jitter.power([read] * 3, None, cores=3)
    assert (found["power.idle"].value, found["power.core"].value) == (20, 10)
    assert unknown.keys() == {"power.card"}
    found, unknown = jitter.power([], "no /sys", cores=3)
    assert (
        found["software.energy_source"].reference
        == unknown["power.idle"]
        == unknown["power.core"]
        == "no /sys"
    )


MODULES = "Stages/2026:GCC/14.3.0:Score-P/9.4"


@pytest.mark.parametrize(
    ("there", "modules", "value"),
    [
        (False, MODULES, "none"),
        (True, "", "in PATH"),
        (True, "GCC/14.3.0", "in PATH"),
        (True, MODULES, "module load Stages/2026 GCC/14.3.0 Score-P/9.4"),
    ],
)
def test_score_p_is_loaded_by_the_modules_that_are(tmp_path, monkeypatch, there, modules, value):
    if there:
        (tmp_path / "scorep").write_text("#!/bin/sh\n")
        (tmp_path / "scorep").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("LOADEDMODULES", modules)
    assert software.score_p().value == value
    written = profile_text.text("here", "A", {"software.scorep": software.score_p()}, "calibrated", {}, [])
    assert checked(yaml.safe_load(written), "here").get("software.scorep").value == value


@pytest.mark.parametrize(
    ("cpuinfo", "name"),
    [
        ("model name\t: AMD EPYC 7742 64-Core Processor\nflags\t: fpu vme\n", "epyc-7742"),
        ("model name : Intel(R) Xeon(R) CPU E5-2620 v4 @ 2.10GHz\n", "xeon-e5-2620-v4"),
        ("model name\t: AMD EPYC\nflags\t\t: fpu hypervisor lm\n", "epyc-vm"),
        ("processor : 0\n", "host"),
    ],
)
def test_the_name_is_that_of_the_processor(tmp_path, monkeypatch, cpuinfo, name):
    (tmp_path / "cpuinfo").write_text(cpuinfo)
    monkeypatch.setattr(node, "CPUINFO", tmp_path / "cpuinfo")
    assert node.default_name() == name


def test_the_node_is_as_hwloc_and_the_kernel_tell(tmp_path):
    for index, level, shared in ((0, 1, "0,4"), (3, 3, "0-3,8-11")):
        cache = tmp_path / "cpu0" / "cache" / f"index{index}"
        cache.mkdir(parents=True)
        (cache / "level").write_text(f"{level}\n")
        (cache / "coherency_line_size").write_text("128\n")
        (cache / "shared_cpu_list").write_text(f"{shared}\n")
    host = SimpleNamespace(
        sockets=2, cores=16, threads_per_core=2, memory_bytes=64e9, cache_bytes={"L1d": 32768, "L3": None}
    )
    found = {path: value.value for path, value in node.measure(host, tmp_path).items()}
    assert found == {
        "node.sockets": 2, "node.cores": 16, "node.memory": 64, "node.line": 128, "node.l3_cores": 4,
        "node.l1d": 32,
    }  # fmt: skip


def test_what_is_written_is_a_profile():
    values = {
        "software.launcher": measured("mpirun", None),
        "kernels.full_node.update.lif_exp": measured(0.123456, "ns", (0.1, 0.2), "blocks of 4096: so"),
        "node.l3": measured(32768, "KiB"),
        "interconnect.tables.alltoall": measured([(2, 4, 1.23456), (2, 64, 2.0)], "us", detail="medians"),
    }
    text = profile_text.text("here", "A: machine", values, "calibrated", {"power.idle": "no meter"}, ["busy"])
    profile = checked(yaml.safe_load(text), "here")
    assert list(profile.values) == [
        "node.l3",
        "kernels.full_node.update.lif_exp",
        "interconnect.tables.alltoall",
        "software.launcher",
    ]
    update = profile.get("kernels.full_node.update.lif_exp")
    assert (update.value, update.interval, update.kind) == (0.1235, (0.1, 0.2), "measured")
    assert update.reference == "calibrated: blocks of 4096: so"
    table = profile.get("interconnect.tables.alltoall")
    assert (table.value, table.reference) == (((2, 4, 1.235), (2, 64, 2.0)), "calibrated: medians")
    assert profile.get("node.l3").value == 32768  # counts are not rounded
    assert "# Warning: busy\n# Unknown: power.idle: no meter\n" in text


def test_bad_input_is_refused_before_anything_is_measured(refusal, tmp_path, monkeypatch):
    monkeypatch.setattr(exchanges, "one_round", lambda *_: pytest.fail("measured"))
    calibrate = partial(refusal, "calibrate", "--quick")
    there = tmp_path / "there.yaml"
    there.write_text("mine")
    assert calibrate("--out", there) == f"{there}: exists; --force replaces it"
    assert there.read_text() == "mine"
    for name in ("Über", "a/b", "-x", ""):
        assert calibrate("--name", name).startswith(f"--name: {name!r}; allowed: lower-case")
    errors = calibrate("--name", "other", "--out", tmp_path / "new.yaml")
    assert "the file of machine other is called other.yaml" in errors
    for program in ("bench_kernels", "bench_exchange", "bench_messages"):
        with monkeypatch.context() as patched:
            patched.setitem(places.ELSEWHERE, program, ("nowhere", "with `make build`"))
            errors = calibrate("--out", tmp_path / "new.yaml")
        assert errors.startswith(f"{program}: ") and "`make build`" in errors
    assert [p.name for p in tmp_path.iterdir()] == ["there.yaml"]


def test_interrupted_it_ends_what_it_started_and_writes_nothing(tmp_path):
    program, started = tmp_path / "bench_kernels", tmp_path / "pid"
    program.write_text(f"#!/bin/sh\necho $$ > {started}.part; mv {started}.part {started}; exec sleep 600\n")
    program.chmod(0o755)
    out = tmp_path / "out" / "here.yaml"
    process = subprocess.Popen(
        [sys.executable, "-m", "spikemark", "calibrate", "--quick", "--out", out],
        env={**os.environ, "SPIKEMARK_BENCH_KERNELS": str(program), "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    while not started.exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and errors.endswith("spikemark: interrupted: nothing was written\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bench_kernels", "pid"]
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)
