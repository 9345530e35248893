"""Bad input gets one line that names the field, exit status 2, nothing half-written and nothing
lost.
"""

import json
import shutil

import numpy as np
import program
import pytest
from faults.interposed import Fault
from program import sets

pytestmark = pytest.mark.slow


def alone(rank, of=2):
    return ["--as-rank", str(rank), "--of", str(of)]


def placed(file):
    return sets(placement={"name": "from_file", "file": file})


def grid(**files):
    """Four ranks in a grid of which files say how it is gone through."""
    exchange = {"name": "multi_level", "dimensions": [2, 2], **files}
    return [
        *sets(schedule="conventional", placement="round_robin", exchange=exchange),
        *alone(0, 4),
    ]


ORDER = {"kind": "rank_order", "format_version": 1, "order": [0, 1, 2, 3]}
PLACED = {
    "kind": "placement",
    "format_version": 1,
    "ranks": 1,
    "first": [0, 300],
    "end": [300, 2000],
    "rank": [0, 0],
}
TABLE = {
    "kind": "forwarding_table",
    "format_version": 1,
    "dimensions": [2, 2],
    "bridge": [[0] * 4, [1, 0, 1, 0]],
}
PLACEMENTS = [
    "{",
    [],
    PLACED | {"ranks": 4},
    PLACED | {"first": [0, 301]},
    PLACED | {"first": [0, 299]},
]
ORDERS = [
    *(
        ORDER | {"order": order}
        for order in ([0, 1, 2], [0, 1, 1, 3], [0, 1, 2, 4], [0, 1, 2, "x"], 5)
    ),
    ORDER | {"kind": "placement"},
    ORDER | {"format_version": 2},
]
TABLES = [
    *(
        TABLE | {"bridge": [[0] * 4, *more]}
        for more in ([], [[0] * 3], [[0, 2, 0, 0]], [[0, "a", 0, 0]])
    ),
    *(
        TABLE | change
        for change in ({"kind": "rank_order"}, {"dimensions": [4, 1]}, {"side": "receiver"})
    ),
]
FILES = {
    f"{kind}{number}.json": content if isinstance(content, str) else json.dumps(content)
    for kind, contents in {"placed": PLACEMENTS, "order": ORDERS, "table": TABLES}.items()
    for number, content in enumerate(contents)
} | {"cut.json": program.EXAMPLE.read_text()[:300], "twice.json": '{"seed": 1, "seed": 2}'}

UNKNOWN = sets(network__populations__0__neuron={"model": "lif_exp"})
#: The field that the line begins with, and the arguments after `run.json --out run`.
BAD = [
    ("tiem", sets(tiem__h=1)),
    ("seed", sets(seed="one")),
    ("schedule", sets(schedule="eager")),
    ("schedule.0.from", sets(schedule=[{"name": "one", "from": "nowhere"}, {"name": "all"}])),
    ("placement", sets(placement="far")),
    ("placement.file", sets(placement={"name": "from_file"})),
    ("placement.file", placed("absent.json")),
    ("placement.ranks", sets(placement={"name": "from_file", "file": "x.json", "ranks": 2})),
    *(("placement.file", placed(f"placed{number}.json")) for number in range(len(PLACEMENTS))),
    *(("exchange", sets(exchange=exchange)) for exchange in ("pigeon", 3, {"name": 3}, {"far": 3})),
    *(("wire", sets(wire=wire)) for wire in ("pigeon", 3, {"far": 3})),
    ("exchange.order", grid(order="absent.json")),
    *(("exchange.world.order", grid(order=f"order{number}.json")) for number in range(len(ORDERS))),
    *(("exchange.world.table", grid(table=f"table{number}.json")) for number in range(len(TABLES))),
    ("exchange.far.dimensions", sets(exchange__far={"name": "multi_level", "dimensions": [3, 2]})),
    (
        "exchange.far.group",
        sets(schedule="structure_aware", exchange={"far": {"name": "p2p", "group": 2}}),
    ),
    ("delay_ratio", sets(delay_ratio=20)),
    ("delay_ratio", sets(schedule="overlapped", delay_ratio=7)),
    ("time.cycle_ms", sets(time__cycle_ms=0.5)),
    ("network.populations.0.neuron.model", sets(network__populations__0__neuron__model="lf")),
    ("network.populations.0.neuron.rate_hz", sets(network__populations__0__neuron__rate_hz=-1)),
    ("network.populations.1.size", sets(network__populations__1__size=-3)),
    ("--set", sets(network__populations__7__size=1)),
    ("network.projections.0.indegree", sets(network__populations__0__size=0)),
    ("network.projections.0.weight.sd", sets(network__projections__0__weight={"mean": 1, "sd": 9})),
    ("network.projections.1.delay.min", sets(network__projections__1__delay__min=0.001)),
    (
        "network.projections.1.weight",
        sets(network__projections__0__weight=1e9, network__projections__1__weight=0.5),
    ),
    ("network", sets(network__populations__0__size=2_000_000_000)),
    (
        "network",
        sets(
            network__populations__0__size=3000,
            network__projections__0__delay__max=20,
            network__projections__0__weight={"mean": 1000, "sd": 9, "classes": 4096},
        ),
    ),
    ("record.counters.1", sets(record__counters=["cycles", "joy"])),
    ("record.counters", sets(record__counters=["cycles", "cycles"])),
    ("record.counters", sets(record__counters=[])),
    ("record.energy_sensors", sets(record__energy_sensors=["a", "a"])),
    ("record.energy_interval_s", sets(record__energy_interval_s=31)),
    ("record.idle_pause_s", sets(record__idle_pause_s=-1)),
    ("record.kernel", sets(record__kernel=3)),
    ("--set", ["--set"]),
    ("--set", ["--set", "=5"]),
    ("--set", ["--set", ".".join("a" * 3000) + "=1"]),
    ("time.a", ["--set", "time.a\nb=1"]),
    ("--fast", ["--fast"]),
    ("--json", ["--json"]),
    ("--progress", ["--progress", "taken/notes"]),
    ("--progress", ["--progress", "no/file"]),
    ("--compute-times", ["--compute-times", "times.npy"]),
    *(
        ("--out", ["--out", out])
        for out in ("taken", "taken/notes/run", "/proc/run", "link", "/", "")
    ),
    ("--out", ["--out", "x" * 300]),
    *(("--as-rank", words) for words in (alone(2), alone(-1), ["--of", "3"])),
    *(("--of", words) for words in (["--as-rank", "0"], alone(0, 0))),
    *(("--rate", [*alone(0), *words]) for words in (UNKNOWN, ["--rate", "2"], ["--rate", "-2"])),
    ("--routes", [*alone(0), "--routes", "some"]),
    ("placement", alone(0, 3)),
]


def tree(folder):
    return {str(f.relative_to(folder)): f.is_file() and f.read_bytes() for f in folder.rglob("*")}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with files of others, which every refused run must leave as it is."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "taken").mkdir()
    for name, content in {**FILES, "taken/notes": "42", "taken/record.json": "{}"}.items():
        (folder / name).write_text(content)
    (folder / "link").symlink_to("taken")
    np.save(folder / "times.npy", np.zeros((1, 1, 3), np.float32))
    shutil.copy(program.EXAMPLE, folder / "run.json")
    return folder


@pytest.fixture
def refused(place):
    """Runs the program in the place, which stays as it is: the one line begins with the field."""

    def run(field, *arguments, start=program.start, **how):
        before = tree(place)
        done = start(*arguments, cwd=place, **how)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        lines = done.stderr.splitlines()
        if {"ranks", "threads"} & how.keys():  # MPI and OpenMP may say something of their own
            lines = [one for one in lines if one.startswith("miniapp: ")]
        (line,) = lines
        assert line.startswith(f"miniapp: {field}"), line
        assert tree(place) == before

    return run


RUN = ("run.json", "--out", "run")
CASES = [pytest.param(*case, id=f"{number}-{case[0]}") for number, case in enumerate(BAD)]
#: As many delays as do not fit a synapse even without classes of weights: room for 8 GB of input.
DELAYS = sets(network__populations__0__size=3000, network__projections__0__delay__max=99999)
CASES.append(pytest.param("network", DELAYS, id="delays-network", marks=pytest.mark.nightly))


@pytest.mark.parametrize(("field", "arguments"), CASES)
def test_bad_input(field, arguments, refused):
    refused(field, *RUN, *arguments)


@pytest.mark.parametrize("file", ["cut.json", "twice.json", "none.json"])
def test_descriptions_that_cannot_be_read(file, refused):
    refused(file, file, *RUN[1:])


def test_words_that_are_lacking(refused):
    refused("--out", *RUN[:1])
    refused("RUN.json", *RUN[1:])


def test_several_ranks_say_it_once(refused):
    refused("seed", *RUN, *sets(seed=-1), ranks=2)
    refused("placement", *RUN, ranks=3)
    refused("--as-rank", *RUN, *alone(0), ranks=2)


def test_threads(refused):
    for threads, more in (("many", {}), ("0", {}), ("100000", {}), (3, {"OMP_THREAD_LIMIT": "2"})):
        refused("OMP_NUM_THREADS", *RUN, threads=threads, **more)


#: By day, one case of each kind in turn.
WATCHED = [
    case if number % 16 == 3 else pytest.param(*case.values, marks=pytest.mark.nightly, id=case.id)
    for number, case in enumerate(CASES)
]


@pytest.mark.parametrize(("field", "arguments"), WATCHED)
def test_a_refused_run_loses_nothing(field, arguments, refused, tmp_path):
    """What was opened is closed: the sanitizer finds nothing lost by our sources."""
    refused(field, *RUN, *arguments, start=program.watched, log=tmp_path / "report")


REPORT = """Direct leak of 8 byte(s) in 1 object(s) allocated from:
    #0 0x1 in malloc x
    #1 0x1 in take ({})
    #2 0x1 in f /miniapp/src/a.c:1
    #9 0x1 in main /miniapp/src/app/main.c:1
"""


@pytest.mark.parametrize(("library", "lost"), [("libjansson.so", 1), ("libmpi.so.40", 0)])
def test_a_loss_would_be_noticed(library, lost):
    assert len(program.leaks(REPORT.format(f"lib/{library}"))) == lost


def test_a_refused_run_leaves_the_earlier_record(tmp_path):
    program.record_of(tmp_path / "run")
    before = tree(tmp_path)
    done = program.start(program.EXAMPLE, "--out", tmp_path / "run", *sets(schedule="eager"))
    assert done.returncode == 2 and tree(tmp_path) == before


def test_a_full_disk_for_progress(refused, place):
    full = Fault("ENOSPC", str(place / "progress"), calls=("extend",)).environment()
    refused("--progress", *RUN, "--progress", place / "progress", **full)
