"""--format: each command that has it prints the table of its answer, and nothing else."""

import functools
import io
import typing

import pandas as pd
import pytest
from proposed import ROOT

from spikemark.cli import params
from spikemark.quantities.table_forms import TABLE_FORMS
from spikemark_studies import score

RECORDS = "tests/golden/analysis/records"
NETWORK = "tests/golden/analysis/networks/equal-4.json"
#: A command line for each command, from the folder of the checkout.
LINES = {
    "predict": "predict microcircuit --machine epyc-vm --nodes 1",
    "advise": "advise microcircuit --machine epyc-vm --nodes 1",
    "compare": "compare epyc-vm xeon-vm --preset microcircuit --nodes 1",
    "waiting": f"waiting {RECORDS}/aware-4",
    "diff": f"diff {RECORDS}/conventional-4 {RECORDS}/aware-4",
    "partition": f"partition {NETWORK} --ranks 4 --method random",
    "anchor": "anchor mam-benchmark --full --machine jureca-dc --out anchors",
    "energy": f"energy {RECORDS}/aware-4 --machine jureca-dc",
    "score": "score",
    "machine": "machine jureca-dc two-generations",
    "bench": "bench --filter clock --repetitions 1 --min-time 0.001 --out bench",
    "peers": "peers --threads 1 --repetitions 1 --out peers",
}
#: Those that take seconds; the first predicts all published series.
BY_NIGHT = {"score"}
SLOW = {"advise", "compare", "anchor", "diff", "predict", "bench"}
#: Whose programs are imitated: tests/test_peers.py.
ELSEWHERE = {"peers"}


def test_every_command_with_this_option_is_here():
    kind, option = typing.get_args(params.TableForm)
    choice, _ = typing.get_args(kind)
    assert list(typing.get_args(choice)) == list(TABLE_FORMS)
    has = set()
    for words, command in ROOT.commands.items():
        if any(parameter.help == option.help for parameter in command.params[1:]):
            has.add(words)
    assert has == LINES.keys()


def marks_of(words: str) -> list[pytest.MarkDecorator]:
    if words in BY_NIGHT:
        return [pytest.mark.nightly]
    return [pytest.mark.slow] * (words in SLOW)


@pytest.mark.parametrize(
    "words",
    [pytest.param(words, marks=marks_of(words)) for words in LINES if words not in ELSEWHERE],
)
def test_all_forms_have_the_same_rows(words, spikemark, tmp_path, monkeypatch):
    monkeypatch.setattr(score, "score", functools.cache(score.score))  # it takes five seconds
    line = LINES[words].split()
    if "--out" in line:
        line[-1] = str(tmp_path / line[-1])
    check_forms(line, spikemark)


@pytest.mark.slow
def test_all_forms_of_the_score_of_own_runs_have_the_same_rows(spikemark, tmp_path):
    """Which prints by the code that prints the score of all published series."""
    runs, kept = tmp_path / "runs.csv", tmp_path / "kept.json"
    runs.write_text("nodes,ranks,threads,real_time_factor\n1,2,64,20\n2,4,64,11\n4,8,64,6.5\n")
    words = ["anchor", "mam-benchmark", "--full", "--machine", "jureca-dc", "--nodes", 8]
    status, _, errors = spikemark(*words, "--runs", runs, "--keep", kept)
    assert status == 0, errors
    check_forms(["score", str(runs), str(kept)], spikemark)


def check_forms(line: list[str], spikemark) -> None:
    """All forms of a command line have a row of the table for each of its rows."""
    printed = {}
    for form in TABLE_FORMS:
        status, printed[form], errors = spikemark(*line, "--format", form)
        assert status == 0, errors
    frame = pd.read_csv(io.StringIO(printed["csv"]), comment="#")
    assert len(frame) and len(frame.columns) > 1
    assert len(printed["markdown"].splitlines()) == len(frame) + 2
    assert printed["latex"].count(r"\\") == len(frame) + 1


@pytest.mark.parametrize("words", LINES)
def test_what_would_change_nothing_is_refused(words, refusal, spikemark):
    for option in ("--json", "--details"):
        if any(option in parameter.opts for parameter in ROOT.commands[words].params):
            line = refusal(*LINES[words].split(), "--format", "csv", option)
            assert line.startswith("--format=") and option in line


def test_what_the_table_of_waiting_does_not_show_is_refused(refusal):
    for option in ("--schedule=structure_aware", "--change=halve-jitter", "--ranks=2"):
        line = refusal(*LINES["waiting"].split(), "--format", "csv", option)
        assert line.startswith("--format=") and option.split("=")[0] in line


def test_a_refusal_names_what_has_the_figures_instead(refusal):
    """Commands with --json, but without --format."""
    assert "--json" in refusal("cachesim", "network.json", "--format", "csv")
    assert "--json" in refusal("study", "du", "--format", "csv")


def test_the_values_of_machines_have_units_and_intervals(spikemark):
    _, printed, _ = spikemark("machine", "jureca-dc", "two-generations", "--format", "csv")
    frame = pd.read_csv(io.StringIO(printed))
    cores = frame[(frame["machine"] == "jureca-dc") & (frame["path"] == "node.cores")]
    assert cores["value"].tolist() == ["128"] and cores["unit"].tolist() == ["1"]
    assert (frame["machine"] == "two-generations").sum() > 20
    assert not frame.duplicated(["machine", "path"]).any()
    assert frame["value_low"].notna().any() and frame["kind"].notna().all()
