"""Functions of the public API answer as the commands do, and each answer has its three faces."""

import json
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from swept import planned, write
from synthetic import write_run

import spikemark as sm
from spikemark.core.errors import BadInput

matplotlib.use("Agg")
NETWORK = {"areas": 2, "neurons_per_area": 60, "indegree": 10}
OPTIONS = [f"--option={name}={value}" for name, value in NETWORK.items()]


@pytest.fixture
def network():
    return sm.network("mam-benchmark", **NETWORK)


def check_faces(answer, printed: str) -> None:
    """The JSON is what the command prints; the sentence and the table are there; HTML has both."""
    assert answer.to_json() == printed.rstrip("\n")
    about = {"format": f"{answer.verb}-answer", "version": 1}
    assert about | answer.content() == json.loads(printed)
    assert isinstance(answer.table, pd.DataFrame) and len(answer.table)
    assert answer.sentence.endswith(".")
    shown, further = repr(answer).split("\n")
    assert shown.split(": ", 1)[1].removesuffix(">") in answer.sentence and ".table" in further
    page = answer._repr_html_()
    assert page.startswith("<p>") and answer.sentence.split(".")[0].split("(")[0] in page


def test_predict(network, spikemark):
    answer = sm.predict(network, "epyc-vm", ranks=[1, 2])
    words = ["predict", "mam-benchmark", *OPTIONS, "--machine", "epyc-vm", "--ranks", "1,2"]
    check_faces(answer, spikemark(*words, "--json")[1])
    assert answer.table["ranks"].tolist() == [1, 2]
    row = answer.table.iloc[0]
    assert row["real_time_factor_low"] < row["real_time_factor"] < row["real_time_factor_high"]
    assert answer.table.attrs["units"]["energy_per_event_uj"] == "µJ"
    first_lines = spikemark(*words)[1].splitlines()[: len(answer.screen().lines)]
    assert " ".join(" ".join(first_lines).split()) == " ".join(answer.sentence.split())


@pytest.mark.slow
@pytest.mark.parametrize("program", ["mini-app", "nest"])
def test_predictions_of_several_numbers_of_nodes_are_those_of_each(spikemark, program):
    mam = sm.network("mam", full=True)
    several = sm.predict(mam, "jureca-dc", nodes=[32, 16], program=program)
    assert several.table["nodes"].tolist() == [32, 16]
    for count, predicted in zip((32, 16), several.content()["predictions"], strict=True):
        alone = sm.predict(mam, "jureca-dc", nodes=count, program=program)
        assert alone.content()["predictions"] == [predicted]
    words = ["predict", "mam", "--full", "--machine", "jureca-dc", "--program", program, "--json"]
    assert spikemark(*words, "--nodes", "32,16")[1].rstrip("\n") == several.to_json()
    for beside in ({"ranks": 4}, {"ranks": [1, 2]}):
        with pytest.raises(sm.BadInput) as error:
            sm.predict("microcircuit", "jureca-dc", nodes=[1, 2], **beside)
        assert error.value.field == "nodes"


def test_predict_takes_profiles_and_says_what_is_missing(network):
    machine = sm.machine("epyc-vm")
    assert sm.predict(network, machine, nodes=2).content() == (
        sm.predict(network, "epyc-vm", nodes=2).content()
    )
    with pytest.raises(sm.BadInput, match="nodes: missing") as error:
        sm.predict(network, machine)
    assert error.value.field == "nodes"
    with pytest.raises(sm.BadInput, match="older") as error:
        sm.predict(network, "two-generations", on={"none": 2})
    with pytest.raises(sm.BadInput, match="nowhere") as error:
        sm.predict(network, "nowhere", nodes=1)
    assert error.value.field == "machine"


@pytest.mark.slow
def test_advise(network, spikemark):
    answer = sm.advise(network, "epyc-vm", nodes=2, target_rtf=1)
    words = ["advise", "mam-benchmark", *OPTIONS, "--machine", "epyc-vm", "--nodes", 2]
    check_faces(answer, spikemark(*words, "--target-rtf", 1, "--json")[1])
    assert answer.table["schedule"].is_unique
    with pytest.raises(sm.BadInput) as error:
        sm.advise(network, "epyc-vm", target_rtf=0)
    assert error.value.field == "target_rtf"


def test_compare(spikemark):
    mam = sm.network("mam", full=True)
    machines = ["jureca-dc", "supermuc-ng"]
    answer = sm.compare(mam, machines, program="nest", nodes=32, price_kwh=0.3)
    words = ["compare", *machines, "--preset", "mam", "--full", "--program", "nest"]
    check_faces(answer, spikemark(*words, "--nodes", 32, "--price-kwh", 0.3, "--json")[1])
    assert answer.table["machine"].tolist() == machines
    with pytest.raises(sm.BadInput, match="given twice"):
        sm.compare(mam, ["jureca-dc", "jureca-dc"])
    axes = answer.plot()
    assert axes.get_xlabel() == "nodes" and len(axes.lines) == 2


@pytest.mark.slow
def test_waiting_of_a_run(tmp_path, spikemark):
    path = write_run(tmp_path / "run", ranks=4, cycles=400)
    run = sm.load_run(path)
    assert run.cycles.shape[:2] == (4, 400) and run.network.populations
    answer = sm.waiting(run, schedule="structure_aware", delay_ratio=2, changes=["level-ranks"])
    words = ["waiting", path, "--schedule", "structure_aware", "--delay-ratio", 2]
    check_faces(answer, spikemark(*words, "--change", "level-ranks", "--json")[1])
    parts = answer.table.set_index("part")["mean_us"]
    assert parts[["imbalance", "drift", "jitter", "barrier"]].sum() == (
        pytest.approx(parts["waiting"])
    )
    assert sm.waiting(path).content() == sm.waiting(run).content()
    assert "µs per cycle" in answer.plot().get_xlabel()
    assert run.plot().patches


def test_a_run_beside_its_prediction(tmp_path, spikemark):
    path = write_run(tmp_path / "run", ranks=2, cycles=100)
    answer = sm.predict(path, "epyc-vm")
    check_faces(answer, spikemark("predict", path, "--machine", "epyc-vm", "--json")[1])
    assert answer.table.iloc[-1]["part"] == "real_time_factor"


def test_cycles_of_other_programs(tmp_path, spikemark):
    file = tmp_path / "times.npy"
    np.save(file, np.random.default_rng(1).normal(1, 0.1, (4, 400)))
    times = sm.read_cycles(file, unit="ms")
    assert times.compute.shape == (4, 400) and times.compute.mean() == pytest.approx(1e-3, rel=0.01)
    answer = sm.waiting(times)
    check_faces(answer, spikemark("waiting", file, "--unit", "ms", "--json")[1])
    kept = tmp_path / "kept"
    spikemark("import", file, "--unit", "ms", "--out", kept)
    assert sm.waiting(kept).table.equals(sm.waiting(sm.read_cycles(kept)).table)
    with pytest.raises(sm.BadInput, match="kept") as error:
        sm.read_cycles(kept, unit="ms")
    assert error.value.field == "unit"
    with pytest.raises(sm.BadInput) as error:
        sm.read_cycles(file, unit="fortnight")
    assert error.value.field == "unit"


def test_results_of_a_sweep(tmp_path):
    grid = [{"schedule": ["conventional", "structure_aware"]}]
    results, runs = planned(tmp_path / "here", grid=grid)
    for run in runs:
        write(results, run)
    loaded = sm.load(tmp_path / "here")
    assert len(loaded.runs) == len(runs) and set(loaded.phases["id"]) == set(loaded.ranks["id"])
    first = loaded.runs["id"].iloc[0]
    assert loaded.cycles(first).shape[:2] == (2, 100)
    with pytest.raises(sm.BadInput) as error:
        loaded.cycles("none")
    assert error.value.field == "run"
    axes = loaded.plot()
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert len(labels) == 2 and axes.get_xlabel() == "seconds per simulated second"
    assert loaded.plot(axes) is axes


def test_networks_are_named_by_presets_files_and_descriptions(tmp_path, network):
    file = tmp_path / "network.json"
    file.write_text(json.dumps(network.description))
    assert sm.network(file).description["network"] == network.description["network"]
    assert sm.network(network.description).rates.hz == pytest.approx(network.rates.hz)
    for source in (file, network.description):
        with pytest.raises(sm.BadInput) as error:
            sm.network(source, areas=4)
        assert error.value.field == "areas"
    with pytest.raises(sm.BadInput, match="mam"):
        sm.network("man")


def test_a_session_shows_objects_in_two_lines(tmp_path, network):
    results, runs = planned(tmp_path / "here")
    write(results, runs[0])
    np.save(tmp_path / "times.npy", np.full((2, 50), 1e-3))
    objects = {
        "jureca-dc": sm.machine("jureca-dc"),
        "two-generations": sm.machine("two-generations"),
        "mam-benchmark": network,
        "here": sm.load(tmp_path / "here"),
        "run": sm.load_run(write_run(tmp_path / "run", ranks=2, cycles=100)),
        "times": sm.read_cycles(tmp_path / "times.npy", unit="s"),
        "Take": sm.compare("microcircuit", ["epyc-vm", "jureca-dc"], nodes=1),
    }
    for name, value in objects.items():
        text = str(value)
        assert text.count("\n") == 1 and len(text) < 400, text
        assert name in text or "decided" in text
        assert value._repr_html_().startswith("<p>")


def test_a_missing_number_of_nodes_is_refused_before_the_network_is_described(
    spikemark, monkeypatch
):
    monkeypatch.setattr("spikemark.prediction.question.of_preset", None)
    words = ["predict", "--preset", "mam", "--full", "--machine", "jureca-dc"]
    status, _, errors = spikemark(*words)
    assert status == 2 and errors.startswith("spikemark: --nodes: missing; expected")


@pytest.mark.parametrize(
    ("words", "field"), [(["--preset"], "--preset"), (["--run"], "--run"), ([], "NETWORK")]
)
def test_an_unknown_network_is_named_as_it_was_given(words, field, spikemark):
    status, _, errors = spikemark("predict", *words, "mamm", "--machine", "jureca-dc")
    assert status == 2 and errors.startswith(f"spikemark: {field}='mamm'; expected")
    with pytest.raises(sm.BadInput) as error:
        sm.network("mamm")
    assert error.value.field == "name_or_file"
    with pytest.raises(sm.BadInput) as error:
        sm.predict("mamm", "jureca-dc")
    assert error.value.field == "network"


#: Functions that read folders, with what they need beside them.
OF_FOLDERS = {"load": {}, "load_run": {}, "energy": {"machine": "jureca-dc"}}
RUN = "tests/golden/analysis/records/aware-4"


def files_of_times(folder) -> dict[str, pd.DataFrame | np.ndarray | Path]:
    """The same compute times in every form: files, and what holds them in memory."""
    compute_s = np.random.default_rng(1).normal(1e-3, 5e-5, (4, 400))  # [rank, cycle]
    np.save(folder / "times.npy", compute_s)
    rank, cycle = np.indices(compute_s.shape)
    columns = {"rank": rank.ravel(), "cycle": cycle.ravel(), "compute_s": compute_s.ravel()}
    table = pd.DataFrame(columns)
    table.to_csv(folder / "times.csv", index=False)
    table.to_parquet(folder / "times.parquet")
    files = {name: folder / f"times.{name}" for name in ("npy", "csv", "parquet")}
    return {**files, "frame": table, "array": compute_s}


@pytest.mark.slow
def test_waiting_takes_the_files_that_its_command_takes(tmp_path, spikemark):
    given = files_of_times(tmp_path)
    of_array = sm.waiting(given["array"]).table
    for name in ("npy", "csv", "parquet"):
        of_file = sm.waiting(given[name], unit="s")
        pd.testing.assert_frame_equal(of_file.table, of_array, rtol=1e-3)
        words = ("waiting", given[name], "--unit", "s", "--json")
        assert json.loads(spikemark(*words)[1]) == json.loads(of_file.to_json())
    renamed = sm.waiting([given["csv"]], unit="s", columns={"compute": "compute_s"})
    pd.testing.assert_frame_equal(renamed.table, of_array, rtol=1e-3)


@pytest.mark.parametrize("argument", [{"unit": "s"}, {"columns": {"compute": "compute_s"}}])
@pytest.mark.parametrize("times", [RUN, np.full((2, 100), 1e-3)], ids=["folder", "array"])
def test_waiting_refuses_what_is_only_for_files(times, argument):
    with pytest.raises(BadInput) as error:
        sm.waiting(times, **argument)
    assert error.value.field in argument


def test_a_table_in_memory_is_refused_by_its_argument(tmp_path):
    table = files_of_times(tmp_path)["frame"]
    for function, argument in ((sm.waiting, "times"), (sm.read_cycles, "paths")):
        with pytest.raises(BadInput) as error:
            function(table)
        assert error.value.field == argument


@pytest.mark.parametrize("name", OF_FOLDERS)
@pytest.mark.parametrize("form", ["npy", "csv", "parquet"])
def test_a_file_in_place_of_a_folder_is_refused_by_its_name(name, form, tmp_path):
    file = files_of_times(tmp_path)[form]
    with pytest.raises(BadInput) as error:
        getattr(sm, name)(file, **OF_FOLDERS[name])
    assert Path(error.value.file) == file


@pytest.mark.parametrize("command", ["waiting", "energy"])
def test_the_record_of_a_run_is_answered_with_its_folder(command, refusal):
    assert refusal(command, f"{RUN}/record.json").endswith(f"spikemark {command} {RUN}")
