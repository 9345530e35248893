"""Misspelt fields of an experiment are refused with the field that was meant."""

import pytest

from spikemark.core.errors import BadInput
from spikemark.records.experiment_fields import DESCRIPTION_FIELDS, Experiment
from spikemark.running.experiments import changed, load_experiment

WHOLE = [*Experiment.model_fields, *DESCRIPTION_FIELDS]
PATHS = ["preset.areas", "machine.cv", "time.simulate_ms", "network.populations.0.size"]


def misspelt(field: str) -> list[str]:
    """A field without one of its letters, and with two of them swapped."""
    first, dot, rest = field.partition(".")
    if len(first) < 4:
        return []
    middle = len(first) // 2
    swapped = first[: middle - 1] + first[middle] + first[middle - 1] + first[middle + 1 :]
    return [first[:-1] + dot + rest, swapped + dot + rest]


@pytest.mark.parametrize("field", WHOLE + PATHS)
def test_set_proposes_the_field_that_was_meant(field):
    for wrong in misspelt(field):
        if wrong in WHOLE:
            continue
        with pytest.raises(BadInput) as refused:
            changed(load_experiment("smoke"), {wrong: 1})
        assert wrong in str(refused.value)
        assert f"did you mean {field!r}?" in str(refused.value), wrong


def test_a_field_of_the_experiment_inside_set_is_told_where_it_stands():
    with pytest.raises(BadInput, match=r"'ranks' stands beside 'set'"):
        changed(load_experiment("smoke"), {"set": {"ranks": 2}})
