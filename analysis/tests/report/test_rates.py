"""Rates for the expectation of irregular access: from spikes, from ranks, or missing with the reason."""

import json

import numpy as np
import pytest
from planned import run, write_experiment
from small_network import describe

from spikemark.core.errors import BadInput
from spikemark.models import access as model
from spikemark.records.cases import look
from spikemark.records.gather import gather
from spikemark.records.rates import rates_hz
from spikemark.report.sections import access


def view(folder, areas=2, fires=(40.0, 5.0), hidden=True, spikes=False, **options):
    """A sweep of one run with counts of neurons of these rates; `hidden`: the description lacks them."""
    description = describe(areas=areas, neurons=100)
    description["record"]["spikes"] = spikes
    for p, rate in zip(description["network"]["populations"], fires, strict=True):
        p["neuron"]["rate_hz"] = rate
    given = {"cycles": 10_000, "description": description, "schedule": "structure_aware", **options}
    results = write_experiment(folder, [run(**given)])
    if hidden:
        for path in (*results.glob("runs/*/record.json"), *results.glob("descriptions/*.json")):
            text = path.read_text()
            for rate in fires:
                text = text.replace(f'"rate_hz": {rate}', '"tau_m_ms": 10')
            path.write_text(text.replace("ignore_and_fire", "lif_delta").replace(', "rate_cv": 0', ""))
    return results


def run_of(results):
    return look(gather(results)).sweep.runs[0].run


def test_described_rates_are_left_to_the_description(tmp_path):
    assert rates_hz(run_of(view(tmp_path, hidden=False))) is None


def test_one_population_per_rank_is_counted_by_ranks(tmp_path):
    found = rates_hz(run_of(view(tmp_path)))
    assert found == pytest.approx({"area0": 40, "area1": 5}, rel=0.05)


def test_two_populations_on_a_rank_need_spikes(tmp_path):
    results = view(tmp_path, ranks=1)
    with pytest.raises(BadInput, match=r"record\.spikes=true"):
        rates_hz(run_of(results))
    shown = access.section(look(gather(results)))
    assert any("rates of the neurons are not known" in line for line in shown.missing)
    assert "missing" in shown.figures[0].table.cells[0]


def test_spikes_tell_the_rates_and_the_expectation(tmp_path):
    results = view(tmp_path, ranks=1, spikes=True)
    (path,) = (results / "runs").iterdir()
    number = totals(results)["spikes"]
    gids = np.where(np.arange(number) % 10 < 9, 3, 150)  # 9 of 10 in area0
    steps = np.sort(np.random.default_rng(1).integers(0, 10_000, number))
    np.save(path / "spikes.npy", np.column_stack([gids, steps]).astype(np.uint32))
    found = rates_hz(run_of(results))
    assert found["area0"] / found["area1"] == pytest.approx(9, rel=0.01)
    shown = access.section(look(gather(results)))
    assert shown.missing == []
    assert any("the counted rates" in line for line in shown.text)
    expected = model.expected(run_of(results).record.description, 1, 1, rates_hz=found).ratio
    assert float(shown.figures[0].table.cells[0][3]) == pytest.approx(expected, rel=1e-3)


def totals(results) -> dict:
    (path,) = results.glob("runs/*/record.json")
    return json.loads(path.read_text())["totals"]
