"""A real run beside its simulated copy: how far they are apart."""

import numpy as np

from spikemark.records.record import Run

QUANTITIES = ("waiting", "exchange")


def typical_s(run: Run) -> dict[str, float | None]:
    """Seconds of waiting and exchange in a window: medians over the windows of means over the ranks.

    They are medians, since interruptions of a real machine are not simulated. None where a phase was not
    timed. Raises BadInput for a run without cycles.npy.
    """
    times = {"waiting": run.waiting(), "exchange": run.phase("exchange").astype(float)}
    return {name: None if each is None else _typical(each, run.window) for name, each in times.items()}


def _typical(times: np.ndarray, window: int) -> float:
    """The median over windows, from times [rank, cycle]; cycles that do not fill a window are left out."""
    whole = times[:, : times.shape[1] // window * window]
    return float(np.median(whole.reshape(len(times), -1, window).sum(axis=-1).mean(axis=0)))


def ratios(real: Run, simulated: Run) -> dict[str, float]:
    """Real over simulated `typical_s`, where both are known and neither is 0."""
    here, there = typical_s(real), typical_s(simulated)
    return {name: here[name] / there[name] for name in QUANTITIES if here[name] and there[name]}
