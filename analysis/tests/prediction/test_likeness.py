"""Places that a new value of a machine reaches in the models of production programs, beside those
of test_no_field_is_ignored.py: nothing there counts fields, takes a prior for granted or divides
by a value that may be 0.
"""

from dataclasses import fields, make_dataclass, replace

import pytest

from spikemark import machines
from spikemark.machines import priors
from spikemark.machines.profile import Value
from spikemark.prediction import likeness, points, published_machine
from spikemark.prediction.published_machine import PATHS, PublishedMachine, measured_machine

PUBLISHED = {run.machine.name: run.machine for run in points.published()}
JURECA = measured_machine("jureca-dc")
#: A number that priors.yaml does not know, and a field for it.
WITHOUT_PRIOR, NEW_FIELD = "price.node_hour", "packing_us"
EXTENDED = make_dataclass(
    "Extended", [(NEW_FIELD, float, 0.0)], bases=(PublishedMachine,), frozen=True
)
PART_OF_FIELD = {name: part for part, names in likeness.BETTER.items() for name in names}
ALL_STATED = replace(JURECA, stated=frozenset(PATHS))
TINY = 1e-300


@pytest.mark.parametrize("part", likeness.BETTER)
def test_what_measured_machines_lack_is_that_of_the_one_that_states_least(part):
    spreads = {name: likeness.unstated(part, machine) for name, machine in PUBLISHED.items()}
    assert spreads[likeness.LEAST_STATED[part]] == 1
    assert max(spreads.values()) == 1, f"LEAST_STATED of likeness.py states more than {spreads}"


@pytest.mark.parametrize("part", likeness.BETTER)
def test_a_new_field_that_nobody_states_widens_no_interval(part, monkeypatch):
    before = {name: likeness.unstated(part, machine) for name, machine in PUBLISHED.items()}
    extended = likeness.BETTER[part] | {NEW_FIELD: -1}
    monkeypatch.setitem(likeness.BETTER, part, extended)
    after = {name: likeness.unstated(part, machine) for name, machine in PUBLISHED.items()}
    assert after == before
    stating = replace(JURECA, stated=JURECA.stated | {NEW_FIELD})
    assert likeness.unstated(part, stating) < likeness.unstated(part, JURECA)


def test_every_value_of_a_machine_is_better_when_it_is_larger_or_smaller():
    """`anchors` asks for the sign of each value that a profile does not state."""
    assert set(likeness.SIGN) == set(PATHS) <= {field.name for field in fields(PublishedMachine)}


def bare():
    """A filled profile that states its cores and nothing else."""
    profile = machines.load("jureca-dc")
    cores = {"node.cores": profile.values["node.cores"]}
    return machines.filled(replace(profile, values=cores, measured_as=None, processor=None))


def test_a_value_without_a_prior_is_a_cost_that_is_0_by_default():
    known = bare().values
    default = {field.name: field.default for field in fields(PublishedMachine)}
    for name, path in PATHS.items():
        assert path in known or default[name] == 0, (
            f"{path}: needs a row in priors.yaml, or a default of 0 in PublishedMachine.{name}"
        )


def test_nobody_pays_a_value_without_a_prior_that_nobody_states(monkeypatch):
    monkeypatch.setitem(PATHS, NEW_FIELD, WITHOUT_PRIOR)
    monkeypatch.setattr(published_machine, "PublishedMachine", EXTENDED)
    machine = published_machine.machine_of(bare())
    assert machine.packing_us == 0 and NEW_FIELD not in machine.stated
    value = Value(2.0, "EUR/h", "measured", "a test", interval=(1.0, 3.0))
    stating = replace(bare(), values=bare().values | {WITHOUT_PRIOR: value})
    machine = published_machine.machine_of(stating)
    assert machine.packing_us == 2 and NEW_FIELD in machine.stated
    assert NEW_FIELD in {uncertain.field for uncertain in machine.uncertain}


@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("name", PART_OF_FIELD)
def test_a_value_of_0_is_the_limit_of_small_ones(name, slow):
    """A cost that most machines do not have is 0 on them."""

    def share(number, measured_number):
        machine = replace(ALL_STATED, **{name: number})
        measured = replace(ALL_STATED, **{name: measured_number})
        return likeness.likeness(PART_OF_FIELD[name], machine, measured, slow)[0]

    assert share(0.0, 0.0) == 1
    assert share(0.0, 1.0) == pytest.approx(share(TINY, 1.0))
    assert share(1.0, 0.0) == pytest.approx(share(1.0, TINY))


def test_an_assumed_value_gets_a_spread_from_its_row():
    """A profile that assumes a value without an interval gets the ratio of the row's ends."""
    for row in priors._table()["rows"]:
        if "interval" in row:
            low, high = row["interval"]
            assert 0 < low < high, f"{row['path']}: ends above 0, of which the ratio is taken"


@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("factor", [0.5, 2.0, 3.0])
@pytest.mark.parametrize("fields", likeness.TOGETHER)
def test_fields_that_make_one_number_are_judged_by_it(fields, factor, slow):
    """Slices of the last cache of twice the size for twice the cores are the same to a core."""
    part = PART_OF_FIELD[fields[0]]
    for measured in PUBLISHED.values():
        if not measured.stated.issuperset(fields):
            continue
        numbers = {name: factor * getattr(measured, name) for name in fields}
        same = replace(measured, **numbers)
        assert likeness.likeness(part, same, measured, slow)[0] == pytest.approx(1)
        assert likeness.is_as_good(same, measured) and likeness.is_as_good(measured, same)
        for name in fields:
            differs = replace(measured, **{name: numbers[name]})
            better = likeness.SIGN[name] * (factor - 1) > 0
            share, _ = likeness.likeness(part, differs, measured, slow)
            assert (share < 1) == (better == slow)
            assert likeness.is_as_good(differs, measured) == better
            assert likeness.is_as_good(measured, differs) != better
