"""The ring of input by the rule of the mini-app; tests/test_explained.py compares it with the
mini-app's.
"""

import pytest
from small_network import describe

from spikemark.core.errors import BadInput
from spikemark.network import ring
from spikemark.network.description import read_description


def of(*weights, indegree: int = 10) -> ring.Ring:
    """The ring of a network in which these weights occur."""
    description = describe(areas=2, indegree=0)
    description["network"]["projections"] = [
        {
            "source": "area0",
            "target": "area1",
            "indegree": indegree,
            "weight": w,
            "delay": {"mean": 1.5},
        }
        for w in weights
    ]
    return ring.input_ring(read_description(description))


def test_a_part_of_the_smallest_weight_is_the_unit():
    """With weights 2 and -3 the unit is 1, half of the smaller one."""
    found = of(2, -3)
    assert (found.unit, found.cell_bytes, found.slots) == (1.0, 2, 16)


def test_sixteen_bits_hold_the_most_synapses_of_a_neuron():
    assert of(1, indegree=32767).cell_bytes == 2
    assert of(1, indegree=32768).cell_bytes == 4
    assert (
        of({"mean": 1, "sd": 0.1, "classes": 0}).cell_bytes == 4
    )  # every synapse has its own weight
    assert of(1, indegree={"mean": 32000}).cell_bytes == 4  # some neuron may draw more than 32767


def test_a_weight_too_small_beside_the_others_is_refused():
    with pytest.raises(BadInput) as error:
        of(1e9, 2**0.5)
    assert "network.projections.1.weight=1.41421: 0 or at least" in str(error.value)
