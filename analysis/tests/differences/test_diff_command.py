"""`spikemark diff`: exit statuses, the same answer as text, JSON and page, and refusals in one line."""

import json

import pytest
from compared import run, sweep
from html_page import Page

from spikemark.core.errors import BadInput
from spikemark.differences import gate


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Sweeps by how much slower they are than the first one."""
    folder = tmp_path_factory.mktemp("results")
    steps = {"first": 1.0, "same": 1.0, "slower": 1.1, "faster": 0.9, "bit": 1.04}
    return {
        name: sweep(folder / name, slower, 0.005, seed=n) for n, (name, slower) in enumerate(steps.items())
    }


DECISIONS = {
    ("same", "5%"): (0, "Passes: surely at most"),
    ("slower", "5%"): (1, "Fails: surely more than"),
    ("slower", "20%"): (0, "Passes: surely at most"),
    ("faster", "0%"): (0, "Passes: surely at most"),
    ("bit", "4%"): (0, "Passes, but not surely"),
}


@pytest.mark.parametrize(("second", "limit"), DECISIONS)
def test_the_exit_status_follows_what_is_sure(spikemark, results, second, limit):
    status, words = DECISIONS[second, limit]
    found, output, _ = spikemark("diff", results["first"], results[second], "--fail-above", limit)
    assert found == status and words in output
    found, output, _ = spikemark("diff", results["first"], results[second], "--fail-above", limit, "--json")
    assert found == status and words in json.loads(output)["fail_above"]["sentence"]
    assert spikemark("diff", results["first"], results[second])[0] == 0


def test_people_and_programs_see_the_same(spikemark, results, undrawn, tmp_path):
    page = tmp_path / "page.html"
    _, output, errors = spikemark("diff", results["first"], results["slower"], "--html", page)
    content = json.loads(spikemark("diff", results["first"], results["slower"], "--json")[1])
    assert errors == ""
    assert content["sentence"] in output and content["sentence"] in Page(page.read_text()).text
    assert content["sentence"].startswith("B is slower than A: +")
    (setup,) = content["setups"]
    low, high = setup["change"]["interval"]
    assert low < 0.1 < high and setup["verdict"] == "slower"
    for name in setup["parts"]:
        if setup["parts"][name]["first_s"] > 1e-10:
            assert name.rpartition(".")[2] in output


def test_disturbed_runs_never_fail(spikemark, tmp_path):
    busy = {"warnings": ["foreign load: other processes kept 0.90 cores busy"]}
    first, second = sweep(tmp_path / "a"), sweep(tmp_path / "b", 2.0, overrides=busy)
    status, output, errors = spikemark("diff", first, second, "--fail-above", "5%")
    assert status == 0 and "Nothing can be judged" in output and "no interval" in output
    assert "not judged" in errors and "foreign load" in errors


def test_several_setups_are_listed_and_the_worst_is_named(spikemark, undrawn, tmp_path):
    grid = {"grid": [{"schedule": ["conventional", "structure_aware"], "delay_ratio": 10}]}
    first, second = sweep(tmp_path / "a", **grid), sweep(tmp_path / "b", 1.2, **grid)
    page = tmp_path / "page.html"
    status, output, _ = spikemark("diff", first, second, "--fail-above", "5%", "--html", page)
    assert status == 1 and "Fails: surely more than" in Page(page.read_text()).text
    assert "Over 2 setups" in output and "Surely slower: 2" in output and "Bonferroni" in output
    assert "structure_aware" in output and gate.OVERALL in output


LIMITS = ["5", "0.05", "five %", "-5%", "5%%", "1e3%", ""]


@pytest.mark.parametrize("text", LIMITS)
def test_other_limits_are_refused(text):
    with pytest.raises(BadInput, match="--fail-above="):
        gate.limit(text)
    assert gate.limit("5%") == gate.limit(" 5 % ") == pytest.approx(0.05)
    assert gate.limit("2.5%") == pytest.approx(0.025)


def test_bad_input_is_one_line(refusal, tmp_path):
    one = run(tmp_path / "a")
    assert "given twice" in refusal("diff", one, one)
    assert "nothing to compare" in refusal("diff", one, tmp_path)
    assert "--fail-above='5'" in refusal("diff", one, one, "--fail-above", "5")
    assert "--html" in refusal("diff", one, one, "--html", tmp_path)
    assert "no history is there" in refusal("diff", one, run(tmp_path / "b"), "--history", tmp_path)
    other = run(tmp_path / "c", seed=2)
    assert "seed=2" in refusal("diff", one, other)
