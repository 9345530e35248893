"""`spikemark simulate` from end to end: the real mini-app on a simulated machine."""

import contextlib
import json
from pathlib import Path

import machine_file
import numpy as np
import pytest
import synthetic
from edited_record import set_times
from four_areas import RANKS, SCHEDULES, describe
from synthetic_record import PHASES

from spikemark import machines
from spikemark.core import launch, places
from spikemark.core.errors import BadInput
from spikemark.models import recursion
from spikemark.presets import dpsnn
from spikemark.records import record
from spikemark.running import measure, simulation
from spikemark.running.simulation import compute_times, smpirun, sources
from spikemark.running.simulation.sources import Place

LARGE_S = 1e-3  # of the clock's steps and the overhead of a message nothing is seen then


@pytest.fixture(scope="module")
def machine(tmp_path_factory) -> machines.Profile:
    return machines.load(machine_file.write(tmp_path_factory.mktemp("machine") / "made-up.yaml"))


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The run of a description on two ranks of this machine."""
    folder, kept = tmp_path_factory.mktemp("real"), {}

    def run(schedule: str) -> record.Run:
        if schedule not in kept:
            path = folder / f"{schedule}.json"
            path.write_text(json.dumps(describe(schedule)))
            program = [str(places.program("miniapp")), str(path), "--out", str(folder / schedule)]
            status, _, errors = measure.watch(launch.launch("mpirun", program, launch.Layout(2)), 60)
            assert status == 0, errors
            kept[schedule] = record.load(folder / schedule)
        return kept[schedule]

    return run


def simulate(out: Path, machine, schedule: str, ranks: int = RANKS, compute="model", **options) -> record.Run:
    return record.load(simulation.simulate(describe(schedule), machine, ranks, out, compute, **options))


@pytest.mark.parametrize("compute", ["model", "execute"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_spikes_are_those_of_the_real_run(tmp_path, machine, real, schedule, compute):
    found = simulate(tmp_path / "out", machine, schedule, compute=compute)
    assert found.record.checksum == real(schedule).record.checksum
    assert found.record.kind == "simulated" and found.record.ranks == RANKS
    assert np.all(found.compute() > 0)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_ranks_wait_as_the_recursion_says(tmp_path, machine, schedule):
    """With cycles so long that messages cost next to nothing."""
    times = np.zeros((RANKS, 200, 3), dtype=np.float32)
    times[:, :, 1] = np.random.default_rng(1).normal(LARGE_S, LARGE_S / 10, (RANKS, 200))
    replayed = _run_with(tmp_path / "before", times)
    found = simulate(tmp_path / "out", machine, schedule, compute=replayed)
    assert found.compute() == pytest.approx(times.sum(axis=2), abs=2e-6)  # polling in between
    waiting = sum(
        found.phase(name).astype(float)
        for name in ("synchronise", "overlap_wait")
        if name in found.record.phases
    )
    expected = recursion.evaluate(times.sum(axis=2), recursion.lanes_of(found)).waiting_per_cycle_s
    assert expected > 0.01 * LARGE_S
    assert waiting.mean() == pytest.approx(expected, rel=0.1, abs=0.01 * LARGE_S)


def _run_with(folder: Path, times: np.ndarray) -> Path:
    """The folder of a run with these compute times."""
    ranks, cycles = times.shape[:2]
    run = synthetic.write_run(
        folder, ranks=ranks, cycles=cycles, description=describe(), schedule="conventional"
    )
    array = np.load(run / "cycles.npy")
    array[:, :, [PHASES.index(name) for name in compute_times.PHASES]] = times
    set_times(run, array)
    return run


def test_a_real_run_is_replayed_cycle_by_cycle(tmp_path, machine, real):
    measured = real("structure-aware")
    found = simulate(tmp_path / "out", machine, "structure-aware", 2, measured.path, ranks_per_node=2)
    assert found.record.checksum == measured.record.checksum
    assert found.compute() == pytest.approx(measured.compute(), rel=1e-3, abs=1e-7)
    about = json.loads((tmp_path / "out" / "simulation.json").read_text())
    assert about["run"] == str(measured.path) and about["threads"] == 1
    assert about["cost_per_rank_and_cycle_s"] == pytest.approx(about["cost_s"] / (2 * (200 + 10)))  # warm-up
    assert about["cost_s"] > 0 and "SimGrid" in about["simgrid"] and "<cluster" in about["platform"]


def test_a_replayed_run_is_set_beside_its_simulation(tmp_path, machine, real, spikemark):
    measured = real("structure-aware")
    (tmp_path / "run.json").write_text(json.dumps(describe("structure-aware")))
    machine_file.write(tmp_path / "made-up.yaml")
    status, output, errors = spikemark(
        "simulate", tmp_path / "run.json", "--machine", tmp_path / "made-up.yaml", "--ranks", 2,
        "--ranks-per-node", 2, "--compute", measured.path, "--out", tmp_path / "out",
    )  # fmt: skip
    assert status == 0, errors
    ratios = simulation.ratios(measured, record.load(tmp_path / "out"))
    assert ratios.keys() == {"waiting", "exchange"} and all(ratio > 0 for ratio in ratios.values())
    words = ", ".join(f"{name} {ratio:.3g}" for name, ratio in ratios.items())
    assert f"the replayed run over this one, medians over windows: {words}\n" in output


def test_ratios_are_those_of_typical_windows(tmp_path):
    """Interruptions do not count, and cycles without an exchange count to their window."""
    runs = [synthetic.write_run(tmp_path / name, schedule="structure_aware") for name in ("one", "other")]
    cycles = np.load(runs[0] / "cycles.npy")
    longer = cycles.copy()
    longer[:, :, -1] *= 3  # the exchange
    longer[0, 5, -1] += 1
    set_times(runs[0], longer)
    one, other = (record.load(run) for run in runs)
    assert simulation.ratios(one, other)["exchange"] == pytest.approx(3, rel=1e-3)


def test_modelled_times_have_the_mean_and_scatter_asked_for(tmp_path, machine):
    full = describe() | {"schedule": "conventional"}
    for population in full["network"]["populations"]:
        population["size"] *= 1000
    found = simulate(tmp_path / "out", machine, "structure-aware", compute_of=full, cv=0.2, seed=7, threads=2)
    about = json.loads((tmp_path / "out" / "simulation.json").read_text())
    low, high = np.sum([about["mean_s"][name] for name in ("deliver", "update", "collocate")], axis=0)
    compute = found.compute()
    assert low == pytest.approx(high, rel=0.05) and low > 1e-5
    assert compute.mean() == pytest.approx((low + high) / 2, rel=0.05)
    assert compute.std(axis=1) / compute.mean(axis=1) == pytest.approx(np.full(RANKS, 0.2), rel=0.2)
    assert about["jitter"]["cv"] == 0.2 and about["seed"] == 7 and about["threads"] == 2


def test_a_simulated_run_repeats(tmp_path, machine):
    first, second = (simulate(tmp_path / name, machine, "overlapped") for name in ("one", "two"))
    assert np.array_equal(first.cycles, second.cycles)


def test_progress_tells_the_cycles_that_are_done(tmp_path, machine, monkeypatch):
    monkeypatch.setattr(smpirun, "LOOK_S", 0.01)
    told = []

    @contextlib.contextmanager
    def progress(words):
        told.append(words)
        yield lambda done, cycles: told.append((done, cycles))

    simulation.simulate(describe(cycles=3000), machine, RANKS, tmp_path / "out", progress=progress)
    words, *counts = told
    assert words == "4 ranks x 3000 cycles on made-up"
    assert {cycles for _, cycles in counts} <= {0, 3010}  # 0: the file is just being made
    assert [done for done, _ in counts] == sorted(done for done, _ in counts)
    assert any(0 < done < 3010 for done, _ in counts)


def test_an_earlier_run_is_replaced(tmp_path, machine):
    simulate(tmp_path / "out", machine, "conventional")
    found = simulate(tmp_path / "out", machine, "overlapped")
    assert found.schedule == "overlapped"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_may_have_spaces_in_its_name(tmp_path, machine):
    assert simulate(tmp_path / "my runs" / "the first", machine, "conventional").record.ranks == RANKS


def test_a_run_of_a_study_is_simulated_once(tmp_path, machine):
    out = tmp_path / "out"
    assert not simulation.done(out, machine)
    simulate(out, machine, "conventional")
    assert simulation.done(out, machine)
    assert not simulation.done(out, machine.assume("interconnect.gap", 0.2, "us", "a test"))


def test_execution_of_neurons_without_a_rate_of_their_own_is_scaled_at_the_one_given(machine):
    place = Place.of(machines.filled(machine), 2, 1, 1)
    network = dpsnn.describe(neurons=200)
    assert sources.execute(network, place, place.machine, 3.0).factor == pytest.approx(1, rel=0.1)
    with pytest.raises(BadInput, match=r"has no rate of its own"):
        sources.execute(network, place, place.machine)


def test_execution_is_scaled_by_what_the_kernels_need_there_and_here(tmp_path, machine):
    slow = machine
    for group in ("one_core", "full_node"):
        kernel = f"kernels.{group}.update.ignore_and_fire"
        slow = slow.assume(kernel, 10 * machine.need(kernel, "the test").value, "ns", "a test")
        slow = slow.assume(f"kernels.{group}.cycle", 1000, "ns", "a test")
        machine = machine.assume(f"kernels.{group}.cycle", 100, "ns", "a test")
    simulation.simulate(describe(), slow, 2, tmp_path / "out", "execute", host=machine)
    about = json.loads((tmp_path / "out" / "simulation.json").read_text())
    assert about["factor"] == pytest.approx(10, rel=0.05)
    assert (
        about["host"] == "made-up" and "--cfg=smpi/host-speed:" + f"{about['factor']:.6g}Gf" in about["flags"]
    )
