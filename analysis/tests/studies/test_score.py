"""Scores: their definition, the baselines, the published points, files of points and stored
predictions.
"""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from spikemark.core.errors import BadInput
from spikemark.prediction import effects, points
from spikemark.quantities.words import percent
from spikemark_studies import score, score_page
from spikemark_studies.published import papers

pytestmark = pytest.mark.slow


def published_points() -> list[dict[str, str]]:
    return list(csv.DictReader(points.POINTS.read_text().splitlines()))


def write_points(path: Path, rows: list[dict[str, str]]) -> None:
    """Writes rows with the columns of the first."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module")
def scores():
    return score._of_model()


def test_the_model_beats_both_baselines_and_its_intervals_hold(scores):
    assert len(scores.beaten) >= 3
    assert (scores.by("kind").loc["model"]["inside"] >= 0.9).all()


@pytest.mark.parametrize(
    ("kind", "method", "error", "mean"),
    [
        ("version", "W/P, factor 2", 0.26, 1.75),
        ("network", "W/P, factor 2", 0.53, 9.59),
        ("machine", "W/P, factor 2", 0.67, 16.31),
        ("version", "a/P+b, factor 2", 0.14, 1.77),
    ],
)
def test_baselines_have_the_scores_that_were_computed_elsewhere(scores, kind, method, error, mean):
    row = scores.by("kind").loc[method, kind]
    assert row["error"] == pytest.approx(error, abs=0.006)
    assert row["score"] == pytest.approx(mean, rel=0.01)


@pytest.mark.parametrize(
    ("ends", "true", "expected"),
    [((0, 1), 0.5, 1.0), ((0, 1), 1.1, 1 + 40 * 0.1), ((0, 1), -0.2, 1 + 40 * 0.2), ((2, 2), 2, 0)],
)
def test_interval_score(ends, true, expected):
    assert score.interval_score(*map(np.array, ends), np.array(true)) == pytest.approx(expected)


def test_no_test_sees_what_it_predicts():
    runs = points.published()
    for test in score._tests_of(runs):
        seen = [*filter(test.allowed, runs)]
        assert test.targets[0].series not in {run.series for run in seen}
        if test.kind in ("machine", "platform"):
            assert not {run.machine.name for run in test.targets} & {
                run.machine.name for run in seen
            }
        else:
            assert len(seen) > 100


def test_times_of_the_target_do_not_change_its_prediction():
    runs, name = points.published(), "N39-HPC"
    changed = [replace(run, seconds=run.seconds * 3) if run.series == name else run for run in runs]
    ends = []
    for of in (runs, changed):
        tests = [test for test in score._tests_of(of) if test.targets[0].series == name]
        tested = [test for test in tests if test.kind != "nodes"]
        frame = score._answers(tested, of)
        ends.append(frame.loc[frame["method"] == "model", ["low", "middle", "high"]].to_numpy())
    assert len(ends[0]) and ends[0] == pytest.approx(ends[1])


def test_every_published_point_has_a_source_and_is_read():
    rows = published_points()
    assert all(row["source"] for row in rows)
    assert len({row["id"] for row in rows}) == len(rows)
    series = {run.series for run in points.published()}
    for row in papers.rows("transfers"):
        assert {row["anchor"], row["target"]} <= series


def test_a_file_of_points_is_scored_against_the_published_ones(tmp_path):
    rows = [row | {"series": "new"} for row in published_points() if row["series"] == "N38-MAMG"]
    found = {}
    for name, more in (("named", {"anchor": "N39-MAMG", "aspects": "version"}), ("found", {})):
        path = tmp_path / f"{name}.csv"
        write_points(path, [row | more for row in rows])
        found[name] = score._of_model(path)
    rows = (
        found["named"]
        .frame.drop_duplicates("test")[["kind", "series", "anchor"]]
        .to_numpy()
        .tolist()
    )
    assert rows == [["nodes", "new", "new"], ["version", "new", "N39-MAMG"]]
    assert found["found"].kinds == ["nodes", "version"]
    stored = tmp_path / "stored.json"
    stored.write_text(json.dumps(score._scores_content(found["named"])))
    again = score._of_stored(stored, tmp_path / "named.csv")
    first, second = (of.by("kind")["score"] for of in (found["named"], again))
    assert second["stored.json", "version"] == pytest.approx(first["model", "version"])


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ("\x00" * 2**18, None),
        ("galileo,nest,hpc-benchmark,static,1e5,1e8,1,4", None),
        ("galileo,nest,hpc-benchmark,static,1e5,nan,1,4,{},3", "synapses"),
        ("galileo,nest,hpc-benchmark,static,1e5,1e8,0,4,{},3", "rate_hz"),
        ("galileo,nest,hpc-benchmark,static,1e5,1e8,1,4.5,{},3", "ranks"),
        ("galileo,nest,hpc-benchmark,static,1e5,1e8,1,4,{},inf", "value"),
        ("galileo,nest,hpc-benchmark,static,1e5,1e8,1,4,{}", None),
        ("galileo,genn,hpc-benchmark,static,1e5,1e8,1,4,{},3", None),
        ("nowhere,nest,hpc-benchmark,static,1e5,1e8,1,4,{},3", "machine"),
        ("galileo,nest,hpc,static,1e5,1e8,1,4,{},3", "network"),
        ("galileo,nest,hpc-benchmark,grid,1e5,1e8,1,4,{},3", "variant"),
    ],
)
def test_points_are_checked(tmp_path, row, field):
    head = "machine,program,network,variant,neurons,synapses,rate_hz,ranks,quantity,value"
    path = tmp_path / "points.csv"
    path.write_text(f"series,{head}\na,{row.format('real-time factor')}\n")
    with pytest.raises(BadInput) as error:
        score.score(path)
    assert field in (None, error.value.field)


@pytest.mark.parametrize(
    ("field", "cell"),
    [
        ("program", "NEST"),
        ("unit", "ms"),
        ("unit", "%"),
        ("unit", "s per simulated s"),  # that of a wall-clock time
        ("ranks", "1"),
        ("sd_rel", "3"),
        ("threads", "5000"),
        ("cycle_ms", "1e6"),
    ],
)
def test_cells_of_a_point_that_contradict_the_others_are_refused(tmp_path, field, cell):
    """A row of a real-time factor on several nodes is read; with one other cell it is refused."""
    rows = [row for row in published_points() if row["series"] == "N39-MAMG"]
    path = tmp_path / "points.csv"
    write_points(path, rows)
    assert len(points.read(path)) == len(rows)
    assert rows[0]["quantity"] == "real-time factor" and int(rows[0]["nodes"]) > 1
    write_points(path, [rows[0] | {field: cell}])
    with pytest.raises(BadInput) as refused:
        points.read(path)
    assert refused.value.field == field


def test_a_point_that_is_there_twice_is_refused(tmp_path):
    first, second, *_ = published_points()
    path = tmp_path / "points.csv"
    write_points(path, [first, second | {"id": first["id"]}])
    with pytest.raises(BadInput) as refused:
        points.read(path)
    assert refused.value.field == "id"


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "{}",
        '{"predictions": [{"low": 2, "median": 1, "high": 3}]}',
        '{"predictions": [{"low": 1}]}',
        '{"predictions": []}',
        '{"predictions": [{"low": 1, "median": 1, "high": 3, "nodes": 9}]}',
        (
            '{"predictions": [{"low": 2, "median": 1, "high": 3, "nodes": 1, "ranks": 2, "threads":'
            " 64}]}"
        ),
    ],
)
def test_stored_predictions_are_checked(tmp_path, stored):
    measured = tmp_path / "runs.csv"
    measured.write_text("nodes,ranks,threads,real_time_factor\n1,2,64,3.5\n")
    (tmp_path / "p.json").write_text(stored)
    with pytest.raises(BadInput):
        score._of_stored(tmp_path / "p.json", measured)


def test_fitted_spreads_go_where_the_user_says_and_are_those_of_the_package(spikemark, tmp_path):
    before = effects.SPREADS.read_bytes()
    status, output, errors = spikemark("score", "--fit", tmp_path / "fitted.yaml")
    assert (status, errors) == (0, "") and output.strip() == str(tmp_path / "fitted.yaml")
    assert effects.SPREADS.read_bytes() == before
    fitted = yaml.safe_load((tmp_path / "fitted.yaml").read_text())
    packaged = yaml.safe_load(before)
    for name in ("mini_app", "spreads", "costs"):
        assert fitted[name] == packaged[name], name


def test_spreads_need_a_file_and_runs_need_a_machine(refusal, tmp_path):
    assert "--fit" in refusal("score", "--fit", tmp_path / "no-such-folder" / "fitted.yaml")
    assert refusal("score", "--fit", tmp_path / "fitted.yaml", "--runs", tmp_path).startswith(
        "--runs:"
    )


def test_the_page_names_every_network_and_machine_of_its_figures(scores):
    """Of the measured times; runs of a user that have no name leave nothing behind."""
    [section] = score_page.sections(score.ScoreAnswer(scores))
    [figure] = section.figures
    assert scores.frame["network"].nunique() > 1 < scores.frame["machine"].nunique()
    for name in {*scores.frame["network"], *scores.frame["machine"]}:
        assert name in figure.caption
    nameless = scores.frame.assign(network="", machine="")
    [section] = score_page.sections(score.ScoreAnswer(replace(scores, frame=nameless)))
    assert ":" not in section.figures[0].caption


def test_shares_in_sentences_are_written_as_everywhere(scores):
    inside = scores.frame.loc[scores.frame["method"] == scores.mine, "inside"]
    assert score._scores_sentence(scores).startswith(percent(inside.mean()))
