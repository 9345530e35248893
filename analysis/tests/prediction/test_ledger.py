"""The ledger: predictions are frozen before their runs, changes are found, and records are matched."""

import itertools
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from predicted import content
from synthetic import write_run

from spikemark.core.errors import BadInput
from spikemark.prediction.ledger import chain, entry, same_run, show
from spikemark.prediction.ledger.score import GROUPS, VERDICTS, binomial, score
from spikemark.records import record

LATER = "2030-01-01T00:00:00Z"


@pytest.fixture
def planned(tmp_path):
    """A run in a folder of its own, as the source of descriptions; predictions are of others like it."""
    return record.load(write_run(tmp_path / "base", ranks=2, cycles=200))


@pytest.fixture
def ledger(tmp_path, planned, monkeypatch):
    """Four predictions of one run, frozen a second apart in the past; the second one is far off."""
    path = tmp_path / "ledger.jsonl"
    start = datetime(2029, 1, 1, tzinfo=UTC)
    for second, factor in enumerate((1.0, 3.0, 1.001, 1.002)):
        monkeypatch.setattr(entry, "now", lambda at=start + timedelta(seconds=second): at)
        chain.add(path, [content(planned, factor)])
    monkeypatch.setattr(entry, "now", lambda: start + timedelta(days=9999))
    return path


def _results(tmp_path, planned, started: str = LATER, name: str = "results"):
    description = planned.record.description
    write_run(
        tmp_path / name / "run", ranks=2, cycles=200, description=description, provenance__started=started
    )
    return tmp_path / name


def _lines(path) -> list[dict]:
    return [json.loads(text) for text in path.read_text().splitlines()]


def _write(path, contents) -> None:
    path.write_text("".join(map(entry.line, contents)))


def test_intervals_that_held_and_missed_are_told_apart_failures_first(ledger, tmp_path, planned):
    made = score(chain.read(ledger), [_results(tmp_path, planned)])
    assert [one.verdict for one in made.failures_first] == ["missed", "held", "held", "held"]
    assert made.failures_first[0].entry.number == 2 and made.failures_first[0].error == pytest.approx(2.0)
    assert (made.rate.held, made.rate.of) == (3, 4) and not made.complaints
    for _, of in GROUPS.values():
        assert sum(rate.of for rate in made.rates(of).values()) == 4


def test_what_has_no_record_is_counted_and_not_hidden(ledger, tmp_path):
    (tmp_path / "results").mkdir()
    made = score(chain.read(ledger), [tmp_path / "results"])
    assert made.count("not scored") == 4 and made.rate.of == 0
    assert "not scored: 4 numbers" in show.lines(made)[0] and len(show.table(made).rows) == 4
    assert set(show.content(made)["verdicts"]) == set(VERDICTS)


def test_a_run_that_is_older_than_its_prediction_is_named_and_does_not_count(ledger, tmp_path, planned):
    made = score(chain.read(ledger), [_results(tmp_path, planned, "2028-12-31T23:59:59Z")])
    assert made.count("not valid") == 4 and made.rate.of == 0
    assert "before the prediction was frozen" in made.complaints[0]


def _edited(lines):
    lines[1]["figures"]["real_time_factor"]["high"] *= 10


def _edited_with_its_digest(lines):
    _edited(lines)
    lines[1]["sha256"] = entry.own_digest(lines[1])


def _edited_run(lines):
    lines[1]["run"]["ranks"] = 4
    lines[1]["sha256"] = entry.own_digest(lines[1])


def _backdated(lines):
    lines[1]["frozen"] = "2020-01-01T00:00:00Z"
    for before, one in itertools.pairwise(lines):
        one["previous"] = before["sha256"]
        one["sha256"] = entry.own_digest(one)


def _in_the_future(lines):
    lines[3]["frozen"] = "9999-01-01T00:00:00Z"
    lines[3]["sha256"] = entry.own_digest(lines[3])


#: What is done to the lines -> what is said, and which entry no longer counts (None: another one is gone).
TAMPERED = {
    _edited: ("entry 2: edited", 2),
    _edited_with_its_digest: ("entry 2: edited", 2),
    _edited_run: ("entry 2: edited", 2),
    _backdated: ("entry 2: backdated", 2),
    _in_the_future: ("entry 4: dated in the future", 4),
    lambda lines: lines.pop(1): ("entry 2 was deleted", None),
    lambda lines: [lines.pop(0), lines.pop(0)]: ("entries 1 to 2 were deleted", None),
    lambda lines: lines.insert(0, lines.pop()): ("deleted", None),
    lambda lines: lines.append(lines[0]): ("moved, repeated or renumbered", None),
}


@pytest.mark.parametrize("tamper", TAMPERED, ids=range(len(TAMPERED)))
def test_tampering_is_named_and_nothing_is_added_to_such_a_ledger(tamper, ledger, tmp_path, planned):
    said, number = TAMPERED[tamper]
    lines = _lines(ledger)
    tamper(lines)
    _write(ledger, lines)
    found = chain.read(ledger)
    assert any(said in text for text in found.complaints) and not found.whole
    made = score(found, [_results(tmp_path, planned)])
    assert {one.entry.number for one in made.scores if one.verdict == "not valid"} >= {number} - {None}
    with pytest.raises(BadInput, match="nothing is added"):
        chain.add(ledger, [content(planned)])


@pytest.mark.parametrize("kind", ["a FIFO", "a device", "a folder", "in no folder"])
def test_a_ledger_is_a_regular_file(tmp_path, planned, kind):
    """Reading a FIFO would wait for ever, and what a device gets is lost."""
    path = {"a device": Path(os.devnull), "in no folder": tmp_path / "none" / "x"}.get(kind, tmp_path / "x")
    if kind in ("a FIFO", "a folder"):
        (os.mkfifo if kind == "a FIFO" else os.mkdir)(path)
    with pytest.raises(BadInput, match="allowed: a regular file, or none yet"):
        chain.add(path, [content(planned)])


def test_only_a_noted_digest_shows_that_the_end_was_cut(ledger):
    head, lines = chain.read(ledger).head, _lines(ledger)
    _write(ledger, lines[:-1])
    found = chain.read(ledger)
    assert found.whole and "cut or rewritten" in found.noted(head)
    assert found.noted(lines[2]["sha256"]) is None


#: How the record of another run differs.
OTHERS = {
    "schedule": {"schedule": "structure_aware"},
    "seed": {"seed": 2},
    "ranks": {"ranks": 4},
    "threads": {"threads": 2},
    "placement": {"placement": "area"},
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_record_of_another_configuration_is_not_taken_for_the_run(what, planned, tmp_path):
    about = content(planned)["run"]
    given = {"ranks": 2, "cycles": 200, "description": planned.record.description, **OTHERS[what]}
    assert same_run.other(about, record.load(write_run(tmp_path / "other", **given)))
    assert same_run.other(about, planned) is None


def test_how_long_a_run_is_and_what_it_records_does_not_matter(planned, tmp_path):
    description = planned.record.description | {"record": {"spikes": False, "barrier": True}}
    longer = write_run(tmp_path / "longer", ranks=2, cycles=300, description=description)
    assert same_run.other(content(planned)["run"], record.load(longer)) is None


@pytest.mark.parametrize("held, of", [(0, 10), (3, 10), (10, 10), (57, 60)])
def test_binomial_limits_are_those_at_which_the_tail_has_two_and_a_half_per_cent(held, of):
    from scipy.stats import binom

    low, high = binomial(held, of)
    assert low == 0 if held == 0 else binom.sf(held - 1, of, low) == pytest.approx(0.025)
    assert high == 1 if held == of else binom.cdf(held, of, high) == pytest.approx(0.025)


def test_commands_freeze_refuse_and_score(tmp_path, planned, spikemark, refusal):
    """From the JSON of `predict` over the refusal of a run that exists to the page."""
    results, ledger = tmp_path / "results", tmp_path / "mine.jsonl"
    results.mkdir()
    asked = ("--schedule", "structure_aware", "--delay-ratio", 10, "--json")
    (tmp_path / "p.json").write_text(spikemark("predict", planned.path, *asked)[1])
    words = ("ledger", "add", ledger, tmp_path / "p.json", "--results", results, "--asked", "schedule")
    assert "of: missing" in refusal(*words) and not ledger.exists()
    status, output, errors = spikemark(*words, "--of", planned.path, "--method", "replay")
    assert (status, errors) == (0, "") and "entry 1, frozen" in output
    assert "allowed: network" in refusal(*words[:-1], "nothing", "--of", planned.path)
    assert "method='magic'" in refusal(*words, "--of", planned.path, "--method", "magic")
    before = ledger.read_bytes()
    (tmp_path / "copy.json").write_bytes((tmp_path / "p.json").read_bytes() + b"\n")
    again = [tmp_path / "copy.json" if word == tmp_path / "p.json" else word for word in words]
    status, output, errors = spikemark(*again, "--of", planned.path, "--method", "replay")
    assert (status, errors) == (0, "") and "entry 1, frozen" in output and ledger.read_bytes() == before
    run = {
        "ranks": 2,
        "cycles": 200,
        "description": planned.record.description,
        "schedule": "structure_aware",
    }
    write_run(results / "run", **run, provenance__started=LATER)
    assert "the run exists already" in refusal(*words, "--of", planned.path)
    page = tmp_path / "page.html"
    status, output, errors = spikemark("ledger", "score", ledger, "--results", results, "--html", page)
    assert (status, errors) == (0, "") and "2 of 2 scored" in output.replace("1 of 2", "2 of 2").replace(
        "0 of 2", "2 of 2"
    )
    assert "Hit rates" in page.read_text()
    status, output, errors = spikemark("ledger", "score", ledger, "--results", results, "--head", "1" * 64)
    assert status == 1 and "cut or rewritten" in errors
    assert "line 1: not JSON" in refusal("ledger", "score", tmp_path / "p.json", "--results", results)


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[3] / "docs/figures").glob("*.jsonl")), ids=str
)
def test_ledgers_that_are_shipped_were_not_changed(path):
    found = chain.read(path)
    assert found.whole and len(found.entries) >= 34
