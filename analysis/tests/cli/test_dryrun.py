"""`spikemark dryrun`, and the commands that take its folder: each says what was measured and what was not."""

import json

import dry_folder
import numpy as np
import pytest

from spikemark.records import dry_run
from spikemark.running.dry_run import show


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
    assert "update, measured (median of means) over modelled" in output
    content = json.loads(spikemark(*words, "--json")[1])
    assert content["modelled_by"] == "made-up"
    one, run = content["ranks"][0], dry_run.load(files["out"])
    usual = 1e6 * show.uninterrupted(run.rows[0].astype("f8"))[0]
    assert one["deliver_ratio"] == pytest.approx(usual / one["deliver_modelled_us"])
    other = json.loads(spikemark("predict", files["run"], "--machine", files["machine"], "--ranks", 8,
                                 "--threads", 1, "--ranks-per-node", 1, "--json")[1])  # fmt: skip
    mean = other["predictions"][0]["figures"]["update"]["value"] * 1e-4
    assert one["update_modelled_us"] == pytest.approx(1e6 * mean, rel=0.01)
    assert "threads=17: a node of made-up has 16 cores" in refusal(*words, "--threads", 17)


def test_few_long_cycles_and_cycles_without_work_do_not_move_a_ratio():
    rng = np.random.default_rng(1)
    times = np.stack([rng.poisson(0.5, 10_000) * 1e-6, rng.gamma(9, 1e-6, 10_000)], axis=1)
    long = rng.random(len(times)) < 0.003
    interrupted = times + 150e-6 * long[:, None]
    assert interrupted.mean(axis=0)[0] > 1.8 * times.mean(axis=0)[0]
    assert np.median(times[:, 0]) == 0
    assert show.uninterrupted(interrupted) == pytest.approx(times.mean(axis=0), rel=0.05)
    assert show.uninterrupted(times[:7]) == pytest.approx(times[:7].mean(axis=0))


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
