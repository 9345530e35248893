"""The study `energy-simula`: published cells computed again, and planted runs beside them."""

import json

import pytest
from html_page import Page
from planned import write_experiment
from planted_power import Planted, energy_fields, write_own
from small_network import describe

from spikemark.models.published import papers, simula
from spikemark.models.published.simula import ARM, X86
from spikemark.records.gather import gather
from spikemark.studies import STUDIES, carry_out, energy_simula

STUDY = STUDIES["energy-simula"]
PLANTED = Planted()


def planned(ranks: int, repetition: int = 1, busy_w: float | None = None) -> dict:
    """One run; with `busy_w` it has energy."""
    planted = Planted(measured_s=20.0 / ranks, busy_w=busy_w or 0)
    seconds = planted.measured_s
    energy = energy_fields(planted) if busy_w else None
    return {
        "label": f"{ranks} {repetition}", "repetition": repetition, "ranks": ranks, "seed": 1,
        "schedule": "conventional", "delay_ratio": 1, "cycles": 100, "energy": energy,
        "energy_reason": None if energy else "no meter of energy on this machine",
        "description": describe(areas=2, neurons=50, indegree=10, delay_ratio=1),
        "timing__simulate_s": seconds, "timing__real_time_factor": seconds / 0.01, **planted.timing(),
        "warnings": ["oversubscribed: 4 ranks on 2 cores"] if ranks > 2 else [],
    }  # fmt: skip


def write(folder, runs) -> tuple[carry_out.Done, Page, dict]:
    results = write_experiment(folder, runs)
    for position, run in enumerate(runs):
        if run["energy"]:
            write_own(
                results / "runs" / f"{position:012x}", Planted(measured_s=20.0 / run["ranks"], busy_w=160)
            )
    done = carry_out.write(STUDY, gather(results))
    return done, Page(done.page.read_text(encoding="utf-8")), json.loads(done.tables.read_text())["tables"]


class TestPublished:
    def test_every_consistent_cell_is_reproduced_exactly(self):
        x86, arm = simula.points(X86), simula.points(ARM)
        assert len(x86) == 10 and all(p.product_j == p.energy_j for p in x86)
        assert [p.consistent for p in arm] == [False, True, True, True]
        for p in [*x86, *arm[1:]]:
            assert f"{p.time_s * p.power_w:.{p.digits}f}" == f"{p.energy_j:.{p.digits}f}"

    def test_the_inconsistent_one_is_named(self):
        first, events = simula.slips()
        assert "1273.6 J is printed" in first and "2.2 W are 1401 J" in first and first.endswith("2.0 W.")
        assert "1.1 µJ" in events and "3.4 µJ" in events and "1.5 and 4.7 µJ" in events
        assert "recurrent + external, both at 3.2 Hz" in events

    def test_one_definition_gives_the_published_microjoule(self):
        (found,) = simula.reproducing()
        assert found.events == pytest.approx(9.99424e8)
        listed = {row["definition"]: float(row["events_10s"]) for row in papers.rows("simula_events")}
        by_name = [d.events for d in simula.definitions()]
        assert by_name == pytest.approx(
            [listed[k] for k in ("recurrent 1125 @3.2Hz", "(1125+400) @3.2Hz", "1125@3.2 + 400@3.0")],
            rel=1e-5,
        )
        assert [round(simula.microjoule(e, found), 1) for e in (1110.0, 3440.8)] == [1.1, 3.4]

    def test_optima(self):
        x86 = simula.points(X86)
        best = energy_simula.optima(
            x86, time=lambda p: p.time_s, net=lambda p: p.energy_j, gross=lambda p: p.gross_j
        )
        named = {(x86[i].label, x86[i].note): what for i, what in best.items()}
        assert named == {("32", "IB"): ["time", "gross"], ("8", ""): ["net"]}
        assert energy_simula.optima([], time=lambda p: p.time_s) == {}
        assert (
            energy_simula.optima(simula.points(ARM), gross=lambda p: p.gross_j) == {}
        )  # one row only has a baseline

    def test_interconnects_follow_the_measured_order(self):
        models = energy_simula.interconnects()
        ethernet, infiniband = models["ETH"], models["IB"]
        assert ethernet.idle_w == infiniband.idle_w == 564 and ethernet.core_w == infiniband.core_w
        assert ethernet.card_w > infiniband.card_w >= 0
        for p in simula.points(X86):
            if p.cards:
                watts = models[p.note].above_idle_w(p.cores, p.cards)
                assert watts == pytest.approx(p.power_w, rel=0.2)


class TestHere:
    def test_without_energy_the_cells_are_missing_and_times_are_not(self, tmp_path):
        done, page, tables = write(tmp_path, [planned(r, n) for r in (1, 2) for n in (1, 2)])
        assert list(tables) == ["table2", "table3", "table4", "interconnect", "here"]
        one, two = tables["here"]["rows"]
        assert one["time_s"]["value"] == pytest.approx(20) and two["time_s"]["value"] == pytest.approx(10)
        for name in ("gross_j", "net_j", "recurrent_uj", "all_uj", "energy_delay_js"):
            assert one[name] is None
        assert any("no meter of energy on this machine" in line for line in tables["here"]["missing"])
        assert one["recurrent_events"] > 0 and two["least"] == "time" and one["source"] == "none"
        assert "energy is missing: no meter was read" in done.findings.sentence
        assert "no meter of energy on this machine" in page.text
        rows = tables["table3"]["rows"]
        assert (rows[0]["published_j"], rows[0]["recomputed_j"], rows[0]["consistent"]) == (
            1273.6,
            1401.0,
            False,
        )
        assert tables["table2"]["rows"][4]["least"] == "net energy, energy × delay"

    def test_json_names_what_does_not_fit(self, tmp_path):
        done, _, tables = write(tmp_path, [])
        remarks = done.content()["remarks"]
        assert [r for r in remarks if "1273.6 J" in r] and [r for r in remarks if "1.1 µJ" in r]
        jetson = tables["table4"]["rows"][0]
        assert jetson["published_uj"] == 1.1 == round(jetson["recomputed_all_uj"], 1)
        assert round(jetson["recomputed_recurrent_uj"], 1) == 1.5

    def test_with_energy_it_stands_beside_the_published(self, tmp_path):
        done, _, tables = write(tmp_path, [planned(r, n, busy_w=160) for r in (1, 2) for n in (1, 2)])
        one, two = tables["here"]["rows"]
        assert one["net_j"]["value"] == pytest.approx(60 * 20, rel=0.01)
        assert two["gross_j"]["value"] == pytest.approx(160 * 10, rel=0.01)
        assert two["least"] == "time, net energy, gross energy, energy × delay" and one["least"] == ""
        per_event = 1e6 * one["net_j"]["value"] / one["recurrent_events"]
        assert one["recurrent_uj"]["value"] == pytest.approx(per_event)
        beside = [row for row in tables["table4"]["rows"] if row["who"] == "mini-app"]
        assert [row["here_recurrent_uj"] for row in beside] == [one["recurrent_uj"], two["recurrent_uj"]]
        assert "µJ per synaptic event" in done.findings.sentence

    def test_crowded_runs_are_not_shown(self, tmp_path):
        done, _, tables = write(tmp_path, [planned(1), planned(4)])
        assert tables["here"]["rows"][1]["time_s"] is None and tables["here"]["rows"][1]["gross_j"] is None
        assert "4 ranks" not in done.findings.sentence
