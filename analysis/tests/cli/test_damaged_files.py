"""A file that a command reads, gone, empty, cut or a folder: one line names it, whoever names the
file.
"""

import json
import shutil

import foreign_logs
import machine_file
import numpy as np
import pytest
import synthetic
from small_network import describe

pytestmark = pytest.mark.slow

RUNS = "nodes,ranks,threads,real_time_factor\n1,2,64,20\n2,4,64,11\n"
#: Commands, and the files that they read.
COMMANDS = {
    "predict placed.json --machine made-up.yaml --ranks 4": ["placement.json", "made-up.yaml"],
    "predict ordered.json --machine made-up.yaml --ranks 4": ["near/order.json"],
    "advise ordered.json --machine made-up.yaml --nodes 1": ["near/order.json", "made-up.yaml"],
    "advise network.json --machine made-up.yaml --nodes 1 --placement placement.json": [
        "placement.json"
    ],
    "compare made-up.yaml epyc-vm --run ordered.json --nodes 1": [
        "near/order.json",
        "made-up.yaml",
    ],
    "partition network.json --placement placement.json": ["network.json", "placement.json"],
    "dryrun placed.json --of 4 --out out": ["placement.json"],
    "simulate placed.json --machine made-up.yaml --ranks 4 --out out": [
        "placement.json",
        "made-up.yaml",
    ],
    "simulate network.json --machine made-up.yaml --ranks 4 --out out --compute run": [
        "run/record.json",
        "run/cycles.npy",
    ],
    "waiting run": ["run/record.json", "run/cycles.npy"],
    "waiting times.npz --unit ms": ["times.npz"],
    "waiting imported": ["imported/imported.json", "imported/cycles.npy"],
    "report imported": ["imported/imported.json", "imported/cycles.npy"],
    "energy run --machine made-up.yaml": ["run/record.json", "made-up.yaml"],
    "machine made-up.yaml": ["made-up.yaml"],
    "score runs.csv": ["runs.csv"],
    "anchor mam-benchmark --full --machine jureca-dc --runs runs.csv": ["runs.csv"],
}
CASES = [(command, file) for command, files in COMMANDS.items() for file in files]


@pytest.fixture(scope="module")
def undamaged(tmp_path_factory):
    """All files, undamaged; no test may change them."""
    folder = tmp_path_factory.mktemp("undamaged")
    (folder / "near").mkdir()
    network = describe(areas=4)
    order = {"kind": "rank_order", "format_version": 1, "order": [0, 1, 2, 3]}
    ordered = network | {"exchange": {"name": "multi_level", "order": "near/order.json"}}
    placed = network | {"placement": {"name": "from_file", "file": "placement.json"}}
    written = {
        "network.json": network,
        "near/order.json": order,
        "ordered.json": ordered,
        "placed.json": placed,
    }
    for name, content in written.items():
        (folder / name).write_text(json.dumps(content))
    (folder / "runs.csv").write_text(RUNS)
    machine_file.write(folder / "made-up.yaml")
    synthetic.write_run(folder / "run", ranks=4, cycles=1000, description=network)
    compute = np.random.default_rng(1).normal(1.0, 0.1, (4, 600))
    np.savez(
        folder / "times.npz", compute=compute, communicate=foreign_logs.exchanged(compute, 0.05)
    )
    return folder


@pytest.fixture
def place(undamaged, tmp_path, monkeypatch, spikemark):
    shutil.copytree(undamaged, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    words = "partition network.json --ranks 4 --method sequential --out placement.json"
    assert spikemark(*words.split())[0] == 0
    assert spikemark(*["import", "times.npz", "--unit", "ms", "--out", "imported"])[0] == 0
    return tmp_path


@pytest.mark.parametrize(("command", "file"), CASES)
def test_the_line_names_the_file(command, file, place, refusal):
    path = place / file
    content = path.read_bytes()
    for damage in ("gone", "empty", "cut", "a folder"):
        path.unlink()
        if damage == "empty":
            path.write_bytes(b"")
        if damage == "cut":
            path.write_bytes(b"\x00{" + content[: len(content) // 2])
        if damage == "a folder":
            path.mkdir()
        line = refusal(*command.split())
        assert path.name in line, (damage, line)
        assert not (place / "out").exists()
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        path.write_bytes(content)


def test_a_placement_that_is_not_tried_is_named(place, spikemark):
    words = "placed.json --machine made-up.yaml --nodes 1"
    status, _, errors = spikemark("advise", *words.split())
    assert status == 0 and "placement.json" in errors
    status, _, errors = spikemark("advise", *words.split(), "--placement", "area")
    assert status == 0 and errors == ""


def test_machines_of_one_name_are_told_apart(place, spikemark, refusal):
    (place / "other").mkdir()
    machine_file.write(place / "other" / "made-up.yaml", node__cores=4)
    words = [
        "compare",
        "made-up.yaml",
        "other/made-up.yaml",
        "--run",
        "network.json",
        "--nodes",
        "1",
    ]
    machines = json.loads(spikemark(*words, "--json")[1])["machines"]
    assert [machine["name"] for machine in machines] == [
        f"made-up ({place.name})",
        "made-up (other)",
    ]
    assert machines[0]["best"]["figures"] != machines[1]["best"]["figures"]
    for same in ("made-up.yaml", "other/../made-up.yaml"):
        again = [*words[:2], same, *words[3:]]
        assert same in refusal(*again)
