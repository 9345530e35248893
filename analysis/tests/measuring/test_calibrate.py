"""`spikemark calibrate`: what it makes of a host, what it writes, and what it refuses."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from types import SimpleNamespace

import pytest
import yaml

from spikemark import launch
from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.launch.process import left_over
from spikemark.machines.profile import checked
from spikemark.measuring import calibrated_profile, exchange_rounds, host, site
from spikemark.measuring.site import measured


def test_nodes_of_an_allocation_and_none_beyond_it(monkeypatch, plant):
    for nodes in (2, 0):
        with pytest.raises(BadInput) as error:
            site.Site.at_hand(nodes)
        assert error.value.field == "nodes"
    plant("scontrol", "exit 1")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setattr(launch, "nodes_at_hand", lambda: launch.Nodes((4, 2), "job 7", ("a", "b")))
    with pytest.raises(BadInput, match=r"nodes=3.*1 to 2, the nodes of job 7"):
        site.Site.at_hand(3)
    there = site.Site.at_hand(2)
    assert there == site.Site(2, 2, ("a", "b"), True) and site.Site.at_hand().nodes == 1
    assert (there.full().ranks, there.full().ranks_per_node) == (4, 2)
    assert [site.Site(n, 1).sizes for n in (1, 2, 3, 6)] == [[], [2], [2, 3], [2, 4, 6]]


def test_the_node_is_as_hwloc_and_the_kernel_tell(tmp_path):
    for index, level, shared in ((0, 1, "0,4"), (3, 3, "0-3,8-11")):
        cache = tmp_path / "cpu0" / "cache" / f"index{index}"
        cache.mkdir(parents=True)
        for name, word in (
            ("level", level),
            ("coherency_line_size", 128),
            ("shared_cpu_list", shared),
        ):
            (cache / name).write_text(f"{word}\n")
    sizes = {"L1d": 32768, "L3": None}
    of = SimpleNamespace(
        sockets=2, cores=16, threads_per_core=2, memory_bytes=64e9, cache_bytes=sizes
    )
    expected = {"sockets": 2, "cores": 16, "memory": 64, "line": 128, "l3_cores": 4, "l1d": 32}
    found = {path: value.value for path, value in host.measure(of, tmp_path).items()}
    assert found == {f"node.{name}": value for name, value in expected.items()}


def test_what_is_written_is_a_profile():
    update, table = "kernels.full_node.update.lif_exp", "interconnect.tables.alltoall"
    values = {
        "software.launcher": measured("mpirun", None),
        update: measured(0.123456, "ns", (0.1, 0.2), "blocks of 4096: so"),
        "node.l3": measured(32768, "KiB"),
        table: measured([(2, 4, 1.23456), (2, 64, 2.0)], "us", detail="medians"),
    }
    measured_profile = calibrated_profile.CalibratedProfile(
        None, values, {"power.idle": "no meter"}, ["busy"]
    )
    text = calibrated_profile.profile_text("here", "A: machine", "calibrated", measured_profile)
    profile = checked(yaml.safe_load(text), "here")
    assert list(profile.values) == ["node.l3", update, table, "software.launcher"]
    value = profile.get(update)
    assert (value.value, value.interval, value.kind) == (0.1235, (0.1, 0.2), "measured")
    assert value.reference == "calibrated: blocks of 4096: so"
    assert profile.get(table).value == ((2, 4, 1.235), (2, 64, 2.0))
    assert profile.get("node.l3").value == 32768  # counts are not rounded
    assert "# Warning: busy\n# Unknown: power.idle: no meter\n" in text


def test_bad_input_is_refused_before_anything_is_measured(refusal, tmp_path, monkeypatch):
    monkeypatch.setattr(exchange_rounds, "one_round", lambda *_: pytest.fail("measured"))
    refuse = partial(refusal, "calibrate", "--quick")
    there, new = tmp_path / "there.yaml", tmp_path / "new.yaml"
    there.write_text("mine")
    assert str(there) in refuse("--out", there) and there.read_text() == "mine"
    for name in ("Über", "a/b", "-x", ""):
        assert refuse("--name", name).startswith(f"--name={name!r}")
    assert "other.yaml" in refuse("--name", "other", "--out", new)
    for program in ("bench_kernels", "bench_exchange", "bench_messages"):
        with monkeypatch.context() as patched:
            patched.setitem(places.OTHER_BUILDS, program, ("nowhere", "with `make build`"))
            assert refuse("--out", new).startswith(f"{program}: ")
    assert [p.name for p in tmp_path.iterdir()] == ["there.yaml"]


@pytest.mark.slow
def test_interrupted_it_ends_what_it_started_and_writes_nothing(tmp_path):
    program, started = tmp_path / "bench_kernels", tmp_path / "started"
    program.write_text(f"#!/bin/sh\necho >> {started}; exec sleep 1234.5\n")
    program.chmod(0o755)
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "spikemark",
            "calibrate",
            "--quick",
            "--out",
            tmp_path / "here.yaml",
        ],
        env={**os.environ, "SPIKEMARK_BENCH_KERNELS": str(program), "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    while not started.exists():
        assert process.poll() is None
        time.sleep(0.05)
    assert left_over("sleep\x001234.5")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and errors.endswith(
        "spikemark: interrupted: nothing was written\n"
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bench_kernels", "started"]
    assert not left_over("sleep\x001234.5")
