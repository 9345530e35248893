"""Calibrations of this machine, far too short to tell its speed."""

from dataclasses import replace

import pytest

from spikemark import machines
from spikemark.machines.jitter import PART_OF
from spikemark.measuring import calibrate, kernels_in_runs, site

pytestmark = [pytest.mark.slow, pytest.mark.alone]

SHORTEST = replace(
    site.QUICK_EFFORT,
    lasts_s=0.0,
    kernel_s=1e-3,
    exchange_s=1e-4,
    bytes=(4, 64),
    model_ms=50.0,
    in_runs_ms=10.0,
    patience_s=0.1,
)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two calibrations: outcome and profile of each."""
    folder = tmp_path_factory.mktemp("machines")
    for name in ("one", "two"):
        (folder / name).mkdir()
    with pytest.MonkeyPatch.context() as patched:  # what takes longest is to build large networks
        patched.setattr(kernels_in_runs, "NETWORKS", kernels_in_runs.NETWORKS[:4])
        outcomes = [
            calibrate.calibrate("here", folder / name / "here.yaml", SHORTEST)
            for name in ("one", "two")
        ]
    return [(outcome, machines.load(outcome.path)) for outcome in outcomes]


def may_not_be_unknown(path):
    return "interconnect" not in path and path.removeprefix("jitter.") not in PART_OF


def test_both_tell_the_same_things(two):
    (first, one), (second, other) = two
    # what is disturbed may be unknown in one of them: messages that take no time, and the factors
    # and lengths of modes and spells that too few rounds had
    always = {path for path in one.values if may_not_be_unknown(path)}
    assert always == {path for path in other.values if may_not_be_unknown(path)}
    assert first.unknown.keys() | one.values.keys() == second.unknown.keys() | other.values.keys()
    for path, value in one.values.items():
        assert value.kind == "measured" and value.reference.startswith("spikemark calibrate, 20"), (
            path
        )
    for path in ("node.cores", "node.memory", "node.l1d", "software.launcher"):
        assert one.get(path) == other.get(path)


def test_every_value_of_the_machine_is_there_or_unknown_with_a_reason(two):
    outcome, profile = two[0]
    needed = [
        f"kernels.{c}.{t}"
        for c in ("one_core", "full_node")
        for t in ("t_first", "t_next", "cycle")
    ]
    needed += [
        "kernels.full_node.t_spike",
        "kernels.full_node.update.ignore_and_fire",
        "kernels.full_node.external",
        "jitter.cv",
    ]
    for path in [*needed, "node.clock", "node.bandwidth", "jitter.correlation_time"]:
        low, high = profile.need(path, "this test").interval
        assert 0 <= low <= profile.get(path).value <= high
    told = {part for path in outcome.unknown for part in (path, f"{path}.")}
    for path in profile.unknown():
        assert path in told or any(path.startswith(t) for t in told if t.endswith(".")), path
    text = outcome.path.read_text()
    for path, reason in outcome.unknown.items():
        assert f"# Unknown: {path}: {reason}\n" in text
