"""Tables and numbers of docs/simulated-*.md from planted runs of every study."""

import re

import pytest
from planned import run
from small_network import describe
from studied import carried_out

from spikemark.documents import keep, pages, stored
from spikemark.documents.simulated import PARTS
from spikemark.documents.stored import matching
from spikemark.studies import STUDIES

SCHEDULES = (("conventional", 1), ("structure_aware", 10), ("overlapped", 10))
#: Schedules differ in their default exchange, which labels then name.
EXCHANGES = {"overlapped": "direct"}
COMPUTE_OF = {"preset.neurons_per_area": 129_068, "preset.indegree": 5842}


def varied(name: str, values, ranks: int = 4, schedules=SCHEDULES, **options) -> list[dict]:
    """A run of every schedule for every value of a field."""
    return [
        run(
            s,
            d,
            ranks,
            cycles=200,
            fields={name: value},
            label=f"{s} {d} {name} {value} {ranks}",
            exchange=EXCHANGES.get(s, "alltoall"),
            **options,
        )
        for value in values
        for s, d in schedules
    ]


def waiting(correlation: float, schedules=SCHEDULES, lag: int = 1) -> list[dict]:
    """Runs with injected times, as in `overlap`."""
    description = describe(areas=4, neurons=20, indegree=4, delay_ratio=10)
    description |= {"inject": {"mean_us": 1000, "sd_us": 100, "correlation": correlation}, "lag": lag}
    return [
        run(s, d, 4, cycles=200, mean_s=1e-3, ar1=correlation, description=description,
            label=f"{s} {d} {correlation} {lag}", exchange=EXCHANGES.get(s, "alltoall"))
        for s, d in schedules
    ]  # fmt: skip


def placed() -> list[dict]:
    """Runs of `mam`: areas on one rank, and spread."""
    runs = varied("preset.scale", [0.01], 32, SCHEDULES[:1], rank_sd=0.0)
    for placement, ranks in (("area", 32), ("area_group", 32), ("area_group", 64)):
        found = varied("preset.scale", [0.01], ranks, SCHEDULES[1:], placement=placement, rank_sd=0.2)
        runs += [{**options, "label": f"{placement} {options['label']}"} for options in found]
    return runs


PLANTED = {
    "heterogeneity": [
        *varied("preset.size_cv", (0.0, 0.2)),
        *varied("preset.area_rate_cv", (0.2,)),
        *varied("preset.size_cv", (0.0, 0.2), schedules=[("structure_aware", 5)]),
    ],
    "interconnect": [
        options
        for machine in ("dpsnn-westmere-ib", "dpsnn-westmere-eth")
        for ranks in (4, 32, 256)
        for options in varied("machine.profile", [machine], ranks, SCHEDULES[:1])
    ],
    "overlap": [
        *(options for correlation in (0.0, 0.9, 0.99) for options in waiting(correlation)),
        *waiting(0.9, [("structure_aware", 20), ("overlapped", 20)]),
        *waiting(0.9, [("overlapped", 20)], lag=4),
    ],
    "weak-scaling": [
        options
        for ranks, correlations in ((2, [0.0]), (4, [0.0, 0.9]))
        for options in varied("machine.correlation", correlations, ranks)
    ],
    "mam": placed(),
}  # fmt: skip


@pytest.fixture(params=PARTS)
def kept(request, fake, tmp_path, monkeypatch):
    """Results of the study, stored below a made-up checkout."""
    study, root = STUDIES[request.param], tmp_path / "root"
    (root / "docs").mkdir(parents=True)
    done, _ = carried_out(study, tmp_path, PLANTED[study.name], True, {"compute_of": COMPUTE_OF})
    for measured in done.sweep.runs:
        vars(measured)["simulation"] = {"simgrid": "SimGrid version 3.32", "cost_s": 90.0}
    monkeypatch.setattr("spikemark.documents.keep.inputs.of", lambda name: {"the plan": name})
    monkeypatch.setattr("spikemark.documents.keep.commit", lambda: "1234567")
    real = pages.marked()
    monkeypatch.setattr("spikemark.core.places.root", lambda: root)
    keep.study(done)
    return study.name, [mark for page in real.values() for mark in pages.marks.names(page)]


@pytest.mark.slow
def test_every_mark_of_a_study_has_a_text(kept):
    """All the marks that stand in docs/; planted runs lack some of the numbers of the real study."""
    name, marked = kept
    assert stored.load(name).inputs == {"the plan": name}
    own = [mark for mark in marked if re.match(r"[\w-]*", mark)[0] == name]
    assert {mark.split(":")[0].split(".", 1)[1] for mark in own if "/" not in mark} >= set(PARTS[name])
    for mark in own:
        text = pages.text(mark)
        assert text and "None" not in text and "nan" not in text, mark
        if text.startswith("|"):
            lines = [line.count("|") for line in text.splitlines()]
            assert len(set(lines)) == 1 and len(lines) > 2, mark
            assert re.search(r"\| [\d.]+", text)


def test_an_incomplete_study_is_not_stored(fake, tmp_path):
    runs = [*PLANTED["heterogeneity"], {**PLANTED["heterogeneity"][0], "label": "later", "state": "absent"}]
    done, _ = carried_out(STUDIES["heterogeneity"], tmp_path, runs, True)
    with pytest.raises(keep.BadInput, match="complete studies only"):
        keep.study(done)


def test_a_measured_study_is_not_stored(tmp_path):
    done, _ = carried_out(STUDIES["schedules"], tmp_path, waiting(0.0, SCHEDULES[:2]))
    with pytest.raises(keep.BadInput, match="only results of simulated machines"):
        keep.study(done)


def test_a_schedule_matches_without_what_is_named_beside_it():
    labels = [
        "structure-aware, D\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}10, placement area_group, exchange alltoall",
        "overlapped, D\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}10, lag 5, exchange direct",
        "overlapped, D\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}10, exchange direct",
    ]
    rows = [{"schedule": label} for label in labels]
    assert [row["schedule"] for row in matching(rows, schedule="structure-aware")] == labels[:1]
    assert [row["schedule"] for row in matching(rows, schedule="overlapped, D = 10")] == labels[2:]
    assert not list(matching(rows, schedule="overlapped, D = 5"))
