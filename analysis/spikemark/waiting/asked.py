"""Predictor arguments that match a run's schedule."""

from typing import Any

from spikemark.network.schedules import called
from spikemark.records.record import Run


def asked(run: Run) -> dict[str, Any]:
    """Arguments of `Predictor.predict` for the schedule of `run`, on as many ranks; with a lag, as long."""
    lanes = {lane.name: lane for lane in run.record.lanes}
    arguments = {"schedule": run.schedule, "delay_ratio": run.delay_ratio, "ranks": run.record.ranks}
    schedule = called(run.schedule)
    if schedule and schedule.lagged:
        arguments |= {"lag": lanes[schedule.lagged.name].lag, "cycles": run.record.timing.cycles}
    if schedule and schedule.blocks:
        arguments["group_period"] = lanes[schedule.blocks.name].period
    return arguments
