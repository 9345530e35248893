"""Bad input gets one line that names the field, exit status 2, and nothing half-written."""

import json
import shutil

import numpy as np
import program
import pytest
from faults.interposed import Fault
from levels import beside

pytestmark = pytest.mark.slow


def fields(**values):
    return program.sets(**{name: v if isinstance(v, str) else json.dumps(v) for name, v in values.items()})


def alone(rank, of=2):
    return ["--as-rank", str(rank), "--of", str(of)]


UNKNOWN = fields(network__populations__0__neuron={"model": "lif_exp"})
HUGE = fields(network__populations__0__size=2_000_000_000)
WIDE = fields(network__populations__0__size=3000, network__projections__0__delay__max=99999)
APART = fields(network__projections__0__weight=1e9, network__projections__1__weight=0.5)
#: The field that the line begins with, and the arguments. The example is the description.
BAD = [
    ("tiem", fields(tiem__h=1)),
    ("seed", fields(seed="one")),
    ("schedule", fields(schedule="eager")),
    ("schedule.0.from", fields(schedule=[{"name": "one", "from": "nowhere"}, {"name": "all"}])),
    ("placement", fields(placement="far")),
    ("placement.file", fields(placement={"name": "from_file"})),
    ("placement.file", fields(placement={"name": "from_file", "file": "absent.json"})),
    ("placement.ranks", fields(placement={"name": "from_file", "file": "x.json", "ranks": 2})),
    ("exchange", fields(exchange="pigeon")),
    ("exchange.order", fields(exchange={"name": "multi_level", "dimensions": [1, 1], "order": "no.json"})),
    ("exchange.far.dimensions", fields(exchange__far={"name": "multi_level", "dimensions": [3, 2]})),
    ("exchange.far.group", fields(schedule="structure_aware", exchange={"far": {"name": "p2p", "group": 2}})),
    ("delay_ratio", fields(delay_ratio=20)),
    ("delay_ratio", fields(schedule="overlapped", delay_ratio=7)),
    ("time.cycle_ms", fields(time__cycle_ms=0.5)),
    ("network.populations.0.neuron.model", fields(network__populations__0__neuron__model="lf")),
    ("network.populations.0.neuron.rate_hz", fields(network__populations__0__neuron__rate_hz=-1)),
    ("network.populations.1.size", fields(network__populations__1__size=-3)),
    ("--set", fields(network__populations__7__size=1)),
    ("network.projections.0.indegree", fields(network__populations__0__size=0)),
    ("network.projections.0.weight.sd", fields(network__projections__0__weight={"mean": 1, "sd": 9})),
    ("network.projections.1.delay.min", fields(network__projections__1__delay__min=0.001)),
    ("network.projections.1.weight", APART),
    ("network", HUGE),
    ("network", WIDE),
    ("record.counters.1", fields(record__counters=["cycles", "joy"])),
    ("record.counters", fields(record__counters=["cycles", "cycles"])),
    ("record.counters", fields(record__counters=[])),
    ("record.energy_sensors", fields(record__energy_sensors=["a", "a"])),
    ("record.energy_interval_s", fields(record__energy_interval_s=31)),
    ("record.idle_pause_s", fields(record__idle_pause_s=-1)),
    ("record.kernel", fields(record__kernel=3)),
    ("--require-counters", ["--require-counters"]),
    ("--set", ["--set"]),
    ("--set", ["--set", "=5"]),
    ("--set", ["--set", ".".join("a" * 3000) + "=1"]),
    ("time.a", ["--set", "time.a\nb=1"]),
    ("--fast", ["--fast"]),
    ("--json", ["--json"]),
    ("--progress", ["--progress", "taken/notes"]),
    ("--progress", ["--progress", "no/file"]),
    ("--compute-times", ["--compute-times", "times.npy"]),
    ("--out", ["--out", "taken"]),
    ("--out", ["--out", "taken/notes/run"]),
    ("--out", ["--out", "/proc/run"]),
    ("--out", ["--out", "x" * 300]),
    ("--out", ["--out", "link"]),
    ("--out", ["--out", "/"]),
    ("--out", ["--out", ""]),
    ("--as-rank", alone(2)),
    ("--as-rank", alone(-1)),
    ("--as-rank", ["--of", "3"]),
    ("--of", ["--as-rank", "0"]),
    ("--of", alone(0, 0)),
    ("--rate", [*alone(0), *UNKNOWN]),
    ("--rate", [*alone(0), "--rate", "2"]),
    ("--rate", [*alone(0), "--rate", "-2"]),
    ("--routes", [*alone(0), "--routes", "some"]),
    ("placement", alone(0, 3)),
]


def refused(field, *arguments, **how):
    """The one line."""
    done = program.start(*arguments, **how)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    lines = done.stderr.splitlines()
    (line,) = [line for line in lines if line.startswith("miniapp: ") or "threads" not in how]  # libgomp's
    assert line.startswith(f"miniapp: {field}"), line
    return line


def tree(folder):
    return {str(f.relative_to(folder)): f.is_file() and f.read_bytes() for f in folder.rglob("*")}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with files of others, which every refused run must leave as it is."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "taken").mkdir()
    (folder / "taken" / "notes").write_text("42")
    (folder / "taken" / "record.json").write_text("{}")
    (folder / "link").symlink_to("taken")
    np.save(folder / "times.npy", np.zeros((1, 1, 3), np.float32))
    return folder


@pytest.mark.parametrize(("field", "arguments"), BAD, ids=[f"{i}-{bad[0]}" for i, bad in enumerate(BAD)])
def test_bad_input(field, arguments, place):
    before = tree(place)
    refused(field, program.EXAMPLE, "--out", "run", *arguments, cwd=place)
    assert tree(place) == before


def test_several_ranks_say_it_once(place):
    before = tree(place)
    refused("seed", program.EXAMPLE, "--out", "run", *fields(seed=-1), ranks=2, cwd=place)
    refused("placement", program.EXAMPLE, "--out", "run", ranks=3, cwd=place)
    refused("--as-rank", program.EXAMPLE, "--out", "run", *alone(0), ranks=2, cwd=place)
    assert tree(place) == before


def test_descriptions_that_cannot_be_read(tmp_path):
    text = program.EXAMPLE.read_text()
    for name, content in (("cut.json", text[:300]), ("twice.json", '{"seed": 1, "seed": 2}')):
        (tmp_path / name).write_text(content)
        refused(tmp_path / name, tmp_path / name, "--out", tmp_path / "run")
    refused(tmp_path / "none.json", tmp_path / "none.json", "--out", tmp_path / "run")
    refused("--out", program.EXAMPLE)
    refused("RUN.json", "--out", tmp_path / "run")
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("threads", ["many", "0", "100000"])
def test_threads(threads, place):
    refused("OMP_NUM_THREADS", program.EXAMPLE, "--out", "run", threads=threads, cwd=place)
    limited = {"threads": 3, "OMP_THREAD_LIMIT": "2"}
    refused("OMP_NUM_THREADS", program.EXAMPLE, "--out", "run", cwd=place, **limited)


def test_a_refused_run_leaves_the_earlier_record(tmp_path):
    program.record_of(tmp_path / "run")
    before = tree(tmp_path)
    refused("schedule", program.EXAMPLE, "--out", tmp_path / "run", *fields(schedule="eager"))
    assert tree(tmp_path) == before


def test_a_full_disk_for_progress(tmp_path):
    full = Fault("ENOSPC", str(tmp_path / "progress"), calls=("extend",)).environment()
    words = ("--out", tmp_path / "run", "--progress", tmp_path / "progress")
    refused("--progress", program.EXAMPLE, *words, **full)
    assert list(tmp_path.iterdir()) == []


WHOLE = {"kind": "placement", "format_version": 1, "ranks": 1, "first": [0, 300], "end": [300, 2000],
         "rank": [0, 0]}  # fmt: skip
PLACEMENTS = ["{", [], WHOLE | {"ranks": 4}, WHOLE | {"first": [0, 301]}, WHOLE | {"first": [0, 299]}]


@pytest.mark.parametrize("content", PLACEMENTS, ids=range(len(PLACEMENTS)))
def test_placement_files(content, tmp_path):
    (tmp_path / "cut.json").write_text(content if isinstance(content, str) else json.dumps(content))
    run = shutil.copy(program.EXAMPLE, tmp_path / "run.json")
    before = tree(tmp_path)
    how = fields(placement={"name": "from_file", "file": "cut.json"})
    refused("placement.file", run, "--out", tmp_path / "out", *how)
    assert tree(tmp_path) == before


ORDERS = [[0, 1, 2], [0, 1, 1, 3], [0, 1, 2, 4], [0, 1, 2, "x"], {"kind": "placement"},
          {"kind": "rank_order", "format_version": 2},
          {"kind": "rank_order", "format_version": 1, "order": 5}]  # fmt: skip
TABLE = {"kind": "forwarding_table", "format_version": 1, "dimensions": [2, 2],
         "bridge": [[0] * 4, [1, 0, 1, 0]]}  # fmt: skip
TABLES = [{"kind": "rank_order"}, {"dimensions": [4, 1]}, {"bridge": [[0] * 4]}, {"bridge": [[0] * 3] * 2}]
TABLES += [{"bridge": [[0] * 4, [0, 2, 0, 0]]}, {"side": "receiver"}, {"bridge": [[0] * 4, [0, "a", 0, 0]]}]


def test_orders_of_ranks_and_tables(tmp_path):
    commands = []
    for number, order in enumerate(ORDERS):
        (tmp_path / f"o{number}").mkdir()
        commands.append(("exchange.world.order", beside(tmp_path / f"o{number}", order)))
    for number, change in enumerate(TABLES):
        folder = tmp_path / f"t{number}"
        folder.mkdir()
        (folder / "table.json").write_text(json.dumps(TABLE | change))
        commands.append(("exchange.world.table", beside(folder, [0, 1, 2, 3], table="table.json")))
    before = tree(tmp_path)
    for field, description in commands:
        refused(field, description, "--out", tmp_path / "run", "--as-rank", 0, "--of", 4)
    assert tree(tmp_path) == before
