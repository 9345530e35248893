"""`spikemark dryrun`, and the commands that take its folder: each says what was measured and what
was not.
"""

import json

import dry_folder
import pytest

from spikemark.records import dry_run


def test_the_table_says_what_is_measured_and_that_waiting_is_null(spikemark, files):
    words = ("dryrun", files["run"], "--of", 8, "--sample", 3, "--out", files["out"])
    status, output, errors = spikemark(*words)
    assert status == 0 and "[3/3] rank 7 of 8" in errors and str(files["out"]) in output
    for text in ("delivery (µs per cycle) (measured)", "synapses (counted)", "Not known: waiting"):
        assert text in output
    content = json.loads(spikemark(*words, "--json")[1])
    assert content["waiting_us"] is None is content["exchange_us"]
    assert [row["rank"] for row in content["ranks"]] == dry_run.load_dry_run(
        files["out"]
    ).timed.tolist()
    low, high = content["mean_over_all_ranks_us"]["interval"]
    assert low < content["mean_over_all_ranks_us"]["value"] < high


BAD = {
    "--of 2 --sample 3": "sample=3; ",
    "--of 2 --ranks-here 3": "ranks-here=3; ",
    "--of 8 --rate 3": "rate=3.0; ",
    "--of 0": "--of='0'; ",
    "--of 8 --set schedule=fast": "schedule='fast'",
    "--of 8 --set nothing": "set='nothing'; ",
    "": "Missing option '--of'",
}


@pytest.mark.parametrize("more", BAD)
def test_bad_input_is_one_line_and_nothing_is_left(refusal, files, more):
    before = set(files["run"].parent.iterdir())
    line = refusal("dryrun", files["run"], "--out", files["out"], *more.split())
    assert BAD[more] in line and set(files["run"].parent.iterdir()) == before


@pytest.mark.slow
def test_the_started_program_gets_rank_of_rate_and_cores(spikemark, tmp_path, monkeypatch):
    """A stand-in for the mini-app, started as a process, with neurons whose spikes have to be
    drawn.
    """
    from dry_folder import program

    description = dry_folder.description()
    monkeypatch.setenv("SPIKEMARK_MINIAPP", str(program(tmp_path / "miniapp")))
    for population in description["network"]["populations"]:
        population["neuron"] = {"model": "lif_delta"}
    file, out = tmp_path / "run.json", tmp_path / "out"
    file.write_text(json.dumps(description))
    words = ("dryrun", file, "--of", 8, "--rate", 2.5, "--out")
    status, output, errors = spikemark(*words, out, "--ranks-here", 2)
    assert status == 0, errors
    assert "The spikes that arrive were drawn; rates: given: 2.5 Hz." in output
    run = dry_run.load_dry_run(out)
    assert run.alone.rate_hz == 2.5 and len(run.timed) == 2
    assert "the spikes of other ranks were drawn" in spikemark("waiting", out)[2]
    for how, wanted, why in (
        ({"refuse": 0}, 2, "a word cannot name so many lists; allowed: D up to 5"),
        ({"fail": 0}, 1, "dry run failed: rank 0: miniapp: the disk is full"),
    ):
        assert not (tmp_path / "no").exists()
        monkeypatch.setenv("SPIKEMARK_MINIAPP", str(program(tmp_path / f"ends-{wanted}", **how)))
        status, _, errors = spikemark(*words, tmp_path / "no")
        assert status == wanted and why in errors
