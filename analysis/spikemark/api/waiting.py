"""Why ranks wait for each other, called as `spikemark.waiting`."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.arguments import public
from spikemark.core.errors import BadInput
from spikemark.records.imported import CycleTimes, Sums
from spikemark.records.judged import no_evidence
from spikemark.records.record import Run
from spikemark.waiting.answer import WaitingAnswer, answer
from spikemark.waiting.sums import SumsAnswer
from spikemark.waiting.trace import CycleTrace, trace

from .results import run_or_times

FilePath = str | PathLike[str]


@public
def waiting(
    times: FilePath | Sequence[FilePath] | Run | CycleTimes | Sums | np.ndarray | CycleTrace,
    *,
    unit: str | None = None,
    columns: Mapping[str, str] | None = None,
    schedule: str | None = None,
    delay_ratio: int | None = None,
    lag: int | None = None,
    group_period: int | None = None,
    ranks: int | None = None,
    changes: Sequence[str] = (),
) -> WaitingAnswer | SumsAnswer:
    """Why the ranks of a run waited for each other, and what would help.

    The parts of the waiting come from a ladder of meetings (docs/models.md) and add up to the
    measured waiting. Predictions replay the measured cycle times under another schedule.

    Args:
        times: a run, imported times, the folder of one of these, files with cycle times as
            `spikemark.read_cycles` takes them, or compute times [rank, cycle] in s.
        unit: of files: s, ms, us or ns; needed unless names of columns tell it, as compute_us.
        columns: what files call compute, communicate or wait.
        schedule: replay this schedule: structure_aware, overlapped, hierarchical, conventional or
            placement_only.
        delay_ratio: D, cycles between two exchanges of all ranks; the largest exact one by default,
            of a run its own; 10 is assumed where nothing tells the delays.
        lag: L, how many windows an exchange may take; overlapped only, 1 by default.
        group_period: cycles between meetings of a group; hierarchical only, D by default.
        ranks: number of ranks under the schedule; that of the run by default.
        changes: what if: halve-jitter, level-ranks, double-delay-ratio, halve-latency,
            double-ranks, slow-rank=RANK:FACTOR; `+` combines several.

    Returns:
        WaitingAnswer: `table` has the parts of a cycle in µs, `ladder` the same as quantities,
        `asked` the replay of the schedule, `helps` what would shorten the run. SumsAnswer for sums.

    Raises:
        BadInput: where waiting was not timed, ranks do not all meet, there are too few cycles, or
            the times cannot tell what the schedule asks for; as `spikemark.read_cycles` for files,
            and for a unit or columns of anything else.

    Example:
        >>> import numpy as np
        >>> cycles = np.random.default_rng(1).normal(1e-3, 5e-5, (4, 2000))
        >>> answer = waiting(cycles)
        >>> answer.table.set_index("part")["mean_us"].round().loc[["waiting", "jitter"]].to_dict()
        {'waiting': 52.0, 'jitter': 36.0}
    """
    source = times
    if isinstance(source, str | PathLike):
        source = [source]
    if isinstance(source, Sequence):
        source = run_or_times([Path(path) for path in source], unit, columns)
    else:
        for name, value in {"unit": unit, "columns": columns}.items():
            if value:
                raise BadInput(field=name, reason="beside times", expected="files", code="conflict")
    meetings: dict[str, Any] = {
        "schedule": schedule,
        "delay_ratio": delay_ratio,
        "lag": lag,
        "group_period": group_period,
        "ranks": ranks,
    }
    if isinstance(source, Sums):
        _only_sums(**meetings, changes=changes or None)
        return SumsAnswer(source)
    remarks = []
    if isinstance(source, Run) and source.too_short:
        remarks.append(f"{source.path}: {no_evidence(source.too_short)}")
    explanation = answer(trace(source), **meetings, changes=changes)
    explanation.remarks.extend(remarks)
    return explanation


def _only_sums(**arguments: object) -> None:
    """Raises BadInput for an argument that sums over whole runs cannot answer."""
    for name, value in arguments.items():
        if value is not None:
            raise BadInput(
                field=name,
                reason="beside sums over whole runs",
                expected="the time of every rank in every cycle (docs/other-simulators.md)",
                code="conflict",
            )
