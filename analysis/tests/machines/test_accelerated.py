"""Profiles of nodes with accelerators: what they hold, what refuses them, and what is refused in them."""

import copy
import re
from pathlib import Path

import pytest
import yaml

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.models.published import papers
from spikemark.prediction import runs_published

NAMES = machines.accelerated_names()
PAGE = (Path(__file__).parents[3] / "docs" / "accelerators.md").read_text(encoding="utf-8")
EVENTS, NEURONS, STEPS = 938_037_605, 77_169, 10_000  # of the microcircuit, per second
ONE = {"value": 1, "unit": "1", "kind": "literature", "reference": "made up"}
GOOD = {"devices": ONE, "memory": ONE | {"unit": "GB"}, "t_next": ONE | {"unit": "ns"}}


def test_there_are_some_and_predictions_assume_nothing_from_them():
    assert len(NAMES) >= 8 and not set(NAMES) & {*machines.names(), *machines.names_of_parted()}
    assert machines.profile_names() == [*machines.names(), *NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_every_profile_is_sourced_listed_and_has_a_published_run(name):
    profile = machines.load(name)
    assert machines.is_accelerated(profile) and profile.need("accelerator.devices", "a test").value >= 1
    assert {path.partition(".")[0] for path in profile.values} <= {"accelerator", "power"}
    for value in profile.values.values():
        assert re.search(r"20\d\d|gist|README", value.reference) and "/work" not in value.reference
    assert f"`{name}`" in PAGE and runs_published.of_machine(name)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_assumed_of_them(name):
    with pytest.raises(BadInput, match=f"machine {name} has accelerators; .*`spikemark compare`"):
        machines.filled(machines.load(name))


@pytest.mark.parametrize("name", machines.names())
def test_cpu_nodes_are_none_of_them(name):
    assert not machines.is_accelerated(machines.load(name))


@pytest.mark.parametrize("name", {row["profile"] for row in papers.rows("genn_kernels")})
def test_kernel_times_follow_from_the_published_ones(name):
    profile = machines.load(name)
    rows = {row["platform"]: row for row in papers.rows("genn_kernels") if row["profile"] == name}
    for path, column, n in (
        ("accelerator.t_next", "synapse_ms", EVENTS / 1e6),
        ("accelerator.update.lif_exp", "neuron_ms", NEURONS * STEPS / 1e6),
        ("accelerator.step", "overhead_ms", STEPS / 1e3),
    ):
        found = profile.need(path, "a test")
        assert found.value == pytest.approx(float(rows["Python"][column]) / n, rel=4e-3)
        low, high = found.interval
        for row in rows.values():
            assert low * 0.999 <= float(row[column]) / n <= high * 1.001
    for row in rows.values():  # the parts are the whole
        whole = sum(float(row[column]) for column in ("neuron_ms", "synapse_ms", "overhead_ms"))
        assert whole == pytest.approx(float(row["total_ms"]), rel=1e-3)


@pytest.mark.parametrize("name", {row["profile"] for row in papers.rows("genn_kernels")})
def test_the_published_time_of_a_device_with_kernel_times_is_their_sum(name):
    totals = [float(row["total_ms"]) / 1e3 for row in papers.rows("genn_kernels") if row["profile"] == name]
    of_2021 = [r for r in runs_published.of_machine(name) if r.who == "PyGeNN"]
    assert [r.real_time_factor.value for r in of_2021] == [pytest.approx(max(totals), rel=1e-3)]


def test_every_published_run_has_a_profile_and_a_source():
    for found in runs_published.results():
        machines.load(found.profile)
        assert found.nodes >= 1 and (found.devices >= found.nodes or found.profile in machines.names())
        assert found.real_time_factor.low < found.real_time_factor.value < found.real_time_factor.high
        assert str(found.year) in found.source or "doi" in found.source
        assert bool(found.energy) == bool(found.energy_from)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("memory.unit", "GiB", "accelerator.memory.unit='GiB'; allowed: 'GB'"),
        ("t_next.unit", "us", "accelerator.t_next.unit='us'; allowed: 'ns'"),
        ("t_next.value", -0.2, "accelerator.t_next.value=-0.2; allowed: "),
        ("memory.value", 0, "accelerator.memory.value=0; allowed: "),
        ("devices.value", 0, "accelerator.devices.value=0; allowed: "),
        ("devices.value", 1.5, "accelerator.devices.value=1.5; allowed: "),
        ("t_next.kind", "guessed", "accelerator.t_next.kind='guessed'; allowed: "),
        ("speed", ONE, "accelerator.speed: unknown field; allowed: devices, name"),
        ("update", ONE | {"unit": "ns"}, "accelerator.update.value"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(path, value, said):
    content = {"format_version": 1, "name": "my-gpu", "title": "x", "accelerator": copy.deepcopy(GOOD)}
    at = content["accelerator"]
    *groups, last = path.split(".")
    for group in groups:
        at = at[group]
    at[last] = value
    with pytest.raises(BadInput) as bad:
        machines.checked(content, "my-gpu.yaml")
    assert said in str(bad.value) and "\n" not in str(bad.value)


@pytest.mark.parametrize("name", NAMES)
def test_the_table_of_the_page_has_the_published_numbers(name):
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |")]
    shown = [float(number) for number in re.findall(r"(?<![\d.])\d+\.?\d*", row.partition("` |")[2])]
    for found in runs_published.of_machine(name):
        printed = [q.value for q in (found.real_time_factor, found.energy) if q]
        for value in () if found.variant else printed:
            assert any(number == pytest.approx(value, rel=6e-3) for number in shown), (name, value)


def test_the_example_of_the_page_is_a_profile():
    example = PAGE.split("with its source:")[1].split("`spikemark machine my-gpu.yaml`")[0]
    profile = machines.checked(yaml.safe_load(example), "docs/accelerators.md")
    assert machines.is_accelerated(profile) and profile.get("accelerator.update.lif_exp").value == 0.2


def test_a_name_that_no_profile_has(spikemark):
    status, _, error = spikemark("machine", "rtx-4091")
    assert status == 2 and "rtx-4090" in error and error.count("\n") == 1
