"""record.kernel: what the kernel counts beside the cycles stands in the record, and changes nothing else."""

import csv

import numpy as np
import program
import pytest

pytestmark = pytest.mark.slow

WANTED = program.sets(record__kernel="true")
COMPUTING = ("deliver", "update", "thread_wait", "inject", "collocate")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return program.record_of(tmp_path_factory.mktemp("plain") / "run", ranks=2)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("kernel") / "run"


@pytest.fixture(scope="module")
def record(out):
    return program.record_of(out, *WANTED, *program.sets(record__kernel_interval_s=0.002), ranks=2)


def test_spikes_are_the_same_and_without_it_nothing_is_kept(plain, record):
    assert plain["checksum"] == record["checksum"]
    assert plain["kernel"] is None and not plain["description"]["record"]["kernel"]


def test_what_was_read_and_what_that_cost(record):
    kernel = record["kernel"]
    assert kernel["interval_s"] == 0.002
    assert kernel["node_of_rank"] == [0, 0]
    (node,) = kernel["nodes"]
    assert node["node"] == 0 and node["hardware_threads"] >= 1
    assert node["interval_s"] >= kernel["interval_s"]
    assert node["readings"] >= 2 and node["missing"] is None and node["full"] is False
    assert 0 < node["sampling_cost"] < 1 and node["read_s"] > 0 and kernel["cycle_read_s"] > 0
    assert node["looked_s"] >= record["timing"]["simulate_s"]
    assert isinstance(node["may_trace"], bool) and node["tracers"]
    assert all(p["used_s"] > 0 for p in node["processes"])


def test_computing_of_each_cycle(out, record):
    kept = np.load(out / "kernel.npy")
    cycles = np.load(out / "cycles.npy")
    assert kept.shape == (2, record["timing"]["cycles"], len(record["kernel"]["fields"]))
    assert record["kernel"]["fields"] == ["processor_s", "involuntary", "voluntary", "faults"]
    assert (kept >= 0).all()
    phases = [record["phases"].index(name) for name in COMPUTING]
    computing = cycles[:, :, phases].sum(axis=2)
    allowed = 2 * record["kernel"]["cycle_read_s"]
    assert np.median(kept[:, :, 0] - computing) < allowed  # the reading itself is in it
    assert (kept[:, :, 1:] == np.round(kept[:, :, 1:])).all()


def test_counts_of_the_node(out, record):
    with open(out / "kernel.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [*rows[0]] == ["node", "time_s", "core", "source", "name", "count"]
    assert {row["source"] for row in rows} <= {"reader", "interrupts", "softirqs", "stat"}
    readings = [float(row["time_s"]) for row in rows if row["source"] == "reader"]
    assert readings == sorted(readings) and len(readings) == record["kernel"]["nodes"][0]["readings"]
    assert readings[0] < 0 < record["timing"]["simulate_s"] <= readings[-1]
    assert all(int(row["count"]) >= 1 for row in rows)
    assert len(rows) - len(readings) == record["kernel"]["nodes"][0]["events"]


def test_sleep_in_a_cycle_is_no_processor_time(tmp_path):
    out = tmp_path / "run"
    asleep = program.sets(inject__mean_us=2000, inject__wait="sleep", time__simulate_ms=10)
    program.record_of(out, *WANTED, *asleep, ranks=1)
    kept = np.load(out / "kernel.npy")[0]
    assert np.median(kept[:, 0]) < 1e-3  # of more than 2 ms
    assert np.median(kept[:, 2]) >= 1


def test_without_cycles_only_the_node_is_read(tmp_path):
    out = tmp_path / "run"
    record = program.record_of(out, *WANTED, *program.sets(record__cycles="false"), ranks=1)
    assert record["kernel"]["nodes"] and (out / "kernel.csv").is_file()
    assert not (out / "kernel.npy").exists()


def test_checked(tmp_path):
    assert program.checked(tmp_path / "run", *WANTED, ranks=2, threads=2)["kernel"]["nodes"]


def test_a_system_without_counts_is_said(tmp_path):
    record = program.record_of(tmp_path / "run", *WANTED, ranks=1, SPIKEMARK_PROCFS=str(tmp_path))
    (node,) = record["kernel"]["nodes"]
    assert "stat: No such file or directory" in node["missing"] and node["events"] == 0


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [("record__kernel", 3, "true or false"), ("record__kernel_interval_s", 0, "0.001")],
)
def test_bad_input(tmp_path, field, value, allowed):
    done = program.start(program.EXAMPLE, "--out", tmp_path / "run", *program.sets(**{field: value}))
    assert done.returncode == 2 and field.replace("__", ".") in done.stderr and allowed in done.stderr


def test_a_large_node_is_read_less_often(tmp_path):
    """The counts of 512 hardware threads and 600 interrupts: reading them takes milliseconds."""
    threads, numbers = range(512), " 1" * 512
    stat = "cpu  1 0 1 1 0 1 1 1\n" + "".join(f"cpu{i} 1 0 1 1 0 1 1 1\n" for i in threads)
    head = " ".join(f"CPU{i}" for i in threads)
    lines = "".join(f"{i}:{numbers} PCI-MSI {i}-edge eth0-{i}\n" for i in range(600))
    for name, text in (
        ("stat", stat),
        ("interrupts", f"{head}\n{lines}"),
        ("softirqs", f"{head}\nRCU:{numbers}\n"),
    ):
        (tmp_path / name).write_text(text)
    short = program.sets(record__kernel_interval_s=0.001)
    record = program.record_of(tmp_path / "run", *WANTED, *short, ranks=1, SPIKEMARK_PROCFS=str(tmp_path))
    (node,) = record["kernel"]["nodes"]
    assert node["hardware_threads"] == 512 and node["events"] == 0
    assert node["interval_s"] > 10 * record["kernel"]["interval_s"]
