"""The study of simulated against measured runs, on planted times."""

import re
import shutil

import numpy as np
import pytest
from edited_record import edit, set_times
from html_page import Page
from planned import run, write_experiment
from small_network import describe

from spikemark import machines
from spikemark.records.gather import gather
from spikemark.studies import STUDIES, carry_out, simulation_check

FACTORS = {"replay": 0.9, "execute": 1.2, "model": 1.5}


@pytest.fixture
def results(tmp_path):
    """Runs of one and two ranks, and simulated ones that took FACTORS times as long, in each phase."""
    return simulated(tmp_path, [run(ranks=n, repetition=k) for n in (1, 2) for k in (1, 2)])


def simulated(tmp_path, runs: list[dict]):
    folder = write_experiment(tmp_path, runs)
    for planned in sorted((folder / "runs").iterdir()):
        for mode, factor in FACTORS.items():
            copy = simulation_check.folder(planned, mode)
            shutil.copytree(planned, copy)
            set_times(copy, factor * np.load(copy / "cycles.npy"))
            edit(copy, lambda record, factor=factor: slowed(record, factor))
    return folder


def slowed(record: dict, factor: float) -> None:
    for name in ("simulate_s", "real_time_factor"):
        record["timing"][name] *= factor


def rows(folder) -> list[dict]:
    return simulation_check.read(gather(folder)).tables[0].rows


def test_errors_are_those_planted(results):
    found = rows(results)
    assert [row["quantity"] for row in found] == 2 * [
        "deliver", "update", "collocate", "compute", "waiting", "exchange", "cycle"
    ]  # fmt: skip
    for row in found:
        for mode, factor in FACTORS.items():
            error = row[f"{mode}_error_percent"]
            if row["ranks"] == 1 and row["quantity"] in ("waiting", "exchange"):
                assert error is simulation_check.ALONE
            else:
                assert error == pytest.approx(100 * (factor - 1))
                assert row[f"{mode}_us"].value == pytest.approx(factor * row["measured_us"].value)


def test_the_page_says_how_far_off_and_whether_the_spikes_agree(results):
    done = carry_out.write(STUDIES["simulation-check"], gather(results))
    page = Page(done.page.read_text())
    assert "Every simulated run found the spikes of its real run" in page.text
    assert "replay −10.0 %, execute +20.0 %, model +50.0 %" in done.findings.sentence.replace(
        "\u202f", " "
    ).replace("\u2212", "−")


def test_networks_of_other_sizes_are_told_apart(tmp_path):
    """Longer cycles have errors of their own, and are named last, whatever the size."""
    sizes = {100: 1e-4, 1000: 1e-5}
    folder = simulated(tmp_path, [
        run(repetition=k, description=describe(neurons=size), mean_s=mean_s)
        for size, mean_s in sizes.items() for k in (1, 2)
    ])  # fmt: skip
    assert [row["neurons"] for row in rows(folder)] == 7 * [200] + 7 * [2000]
    sentence = simulation_check.read(gather(folder)).sentence
    assert [float(us) for us in re.findall(r"up to (\S+) µs: replay", sentence)] == [
        pytest.approx(1e6 * mean_s, rel=0.5) for mean_s in sorted(sizes.values())
    ]


def test_other_spikes_are_named(results):
    copy = simulation_check.folder(results / "runs" / f"{2:012x}", "replay")
    edit(copy, lambda record: record.update(checksum="0" * 16))
    (box,) = simulation_check.read(gather(results)).parts[0].boxes
    assert (
        box.tone == "bad"
        and "These simulated runs have other spikes than their real runs: conventional D=1 ranks=2"
        in box.text
    )


def test_what_was_not_simulated_is_missing(results):
    shutil.rmtree(results / simulation_check.FOLDER)
    assert not any(row["replay_us"] for row in rows(results))
    assert simulation_check.read(gather(results)).sentence.startswith("Nothing to compare yet")


def test_without_a_profile_nothing_is_simulated(results, monkeypatch):
    monkeypatch.setattr(machines, "names", list)
    assert simulation_check.simulate(gather(results)) == [simulation_check.NO_PROFILE]


def test_without_simgrid_that_is_said_once(results, monkeypatch):
    monkeypatch.setattr(simulation_check, "_profile", lambda run: "of this host")
    monkeypatch.setenv("PATH", "/nowhere")
    (complaint,) = simulation_check.simulate(gather(results))
    assert complaint.startswith("not simulated: smpirun: ") and "libsimgrid-dev" in complaint
