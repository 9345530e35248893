"""Dry runs of the real mini-app against the runs that they stand for: the same spikes on every
rank.
"""

import json

import pandas as pd
import program
import pytest
from small_network import describe

from spikemark.records import dry_run, record
from spikemark.records.phases import COMPUTE_PARTS
from spikemark.records.record import COUNTED

pytestmark = pytest.mark.slow

WAYS = [
    (2, 1, 1, "conventional", "round_robin"),
    (3, 2, 2, "structure_aware", "area"),
    pytest.param(5, 1, 1, "overlapped", "area", marks=pytest.mark.nightly),
]
SAME = ["checksum", *(name for name in COUNTED if name not in ("messages", "bytes_sent"))]


@pytest.fixture
def said(spikemark):
    """What a command prints that must succeed."""

    def run(*words) -> str:
        status, output, errors = spikemark(*words)
        assert status == 0, errors
        return output

    return run


@pytest.fixture
def dry(said, tmp_path):
    """Runs `spikemark dryrun` of a description: its folder and its JSON."""

    def run(description: dict, of: int, sample: int, *words) -> tuple:
        (tmp_path / "run.json").write_text(json.dumps(description))
        words = (*words, "--out", tmp_path / "dry", "--json")
        output = said("dryrun", tmp_path / "run.json", "--of", of, "--sample", sample, *words)
        return tmp_path / "dry", json.loads(output)

    return run


@pytest.mark.parametrize(("ranks", "threads", "n", "schedule", "placement"), WAYS)
def test_all_ranks_alone_fire_and_receive_what_they_do_together(
    dry, tmp_path, ranks, threads, n, schedule, placement
):
    run = describe(areas=10, neurons=60) | {"schedule": schedule, "placement": placement}
    folder, content = dry(run, ranks, ranks, "--ranks-here", n, "--threads", threads)
    together = program.record_of(tmp_path / "real", description=run, ranks=ranks, threads=threads)
    assert content["spikes"] == "exact" and content["waiting_us"] is None
    tables = [pd.read_csv(folder / "ranks" / str(r) / "ranks.csv", dtype=str) for r in range(ranks)]
    own, there = (
        pd.concat(tables, ignore_index=True),
        pd.read_csv(tmp_path / "real/ranks.csv", dtype=str),
    )
    assert own[SAME].equals(there[SAME])
    total = sum(int(checksum, 16) for checksum in own["checksum"]) % 2**64
    assert f"{total:016x}" == together["checksum"]


def test_the_folder_of_a_real_dry_run_is_taken_by_every_reader(dry, said):
    folder, _ = dry(describe(areas=8, neurons=60), 8, 3, "--threads", 1)
    found = dry_run.load_dry_run(folder)
    assert found.times().shape == (8, 1000, len(COMPUTE_PARTS)) and len(found.timed) == 3
    assert "8 ranks" in said("waiting", folder)
    output = said("predict", "--machine", "epyc-vm", "--compute-from", folder, "--json")
    (prediction,) = json.loads(output)["predictions"]
    mean = float(found.times().mean(axis=(0, 1), dtype=float).sum()) / 1e-4
    parts = [prediction["figures"][name]["value"] for name in COMPUTE_PARTS]
    assert sum(parts) == pytest.approx(float(found.means().mean(axis=0).sum()) / 1e-4)
    assert sum(parts) == pytest.approx(
        mean, rel=0.01
    )  # times of ranks that were not timed are drawn
    assert not (folder / dry_run.PAGE).exists()
    assert said("report", folder) and (folder / dry_run.PAGE).is_file()


def test_neurons_without_known_spikes_need_a_rate(dry):
    run = describe(areas=4, neurons=60)
    for population in run["network"]["populations"]:
        population["neuron"] = {"model": "lif_delta"}
    folder, content = dry(run, 4, 2, "--threads", 1, "--rate", 7.5)
    assert content["spikes"] == "drawn" and "7.5 Hz" in content["rates"]
    assert dry_run.load_dry_run(folder).alone.rate_hz == 7.5
    with pytest.raises(Exception, match="one rank that ran alone"):
        record.load_run(folder / dry_run.EACH / "0")
