"""`spikemark dryrun`, and the commands that take its folder: each says what was measured and what was not."""

import json

import dry_folder
import machine_file
import numpy as np
import pytest

from spikemark.prediction.measured import ALONE
from spikemark.prediction.predict import FIGURES
from spikemark.records import dry_run
from spikemark.records.phases import COMPUTE, THREADS


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A network, a machine whose every value is known, and the dry run of three of eight ranks."""
    run, profile = tmp_path / "run.json", tmp_path / "made-up.yaml"
    run.write_text(json.dumps(dry_folder.description()))
    machine_file.write(profile)
    dry_folder.in_process(monkeypatch, rank_sd=0.02)
    return {"run": run, "machine": profile, "out": tmp_path / "out"}


@pytest.fixture
def done(files, spikemark):
    assert spikemark("dryrun", files["run"], "--of", 8, "--sample", 3, "--out", files["out"])[0] == 0
    return files


def test_the_table_says_what_is_measured_and_that_waiting_is_null(spikemark, files):
    words = ("dryrun", files["run"], "--of", 8, "--sample", 3, "--out", files["out"])
    status, output, errors = spikemark(*words)
    assert status == 0 and "[3/3] rank 7 of 8" in errors
    for text in (
        "Dry run of 3 of 8 ranks",
        "delivery (µs per cycle) (measured)",
        "synapses (counted)",
        "null",
    ):
        assert text in output
    assert "Not known (null): waiting, exchange and the real-time factor, since each rank ran alone" in output
    assert "measured on 3; the other ranks take whole rows" in output and str(files["out"]) in output
    content = json.loads(spikemark(*words, "--json")[1])
    assert content["waiting_us"] is None is content["ranks"][0]["exchange_us"]
    assert content["null"]["waiting"] and content["kinds"]["deliver"] == "measured"
    assert [one["rank"] for one in content["ranks"]] == dry_run.load(files["out"]).timed.tolist()
    low, high = content["mean_over_all_ranks_us"]["compute"]["interval"]
    assert low < content["mean_over_all_ranks_us"]["compute"]["value"] < high


def test_one_rank_has_no_interval_and_says_why(spikemark, files):
    _, output, _ = spikemark("dryrun", files["run"], "--of", 8, "--out", files["out"])
    assert "One rank does not show how ranks differ: --sample 2 or more gives an interval." in output
    assert "sampled as" in output and "one of equals" in output


def test_more_ranks_than_cores_are_warned_of(spikemark, files, monkeypatch):
    words = ("dryrun", files["run"], "--of", 8, "--ranks-here", 3, "--threads", 2, "--out", files["out"])
    _, output, errors = spikemark(*words)
    said = "oversubscribed: 3 ranks with 2 threads each share 1 core; times are too long"
    assert f"warning: {said}" in errors and said in output
    assert said in spikemark("fit", files["out"])[2], "whoever uses the times hears of it"


def test_a_profile_is_set_beside_what_was_measured(spikemark, files, refusal):
    words = ("dryrun", files["run"], "--of", 8, "--sample", 2, "--out", files["out"])
    words += ("--machine", files["machine"])
    status, output, errors = spikemark(*words)
    assert status == 0, errors
    assert "delivery by made-up (µs per cycle) (modelled)" in output
    assert "update, measured (median cycle) over modelled" in output
    content = json.loads(spikemark(*words, "--json")[1])
    assert content["modelled_by"] == "made-up"
    one, run = content["ranks"][0], dry_run.load(files["out"])
    median = 1e6 * np.median(run.rows[0, :, 0])
    assert one["deliver_ratio"] == pytest.approx(median / one["deliver_modelled_us"])
    other = json.loads(spikemark("predict", files["run"], "--machine", files["machine"], "--ranks", 8,
                                 "--threads", 1, "--ranks-per-node", 1, "--json")[1])  # fmt: skip
    mean = other["predictions"][0]["figures"]["update"]["value"] * 1e-4
    assert one["update_modelled_us"] == pytest.approx(1e6 * mean, rel=0.01)
    assert "threads=17: a node of made-up has 16 cores" in refusal(*words, "--threads", 17)


BAD = {
    "--of 2 --sample 3": "sample=3; allowed: 1 to 2, the ranks of --of",
    "--of 2 --ranks-here 3": "ranks_here=3; allowed: 1 to 2, the ranks of --of",
    "--of 8 --rate 3": "rate=3: all spikes are known exactly; allowed only for other neurons",
    "--of 0": "--of='0'; allowed: greater than or equal to 1",
    "--of 8 --set schedule=fast": "schedule='fast'",
    "--of 8 --set nothing": "--set nothing: allowed is FIELD=VALUE",
    "": "Missing option '--of'",
}


@pytest.mark.parametrize("more", BAD)
def test_bad_input_is_one_line_and_nothing_is_left(refusal, files, more):
    before = set(files["run"].parent.iterdir())
    line = refusal("dryrun", files["run"], "--out", files["out"], *more.split())
    assert BAD[more] in line and set(files["run"].parent.iterdir()) == before


def test_without_the_mini_app_it_says_how_to_build_it(refusal, tmp_path, monkeypatch):
    run = tmp_path / "run.json"
    run.write_text(json.dumps(dry_folder.description()))
    monkeypatch.setenv("SPIKEMARK_MINIAPP", str(tmp_path / "none"))
    assert "is not an executable file" in refusal("dryrun", run, "--of", 8, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_fit_takes_the_folder_as_all_ranks(spikemark, done):
    status, output, errors = spikemark("fit", done["out"])
    assert status == 0 and "8 ranks, 400 cycles" in output
    assert (
        "measured by a dry run of 3 of 8 ranks" in errors and "waiting and exchange were not meas" in errors
    )
    content = json.loads(spikemark("fit", done["out"], "--json")[1])
    assert content["mean_s"]["value"] == pytest.approx(50e-6, rel=0.1)
    assert any("measured by a dry run of 3 of 8 ranks" in line for line in content["warnings"])
    timed = dry_run.load(done["out"]).timed
    kinds = [effect["kind"] for effect in content["rank_effects_s"]]
    assert kinds == ["measured" if rank in timed else "modelled" for rank in range(8)]
    assert "rank 1, with times of rank " in output


def test_the_page_says_which_is_which(spikemark, done):
    status, _, _ = spikemark("report", done["out"])
    page = (done["out"] / dry_run.PAGE).read_text()
    assert status == 0 and "a dry run of the mini-app" in page
    assert "computing was measured by a dry run of 3 of 8 ranks" in page
    assert "waiting and exchange were not measured" in page
    status, *_ = spikemark("dryrun", done["run"], "--of", 8, "--sample", 3, "--out", done["out"])
    assert status == 0, "the page is no foreign file"


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
    assert width == sorted(width) and width[0] == pytest.approx(0.1 + 0.1, rel=1e-6)
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
    assert upper == pytest.approx([0.1, 0.1, ALONE, ALONE])


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


@pytest.mark.slow
def test_the_started_program_gets_rank_of_rate_and_cores(spikemark, tmp_path, monkeypatch):
    """A stand-in for the mini-app, started as a process, with neurons whose spikes have to be drawn."""
    from dry_record import program

    run = dry_folder.description()
    monkeypatch.setenv("SPIKEMARK_MINIAPP", str(program(tmp_path / "miniapp")))
    for population in run["network"]["populations"]:
        population["neuron"] = {"model": "lif_delta"}
    file, out = tmp_path / "run.json", tmp_path / "out"
    file.write_text(json.dumps(run))
    status, output, errors = spikemark(
        "dryrun", file, "--of", 8, "--rate", 2.5, "--ranks-here", 2, "--out", out
    )
    assert status == 0, errors
    assert "The spikes that arrive were drawn; rates: given: 2.5 Hz." in output
    found = dry_run.load(out)
    assert found.about.rate_hz == 2.5 and len(found.timed) == 2
    assert "the spikes of other ranks were drawn" in spikemark("fit", out)[2]
    monkeypatch.setenv("SPIKEMARK_MINIAPP", str(program(tmp_path / "refusing", refuse=0)))
    status, _, errors = spikemark("dryrun", file, "--of", 8, "--rate", 2.5, "--out", tmp_path / "no")
    assert status == 2 and "a word cannot name so many lists; allowed: D up to 5" in errors
    assert not (tmp_path / "no").exists()
    monkeypatch.setenv("SPIKEMARK_MINIAPP", str(program(tmp_path / "failing", fail=0)))
    status, _, errors = spikemark("dryrun", file, "--of", 8, "--rate", 2.5, "--out", tmp_path / "no")
    assert status == 1 and "dry run failed: rank 0: miniapp: the disk is full" in errors
