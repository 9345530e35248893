"""The buyer's own run: as the bidder ran it, with a seed that only the buyer knows."""

import json
from types import SimpleNamespace

import pytest

from spikemark.core.errors import BadInput
from spikemark.launch.layout import LaunchLayout
from spikemark.records import record
from spikemark_tender import acceptance, formats, measure
from spikemark_tender.measure import TenderRunOptions

pytestmark = pytest.mark.slow


@pytest.fixture
def answer(honest):
    return formats.read_answer(honest.path)


def changed(answer, **fields):
    """The answer with another entry of the small bench network."""
    runs = [
        run.model_copy(update=fields) if run.name == "bench-small" else run for run in answer.runs
    ]
    return answer.model_copy(update={"runs": runs, "category": "optimised"})


def test_the_machine_is_run_as_the_bidder_ran_it(honest, answer, monkeypatch):
    monkeypatch.setattr(measure, "nodes_at_hand", lambda: SimpleNamespace(cores=(16,)))
    [rule] = honest.bundle.rules(["bench-small"])
    placed = answer.run("bench-small").layout.model_copy(
        update={"ranks": 2, "threads": 8, "nodes": 1}
    )
    bid = changed(answer, layout=placed, set={"schedule": "structure_aware"})
    how = acceptance._setup_of(honest.bundle, rule, bid, TenderRunOptions())
    assert how == measure.RunSetup(LaunchLayout(2, 8, 2), {"schedule": "structure_aware"})
    made = measure.experiment_of(honest.bundle, rule, how, rule.model_ms[-1])
    assert made.set["schedule"] == "structure_aware" and made.threads == [8]
    alone = acceptance._setup_of(honest.bundle, rule, None, TenderRunOptions())
    assert alone.layout == measure._layout_of(honest.bundle.description(rule), TenderRunOptions())
    assert alone.layout.threads == 8
    given = acceptance._setup_of(honest.bundle, rule, bid, TenderRunOptions(threads=7))
    assert given.layout.threads == 7 and given.set == {"schedule": "structure_aware"}
    with pytest.raises(BadInput) as error:
        acceptance._setup_of(
            honest.bundle, rule, changed(answer, set={"network.x": 1}), TenderRunOptions()
        )
    assert error.value.field == "set"


@pytest.fixture
def delivered(copy, monkeypatch):
    """Accepts with the records of the honest bidder in place of new runs."""
    runs = [record.load_run(copy.run(k)) for k in (1, 2)]
    monkeypatch.setattr(acceptance, "_runs", lambda *given: runs[: given[5]])
    secret, out = copy.folder / "bundle.secret.json", copy.folder / "acceptance"
    out.mkdir()

    def prepare():
        acceptance.prepare(copy.bundle, secret, None, TenderRunOptions(), out, lambda line: None)

    def accept(answer=None, tolerance=0.05):
        return acceptance.accept(
            copy.bundle, secret, answer, TenderRunOptions(), out, tolerance, lambda line: None
        )

    with pytest.raises(BadInput, match="prepared"):
        accept()
    prepare()
    return SimpleNamespace(accept=accept, prepare=prepare, secret=secret, out=out)


def test_an_honest_machine_is_accepted_and_a_promise_is_held(delivered, answer):
    assert delivered.accept()["accepted"] and delivered.accept(answer)["accepted"]
    promised = [p.model_copy(update={"value": 0.5 * p.value}) for p in answer.committed]
    bold = answer.model_copy(update={"committed": promised})
    found = delivered.accept(bold)
    assert not found["accepted"] and found["figure"]["value"] == pytest.approx(
        2 * found["promised"]
    )
    assert delivered.accept(bold, tolerance=1.01)["accepted"]
    kept = json.loads((delivered.out / acceptance.RESULT).read_text())
    prepared = json.loads(delivered.secret.read_text())["prepared"]
    assert kept["accepted"] and kept["checksum"] == prepared["checksum"]
    with pytest.raises(BadInput, match="prepared"):
        delivered.prepare()


@pytest.mark.parametrize("field", ["checksum", "spikes"])
def test_other_spikes_are_not_accepted(delivered, field):
    content = json.loads(delivered.secret.read_text())
    prepared = content["prepared"]
    prepared["checksum"] = "0" * 16 if field == "checksum" else prepared["checksum"]
    prepared["totals"]["spikes"] += field == "spikes"
    delivered.secret.write_text(json.dumps(content))
    found = delivered.accept()
    assert not found["accepted"] and len(found["reasons"]) == found["repetitions"]
