"""The noise of nodes: what is made of the program's JSON, what is kept between runs, and what is refused."""

import json

import pytest
from stand_in import script

from spikemark.core.errors import BadInput
from spikemark.running import noise
from spikemark.running.noise_table import MOST_CORES, tables

DETOUR = {
    "seconds": 0.5,
    "usual_gap_s": 1e-8,
    "threshold_s": 9e-8,
    "lost_s": 0.02,
    "switched_s": 0.01,
    "largest_s": 0.004,
    "median_s": 2e-6,
    "q99_s": 3e-3,
    "detours": 100,
    "switched": 5,
    "kept": 100,
    "longest": [[10.0, 0.004, True]],
}
FWQ = {
    "seconds": 0.5,
    "shortest_s": 9.5e-5,
    "mean_s": 1e-4,
    "median_s": 1e-4,
    "q99_s": 2e-4,
    "largest_s": 1e-3,
    "quanta": 5000,
}
COUNTS = [
    {"source": "interrupts", "name": "Local timer interrupts", "count": 250},
    {"source": "stat", "name": "steal", "count": 10},
]


def core(number: int, **changes) -> dict:
    return {
        "core": number,
        "bound": True,
        "cpu_s": 0.98,
        "involuntary": 5,
        "voluntary": 0,
        "faults": 1,
        "detour": DETOUR,
        "fwq": FWQ,
        "counts": COUNTS,
        **changes,
    }


def content(**changes) -> dict:
    return {
        "kind": "noise",
        "format_version": 1,
        "node": "n1",
        "virtual_machine": False,
        "clock": "time stamp counter",
        "began_s": 1000.0,
        "monotonic_to_epoch_s": 990.0,
        "seconds": 1,
        "tick_s": 0.01,
        "may_trace": True,
        "tracers": "osnoise timerlat",
        "missing": "",
        "processes": [{"pid": 7, "name": "backup", "core": 1, "used_s": 0.4}],
        "cores": [core(0), core(1)],
        **changes,
    }


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Puts a program in place of bench_noise that writes these contents, one file for each node."""

    def put(*contents: dict, action: str = "") -> None:
        body = f"""
import json, pathlib, sys
{action}
out = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
for one in json.loads({json.dumps(json.dumps(contents))}):
    (out / (one["node"] + ".json")).write_text(json.dumps(one))
"""
        monkeypatch.setenv("SPIKEMARK_BENCH_NOISE", str(script(tmp_path / "bench_noise", body)))

    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    return put


def test_shares_rates_and_times_of_a_core(program):
    program(content())
    (node,) = noise.witness(1.0, longest=10)
    assert (node.node, node.began_s, node.seconds) == ("n1", 1000.0, 1)
    first = node.cores[0]
    assert (first.lost, first.switched, first.detours_per_second) == (0.04, 0.02, 200)
    assert first.slower == pytest.approx(0.05)
    rates = {c.name: c.per_second for c in first.counts}
    assert rates == {"Local timer interrupts": 250, "steal": pytest.approx(0.1)}  # seconds per second
    assert first.longest == ((1000.0, 0.004, True),)  # by the Unix epoch
    assert node.processes[0]["name"] == "backup"


def test_nodes_are_told_in_the_order_of_their_names(program):
    program(content(node="n2"), content(node="n1"))
    assert [node.node for node in noise.witness()] == ["n1", "n2"]


def test_what_could_not_be_seen(program):
    program(content(virtual_machine=True, may_trace=False, tracers="denied", missing="no /proc/softirqs"))
    said = "\n".join(noise.witness()[0].blind)
    for words in ("hypervisor took, except in ticks of 10 ms", "no tracer (denied)", "no /proc/softirqs"):
        assert words in said
    program(content(virtual_machine=True, cores=[core(0, counts=[], bound=False)]))
    said = "\n".join(noise.witness()[0].blind)
    assert "hypervisor took, if it took any" in said and "cores 0: no thread could be bound" in said
    program(content(cores=[core(0)]))
    assert "hypervisor" not in "\n".join(noise.witness()[0].blind)


def test_between_runs_every_interval_is_kept(program, tmp_path):
    program(content())
    noise.keep(tmp_path, 0.2)
    noise.keep(tmp_path, 0.2)
    kept = json.loads((tmp_path / noise.KEPT).read_text())
    assert len(kept) == 2 and kept[0]["at_s"] <= kept[1]["at_s"]
    assert kept[0]["nodes"][0]["cores"][0]["lost"] == 0.04
    assert "longest" not in kept[0]["nodes"][0]["cores"][0]


def test_failures_are_one_line(program, tmp_path):
    program()
    with pytest.raises(noise.NoiseFailed, match="wrote nothing"):
        noise.witness()
    program(action="print('bench_noise: no threads', file=sys.stderr); sys.exit(1)")
    with pytest.raises(noise.NoiseFailed, match=r"^no threads$"):
        noise.witness()
    program(action="print('bench_noise: --seconds: allowed: 0.01 to 3600', file=sys.stderr); sys.exit(2)")
    with pytest.raises(BadInput, match=r"^--seconds: allowed: 0.01 to 3600$"):
        noise.witness()
    program({"node": "n1"})
    with pytest.raises(noise.NoiseFailed, match="no valid JSON"):
        noise.keep(tmp_path)
    assert not (tmp_path / noise.KEPT).exists()


def test_command_line(program, spikemark):
    program(content())
    status, output, errors = spikemark("noise", "--seconds", "1")
    assert (status, errors) == (0, "")
    assert "n1, 1 s" in output and "4.0" in output and "backup (process 7), last on core 1" in output
    assert json.loads(spikemark("noise", "--json")[1])[0]["cores"][0]["longest"] == [[1000.0, 0.004, True]]
    program(action="sys.exit(1)")
    status, output, errors = spikemark("noise")
    assert (status, output, errors.count("\n")) == (1, "", 1)


def test_a_missing_program_is_named(refusal, monkeypatch):
    monkeypatch.setenv("SPIKEMARK_BENCH_NOISE", "/nowhere/bench_noise")
    assert "bench_noise: /nowhere/bench_noise is not an executable file" in refusal("noise")


def test_a_table_of_each_node(program):
    program(content(node="n1"), content(node="n2"))
    first, second = tables(noise.witness())
    assert (first.title, second.title) == ("n1, 1 s", "n2, 1 s")
    assert len(first.rows) == 2 and first.rows[0]["counts"].startswith("Local timer interrupts 250")


def test_of_many_cores_those_that_lost_the_most_are_shown(program):
    quiet = [core(number, detour={**DETOUR, "lost_s": 1e-3}) for number in range(128)]
    noisy = [core(number) for number in (5, 77)]
    program(content(cores=[*quiet[:5], noisy[0], *quiet[6:77], noisy[1], *quiet[78:]]))
    (table,) = tables(noise.witness())
    assert len(table.rows) == MOST_CORES and {"5", "77"} <= {row["core"] for row in table.rows}
    assert "of 128 cores, the 32 that lost the most are shown; --json has all" in table.notes
