"""`spikemark predict` on a machine of unequal parts: ranks by part, what it prints, what it refuses."""

import json

import pytest
import yaml
from leaves import leaf
from machine_file import write
from synthetic import write_run


@pytest.fixture
def bath(files):
    """Two nodes of 16 cores and four of 4 cores, which lack their idle power."""
    folder = files["machine"].parent
    write(folder / "quick.yaml")
    write(folder / "small.yaml", node__cores=4, node__l3_cores=4)
    content = {
        "format_version": 1, "name": "bath", "title": "A bath",
        "parts": {
            "x86": {"profile": "quick.yaml", "nodes": 2},
            "arm": {"profile": "small.yaml", "nodes": 4, "slower": leaf(1.5, "1", kind="assumed")},
        },
        "links": {"x86-arm": {"fabric": leaf("ethernet"), "latency": leaf(35, "us")}},
    }  # fmt: skip
    (folder / "bath.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return files | {"bath": folder / "bath.yaml"}


def asked(files, *more):
    return "predict", files["run"], "--machine", files["bath"], *more


def predicted(spikemark, *words) -> dict:
    status, output, errors = spikemark(*words, "--json")
    assert status == 0, errors
    return json.loads(output)


def test_ranks_by_part_give_the_number_of_ranks(spikemark, bath):
    content = predicted(spikemark, *asked(bath, "--on", "x86=4,arm=8", "--threads", 1))
    (found,) = content["predictions"]
    assert (found["ranks"], found["nodes"]) == (12, 3)
    parts = {part["part"]: part for part in found["parts"]}
    assert [(n, p["ranks"], p["nodes"]) for n, p in parts.items()] == [("x86", 4, 1), ("arm", 8, 2)]
    assert parts["arm"]["profile"] == "small" and parts["arm"]["fits_memory"]
    assert {*parts["arm"]["figures"]} == {
        "compute", "compute_share", "waiting", "power_w", "energy_j", "energy_per_event_uj", "memory_gb",
    }  # fmt: skip
    assert content["profile"]["name"] == "bath" and len(content["profile"]["digest"]) == 16
    named = predicted(spikemark, *asked(bath, "--on", "arm=8,x86=4", "--threads", 1, "--ranks", 12))
    assert named["predictions"] == [found]


def test_without_it_each_part_is_filled_before_the_next(spikemark, bath):
    """Ranks have as many threads as the smallest node has cores."""
    found = predicted(spikemark, *asked(bath, "--ranks", "4,8,10"))["predictions"]
    placed = [[(p["part"], p["ranks"], p["nodes"]) for p in one["parts"]] for one in found]
    assert placed == [[("x86", 4, 1)], [("x86", 8, 2)], [("x86", 8, 2), ("arm", 2, 2)]]
    assert {one["threads"] for one in found} == {4}


def test_the_table_has_a_column_for_each_part(spikemark, bath):
    status, output, errors = spikemark(*asked(bath, "--on", "x86=4,arm=8", "--threads", 1))
    assert (status, errors) == (0, "")
    for text in ("Parts of bath, 12 ranks on 3 nodes", "┃ x86 ", "┃ arm ", "8 ranks", "2 nodes of small"):
        assert text in output, text
    _, output, _ = spikemark(*asked(bath, "--on", "x86=4,arm=8", "--threads", 1, "--assumptions"))
    assert "assumed: exchanges and barriers of ranks on several parts" in " ".join(output.split())
    assert "parts.arm.slower = 1.5" in output


def test_one_slow_node_of_a_shipped_machine_is_waited_for(spikemark, bath):
    words = "predict", bath["run"], "--machine", "slow-nodes", "--ranks-per-node", 1
    even, slow = (
        predicted(spikemark, *words, "--on", on)["predictions"][0] for on in ("usual=8", "usual=7,slow=1")
    )
    waiting = {part["part"]: part["figures"]["waiting"]["value"] for part in slow["parts"]}
    assert waiting["usual"] > even["figures"]["waiting"]["value"] > waiting["slow"]


def test_a_simulated_run_of_it_has_no_measured_tables(spikemark, bath):
    content = predicted(spikemark, *asked(bath, "--on", "x86=2,arm=2", "--simulated"))
    assert content["simulated"] and content["predictions"][0]["parts"]


BAD = {
    ("--on", "x86=4,gpu=4"): "part 'gpu'; allowed: x86, arm",
    ("--on", "x86=4,arm=4", "--ranks", "10"): "ranks of the parts: 8 in all; allowed: ranks=10",
    ("--on", "x86=4,arm=4", "--ranks", "8,16"): "ranks of the parts: 8 in all; allowed: ranks=16",
    ("--on", "x86=33", "--threads", "1"): "part x86: 33 ranks; allowed: up to 32, 16 on each of its 2 nodes",
    ("--ranks", "49", "--threads", "1"): "ranks=49; allowed: up to 48, which the parts of bath take",
    ("--on", "x86"): "on='x86': each part once with its ranks is needed, such as x86=4,arm=8",
    ("--on", ""): "on='': each part once",
    ("--on", "x86=4,x86=2"): "on='x86=4,x86=2': each part once",
    ("--on", "x86=0,arm=4"): "on='x86=0,arm=4': each part once with its ranks",
    ("--on", "x86=1.5"): "on='x86=1.5': each part once",
    (): "ranks: missing; allowed: numbers of ranks",
}


@pytest.mark.parametrize("words", BAD, ids=" ".join)
def test_bad_questions_are_refused_in_one_line(refusal, bath, words):
    assert BAD[words] in refusal(*asked(bath, *words))


def test_what_cannot_serve_parts_is_refused(refusal, spikemark, bath, done, tmp_path):
    found = refusal("predict", bath["run"], "--machine", bath["machine"], "--on", "x86=4")
    assert "part 'x86': all nodes of made-up are equal: it has no parts" in found
    found = refusal("predict", "--machine", bath["bath"], "--compute-from", done["out"], "--threads", 1)
    assert "a dry run measures nodes of one profile, and bath has unequal parts" in found
    run = write_run(tmp_path / "run", ranks=4, cycles=400)
    assert "machine bath has unequal parts" in refusal("predict", run, "--machine", bath["bath"])
    assert "--on: not for the folder of a run" in refusal(
        "predict", run, "--machine", bath["machine"], "--on", "x86=4"
    )
    assert "--on: only with --machine" in refusal("predict", run, "--schedule", "overlapped", "--on", "x86=4")
    for command in (("advise", bath["run"], "--machine"), ("compare", "--run", bath["run"])):
        assert "machine bath has unequal parts" in refusal(*command, bath["bath"])
