"""Predictions whose computing was measured by `spikemark dryrun`: what is measured, modelled, and refused."""

import json

import dry_folder
import pytest

from spikemark.prediction.measured import ALONE, OTHERWISE
from spikemark.prediction.predict import FIGURES
from spikemark.records import dry_run
from spikemark.records.phases import COMPUTE, THREADS


def predicted(spikemark, files, *more) -> dict:
    status, output, errors = spikemark("predict", "--machine", files["machine"], *more, "--json")
    assert status == 0, errors
    (found,) = json.loads(output)["predictions"]
    return found


def test_a_prediction_takes_computing_from_it_and_models_the_rest(spikemark, done):
    found = predicted(spikemark, done, "--compute-from", done["out"])
    run = dry_run.load(done["out"])
    means = run.times().mean(axis=(0, 1), dtype=float) / 1e-4
    for name, mean in zip(COMPUTE, means, strict=True):
        figure = found["figures"][name]
        assert figure["value"] == pytest.approx(mean)
        if name == THREADS:  # one thread waits for nobody, however long anything takes
            assert figure["value"] == 0
            continue
        assert figure["kind"] == "measured"
        assert figure["interval"][0] < mean < figure["interval"][1] or (name == THREADS and mean == 0)
    for name in ("waiting", "exchange", "real_time_factor"):
        assert found["figures"][name]["kind"] == "modelled"
    assert (found["ranks"], found["threads"]) == (8, 1)
    about = found["compute_from"]
    assert about["measured"] == [*COMPUTE] and about["modelled"] == ["waiting", "exchange"]
    named = predicted(spikemark, done, done["run"], "--ranks", 8, "--compute-from", done["out"])
    assert named == found
    parts = [found["figures"][name]["value"] for name in (*COMPUTE, "waiting", "exchange")]
    assert found["figures"]["real_time_factor"]["value"] == pytest.approx(sum(parts))


def test_its_table_says_which_numbers_were_measured(spikemark, done):
    _, output, _ = spikemark("predict", "--machine", done["machine"], "--compute-from", done["out"])
    for text in (
        "computing measured by a dry run, the rest modelled",
        "Delivery, update and collocation are measured. Waiting is modelled",
        "Exchange is modelled from the profile.",
        "3 of 8 ranks",
    ):
        assert text in " ".join(output.split())
    _, without, _ = spikemark("predict", done["run"], "--machine", done["machine"], "--ranks", 8)
    assert "dry run" not in without


def test_modelled_waiting_is_that_of_the_measured_cycles(spikemark, done):
    """Waiting for the slowest of eight ranks that scatter by 10 %, beside the barrier, within 5 %."""
    run = dry_run.load(done["out"])
    total = run.times().sum(axis=2)
    expected = float(total.max(axis=0).mean() - total.mean()) / 1e-4
    found = predicted(spikemark, done, "--compute-from", done["out"], "--ranks-per-node", 8)
    assert set(found["figures"]) == set(FIGURES)
    # a barrier takes about three latencies within the node, 1.2 us of a cycle of 100 us
    assert found["figures"]["waiting"]["value"] == pytest.approx(expected, rel=0.25)
    assert found["figures"]["waiting"]["value"] > expected


@pytest.mark.parametrize("schedule", ["structure_aware", "overlapped", "hierarchical"])
def test_every_schedule_takes_its_own_dry_run(spikemark, files, schedule):
    """Waiting at every tenth cycle is less than at each one; with a lag, exchange is hidden."""
    out, way = files["out"], ("--set", f"schedule={schedule}", "--set", "placement=area")
    together = ("--ranks-per-node", 8)
    assert spikemark("dryrun", files["run"], "--of", 8, "--sample", 8, "--out", out)[0] == 0
    usual = predicted(spikemark, files, "--compute-from", out, *together)["figures"]
    other = out.with_name(schedule)
    assert spikemark("dryrun", files["run"], "--of", 8, "--sample", 3, "--out", other, *way)[0] == 0
    found = predicted(spikemark, files, "--compute-from", other, *together)
    assert found["schedule"] == schedule and found["delay_ratio"] == 10
    assert 0 < found["figures"]["waiting"]["value"] < usual["waiting"]["value"]
    assert (found["figures"]["exchange"]["value"] == 0) is (schedule == "overlapped")
    assert found["figures"]["deliver"]["value"] == pytest.approx(usual["deliver"]["value"], rel=0.05)


def test_one_rank_alone_neither_waits_nor_is_uncertain_by_sampling(spikemark, files):
    assert spikemark("dryrun", files["run"], "--of", 1, "--out", files["out"])[0] == 0
    found = predicted(spikemark, files, "--compute-from", files["out"])["figures"]
    assert found["waiting"]["value"] == found["exchange"]["value"] == 0
    assert found["deliver"]["kind"] == "measured"


def test_fewer_sampled_ranks_widen_the_interval(spikemark, files):
    """With the same ranks, from all to one, on a quiet machine."""
    width, kinds = [], []
    for number in (8, 2, 1):
        out = files["out"].with_name(f"of-{number}")
        assert spikemark("dryrun", files["run"], "--of", 8, "--sample", number, "--out", out)[0] == 0
        figure = predicted(spikemark, files, "--compute-from", out)["figures"]["deliver"]
        low, high = figure["interval"]
        width.append((high - low) / figure["value"])
        kinds.append(figure["kind"])
    assert width == sorted(width) and width[0] == pytest.approx(2 * OTHERWISE, rel=1e-6)
    assert kinds == ["measured", "measured", "assumed"], "one rank does not show how ranks differ"


def test_other_programs_widen_the_interval_upwards(spikemark, files):
    """By what ranks may compute longer together than alone, also where their load is not known."""
    assert spikemark("dryrun", files["run"], "--of", 8, "--sample", 8, "--out", files["out"])[0] == 0
    about = files["out"] / "dryrun.json"
    content, upper = json.loads(about.read_text()), []
    for load in (0.0, 0.05, 1.2, None):
        about.write_text(json.dumps(content | {"foreign_load": load}))
        figure = predicted(spikemark, files, "--compute-from", files["out"])["figures"]["deliver"]
        upper.append(figure["interval"][1] / figure["value"] - 1)
    assert upper == pytest.approx([OTHERWISE, OTHERWISE, ALONE, ALONE])


def test_a_sample_that_came_out_otherwise_widens_the_waiting(spikemark, files, monkeypatch):
    """Ranks that differ lastingly: which of them was sampled matters for the slowest."""
    dry_folder.in_process(monkeypatch, rank_sd=0.3)
    out = files["out"]
    assert spikemark("dryrun", files["run"], "--of", 8, "--sample", 4, "--out", out)[0] == 0
    assert (
        "dry_run.sample"
        in predicted(spikemark, files, "--compute-from", out)["figures"]["waiting"]["depends"]
    )


OTHER = {
    "--ranks 4": "ranks=4: the dry run in {out} has 8",
    "--threads 2": "threads=2: the dry run in {out} has 1",
    "--schedule structure_aware": "schedule=structure_aware: the dry run in {out} has conventional",
    "--placement area": "placement=area: the dry run in {out} has round_robin",
    "--run {other}": "network: not that of the dry run in {out}",
    "--simulator nest": "simulator=nest: a dry run has times of the mini-app",
    "--compute-from {parent}": "compute_from={parent}: has no dryrun.json; allowed: a folder that",
    "--compute-from {parent}/nowhere": "has no dryrun.json",
}


@pytest.mark.parametrize("more", OTHER)
def test_a_dry_run_of_something_else_is_refused(refusal, done, more):
    other = done["run"].with_name("other.json")
    description = dry_folder.description()
    description["network"]["projections"][0]["indegree"] = 3
    other.write_text(json.dumps(description))
    known = {"out": done["out"], "other": other, "parent": done["out"].parent}
    words = ["predict", "--machine", done["machine"], "--compute-from", done["out"]]
    line = refusal(*words, *more.format(**known).split())
    assert OTHER[more].format(**known) in line


def test_the_option_is_for_predictions_on_a_machine(refusal, done):
    assert "only with --machine" in refusal("predict", done["out"], "--compute-from", done["out"])
