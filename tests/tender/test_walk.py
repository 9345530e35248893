"""The whole tender once, with all of its commands, as buyer and as bidder."""

import json
import re
import shlex
from pathlib import Path

import proposed
import pytest
import swept
from checkout import ROOT

from spikemark.running import sweeps
from spikemark_tender import formats, new, source

SMALL = ("--quick", "--commit", "HEAD", "--node-memory", "0.01", "--minimum", "0.02")


@pytest.mark.slow
def test_a_buyer_and_a_bidder_go_through_the_procedure(spikemark, tmp_path, monkeypatch):
    monkeypatch.setattr(new, "MEMORY_SHARES", {"small": 0.1})
    monkeypatch.setattr(source, "differing", lambda packed, root: [])
    monkeypatch.setattr(sweeps, "_snakemake", swept.carried_out_here)
    monkeypatch.chdir(tmp_path)  # all folders are given relative to it
    bundle, work, answer, acceptance = map(Path, ("bundle", "work", "answer", "acceptance"))
    secret = Path("bundle.secret.json")
    steps = [
        ("new", bundle, *SMALL),
        ("accept", bundle, secret, "--prepare", "--work", acceptance),
        (
            "run",
            bundle,
            "--work",
            work,
            "--category",
            "optimised",
            "--set",
            "schedule=structure_aware",
        ),
        ("run", bundle, "--work", work, "--category", "optimised"),  # nothing is left to do
        (
            "answer",
            bundle,
            "--work",
            work,
            "--out",
            answer,
            "--bidder",
            "Ada",
            "--system",
            "x",
            "--nodes",
            2,
            "--machine",
            "epyc-vm",
            "--ranks",
            4,
            "--ranks-per-node",
            2,
            "--price",
            1000,
        ),
        ("check", answer, "--bundle", bundle),
        ("offers", answer, "--bundle", bundle),
        ("accept", bundle, secret, "--answer", answer, "--work", acceptance, "--tolerance", 10),
        ("statistics", answer),
        ("statistics", work),
    ]
    for step in steps:
        status, output, errors = spikemark("tender", *step, "--json")
        assert status == 0, (step, output, errors)
        assert "simulate_ms" not in errors  # the rules say how long runs last
        assert output.startswith("{"), (step, output)
        assert json.loads(output)["format"] == f"tender-{step[0]}-answer"
    found = formats.read_answer(answer)
    assert {p.figure for p in found.projected} >= {
        "real_time_factor"
    } and found.category == "optimised"
    accepted = json.loads((acceptance / "acceptance.json").read_text())
    assert accepted["set"] == {"schedule": "structure_aware"} and accepted["accepted"]
    assert accepted["layout"]["ranks"] == found.run("bench-small").layout.ranks
    prepared = acceptance / "prepared"
    records = [p for p in acceptance.rglob("record.json") if prepared not in p.parents]
    assert len(records) == accepted["repetitions"]


PAGE = (ROOT / "docs" / "tender.md").read_text()


@pytest.mark.nightly
def test_the_first_steps_of_the_page(spikemark, tmp_path, monkeypatch):
    """Each command up to `As buyer`, as it stands there, of sources that need not be committed."""
    monkeypatch.setattr(new, "MEMORY_SHARES", {"small": 0.1})
    monkeypatch.setattr(source, "differing", lambda packed, root: [])
    monkeypatch.chdir(tmp_path)
    steps = re.findall(r"^    spikemark (tender .*)$", PAGE[: PAGE.index("## As buyer")], re.M)
    assert len(steps) == 7
    for step in steps:
        words = shlex.split(step)
        if words[1] == "new":
            words += ["--commit", "HEAD"]
        status, output, errors = spikemark(*words)
        compares = (
            words[1] == "accept" and "--prepare" not in words
        )  # two times, which may differ by more
        assert status == 0 or (compares and "ACCEPTED" in output), (step, output, errors)
        for proposal in proposed.in_text(output):
            assert proposed.complaint(proposal) is None, output
    assert (
        spikemark(
            "tender",
            "answer",
            "small",
            "--work",
            "work",
            "--bidder",
            "Ada",
            "--system",
            "x",
            "--nodes",
            "1",
            "--machine",
            "epyc-vm",
            "--ranks",
            "2",
            "--threads",
            "2",
        )[2].count("2 ranks x 2 threads")
        == 1
    )
