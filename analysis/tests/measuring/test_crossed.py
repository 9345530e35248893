"""Kernel times of a machine predicted from those of another one."""

import pytest

from spikemark import machines
from spikemark.measuring import crossed


def machine(name: str, clock: float, ns: float) -> machines.Profile:
    empty = machines.checked({"format_version": 1, "name": name, "title": name}, "f")
    given = {"node.clock": clock, "kernels.full_node.t_first": ns, "kernels.one_core.t_next": 1.0}
    return empty.assume_all({path: (value, "a test", None) for path, value in given.items()})


def test_times_scale_with_the_clock():
    one, other = machine("one", 2.0, 10.0), machine("other", 4.0, 8.0)
    assert crossed.crossed(one, other) == {"t_first": pytest.approx(10 * 2 / 4 / 8)}
    assert "| `t_first` | 10.0 | 8.00 | × 0.62 |" in "\n".join(crossed.rows(one, other))
