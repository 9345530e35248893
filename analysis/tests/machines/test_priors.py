"""What is assumed of a value holds the values of the project's own machines, each left out."""

import pytest

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines.profile import Profile

#: Kernel times are a table that was measured as a whole; priors.yaml has none of them.
KERNELS = "kernels."
#: Values that no prior has to hold, and why.
EXCEPTIONS = {
    ("xeon-vm", "node.l3"): "a virtual machine of two cores reports the cache of its host",
    ("dpsnn-westmere-ib", "power.card"): "the paper counts no card, and 0 has no logarithm",
}


def own_values():
    for name in machines.names():
        machine = machines.load(name)
        if not isinstance(machine, Profile) or "node.cores" not in machine.values:
            continue
        for path, value in machine.values.items():
            if isinstance(value.value, int | float) and not path.startswith(KERNELS):
                yield name, path


@pytest.mark.parametrize("name", sorted({name for name, _ in own_values()}))
def test_the_interval_of_what_is_assumed_holds_the_value(name):
    machine = machines.load(name)
    outside = []
    for path in [path for of_machine, path in own_values() if of_machine == name]:
        others = {other: value for other, value in machine.values.items() if other != path}
        unknown = Profile("offer", "An offer", others, processor=machine.processor)
        try:
            assumed = machines.filled(unknown).get(path)
        except BadInput:  # no machine without it: cores
            continue
        if assumed is None or assumed.interval is None or (name, path) in EXCEPTIONS:
            continue
        low, high = assumed.interval
        if not low <= machine.values[path].value <= high:
            outside.append((path, machine.values[path].value, assumed.interval))
    assert not outside


def test_what_is_assumed_is_said_to_be_so_once():
    for name in machines.names():
        for path, value in machines.filled(machines.load(name)).values.items():
            assert value.reference.count("assumed: ") <= 1, (name, path)
