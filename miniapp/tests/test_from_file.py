"""Placement `from_file`: a run with a placement file, what its record says, and what is refused."""

import json
import shutil

import program
import pytest

pytestmark = pytest.mark.slow

COLUMNS = {"first": [0, 300, 1200, 1500], "end": [300, 1200, 1500, 2000], "rank": [1, 0, 0, 1]}
DEALT = {"over": [1, 2, 1, 1], "origin": [0, 299, 1200, 1500]}
WHOLE = {"kind": "placement", "format_version": 1, "ranks": 2, "method": "by hand"} | COLUMNS | DEALT
FROM_FILE = program.sets(placement='{"name": "from_file", "file": "near/cut.json"}')


def described(folder, content=WHOLE, **more):
    """The example in a folder, with a placement file below it; the path of the description."""
    (folder / "near").mkdir()
    text = content if isinstance(content, str) else json.dumps(content | more)
    (folder / "near" / "cut.json").write_text(text)
    return shutil.copy(program.EXAMPLE, folder / "run.json")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The description, and the record of a run of two ranks, started from another folder."""
    folder, elsewhere = (tmp_path_factory.mktemp(name) for name in ("described", "elsewhere"))
    run = described(folder)
    how = {"ranks": 2, "threads": 2, "cwd": elsewhere}
    return run, folder / "out", program.record_of(folder / "out", *FROM_FILE, description=run, **how)


def test_the_spikes_are_those_of_any_placement(ran, tmp_path):
    usual = program.record_of(tmp_path / "usual", *program.sets(placement="round_robin"), ranks=2)
    assert ran[2]["checksum"] == usual["checksum"]
    assert usual["placement"] == {"name": "round_robin", "file": None, "method": None, "balance": 1}


def test_the_record_holds_the_placement(ran, tmp_path):
    _, out, record = ran
    assert record["description"]["placement"] == {"name": "from_file", "file": "near/cut.json"}
    assert record["placement"] == {
        "name": "from_file",
        "file": "near/cut.json",
        "method": "by hand",
        "balance": 1250 / 1000,
    }
    kept = json.loads((out / "placement.json").read_text())
    assert kept == WHOLE
    of_copy = program.sets(placement=json.dumps({"name": "from_file", "file": f"{out}/placement.json"}))
    again = program.record_of(tmp_path / "again", *of_copy, ranks=2)
    assert again["checksum"] == record["checksum"]


def test_an_earlier_record_with_a_placement_is_replaced(ran, tmp_path):
    out = shutil.copytree(ran[1], tmp_path / "out")
    program.record_of(out)
    assert not (out / "placement.json").exists()


def test_explain_tells_the_balance(ran):
    done = program.start("--explain", ran[0], *FROM_FILE, "--ranks", 2, "--threads", 3)
    assert (
        "2 ranks x 3 threads, placement from_file, 750 to 1250 neurons per rank, the most 1.250 times"
        in done.stdout
    )
    done = program.start("--explain", ran[0], *FROM_FILE, "--ranks", 2, "--json")
    told = json.loads(done.stdout)
    assert (told["placement"], told["balance"]) == ("from_file", 1.25)
    assert [rank["neurons"] for rank in told["per_rank"]] == [750, 1250]


def test_each_rank_alone_does_what_it_does_among_all(ran, tmp_path):
    run, _, record = ran
    alone = [
        program.record_of(
            tmp_path / f"{r}", *FROM_FILE, "--as-rank", str(r), "--of", "2", description=run, threads=2
        )
        for r in range(2)
    ]
    for name in ("neurons", "synapses", "spikes", "synaptic_events", "first_accesses"):
        assert sum(own["totals"][name] for own in alone) == record["totals"][name]


BAD = {
    "no file": ('{"name": "from_file"}', "placement.file: missing; allowed: a string"),
    "no object": ("from_file", 'placement: "from_file"; allowed: {"name": "from_file", "file": FILE.json}'),
    "absent": ('{"name": "from_file", "file": "far.json"}', "placement.file: far.json: "),
    "npz": ('{"name": "from_file", "file": "p.npz"}', "`spikemark partition ... --out FILE.json` writes it"),
    "unknown field": (
        '{"name": "from_file", "file": "near/cut.json", "ranks": 2}',
        "placement.ranks: unknown field",
    ),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("ranks", [None, 2])
def test_bad_names_are_refused(case, ranks, tmp_path):
    placement, message = BAD[case]
    refused(described(tmp_path), program.sets(placement=placement), ranks, message)


CONTENT = {
    "not JSON": ("{first: 0}", "placement.file: near/cut.json:1: "),
    "a list": ("[]", 'placement.file: kind: ""; allowed: "placement"'),
    "other ranks": (WHOLE | {"ranks": 4}, "placement.file: ranks: 4; allowed: 2, the ranks of this run"),
    "forgotten": (WHOLE | {"first": [0, 300, 1201, 1500]}, "placement.file: neuron 1200 is left out"),
    "twice": (WHOLE | {"first": [0, 299, 1200, 1500]}, "placement.file: neuron 299 is placed twice"),
}


@pytest.mark.parametrize("case", CONTENT)
def test_bad_files_are_refused(case, tmp_path):
    content, message = CONTENT[case]
    refused(described(tmp_path, content), FROM_FILE, 2, message)


def refused(run, arguments, ranks, message):
    before = {path.name for path in run.parent.iterdir()}
    done = program.start(run, "--out", run.parent / "out", *arguments, ranks=ranks)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[0]
    assert sum(line.startswith("miniapp:") for line in done.stderr.splitlines()) == 1
    assert {path.name for path in run.parent.iterdir()} == before
