"""`spikemark diff`: exit statuses, the same answer as text, JSON and page, and refusals in one line."""

import json

import pytest
from compared import run, sweep
from html_page import Page

from spikemark.core.errors import BadInput
from spikemark.diff import compare

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Sweeps by how much slower they are than the first one."""
    folder = tmp_path_factory.mktemp("results")
    steps = {"first": 1.0, "same": 1.0, "slower": 1.1, "faster": 0.9, "bit": 1.04}
    return {
        name: sweep(folder / name, slower, 0.005, seed=n) for n, (name, slower) in enumerate(steps.items())
    }


DECISIONS = {
    ("same", "5%"): (0, compare.PASS),
    ("slower", "5%"): (1, compare.FAIL),
    ("slower", "20%"): (0, compare.PASS),
    ("faster", "0%"): (0, compare.PASS),
    ("bit", "4%"): (0, compare.INCONCLUSIVE),
}


@pytest.mark.parametrize(("second", "limit"), DECISIONS)
def test_the_exit_status_follows_what_is_sure(spikemark, results, second, limit):
    status, state = DECISIONS[second, limit]
    found, output, _ = spikemark("diff", results["first"], results[second], "--fail-above", limit)
    assert found == status and len(output.splitlines()) <= 24
    found, output, _ = spikemark("diff", results["first"], results[second], "--fail-above", limit, "--json")
    assert found == status and json.loads(output)["fail_above"]["state"] == state
    assert spikemark("diff", results["first"], results[second])[0] == 0


def test_other_limits_are_refused():
    for text in ("5", "0.05", "-5%", ""):
        with pytest.raises(BadInput, match="--fail-above="):
            compare.limit(text)
    assert compare.limit(" 5 % ") == pytest.approx(0.05) and compare.limit("2.5%") == pytest.approx(0.025)


def test_bad_input_is_one_line(refusal, tmp_path):
    one = run(tmp_path / "a")
    assert "--fail-above='5'" in refusal("diff", one, one, "--fail-above", "5")
    assert "--html" in refusal("diff", one, one, "--html", tmp_path)
    assert "no synthetic.jsonl" in refusal("diff", one, run(tmp_path / "b"), "--history", tmp_path)
    other = run(tmp_path / "c", seed=2)
    assert "seed=2" in refusal("diff", one, other)


HOSTILE = "</style></svg><script>alert(1)</script><img src=x onerror='alert(1)'>\"&lt;$x^2$"


def test_names_in_records_are_words_on_the_page(tmp_path, spikemark):
    pages = []
    for kind, name in (("plain", "x"), ("hostile", HOSTILE)):
        about = {"host__cpu": name, "host__name": name, "provenance__compiler": name}
        sides = [run(tmp_path / kind / x, mean_s=1e-4, **about, provenance__version=name + x) for x in "ab"]
        assert spikemark("diff", *sides, "--html", tmp_path / kind / "page.html")[0] == 0
        pages.append(Page((tmp_path / kind / "page.html").read_text()))
    allowed, found = pages
    assert found.loads == [] and set(found.tags) <= set(allowed.tags)
    assert found.tags.count("script") == allowed.tags.count("script") <= 1 and "alert(1)" in found.text
