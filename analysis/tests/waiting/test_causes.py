"""What made long cycles long: planted causes get their share, and what could not be seen is said."""

import json
from itertools import pairwise

import numpy as np
import pytest
from edited_record import set_times
from synthetic import PHASES, write_run

from spikemark.core.errors import BadInput
from spikemark.records import kernel, record
from spikemark.waiting import show_causes
from spikemark.waiting.budget import budget

FIELDS = ["processor_s", "involuntary", "voluntary", "faults"]
CYCLES, LONG_S, EVERY = 40_000, 2e-3, 200
BARRIER_AT = PHASES.index("synchronise")  # what comes before is computing
READ_S = 0.01
ROW = "{node},{time:.6f},{core},{source},{name},{count}\n"


def about(ranks: int, **changes) -> dict:
    node = {
        "node": 0,
        "hardware_threads": 4,
        "interval_s": READ_S,
        "readings": 100,
        "events": 100,
        "sampling_cost": 0.01,
        "read_s": 1e-4,
        "looked_s": 9.0,
        "full": False,
        "may_trace": True,
        "tracers": "osnoise timerlat",
        "missing": None,
        "processes": [{"name": "backup", "core": 1, "used_s": 1.5}],
        **changes,
    }
    return {
        "interval_s": READ_S,
        "cycle_read_s": 1e-6,
        "fields": FIELDS,
        "nodes": [node],
        "node_of_rank": [0] * ranks,
    }


def planted(folder, causes: dict[str, float], ranks=2, every=EVERY, **changes):
    """A run whose ranks are long by LONG_S once in `every` cycles; `causes`: share of these by cause."""
    rng = np.random.default_rng(1)
    description = {"host__virtual_machine": False, "host__binding": [[rank] for rank in range(ranks)]}
    write_run(folder, ranks=ranks, cycles=CYCLES, kernel=about(ranks, **changes), **description)
    times = np.load(folder / "cycles.npy").astype(np.float64)
    kept = np.zeros((ranks, CYCLES, len(FIELDS)))
    packets = np.zeros((ranks, CYCLES), dtype=bool)
    names = [*causes]
    for rank in range(ranks):
        where = every * np.arange(1, CYCLES // every) + rank * every // ranks
        chosen = rng.choice(names, len(where), p=[causes[name] for name in names])
        times[rank, where, PHASES.index("update")] += LONG_S
        kept[rank, where[chosen == "processes"], 1] = 1
        kept[rank, where[chosen == "sleep"], 2] = 1
        kept[rank, where[chosen == "faults"], 3] = 50
        on = where[np.isin(chosen, ["faults", "packets", "not seen"])]
        computing = times[rank, :, :BARRIER_AT].sum(axis=1)
        kept[rank, :, 0] = computing + 1e-6
        off = np.setdiff1d(where, on)
        kept[rank, off, 0] -= LONG_S
        packets[rank, where[chosen == "packets"]] = True
    ends = times.copy()
    waiting = times[:, :, :BARRIER_AT].sum(axis=2)
    ends[:, :, BARRIER_AT] = waiting.max(axis=0) - waiting
    set_times(folder, ends)
    np.save(folder / "kernel.npy", kept.astype(np.float32))
    whole = ends.sum(axis=2)
    begin = np.cumsum(whole, axis=1) - whole
    write_counts(folder, float(whole.sum(axis=1).max()), begin, packets)
    return settle(folder, ends)


def settle(folder, times):
    """Makes the summaries of the record those of the times."""
    path = folder / "record.json"
    content = json.loads(path.read_text())
    seconds = float(times.sum(axis=(1, 2)).max())
    content["timing"]["simulate_s"] = seconds
    content["timing"]["real_time_factor"] = seconds / content["timing"]["model_s"]
    path.write_text(json.dumps(content))
    return record.load(folder)


def write_counts(folder, seconds: float, begin, packets) -> None:
    """Readings every READ_S: the timer everywhere, and packets where a cycle is long by packets."""
    rng = np.random.default_rng(2)
    rows = ["node,time_s,core,source,name,count\n"]
    times = np.arange(-2, int(seconds / READ_S) + 2) * READ_S
    for before, time in pairwise(times):
        rows.append(ROW.format(node=0, time=time, core=3, source="reader", name="reading", count=1))
        for core in range(len(begin)):
            rows.append(
                ROW.format(
                    node=0, time=time, core=core, source="softirqs", name="TIMER", count=2 + rng.poisson(2)
                )
            )
            inside = packets[core] & (begin[core] >= before) & (begin[core] < time)
            if inside.any():
                count = 100 * int(inside.sum())
                rows.append(
                    ROW.format(node=0, time=time, core=core, source="softirqs", name="NET_RX", count=count)
                )
    (folder / "kernel.csv").write_text("".join(rows))


def shares(run) -> dict[str, float]:
    return {cause.name: cause.share for cause in budget(run).causes.causes}


@pytest.mark.parametrize(
    "causes",
    [
        {"processes": 1.0},
        {"processes": 0.6, "interrupts": 0.4},
        {"sleep": 0.5, "faults": 0.5},
        {"processes": 0.3, "not seen": 0.7},
        {"not seen": 1.0},
    ],
    ids=str,
)
def test_planted_causes_get_their_shares(tmp_path, causes):
    found = shares(planted(tmp_path / "run", causes))
    for name, share in causes.items():
        assert found[name].value == pytest.approx(share, abs=0.1)
    assert sum(share.value for share in found.values()) == pytest.approx(1.0, abs=1e-6)
    assert {name for name, share in found.items() if share.value > 0.05} == set(causes)


def test_what_coincides_with_long_cycles_is_named_and_its_share_is_modelled(tmp_path):
    run = planted(tmp_path / "run", {"packets": 0.5, "processes": 0.25, "not seen": 0.25}, every=400)
    found = shares(run)
    assert found["NET_RX"].value == pytest.approx(0.5, abs=0.2) and found["NET_RX"].kind == "modelled"
    assert found["not seen"].value == pytest.approx(0.25, abs=0.2) and found["not seen"].kind == "modelled"
    assert found["processes"].kind == "measured" and "TIMER" not in found
    beside = budget(run).causes.coincidences
    assert beside[0].name == "NET_RX" and beside[0].with_loss > beside[0].without


def test_what_could_not_be_seen_is_said(tmp_path):
    blind = budget(planted(tmp_path / "all", {"not seen": 1.0})).causes.blind
    assert not any("tracer" in line or "hypervisor" in line or "bound" in line for line in blind)
    changes = {"may_trace": False, "tracers": "denied", "missing": "no /proc/softirqs", "full": True}
    run = planted(tmp_path / "few", {"not seen": 1.0}, **changes)
    path = run.path / "record.json"
    content = json.loads(path.read_text())
    content["host"] |= {"virtual_machine": True, "binding": None}
    content["threads"] = 2
    path.write_text(json.dumps(content))
    said = "\n".join(budget(record.load(run.path)).causes.blind)
    words = [
        "hypervisor",
        "1 of 2 threads",
        "not bound",
        "no /proc/softirqs",
        "after 9 s",
        "no tracer (denied)",
    ]
    assert [word for word in words if word not in said] == []


def test_terminal_and_json_tell_the_same(tmp_path, spikemark):
    run = planted(tmp_path / "run", {"processes": 1.0})
    status, output, _ = spikemark("budget", run.path)
    assert status == 0
    assert "processes" in output and "could not be seen" in output and "backup" in output
    status, output, _ = spikemark("budget", run.path, "--json")
    content = json.loads(output)["causes"]
    assert content["causes"][0]["name"] == "processes" and content["long_cycles"] > 0
    assert content["blind"] and content["processes"]


def test_a_run_without_counts_says_what_to_do(tmp_path, spikemark):
    path = planted(tmp_path / "run", {"processes": 1.0}).path / "record.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "kernel": None}))
    run = record.load(path.parent)
    assert budget(run).causes is None and kernel.load(run) is None
    assert show_causes.NOT_KEPT in " ".join(spikemark("budget", run.path)[1].split())


def test_a_run_without_long_cycles(tmp_path):
    folder = write_run(tmp_path / "run", cycles=CYCLES, kernel=about(2))
    np.save(folder / "kernel.npy", np.zeros((2, CYCLES, 4), dtype=np.float32))
    (folder / "kernel.csv").write_text("node,time_s,core,source,name,count\n")
    found = budget(record.load(folder)).causes
    assert found.long_cycles == 0 and found.causes == () and found.blind


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("kernel.csv", "a,b\n1,2\n", "columns a, b; needed are node, time_s"),
        ("kernel.csv", "node,time_s,core,source,name,count\nx,1,1,a,b,1\n", "not a table"),
        ("kernel.npy", "", "not a .npy file"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path, name, content, complaint):
    run = planted(tmp_path / "run", {"processes": 1.0})
    (run.path / name).write_text(content)
    with pytest.raises(BadInput, match=complaint) as caught:
        kernel.load(run)
    assert name in str(caught.value)
