"""Files of nodes: slots of a node add up, and what is not understood is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spikemark import launch
from spikemark.core.errors import BadInput
from spikemark.launch import host_file
from spikemark.launch.layout import LaunchLayout, Nodes

UNDERSTOOD = {  # text, nodes with their cores
    "# ours\nn1 slots=4\nn2:2  # half\n\n": {"n1": 4, "n2": 2},
    "n1 slots=1\nn2 slots=3\nN1 slots=1\n": {"n1": 2, "n2": 3},
    "vm slots=1\nvm slots=1\n": {"vm": 2},
    "n1\nn2\nn2\n": {"n1": 1, "n2": 2},
    "n1\nn1\nn2\nn1\n": {"n1": 3, "n2": 1},  # as in PBS_NODEFILE
    "n1:2\nn1 slots=1": {"n1": 3},
    "\ufeffn1 slots = 2 max_slots=4\r\n\tn2 slots= 3 max-slots =3 \r\n": {"n1": 2, "n2": 3},
    "10.0.0.1 slots=2\n10.0.0.2 slots=2\n": {"10.0.0.1": 2, "10.0.0.2": 2},
    "n1.a.org SLOTS=2\nn1.b.org slots=2\n": {"n1.a.org": 2, "n1.b.org": 2},
}
REFUSED = (
    "",
    "# n1 slots=2\n",
    "n1\n",
    "n1\nn2\n",
    "n1 slots=0\n",
    "n1 slots=-1\n",
    "n1 slots=2.0\n",
    "n1 slots=2 slots=3\n",
    "n1:2 slots=3\n",
    "n1 2\n",
    "n1 slots\n",
    "n1 slots=\n",
    "n1 slots=1234567\n",
    "n[1-2] slots=2\n",
    "n1,n2 slots=2\n",
    "user@n1 slots=2\n",
    "n1 slots=2\nn2\n",
    "n1\nn1\nn2 slots=2\n",
    "n1 max_slots=2\n",
    "n1 slots=3 max_slots=2\n",
    "n1 slots=2 max_slots=3\nn1 slots=2\n",
    "n1 cpus=2\n",
    "n1 slots=2\nn1.a.org slots=2\n",
    "n1: slots=2\n",
    ":2\n",
    "batch2\nn1\nn1\nn2\nn2\n",  # LSF names its launch node first
    "n1 2 all.q@n1 UNDEFINED\n",  # as Grid Engine writes PE_HOSTFILE
    "n1 slots=２\n",
)


@pytest.fixture
def nodes_of(tmp_path, monkeypatch):
    """Returns a function that gives the nodes of a file with a text."""
    file = tmp_path / "hosts"
    monkeypatch.setenv(host_file.VARIABLE, str(file))
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)

    def read(text: str) -> Nodes:
        file.write_text(text)
        return launch.nodes_at_hand()

    return read


def test_slots_of_a_node_add_up(nodes_of):
    for text, expected in UNDERSTOOD.items():
        nodes = nodes_of(text)
        assert dict(zip(nodes.names, nodes.cores, strict=True)) == expected, text


def test_what_is_not_understood_is_refused(nodes_of):
    for text in REFUSED:
        expected = "lines NAME slots=CORES|at most|one name|nodes that"
        with pytest.raises(BadInput, match=rf"hosts(, line \d+)?: .*; expected ({expected})"):
            raise AssertionError(f"{text!r}: {nodes_of(text)}")


def test_a_file_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    for file in (tmp_path / "none", tmp_path):
        monkeypatch.setenv(host_file.VARIABLE, str(file))
        with pytest.raises(BadInput, match=str(file)):
            launch.nodes_at_hand()


def test_two_lines_of_one_slot_are_two_bound_ranks(nodes_of):
    start = launch.launch(
        "mpirun", ["miniapp"], LaunchLayout(2), nodes_of("vm slots=1\nvm slots=1\n")
    )
    assert "--host vm:2 --map-by ppr:2:node:PE=1" in " ".join(start.command)
    assert start.spread.nodes == 1 and start.environment["OMP_PROC_BIND"] == "close"


NODES = st.sampled_from(["n1", "n2", "N2", "n3.org", "10.0.0.7"])
LINES = st.lists(st.tuples(NODES, st.integers(1, 99), st.integers(0, 3)), min_size=1, max_size=12)


@given(LINES)
def test_files_in_any_spelling_are_read_right(lines):
    spellings = ("{} slots={}", "{}:{}", "  {}\tslots = {}  # {}", "{} slots={} max_slots=9999")
    text = "\n\n".join(spellings[how].format(name, slots, name) for name, slots, how in lines)
    expected: dict[str, int] = {}
    for name, slots, _ in lines:
        expected[name.lower()] = expected.get(name.lower(), 0) + slots
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_file, "read_text", lambda *_: text)
        nodes = host_file.nodes_of_file("hosts")
    assert dict(zip(map(str.lower, nodes.names), nodes.cores, strict=True)) == expected


def test_the_file_is_found_from_other_folders(tmp_path, monkeypatch):
    (tmp_path / "hosts").write_text("a slots=2\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(host_file.VARIABLE, "hosts")
    host_file.name_from_anywhere()
    monkeypatch.chdir("/")
    assert launch.nodes_at_hand().cores == (2,)
