"""Kernel times of a machine predicted from those of another: planted machines."""

import pytest

from spikemark import machines
from spikemark.measuring import crossed

NODE = {
    "node.clock": 2.0,
    "node.cores": 4,
    "node.l3": 1024,
    "node.l3_cores": 4,
    "node.bandwidth": 40.0,
    "node.bandwidth_core": 20.0,
}
TIMES = {
    f"kernels.full_node.{name}": 10.0 for name in ("t_first", "t_next", "t_spike", "update.lif_exp")
}


def machine(name: str, **changed: float) -> machines.Profile:
    empty = machines.checked({"format_version": 1, "name": name, "title": name}, "f")
    stated = {
        **NODE,
        **TIMES,
        **{path.replace("__", "."): value for path, value in changed.items()},
    }
    return empty.assume_all(
        {path: machines.Assumption(value, "a test") for path, value in stated.items()}
    )


@pytest.mark.parametrize(
    ("change", "factors"),
    [
        ({}, [1, 1, 1, 1]),
        ({"node__clock": 4.0}, [0.5, 1, 0.5, 0.5]),  # memory is no faster
        ({"node__bandwidth": 20.0}, [1, 2, 1, 1]),
        ({"node__cores": 8, "node__bandwidth": 80.0}, [1, 1, 1, 1]),
        ({"node__l3": 4096}, [0.5, 1, 1, 1]),
    ],
)
def test_times_scale_as_the_sheet_says(change, factors):
    by_sheet = crossed.crossed(machine("one"), machine("other", **change))
    assert [*by_sheet.values()] == pytest.approx(factors)
    by_clock = crossed.crossed(machine("one"), machine("other", **change), sheet=False)
    assert [*by_clock.values()] == pytest.approx([2.0 / change.get("node__clock", 2.0)] * 4)
