"""What to ask a predictor so that its answer compares with a run."""

from typing import Any

from spikemark.records.record import Run


def asked(run: Run) -> dict[str, Any]:
    """Arguments of `Predictor.predict` for the schedule of `run`, on as many ranks; with a lag, as long."""
    lanes = {lane.name: lane for lane in run.record.lanes}
    arguments = {"schedule": run.schedule, "delay_ratio": run.delay_ratio, "ranks": run.record.ranks}
    if run.schedule == "overlapped":
        arguments |= {"lag": lanes["far"].lag, "cycles": run.record.timing.cycles}
    if run.schedule == "hierarchical":
        arguments["group_period"] = lanes["group"].period
    return arguments
