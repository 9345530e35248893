"""What the record of a run must say about its ranks to be taken for what was asked."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from planned import LINE

from spikemark.core.errors import BadInput
from spikemark.launch.layout import Layout, Spread
from spikemark.running.measure import Due, RunFailed, carry_out, check_record

SPREAD = Spread(4, 2, 2, "cyclic", ("a", "b"))
PLACED = {
    "as asked": ({"nodes": 2}, "0101", None),
    "names": ({"nodes": 2, "node_names": ["a", "b"]}, "0101", None),
    "an old record": ({}, "", None),
    "one node": ({"nodes": 1}, "", "nodes=2, .*nodes=1"),
    "block": (
        {"nodes": 2, "node_names": ["a", "b"]},
        "0011",
        "distribution=cyclic, ranks_per_node=2, .* rank 1 on a",
    ),
    "uneven": ({"nodes": 2}, "0111", "rank 2 on 1"),
}


@pytest.mark.parametrize("case", PLACED)
def test_ranks_must_be_where_they_were_asked_for(case, tmp_path):
    host, nodes, complaint = PLACED[case]
    content = {"status": "complete", "ranks": 4, "threads": 1, "host": host}
    (tmp_path / "record.json").write_text(json.dumps(content))
    table = "".join(f"{rank},{node}\n" for rank, node in enumerate(nodes))
    (tmp_path / "ranks.csv").write_text(f"rank,node\n{table}" if nodes else "rank\n0\n1\n2\n3\n")
    planned = Layout(4)
    check_record(tmp_path, planned)  # where nothing is known about the nodes
    if complaint is None:
        check_record(tmp_path, planned, SPREAD)
    else:
        with pytest.raises(RunFailed, match=complaint):
            check_record(tmp_path, planned, SPREAD)


@pytest.mark.parametrize("linked", [False, True])
def test_a_run_whose_ranks_are_left_is_refused(tmp_path, linked):
    """Its command and mpirun were killed; mpirun had closed the lock for the ranks."""
    planned = Due(LINE["id"], LINE["label"], Layout(1), False, 60, LINE, [LINE])
    (tmp_path / "results").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "results")
    place = tmp_path / ("link" if linked else "results")
    unchecked = place / "unchecked" / planned.id / "record"
    paths = unchecked, place / "runs" / planned.id, place / "failed" / planned.id
    command = [sys.executable, "-c", "import time; time.sleep(60)", "--out", str(unchecked.resolve())]
    left = subprocess.Popen(command)
    line = Path(f"/proc/{left.pid}/cmdline")
    while not line.read_bytes():  # it has no arguments yet when Popen returns
        time.sleep(0.01)
    try:
        with pytest.raises(BadInput) as refusal:
            carry_out(planned, *paths, lambda: pytest.fail("it has begun"))
    finally:
        left.kill()
        left.wait()
    assert f"`kill {left.pid}`" in str(refusal.value)
    assert not paths[2].exists() and not (place / "unchecked").exists()

    def work() -> dict:
        unchecked.mkdir()
        (unchecked / "record.json").write_text("{}")
        return {}

    assert carry_out(planned, *paths, work) == paths[1]


BOUND = {
    "a core each": ([[0], [1], [0], [1]], None),
    "two hardware threads each": ([[0, 4], [1, 5], [0, 4], [1, 5]], None),
    "unknown": (None, None),
    "one unknown": ([[0], None, [0], [1]], None),
    "shared": ([[0], [1], [0], [0]], "ranks 2 and 3 .*, 0 of a node"),
    "everywhere": ([[0, 1]] * 4, "ranks 0 and 1 .*, 0 of a node"),
    "nowhere": ([[], [1], [0], [1]], r"rank 0 on only \[\]"),
}


@pytest.mark.parametrize("binding", [None, "cores", "none"])
@pytest.mark.parametrize("case", BOUND)
def test_ranks_must_be_bound_if_that_was_asked_for(case, binding, tmp_path):
    bound, complaint = BOUND[case]
    content = {"status": "complete", "ranks": 4, "threads": 1, "host": {"nodes": 2, "binding": bound}}
    (tmp_path / "record.json").write_text(json.dumps(content))
    (tmp_path / "ranks.csv").write_text("rank,node\n0,0\n1,0\n2,1\n3,1\n")
    planned = Layout(4, binding=binding)
    if complaint is None or binding != "cores":
        check_record(tmp_path, planned, Spread(4, 2, 2))
    else:
        with pytest.raises(RunFailed, match=f"binding=cores, .*{complaint}"):
            check_record(tmp_path, planned, Spread(4, 2, 2))
