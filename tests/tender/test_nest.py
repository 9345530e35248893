"""Runs of NEST in an answer: honest ones pass, and every kind of forgery is caught."""

import csv
import json
import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from checkout import ROOT
from tender import offered

import spikemark
from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.prediction import program_costs
from spikemark.prediction.points import OWN
from spikemark_tender import check, formats, nest, offers

pytestmark = pytest.mark.slow

VERSION = "3.10.0"
LAYOUTS = ((1, 2, 64), (2, 4, 64))


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """A bundle that asks for runs of NEST."""
    return offered.bundle(tmp_path_factory.mktemp("nest") / "bundle", nest=True)


def lines_of(bundle, seed=1):
    """What honest runs print: three repetitions of each layout that differ by some per cent."""
    rng = np.random.default_rng(seed)
    expected = bundle.tender.run(bundle.tender.nest.run).expected
    for nodes, ranks, threads in LAYOUTS:
        for _ in range(bundle.tender.nest.repetitions):
            parts = dict(zip(("create_s", "connect_s", "prepare_s"), (0.1, 2.5, 0.3), strict=True))
            simulate_s = float(6.0 / nodes * rng.uniform(1.0, 1.05))
            spikes = 1234
            yield (
                nodes,
                {
                    "program": "nest",
                    "version": VERSION,
                    "ranks": ranks,
                    "threads": threads,
                    "neurons": expected.neurons,
                    "synapses": expected.synapses,
                    "build_s": sum(parts.values()),
                    **parts,
                    "simulate_s": simulate_s,
                    "simulate_cpu_s": 1.05 * threads * simulate_s,
                    "model_s": 1.0,
                    "communicate_s": 0.5,
                    "spikes": spikes,
                    "mean_rate_hz": spikes / expected.neurons,
                },
            )


def written(folder, bundle, change=lambda runs: runs, table=lambda rows: rows):
    """A folder of runs; `change` forges what they print, `table` the rows of runs.csv."""
    folder.mkdir()
    rule = bundle.tender.run(bundle.tender.nest.run)
    (folder / nest.NETWORK).write_text(json.dumps(bundle.description(rule)))
    (folder / "run.sh").write_text("bash\n")
    runs = change(list(lines_of(bundle)))
    (folder / nest.RECORDS).write_text("".join(json.dumps(line) + "\n" for _, line in runs))
    rows = [
        [nodes, line["ranks"], line["threads"], f"{line['simulate_s'] / line['model_s']:.6g}", 0.5]
        for nodes, line in runs
    ]
    with (folder / nest.RUNS).open("w", newline="") as file:
        csv.writer(file).writerows([OWN, *table(rows)])
    return folder


def texts(folder, bundle):
    """What is found, with figures in answer.json that follow from the runs."""
    stated = [nest.NestRun.model_validate(run) for run in nest.collected(folder)]
    return list(nest.findings(folder, bundle, bundle.tender.nest, stated, offered_nodes=8))


def test_honest_runs_pass_and_every_layout_has_its_figure(tmp_path, bundle):
    folder = written(tmp_path / "nest", bundle)
    assert texts(folder, bundle) == []
    one_node, two_nodes = nest.collected(folder)
    assert one_node["repetitions"] == 3
    factor = one_node[formats.RTF]
    assert 6.0 <= factor["low"] <= factor["value"] <= factor["high"] <= 6.3
    assert two_nodes["layout"] == {"ranks": 4, "threads": 64, "nodes": 2}


@pytest.mark.parametrize("node_memory_gb", [0.01, 1.0, 768.0])
def test_the_network_of_nest_surely_fits_on_a_node(tmp_path, node_memory_gb):
    bundle = offered.bundle(tmp_path / "bundle", nest=True, node_memory_gb=node_memory_gb)
    rule = bundle.tender.run(bundle.tender.nest.run)
    *_, most_gb = program_costs.MEMORY_OF_NEST.gigabytes(
        rule.expected.neurons, rule.expected.synapses
    )
    assert 0.5 * node_memory_gb < most_gb <= node_memory_gb
    synapses = {run.size: run.expected.synapses for run in bundle.tender.runs}
    assert rule.size == "small" and synapses["small"] < synapses["medium"]
    without = offered.bundle(tmp_path / "without", node_memory_gb=node_memory_gb).tender
    assert without.run("bench-medium") == bundle.tender.run("bench-medium")
    machine = machines.load("jureca-dc")
    memory = replace(machine.values["node.memory"], value=node_memory_gb, kind="literature")
    machine = machine.with_values({"node.memory": memory})
    file = bundle.path / "runs" / f"{rule.name}.json"
    assert spikemark.anchor(file, machine, out=tmp_path / "nest").remarks == []


def test_runs_that_do_not_fit_are_refused_and_doubtful_ones_remarked_upon(tmp_path):
    network = spikemark.network("mam", full=True)
    machine = machines.load("jureca-dc")
    for_all = program_costs.MEMORY_OF_NEST.gigabytes(
        network.known.neurons, network.known.network.synapses
    )
    middle, least, most = (gigabytes / 32 for gigabytes in for_all)
    for node_gb in (0.99 * least, 1.01 * least, middle, 0.99 * most, 1.01 * most):
        memory = replace(machine.values["node.memory"], value=node_gb, kind="literature")
        with_memory = machine.with_values({"node.memory": memory})
        out = tmp_path / f"{node_gb:g}"
        if node_gb < least:
            with pytest.raises(BadInput) as refused:
                spikemark.anchor(network, with_memory, out=out, nodes=[32, 64])
            assert refused.value.field == "node.memory" and not out.exists()
            continue
        remarks = spikemark.anchor(network, with_memory, out=out, nodes=[32, 64]).remarks
        option = spikemark.predict(network, with_memory, nodes=32, program="nest").options[0]
        assert len(remarks) >= (node_gb < most)
        assert (remarks == []) == (node_gb > most)
        assert remarks[:1] == [text for text in option.remarks if "may not fit" in text]


def test_the_folder_that_anchor_writes_is_filled_and_taken(tmp_path, bundle):
    """What a bidder does: anchor writes the runs of the bundle's file, NEST fills them."""
    filled = written(tmp_path / "filled", bundle)
    file = bundle.path / "runs" / f"{bundle.tender.nest.run}.json"
    folder = tmp_path / "nest"
    spikemark.anchor(file, "jureca-dc", out=folder, nodes=[1, 2])
    (folder / nest.RECORDS).write_text((filled / nest.RECORDS).read_text())
    table = (folder / nest.RUNS).read_text()  # the head that anchor wrote, and the rows of runs
    rows = (filled / nest.RUNS).read_text().partition("\n")[2]
    (folder / nest.RUNS).write_text(table + rows)
    assert texts(folder, bundle) == []
    nest.copy(folder, tmp_path / "answer")
    assert {path.name for path in (tmp_path / "answer").iterdir()} == set(nest.FILES)
    other = tmp_path / "other"
    spikemark.anchor("microcircuit", "jureca-dc", out=other)
    for name in (nest.RECORDS, nest.RUNS):
        (other / name).write_text((folder / name).read_text())
    (text,) = texts(other, bundle)
    assert nest.NETWORK in text


#: A NEST that says something on the standard output, as NEST 3.10 does where threads are set.
TALKING_NEST = """
import os, sys
from test_peers_nest import FakeNest
print("[INFO] OMP_NUM_THREADS is set in your environment, but NEST ignores it.")
print("For details, see the Guide to parallel computing in the NEST Documentation.", flush=True)
sys.modules["nest"] = FakeNest()
"""


def test_run_sh_keeps_what_the_runs_say_and_nothing_of_other_programs(tmp_path, bundle):
    """The script as anchor writes it, started twice: its lines are read as they are."""
    (tmp_path / "nest.py").write_text(TALKING_NEST)
    path = os.pathsep.join([str(tmp_path), str(ROOT / "tests"), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHON": sys.executable}
    folder = tmp_path / "nest"
    file = bundle.path / "runs" / f"{bundle.tender.nest.run}.json"
    spikemark.anchor(file, "jureca-dc", out=folder, ranks=1, threads=2)
    for _ in range(2):
        command = ["bash", str(folder / "run.sh")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert "[INFO]" in done.stdout
    lines = (folder / nest.RECORDS).read_text().splitlines()
    assert [json.loads(line)["threads"] for line in lines] == [2, 2]
    (run,) = nest.collected(folder)
    assert run["repetitions"] == 2 and run["layout"] == {"ranks": 1, "threads": 2, "nodes": 1}


def test_lines_of_other_programs_are_passed_over_and_damaged_ones_are_not(tmp_path, bundle):
    """A run.sh of an earlier version kept the whole standard output."""
    folder = written(tmp_path / "nest", bundle)
    clean = nest.collected(folder)
    file = folder / nest.RECORDS
    lines = file.read_text().splitlines()
    told = ["[INFO] [2026-11-30 14:31:52] OMP_NUM_THREADS is set.", "For details, see.", ""]
    file.write_text("\n".join([*told, *lines[:2], *told, *lines[2:], "srun: done"]) + "\n")
    assert nest.collected(folder) == clean and texts(folder, bundle) == []
    for damaged in (lines[0][:-5], lines[0][1:], json.dumps([1]), lines[0] + lines[1]):
        file.write_text("\n".join([damaged, *lines[1:]]) + "\n")
        with pytest.raises(BadInput):
            nest.collected(folder)


def set_in_all(**values):
    return lambda runs: [(nodes, line | values) for nodes, line in runs]


def set_in_first(**values):
    return lambda runs: [(runs[0][0], runs[0][1] | values), *runs[1:]]


def faster(runs):
    """The first repetition at half of its time."""
    nodes, line = runs[0]
    return [(nodes, line | {"simulate_s": 0.5 * line["simulate_s"]}), *runs[1:]]


def first_row(place, value):
    def change(rows):
        rows[0][place] = value
        return rows

    return change


def in_less_time(factor):
    """All repetitions in less time, and the table to match; their processors took what they did."""
    return lambda runs: [
        (nodes, line | {"simulate_s": line["simulate_s"] / factor}) for nodes, line in runs
    ]


#: How the lines of the runs are forged, and a word of what is found.
FORGED_LINES = {
    "another version": (set_in_all(version="3.8"), "version"),
    "two versions": (set_in_first(version="3.9.0"), "version"),
    "another program": (set_in_all(program="nest-gpu"), "version"),
    "fewer neurons": (set_in_all(neurons=100), "neurons"),
    "fewer synapses": (set_in_all(synapses=100), "synapses"),
    "a build that does not add up": (set_in_first(build_s=1.0), "build_s"),
    "spikes that the rate does not give": (set_in_all(spikes=5), "spikes"),
    "other spikes in a repetition": (
        lambda runs: set_in_first(spikes=2468, mean_rate_hz=2 * runs[0][1]["mean_rate_hz"])(runs),
        "spikes",
    ),
    "communication longer than the run": (set_in_first(communicate_s=60.0), "communicate"),
    "less time than the processors took": (in_less_time(1.2), "simulate_cpu_s"),
    "a hundredth of the time": (in_less_time(100), "simulate_cpu_s"),
    "one repetition twice": (lambda runs: [runs[0], runs[0], *runs[2:]], "exactly"),
    "a repetition left out": (lambda runs: runs[1:], "repetitions"),
    "a repetition much faster": (faster, "differ"),
    "more nodes than are offered": (
        lambda runs: [(9, line) for _, line in runs[:3]] + runs[3:],
        "nodes",
    ),
}
#: How the table is forged, and a word of what is found.
FORGED_ROWS = {
    "a faster row": (first_row(3, "3.0"), "real_time_factor"),
    "other ranks": (first_row(1, 1), "ranks"),
    "less communication": (first_row(4, 0.1), "communicate"),
}


@pytest.mark.parametrize("name", FORGED_LINES)
def test_forged_runs_are_caught(tmp_path, bundle, name):
    change, word = FORGED_LINES[name]
    found = texts(written(tmp_path / "nest", bundle, change), bundle)
    assert found and any(word in text for text in found)


@pytest.mark.parametrize("factor", [1.0, 1.03, 1.2, 5.0])
def test_the_time_of_a_run_is_held_against_that_of_its_processors(tmp_path, bundle, factor):
    """The honest runs keep their processors busy for 1.05 times their time."""
    found = texts(written(tmp_path / "nest", bundle, in_less_time(factor)), bundle)
    if factor < 1.1:
        assert found == []
        return
    runs = [line for _, line in lines_of(bundle)]
    assert len(found) == len(runs)
    for text, line in zip(found, runs, strict=True):
        assert f"simulate_cpu_s={line['simulate_cpu_s']:.4g}" in text
        assert f"simulate_s={line['simulate_s'] / factor:.4g}" in text


def test_runs_whose_processors_were_idle_are_remarks(tmp_path, bundle):
    """Times in ms are valid, as of a slow machine, and doubtful."""
    assert list(nest.doubts(written(tmp_path / "honest", bundle))) == []
    folder = written(tmp_path / "ms", bundle, in_less_time(1e-3))
    assert texts(folder, bundle) == []
    assert len(list(nest.doubts(folder))) == len(list(lines_of(bundle)))


@pytest.mark.parametrize("name", FORGED_ROWS)
def test_a_forged_table_is_caught(tmp_path, bundle, name):
    table, word = FORGED_ROWS[name]
    found = texts(written(tmp_path / "nest", bundle, table=table), bundle)
    assert found and all(word in text for text in found)


def test_a_row_without_its_run_is_refused(tmp_path, bundle):
    folder = written(tmp_path / "nest", bundle, table=lambda rows: rows[1:])
    with pytest.raises(BadInput) as refused:
        nest.collected(folder)
    assert refused.value.field == "runs"


def test_another_network_and_figures_of_their_own_are_caught(tmp_path, bundle):
    folder = written(tmp_path / "nest", bundle)
    stated = [nest.NestRun.model_validate(run) for run in nest.collected(folder)]
    better = stated[0].real_time_factor.model_copy(update={"value": 1.0})
    forged = [stated[0].model_copy(update={"real_time_factor": better}), *stated[1:]]
    (text,) = nest.findings(folder, bundle, bundle.tender.nest, forged, offered_nodes=8)
    assert "answer.json" in text
    network = json.loads((folder / nest.NETWORK).read_text())
    network["network"]["populations"][0]["size"] //= 2
    (folder / nest.NETWORK).write_text(json.dumps(network))
    (text,) = nest.findings(folder, bundle, bundle.tender.nest, stated, offered_nodes=8)
    assert nest.NETWORK in text and "populations.0.size" in text


def test_rules_name_the_program_and_the_runs_of_nest(bundle, honest):
    rules = (bundle.path / formats.RULES).read_text()
    assert bundle.tender.program in rules and "NEST 3.10" in rules
    without = (honest.bundle.path / formats.RULES).read_text()
    assert honest.bundle.tender.program in without and "nest/run.sh" not in without


def test_an_answer_without_the_runs_is_incomplete_and_one_with_them_is_shown(copy, tmp_path):
    """The bundle of the honest answer asks for runs of NEST, too."""
    tender = copy.folder / "bundle" / formats.TENDER
    content = json.loads(tender.read_text())
    content["nest"] = {"run": "bench-medium", "version": "3.10", "repetitions": 3, "spread": 0.2}
    tender.write_text(json.dumps(content))
    formats.write_manifest(copy.folder / "bundle")
    with copy.edit() as answer:
        answer["bundle_sha256"] = copy.bundle.sha256
    copy.seal()
    report, _ = check.check(copy.path, copy.bundle)
    assert report.verdict == check.INCOMPLETE
    folder = written(tmp_path / "runs", copy.bundle)
    nest.copy(folder, copy.path / nest.FOLDER)
    with copy.edit() as answer:
        answer["nest"] = nest.collected(folder)
    copy.seal()
    report, _ = check.check(copy.path, copy.bundle)
    assert report.findings == []
    compared = offers.compare([copy.path], copy.bundle)
    assert sum("NEST takes" in line for line in offers.lines(compared)) == len(LAYOUTS)


def test_a_folder_that_was_not_filled_is_refused(tmp_path, bundle):
    (tmp_path / "nest").mkdir()
    with pytest.raises(BadInput):
        nest.copy(tmp_path / "nest", tmp_path / "answer")


def held(bundle, factor, threads, tmp_path):
    """What is found of runs with this real-time factor on a node of jureca-dc, and remarked."""
    profile = tmp_path / "jureca-dc.yaml"
    profile.write_text((machines.folder() / "jureca-dc.yaml").read_text())
    figure = {"value": factor, "low": factor, "high": factor}
    layout = {"ranks": 2, "threads": threads, "nodes": 1}
    run = nest.NestRun.model_validate({"layout": layout, "repetitions": 3, formats.RTF: figure})
    answer = SimpleNamespace(profile=profile.name, nest=[run], runs=[])
    submission = SimpleNamespace(
        folder=tmp_path, bundle=bundle, tender=bundle.tender, known_answer=answer
    )
    return list(check._refuted(submission)), list(check._not_predicted(submission))


def test_runs_are_held_against_the_profile_that_is_projected(tmp_path, bundle):
    """JURECA-DC has 128 cores; NEST is predicted for as many threads."""
    machine = machines.filled(machines.load("jureca-dc"))
    layout = nest.NestRun.model_validate(
        {
            "layout": {"ranks": 2, "threads": 64, "nodes": 1},
            "repetitions": 3,
            formats.RTF: {"value": 1.0, "low": 1.0, "high": 1.0},
        }
    )
    low, high = nest.predicted(bundle, bundle.tender.nest, layout, machine)
    assert 0 < low < high
    assert held(bundle, (low * high) ** 0.5, 64, tmp_path) == ([], [])
    for wrong in (0.5 * low, 2 * high):
        (text,), remarks = held(bundle, wrong, 64, tmp_path)
        assert formats.RTF in text and remarks == []
    refuted, (remark,) = held(bundle, 0.5 * low, 32, tmp_path)
    assert refuted == [] and "threads=64" in remark
