"""Dry runs of the real mini-app against the runs that they stand for: the same spikes on every rank."""

import csv
import json

import program
import pytest
from small_network import describe

from spikemark.cli import main
from spikemark.records import dry_run, record
from spikemark.records.phases import COMPUTE
from spikemark.records.record import COUNT_COLUMNS

pytestmark = pytest.mark.slow

WAYS = [
    (2, 1, 1, "conventional", "round_robin"),
    (3, 2, 1, "placement_only", "area"),
    (4, 1, 2, "structure_aware", "area"),
    (5, 1, 1, "overlapped", "area"),
    (8, 2, 2, "structure_aware", "area"),
]
SAME = [name for name in COUNT_COLUMNS if name not in ("messages", "bytes_sent")]


@pytest.fixture
def spikemark(capsys):
    """Runs the command line in this process; returns what it prints."""

    def run(*arguments) -> str:
        with pytest.raises(SystemExit) as end:
            main.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert end.value.code == 0, captured.err
        return captured.out

    return run


def rows(path):
    with open(path / "ranks.csv", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize(("ranks", "threads", "n", "schedule", "placement"), WAYS)
def test_all_ranks_alone_fire_and_receive_what_they_do_together(
    spikemark, tmp_path, ranks, threads, n, schedule, placement
):
    run = describe(areas=10, neurons=60) | {"schedule": schedule, "placement": placement}
    file, dry, real = tmp_path / "run.json", tmp_path / "dry", tmp_path / "real"
    file.write_text(json.dumps(run))
    words = ["--sample", ranks, "--ranks-here", n, "--threads", threads, "--out", dry, "--json"]
    content = json.loads(spikemark("dryrun", file, "--of", ranks, *words))
    together = program.record_of(real, description=file, ranks=ranks, threads=threads)
    assert content["spikes"] == "exact" and content["waiting_us"] is None
    own, others = rows(dry), rows(real)
    for alone, there in zip(own, others, strict=True):
        assert {name: alone[name] for name in SAME} == {name: there[name] for name in SAME}
        assert alone["checksum"] == there["checksum"]
    total = sum(int(row["checksum"], 16) for row in own) % 2**64
    assert f"{total:016x}" == together["checksum"]


def test_the_folder_of_a_real_dry_run_is_taken_by_every_reader(spikemark, tmp_path):
    file, dry = tmp_path / "run.json", tmp_path / "dry"
    file.write_text(json.dumps(describe(areas=8, neurons=60)))
    spikemark("dryrun", file, "--of", 8, "--sample", 3, "--threads", 1, "--out", dry)
    found = dry_run.load(dry)
    assert found.times().shape == (8, 1000, len(COMPUTE)) and len(found.timed) == 3
    assert "8 ranks, 1000 cycles" in spikemark("fit", dry)
    output = spikemark("predict", "--machine", "epyc-vm", "--compute-from", dry, "--json")
    (prediction,) = json.loads(output)["predictions"]
    mean = float(found.times().mean(axis=(0, 1), dtype=float).sum()) / 1e-4
    parts = [prediction["figures"][name]["value"] for name in COMPUTE]
    assert sum(parts) == pytest.approx(mean)
    assert (
        (dry / dry_run.PAGE).exists() is False and spikemark("report", dry) and (dry / dry_run.PAGE).is_file()
    )


def test_neurons_without_known_spikes_need_a_rate(spikemark, tmp_path):
    run = describe(areas=4, neurons=60)
    for population in run["network"]["populations"]:
        population["neuron"] = {"model": "lif_delta"}
    file, dry = tmp_path / "run.json", tmp_path / "dry"
    file.write_text(json.dumps(run))
    words = ["--sample", 2, "--threads", 1, "--rate", 7.5, "--out", dry, "--json"]
    content = json.loads(spikemark("dryrun", file, "--of", 4, *words))
    assert content["spikes"] == "drawn" and "7.5 Hz" in content["rates"]
    assert dry_run.load(dry).about.rate_hz == 7.5
    with pytest.raises(Exception, match="one rank that ran alone"):
        record.load(dry / dry_run.EACH / "0")
