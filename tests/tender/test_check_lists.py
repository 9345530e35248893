"""What the checker holds copies of, and where it looks at long runs."""

import numpy as np
from tender.test_check import Courses, waits

from spikemark.network import schedules
from spikemark.records import phases
from spikemark.tender import environment
from spikemark.tender.check import copies, machine, spikes, waiting
from spikemark.tender.check import times as checked_times
from spikemark.tender.check.findings import Report


def test_what_is_looked_at_follows_from_the_times_so_that_nobody_can_edit_the_rest(tmp_path):
    """A long run of which the checker sees a part; a fifth of it has waiting that does not follow."""
    times = waits(np.random.default_rng(8).gamma(20, 1e-5, (2, 400_000)))
    seen = []
    for edited in range(5):
        changed = times.copy()
        changed[:, edited * 80_000 : (edited + 1) * 80_000, 1] *= 0.5
        report = Report()
        waiting.check_waiting(Courses(tmp_path, changed), 0.05, report)
        seen += [name for name, *_ in report.findings]
    assert seen == 5 * ["waiting"]
    one = Courses(tmp_path, times)
    places = copies.places_of([one])
    one.sums[0][0] += 1e-9
    assert all(0 <= place < 1 for place in places) and places != copies.places_of([one])


def test_lanes_environment_and_phases_are_those_of_the_program():
    """The checker stands alone, so that it holds copies of these lists."""
    for name, schedule in schedules.SCHEDULES.items():
        lanes = spikes.lanes_of({"schedule": name, "delay_ratio": 12, "lag": 2})
        assert [lane[0] for lane in lanes] == [rule.name for rule in schedule.lanes]
        for (_, period, lag, whole), rule in zip(lanes, schedule.lanes, strict=True):
            late = 2 if rule.lag is None else rule.lag
            assert lag == late and whole == (rule.group == "world")
            assert period == (None if rule.period == "auto" else rule.window(12, late))
    assert set(spikes.SCHEDULES) == set(schedules.SCHEDULES)
    own = [{"name": "a", "group": "area"}, {"name": "b", "period": 3, "lag": 1}]
    assert spikes.lanes_of({"schedule": own}) == [("a", 1, 0, False), ("b", 3, 1, True)]
    assert spikes.lanes_of({"schedule": "?"}) is None
    assert set(machine.OF_NODE) == set(environment.read_node(variables={}))
    assert checked_times.PHASES == phases.PHASES
