"""`spikemark calibrate`: what it makes of measurements, and what it refuses."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from spikemark import launch
from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.machines.profile import checked
from spikemark.measuring import calibrate, exchanges, host, runs, site
from spikemark.measuring.site import measured, repeated


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


def test_nodes_beyond_the_allocation_are_refused(monkeypatch, plant):
    for nodes in (2, 0):
        with pytest.raises(BadInput) as error:
            site.Site.of(nodes)
        assert error.value.field == "nodes"
    plant("scontrol", "exit 1")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setattr(launch, "nodes_at_hand", lambda: launch.Nodes((4, 2), "job 7", ("a", "b")))
    with pytest.raises(BadInput, match=r"nodes=3.*1 to 2, the nodes of job 7"):
        site.Site.of(3)
    there = site.Site.of(2)
    assert there == site.Site(2, 2, ("a", "b"), True) and site.Site.of().nodes == 1
    assert (there.full().ranks, there.full().ranks_per_node) == (4, 2)
    assert [site.Site(n, 1).sizes for n in (1, 2, 3, 6)] == [[], [2], [2, 3], [2, 4, 6]]


def test_power_is_what_the_meter_read_or_unknown_with_its_reason():
    read = SimpleNamespace(gross_j=100.0, idle_power_w=20.0, duration_s=2.0, source="hwmon", reason=None)
    found, unknown = runs.power([read] * 3, None, cores=3)
    assert (found["power.idle"].value, found["power.core"].value) == (20, 10)
    assert unknown.keys() == {"power.card"}
    found, unknown = runs.power([], "no /sys", cores=3)
    assert (
        found["software.energy_source"].reference
        == unknown["power.idle"]
        == unknown["power.core"]
        == "no /sys"
    )


def test_the_node_is_as_hwloc_and_the_kernel_tell(tmp_path):
    for index, level, shared in ((0, 1, "0,4"), (3, 3, "0-3,8-11")):
        cache = tmp_path / "cpu0" / "cache" / f"index{index}"
        cache.mkdir(parents=True)
        (cache / "level").write_text(f"{level}\n")
        (cache / "coherency_line_size").write_text("128\n")
        (cache / "shared_cpu_list").write_text(f"{shared}\n")
    of = SimpleNamespace(
        sockets=2, cores=16, threads_per_core=2, memory_bytes=64e9, cache_bytes={"L1d": 32768, "L3": None}
    )
    found = {path: value.value for path, value in host.measure(of, tmp_path).items()}
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
    made = calibrate.Outcome(None, values, {"power.idle": "no meter"}, ["busy"])
    text = calibrate.text("here", "A: machine", "calibrated", made)
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
    refuse = partial(refusal, "calibrate", "--quick")
    there = tmp_path / "there.yaml"
    there.write_text("mine")
    assert str(there) in refuse("--out", there)
    assert there.read_text() == "mine"
    for name in ("Über", "a/b", "-x", ""):
        assert refuse("--name", name).startswith(f"name={name!r}")
    errors = refuse("--name", "other", "--out", tmp_path / "new.yaml")
    assert "other.yaml" in errors
    for program in ("bench_kernels", "bench_exchange", "bench_messages"):
        with monkeypatch.context() as patched:
            patched.setitem(places.ELSEWHERE, program, ("nowhere", "with `make build`"))
            errors = refuse("--out", tmp_path / "new.yaml")
        assert errors.startswith(f"{program}: ") and "`make build`" in errors
    assert [p.name for p in tmp_path.iterdir()] == ["there.yaml"]


def test_interrupted_it_ends_what_it_started_and_writes_nothing(tmp_path):
    program, started = tmp_path / "bench_kernels", tmp_path / "pid"
    program.write_text(f"#!/bin/sh\necho $$ > {started}.part; mv {started}.part {started}; exec sleep 600\n")
    program.chmod(0o755)
    out = tmp_path / "here.yaml"
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
