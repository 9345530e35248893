"""The studies of exchanges: published figures as printed, and planted runs beside them."""

import numpy as np
import pytest
from small_network import describe
from studied import carried_out, exchanging, table

from spikemark.models.published import papers
from spikemark.studies import STUDIES, exchange_music, exchange_shehzad


def shehzad_runs(**options) -> list[dict]:
    """Like the experiment: 2525 cells for 1000 ms; recursive doubling spends 10 us less per exchange."""
    runs = []
    for ranks in (2, 4):
        for repetition in (1, 2, 3):
            for exchange in ("allgather", "rma_doubling"):
                simulate_s = (2.0 if exchange == "allgather" else 1.8) + 0.01 * repetition
                given = {
                    "timing__simulate_s": simulate_s,
                    "timing__model_s": 1.0,
                    "timing__real_time_factor": simulate_s,
                }
                description = {
                    **describe(areas=1, neurons=2525, indegree=2, delay_ratio=1),
                    "exchange": exchange,
                }
                options = {"description": description, "placement": "round_robin", **given}
                runs.append(exchanging(ranks, repetition, exchange, **options))
    return runs


@pytest.fixture(scope="module")
def shehzad(tmp_path_factory):
    return carried_out(STUDIES["exchange-shehzad"], tmp_path_factory.mktemp("shehzad"), shehzad_runs())


def test_shehzad_puts_published_figures_beside_ours(shehzad):
    done, page = shehzad
    rows = {(r["simulated_ms"], r["ranks"]): r for r in table(done, "run_time_by_simulated_time").rows}
    assert len(rows) == 15  # those of Table 2
    row = rows[1000, 2]
    assert row["allgather_s"].value == pytest.approx(2.02)
    assert row["rma_doubling_s"].value == pytest.approx(1.82)
    pairs = [(2 + 0.01 * k, 1.8 + 0.01 * k) for k in (1, 2, 3)]
    ratio = np.prod([b / a for a, b in pairs]) ** (1 / 3)
    assert row["reduction_percent"].value == pytest.approx(100 * (1 - ratio))
    assert row["reduction_percent"].low < row["reduction_percent"].value < row["reduction_percent"].high
    assert (row["published_mpi_s"], row["published_rma_s"]) == (117.94, 104.25)
    assert "117.94" in page.text and "literature" in page.text


def test_shehzad_shows_no_times_of_more_ranks_than_cores(shehzad):
    done, page = shehzad
    rows = {(r["simulated_ms"], r["ranks"]): r for r in table(done, "run_time_by_simulated_time").rows}
    for ranks in (4, 32):
        for name in ("allgather_s", "rma_doubling_s", "reduction_percent"):
            assert rows[1000, ranks][name].mark == "not shown"
    assert "counts are valid, times are not" in page.text
    counts = table(done, "counts").rows
    assert {(r["ranks"], r["exchange"]) for r in counts} == {
        (r, e) for r in (2, 4) for e in ("allgather", "rma_doubling")
    }
    four = next(r for r in counts if r["ranks"] == 4)
    assert four["messages"] == 3  # synthetic runs send one to every other rank
    assert not four["exchange_us"]


def test_slips_of_shehzad_follow_from_the_tables(shehzad):
    exceeding, sums, _ = exchange_shehzad.slips()
    assert exceeding.startswith("In 8 of the 10 cells")
    assert sums.startswith("In 19 of the 20 rows") and "99.99" in sums
    assert exceeding in shehzad[1].text
    for name in ("shehzad_table2", "shehzad_table3"):
        for row in papers.rows(name):
            mpi, rma, printed = (float(row[k]) for k in ("mpi_s", "rma_s", "reduction_pct"))
            assert 100 * (1 - rma / mpi) == pytest.approx(printed, abs=0.011)


def test_music_compares_by_connectivity(tmp_path):
    runs = [
        exchanging(ranks, repetition, exchange, fields={"preset.structure": structure})
        for structure in (0.5, 0)
        for ranks in (2, 4)
        for repetition in (1, 2)
        for exchange in ("allgatherv", "p2p")
    ]
    for run in runs:
        if run["fields"]["exchange"] == "allgatherv" and run["fields"]["preset.structure"] == 0.5:
            run["mean_s"] = 40e-6
    done, page = carried_out(STUDIES["exchange-music"], tmp_path, runs)
    rows = {(r["connectivity"], r["ranks"]): r for r in table(done, "exchange").rows}
    assert list(rows) == [(exchange_music.CONNECTIVITY[s], r) for s in (0, 0.5) for r in (2, 4)]
    two, four = rows["all to all", 2], rows["all to all", 4]
    assert two["collective_us"].value == pytest.approx(2.0, rel=1e-3)  # synthetic.EXCHANGE_S
    assert two["time_ratio"].value == pytest.approx(1.0)
    assert two["bytes_ratio"] == four["bytes_ratio"] == 1.0
    assert four["p2p_us"].mark == "not shown"
    assert "twice as fast" in page.text and "What differs" in page.text
